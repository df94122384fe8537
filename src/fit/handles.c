// The two ways in: handles on a model, and the joints of its skins. Everything that was asked for
// is checked before any work; the model and the report are handed over together or not at all.
#include <cutis/handles.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/handles_model.h"
#include "fit/handles_skeleton.h"

/// Weights at their own handle may be off by this much before anybody is told: a thousandth of a
/// millimetre of a metre's motion, and less than a weight in a file can hold.
static const double INTERPOLATION_NOISE = 1e-6;
#define VOXELS_AUTO_MAX 512 ///< where --voxels auto stops

const char *cutis_weighting_name(cutis_weighting weighting)
{
    return weighting == CUTIS_WEIGHTING_VIRTUAL ? "virtual" : "field";
}

void cutis_handles_report_destroy(cutis_handles_report *report)
{
    if (!report) return;
    cutis_context *context = report->context;
    for (uint32_t i = 0; i < report->handle_count; i++)
        if (report->handles[i].name)
            cutis_free(context, (char *)report->handles[i].name,
                       strlen(report->handles[i].name) + 1);
    if (report->handles)
        cutis_free_array(context, report->handles, report->handle_count, sizeof *report->handles);
    cutis_free(context, report, sizeof *report);
}

static cutis_handles_report *create_report(cutis_context *context, uint32_t handle_count)
{
    cutis_handles_report *report = cutis_alloc_zero(context, 1, sizeof *report);
    if (!report) return NULL;
    report->context = context;
    report->separation_min = -1; // no pair yet
    report->handles = cutis_alloc_zero(context, handle_count, sizeof *report->handles);
    if (report->handles) report->handle_count = handle_count;
    if (report->handles) return report;
    cutis_handles_report_destroy(report);
    return NULL;
}

static bool name_result(cutis_context *context, const char *name, cutis_handle_result *result)
{
    if (!name) return true;
    char *copy = cutis_alloc(context, strlen(name) + 1);
    if (copy) strcpy(copy, name);
    result->name = copy;
    return copy != NULL;
}

static void finish_report(cutis_handles_report *report, uint32_t vertex_count)
{
    report->dropped_mass_mean = vertex_count ? report->dropped_mass_mean / vertex_count : 0;
    if (report->separation_min < 0) report->separation_min = 0;
}

// Handles
// -------------------------------------------------------------------------------------------

static cutis_result check_set(cutis_context *context, const cutis_handle_set *set)
{
    if (set->handle_count == 0)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "there are no handles");
    for (uint32_t h = 0; h < set->handle_count; h++) {
        const cutis_handle *handle = &set->handles[h];
        const float *values[2] = { &handle->from.x, &handle->to.x };
        for (int i = 0; i < 6; i++)
            if ((i < 3 || handle->kind == CUTIS_HANDLE_BAR) &&
                !(fabsf(values[i / 3][i % 3]) < 1e30f))
                return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                                  "handle %u: its place is not finite", h);
        if (handle->kind != CUTIS_HANDLE_POINT && handle->kind != CUTIS_HANDLE_BAR)
            return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "handle %u: no such kind", h);
    }
    for (uint32_t p = 0; p < set->pose_count; p++)
        for (uint32_t m = 0; m < set->poses[p].motion_count; m++)
            if (set->poses[p].motions[m].handle >= set->handle_count)
                return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "pose %u: there is no handle %u",
                                  p, set->poses[p].motions[m].handle);
    return CUTIS_OK;
}

static void ends_of(const cutis_handle *handle, double *a, double *b)
{
    const cutis_float3 to = handle->kind == CUTIS_HANDLE_BAR ? handle->to : handle->from;
    a[0] = handle->from.x, a[1] = handle->from.y, a[2] = handle->from.z;
    b[0] = to.x, b[1] = to.y, b[2] = to.z;
}

