// Multigrid on voxels, launch by launch. Invariant: what runs, and in which order, depends on the
// system alone; a field stops when it has converged, whatever else is solved beside it.
#include "fit/handles/multigrid.h"

#include "base/error.h"
#include "device/compute/scan.h"

/// Doubles of one vector of all lanes, at most: what is more goes in several solves.
#define VECTOR_MOST (UINT64_C(1) << 28)
#define LANES_CPU   8

// Levels ----------------------------------------------------------------------------------------

// Of all levels together: none has more nodes than the finer one, or than its grid has places.
static uint64_t most_nodes(const cutis_handles_grid *grid)
{
    uint64_t total = grid->voxel_count, size[3];
    for (int c = 0; c < 3; c++) size[c] = grid->size[c];
    for (int l = 1; l < CUTIS_HANDLES_LEVELS; l++) {
        for (int c = 0; c < 3; c++) size[c] = (size[c] + 1) / 2;
        const uint64_t places = size[0] * size[1] * size[2];
        total += places < grid->voxel_count ? places : grid->voxel_count;
    }
    return total;
}

static cutis_result reserve_levels(cutis_handles_work *work, const cutis_handles_grid *grid)
{
    cutis_handles_buffers *b = &work->buffers;
    const uint64_t nodes = most_nodes(grid), n = grid->voxel_count;
    uint64_t blocks = 1;
    for (int c = 0; c < 3; c++) blocks *= (grid->size[c] + 1) / 2;
    return RESERVE(work, { &b->parent, nodes, 4 }, { &b->child, nodes, 4 },
                   { &b->child_first, nodes + CUTIS_HANDLES_LEVELS, 4 }, { &b->order, nodes, 4 },
                   { &b->cell, nodes, 4 }, { &b->node, n, 4 }, { &b->voxel, n, 4 },
                   { &b->places, cutis_compute_scan_words((uint32_t)(2 * n)), 4 },
                   { &b->family, cutis_compute_scan_words((uint32_t)n), 4 }, { &b->map, blocks, 4 },
                   { &b->other_map, blocks, 4 }, { &b->first_child, blocks, 4 });
}

// Sums of `count` flags of each colour in `places`; how many there are.
static cutis_result place_flags(cutis_handles_work *work, uint32_t count,
                                cutis_handles_level *level)
{
    cutis_buffer *places = work->buffers.places;
    TRY(cutis_compute_scan(work->device, places, 2 * count));
    TRY(cutis_buffer_read(places, 4ull * count, &level->red_count, 4));
    return cutis_buffer_read(places, 8ull * count, &level->count, 4);
}

static cutis_result number_finest(cutis_handles_work *work, cutis_handles_system *system)
{
    cutis_handles_buffers *b = &work->buffers;
    const handles_grid given = cutis_handles_grid_given(system->grid);
    const uint32_t n = system->grid->voxel_count;
    TRY(handles_split_run(
        work->device, n,
        (handles_split_buffers){ .owner = b->owner, .place = b->place, .flag = b->places },
        (handles_split_arguments){ .grid = given }));
    TRY(place_flags(work, n, &system->levels[0]));
    return handles_nodes_run(work->device, n,
                             (handles_nodes_buffers){ .owner = b->owner,
                                                      .place = b->place,
                                                      .before = b->places,
                                                      .node = b->node,
                                                      .voxel = b->voxel,
                                                      .cell = b->cell },
                             (handles_nodes_arguments){ .grid = given });
}

