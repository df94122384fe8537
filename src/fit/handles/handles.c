// Automatic weights for rigs: the joints of each skin are handles. Everything that was asked for is
// checked before any work; the model and the report are handed over together or not at all.
#include <cutis/handles.h>

#include <math.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/handles/caps.h"
#include "fit/handles/islands.h"
#include "fit/handles/model.h"
#include "fit/handles/record.h"
#include "fit/handles/report.h"
#include "fit/handles/skeleton.h"
#include "geometry/vector.h"
#include "math/mat3.h"

/// Parts of the longest side within which an island touches: not voxels, so that a finer grid does
/// not change whom it follows.
static const double CONTACT = 1.0 / 96;

const char *cutis_weighting_name(cutis_weighting weighting)
{
    return weighting == CUTIS_WEIGHTING_VIRTUAL ? "virtual" : "field";
}

typedef struct skeleton {
    const cutis_model *model;
    cutis_device *device;
    cutis_handles_options options;
    cutis_arena arena;  ///< what the new model is made from
    int32_t *mesh_skin; ///< per mesh
    cutis_mesh *meshes; ///< of the new model
    cutis_handles_report *report;
    uint32_t joint_first; ///< into the report's handles, and of the rig
    uint32_t vertex_count;
    cutis_handles_record record; ///< VIRTUAL
} skeleton;

static bool skin_in_use(const skeleton *s, int32_t skin)
{
    if (s->options.skin_plus_one > 0 && skin != s->options.skin_plus_one - 1) return false;
    for (uint32_t m = 0; m < cutis_model_get(s->model)->mesh_count; m++)
        if (s->mesh_skin[m] == skin) return true;
    return false;
}

// What a skin's bones and virtual handles are at rest, in world space.
static bool record_places(skeleton *s, int32_t skin, const cutis_handles_solution *solution,
                          const cutis_handles_bones *bones, uint32_t *first_virtual)
{
    const cutis_model_data *data = cutis_model_get(s->model);
    const cutis_skin *from = &data->skins[skin];
    cutis_transform *local = cutis_arena_alloc(&s->arena, data->node_count, sizeof *local);
    cutis_mat34 *world = cutis_arena_alloc(&s->arena, data->node_count, sizeof *world);
    double(*rest)[12] = cutis_arena_alloc(&s->arena, from->joint_count, sizeof *rest);
    if (!local || !world || !rest) return false;
    cutis_pose_rest(s->model, local, NULL);
    cutis_pose_world(s->model, local, world);
    for (uint32_t j = 0; j < from->joint_count; j++) {
        cutis_mat34 matrix = world[from->joints[j]];
        if (from->inverse_binds) matrix = cutis_mat34_multiply(&matrix, &from->inverse_binds[j]);
        double34_from_floats(matrix.m, rest[j]);
        // A bone is shown as the longest piece of it that holds the shape, or as its joint.
        cutis_handles_segment best;
        double longest = -1, ends[2][3];
        memcpy(best.a, bones->origin + 3 * (size_t)j, sizeof best.a);
        memcpy(best.b, best.a, sizeof best.b);
        const uint32_t site = solution->joint_site[j];
        for (size_t g = 0;
             site != CUTIS_HANDLES_NONE && g < solution->sites.sites[site].segment_count; g++) {
            const cutis_handles_segment *piece = &solution->sites.sites[site].segments[g];
            vec3 d = v3_sub(v3_of(piece->b), v3_of(piece->a));
            if (v3_dot(d, d) > longest) longest = v3_dot(d, d), best = *piece;
        }
        double34_point(rest[j], best.a, ends[0]);
        double34_point(rest[j], best.b, ends[1]);
        s->record.nodes[s->joint_first + j] = from->joints[j];
        s->record.handles[s->joint_first + j] = (cutis_handle){
            .kind = longest > 0 ? CUTIS_HANDLE_BAR : CUTIS_HANDLE_POINT,
            .from = { (float)ends[0][0], (float)ends[0][1], (float)ends[0][2] },
            .to = { (float)ends[1][0], (float)ends[1][1], (float)ends[1][2] },
        };
    }
    *first_virtual = cutis_handles_record_virtual(&s->record, solution, s->joint_first,
                                                  (const double(*)[12])rest);
    return *first_virtual != UINT32_MAX;
}

