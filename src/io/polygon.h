/// Polygons to triangles: a polygon of n corners always becomes n - 2 triangles.
#ifndef CUTIS_IO_POLYGON_H
#define CUTIS_IO_POLYGON_H

#include "base/memory.h"

/// A corner of the polygon at work.
typedef struct cutis_corner {
    float point[3]; ///< the caller's
    double flat[2]; ///< in the polygon's plane
    uint32_t next, previous;
    uint32_t triangle[3]; ///< of the first count - 2: a triangle's corners
} cutis_corner;

/// Working memory that is kept from polygon to polygon. The zero value with `arena` and `budget`
/// set is ready.
typedef struct cutis_polygons {
    cutis_arena *arena;
    cutis_corner *corners;
    size_t capacity;
    uint64_t budget; ///< point-in-triangle tests left: ear clipping is cubic at worst, and files
                     ///< are hostile
} cutis_polygons;

/// A budget that no ordinary file uses up, and that a hostile one of `file_bytes` spends in well
/// under a second per MiB.
uint64_t cutis_polygons_budget(size_t file_bytes);

/// Space for `count` corners, whose points the caller fills in. false: no memory
bool cutis_polygons_begin(cutis_polygons *work, uint32_t count);
/// Convex polygons become fans from corner 0, others are ear-clipped in the plane of their Newell
/// normal; where that fails (self-intersections), any corner is cut, so the count still holds.
/// Winding is kept.
/// @return false: the budget is spent; no error text is set
bool cutis_polygons_triangulate(cutis_polygons *work, uint32_t count);

#endif
