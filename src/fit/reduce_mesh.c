// Cotangent weights, areas and colours of a triangle mesh that may be anything: open, non-manifold,
// in pieces, with slivers. Invariant: the matrix is symmetric and its quadratic form is never
// negative, so the energies built on it are bounded below.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/reduce_problem.h"
#include "math/mat3.h"

// Cotangents beyond this belong to slivers. All three of such a triangle are scaled together:
// cutting one off alone would make the triangle's energy negative for some fields.
static const double COTANGENT_MAX = 1e4;
// Triangles smaller than this share of the squared extent have no shape.
static const double AREA_MIN = 1e-14;
// Of the mean: vertices of slivers alone (and vertices without triangles) weigh at least this.
static const double AREA_FLOOR = 1e-6;
// Rows up to this length are sorted by insertion.
enum { ROW_SHORT = 64 };

typedef struct half_edge {
    uint32_t to, order;
    double cotangent;
} half_edge;

typedef struct triangle_shape {
    double area, cotangent[3];
} triangle_shape;

static bool measure_triangle(const double *positions, const uint32_t *corner, double area_min,
                             triangle_shape *out)
{
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) return false;
    double edge[3][3], normal[3], largest = 0;
    for (int k = 0; k < 3; k++) // edge k is opposite to corner k
        for (int c = 0; c < 3; c++)
            edge[k][c] = positions[3 * (size_t)corner[(k + 2) % 3] + c] -
                         positions[3 * (size_t)corner[(k + 1) % 3] + c];
    double3_cross(edge[0], edge[1], normal);
    double twice = sqrt(double3_dot(normal, normal));
    if (!(twice > 2 * area_min)) return false;
    out->area = twice / 2;
    for (int k = 0; k < 3; k++) {
        out->cotangent[k] = -double3_dot(edge[(k + 1) % 3], edge[(k + 2) % 3]) / twice;
        largest = fmax(largest, fabs(out->cotangent[k]));
    }
    if (largest > COTANGENT_MAX)
        for (int k = 0; k < 3; k++) out->cotangent[k] *= COTANGENT_MAX / largest;
    return true;
}

// Meyer's mixed area: Voronoi where the triangle is not obtuse, else half of it at the obtuse
// corner.
static void add_areas(const double *positions, const uint32_t *corner, const triangle_shape *shape,
                      double *area)
{
    for (int k = 0; k < 3; k++)
        if (shape->cotangent[k] < 0) {
            for (int c = 0; c < 3; c++) area[corner[c]] += shape->area / (c == k ? 2 : 4);
            return;
        }
    for (int k = 0; k < 3; k++) { // edge k gives cot_k |edge|^2 / 8 to both of its ends
        double square = 0;
        uint32_t a = corner[(k + 1) % 3], b = corner[(k + 2) % 3];
        for (int c = 0; c < 3; c++) {
            double d = positions[3 * (size_t)a + c] - positions[3 * (size_t)b + c];
            square += d * d;
        }
        area[a] += shape->cotangent[k] * square / 8;
        area[b] += shape->cotangent[k] * square / 8;
    }
}

static void floor_areas(uint32_t count, double *area)
{
    double sum = 0;
    for (uint32_t v = 0; v < count; v++) sum += area[v];
    double least = sum > 0 ? AREA_FLOOR * sum / count : 1;
    for (uint32_t v = 0; v < count; v++) area[v] = fmax(area[v], least);
}

static double extent_of(uint32_t count, const double *positions)
{
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    double square = 0;
    for (uint32_t v = 0; v < count; v++)
        for (int c = 0; c < 3; c++) {
            low[c] = fmin(low[c], positions[3 * (size_t)v + c]);
            high[c] = fmax(high[c], positions[3 * (size_t)v + c]);
        }
    for (int c = 0; count && c < 3; c++) square += (high[c] - low[c]) * (high[c] - low[c]);
    return square > 0 ? sqrt(square) : 1;
}

static int by_target(const void *a, const void *b)
{
    const half_edge *x = a, *y = b;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order); // for any sort
}

// By neighbour, then by triangle: sums run in triangle order. Rows are short.
static void sort_row(half_edge *row, uint32_t count)
{
    if (count > ROW_SHORT) {
        qsort(row, count, sizeof *row, by_target);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        half_edge moved = row[i];
        uint32_t at = i;
        for (; at > 0 && by_target(&row[at - 1], &moved) > 0; at--) row[at] = row[at - 1];
        row[at] = moved;
    }
}

static void add_half_edges(const uint32_t *corner, const triangle_shape *shape, uint32_t order,
                           uint32_t *end, half_edge *edges)
{
    for (int k = 0; k < 3; k++) {
        uint32_t a = corner[(k + 1) % 3], b = corner[(k + 2) % 3];
        edges[end[a]++] = (half_edge){ b, order, shape->cotangent[k] / 2 };
        edges[end[b]++] = (half_edge){ a, order, shape->cotangent[k] / 2 };
    }
}

