/// Exchanging controls of a vertex for others of its candidates (spec 2.7), in the first sweeps.
#ifndef CUTIS_FIT_REDUCE_EXCHANGE_H
#define CUTIS_FIT_REDUCE_EXCHANGE_H

#include "fit/reduce_blocks.h"

/// Exchanges tried for one: beyond this the search costs more than it finds (few candidates,
/// spec 2.7).
enum { CUTIS_REDUCE_TRIALS = 48 };

/// Has the vertex candidates outside its set, and few enough of them?
bool cutis_reduce_may_exchange(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                               uint32_t vertex);

/// Find a better set at the wished error; weights, offsets and error follow. `target`: scratch of
/// 3 * column_count. @return by how much the squared distance from the wish fell
double cutis_reduce_exchange(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                             const cutis_reduce_blocks *blocks, uint32_t vertex, const double *wish,
                             double *target);

#endif
