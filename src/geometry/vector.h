/// Three-vectors in double, by value: the one family of the host. Only + - * / and sqrt in the
/// order written, so that every machine gets the same bits. Rows of matrices and other threes that
/// stand in arrays have double3_dot and double3_cross (math/mat3.h) and v3_of.
#ifndef CUTIS_GEOMETRY_VECTOR_H
#define CUTIS_GEOMETRY_VECTOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "math/elementary.h"

typedef struct vec3 {
    double x, y, z;
} vec3;

static inline vec3 v3(double x, double y, double z)
{
    return (vec3){ x, y, z };
}
static inline vec3 v3_of(const double *p)
{
    return (vec3){ p[0], p[1], p[2] };
}
static inline vec3 v3_of_floats(const float *p)
{
    return (vec3){ p[0], p[1], p[2] };
}
/// Vector `index` of an array of threes.
static inline vec3 v3_at(const float *array, uint32_t index)
{
    return v3_of_floats(array + 3 * (size_t)index);
}
static inline void v3_put(vec3 a, double *out)
{
    out[0] = a.x, out[1] = a.y, out[2] = a.z;
}
static inline void v3_put_floats(vec3 a, float *out)
{
    out[0] = (float)a.x, out[1] = (float)a.y, out[2] = (float)a.z;
}
/// sum += a
static inline void v3_sum(double *sum, vec3 a)
{
    sum[0] += a.x, sum[1] += a.y, sum[2] += a.z;
}
static inline vec3 v3_add(vec3 a, vec3 b)
{
    return (vec3){ a.x + b.x, a.y + b.y, a.z + b.z };
}
static inline vec3 v3_sub(vec3 a, vec3 b)
{
    return (vec3){ a.x - b.x, a.y - b.y, a.z - b.z };
}
static inline vec3 v3_scale(vec3 a, double s)
{
    return (vec3){ a.x * s, a.y * s, a.z * s };
}
/// Not v3_scale by 1 / s, which rounds twice.
static inline vec3 v3_divide(vec3 a, double s)
{
    return (vec3){ a.x / s, a.y / s, a.z / s };
}
/// a + s b
static inline vec3 v3_mad(vec3 a, double s, vec3 b)
{
    return (vec3){ a.x + s * b.x, a.y + s * b.y, a.z + s * b.z };
}
/// (1 - t) a + t b
static inline vec3 v3_mix(vec3 a, vec3 b, double t)
{
    return (vec3){ (1 - t) * a.x + t * b.x, (1 - t) * a.y + t * b.y, (1 - t) * a.z + t * b.z };
}
static inline double v3_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline vec3 v3_cross(vec3 a, vec3 b)
{
    return (vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}
static inline double v3_length(vec3 a)
{
    return sqrt(v3_dot(a, a));
}
static inline double v3_distance(vec3 a, vec3 b)
{
    return v3_length(v3_sub(a, b));
}
static inline double v3_distance_of(const double *a, const double *b)
{
    return v3_distance(v3_of(a), v3_of(b));
}
/// Unit vector by 1 / length; zero stays zero.
static inline vec3 v3_unit(vec3 a)
{
    double length = v3_length(a);
    return length > 0 ? v3_scale(a, 1 / length) : a;
}
/// Unit vector by division, one rounding less; zero stays zero.
static inline vec3 v3_direction(vec3 a)
{
    double length = v3_length(a);
    return length > 0 ? v3_divide(a, length) : a;
}
/// Twice the area vector of a triangle.
static inline vec3 v3_normal(vec3 a, vec3 b, vec3 c)
{
    return v3_cross(v3_sub(b, a), v3_sub(c, a));
}
static inline vec3 v3_normal_of(const double *a, const double *b, const double *c)
{
    return v3_normal(v3_of(a), v3_of(b), v3_of(c));
}
static inline double v3_area_of(const double *a, const double *b, const double *c)
{
    return 0.5 * v3_length(v3_normal_of(a, b, c));
}
/// Six times the signed volume between a triangle and a point.
static inline double v3_wedge_of(const double *a, const double *b, const double *c, const double *o)
{
    vec3 p = v3_of(o);
    return v3_dot(v3_sub(v3_of(a), p), v3_cross(v3_sub(v3_of(b), p), v3_sub(v3_of(c), p)));
}
/// Products of the components, added to the upper half of a symmetric matrix: xx xy xz yy yz zz.
static inline void v3_spread(double sum[6], vec3 d)
{
    sum[0] += d.x * d.x, sum[1] += d.x * d.y, sum[2] += d.x * d.z;
    sum[3] += d.y * d.y, sum[4] += d.y * d.z, sum[5] += d.z * d.z;
}
/// Twice the area vectors of triangles, added at their corners, or what those are welded to.
static inline void v3_sum_normals(const float *positions, const uint32_t *corners,
                                  uint64_t triangle_count, const uint32_t *weld, double *sums)
{
    for (uint64_t t = 0; t < triangle_count; t++) {
        const uint32_t *c = corners + 3 * t;
        vec3 n = v3_normal(v3_at(positions, c[0]), v3_at(positions, c[1]), v3_at(positions, c[2]));
        for (int k = 0; k < 3; k++) v3_sum(sums + 3 * (size_t)(weld ? weld[c[k]] : c[k]), n);
    }
}
/// The point of a triangle that is nearest to another (Ericson, Real-Time Collision
/// Detection 5.1.5).
static inline vec3 v3_nearest(const vec3 *t, vec3 p)
{
    const vec3 ab = v3_sub(t[1], t[0]), ac = v3_sub(t[2], t[0]), ap = v3_sub(p, t[0]);
    const double d1 = v3_dot(ab, ap), d2 = v3_dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) return t[0];
    const vec3 bp = v3_sub(p, t[1]), cp = v3_sub(p, t[2]);
    const double d3 = v3_dot(ab, bp), d4 = v3_dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) return t[1];
    const double d5 = v3_dot(ab, cp), d6 = v3_dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) return t[2];
    const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return v3_mad(t[0], d1 / (d1 - d3), ab);
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return v3_mad(t[0], d2 / (d2 - d6), ac);
    if (va <= 0 && d4 >= d3 && d5 >= d6)
        return v3_mad(t[1], (d4 - d3) / ((d4 - d3) + (d5 - d6)), v3_sub(t[2], t[1]));
    const double all = va + vb + vc;
    return v3_mad(v3_mad(t[0], vb / all, ab), vc / all, ac);
}

