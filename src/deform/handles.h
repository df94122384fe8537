/// The rigid mode of virtual handles: they are bones behind the joints of their skin, moved by what
/// their real handles do.
#ifndef CUTIS_DEFORM_HANDLES_H
#define CUTIS_DEFORM_HANDLES_H

#include "deform/skin.h"

/// A skin that handles hold, as the binding has it.
typedef struct cutis_handle_skin {
    uint32_t first_bone; ///< of its joints; virtual handles follow the last joint
    uint32_t joint_count;
    uint32_t first_handle; ///< the handle that is joint 0
} cutis_handle_skin;

/// The method's needs: a rig with virtual handles. Other methods: nothing to check.
cutis_result cutis_bind_handles_check(cutis_context *context, const cutis_model *model,
                                      const cutis_bind_options *options);

/// Bones a skin needs beyond its joints.
uint32_t cutis_handle_bone_count(const cutis_skin_binding *binding, int32_t skin);

/// Which skins are held; after the bones are numbered.
cutis_result cutis_bind_handles(cutis_skin_binding *binding, const uint32_t *skin_bone);

/// The weights a primitive is bound with: its own, or those on handles.
const cutis_influences *cutis_bound_influences(const cutis_skin_binding *binding, uint32_t mesh,
                                               uint32_t primitive);

/// The bone of an entry of those weights.
uint32_t cutis_bound_bone(const cutis_skin_binding *binding, const cutis_influences *influences,
                          uint32_t mesh, int32_t skin, uint32_t skin_bone, uint32_t entry);

/// Fill in the virtual handles' matrices of one palette. Other methods: nothing.
/// @param scratch CUTIS_HANDLE_SCRATCH doubles per bone
void cutis_handles_palette(const cutis_skin_binding *binding, double *palette, double *scratch);
#define CUTIS_HANDLE_SCRATCH 14

#endif
