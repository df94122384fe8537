/// Fills the planes of a layout: weights, rest positions, normals, tangents, centres, morph
/// targets, block by block. Invariant: padding lanes hold weight 1 on the first list bone and zeros
/// elsewhere.
#include "base/error.h"
#include "base/memory.h"
#include "deform/skin.h"
#include "geometry/vector.h"

#include <math.h>
#include <string.h>

// File normals this far from unit length (squared) are scaled to it; closer ones keep their bits.
static const float UNIT_SLACK = 1e-4f;

/// Rest data of one output frame in output order; released when the planes are filled.
typedef struct rest_data {
    float *positions, *normals, *tangents;
} rest_data;

/// Area-weighted normals of a primitive without its own; vertices on no triangle get zero.
static void face_normals(const cutis_primitive *primitive, float *normals)
{
    memset(normals, 0, (size_t)primitive->vertex_count * 3 * sizeof *normals);
    if (primitive->topology != CUTIS_TOPOLOGY_TRIANGLES) return;
    for (uint32_t t = 0; t + 2 < primitive->index_count; t += 3) {
        const uint32_t *index = primitive->indices + t;
        float n[3];
        v3_put_floats(v3_normal(v3_at(primitive->positions, index[0]),
                                v3_at(primitive->positions, index[1]),
                                v3_at(primitive->positions, index[2])),
                      n);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) normals[3 * (size_t)index[k] + i] += n[i];
    }
}

static void make_unit(float *normals, uint32_t count, bool all)
{
    for (uint32_t v = 0; v < count; v++) {
        float *n = normals + 3 * (size_t)v;
        double square = (double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2];
        if (square == 0.0 || (!all && fabs(square - 1.0) <= UNIT_SLACK)) continue;
        double scale = 1.0 / sqrt(square);
        for (int i = 0; i < 3; i++) n[i] = (float)(n[i] * scale);
    }
}

static void gather_primitive(const cutis_primitive *primitive, const rest_data *rest, size_t vertex)
{
    size_t count = primitive->vertex_count;
    memcpy(rest->positions + 3 * vertex, primitive->positions, 3 * count * sizeof(float));
    if (rest->normals) {
        float *normals = rest->normals + 3 * vertex;
        if (primitive->normals)
            memcpy(normals, primitive->normals, 3 * count * sizeof(float));
        else
            face_normals(primitive, normals);
        make_unit(normals, primitive->vertex_count, !primitive->normals);
    }
    if (rest->tangents && primitive->tangents)
        memcpy(rest->tangents + 4 * vertex, primitive->tangents, 4 * count * sizeof(float));
}

static void gather_rest(const cutis_skin_binding *binding, const rest_data *rest)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(binding->base.model, &instances);
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        size_t vertex = instances[i].vertex_first;
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            gather_primitive(&mesh->primitives[p], rest, vertex);
            vertex += mesh->primitives[p].vertex_count;
        }
    }
}

/// `width` floats per vertex as `width` planes per block. NULL: no memory
static float *make_planes(cutis_skin_binding *binding, const float *values, uint32_t width)
{
    const cutis_skin_layout *layout = &binding->layout;
    const size_t size = layout->block_size;
    float *planes = cutis_layout_alloc(binding, layout->block_count * size, width * sizeof *planes);
    for (size_t k = 0; planes && k < layout->block_count; k++) {
        const uint32_t *vertices = layout->vertices + k * size;
        float *plane = planes + k * size * width;
        for (size_t l = 0; l < size && vertices[l] != CUTIS_NO_VERTEX; l++) // padding comes last
            for (uint32_t c = 0; c < width; c++)
                plane[c * size + l] = values[(size_t)vertices[l] * width + c];
    }
    return planes;
}

static void fill_weights(const cutis_skin_layout *layout, float *weights)
{
    const size_t size = layout->block_size;
    for (size_t k = 0; k < layout->block_count; k++) {
        const uint32_t *list = layout->list_bone + layout->list_first[k];
        float *block = weights + layout->list_first[k] * size;
        for (size_t l = 0; l < size; l++) {
            uint32_t v = layout->vertices[k * size + l];
            if (v == CUTIS_NO_VERTEX) {
                block[l] = 1.0f;
                continue;
            }
            // Both ascend, and the list has all bones of its vertices.
            const uint32_t *bone = layout->bone + layout->first[v];
            const float *weight = layout->weight + layout->first[v];
            const uint32_t count = layout->first[v + 1] - layout->first[v];
            for (uint32_t i = 0, entry = 0; i < count; i++, entry++) {
                while (list[entry] != bone[i]) entry++;
                block[entry * size + l] = weight[i];
            }
        }
    }
}

