// VIRTUAL weighting on a GPU: fields of sites, cover, its maxima, supports of candidates, labels,
// faces and folding are kernels over voxels, many fields at once; the host puts a round's
// candidates in order and solves the small graph of cells. Invariant: the same handles, in the same
// order, and the same bits as handles_virtual.c. Distances are the one solution that no step lowers
// any more, however it is reached; a batch is accepted in order, however many are tried at once.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "device/compute/scan.h"
#include "fit/handles_distance.h"
#include "fit/handles_dual.h"
#include "fit/handles_gpu.h"

#define FIELDS_MAX   512                 ///< fields marched together
#define FIELD_FLOATS (UINT64_C(1) << 26) ///< of all of them, in one buffer
#define LIST_ROOM    16                  ///< handles that reach a voxel; twice as many if need be
#define LIST_MOST    256                 ///< beyond it the host does it
#define UNIT         32                  ///< voxels: HANDLES_UNIT of the kernels
#define CORE_PARTS   16                  ///< of all cores, to look at a candidate's distances
static const int32_t FAR_BITS = 0x7f7fffff; ///< of FLT_MAX: not reached

/// Units of voxels that a kernel of many fields runs over.
typedef struct work_list {
    cutis_compute_argument list; ///< buffer; NULL: all
    uint32_t unit_count;
} work_list;

typedef struct device_insertion {
    cutis_handles_gpu *gpu;
    cutis_handles_solution *solution;
    cutis_arena *scratch;
    const cutis_handles_virtual_options *options;
    double radius_max;
    uint32_t list_room, field_room; ///< entries a voxel; fields at once
    uint32_t *voxel;                ///< virtual handles so far
    double *radius;
    size_t voxel_capacity, radius_capacity;
} device_insertion;

void cutis_handles_gpu_forget(cutis_handles_gpu *gpu)
{
    cutis_context *context = gpu->device->context;
    for (uint32_t i = 0; i < gpu->slot_count; i++)
        if (gpu->slots[i].segments)
            cutis_free_array(context, gpu->slots[i].segments, gpu->slots[i].segment_count,
                             sizeof(cutis_handles_segment));
    if (gpu->slots) cutis_free_array(context, gpu->slots, gpu->slot_count, sizeof *gpu->slots);
    gpu->slots = NULL;
    gpu->slot_count = 0;
}

// Fields of sites
// ---------------------------------------------------------------------------------

static cutis_result make_slots(device_insertion *in)
{
    cutis_handles_gpu *gpu = in->gpu;
    cutis_context *context = gpu->device->context;
    const uint32_t wanted = in->solution->sites.site_count;
    if (gpu->slot_count >= wanted) return CUTIS_OK;
    cutis_handles_gpu_forget(gpu);
    const uint32_t count = wanted + 2;
    gpu->slots = cutis_alloc_zero(context, count, sizeof *gpu->slots);
    if (!gpu->slots) return cutis_alloc_result(context);
    gpu->slot_count = count;
    return room(gpu, SITE_FIELDS, (uint64_t)count * in->solution->grid.voxel_count, 4);
}

static bool same_site(const cutis_handles_slot *slot, const cutis_handles_site *site)
{
    return slot->segments && slot->segment_count == site->segment_count &&
           memcmp(slot->segments, site->segments, site->segment_count * sizeof *site->segments) ==
               0;
}

// Where each site's field is or will be; `fresh` lists the sites that must be marched.
static bool find_slots(device_insertion *in, uint32_t *slot, uint32_t *fresh, uint32_t *fresh_count)
{
    cutis_handles_gpu *gpu = in->gpu;
    cutis_context *context = gpu->device->context;
    const cutis_handles_sites *sites = &in->solution->sites;
    for (uint32_t i = 0; i < gpu->slot_count; i++) gpu->slots[i].used = false;
    *fresh_count = 0;
    for (uint32_t s = 0; s < sites->site_count; s++) {
        slot[s] = 0;
        while (slot[s] < gpu->slot_count && !same_site(&gpu->slots[slot[s]], &sites->sites[s]))
            slot[s]++;
        if (slot[s] < gpu->slot_count)
            gpu->slots[slot[s]].used = true;
        else
            fresh[(*fresh_count)++] = s;
    }
    for (uint32_t i = 0, next = 0; i < *fresh_count; i++) {
        const cutis_handles_site *site = &sites->sites[fresh[i]];
        while (gpu->slots[next].used) next++;
        cutis_handles_slot *taken = &gpu->slots[next];
        if (taken->segments)
            cutis_free_array(context, taken->segments, taken->segment_count,
                             sizeof *taken->segments);
        *taken = (cutis_handles_slot){ .used = true };
        taken->segments = cutis_alloc_array(context, site->segment_count, sizeof *site->segments);
        if (!taken->segments) return false;
        taken->segment_count = site->segment_count;
        memcpy(taken->segments, site->segments, site->segment_count * sizeof *site->segments);
        slot[fresh[i]] = next;
    }
    return true;
}

