/// Between models and shapes: the vertices of a model in the space its handles live in, and a model
/// with new influences.
#ifndef CUTIS_FIT_HANDLES_MODEL_H
#define CUTIS_FIT_HANDLES_MODEL_H

#include <cutis/handles.h>

#include "fit/handles/solve.h"

/// A shape that owns its arrays through an arena.
typedef struct cutis_handles_body {
    cutis_handles_shape shape;
    float *positions;
    uint32_t *triangles, *points;
    double (*frame)[12]; ///< per instance: mesh space to world at rest; where `baked`, the identity
    bool *baked; ///< per instance: bones at rest differ, so vertices are moved to world space
    double (*moved)[12]; ///< per vertex of baked instances: its blended rest matrix; NULL if none
                         ///< is baked
} cutis_handles_body;

/// All instances of the scene in world space at rest.
cutis_result cutis_handles_body_world(cutis_arena *arena, const cutis_model *model,
                                      cutis_handles_body *out);

/// The meshes that are bound to a skin, in mesh space, meshes in order.
/// @param mesh_skin per mesh: the skin it is bound with, or CUTIS_NONE
cutis_result cutis_handles_body_skin(cutis_arena *arena, const cutis_model *model,
                                     const int32_t *mesh_skin, int32_t skin,
                                     cutis_handles_body *out);

/// Which skin a mesh is bound with: that of its first instance that has one.
void cutis_handles_mesh_skins(const cutis_model *model, int32_t *mesh_skin);

/// Influences of vertices [first, first + vertex_count) of a body into a primitive.
bool cutis_handles_set_influences(cutis_arena *arena, const cutis_handles_influences *influences,
                                  size_t first, cutis_primitive *primitive);

/// Put vertices [first, first + vertex_count) of a body, a primitive's, into world space: positions
/// of the body, normals, tangents and morph targets turned by body->moved. false: out of memory.
/// @param mirrored of its instance: nodes that stay behind mirrored it, so faces turn round here
bool cutis_handles_bake(cutis_arena *arena, const cutis_handles_body *body, size_t first,
                        uint32_t target_count, bool mirrored, cutis_primitive *primitive);

/// The model of cutis_handles_weights: every instance has a mesh of its own, skinned to handle
/// nodes.
cutis_result cutis_handles_rig(const cutis_model *model, const cutis_handles_body *body,
                               const cutis_handle_set *handles,
                               const cutis_handles_solution *solution, cutis_model **out);

#endif
