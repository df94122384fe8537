/// Polygons to triangles: a polygon of n corners always becomes n - 2 triangles.
#ifndef CUTIS_IO_POLYGON_H
#define CUTIS_IO_POLYGON_H

#include "base/memory.h"

/// Working memory that is kept from polygon to polygon. The zero value with `arena` and `budget`
/// set is ready.
typedef struct cutis_polygons {
    cutis_arena *arena;
    double *flat; ///< 2 per corner
    uint32_t *next, *previous;
    size_t flat_capacity, next_capacity, previous_capacity;
    uint64_t budget; ///< point-in-triangle tests left: ear clipping is cubic at worst, and files
                     ///< are hostile
} cutis_polygons;

/// A budget that no ordinary file uses up, and that a hostile one of `file_bytes` spends in well
/// under a second per MiB.
uint64_t cutis_polygons_budget(size_t file_bytes);

/// Convex polygons become fans from corner 0, others are ear-clipped in the plane of their Newell
/// normal; where that fails (self-intersections), any corner is cut, so the count still holds.
///
/// @param points    count corners; 3 floats each
/// @param triangles 3 * (count - 2) corner numbers of caller memory; winding is kept
/// @return CUTIS_OK, CUTIS_OUT_OF_MEMORY, CUTIS_LIMIT_EXCEEDED (the budget; no error text is set)
cutis_result cutis_polygons_triangulate(cutis_polygons *work, const float *const *points,
                                        uint32_t count, uint32_t *triangles);

#endif
