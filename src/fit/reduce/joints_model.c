// A model without joints that were merged. Invariant: nodes and what moves them stay wherever
// something is left that they move, so joints that stay move exactly as they did.
#include <string.h>

#include "base/error.h"
#include "fit/reduce/joints.h"

// Nodes that went and that nothing hangs under: their tracks move nothing.
static bool find_idle(const cutis_model_data *data, const cutis_joints *joints, cutis_arena *arena,
                      bool **out)
{
    bool *idle = cutis_arena_alloc(arena, data->node_count, sizeof *idle);
    if (!idle) return false;
    for (uint32_t n = 0; n < data->node_count; n++)
        idle[n] = joints->into[n] != CUTIS_NONE && data->nodes[n].mesh == CUTIS_NONE;
    for (uint32_t s = 0; s < data->skin_count; s++) // of skins that are not in use too
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++)
            idle[data->skins[s].joints[j]] = 0;
    const cutis_pose_space *space = data->pose_space;
    const cutis_handle_rig *handles = data->handles;
    for (uint32_t j = 0; space && j < space->joint_count; j++) idle[space->joints[j]] = false;
    for (uint32_t h = 0; handles && h < handles->handle_count; h++) idle[handles->nodes[h]] = false;
    for (uint32_t n = data->node_count; n-- > 0;)
        if (!idle[n] && data->nodes[n].parent != CUTIS_NONE) idle[data->nodes[n].parent] = false;
    *out = idle;
    return true;
}

static bool drop_tracks(cutis_model_data *data, const bool *idle, cutis_arena *arena)
{
    cutis_clip *clips = cutis_arena_copy(arena, data->clips, data->clip_count, sizeof *clips);
    if (!clips) return false;
    for (uint32_t c = 0; c < data->clip_count; c++) {
        cutis_channel *channels =
            cutis_arena_alloc(arena, clips[c].channel_count, sizeof *channels);
        uint32_t count = 0;
        float last = 0, all = 0;
        if (!channels) return false;
        for (uint32_t i = 0; i < clips[c].channel_count; i++) {
            const cutis_channel *channel = &clips[c].channels[i];
            const float end = channel->times[channel->key_count - 1];
            if (end > all) all = end;
            if (idle[channel->node]) continue;
            channels[count++] = *channel;
            if (end > last) last = end;
        }
        // A clip keeps its length, by the track that ends it.
        for (uint32_t i = 0; i < clips[c].channel_count && (last < all || !count); i++) {
            const cutis_channel *channel = &clips[c].channels[i];
            if (!idle[channel->node] || channel->times[channel->key_count - 1] < all) continue;
            channels[count++] = *channel;
            break;
        }
        clips[c].channels = channels, clips[c].channel_count = count;
    }
    data->clips = clips;
    return true;
}

// A skin without the joints that went. @param place per old joint: its new one, or UINT32_MAX
static bool drop_joints(cutis_skin *skin, const cutis_joints *joints, cutis_arena *arena,
                        uint32_t **place)
{
    uint32_t *kept = cutis_arena_alloc(arena, skin->joint_count, sizeof *kept), count = 0;
    cutis_mat34 *binds = cutis_arena_alloc(arena, skin->joint_count, sizeof *binds);
    *place = cutis_arena_alloc(arena, skin->joint_count, sizeof **place);
    if (!kept || !binds || !*place) return false;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        (*place)[j] = UINT32_MAX;
        if (joints->into[skin->joints[j]] != CUTIS_NONE) continue;
        kept[count] = skin->joints[j];
        if (skin->inverse_binds) binds[count] = skin->inverse_binds[j];
        (*place)[j] = count++;
    }
    skin->joint_count = count;
    skin->joints = kept;
    if (skin->inverse_binds) skin->inverse_binds = binds;
    return true;
}

static bool renumber(cutis_mesh *mesh, const uint32_t *place, cutis_arena *arena)
{
    cutis_primitive *primitives =
        cutis_arena_copy(arena, mesh->primitives, mesh->primitive_count, sizeof *primitives);
    if (!primitives) return false;
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        const cutis_influences *from = &primitives[p].influences;
        if (!from->first) continue;
        const uint32_t count = from->first[primitives[p].vertex_count];
        uint32_t *joints = cutis_arena_alloc(arena, count, sizeof *joints);
        if (!joints) return false;
        for (uint32_t i = 0; i < count; i++) joints[i] = place[from->joints[i]];
        primitives[p].influences.joints = joints;
    }
    mesh->primitives = primitives;
    return true;
}

// Parts of a mesh name joints of its skin.
static cutis_result check_parts(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t m = 0; m < data->mesh_count; m++)
        if (data->meshes[m].part_tree)
            return cutis_fail(cutis_model_context(model), CUTIS_UNSUPPORTED,
                              "meshes/%u: its parts (CUTIS_parts) belong to joints; they cannot be "
                              "merged",
                              m);
    return CUTIS_OK;
}

cutis_result cutis_joints_drop(const cutis_model *model, const cutis_reduce_groups *groups,
                               const cutis_joints *joints, cutis_model **out)
{
    cutis_context *context = cutis_model_context(model);
    cutis_model_data data = *cutis_model_get(model);
    cutis_arena arena = { .context = context };
    cutis_mesh *meshes = cutis_arena_copy(&arena, data.meshes, data.mesh_count, sizeof *meshes);
    cutis_skin *skins = cutis_arena_copy(&arena, data.skins, data.skin_count, sizeof *skins);
    bool *idle = NULL, good = meshes && skins;
    cutis_result result = check_parts(model);
    for (uint32_t g = 0; g < groups->count && good; g++) {
        uint32_t *place;
        good = drop_joints(&skins[groups->group[g].skin], joints, &arena, &place);
        for (uint32_t m = 0; m < data.mesh_count && good; m++)
            if (groups->mesh_group[m] == (int32_t)g) good = renumber(&meshes[m], place, &arena);
    }
    data.skins = skins, data.meshes = meshes;
    good = good && find_idle(&data, joints, &arena, &idle) && drop_tracks(&data, idle, &arena);
    if (result == CUTIS_OK)
        result = good ? cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out)
                      : cutis_alloc_result(context);
    cutis_arena_release(&arena);
    return result;
}
