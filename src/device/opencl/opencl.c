/// The OpenCL device: platforms and devices found through libOpenCL.so.1, which is opened at run
/// time and never closed (drivers do not survive being unloaded). Invariant: one in-order queue, so
/// copies and kernels run as they are given.
#include <device/opencl/opencl.h>

#include <base/error.h>
#include <base/memory.h>
#include <device/gpu/gpu.h>
#include <stdio.h>
#include <string.h>

enum { DEVICE_LIMIT = 64 };

typedef struct opencl {
    cutis_gpu gpu;
    cl_functions cl;
    cl_device device;
    cl_context context;
    cl_queue queue;
    bool nvidia;
    char options[64]; ///< of every build
} opencl;

/// A device of some platform, in the order of cutis_device_list.
typedef struct found_device {
    cl_platform platform;
    cl_device device;
} found_device;

static opencl *opencl_of(const cutis_gpu *gpu)
{
    return (opencl *)(uintptr_t)gpu;
}

static const char *error_name(cl_int error)
{
    static const struct {
        cl_int error;
        const char *name;
    } names[] = {
        { -1, "device not found" },
        { -2, "device not available" },
        { -4, "out of device memory" },
        { -5, "out of resources" },
        { -6, "out of host memory" },
        { -11, "build failed" },
        { -30, "invalid value" },
        { -34, "invalid context" },
        { -36, "invalid command queue" },
        { -38, "invalid memory object" },
        { -42, "invalid binary" },
        { -46, "invalid kernel name" },
        { -48, "invalid kernel" },
        { -51, "invalid argument size" },
        { -52, "invalid kernel arguments" },
        { -54, "invalid work group size" },
        { -61, "invalid buffer size" },
        { -1001, "no platform is installed" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error) return names[i].name;
    return "OpenCL error";
}

/// A queue that stopped working shows as one of these; after that nothing on the device can be
/// trusted.
static cutis_result result_of(cl_int error)
{
    switch (error) {
    case -4:
    case -6:
    case -61:
        return CUTIS_DEVICE_OUT_OF_MEMORY;
    case -2:
    case -5:
    case -14: // an event in a wait list ended in error
    case -34:
    case -36:
        return CUTIS_DEVICE_LOST;
    default:
        return CUTIS_INTERNAL;
    }
}

static cutis_result fail(cutis_gpu *gpu, cl_int error, const char *what)
{
    char why[128];
    snprintf(why, sizeof why, "%s (%d)", error_name(error), (int)error);
    return cutis_gpu_fail(gpu, result_of(error), what, why);
}

static bool open_library(cl_functions *cl)
{
    static const char *const names[] = { "libOpenCL.so.1", "libOpenCL.so", "OpenCL.dll" };
    for (size_t i = 0; i < sizeof names / sizeof *names && !cl->library; i++)
        cl->library = cutis_os_library_open(names[i]);
    if (!cl->library) return false;
#define CL_LOAD(result, name, parameters)                                                          \
    if (!(*(void **)&cl->name = cutis_os_library_symbol(cl->library, "cl" #name))) return false;
    CL_FUNCTIONS(CL_LOAD)
#undef CL_LOAD
    return true;
}

static bool is_usable(const cl_functions *cl, cl_device device)
{
    cl_bool available = 0, compiler = 0;
    cl->GetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
    cl->GetDeviceInfo(device, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler, NULL);
    return available && compiler;
}

/// Append the usable devices of one type on all platforms.
static void find_type(const cl_functions *cl, const cl_platform *platforms, cl_uint platform_count,
                      cl_bitfield type, uint32_t capacity, found_device *found, uint32_t *count)
{
    for (cl_uint p = 0; p < platform_count; p++) {
        cl_device devices[DEVICE_LIMIT];
        cl_uint device_count = 0;
        if (cl->GetDeviceIDs(platforms[p], type, DEVICE_LIMIT, devices, &device_count)) continue;
        for (cl_uint d = 0; d < device_count && d < DEVICE_LIMIT && *count < capacity; d++)
            if (is_usable(cl, devices[d]))
                found[(*count)++] = (found_device){ platforms[p], devices[d] };
    }
}

/// Devices of all platforms, GPUs first, at most `capacity`; 0 with `why` set when there is none.
static uint32_t find_devices(const cl_functions *cl, uint32_t capacity, found_device *found,
                             const char **why)
{
    static const cl_bitfield types[] = { CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR,
                                         CL_DEVICE_TYPE_CPU };
    cl_platform platforms[16];
    cl_uint platform_count = 0;
    uint32_t count = 0;
    *why = "no OpenCL platform is installed";
    if (cl->GetPlatformIDs(16, platforms, &platform_count) != 0) return 0;
    if (platform_count > 16) platform_count = 16;
    if (platform_count) *why = "no OpenCL platform has a device";
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        find_type(cl, platforms, platform_count, types[t], capacity, found, &count);
    return count;
}

static void device_text(const cl_functions *cl, cl_device device, cl_uint what, char *out,
                        size_t size)
{
    char text[256] = "";
    if (cl->GetDeviceInfo(device, what, sizeof text, text, NULL) != 0) text[0] = 0;
    text[sizeof text - 1] = 0;
    snprintf(out, size, "%.*s", (int)size - 1, text);
}

static cutis_device_info device_info(const cl_functions *cl, const found_device *found,
                                     uint32_t index)
{
    cutis_device_info info = { .kind = CUTIS_DEVICE_OPENCL, .index = index, .available = true };
    char version[80], driver[56], platform[64] = ""; // as much as `detail` holds
    cl_ulong memory = 0, precision = 0;
    cl_uint units = 0;
    device_text(cl, found->device, CL_DEVICE_NAME, info.name, sizeof info.name);
    device_text(cl, found->device, CL_DEVICE_VERSION, version, sizeof version);
    device_text(cl, found->device, CL_DRIVER_VERSION, driver, sizeof driver);
    cl->GetPlatformInfo(found->platform, CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
    cl->GetDeviceInfo(found->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
    cl->GetDeviceInfo(found->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    cl->GetDeviceInfo(found->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof precision, &precision,
                      NULL);
    snprintf(info.detail, sizeof info.detail, "%s, %s, driver %s%s", platform, version, driver,
             precision & CL_FP_DENORM ? "" : ", flushes subnormal numbers (bits may differ)");
    info.memory_bytes = memory;
    info.thread_count = units;
    return info;
}

static void driver_destroy(cutis_gpu *gpu)
{
    opencl *self = opencl_of(gpu);
    if (self->queue) self->cl.Finish(self->queue);
    cutis_gpu_clear(gpu);
    if (self->queue) self->cl.ReleaseCommandQueue(self->queue);
    if (self->context) self->cl.ReleaseContext(self->context);
    cutis_free(gpu->base.context, self, sizeof *self);
}

static cutis_result driver_allocate(cutis_gpu *gpu, uint64_t size, uint64_t *handle)
{
    opencl *self = opencl_of(gpu);
    cl_int error = size > SIZE_MAX ? -61 : 0;
    cl_mem memory =
        error ? NULL
              : self->cl.CreateBuffer(self->context, CL_MEM_READ_WRITE, (size_t)size, NULL, &error);
    if (!memory && result_of(error) == CUTIS_DEVICE_LOST)
        error = -4; // "resources" here means memory
    if (!memory) return fail(gpu, error, "allocate");
    *handle = (uint64_t)(uintptr_t)memory;
    return CUTIS_OK;
}

static void driver_release(cutis_gpu *gpu, uint64_t handle)
{
    gpu->releases++;
    if (handle) opencl_of(gpu)->cl.ReleaseMemObject((cl_mem)(uintptr_t)handle);
}

static cutis_result driver_pin(cutis_gpu *gpu, size_t size, cutis_gpu_pinned *out)
{
    opencl *self = opencl_of(gpu);
    cl_int error = 0;
    cl_mem memory = self->cl.CreateBuffer(self->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                          size, NULL, &error);
    if (!memory) return fail(gpu, error == -5 ? -4 : error, "allocate pinned memory");
    void *data = self->cl.EnqueueMapBuffer(self->queue, memory, 1, CL_MAP_READ | CL_MAP_WRITE, 0,
                                           size, 0, NULL, NULL, &error);
    if (!data) {
        self->cl.ReleaseMemObject(memory);
        return fail(gpu, error == -5 ? -4 : error, "map pinned memory");
    }
    *out = (cutis_gpu_pinned){ data, size, (uint64_t)(uintptr_t)memory };
    return CUTIS_OK;
}

static void driver_unpin(cutis_gpu *gpu, cutis_gpu_pinned *pinned)
{
    opencl *self = opencl_of(gpu);
    cl_mem memory = (cl_mem)(uintptr_t)pinned->token;
    if (!memory) return;
    self->cl.EnqueueUnmapMemObject(self->queue, memory, pinned->data, 0, NULL, NULL);
    self->cl.ReleaseMemObject(memory);
    *pinned = (cutis_gpu_pinned){ 0 };
}

static cutis_result driver_write(cutis_gpu *gpu, uint64_t handle, uint64_t offset, const void *data,
                                 uint64_t size, bool wait)
{
    opencl *self = opencl_of(gpu);
    cl_int error = self->cl.EnqueueWriteBuffer(self->queue, (cl_mem)(uintptr_t)handle, wait,
                                               (size_t)offset, (size_t)size, data, 0, NULL, NULL);
    return error ? fail(gpu, error, "write to the device") : CUTIS_OK;
}

static cutis_result driver_read(cutis_gpu *gpu, uint64_t handle, uint64_t offset, void *data,
                                uint64_t size, bool wait)
{
    opencl *self = opencl_of(gpu);
    cl_int error = self->cl.EnqueueReadBuffer(self->queue, (cl_mem)(uintptr_t)handle, wait,
                                              (size_t)offset, (size_t)size, data, 0, NULL, NULL);
    return error ? fail(gpu, error, "read from the device") : CUTIS_OK;
}

/// The compiler's log in one line of the error, shortened to its first part.
static cutis_result build_failed(opencl *self, cl_program program, cl_int error)
{
    char log[1500] = "";
    size_t length = 0;
    self->cl.GetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &length);
    char *whole = length ? cutis_alloc(self->gpu.base.context, length) : NULL;
    if (whole) {
        self->cl.GetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_LOG, length, whole,
                                     NULL);
        snprintf(log, sizeof log, "%.*s", (int)(length < sizeof log ? length : sizeof log - 1),
                 whole);
        cutis_free(self->gpu.base.context, whole, length);
    }
    for (char *c = log; *c; c++)
        if (*c == '\n') *c = ' ';
    return cutis_fail(self->gpu.base.context, CUTIS_DEVICE_BUILD_FAILED,
                      "opencl: build: %s (%d): %s", error_name(error), (int)error, log);
}

static cutis_result driver_compile(cutis_gpu *gpu, const char *text, uint32_t registers,
                                   void **binary, size_t *size)
{
    opencl *self = opencl_of(gpu);
    cutis_result result = CUTIS_OK;
    cl_int error = 0;
    cl_program program = self->cl.CreateProgramWithSource(self->context, 1, &text, NULL, &error);
    char options[128];
    if (!program) return fail(gpu, error, "create a program");
    snprintf(options, sizeof options, "%s", self->options);
    if (registers && self->nvidia)
        snprintf(options, sizeof options, "%s -cl-nv-maxrregcount=%u", self->options, registers);
    error = self->cl.BuildProgram(program, 1, &self->device, options, NULL, NULL);
    if (error) {
        result = build_failed(self, program, error);
        goto done;
    }
    error = self->cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL);
    *binary = error ? NULL : cutis_alloc(gpu->base.context, *size);
    if (error) {
        result = fail(gpu, error, "read a program");
    } else if (!*binary) {
        result = cutis_alloc_result(gpu->base.context);
    } else {
        error = self->cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof *binary, binary, NULL);
        if (error) {
            cutis_free(gpu->base.context, *binary, *size);
            result = fail(gpu, error, "read a program");
        }
    }
done:
    self->cl.ReleaseProgram(program);
    return result;
}

enum { KEPT_VALUE = 8, KEPT_STRUCT = 1024 };

/// A kernel and the arguments it has, so that only changed ones are set again (a call each costs
/// a good part of a small launch). They hold while `releases` is the device's: a handle that was
/// released can come back as another buffer.
typedef struct opencl_kernel {
    cl_kernel kernel;
    uint64_t releases;
    size_t sizes[CUTIS_GPU_ARGUMENTS];
    unsigned char values[CUTIS_GPU_ARGUMENTS][KEPT_VALUE]; ///< of buffers and small values
    uint32_t large;                                        ///< the one that `given` is of
    unsigned char given[KEPT_STRUCT];
} opencl_kernel;

static cutis_result driver_load(cutis_gpu *gpu, const void *binary, size_t size, const char *entry,
                                cutis_gpu_kernel *out)
{
    opencl *self = opencl_of(gpu);
    const unsigned char *bytes = binary;
    cl_int status = 0, error = 0;
    cl_program program = self->cl.CreateProgramWithBinary(self->context, 1, &self->device, &size,
                                                          &bytes, &status, &error);
    if (!program || status) {
        if (program) self->cl.ReleaseProgram(program);
        return fail(gpu, error ? error : status, "load a program");
    }
    error = self->cl.BuildProgram(program, 1, &self->device, self->options, NULL, NULL);
    cl_kernel kernel = error ? NULL : self->cl.CreateKernel(program, entry, &error);
    if (!kernel) {
        cutis_result result = build_failed(self, program, error);
        self->cl.ReleaseProgram(program);
        return result;
    }
    opencl_kernel *kept = cutis_alloc_zero(gpu->base.context, 1, sizeof *kept);
    if (!kept) {
        self->cl.ReleaseKernel(kernel);
        self->cl.ReleaseProgram(program);
        return cutis_alloc_result(gpu->base.context);
    }
    kept->kernel = kernel;
    *out = (cutis_gpu_kernel){ program, kept };
    return CUTIS_OK;
}

static void driver_unload(cutis_gpu *gpu, cutis_gpu_kernel *kernel)
{
    opencl *self = opencl_of(gpu);
    opencl_kernel *kept = kernel->function;
    if (kept) self->cl.ReleaseKernel(kept->kernel);
    cutis_free(gpu->base.context, kept, sizeof *kept);
    if (kernel->program) self->cl.ReleaseProgram(kernel->program);
}

static cl_int set_argument(opencl *self, opencl_kernel *kept, uint32_t i, size_t size,
                           const void *data)
{
    const bool large = size > KEPT_VALUE;
    unsigned char *kept_value = large ? kept->given : kept->values[i];
    const bool keeps = data && size <= (large ? KEPT_STRUCT : KEPT_VALUE);
    if (large && kept->large != i) kept->sizes[kept->large] = 0, kept->large = i;
    if (keeps && kept->sizes[i] == size && memcmp(kept_value, data, size) == 0) return 0;
    cl_int error = self->cl.SetKernelArg(kept->kernel, i, size, data);
    kept->sizes[i] = keeps && !error ? size : 0;
    if (keeps) memcpy(kept_value, data, size);
    return error;
}

static cutis_result driver_launch(cutis_gpu *gpu, const cutis_gpu_kernel *kernel,
                                  const cutis_gpu_launch *launch)
{
    opencl *self = opencl_of(gpu);
    opencl_kernel *kept = kernel->function;
    size_t local = launch->group_size, global = (size_t)launch->group_count * local;
    uint32_t count = launch->argument_count;
    cl_int error = 0;
    if (kept->releases != gpu->releases) memset(kept->sizes, 0, sizeof kept->sizes);
    kept->releases = gpu->releases;
    for (uint32_t i = 0; i < count && !error; i++)
        error = set_argument(self, kept, i, launch->arguments[i].size, launch->arguments[i].data);
    if (!error && launch->local_bytes && kept->sizes[count] != launch->local_bytes) {
        error = self->cl.SetKernelArg(kept->kernel, count, launch->local_bytes, NULL);
        kept->sizes[count] = error ? 0 : launch->local_bytes;
    }
    if (!error)
        error = self->cl.EnqueueNDRangeKernel(self->queue, kept->kernel, 1, NULL, &global, &local,
                                              0, NULL, NULL);
    return error ? fail(gpu, error, "launch") : CUTIS_OK;
}

/// Hand over what was queued, so that the device begins.
static cutis_result driver_submit(cutis_gpu *gpu)
{
    cl_int error = opencl_of(gpu)->cl.Flush(opencl_of(gpu)->queue);
    return error ? fail(gpu, error, "submit") : CUTIS_OK;
}

static void driver_forget(cutis_gpu *gpu, void *event)
{
    if (event) opencl_of(gpu)->cl.ReleaseEvent(event);
}

static cutis_result driver_mark(cutis_gpu *gpu, void **event)
{
    opencl *self = opencl_of(gpu);
    cl_event made = NULL;
    cl_int error = self->cl.EnqueueMarkerWithWaitList(self->queue, 0, NULL, &made);
    if (error) return fail(gpu, error, "mark");
    driver_forget(gpu, *event);
    *event = made;
    return CUTIS_OK;
}

static cutis_result driver_wait(cutis_gpu *gpu, void *event)
{
    cl_event waited = event;
    cl_int error = opencl_of(gpu)->cl.WaitForEvents(1, &waited);
    return error ? fail(gpu, error, "wait") : CUTIS_OK;
}

static cutis_result driver_finish(cutis_gpu *gpu)
{
    cl_int error = opencl_of(gpu)->cl.Finish(opencl_of(gpu)->queue);
    return error ? fail(gpu, error, "finish") : CUTIS_OK;
}

static void driver_native(const cutis_gpu *gpu, uint64_t *context, uint64_t *queue)
{
    *context = (uint64_t)(uintptr_t)opencl_of(gpu)->context;
    *queue = (uint64_t)(uintptr_t)opencl_of(gpu)->queue;
}

static const cutis_gpu_driver DRIVER = { .name = "opencl",
                                         .submit = driver_submit,
                                         CUTIS_GPU_DRIVER_CALLS };

static const char *const NO_LIBRARY = "libOpenCL.so.1 is not there (install an OpenCL ICD loader)";

/// Context, queue and what the runtime wants to know of the device.
static cutis_result open_device(opencl *self, const found_device *found)
{
    cutis_gpu *gpu = &self->gpu;
    cl_uint vendor = 0;
    cl_ulong local = 0, precision = 0;
    size_t group = 0;
    cl_int error = 0;
    self->device = found->device;
    self->context = self->cl.CreateContext(NULL, 1, &self->device, NULL, NULL, &error);
    if (self->context)
        self->queue = self->cl.CreateCommandQueue(self->context, self->device, 0, &error);
    if (!self->queue)
        return cutis_fail(gpu->base.context, CUTIS_DEVICE_UNAVAILABLE, "opencl: %s: %s (%d)",
                          gpu->info.name, error_name(error), (int)error);
    self->cl.GetDeviceInfo(self->device, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor, NULL);
    self->cl.GetDeviceInfo(self->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    self->cl.GetDeviceInfo(self->device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    gpu->local_bytes_max = local > 48 * 1024 ? 48 * 1024 : (uint32_t)local;
    self->nvidia = vendor == CL_VENDOR_NVIDIA;
    // Teams with barriers take PoCL minutes to compile, and NVIDIA's driver loses the device in
    // them, where its CUDA does not (docs/design/patches.md).
    gpu->alone = true;
    gpu->plain_teams = self->nvidia;
    gpu->staged = self->nvidia;
    gpu->compiles_in_parallel = self->nvidia; // PoCL takes turns
    gpu->warps = group >= 256 ? 8 : group >= 128 ? 4 : group >= 64 ? 2 : 1;
    gpu->registers = 64; // NVIDIA: 32 warps on a multiprocessor; measured, bench/README.md
    gpu->registers_pairs = 80;
    gpu->registers_posed = 96; // 20 warps
    gpu->registers_morphed = 128;
    // NVIDIA's compiler makes a division of floats from one of doubles that is rounded to float:
    // both are then as exact as the device can.
    self->cl.GetDeviceInfo(self->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof precision, &precision,
                           NULL);
    snprintf(self->options, sizeof self->options, "-cl-std=CL1.2%s",
             precision & CL_FP_CORRECT_DIVIDE ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
    snprintf(gpu->identity, sizeof gpu->identity, "%s|%s|%s", gpu->info.name, gpu->info.detail,
             self->options);
    return CUTIS_OK;
}

cutis_result cutis_opencl_device_create(cutis_context *context, const cutis_device_options *options,
                                        cutis_device **out)
{
    found_device found[DEVICE_LIMIT];
    const char *why = NO_LIBRARY;
    const uint32_t index = options->index;
    opencl *self = cutis_alloc_zero(context, 1, sizeof *self);
    if (!self) return cutis_alloc_result(context);
    uint32_t count =
        open_library(&self->cl) ? find_devices(&self->cl, DEVICE_LIMIT, found, &why) : 0;
    if (index >= count) {
        cutis_free(context, self, sizeof *self);
        return cutis_gpu_absent(context, &DRIVER, index, count, why);
    }
    self->gpu.info = device_info(&self->cl, &found[index], index);
    cutis_result result = cutis_gpu_init(&self->gpu, context, &DRIVER, options);
    if (result == CUTIS_OK) result = open_device(self, &found[index]);
    if (result != CUTIS_OK) {
        driver_destroy(&self->gpu);
        return result;
    }
    *out = &self->gpu.base;
    return CUTIS_OK;
}

void cutis_opencl_device_list(cutis_context *context, uint32_t capacity, cutis_device_info *infos,
                              uint32_t *count)
{
    cl_functions cl = { 0 };
    found_device found[DEVICE_LIMIT];
    const char *why = NO_LIBRARY;
    (void)context;
    uint32_t found_count = open_library(&cl) ? find_devices(&cl, DEVICE_LIMIT, found, &why) : 0;
    for (uint32_t i = 0; i < found_count; i++, ++*count)
        if (*count < capacity) infos[*count] = device_info(&cl, &found[i], i);
    if (!found_count) cutis_gpu_list_none(CUTIS_DEVICE_OPENCL, why, capacity, infos, count);
}
