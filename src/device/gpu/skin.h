/// Inside of a skin on a GPU: what skin.c (frames, launches) and streams.c (outputs) share.
#ifndef CUTIS_DEVICE_GPU_SKIN_H
#define CUTIS_DEVICE_GPU_SKIN_H

#include <device/gpu/gpu.h>
#include <device/gpu/layout.h>

#define GPU_SLOTS 2 ///< frames in flight: one is filled while the device reads the other

/// Pinned memory and device memory of the same size.
typedef struct gpu_slot {
    cutis_gpu_pinned pinned;
    uint64_t device, capacity;
    void *event;
    bool pending; ///< the device may still read the pinned memory
} gpu_slot;

/// Where in a bone's record (in float4s) its parts are, -1 if they are not.
typedef struct gpu_palette {
    int matrix, rotation, dual, stretch, origin, squares, size;
} gpu_palette;

/// A launch that can be repeated.
typedef struct gpu_recorded {
    cutis_gpu_kernel kernel;
    cutis_gpu_launch launch;
    skin_arguments arguments;
    uint64_t frames, positions, normals, tangents, bounds;
} gpu_recorded;

typedef struct gpu_skin {
    cutis_device_skin base;
    cutis_gpu *gpu;
    cutis_formula formula;
    bool unit, has_normals, has_tangents, linear_normals, blend;
    int morph;           ///< triples of planes in a morph entry; 0: no morphs
    uint32_t pose_count; ///< weighted pose space, padded; 0: none
    bool gaussian;
    bool near; ///< palettes in shared memory
    uint32_t near_max;
    uint64_t layout; ///< device memory
    skin_arguments arguments;
    float *origins;      ///< 3 per bone, or NULL
    size_t origin_count; ///< floats
    gpu_slot slots[GPU_SLOTS];
    uint32_t slot_next;
    gpu_slot bounds; ///< 6 ordered integers per instance of a batch
    gpu_slot shadow; ///< host outputs of a batch
    gpu_slot kept;   ///< previous positions on their way between host and device
    gpu_recorded recorded[2];
    uint32_t recorded_count;
} gpu_skin;

/// An output as the kernels see it, in floats.
typedef struct gpu_target {
    bool wanted;
    uint64_t handle, first, step;
    uint32_t stride;
} gpu_target;

/// Even or uneven instances of a batch.
typedef struct gpu_path {
    bool uneven;
    uint32_t count;
    skin_arguments arguments;
} gpu_path;

typedef struct gpu_batch {
    const cutis_skin_frames *frames;
    uint32_t first, count; ///< instances of the call
    gpu_path paths[2];
    gpu_target positions, normals, tangents;
    uint32_t shadow_record; ///< floats of a vertex in the shadow, 0: no host output
    uint64_t shadow_step;   ///< floats of an instance in the shadow
    bool bounds;
    gpu_slot *slot;
} gpu_batch;

gpu_palette cutis_gpu_palette(const gpu_skin *skin, bool uneven);

/// Integers in the order of the floats, and back.
int32_t cutis_gpu_ordered_bits(float value);
float cutis_gpu_ordered_float(int32_t bits);

/// Streams exist, are aligned and lie within their buffers.
cutis_result cutis_gpu_check_streams(const gpu_skin *skin, uint32_t instance_count,
                                     const cutis_skin_outputs *outputs);
/// Bytes of host outputs of one instance, as they are staged.
uint64_t cutis_gpu_host_bytes(const gpu_skin *skin, const cutis_skin_outputs *outputs);
/// Decide where the kernels write a batch; make room for host outputs.
cutis_result cutis_gpu_open_targets(gpu_skin *skin, gpu_batch *batch,
                                    const cutis_skin_outputs *outputs);
/// Copy what `positions` holds to `previous`, if wanted; before the launches.
cutis_result cutis_gpu_keep_previous(gpu_skin *skin, const gpu_batch *batch,
                                     const cutis_skin_outputs *outputs);
/// Bring host outputs of a batch to the caller; after the launches.
cutis_result cutis_gpu_close_targets(gpu_skin *skin, const gpu_batch *batch,
                                     const cutis_skin_outputs *outputs);
/// Pinned and device memory of at least `bytes`.
cutis_result cutis_gpu_grow_slot(gpu_skin *skin, gpu_slot *slot, uint64_t bytes);

#endif
