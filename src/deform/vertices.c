/// Skinning without a binding: the caller's arrays in, the caller's arrays out.
///
/// Invariant: nothing is allocated, and nothing is written unless every joint with weight is in the
/// palette and what is used of weights and palette is finite.
#include "deform/vertices.h"

#include <math.h>
#include <string.h>

#include "math/quat.h"
#include "math/svd3.h"

// How far from it, of its squared scale, a scaled rotation may be.
static const double SCALED = 1e-4;
// So that no sum of weights is infinite.
static const float WEIGHT_MAX = 1e30f;

static uint32_t number_size(cutis_number type)
{
    return type == CUTIS_NUMBER_U8 ? 1 : type == CUTIS_NUMBER_U16 ? 2 : 4;
}

static const char *vertex_at(const cutis_vertex_array *array, uint32_t tight, uint32_t vertex)
{
    return (const char *)array->data + (size_t)vertex * (array->stride ? array->stride : tight);
}

static uint32_t joint_at(const cutis_vertex_array *array, uint32_t count, uint32_t vertex,
                         uint32_t i)
{
    const char *at = vertex_at(array, count * number_size(array->type), vertex);
    uint16_t half;
    uint32_t whole;
    if (array->type == CUTIS_NUMBER_U8) return ((const uint8_t *)at)[i];
    if (array->type == CUTIS_NUMBER_U16) return memcpy(&half, at + 2 * i, sizeof half), half;
    return memcpy(&whole, at + 4 * i, sizeof whole), whole;
}

static float weight_at(const cutis_vertex_array *array, uint32_t count, uint32_t vertex, uint32_t i)
{
    const char *at = vertex_at(array, count * number_size(array->type), vertex);
    float weight;
    uint16_t half;
    if (array->type == CUTIS_NUMBER_U8) return (float)((const uint8_t *)at)[i];
    if (array->type == CUTIS_NUMBER_U16) return memcpy(&half, at + 2 * i, sizeof half), half;
    return memcpy(&weight, at + 4 * i, sizeof weight), weight;
}

/// Influences with weight, summing to one; a vertex without any follows bone 0, as in a binding.
static void load_influences(const cutis_vertices *v, uint32_t vertex, cutis_vertex_work *w)
{
    float sum = 0;
    w->count = 0;
    for (uint32_t i = 0; i < v->influence_count; i++) {
        const float weight = weight_at(&v->weights, v->influence_count, vertex, i);
        if (!(weight > 0)) continue;
        w->joints[w->count] = joint_at(&v->joints, v->influence_count, vertex, i);
        w->weights[w->count++] = weight;
        sum += weight;
    }
    for (uint32_t i = 0; i < w->count; i++) w->weights[i] /= sum;
    if (w->count) return;
    w->joints[0] = 0, w->weights[0] = 1;
    w->count = 1;
}

