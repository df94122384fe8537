// Supports, insertion of virtual handles, and folding. Invariants: no support but a site's own
// reaches its core (unless a floor acts, which is counted), so interpolation is exact; every voxel
// is within TAU of some support, so densities are at least phi(0.8). Batches are of fixed size and
// are accepted in order: the same list for any number of threads.
#include "fit/handles_virtual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/handles_distance.h"
#include "fit/handles_dual.h"

static const double TAU = 0.8;        ///< a voxel is covered within this part of a support
static const double SITE_FLOOR = 4.5; ///< voxels: > 2 sqrt 3 / TAU, so a site covers its own core
#define BATCH      16                 ///< fields computed together before any is accepted
#define FOLD_CHUNK 1024               ///< voxels a task

typedef struct entry {
    uint32_t voxel;
    float distance;
} entry;

typedef struct insertion {
    cutis_arena *arena, *scratch;
    cutis_device *device;
    const cutis_handles_grid *grid;
    const cutis_handles_sites *sites;
    const cutis_handles_virtual_options *options;
    cutis_handles_virtual *out;
    cutis_handles_cache *cache; ///< or NULL
    bool *known;                ///< per site: its field came from the cache
    float *distance;            ///< voxel_count per site
    float *cover;               ///< per voxel: least distance / radius
    uint8_t *in_core;           ///< per voxel
    double radius_max;
    cutis_handles_front fronts[BATCH];
    uint32_t batch[BATCH], batch_count;
    double batch_radius[BATCH];
    entry *entries; ///< of all virtual handles
    size_t entry_count, entry_capacity;
    size_t *entry_first; ///< per virtual handle and one more
    size_t first_capacity;
    size_t voxel_capacity, radius_capacity;
    double *virtual_radius;
} insertion;

double cutis_handles_basis(double t)
{
    if (!(t < 1)) return 0;
    double u = 1 - t;
    return u * u * u * (1 + 3 * t + 6 * t * t);
}

// Real handles
// --------------------------------------------------------------------------------------

typedef struct cutis_handles_cached {
    cutis_handles_segment *segments;
    size_t segment_count, voxel_count;
    float *distance;
    bool wanted; ///< by the solve that goes on
} cached_field;

static void drop_field(cutis_context *context, cached_field *field)
{
    if (field->segments)
        cutis_free_array(context, field->segments, field->segment_count, sizeof *field->segments);
    if (field->distance)
        cutis_free_array(context, field->distance, field->voxel_count, sizeof(float));
    *field = (cached_field){ 0 };
}

void cutis_handles_cache_release(cutis_handles_cache *cache)
{
    for (size_t i = 0; i < cache->field_count; i++) drop_field(cache->context, &cache->fields[i]);
    if (cache->fields)
        cutis_free_array(cache->context, cache->fields, cache->field_capacity,
                         sizeof *cache->fields);
    *cache = (cutis_handles_cache){ .context = cache->context };
}

static cached_field *find_field(const insertion *in, uint32_t s)
{
    const cutis_handles_site *site = &in->sites->sites[s];
    for (size_t i = 0; in->cache && i < in->cache->field_count; i++) {
        cached_field *field = &in->cache->fields[i];
        if (field->segment_count == site->segment_count &&
            memcmp(field->segments, site->segments, site->segment_count * sizeof *site->segments) ==
                0)
            return field;
    }
    return NULL;
}

// What is known is copied before the others are marched; `known` says which.
static void recall_fields(insertion *in)
{
    const size_t n = in->grid->voxel_count;
    for (uint32_t s = 0; s < in->sites->site_count; s++) {
        cached_field *field = find_field(in, s);
        in->known[s] = field != NULL;
        if (!field) continue;
        memcpy(in->distance + s * n, field->distance, n * sizeof(float));
        field->wanted = true;
    }
}

