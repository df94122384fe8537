/// Methods that are no skins: cages, whose controls move the body, and patches, on the body's own
/// triangles (docs/guide/patches.md says what that loses). And the parts that patches close.
#include "studio.h"

#include <string.h>

/// World-space positions and normals of one pose of the cage (3 floats a control).
int EXPORT(studio_deform_controls)(const cutis_binding *binding, const cutis_float3 *controls,
                                   float *positions, float *normals)
{
    const cutis_poses poses = { .kind = CUTIS_POSE_CONTROLS, .controls = controls };
    return good(cutis_deform(
        binding, &poses, 1,
        &(cutis_outputs){ .positions = { .data = positions }, .normals = { .data = normals } }));
}

/// The same of patches, for a pose of nodes. Normals are those of the triangles.
/// @param weld per vertex, of studio_weld
int EXPORT(studio_deform_patches)(const cutis_binding *binding, const cutis_model *model,
                                  const uint32_t *indices, const uint32_t *weld,
                                  const cutis_transform *pose, float *positions, float *normals)
{
    const cutis_poses poses = { .local = pose };
    const cutis_outputs outputs = { .topology.rest_positions = { .data = positions } };
    if (!good(cutis_deform(binding, &poses, 1, &outputs))) return 0;
    const cutis_surface surface = { .vertex_count = cutis_model_vertex_count(model),
                                    .triangle_count = cutis_model_triangle_count(model),
                                    .positions = positions,
                                    .indices = indices };
    return !normals ||
           good(cutis_surface_normals(cutis_model_context(model), &surface, weld, normals));
}

/// Room that a frame of patches needs: parts, joints, vertices, triangles.
void EXPORT(studio_patches_room)(const cutis_binding *binding, uint32_t *room)
{
    const cutis_patches_info info = cutis_patches_describe(binding);
    room[0] = info.part_count, room[1] = info.joint_count;
    room[2] = info.vertex_capacity, room[3] = info.triangle_capacity;
}

/// Patches with the triangles that they make, each with its part, or part_count + joint.
/// @param counts of vertices and triangles
int EXPORT(studio_patches_own)(const cutis_binding *binding, const cutis_transform *pose,
                               float *positions, uint32_t *indices, uint32_t *labels,
                               uint32_t *counts)
{
    const cutis_poses poses = { .local = pose };
    const cutis_outputs outputs = {
        .positions.data = positions,
        .topology = { .indices.data = indices, .labels.data = labels, .counts.data = counts },
    };
    return good(cutis_deform(binding, &poses, 1, &outputs));
}

int EXPORT(studio_weld)(const cutis_model *model, const float *positions, uint32_t *weld)
{
    return good(cutis_weld_positions(cutis_model_context(model), cutis_model_vertex_count(model),
                                     positions, weld));
}

/// Per vertex of an output frame the part of a triangle that has it; -1: none.
void EXPORT(studio_parts)(const cutis_model *model, float *parts)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    for (uint32_t v = 0; v < cutis_model_vertex_count(model); v++) parts[v] = -1;
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        float *at = parts + instances[i].vertex_first;
        for (uint32_t k = 0; k < mesh->primitive_count; k++) {
            const cutis_primitive *part = &mesh->primitives[k];
            for (uint32_t t = 0; part->parts && t < part->index_count; t++)
                at[part->indices[t]] = (float)part->parts[t / 3];
            at += part->vertex_count;
        }
    }
}
