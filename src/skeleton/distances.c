// Distances along the edges of one part from a set of vertices: Dijkstra with a binary heap. Ties
// go by vertex number, so the order is the same everywhere.
#include <math.h>

#include "geometry/heap.h"
#include "skeleton/parts.h"

static bool relax(const cutis_closed *mesh, cutis_heap *q, double *distances, uint32_t v,
                  uint32_t to)
{
    double d = distances[v] + v3_distance_of(mesh->points[v], mesh->points[to]);
    if (!(d < distances[to])) return true;
    distances[to] = d;
    return cutis_heap_push(q, d, to);
}

cutis_result cutis_part_distances(const cutis_parts *parts, uint32_t p, const uint32_t *sources,
                                  uint32_t source_count, double *distances)
{
    const cutis_closed *mesh = parts->mesh;
    const cutis_piece *part = &parts->parts[p];
    cutis_heap q = { .context = mesh->context };
    bool good = true;
    for (uint32_t i = 0; i < part->vertex_count; i++) distances[part->vertices[i]] = INFINITY;
    for (uint32_t i = 0; i < source_count && good; i++) {
        distances[sources[i]] = 0;
        good = cutis_heap_push(&q, 0, sources[i]);
    }
    while (q.count > 0 && good) {
        cutis_waiting now = cutis_heap_pop(&q);
        if (now.distance > distances[now.vertex]) continue;
        for (uint32_t h = mesh->leaving[now.vertex]; h != CUTIS_NOTHING;
             h = cutis_next_around(mesh, now.vertex, h))
            if (mesh->labels[h / 3] == part->label)
                good = good && relax(mesh, &q, distances, now.vertex, cutis_to(mesh, h)) &&
                       relax(mesh, &q, distances, now.vertex, cutis_from(mesh, half_previous(h)));
    }
    cutis_heap_release(&q);
    return good ? CUTIS_OK : cutis_alloc_result(mesh->context);
}
