// The core of weight reduction against its definitions: energies summed again from triangles in
// long double, minimisers by trying every active set, the converged sweep against one dense system
// (docs/spec/reduction.md 10.1 to 10.10).
#include "reduce_case.h"

// The kernel text as CPU devices have it: eight vertices side by side.
#define KERNEL_DOUBLE
#define KERNEL_LANES      8
#define REDUCE_SET        CUTIS_REDUCE_SET
#define REDUCE_CANDIDATES CUTIS_REDUCE_CANDIDATES
#define REDUCE_LIST       CUTIS_REDUCE_SET
#include "kernel/reduce_sets.h"

// Gaussian elimination with pivoting; a is n x n row-major and spoilt, b becomes the solution.
static void solve_dense(int n, long double *a, long double *b)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabsl(a[i * n + k]) > fabsl(a[p * n + k])) p = i;
        for (int j = 0; j < n && p != k; j++) {
            long double swap = a[k * n + j];
            a[k * n + j] = a[p * n + j], a[p * n + j] = swap;
        }
        long double swap = b[k];
        b[k] = b[p], b[p] = swap;
        for (int i = k + 1; i < n; i++) {
            long double f = a[i * n + k] / a[k * n + k];
            for (int j = k; f != 0 && j < n; j++) a[i * n + j] -= f * a[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (int k = n; k-- > 0;) {
        for (int j = k + 1; j < n; j++) b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
}

static long double quadratic(int n, const double *g, const double *h, const double *a)
{
    long double sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) sum += (long double)a[i] * g[i * n + j] * a[j];
        sum -= 2 * (long double)h[i] * a[i];
    }
    return sum;
}

// The least of a^T G a - 2 h a with sum 1 over every support (or the full one if negative weights
// are allowed).
static long double least_value(int n, const double *g, const double *h, bool negative)
{
    long double best = INFINITY;
    for (int mask = negative ? (1 << n) - 1 : 1; mask < 1 << n; mask++) {
        long double m[10 * 10] = { 0 }, b[10];
        int list[10], count = 0;
        for (int i = 0; i < n; i++)
            if (mask >> i & 1) list[count++] = i;
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < count; j++) m[i * (count + 1) + j] = g[list[i] * n + list[j]];
            m[i * (count + 1) + count] = m[count * (count + 1) + i] = 1;
            b[i] = h[list[i]];
        }
        b[count] = 1;
        solve_dense(count + 1, m, b);
        double a[10] = { 0 };
        bool feasible = true;
        for (int i = 0; i < count; i++)
            a[list[i]] = (double)b[i], feasible &= negative || b[i] >= 0;
        if (feasible) best = fminl(best, quadratic(n, g, h, a));
    }
    return best;
}

static void random_local(uint64_t seed, int n, double *g, double *h)
{
    double rows[12][8];
    for (int r = 0; r < 12; r++)
        for (int i = 0; i < n; i++) rows[r][i] = noise(seed, 20, 8 * r + i) + (i % 2 ? 1.5 : 0);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            g[i * n + j] = i == j ? 1e-3 : 0;
            for (int r = 0; r < 12; r++) g[i * n + j] += rows[r][i] * rows[r][j];
        }
        h[i] = 4 * noise(seed, 21, i);
    }
}

static void the_bounded_solve_finds_the_least_of_all_supports(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++)
        for (int n = 2; n <= 8; n += 3) {
            double g[64], h[8], weight[8], sum = 0;
            bool negative = seed % 4 == 0;
            random_local(seed, n, g, h);
            for (int i = 0; i < n; i++) weight[i] = 1.0 / n;
            reduce_solve(n, g, h, weight, negative);
            for (int i = 0; i < n; i++) {
                sum += weight[i];
                assert_true(negative || weight[i] >= 0);
            }
            assert_near(sum, 1, 1e-12);
            long double best = least_value(n, g, h, negative), ours = quadratic(n, g, h, weight);
            assert_near((double)ours, (double)best, 1e-10 * (1 + fabs((double)best)));
        }
}

