/// Clips of a crowd: a sampler each, which the host samples with, and its keys as tables for the
/// device (kernel/crowd_clip.h). Invariant: both hold the same floats, so both give the same pose.
#include "deform/crowd.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/object.h"
#include "model/sampler.h"

_Static_assert(CUTIS_PATH_ROTATION == 1 && CUTIS_PATH_WEIGHTS == 3, "as kernel/crowd_clip.h");

cutis_result cutis_crowd_buffer(cutis_crowd *crowd, const void *data, uint64_t size,
                                cutis_buffer **out)
{
    TRY(cutis_buffer_create(crowd->device, size ? size : 16, out));
    crowd->device_bytes += size;
    return data && size ? cutis_buffer_write(*out, 0, data, size) : CUTIS_OK;
}

/// How much all tables need, then where the next entries go.
typedef struct table_cursor {
    uint64_t channels, index, floats;
} table_cursor;

static bool slerps(const cutis_run *run)
{
    return run->path == CUTIS_PATH_ROTATION && run->interpolation == CUTIS_INTERPOLATION_LINEAR;
}

static uint32_t width_of(const cutis_run *run, const cutis_batch *batch)
{
    return run->path == CUTIS_PATH_WEIGHTS    ? batch->nodes[1]
           : run->path == CUTIS_PATH_ROTATION ? 4
                                              : 3;
}

static uint32_t key_floats(const cutis_run *run, uint32_t width)
{
    if (slerps(run)) return 6;
    return run->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 * width : width;
}

/// Lanes of a batch that are channels of their own: missing ones repeat the last.
static uint32_t lanes_of(const cutis_run *run, const cutis_batch *batch)
{
    if (run->narrow || run->path == CUTIS_PATH_WEIGHTS) return 1;
    uint32_t count = 4;
    while (count > 1 && batch->nodes[count - 1] == batch->nodes[count - 2]) count--;
    return count;
}

static bool is_packed(const cutis_run *run, const cutis_batch *batch, uint32_t lane,
                      const float *packed)
{
    return packed && run->path == CUTIS_PATH_ROTATION && packed[batch->nodes[lane]] != 0;
}

static uint32_t packed_words(const cutis_run *run)
{
    return slerps(run) ? CROWD_PACKED_WORDS : CROWD_PACKED_CUBIC_WORDS;
}

static void measure_clip(const cutis_sampler *sampler, const float *packed, table_cursor *need)
{
    for (uint32_t r = 0; r < sampler->run_count; r++) {
        const cutis_run *run = &sampler->runs[r];
        need->index += run->bin_count + 1;
        need->floats += run->key_count;
        for (uint32_t b = 0; b < run->batch_count; b++) {
            const uint32_t lanes = lanes_of(run, &run->batches[b]);
            const uint32_t floats = key_floats(run, width_of(run, &run->batches[b]));
            need->channels += lanes;
            for (uint32_t l = 0; l < lanes; l++)
                if (is_packed(run, &run->batches[b], l, packed))
                    need->index += packed_words(run) * (uint64_t)run->key_count;
                else
                    need->floats += (uint64_t)run->key_count * floats;
        }
    }
}

/// Keys of one lane, side by side: where sampler.h has them apart.
static void copy_keys(const cutis_run *run, const cutis_batch *batch, uint32_t lane, float *to)
{
    const uint32_t count = key_floats(run, width_of(run, batch));
    const bool flat = run->narrow || run->path == CUTIS_PATH_WEIGHTS;
    const bool padded = run->narrow && run->interpolation == CUTIS_INTERPOLATION_CUBIC;
    const uint32_t first = run->narrow && run->path == CUTIS_PATH_SCALE, width = count / 3;
    for (uint32_t k = 0; k < run->key_count; k++) {
        const float *key = batch->keys + (size_t)k * run->stride;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t at = flat ? first + i : 4 * i + lane;
            if (padded) at = first + i / width * 4 + i % width; // parts of a narrow key have 4 each
            *to++ = key[at];
        }
    }
}

