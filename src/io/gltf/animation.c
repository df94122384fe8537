/// Animations: each channel with its own keys and values. Channels that name no node, or a path
/// that core glTF does not have (KHR_animation_pointer), are not part of the model; the writer
/// keeps them.
#include "io/gltf/parts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The Khronos validator's own, of a rotation's length.
static const double UNIT_TOLERANCE = 0.00769;
// A rotation shorter than this has lost its direction.
static const double SHORTEST = 1e-6;

static const char *const PATHS[] = { "translation", "rotation", "scale", "weights" };

static bool has_stride(const gltf_document *document, const gltf_accessor *a)
{
    return a->view != CUTIS_NONE && document->views[a->view].stride;
}

/// Key times and values have no stride; one that is there is honoured.
static cutis_result check_layout(gltf_document *document, const char *place, const char *which,
                                 uint32_t accessor)
{
    gltf_accessor *a = &document->accessors[accessor];
    if (!has_stride(document, a) || document->published) return CUTIS_OK;
    FORGIVE("ANIMATION_SAMPLER_ACCESSOR_WITH_BYTESTRIDE",
            "%s/%s: the view of accessor %u has a stride, which is honoured", place, which,
            accessor);
    a->askew = true;
    return CUTIS_OK;
}

/// Times from 0 on; while reading for use their order is put right with the values (settle_keys).
static cutis_result check_times(const gltf_document *document, const char *place, uint32_t accessor,
                                const float *times)
{
    const gltf_accessor *a = &document->accessors[accessor];
    bool disordered = false;
    for (uint32_t k = 0; k < a->count; k++) {
        if (!(times[k] >= 0) && document->repair) return CUTIS_OK; // the gate drops such keys
        if (times[k] < 0)
            return WRONG("ACCESSOR_ANIMATION_INPUT_NEGATIVE",
                         "%s/input: key %u of accessor %u is at %g, times ascend from 0", place, k,
                         accessor, (double)times[k]);
        if (k == 0 || times[k] > times[k - 1] || disordered) continue;
        FORGIVE("ACCESSOR_ANIMATION_INPUT_NON_INCREASING",
                "%s/input: key %u of accessor %u is at %g, times ascend", place, k, accessor,
                (double)times[k]);
        disordered = true;
    }
    return CUTIS_OK;
}

static cutis_result read_times(gltf_document *document, const char *place, uint32_t accessor,
                               cutis_channel *out)
{
    gltf_accessor *a = &document->accessors[accessor];
    cutis_result result = check_layout(document, place, "input", accessor);
    if (result != CUTIS_OK) return result;
    if (a->shape != GLTF_SCALAR || a->component != GLTF_F32)
        return WRONG("ANIMATION_SAMPLER_INPUT_ACCESSOR_INVALID_FORMAT",
                     "%s/input: accessor %u is not SCALAR of floats", place, accessor);
    if (!a->has_bounds && !document->published) {
        FORGIVE("ANIMATION_SAMPLER_INPUT_ACCESSOR_WITHOUT_BOUNDS",
                "%s/input: accessor %u has no min and max", place, accessor);
        a->boundless = true;
    }
    if (out->interpolation == CUTIS_INTERPOLATION_CUBIC && a->count < 2)
        return WRONG("ANIMATION_SAMPLER_INPUT_ACCESSOR_TOO_FEW_ELEMENTS",
                     "%s/input: a cubic spline of one key", place);
    if (!cutis_gltf_has_data(a))
        return CUTIS_OK; // left to an extension to fill in: no channel for us
    result = cutis_gltf_new_floats(document, accessor, &out->times);
    if (result != CUTIS_OK || document->published) return result;
    return check_times(document, place, accessor, out->times);
}

/// Keys of a rotation are of unit length; those that are not are normalised, which is what players
/// make of them.
static cutis_result check_rotations(const gltf_document *document, const char *place,
                                    uint32_t accessor, const cutis_channel *channel, float *values)
{
    bool cubic = channel->interpolation == CUTIS_INTERPOLATION_CUBIC;
    for (size_t k = 0; k < channel->key_count; k++) {
        float *q = values + 4 * (cubic ? 3 * k + 1 : k);
        double length = 0;
        for (int i = 0; i < 4; i++) length += (double)q[i] * q[i];
        length = sqrt(length);
        if (fabs(length - 1) <= UNIT_TOLERANCE) continue;
        if (document->repair && !(length > SHORTEST && length <= FLT_MAX)) continue; // the gate's
        if (document->strict || length <= SHORTEST)
            return WRONG("ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION",
                         "%s/output: the length of rotation %zu of "
                         "accessor %u is %g, not 1",
                         place, k, accessor, length);
        FORGIVE("ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION",
                "%s/output: the length of rotation %zu of accessor %u is %g, not 1", place, k,
                accessor, length);
        for (int i = 0; i < 4; i++) q[i] = (float)(q[i] / length);
    }
    return CUTIS_OK;
}

