/// Differences between two results on the same mesh, in the units of docs/spec/conventions.md 5:
/// positions in percent of the rest diagonal over all vertices, normals in radians over the welded
/// vertices that have a face.
#include <cutis/measure.h>

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/vector.h"

static void compare_positions(uint32_t count, const float *positions, const float *reference,
                              double diagonal, cutis_difference *out)
{
    double sum = 0.0, largest = -1.0;
    for (uint32_t v = 0; v < count; v++) {
        vec3 d = v3_sub(v3_at(positions, v), v3_at(reference, v));
        double square = v3_dot(d, d);
        sum += square;
        if (!(square <= largest)) { // a NaN is the worst there is
            largest = square;
            out->worst_vertex = v;
        }
    }
    out->position_rms = count ? 100.0 * sqrt(sum / count) / diagonal : 0.0;
    out->position_max = count ? 100.0 * sqrt(largest) / diagonal : 0.0;
}

static void compare_normals(const cutis_surface *rest, const uint32_t *weld, const bool *used,
                            const float *a, const float *b, cutis_difference *out)
{
    double sum = 0.0;
    uint32_t count = 0;
    for (uint32_t v = 0; v < rest->vertex_count; v++) {
        if (weld[v] != v || !used[v]) continue;
        double angle = v3_angle(v3_at(a, v), v3_at(b, v));
        sum += angle * angle;
        out->normal_max = fmax(out->normal_max, angle);
        count++;
    }
    out->normal_rms = count > 0 ? sqrt(sum / count) : 0.0;
}

cutis_result cutis_surface_compare(cutis_context *context, const cutis_surface *rest,
                                   const float *positions, const float *reference,
                                   cutis_difference *out)
{
    if (!context || !rest || !positions || !reference || !out) return CUTIS_INVALID_ARGUMENT;
    const uint32_t count = rest->vertex_count;
    const double diagonal = cutis_surface_diagonal(rest);
    *out = (cutis_difference){ 0 };
    if (count == 0) return CUTIS_OK;
    if (!(diagonal > 0.0))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "rest positions: their bounding box has no extent to measure errors by");
    compare_positions(count, positions, reference, diagonal, out);

    cutis_arena arena = { .context = context };
    uint32_t *weld = cutis_arena_alloc(&arena, count, sizeof *weld);
    bool *used = cutis_arena_zero(&arena, count, sizeof *used);
    float *normals = cutis_arena_alloc(&arena, count, 6 * sizeof *normals);
    cutis_result result = weld && used && normals
                              ? cutis_weld_positions(context, count, rest->positions, weld)
                              : cutis_alloc_result(context);
    for (uint64_t i = 0; i < 3 * rest->triangle_count && result == CUTIS_OK; i++)
        used[weld[rest->indices[i]]] = true;
    const float *poses[2] = { positions, reference };
    for (int k = 0; k < 2 && result == CUTIS_OK; k++) {
        cutis_surface surface = *rest;
        surface.positions = poses[k];
        result = cutis_surface_normals(context, &surface, weld, normals + 3 * (size_t)count * k);
    }
    if (result == CUTIS_OK)
        compare_normals(rest, weld, used, normals, normals + 3 * (size_t)count, out);
    cutis_arena_release(&arena);
    return result;
}
