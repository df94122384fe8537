/// Devices: where deforming runs. The CPU is always there; OpenCL and CUDA are opened at run time
/// if they are.
///
/// Threads: several may use a device at once. Its worker threads do one call's work at a time, and
/// a GPU is handed one call's work at a time; `run_tasks` may be called by several at once. A
/// buffer's bytes are like plain memory: nobody may read them while another thread writes them.
/// Fitting (cutis/weights.h and the like) in several threads on one device: experimental.
#ifndef CUTIS_DEVICE_H
#define CUTIS_DEVICE_H

#include <cutis/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The kinds: X(enum name, name, number).
#define CUTIS_DEVICES(X)                                                                           \
    X(CPU, cpu, 0)                                                                                 \
    X(OPENCL, opencl, 1)                                                                           \
    X(CUDA, cuda, 2)

typedef enum cutis_device_kind {
#define CUTIS_DEVICE_ENUM(id, name, number) CUTIS_DEVICE_##id = number,
    CUTIS_DEVICES(CUTIS_DEVICE_ENUM)
#undef CUTIS_DEVICE_ENUM
} cutis_device_kind;

/// Instruction sets of the CPU device. All but WASM_FAST give the same bits. The environment
/// variable CUTIS_ISA can only lower it.
typedef enum cutis_isa {
    CUTIS_ISA_AUTO = 0,      ///< the best this machine has
    CUTIS_ISA_SCALAR = 1,    ///< the reference: one vertex after the other, no blocks
    CUTIS_ISA_SSE2 = 2,      ///< 4 lanes, fma emulated (or used, where the machine has it)
    CUTIS_ISA_NEON = 3,      ///< 4 lanes
    CUTIS_ISA_AVX2 = 4,      ///< 8 lanes
    CUTIS_ISA_AVX512 = 5,    ///< 16 lanes
    CUTIS_ISA_WASM = 6,      ///< 4 lanes, fma emulated
    CUTIS_ISA_WASM_FAST = 7, ///< 4 lanes, a product and a sum in place of fma: never chosen unless
                             ///< asked for
} cutis_isa;

/// Run `task(data, 0 .. count - 1)` on the caller's own threads, in any order and grouping; return
/// when all are done.
typedef void (*cutis_task_runner)(void *user, void (*task)(void *data, uint32_t index), void *data,
                                  uint32_t count);

/// The zero value: the CPU with all its cores and the best instruction set.
typedef struct cutis_device_options {
    uint32_t struct_size; ///< sizeof of this struct where you compile; 0: as of version 0.1
    cutis_device_kind kind;
    uint32_t index;              ///< which of that kind, as cutis_device_list numbers them
    cutis_isa isa;               ///< CPU only
    uint32_t thread_count;       ///< 0 = one per core; GPU devices prepare poses on them
    cutis_task_runner run_tasks; ///< NULL = the device's own thread pool
    void *run_tasks_user;
} cutis_device_options;

typedef struct cutis_device cutis_device;

/// @return CUTIS_OK, CUTIS_DEVICE_UNAVAILABLE (the error says why), CUTIS_UNSUPPORTED,
/// CUTIS_INVALID_ARGUMENT, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_device_create(cutis_context *context,
                                           const cutis_device_options *options, cutis_device **out);
CUTIS_API void
cutis_device_destroy(cutis_device *device); ///< after all bindings and buffers; NULL is fine

typedef struct cutis_device_info {
    cutis_device_kind kind;
    uint32_t index;
    bool available;
    char name[128];        ///< "AMD EPYC", "NVIDIA H200"
    char detail[256];      ///< driver and version, or why it is not available
    uint64_t memory_bytes; ///< of its own; CPU: 0
    uint32_t thread_count; ///< CPU: cores; GPU: compute units
    cutis_isa isa;         ///< CPU only: the best there is
} cutis_device_info;

/// Everything there is, and one entry with `available = false` per kind that is not, saying why.
/// @param infos `capacity` entries of caller memory, may be NULL with capacity 0
/// @param count_out how many there are, also when more than `capacity`
CUTIS_API cutis_result cutis_device_list(cutis_context *context, uint32_t capacity,
                                         cutis_device_info *infos, uint32_t *count_out);

/// What a device is, after creation (isa and thread_count: those in use).
CUTIS_API cutis_device_info cutis_device_describe(const cutis_device *device);

/// "cpu", "opencl", "cuda".
CUTIS_API const char *cutis_device_kind_name(cutis_device_kind kind);
/// "auto", "scalar", "sse2", "neon", "avx2", "avx512", "wasm", "wasm_fast".
CUTIS_API const char *cutis_isa_name(cutis_isa isa);

/// Memory on a device (on the CPU device: ordinary memory).
typedef struct cutis_buffer cutis_buffer;

CUTIS_API cutis_result cutis_buffer_create(cutis_device *device, uint64_t size, cutis_buffer **out);

/// Use memory that the caller's own API made: a `cl_mem` of the device's context, or a
/// `CUdeviceptr`, cast to uint64_t. Stays the caller's; must outlive the buffer.
CUTIS_API cutis_result cutis_buffer_wrap(cutis_device *device, uint64_t handle, uint64_t size,
                                         cutis_buffer **out);
CUTIS_API void cutis_buffer_destroy(cutis_buffer *buffer); ///< NULL is fine

/// Copy to and from host memory; waits for work that was started before.
CUTIS_API cutis_result cutis_buffer_write(cutis_buffer *buffer, uint64_t offset, const void *data,
                                          uint64_t size);
CUTIS_API cutis_result cutis_buffer_read(cutis_buffer *buffer, uint64_t offset, void *data,
                                         uint64_t size);

/// The API's own handle: `cl_mem` or `CUdeviceptr` (CPU: the address).
CUTIS_API uint64_t cutis_buffer_handle(const cutis_buffer *buffer);

/// The device's own context and queue, to create buffers for cutis_buffer_wrap in and to order work
/// with (OpenCL: cl_context, cl_command_queue; CUDA: CUcontext, CUstream; CPU: 0).
CUTIS_API void cutis_device_native(const cutis_device *device, uint64_t *context, uint64_t *queue);

/// Wait until everything started on the device is done.
CUTIS_API cutis_result cutis_device_finish(cutis_device *device);

#ifdef __cplusplus
}
#endif
#endif
