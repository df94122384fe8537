/// Harmonic fields on the dual graph of the Voronoi cells of all handles, real and virtual: how
/// much of each real handle's transform a virtual one takes.
#ifndef CUTIS_FIT_HANDLES_DUAL_H
#define CUTIS_FIT_HANDLES_DUAL_H

#include "fit/handles_distance.h"

/// A face between voxels of two cells.
typedef struct cutis_handles_face {
    uint32_t a, b;         ///< handles, a < b; sites first, then virtual ones
    double length, factor; ///< of the way between them; what conductance falls by far from sites
} cutis_handles_face;

/// Label all voxels by the handle they are nearest to and list the faces between cells, by voxel,
/// then by axis.
/// @param voxel    per virtual handle: where it is
/// @param distance voxel_count per site: fields of the real ones
/// @param front    scratch
/// @return face_count of them in the arena; NULL if memory ran out
cutis_handles_face *cutis_handles_dual_faces(cutis_arena *arena, const cutis_handles_grid *grid,
                                             const cutis_handles_sites *sites,
                                             uint32_t virtual_count, const uint32_t *voxel,
                                             const float *distance, cutis_handles_front *front,
                                             size_t *face_count);

/// @return site_count shares per virtual handle, >= 0, sum 1, in the arena; NULL if memory ran out
double *cutis_handles_dual_solve(cutis_arena *arena, cutis_device *device,
                                 const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                                 uint32_t virtual_count, const uint32_t *voxel,
                                 const cutis_handles_face *faces, size_t face_count);

#endif
