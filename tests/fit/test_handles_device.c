// Handle weights on an OpenCL device (PoCL here) against the CPU's: the issue allows 1e-5, the text
// promises the same bits. Skips, visibly, where there is no such device.
#include "handles_case.h"

#include "fit/handles_device.h"
#include "fit/handles_device_grid.h"

static cutis_device *open_device(fixture *f)
{
    cutis_device *device = NULL;
    const cutis_device_options options = { .kind = gpu_kind(), .thread_count = 2 };
    if (cutis_device_create(f->context, &options, &device) != CUTIS_OK) {
        print_message("skip: %s\n", cutis_context_error(f->context));
        skip();
    }
    return device;
}

static void compare(fixture *f, cutis_device *device, const cutis_model *model,
                    const cutis_handle *handles, uint32_t count,
                    const cutis_handles_options *options)
{
    cutis_handle_session *host = NULL, *other = NULL;
    assert_ok(f->context, cutis_handles_open(model, f->device, options, &host));
    assert_ok(f->context, cutis_handles_open(model, device, options, &other));
    for (int change = 0; change < 2; change++) {
        cutis_handle moved = handles[0];
        moved.from.y += 0.02f;
        if (change == 0) {
            assert_ok(f->context, cutis_handles_set(host, handles, count));
            assert_ok(f->context, cutis_handles_set(other, handles, count));
        } else { // buffers are used again
            assert_ok(f->context, cutis_handles_move(host, 0, &moved));
            assert_ok(f->context, cutis_handles_move(other, 0, &moved));
        }
        cutis_handles_view a = cutis_handles_look(host), b = cutis_handles_look(other);
        assert_int_equal(a.influences, b.influences);
        assert_int_equal(a.report->iterations, b.report->iterations);
        assert_true(a.report->dropped_mass_mean == b.report->dropped_mass_mean);
        assert_true(a.report->interpolation_error_max == b.report->interpolation_error_max);
        uint64_t different = 0;
        for (size_t i = 0; i < (size_t)a.vertex_count * a.influences; i++) {
            if (a.joints[i] == b.joints[i]) assert_near(a.weights[i], b.weights[i], 1e-5);
            different += a.joints[i] != b.joints[i] || a.weights[i] != b.weights[i];
        }
        assert_int_equal(different, 0);
    }
    cutis_handles_close(host), cutis_handles_close(other);
}

static void an_opencl_device_gives_the_cpus_weights(void **state)
{
    fixture *f = *state;
    cutis_device *device = open_device(f);
    cutis_model *model = NULL;
    assert_ok(f->context, cutis_synth_create(
                              f->context, &(cutis_synth_options){ .vertex_count = 3000 }, &model));
    const cutis_handle handles[5] = {
        { "head", CUTIS_HANDLE_POINT, { 0, 1.6f, 0 }, { 0, 0, 0 } },
        { "spine", CUTIS_HANDLE_BAR, { 0, 1.05f, 0 }, { 0, 1.3f, 0 } },
        { "left", CUTIS_HANDLE_POINT, { 0.1f, 0.4f, 0 }, { 0, 0, 0 } },
        { "right", CUTIS_HANDLE_POINT, { -0.1f, 0.4f, 0 }, { 0, 0, 0 } },
        { "twin", CUTIS_HANDLE_POINT, { -0.1f, 0.4f, 0 }, { 0, 0, 0 } }, // shares its site
    };
    for (int w = 0; w < 2; w++)
        compare(f, device, model, handles, 5,
                &(cutis_handles_options){ .voxels = 40, .weighting = (cutis_weighting)w });
    cutis_model_destroy(model);
    cutis_device_destroy(device);
}

