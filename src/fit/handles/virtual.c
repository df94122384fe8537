// VIRTUAL weighting on any device. Invariants: no support but a site's own reaches its core (unless
// a floor acts, which is counted), so interpolation is exact; every voxel is within HANDLES_TAU of
// some support, so densities are at least phi(0.8).
#include "fit/handles/virtual.h"

#include <math.h>
#include <string.h>

#include "base/os/os.h"
#include "fit/handles/insert.h"

static const double SITE_FLOOR = 4.5; ///< voxels: > 2 sqrt 3 / TAU, so a site covers its own core

// Sites -----------------------------------------------------------------------------------------

// Least distances of each one's field to each other's core.
static cutis_result find_apart(cutis_handles_insertion *in, float *apart)
{
    cutis_handles_work *work = in->work;
    cutis_handles_buffers *b = &work->buffers;
    const cutis_handles_sites *sites = in->sites;
    const uint32_t count = sites->site_count;
    uint32_t *first = cutis_arena_alloc(in->scratch, (size_t)count + 1, sizeof *first);
    if (!first) return cutis_alloc_result(in->scratch->context);
    for (uint32_t s = 0; s < count; s++) first[s] = sites->sites[s].core_first;
    first[count] = (uint32_t)sites->core_count;
    TRY(cutis_handles_give(work, &b->core_first, first, (uint64_t)count + 1, 4));
    TRY(cutis_handles_give(work, &b->cores, sites->cores, sites->core_count, 4));
    TRY(RESERVE(work, { &b->apart, (uint64_t)count * count, 4 }));
    TRY(LAUNCH(handles_apart, work, count * count, .sites = (int)count,
               .voxel_count = (int)in->grid->voxel_count));
    return cutis_buffer_read(b->apart, 0, apart, 4ull * count * count);
}

// Supports of sites: up to the core of the nearest other one, within floor and largest radius.
static cutis_result find_radii(cutis_handles_insertion *in)
{
    const size_t count = in->sites->site_count;
    const double least = SITE_FLOOR * in->grid->step;
    float *apart = cutis_arena_alloc(in->scratch, count * count, sizeof *apart);
    double longest = 0;
    if (!apart) return cutis_alloc_result(in->scratch->context);
    TRY(find_apart(in, apart));
    for (size_t i = 0; i < count; i++) {
        in->site_radius[i] = INFINITY;
        for (size_t j = 0; j < count; j++) {
            if (i == j || !(apart[i * count + j] < HANDLES_INFINITY)) continue;
            in->site_radius[i] = fmin(in->site_radius[i], apart[i * count + j]);
            longest = fmax(longest, apart[i * count + j]);
        }
    }
    in->radius_least = in->options->radius_floor * in->grid->step;
    in->radius_max = in->options->radius_max;
    if (!(in->radius_max > 0)) in->radius_max = longest > 0 ? longest / 2 : INFINITY;
    for (size_t i = 0; i < count; i++) {
        in->out->floored[i] = in->site_radius[i] < least;
        in->site_radius[i] = fmax(fmin(in->site_radius[i], in->radius_max), least);
    }
    in->radius_max = fmax(in->radius_max, in->radius_least);
    return cutis_handles_give(in->work, &in->work->buffers.radius, in->site_radius, count, 8);
}

cutis_result cutis_handles_cover_sites(cutis_handles_insertion *in, uint32_t capacity)
{
    cutis_handles_buffers *b = &in->work->buffers;
    const uint32_t n = in->grid->voxel_count;
    TRY(RESERVE(in->work, { &b->cover, n, 4 }));
    return LAUNCH(handles_cover, in->work, n, .sites = (int)in->sites->site_count,
                  .voxel_count = (int)n, .capacity = (int)capacity);
}

cutis_result cutis_handles_peaks(cutis_handles_insertion *in, uint32_t *list, uint32_t *count)
{
    cutis_handles_buffers *b = &in->work->buffers;
    const uint32_t words = (in->grid->voxel_count + 31) / 32;
    if (!in->peak_mask) in->peak_mask = cutis_arena_alloc(in->scratch, words, sizeof(uint32_t));
    uint32_t *mask = in->peak_mask;
    if (!mask) return cutis_alloc_result(in->scratch->context);
    TRY(RESERVE(in->work, { &b->mask, words, 4 }));
    TRY(LAUNCH(handles_peaks, in->work, words, .grid = cutis_handles_grid_given(in->grid)));
    TRY(cutis_buffer_read(b->mask, 0, mask, 4ull * words));
    *count = 0;
    for (uint32_t w = 0; w < words; w++)
        for (uint32_t bits = mask[w]; bits; bits &= bits - 1)
            list[(*count)++] = 32 * w + (uint32_t)__builtin_ctz(bits);
    return CUTIS_OK;
}

