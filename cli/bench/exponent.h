/// The exponent of a cost against a size.
#ifndef CUTIS_CLI_BENCH_EXPONENT_H
#define CUTIS_CLI_BENCH_EXPONENT_H

#include <math.h>
#include <stdint.h>

/// The slope of log cost against log size, by least squares; NaN where all sizes are one.
static inline double bench_exponent(const double *sizes, const double *costs, uint32_t count)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (uint32_t i = 0; i < count; i++) x += log(sizes[i]) / count, y += log(costs[i]) / count;
    for (uint32_t i = 0; i < count; i++) {
        const double dx = log(sizes[i]) - x;
        xx += dx * dx, xy += dx * (log(costs[i]) - y);
    }
    return xx > 0 ? xy / xx : NAN;
}

#endif
