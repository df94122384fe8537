/// Double-precision 3-vectors of the measure room.
#ifndef CUTIS_MEASURE_VECTOR_H
#define CUTIS_MEASURE_VECTOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vector {
    double x, y, z;
} vector;

static inline vector vector_at(const float *positions, uint32_t index)
{
    const float *p = positions + 3 * (size_t)index;
    return (vector){ p[0], p[1], p[2] };
}

static inline vector vector_minus(vector a, vector b)
{
    return (vector){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static inline double vector_dot(vector a, vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vector vector_cross(vector a, vector b)
{
    return (vector){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static inline double vector_length(vector a)
{
    return sqrt(vector_dot(a, a));
}

#endif