// Keep this solve's fields and forget the others. A cache that cannot grow is merely smaller.
static void remember_fields(insertion *in)
{
    cutis_handles_cache *cache = in->cache;
    const size_t n = in->grid->voxel_count;
    size_t kept = 0;
    for (size_t i = 0; cache && i < cache->field_count; i++) {
        if (cache->fields[i].wanted) {
            cache->fields[kept] = cache->fields[i];
            cache->fields[kept++].wanted = false;
        } else {
            drop_field(cache->context, &cache->fields[i]);
        }
    }
    if (cache) cache->field_count = kept;
    for (uint32_t s = 0; cache && s < in->sites->site_count; s++) {
        const cutis_handles_site *site = &in->sites->sites[s];
        if (in->known[s] || !cutis_grow(cache->context, &cache->fields, &cache->field_capacity,
                                        cache->field_count + 1, sizeof *cache->fields))
            continue;
        cached_field field = { .segment_count = site->segment_count, .voxel_count = n };
        field.segments =
            cutis_alloc_array(cache->context, site->segment_count, sizeof *field.segments);
        field.distance = cutis_alloc_array(cache->context, n, sizeof(float));
        if (!field.segments || !field.distance) {
            drop_field(cache->context, &field);
            continue;
        }
        memcpy(field.segments, site->segments, site->segment_count * sizeof *field.segments);
        memcpy(field.distance, in->distance + s * n, n * sizeof(float));
        cache->fields[cache->field_count++] = field;
    }
}

static void site_task(void *data, uint32_t task)
{
    insertion *in = data;
    cutis_handles_front *front = &in->fronts[task];
    for (uint32_t s = task; s < in->sites->site_count; s += BATCH) {
        if (in->known[s]) continue;
        cutis_handles_front_clear(front);
        cutis_handles_front_start(front, &in->sites->sites[s], s);
        cutis_handles_front_finish(front);
        memcpy(in->distance + (size_t)s * in->grid->voxel_count, front->distance,
               in->grid->voxel_count * sizeof(float));
    }
    cutis_handles_front_clear(front);
}

// Least distance from site i to the core of another, as its own field has it.
static float core_distance(const insertion *in, uint32_t i, uint32_t j)
{
    const cutis_handles_site *other = &in->sites->sites[j];
    const float *field = in->distance + (size_t)i * in->grid->voxel_count;
    float least = INFINITY;
    for (uint32_t c = 0; c < other->core_count; c++)
        least = fminf(least, field[in->sites->cores[other->core_first + c]]);
    return least;
}

void cutis_handles_site_radii(uint32_t site_count, const float *apart, double step,
                              const cutis_handles_virtual_options *options, double *radius,
                              bool *floored, double *radius_max)
{
    double longest = 0;
    for (size_t i = 0; i < site_count; i++) {
        radius[i] = INFINITY;
        for (size_t j = 0; j < site_count; j++) {
            double d = apart[i * site_count + j];
            if (i == j) continue;
            radius[i] = fmin(radius[i], d);
            if (isfinite(d)) longest = fmax(longest, d);
        }
    }
    *radius_max = options->radius_max;
    if (!(*radius_max > 0)) *radius_max = longest > 0 ? longest / 2 : INFINITY;
    for (size_t i = 0; i < site_count; i++) {
        floored[i] = radius[i] < SITE_FLOOR * step;
        radius[i] = fmax(fmin(radius[i], *radius_max), SITE_FLOOR * step);
    }
}

static bool site_radii(insertion *in)
{
    const size_t count = in->sites->site_count;
    float *apart = cutis_arena_alloc(in->scratch, count * count, sizeof *apart);
    if (!apart) return false;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++)
            apart[i * count + j] = i == j ? 0 : core_distance(in, i, j);
    cutis_handles_site_radii((uint32_t)count, apart, in->grid->step, in->options, in->out->radius,
                             in->out->floored, &in->radius_max);
    return true;
}

