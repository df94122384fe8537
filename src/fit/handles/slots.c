// Distance fields of sites, kept from solve to solve: a handle that stays need not be marched from
// again. A CPU marches them one by one, a GPU sweeps many at once. Invariant: a slot that names a
// site's segments holds the field of exactly those.
#include <string.h>

#include "base/error.h"
#include "fit/handles/insert.h"

#define FIELDS_MAX   512                 ///< swept together
#define FIELD_FLOATS (UINT64_C(1) << 26) ///< of all of them, in one buffer

// Slots -----------------------------------------------------------------------------------------

// Memory for more fields; those that are there stay.
static cutis_result grow_slots(cutis_handles_insertion *in, uint32_t wanted)
{
    cutis_handles_work *work = in->work;
    cutis_handles_buffers *b = &work->buffers;
    cutis_context *context = work->context;
    const uint32_t count = wanted + wanted / 2 + 2, n = in->grid->voxel_count;
    uint32_t *same = cutis_arena_alloc(in->scratch, work->slot_count, sizeof *same);
    cutis_buffer *fields = NULL;
    if (!same) return cutis_alloc_result(context);
    if ((uint64_t)work->slot_count * n > INT32_MAX) cutis_handles_forget(work);
    for (uint32_t i = 0; i < work->slot_count; i++) same[i] = i;
    TRY(cutis_handles_give(work, &b->new_slot, same, work->slot_count, 4));
    cutis_handles_slot *slots = cutis_alloc_zero(context, count, sizeof *slots);
    if (!slots) return cutis_alloc_result(context);
    cutis_result result =
        cutis_buffer_create(work->device, (uint64_t)count * n * sizeof(float) + 4, &fields);
    if (result == CUTIS_OK)
        result = handles_keep_run(
            work->device, work->slot_count * n,
            (handles_keep_buffers){
                .field = b->site_fields, .new_slot = b->new_slot, .site_fields = fields },
            (handles_keep_arguments){ .grid = cutis_handles_grid_given(in->grid) });
    if (result != CUTIS_OK) {
        cutis_handles_drop(&fields);
        cutis_free_array(context, slots, count, sizeof *slots);
        return result;
    }
    for (uint32_t i = 0; i < work->slot_count; i++) slots[i] = work->slots[i];
    cutis_free_array(context, work->slots, work->slot_count, sizeof *slots);
    cutis_handles_drop(&b->site_fields);
    b->site_fields = fields;
    work->slots = slots;
    work->slot_count = count;
    return CUTIS_OK;
}

static bool same_site(const cutis_handles_slot *slot, const cutis_handles_site *site)
{
    return slot->segments && slot->segment_count == site->segment_count &&
           memcmp(slot->segments, site->segments, site->segment_count * sizeof *site->segments) ==
               0;
}

static bool take_slot(cutis_context *context, const cutis_handles_site *site,
                      cutis_handles_slot *slot)
{
    cutis_free_array(context, slot->segments, slot->segment_count, sizeof *slot->segments);
    *slot = (cutis_handles_slot){ .used = true };
    slot->segments = cutis_alloc_array(context, site->segment_count, sizeof *site->segments);
    if (!slot->segments) return false;
    slot->segment_count = site->segment_count;
    memcpy(slot->segments, site->segments, site->segment_count * sizeof *site->segments);
    return true;
}

// Where each site's field is or will be; `fresh` lists the sites that must be marched.
static cutis_result find_slots(cutis_handles_insertion *in, uint32_t *fresh, uint32_t *fresh_count)
{
    cutis_handles_work *work = in->work;
    const cutis_handles_sites *sites = in->sites;
    uint32_t *slot = in->slot;
    if (work->slot_count < sites->site_count) TRY(grow_slots(in, sites->site_count));
    for (uint32_t i = 0; i < work->slot_count; i++) work->slots[i].used = false;
    *fresh_count = 0;
    for (uint32_t s = 0; s < sites->site_count; s++) {
        slot[s] = 0;
        while (slot[s] < work->slot_count && !same_site(&work->slots[slot[s]], &sites->sites[s]))
            slot[s]++;
        if (slot[s] < work->slot_count)
            work->slots[slot[s]].used = true;
        else
            fresh[(*fresh_count)++] = s;
    }
    for (uint32_t i = 0, next = 0; i < *fresh_count; i++) {
        while (work->slots[next].used) next++;
        slot[fresh[i]] = next;
        if (!take_slot(work->context, &sites->sites[fresh[i]], &work->slots[next]))
            return cutis_alloc_result(work->context);
    }
    return cutis_handles_give(work, &work->buffers.slot, slot, sites->site_count, 4);
}

