/// One-sided Jacobi SVD, and the polar rotation: scaled Newton steps where they converge fast, else
/// the SVD. Invariant: finite input gives rotations that are orthonormal to rounding, also for
/// singular matrices.
#include "math/svd3.h"

#include "math/mat3.h"

static const int SWEEPS = 15;
// Columns whose cosine is below this are orthogonal to rounding.
static const double ORTHOGONAL = 1e-16;
// Two singular values below this part of the largest: the rotation is noise of the data
// (docs/spec/blending.md 6.1).
static const double DEGENERATE = 1e-6;
// det / (|a| / sqrt 3)^3 is 1 for a rotation. From here up ten Newton steps reach rounding
// (condition < about 60).
static const double NEWTON_SAFE = 0.02;
static const int NEWTON_STEPS = 10;

/// Rotate columns p and q of b (and of v) until they are orthogonal. @return whether they were not
static bool orthogonalise(double b[3][3], double v[3][3], int p, int q)
{
    double alpha = double3_dot(b[p], b[p]), beta = double3_dot(b[q], b[q]),
           gamma = double3_dot(b[p], b[q]);
    if (fabs(gamma) <= ORTHOGONAL * sqrt(alpha * beta)) return false;
    double zeta = (beta - alpha) / (2.0 * gamma);
    double t = (zeta < 0.0 ? -1.0 : 1.0) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
    double c = 1.0 / sqrt(1.0 + t * t), s = c * t;
    for (int i = 0; i < 3; i++) {
        double x = b[p][i], y = b[q][i];
        b[p][i] = c * x - s * y, b[q][i] = s * x + c * y;
        x = v[p][i], y = v[q][i];
        v[p][i] = c * x - s * y, v[q][i] = s * x + c * y;
    }
    return true;
}

/// Swap columns and negate one, so that the determinant stays.
static void swap_columns(double m[3][3], int p, int q)
{
    for (int i = 0; i < 3; i++) {
        double x = m[p][i];
        m[p][i] = m[q][i];
        m[q][i] = -x;
    }
}

/// A unit vector perpendicular to the unit vector a.
static void perpendicular(const double *a, double *out)
{
    int k = fabs(a[0]) <= fabs(a[1]) ? (fabs(a[0]) <= fabs(a[2]) ? 0 : 2)
                                     : (fabs(a[1]) <= fabs(a[2]) ? 1 : 2);
    double e[3] = { k == 0, k == 1, k == 2 };
    double3_cross(a, e, out);
    double scale = 1.0 / sqrt(double3_dot(out, out));
    for (int i = 0; i < 3; i++) out[i] *= scale;
}

/// Orthonormal left vectors of orthogonal, sorted columns b; s[2] signed.
static void left_vectors(double b[3][3], double left[3][3], double *s)
{
    s[0] = sqrt(double3_dot(b[0], b[0]));
    s[1] = sqrt(double3_dot(b[1], b[1]));
    for (int i = 0; i < 3; i++) left[0][i] = s[0] > 0.0 ? b[0][i] / s[0] : (i == 0);
    double along = double3_dot(left[0], b[1]), rest[3];
    for (int i = 0; i < 3; i++) rest[i] = b[1][i] - along * left[0][i];
    double length = sqrt(double3_dot(rest, rest));
    if (length > 1e-150 && length > 1e-14 * s[0])
        for (int i = 0; i < 3; i++) left[1][i] = rest[i] / length;
    else
        perpendicular(left[0], left[1]);
    double3_cross(left[0], left[1], left[2]);
    s[2] = double3_dot(left[2], b[2]);
}

void cutis_svd3(const double *a, double *u, double *s, double *v)
{
    double largest = 0.0;
    for (int i = 0; i < 9; i++) largest = fabs(a[i]) > largest ? fabs(a[i]) : largest;
    double scale =
        largest > 0.0 ? 1.0 / largest : 0.0;        // so that squares neither overflow nor vanish
    if (largest > 0.0 && isinf(scale)) scale = 0.0; // subnormal data counts as zero
    double b[3][3], right[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, left[3][3];
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) b[c][r] = a[3 * r + c] * scale;
    bool moved = true;
    for (int sweep = 0; sweep < SWEEPS && moved; sweep++) {
        moved = orthogonalise(b, right, 0, 1);
        moved |= orthogonalise(b, right, 0, 2);
        moved |= orthogonalise(b, right, 1, 2);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (double3_dot(b[j], b[j]) < double3_dot(b[j + 1], b[j + 1])) {
                swap_columns(b, j, j + 1);
                swap_columns(right, j, j + 1);
            }
    left_vectors(b, left, s);
    for (int k = 0; k < 3; k++) {
        s[k] *= largest;
        for (int r = 0; r < 3; r++) u[3 * r + k] = left[k][r], v[3 * r + k] = right[k][r];
    }
}

/// Newton's iteration X <- (g X + X^{-T} / g) / 2 for det > 0. @return false if it did not settle
static bool newton_polar(const double *a, double *rotation)
{
    double x[9], cofactor[9];
    memcpy(x, a, sizeof x);
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double33_cofactor(x, cofactor);
        double determinant = double3_dot(x, cofactor);
        double g = sqrt(sqrt(double33_square(cofactor) / double33_square(x)) / determinant);
        double near = 0.5 * g, far = 0.5 / (g * determinant), change = 0.0;
        for (int i = 0; i < 9; i++) {
            double next = near * x[i] + far * cofactor[i];
            change += (next - x[i]) * (next - x[i]);
            x[i] = next;
        }
        if (change < 1e-18) { // quadratic: the next change would be 1e-18 itself
            memcpy(rotation, x, sizeof x);
            return true;
        }
    }
    return false;
}

bool cutis_polar3(const double *a, double *rotation)
{
    double sign = double33_determinant(a) < 0.0 ? -1.0 : 1.0, x[9];
    double square = double33_square(a), length = sqrt(square / 3.0);
    if (length > 1e-100 && length < 1e100) {
        for (int i = 0; i < 9; i++) x[i] = sign * a[i] / length;
        if (double33_determinant(x) > NEWTON_SAFE && newton_polar(x, rotation)) return true;
    }
    double u[9], s[3], v[9];
    for (int i = 0; i < 9; i++) x[i] = sign * a[i];
    cutis_svd3(x, u, s, v);
    if (!(s[0] > 0.0) || s[1] < DEGENERATE * s[0]) return false;
    double33_multiply_transpose(u, v, rotation);
    return true;
}