static cutis_result read_values(gltf_document *document, const char *place, uint32_t accessor,
                                uint32_t target_count, cutis_channel *out)
{
    static const gltf_shape SHAPES[] = { GLTF_VEC3, GLTF_VEC4, GLTF_VEC3, GLTF_SCALAR };
    const gltf_accessor *a = &document->accessors[accessor];
    bool integers = out->path == CUTIS_PATH_ROTATION || out->path == CUTIS_PATH_WEIGHTS;
    uint64_t expected = (uint64_t)out->key_count *
                        (out->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1) *
                        (out->path == CUTIS_PATH_WEIGHTS ? target_count : 1);
    cutis_result result = check_layout(document, place, "output", accessor);
    if (result != CUTIS_OK) return result;
    if (a->unknown || a->shape != SHAPES[out->path] ||
        !(a->component == GLTF_F32 || (a->normalized && integers)))
        return WRONG("ANIMATION_SAMPLER_OUTPUT_ACCESSOR_INVALID_FORMAT",
                     "%s/output: the format of accessor %u is not one "
                     "for this path",
                     place, accessor);
    if (a->count != expected)
        return WRONG("ANIMATION_SAMPLER_OUTPUT_ACCESSOR_INVALID_COUNT",
                     "%s/output: accessor %u has %u elements, %llu are "
                     "needed",
                     place, accessor, a->count, (unsigned long long)expected);
    if (!out->times && !(document->strict && cutis_gltf_has_data(a))) return CUTIS_OK;
    if (out->path != CUTIS_PATH_ROTATION || document->published)
        return cutis_gltf_new_floats(document, accessor, &out->values);
    float *values = NULL;
    result = cutis_gltf_own_floats(document, accessor, &values);
    out->values = values;
    return result == CUTIS_OK ? check_rotations(document, place, accessor, out, values) : result;
}

typedef struct sort_key {
    float time;
    uint32_t key;
} sort_key;

static int by_time(const void *a, const void *b)
{
    const sort_key *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key; // stable
}

/// Whether there is something to sort; what is not finite or negative is left to the gate.
static bool sortable(const float *times, uint32_t count)
{
    bool sorted = true;
    for (uint32_t k = 0; k < count; k++) {
        if (!(times[k] >= 0 && times[k] <= FLT_MAX)) return false;
        if (k > 0 && times[k] <= times[k - 1]) sorted = false;
    }
    return !sorted;
}

/// Which of the sorted keys stay, and when. Of several at one time the last counts from there on;
/// the first is what the clip comes from, so where they differ it stays too, the least moment
/// earlier. @return how many stay
static uint32_t thin_keys(sort_key *order, uint32_t count, const float *values, size_t width)
{
    uint32_t kept = 0;
    for (uint32_t k = 0, next; k < count; k = next) {
        for (next = k + 1; next < count && order[next].time == order[k].time;) next++;
        const sort_key first = order[k], last = order[next - 1];
        const float before = nextafterf(first.time, -1);
        const bool jump =
            next - k > 1 && before >= 0 && (kept == 0 || before > order[kept - 1].time) &&
            memcmp(values + first.key * width, values + last.key * width, width * sizeof *values) !=
                0;
        if (jump) order[kept++] = (sort_key){ before, first.key };
        order[kept++] = last;
    }
    return kept;
}

