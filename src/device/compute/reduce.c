// The kernels of weight reduction: how they run, on a CPU eight vertices an item and compiled for
// every width of vectors (reduce_wide.h), on a GPU one.
#include "device/compute/reduce.h"

#define SETS "reduce_arguments.h", "reduce_solve.h", "reduce.h", "team.h", "reduce_sets.h"
static const char *const CHOOSE[] = { SETS, NULL };
static const char *const TEXTS[] = { SETS,
                                     "reduce_lanes.h",
                                     "reduce_weights.h",
                                     "reduce_prior.h",
                                     "reduce_exchange.h",
                                     "reduce_sweep.h",
                                     "reduce_tilts.h",
                                     NULL };

#define OVER_BLOCKS(kernel, LIST)                                                                  \
    CUTIS_COMPUTE_WIDE_KERNEL(kernel, LIST, .texts = TEXTS, .task_items = REDUCE_TASK,             \
                              .group_size = 64)
#define OVER_VERTICES(kernel, LIST)                                                                \
    CUTIS_COMPUTE_WIDE_KERNEL(kernel, LIST, .texts = TEXTS, .task_items = 128, .group_size = 64)

OVER_VERTICES(reduce_target, REDUCE_TARGET_BUFFERS);
CUTIS_COMPUTE_WIDE_KERNEL(reduce_choose, REDUCE_CHOOSE_BUFFERS, .texts = CHOOSE,
                          .task_items = REDUCE_TASK, .lanes = 32);
OVER_BLOCKS(reduce_load, REDUCE_LOAD_BUFFERS);
OVER_BLOCKS(reduce_weigh, REDUCE_WEIGH_BUFFERS);
OVER_VERTICES(reduce_errors, REDUCE_ERRORS_BUFFERS);
OVER_BLOCKS(reduce_keep, REDUCE_KEEP_BUFFERS);
OVER_BLOCKS(reduce_store, REDUCE_STORE_BUFFERS);
OVER_BLOCKS(reduce_gradient, REDUCE_GRADIENT_BUFFERS);
OVER_BLOCKS(reduce_laplace, REDUCE_LAPLACE_BUFFERS);
OVER_BLOCKS(reduce_tilted, REDUCE_TILTED_BUFFERS);
OVER_VERTICES(reduce_energy, REDUCE_ENERGY_BUFFERS);
OVER_VERTICES(reduce_residual, REDUCE_RESIDUAL_BUFFERS);
OVER_VERTICES(reduce_sum, REDUCE_SUM_BUFFERS);
OVER_BLOCKS(reduce_trace, REDUCE_TRACE_BUFFERS);
OVER_VERTICES(reduce_match, REDUCE_MATCH_BUFFERS);
OVER_VERTICES(reduce_stray, REDUCE_STRAY_BUFFERS);
OVER_VERTICES(reduce_normal, REDUCE_NORMAL_BUFFERS);
OVER_VERTICES(reduce_tilt, REDUCE_TILT_BUFFERS);
OVER_BLOCKS(reduce_metric, REDUCE_METRIC_BUFFERS);
