// From sites to the weights of vertices. Invariant: every vertex gets at least one influence, all
// of them > 0, summing to one in double before they are rounded to float.
#include "fit/handles_solve.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/handles_device.h"
#include "fit/handles_distance.h"
#include "fit/handles_virtual.h"

#define CHUNK 1024 ///< vertices a task

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

// Vertices
// ------------------------------------------------------------------------------------------

typedef struct sampling {
    cutis_handles_solution *solution;
    const cutis_handles_shape *shape;
    double *scratch;               ///< site_count per task
    double *dropped_sum, *dropped; ///< per task: sum and largest
} sampling;

// Keep the largest; ties go to the joint that came first, which is the lower one.
static void keep(uint32_t width, uint32_t *joints, double *weights, uint32_t joint, double weight)
{
    uint32_t at = width;
    while (at > 0 && weight > weights[at - 1]) at--;
    if (at == width) return;
    for (uint32_t i = width - 1; i > at; i--)
        joints[i] = joints[i - 1], weights[i] = weights[i - 1];
    joints[at] = joint, weights[at] = weight;
}

// The kept ones by ascending joint, summing to one.
static void store(const cutis_handles_influences *out, size_t vertex, uint32_t *joints,
                  double *weights, double sum)
{
    for (uint32_t i = 1; i < out->width; i++)
        for (uint32_t j = i; j > 0 && weights[j] > 0 && joints[j] < joints[j - 1]; j--) {
            uint32_t joint = joints[j];
            double weight = weights[j];
            joints[j] = joints[j - 1], weights[j] = weights[j - 1];
            joints[j - 1] = joint, weights[j - 1] = weight;
        }
    for (uint32_t i = 0; i < out->width; i++) {
        out->joints[vertex * out->width + i] = joints[i];
        out->weights[vertex * out->width + i] = (float)(weights[i] / sum);
    }
}

static void sample_task(void *data, uint32_t task)
{
    sampling *s = data;
    const cutis_handles_solution *solution = s->solution;
    const cutis_handles_influences *out = &solution->influences;
    double *weights = s->scratch + (size_t)task * solution->sites.site_count;
    uint32_t end = s->shape->vertex_count;
    if (end - task * CHUNK > CHUNK) end = (task + 1) * CHUNK;
    s->dropped_sum[task] = s->dropped[task] = 0;
    for (uint32_t v = task * CHUNK; v < end; v++) {
        double point[3], kept[64] = { 0 }, sum = 0;
        uint32_t joints[64] = { 0 };
        for (int c = 0; c < 3; c++) point[c] = s->shape->positions[3 * (size_t)v + c];
        cutis_handles_field_at(&solution->grid, &solution->field, point, true, weights);
        for (uint32_t j = 0; j < solution->joint_count; j++) {
            uint32_t site = solution->joint_site[j];
            if (site != CUTIS_HANDLES_NONE && weights[site] > 0)
                keep(out->width, joints, kept, j, weights[site] / solution->sharers[site]);
        }
        for (uint32_t i = 0; i < out->width; i++) sum += kept[i];
        store(out, v, joints, kept, sum);
        double dropped = fmax(1 - sum, 0);
        s->dropped_sum[task] += dropped;
        s->dropped[task] = fmax(s->dropped[task], dropped);
    }
}

static cutis_result sample_on_host(sampling *s, uint32_t tasks, cutis_arena *scratch)
{
    s->scratch =
        cutis_arena_alloc(scratch, (size_t)tasks * s->solution->sites.site_count, sizeof(double));
    if (!s->scratch) return cutis_alloc_result(scratch->context);
    cutis_device_run(s->solution->device, sample_task, s, tasks);
    return CUTIS_OK;
}

static cutis_result sample_on_device(sampling *s, uint32_t tasks, cutis_arena *scratch)
{
    const uint32_t vertices = s->shape->vertex_count;
    double *dropped = cutis_arena_alloc(scratch, vertices, sizeof *dropped);
    if (!dropped) return cutis_alloc_result(scratch->context);
    cutis_result result =
        cutis_handles_gpu_sample(s->solution->gpu, s->solution, s->shape, dropped);
    for (uint32_t t = 0; t < tasks; t++) s->dropped_sum[t] = s->dropped[t] = 0;
    for (uint32_t v = 0; v < vertices && result == CUTIS_OK; v++) {
        s->dropped_sum[v / CHUNK] += dropped[v];
        s->dropped[v / CHUNK] = fmax(s->dropped[v / CHUNK], dropped[v]);
    }
    return result;
}

static cutis_result sample_vertices(cutis_handles_solution *solution,
                                    const cutis_handles_shape *shape, cutis_handles_report *report)
{
    cutis_context *context = solution->arena->context;
    cutis_arena scratch = { .context = context };
    cutis_handles_influences *out = &solution->influences;
    uint32_t width = solution->options->influences,
             tasks = (shape->vertex_count + CHUNK - 1) / CHUNK;
    out->width = width < solution->joint_count ? width : solution->joint_count;
    size_t total = (size_t)shape->vertex_count * out->width;
    out->joints = cutis_arena_alloc(solution->arena, total, sizeof *out->joints);
    out->weights = cutis_arena_alloc(solution->arena, total, sizeof *out->weights);
    sampling s = { .solution = solution, .shape = shape };
    s.dropped_sum = cutis_arena_alloc(&scratch, tasks, sizeof(double));
    s.dropped = cutis_arena_alloc(&scratch, tasks, sizeof(double));
    cutis_result result = out->joints && out->weights && s.dropped_sum && s.dropped
                              ? CUTIS_OK
                              : cutis_alloc_result(context);
    if (result == CUTIS_OK)
        result = solution->gpu ? sample_on_device(&s, tasks, &scratch)
                               : sample_on_host(&s, tasks, &scratch);
    double sum = 0;
    for (uint32_t t = 0; t < tasks && result == CUTIS_OK; t++) {
        sum += s.dropped_sum[t];
        report->dropped_mass_max = fmax(report->dropped_mass_max, s.dropped[t]);
    }
    report->dropped_mass_mean += sum; // divided by all vertices at the end
    cutis_arena_release(&scratch);
    return result;
}