static cutis_result fill(cutis_handles_gpu *gpu, int which, uint64_t words, int32_t value)
{
    return fill_words_run(gpu->device, (uint32_t)words,
                          (fill_words_buffers){ .words = gpu->buffers[which] },
                          (fill_words_arguments){ .value = value });
}

// Segments of `count` sites, and the voxels that they pass through.
static cutis_result upload_fresh(device_insertion *in, const uint32_t *fresh, uint32_t count)
{
    cutis_handles_gpu *gpu = in->gpu;
    const cutis_handles_grid *grid = &in->solution->grid;
    const cutis_handles_sites *sites = &in->solution->sites;
    uint32_t *first = cutis_arena_alloc(in->scratch, (size_t)count + 1, sizeof *first);
    size_t segment_count = 0, seed_count = 0, seed_room = 0;
    for (uint32_t k = 0; k < count; k++) {
        const cutis_handles_site *site = &sites->sites[fresh[k]];
        segment_count += site->segment_count;
        for (size_t g = 0; g < site->segment_count; g++)
            seed_room += cutis_handles_sample_count(grid, &site->segments[g]);
    }
    cutis_handles_segment *segments =
        cutis_arena_alloc(in->scratch, segment_count, sizeof *segments);
    uint32_t *seed = cutis_arena_alloc(in->scratch, seed_room, sizeof *seed);
    float *value = cutis_arena_alloc(in->scratch, seed_room, sizeof *value);
    if (!first || !segments || !seed || !value) return cutis_alloc_result(in->scratch->context);
    first[0] = 0;
    for (uint32_t k = 0; k < count; k++) {
        const cutis_handles_site *site = &sites->sites[fresh[k]];
        memcpy(segments + first[k], site->segments, site->segment_count * sizeof *segments);
        first[k + 1] = first[k] + (uint32_t)site->segment_count;
        for (size_t g = 0; g < site->segment_count; g++) {
            const uint32_t samples = cutis_handles_sample_count(grid, &site->segments[g]);
            for (uint32_t i = 0; i < samples; i++) {
                double p[3], centre[3];
                cutis_handles_sample(&site->segments[g], samples, i, p);
                const uint32_t v = cutis_handles_voxel_of(grid, p);
                if (v == CUTIS_HANDLES_NONE) continue;
                cutis_handles_voxel_centre(grid, v, centre);
                seed[seed_count] = k * grid->voxel_count + v;
                value[seed_count++] = (float)cutis_handles_site_distance(site, centre, NULL);
            }
        }
    }
    cutis_result result = upload(gpu, SEGMENTS, segments, 6 * segment_count, 8);
    if (result == CUTIS_OK) result = upload(gpu, SEGMENT_FIRST, first, (uint64_t)count + 1, 4);
    if (result == CUTIS_OK) result = upload(gpu, SEED, seed, seed_count, 4);
    if (result == CUTIS_OK) result = upload(gpu, SEED_VALUE, value, seed_count, 4);
    LAUNCH(scatter, (uint32_t)seed_count, BUFFER(SEED), BUFFER(SEED_VALUE), BUFFER(FIELD_FROM));
    return result;
}

// Straight distances around the segments of the fields, in FIELD_FROM.
static cutis_result start_fields(device_insertion *in, const work_list *work)
{
    cutis_handles_gpu *gpu = in->gpu;
    const cutis_handles_grid *grid = &in->solution->grid;
    const cutis_compute_argument none = CUTIS_BUFFER_ARGUMENT(NULL);
    cutis_result result = CUTIS_OK;
    LAUNCH(start, UNIT * work->unit_count, work->list, BUFFER(GRID_INDEX), BUFFER(GRID_PLACE),
           BUFFER(SEGMENTS), none, BUFFER(SEGMENT_FIRST), BUFFER(FIELD_FROM), none,
           INTEGER(grid->voxel_count), INTEGER(grid->size[0]), INTEGER(grid->size[1]),
           INTEGER(grid->size[2]), NUMBER(grid->origin[0]), NUMBER(grid->origin[1]),
           NUMBER(grid->origin[2]), NUMBER(grid->step),
           NUMBER(CUTIS_HANDLES_EXACT_STEPS * grid->step));
    return result;
}

