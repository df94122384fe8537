// Staging memory of a GPU device: pinned memory of the host beside memory of the device.
#include <device/gpu/gpu.h>

#include <base/error.h>
#include <base/memory.h>

typedef struct gpu_staging {
    cutis_staging base;
    cutis_gpu_pinned pinned;
    void *event;  ///< behind what was sent last
    bool pending; ///< it may not be reached yet
} gpu_staging;

static cutis_gpu *gpu_of(const cutis_staging *staging)
{
    return (cutis_gpu *)staging->buffer->device;
}

cutis_result cutis_gpu_staging_create(cutis_device *device, uint64_t size, cutis_staging **out)
{
    cutis_gpu *gpu = (cutis_gpu *)device;
    cutis_buffer *buffer = NULL;
    if (size > SIZE_MAX)
        return cutis_fail(device->context, CUTIS_OUT_OF_MEMORY, "%s: %llu bytes of staging memory",
                          gpu->driver->name, (unsigned long long)size);
    TRY(cutis_buffer_create(device, size, &buffer));
    gpu_staging *staging = cutis_alloc_zero(device->context, 1, sizeof *staging);
    cutis_result result = staging ? cutis_gpu_enter(gpu) : cutis_alloc_result(device->context);
    if (result == CUTIS_OK)
        result = cutis_gpu_leave(gpu, gpu->driver->pin(gpu, (size_t)size, &staging->pinned));
    if (result != CUTIS_OK) {
        cutis_buffer_destroy(buffer);
        cutis_free(device->context, staging, sizeof *staging);
        return result;
    }
    staging->base = (cutis_staging){ buffer, staging->pinned.data, size };
    *out = &staging->base;
    return CUTIS_OK;
}

void cutis_gpu_staging_destroy(cutis_staging *base)
{
    if (!base) return;
    gpu_staging *staging = (gpu_staging *)base;
    cutis_gpu *gpu = gpu_of(base);
    cutis_os_lock_take(gpu->lock);
    if (staging->pending) gpu->driver->wait(gpu, staging->event);
    gpu->driver->forget(gpu, staging->event);
    gpu->driver->unpin(gpu, &staging->pinned);
    cutis_os_lock_give(gpu->lock);
    cutis_buffer_destroy(base->buffer);
    cutis_free(gpu->base.context, staging, sizeof *staging);
}

cutis_result cutis_gpu_staging_read(cutis_staging *staging, uint64_t size)
{
    cutis_gpu *gpu = gpu_of(staging);
    TRY(cutis_gpu_enter(gpu));
    return cutis_gpu_leave(
        gpu, gpu->driver->read(gpu, staging->buffer->handle, 0, staging->host, size, true));
}

cutis_result cutis_gpu_staging_write(cutis_staging *staging, uint64_t size)
{
    cutis_gpu *gpu = gpu_of(staging);
    TRY(cutis_gpu_enter(gpu));
    return cutis_gpu_leave(
        gpu, gpu->driver->write(gpu, staging->buffer->handle, 0, staging->host, size, true));
}

static cutis_result send(cutis_gpu *gpu, gpu_staging *staging, uint64_t size)
{
    TRY(gpu->driver->write(gpu, staging->base.buffer->handle, 0, staging->base.host, size, false));
    TRY(gpu->driver->mark(gpu, &staging->event));
    staging->pending = true;
    return CUTIS_OK;
}

cutis_result cutis_gpu_staging_send(cutis_staging *staging, uint64_t size)
{
    cutis_gpu *gpu = gpu_of(staging);
    TRY(cutis_gpu_enter(gpu));
    return cutis_gpu_leave(gpu, send(gpu, (gpu_staging *)staging, size));
}

cutis_result cutis_gpu_staging_wait(cutis_staging *base)
{
    gpu_staging *staging = (gpu_staging *)base;
    cutis_gpu *gpu = gpu_of(base);
    if (!staging->pending) return CUTIS_OK;
    TRY(cutis_gpu_enter(gpu));
    cutis_result result = gpu->driver->wait(gpu, staging->event);
    staging->pending = false;
    return cutis_gpu_leave(gpu, result);
}