static cutis_result fill_slots(cutis_skin_binding *binding, const uint32_t *vertex_set,
                               const uint32_t *centre)
{
    cutis_skin_layout *layout = &binding->layout;
    size_t slots = (size_t)layout->block_count * layout->block_size;
    uint32_t *vertex_slot = cutis_layout_alloc(binding, layout->vertex_count, sizeof *vertex_slot);
    if (!vertex_slot) return cutis_alloc_result(binding->base.context);
    for (size_t slot = 0; slot < slots; slot++)
        if (layout->vertices[slot] != CUTIS_NO_VERTEX)
            vertex_slot[layout->vertices[slot]] = (uint32_t)slot;
    layout->vertex_slot = vertex_slot;
    if (layout->formula == CUTIS_FORMULA_SBS) {
        uint32_t *sets = cutis_layout_alloc(binding, slots, sizeof *sets);
        if (!sets) return cutis_alloc_result(binding->base.context);
        for (size_t slot = 0; slot < slots; slot++) {
            uint32_t v = layout->vertices[slot];
            sets[slot] = v == CUTIS_NO_VERTEX ? CUTIS_NO_SET : centre[vertex_set[v]];
        }
        layout->sets = sets;
        layout->set_count = binding->set_count;
    }
    return CUTIS_OK;
}

static cutis_result fill_origins(cutis_skin_binding *binding)
{
    float *origins = cutis_layout_alloc(binding, binding->bone_count, 3 * sizeof *origins);
    if (!origins) return cutis_alloc_result(binding->base.context);
    for (size_t i = 0; i < 3 * (size_t)binding->bone_count; i++)
        origins[i] = (float)binding->origins[i];
    binding->layout.origins = origins;
    return CUTIS_OK;
}

cutis_result cutis_bind_layout(cutis_skin_binding *binding, const uint32_t *vertex_set,
                               const uint32_t *centre, const float *centres)
{
    cutis_skin_layout *layout = &binding->layout;
    cutis_arena arena = { .context = binding->base.context };
    const float *blend = binding->base.options.blend;
    const size_t vertices = layout->vertex_count;
    const bool normals = layout->normal_rule != CUTIS_NORMAL_NONE, tangents = layout->tangents;
    const rest_data rest = {
        .positions = cutis_arena_alloc(&arena, vertices, 3 * sizeof(float)),
        .normals = normals ? cutis_arena_alloc(&arena, vertices, 3 * sizeof(float)) : NULL,
        .tangents = tangents ? cutis_arena_zero(&arena, vertices, 4 * sizeof(float)) : NULL,
    };
    size_t entries = (size_t)layout->list_first[layout->block_count] * layout->block_size;
    float *weights = cutis_layout_alloc(binding, entries, sizeof(float));
    bool good =
        weights && rest.positions && !normals == !rest.normals && !tangents == !rest.tangents;
    if (good) {
        gather_rest(binding, &rest);
        fill_weights(layout, weights);
        layout->weights = weights;
        layout->positions = make_planes(binding, rest.positions, 3);
        if (normals) layout->normals = make_planes(binding, rest.normals, 3);
        if (tangents) layout->tangents_rest = make_planes(binding, rest.tangents, 4);
        if (blend) layout->blend = make_planes(binding, blend, 1);
        if (centres) layout->centres = make_planes(binding, centres, 3);
        good = layout->positions && !normals == !layout->normals &&
               !tangents == !layout->tangents_rest && !blend == !layout->blend &&
               !centres == !layout->centres;
    }
    cutis_arena_release(&arena);
    cutis_result result =
        good ? fill_slots(binding, vertex_set, centre) : cutis_alloc_result(binding->base.context);
    if (result == CUTIS_OK && layout->formula == CUTIS_FORMULA_SBS_WEIGHTED)
        result = fill_origins(binding);
    return result;
}