static float ratio_of(double distance, double radius)
{
    if (!isfinite(radius)) return isfinite(distance) ? 0 : INFINITY;
    return (float)(distance / radius);
}

static void cover_by_sites(insertion *in, const uint32_t *label)
{
    const uint32_t n = in->grid->voxel_count;
    // Components without a site follow one as a whole and need no cover.
    for (uint32_t v = 0; v < n; v++) in->cover[v] = label[v] == CUTIS_HANDLES_NONE ? 0 : INFINITY;
    for (uint32_t s = 0; s < in->sites->site_count; s++)
        for (uint32_t v = 0; v < n; v++) {
            float ratio = ratio_of(in->distance[(size_t)s * n + v], in->out->radius[s]);
            if (ratio < in->cover[v]) in->cover[v] = ratio;
        }
    memset(in->in_core, 0, n);
    for (size_t i = 0; i < in->sites->core_count; i++) in->in_core[in->sites->cores[i]] = 1;
}

// Virtual handles
// -----------------------------------------------------------------------------------

// March from a voxel until the front meets a core, or as far as the largest support goes.
static void virtual_task(void *data, uint32_t task)
{
    insertion *in = data;
    cutis_handles_front *front = &in->fronts[task];
    const double least = in->options->radius_floor * in->grid->step;
    cutis_handles_segment point;
    const cutis_handles_site site = { .segments = &point, .segment_count = 1 };
    cutis_handles_voxel_centre(in->grid, in->batch[task], point.a);
    memcpy(point.b, point.a, sizeof point.b);
    cutis_handles_front_clear(front);
    cutis_handles_front_start(front, &site, 0);
    double radius = fmax(in->radius_max, least);
    for (;;) {
        uint32_t voxel = cutis_handles_front_step(front);
        if (voxel == CUTIS_HANDLES_NONE || front->distance[voxel] >= radius) break;
        if (!in->in_core[voxel]) continue;
        radius = fmin(radius, fmax(CUTIS_HANDLES_SUPPORT * front->distance[voxel], least));
        if (front->distance[voxel] >= radius) break;
    }
    // The last voxels passed are at the radius or beyond, where the support ends.
    while (front->reached_count &&
           front->distance[front->reached[front->reached_count - 1]] >= radius)
        front->reached_count--;
    in->batch_radius[task] = radius;
}

static bool accept(insertion *in, uint32_t slot)
{
    cutis_context *context = in->arena->context;
    const cutis_handles_front *front = &in->fronts[slot];
    uint32_t count = in->out->virtual_count;
    if (!cutis_grow(context, &in->entries, &in->entry_capacity,
                    in->entry_count + front->reached_count, sizeof *in->entries) ||
        !cutis_grow(context, &in->entry_first, &in->first_capacity, (size_t)count + 2,
                    sizeof *in->entry_first) ||
        !cutis_grow(context, &in->out->voxel, &in->voxel_capacity, (size_t)count + 1,
                    sizeof *in->out->voxel) ||
        !cutis_grow(context, &in->virtual_radius, &in->radius_capacity, (size_t)count + 1,
                    sizeof *in->virtual_radius))
        return false;
    in->entry_first[count] = in->entry_count;
    for (uint32_t i = 0; i < front->reached_count; i++) {
        uint32_t voxel = front->reached[i];
        float ratio = ratio_of(front->distance[voxel], in->batch_radius[slot]);
        in->entries[in->entry_count++] = (entry){ voxel, ratio };
        if (ratio < in->cover[voxel]) in->cover[voxel] = ratio;
    }
    in->entry_first[count + 1] = in->entry_count;
    in->out->voxel[count] = in->batch[slot];
    in->virtual_radius[count] = in->batch_radius[slot];
    in->out->virtual_count++;
    return true;
}

typedef struct candidate {
    float cover;
    uint32_t voxel;
} candidate;

