/// The method CAGE: vertices are weighted controls. A path of its own beside the skins' (bind.c,
/// deform.c): item kernels (kernel/cage.h) over slots of controls, on any device.
#ifndef CUTIS_DEFORM_CAGE_H
#define CUTIS_DEFORM_CAGE_H

#include "deform/binding.h"

/// Options that the method cannot have, and models without a cage.
cutis_result cutis_cage_check(cutis_context *context, const cutis_model *model,
                              const cutis_bind_options *options);

/// Everything of a binding with this method; layout.vertex_count and normal_rule are set.
cutis_result cutis_cage_open(cutis_binding *binding);
void cutis_cage_close(cutis_binding *binding);

/// Instances [first, first + count) of checked poses into checked streams. Allocates nothing.
cutis_result cutis_cage_frames(const cutis_binding *binding, cutis_workspace *workspace,
                               const cutis_poses *poses, uint32_t first, uint32_t count,
                               const cutis_skin_outputs *outputs);

#endif
