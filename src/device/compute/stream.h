/// The program of kernel/stream.h: copies of streams, boxes around points.
#ifndef CUTIS_DEVICE_COMPUTE_STREAM_H
#define CUTIS_DEVICE_COMPUTE_STREAM_H

#include "device/compute.h"
#include "kernel/stream_arguments.h"

CUTIS_COMPUTE_DECLARE(stream_copy, STREAM_COPY_BUFFERS)
CUTIS_COMPUTE_DECLARE(stream_bounds, STREAM_BOUNDS_BUFFERS)

#endif
