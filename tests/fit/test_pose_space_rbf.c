// Interpolation between poses against its definition, solved again with pivots in long double, and
// against the figures of docs/spec/pose-space.md 11.4, 11.6, 11.7, 11.8, 11.10.
#include "support.h"

#include "math/pose_rbf.h"

#define PI        3.14159265358979323846
#define DEGREE    (PI / 180)
#define POSES_MAX 12

typedef struct bench {
    cutis_pose_table table;
    cutis_rbf rbf;
    uint32_t dimensions;
    double points[POSES_MAX][9]; ///< one coordinate a joint
    double squares[POSES_MAX * POSES_MAX * 9], query_squares[1000 * POSES_MAX * 9];
    uint32_t cluster[POSES_MAX];
    double matrix[POSES_MAX * POSES_MAX], sums[POSES_MAX], scratch[1000];
} bench;

static void squares_to(const bench *b, const double *point, double *out)
{
    for (uint32_t k = 0; k < b->table.pose_count; k++)
        for (uint32_t d = 0; d < b->dimensions; d++) {
            double difference = point[d] - b->points[k][d];
            out[k * b->dimensions + d] = difference * difference;
        }
}

// Fits the points of the bench; queries are what the denominator is looked at.
static void fit(bench *b, uint32_t poses, uint32_t dimensions, const cutis_joint_weights *weights,
                bool gaussian, double c)
{
    assert_true(cutis_rbf_scratch(poses) <= 1000);
    b->dimensions = dimensions;
    b->table = (cutis_pose_table){ .pose_count = poses,
                                   .joint_count = dimensions,
                                   .squares = b->squares,
                                   .query_count = 1000,
                                   .query_squares = b->query_squares };
    for (uint32_t k = 0; k < poses; k++)
        squares_to(b, b->points[k], b->squares + k * poses * dimensions);
    for (uint32_t q = 0; q < 1000; q++) {
        double point[9];
        for (uint32_t d = 0; d < dimensions; d++) point[d] = random_in(99, q * 9 + d, -4, 4);
        squares_to(b, point, b->query_squares + q * poses * dimensions);
    }
    b->rbf.cluster = b->cluster, b->rbf.matrix = b->matrix, b->rbf.sums = b->sums;
    cutis_rbf_fit(&b->table, weights, gaussian, c, b->scratch, &b->rbf);
}

static const cutis_joint_weights all = { 0 };

static void weights_at(const bench *b, const cutis_joint_weights *weights, const double *point,
                       double *r)
{
    double squares[POSES_MAX * 9], g[POSES_MAX];
    squares_to(b, point, squares);
    cutis_rbf_distances(&b->table, weights, squares, g);
    cutis_rbf_weights(&b->rbf, g, g, r);
}

// The definition: solve Phi lambda = unit vectors, no shift, long double.
static void definition(const bench *b, const double *point, double *r)
{
    long double a[POSES_MAX][2 * POSES_MAX], phi[POSES_MAX], total = 0, f[POSES_MAX];
    uint32_t n = b->table.pose_count;
    for (uint32_t k = 0; k <= n; k++) {
        for (uint32_t l = 0; l < n; l++) {
            const double *from = k < n ? b->points[k] : point;
            long double square = 0;
            for (uint32_t d = 0; d < b->dimensions; d++)
                square += powl((long double)from[d] - b->points[l][d], 2);
            long double value = b->rbf.gaussian ? expl(-square / (2 * powl(b->rbf.sigma, 2)))
                                                : expl(-sqrtl(square) / (long double)b->rbf.sigma);
            if (k < n)
                a[k][l] = value, a[k][n + l] = k == l;
            else
                phi[l] = value;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t p = k;
        for (uint32_t i = k + 1; i < n; i++)
            if (fabsl(a[i][k]) > fabsl(a[p][k])) p = i;
        for (uint32_t j = 0; j < 2 * n; j++) {
            long double swap = a[k][j];
            a[k][j] = a[p][j], a[p][j] = swap;
        }
        for (uint32_t i = 0; i < n; i++) {
            long double factor = i == k ? 0 : a[i][k] / a[k][k];
            for (uint32_t j = 0; j < 2 * n; j++) a[i][j] -= factor * a[k][j];
        }
    }
    for (uint32_t t = 0; t < n; t++) {
        f[t] = 0;
        for (uint32_t k = 0; k < n; k++) f[t] += a[t][n + k] / a[t][t] * phi[k];
        total += f[t];
    }
    for (uint32_t t = 0; t < n; t++) r[t] = (double)(f[t] / total);
}

static void make_points(bench *b, uint64_t seed, uint32_t poses, uint32_t dimensions)
{
    for (uint32_t k = 0; k < poses; k++)
        for (uint32_t d = 0; d < dimensions; d++)
            b->points[k][d] = random_in(seed, k * 9 + d, -1.5, 1.5);
}

static void weights_sum_to_one_and_equal_the_definition(void **state)
{
    (void)state;
    static bench b;
    double point[9], r[POSES_MAX], truth[POSES_MAX];
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        make_points(&b, 5, 8, 9);
        fit(&b, 8, 9, &all, gaussian, 0);
        for (uint32_t q = 0; q < 1000; q++) {
            for (uint32_t d = 0; d < 9; d++) point[d] = random_in(6, q * 9 + d, -2, 2);
            weights_at(&b, &all, point, r);
            definition(&b, point, truth);
            double sum = 0;
            for (int k = 0; k < 8; k++) {
                sum += r[k];
                assert_near(r[k], truth[k], 1e-10);
            }
            assert_near(sum, 1, 1e-10);
        }
        for (int k = 0; k < 8; k++) {
            weights_at(&b, &all, b.points[k], r);
            for (int l = 0; l < 8; l++) assert_near(r[l], k == l, 1e-11);
        }
    }
}

