// The kernels of reduction by moments: how they run, on a CPU eight poses side by side and compiled
// for every width of vectors (moments_wide.h), on a GPU one.
#include "device/compute/moments.h"

static const char *const TEXTS[] = { "moments_arguments.h", "moments.h", NULL };

#define KERNEL(kernel, BUFFERS)                                                                    \
    CUTIS_COMPUTE_WIDE_KERNEL(kernel, BUFFERS, .texts = TEXTS,                                     \
                              .defines = "#define KERNEL_DOUBLE\n", .task_items = 1);
CUTIS_MOMENTS_KERNELS(KERNEL)
