/// Prefix sums on any device (kernel/scan.h): how compaction gives its items their places.
#ifndef CUTIS_DEVICE_COMPUTE_SCAN_H
#define CUTIS_DEVICE_COMPUTE_SCAN_H

#include "device/compute.h"
#include "kernel/scan_arguments.h"

CUTIS_COMPUTE_DECLARE(scan_sums, SCAN_SUMS_BUFFERS)
CUTIS_COMPUTE_DECLARE(scan_spread, SCAN_SPREAD_BUFFERS)

/// 4-byte words that a buffer needs for the sums of `count` counts: theirs, the total, and scratch.
uint64_t cutis_compute_scan_words(uint32_t count);

/// The first `count` words of a buffer become the sums of the words before them; words[count] the
/// sum of all, which fits an int. Behind it the buffer has cutis_compute_scan_words(count) in all.
cutis_result cutis_compute_scan(cutis_device *device, cutis_buffer *words, uint32_t count);

#endif
