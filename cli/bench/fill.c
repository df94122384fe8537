/// Fills through the device's native handles; the drivers are opened at run time, as the library
/// itself does.

#include <dlfcn.h>
#include <string.h>

#include "bench/bench.h"

#define FILLS 8 // in one submission, so that launching is not what is measured

typedef struct fill_work {
    void *context, *queue;
    uint64_t buffer, size;
    int (*set_current)(void *);
    int (*memset_async)(uint64_t, unsigned, size_t, void *);
    int (*synchronize)(void *);
    int (*fill)(void *, void *, const void *, size_t, size_t, size_t, unsigned, const void *,
                void *);
    int (*finish)(void *);
} fill_work;

// POSIX hands out functions as object pointers; copying the bits is the way C allows.
static bool load(void *library, const char *name, void *function)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static cutis_result fill_cuda(void *data)
{
    fill_work *w = data;
    for (int i = 0; i < FILLS; i++)
        if (w->memset_async(w->buffer, 0, w->size / 4, w->queue) != 0) return CUTIS_DEVICE_LOST;
    return w->synchronize(w->queue) == 0 ? CUTIS_OK : CUTIS_DEVICE_LOST;
}

static cutis_result fill_opencl(void *data)
{
    fill_work *w = data;
    const uint32_t zero = 0;
    void *memory;
    memcpy(&memory, &w->buffer, sizeof memory);
    for (int i = 0; i < FILLS; i++)
        if (w->fill(w->queue, memory, &zero, sizeof zero, 0, w->size, 0, NULL, NULL) != 0)
            return CUTIS_DEVICE_LOST;
    return w->finish(w->queue) == 0 ? CUTIS_OK : CUTIS_DEVICE_LOST;
}

cutis_result bench_fill_time(cutis_device *device, cutis_buffer *buffer, uint64_t size,
                             double budget, double *seconds)
{
    fill_work w = { .buffer = cutis_buffer_handle(buffer), .size = size };
    uint64_t context, queue;
    cutis_device_native(device, &context, &queue);
    memcpy(&w.context, &context, sizeof w.context);
    memcpy(&w.queue, &queue, sizeof w.queue);
    const cutis_device_kind kind = cutis_device_describe(device).kind;
    cutis_result result = CUTIS_UNSUPPORTED;
    void *library = NULL;
    if (kind == CUTIS_DEVICE_CUDA) {
        library = dlopen("libcuda.so.1", RTLD_NOW);
        if (load(library, "cuCtxSetCurrent", &w.set_current) &&
            load(library, "cuMemsetD32Async", &w.memset_async) &&
            load(library, "cuStreamSynchronize", &w.synchronize) && w.set_current(w.context) == 0)
            result = bench_best(fill_cuda, &w, budget, seconds);
    } else if (kind == CUTIS_DEVICE_OPENCL) {
        library = dlopen("libOpenCL.so.1", RTLD_NOW);
        if (load(library, "clEnqueueFillBuffer", &w.fill) && load(library, "clFinish", &w.finish))
            result = bench_best(fill_opencl, &w, budget, seconds);
    }
    if (library) dlclose(library);
    *seconds /= FILLS;
    return result;
}
