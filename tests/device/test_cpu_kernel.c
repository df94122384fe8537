/// The tools of kernel text in C: the emulated fused multiply-add, the reciprocal root, and the
/// rule for sums of quaternions that cancel. Compiled without FMA instructions, so FMA is the
/// emulation.
#include "support.h"

#define KERNEL_LANES 4
#include "kernel/kernel.h"
#include "kernel/algebra.h"
#include "kernel/blend.h"

#include "device/cpu/cpu.h"
#include "skin_case.h"
#include "skin_run.h"

static float random_float(uint64_t *state)
{
    uint32_t bits = (uint32_t)case_hash(state);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static bool same(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void check_fma(const float a[4], const float b[4], const float c[4])
{
    float out[4];
    STORE(out, FMA(LOAD(a), LOAD(b), LOAD(c)));
    for (int i = 0; i < 4; i++) {
        const float want = fmaf(a[i], b[i], c[i]), one = elem_fma(a[i], b[i], c[i]);
        if (!same(out[i], want) || !same(one, want))
            fail_msg("fma(%a, %a, %a) = %a (four lanes), %a (one), fmaf has %a", a[i], b[i], c[i],
                     out[i], one, want);
    }
}

// Products of few bits, so that sums fall on or near midpoints of floats.
static float short_float(uint64_t *state)
{
    const int exponent = (int)case_below(state, 60) - 30;
    return ldexpf((float)(1 + case_below(state, 4096)), exponent) * (case_below(state, 2) ? 1 : -1);
}

static void emulated_fma_is_fmaf_on_random_bits(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int n = 0; n < 500000; n++) {
        float a[4], b[4], c[4];
        for (int i = 0; i < 4; i++) {
            a[i] = random_float(&seed);
            b[i] = random_float(&seed);
            c[i] = random_float(&seed);
            if (n % 3 == 0) c[i] = -(a[i] * b[i]); // cancellation
        }
        check_fma(a, b, c);
    }
}

static void emulated_fma_is_fmaf_at_midpoints_and_among_subnormals(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int n = 0; n < 500000; n++) {
        float a[4], b[4], c[4];
        for (int i = 0; i < 4; i++) {
            a[i] = short_float(&seed);
            b[i] = short_float(&seed);
            c[i] = ldexpf(short_float(&seed), (int)case_below(&seed, 80) - 40);
            if (n % 2)
                a[i] *= 0x1p-70f, b[i] *= 0x1p-70f, c[i] *= 0x1p-130f; // results below 2^-126
        }
        check_fma(a, b, c);
    }
    // The case of docs/spec/blending.md 6.2: rounding to double first loses the last term.
    const float x[4] = { 1 + 0x1p-12f, 1 + 0x1p-12f, -1 - 0x1p-12f, 0x1p-75f };
    const float y[4] = { 1 + 0x1p-12f, 1 + 0x1p-12f, 1 + 0x1p-12f, 0x1p-75f };
    const float z[4] = { 0x1p-80f, -0x1p-80f, 0x1p-80f, -0.0f };
    check_fma(x, y, z);
}

// Error in units of the result's last place.
static double root_error(float a)
{
    float in[4] = { a, a, a, a }, out[4];
    STORE(out, reciprocal_root(LOAD(in)));
    const double exact = 1 / sqrt((double)a);
    int exponent;
    frexp(exact, &exponent);
    return fabs(out[0] - exact) / ldexp(1, exponent - 24);
}

static void reciprocal_root_is_within_one_ulp_over_two_octaves_of_mantissas(void **state)
{
    (void)state;
    double worst = 0;
    // 1/sqrt has period 4 in its argument: two octaves, every 37th mantissa, show every kind of
    // rounding.
    for (uint32_t bits = 0x3f800000u; bits < 0x40800000u; bits += 37) {
        float a;
        memcpy(&a, &bits, sizeof a);
        worst = fmax(worst, root_error(a));
    }
    print_message("largest error of reciprocal_root: %.4f ULP\n", worst);
    assert_true(worst <= 1.0);
    assert_true(worst >
                0.5); // else it would be correctly rounded and this test would measure nothing
}

