// Joints moved, added, taken out and renamed, one edit after the other, on a copy of what a model
// has. Invariant: a joint's neighbours stay where they are in the world, at rest and in clips as
// far as clips turn things; and the skin at rest stays where it is, since a joint's inverse bind
// goes with it.
#include <cutis/skeleton.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct {
    cutis_arena arena;
    const cutis_model *model;
    cutis_context *context;
    cutis_model_data data; // what comes out; arrays below are its own
    cutis_node *nodes;
    cutis_mat34 *matrices; // of nodes that have one
    cutis_skin *skins;
    cutis_mesh *meshes;
} editor;

static const char *name_of(const editor *e, uint32_t node)
{
    return e->nodes[node].name ? e->nodes[node].name : "";
}

static int32_t place_in(const cutis_skin *skin, uint32_t node)
{
    for (uint32_t i = 0; i < skin->joint_count; i++)
        if (skin->joints[i] == node) return (int32_t)i;
    return CUTIS_NONE;
}

static bool is_joint(const editor *e, uint32_t node)
{
    for (uint32_t i = 0; i < e->data.skin_count; i++)
        if (place_in(&e->skins[i], node) != CUTIS_NONE) return true;
    return false;
}

static cutis_mat34 local_of(const editor *e, uint32_t node)
{
    const cutis_node *n = &e->nodes[node];
    return n->matrix ? *n->matrix : cutis_mat34_from_transform(&n->rest);
}

static cutis_mat34 world_of(const editor *e, int32_t node)
{
    static const cutis_mat34 IDENTITY = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
    cutis_mat34 world = IDENTITY;
    for (; node != CUTIS_NONE; node = e->nodes[node].parent) {
        const cutis_mat34 local = local_of(e, (uint32_t)node);
        world = cutis_mat34_multiply(&local, &world);
    }
    return world;
}

// A point of the world in a node's own space. false: the node is flat
static bool seen_from(const editor *e, int32_t node, cutis_float3 point, cutis_float3 *out)
{
    const cutis_mat34 world = world_of(e, node);
    cutis_mat34 back;
    if (!cutis_mat34_invert(&world, &back)) return false;
    *out = cutis_mat34_point(&back, point);
    return isfinite(out->x) && isfinite(out->y) && isfinite(out->z);
}

// A node's local translation changes, and that of every key of its tracks.
static void shift(editor *e, uint32_t node, cutis_float3 by)
{
    const float d[3] = { by.x, by.y, by.z };
    cutis_node *n = &e->nodes[node];
    if (n->matrix)
        for (int c = 0; c < 3; c++) e->matrices[node].m[4 * c + 3] += d[c];
    else
        n->rest.translation =
            (cutis_float3){ n->rest.translation.x + by.x, n->rest.translation.y + by.y,
                            n->rest.translation.z + by.z };
    for (uint32_t i = 0; i < e->data.clip_count; i++)
        for (uint32_t k = 0; k < e->data.clips[i].channel_count; k++) {
            const cutis_channel *channel = &e->data.clips[i].channels[k];
            if (channel->node != node || channel->path != CUTIS_PATH_TRANSLATION) continue;
            const bool cubic = channel->interpolation == CUTIS_INTERPOLATION_CUBIC;
            float *values = (float *)(uintptr_t)channel->values; // our own copy
            for (size_t key = 0; key < channel->key_count; key++)
                for (int c = 0; c < 3; c++) values[3 * (cubic ? 3 * key + 1 : key) + c] += d[c];
        }
}

