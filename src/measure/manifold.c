/// Closedness of a surface from its edges. Every edge of every face is listed once with its
/// direction, sorted, and runs of equal edges are counted, so the figures do not depend on the
/// order of the triangles.
#include <cutis/measure.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "measure/weld.h"

typedef struct edge {
    uint32_t low, high;
    int32_t direction; // +1 from low to high
} edge;

static int by_ends(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

static uint32_t find(uint32_t *up, uint32_t v)
{
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
}

// Edges of the faces that keep three corners, and which vertices are connected. Returns how many.
static size_t list_edges(const cutis_surface *surface, const uint32_t *weld, edge *edges,
                         uint32_t *up, bool *used, uint64_t *faces)
{
    size_t count = 0;
    for (uint64_t t = 0; t < surface->triangle_count; t++) {
        const uint32_t *corner = surface->indices + 3 * t;
        const uint32_t id[3] = { weld[corner[0]], weld[corner[1]], weld[corner[2]] };
        if (id[0] == id[1] || id[1] == id[2] || id[2] == id[0]) continue;
        ++*faces;
        for (int k = 0; k < 3; k++) {
            uint32_t a = id[k], b = id[(k + 1) % 3];
            edges[count++] = a < b ? (edge){ a, b, 1 } : (edge){ b, a, -1 };
            used[a] = true;
            up[find(up, a)] = find(up, b);
        }
    }
    return count;
}

static uint64_t count_runs(const edge *edges, size_t count, cutis_manifold *out)
{
    uint64_t runs = 0;
    for (size_t i = 0, n; i < count; i += n, runs++) {
        int32_t sum = edges[i].direction;
        for (n = 1; i + n < count && by_ends(&edges[i], &edges[i + n]) == 0; n++)
            sum += edges[i + n].direction;
        if (n == 1) out->boundary_edges++;
        if (n > 2) out->crowded_edges++;
        if (n == 2 && sum != 0) out->turned_edges++;
    }
    return runs;
}

cutis_result cutis_surface_manifold(cutis_context *context, const cutis_surface *surface,
                                    const uint32_t *weld, cutis_manifold *out)
{
    cutis_arena arena = { .context = context };
    const size_t vertices = surface->vertex_count;
    size_t corners;
    *out = (cutis_manifold){ 0 };
    if (!cutis_size_multiply((size_t)surface->triangle_count, 3, &corners))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "surface: too many triangles");
    edge *edges = cutis_arena_alloc(&arena, corners, sizeof *edges);
    uint32_t *up = cutis_arena_alloc(&arena, vertices, sizeof *up);
    bool *used = cutis_arena_alloc(&arena, vertices, sizeof *used);
    cutis_result result = edges && up && used ? CUTIS_OK : cutis_alloc_result(context);
    if (result == CUTIS_OK) result = cutis_weld_or_own(&arena, surface, &weld);
    if (result == CUTIS_OK) {
        uint64_t faces = 0;
        int64_t points = 0;
        for (uint32_t v = 0; v < vertices; v++) up[v] = v, used[v] = false;
        size_t count = list_edges(surface, weld, edges, up, used, &faces);
        qsort(edges, count, sizeof *edges, by_ends);
        uint64_t runs = count_runs(edges, count, out);
        for (uint32_t v = 0; v < vertices; v++) {
            points += used[v];
            out->piece_count += used[v] && find(up, v) == v;
        }
        out->euler = points - (int64_t)runs + (int64_t)faces;
        out->collapsed_faces = surface->triangle_count - faces;
        out->watertight =
            faces > 0 && !out->boundary_edges && !out->crowded_edges && !out->turned_edges;
    }
    cutis_arena_release(&arena);
    return result;
}
