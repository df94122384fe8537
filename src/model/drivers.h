/// Drivers as frames evaluate them (cutis_drivers in cutis/model.h has the formula,
/// docs/formats/drivers.md the file). Invariant: evaluating allocates nothing, and a driven node's
/// bits depend on its joints alone.
#ifndef CUTIS_MODEL_DRIVERS_H
#define CUTIS_MODEL_DRIVERS_H

#include <stddef.h>

#include "model/object.h"

/// Terms of a driver of so many joints.
static inline size_t cutis_driver_terms(uint32_t input_count)
{
    const size_t n = 4 * (size_t)input_count;
    return n + n * (n + 1) / 2;
}

/// After the model's rest pose is there. false: out of memory
bool cutis_drive_create(cutis_model *model);

/// How many drivers a model has.
uint32_t cutis_drive_count(const cutis_model *model);
/// The node of a driver.
uint32_t cutis_drive_node(const cutis_model *model, uint32_t driver);

/// Inputs of all joints that drivers of a model read, from a pose: memory of a caller's stack.
typedef struct cutis_drive_inputs {
    float values[1024][4];
} cutis_drive_inputs;
void cutis_drive_read(const cutis_model *model, const cutis_transform *transforms,
                      cutis_drive_inputs *out);
/// One driven node.
void cutis_drive_evaluate(const cutis_model *model, const cutis_drive_inputs *inputs,
                          uint32_t driver, cutis_transform *out);

/// cutis_pose_world with another choice of driven nodes.
void cutis_pose_world_driven(const cutis_model *model, const cutis_transform *transforms,
                             cutis_drive drive, cutis_mat34 *world);

#endif
