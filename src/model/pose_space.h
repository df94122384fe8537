/// The pose space of a model: its gate, and distances from a pose to its examples.
#ifndef CUTIS_MODEL_POSE_SPACE_H
#define CUTIS_MODEL_POSE_SPACE_H

#include "base/memory.h"
#include "math/pose_rbf.h"
#include "model/object.h"

#define CUTIS_POSE_SPACE_POSES  1024 ///< most poses: a fit works on matrices of this size
#define CUTIS_POSE_SPACE_JOINTS 65536

/// Counts, indices and arrays; before the copy. `data->pose_space` may be NULL.
cutis_result cutis_validate_pose_space(cutis_context *context, const cutis_model_data *data);

/// Morph targets of a displaced mesh.
static inline uint32_t cutis_pose_targets(const cutis_pose_space *space)
{
    return space->field_count ? space->field_count : space->pose_count - 1;
}

/// Rest and example values that distances are taken of, in double. Made once, read by every frame.
typedef struct cutis_pose_measure {
    uint32_t pose_count, joint_count;
    cutis_rbf_distance distance;
    double bone_length;          ///< mean over the joints
    const uint8_t *slides;       ///< per joint: its translation counts too (it is below another)
    const uint32_t *joints;      ///< nodes; of the model
    const double *inverse_rests; ///< w x y z per joint
    const double *rotations;     ///< w x y z per pose and joint, from rest
    const double *places;        ///< x y z per pose and joint
} cutis_pose_measure;

/// false: out of memory. The arrays live in the arena, `joints` is the space's own.
bool cutis_pose_measure_create(const cutis_model *model, const cutis_pose_space *space,
                               cutis_arena *arena, cutis_pose_measure *out);

/// Squared distance of a pose to every example, joint by joint (pose_count, joint_count).
/// @param local node_count transforms
void cutis_pose_squares(const cutis_pose_measure *measure, const cutis_transform *local,
                        double *squares);

/// The table of the examples, with random poses to look at denominators with. false: out of memory.
bool cutis_pose_table_create(const cutis_pose_measure *measure, cutis_arena *arena,
                             cutis_pose_table *out);

#endif
