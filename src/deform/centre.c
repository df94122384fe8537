/// Rotation centres of bone sets: the closed normal equations N y = h about the reference point, in
/// double, four sets of equal size at a time.
///
/// Three quick ways need no eigenvectors: nothing turns (rank 0), all directions are well above the
/// cut (plain solve), one direction is clearly below it (solve in the plane across the axis). They
/// give what the eigen-decomposition gives, and what is close to the cut takes that. Invariant: a
/// set's bits depend on its own bones only; the distance from the reference never exceeds the
/// limit.
#include "deform/centre.h"
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
static const double STIFF = 1e-4;

/// n += a^T a and h -= a^T (a c + b) for one difference of matrices (linear part a, translation b).
/// The reference c goes in here: a c + b is small where g and N c0 of the specification are both
/// large.
static inline void add_square(cutis_centre_systems *e, const double2 *d, const double2 *c)
{
    for (int r = 0; r < 3; r++) {
        double2 x = d[4 * r], y = d[4 * r + 1], z = d[4 * r + 2];
        double2 b = x * c[0] + y * c[1] + z * c[2] + d[4 * r + 3];
        e->n[0] += x * x, e->n[1] += x * y, e->n[2] += x * z;
        e->n[3] += y * y, e->n[4] += y * z, e->n[5] += z * z;
        e->h[0] -= x * b, e->h[1] -= y * b, e->h[2] -= z * b;
    }
}

/// Entry i of the matrices of two bones.
static inline double2 gather(const double *palette, const uint32_t *bones, int i)
{
    return (double2){ palette[12 * (size_t)bones[0] + i], palette[12 * (size_t)bones[1] + i] };
}

static inline void gather_matrix(const double *palette, const uint32_t *bones, double2 *m)
{
    for (int i = 0; i < 12; i++) m[i] = gather(palette, bones, i);
}

static inline void add_difference(cutis_centre_systems *e, const double2 *a, const double2 *b,
                                  const double2 *c)
{
    double2 d[12];
    for (int i = 0; i < 12; i++) d[i] = a[i] - b[i];
    add_square(e, d, c);
}

/// Two or three bones: the pairs themselves.
static void build_pairs(const double *palette, const uint32_t *bones, uint32_t count,
                        const double2 *c, cutis_centre_systems *e)
{
    double2 first[12], second[12], third[12];
    gather_matrix(palette, bones, first);
    gather_matrix(palette, bones + CUTIS_LANES, second);
    add_difference(e, first, second, c);
    if (count < 3) return;
    gather_matrix(palette, bones + 2 * CUTIS_LANES, third);
    add_difference(e, first, third, c);
    add_difference(e, second, third, c);
}

/// More: with D the differences from the first bone and D+ their sum, the sum over pairs of squares
/// is n sum D^T D - D+^T D+ (one walk; what cancels is at most a factor n).
static void build_from_first(const double *palette, const uint32_t *bones, uint32_t count,
                             const double2 *c, cutis_centre_systems *e)
{
    double2 first[12], d[12], sum[12];
    cutis_centre_systems whole;
    memset(&whole, 0, sizeof whole);
    memset(sum, 0, sizeof sum);
    gather_matrix(palette, bones, first);
    for (uint32_t s = 1; s < count; s++) {
        for (int i = 0; i < 12; i++) {
            d[i] = gather(palette, bones + CUTIS_LANES * s, i) - first[i];
            sum[i] += d[i];
        }
        add_square(e, d, c);
    }
    add_square(&whole, sum, c);
    for (int i = 0; i < 6; i++) e->n[i] = e->n[i] * (double)count - whole.n[i];
    for (int i = 0; i < 3; i++) e->h[i] = e->h[i] * (double)count - whole.h[i];
}

void cutis_centre_build(const double *palette, const double *squares, const uint32_t *bones,
                        uint32_t count, const double2 *c, cutis_centre_systems *e)
{
    memset(e, 0, sizeof *e);
    for (uint32_t s = 0; s < count; s++)
        e->square +=
            (double2){ squares[bones[CUTIS_LANES * s]], squares[bones[CUTIS_LANES * s + 1]] };
    e->square *= 1.0 / (3.0 * count);
    if (count <= 3)
        build_pairs(palette, bones, count, c, e);
    else
        build_from_first(palette, bones, count, c, e);
}

