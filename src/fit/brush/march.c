// Distances along a surface from one of its points: a front that marches from vertex to vertex. A
// corner behind an edge whose ends have their distance gets its own by unfolding: the plane point
// with those distances from the ends is the source as the triangle sees it. Exact where the surface
// is flat; elsewhere docs/spec/brush.md 1 has the error.
#include <math.h>

#include "fit/brush/painting.h"

// A way counts as shorter only by more than rounding, so that the march ends.
static const double SHORTER = 1e-12;

/// Distance of c over the edge from a to b, whose distances are known.
static double over_edge(vec3 a, vec3 b, vec3 c, double at_a, double at_b)
{
    const vec3 ab = v3_sub(b, a), ac = v3_sub(c, a);
    const double along = fmin(at_a + v3_length(ac), at_b + v3_length(v3_sub(c, b)));
    const double length = v3_length(ab);
    if (!(length > 0)) return along;
    const double cx = v3_dot(ab, ac) / length, cy = sqrt(fmax(0, v3_dot(ac, ac) - cx * cx));
    const double sx = (at_a * at_a - at_b * at_b + length * length) / (2 * length);
    const double sy = sqrt(fmax(0, at_a * at_a - sx * sx));
    if (!(sy + cy > 0)) return along;
    const double cut = sx + (cx - sx) * sy / (sy + cy); // where the straight way crosses the edge
    if (!(cut >= 0 && cut <= length)) return along;
    return sqrt((cx - sx) * (cx - sx) + (cy + sy) * (cy + sy));
}

static bool offer(cutis_painting *p, uint32_t weld, double distance, double radius)
{
    if (!(distance < radius && distance < (1 - SHORTER) * p->distance[weld])) return true;
    p->distance[weld] = distance;
    if (cutis_heap_push(&p->heap, distance, weld)) return true;
    p->distance[weld] = INFINITY; // nobody would find it again to clear it
    return false;
}

/// The corners beside a weld that has just got its distance. A corner that was there before may get
/// a shorter one and comes again: behind a blunt angle the front arrives late.
static bool look_around(cutis_painting *p, uint32_t weld, double radius)
{
    for (uint32_t i = p->around_first[weld]; i < p->around_first[weld + 1]; i++) {
        const uint32_t corner = p->around[i], *triangle = p->triangles + corner / 3 * 3;
        const uint32_t others[2] = { triangle[(corner + 1) % 3], triangle[(corner + 2) % 3] };
        for (int k = 0; k < 2; k++) {
            const uint32_t to = others[k], beside = others[1 - k];
            const double distance =
                p->settled[beside]
                    ? over_edge(p->place[weld], p->place[beside], p->place[to], p->distance[weld],
                                p->distance[beside])
                    : p->distance[weld] + v3_length(v3_sub(p->place[to], p->place[weld]));
            if (!offer(p, to, distance, radius)) return false;
        }
    }
    return true;
}

bool brush_march(cutis_painting *p, uint32_t triangle, vec3 from, double radius)
{
    bool good = true;
    brush_unmark(&p->reached);
    p->heap.count = 0;
    for (int c = 0; c < 3 && good; c++) {
        const uint32_t weld = p->triangles[3 * (size_t)triangle + c];
        good = offer(p, weld, v3_length(v3_sub(p->place[weld], from)), radius);
    }
    while (good && p->heap.count > 0) {
        const cutis_waiting now = cutis_heap_pop(&p->heap);
        if (now.distance > p->distance[now.vertex]) continue; // it has a shorter one by now
        p->settled[now.vertex] = true;
        brush_mark(&p->reached, now.vertex);
        good = look_around(p, now.vertex, radius);
    }
    while (p->heap.count > 0) p->distance[cutis_heap_pop(&p->heap).vertex] = INFINITY;
    for (uint32_t i = 0; i < p->reached.count; i++) p->settled[p->reached.list[i]] = false;
    return good;
}
