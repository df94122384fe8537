/// Elementary functions from + - * / and roots alone: the same bits on every machine, where C
/// libraries differ in their last ones, and a rig or a loop that is chosen by them differs whole.
/// Each is within 4 ULP; sines and cosines beyond a quarter turn within 3e-16; powers within 4 ULP
/// and |power log x| more.
#ifndef CUTIS_MATH_ELEMENTARY_H
#define CUTIS_MATH_ELEMENTARY_H

#include <math.h>

/// |x| <= tan(pi / 8): turned back by pi / 8 where that helps, then the series; what is dropped is
/// below 1e-17.
static inline double fixed_atan_small(double x)
{
    const double tangent = 0x1.a827999fcef32p-2, eighth = 0x1.921fb54442d18p-2; // tan(pi/8), pi/8
    const int turn = x > 0x1.975f5e0553158p-3    ? 1
                     : x < -0x1.975f5e0553158p-3 ? -1
                                                 : 0; // tan(pi/16)
    const double y = turn ? (x - turn * tangent) / (1 + turn * x * tangent) : x, yy = y * y;
    double sum = 0;
    for (int n = 23; n >= 3; n -= 2) sum = (1.0 / n - sum) * yy;
    return turn * eighth + (y - y * sum);
}

static inline double fixed_atan2(double y, double x)
{
    const double half = 0x1.921fb54442d18p+0, rest = 0x1.1a62633145c07p-54; // pi / 2, and its error
    double a = fabs(x), b = fabs(y);
    if (isnan(a) || isnan(b)) return NAN;
    if (a == 0 && b == 0) return signbit(x) ? copysign(2 * half, y) : y;
    if (isinf(a) || isinf(b)) { // the quotient of two infinities is one
        a = isinf(a) ? 1 : 0;
        b = isinf(b) ? 1 : 0;
    }
    if (a > 0x1p1000 || b > 0x1p1000) a *= 0x1p-100, b *= 0x1p-100; // their sum is finite
    const double large = a > b ? a : b, small = a > b ? b : a;
    const double ratio = small / large;
    // tan(pi / 8): from there on from pi / 4.
    double angle =
        ratio > 0x1.a827999fcef32p-2
            ? 0.5 * half + (0.5 * rest + fixed_atan_small((small - large) / (small + large)))
            : fixed_atan_small(ratio);
    if (b > a) angle = half - (angle - rest);
    if (signbit(x)) angle = 2 * half - (angle - 2 * rest);
    return copysign(angle, y);
}

/// |x| <= 1, else NaN.
static inline double fixed_asin(double x)
{
    return fixed_atan2(x, sqrt((1 - x) * (1 + x)));
}

/// |x| <= 1, else NaN.
static inline double fixed_acos(double x)
{
    return fixed_atan2(sqrt((1 - x) * (1 + x)), x);
}

/// Sine and cosine of radians. Beyond 1e5 of the rest by a rounded 2 pi: an error of |x| 2e-16, as
/// x itself has.
static inline void fixed_sincos(double x, double *sine, double *cosine)
{
    if (isnan(x) || isinf(x)) {
        *sine = *cosine = NAN;
        return;
    }
    if (fabs(x) > 1e5) x = fmod(x, 0x1.921fb54442d18p+2);
    // pi / 2 in three parts, the first two with zeros at their ends.
    const double n = floor(x * 0x1.45f306dc9c883p-1 + 0.5);
    const double r =
        ((x - n * 0x1.921fb54400000p+0) - n * 0x1.0b4611a600000p-34) - n * 0x1.3198a2e037073p-69;
    const double rr = r * r;
    double s = 0, c = 0;
    for (int k = 19; k >= 3; k -= 2) s = (1 + s) * (-rr / (k * (k - 1)));
    for (int k = 20; k >= 2; k -= 2) c = (1 + c) * (-rr / (k * (k - 1)));
    s = r + r * s, c = 1 + c;
    const int quarter = (int)(n - 4 * floor(n / 4)) & 3;
    const double turned[4] = { s, c, -s, -c };
    *sine = turned[quarter], *cosine = turned[(quarter + 1) & 3];
}

static inline double fixed_sin(double x)
{
    double s, c;
    fixed_sincos(x, &s, &c);
    return s;
}

static inline double fixed_cos(double x)
{
    double s, c;
    fixed_sincos(x, &s, &c);
    return c;
}

static inline double fixed_log(double x)
{
    int power;
    if (!(x > 0) || isinf(x)) return x > 0 ? x : x == 0 ? -INFINITY : NAN;
    double m = frexp(x, &power);
    if (m < 0x1.6a09e667f3bcdp-1) m *= 2, power--; // from sqrt(1/2) to sqrt(2)
    const double s = (m - 1) / (m + 1), ss = s * s;
    double sum = 0;
    for (int n = 23; n >= 3; n -= 2) sum = (1.0 / n + sum) * ss;
    // ln 2 in two parts; the first ends in zeros, so a power times it is exact.
    return power * 0x1.62e42fefa0000p-1 + (2 * s + (2 * s * sum + power * 0x1.cf79abc9e3b39p-40));
}

static inline double fixed_exp(double x)
{
    if (isnan(x) || x > 709.78 || x < -745) return isnan(x) ? x : x > 0 ? INFINITY : 0;
    const double n = floor(x * 0x1.71547652b82fep+0 + 0.5);
    const double r = (x - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b39p-40;
    double sum = 0;
    for (int k = 14; k >= 2; k--) sum = (1 + sum) * (r / k);
    return ldexp(1 + (r + r * sum), (int)n);
}

/// x > 0.
static inline double fixed_pow(double x, double power)
{
    return fixed_exp(power * fixed_log(x));
}

static inline double fixed_cbrt(double x)
{
    int power;
    if (x == 0 || isnan(x) || isinf(x)) return x;
    double m = frexp(fabs(x), &power);
    while (power % 3 != 0) m *= 0.5, power++; // from 1/8 to 1
    double y = 1;
    for (int i = 0; i < 8; i++) y -= (y * y * y - m) / (3 * y * y);
    return copysign(ldexp(y, power / 3), x);
}

#endif
