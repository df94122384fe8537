/// Sine and cosine of degrees from their series after an exact reduction: + - * / only, so the same
/// bits on every machine. Two, because characters and clips that are made already keep their last
/// bits; each is within 2 ULP, and exact at multiples of 90.
#ifndef CUTIS_GEOMETRY_SINCOS_H
#define CUTIS_GEOMETRY_SINCOS_H

#include <math.h>

static const double SINCOS_DEGREE = 3.14159265358979323846 / 180;

/// So many quarter turns on.
static inline void sincos_quarters(double s, double c, int quarter, double *sine, double *cosine)
{
    const double turned[4] = { s, c, -s, -c };
    *sine = turned[quarter & 3], *cosine = turned[(quarter + 1) & 3];
}

/// |degrees| <= 1e6: characters. The terms dropped are below 1e-18.
static inline void sincos_degrees(double degrees, double *sine, double *cosine)
{
    long long quarter = (long long)(degrees / 90 + (degrees < 0 ? -0.5 : 0.5));
    double x = (degrees - 90.0 * (double)quarter) * SINCOS_DEGREE, xx = x * x, s = 0, c = 0;
    for (int n = 19; n >= 3; n -= 2) s = (1 + s) * -xx / (double)(n * (n - 1));
    for (int n = 18; n >= 2; n -= 2) c = (1 + c) * -xx / (double)(n * (n - 1));
    sincos_quarters(x + x * s, 1 + c, (int)(quarter & 3), sine, cosine);
}

/// Any angle: clips from files.
static inline void sincos_degrees_any(double degrees, double *sine, double *cosine)
{
    double turn = fmod(degrees, 360.0), quarter = floor(turn / 90.0 + 0.5);
    double x = (turn - 90.0 * quarter) * SINCOS_DEGREE, xx = x * x, s = 0, c = 0;
    for (int n = 19; n >= 3; n -= 2) s = (1 + s) * (-xx / (double)(n * (n - 1)));
    for (int n = 20; n >= 2; n -= 2) c = (1 + c) * (-xx / (double)(n * (n - 1)));
    sincos_quarters(x * (1 + s), 1 + c, (int)quarter, sine, cosine);
}

#endif
