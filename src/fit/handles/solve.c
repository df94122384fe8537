// From sites to the weights of vertices. Invariant: every vertex gets at least one influence, all
// of them > 0, summing to one in double before they are rounded to float.
#include "fit/handles/solve.h"

#include <math.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/handles/distance.h"
#include "fit/handles/sheets.h"
#include "fit/handles/text.h"
#include "kernel/handles_sample.h"

#define CHUNK   1024 ///< vertices of a sum
#define STRETCH 256  ///< of an item on a CPU
#define BLOCKS  64   ///< that a task keeps for vertices to come

cutis_result cutis_handles_check_options(cutis_context *context,
                                         const cutis_handles_options *options,
                                         cutis_handles_options *out)
{
    *out = options ? *options : (cutis_handles_options){ 0 };
    if (out->voxels == 0) out->voxels = 128;
    if (out->influences == 0) out->influences = 4;
    if (out->softness == 0) out->softness = 0.25;
    if (out->tolerance == 0) out->tolerance = 1e-6;
    if (out->voxels < 8 || out->voxels > 1024)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "%u voxels: 8 to 1024 are possible",
                          out->voxels);
    if (out->influences > 64)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "%u influences: 1 to 64 are possible",
                          out->influences);
    if (!(out->softness > 0 && out->softness <= 0.5))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "softness must be above 0, at most 0.5");
    if (!(out->radius >= 0 && isfinite(out->radius)))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "the radius must be finite, not negative");
    if (!(out->tolerance >= 1e-14 && out->tolerance <= 0.1))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "the tolerance must be in 1e-14 .. 0.1");
    if (out->weighting != CUTIS_WEIGHTING_FIELD && out->weighting != CUTIS_WEIGHTING_VIRTUAL)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "no such weighting");
    return CUTIS_OK;
}

// Vertices --------------------------------------------------------------------------------------

static cutis_result give_sampling(cutis_handles_solution *solution,
                                  const cutis_handles_shape *shape, uint32_t stretch)
{
    cutis_handles_work *work = solution->work;
    cutis_handles_buffers *b = &work->buffers;
    const cutis_handles_influences *out = &solution->influences;
    const uint64_t vertices = shape->vertex_count, sites = solution->sites.site_count;
    const uint64_t items = (vertices + stretch - 1) / stretch, slots = vertices * out->slots;
    TRY(cutis_handles_work_on(work, &solution->grid));
    if (work->positions != shape->positions)
        TRY(cutis_handles_give(work, &b->positions, shape->positions, 3 * vertices, 4));
    work->positions = shape->positions;
    if (!work->has_values)
        TRY(cutis_handles_give(work, &b->values, solution->field.values,
                               solution->grid.voxel_count * sites, 4));
    if (solution->grid.sheets)
        TRY(cutis_handles_give(work, &b->passed, solution->grid.sheets->passed, vertices, 1));
    else
        TRY(RESERVE(work, { &b->passed, 1, 1 }));
    TRY(cutis_handles_give(work, &b->joint_site, solution->joint_site, solution->joint_count, 4));
    TRY(cutis_handles_give(work, &b->sharers, solution->sharers, sites, 4));
    TRY(cutis_handles_over(work, &b->joints, out->joints, slots, 4));
    TRY(cutis_handles_over(work, &b->weights, out->weights, slots, 4));
    return RESERVE(work, { &b->sums, items * sites, 8 }, { &b->dropped, vertices, 8 });
}

// A CPU goes through vertices in stretches and uses a stretch's scratch again; a GPU has an item a
// vertex, and neighbours in memory are neighbours among items.
static cutis_result sample_vertices(cutis_handles_solution *solution,
                                    const cutis_handles_shape *shape)
{
    cutis_handles_work *work = solution->work;
    cutis_handles_buffers *b = &work->buffers;
    const cutis_handles_influences *out = &solution->influences;
    const uint32_t vertices = shape->vertex_count, sites = solution->sites.site_count;
    const uint32_t stretch = work->sweeps ? 1 : STRETCH, items = (vertices + stretch - 1) / stretch;
    const uint64_t slots = (uint64_t)vertices * out->slots;
    TRY(give_sampling(solution, shape, stretch));
    TRY(LAUNCH(handles_sample, work, items, .grid = cutis_handles_grid_given(&solution->grid),
               .vertices = (int)vertices, .stretch = (int)stretch, .sites = (int)sites,
               .joint_count = (int)solution->joint_count, .slots = (int)out->slots,
               .item_stride = work->sweeps ? 1 : (int)sites,
               .site_stride = work->sweeps ? (int)items : 1,
               .passes = solution->grid.sheets != NULL));
    TRY(cutis_handles_fetch(b->joints, out->joints, 4 * slots));
    return cutis_handles_fetch(b->weights, out->weights, 4 * slots);
}

