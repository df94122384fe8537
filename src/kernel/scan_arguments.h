/// What the kernels of scan.h take.
#ifndef CUTIS_KERNEL_SCAN_ARGUMENTS_H
#define CUTIS_KERNEL_SCAN_ARGUMENTS_H

#define SCAN_STRETCH 64

/// Sums of the stretches of `count` words from `at` on go to `to` and behind; spread has the sums
/// before each stretch at `from` (< 0: there is one stretch).
#define SCAN_SUMS_BUFFERS(IN, OUT)   OUT(int, words)
#define SCAN_SPREAD_BUFFERS(IN, OUT) OUT(int, words)
KERNEL_TAKES(scan_sums, int at; int count; int to)
KERNEL_TAKES(scan_spread, int at; int count; int from)

#endif
