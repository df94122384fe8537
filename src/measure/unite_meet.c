/// Where the triangles of a surface meet: points where an edge pierces a triangle, the segments
/// between them, and the points where three triangles meet. What touches without crossing fails the
/// attempt.
#include "measure/unite.h"

#include <stdlib.h>

#include "geometry/order.h"
#include "measure/pairs.h"
#include "measure/predicates.h"

static const float *place(const uniting *u, uint32_t p)
{
    return u->positions + 3 * (size_t)p;
}

static int shared_corners(const uint32_t *a, const uint32_t *b, uint32_t *shared)
{
    int count = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (a[i] == b[k]) *shared = a[i], count++;
    return count;
}

/// 1: the edge pierces the triangle, 0: it does not, -1: it touches.
static int pierces(const uniting *u, uint32_t low, uint32_t high, const uint32_t *t)
{
    const float *p = place(u, low), *q = place(u, high);
    const float *c[3] = { place(u, t[0]), place(u, t[1]), place(u, t[2]) };
    for (int k = 0; k < 3; k++)
        if (t[k] == low || t[k] == high) return 0;
    const int from = cutis_side_of_plane(c[0], c[1], c[2], p);
    const int to = cutis_side_of_plane(c[0], c[1], c[2], q);
    if (from * to > 0) return 0;
    bool left = false, right = false, on = from == 0 || to == 0;
    for (int k = 0; k < 3; k++) {
        const int side = cutis_side_of_plane(p, q, c[k], c[(k + 1) % 3]);
        left = left || side > 0, right = right || side < 0, on = on || side == 0;
    }
    if (left && right) return 0;
    return on ? -1 : 1;
}

/// The points where edges of triangle a pierce triangle b. false: out of memory.
static bool pierce(uniting *u, uint32_t a, uint32_t b, uint32_t *ends, int *count)
{
    const uint32_t *from = unite_corners(u, a), *to = unite_corners(u, b);
    for (int k = 0; k < 3; k++) {
        const uint32_t x = from[k], y = from[(k + 1) % 3];
        const uint32_t key[3] = { x < y ? x : y, x < y ? y : x, b };
        const int answer = pierces(u, key[0], key[1], to);
        uint32_t set;
        if (answer < 0) unite_touch(u, a), unite_touch(u, b);
        if (answer <= 0) continue;
        if (!cutis_sets_find(&u->pierced, key, 3, &set)) return false;
        if (*count < 2) ends[*count] = u->place_count + set;
        ++*count;
    }
    return true;
}

static bool visit(void *user, uint32_t a, uint32_t b)
{
    uniting *u = user;
    uint32_t ends[2], shared = 0, set;
    int count = 0;
    const int common = shared_corners(unite_corners(u, a), unite_corners(u, b), &shared);
    if (common > 1) return true;
    if (!pierce(u, a, b, ends, &count) || !pierce(u, b, a, ends, &count)) return false;
    if (common == 1 && count == 1) ends[count++] = shared;
    if (count == 0) return true;
    if (count != 2) {
        unite_touch(u, a), unite_touch(u, b);
        return true;
    }
    const uint32_t key[2] = { a < b ? a : b, a < b ? b : a };
    if (!cutis_sets_find(&u->pairs, key, 2, &set)) return false;
    if (!cutis_arena_grow(&u->arena, &u->segments, &u->segment_capacity, u->segment_count + 1,
                          sizeof *u->segments))
        return false;
    u->segments[u->segment_count++] = (unite_segment){ { key[0], key[1] }, { ends[0], ends[1] } };
    return true;
}

static bool add_point(uniting *u, vec3 at)
{
    if (!cutis_arena_grow(&u->arena, &u->points, &u->point_capacity,
                          3 * (u->point_count + (size_t)1), sizeof *u->points))
        return false;
    v3_put(at, u->points + 3 * (size_t)u->point_count++);
    return true;
}

