/// The program of weights from examples (kernel/learn_items.h).
#ifndef CUTIS_DEVICE_COMPUTE_LEARN_H
#define CUTIS_DEVICE_COMPUTE_LEARN_H

#include "device/compute.h"
#include "kernel/learn_arguments.h"

#define CUTIS_LEARN_CANDIDATES 32 ///< most joints of one problem on a GPU

/// GPUs only.
CUTIS_COMPUTE_DECLARE(learn_weights, LEARN_WEIGHTS_BUFFERS)

#endif
