/// The program of weight reduction, kernel/reduce_*.h. On a GPU a problem's sizes are compiled in:
/// copy a kernel and set its `defines` (kernel/reduce.h says which).
#ifndef CUTIS_DEVICE_COMPUTE_REDUCE_H
#define CUTIS_DEVICE_COMPUTE_REDUCE_H

#include "device/compute.h"
#include "kernel/reduce_arguments.h"

/// Sizes that the C text is compiled for: most controls a vertex keeps, and chooses from.
enum { CUTIS_REDUCE_SET = 64, CUTIS_REDUCE_CANDIDATES = 32 };

/// A line per kernel: its name, its list of buffers, the texts it is in, the items of a task on
/// CPUs; on GPUs the work items of a group and the lanes of a team.
#define CUTIS_REDUCE_KERNELS(X)                                                                    \
    X(reduce_target, REDUCE_TARGET_BUFFERS, ALL, 128, 64, 0)                                       \
    X(reduce_choose, REDUCE_CHOOSE_BUFFERS, CHOOSE, REDUCE_TASK, 0, 32)                            \
    X(reduce_load, REDUCE_LOAD_BUFFERS, ALL, REDUCE_TASK, 64, 0)                                   \
    X(reduce_weigh, REDUCE_WEIGH_BUFFERS, ALL, REDUCE_TASK, 64, 0)                                 \
    X(reduce_errors, REDUCE_ERRORS_BUFFERS, ALL, 128, 64, 0)                                       \
    X(reduce_keep, REDUCE_KEEP_BUFFERS, ALL, REDUCE_TASK, 64, 0)                                   \
    X(reduce_store, REDUCE_STORE_BUFFERS, ALL, REDUCE_TASK, 64, 0)                                 \
    X(reduce_gradient, REDUCE_GRADIENT_BUFFERS, ALL, REDUCE_TASK, 64, 0)                           \
    X(reduce_laplace, REDUCE_LAPLACE_BUFFERS, ALL, REDUCE_TASK, 64, 0)                             \
    X(reduce_tilted, REDUCE_TILTED_BUFFERS, ALL, REDUCE_TASK, 64, 0)                               \
    X(reduce_energy, REDUCE_ENERGY_BUFFERS, ALL, 128, 64, 0)                                       \
    X(reduce_residual, REDUCE_RESIDUAL_BUFFERS, ALL, 128, 64, 0)                                   \
    X(reduce_sum, REDUCE_SUM_BUFFERS, ALL, 128, 64, 0)                                             \
    X(reduce_trace, REDUCE_TRACE_BUFFERS, ALL, REDUCE_TASK, 64, 0)                                 \
    X(reduce_match, REDUCE_MATCH_BUFFERS, ALL, 128, 64, 0)                                         \
    X(reduce_stray, REDUCE_STRAY_BUFFERS, ALL, 128, 64, 0)                                         \
    X(reduce_normal, REDUCE_NORMAL_BUFFERS, ALL, 128, 64, 0)                                       \
    X(reduce_tilt, REDUCE_TILT_BUFFERS, ALL, 128, 64, 0)                                           \
    X(reduce_metric, REDUCE_METRIC_BUFFERS, ALL, REDUCE_TASK, 64, 0)

#define CUTIS_REDUCE_DECLARE(kernel, BUFFERS, text, items, group, team)                            \
    CUTIS_COMPUTE_DECLARE(kernel, BUFFERS)
CUTIS_REDUCE_KERNELS(CUTIS_REDUCE_DECLARE)

#endif
