/// Triangles that others meet are cut along the segments where they do: the sides with the points
/// on them and the segments are kept, and the shortest diagonals that cross nothing are added until
/// only triangles are left. Every pair of its points is looked at; where they are many, a grid
/// tells which edges may be in the way.
#include "measure/unite.h"

#include <stdlib.h>

#include "base/error.h"
#include "geometry/order.h"
#include "measure/unite_grid.h"

enum { FEW = 64 }; // points: up to here looking at all edges is as fast

typedef struct diagonal {
    double length; ///< squared
    uint32_t a, b;
} diagonal;

/// One triangle being cut.
typedef struct cutting {
    uniting *u;
    cutis_arena arena; ///< of this triangle
    uint32_t *points;  ///< their numbers
    double *seen;      ///< 2 each
    uint8_t *sides;    ///< bit k: on side k, which begins at corner k
    uint32_t count, capacity, border;
    uint32_t *ends; ///< 2 of each edge
    uint32_t edge_count, edge_capacity;
    bool *joined; ///< count x count
    unite_view view;
    unite_grid grid; ///< of edges, where there are many
    bool failed;     ///< out of memory
} cutting;

static uint32_t point_at(cutting *c, uint32_t point, uint8_t sides)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->points[i] == point) return i;
    c->points[c->count] = point;
    c->sides[c->count] = sides;
    unite_seen(c->u, c->view, point, c->seen + 2 * (size_t)c->count);
    return c->count++;
}

static void join(cutting *c, uint32_t a, uint32_t b)
{
    if (a == b || c->joined[a * (size_t)c->capacity + b]) return;
    c->joined[a * (size_t)c->capacity + b] = c->joined[b * (size_t)c->capacity + a] = true;
    c->ends[2 * (size_t)c->edge_count] = a, c->ends[2 * (size_t)c->edge_count + 1] = b;
    if (c->grid.side && !unite_grid_add(&c->grid, a, b, c->edge_count)) c->failed = true;
    c->edge_count++;
}

/// The pierced points of an edge: order[*begin .. *end).
static void points_of_edge(const uniting *u, uint32_t low, uint32_t high, uint32_t *begin,
                           uint32_t *end)
{
    uint32_t a = 0, b = u->pierced.count;
    while (a < b) {
        const uint32_t middle = a + (b - a) / 2;
        const uint32_t *key = u->pierced.numbers + u->pierced.first[u->edge_order[middle]];
        if (key[0] < low || (key[0] == low && key[1] < high))
            a = middle + 1;
        else
            b = middle;
    }
    *begin = a;
    for (; a < u->pierced.count; a++) {
        const uint32_t *key = u->pierced.numbers + u->pierced.first[u->edge_order[a]];
        if (key[0] != low || key[1] != high) break;
    }
    *end = a;
}

static void first_stop(const uniting *u, uint32_t segment, size_t *at)
{
    size_t a = 0, b = u->stop_count;
    while (a < b) {
        const size_t middle = a + (b - a) / 2;
        if (u->stops[middle].segment < segment)
            a = middle + 1;
        else
            b = middle;
    }
    *at = a;
}

/// How many points there can be.
static size_t most_points(const uniting *u, uint32_t triangle)
{
    const uint32_t *c = unite_corners(u, triangle);
    size_t most = 3, stop;
    uint32_t begin, end;
    for (int k = 0; k < 3; k++) {
        const uint32_t x = c[k], y = c[(k + 1) % 3];
        points_of_edge(u, x < y ? x : y, x < y ? y : x, &begin, &end);
        most += end - begin;
    }
    for (uint32_t i = u->first[triangle]; i < u->first[triangle + 1]; i++) {
        most += 2;
        for (first_stop(u, u->own[i], &stop);
             stop < u->stop_count && u->stops[stop].segment == u->own[i]; stop++)
            most++;
    }
    return most;
}