static double between(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

// An earlier handle at the same place (ends within a voxel, either way round), or NONE.
static uint32_t find_twin(const cutis_handle_set *set, uint32_t h, double step)
{
    double a[3], b[3], c[3], d[3];
    ends_of(&set->handles[h], a, b);
    for (uint32_t other = 0; other < h; other++) {
        ends_of(&set->handles[other], c, d);
        if ((between(a, c) < step && between(b, d) < step) ||
            (between(a, d) < step && between(b, c) < step))
            return other;
    }
    return CUTIS_HANDLES_NONE;
}

static cutis_result place_handles(cutis_handles_solution *solution, const cutis_handle_set *set,
                                  cutis_handles_report *report)
{
    cutis_context *context = solution->arena->context;
    if (!cutis_handles_sites_init(context, set->handle_count, &solution->sites))
        return cutis_alloc_result(context);
    for (uint32_t h = 0; h < set->handle_count; h++) {
        double a[3], b[3];
        ends_of(&set->handles[h], a, b);
        if (!name_result(context, set->handles[h].name, &report->handles[h]))
            return cutis_alloc_result(context);
        uint32_t twin = find_twin(set, h, solution->grid.step);
        report->handles[h].shared = twin != CUTIS_HANDLES_NONE;
        if (twin != CUTIS_HANDLES_NONE) {
            solution->joint_site[h] = solution->joint_site[twin];
            continue;
        }
        solution->joint_site[h] = solution->sites.site_count;
        // A bar shorter than a voxel is a point, or its field would fall off as from a line.
        bool bar = set->handles[h].kind == CUTIS_HANDLE_BAR && between(a, b) >= solution->grid.step;
        if (!cutis_handles_sites_add(&solution->sites, &solution->grid, a, b, bar))
            return cutis_alloc_result(context);
    }
    return CUTIS_OK;
}

static double longest_side(const cutis_handles_shape *shape)
{
    double longest = 0;
    for (int c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t v = 0; v < shape->vertex_count; v++) {
            low = fmin(low, shape->positions[3 * (size_t)v + c]);
            high = fmax(high, shape->positions[3 * (size_t)v + c]);
        }
        longest = fmax(longest, high - low);
    }
    return longest;
}

// Least distance between two handles that are not at one place.
static double least_separation(const cutis_handle_set *set)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < set->handle_count; i++)
        for (uint32_t j = 0; j < i; j++) {
            cutis_handles_segment a, b;
            ends_of(&set->handles[i], a.a, a.b);
            ends_of(&set->handles[j], b.a, b.b);
            const cutis_handles_site one = { .segments = &a, .segment_count = 1 };
            const cutis_handles_site two = { .segments = &b, .segment_count = 1 };
            double d = cutis_handles_site_separation(&one, &two);
            if (d > 0) least = fmin(least, d);
        }
    return least;
}

// Voxels along the longest side that keep all handles `gap` voxels apart, with a little room.
static uint32_t voxels_for(double longest, double gap, double separation)
{
    double count = ceil(1.02 * gap * longest / separation);
    return count < 1e9 ? (uint32_t)count : 1000000000u;
}

static cutis_result check_separation(cutis_context *context, const cutis_handle_set *set,
                                     const cutis_handles_options *options, double longest,
                                     cutis_handles_report *report)
{
    double gap = cutis_handles_gap(options->weighting), least = least_separation(set);
    bool shared = false;
    for (uint32_t h = 0; h < set->handle_count; h++) shared |= report->handles[h].shared;
    if (report->interpolation_error_max > INTERPOLATION_NOISE || shared)
        report->voxels_needed = isfinite(least) ? voxels_for(longest, gap, least) : 0;
    if (options->strict && (report->interpolation_error_max > INTERPOLATION_NOISE || shared))
        return cutis_fail(
            context, CUTIS_INVALID_ARGUMENT,
            "the grid does not separate the handles: a weight at its own handle is off "
            "by %.2g; %u voxels would do",
            report->interpolation_error_max, report->voxels_needed);
    return CUTIS_OK;
}

