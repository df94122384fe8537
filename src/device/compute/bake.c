// The program of baking for GPUs. There is no C text here: on the CPU the same sums and solves run
// from src/fit/bake, in blocks of points.
#include "device/compute/bake.h"

static const char *const TEXTS[] = { "bake_arguments.h", "bake_state.h", "bake.h", "bake_items.h",
                                     NULL };

#define STEP(kernel, BUFFERS)                                                                      \
    const cutis_compute_kernel cutis_compute_##kernel = { CUTIS_COMPUTE_DESCRIBE(kernel, BUFFERS), \
                                                          .texts = TEXTS,                          \
                                                          .defines = "#define BAKE_MOST 5\n",      \
                                                          .group_size = 64 };
CUTIS_BAKE_KERNELS(STEP)

const cutis_compute_kernel cutis_compute_bake_weigh_many = {
    CUTIS_COMPUTE_DESCRIBE(bake_weigh, BAKE_WEIGH_BUFFERS),
    .texts = TEXTS,
    .defines = "#define BAKE_MOST 17\n",
    .group_size = 64,
};
