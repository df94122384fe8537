/// The program of reduction by moments, kernel/moments.h.
#ifndef CUTIS_DEVICE_COMPUTE_MOMENTS_H
#define CUTIS_DEVICE_COMPUTE_MOMENTS_H

#include "device/compute.h"

#include "kernel/moments_arguments.h"

#define CUTIS_MOMENTS_KERNELS(X) X(moments_gram, MOMENTS_GRAM_BUFFERS)

CUTIS_MOMENTS_KERNELS(CUTIS_COMPUTE_DECLARE)

#endif
