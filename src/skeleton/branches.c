// Distances over a surface by fast marching, and branches by a sweep of the distance from the
// middle. Invariant: every vertex of a swept list is in one stretch; stretches are attached to each
// other as a tree.
#include "skeleton/branches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/synth.h>

#include "geometry/order.h"

#define SAMPLES 12u // far points that the middle is found from

// Distances -------------------------------------------------------------------------------------

// Distance at c of a plane wave that passes a at da and b at db; along the edges if it does not
// come in through the triangle.
static double wave(const double *a, const double *b, const double *c, double da, double db)
{
    vec3 u = v3_sub(v3_of(a), v3_of(c)), v = v3_sub(v3_of(b), v3_of(c));
    double uu = v3_dot(u, u), uv = v3_dot(u, v), vv = v3_dot(v, v);
    double best = fmin(da + sqrt(uu), db + sqrt(vv)), det = uu * vv - uv * uv;
    if (!(det > 1e-12 * uu * vv)) return best;
    // |gradient| = 1 with gradient in the triangle: a quadratic in the distance at c.
    double qa = (vv - 2 * uv + uu) / det;
    double qb = -2 * ((vv - uv) * da + (uu - uv) * db) / det;
    double qc = (vv * da * da - 2 * uv * da * db + uu * db * db) / det - 1;
    double root = qb * qb - 4 * qa * qc;
    if (root < 0) return best;
    double d = (-qb + sqrt(root)) / (2 * qa);
    if (d < da || d < db) return best;
    // The wave must reach c through the edge: the gradient seen from c lies between u and v.
    double x = (vv * (da - d) - uv * (db - d)) / det, y = (uu * (db - d) - uv * (da - d)) / det;
    return x <= 0 && y <= 0 ? fmin(best, d) : best;
}

bool cutis_march(cutis_front *w, uint32_t source, double limit, double *distances, uint32_t *far)
{
    cutis_closed *mesh = w->mesh;
    memset(w->fixed, 0, mesh->vertex_count);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) distances[v] = INFINITY;
    distances[source] = 0;
    w->heap.count = 0;
    bool good = cutis_heap_push(&w->heap, 0, source);
    *far = source;
    while (w->heap.count > 0 && good) {
        uint32_t v = cutis_heap_pop(&w->heap).vertex;
        if (w->fixed[v] || distances[v] > limit) continue;
        w->fixed[v] = 1;
        *far = v;
        for (uint32_t h = mesh->leaving[v]; h != CUTIS_NOTHING; h = cutis_next_around(mesh, v, h))
            for (int side = 0; side < 2 && good; side++) { // both triangles beside v -> to
                uint32_t to = side ? cutis_from(mesh, half_previous(h)) : cutis_to(mesh, h);
                uint32_t third = side ? cutis_to(mesh, h) : cutis_from(mesh, half_previous(h));
                if (w->fixed[to]) continue;
                double d = distances[v] + v3_distance_of(mesh->points[v], mesh->points[to]);
                if (w->fixed[third])
                    d = wave(mesh->points[v], mesh->points[third], mesh->points[to], distances[v],
                             distances[third]);
                if (d < distances[to]) {
                    distances[to] = d;
                    good = cutis_heap_push(&w->heap, d, to);
                }
            }
    }
    return good;
}

bool cutis_find_middle(cutis_front *w, const uint32_t *list, uint32_t count, uint64_t seed,
                       double *distances, double *sum, double *least, uint32_t *out)
{
    uint32_t source = list[cutis_random_bits(seed, 0, 0) % count], far;
    for (uint32_t i = 0; i < count; i++) sum[list[i]] = 0, least[list[i]] = INFINITY;
    if (!cutis_march(w, source, INFINITY, distances, &source)) return false;
    for (uint32_t s = 0; s < SAMPLES; s++) {
        if (!cutis_march(w, source, INFINITY, distances, &far)) return false;
        for (uint32_t i = 0; i < count; i++) {
            sum[list[i]] += distances[list[i]];
            least[list[i]] = fmin(least[list[i]], distances[list[i]]);
        }
        source = list[0];
        for (uint32_t i = 1; i < count; i++)
            if (least[list[i]] > least[source]) source = list[i];
    }
    *out = list[0];
    for (uint32_t i = 1; i < count; i++)
        if (sum[list[i]] < sum[*out]) *out = list[i];
    return true;
}

