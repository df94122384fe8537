/// Making levels of points (solver.h).
#ifndef CUTIS_FIT_BAKE_LEVEL_H
#define CUTIS_FIT_BAKE_LEVEL_H

#include "fit/bake/solver.h"

/// Points of a problem, or `most` of them taken evenly, with their given weights to start from.
/// @param capacity helpers there is room for; @return false: out of memory
bool cutis_bake_level_create(const cutis_bake_problem *problem, cutis_arena *arena,
                             uint32_t capacity, uint32_t most, cutis_bake_level *level);

/// Start a level from another one's supports, each point from the nearest's.
bool cutis_bake_level_inherit(const cutis_bake_work *work, cutis_arena *arena,
                              const cutis_bake_level *from, cutis_bake_level *level);

#endif
