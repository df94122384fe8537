/// The program of the blending patches (kernel/patches*.h).
#ifndef CUTIS_DEVICE_COMPUTE_PATCHES_H
#define CUTIS_DEVICE_COMPUTE_PATCHES_H

#include "device/compute.h"
#include "kernel/patches_arguments.h"

#define PATCH_DECLARE(kernel, BUFFERS, text, items, group, team, most)                             \
    CUTIS_COMPUTE_DECLARE(kernel, BUFFERS)
PATCH_KERNELS(PATCH_DECLARE)

#endif
