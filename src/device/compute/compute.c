// Runs item kernels: checks the call, then the device's own way. The CPU's way is here, because it
// needs nothing but the device's threads.
#include "device/compute.h"

#include "base/error.h"

enum { TASK_ITEMS = 256 };

static cutis_result check_call(cutis_device *device, const cutis_compute_kernel *kernel,
                               uint32_t item_count, const cutis_buffer *const *buffers)
{
    cutis_context *context = device->context;
    if (item_count > INT32_MAX || kernel->buffer_count > CUTIS_COMPUTE_BUFFERS ||
        kernel->argument_size > CUTIS_COMPUTE_ARGUMENT_BYTES)
        return cutis_fail(context, CUTIS_INTERNAL, "%s: %u items, %u buffers, %u bytes",
                          kernel->entry, item_count, kernel->buffer_count, kernel->argument_size);
    for (uint32_t i = 0; i < kernel->buffer_count; i++) {
        if (!buffers[i]) continue;
        if (buffers[i]->device != device)
            return INVALID(context, "%s: buffer %u belongs to another device", kernel->entry, i);
        for (uint32_t k = 0; kernel->writes[i] && k < kernel->buffer_count; k++)
            if (!kernel->writes[k] && buffers[k] && buffers[k]->handle == buffers[i]->handle)
                return cutis_fail(context, CUTIS_INTERNAL,
                                  "%s: buffer %u is written and read as %u", kernel->entry, i, k);
    }
    return CUTIS_OK;
}

typedef struct item_work {
    cutis_compute_function *run;
    void *buffers[CUTIS_COMPUTE_BUFFERS];
    const void *arguments;
    uint32_t item_count, task_items;
} item_work;

static void run_items(void *data, uint32_t index)
{
    const item_work *work = data;
    uint64_t first = (uint64_t)index * work->task_items, end = first + work->task_items;
    if (end > work->item_count) end = work->item_count;
    work->run(work->buffers, work->arguments, (int)first, (int)end);
}

static void run_on_cpu(cutis_device *device, const cutis_compute_kernel *kernel,
                       uint32_t item_count, const cutis_buffer *const *buffers,
                       const void *arguments)
{
    item_work work = { .arguments = arguments,
                       .item_count = item_count,
                       .task_items = kernel->task_items ? kernel->task_items : TASK_ITEMS };
    for (int width = (int)device->compute_width; !work.run && width >= 0; width--)
        work.run = kernel->run[width];
    for (uint32_t i = 0; i < kernel->buffer_count; i++)
        work.buffers[i] = buffers[i] ? (void *)(uintptr_t)buffers[i]->handle : NULL;
    const uint32_t tasks = (item_count - 1) / work.task_items + 1;
    cutis_device_run(tasks > kernel->alone_tasks ? device : NULL, run_items, &work, tasks);
}

cutis_result cutis_compute_run(cutis_device *device, const cutis_compute_kernel *kernel,
                               uint32_t item_count, const void *buffers, const void *arguments)
{
    const cutis_buffer *list[CUTIS_COMPUTE_BUFFERS];
    if (kernel->buffer_count <= CUTIS_COMPUTE_BUFFERS)
        memcpy(list, buffers, kernel->buffer_count * sizeof *list);
    TRY(check_call(device, kernel, item_count, list));
    if (item_count == 0) return CUTIS_OK;
    if (device->operations->compute_run)
        return device->operations->compute_run(device, kernel, item_count, list, arguments);
    run_on_cpu(device, kernel, item_count, list, arguments);
    return CUTIS_OK;
}

cutis_result cutis_compute_prepare(cutis_device *device, const cutis_compute_kernel *const *kernels,
                                   uint32_t count)
{
    if (!device->operations->compute_prepare) return CUTIS_OK;
    return device->operations->compute_prepare(device, kernels, count);
}
