/// Work on bones (cutis_bone_work): every table of the machine gives the bits of the scalar one,
/// and says of matrices what their singular values, scales and rotations are. Centres are tested in
/// tests/deform, over all tables too.
#include "support.h"

#include "device/cpu/cpu.h"
#include "math/svd3.h"
#include "skin_case.h"

#include <float.h>

enum { BONES = 300 };

static uint32_t tables(const cutis_bone_work *out[8])
{
    cutis_cpu_variant all[8];
    uint32_t count = 0;
    for (uint32_t i = 0, n = cutis_cpu_variants(all); i < n; i++)
        if (all[i].supported) out[count++] = all[i].bones;
    assert_true(count > 0);
    return count;
}

static void roll_quat(uint64_t *state, double q[4])
{
    double length;
    do {
        length = 0.0;
        for (int i = 0; i < 4; i++) q[i] = case_in(state, -1.0, 1.0), length += q[i] * q[i];
    } while (length < 0.01 || length > 1.0);
    for (int i = 0; i < 4; i++) q[i] /= sqrt(length);
}

/// sigma times a rotation, each entry off by up to `noise`, a translation of up to `far`.
static void roll_bone(uint64_t *state, double sigma, double noise, double far, double *m)
{
    double q[4], r[9];
    roll_quat(state, q);
    case_rotation(q, r);
    for (int row = 0; row < 3; row++) {
        for (int c = 0; c < 3; c++)
            m[4 * row + c] = sigma * r[3 * row + c] + case_in(state, -noise, noise);
        m[4 * row + 3] = case_in(state, -far, far);
    }
}

static void roll_floats(uint64_t *state, double noise, float *out, uint32_t count)
{
    double m[12];
    for (uint32_t b = 0; b < count; b++) {
        roll_bone(state, 1.0, noise, 100.0, m);
        for (int i = 0; i < 12; i++) out[12 * b + i] = (float)m[i];
    }
}

/// Largest |s - 1| of the singular values, 2 or more for a mirrored matrix.
static double off_rigid(const float *m)
{
    double l[9], u[9], s[3], v[9], worst = 0.0;
    for (int i = 0; i < 9; i++) l[i] = m[i / 3 * 4 + i % 3];
    cutis_svd3(l, u, s, v);
    double determinant = l[0] * (l[4] * l[8] - l[5] * l[7]) + l[1] * (l[5] * l[6] - l[3] * l[8]) +
                         l[2] * (l[3] * l[7] - l[4] * l[6]);
    if (determinant < 0.0) return 2.0;
    for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(fabs(s[i]) - 1.0));
    return worst;
}

static void rotations_rounded_to_float_are_rigid_wherever_they_go(void **state)
{
    (void)state;
    const cutis_bone_work *work[8];
    static float m[12 * BONES];
    uint64_t dice = 1;
    for (uint32_t t = tables(work); t-- > 0;)
        for (uint32_t count = 1; count <= BONES; count = count * 2 + 1) {
            roll_floats(&dice, 0.0, m, count);
            m[3] = 1e9f, m[12 * (count - 1) + 11] = -1e15f;
            assert_true(work[t]->rigid(m, count));
        }
}

static void one_bone_that_is_not_rigid_or_not_finite_is_seen_among_many(void **state)
{
    (void)state;
    const cutis_bone_work *work[8];
    static float m[12 * BONES], kept[12];
    uint64_t dice = 2;
    roll_floats(&dice, 0.0, m, BONES);
    for (uint32_t t = tables(work); t-- > 0;)
        for (uint32_t b = 0; b < BONES; b += 23) {
            float *bone = m + 12 * b;
            memcpy(kept, bone, sizeof kept);
            for (int i = 0; i < 12; i++) {
                const float bad[3] = { NAN, INFINITY, -INFINITY };
                for (int k = 0; k < 3; k++) {
                    bone[i] = bad[k];
                    assert_false(work[t]->rigid(m, BONES));
                }
                bone[i] = kept[i];
            }
            const float scales[4] = { 1.00002f, 0.99998f, -1.0f, 0.0f };
            for (int k = 0; k < 4; k++) {
                for (int i = 0; i < 12; i++) bone[i] = kept[i] * scales[k];
                assert_false(work[t]->rigid(m, BONES));
            }
            memcpy(bone, kept, sizeof kept);
            bone[0] += 3e-5f, bone[5] -= 3e-5f; // an error in the plane of two axes
            assert_false(work[t]->rigid(m, BONES));
            memcpy(bone, kept, sizeof kept);
            assert_true(work[t]->rigid(m, BONES));
        }
}

static void what_is_called_rigid_has_singular_values_within_1e_5_of_one(void **state)
{
    (void)state;
    const cutis_bone_work *work[8];
    uint32_t count = tables(work), yes = 0, no = 0;
    uint64_t dice = 3;
    for (int k = 0; k < 20000; k++) {
        float m[12];
        roll_floats(&dice, case_in(&dice, 0.0, 2e-5), m, 1);
        for (uint32_t t = 0; t < count; t++) {
            bool rigid = work[t]->rigid(m, 1);
            if (rigid) assert_true(off_rigid(m) < 1e-5);
            yes += rigid, no += !rigid;
        }
    }
    assert_true(yes > 1000 && no > 1000);
}

