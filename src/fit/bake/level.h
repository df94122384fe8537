/// Making levels of points (solver.h).
#ifndef CUTIS_FIT_BAKE_LEVEL_H
#define CUTIS_FIT_BAKE_LEVEL_H

#include "fit/bake/solver.h"

/// Which joints each point may follow: those of its neighbours' own weights, and those beside
/// them. @return false: out of memory
bool cutis_bake_mask(cutis_bake_problem *problem, cutis_arena *arena);

/// All points of a problem, with their given weights to start from.
/// @param capacity helpers there is room for; @return false: out of memory
bool cutis_bake_level_create(const cutis_bake_problem *problem, cutis_arena *arena,
                             uint32_t capacity, cutis_bake_level *level);

/// Start a state on all points and frames from one on some of them: each point has what the nearest
/// follows, helpers are where they were in the nearest frame.
/// @param frame per frame of `from`: which of the problem's it is
bool cutis_bake_level_inherit(const cutis_bake_work *from, const uint32_t *frame,
                              cutis_arena *arena, cutis_bake_work *to);

/// A problem with some of the points and frames, taken evenly.
/// Products of coordinates of all points: places, and normals by their worth.
void cutis_bake_squares(const cutis_bake_problem *problem, cutis_bake_level *level);
bool cutis_bake_thin(const cutis_bake_problem *problem, cutis_arena *arena, uint32_t points,
                     uint32_t frame_step, cutis_bake_problem *out, uint32_t **frame);

#endif