static void far_poses_hold_and_never_blow_up(void **state)
{
    (void)state;
    static bench b;
    const uint32_t dimensions[3] = { 1, 3, 9 };
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int i = 0; i < 3; i++)
            for (int gaussian = 0; gaussian < 2; gaussian++) {
                double point[9], r[POSES_MAX], squares[POSES_MAX * 9], g[POSES_MAX];
                make_points(&b, 100 + seed, 8, dimensions[i]);
                fit(&b, 8, dimensions[i], &all, gaussian, 0);
                for (uint32_t q = 0; q < 1000; q++) {
                    double reach = q % 10 ? 3 : 20 * b.rbf.sigma + 2;
                    for (uint32_t d = 0; d < dimensions[i]; d++)
                        point[d] = random_in(seed, 5000 + q * 9 + d, -reach, reach);
                    squares_to(&b, point, squares);
                    cutis_rbf_distances(&b.table, &all, squares, g);
                    double size = 0, total = 0, phi[POSES_MAX];
                    cutis_rbf_kernel(&b.rbf, g, phi);
                    for (int k = 0; k < 8; k++) total += phi[k] * b.sums[k];
                    cutis_rbf_weights(&b.rbf, g, g, r);
                    for (int k = 0; k < 8; k++) {
                        assert_true(isfinite(r[k]));
                        size += fabs(r[k]);
                    }
                    assert_true(gaussian ? total > 0 : total >= 0.5);
                    if (!gaussian) assert_true(size < 4);
                }
            }
}

static void line_of_four(bench *b, bool gaussian, double c)
{
    for (int k = 0; k < 4; k++) b->points[k][0] = 30 * k * DEGREE;
    fit(b, 4, 1, &all, gaussian, c);
}

