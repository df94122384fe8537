/// Whether two models are the same, array by array; `why` says where they first differ.
#ifndef CUTIS_TESTS_GLTF_COMPARE_H
#define CUTIS_TESTS_GLTF_COMPARE_H

#include <cutis/model.h>
#include <stdio.h>
#include <string.h>

#define DIFFER(...) return snprintf(why, 256, __VA_ARGS__), false

static inline bool same_array(const void *a, const void *b, size_t count, size_t item)
{
    if (count == 0) return true;
    return a && b ? memcmp(a, b, count * item) == 0 : a == b;
}

static inline bool same_string(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static inline bool same_primitive(const cutis_primitive *a, const cutis_primitive *b,
                                  uint32_t targets, char *why)
{
    size_t n = a->vertex_count;
    if (a->vertex_count != b->vertex_count || a->index_count != b->index_count ||
        a->topology != b->topology || a->material != b->material)
        DIFFER("counts, topology or material");
    if (!same_array(a->indices, b->indices, a->index_count, 4)) DIFFER("indices");
    if (!same_array(a->positions, b->positions, n, 12)) DIFFER("positions");
    if (!same_array(a->normals, b->normals, n, 12)) DIFFER("normals");
    if (!same_array(a->tangents, b->tangents, n, 16)) DIFFER("tangents");
    if (!same_array(a->texcoords, b->texcoords, n, 8)) DIFFER("texcoords");
    if (!same_array(a->colors, b->colors, n, 16)) DIFFER("colors");
    if (!same_array(a->influences.first, b->influences.first, n + 1, 4)) DIFFER("influence counts");
    uint32_t influences = a->influences.first ? a->influences.first[n] : 0;
    if (!same_array(a->influences.joints, b->influences.joints, influences, 4)) DIFFER("joints");
    if (!same_array(a->influences.weights, b->influences.weights, influences, 4)) DIFFER("weights");
    if (!same_array(a->parts, b->parts, a->index_count / 3, 4)) DIFFER("parts");
    if (!a->targets != !b->targets) DIFFER("targets");
    for (uint32_t t = 0; a->targets && t < targets; t++) {
        if (!same_array(a->targets[t].positions, b->targets[t].positions, n, 12) ||
            !same_array(a->targets[t].normals, b->targets[t].normals, n, 12) ||
            !same_array(a->targets[t].tangents, b->targets[t].tangents, n, 12))
            DIFFER("target %u", t);
    }
    return true;
}

static inline bool same_names(const char *const *a, const char *const *b, uint32_t count)
{
    if (!a != !b) return false;
    for (uint32_t i = 0; a && i < count; i++) {
        if (!same_string(a[i], b[i])) return false;
    }
    return true;
}

static inline bool same_mesh(const cutis_mesh *a, const cutis_mesh *b, char *why)
{
    if (!same_string(a->name, b->name) || a->primitive_count != b->primitive_count ||
        a->target_count != b->target_count || a->part_count != b->part_count ||
        !same_names(a->target_names, b->target_names, a->target_count) ||
        !same_names(a->part_names, b->part_names, a->part_count) ||
        !same_array(a->target_weights, b->target_weights, a->target_count, 4))
        DIFFER("names, counts or weights");
    for (uint32_t p = 0; p < a->primitive_count; p++) {
        char inner[256];
        if (!same_primitive(&a->primitives[p], &b->primitives[p], a->target_count, inner))
            DIFFER("primitive %u: %.200s", p, inner);
    }
    return true;
}

static inline bool same_clip(const cutis_model_data *data, const cutis_clip *a, const cutis_clip *b,
                             char *why)
{
    if (!same_string(a->name, b->name) || a->channel_count != b->channel_count ||
        a->duration != b->duration)
        DIFFER("name, duration or channels");
    for (uint32_t c = 0; c < a->channel_count; c++) {
        const cutis_channel *x = &a->channels[c], *y = &b->channels[c];
        int32_t mesh = data->nodes[x->node].mesh;
        size_t width = x->path == CUTIS_PATH_ROTATION  ? 4
                       : x->path != CUTIS_PATH_WEIGHTS ? 3
                                                       : data->meshes[mesh].target_count;
        if (x->interpolation == CUTIS_INTERPOLATION_CUBIC) width *= 3;
        if (x->node != y->node || x->path != y->path || x->interpolation != y->interpolation ||
            x->key_count != y->key_count || !same_array(x->times, y->times, x->key_count, 4) ||
            !same_array(x->values, y->values, x->key_count * width, 4))
            DIFFER("channel %u", c);
    }
    return true;
}

static inline bool same_node(const cutis_model_data *data, const cutis_node *a, const cutis_node *b)
{
    uint32_t targets = a->mesh == CUTIS_NONE ? 0 : data->meshes[a->mesh].target_count;
    return same_string(a->name, b->name) && a->parent == b->parent && a->mesh == b->mesh &&
           a->skin == b->skin && a->outside == b->outside &&
           memcmp(&a->rest, &b->rest, sizeof a->rest) == 0 &&
           same_array(a->matrix, b->matrix, 1, sizeof *a->matrix) &&
           same_array(a->target_weights, b->target_weights, targets, 4);
}

static inline bool same_models(const cutis_model *first, const cutis_model *second, char *why)
{
    const cutis_model_data *a = cutis_model_get(first), *b = cutis_model_get(second);
    char inner[256];
    if (a->node_count != b->node_count || a->mesh_count != b->mesh_count ||
        a->skin_count != b->skin_count || a->clip_count != b->clip_count ||
        a->material_count != b->material_count)
        DIFFER("counts of nodes, meshes, skins, clips or materials");
    for (uint32_t i = 0; i < a->mesh_count; i++) {
        if (!same_mesh(&a->meshes[i], &b->meshes[i], inner)) DIFFER("mesh %u: %.200s", i, inner);
    }
    for (uint32_t i = 0; i < a->node_count; i++) {
        if (!same_node(a, &a->nodes[i], &b->nodes[i])) DIFFER("node %u", i);
    }
    for (uint32_t i = 0; i < a->skin_count; i++) {
        const cutis_skin *x = &a->skins[i], *y = &b->skins[i];
        if (!same_string(x->name, y->name) || x->joint_count != y->joint_count ||
            x->root != y->root || !same_array(x->joints, y->joints, x->joint_count, 4) ||
            !same_array(x->inverse_binds, y->inverse_binds, x->joint_count, sizeof(cutis_mat34)))
            DIFFER("skin %u", i);
    }
    for (uint32_t i = 0; i < a->clip_count; i++) {
        if (!same_clip(a, &a->clips[i], &b->clips[i], inner)) DIFFER("clip %u: %.200s", i, inner);
    }
    for (uint32_t i = 0; i < a->material_count; i++) {
        const cutis_material *x = &a->materials[i], *y = &b->materials[i];
        if (!same_string(x->name, y->name) || memcmp(x->base_color, y->base_color, 16) != 0 ||
            x->metallic != y->metallic || x->roughness != y->roughness ||
            x->double_sided != y->double_sided)
            DIFFER("material %u", i);
    }
    return true;
}

#endif