static void compare_text(fixture *f, uint32_t voxels, uint32_t wanted)
{
    static domain_case host, text;
    double points[16][3];
    shape_case *s = new_shape();
    const double low[3] = { 0, 0, 0 }, high[3] = { 1, 0.5, 0.5 };
    add_box(s, low, high);
    add_box(s, (const double[3]){ 1.3, 0, 0 }, (const double[3]){ 1.5, 0.5, 0.5 });
    uint32_t count = random_points(7, wanted, low, high, 0.12, points);
    solve_domain(f, s, voxels, CUTIS_WEIGHTING_FIELD, 1e-6, count, (const double(*)[3])points,
                 (const double(*)[3])points, &host);
    solve_domain(f, s, voxels, CUTIS_WEIGHTING_FIELD, 1e-6, count, (const double(*)[3])points,
                 (const double(*)[3])points, &text);
    cutis_handles_solution *solution = &text.solution;
    // Again, as a GPU would be asked: at most 16 influences.
    const uint32_t width = 4, vertices = s->shape.vertex_count;
    uint32_t *owner = cutis_arena_alloc(&f->arena, solution->grid.voxel_count, sizeof *owner);
    uint32_t *label = cutis_arena_alloc(&f->arena, solution->grid.voxel_count, sizeof *label);
    double *dropped = cutis_arena_alloc(&f->arena, vertices, sizeof *dropped), seconds = 0;
    for (uint32_t v = 0; v < solution->grid.voxel_count; v++)
        label[v] = solution->grid.component[v] == 0 ? 0 : CUTIS_HANDLES_NONE;
    assert_int_equal(cutis_handles_owners(&solution->grid, &solution->sites, label, owner), 1);
    cutis_handles_gpu *gpu = cutis_handles_gpu_create(f->device);
    assert_non_null(gpu);
    assert_ok(f->context, cutis_handles_gpu_field(gpu, solution, owner, &seconds));
    assert_int_equal(solution->field.iteration_count, host.solution.field.iteration_count);
    assert_memory_equal(solution->field.values, host.solution.field.values,
                        (size_t)solution->grid.voxel_count * count * sizeof(float));
    solution->influences.width = width;
    assert_ok(f->context, cutis_handles_gpu_sample(gpu, solution, &s->shape, dropped));
    for (uint32_t v = 0; v < vertices; v++) {
        double weights[16], point[3], kept = 0, own[16] = { 0 };
        for (int c = 0; c < 3; c++) point[c] = s->positions[3 * v + (uint32_t)c];
        weights_at(&host, point, weights);
        for (uint32_t i = 0; i < width; i++) {
            own[solution->influences.joints[width * v + i]] +=
                solution->influences.weights[width * v + i];
            if (solution->influences.weights[width * v + i] > 0)
                kept += weights[solution->influences.joints[width * v + i]];
        }
        assert_near(kept + dropped[v], 1, 1e-12);
        for (uint32_t h = 0; h < count; h++)
            if (own[h] > 0) assert_near(own[h], weights[h] / kept, 1e-7);
    }
    cutis_handles_gpu_destroy(gpu);
    release_domain(&host), release_domain(&text);
    free(s);
}

