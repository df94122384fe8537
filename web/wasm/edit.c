/// A model with a clip of poses more. Everything else stays as it was read.
#include "studio.h"

#include <stdlib.h>
#include <string.h>

/// Per node three tracks, and one of morph weights.
enum { TRACKS = 4 };

typedef struct keys {
    const cutis_model_data *data;
    uint32_t count, target_count;
    const float *times, *poses, *morphs;
    cutis_channel *channels;
    uint32_t channel_count;
    float *values; // of all channels
} keys;

static const uint32_t FIRST[3] = { 0, 3, 7 }, WIDTH[3] = { 3, 4, 3 }; // in a cutis_transform

static void add_track(keys *all, uint32_t node, cutis_path path, const float *from, size_t stride,
                      uint32_t width, const float *rest)
{
    bool moves = false;
    for (uint32_t k = 0; k < all->count && !moves; k++)
        moves = memcmp(from + k * stride, rest, width * sizeof *from) != 0;
    if (!moves) return;
    all->channels[all->channel_count++] = (cutis_channel){ .node = node,
                                                           .path = path,
                                                           .key_count = all->count,
                                                           .times = all->times,
                                                           .values = all->values };
    for (uint32_t k = 0; k < all->count; k++, all->values += width)
        memcpy(all->values, from + k * stride, width * sizeof *from);
}

static void add_tracks(keys *all, const cutis_model *model, const float *rest_morphs)
{
    const uint32_t floats = sizeof(cutis_transform) / sizeof(float);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    for (uint32_t i = 0; i < all->data->node_count; i++)
        for (int path = 0; path < 3 && !all->data->nodes[i].matrix; path++)
            add_track(all, i, (cutis_path)path, all->poses + (size_t)i * floats + FIRST[path],
                      (size_t)all->data->node_count * floats, WIDTH[path],
                      &all->data->nodes[i].rest.translation.x + FIRST[path]);
    for (uint32_t i = 0; i < count && all->morphs; i++)
        if (instances[i].target_count)
            add_track(all, instances[i].node, CUTIS_PATH_WEIGHTS,
                      all->morphs + instances[i].target_first, all->target_count,
                      instances[i].target_count, rest_morphs + instances[i].target_first);
}

/// The model with the clip `name`, in place of one that is called so: `count` keys at `times`, each
/// of a pose (10 floats a node) and, unless NULL, of morph weights. What rests in all of them gets
/// no track.
cutis_model *EXPORT(studio_with_clip)(const cutis_model *model, const char *name, uint32_t count,
                                      const float *times, const float *poses, const float *morphs)
{
    const cutis_model_data *data = cutis_model_get(model);
    const uint32_t targets = cutis_model_target_count(model);
    cutis_model_data more = *data;
    cutis_model *made = NULL;
    cutis_channel *channels = calloc((size_t)TRACKS * data->node_count + 1, sizeof *channels);
    float *values = calloc(((size_t)10 * data->node_count + targets) * count + 1, sizeof *values);
    cutis_transform *rest = calloc((size_t)data->node_count + 1, sizeof *rest);
    float *rest_morphs = calloc((size_t)targets + 1, sizeof *rest_morphs);
    cutis_clip *clips = calloc((size_t)data->clip_count + 1, sizeof *clips);
    keys all = { data, count, targets, times, poses, morphs, channels, 0, values };
    cutis_result result =
        channels && values && rest && rest_morphs && clips ? CUTIS_OK : CUTIS_OUT_OF_MEMORY;
    if (result == CUTIS_OK) {
        cutis_pose_rest(model, rest, rest_morphs);
        add_tracks(&all, model, rest_morphs);
        uint32_t at = 0;
        while (at < data->clip_count &&
               (!data->clips[at].name || strcmp(data->clips[at].name, name) != 0))
            at++;
        if (data->clip_count) memcpy(clips, data->clips, data->clip_count * sizeof *clips);
        if (all.channel_count) { // a clip of nothing is none
            clips[at] = (cutis_clip){ .name = name,
                                      .channel_count = all.channel_count,
                                      .channels = channels };
            more.clip_count += at == data->clip_count;
        }
        more.clips = clips;
        result = cutis_model_create(cutis_model_context(model), &more, CUTIS_GATE_REFUSE, &made);
    }
    free(channels), free(values), free(rest), free(rest_morphs), free(clips);
    return good(result) ? made : NULL;
}