/// Distance from the plane of a triangle, times its doubled area.
static double height(const uniting *u, uint32_t triangle, vec3 p)
{
    const uint32_t *c = unite_corners(u, triangle);
    const vec3 a = unite_point(u, c[0]);
    return v3_dot(v3_normal(a, unite_point(u, c[1]), unite_point(u, c[2])), v3_sub(p, a));
}

static cutis_result place_pierced(uniting *u)
{
    const uint32_t count = u->pierced.count;
    u->edge_along = cutis_arena_alloc(&u->arena, count, sizeof *u->edge_along);
    if (!u->edge_along) return cutis_alloc_result(u->context);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *key = u->pierced.numbers + u->pierced.first[i];
        const vec3 a = unite_point(u, key[0]), b = unite_point(u, key[1]);
        const double x = fabs(height(u, key[2], a)), y = fabs(height(u, key[2], b));
        u->edge_along[i] = x + y > 0 ? x / (x + y) : 0.5;
        if (!add_point(u, v3_mix(a, b, u->edge_along[i]))) return cutis_alloc_result(u->context);
    }
    return CUTIS_OK;
}

typedef struct edge_point {
    uint32_t low, high, set;
    double along;
} edge_point;

static int by_edge(const void *a, const void *b)
{
    const edge_point *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    if (x->along != y->along) return x->along < y->along ? -1 : 1;
    return (x->set > y->set) - (x->set < y->set);
}

static cutis_result order_edges(uniting *u)
{
    const uint32_t count = u->pierced.count;
    edge_point *list = cutis_arena_alloc(&u->arena, count, sizeof *list);
    u->edge_order = cutis_arena_alloc(&u->arena, count, sizeof *u->edge_order);
    if (!list || !u->edge_order) return cutis_alloc_result(u->context);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *key = u->pierced.numbers + u->pierced.first[i];
        list[i] = (edge_point){ key[0], key[1], i, u->edge_along[i] };
    }
    qsort(list, count, sizeof *list, by_edge);
    for (uint32_t i = 0; i < count; i++) u->edge_order[i] = list[i].set;
    return CUTIS_OK;
}

static cutis_result own_segments(uniting *u)
{
    const size_t count = 2 * u->segment_count;
    uint32_t *keys = cutis_arena_alloc(&u->arena, count, sizeof *keys);
    u->first = cutis_arena_alloc(&u->arena, u->triangle_count + (size_t)1, sizeof *u->first);
    u->own = cutis_arena_alloc(&u->arena, count, sizeof *u->own);
    if (!keys || !u->first || !u->own) return cutis_alloc_result(u->context);
    for (size_t i = 0; i < count; i++) keys[i] = u->segments[i / 2].triangles[i % 2];
    order_by_key(keys, count, u->triangle_count, u->first, u->own);
    for (size_t i = 0; i < count; i++) u->own[i] /= 2;
    return CUTIS_OK;
}

// Three triangles ---------------------------------------------------------------------------------

unite_view unite_view_of(const uniting *u, uint32_t triangle)
{
    const uint32_t *c = unite_corners(u, triangle);
    const vec3 n = v3_normal(unite_point(u, c[0]), unite_point(u, c[1]), unite_point(u, c[2]));
    const double size[3] = { n.x, n.y, n.z };
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(size[k]) > fabs(size[axis])) axis = k;
    return (unite_view){ (axis + 1) % 3, (axis + 2) % 3, size[axis] < 0 ? -1 : 1 };
}

static uint32_t other_of(const unite_segment *s, uint32_t triangle)
{
    return s->triangles[s->triangles[0] == triangle];
}

/// The segment of two triangles; UINT32_MAX: they do not meet.
static bool find_segment(uniting *u, uint32_t a, uint32_t b, uint32_t *segment)
{
    const uint32_t key[2] = { a < b ? a : b, a < b ? b : a };
    if (!cutis_sets_find(&u->pairs, key, 2, segment)) return false;
    if (*segment >= u->segment_count) *segment = UINT32_MAX;
    return true;
}

