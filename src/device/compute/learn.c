// The program of weights from examples for GPUs. There is no C text here: on the CPU the same
// solves run from src/fit.
#include "device/compute/learn.h"

static const char *const TEXTS[] = { "nnls.h", "examples.h", "learn_arguments.h", "learn_items.h",
                                     NULL };

_Static_assert(CUTIS_LEARN_CANDIDATES == 32, "the define below is of the same size");

const cutis_compute_kernel cutis_compute_learn_weights = {
    CUTIS_COMPUTE_DESCRIBE(learn_weights, LEARN_WEIGHTS_BUFFERS),
    .texts = TEXTS,
    .defines = "#define NNLS_MAX 32\n",
    .group_size = 64,
};
