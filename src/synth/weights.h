/// Skin weights of a surface: smoothed indicators of the parts, telescoped down the skeleton.
#ifndef CUTIS_SYNTH_WEIGHTS_H
#define CUTIS_SYNTH_WEIGHTS_H

#include <cutis/model.h>
#include "synth/surface.h"

/// Influences in the arena, at most 8 a vertex, largest first, sums 1. Mirrored bodies get mirrored
/// weights, to the last rounding.
cutis_result cutis_synth_weights(cutis_arena *arena, const synth_skeleton *skeleton,
                                 const synth_surface *surface, cutis_influences *out);

#endif