static void one_dimension_has_the_figures_of_the_specification(void **state)
{
    (void)state;
    static bench b;
    static const struct {
        bool gaussian;
        double c, degrees, r[4];
    } rows[] = {
        { false, 0, 120, { 0, 0, 0, 1 } },
        { false, 0, 45, { 0, 0.5, 0.5, 0 } },
        { true, 0.5, 120, { -0.00, 0.02, -0.15, 1.14 } },
        { true, 0.5, 180, { -0.00, 0.02, -0.16, 1.14 } },
        { true, 1, 120, { -0.26, 0.66, -1.20, 1.79 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double r[4], point = rows[i].degrees * DEGREE;
        line_of_four(&b, rows[i].gaussian, rows[i].c);
        weights_at(&b, &all, &point, r);
        for (int k = 0; k < 4; k++) assert_near(r[k], rows[i].r[k], 0.005);
    }
    static const double sums[2][4] = { { 0.90, 0.77, 0.77, 0.90 }, { 0.81, 0.25, 0.25, 0.81 } };
    for (int i = 0; i < 2; i++) {
        line_of_four(&b, true, i ? 1 : 0.5);
        for (int k = 0; k < 4; k++) assert_near(b.sums[k], sums[i][k], 0.005);
    }
    // Too wide: the sums would be negative, so sigma shrinks until they are not.
    line_of_four(&b, true, 1.5);
    assert_true(b.rbf.shrink_count > 0);
    for (int k = 0; k < 4; k++) assert_true(b.sums[k] >= 0.25);
}

static void weighted_distances_see_their_own_joint_only(void **state)
{
    (void)state;
    static bench b;
    const double t = 60 * DEGREE;
    const uint32_t joints[2] = { 0, 1 };
    const double lone[1] = { 1 }, two[2] = { 0.8, 0.2 };
    const cutis_joint_weights one = { 1, joints, lone }, mixed = { 2, joints, two };
    static const double plain[2][4] = { { 0.010, 0.472, 0.472, 0.045 },
                                        { -0.073, 0.536, 0.536, 0.000 } };
    static const double weighted[2][3] = { { 0.019, 0.731, 0.250 }, { 0.000, 0.998, 0.002 } };
    double r[4];
    memset(b.points, 0, sizeof b.points);
    for (int k = 1; k < 4; k++) b.points[k][k - 1] = t;
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        fit(&b, 4, 3, &one, gaussian, 0);
        assert_int_equal(b.rbf.cluster_count, 2);
        for (uint32_t q = 0; q < 100; q++) {
            double point[3] = { t, random_in(3, q, -3, 3), random_in(4, q, -3, 3) };
            weights_at(&b, &one, point, r);
            assert_near(r[1], 1, 1e-9);
            assert_near(r[0] + r[2] + r[3], 0, 1e-9);
        }
        fit(&b, 4, 3, &all, gaussian, 0);
        weights_at(&b, &all, (double[]){ t, t, 0 }, r);
        for (int k = 0; k < 4; k++) assert_near(r[k], plain[gaussian][k], 0.002);
        fit(&b, 4, 3, &mixed, gaussian, 0);
        weights_at(&b, &mixed, (double[]){ t, t, 0 }, r);
        // Rest and pose 3 are one for these weights and share equally.
        assert_near(r[0] + r[3], weighted[gaussian][0], 0.002);
        assert_near(r[1], weighted[gaussian][1], 0.002);
        assert_near(r[2], weighted[gaussian][2], 0.002);
    }
}

static void repeated_examples_change_nothing(void **state)
{
    (void)state;
    static bench b, twice;
    double point[3], r[POSES_MAX], s[POSES_MAX];
    make_points(&b, 31, 5, 3);
    memcpy(twice.points, b.points, sizeof b.points);
    memcpy(twice.points[5], b.points[2], sizeof b.points[2]);
    memcpy(twice.points[6], b.points[2], sizeof b.points[2]);
    fit(&b, 5, 3, &all, false, 0);
    fit(&twice, 7, 3, &all, false, 0);
    assert_int_equal(twice.rbf.cluster_count, 5);
    for (uint32_t q = 0; q < 200; q++) {
        for (uint32_t d = 0; d < 3; d++) point[d] = random_in(8, q * 3 + d, -2, 2);
        weights_at(&b, &all, point, r);
        weights_at(&twice, &all, point, s);
        for (int k = 0; k < 5; k++) assert_near(k == 2 ? s[2] + s[5] + s[6] : s[k], r[k], 1e-9);
    }
}

static void turn(double degrees, double x, double y, double z, double *q)
{
    double s = sin(degrees * DEGREE / 2);
    q[0] = cos(degrees * DEGREE / 2), q[1] = s * x, q[2] = s * y, q[3] = s * z;
}

static void angles_wrap_and_know_no_sign_of_quaternions(void **state)
{
    (void)state;
    double a[4], b[4], minus[4];
    turn(179, 1, 0, 0, a);
    turn(-179, 1, 0, 0, b);
    assert_near(sqrt(cutis_rbf_angle_square(CUTIS_RBF_GEODESIC, a, b)), 2 * DEGREE, 1e-9);
    assert_near(sqrt(cutis_rbf_angle_square(CUTIS_RBF_EULER, a, b)), 2 * DEGREE, 1e-9);
    assert_near(sqrt(cutis_rbf_angle_square(CUTIS_RBF_ROTVEC, a, b)), 358 * DEGREE, 1e-9);
    for (int i = 0; i < 4; i++) minus[i] = -a[i];
    turn(50, 0, 0.6, 0.8, b);
    for (int d = 0; d < 3; d++)
        assert_near(cutis_rbf_angle_square((cutis_rbf_distance)d, a, b),
                    cutis_rbf_angle_square((cutis_rbf_distance)d, minus, b), 1e-9);
    turn(0, 0, 0, 1, a);
    turn(70, 0, 0, 1, b);
    for (int d = 0; d < 3; d++)
        assert_near(sqrt(cutis_rbf_angle_square((cutis_rbf_distance)d, a, b)), 70 * DEGREE, 1e-9);
}

static void a_sine_is_followed_to_two_and_a_half_percent(void **state)
{
    (void)state;
    static bench b;
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        double sum = 0;
        line_of_four(&b, gaussian, 0);
        for (int i = 0; i < 3; i++) {
            double r[4], point = (15 + 30 * i) * DEGREE, value = 0;
            weights_at(&b, &all, &point, r);
            for (int k = 0; k < 4; k++) value += r[k] * sin(30 * k * DEGREE);
            sum += pow(value - sin(point), 2) / 3;
        }
        assert_near(sqrt(sum), 0.024, 0.001);
    }
}

