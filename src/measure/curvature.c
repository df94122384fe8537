/// Discrete mean curvature by the cotangent Laplacian, edge stretch, and open edges. Vertices at
/// one (rest) place are one vertex here, so a texture seam is no border. Vertices on a true border,
/// or on an edge with more than two faces, have no mean curvature: they get 0 and stay out of the
/// summary.
#include <cutis/measure.h>

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/half_edge.h"
#include "geometry/vector.h"
#include "math/elementary.h"

// Below this fraction of the squared edge lengths a triangle's area is rounding noise and its
// cotangents mean nothing.
static const double AREA_FLOOR = 1e-12;

typedef struct work {
    cutis_arena arena;
    uint32_t *weld;    // per vertex
    cutis_edge *edges; // of triangles that keep three corners, sorted
    size_t edge_count;
    double *laplacian; // 3 per vertex: sum of (cot a + cot b) (x_i - x_j)
    double *area;      // per vertex, mixed Voronoi
    double *normal;    // 3 per vertex, not unit
    bool *border;
} work;

// Weld by `places`, then list and sort the edges of all triangles that keep three corners.
static cutis_result work_prepare(work *w, const cutis_surface *surface, const float *places)
{
    cutis_context *context = w->arena.context;
    const size_t vertices = surface->vertex_count;
    w->weld = cutis_arena_alloc(&w->arena, vertices, sizeof *w->weld);
    w->border = cutis_arena_zero(&w->arena, vertices, sizeof *w->border);
    if (!w->weld || !w->border) return cutis_alloc_result(context);
    TRY(cutis_weld_positions(context, surface->vertex_count, places, w->weld));
    return cutis_edges_sort(&w->arena, surface->indices, w->weld, surface->triangle_count,
                            &w->edges, &w->edge_count);
}

static uint64_t mark_borders(work *w)
{
    uint64_t open = 0;
    for (size_t i = 0, n; i < w->edge_count; i += n) {
        n = cutis_edges_run(w->edges, w->edge_count, i);
        if (n == 2) continue;
        open++;
        w->border[w->edges[i].low] = w->border[w->edges[i].high] = true;
    }
    return open;
}

static double stretch(const work *w, const float *positions, const float *rest)
{
    double sum = 0.0;
    uint64_t count = 0;
    for (size_t i = 0; i < w->edge_count; i += cutis_edges_run(w->edges, w->edge_count, i)) {
        uint32_t a = w->edges[i].low, b = w->edges[i].high;
        double now = v3_distance(v3_at(positions, a), v3_at(positions, b));
        double then = v3_distance(v3_at(rest, a), v3_at(rest, b));
        if (!(now > 0.0) || !(then > 0.0)) continue;
        double ratio = fixed_log(now / then);
        sum += ratio * ratio;
        count++;
    }
    return count > 0 ? sqrt(sum / (double)count) : 0.0;
}

// Meyer et al. 2003: Voronoi areas in acute triangles, half and quarter of the face in obtuse ones.
static void add_triangle(work *w, const float *positions, const uint32_t id[3])
{
    vec3 p[3], edge[3]; // edge[k] is opposite corner k
    double dot[3], square[3];
    for (int k = 0; k < 3; k++) p[k] = v3_at(positions, id[k]);
    for (int k = 0; k < 3; k++) edge[k] = v3_sub(p[(k + 2) % 3], p[(k + 1) % 3]);
    for (int k = 0; k < 3; k++) {
        square[k] = v3_dot(edge[k], edge[k]);
        dot[k] = -v3_dot(edge[(k + 1) % 3], edge[(k + 2) % 3]); // cos * lengths at corner k
    }
    vec3 normal = v3_cross(edge[2], v3_sub(p[2], p[0]));
    double twice = v3_length(normal);
    if (!(twice > AREA_FLOOR * (square[0] + square[1] + square[2]))) return;
    bool obtuse = dot[0] < 0.0 || dot[1] < 0.0 || dot[2] < 0.0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double cotangent = dot[k] / twice;
        v3_sum(w->laplacian + 3 * (size_t)id[i], v3_scale(v3_sub(p[i], p[j]), cotangent));
        v3_sum(w->laplacian + 3 * (size_t)id[j], v3_scale(v3_sub(p[j], p[i]), cotangent));
        v3_sum(w->normal + 3 * (size_t)id[k], normal);
        if (obtuse) {
            w->area[id[k]] += twice * (dot[k] < 0.0 ? 0.25 : 0.125);
        } else {
            w->area[id[i]] += cotangent * square[k] / 8.0;
            w->area[id[j]] += cotangent * square[k] / 8.0;
        }
    }
}

