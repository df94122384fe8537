/// Volume, bounds, diagonal and vertex normals of a triangle surface. All sums run in double in the
/// order of the triangles, so a surface measured twice gives the same bits.
#include <cutis/measure.h>

#include <math.h>

#include "base/memory.h"
#include "geometry/vector.h"

double cutis_surface_volume(const cutis_surface *surface)
{
    if (!surface) return 0;
    double sum = 0.0;
    for (uint64_t t = 0; t < surface->triangle_count; t++) {
        const uint32_t *corner = surface->indices + 3 * t;
        vec3 a = v3_at(surface->positions, corner[0]);
        vec3 b = v3_at(surface->positions, corner[1]);
        vec3 c = v3_at(surface->positions, corner[2]);
        sum += v3_dot(a, v3_cross(b, c));
    }
    return sum / 6.0;
}

cutis_bounds cutis_surface_bounds(const cutis_surface *surface)
{
    cutis_bounds bounds = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (uint32_t v = 0; surface && v < surface->vertex_count; v++) {
        const float *p = surface->positions + 3 * (size_t)v; // compared so, a NaN is passed over
        bounds.min.x = p[0] < bounds.min.x ? p[0] : bounds.min.x;
        bounds.min.y = p[1] < bounds.min.y ? p[1] : bounds.min.y;
        bounds.min.z = p[2] < bounds.min.z ? p[2] : bounds.min.z;
        bounds.max.x = p[0] > bounds.max.x ? p[0] : bounds.max.x;
        bounds.max.y = p[1] > bounds.max.y ? p[1] : bounds.max.y;
        bounds.max.z = p[2] > bounds.max.z ? p[2] : bounds.max.z;
    }
    return bounds;
}

double cutis_surface_diagonal(const cutis_surface *surface)
{
    if (!surface || surface->vertex_count == 0) return 0.0;
    cutis_bounds box = cutis_surface_bounds(surface);
    vec3 edge = { (double)box.max.x - box.min.x, (double)box.max.y - box.min.y,
                  (double)box.max.z - box.min.z };
    return sqrt(v3_dot(edge, edge));
}

cutis_result cutis_surface_normals(cutis_context *context, const cutis_surface *surface,
                                   const uint32_t *weld, float *normals)
{
    if (!context || !surface || !normals) return CUTIS_INVALID_ARGUMENT;
    double *sums = cutis_alloc_zero(context, surface->vertex_count, 3 * sizeof *sums);
    if (!sums) return cutis_alloc_result(context);
    // In double: the float array the caller gave is too coarse for thousands of faces.
    v3_sum_normals(surface->positions, surface->indices, surface->triangle_count, weld, sums);
    for (uint32_t v = 0; v < surface->vertex_count; v++) {
        vec3 sum = v3_of(sums + 3 * (size_t)(weld ? weld[v] : v));
        double length = v3_length(sum);
        // No face, or only faces without area: any unit vector is as good.
        bool any = !(length > 0.0 && isfinite(length));
        v3_put_floats(any ? v3(0, 0, 1) : v3_divide(sum, length), normals + 3 * (size_t)v);
    }
    cutis_free_array(context, sums, surface->vertex_count, 3 * sizeof *sums);
    return CUTIS_OK;
}
