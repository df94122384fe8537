// Non-negative least squares against every support by brute force in long double, and against the
// conditions of Karush, Kuhn and Tucker (docs/spec/pose-space.md 11.1).
#include "support.h"

#define NNLS_MAX 64 // as the fit has it
#include "kernel/nnls.h"

typedef struct problem {
    uint32_t n;
    double g[NNLS_MAX * NNLS_MAX], h[NNLS_MAX];
} problem;

static bool solve(const problem *p, bool unit, double *w)
{
    return nnls_run((int)p->n, p->g, p->h, unit, w) != 0;
}

// G = A^T A, h = A^T b of a random 3n x n problem; some columns are equal when asked for.
static void make_problem(uint64_t seed, uint32_t n, bool twins, problem *out)
{
    double a[3 * NNLS_MAX][NNLS_MAX + 1];
    for (uint32_t r = 0; r < 3 * n; r++) {
        for (uint32_t c = 0; c <= n; c++) a[r][c] = random_in(seed, r * (n + 1) + c, -1, 1);
        if (twins) a[r][n - 1] = a[r][0];
    }
    memset(out, 0, sizeof *out);
    out->n = n;
    for (uint32_t r = 0; r < 3 * n; r++)
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = 0; j < n; j++) out->g[i * n + j] += a[r][i] * a[r][j];
            out->h[i] += a[r][i] * a[r][n];
        }
}

static long double objective(const problem *p, const double *w)
{
    long double sum = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        sum -= (long double)p->h[i] * w[i];
        for (uint32_t j = 0; j < p->n; j++)
            sum += 0.5L * w[i] * (long double)p->g[i * p->n + j] * w[j];
    }
    return sum;
}

static bool solve_dense(int n, long double *a, long double *b)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabsl(a[i * n + k]) > fabsl(a[p * n + k])) p = i;
        if (fabsl(a[p * n + k]) < 1e-15L) return false;
        for (int j = 0; j < n; j++) {
            long double swap = a[k * n + j];
            a[k * n + j] = a[p * n + j], a[p * n + j] = swap;
        }
        long double swap = b[k];
        b[k] = b[p], b[p] = swap;
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            long double f = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (int k = 0; k < n; k++) b[k] /= a[k * n + k];
    return true;
}

// The least objective over all supports.
static long double brute_force(const problem *p, bool unit)
{
    long double best = unit ? INFINITY : 0;
    for (uint32_t mask = 1; mask < 1u << p->n; mask++) {
        int list[8], m = 0;
        long double a[81] = { 0 }, b[9] = { 0 };
        for (uint32_t i = 0; i < p->n; i++)
            if (mask >> i & 1) list[m++] = (int)i;
        int size = m + (unit ? 1 : 0);
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < m; j++) a[i * size + j] = p->g[list[i] * (int)p->n + list[j]];
            b[i] = p->h[list[i]];
            if (unit) a[i * size + m] = a[m * size + i] = 1;
        }
        if (unit) b[m] = 1;
        if (!solve_dense(size, a, b)) continue;
        double w[8] = { 0 };
        bool feasible = true;
        for (int i = 0; i < m; i++) {
            feasible = feasible && b[i] >= 0;
            w[list[i]] = (double)b[i];
        }
        if (feasible) best = fminl(best, objective(p, w));
    }
    return best;
}

// Largest violation of the conditions, over the size of the problem.
static double violation(const problem *p, const double *w, bool unit)
{
    double y[NNLS_MAX], mu = 0, worst = 0, scale = 0, sum = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        y[i] = p->h[i];
        for (uint32_t j = 0; j < p->n; j++) y[i] -= p->g[i * p->n + j] * w[j];
        scale = fmax(scale, p->g[i * p->n + i]);
        sum += w[i];
        worst = fmax(worst, -w[i]);
    }
    for (uint32_t i = 0; i < p->n && unit; i++) mu += w[i] * y[i];
    if (unit) worst = fmax(worst, fabs(sum - 1));
    for (uint32_t i = 0; i < p->n; i++)
        worst = fmax(worst, (w[i] > 0 ? fabs(y[i] - mu) : y[i] - mu) / scale);
    return worst;
}

static void a_thousand_problems_satisfy_the_conditions_of_a_minimum(void **state)
{
    (void)state;
    static problem p;
    double w[NNLS_MAX];
    for (uint32_t t = 0; t < 1000; t++) {
        make_problem(t + 1, 2 + t % 11, false, &p);
        assert_true(solve(&p, false, w));
        assert_true(violation(&p, w, false) < 1e-9);
        assert_true(solve(&p, true, w));
        assert_true(violation(&p, w, true) < 1e-9);
    }
}