// Sweep fields until nothing changes; they end in FIELD_FROM.
static cutis_result sweep_fields(device_insertion *in, const work_list *work)
{
    cutis_handles_gpu *gpu = in->gpu;
    const cutis_handles_grid *grid = &in->solution->grid;
    // Candidates' fields end after a few dozen sweeps, sites' after hundreds.
    const int look = CUTIS_HANDLES_SWEEPS_A_LOOK / (work->list.buffer ? 2 : 1);
    cutis_result result = CUTIS_OK;
    for (bool changed = true; result == CUTIS_OK && changed;) {
        result = clear_flag(gpu);
        for (int i = 0; i < look && result == CUTIS_OK; i++) {
            LAUNCH(fields, UNIT * work->unit_count, work->list, BUFFER(GRID_NEIGHBOUR),
                   BUFFER(BOUND), BUFFER(FIELD_FROM), BUFFER(FIELD_TO), BUFFER(FLAG),
                   INTEGER(grid->voxel_count), NUMBER(grid->step));
            swap(gpu, FIELD_FROM, FIELD_TO);
        }
        if (result == CUTIS_OK) result = look_at_flag(gpu, &changed);
        if (result == CUTIS_OK) result = cutis_progress(in->scratch->context, "distances", 0.5);
    }
    return result;
}

static cutis_result make_field_buffers(device_insertion *in, uint32_t count)
{
    cutis_handles_gpu *gpu = in->gpu;
    const uint64_t words = (uint64_t)count * in->solution->grid.voxel_count;
    cutis_result result = room(gpu, FIELD_FROM, words, 4);
    if (result == CUTIS_OK) result = room(gpu, FIELD_TO, words, 4);
    if (result == CUTIS_OK) result = room(gpu, BOUND, count, 4);
    if (result == CUTIS_OK) result = room(gpu, MIDDLE, count, 4);
    if (result == CUTIS_OK) result = fill(gpu, FIELD_FROM, words, FAR_BITS);
    if (result == CUTIS_OK) result = fill(gpu, FIELD_TO, words, FAR_BITS);
    return result;
}

// Fields of all sites in SITE_FIELDS, found through SLOT; only new ones are marched.
static cutis_result site_fields(device_insertion *in)
{
    cutis_handles_gpu *gpu = in->gpu;
    const uint32_t sites = in->solution->sites.site_count, n = in->solution->grid.voxel_count;
    uint32_t *slot = cutis_arena_alloc(in->scratch, sites, 3 * sizeof *slot), count = 0;
    if (!slot) return cutis_alloc_result(in->scratch->context);
    uint32_t *fresh = slot + sites, *to = fresh + sites;
    cutis_result result = make_slots(in);
    if (result == CUTIS_OK && !find_slots(in, slot, fresh, &count))
        result = cutis_alloc_result(in->scratch->context);
    if (result == CUTIS_OK) result = upload(gpu, SLOT, slot, sites, 4);
    for (uint32_t first = 0; first < count && result == CUTIS_OK; first += in->field_room) {
        const uint32_t some = count - first < in->field_room ? count - first : in->field_room;
        for (uint32_t k = 0; k < some; k++) to[k] = slot[fresh[first + k]];
        result = make_field_buffers(in, some);
        if (result == CUTIS_OK) result = fill(gpu, BOUND, some, FAR_BITS);
        if (result == CUTIS_OK) result = upload_fresh(in, fresh + first, some);
        const work_list all = { CUTIS_BUFFER_ARGUMENT(NULL), some * ((n + UNIT - 1) / UNIT) };
        if (result == CUTIS_OK) result = start_fields(in, &all);
        if (result == CUTIS_OK) result = sweep_fields(in, &all);
        if (result == CUTIS_OK) result = upload(gpu, NEW_SLOT, to, some, 4);
        LAUNCH(keep, some * n, BUFFER(FIELD_FROM), BUFFER(NEW_SLOT), BUFFER(SITE_FIELDS),
               INTEGER(n));
    }
    if (result != CUTIS_OK) cutis_handles_gpu_forget(gpu); // some may be half marched
    return result;
}

static cutis_result upload_cores(device_insertion *in)
{
    cutis_handles_gpu *gpu = in->gpu;
    const cutis_handles_sites *sites = &in->solution->sites;
    uint32_t *first = cutis_arena_alloc(in->scratch, (size_t)sites->site_count + 1, sizeof *first);
    if (!first) return cutis_alloc_result(in->scratch->context);
    for (uint32_t s = 0; s < sites->site_count; s++) first[s] = sites->sites[s].core_first;
    first[sites->site_count] = (uint32_t)sites->core_count;
    cutis_result result = upload(gpu, CORE_FIRST, first, (uint64_t)sites->site_count + 1, 4);
    if (result == CUTIS_OK) result = upload(gpu, CORES, sites->cores, sites->core_count, 4);
    return result;
}

