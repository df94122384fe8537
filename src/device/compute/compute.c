// Runs item kernels: checks the call, then the device's own way. The CPU's way is here, because it
// needs nothing but the device's threads.
#include "device/compute.h"

#include "base/error.h"

typedef struct item_work {
    const cutis_compute_kernel *kernel;
    const cutis_compute_argument *arguments;
    uint32_t item_count, task_items;
} item_work;

static void run_items(void *data, uint32_t index)
{
    const item_work *work = data;
    uint64_t first = (uint64_t)index * work->task_items, end = first + work->task_items;
    if (end > work->item_count) end = work->item_count;
    work->kernel->run(work->arguments, (int)first, (int)end);
}

static cutis_result check_arguments(cutis_device *device, const cutis_compute_kernel *kernel,
                                    uint32_t item_count, const cutis_compute_argument *arguments)
{
    if (item_count > INT32_MAX || kernel->argument_count > CUTIS_COMPUTE_ARGUMENTS)
        return cutis_fail(device->context, CUTIS_INTERNAL, "%s: %u items, %u arguments",
                          kernel->entry, item_count, kernel->argument_count);
    for (uint32_t i = 0; i < kernel->argument_count; i++)
        if (arguments[i].kind == CUTIS_COMPUTE_BUFFER && arguments[i].buffer &&
            arguments[i].buffer->device != device)
            return cutis_fail(device->context, CUTIS_INVALID_ARGUMENT,
                              "%s: argument %u is a buffer of another device", kernel->entry, i);
    return CUTIS_OK;
}

cutis_result cutis_compute_run(cutis_device *device, const cutis_compute_kernel *kernel,
                               uint32_t item_count, const cutis_compute_argument *arguments)
{
    cutis_result result = check_arguments(device, kernel, item_count, arguments);
    if (result != CUTIS_OK || item_count == 0) return result;
    if (device->operations->compute_run)
        return device->operations->compute_run(device, kernel, item_count, arguments);
    item_work work = { kernel, arguments, item_count,
                       kernel->task_items ? kernel->task_items : 256 };
    uint32_t tasks = (item_count - 1) / work.task_items + 1;
    if (tasks == 1)
        run_items(&work, 0);
    else
        device->operations->run_tasks(device, run_items, &work, tasks);
    return CUTIS_OK;
}