// A mesh that another skin shows too keeps plain weights: its handles would be two sets.
static bool one_skin(const cutis_model_data *data, uint32_t mesh, int32_t skin)
{
    for (uint32_t n = 0; n < data->node_count; n++)
        if (data->nodes[n].mesh == (int32_t)mesh && data->nodes[n].skin != skin &&
            data->nodes[n].skin != CUTIS_NONE)
            return false;
    return true;
}

static bool record_skin(skeleton *s, int32_t skin, const cutis_handles_solution *solution,
                        const cutis_handles_bones *bones)
{
    const cutis_model_data *data = cutis_model_get(s->model);
    uint32_t primitive = 0, first_virtual = 0;
    size_t vertex = 0;
    if (s->options.weighting != CUTIS_WEIGHTING_VIRTUAL) return true;
    if (!record_places(s, skin, solution, bones, &first_virtual)) return false;
    for (uint32_t m = 0; m < data->mesh_count; m++) {
        const bool held = s->mesh_skin[m] == skin, own = held && one_skin(data, m, skin);
        if (own) s->record.first_handles[m] = (int32_t)s->joint_first;
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++, primitive++) {
            const uint32_t count = data->meshes[m].primitives[p].vertex_count;
            if (own && !cutis_handles_record_primitive(&s->record, solution, primitive, vertex,
                                                       count, s->joint_first, first_virtual))
                return false;
            if (held) vertex += count;
        }
    }
    return true;
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

// Sites of a skin's bones.
static cutis_result place_bones(const skeleton *s, cutis_handles_bones *bones,
                                cutis_handles_solution *solution)
{
    // Bones that meet keep 8 voxels (virtual: 12) between their sites, or half of what they have.
    const double gap = s->options.weighting == CUTIS_WEIGHTING_FIELD ? 8 : 12;
    bones->every = s->options.every_joint;
    solution->joint_count = bones->joint_count;
    solution->joint_site = cutis_arena_alloc(solution->arena, bones->joint_count, sizeof(uint32_t));
    if (!solution->joint_site ||
        !cutis_handles_sites_init(solution->arena, bones->joint_count, &solution->sites) ||
        !cutis_handles_bones_sites(bones, &solution->grid, s->options.softness,
                                   gap * solution->grid.step, &solution->sites,
                                   solution->joint_site))
        return cutis_alloc_result(solution->arena->context);
    return CUTIS_OK;
}

static double longest_side(const cutis_handles_shape *shape)
{
    box3 box = box3_empty();
    for (uint32_t v = 0; v < shape->vertex_count; v++) box3_add(&box, v3_at(shape->positions, v));
    return fmax(box.high[0] - box.low[0], fmax(box.high[1] - box.low[1], box.high[2] - box.low[2]));
}

static cutis_result solve_skin(skeleton *s, int32_t skin, cutis_handles_solution *solution)
{
    cutis_handles_body body;
    cutis_handles_bones bones;
    cutis_handles_islands islands;
    cutis_handles_shape closed;
    const double start = cutis_os_seconds();
    TRY(cutis_handles_body_skin(solution->arena, s->model, s->mesh_skin, skin, &body));
    TRY(cutis_handles_bones_create(solution->arena, s->model, (uint32_t)skin, &bones));
    TRY(cutis_handles_islands_find(solution->arena, &body.shape, &bones,
                                   CONTACT * longest_side(&body.shape), &islands));
    TRY(cutis_handles_caps(solution->arena, &islands.body, &closed));
    TRY(cutis_handles_prepare(solution->work, s->options.weighting));
    TRY(cutis_handles_grid_create(solution->arena, solution->work, &closed, s->options.voxels,
                                  &solution->grid));
    s->report->seconds.voxelise += cutis_os_seconds() - start;
    if (s->report->voxel_size == 0) s->report->voxel_size = solution->grid.step;
    TRY(place_bones(s, &bones, solution));
    TRY(cutis_handles_solve(solution, &closed, s->report, s->report->handles + s->joint_first));
    cutis_handles_islands_follow(&islands, &bones, &solution->influences);
    s->report->rigid_islands += islands.island_count;
    if (solution->virtual.virtual_count)
        TRY(cutis_handles_spread_make(solution->arena, s->device, &solution->grid,
                                      &solution->virtual, &islands.body, solution->joint_count,
                                      solution->joint_site, &solution->spread));
    s->vertex_count += body.shape.vertex_count;
    return record_skin(s, skin, solution, &bones) && apply_skin(s, skin, &solution->influences)
               ? CUTIS_OK
               : cutis_alloc_result(s->arena.context);
}

