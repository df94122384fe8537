// Holes of a surface, closed before it is voxelised: through a hole wider than a voxel the flood of
// the outside would come in, and a scan would be a hollow shell around its bones. Invariant: no
// vertex is added or moved, and a hole that is a good part of its surface stays one: a cape, a hat
// and a card have no inside.
#include "fit/handles/caps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "geometry/edge_table.h"
#include "geometry/half_edge.h"
#include "geometry/order.h"
#include "geometry/vector.h"

/// A hole's area, as a vector, of the area of its connected piece: a tube twice as long as it is
/// wide has 0.125 at each end, a hat 0.5, a sheet 1.
static const double HOLE_MOST = 0.25;

/// An edge of one triangle, against its direction there.
typedef struct border {
    uint32_t from, to, corner;
} border;

typedef struct capper {
    cutis_arena scratch;
    const cutis_handles_shape *shape;
    const uint32_t *weld;
    border *borders;
    uint32_t border_count;
    double *area;           ///< per vertex that stands for a piece: twice its area
    uint32_t *up;           ///< pieces, of welded vertices
    uint32_t *first, *list; ///< per welded vertex: ends of borders; 2 e and 2 e + 1 are of border e
    uint32_t *mate;         ///< per end: the one that its hole goes on with, or NONE
    bool *used;             ///< per border
    uint32_t *place;        ///< per vertex: one more than its place in the loop in hand, or 0
    uint32_t *loop, *caps;  ///< vertices of the loop in hand; triangles that were made
    uint32_t length, made;
} capper;

/// An edge from a vertex in hand, of one of the triangles around it.
typedef struct spoke {
    uint32_t to, triangle;
} spoke;

// Edges of one triangle, and triangles at edges of several.
static bool find_borders(capper *k, cutis_arena *arena, cutis_handles_shape *out)
{
    const uint32_t *triangles = k->shape->triangles;
    cutis_edge_table table;
    if (!cutis_edge_table_create(&k->scratch, triangles, k->shape->triangle_count, k->weld, &table))
        return false;
    for (size_t slot = 0; slot < table.capacity; slot++) {
        k->border_count += table.count[slot] == 1;
        out->wall_count += table.count[slot] > 2;
    }
    uint32_t *walls = cutis_arena_alloc(arena, out->wall_count + 1, sizeof *walls);
    k->borders = cutis_arena_alloc(&k->scratch, k->border_count, sizeof *k->borders);
    if (!walls || (k->border_count && !k->borders)) return false;
    const size_t slots = k->border_count || out->wall_count ? table.capacity : 0;
    k->border_count = out->wall_count = 0;
    for (size_t slot = 0; slot < slots; slot++) {
        const uint32_t i = table.corner[slot];
        if (table.count[slot] > 2) walls[out->wall_count++] = i / 3;
        if (table.count[slot] == 1)
            k->borders[k->border_count++] =
                (border){ k->weld[triangles[half_next(i)]], k->weld[triangles[i]], i };
    }
    out->walls = walls;
    return true;
}

// Pieces and their areas; borders of each vertex.
static bool measure_pieces(capper *k)
{
    const cutis_handles_shape *shape = k->shape;
    const size_t vertices = shape->vertex_count, ends = 2 * (size_t)k->border_count;
    k->up = cutis_arena_alloc(&k->scratch, vertices, sizeof *k->up);
    k->area = cutis_arena_zero(&k->scratch, vertices, sizeof *k->area);
    k->first = cutis_arena_alloc(&k->scratch, vertices + 1, sizeof *k->first);
    k->list = cutis_arena_alloc(&k->scratch, ends, sizeof *k->list);
    uint32_t *keys = cutis_arena_alloc(&k->scratch, ends, sizeof *keys);
    k->used = cutis_arena_zero(&k->scratch, k->border_count, sizeof *k->used);
    k->place = cutis_arena_zero(&k->scratch, vertices, sizeof *k->place);
    k->mate = cutis_arena_alloc(&k->scratch, ends, sizeof *k->mate);
    k->loop = cutis_arena_alloc(&k->scratch, k->border_count, sizeof *k->loop);
    k->caps = cutis_arena_alloc(&k->scratch, k->border_count, 3 * sizeof *k->caps);
    if (!k->up || !k->area || !k->first || !k->list || !keys || !k->used || !k->loop || !k->caps ||
        !k->place || !k->mate)
        return false;
    for (uint32_t v = 0; v < vertices; v++) k->up[v] = v;
    for (size_t i = 0; i < 3 * (size_t)shape->triangle_count; i++) {
        const uint32_t a = group_of(k->up, k->weld[shape->triangles[i]]);
        const uint32_t b = group_of(k->up, k->weld[shape->triangles[i - i % 3]]);
        k->up[a > b ? a : b] = a < b ? a : b;
    }
    for (size_t t = 0; t < shape->triangle_count; t++) {
        const uint32_t *c = shape->triangles + 3 * t;
        k->area[group_of(k->up, k->weld[c[0]])] +=
            v3_length(v3_normal(v3_at(shape->positions, c[0]), v3_at(shape->positions, c[1]),
                                v3_at(shape->positions, c[2])));
    }
    for (uint32_t e = 0; e < k->border_count; e++)
        keys[2 * (size_t)e] = k->borders[e].from, keys[2 * (size_t)e + 1] = k->borders[e].to;
    order_by_key(keys, ends, vertices, k->first, k->list);
    return true;
}

