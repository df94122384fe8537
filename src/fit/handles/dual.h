/// Harmonic fields on the dual graph of the Voronoi cells of all handles, real and virtual: how
/// much of each real handle's transform a virtual one takes.
#ifndef CUTIS_FIT_HANDLES_DUAL_H
#define CUTIS_FIT_HANDLES_DUAL_H

#include "fit/handles/site.h"

/// A face between voxels of two cells.
typedef struct cutis_handles_face {
    uint32_t a, b;         ///< handles, a < b; sites first, then virtual ones
    double length, factor; ///< of the way between them; what conductance falls by far from sites
} cutis_handles_face;

/// @param voxel per virtual handle: where it is
/// @param faces between cells of different handles, those of two cells in any fixed order
/// @return site_count shares per virtual handle, >= 0, sum 1, in the arena; NULL if memory ran out
double *cutis_handles_dual_solve(cutis_arena *arena, cutis_device *device,
                                 const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                                 uint32_t virtual_count, const uint32_t *voxel,
                                 const cutis_handles_face *faces, size_t face_count);

#endif
