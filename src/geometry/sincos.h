/// Sine and cosine of degrees, the same bits on every machine.
#ifndef CUTIS_GEOMETRY_SINCOS_H
#define CUTIS_GEOMETRY_SINCOS_H

/// Within 2 ULP for |degrees| <= 1e6; exact at multiples of 90.
void cutis_sincos_degrees(double degrees, double *sine, double *cosine);

#endif
