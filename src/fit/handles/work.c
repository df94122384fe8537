// Buffers of handle weights. Invariant: a buffer is at least as large as was asked for, and one
// that could not be made is NULL, so a solve that failed leaves nothing half there.
#include "fit/handles/work.h"

#include <string.h>

#include "fit/handles/site.h"

#define LIST_MOST 256

_Static_assert(sizeof(cutis_handles_buffers) % sizeof(cutis_buffer *) == 0, "nothing but pointers");

void cutis_handles_work_init(cutis_handles_work *work, cutis_device *device, cutis_context *context)
{
    *work = (cutis_handles_work){ .device = device,
                                  .context = context,
                                  .sweeps = device->operations->compute_run != NULL,
                                  .list_most = LIST_MOST };
}

// What every solve takes, and what each weighting does.
static const cutis_compute_kernel *const BOTH[] = {
    &cutis_compute_fill_words,     &cutis_compute_handles_corners, &cutis_compute_handles_flood,
    &cutis_compute_handles_links,  &cutis_compute_handles_names,   &cutis_compute_handles_number,
    &cutis_compute_handles_pieces, &cutis_compute_handles_roots,   &cutis_compute_handles_rows,
    &cutis_compute_handles_sample, &cutis_compute_handles_start,   &cutis_compute_handles_surfaces,
    &cutis_compute_handles_sweep,  &cutis_compute_scan_spread,     &cutis_compute_scan_sums,
};
static const cutis_compute_kernel *const FIELD[] = {
    &cutis_compute_handles_advance,   &cutis_compute_handles_apply,
    &cutis_compute_handles_begin,     &cutis_compute_handles_coarse,
    &cutis_compute_handles_coarsest,  &cutis_compute_handles_conduct,
    &cutis_compute_handles_direction, &cutis_compute_handles_done,
    &cutis_compute_handles_dot,       &cutis_compute_handles_find_alpha,
    &cutis_compute_handles_find_beta, &cutis_compute_handles_finest,
    &cutis_compute_handles_gather,    &cutis_compute_handles_nodes,
    &cutis_compute_handles_normalise, &cutis_compute_handles_prolong,
    &cutis_compute_handles_restrict,  &cutis_compute_handles_smooth,
    &cutis_compute_handles_split,     &cutis_compute_handles_worst,
};
static const cutis_compute_kernel *const VIRTUAL[] = {
    &cutis_compute_handles_apart, &cutis_compute_handles_around,  &cutis_compute_handles_borders,
    &cutis_compute_handles_bound, &cutis_compute_handles_boxes,   &cutis_compute_handles_clash,
    &cutis_compute_handles_cover, &cutis_compute_handles_faces,   &cutis_compute_handles_fields,
    &cutis_compute_handles_fold,  &cutis_compute_handles_gain,    &cutis_compute_handles_keep,
    &cutis_compute_handles_near,  &cutis_compute_handles_pack,    &cutis_compute_handles_peaks,
    &cutis_compute_handles_rank,  &cutis_compute_handles_scatter, &cutis_compute_handles_support,
};

cutis_result cutis_handles_prepare(cutis_handles_work *work, cutis_weighting weighting)
{
    const cutis_compute_kernel *all[64];
    const bool field = weighting == CUTIS_WEIGHTING_FIELD;
    const size_t both = sizeof BOTH / sizeof *BOTH;
    const size_t more = field ? sizeof FIELD / sizeof *FIELD : sizeof VIRTUAL / sizeof *VIRTUAL;
    _Static_assert(sizeof BOTH + sizeof FIELD <= sizeof all &&
                       sizeof BOTH + sizeof VIRTUAL <= sizeof all,
                   "room");
    memcpy(all, BOTH, sizeof BOTH);
    memcpy(all + both, field ? FIELD : VIRTUAL, more * sizeof *all);
    return cutis_compute_prepare(work->device, all, (uint32_t)(both + more));
}

void cutis_handles_work_release(cutis_handles_work *work)
{
    cutis_buffer **all = (cutis_buffer **)(void *)&work->buffers;
    for (size_t b = 0; b < sizeof work->buffers / sizeof *all; b++) cutis_handles_drop(&all[b]);
    if (work->device) cutis_handles_forget(work);
}

void cutis_handles_forget(cutis_handles_work *work)
{
    cutis_context *context = work->context;
    for (uint32_t i = 0; i < work->slot_count; i++)
        cutis_free_array(context, work->slots[i].segments, work->slots[i].segment_count,
                         sizeof *work->slots[i].segments);
    cutis_free_array(context, work->slots, work->slot_count, sizeof *work->slots);
    work->slots = NULL;
    work->slot_count = 0;
}

void cutis_handles_drop(cutis_buffer **buffer)
{
    cutis_buffer_destroy(*buffer);
    *buffer = NULL;
}

void cutis_handles_swap(cutis_buffer **a, cutis_buffer **b)
{
    cutis_buffer *other = *a;
    *a = *b;
    *b = other;
}

static cutis_result reserve(cutis_handles_work *work, cutis_buffer **buffer, uint64_t size)
{
    if (*buffer && (*buffer)->size >= size) return CUTIS_OK;
    cutis_handles_drop(buffer);
    // A little more than asked for: a moved handle changes counts by a few.
    return cutis_buffer_create(work->device, size + size / 8 + 8, buffer);
}

cutis_result cutis_handles_reserve(cutis_handles_work *work, const cutis_handles_reservation *list,
                                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        TRY(reserve(work, list[i].buffer, list[i].count * list[i].item));
    return CUTIS_OK;
}

cutis_result cutis_handles_reserve_zero(cutis_handles_work *work, cutis_buffer **buffer,
                                        uint64_t count, uint32_t item)
{
    if (*buffer && (*buffer)->size >= count * item) return CUTIS_OK;
    TRY(reserve(work, buffer, count * item));
    return cutis_handles_fill(work, *buffer, (*buffer)->size / 4, 0);
}

cutis_result cutis_handles_over(cutis_handles_work *work, cutis_buffer **buffer, const void *array,
                                uint64_t count, uint32_t item)
{
    if (work->sweeps || count == 0) return reserve(work, buffer, count * item);
    cutis_handles_drop(buffer);
    return cutis_buffer_wrap(work->device, (uint64_t)(uintptr_t)array, count * item, buffer);
}

cutis_result cutis_handles_give(cutis_handles_work *work, cutis_buffer **buffer, const void *array,
                                uint64_t count, uint32_t item)
{
    TRY(cutis_handles_over(work, buffer, array, count, item));
    if (count == 0 || cutis_handles_memory(*buffer) == array) return CUTIS_OK;
    return cutis_buffer_write(*buffer, 0, array, count * item);
}

cutis_result cutis_handles_fetch(cutis_buffer *buffer, void *array, uint64_t size)
{
    if (cutis_handles_memory(buffer) == array) return CUTIS_OK;
    return cutis_buffer_read(buffer, 0, array, size);
}

cutis_result cutis_handles_fill(const cutis_handles_work *work, cutis_buffer *buffer,
                                uint64_t words, int32_t value)
{
    return fill_words_run(work->device, (uint32_t)words, (fill_words_buffers){ .words = buffer },
                          (fill_words_arguments){ .value = value });
}

cutis_result cutis_handles_flag(const cutis_handles_work *work, bool *set)
{
    int32_t value = 0;
    TRY(cutis_buffer_read(work->buffers.flag, 0, &value, sizeof value));
    *set = value != 0;
    return CUTIS_OK;
}
