/// Where a ray meets a surface. Every triangle is asked: a frame of a body moves, and a tree over
/// it would have to be made anew. Invariant: of several triangles at the same distance the lowest
/// is found, so that a click on an edge is the same everywhere.
#include <cutis/measure.h>

#include <math.h>

#include "geometry/vector.h"

/// Cramer's rule for origin + t direction = a + u (b - a) + v (c - a); false where it misses.
static bool meets(vec3 origin, vec3 direction, vec3 a, vec3 b, vec3 c, double out[3])
{
    const vec3 ab = v3_sub(b, a), ac = v3_sub(c, a), from = v3_sub(origin, a);
    const vec3 p = v3_cross(direction, ac);
    const double determinant = v3_dot(ab, p);
    if (!(determinant > 0 || determinant < 0)) return false;
    const double u = v3_dot(from, p) / determinant;
    if (!(u >= 0 && u <= 1)) return false;
    const vec3 q = v3_cross(from, ab);
    const double v = v3_dot(direction, q) / determinant;
    if (!(v >= 0 && u + v <= 1)) return false;
    out[0] = v3_dot(ac, q) / determinant;
    out[1] = u;
    out[2] = v;
    return out[0] >= 0;
}

cutis_result cutis_surface_pick(const cutis_surface *surface, const double origin[3],
                                const double direction[3], cutis_surface_point *out)
{
    if (out) *out = (cutis_surface_point){ 0 };
    if (!surface || !origin || !direction || !out) return CUTIS_INVALID_ARGUMENT;
    const vec3 from = v3_of(origin), along = v3_of(direction);
    if (!isfinite(v3_dot(from, from)) || !(v3_dot(along, along) > 0)) return CUTIS_INVALID_ARGUMENT;
    double best = INFINITY;
    for (uint64_t t = 0; t < surface->triangle_count; t++) {
        const uint32_t *corner = surface->indices + 3 * t;
        double hit[3];
        if (!meets(from, along, v3_at(surface->positions, corner[0]),
                   v3_at(surface->positions, corner[1]), v3_at(surface->positions, corner[2]),
                   hit) ||
            !(hit[0] < best))
            continue;
        best = hit[0];
        *out = (cutis_surface_point){ .triangle = (uint32_t)t,
                                      .corners = { 1 - hit[1] - hit[2], hit[1], hit[2] },
                                      .distance = hit[0] };
    }
    return best < INFINITY ? CUTIS_OK : CUTIS_NOT_FOUND;
}