// Which of all n - 1 subsets has the least value, by solving without each.
static uint32_t best_removal(const double *g, const double *h, uint32_t n)
{
    long double least = INFINITY;
    uint32_t best = n;
    for (uint32_t out = 0; out < n; out++) {
        double gs[64], hs[8];
        for (uint32_t i = 0, r = 0; i < n; i++) {
            if (i == out) continue;
            for (uint32_t j = 0, c = 0; j < n; j++)
                if (j != out) gs[r * (n - 1) + c++] = g[i * n + j];
            hs[r++] = h[i];
        }
        long double value = least_value((int)n - 1, gs, hs, true);
        if (value < least) least = value, best = out;
    }
    return best;
}

static void elimination_removes_what_costs_least(void **state)
{
    (void)state;
    // One step from n to n - 1, of eight problems side by side.
    for (uint64_t seed = 0; seed < 104; seed += KERNEL_LANES) {
        enum { N = 8 };
        REAL k[TRIANGLE(N)], right[N], reference[N], column[N], a[N];
        double g[KERNEL_LANES][64], h[KERNEL_LANES][8];
        for (int l = 0; l < KERNEL_LANES; l++) {
            random_local(seed + l, N, g[l], h[l]);
            for (int r = 0, at = 0; r < N; r++) {
                right[r][l] = h[l][r];
                reference[r][l] = 1.0 / N;
                for (int c = 0; c <= r; c++, at++) k[at][l] = g[l][r * N + c];
            }
        }
        reduce_weigh_all(N, k, right, reference, column, a);
        INT gone = reduce_eliminate(N, k, column, a, N - 1, true);
        for (int l = 0; l < KERNEL_LANES; l++)
            assert_int_equal(gone[l], 1 << best_removal(g[l], h[l], N));
    }
}

static void reduce_to(reduce_case *c, cutis_reduce_method method, cutis_reduce_energy energy,
                      bool fitted, cutis_reduce_state *out)
{
    cutis_reduce_colours colours;
    bool sweeps = method == CUTIS_REDUCE_POISSON, smooth = method == CUTIS_REDUCE_SMOOTH;
    const cutis_reduce_plan plan = { .energy = energy,
                                     .fitted = fitted,
                                     .reselect = fitted && energy == CUTIS_REDUCE_GRADIENT };
    if (sweeps) assert_ok(c->context, cutis_reduce_poisson(&c->problem, &plan, &c->arena, out));
    if (sweeps) return;
    assert_ok(c->context, cutis_reduce_start(&c->problem, &c->arena, fitted,
                                             method == CUTIS_REDUCE_GEOMETRIC, out));
    assert_true(cutis_reduce_colours_create(&c->arena, &c->mesh, 2, &colours));
    if (smooth) assert_ok(c->context, cutis_reduce_smooth(&c->problem, &c->arena, &colours, out));
}

static double measure(const reduce_case *c, cutis_reduce_energy energy, const double *error)
{
    double value = NAN;
    assert_ok(c->context, cutis_reduce_measure(&c->problem, energy, NULL, error, &value, NULL));
    return value;
}

static void as_many_influences_as_before_give_the_original_weights(void **state)
{
    (void)state;
    for (int negative = 0; negative < 2; negative++) {
        reduce_case c = make_case((case_shape){ 12, 20, 7, 5, 7, negative, negative, 3 });
        BIND(c);
        for (int method = 0; method < 4; method++)
            for (int energy = CUTIS_REDUCE_GRADIENT; energy <= CUTIS_REDUCE_LAPLACE; energy++) {
                cutis_reduce_state s;
                reduce_to(&c, method, energy, method < 2, &s);
                for (uint32_t i = 0; i < c.first[144]; i++) {
                    assert_int_equal(s.control[i], c.control[i]);
                    assert_near(s.weight[i], c.weight[i], 1e-6);
                }
                double scale = 0; // the energy of not moving at all
                double *all = calloc(144 * 15, sizeof *all);
                for (int i = 0; i < 144 * 15; i++) all[i] = noise(1, 1, i);
                scale = measure(&c, energy, all);
                assert_true(measure(&c, energy, s.error) <= 1e-12 * scale);
                free(all);
            }
        free_case(&c);
    }
}

