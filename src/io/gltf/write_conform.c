/// Values that the model allows and glTF does not: normals and tangents that are not unit, colours
/// outside [0, 1], rotation keys that are not unit. New accessors hold the nearest that the format
/// allows; what already conforms keeps its bits.
#include "io/gltf/writer.h"

#include <math.h>
#include <string.h>

#include "geometry/vector.h"

// The validator takes lengths within 0.00674 of one; closer than this a vector is left as it is.
static const double UNIT_TOLERANCE = 0.0067;

static double length_of(const float *v, int width)
{
    double sum = 0;
    for (int k = 0; k < width; k++) sum += (double)v[k] * v[k];
    return sqrt(sum);
}

/// Scale to unit length; a vector without direction becomes `fallback`.
static void make_unit(float *v, int width, const double *fallback)
{
    double length = length_of(v, width), other = 0;
    if (fabs(length - 1) <= UNIT_TOLERANCE) return;
    for (int k = 0; k < width; k++) other += fallback[k] * fallback[k];
    for (int k = 0; k < width; k++)
        v[k] = (float)(length > 1e-12 ? v[k] / length
                       : other > 0    ? fallback[k] / sqrt(other)
                                      : k == 2);
}

static bool all_unit(const float *values, size_t count, size_t stride, int width)
{
    for (size_t i = 0; i < count; i++) {
        if (fabs(length_of(values + i * stride, width) - 1) > UNIT_TOLERANCE) return false;
    }
    return true;
}

const float *cutis_gltf_unit_normals(gltf_writer *writer, cutis_arena *arena,
                                     const cutis_primitive *primitive)
{
    size_t count = primitive->vertex_count;
    if (!primitive->normals || all_unit(primitive->normals, count, 3, 3)) return primitive->normals;
    float *normals = cutis_arena_copy(arena, primitive->normals, count, 3 * sizeof *normals);
    double *faces = cutis_alloc_zero(writer->context, count, 3 * sizeof *faces);
    if (normals && faces) {
        // Area-weighted normals of the faces, for the vertices whose own have no direction.
        if (primitive->topology == CUTIS_TOPOLOGY_TRIANGLES)
            v3_sum_normals(primitive->positions, primitive->indices, primitive->index_count / 3,
                           NULL, faces);
        for (size_t v = 0; v < count; v++) make_unit(normals + 3 * v, 3, faces + 3 * v);
    } else {
        writer->failed = true;
    }
    cutis_free_array(writer->context, faces, count, 3 * sizeof *faces);
    return normals;
}

const float *cutis_gltf_unit_tangents(gltf_writer *writer, cutis_arena *arena,
                                      const cutis_primitive *primitive)
{
    static const double ALONG_X[3] = { 1, 0, 0 };
    size_t count = primitive->vertex_count;
    bool good = !primitive->tangents || all_unit(primitive->tangents, count, 4, 3);
    for (size_t v = 0; v < count && primitive->tangents && good; v++)
        good = fabsf(primitive->tangents[4 * v + 3]) == 1;
    if (good) return primitive->tangents;
    float *tangents = cutis_arena_copy(arena, primitive->tangents, count, 4 * sizeof *tangents);
    if (!tangents) writer->failed = true;
    for (size_t v = 0; v < count && tangents; v++) {
        make_unit(tangents + 4 * v, 3, ALONG_X);
        tangents[4 * v + 3] = tangents[4 * v + 3] < 0 ? -1.0f : 1.0f;
    }
    return tangents;
}

const float *cutis_gltf_clamped_colors(gltf_writer *writer, cutis_arena *arena,
                                       const cutis_primitive *primitive)
{
    size_t count = 4 * (size_t)primitive->vertex_count, i = 0;
    while (primitive->colors && i < count && primitive->colors[i] >= 0 && primitive->colors[i] <= 1)
        i++;
    if (!primitive->colors || i == count) return primitive->colors;
    float *colors = cutis_arena_copy(arena, primitive->colors, count, sizeof *colors);
    if (!colors) writer->failed = true;
    for (; i < count && colors; i++) colors[i] = fminf(fmaxf(colors[i], 0), 1);
    return colors;
}

const float *cutis_gltf_unit_rotations(gltf_writer *writer, cutis_arena *arena,
                                       const cutis_channel *channel)
{
    static const double NO_TURN[4] = { 0, 0, 0, 1 };
    bool cubic = channel->interpolation == CUTIS_INTERPOLATION_CUBIC;
    size_t stride = cubic ? 12 : 4, first = cubic ? 4 : 0;
    if (channel->path != CUTIS_PATH_ROTATION ||
        all_unit(channel->values + first, channel->key_count, stride, 4))
        return channel->values;
    float *values = cutis_arena_copy(arena, channel->values, channel->key_count, stride * 4);
    if (!values) writer->failed = true;
    for (size_t k = 0; k < channel->key_count && values; k++)
        make_unit(values + k * stride + first, 4, NO_TURN);
    return values;
}
