/// Edges by sorting: what has two faces, one or many shows as a run of equal ends, in an order that
/// does not depend on the order of the triangles.
#include "geometry/half_edge.h"

#include "base/error.h"
#include "geometry/order.h"

// Two stable passes of counting: by the higher end, then by the lower.
bool cutis_edges_order(cutis_context *context, cutis_edge *edges, size_t count)
{
    cutis_arena scratch = { .context = context };
    size_t ends = 0;
    for (size_t i = 0; i < count; i++)
        ends = edges[i].high < ends ? ends : edges[i].high + (size_t)1;
    const cutis_edge *old = cutis_arena_copy(&scratch, edges, count, sizeof *old);
    uint32_t *keys = cutis_arena_alloc(&scratch, count, sizeof *keys);
    uint32_t *by_high = cutis_arena_alloc(&scratch, count, sizeof *by_high);
    uint32_t *by_low = cutis_arena_alloc(&scratch, count, sizeof *by_low);
    uint32_t *first = cutis_arena_alloc(&scratch, ends + 1, sizeof *first);
    const bool good = old && keys && by_high && by_low && first;
    if (good) {
        for (size_t i = 0; i < count; i++) keys[i] = old[i].high;
        order_by_key(keys, count, ends, first, by_high);
        for (size_t i = 0; i < count; i++) keys[i] = old[by_high[i]].low;
        order_by_key(keys, count, ends, first, by_low);
        for (size_t i = 0; i < count; i++) edges[i] = old[by_high[by_low[i]]];
    }
    cutis_arena_release(&scratch);
    return good;
}

cutis_result cutis_edges_sort(cutis_arena *arena, const uint32_t *corners, const uint32_t *weld,
                              uint64_t triangle_count, cutis_edge **edges, size_t *count)
{
    if (triangle_count > UINT32_MAX / 3)
        return cutis_fail(arena->context, CUTIS_INVALID_ARGUMENT, "surface: too many triangles");
    *count = 0;
    *edges = cutis_arena_alloc(arena, 3 * (size_t)triangle_count, sizeof **edges);
    if (!*edges) return cutis_alloc_result(arena->context);
    for (uint64_t t = 0; t < triangle_count; t++) {
        uint32_t id[3];
        for (int k = 0; k < 3; k++) id[k] = weld ? weld[corners[3 * t + k]] : corners[3 * t + k];
        if (id[0] == id[1] || id[1] == id[2] || id[2] == id[0]) continue;
        for (int k = 0; k < 3; k++) {
            uint32_t a = id[k], b = id[(k + 1) % 3];
            (*edges)[(*count)++] = (cutis_edge){ a < b ? a : b, a < b ? b : a, 3 * t + k };
        }
    }
    return cutis_edges_order(arena->context, *edges, *count) ? CUTIS_OK
                                                             : cutis_alloc_result(arena->context);
}

size_t cutis_edges_run(const cutis_edge *edges, size_t count, size_t i)
{
    size_t n = 1;
    while (i + n < count && edges[i + n].low == edges[i].low && edges[i + n].high == edges[i].high)
        n++;
    return n;
}
