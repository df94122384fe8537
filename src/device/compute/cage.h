/// The program of kernel/cage.h. Arguments in the order of the text, without ITEM_ARGS.
#ifndef CUTIS_DEVICE_COMPUTE_CAGE_H
#define CUTIS_DEVICE_COMPUTE_CAGE_H

#include "device/compute.h"

extern const cutis_compute_kernel cutis_compute_cage_mean_value;
extern const cutis_compute_kernel cutis_compute_cage_weights_to_float;
extern const cutis_compute_kernel cutis_compute_cage_relax;
extern const cutis_compute_kernel cutis_compute_cage_relax_residual;
extern const cutis_compute_kernel cutis_compute_cage_deform;
extern const cutis_compute_kernel cutis_compute_cage_face_normals;
extern const cutis_compute_kernel cutis_compute_cage_bounds;

#endif
