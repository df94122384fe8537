/// The double algebra inside the library: eigenvectors, singular values, polar rotations,
/// quaternions, Cholesky, exp. Each is checked by what defines it (A v = l v, A = U S V^T, L L^T =
/// A), not by another solver.
#include "support.h"

#include "math/cholesky.h"
#include "math/eigen3.h"
#include "math/exponential.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/svd3.h"

#define PI 3.14159265358979323846

static uint64_t counter;

static double roll(double low, double high)
{
    return random_in(5, counter++, low, high);
}

static void check_eigen(const double *a, double scale)
{
    double l[3], v[9], m[9] = { a[0], a[1], a[2], a[1], a[3], a[4], a[2], a[4], a[5] };
    cutis_eigen3(a, l, v);
    assert_true(l[0] >= l[1] && l[1] >= l[2]);
    for (int i = 0; i < 3; i++) {
        double image[3];
        double33_vector(m, v + 3 * i, image);
        for (int c = 0; c < 3; c++) assert_near(image[c], l[i] * v[3 * i + c], 1e-14 * scale);
        for (int j = 0; j < 3; j++) assert_near(double3_dot(v + 3 * i, v + 3 * j), i == j, 1e-14);
    }
}

static void eigenvectors_satisfy_their_equation(void **state)
{
    (void)state;
    for (int k = 0; k < 2000; k++) {
        double a[6], scale = pow(10, roll(-8, 8));
        for (int i = 0; i < 6; i++) a[i] = scale * roll(-1, 1);
        if (k % 3 == 0) a[1] = a[2] = a[4] = 0; // already diagonal
        if (k % 5 == 0) a[3] = a[0];            // equal diagonal entries
        check_eigen(a, 4 * scale);
    }
    check_eigen((double[]){ 0, 0, 0, 0, 0, 0 }, 1);
    check_eigen((double[]){ 1, 1, 1, 1, 1, 1 }, 4); // rank 1
    check_eigen((double[]){ 1, 0, 0, 1, 0, 1 }, 4);
}

static void check_svd(const double *a, double scale)
{
    double u[9], s[3], v[9], us[9], back[9], sign = double33_determinant(a);
    cutis_svd3(a, u, s, v);
    for (int i = 0; i < 9; i++) us[i] = u[i] * s[i % 3];
    double33_multiply_transpose(us, v, back);
    for (int i = 0; i < 9; i++) assert_near(back[i], a[i], 1e-14 * scale);
    assert_near(double33_determinant(u), 1, 1e-13);
    assert_near(double33_determinant(v), 1, 1e-13);
    assert_true(s[0] >= s[1] && s[1] >= fabs(s[2]) - 1e-15 * scale);
    if (fabs(sign) > 1e-10 * scale * scale * scale) assert_true(s[2] * sign > 0);
}

static void singular_values_rebuild_the_matrix(void **state)
{
    (void)state;
    for (int k = 0; k < 2000; k++) {
        double a[9], scale = pow(10, roll(-30, 30));
        for (int i = 0; i < 9; i++) a[i] = scale * roll(-1, 1);
        for (int i = 0; i < 3 && k % 4 == 1; i++) a[6 + i] = a[i];                       // rank 2
        for (int i = 0; i < 3 && k % 4 == 2; i++) a[3 + i] = 2 * a[i], a[6 + i] = -a[i]; // rank 1
        check_svd(a, 6 * scale);
    }
    check_svd((double[9]){ 0 }, 1);
    check_svd((double[9]){ 1, 0, 0, 0, 1, 0, 0, 0, 1 }, 3);
    check_svd((double[9]){ 0, 0, 1e-300, 0, 0, 0, 0, 0, 0 }, 1e-300);
}