/// Rotation and stretch of every bone; one without a rotation (flattened to a line) has none.
static void split_bones(const cutis_mat34 *palette, uint32_t count, cutis_vertex_bone *out)
{
    for (uint32_t b = 0; b < count; b++) {
        double l[9], r[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, q[4];
        for (int i = 0; i < 9; i++) l[i] = palette[b].m[i / 3 * 4 + i % 3];
        cutis_polar3(l, r);
        cutis_quat_from_mat3(r, q);
        for (int i = 0; i < 4; i++) out[b].rotation[i] = (float)q[i];
        for (int i = 0, at = 0; i < 3; i++)
            for (int j = i; j < 3; j++)
                out[b].stretch[at++] =
                    (float)(r[i] * l[j] + r[3 + i] * l[3 + j] + r[6 + i] * l[6 + j]);
    }
}

/// Bones that some vertex has weight on, a bit each.
typedef struct {
    uint32_t words[CUTIS_VERTEX_PALETTE / 32];
} bone_bits;

static bool has_bone(const bone_bits *used, uint32_t bone)
{
    return used->words[bone / 32] >> bone % 32 & 1;
}

/// Is every bone in use a scaled rotation, none mirrored? A binding asks the same (deform/frame.c).
static bool scaled_rotations(const cutis_mat34 *palette, uint32_t count, const bone_bits *used)
{
    for (uint32_t b = 0; b < count; b++) {
        if (!has_bone(used, b)) continue;
        const float *m = palette[b].m;
        double dots[6];
        for (int i = 0, at = 0; i < 3; i++)
            for (int j = i; j < 3; j++)
                dots[at++] =
                    (double)m[i] * m[j] + (double)m[4 + i] * m[4 + j] + (double)m[8 + i] * m[8 + j];
        const double square = (dots[0] + dots[3] + dots[5]) / 3, slack = SCALED * square;
        const double off[6] = { dots[0] - square, dots[1], dots[2],
                                dots[3] - square, dots[4], dots[5] - square };
        for (int i = 0; i < 6; i++)
            if (!(fabs(off[i]) <= slack)) return false;
        if (m[0] * ((double)m[5] * m[10] - (double)m[6] * m[9]) +
                m[1] * ((double)m[6] * m[8] - (double)m[4] * m[10]) +
                m[2] * ((double)m[4] * m[9] - (double)m[5] * m[8]) <
            0)
            return false;
    }
    return true;
}

static bool outputs_fit(const cutis_outputs *o, bool normals)
{
    const cutis_stream *streams[] = { &o->positions, &o->normals };
    static const cutis_topology_outputs NONE;
    for (int i = 0; i < 2; i++)
        if (streams[i]->buffer || streams[i]->offset || streams[i]->instance_stride ||
            streams[i]->stride % 4 || (streams[i]->stride && streams[i]->stride < 12))
            return false;
    return memcmp(&o->topology, &NONE, sizeof NONE) == 0 && o->positions.data &&
           (!o->normals.data || normals) && !o->tangents.data && !o->tangents.buffer &&
           !o->previous_positions.data && !o->previous_positions.buffer && !o->bounds;
}

static bool stride_fits(const cutis_vertex_array *array, uint32_t count)
{
    return !array->stride || array->stride >= count * number_size(array->type);
}

static bool arrays_fit(const cutis_vertices *v, uint32_t bone_count)
{
    if (v->influence_count < 1 || v->influence_count > CUTIS_VERTEX_INFLUENCES || !bone_count ||
        !v->positions.data || v->positions.type != CUTIS_NUMBER_F32 ||
        v->normals.type != CUTIS_NUMBER_F32 || !v->joints.data || !v->weights.data ||
        v->joints.type < CUTIS_NUMBER_U8 || v->joints.type > CUTIS_NUMBER_U32 ||
        v->weights.type < CUTIS_NUMBER_F32 || v->weights.type > CUTIS_NUMBER_U16)
        return false;
    return stride_fits(&v->positions, 3) && stride_fits(&v->normals, 3) &&
           stride_fits(&v->joints, v->influence_count) &&
           stride_fits(&v->weights, v->influence_count);
}

/// Find the bones in use; false if one is not in the palette, or a number not finite.
static bool use_bones(const cutis_vertices *v, const cutis_mat34 *palette, uint32_t bone_count,
                      bone_bits *used)
{
    memset(used, 0, sizeof *used);
    for (uint32_t i = 0; i < v->vertex_count; i++) {
        bool any = false;
        for (uint32_t k = 0; k < v->influence_count; k++) {
            const float weight = weight_at(&v->weights, v->influence_count, i, k);
            const uint32_t bone = joint_at(&v->joints, v->influence_count, i, k);
            if (weight == 0) continue;
            if (!(weight > 0 && weight <= WEIGHT_MAX) || bone >= bone_count) return false;
            used->words[bone / 32] |= 1u << bone % 32;
            any = true;
        }
        if (!any) used->words[0] |= 1;
    }
    for (uint32_t b = 0; b < bone_count; b++)
        for (int i = 0; has_bone(used, b) && i < 12; i++)
            if (!isfinite(palette[b].m[i])) return false;
    return true;
}

static cutis_vertices_function *best_function(void)
{
#if defined(__x86_64__) && !defined(CUTIS_SCALAR_ONLY)
    if (__builtin_cpu_supports("fma")) return cutis_vertices_run_fma;
#endif
    return cutis_vertices_run_plain;
}

cutis_result cutis_skin_vertices(const cutis_vertices *vertices, cutis_method method,
                                 const cutis_mat34 *palette, uint32_t bone_count,
                                 const cutis_outputs *outputs)
{
    if (!vertices || !palette || !outputs) return CUTIS_INVALID_ARGUMENT;
    if (method != CUTIS_METHOD_LBS && method != CUTIS_METHOD_DQS) return CUTIS_UNSUPPORTED;
    const bool dual = method == CUTIS_METHOD_DQS;
    if (bone_count > (dual ? CUTIS_VERTEX_BONES : CUTIS_VERTEX_PALETTE)) return CUTIS_UNSUPPORTED;
    bone_bits used;
    if (!outputs_fit(outputs, vertices->normals.data) || !arrays_fit(vertices, bone_count) ||
        !use_bones(vertices, palette, bone_count, &used))
        return CUTIS_INVALID_ARGUMENT;
    cutis_vertex_bone bones[CUTIS_VERTEX_BONES];
    cutis_vertex_work work = { .palette = palette, .normals = outputs->normals.data };
    cutis_vertices_function *run = best_function();
    work.rotations = work.normals && !dual && scaled_rotations(palette, bone_count, &used);
    if (dual) {
        split_bones(palette, bone_count, bones);
        work.bones = bones;
    }
    const size_t step = outputs->positions.stride ? outputs->positions.stride : 12,
                 normal_step = outputs->normals.stride ? outputs->normals.stride : 12;
    for (uint32_t i = 0; i < vertices->vertex_count; i++) {
        float position[3], normal[3] = { 0 };
        memcpy(position, vertex_at(&vertices->positions, 12, i), sizeof position);
        if (work.normals) memcpy(normal, vertex_at(&vertices->normals, 12, i), sizeof normal);
        load_influences(vertices, i, &work);
        run(&work, position, normal);
        memcpy((char *)outputs->positions.data + i * step, position, sizeof position);
        if (work.normals)
            memcpy((char *)outputs->normals.data + i * normal_step, normal, sizeof normal);
    }
    return CUTIS_OK;
}
