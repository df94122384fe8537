/// Reduction problems for tests: a bumpy sheet or sphere, controls with random motions, weights
/// with many influences; and the energies, written again from their definitions in long double.
#ifndef CUTIS_TESTS_REDUCE_CASE_H
#define CUTIS_TESTS_REDUCE_CASE_H

#include "support.h"

#include "fit/reduce/run.h"

typedef struct {
    cutis_context *context;
    cutis_arena arena;
    cutis_reduce_mesh mesh;
    cutis_reduce_problem problem;
    double *positions, *weight, *matrices;
    uint32_t *triangles, triangle_count, *first, *control;
} reduce_case;

typedef struct {
    uint32_t side;     ///< vertices of a side of the sheet
    uint32_t controls; ///< every vertex has weight on `reach` of them
    uint32_t reach, poses, keep;
    bool negative, cage; ///< cage: controls move as points, else as rigid bones
    uint64_t seed;
} case_shape;

static inline double noise(uint64_t seed, uint64_t stream, uint64_t index)
{
    return 2 * cutis_random_unit(seed, stream, index) - 1;
}

static inline void case_mesh(reduce_case *c, const case_shape *s)
{
    uint32_t n = s->side;
    c->positions = malloc(3 * (size_t)n * n * sizeof *c->positions);
    c->triangles = malloc(6 * (size_t)n * n * sizeof *c->triangles);
    for (uint32_t y = 0; y < n; y++)
        for (uint32_t x = 0; x < n; x++) {
            uint32_t v = y * n + x;
            c->positions[3 * v] = x + 0.2 * noise(s->seed, 1, v);
            c->positions[3 * v + 1] = y + 0.2 * noise(s->seed, 2, v);
            c->positions[3 * v + 2] = 0.3 * noise(s->seed, 3, v);
            if (x + 1 == n || y + 1 == n) continue;
            uint32_t quad[6] = { v, v + 1, v + n, v + 1, v + n + 1, v + n };
            memcpy(c->triangles + 3 * c->triangle_count, quad, sizeof quad);
            c->triangle_count += 2;
        }
}

// Influences: the `reach` controls nearest in index to the vertex's own, with random weights.
static inline void case_weights(reduce_case *c, const case_shape *s)
{
    uint32_t count = s->side * s->side, used = 0;
    c->first = malloc((count + 1) * sizeof *c->first);
    c->control = malloc((size_t)count * s->reach * sizeof *c->control);
    c->weight = malloc((size_t)count * s->reach * sizeof *c->weight);
    for (uint32_t v = 0; v < count; v++) {
        double sum = 0;
        uint32_t begin =
            (uint32_t)(cutis_random_unit(s->seed, 4, v) * (s->controls - s->reach + 1));
        c->first[v] = used;
        for (uint32_t i = 0; i < s->reach; i++, used++) {
            c->control[used] = begin + i;
            c->weight[used] = 0.05 + cutis_random_unit(s->seed, 5, used);
            if (s->negative && i % 3 == 2) c->weight[used] *= -0.3;
            sum += c->weight[used];
        }
        for (uint32_t i = used - s->reach; i < used; i++) c->weight[i] /= sum;
    }
    c->first[count] = used;
}

static inline void case_matrices(reduce_case *c, const case_shape *s)
{
    c->matrices = calloc(12 * (size_t)s->poses * s->controls, sizeof *c->matrices);
    for (uint32_t m = 0; m < s->poses * s->controls; m++) {
        double *out = c->matrices + 12 * m;
        for (int r = 0; r < 3; r++) out[4 * r + 3] = s->side * 0.3 * noise(s->seed, 6, 3 * m + r);
        if (s->cage) continue;
        cutis_float3 axis = { (float)noise(s->seed, 7, m), (float)noise(s->seed, 8, m), 1 };
        cutis_transform t = cutis_transform_identity();
        t.rotation = cutis_quat_from_axis_angle(axis, 0.6f * (float)noise(s->seed, 9, m));
        cutis_mat34 matrix = cutis_mat34_from_transform(&t);
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) out[4 * r + k] = matrix.m[4 * r + k];
    }
}

static inline reduce_case make_case(case_shape s)
{
    reduce_case c = { 0 };
    assert_int_equal(cutis_context_create(NULL, &c.context), CUTIS_OK);
    c.arena.context = c.context;
    case_mesh(&c, &s);
    case_weights(&c, &s);
    case_matrices(&c, &s);
    assert_true(cutis_reduce_mesh_create(NULL, &c.arena, s.side * s.side, c.positions,
                                         c.triangle_count, c.triangles, &c.mesh));
    c.problem = (cutis_reduce_problem){ .context = c.context,
                                        .positions = c.positions,
                                        .first = c.first,
                                        .control = c.control,
                                        .weight = c.weight,
                                        .control_count = s.controls,
                                        .column_count = s.poses,
                                        .matrices = c.matrices,
                                        .influences = s.keep,
                                        .negative = s.negative,
                                        .radius = 0.1 };
    return c;
}

// The case moves when it is returned: point the problem at its mesh.
#define BIND(c) ((c).problem.mesh = &(c).mesh)

static inline void free_case(reduce_case *c)
{
    cutis_arena_release(&c->arena);
    assert_int_equal(cutis_context_memory(c->context), 0);
    cutis_context_destroy(c->context);
    free(c->positions), free(c->triangles), free(c->first);
    free(c->control), free(c->weight), free(c->matrices);
}