static cutis_result bind_handles(const cutis_model *model, const cutis_handle_set *set,
                                 cutis_handles_solution *solution, cutis_handles_options *options,
                                 cutis_handles_report *report, cutis_model **out)
{
    cutis_context *context = cutis_model_context(model);
    cutis_handles_body body;
    double start = cutis_os_seconds();
    cutis_result result = cutis_handles_body_world(solution->arena, model, &body);
    if (result != CUTIS_OK) return result;
    double longest = longest_side(&body.shape), least = least_separation(set);
    if (options->voxels_auto && isfinite(least)) {
        uint32_t wanted = voxels_for(longest, cutis_handles_gap(options->weighting), least);
        if (wanted > VOXELS_AUTO_MAX) wanted = VOXELS_AUTO_MAX;
        if (wanted > options->voxels) options->voxels = wanted;
    }
    result = cutis_handles_grid_create(solution->arena, solution->device, &body.shape,
                                       options->voxels, &solution->grid);
    if (result != CUTIS_OK) return result;
    report->seconds.voxelise = cutis_os_seconds() - start;
    report->voxels = options->voxels;
    report->voxel_size = solution->grid.step;
    solution->joint_count = set->handle_count;
    solution->joint_site = cutis_arena_alloc(solution->arena, set->handle_count, sizeof(uint32_t));
    if (!solution->joint_site) return cutis_alloc_result(context);
    result = place_handles(solution, set, report);
    if (result == CUTIS_OK)
        result = cutis_handles_solve(solution, &body.shape, report, report->handles);
    if (result == CUTIS_OK) result = check_separation(context, set, options, longest, report);
    if (result != CUTIS_OK) return result;
    finish_report(report, body.shape.vertex_count);
    return cutis_handles_rig(model, &body, set, &solution->influences, out);
}

cutis_result cutis_handles_weights(const cutis_model *model, cutis_device *device,
                                   const cutis_handle_set *handles,
                                   const cutis_handles_options *options, cutis_model **out,
                                   cutis_handles_report **report_out)
{
    if (!model || !handles || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    cutis_handles_options filled;
    cutis_result result = cutis_handles_check_options(context, options, &filled);
    if (result == CUTIS_OK) result = check_set(context, handles);
    if (result != CUTIS_OK) return result;
    cutis_arena arena = { .context = context };
    cutis_handles_solution solution = { .arena = &arena, .device = device, .options = &filled };
    cutis_handles_report *report = create_report(context, handles->handle_count);
    result = report ? bind_handles(model, handles, &solution, &filled, report, out)
                    : cutis_alloc_result(context);
    cutis_handles_sites_release(&solution.sites);
    cutis_arena_release(&arena);
    if (result == CUTIS_OK && report_out)
        *report_out = report;
    else
        cutis_handles_report_destroy(report);
    return result;
}

// Skeletons
// -----------------------------------------------------------------------------------------

typedef struct skeleton {
    const cutis_model *model;
    cutis_device *device;
    cutis_handles_options options;
    cutis_arena arena;  ///< what the new model is made from
    int32_t *mesh_skin; ///< per mesh
    cutis_mesh *meshes; ///< of the new model
    cutis_handles_report *report;
    uint32_t joint_first; ///< into the report's handles
    uint32_t vertex_count;
} skeleton;

static bool skin_in_use(const skeleton *s, int32_t skin)
{
    if (s->options.skin_plus_one > 0 && skin != s->options.skin_plus_one - 1) return false;
    for (uint32_t m = 0; m < cutis_model_get(s->model)->mesh_count; m++)
        if (s->mesh_skin[m] == skin) return true;
    return false;
}

static bool apply_skin(skeleton *s, int32_t skin, const cutis_handles_influences *influences)
{
    size_t vertex = 0;
    for (uint32_t m = 0; m < cutis_model_get(s->model)->mesh_count; m++) {
        if (s->mesh_skin[m] != skin) continue;
        cutis_mesh *mesh = &s->meshes[m];
        cutis_primitive *primitives = cutis_arena_copy(&s->arena, mesh->primitives,
                                                       mesh->primitive_count, sizeof *primitives);
        if (!primitives) return false;
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            if (!cutis_handles_set_influences(&s->arena, influences, vertex, &primitives[p]))
                return false;
            vertex += primitives[p].vertex_count;
        }
        mesh->primitives = primitives;
    }
    return true;
}

