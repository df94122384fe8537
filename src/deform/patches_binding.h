/// The binding of the blending patches, and the memory of its frames.
#ifndef CUTIS_DEFORM_PATCHES_BINDING_H
#define CUTIS_DEFORM_PATCHES_BINDING_H

#include "deform/deformer.h"
#include "deform/patches_pack.h"

typedef struct patches_binding {
    cutis_binding base;
    cutis_patches_info info;
    uint32_t node_count, vertex_blocks, face_blocks, rest_blocks, rank_count;
    uint32_t *rank_first; ///< per rank and one more: its joints in the body's list of them
    patch_arguments arguments;
    cutis_buffer *body;
    cutis_patches_joint *joints;
    uint32_t *part_nodes;
    cutis_mat34 *inverse_binds;
    char **part_names;
} patches_binding;

typedef struct patches_workspace {
    cutis_workspace base;
    cutis_buffer *work, *palette, *counts;
    cutis_buffer *indices; ///< where only bounds are wanted, made then
    cutis_stage_bounds bounds;
    cutis_mat34 *worlds, *matrices;
    uint32_t *host_counts;    ///< 2 per instance
    patch_joint *host_joints; ///< of the instance that is reported
    int32_t *host_tries;
    bool compiled; ///< kernels of the first call; what another one needs is compiled as it comes
} patches_workspace;

static inline const patches_binding *patches_of(const cutis_binding *binding)
{
    return (const patches_binding *)binding;
}

// patches_frame.c
cutis_result cutis_patches_check_call(const cutis_binding *binding, cutis_deform_call *call);
cutis_result cutis_patches_run(const cutis_binding *binding, cutis_workspace *workspace,
                               const cutis_deform_call *call, cutis_stage_batch *batch);
cutis_result cutis_patches_prepare(const cutis_binding *binding, cutis_workspace *workspace,
                                   const cutis_deform_call *call, cutis_stage_batch *batch);
void cutis_patches_palette(const cutis_binding *binding, cutis_workspace *workspace,
                           const cutis_transform *local, cutis_mat34 *palette);

#endif
