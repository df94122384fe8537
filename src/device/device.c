/// The public face of devices: checks what every kind needs checked, then calls the kind's
/// operations.
///
/// Invariant: sizes and offsets that reach a device's operations lie within the buffer.
#include "device/device.h"

#include "base/error.h"
#include "base/os/os.h"

cutis_result cutis_device_create(cutis_context *context, const cutis_device_options *options,
                                 cutis_device **out)
{
    cutis_device_options o;
    if (out) *out = NULL;
    if (!context || !out) return CUTIS_INVALID_ARGUMENT;
    if (!cutis_options_copy(&o, sizeof o, sizeof o, options))
        return UNSUPPORTED(context, CUTIS_NEWER, "device");
    switch (o.kind) {
#define CREATE(id, name, number)                                                                   \
    case CUTIS_DEVICE_##id:                                                                        \
        return cutis_##name##_device_create(context, &o, out);
        CUTIS_DEVICES(CREATE)
    }
    return INVALID(context, "device: there is no kind %d", (int)o.kind);
}

void cutis_device_destroy(cutis_device *device)
{
    if (device) device->operations->destroy(device);
}

cutis_result cutis_device_list(cutis_context *context, uint32_t capacity, cutis_device_info *infos,
                               uint32_t *count_out)
{
    uint32_t count = 0;
    if (!context || !count_out || (capacity && !infos)) return CUTIS_INVALID_ARGUMENT;
#define LIST(id, name, number) cutis_##name##_device_list(context, capacity, infos, &count);
    CUTIS_DEVICES(LIST)
    *count_out = count;
    return CUTIS_OK;
}

cutis_device_info cutis_device_describe(const cutis_device *device)
{
    if (!device) return (cutis_device_info){ 0 };
    return device->operations->describe(device);
}

const char *cutis_device_kind_name(cutis_device_kind kind)
{
#define NAME(id, name, number) #name,
    static const char *const NAMES[] = { CUTIS_DEVICES(NAME) };
    return (unsigned)kind < sizeof NAMES / sizeof NAMES[0] ? NAMES[kind] : "unknown";
}

const char *cutis_isa_name(cutis_isa isa)
{
    static const char *const NAMES[] = { "auto", "scalar", "sse2", "neon",
                                         "avx2", "avx512", "wasm", "wasm_fast" };
    return (unsigned)isa < sizeof NAMES / sizeof NAMES[0] ? NAMES[isa] : "unknown";
}

cutis_result cutis_device_finish(cutis_device *device)
{
    if (!device) return CUTIS_INVALID_ARGUMENT;
    return device->operations->finish ? device->operations->finish(device) : CUTIS_OK;
}

void cutis_device_native(const cutis_device *device, uint64_t *context, uint64_t *queue)
{
    if (!device || !context || !queue) return;
    *context = *queue = 0;
    if (device->operations->native) device->operations->native(device, context, queue);
}

cutis_result cutis_device_open_threads(cutis_device *device, const cutis_device_options *options)
{
    device->task_threads = options->thread_count ? options->thread_count : cutis_os_core_count();
    device->run_tasks = options->run_tasks;
    device->run_tasks_user = options->run_tasks_user;
    if (device->run_tasks) return CUTIS_OK;
    return cutis_os_pool_create(device->context, device->task_threads, &device->pool);
}

void cutis_device_run(cutis_device *device, void (*task)(void *data, uint32_t index), void *data,
                      uint32_t count)
{
    if (!device || count < 2)
        for (uint32_t i = 0; i < count; i++) task(data, i);
    else if (device->run_tasks)
        device->run_tasks(device->run_tasks_user, task, data, count);
    else
        cutis_os_pool_run(device->pool, task, data, count);
}

// Buffers ---------------------------------------------------------------------------------------

cutis_result cutis_buffer_create(cutis_device *device, uint64_t size, cutis_buffer **out)
{
    if (out) *out = NULL;
    if (!device || !out) return CUTIS_INVALID_ARGUMENT;
    if (size == 0) return INVALID(device->context, "device: a buffer of 0 bytes");
    return device->operations->buffer_create(device, size, 0, out);
}

cutis_result cutis_buffer_wrap(cutis_device *device, uint64_t handle, uint64_t size,
                               cutis_buffer **out)
{
    if (out) *out = NULL;
    if (!device || !out) return CUTIS_INVALID_ARGUMENT;
    if (handle == 0 || size == 0)
        return INVALID(device->context, "device: wrapping a null handle or 0 bytes");
    return device->operations->buffer_create(device, size, handle, out);
}

void cutis_buffer_destroy(cutis_buffer *buffer)
{
    if (buffer) buffer->device->operations->buffer_destroy(buffer);
}

static cutis_result check_range(const cutis_buffer *buffer, uint64_t offset, const void *data,
                                uint64_t size)
{
    if (!buffer) return CUTIS_INVALID_ARGUMENT;
    if ((data || size == 0) && offset <= buffer->size && size <= buffer->size - offset)
        return CUTIS_OK;
    return INVALID(buffer->device->context,
                   "device: bytes %llu + %llu of a buffer of %llu, or no memory for them",
                   (unsigned long long)offset, (unsigned long long)size,
                   (unsigned long long)buffer->size);
}

cutis_result cutis_buffer_write(cutis_buffer *buffer, uint64_t offset, const void *data,
                                uint64_t size)
{
    TRY(check_range(buffer, offset, data, size));
    if (size == 0) return CUTIS_OK;
    return buffer->device->operations->buffer_write(buffer, offset, data, size);
}

cutis_result cutis_buffer_read(cutis_buffer *buffer, uint64_t offset, void *data, uint64_t size)
{
    TRY(check_range(buffer, offset, data, size));
    if (size == 0) return CUTIS_OK;
    return buffer->device->operations->buffer_read(buffer, offset, data, size);
}

uint64_t cutis_buffer_handle(const cutis_buffer *buffer)
{
    return buffer ? buffer->handle : 0;
}
