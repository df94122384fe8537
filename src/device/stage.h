/// Outputs on their way: one staging for everything that deforms. A deformer writes buffers; what
/// the caller wants in host memory is written to memory of the device first, and brought over when
/// the deformer is done. Where the device's memory is the host's (the CPU) nothing is copied.
///
/// Invariant: nothing outside a stream's own elements is written, on the host or on the device;
/// host memory is complete when cutis_stage_run returns.
#ifndef CUTIS_DEVICE_STAGE_H
#define CUTIS_DEVICE_STAGE_H

#include "device/device.h"

enum { CUTIS_STAGE_OUTPUTS = 12 }; ///< of one call, at most

/// An output with its shape.
typedef struct cutis_stage_output {
    const char *name;
    cutis_output_stream stream; ///< neither memory nor buffer: not wanted
    uint32_t words;             ///< of an element
    uint64_t elements;          ///< of an instance, at most
    /// Which elements the host gets: all, or as many as the first or second number of
    /// cutis_stage_batch.used says.
    enum { CUTIS_STAGE_ALL, CUTIS_STAGE_USED_FIRST, CUTIS_STAGE_USED_SECOND } used;
    bool together;                           ///< staged with others like it: one record an element
    const struct cutis_stage_output *old_of; ///< gets what that one held before the call; or NULL
} cutis_stage_output;

/// Some instances of a call, as the deformer sees them.
typedef struct cutis_stage_batch {
    uint32_t first, count;                     ///< instances of the call
    cutis_target targets[CUTIS_STAGE_OUTPUTS]; ///< in the order of the outputs
    const uint32_t *used; ///< set by the deformer: 2 per instance of the batch; NULL: all elements
} cutis_stage_batch;

typedef cutis_result cutis_stage_function(void *data, cutis_stage_batch *batch);

/// Memory of one call at a time. A zeroed one with its device is empty.
typedef struct cutis_stage {
    cutis_device *device;
    struct cutis_staging *memory; ///< of the device and of the host
    cutis_buffer wrapped[CUTIS_STAGE_OUTPUTS];
} cutis_stage;

typedef struct cutis_stage_call {
    const cutis_stage_output *outputs;
    uint32_t output_count;
    uint32_t instance_count;
    uint32_t batch_max; ///< instances that the deformer takes at once
    bool keeps_old;     ///< the deformer itself copies what an output held before
    cutis_stage_function *run;
    void *data;
} cutis_stage_call;

/// Run a deformer over all instances, batch after batch; smaller ones where the device has no
/// memory for more.
cutis_result cutis_stage_run(cutis_stage *stage, const cutis_stage_call *call);

/// Memory for a call of this shape, and the kernels it needs; the deformer is not run.
cutis_result cutis_stage_prepare(cutis_stage *stage, const cutis_stage_call *call);

void cutis_stage_release(cutis_stage *stage);

/// Do the streams fit their buffers, are they aligned, do instances not overlap?
/// @param what begins the error's text
cutis_result cutis_stage_check(cutis_device *device, const char *what,
                               const cutis_stage_output *outputs, uint32_t output_count,
                               uint32_t instance_count);

/// Bounds of points in a target, on any device, by stretches.
typedef struct cutis_stage_bounds {
    cutis_buffer *buffer; ///< 6 floats per stretch
    float *host;
    cutis_buffer *points; ///< where only bounds are wanted
    uint32_t stretches;   ///< of an instance
    uint32_t capacity;    ///< instances
} cutis_stage_bounds;

/// What bounds need, made when they are first asked for (or prepared), zeroed before. A target
/// without a buffer gets one.
cutis_result cutis_stage_open_bounds(cutis_device *device, cutis_stage_bounds *bounds,
                                     uint64_t elements, uint32_t capacity, cutis_target *points);
void cutis_stage_bounds_destroy(cutis_device *device, cutis_stage_bounds *bounds);
/// @param used per instance 2 ints in a buffer, the first: how many points; or NULL: `elements`
cutis_result cutis_stage_find_bounds(cutis_device *device, cutis_stage_bounds *bounds,
                                     const cutis_target *points, uint64_t elements,
                                     const cutis_buffer *used, uint32_t count, cutis_bounds *out);

#endif