/// R proper, and R^T A symmetric with eigenvalues of one sign: that is the polar decomposition.
static void polar_rotations_leave_a_symmetric_factor(void **state)
{
    (void)state;
    for (int k = 0; k < 3000; k++) {
        double a[9], r[9], s[9], square[9], l[3], v[9];
        for (int i = 0; i < 9; i++) a[i] = roll(-1, 1);
        if (k % 3 == 0)
            for (int i = 0; i < 3; i++)
                a[6 + i] = a[i] + a[3 + i] + 1e-5 * roll(-1, 1); // nearly flat
        if (k % 7 == 0)
            for (int i = 0; i < 9; i++) a[i] *= 1e-20;
        if (!cutis_polar3(a, r)) continue;
        double33_transpose_multiply(r, r, square);
        for (int i = 0; i < 9; i++) assert_near(square[i], i % 4 == 0, 1e-13);
        assert_near(double33_determinant(r), 1, 1e-13);
        double33_transpose_multiply(r, a, s);
        double size = sqrt(double33_square(a)), sign = double33_determinant(a) < 0 ? -1 : 1;
        assert_near(s[1], s[3], 1e-13 * size);
        assert_near(s[2], s[6], 1e-13 * size);
        assert_near(s[5], s[7], 1e-13 * size);
        cutis_eigen3((double[6]){ sign * s[0], sign * s[1], sign * s[2], sign * s[4], sign * s[5],
                                  sign * s[8] },
                     l, v);
        assert_true(l[2] >= -1e-13 * size);
    }
}

static void a_matrix_of_rank_one_defines_no_rotation_and_one_of_rank_two_does(void **state)
{
    (void)state;
    double r[9] = { 7 };
    assert_false(cutis_polar3((double[9]){ 0 }, r));
    assert_false(cutis_polar3((double[9]){ 1, 2, 3, 2, 4, 6, 3, 6, 9 }, r));
    assert_false(cutis_polar3((double[9]){ 1, 0, 0, 0, 1e-7, 0, 0, 0, 1e-7 }, r));
    assert_true(r[0] == 7);
    assert_true(
        cutis_polar3((double[9]){ 0, -1, 0, 1, 0, 0, 0, 0, 0 }, r)); // a flat quarter turn about z
    const double expected[9] = { 0, -1, 0, 1, 0, 0, 0, 0, 1 };
    for (int i = 0; i < 9; i++) assert_near(r[i], expected[i], 1e-15);
}

static void quaternions_survive_the_round_trip_also_at_180_degrees(void **state)
{
    (void)state;
    static const double AXES[4][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 1 } };
    for (int k = 0; k < 4000; k++) {
        double axis[3], angle = roll(0, PI), r[9], again[9], q[4], p[4];
        for (int i = 0; i < 3; i++) axis[i] = k < 400 ? AXES[k % 4][i] : roll(-1, 1);
        if (k < 4) angle = PI;
        double length = sqrt(double3_dot(axis, axis));
        p[0] = k < 4 ? 0 : cos(angle / 2); // the half turn exactly
        for (int i = 0; i < 3; i++) p[1 + i] = axis[i] / length * (k < 4 ? 1 : sin(angle / 2));
        cutis_mat3_from_quat(p, r);
        cutis_quat_from_mat3(r, q);
        cutis_mat3_from_quat(q, again);
        double dot = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
        assert_near(fabs(dot), 1, 1e-15);
        for (int i = 0; i < 4; i++) assert_near(q[i], dot < 0 ? -p[i] : p[i], 1e-15);
        for (int i = 0; i < 9; i++) assert_near(again[i], r[i], 2e-15);
    }
    double none[9];
    cutis_mat3_from_quat((double[4]){ 0, 0, 0, 0 }, none);
    for (int i = 0; i < 9; i++) assert_true(none[i] == (i % 4 == 0));
}

static void quaternion_products_compose_rotations(void **state)
{
    (void)state;
    for (int k = 0; k < 500; k++) {
        double a[4], b[4], ab[4], ra[9], rb[9], rab[9], product[9];
        for (int i = 0; i < 4; i++) a[i] = roll(-1, 1), b[i] = roll(-1, 1);
        double_quat_multiply(a, b, ab);
        cutis_mat3_from_quat(a, ra);
        cutis_mat3_from_quat(b, rb);
        cutis_mat3_from_quat(ab, rab);
        double33_multiply(ra, rb, product);
        for (int i = 0; i < 9; i++) assert_near(rab[i], product[i], 1e-14);
    }
}

