// Tracks of driven nodes, for players that have no drivers: keys on a grid of times and, where a
// joint that drives steps, just before and at the step; of driven morph weights too. Invariant:
// what clips have stays as it is, but for tracks that are to be replaced; new channels come last.
#include <cutis/clip.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/drivers.h"

enum { FRAMES_MOST = 1000000 };

typedef struct tracks {
    const cutis_model *model;
    cutis_arena *arena;
    cutis_drive drive;
    double fps;
    uint8_t *wanted;  ///< per driver: this clip gets tracks of it
    uint8_t *weights; ///< per instance: and of its morph weights
    uint8_t *driven;  ///< per node: it has driven weights
} tracks;

static bool is_driven(const cutis_drivers *all, uint32_t node, uint32_t target)
{
    uint32_t low = 0, high = all ? all->weight_count : 0;
    while (low < high) { // ascending by node, then target
        const uint32_t middle = low + (high - low) / 2;
        const cutis_weight_driver *w = &all->weights[middle];
        if (w->node < node || (w->node == node && w->target < target))
            low = middle + 1;
        else
            high = middle;
    }
    return all && low < all->weight_count && all->weights[low].node == node &&
           all->weights[low].target == target;
}

// Whether a channel ever moves its node away from rest, as a pose would be asked
// (cutis_pose_rests): exporters that key every joint write tracks that do not.
// @param driven of morph weights those that are driven, or the others
static bool moves(const cutis_model *model, const cutis_channel *channel, bool driven)
{
    const cutis_transform *rest = &model->rest[channel->node];
    const bool cubic = channel->interpolation == CUTIS_INTERPOLATION_CUBIC;
    const uint32_t width = cutis_channel_width(&model->data, channel);
    const float *at = channel->path == CUTIS_PATH_TRANSLATION ? &rest->translation.x
                      : channel->path == CUTIS_PATH_ROTATION  ? &rest->rotation.x
                      : channel->path == CUTIS_PATH_SCALE     ? &rest->scale.x
                                                              : NULL;
    const bool weights = !at;
    for (uint32_t i = 0; i < model->instance_count && !at; i++)
        if (model->instances[i].node == channel->node)
            at = model->rest_targets + model->instances[i].target_first;
    for (uint32_t i = 0; i < width && at; i++) {
        if (weights && is_driven(model->data.drivers, channel->node, i) != driven) continue;
        for (uint32_t k = 0; k < channel->key_count; k++) {
            const float value = channel->values[(cubic ? 3 * (size_t)k + 1 : k) * width + i];
            if (!(fabsf(value - at[i]) <= 1e-6f * (1 + fabsf(at[i])))) return true;
        }
    }
    return false;
}

static bool has_track(const cutis_model *model, const cutis_clip *clip, uint32_t node, bool weights)
{
    for (uint32_t c = 0; c < clip->channel_count; c++)
        if (clip->channels[c].node == node &&
            (clip->channels[c].path == CUTIS_PATH_WEIGHTS) == weights &&
            moves(model, &clip->channels[c], true))
            return true;
    return false;
}

// Times on the grid, and the end if that is none of them. @return how many; UINT32_MAX: too many
static uint32_t fill_grid(const tracks *t, float duration, float *times)
{
    const double last = floor((double)duration * t->fps + 1e-4);
    uint32_t count = 0;
    if (!(last < FRAMES_MOST)) return UINT32_MAX;
    for (double f = 0; f <= last; f++, count++)
        if (times) times[count] = fminf((float)(f / t->fps), duration);
    if (duration - last / t->fps > 1e-3 / t->fps) {
        if (times) times[count] = duration;
        count++;
    }
    return count;
}

// Whether a channel turns a joint that drivers read, in steps.
static bool steps(const tracks *t, const cutis_channel *channel)
{
    const cutis_drivers *all = t->model->data.drivers;
    bool read = false;
    for (uint32_t j = 0; j < all->joint_count && !read; j++) read = all->joints[j] == channel->node;
    return read && channel->path == CUTIS_PATH_ROTATION &&
           channel->interpolation == CUTIS_INTERPOLATION_STEP;
}

static uint32_t driver_count(const tracks *t)
{
    return t->model->data.drivers ? t->model->data.drivers->driver_count : 0;
}

static bool is_replaced(const tracks *t, const cutis_channel *channel)
{
    const bool weights = channel->path == CUTIS_PATH_WEIGHTS;
    for (uint32_t d = 0; d < driver_count(t) && !weights; d++)
        if (t->wanted[d] && t->model->data.drivers->drivers[d].node == channel->node) return true;
    for (uint32_t i = 0; i < t->model->instance_count && weights; i++)
        if (t->weights[i] && t->model->instances[i].node == channel->node) return true;
    return false;
}

// Whether a channel is replaced that moves weights beside the driven ones: these go on as before.
static bool carries(const tracks *t, const cutis_channel *channel)
{
    return channel->path == CUTIS_PATH_WEIGHTS && is_replaced(t, channel) &&
           moves(t->model, channel, false);
}