static bool open_cutting(cutting *c, size_t most)
{
    c->capacity = (uint32_t)most;
    c->points = cutis_arena_alloc(&c->arena, most, sizeof *c->points);
    c->seen = cutis_arena_alloc(&c->arena, most, 2 * sizeof *c->seen);
    c->sides = cutis_arena_alloc(&c->arena, most, sizeof *c->sides);
    c->joined = cutis_arena_zero(&c->arena, most, most * sizeof *c->joined);
    c->ends =
        cutis_arena_alloc(&c->arena, most, 8 * sizeof *c->ends); // a planar graph has 3 a point
    return c->points && c->seen && c->sides && c->joined && c->ends;
}

static void add_sides(cutting *c, uint32_t triangle)
{
    const uniting *u = c->u;
    const uint32_t *corner = unite_corners(u, triangle);
    static const uint8_t SIDES[3] = { 1 | 4, 2 | 1, 4 | 2 };
    for (int k = 0; k < 3; k++) point_at(c, corner[k], SIDES[k]);
    for (int k = 0; k < 3; k++) {
        const uint32_t x = corner[k], y = corner[(k + 1) % 3];
        uint32_t begin, end, last = (uint32_t)k;
        points_of_edge(u, x < y ? x : y, x < y ? y : x, &begin, &end);
        for (uint32_t i = begin; i < end; i++) {
            const uint32_t set = u->edge_order[x < y ? i : begin + end - 1 - i];
            const uint32_t next = point_at(c, u->place_count + set, (uint8_t)(1 << k));
            join(c, last, next);
            last = next;
        }
        join(c, last, (uint32_t)(k + 1) % 3);
    }
    c->border = c->count;
}

static void add_segments(cutting *c, uint32_t triangle)
{
    const uniting *u = c->u;
    for (uint32_t i = u->first[triangle]; i < u->first[triangle + 1]; i++) {
        const uint32_t segment = u->own[i];
        uint32_t last = point_at(c, u->segments[segment].ends[0], 0);
        size_t stop;
        for (first_stop(u, segment, &stop);
             stop < u->stop_count && u->stops[stop].segment == segment; stop++) {
            const uint32_t next = point_at(c, u->stops[stop].point, 0);
            join(c, last, next);
            last = next;
        }
        join(c, last, point_at(c, u->segments[segment].ends[1], 0));
    }
}

/// From a, does the edge to k lie on the diagonal to b? Places on one line do so exactly, often.
static bool covers(const cutting *c, uint32_t a, uint32_t b, uint32_t k)
{
    const double *p = c->seen + 2 * (size_t)a, *q = c->seen + 2 * (size_t)b;
    const double *r = c->seen + 2 * (size_t)k;
    return unite_turn(p, q, r) == 0 &&
           (q[0] - p[0]) * (r[0] - p[0]) + (q[1] - p[1]) * (r[1] - p[1]) > 0;
}

/// Is an edge in the way of the diagonal from a to b?
static bool crosses(const void *user, uint32_t a, uint32_t b, uint32_t edge)
{
    const cutting *c = user;
    const uint32_t i = c->ends[2 * (size_t)edge], k = c->ends[2 * (size_t)edge + 1];
    if (i == a || i == b || k == a || k == b) {
        const uint32_t end = i == a || k == a ? a : b;
        return covers(c, end, a + b - end, i + k - end);
    }
    const double *p = c->seen + 2 * (size_t)a, *q = c->seen + 2 * (size_t)b;
    const double *r = c->seen + 2 * (size_t)i, *s = c->seen + 2 * (size_t)k;
    return unite_turn(p, q, r) * unite_turn(p, q, s) <= 0 &&
           unite_turn(r, s, p) * unite_turn(r, s, q) <= 0;
}

static bool crosses_any(const cutting *c, uint32_t a, uint32_t b)
{
    if (c->grid.side) return unite_grid_any(&c->grid, a, b, crosses, c);
    for (uint32_t e = 0; e < c->edge_count; e++)
        if (crosses(c, a, b, e)) return true;
    return false;
}

static bool open_grid(cutting *c)
{
    if (c->count <= FEW) return true;
    bool good = unite_grid_open(&c->grid, &c->arena, c->seen, c->count);
    for (uint32_t e = 0; e < c->edge_count && good && c->grid.side; e++)
        good = unite_grid_add(&c->grid, c->ends[2 * (size_t)e], c->ends[2 * (size_t)e + 1], e);
    return good;
}