static cutis_result move(editor *e, const cutis_joint_edit *edit)
{
    const uint32_t node = edit->node;
    cutis_float3 own, parent_to, parent_from;
    const cutis_mat34 world = world_of(e, (int32_t)node);
    const cutis_float3 from = { world.m[3], world.m[7], world.m[11] };
    const int32_t parent = e->nodes[node].parent;
    if (!seen_from(e, (int32_t)node, edit->position, &own) ||
        !seen_from(e, parent, edit->position, &parent_to) ||
        !seen_from(e, parent, from, &parent_from))
        return UNSUPPORTED(e->context, "joint \"%s\" cannot be moved: its scale is 0",
                           name_of(e, node));
    shift(e, node,
          (cutis_float3){ parent_to.x - parent_from.x, parent_to.y - parent_from.y,
                          parent_to.z - parent_from.z });
    for (uint32_t i = 0; i < e->data.node_count; i++)
        if (e->nodes[i].parent == (int32_t)node)
            shift(e, i, (cutis_float3){ -own.x, -own.y, -own.z });
    for (uint32_t i = 0; i < e->data.skin_count; i++) {
        const int32_t at = place_in(&e->skins[i], node);
        if (at == CUTIS_NONE) continue;
        float *m = ((cutis_mat34 *)(uintptr_t)e->skins[i].inverse_binds)[at].m;
        m[3] -= own.x, m[7] -= own.y, m[11] -= own.z;
    }
    return CUTIS_OK;
}

static cutis_result check_name(const editor *e, const char *name)
{
    if (!name || !*name) return INVALID(e->context, "a joint needs a name");
    for (uint32_t i = 0; i < e->data.node_count; i++)
        if (is_joint(e, i) && strcmp(name_of(e, i), name) == 0)
            return INVALID(e->context, "there is a joint \"%s\" already", name);
    return CUTIS_OK;
}

static cutis_result add(editor *e, const cutis_joint_edit *edit)
{
    const uint32_t node = e->data.node_count;
    cutis_float3 at;
    TRY(check_name(e, edit->name));
    if (!seen_from(e, (int32_t)edit->node, edit->position, &at))
        return UNSUPPORTED(e->context, "joint \"%s\" can have no child: its scale is 0",
                           name_of(e, edit->node));
    cutis_node made = cutis_node_default();
    made.name = cutis_arena_string(&e->arena, edit->name);
    if (!made.name) return cutis_alloc_result(e->context);
    made.parent = (int32_t)edit->node;
    made.rest.translation = at;
    made.outside = e->nodes[edit->node].outside;
    e->nodes[e->data.node_count++] = made;
    for (uint32_t i = 0; i < e->data.skin_count; i++) {
        cutis_skin *skin = &e->skins[i];
        const int32_t parent = place_in(skin, edit->node);
        if (parent == CUTIS_NONE) continue;
        cutis_mat34 *binds = (cutis_mat34 *)(uintptr_t)skin->inverse_binds, bind = binds[parent];
        bind.m[3] -= at.x, bind.m[7] -= at.y, bind.m[11] -= at.z;
        binds[skin->joint_count] = bind;
        ((uint32_t *)(uintptr_t)skin->joints)[skin->joint_count++] = node;
    }
    return CUTIS_OK;
}

// The nearest joint of a skin above a node: who takes its weight.
static int32_t heir_of(const editor *e, const cutis_skin *skin, uint32_t node)
{
    for (int32_t n = e->nodes[node].parent; n != CUTIS_NONE; n = e->nodes[n].parent) {
        const int32_t at = place_in(skin, (uint32_t)n);
        if (at != CUTIS_NONE) return at;
    }
    return CUTIS_NONE;
}

