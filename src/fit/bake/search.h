/// Ways through the states of a solve: rounds that lower the energy, and sets of helpers that are
/// exchanged for others.
#ifndef CUTIS_FIT_BAKE_SEARCH_H
#define CUTIS_FIT_BAKE_SEARCH_H

#include "fit/bake/solver.h"

/// What has to be put back when a step fails.
typedef struct cutis_bake_snapshot {
    uint32_t helper_count;
    double energy;
    double *helpers, *weight;
    uint8_t *slots, *allowed, *seed_joints;
    uint32_t *bone;
} cutis_bake_snapshot;

bool cutis_bake_snapshot_create(const cutis_bake_work *work, cutis_arena *arena,
                                cutis_bake_snapshot *out);
void cutis_bake_keep(const cutis_bake_work *work, cutis_bake_snapshot *to);
void cutis_bake_restore(cutis_bake_work *work, const cutis_bake_snapshot *from);

/// Sums, forms and energies of points for the helpers as they are: after rounds they are those of
/// the last one's start, or of a step that was undone.
void cutis_bake_settle(cutis_bake_work *work);

/// One round from the helpers as they are: forms, weights, transforms.
void cutis_bake_round(cutis_bake_work *work, uint32_t sweeps);

/// Rounds, over-relaxed, until `steps` or until they gain nothing.
/// @param kept memory for it; @param from, to part of the progress that is told
cutis_result cutis_bake_relax(cutis_bake_work *work, cutis_bake_snapshot *kept, uint32_t steps,
                              double from, double to);

/// How long to look.
typedef struct cutis_bake_effort {
    uint32_t starts;    ///< sets of helpers from nothing
    uint32_t exchanges; ///< of the best set's helpers for others
    uint32_t shaken;    ///< more of them, at random
    uint32_t first;     ///< rounds of a start
    uint32_t steps;     ///< rounds of an exchange
    uint32_t longer;    ///< and of one that comes near
    bool levers;        ///< every second start, every third and fourth exchange seeks levers too
} cutis_bake_effort;

/// The best set of helpers of some starts (none: the one that is there), then exchanges.
cutis_result cutis_bake_search(cutis_bake_work *work, cutis_arena *arena,
                               const cutis_bake_effort *effort);

/// Helpers that are tried beyond those wanted.
uint32_t cutis_bake_extra(uint32_t wanted);

#endif
