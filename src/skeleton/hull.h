/// Convex hulls and intersections of half-spaces by qhull.
#ifndef CUTIS_SKELETON_HULL_H
#define CUTIS_SKELETON_HULL_H

#include "base/memory.h"

typedef struct cutis_hull {
    uint32_t count;            ///< triangles; 0: the points lie in a plane (to tolerance)
    double (*triangles)[3][3]; ///< corners, seen from outside counter-clockwise
} cutis_hull;

/// @param points n of them; @param flat distance from a plane that counts as none
cutis_result cutis_hull_make(cutis_arena *arena, const double (*points)[3], uint32_t n, double flat,
                             cutis_hull *out);

/// Area centroid of the triangles; the enclosed volume in *volume.
void cutis_hull_centroid(const cutis_hull *hull, double *centroid, double *volume);

/// Planes of the facets of a hull around the origin as a . y = 1; facets that are one plane are
/// one. The points must surround the origin.
cutis_result cutis_hull_dual(cutis_arena *arena, const double (*points)[3], uint32_t n,
                             double (**planes)[3], uint32_t *count);

/// What lies inside all of a set of half-spaces n . x <= b.
typedef struct cutis_intersection {
    bool star_shaped;
    double radius;      ///< of the largest ball inside; <= 0: there is none
    double centre[3];   ///< of that ball
    double centroid[3]; ///< of the visibility kernel's surface; meaningful if star_shaped
    double volume;
} cutis_intersection;

/// @param planes nx ny nz b, unit normals outward; the first six must be the box that bounds the
/// visibility kernel: +x -x +y -y +z -z
/// @param diagonal of the body: tolerances are parts of it
cutis_result cutis_intersection_make(cutis_arena *arena, const double (*planes)[4], uint32_t n,
                                     double diagonal, cutis_intersection *out);

#endif
