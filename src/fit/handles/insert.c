// Insertion of virtual handles on a CPU: candidates are marched from in order of distance, until
// the front meets a core, so a support costs what it covers. Batches are of fixed size and are
// accepted in order: the same list for any number of threads, and the one that sweeps give.
#include "fit/handles/insert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fit/handles/text.h"
#include "geometry/heap.h"

#define BATCH CUTIS_HANDLES_BATCH

typedef struct insertion {
    cutis_handles_insertion *in;
    float *cover;     ///< per voxel: least distance / radius
    uint8_t *in_core; ///< per voxel
    uint32_t batch[BATCH];
    double batch_radius[BATCH];
} insertion;

// March from a voxel until the front meets a core, or as far as the largest support goes.
static void virtual_task(void *data, uint32_t task)
{
    insertion *i = data;
    cutis_handles_insertion *in = i->in;
    cutis_handles_front *front = &in->fronts[task];
    cutis_handles_segment point;
    const cutis_handles_site site = { .segments = &point, .segment_count = 1 };
    cutis_handles_voxel_centre(in->grid, i->batch[task], point.a);
    memcpy(point.b, point.a, sizeof point.b);
    cutis_handles_front_clear(front);
    cutis_handles_front_start(front, &site, 0);
    double radius = in->radius_max;
    for (;;) {
        uint32_t voxel = cutis_handles_front_step(front);
        if (voxel == CUTIS_HANDLES_NONE || front->distance[voxel] >= radius) break;
        if (!i->in_core[voxel]) continue;
        radius =
            fmin(radius, fmax(CUTIS_HANDLES_SUPPORT * front->distance[voxel], in->radius_least));
        if (front->distance[voxel] >= radius) break;
    }
    // The last voxels passed are at the radius or beyond, where the support ends.
    while (front->reached_count &&
           front->distance[front->reached[front->reached_count - 1]] >= radius)
        front->reached_count--;
    i->batch_radius[task] = radius;
}

static bool accept(insertion *i, uint32_t task)
{
    const cutis_handles_front *front = &i->in->fronts[task];
    cutis_handles_inserted handle = { .voxel = i->batch[task],
                                      .radius = i->batch_radius[task],
                                      .entry_count = front->reached_count };
    handle.entries = cutis_arena_alloc(i->in->scratch, handle.entry_count, sizeof *handle.entries);
    if (!handle.entries) return false;
    for (uint32_t e = 0; e < handle.entry_count; e++) {
        const uint32_t voxel = front->reached[e];
        const float ratio = handles_ratio(front->distance[voxel], handle.radius);
        handle.entries[e] = (cutis_handles_entry){ voxel, ratio };
        if (ratio < i->cover[voxel]) i->cover[voxel] = ratio;
    }
    return cutis_handles_insert(i->in, handle);
}

// Voxels that wait by their cover, negated: its maxima by falling cover, or the one where it is
// worst.
static cutis_result find_candidates(insertion *i, uint32_t *peaks, cutis_waiting *out,
                                    uint32_t *count)
{
    if (i->in->options->serial) {
        *out = (cutis_waiting){ 0, 0 };
        for (uint32_t v = 0; v < i->in->grid->voxel_count; v++)
            if (-i->cover[v] < out->distance) *out = (cutis_waiting){ -i->cover[v], v };
        *count = -out->distance > HANDLES_TAU;
        return CUTIS_OK;
    }
    TRY(cutis_handles_peaks(i->in, peaks, count));
    for (uint32_t c = 0; c < *count; c++) out[c] = (cutis_waiting){ -i->cover[peaks[c]], peaks[c] };
    qsort(out, *count, sizeof *out, cutis_heap_order);
    return CUTIS_OK;
}

static cutis_result insert_round(insertion *i, const cutis_waiting *list, uint32_t count)
{
    for (uint32_t next = 0; next < count;) {
        uint32_t used = 0;
        for (; next < count && used < BATCH; next++)
            if (i->cover[list[next].vertex] > HANDLES_TAU) i->batch[used++] = list[next].vertex;
        cutis_device_run(i->in->work->device, virtual_task, i, used);
        for (uint32_t t = 0; t < used; t++)
            if (i->cover[i->batch[t]] > HANDLES_TAU && !accept(i, t))
                return cutis_alloc_result(i->in->scratch->context);
    }
    return CUTIS_OK;
}