static cutis_result solve_skin(skeleton *s, int32_t skin, cutis_handles_solution *solution)
{
    cutis_handles_body body;
    cutis_handles_bones bones;
    cutis_context *context = solution->arena->context;
    double start = cutis_os_seconds();
    cutis_result result =
        cutis_handles_body_skin(solution->arena, s->model, s->mesh_skin, skin, &body);
    if (result == CUTIS_OK)
        result = cutis_handles_grid_create(solution->arena, s->device, &body.shape,
                                           s->options.voxels, &solution->grid);
    if (result != CUTIS_OK) return result;
    s->report->seconds.voxelise += cutis_os_seconds() - start;
    if (s->report->voxel_size == 0) s->report->voxel_size = solution->grid.step;
    result = cutis_handles_bones_create(solution->arena, s->model, (uint32_t)skin, &bones);
    if (result != CUTIS_OK) return result;
    solution->joint_count = bones.joint_count;
    solution->joint_site = cutis_arena_alloc(solution->arena, bones.joint_count, sizeof(uint32_t));
    // Bones that meet keep 8 voxels (virtual: 12) between their sites, or half of what they have.
    double gap = s->options.weighting == CUTIS_WEIGHTING_FIELD ? 8 : 12;
    if (!solution->joint_site ||
        !cutis_handles_sites_init(context, bones.joint_count, &solution->sites) ||
        !cutis_handles_bones_sites(&bones, &solution->grid, s->options.softness,
                                   gap * solution->grid.step, &solution->sites,
                                   solution->joint_site))
        return cutis_alloc_result(context);
    result =
        cutis_handles_solve(solution, &body.shape, s->report, s->report->handles + s->joint_first);
    if (result != CUTIS_OK) return result;
    s->vertex_count += body.shape.vertex_count;
    return apply_skin(s, skin, &solution->influences) ? CUTIS_OK : cutis_alloc_result(context);
}

static cutis_result bind_skin(skeleton *s, int32_t skin)
{
    cutis_context *context = s->arena.context;
    const cutis_model_data *data = cutis_model_get(s->model);
    cutis_arena arena = { .context = context };
    cutis_handles_solution solution = {
        .arena = &arena, .device = s->device, .options = &s->options, .skeleton = true
    };
    cutis_result result = CUTIS_OK;
    for (uint32_t j = 0; j < data->skins[skin].joint_count && result == CUTIS_OK; j++)
        if (!name_result(context, data->nodes[data->skins[skin].joints[j]].name,
                         &s->report->handles[s->joint_first + j]))
            result = cutis_alloc_result(context);
    if (result == CUTIS_OK) result = solve_skin(s, skin, &solution);
    s->joint_first += data->skins[skin].joint_count;
    cutis_handles_sites_release(&solution.sites);
    cutis_arena_release(&arena);
    return result;
}

static cutis_result bind_skins(skeleton *s)
{
    cutis_context *context = s->arena.context;
    const cutis_model_data *data = cutis_model_get(s->model);
    uint32_t joints = 0;
    s->mesh_skin = cutis_arena_alloc(&s->arena, data->mesh_count, sizeof *s->mesh_skin);
    s->meshes = cutis_arena_copy(&s->arena, data->meshes, data->mesh_count, sizeof *s->meshes);
    if (!s->mesh_skin || !s->meshes) return cutis_alloc_result(context);
    cutis_handles_mesh_skins(s->model, s->mesh_skin);
    for (uint32_t i = 0; i < data->skin_count; i++)
        if (skin_in_use(s, (int32_t)i)) joints += data->skins[i].joint_count;
    if (joints == 0)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          s->options.skin_plus_one > 0
                              ? "no mesh of the scene uses that skin"
                              : "there is no skeleton: no mesh of the scene has a skin");
    s->report = create_report(context, joints);
    if (!s->report) return cutis_alloc_result(context);
    s->report->voxels = s->options.voxels;
    for (uint32_t i = 0; i < data->skin_count; i++) {
        if (!skin_in_use(s, (int32_t)i)) continue;
        cutis_result result = bind_skin(s, (int32_t)i);
        if (result != CUTIS_OK) return result;
    }
    finish_report(s->report, s->vertex_count);
    return CUTIS_OK;
}

cutis_result cutis_handles_skeleton(const cutis_model *model, cutis_device *device,
                                    const cutis_handles_options *options, cutis_model **out,
                                    cutis_handles_report **report_out)
{
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    skeleton s = { .model = model, .device = device, .arena = { .context = context } };
    cutis_result result = cutis_handles_check_options(context, options, &s.options);
    if (result == CUTIS_OK) result = bind_skins(&s);
    if (result == CUTIS_OK) {
        cutis_model_data data = *cutis_model_get(model);
        data.meshes = s.meshes;
        result = cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out);
    }
    cutis_arena_release(&s.arena);
    if (result == CUTIS_OK && report_out)
        *report_out = s.report;
    else
        cutis_handles_report_destroy(s.report);
    return result;
}
