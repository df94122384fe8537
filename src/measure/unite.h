/// The stages of cutis_surface_unite: what is given (unite_take.c), where triangles meet
/// (unite_meet.c), triangles cut along that (unite_cut.c), which pieces are outside (unite_keep.c),
/// and slivers (unite_mend.c). Points are numbered: first the places of the surface, then where an
/// edge pierces a triangle, then where three triangles meet. That an edge pierces a triangle is
/// decided without rounding, so what both neighbours of the edge think of it is one truth; where
/// the point lies is rounded.
#ifndef CUTIS_MEASURE_UNITE_H
#define CUTIS_MEASURE_UNITE_H

#include <cutis/measure.h>

#include "base/memory.h"
#include "geometry/sets.h"
#include "geometry/vector.h"

/// Where two triangles meet: a straight piece between two points.
typedef struct unite_segment {
    uint32_t triangles[2], ends[2];
} unite_segment;

/// A third triangle meets a segment here.
typedef struct unite_stop {
    uint32_t segment, point;
    double along; ///< from the segment's first end, squared
} unite_stop;

/// A triangle after cutting: of which one it is a part.
typedef struct unite_face {
    uint32_t corners[3], origin;
} unite_face;

typedef struct uniting {
    cutis_context *context;
    cutis_arena arena; ///< of the attempt
    uint32_t place_count, triangle_count;
    const uint32_t *corners; ///< of triangles, places
    const float *given;      ///< positions of places
    float *positions;        ///< nudged where surfaces touch
    bool *touching;          ///< per place: nudge it
    bool failed;             ///< this attempt: something touches, or rounding has misled it

    cutis_sets pierced; ///< (low end, high end, triangle): point place_count + set
    cutis_sets pairs;   ///< (triangle, triangle): segment
    cutis_sets triples; ///< (triangle, triangle, triangle): point behind those that are pierced
    unite_segment *segments;
    size_t segment_count, segment_capacity;
    unite_stop *stops; ///< by segment and place along it
    size_t stop_count, stop_capacity;
    double *points; ///< 3 each
    size_t point_capacity;
    uint32_t point_count;

    uint32_t *edge_order;  ///< pierced points by edge, from its low end to its high one
    double *edge_along;    ///< per pierced point: 0 at the low end, 1 at the high one
    uint32_t *first, *own; ///< segments of each triangle

    unite_face *faces;
    size_t face_count, face_capacity;
    bool *kept; ///< per face
} uniting;

static inline const uint32_t *unite_corners(const uniting *u, uint32_t triangle)
{
    return u->corners + 3 * (size_t)triangle;
}
static inline vec3 unite_point(const uniting *u, uint32_t point)
{
    return v3_of(u->points + 3 * (size_t)point);
}
/// Some corners touch others or cannot be told from them: they are moved a little, and all begins
/// anew.
static inline void unite_touch(uniting *u, uint32_t triangle)
{
    u->failed = true;
    for (int k = 0; k < 3; k++) u->touching[unite_corners(u, triangle)[k]] = true;
}

/// A triangle seen along an axis, so that it turns to the left.
typedef struct unite_view {
    int x, y;
    double turn; ///< 1, or -1 where y is to be mirrored
} unite_view;
unite_view unite_view_of(const uniting *u, uint32_t triangle);
static inline double unite_turn(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}
static inline void unite_seen(const uniting *u, unite_view view, uint32_t point, double *out)
{
    const double *p = u->points + 3 * (size_t)point;
    out[0] = p[view.x], out[1] = view.turn * p[view.y];
}

/// @param triangles of the surface; out: which of them are taken
cutis_result unite_take(cutis_arena *arena, const cutis_surface *surface, const uint32_t *weld,
                        uniting *u, uint32_t *triangles);
/// Each of them: CUTIS_OK also where the attempt has failed.
cutis_result unite_meet(uniting *u);
cutis_result unite_cut(uniting *u);
cutis_result unite_keep(uniting *u);
/// Edges and heights at the cuts that are shorter than `least` go, where that is possible.
cutis_result unite_mend(uniting *u, double least);

#endif