static cutis_result sum_triangles(work *w, const cutis_surface *surface)
{
    w->laplacian = cutis_arena_zero(&w->arena, surface->vertex_count, 3 * sizeof(double));
    w->normal = cutis_arena_zero(&w->arena, surface->vertex_count, 3 * sizeof(double));
    w->area = cutis_arena_zero(&w->arena, surface->vertex_count, sizeof(double));
    if (!w->laplacian || !w->normal || !w->area) return cutis_alloc_result(w->arena.context);
    for (uint64_t t = 0; t < surface->triangle_count; t++) {
        const uint32_t *corner = surface->indices + 3 * t;
        uint32_t id[3] = { w->weld[corner[0]], w->weld[corner[1]], w->weld[corner[2]] };
        if (id[0] != id[1] && id[1] != id[2] && id[2] != id[0])
            add_triangle(w, surface->positions, id);
    }
    return CUTIS_OK;
}

// Signed: positive where the surface is convex (a sphere of radius r: 1 / r).
static double vertex_curvature(const work *w, uint32_t v)
{
    vec3 l = v3_of(w->laplacian + 3 * (size_t)v), n = v3_of(w->normal + 3 * (size_t)v);
    if (w->border[v] || !(w->area[v] > 0.0)) return 0.0;
    double h = v3_length(l) / (4.0 * w->area[v]);
    return v3_dot(l, n) < 0.0 ? -h : h;
}

cutis_result cutis_surface_curvature(cutis_context *context, const cutis_surface *surface,
                                     const float *rest_positions, float *per_vertex,
                                     cutis_curvature *out)
{
    if (!context || !surface || !out) return CUTIS_INVALID_ARGUMENT;
    work w = { .arena = { .context = context } };
    *out = (cutis_curvature){ 0 };
    cutis_result result =
        work_prepare(&w, surface, rest_positions ? rest_positions : surface->positions);
    if (result == CUTIS_OK) result = sum_triangles(&w, surface);
    if (result == CUTIS_OK) {
        double sum = 0.0, area = 0.0;
        mark_borders(&w);
        for (uint32_t v = 0; v < surface->vertex_count; v++) {
            double h = vertex_curvature(&w, w.weld[v]);
            if (per_vertex) per_vertex[v] = (float)h;
            if (w.weld[v] != v || w.border[v]) continue;
            sum += h * h * w.area[v];
            area += w.area[v];
            out->mean_max = fmax(out->mean_max, fabs(h));
        }
        out->mean_rms = area > 0.0 ? sqrt(sum / area) : 0.0;
        if (rest_positions) out->edge_stretch_rms = stretch(&w, surface->positions, rest_positions);
    }
    cutis_arena_release(&w.arena);
    return result;
}

cutis_result cutis_surface_open_edges(cutis_context *context, const cutis_surface *surface,
                                      uint64_t *out)
{
    if (!context || !surface || !out) return CUTIS_INVALID_ARGUMENT;
    work w = { .arena = { .context = context } };
    cutis_result result = work_prepare(&w, surface, surface->positions);
    *out = result == CUTIS_OK ? mark_borders(&w) : 0;
    cutis_arena_release(&w.arena);
    return result;
}
