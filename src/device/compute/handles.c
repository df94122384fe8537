// The program of handle weights for GPUs. There is no C text here: on the CPU the same work runs
// from src/fit, eight fields in a vector.
#include "device/compute/handles.h"

static const char *const TEXTS[] = { "handles.h", NULL };

#define PROGRAM(name, count)                                                                       \
    const cutis_compute_kernel cutis_compute_handles_##name = {                                    \
        .entry = "cutis_handles_" #name,                                                           \
        .texts = TEXTS,                                                                            \
        .argument_count = count,                                                                   \
    }

PROGRAM(start, 15);
PROGRAM(sweep, 9);
PROGRAM(conduct, 6);
PROGRAM(finest, 8);
PROGRAM(coarse, 10);
PROGRAM(begin, 12);
PROGRAM(divide, 7);
PROGRAM(smooth, 9);
PROGRAM(restrict, 14);
PROGRAM(prolong, 7);
PROGRAM(coarsest, 11);
PROGRAM(dot, 5);
PROGRAM(turning, 4);
PROGRAM(turn, 4);
PROGRAM(apply, 6);
PROGRAM(stepping, 4);
PROGRAM(advance, 6);
PROGRAM(worst, 5);
PROGRAM(done, 6);
PROGRAM(values, 5);
PROGRAM(sample, 20);