static int by_length(const void *a, const void *b)
{
    const diagonal *x = a, *y = b;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static bool add_diagonals(cutting *c)
{
    const uint32_t wanted = 3 * c->count - 3 - c->border;
    diagonal *list =
        cutis_arena_alloc(&c->arena, (size_t)c->count * c->count / 2 + 1, sizeof *list);
    size_t count = 0;
    if (!list) return false;
    for (uint32_t a = 0; a < c->count; a++)
        for (uint32_t b = a + 1; b < c->count; b++) {
            if (c->joined[a * (size_t)c->capacity + b] || (c->sides[a] & c->sides[b])) continue;
            const double *p = c->seen + 2 * (size_t)a, *q = c->seen + 2 * (size_t)b;
            const double x = q[0] - p[0], y = q[1] - p[1];
            list[count++] = (diagonal){ x * x + y * y, a, b };
        }
    qsort(list, count, sizeof *list, by_length);
    for (size_t i = 0; i < count && c->edge_count < wanted; i++)
        if (!crosses_any(c, list[i].a, list[i].b)) join(c, list[i].a, list[i].b);
    return !c->failed;
}

/// The third corner of the face on the left of an edge: of all that are joined to both ends the one
/// that makes the smallest triangle. UINT32_MAX: there is none.
static uint32_t left_of(const cutting *c, uint32_t a, uint32_t b)
{
    const double *p = c->seen + 2 * (size_t)a, *q = c->seen + 2 * (size_t)b;
    uint32_t best = UINT32_MAX;
    double least = 0;
    for (uint32_t k = 0; k < c->count; k++) {
        if (!c->joined[a * (size_t)c->capacity + k] || !c->joined[b * (size_t)c->capacity + k])
            continue;
        const double area = unite_turn(p, q, c->seen + 2 * (size_t)k);
        if (area > 0 && (best == UINT32_MAX || area < least)) best = k, least = area;
    }
    return best;
}

static bool add_face(uniting *u, const uint32_t *corners, uint32_t origin)
{
    if (!cutis_arena_grow(&u->arena, &u->faces, &u->face_capacity, u->face_count + 1,
                          sizeof *u->faces))
        return false;
    u->faces[u->face_count++] = (unite_face){ { corners[0], corners[1], corners[2] }, origin };
    return true;
}

static bool take_faces(cutting *c, uint32_t triangle)
{
    const size_t before = c->u->face_count;
    for (uint32_t e = 0; e < 2 * c->edge_count; e++) {
        const uint32_t a = c->ends[e], b = c->ends[e ^ 1], k = left_of(c, a, b);
        if (k == UINT32_MAX || a > b || a > k) continue;
        const uint32_t corners[3] = { c->points[a], c->points[b], c->points[k] };
        if (!add_face(c->u, corners, triangle)) return false;
    }
    if (c->u->face_count - before != 2 * (size_t)c->count - 2 - c->border)
        unite_touch(c->u, triangle);
    return true;
}

static bool cut_triangle(uniting *u, uint32_t triangle, size_t most)
{
    cutting c = { .u = u, .arena = { .context = u->context }, .view = unite_view_of(u, triangle) };
    bool good = open_cutting(&c, most);
    if (good) {
        add_sides(&c, triangle);
        add_segments(&c, triangle);
        good = open_grid(&c) && add_diagonals(&c) && take_faces(&c, triangle);
    }
    cutis_arena_release(&c.arena);
    return good;
}

cutis_result unite_cut(uniting *u)
{
    for (uint32_t t = 0; t < u->triangle_count; t++) {
        const size_t most = most_points(u, t);
        if (!(most == 3 ? add_face(u, unite_corners(u, t), t) : cut_triangle(u, t, most)))
            return cutis_alloc_result(u->context);
        if (most > 3)
            TRY(cutis_progress(u->context, "cuts", (t + 1.0) / (double)u->triangle_count));
    }
    return CUTIS_OK;
}
