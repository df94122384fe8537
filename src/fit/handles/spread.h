/// Weights of vertices on all handles, real and virtual (VIRTUAL weighting): what the rigid mode
/// needs, before virtual handles are folded into real ones.
#ifndef CUTIS_FIT_HANDLES_SPREAD_H
#define CUTIS_FIT_HANDLES_SPREAD_H

#include "fit/handles/virtual.h"

/// Lists per vertex: joints (below joint_count), then virtual handles (from joint_count on),
/// ascending; weights > 0, sum one.
typedef struct cutis_handles_spread {
    uint32_t *first; ///< vertex_count + 1; NULL: none was asked for
    uint32_t *handles;
    float *weights;
} cutis_handles_spread;

/// @param joint_site per joint: its site, or NONE; joints of one site share its weight equally
cutis_result cutis_handles_spread_make(cutis_arena *arena, cutis_device *device,
                                       const cutis_handles_grid *grid,
                                       const cutis_handles_virtual *virtual,
                                       const cutis_handles_shape *shape, uint32_t joint_count,
                                       const uint32_t *joint_site, cutis_handles_spread *out);

#endif
