// The program of weight reduction for GPUs. There is no C text here: on the CPU the same solves run
// from src/fit, which keeps rows in vectors.
#include "device/compute/reduce.h"

static const char *const TEXTS[] = { "reduce.h", "reduce_wide.h", "reduce_items.h", NULL };

#define PROGRAM(name, count)                                                                       \
    const cutis_compute_kernel cutis_compute_reduce_##name = {                                     \
        .entry = "cutis_reduce_" #name,                                                            \
        .texts = TEXTS,                                                                            \
        .argument_count = count,                                                                   \
        .group_size = 64,                                                                          \
    }

PROGRAM(begin, 21);
PROGRAM(keep, 11);
PROGRAM(gradient, 24);
PROGRAM(exchanging, 28);
PROGRAM(laplace, 20);
PROGRAM(energy, 10);
PROGRAM(falls, 5);
PROGRAM(store, 10);
PROGRAM(trace, 10);
PROGRAM(match, 13);
PROGRAM(stray, 12);