static void reciprocal_root_is_finite_for_every_input_but_nan(void **state)
{
    (void)state;
    const float in[8] = { 0.0f, -0.0f, 1e-45f, -1.0f, INFINITY, 3.4e38f, 1.17549435e-38f, 1e-30f };
    float out[8];
    STORE(out, reciprocal_root(LOAD(in)));
    STORE(out + 4, reciprocal_root(LOAD(in + 4)));
    for (int i = 0; i < 8; i++) assert_true(isfinite(out[i]) && out[i] > 0);
    assert_near(out[7], 1e15, 1e9);
}

static void a_zero_normal_stays_zero(void **state)
{
    (void)state;
    real3 n = finish_unit(real3_make(K(0.0), K(-0.0), K(0.0)), K(-1.0));
    for (int i = 0; i < 4; i++)
        assert_true(n.x[i] == 0 && n.y[i] == 0 && n.z[i] == 0 && !signbit(n.y[i]));
}

static void weights_of_zero_change_no_bit_of_a_blend(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int n = 0; n < 20000; n++) {
        quat sum = quat_zero(), with = quat_zero();
        for (int i = 0; i < 5; i++) {
            quat q;
            for (int k = 0; k < 4; k++) {
                q.w[k] = case_nasty(&seed, (float)case_in(&seed, -1, 1));
                q.x[k] = case_nasty(&seed, (float)case_in(&seed, -1, 1));
                q.y[k] = case_nasty(&seed, (float)case_in(&seed, -1, 1));
                q.z[k] = case_nasty(&seed, (float)case_in(&seed, -1, 1));
            }
            const float weight = case_below(&seed, 3) ? (float)case_in(&seed, 0, 1) : 1e-42f;
            if (i % 2 == 0) sum = quat_blend(sum, SPLAT(weight), q);
            with = quat_blend(with, SPLAT(i % 2 == 0 ? weight : 0.0f), q);
        }
        quat a = sum, b = with;
        a.w = a.w + K(0.0), b.w = b.w + K(0.0);
        a.z = a.z + K(0.0), b.z = b.z + K(0.0);
        assert_memory_equal(&a.w, &b.w, sizeof a.w);
        assert_memory_equal(&a.z, &b.z, sizeof a.z);
    }
}

// Three bones: an identity of almost no weight is the pivot, two opposed half turns of equal weight
// cancel.
typedef struct cancelling {
    skin_case c;
    uint32_t first[2], bone[3];
    float weight[3], weights[48], matrices[36], rotations[12], duals[12], stretches[18],
        positions[48];
} cancelling;

