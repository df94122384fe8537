/// Kernel text: the conic that a rear rung is, and the closed form of the area under it.
/// tests/deform/test_patches_conic.c holds them together: the closed form is the integral of the
/// curve, and the mixes are points of it.
#ifndef CUTIS_KERNEL_PATCHES_CONIC_H
#define CUTIS_KERNEL_PATCHES_CONIC_H

#include "patches.h"

// Point of the conic of weight w at t: how much it has of its two ends and of its control point.
FN patch_mix patch_mix_at(double w, double t)
{
    double u = 1.0 - t, x = u * u, y = 2.0 * w * t * u, z = t * t;
    double f = 1.0 / (x + y + z);
    patch_mix m = { x * f, y * f, z * f };
    return m;
}
FN pvec patch_mixed(patch_mix m, pvec p, pvec k, pvec c)
{
    return pvec_plus(pvec_times(p, m.p), pvec_plus(pvec_times(k, m.k), pvec_times(c, m.c)));
}

// The rational quadratic from p to c with control point k of weight w.
FN pvec patch_conic(pvec p, pvec k, pvec c, double w, double t)
{
    return patch_mixed(patch_mix_at(w, t), p, k, c);
}

// The share of the triangle (ends and control point) that lies between chord and conic of weight w.
// A frame reads it from a table (body_conic_weight); the host makes that.
#if !defined(KERNEL_OPENCL) && !defined(KERNEL_CUDA)
FN double patch_conic_share(double w)
{
    if (__builtin_fabs(w - 1.0) < 1e-4) return 2.0 / 3.0 + (w - 1.0) * 4.0 / 15.0;
    if (w < 1.0) {
        double a = __builtin_acos(w), s = __builtin_sin(a);
        return (a - s * w) * w / (s * s * s);
    }
    double b = __builtin_acosh(w), s = __builtin_sinh(b);
    return (s * w - b) * w / (s * s * s);
}
#endif

/// What a conic is: its weight, and whether the point it should pass through lies in the triangle.
STRUCT(patch_weight)
{
    double w;
    int valid;
};

// The weight with which the conic from a to b with control point k passes through s, which lies in
// their plane: w = b1 / (2 sqrt(b0 b2)) of its barycentric coordinates. If s is not inside the
// triangle: by heights over ab, 0.2 .. 5. No triangle: 0, a straight line.
PATCH_FN patch_weight patch_weight_through(pvec a, pvec k, pvec b, pvec s)
{
    patch_weight r;
    r.w = 0.0;
    r.valid = 0;
    pvec ab = pvec_minus(b, a), ak = pvec_minus(k, a), n = pvec_cross(ak, ab);
    double area = pvec_dot(n, n), base = pvec_dot(ab, ab);
    if (!(area > 1e-24 * base * base)) return r;
    pvec as = pvec_minus(s, a);
    double b1 = pvec_dot(n, pvec_cross(as, ab)) / area;
    double b2 = pvec_dot(n, pvec_cross(ak, as)) / area;
    double b0 = 1.0 - b1 - b2;
    if (b0 > 0.0 && b1 > 0.0 && b2 > 0.0) {
        r.w = b1 / (2.0 * ROOT(b0 * b2));
        r.valid = 1;
        return r;
    }
    pvec up = pvec_minus(k, pvec_mix(a, b, 0.5));
    double top = pvec_dot(up, up), at = pvec_dot(pvec_minus(s, pvec_mix(a, b, 0.5)), up);
    double w = at / (top - at);
    r.w = !(w >= 0.2) || !(top > at) ? (at < top ? 0.2 : 5.0) : w > 5.0 ? 5.0 : w;
    return r;
}

#endif
