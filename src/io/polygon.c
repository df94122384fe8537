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
static bool flatten(cutis_corner *corners, uint32_t count)
{
    double normal[3] = { 0, 0, 0 };
    for (uint32_t i = 0; i < count; i++) {
        const float *a = corners[i].point, *b = corners[i + 1 < count ? i + 1 : 0].point;
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
        corners[i].flat[0] = (double)corners[i].point[u];
        corners[i].flat[1] = (double)corners[i].point[v];
    }
    return true;
}

static bool is_convex(const cutis_corner *corners, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (turn(corners[i].flat, corners[(i + 1) % count].flat, corners[(i + 2) % count].flat) < 0)
            return false;
    return true;
}

static void set_triangle(cutis_polygons *work, uint32_t t, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *triangle = work->corners[t].triangle;
    triangle[0] = a, triangle[1] = b, triangle[2] = c;
}

// Whether the corner at `i` can be cut off: convex, and no reflex corner of the rest lies in its
// triangle.
static bool is_ear(cutis_polygons *work, uint32_t i, uint32_t left)
{
    const cutis_corner *corners = work->corners, *ear = &corners[i];
    const double *a = corners[ear->previous].flat, *b = ear->flat, *c = corners[ear->next].flat;
    if (!(turn(a, b, c) > 0)) return false;
    const cutis_corner *j = &corners[corners[ear->next].next];
    for (uint32_t n = 3; n < left; n++, j = &corners[j->next]) {
        const double *p = j->flat;
        if (work->budget == 0) return false;
        work->budget--;
        if (!inside(a, b, c, p) || same(p, a) || same(p, b) || same(p, c)) continue;
        if (turn(corners[j->previous].flat, p, corners[j->next].flat) <= 0) return false;
    }
    return true;
}

static bool clip_ears(cutis_polygons *work, uint32_t count)
{
    cutis_corner *corners = work->corners;
    uint32_t i = 0, left = count, tried = 0, out = 0;
    for (uint32_t k = 0; k < count; k++) {
        corners[k].next = k + 1 < count ? k + 1 : 0;
        corners[k].previous = k ? k - 1 : count - 1;
    }
    while (left > 3) {
        bool stuck = tried >= left; // self-intersecting: cut any corner, the count must hold
        if (!stuck && !is_ear(work, i, left)) {
            if (work->budget == 0) return false;
            i = corners[i].next;
            tried++;
            continue;
        }
        uint32_t a = corners[i].previous, c = corners[i].next;
        set_triangle(work, out++, a, i, c);
        corners[a].next = c;
        corners[c].previous = a;
        i = c; // stepping on, not back, keeps the triangles from becoming slivers around one corner
        left--;
        tried = 0;
    }
    set_triangle(work, out, corners[i].previous, i, corners[i].next);
    return true;
}

bool cutis_polygons_begin(cutis_polygons *work, uint32_t count)
{
    return cutis_arena_grow(work->arena, &work->corners, &work->capacity, count,
                            sizeof *work->corners);
}

bool cutis_polygons_triangulate(cutis_polygons *work, uint32_t count)
{
    cutis_corner *corners = work->corners;
    if (count > 3 && flatten(corners, count) && !is_convex(corners, count))
        return clip_ears(work, count);
    for (uint32_t t = 0; t + 2 < count; t++) set_triangle(work, t, 0, t + 1, t + 2);
    return true;
}