/// Rotations of 16 bits a component, and the arc to the next key.
static void pack_keys(const cutis_run *run, const cutis_batch *batch, uint32_t lane, int32_t *to)
{
    for (uint32_t k = 0; k < run->key_count; k++, to += CROWD_PACKED_WORDS) {
        const float *key = batch->keys + (size_t)k * run->stride;
        uint32_t words[4];
        for (uint32_t c = 0; c < 4; c++) { // made unit or not, it is nearest to what it was
            const double q = key[run->narrow ? c : 4 * c + lane];
            words[c] = (uint32_t)(int32_t)floor(q * 32767 + 0.5) & 0xffff;
        }
        to[0] = (int32_t)(words[0] | words[1] << 16);
        to[1] = (int32_t)(words[2] | words[3] << 16);
        memcpy(&to[2], &key[run->narrow ? 4 : 16 + lane], sizeof to[2]);
    }
}

/// Cubic rotations: in-tangent, value, out-tangent, 16 bits a component.
static void pack_cubic(const cutis_run *run, const cutis_batch *batch, uint32_t lane, float unit,
                       int32_t *to)
{
    for (uint32_t k = 0; k < run->key_count; k++)
        for (uint32_t i = 0; i < 12; i += 2) {
            uint32_t word = 0;
            for (uint32_t c = i; c < i + 2; c++) {
                const double x =
                    batch->keys[(size_t)k * run->stride + (run->narrow ? c : 4 * c + lane)];
                const double steps = c >= 4 && c < 8 ? x * 32767 : x / unit;
                word |= ((uint32_t)(int32_t)floor(steps + 0.5) & 0xffff) << (c % 2 ? 16 : 0);
            }
            *to++ = (int32_t)word;
        }
}

static void fill_channel(cutis_crowd *crowd, const cutis_run *run, const cutis_batch *batch,
                         uint32_t lane, const float *packed, const uint32_t places[2],
                         table_cursor *at)
{
    crowd_clips *clips = &crowd->clips;
    static const uint32_t PLACES[] = { 0, 3, 7 };
    const uint32_t width = width_of(run, batch);
    int32_t *c = clips->index + clips->channels_at + at->channels++ * CROWD_CHANNEL_WORDS;
    int32_t kind = (int32_t)run->path;
    if (run->interpolation == CUTIS_INTERPOLATION_STEP) kind |= CROWD_STEP;
    if (run->interpolation == CUTIS_INTERPOLATION_CUBIC) kind |= CROWD_CUBIC;
    if (run->narrow ? batch->loose : batch->loose_lanes[lane] != 0) kind |= CROWD_LOOSE;
    c[0] = run->path == CUTIS_PATH_WEIGHTS ? (int32_t)(10 * crowd->node_count + batch->nodes[0])
                                           : (int32_t)(10 * batch->nodes[lane] + PLACES[run->path]);
    c[1] = kind;
    c[2] = (int32_t)run->key_count;
    c[3] = (int32_t)places[0];
    c[4] = (int32_t)places[1];
    c[5] = (int32_t)run->bin_count;
    memcpy(&c[6], &run->bin_scale, sizeof c[6]);
    c[8] = (int32_t)width;
    if (is_packed(run, batch, lane, packed)) {
        c[1] |= CROWD_PACKED;
        c[7] = (int32_t)at->index;
        const float unit = packed[batch->nodes[lane]];
        memcpy(&c[9], &unit, sizeof c[9]);
        if (slerps(run))
            pack_keys(run, batch, lane, clips->index + at->index);
        else
            pack_cubic(run, batch, lane, unit, clips->index + at->index);
        at->index += packed_words(run) * (uint64_t)run->key_count;
        return;
    }
    c[7] = (int32_t)at->floats;
    copy_keys(run, batch, lane, clips->floats + at->floats);
    at->floats += (uint64_t)run->key_count * key_floats(run, width);
}

