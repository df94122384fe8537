// Learning drivers: a regression finds the joints and the function that samples were made with and
// nothing else; random poses stay within what they were shown; what cannot be learned from is
// refused.
#include "support.h"

#include <math.h>

#include "fit/bake/regress.h"

enum { FRAMES = 300, JOINTS = 6, TRUE_A = 4, TRUE_B = 1 };

static double inputs[JOINTS][4][FRAMES], targets[FRAMES][6];
static uint8_t fold[FRAMES];

static double noise(uint64_t stream, uint64_t index)
{
    return 2 * cutis_random_unit(7, stream, index) - 1;
}

// A quadratic of two joints, with a cross term.
static void make_samples(double disturbed)
{
    for (int f = 0; f < FRAMES; f++) {
        for (int j = 0; j < JOINTS; j++) {
            double square = 0;
            for (int c = 0; c < 3; c++) {
                inputs[j][c][f] = 0.5 * noise((uint64_t)(4 * j + c), (uint64_t)f);
                square += inputs[j][c][f] * inputs[j][c][f];
            }
            inputs[j][3][f] = sqrt(1 - square) - 1;
        }
        const double x = inputs[TRUE_A][0][f], y = inputs[TRUE_A][1][f], z = inputs[TRUE_B][2][f];
        const double w = inputs[TRUE_B][3][f];
        const double made[6] = { 0.7 * x - 0.2 * y * y, 0.5 * z, 0.3 * x * z, 0.05 * y, -0.1 * w,
                                 0.08 * z * y };
        for (int o = 0; o < 6; o++)
            targets[f][o] = made[o] + disturbed * noise(100 + (uint64_t)o, (uint64_t)f);
        fold[f] = (uint8_t)(f % CUTIS_REGRESS_FOLDS);
    }
}

static void fit(cutis_regress_fit *out, double *scratch)
{
    static const uint32_t all[JOINTS] = { 0, 1, 2, 3, 4, 5 };
    const cutis_regress_samples samples = { .frame_count = FRAMES,
                                            .inputs = &inputs[0][0][0],
                                            .targets = &targets[0][0],
                                            .fold = fold,
                                            .lever = 0.1,
                                            .candidate_count = JOINTS,
                                            .candidates = all };
    memset(out, 0, sizeof *out);
    cutis_regress(&samples, false, scratch, out);
}

static void a_regression_finds_the_joints_and_the_function(void **state)
{
    (void)state;
    double *scratch = malloc(cutis_regress_scratch() * sizeof *scratch);
    assert_non_null(scratch);
    for (int noisy = 0; noisy < 2; noisy++) {
        cutis_regress_fit found;
        make_samples(noisy ? 0.002 : 0);
        fit(&found, scratch);
        assert_int_equal(found.input_count, 2);
        const bool order = found.inputs[0] == TRUE_A;
        assert_int_equal(found.inputs[!order], TRUE_A);
        assert_int_equal(found.inputs[order], TRUE_B);
        // Without noise nothing else is read: x and y of the one, z and w of the other.
        if (!noisy) assert_int_equal(found.used, order ? 0xc3 : 0x3c);
        // Where it was not shown anything, but the function says what is there.
        double most = 0;
        for (int k = 0; k < 50; k++) {
            double u[8], a[4], b[4], got[6];
            for (int c = 0; c < 3; c++) {
                a[c] = 0.5 * noise(200 + (uint64_t)c, (uint64_t)k);
                b[c] = 0.5 * noise(210 + (uint64_t)c, (uint64_t)k);
            }
            a[3] = sqrt(1 - a[0] * a[0] - a[1] * a[1] - a[2] * a[2]) - 1;
            b[3] = sqrt(1 - b[0] * b[0] - b[1] * b[1] - b[2] * b[2]) - 1;
            memcpy(u + (order ? 0 : 4), a, sizeof a), memcpy(u + (order ? 4 : 0), b, sizeof b);
            cutis_regress_evaluate(&found, u, got);
            const double want[6] = { 0.7 * a[0] - 0.2 * a[1] * a[1],
                                     0.5 * b[2],
                                     0.3 * a[0] * b[2],
                                     0.05 * a[1],
                                     -0.1 * b[3],
                                     0.08 * b[2] * a[1] };
            for (int o = 0; o < 6; o++) most = fmax(most, fabs(got[o] - want[o]));
        }
        assert_true(most < (noisy ? 3e-3 : 2e-5));
    }
    // Nothing but noise: nothing is read.
    cutis_regress_fit found;
    make_samples(0.002);
    for (int f = 0; f < FRAMES; f++)
        for (int o = 0; o < 6; o++) targets[f][o] = noise(300 + (uint64_t)o, (uint64_t)f);
    fit(&found, scratch);
    assert_int_equal(found.input_count, 0);
    free(scratch);
}