static void weights_sum_to_one_keep_their_signs_and_their_number(void **state)
{
    (void)state;
    for (int negative = 0; negative < 2; negative++) {
        reduce_case c = make_case((case_shape){ 15, 30, 20, 4, 6, negative, negative, 5 });
        BIND(c);
        for (int method = 0; method < 4; method++)
            for (int fitted = 0; fitted < (method < 2 ? 2 : 1); fitted++) {
                cutis_reduce_state s;
                reduce_to(&c, method, CUTIS_REDUCE_GRADIENT, fitted, &s);
                for (uint32_t v = 0; v < c.mesh.vertex_count; v++) {
                    double sum = 0;
                    assert_true(s.first[v + 1] - s.first[v] <= 6);
                    for (uint32_t i = s.first[v]; i < s.first[v + 1]; i++) {
                        sum += s.weight[i];
                        assert_true(negative || s.weight[i] >= 0);
                        assert_true(i == s.first[v] || s.control[i] > s.control[i - 1]);
                    }
                    assert_near(sum, 1, 1e-12);
                    // The error kept is the definition's, whatever shift all controls have in
                    // common (test 4).
                    double error[12];
                    for (uint32_t m = 0; m < 4 * 30; m++)
                        for (int r = 0; r < 3; r++) c.matrices[12 * m + 4 * r + 3] += 7;
                    definition_error(&c, v, s.control + s.first[v], s.weight + s.first[v],
                                     s.first[v + 1] - s.first[v], error);
                    for (uint32_t m = 0; m < 4 * 30; m++)
                        for (int r = 0; r < 3; r++) c.matrices[12 * m + 4 * r + 3] -= 7;
                    for (int r = 0; r < 12; r++) assert_near(error[r], s.error[12 * v + r], 3e-6);
                }
            }
        free_case(&c);
    }
}

// E as a function of one vertex's weights is a quadratic: measure it at points.
static void local_quadratic(const reduce_case *c, cutis_reduce_energy energy,
                            const cutis_reduce_state *s, uint32_t v, double *error, double *q,
                            double *h)
{
    uint32_t begin = s->first[v], n = s->first[v + 1] - begin, rows = 3 * c->problem.column_count;
    double a[8] = { 0 }, *own = error + (size_t)v * rows, zero[64] = { 0 }, part[8][64];
    // e_v is affine in a; with sum a = 1 it is sum a_i part_i.
    for (uint32_t i = 0; i < n; i++) {
        a[i] = 1;
        definition_error(c, v, s->control + begin, a, n, part[i]);
        a[i] = 0;
    }
    memcpy(own, zero, rows * sizeof *own);
    long double constant = definition_energy(c, energy, error);
    long double single[8];
    for (uint32_t i = 0; i < n; i++) {
        memcpy(own, part[i], rows * sizeof *own);
        single[i] = definition_energy(c, energy, error) - constant;
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t r = 0; r < rows; r++) own[r] = -part[i][r];
        long double mirrored = definition_energy(c, energy, error) - constant;
        q[i * n + i] = (double)((single[i] + mirrored) / 2);
        h[i] = (double)((mirrored - single[i]) / 4);
    }
    // Off the diagonal: E(x + y) - E(x) - E(y) = 2 B(x, y).
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            if (i == j) continue;
            for (uint32_t r = 0; r < rows; r++) own[r] = part[i][r] + part[j][r];
            q[i * n + j] =
                (double)((definition_energy(c, energy, error) - constant - single[i] - single[j]) /
                         2);
        }
    memcpy(own, s->error + (size_t)v * rows, rows * sizeof *own);
}