static void shapes_are_scale_sign_and_unevenness_of_the_bones_in_use(void **state)
{
    (void)state;
    const cutis_bone_work *work[8];
    static double palette[12 * 19], squares[19], wanted[19];
    uint64_t dice = 4;
    for (uint32_t t = tables(work); t-- > 0;)
        for (uint32_t count = 1; count <= 19; count++) {
            uint32_t used[19];
            double low = INFINITY, high = -INFINITY;
            for (uint32_t b = 0; b < count; b++) {
                double sigma = case_in(&dice, 0.5, 2.0) * (b % 5 == 3 ? -1.0 : 1.0);
                roll_bone(&dice, sigma, 0.0, 10.0, palette + 12 * b);
                used[b] = b % 7 == 5 ? 0 : UINT32_MAX;
                wanted[b] = 3.0 * sigma * sigma;
                if (used[b]) low = fmin(low, sigma), high = fmax(high, sigma);
            }
            cutis_bone_range r;
            work[t]->shapes(palette, used, count, squares, &r);
            assert_near(r.low, low, 1e-13);
            assert_near(r.high, high, 1e-13);
            assert_true(r.nonuniform < 1e-13);
            for (uint32_t b = 0; b < count; b++) assert_near(squares[b], wanted[b], 1e-12);
            palette[0] *= 1.001, palette[4] *= 1.001, palette[8] *= 1.001; // S = diag(1.001, 1, 1)
            work[t]->shapes(palette, used, count, NULL, &r);
            assert_near(r.nonuniform, 0.001 * 2.0 / 3.0, 2e-6);
            memset(used, 0, sizeof used);
            work[t]->shapes(palette, used, count, NULL, &r);
            assert_true(r.low > r.high);
        }
}

static void a_bone_without_a_linear_part_is_as_nonuniform_as_can_be(void **state)
{
    (void)state;
    const cutis_bone_work *work[8];
    const double palette[12] = { 0 };
    const uint32_t used[1] = { UINT32_MAX };
    for (uint32_t t = tables(work); t-- > 0;) {
        cutis_bone_range r;
        work[t]->shapes(palette, used, 1, NULL, &r);
        assert_true(r.nonuniform == DBL_MAX && r.low == 0.0 && r.high == 0.0);
    }
}

/// Rotations about every axis by every angle, so that each component of the quaternion leads
/// somewhere; entries off by 1e-5, so that the polar factor is not the matrix.
static void turns_are_the_polar_rotations_as_unit_quaternions(void **state)
{
    (void)state;
    const cutis_bone_work *work[8];
    static double palette[12 * 19], quats[4 * 19];
    uint64_t dice = 5;
    for (uint32_t t = tables(work); t-- > 0;)
        for (uint32_t round = 0; round < 200; round++) {
            const uint32_t count = 1 + round % 19;
            const double sigma = case_in(&dice, 0.01, 3.0);
            for (uint32_t b = 0; b < count; b++)
                roll_bone(&dice, sigma, 1e-5 * sigma, 10.0, palette + 12 * b);
            work[t]->turns(palette, count, sigma, quats);
            for (uint32_t b = 0; b < count; b++) {
                const double *m = palette + 12 * b, *q = quats + 4 * b;
                double l[9], r[9], polar[9];
                for (int i = 0; i < 9; i++) l[i] = m[i / 3 * 4 + i % 3];
                assert_true(cutis_polar3(l, polar));
                assert_near(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1.0, 1e-14);
                case_rotation(q, r);
                for (int i = 0; i < 9; i++) assert_near(r[i], polar[i], 1e-8);
            }
        }
}

static void every_table_gives_the_bits_of_the_scalar_one(void **state)
{
    (void)state;
    const cutis_bone_work *work[8];
    static double palette[12 * 37], squares[2][37], quats[2][4 * 37];
    uint32_t used[37], n = tables(work);
    uint64_t dice = 6;
    for (uint32_t round = 0; round < 500; round++) {
        const uint32_t count = 1 + round % 37;
        cutis_bone_range range[2];
        for (uint32_t b = 0; b < count; b++) {
            roll_bone(&dice, case_in(&dice, -2.0, 2.0), round % 3 * 0.1, 1e3, palette + 12 * b);
            used[b] = case_below(&dice, 4) ? UINT32_MAX : 0;
        }
        work[0]->shapes(palette, used, count, squares[0], &range[0]);
        work[0]->turns(palette, count, 0.7, quats[0]);
        for (uint32_t t = 1; t < n; t++) {
            work[t]->shapes(palette, used, count, squares[1], &range[1]);
            work[t]->turns(palette, count, 0.7, quats[1]);
            assert_memory_equal(&range[0], &range[1], sizeof range[0]);
            assert_memory_equal(squares[0], squares[1], count * sizeof squares[0][0]);
            assert_memory_equal(quats[0], quats[1], 4 * count * sizeof quats[0][0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotations_rounded_to_float_are_rigid_wherever_they_go),
        cmocka_unit_test(one_bone_that_is_not_rigid_or_not_finite_is_seen_among_many),
        cmocka_unit_test(what_is_called_rigid_has_singular_values_within_1e_5_of_one),
        cmocka_unit_test(shapes_are_scale_sign_and_unevenness_of_the_bones_in_use),
        cmocka_unit_test(a_bone_without_a_linear_part_is_as_nonuniform_as_can_be),
        cmocka_unit_test(turns_are_the_polar_rotations_as_unit_quaternions),
        cmocka_unit_test(every_table_gives_the_bits_of_the_scalar_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