typedef struct sheet_job {
    const cutis_handles_solution *solution;
    const cutis_handles_shape *shape;
    double *dropped;
    atomic_bool failed;
} sheet_job;

static void sample_task(void *data, uint32_t index)
{
    sheet_job *job = data;
    const cutis_handles_solution *solution = job->solution;
    const cutis_handles_influences *out = &solution->influences;
    const cutis_handles_grid *grid = &solution->grid;
    const handles_sample_arguments given = { .sites = (int)solution->sites.site_count,
                                             .joint_count = (int)solution->joint_count,
                                             .slots = (int)out->slots,
                                             .site_stride = 1 };
    cutis_context *context = solution->arena->context;
    double *sums = cutis_alloc_array(context, (size_t)given.sites, sizeof *sums);
    cutis_handles_block *blocks = cutis_alloc_array(context, BLOCKS, sizeof *blocks);
    if (!sums || !blocks) atomic_store(&job->failed, true);
    for (int i = 0; i < BLOCKS && blocks; i++) blocks[i].node = CUTIS_HANDLES_NONE;
    for (uint32_t v = index * CHUNK;
         v < (index + 1) * CHUNK && v < job->shape->vertex_count && sums && blocks; v++) {
        const uint32_t node = grid->sheets->vertex[v];
        handles_taps taps;
        double p[3];
        if (!grid->sheets->passed[v]) continue;
        for (int c = 0; c < 3; c++) p[c] = job->shape->positions[3 * (size_t)v + c];
        cutis_handles_taps_of(grid, node, p, &blocks[node % BLOCKS], &taps);
        job->dropped[v] = handles_weigh(
            solution->field.values, &taps, solution->joint_site, solution->sharers, given, sums,
            out->joints + (size_t)v * out->slots, out->weights + (size_t)v * out->slots);
    }
    cutis_free_array(context, blocks, BLOCKS, sizeof *blocks);
    cutis_free_array(context, sums, (size_t)given.sites, sizeof *sums);
}

// Vertices that look at a voxel where sheets are cut: their taps are those that their own node
// reaches. Few, so the host's threads do it, with the kernel's functions; the kernel passes over
// them.
static cutis_result sample_sheets(const cutis_handles_solution *solution,
                                  const cutis_handles_shape *shape, double *dropped)
{
    sheet_job job = { .solution = solution, .shape = shape, .dropped = dropped };
    if (!solution->grid.sheets) return CUTIS_OK;
    atomic_init(&job.failed, false);
    cutis_device_run(solution->work->device, sample_task, &job,
                     (shape->vertex_count + CHUNK - 1) / CHUNK);
    return atomic_load(&job.failed) ? cutis_alloc_result(solution->arena->context) : CUTIS_OK;
}

// Sums run in chunks of fixed size.
static cutis_result report_dropped(const cutis_handles_solution *solution,
                                   const cutis_handles_shape *shape, cutis_handles_report *report)
{
    cutis_context *context = solution->arena->context;
    const uint32_t vertices = shape->vertex_count;
    double *dropped = cutis_alloc_array(context, vertices, sizeof *dropped), sum = 0;
    if (!dropped) return cutis_alloc_result(context);
    cutis_result result =
        cutis_buffer_read(solution->work->buffers.dropped, 0, dropped, 8ull * vertices);
    if (result == CUTIS_OK) result = sample_sheets(solution, shape, dropped);
    for (uint32_t first = 0; first < vertices && result == CUTIS_OK; first += CHUNK) {
        double some = 0;
        for (uint32_t v = first; v < vertices && v < first + CHUNK; v++) {
            some += dropped[v];
            report->dropped_mass_max = fmax(report->dropped_mass_max, dropped[v]);
        }
        sum += some;
    }
    report->dropped_mass_mean += sum; // divided by all vertices at the end
    cutis_free_array(context, dropped, vertices, sizeof *dropped);
    return result;
}