// Joint `from` of a primitive's influences becomes `to`, those after it move up; a joint that a
// vertex has twice by then has the sum.
static cutis_result give_weights(editor *e, cutis_primitive *part, uint32_t from, uint32_t to)
{
    const cutis_influences *in = &part->influences;
    if (!in->first) return CUTIS_OK;
    const size_t total = in->first[part->vertex_count];
    uint32_t *first = cutis_arena_alloc(&e->arena, (size_t)part->vertex_count + 1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(&e->arena, total + 1, sizeof *joints), used = 0;
    float *weights = cutis_arena_alloc(&e->arena, total + 1, sizeof *weights);
    if (!first || !joints || !weights) return cutis_alloc_result(e->context);
    for (uint32_t v = 0; v < part->vertex_count; v++) {
        first[v] = used;
        for (uint32_t k = in->first[v]; k < in->first[v + 1]; k++) {
            const uint32_t old = in->joints[k] == from ? to : in->joints[k];
            const uint32_t joint = old - (old > from);
            uint32_t at = first[v];
            while (at < used && joints[at] != joint) at++;
            if (at == used)
                joints[used] = joint, weights[used++] = in->weights[k];
            else
                weights[at] += in->weights[k];
        }
    }
    first[part->vertex_count] = used;
    part->influences = (cutis_influences){ first, joints, weights };
    return CUTIS_OK;
}

static cutis_result drop_from_skin(editor *e, uint32_t index, uint32_t from, uint32_t to)
{
    cutis_skin *skin = &e->skins[index];
    for (uint32_t m = 0; m < e->data.mesh_count; m++) {
        bool uses = false, others = false;
        for (uint32_t n = 0; n < e->data.node_count; n++)
            if (e->nodes[n].mesh == (int32_t)m && e->nodes[n].skin != CUTIS_NONE) {
                uses = uses || e->nodes[n].skin == (int32_t)index;
                others = others || e->nodes[n].skin != (int32_t)index;
            }
        if (!uses) continue;
        if (others) return UNSUPPORTED(e->context, "a mesh is moved by two skins");
        e->meshes[m].part_tree = NULL; // it counts the skin's joints
        for (uint32_t k = 0; k < e->meshes[m].primitive_count; k++)
            TRY(give_weights(e, (cutis_primitive *)(uintptr_t)&e->meshes[m].primitives[k], from,
                             to));
    }
    const size_t after = skin->joint_count - from - 1;
    uint32_t *joints = (uint32_t *)(uintptr_t)skin->joints + from;
    cutis_mat34 *binds = (cutis_mat34 *)(uintptr_t)skin->inverse_binds + from;
    memmove(joints, joints + 1, after * sizeof *joints);
    memmove(binds, binds + 1, after * sizeof *binds);
    skin->joint_count--;
    return CUTIS_OK;
}

static cutis_result take_out(editor *e, const cutis_joint_edit *edit)
{
    if (e->data.handles)
        return UNSUPPORTED(e->context, "handles are joints in a fixed order: none can be removed");
    for (uint32_t i = 0; i < e->data.skin_count; i++) {
        const int32_t from = place_in(&e->skins[i], edit->node);
        if (from == CUTIS_NONE) continue;
        const int32_t to = heir_of(e, &e->skins[i], edit->node);
        if (to == CUTIS_NONE)
            return UNSUPPORTED(e->context, "joint \"%s\" has none above it to take its weights",
                               name_of(e, edit->node));
        TRY(drop_from_skin(e, i, (uint32_t)from, (uint32_t)to));
    }
    return CUTIS_OK;
}

static cutis_result rename_joint(editor *e, const cutis_joint_edit *edit)
{
    TRY(check_name(e, edit->name));
    e->nodes[edit->node].name = cutis_arena_string(&e->arena, edit->name);
    return e->nodes[edit->node].name ? CUTIS_OK : cutis_alloc_result(e->context);
}

static cutis_result apply(editor *e, const cutis_joint_edit *edit)
{
    if (edit->node >= e->data.node_count || !is_joint(e, edit->node))
        return INVALID(e->context, "node %u is no joint", (unsigned)edit->node);
    switch (edit->change) {
    case CUTIS_JOINT_MOVE:
        return move(e, edit);
    case CUTIS_JOINT_ADD:
        return add(e, edit);
    case CUTIS_JOINT_REMOVE:
        return take_out(e, edit);
    case CUTIS_JOINT_RENAME:
        return rename_joint(e, edit);
    }
    return INVALID(e->context, "no such change of a joint: %d", (int)edit->change);
}

// Copies of what edits write to: nodes and their matrices, with room for more.
static cutis_result copy_nodes(editor *e, uint32_t more)
{
    const cutis_model_data *data = cutis_model_get(e->model);
    const size_t count = (size_t)data->node_count + more;
    e->nodes = cutis_arena_zero(&e->arena, count + 1, sizeof *e->nodes);
    e->matrices = cutis_arena_zero(&e->arena, count + 1, sizeof *e->matrices);
    if (!e->nodes || !e->matrices) return cutis_alloc_result(e->context);
    for (uint32_t i = 0; i < data->node_count; i++) {
        e->nodes[i] = data->nodes[i];
        if (!e->nodes[i].matrix) continue;
        e->matrices[i] = *e->nodes[i].matrix;
        e->nodes[i].matrix = &e->matrices[i];
    }
    e->data.nodes = e->nodes;
    return CUTIS_OK;
}

static cutis_result copy_skins(editor *e, uint32_t more)
{
    static const cutis_mat34 IDENTITY = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
    e->skins = cutis_arena_copy(&e->arena, e->data.skins, e->data.skin_count, sizeof *e->skins);
    if (!e->skins && e->data.skin_count) return cutis_alloc_result(e->context);
    for (uint32_t i = 0; i < e->data.skin_count; i++) {
        cutis_skin *skin = &e->skins[i];
        const size_t room = (size_t)skin->joint_count + more;
        uint32_t *joints = cutis_arena_zero(&e->arena, room + 1, sizeof *joints);
        cutis_mat34 *binds = cutis_arena_zero(&e->arena, room + 1, sizeof *binds);
        if (!joints || !binds) return cutis_alloc_result(e->context);
        for (uint32_t k = 0; k < skin->joint_count; k++) {
            joints[k] = skin->joints[k];
            binds[k] = skin->inverse_binds ? skin->inverse_binds[k] : IDENTITY;
        }
        skin->joints = joints, skin->inverse_binds = binds;
    }
    e->data.skins = e->skins;
    return CUTIS_OK;
}

static cutis_result copy_meshes(editor *e)
{
    e->meshes = cutis_arena_copy(&e->arena, e->data.meshes, e->data.mesh_count, sizeof *e->meshes);
    if (!e->meshes && e->data.mesh_count) return cutis_alloc_result(e->context);
    for (uint32_t i = 0; i < e->data.mesh_count; i++) {
        cutis_mesh *mesh = &e->meshes[i];
        mesh->primitives = cutis_arena_copy(&e->arena, mesh->primitives, mesh->primitive_count,
                                            sizeof *mesh->primitives);
        if (!mesh->primitives && mesh->primitive_count) return cutis_alloc_result(e->context);
    }
    e->data.meshes = e->meshes;
    return CUTIS_OK;
}

static cutis_result copy_clips(editor *e)
{
    cutis_clip *clips =
        cutis_arena_copy(&e->arena, e->data.clips, e->data.clip_count, sizeof *clips);
    if (!clips && e->data.clip_count) return cutis_alloc_result(e->context);
    for (uint32_t i = 0; i < e->data.clip_count; i++) {
        cutis_channel *channels = cutis_arena_copy(&e->arena, clips[i].channels,
                                                   clips[i].channel_count, sizeof *channels);
        if (!channels && clips[i].channel_count) return cutis_alloc_result(e->context);
        clips[i].channels = channels;
        for (uint32_t k = 0; k < clips[i].channel_count; k++) {
            if (channels[k].path != CUTIS_PATH_TRANSLATION) continue;
            const bool cubic = channels[k].interpolation == CUTIS_INTERPOLATION_CUBIC;
            channels[k].values =
                cutis_arena_copy(&e->arena, channels[k].values,
                                 (size_t)channels[k].key_count * (cubic ? 9 : 3), sizeof(float));
            if (!channels[k].values) return cutis_alloc_result(e->context);
        }
    }
    e->data.clips = clips;
    return CUTIS_OK;
}

cutis_result cutis_joints_edit(const cutis_model *model, const cutis_joint_edit *edits,
                               uint32_t count, cutis_model **out)
{
    if (out) *out = NULL;
    if (!model || (!edits && count) || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    editor e = { .arena = { .context = context },
                 .model = model,
                 .context = context,
                 .data = *cutis_model_get(model) };
    cutis_result result = copy_nodes(&e, count);
    if (result == CUTIS_OK) result = copy_skins(&e, count);
    if (result == CUTIS_OK) result = copy_meshes(&e);
    if (result == CUTIS_OK) result = copy_clips(&e);
    for (uint32_t i = 0; i < count && result == CUTIS_OK; i++) result = apply(&e, &edits[i]);
    if (result == CUTIS_OK) result = cutis_model_create(context, &e.data, CUTIS_GATE_REFUSE, out);
    cutis_arena_release(&e.arena);
    return result;
}
