// Fans for convex polygons, ear clipping for the others. Invariant: exactly count - 2 triangles
// come out, whatever the shape, and the number of point-in-triangle tests over a whole file is
// bounded by the budget.
#include "io/polygon.h"

#include <math.h>

uint64_t cutis_polygons_budget(size_t file_bytes)
{
    // 2^25 tests take about 0.2 s; an ordinary concave quad takes four, and 16 bytes of file.
    return (UINT64_C(1) << 25) + 16 * (uint64_t)file_bytes;
}

// Twice the signed area of the triangle a b c.
static double turn(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool inside(const double *a, const double *b, const double *c, const double *p)
{
    return turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0;
}

static bool same(const double *a, const double *b)
{
    return a[0] == b[0] && a[1] == b[1];
}

// Drops the axis the Newell normal is longest along, so that the polygon runs counter-clockwise;
// false if it has no area.
static bool flatten(const float *const *points, uint32_t count, double *flat)
{
    double normal[3] = { 0, 0, 0 };
    for (uint32_t i = 0; i < count; i++) {
        const float *a = points[i], *b = points[i + 1 < count ? i + 1 : 0];
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            normal[k] += ((double)a[u] - b[u]) * ((double)a[v] + b[v]);
        }
    }
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(normal[k]) > fabs(normal[axis])) axis = k;
    if (!(fabs(normal[axis]) > 0)) return false;
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    if (normal[axis] < 0) {
        int swap = u;
        u = v;
        v = swap;
    }
    for (uint32_t i = 0; i < count; i++) {
        flat[2 * i] = (double)points[i][u];
        flat[2 * i + 1] = (double)points[i][v];
    }
    return true;
}

static bool is_convex(const double *flat, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const double *a = flat + 2 * i, *b = flat + 2 * ((i + 1) % count),
                     *c = flat + 2 * ((i + 2) % count);
        if (turn(a, b, c) < 0) return false;
    }
    return true;
}

static void fan(uint32_t count, uint32_t *triangles)
{
    for (uint32_t i = 0; i + 2 < count; i++) {
        triangles[3 * i] = 0;
        triangles[3 * i + 1] = i + 1;
        triangles[3 * i + 2] = i + 2;
    }
}

// Whether the corner at `i` can be cut off: convex, and no reflex corner of the rest lies in its
// triangle.
static bool is_ear(cutis_polygons *work, uint32_t i, uint32_t left)
{
    const uint32_t *next = work->next, *previous = work->previous;
    const double *a = work->flat + 2 * previous[i], *b = work->flat + 2 * i,
                 *c = work->flat + 2 * next[i];
    if (!(turn(a, b, c) > 0)) return false;
    uint32_t j = next[next[i]];
    for (uint32_t n = 3; n < left; n++, j = next[j]) {
        const double *p = work->flat + 2 * j;
        if (work->budget == 0) return false;
        work->budget--;
        if (!inside(a, b, c, p) || same(p, a) || same(p, b) || same(p, c)) continue;
        if (turn(work->flat + 2 * previous[j], p, work->flat + 2 * next[j]) <= 0) return false;
    }
    return true;
}

static bool clip_ears(cutis_polygons *work, uint32_t count, uint32_t *triangles)
{
    uint32_t i = 0, left = count, tried = 0, out = 0;
    for (uint32_t k = 0; k < count; k++) {
        work->next[k] = k + 1 < count ? k + 1 : 0;
        work->previous[k] = k ? k - 1 : count - 1;
    }
    while (left > 3) {
        bool stuck = tried >= left; // self-intersecting: cut any corner, the count must hold
        if (!stuck && !is_ear(work, i, left)) {
            if (work->budget == 0) return false;
            i = work->next[i];
            tried++;
            continue;
        }
        uint32_t a = work->previous[i], c = work->next[i];
        triangles[out++] = a;
        triangles[out++] = i;
        triangles[out++] = c;
        work->next[a] = c;
        work->previous[c] = a;
        i = c; // stepping on, not back, keeps the triangles from becoming slivers around one corner
        left--;
        tried = 0;
    }
    triangles[out++] = work->previous[i];
    triangles[out++] = i;
    triangles[out++] = work->next[i];
    return true;
}

cutis_result cutis_polygons_triangulate(cutis_polygons *work, const float *const *points,
                                        uint32_t count, uint32_t *triangles)
{
    if (count == 3) {
        fan(3, triangles);
        return CUTIS_OK;
    }
    cutis_arena *arena = work->arena;
    if (!cutis_arena_grow(arena, &work->flat, &work->flat_capacity, count, 2 * sizeof(double)) ||
        !cutis_arena_grow(arena, &work->next, &work->next_capacity, count, sizeof(uint32_t)) ||
        !cutis_arena_grow(arena, &work->previous, &work->previous_capacity, count,
                          sizeof(uint32_t)))
        return cutis_alloc_result(arena->context);
    if (!flatten(points, count, work->flat) || is_convex(work->flat, count)) {
        fan(count, triangles);
        return CUTIS_OK;
    }
    return clip_ears(work, count, triangles) ? CUTIS_OK : CUTIS_LIMIT_EXCEEDED;
}