cutis_result cutis_handles_weigh(cutis_handles_solution *solution, const cutis_handles_shape *shape,
                                 cutis_handles_report *report)
{
    cutis_handles_influences *out = &solution->influences;
    const uint32_t most = solution->options->influences;
    out->slots = most < solution->joint_count ? most : solution->joint_count;
    const size_t total = (size_t)shape->vertex_count * out->slots;
    out->joints = cutis_arena_alloc(solution->arena, total, sizeof *out->joints);
    out->weights = cutis_arena_alloc(solution->arena, total, sizeof *out->weights);
    if (!out->joints || !out->weights) return cutis_alloc_result(solution->arena->context);
    TRY(sample_vertices(solution, shape));
    return report_dropped(solution, shape, report);
}

// Handles ---------------------------------------------------------------------------------------

// 1 - own weight, the largest over the site's samples.
static double site_error(const cutis_handles_solution *solution, uint32_t s, double *weights)
{
    const cutis_handles_site *site = &solution->sites.sites[s];
    double worst = 0;
    for (uint32_t g = 0; g < site->segment_count; g++) {
        uint32_t count = cutis_handles_sample_count(&solution->grid, &site->segments[g]);
        uint32_t node = CUTIS_HANDLES_NONE;
        for (uint32_t i = 0; i < count; i++) {
            handles_taps taps;
            double p[3];
            cutis_handles_sample(&site->segments[g], count, i, p);
            node = cutis_handles_sample_node(&solution->grid, site, g, i, node, p);
            cutis_handles_taps_in(&solution->grid, node, p, &taps);
            cutis_handles_field_in(&solution->field, &taps, weights);
            worst = fmax(worst, 1 - weights[s]);
        }
    }
    return worst;
}

static cutis_result describe_handles(const cutis_handles_solution *solution,
                                     cutis_handles_report *report, cutis_handle_result *results)
{
    cutis_context *context = solution->arena->context;
    const cutis_handles_sites *sites = &solution->sites;
    double *weights = cutis_alloc_array(context, sites->site_count, sizeof *weights);
    if (!weights) return cutis_alloc_result(context);
    for (uint32_t j = 0; j < solution->joint_count; j++) {
        uint32_t s = solution->joint_site[j];
        cutis_handle_result *r = &results[j];
        r->has_site = s != CUTIS_HANDLES_NONE;
        if (!r->has_site) {
            report->joints_without_site++;
            continue;
        }
        r->snapped = sites->sites[s].snapped;
        r->floored = solution->virtual.floored && solution->virtual.floored[s];
        r->error = site_error(solution, s, weights);
        report->floored_handles += r->floored;
        report->interpolation_error_max = fmax(report->interpolation_error_max, r->error);
    }
    for (uint32_t a = 0; a < sites->site_count; a++)
        for (uint32_t b = 0; b < a; b++) {
            double d = cutis_handles_site_separation(&sites->sites[a], &sites->sites[b]);
            if (report->separation_min < 0 || d < report->separation_min)
                report->separation_min = d;
        }
    cutis_free_array(context, weights, sites->site_count, sizeof *weights);
    return CUTIS_OK;
}

// Label 0 in components that a core lies in, NONE in the others: which sites can be reached at all.
static bool mark_reached(const cutis_handles_solution *solution, cutis_arena *scratch,
                         uint32_t *label)
{
    const cutis_handles_grid *grid = &solution->grid;
    const cutis_handles_sites *sites = &solution->sites;
    bool *held = cutis_arena_zero(scratch, grid->component_count, sizeof *held);
    if (!held) return false;
    for (size_t i = 0; i < sites->core_count; i++) held[grid->component[sites->cores[i]]] = true;
    for (uint32_t v = 0; v < grid->voxel_count; v++)
        label[v] = held[grid->component[v]] ? 0 : CUTIS_HANDLES_NONE;
    return true;
}

static cutis_result solve_field(cutis_handles_solution *solution, cutis_arena *scratch,
                                const uint32_t *owner, cutis_handles_report *report)
{
    cutis_handles_work *work = solution->work;
    const double start = cutis_os_seconds();
    TRY(cutis_handles_work_on(work, &solution->grid));
    TRY(cutis_handles_nearest(work, scratch, &solution->grid, &solution->sites, 0, NULL, NULL));
    report->seconds.distances += cutis_os_seconds() - start;
    TRY(cutis_handles_give(work, &work->buffers.owner, owner, solution->grid.voxel_count, 4));
    TRY(cutis_handles_field_solve(work, solution->arena, &solution->grid,
                                  solution->sites.site_count, solution->options->tolerance,
                                  &solution->field));
    if (solution->field.iteration_count > report->iterations)
        report->iterations = solution->field.iteration_count;
    return CUTIS_OK;
}

