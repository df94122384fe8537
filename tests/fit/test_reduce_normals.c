// The energy of turned normals: against its definition in long double, against real angles, and
// what sweeps do to it.
#include "reduce_case.h"

static cutis_reduce_surface surface_of(const reduce_case *c, const double *weights)
{
    return (cutis_reduce_surface){ c->triangle_count, c->triangles, weights };
}

static void cross(const long double *a, const long double *b, long double *out)
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static long double dot(const long double *a, const long double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Vertices in one pose by the original weights, with `step` times an error added.
static void place(const reduce_case *c, uint32_t pose, const double *error, long double step,
                  long double *out)
{
    const uint32_t rows = 3 * c->problem.column_count;
    for (uint32_t v = 0; v < c->mesh.vertex_count; v++) {
        long double sum[3] = { 0 }, p[3];
        for (uint32_t i = c->first[v]; i < c->first[v + 1]; i++) {
            control_point(c, v, c->control[i], pose, p);
            for (int r = 0; r < 3; r++) sum[r] += c->weight[i] * p[r];
        }
        for (int r = 0; r < 3; r++) out[3 * v + r] = sum[r] + step * error[v * rows + 3 * pose + r];
    }
}

// Area-weighted normals; `size`: the triangles' lengths, `sides`: squares of the sides across.
static void find_normals(const reduce_case *c, const long double *points, long double *normals,
                         long double *size, long double *sides)
{
    memset(normals, 0, 3 * c->mesh.vertex_count * sizeof *normals);
    for (uint32_t v = 0; v < c->mesh.vertex_count; v++) size[v] = sides[v] = 0;
    for (uint32_t t = 0; t < c->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t *corner = c->triangles + 3 * t, v = corner[k];
            long double e[3], f[3], n[3], across = 0;
            for (int r = 0; r < 3; r++) {
                e[r] = points[3 * corner[(k + 1) % 3] + r] - points[3 * v + r];
                f[r] = points[3 * corner[(k + 2) % 3] + r] - points[3 * v + r];
                across += (e[r] - f[r]) * (e[r] - f[r]);
            }
            cross(e, f, n);
            for (int r = 0; r < 3; r++) normals[3 * v + r] += n[r];
            size[v] += sqrtl(dot(n, n));
            sides[v] += across;
        }
}

// The energy's part of the normals. `angles`: of normals that the errors really turn, for tiny
// errors; else the derivative, as a difference that is exact for what is quadratic.
static long double definition_turns(const reduce_case *c, const double *weights,
                                    const double *error, bool angles)
{
    const uint32_t count = c->mesh.vertex_count;
    long double *at = malloc(13 * count * sizeof *at), *n = at + 3 * count, *up = n + 3 * count;
    long double *down = up + 3 * count, *size = down + 3 * count, total = 0;
    long double *spare = malloc(2 * count * sizeof *spare), *sides = spare + count;
    for (uint32_t j = 0; j < c->problem.column_count; j++) {
        const long double w = weights ? weights[j] : 1;
        place(c, j, error, 1, at), find_normals(c, at, up, size, sides);
        place(c, j, error, -1, at), find_normals(c, at, down, size, sides);
        place(c, j, error, 0, at), find_normals(c, at, n, size, sides);
        for (uint32_t v = 0; v < count; v++) {
            const long double square = dot(n + 3 * v, n + 3 * v), rest = 0.6L * w * c->mesh.area[v];
            const long double s2 =
                square + size[v] * size[v] + rest * rest + 0.01L * 0.01L * sides[v] * sides[v];
            long double change[3], across[3], along = 0;
            for (int r = 0; r < 3; r++) change[r] = (up[3 * v + r] - down[3 * v + r]) / 2;
            if (angles) {
                cross(n + 3 * v, up + 3 * v, across);
                along = dot(n + 3 * v, up + 3 * v);
                const long double angle = atan2l(sqrtl(dot(across, across)), along);
                total += w * angle * angle * square / s2;
                continue;
            }
            along = square > 0 ? dot(n + 3 * v, change) / square : 0;
            for (int r = 0; r < 3; r++) change[r] -= along * n[3 * v + r];
            total += w * dot(change, change) / s2;
        }
    }
    free(at), free(spare);
    return total;
}

// With its hundredth of the gradient energy.
static long double definition_all(const reduce_case *c, const double *weights, const double *error)
{
    long double area = 0;
    for (uint32_t v = 0; v < c->mesh.vertex_count; v++) area += c->mesh.area[v];
    return definition_turns(c, weights, error, false) +
           0.01L * c->mesh.vertex_count / area * definition_energy(c, CUTIS_REDUCE_GRADIENT, error);
}

// Poses of different weight: matrices carry the roots.
static void weigh_poses(reduce_case *c, double *weights)
{
    const size_t palette = 12 * (size_t)c->problem.control_count;
    for (uint32_t j = 0; j < c->problem.column_count; j++) {
        weights[j] = j % 2 ? 0.05 : 1;
        for (size_t i = 0; i < palette; i++) c->matrices[j * palette + i] *= sqrt(weights[j]);
    }
}

static double measure(const reduce_case *c, const double *weights, const double *error)
{
    const cutis_reduce_surface surface = surface_of(c, weights);
    double energy = -1;
    assert_ok(c->context, cutis_reduce_measure(&c->problem, CUTIS_REDUCE_NORMALS, &surface, error,
                                               &energy, NULL));
    return energy;
}

static void the_energy_is_the_squared_turn_of_the_normals(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        reduce_case c = make_case((case_shape){ 9, 12, 6, 4, 4, false, false, 11 + seed });
        BIND(c);
        double weights[4], error[81 * 12];
        weigh_poses(&c, weights);
        for (int i = 0; i < 81 * 12; i++) error[i] = 1e-5 * noise(seed, 1, i);
        const long double turns = definition_turns(&c, weights, error, false);
        assert_near((double)definition_turns(&c, weights, error, true), (double)turns,
                    1e-3 * (double)turns);
        const long double all = definition_all(&c, weights, error);
        assert_near(measure(&c, weights, error), (double)all, 1e-5 * (double)all);
        free_case(&c);
    }
}

