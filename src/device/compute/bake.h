/// The program of baking (kernel/bake_items.h).
#ifndef CUTIS_DEVICE_COMPUTE_BAKE_H
#define CUTIS_DEVICE_COMPUTE_BAKE_H

#include "device/compute.h"
#include "kernel/bake_arguments.h"

/// GPUs only. bake_weigh is of up to four influences; cutis_compute_bake_weigh_many of more.
#define CUTIS_BAKE_KERNELS(X)                                                                      \
    X(bake_columns, BAKE_COLUMNS_BUFFERS)                                                          \
    X(bake_sums, BAKE_SUMS_BUFFERS)                                                                \
    X(bake_pick, BAKE_PICK_BUFFERS)                                                                \
    X(bake_lengths, BAKE_LENGTHS_BUFFERS)                                                          \
    X(bake_weigh, BAKE_WEIGH_BUFFERS)                                                              \
    X(bake_goals, BAKE_GOALS_BUFFERS)                                                              \
    X(bake_off, BAKE_OFF_BUFFERS)                                                                  \
    X(bake_off_points, BAKE_OFF_POINTS_BUFFERS)                                                    \
    X(bake_off_frames, BAKE_OFF_FRAMES_BUFFERS)

CUTIS_BAKE_KERNELS(CUTIS_COMPUTE_DECLARE)
extern const cutis_compute_kernel cutis_compute_bake_weigh_many;

#endif
