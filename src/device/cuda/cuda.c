/// The CUDA device: driver API and NVRTC, both opened at run time and never closed (drivers do not
/// survive being unloaded). It uses the device's primary context, so that pointers from the CUDA
/// runtime API can be wrapped. Invariant: one stream; the context is current only inside a call.
#include <device/cuda/cuda.h>

#include <base/error.h>
#include <base/memory.h>
#include <device/gpu/gpu.h>
#include <stdio.h>

typedef struct cuda {
    cutis_gpu gpu;
    cu_functions cu;
    nvrtc_functions nvrtc;
    cu_device device;
    cu_context context;
    cu_stream stream;
    int capability; ///< 90 for 9.0
} cuda;

static cuda *cuda_of(const cutis_gpu *gpu)
{
    return (cuda *)(uintptr_t)gpu;
}

enum { ERROR_OUT_OF_MEMORY = 2, ERROR_NO_DEVICE = 100, ERROR_NOT_SUPPORTED = 801 };

static cutis_result result_of(cu_result error)
{
    switch (error) {
    case ERROR_OUT_OF_MEMORY:
        return CUTIS_DEVICE_OUT_OF_MEMORY;
    case 4:   // the driver is shutting down
    case 46:  // device unavailable
    case 101: // no such device any more
    case 201: // invalid context
    case 214: // uncorrectable memory error
    case 700: // illegal address
    case 702: // launch timeout
    case 709: // context destroyed
    case 710: // assertion
    case 714:
    case 715:
    case 716:
    case 717:
    case 718: // hardware stack, instruction, address errors
    case 719: // launch failed
    case 999:
        return CUTIS_DEVICE_LOST;
    default:
        return CUTIS_INTERNAL;
    }
}

static cutis_result fail(cuda *self, cu_result error, const char *what)
{
    const char *name = NULL, *text = NULL;
    char why[256];
    self->cu.GetErrorName(error, &name);
    self->cu.GetErrorString(error, &text);
    snprintf(why, sizeof why, "%s, %s (%d)", name ? name : "CUDA error", text ? text : "?", error);
    return cutis_gpu_fail(&self->gpu, result_of(error), what, why);
}

static bool open_driver(cu_functions *cu)
{
    static const char *const names[] = { "libcuda.so.1", "libcuda.so", "nvcuda.dll" };
    for (size_t i = 0; i < sizeof names / sizeof *names && !cu->library; i++)
        cu->library = cutis_os_library_open(names[i]);
    if (!cu->library) return false;
#define CU_LOAD(name, symbol, parameters)                                                          \
    if (!(*(void **)&cu->name = cutis_os_library_symbol(cu->library, symbol))) return false;
    CU_FUNCTIONS(CU_LOAD)
#undef CU_LOAD
    return true;
}

static bool open_compiler(nvrtc_functions *nvrtc)
{
    static const char *const names[] = {
        "libnvrtc.so.13",
        "libnvrtc.so.12",
        "libnvrtc.so",
        "/usr/local/cuda/lib64/libnvrtc.so.13",
        "/usr/local/cuda/lib64/libnvrtc.so.12",
        "/usr/local/cuda/lib64/libnvrtc.so",
        "nvrtc64_130_0.dll",
        "nvrtc64_120_0.dll",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names && !nvrtc->library; i++)
        nvrtc->library = cutis_os_library_open(names[i]);
    if (!nvrtc->library) return false;
#define NVRTC_LOAD(name, symbol, parameters)                                                       \
    if (!(*(void **)&nvrtc->name = cutis_os_library_symbol(nvrtc->library, symbol))) return false;
    NVRTC_FUNCTIONS(NVRTC_LOAD)
#undef NVRTC_LOAD
    return true;
}

/// How many devices there are; 0 with `why` set when there is none that can be used.
static int find_devices(cu_functions *cu, nvrtc_functions *nvrtc, const char **why)
{
    int count = 0;
    *why = "libcuda.so.1 is not there (install the NVIDIA driver)";
    if (!open_driver(cu)) return 0;
    *why = "libnvrtc is not there (install NVRTC, part of the CUDA toolkit)";
    if (!open_compiler(nvrtc)) return 0;
    *why = "the driver finds no CUDA device";
    if (cu->Init(0) != 0 || cu->DeviceGetCount(&count) != 0) return 0;
    return count;
}

