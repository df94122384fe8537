/// Closedness of a surface from its edges. Runs of equal edges are counted, so the figures do not
/// depend on the order of the triangles.
#include <cutis/measure.h>

#include "base/memory.h"
#include "geometry/half_edge.h"
#include "geometry/order.h"
#include "measure/weld.h"

// Which vertices are connected by faces that keep three corners. Returns how many faces do.
static uint64_t join_corners(const cutis_surface *surface, const uint32_t *weld, uint32_t *up,
                             bool *used)
{
    uint64_t faces = 0;
    for (uint64_t t = 0; t < surface->triangle_count; t++) {
        const uint32_t *corner = surface->indices + 3 * t;
        const uint32_t id[3] = { weld[corner[0]], weld[corner[1]], weld[corner[2]] };
        if (id[0] == id[1] || id[1] == id[2] || id[2] == id[0]) continue;
        faces++;
        for (int k = 0; k < 3; k++) {
            used[id[k]] = true;
            up[group_of(up, id[k])] = group_of(up, id[(k + 1) % 3]);
        }
    }
    return faces;
}

static uint64_t count_runs(const cutis_surface *surface, const uint32_t *weld,
                           const cutis_edge *edges, size_t count, cutis_manifold *out)
{
    uint64_t runs = 0;
    for (size_t i = 0, n; i < count; i += n, runs++) {
        n = cutis_edges_run(edges, count, i);
        if (n == 1) out->boundary_edges++;
        if (n > 2) out->crowded_edges++;
        if (n == 2 &&
            weld[surface->indices[edges[i].half]] == weld[surface->indices[edges[i + 1].half]])
            out->turned_edges++;
    }
    return runs;
}

cutis_result cutis_surface_manifold(cutis_context *context, const cutis_surface *surface,
                                    const uint32_t *weld, cutis_manifold *out)
{
    if (!context || !surface || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_arena arena = { .context = context };
    const size_t vertices = surface->vertex_count;
    size_t count = 0;
    cutis_edge *edges = NULL;
    *out = (cutis_manifold){ 0 };
    uint32_t *up = cutis_arena_alloc(&arena, vertices, sizeof *up);
    bool *used = cutis_arena_alloc(&arena, vertices, sizeof *used);
    cutis_result result = up && used ? CUTIS_OK : cutis_alloc_result(context);
    if (result == CUTIS_OK) result = cutis_weld_or_own(&arena, surface, &weld);
    if (result == CUTIS_OK)
        result = cutis_edges_sort(&arena, surface->indices, weld, surface->triangle_count, &edges,
                                  &count);
    if (result == CUTIS_OK) {
        int64_t points = 0;
        for (uint32_t v = 0; v < vertices; v++) up[v] = v, used[v] = false;
        uint64_t faces = join_corners(surface, weld, up, used);
        uint64_t runs = count_runs(surface, weld, edges, count, out);
        for (uint32_t v = 0; v < vertices; v++) {
            points += used[v];
            out->piece_count += used[v] && group_of(up, v) == v;
        }
        out->euler = points - (int64_t)runs + (int64_t)faces;
        out->collapsed_faces = surface->triangle_count - faces;
        out->watertight =
            faces > 0 && !out->boundary_edges && !out->crowded_edges && !out->turned_edges;
    }
    cutis_arena_release(&arena);
    return result;
}
