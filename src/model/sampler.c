// Sampling clips. Creating sorts the channels into runs (same path, same interpolation, same times:
// one search each) and the channels of a run into batches of four lanes with their keys side by
// side, so that four nodes are interpolated at once. Sampling allocates nothing and writes only the
// caller's pose.
//
// Slerp without trigonometry: with Z = angle^2 and S(z) = sin(sqrt z) / sqrt z, the weights are
// (1-u) S((1-u)^2 Z) / S(Z) and u S(u^2 Z) / S(Z). Z and 1 / S(Z) are found once per pair of keys
// in double, from square roots and series only; S is a polynomial. Rotation keys are made unit and
// turned to the near side of their predecessor once. So a pose has the same bits on every machine.
#include <cutis/clip.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/lanes.h"
#include "model/object.h"

// Up to four channels; missing lanes repeat the last channel, so that no loop needs a count.
typedef struct {
    float *keys;       // [key][stride]
    uint32_t nodes[4]; // of the lanes; for morph weights: first entry of the pose, count
    bool loose;        // linear rotations: a key is not of unit length, the result must be made so
} batch;

typedef struct {
    cutis_path path;
    cutis_interpolation interpolation;
    uint32_t key_count;
    uint32_t stride; // floats from key to key of a batch
    const float *times;
    uint32_t bin_count;
    float bin_scale;      // bins per second
    const uint32_t *bins; // bin_count + 1: how many keys lie in earlier bins
    uint32_t batch_count;
    batch *batches;
} run;

struct cutis_sampler {
    cutis_context *context;
    cutis_arena arena;
    float duration;
    uint32_t node_count, target_count;
    const cutis_transform *rest;
    const float *rest_targets;
    uint32_t run_count, run_first_rotation;
    run *runs; // translations and scales, then rotations, then weights
    uint32_t restore_count;
    const uint32_t
        *restore; // nodes whose rotation is at rest but whose translation or scale is written
};

// S on [0, (pi/2)^2], minimax with S(0) = 1: 5e-9, below the rounding of the float evaluation
// (8e-8).
static inline lanes sine_ratio(lanes z)
{
    lanes s = lanes_all(2.608918e-06f) * z + lanes_all(-0.00019811107f);
    s = s * z + lanes_all(0.008333088f);
    s = s * z + lanes_all(-0.1666666f);
    return s * z + lanes_all(1);
}

// Sampling --------------------------------------------------------------

typedef struct {
    uint32_t key, next; // equal outside the keys
    float u, step;      // 0..1 between them; seconds between them
} moment;

static moment locate(const run *r, float seconds)
{
    const float *times = r->times;
    uint32_t last = r->key_count - 1;
    if (!(seconds > times[0])) return (moment){ 0, 0, 0, 0 };
    if (seconds >= times[last]) return (moment){ last, last, 0, 0 };
    uint32_t bin = (uint32_t)((seconds - times[0]) * r->bin_scale);
    if (bin >= r->bin_count) bin = r->bin_count - 1;
    // The bin function ascends with time, so the key before `seconds` is among those of its bin or
    // the last one before.
    uint32_t low = r->bins[bin] ? r->bins[bin] - 1 : 0, high = r->bins[bin + 1];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (times[middle] <= seconds)
            low = middle;
        else
            high = middle;
    }
    float step = times[low + 1] - times[low];
    return (moment){ low, low + 1, (seconds - times[low]) / step, step };
}

// The Hermite basis of glTF: value, out-tangent, next value, next in-tangent.
static void hermite(moment at, float basis[4])
{
    float u = at.u, u2 = u * u, u3 = u2 * u;
    basis[0] = 2 * u3 - 3 * u2 + 1;
    basis[1] = (u3 - 2 * u2 + u) * at.step;
    basis[2] = 3 * u2 - 2 * u3;
    basis[3] = (u3 - u2) * at.step;
}

// Everything below is inlined with constant `interpolation`, `width` and `place`, so that the
// vectors stay in registers.
#define INLINE static inline __attribute__((always_inline))

