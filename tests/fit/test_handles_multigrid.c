// The solver of handle weights against the equation it solves, written out here.
#include "handles_case.h"

#include "fit/handles_multigrid.h"

#define LANES CUTIS_HANDLES_LANES

/// A grid, every 997th voxel fixed to one of LANES owners, conductances between 1 and 3.
typedef struct system_case {
    cutis_handles_grid grid;
    uint32_t *fixed;
    double *conductance;
    cutis_handles_system system;
} system_case;

static void make_system(fixture *f, const shape_case *s, uint32_t voxels, system_case *out)
{
    cutis_handles_grid *grid = &out->grid;
    assert_ok(f->context, cutis_handles_grid_create(&f->arena, f->device, &s->shape, voxels, grid));
    out->fixed = cutis_arena_alloc(&f->arena, grid->voxel_count, sizeof *out->fixed);
    out->conductance = cutis_arena_alloc(&f->arena, grid->voxel_count, 6 * sizeof(double));
    bool *held = calloc(grid->component_count, sizeof *held);
    for (uint32_t v = 0; v < grid->voxel_count; v++) {
        const bool first = !held[grid->component[v]];
        held[grid->component[v]] = true;
        out->fixed[v] = v % 997 == 0 || first ? v / 997 % LANES : CUTIS_HANDLES_NONE;
        for (int d = 0; d < 6; d++) {
            const uint32_t m = grid->neighbour[6 * (size_t)v + (uint32_t)d];
            out->conductance[6 * (size_t)v + (uint32_t)d] =
                m == CUTIS_HANDLES_NONE ? 0 : 1 + (double)((v ^ m) % 17) / 8;
        }
    }
    free(held);
    assert_true(
        cutis_handles_system_create(&f->arena, grid, out->fixed, out->conductance, &out->system));
}

// The largest |sum of conductance * (neighbour - own)| / sum of conductance over free voxels.
static double residual(const system_case *c)
{
    double worst = 0;
    for (uint32_t v = 0; v < c->grid.voxel_count; v++) {
        double sum[LANES] = { 0 }, total = 0;
        if (c->fixed[v] != CUTIS_HANDLES_NONE) continue;
        for (size_t e = 6 * (size_t)v; e < 6 * (size_t)v + 6; e++) {
            const uint32_t m = c->grid.neighbour[e];
            if (m == CUTIS_HANDLES_NONE) continue;
            total += c->conductance[e];
            for (uint32_t l = 0; l < LANES; l++) {
                const double own = c->system.x[LANES * (size_t)c->system.node[v] + l];
                const double other = c->fixed[m] == CUTIS_HANDLES_NONE
                                         ? c->system.x[LANES * (size_t)c->system.node[m] + l]
                                         : c->fixed[m] == l;
                sum[l] += c->conductance[e] * (other - own);
            }
        }
        for (uint32_t l = 0; l < LANES; l++) worst = fmax(worst, fabs(sum[l]) / total);
    }
    return worst;
}

static void a_box_is_solved_in_as_many_iterations_at_any_size(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    uint32_t most = 0;
    add_box(s, (const double[3]){ 0, 0, 0 }, (const double[3]){ 1, 0.5, 0.5 });
    for (uint32_t voxels = 20; voxels <= 80; voxels *= 2) {
        system_case c;
        make_system(f, s, voxels, &c);
        assert_int_equal(c.system.visits, voxels == 80 ? 2 : 1);
        cutis_handles_system_solve(&c.system, f->device, c.fixed, c.conductance, 0, 1e-6);
        // What is left is measured by another route, so rounding comes on top.
        assert_true(residual(&c) < 1e-6 + 1e-12);
        if (voxels < 80)
            most = c.system.iteration_count > most ? c.system.iteration_count : most;
        else
            assert_true(c.system.iteration_count <= most);
    }
    free(s);
}

// Coarse links that are a quarter of what they should be: corrections are four times too long, and
// two visits are not positive definite. One is, whatever the coarse levels say.
static void a_cycle_that_goes_too_far_is_given_up(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    system_case c;
    add_box(s, (const double[3]){ 0, 0, 0 }, (const double[3]){ 1, 0.5, 0.5 });
    make_system(f, s, 40, &c);
    c.system.visits = 2;
    for (uint32_t l = 2; l < c.system.level_count; l++) {
        const cutis_handles_level *level = &c.system.levels[l];
        for (uint32_t i = 0; i < level->count; i++) {
            level->diagonal[i] /= 4, level->inverse[i] *= 4;
            for (uint32_t d = 0; d < 6; d++) level->conductance[6 * (size_t)i + d] /= 4;
        }
    }
    cutis_handles_system_solve(&c.system, f->device, c.fixed, c.conductance, 0, 1e-6);
    assert_true(c.system.iteration_count > CUTIS_HANDLES_PATIENCE);
    assert_true(c.system.iteration_count < CUTIS_HANDLES_CYCLES);
    assert_true(residual(&c) < 1e-6 + 1e-12);
    free(s);
}

int main(void)
{
    const struct CMUnitTest claims[] = {
        claim(a_box_is_solved_in_as_many_iterations_at_any_size),
        claim(a_cycle_that_goes_too_far_is_given_up),
    };
    return cmocka_run_group_tests(claims, NULL, NULL);
}
