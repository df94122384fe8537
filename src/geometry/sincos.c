/// Sine and cosine from their series after an exact reduction in degrees: + - * / only, so no
/// library's libm decides a byte of a character.
#include "geometry/sincos.h"

/// |x| <= pi/4: the terms dropped are below 1e-18.
static double sine_series(double x)
{
    double s = x * x, sum = 0;
    for (int n = 19; n >= 3; n -= 2) sum = (1 + sum) * -s / (double)(n * (n - 1));
    return x + x * sum;
}

static double cosine_series(double x)
{
    double s = x * x, sum = 0;
    for (int n = 18; n >= 2; n -= 2) sum = (1 + sum) * -s / (double)(n * (n - 1));
    return 1 + sum;
}

void cutis_sincos_degrees(double degrees, double *sine, double *cosine)
{
    long long quarter = (long long)(degrees / 90 + (degrees < 0 ? -0.5 : 0.5));
    double x = (degrees - 90.0 * (double)quarter) * (3.14159265358979323846 / 180);
    double s = sine_series(x), c = cosine_series(x);
    const double turned[4] = { s, c, -s, -c };
    *sine = turned[quarter & 3], *cosine = turned[(quarter + 1) & 3];
}
