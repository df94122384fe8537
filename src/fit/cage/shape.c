// Making cages from models: controls, orientation, closedness; nearest points and the inside test.
// Invariant: a cage that leaves here is closed (every edge has two triangles, which run along it in
// opposite directions) and encloses a positive volume.
#include "fit/cage/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "fit/handles/model.h"
#include "geometry/order.h"
#include "math/mat3.h"
#include "math/elementary.h"

const char *cutis_coordinates_name(cutis_coordinates coordinates)
{
    return coordinates == CUTIS_COORDINATES_MVC        ? "mvc"
           : coordinates == CUTIS_COORDINATES_HARMONIC ? "harmonic"
                                                       : "unknown";
}

void cutis_cage_destroy(cutis_cage *cage)
{
    cutis_owner_destroy(cage);
}

static bool has_key(const uint64_t *keys, size_t count, uint64_t key, size_t *found)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low;
    return low < count && keys[low] == key;
}

// Every edge must be there once in each direction.
static cutis_result check_closed(cutis_context *context, const uint32_t *triangles,
                                 uint32_t triangle_count)
{
    const size_t count = 3 * (size_t)triangle_count;
    uint64_t *keys = cutis_alloc_array(context, count, sizeof *keys);
    if (!keys) return cutis_alloc_result(context);
    for (size_t i = 0; i < count; i++) {
        uint32_t a = triangles[i], b = triangles[i % 3 == 2 ? i - 2 : i + 1];
        keys[i] = (uint64_t)a << 32 | b;
    }
    qsort(keys, count, sizeof *keys, order_u64);
    size_t open = 0, turned = 0, at;
    uint32_t edge[2] = { 0, 0 };
    for (size_t i = 0; i < count; i++) {
        const uint32_t a = (uint32_t)(keys[i] >> 32), b = (uint32_t)keys[i];
        bool twice = (i > 0 && keys[i - 1] == keys[i]) || (i + 1 < count && keys[i + 1] == keys[i]);
        bool back = has_key(keys, count, (uint64_t)b << 32 | a, &at);
        size_t same = 1;
        if (twice && !back) {
            has_key(keys, count, keys[i], &at);
            for (same = 1; at + same < count && keys[at + same] == keys[i]; same++) {}
        }
        if ((twice && (back || same != 2)) || (!twice && !back)) {
            if (open++ == 0) edge[0] = a, edge[1] = b;
        } else if (twice) {
            if (turned++ == 0 && open == 0) edge[0] = a, edge[1] = b;
        }
    }
    cutis_free_array(context, keys, count, sizeof *keys);
    if (open)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "the cage is not closed: %zu edges do not have two triangles, the first "
                          "between controls %u and %u",
                          open, edge[0], edge[1]);
    if (turned)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "the cage's triangles do not all face the same way: %zu edges have two "
                          "that do not agree, the first between controls %u and %u",
                          turned / 2, edge[0], edge[1]);
    return CUTIS_OK;
}

static double volume_of(const cutis_cage *cage, const uint32_t *triangles)
{
    cutis_surface surface = { cage->control_count, cage->triangle_count, &cage->controls->x,
                              triangles };
    return cutis_surface_volume(&surface);
}

static cutis_result fill_cage(cutis_cage *cage, const cutis_handles_body *body)
{
    cutis_arena *arena = cutis_owner_arena(cage);
    cutis_context *context = arena->context;
    const uint32_t vertices = body->shape.vertex_count, faces = body->shape.triangle_count;
    uint32_t *weld = cutis_arena_alloc(arena, vertices, sizeof *weld);
    uint32_t *triangles = cutis_arena_alloc(arena, faces, 3 * sizeof *triangles);
    cutis_float3 *controls = cutis_arena_alloc(arena, vertices, sizeof *controls);
    uint32_t *control = cutis_arena_alloc(arena, vertices, sizeof *control), used = 0;
    if (!weld || !triangles || !controls || !control) return cutis_alloc_result(context);
    TRY(cutis_weld_positions(context, vertices, body->positions, weld));
    for (uint32_t v = 0; v < vertices; v++) {
        const float *p = body->positions + 3 * (size_t)v;
        control[v] = weld[v] == v ? cage->control_count : control[weld[v]];
        if (weld[v] == v) controls[cage->control_count++] = (cutis_float3){ p[0], p[1], p[2] };
    }
    for (uint32_t t = 0; t < faces; t++) {
        uint32_t corner[3];
        for (int c = 0; c < 3; c++) corner[c] = control[body->triangles[3 * (size_t)t + c]];
        if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) continue;
        memcpy(triangles + 3 * (size_t)used++, corner, sizeof corner);
    }
    cage->controls = controls;
    cage->triangles = triangles;
    cage->triangle_count = used;
    if (cage->control_count < 4 || used < 4)
        return cutis_fail(
            context, CUTIS_INVALID_ARGUMENT,
            "a cage has at least four controls and four triangles; this has %u and %u",
            cage->control_count, used);
    TRY(check_closed(context, triangles, used));
    double volume = volume_of(cage, triangles);
    if (volume == 0)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "the cage encloses no volume");
    for (uint32_t t = 0; t < used && volume < 0; t++) {
        uint32_t swap = triangles[3 * (size_t)t];
        triangles[3 * (size_t)t] = triangles[3 * (size_t)t + 1];
        triangles[3 * (size_t)t + 1] = swap;
    }
    return CUTIS_OK;
}

