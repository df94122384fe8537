/// A small healthy model in plain arrays that tests break one thing at a time: a root, two joints,
/// a mesh with two primitives, morph targets, parts, a skin and a clip with every path and
/// interpolation.
#ifndef CUTIS_TESTS_RIG_H
#define CUTIS_TESTS_RIG_H

#include "support.h"

enum { RIG_NODES = 5, RIG_VERTICES = 4, RIG_KEYS = 3 };

typedef struct rig {
    float positions[12], normals[12], tangents[16], texcoords[8], colors[16];
    float target_positions[2][12], target_normals[12];
    float target_weights[2], node_target_weights[2];
    uint32_t indices[6], parts[2], first[RIG_VERTICES + 1], joints[8];
    float weights[8];
    float times[RIG_KEYS], translations[9], rotations[12], scales[27], morphs[6];
    uint32_t skin_joints[2];
    cutis_mat34 inverse_binds[2], matrix;
    const char *target_names[2], *part_names[2];
    cutis_morph_target targets[2];
    cutis_primitive primitives[2];
    cutis_mesh mesh;
    cutis_node nodes[RIG_NODES];
    cutis_skin skin;
    cutis_channel channels[4];
    cutis_clip clip;
    cutis_material material;
    cutis_model_data data;
} rig;

static inline void rig_fill_mesh(rig *r)
{
    for (int v = 0; v < RIG_VERTICES; v++) {
        r->positions[3 * v] = (float)(v % 2), r->positions[3 * v + 1] = (float)(v / 2);
        r->normals[3 * v + 2] = 1;
        r->tangents[4 * v] = r->tangents[4 * v + 3] = 1;
        for (int k = 0; k < 4; k++) r->colors[4 * v + k] = 1;
        r->first[v + 1] = 2 * (uint32_t)(v + 1);
        r->joints[2 * v] = 0, r->joints[2 * v + 1] = 1;
        r->weights[2 * v] = 0.25f, r->weights[2 * v + 1] = 0.75f;
    }
    memcpy(r->indices, (uint32_t[]){ 0, 1, 2, 2, 1, 3 }, sizeof r->indices);
    r->parts[1] = 1;
    r->target_names[0] = "smile", r->target_names[1] = "frown";
    r->part_names[0] = "left", r->part_names[1] = "right";
    r->targets[0] = (cutis_morph_target){ r->target_positions[0], r->target_normals, NULL };
    r->targets[1] = (cutis_morph_target){ r->target_positions[1], NULL, NULL };
    r->target_weights[0] = 0.5f;
    r->primitives[0] = (cutis_primitive){
        .vertex_count = RIG_VERTICES,
        .index_count = 6,
        .indices = r->indices,
        .positions = r->positions,
        .normals = r->normals,
        .tangents = r->tangents,
        .texcoords = r->texcoords,
        .colors = r->colors,
        .influences = { r->first, r->joints, r->weights },
        .targets = r->targets,
        .parts = r->parts,
        .material = 0,
    };
    r->primitives[1] = (cutis_primitive){
        .vertex_count = 3,
        .positions = r->positions,
        .material = CUTIS_NONE,
        .influences = { r->first, r->joints, r->weights },
    };
    r->mesh = (cutis_mesh){
        .name = "plate",
        .primitive_count = 2,
        .primitives = r->primitives,
        .target_count = 2,
        .target_names = r->target_names,
        .target_weights = r->target_weights,
        .part_count = 2,
        .part_names = r->part_names,
    };
}

static inline void rig_fill_clip(rig *r)
{
    for (int k = 0; k < RIG_KEYS; k++) {
        r->times[k] = 0.5f * (float)k;
        r->translations[3 * k] = (float)k;
        r->rotations[4 * k + 3] = 1;
        for (int c = 0; c < 3; c++) r->scales[9 * k + 3 + c] = 1 + (float)k;
        r->morphs[2 * k] = 0.25f * (float)k;
    }
    r->rotations[6] = 0.6f, r->rotations[7] = 0.8f;
    r->channels[0] =
        (cutis_channel){ 1,        CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_LINEAR, RIG_KEYS,
                         r->times, r->translations };
    r->channels[1] =
        (cutis_channel){ 1,        CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, RIG_KEYS,
                         r->times, r->rotations };
    r->channels[2] = (cutis_channel){ 2,        CUTIS_PATH_SCALE, CUTIS_INTERPOLATION_CUBIC,
                                      RIG_KEYS, r->times,         r->scales };
    r->channels[3] = (cutis_channel){ 4,        CUTIS_PATH_WEIGHTS, CUTIS_INTERPOLATION_STEP,
                                      RIG_KEYS, r->times,           r->morphs };
    r->clip = (cutis_clip){ .name = "wave", .channel_count = 4, .channels = r->channels };
}

static inline void rig_init(rig *r)
{
    static const cutis_mat34 identity = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
    memset(r, 0, sizeof *r);
    rig_fill_mesh(r);
    rig_fill_clip(r);
    for (int n = 0; n < RIG_NODES; n++)
        r->nodes[n] = (cutis_node){ .parent = n - 1,
                                    .rest = cutis_transform_identity(),
                                    .mesh = CUTIS_NONE,
                                    .skin = CUTIS_NONE };
    r->nodes[0].name = "root", r->nodes[1].name = "upper", r->nodes[2].name = "lower";
    r->nodes[4].name = "body";
    r->nodes[4].parent = CUTIS_NONE;
    r->nodes[2].rest.translation.y = 1;
    r->matrix = identity;
    r->matrix.m[1] = 0.5f; // shear: no transform says this
    r->nodes[3].matrix = &r->matrix;
    r->nodes[4].mesh = r->nodes[4].skin = 0;
    r->nodes[4].target_weights = r->node_target_weights;
    r->node_target_weights[1] = 0.125f;
    r->skin_joints[0] = 1, r->skin_joints[1] = 2;
    r->inverse_binds[0] = r->inverse_binds[1] = identity;
    r->inverse_binds[1].m[7] = -1;
    r->skin = (cutis_skin){ "skin", 2, r->skin_joints, r->inverse_binds, 0 };
    r->material = (cutis_material){ .name = "suit", .base_color = { 1, 1, 1, 1 }, .roughness = 1 };
    r->data = (cutis_model_data){ .node_count = RIG_NODES,
                                  .mesh_count = 1,
                                  .skin_count = 1,
                                  .clip_count = 1,
                                  .material_count = 1,
                                  .nodes = r->nodes,
                                  .meshes = &r->mesh,
                                  .skins = &r->skin,
                                  .clips = &r->clip,
                                  .materials = &r->material };
}

#endif
