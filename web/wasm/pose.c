/// Poses by hand: helpers that follow a joint that was turned, and a model with a pose more, as a
/// clip of one key. What rests in it gets no track.
#include "studio.h"

#include <stdlib.h>
#include <string.h>

enum { PATHS = 3 };                                                 // of a node: CUTIS_PATH_...
static const uint32_t FIRST[] = { 0, 3, 7 }, WIDTH[] = { 3, 4, 3 }; // floats of a cutis_transform

static bool among(uint32_t node, const uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i] == node) return true;
    return false;
}

/// Driven nodes as they are shown. Those that read a joint which a hand holds follow it, whatever
/// tracks the clip has of them: the tracks know nothing of the hand. The others stay as the clip
/// has them; a helper that is held itself stays as it is put.
void EXPORT(studio_drive)(const cutis_model *model, cutis_transform *pose, const uint32_t *held,
                          uint32_t count)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_drivers *all = data->drivers;
    for (uint32_t d = 0; all && d < all->driver_count; d++) {
        const cutis_driver *driver = &all->drivers[d];
        bool reads = false;
        for (uint32_t i = 0; i < driver->input_count; i++)
            reads = reads || among(all->joints[driver->inputs[i]], held, count);
        if (reads && !among(driver->node, held, count))
            pose[driver->node] = data->nodes[driver->node].rest; // what rests is driven
    }
    cutis_pose_drive(model, CUTIS_DRIVE_RESTING, pose);
}

static uint32_t add_tracks(const cutis_model_data *data, const cutis_transform *pose,
                           cutis_channel *channels)
{
    static const float NOW = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < data->node_count; i++)
        for (uint32_t path = 0; path < PATHS && !data->nodes[i].matrix; path++) {
            const float *to = &pose[i].translation.x + FIRST[path];
            const float *rest = &data->nodes[i].rest.translation.x + FIRST[path];
            if (memcmp(to, rest, WIDTH[path] * sizeof *to) == 0) continue;
            channels[count++] = (cutis_channel){
                .node = i, .path = (cutis_path)path, .key_count = 1, .times = &NOW, .values = to
            };
        }
    return count;
}

/// The model with the clip `name`, in place of one that is called so.
cutis_model *EXPORT(studio_with_pose)(const cutis_model *model, const char *name,
                                      const cutis_transform *pose)
{
    const cutis_model_data *data = cutis_model_get(model);
    cutis_model_data more = *data;
    cutis_model *made = NULL;
    cutis_channel *channels = calloc((size_t)PATHS * data->node_count + 1, sizeof *channels);
    cutis_clip *clips = calloc((size_t)data->clip_count + 1, sizeof *clips);
    cutis_result result = channels && clips ? CUTIS_OK : CUTIS_OUT_OF_MEMORY;
    if (result == CUTIS_OK) {
        const uint32_t count = add_tracks(data, pose, channels);
        uint32_t at = 0;
        while (at < data->clip_count &&
               (!data->clips[at].name || strcmp(data->clips[at].name, name) != 0))
            at++;
        if (data->clip_count) memcpy(clips, data->clips, data->clip_count * sizeof *clips);
        if (count) // a clip of nothing is none
            clips[at] = (cutis_clip){ .name = name, .channel_count = count, .channels = channels };
        more.clip_count += count && at == data->clip_count;
        more.clips = clips;
        result = cutis_model_create(cutis_model_context(model), &more, CUTIS_GATE_REFUSE, &made);
    }
    free(channels), free(clips);
    return good(result) ? made : NULL;
}