static void no_support_of_up_to_six_unknowns_does_better(void **state)
{
    (void)state;
    static problem p;
    double w[NNLS_MAX];
    for (uint32_t t = 0; t < 1000; t++) {
        make_problem(5000 + t, 2 + t % 5, false, &p);
        for (int unit = 0; unit < 2; unit++) {
            solve(&p, unit, w);
            long double best = brute_force(&p, unit), ours = objective(&p, w);
            assert_near((double)ours, (double)best, 1e-10 * fmax(1, fabs((double)best)));
        }
    }
}

static void equal_columns_do_not_stop_it_and_the_minimum_is_reached(void **state)
{
    (void)state;
    static problem p;
    double w[NNLS_MAX];
    for (uint32_t t = 0; t < 300; t++) {
        make_problem(9000 + t, 3 + t % 4, true, &p);
        for (int unit = 0; unit < 2; unit++) {
            assert_true(solve(&p, unit, w));
            assert_true(violation(&p, w, unit) < 1e-9);
            long double best = brute_force(&p, unit);
            assert_near((double)objective(&p, w), (double)best, 1e-9 * fmax(1, fabs((double)best)));
        }
    }
}

// Zero residual: G of the differences a_j - b is singular exactly along the solution.
static void an_exact_fit_is_found_although_its_matrix_is_singular(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < 200; t++) {
        enum { N = 5, ROWS = 24 };
        double a[ROWS][N], truth[N], g[N * N] = { 0 }, h[N] = { 0 }, w[N], sum = 0;
        for (int j = 0; j < N; j++) {
            truth[j] = j == (int)(t % N) ? 0 : random_in(t, 900 + (uint64_t)j, 0.05, 1);
            sum += truth[j];
        }
        for (int r = 0; r < ROWS; r++) {
            double b = 0;
            for (int j = 0; j < N; j++) {
                a[r][j] = random_in(t, (uint64_t)(r * N + j), -1, 1);
                b += truth[j] / sum * a[r][j];
            }
            for (int j = 0; j < N; j++) a[r][j] -= b;
        }
        for (int r = 0; r < ROWS; r++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) g[i * N + j] += a[r][i] * a[r][j];
        assert_true(nnls_run(N, g, h, 1, w));
        for (int j = 0; j < N; j++) assert_near(w[j], truth[j] / sum, 1e-10);
    }
}

static void sixty_four_unknowns_and_one_are_possible(void **state)
{
    (void)state;
    static problem p;
    double w[NNLS_MAX];
    make_problem(77, NNLS_MAX, false, &p);
    assert_true(solve(&p, true, w));
    assert_true(violation(&p, w, true) < 1e-9);
    assert_true(solve(&p, false, w));
    assert_true(violation(&p, w, false) < 1e-9);
    make_problem(78, 1, false, &p);
    assert_true(solve(&p, true, w));
    assert_true(w[0] == 1.0);
}

static void dump_numbers(FILE *file, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) fprintf(file, "%a ", values[i]);
    fprintf(file, "\n");
}

// Problems and what we make of them, for test_nnls_scipy.sh.
static int dump(const char *path)
{
    static problem p;
    double w[NNLS_MAX];
    FILE *file = fopen(path, "w");
    if (!file) return 1;
    for (uint32_t t = 0; t < 300; t++) {
        make_problem(20000 + t, 2 + t % 19, false, &p);
        fprintf(file, "%u\n", p.n);
        dump_numbers(file, p.g, (size_t)p.n * p.n);
        dump_numbers(file, p.h, p.n);
        solve(&p, false, w);
        dump_numbers(file, w, p.n);
        solve(&p, true, w);
        dump_numbers(file, w, p.n);
    }
    return fclose(file) != 0;
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "--dump") == 0) return dump(arguments[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_problems_satisfy_the_conditions_of_a_minimum),
        cmocka_unit_test(no_support_of_up_to_six_unknowns_does_better),
        cmocka_unit_test(equal_columns_do_not_stop_it_and_the_minimum_is_reached),
        cmocka_unit_test(an_exact_fit_is_found_although_its_matrix_is_singular),
        cmocka_unit_test(sixty_four_unknowns_and_one_are_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
