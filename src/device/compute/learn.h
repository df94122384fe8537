/// The program of weights from examples (kernel/learn_items.h).
#ifndef CUTIS_DEVICE_COMPUTE_LEARN_H
#define CUTIS_DEVICE_COMPUTE_LEARN_H

#include "device/compute.h"

#define CUTIS_LEARN_CANDIDATES 32 ///< most joints of one problem on a GPU

/// GPUs only. Arguments: places, rests, joints, priors, counts (then influences wanted), palettes,
/// columns, candidates, weights, values, int examples, palette_count, normalise, total.
extern const cutis_compute_kernel cutis_compute_learn;

#endif
