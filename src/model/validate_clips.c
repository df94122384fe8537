// The gate's second half for clips, on the model's own copy. After it the keys of a channel ascend
// strictly from a time >= 0, all values are finite, rotation keys can be normalised, no two
// channels of a clip share a node and path, and a clip's duration is its last key.
#include "model/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

typedef struct {
    cutis_model *model;
    cutis_gate gate;
    char place[64];
} spot;

typedef struct {
    float time;
    uint32_t key;
} sort_key;

static int by_time(const void *a, const void *b)
{
    const sort_key *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key; // stable
}

// Keys in ascending order, of equal times the last, into fresh arrays: the times may be shared
// between channels. Keys whose time is negative or not finite, or whose values are not finite, go.
static cutis_result repair_keys(spot *at, cutis_channel *channel, size_t width)
{
    cutis_model *model = at->model;
    size_t count = channel->key_count, kept = 0, used = 0;
    float *times = cutis_arena_alloc(&model->arena, count, sizeof *times);
    size_t value_count;
    float *values = cutis_size_multiply(count, width, &value_count)
                        ? cutis_arena_alloc(&model->arena, value_count, sizeof *values)
                        : NULL;
    sort_key *order =
        times && values ? cutis_alloc_array(model->context, count, sizeof *order) : NULL;
    if (!order) return cutis_alloc_result(model->context);
    for (size_t k = 0; k < count; k++) {
        float time = channel->times[k];
        bool good = time >= 0 && time <= 3.402823466e38f &&
                    cutis_first_not_finite(channel->values + k * width, width) == width;
        if (good) order[used++] = (sort_key){ time, (uint32_t)k };
    }
    qsort(order, used, sizeof *order, by_time);
    for (size_t k = 0; k < used; k++) {
        if (k + 1 < used && order[k + 1].time == order[k].time) continue;
        times[kept] = order[k].time;
        memcpy(values + kept * width, channel->values + order[k].key * width,
               width * sizeof *values);
        kept++;
    }
    cutis_free_array(model->context, order, count, sizeof *order);
    if (kept == 0) { // nothing usable: hold nothing; the caller drops the channel
        channel->key_count = 0;
        return CUTIS_OK;
    }
    channel->key_count = (uint32_t)kept;
    channel->times = times;
    channel->values = values;
    return cutis_model_note(
        model, "KEYS_REPAIRED", 0, count - kept, at->place,
        "keys were out of order, doubled or not finite: sorted, %zu of %zu kept", kept, count);
}

static cutis_result check_keys(spot *at, cutis_channel *channel, size_t width)
{
    cutis_context *context = at->model->context;
    size_t bad_time = 0, bad_value;
    float last = -1;
    for (; bad_time < channel->key_count; bad_time++) {
        float time = channel->times[bad_time];
        if (!(time >= 0 && time > last && time <= 3.402823466e38f)) break;
        last = time;
    }
    bad_value = cutis_first_not_finite(channel->values, channel->key_count * width);
    if (bad_time == channel->key_count && bad_value == channel->key_count * width) return CUTIS_OK;
    if (at->gate == CUTIS_GATE_REPAIR) return repair_keys(at, channel, width);
    if (bad_time < channel->key_count)
        return CORRUPT("%s: time of key %zu is %g; times ascend from 0 upwards", at->place,
                       bad_time, channel->times[bad_time]);
    return CORRUPT("%s: a value of key %zu is %g", at->place, bad_value / width,
                   channel->values[bad_value]);
}

