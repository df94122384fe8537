// Distances along the edges of one part from a set of vertices: Dijkstra with a binary heap. Ties
// go by vertex number, so the order is the same everywhere.
#include <math.h>

#include "geometry/heap.h"
#include "skeleton/parts.h"

bool cutis_label_distances(const cutis_closed *mesh, uint32_t label, const uint32_t *sources,
                           uint32_t source_count, double sign, double *distances)
{
    cutis_heap q = { .context = mesh->context };
    bool good = true;
    for (uint32_t i = 0; i < source_count && good; i++) {
        distances[sources[i]] = 0;
        good = cutis_heap_push(&q, 0, sources[i]);
    }
    while (q.count > 0 && good) {
        cutis_waiting now = cutis_heap_pop(&q);
        if (now.distance > fabs(distances[now.vertex])) continue;
        for (uint32_t h = mesh->leaving[now.vertex]; h != CUTIS_NOTHING;
             h = cutis_next_around(mesh, now.vertex, h))
            for (int side = 0; side < 2 && good && mesh->labels[h / 3] == label; side++) {
                uint32_t to = side ? cutis_from(mesh, half_previous(h)) : cutis_to(mesh, h);
                double d =
                    now.distance + v3_distance_of(mesh->points[now.vertex], mesh->points[to]);
                if (!(d < fabs(distances[to]))) continue;
                distances[to] = sign * d;
                good = cutis_heap_push(&q, d, to);
            }
    }
    cutis_heap_release(&q);
    return good;
}
