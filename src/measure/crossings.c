/// Triangles of a surface that meet triangles they share no vertex with. Boxes in a tree find the
/// pairs (pairs.h), exact signs decide them (predicates.h), so the count is that of the definition:
/// closed triangles with a point in common.
#include <cutis/measure.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "measure/pairs.h"
#include "measure/predicates.h"
#include "measure/weld.h"

typedef struct work {
    const cutis_surface *surface;
    const uint32_t *weld;
    bool *crossing;
    cutis_crossings *out;
} work;

static const float *corner(const work *w, uint32_t triangle, int k)
{
    return w->surface->positions + 3 * (size_t)w->surface->indices[3 * (size_t)triangle + k];
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

// Does the segment pq, whose ends lie on the given sides of the plane of abc, meet abc?
static bool meet_segment(const float *p, int side_p, const float *q, int side_q,
                         const float *const t[3])
{
    if (side_p * side_q > 0) return false;
    if (side_p == 0 && side_q == 0) return meet_in_plane(p, q, t, cutis_area_axis(t));
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

static bool test_pair(void *user, uint32_t a, uint32_t b)
{
    work *w = user;
    if (share_vertex(w, a, b) || !meet(w, a, b)) return true;
    w->out->pair_count++;
    w->out->triangle_count += !w->crossing[a];
    w->crossing[a] = true;
    w->out->triangle_count += !w->crossing[b];
    w->crossing[b] = true;
    return true;
}

cutis_result cutis_surface_crossings(cutis_context *context, const cutis_surface *surface,
                                     const uint32_t *weld, bool *crossing, cutis_crossings *out)
{
    if (!context || !surface || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_arena arena = { .context = context };
    work w = { .surface = surface, .crossing = crossing, .out = out };
    *out = (cutis_crossings){ 0 };
    if (surface->triangle_count > INT32_MAX) return INVALID(context, "surface: too many triangles");
    const size_t triangles = (size_t)surface->triangle_count;
    cutis_result result = cutis_weld_or_own(&arena, surface, &weld);
    w.weld = weld;
    if (result == CUTIS_OK && !w.crossing) {
        w.crossing = cutis_arena_alloc(&arena, triangles, sizeof *w.crossing);
        if (!w.crossing) result = cutis_alloc_result(context);
    }
    if (result == CUTIS_OK) {
        memset(w.crossing, 0, triangles * sizeof *w.crossing);
        cutis_triangle_pairs pairs = {
            .context = context, .surface = surface, .visit = test_pair, .user = &w
        };
        result = cutis_triangle_pairs_visit(&pairs);
        out->flat_count = pairs.flat_count;
    }
    cutis_arena_release(&arena);
    return result;
}
