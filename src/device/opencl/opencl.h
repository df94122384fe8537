/// The few declarations of OpenCL 1.2 that Cutis uses, and the functions found in the driver at run
/// time. No SDK is needed to build; the numbers are those of the Khronos registry and never change.
#ifndef CUTIS_DEVICE_OPENCL_H
#define CUTIS_DEVICE_OPENCL_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef struct cl_platform_s *cl_platform;
typedef struct cl_device_s *cl_device;
typedef struct cl_context_s *cl_context;
typedef struct cl_queue_s *cl_queue;
typedef struct cl_mem_s *cl_mem;
typedef struct cl_program_s *cl_program;
typedef struct cl_kernel_s *cl_kernel;
typedef struct cl_event_s *cl_event;

enum {
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_VENDOR_ID = 0x1001,
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
    CL_DEVICE_VERSION = 0x102F,
    CL_DRIVER_VERSION = 0x102D,
    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_ALLOC_HOST_PTR = 1 << 4,
    CL_MAP_READ = 1 << 0,
    CL_MAP_WRITE = 1 << 1,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_FP_DENORM = 1 << 0,
    CL_FP_CORRECT_DIVIDE = 1 << 7,
};
#define CL_DEVICE_TYPE_CPU         (1ull << 1)
#define CL_DEVICE_TYPE_GPU         (1ull << 2)
#define CL_DEVICE_TYPE_ACCELERATOR (1ull << 3)
#define CL_VENDOR_NVIDIA           0x10DEu

/// Return type, name, parameters of every function used.
#define CL_FUNCTIONS(X)                                                                            \
    X(cl_int, GetPlatformIDs, (cl_uint, cl_platform *, cl_uint *))                                 \
    X(cl_int, GetPlatformInfo, (cl_platform, cl_uint, size_t, void *, size_t *))                   \
    X(cl_int, GetDeviceIDs, (cl_platform, cl_bitfield, cl_uint, cl_device *, cl_uint *))           \
    X(cl_int, GetDeviceInfo, (cl_device, cl_uint, size_t, void *, size_t *))                       \
    X(cl_context, CreateContext,                                                                   \
      (const intptr_t *, cl_uint, const cl_device *,                                               \
       void (*)(const char *, const void *, size_t, void *), void *, cl_int *))                    \
    X(cl_int, ReleaseContext, (cl_context))                                                        \
    X(cl_queue, CreateCommandQueue, (cl_context, cl_device, cl_bitfield, cl_int *))                \
    X(cl_int, ReleaseCommandQueue, (cl_queue))                                                     \
    X(cl_mem, CreateBuffer, (cl_context, cl_bitfield, size_t, void *, cl_int *))                   \
    X(cl_int, ReleaseMemObject, (cl_mem))                                                          \
    X(cl_int, EnqueueWriteBuffer,                                                                  \
      (cl_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *,         \
       cl_event *))                                                                                \
    X(cl_int, EnqueueReadBuffer,                                                                   \
      (cl_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *))  \
    X(void *, EnqueueMapBuffer,                                                                    \
      (cl_queue, cl_mem, cl_bool, cl_bitfield, size_t, size_t, cl_uint, const cl_event *,          \
       cl_event *, cl_int *))                                                                      \
    X(cl_int, EnqueueUnmapMemObject,                                                               \
      (cl_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *))                           \
    X(cl_int, EnqueueMarkerWithWaitList, (cl_queue, cl_uint, const cl_event *, cl_event *))        \
    X(cl_program, CreateProgramWithSource,                                                         \
      (cl_context, cl_uint, const char **, const size_t *, cl_int *))                              \
    X(cl_program, CreateProgramWithBinary,                                                         \
      (cl_context, cl_uint, const cl_device *, const size_t *, const unsigned char **, cl_int *,   \
       cl_int *))                                                                                  \
    X(cl_int, BuildProgram,                                                                        \
      (cl_program, cl_uint, const cl_device *, const char *, void (*)(cl_program, void *),         \
       void *))                                                                                    \
    X(cl_int, GetProgramInfo, (cl_program, cl_uint, size_t, void *, size_t *))                     \
    X(cl_int, GetProgramBuildInfo, (cl_program, cl_device, cl_uint, size_t, void *, size_t *))     \
    X(cl_int, ReleaseProgram, (cl_program))                                                        \
    X(cl_kernel, CreateKernel, (cl_program, const char *, cl_int *))                               \
    X(cl_int, ReleaseKernel, (cl_kernel))                                                          \
    X(cl_int, SetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                            \
    X(cl_int, EnqueueNDRangeKernel,                                                                \
      (cl_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,      \
       const cl_event *, cl_event *))                                                              \
    X(cl_int, WaitForEvents, (cl_uint, const cl_event *))                                          \
    X(cl_int, ReleaseEvent, (cl_event))                                                            \
    X(cl_int, Flush, (cl_queue))                                                                   \
    X(cl_int, Finish, (cl_queue))

typedef struct cl_functions {
    void *library;
#define CL_FIELD(result, name, parameters) result(*name) parameters;
    CL_FUNCTIONS(CL_FIELD)
#undef CL_FIELD
} cl_functions;

#endif