static cutis_result site_radii(device_insertion *in, double *radius)
{
    cutis_handles_gpu *gpu = in->gpu;
    cutis_handles_virtual *out = &in->solution->virtual;
    const uint32_t sites = in->solution->sites.site_count;
    const size_t pairs = (size_t)sites * sites;
    float *apart = cutis_arena_alloc(in->scratch, pairs, sizeof *apart);
    double *written = cutis_arena_alloc(in->scratch, sites, sizeof *written);
    if (!apart || !written) return cutis_alloc_result(in->scratch->context);
    cutis_result result = upload_cores(in);
    if (result == CUTIS_OK) result = room(gpu, APART, pairs, 4);
    LAUNCH(apart, (uint32_t)pairs, BUFFER(SITE_FIELDS), BUFFER(SLOT), BUFFER(CORE_FIRST),
           BUFFER(CORES), BUFFER(APART), INTEGER(sites), INTEGER(in->solution->grid.voxel_count));
    if (result == CUTIS_OK) result = cutis_buffer_read(gpu->buffers[APART], 0, apart, 4 * pairs);
    if (result != CUTIS_OK) return result;
    for (size_t i = 0; i < pairs; i++)
        if (apart[i] == FLT_MAX) apart[i] = INFINITY;
    cutis_handles_site_radii(sites, apart, in->solution->grid.step, in->options, radius,
                             out->floored, &in->radius_max);
    for (uint32_t s = 0; s < sites; s++) written[s] = isfinite(radius[s]) ? radius[s] : -1;
    return upload(gpu, RADIUS, written, sites, 8);
}

// Insertion
// ---------------------------------------------------------------------------------------

static cutis_result cover_by_sites(device_insertion *in)
{
    cutis_handles_gpu *gpu = in->gpu;
    const uint32_t n = in->solution->grid.voxel_count, sites = in->solution->sites.site_count;
    const uint64_t entries = (uint64_t)n * in->list_room;
    cutis_result result = room(gpu, COVER, n, 4);
    if (result == CUTIS_OK) result = room(gpu, LIST_COUNT, n, 4);
    if (result == CUTIS_OK) result = room(gpu, LIST_HANDLE, entries, 4);
    if (result == CUTIS_OK) result = room(gpu, LIST_VALUE, entries, 4);
    if (result == CUTIS_OK) result = room(gpu, OVERFLOW, 1, 4);
    if (result == CUTIS_OK) result = fill(gpu, OVERFLOW, 1, 0);
    LAUNCH(cover, n, BUFFER(SITE_FIELDS), BUFFER(SLOT), BUFFER(RADIUS), BUFFER(LABEL),
           BUFFER(OWNER), BUFFER(COVER), BUFFER(LIST_COUNT), BUFFER(LIST_HANDLE),
           BUFFER(LIST_VALUE), BUFFER(OVERFLOW), INTEGER(sites), INTEGER(n),
           INTEGER(in->list_room));
    return result;
}

// Maxima of cover in SORTED.
static cutis_result find_candidates(device_insertion *in, uint32_t *mask, uint32_t *list,
                                    uint32_t *count)
{
    cutis_handles_gpu *gpu = in->gpu;
    const uint32_t n = in->solution->grid.voxel_count, words = (n + 31) / 32;
    cutis_result result = room(gpu, MASK, words, 4);
    *count = 0;
    LAUNCH(peaks, words, BUFFER(GRID_NEIGHBOUR), BUFFER(COVER), BUFFER(MASK), INTEGER(n));
    if (result == CUTIS_OK) result = cutis_buffer_read(gpu->buffers[MASK], 0, mask, 4ull * words);
    for (uint32_t w = 0; w < words && result == CUTIS_OK; w++)
        for (uint32_t bits = mask[w], i = 0; bits; bits >>= 1, i++)
            if (bits & 1) list[(*count)++] = 32 * w + i;
    if (result != CUTIS_OK || *count == 0) return result;
    result = upload(gpu, CANDIDATE, list, *count, 4);
    if (result == CUTIS_OK) result = room(gpu, SORTED, *count, 4);
    LAUNCH(rank, *count, BUFFER(CANDIDATE), BUFFER(COVER), BUFFER(SORTED), INTEGER(*count));
    return result;
}

static cutis_result make_boxes(cutis_handles_gpu *gpu, const cutis_handles_grid *grid)
{
    const uint32_t units = (grid->voxel_count + UNIT - 1) / UNIT;
    if (gpu->boxes == grid->index) return CUTIS_OK;
    cutis_result result = room(gpu, BOXES, 6ull * units, 4);
    LAUNCH(boxes, units, BUFFER(GRID_PLACE), BUFFER(BOXES), INTEGER(grid->voxel_count),
           INTEGER(grid->size[0]), INTEGER(grid->size[1]));
    if (result == CUTIS_OK) gpu->boxes = grid->index;
    return result;
}

