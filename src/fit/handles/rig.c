// The model that handles make: a node per handle under one root, a skin per rest frame of a mesh, a
// clip per pose. Old nodes, skins and clips stay, first and in their order, so that a glTF file
// keeps its textures and everything else we do not model. Invariant: at rest every vertex is where
// it was.
#include "fit/handles/model.h"
#include "fit/handles/record.h"

#include <math.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "math/mat3.h"
#include "model/object.h"

typedef struct rig {
    cutis_arena arena;
    const cutis_model *model;
    const cutis_handles_body *body;
    const cutis_handle_set *handles;
    const cutis_handles_solution *solution;
    cutis_handles_record record;
    size_t *mesh_vertex; ///< per mesh: first vertex in the body, SIZE_MAX if it has none
    cutis_model_data data;
    cutis_node *nodes;
    cutis_mesh *meshes;
    cutis_skin *skins;
    uint32_t old_nodes, old_skins;
} rig;

// A skin for a rest frame: joint k takes the frame's vertices to the world, then to the handle.
static bool find_skin(rig *r, const double *frame, double (*frames)[12], int32_t *out)
{
    uint32_t made = r->data.skin_count - r->old_skins;
    for (uint32_t s = 0; s < made; s++)
        if (memcmp(frames[s], frame, 12 * sizeof *frame) == 0) {
            *out = (int32_t)(r->old_skins + s);
            return true;
        }
    const uint32_t count = r->handles->handle_count;
    cutis_mat34 *binds = cutis_arena_alloc(&r->arena, count, sizeof *binds);
    uint32_t *joints = cutis_arena_alloc(&r->arena, count, sizeof *joints);
    if (!binds || !joints) return false;
    for (uint32_t h = 0; h < count; h++) {
        const cutis_float3 from = r->handles->handles[h].from;
        const double origin[3] = { from.x, from.y, from.z };
        for (int i = 0; i < 12; i++) {
            double value = frame[i];
            if (i % 4 == 3) value -= origin[i / 4];
            binds[h].m[i] = (float)value;
        }
        joints[h] = r->old_nodes + 1 + h;
    }
    memcpy(frames[made], frame, 12 * sizeof *frame);
    *out = (int32_t)r->data.skin_count;
    r->skins[r->data.skin_count++] = (cutis_skin){ .name = "handles",
                                                   .joint_count = count,
                                                   .joints = joints,
                                                   .inverse_binds = binds,
                                                   .root = (int32_t)r->old_nodes };
    return true;
}

// The first instance of a mesh keeps its place, unless that is taken; later ones get copies: their
// weights differ.
static bool add_instance(rig *r, uint32_t i, const cutis_instance *instance, bool *taken,
                         double (*frames)[12])
{
    cutis_mesh mesh = cutis_model_get(r->model)->meshes[instance->mesh];
    cutis_primitive *primitives =
        cutis_arena_copy(&r->arena, mesh.primitives, mesh.primitive_count, sizeof *primitives);
    if (!primitives) return false;
    size_t vertex = instance->vertex_first;
    const bool mirrored = cutis_instance_mirrored(cutis_model_get(r->model), instance);
    for (uint32_t p = 0; p < mesh.primitive_count; p++) {
        if (r->body->baked[i] && !cutis_handles_bake(&r->arena, r->body, vertex, mesh.target_count,
                                                     mirrored, &primitives[p]))
            return false;
        if (!cutis_handles_set_influences(&r->arena, &r->solution->influences, vertex,
                                          &primitives[p]))
            return false;
        vertex += primitives[p].vertex_count;
    }
    mesh.primitives = primitives;
    uint32_t at = taken[instance->mesh] ? r->data.mesh_count++ : instance->mesh;
    taken[instance->mesh] = true;
    r->meshes[at] = mesh;
    r->mesh_vertex[at] = instance->vertex_first;
    r->nodes[instance->node].mesh = (int32_t)at;
    return find_skin(r, r->body->frame[i], frames, &r->nodes[instance->node].skin);
}

static bool add_instances(rig *r)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(r->model, &instances);
    double(*frames)[12] = cutis_arena_alloc(&r->arena, count, sizeof *frames);
    bool *taken = cutis_arena_zero(&r->arena, r->data.mesh_count, sizeof *taken);
    if (!frames || !taken) return false;
    // What another scene shows under its old skin keeps the weights of that skin.
    for (uint32_t n = 0; n < r->old_nodes; n++)
        if (r->nodes[n].outside && r->nodes[n].mesh != CUTIS_NONE && r->nodes[n].skin != CUTIS_NONE)
            taken[r->nodes[n].mesh] = true;
    for (uint32_t i = 0; i < count; i++)
        if (!add_instance(r, i, &instances[i], taken, frames)) return false;
    return true;
}

static void add_nodes(rig *r)
{
    cutis_node node = {
        .name = "handles", .parent = CUTIS_NONE, .mesh = CUTIS_NONE, .skin = CUTIS_NONE
    };
    node.rest = cutis_transform_identity();
    r->nodes[r->data.node_count++] = node;
    node.parent = (int32_t)r->old_nodes;
    for (uint32_t h = 0; h < r->handles->handle_count; h++) {
        node.name = r->handles->handles[h].name;
        node.rest.translation = r->handles->handles[h].from;
        r->nodes[r->data.node_count++] = node;
    }
}

