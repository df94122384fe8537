/// A skin of a device by itself, for tests and benchmarks: the four streams and the bounds through
/// the staging that all deformers share, as deform/skin.c does it.
#ifndef CUTIS_TESTS_SKIN_RUN_H
#define CUTIS_TESTS_SKIN_RUN_H

#include "base/error.h"
#include "device/stage.h"

/// What a skin can give out.
typedef struct skin_streams {
    cutis_output_stream positions, normals, tangents, previous;
    cutis_bounds *bounds; ///< per instance, host memory, or NULL
} skin_streams;

enum {
    SKIN_RUN_POSITIONS,
    SKIN_RUN_NORMALS,
    SKIN_RUN_TANGENTS,
    SKIN_RUN_PREVIOUS,
    SKIN_RUN_OUTPUTS
};

/// One call: its streams, and what the device runs.
typedef struct skin_run_call {
    cutis_device_skin *skin;
    const cutis_skin_layout *layout;
    const cutis_skin_frames *frames;
    cutis_bounds *bounds;
    cutis_stage_output outputs[SKIN_RUN_OUTPUTS];
} skin_run_call;

static inline void skin_run_list_outputs(skin_run_call *call, const skin_streams *outputs)
{
    const struct {
        const char *name;
        const cutis_output_stream *stream;
        uint32_t words;
    } all[SKIN_RUN_OUTPUTS] = { { "positions", &outputs->positions, 3 },
                                { "normals", &outputs->normals, 3 },
                                { "tangents", &outputs->tangents, 4 },
                                { "previous positions", &outputs->previous, 3 } };
    for (int k = 0; k < SKIN_RUN_OUTPUTS; k++)
        call->outputs[k] = (cutis_stage_output){ .name = all[k].name,
                                                 .stream = *all[k].stream,
                                                 .words = all[k].words,
                                                 .elements = call->layout->vertex_count,
                                                 .together = k != SKIN_RUN_PREVIOUS };
    call->outputs[SKIN_RUN_PREVIOUS].old_of = &call->outputs[SKIN_RUN_POSITIONS];
    call->bounds = outputs->bounds;
}

static inline bool skin_run_is_wanted(const skin_run_call *call, int k)
{
    return call->outputs[k].stream.data || call->outputs[k].stream.buffer;
}

static inline cutis_result skin_run_check_call(const skin_run_call *call, uint32_t instance_count)
{
    cutis_device *device = call->skin->device;
    if (skin_run_is_wanted(call, SKIN_RUN_NORMALS) &&
        (!call->layout->normals || call->layout->normal_rule == CUTIS_NORMAL_NONE))
        return cutis_fail(device->context, CUTIS_INVALID_ARGUMENT, "skin: there are no normals");
    if (skin_run_is_wanted(call, SKIN_RUN_TANGENTS) && !call->layout->tangents)
        return cutis_fail(device->context, CUTIS_INVALID_ARGUMENT, "skin: there are no tangents");
    return cutis_stage_check(device, "skin", call->outputs, SKIN_RUN_OUTPUTS, instance_count);
}

// Instances [first, first + count) of frames.
static inline cutis_skin_frames skin_run_some_frames(const cutis_skin_layout *layout,
                                                     const cutis_skin_frames *frames, size_t first,
                                                     uint32_t count)
{
    const size_t bone = layout->bone_count * first;
#define FROM(array, entries) (frames->array ? frames->array + (entries) : NULL)
    return (cutis_skin_frames){
        .instance_count = count,
        .matrices = FROM(matrices, 12 * bone),
        .rotations = FROM(rotations, 4 * bone),
        .duals = FROM(duals, 4 * bone),
        .stretches = FROM(stretches, 6 * bone),
        .centres = FROM(centres, 4 * layout->set_count * first),
        .scales = FROM(scales, first),
        .nonuniform = FROM(nonuniform, first),
        .targets = FROM(targets, layout->target_count * first),
        .pose_squares = FROM(pose_squares, layout->pose_count * bone),
    };
#undef FROM
}

static inline cutis_result skin_run_some(void *data, cutis_stage_batch *batch)
{
    const skin_run_call *call = data;
    const cutis_device_operations *operations = call->skin->device->operations;
    const cutis_skin_targets targets = {
        .positions = batch->targets[SKIN_RUN_POSITIONS],
        .normals = batch->targets[SKIN_RUN_NORMALS],
        .tangents = batch->targets[SKIN_RUN_TANGENTS],
        .previous = batch->targets[SKIN_RUN_PREVIOUS],
        .bounds = call->bounds ? call->bounds + batch->first : NULL,
    };
    const cutis_skin_frames frames =
        skin_run_some_frames(call->layout, call->frames, batch->first, batch->count);
    return operations->skin_run(call->skin, &frames, &targets);
}

static inline cutis_stage_call skin_run_stage_call(skin_run_call *call, uint32_t instance_count)
{
    const cutis_device_operations *operations = call->skin->device->operations;
    return (cutis_stage_call){ .outputs = call->outputs,
                               .output_count = SKIN_RUN_OUTPUTS,
                               .instance_count = instance_count,
                               .batch_max = operations->skin_batch
                                                ? operations->skin_batch(call->skin)
                                                : UINT32_MAX,
                               .keeps_old = !operations->staging_create,
                               .run = skin_run_some,
                               .data = call };
}

// Nothing to write, and a launch of no groups is an error.
static inline cutis_result skin_run_empty(const skin_run_call *call, uint32_t instance_count)
{
    const float far = __builtin_inff();
    for (uint32_t i = 0; call->bounds && i < instance_count; i++)
        call->bounds[i] = (cutis_bounds){ { far, far, far }, { -far, -far, -far } };
    return CUTIS_OK;
}

/// Deform the frames' instances. Host outputs are complete on return.
static inline cutis_result skin_run(cutis_device_skin *skin, const cutis_skin_layout *layout,
                                    const cutis_skin_frames *frames, const skin_streams *outputs)
{
    skin_run_call call = { .skin = skin, .layout = layout, .frames = frames };
    cutis_stage stage = { .device = skin->device };
    skin_run_list_outputs(&call, outputs);
    cutis_result result = skin_run_check_call(&call, frames->instance_count);
    if (result != CUTIS_OK) return result;
    if (layout->vertex_count == 0) return skin_run_empty(&call, frames->instance_count);
    const cutis_stage_call staged = skin_run_stage_call(&call, frames->instance_count);
    result = cutis_stage_run(&stage, &staged);
    cutis_stage_release(&stage);
    return result;
}

#endif