static int by_cover(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->cover != y->cover) return x->cover > y->cover ? -1 : 1;
    return (x->voxel > y->voxel) - (x->voxel < y->voxel);
}

static uint32_t find_candidates(const insertion *in, candidate *out)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < in->grid->voxel_count; v++) {
        if (!(in->cover[v] > TAU)) continue;
        const uint32_t *n = in->grid->neighbour + 6 * (size_t)v;
        bool peak = true;
        for (int d = 0; d < 6 && peak; d++)
            peak = n[d] == CUTIS_HANDLES_NONE || in->cover[v] >= in->cover[n[d]];
        if (peak) out[count++] = (candidate){ in->cover[v], v };
    }
    qsort(out, count, sizeof *out, by_cover);
    return count;
}

// Where cover is worst.
static uint32_t find_worst(const insertion *in, candidate *out)
{
    *out = (candidate){ 0, 0 };
    for (uint32_t v = 0; v < in->grid->voxel_count; v++)
        if (in->cover[v] > out->cover) *out = (candidate){ in->cover[v], v };
    return out->cover > TAU;
}

static cutis_result insert_round(insertion *in, const candidate *list, uint32_t count)
{
    uint32_t next = 0;
    while (next < count) {
        in->batch_count = 0;
        for (; next < count && in->batch_count < BATCH; next++)
            if (in->cover[list[next].voxel] > TAU) in->batch[in->batch_count++] = list[next].voxel;
        cutis_device_run(in->device, virtual_task, in, in->batch_count);
        for (uint32_t i = 0; i < in->batch_count; i++)
            if (in->cover[in->batch[i]] > TAU && !accept(in, i))
                return cutis_alloc_result(in->arena->context);
    }
    return CUTIS_OK;
}

static cutis_result insert_all(insertion *in)
{
    candidate *list = cutis_arena_alloc(in->scratch, in->grid->voxel_count, sizeof *list);
    if (!list) return cutis_alloc_result(in->arena->context);
    for (;;) {
        uint32_t count = in->options->serial ? find_worst(in, list) : find_candidates(in, list);
        if (count == 0) return CUTIS_OK;
        in->out->round_count++;
        cutis_result result = insert_round(in, list, count);
        if (result == CUTIS_OK)
            result = cutis_progress(in->arena->context, "virtual handles",
                                    1 - 1.0 / (1 + in->out->round_count));
        if (result != CUTIS_OK) return result;
    }
}

// Values
// --------------------------------------------------------------------------------------------

// A site's basis at a voxel. Components without a site follow one as a whole.
static float site_value(const insertion *in, const uint32_t *label, const uint32_t *owner,
                        uint32_t s, size_t v)
{
    if (label[v] == CUTIS_HANDLES_NONE) return s == owner[v];
    return (float)cutis_handles_basis(
        ratio_of(in->distance[(size_t)s * in->grid->voxel_count + v], in->out->radius[s]));
}

// Which handles reach a voxel, and how much: sites, then virtual handles, both ascending.
static bool make_lists(insertion *in, const uint32_t *label, const uint32_t *owner)
{
    const uint32_t n = in->grid->voxel_count, sites = in->sites->site_count;
    uint32_t *first = cutis_arena_alloc(in->arena, (size_t)n + 1, sizeof *first), total = 0;
    if (!first) return false;
    memset(first, 0, ((size_t)n + 1) * sizeof *first);
    for (size_t v = 0; v < n; v++)
        for (uint32_t s = 0; s < sites; s++) first[v + 1] += site_value(in, label, owner, s, v) > 0;
    for (size_t e = 0; e < in->entry_count; e++)
        first[in->entries[e].voxel + 1] += (float)cutis_handles_basis(in->entries[e].distance) > 0;
    for (size_t v = 0; v < n; v++) first[v + 1] += first[v];
    total = first[n];
    uint32_t *handle = cutis_arena_alloc(in->arena, total, sizeof *handle);
    float *value = cutis_arena_alloc(in->arena, total, sizeof *value);
    if (!handle || !value) return false;
    for (size_t v = 0; v < n; v++)
        for (uint32_t s = 0; s < sites; s++) {
            float own = site_value(in, label, owner, s, v);
            if (own > 0) handle[first[v]] = s, value[first[v]++] = own;
        }
    for (uint32_t h = 0; h < in->out->virtual_count; h++)
        for (size_t e = in->entry_first[h]; e < in->entry_first[h + 1]; e++) {
            float own = (float)cutis_handles_basis(in->entries[e].distance);
            uint32_t v = in->entries[e].voxel;
            if (own > 0) handle[first[v]] = sites + h, value[first[v]++] = own;
        }
    for (size_t v = n; v > 0; v--) first[v] = first[v - 1];
    first[0] = 0;
    in->out->list_first = first, in->out->list_handle = handle, in->out->list_value = value;
    return true;
}