// Blocks of the last level so far as nodes of the next. `size`: of the grid of the last.
static cutis_result link_blocks(cutis_handles_work *work, const cutis_handles_system *system,
                                const int *size, uint32_t blocks, const cutis_handles_level *coarse)
{
    cutis_handles_buffers *b = &work->buffers;
    const uint32_t depth = system->level_count;
    const cutis_handles_level *fine = &system->levels[depth - 1];
    const cutis_buffer *map = depth == 1 ? b->index : b->map, *node = depth == 1 ? b->node : NULL;
    TRY(handles_blocks_run(work->device, blocks,
                           (handles_blocks_buffers){ .map = map,
                                                     .node = node,
                                                     .first = b->first_child,
                                                     .before = b->places,
                                                     .coarse_map = b->other_map,
                                                     .cell = b->cell,
                                                     .order = b->order,
                                                     .family = b->family },
                           (handles_blocks_arguments){ .size = { size[0], size[1], size[2] },
                                                       .to = (int)coarse->at,
                                                       .count = (int)fine->count }));
    TRY(cutis_compute_scan(work->device, b->family, coarse->count));
    TRY(handles_children_run(work->device, coarse->count + 1,
                             (handles_children_buffers){ .map = map,
                                                         .node = node,
                                                         .cell = b->cell,
                                                         .before = b->family,
                                                         .child_first = b->child_first,
                                                         .child = b->child,
                                                         .parent = b->parent },
                             (handles_children_arguments){ .size = { size[0], size[1], size[2] },
                                                           .at = (int)fine->at,
                                                           .to = (int)coarse->at,
                                                           .list = (int)(coarse->at + depth),
                                                           .count = (int)coarse->count }));
    cutis_handles_swap(&b->map, &b->other_map);
    return CUTIS_OK;
}

// One level more; as many nodes as before: pieces of single voxels do not get coarser.
static cutis_result number_blocks(cutis_handles_work *work, cutis_handles_system *system,
                                  const int *size)
{
    cutis_handles_buffers *b = &work->buffers;
    const uint32_t depth = system->level_count;
    const cutis_handles_level *fine = &system->levels[depth - 1];
    const uint32_t blocks =
        (uint32_t)(((size[0] + 1) / 2) * ((size[1] + 1) / 2) * ((size[2] + 1) / 2));
    cutis_handles_level coarse = { .at = fine->at + fine->count };
    TRY(handles_firsts_run(work->device, blocks,
                           (handles_firsts_buffers){ .map = depth == 1 ? b->index : b->map,
                                                     .node = depth == 1 ? b->node : NULL,
                                                     .first = b->first_child },
                           (handles_firsts_arguments){ .size = { size[0], size[1], size[2] } }));
    TRY(handles_heads_run(
        work->device, fine->count,
        (handles_heads_buffers){ .cell = b->cell, .first = b->first_child, .flag = b->places },
        (handles_heads_arguments){ .size = { size[0], size[1], size[2] },
                                   .at = (int)fine->at,
                                   .count = (int)fine->count }));
    TRY(place_flags(work, fine->count, &coarse));
    if (coarse.count < fine->count) TRY(link_blocks(work, system, size, blocks, &coarse));
    system->levels[depth] = coarse;
    return CUTIS_OK;
}

static cutis_result number_levels(cutis_handles_work *work, cutis_handles_system *system)
{
    int size[3];
    for (int c = 0; c < 3; c++) size[c] = (int)system->grid->size[c];
    TRY(reserve_levels(work, system->grid));
    TRY(number_finest(work, system));
    while (system->level_count < CUTIS_HANDLES_LEVELS) {
        const cutis_handles_level *fine = &system->levels[system->level_count - 1];
        if (fine->count <= CUTIS_HANDLES_COARSE) break;
        TRY(number_blocks(work, system, size));
        if (fine[1].count == fine->count) break;
        system->level_count++;
        for (int c = 0; c < 3; c++) size[c] = (size[c] + 1) / 2;
    }
    system->visits =
        system->levels[0].count > CUTIS_HANDLES_LARGE && system->level_count > 2 ? 2 : 1;
    return CUTIS_OK;
}

static uint64_t node_count(const cutis_handles_system *system)
{
    const cutis_handles_level *last = &system->levels[system->level_count - 1];
    return (uint64_t)last->at + last->count;
}

