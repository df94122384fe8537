/// An OpenCL and a CUDA driver made of malloc and counters: every call can be made to fail, and
/// what is not given back shows. Kernels do nothing. The test is linked with --wrap, so that the
/// library finds these functions where it would open the real drivers.
#ifndef CUTIS_TESTS_FAKE_DRIVERS_H
#define CUTIS_TESTS_FAKE_DRIVERS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda.h"
#include "device/opencl/opencl.h"

static struct {
    long calls;      ///< so far
    long fail_at;    ///< the call that fails; 0: none
    bool persistent; ///< so do all after it
    int code;        ///< what they return
    long live;       ///< objects and memory not given back
    long made;       ///< memory, programs, kernels, streams; not events of an OpenCL queue
    long compiled;   ///< programs
    long failed;     ///< calls that failed
} fake;

static bool fake_fails(void)
{
    fake.calls++;
    bool fails =
        fake.fail_at && (fake.persistent ? fake.calls >= fake.fail_at : fake.calls == fake.fail_at);
    fake.failed += fails;
    return fails;
}

static void *fake_make(size_t size)
{
    fake.live++;
    fake.made++;
    return calloc(1, size ? size : 1);
}

/// A driver that fails to release has lost the object all the same.
static int fake_drop(void *object)
{
    fake.live--;
    free(object);
    return fake_fails() ? fake.code : 0;
}

static int fake_plain(void)
{
    return fake_fails() ? fake.code : 0;
}

/// Creators of OpenCL: the object, or NULL and an error.
static void *fake_create(size_t size, cl_int *error)
{
    bool fails = fake_fails();
    if (error) *error = fails ? fake.code : 0;
    return fails ? NULL : fake_make(size);
}

// OpenCL ------------------------------------------------------------------------------------------

struct cl_mem_s {
    char *data;
};