// Poses that turn the elbow nearly as far as it goes, from -0.3 to 1.2 about y.
static int count_ends(const cutis_transform *poses, uint32_t nodes, uint32_t elbow, int count,
                      cutis_quat rest)
{
    const cutis_quat back = { -rest.x, -rest.y, -rest.z, rest.w };
    int found = 0;
    for (int k = 0; k < count; k++) {
        const cutis_quat q = cutis_quat_multiply(back, poses[(size_t)k * nodes + elbow].rotation);
        const float angle = 2 * atan2f(q.y, q.w);
        assert_true(angle >= -0.3001f && angle <= 1.2001f);
        found += angle < -0.15f || angle > 1.05f;
    }
    return found;
}

static void random_poses_stay_within_what_they_were_shown(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    cutis_context *context = NULL;
    cutis_model *arm = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    assert_ok(context,
              cutis_synth_create(context, &(cutis_synth_options){ .body = CUTIS_BODY_ARM }, &arm));
    const uint32_t nodes = cutis_model_get(arm)->node_count;
    uint32_t elbow = 0;
    assert_ok(context, cutis_model_find_joint(arm, "elbow", &elbow));
    cutis_transform *shown = calloc(nodes, 2 * sizeof *shown);
    cutis_transform *poses = calloc((size_t)nodes * COUNT, sizeof *poses);
    for (int k = 0; k < 2; k++) cutis_pose_rest(arm, shown + (size_t)k * nodes, NULL);
    const cutis_quat rest = shown[elbow].rotation;
    shown[elbow].rotation =
        cutis_quat_multiply(rest, cutis_quat_from_axis_angle((cutis_float3){ 0, 1, 0 }, 1.2f));
    shown[nodes + elbow].rotation =
        cutis_quat_multiply(rest, cutis_quat_from_axis_angle((cutis_float3){ 0, 1, 0 }, -0.3f));
    assert_ok(context, cutis_bake_poses(arm, shown, 2, 9, COUNT, poses));
    float least = 9, most = -9;
    for (uint32_t k = 0; k < COUNT; k++)
        for (uint32_t n = 0; n < nodes; n++) {
            const cutis_transform *at = &poses[k * nodes + n], *still = &shown[nodes + n];
            if (n != elbow) {
                assert_memory_equal(at, still, sizeof *at);
                continue;
            }
            const cutis_quat back = { -rest.x, -rest.y, -rest.z, rest.w };
            const cutis_quat q = cutis_quat_multiply(back, at->rotation);
            const float angle = 2 * atan2f(q.y, q.w);
            assert_true(fabsf(q.x) < 1e-6f && fabsf(q.z) < 1e-6f);
            least = fminf(least, angle), most = fmaxf(most, angle);
        }
    assert_true(least >= -0.3001f && least < -0.25f && most <= 1.2001f && most > 1.1f);
    const int even = count_ends(poses, nodes, elbow, COUNT, rest);
    assert_ok(context, cutis_bake_swings(arm, shown, 2, 9, COUNT, poses));
    const int swings = count_ends(poses, nodes, elbow, COUNT, rest);
    assert_true(even > COUNT / 20 && 4 * swings > 5 * even);
    shown[0].scale.x = NAN;
    assert_int_equal(cutis_bake_poses(arm, shown, 2, 9, COUNT, poses), CUTIS_INVALID_ARGUMENT);
    free(shown), free(poses);
    cutis_model_destroy(arm);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

static void frames_that_nothing_can_be_learned_from_are_refused(void **state)
{
    (void)state;
    cutis_context *context = NULL;
    cutis_model *model = NULL, *out = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    const cutis_synth_options synth = { .body = CUTIS_BODY_CYLINDER };
    assert_ok(context, cutis_synth_create(context, &synth, &model));
    const size_t plane = 3 * (size_t)cutis_model_vertex_count(model);
    float *positions = calloc(3 * plane, sizeof *positions);
    for (size_t i = 0; i < 3 * plane; i++) positions[i] = (float)(i % 17) * (float)(i / plane);
    const int32_t clips[3] = { 0, CUTIS_NONE, 0 };
    cutis_bake_frames frames = { .count = 3, .positions = positions };
    const cutis_bake_options options = { .helpers = 1, .drivers = true };
    assert_int_equal(cutis_bake(model, NULL, &frames, &options, &out, NULL),
                     CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(context), "a skeleton that moves"));
    frames.clips = clips;
    assert_int_equal(cutis_bake(model, NULL, &frames, &options, &out, NULL),
                     CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(context), "range or order"));
    free(positions);
    cutis_model_destroy(model);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_regression_finds_the_joints_and_the_function),
        cmocka_unit_test(random_poses_stay_within_what_they_were_shown),
        cmocka_unit_test(frames_that_nothing_can_be_learned_from_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
