/// The program of weight reduction, kernel/reduce_*.h. On a GPU a problem's sizes are compiled in:
/// copy a kernel and set its `defines` (kernel/reduce.h says which).
#ifndef CUTIS_DEVICE_COMPUTE_REDUCE_H
#define CUTIS_DEVICE_COMPUTE_REDUCE_H

#include "device/compute.h"
#include "kernel/reduce_arguments.h"

/// Sizes that the C text is compiled for: most controls a vertex keeps, and chooses from.
enum { CUTIS_REDUCE_SET = 64, CUTIS_REDUCE_CANDIDATES = 32 };

/// All kernels with their lists: KERNEL(name, LIST).
#define CUTIS_REDUCE_KERNELS(KERNEL)                                                               \
    KERNEL(reduce_target, REDUCE_TARGET_BUFFERS)                                                   \
    KERNEL(reduce_choose, REDUCE_CHOOSE_BUFFERS)                                                   \
    KERNEL(reduce_load, REDUCE_LOAD_BUFFERS)                                                       \
    KERNEL(reduce_weigh, REDUCE_WEIGH_BUFFERS)                                                     \
    KERNEL(reduce_errors, REDUCE_ERRORS_BUFFERS)                                                   \
    KERNEL(reduce_keep, REDUCE_KEEP_BUFFERS)                                                       \
    KERNEL(reduce_store, REDUCE_STORE_BUFFERS)                                                     \
    KERNEL(reduce_gradient, REDUCE_GRADIENT_BUFFERS)                                               \
    KERNEL(reduce_laplace, REDUCE_LAPLACE_BUFFERS)                                                 \
    KERNEL(reduce_tilted, REDUCE_TILTED_BUFFERS)                                                   \
    KERNEL(reduce_energy, REDUCE_ENERGY_BUFFERS)                                                   \
    KERNEL(reduce_residual, REDUCE_RESIDUAL_BUFFERS)                                               \
    KERNEL(reduce_sum, REDUCE_SUM_BUFFERS)                                                         \
    KERNEL(reduce_trace, REDUCE_TRACE_BUFFERS)                                                     \
    KERNEL(reduce_match, REDUCE_MATCH_BUFFERS)                                                     \
    KERNEL(reduce_stray, REDUCE_STRAY_BUFFERS)                                                     \
    KERNEL(reduce_normal, REDUCE_NORMAL_BUFFERS)                                                   \
    KERNEL(reduce_tilt, REDUCE_TILT_BUFFERS)                                                       \
    KERNEL(reduce_metric, REDUCE_METRIC_BUFFERS)

CUTIS_REDUCE_KERNELS(CUTIS_COMPUTE_DECLARE)

#endif
