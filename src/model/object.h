/// The model as this room sees it: one arena with the copies, and what is derived from them once.
#ifndef CUTIS_MODEL_OBJECT_H
#define CUTIS_MODEL_OBJECT_H

#include <cutis/model.h>

#include "base/memory.h"

/// One multiplication on the way to world space.
struct cutis_world_step {
    uint32_t node, parent;
};

struct cutis_model {
    cutis_context *context;
    cutis_arena arena;     ///< owns every array below and behind `data`
    cutis_model_data data; ///< what cutis_model_get shows

    uint32_t instance_count;
    cutis_instance *instances; ///< in node order
    uint32_t vertex_count;     ///< over the instances
    uint32_t target_count;     ///< over the instances
    uint64_t triangle_count;   ///< over the instances

    cutis_transform *rest; ///< per node; of a node with a matrix: what comes closest to it
    float *rest_targets;   ///< target_count morph weights of the rest pose
    uint32_t step_count;
    struct cutis_world_step
        *steps; ///< nodes with a parent, level by level: neighbours wait for nothing
    uint32_t matrix_count;
    uint32_t *matrix_nodes; ///< nodes with a matrix, ascending

    struct cutis_drive_table *drive;           ///< drivers as frames read them, or NULL
    struct cutis_drive_weights *drive_weights; ///< those of morph targets, or NULL

    uint32_t issue_count;
    size_t issue_capacity;
    cutis_issue *issues; ///< array through the context, texts in the arena
};

/// Floats per key of a channel (a third of it if cubic); 0 for weights of a node without morph
/// targets.
uint32_t cutis_channel_width(const cutis_model_data *data, const cutis_channel *channel);

/// Is a node where it rests, to the rounding of blending and sampling?
bool cutis_pose_rests(const cutis_model *model, const cutis_transform *transforms, uint32_t node);

/// cutis_model_create for a reader that does not need what it read any more: large arrays of
/// `lender` become the model's as they lie. Whatever comes of it, `data` is not to be used again.
#pragma GCC visibility push(default) // the readers are of cutis-io
cutis_result cutis_model_create_from(cutis_context *context, const cutis_model_data *data,
                                     cutis_gate gate, cutis_arena *lender, cutis_model **out);

/// Is an instance seen in a mirror at rest? Then its triangles turn the other way round than the
/// mesh has them (glTF 3.7.4). Of a skin its first joint tells.
bool cutis_instance_mirrored(const cutis_model_data *data, const cutis_instance *instance);
#pragma GCC visibility pop

/// Entry k of a primitive's list of corners, of triangles that turn the other way where `mirrored`.
static inline uint32_t cutis_corner_of(const cutis_primitive *primitive, bool mirrored, size_t k)
{
    const bool swapped = mirrored && primitive->topology == CUTIS_TOPOLOGY_TRIANGLES && k % 3;
    return primitive->indices[swapped ? k + 3 - 2 * (k % 3) : k];
}

/// Corners of triangles seen in a mirror: their outside is where it was. NULL: out of memory.
static inline const uint32_t *cutis_turned_corners(cutis_arena *arena,
                                                   const cutis_primitive *primitive)
{
    const size_t count = primitive->index_count;
    uint32_t *corners = cutis_arena_alloc(arena, count, sizeof *corners);
    for (size_t k = 0; corners && k < count; k++) corners[k] = cutis_corner_of(primitive, true, k);
    return corners;
}

/// Copy everything into the model's arena; `data` has passed cutis_validate_shape. false: out of
/// memory (the arena holds what was copied). Missing index lists become 0, 1, 2, ...; channels that
/// shared a time array go on sharing one.
bool cutis_model_copy(cutis_model *model, const cutis_model_data *data);

static inline uint32_t cutis_topology_corners(cutis_topology topology)
{
    static const uint8_t CORNERS[] = { 3, 2, 1 }; // triangles, lines, points
    return CORNERS[topology];
}

/// Vertices of all primitives of a mesh.
uint64_t cutis_mesh_vertex_total(const cutis_mesh *mesh);

#endif