typedef struct folding {
    const cutis_handles_virtual *virtual;
    cutis_handles_field *field;
    uint32_t voxel_count;
} folding;

// Virtual handles into the real ones: each gives its value to them by its shares.
static void fold_task(void *data, uint32_t task)
{
    const folding *f = data;
    const cutis_handles_virtual *virtual = f->virtual;
    const uint32_t sites = virtual->site_count;
    size_t end = (size_t)(task + 1) * FOLD_CHUNK;
    if (end > f->voxel_count) end = f->voxel_count;
    for (size_t v = (size_t)task * FOLD_CHUNK; v < end; v++) {
        float *values = f->field->values + v * sites;
        double sum = 0;
        for (uint32_t s = 0; s < sites; s++) values[s] = 0;
        for (uint32_t e = virtual->list_first[v]; e < virtual->list_first[v + 1]; e++) {
            const uint32_t h = virtual->list_handle[e];
            if (h < sites) {
                values[h] = virtual->list_value[e];
                continue;
            }
            const double *share = virtual->share + (size_t)(h - sites) * sites;
            for (uint32_t s = 0; s < sites; s++)
                values[s] += (float)(virtual->list_value[e] * share[s]);
        }
        for (uint32_t s = 0; s < sites; s++) sum += values[s];
        f->field->density[v] = (float)sum;
    }
}

static bool alloc_all(insertion *in, cutis_handles_field *field)
{
    const size_t n = in->grid->voxel_count, sites = in->sites->site_count;
    in->distance = cutis_arena_alloc(in->scratch, n * sites, sizeof *in->distance);
    in->cover = cutis_arena_alloc(in->scratch, n, sizeof *in->cover);
    in->in_core = cutis_arena_alloc(in->scratch, n, 1);
    in->known = cutis_arena_alloc(in->scratch, sites, sizeof *in->known);
    in->out->radius = cutis_arena_alloc(in->scratch, sites, sizeof(double));
    in->out->floored = cutis_arena_alloc(in->arena, sites, sizeof(bool));
    field->values = cutis_arena_alloc(in->arena, n * sites, sizeof *field->values);
    field->density = cutis_arena_alloc(in->arena, n, sizeof *field->density);
    if (!in->distance || !in->cover || !in->in_core || !in->known || !in->out->radius ||
        !in->out->floored || !field->values || !field->density)
        return false;
    for (uint32_t i = 0; i < BATCH; i++)
        if (!cutis_handles_front_init(in->scratch, in->grid, &in->fronts[i])) return false;
    return true;
}