// Units around the candidates, as far as their bounds go.
static cutis_result find_work(device_insertion *in, uint32_t count, work_list *out)
{
    cutis_handles_gpu *gpu = in->gpu;
    const cutis_handles_grid *grid = &in->solution->grid;
    const uint32_t units = (grid->voxel_count + UNIT - 1) / UNIT, words = (units + 31) / 32;
    cutis_arena scratch = { .context = in->scratch->context };
    uint32_t *mask = cutis_arena_alloc(&scratch, (size_t)count * words, sizeof *mask);
    uint32_t *list = cutis_arena_alloc(&scratch, (size_t)count * units, sizeof *list), used = 0;
    cutis_result result = mask && list ? CUTIS_OK : cutis_alloc_result(scratch.context);
    if (result == CUTIS_OK) result = make_boxes(gpu, grid);
    if (result == CUTIS_OK) result = room(gpu, AROUND, (uint64_t)count * words, 4);
    LAUNCH(around, count * words, BUFFER(BOXES), BUFFER(GRID_PLACE), BUFFER(MIDDLE), BUFFER(BOUND),
           BUFFER(AROUND), INTEGER(grid->voxel_count), INTEGER(grid->size[0]),
           INTEGER(grid->size[1]), NUMBER(grid->step));
    if (result == CUTIS_OK)
        result = cutis_buffer_read(gpu->buffers[AROUND], 0, mask, 4ull * count * words);
    for (uint32_t f = 0; f < count && result == CUTIS_OK; f++)
        for (uint32_t w = 0; w < words; w++)
            for (uint32_t bits = mask[(size_t)f * words + w], i = 0; bits; bits >>= 1, i++)
                if (bits & 1) list[used++] = f * units + 32 * w + i;
    if (result == CUTIS_OK) result = upload(gpu, WORK, list, used, 4);
    *out = (work_list){ BUFFER(WORK), used };
    cutis_arena_release(&scratch);
    return result;
}

// Fields of candidates [first, first + count) of SORTED and where their supports end.
static cutis_result march_candidates(device_insertion *in, uint32_t first, uint32_t count)
{
    cutis_handles_gpu *gpu = in->gpu;
    const cutis_handles_grid *grid = &in->solution->grid;
    const uint32_t n = grid->voxel_count, cores = (uint32_t)in->solution->sites.core_count;
    const double least = in->options->radius_floor * grid->step;
    const double most = fmax(in->radius_max, least);
    cutis_result result = make_field_buffers(in, count);
    if (result == CUTIS_OK) result = room(gpu, SEGMENTS, 6ull * count, 8);
    if (result == CUTIS_OK) result = room(gpu, SEGMENT_FIRST, (uint64_t)count + 1, 4);
    if (result == CUTIS_OK) result = room(gpu, NEAREST, (uint64_t)count * CORE_PARTS, 4);
    if (result == CUTIS_OK) result = room(gpu, SUPPORT, 2ull * count, 8);
    if (result == CUTIS_OK) result = room(gpu, CLASH, (uint64_t)count * count, 4);
    LAUNCH(bound, count, BUFFER(SORTED), BUFFER(GRID_PLACE), BUFFER(SITE_FIELDS), BUFFER(SLOT),
           BUFFER(BOUND), BUFFER(MIDDLE), BUFFER(SEGMENTS), BUFFER(SEGMENT_FIRST), INTEGER(first),
           INTEGER(in->solution->sites.site_count), INTEGER(n), INTEGER(grid->size[0]),
           INTEGER(grid->size[1]), NUMBER(grid->origin[0]), NUMBER(grid->origin[1]),
           NUMBER(grid->origin[2]), NUMBER(grid->step), NUMBER(least), NUMBER(most));
    work_list work = { 0 };
    for (bool again = true; again && result == CUTIS_OK;) {
        result = find_work(in, count, &work);
        if (result == CUTIS_OK) result = start_fields(in, &work);
        if (result == CUTIS_OK) result = sweep_fields(in, &work);
        if (result == CUTIS_OK) result = clear_flag(gpu);
        LAUNCH(near, count * CORE_PARTS, BUFFER(FIELD_FROM), BUFFER(CORES), BUFFER(NEAREST),
               INTEGER(cores), INTEGER(CORE_PARTS), INTEGER(n));
        LAUNCH(support, count, BUFFER(NEAREST), BUFFER(MIDDLE), BUFFER(BOUND), BUFFER(SUPPORT),
               BUFFER(FLAG), INTEGER(CORE_PARTS), NUMBER(CUTIS_HANDLES_SUPPORT), NUMBER(least),
               NUMBER(most));
        LAUNCH(clash, count * count, BUFFER(FIELD_FROM), BUFFER(MIDDLE), BUFFER(SUPPORT),
               BUFFER(COVER), BUFFER(CLASH), INTEGER(count), INTEGER(n));
        if (result == CUTIS_OK) result = look_at_flag(gpu, &again);
    }
    return result;
}

