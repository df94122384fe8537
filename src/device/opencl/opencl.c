/// The opencl device: the driver is opened at run time, never linked. Until it answers, the device says why not.
#include <device/device.h>

#include <base/error.h>
#include <stdio.h>
#include <string.h>

cutis_result cutis_opencl_device_create(cutis_context *context, const cutis_device_options *options,
                                      cutis_device **out)
{
    (void)options;
    (void)out;
    return cutis_fail(context, CUTIS_DEVICE_UNAVAILABLE, "opencl: not in this build");
}

void cutis_opencl_device_list(cutis_context *context, uint32_t capacity, cutis_device_info *infos,
                            uint32_t *count)
{
    (void)context;
    if (*count < capacity) {
        cutis_device_info *info = &infos[*count];
        memset(info, 0, sizeof *info);
        info->kind = CUTIS_DEVICE_OPENCL;
        snprintf(info->detail, sizeof info->detail, "not in this build");
    }
    ++*count;
}
