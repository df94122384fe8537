/// The few declarations of the CUDA driver API and of NVRTC that Cutis uses, and the functions
/// found at run time. No SDK is needed to build; names with _v2 are the ones the libraries export.
#ifndef CUTIS_DEVICE_CUDA_H
#define CUTIS_DEVICE_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result;
typedef int cu_device;
typedef uint64_t cu_pointer;
typedef struct cu_context_s *cu_context;
typedef struct cu_stream_s *cu_stream;
typedef struct cu_module_s *cu_module;
typedef struct cu_function_s *cu_function;
typedef struct cu_event_s *cu_event;
typedef struct nvrtc_program_s *nvrtc_program;

enum {
    CU_MULTIPROCESSOR_COUNT = 16,
    CU_CAPABILITY_MAJOR = 75,
    CU_CAPABILITY_MINOR = 76,
    CU_SHARED_BYTES_OPTIN = 97,
    CU_FUNCTION_DYNAMIC_SHARED_BYTES = 8,
    CU_FUNCTION_SHARED_CARVEOUT = 9,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
};

/// Result, name, exported name, parameters of every driver function used.
#define CU_FUNCTIONS(X)                                                                            \
    X(Init, "cuInit", (unsigned))                                                                  \
    X(DriverGetVersion, "cuDriverGetVersion", (int *))                                             \
    X(GetErrorName, "cuGetErrorName", (cu_result, const char **))                                  \
    X(GetErrorString, "cuGetErrorString", (cu_result, const char **))                              \
    X(DeviceGetCount, "cuDeviceGetCount", (int *))                                                 \
    X(DeviceGet, "cuDeviceGet", (cu_device *, int))                                                \
    X(DeviceGetName, "cuDeviceGetName", (char *, int, cu_device))                                  \
    X(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, cu_device))                         \
    X(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, cu_device))                                \
    X(PrimaryRetain, "cuDevicePrimaryCtxRetain", (cu_context *, cu_device))                        \
    X(PrimaryRelease, "cuDevicePrimaryCtxRelease_v2", (cu_device))                                 \
    X(Push, "cuCtxPushCurrent_v2", (cu_context))                                                   \
    X(Pop, "cuCtxPopCurrent_v2", (cu_context *))                                                   \
    X(StreamCreate, "cuStreamCreate", (cu_stream *, unsigned))                                     \
    X(StreamDestroy, "cuStreamDestroy_v2", (cu_stream))                                            \
    X(StreamSynchronize, "cuStreamSynchronize", (cu_stream))                                       \
    X(MemAlloc, "cuMemAlloc_v2", (cu_pointer *, size_t))                                           \
    X(MemFree, "cuMemFree_v2", (cu_pointer))                                                       \
    X(MemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                 \
    X(MemFreeHost, "cuMemFreeHost", (void *))                                                      \
    X(CopyToDevice, "cuMemcpyHtoDAsync_v2", (cu_pointer, const void *, size_t, cu_stream))         \
    X(CopyToHost, "cuMemcpyDtoHAsync_v2", (void *, cu_pointer, size_t, cu_stream))                 \
    X(ModuleLoad, "cuModuleLoadData", (cu_module *, const void *))                                 \
    X(ModuleUnload, "cuModuleUnload", (cu_module))                                                 \
    X(ModuleGetFunction, "cuModuleGetFunction", (cu_function *, cu_module, const char *))          \
    X(FunctionSetAttribute, "cuFuncSetAttribute", (cu_function, int, int))                         \
    X(Launch, "cuLaunchKernel",                                                                    \
      (cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,          \
       cu_stream, void **, void **))                                                               \
    X(EventCreate, "cuEventCreate", (cu_event *, unsigned))                                        \
    X(EventRecord, "cuEventRecord", (cu_event, cu_stream))                                         \
    X(EventSynchronize, "cuEventSynchronize", (cu_event))                                          \
    X(EventDestroy, "cuEventDestroy_v2", (cu_event))

#define NVRTC_FUNCTIONS(X)                                                                         \
    X(Version, "nvrtcVersion", (int *, int *))                                                     \
    X(Create, "nvrtcCreateProgram",                                                                \
      (nvrtc_program *, const char *, const char *, int, const char *const *,                      \
       const char *const *))                                                                       \
    X(Destroy, "nvrtcDestroyProgram", (nvrtc_program *))                                           \
    X(Compile, "nvrtcCompileProgram", (nvrtc_program, int, const char *const *))                   \
    X(BinarySize, "nvrtcGetCUBINSize", (nvrtc_program, size_t *))                                  \
    X(Binary, "nvrtcGetCUBIN", (nvrtc_program, char *))                                            \
    X(AssemblySize, "nvrtcGetPTXSize", (nvrtc_program, size_t *))                                  \
    X(Assembly, "nvrtcGetPTX", (nvrtc_program, char *))                                            \
    X(LogSize, "nvrtcGetProgramLogSize", (nvrtc_program, size_t *))                                \
    X(Log, "nvrtcGetProgramLog", (nvrtc_program, char *))

typedef struct cu_functions {
    void *library;
#define CU_FIELD(name, symbol, parameters) cu_result(*name) parameters;
    CU_FUNCTIONS(CU_FIELD)
} cu_functions;

typedef struct nvrtc_functions {
    void *library;
    NVRTC_FUNCTIONS(CU_FIELD)
#undef CU_FIELD
} nvrtc_functions;

#endif
