/// Clips of a crowd: a sampler each, which the host samples with, and its keys as tables for the
/// device (kernel/crowd_clip.h). Invariant: both hold the same floats, so both give the same pose.
#include "deform/crowd.h"

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

static void measure_clip(const cutis_sampler *sampler, table_cursor *need)
{
    for (uint32_t r = 0; r < sampler->run_count; r++) {
        const cutis_run *run = &sampler->runs[r];
        need->index += run->bin_count + 1;
        need->floats += run->key_count;
        for (uint32_t b = 0; b < run->batch_count; b++) {
            const uint32_t lanes = lanes_of(run, &run->batches[b]);
            need->channels += lanes;
            need->floats += (uint64_t)lanes * run->key_count *
                            key_floats(run, width_of(run, &run->batches[b]));
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

static void fill_channel(cutis_crowd *crowd, const cutis_run *run, const cutis_batch *batch,
                         uint32_t lane, uint32_t times, uint32_t bins, table_cursor *at)
{
    crowd_clips *clips = &crowd->clips;
    static const uint32_t PLACES[] = { 0, 3, 7 };
    const uint32_t width = width_of(run, batch);
    int32_t *c = clips->index + clips->channels_at + at->channels++ * CROWD_CHANNEL_WORDS;
    int32_t kind = (int32_t)run->path;
    if (run->interpolation == CUTIS_INTERPOLATION_STEP) kind |= CROWD_STEP;
    if (run->interpolation == CUTIS_INTERPOLATION_CUBIC) kind |= CROWD_CUBIC;
    if (run->narrow ? batch->loose : batch->loose_lanes[lane] != 0) kind |= CROWD_LOOSE;
    c[0] = run->path == CUTIS_PATH_WEIGHTS
               ? (int32_t)(10 * crowd->node_count + batch->nodes[0])
               : (int32_t)(10 * batch->nodes[lane] + PLACES[run->path]);
    c[1] = kind;
    c[2] = (int32_t)run->key_count;
    c[3] = (int32_t)times;
    c[4] = (int32_t)bins;
    c[5] = (int32_t)run->bin_count;
    memcpy(&c[6], &run->bin_scale, sizeof c[6]);
    c[7] = (int32_t)at->floats;
    c[8] = (int32_t)width;
    copy_keys(run, batch, lane, clips->floats + at->floats);
    at->floats += (uint64_t)run->key_count * key_floats(run, width);
}

static void fill_clip(cutis_crowd *crowd, uint32_t clip, table_cursor *at)
{
    crowd_clips *clips = &crowd->clips;
    const cutis_sampler *sampler = clips->samplers[clip];
    int32_t *head = clips->index + CROWD_CLIP_WORDS * clip;
    head[0] = (int32_t)at->channels;
    memcpy(&head[2], &sampler->duration, sizeof head[2]);
    for (uint32_t r = 0; r < sampler->run_count; r++) {
        const cutis_run *run = &sampler->runs[r];
        const uint32_t times = (uint32_t)at->floats, bins = (uint32_t)at->index;
        memcpy(clips->floats + at->floats, run->times, run->key_count * sizeof *run->times);
        memcpy(clips->index + at->index, run->bins, (run->bin_count + 1) * sizeof *run->bins);
        at->floats += run->key_count;
        at->index += run->bin_count + 1;
        for (uint32_t b = 0; b < run->batch_count; b++)
            for (uint32_t l = 0; l < lanes_of(run, &run->batches[b]); l++)
                fill_channel(crowd, run, &run->batches[b], l, times, bins, at);
    }
    head[1] = (int32_t)at->channels;
}

/// Tables of all clips.
static cutis_result fill_tables(cutis_crowd *crowd)
{
    crowd_clips *clips = &crowd->clips;
    table_cursor need = { 0 };
    for (uint32_t c = 0; c < clips->count; c++) measure_clip(clips->samplers[c], &need);
    clips->channels_at = CROWD_CLIP_WORDS * clips->count;
    const uint64_t index =
        clips->channels_at + need.channels * CROWD_CHANNEL_WORDS + need.index;
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

cutis_result cutis_crowd_clips_make(cutis_crowd *crowd, const cutis_crowd_options *options)
{
    crowd_clips *clips = &crowd->clips;
    const cutis_model *model = crowd->levels[0].binding->base.model;
    const uint32_t count = options->clips ? options->clip_count : model->data.clip_count;
    clips->samplers = cutis_arena_zero(&crowd->arena, (size_t)count + 1, sizeof *clips->samplers);
    clips->sources = cutis_arena_zero(&crowd->arena, (size_t)count + 1, sizeof *clips->sources);
    if (!clips->samplers || !clips->sources) return cutis_alloc_result(crowd->context);
    for (; clips->count < count; clips->count++) {
        const uint32_t clip = options->clips ? options->clips[clips->count] : clips->count;
        TRY(cutis_sampler_create(model, clip, &clips->samplers[clips->count]));
        clips->sources[clips->count] = &model->data.clips[clip];
    }
    TRY(fill_tables(crowd));
    clips->plain_bytes = clips->index_count * sizeof *clips->index +
                         clips->float_count * sizeof *clips->floats;
    return CUTIS_OK;
}

void cutis_crowd_clips_destroy(cutis_crowd *crowd)
{
    crowd_clips *clips = &crowd->clips;
    for (uint32_t c = 0; c < clips->count; c++) cutis_sampler_destroy(clips->samplers[c]);
    cutis_buffer_destroy(clips->index_buffer);
    cutis_buffer_destroy(clips->float_buffer);
    cutis_buffer_destroy(clips->rest_buffer);
}
