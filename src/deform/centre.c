/// Rotation centres of bone sets: the closed normal equations N y = g - N c0, solved in double.
///
/// Three quick ways need no eigenvectors: nothing turns (rank 0), all directions are well above the
/// cut (plain solve), one direction is clearly below it (solve in the plane across the axis). They
/// give what the eigen-decomposition gives, and what is close to the cut takes that. Invariant:
/// same input, same bits; the distance from the reference never exceeds the limit.
#include "deform/binding.h"
#include "math/eigen3.h"
#include "math/mat3.h"

// 1e-3 bounds a singular value of the stacked system: about 1e-3 rad between two bones. Below it
// the centre is noise, and moving it by one unit moves the vertex by only 1e-7 (blending spec 4.3).
// Squared: eigenvalues of N.
static const double CUT = 1e-6;
// The quick ways keep this factor from the cut on either side, far more than rounding can move an
// eigenvalue.
static const double MARGIN = 2.0;
// Third eigenvalue below this part of the second: two steps of inverse iteration give the axis to
// 1e-18.
static const double AXIS_CLEAR = 1e-6;

// Condition from which the plain solve is refined once.
static const double STIFF = 1e-2;

typedef struct normal_equations {
    double n[6]; ///< xx xy xz yy yz zz
    double h[3]; ///< g - N c0
    double cut;
} normal_equations;

/// n += a^T a and h -= a^T (a c + b) for one difference of matrices (row-major 3x4: linear part a,
/// translation b). The reference c goes in here: a c + b is small where g and N c0 are both large.
static inline void add_square(double *n, double *h, const double *d, const double *c)
{
    for (int r = 0; r < 3; r++) {
        const double *a = d + 4 * r;
        double b = a[0] * c[0] + a[1] * c[1] + a[2] * c[2] + a[3];
        n[0] += a[0] * a[0], n[1] += a[0] * a[1], n[2] += a[0] * a[2];
        n[3] += a[1] * a[1], n[4] += a[1] * a[2], n[5] += a[2] * a[2];
        h[0] -= a[0] * b, h[1] -= a[1] * b, h[2] -= a[2] * b;
    }
}

static inline double linear_square(const double *m)
{
    return (double3_dot(m, m) + double3_dot(m + 4, m + 4)) + double3_dot(m + 8, m + 8);
}

static inline void symmetric_vector(const double *n, const double *v, double *out)
{
    double x = n[0] * v[0] + n[1] * v[1] + n[2] * v[2];
    double y = n[1] * v[0] + n[3] * v[1] + n[4] * v[2];
    double z = n[2] * v[0] + n[4] * v[1] + n[5] * v[2];
    out[0] = x, out[1] = y, out[2] = z;
}

double cutis_centre_system(const double *palette, const uint32_t *bones, uint32_t count,
                           const double *reference, double *n, double *h)
{
    double d[12], square = 0.0;
    memset(n, 0, 6 * sizeof *n);
    memset(h, 0, 3 * sizeof *h);
    if (count == 2) {
        const double *a = palette + 12 * (size_t)bones[0], *b = palette + 12 * (size_t)bones[1];
        for (int i = 0; i < 12; i++) d[i] = a[i] - b[i];
        add_square(n, h, d, reference);
        return (linear_square(a) + linear_square(b)) / 6.0;
    }
    double mean[12] = { 0 }, share = 1.0 / count;
    for (uint32_t s = 0; s < count; s++) {
        const double *m = palette + 12 * (size_t)bones[s];
        for (int i = 0; i < 12; i++) mean[i] += m[i];
        square += linear_square(m);
    }
    for (int i = 0; i < 12; i++) mean[i] *= share;
    for (uint32_t s = 0; s < count; s++) {
        const double *m = palette + 12 * (size_t)bones[s];
        for (int i = 0; i < 12; i++) d[i] = m[i] - mean[i];
        add_square(n, h, d, reference);
    }
    for (int i = 0; i < 6; i++) n[i] *= count;
    for (int i = 0; i < 3; i++) h[i] *= count;
    return square / (3.0 * count);
}

/// Solve a positive definite system by L D L^T.
static void solve_definite(const double *n, const double *h, double *y)
{
    double inverse0 = 1.0 / n[0];
    double l10 = n[1] * inverse0, l20 = n[2] * inverse0;
    double inverse1 = 1.0 / (n[3] - l10 * n[1]);
    double d21 = n[4] - l20 * n[1], l21 = d21 * inverse1;
    double inverse2 = 1.0 / (n[5] - l20 * n[2] - l21 * d21);
    double z1 = h[1] - l10 * h[0];
    double z2 = h[2] - l20 * h[0] - l21 * z1;
    y[2] = z2 * inverse2;
    y[1] = z1 * inverse1 - l21 * y[2];
    y[0] = h[0] * inverse0 - l10 * y[1] - l20 * y[2];
}

