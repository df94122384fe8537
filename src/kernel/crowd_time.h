/// Where a track stands in its clip at a clock. Kernel text that the host uses too.
#ifndef CUTIS_KERNEL_CROWD_TIME_H
#define CUTIS_KERNEL_CROWD_TIME_H

#if defined(KERNEL_OPENCL) || defined(KERNEL_CUDA)
#define CROWD_FLOOR(x) floor(x)
#else
#include "kernel.h"
#define CROWD_FLOOR(x) __builtin_floor(x)
#endif

FN float crowd_time(double seconds, float speed, double clock, float duration, int once)
{
    double time = seconds + (double)speed * clock, length = (double)duration;
    if (!once && length > 0.0) time = time - length * CROWD_FLOOR(time / length);
    // Far beyond any clip, and finite as a float.
    if (!(time > -1e30)) time = -1e30;
    if (!(time < 1e30)) time = 1e30;
    return (float)time;
}

#endif
