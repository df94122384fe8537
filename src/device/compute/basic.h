/// The program of kernel/basic.h: filling, sums, copies of streams and boxes around their points;
/// and prefix sums on any device: how compaction gives its items their places.
#ifndef CUTIS_DEVICE_COMPUTE_BASIC_H
#define CUTIS_DEVICE_COMPUTE_BASIC_H

#include "device/compute.h"
#include "kernel/basic_arguments.h"

CUTIS_COMPUTE_DECLARE(fill_words, FILL_WORDS_BUFFERS)
CUTIS_COMPUTE_DECLARE(sum_stretches, SUM_STRETCHES_BUFFERS)
CUTIS_COMPUTE_DECLARE(scan_sums, SCAN_SUMS_BUFFERS)
CUTIS_COMPUTE_DECLARE(scan_spread, SCAN_SPREAD_BUFFERS)
CUTIS_COMPUTE_DECLARE(stream_copy, STREAM_COPY_BUFFERS)
CUTIS_COMPUTE_DECLARE(stream_bounds, STREAM_BOUNDS_BUFFERS)

/// 4-byte words that a buffer needs for the sums of `count` counts: theirs, the total, and scratch.
uint64_t cutis_compute_scan_words(uint32_t count);

/// The first `count` words of a buffer become the sums of the words before them; words[count] the
/// sum of all, which fits an int. Behind it the buffer has cutis_compute_scan_words(count) in all.
cutis_result cutis_compute_scan(cutis_device *device, cutis_buffer *words, uint32_t count);

#endif
