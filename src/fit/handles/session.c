// Handles on a model, live: the shape is voxelised once, then handles come, move and go, and every
// change solves what depends on it with the same functions in the same order as the first time, so
// weights after any number of changes have the bits of a fresh bind of the same handles. Invariant:
// a change that fails leaves handles, weights and report as they were.
#include <cutis/handles.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/handles/model.h"
#include "fit/handles/report.h"
#include "geometry/vector.h"

/// Weights at their own handle may be off by this much before anybody is told: a thousandth of a
/// millimetre of a metre's motion, and less than a weight in a file can hold.
static const double INTERPOLATION_NOISE = 1e-6;
#define VOXELS_AUTO_MAX 512 ///< where --voxels auto stops

/// What one solve has made.
typedef struct solved {
    cutis_arena arena;
    cutis_handles_solution solution;
    cutis_handles_report *report;
    cutis_handle *handles; ///< with names of their own, in the arena
    uint32_t handle_count;
} solved;

struct cutis_handle_session {
    cutis_context *context;
    const cutis_model *model;
    cutis_device *device, *own; ///< `own`: made because none was given
    cutis_handles_options options;
    cutis_arena arena; ///< owns body and grid
    cutis_handles_body body;
    cutis_handles_grid grid;
    double longest; ///< side of the model
    double voxelise_seconds;
    cutis_handles_work work; ///< with the grid, and fields of handles that stay
    solved now;
};

