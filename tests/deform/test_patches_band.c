/// Bands: joints that bend softly, without a patch (docs/spec/patches.md B0).
#include "patches_device.h"

static const limb_options CYLINDER = { .length = 5, .around = 32, .rings = 40 };
static const limb_options LIMBS[5] = {
    { .length = 5, .around = 32, .rings = 40 },
    { .length = 4.5, .knee = true, .around = 32, .rings = 58 },
    { .length = 4.5, .knee = true, .around = 32, .rings = 58, .jitter = 0.02 },
    { .length = 4.5, .knee = true, .around = 32, .rings = 58, .ellipse = 0.75 },
    { .length = 4.5, .knee = true, .around = 32, .rings = 58, .wave = 0.12 },
};

static patch_run open_limb(const limb_options *limb)
{
    patch_case_band = CUTIS_PATCH_BAND_GIRTH;
    return patch_run_open(context, device, limb_create(context, limb), CUTIS_PATCH_CUT,
                          CUTIS_PATCH_FILL_KEEP);
}

// Vertices of a loop of a cylinder with as much band on both sides take half of the bend; what is
// farther than the band from it stays with its part. Half a bend is a rotation by half its angle.
static void a_cylinders_loop_takes_half_of_the_bend(void **state)
{
    (void)state;
    patch_run r = open_limb(&CYLINDER);
    patch_run_now(&r);
    const uint32_t count = r.counts[0];
    float *rest = malloc(12 * (size_t)count);
    memcpy(rest, r.positions, 12 * (size_t)count);
    const cutis_patches_joint joint = cutis_patches_joint_at(r.patches, 0);
    for (int bend = 5; bend <= 60; bend += 5) {
        patch_pose_joint(&r, 0, 0.0, bend * DEGREES, 0.0);
        patch_run_now(&r);
        assert_int_equal(r.counts[0], count); // no patch
        uint32_t loop = 0, still = 0;
        for (uint32_t v = 0; v < count; v++) {
            double x[3], y[3], along = 0.0, moved = 0.0, radius = 0.0, turned = 0.0;
            for (int k = 0; k < 3; k++) {
                x[k] = rest[3 * v + k] - joint.centre[k];
                y[k] = r.positions[3 * v + k] - joint.centre[k];
                along += x[k] * joint.limb[k];
                moved = fmax(moved, fabs(x[k] - y[k]));
                radius += x[k] * x[k];
                turned += y[k] * y[k];
            }
            if (fabs(along) < 1e-4) {
                // A rotation about the centre, within what swelling does to a faceted cylinder.
                double chord = 0.0;
                for (int k = 0; k < 3; k++) chord += (x[k] - y[k]) * (x[k] - y[k]);
                assert_true(fabs(sqrt(turned) - sqrt(radius)) < 4e-3);
                assert_true(sqrt(chord) <= 2.0 * sin(0.25 * bend * DEGREES) + 4e-3);
                loop++;
            }
            if (along < -2.5) {
                assert_true(moved == 0.0);
                still++;
            }
        }
        assert_true(loop >= 32 && still > 100);
    }
    free(rest);
    patch_run_close(&r);
}

// Triangles of the whole frame that cross another (exact, cutis_surface_crossings).
static uint32_t crossings_of(const patch_run *r)
{
    cutis_surface surface = { .vertex_count = r->counts[0],
                              .positions = r->positions,
                              .triangle_count = r->counts[1],
                              .indices = r->indices };
    cutis_crossings crossings;
    assert_ok(context, cutis_surface_crossings(context, &surface, NULL, NULL, &crossings));
    return (uint32_t)crossings.triangle_count;
}