/// Keys in ascending order, each time once, in arrays of the channel's own.
static cutis_result settle_keys(gltf_document *document, size_t width, cutis_channel *channel)
{
    const uint32_t count = channel->key_count;
    if (!channel->times || !channel->values || !sortable(channel->times, count)) return CUTIS_OK;
    cutis_result result = cutis_gltf_charge(document, count, (width + 1) * sizeof(float));
    if (result != CUTIS_OK) return result;
    float *times = cutis_arena_alloc(&document->parts, count, sizeof *times);
    float *values = cutis_arena_alloc(&document->parts, count, width * sizeof *values);
    sort_key *order = cutis_alloc_array(document->context, count, sizeof *order);
    if (!times || !values || !order) result = cutis_alloc_result(document->context);
    for (uint32_t k = 0; k < count && result == CUTIS_OK; k++)
        order[k] = (sort_key){ channel->times[k], k };
    if (result == CUTIS_OK) {
        qsort(order, count, sizeof *order, by_time);
        channel->key_count = thin_keys(order, count, channel->values, width);
        for (size_t k = 0; k < channel->key_count; k++) {
            times[k] = order[k].time;
            memcpy(values + k * width, channel->values + order[k].key * width,
                   width * sizeof *values);
        }
        channel->times = times;
        channel->values = values;
    }
    cutis_free_array(document->context, order, count, sizeof *order);
    return result;
}

static cutis_result read_sampler(gltf_document *document, uint32_t index, uint32_t sampler,
                                 uint32_t target_count, cutis_channel *out)
{
    static const char *const NAMES[] = { "LINEAR", "STEP", "CUBICSPLINE" };
    const json_t *json = json_array_get(
        json_object_get(cutis_gltf_item(document, "animations", index), "samplers"), sampler);
    const char *name = cutis_gltf_string(json, "interpolation");
    int interpolation = cutis_gltf_find_word(NAMES, 3, name);
    uint32_t input = (uint32_t)cutis_gltf_index(json, "input");
    // Linear without a word; an unknown one is only a warning of the schema's, and linear is what
    // players make of it.
    if (interpolation < 0) interpolation = CUTIS_INTERPOLATION_LINEAR;
    out->interpolation = (cutis_interpolation)interpolation;
    out->key_count = document->accessors[input].count;
    char place[64];
    snprintf(place, sizeof place, "/animations/%u/samplers/%u", index, sampler);
    cutis_result result = read_times(document, place, input, out);
    if (result != CUTIS_OK) return result;
    return read_values(document, place, (uint32_t)cutis_gltf_index(json, "output"), target_count,
                       out);
}

static cutis_result read_channel(gltf_document *document, uint32_t index, uint32_t channel,
                                 const json_t *json, cutis_channel *out)
{
    const cutis_model_data *data = &document->data;
    int64_t sampler = cutis_gltf_integer(json, "sampler", 0);
    const cutis_node *node = &data->nodes[out->node];
    uint32_t targets = node->mesh == CUTIS_NONE ? 0 : data->meshes[node->mesh].target_count;
    if (node->matrix && out->path != CUTIS_PATH_WEIGHTS)
        return WRONG("ANIMATION_CHANNEL_TARGET_NODE_MATRIX",
                     "/animations/%u/channels/%u/target/node: node %u has a matrix", index, channel,
                     document->node_of_model[out->node]);
    if (out->path == CUTIS_PATH_WEIGHTS && targets == 0)
        return WRONG("ANIMATION_CHANNEL_TARGET_NODE_WEIGHTS_NO_MORPHS",
                     "/animations/%u/channels/%u/target/path: node %u has no morph targets", index,
                     channel, document->node_of_model[out->node]);
    cutis_result result = read_sampler(document, index, (uint32_t)sampler, targets, out);
    if (result != CUTIS_OK || !cutis_gltf_mends(document)) return result;
    static const uint8_t WIDTHS[] = { 3, 4, 3, 1 };
    const size_t cubic = out->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1;
    return settle_keys(
        document, cubic * (out->path == CUTIS_PATH_WEIGHTS ? targets : WIDTHS[out->path]), out);
}

static cutis_result check_sampler_index(const gltf_document *document, uint32_t index,
                                        uint32_t channel, const json_t *json, size_t count)
{
    int64_t sampler = cutis_gltf_integer(json, "sampler", 0);
    if (sampler >= 0 && (uint64_t)sampler < count) return CUTIS_OK;
    return WRONG("UNRESOLVED_REFERENCE",
                 "/animations/%u/channels/%u/sampler: index %lld, but there are %zu", index,
                 channel, (long long)sampler, count);
}

