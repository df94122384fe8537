// Holes of a surface, closed before it is voxelised: through a hole wider than a voxel the flood of
// the outside would come in, and a scan would be a hollow shell around its bones. Invariant: no
// vertex is added or moved, and a hole that is a good part of its surface stays one: a cape, a hat
// and a card have no inside.
#include "fit/handles/caps.h"

#include <math.h>
#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "geometry/order.h"
#include "geometry/vector.h"

/// A hole's area, as a vector, of the area of its connected piece: a tube twice as long as it is
/// wide has 0.125 at each end, a hat 0.5, a sheet 1.
static const double HOLE_MOST = 0.25;

/// An edge of one triangle, against its direction there.
typedef struct border {
    uint32_t from, to, triangle;
} border;

typedef struct capper {
    cutis_arena scratch;
    const cutis_handles_shape *shape;
    uint32_t *weld;
    border *borders;
    uint32_t border_count;
    double *area;           ///< per vertex that stands for a piece: twice its area
    uint32_t *up;           ///< pieces, of welded vertices
    uint32_t *first, *list; ///< per welded vertex: its borders, each with both ends
    bool *used;             ///< per border
    uint32_t *loop, *caps;  ///< vertices of the loop in hand; triangles that were made
    uint32_t length, made;
} capper;

// An open-addressing table of edges, each with the corner it was last seen at and how often.
static bool find_borders(capper *k)
{
    const size_t corners = 3 * (size_t)k->shape->triangle_count;
    const uint32_t *triangles = k->shape->triangles;
    size_t capacity = 16;
    while (capacity < corners) capacity *= 2;
    uint64_t *edges = cutis_arena_alloc(&k->scratch, capacity, sizeof *edges);
    uint32_t *corner = cutis_arena_alloc(&k->scratch, capacity, sizeof *corner);
    uint8_t *count = cutis_arena_zero(&k->scratch, capacity, 1);
    if (!edges || !corner || !count) return false;
    for (size_t i = 0; i < corners; i++) {
        const uint32_t a = k->weld[triangles[i]];
        const uint32_t b = k->weld[triangles[i - i % 3 + (i + 1) % 3]];
        if (a == b) continue;
        const uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
        size_t slot = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (capacity - 1);
        while (count[slot] && edges[slot] != key) slot = (slot + 1) & (capacity - 1);
        edges[slot] = key, corner[slot] = (uint32_t)i;
        k->border_count += count[slot] == 0;
        k->border_count -= count[slot] == 1;
        if (count[slot] < 2) count[slot]++;
    }
    k->borders = cutis_arena_alloc(&k->scratch, k->border_count, sizeof *k->borders);
    if (k->border_count && !k->borders) return false;
    k->border_count = 0;
    for (size_t slot = 0; slot < capacity; slot++) {
        if (count[slot] != 1) continue;
        const uint32_t i = corner[slot];
        k->borders[k->border_count++] =
            (border){ k->weld[triangles[i - i % 3 + (i + 1) % 3]], k->weld[triangles[i]], i / 3 };
    }
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
    k->loop = cutis_arena_alloc(&k->scratch, k->border_count, sizeof *k->loop);
    k->caps = cutis_arena_alloc(&k->scratch, k->border_count, 3 * sizeof *k->caps);
    if (!k->up || !k->area || !k->first || !k->list || !keys || !k->used || !k->loop || !k->caps)
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

// The loop of a border, along it. @return whether it closes
static bool follow(capper *k, uint32_t start)
{
    uint32_t at = k->borders[start].to;
    k->length = 0;
    k->used[start] = true;
    k->loop[k->length++] = k->borders[start].from;
    while (at != k->loop[0]) {
        uint32_t next = CUTIS_HANDLES_NONE;
        for (uint32_t i = k->first[at]; i < k->first[at + 1] && next == CUTIS_HANDLES_NONE; i++)
            if (!k->used[k->list[i] / 2]) next = k->list[i] / 2;
        if (next == CUTIS_HANDLES_NONE) return false;
        k->used[next] = true;
        k->loop[k->length++] = at;
        at = k->borders[next].from == at ? k->borders[next].to : k->borders[next].from;
    }
    return k->length > 2;
}

static void add_cap(capper *k, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *to = k->caps + 3 * (size_t)k->made++;
    to[0] = k->loop[a], to[1] = k->loop[b], to[2] = k->loop[c];
}

// A strip from side to side of the loop in hand.
static void close_loop(capper *k)
{
    uint32_t low = 0, high = k->length - 1;
    while (high - low > 1) {
        add_cap(k, low, low + 1, high);
        low++;
        if (high - low > 1) add_cap(k, low, high - 1, high), high--;
    }
}

static bool is_small(const capper *k)
{
    const vec3 o = v3_at(k->shape->positions, k->loop[0]);
    vec3 sum = v3(0, 0, 0);
    for (uint32_t i = 1; i + 1 < k->length; i++)
        sum = v3_add(sum, v3_normal(o, v3_at(k->shape->positions, k->loop[i]),
                                    v3_at(k->shape->positions, k->loop[i + 1])));
    return v3_length(sum) <= HOLE_MOST * k->area[group_of(k->up, k->loop[0])];
}

static cutis_result cap(capper *k, cutis_arena *arena, cutis_handles_shape *out)
{
    const cutis_handles_shape *shape = k->shape;
    const cutis_result none = cutis_alloc_result(arena->context);
    k->weld = cutis_arena_alloc(&k->scratch, shape->vertex_count, sizeof *k->weld);
    if (!k->weld) return none;
    TRY(cutis_weld_positions(arena->context, shape->vertex_count, shape->positions, k->weld));
    if (!find_borders(k)) return none;
    if (k->border_count < 3) return CUTIS_OK;
    if (!measure_pieces(k)) return none;
    for (uint32_t e = 0; e < k->border_count; e++)
        if (!k->used[e] && follow(k, e) && is_small(k)) close_loop(k);
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