static cutis_result check_rotations(spot *at, const cutis_channel *channel)
{
    bool cubic = channel->interpolation == CUTIS_INTERPOLATION_CUBIC;
    uint64_t repaired = 0;
    for (uint32_t k = 0; k < channel->key_count; k++) {
        float *quat = (float *)channel->values + (cubic ? 12 * (size_t)k + 4 : 4 * (size_t)k);
        if (cutis_quat_usable(quat)) continue;
        if (at->gate == CUTIS_GATE_REFUSE)
            return cutis_fail(at->model->context, CUTIS_CORRUPT_DATA,
                              "%s: rotation of key %u (%g %g %g %g) has no usable length",
                              at->place, k, quat[0], quat[1], quat[2], quat[3]);
        const float identity[4] = { 0, 0, 0, 1 };
        memcpy(quat, k ? quat - (cubic ? 12 : 4) : identity, sizeof identity);
        repaired++;
    }
    if (!repaired) return CUTIS_OK;
    return cutis_model_note(at->model, "ROTATION_LENGTH", 0, repaired, at->place,
                            "%llu rotations had no usable length and became the key before",
                            (unsigned long long)repaired);
}

// A node given by a matrix cannot be animated; repairing keeps what comes closest to the matrix.
static cutis_result check_matrix_node(spot *at, const cutis_channel *channel)
{
    cutis_node *node = (cutis_node *)&at->model->data.nodes[channel->node];
    if (!node->matrix || channel->path == CUTIS_PATH_WEIGHTS) return CUTIS_OK;
    if (at->gate == CUTIS_GATE_REFUSE)
        return cutis_fail(at->model->context, CUTIS_CORRUPT_DATA,
                          "%s: node %u has a matrix and cannot be animated", at->place,
                          channel->node);
    node->matrix = NULL; // `rest` already holds what comes closest
    return cutis_model_note(at->model, "MATRIX_ANIMATED", 0, 1, at->place,
                            "the matrix of node %u became translation, rotation and scale",
                            channel->node);
}

static cutis_result check_channel(spot *at, cutis_channel *channel)
{
    size_t width = cutis_channel_width(&at->model->data, channel);
    if (channel->interpolation == CUTIS_INTERPOLATION_CUBIC) width *= 3;
    TRY(check_keys(at, channel, width));
    if (channel->path == CUTIS_PATH_ROTATION) TRY(check_rotations(at, channel));
    return check_matrix_node(at, channel);
}

// `seen` has 4 stamps a node: the clip (from 1) that last had a channel for that node and path.
static cutis_result check_clip(cutis_model *model, cutis_gate gate, uint32_t c, uint32_t *seen)
{
    cutis_clip *clip = (cutis_clip *)&model->data.clips[c];
    cutis_channel *channels = (cutis_channel *)clip->channels;
    uint32_t kept = 0;
    clip->duration = 0;
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        cutis_channel *channel = &channels[i];
        spot at = { model, gate, "" };
        snprintf(at.place, sizeof at.place, "clips/%u/channels/%u", c, i);
        TRY(check_channel(&at, channel));
        uint32_t *stamp = &seen[4 * (size_t)channel->node + (uint32_t)channel->path];
        bool twice = *stamp == c + 1;
        if (twice && gate == CUTIS_GATE_REFUSE)
            return cutis_fail(model->context, CUTIS_CORRUPT_DATA,
                              "%s: a second channel for path %d of node %u", at.place,
                              (int)channel->path, channel->node);
        if (twice || channel->key_count == 0) {
            TRY(cutis_model_note(model, "CHANNEL_DROPPED", 0, 1, at.place, "%s",
                                 twice ? "a second channel for the same node and path was dropped"
                                       : "a channel without a usable key was dropped"));
            continue;
        }
        *stamp = c + 1;
        float end = channel->times[channel->key_count - 1];
        if (end > clip->duration) clip->duration = end;
        channels[kept++] = *channel;
    }
    clip->channel_count = kept;
    return CUTIS_OK;
}

cutis_result cutis_validate_clips(cutis_model *model, cutis_gate gate)
{
    const cutis_model_data *data = &model->data;
    uint32_t *seen = cutis_alloc_zero(model->context, data->node_count, 4 * sizeof *seen);
    if (!seen) return cutis_alloc_result(model->context);
    cutis_result result = CUTIS_OK;
    for (uint32_t c = 0; c < data->clip_count && result == CUTIS_OK; c++)
        result = check_clip(model, gate, c, seen);
    cutis_free_array(model->context, seen, data->node_count, 4 * sizeof *seen);
    return result;
}
