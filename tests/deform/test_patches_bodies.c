/// Blending patches on whole bodies: closed in every pose of every joint, alone and all at once;
/// volumes, their sum over the joints, crossings, and GPUs. The whole sweep of the issue runs with
/// CUTIS_SOAK set (./dev soak); otherwise small bodies and every third pose.
#include "patches_device.h"

static bool soak;

static const cutis_body BODIES[2] = { CUTIS_BODY_BIPED, CUTIS_BODY_QUADRUPED };

static void check_pose(patch_run *r, uint32_t joint, const char *what, int step)
{
    patch_run_now(r);
    const char *fault = frame_fault(r, 2);
    if (!fault) return;
    cutis_patches_joint j = cutis_patches_joint_at(r->patches, joint);
    fail_msg("%s, %s, step %d: %s", cutis_patches_part_name(r->patches, j.child), what, step,
             fault);
}

static uint32_t sweep_joint(patch_run *r, uint32_t joint, int stride)
{
    uint32_t poses = 0;
    for (int s = 0; s <= 11; s += stride, poses += 4) {
        double bend = 10.0 * s * DEGREES, twist = 180.0 / 11.0 * s * DEGREES;
        patch_pose_rest(r);
        patch_pose_joint(r, joint, 0, bend, 0);
        check_pose(r, joint, "bend", s);
        patch_pose_joint(r, joint, M_PI / 2, bend, 0);
        check_pose(r, joint, "other bend", s);
        patch_pose_joint(r, joint, 0, 0, twist);
        check_pose(r, joint, "twist", s);
        patch_pose_joint(r, joint, 0, bend, twist);
        check_pose(r, joint, "bend and twist", s);
    }
    return poses;
}

static void every_joint_of_biped_and_quadruped_is_closed(void **state)
{
    (void)state;
    uint32_t poses = 0;
    for (int b = 0; b < 2; b++)
        for (int removal = 0; removal < 2; removal++)
            for (int fill = 1; fill <= 5; fill++) {
                patch_run r = patch_run_open(context, device, make_body(BODIES[b], !soak),
                                             (cutis_patch_removal)removal, (cutis_patch_fill)fill);
                for (uint32_t j = 0; j < r.info.joint_count; j++)
                    poses += sweep_joint(&r, j, soak ? 1 : fill == 1 && !LIGHT ? 4 : 9);
                patch_run_close(&r);
            }
    print_message("%u poses closed\n", poses);
}

static void all_joints_at_once_are_closed_and_their_volumes_add_up(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++) {
        patch_run r = patch_run_open(context, device, make_body(BODIES[b], !soak), CUTIS_PATCH_CUT,
                                     CUTIS_PATCH_FILL_DEFAULT);
        for (int angle = LIGHT ? 90 : 30; angle <= 90; angle += 30)
            for (int kind = 0; kind < 3; kind++) { // two axes; random axes with twist
                patch_pose_rest(&r);
                for (uint32_t j = 0; j < r.info.joint_count; j++)
                    patch_pose_joint(&r, j, kind < 2 ? kind * M_PI / 2 : random_in(5, j, 0, 6.28),
                                     angle * DEGREES, kind < 2 ? 0 : 0.3);
                check_pose(&r, 0, "all joints", angle);
                double sum = 0.0, change = patch_run_volume(&r) - r.rest_volume;
                for (uint32_t j = 0; j < r.info.joint_count; j++) sum += r.reports[j].volume_left;
                // Frames are floats; the sums themselves are exact.
                assert_near(sum / r.rest_volume, change / r.rest_volume, 2e-6);
                print_message("%s, all joints %d degrees: volume %+.2f %%\n",
                              cutis_body_name(BODIES[b]), angle, 100 * change / r.rest_volume);
            }
        patch_run_close(&r);
    }
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static double change_of(patch_run *r, uint32_t joint, double turn, double bend)
{
    cutis_patches_joint j = cutis_patches_joint_at(r->patches, joint);
    patch_pose_rest(r);
    patch_pose_joint(r, joint, turn, bend, 0);
    patch_run_now(r);
    return 100.0 * (patch_run_volume(r) - r->rest_volume) / (j.parent_volume + j.child_volume);
}

