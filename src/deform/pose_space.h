/// Pose space at run time: what a binding of PSD or WPSD holds, and what every frame adds.
#ifndef CUTIS_DEFORM_POSE_SPACE_H
#define CUTIS_DEFORM_POSE_SPACE_H

#include "deform/binding.h"

/// After the layout and the morph targets: kernel of PSD, or fields of WPSD.
cutis_result cutis_bind_pose_space(cutis_binding *binding);

/// Memory of a workspace. false: out of memory.
bool cutis_pose_space_workspace(cutis_binding *binding, cutis_workspace *workspace);

/// PSD: morph weights of the examples; WPSD: squared distances per bone. Poses are local.
void cutis_pose_space_prepare(const cutis_binding *binding, cutis_workspace *workspace,
                              const cutis_poses *poses, uint32_t first, uint32_t count);

#endif
