/// How long weights from examples take: the biped of 46036 vertices in 20 poses, learned on 20 of
/// its joints.
#ifndef CUTIS_CLI_BENCH_LEARN_H
#define CUTIS_CLI_BENCH_LEARN_H

#include "app.h"

typedef struct bench_learned {
    uint32_t vertices, joints, poses, threads;
    double seconds; ///< 0: not measured
    bool gpu;
} bench_learned;

/// @param quick the small biped
/// @param gpu   learns; NULL: two threads of the CPU
cutis_result bench_learn(cli_app *app, bool quick, cutis_device *gpu, bench_learned *out);

#endif