// Joints stand at the centroids of their loops, as cutis skeleton puts them. Flexion both ways (the
// lateral axis, turn 90 degrees) and sideways both ways.
static void sweep_elbows_and_knees(cutis_patch_band band)
{
    double worst[2] = { 0 }, stretched = 0.0;
    patch_case_band = band;
    for (int b = 0; b < 2; b++) {
        cutis_model *model = rig_at_loops(context, device, make_body(BODIES[b], false));
        patch_run r =
            patch_run_open(context, device, model, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
        for (uint32_t j = 0; j < r.info.joint_count; j++) {
            const char *name =
                cutis_patches_part_name(r.patches, cutis_patches_joint_at(r.patches, j).child);
            if (!starts_with(name, "forearm") && !starts_with(name, "shin")) continue;
            bool hound_knee = b == 1 && starts_with(name, "shin");
            for (int step = 1; step <= 11; step += soak ? 1 : LIGHT ? 5 : 2)
                for (int way = -1; way <= 1; way += 2)
                    for (int axis = 0; axis < 2; axis++) {
                        double c =
                            fabs(change_of(&r, j, axis * M_PI / 2, way * 10 * step * DEGREES));
                        if (hound_knee && axis == 1 && way < 0)
                            stretched = fmax(stretched, c);
                        else
                            worst[step > 9] = fmax(worst[step > 9], c);
                    }
        }
        patch_run_close(&r);
    }
    patch_case_band = CUTIS_PATCH_BAND_NONE;
    print_message("elbows and knees, %s: %.4f %% to 90 degrees, %.3f beyond; the hound's knee "
                  "stretched %.2f\n",
                  band == CUTIS_PATCH_BAND_NONE ? "rigid" : "bands", worst[0], worst[1], stretched);
    assert_true(worst[0] <= 0.2);
    assert_true(worst[1] <= 1.0);
    // The hound's knee is bent at rest: the other way, past straight, it loses most.
    assert_true(stretched <= 0.2);
}

static void elbows_and_knees_keep_their_volume(void **state)
{
    (void)state;
    sweep_elbows_and_knees(CUTIS_PATCH_BAND_NONE);
    sweep_elbows_and_knees(CUTIS_PATCH_BAND_GIRTH);
}

static void hips_and_shoulders_of_the_biped_keep_their_volume(void **state)
{
    (void)state;
    cutis_model *model = rig_at_loops(context, device, make_body(CUTIS_BODY_BIPED, false));
    patch_run r = patch_run_open(context, device, model, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    double swing = 0.0, sideways = 0.0;
    for (uint32_t j = 0; j < r.info.joint_count; j++) {
        const char *name =
            cutis_patches_part_name(r.patches, cutis_patches_joint_at(r.patches, j).child);
        if (!starts_with(name, "thigh") && !starts_with(name, "upperarm")) continue;
        double side = name[strlen(name) - 1] == 'l' ? -1.0 : 1.0; // away from the other limb
        for (int angle = 30; angle <= 90; angle += 30) {
            swing = fmax(swing, fabs(change_of(&r, j, M_PI / 2, angle * DEGREES)));
            swing = fmax(swing, fabs(change_of(&r, j, M_PI / 2, -angle * DEGREES)));
            sideways = fmax(sideways, fabs(change_of(&r, j, 0, side * angle * DEGREES)));
        }
    }
    print_message("hips and shoulders: swinging %.3f %%, sideways %.3f %%\n", swing, sideways);
    assert_true(swing <= 1.0);
    assert_true(sideways <= 3.0);
    patch_run_close(&r);
}

// What the issue asks to be reported, and to be less than a prototype's 8 % at waist and neck and
// where the hound's legs begin. The head thrown back is none of these.
static void waist_neck_and_leg_roots_lose_less_than_the_prototype(void **state)
{
    (void)state;
    static const char *const NAMES[2][5] = { { "spine", "chest", "neck", "head" },
                                             { "thigh", "upperarm", "spine", "chest", "neck" } };
    for (int b = 0; b < 2; b++) {
        cutis_model *model = rig_at_loops(context, device, make_body(BODIES[b], false));
        patch_run r =
            patch_run_open(context, device, model, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
        double worst[5][2] = { 0 }, sum = 0.0;
        for (uint32_t j = 0; j < r.info.joint_count; j++) {
            const char *name =
                cutis_patches_part_name(r.patches, cutis_patches_joint_at(r.patches, j).child);
            for (int k = 0; k < 4; k++) {
                double c = fabs(change_of(&r, j, k % 2 * M_PI / 2, (k < 2 ? 90 : -90) * DEGREES));
                sum += c;
                for (int n = 0; n < 5 && NAMES[b][n]; n++)
                    if (starts_with(name, NAMES[b][n])) worst[n][k % 2] = fmax(worst[n][k % 2], c);
            }
        }
        print_message("%s at 90 degrees, all joints %.2f %% on average\n",
                      b ? "quadruped" : "biped", sum / (4.0 * r.info.joint_count));
        for (int n = 0; n < 5 && NAMES[b][n]; n++) {
            print_message("  %s %.1f, %.1f %%\n", NAMES[b][n], worst[n][0], worst[n][1]);
            bool head = starts_with(NAMES[b][n], "head");
            assert_true(head || fmax(worst[n][0], worst[n][1]) < 8.0);
        }
        patch_run_close(&r);
    }
}

static void few_patch_triangles_of_elbows_and_knees_cross(void **state)
{
    (void)state;
    uint32_t poses = 0, clean = 0, most = 0;
    for (int b = 0; b < 2; b++) {
        cutis_model *model = rig_at_loops(context, device, make_body(BODIES[b], false));
        patch_run r =
            patch_run_open(context, device, model, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
        for (uint32_t j = 0; j < r.info.joint_count; j++) {
            const char *name =
                cutis_patches_part_name(r.patches, cutis_patches_joint_at(r.patches, j).child);
            if (!starts_with(name, "forearm") && !starts_with(name, "shin")) continue;
            for (int step = 1; step <= 11; step++)
                for (int axis = 0; axis < 2; axis++, poses++) {
                    change_of(&r, j, axis * M_PI / 2, 10 * step * DEGREES);
                    uint32_t crossing = patch_crossings(&r, j, NULL);
                    clean += crossing == 0;
                    if (crossing > most) most = crossing;
                }
        }
        patch_run_close(&r);
    }
    print_message("elbows and knees: no crossing triangle in %u of %u poses, at most %u\n", clean,
                  poses, most);
    assert_true(10 * clean >= 9 * poses);
    assert_true(most <= 6);
}

/// Of all joints of a body, each by itself, both ways about two axes.
typedef struct body_sums {
    double crossings, clean, volume, volume_most; ///< means, % of the poses, % of the two parts
} body_sums;

static body_sums bend_all(cutis_body body, cutis_patch_band band, int angle)
{
    patch_case_band = band;
    cutis_model *model = rig_at_loops(context, device, make_body(body, !soak));
    patch_run r = patch_run_open(context, device, model, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    body_sums sums = { 0 };
    const double poses = 4.0 * r.info.joint_count;
    uint32_t *weld = malloc(4 * (size_t)r.info.vertex_capacity);
    for (uint32_t v = 0; v < r.info.vertex_capacity; v++) weld[v] = v;
    for (uint32_t j = 0; j < r.info.joint_count; j++)
        for (int k = 0; k < 4; k++) {
            const double change =
                fabs(change_of(&r, j, k % 2 * M_PI / 2, (k < 2 ? angle : -angle) * DEGREES));
            cutis_surface surface = { .vertex_count = r.counts[0],
                                      .positions = r.positions,
                                      .triangle_count = r.counts[1],
                                      .indices = r.indices };
            cutis_crossings crossings;
            assert_ok(context, cutis_surface_crossings(context, &surface, weld, NULL, &crossings));
            assert_null(frame_fault(&r, 2));
            sums.crossings += (double)crossings.triangle_count / poses;
            sums.clean += crossings.triangle_count == 0 ? 100.0 / poses : 0.0;
            sums.volume += change / poses;
            sums.volume_most = fmax(sums.volume_most, change);
        }
    free(weld);
    patch_run_close(&r);
    patch_case_band = CUTIS_PATCH_BAND_NONE;
    return sums;
}

// To a right angle: beyond 120 degrees skin folds into itself.
static void bands_cross_no_more_than_patches_and_keep_more(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++)
        for (int angle = soak ? 30 : 60; angle <= (soak ? 150 : 60); angle += 30) {
            const body_sums rigid = bend_all(BODIES[b], CUTIS_PATCH_BAND_NONE, angle);
            const body_sums bands = bend_all(BODIES[b], CUTIS_PATCH_BAND_GIRTH, angle);
            print_message("%s, every joint %d degrees, rigid parts / bands: %.0f / %.0f crossings, "
                          "none in %.0f / %.0f %%, volume %.2f / %.2f, at most %.1f / %.1f %%\n",
                          cutis_body_name(BODIES[b]), angle, rigid.crossings, bands.crossings,
                          rigid.clean, bands.clean, rigid.volume, bands.volume, rigid.volume_most,
                          bands.volume_most);
            if (angle <= 90) assert_true(bands.crossings <= 1.2 * rigid.crossings);
            assert_true(bands.volume <= rigid.volume && bands.volume_most <= rigid.volume_most);
            assert_true(bands.volume_most <= 0.2);
        }
}

// A body in a pose: closed, and what it gained is what its joints say.
// @return that, in % of the body
static double check_bands(patch_run *r)
{
    double left = 0.0;
    patch_run_now(r);
    const char *fault = frame_fault(r, 2);
    if (fault) fail_msg("%s", fault);
    const double change = patch_run_volume(r) - r->rest_volume;
    for (uint32_t j = 0; j < r->info.joint_count; j++) left += r->reports[j].volume_left;
    assert_near(left / r->rest_volume, change / r->rest_volume, 4e-6);
    return 100.0 * fabs(change) / r->rest_volume;
}

// Every joint alone to 150 degrees both ways, twisted and not, and all joints at once; bodies whose
// joints stand at the loops keep their volume, those of synth stay closed.
static void bands_are_closed_and_keep_their_volume_in_every_pose(void **state)
{
    (void)state;
    patch_case_band = CUTIS_PATCH_BAND_GIRTH;
    uint32_t poses = 0;
    for (int b = 0; b < 4; b++) {
        const bool at_loops = b < 2;
        cutis_model *model = make_body(BODIES[b % 2], !soak);
        if (at_loops) model = rig_at_loops(context, device, model);
        patch_run r =
            patch_run_open(context, device, model, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
        double worst = 0.0, together = 0.0;
        for (uint32_t j = 0; j < r.info.joint_count; j++)
            for (int degrees = soak ? 15 : 150; degrees <= 150; degrees += 15)
                for (int k = 0; k < (soak ? 8 : 2); k++, poses++) {
                    patch_pose_rest(&r);
                    patch_pose_joint(&r, j, k % 4 * M_PI / 2, degrees * DEGREES,
                                     k < 4 ? 0.0 : 0.01 * degrees);
                    worst = fmax(worst, check_bands(&r));
                }
        for (int pose = 0; pose < (soak ? 300 : 6); pose++, poses++) {
            patch_pose_rest(&r);
            for (uint32_t j = 0; j < r.info.joint_count; j++)
                patch_pose_joint(&r, j, random_in(pose, j, 0, 6.28),
                                 random_in(pose + 1000, j, 0, 60 * DEGREES),
                                 random_in(pose + 2000, j, -0.5, 0.5));
            together = fmax(together, check_bands(&r));
        }
        print_message("%s%s: volume within %.3f %% of the body, all joints at once %.3f\n",
                      cutis_body_name(BODIES[b % 2]), at_loops ? " with joints at its loops" : "",
                      worst, together);
        // Bounded by the loop alone, not by the length of the band, swelling left up to 0.014 % in
        // the poses of the gate, and off the loops more in others. Shoulders of the hound whose
        // bones lie off their loops gain what swelling may not take back (upperarms, up to 0.67 %
        // each, all joints at once; a joint alone 0.032 %).
        const bool off = soak && !at_loops && BODIES[b % 2] == CUTIS_BODY_QUADRUPED;
        assert_true(worst < (off ? 0.04 : 0.01) && together < (off ? 1.0 : 0.01));
        patch_run_close(&r);
    }
    patch_case_band = CUTIS_PATCH_BAND_NONE;
    print_message("%u poses closed\n", poses);
}

static void compare_devices(cutis_device *gpu, cutis_patch_band band)
{
    patch_case_band = band;
    patch_run a = patch_run_open(context, device, make_body(CUTIS_BODY_QUADRUPED, true),
                                 CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    patch_run b = patch_run_open(context, gpu, make_body(CUTIS_BODY_QUADRUPED, true),
                                 CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    for (int pose = 0; pose < 3; pose++) {
        for (uint32_t j = 0; j < a.info.joint_count; j++) {
            patch_pose_joint(&a, j, pose, 30.0 * (pose + 1) * DEGREES, 0.2 * pose);
            patch_pose_joint(&b, j, pose, 30.0 * (pose + 1) * DEGREES, 0.2 * pose);
        }
        patch_run_now(&a);
        patch_run_now(&b);
        assert_int_equal(a.counts[0], b.counts[0]);
        assert_int_equal(a.counts[1], b.counts[1]);
        assert_memory_equal(a.positions, b.positions, 12 * (size_t)a.counts[0]);
        assert_memory_equal(a.normals, b.normals, 12 * (size_t)a.counts[0]);
        assert_memory_equal(a.indices, b.indices, 12 * (size_t)a.counts[1]);
        assert_memory_equal(a.labels, b.labels, 4 * (size_t)a.counts[1]);
        size_t count = 3 * (size_t)cutis_model_vertex_count(a.model);
        float *fixed_a = calloc(count, sizeof *fixed_a), *fixed_b = calloc(count, sizeof *fixed_b);
        cutis_poses poses_a = { .local = a.pose }, poses_b = { .local = b.pose };
        assert_ok(context,
                  cutis_deform(a.patches, &poses_a, 1,
                               &(cutis_outputs){ .topology.rest_positions.data = fixed_a }));
        assert_ok(context,
                  cutis_deform(b.patches, &poses_b, 1,
                               &(cutis_outputs){ .topology.rest_positions.data = fixed_b }));
        assert_memory_equal(fixed_a, fixed_b, count * sizeof *fixed_a);
        free(fixed_a), free(fixed_b);
    }
    patch_case_band = CUTIS_PATCH_BAND_NONE;
    patch_run_close(&a);
    patch_run_close(&b);
}

// Every launch is the same text: OpenCL gives the CPU's bytes, of bands and of patches.
static void opencl_makes_the_frames_of_the_cpu(void **state)
{
    (void)state;
    cutis_device *gpu = NULL;
    cutis_device_options options = { .kind = gpu_kind() };
    if (cutis_device_create(context, &options, &gpu) != CUTIS_OK) {
        print_message("skip: %s\n", cutis_context_error(context));
        skip();
    }
    compare_devices(gpu, CUTIS_PATCH_BAND_GIRTH);
    compare_devices(gpu, CUTIS_PATCH_BAND_NONE);
    cutis_device_destroy(gpu);
}

int main(int count, char **arguments)
{
    soak = getenv("CUTIS_SOAK") != NULL;
    if (count > 1) cmocka_set_test_filter(arguments[1]); // one test by name, for the impatient
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_joint_of_biped_and_quadruped_is_closed),
        cmocka_unit_test(all_joints_at_once_are_closed_and_their_volumes_add_up),
        cmocka_unit_test(elbows_and_knees_keep_their_volume),
        cmocka_unit_test(hips_and_shoulders_of_the_biped_keep_their_volume),
        cmocka_unit_test(waist_neck_and_leg_roots_lose_less_than_the_prototype),
        cmocka_unit_test(few_patch_triangles_of_elbows_and_knees_cross),
        cmocka_unit_test(bands_cross_no_more_than_patches_and_keep_more),
        cmocka_unit_test(bands_are_closed_and_keep_their_volume_in_every_pose),
        cmocka_unit_test(opencl_makes_the_frames_of_the_cpu),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