// Marching --------------------------------------------------------------------------------------

typedef struct marching {
    cutis_handles_insertion *in;
    const uint32_t *fresh;
    uint32_t count;
} marching;

static void march_task(void *data, uint32_t task)
{
    const marching *m = data;
    cutis_handles_insertion *in = m->in;
    cutis_handles_front *front = &in->fronts[task];
    const size_t n = in->grid->voxel_count;
    float *fields = cutis_handles_memory(in->work->buffers.site_fields);
    for (uint32_t i = task; i < m->count; i += CUTIS_HANDLES_BATCH) {
        const uint32_t s = m->fresh[i];
        cutis_handles_front_start(front, &in->sites->sites[s], 0);
        cutis_handles_front_finish(front);
        memcpy(fields + in->slot[s] * n, front->distance, n * sizeof *fields);
        cutis_handles_front_clear(front);
    }
}

// Sweeping --------------------------------------------------------------------------------------

uint32_t cutis_handles_sweep_most(const cutis_handles_grid *grid)
{
    const uint64_t fit = FIELD_FLOATS / (grid->voxel_count + UINT64_C(1));
    return (uint32_t)(fit < 1 ? 1 : fit > FIELDS_MAX ? FIELDS_MAX : fit);
}

cutis_result cutis_handles_reserve_sweep(cutis_handles_insertion *in, uint32_t count)
{
    cutis_handles_buffers *b = &in->work->buffers;
    const uint64_t words = (uint64_t)count * in->grid->voxel_count;
    TRY(RESERVE(in->work, { &b->field, words, 4 }, { &b->other_field, words, 4 },
                { &b->bound, count, 4 }));
    TRY(cutis_handles_fill(in->work, b->field, words, HANDLES_UNREACHED));
    return cutis_handles_fill(in->work, b->other_field, words, HANDLES_UNREACHED);
}

cutis_result cutis_handles_sweep_fields(cutis_handles_insertion *in, uint32_t count,
                                        uint32_t unit_count)
{
    const cutis_handles_work *work = in->work;
    cutis_handles_buffers *b = &in->work->buffers;
    const handles_grid grid = cutis_handles_grid_given(in->grid);
    const cutis_buffer *units = unit_count ? b->units : NULL;
    const uint32_t all = count * ((in->grid->voxel_count + HANDLES_UNIT - 1) / HANDLES_UNIT);
    const uint32_t items = HANDLES_UNIT * (unit_count ? unit_count : all);
    // Candidates' fields end after a few dozen sweeps, sites' after hundreds.
    const int look = CUTIS_HANDLES_SWEEPS_A_LOOK / (unit_count ? 2 : 1);
    TRY(handles_start_run(
        work->device, items,
        (handles_start_buffers){ .units = units,
                                 .index = b->sight ? b->sight : b->index,
                                 .place = b->place,
                                 .segments = b->segments,
                                 .segment_first = b->segment_first,
                                 .start = b->field },
        (handles_start_arguments){ .grid = grid, .reach = CUTIS_HANDLES_EXACT_STEPS * grid.step }));
    for (bool changed = true; changed;) {
        TRY(cutis_handles_fill(work, b->flag, 1, 0));
        for (int i = 0; i < look; i++) {
            TRY(handles_fields_run(work->device, items,
                                   (handles_fields_buffers){ .units = units,
                                                             .neighbour = b->neighbour,
                                                             .bound = b->bound,
                                                             .field = b->field,
                                                             .other_field = b->other_field,
                                                             .flag = b->flag },
                                   (handles_fields_arguments){ .grid = grid }));
            cutis_handles_swap(&b->field, &b->other_field);
        }
        TRY(cutis_handles_flag(work, &changed));
        TRY(cutis_progress(in->scratch->context, "distances", 0.5));
    }
    return CUTIS_OK;
}

/// Voxels that sites pass through, of several fields.
typedef struct seeds {
    uint32_t field_first; ///< place of the field's first voxel
    uint32_t *place;
    float *value;
    size_t count;
} seeds;