static void cholesky_solves_and_refuses_what_is_not_definite(void **state)
{
    (void)state;
    enum { N = 7 };
    for (int k = 0; k < 200; k++) {
        double g[N * N], a[N * N], factor[N * N], x[N], b[N];
        for (int i = 0; i < N * N; i++) g[i] = roll(-1, 1);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                a[N * i + j] = i == j ? 0.1 : 0;
                for (int m = 0; m < N; m++) a[N * i + j] += g[N * i + m] * g[N * j + m];
            }
        memcpy(factor, a, sizeof a);
        assert_true(cutis_cholesky_factor(N, factor));
        for (int i = 0; i < N; i++) x[i] = b[i] = roll(-1, 1);
        cutis_cholesky_solve(N, factor, x);
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int j = 0; j < N; j++) sum += a[N * i + j] * x[j];
            assert_near(sum, b[i], 1e-12);
        }
    }
    assert_false(cutis_cholesky_factor(2, (double[4]){ 1, 2, 2, 1 }));
    assert_false(cutis_cholesky_factor(1, (double[1]){ NAN }));
}

static void our_exponential_is_that_of_libm_to_an_ulp_or_two(void **state)
{
    (void)state;
    for (int k = 0; k < 100000; k++) {
        double x = k < 50000 ? -roll(0, 50) : -pow(10, roll(-20, 2.8));
        double2 y = exp_negative2((double2){ x, 0 });
        assert_near(y[0] / exp(x), 1, 5e-16);
        assert_true(y[1] == 1);
    }
    double2 y = exp_negative2((double2){ -701, -1e300 });
    assert_true(y[0] == 0 && y[1] == 0);
}

// Sines and arc tangents of the library are the judge; the functions use series.
static void rotation_vectors_become_quaternions_and_come_back(void **state)
{
    (void)state;
    for (int k = 0; k <= 400; k++) {
        const double angle = 3.1415 * k / 400, axis[3] = { 0.48, -0.6, 0.64 };
        const double r[3] = { angle * axis[0], angle * axis[1], angle * axis[2] };
        const double longer[3] = { 3 * r[0], 3 * r[1], 3 * r[2] };
        double q[4], back[3];
        cutis_quat_exp(r, q);
        assert_true(fabs(q[0] - cos(angle / 2)) < 2e-9);
        for (int c = 0; c < 3; c++) assert_true(fabs(q[1 + c] - sin(angle / 2) * axis[c]) < 2e-9);
        const double s = sin(angle / 2), c = cos(angle / 2), sign = k % 2 ? -1 : 1;
        const double exact[4] = { sign * c, sign * s * axis[0], sign * s * axis[1],
                                  sign * s * axis[2] };
        cutis_quat_log(exact, back);
        for (int i = 0; i < 3; i++) assert_true(fabs(back[i] - r[i]) < 2e-9);
        cutis_quat_exp(longer, q); // beyond half a turn: half a turn
        if (3 * angle > 3.1416)
            for (int i = 0; i < 3; i++) assert_true(fabs(q[1 + i] - axis[i]) < 2e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eigenvectors_satisfy_their_equation),
        cmocka_unit_test(singular_values_rebuild_the_matrix),
        cmocka_unit_test(polar_rotations_leave_a_symmetric_factor),
        cmocka_unit_test(a_matrix_of_rank_one_defines_no_rotation_and_one_of_rank_two_does),
        cmocka_unit_test(quaternions_survive_the_round_trip_also_at_180_degrees),
        cmocka_unit_test(quaternion_products_compose_rotations),
        cmocka_unit_test(cholesky_solves_and_refuses_what_is_not_definite),
        cmocka_unit_test(our_exponential_is_that_of_libm_to_an_ulp_or_two),
        cmocka_unit_test(rotation_vectors_become_quaternions_and_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