cutis_result cutis_cage_create(const cutis_model *model, cutis_cage **out)
{
    if (out) *out = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    cutis_arena arena = { .context = context };
    cutis_handles_body body;
    cutis_cage *cage = cutis_owner_create(context, sizeof *cage);
    if (!cage) return cutis_alloc_result(context);
    cutis_result result =
        cutis_model_vertex_count(model) == 0
            ? cutis_fail(context, CUTIS_INVALID_ARGUMENT, "there is no mesh to be a cage")
            : cutis_handles_body_world(&arena, model, &body);
    if (result == CUTIS_OK) result = fill_cage(cage, &body);
    cutis_arena_release(&arena);
    if (result == CUTIS_OK)
        *out = cage;
    else
        cutis_cage_destroy(cage);
    return result;
}

bool cutis_cage_shape_make(cutis_arena *arena, const cutis_cage *cage, cutis_cage_shape *out)
{
    *out = (cutis_cage_shape){ .context = arena->context,
                               .control_count = cage->control_count,
                               .triangle_count = cage->triangle_count };
    out->controls = cutis_arena_alloc(arena, cage->control_count, 3 * sizeof(double));
    out->triangles =
        cutis_arena_copy(arena, cage->triangles, cage->triangle_count, 3 * sizeof *out->triangles);
    if (!out->controls || !out->triangles) return false;
    out->box = box3_empty();
    for (uint32_t i = 0; i < cage->control_count; i++) {
        vec3 p = v3_of_floats(&cage->controls[i].x);
        v3_put(p, out->controls + 3 * (size_t)i);
        box3_add(&out->box, p);
    }
    out->extent = box3_diagonal(&out->box);
    return true;
}

// Nearest point of triangle abc to x, by the region of the plane it lies in; barycentric.
static void nearest_on_triangle(const double *a, const double *b, const double *c, const double *x,
                                double *bary)
{
    vec3 ab = v3_sub(v3_of(b), v3_of(a)), ac = v3_sub(v3_of(c), v3_of(a)), p = v3_of(x);
    vec3 ap = v3_sub(p, v3_of(a)), bp = v3_sub(p, v3_of(b)), cp = v3_sub(p, v3_of(c));
    double d1 = v3_dot(ab, ap), d2 = v3_dot(ac, ap), d3 = v3_dot(ab, bp), d4 = v3_dot(ac, bp),
           d5 = v3_dot(ab, cp), d6 = v3_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    double v = 0, w = 0;
    if (d1 <= 0 && d2 <= 0) {
        v = w = 0;
    } else if (d3 >= 0 && d4 <= d3) {
        v = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        w = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        v = d1 / (d1 - d3);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        w = d2 / (d2 - d6);
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        v = 1 - w;
    } else {
        double scale = 1 / (va + vb + vc);
        v = vb * scale;
        w = vc * scale;
    }
    bary[0] = 1 - v - w, bary[1] = v, bary[2] = w;
}

double cutis_cage_nearest(const cutis_cage_shape *shape, const double *x, uint32_t *triangle,
                          double *barycentric)
{
    double best = INFINITY;
    for (uint32_t t = 0; t < shape->triangle_count; t++) {
        const double *corner[3];
        double bary[3], square = 0;
        for (int c = 0; c < 3; c++)
            corner[c] = shape->controls + 3 * (size_t)shape->triangles[3 * (size_t)t + c];
        nearest_on_triangle(corner[0], corner[1], corner[2], x, bary);
        for (int i = 0; i < 3; i++) {
            double d =
                x[i] - bary[0] * corner[0][i] - bary[1] * corner[1][i] - bary[2] * corner[2][i];
            square += d * d;
        }
        if (!(square < best)) continue;
        best = square;
        if (triangle) *triangle = t;
        if (barycentric) memcpy(barycentric, bary, sizeof bary);
    }
    return sqrt(best);
}

bool cutis_cage_inside(const cutis_cage_shape *shape, const double *x)
{
    double half_solid = 0; // half the solid angle, summed
    for (uint32_t t = 0; t < shape->triangle_count; t++) {
        vec3 u[3];
        double d[3];
        for (int c = 0; c < 3; c++) {
            const double *p = shape->controls + 3 * (size_t)shape->triangles[3 * (size_t)t + c];
            u[c] = v3_sub(v3_of(p), v3_of(x));
            d[c] = v3_length(u[c]);
        }
        half_solid += fixed_atan2(v3_dot(u[0], v3_cross(u[1], u[2])),
                                  d[0] * d[1] * d[2] + v3_dot(u[0], u[1]) * d[2] +
                                      v3_dot(u[1], u[2]) * d[0] + v3_dot(u[2], u[0]) * d[1]);
    }
    return half_solid > 3.14159265358979323846; // inside: 2 pi, outside: 0
}
