// Making samplers: channels sorted into runs and batches (sampler.h), rotation keys made unit and
// turned to the near side of their predecessor, angles between keys found in double from square
// roots and series only, so that samplers have the same bits on every machine.
#include "model/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/object.h"

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

// Where a batch keeps component c of part p (in-tangent, value, out-tangent; or only the value) of
// lane l.
typedef struct {
    uint32_t part, component, first;
} layout;

static layout layout_of(const cutis_run *r, uint32_t lane)
{
    uint32_t width = r->path == CUTIS_PATH_ROTATION ? 4 : 3;
    if (!r->narrow) return (layout){ 4 * width, 4, lane };
    return (layout){ 4, 1, r->path == CUTIS_PATH_SCALE };
}

// @return whether a key of a linear channel is not of unit length
static bool pack_rotation(const cutis_run *r, const cutis_channel *channel, float *keys,
                          uint32_t lane)
{
    const bool linear = channel->interpolation == CUTIS_INTERPOLATION_LINEAR;
    const layout at = layout_of(r, lane);
    bool loose = false, loose_before = false;
    double before[4] = { 0 }, q[4];
    for (uint32_t k = 0; k < channel->key_count; k++, memcpy(before, q, sizeof q)) {
        const float *value = channel->values + 4 * (size_t)k;
        float *key = keys + (size_t)k * r->stride + at.first;
        double square = 0, dot = 0, apart = 0;
        for (int c = 0; c < 4; c++) square += (double)value[c] * value[c];
        double off = fabs(square - 1);
        bool loose_now = linear && off > LOOSE_MIN && off < LOOSE_MAX;
        double scale = loose_now ? 1 : 1 / sqrt(square);
        for (int c = 0; c < 4; c++) q[c] = value[c] * scale;
        for (int c = 0; c < 4; c++) dot += q[c] * before[c];
        for (uint32_t c = 0; c < 4; c++) {
            if (dot < 0) q[c] = -q[c];
            key[at.component * c] = (float)q[c];
            apart += (q[c] - before[c]) * (q[c] - before[c]);
        }
        if (!linear) continue;
        if (k > 0) {
            double y = loose_now || loose_before ? fmax(1 - fabs(dot), 0) : 0.5 * apart;
            double z = angle_squared(fmin(y, 1));
            float *last = key - r->stride;
            last[4 * at.component] = (float)z;
            last[5 * at.component] = (float)(1 / sine_ratio_exact((float)z));
        }
        key[4 * at.component] = 0;
        key[5 * at.component] = 1;
        loose |= loose_now;
        loose_before = loose_now;
    }
    return loose;
}