// Accept in order those that neither earlier batches nor accepted ones of this batch cover.
static cutis_result accept_candidates(device_insertion *in, uint32_t count)
{
    cutis_handles_gpu *gpu = in->gpu;
    cutis_context *context = in->scratch->context;
    cutis_handles_virtual *out = &in->solution->virtual;
    const uint32_t n = in->solution->grid.voxel_count, before = out->virtual_count;
    const size_t pairs = (size_t)count * count;
    cutis_arena scratch = { .context = context };
    uint32_t *clash = cutis_arena_alloc(&scratch, pairs, sizeof *clash), used = 0;
    uint32_t *accepted = cutis_arena_alloc(&scratch, count, sizeof *accepted);
    double *support = cutis_arena_alloc(&scratch, count, 2 * sizeof *support);
    cutis_result result = clash && accepted && support ? CUTIS_OK : cutis_alloc_result(context);
    if (result == CUTIS_OK) result = cutis_buffer_read(gpu->buffers[CLASH], 0, clash, 4 * pairs);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(gpu->buffers[SUPPORT], 0, support, 16ull * count);
    if (result == CUTIS_OK && (!cutis_grow(context, &in->voxel, &in->voxel_capacity,
                                           (size_t)before + count, sizeof *in->voxel) ||
                               !cutis_grow(context, &in->radius, &in->radius_capacity,
                                           (size_t)before + count, sizeof *in->radius)))
        result = cutis_alloc_result(context);
    for (uint32_t j = 0; j < count && result == CUTIS_OK; j++) {
        bool covered = clash[(size_t)j * count + j];
        for (uint32_t k = 0; k < used && !covered; k++)
            covered = clash[(size_t)accepted[k] * count + j];
        if (covered) continue;
        in->radius[before + used] = support[2 * j];
        in->voxel[before + used] = (uint32_t)support[2 * j + 1];
        accepted[used++] = j;
    }
    if (result == CUTIS_OK) result = upload(gpu, ACCEPTED, accepted, used, 4);
    LAUNCH(gain, used ? n : 0, BUFFER(FIELD_FROM), BUFFER(ACCEPTED), BUFFER(SUPPORT), BUFFER(COVER),
           BUFFER(LIST_COUNT), BUFFER(LIST_HANDLE), BUFFER(LIST_VALUE), BUFFER(OVERFLOW),
           INTEGER(used), INTEGER(in->solution->sites.site_count + before), INTEGER(n),
           INTEGER(in->list_room));
    out->virtual_count += used;
    cutis_arena_release(&scratch);
    return result;
}

// All rounds; `overflow`: a voxel's list had no room.
static cutis_result insert_all(device_insertion *in, bool *overflow)
{
    cutis_handles_gpu *gpu = in->gpu;
    cutis_handles_virtual *out = &in->solution->virtual;
    const uint32_t n = in->solution->grid.voxel_count;
    uint32_t *mask = cutis_arena_alloc(in->scratch, n / 32 + 1, sizeof *mask), count = 1;
    uint32_t *list = cutis_arena_alloc(in->scratch, n, sizeof *list);
    if (!mask || !list) return cutis_alloc_result(in->scratch->context);
    cutis_result result = cover_by_sites(in);
    while (result == CUTIS_OK) {
        result = find_candidates(in, mask, list, &count);
        if (result != CUTIS_OK || count == 0) break;
        out->round_count++;
        for (uint32_t first = 0; first < count && result == CUTIS_OK; first += in->field_room) {
            const uint32_t some = count - first < in->field_room ? count - first : in->field_room;
            result = march_candidates(in, first, some);
            if (result == CUTIS_OK) result = accept_candidates(in, some);
        }
        if (result == CUTIS_OK)
            result = cutis_progress(in->scratch->context, "virtual handles",
                                    1 - 1.0 / (1 + out->round_count));
    }
    int32_t value = 0;
    if (result == CUTIS_OK)
        result = cutis_buffer_read(gpu->buffers[OVERFLOW], 0, &value, sizeof value);
    *overflow = value != 0;
    return result;
}

// Shares
// ------------------------------------------------------------------------------------------

// Faces between cells as the host lists them: by voxel, then by axis.
static cutis_result list_faces(device_insertion *in, cutis_handles_face **out, size_t *face_count)
{
    cutis_handles_gpu *gpu = in->gpu;
    const cutis_handles_grid *grid = &in->solution->grid;
    const uint32_t n = grid->voxel_count, sites = in->solution->sites.site_count;
    uint32_t count = 0;
    cutis_result result = room(gpu, BORDERS, cutis_compute_scan_words(n), 4);
    LAUNCH(borders, n, BUFFER(GRID_NEIGHBOUR), BUFFER(FROM), BUFFER(FROM_LABEL), BUFFER(BORDERS));
    if (result == CUTIS_OK) result = cutis_compute_scan(gpu->device, gpu->buffers[BORDERS], n);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(gpu->buffers[BORDERS], 4ull * n, &count, sizeof count);
    if (result == CUTIS_OK) result = room(gpu, FACE_CELLS, 2ull * count, 4);
    if (result == CUTIS_OK) result = room(gpu, FACE, 2ull * count, 8);
    LAUNCH(faces, n, BUFFER(GRID_NEIGHBOUR), BUFFER(FROM), BUFFER(FROM_LABEL), BUFFER(SITE_FIELDS),
           BUFFER(SLOT), BUFFER(BARS), BUFFER(BORDERS), BUFFER(FACE_CELLS), BUFFER(FACE),
           INTEGER(sites), INTEGER(n), NUMBER(grid->step));
    cutis_handles_face *faces = cutis_arena_alloc(in->scratch, count, sizeof *faces);
    uint32_t *cells = cutis_arena_alloc(in->scratch, count, 2 * sizeof *cells);
    double *lengths = cutis_arena_alloc(in->scratch, count, 2 * sizeof *lengths);
    if (!faces || !cells || !lengths) return cutis_alloc_result(in->scratch->context);
    if (result == CUTIS_OK && count)
        result = cutis_buffer_read(gpu->buffers[FACE_CELLS], 0, cells, 8ull * count);
    if (result == CUTIS_OK && count)
        result = cutis_buffer_read(gpu->buffers[FACE], 0, lengths, 16ull * count);
    for (size_t i = 0; i < count && result == CUTIS_OK; i++)
        faces[i] = (cutis_handles_face){ cells[2 * i], cells[2 * i + 1], lengths[2 * i],
                                         lengths[2 * i + 1] };
    *out = faces, *face_count = count;
    return result;
}