// Move what the caller keeps from grown arrays into the arena.
static bool keep_results(insertion *in)
{
    const uint32_t sites = in->sites->site_count, count = in->out->virtual_count;
    double *radius = cutis_arena_alloc(in->arena, (size_t)sites + count, sizeof *radius);
    uint32_t *voxel = cutis_arena_alloc(in->arena, count, sizeof *voxel);
    if (!radius || !voxel) return false;
    memcpy(radius, in->out->radius, sites * sizeof *radius);
    for (uint32_t h = 0; h < count; h++) {
        radius[sites + h] = in->virtual_radius[h];
        voxel[h] = in->out->voxel[h];
    }
    cutis_context *context = in->arena->context;
    if (in->out->voxel)
        cutis_free_array(context, in->out->voxel, in->voxel_capacity, sizeof *in->out->voxel);
    in->voxel_capacity = 0;
    in->out->voxel = voxel;
    in->out->radius = radius;
    return true;
}

static void release(insertion *in)
{
    cutis_context *context = in->arena->context;
    if (in->entries)
        cutis_free_array(context, in->entries, in->entry_capacity, sizeof *in->entries);
    if (in->entry_first)
        cutis_free_array(context, in->entry_first, in->first_capacity, sizeof *in->entry_first);
    if (in->virtual_radius)
        cutis_free_array(context, in->virtual_radius, in->radius_capacity, sizeof(double));
    if (in->voxel_capacity)
        cutis_free_array(context, in->out->voxel, in->voxel_capacity, sizeof *in->out->voxel);
    cutis_arena_release(in->scratch);
}

cutis_result cutis_handles_virtual_solve(cutis_arena *arena, cutis_device *device,
                                         const cutis_handles_grid *grid,
                                         const cutis_handles_sites *sites, const uint32_t *label,
                                         const uint32_t *owner,
                                         const cutis_handles_virtual_options *options,
                                         cutis_handles_cache *cache, cutis_handles_virtual *out,
                                         cutis_handles_field *field)
{
    cutis_arena scratch = { .context = arena->context };
    insertion in = { .arena = arena,
                     .scratch = &scratch,
                     .device = device,
                     .grid = grid,
                     .sites = sites,
                     .options = options,
                     .cache = cache,
                     .out = out };
    *out = (cutis_handles_virtual){ .site_count = sites->site_count };
    *field = (cutis_handles_field){ .site_count = sites->site_count };
    cutis_result result = alloc_all(&in, field) ? CUTIS_OK : cutis_alloc_result(arena->context);
    if (result != CUTIS_OK) goto done;
    double start = cutis_os_seconds();
    recall_fields(&in);
    cutis_device_run(device, site_task, &in, BATCH);
    remember_fields(&in);
    out->seconds_distances = cutis_os_seconds() - start;
    start = cutis_os_seconds();
    if (!site_radii(&in)) {
        result = cutis_alloc_result(arena->context);
        goto done;
    }
    cover_by_sites(&in, label);
    result = insert_all(&in);
    if (result == CUTIS_OK && !keep_results(&in)) result = cutis_alloc_result(arena->context);
    if (result != CUTIS_OK) goto done;
    for (uint32_t v = 0; v < grid->voxel_count; v++)
        out->coverage_max = fmax(out->coverage_max, in.cover[v]);
    size_t face_count = 0;
    cutis_handles_face *faces =
        cutis_handles_dual_faces(&scratch, grid, sites, out->virtual_count, out->voxel, in.distance,
                                 &in.fronts[0], &face_count);
    if (faces)
        out->share = cutis_handles_dual_solve(arena, device, grid, sites, out->virtual_count,
                                              out->voxel, faces, face_count);
    if (!out->share) result = cutis_alloc_result(arena->context);
    out->seconds_insertion = cutis_os_seconds() - start;
    if (result == CUTIS_OK && !make_lists(&in, label, owner))
        result = cutis_alloc_result(arena->context);
    const folding f = { out, field, grid->voxel_count };
    if (result == CUTIS_OK)
        cutis_device_run(device, fold_task, (void *)&f,
                         (grid->voxel_count + FOLD_CHUNK - 1) / FOLD_CHUNK);
done:
    release(&in);
    if (result != CUTIS_OK) *out = (cutis_handles_virtual){ 0 };
    return result;
}