static cl_int fake_GetPlatformIDs(cl_uint n, cl_platform *out, cl_uint *count)
{
    if (fake_fails()) return fake.code;
    if (n) out[0] = (cl_platform)&fake;
    *count = 1;
    return 0;
}
static cl_int fake_text(const char *text, size_t size, void *out, size_t *needed)
{
    if (fake_fails()) return fake.code;
    if (out && size) snprintf(out, size, "%s", text);
    if (needed) *needed = strlen(text) + 1;
    return 0;
}
static cl_int fake_GetPlatformInfo(cl_platform p, cl_uint what, size_t size, void *out, size_t *n)
{
    (void)p, (void)what;
    return fake_text("Fake", size, out, n);
}
static cl_int fake_GetDeviceIDs(cl_platform p, cl_bitfield type, cl_uint n, cl_device *out,
                                cl_uint *count)
{
    (void)p;
    if (fake_fails()) return fake.code;
    *count = type == CL_DEVICE_TYPE_GPU;
    if (n && *count) out[0] = (cl_device)&fake;
    return 0;
}
static cl_int fake_GetDeviceInfo(cl_device d, cl_uint what, size_t size, void *out, size_t *n)
{
    (void)d;
    if (what == CL_DEVICE_NAME || what == CL_DEVICE_VERSION || what == CL_DRIVER_VERSION)
        return fake_text("Fake 1.2", size, out, n);
    if (fake_fails()) return fake.code;
    uint64_t value = what == CL_DEVICE_GLOBAL_MEM_SIZE       ? 1ull << 30
                     : what == CL_DEVICE_LOCAL_MEM_SIZE      ? 48 << 10
                     : what == CL_DEVICE_MAX_WORK_GROUP_SIZE ? 256
                                                             : 1;
    memcpy(out, &value, size < 8 ? size : 8);
    return 0;
}
static cl_context fake_CreateContext(const intptr_t *a, cl_uint b, const cl_device *c,
                                     void (*d)(const char *, const void *, size_t, void *), void *e,
                                     cl_int *error)
{
    (void)a, (void)b, (void)c, (void)d, (void)e;
    return fake_create(1, error);
}
static cl_queue fake_CreateCommandQueue(cl_context a, cl_device b, cl_bitfield c, cl_int *error)
{
    (void)a, (void)b, (void)c;
    return fake_create(1, error);
}
static cl_mem fake_CreateBuffer(cl_context a, cl_bitfield b, size_t size, void *c, cl_int *error)
{
    (void)a, (void)b, (void)c;
    cl_mem memory = fake_create(sizeof *memory, error);
    if (memory) memory->data = calloc(1, size);
    return memory;
}
static cl_int fake_ReleaseMemObject(cl_mem memory)
{
    free(memory->data);
    return fake_drop(memory);
}
static cl_int fake_ReleaseContext(cl_context x)
{
    return fake_drop(x);
}
static cl_int fake_ReleaseCommandQueue(cl_queue x)
{
    return fake_drop(x);
}
static cl_int fake_ReleaseProgram(cl_program x)
{
    return fake_drop(x);
}
static cl_int fake_ReleaseKernel(cl_kernel x)
{
    return fake_drop(x);
}
static cl_int fake_ReleaseEvent(cl_event x)
{
    return fake_drop(x);
}
static cl_int fake_EnqueueWriteBuffer(cl_queue q, cl_mem m, cl_bool b, size_t at, size_t size,
                                      const void *data, cl_uint n, const cl_event *w, cl_event *e)
{
    (void)q, (void)b, (void)n, (void)w, (void)e;
    if (fake_fails()) return fake.code;
    memcpy(m->data + at, data, size);
    return 0;
}
static cl_int fake_EnqueueReadBuffer(cl_queue q, cl_mem m, cl_bool b, size_t at, size_t size,
                                     void *data, cl_uint n, const cl_event *w, cl_event *e)
{
    (void)q, (void)b, (void)n, (void)w, (void)e;
    if (fake_fails()) return fake.code;
    memcpy(data, m->data + at, size);
    return 0;
}
static void *fake_EnqueueMapBuffer(cl_queue q, cl_mem m, cl_bool b, cl_bitfield f, size_t at,
                                   size_t size, cl_uint n, const cl_event *w, cl_event *e,
                                   cl_int *error)
{
    (void)q, (void)b, (void)f, (void)size, (void)n, (void)w, (void)e;
    bool fails = fake_fails();
    *error = fails ? fake.code : 0;
    return fails ? NULL : m->data + at;
}
static cl_int fake_EnqueueUnmapMemObject(cl_queue q, cl_mem m, void *p, cl_uint n,
                                         const cl_event *w, cl_event *e)
{
    (void)q, (void)m, (void)p, (void)n, (void)w, (void)e;
    return fake_plain();
}
static cl_int fake_EnqueueMarkerWithWaitList(cl_queue q, cl_uint n, const cl_event *w, cl_event *e)
{
    (void)q, (void)n, (void)w;
    if (fake_fails()) return fake.code;
    *e = fake_make(1);
    fake.made--;
    return 0;
}
static cl_program fake_CreateProgramWithSource(cl_context c, cl_uint n, const char **t,
                                               const size_t *s, cl_int *error)
{
    (void)c, (void)n, (void)t, (void)s;
    return fake_create(1, error);
}
static cl_program fake_CreateProgramWithBinary(cl_context c, cl_uint n, const cl_device *d,
                                               const size_t *s, const unsigned char **t,
                                               cl_int *status, cl_int *error)
{
    (void)c, (void)n, (void)d, (void)s, (void)t;
    *status = 0;
    return fake_create(1, error);
}
static cl_int fake_BuildProgram(cl_program p, cl_uint n, const cl_device *d, const char *o,
                                void (*f)(cl_program, void *), void *u)
{
    fake.compiled++;
    (void)p, (void)n, (void)d, (void)o, (void)f, (void)u;
    return fake_plain();
}
static cl_int fake_GetProgramInfo(cl_program p, cl_uint what, size_t size, void *out, size_t *n)
{
    (void)p, (void)n;
    if (fake_fails()) return fake.code;
    if (what == CL_PROGRAM_BINARY_SIZES) {
        size_t bytes = 4;
        memcpy(out, &bytes, size);
    } else {
        memcpy(*(void **)out, "fake", 4);
    }
    return 0;
}
static cl_int fake_GetProgramBuildInfo(cl_program p, cl_device d, cl_uint what, size_t size,
                                       void *out, size_t *n)
{
    (void)p, (void)d, (void)what;
    return fake_text("a log", size, out, n);
}
static cl_kernel fake_CreateKernel(cl_program p, const char *name, cl_int *error)
{
    (void)p, (void)name;
    return fake_create(1, error);
}
static cl_int fake_SetKernelArg(cl_kernel k, cl_uint i, size_t size, const void *data)
{
    (void)k, (void)i, (void)size, (void)data;
    return fake_plain();
}
static cl_int fake_EnqueueNDRangeKernel(cl_queue q, cl_kernel k, cl_uint n, const size_t *a,
                                        const size_t *b, const size_t *c, cl_uint m,
                                        const cl_event *w, cl_event *e)
{
    (void)q, (void)k, (void)n, (void)a, (void)b, (void)c, (void)m, (void)w, (void)e;
    return fake_plain();
}
static cl_int fake_WaitForEvents(cl_uint n, const cl_event *w)
{
    (void)n, (void)w;
    return fake_plain();
}
static cl_int fake_Flush(cl_queue q)
{
    (void)q;
    return fake_plain();
}
static cl_int fake_Finish(cl_queue q)
{
    (void)q;
    return fake_plain();
}

