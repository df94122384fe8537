/// Harmonic fields on the dual graph of the Voronoi cells of all handles, real and virtual: how
/// much of each real handle's transform a virtual one takes.
#ifndef CUTIS_FIT_HANDLES_DUAL_H
#define CUTIS_FIT_HANDLES_DUAL_H

#include "fit/handles_distance.h"

/// @param voxel    per virtual handle: where it is
/// @param distance voxel_count per site: fields of the real ones
/// @param front    scratch
/// @return site_count shares per virtual handle, >= 0, sum 1, in the arena; NULL if memory ran out
double *cutis_handles_dual_solve(cutis_arena *arena, const cutis_handles_grid *grid,
                                 const cutis_handles_sites *sites, uint32_t virtual_count,
                                 const uint32_t *voxel, const float *distance,
                                 cutis_handles_front *front);

#endif
