// The program of handle weights for GPUs. There is no C text here: on the CPU the same work runs
// from src/fit, eight fields in a vector.
#include "device/compute/handles.h"

static const char *const TEXTS[] = { "handles.h", NULL };

// Compiled one by one: a device that needs one kernel does not wait for all.
#define PROGRAM(name, wanted, count)                                                               \
    const cutis_compute_kernel cutis_compute_handles_##name = {                                    \
        .entry = "cutis_handles_" #name,                                                           \
        .texts = TEXTS,                                                                            \
        .defines = "#define HANDLES_ONE\n#define HANDLES_" #wanted "\n",                           \
        .argument_count = count,                                                                   \
    }

PROGRAM(start, START, 15);
PROGRAM(sweep, SWEEP, 9);
PROGRAM(conduct, CONDUCT, 6);
PROGRAM(finest, FINEST, 8);
PROGRAM(coarse, COARSE, 10);
PROGRAM(begin, BEGIN, 12);
PROGRAM(divide, DIVIDE, 7);
PROGRAM(smooth, SMOOTH, 9);
PROGRAM(restrict, RESTRICT, 14);
PROGRAM(prolong, PROLONG, 7);
PROGRAM(coarsest, COARSEST, 11);
PROGRAM(dot, DOT, 5);
PROGRAM(turning, TURNING, 4);
PROGRAM(turn, TURN, 4);
PROGRAM(apply, APPLY, 6);
PROGRAM(stepping, STEPPING, 4);
PROGRAM(advance, ADVANCE, 6);
PROGRAM(worst, WORST, 5);
PROGRAM(done, DONE, 6);
PROGRAM(values, VALUES, 5);
PROGRAM(sample, SAMPLE, 20);