// Components of four lanes at a moment. Keys are [component][lane], or [in, value, out][component]
// [lane] if cubic.
INLINE void interpolate(const float *key, const float *next, moment at,
                        cutis_interpolation interpolation, int width, lanes *out)
{
    lanes u = lanes_all(at.u), v = lanes_all(1 - at.u);
    float h[4];
    if (interpolation == CUTIS_INTERPOLATION_CUBIC) hermite(at, h);
    LANES_UNROLL
    for (int c = 0; c < width; c++) {
        if (interpolation == CUTIS_INTERPOLATION_CUBIC) {
            lanes value = lanes_all(h[0]) * lanes_load(key + 4 * (width + c));
            value += lanes_all(h[1]) * lanes_load(key + 4 * (2 * width + c));
            value += lanes_all(h[2]) * lanes_load(next + 4 * (width + c));
            out[c] = value + lanes_all(h[3]) * lanes_load(next + 4 * c);
        } else if (interpolation == CUTIS_INTERPOLATION_STEP) {
            out[c] = lanes_load(key + 4 * c);
        } else {
            out[c] = v * lanes_load(key + 4 * c) + u * lanes_load(next + 4 * c);
        }
    }
}

INLINE void store_lanes(const batch *b, int place, lanes v0, lanes v1, lanes v2, lanes v3,
                        cutis_transform *transforms)
{
    lanes_transpose(&v0, &v1, &v2, &v3);
    lanes_store((float *)(void *)&transforms[b->nodes[0]] + place, v0);
    lanes_store((float *)(void *)&transforms[b->nodes[1]] + place, v1);
    lanes_store((float *)(void *)&transforms[b->nodes[2]] + place, v2);
    lanes_store((float *)(void *)&transforms[b->nodes[3]] + place, v3);
}

// Translations and scales. The fourth float of a store falls on the rotation, which comes later.
INLINE void sample_vectors(const run *r, moment at, cutis_interpolation interpolation, int place,
                           cutis_transform *transforms)
{
    for (uint32_t i = 0; i < r->batch_count; i++) {
        const batch *b = &r->batches[i];
        lanes v[3];
        interpolate(b->keys + (size_t)at.key * r->stride, b->keys + (size_t)at.next * r->stride, at,
                    interpolation, 3, v);
        if (place == TRANSFORM_TRANSLATION)
            store_lanes(b, place, v[0], v[1], v[2], v[2], transforms);
        else
            store_lanes(b, place, v[0], v[0], v[1], v[2], transforms);
    }
}

INLINE void slerp4(const float *key, const float *next, moment at, lanes *q)
{
    lanes u = lanes_all(at.u), v = lanes_all(1 - at.u);
    lanes z = lanes_load(key + 16), inverse = lanes_load(key + 20);
    lanes a = v * inverse * sine_ratio(v * v * z), c = u * inverse * sine_ratio(u * u * z);
    LANES_UNROLL
    for (int k = 0; k < 4; k++) q[k] = a * lanes_load(key + 4 * k) + c * lanes_load(next + 4 * k);
}

