/// What the OpenCL and CUDA devices share: one runtime (skins, buffers, programs) over a small
/// table of driver calls.
///
/// A driver knows how to allocate, copy, compile and launch; everything else is written once, here.
/// Invariant: all calls of a driver but `compile` are made with the device's lock held, so a driver
/// needs no thread safety of its own; `compile` works on its arguments alone.
#ifndef CUTIS_DEVICE_GPU_H
#define CUTIS_DEVICE_GPU_H

#include <device/device.h>

#include <base/os/os.h>

typedef struct cutis_gpu cutis_gpu;

/// A compiled kernel on a device.
typedef struct cutis_gpu_kernel {
    void *program, *function;
} cutis_gpu_kernel;

/// Most arguments of a kernel.
enum { CUTIS_GPU_ARGUMENTS = 36 };

/// A kernel argument by value. A buffer is its 8-byte handle; 0 is allowed.
typedef struct cutis_gpu_argument {
    const void *data;
    size_t size;
} cutis_gpu_argument;

/// Host memory the device copies from and to at full speed.
typedef struct cutis_gpu_pinned {
    void *data;
    size_t size;
    uint64_t token;
} cutis_gpu_pinned;

/// Pinned memory that large transfers go through, and the mark of its last use.
typedef struct cutis_gpu_stage {
    cutis_gpu_pinned pinned;
    void *event;
} cutis_gpu_stage;

/// A shape of launch: groups * group_size work items, with `local_bytes` of shared memory a group.
typedef struct cutis_gpu_launch {
    uint64_t group_count;
    uint32_t group_size, local_bytes;
    uint32_t argument_count;
    const cutis_gpu_argument *arguments;
} cutis_gpu_launch;

/// Every function sets the context's error text when it fails. Copies and launches run in the order
/// they are given.
typedef struct cutis_gpu_driver {
    const char *name; ///< "opencl", "cuda"
    void (*destroy)(cutis_gpu *gpu);
    cutis_result (*allocate)(cutis_gpu *gpu, uint64_t size, uint64_t *handle);
    void (*release)(cutis_gpu *gpu, uint64_t handle);
    cutis_result (*pin)(cutis_gpu *gpu, size_t size, cutis_gpu_pinned *out);
    void (*unpin)(cutis_gpu *gpu, cutis_gpu_pinned *pinned); ///< a zeroed one is fine
    /// Without `wait` the host's memory must be pinned, and stays untouched until a mark made
    /// afterwards is reached.
    cutis_result (*write)(cutis_gpu *gpu, uint64_t handle, uint64_t offset, const void *data,
                          uint64_t size, bool wait);
    cutis_result (*read)(cutis_gpu *gpu, uint64_t handle, uint64_t offset, void *data,
                         uint64_t size, bool wait);
    /// Compile to a binary that `load` takes; released with cutis_free(context, *binary, *size).
    cutis_result (*compile)(cutis_gpu *gpu, const char *text, uint32_t registers, void **binary,
                            size_t *size);
    cutis_result (*load)(cutis_gpu *gpu, const void *binary, size_t size, const char *entry,
                         cutis_gpu_kernel *out);
    void (*unload)(cutis_gpu *gpu, cutis_gpu_kernel *kernel);
    cutis_result (*launch)(cutis_gpu *gpu, const cutis_gpu_kernel *kernel,
                           const cutis_gpu_launch *launch);
    /// A point in the order of work: `mark` puts it there (and creates it where *event is NULL),
    /// `wait` waits for it.
    cutis_result (*mark)(cutis_gpu *gpu, void **event);
    cutis_result (*wait)(cutis_gpu *gpu, void *event);
    void (*forget)(cutis_gpu *gpu, void *event); ///< NULL is fine
    cutis_result (*submit)(cutis_gpu *gpu);      ///< let the device begin; NULL: launches do
    cutis_result (*finish)(cutis_gpu *gpu);
    void (*native)(const cutis_gpu *gpu, uint64_t *context, uint64_t *queue);
} cutis_gpu_driver;

