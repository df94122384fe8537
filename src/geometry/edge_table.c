// A table of edges. Invariant: which slots are taken, and with what, depends on the triangles and
// their order alone.
#include "geometry/edge_table.h"

#include "geometry/half_edge.h"

bool cutis_edge_table_create(cutis_arena *arena, const uint32_t *triangles, size_t triangle_count,
                             const uint32_t *weld, cutis_edge_table *out)
{
    const size_t corners = 3 * triangle_count;
    size_t capacity = 16;
    // An edge has two corners: a third full, mostly. A soup's have one: two thirds at most.
    while (capacity < corners + corners / 2) capacity *= 2;
    uint64_t *edges = cutis_arena_alloc(arena, capacity, sizeof *edges);
    out->capacity = capacity;
    out->corner = cutis_arena_alloc(arena, capacity, sizeof *out->corner);
    out->count = cutis_arena_zero(arena, capacity, 1);
    if (!edges || !out->corner || !out->count) return false;
    for (size_t i = 0; i < corners; i++) {
        const uint32_t a = weld[triangles[i]], b = weld[triangles[half_next((uint32_t)i)]];
        if (a == b) continue;
        const uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
        size_t slot = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (capacity - 1);
        while (out->count[slot] && edges[slot] != key) slot = (slot + 1) & (capacity - 1);
        edges[slot] = key, out->corner[slot] = (uint32_t)i;
        if (out->count[slot] < 3) out->count[slot]++;
    }
    return true;
}
