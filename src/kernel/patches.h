/// Kernel text: blending patches: how the arrays of patches_fields.h are reached, vectors in
/// double, arcs and conics.
///
/// Arithmetic is double on every device: joints are closed to rounding with it, and sums, products,
/// quotients and roots have the same bits everywhere.
#ifndef CUTIS_KERNEL_PATCHES_H
#define CUTIS_KERNEL_PATCHES_H

#include "patches_arguments.h"
#include "team.h"

// Functions that are called from several places: inlined everywhere they would make kernels of
// hundreds of kilobytes, which take minutes to compile and do not fit an instruction cache.
#if defined(KERNEL_CUDA)
#define PATCH_FN static __device__ __noinline__
#elif defined(KERNEL_OPENCL)
#define PATCH_FN static __attribute__((noinline))
#else
#define PATCH_FN static __attribute__((noinline, unused))
#endif

/// A body and the work of one instance of it: what the functions of the patches pass around.
STRUCT(patch_work)
{
    GLOBAL const char *body;
    GLOBAL char *work;
    const patch_arguments *given;
    int instance;
};

FN patch_work patch_work_of(GLOBAL const char *body, GLOBAL char *work,
                            const patch_arguments *given, int instance)
{
    patch_work w = { body, work + (INDEX)instance * given->work_stride * PATCH_UNIT, given,
                     instance };
    return w;
}