static cutis_result fill_levels(cutis_handles_work *work, const cutis_handles_system *system)
{
    cutis_handles_buffers *b = &work->buffers;
    const uint64_t nodes = node_count(system);
    TRY(cutis_handles_reserve_zero(work, &b->level_neighbour, 6 * (nodes + HANDLES_AHEAD), 4));
    TRY(RESERVE(work, { &b->level_conductance, 6 * nodes, 8 }, { &b->diagonal, nodes, 8 },
                { &b->inverse, nodes, 8 }));
    TRY(handles_finest_run(work->device, system->levels[0].count,
                           (handles_finest_buffers){ .voxel = b->voxel,
                                                     .node = b->node,
                                                     .voxel_neighbour = b->neighbour,
                                                     .voxel_conductance = b->conductance,
                                                     .neighbour = b->level_neighbour,
                                                     .conductance = b->level_conductance,
                                                     .diagonal = b->diagonal,
                                                     .inverse = b->inverse },
                           (handles_finest_arguments){ 0 }));
    for (uint32_t l = 1; l < system->level_count; l++)
        TRY(handles_coarse_run(
            work->device, system->levels[l].count,
            (handles_coarse_buffers){ .parent = b->parent,
                                      .child_first = b->child_first,
                                      .child = b->child,
                                      .neighbour = b->level_neighbour,
                                      .conductance = b->level_conductance,
                                      .diagonal = b->diagonal,
                                      .inverse = b->inverse },
            (handles_coarse_arguments){ .at = (int)system->levels[l - 1].at,
                                        .to = (int)system->levels[l].at,
                                        .list = (int)(system->levels[l].at + l) }));
    return CUTIS_OK;
}

cutis_result cutis_handles_system_create(cutis_handles_work *work, const cutis_handles_grid *grid,
                                         cutis_handles_system *out)
{
    *out = (cutis_handles_system){ .grid = grid, .level_count = 1 };
    TRY(number_levels(work, out));
    return fill_levels(work, out);
}

// The cycle -------------------------------------------------------------------------------------

uint32_t cutis_handles_lanes(const cutis_handles_work *work, const cutis_handles_system *system,
                             uint32_t left)
{
    if (!work->sweeps) return left > 4 ? LANES_CPU : left > 2 ? 4 : 2;
    const uint64_t nodes = node_count(system), voxels = system->grid->voxel_count;
    const uint64_t most = VECTOR_MOST / (nodes > voxels ? nodes : voxels + 1);
    return most < 1 ? 1 : left < most ? left : (uint32_t)most;
}

/// A solve of some lanes, that its launches are of.
typedef struct solving {
    cutis_handles_work *work;
    const cutis_handles_system *system;
    uint32_t visits;
    int lanes, width;
    uint32_t groups; ///< items of a node
} solving;

// Half a sweep over nodes [first, end) of a level.
static cutis_result smooth(const solving *s, const cutis_handles_level *level, uint32_t first,
                           uint32_t end, bool zero)
{
    const cutis_handles_buffers *b = &s->work->buffers;
    return handles_smooth_run(s->work->device, (end - first) * s->groups,
                              (handles_smooth_buffers){ .neighbour = b->level_neighbour,
                                                        .conductance = b->level_conductance,
                                                        .inverse = b->inverse,
                                                        .r = b->r,
                                                        .z = b->z },
                              (handles_smooth_arguments){ .lanes = s->lanes,
                                                          .width = s->width,
                                                          .at = (int)level->at,
                                                          .first = (int)first,
                                                          .zero = zero });
}

static cutis_result restrict_to(const solving *s, uint32_t depth)
{
    const cutis_handles_buffers *b = &s->work->buffers;
    const cutis_handles_level *fine = &s->system->levels[depth - 1], *coarse = fine + 1;
    return handles_restrict_run(s->work->device, coarse->count * s->groups,
                                (handles_restrict_buffers){ .neighbour = b->level_neighbour,
                                                            .conductance = b->level_conductance,
                                                            .diagonal = b->diagonal,
                                                            .child_first = b->child_first,
                                                            .child = b->child,
                                                            .order = b->order,
                                                            .z = b->z,
                                                            .r = b->r },
                                (handles_restrict_arguments){ .lanes = s->lanes,
                                                              .width = s->width,
                                                              .at = (int)fine->at,
                                                              .to = (int)coarse->at,
                                                              .list = (int)(coarse->at + depth),
                                                              .red = (int)fine->red_count });
}

static cutis_result solve_coarsest(const solving *s, const cutis_handles_level *level)
{
    const cutis_handles_buffers *b = &s->work->buffers;
    return handles_coarsest_run(s->work->device, s->groups,
                                (handles_coarsest_buffers){ .neighbour = b->level_neighbour,
                                                            .conductance = b->level_conductance,
                                                            .inverse = b->inverse,
                                                            .r = b->r,
                                                            .z = b->z },
                                (handles_coarsest_arguments){ .lanes = s->lanes,
                                                              .width = s->width,
                                                              .at = (int)level->at,
                                                              .red = (int)level->red_count,
                                                              .count = (int)level->count,
                                                              .sweeps = CUTIS_HANDLES_SWEEPS });
}