/// A channel that names no node moves nothing, but its data is of its path nevertheless.
static cutis_result check_loose_channel(gltf_document *document, uint32_t index, uint32_t channel,
                                        const json_t *json, size_t sampler_count)
{
    const json_t *target = json_object_get(json, "target");
    int64_t sampler = cutis_gltf_integer(json, "sampler", 0);
    int path = cutis_gltf_find_word(PATHS, 4, cutis_gltf_string(target, "path"));
    cutis_result result = check_sampler_index(document, index, channel, json, sampler_count);
    if (result != CUTIS_OK) return result;
    if (cutis_gltf_index(target, "node") != CUTIS_NONE || path < 0 || path == CUTIS_PATH_WEIGHTS)
        return CUTIS_OK;
    const gltf_glance before = cutis_gltf_glance(document);
    result = read_sampler(document, index, (uint32_t)sampler, 0,
                          &(cutis_channel){ .path = (cutis_path)path });
    cutis_gltf_forget(document, &before);
    return result;
}

cutis_result cutis_gltf_check_samplers(gltf_document *document, uint32_t index)
{
    const json_t *json = cutis_gltf_item(document, "animations", index);
    const json_t *samplers = json_object_get(json, "samplers");
    const json_t *channels = json_object_get(json, "channels");
    for (uint32_t s = 0; s < json_array_size(samplers); s++) {
        const json_t *sampler = json_array_get(samplers, s);
        const char *name = cutis_gltf_string(sampler, "interpolation");
        cutis_channel channel = { .interpolation = name && strcmp(name, "CUBICSPLINE") == 0
                                                       ? CUTIS_INTERPOLATION_CUBIC
                                                       : CUTIS_INTERPOLATION_LINEAR };
        const gltf_glance before = cutis_gltf_glance(document);
        char place[64];
        snprintf(place, sizeof place, "/animations/%u/samplers/%u", index, s);
        cutis_result result =
            read_times(document, place, (uint32_t)cutis_gltf_index(sampler, "input"), &channel);
        cutis_gltf_forget(document, &before);
        if (result != CUTIS_OK) return result;
    }
    for (uint32_t c = 0; c < json_array_size(channels); c++) {
        cutis_result result = check_loose_channel(document, index, c, json_array_get(channels, c),
                                                  json_array_size(samplers));
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

/// Whether a channel is one the model has; its node and path.
static bool find_target(const gltf_document *document, const json_t *json, cutis_channel *out)
{
    const json_t *target = json_object_get(json, "target");
    int32_t node = cutis_gltf_index(target, "node");
    int path = cutis_gltf_find_word(PATHS, 4, cutis_gltf_string(target, "path"));
    if (node == CUTIS_NONE || path < 0) return false;
    out->node = document->model_of_node[node];
    out->path = (cutis_path)path;
    return true;
}

cutis_result cutis_gltf_read_clip(gltf_document *document, uint32_t index, void *item)
{
    const json_t *json = cutis_gltf_item(document, "animations", index);
    const json_t *list = json_object_get(json, "channels");
    const json_t *samplers = json_object_get(json, "samplers");
    uint32_t count = (uint32_t)json_array_size(list), kept = 0;
    cutis_channel *channels = cutis_arena_zero(&document->parts, count, sizeof *channels);
    uint32_t *map = document->channels[index];
    bool first =
        !map; // the writer calls again, perhaps from several threads: then nothing is changed
    if (first) map = cutis_arena_alloc(&document->arena, count, sizeof *map);
    if (!channels || !map) return cutis_alloc_result(document->context);
    for (uint32_t c = 0; c < count; c++) {
        const json_t *channel = json_array_get(list, c);
        // Also of channels that are not ours: the writer renumbers samplers for all of them.
        cutis_result result =
            check_sampler_index(document, index, c, channel, json_array_size(samplers));
        if (result != CUTIS_OK) return result;
        if (!find_target(document, channel, &channels[kept])) continue;
        result = read_channel(document, index, c, channel, &channels[kept]);
        if (result != CUTIS_OK) return result;
        if (!channels[kept].times) continue;
        if (first) map[kept] = c;
        kept++;
    }
    if (first) {
        document->channels[index] = map;
        document->channel_counts[index] = kept;
    }
    *(cutis_clip *)item = (cutis_clip){ .name = cutis_gltf_string(json, "name"),
                                        .channel_count = kept,
                                        .channels = channels };
    return CUTIS_OK;
}