// Sweeps on normals alone, from the geometric start.
static void sweep(reduce_case *c, const double *weights, uint32_t sweeps, bool fitted,
                  cutis_reduce_state *out)
{
    const cutis_reduce_surface surface = surface_of(c, weights);
    const uint32_t limit = sweeps ? sweeps : fitted ? 14 : 12;
    cutis_reduce_colours colours;
    cutis_reduce_run run;
    double gradient;
    assert_true(cutis_reduce_colours_create(&c->arena, &c->mesh, 2, &colours));
    assert_true(cutis_reduce_state_create(&c->problem, &c->arena, out));
    out->curve = cutis_arena_alloc(&c->arena, limit + 1, sizeof *out->curve);
    assert_ok(c->context, cutis_reduce_open(&c->problem, fitted, out, &run));
    assert_ok(c->context, cutis_reduce_choose_sets(&run));
    assert_ok(c->context, cutis_reduce_lay_out(&run, &colours));
    assert_ok(c->context, cutis_reduce_weigh(&run, true));
    assert_ok(c->context, cutis_reduce_prepare(&run, CUTIS_REDUCE_GRADIENT, &gradient));
    assert_ok(c->context, cutis_reduce_prepare_normals(&run, &surface, &colours, &out->curve[0]));
    assert_ok(c->context, cutis_reduce_sweep(&run, fitted, limit));
    assert_ok(c->context, cutis_reduce_read_back(&run, true));
    out->energy = out->curve[out->sweep_count];
    cutis_reduce_close(&run);
}

// Errors of a state by definition.
static double *errors_of(const reduce_case *c, const cutis_reduce_state *s)
{
    const uint32_t rows = 3 * c->problem.column_count;
    double *error = malloc((size_t)c->mesh.vertex_count * rows * sizeof *error);
    for (uint32_t v = 0; v < c->mesh.vertex_count; v++)
        definition_error(c, v, s->control + s->first[v], s->weight + s->first[v],
                         s->first[v + 1] - s->first[v], error + v * rows);
    return error;
}

