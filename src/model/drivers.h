/// Drivers as frames evaluate them (cutis_drivers in cutis/model.h has the formula,
/// docs/formats/drivers.md the file). Invariant: evaluating allocates nothing, and a driven node's
/// bits depend on its joints alone.
#ifndef CUTIS_MODEL_DRIVERS_H
#define CUTIS_MODEL_DRIVERS_H

#include <stddef.h>

#include "model/object.h"
#include "model/validate.h"

/// Terms of a driver of so many joints.
static inline size_t cutis_driver_terms(uint32_t input_count)
{
    const size_t n = 4 * (size_t)input_count;
    return n + n * (n + 1) / 2;
}

/// After the model's rest pose is there. false: out of memory
bool cutis_drive_create(cutis_model *model);
/// Its part for morph targets.
bool cutis_drive_weights_create(cutis_model *model);

enum { CUTIS_DRIVE_GROUP = 8 }; ///< drivers that are evaluated side by side

uint32_t cutis_drive_groups(const cutis_model *model);
/// The nodes of a group's drivers. @return how many, 1 .. CUTIS_DRIVE_GROUP
uint32_t cutis_drive_nodes(const cutis_model *model, uint32_t group, const uint32_t **nodes);

/// Inputs of all joints that drivers of a model read, from a pose: memory of a caller's stack. The
/// last row is zero.
typedef struct cutis_drive_inputs {
    float values[CUTIS_DRIVER_JOINTS + 1][4];
} cutis_drive_inputs;
void cutis_drive_read(const cutis_model *model, const cutis_transform *transforms,
                      cutis_drive_inputs *out);
/// The driven nodes of a group. @param avx2 the processor has it, and may use it: the bits are the
/// same; @param out CUTIS_DRIVE_GROUP
void cutis_drive_evaluate(const cutis_model *model, const cutis_drive_inputs *inputs,
                          uint32_t group, bool avx2, cutis_transform *out);

/// cutis_pose_world with another choice of driven nodes.
void cutis_pose_world_driven(const cutis_model *model, const cutis_transform *transforms,
                             cutis_drive drive, cutis_mat34 *world);

#endif
