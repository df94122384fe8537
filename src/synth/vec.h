/// Three-vectors in double, by value. Only + - * / and sqrt, so that every machine gets the same
/// bits.
#ifndef CUTIS_SYNTH_VEC_H
#define CUTIS_SYNTH_VEC_H

#include <math.h>

typedef struct vec3 {
    double x, y, z;
} vec3;

static inline vec3 v3(double x, double y, double z)
{
    return (vec3){ x, y, z };
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
/// a + s b
static inline vec3 v3_mad(vec3 a, double s, vec3 b)
{
    return (vec3){ a.x + s * b.x, a.y + s * b.y, a.z + s * b.z };
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
/// Unit vector; zero stays zero.
static inline vec3 v3_unit(vec3 a)
{
    double length = v3_length(a);
    return length > 0 ? v3_scale(a, 1 / length) : a;
}
/// Twice the area vector of a triangle.
static inline vec3 v3_normal(vec3 a, vec3 b, vec3 c)
{
    return v3_cross(v3_sub(b, a), v3_sub(c, a));
}

#endif
