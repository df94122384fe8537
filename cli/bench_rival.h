/// What results are divided by: plain C, the machine's FMA rate, its memory bandwidth. Measured in
/// the same run.
#ifndef CUTIS_CLI_BENCH_RIVAL_H
#define CUTIS_CLI_BENCH_RIVAL_H

#include "app.h"

typedef struct bench_limits {
    double fma_rate;  ///< float multiply-adds a second (one lane of one instruction is one)
    double bandwidth; ///< bytes a second, two reads for one write, past the caches
} bench_limits;

/// @param isa the widest set that may be used
cutis_result bench_limits_measure(cutis_isa isa, uint32_t thread_count, double budget,
                                  bench_limits *out);

#endif
