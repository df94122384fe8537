// qhull behind two functions. Its memory is its own and gone when they return; what it prints is
// caught. Invariant: a flat set of points never reaches it.
#include "skeleton/hull.h"

#include <libqhull_r/qhull_ra.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "geometry/vector.h"

// Do the points span space? Farthest from the first, from that line, from that plane.
static bool is_solid(const double (*points)[3], uint32_t n, double flat)
{
    vec3 u = v3(0, 0, 0), w = u, first = v3_of(points[0]);
    double far = 0;
    for (uint32_t i = 1; i < n; i++) {
        vec3 d = v3_sub(v3_of(points[i]), first);
        if (v3_length(d) > far) far = v3_length(d), u = d;
    }
    if (!(far > flat)) return false;
    u = v3_divide(u, far), far = 0;
    for (uint32_t i = 1; i < n; i++) {
        vec3 c = v3_cross(u, v3_sub(v3_of(points[i]), first));
        if (v3_length(c) > far) far = v3_length(c), w = c;
    }
    if (!(far > flat)) return false;
    w = v3_divide(w, far);
    for (uint32_t i = 1; i < n; i++)
        if (fabs(v3_dot(v3_sub(v3_of(points[i]), first), w)) > flat) return true;
    return false;
}

static void finish(qhT *qh)
{
    int long_blocks, long_bytes;
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &long_blocks, &long_bytes);
}

// Run qhull; the caller reads the facets and must call finish, but not after a failure.
static cutis_result start(cutis_context *context, qhT *qh, const double (*points)[3], uint32_t n,
                          char *command)
{
    char said[1024] = "";
    FILE *errors = cutis_os_stream_open(said, sizeof said);
    int code = -1;
    qh_zero(qh, errors ? errors : stderr);
    if (errors) {
        code = qh_new_qhull(qh, 3, (int)n, (double *)points, False, command, NULL, errors);
        cutis_os_stream_close(errors, said, sizeof said);
        qh->ferr = qh->qhmem.ferr = stderr; // never written to any more, but must not dangle
    }
    if (code == 0) return CUTIS_OK;
    finish(qh);
    const char *line = strstr(said, "QH");
    return cutis_fail(context, CUTIS_INTERNAL, "qhull: %.120s", line ? line : "no memory");
}

// Corners outward: away from a point inside.
static void set_triangle(const double *a, const double *b, const double *c, const double *inside,
                         double (*out)[3])
{
    bool turned = v3_dot(v3_normal_of(a, b, c), v3_sub(v3_of(a), v3_of(inside))) < 0;
    memcpy(out[0], a, sizeof *out);
    memcpy(out[1], turned ? c : b, sizeof *out);
    memcpy(out[2], turned ? b : c, sizeof *out);
}

cutis_result cutis_hull_make(cutis_arena *arena, const double (*points)[3], uint32_t n, double flat,
                             cutis_hull *out)
{
    *out = (cutis_hull){ 0 };
    if (n < 4 || n > INT32_MAX || !is_solid(points, n, flat)) return CUTIS_OK;
    qhT storage, *qh = &storage;
    char command[] = "qhull Qt Pp";
    facetT *facet;
    vertexT *vertex, **vertexp;
    cutis_result result = start(arena->context, qh, points, n, command);
    if (result != CUTIS_OK) return result;
    uint32_t count = (uint32_t)qh->num_facets;
    out->triangles = cutis_arena_alloc(arena, count, sizeof *out->triangles);
    if (!out->triangles) result = cutis_alloc_result(arena->context);
    double inside[3] = { qh->interior_point[0], qh->interior_point[1], qh->interior_point[2] };
    FORALLfacets
    {
        const double *corners[3];
        int i = 0;
        if (result != CUTIS_OK || out->count == count) break;
        FOREACHvertex_(facet->vertices)
        {
            if (i < 3) corners[i] = vertex->point;
            i++;
        }
        if (i == 3)
            set_triangle(corners[0], corners[1], corners[2], inside, out->triangles[out->count++]);
    }
    finish(qh);
    return result;
}

void cutis_hull_centroid(const cutis_hull *hull, double *centroid, double *volume)
{
    double sum[3] = { 0 }, total = 0;
    *volume = 0;
    for (uint32_t i = 0; i < hull->count; i++) {
        const double *a = hull->triangles[i][0], *b = hull->triangles[i][1];
        const double *c = hull->triangles[i][2], *o = hull->triangles[0][0];
        double n[3], area = v3_area_of(a, b, c);
        v3_put(v3_normal_of(a, b, c), n);
        total += area;
        for (int k = 0; k < 3; k++) {
            sum[k] += area * (a[k] + b[k] + c[k]) / 3;
            *volume += n[k] * (a[k] - o[k]) / 6;
        }
    }
    for (int k = 0; k < 3; k++) centroid[k] = total > 0 ? sum[k] / total : 0;
}

cutis_result cutis_hull_dual(cutis_arena *arena, const double (*points)[3], uint32_t n,
                             double (**planes)[3], uint32_t *count)
{
    qhT storage, *qh = &storage;
    char command[] = "qhull Pp";
    facetT *facet;
    *count = 0;
    cutis_result result = start(arena->context, qh, points, n, command);
    if (result != CUTIS_OK) return result;
    *planes = cutis_arena_alloc(arena, (size_t)qh->num_facets, sizeof **planes);
    if (!*planes) result = cutis_alloc_result(arena->context);
    FORALLfacets
    {
        if (result != CUTIS_OK) break;
        if (!(facet->offset < 0)) continue; // the origin is inside, so this is rounding
        for (int k = 0; k < 3; k++) (*planes)[*count][k] = -facet->normal[k] / facet->offset;
        ++*count;
    }
    finish(qh);
    return result;
}