static void fill_clip(cutis_crowd *crowd, uint32_t clip, table_cursor *at)
{
    crowd_clips *clips = &crowd->clips;
    const cutis_sampler *sampler = clips->samplers[clip];
    const float *packed = clips->packed ? clips->packed[clip] : NULL;
    int32_t *head = clips->index + CROWD_CLIP_WORDS * clip;
    head[0] = (int32_t)at->channels;
    memcpy(&head[2], &sampler->duration, sizeof head[2]);
    for (uint32_t r = 0; r < sampler->run_count; r++) {
        const cutis_run *run = &sampler->runs[r];
        const uint32_t places[2] = { (uint32_t)at->floats, (uint32_t)at->index };
        memcpy(clips->floats + at->floats, run->times, run->key_count * sizeof *run->times);
        memcpy(clips->index + at->index, run->bins, (run->bin_count + 1) * sizeof *run->bins);
        at->floats += run->key_count;
        at->index += run->bin_count + 1;
        for (uint32_t b = 0; b < run->batch_count; b++)
            for (uint32_t l = 0; l < lanes_of(run, &run->batches[b]); l++)
                fill_channel(crowd, run, &run->batches[b], l, packed, places, at);
    }
    head[1] = (int32_t)at->channels;
}

/// Tables of all clips.
static cutis_result fill_tables(cutis_crowd *crowd)
{
    crowd_clips *clips = &crowd->clips;
    table_cursor need = { 0 };
    for (uint32_t c = 0; c < clips->count; c++)
        measure_clip(clips->samplers[c], clips->packed ? clips->packed[c] : NULL, &need);
    clips->channels_at = CROWD_CLIP_WORDS * clips->count;
    const uint64_t index = clips->channels_at + need.channels * CROWD_CHANNEL_WORDS + need.index;
    if (index > INT32_MAX || need.floats > INT32_MAX)
        return cutis_fail(crowd->context, CUTIS_LIMIT_EXCEEDED, "crowd: the clips are too long");
    clips->index_count = (size_t)index;
    clips->float_count = (size_t)need.floats;
    clips->index = cutis_arena_zero(&crowd->arena, clips->index_count + 1, sizeof *clips->index);
    clips->floats = cutis_arena_zero(&crowd->arena, clips->float_count + 1, sizeof *clips->floats);
    if (!clips->index || !clips->floats) return cutis_alloc_result(crowd->context);
    table_cursor at = { .index = clips->channels_at + need.channels * CROWD_CHANNEL_WORDS };
    for (uint32_t c = 0; c < clips->count; c++) fill_clip(crowd, c, &at);
    return CUTIS_OK;
}

cutis_result cutis_crowd_clips_upload(cutis_crowd *crowd)
{
    crowd_clips *clips = &crowd->clips;
    const cutis_model *model = crowd->levels[0].binding->base.model;
    const size_t nodes = crowd->node_count, targets = crowd->target_count;
    float *rest = cutis_arena_alloc(&crowd->arena, 10 * nodes + targets, sizeof *rest);
    if (!rest) return cutis_alloc_result(crowd->context);
    memcpy(rest, model->rest, 10 * nodes * sizeof *rest);
    if (targets) memcpy(rest + 10 * nodes, model->rest_targets, targets * sizeof *rest);
    TRY(cutis_crowd_buffer(crowd, clips->index, clips->index_count * sizeof *clips->index,
                           &clips->index_buffer));
    TRY(cutis_crowd_buffer(crowd, clips->floats, clips->float_count * sizeof *clips->floats,
                           &clips->float_buffer));
    return cutis_crowd_buffer(crowd, rest, (10 * nodes + targets) * sizeof *rest,
                              &clips->rest_buffer);
}

