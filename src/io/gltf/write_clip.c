/// Clips to animations: channels of the source that are the same keep their sampler; the others get
/// a new one. Samplers that no channel uses any more go, because a validator would point at them.
#include "io/gltf/writer.h"

static uint32_t value_count(const gltf_writer *writer, const cutis_channel *channel)
{
    int32_t mesh = writer->data->nodes[channel->node].mesh;
    uint32_t cubic = channel->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1;
    uint32_t targets = mesh == CUTIS_NONE ? 0 : writer->data->meshes[mesh].target_count;
    uint32_t width = channel->path == CUTIS_PATH_ROTATION  ? 4
                     : channel->path == CUTIS_PATH_WEIGHTS ? targets
                                                           : 3;
    return channel->key_count * cubic * width;
}

static bool same_channel(const gltf_writer *writer, const cutis_channel *a, const cutis_channel *b)
{
    return a->node == b->node && a->path == b->path && a->interpolation == b->interpolation &&
           a->key_count == b->key_count && cutis_gltf_same(a->times, b->times, a->key_count, 4) &&
           cutis_gltf_same(a->values, b->values, value_count(writer, a), 4);
}

/// Whether the keys of a source's channel are in an accessor that must not be written again.
static bool sampler_unfit(const gltf_writer *writer, const json_t *samplers, const json_t *channel)
{
    const gltf_accessor *all = writer->source.accessors;
    const json_t *sampler =
        json_array_get(samplers, (size_t)cutis_gltf_integer(channel, "sampler", 0));
    return all[cutis_gltf_index(sampler, "input")].unfit ||
           all[cutis_gltf_index(sampler, "output")].unfit;
}

static void write_sampler(gltf_writer *writer, const cutis_channel *channel, json_t *json)
{
    // glTF has no spline of one key; what it says is a constant.
    cutis_channel constant = *channel;
    if (channel->interpolation == CUTIS_INTERPOLATION_CUBIC && channel->key_count == 1) {
        constant.values += value_count(writer, channel) / 3;
        constant.interpolation = CUTIS_INTERPOLATION_STEP;
        channel = &constant;
    }
    static const char *const NAMES[] = { "LINEAR", "STEP", "CUBICSPLINE" };
    static const gltf_shape SHAPES[] = { GLTF_VEC3, GLTF_VEC4, GLTF_VEC3, GLTF_SCALAR };
    static const uint32_t WIDTHS[] = { 3, 4, 3, 1 };
    gltf_array times = { .data = channel->times,
                         .count = channel->key_count,
                         .shape = GLTF_SCALAR,
                         .component = GLTF_F32,
                         .bounds = true };
    cutis_arena arena = { .context = writer->context };
    gltf_array values = { .data = cutis_gltf_unit_rotations(writer, &arena, channel),
                          .count = value_count(writer, channel) / WIDTHS[channel->path],
                          .shape = SHAPES[channel->path],
                          .component = GLTF_F32 };
    cutis_gltf_set_array(writer, json, "input", &times);
    if (channel->interpolation != CUTIS_INTERPOLATION_LINEAR)
        cutis_gltf_set(writer, json, "interpolation", json_string(NAMES[channel->interpolation]));
    cutis_gltf_set_array(writer, json, "output", &values);
    cutis_arena_release(&arena);
}

/// A sampler with the channel's keys, perhaps one that another channel has already.
static int32_t find_sampler(gltf_writer *writer, const cutis_channel *channel, json_t *samplers,
                            size_t first_new)
{
    json_t *json = json_object();
    write_sampler(writer, channel, json);
    for (size_t i = first_new; i < json_array_size(samplers); i++) {
        if (!json_equal(json_array_get(samplers, i), json)) continue;
        json_decref(json);
        return (int32_t)i;
    }
    cutis_gltf_append(writer, samplers, json);
    return (int32_t)json_array_size(samplers) - 1;
}

static void write_channel(gltf_writer *writer, const cutis_channel *channel, json_t *json,
                          json_t *samplers, size_t first_new)
{
    static const char *const PATHS[] = { "translation", "rotation", "scale", "weights" };
    cutis_gltf_set_index(writer, json, "sampler",
                         find_sampler(writer, channel, samplers, first_new));
    json_t *target = cutis_gltf_member(writer, json, "target");
    cutis_gltf_set_index(writer, target, "node", (int32_t)writer->node_of_model[channel->node]);
    cutis_gltf_set_string(writer, target, "path", PATHS[channel->path]);
}

