// Insertion of virtual handles on a GPU: cover, its maxima, fields and supports of many candidates
// at once, and what accepted ones gain are kernels over voxels; the host puts a round's candidates
// in order. Invariant: the same handles, in the same order, as handles/insert.c. Distances are the
// one solution that no step lowers any more, however it is reached; a batch is accepted in order,
// however many are tried at once.
//
// A candidate's field is followed as far as the nearest site is, in units of voxels around it;
// where no core was met by then, twice as far.
#include "fit/handles/insert.h"

#include "base/error.h"

#define LIST_CAPACITY 16 ///< handles that reach a voxel, at first; twice as many if need be
#define CORE_PARTS    16 ///< of all cores, to look at a candidate's distances

typedef struct insertion {
    cutis_handles_insertion *in;
    cutis_handles_work *work;
    cutis_handles_buffers *buffers; ///< the work's
    handles_grid grid;
} insertion;

static cutis_result cover_by_sites(insertion *i)
{
    cutis_handles_buffers *b = i->buffers;
    const uint64_t n = i->in->grid->voxel_count, entries = n * i->in->list_capacity;
    TRY(RESERVE(i->work, { &b->unpacked_count, n, 4 }, { &b->unpacked_handle, entries, 4 },
                { &b->unpacked_value, entries, 4 }, { &b->overflow, 1, 4 }));
    TRY(cutis_handles_fill(i->work, b->overflow, 1, 0));
    return cutis_handles_cover_sites(i->in, i->in->list_capacity);
}

// Maxima of cover by falling cover, in `sorted`.
static cutis_result find_candidates(insertion *i, uint32_t *list, uint32_t *count)
{
    cutis_handles_buffers *b = i->buffers;
    TRY(cutis_handles_peaks(i->in, list, count));
    TRY(RESERVE(i->work, { &b->sorted, *count, 4 }));
    TRY(cutis_handles_give(i->work, &b->candidate, list, *count, 4));
    return LAUNCH(handles_rank, i->work, *count, .count = (int)*count);
}

static cutis_result make_boxes(insertion *i)
{
    cutis_handles_buffers *b = i->buffers;
    const uint32_t units = (i->in->grid->voxel_count + HANDLES_UNIT - 1) / HANDLES_UNIT;
    if (i->work->boxes == i->in->grid->index) return CUTIS_OK;
    TRY(RESERVE(i->work, { &b->boxes, 6ull * units, 4 }));
    TRY(LAUNCH(handles_boxes, i->work, units, .grid = i->grid));
    i->work->boxes = i->in->grid->index;
    return CUTIS_OK;
}

// Units around the candidates, as far as their bounds go.
static cutis_result list_units(insertion *i, cutis_arena *scratch, uint32_t count, uint32_t *used)
{
    cutis_handles_buffers *b = i->buffers;
    const uint32_t units = (i->in->grid->voxel_count + HANDLES_UNIT - 1) / HANDLES_UNIT;
    const uint32_t words = (units + 31) / 32;
    uint32_t *mask = cutis_arena_alloc(scratch, (size_t)count * words, sizeof *mask);
    uint32_t *list = cutis_arena_alloc(scratch, (size_t)count * units, sizeof *list);
    if (!mask || !list) return cutis_alloc_result(scratch->context);
    TRY(make_boxes(i));
    TRY(RESERVE(i->work, { &b->around, (uint64_t)count * words, 4 }));
    TRY(LAUNCH(handles_around, i->work, count * words, .grid = i->grid));
    TRY(cutis_buffer_read(b->around, 0, mask, 4ull * count * words));
    *used = 0;
    for (uint32_t f = 0; f < count; f++)
        for (uint32_t w = 0; w < words; w++)
            for (uint32_t bits = mask[(size_t)f * words + w]; bits; bits &= bits - 1)
                list[(*used)++] = f * units + 32 * w + (uint32_t)__builtin_ctz(bits);
    return cutis_handles_give(i->work, &b->units, list, *used, 4);
}

