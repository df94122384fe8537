/// The timing of bench/bench.h. Outputs and palettes are touched before the clock starts, so no
/// page fault is measured.
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

// A group lasts at least this long: the clock's own cost and grain (some 30 ns) vanish in it.
static const double GROUP_SECONDS = 2e-4;

cutis_result bench_best(bench_function function, void *data, double budget, double *seconds)
{
    uint32_t group = 1;
    double best = 0.0;
    for (int i = 0; i < 2; i++) { TRY(function(data)); }
    const double start = app_seconds();
    for (double now = start, last = start; now - start < budget || best == 0.0; last = now) {
        for (uint32_t i = 0; i < group; i++) { TRY(function(data)); }
        now = app_seconds();
        double spent = now - last;
        if (spent < GROUP_SECONDS && group < 1u << 30) {
            group *= 2;
        } else if (best == 0.0 || spent / group < best) {
            best = spent / group;
        }
    }
    *seconds = best;
    return CUTIS_OK;
}

static void *touched(size_t size)
{
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (memory) memset(memory, 0, size);
    return memory;
}

// 24-byte records, position then normal: what a vertex buffer of an engine looks like.
static cutis_result device_outputs(bench_skin *skin, bool normals)
{
    uint64_t record = normals ? 24 : 12;
    uint64_t size = record * skin->info.vertex_count * skin->instance_count;
    TRY(cutis_buffer_create(skin->device, size, &skin->buffer));
    skin->outputs.positions = (cutis_stream){ .buffer = skin->buffer, .stride = (uint32_t)record };
    if (normals)
        skin->outputs.normals =
            (cutis_stream){ .buffer = skin->buffer, .offset = 12, .stride = (uint32_t)record };
    return CUTIS_OK;
}

static cutis_result host_outputs(bench_skin *skin, bool normals)
{
    size_t size = 12 * (size_t)skin->info.vertex_count * skin->instance_count;
    skin->positions = touched(size);
    skin->normals = normals ? touched(size) : NULL;
    if (!skin->positions || (normals && !skin->normals)) return CUTIS_OUT_OF_MEMORY;
    skin->outputs.positions.data = skin->positions;
    skin->outputs.normals.data = skin->normals;
    return CUTIS_OK;
}

static cutis_result fill_palette(bench_skin *skin, const cutis_model *model)
{
    const uint32_t node_count = cutis_model_get(model)->node_count;
    const uint32_t bones = skin->info.bone_count;
    cutis_transform *local = calloc(node_count + (size_t)1, sizeof *local);
    skin->palette = touched((size_t)skin->instance_count * (bones + 1) * sizeof *skin->palette);
    if (local && skin->palette) {
        bench_pose(model, local);
        cutis_binding_palette(skin->binding, local, skin->palette);
        for (uint32_t i = 1; i < skin->instance_count; i++)
            memcpy(skin->palette + (size_t)i * bones, skin->palette, bones * sizeof *skin->palette);
    }
    free(local);
    return local && skin->palette ? CUTIS_OK : CUTIS_OUT_OF_MEMORY;
}

// Frames of a GPU are queued one behind the other, as a renderer does; one at a time would measure
// the launch.
#define QUEUED 8

cutis_result bench_skin_open(cutis_device *device, const cutis_model *model,
                             const cutis_bind_options *options, uint32_t instance_count,
                             bench_skin *out)
{
    *out = (bench_skin){ .device = device, .instance_count = instance_count };
    cutis_bind_options bind = *options;
    bind.instance_capacity = instance_count;
    out->device_info = cutis_device_describe(device);
    cutis_result result = cutis_bind(device, model, &bind, &out->binding);
    if (result == CUTIS_OK) {
        out->info = cutis_binding_describe(out->binding);
        result = fill_palette(out, model);
    }
    if (result == CUTIS_OK)
        result = out->device_info.kind == CUTIS_DEVICE_CPU ? host_outputs(out, options->normals)
                                                           : device_outputs(out, options->normals);
    out->poses = (cutis_poses){ .kind = CUTIS_POSE_PALETTE, .matrices = out->palette };
    out->queued = out->buffer ? QUEUED : 1;
    if (result != CUTIS_OK) bench_skin_close(out);
    return result;
}

cutis_result bench_skin_run(void *data)
{
    bench_skin *skin = data;
    for (uint32_t i = 0; i < skin->queued; i++)
        TRY(cutis_deform(skin->binding, &skin->poses, skin->instance_count, &skin->outputs));
    if (skin->buffer) TRY(cutis_device_finish(skin->device));
    return CUTIS_OK;
}

cutis_result bench_skin_time(bench_skin *skin, double budget, double *seconds)
{
    cutis_result result = bench_best(bench_skin_run, skin, budget, seconds);
    *seconds /= skin->queued;
    return result;
}

void bench_skin_close(bench_skin *skin)
{
    cutis_binding_destroy(skin->binding);
    cutis_buffer_destroy(skin->buffer);
    free(skin->palette);
    free(skin->positions);
    free(skin->normals);
    *skin = (bench_skin){ 0 };
}

cutis_result bench_frame_time(cutis_device *device, const cutis_model *model,
                              const cutis_bind_options *options, double budget, double *seconds)
{
    ENDS_BY(bench_skin_close) bench_skin skin = { 0 };
    TRY(bench_skin_open(device, model, options, 1, &skin));
    return bench_skin_time(&skin, budget, seconds);
}

cutis_result bench_deform(cutis_device *device, const cutis_model *model,
                          const cutis_bind_options *options, const cutis_poses *poses,
                          uint32_t count, const cutis_outputs *outputs)
{
    OWN(cutis_binding) *binding = NULL;
    TRY(cutis_bind(device, model, options, &binding));
    return cutis_deform(binding, poses, count, outputs);
}

cutis_result bench_sample(const cutis_model *model, uint32_t clip, float seconds,
                          cutis_transform *pose)
{
    OWN(cutis_sampler) *sampler = NULL;
    TRY(cutis_sampler_create(model, clip, &sampler));
    cutis_sampler_sample(sampler, seconds, pose, NULL);
    return CUTIS_OK;
}
