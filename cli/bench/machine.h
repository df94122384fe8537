/// The machine's own limits, measured in the run they are compared with: fused multiply-adds a
/// second with the widest vectors, and memory traffic of two reads for one write that goes past the
/// caches.
#ifndef CUTIS_CLI_BENCH_MACHINE_H
#define CUTIS_CLI_BENCH_MACHINE_H

#include <cutis/device.h>

/// Float multiply-adds a second of `thread_count` threads at once; a vector instruction counts as
/// its lanes.
/// @param isa the widest set to use; machines without fused multiply-add count a multiply and an
/// add as one
/// @return 0 if a thread cannot be started
double bench_machine_fma_rate(cutis_isa isa, uint32_t thread_count, double budget_seconds);

/// Bytes a second of a[i] = b[i] + s c[i] over arrays that no cache holds, writes past the cache
/// where the machine has such stores; two reads and one write count.
/// @return 0 if there is no memory for the arrays or a thread cannot be started
double bench_machine_bandwidth(cutis_isa isa, uint32_t thread_count, double budget_seconds);

#endif