static cutis_device_info device_info(const cu_functions *cu, const nvrtc_functions *nvrtc,
                                     int index)
{
    cutis_device_info info = { .kind = CUTIS_DEVICE_CUDA, .index = (uint32_t)index };
    cu_device device = 0;
    size_t memory = 0;
    int units = 0, driver = 0, major = 0, minor = 0, compiler_major = 0, compiler_minor = 0;
    if (cu->DeviceGet(&device, index) != 0) {
        snprintf(info.detail, sizeof info.detail, "the driver does not open device %d", index);
        return info;
    }
    info.available = true;
    cu->DeviceGetName(info.name, sizeof info.name, device);
    cu->DeviceTotalMem(&memory, device);
    cu->DeviceGetAttribute(&units, CU_MULTIPROCESSOR_COUNT, device);
    cu->DeviceGetAttribute(&major, CU_CAPABILITY_MAJOR, device);
    cu->DeviceGetAttribute(&minor, CU_CAPABILITY_MINOR, device);
    cu->DriverGetVersion(&driver);
    nvrtc->Version(&compiler_major, &compiler_minor);
    snprintf(info.detail, sizeof info.detail, "CUDA driver %d.%d, NVRTC %d.%d, capability %d.%d",
             driver / 1000, driver % 1000 / 10, compiler_major, compiler_minor, major, minor);
    info.memory_bytes = memory;
    info.thread_count = (uint32_t)units;
    return info;
}

/// Run a driver call with our context current.
#define WITH_CONTEXT(self, error, call)                                                            \
    do {                                                                                           \
        cu_context previous_;                                                                      \
        (error) = (self)->cu.Push((self)->context);                                                \
        if (!(error)) {                                                                            \
            (error) = (call);                                                                      \
            (self)->cu.Pop(&previous_);                                                            \
        }                                                                                          \
    } while (0)

/// Run one and leave the function if it fails.
#define TRY_CALL(self, what, call)                                                                 \
    do {                                                                                           \
        cu_result error_;                                                                          \
        WITH_CONTEXT(self, error_, call);                                                          \
        if (error_) return fail(self, error_, what);                                               \
    } while (0)

/// The same for giving back: tried even where the context cannot be made current, for what is not
/// tried is surely not given back.
#define GIVE_BACK(self, call)                                                                      \
    do {                                                                                           \
        cu_context previous_;                                                                      \
        const bool current_ = (self)->cu.Push((self)->context) == 0;                               \
        (void)(call);                                                                              \
        if (current_) (self)->cu.Pop(&previous_);                                                  \
    } while (0)

static void driver_destroy(cutis_gpu *gpu)
{
    cuda *self = cuda_of(gpu);
    cu_context previous;
    bool current = self->context && self->cu.Push(self->context) == 0;
    if (self->stream) self->cu.StreamSynchronize(self->stream);
    cutis_gpu_clear(gpu);
    if (self->stream) self->cu.StreamDestroy(self->stream);
    if (current) self->cu.Pop(&previous);
    if (self->context) self->cu.PrimaryRelease(self->device);
    cutis_free(gpu->base.context, self, sizeof *self);
}

static cutis_result driver_allocate(cutis_gpu *gpu, uint64_t size, uint64_t *handle)
{
    cuda *self = cuda_of(gpu);
    cu_pointer pointer = 0;
    TRY_CALL(self, "allocate", self->cu.MemAlloc(&pointer, (size_t)size));
    *handle = pointer;
    return CUTIS_OK;
}

static void driver_release(cutis_gpu *gpu, uint64_t handle)
{
    cuda *self = cuda_of(gpu);
    if (handle) GIVE_BACK(self, self->cu.MemFree(handle));
}

static cutis_result driver_pin(cutis_gpu *gpu, size_t size, cutis_gpu_pinned *out)
{
    cuda *self = cuda_of(gpu);
    void *data = NULL;
    TRY_CALL(self, "allocate pinned memory", self->cu.MemHostAlloc(&data, size, 0));
    *out = (cutis_gpu_pinned){ data, size, 0 };
    return CUTIS_OK;
}

static void driver_unpin(cutis_gpu *gpu, cutis_gpu_pinned *pinned)
{
    cuda *self = cuda_of(gpu);
    if (pinned->data) GIVE_BACK(self, self->cu.MemFreeHost(pinned->data));
    *pinned = (cutis_gpu_pinned){ 0 };
}

static cutis_result driver_finish(cutis_gpu *gpu)
{
    cuda *self = cuda_of(gpu);
    TRY_CALL(self, "finish", self->cu.StreamSynchronize(self->stream));
    return CUTIS_OK;
}

static cutis_result driver_write(cutis_gpu *gpu, uint64_t handle, uint64_t offset, const void *data,
                                 uint64_t size, bool wait)
{
    cuda *self = cuda_of(gpu);
    TRY_CALL(self, "write to the device",
             self->cu.CopyToDevice(handle + offset, data, (size_t)size, self->stream));
    return wait ? driver_finish(gpu) : CUTIS_OK;
}

static cutis_result driver_read(cutis_gpu *gpu, uint64_t handle, uint64_t offset, void *data,
                                uint64_t size, bool wait)
{
    cuda *self = cuda_of(gpu);
    TRY_CALL(self, "read from the device",
             self->cu.CopyToHost(data, handle + offset, (size_t)size, self->stream));
    return wait ? driver_finish(gpu) : CUTIS_OK;
}

