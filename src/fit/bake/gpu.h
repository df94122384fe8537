/// The stages of baking that touch every point and frame, on a GPU: sums, weights, goals, errors.
/// Searches on few points and the solves of transforms stay on the host's threads.
///
/// Invariant: the bits are the host's (kernel/bake_items.h), so a stage may run on either.
#ifndef CUTIS_FIT_BAKE_GPU_H
#define CUTIS_FIT_BAKE_GPU_H

#include "fit/bake/solver.h"

typedef struct cutis_bake_gpu cutis_bake_gpu;

/// Where the device is a GPU, its memory holds the work and there is enough of it: work->gpu.
cutis_result cutis_bake_gpu_open(cutis_bake_work *work);
void cutis_bake_gpu_close(cutis_bake_work *work); ///< without one too

/// Sums of targets (turns: of turns) and joints that are candidates, per candidate.
cutis_result cutis_bake_gpu_products(const cutis_bake_work *work, bool turns, double *out);
/// Squares of targets, of all points of the level.
cutis_result cutis_bake_gpu_lengths(const cutis_bake_work *work);
/// cutis_bake_weights but for the sum of energies. @param beyond what a far joint
/// costs more, as a part of the prior
cutis_result cutis_bake_gpu_weights(const cutis_bake_work *work, uint32_t sweeps, double prior,
                                    double beyond);
cutis_result cutis_bake_gpu_goals(const cutis_bake_work *work);

/// Squared distances of all points: of their places or their normals, by the weights there are or
/// (own) by those they came with.
typedef struct cutis_bake_errors {
    bool own, normals;
    double *per_point; ///< sums over frames; NULL: not asked for
    double *per_frame; ///< sums over points, times their masses; NULL: not asked for
} cutis_bake_errors;
cutis_result cutis_bake_gpu_errors(const cutis_bake_work *work, const cutis_bake_errors *errors);

#endif
