// Harmonic fields on voxels with conductances that fall with the distance to the nearest site, so
// that a point or a line is felt at every resolution. Invariant: each voxel's values are >= 0 and
// sum to one; on a core exactly 1 and 0.
#include "fit/handles_field.h"

#include <math.h>

#include "base/error.h"
#include "fit/handles_multigrid.h"
#include "fit/handles_taps.h"
#include "fit/clones.h"

#define LANES CUTIS_HANDLES_LANES

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
    uint32_t *held = cutis_alloc_zero(sites->context, sites->site_count, sizeof *held);
    if (!held) return CUTIS_HANDLES_NONE;
    for (uint32_t v = 0; v < grid->voxel_count; v++) owner[v] = CUTIS_HANDLES_NONE;
    share_cores(sites, grid, owner, held);
    keep_one(sites, grid, owner, held);
    cutis_free_array(sites->context, held, sites->site_count, sizeof *held);
    return adopt_components(grid, sites, label, owner);
}

static void fill_conductances(const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                              const float *distance, const uint32_t *label, double *out)
{
    const double h = grid->step;
    for (size_t v = 0; v < grid->voxel_count; v++)
        for (int d = 0; d < 6; d++) {
            uint32_t m = grid->neighbour[6 * v + d];
            double value = 0;
            if (m != CUTIS_HANDLES_NONE && label[v] != CUTIS_HANDLES_NONE) {
                // The exponent of the nearer one, so that both directions agree.
                uint32_t near = distance[m] < distance[v] || (distance[m] == distance[v] && m < v)
                                    ? label[m]
                                    : label[v];
                double ratio = fmax(((double)distance[v] + distance[m]) / 2, h) / h;
                value = sites->sites[near].bar ? 1 / ratio : 1 / (ratio * ratio);
            } else if (m != CUTIS_HANDLES_NONE) {
                value = 1;
            }
            out[6 * v + d] = value;
        }
}

typedef struct gathering {
    const cutis_handles_system *system;
    const cutis_handles_grid *grid;
    const uint32_t *owner;
    cutis_handles_field *field;
} gathering;

#define CHUNK 4096

// Clamp to [0, 1] and divide by the sum: what the solver left over is shared by all.
static void normalise_task(void *data, uint32_t task)
{
    const gathering *g = data;
    const uint32_t sites = g->field->site_count;
    size_t end = (size_t)(task + 1) * CHUNK;
    if (end > g->grid->voxel_count) end = g->grid->voxel_count;
    for (size_t v = (size_t)task * CHUNK; v < end; v++) {
        float *values = g->field->values + v * sites;
        double sum = 0;
        for (uint32_t s = 0; s < sites; s++) {
            if (g->owner[v] != CUTIS_HANDLES_NONE) values[s] = s == g->owner[v];
            values[s] = values[s] < 0 ? 0 : values[s] > 1 ? 1 : values[s];
            sum += values[s];
        }
        for (uint32_t s = 0; s < sites && sum > 0; s++) values[s] = (float)(values[s] / sum);
    }
}

// The fewest lanes that hold what is left of the fields.
static void start_lanes(cutis_handles_system *system, const uint32_t *label, uint32_t first,
                        uint32_t left)
{
    const uint32_t lanes = left > 4 ? 8 : left > 2 ? 4 : 2;
    system->lanes = lanes;
    for (size_t i = 0; i < system->levels[0].count; i++)
        for (uint32_t l = 0; l < lanes; l++)
            system->x[lanes * i + l] = label[system->voxel[i]] == first + l;
}

cutis_result cutis_handles_field_solve(cutis_arena *arena, cutis_device *device,
                                       const cutis_handles_grid *grid,
                                       const cutis_handles_sites *sites, const float *distance,
                                       const uint32_t *label, const uint32_t *owner,
                                       double tolerance, cutis_handles_field *out)
{
    cutis_context *context = arena->context;
    const uint32_t count = sites->site_count;
    cutis_arena scratch = { .context = context };
    cutis_handles_system system;
    cutis_result result = CUTIS_OK;
    *out = (cutis_handles_field){ .site_count = count };
    out->values = cutis_arena_alloc(arena, (size_t)grid->voxel_count * count, sizeof *out->values);
    double *conductance = cutis_arena_alloc(&scratch, grid->voxel_count, 6 * sizeof *conductance);
    if (!out->values || !conductance) {
        result = cutis_alloc_result(context);
        goto done;
    }
    fill_conductances(grid, sites, distance, label, conductance);
    if (!cutis_handles_system_create(&scratch, grid, owner, conductance, &system)) {
        result = cutis_alloc_result(context);
        goto done;
    }
    for (uint32_t first = 0; first < count; first += LANES) {
        result = cutis_progress(context, "weights", (double)first / count);
        if (result != CUTIS_OK) goto done;
        start_lanes(&system, label, first, count - first);
        cutis_handles_system_solve(&system, device, owner, conductance, first, tolerance);
        uint32_t lanes = count - first < LANES ? count - first : LANES;
        for (size_t i = 0; i < system.levels[0].count; i++)
            for (uint32_t l = 0; l < lanes; l++)
                out->values[(size_t)system.voxel[i] * count + first + l] =
                    (float)system.x[system.lanes * i + l];
    }
    gathering g = { &system, grid, owner, out };
    cutis_device_run(device, normalise_task, &g, (grid->voxel_count + CHUNK - 1) / CHUNK);
    out->iteration_count = system.iteration_count;
    out->level_count = system.level_count;
done:
    cutis_arena_release(&scratch);
    return result;
}

// Numerators of all sites, eight at a time; densities too.
CUTIS_FIT_CLONES static double gather_taps(const cutis_handles_field *field,
                                           const cutis_handles_taps *taps, double *weights)
{
    const uint32_t sites = field->site_count, whole = sites / 8 * 8;
    double density = 0;
    for (uint32_t first = 0; first < whole; first += 8) {
        double sum[8] = { 0 };
        for (uint32_t t = 0; t < taps->count; t++) {
            const float *values = field->values + (size_t)taps->voxel[t] * sites + first;
            for (int s = 0; s < 8; s++) sum[s] += taps->weight[t] * values[s];
        }
        for (int s = 0; s < 8; s++) weights[first + (uint32_t)s] = sum[s];
    }
    for (uint32_t s = whole; s < sites; s++) weights[s] = 0;
    for (uint32_t t = 0; t < taps->count; t++) {
        const float *values = field->values + (size_t)taps->voxel[t] * sites;
        for (uint32_t s = whole; s < sites; s++) weights[s] += taps->weight[t] * values[s];
        density += taps->weight[t] * (field->density ? field->density[taps->voxel[t]] : 1);
    }
    return density;
}

double cutis_handles_field_at(const cutis_handles_grid *grid, const cutis_handles_field *field,
                              const double *point, bool connected, double *weights)
{
    const uint32_t sites = field->site_count;
    cutis_handles_taps taps;
    cutis_handles_taps_at(grid, point, connected, &taps);
    double density = gather_taps(field, &taps, weights), sum = 0;
    // Values are floats, so their sum is the density only to rounding; this one makes the sum one.
    for (uint32_t s = 0; s < sites; s++) sum += weights[s];
    for (uint32_t s = 0; s < sites && sum > 0; s++) weights[s] /= sum;
    return density;
}
