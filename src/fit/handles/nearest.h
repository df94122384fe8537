/// Distances to the nearest handle, and whose they are.
#ifndef CUTIS_FIT_HANDLES_NEAREST_H
#define CUTIS_FIT_HANDLES_NEAREST_H

#include "fit/handles/distance.h"

#define CUTIS_HANDLES_SWEEPS_A_LOOK 16 ///< sweeps between two looks at whether anything changed

/// One march from all sites, and from virtual handles in voxels (labels after the sites'), into the
/// work's `distance` and `label`: HANDLES_INFINITY and NONE where no handle can be reached. `bars`
/// is there afterwards.
/// @param scratch owns what the buffers of a CPU device are
/// @param front   of a CPU, to be used again; or NULL
cutis_result cutis_handles_nearest(cutis_handles_work *work, cutis_arena *scratch,
                                   const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                                   uint32_t virtual_count, const uint32_t *voxel,
                                   cutis_handles_front *front);

#endif