// CUDA --------------------------------------------------------------------------------------------

#define CU_OR_FAIL                                                                                 \
    if (fake_fails()) return fake.code
static cu_result fake_cuInit(unsigned flags)
{
    (void)flags;
    return fake_plain();
}
static cu_result fake_cuNumber(int *out)
{
    CU_OR_FAIL;
    *out = 1;
    return 0;
}
static cu_result fake_cuErrorText(cu_result error, const char **out) // never fails: it is asked why
{
    (void)error;
    *out = "fake";
    return 0;
}
static cu_result fake_cuDeviceGet(cu_device *out, int index)
{
    CU_OR_FAIL;
    *out = index;
    return 0;
}
static cu_result fake_cuDeviceGetName(char *out, int size, cu_device d)
{
    (void)d;
    CU_OR_FAIL;
    snprintf(out, (size_t)size, "Fake");
    return 0;
}
static cu_result fake_cuDeviceGetAttribute(int *out, int what, cu_device d)
{
    (void)d;
    CU_OR_FAIL;
    *out = what == CU_SHARED_BYTES_OPTIN ? 48 << 10 : 9;
    return 0;
}
static cu_result fake_cuDeviceTotalMem(size_t *out, cu_device d)
{
    (void)d;
    CU_OR_FAIL;
    *out = 1 << 30;
    return 0;
}
static cu_result fake_cuRetain(cu_context *out, cu_device d)
{
    (void)d;
    CU_OR_FAIL;
    fake.live++;
    *out = (cu_context)&fake;
    return 0;
}
static cu_result fake_cuRelease(cu_device d)
{
    (void)d;
    fake.live--;
    return fake_plain();
}
static cu_result fake_cuPush(cu_context c)
{
    (void)c;
    return fake_plain();
}
static cu_result fake_cuPop(cu_context *out)
{
    *out = NULL;
    return fake_plain();
}
static cu_result fake_cuMakeObject(void **out, unsigned flags) // streams and events
{
    (void)flags;
    CU_OR_FAIL;
    *out = fake_make(1);
    return 0;
}
static cu_result fake_cuDrop(void *object)
{
    return fake_drop(object);
}
static cu_result fake_cuWait(void *object)
{
    (void)object;
    return fake_plain();
}
static cu_result fake_cuMemAlloc(cu_pointer *out, size_t size)
{
    CU_OR_FAIL;
    *out = (cu_pointer)(uintptr_t)fake_make(size);
    return 0;
}
static cu_result fake_cuMemFree(cu_pointer p)
{
    return fake_drop((void *)(uintptr_t)p);
}
static cu_result fake_cuMemHostAlloc(void **out, size_t size, unsigned flags)
{
    (void)flags;
    CU_OR_FAIL;
    *out = fake_make(size);
    return 0;
}
static cu_result fake_cuCopyIn(cu_pointer to, const void *from, size_t size, cu_stream s)
{
    (void)s;
    CU_OR_FAIL;
    memcpy((void *)(uintptr_t)to, from, size);
    return 0;
}
static cu_result fake_cuCopyOut(void *to, cu_pointer from, size_t size, cu_stream s)
{
    (void)s;
    CU_OR_FAIL;
    memcpy(to, (const void *)(uintptr_t)from, size);
    return 0;
}
static cu_result fake_cuModuleLoad(cu_module *out, const void *image)
{
    (void)image;
    CU_OR_FAIL;
    *out = fake_make(1);
    return 0;
}
static cu_result fake_cuModuleGetFunction(cu_function *out, cu_module m, const char *name)
{
    (void)name;
    CU_OR_FAIL;
    *out = (cu_function)m;
    return 0;
}
static cu_result fake_cuFuncSetAttribute(cu_function f, int what, int value)
{
    (void)f, (void)what, (void)value;
    return fake_plain();
}
static cu_result fake_cuLaunch(cu_function f, unsigned a, unsigned b, unsigned c, unsigned d,
                               unsigned e, unsigned g, unsigned h, cu_stream s, void **p, void **x)
{
    (void)f, (void)a, (void)b, (void)c, (void)d, (void)e, (void)g, (void)h, (void)s, (void)p,
        (void)x;
    return fake_plain();
}
static cu_result fake_cuEventRecord(cu_event e, cu_stream s)
{
    (void)e, (void)s;
    return fake_plain();
}
static cu_result fake_nvrtcVersion(int *a, int *b)
{
    CU_OR_FAIL;
    *a = 13, *b = 0;
    return 0;
}
static cu_result fake_nvrtcCreate(nvrtc_program *out, const char *t, const char *n, int c,
                                  const char *const *h, const char *const *i)
{
    (void)t, (void)n, (void)c, (void)h, (void)i;
    CU_OR_FAIL;
    *out = fake_make(1);
    return 0;
}
static cu_result fake_nvrtcDestroy(nvrtc_program *program)
{
    return fake_drop(*program);
}
static cu_result fake_nvrtcCompile(nvrtc_program p, int n, const char *const *o)
{
    fake.compiled++;
    (void)p, (void)n, (void)o;
    return fake_plain();
}
static cu_result fake_nvrtcSize(nvrtc_program p, size_t *out)
{
    (void)p;
    CU_OR_FAIL;
    *out = 5;
    return 0;
}
static cu_result fake_nvrtcText(nvrtc_program p, char *out)
{
    (void)p;
    CU_OR_FAIL;
    memcpy(out, "fake", 5);
    return 0;
}