// Of every step the time and the last one before it: between the two nothing shows that players
// would go the way from key to key; and the keys of weights that go on. @return how many
static size_t fill_steps(const tracks *t, const cutis_clip *clip, float *times)
{
    size_t count = 0;
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const cutis_channel *channel = &clip->channels[c];
        const bool carried = carries(t, channel), turns = steps(t, channel);
        for (uint32_t k = carried ? 0 : 1; (turns || carried) && k < channel->key_count; k++) {
            const float at = channel->times[k];
            const size_t four = 4 * sizeof at;
            if (!(at > 0 && at <= clip->duration) ||
                (turns && memcmp(channel->values + 4 * (size_t)k,
                                 channel->values + 4 * (size_t)(k - 1), four) == 0))
                continue;
            if (times) times[count] = at;
            count++;
            if (channel->interpolation != CUTIS_INTERPOLATION_STEP) continue;
            if (times) times[count] = nextafterf(at, 0);
            count++;
        }
    }
    return count;
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// The times of a clip's new keys, ascending.
static cutis_result list_times(const tracks *t, uint32_t index, const cutis_clip *clip, float **out,
                               uint32_t *count)
{
    const uint32_t grid = fill_grid(t, clip->duration, NULL);
    const size_t all = grid + fill_steps(t, clip, NULL);
    if (grid == UINT32_MAX || all > 4 * (size_t)FRAMES_MOST)
        return cutis_fail(t->model->context, CUTIS_LIMIT_EXCEEDED,
                          "clip %u: %g seconds are too many", index, (double)clip->duration);
    float *times = *out = cutis_arena_alloc(t->arena, all, sizeof *times);
    if (!times) return cutis_alloc_result(t->model->context);
    fill_grid(t, clip->duration, times);
    fill_steps(t, clip, times + grid);
    qsort(times, all, sizeof *times, ascending);
    *count = 1;
    for (size_t i = 1; i < all; i++)
        if (times[i] > times[*count - 1]) times[(*count)++] = times[i];
    return CUTIS_OK;
}

// A key on the side of the one before it: players go the short way between them.
static void store_turn(const cutis_transform *from, const float *before, float *to)
{
    float dot = 0;
    memcpy(to, &from->rotation, 4 * sizeof *to);
    for (int k = 0; k < 4 && before; k++) dot += to[k] * before[k];
    for (int k = 0; k < 4 && dot < 0; k++) to[k] = -to[k];
}

static void join_keys(cutis_channel *channel, size_t width)
{
    for (size_t k = width; k < channel->key_count * width; k++)
        if (channel->values[k] != channel->values[k % width]) return;
    channel->key_count = 1;
}

// Channels to be filled of driven nodes, two each. @return past the last; NULL: out of memory
static cutis_channel *open_nodes(const tracks *t, uint32_t count, cutis_channel *to)
{
    for (uint32_t d = 0; d < driver_count(t); d++) {
        if (!t->wanted[d]) continue;
        const uint32_t node = t->model->data.drivers->drivers[d].node;
        float *places = cutis_arena_alloc(t->arena, count, 3 * sizeof *places);
        float *turns = cutis_arena_alloc(t->arena, count, 4 * sizeof *turns);
        if (!places || !turns) return NULL;
        *to++ = (cutis_channel){ .node = node, .path = CUTIS_PATH_TRANSLATION, .values = places };
        *to++ = (cutis_channel){ .node = node, .path = CUTIS_PATH_ROTATION, .values = turns };
    }
    return to;
}

// Of all morph weights of the instances that have driven ones.
static cutis_channel *open_weights(const tracks *t, uint32_t count, cutis_channel *to)
{
    for (uint32_t i = 0; i < t->model->instance_count; i++) {
        const cutis_instance *instance = &t->model->instances[i];
        if (!t->weights[i]) continue;
        float *values = cutis_arena_alloc(t->arena, count, instance->target_count * sizeof *values);
        if (!values) return NULL;
        *to++ =
            (cutis_channel){ .node = instance->node, .path = CUTIS_PATH_WEIGHTS, .values = values };
    }
    return to;
}

static void store_weights(const tracks *t, uint32_t frame, const float *weights, cutis_channel *to)
{
    for (uint32_t i = 0; i < t->model->instance_count; i++) {
        const cutis_instance *instance = &t->model->instances[i];
        const size_t width = instance->target_count;
        if (!t->weights[i]) continue;
        memcpy((float *)to->values + frame * width, weights + instance->target_first,
               width * sizeof *weights);
        to++;
    }
}

