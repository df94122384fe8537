/// exp for non-positive arguments without libm, four at a time: the same bits on every machine
/// (libm's differ).
///
/// Relative error below 4e-16 down to -700; below that 0. Written on vectors of four doubles, which
/// compilers split to what the machine has; lane by lane arithmetic, so the width never shows in
/// the bits.
#ifndef CUTIS_MATH_EXPONENTIAL_H
#define CUTIS_MATH_EXPONENTIAL_H

#include <stdint.h>

typedef double double4 __attribute__((vector_size(32)));
typedef int64_t integer4 __attribute__((vector_size(32)));

static inline double4 exp_negative4(double4 x)
{
    const double4 zero = { 0 };
    integer4 tiny = x < -700.0 + zero;
    // Adding 1.5 * 2^52 rounds to the nearest integer and leaves it in the low bits.
    const double4 shift = 6755399441055744.0 + zero;
    double4 shifted = x * 1.4426950408889634 + shift;
    double4 n = shifted - shift;
    // ln 2 in two parts; the first ends in 17 zero bits, so n times it is exact.
    double4 r = (x - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b39p-44;
    double4 p = 1.0 / 6227020800.0 + zero;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * (r * r) + r;
    p = p + 1.0;
    integer4 bits = (integer4)p + ((integer4)shifted << 52);
    return (double4)(bits & ~tiny);
}

#endif