/// Positive definite systems by L D L^T.
static inline void solve_definite(const double2 *n, const double2 *h, double2 *y)
{
    double2 inverse0 = 1.0 / n[0];
    double2 l10 = n[1] * inverse0, l20 = n[2] * inverse0;
    double2 inverse1 = 1.0 / (n[3] - l10 * n[1]);
    double2 d21 = n[4] - l20 * n[1], l21 = d21 * inverse1;
    double2 inverse2 = 1.0 / (n[5] - l20 * n[2] - l21 * d21);
    double2 z1 = h[1] - l10 * h[0];
    double2 z2 = h[2] - l20 * h[0] - l21 * z1;
    y[2] = z2 * inverse2;
    y[1] = z1 * inverse1 - l21 * y[2];
    y[0] = h[0] * inverse0 - l10 * y[1] - l20 * y[2];
}

static inline void symmetric_vector(const double2 *n, double2 *v)
{
    double2 x = n[0] * v[0] + n[1] * v[1] + n[2] * v[2];
    double2 y = n[1] * v[0] + n[3] * v[1] + n[4] * v[2];
    double2 z = n[2] * v[0] + n[4] * v[1] + n[5] * v[2];
    v[0] = x, v[1] = y, v[2] = z;
}

/// Rank 2: leave out the axis (the eigenvector of the vanishing eigenvalue) and solve across it.
/// @param a adjugate of n, scaled to entries of at most 1
static void solve_across_axis(const cutis_centre_systems *e, const double2 *a, double2 trace,
                              double2 *y)
{
    integer2 first = (a[0] >= a[3]) & (a[0] >= a[5]), second = a[3] >= a[5];
    double2 axis[3], n[6], h[3];
    static const int COLUMN[3][3] = { { 0, 1, 2 }, { 1, 3, 4 }, { 2, 4, 5 } };
    for (int i = 0; i < 3; i++)
        axis[i] = double2_select(first, a[COLUMN[0][i]],
                                 double2_select(second, a[COLUMN[1][i]], a[COLUMN[2][i]]));
    symmetric_vector(a, axis);
    symmetric_vector(a, axis);
    double2 share = 1.0 / (axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double2 along = (axis[0] * e->h[0] + axis[1] * e->h[1] + axis[2] * e->h[2]) * share;
    for (int i = 0; i < 3; i++) h[i] = e->h[i] - along * axis[i];
    trace *= share; // the axis gets the eigenvalue `trace`
    n[0] = e->n[0] + trace * axis[0] * axis[0];
    n[1] = e->n[1] + trace * axis[0] * axis[1];
    n[2] = e->n[2] + trace * axis[0] * axis[2];
    n[3] = e->n[3] + trace * axis[1] * axis[1];
    n[4] = e->n[4] + trace * axis[1] * axis[2];
    n[5] = e->n[5] + trace * axis[2] * axis[2];
    solve_definite(n, h, y);
    along = (axis[0] * y[0] + axis[1] * y[1] + axis[2] * y[2]) * share;
    for (int i = 0; i < 3; i++) y[i] -= along * axis[i];
}

/// The eigen-decomposition with its cut; the smallest kept direction is dropped while y is beyond
/// the limit.
static void solve_by_eigenvectors(const cutis_centre_systems *e, int lane, double limit,
                                  double2 *out)
{
    double values[3], vectors[9], n[6], h[3], y[3], cut = CUT * e->square[lane];
    for (int i = 0; i < 6; i++) n[i] = e->n[i][lane];
    for (int i = 0; i < 3; i++) h[i] = e->h[i][lane];
    cutis_eigen3(n, values, vectors);
    int kept = 0;
    while (kept < 3 && values[kept] > cut && values[kept] > 0.0) kept++;
    for (;; kept--) {
        y[0] = y[1] = y[2] = 0.0;
        for (int k = 0; k < kept; k++) {
            double part = double3_dot(vectors + 3 * k, h) / values[k];
            for (int i = 0; i < 3; i++) y[i] += part * vectors[3 * k + i];
        }
        if (kept == 0 || double3_dot(y, y) <= limit * limit) break;
    }
    for (int i = 0; i < 3; i++) out[i][lane] = y[i];
}

/// One step with the residual taken from the matrices themselves: squaring them into N lost half
/// the digits.
static void refine(const double *palette, const double *squares, const uint32_t *bones,
                   uint32_t count, const double2 *c, const cutis_centre_systems *e, integer2 stiff,
                   double2 *y)
{
    cutis_centre_systems again;
    double2 at[3], step[3];
    for (int i = 0; i < 3; i++) at[i] = c[i] + y[i];
    cutis_centre_build(palette, squares, bones, count, at, &again);
    solve_definite(e->n, again.h, step);
    for (int i = 0; i < 3; i++) y[i] = double2_select(stiff, y[i] + step[i], y[i]);
}

void cutis_centre_solve(const double *palette, const double *squares, const uint32_t *bones,
                        uint32_t count, const double *reference, double limit, double *centres)
{
    cutis_centre_systems e;
    double2 c[3], y[3], other[3], a[6];
    for (int i = 0; i < 3; i++) c[i] = double2_load(reference + CUTIS_LANES * i);
    cutis_centre_build(palette, squares, bones, count, c, &e);
    const double2 *n = e.n;
    const double2 zero = double2_splat(0.0);
    double2 trace = n[0] + n[3] + n[5], cut = CUT * e.square;
    integer2 turns = trace > cut;
    // Entries and eigenvalues as parts of the trace, so that products neither overflow nor vanish.
    double2 part = 1.0 / double2_select(turns, trace, double2_splat(1.0));
    double2 xx = n[0] * part, xy = n[1] * part, xz = n[2] * part;
    double2 yy = n[3] * part, yz = n[4] * part, zz = n[5] * part;
    cut *= part;
    a[0] = yy * zz - yz * yz, a[1] = xz * yz - xy * zz, a[2] = xy * yz - xz * yy;
    a[3] = xx * zz - xz * xz, a[4] = xy * xz - xx * yz, a[5] = xx * yy - xy * xy;
    double2 minors = a[0] + a[3] + a[5];                     // l1 l2 + l1 l3 + l2 l3
    double2 determinant = xx * a[0] + xy * a[1] + xz * a[2]; // l1 l2 l3
    double2 third_above = 4.0 * determinant;                 // <= l3
    double2 second_above = minors * (1.0 / 3.0);             // <= l2
    double2 product = 3.0 * double2_abs(determinant);        // >= l3 * minors
    integer2 plain = turns & (third_above > MARGIN * cut);
    integer2 axial = turns & ~plain & (second_above > MARGIN * cut) &
                     (MARGIN * product < cut * minors) &
                     (product < AXIS_CLEAR * second_above * minors);
    for (int i = 0; i < 3; i++) y[i] = zero;
    if (integer2_any(plain)) {
        integer2 stiff = plain & (third_above < double2_splat(STIFF));
        solve_definite(n, e.h, other);
        if (integer2_any(stiff)) refine(palette, squares, bones, count, c, &e, stiff, other);
        for (int i = 0; i < 3; i++) y[i] = double2_select(plain, other[i], y[i]);
    }
    if (integer2_any(axial)) {
        solve_across_axis(&e, a, trace, other);
        for (int i = 0; i < 3; i++) y[i] = double2_select(axial, other[i], y[i]);
    }
    integer2 near = (y[0] * y[0] + y[1] * y[1] + y[2] * y[2]) <= double2_splat(limit * limit);
    integer2 open = turns & ~(near & (plain | axial));
    for (int lane = 0; lane < CUTIS_LANES && integer2_any(open); lane++)
        if (open[lane]) solve_by_eigenvectors(&e, lane, limit, y);
    for (int i = 0; i < 3; i++) double2_store(centres + CUTIS_LANES * i, c[i] + y[i]);
}
