// Multigrid on voxels, launch by launch. Invariant: what runs, and in which order, depends on the
// system alone; a field stops when it has converged, whatever else is solved beside it.
#include "fit/handles/multigrid.h"

#include "base/error.h"

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
        // Pieces of the blocks that sheets cut are more than there are places.
        const uint64_t places = l == 1 && grid->sheets ? UINT64_MAX : size[0] * size[1] * size[2];
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
    const handles_grid given = cutis_handles_grid_given(system->grid);
    const uint32_t n = system->grid->voxel_count;
    TRY(LAUNCH(handles_split, work, n, .grid = given));
    TRY(place_flags(work, n, &system->levels[0]));
    return LAUNCH(handles_nodes, work, n, .grid = given);
}

// Blocks of the last level so far as nodes of the next. `size`: of the grid of the last.
// @param on the work with that level's map
static cutis_result link_blocks(const cutis_handles_work *on, const cutis_handles_system *system,
                                const int *size, uint32_t blocks, const cutis_handles_level *coarse)
{
    const uint32_t depth = system->level_count;
    const cutis_handles_level *fine = &system->levels[depth - 1];
    TRY(LAUNCH(handles_blocks, on, blocks, .size = { size[0], size[1], size[2] },
               .to = (int)coarse->at, .count = (int)fine->count));
    TRY(cutis_compute_scan(on->device, on->buffers.family, coarse->count));
    return LAUNCH(handles_children, on, coarse->count + 1, .size = { size[0], size[1], size[2] },
                  .at = (int)fine->at, .to = (int)coarse->at, .list = (int)(coarse->at + depth),
                  .count = (int)coarse->count);
}

// One level more; as many nodes as before: pieces of single voxels do not get coarser.
static cutis_result number_blocks(cutis_handles_work *work, cutis_handles_system *system,
                                  const int *size)
{
    const uint32_t depth = system->level_count;
    const cutis_handles_level *fine = &system->levels[depth - 1];
    const uint32_t blocks =
        (uint32_t)(((size[0] + 1) / 2) * ((size[1] + 1) / 2) * ((size[2] + 1) / 2));
    cutis_handles_level coarse = { .at = fine->at + fine->count };
    cutis_handles_work on = *work; // the finest level's map is of voxels, the others' of nodes
    if (depth == 1)
        on.buffers.map = on.buffers.index;
    else
        on.buffers.node = NULL;
    TRY(LAUNCH(handles_firsts, &on, blocks, .size = { size[0], size[1], size[2] }));
    TRY(LAUNCH(handles_heads, &on, fine->count, .size = { size[0], size[1], size[2] },
               .at = (int)fine->at, .count = (int)fine->count));
    TRY(place_flags(work, fine->count, &coarse));
    if (coarse.count < fine->count) {
        TRY(link_blocks(&on, system, size, blocks, &coarse));
        cutis_handles_swap(&work->buffers.map, &work->buffers.other_map);
    }
    system->levels[depth] = coarse;
    return CUTIS_OK;
}

// As GPUs do it, where nothing is cut.
static cutis_result number_by_sweeps(cutis_handles_work *work, cutis_handles_system *system)
{
    int size[3];
    for (int c = 0; c < 3; c++) size[c] = (int)system->grid->size[c];
    while (system->level_count < CUTIS_HANDLES_LEVELS) {
        const cutis_handles_level *fine = &system->levels[system->level_count - 1];
        if (fine->count <= CUTIS_HANDLES_COARSE) break;
        TRY(number_blocks(work, system, size));
        if (fine[1].count == fine->count) break;
        system->level_count++;
        for (int c = 0; c < 3; c++) size[c] = (size[c] + 1) / 2;
    }
    return CUTIS_OK;
}

