/// Linear precision of smooth weights (docs/spec/reduction.md 2.5): the kept controls, weighted,
/// are the vertex.
#ifndef CUTIS_FIT_REDUCE_PRECISION_H
#define CUTIS_FIT_REDUCE_PRECISION_H

#include "fit/reduce/problem.h"

/// Replace desired weights by the nearest ones with sum 1 that reproduce the vertex at rest (none
/// negative unless the problem allows it); where there are none, or only huge ones, by those that
/// come close.
void cutis_reduce_precise(const cutis_reduce_problem *problem, uint32_t vertex,
                          const uint32_t *controls, uint32_t count, double *weights);

/// Vertices whose weights do not reproduce them to 1e-8 of the extent.
uint32_t cutis_reduce_count_imprecise(const cutis_reduce_problem *problem,
                                      const cutis_reduce_state *state);

#endif