static cutis_result sample(const tracks *t, const cutis_sampler *sampler, uint32_t count,
                           const float *times, cutis_channel *out)
{
    const uint32_t nodes = t->model->data.node_count;
    cutis_transform *pose = cutis_arena_alloc(t->arena, nodes, sizeof *pose);
    float *weights =
        cutis_arena_alloc(t->arena, t->model->target_count + (size_t)1, sizeof *weights);
    cutis_channel *to = pose && weights ? open_nodes(t, count, out) : NULL;
    cutis_channel *end = to ? open_weights(t, count, to) : NULL;
    if (!end) return cutis_alloc_result(t->model->context);
    for (uint32_t f = 0; f < count; f++) {
        cutis_sampler_sample(sampler, times[f], pose, weights);
        cutis_pose_drive(t->model, CUTIS_DRIVE_ALL, pose);
        cutis_pose_drive_weights(t->model, CUTIS_DRIVE_ALL, pose, weights);
        store_weights(t, f, weights, to);
        for (cutis_channel *c = out; c < to; c += 2) {
            float *turns = (float *)c[1].values + 4 * (size_t)f;
            memcpy((float *)c[0].values + 3 * (size_t)f, &pose[c[0].node].translation,
                   3 * sizeof(float));
            store_turn(&pose[c[0].node], f > 0 ? turns - 4 : NULL, turns);
        }
    }
    for (cutis_channel *c = out; c < end; c++) {
        c->key_count = count, c->times = times;
        join_keys(c, cutis_channel_width(&t->model->data, c));
    }
    return CUTIS_OK;
}

// What a clip gets tracks of. @return how many channels
static uint32_t choose(tracks *t, const cutis_clip *clip)
{
    const cutis_drivers *all = t->model->data.drivers;
    const bool forced = t->drive == CUTIS_DRIVE_ALL;
    uint32_t count = 0;
    for (uint32_t d = 0; d < driver_count(t); d++) {
        t->wanted[d] = forced || !has_track(t->model, clip, all->drivers[d].node, false);
        count += 2 * t->wanted[d];
    }
    for (uint32_t i = 0; i < t->model->instance_count; i++) {
        const uint32_t node = t->model->instances[i].node;
        t->weights[i] = t->driven[node] && (forced || !has_track(t->model, clip, node, true));
        t->driven[node] = 0; // shown again: one channel is enough
        count += t->weights[i];
    }
    for (uint32_t d = 0; all && d < all->weight_count; d++) t->driven[all->weights[d].node] = 1;
    return count;
}

static cutis_result extend(tracks *t, uint32_t index, cutis_clip *clip)
{
    const uint32_t more = choose(t, clip);
    uint32_t kept = 0, count = 0;
    float *times = NULL;
    if (more == 0) return CUTIS_OK;
    TRY(list_times(t, index, clip, &times, &count));
    cutis_channel *channels =
        cutis_arena_alloc(t->arena, clip->channel_count + (size_t)more, sizeof *channels);
    if (!channels) return cutis_alloc_result(t->model->context);
    for (uint32_t c = 0; c < clip->channel_count; c++)
        if (!is_replaced(t, &clip->channels[c])) channels[kept++] = clip->channels[c];
    cutis_sampler *sampler = NULL;
    cutis_result result = cutis_sampler_create(t->model, index, &sampler);
    if (result == CUTIS_OK) result = sample(t, sampler, count, times, channels + kept);
    cutis_sampler_destroy(sampler);
    clip->channels = channels, clip->channel_count = kept + more;
    return result;
}

cutis_result cutis_clips_drive(const cutis_model *model, uint32_t first_clip, cutis_drive drive,
                               double fps, cutis_model **out)
{
    if (out) *out = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    if (!(fps >= 0 && fps <= 1e6)) return INVALID(model->context, "%g keys a second", fps);
    cutis_arena arena = { .context = model->context };
    cutis_model_data data = model->data;
    tracks t = { .model = model, .arena = &arena, .drive = drive, .fps = fps > 0 ? fps : 30 };
    t.wanted = cutis_arena_zero(&arena, driver_count(&t) + (size_t)1, 1);
    t.weights = cutis_arena_zero(&arena, model->instance_count + (size_t)1, 1);
    cutis_clip *clips = cutis_arena_copy(&arena, data.clips, data.clip_count, sizeof *clips);
    t.driven = cutis_arena_zero(&arena, data.node_count + (size_t)1, 1);
    for (uint32_t d = 0; t.driven && data.drivers && d < data.drivers->weight_count; d++)
        t.driven[data.drivers->weights[d].node] = 1;
    cutis_result result =
        t.wanted && t.weights && t.driven && clips ? CUTIS_OK : cutis_alloc_result(model->context);
    for (uint32_t c = first_clip;
         c < data.clip_count && drive != CUTIS_DRIVE_NONE && result == CUTIS_OK; c++)
        result = extend(&t, c, &clips[c]);
    data.clips = clips;
    if (result == CUTIS_OK)
        result = cutis_model_create(model->context, &data, CUTIS_GATE_REFUSE, out);
    cutis_arena_release(&arena);
    return cutis_fail_in(model->context, result);
}
