/// Two doubles side by side, as a gcc or clang vector: what every 64-bit machine has in its base
/// instruction set (wider vectors would be taken apart element by element there). Arithmetic is
/// lane by lane, so what is in the other lane never shows in the bits.
#ifndef CUTIS_MATH_LANES_H
#define CUTIS_MATH_LANES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CUTIS_LANES 2

typedef double double2 __attribute__((vector_size(16)));
typedef int64_t integer2 __attribute__((vector_size(16))); ///< a comparison: -1 or 0 per lane

static inline double2 double2_splat(double x)
{
    return (double2){ x, x };
}

static inline double2 double2_load(const double *p)
{
    double2 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void double2_store(double *p, double2 v)
{
    memcpy(p, &v, sizeof v);
}

#endif
