/// exp for non-positive arguments without libm, two at a time: the same bits on every machine
/// (libm's differ).
///
/// Relative error below 4e-16 down to -700; below that 0. Written on vectors of four doubles, which
/// compilers split to what the machine has; lane by lane arithmetic, so the width never shows in
/// the bits.
#ifndef CUTIS_MATH_EXPONENTIAL_H
#define CUTIS_MATH_EXPONENTIAL_H

#include "math/lanes.h"

static inline double2 exp_negative2(double2 x)
{
    const double2 zero = { 0 };
    integer2 tiny = x < -700.0 + zero;
    // Adding 1.5 * 2^52 rounds to the nearest integer and leaves it in the low bits.
    const double2 shift = 6755399441055744.0 + zero;
    double2 shifted = x * 1.4426950408889634 + shift;
    double2 n = shifted - shift;
    // ln 2 in two parts; the first ends in 17 zero bits, so n times it is exact.
    double2 r = (x - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b39p-40;
    double2 p = 1.0 / 6227020800.0 + zero;
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
    // Unsigned: the exponent's bits wrap around.
    typedef uint64_t word2 __attribute__((vector_size(16)));
    word2 bits = (word2)p + ((word2)shifted << 52);
    return (double2)((integer2)bits & ~tiny);
}

#endif