// One cycle on a level: z = M^-1 r, where z counts as zero at first, or z += M^-1 (r - A z).
static cutis_result cycle(const solving *s, uint32_t depth, bool zero)
{
    const cutis_handles_buffers *b = &s->work->buffers;
    const cutis_handles_level *level = &s->system->levels[depth];
    const uint32_t red = level->red_count, all = level->count;
    if (depth + 1 == s->system->level_count) return solve_coarsest(s, level);
    TRY(smooth(s, level, 0, red, zero));
    TRY(smooth(s, level, red, all, false));
    TRY(restrict_to(s, depth + 1));
    for (uint32_t visit = 0; visit < (depth == 0 ? s->visits : 1); visit++)
        TRY(cycle(s, depth + 1, visit == 0));
    TRY(handles_prolong_run(
        s->work->device, red * s->groups,
        (handles_prolong_buffers){ .parent = b->parent, .z = b->z },
        (handles_prolong_arguments){
            .lanes = s->lanes, .width = s->width, .at = (int)level->at, .to = (int)level[1].at }));
    TRY(smooth(s, level, red, all, false));
    return smooth(s, level, 0, red, false);
}

// Conjugate gradients ---------------------------------------------------------------------------

static cutis_result dot(const solving *s, const cutis_buffer *x, const cutis_buffer *y,
                        uint32_t sums)
{
    return handles_dot_run(
        s->work->device, sums * s->groups,
        (handles_dot_buffers){ .a = x, .b = y, .partial = s->work->buffers.partial },
        (handles_dot_arguments){ .lanes = s->lanes,
                                 .width = s->width,
                                 .count = (int)s->system->levels[0].count,
                                 .stretch = HANDLES_SUM });
}

// p = z + beta p, q = A p, and the sums of p q. A CPU sums where it works, a GPU by itself: its
// items are nodes.
static cutis_result new_direction(const solving *s, uint32_t sums)
{
    const cutis_handles_buffers *b = &s->work->buffers;
    const bool apart = s->work->sweeps;
    const uint32_t count = s->system->levels[0].count, stretch = apart ? 1 : HANDLES_SUM;
    const uint32_t items = (apart ? count : sums) * s->groups;
    TRY(handles_direction_run(
        s->work->device, items,
        (handles_direction_buffers){ .scalars = b->scalars, .z = b->z, .p = b->p },
        (handles_direction_arguments){
            .lanes = s->lanes, .width = s->width, .count = (int)count, .stretch = (int)stretch }));
    TRY(handles_apply_run(
        s->work->device, items,
        (handles_apply_buffers){ .neighbour = b->level_neighbour,
                                 .conductance = b->level_conductance,
                                 .diagonal = b->diagonal,
                                 .p = b->p,
                                 .q = b->q,
                                 .partial = apart ? NULL : b->partial },
        (handles_apply_arguments){
            .lanes = s->lanes, .width = s->width, .count = (int)count, .stretch = (int)stretch }));
    return apart ? dot(s, b->q, b->p, sums) : CUTIS_OK;
}

// x += alpha p, r -= alpha q, and the largest residuals.
static cutis_result advance(const solving *s, uint32_t sums)
{
    const cutis_handles_buffers *b = &s->work->buffers;
    const bool apart = s->work->sweeps;
    const uint32_t count = s->system->levels[0].count, stretch = apart ? 1 : HANDLES_SUM;
    TRY(handles_advance_run(
        s->work->device, (apart ? count : sums) * s->groups,
        (handles_advance_buffers){ .scalars = b->scalars,
                                   .inverse = b->inverse,
                                   .p = b->p,
                                   .q = b->q,
                                   .x = b->x,
                                   .r = b->r,
                                   .partial = apart ? NULL : b->partial },
        (handles_advance_arguments){
            .lanes = s->lanes, .width = s->width, .count = (int)count, .stretch = (int)stretch }));
    if (!apart) return CUTIS_OK;
    return handles_worst_run(
        s->work->device, sums * s->groups,
        (handles_worst_buffers){ .inverse = b->inverse, .r = b->r, .partial = b->partial },
        (handles_worst_arguments){
            .lanes = s->lanes, .width = s->width, .count = (int)count, .stretch = HANDLES_SUM });
}

