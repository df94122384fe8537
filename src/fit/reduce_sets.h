/// Which of a vertex's candidates to keep, by exchanges (spec 2.7): the energies share this.
#ifndef CUTIS_FIT_REDUCE_SETS_H
#define CUTIS_FIT_REDUCE_SETS_H

#include "fit/reduce_problem.h"

/// The candidates of one vertex: minimise a^T G a - 2 h^T a over few of them.
typedef struct cutis_reduce_choice {
    uint32_t count, control[CUTIS_REDUCE_CANDIDATES];
    double gram[CUTIS_REDUCE_CANDIDATES * CUTIS_REDUCE_CANDIDATES]; ///< stride `count`
    double right[CUTIS_REDUCE_CANDIDATES];
} cutis_reduce_choice;

/// A set being tried for a vertex.
typedef struct cutis_reduce_trial {
    uint32_t count, member[CUTIS_REDUCE_SET]; ///< indices of candidates
    double weight[CUTIS_REDUCE_SET];
    double value; ///< a^T G a - 2 h^T a
} cutis_reduce_trial;

/// From the members of `best`, exchange one for another candidate while that lowers the value by
/// more than rounding does. @param reference weights of all candidates now: zero off the set
/// @param scale what added to the value gives the size of the vertex's energy
/// @param best members in; ascending members, weights and value out
void cutis_reduce_find_set(const cutis_reduce_choice *all, const double *reference, bool negative,
                           double scale, cutis_reduce_trial *best);

#endif