// Sort each row by neighbour and merge what belongs to one edge.
static void merge_rows(cutis_reduce_mesh *mesh, half_edge *edges, const uint32_t *begin)
{
    uint32_t used = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        uint32_t count = begin[v + 1] - begin[v];
        half_edge *row = edges + begin[v];
        mesh->first[v] = used;
        sort_row(row, count);
        for (uint32_t i = 0; i < count; i++) {
            if (i && row[i].to == row[i - 1].to) {
                mesh->cotangent[used - 1] += row[i].cotangent;
                continue;
            }
            mesh->neighbour[used] = row[i].to;
            mesh->cotangent[used++] = row[i].cotangent;
        }
        mesh->diagonal[v] = 0;
        for (uint32_t i = mesh->first[v]; i < used; i++) mesh->diagonal[v] += mesh->cotangent[i];
        mesh->diagonal[v] = fmax(0, mesh->diagonal[v]);
    }
    mesh->first[mesh->vertex_count] = used;
}

bool cutis_reduce_mesh_create(cutis_arena *arena, uint32_t vertex_count, const double *positions,
                              uint32_t triangle_count, const uint32_t *triangles,
                              cutis_reduce_mesh *out)
{
    cutis_context *context = arena->context;
    const size_t half_count = 6 * (size_t)triangle_count, rows = (size_t)vertex_count + 1;
    *out = (cutis_reduce_mesh){ .vertex_count = vertex_count };
    if (half_count > UINT32_MAX) return false;
    out->first = cutis_arena_alloc(arena, rows, sizeof *out->first);
    out->neighbour = cutis_arena_alloc(arena, half_count, sizeof *out->neighbour);
    out->cotangent = cutis_arena_alloc(arena, half_count, sizeof *out->cotangent);
    out->diagonal = cutis_arena_alloc(arena, vertex_count, sizeof *out->diagonal);
    out->area = cutis_arena_alloc(arena, vertex_count, sizeof *out->area);
    uint32_t *begin = cutis_alloc_zero(context, rows + 1, sizeof *begin);
    half_edge *edges = cutis_alloc_array(context, half_count, sizeof *edges);
    bool good = out->first && out->neighbour && out->cotangent && out->diagonal && out->area &&
                begin && edges;
    if (good) {
        triangle_shape shape;
        out->extent = extent_of(vertex_count, positions);
        double area_min = AREA_MIN * out->extent * out->extent;
        for (uint32_t v = 0; v < vertex_count; v++) out->area[v] = 0;
        for (uint32_t t = 0; t < triangle_count; t++)
            if (measure_triangle(positions, triangles + 3 * (size_t)t, area_min, &shape))
                for (int k = 0; k < 3; k++) begin[triangles[3 * (size_t)t + k] + 2] += 2;
        for (uint32_t v = 0; v < vertex_count; v++) begin[v + 2] += begin[v + 1];
        for (uint32_t t = 0; t < triangle_count; t++) {
            const uint32_t *corner = triangles + 3 * (size_t)t;
            if (!measure_triangle(positions, corner, area_min, &shape)) continue;
            add_areas(positions, corner, &shape, out->area);
            add_half_edges(corner, &shape, t, begin + 1, edges);
        }
        merge_rows(out, edges, begin);
        floor_areas(vertex_count, out->area);
    }
    if (begin) cutis_free_array(context, begin, rows + 1, sizeof *begin);
    if (edges) cutis_free_array(context, edges, half_count, sizeof *edges);
    return good;
}

static uint32_t free_colour(const cutis_reduce_mesh *mesh, uint32_t v, uint32_t distance,
                            const uint32_t *colour, uint32_t *taken_by)
{
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        uint32_t u = mesh->neighbour[i];
        if (colour[u] != UINT32_MAX) taken_by[colour[u]] = v;
        for (uint32_t k = mesh->first[u]; distance > 1 && k < mesh->first[u + 1]; k++) {
            uint32_t w = mesh->neighbour[k];
            if (w != v && colour[w] != UINT32_MAX) taken_by[colour[w]] = v;
        }
    }
    uint32_t c = 0;
    while (taken_by[c] == v) c++;
    return c;
}

bool cutis_reduce_colours_create(cutis_arena *arena, const cutis_reduce_mesh *mesh,
                                 uint32_t distance, cutis_reduce_colours *out)
{
    const size_t count = mesh->vertex_count;
    uint32_t *colour = cutis_alloc_array(arena->context, count, sizeof *colour);
    uint32_t *taken_by = cutis_alloc_array(arena->context, count + 1, sizeof *taken_by);
    out->vertex = cutis_arena_alloc(arena, count, sizeof *out->vertex);
    bool good = colour && taken_by && out->vertex;
    out->count = 0;
    if (good) {
        memset(colour, 0xff, count * sizeof *colour);
        memset(taken_by, 0xff, (count + 1) * sizeof *taken_by);
        for (uint32_t v = 0; v < count; v++) {
            colour[v] = free_colour(mesh, v, distance, colour, taken_by);
            if (colour[v] >= out->count) out->count = colour[v] + 1;
        }
    }
    out->first = good ? cutis_arena_alloc(arena, (size_t)out->count + 2, sizeof *out->first) : NULL;
    good = out->first != NULL;
    if (good) {
        memset(out->first, 0, ((size_t)out->count + 2) * sizeof *out->first);
        for (uint32_t v = 0; v < count; v++) out->first[colour[v] + 2]++;
        for (uint32_t c = 0; c < out->count; c++) out->first[c + 2] += out->first[c + 1];
        for (uint32_t v = 0; v < count; v++) out->vertex[out->first[colour[v] + 1]++] = v;
    }
    if (colour) cutis_free_array(arena->context, colour, count, sizeof *colour);
    if (taken_by) cutis_free_array(arena->context, taken_by, count + 1, sizeof *taken_by);
    return good;
}