// Where supports of candidates end, and who covers whom. `again`: some must be followed farther.
static cutis_result find_supports(insertion *i, uint32_t count, bool *again)
{
    cutis_handles_buffers *b = i->buffers;
    const int n = i->grid.voxel_count;
    TRY(cutis_handles_fill(i->work, b->flag, 1, 0));
    TRY(LAUNCH(handles_near, i->work, count * CORE_PARTS,
               .core_count = (int)i->in->sites->core_count, .parts = CORE_PARTS, .voxel_count = n));
    TRY(LAUNCH(handles_support, i->work, count, .part = CUTIS_HANDLES_SUPPORT,
               .least = i->in->radius_least, .most = i->in->radius_max, .parts = CORE_PARTS));
    TRY(LAUNCH(handles_clash, i->work, count * count, .batch = (int)count, .voxel_count = n));
    return cutis_handles_flag(i->work, again);
}

// Fields of candidates [first, first + count) of `sorted` and where their supports end.
static cutis_result march_candidates(insertion *i, uint32_t first, uint32_t count)
{
    cutis_handles_buffers *b = i->buffers;
    TRY(cutis_handles_reserve_sweep(i->in, count));
    TRY(RESERVE(i->work, { &b->segments, 6ull * count, 8 }, { &b->segment_first, count + 1ull, 4 },
                { &b->middle, count, 4 }, { &b->core_distance, (uint64_t)count * CORE_PARTS, 4 },
                { &b->support, 2ull * count, 8 }, { &b->clash, (uint64_t)count * count, 4 }));
    TRY(LAUNCH(handles_bound, i->work, count, .grid = i->grid, .least = i->in->radius_least,
               .most = i->in->radius_max, .first = (int)first,
               .sites = (int)i->in->sites->site_count));
    for (bool again = true; again;) {
        cutis_arena scratch = { .context = i->in->scratch->context };
        uint32_t used = 0;
        cutis_result result = list_units(i, &scratch, count, &used);
        if (result == CUTIS_OK) result = cutis_handles_sweep_fields(i->in, count, used);
        if (result == CUTIS_OK) result = find_supports(i, count, &again);
        cutis_arena_release(&scratch);
        TRY(result);
    }
    return CUTIS_OK;
}

// In order those that neither earlier batches nor accepted ones of this batch cover. @param support
// radius and voxel of each; @param accepted space for count
static bool choose(insertion *i, uint32_t count, const uint32_t *clash, const double *support,
                   uint32_t *accepted, uint32_t *used)
{
    *used = 0;
    for (uint32_t j = 0; j < count; j++) {
        bool covered = clash[(size_t)j * count + j];
        for (uint32_t k = 0; k < *used && !covered; k++)
            covered = clash[(size_t)accepted[k] * count + j];
        if (covered) continue;
        const cutis_handles_inserted handle = { .radius = support[2 * j],
                                                .voxel = (uint32_t)support[2 * j + 1] };
        if (!cutis_handles_insert(i->in, handle)) return false;
        accepted[(*used)++] = j;
    }
    return true;
}

static cutis_result accept_candidates(insertion *i, cutis_arena *scratch, uint32_t count)
{
    cutis_handles_buffers *b = i->buffers;
    const uint32_t before = i->in->out->virtual_count;
    const size_t pairs = (size_t)count * count;
    uint32_t *clash = cutis_arena_alloc(scratch, pairs, sizeof *clash), used = 0;
    uint32_t *accepted = cutis_arena_alloc(scratch, count, sizeof *accepted);
    double *support = cutis_arena_alloc(scratch, count, 2 * sizeof *support);
    if (!clash || !accepted || !support) return cutis_alloc_result(scratch->context);
    TRY(cutis_buffer_read(b->clash, 0, clash, 4 * pairs));
    TRY(cutis_buffer_read(b->support, 0, support, 16ull * count));
    if (!choose(i, count, clash, support, accepted, &used))
        return cutis_alloc_result(scratch->context);
    TRY(cutis_handles_give(i->work, &b->accepted, accepted, used, 4));
    return LAUNCH(handles_gain, i->work, used ? i->in->grid->voxel_count : 0,
                  .accepted_count = (int)used,
                  .first_handle = (int)(i->in->sites->site_count + before),
                  .voxel_count = i->grid.voxel_count, .capacity = (int)i->in->list_capacity);
}

