// The public algebra against its definitions in double.
#include "support.h"

static uint64_t draws;
static double draw(double low, double high)
{
    return random_in(3, draws++, low, high);
}

static cutis_mat34 random_matrix(double size)
{
    cutis_mat34 m;
    for (int k = 0; k < 12; k++) m.m[k] = (float)draw(-size, size);
    return m;
}

static cutis_quat random_quat(void)
{
    return (cutis_quat){ (float)draw(-1, 1), (float)draw(-1, 1), (float)draw(-1, 1),
                         (float)draw(-1, 1) };
}

// Rodrigues' formula.
static void rotate_about(const double axis[3], double angle, const double v[3], double out[3])
{
    double n = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]), dot = 0, k[3];
    for (int i = 0; i < 3; i++) k[i] = axis[i] / n, dot += k[i] * v[i];
    for (int i = 0; i < 3; i++) {
        double cross = k[(i + 1) % 3] * v[(i + 2) % 3] - k[(i + 2) % 3] * v[(i + 1) % 3];
        out[i] = v[i] * cos(angle) + cross * sin(angle) + k[i] * dot * (1 - cos(angle));
    }
}

static void a_transform_scales_then_rotates_then_translates(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        double axis[3] = { draw(-2, 2), draw(-2, 2), draw(-2, 2) }, angle = draw(-6, 6);
        cutis_transform t = { { (float)draw(-1, 1), (float)draw(-1, 1), (float)draw(-1, 1) },
                              cutis_quat_from_axis_angle(
                                  (cutis_float3){ (float)axis[0], (float)axis[1], (float)axis[2] },
                                  (float)angle),
                              { (float)draw(-2, 2), (float)draw(-2, 2), (float)draw(-2, 2) } };
        float length = i % 2 ? 1 : 3; // the rotation is normalised
        t.rotation.x *= length, t.rotation.y *= length, t.rotation.z *= length,
            t.rotation.w *= length;
        cutis_mat34 m = cutis_mat34_from_transform(&t);
        cutis_float3 p = { (float)draw(-1, 1), (float)draw(-1, 1), (float)draw(-1, 1) };
        double scaled[3] = { (double)p.x * t.scale.x, (double)p.y * t.scale.y,
                             (double)p.z * t.scale.z },
               want[3];
        rotate_about(axis, angle, scaled, want);
        cutis_float3 got = cutis_mat34_point(&m, p);
        assert_near(got.x, want[0] + t.translation.x, 3e-6);
        assert_near(got.y, want[1] + t.translation.y, 3e-6);
        assert_near(got.z, want[2] + t.translation.z, 3e-6);
    }
    cutis_quat none = cutis_quat_from_axis_angle((cutis_float3){ 0, 0, 0 }, 1);
    assert_true(none.x == 0 && none.y == 0 && none.z == 0 && none.w == 1);
}

static void products_apply_the_right_factor_first(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        cutis_mat34 a = random_matrix(2), b = random_matrix(2), ab = cutis_mat34_multiply(&a, &b);
        cutis_float3 p = { (float)draw(-1, 1), (float)draw(-1, 1), (float)draw(-1, 1) };
        cutis_float3 q = cutis_mat34_point(&b, p), want = cutis_mat34_point(&a, q);
        cutis_float3 got = cutis_mat34_point(&ab, p);
        assert_near(got.x, want.x, 1e-5);
        assert_near(got.y, want.y, 1e-5);
        assert_near(got.z, want.z, 1e-5);
        cutis_transform ta = cutis_transform_identity(), tb = ta, tc = ta;
        ta.rotation = random_quat(), tb.rotation = random_quat();
        tc.rotation = cutis_quat_multiply(ta.rotation, tb.rotation);
        cutis_mat34 ma = cutis_mat34_from_transform(&ta), mb = cutis_mat34_from_transform(&tb);
        cutis_mat34 mc = cutis_mat34_from_transform(&tc), product = cutis_mat34_multiply(&ma, &mb);
        for (int k = 0; k < 12; k++) assert_near(mc.m[k], product.m[k], 1e-6);
    }
}

