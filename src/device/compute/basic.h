/// The program of kernel/basic.h: filling, and sums of fixed order.
#ifndef CUTIS_DEVICE_COMPUTE_BASIC_H
#define CUTIS_DEVICE_COMPUTE_BASIC_H

#include "device/compute.h"
#include "kernel/basic_arguments.h"

CUTIS_COMPUTE_DECLARE(fill_words, FILL_WORDS_BUFFERS)
CUTIS_COMPUTE_DECLARE(sum_stretches, SUM_STRETCHES_BUFFERS)

#endif