static uint32_t vertex_of(const capper *k, uint32_t end)
{
    return end & 1 ? k->borders[end / 2].to : k->borders[end / 2].from;
}

static void pair(capper *k, uint32_t a, uint32_t b)
{
    k->mate[a] = b, k->mate[b] = a;
}

static int order_spokes(const void *a, const void *b)
{
    const spoke *x = a, *y = b;
    const int by = order_u32(&x->to, &y->to);
    return by ? by : order_u32(&x->triangle, &y->triangle);
}

// Where several holes meet in a vertex, those of its borders are of one hole that triangles around
// it join; what is left over goes together as it comes.
// @param corners of the triangles around v, ascending; @param spokes two for each; @param up, open
// one for each
static void pair_around(capper *k, uint32_t v, const uint32_t *corners, uint32_t count,
                        spoke *spokes, uint32_t *up, uint32_t *open)
{
    uint32_t spoke_count = 0, left = CUTIS_HANDLES_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t next = half_next(corners[i]), last = half_previous(corners[i]);
        spokes[spoke_count++] = (spoke){ k->weld[k->shape->triangles[next]], i };
        spokes[spoke_count++] = (spoke){ k->weld[k->shape->triangles[last]], i };
        up[i] = i, open[i] = CUTIS_HANDLES_NONE;
    }
    qsort(spokes, spoke_count, sizeof *spokes, order_spokes);
    for (uint32_t i = 0, end; i < spoke_count; i = end) {
        for (end = i + 1; end < spoke_count && spokes[end].to == spokes[i].to;) end++;
        if (end - i == 2 && spokes[i].to != v) // not through a wall
            up[group_of(up, spokes[i].triangle)] = group_of(up, spokes[i + 1].triangle);
    }
    for (uint32_t i = k->first[v]; i < k->first[v + 1]; i++) {
        const uint32_t end = k->list[i], triangle = k->borders[end / 2].corner / 3;
        const size_t at = order_last(corners, 0, count, 3 * triangle + 2);
        uint32_t *other = &open[group_of(up, (uint32_t)at)];
        if (*other != CUTIS_HANDLES_NONE) pair(k, *other, end);
        *other = *other == CUTIS_HANDLES_NONE ? end : CUTIS_HANDLES_NONE;
    }
    for (uint32_t i = k->first[v]; i < k->first[v + 1]; i++) {
        if (k->mate[k->list[i]] != CUTIS_HANDLES_NONE) continue;
        if (left != CUTIS_HANDLES_NONE) pair(k, left, k->list[i]);
        left = left == CUTIS_HANDLES_NONE ? k->list[i] : CUTIS_HANDLES_NONE;
    }
}

// With which border each hole goes on.
static bool pair_ends(capper *k)
{
    const cutis_handles_shape *shape = k->shape;
    uint32_t crowded = 0, corner_count = 0;
    for (size_t e = 0; e < 2 * (size_t)k->border_count; e++) k->mate[e] = CUTIS_HANDLES_NONE;
    for (uint32_t v = 0; v < shape->vertex_count; v++) {
        const uint32_t count = k->first[v + 1] - k->first[v];
        if (count == 2) pair(k, k->list[k->first[v]], k->list[k->first[v] + 1]);
        if (count > 2) k->place[v] = ++crowded;
    }
    if (!crowded) return true;
    for (size_t i = 0; i < 3 * (size_t)shape->triangle_count; i++)
        corner_count += k->place[k->weld[shape->triangles[i]]] > 0;
    uint32_t *corners = cutis_arena_alloc(&k->scratch, corner_count, sizeof *corners);
    uint32_t *keys = cutis_arena_alloc(&k->scratch, corner_count, sizeof *keys);
    uint32_t *list = cutis_arena_alloc(&k->scratch, corner_count, sizeof *list);
    uint32_t *first = cutis_arena_alloc(&k->scratch, (size_t)crowded + 1, sizeof *first);
    uint32_t *up = cutis_arena_alloc(&k->scratch, corner_count, 2 * sizeof *up);
    spoke *spokes = cutis_arena_alloc(&k->scratch, corner_count, 2 * sizeof *spokes);
    if (!corners || !keys || !list || !first || !up || !spokes) return false;
    corner_count = 0;
    for (uint32_t i = 0; i < 3 * shape->triangle_count; i++) {
        const uint32_t at = k->place[k->weld[shape->triangles[i]]];
        if (at) corners[corner_count] = i, keys[corner_count++] = at - 1;
    }
    order_by_key(keys, corner_count, crowded, first, list);
    for (uint32_t i = 0; i < corner_count; i++) list[i] = corners[list[i]];
    for (uint32_t v = 0; v < shape->vertex_count; v++) {
        if (!k->place[v]) continue;
        const uint32_t at = first[k->place[v] - 1], count = first[k->place[v]] - at;
        pair_around(k, v, list + at, count, spokes, up, up + corner_count);
        k->place[v] = 0;
    }
    return true;
}