static void limbs_stay_closed_and_keep_their_volume(void **state)
{
    (void)state;
    for (int l = 0; l < 5; l++) {
        patch_run r = open_limb(&LIMBS[l]);
        double worst = 0.0;
        uint32_t clean = 0, poses = 0, most = 0, soft = 0;
        for (int bend = 0; bend <= 110; bend += 10)
            for (int twist = 0; twist <= 90; twist += 45, poses++) {
                patch_pose_joint(&r, 0, 0.04 * bend, bend * DEGREES, twist * DEGREES);
                patch_run_now(&r);
                assert_null(frame_fault(&r, 2));
                worst = fmax(worst, fabs(patch_run_volume(&r) / r.rest_volume - 1.0));
                uint32_t crossing = crossings_of(&r);
                clean += crossing == 0;
                most = crossing > most ? crossing : most;
                soft += r.counts[0] == r.info.vertex_count;
                if (bend <= 60) assert_int_equal(crossing, 0);
            }
        print_message("limb %d: volume within %.4f %%; %u of %u poses without a patch, %u without "
                      "crossings, at most %u\n",
                      l, 100.0 * worst, soft, poses, clean, most);
        assert_true(worst < 0.0005);
        patch_run_close(&r);
    }
}

// Mean angle in degrees between the normals of a frame and those of its faces, which are made from
// positions; of vertices within `near` of a point.
static double mean_tilt(const patch_run *r, const double *centre, double near)
{
    double *sums = calloc(3 * (size_t)r->counts[0], sizeof *sums), mean = 0.0;
    uint32_t counted = 0;
    for (uint32_t t = 0; t < r->counts[1]; t++) {
        const float *a = r->positions + 3 * (size_t)r->indices[3 * t];
        const float *b = r->positions + 3 * (size_t)r->indices[3 * t + 1];
        const float *c = r->positions + 3 * (size_t)r->indices[3 * t + 2];
        double u[3], v[3];
        for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                sums[3 * (size_t)r->indices[3 * t + i] + k] +=
                    u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    }
    for (uint32_t v = 0; v < r->counts[0]; v++) {
        double far = 0.0, length = 0.0, dot = 0.0;
        for (int k = 0; k < 3; k++) {
            far += pow(r->positions[3 * v + k] - centre[k], 2);
            length += sums[3 * v + k] * sums[3 * v + k];
            dot += sums[3 * v + k] * r->normals[3 * v + k];
        }
        if (far > near * near) continue;
        mean += acos(fmin(1.0, dot / sqrt(length)));
        counted++;
    }
    assert_true(counted > 300);
    free(sums);
    return mean / DEGREES / counted;
}

// Shading follows the surface. Near the joint: caps have edges.
static void normals_are_those_of_the_bent_surface(void **state)
{
    (void)state;
    patch_run r = open_limb(&CYLINDER);
    const cutis_patches_joint joint = cutis_patches_joint_at(r.patches, 0);
    for (int bend = 0; bend <= 60; bend += 20) {
        patch_pose_joint(&r, 0, 0.7, bend * DEGREES, 0.2);
        patch_run_now(&r);
        const double mean = mean_tilt(&r, joint.centre, 3.0);
        print_message("bent by %d: normals within %.2f degrees of the faces'\n", bend, mean);
        assert_true(mean < 1.0);
    }
    patch_run_close(&r);
}