static cutis_result check_set(cutis_context *context, const cutis_handle_set *set)
{
    if (set->handle_count == 0 || !set->handles)
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

// An earlier handle at the same place (ends within a voxel, either way round), or NONE.
static uint32_t find_twin(const cutis_handle_set *set, uint32_t h, double step)
{
    double a[3], b[3], c[3], d[3];
    ends_of(&set->handles[h], a, b);
    for (uint32_t other = 0; other < h; other++) {
        ends_of(&set->handles[other], c, d);
        if ((v3_distance_of(a, c) < step && v3_distance_of(b, d) < step) ||
            (v3_distance_of(a, d) < step && v3_distance_of(b, c) < step))
            return other;
    }
    return CUTIS_HANDLES_NONE;
}

static cutis_result place_handles(cutis_handles_solution *solution, const cutis_handle_set *set,
                                  cutis_handles_report *report)
{
    cutis_context *context = solution->arena->context;
    if (!cutis_handles_sites_init(solution->arena, set->handle_count, &solution->sites))
        return cutis_alloc_result(context);
    for (uint32_t h = 0; h < set->handle_count; h++) {
        double a[3], b[3];
        ends_of(&set->handles[h], a, b);
        if (!cutis_handles_report_name(report, h, set->handles[h].name))
            return cutis_alloc_result(context);
        uint32_t twin = find_twin(set, h, solution->grid.step);
        report->handles[h].shared = twin != CUTIS_HANDLES_NONE;
        if (twin != CUTIS_HANDLES_NONE) {
            solution->joint_site[h] = solution->joint_site[twin];
            continue;
        }
        solution->joint_site[h] = solution->sites.site_count;
        // A bar shorter than a voxel is a point, or its field would fall off as from a line.
        bool bar =
            set->handles[h].kind == CUTIS_HANDLE_BAR && v3_distance_of(a, b) >= solution->grid.step;
        if (!cutis_handles_sites_add(&solution->sites, &solution->grid, a, b, bar))
            return cutis_alloc_result(context);
    }
    return CUTIS_OK;
}

static double longest_side(const cutis_handles_shape *shape)
{
    double longest = 0;
    box3 box = box3_empty();
    for (uint32_t v = 0; v < shape->vertex_count; v++) box3_add(&box, v3_at(shape->positions, v));
    for (int c = 0; c < 3; c++) longest = fmax(longest, box.high[c] - box.low[c]);
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

// Voxels along the longest side that keep all handles `gap` voxels apart, with a little to spare.
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

// One solve
// ------------------------------------------------------------------------------------------

static void release_solved(solved *s)
{
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a session holds it
    cutis_handles_report_destroy(s->report);
    cutis_arena_release(&s->arena);
    *s = (solved){ 0 };
}

static bool copy_handles(solved *s, const cutis_handle *handles, uint32_t count)
{
    s->handles = cutis_arena_copy(&s->arena, handles, count, sizeof *handles);
    s->handle_count = s->handles ? count : 0;
    for (uint32_t h = 0; h < s->handle_count; h++) {
        if (!handles[h].name) continue;
        s->handles[h].name = cutis_arena_string(&s->arena, handles[h].name);
        if (!s->handles[h].name) return false;
    }
    return s->handles != NULL;
}

static cutis_result solve(cutis_handle_session *session, const cutis_handle *handles,
                          uint32_t count, solved *out)
{
    cutis_context *context = session->context;
    cutis_handles_solution *solution = &out->solution;
    out->arena = (cutis_arena){ .context = context };
    *solution = (cutis_handles_solution){ .arena = &out->arena,
                                          .work = &session->work,
                                          .options = &session->options,
                                          .grid = session->grid,
                                          .joint_count = count };
    out->report = cutis_handles_report_create(context, count);
    solution->joint_site = cutis_arena_alloc(&out->arena, count, sizeof(uint32_t));
    if (!out->report || !solution->joint_site || !copy_handles(out, handles, count))
        return cutis_alloc_result(context);
    const cutis_handle_set set = { .handle_count = count, .handles = out->handles };
    out->report->voxels = session->options.voxels;
    out->report->voxel_size = session->grid.step;
    out->report->seconds.voxelise = session->voxelise_seconds;
    TRY(place_handles(solution, &set, out->report));
    TRY(cutis_handles_solve(solution, &session->body.shape, out->report, out->report->handles));
    TRY(check_separation(context, &set, &session->options, session->longest, out->report));
    cutis_handles_report_finish(out->report, session->body.shape.vertex_count);
    return CUTIS_OK;
}

// Solve for other handles and take the result, or keep what is there.
static cutis_result change(cutis_handle_session *session, const cutis_handle *handles,
                           uint32_t count)
{
    solved next = { 0 };
    if (count == 0) {
        release_solved(&session->now);
        return CUTIS_OK;
    }
    const cutis_handle_set set = { .handle_count = count, .handles = handles };
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): callers have looked
    cutis_result result = check_set(session->context, &set);
    if (result == CUTIS_OK) result = solve(session, handles, count, &next);
    if (result != CUTIS_OK) {
        release_solved(&next);
        return cutis_fail_in(session->context, result);
    }
    release_solved(&session->now);
    session->now = next;
    session->now.solution.arena = session->now.solution.sites.arena = &session->now.arena;
    return CUTIS_OK;
}

// The public session
// ---------------------------------------------------------------------------------

static cutis_result voxelise(cutis_handle_session *s, const cutis_handle_set *set)
{
    double start = cutis_os_seconds();
    TRY(cutis_handles_body_world(&s->arena, s->model, &s->body));
    s->longest = longest_side(&s->body.shape);
    double least = set ? least_separation(set) : INFINITY;
    if (s->options.voxels_auto && isfinite(least)) {
        uint32_t wanted = voxels_for(s->longest, cutis_handles_gap(s->options.weighting), least);
        if (wanted > VOXELS_AUTO_MAX) wanted = VOXELS_AUTO_MAX;
        if (wanted > s->options.voxels) s->options.voxels = wanted;
    }
    TRY(cutis_handles_prepare(&s->work, s->options.weighting));
    TRY(cutis_handles_grid_create(&s->arena, &s->work, &s->body.shape, s->options.voxels,
                                  &s->grid));
    s->voxelise_seconds = cutis_os_seconds() - start;
    return CUTIS_OK;
}

// `set` decides how many voxels `voxels_auto` takes; NULL: as many as there are.
static cutis_result open_session(const cutis_model *model, cutis_device *device,
                                 const cutis_handles_options *options, const cutis_handle_set *set,
                                 cutis_handle_session **out)
{
    cutis_context *context = cutis_model_context(model);
    cutis_handle_session *s = cutis_alloc_zero(context, 1, sizeof *s);
    if (!s) return cutis_alloc_result(context);
    s->context = context, s->model = model;
    s->arena = (cutis_arena){ .context = context };
    cutis_result result = cutis_handles_check_options(context, options, &s->options);
    if (result == CUTIS_OK && !device)
        result =
            cutis_device_create(context, &(cutis_device_options){ .thread_count = 1 }, &s->own);
    s->device = device ? device : s->own;
    if (result == CUTIS_OK) cutis_handles_work_init(&s->work, s->device, context);
    if (result == CUTIS_OK && s->options.reduce && !set)
        result = cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                            "handles: a live session keeps the largest weights; reduce at the end");
    if (result == CUTIS_OK && s->options.voxels_auto && !set)
        result = cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                            "handles: a live session keeps its voxels; say how many");
    if (result == CUTIS_OK) result = voxelise(s, set);
    if (result == CUTIS_OK)
        *out = s;
    else
        cutis_handle_session_destroy(s);
    return cutis_fail_in(context, result);
}