static void add_cap(capper *k, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *to = k->caps + 3 * (size_t)k->made++;
    to[0] = a, to[1] = b, to[2] = c;
}

static bool is_small(const capper *k, const uint32_t *loop, uint32_t length)
{
    const vec3 o = v3_at(k->shape->positions, loop[0]);
    vec3 sum = v3(0, 0, 0);
    for (uint32_t i = 1; i + 1 < length; i++)
        sum = v3_add(sum, v3_normal(o, v3_at(k->shape->positions, loop[i]),
                                    v3_at(k->shape->positions, loop[i + 1])));
    return v3_length(sum) <= HOLE_MOST * k->area[group_of(k->up, loop[0])];
}

// The loop in hand from a place on is whole: a strip from side to side of it, if it is a hole, and
// it is taken away.
static void close_loop(capper *k, uint32_t first)
{
    const uint32_t *loop = k->loop + first, length = k->length - first;
    uint32_t low = 0, high = length - 1;
    bool small = length > 2 && is_small(k, loop, length);
    while (small && high - low > 1) {
        add_cap(k, loop[low], loop[low + 1], loop[high]);
        low++;
        if (high - low > 1) add_cap(k, loop[low], loop[high - 1], loop[high]), high--;
    }
    for (uint32_t i = 0; i < length; i++) k->place[loop[i]] = 0;
    k->length = first;
}

// The hole along a border. One that comes back to a vertex is two that meet there.
static void close_hole(capper *k, uint32_t start)
{
    uint32_t end = 2 * start;
    k->length = 0;
    while (end != CUTIS_HANDLES_NONE && !k->used[end / 2]) {
        const uint32_t v = vertex_of(k, end);
        k->used[end / 2] = true;
        if (k->place[v]) close_loop(k, k->place[v] - 1);
        k->loop[k->length++] = v;
        k->place[v] = k->length;
        end = k->mate[end ^ 1];
    }
    if (end == 2 * start) close_loop(k, 0);
    while (k->length) k->place[k->loop[--k->length]] = 0;
}

static cutis_result cap(capper *k, cutis_arena *arena, cutis_handles_shape *out)
{
    const cutis_handles_shape *shape = k->shape;
    const cutis_result none = cutis_alloc_result(arena->context);
    if (!shape->weld) {
        uint32_t *weld = cutis_arena_alloc(arena, shape->vertex_count, sizeof *weld);
        if (!weld) return none;
        TRY(cutis_weld_positions(arena->context, shape->vertex_count, shape->positions, weld));
        out->weld = weld;
    }
    k->weld = out->weld;
    if (!find_borders(k, arena, out)) return none;
    if (k->border_count < 3) return CUTIS_OK;
    if (!measure_pieces(k) || !pair_ends(k)) return none;
    for (uint32_t e = 0; e < k->border_count; e++)
        if (!k->used[e]) close_hole(k, e);
    const size_t size = 3 * sizeof(uint32_t), count = shape->triangle_count;
    uint32_t *triangles = cutis_arena_alloc(arena, count + k->made, size);
    if (!triangles) return none;
    memcpy(triangles, shape->triangles, count * size);
    memcpy(triangles + 3 * count, k->caps, k->made * size);
    out->triangles = triangles;
    out->triangle_count += k->made, out->cap_count = k->made;
    return CUTIS_OK;
}

cutis_result cutis_handles_caps(cutis_arena *arena, const cutis_handles_shape *shape,
                                cutis_handles_shape *out)
{
    capper k = { .scratch = { .context = arena->context }, .shape = shape };
    *out = *shape;
    const cutis_result result = shape->triangle_count ? cap(&k, arena, out) : CUTIS_OK;
    cutis_arena_release(&k.scratch);
    return result;
}