// The text as C, which the sanitizers see, on a CPU device: the host's own path beside it. The
// second domain is one that visits its coarse level twice.
static void the_text_as_c_has_the_bits_of_the_host(void **state)
{
    compare_text(*state, 40, 10);
    compare_text(*state, 120, 5);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Spec 4.1: twice the median distance to the nearest neighbour; ours has 1 to 16 voxels.
static double ball_radius(const cutis_handles_shape *shape, double step)
{
    double nearest[64];
    for (uint32_t i = 0; i < shape->point_count; i++) {
        nearest[i] = INFINITY;
        for (uint32_t j = 0; j < shape->point_count; j++) {
            const float *p = shape->positions + 3 * (size_t)shape->points[i];
            const float *q = shape->positions + 3 * (size_t)shape->points[j];
            const double x = (double)p[0] - q[0], y = (double)p[1] - q[1], z = (double)p[2] - q[2];
            const double d = sqrt(x * x + y * y + z * z);
            if (d > 0 && d < nearest[i]) nearest[i] = d;
        }
    }
    qsort(nearest, shape->point_count, sizeof *nearest, by_size);
    return fmin(fmax(2 * nearest[shape->point_count / 2] / step, 1), 16);
}

// Slanted and tiny triangles, ones without area, a line, loose points with balls around them.
static void voxels_of_the_text_as_c_are_the_hosts(void **state)
{
    fixture *f = *state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        shape_case *s = new_shape();
        uint32_t points[64];
        if (seed == 1) add_box(s, (const double[3]){ 0, 0, 0 }, (const double[3]){ 1, 0.5, 0.5 });
        if (seed == 2) add_cylinder(s, 0.3, 1, 12, 5);
        for (uint64_t t = 0; t < 40; t++) {
            const double size = t % 3 ? 0.05 : 0.6;
            double at[3], corner[3];
            uint32_t v[3];
            for (int c = 0; c < 3; c++) at[c] = random_in(seed, 3 * t + (uint64_t)c, 0, 1);
            for (uint64_t e = 0; e < 3; e++) {
                for (uint64_t c = 0; c < 3; c++)
                    corner[c] = at[c] + random_in(seed + 9, 9 * t + 3 * e + c, -size, size);
                v[e] = add_vertex(s, corner[0], corner[1], corner[2]);
            }
            if (seed == 4) points[t] = v[0];
            if (seed < 4) add_triangle(s, v[0], v[1], t % 5 ? v[2] : v[1]);
        }
        if (seed == 4) s->shape.points = points, s->shape.point_count = 40;
        for (uint32_t voxels = 16; voxels <= 64; voxels += 48) {
            cutis_handles_grid grid;
            assert_ok(f->context,
                      cutis_handles_grid_create(&f->arena, f->device, &s->shape, voxels, &grid));
            cutis_handles_grid found = grid;
            found.index = cutis_arena_alloc(&f->arena, grid.dense_count, 4);
            found.place = found.neighbour = found.component = NULL;
            found.voxel_count = found.component_count = 0;
            uint32_t side[3],
                *first = cutis_arena_alloc(&f->arena, cutis_handles_tiles(&grid, side) + 1, 4);
            // The host's own radius: twice the median distance, at most 16 voxels.
            double radius = 0;
            if (seed == 4) radius = ball_radius(&s->shape, grid.step);
            assert_ok(f->context, cutis_handles_grid_voxels(&f->arena, f->device, &s->shape, radius,
                                                            first, &found));
            const size_t n = grid.voxel_count;
            assert_int_equal(found.voxel_count, n);
            assert_int_equal(found.component_count, grid.component_count);
            assert_memory_equal(found.index, grid.index, 4 * grid.dense_count);
            assert_memory_equal(found.place, grid.place, 4 * n);
            assert_memory_equal(found.neighbour, grid.neighbour, 24 * n);
            assert_memory_equal(found.component, grid.component, 4 * n);
            for (size_t t = 0, at = 0; t + 1 <= cutis_handles_tiles(&grid, side); t++)
                if (first[t + 1] > first[t]) assert_int_equal(first[t], grid.tile_first[at++]);
        }
        free(s);
    }
}

// Owners and labels of a domain as cutis_handles_solve makes them.
static void label_pieces(fixture *f, const cutis_handles_solution *solution, uint32_t **label,
                         uint32_t **owner)
{
    const cutis_handles_grid *grid = &solution->grid;
    const cutis_handles_sites *sites = &solution->sites;
    *label = cutis_arena_alloc(&f->arena, grid->voxel_count, sizeof **label);
    *owner = cutis_arena_alloc(&f->arena, grid->voxel_count, sizeof **owner);
    for (uint32_t v = 0; v < grid->voxel_count; v++) {
        (*label)[v] = CUTIS_HANDLES_NONE;
        for (size_t c = 0; c < sites->core_count; c++)
            if (grid->component[sites->cores[c]] == grid->component[v]) {
                (*label)[v] = 0;
                break;
            }
    }
    cutis_handles_owners(grid, sites, *label, *owner);
}

