// The gate's second half for nodes, skins, materials and names, on the model's own copy. What can
// be repaired is repaired in CUTIS_GATE_REPAIR and noted with a count; everything else is refused
// with the place of the first fault. After it every float is finite, every rotation can be
// normalised and every inverse bind can be inverted.
#include "model/validate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

enum { BLOCK = 32 }; // looked at in one go: a fixed loop without a way out becomes vectors

size_t cutis_first_not_finite(const float *values, size_t count)
{
    size_t i = 0;
    for (uint32_t bad = 0; i + BLOCK <= count && !bad; i += bad ? 0 : BLOCK)
        for (int k = 0; k < BLOCK; k++) {
            uint32_t bits;
            memcpy(&bits, &values[i + k], sizeof bits);
            bad |= (bits & 0x7f800000u) == 0x7f800000u;
        }
    for (; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        if ((bits & 0x7f800000u) == 0x7f800000u) return i;
    }
    return count;
}

size_t cutis_first_not_below(const uint32_t *values, size_t count, uint32_t limit)
{
    size_t i = 0;
    for (uint32_t bad = 0; i + BLOCK <= count && !bad; i += bad ? 0 : BLOCK)
        for (int k = 0; k < BLOCK; k++) bad |= values[i + k] >= limit;
    while (i < count && values[i] < limit) i++;
    return i;
}

bool cutis_quat_usable(const float *q)
{
    double square =
        (double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3];
    return square >= CUTIS_QUAT_LENGTH_MIN * CUTIS_QUAT_LENGTH_MIN &&
           square <= CUTIS_QUAT_LENGTH_MAX * CUTIS_QUAT_LENGTH_MAX;
}

cutis_result cutis_model_note(cutis_model *model, const char *code, uint8_t severity,
                              uint64_t count, const char *place, const char *format, ...)
{
    if (!cutis_grow(model->context, &model->issues, &model->issue_capacity,
                    (size_t)model->issue_count + 1, sizeof *model->issues))
        return cutis_alloc_result(model->context);
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cutis_issue issue = { code,
                          cutis_arena_string(&model->arena, place),
                          cutis_arena_string(&model->arena, text),
                          count,
                          severity,
                          true };
    if (!issue.place || !issue.text) return cutis_alloc_result(model->context);
    model->issues[model->issue_count++] = issue;
    return CUTIS_OK;
}

// Names decide nothing, so a byte that is no UTF-8 becomes '?' in both modes instead of losing the
// whole model.
static uint64_t clean_name(const char *name)
{
    return cutis_utf8_repair((char *)name);
}

static cutis_result clean_names(cutis_model *model)
{
    const cutis_model_data *data = &model->data;
    uint64_t replaced = 0;
    for (uint32_t i = 0; i < data->node_count; i++) replaced += clean_name(data->nodes[i].name);
    for (uint32_t i = 0; i < data->skin_count; i++) replaced += clean_name(data->skins[i].name);
    for (uint32_t i = 0; i < data->clip_count; i++) replaced += clean_name(data->clips[i].name);
    for (uint32_t i = 0; i < data->material_count; i++)
        replaced += clean_name(data->materials[i].name);
    for (uint32_t i = 0; i < data->mesh_count; i++) {
        const cutis_mesh *mesh = &data->meshes[i];
        replaced += clean_name(mesh->name);
        for (uint32_t k = 0; mesh->target_names && k < mesh->target_count; k++)
            replaced += clean_name(mesh->target_names[k]);
        for (uint32_t k = 0; mesh->part_names && k < mesh->part_count; k++)
            replaced += clean_name(mesh->part_names[k]);
    }
    if (!replaced) return CUTIS_OK;
    return cutis_model_note(model, "NAME_NOT_UTF8", 1, replaced, "names",
                            "%llu bytes of names were no UTF-8 and became '?'",
                            (unsigned long long)replaced);
}