static void an_inverse_undoes_at_any_scale_and_a_singular_matrix_has_none(void **state)
{
    (void)state;
    const double sizes[] = { 1, 1e-6, 1e6 };
    for (int i = 0; i < 300; i++) {
        cutis_transform t = { { (float)draw(-1, 1), 0, 1 },
                              random_quat(),
                              { 1, (float)draw(0.1, 2), -1 } };
        float size = (float)sizes[i % 3];
        t.scale.x *= size, t.scale.y *= size, t.scale.z *= size;
        cutis_mat34 m = cutis_mat34_from_transform(&t), inverse;
        assert_true(cutis_mat34_invert(&m, &inverse));
        cutis_mat34 product = cutis_mat34_multiply(&m, &inverse);
        for (int k = 0; k < 12; k++) assert_near(product.m[k], k % 5 == 0 ? 1 : 0, 3e-6);
    }
    cutis_mat34 out = { { 42 } };
    for (int c = 0; c < 3; c++) {
        cutis_mat34 m = random_matrix(1);
        for (int r = 0; r < 3; r++) m.m[4 * r + c] = 2 * m.m[4 * r + (c + 1) % 3];
        assert_false(cutis_mat34_invert(&m, &out));
    }
    cutis_mat34 zero = { { 0 } }, nan = random_matrix(1),
                tiny = { { 1e-30f, 0, 0, 0, 0, 1e-30f, 0, 0, 0, 0, 1e-30f, 1e30f } };
    nan.m[5] = NAN;
    assert_false(cutis_mat34_invert(&zero, &out));
    assert_false(cutis_mat34_invert(&nan, &out));
    assert_false(cutis_mat34_invert(&tiny, &out)); // its inverse's translation is no float
    assert_near(out.m[0], 42, 0);                  // nothing written
}

static void a_matrix_without_shear_comes_back_from_its_transform(void **state)
{
    (void)state;
    for (int i = 0; i < 500; i++) {
        cutis_transform t = { { (float)draw(-9, 9), 1, 2 },
                              random_quat(),
                              { (float)draw(0.01, 3), (float)draw(0.01, 3),
                                (float)draw(0.01, 3) } };
        if (i % 3 == 1) t.scale.y = -t.scale.y; // mirrors
        if (i % 3 == 2) t.scale.x = -t.scale.x, t.scale.y = -t.scale.y, t.scale.z = -t.scale.z;
        if (i % 50 == 0) t.rotation = (cutis_quat){ 1, 0, 0, 0 }; // half turns
        cutis_mat34 m = cutis_mat34_from_transform(&t);
        cutis_transform back = cutis_transform_from_mat34(&m);
        cutis_mat34 again = cutis_mat34_from_transform(&back);
        for (int k = 0; k < 12; k++) assert_near(again.m[k], m.m[k], 2e-6);
    }
}

static double distance(const cutis_mat34 *a, const cutis_transform *t)
{
    cutis_mat34 b = cutis_mat34_from_transform(t);
    double sum = 0;
    for (int k = 0; k < 12; k++) sum += pow((double)a->m[k] - b.m[k], 2);
    return sum;
}

static void a_sheared_matrix_gets_the_best_scale_for_its_rotation(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        cutis_mat34 m = random_matrix(1);
        cutis_transform t = cutis_transform_from_mat34(&m);
        double best = distance(&m, &t);
        for (int k = 0; k < 3; k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                cutis_transform other = t;
                (&other.scale.x)[k] += (float)sign * 0.01f;
                assert_true(distance(&m, &other) > best);
            }
    }
    const cutis_mat34 flat[3] = { { { 0 } },
                                  { { 2, 0, 0, 1 } },
                                  { { 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0 } } };
    for (int i = 0; i < 3; i++) {
        cutis_transform t = cutis_transform_from_mat34(&flat[i]);
        assert_near(distance(&flat[i], &t), 0, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transform_scales_then_rotates_then_translates),
        cmocka_unit_test(products_apply_the_right_factor_first),
        cmocka_unit_test(an_inverse_undoes_at_any_scale_and_a_singular_matrix_has_none),
        cmocka_unit_test(a_matrix_without_shear_comes_back_from_its_transform),
        cmocka_unit_test(a_sheared_matrix_gets_the_best_scale_for_its_rotation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
