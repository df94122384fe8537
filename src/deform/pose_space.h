/// Pose space at run time: what a binding of PSD or WPSD holds, and what every frame adds.
#ifndef CUTIS_DEFORM_POSE_SPACE_H
#define CUTIS_DEFORM_POSE_SPACE_H

#include "base/memory.h"
#include "deform/skin.h"

/// After the layout, before the morph targets: RBF of PSD, or fields of WPSD.
/// @param arena outlives the bind of morph targets
/// @param residuals what WPSD leaves to morph targets, in the arena
cutis_result cutis_bind_pose_space(cutis_skin_binding *binding, cutis_arena *arena,
                                   cutis_pose_residuals *residuals);

/// Memory of a workspace. false: out of memory.
bool cutis_pose_space_workspace(cutis_skin_binding *binding, cutis_skin_workspace *workspace);

/// One instance. PSD: morph weights of the examples; WPSD: squared distances per bone.
/// @param local node_count transforms; @param slot its place in the workspace
/// @param lane  of the task that prepares it: those share no scratch
void cutis_pose_space_prepare(const cutis_skin_binding *binding, cutis_skin_workspace *workspace,
                              const cutis_transform *local, uint32_t slot, uint32_t lane);

#endif