static cutis_result bind_skin(skeleton *s, int32_t skin)
{
    cutis_context *context = s->arena.context;
    const cutis_model_data *data = cutis_model_get(s->model);
    cutis_arena arena = { .context = context };
    cutis_handles_work work;
    cutis_handles_solution solution = {
        .arena = &arena, .work = &work, .options = &s->options, .skeleton = true
    };
    cutis_handles_work_init(&work, s->device, context);
    cutis_result result = CUTIS_OK;
    for (uint32_t j = 0; j < data->skins[skin].joint_count && result == CUTIS_OK; j++)
        if (!cutis_handles_report_name(s->report, s->joint_first + j,
                                       data->nodes[data->skins[skin].joints[j]].name))
            result = cutis_alloc_result(context);
    if (result == CUTIS_OK) result = solve_skin(s, skin, &solution);
    s->joint_first += data->skins[skin].joint_count;
    cutis_handles_work_release(&work);
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
    s->report = cutis_handles_report_create(context, joints);
    if (!s->report) return cutis_alloc_result(context);
    s->report->voxels = s->options.voxels;
    uint32_t primitives = 0;
    for (uint32_t m = 0; m < data->mesh_count; m++) primitives += data->meshes[m].primitive_count;
    if (!cutis_handles_record_init(&s->arena, joints, data->mesh_count, primitives, &s->record))
        return cutis_alloc_result(context);
    for (uint32_t i = 0; i < data->skin_count; i++)
        if (skin_in_use(s, (int32_t)i)) TRY(bind_skin(s, (int32_t)i));
    cutis_handles_report_finish(s->report, s->vertex_count);
    return CUTIS_OK;
}

// Clips tell more than automatic poses; without any, those.
static cutis_result reduce(skeleton *s, uint32_t influences, cutis_model **model)
{
    const uint32_t clips = cutis_model_get(s->model)->clip_count;
    uint32_t *all = cutis_arena_alloc(&s->arena, clips, sizeof *all);
    if (!all) return cutis_alloc_result(s->arena.context);
    for (uint32_t c = 0; c < clips; c++) all[c] = c;
    return cutis_handles_reduce(s->device, influences, all, clips, model, s->report);
}

static cutis_result make_model(skeleton *s, uint32_t influences, cutis_model **out)
{
    cutis_model_data data = *cutis_model_get(s->model);
    data.meshes = s->meshes;
    data.handles = s->record.rig.virtual_count ? cutis_handles_record_rig(&s->record) : NULL;
    TRY(cutis_model_create(s->arena.context, &data, CUTIS_GATE_REFUSE, out));
    if (!s->options.reduce) return CUTIS_OK;
    const cutis_result result = reduce(s, influences, out);
    if (result != CUTIS_OK) cutis_model_destroy(*out), *out = NULL;
    return result;
}

cutis_result cutis_handles_skeleton(const cutis_model *model, cutis_device *device,
                                    const cutis_handles_options *options, cutis_model **out,
                                    cutis_handles_report **report_out)
{
    if (out) *out = NULL;
    if (report_out) *report_out = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    cutis_device *own = NULL;
    skeleton s = { .model = model, .arena = { .context = context } };
    cutis_result result = cutis_handles_check_options(context, options, &s.options);
    const uint32_t influences = s.options.influences;
    if (s.options.reduce) s.options.influences = cutis_handles_wide(influences);
    if (result == CUTIS_OK && !device)
        result = cutis_device_create(context, &(cutis_device_options){ .thread_count = 1 }, &own);
    s.device = device ? device : own;
    if (result == CUTIS_OK) result = bind_skins(&s);
    if (result == CUTIS_OK) result = make_model(&s, influences, out);
    cutis_arena_release(&s.arena);
    cutis_device_destroy(own);
    if (result == CUTIS_OK && report_out)
        *report_out = s.report;
    else
        cutis_handles_report_destroy(s.report);
    return cutis_fail_in(context, result);
}
