/// Fewer joints (docs/spec/reduction.md 2.11): joints are merged into joints above them, least
/// error first; groups then know what cannot be kept and what to start from; the model loses them.
#ifndef CUTIS_FIT_REDUCE_JOINTS_H
#define CUTIS_FIT_REDUCE_JOINTS_H

#include "fit/reduce/model.h"

typedef struct cutis_joints {
    uint32_t before, after;
    int32_t *into; ///< per node: the joint (node) that it went into in the end, or CUTIS_NONE
} cutis_joints;

/// Merge until `count` joints are left, by errors in the poses that are learned from, and make the
/// groups ready: influences on joints that go are closed, those of the joints they went into have
/// their weights as prior, and joints that hung below them are candidates too.
/// @return CUTIS_UNSUPPORTED (more joints must stay; a mesh is shown with several skins)
cutis_result cutis_joints_merge(const cutis_model *model, cutis_device *device, uint32_t count,
                                const cutis_reduce_poses *poses, cutis_reduce_groups *groups,
                                cutis_arena *arena, cutis_joints *out);

/// A model without the joints that went: skins and weights by those that stay; no tracks of nodes
/// that move nothing any more. Nodes stay. @param model with weights on those that stay only
cutis_result cutis_joints_drop(const cutis_model *model, const cutis_reduce_groups *groups,
                               const cutis_joints *joints, cutis_model **out);

#endif