static void sweeps_lower_the_energy_and_report_what_it_is(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        const bool fitted = variant & 1, negative = variant & 2;
        reduce_case c =
            make_case((case_shape){ 9, 16, 9, 5, 4, negative, false, 40 + (uint64_t)variant });
        BIND(c);
        double weights[5];
        cutis_reduce_state s, start;
        weigh_poses(&c, weights);
        assert_ok(c.context, cutis_reduce_start(&c.problem, &c.arena, fitted, true, &start));
        sweep(&c, weights, 0, fitted, &s);
        double *before = errors_of(&c, &start), *after = errors_of(&c, &s);
        const double first = (double)definition_all(&c, weights, before);
        const double last = (double)definition_all(&c, weights, after);
        assert_true(s.sweep_count >= 3);
        assert_near(s.curve[0], first, 1e-5 * first);
        assert_near(s.energy, last, 1e-5 * first);
        assert_true(last < 0.8 * first);
        for (uint32_t i = 0; i < s.sweep_count; i++)
            assert_true(s.curve[i + 1] <= s.curve[i] * (1 + 1e-12));
        for (uint32_t v = 0; v < 81; v++) {
            double sum = 0;
            for (uint32_t i = s.first[v]; i < s.first[v + 1]; i++) {
                sum += s.weight[i];
                assert_true(negative || s.weight[i] >= 0);
            }
            assert_near(sum, 1, 1e-12);
        }
        free(before), free(after);
        free_case(&c);
    }
}

static void after_many_sweeps_no_vertex_can_do_better_alone(void **state)
{
    (void)state;
    reduce_case c = make_case((case_shape){ 7, 12, 7, 4, 4, false, false, 77 });
    BIND(c);
    cutis_reduce_state s;
    c.problem.stop = 1e-12;
    sweep(&c, NULL, 300, false, &s);
    double *error = errors_of(&c, &s);
    const long double least = definition_all(&c, NULL, error);
    for (uint32_t v = 0; v < 49; v++)
        for (uint32_t i = 0; i < 4; i++)
            for (uint32_t k = 0; k < 4; k++) { // a little weight from one to another
                double kept[12], weight[4];
                const double move = fmin(1e-2, s.weight[s.first[v] + i]);
                if (i == k || move <= 0) continue;
                memcpy(weight, s.weight + s.first[v], sizeof weight);
                memcpy(kept, error + 12 * v, sizeof kept);
                weight[i] -= move, weight[k] += move;
                definition_error(&c, v, s.control + s.first[v], weight, 4, error + 12 * v);
                assert_true(definition_all(&c, NULL, error) >= least * (1 - 1e-6L));
                memcpy(error + 12 * v, kept, sizeof kept);
            }
    free(error);
    free_case(&c);
}

static void all_influences_are_left_alone(void **state)
{
    (void)state;
    reduce_case c = make_case((case_shape){ 9, 12, 6, 4, 6, false, false, 5 });
    BIND(c);
    cutis_reduce_state s;
    sweep(&c, NULL, 0, true, &s);
    assert_memory_equal(s.weight, c.weight, c.first[81] * sizeof *s.weight);
    assert_true(s.energy == 0);
    free_case(&c);
}

static void collapsed_poses_and_shapeless_triangles_give_finite_weights(void **state)
{
    (void)state;
    reduce_case c = make_case((case_shape){ 9, 16, 9, 3, 4, false, false, 9 });
    BIND(c);
    cutis_reduce_state s;
    memset(c.matrices, 0, 12 * 16 * sizeof *c.matrices); // the first pose: everything in one point
    // A triangle that is a point, one that is a line between vertices far apart.
    memcpy(c.triangles, (uint32_t[6]){ 0, 0, 0, 3, 70, 3 }, 24);
    assert_true(cutis_reduce_mesh_create(NULL, &c.arena, 81, c.positions, c.triangle_count,
                                         c.triangles, &c.mesh));
    sweep(&c, NULL, 0, true, &s);
    assert_true(isfinite(s.energy));
    for (uint32_t i = 0; i < s.first[81]; i++) assert_true(s.weight[i] >= 0 && s.weight[i] <= 1);
    free_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_energy_is_the_squared_turn_of_the_normals),
        cmocka_unit_test(sweeps_lower_the_energy_and_report_what_it_is),
        cmocka_unit_test(after_many_sweeps_no_vertex_can_do_better_alone),
        cmocka_unit_test(all_influences_are_left_alone),
        cmocka_unit_test(collapsed_poses_and_shapeless_triangles_give_finite_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