static void cancelling_make(cancelling *k, cutis_formula formula, uint32_t nonuniform)
{
    static uint32_t list_first[2] = { 0, 3 }, vertices[16], slot[1] = { 0 },
                    nonuniform_flags[2] = { 0, 1 };
    static float scales[1] = { 1 };
    memset(k, 0, sizeof *k);
    for (int i = 0; i < 16; i++) vertices[i] = i ? CUTIS_NO_VERTEX : 0;
    k->first[1] = 3;
    for (uint32_t b = 0; b < 3; b++) {
        // Bone 1 moves by (5, 0, 0), bone 2 by (0, 7, 0); both turn by 180 degrees about x, with q
        // and -q.
        const double q[4] = { b == 0, b == 1 ? 1 : b == 2 ? -1 : 0, 0, 0 };
        const double t[3] = { b == 1 ? 5 : 0, b == 2 ? 7 : 0, 0 };
        double r[9], e[4];
        case_rotation(q, r);
        case_dual(t, q, e);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) k->matrices[12 * b + 4 * i + j] = (float)r[3 * i + j];
            k->matrices[12 * b + 4 * i + 3] = (float)t[i];
        }
        for (int i = 0; i < 4; i++)
            k->rotations[4 * b + i] = (float)q[i], k->duals[4 * b + i] = (float)e[i];
        k->stretches[6 * b] = k->stretches[6 * b + 3] = k->stretches[6 * b + 5] = 1;
        k->bone[b] = b;
    }
    k->weight[0] = 1e-8f, k->weight[1] = 0.5f, k->weight[2] = 0.5f;
    for (int b = 0; b < 3; b++) k->weights[16 * b] = k->weight[b];
    for (int l = 1; l < 16; l++) k->weights[l] = 1;
    k->positions[0] = 1, k->positions[16] = 2, k->positions[32] = 3;
    k->c.layout = (cutis_skin_layout){ .formula = formula,
                                       .block_size = 16,
                                       .vertex_count = 1,
                                       .block_count = 1,
                                       .bone_count = 3,
                                       .list_first = list_first,
                                       .list_bone = k->bone,
                                       .weights = k->weights,
                                       .positions = k->positions,
                                       .vertices = vertices,
                                       .centres = k->positions,
                                       .vertex_slot = slot,
                                       .first = k->first,
                                       .bone = k->bone,
                                       .weight = k->weight };
    k->c.frames = (cutis_skin_frames){ .instance_count = 1,
                                       .matrices = k->matrices,
                                       .rotations = k->rotations,
                                       .duals = k->duals,
                                       .stretches = k->stretches,
                                       .scales = scales,
                                       .nonuniform = nonuniform_flags + nonuniform };
}

static void a_cancelled_sum_of_rotations_takes_the_bone_with_the_largest_weight(void **state)
{
    (void)state;
    cutis_context *context = NULL;
    cutis_device *device = NULL;
    cutis_cpu_variant all[8];
    const uint32_t count = cutis_cpu_variants(all);
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    assert_ok(context, cutis_cpu_device_create(
                           context, &(cutis_device_options){ .thread_count = 1 }, &device));
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t nonuniform = 0; nonuniform < 2; nonuniform++) {
            if (!all[i].supported) continue;
            cancelling k;
            cutis_device_skin *skin = NULL;
            float out[3] = { 0, 0, 0 };
            const skin_streams outputs = { .positions = { out, NULL, 0, 12, 12 } };
            cutis_cpu_device_use(device, &all[i]);
            cancelling_make(&k, CUTIS_FORMULA_DQS, nonuniform);
            assert_ok(context, device->operations->skin_create(device, &k.c.layout, &skin));
            assert_ok(context, skin_run(skin, &k.c.layout, &k.c.frames, &outputs));
            device->operations->skin_destroy(skin);
            // Bone 1, the first of the two largest: (1, 2, 3) turned about x, then moved.
            assert_near(out[0], 6, 1e-5);
            assert_near(out[1], -2, 1e-5);
            assert_near(out[2], -3, 1e-5);
            // A centre that is the vertex itself moves by the blended matrices, whatever the
            // rotation.
            cancelling_make(&k, CUTIS_FORMULA_COR, nonuniform);
            assert_ok(context, device->operations->skin_create(device, &k.c.layout, &skin));
            assert_ok(context, skin_run(skin, &k.c.layout, &k.c.frames, &outputs));
            device->operations->skin_destroy(skin);
            assert_near(out[0], 3.5, 1e-5);
            assert_near(out[1], 1.5, 1e-5);
            assert_near(out[2], -3, 1e-5);
        }
    cutis_device_destroy(device);
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emulated_fma_is_fmaf_on_random_bits),
        cmocka_unit_test(emulated_fma_is_fmaf_at_midpoints_and_among_subnormals),
        cmocka_unit_test(reciprocal_root_is_within_one_ulp_over_two_octaves_of_mantissas),
        cmocka_unit_test(reciprocal_root_is_finite_for_every_input_but_nan),
        cmocka_unit_test(a_zero_normal_stays_zero),
        cmocka_unit_test(weights_of_zero_change_no_bit_of_a_blend),
        cmocka_unit_test(a_cancelled_sum_of_rotations_takes_the_bone_with_the_largest_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
