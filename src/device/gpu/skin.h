/// Inside of a skin on a GPU: frames, launches.
#ifndef CUTIS_DEVICE_GPU_SKIN_H
#define CUTIS_DEVICE_GPU_SKIN_H

#include <device/gpu/gpu.h>
#include <device/gpu/layout.h>

#define GPU_SLOTS 2 ///< frames in flight: one is filled while the device reads the other

/// Pinned memory and device memory of the same size, for the frames of a batch.
typedef struct gpu_slot {
    struct gpu_slot *next;
    cutis_gpu_pinned pinned;
    uint64_t device, capacity;
    void *event;
    bool pending;   ///< the device may still read the pinned memory
    bool filling;   ///< a call writes it, without the lock
    bool preparing; ///< cutis_gpu_prepare_frames has it
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
    uint32_t block_size; ///< 32 vertices, or 64
    uint32_t warps;      ///< of a group
    uint32_t registers;  ///< of a work item where the device's are not meant, else 0
    bool fours;          ///< blocks are of fours of vertices (regroup.h)
    bool near;           ///< palettes in shared memory
    uint32_t near_max;
    uint64_t layout; ///< device memory
    skin_arguments arguments;
    float *origins;      ///< 3 per bone, or NULL
    size_t origin_count; ///< floats
    gpu_slot *slots;     ///< the next to be used first
    gpu_slot bounds;     ///< 6 ordered integers per instance of a batch; with the lock held
    gpu_recorded recorded[2];
    uint32_t recorded_count;
} gpu_skin;

/// Uniform or nonuniform instances of a batch.
typedef struct gpu_path {
    bool nonuniform;
    uint32_t count;
    skin_arguments arguments;
} gpu_path;

typedef struct gpu_batch {
    const cutis_skin_frames *frames;
    const cutis_skin_targets *targets;
    bool morph; ///< targets have weights
    gpu_path paths[2];
    gpu_slot *slot;
    uint64_t word_count; ///< that are filled
} gpu_batch;

// skin_frames.c
gpu_palette cutis_gpu_palette(const gpu_skin *skin, bool nonuniform);
bool cutis_gpu_is_nonuniform(const cutis_skin_frames *frames, uint32_t instance);
uint64_t cutis_gpu_frame_words(const gpu_skin *skin); ///< of an instance, about
/// Memory for the frames of a batch, which this call alone fills; without the lock.
cutis_result cutis_gpu_open_frames(gpu_skin *skin, gpu_batch *batch);
void cutis_gpu_fill_frames(const gpu_skin *skin, gpu_batch *batch);
/// With the lock held.
cutis_result cutis_gpu_send_frames(gpu_skin *skin, gpu_batch *batch);
cutis_result cutis_gpu_prepare_frames(gpu_skin *skin, uint32_t count, uint32_t calls);
cutis_result cutis_gpu_grow_slot(cutis_gpu *gpu, gpu_slot *slot, uint64_t bytes);
void cutis_gpu_release_slot(cutis_gpu *gpu, gpu_slot *slot);

// skin_launch.c, with the lock held
int cutis_gpu_near_rows(int size);
uint32_t cutis_gpu_near_bytes(const gpu_skin *skin); ///< shared memory for palettes of one group
cutis_result cutis_gpu_launch_path(gpu_skin *skin, gpu_batch *batch, gpu_path *path);
cutis_result cutis_gpu_prepare_path(gpu_skin *skin, const gpu_batch *batch, const gpu_path *path);

#endif