cutis_result cutis_handle_session_create(const cutis_model *model, cutis_device *device,
                                         const cutis_handles_options *options,
                                         cutis_handle_session **out)
{
    if (out) *out = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    return open_session(model, device, options, NULL, out);
}

void cutis_handle_session_destroy(cutis_handle_session *session)
{
    if (!session) return;
    release_solved(&session->now);
    cutis_handles_work_release(&session->work);
    cutis_arena_release(&session->arena);
    cutis_device_destroy(session->own);
    cutis_free(session->context, session, sizeof *session);
}

cutis_result cutis_handles_set(cutis_handle_session *session, const cutis_handle *handles,
                               uint32_t count)
{
    if (!session || (count && !handles)) return CUTIS_INVALID_ARGUMENT;
    return change(session, handles, count);
}

// A copy of the handles with space for one more, to be changed; NULL if memory ran out.
static cutis_handle *edit_handles(const cutis_handle_session *session)
{
    const size_t count = session->now.handle_count;
    cutis_handle *list = cutis_alloc_array(session->context, count + 1, sizeof *list);
    for (size_t h = 0; list && h < count; h++) list[h] = session->now.handles[h];
    return list;
}

// Take such a copy, of which `count` are left or there now.
static cutis_result take_handles(cutis_handle_session *session, cutis_handle *list, uint32_t count)
{
    const size_t capacity = (size_t)session->now.handle_count + 1;
    if (!list) return cutis_alloc_result(session->context);
    const cutis_result result = change(session, list, count);
    cutis_free_array(session->context, list, capacity, sizeof *list);
    return result;
}

static cutis_result check_index(const cutis_handle_session *session, uint32_t index,
                                const char *what)
{
    const uint32_t count = session->now.handle_count;
    if (index < count) return CUTIS_OK;
    return cutis_fail(session->context, CUTIS_INVALID_ARGUMENT,
                      "there is no handle %u to %s, there are %u", index, what, count);
}

cutis_result cutis_handles_add(cutis_handle_session *session, const cutis_handle *handle,
                               uint32_t *index)
{
    if (!session || !handle) return CUTIS_INVALID_ARGUMENT;
    const uint32_t count = session->now.handle_count;
    cutis_handle *list = edit_handles(session);
    if (list) list[count] = *handle;
    TRY(take_handles(session, list, count + 1));
    if (index) *index = count;
    return CUTIS_OK;
}

cutis_result cutis_handles_move(cutis_handle_session *session, uint32_t index,
                                const cutis_handle *place)
{
    if (!session || !place) return CUTIS_INVALID_ARGUMENT;
    TRY(check_index(session, index, "move"));
    cutis_handle *list = edit_handles(session);
    if (list) {
        const char *name = place->name ? place->name : list[index].name;
        list[index] = *place;
        list[index].name = name;
    }
    return take_handles(session, list, session->now.handle_count);
}

