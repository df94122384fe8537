// Cal3D animations as clips, and other files' clips on a model: the node of each channel is found,
// the rest copied. Invariant: the model made here passes the gate again, so nothing a clip file
// says reaches a model unchecked.
#include "io/cal3d.h"
#include "io/names.h"
#include "io/place.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

cutis_quat cutis_cal3d_rotation(const float q[4])
{
    double x = -(double)q[0], y = -(double)q[1], z = -(double)q[2], w = (double)q[3];
    double length = sqrt(x * x + y * y + z * z + w * w);
    if (!(length > 0)) return (cutis_quat){ 0, 0, 0, 1 };
    return (cutis_quat){ (float)(x / length), (float)(y / length), (float)(z / length),
                         (float)(w / length) };
}

cutis_result cutis_cal3d_make_clip(const cal3d_source_file *file, const cal3d_animation *animation,
                                   float scale, const uint32_t *nodes, uint32_t bone_count,
                                   cutis_clip *out)
{
    cutis_channel *channels =
        cutis_arena_alloc(file->arena, animation->count, 2 * sizeof *channels);
    if (!channels) return cutis_alloc_result(file->context);
    uint32_t n = 0;
    for (uint32_t t = 0; t < animation->count; t++) {
        const cal3d_track *track = &animation->tracks[t];
        if (track->bone >= bone_count)
            return cutis_fail(file->context, CUTIS_CORRUPT_DATA, "%s: track %u: bone %u of %u",
                              file->name, t, track->bone, bone_count);
        if (track->key_count == 0) continue;
        for (size_t i = 0; i < 3 * (size_t)track->key_count; i++) track->translations[i] *= scale;
        for (uint32_t k = 0; k < track->key_count; k++) {
            cutis_quat q = cutis_cal3d_rotation(track->rotations + 4 * (size_t)k);
            memcpy(track->rotations + 4 * (size_t)k, &q, sizeof q);
        }
        cutis_channel channel = { .node = nodes[track->bone],
                                  .path = CUTIS_PATH_TRANSLATION,
                                  .key_count = track->key_count,
                                  .times = track->times,
                                  .values = track->translations };
        channels[n++] = channel;
        channel.path = CUTIS_PATH_ROTATION;
        channel.values = track->rotations;
        channels[n++] = channel;
    }
    *out = (cutis_clip){ .name = cutis_stem(file->arena, file->name),
                         .channel_count = n,
                         .channels = channels };
    if (!out->name) return cutis_alloc_result(file->context);
    cutis_utf8_repair((char *)out->name);
    return CUTIS_OK;
}

static cutis_result append_clips(const cutis_model *model, const cutis_clip *more, uint32_t count,
                                 cutis_arena *arena, cutis_model **out)
{
    cutis_context *context = cutis_model_context(model);
    cutis_model_data data = *cutis_model_get(model);
    size_t total = (size_t)data.clip_count + count;
    cutis_clip *clips = total <= INT32_MAX ? cutis_arena_alloc(arena, total, sizeof *clips) : NULL;
    if (!clips) return cutis_alloc_result(context);
    if (data.clip_count) memcpy(clips, data.clips, data.clip_count * sizeof *clips);
    if (count) memcpy(clips + data.clip_count, more, count * sizeof *clips);
    data.clips = clips;
    data.clip_count = (uint32_t)total;
    return cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out);
}

cutis_result cutis_cal3d_read_clip(const cutis_model *model, const cutis_input *input,
                                   cutis_model **out)
{
    cutis_context *context = input->context;
    const cutis_model_data *data = cutis_model_get(model);
    cutis_arena arena = { .context = context };
    cal3d_source_file file = { context, &arena, input->name, input->data, input->size };
    cal3d_animation animation = { NULL, 0 };
    cutis_clip clip;
    bool is_xml;
    float scale;
    const cutis_place place = cutis_place_of(data->source, &scale);
    if (data->skin_count == 0)
        return cutis_fail(context, CUTIS_UNSUPPORTED,
                          "%s: a Cal3D clip numbers its bones, and the model has no skin",
                          input->name);
    cutis_cal3d_kind(input->data, input->size, &is_xml);
    cutis_result result = is_xml ? cutis_cal3d_xml_animation(&file, &animation)
                                 : cutis_cal3d_animation(&file, &animation);
    const cutis_skin *skin = &data->skins[0];
    if (result == CUTIS_OK)
        result =
            cutis_cal3d_make_clip(&file, &animation, scale, skin->joints, skin->joint_count, &clip);
    const cutis_clip *turned = NULL;
    if (result == CUTIS_OK) {
        turned = cutis_place_clips(&arena, (cutis_place){ place.up, 1 }, &clip, 1);
        if (!turned) result = cutis_alloc_result(context);
    }
    if (turned) result = append_clips(model, turned, 1, &arena, out);
    cutis_arena_release(&arena);
    return result;
}