/// The step of a packed channel's tangents; -1: it has none.
static float packed_unit(const cutis_channel *channel)
{
    if (channel->interpolation != CUTIS_INTERPOLATION_CUBIC) return -1;
    const float unit = cutis_crowd_tangent_unit(channel->values, channel->key_count);
    return unit > 0 ? unit : -1; // without tangents any step will do
}

/// A clip's sampler, of fewer bytes where that is asked for. Its memory before that is counted.
static cutis_result make_sampler(cutis_crowd *crowd, uint32_t number, const cutis_clip *source)
{
    crowd_clips *clips = &crowd->clips;
    const cutis_model *model = crowd->levels[0].binding->base.model;
    cutis_sampler **sampler = &clips->samplers[number];
    table_cursor plain = { 0 };
    TRY(cutis_sampler_make(model, source, sampler));
    measure_clip(*sampler, NULL, &plain);
    clips->plain_bytes += sizeof(int32_t) * (CROWD_CLIP_WORDS + plain.index + plain.floats +
                                             plain.channels * CROWD_CHANNEL_WORDS);
    if (!(crowd->options.clip_error > 0)) return CUTIS_OK;
    cutis_arena arena = { .context = crowd->context };
    cutis_clip clip;
    bool *packed;
    float *nodes = cutis_arena_zero(&crowd->arena, crowd->node_count, sizeof *nodes);
    double error = 0;
    cutis_result result = nodes
                              ? cutis_crowd_compress(crowd, source, &arena, &clip, &packed, &error)
                              : cutis_alloc_result(crowd->context);
    if (result == CUTIS_OK) {
        for (uint32_t c = 0; c < clip.channel_count; c++)
            if (packed[c]) nodes[clip.channels[c].node] = packed_unit(&source->channels[c]);
        clips->packed[number] = nodes;
        if (error > clips->error) clips->error = error;
        cutis_sampler_destroy(*sampler);
        *sampler = NULL;
        result = cutis_sampler_make(model, &clip, sampler);
    }
    cutis_arena_release(&arena);
    return result;
}

cutis_result cutis_crowd_clips_make(cutis_crowd *crowd, const cutis_crowd_options *options)
{
    crowd_clips *clips = &crowd->clips;
    cutis_context *context = crowd->context;
    const cutis_model *model = crowd->levels[0].binding->base.model;
    const uint32_t there = model->data.clip_count;
    const uint32_t count = options->clips ? options->clip_count : there;
    clips->samplers = cutis_arena_zero(&crowd->arena, (size_t)count + 1, sizeof *clips->samplers);
    clips->sources = cutis_arena_zero(&crowd->arena, (size_t)count + 1, sizeof *clips->sources);
    if (options->clip_error > 0)
        clips->packed = cutis_arena_zero(&crowd->arena, (size_t)count + 1, sizeof *clips->packed);
    if (!clips->samplers || !clips->sources || (options->clip_error > 0 && !clips->packed))
        return cutis_alloc_result(context);
    for (uint32_t c = 0; c < count; c++) {
        const uint32_t clip = options->clips ? options->clips[c] : c;
        if (clip >= there)
            return cutis_fail(context, CUTIS_NOT_FOUND, "crowd: no clip %u; the model has %u", clip,
                              there);
        clips->sources[c] = &model->data.clips[clip];
        clips->count = c + 1;
        TRY(make_sampler(crowd, c, clips->sources[c]));
    }
    return fill_tables(crowd);
}

void cutis_crowd_clips_destroy(cutis_crowd *crowd)
{
    crowd_clips *clips = &crowd->clips;
    for (uint32_t c = 0; c < clips->count; c++) cutis_sampler_destroy(clips->samplers[c]);
    cutis_buffer_destroy(clips->index_buffer);
    cutis_buffer_destroy(clips->float_buffer);
    cutis_buffer_destroy(clips->rest_buffer);
}