/// Radians. atan2 of sine and cosine needs no unit vectors and keeps small angles, which acos would
/// round away.
static inline double v3_angle(vec3 a, vec3 b)
{
    return fixed_atan2(v3_length(v3_cross(a, b)), v3_dot(a, b));
}
/// Of the angle at a; a triangle without area has a large one, not an infinite one.
static inline double v3_cotangent(vec3 a, vec3 b, vec3 c)
{
    vec3 u = v3_sub(b, a), v = v3_sub(c, a);
    return v3_dot(u, v) / (v3_length(v3_cross(u, v)) + 1e-30);
}

/// A box around points.
typedef struct box3 {
    double low[3], high[3];
} box3;

static inline box3 box3_empty(void)
{
    return (box3){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
}
static inline void box3_add(box3 *box, vec3 p)
{
    const double at[3] = { p.x, p.y, p.z };
    for (int k = 0; k < 3; k++) { // fmin and fmax are calls
        box->low[k] = at[k] < box->low[k] ? at[k] : box->low[k];
        box->high[k] = at[k] > box->high[k] ? at[k] : box->high[k];
    }
}
/// 0 when nothing was added.
static inline double box3_diagonal(const box3 *box)
{
    return box->low[0] <= box->high[0] ? v3_distance_of(box->high, box->low) : 0;
}

#endif