// On a CPU: it has space for any number of handles at a voxel.
static cutis_result solve_virtual_on_cpu(cutis_handles_solution *solution, const uint32_t *label,
                                         const uint32_t *owner,
                                         const cutis_handles_virtual_options *options)
{
    cutis_handles_work work;
    cutis_device *device = NULL;
    bool fits;
    TRY(cutis_device_create(solution->arena->context, NULL, &device));
    cutis_handles_work_init(&work, device, solution->arena->context);
    const cutis_result result = cutis_handles_virtual_solve(
        &work, solution->arena, &solution->grid, &solution->sites, label, owner, options, &fits,
        &solution->virtual, &solution->field);
    cutis_handles_work_release(&work);
    cutis_device_destroy(device);
    return result;
}

static cutis_result solve_virtual(cutis_handles_solution *solution, const uint32_t *label,
                                  const uint32_t *owner, cutis_handles_report *report)
{
    cutis_handles_virtual *virtual = &solution->virtual;
    const cutis_handles_virtual_options options = { .radius_max = solution->options->radius,
                                                    .radius_floor = solution->skeleton ? 4.5 : 1 };
    bool fits = false;
    TRY(cutis_handles_virtual_solve(solution->work, solution->arena, &solution->grid,
                                    &solution->sites, label, owner, &options, &fits, virtual,
                                    &solution->field));
    if (!fits) TRY(solve_virtual_on_cpu(solution, label, owner, &options));
    report->virtual_handles += virtual->virtual_count;
    report->coverage_max = fmax(report->coverage_max, virtual->coverage_max);
    if (virtual->round_count > report->insertion_rounds)
        report->insertion_rounds = virtual->round_count;
    report->seconds.distances += virtual->seconds_distances;
    report->seconds.insertion += virtual->seconds_insertion;
    return CUTIS_OK;
}

static cutis_result solve_voxels(cutis_handles_solution *solution, cutis_arena *scratch,
                                 cutis_handles_report *report)
{
    const cutis_handles_grid *grid = &solution->grid;
    cutis_context *context = scratch->context;
    double start = cutis_os_seconds();
    uint32_t *owner = cutis_arena_alloc(scratch, grid->voxel_count, sizeof *owner);
    uint32_t *label = cutis_arena_alloc(scratch, grid->voxel_count, sizeof *label);
    if (!owner || !label || !cutis_handles_sites_cores(&solution->sites, grid) ||
        !mark_reached(solution, scratch, label))
        return cutis_alloc_result(context);
    uint32_t orphans = cutis_handles_owners(grid, &solution->sites, label, owner);
    if (orphans == CUTIS_HANDLES_NONE) return cutis_alloc_result(context);
    report->orphan_components += orphans;
    report->seconds.distances += cutis_os_seconds() - start;
    if (solution->options->weighting == CUTIS_WEIGHTING_FIELD)
        return solve_field(solution, scratch, owner, report);
    return solve_virtual(solution, label, owner, report);
}

cutis_result cutis_handles_solve(cutis_handles_solution *solution, const cutis_handles_shape *shape,
                                 cutis_handles_report *report, cutis_handle_result *results)
{
    cutis_context *context = solution->arena->context;
    cutis_arena scratch = { .context = context };
    double start = cutis_os_seconds(),
           before = report->seconds.distances + report->seconds.insertion;
    report->domain_voxels += solution->grid.voxel_count;
    report->components += solution->grid.component_count;
    if (solution->grid.sheets) report->touching += solution->grid.sheets->cut_count;
    report->real_handles += solution->sites.site_count;
    solution->sharers =
        cutis_arena_zero(solution->arena, solution->sites.site_count, sizeof(uint32_t));
    if (!solution->sharers) return cutis_alloc_result(context);
    for (uint32_t j = 0; j < solution->joint_count; j++)
        if (solution->joint_site[j] != CUTIS_HANDLES_NONE)
            solution->sharers[solution->joint_site[j]]++;
    cutis_result result = cutis_progress(context, "distances", 0);
    if (result == CUTIS_OK) result = solve_voxels(solution, &scratch, report);
    if (result == CUTIS_OK) result = cutis_handles_weigh(solution, shape, report);
    if (result == CUTIS_OK) {
        report->seconds.weights += cutis_os_seconds() - start -
                                   (report->seconds.distances + report->seconds.insertion - before);
        result = describe_handles(solution, report, results);
    }
    cutis_arena_release(&scratch);
    return result;
}
