// A k-d tree over points: median splits by index order of equal coordinates, so the same points
// give the same tree everywhere.
#include <math.h>

#include "geometry/order.h"
#include "skeleton/parts.h"

#define LEAF 8u

struct cutis_nearest {
    const double (*points)[3];
    uint32_t *list;
    uint32_t count;
};

// The axis of a node is found again by its depth: x, y, z in turn keeps the tree free of storage.
static void build(cutis_nearest *n, uint32_t low, uint32_t high, int axis)
{
    if (high - low <= LEAF) return;
    uint32_t middle = low + (high - low) / 2;
    order_select(n->list, low, high, middle, &n->points[0][axis], 3);
    build(n, low, middle, (axis + 1) % 3);
    build(n, middle + 1, high, (axis + 1) % 3);
}

cutis_nearest *cutis_nearest_make(cutis_arena *arena, const double (*points)[3],
                                  const uint32_t *list, uint32_t count)
{
    cutis_nearest *n = cutis_arena_alloc(arena, 1, sizeof *n);
    if (!n) return NULL;
    *n = (cutis_nearest){ points, cutis_arena_copy(arena, list, count, sizeof *list), count };
    if (!n->list) return NULL;
    build(n, 0, count, 0);
    return n;
}

typedef struct {
    const cutis_nearest *nearest;
    const double *point;
    double square;
    uint32_t best;
} question;

static void try_point(question *q, uint32_t i)
{
    uint32_t entry = q->nearest->list[i];
    const double *p = q->nearest->points[entry];
    vec3 d = v3_sub(v3_of(p), v3_of(q->point));
    double square = v3_dot(d, d);
    if (square < q->square || (square == q->square && entry < q->best))
        q->square = square, q->best = entry;
}

static void search(question *q, uint32_t low, uint32_t high, int axis)
{
    if (high - low <= LEAF) {
        for (uint32_t i = low; i < high; i++) try_point(q, i);
        return;
    }
    uint32_t middle = low + (high - low) / 2;
    double d = q->point[axis] - q->nearest->points[q->nearest->list[middle]][axis];
    if (d < 0)
        search(q, low, middle, (axis + 1) % 3);
    else
        search(q, middle + 1, high, (axis + 1) % 3);
    if (d * d > q->square) return;
    try_point(q, middle);
    if (d < 0)
        search(q, middle + 1, high, (axis + 1) % 3);
    else
        search(q, low, middle, (axis + 1) % 3);
}

uint32_t cutis_nearest_find(const cutis_nearest *nearest, const double *point, double *distance)
{
    question q = { nearest, point, *distance * *distance, CUTIS_NOTHING };
    search(&q, 0, nearest->count, 0);
    if (q.best != CUTIS_NOTHING) *distance = sqrt(q.square);
    return q.best;
}