// Finding them ------------------------------------------------------------------------------------

static void *fake_symbol(const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } cuda[] = {
        { "cuInit", fake_cuInit },
        { "cuDriverGetVersion", fake_cuNumber },
        { "cuGetErrorName", fake_cuErrorText },
        { "cuGetErrorString", fake_cuErrorText },
        { "cuDeviceGetCount", fake_cuNumber },
        { "cuDeviceGet", fake_cuDeviceGet },
        { "cuDeviceGetName", fake_cuDeviceGetName },
        { "cuDeviceGetAttribute", fake_cuDeviceGetAttribute },
        { "cuDeviceTotalMem_v2", fake_cuDeviceTotalMem },
        { "cuDevicePrimaryCtxRetain", fake_cuRetain },
        { "cuDevicePrimaryCtxRelease_v2", fake_cuRelease },
        { "cuCtxPushCurrent_v2", fake_cuPush },
        { "cuCtxPopCurrent_v2", fake_cuPop },
        { "cuStreamCreate", fake_cuMakeObject },
        { "cuStreamDestroy_v2", fake_cuDrop },
        { "cuStreamSynchronize", fake_cuWait },
        { "cuMemAlloc_v2", fake_cuMemAlloc },
        { "cuMemFree_v2", fake_cuMemFree },
        { "cuMemHostAlloc", fake_cuMemHostAlloc },
        { "cuMemFreeHost", fake_cuDrop },
        { "cuMemcpyHtoDAsync_v2", fake_cuCopyIn },
        { "cuMemcpyDtoHAsync_v2", fake_cuCopyOut },
        { "cuModuleLoadData", fake_cuModuleLoad },
        { "cuModuleUnload", fake_cuDrop },
        { "cuModuleGetFunction", fake_cuModuleGetFunction },
        { "cuFuncSetAttribute", fake_cuFuncSetAttribute },
        { "cuLaunchKernel", fake_cuLaunch },
        { "cuEventCreate", fake_cuMakeObject },
        { "cuEventRecord", fake_cuEventRecord },
        { "cuEventSynchronize", fake_cuWait },
        { "cuEventDestroy_v2", fake_cuDrop },
        { "nvrtcVersion", fake_nvrtcVersion },
        { "nvrtcCreateProgram", fake_nvrtcCreate },
        { "nvrtcDestroyProgram", fake_nvrtcDestroy },
        { "nvrtcCompileProgram", fake_nvrtcCompile },
        { "nvrtcGetCUBINSize", fake_nvrtcSize },
        { "nvrtcGetCUBIN", fake_nvrtcText },
        { "nvrtcGetPTXSize", fake_nvrtcSize },
        { "nvrtcGetPTX", fake_nvrtcText },
        { "nvrtcGetProgramLogSize", fake_nvrtcSize },
        { "nvrtcGetProgramLog", fake_nvrtcText },
    };
#define FAKE_CL(result, function, parameters)                                                      \
    if (strcmp(name, "cl" #function) == 0) return (void *)fake_##function;
    CL_FUNCTIONS(FAKE_CL)
#undef FAKE_CL
    for (size_t i = 0; i < sizeof cuda / sizeof *cuda; i++)
        if (strcmp(name, cuda[i].name) == 0) return cuda[i].function;
    return NULL;
}

void *__wrap_cutis_os_library_open(const char *name);
void *__wrap_cutis_os_library_symbol(void *library, const char *name);
void __wrap_cutis_os_library_close(void *library);

void *__wrap_cutis_os_library_open(const char *name)
{
    return strstr(name, "OpenCL") || strstr(name, "cuda") || strstr(name, "nvrtc") ? &fake : NULL;
}
void *__wrap_cutis_os_library_symbol(void *library, const char *name)
{
    (void)library;
    return fake_symbol(name);
}
void __wrap_cutis_os_library_close(void *library)
{
    (void)library;
}

#endif