static cutis_result build_failed(cuda *self, nvrtc_program program, cu_result error)
{
    char log[1500] = "";
    size_t length = 0;
    if (program) self->nvrtc.LogSize(program, &length);
    char *whole = length ? cutis_alloc(self->gpu.base.context, length) : NULL;
    if (whole) {
        if (self->nvrtc.Log(program, whole) == 0) {
            whole[length - 1] = 0;
            snprintf(log, sizeof log, "%.*s", (int)sizeof log - 1, whole);
        }
        cutis_free(self->gpu.base.context, whole, length);
    }
    for (char *c = log; *c; c++)
        if (*c == '\n') *c = ' ';
    return cutis_fail(self->gpu.base.context, CUTIS_DEVICE_BUILD_FAILED,
                      "cuda: build: NVRTC error %d: %s", error, log);
}

/// The program's machine code, or its PTX (with its final zero) where `assembly`.
static cutis_result take_binary(cuda *self, nvrtc_program program, bool assembly, void **binary,
                                size_t *size)
{
    cutis_context *context = self->gpu.base.context;
    cu_result error =
        assembly ? self->nvrtc.AssemblySize(program, size) : self->nvrtc.BinarySize(program, size);
    if (error || *size == 0) return build_failed(self, program, error);
    *binary = cutis_alloc(context, *size);
    if (!*binary) return cutis_alloc_result(context);
    error =
        assembly ? self->nvrtc.Assembly(program, *binary) : self->nvrtc.Binary(program, *binary);
    if (error == 0) return CUTIS_OK;
    cutis_free(context, *binary, *size);
    return build_failed(self, program, error);
}

static cutis_result driver_compile(cutis_gpu *gpu, const char *text, uint32_t registers_max,
                                   void **binary, size_t *size)
{
    cuda *self = cuda_of(gpu);
    char target[64], registers[64];
    const char *options[] = { "--fmad=false",     "--ftz=false", "--prec-div=true",
                              "--prec-sqrt=true", registers,     target };
    nvrtc_program program = NULL;
    snprintf(target, sizeof target, "--gpu-architecture=sm_%d", self->capability);
    snprintf(registers, sizeof registers, "--maxrregcount=%u", registers_max ? registers_max : 255);
    cu_result error = self->nvrtc.Create(&program, text, "cutis.cu", 0, NULL, NULL);
    if (error) return build_failed(self, NULL, error);
    int option_count = (int)(sizeof options / sizeof *options);
    error = self->nvrtc.Compile(program, option_count, options);
    bool assembly = false;
    if (error ==
        5) { // the compiler is older than the chip: PTX for the oldest, which the driver translates
        assembly = true;
        error = self->nvrtc.Compile(program, option_count - 1, options);
    }
    cutis_result result = error ? build_failed(self, program, error)
                                : take_binary(self, program, assembly, binary, size);
    self->nvrtc.Destroy(&program);
    return result;
}

static cutis_result driver_load(cutis_gpu *gpu, const void *binary, size_t size, const char *entry,
                                cutis_gpu_kernel *out)
{
    cuda *self = cuda_of(gpu);
    cu_module module = NULL;
    cu_function function = NULL;
    cu_result error;
    (void)size;
    TRY_CALL(self, "load a program", self->cu.ModuleLoad(&module, binary));
    WITH_CONTEXT(self, error, self->cu.ModuleGetFunction(&function, module, entry));
    if (!error)
        WITH_CONTEXT(self, error,
                     self->cu.FunctionSetAttribute(function, CU_FUNCTION_DYNAMIC_SHARED_BYTES,
                                                   (int)gpu->local_bytes_max));
    if (error) {
        GIVE_BACK(self, self->cu.ModuleUnload(module));
        return fail(self, error, "find a kernel");
    }
    *out = (cutis_gpu_kernel){ module, function };
    return CUTIS_OK;
}

static void driver_unload(cutis_gpu *gpu, cutis_gpu_kernel *kernel)
{
    cuda *self = cuda_of(gpu);
    if (kernel->program) GIVE_BACK(self, self->cu.ModuleUnload(kernel->program));
}

static cutis_result driver_launch(cutis_gpu *gpu, const cutis_gpu_kernel *kernel,
                                  const cutis_gpu_launch *launch)
{
    cuda *self = cuda_of(gpu);
    void *parameters[CUTIS_GPU_ARGUMENTS];
    for (uint32_t i = 0; i < launch->argument_count; i++)
        parameters[i] = (void *)(uintptr_t)launch->arguments[i].data;
    TRY_CALL(self, "launch",
             self->cu.Launch(kernel->function, (unsigned)launch->group_count, 1, 1,
                             launch->group_size, 1, 1, launch->local_bytes, self->stream,
                             parameters, NULL));
    return CUTIS_OK;
}