static cutis_result number_levels(cutis_handles_work *work, cutis_handles_system *system)
{
    TRY(reserve_levels(work, system->grid));
    TRY(number_finest(work, system));
    if (work->sweeps && !system->grid->sheets)
        TRY(number_by_sweeps(work, system));
    else
        TRY(cutis_handles_levels_number(work, system));
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
    TRY(handles_finest_launch(work, system->levels[0].count, (handles_finest_arguments){ 0 }));
    for (uint32_t l = 1; l < system->level_count; l++)
        TRY(LAUNCH(handles_coarse, work, system->levels[l].count,
                   .at = (int)system->levels[l - 1].at, .to = (int)system->levels[l].at,
                   .list = (int)(system->levels[l].at + l)));
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

/// A launch over `nodes` nodes or sums of it.
#define STEP(kernel, s, nodes, ...)                                                                \
    LAUNCH(kernel, (s)->work, (nodes) * (s)->groups, .lanes = (s)->lanes, .width = (s)->width,     \
           __VA_ARGS__)

// Half a sweep over nodes [first, end) of a level.
static cutis_result smooth(const solving *s, const cutis_handles_level *level, uint32_t first,
                           uint32_t end, bool zero)
{
    return STEP(handles_smooth, s, end - first, .at = (int)level->at, .first = (int)first,
                .zero = zero);
}

static cutis_result restrict_to(const solving *s, uint32_t depth)
{
    const cutis_handles_level *fine = &s->system->levels[depth - 1], *coarse = fine + 1;
    return STEP(handles_restrict, s, coarse->count, .at = (int)fine->at, .to = (int)coarse->at,
                .list = (int)(coarse->at + depth), .red = (int)fine->red_count);
}

// One cycle on a level: z = M^-1 r, where z counts as zero at first, or z += M^-1 (r - A z).
static cutis_result cycle(const solving *s, uint32_t depth, bool zero)
{
    const cutis_handles_level *level = &s->system->levels[depth];
    const uint32_t red = level->red_count, all = level->count;
    if (depth + 1 == s->system->level_count)
        return STEP(handles_coarsest, s, 1, .at = (int)level->at, .red = (int)red,
                    .count = (int)all, .sweeps = CUTIS_HANDLES_SWEEPS);
    TRY(smooth(s, level, 0, red, zero));
    TRY(smooth(s, level, red, all, false));
    TRY(restrict_to(s, depth + 1));
    for (uint32_t visit = 0; visit < (depth == 0 ? s->visits : 1); visit++)
        TRY(cycle(s, depth + 1, visit == 0));
    TRY(STEP(handles_prolong, s, red, .at = (int)level->at, .to = (int)level[1].at));
    TRY(smooth(s, level, red, all, false));
    return smooth(s, level, 0, red, false);
}

// Conjugate gradients ---------------------------------------------------------------------------

static cutis_result dot(const solving *s, const cutis_buffer *x, const cutis_buffer *y,
                        uint32_t sums)
{
    return handles_dot_run(
        s->work->device, sums * s->groups,
        (handles_dot_buffers){ .r = x, .z = y, .partial = s->work->buffers.partial },
        (handles_dot_arguments){ .lanes = s->lanes,
                                 .width = s->width,
                                 .count = (int)s->system->levels[0].count,
                                 .stretch = HANDLES_SUM });
}

// p = z + beta p, q = A p, and the sums of p q. A CPU sums where it works, a GPU by itself: its
// items are nodes.
static cutis_result new_direction(const solving *s, uint32_t sums)
{
    const bool apart = s->work->sweeps;
    const uint32_t count = s->system->levels[0].count, items = apart ? count : sums;
    const int stretch = apart ? 1 : HANDLES_SUM;
    TRY(STEP(handles_direction, s, items, .count = (int)count, .stretch = stretch));
    TRY(STEP(handles_apply, s, items, .count = (int)count, .stretch = stretch));
    return apart ? dot(s, s->work->buffers.q, s->work->buffers.p, sums) : CUTIS_OK;
}

// x += alpha p, r -= alpha q, and the largest residuals.
static cutis_result advance(const solving *s, uint32_t sums)
{
    const bool apart = s->work->sweeps;
    const uint32_t count = s->system->levels[0].count;
    TRY(STEP(handles_advance, s, apart ? count : sums, .count = (int)count,
             .stretch = apart ? 1 : HANDLES_SUM));
    if (!apart) return CUTIS_OK;
    return STEP(handles_worst, s, sums, .count = (int)count, .stretch = HANDLES_SUM);
}

static cutis_result iterate(const solving *s, double tolerance, bool *going)
{
    const cutis_handles_buffers *b = &s->work->buffers;
    const uint32_t sums = (s->system->levels[0].count + HANDLES_SUM - 1) / HANDLES_SUM;
    TRY(cycle(s, 0, true));
    TRY(dot(s, b->r, b->z, sums));
    TRY(STEP(handles_find_beta, s, 1, .sums = (int)sums));
    TRY(new_direction(s, sums));
    TRY(STEP(handles_find_alpha, s, 1, .sums = (int)sums));
    TRY(advance(s, sums));
    TRY(cutis_handles_fill(s->work, b->flag, 1, 0));
    TRY(STEP(handles_done, s, 1, .tolerance = tolerance, .sums = (int)sums));
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
    return STEP(handles_begin, s, count, .first = (int)first);
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
        TRY(cutis_progress(work->context, "weights", system->progress));
        TRY(iterate(&s, tolerance, &going));
        if (i > system->iteration_count) system->iteration_count = i;
    }
    return CUTIS_OK;
}
