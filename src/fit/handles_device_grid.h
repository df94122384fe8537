/// Voxelisation on a GPU: conservative surface, the flood of the outside, numbers.
#ifndef CUTIS_FIT_HANDLES_DEVICE_GRID_H
#define CUTIS_FIT_HANDLES_DEVICE_GRID_H

#include "fit/handles_grid.h"

/// Whether this device runs kernels for a grid of this size. CPU devices have no need to.
bool cutis_handles_grid_on_device(const cutis_device *device, const cutis_handles_shape *shape,
                                  const cutis_handles_grid *grid);

/// Voxels, their places, neighbours and pieces, as the host numbers them.
/// @param arena  owns what the grid gets; grid->index is there
/// @param radius of the balls around a cloud's points, in voxels
/// @param first  per tile of the whole grid, and one more: voxels before it
/// @param grid   size, origin and step are there
cutis_result cutis_handles_grid_voxels(cutis_arena *arena, cutis_device *device,
                                       const cutis_handles_shape *shape, double radius,
                                       uint32_t *first, cutis_handles_grid *grid);

#endif