static void an_update_is_the_direct_minimiser_of_the_energy_over_its_weights(void **state)
{
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        bool negative = variant & 1;
        cutis_reduce_energy energy = variant & 2 ? CUTIS_REDUCE_LAPLACE : CUTIS_REDUCE_GRADIENT;
        uint32_t keep = variant & 4 ? 8 : 4, rows = 15;
        reduce_case c =
            make_case((case_shape){ 7, 14, 11, 5, keep, negative, negative, 11 + variant });
        BIND(c);
        update_case u;
        open_updates(&c, energy, false, &u);
        const cutis_reduce_state s = u.state;
        double *error = malloc(49 * rows * sizeof *error);
        for (uint32_t v = 3; v < 49; v += 9) {
            double q[64], h[8], old[8], trace = 0;
            uint32_t begin = s.first[v], n = s.first[v + 1] - begin;
            memcpy(error, s.error, 49 * rows * sizeof *error);
            memcpy(old, s.weight + begin, n * sizeof *old);
            local_quadratic(&c, energy, &s, v, error, q, h);
            // The proximal term on both sides: 1e-3 of the mean diagonal of what multiplies a^2.
            for (uint32_t i = 0; i < n; i++) trace += q[i * n + i];
            for (uint32_t i = 0; i < n; i++) {
                q[i * n + i] += 1e-3 * trace / n;
                h[i] += 1e-3 * trace / n * old[i];
            }
            update_vertex(&u, v);
            long double best = least_value((int)n, q, h, negative);
            long double ours = quadratic((int)n, q, h, s.weight + begin),
                        before = quadratic((int)n, q, h, old);
            assert_true(before >= best);
            assert_near((double)ours, (double)best,
                        1e-10 * fabs((double)best) + 1e-8 * (double)(before - best));
        }
        cutis_reduce_close(&u.run);
        free(error);
        free_case(&c);
    }
}

static void the_energy_falls_with_every_update_and_ends_below_the_other_methods(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        cutis_reduce_energy energy = variant & 1 ? CUTIS_REDUCE_LAPLACE : CUTIS_REDUCE_GRADIENT;
        bool negative = variant & 2;
        reduce_case c =
            make_case((case_shape){ 9, 16, 12, 4, 4, negative, negative, 31 + variant });
        BIND(c);
        cutis_reduce_state geometric, largest;
        update_case u;
        assert_ok(c.context, cutis_reduce_start(&c.problem, &c.arena, false, true, &geometric));
        assert_ok(c.context, cutis_reduce_start(&c.problem, &c.arena, false, false, &largest));
        open_updates(&c, energy, false, &u);
        const cutis_reduce_state s = u.state;
        long double start = definition_energy(&c, energy, s.error), last = start;
        for (int sweep = 0; sweep < 3; sweep++)
            for (uint32_t v = 0; v < 81; v++) {
                update_vertex(&u, v);
                long double now = definition_energy(&c, energy, s.error);
                assert_true(now <= last + 1e-12L * start);
                last = now;
            }
        assert_true(last < definition_energy(&c, energy, geometric.error));
        assert_true(last < definition_energy(&c, energy, largest.error));
        assert_near(measure(&c, energy, s.error), (double)last, 1e-9 * (double)last);
        cutis_reduce_close(&u.run);
        free_case(&c);
    }
}

static void reselecting_sweeps_lower_the_energy_too(void **state)
{
    (void)state;
    reduce_case c = make_case((case_shape){ 20, 30, 12, 5, 4, false, false, 77 });
    BIND(c);
    cutis_reduce_state plain, choosing;
    const cutis_reduce_plan fixed = { .energy = CUTIS_REDUCE_GRADIENT, .fitted = true };
    assert_ok(c.context, cutis_reduce_poisson(&c.problem, &fixed, &c.arena, &plain));
    reduce_to(&c, CUTIS_REDUCE_POISSON, CUTIS_REDUCE_GRADIENT, true, &choosing);
    for (uint32_t i = 1; i <= choosing.sweep_count; i++)
        assert_true(choosing.curve[i] <= choosing.curve[i - 1]);
    assert_true(choosing.energy < plain.energy);
    // The energy followed step by step is the one measured afresh at the end.
    assert_near(choosing.curve[choosing.sweep_count], choosing.energy, 1e-9 * choosing.curve[0]);
    free_case(&c);
}

