/// A tree of boxes around triangles, walked against itself: every pair of triangles whose boxes
/// meet is visited once. Boxes of floats are exact, so no pair that meets is missed.
#include "measure/pairs.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/order.h"
#include "measure/predicates.h"

enum { LEAF = 4 };

typedef struct box {
    float low[3], high[3];
} box;

// Node i holds the triangles order[first .. first + count); inner nodes have their children at
// `child` and `child + 1`.
typedef struct node {
    box box;
    uint32_t first, count, child; // child 0: leaf
} node;

typedef struct pair {
    uint32_t a, b;
} pair;

typedef struct work {
    cutis_context *context;
    cutis_arena arena;
    cutis_triangle_pairs *to;
    box *boxes;           // per triangle
    double (*middles)[3]; // per triangle: of its box, twice
    uint32_t *order;      // triangles with area
    uint32_t count;
    node *nodes;
    uint32_t node_count;
    pair *stack;
    size_t stack_count, stack_capacity;
} work;

static const float *corner(const work *w, uint32_t triangle, int k)
{
    const cutis_surface *surface = w->to->surface;
    return surface->positions + 3 * (size_t)surface->indices[3 * (size_t)triangle + k];
}

static bool apart(const box *a, const box *b)
{
    for (int k = 0; k < 3; k++)
        if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) return true;
    return false;
}

static cutis_result make_boxes(work *w)
{
    const size_t triangles = (size_t)w->to->surface->triangle_count;
    w->boxes = cutis_arena_alloc(&w->arena, triangles, sizeof *w->boxes);
    w->middles = cutis_arena_alloc(&w->arena, triangles, sizeof *w->middles);
    w->order = cutis_arena_alloc(&w->arena, triangles, sizeof *w->order);
    w->nodes = cutis_arena_alloc(&w->arena, triangles + 1, 2 * sizeof *w->nodes);
    if (!w->boxes || !w->middles || !w->order || !w->nodes) return cutis_alloc_result(w->context);
    for (uint32_t t = 0; t < triangles; t++) {
        const float *c[3] = { corner(w, t, 0), corner(w, t, 1), corner(w, t, 2) };
        for (int k = 0; k < 3; k++) {
            w->boxes[t].low[k] = fminf(fminf(c[0][k], c[1][k]), c[2][k]);
            w->boxes[t].high[k] = fmaxf(fmaxf(c[0][k], c[1][k]), c[2][k]);
            w->middles[t][k] = (double)w->boxes[t].low[k] + w->boxes[t].high[k];
        }
        const float *const corners[3] = { c[0], c[1], c[2] };
        bool finite = true;
        for (int k = 0; k < 9; k++) finite = finite && isfinite(c[k / 3][k % 3]);
        if (!finite || cutis_area_axis(corners) < 0)
            w->to->flat_count++;
        else
            w->order[w->count++] = t;
    }
    return CUTIS_OK;
}

static void bound_node(const work *w, node *n)
{
    n->box = w->boxes[w->order[n->first]];
    for (uint32_t i = 1; i < n->count; i++) {
        const box *b = &w->boxes[w->order[n->first + i]];
        for (int k = 0; k < 3; k++) {
            n->box.low[k] = fminf(n->box.low[k], b->low[k]);
            n->box.high[k] = fmaxf(n->box.high[k], b->high[k]);
        }
    }
}

// Breadth first: a node's children are appended when it is reached.
static void build_tree(work *w)
{
    w->nodes[0] = (node){ .first = 0, .count = w->count };
    w->node_count = 1;
    for (uint32_t i = 0; i < w->node_count; i++) {
        node *n = &w->nodes[i];
        bound_node(w, n);
        if (n->count <= LEAF) continue;
        int axis = 0;
        for (int k = 1; k < 3; k++)
            if (n->box.high[k] - n->box.low[k] > n->box.high[axis] - n->box.low[axis]) axis = k;
        uint32_t half = n->count / 2;
        order_select(w->order, n->first, n->first + n->count, n->first + half, &w->middles[0][axis],
                     3);
        n->child = w->node_count;
        w->nodes[w->node_count++] = (node){ .first = n->first, .count = half };
        w->nodes[w->node_count++] = (node){ .first = n->first + half, .count = n->count - half };
    }
}

static bool push(work *w, uint32_t a, uint32_t b)
{
    if (a != b && apart(&w->nodes[a].box, &w->nodes[b].box)) return true;
    if (!cutis_arena_grow(&w->arena, &w->stack, &w->stack_capacity, w->stack_count + 1,
                          sizeof *w->stack))
        return false;
    w->stack[w->stack_count++] = (pair){ a, b };
    return true;
}

static bool visit_leaves(work *w, const node *a, const node *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = a == b ? i + 1 : 0; k < b->count; k++) {
            const uint32_t s = w->order[a->first + i], t = w->order[b->first + k];
            if (!apart(&w->boxes[s], &w->boxes[t]) && !w->to->visit(w->to->user, s, t))
                return false;
        }
    return true;
}

static bool split_pair(work *w, pair p)
{
    const node *a = &w->nodes[p.a], *b = &w->nodes[p.b];
    if (p.a == p.b)
        return push(w, a->child, a->child) && push(w, a->child + 1, a->child + 1) &&
               push(w, a->child, a->child + 1);
    if (!b->child || (a->child && a->count >= b->count))
        return push(w, a->child, p.b) && push(w, a->child + 1, p.b);
    return push(w, p.a, b->child) && push(w, p.a, b->child + 1);
}

static cutis_result walk(work *w)
{
    uint64_t steps = 0;
    if (!push(w, 0, 0)) return cutis_alloc_result(w->context);
    while (w->stack_count) {
        pair p = w->stack[--w->stack_count];
        const node *a = &w->nodes[p.a], *b = &w->nodes[p.b];
        if (!(!a->child && !b->child ? visit_leaves(w, a, b) : split_pair(w, p)))
            return cutis_alloc_result(w->context);
        if ((++steps & 0xffff) == 0) TRY(cutis_progress(w->context, "self-intersections", 0.5));
    }
    return CUTIS_OK;
}

cutis_result cutis_triangle_pairs_visit(cutis_triangle_pairs *pairs)
{
    work w = { .context = pairs->context, .arena = { .context = pairs->context }, .to = pairs };
    pairs->flat_count = 0;
    cutis_result result = make_boxes(&w);
    if (result == CUTIS_OK && w.count > 1) {
        build_tree(&w);
        result = walk(&w);
    }
    cutis_arena_release(&w.arena);
    return result;
}