// All rounds; `overflow`: a voxel's list was full.
static cutis_result insert_all(insertion *i, uint32_t *list, bool *overflow)
{
    const uint32_t most = cutis_handles_sweep_most(i->in->grid);
    cutis_context *context = i->in->scratch->context;
    uint32_t *rounds = &i->in->out->round_count;
    TRY(cover_by_sites(i));
    for (uint32_t count;;) {
        TRY(find_candidates(i, list, &count));
        if (count == 0) break;
        (*rounds)++;
        for (uint32_t first = 0; first < count; first += most) {
            cutis_arena scratch = { .context = context };
            const uint32_t some = count - first < most ? count - first : most;
            TRY(march_candidates(i, first, some));
            const cutis_result result = accept_candidates(i, &scratch, some);
            cutis_arena_release(&scratch);
            TRY(result);
        }
        TRY(cutis_progress(context, "virtual handles", 1 - 1.0 / (1 + *rounds)));
    }
    int32_t value = 0;
    TRY(cutis_buffer_read(i->buffers->overflow, 0, &value, sizeof value));
    *overflow = value != 0;
    return CUTIS_OK;
}

cutis_result cutis_handles_insert_sweep(cutis_handles_insertion *in, bool *fits)
{
    insertion i = { .in = in,
                    .work = in->work,
                    .buffers = &in->work->buffers,
                    .grid = cutis_handles_grid_given(in->grid) };
    uint32_t *list = cutis_arena_alloc(in->scratch, in->grid->voxel_count, sizeof *list);
    bool overflow = true;
    if (!list) return cutis_alloc_result(in->scratch->context);
    for (uint32_t capacity = LIST_CAPACITY; overflow && capacity <= in->work->list_most;
         capacity *= 2) {
        in->out->virtual_count = in->out->round_count = 0;
        in->list_capacity = capacity;
        TRY(insert_all(&i, list, &overflow));
    }
    *fits = !overflow;
    return CUTIS_OK;
}

// Lists without gaps.
cutis_result cutis_handles_lists_sweep(cutis_handles_insertion *in)
{
    cutis_handles_buffers *b = &in->work->buffers;
    cutis_handles_virtual *out = in->out;
    const uint32_t n = in->grid->voxel_count;
    uint32_t *first = cutis_arena_alloc(in->arena, (size_t)n + 1, sizeof *first);
    if (!first) return cutis_alloc_result(in->arena->context);
    first[0] = 0;
    TRY(cutis_buffer_read(b->unpacked_count, 0, first + 1, 4ull * n));
    for (size_t v = 0; v < n; v++) first[v + 1] += first[v];
    const uint64_t total = first[n];
    out->list_first = first;
    out->list_handle = cutis_arena_alloc(in->arena, total, sizeof *out->list_handle);
    out->list_value = cutis_arena_alloc(in->arena, total, sizeof *out->list_value);
    if (!out->list_handle || !out->list_value) return cutis_alloc_result(in->arena->context);
    TRY(cutis_handles_give(in->work, &b->list_first, first, (uint64_t)n + 1, 4));
    TRY(RESERVE(in->work, { &b->list_handle, total, 4 }, { &b->list_value, total, 4 }));
    TRY(LAUNCH(handles_pack, in->work, n, .capacity = (int)in->list_capacity));
    TRY(cutis_buffer_read(b->list_handle, 0, out->list_handle, 4 * total));
    return cutis_buffer_read(b->list_value, 0, out->list_value, 4 * total);
}
