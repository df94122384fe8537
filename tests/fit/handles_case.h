/// What the tests of handle weights share: shapes made of boxes, and a domain solved for point
/// handles.
#ifndef CUTIS_TESTS_HANDLES_CASE_H
#define CUTIS_TESTS_HANDLES_CASE_H

#include "support.h"

#include <cutis/handles.h>

#include "fit/handles/distance.h"
#include "fit/handles/field.h"
#include "fit/handles/solve.h"
#include "fit/handles/text.h"
#include "fit/handles/virtual.h"

typedef struct fixture {
    cutis_context *context;
    cutis_device *device;
    cutis_handles_work work; ///< on that device
    cutis_arena arena;
} fixture;

static inline int set_up(void **state)
{
    static fixture f;
    f = (fixture){ 0 };
    *state = &f;
    if (cutis_context_create(NULL, &f.context)) return 1;
    f.arena.context = f.context;
    if (cutis_device_create(f.context, &(cutis_device_options){ .thread_count = 2 }, &f.device))
        return 1;
    cutis_handles_work_init(&f.work, f.device, f.device->context);
    return 0;
}

static inline int tear_down(void **state)
{
    fixture *f = *state;
    cutis_handles_work_release(&f->work);
    cutis_arena_release(&f->arena);
    cutis_device_destroy(f->device);
    if (cutis_context_memory(f->context) != 0) {
        print_message("leak: %llu bytes\n", (unsigned long long)cutis_context_memory(f->context));
        return 1;
    }
    cutis_context_destroy(f->context);
    return 0;
}

#define claim(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/// Triangles that grow; fixed room, asserted.
typedef struct shape_case {
    float positions[3 * 40000];
    uint32_t triangles[3 * 80000];
    cutis_handles_shape shape;
} shape_case;

static inline shape_case *new_shape(void)
{
    shape_case *s = calloc(1, sizeof *s);
    s->shape.positions = s->positions;
    s->shape.triangles = s->triangles;
    return s;
}

static inline uint32_t add_vertex(shape_case *s, double x, double y, double z)
{
    uint32_t v = s->shape.vertex_count++;
    assert_true(v < 40000);
    s->positions[3 * v] = (float)x, s->positions[3 * v + 1] = (float)y;
    s->positions[3 * v + 2] = (float)z;
    return v;
}

static inline void add_triangle(shape_case *s, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t t = s->shape.triangle_count++;
    assert_true(t < 80000);
    s->triangles[3 * t] = a, s->triangles[3 * t + 1] = b, s->triangles[3 * t + 2] = c;
}

static inline void add_box(shape_case *s, const double *low, const double *high)
{
    static const uint32_t quads[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 },
                                          { 2, 6, 7, 3 }, { 0, 4, 6, 2 }, { 1, 3, 7, 5 } };
    uint32_t first = s->shape.vertex_count;
    for (int i = 0; i < 8; i++)
        add_vertex(s, i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]);
    for (int q = 0; q < 6; q++) {
        add_triangle(s, first + quads[q][0], first + quads[q][1], first + quads[q][2]);
        add_triangle(s, first + quads[q][0], first + quads[q][2], first + quads[q][3]);
    }
}

/// A closed cylinder along z from 0 to `length`.
static inline void add_cylinder(shape_case *s, double radius, double length, int sides, int rings)
{
    uint32_t first = s->shape.vertex_count;
    for (int r = 0; r <= rings; r++)
        for (int i = 0; i < sides; i++) {
            double angle = 2 * 3.14159265358979323846 * i / sides;
            add_vertex(s, radius * cos(angle), radius * sin(angle), length * r / rings);
        }
    uint32_t bottom = add_vertex(s, 0, 0, 0), top = add_vertex(s, 0, 0, length);
    for (int i = 0; i < sides; i++) {
        uint32_t j = (uint32_t)((i + 1) % sides), a = (uint32_t)i;
        for (int r = 0; r < rings; r++) {
            uint32_t row = first + (uint32_t)(r * sides), up = row + (uint32_t)sides;
            add_triangle(s, row + a, row + j, up + j);
            add_triangle(s, row + a, up + j, up + a);
        }
        add_triangle(s, bottom, first + j, first + a);
        add_triangle(s, top, first + (uint32_t)(rings * sides) + a,
                     first + (uint32_t)(rings * sides) + j);
    }
}

