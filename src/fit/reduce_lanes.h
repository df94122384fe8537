/// The arithmetic of sweeps on a CPU: a block of eight vertices at a time.
#ifndef CUTIS_FIT_REDUCE_LANES_H
#define CUTIS_FIT_REDUCE_LANES_H

#include "fit/reduce_blocks.h"
#include "fit/reduce_prior.h"
#include "fit/reduce_turns.h"

/// What the updates of a sweep share.
typedef struct cutis_reduce_sweeper {
    const cutis_reduce_problem *problem;
    cutis_reduce_state *state;
    cutis_reduce_blocks *blocks;
    const cutis_reduce_prior *prior; ///< of cages; lambda 0: none
    bool laplace;
    bool reselect; ///< vertices with few candidates may exchange controls
    double omega;
    double *rho;                     ///< laplace: L e, kept up to date
    const cutis_reduce_turns *turns; ///< energy of normals: they, kept up to date; else NULL
} cutis_reduce_sweeper;

/// Bytes of scratch that one update needs.
size_t cutis_reduce_lanes_scratch(const cutis_reduce_problem *problem);

/// Update the vertices of a block. @return by how much the energy fell
double cutis_reduce_lanes_update(const cutis_reduce_sweeper *sweeper, uint32_t block,
                                 void *scratch);

/// Ask for the memory that updating a block will read.
void cutis_reduce_lanes_fetch(const cutis_reduce_sweeper *sweeper, uint32_t block);

/// Make what the lanes of a block keep, for the controls whose weights are positive (all, if
/// negative ones are allowed). With the metric, where blocks have one.
void cutis_reduce_lanes_keep(const cutis_reduce_problem *problem, const cutis_reduce_blocks *blocks,
                             double lambda, uint32_t block);

/// Sweeps over all blocks of all colours: curve, count and seconds of the state, and its weights.
/// The sweeper's first two may reselect. @return false: no memory
bool cutis_reduce_sweep_blocks(const cutis_reduce_sweeper *sweeper, uint32_t colour_count,
                               uint32_t limit, cutis_result *result);

#endif