/// What every driver has, under the names that both give it.
#define CUTIS_GPU_DRIVER_CALLS                                                                     \
    .destroy = driver_destroy, .allocate = driver_allocate, .release = driver_release,             \
    .pin = driver_pin, .unpin = driver_unpin, .write = driver_write, .read = driver_read,          \
    .compile = driver_compile, .load = driver_load, .unload = driver_unload,                       \
    .launch = driver_launch, .mark = driver_mark, .wait = driver_wait, .forget = driver_forget,    \
    .finish = driver_finish, .native = driver_native

/// The common part of an OpenCL or CUDA device; drivers append their own fields.
struct cutis_gpu {
    cutis_device base;
    const cutis_gpu_driver *driver;
    cutis_os_lock *lock;
    cutis_device_info info;
    char identity[512]; ///< device, driver and compiler versions, options: part of the cache's key
    uint32_t local_bytes_max; ///< shared memory a group can have
    uint32_t warps;           ///< warps of 32 work items in a group
    bool alone;               ///< work items work alone: teams have one lane (kernel/team.h)
    bool plain_teams;         ///< but those of kernels that are called plain (compute.h) have all
    bool warp_teams; ///< teams are warps that synchronise by themselves: a group may have several
    bool compiles_in_parallel; ///< the driver's compiler may run in several threads at once
    bool staged; ///< packed records go through shared memory (pays where a warp can synchronise)
    bool lists_refused;  ///< the compiler failed on a kernel with short bone lists in registers
    uint32_t near_bytes; ///< shared memory for palettes: with more, fewer groups fit
    uint32_t group_instances; ///< instances a group serves, at most 8
    uint32_t registers; ///< of a work item, at most; 0: the compiler's choice (drivers that can)
    uint32_t registers_pairs;   ///< the same where a work item does two vertices
    uint32_t registers_centred; ///< the same for formulas with centres; 0: as others
    uint32_t warps_centred;     ///< and warps of its groups
    bool turned_pairs;          ///< that pays for formulas that turn, too
    uint32_t registers_morphed; ///< the same for linear blending with morph targets
    uint32_t registers_posed;   ///< the same for weighted pose space
    uint32_t pose_tile;         ///< instances a work item serves at a time there
    uint32_t pose_instances;    ///< and a group, at most 32
    const char *tuning;         ///< more lines of #define, to measure variants with; NULL: none
    uint64_t releases;          ///< of buffers so far, foreign ones too
    _Atomic bool lost;          ///< the device stopped answering: every later call fails at once
    struct cutis_gpu_program *programs;
    cutis_gpu_stage stages[2]; ///< made when first needed
};

/// Fill the common part; `gpu` is zeroed memory that holds `info` and the driver's own fields
/// already.
cutis_result cutis_gpu_init(cutis_gpu *gpu, cutis_context *context, const cutis_gpu_driver *driver,
                            const cutis_device_options *options);
/// Release programs, threads and lock; the driver releases the rest.
void cutis_gpu_clear(cutis_gpu *gpu);

/// A device that is not there: of `count`, or, where there are none, for the reason given.
cutis_result cutis_gpu_absent(cutis_context *context, const cutis_gpu_driver *driver,
                              uint32_t index, uint32_t count, const char *why);
/// In a list of devices: why there are none of this kind.
void cutis_gpu_list_none(cutis_device_kind kind, const char *why, uint32_t capacity,
                         cutis_device_info *infos, uint32_t *count);

/// Error of a driver call: marks the device lost where `result` is CUTIS_DEVICE_LOST.
cutis_result cutis_gpu_fail(cutis_gpu *gpu, cutis_result result, const char *what, const char *why);

