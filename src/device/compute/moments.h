/// The program of reduction by moments, kernel/moments.h.
#ifndef CUTIS_DEVICE_COMPUTE_MOMENTS_H
#define CUTIS_DEVICE_COMPUTE_MOMENTS_H

#include "device/compute.h"

#include "kernel/moments_arguments.h"

#define CUTIS_MOMENTS_KERNELS(X) X(moments_gram, MOMENTS_GRAM_BUFFERS)
/// For GPUs alone.
#define CUTIS_MOMENTS_STEPS(X)                                                                     \
    X(moments_units, MOMENTS_UNITS_BUFFERS)                                                        \
    X(moments_faces, MOMENTS_FACES_BUFFERS)                                                        \
    X(moments_rows, MOMENTS_ROWS_BUFFERS)                                                          \
    X(moments_places, MOMENTS_PLACES_BUFFERS)                                                      \
    X(moments_tiles, MOMENTS_TILES_BUFFERS)                                                        \
    X(moments_sums, MOMENTS_SUMS_BUFFERS)

CUTIS_MOMENTS_KERNELS(CUTIS_COMPUTE_DECLARE)
CUTIS_MOMENTS_STEPS(CUTIS_COMPUTE_DECLARE)

#endif