static cutis_result driver_mark(cutis_gpu *gpu, void **event)
{
    cuda *self = cuda_of(gpu);
    cu_event made = *event;
    if (!made) TRY_CALL(self, "mark", self->cu.EventCreate(&made, CU_EVENT_DISABLE_TIMING));
    *event = made;
    TRY_CALL(self, "mark", self->cu.EventRecord(made, self->stream));
    return CUTIS_OK;
}

static cutis_result driver_wait(cutis_gpu *gpu, void *event)
{
    cuda *self = cuda_of(gpu);
    TRY_CALL(self, "wait", self->cu.EventSynchronize(event));
    return CUTIS_OK;
}

static void driver_forget(cutis_gpu *gpu, void *event)
{
    cuda *self = cuda_of(gpu);
    if (event) GIVE_BACK(self, self->cu.EventDestroy(event));
}

static void driver_native(const cutis_gpu *gpu, uint64_t *context, uint64_t *queue)
{
    *context = (uint64_t)(uintptr_t)cuda_of(gpu)->context;
    *queue = (uint64_t)(uintptr_t)cuda_of(gpu)->stream;
}

static const cutis_gpu_driver DRIVER = { .name = "cuda", CUTIS_GPU_DRIVER_CALLS };

static cutis_result open_device(cuda *self, int index)
{
    cutis_gpu *gpu = &self->gpu;
    int major = 0, minor = 0, shared = 0;
    cu_result error = self->cu.DeviceGet(&self->device, index);
    if (!error) error = self->cu.PrimaryRetain(&self->context, self->device);
    if (!error)
        WITH_CONTEXT(self, error, self->cu.StreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
    if (error) {
        fail(self, error, "open the device");
        return CUTIS_DEVICE_UNAVAILABLE;
    }
    self->cu.DeviceGetAttribute(&major, CU_CAPABILITY_MAJOR, self->device);
    self->cu.DeviceGetAttribute(&minor, CU_CAPABILITY_MINOR, self->device);
    self->cu.DeviceGetAttribute(&shared, CU_SHARED_BYTES_OPTIN, self->device);
    self->capability = 10 * major + minor;
    gpu->local_bytes_max = shared > 48 * 1024 ? 64 * 1024 : 48 * 1024;
    if (shared > 0 && (int)gpu->local_bytes_max > shared) gpu->local_bytes_max = (uint32_t)shared;
    gpu->staged = true;
    gpu->warps = 8;
    gpu->warp_teams = true;
    gpu->compiles_in_parallel = true;
    gpu->registers = 64;         // 32 warps on a multiprocessor: measured, bench/README.md
    gpu->registers_pairs = 80;   // 24 warps
    gpu->registers_centred = 96; // 20 warps in groups of 4
    gpu->warps_centred = 4;
    gpu->turned_pairs = true;  // not with OpenCL's compiler: it keeps fewer lists in registers
    gpu->registers_posed = 96; // 20 warps
    gpu->registers_morphed = 128;
    snprintf(gpu->identity, sizeof gpu->identity, "%s|%s", gpu->info.name, gpu->info.detail);
    return CUTIS_OK;
}

cutis_result cutis_cuda_device_create(cutis_context *context, const cutis_device_options *options,
                                      cutis_device **out)
{
    const char *why = "";
    const uint32_t index = options->index;
    cuda *self = cutis_alloc_zero(context, 1, sizeof *self);
    if (!self) return cutis_alloc_result(context);
    uint32_t count = (uint32_t)find_devices(&self->cu, &self->nvrtc, &why);
    if (index >= count) {
        cutis_free(context, self, sizeof *self);
        return cutis_gpu_absent(context, &DRIVER, index, count, why);
    }
    self->gpu.info = device_info(&self->cu, &self->nvrtc, (int)index);
    cutis_result result = cutis_gpu_init(&self->gpu, context, &DRIVER, options);
    if (result == CUTIS_OK) result = open_device(self, (int)index);
    if (result != CUTIS_OK) {
        driver_destroy(&self->gpu);
        return result;
    }
    *out = &self->gpu.base;
    return CUTIS_OK;
}

void cutis_cuda_device_list(cutis_context *context, uint32_t capacity, cutis_device_info *infos,
                            uint32_t *count)
{
    cu_functions cu = { 0 };
    nvrtc_functions nvrtc = { 0 };
    const char *why = "";
    (void)context;
    int found = find_devices(&cu, &nvrtc, &why);
    for (int i = 0; i < found; i++, ++*count)
        if (*count < capacity) infos[*count] = device_info(&cu, &nvrtc, i);
    if (found <= 0) cutis_gpu_list_none(CUTIS_DEVICE_CUDA, why, capacity, infos, count);
}
