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

// Shading follows the surface: normals against those of the faces, which are made from positions.
static void normals_are_those_of_the_bent_surface(void **state)
{
    (void)state;
    patch_run r = open_limb(&CYLINDER);
    double *sums = calloc(3 * (size_t)r.info.vertex_capacity, sizeof *sums);
    for (int bend = 0; bend <= 60; bend += 20) {
        patch_pose_joint(&r, 0, 0.7, bend * DEGREES, 0.2);
        patch_run_now(&r);
        memset(sums, 0, 3 * (size_t)r.info.vertex_capacity * sizeof *sums);
        for (uint32_t t = 0; t < r.counts[1]; t++) {
            const float *a = r.positions + 3 * (size_t)r.indices[3 * t];
            const float *b = r.positions + 3 * (size_t)r.indices[3 * t + 1];
            const float *c = r.positions + 3 * (size_t)r.indices[3 * t + 2];
            double u[3], v[3];
            for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++)
                    sums[3 * (size_t)r.indices[3 * t + i] + k] +=
                        u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        }
        const cutis_patches_joint joint = cutis_patches_joint_at(r.patches, 0);
        double mean = 0.0;
        uint32_t counted = 0;
        for (uint32_t v = 0; v < r.counts[0]; v++) {
            double far = 0.0, length = 0.0, dot = 0.0;
            for (int k = 0; k < 3; k++) {
                far += pow(r.positions[3 * v + k] - joint.centre[k], 2);
                length += sums[3 * v + k] * sums[3 * v + k];
                dot += sums[3 * v + k] * r.normals[3 * v + k];
            }
            if (far > 9.0) continue; // near the joint: caps have edges
            mean += acos(fmin(1.0, dot / sqrt(length)));
            counted++;
        }
        mean *= 1.0 / DEGREES / counted;
        print_message("bent by %d: normals within %.2f degrees of the faces'\n", bend, mean);
        assert_true(counted > 300);
        assert_true(mean < 1.0);
    }
    free(sums);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cylinders_loop_takes_half_of_the_bend),
        cmocka_unit_test(limbs_stay_closed_and_keep_their_volume),
        cmocka_unit_test(normals_are_those_of_the_bent_surface),
        cmocka_unit_test(no_vertex_jumps_however_a_joint_bends),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
