/// The fewest influences per vertex that keep a bound on unseen poses (docs/spec/reduction.md 2.9),
/// and weights in whole numbers (2.10).
#ifndef CUTIS_FIT_REDUCE_BOUND_H
#define CUTIS_FIT_REDUCE_BOUND_H

#include "fit/reduce/mixed.h"

/// What unseen poses show of a result.
typedef struct cutis_bound_result {
    bool kept;                     ///< no vertex is beyond the bound in any pose that decides
    uint32_t checked, judged;      ///< poses that counts were found on; unseen ones
    double position, normal;       ///< the largest error of any vertex in them: units, radians
    double position_99, normal_99; ///< 99 % of the vertices never exceed this in them
    uint64_t
        beyond; ///< vertices beyond the bound in one of them; kept: in those that decide nothing
    uint32_t attempt; ///< that succeeded: of several, each with unseen poses of its own
} cutis_bound_result;

/// @param x opened, `bounded`; its states become the result
cutis_result cutis_bound_search(cutis_mixed *x, cutis_bound_result *out);
/// Whether other weights keep the bound as well, on all poses that were checked and the same unseen
/// ones. @param out in: what the search found
cutis_result cutis_bound_check(cutis_mixed *x, const cutis_reduce_weights *weights,
                               cutis_bound_result *out);

/// The same, after units that break it took other weights, as long as that helps; arrays in the
/// arena.
cutis_result cutis_bound_mix(cutis_mixed *x, const cutis_reduce_weights *other, cutis_arena *arena,
                             cutis_reduce_weights *weights, cutis_bound_result *out);

/// As many of the largest original weights (of joints that stay) as other weights have, vertex by
/// vertex (NULL: `most`): what these are compared with.
bool cutis_bound_largest(const cutis_reduce_group *group, const cutis_reduce_weights *counts,
                         uint32_t most, cutis_arena *arena, cutis_reduce_weights *out);

/// Weights as whole numbers over `total`: rounded down, then one more for the largest remainders.
/// In place; those that become 0 stay, as 0.
void cutis_quantise_round(const cutis_reduce_group *group, uint32_t total,
                          cutis_reduce_weights *weights);

/// Values of the form, in units of what rounding does to it.
typedef struct cutis_quantise_result {
    double real, rounded, chosen;
} cutis_quantise_result;

/// One vertex's whole numbers: a^T gram a + 2 force^T a is made small, a = number / total.
/// @param gram is changed and put back; @param number in: those to start from. @return the fall
double cutis_quantise_vertex(uint32_t n, double *gram, const double *force, uint32_t total,
                             uint32_t *number);

/// Whole numbers of all vertices, chosen so that the form's value is low, never above that of
/// rounding. In place.
cutis_result cutis_quantise(const cutis_mixed *x, uint32_t group, uint32_t total,
                            cutis_reduce_weights *weights, cutis_quantise_result *out);

#endif
