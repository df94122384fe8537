/// Coordinates of points in a cage: the two kinds, on a device, and the test that points lie
/// inside.
#ifndef CUTIS_FIT_CAGE_COORDINATES_H
#define CUTIS_FIT_CAGE_COORDINATES_H

#include "device/device.h"
#include "fit/cage/shape.h"

/// Where weights go: either array, point after point, control_count each.
typedef struct cutis_cage_weights {
    float *narrow;
    double *wide;
} cutis_cage_weights;

/// Mean value coordinates. @param status per point: 1 if the sum vanishes, plus 2 if it is outside
cutis_result cutis_cage_mean_value(cutis_device *device, const cutis_cage_shape *shape,
                                   const double *points, uint32_t point_count,
                                   cutis_cage_weights weights, int32_t *status);

typedef struct cutis_cage_grid_report {
    uint64_t node_count;
    uint32_t sweep_count;
    double residual;
} cutis_cage_grid_report;

/// Harmonic coordinates of points inside the cage.
/// @param tolerance largest residual
cutis_result cutis_cage_harmonic(cutis_device *device, const cutis_cage_shape *shape,
                                 uint32_t resolution, bool simple, double tolerance,
                                 const double *points, uint32_t point_count,
                                 cutis_cage_weights weights, cutis_cage_grid_report *report);

/// Both, with the checks; the device may be NULL. Fills the first part of the report.
cutis_result cutis_cage_weigh(cutis_context *context, cutis_device *device,
                              const cutis_cage_shape *shape, const cutis_cage_options *options,
                              const double *points, uint32_t point_count,
                              cutis_cage_weights weights, cutis_cage_report *report);

#endif
