/// What starting and sweeping share about one vertex: where its controls take it, and the Gram
/// matrices of that.
#ifndef CUTIS_FIT_REDUCE_VERTEX_H
#define CUTIS_FIT_REDUCE_VERTEX_H

#include "fit/reduce_solve.h"

/// Vertices of one task: small enough to share out, large enough that starting a task costs
/// nothing.
enum { CUTIS_REDUCE_TASK = 128 };

/// Most controls a vertex of this problem chooses from.
uint32_t cutis_reduce_candidate_limit(const cutis_reduce_problem *problem);

/// The `limit` largest original influences of a vertex by magnitude (ties: the lower control), as
/// ascending indices into the problem's influence arrays. @return how many
uint32_t cutis_reduce_largest(const cutis_reduce_problem *problem, uint32_t vertex, uint32_t limit,
                              uint32_t *list);

/// The vertex by its original weights, in all poses.
void cutis_reduce_target(const cutis_reduce_problem *problem, uint32_t vertex, double *target);

/// Where a control takes the vertex, less the target.
void cutis_reduce_offset(const cutis_reduce_problem *problem, uint32_t vertex, uint32_t control,
                         const double *target, float *offset);

/// gram += offset^T offset, full and symmetric, for `count` offsets that lie one after the other.
void cutis_reduce_gram(uint32_t count, uint32_t rows, const float *offset, double *gram);

/// sum of offset * direction over the rows.
double cutis_reduce_dot(uint32_t rows, const float *offset, const double *direction);

/// error = sum of weight * offset.
void cutis_reduce_blend(uint32_t count, uint32_t rows, const float *offset, const double *weight,
                        double *error);

#endif