/// Sweeps that stop after every vertex: each is a colour of its own.
typedef struct {
    cutis_reduce_run run;
    cutis_reduce_state state; ///< its arrays follow the updates
    cutis_reduce_colours colours;
    double energy; ///< the first
} update_case;

/// From the geometric start. Fill in `u` where it is to stay.
static inline void open_updates(reduce_case *c, cutis_reduce_energy energy, bool fitted,
                                update_case *u)
{
    const uint32_t count = c->mesh.vertex_count;
    u->colours.count = count;
    u->colours.first = cutis_arena_alloc(&c->arena, count + 1, sizeof *u->colours.first);
    u->colours.vertex = cutis_arena_alloc(&c->arena, count, sizeof *u->colours.vertex);
    for (uint32_t v = 0; v <= count; v++) u->colours.first[v] = v;
    for (uint32_t v = 0; v < count; v++) u->colours.vertex[v] = v;
    assert_true(cutis_reduce_state_create(&c->problem, &c->arena, &u->state));
    assert_ok(c->context, cutis_reduce_open(&c->problem, fitted, &u->state, &u->run));
    assert_ok(c->context, cutis_reduce_choose_sets(&u->run));
    assert_ok(c->context, cutis_reduce_lay_out(&u->run, &u->colours));
    assert_ok(c->context, cutis_reduce_weigh(&u->run, true));
    assert_ok(c->context, cutis_reduce_prepare(&u->run, energy, &u->energy));
    assert_ok(c->context, cutis_reduce_store(&u->run));
    u->run.omega = 1;
}

/// Update one vertex. @return by how much the energy fell
static inline double update_vertex(update_case *u, uint32_t v)
{
    double fall;
    assert_int_equal(cutis_reduce_sweep_colour(&u->run, v, false), CUTIS_OK);
    assert_int_equal(cutis_reduce_store(&u->run), CUTIS_OK);
    assert_int_equal(
        cutis_buffer_read(u->run.buffers.fall, 8 * REDUCE_BLOCK * (uint64_t)v, &fall, sizeof fall),
        CUTIS_OK);
    return fall;
}

// Where control i takes vertex v in pose j, by definition.
static inline void control_point(const reduce_case *c, uint32_t v, uint32_t i, uint32_t j,
                                 long double *out)
{
    const double *m = c->matrices + 12 * ((size_t)j * c->problem.control_count + i),
                 *p = c->positions + 3 * v;
    for (int r = 0; r < 3; r++)
        out[r] = (long double)m[4 * r] * p[0] + (long double)m[4 * r + 1] * p[1] +
                 (long double)m[4 * r + 2] * p[2] + m[4 * r + 3];
}

/// e_v = sum a_i C_i - sum abar_i C_i over all poses, 3 per pose.
static inline void definition_error(const reduce_case *c, uint32_t v, const uint32_t *controls,
                                    const double *a, uint32_t count, double *out)
{
    for (uint32_t j = 0; j < c->problem.column_count; j++) {
        long double sum[3] = { 0 }, p[3];
        for (uint32_t i = 0; i < count; i++) {
            control_point(c, v, controls[i], j, p);
            for (int r = 0; r < 3; r++) sum[r] += a[i] * p[r];
        }
        for (uint32_t i = c->first[v]; i < c->first[v + 1]; i++) {
            control_point(c, v, c->control[i], j, p);
            for (int r = 0; r < 3; r++) sum[r] -= c->weight[i] * p[r];
        }
        for (int r = 0; r < 3; r++) out[3 * j + r] = (double)sum[r];
    }
}

// Cotangent at corner k of a triangle.
static inline long double corner_cotangent(const double *positions, const uint32_t *t, int k)
{
    const double *o = positions + 3 * t[k], *a = positions + 3 * t[(k + 1) % 3],
                 *b = positions + 3 * t[(k + 2) % 3];
    long double u[3], w[3], dot = 0, x, y, z;
    for (int r = 0; r < 3; r++)
        u[r] = (long double)a[r] - o[r], w[r] = (long double)b[r] - o[r], dot += u[r] * w[r];
    x = u[1] * w[2] - u[2] * w[1], y = u[2] * w[0] - u[0] * w[2], z = u[0] * w[1] - u[1] * w[0];
    return dot / sqrtl(x * x + y * y + z * z);
}

/// The energies from triangles: no neighbour lists, no colours. `areas` are the library's (their
/// own test is apart).
static inline long double definition_energy(const reduce_case *c, cutis_reduce_energy energy,
                                            const double *error)
{
    uint32_t rows = 3 * c->problem.column_count, count = c->mesh.vertex_count;
    long double sum = 0, *rho = calloc((size_t)count * rows, sizeof *rho);
    for (uint32_t t = 0; t < c->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t *corner = c->triangles + 3 * t;
            uint32_t a = corner[(k + 1) % 3], b = corner[(k + 2) % 3];
            long double half = corner_cotangent(c->positions, corner, k) / 2;
            for (uint32_t r = 0; r < rows; r++) {
                long double d = (long double)error[b * rows + r] - error[a * rows + r];
                if (energy == CUTIS_REDUCE_GRADIENT) sum += half * d * d;
                rho[a * rows + r] += half * d;
                rho[b * rows + r] -= half * d;
            }
        }
    long double ell = (long double)c->problem.radius * c->mesh.extent;
    for (uint32_t i = 0; i < count * rows; i++)
        sum += energy == CUTIS_REDUCE_GRADIENT
                   ? c->mesh.area[i / rows] / (ell * ell) * error[i] * error[i]
                   : rho[i] * rho[i] / c->mesh.area[i / rows];
    free(rho);
    return sum;
}

#endif