/// A domain with handles from a[i] to b[i] (points: the same), solved. Kept in the fixture's arena;
/// release the sites.
typedef struct domain_case {
    cutis_handles_options options;
    cutis_handles_solution solution;
    cutis_handles_report report;
    cutis_handle_result results[64];
} domain_case;

static inline void solve_domain_with(fixture *f, cutis_handles_work *work, const shape_case *s,
                                     uint32_t voxels, cutis_weighting weighting, double tolerance,
                                     uint32_t count, const double (*a)[3], const double (*b)[3],
                                     domain_case *out)
{
    memset(out, 0, sizeof *out);
    out->report.separation_min = -1;
    assert_ok(f->context,
              cutis_handles_check_options(f->context,
                                          &(cutis_handles_options){ .voxels = voxels,
                                                                    .weighting = weighting,
                                                                    .influences = 64,
                                                                    .tolerance = tolerance },
                                          &out->options));
    cutis_handles_solution *solution = &out->solution;
    solution->arena = &f->arena;
    solution->work = work;
    solution->options = &out->options;
    assert_ok(f->context,
              cutis_handles_grid_create(&f->arena, work, &s->shape, voxels, &solution->grid));
    assert_true(cutis_handles_sites_init(&f->arena, count, &solution->sites));
    solution->joint_count = count;
    solution->joint_site = cutis_arena_alloc(&f->arena, count, sizeof(uint32_t));
    for (uint32_t h = 0; h < count; h++) {
        solution->joint_site[h] = h;
        bool bar = a[h][0] != b[h][0] || a[h][1] != b[h][1] || a[h][2] != b[h][2];
        assert_non_null(
            cutis_handles_sites_add(&solution->sites, &solution->grid, a[h], b[h], bar));
    }
    assert_ok(f->context, cutis_handles_solve(solution, &s->shape, &out->report, out->results));
}

static inline void solve_domain(fixture *f, const shape_case *s, uint32_t voxels,
                                cutis_weighting weighting, double tolerance, uint32_t count,
                                const double (*a)[3], const double (*b)[3], domain_case *out)
{
    solve_domain_with(f, &f->work, s, voxels, weighting, tolerance, count, a, b, out);
}

/// Integer coordinates of a domain voxel.
static inline void voxel_cell(const cutis_handles_grid *grid, uint32_t voxel, uint32_t *cell)
{
    const handles_cell at =
        handles_cell_of(grid->place[voxel], (int)grid->size[0], (int)grid->size[1]);
    cell[0] = (uint32_t)at.x, cell[1] = (uint32_t)at.y, cell[2] = (uint32_t)at.z;
}

static inline double weights_at(const domain_case *d, const double *point, double *weights)
{
    return cutis_handles_field_at(&d->solution.grid, &d->solution.field, point, true, weights);
}

/// Random points in a box at least `gap` apart, from the library's generator.
static inline uint32_t random_points(uint64_t seed, uint32_t count, const double *low,
                                     const double *high, double gap, double (*out)[3])
{
    uint32_t used = 0;
    for (uint64_t i = 0; i < 100000 && used < count; i++) {
        double p[3];
        bool far = true;
        for (int c = 0; c < 3; c++) p[c] = random_in(seed, 3 * i + (uint64_t)c, low[c], high[c]);
        for (uint32_t j = 0; j < used && far; j++)
            far = hypot(hypot(p[0] - out[j][0], p[1] - out[j][1]), p[2] - out[j][2]) >= gap;
        if (far) memcpy(out[used++], p, sizeof p);
    }
    return used;
}

#endif