cutis_result cutis_handles_remove(cutis_handle_session *session, uint32_t index)
{
    if (!session) return CUTIS_INVALID_ARGUMENT;
    TRY(check_index(session, index, "remove"));
    const uint32_t left = session->now.handle_count - 1;
    cutis_handle *list = edit_handles(session);
    for (uint32_t h = index; list && h < left; h++) list[h] = list[h + 1];
    return take_handles(session, list, left);
}

cutis_handles_view cutis_handles_look(const cutis_handle_session *session)
{
    if (!session) return (cutis_handles_view){ 0 };
    const cutis_handles_influences *influences = &session->now.solution.influences;
    return (cutis_handles_view){ .handle_count = session->now.handle_count,
                                 .handles = session->now.handles,
                                 .vertex_count = session->body.shape.vertex_count,
                                 .influences = influences->slots,
                                 .joints = influences->joints,
                                 .weights = influences->weights,
                                 .report = session->now.report };
}

cutis_result cutis_handles_finish(const cutis_handle_session *session,
                                  const cutis_handle_pose *poses, uint32_t pose_count,
                                  cutis_model **out)
{
    if (out) *out = NULL;
    if (!session || !out || (pose_count && !poses)) return CUTIS_INVALID_ARGUMENT;
    const cutis_handle_set set = { session->now.handle_count, session->now.handles, pose_count,
                                   poses };
    cutis_result result = CUTIS_OK;
    TRY(check_set(session->context, &set));
    // Weights on virtual handles are for the model's rig; a drag does not wait for them.
    cutis_arena scratch = { .context = session->context };
    cutis_handles_solution solution = session->now.solution;
    if (solution.virtual.virtual_count)
        result = cutis_handles_spread_make(
            &scratch, session->device, &solution.grid, &solution.virtual, &session->body.shape,
            solution.joint_count, solution.joint_site, &solution.spread);
    if (result == CUTIS_OK)
        result = cutis_handles_rig(session->model, &session->body, &set, &solution, out);
    cutis_arena_release(&scratch);
    return result;
}

// Handles move only in the poses they came with.
static cutis_result reduce_poses(const cutis_model *model, const cutis_handle_session *session,
                                 uint32_t influences, uint32_t pose_count, cutis_model **out)
{
    const uint32_t old = cutis_model_get(model)->clip_count;
    uint32_t *clips = cutis_alloc_array(session->context, pose_count, sizeof *clips);
    if (!clips) return cutis_alloc_result(session->context);
    for (uint32_t p = 0; p < pose_count; p++) clips[p] = old + p;
    cutis_result result = cutis_handles_reduce(session->device, influences, clips, pose_count, out,
                                               session->now.report);
    cutis_free_array(session->context, clips, pose_count, sizeof *clips);
    return result;
}

cutis_result cutis_handles_weights(const cutis_model *model, cutis_device *device,
                                   const cutis_handle_set *handles,
                                   const cutis_handles_options *options, cutis_model **out,
                                   cutis_handles_report **report_out)
{
    if (out) *out = NULL;
    if (report_out) *report_out = NULL;
    if (!model || !handles || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_handle_session *session = NULL;
    cutis_handles_options wide = options ? *options : (cutis_handles_options){ 0 };
    const uint32_t influences = wide.influences ? wide.influences : 4;
    if (wide.reduce && influences <= 64) wide.influences = cutis_handles_wide(influences);
    cutis_result result = check_set(cutis_model_context(model), handles);
    if (result == CUTIS_OK) result = open_session(model, device, &wide, handles, &session);
    if (result == CUTIS_OK) result = change(session, handles->handles, handles->handle_count);
    if (result == CUTIS_OK) cutis_handles_work_release(&session->work); // no other solve is to come
    if (result == CUTIS_OK)
        result = cutis_handles_finish(session, handles->poses, handles->pose_count, out);
    if (result == CUTIS_OK && wide.reduce) {
        result = reduce_poses(model, session, influences, handles->pose_count, out);
        if (result != CUTIS_OK) cutis_model_destroy(*out), *out = NULL;
    }
    if (result == CUTIS_OK && report_out) {
        *report_out = session->now.report;
        session->now.report = NULL;
    }
    cutis_handle_session_destroy(session);
    return cutis_fail_in(cutis_model_context(model), result);
}
