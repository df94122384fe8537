/// Poisson reduction on a GPU: the state stays on the device from the first weights to the last
/// sweep.
#ifndef CUTIS_FIT_REDUCE_DEVICE_H
#define CUTIS_FIT_REDUCE_DEVICE_H

#include "fit/reduce_turns.h"

/// Is the problem's device a GPU whose kernels hold a problem of this size?
bool cutis_reduce_on_device(const cutis_reduce_problem *problem);

/// What cutis_reduce_start and cutis_reduce_sweep do together, with the same bits. `state` has its
/// arrays but for `offset`; `curve` has limit + 1 entries (or far_limit + 1, if that is more).
/// @param omega of every update;
/// @param reselecting first sweeps that may exchange controls; @param trials exchanges tried for
/// one
typedef struct cutis_reduce_schedule {
    bool fitted, laplace;
    uint32_t limit, reselecting, trials;
    double omega, stop;
    const cutis_reduce_surface *surface; ///< sweeps on normals follow, with these three; NULL: none
    const cutis_reduce_colours *far;     ///< of distance 2
    uint32_t far_limit;
} cutis_reduce_schedule;

/// @param colours NULL: they are made while the device chooses sets
cutis_result cutis_reduce_device_run(const cutis_reduce_problem *problem,
                                     const cutis_reduce_colours *colours,
                                     const cutis_reduce_schedule *schedule,
                                     cutis_reduce_state *state);

#endif
