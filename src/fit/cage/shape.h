/// Cages in double, as the fits see them.
#ifndef CUTIS_FIT_CAGE_SHAPE_H
#define CUTIS_FIT_CAGE_SHAPE_H

#include <cutis/cage.h>

#include "base/memory.h"
#include "geometry/vector.h"

typedef struct cutis_cage_shape {
    cutis_context *context; ///< the call's: for errors and progress
    uint32_t control_count, triangle_count;
    double *controls;    ///< 3 each
    uint32_t *triangles; ///< 3 each, outward
    double extent;       ///< diagonal of the bounding box
    box3 box;
} cutis_cage_shape;

/// false: out of memory.
bool cutis_cage_shape_make(cutis_arena *arena, const cutis_cage *cage, cutis_cage_shape *out);

/// The cage's point nearest to x: its distance; triangle and barycentric coordinates if asked.
double cutis_cage_nearest(const cutis_cage_shape *shape, const double *x, uint32_t *triangle,
                          double *barycentric);

/// Is x inside? By the winding number, so that small errors of the triangles do not matter.
bool cutis_cage_inside(const cutis_cage_shape *shape, const double *x);

#endif