static cutis_result share_out(device_insertion *in)
{
    cutis_handles_virtual *out = &in->solution->virtual;
    cutis_handles_face *faces = NULL;
    size_t count = 0;
    cutis_result result =
        cutis_handles_gpu_march(in->gpu, in->solution, out->virtual_count, in->voxel, in->scratch);
    if (result == CUTIS_OK) result = list_faces(in, &faces, &count);
    if (result != CUTIS_OK) return result;
    out->share =
        cutis_handles_dual_solve(in->solution->arena, in->solution->device, &in->solution->grid,
                                 &in->solution->sites, out->virtual_count, in->voxel, faces, count);
    return out->share ? CUTIS_OK : cutis_alloc_result(in->scratch->context);
}

// Results
// -----------------------------------------------------------------------------------------

// Lists without gaps, for the host.
static cutis_result read_lists(device_insertion *in)
{
    cutis_handles_gpu *gpu = in->gpu;
    cutis_handles_virtual *out = &in->solution->virtual;
    cutis_arena *arena = in->solution->arena;
    const uint32_t n = in->solution->grid.voxel_count;
    uint32_t *first = cutis_arena_alloc(arena, (size_t)n + 1, sizeof *first);
    if (!first) return cutis_alloc_result(arena->context);
    cutis_result result = cutis_buffer_read(gpu->buffers[LIST_COUNT], 0, first + 1, 4ull * n);
    if (result != CUTIS_OK) return result;
    first[0] = 0;
    for (size_t v = 0; v < n; v++) first[v + 1] += first[v];
    out->list_first = first;
    out->list_handle = cutis_arena_alloc(arena, first[n], sizeof *out->list_handle);
    out->list_value = cutis_arena_alloc(arena, first[n], sizeof *out->list_value);
    if (!out->list_handle || !out->list_value) return cutis_alloc_result(arena->context);
    result = upload(gpu, LIST_FIRST, first, (uint64_t)n + 1, 4);
    if (result == CUTIS_OK) result = room(gpu, PACKED_HANDLE, first[n], 4);
    if (result == CUTIS_OK) result = room(gpu, PACKED_VALUE, first[n], 4);
    LAUNCH(pack, n, BUFFER(LIST_FIRST), BUFFER(LIST_HANDLE), BUFFER(LIST_VALUE),
           BUFFER(PACKED_HANDLE), BUFFER(PACKED_VALUE), INTEGER(in->list_room));
    if (result == CUTIS_OK)
        result =
            cutis_buffer_read(gpu->buffers[PACKED_HANDLE], 0, out->list_handle, 4ull * first[n]);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(gpu->buffers[PACKED_VALUE], 0, out->list_value, 4ull * first[n]);
    return result;
}

static cutis_result fold(device_insertion *in)
{
    cutis_handles_gpu *gpu = in->gpu;
    cutis_handles_virtual *out = &in->solution->virtual;
    cutis_handles_field *field = &in->solution->field;
    const uint32_t n = in->solution->grid.voxel_count, sites = out->site_count;
    float *cover = cutis_arena_alloc(in->scratch, n, sizeof *cover);
    if (!cover) return cutis_alloc_result(in->scratch->context);
    cutis_result result =
        upload(gpu, SHARE, out->share, (uint64_t)out->virtual_count * sites, sizeof(double));
    if (result == CUTIS_OK) result = room(gpu, VALUES, (uint64_t)n * sites, 4);
    if (result == CUTIS_OK) result = room(gpu, DENSITY, n, 4);
    LAUNCH(fold, n, BUFFER(LIST_COUNT), BUFFER(LIST_HANDLE), BUFFER(LIST_VALUE), BUFFER(SHARE),
           BUFFER(VALUES), BUFFER(DENSITY), INTEGER(sites), INTEGER(in->list_room));
    if (result == CUTIS_OK) result = read_lists(in);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(gpu->buffers[VALUES], 0, field->values, 4ull * n * sites);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(gpu->buffers[DENSITY], 0, field->density, 4ull * n);
    if (result == CUTIS_OK) result = cutis_buffer_read(gpu->buffers[COVER], 0, cover, 4ull * n);
    for (uint32_t v = 0; v < n && result == CUTIS_OK; v++)
        out->coverage_max = fmax(out->coverage_max, cover[v]);
    gpu->field = result == CUTIS_OK;
    return result;
}

