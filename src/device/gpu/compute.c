// Item kernels on a GPU: compiled once per device from the embedded texts, launched in order.
#include "device/compute.h"

#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "device/gpu/gpu.h"

enum { GROUP_SIZE = 128, DEFINES = 1024 };
_Static_assert(CUTIS_COMPUTE_BUFFERS + 1 <= CUTIS_GPU_ARGUMENTS, "drivers take as many");

static bool is_alone(const cutis_gpu *gpu, const cutis_compute_kernel *kernel)
{
    return kernel->lanes <= 1 || (gpu->alone && !(kernel->plain_team && gpu->plain_teams));
}

/// The kernel as this device runs it: alone in its text, of which the lanes of a team are part.
static cutis_result write_defines(const cutis_gpu *gpu, const cutis_compute_kernel *kernel,
                                  char defines[DEFINES])
{
    char lanes[48] = "";
    if (kernel->lanes > 1 && is_alone(gpu, kernel))
        snprintf(lanes, sizeof lanes, "#define TEAM_ALONE 1\n");
    else if (kernel->lanes > 1)
        snprintf(lanes, sizeof lanes, "#define TEAM_LANES %u\n", kernel->lanes);
    const int length =
        snprintf(defines, DEFINES, "#define ITEM_ONLY_%s ITEM_CHOSEN(%s)\n%s%s", kernel->entry,
                 kernel->entry, lanes, kernel->defines ? kernel->defines : "");
    if (length < 0 || length >= DEFINES)
        return cutis_fail(gpu->base.context, CUTIS_INTERNAL, "%s: defines are too long",
                          kernel->entry);
    return CUTIS_OK;
}

static cutis_result find_kernel(cutis_gpu *gpu, const cutis_compute_kernel *kernel,
                                cutis_gpu_kernel *out)
{
    char defines[DEFINES];
    TRY(write_defines(gpu, kernel, defines));
    return cutis_gpu_kernel_get(gpu, kernel->texts, defines, kernel->entry, kernel->registers, out);
}

static void shape_launch(const cutis_gpu *gpu, const cutis_compute_kernel *kernel,
                         uint32_t item_count, cutis_gpu_launch *launch)
{
    launch->group_size = kernel->group_size ? kernel->group_size : GROUP_SIZE;
    launch->group_count = (item_count - 1) / launch->group_size + 1;
    if (is_alone(gpu, kernel)) return;
    uint32_t teams = gpu->warp_teams ? kernel->group_size / kernel->lanes : 1;
    if (teams == 0) teams = 1;
    launch->group_size = teams * kernel->lanes;
    launch->group_count = (item_count - 1) / teams + 1;
}

static cutis_result launch_items(cutis_gpu *gpu, const cutis_compute_kernel *kernel,
                                 uint32_t item_count, const cutis_buffer *const *buffers,
                                 const void *arguments)
{
    cutis_gpu_argument values[CUTIS_COMPUTE_BUFFERS + 1];
    uint64_t handles[CUTIS_COMPUTE_BUFFERS];
    unsigned char given[CUTIS_COMPUTE_ARGUMENT_BYTES];
    const int32_t range[2] = { 0, (int32_t)item_count }; // ITEM_RANGE
    cutis_gpu_kernel compiled;
    cutis_gpu_launch launch = { .argument_count = kernel->buffer_count + 1, .arguments = values };
    TRY(find_kernel(gpu, kernel, &compiled));
    for (uint32_t i = 0; i < kernel->buffer_count; i++) {
        handles[i] = buffers[i] ? buffers[i]->handle : 0;
        values[i] = (cutis_gpu_argument){ &handles[i], sizeof handles[i] };
    }
    memcpy(given, arguments, kernel->argument_size);
    memcpy(given, range, sizeof range);
    values[kernel->buffer_count] = (cutis_gpu_argument){ given, kernel->argument_size };
    shape_launch(gpu, kernel, item_count, &launch);
    return gpu->driver->launch(gpu, &compiled, &launch);
}

cutis_result cutis_gpu_compute_run(cutis_device *device, const cutis_compute_kernel *kernel,
                                   uint32_t item_count, const cutis_buffer *const *buffers,
                                   const void *arguments)
{
    cutis_gpu *gpu = (cutis_gpu *)device;
    TRY(cutis_gpu_enter(gpu));
    return cutis_gpu_leave(gpu, launch_items(gpu, kernel, item_count, buffers, arguments));
}

// Whether all of them are loaded already: then nothing is allocated.
static bool are_loaded(cutis_gpu *gpu, const cutis_compute_kernel *const *kernels, uint32_t count)
{
    char defines[DEFINES];
    bool loaded = cutis_gpu_enter(gpu) == CUTIS_OK;
    if (!loaded) return false;
    for (uint32_t i = 0; loaded && i < count; i++)
        loaded = write_defines(gpu, kernels[i], defines) == CUTIS_OK &&
                 cutis_gpu_kernel_loaded(
                     gpu, &(cutis_gpu_variant){ .defines = defines, .entry = kernels[i]->entry });
    cutis_gpu_leave(gpu, CUTIS_OK);
    return loaded;
}

static cutis_result load_kernels(cutis_gpu *gpu, const cutis_compute_kernel *const *kernels,
                                 uint32_t count)
{
    cutis_gpu_kernel compiled;
    for (uint32_t i = 0; i < count; i++) TRY(find_kernel(gpu, kernels[i], &compiled));
    return CUTIS_OK;
}

cutis_result cutis_gpu_compute_prepare(cutis_device *device,
                                       const cutis_compute_kernel *const *kernels, uint32_t count)
{
    cutis_gpu *gpu = (cutis_gpu *)device;
    cutis_context *context = device->context;
    if (are_loaded(gpu, kernels, count)) return CUTIS_OK;
    const size_t size = count * (sizeof(cutis_gpu_variant) + DEFINES);
    cutis_gpu_variant *wanted = count > 1 ? cutis_alloc(context, size) : NULL;
    if (count > 1 && !wanted) return cutis_alloc_result(context);
    cutis_result result = CUTIS_OK;
    char *defines = wanted ? (char *)(wanted + count) : NULL;
    for (uint32_t i = 0; wanted && i < count && result == CUTIS_OK; i++) {
        wanted[i] =
            (cutis_gpu_variant){ kernels[i]->texts, defines + i * (size_t)DEFINES,
                                 kernels[i]->entry, kernels[i]->registers, kernels[i]->brief };
        result = write_defines(gpu, kernels[i], defines + i * (size_t)DEFINES);
    }
    if (wanted && result == CUTIS_OK) cutis_gpu_build_ahead(gpu, wanted, count);
    if (wanted) cutis_free(context, wanted, size);
    if (result == CUTIS_OK) result = cutis_gpu_enter(gpu);
    return result == CUTIS_OK ? cutis_gpu_leave(gpu, load_kernels(gpu, kernels, count)) : result;
}
