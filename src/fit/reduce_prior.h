/// The smooth prior of cages (spec 2.4b): the reduced weight functions differ from the original
/// ones by fields whose gradient is small, dropped weights included. It is the energy expected
/// under independent random motion of the controls.
#ifndef CUTIS_FIT_REDUCE_PRIOR_H
#define CUTIS_FIT_REDUCE_PRIOR_H

#include "fit/reduce_blocks.h"

/// What sweeps need of it. Sets must not change while it is used.
typedef struct cutis_reduce_prior {
    double lambda;  ///< problem->prior times the mean of trace(G) / k; 0: no prior
    double *base;   ///< per slot: the part of the wish that the original weights make
    uint8_t *match; ///< per edge and slot of its first vertex (`influences` of them): the slot of
                    ///< the second vertex that has the same control; 255: none
} cutis_reduce_prior;

/// Zeros without a prior. @return false: no memory
bool cutis_reduce_prior_create(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                               cutis_arena *arena, cutis_reduce_prior *out);

/// What the neighbours wish the vertex's kept weights to be; `share`: 1 / stiffness.
void cutis_reduce_prior_wish(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                             const cutis_reduce_prior *prior, uint32_t vertex, double share,
                             double *wish);

/// Neighbours read weights from the state: bring it up to date with a block.
void cutis_reduce_prior_note(cutis_reduce_state *state, const cutis_reduce_blocks *blocks,
                             uint32_t block);

/// sum over controls of the gradient energy (edges and anchor) of A - Abar; 0 without a prior.
/// @return false: no memory
bool cutis_reduce_prior_energy(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                               double *energy);

#endif
