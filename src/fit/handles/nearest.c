// Distances to the nearest handle: a CPU marches tile by tile, a GPU sweeps all voxels until none
// changes. Invariant: both end in the one solution that no step lowers any more, and voxels as near
// to two handles go to the lower one: the same floats and labels.
#include "fit/handles/distance.h"

#include <string.h>

#include "base/error.h"

// A virtual handle is a site of one point.
static cutis_handles_segment point_segment(const cutis_handles_grid *grid, uint32_t voxel)
{
    cutis_handles_segment point;
    cutis_handles_voxel_centre(grid, voxel, point.a);
    memcpy(point.b, point.a, sizeof point.b);
    return point;
}

static cutis_result march(cutis_handles_work *work, const cutis_handles_grid *grid,
                          const cutis_handles_sites *sites, uint32_t virtual_count,
                          const uint32_t *voxel, cutis_handles_front *front)
{
    cutis_handles_front_clear(front);
    for (uint32_t s = 0; s < sites->site_count; s++)
        cutis_handles_front_start(front, &sites->sites[s], s);
    for (uint32_t h = 0; h < virtual_count; h++) {
        cutis_handles_segment point = point_segment(grid, voxel[h]);
        const cutis_handles_site site = { .segments = &point, .segment_count = 1 };
        cutis_handles_front_start(front, &site, sites->site_count + h);
    }
    cutis_handles_front_finish(front);
    TRY(cutis_handles_give(work, &work->buffers.distance, front->distance, grid->voxel_count, 4));
    return cutis_handles_give(work, &work->buffers.label, front->label, grid->voxel_count, 4);
}

// Sweeps ----------------------------------------------------------------------------------------

typedef struct starting {
    float *distance;
    uint32_t *label;
    uint32_t site;
} starting;

static void start_voxel(void *user, uint32_t voxel, float distance)
{
    const starting *s = user;
    if (distance > s->distance[voxel] ||
        (distance == s->distance[voxel] && s->site >= s->label[voxel]))
        return;
    s->distance[voxel] = distance;
    s->label[voxel] = s->site;
}

static cutis_result give_segments(cutis_handles_work *work, cutis_arena *scratch,
                                  const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                                  uint32_t virtual_count, const uint32_t *voxel)
{
    cutis_handles_buffers *b = &work->buffers;
    size_t count = virtual_count, at = 0;
    for (uint32_t s = 0; s < sites->site_count; s++) count += sites->sites[s].segment_count;
    cutis_handles_segment *segments = cutis_arena_alloc(scratch, count, sizeof *segments);
    uint32_t *labels = cutis_arena_alloc(scratch, count, sizeof *labels);
    uint32_t *first = cutis_arena_alloc(scratch, 2, sizeof *first);
    if (!segments || !labels || !first) return cutis_alloc_result(scratch->context);
    for (uint32_t s = 0; s < sites->site_count; s++)
        for (size_t g = 0; g < sites->sites[s].segment_count; g++, at++)
            segments[at] = sites->sites[s].segments[g], labels[at] = s;
    for (uint32_t h = 0; h < virtual_count; h++, at++)
        segments[at] = point_segment(grid, voxel[h]), labels[at] = sites->site_count + h;
    first[0] = 0, first[1] = (uint32_t)count;
    TRY(cutis_handles_give(work, &b->segments, segments, 6 * count, 8));
    TRY(cutis_handles_give(work, &b->segment_labels, labels, count, 4));
    return cutis_handles_give(work, &b->segment_first, first, 2, 4);
}

// Voxels that sites pass through start whatever they see; the kernel does the ones around them.
static cutis_result start_sweeps(cutis_handles_work *work, cutis_arena *scratch,
                                 const cutis_handles_grid *grid, const cutis_handles_sites *sites)
{
    cutis_handles_buffers *b = &work->buffers;
    const uint32_t n = grid->voxel_count;
    starting s = { .distance = cutis_arena_alloc(scratch, n, sizeof *s.distance),
                   .label = cutis_arena_alloc(scratch, n, sizeof *s.label) };
    if (!s.distance || !s.label) return cutis_alloc_result(scratch->context);
    for (uint32_t v = 0; v < n; v++)
        s.distance[v] = HANDLES_INFINITY, s.label[v] = CUTIS_HANDLES_NONE;
    for (; s.site < sites->site_count; s.site++)
        cutis_handles_site_visit(grid, &sites->sites[s.site], start_voxel, &s);
    TRY(RESERVE(work, { &b->distance, n, 4 }, { &b->label, n, 4 }, { &b->other_distance, n, 4 },
                { &b->other_label, n, 4 }));
    TRY(cutis_buffer_write(b->distance, 0, s.distance, 4ull * n));
    TRY(cutis_buffer_write(b->label, 0, s.label, 4ull * n));
    TRY(cutis_handles_give(work, &b->start, s.distance, n, 4));
    TRY(cutis_handles_give(work, &b->start_label, s.label, n, 4));
    return handles_start_run(
        work->device, (n + HANDLES_UNIT - 1) / HANDLES_UNIT * HANDLES_UNIT,
        (handles_start_buffers){ .index = b->sight ? b->sight : b->index,
                                 .place = b->place,
                                 .segments = b->segments,
                                 .segment_labels = b->segment_labels,
                                 .segment_first = b->segment_first,
                                 .start = b->start,
                                 .start_label = b->start_label },
        (handles_start_arguments){ .grid = cutis_handles_grid_given(grid),
                                   .reach = CUTIS_HANDLES_EXACT_STEPS * grid->step });
}

static cutis_result sweep(cutis_handles_work *work, cutis_arena *scratch,
                          const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                          uint32_t virtual_count, const uint32_t *voxel)
{
    cutis_handles_buffers *b = &work->buffers;
    TRY(give_segments(work, scratch, grid, sites, virtual_count, voxel));
    TRY(start_sweeps(work, scratch, grid, sites));
    for (bool changed = true; changed;) {
        TRY(cutis_handles_fill(work, b->flag, 1, 0));
        for (int i = 0; i < CUTIS_HANDLES_SWEEPS_A_LOOK; i++) {
            TRY(LAUNCH(handles_sweep, work, grid->voxel_count,
                       .grid = cutis_handles_grid_given(grid)));
            cutis_handles_swap(&b->distance, &b->other_distance);
            cutis_handles_swap(&b->label, &b->other_label);
        }
        TRY(cutis_handles_flag(work, &changed));
        TRY(cutis_progress(scratch->context, "distances", 0.5));
    }
    return CUTIS_OK;
}

cutis_result cutis_handles_nearest(cutis_handles_work *work, cutis_arena *scratch,
                                   const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                                   uint32_t virtual_count, const uint32_t *voxel,
                                   cutis_handles_front *front)
{
    cutis_handles_front own;
    int32_t *bars = cutis_arena_alloc(scratch, sites->site_count, sizeof *bars);
    if (!bars) return cutis_alloc_result(scratch->context);
    for (uint32_t s = 0; s < sites->site_count; s++) bars[s] = sites->sites[s].bar;
    TRY(cutis_handles_give(work, &work->buffers.bars, bars, sites->site_count, 4));
    if (work->sweeps) return sweep(work, scratch, grid, sites, virtual_count, voxel);
    if (!front && !cutis_handles_front_init(scratch, grid, &own))
        return cutis_alloc_result(scratch->context);
    return march(work, grid, sites, virtual_count, voxel, front ? front : &own);
}
