// The kernels of reduction by moments: how they run. On a CPU one does all of a clump, eight poses
// side by side, compiled for every width of vectors (moments_wide.h); on a GPU there is one for
// every step, a pose a work item. Both call the same functions.
#include "device/compute/moments.h"

static const char *const TEXTS[] = { "moments_arguments.h", "moments.h", NULL };

#define KERNEL(kernel, BUFFERS)                                                                    \
    CUTIS_COMPUTE_WIDE_KERNEL(kernel, BUFFERS, .texts = TEXTS,                                     \
                              .defines = "#define KERNEL_DOUBLE\n", .task_items = 1);
CUTIS_MOMENTS_KERNELS(KERNEL)

#define STEP(kernel, BUFFERS)                                                                      \
    const cutis_compute_kernel cutis_compute_##kernel = { CUTIS_COMPUTE_DESCRIBE(kernel, BUFFERS), \
                                                          .texts = TEXTS,                          \
                                                          .defines = "#define KERNEL_DOUBLE\n" };
CUTIS_MOMENTS_STEPS(STEP)
