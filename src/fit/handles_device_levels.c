// Nodes and blocks of the multigrid on a GPU. Invariant: every number is the one that
// handles_multigrid.c gives, so sums run over the same nodes in the same order. The host learns
// only how many nodes a level has.
#include "base/error.h"
#include "device/compute/scan.h"
#include "fit/handles_gpu.h"

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

static cutis_result make_room(cutis_handles_gpu *gpu, const cutis_handles_grid *grid)
{
    const uint64_t nodes = most_nodes(grid), n = grid->voxel_count;
    cutis_result result = room(gpu, PARENT, nodes, 4);
    if (result == CUTIS_OK) result = room(gpu, CHILD, nodes, 4);
    if (result == CUTIS_OK) result = room(gpu, CHILD_FIRST, nodes + CUTIS_HANDLES_LEVELS, 4);
    if (result == CUTIS_OK) result = room(gpu, CELL, nodes, 4);
    if (result == CUTIS_OK) result = room(gpu, NODE, n, 4);
    if (result == CUTIS_OK) result = room(gpu, VOXEL, n, 4);
    if (result == CUTIS_OK)
        result = room(gpu, PLACES, cutis_compute_scan_words((uint32_t)(2 * n)), 4);
    if (result == CUTIS_OK) result = room(gpu, FAMILY, cutis_compute_scan_words((uint32_t)n), 4);
    if (result == CUTIS_OK) result = room(gpu, MAP, grid->dense_count, 4);
    if (result == CUTIS_OK) result = room(gpu, COARSE_MAP, grid->dense_count, 4);
    if (result == CUTIS_OK) result = room(gpu, FIRST_CHILD, grid->dense_count, 4);
    return result;
}

// Sums of `count` flags of each colour in PLACES; how many there are.
static cutis_result place_flags(cutis_handles_gpu *gpu, uint32_t count, cutis_handles_level *level)
{
    uint32_t red = 0, all = 0;
    cutis_result result = cutis_compute_scan(gpu->device, gpu->buffers[PLACES], 2 * count);
    if (result == CUTIS_OK) result = cutis_buffer_read(gpu->buffers[PLACES], 4ull * count, &red, 4);
    if (result == CUTIS_OK) result = cutis_buffer_read(gpu->buffers[PLACES], 8ull * count, &all, 4);
    *level = (cutis_handles_level){ .count = all, .red_count = red };
    return result;
}

static cutis_result number_finest(cutis_handles_gpu *gpu, cutis_handles_system *system)
{
    const cutis_handles_grid *grid = system->grid;
    const uint32_t n = grid->voxel_count;
    cutis_result result = CUTIS_OK;
    LAUNCH(split, n, BUFFER(OWNER), BUFFER(GRID_PLACE), BUFFER(PLACES), INTEGER(n),
           INTEGER(grid->size[0]), INTEGER(grid->size[1]));
    if (result == CUTIS_OK) result = place_flags(gpu, n, &system->levels[0]);
    LAUNCH(nodes, n, BUFFER(OWNER), BUFFER(GRID_PLACE), BUFFER(PLACES), BUFFER(NODE), BUFFER(VOXEL),
           BUFFER(CELL), INTEGER(n), INTEGER(grid->size[0]), INTEGER(grid->size[1]));
    LAUNCH(map, (uint32_t)grid->dense_count, BUFFER(GRID_INDEX), BUFFER(NODE), BUFFER(MAP));
    return result;
}

// Blocks of the level that is the last so far. `coarse`: their level, if it is coarser.
static cutis_result number_blocks(cutis_handles_gpu *gpu, cutis_handles_system *system,
                                  const uint32_t *size, cutis_handles_level *coarse)
{
    const uint32_t l = system->level_count, at = gpu->level_at[l - 1];
    const uint32_t fine = system->levels[l - 1].count, to = at + fine;
    const uint32_t blocks = (size[0] + 1) / 2 * ((size[1] + 1) / 2) * ((size[2] + 1) / 2);
    const uint32_t list = gpu->list_at[l - 1] + fine + 1;
    cutis_result result = CUTIS_OK;
    LAUNCH(firsts, blocks, BUFFER(MAP), BUFFER(FIRST_CHILD), INTEGER(size[0]), INTEGER(size[1]),
           INTEGER(size[2]));
    LAUNCH(heads, fine, BUFFER(CELL), BUFFER(FIRST_CHILD), BUFFER(PLACES), INTEGER(at),
           INTEGER(fine), INTEGER(size[0]), INTEGER(size[1]));
    if (result == CUTIS_OK) result = place_flags(gpu, fine, coarse);
    if (result != CUTIS_OK || coarse->count == fine) return result;
    gpu->level_at[l] = to, gpu->list_at[l] = list;
    LAUNCH(blocks, blocks, BUFFER(FIRST_CHILD), BUFFER(PLACES), BUFFER(COARSE_MAP), BUFFER(CELL),
           INTEGER(to), INTEGER(fine), INTEGER(size[0]), INTEGER(size[1]));
    LAUNCH(family, coarse->count, BUFFER(MAP), BUFFER(CELL), BUFFER(FAMILY), INTEGER(to),
           INTEGER(size[0]), INTEGER(size[1]), INTEGER(size[2]));
    if (result == CUTIS_OK)
        result = cutis_compute_scan(gpu->device, gpu->buffers[FAMILY], coarse->count);
    LAUNCH(children, coarse->count + 1, BUFFER(MAP), BUFFER(CELL), BUFFER(FAMILY),
           BUFFER(CHILD_FIRST), BUFFER(CHILD), BUFFER(PARENT), INTEGER(at), INTEGER(to),
           INTEGER(list), INTEGER(coarse->count), INTEGER(size[0]), INTEGER(size[1]),
           INTEGER(size[2]));
    swap(gpu, MAP, COARSE_MAP);
    return result;
}

cutis_result cutis_handles_gpu_levels(cutis_handles_gpu *gpu, const cutis_handles_grid *grid,
                                      cutis_handles_system *out)
{
    uint32_t size[3];
    *out = (cutis_handles_system){ .grid = grid, .level_count = 1 };
    for (int c = 0; c < 3; c++) size[c] = grid->size[c];
    gpu->level_at[0] = gpu->list_at[0] = 0;
    cutis_result result = make_room(gpu, grid);
    if (result == CUTIS_OK) result = number_finest(gpu, out);
    while (result == CUTIS_OK && out->level_count < CUTIS_HANDLES_LEVELS) {
        const uint32_t fine = out->levels[out->level_count - 1].count;
        if (fine <= CUTIS_HANDLES_COARSE) break;
        cutis_handles_level coarse;
        result = number_blocks(gpu, out, size, &coarse);
        if (result != CUTIS_OK || coarse.count == fine) break;
        out->levels[out->level_count++] = coarse;
        for (int c = 0; c < 3; c++) size[c] = (size[c] + 1) / 2;
    }
    out->visits = cutis_handles_visits(out);
    return result;
}
