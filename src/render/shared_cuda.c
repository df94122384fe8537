/// Memory that a CUDA device makes and OpenGL imports once: the few driver functions of CUDA's
/// virtual memory management.
///
/// Invariant: fields are set as each step succeeds, so destroying a half-made object undoes just
/// what was done.
#include "render/shared_cuda.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/os/os.h"

// The driver's structures and constants, as its interface fixes them.
enum { PINNED = 1, DEVICE = 1, DESCRIPTOR = 1, READ_WRITE = 3 };
typedef struct location {
    int type, id;
} location;
typedef struct allocation_properties {
    int type, handle_types;
    location where;
    void *unused;
    unsigned char flags[8];
} allocation_properties;
typedef struct access_description {
    location where;
    int flags;
} access_description;
typedef unsigned long long address_type;

struct cutis_cuda_shared {
    cutis_context *context;
    cutis_buffer *buffer;
    void *library, *cuda_context;
    address_type memory, address;
    size_t size;
    bool mapped;
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*current_device)(int *device);
    int (*granularity)(size_t *size, const allocation_properties *properties, int option);
    int (*create)(address_type *memory, size_t size, const allocation_properties *properties,
                  unsigned long long flags);
    int (*release)(address_type memory);
    int (*reserve)(address_type *address, size_t size, size_t alignment, address_type hint,
                   unsigned long long flags);
    int (*unreserve)(address_type address, size_t size);
    int (*map)(address_type address, size_t size, size_t offset, address_type memory,
               unsigned long long flags);
    int (*unmap)(address_type address, size_t size);
    int (*allow)(address_type address, size_t size, const access_description *access, size_t count);
    int (*export_handle)(void *handle, address_type memory, int type, unsigned long long flags);
};

static bool load(cutis_cuda_shared *shared)
{
    const struct {
        const char *name;
        void *function;
    } wanted[] = {
        { "cuCtxPushCurrent_v2", &shared->push },
        { "cuCtxPopCurrent_v2", &shared->pop },
        { "cuCtxGetDevice", &shared->current_device },
        { "cuMemGetAllocationGranularity", &shared->granularity },
        { "cuMemCreate", &shared->create },
        { "cuMemRelease", &shared->release },
        { "cuMemAddressReserve", &shared->reserve },
        { "cuMemAddressFree", &shared->unreserve },
        { "cuMemMap", &shared->map },
        { "cuMemUnmap", &shared->unmap },
        { "cuMemSetAccess", &shared->allow },
        { "cuMemExportToShareableHandle", &shared->export_handle },
    };
    shared->library = cutis_os_library_open("libcuda.so.1");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol =
            shared->library ? cutis_os_library_symbol(shared->library, wanted[i].name) : NULL;
        if (!symbol) return false;
        *(void **)wanted[i].function = symbol;
    }
    return true;
}

static cutis_result failed(const cutis_cuda_shared *shared, const char *what, int code)
{
    return cutis_fail(shared->context, CUTIS_UNSUPPORTED,
                      "CUDA cannot make memory for OpenGL here: %s gives error %d", what, code);
}

/// With the device's context current: physical memory, an address for it, the right to use it.
static int make_memory(cutis_cuda_shared *shared, uint64_t wanted)
{
    int device = 0, code = shared->current_device(&device);
    allocation_properties properties = { .type = PINNED,
                                         .handle_types = DESCRIPTOR,
                                         .where = { DEVICE, device } };
    access_description access = { .where = { DEVICE, device }, .flags = READ_WRITE };
    size_t unit = 0;
    if (code == 0) code = shared->granularity(&unit, &properties, 0);
    if (code != 0 || unit == 0) return code ? code : 1;
    shared->size = (size_t)((wanted + unit - 1) / unit * unit);
    code = shared->create(&shared->memory, shared->size, &properties, 0);
    if (code != 0) shared->memory = 0;
    if (code == 0) code = shared->reserve(&shared->address, shared->size, 0, 0, 0);
    if (code == 0) code = shared->map(shared->address, shared->size, 0, shared->memory, 0);
    shared->mapped = code == 0;
    if (code == 0) code = shared->allow(shared->address, shared->size, &access, 1);
    return code;
}

cutis_result cutis_cuda_shared_create(cutis_context *context, cutis_device *device, uint64_t size,
                                      cutis_cuda_shared **out)
{
    cutis_cuda_shared *shared = cutis_alloc_zero(context, 1, sizeof *shared);
    uint64_t native_context = 0, queue = 0;
    if (!shared) return cutis_alloc_result(context);
    shared->context = context;
    cutis_device_native(device, &native_context, &queue);
    shared->cuda_context = (void *)(uintptr_t)native_context;
    cutis_result result = CUTIS_OK;
    if (!load(shared)) {
        result = cutis_fail(context, CUTIS_UNSUPPORTED, "the CUDA driver exports no memory");
    } else {
        void *popped;
        int code = shared->push(shared->cuda_context);
        if (code == 0) {
            code = make_memory(shared, size);
            shared->pop(&popped);
        }
        if (code != 0) result = failed(shared, "cuMemCreate", code);
    }
    if (result == CUTIS_OK)
        result = cutis_buffer_wrap(device, shared->address, shared->size, &shared->buffer);
    if (result == CUTIS_OK)
        *out = shared;
    else
        cutis_cuda_shared_destroy(shared);
    return result;
}

void cutis_cuda_shared_destroy(cutis_cuda_shared *shared)
{
    void *popped;
    if (!shared) return;
    cutis_buffer_destroy(shared->buffer);
    if (shared->memory && shared->push(shared->cuda_context) == 0) {
        if (shared->mapped) shared->unmap(shared->address, shared->size);
        if (shared->address) shared->unreserve(shared->address, shared->size);
        shared->release(shared->memory);
        shared->pop(&popped);
    }
    cutis_os_library_close(shared->library);
    cutis_free(shared->context, shared, sizeof *shared);
}

cutis_buffer *cutis_cuda_shared_buffer(const cutis_cuda_shared *shared)
{
    return shared->buffer;
}

cutis_result cutis_cuda_shared_export(cutis_cuda_shared *shared, int *descriptor,
                                      uint64_t *whole_size)
{
    int code = shared->export_handle(descriptor, shared->memory, DESCRIPTOR, 0);
    *whole_size = shared->size;
    return code == 0 ? CUTIS_OK : failed(shared, "cuMemExportToShareableHandle", code);
}
