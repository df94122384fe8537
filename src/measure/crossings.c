/// Triangles of a surface that meet triangles they share no vertex with. Boxes in a tree find the
/// pairs, exact signs decide them (predicates.h), so the count is that of the definition: closed
/// triangles with a point in common.
#include <cutis/measure.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/order.h"
#include "measure/predicates.h"
#include "measure/weld.h"

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
    const cutis_surface *surface;
    const uint32_t *weld;
    box *boxes;           // per triangle
    double (*middles)[3]; // per triangle: of its box, twice
    uint32_t *order;      // triangles with area
    uint32_t count;
    node *nodes;
    uint32_t node_count;
    pair *stack;
    size_t stack_count, stack_capacity;
    bool *crossing;
    cutis_crossings *out;
} work;

static const float *corner(const work *w, uint32_t triangle, int k)
{
    return w->surface->positions + 3 * (size_t)w->surface->indices[3 * (size_t)triangle + k];
}

static bool apart(const box *a, const box *b)
{
    for (int k = 0; k < 3; k++)
        if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) return true;
    return false;
}

// Two triangles -----------------------------------------------------------------------------------

// Seen along an axis: does the segment pq meet the triangle abc of the same plane? abc has area
// there.
static bool meet_in_plane(const float *p, const float *q, const float *const t[3], int axis)
{
    int turn = cutis_side_of_line(t[0], t[1], t[2], axis);
    bool p_in = true, q_in = true;
    for (int k = 0; k < 3; k++) {
        const float *a = t[k], *b = t[(k + 1) % 3];
        int sp = turn * cutis_side_of_line(a, b, p, axis);
        int sq = turn * cutis_side_of_line(a, b, q, axis);
        p_in = p_in && sp >= 0;
        q_in = q_in && sq >= 0;
        int sa = cutis_side_of_line(p, q, a, axis), sb = cutis_side_of_line(p, q, b, axis);
        if (sp < 0 && sq < 0) return false; // both outside one edge
        // Strictly or touching crossings of non-parallel segments; collinear ones are inside tests
        // of some other edge.
        if (sp * sq <= 0 && sa * sb <= 0 && (sp != sq || sa != sb)) return true;
    }
    return p_in || q_in;
}

// The axis along which a triangle has area: that of its largest normal component, by doubles; any
// axis with an exact area will do.
static int area_axis(const float *const t[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (cutis_side_of_line(t[0], t[1], t[2], axis) != 0) return axis;
    return -1;
}

// Does the segment pq, whose ends lie on the given sides of the plane of abc, meet abc?
static bool meet_segment(const float *p, int side_p, const float *q, int side_q,
                         const float *const t[3])
{
    if (side_p * side_q > 0) return false;
    if (side_p == 0 && side_q == 0) return meet_in_plane(p, q, t, area_axis(t));
    int s0 = cutis_side_of_plane(p, q, t[0], t[1]);
    int s1 = cutis_side_of_plane(p, q, t[1], t[2]);
    int s2 = cutis_side_of_plane(p, q, t[2], t[0]);
    return (s0 >= 0 && s1 >= 0 && s2 >= 0) || (s0 <= 0 && s1 <= 0 && s2 <= 0);
}

// Every edge of one against the other; what two triangles have in common shows on an edge.
static bool meet(const work *w, uint32_t first, uint32_t second)
{
    const float *t[2][3];
    int side[2][3]; // side[i][k]: corner k of triangle i against the plane of the other
    for (int k = 0; k < 3; k++) t[0][k] = corner(w, first, k), t[1][k] = corner(w, second, k);
    for (int i = 0; i < 2; i++) {
        const float *const *o = t[1 - i];
        for (int k = 0; k < 3; k++) side[i][k] = cutis_side_of_plane(o[0], o[1], o[2], t[i][k]);
        if (side[i][0] == side[i][1] && side[i][1] == side[i][2] && side[i][0] != 0) return false;
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            int n = (k + 1) % 3;
            const float *const o[3] = { t[1 - i][0], t[1 - i][1], t[1 - i][2] };
            if (meet_segment(t[i][k], side[i][k], t[i][n], side[i][n], o)) return true;
        }
    return false;
}

static bool share_vertex(const work *w, uint32_t a, uint32_t b)
{
    const uint32_t *x = w->surface->indices + 3 * (size_t)a;
    const uint32_t *y = w->surface->indices + 3 * (size_t)b;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (w->weld[x[i]] == w->weld[y[k]]) return true;
    return false;
}

static void test_pair(work *w, uint32_t a, uint32_t b)
{
    if (apart(&w->boxes[a], &w->boxes[b]) || share_vertex(w, a, b) || !meet(w, a, b)) return;
    w->out->pair_count++;
    w->out->triangle_count += !w->crossing[a];
    w->crossing[a] = true;
    w->out->triangle_count += !w->crossing[b];
    w->crossing[b] = true;
}

// The tree ----------------------------------------------------------------------------------------

static cutis_result make_boxes(work *w)
{
    const size_t triangles = (size_t)w->surface->triangle_count;
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
        if (!finite || area_axis(corners) < 0)
            w->out->flat_count++;
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

static void test_leaves(work *w, const node *a, const node *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = a == b ? i + 1 : 0; k < b->count; k++)
            test_pair(w, w->order[a->first + i], w->order[b->first + k]);
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
        if (!a->child && !b->child)
            test_leaves(w, a, b);
        else if (!split_pair(w, p))
            return cutis_alloc_result(w->context);
        if ((++steps & 0xffff) == 0) TRY(cutis_progress(w->context, "self-intersections", 0.5));
    }
    return CUTIS_OK;
}

cutis_result cutis_surface_crossings(cutis_context *context, const cutis_surface *surface,
                                     const uint32_t *weld, bool *crossing, cutis_crossings *out)
{
    if (!context || !surface || !out) return CUTIS_INVALID_ARGUMENT;
    work w = { .context = context,
               .arena = { .context = context },
               .surface = surface,
               .crossing = crossing,
               .out = out };
    *out = (cutis_crossings){ 0 };
    if (surface->triangle_count > INT32_MAX) return INVALID(context, "surface: too many triangles");
    const size_t triangles = (size_t)surface->triangle_count;
    cutis_result result = cutis_weld_or_own(&w.arena, surface, &weld);
    w.weld = weld;
    if (result == CUTIS_OK && !w.crossing) {
        w.crossing = cutis_arena_alloc(&w.arena, triangles, sizeof *w.crossing);
        if (!w.crossing) result = cutis_alloc_result(context);
    }
    if (result == CUTIS_OK) {
        memset(w.crossing, 0, triangles * sizeof *w.crossing);
        result = make_boxes(&w);
    }
    if (result == CUTIS_OK && w.count > 1) {
        build_tree(&w);
        result = walk(&w);
    }
    cutis_arena_release(&w.arena);
    return result;
}