// Where the kept controls take their vertices, less where the original weights do, as floats.
static float *definition_offsets(const reduce_case *c, const cutis_reduce_state *s)
{
    const uint32_t rows = 3 * c->problem.column_count, count = c->mesh.vertex_count;
    float *all = malloc((size_t)s->first[count] * rows * sizeof *all);
    double one = 1, line[64];
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t i = s->first[v]; i < s->first[v + 1]; i++) {
            definition_error(c, v, s->control + i, &one, 1, line);
            for (uint32_t r = 0; r < rows; r++) all[(size_t)i * rows + r] = (float)line[r];
        }
    return all;
}

// All weights at once: minimise E with one multiplier per vertex, as one dense system.
static long double global_minimum(const reduce_case *c, const cutis_reduce_state *s, uint32_t keep)
{
    const uint32_t m = c->mesh.vertex_count, n = m * keep, rows = 3 * c->problem.column_count,
                   size = n + m;
    long double *a = calloc((size_t)size * size, sizeof *a), *b = calloc(size, sizeof *b);
    double ell = c->problem.radius * c->mesh.extent;
    float *offset = definition_offsets(c, s);
    for (uint32_t v = 0; v < m; v++) {
        for (uint32_t i = 0; i < keep; i++) {
            const float *o = offset + (size_t)(s->first[v] + i) * rows;
            a[(v * keep + i) * size + n + v] = a[(n + v) * size + v * keep + i] = 1;
            for (uint32_t k = 0; k < keep; k++) {
                const float *p = offset + (size_t)(s->first[v] + k) * rows;
                long double dot = 0;
                for (uint32_t r = 0; r < rows; r++) dot += (long double)o[r] * p[r];
                a[(v * keep + i) * size + v * keep + k] =
                    dot * (c->mesh.diagonal[v] + c->mesh.area[v] / (ell * ell));
            }
            for (uint32_t e = c->mesh.first[v]; e < c->mesh.first[v + 1]; e++)
                for (uint32_t k = 0; k < keep; k++) {
                    uint32_t u = c->mesh.neighbour[e];
                    const float *p = offset + (size_t)(s->first[u] + k) * rows;
                    long double dot = 0;
                    for (uint32_t r = 0; r < rows; r++) dot += (long double)o[r] * p[r];
                    a[(v * keep + i) * size + u * keep + k] -= c->mesh.cotangent[e] * dot;
                }
        }
        b[n + v] = 1;
    }
    solve_dense((int)size, a, b);
    double *error = calloc((size_t)m * rows, sizeof *error);
    for (uint32_t v = 0; v < m; v++)
        for (uint32_t i = 0; i < keep; i++)
            for (uint32_t r = 0; r < rows; r++)
                error[v * rows + r] +=
                    (double)b[v * keep + i] * offset[(size_t)(s->first[v] + i) * rows + r];
    long double energy = definition_energy(c, CUTIS_REDUCE_GRADIENT, error);
    free(a), free(b), free(error), free(offset);
    return energy;
}

static void converged_sweeps_are_the_global_minimum(void **state)
{
    (void)state;
    reduce_case c = make_case((case_shape){ 7, 12, 9, 6, 4, true, true, 51 });
    BIND(c);
    c.problem.sweeps = 4000;
    c.problem.stop = 1e-14;
    cutis_reduce_state s;
    reduce_to(&c, CUTIS_REDUCE_POISSON, CUTIS_REDUCE_GRADIENT, false, &s);
    long double best = global_minimum(&c, &s, 4);
    print_message("energy %.9Lg of the dense system, %.9g after %u sweeps\n", best, s.energy,
                  s.sweep_count);
    assert_near(s.energy, (double)best, 1e-6 * (double)best);
    free_case(&c);
}

