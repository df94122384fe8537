/// The small solves of weight reduction (spec 3 and 2.7), all in double on fixed arrays:
/// minimise a^T G a - 2 h^T a with sum a = 1, and a >= 0 unless negative weights are allowed.
#ifndef CUTIS_FIT_REDUCE_SOLVE_H
#define CUTIS_FIT_REDUCE_SOLVE_H

#include "fit/reduce_problem.h"

typedef struct cutis_reduce_local {
    uint32_t count;
    double gram[CUTIS_REDUCE_SET * CUTIS_REDUCE_SET]; ///< row-major, stride `count`, symmetric
    double right[CUTIS_REDUCE_SET];
    double weight[CUTIS_REDUCE_SET]; ///< in: where to start (sum 1, feasible); out: the solution
} cutis_reduce_local;

/// Add mu I and mu * reference: mu = relative * trace / count.
void cutis_reduce_regularise(cutis_reduce_local *local, double relative, const double *reference);

/// Solve; the KKT conditions of spec 3 hold at exit. A singular system leaves the weights as they
/// were.
void cutis_reduce_solve(cutis_reduce_local *local, bool negative);

/// Backward elimination: from `local->count` candidates to `keep`; `weight` is the reference (the
/// original weights) in, spoilt out. @param kept ascending indices of the candidates that stay
void cutis_reduce_eliminate(cutis_reduce_local *local, uint32_t keep, bool negative,
                            uint32_t *kept);

/// The update of one lane of a block whose active controls change (kernel/reduce_wide.h).
typedef struct cutis_reduce_search {
    uint32_t count, rows;
    bool negative;
    double lambda;       ///< a pull besides the proximal one
    const float *offset; ///< these four: of the lane in its block
    double *kept;
    const double *metric; ///< NULL: none
    long long *active;
    const double *wish;       ///< `rows`; with a metric the force and A times the error
    double *rest;             ///< `rows`, scratch
    const double *push, *old; ///< `count`
} cutis_reduce_search;

/// @param now the new weights, `count`
void cutis_reduce_search_set(const cutis_reduce_search *search, double *now);

#endif