// Handles
// -------------------------------------------------------------------------------------------

// 1 - own weight, the largest over the site's samples.
static double site_error(const cutis_handles_solution *solution, uint32_t s, double *weights)
{
    const cutis_handles_site *site = &solution->sites.sites[s];
    double worst = 0;
    for (uint32_t g = 0; g < site->segment_count; g++) {
        uint32_t count = cutis_handles_sample_count(&solution->grid, &site->segments[g]);
        for (uint32_t i = 0; i < count; i++) {
            double p[3];
            cutis_handles_sample(&site->segments[g], count, i, p);
            cutis_handles_field_at(&solution->grid, &solution->field, p, true, weights);
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
    bool *held = cutis_arena_alloc(scratch, grid->component_count, sizeof *held);
    if (!held) return false;
    memset(held, 0, grid->component_count * sizeof *held);
    for (size_t i = 0; i < sites->core_count; i++) held[grid->component[sites->cores[i]]] = true;
    for (uint32_t v = 0; v < grid->voxel_count; v++)
        label[v] = held[grid->component[v]] ? 0 : CUTIS_HANDLES_NONE;
    return true;
}

static cutis_result solve_field(cutis_handles_solution *solution, cutis_arena *scratch,
                                uint32_t *label, const uint32_t *owner,
                                cutis_handles_report *report)
{
    const cutis_handles_grid *grid = &solution->grid;
    cutis_result result;
    if (solution->gpu) {
        result =
            cutis_handles_gpu_field(solution->gpu, solution, owner, &report->seconds.distances);
    } else {
        cutis_handles_front front;
        double start = cutis_os_seconds();
        if (!cutis_handles_front_init(scratch, grid, &front))
            return cutis_alloc_result(scratch->context);
        for (uint32_t s = 0; s < solution->sites.site_count; s++)
            cutis_handles_front_start(&front, &solution->sites.sites[s], s);
        cutis_handles_front_finish(&front);
        for (uint32_t v = 0; v < grid->voxel_count; v++)
            if (front.distance[v] < INFINITY) label[v] = front.label[v];
        report->seconds.distances += cutis_os_seconds() - start;
        result = cutis_handles_field_solve(solution->arena, solution->device, grid,
                                           &solution->sites, front.distance, label, owner,
                                           solution->options->tolerance, &solution->field);
    }
    if (solution->field.iteration_count > report->iterations)
        report->iterations = solution->field.iteration_count;
    return result;
}

static cutis_result solve_virtual(cutis_handles_solution *solution, const uint32_t *label,
                                  const uint32_t *owner, cutis_handles_report *report)
{
    cutis_handles_virtual *virtual = &solution->virtual;
    const cutis_handles_virtual_options options = { .radius_max = solution->options->radius,
                                                    .radius_floor = solution->skeleton ? 4.5 : 1 };
    cutis_result result = CUTIS_OK;
    bool fits = false;
    if (solution->gpu)
        result = cutis_handles_gpu_virtual(solution->gpu, solution, label, owner, &options, &fits);
    if (result == CUTIS_OK && !fits)
        result = cutis_handles_virtual_solve(solution->arena, solution->device, &solution->grid,
                                             &solution->sites, label, owner, &options,
                                             solution->cache, virtual, &solution->field);
    report->virtual_handles += virtual->virtual_count;
    report->coverage_max = fmax(report->coverage_max, virtual->coverage_max);
    if (virtual->round_count > report->insertion_rounds)
        report->insertion_rounds = virtual->round_count;
    report->seconds.distances += virtual->seconds_distances;
    report->seconds.insertion += virtual->seconds_insertion;
    return result;
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
        return solve_field(solution, scratch, label, owner, report);
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
    report->real_handles += solution->sites.site_count;
    solution->sharers =
        cutis_arena_alloc(solution->arena, solution->sites.site_count, sizeof(uint32_t));
    if (!solution->sharers) return cutis_alloc_result(context);
    for (uint32_t s = 0; s < solution->sites.site_count; s++) solution->sharers[s] = 0;
    for (uint32_t j = 0; j < solution->joint_count; j++)
        if (solution->joint_site[j] != CUTIS_HANDLES_NONE)
            solution->sharers[solution->joint_site[j]]++;
    cutis_result result = cutis_progress(context, "distances", 0);
    if (result == CUTIS_OK) result = solve_voxels(solution, &scratch, report);
    if (result == CUTIS_OK) result = sample_vertices(solution, shape, report);
    if (result == CUTIS_OK) {
        report->seconds.weights += cutis_os_seconds() - start -
                                   (report->seconds.distances + report->seconds.insertion - before);
        result = describe_handles(solution, report, results);
    }
    cutis_arena_release(&scratch);
    return result;
}
