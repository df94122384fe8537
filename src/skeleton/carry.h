/// What else of the input, beside its surface, is kept in the new model: morph targets and clips.
#ifndef CUTIS_SKELETON_CARRY_H
#define CUTIS_SKELETON_CARRY_H

#include "skeleton/closed.h"

/// Morph targets of the one new mesh.
typedef struct cutis_carried {
    uint32_t target_count;
    const char **target_names; ///< or NULL entries
    float *target_weights;     ///< at rest
    uint32_t *sources;         ///< per primitive of the closed mesh and new target: the target of
                               ///< its source mesh, or CUTIS_NOTHING
    uint32_t *first_targets;   ///< per instance: into `targets`
    uint32_t *targets;         ///< per target of the instances' meshes: new target or CUTIS_NOTHING
} cutis_carried;

/// Targets of all instances. Those of one name, or of one mesh shown twice, and of one rest weight
/// become one; displacements of a pose space stay behind.
cutis_result cutis_carry_targets(const cutis_model *model, const cutis_closed *mesh,
                                 cutis_arena *arena, cutis_notes *notes, cutis_carried *out);

/// Clips whose nodes the new rig has too: of the same name and rest, down from the root; and keys
/// of morph weights where all targets come from one instance. The others are noted.
/// @param body the new node that shows the mesh
cutis_result cutis_carry_clips(const cutis_model *model, const cutis_carried *carried,
                               const cutis_node *nodes, uint32_t node_count, uint32_t body,
                               cutis_arena *arena, cutis_notes *notes, cutis_clip **clips,
                               uint32_t *clip_count);

/// A vector by the linear part of a row-major 3 x 4 transform; a normal by its cofactors, on its
/// side of the surface in a mirror too.
vec3 cutis_transform_vector(const float *transform, bool normal, const float *v);

/// Does a row-major 3 x 4 show things in a mirror?
bool cutis_transform_mirrors(const float *transform);

/// The displacement of an output by a new target: 0 of its position, 1 of its normal, 2 of its
/// tangent. Points between two outputs mix theirs.
void cutis_carry_displacement(const cutis_closed *mesh, const cutis_carried *carried,
                              uint32_t output, uint32_t target, int which, float *out);

#endif