// Node of the model for every node of the other, by name; UINT32_MAX where there is none or more
// than one.
static cutis_result match_nodes(const cutis_model_data *model, const cutis_model_data *other,
                                cutis_arena *arena, uint32_t *match)
{
    cutis_names names = { .arena = arena };
    cutis_result result = CUTIS_OK;
    uint32_t *first = cutis_arena_alloc(arena, model->node_count, sizeof *first);
    for (uint32_t i = 0; first && i < model->node_count && result == CUTIS_OK; i++) {
        const char *name = model->nodes[i].name;
        uint32_t number, before = names.count;
        if (!name || !*name) continue;
        if (!cutis_names_add(&names, (cutis_span){ name, strlen(name) }, &number))
            result = cutis_alloc_result(arena->context);
        else
            first[number] = number < before ? UINT32_MAX : i;
    }
    if (!first) result = cutis_alloc_result(arena->context);
    for (uint32_t i = 0; i < other->node_count && result == CUTIS_OK; i++) {
        const char *name = other->nodes[i].name;
        uint32_t number =
            name ? cutis_names_find(&names, (cutis_span){ name, strlen(name) }) : UINT32_MAX;
        match[i] = number == UINT32_MAX ? UINT32_MAX : first[number];
    }
    return result;
}

// Channels that fit: weights need a mesh with as many targets, a matrix is never animated, one per
// node and path.
static bool channel_fits(const cutis_model_data *model, const cutis_model_data *other,
                         const cutis_channel *channel, uint32_t node)
{
    if (node == UINT32_MAX || model->nodes[node].matrix) return false;
    if (channel->path != CUTIS_PATH_WEIGHTS) return true;
    int32_t mine = model->nodes[node].mesh, theirs = other->nodes[channel->node].mesh;
    return mine != CUTIS_NONE && theirs != CUTIS_NONE &&
           model->meshes[mine].target_count == other->meshes[theirs].target_count;
}

cutis_result cutis_clip_merge(const cutis_model *model, const cutis_model *other_model,
                              const char *name, cutis_model **out)
{
    cutis_context *context = cutis_model_context(model);
    const cutis_model_data *data = cutis_model_get(model), *other = cutis_model_get(other_model);
    cutis_arena arena = { .context = context };
    uint32_t *match = cutis_arena_alloc(&arena, other->node_count, sizeof *match), matched = 0;
    unsigned char *taken = cutis_arena_alloc(&arena, data->node_count, 1);
    cutis_clip *clips = cutis_arena_alloc(&arena, other->clip_count, sizeof *clips);
    cutis_result result = match && taken && clips ? match_nodes(data, other, &arena, match)
                                                  : cutis_alloc_result(context);
    for (uint32_t c = 0; result == CUTIS_OK && c < other->clip_count; c++) {
        const cutis_clip *clip = &other->clips[c];
        cutis_channel *channels = cutis_arena_alloc(&arena, clip->channel_count, sizeof *channels);
        if (!channels) {
            result = cutis_alloc_result(context);
            break;
        }
        memset(taken, 0, data->node_count);
        clips[c] = (cutis_clip){ .name = clip->name, .channels = channels };
        for (uint32_t i = 0; i < clip->channel_count; i++) {
            uint32_t node = match[clip->channels[i].node];
            unsigned char bit = (unsigned char)(1u << clip->channels[i].path);
            if (!channel_fits(data, other, &clip->channels[i], node) || (taken[node] & bit))
                continue;
            taken[node] |= bit;
            channels[clips[c].channel_count] = clip->channels[i];
            channels[clips[c].channel_count++].node = node;
        }
        matched += clips[c].channel_count;
    }
    if (result == CUTIS_OK && matched == 0)
        result = cutis_fail(context, CUTIS_NOT_FOUND,
                            "%s: no clip in it animates a node of this model's names", name);
    if (result == CUTIS_OK) result = append_clips(model, clips, other->clip_count, &arena, out);
    cutis_arena_release(&arena);
    return result;
}
