/// The binding of the blending patches.
#ifndef CUTIS_DEFORM_PATCHES_BOUND_H
#define CUTIS_DEFORM_PATCHES_BOUND_H

#include "deform/patches_pack.h"

enum { STREAMS = 7 }; ///< that a frame may have

struct cutis_patches {
    cutis_device *device;
    cutis_arena arena; ///< of what is kept on the host
    cutis_patches_info info;
    uint32_t capacity, node_count, vertex_blocks, face_blocks;
    patch_arguments arguments;
    cutis_buffer *body, *work, *palette, *counts;
    cutis_buffer *out[STREAMS]; ///< host outputs of a device with its own memory
    cutis_patches_joint *joints;
    uint32_t *part_nodes;
    cutis_mat34 *inverse_binds, *worlds, *matrices;
    char **part_names;
    uint32_t *host_counts;
    patch_joint *host_joints; ///< of the instance that is reported
    int32_t *host_tries;
    struct patch_fixed *fixed; ///< what the rest topology needs
};

/// Do poses and model fit the binding?
cutis_result cutis_patches_check(const cutis_patches *patches, const cutis_model *model,
                                 const cutis_poses *poses, uint32_t instance_count);

/// Everything up to where samples stand, for `count` poses from `first`: what both kinds of output
/// begin with.
cutis_result cutis_patches_solve(cutis_patches *patches, const cutis_model *model,
                                 const cutis_poses *poses, uint32_t first, uint32_t count);

/// What the rest topology needs of each output vertex.
cutis_result cutis_patches_bind_fixed(cutis_patches *patches, const patch_body *body,
                                      const patch_pieces *parts, const patch_pack *pack);

#endif