INLINE void normalise4(const float *key, lanes *q)
{
    lanes square = ((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) + q[3] * q[3];
    lanes scale = lanes_all(1) / lanes_sqrt(square);
    lanes_int fine = square > 1e-12f; // opposite keys may cancel: then the key before stands
    LANES_UNROLL
    for (int k = 0; k < 4; k++)
        q[k] = lanes_select(fine, q[k] * scale, lanes_load(key + 4 * (4 + k)));
}

// Between keys of other than unit length, slerp gives one of other than unit length.
INLINE void tighten4(lanes *q)
{
    lanes square = ((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) + q[3] * q[3];
    lanes scale = lanes_all(1) / lanes_sqrt(square);
    LANES_UNROLL
    for (int k = 0; k < 4; k++) q[k] = q[k] * scale;
}

INLINE void sample_rotations(const run *r, moment at, cutis_interpolation interpolation,
                             cutis_transform *transforms)
{
    for (uint32_t i = 0; i < r->batch_count; i++) {
        const batch *b = &r->batches[i];
        const float *key = b->keys + (size_t)at.key * r->stride;
        const float *next = b->keys + (size_t)at.next * r->stride;
        lanes q[4];
        if (interpolation == CUTIS_INTERPOLATION_LINEAR)
            slerp4(key, next, at, q);
        else
            interpolate(key, next, at, interpolation, 4, q);
        if (interpolation == CUTIS_INTERPOLATION_CUBIC) normalise4(key, q);
        if (b->loose) tighten4(q);
        store_lanes(b, TRANSFORM_ROTATION, q[0], q[1], q[2], q[3], transforms);
    }
}

#define DISPATCH(function, ...)                                                                    \
    do {                                                                                           \
        if (r->interpolation == CUTIS_INTERPOLATION_LINEAR)                                        \
            function(r, at, CUTIS_INTERPOLATION_LINEAR, __VA_ARGS__);                              \
        else if (r->interpolation == CUTIS_INTERPOLATION_STEP)                                     \
            function(r, at, CUTIS_INTERPOLATION_STEP, __VA_ARGS__);                                \
        else                                                                                       \
            function(r, at, CUTIS_INTERPOLATION_CUBIC, __VA_ARGS__);                               \
    } while (0)

static void sample_transforms(const run *r, moment at, cutis_transform *transforms)
{
    if (r->path == CUTIS_PATH_TRANSLATION)
        DISPATCH(sample_vectors, TRANSFORM_TRANSLATION, transforms);
    else if (r->path == CUTIS_PATH_SCALE)
        DISPATCH(sample_vectors, TRANSFORM_BEFORE_SCALE, transforms);
    else
        DISPATCH(sample_rotations, transforms);
}

static void sample_weights(const run *r, moment at, float *morph_weights)
{
    float h[4];
    hermite(at, h);
    for (uint32_t i = 0; i < r->batch_count; i++) {
        const batch *b = &r->batches[i];
        const float *key = b->keys + (size_t)at.key * r->stride;
        const float *next = b->keys + (size_t)at.next * r->stride;
        float *out = morph_weights + b->nodes[0];
        uint32_t count = b->nodes[1];
        for (uint32_t k = 0; k < count; k++) {
            if (r->interpolation == CUTIS_INTERPOLATION_STEP)
                out[k] = key[k];
            else if (r->interpolation == CUTIS_INTERPOLATION_LINEAR)
                out[k] = (1 - at.u) * key[k] + at.u * next[k];
            else
                out[k] = ((h[0] * key[count + k] + h[1] * key[2 * (size_t)count + k]) +
                          h[2] * next[count + k]) +
                         h[3] * next[k];
        }
    }
}

void cutis_sampler_sample(const cutis_sampler *sampler, float seconds, cutis_transform *transforms,
                          float *morph_weights)
{
    if (sampler->node_count)
        memcpy(transforms, sampler->rest, sampler->node_count * sizeof *transforms);
    if (morph_weights && sampler->target_count)
        memcpy(morph_weights, sampler->rest_targets, sampler->target_count * sizeof *morph_weights);
    uint32_t i = 0;
    for (; i < sampler->run_first_rotation; i++)
        sample_transforms(&sampler->runs[i], locate(&sampler->runs[i], seconds), transforms);
    for (uint32_t k = 0; k < sampler->restore_count; k++)
        transforms[sampler->restore[k]].rotation = sampler->rest[sampler->restore[k]].rotation;
    for (; i < sampler->run_count; i++) {
        const run *r = &sampler->runs[i];
        if (r->path == CUTIS_PATH_ROTATION)
            sample_transforms(r, locate(r, seconds), transforms);
        else if (morph_weights)
            sample_weights(r, locate(r, seconds), morph_weights);
    }
}

float cutis_sampler_duration(const cutis_sampler *sampler)
{
    return sampler->duration;
}

// Creating --------------------------------------------------------------

// Square of the angle whose cosine is 1 - y, 0 <= y <= 1: halve the angle three times by square
// roots, then the series arccos^2(1 - y) = sum 2 (2y)^n / (n^2 binomial(2n, n)), whose tenth term
// is below 1e-17 there.
static double angle_squared(double y)
{
    for (int i = 0; i < 3; i++) y = 0.5 * y / (1 + sqrt(1 - 0.5 * y));
    double sum = 0, term = 1;
    for (int n = 1; n <= 10; n++) {
        term *= 2 * y * n / (2.0 * (2 * n - 1)); // (2y)^n / binomial(2n, n)
        sum += 2 * term / ((double)n * n);
    }
    return 64 * sum;
}

static double sine_ratio_exact(double z)
{
    double sum = 1;
    for (int n = 12; n >= 1; n--) sum = 1 - sum * z / (2.0 * n * (2 * n + 1));
    return sum;
}

// glTF slerps the keys as they are. Files round them ("0.707"), and interpolating the unit
// rotations in their place differs by more than 1e-5 of a model. Keys within float rounding of unit
// length are better made exactly so, and keys far from it are no rotations at all until they are.
static const double LOOSE_MIN = 1e-5, LOOSE_MAX = 0.02; // of the squared length, away from 1

// @return whether a key of a linear channel is not of unit length
static bool pack_rotation(const cutis_channel *channel, float *keys, uint32_t stride, uint32_t lane)
{
    const bool linear = channel->interpolation == CUTIS_INTERPOLATION_LINEAR;
    bool loose = false, loose_before = false;
    double before[4] = { 0 }, q[4];
    for (uint32_t k = 0; k < channel->key_count; k++, memcpy(before, q, sizeof q)) {
        const float *value = channel->values + 4 * (size_t)k;
        float *key = keys + (size_t)k * stride + lane;
        double square = 0, dot = 0, apart = 0;
        for (int c = 0; c < 4; c++) square += (double)value[c] * value[c];
        double off = fabs(square - 1);
        bool loose_now = linear && off > LOOSE_MIN && off < LOOSE_MAX;
        double scale = loose_now ? 1 : 1 / sqrt(square);
        for (int c = 0; c < 4; c++) q[c] = value[c] * scale;
        for (int c = 0; c < 4; c++) dot += q[c] * before[c];
        LANES_UNROLL
        for (int c = 0; c < 4; c++) {
            if (dot < 0) q[c] = -q[c];
            key[4 * c] = (float)q[c];
            apart += (q[c] - before[c]) * (q[c] - before[c]);
        }
        if (!linear) continue;
        if (k > 0) {
            double y = loose_now || loose_before ? fmax(1 - fabs(dot), 0) : 0.5 * apart;
            double z = angle_squared(fmin(y, 1));
            key[16 - (ptrdiff_t)stride] = (float)z;
            key[20 - (ptrdiff_t)stride] = (float)(1 / sine_ratio_exact((float)z));
        }
        key[16] = 0;
        key[20] = 1;
        loose |= loose_now;
        loose_before = loose_now;
    }
    return loose;
}

// Lane `lane` of a batch from a channel, width floats per key (three times that if cubic).
static void pack_plain(const cutis_channel *channel, uint32_t width, float *keys, uint32_t stride,
                       uint32_t lane)
{
    for (uint32_t k = 0; k < channel->key_count; k++)
        for (uint32_t c = 0; c < width; c++)
            keys[(size_t)k * stride + 4 * c + lane] = channel->values[(size_t)k * width + c];
}

typedef struct {
    const cutis_channel *channel;
    uint32_t target_first, target_count; // weights only
} entry;

static int path_rank(cutis_path path)
{
    static const int rank[] = { 0, 2, 1, 3 }; // translation, scale, rotation, weights
    return rank[path];
}

static int compare_runs(const cutis_channel *x, const cutis_channel *y)
{
    if (x->path != y->path) return path_rank(x->path) - path_rank(y->path);
    if (x->interpolation != y->interpolation) return (int)x->interpolation - (int)y->interpolation;
    if (x->key_count != y->key_count) return x->key_count < y->key_count ? -1 : 1;
    return x->times == y->times ? 0 : memcmp(x->times, y->times, x->key_count * sizeof(float));
}

static int compare_entries(const void *a, const void *b)
{
    const cutis_channel *x = ((const entry *)a)->channel, *y = ((const entry *)b)->channel;
    int order = compare_runs(x, y);
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

static bool fill_bins(cutis_arena *arena, run *r)
{
    uint32_t count = 1, k = 0;
    while (count < r->key_count && count < 1u << 30) count *= 2;
    float span = r->times[r->key_count - 1] - r->times[0];
    float scale = span > 0 ? (float)count / span : 0;
    if (!(scale <= 1e30f))
        scale = 0; // keys too close together for bins: one bin, plain binary search
    if (scale == 0) count = 1;
    uint32_t *bins = cutis_arena_alloc(arena, (size_t)count + 1, sizeof *bins);
    if (!bins) return false;
    for (uint32_t b = 0; b <= count; b++) {
        while (b > 0 && k < r->key_count) {
            float place = (r->times[k] - r->times[0]) * scale;
            uint32_t bin = place < (float)count ? (uint32_t)place : count - 1;
            if (bin >= b) break;
            k++;
        }
        bins[b] = k;
    }
    r->bins = bins;
    r->bin_count = count;
    r->bin_scale = scale;
    return true;
}

static bool fill_run(cutis_arena *arena, run *r, const entry *entries, uint32_t count)
{
    const cutis_channel *first = entries[0].channel;
    bool cubic = first->interpolation == CUTIS_INTERPOLATION_CUBIC;
    bool weights = first->path == CUTIS_PATH_WEIGHTS, rotation = first->path == CUTIS_PATH_ROTATION;
    uint32_t width = (rotation ? 4 : 3) * (cubic ? 3 : 1);
    uint32_t per_batch = weights ? 1 : 4;
    r->path = first->path;
    r->interpolation = first->interpolation;
    r->key_count = first->key_count;
    r->batch_count = (count + per_batch - 1) / per_batch;
    r->stride = rotation && first->interpolation == CUTIS_INTERPOLATION_LINEAR ? 24 : 4 * width;
    r->times = cutis_arena_copy(arena, first->times, first->key_count, sizeof(float));
    r->batches = cutis_arena_alloc(arena, r->batch_count, sizeof *r->batches);
    if (!r->times || !r->batches || !fill_bins(arena, r)) return false;
    if (weights) r->stride = entries[0].target_count * (cubic ? 3 : 1);
    for (uint32_t i = 0; i < r->batch_count; i++) {
        batch *b = &r->batches[i];
        size_t size;
        if (!cutis_size_multiply(r->key_count, r->stride, &size))
            size = SIZE_MAX; // refused by the arena
        if (weights) {
            *b = (batch){ cutis_arena_copy(arena, entries[i].channel->values, size, sizeof(float)),
                          { entries[i].target_first, entries[i].target_count, 0, 0 },
                          false };
            if (!b->keys) return false;
            continue;
        }
        b->keys = cutis_arena_alloc(arena, size, sizeof(float));
        if (!b->keys) return false;
        b->loose = false;
        for (uint32_t l = 0; l < 4; l++) {
            const cutis_channel *channel =
                entries[i * 4 + l < count ? i * 4 + l : count - 1].channel;
            b->nodes[l] = channel->node;
            if (rotation && !cubic)
                b->loose |= pack_rotation(channel, b->keys, r->stride, l);
            else
                pack_plain(channel, width, b->keys, r->stride, l);
        }
    }
    return true;
}

// Weight channels of one run may have different widths; a run has one stride, so width splits runs
// too.
static bool same_run(const entry *a, const entry *b)
{
    return compare_runs(a->channel, b->channel) == 0 && a->target_count == b->target_count;
}

static bool fill_runs(cutis_sampler *sampler, const entry *entries, uint32_t count)
{
    uint32_t run_count = 0;
    for (uint32_t i = 0; i < count; i++)
        run_count += i == 0 || !same_run(&entries[i - 1], &entries[i]);
    sampler->runs = cutis_arena_alloc(&sampler->arena, run_count, sizeof *sampler->runs);
    if (!sampler->runs) return false;
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && same_run(&entries[i], &entries[end]);) end++;
        if (!fill_run(&sampler->arena, &sampler->runs[sampler->run_count++], entries + i, end - i))
            return false;
        if (path_rank(entries[i].channel->path) < 2)
            sampler->run_first_rotation = sampler->run_count;
    }
    return true;
}

static bool fill_restore(cutis_sampler *sampler, const cutis_clip *clip)
{
    uint8_t *paths = cutis_alloc_zero(sampler->context, sampler->node_count, 1);
    if (!paths) return false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < clip->channel_count; i++)
        paths[clip->channels[i].node] |= (uint8_t)(1 << clip->channels[i].path);
    uint32_t *restore = cutis_arena_alloc(&sampler->arena, sampler->node_count, sizeof *restore);
    for (uint32_t n = 0; restore && n < sampler->node_count; n++) {
        bool touched = paths[n] & (1 << CUTIS_PATH_TRANSLATION | 1 << CUTIS_PATH_SCALE);
        if (touched && !(paths[n] & 1 << CUTIS_PATH_ROTATION)) restore[count++] = n;
    }
    sampler->restore = restore;
    sampler->restore_count = count;
    cutis_free(sampler->context, paths, sampler->node_count);
    return restore != NULL;
}

