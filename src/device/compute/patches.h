/// The program of the blending patches (kernel/patches*.h).
#ifndef CUTIS_DEVICE_COMPUTE_PATCHES_H
#define CUTIS_DEVICE_COMPUTE_PATCHES_H

#include "device/compute.h"
#include "kernel/patches_arguments.h"

PATCH_KERNELS(CUTIS_COMPUTE_DECLARE)

#endif