bool cutis_handles_insert(cutis_handles_insertion *in, cutis_handles_inserted handle)
{
    if (!cutis_arena_grow(in->scratch, &in->inserted, &in->inserted_capacity,
                          (size_t)in->out->virtual_count + 1, sizeof *in->inserted))
        return false;
    in->inserted[in->out->virtual_count++] = handle;
    return true;
}

// Shares ----------------------------------------------------------------------------------------

// Faces between cells, by voxel, then by axis.
static cutis_result list_faces(cutis_handles_insertion *in, cutis_handles_face **out,
                               uint32_t *count)
{
    cutis_handles_work *work = in->work;
    cutis_handles_buffers *b = &work->buffers;
    const uint32_t n = in->grid->voxel_count;
    TRY(RESERVE(work, { &b->borders, cutis_compute_scan_words(n), 4 }));
    TRY(handles_borders_launch(work, n, (handles_borders_arguments){ 0 }));
    TRY(cutis_compute_scan(work->device, b->borders, n));
    TRY(cutis_buffer_read(b->borders, 4ull * n, count, sizeof *count));
    TRY(RESERVE(work, { &b->face_cells, 2ull * *count, 4 },
                { &b->face_lengths, 2ull * *count, 8 }));
    TRY(LAUNCH(handles_faces, work, n, .step = in->grid->step, .sites = (int)in->sites->site_count,
               .voxel_count = (int)n));
    cutis_handles_face *faces = cutis_arena_alloc(in->scratch, *count, sizeof *faces);
    uint32_t *cells = cutis_arena_alloc(in->scratch, *count, 2 * sizeof *cells);
    double *lengths = cutis_arena_alloc(in->scratch, *count, 2 * sizeof *lengths);
    if (!faces || !cells || !lengths) return cutis_alloc_result(in->scratch->context);
    TRY(cutis_buffer_read(b->face_cells, 0, cells, 8ull * *count));
    TRY(cutis_buffer_read(b->face_lengths, 0, lengths, 16ull * *count));
    for (size_t i = 0; i < *count; i++)
        faces[i] = (cutis_handles_face){ cells[2 * i], cells[2 * i + 1], lengths[2 * i],
                                         lengths[2 * i + 1] };
    *out = faces;
    return CUTIS_OK;
}

static cutis_result share_out(cutis_handles_insertion *in)
{
    cutis_handles_virtual *out = in->out;
    cutis_handles_face *faces = NULL;
    uint32_t count = 0;
    TRY(cutis_handles_nearest(in->work, in->scratch, in->grid, in->sites, out->virtual_count,
                              out->voxel, &in->fronts[0]));
    TRY(list_faces(in, &faces, &count));
    out->share = cutis_handles_dual_solve(in->arena, in->work->device, in->grid, in->sites,
                                          out->virtual_count, out->voxel, faces, count);
    return out->share ? CUTIS_OK : cutis_alloc_result(in->scratch->context);
}

// Results ---------------------------------------------------------------------------------------

static cutis_result find_coverage(cutis_handles_insertion *in)
{
    const uint32_t n = in->grid->voxel_count;
    float *cover = cutis_arena_alloc(in->scratch, n, sizeof *cover);
    if (!cover) return cutis_alloc_result(in->scratch->context);
    TRY(cutis_buffer_read(in->work->buffers.cover, 0, cover, 4ull * n));
    for (uint32_t v = 0; v < n; v++) in->out->coverage_max = fmax(in->out->coverage_max, cover[v]);
    return CUTIS_OK;
}

// Virtual handles into the real ones.
static cutis_result fold(cutis_handles_insertion *in, cutis_handles_field *field)
{
    cutis_handles_work *work = in->work;
    cutis_handles_buffers *b = &work->buffers;
    const cutis_handles_virtual *out = in->out;
    const uint32_t n = in->grid->voxel_count, sites = out->site_count;
    const uint64_t values = (uint64_t)n * sites, shares = (uint64_t)out->virtual_count * sites;
    TRY(cutis_handles_give(work, &b->share, out->share, shares, 8));
    TRY(cutis_handles_over(work, &b->values, field->values, values, 4));
    TRY(cutis_handles_over(work, &b->density, field->density, n, 4));
    TRY(LAUNCH(handles_fold, work, n, .sites = (int)sites));
    TRY(cutis_handles_fetch(b->values, field->values, 4 * values));
    TRY(cutis_handles_fetch(b->density, field->density, 4ull * n));
    work->has_values = true;
    return CUTIS_OK;
}

