/// Sampling a voxel field at a point: the 64 taps of the uniform cubic B-spline, less those outside
/// the domain and those the point's own voxel cannot reach by 6-neighbour steps inside the block.
/// What is reconstructed is C2 in the point, whatever the field does.
#ifndef CUTIS_FIT_HANDLES_TAPS_H
#define CUTIS_FIT_HANDLES_TAPS_H

#include "fit/handles_grid.h"

typedef struct cutis_handles_taps {
    uint32_t count; ///< 0: the point is not in the domain
    uint32_t voxel[64];
    double weight[64]; ///< > 0 but for points on voxel borders; not normalised
    double sum;        ///< of the weights, in the order of the list
} cutis_handles_taps;

/// @param connected leave out what is not connected inside the block (spec 6.4)
void cutis_handles_taps_at(const cutis_handles_grid *grid, const double *point, bool connected,
                           cutis_handles_taps *out);

#endif