// body_NAME(w), work_NAME(w): the first entry of an array.
#define PATCH_BODY_ARRAY(name, type, width, count)                                                 \
    FN GLOBAL const type *body_##name(patch_work w)                                                \
    {                                                                                              \
        return (GLOBAL const type *)(w.body + (INDEX)w.given->at.body_##name * PATCH_UNIT);        \
    }
#define PATCH_WORK_ARRAY(name, type, width, count, from, last)                                     \
    FN GLOBAL type *work_##name(patch_work w)                                                      \
    {                                                                                              \
        return (GLOBAL type *)(w.work + (INDEX)w.given->at.work_##name * PATCH_UNIT);              \
    }
PATCH_BODY_FIELDS(PATCH_BODY_ARRAY)
PATCH_WORK_FIELDS(PATCH_WORK_ARRAY)

enum patch_state { PATCH_KEPT, PATCH_REMOVED, PATCH_ZERO /* moved onto the border */ };
enum patch_rung {
    PATCH_RUNG_WELD,
    PATCH_RUNG_LINE,
    PATCH_RUNG_FRONT_ARC, ///< on the outer side of the bend, between partners
    PATCH_RUNG_FRONT_FAN, ///< there, between others
    PATCH_RUNG_REAR       ///< on the inner side: a conic
};

FN pvec pvec_make(double x, double y, double z)
{
    pvec v = { x, y, z };
    return v;
}
FN pvec pvec_plus(pvec a, pvec b)
{
    return pvec_make(a.x + b.x, a.y + b.y, a.z + b.z);
}
FN pvec pvec_minus(pvec a, pvec b)
{
    return pvec_make(a.x - b.x, a.y - b.y, a.z - b.z);
}
FN pvec pvec_times(pvec a, double s)
{
    return pvec_make(a.x * s, a.y * s, a.z * s);
}
FN double pvec_dot(pvec a, pvec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
FN pvec pvec_cross(pvec a, pvec b)
{
    return pvec_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
FN double pvec_length(pvec a)
{
    return ROOT(pvec_dot(a, a));
}
// A vector too short to have a direction stays as it is.
FN pvec pvec_unit(pvec a)
{
    double l = pvec_length(a);
    return l > 1e-150 ? pvec_times(a, 1.0 / l) : a;
}
FN pvec pvec_mix(pvec a, pvec b, double t)
{
    return pvec_make(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z));
}
FN double pvec_det(pvec a, pvec b, pvec c)
{
    return pvec_dot(a, pvec_cross(b, c));
}
// Row-major 3x3 at m.
FN pvec pvec_turned(GLOBAL const double *m, pvec v)
{
    return pvec_make(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                     m[6] * v.x + m[7] * v.y + m[8] * v.z);
}
// By the transpose of a row-major 3x3 at m.
FN pvec pvec_turned_back(GLOBAL const double *m, pvec v)
{
    return pvec_make(m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z,
                     m[2] * v.x + m[5] * v.y + m[8] * v.z);
}
// Row-major 3x4 at m.
FN pvec pvec_moved(GLOBAL const double *m, pvec v)
{
    return pvec_make(m[0] * v.x + m[1] * v.y + m[2] * v.z + m[3],
                     m[4] * v.x + m[5] * v.y + m[6] * v.z + m[7],
                     m[8] * v.x + m[9] * v.y + m[10] * v.z + m[11]);
}

FN pquat pquat_make(double w, double x, double y, double z)
{
    pquat q = { w, x, y, z };
    return q;
}
// b first, then a.
FN pquat pquat_times(pquat a, pquat b)
{
    return pquat_make(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}
FN pquat pquat_unit(pquat q)
{
    double l = ROOT(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(l > 1e-150)) return pquat_make(1, 0, 0, 0);
    return pquat_make(q.w / l, q.x / l, q.y / l, q.z / l);
}
// v turned by a quaternion of any length but zero: divided by q.q, not by a root.
FN pvec pquat_turned(pquat q, pvec v)
{
    pvec u = pvec_make(q.x, q.y, q.z);
    double square = q.w * q.w + pvec_dot(u, u);
    pvec a = pvec_cross(u, v), b = pvec_cross(u, a);
    double f = 2.0 / square;
    return pvec_plus(v, pvec_plus(pvec_times(a, f * q.w), pvec_times(b, f)));
}
FN void pquat_put_matrix(pquat q, GLOBAL double *m)
{
    pvec a = pquat_turned(q, pvec_make(1, 0, 0)), b = pquat_turned(q, pvec_make(0, 1, 0));
    pvec c = pquat_turned(q, pvec_make(0, 0, 1));
    m[0] = a.x, m[1] = b.x, m[2] = c.x;
    m[3] = a.y, m[4] = b.y, m[5] = c.y;
    m[6] = a.z, m[7] = b.z, m[8] = c.z;
}
// Of a matrix that is `scale` times a rotation but for rounding (Shepperd).
FN pquat pquat_of(double scale, pvec x, pvec y, pvec z) // rows
{
    double t = x.x + y.y + z.z;
    if (t > x.x && t > y.y && t > z.z)
        return pquat_unit(pquat_make(scale + t, z.y - y.z, x.z - z.x, y.x - x.y));
    if (x.x >= y.y && x.x >= z.z)
        return pquat_unit(pquat_make(z.y - y.z, scale + x.x - y.y - z.z, x.y + y.x, x.z + z.x));
    if (y.y >= z.z)
        return pquat_unit(pquat_make(x.z - z.x, x.y + y.x, scale + y.y - x.x - z.z, y.z + z.y));
    return pquat_unit(pquat_make(y.x - x.y, x.z + z.x, y.z + z.y, scale + z.z - x.x - y.y));
}

// Arc tangent of x >= 0 to 1e-12: halved twice, then its series. Only sample counts and reports
// depend on it.
FN double patch_arctan(double x)
{
    double r = x > 1.0 ? 1.0 / x : x;
    r = r / (1.0 + ROOT(1.0 + r * r));
    r = r / (1.0 + ROOT(1.0 + r * r));
    double s = r * r, sum = 0.0;
    for (int k = 21; k >= 1; k -= 2) sum = 1.0 / k - s * sum;
    double angle = 4.0 * r * sum;
    return x > 1.0 ? 1.5707963267948966 - angle : angle;
}

// Front arc: where a point p of the parent's loop that goes to c (both from the centre) is at t.
// The swing is interpolated as the paper does (normalised linear), what twist leaves goes straight.
FN pvec patch_arc(pvec p, pvec back, pquat swing, double t)
{
    pquat q = pquat_make(1.0 + t * (swing.w - 1.0), t * swing.x, t * swing.y, t * swing.z);
    return pquat_turned(q, pvec_mix(p, back, t));
}

// How far a vertex lies from an entry's loop.
FN double patch_far_of(patch_work w, int entry, int vertex)
{
    return body_far(w)[body_entry_at(w)[entry] + vertex];
}

// How much of a joint's swelling a share of its bend has: most in the middle, none at both ends.
FN double patch_bump(double share)
{
    return 4.0 * share * (1.0 - share);
}

#endif
