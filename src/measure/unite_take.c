/// Triangles and places of the given surface. Where sheets share an edge (bodies that stand on each
/// other, welded) each gets places of its own, so that they touch as others do and are nudged
/// apart.
#include "measure/unite.h"

#include "base/error.h"
#include "geometry/half_edge.h"
#include "geometry/order.h"

/// Triangles whose corners are three places.
static cutis_result take_triangles(cutis_arena *arena, const cutis_surface *surface,
                                   const uint32_t *weld, uniting *u, uint32_t *triangles)
{
    uint32_t *corners =
        cutis_arena_alloc(arena, (size_t)surface->triangle_count, 3 * sizeof *corners);
    if (!corners) return cutis_alloc_result(u->context);
    for (uint32_t t = 0; t < surface->triangle_count; t++) {
        const uint32_t *c = surface->indices + 3 * (size_t)t;
        uint32_t *to = corners + 3 * (size_t)u->triangle_count;
        for (int k = 0; k < 3; k++) to[k] = weld[c[k]];
        if (to[0] == to[1] || to[1] == to[2] || to[2] == to[0]) continue;
        triangles[u->triangle_count++] = t;
    }
    u->corners = corners;
    u->place_count = surface->vertex_count;
    return CUTIS_OK;
}

/// Half-edges of an edge go together in turn, one way and the other; so do their corners.
static void join_sheets(const uint32_t *corners, cutis_edge *e, size_t n, uint32_t *up)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n && e[i].half != UINT64_MAX; k++) {
            if (e[k].half == UINT64_MAX) continue;
            const uint32_t x = (uint32_t)e[i].half, y = (uint32_t)e[k].half;
            if (corners[x] == corners[y]) continue;
            up[group_of(up, x)] = group_of(up, half_next(y));
            up[group_of(up, y)] = group_of(up, half_next(x));
            e[i].half = e[k].half = UINT64_MAX;
        }
}

/// Corners that are joined keep one place; the first at a place keeps that.
static cutis_result number_sheets(cutis_arena *arena, uniting *u, uint32_t *corners, uint32_t *up,
                                  uint32_t **places)
{
    const uint32_t count = 3 * u->triangle_count, given = u->place_count;
    uint32_t *number = cutis_arena_zero(arena, count, sizeof *number);
    bool *taken = cutis_arena_zero(arena, given, sizeof *taken);
    *places = cutis_arena_alloc(arena, (size_t)given + count, sizeof **places);
    if (!number || !taken || !*places) return cutis_alloc_result(u->context);
    for (uint32_t p = 0; p < given; p++) (*places)[p] = p;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = corners[i];
        uint32_t *own = &number[group_of(up, i)];
        if (!*own) {
            if (taken[place]) (*places)[u->place_count] = place;
            *own = 1 + (taken[place] ? u->place_count++ : place);
            taken[place] = true;
        }
        corners[i] = *own - 1;
    }
    return CUTIS_OK;
}

/// Is an edge passed as often one way as the other?
static bool is_closed(const uint32_t *corners, const cutis_edge *e, size_t n)
{
    size_t up = 0;
    for (size_t i = 0; i < n; i++) up += corners[e[i].half] == e[i].low;
    return 2 * up == n;
}

/// @param places given vertex of every place; NULL stays: no edge is shared by more than two
static cutis_result part_sheets(cutis_arena *arena, uniting *u, uint32_t **places)
{
    cutis_edge *edges = NULL;
    size_t count = 0, most = 0;
    uint32_t *corners = (uint32_t *)u->corners;
    TRY(cutis_edges_sort(arena, corners, NULL, u->triangle_count, &edges, &count));
    for (size_t i = 0, n; i < count; i += n) {
        n = cutis_edges_run(edges, count, i);
        if (n > most) most = n;
        if (!is_closed(corners, edges + i, n))
            return INVALID(u->context, "surface: it is not closed");
    }
    if (most <= 2) return CUTIS_OK;
    uint32_t *up = cutis_arena_alloc(arena, u->triangle_count, 3 * sizeof *up);
    if (!up) return cutis_alloc_result(u->context);
    for (uint32_t i = 0; i < 3 * u->triangle_count; i++) up[i] = i;
    for (size_t i = 0, n; i < count; i += n) {
        n = cutis_edges_run(edges, count, i);
        join_sheets(corners, edges + i, n, up);
    }
    return number_sheets(arena, u, corners, up, places);
}

cutis_result unite_take(cutis_arena *arena, const cutis_surface *surface, const uint32_t *weld,
                        uniting *u, uint32_t *triangles)
{
    uint32_t *places = NULL;
    TRY(take_triangles(arena, surface, weld, u, triangles));
    TRY(part_sheets(arena, u, &places));
    float *given = cutis_arena_alloc(arena, u->place_count, 3 * sizeof *given);
    u->positions = cutis_arena_alloc(arena, u->place_count, 3 * sizeof *u->positions);
    u->touching = cutis_arena_zero(arena, u->place_count, sizeof *u->touching);
    if (!given || !u->positions || !u->touching) return cutis_alloc_result(u->context);
    for (uint32_t p = 0; p < u->place_count; p++)
        for (int k = 0; k < 3; k++)
            given[3 * (size_t)p + k] = u->positions[3 * (size_t)p + k] =
                surface->positions[3 * (size_t)(places ? places[p] : p) + k];
    u->given = given;
    return CUTIS_OK;
}