// Branches --------------------------------------------------------------------------------------

static uint32_t add_arc(cutis_branches *b, double high, uint32_t tip)
{
    if (!cutis_arena_grow(b->arena, &b->arcs, &b->capacity, (size_t)b->count + 1, sizeof *b->arcs))
        return CUTIS_NOTHING;
    b->arcs[b->count] = (cutis_stretch){ 0, high, CUTIS_NOTHING, b->count, tip };
    return b->count++;
}

// Vertex v joins the pieces above it. Where several that stand out meet, each ends here and a new
// stretch begins below; the others are bumps and join the tallest.
static bool join_at(cutis_branches *b, uint32_t v, const uint32_t *roots, uint32_t n)
{
    double here = b->field[v], tall = b->tall;
    uint32_t tallest = roots[0], standing = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (b->peak[roots[i]] > b->peak[tallest]) tallest = roots[i];
        standing += b->peak[roots[i]] - here > tall;
    }
    uint32_t keep = b->open[tallest];
    double peak = b->peak[tallest];
    if (standing > 1) {
        keep = add_arc(b, here, CUTIS_NOTHING);
        if (keep == CUTIS_NOTHING) return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        cutis_stretch *own = &b->arcs[b->open[roots[i]]];
        if (b->open[roots[i]] == keep) continue;
        if (standing > 1 && b->peak[roots[i]] - here > tall)
            own->low = here, own->parent = keep;
        else
            own->alias = keep;
    }
    for (uint32_t i = 0; i < n; i++) b->up[roots[i]] = v;
    b->open[v] = keep;
    b->peak[v] = peak;
    return true;
}

bool cutis_branches_make(cutis_branches *b, cutis_closed *mesh, cutis_arena *arena,
                         const double *field)
{
    size_t n = mesh->vertex_count;
    *b = (cutis_branches){ .mesh = mesh, .arena = arena, .field = field };
    b->up = cutis_arena_alloc(arena, n, sizeof *b->up);
    b->open = cutis_arena_alloc(arena, n, sizeof *b->open);
    b->peak = cutis_arena_alloc(arena, n, sizeof *b->peak);
    return b->up && b->open && b->peak;
}

bool cutis_branches_find(cutis_branches *b, const uint32_t *list, uint32_t count, double tall)
{
    cutis_closed *mesh = b->mesh;
    cutis_waiting *order = cutis_arena_alloc(b->arena, count, sizeof *order);
    if (!order) return false;
    for (uint32_t i = 0; i < count; i++) // the farthest first
        order[i] = (cutis_waiting){ -b->field[list[i]], list[i] };
    qsort(order, count, sizeof *order, cutis_heap_order);
    b->tall = tall;
    b->count = 0;
    memset(b->up, 0xff, mesh->vertex_count * sizeof *b->up);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = order[i].vertex, roots[64], n = 0;
        for (uint32_t h = mesh->leaving[v]; h != CUTIS_NOTHING; h = cutis_next_around(mesh, v, h)) {
            uint32_t to = cutis_to(mesh, h);
            if (b->up[to] == CUTIS_NOTHING) continue;
            uint32_t root = group_of(b->up, to), k = 0;
            while (k < n && roots[k] != root) k++;
            if (k == n && n < 64) roots[n++] = root;
        }
        b->up[v] = v;
        if (n == 0) {
            uint32_t a = add_arc(b, b->field[v], v);
            if (a == CUTIS_NOTHING) return false;
            b->open[v] = a, b->peak[v] = b->field[v];
        } else if (!join_at(b, v, roots, n)) {
            return false;
        }
    }
    return true;
}
