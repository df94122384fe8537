/// The smooth prior of cages (spec 2.4b): the reduced weight functions differ from the original
/// ones by fields whose gradient is small, dropped weights included. It is the energy expected
/// under independent random motion of the controls.
#ifndef CUTIS_FIT_REDUCE_PRIOR_H
#define CUTIS_FIT_REDUCE_PRIOR_H

#include "fit/reduce_problem.h"

/// lambda: problem->prior times the mean over the vertices of trace(G) / k; 0 without a prior.
double cutis_reduce_prior_weight(const cutis_reduce_problem *problem,
                                 const cutis_reduce_state *state);

/// sum over controls of the gradient energy (edges and anchor) of A - Abar; 0 without a prior.
double cutis_reduce_prior_energy(const cutis_reduce_problem *problem,
                                 const cutis_reduce_state *state);

/// The update of one vertex of gradient sweeps, with the prior. `scratch`: 3 * column_count.
/// @return by how much E + lambda * prior energy fell
double cutis_reduce_prior_update(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                                 double lambda, uint32_t vertex, double omega, double *scratch);

#endif
