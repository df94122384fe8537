/// Half-edge h = 3 f + c runs from corner c of triangle f to the next corner; f lies on its left.
#ifndef CUTIS_GEOMETRY_HALF_EDGE_H
#define CUTIS_GEOMETRY_HALF_EDGE_H

#include "base/memory.h"

static inline uint32_t half_next(uint32_t h)
{
    return h % 3 == 2 ? h - 2 : h + 1;
}
static inline uint32_t half_previous(uint32_t h)
{
    return h % 3 == 0 ? h + 2 : h - 1;
}

/// The ends of a half-edge, whichever way it runs.
typedef struct cutis_edge {
    uint32_t low, high;
    uint64_t half;
} cutis_edge;

#pragma GCC visibility push(default) // cutis-skeleton sorts edges too

/// Edges of the triangles that keep three corners, sorted by ends, then by half-edge.
/// @param arena for them; @param weld NULL: corners stand for themselves
cutis_result cutis_edges_sort(cutis_arena *arena, const uint32_t *corners, const uint32_t *weld,
                              uint64_t triangle_count, cutis_edge **edges, size_t *count);
/// Sort edges by ends; equal ones stay in their order. false: out of memory.
bool cutis_edges_order(cutis_context *context, cutis_edge *edges, size_t count);
/// How many half-edges from edges[i] on have its ends.
size_t cutis_edges_run(const cutis_edge *edges, size_t count, size_t i);

#pragma GCC visibility pop

#endif