/// Rank 2: leave out the axis (the eigenvector of the vanishing eigenvalue) and solve across it.
static void solve_across_axis(const normal_equations *e, const double *adjugate, double trace,
                              double *y)
{
    const double *a = adjugate;
    double axis[3], n[6], h[3];
    if (a[0] >= a[3] && a[0] >= a[5])
        axis[0] = a[0], axis[1] = a[1], axis[2] = a[2];
    else if (a[3] >= a[5])
        axis[0] = a[1], axis[1] = a[3], axis[2] = a[4];
    else
        axis[0] = a[2], axis[1] = a[4], axis[2] = a[5];
    for (int step = 0; step < 3; step++) {
        if (step > 0) symmetric_vector(a, axis, axis);
        double scale = 1.0 / sqrt(double3_dot(axis, axis));
        for (int i = 0; i < 3; i++) axis[i] *= scale;
    }
    double along = double3_dot(axis, e->h);
    for (int i = 0; i < 3; i++) h[i] = e->h[i] - along * axis[i];
    n[0] = e->n[0] + trace * axis[0] * axis[0];
    n[1] = e->n[1] + trace * axis[0] * axis[1];
    n[2] = e->n[2] + trace * axis[0] * axis[2];
    n[3] = e->n[3] + trace * axis[1] * axis[1];
    n[4] = e->n[4] + trace * axis[1] * axis[2];
    n[5] = e->n[5] + trace * axis[2] * axis[2];
    solve_definite(n, h, y);
    along = double3_dot(axis, y);
    for (int i = 0; i < 3; i++) y[i] -= along * axis[i];
}

/// The eigen-decomposition with its cut; the smallest kept direction is dropped while y is beyond
/// the limit.
static void solve_by_eigenvectors(const normal_equations *e, double limit, double *y)
{
    double values[3], vectors[9];
    cutis_eigen3(e->n, values, vectors);
    int kept = 0;
    while (kept < 3 && values[kept] > e->cut && values[kept] > 0.0) kept++;
    for (;; kept--) {
        y[0] = y[1] = y[2] = 0.0;
        for (int k = 0; k < kept; k++) {
            double part = double3_dot(vectors + 3 * k, e->h) / values[k];
            for (int i = 0; i < 3; i++) y[i] += part * vectors[3 * k + i];
        }
        if (kept == 0 || double3_dot(y, y) <= limit * limit) return;
    }
}

/// One step with the residual taken from the matrices themselves: squaring them into N lost half
/// the digits.
static void refine(const double *palette, const uint32_t *bones, uint32_t count,
                   const double *reference, const double *n, double *y)
{
    double at[3], same[6], residual[3], step[3];
    for (int i = 0; i < 3; i++) at[i] = reference[i] + y[i];
    cutis_centre_system(palette, bones, count, at, same, residual);
    solve_definite(n, residual, step);
    for (int i = 0; i < 3; i++) y[i] += step[i];
}

void cutis_centre_solve(const double *palette, const uint32_t *bones, uint32_t count,
                        const double *reference, double limit, double *centre)
{
    normal_equations e;
    e.cut = CUT * cutis_centre_system(palette, bones, count, reference, e.n, e.h);
    const double *n = e.n;
    double y[3] = { 0 }, trace = n[0] + n[3] + n[5];
    if (trace > e.cut) {
        double a[6] = { n[3] * n[5] - n[4] * n[4], n[2] * n[4] - n[1] * n[5],
                        n[1] * n[4] - n[2] * n[3], n[0] * n[5] - n[2] * n[2],
                        n[1] * n[2] - n[0] * n[4], n[0] * n[3] - n[1] * n[1] };
        double minors = a[0] + a[3] + a[5];                           // l1 l2 + l1 l3 + l2 l3
        double determinant = n[0] * a[0] + n[1] * a[1] + n[2] * a[2]; // l1 l2 l3
        double third_above = 4.0 * determinant / (trace * trace);     // <= l3
        double second_above = minors / (3.0 * trace);                 // <= l2
        double third_below = 3.0 * fabs(determinant) / minors;        // >= l3
        if (third_above > MARGIN * e.cut) {
            solve_definite(n, e.h, y);
            if (third_above < STIFF * trace) refine(palette, bones, count, reference, n, y);
        } else if (second_above > MARGIN * e.cut && MARGIN * third_below < e.cut &&
                   third_below < AXIS_CLEAR * second_above)
            solve_across_axis(&e, a, trace, y);
        else
            solve_by_eigenvectors(&e, limit, y);
        if (!(double3_dot(y, y) <= limit * limit)) solve_by_eigenvectors(&e, limit, y);
    }
    for (int i = 0; i < 3; i++) centre[i] = reference[i] + y[i];
}
