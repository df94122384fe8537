/// Sizes of parts: median edge, volume, centroid and oriented box. A part is closed by fans over
/// its loops for that. Where the model has a part tree, its centroid and box are used instead.
#include "deform/patches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/order.h"
#include "geometry/vector.h"
#include "math/eigen3.h"
#include "math/mat3.h"

/// Sums over the faces of a closed part.
typedef struct sums {
    double volume, moment[3]; // six times the volume, 24 times its moment
    double area, mean[3], square[6];
} sums;

static void add_face(sums *s, const double *a, const double *b, const double *c)
{
    static const int row[6] = { 0, 0, 0, 1, 1, 2 }, column[6] = { 0, 1, 2, 1, 2, 2 };
    double m[3], area = v3_area_of(a, b, c);
    double det = v3_dot(v3_of(a), v3_cross(v3_of(b), v3_of(c)));
    s->volume += det;
    s->area += area;
    for (int k = 0; k < 3; k++) {
        m[k] = (a[k] + b[k] + c[k]) / 3.0;
        s->moment[k] += det * 3.0 * m[k];
        s->mean[k] += area * m[k];
    }
    for (int i = 0; i < 6; i++) { // exact over the triangle
        int r = row[i], q = column[i];
        s->square[i] += area / 12.0 * (9.0 * m[r] * m[q] + a[r] * a[q] + b[r] * b[q] + c[r] * c[q]);
    }
}

static void from_origin(const patch_body *body, uint32_t vertex, const double *origin, double *out)
{
    v3_put(v3_sub(v3_of(body->points + 3 * (size_t)vertex), v3_of(origin)), out);
}

// Fans over the loops: the part's own border runs against them.
static void add_caps(const patch_body *body, uint32_t part, const double *origin, sums *s)
{
    for (uint32_t i = 0; i < body->loop_count; i++) {
        const patch_loop *loop = &body->loops[i];
        if (loop->parent != part && loop->child != part) continue;
        const uint32_t *at = body->loop_vertices + loop->first;
        double centre[3] = { 0 }, length = 0.0;
        for (uint32_t k = 0; k < loop->count; k++) {
            const double *a = body->points + 3 * (size_t)at[k];
            const double *b = body->points + 3 * (size_t)at[(k + 1) % loop->count];
            double l = v3_distance_of(a, b);
            for (int d = 0; d < 3; d++) centre[d] += l * 0.5 * (a[d] + b[d]);
            length += l;
        }
        for (int d = 0; d < 3; d++) centre[d] = centre[d] / length - origin[d];
        for (uint32_t k = 0; k < loop->count; k++) {
            double a[3], b[3];
            from_origin(body, at[k], origin, a);
            from_origin(body, at[(k + 1) % loop->count], origin, b);
            if (loop->child == part)
                add_face(s, b, a, centre);
            else
                add_face(s, a, b, centre);
        }
    }
}

static void find_box(const patch_body *body, const patch_pieces *parts, uint32_t part,
                     patch_shape *shape)
{
    for (int k = 0; k < 3; k++) {
        shape->low[k] = INFINITY;
        shape->high[k] = -INFINITY;
        for (uint32_t v = parts->vertex_first[part]; v < parts->vertex_first[part + 1]; v++) {
            double at =
                double3_dot(shape->axes + 3 * k, body->points + 3 * (size_t)parts->welded[v]);
            shape->low[k] = fmin(shape->low[k], at);
            shape->high[k] = fmax(shape->high[k], at);
        }
    }
}

static void make_shape(const patch_body *body, const patch_pieces *parts, uint32_t part,
                       patch_shape *shape)
{
    sums s = { 0 };
    const double *origin = body->points + 3 * (size_t)parts->welded[parts->vertex_first[part]];
    for (uint32_t f = parts->face_first[part]; f < parts->face_first[part + 1]; f++) {
        double p[3][3];
        for (int k = 0; k < 3; k++)
            from_origin(body, parts->welded[parts->faces[3 * (size_t)f + k]], origin, p[k]);
        add_face(&s, p[0], p[1], p[2]);
    }
    add_caps(body, part, origin, &s);
    // A part so thin that it has no volume: the middle of its surface.
    bool solid = s.volume > 1e-9 * body->diagonal * body->diagonal * body->diagonal;
    double mean[3], values[3], square[6];
    static const int row[6] = { 0, 0, 0, 1, 1, 2 }, column[6] = { 0, 1, 2, 1, 2, 2 };
    for (int k = 0; k < 3; k++) {
        mean[k] = s.area > 0.0 ? s.mean[k] / s.area : 0.0;
        shape->centroid[k] = origin[k] + (solid ? s.moment[k] / (4.0 * s.volume) : mean[k]);
    }
    for (int i = 0; i < 6; i++)
        square[i] = (s.area > 0.0 ? s.square[i] / s.area : 0.0) - mean[row[i]] * mean[column[i]];
    cutis_eigen3(square, values, shape->axes);
    shape->volume = s.volume / 6.0;
    find_box(body, parts, part, shape);
}

static void median_edges(const patch_body *body, patch_pieces *parts, double *lengths)
{
    for (uint32_t p = 0; p < body->part_count; p++) {
        uint32_t count = 0;
        for (uint32_t v = parts->vertex_first[p]; v < parts->vertex_first[p + 1]; v++)
            for (uint32_t k = parts->ring_first[v]; k < parts->ring_first[v + 1]; k++)
                if (parts->ring[k] > v) lengths[count++] = parts->edge_lengths[parts->ring_edge[k]];
        qsort(lengths, count, sizeof *lengths, order_double);
        parts->shapes[p].step = lengths[count / 2];
    }
}

cutis_result cutis_patch_shapes_make(const patch_body *body, patch_pieces *parts)
{
    double *lengths = cutis_arena_alloc(body->arena, parts->edge_count, sizeof *lengths);
    parts->shapes = cutis_arena_alloc(body->arena, body->part_count, sizeof *parts->shapes);
    if (!lengths || !parts->shapes) return cutis_alloc_result(body->context);
    const cutis_part_tree *tree = body->mesh->part_tree;
    for (uint32_t p = 0; p < body->part_count; p++) {
        patch_shape *shape = &parts->shapes[p];
        make_shape(body, parts, p, shape);
        if (!tree) continue;
        memcpy(shape->centroid, tree->parts[p].centroid, sizeof shape->centroid);
        memcpy(shape->axes, tree->parts[p].axes, sizeof shape->axes);
        find_box(body, parts, p, shape);
    }
    median_edges(body, parts, lengths);
    return CUTIS_OK;
}
