/// The CPU device: always there. Its own thread pool or the caller's, ordinary memory for buffers.
///
/// Invariant: a device is immutable after creation (but for tests), so any number of threads may
/// use it.
#include "device/cpu/cpu.h"
#include "device/compute.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/os/os.h"

#include <stdio.h>
#include <string.h>

static void cpu_destroy(cutis_device *base)
{
    cutis_cpu_device *device = (cutis_cpu_device *)base;
    if (!device) return;
    cutis_os_pool_destroy(base->pool);
    cutis_free(base->context, device, sizeof *device);
}

static void describe_machine(cutis_device_info *info)
{
    cutis_cpu_variant best;
    memset(info, 0, sizeof *info);
    info->kind = CUTIS_DEVICE_CPU;
    info->available = true;
    cutis_cpu_name(info->name);
    info->thread_count = cutis_os_core_count();
    info->isa = cutis_cpu_choose(CUTIS_ISA_AUTO, &best) ? best.isa : CUTIS_ISA_SCALAR;
}

static cutis_device_info cpu_describe(const cutis_device *base)
{
    const cutis_cpu_device *device = (const cutis_cpu_device *)base;
    cutis_device_info info;
    describe_machine(&info);
    info.isa = device->variant.isa;
    info.thread_count = base->task_threads;
    snprintf(info.detail, sizeof info.detail, "%s, %u thread%s%s", device->variant.name,
             base->task_threads, base->task_threads == 1 ? "" : "s",
             base->run_tasks ? " of the caller" : "");
    return info;
}

// Buffers: `handle` is the address --------------------------------------------------------------

typedef struct cpu_buffer {
    cutis_buffer base;
    void *memory; ///< ours, or NULL if it is the caller's
} cpu_buffer;

static cutis_result cpu_buffer_create(cutis_device *device, uint64_t size, uint64_t foreign_handle,
                                      cutis_buffer **out)
{
    cutis_context *context = device->context;
    if (size > SIZE_MAX)
        return cutis_fail(context, CUTIS_OUT_OF_MEMORY, "cpu: buffer: %llu bytes",
                          (unsigned long long)size);
    cpu_buffer *buffer = cutis_alloc_zero(context, 1, sizeof *buffer);
    if (!buffer) return cutis_alloc_result(context);
    buffer->base.device = device;
    buffer->base.size = size;
    buffer->base.handle = foreign_handle;
    if (!foreign_handle) {
        buffer->memory = cutis_alloc(context, (size_t)size);
        buffer->base.handle = (uint64_t)(uintptr_t)buffer->memory;
        if (!buffer->memory) {
            cutis_result result = cutis_alloc_result(context);
            cutis_free(context, buffer, sizeof *buffer);
            return result;
        }
    }
    *out = &buffer->base;
    return CUTIS_OK;
}

static void cpu_buffer_destroy(cutis_buffer *base)
{
    cpu_buffer *buffer = (cpu_buffer *)base;
    cutis_context *context = base->device->context;
    if (buffer->memory) cutis_free(context, buffer->memory, (size_t)base->size);
    cutis_free(context, buffer, sizeof *buffer);
}

static cutis_result cpu_buffer_write(cutis_buffer *buffer, uint64_t offset, const void *data,
                                     uint64_t size)
{
    memcpy((char *)(uintptr_t)buffer->handle + offset, data, (size_t)size);
    return CUTIS_OK;
}

static cutis_result cpu_buffer_read(cutis_buffer *buffer, uint64_t offset, void *data,
                                    uint64_t size)
{
    memcpy(data, (const char *)(uintptr_t)buffer->handle + offset, (size_t)size);
    return CUTIS_OK;
}

static cutis_compute_width width_of(cutis_isa isa)
{
    return isa == CUTIS_ISA_AVX512 ? CUTIS_COMPUTE_AVX512
           : isa == CUTIS_ISA_AVX2 ? CUTIS_COMPUTE_AVX2
                                   : CUTIS_COMPUTE_PLAIN;
}

static const cutis_device_operations CPU_OPERATIONS = {
    .destroy = cpu_destroy,
    .describe = cpu_describe,
    .buffer_create = cpu_buffer_create,
    .buffer_destroy = cpu_buffer_destroy,
    .buffer_write = cpu_buffer_write,
    .buffer_read = cpu_buffer_read,
    .block_size = CUTIS_CPU_BLOCK,
    .skin_create = cutis_cpu_skin_create,
    .skin_destroy = cutis_cpu_skin_destroy,
    .skin_run = cutis_cpu_skin_run,
    .skin_places = cutis_cpu_skin_places,
    .skin_run_placed = cutis_cpu_skin_run_placed,
};

cutis_result cutis_cpu_device_create(cutis_context *context, const cutis_device_options *options,
                                     cutis_device **out)
{
    cutis_cpu_variant variant;
    if (options->index != 0)
        return cutis_fail(context, CUTIS_DEVICE_UNAVAILABLE,
                          "cpu: device %u: there is only device 0", options->index);
    if (!cutis_cpu_choose(options->isa, &variant))
        return cutis_fail(
            context, CUTIS_DEVICE_UNAVAILABLE,
            "cpu: this machine or build has no %s; `cutis devices` lists what is there",
            cutis_isa_name(options->isa));
    cutis_cpu_device *device = cutis_alloc_zero(context, 1, sizeof *device);
    if (!device) return cutis_alloc_result(context);
    device->base.context = context;
    device->base.operations = &CPU_OPERATIONS;
    device->variant = variant;
    device->base.compute_width = width_of(variant.isa);
    device->cache_bytes = cutis_cpu_cache_bytes();
    cutis_result result = cutis_device_open_threads(&device->base, options);
    if (result == CUTIS_OK)
        *out = &device->base;
    else
        cpu_destroy(&device->base);
    return result;
}

const cutis_bone_work *cutis_device_bone_work(const cutis_device *device)
{
    static const cutis_bone_work
        *_Atomic best; // asking the processor takes long in a virtual machine
    if (device->operations == &CPU_OPERATIONS)
        return ((const cutis_cpu_device *)device)->variant.bones;
    const cutis_bone_work *work = best;
    if (!work) {
        cutis_cpu_variant variant;
        work = cutis_cpu_choose(CUTIS_ISA_AUTO, &variant) ? variant.bones : NULL;
        best = work;
    }
    return work;
}

void cutis_cpu_device_use(cutis_device *device, const cutis_cpu_variant *variant)
{
    ((cutis_cpu_device *)device)->variant = *variant;
    device->compute_width = width_of(variant->isa);
}

void cutis_cpu_device_list(cutis_context *context, uint32_t capacity, cutis_device_info *infos,
                           uint32_t *count)
{
    (void)context;
    if (*count < capacity) {
        cutis_cpu_variant all[8];
        cutis_device_info *info = &infos[*count];
        describe_machine(info);
        size_t used = 0;
        for (uint32_t i = 0, n = cutis_cpu_variants(all); i < n; i++)
            if (all[i].supported && used < sizeof info->detail - 1)
                used += (size_t)snprintf(info->detail + used, sizeof info->detail - used, "%s%s",
                                         used ? ", " : "", all[i].name);
    }
    ++*count;
}