static bool within(const cutis_reduce_mesh *mesh, uint32_t a, uint32_t b, uint32_t distance)
{
    for (uint32_t i = mesh->first[a]; i < mesh->first[a + 1]; i++) {
        if (mesh->neighbour[i] == b) return true;
        if (distance > 1 && within(mesh, mesh->neighbour[i], b, distance - 1)) return true;
    }
    return false;
}

static void colours_keep_their_distance_and_cover_every_vertex_once(void **state)
{
    (void)state;
    reduce_case c = make_case((case_shape){ 13, 8, 4, 1, 4, false, false, 9 });
    BIND(c);
    for (uint32_t distance = 1; distance <= 2; distance++) {
        cutis_reduce_colours colours;
        assert_true(cutis_reduce_colours_create(&c.arena, &c.mesh, distance, &colours));
        uint32_t seen[169] = { 0 };
        for (uint32_t k = 0; k < colours.count; k++)
            for (uint32_t i = colours.first[k]; i < colours.first[k + 1]; i++) {
                seen[colours.vertex[i]]++;
                for (uint32_t j = colours.first[k]; j < i; j++)
                    assert_false(within(&c.mesh, colours.vertex[i], colours.vertex[j], distance));
            }
        for (int v = 0; v < 169; v++) assert_int_equal(seen[v], 1);
        assert_true(colours.count <= (distance == 1 ? 8 : 24));
    }
    free_case(&c);
}

static void the_residual_does_not_drift_in_a_hundred_sweeps(void **state)
{
    (void)state;
    reduce_case c = make_case((case_shape){ 12, 16, 12, 4, 4, false, false, 61 });
    BIND(c);
    update_case u;
    open_updates(&c, CUTIS_REDUCE_LAPLACE, false, &u);
    double rho[144 * 12], largest = 0, drift = 0;
    for (int sweep = 0; sweep < 100; sweep++)
        for (uint32_t v = 0; v < 144; v++) update_vertex(&u, v);
    assert_ok(c.context, cutis_buffer_read(u.run.buffers.rho, 0, rho, sizeof rho));
    for (uint32_t v = 0; v < 144; v++)
        for (uint32_t r = 0; r < 12; r++) {
            double fresh = -c.mesh.diagonal[v] * u.state.error[12 * v + r];
            for (uint32_t i = c.mesh.first[v]; i < c.mesh.first[v + 1]; i++)
                fresh += c.mesh.cotangent[i] * u.state.error[12 * c.mesh.neighbour[i] + r];
            largest = fmax(largest, fabs(fresh)),
            drift = fmax(drift, fabs(fresh - rho[12 * v + r]));
        }
    assert_true(largest > 0 && drift <= 1e-8 * largest);
    cutis_reduce_close(&u.run);
    free_case(&c);
}