static cutis_result iterate(const solving *s, double tolerance, bool *going)
{
    const cutis_handles_buffers *b = &s->work->buffers;
    const uint32_t sums = (s->system->levels[0].count + HANDLES_SUM - 1) / HANDLES_SUM;
    TRY(cycle(s, 0, true));
    TRY(dot(s, b->r, b->z, sums));
    TRY(handles_find_beta_run(
        s->work->device, s->groups,
        (handles_find_beta_buffers){ .partial = b->partial, .scalars = b->scalars },
        (handles_find_beta_arguments){ .lanes = s->lanes, .width = s->width, .sums = (int)sums }));
    TRY(new_direction(s, sums));
    TRY(handles_find_alpha_run(
        s->work->device, s->groups,
        (handles_find_alpha_buffers){ .partial = b->partial, .scalars = b->scalars },
        (handles_find_alpha_arguments){ .lanes = s->lanes, .width = s->width, .sums = (int)sums }));
    TRY(advance(s, sums));
    TRY(cutis_handles_fill(s->work, b->flag, 1, 0));
    TRY(handles_done_run(
        s->work->device, s->groups,
        (handles_done_buffers){ .partial = b->partial, .scalars = b->scalars, .going = b->flag },
        (handles_done_arguments){
            .lanes = s->lanes, .width = s->width, .tolerance = tolerance, .sums = (int)sums }));
    return cutis_handles_flag(s->work, going);
}

// First fields and their residual; scalars are zero.
static cutis_result begin(const solving *s, uint32_t first)
{
    cutis_handles_work *work = s->work;
    cutis_handles_buffers *b = &work->buffers;
    const uint32_t count = s->system->levels[0].count;
    const uint64_t lanes = (uint64_t)s->lanes, all = node_count(s->system) * lanes;
    // A node without a neighbour reads itself with conductance 0: what it reads must be finite from
    // the start, and new memory may hold anything.
    TRY(cutis_handles_reserve_zero(work, &b->z, all, 8));
    TRY(RESERVE(work, { &b->r, all, 8 }, { &b->x, count * lanes, 8 }, { &b->p, count * lanes, 8 },
                { &b->q, count * lanes, 8 }, { &b->partial, (count / HANDLES_SUM + 1) * lanes, 8 },
                { &b->scalars, 4 * lanes, 8 }));
    TRY(cutis_handles_fill(work, b->scalars, 8 * lanes, 0));
    return handles_begin_run(
        work->device, count * s->groups,
        (handles_begin_buffers){ .voxel = b->voxel,
                                 .label = b->label,
                                 .owner = b->owner,
                                 .voxel_neighbour = b->neighbour,
                                 .voxel_conductance = b->conductance,
                                 .neighbour = b->level_neighbour,
                                 .conductance = b->level_conductance,
                                 .diagonal = b->diagonal,
                                 .x = b->x,
                                 .r = b->r,
                                 .p = b->p },
        (handles_begin_arguments){ .lanes = s->lanes, .width = s->width, .first = (int)first });
}

cutis_result cutis_handles_system_solve(cutis_handles_work *work, cutis_handles_system *system,
                                        uint32_t first, uint32_t lanes, double tolerance)
{
    solving s = { .work = work,
                  .system = system,
                  .visits = system->visits,
                  .lanes = (int)lanes,
                  .width = work->sweeps ? 1 : (int)lanes,
                  .groups = work->sweeps ? lanes : 1 };
    bool going = system->levels[0].count > 0;
    TRY(begin(&s, first));
    for (uint32_t i = 1; going && i <= CUTIS_HANDLES_CYCLES; i++) {
        if (i > CUTIS_HANDLES_PATIENCE && s.visits > 1) {
            // From here on another preconditioner: no direction so far is of use to it, so rho = 0.
            s.visits = 1;
            TRY(cutis_handles_fill(work, work->buffers.scalars, 2ull * lanes, 0));
        }
        TRY(cutis_progress(work->device->context, "weights", system->progress));
        TRY(iterate(&s, tolerance, &going));
        if (i > system->iteration_count) system->iteration_count = i;
    }
    return CUTIS_OK;
}
