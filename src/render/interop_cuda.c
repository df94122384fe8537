/// Letting a CUDA device write into an OpenGL buffer: the few driver functions of CUDA's graphics
/// interoperability.
///
/// The mapped address may change from map to map, so the wrapping buffer is made again when it
/// does.
#include "render/interop_cuda.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/os/os.h"

typedef int (*register_function)(void **resource, unsigned buffer, unsigned flags);
typedef int (*resource_function)(void *resource);
typedef int (*map_function)(unsigned count, void **resources, void *stream);
typedef int (*pointer_function)(unsigned long long *address, size_t *size, void *resource);
typedef int (*push_function)(void *context);
typedef int (*pop_function)(void **context);

struct cutis_cuda_interop {
    cutis_context *context;
    cutis_device *device;
    void *library, *resource, *cuda_context, *stream;
    uint64_t size, address;
    cutis_buffer *buffer;
    map_function map, unmap;
    resource_function unregister;
    pointer_function pointer;
    push_function push;
    pop_function pop;
};

static bool find(cutis_cuda_interop *interop, const char *name, void *function)
{
    void *symbol = cutis_os_library_symbol(interop->library, name);
    *(void **)function = symbol;
    return symbol != NULL;
}

static bool load(cutis_cuda_interop *interop, register_function *enlist)
{
    interop->library = cutis_os_library_open("libcuda.so.1");
    return interop->library && find(interop, "cuGraphicsGLRegisterBuffer", enlist) &&
           find(interop, "cuGraphicsUnregisterResource", &interop->unregister) &&
           find(interop, "cuGraphicsMapResources", &interop->map) &&
           find(interop, "cuGraphicsUnmapResources", &interop->unmap) &&
           find(interop, "cuGraphicsResourceGetMappedPointer_v2", &interop->pointer) &&
           find(interop, "cuCtxPushCurrent_v2", &interop->push) &&
           find(interop, "cuCtxPopCurrent_v2", &interop->pop);
}

static cutis_result failed(cutis_cuda_interop *interop, const char *what, int code)
{
    return UNSUPPORTED(interop->context,
                       "CUDA and OpenGL do not share buffers here: %s gives error %d", what, code);
}

cutis_result cutis_cuda_interop_create(cutis_context *context, cutis_device *device,
                                       unsigned gl_buffer, uint64_t size, cutis_cuda_interop **out)
{
    enum { WRITE_DISCARD = 2 };
    cutis_cuda_interop *interop = cutis_alloc_zero(context, 1, sizeof *interop);
    if (!interop) return cutis_alloc_result(context);
    interop->context = context;
    interop->device = device;
    interop->size = size;
    uint64_t native_context = 0, native_queue = 0;
    cutis_device_native(device, &native_context, &native_queue);
    interop->cuda_context = (void *)(uintptr_t)native_context;
    interop->stream = (void *)(uintptr_t)native_queue;
    register_function enlist = NULL;
    cutis_result result = CUTIS_OK;
    if (!load(interop, &enlist)) {
        result = UNSUPPORTED(context, "the CUDA driver has no graphics interoperability");
    } else {
        void *popped;
        int code = interop->push(interop->cuda_context);
        if (code == 0) {
            code = enlist(&interop->resource, gl_buffer, WRITE_DISCARD);
            interop->pop(&popped);
        }
        if (code != 0) result = failed(interop, "cuGraphicsGLRegisterBuffer", code);
    }
    if (result == CUTIS_OK)
        *out = interop;
    else
        cutis_cuda_interop_destroy(interop);
    return result;
}

void cutis_cuda_interop_destroy(cutis_cuda_interop *interop)
{
    if (!interop) return;
    cutis_buffer_destroy(interop->buffer);
    if (interop->resource && interop->push(interop->cuda_context) == 0) {
        void *popped;
        interop->unregister(interop->resource);
        interop->pop(&popped);
    }
    cutis_os_library_close(interop->library);
    cutis_free(interop->context, interop, sizeof *interop);
}

cutis_result cutis_cuda_interop_map(cutis_cuda_interop *interop, cutis_buffer **buffer)
{
    unsigned long long address = 0;
    size_t size = 0;
    void *popped;
    int code = interop->push(interop->cuda_context);
    if (code != 0) return failed(interop, "cuCtxPushCurrent", code);
    code = interop->map(1, &interop->resource, interop->stream);
    if (code == 0) code = interop->pointer(&address, &size, interop->resource);
    interop->pop(&popped);
    if (code != 0 || size < interop->size) return failed(interop, "cuGraphicsMapResources", code);
    if (!interop->buffer || interop->address != address) {
        cutis_buffer_destroy(interop->buffer);
        interop->buffer = NULL;
        TRY(cutis_buffer_wrap(interop->device, address, interop->size, &interop->buffer));
        interop->address = address;
    }
    *buffer = interop->buffer;
    return CUTIS_OK;
}

cutis_result cutis_cuda_interop_unmap(cutis_cuda_interop *interop)
{
    void *popped;
    int code = interop->push(interop->cuda_context);
    if (code == 0) {
        code = interop->unmap(1, &interop->resource, interop->stream);
        interop->pop(&popped);
    }
    return code == 0 ? CUTIS_OK : failed(interop, "cuGraphicsUnmapResources", code);
}