/// Remove the samplers that a channel used before and none uses now; renumber the rest.
static void drop_samplers(gltf_writer *writer, json_t *json, const uint8_t *used_before,
                          size_t count_before)
{
    json_t *samplers = json_object_get(json, "samplers"),
           *channels = json_object_get(json, "channels");
    size_t count = json_array_size(samplers), next = 0;
    int64_t *map = cutis_alloc_zero(writer->context, count, sizeof *map);
    if (!map) {
        writer->failed = true;
        return;
    }
    for (size_t c = 0; c < json_array_size(channels); c++)
        map[cutis_gltf_index(json_array_get(channels, c), "sampler")] = 1;
    for (size_t s = 0; s < count; s++) {
        bool drop = s < count_before && used_before[s] && !map[s];
        map[s] = drop ? -1 : (int64_t)next;
        if (drop) {
            json_array_remove(samplers, next);
        } else {
            next++;
        }
    }
    for (size_t c = 0; c < json_array_size(channels); c++) {
        json_t *channel = json_array_get(channels, c);
        cutis_gltf_set_index(writer, channel, "sampler",
                             (int32_t)map[cutis_gltf_index(channel, "sampler")]);
    }
    cutis_free_array(writer->context, map, count, sizeof *map);
}

/// Compare with the source channel by channel; returns whether anything was written.
static bool write_channels(gltf_writer *writer, uint32_t index, const cutis_clip *old, json_t *json)
{
    const cutis_clip *clip = &writer->data->clips[index];
    json_t *channels = json_object_get(json, "channels"),
           *samplers = json_object_get(json, "samplers");
    size_t first_new = json_array_size(samplers);
    const uint32_t *map = old->channel_count ? writer->source.channels[index] : NULL;
    bool changed = false;
    for (uint32_t c = 0; c < clip->channel_count && !writer->failed; c++) {
        const cutis_channel *channel = &clip->channels[c];
        if (c < old->channel_count && same_channel(writer, channel, &old->channels[c]) &&
            !sampler_unfit(writer, samplers, json_array_get(channels, map[c])))
            continue;
        json_t *target = c < old->channel_count ? json_array_get(channels, map[c]) : NULL;
        if (!target) {
            target = json_object();
            cutis_gltf_append(writer, channels, target);
        }
        write_channel(writer, channel, target, samplers, first_new);
        changed = true;
    }
    for (uint32_t c = old->channel_count; c > clip->channel_count; c--) {
        json_array_remove(channels, map[c - 1]);
        changed = true;
    }
    return changed;
}

void cutis_gltf_write_clip(gltf_writer *writer, uint32_t index)
{
    const cutis_clip *clip = &writer->data->clips[index];
    cutis_arena *arena = &writer->source.parts;
    cutis_clip old = { 0 };
    bool kept = writer->before && index < writer->source.clip_count;
    writer->source.charged = 0;
    // The widths of old channels come from the old meshes; a clip of new meshes is compared all the
    // same, and differs.
    if (kept) {
        cutis_result result = cutis_gltf_read_clip(&writer->source, index, &old);
        if (result == CUTIS_OUT_OF_MEMORY || result == CUTIS_LIMIT_EXCEEDED) writer->failed = true;
        kept = result == CUTIS_OK;
        if (!kept) old.channel_count = 0;
    }
    json_t *animations = cutis_gltf_collection(writer, "animations"), *json;
    if (!writer->before || index >= writer->source.clip_count) {
        json = json_object();
        cutis_gltf_append(writer, animations, json);
        cutis_gltf_set_string(writer, json, "name", clip->name);
    } else {
        json = json_array_get(animations, index);
    }
    if (!kept) {
        cutis_gltf_set(writer, json, "channels", json_array());
        cutis_gltf_set(writer, json, "samplers", json_array());
    }
    cutis_gltf_set_string(writer, json, "name", clip->name);
    size_t count = json_array_size(json_object_get(json, "samplers"));
    uint8_t *used = cutis_arena_zero(arena, count, 1);
    if (!used || writer->failed) {
        writer->failed = true;
    } else {
        const json_t *channels = json_object_get(json, "channels");
        for (size_t c = 0; c < json_array_size(channels); c++)
            used[cutis_gltf_index(json_array_get(channels, c), "sampler")] = 1;
        if (write_channels(writer, index, &old, json)) drop_samplers(writer, json, used, count);
    }
    cutis_arena_release(arena);
}