// Two channels a motion, one key each: R about the handle, then the translation.
static bool add_clip(rig *r, const cutis_handle_pose *pose, cutis_clip *out)
{
    static const float zero[1] = { 0 };
    cutis_channel *channels =
        cutis_arena_alloc(&r->arena, pose->motion_count, 2 * sizeof *channels);
    float *values = cutis_arena_alloc(&r->arena, pose->motion_count, 7 * sizeof *values);
    if (!channels || !values) return false;
    for (uint32_t m = 0; m < pose->motion_count; m++) {
        const cutis_handle_motion *motion = &pose->motions[m];
        const cutis_float3 from = r->handles->handles[motion->handle].from, t = motion->translation;
        const float seven[7] = { from.x + t.x,       from.y + t.y,       from.z + t.z,
                                 motion->rotation.x, motion->rotation.y, motion->rotation.z,
                                 motion->rotation.w };
        memcpy(values + 7 * (size_t)m, seven, sizeof seven);
        cutis_channel channel = { .node = r->old_nodes + 1 + motion->handle,
                                  .interpolation = CUTIS_INTERPOLATION_LINEAR,
                                  .key_count = 1,
                                  .times = zero };
        channel.path = CUTIS_PATH_TRANSLATION;
        channel.values = values + 7 * (size_t)m;
        channels[2 * (size_t)m] = channel;
        channel.path = CUTIS_PATH_ROTATION;
        channel.values = values + 7 * (size_t)m + 3;
        channels[2 * (size_t)m + 1] = channel;
    }
    *out = (cutis_clip){ .name = pose->name,
                         .channel_count = 2 * pose->motion_count,
                         .channels = channels };
    return true;
}

static bool add_clips(rig *r)
{
    const uint32_t old = r->data.clip_count, count = old + r->handles->pose_count;
    cutis_clip *clips = cutis_arena_alloc(&r->arena, count, sizeof *clips);
    if (!clips) return false;
    for (uint32_t c = 0; c < old; c++) clips[c] = r->data.clips[c];
    for (uint32_t p = 0; p < r->handles->pose_count; p++)
        if (!add_clip(r, &r->handles->poses[p], &clips[old + p])) return false;
    r->data.clips = clips;
    r->data.clip_count = count;
    return true;
}

// The handles as they are now, with the virtual ones if there are any.
static bool add_record(rig *r)
{
    const uint32_t count = r->handles->handle_count;
    uint32_t primitives = 0, primitive = 0, first_virtual = 0;
    for (uint32_t m = 0; m < r->data.mesh_count; m++) primitives += r->meshes[m].primitive_count;
    if (!cutis_handles_record_init(&r->arena, count, r->data.mesh_count, primitives, &r->record))
        return false;
    for (uint32_t h = 0; h < count; h++) {
        r->record.handles[h] = r->handles->handles[h];
        r->record.nodes[h] = r->old_nodes + 1 + h;
    }
    if (r->solution->virtual.virtual_count)
        first_virtual = cutis_handles_record_virtual(&r->record, r->solution, 0, NULL);
    if (first_virtual == UINT32_MAX) return false;
    for (uint32_t m = 0; m < r->data.mesh_count; m++) {
        size_t vertex = r->mesh_vertex[m];
        if (vertex != SIZE_MAX) r->record.first_handles[m] = 0;
        for (uint32_t p = 0; p < r->meshes[m].primitive_count; p++, primitive++) {
            const uint32_t vertices = r->meshes[m].primitives[p].vertex_count;
            if (r->mesh_vertex[m] == SIZE_MAX) continue;
            if (!cutis_handles_record_primitive(&r->record, r->solution, primitive, vertex,
                                                vertices, 0, first_virtual))
                return false;
            vertex += vertices;
        }
    }
    r->data.handles = cutis_handles_record_rig(&r->record);
    return true;
}

cutis_result cutis_handles_rig(const cutis_model *model, const cutis_handles_body *body,
                               const cutis_handle_set *handles,
                               const cutis_handles_solution *solution, cutis_model **out)
{
    cutis_context *context = cutis_model_context(model);
    rig r = { .arena = { .context = context },
              .model = model,
              .body = body,
              .handles = handles,
              .solution = solution,
              .data = *cutis_model_get(model) };
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    r.data.cage = NULL;       // it was made for other meshes
    r.data.pose_space = NULL; // of the skins that no longer move the meshes
    r.old_nodes = r.data.node_count;
    r.old_skins = r.data.skin_count;
    r.nodes = cutis_arena_alloc(&r.arena, (size_t)r.old_nodes + 1 + handles->handle_count,
                                sizeof *r.nodes);
    r.meshes = cutis_arena_alloc(&r.arena, (size_t)r.data.mesh_count + count, sizeof *r.meshes);
    r.skins = cutis_arena_alloc(&r.arena, (size_t)r.old_skins + count, sizeof *r.skins);
    r.mesh_vertex =
        cutis_arena_alloc(&r.arena, (size_t)r.data.mesh_count + count, sizeof *r.mesh_vertex);
    bool good = r.nodes && r.meshes && r.skins && r.mesh_vertex;
    if (good) {
        for (size_t m = 0; m < (size_t)r.data.mesh_count + count; m++) r.mesh_vertex[m] = SIZE_MAX;
        memcpy(r.nodes, r.data.nodes, r.old_nodes * sizeof *r.nodes);
        for (uint32_t m = 0; m < r.data.mesh_count; m++) r.meshes[m] = r.data.meshes[m];
        for (uint32_t s = 0; s < r.old_skins; s++) r.skins[s] = r.data.skins[s];
        good = add_instances(&r);
    }
    if (good) {
        add_nodes(&r);
        good = add_clips(&r) && add_record(&r);
    }
    r.data.nodes = r.nodes;
    r.data.meshes = r.meshes;
    r.data.skins = r.skins;
    cutis_result result = good ? cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, out)
                               : cutis_alloc_result(context);
    cutis_arena_release(&r.arena);
    return result;
}