static void the_laplacian_is_zero_on_planes_and_two_over_the_radius_on_spheres(void **state)
{
    (void)state;
    reduce_case c = make_case((case_shape){ 15, 8, 4, 1, 4, false, false, 4 });
    cutis_reduce_mesh flat;
    for (int v = 0; v < 225; v++)
        c.positions[3 * v + 2] = 0.5 * c.positions[3 * v] - c.positions[3 * v + 1];
    assert_true(cutis_reduce_mesh_create(NULL, &c.arena, 225, c.positions, c.triangle_count,
                                         c.triangles, &flat));
    for (uint32_t v = 0; v < 225; v++) {
        double row = -flat.diagonal[v], x[3] = { 0 };
        for (uint32_t i = flat.first[v]; i < flat.first[v + 1]; i++) {
            row += flat.cotangent[i];
            for (int r = 0; r < 3; r++)
                x[r] += flat.cotangent[i] *
                        (c.positions[3 * flat.neighbour[i] + r] - c.positions[3 * v + r]);
        }
        assert_near(row, 0, 1e-12);
        bool inside = v % 15 && v % 15 != 14 && v / 15 && v / 15 != 14;
        for (int r = 0; inside && r < 3; r++) assert_near(x[r], 0, 1e-12);
    }
    free_case(&c);

    // A sphere of radius 3 by latitude and longitude; the poles are single vertices.
    enum { BANDS = 30, AROUND = 60, COUNT = (BANDS - 1) * AROUND + 2 };
    static double p[3 * COUNT];
    static uint32_t t[6 * BANDS * AROUND];
    uint32_t triangles = 0;
    for (int b = 1; b < BANDS; b++)
        for (int k = 0; k < AROUND; k++) {
            double theta = M_PI * b / BANDS, phi = 2 * M_PI * (k + 0.5 * (b % 2)) / AROUND,
                   *out = p + 3 * ((b - 1) * AROUND + k);
            out[0] = 3 * sin(theta) * cos(phi), out[1] = 3 * sin(theta) * sin(phi),
            out[2] = 3 * cos(theta);
        }
    p[3 * (COUNT - 2) + 2] = 3, p[3 * (COUNT - 1) + 2] = -3;
    for (int b = 0; b < BANDS; b++)
        for (int k = 0; k < AROUND; k++) {
            uint32_t up = b ? (uint32_t)((b - 1) * AROUND + k) : COUNT - 2,
                     up2 = b ? (uint32_t)((b - 1) * AROUND + (k + 1) % AROUND) : COUNT - 2;
            uint32_t down = b + 1 < BANDS ? (uint32_t)(b * AROUND + k) : COUNT - 1,
                     down2 = b + 1 < BANDS ? (uint32_t)(b * AROUND + (k + 1) % AROUND) : COUNT - 1;
            uint32_t quad[6] = { up, down, down2, up, down2, up2 };
            memcpy(t + 3 * triangles, quad, sizeof quad);
            triangles += 2; // those at the poles that have no area are skipped
        }
    cutis_context *context;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_arena arena = { .context = context };
    cutis_reduce_mesh sphere;
    assert_true(cutis_reduce_mesh_create(NULL, &arena, COUNT, p, triangles, t, &sphere));
    double area = 0;
    for (uint32_t v = 0; v < COUNT; v++) {
        double x[3] = { 0 };
        for (uint32_t i = sphere.first[v]; i < sphere.first[v + 1]; i++)
            for (int r = 0; r < 3; r++)
                x[r] += sphere.cotangent[i] * (p[3 * sphere.neighbour[i] + r] - p[3 * v + r]);
        double size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) / sphere.area[v];
        assert_near(size, 2.0 / 3, 0.05 * 2 / 3);
        area += sphere.area[v];
    }
    assert_near(area, 4 * M_PI * 9, 0.01 * 4 * M_PI * 9); // the mixed areas cover the surface
    cutis_arena_release(&arena);
    cutis_context_destroy(context);
}

static void slivers_folds_and_loose_vertices_leave_the_energy_positive(void **state)
{
    (void)state;
    // A triangle so thin that its cotangents are cut, three triangles on one edge, a degenerate
    // one, a vertex without any.
    double p[3 * 7] = { 0, 0, 0, 1, 0, 0, 0.5, 1e-6, 0, 0.5, 1, 0, 0.5, 0, 1, 0.5, -1, 0, 9, 9, 9 };
    uint32_t t[] = { 0, 1, 2, 0, 1, 3, 0, 1, 4, 1, 0, 5, 2, 2, 3 };
    cutis_context *context;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_arena arena = { .context = context };
    cutis_reduce_mesh mesh;
    assert_true(cutis_reduce_mesh_create(NULL, &arena, 7, p, 5, t, &mesh));
    for (uint64_t seed = 0; seed < 500; seed++) {
        double sum = 0, e[7];
        for (int v = 0; v < 7; v++) e[v] = noise(seed, 1, v);
        if (seed % 2) e[2] = (e[0] + e[1]) / 2; // where a single cut cotangent would go wrong
        for (uint32_t v = 0; v < 7; v++)
            for (uint32_t i = mesh.first[v]; i < mesh.first[v + 1]; i++)
                sum += mesh.cotangent[i] * (e[v] - e[mesh.neighbour[i]]) *
                       (e[v] - e[mesh.neighbour[i]]) / 2;
        assert_true(sum >= -1e-9);
    }
    for (int v = 0; v < 7; v++) assert_true(mesh.area[v] > 0);
    assert_int_equal(mesh.first[7], mesh.first[6]);
    cutis_arena_release(&arena);
    cutis_context_destroy(context);
}

