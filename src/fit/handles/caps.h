/// Holes of a surface, closed before it is voxelised, so that what has an inside keeps it.
#ifndef CUTIS_FIT_HANDLES_CAPS_H
#define CUTIS_FIT_HANDLES_CAPS_H

#include "fit/handles/grid.h"

/// The shape with triangles across holes that are small beside their connected piece.
/// @param out the same vertices; triangles in the arena, or the shape's own
cutis_result cutis_handles_caps(cutis_arena *arena, const cutis_handles_shape *shape,
                                cutis_handles_shape *out);

#endif