// Channels in sampling order. Morph weights of nodes that no instance shows have no place in a
// pose.
static uint32_t list_entries(const cutis_model *model, const cutis_clip *clip, entry *entries)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        const cutis_channel *channel = &clip->channels[i];
        entry e = { channel, 0, 0 };
        if (channel->path == CUTIS_PATH_WEIGHTS) {
            uint32_t low = 0, high = model->instance_count;
            while (low < high) { // instances ascend by node
                uint32_t middle = low + (high - low) / 2;
                if (model->instances[middle].node < channel->node)
                    low = middle + 1;
                else
                    high = middle;
            }
            if (low == model->instance_count || model->instances[low].node != channel->node)
                continue;
            e.target_first = model->instances[low].target_first;
            e.target_count = model->instances[low].target_count;
        }
        entries[count++] = e;
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    return count;
}

cutis_result cutis_sampler_create(const cutis_model *model, uint32_t clip_index,
                                  cutis_sampler **out)
{
    cutis_context *context = model->context;
    if (clip_index >= model->data.clip_count)
        return cutis_fail(context, CUTIS_NOT_FOUND, "no clip %u; the model has %u", clip_index,
                          model->data.clip_count);
    const cutis_clip *clip = &model->data.clips[clip_index];
    entry *entries = NULL;
    cutis_sampler *sampler = cutis_alloc_zero(context, 1, sizeof *sampler);
    if (!sampler) return cutis_alloc_result(context);
    sampler->context = context;
    entries = cutis_alloc_array(context, clip->channel_count, sizeof *entries);
    if (!entries) goto fail;
    sampler->arena.context = context;
    sampler->duration = clip->duration;
    sampler->node_count = model->data.node_count;
    sampler->target_count = model->target_count;
    sampler->rest =
        cutis_arena_copy(&sampler->arena, model->rest, sampler->node_count, sizeof *sampler->rest);
    sampler->rest_targets = cutis_arena_copy(&sampler->arena, model->rest_targets,
                                             sampler->target_count, sizeof *sampler->rest_targets);
    if (!sampler->rest || !sampler->rest_targets) goto fail;
    uint32_t count = list_entries(model, clip, entries);
    if (!fill_runs(sampler, entries, count) || !fill_restore(sampler, clip)) goto fail;
    cutis_free_array(context, entries, clip->channel_count, sizeof *entries);
    *out = sampler;
    return CUTIS_OK;

fail:;
    cutis_result result = cutis_alloc_result(context);
    cutis_free_array(context, entries, clip->channel_count, sizeof *entries);
    cutis_sampler_destroy(sampler);
    return result;
}

void cutis_sampler_destroy(cutis_sampler *sampler)
{
    if (!sampler) return;
    cutis_arena_release(&sampler->arena);
    cutis_free(sampler->context, sampler, sizeof *sampler);
}
