/// The path is the shortest in edges from the vertex of smallest x to that of largest x, lengthened
/// by detours over a neighbouring triangle if it has too few edges, and ended after as many as
/// wanted. Cutting a simple path of K edges adds K - 1 vertices: a closed surface then has exactly
/// the counts of a published, seamed one.
#include "synth/surface.h"

#include "base/error.h"
#include "synth/mesh.h"

#include <string.h>

static uint32_t extreme_vertex(const synth_surface *s, double sign)
{
    uint32_t best = 0;
    for (uint32_t v = 1; v < s->vertex_count; v++)
        if (sign * s->positions[v].x > sign * s->positions[best].x) best = v;
    return best;
}

static cutis_result connect(mesh *m, const synth_surface *s)
{
    size_t vertices = s->vertex_count, halves = (size_t)s->triangle_count * 3;
    TRY(cutis_synth_mesh_reserve(m, vertices, halves));
    m->vertex_count = (int32_t)vertices;
    m->half_count = (int32_t)halves;
    memset(m->vertices, 0, vertices * sizeof *m->vertices);
    for (size_t h = 0; h < halves; h++)
        m->halves[h] = (mesh_half){ (int32_t)s->triangles[h], -1, 0 };
    return cutis_synth_mesh_connect(m);
}

/// Breadth first from `from`, lowest numbers first; steps[v] = the vertex before v.
static void search(const mesh *m, uint32_t from, int32_t *before, uint32_t *queue)
{
    for (int32_t v = 0; v < m->vertex_count; v++) before[v] = -1;
    uint32_t head = 0, tail = 0;
    before[from] = (int32_t)from;
    queue[tail++] = from;
    while (head < tail) {
        uint32_t v = queue[head++], first = tail;
        for (int32_t h = m->vertices[v].half; h >= 0; h = next_around(m, (int32_t)v, h)) {
            int32_t n = half_end(m, h);
            if (before[n] >= 0) continue;
            before[n] = (int32_t)v;
            uint32_t at = tail++;
            for (; at > first && queue[at - 1] > (uint32_t)n; at--) queue[at] = queue[at - 1];
            queue[at] = (uint32_t)n;
        }
    }
}

/// Add detours until the path has `wanted` vertices; false if no edge has one left.
static bool lengthen(const mesh *m, uint32_t *path, uint32_t *count, uint32_t wanted, bool *on_path)
{
    for (uint32_t i = 0; *count < wanted && i + 1 < *count; i++) {
        int32_t h = find_half(m, (int32_t)path[i], (int32_t)path[i + 1]);
        int32_t sides[2] = { half_start(m, half_previous(h)),
                             half_start(m, half_previous(m->halves[h].twin)) };
        int32_t c = !on_path[sides[0]] ? sides[0] : sides[1];
        if (on_path[c]) continue;
        memmove(path + i + 2, path + i + 1, (*count - i - 1) * sizeof *path);
        path[i + 1] = (uint32_t)c;
        on_path[c] = true;
        (*count)++;
        i++;
    }
    return *count >= wanted;
}

/// The fan to the right of the path at path[i] gets the copy.
static void open_vertex(const mesh *m, synth_surface *s, const uint32_t *path, uint32_t i,
                        uint32_t copy)
{
    const int32_t at = (int32_t)path[i], stop = find_half(m, at, (int32_t)path[i + 1]);
    int32_t h = find_half(m, at, (int32_t)path[i - 1]);
    for (; h != stop; h = rotate_half(m, h)) s->triangles[h] = copy;
}

static cutis_result find_path(cutis_arena *arena, const mesh *m, const synth_surface *s,
                              uint32_t edges, synth_seam *out)
{
    size_t vertices = s->vertex_count;
    int32_t *before = cutis_arena_alloc(arena, vertices, sizeof *before);
    uint32_t *queue = cutis_arena_alloc(arena, vertices, sizeof *queue);
    bool *on_path = cutis_arena_zero(arena, vertices, sizeof *on_path);
    out->path = cutis_arena_alloc(arena, vertices + edges, sizeof *out->path);
    if (!before || !queue || !on_path || !out->path) return cutis_alloc_result(arena->context);
    uint32_t from = extreme_vertex(s, -1), to = extreme_vertex(s, 1), wanted = edges + 1;
    search(m, from, before, queue);
    uint32_t count = 1;
    for (uint32_t v = to; v != from; v = (uint32_t)before[v]) count++;
    out->path_count = count;
    for (uint32_t v = to, i = count; i-- > 0; v = (uint32_t)before[v]) {
        out->path[i] = v;
        on_path[v] = true;
    }
    if (count < wanted && !lengthen(m, out->path, &out->path_count, wanted, on_path))
        return cutis_fail(arena->context, CUTIS_INTERNAL, "no seam of %u edges", (unsigned)edges);
    out->path_count = wanted;
    return CUTIS_OK;
}

cutis_result cutis_synth_seam_cut(cutis_arena *arena, synth_surface *surface, uint32_t edges,
                                  synth_seam *out)
{
    shape none = { 0 };
    mesh m = { .context = arena->context, .shape = &none };
    *out = (synth_seam){ 0 };
    cutis_result result = connect(&m, surface);
    if (result == CUTIS_OK) result = find_path(arena, &m, surface, edges, out);
    if (result == CUTIS_OK) {
        out->copies = cutis_arena_alloc(arena, edges, sizeof *out->copies);
        if (!out->copies) result = cutis_alloc_result(arena->context);
    }
    for (uint32_t i = 1; result == CUTIS_OK && i + 1 < out->path_count; i++) {
        out->copies[out->copy_count] = out->path[i];
        open_vertex(&m, surface, out->path, i, surface->vertex_count + out->copy_count++);
    }
    cutis_synth_mesh_release(&m);
    return result;
}
