// The program of weight reduction for GPUs. There is no C text here: on the CPU the same solves run
// from src/fit, which keeps rows in vectors.
#include "device/compute/reduce.h"

#define COMMON "reduce.h", "reduce_wide.h", "reduce_items.h"
static const char *const TEXTS[] = { COMMON, NULL };
static const char *const CHOOSE[] = { COMMON, "team.h", "reduce_choose.h", NULL };
static const char *const TURNS[] = { COMMON, "reduce_turns.h", "reduce_normals.h", NULL };

#define KERNEL_OF(name, text, count)                                                               \
    const cutis_compute_kernel cutis_compute_reduce_##name = {                                     \
        .entry = "cutis_reduce_" #name,                                                            \
        .texts = text,                                                                             \
        .argument_count = count,                                                                   \
        .group_size = 64,                                                                          \
    }
#define PROGRAM(name, count) KERNEL_OF(name, TEXTS, count)

PROGRAM(begin, 22);
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

KERNEL_OF(places, TURNS, 10);
KERNEL_OF(normal, TURNS, 6);
KERNEL_OF(turn, TURNS, 6);
KERNEL_OF(system, TURNS, 25);
KERNEL_OF(turned, TURNS, 22);
KERNEL_OF(turned_exchanging, TURNS, 32);

const cutis_compute_kernel cutis_compute_reduce_choose = {
    .entry = "cutis_reduce_choose",
    .texts = CHOOSE,
    .argument_count = 11,
    .lanes = 32,
};