// No vertex is ever faster than it would be if it turned with the child about the joint, whatever
// the bend: nothing pops. With the swelling of a band (and the same triangles) in every pose.
static void no_vertex_jumps_however_a_joint_bends(void **state)
{
    (void)state;
    patch_case_band = CUTIS_PATCH_BAND_GIRTH;
    patch_run r = patch_run_open(context, device, make_body(CUTIS_BODY_BIPED, true),
                                 CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    const uint32_t count = r.counts[0];
    float *last = malloc(12 * (size_t)count);
    double fastest = 0.0;
    for (uint32_t j = 0; j < r.info.joint_count; j++)
        for (int pose = 0; pose <= 240; pose++) { // 0 to 120 degrees, half a degree each
            const cutis_patches_joint joint = cutis_patches_joint_at(r.patches, j);
            memcpy(last, r.positions, 12 * (size_t)count);
            patch_pose_rest(&r);
            patch_pose_joint(&r, j, j % 3, 0.5 * pose * DEGREES, 0.2 * pose * DEGREES);
            patch_run_now(&r);
            assert_int_equal(r.counts[0], count);
            if (pose % 60 == 0) assert_null(frame_fault(&r, 2));
            for (uint32_t v = 0; v < count && pose > 0; v++) {
                double moved = 0.0, far = 0.0;
                for (int k = 0; k < 3; k++) {
                    moved += pow(r.positions[3 * v + k] - last[3 * v + k], 2);
                    far += pow(r.positions[3 * v + k] - joint.centre[k], 2);
                }
                // Bend and twist together turn by no more than their sum; 1 cm is swelling.
                fastest = fmax(fastest, sqrt(moved) / (0.7 * DEGREES * (sqrt(far) + 0.01)));
            }
        }
    print_message("the fastest vertex has %.2f of a turning child's speed\n", fastest);
    assert_true(fastest > 0.5 && fastest < 1.0);
    free(last);
    patch_run_close(&r);
}

// Bend every joint at once, each about an axis of its own; `seed` another pose.
static void bend_everything(patch_run *r, int seed, double degrees)
{
    patch_pose_rest(r);
    for (uint32_t j = 0; j < r->info.joint_count; j++)
        patch_pose_joint(r, j, random_in(seed, j, 0, 6.28), degrees * DEGREES,
                         random_in(seed + 7, j, -0.3, 0.3));
}

// Joints whose bands overlap turn one after the other, and each keeps what the ones before left:
// what the mesh gains is what the joints say they could not keep, and they can nearly all.
static void bands_that_overlap_add_up(void **state)
{
    (void)state;
    patch_case_band = CUTIS_PATCH_BAND_GIRTH;
    for (int b = 0; b < 2; b++) {
        cutis_model *model = rig_at_loops(
            context, device, make_body(b ? CUTIS_BODY_QUADRUPED : CUTIS_BODY_BIPED, true));
        patch_run r =
            patch_run_open(context, device, model, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
        for (int degrees = 10; degrees <= 50; degrees += 20) {
            bend_everything(&r, degrees, degrees);
            patch_run_now(&r);
            assert_null(frame_fault(&r, 2));
            double left = 0.0, change = patch_run_volume(&r) - r.rest_volume;
            for (uint32_t j = 0; j < r.info.joint_count; j++) left += r.reports[j].volume_left;
            print_message("all joints by %d: volume %+.5f %%, said %+.5f\n", degrees,
                          100 * change / r.rest_volume, 100 * left / r.rest_volume);
            assert_near(change / r.rest_volume, left / r.rest_volume, 2e-6);
            assert_true(fabs(change) < 2e-3 * r.rest_volume);
        }
        patch_run_close(&r);
    }
}

// Where several joints bend a vertex its normal goes through all of their turns. The finest body:
// on coarse ones the faces themselves are far from the surface.
static void normals_follow_where_bands_overlap(void **state)
{
    (void)state;
    const double middle[3] = { 0 };
    patch_case_band = CUTIS_PATCH_BAND_GIRTH;
    patch_run r = patch_run_open(context, device, make_body(CUTIS_BODY_BIPED, false),
                                 CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    const double rest = mean_tilt(&r, middle, 10.0);
    bend_everything(&r, 3, 20);
    patch_run_now(&r);
    const double bent = mean_tilt(&r, middle, 10.0);
    print_message("normals within %.2f degrees of the faces', at rest %.2f\n", bent, rest);
    assert_true(bent < rest + 1.5);
    patch_run_close(&r);
}

// Instances do not know of each other.
static void instances_bend_as_they_do_alone(void **state)
{
    (void)state;
    enum { COUNT = 3 };
    patch_case_band = CUTIS_PATCH_BAND_GIRTH;
    patch_run r = patch_run_open(context, device, make_body(CUTIS_BODY_BIPED, true),
                                 CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    const uint32_t nodes = cutis_model_get(r.model)->node_count;
    const size_t floats = 3 * (size_t)r.info.vertex_capacity;
    cutis_transform *poses = calloc(COUNT * (size_t)nodes, sizeof *poses);
    float *alone = calloc(COUNT * floats, sizeof *alone), *both = calloc(COUNT * floats, 4);
    float *normals = calloc(COUNT * floats, 4), *own = calloc(COUNT * floats, 4);
    uint32_t *indices = calloc(3 * COUNT * (size_t)r.info.triangle_capacity, 4);
    uint32_t counts[2 * COUNT];
    for (int i = 0; i < COUNT; i++) {
        if (i != 1)
            bend_everything(&r, i, 30 + 10 * i); // the second is at rest
        else
            patch_pose_rest(&r);
        patch_run_now(&r);
        memcpy(poses + i * (size_t)nodes, r.pose, nodes * sizeof *poses);
        memcpy(alone + i * floats, r.positions, 4 * floats);
        memcpy(own + i * floats, r.normals, 4 * floats);
    }
    const cutis_outputs out = { .positions.data = both,
                                .normals.data = normals,
                                .topology.indices.data = indices,
                                .topology.counts.data = counts };
    const cutis_bind_options options = { .method = CUTIS_METHOD_PATCHES,
                                         .normals = true,
                                         .instance_capacity = 2 }; // two together, then the third
    cutis_binding *many = NULL;
    assert_ok(context, cutis_bind(device, r.model, &options, &many));
    assert_ok(context, cutis_deform(many, &(cutis_poses){ .local = poses }, COUNT, &out));
    cutis_binding_destroy(many);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(counts[2 * i], r.counts[0]);
        assert_memory_equal(both + i * floats, alone + i * floats, 12 * (size_t)counts[2 * i]);
        assert_memory_equal(normals + i * floats, own + i * floats, 12 * (size_t)counts[2 * i]);
    }
    free(poses), free(alone), free(both), free(normals), free(own), free(indices);
    patch_run_close(&r);
}

// A child that is moved off its joint stretches the band: from nothing on without a jump, no vertex
// by more than the child, the ends by nothing and by all of it, with the same triangles.
static void a_moved_child_stretches_its_band(void **state)
{
    (void)state;
    patch_run r = open_limb(&CYLINDER);
    const uint32_t count = r.counts[0], node = cutis_patches_joint_at(r.patches, 0).node;
    float *rest = malloc(12 * (size_t)count), *last = malloc(12 * (size_t)count);
    memcpy(rest, r.positions, 12 * (size_t)count);
    for (int twisted = 0; twisted < 2; twisted++)
        for (int step = 0; step <= 60; step++) {
            const double way = 1e-5 * step * step * step; // to twice the radius
            double fastest = 0.0, most = 0.0;
            if (step > 0) memcpy(last, r.positions, 12 * (size_t)count);
            patch_pose_rest(&r);
            if (twisted) patch_pose_joint(&r, 0, 0.3, 0.5, 0.2);
            r.pose[node].translation.x += (float)way;
            r.pose[node].translation.z += (float)(0.5 * way);
            patch_run_now(&r);
            assert_int_equal(r.counts[0], count);
            if (step % 20 == 0) assert_null(frame_fault(&r, 2));
            const double now = way * sqrt(1.25);
            const double before = 1e-5 * pow(step - 1, 3) * sqrt(1.25);
            for (uint32_t v = 0; v < count && step > 0; v++) {
                double moved = 0.0, all = 0.0;
                for (int k = 0; k < 3; k++) {
                    moved += pow(r.positions[3 * v + k] - last[3 * v + k], 2);
                    all += pow(r.positions[3 * v + k] - rest[3 * v + k], 2);
                }
                fastest = fmax(fastest, sqrt(moved));
                most = fmax(most, sqrt(all));
                if (!twisted && rest[3 * v + 2] < -2.5) assert_true(all == 0.0);
                if (!twisted && rest[3 * v + 2] > 2.5) assert_near(sqrt(all), now, 1.2e-4);
            }
            // What is less than 1e-5 of the diagonal is none, so the first step may be that late.
            assert_true(step == 0 || fastest <= now - before + 1.2e-4);
            assert_true(step == 0 || twisted || most <= now + 1e-5);
        }
    free(rest), free(last);
    patch_run_close(&r);
}

// Where a vertex of a cylinder's band must be whose child is scaled by `scale` about the joint and
// turned about x: what its share has of both, the scale first.
static void scaled_place(const double *y, const double *scale, double angle, double share,
                         double *out)
{
    double s[3];
    for (int k = 0; k < 3; k++) s[k] = y[k] * (1.0 + share * (scale[k] - 1.0));
    const double sine = share * sin(angle / 2), cosine = 1.0 - share + share * cos(angle / 2);
    const double turn = 2.0 * atan2(sine, cosine);
    out[0] = s[0];
    out[1] = cos(turn) * s[1] - sin(turn) * s[2];
    out[2] = sin(turn) * s[1] + cos(turn) * s[2];
}

// A child that is scaled, evenly or not, takes its scale into the band: the same triangles, both
// ends where parent and child put them, the loop half way, and normals of the surface that comes
// out.
static void a_scaled_child_takes_its_scale_into_the_band(void **state)
{
    (void)state;
    static const double SCALES[4][3] = {
        { 0.5, 0.5, 0.5 }, { 1.6, 1.6, 1.6 }, { 1.0, 0.6, 1.4 }, { 0.7, 0.7, 1.0 }
    };
    patch_run r = open_limb(&CYLINDER);
    const cutis_patches_joint joint = cutis_patches_joint_at(r.patches, 0);
    const uint32_t count = r.counts[0];
    float *rest = malloc(12 * (size_t)count);
    memcpy(rest, r.positions, 12 * (size_t)count);
    assert_int_equal(r.info.vertex_capacity, count); // no frame has more
    for (int c = 0; c < 8; c++) {
        const double *scale = SCALES[c / 2], angle = c % 2 ? 0.6 : 0.0;
        uint32_t loop = 0, ends = 0;
        patch_pose_rest(&r);
        r.pose[joint.node].scale.x = (float)scale[0];
        r.pose[joint.node].scale.y = (float)scale[1];
        r.pose[joint.node].scale.z = (float)scale[2];
        r.pose[joint.node].rotation.x = (float)sin(angle / 2);
        r.pose[joint.node].rotation.w = (float)cos(angle / 2);
        patch_run_now(&r);
        assert_int_equal(r.counts[0], count);
        assert_null(frame_fault(&r, 2));
        for (uint32_t v = 0; v < count; v++) {
            double y[3], want[3], share = -1.0;
            for (int k = 0; k < 3; k++) y[k] = rest[3 * v + k] - joint.centre[k];
            if (fabs(y[2]) < 1e-4) share = 0.5, loop++;
            if (fabs(y[2]) > 2.4) share = y[2] > 0.0, ends++;
            if (share < 0.0) continue;
            scaled_place(y, scale, angle, share, want);
            for (int k = 0; k < 3; k++)
                assert_near(r.positions[3 * v + k] - joint.centre[k], want[k], 3e-4);
        }
        assert_true(loop >= 32 && ends > 60);
        const double mean = mean_tilt(&r, joint.centre, 2.0);
        print_message("scaled by %g %g %g, bent by %g: normals within %.2f degrees\n", scale[0],
                      scale[1], scale[2], angle, mean);
        assert_true(mean < 1.5);
    }
    free(rest);
    patch_run_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cylinders_loop_takes_half_of_the_bend),
        cmocka_unit_test(limbs_stay_closed_and_keep_their_volume),
        cmocka_unit_test(normals_are_those_of_the_bent_surface),
        cmocka_unit_test(no_vertex_jumps_however_a_joint_bends),
        cmocka_unit_test(bands_that_overlap_add_up),
        cmocka_unit_test(normals_follow_where_bands_overlap),
        cmocka_unit_test(instances_bend_as_they_do_alone),
        cmocka_unit_test(a_moved_child_stretches_its_band),
        cmocka_unit_test(a_scaled_child_takes_its_scale_into_the_band),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
