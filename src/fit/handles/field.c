// Harmonic fields on voxels with conductances that fall with the distance to the nearest site, so
// that a point or a line is felt at every resolution. Invariant: each voxel's values are >= 0 and
// sum to one; on a core exactly 1 and 0.
#include "fit/handles/field.h"

#include <math.h>

#include "base/error.h"
#include "fit/handles/multigrid.h"
#include "fit/handles/text.h"
#include "kernel/handles_sample.h"

// A voxel in two cores belongs to the site it is nearest to. `held` counts what each site has.
static void share_cores(const cutis_handles_sites *sites, const cutis_handles_grid *grid,
                        uint32_t *owner, uint32_t *held)
{
    for (uint32_t s = 0; s < sites->site_count; s++) {
        const cutis_handles_site *site = &sites->sites[s];
        for (uint32_t i = 0; i < site->core_count; i++) {
            uint32_t v = sites->cores[site->core_first + i], other = owner[v];
            if (other != CUTIS_HANDLES_NONE) {
                double centre[3];
                cutis_handles_voxel_centre(grid, v, centre);
                if (!(cutis_handles_site_distance(site, centre, NULL) <
                      cutis_handles_site_distance(&sites->sites[other], centre, NULL)))
                    continue;
                held[other]--;
            }
            owner[v] = s;
            held[s]++;
        }
    }
}

// A site whose core went to others keeps the voxel nearest to it, if its owner can spare it.
static void keep_one(const cutis_handles_sites *sites, const cutis_handles_grid *grid,
                     uint32_t *owner, uint32_t *held)
{
    for (uint32_t s = 0; s < sites->site_count; s++) {
        const cutis_handles_site *site = &sites->sites[s];
        uint32_t best = CUTIS_HANDLES_NONE;
        double least = INFINITY;
        for (uint32_t i = 0; held[s] == 0 && i < site->core_count; i++) {
            uint32_t v = sites->cores[site->core_first + i];
            double centre[3];
            cutis_handles_voxel_centre(grid, v, centre);
            double distance = cutis_handles_site_distance(site, centre, NULL);
            if (distance < least && held[owner[v]] > 1) least = distance, best = v;
        }
        if (best == CUTIS_HANDLES_NONE) continue;
        held[owner[best]]--;
        owner[best] = s;
        held[s] = 1;
    }
}

// Components that no core touches: all their voxels go to the site nearest to any of them.
static uint32_t adopt_components(const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                                 const uint32_t *label, uint32_t *owner)
{
    uint32_t orphans = 0;
    for (uint32_t v = 0; v < grid->voxel_count;) {
        if (label[v] != CUTIS_HANDLES_NONE || owner[v] != CUTIS_HANDLES_NONE) {
            v++;
            continue;
        }
        uint32_t piece = grid->component[v], best = 0;
        double least = INFINITY;
        for (uint32_t i = v; i < grid->voxel_count; i++) {
            if (grid->component[i] != piece) continue;
            double centre[3];
            cutis_handles_voxel_centre(grid, i, centre);
            for (uint32_t s = 0; s < sites->site_count; s++) {
                double distance = cutis_handles_site_distance(&sites->sites[s], centre, NULL);
                if (distance < least) least = distance, best = s;
            }
        }
        for (uint32_t i = v; i < grid->voxel_count; i++)
            if (grid->component[i] == piece) owner[i] = best;
        orphans++;
    }
    return orphans;
}

uint32_t cutis_handles_owners(const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                              const uint32_t *label, uint32_t *owner)
{
    uint32_t *held = cutis_alloc_zero(sites->arena->context, sites->site_count, sizeof *held);
    if (!held) return CUTIS_HANDLES_NONE;
    for (uint32_t v = 0; v < grid->voxel_count; v++) owner[v] = CUTIS_HANDLES_NONE;
    share_cores(sites, grid, owner, held);
    keep_one(sites, grid, owner, held);
    cutis_free_array(sites->arena->context, held, sites->site_count, sizeof *held);
    return adopt_components(grid, sites, label, owner);
}

// Fields of sites [first, first + lanes) into the values.
static cutis_result solve_some(cutis_handles_work *work, cutis_handles_system *system,
                               uint32_t site_count, uint32_t first, uint32_t lanes,
                               double tolerance)
{
    const uint32_t n = system->grid->voxel_count;
    system->progress = (double)first / site_count;
    TRY(cutis_handles_system_solve(work, system, first, lanes, tolerance));
    return LAUNCH(handles_gather, work, n * (work->sweeps ? lanes : 1), .lanes = (int)lanes,
                  .width = work->sweeps ? 1 : (int)lanes, .first = (int)first,
                  .sites = (int)site_count);
}

cutis_result cutis_handles_field_solve(cutis_handles_work *work, cutis_arena *arena,
                                       const cutis_handles_grid *grid, uint32_t site_count,
                                       double tolerance, cutis_handles_field *out)
{
    cutis_handles_buffers *b = &work->buffers;
    cutis_handles_system system;
    const uint32_t n = grid->voxel_count;
    const uint64_t values = (uint64_t)n * site_count;
    *out = (cutis_handles_field){ .site_count = site_count };
    work->has_values = false;
    out->values = cutis_arena_alloc(arena, (size_t)values, sizeof *out->values);
    if (!out->values) return cutis_alloc_result(arena->context);
    TRY(cutis_handles_over(work, &b->values, out->values, values, 4));
    TRY(RESERVE(work, { &b->conductance, 6ull * n, 8 }));
    TRY(LAUNCH(handles_conduct, work, n, .grid = cutis_handles_grid_given(grid)));
    TRY(cutis_handles_system_create(work, grid, &system));
    for (uint32_t first = 0, lanes; first < site_count; first += lanes) {
        lanes = cutis_handles_lanes(work, &system, site_count - first);
        TRY(solve_some(work, &system, site_count, first, lanes, tolerance));
    }
    TRY(LAUNCH(handles_normalise, work, n, .sites = (int)site_count));
    TRY(cutis_handles_fetch(b->values, out->values, 4 * values));
    out->iteration_count = system.iteration_count;
    out->level_count = system.level_count;
    work->has_values = true;
    return CUTIS_OK;
}

double cutis_handles_field_in(const cutis_handles_field *field, handles_taps *taps, double *weights)
{
    const int sites = (int)field->site_count;
    double density = 0;
    const double sum = handles_blend(field->values, taps, sites, weights, 1);
    for (int s = 0; s < sites && sum > 0; s++) weights[s] /= sum;
    for (int t = 0; t < taps->count; t++)
        density += taps->weight[t] * (field->density ? field->density[taps->voxel[t]] : 1);
    return density;
}

double cutis_handles_field_at(const cutis_handles_grid *grid, const cutis_handles_field *field,
                              const double *point, bool connected, double *weights)
{
    handles_taps taps;
    cutis_handles_taps_at(grid, point, connected, &taps);
    return cutis_handles_field_in(field, &taps, weights);
}
