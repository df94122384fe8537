/// Edges by sorting: what has two faces, one or many shows as a run of equal ends, in an order that
/// does not depend on the order of the triangles.
#include "geometry/half_edge.h"

#include <stdlib.h>

static int by_ends(const void *a, const void *b)
{
    const cutis_edge *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->half > y->half) - (x->half < y->half);
}

size_t cutis_edges_sort(const uint32_t *corners, const uint32_t *weld, uint64_t triangle_count,
                        cutis_edge *edges)
{
    size_t count = 0;
    for (uint64_t t = 0; t < triangle_count; t++) {
        uint32_t id[3];
        for (int k = 0; k < 3; k++) id[k] = weld ? weld[corners[3 * t + k]] : corners[3 * t + k];
        if (id[0] == id[1] || id[1] == id[2] || id[2] == id[0]) continue;
        for (int k = 0; k < 3; k++) {
            uint32_t a = id[k], b = id[(k + 1) % 3];
            edges[count++] = (cutis_edge){ a < b ? a : b, a < b ? b : a, 3 * t + k };
        }
    }
    qsort(edges, count, sizeof *edges, by_ends);
    return count;
}

size_t cutis_edges_run(const cutis_edge *edges, size_t count, size_t i)
{
    size_t n = 1;
    while (i + n < count && edges[i + n].low == edges[i].low && edges[i + n].high == edges[i].high)
        n++;
    return n;
}