static void pack_plain(const cutis_run *r, const cutis_channel *channel, float *keys, uint32_t lane)
{
    const layout at = layout_of(r, lane);
    const uint32_t width = r->path == CUTIS_PATH_ROTATION ? 4 : 3;
    const uint32_t parts = r->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1;
    const float *value = channel->values;
    for (uint32_t k = 0; k < channel->key_count; k++)
        for (uint32_t p = 0; p < parts; p++)
            for (uint32_t c = 0; c < width; c++)
                keys[(size_t)k * r->stride + at.part * p + at.component * c + at.first] = *value++;
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

static bool fill_bins(cutis_arena *arena, cutis_run *r)
{
    uint32_t count = 1, k = 0;
    while (count < r->key_count && count < 1u << 30) count *= 2;
    float span = r->times[r->key_count - 1] - r->times[0];
    float scale = span > 0 ? (float)count / span : 0;
    if (!(scale <= 1e30f)) scale = 0; // keys too close for bins: one bin, plain binary search
    r->bin_count = scale > 0 ? count : 1;
    r->bin_scale = scale;
    uint32_t *bins = cutis_arena_alloc(arena, (size_t)r->bin_count + 1, sizeof *bins);
    if (!bins) return false;
    for (uint32_t b = 0; b <= r->bin_count; b++) {
        while (k < r->key_count && cutis_run_bin(r, r->times[k]) < b) k++;
        bins[b] = k;
    }
    r->bins = bins;
    return true;
}

// A batch of one channel's morph weights, or of up to four channels' transforms.
static bool fill_batch(cutis_arena *arena, const cutis_run *r, const entry *entries, uint32_t count,
                       cutis_batch *b)
{
    size_t size;
    if (!cutis_size_multiply(r->key_count, r->stride, &size))
        size = SIZE_MAX; // refused by the arena
    *b = (cutis_batch){ 0 };
    if (r->path == CUTIS_PATH_WEIGHTS) {
        b->keys = cutis_arena_copy(arena, entries[0].channel->values, size, sizeof(float));
        b->nodes[0] = entries[0].target_first;
        b->nodes[1] = entries[0].target_count;
        return b->keys != NULL;
    }
    b->keys = cutis_arena_alloc(arena, size, sizeof(float));
    if (!b->keys) return false;
    memset(b->keys, 0, size * sizeof(float));
    for (uint32_t l = 0; l < (r->narrow ? 1 : 4); l++) {
        const cutis_channel *channel = entries[l < count ? l : count - 1].channel;
        b->nodes[l] = channel->node;
        if (r->path == CUTIS_PATH_ROTATION && r->interpolation != CUTIS_INTERPOLATION_CUBIC)
            b->loose_lanes[l] = -pack_rotation(r, channel, b->keys, l);
        else
            pack_plain(r, channel, b->keys, l);
        b->loose |= b->loose_lanes[l] != 0;
    }
    return true;
}

// Up to this many channels a run is narrow: four lanes for two channels would only cost memory.
enum { NARROW_MAX = 2 };

static bool fill_run(cutis_arena *arena, cutis_run *r, const entry *entries, uint32_t count)
{
    const cutis_channel *first = entries[0].channel;
    const bool cubic = first->interpolation == CUTIS_INTERPOLATION_CUBIC;
    const bool rotation = first->path == CUTIS_PATH_ROTATION;
    const bool slerp = rotation && first->interpolation == CUTIS_INTERPOLATION_LINEAR;
    *r = (cutis_run){ .path = first->path,
                      .interpolation = first->interpolation,
                      .narrow = count <= NARROW_MAX && first->path != CUTIS_PATH_WEIGHTS,
                      .key_count = first->key_count };
    uint32_t step = r->narrow || first->path == CUTIS_PATH_WEIGHTS ? 1 : 4;
    if (first->path == CUTIS_PATH_WEIGHTS)
        r->stride = entries[0].target_count * (cubic ? 3 : 1);
    else if (r->narrow)
        r->stride = slerp ? 8 : cubic ? 12 : 4;
    else
        r->stride = slerp ? 24 : 4 * (rotation ? 4 : 3) * (cubic ? 3 : 1);
    r->batch_count = (count + step - 1) / step;
    r->times = cutis_arena_copy(arena, first->times, first->key_count, sizeof(float));
    r->batches = cutis_arena_alloc(arena, r->batch_count, sizeof *r->batches);
    if (!r->times || !r->batches || !fill_bins(arena, r)) return false;
    for (uint32_t i = 0; i < r->batch_count; i++)
        if (!fill_batch(arena, r, entries + i * step, count - i * step, &r->batches[i]))
            return false;
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

cutis_result cutis_sampler_make(const cutis_model *model, const cutis_clip *clip,
                                cutis_sampler **out)
{
    cutis_context *context = model->context;
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

cutis_result cutis_sampler_create(const cutis_model *model, uint32_t clip_index,
                                  cutis_sampler **out)
{
    if (out) *out = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    if (clip_index >= model->data.clip_count)
        return cutis_fail(model->context, CUTIS_NOT_FOUND, "no clip %u; the model has %u",
                          clip_index, model->data.clip_count);
    return cutis_sampler_make(model, &model->data.clips[clip_index], out);
}

void cutis_sampler_destroy(cutis_sampler *sampler)
{
    if (!sampler) return;
    cutis_arena_release(&sampler->arena);
    cutis_free(sampler->context, sampler, sizeof *sampler);
}