/// Take the lock of a device that still answers.
cutis_result cutis_gpu_enter(cutis_gpu *gpu);
/// Give it back. @return `result`: of what was done meanwhile
cutis_result cutis_gpu_leave(cutis_gpu *gpu, cutis_result result);
cutis_result cutis_gpu_lost(const cutis_gpu *gpu); ///< the error of a device that does not answer

/// Copies of any size, in transfer.c, with the lock held.
cutis_result cutis_gpu_write(cutis_gpu *gpu, uint64_t handle, uint64_t offset, const void *data,
                             uint64_t size);
cutis_result cutis_gpu_read(cutis_gpu *gpu, uint64_t handle, uint64_t offset, void *data,
                            uint64_t size);
void cutis_gpu_drop_stages(cutis_gpu *gpu);

/// The kernel `entry` of embedded texts with `defines` (lines of #define) before them: from memory,
/// the disk cache or the compiler. `texts`: those after kernel.h and item.h, NULL-ended.
cutis_result cutis_gpu_kernel_get(cutis_gpu *gpu, const char *const *texts, const char *defines,
                                  const char *entry, uint32_t registers, cutis_gpu_kernel *out);

/// What cutis_gpu_kernel_get is asked for.
typedef struct cutis_gpu_variant {
    const char *const *texts;
    const char *defines, *entry;
    uint32_t registers;
    bool brief; ///< of cutis_compute_kernel
} cutis_gpu_variant;
/// Whether it is in memory; with the lock held.
bool cutis_gpu_kernel_loaded(const cutis_gpu *gpu, const cutis_gpu_variant *wanted);
/// Compile those of `wanted` that neither memory nor the disk cache has, all at once on the
/// device's threads, into the cache; without a lock held. `wanted` is put in another order.
void cutis_gpu_build_ahead(cutis_gpu *gpu, cutis_gpu_variant *wanted, uint32_t count);

/// Item kernels, in compute.c.
cutis_result cutis_gpu_compute_run(cutis_device *device, const struct cutis_compute_kernel *kernel,
                                   uint32_t item_count, const cutis_buffer *const *buffers,
                                   const void *arguments);
cutis_result cutis_gpu_compute_prepare(cutis_device *device,
                                       const struct cutis_compute_kernel *const *kernels,
                                       uint32_t count);

/// Staging memory, in staging.c.
cutis_result cutis_gpu_staging_create(cutis_device *device, uint64_t size, cutis_staging **out);
void cutis_gpu_staging_destroy(cutis_staging *staging);
cutis_result cutis_gpu_staging_read(cutis_staging *staging, uint64_t size);
cutis_result cutis_gpu_staging_write(cutis_staging *staging, uint64_t size);
cutis_result cutis_gpu_staging_send(cutis_staging *staging, uint64_t size);
cutis_result cutis_gpu_staging_wait(cutis_staging *staging);

/// Skins, in skin.c.
cutis_result cutis_gpu_skin_create(cutis_device *device, const cutis_skin_layout *layout,
                                   cutis_device_skin **out);
void cutis_gpu_skin_destroy(cutis_device_skin *skin);
uint32_t cutis_gpu_skin_batch(const cutis_device_skin *skin);
cutis_result cutis_gpu_skin_run(cutis_device_skin *skin, const cutis_skin_frames *frames,
                                const cutis_skin_targets *targets);
void cutis_gpu_skin_places(const cutis_device_skin *skin, uint32_t capacity,
                           cutis_frame_places *out);
cutis_result cutis_gpu_skin_run_placed(cutis_device_skin *skin, const cutis_buffer *frames,
                                       const cutis_frame_places *places, uint32_t count,
                                       const cutis_skin_targets *targets);
cutis_result cutis_gpu_skin_prepare(cutis_device_skin *skin, uint32_t instance_count,
                                    uint32_t call_count, const cutis_skin_targets *targets);
/// Launch again what the last successful run of the skin launched, with the data that is on the
/// device: for timing alone.
cutis_result cutis_gpu_skin_repeat(cutis_device_skin *skin);

#endif