static void smooth_weights_lower_the_laplacian_of_the_weights_difference(void **state)
{
    (void)state;
    reduce_case c = make_case((case_shape){ 12, 16, 12, 2, 4, false, false, 19 });
    BIND(c);
    cutis_reduce_state s, largest;
    reduce_to(&c, CUTIS_REDUCE_SMOOTH, CUTIS_REDUCE_GRADIENT, false, &s);
    assert_ok(c.context, cutis_reduce_start(&c.problem, &c.arena, false, false, &largest));
    // The energy again, control by control, from dense fields.
    double energy[2] = { 0 };
    for (int which = 0; which < 2; which++) {
        const cutis_reduce_state *w = which ? &s : &largest;
        for (uint32_t i = 0; i < 16; i++) {
            double e[144] = { 0 };
            for (uint32_t v = 0; v < 144; v++) {
                for (uint32_t k = w->first[v]; k < w->first[v + 1]; k++)
                    if (w->control[k] == i) e[v] += w->weight[k];
                for (uint32_t k = c.first[v]; k < c.first[v + 1]; k++)
                    if (c.control[k] == i) e[v] -= c.weight[k];
            }
            for (uint32_t v = 0; v < 144; v++) {
                double rho = -c.mesh.diagonal[v] * e[v];
                for (uint32_t k = c.mesh.first[v]; k < c.mesh.first[v + 1]; k++)
                    rho += c.mesh.cotangent[k] * e[c.mesh.neighbour[k]];
                energy[which] += rho * rho / c.mesh.area[v];
            }
        }
    }
    assert_true(energy[1] < 0.9 * energy[0]);
    assert_near(s.curve[0], energy[0], 1e-9 * energy[0]);
    assert_near(s.curve[s.sweep_count], energy[1], 1e-9 * energy[0]);
    for (uint32_t i = 1; i <= s.sweep_count; i++) assert_true(s.curve[i] <= s.curve[i - 1]);
    free_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bounded_solve_finds_the_least_of_all_supports),
        cmocka_unit_test(elimination_removes_what_costs_least),
        cmocka_unit_test(as_many_influences_as_before_give_the_original_weights),
        cmocka_unit_test(weights_sum_to_one_keep_their_signs_and_their_number),
        cmocka_unit_test(an_update_is_the_direct_minimiser_of_the_energy_over_its_weights),
        cmocka_unit_test(the_energy_falls_with_every_update_and_ends_below_the_other_methods),
        cmocka_unit_test(reselecting_sweeps_lower_the_energy_too),
        cmocka_unit_test(converged_sweeps_are_the_global_minimum),
        cmocka_unit_test(colours_keep_their_distance_and_cover_every_vertex_once),
        cmocka_unit_test(the_residual_does_not_drift_in_a_hundred_sweeps),
        cmocka_unit_test(the_laplacian_is_zero_on_planes_and_two_over_the_radius_on_spheres),
        cmocka_unit_test(slivers_folds_and_loose_vertices_leave_the_energy_positive),
        cmocka_unit_test(smooth_weights_lower_the_laplacian_of_the_weights_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