static void count_seed(void *user, uint32_t voxel, float distance)
{
    (void)voxel, (void)distance;
    ((seeds *)user)->count++;
}

static void add_seed(void *user, uint32_t voxel, float distance)
{
    seeds *s = user;
    s->place[s->count] = s->field_first + voxel;
    s->value[s->count++] = distance;
}

// Segments of `count` sites, and the voxels that they pass through.
static cutis_result give_fresh(cutis_handles_insertion *in, const uint32_t *fresh, uint32_t count)
{
    cutis_handles_work *work = in->work;
    cutis_handles_buffers *b = &work->buffers;
    uint32_t *first = cutis_arena_alloc(in->scratch, (size_t)count + 1, sizeof *first);
    size_t segment_count = 0;
    seeds s = { 0 };
    for (uint32_t k = 0; k < count; k++) {
        segment_count += in->sites->sites[fresh[k]].segment_count;
        cutis_handles_site_visit(in->grid, &in->sites->sites[fresh[k]], count_seed, &s);
    }
    cutis_handles_segment *segments =
        cutis_arena_alloc(in->scratch, segment_count, sizeof *segments);
    s.place = cutis_arena_alloc(in->scratch, s.count, sizeof *s.place);
    s.value = cutis_arena_alloc(in->scratch, s.count, sizeof *s.value);
    if (!first || !segments || !s.place || !s.value)
        return cutis_alloc_result(in->scratch->context);
    first[0] = 0;
    s.count = 0;
    for (uint32_t k = 0; k < count; k++, s.field_first += in->grid->voxel_count) {
        const cutis_handles_site *site = &in->sites->sites[fresh[k]];
        memcpy(segments + first[k], site->segments, site->segment_count * sizeof *segments);
        first[k + 1] = first[k] + (uint32_t)site->segment_count;
        cutis_handles_site_visit(in->grid, site, add_seed, &s);
    }
    TRY(cutis_handles_give(work, &b->segments, segments, 6 * segment_count, 8));
    TRY(cutis_handles_give(work, &b->segment_first, first, (uint64_t)count + 1, 4));
    TRY(cutis_handles_give(work, &b->seed, s.place, s.count, 4));
    TRY(cutis_handles_give(work, &b->seed_value, s.value, s.count, 4));
    return handles_scatter_launch(work, (uint32_t)s.count, (handles_scatter_arguments){ 0 });
}

static cutis_result sweep_sites(cutis_handles_insertion *in, const uint32_t *fresh, uint32_t count)
{
    cutis_handles_work *work = in->work;
    cutis_handles_buffers *b = &work->buffers;
    const uint32_t most = cutis_handles_sweep_most(in->grid), n = in->grid->voxel_count;
    uint32_t *to = cutis_arena_alloc(in->scratch, most, sizeof *to);
    if (!to) return cutis_alloc_result(in->scratch->context);
    for (uint32_t first = 0; first < count; first += most) {
        const uint32_t some = count - first < most ? count - first : most;
        for (uint32_t k = 0; k < some; k++) to[k] = in->slot[fresh[first + k]];
        TRY(cutis_handles_reserve_sweep(in, some));
        TRY(cutis_handles_fill(work, b->bound, some, HANDLES_UNREACHED));
        TRY(give_fresh(in, fresh + first, some));
        TRY(cutis_handles_sweep_fields(in, some, 0));
        TRY(cutis_handles_give(work, &b->new_slot, to, some, 4));
        TRY(LAUNCH(handles_keep, work, some * n, .grid = cutis_handles_grid_given(in->grid)));
    }
    return CUTIS_OK;
}

cutis_result cutis_handles_site_fields(cutis_handles_insertion *in)
{
    uint32_t count = 0;
    uint32_t *fresh = cutis_arena_alloc(in->scratch, in->sites->site_count, sizeof *fresh);
    if (!fresh) return cutis_alloc_result(in->scratch->context);
    cutis_result result = find_slots(in, fresh, &count);
    if (result == CUTIS_OK && in->work->sweeps) result = sweep_sites(in, fresh, count);
    if (result == CUTIS_OK && !in->work->sweeps)
        cutis_device_run(in->work->device, march_task, &(marching){ in, fresh, count },
                         CUTIS_HANDLES_BATCH);
    if (result != CUTIS_OK) cutis_handles_forget(in->work); // some may be half marched
    return result;
}
