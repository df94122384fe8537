/// Voxelisation on a GPU: conservative surface and the flood of the outside.
#ifndef CUTIS_FIT_HANDLES_DEVICE_GRID_H
#define CUTIS_FIT_HANDLES_DEVICE_GRID_H

#include "fit/handles_grid.h"

/// Whether this device runs kernels for a grid of this size. CPU devices have no need to.
bool cutis_handles_grid_on_device(const cutis_device *device, const cutis_handles_shape *shape,
                                  const cutis_handles_grid *grid);

/// @param grid   size, origin and step are there
/// @param radius of the balls around a cloud's points, in voxels
/// @param state  per dense place: 2 outside, 1 touched by the surface, 0 inside
cutis_result cutis_handles_grid_voxels(cutis_device *device, const cutis_handles_shape *shape,
                                       const cutis_handles_grid *grid, double radius,
                                       uint8_t *state);

#endif
