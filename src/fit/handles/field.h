/// FIELD weighting: one harmonic field per site on the voxels, 1 on its own core and 0 on the
/// others.
#ifndef CUTIS_FIT_HANDLES_FIELD_H
#define CUTIS_FIT_HANDLES_FIELD_H

#include "fit/handles/site.h"

/// Values of all sites at every voxel: `site_count` floats per voxel, >= 0. They sum to the voxel's
/// density. Weights at a point: B-spline of the values over B-spline of the densities.
typedef struct cutis_handles_field {
    uint32_t site_count;
    float *values;
    float *density; ///< per voxel, or NULL: 1 everywhere
    uint32_t iteration_count;
    uint32_t level_count;
} cutis_handles_field;

/// Which site holds which voxel: cores, and whole components without a core, which follow the
/// nearest site (straight distance).
/// @param label per voxel: nearest site by intrinsic distance, NONE where no site can be reached
/// @param owner per voxel, out: site, or NONE
/// @return components without a core
uint32_t cutis_handles_owners(const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                              const uint32_t *label, uint32_t *owner);

/// Fields of all sites. The work has `owner`, and what cutis_handles_nearest leaves there.
/// @param arena owns the values
cutis_result cutis_handles_field_solve(cutis_handles_work *work, cutis_arena *arena,
                                       const cutis_handles_grid *grid, uint32_t site_count,
                                       double tolerance, cutis_handles_field *out);

/// Weights of all sites at a point; sum 1.
/// @param connected see cutis_handles_taps_at
/// @param weights   site_count of caller memory
/// @return the B-spline of the densities, 0 (and no weights) if the point is not in the domain
struct handles_taps;
double cutis_handles_field_in(const cutis_handles_field *field, struct handles_taps *taps,
                              double *weights); ///< the same at some taps
double cutis_handles_field_at(const cutis_handles_grid *grid, const cutis_handles_field *field,
                              const double *point, bool connected, double *weights);

#endif
