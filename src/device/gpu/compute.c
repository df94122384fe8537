// Item kernels on a GPU: compiled once per device from the embedded texts, launched in order.
#include "device/compute.h"

#include <stdio.h>

#include "base/error.h"
#include "device/gpu/gpu.h"

enum { GROUP_SIZE = 128, DEFINES = 1024 };
_Static_assert(CUTIS_COMPUTE_ARGUMENTS + 3 <= CUTIS_GPU_ARGUMENTS, "drivers take as many");

static size_t argument_size(cutis_compute_kind kind)
{
    return kind == CUTIS_COMPUTE_BUFFER || kind == CUTIS_COMPUTE_DOUBLE ? 8 : 4;
}

static cutis_result launch_items(cutis_gpu *gpu, const cutis_compute_kernel *kernel,
                                 uint32_t item_count, const cutis_compute_argument *arguments)
{
    cutis_gpu_argument values[CUTIS_COMPUTE_ARGUMENTS + 3]; // and a head, first and end
    uint64_t handles[CUTIS_COMPUTE_ARGUMENTS];
    const int32_t first = 0, end = (int32_t)item_count;
    uint32_t count = 0;
    cutis_gpu_kernel compiled;
    bool team = kernel->lanes > 1 && !gpu->alone;
    char defines[DEFINES];
    char lanes[32] = "";
    if (team) snprintf(lanes, sizeof lanes, "#define TEAM_LANES %u\n", kernel->lanes);
    const int length = snprintf(defines, sizeof defines, "%s%s%s", lanes,
                                kernel->lanes > 1 && gpu->alone ? "#define TEAM_ALONE 1\n" : "",
                                kernel->defines ? kernel->defines : "");
    if (length < 0 || length >= DEFINES)
        return cutis_fail(gpu->base.context, CUTIS_INTERNAL, "%s: defines are too long",
                          kernel->entry);
    cutis_result result = cutis_gpu_kernel_get_from(gpu, kernel->texts, defines, kernel->entry,
                                                    kernel->registers, &compiled);
    if (result != CUTIS_OK) return result;
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const cutis_compute_argument *a = &arguments[i];
        values[count++] = (cutis_gpu_argument){ &a->wide, argument_size(a->kind) };
        if (a->kind != CUTIS_COMPUTE_BUFFER) continue;
        handles[i] = a->buffer ? a->buffer->handle : 0;
        values[count - 1].data = &handles[i];
        if (a->head && gpu->heads) values[count++] = (cutis_gpu_argument){ a->head, a->head_size };
    }
    values[count++] = (cutis_gpu_argument){ &first, sizeof first };
    values[count++] = (cutis_gpu_argument){ &end, sizeof end };
    cutis_gpu_launch launch = {
        .group_size = kernel->group_size ? kernel->group_size : GROUP_SIZE,
        .argument_count = count,
        .arguments = values,
    };
    launch.group_count = (item_count - 1) / launch.group_size + 1;
    if (team) {
        uint32_t teams = gpu->warp_teams ? kernel->group_size / kernel->lanes : 1;
        if (teams == 0) teams = 1;
        launch.group_size = teams * kernel->lanes;
        launch.group_count = (item_count - 1) / teams + 1;
    }
    return gpu->driver->launch(gpu, &compiled, &launch);
}

cutis_result cutis_gpu_compute_run(cutis_device *device, const cutis_compute_kernel *kernel,
                                   uint32_t item_count, const cutis_compute_argument *arguments)
{
    cutis_gpu *gpu = (cutis_gpu *)device;
    cutis_result result = cutis_gpu_enter(gpu);
    if (result != CUTIS_OK) return result;
    result = launch_items(gpu, kernel, item_count, arguments);
    cutis_gpu_leave(gpu);
    return result;
}
