/// 3x3 and 3x4 matrices in double, row-major, as plain arrays: the host-side algebra of poses and
/// centres.
///
/// Invariant: nothing here depends on the machine beyond IEEE double; sums run in the order
/// written.
#ifndef CUTIS_MATH_MAT3_H
#define CUTIS_MATH_MAT3_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static inline double double3_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void double3_cross(const double *a, const double *b, double *out)
{
    double x = a[1] * b[2] - a[2] * b[1];
    double y = a[2] * b[0] - a[0] * b[2];
    double z = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y, out[2] = z;
}

static inline void double33_identity(double *out)
{
    memset(out, 0, 9 * sizeof *out);
    out[0] = out[4] = out[8] = 1.0;
}

/// out = a b; out may not be a or b.
static inline void double33_multiply(const double *a, const double *b, double *out)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] = a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c];
}

/// out = a^T b; out may not be a or b.
static inline void double33_transpose_multiply(const double *a, const double *b, double *out)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] = a[r] * b[c] + a[3 + r] * b[3 + c] + a[6 + r] * b[6 + c];
}

/// out = a b^T; out may not be a or b.
static inline void double33_multiply_transpose(const double *a, const double *b, double *out)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) out[3 * r + c] = double3_dot(a + 3 * r, b + 3 * c);
}

static inline void double33_vector(const double *a, const double *v, double *out)
{
    double x = double3_dot(a, v), y = double3_dot(a + 3, v), z = double3_dot(a + 6, v);
    out[0] = x, out[1] = y, out[2] = z;
}

/// Cofactors: det(a) a^{-T}, also for singular a. out may not be a.
static inline void double33_cofactor(const double *a, double *out)
{
    double3_cross(a + 3, a + 6, out);
    double3_cross(a + 6, a, out + 3);
    double3_cross(a, a + 3, out + 6);
}

static inline double double33_determinant(const double *a)
{
    double c[3];
    double3_cross(a + 3, a + 6, c);
    return double3_dot(a, c);
}

/// Sum of squares of the entries.
static inline double double33_square(const double *a)
{
    double sum = 0;
    for (int i = 0; i < 9; i++) sum += a[i] * a[i];
    return sum;
}

/// The left 3x3 of a row-major 3x4.
static inline void double34_linear(const double *m, double *out)
{
    for (int r = 0; r < 3; r++) memcpy(out + 3 * r, m + 4 * r, 3 * sizeof *out);
}

static inline void double34_identity(double *out)
{
    memset(out, 0, 12 * sizeof *out);
    out[0] = out[5] = out[10] = 1.0;
}

/// out = a b, affine. out may not be a or b.
static inline void double34_multiply(const double *restrict a, const double *restrict b,
                                     double *restrict out)
{
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++)
            out[4 * r + c] = a[4 * r] * b[c] + a[4 * r + 1] * b[4 + c] + a[4 * r + 2] * b[8 + c];
        out[4 * r + 3] += a[4 * r + 3];
    }
}

static inline void double34_point(const double *m, const double *p, double *out)
{
    double x = double3_dot(m, p) + m[3], y = double3_dot(m + 4, p) + m[7],
           z = double3_dot(m + 8, p) + m[11];
    out[0] = x, out[1] = y, out[2] = z;
}

/// The inverse of an affine matrix. @return false: it has none, and nothing is written
static inline bool double34_invert(const double *m, double *out)
{
    double linear[9], cofactor[9];
    double34_linear(m, linear);
    double33_cofactor(linear, cofactor);
    double det = double3_dot(linear, cofactor);
    if (!(fabs(det) > DBL_MIN)) return false;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) out[4 * r + c] = cofactor[3 * c + r] / det;
        out[4 * r + 3] = 0;
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) out[4 * r + 3] -= out[4 * r + c] * m[4 * c + 3];
    return true;
}

static inline void double34_from_floats(const float *m, double *out)
{
    for (int i = 0; i < 12; i++) out[i] = m[i];
}

#endif