// The arm of docs/spec/pose-space.md 11.14: joints at x = 0, 1, 3, 5, weights that change over
// +-0.6, a muscle on the front that each joint swells where it has weight. Displacements alone:
// blending turns them and keeps their length.
static void joint_shares(double x, double *w)
{
    static const double places[4] = { 0, 1, 3, 5 };
    double above = 1; // share of everything beyond the joint
    for (int j = 0; j < 4; j++) w[j] = 0;
    for (int j = 0; j < 4; j++) {
        double s = (x - places[j]) / 1.2 + 0.5, share;
        s = s < 0 ? 0 : s > 1 ? 1 : s;
        share = s * s * (3 - 2 * s);
        if (j) w[j - 1] = above - above * share;
        above *= share;
    }
    w[3] = above;
}

static void the_arm_of_the_specification_is_best_with_weighted_distances(void **state)
{
    (void)state;
    enum { RINGS = 120, SIDES = 12, TRIALS = 60 };
    static const double examples[8][4] = { { 0 },     { 0, 0, 45 },    { 0, 0, 90 },    { 0, 45 },
                                           { 0, 90 }, { 0, 0, 0, 45 }, { 0, 0, 0, 90 }, { 20 } };
    static const uint32_t joints[4] = { 0, 1, 2, 3 };
    static bench b;
    double square[3] = { 0 }, steps = 0;
    memset(b.points, 0, sizeof b.points);
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < 4; j++) b.points[k][j] = examples[k][j] * DEGREE;
    for (int ring = 0; ring < RINGS; ring++) {
        double w[4], front = 0, amount[8];
        joint_shares(-0.5 + 6.0 * (ring + 0.5) / RINGS, w);
        for (int side = 0; side < SIDES; side++)
            front += pow(fmax(0, sin(2 * PI * side / SIDES)), 2) / SIDES;
        for (int k = 0; k < 8; k++) {
            amount[k] = 0;
            for (int j = 0; j < 4; j++) amount[k] += 0.2 * sin(b.points[k][j]) * w[j];
        }
        const cutis_joint_weights own = { 4, joints, w };
        for (int method = 1; method < 3; method++) {
            const cutis_joint_weights *metric = method == 2 ? &own : &all;
            double r[8], last = 0;
            fit(&b, 8, 4, metric, false, 0);
            for (uint64_t t = 0; t < TRIALS; t++) {
                double point[4], truth = 0, value = 0;
                for (uint64_t j = 0; j < 4; j++) {
                    point[j] = random_in(77, 4 * t + j, 0, j ? 90 : 20) * DEGREE;
                    truth += 0.2 * sin(point[j]) * w[j];
                }
                weights_at(&b, metric, point, r);
                for (int k = 0; k < 8; k++) value += r[k] * amount[k];
                square[method] += front * pow(value - truth, 2);
                if (method == 1) square[0] += front * truth * truth;
            }
            for (int j = 0; j < 4 && method == 2; j++)
                for (int degree = 0; degree <= (j ? 90 : 20); degree++) {
                    double point[4] = { 0 }, value = 0;
                    point[j] = degree * DEGREE;
                    weights_at(&b, metric, point, r);
                    for (int k = 0; k < 8; k++) value += r[k] * amount[k];
                    if (degree) steps = fmax(steps, fabs(value - last));
                    last = value;
                }
        }
    }
    for (int m = 0; m < 3; m++) square[m] = sqrt(square[m] / (RINGS * TRIALS));
    print_message("ssd %.4f, psd %.4f, wpsd %.4f; largest step %.1f %% of 0.2\n", square[0],
                  square[1], square[2], 100 * steps / 0.2);
    assert_true(square[1] <= 0.8 * square[0]);
    assert_true(square[2] <= 0.5 * square[1]);
    assert_true(steps <= 0.03 * 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_sum_to_one_and_equal_the_definition),
        cmocka_unit_test(far_poses_hold_and_never_blow_up),
        cmocka_unit_test(one_dimension_has_the_figures_of_the_specification),
        cmocka_unit_test(weighted_distances_see_their_own_joint_only),
        cmocka_unit_test(repeated_examples_change_nothing),
        cmocka_unit_test(angles_wrap_and_know_no_sign_of_quaternions),
        cmocka_unit_test(a_sine_is_followed_to_two_and_a_half_percent),
        cmocka_unit_test(the_arm_of_the_specification_is_best_with_weighted_distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