static bool make_results(device_insertion *in)
{
    cutis_handles_solution *solution = in->solution;
    cutis_arena *arena = solution->arena;
    const size_t n = solution->grid.voxel_count, sites = solution->sites.site_count;
    solution->virtual = (cutis_handles_virtual){ .site_count = (uint32_t)sites };
    solution->field = (cutis_handles_field){ .site_count = (uint32_t)sites };
    solution->virtual.floored = cutis_arena_alloc(arena, sites, sizeof(bool));
    solution->field.values = cutis_arena_alloc(arena, n * sites, sizeof(float));
    solution->field.density = cutis_arena_alloc(arena, n, sizeof(float));
    return solution->virtual.floored && solution->field.values && solution->field.density;
}

static cutis_result insert_with_room(device_insertion *in, double *site_radius, bool *fits)
{
    cutis_handles_virtual *out = &in->solution->virtual;
    bool overflow = true;
    double start = cutis_os_seconds();
    cutis_result result = site_fields(in);
    out->seconds_distances = cutis_os_seconds() - start;
    start = cutis_os_seconds();
    if (result == CUTIS_OK) result = site_radii(in, site_radius);
    for (in->list_room = LIST_ROOM; overflow && result == CUTIS_OK; in->list_room *= 2) {
        out->virtual_count = out->round_count = 0;
        result = insert_all(in, &overflow);
        if (!overflow || in->list_room >= LIST_MOST) break;
    }
    *fits = !overflow;
    if (result == CUTIS_OK && *fits) result = share_out(in);
    out->seconds_insertion = cutis_os_seconds() - start;
    return result;
}

cutis_result cutis_handles_gpu_virtual(cutis_handles_gpu *gpu, cutis_handles_solution *solution,
                                       const uint32_t *label, const uint32_t *owner,
                                       const cutis_handles_virtual_options *options, bool *fits)
{
    cutis_context *context = gpu->device->context;
    cutis_arena scratch = { .context = context };
    cutis_handles_virtual *out = &solution->virtual;
    const uint32_t n = solution->grid.voxel_count, sites = solution->sites.site_count;
    device_insertion in = {
        .gpu = gpu, .solution = solution, .scratch = &scratch, .options = options
    };
    double *site_radius = cutis_arena_alloc(&scratch, sites, sizeof *site_radius);
    cutis_result result = CUTIS_OK;
    gpu->field = false;
    const uint64_t fit = FIELD_FLOATS / (n ? n : 1);
    in.field_room = (uint32_t)(fit < 1 ? 1 : fit > FIELDS_MAX ? FIELDS_MAX : fit);
    *fits = true;
    if (!site_radius || !make_results(&in)) result = cutis_alloc_result(context);
    if (result == CUTIS_OK) result = cutis_handles_gpu_grid(gpu, &solution->grid);
    if (result == CUTIS_OK) result = upload(gpu, LABEL, label, n, 4);
    if (result == CUTIS_OK) result = upload(gpu, OWNER, owner, n, 4);
    if (result == CUTIS_OK) result = insert_with_room(&in, site_radius, fits);
    if (result == CUTIS_OK && *fits) result = fold(&in);
    if (result == CUTIS_OK && *fits) {
        const uint32_t count = out->virtual_count;
        out->voxel = cutis_arena_alloc(solution->arena, count, sizeof *in.voxel);
        out->radius = cutis_arena_alloc(solution->arena, (size_t)sites + count, sizeof(double));
        if (!out->radius || !out->voxel) result = cutis_alloc_result(context);
        for (uint32_t h = 0; h < sites + count && result == CUTIS_OK; h++)
            out->radius[h] = h < sites ? site_radius[h] : in.radius[h - sites];
        for (uint32_t h = 0; h < count && result == CUTIS_OK; h++) out->voxel[h] = in.voxel[h];
    }
    if (in.voxel) cutis_free_array(context, in.voxel, in.voxel_capacity, sizeof *in.voxel);
    if (in.radius) cutis_free_array(context, in.radius, in.radius_capacity, sizeof *in.radius);
    if (result != CUTIS_OK) *out = (cutis_handles_virtual){ 0 };
    cutis_arena_release(&scratch);
    return result;
}
