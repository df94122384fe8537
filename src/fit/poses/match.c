// Which vertex of a sculpt each vertex of a model is. Files split vertices at seams, and reading a
// mesh may order them anew; at rest both stand in the same places. Invariant: the map is found
// whole or not at all, and of several vertices at one place the lowest is taken.
#include <cutis/measure.h>
#include <cutis/poses.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/vector.h"

// Rest positions are the same to this, of the diagonal: files round, programs scale back and forth.
static const double SAME_PLACE = 1e-4;

typedef struct place {
    float at[3];
    uint32_t vertex;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->at[0] != q->at[0]) return p->at[0] < q->at[0] ? -1 : 1;
    return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

static double square_of(const float *a, const float *b)
{
    vec3 d = v3_sub(v3_of_floats(a), v3_of_floats(b));
    return v3_dot(d, d);
}

static bool in_order(uint32_t count, const float *a, const float *b, double near)
{
    for (size_t v = 0; v < count; v++)
        if (!(square_of(a + 3 * v, b + 3 * v) <= near * near)) return false;
    return true;
}

// The nearest of the places, sorted by x; UINT32_MAX if none is near enough.
static uint32_t nearest(const place *places, uint32_t count, const float *at, double near)
{
    uint32_t low = 0, high = count, best = UINT32_MAX;
    double least = near * near;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (places[middle].at[0] < at[0] - near)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && places[low].at[0] <= at[0] + near; low++) {
        double square = square_of(places[low].at, at);
        if (square > least || (square == least && places[low].vertex > best)) continue;
        least = square;
        best = places[low].vertex;
    }
    return best;
}

// By rest position. @return the first vertex without a match, or vertex_count
static uint32_t by_place(place *places, uint32_t vertex_count, const float *rest,
                         uint32_t shape_count, const float *shape_rest, double near, uint32_t *map)
{
    for (uint32_t v = 0; v < shape_count; v++) {
        memcpy(places[v].at, shape_rest + 3 * (size_t)v, sizeof places[v].at);
        places[v].vertex = v;
    }
    qsort(places, shape_count, sizeof *places, compare_places);
    for (uint32_t v = 0; v < vertex_count; v++) {
        map[v] = nearest(places, shape_count, rest + 3 * (size_t)v, near);
        if (map[v] == UINT32_MAX) return v;
    }
    return vertex_count;
}

// In the order in which places are first seen. @return how many there are
static uint32_t by_seams(uint32_t vertex_count, const uint32_t *weld, uint32_t *map)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < vertex_count; v++) map[v] = weld[v] == v ? count++ : map[weld[v]];
    return count;
}

cutis_result cutis_poses_match(cutis_context *context, uint32_t vertex_count, const float *rest,
                               uint32_t shape_count, const float *shape_rest, uint32_t *map)
{
    if (!context || !rest || !map) return CUTIS_INVALID_ARGUMENT;
    const cutis_surface surface = { .vertex_count = vertex_count, .positions = rest };
    const double near = SAME_PLACE * cutis_surface_diagonal(&surface);
    const bool equal = shape_count == vertex_count;
    const bool ordered = equal && (!shape_rest || in_order(vertex_count, rest, shape_rest, near));
    uint32_t missed = vertex_count, welded = 0;
    cutis_arena arena = { .context = context };
    place *places = cutis_arena_alloc(&arena, shape_count, sizeof *places);
    uint32_t *weld = cutis_arena_alloc(&arena, vertex_count, sizeof *weld);
    cutis_result result = places && weld ? cutis_weld_positions(context, vertex_count, rest, weld)
                                         : cutis_alloc_result(context);
    if (result == CUTIS_OK && !ordered) {
        welded = by_seams(vertex_count, weld, map);
        if (shape_rest)
            missed = by_place(places, vertex_count, rest, shape_count, shape_rest, near, map);
        bool found = shape_rest ? missed == vertex_count : welded == shape_count;
        if (!found && !equal)
            result = cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                                "shapes have %u vertices, the model has %u, %u without seams: they "
                                "match neither in order nor by rest position",
                                shape_count, vertex_count, welded);
    }
    for (uint32_t v = 0; v < vertex_count && result == CUTIS_OK; v++)
        if (ordered || (equal && (!shape_rest || missed < vertex_count))) map[v] = v;
    cutis_arena_release(&arena);
    return result;
}
