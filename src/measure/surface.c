/// Volume, bounds, diagonal and vertex normals of a triangle surface. All sums run in double in the
/// order of the triangles, so a surface measured twice gives the same bits.
#include <cutis/measure.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "measure/vector.h"

double cutis_surface_volume(const cutis_surface *surface)
{
    double sum = 0.0;
    for (uint64_t t = 0; t < surface->triangle_count; t++) {
        const uint32_t *corner = surface->indices + 3 * t;
        vector a = vector_at(surface->positions, corner[0]);
        vector b = vector_at(surface->positions, corner[1]);
        vector c = vector_at(surface->positions, corner[2]);
        sum += vector_dot(a, vector_cross(b, c));
    }
    return sum / 6.0;
}

cutis_bounds cutis_surface_bounds(const cutis_surface *surface)
{
    cutis_bounds bounds = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (uint32_t v = 0; v < surface->vertex_count; v++) {
        const float *p = surface->positions + 3 * (size_t)v;
        bounds.min.x = fminf(bounds.min.x, p[0]);
        bounds.min.y = fminf(bounds.min.y, p[1]);
        bounds.min.z = fminf(bounds.min.z, p[2]);
        bounds.max.x = fmaxf(bounds.max.x, p[0]);
        bounds.max.y = fmaxf(bounds.max.y, p[1]);
        bounds.max.z = fmaxf(bounds.max.z, p[2]);
    }
    return bounds;
}

double cutis_surface_diagonal(const cutis_surface *surface)
{
    if (surface->vertex_count == 0) return 0.0;
    cutis_bounds box = cutis_surface_bounds(surface);
    vector edge = { (double)box.max.x - box.min.x, (double)box.max.y - box.min.y,
                    (double)box.max.z - box.min.z };
    return sqrt(vector_dot(edge, edge));
}

// Sums are kept in double at the representative; the float array the caller gave is too coarse for
// thousands of faces.
static void sum_face_normals(const cutis_surface *surface, const uint32_t *weld, double *sums)
{
    for (uint64_t t = 0; t < surface->triangle_count; t++) {
        const uint32_t *corner = surface->indices + 3 * t;
        vector a = vector_at(surface->positions, corner[0]);
        vector b = vector_at(surface->positions, corner[1]);
        vector c = vector_at(surface->positions, corner[2]);
        vector n = vector_cross(vector_minus(b, a), vector_minus(c, a)); // twice the area
        for (int k = 0; k < 3; k++) {
            double *sum = sums + 3 * (size_t)(weld ? weld[corner[k]] : corner[k]);
            sum[0] += n.x;
            sum[1] += n.y;
            sum[2] += n.z;
        }
    }
}

cutis_result cutis_surface_normals(cutis_context *context, const cutis_surface *surface,
                                   const uint32_t *weld, float *normals)
{
    double *sums = cutis_alloc_zero(context, surface->vertex_count, 3 * sizeof *sums);
    if (!sums) return cutis_alloc_result(context);
    sum_face_normals(surface, weld, sums);
    for (uint32_t v = 0; v < surface->vertex_count; v++) {
        const double *sum = sums + 3 * (size_t)(weld ? weld[v] : v);
        double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        float *out = normals + 3 * (size_t)v;
        if (length > 0.0 && isfinite(length)) {
            for (int k = 0; k < 3; k++) out[k] = (float)(sum[k] / length);
        } else { // no face, or only faces without area: any unit vector is as good
            out[0] = out[1] = 0.0f;
            out[2] = 1.0f;
        }
    }
    cutis_free_array(context, sums, surface->vertex_count, 3 * sizeof *sums);
    return CUTIS_OK;
}
