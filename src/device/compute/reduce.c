// The kernels of weight reduction: how they run, on a CPU eight vertices an item and compiled for
// every width of vectors (reduce_wide.h), on a GPU one.
#include "device/compute/reduce.h"

#define SETS "reduce_arguments.h", "reduce_solve.h", "reduce.h", "team.h", "reduce_sets.h"
static const char *const CHOOSE[] = { SETS, NULL };
static const char *const ALL[] = { SETS,
                                   "reduce_lanes.h",
                                   "reduce_weights.h",
                                   "reduce_prior.h",
                                   "reduce_exchange.h",
                                   "reduce_sweep.h",
                                   "reduce_tilts.h",
                                   NULL };

#define KERNEL(kernel, BUFFERS, text, items, group, team)                                          \
    CUTIS_COMPUTE_WIDE_KERNEL(kernel, BUFFERS, .texts = text, .task_items = (items),               \
                              .group_size = (group), .lanes = (team));
CUTIS_REDUCE_KERNELS(KERNEL)
