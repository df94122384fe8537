// The program of stream.h.
#include "device/compute/stream.h"

#include "kernel/stream.h"

static const char *const TEXTS[] = { "stream_arguments.h", "stream.h", NULL };

CUTIS_COMPUTE_KERNEL(stream_copy, STREAM_COPY_BUFFERS, .texts = TEXTS, .task_items = 4096);
CUTIS_COMPUTE_KERNEL(stream_bounds, STREAM_BOUNDS_BUFFERS, .texts = TEXTS, .task_items = 8);