static cutis_result check_node(cutis_model *model, uint32_t n, cutis_gate gate)
{
    cutis_context *context = model->context;
    cutis_node *node = (cutis_node *)&model->data.nodes[n];
    static const char *const fields[] = { "translation", "rotation", "scale" };
    float values[10];
    memcpy(values, &node->rest, sizeof values);
    size_t bad = cutis_first_not_finite(values, 10);
    if (node->matrix) {
        bad = cutis_first_not_finite(node->matrix->m, 12);
        if (bad < 12)
            return CORRUPT("nodes/%u: matrix entry %zu is %g", n, bad, node->matrix->m[bad]);
        node->rest = cutis_transform_from_mat34(node->matrix);
    } else if (bad < 10) {
        return CORRUPT("nodes/%u: %s is not finite (%g)", n,
                       fields[bad < 3   ? 0
                              : bad < 7 ? 1
                                        : 2],
                       values[bad]);
    } else if (!cutis_quat_usable(values + 3)) {
        if (gate == CUTIS_GATE_REFUSE)
            return CORRUPT("nodes/%u: rotation (%g %g %g %g) has no usable length", n, values[3],
                           values[4], values[5], values[6]);
        node->rest.rotation = (cutis_quat){ 0, 0, 0, 1 };
        char place[32];
        snprintf(place, sizeof place, "nodes/%u", n);
        TRY(cutis_model_note(model, "ROTATION_LENGTH", 0, 1, place,
                             "the rotation had no usable length and became the identity"));
    }
    if (node->target_weights) {
        uint32_t count = model->data.meshes[node->mesh].target_count;
        bad = cutis_first_not_finite(node->target_weights, count);
        if (bad < count)
            return CORRUPT("nodes/%u: morph weight %zu is %g", n, bad, node->target_weights[bad]);
    }
    return CUTIS_OK;
}

// World matrix of a node at rest: the chain of its ancestors, without a world array of the whole
// model.
static cutis_mat34 world_at_rest(const cutis_model_data *data, uint32_t n)
{
    const cutis_node *node = &data->nodes[n];
    cutis_mat34 world = node->matrix ? *node->matrix : cutis_mat34_from_transform(&node->rest);
    while (node->parent != CUTIS_NONE) {
        node = &data->nodes[node->parent];
        cutis_mat34 local = node->matrix ? *node->matrix : cutis_mat34_from_transform(&node->rest);
        world = cutis_mat34_multiply(&local, &world);
    }
    return world;
}

static cutis_result check_skin(cutis_model *model, uint32_t s, cutis_gate gate)
{
    cutis_context *context = model->context;
    const cutis_skin *skin = &model->data.skins[s];
    if (!skin->inverse_binds) return CUTIS_OK;
    uint64_t repaired = 0;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        cutis_mat34 *matrix = (cutis_mat34 *)&skin->inverse_binds[j];
        cutis_mat34 inverse;
        bool finite = cutis_first_not_finite(matrix->m, 12) == 12;
        if (finite && cutis_mat34_invert(matrix, &inverse)) continue;
        if (gate == CUTIS_GATE_REFUSE)
            return CORRUPT("skins/%u: inverse bind of joint %u (node %u) is %s", s, j,
                           skin->joints[j], finite ? "singular" : "not finite");
        cutis_mat34 world = world_at_rest(&model->data, skin->joints[j]);
        if (!cutis_mat34_invert(&world, matrix))
            *matrix = (cutis_mat34){ { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
        repaired++;
    }
    if (!repaired) return CUTIS_OK;
    char place[32];
    snprintf(place, sizeof place, "skins/%u", s);
    return cutis_model_note(model, "INVERSE_BIND_SINGULAR", 0, repaired, place,
                            "%llu inverse binds were singular or not finite and were made "
                            "from the nodes' rest pose",
                            (unsigned long long)repaired);
}

static cutis_result check_materials(cutis_model *model)
{
    for (uint32_t i = 0; i < model->data.material_count; i++) {
        const cutis_material *material = &model->data.materials[i];
        float values[6] = { material->base_color[0], material->base_color[1],
                            material->base_color[2], material->base_color[3],
                            material->metallic,      material->roughness };
        if (cutis_first_not_finite(values, 6) < 6)
            return cutis_fail(model->context, CUTIS_CORRUPT_DATA,
                              "materials/%u: a factor is not finite", i);
    }
    return CUTIS_OK;
}

cutis_result cutis_validate_values(cutis_model *model, cutis_gate gate)
{
    TRY(clean_names(model));
    for (uint32_t n = 0; n < model->data.node_count; n++) TRY(check_node(model, n, gate));
    for (uint32_t s = 0; s < model->data.skin_count; s++) TRY(check_skin(model, s, gate));
    TRY(check_materials(model));
    TRY(cutis_validate_meshes(model, gate));
    return cutis_validate_clips(model, gate);
}