// Points, bars, pairs that floors act on, a piece without a handle; fields kept from the first
// solve to the second.
static void virtual_handles_of_the_text_as_c_are_the_hosts(void **state)
{
    fixture *f = *state;
    const double low[3] = { 0, 0, 0 }, high[3] = { 1, 0.5, 0.5 };
    shape_case *s = new_shape();
    add_box(s, low, high);
    add_box(s, (const double[3]){ 1.3, 0, 0 }, (const double[3]){ 1.5, 0.5, 0.5 });
    for (uint64_t seed = 0; seed < 3; seed++) {
        static domain_case host;
        double a[16][3], b[16][3];
        const uint32_t count = random_points(seed, 8, low, high, seed ? 0.12 : 0.04, a);
        memcpy(b, a, sizeof b);
        b[0][0] = fmin(a[0][0] + 0.1, 0.95);
        solve_domain(f, s, 40, CUTIS_WEIGHTING_VIRTUAL, 0, count, (const double(*)[3])a,
                     (const double(*)[3])b, &host);
        const cutis_handles_virtual *v = &host.solution.virtual;
        uint32_t *label, *owner;
        label_pieces(f, &host.solution, &label, &owner);
        cutis_handles_gpu *gpu = cutis_handles_gpu_create(f->device);
        assert_non_null(gpu);
        for (int again = 0; again < 2; again++) {
            cutis_handles_solution text = host.solution;
            bool fits = false;
            assert_ok(f->context,
                      cutis_handles_gpu_virtual(
                          gpu, &text, label, owner,
                          &(cutis_handles_virtual_options){ .radius_floor = 1 }, &fits));
            const cutis_handles_virtual *t = &text.virtual;
            const uint32_t n = text.grid.voxel_count;
            assert_true(fits);
            assert_int_equal(t->virtual_count, v->virtual_count);
            assert_int_equal(t->round_count, v->round_count);
            assert_memory_equal(t->voxel, v->voxel, v->virtual_count * sizeof *v->voxel);
            assert_memory_equal(t->radius, v->radius,
                                (count + v->virtual_count) * sizeof *v->radius);
            assert_memory_equal(t->floored, v->floored, count * sizeof *v->floored);
            assert_memory_equal(t->share, v->share,
                                (size_t)count * v->virtual_count * sizeof *v->share);
            assert_memory_equal(t->list_first, v->list_first, (n + 1) * sizeof *v->list_first);
            assert_memory_equal(t->list_handle, v->list_handle,
                                v->list_first[n] * sizeof *v->list_handle);
            assert_memory_equal(t->list_value, v->list_value,
                                v->list_first[n] * sizeof *v->list_value);
            assert_memory_equal(text.field.values, host.solution.field.values,
                                (size_t)n * count * sizeof(float));
            assert_memory_equal(text.field.density, host.solution.field.density, n * sizeof(float));
            assert_true(t->coverage_max == v->coverage_max);
        }
        cutis_handles_gpu_destroy(gpu);
        release_domain(&host);
    }
    free(s);
}

// Two pieces of which one has no handle, and a coarsest level that is the only one.
static void loose_pieces_and_small_grids_too(void **state)
{
    fixture *f = *state;
    cutis_device *device = open_device(f);
    shape_case *s = new_shape();
    add_box(s, (const double[3]){ 0, 0, 0 }, (const double[3]){ 1, 0.4, 0.4 });
    add_box(s, (const double[3]){ 1.5, 0, 0 }, (const double[3]){ 1.8, 0.4, 0.4 });
    cutis_primitive primitive = { .vertex_count = s->shape.vertex_count,
                                  .positions = s->positions,
                                  .index_count = 3 * s->shape.triangle_count,
                                  .indices = s->triangles,
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_node node = { .parent = CUTIS_NONE, .mesh = 0, .skin = CUTIS_NONE };
    node.rest = cutis_transform_identity();
    cutis_model_data data = { .node_count = 1, .nodes = &node, .mesh_count = 1, .meshes = &mesh };
    cutis_model *model = NULL;
    assert_ok(f->context, cutis_model_create(f->context, &data, CUTIS_GATE_REFUSE, &model));
    const cutis_handle handles[2] = {
        { NULL, CUTIS_HANDLE_POINT, { 0.2f, 0.2f, 0.2f }, { 0, 0, 0 } },
        { NULL, CUTIS_HANDLE_POINT, { 0.8f, 0.2f, 0.2f }, { 0, 0, 0 } }
    };
    const uint32_t voxels[2] = { 8, 24 };
    for (int i = 0; i < 2; i++)
        compare(f, device, model, handles, 2, &(cutis_handles_options){ .voxels = voxels[i] });
    cutis_model_destroy(model);
    free(s);
    cutis_device_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(the_text_as_c_has_the_bits_of_the_host),
        claim(voxels_of_the_text_as_c_are_the_hosts),
        claim(virtual_handles_of_the_text_as_c_are_the_hosts),
        claim(an_opencl_device_gives_the_cpus_weights),
        claim(loose_pieces_and_small_grids_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