static cutis_result alloc_all(cutis_handles_insertion *in, cutis_handles_field *field)
{
    const size_t n = in->grid->voxel_count, sites = in->sites->site_count;
    bool good = true;
    in->slot = cutis_arena_alloc(in->scratch, sites, sizeof *in->slot);
    in->site_radius = cutis_arena_alloc(in->scratch, sites, sizeof *in->site_radius);
    in->out->floored = cutis_arena_alloc(in->arena, sites, sizeof(bool));
    field->values = cutis_arena_alloc(in->arena, n * sites, sizeof *field->values);
    field->density = cutis_arena_alloc(in->arena, n, sizeof *field->density);
    for (uint32_t i = 0; i < CUTIS_HANDLES_BATCH && !in->work->sweeps; i++)
        good = good && cutis_handles_front_init(in->scratch, in->grid, &in->fronts[i]);
    good =
        good && in->slot && in->site_radius && in->out->floored && field->values && field->density;
    return good ? CUTIS_OK : cutis_alloc_result(in->arena->context);
}

// Move what the caller keeps into the arena.
static cutis_result keep_results(cutis_handles_insertion *in)
{
    cutis_handles_virtual *out = in->out;
    const uint32_t sites = out->site_count, count = out->virtual_count;
    out->radius = cutis_arena_alloc(in->arena, (size_t)sites + count, sizeof *out->radius);
    out->voxel = cutis_arena_alloc(in->arena, count, sizeof *out->voxel);
    if (!out->radius || !out->voxel) return cutis_alloc_result(in->arena->context);
    memcpy(out->radius, in->site_radius, sites * sizeof *out->radius);
    for (uint32_t h = 0; h < count; h++) {
        out->radius[sites + h] = in->inserted[h].radius;
        out->voxel[h] = in->inserted[h].voxel;
    }
    return CUTIS_OK;
}

static cutis_result insert_and_fold(cutis_handles_insertion *in, bool *fits,
                                    cutis_handles_field *field)
{
    cutis_handles_work *work = in->work;
    cutis_handles_virtual *out = in->out;
    const uint32_t n = in->grid->voxel_count;
    TRY(alloc_all(in, field));
    TRY(cutis_handles_work_on(work, in->grid));
    TRY(cutis_handles_give(work, &work->buffers.held, in->label, n, 4));
    TRY(cutis_handles_give(work, &work->buffers.owner, in->owner, n, 4));
    double start = cutis_os_seconds();
    TRY(cutis_handles_site_fields(in));
    out->seconds_distances = cutis_os_seconds() - start;
    start = cutis_os_seconds();
    TRY(find_radii(in));
    TRY(work->sweeps ? cutis_handles_insert_sweep(in, fits) : cutis_handles_insert_march(in));
    if (!*fits) return CUTIS_OK;
    TRY(find_coverage(in));
    TRY(keep_results(in));
    TRY(share_out(in));
    out->seconds_insertion = cutis_os_seconds() - start;
    TRY(work->sweeps ? cutis_handles_lists_sweep(in) : cutis_handles_lists_march(in));
    return fold(in, field);
}

cutis_result cutis_handles_virtual_solve(cutis_handles_work *work, cutis_arena *arena,
                                         const cutis_handles_grid *grid,
                                         const cutis_handles_sites *sites, const uint32_t *label,
                                         const uint32_t *owner,
                                         const cutis_handles_virtual_options *options, bool *fits,
                                         cutis_handles_virtual *out, cutis_handles_field *field)
{
    cutis_arena scratch = { .context = arena->context };
    cutis_handles_insertion in = { .work = work,
                                   .arena = arena,
                                   .scratch = &scratch,
                                   .grid = grid,
                                   .sites = sites,
                                   .label = label,
                                   .owner = owner,
                                   .options = options,
                                   .out = out };
    *out = (cutis_handles_virtual){ .site_count = sites->site_count };
    *field = (cutis_handles_field){ .site_count = sites->site_count };
    *fits = true;
    work->has_values = false;
    const cutis_result result = insert_and_fold(&in, fits, field);
    cutis_arena_release(&scratch);
    if (result != CUTIS_OK) *out = (cutis_handles_virtual){ 0 };
    return result;
}
