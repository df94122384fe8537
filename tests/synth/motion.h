/// Clips sampled and skins blended in double, straight from glTF's formulas.
#ifndef CUTIS_TESTS_SYNTH_MOTION_H
#define CUTIS_TESTS_SYNTH_MOTION_H

#include "support.h"

typedef struct affine {
    double m[12]; ///< row-major 3x4
} affine;

/// Value of a channel at a time: 3 or 4 numbers, rotations normalised.
void sample_channel(const cutis_channel *channel, double time, double *out);
/// World matrices of all nodes; clip NULL: rest.
void pose_nodes(const cutis_model_data *data, const cutis_clip *clip, double time, affine *world);
/// Linear blend skinning of the first primitive of the first mesh with skin 0.
/// @param offsets 3 per vertex added to the file positions first, or NULL
void blend_skin(const cutis_model_data *data, const affine *world, const double *offsets,
                double *positions);

#endif
