/// Handle weights on a GPU: marching, harmonic fields and sampling by the kernels of
/// kernel/handles.h. The host numbers nodes and finds cores.
#ifndef CUTIS_FIT_HANDLES_DEVICE_H
#define CUTIS_FIT_HANDLES_DEVICE_H

#include "fit/handles_solve.h"

/// Buffers of a device, kept from solve to solve: what fits is used again.
typedef struct cutis_handles_gpu cutis_handles_gpu;

/// Whether this device runs kernels for a problem of this size. CPU devices have no need to.
bool cutis_handles_on_device(const cutis_handles_solution *solution,
                             const cutis_handles_shape *shape);

/// NULL if memory ran out.
cutis_handles_gpu *cutis_handles_gpu_create(cutis_device *device);
void cutis_handles_gpu_destroy(cutis_handles_gpu *gpu); ///< NULL is fine

/// FIELD: distances, fields (into solution->field) and their iterations.
/// @param owner per voxel: from cutis_handles_owners
/// @param seconds_distances added to
cutis_result cutis_handles_gpu_field(cutis_handles_gpu *gpu, cutis_handles_solution *solution,
                                     const uint32_t *owner, double *seconds_distances);

/// VIRTUAL: what cutis_handles_virtual_solve does, into solution->virtual and solution->field.
/// Fields of sites stay on the device for the next solve.
/// @param fits false: some voxel has more handles than the device has room for; ask the host
cutis_result cutis_handles_gpu_virtual(cutis_handles_gpu *gpu, cutis_handles_solution *solution,
                                       const uint32_t *label, const uint32_t *owner,
                                       const cutis_handles_virtual_options *options, bool *fits);

/// Weights of vertices into solution->influences, from the field that is on the device or, where
/// the host made it, from solution->field. @param dropped per vertex
cutis_result cutis_handles_gpu_sample(cutis_handles_gpu *gpu, cutis_handles_solution *solution,
                                      const cutis_handles_shape *shape, double *dropped);

#endif