cutis_result cutis_handles_insert_march(cutis_handles_insertion *in)
{
    insertion i = { .in = in };
    cutis_context *context = in->scratch->context;
    const size_t n = in->grid->voxel_count;
    cutis_waiting *list = cutis_arena_alloc(in->scratch, n, sizeof *list);
    uint32_t *peaks = cutis_arena_alloc(in->scratch, n, sizeof *peaks), count = 1;
    i.in_core = cutis_arena_zero(in->scratch, n, 1);
    if (!list || !peaks || !i.in_core) return cutis_alloc_result(context);
    for (size_t c = 0; c < in->sites->core_count; c++) i.in_core[in->sites->cores[c]] = 1;
    TRY(cutis_handles_cover_sites(in, 0));
    i.cover = cutis_handles_memory(in->work->buffers.cover);
    for (;;) {
        TRY(find_candidates(&i, peaks, list, &count));
        if (count == 0) return CUTIS_OK;
        in->out->round_count++;
        TRY(insert_round(&i, list, count));
        TRY(cutis_progress(context, "virtual handles", 1 - 1.0 / (1 + in->out->round_count)));
    }
}

// Lists -----------------------------------------------------------------------------------------

// A site's basis at a voxel. Components without a site follow one as a whole.
static float site_value(const cutis_handles_insertion *in, uint32_t s, size_t v)
{
    const float *fields = cutis_handles_memory(in->work->buffers.site_fields);
    if (in->label[v] == CUTIS_HANDLES_NONE) return s == in->owner[v];
    return (float)handles_basis(
        handles_ratio(fields[(size_t)in->slot[s] * in->grid->voxel_count + v], in->site_radius[s]));
}

// Sites, then virtual handles, both ascending: counted, then written.
cutis_result cutis_handles_lists_march(cutis_handles_insertion *in)
{
    cutis_handles_virtual *out = in->out;
    cutis_handles_buffers *b = &in->work->buffers;
    const uint32_t n = in->grid->voxel_count, sites = in->sites->site_count;
    uint32_t *first = cutis_arena_zero(in->arena, (size_t)n + 1, sizeof *first);
    if (!first) return cutis_alloc_result(in->arena->context);
    for (size_t v = 0; v < n; v++)
        for (uint32_t s = 0; s < sites; s++) first[v + 1] += site_value(in, s, v) > 0;
    for (const cutis_handles_inserted *h = in->inserted; h < in->inserted + out->virtual_count; h++)
        for (uint32_t e = 0; e < h->entry_count; e++)
            first[h->entries[e].voxel + 1] += (float)handles_basis(h->entries[e].ratio) > 0;
    for (size_t v = 0; v < n; v++) first[v + 1] += first[v];
    const uint64_t total = first[n];
    uint32_t *handle = cutis_arena_alloc(in->arena, total, sizeof *handle);
    float *value = cutis_arena_alloc(in->arena, total, sizeof *value);
    if (!handle || !value) return cutis_alloc_result(in->arena->context);
    for (size_t v = 0; v < n; v++)
        for (uint32_t s = 0; s < sites; s++) {
            const float own = site_value(in, s, v);
            if (own > 0) handle[first[v]] = s, value[first[v]++] = own;
        }
    for (uint32_t h = 0; h < out->virtual_count; h++)
        for (uint32_t e = 0; e < in->inserted[h].entry_count; e++) {
            const cutis_handles_entry *entry = &in->inserted[h].entries[e];
            const float own = (float)handles_basis(entry->ratio);
            uint32_t *at = &first[entry->voxel];
            if (own > 0) handle[*at] = sites + h, value[(*at)++] = own;
        }
    for (size_t v = n; v > 0; v--) first[v] = first[v - 1];
    first[0] = 0;
    out->list_first = first, out->list_handle = handle, out->list_value = value;
    TRY(cutis_handles_give(in->work, &b->list_first, first, (uint64_t)n + 1, 4));
    TRY(cutis_handles_give(in->work, &b->list_handle, handle, total, 4));
    return cutis_handles_give(in->work, &b->list_value, value, total, 4);
}
