/// Reduction by moments on a whole model: one form per skin, the same poses and weights for all.
#ifndef CUTIS_FIT_REDUCE_MIXED_H
#define CUTIS_FIT_REDUCE_MIXED_H

#include "fit/reduce/moments.h"

/// Kinds of poses: frames of clips (or the caller's examples), random ones.
enum { CUTIS_MIXED_CLIPS, CUTIS_MIXED_RANDOM, CUTIS_MIXED_KINDS };

typedef struct cutis_mixed {
    const cutis_model *model;
    cutis_context *context;
    cutis_device *device, *own; ///< a CPU device; own: made for it
    cutis_device *gpu;          ///< the caller's, if it is one: it makes forms
    const cutis_reduce_options *options;
    const cutis_reduce_groups *groups;
    const cutis_reduce_poses *poses;
    cutis_arena arena;
    cutis_moments *forms; ///< per group; these four
    double **start;       ///< k-largest, per candidate
    cutis_moments_state *states;
    cutis_moments_poses (*kinds)[CUTIS_MIXED_KINDS];
    double normal[CUTIS_MIXED_KINDS], position[CUTIS_MIXED_KINDS]; ///< weights in the form
    bool bounded;  ///< as few influences per vertex as a bound allows (bound.c)
    bool narrow;   ///< candidates were cut for the form's size
    double size;   ///< of all forms, in bytes
    double budget; ///< what a form may take
    double energy; ///< of all forms
    double curve[CUTIS_MOMENTS_CURVE];
    uint32_t curve_count;
} cutis_mixed;

/// Open the forms. @param fits false: they are too large for the budget even with few candidates
/// (close it)
cutis_result cutis_mixed_open(cutis_mixed *x, bool *fits);
/// A group's kinds of poses that there are, with their weights. @return their number
uint32_t cutis_mixed_kinds(const cutis_mixed *x, uint32_t group, cutis_moments_poses *out);
/// Stream the poses with the current weights of kinds, find the weights (from those found before,
/// too).
cutis_result cutis_mixed_solve(cutis_mixed *x);
/// A step from the weights found, about the surface that they make (moments.h).
cutis_result cutis_mixed_bend(cutis_mixed *x);
/// The weights of a group; arrays in the arena.
bool cutis_mixed_weights(const cutis_mixed *x, uint32_t group, cutis_arena *arena,
                         cutis_reduce_weights *out);
void cutis_mixed_close(cutis_mixed *x);

#endif