static bool add_stop(uniting *u, uint32_t segment, uint32_t point)
{
    const vec3 from = unite_point(u, u->segments[segment].ends[0]);
    const vec3 way = v3_sub(unite_point(u, point), from);
    if (!cutis_arena_grow(&u->arena, &u->stops, &u->stop_capacity, u->stop_count + 1,
                          sizeof *u->stops))
        return false;
    u->stops[u->stop_count++] = (unite_stop){ segment, point, v3_dot(way, way) };
    return true;
}

/// Two segments of a triangle, whose others are numbered higher, cross: all three triangles meet
/// there.
static bool cross_segments(uniting *u, uint32_t triangle, unite_view view, uint32_t one,
                           uint32_t two)
{
    const unite_segment s = u->segments[one], t = u->segments[two];
    for (int k = 0; k < 4; k++)
        if (s.ends[k / 2] == t.ends[k % 2]) return true;
    double p[2], q[2], a[2], b[2];
    unite_seen(u, view, s.ends[0], p), unite_seen(u, view, s.ends[1], q);
    unite_seen(u, view, t.ends[0], a), unite_seen(u, view, t.ends[1], b);
    const double pa = unite_turn(a, b, p), qa = unite_turn(a, b, q);
    if (pa * qa > 0 || unite_turn(p, q, a) * unite_turn(p, q, b) > 0) return true;
    uint32_t key[3] = { triangle, other_of(&s, triangle), other_of(&t, triangle) }, set, third;
    if (!find_segment(u, key[1], key[2], &third)) return false;
    if (third == UINT32_MAX || pa == qa) { // rounding has misled one of the three
        for (int k = 0; k < 3; k++) unite_touch(u, key[k]);
        return true;
    }
    if (key[1] > key[2]) third = key[1], key[1] = key[2], key[2] = third;
    if (!find_segment(u, key[1], key[2], &third)) return false;
    const uint32_t before = u->triples.count;
    if (!cutis_sets_find(&u->triples, key, 3, &set)) return false;
    if (set < before) return true;
    const vec3 at = v3_mix(unite_point(u, s.ends[0]), unite_point(u, s.ends[1]), pa / (pa - qa));
    const uint32_t point = u->point_count;
    return add_point(u, at) && add_stop(u, one, point) && add_stop(u, two, point) &&
           add_stop(u, third, point);
}

static int by_segment(const void *a, const void *b)
{
    const unite_stop *x = a, *y = b;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    if (x->along != y->along) return x->along < y->along ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

static cutis_result find_triples(uniting *u)
{
    for (uint32_t t = 0; t < u->triangle_count; t++) {
        const uint32_t *own = u->own + u->first[t];
        const uint32_t count = u->first[t + 1] - u->first[t];
        if (count < 2) continue;
        const unite_view view = unite_view_of(u, t);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = i + 1; k < count; k++)
                if (other_of(&u->segments[own[i]], t) > t &&
                    other_of(&u->segments[own[k]], t) > t &&
                    !cross_segments(u, t, view, own[i], own[k]))
                    return cutis_alloc_result(u->context);
    }
    if (u->stop_count) qsort(u->stops, u->stop_count, sizeof *u->stops, by_segment);
    return CUTIS_OK;
}

cutis_result unite_meet(uniting *u)
{
    const cutis_surface surface = { u->place_count, u->triangle_count, u->positions, u->corners };
    cutis_triangle_pairs pairs = {
        .context = u->context, .surface = &surface, .visit = visit, .user = u
    };
    cutis_result result = cutis_triangle_pairs_visit(&pairs);
    for (uint32_t p = 0; p < u->place_count && result == CUTIS_OK; p++)
        if (!add_point(u, v3_at(u->positions, p))) result = cutis_alloc_result(u->context);
    if (result == CUTIS_OK && !u->failed) result = place_pierced(u);
    if (result == CUTIS_OK && !u->failed) result = order_edges(u);
    if (result == CUTIS_OK && !u->failed) result = own_segments(u);
    if (result == CUTIS_OK && !u->failed) result = find_triples(u);
    return result;
}
