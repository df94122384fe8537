/// Signs of determinants without rounding. The double result decides where it is larger than its
/// error bound (Shewchuk 1997, of this formula); else the determinant is written out as a sum of
/// products of floats, each an exact pair of doubles, and summed as an expansion. Floats are far
/// from the ends of double's range, so nothing overflows or is lost below it.
#include "measure/predicates.h"

#include <math.h>

// (7 + 56 u) u and (3 + 16 u) u with u = 2^-53: the error of the double formulas over the sum of
// the absolute values of their terms.
static const double SPACE_BOUND = 7.771561172376103e-16, PLANE_BOUND = 3.3306690738754716e-16;

// A sum of doubles kept exactly: non-overlapping, ascending. 6 * 4 * 2 terms at most.
typedef struct expansion {
    double part[48];
    int count;
} expansion;

static void add(expansion *e, double term)
{
    double sum = term;
    int kept = 0;
    for (int i = 0; i < e->count; i++) {
        double x = sum + e->part[i], b = x - sum;
        double low = (sum - (x - b)) + (e->part[i] - b);
        if (low != 0) e->part[kept++] = low;
        sum = x;
    }
    if (sum != 0) e->part[kept++] = sum;
    e->count = kept;
}

static int sign_of(const expansion *e)
{
    if (e->count == 0) return 0;
    return e->part[e->count - 1] > 0 ? 1 : -1;
}

// x y z of floats: x y is exact in double, times z an exact pair.
static void add_product(expansion *e, double x, double y, double z)
{
    double xy = x * y, high = xy * z;
    add(e, fma(xy, z, -high));
    add(e, high);
}

// sign * p . (q x r)
static void add_determinant(expansion *e, double sign, const float *p, const float *q,
                            const float *r)
{
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        add_product(e, sign * p[k], q[i], r[j]);
        add_product(e, -sign * p[k], q[j], r[i]);
    }
}

int cutis_side_of_plane(const float *a, const float *b, const float *c, const float *d)
{
    double x[3], y[3], z[3], sum = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = (double)a[k] - d[k];
        y[k] = (double)b[k] - d[k];
        z[k] = (double)c[k] - d[k];
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double p = y[i] * z[j], q = y[j] * z[i];
        sum += x[k] * (p - q);
        size += fabs(x[k]) * (fabs(p) + fabs(q));
    }
    if (fabs(sum) > SPACE_BOUND * size) return sum > 0 ? 1 : -1;
    expansion e = { .count = 0 };
    add_determinant(&e, 1, a, b, c);
    add_determinant(&e, -1, b, c, d);
    add_determinant(&e, 1, a, c, d);
    add_determinant(&e, -1, a, b, d);
    return sign_of(&e);
}

int cutis_side_of_line(const float *a, const float *b, const float *c, int axis)
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    double p = ((double)a[u] - c[u]) * ((double)b[v] - c[v]);
    double q = ((double)a[v] - c[v]) * ((double)b[u] - c[u]);
    if (fabs(p - q) > PLANE_BOUND * (fabs(p) + fabs(q))) return p > q ? 1 : -1;
    const float *way[4] = { a, b, c, a };
    expansion e = { .count = 0 };
    for (int k = 0; k < 3; k++) {
        add(&e, (double)way[k][u] * way[k + 1][v]);
        add(&e, -(double)way[k][v] * way[k + 1][u]);
    }
    return sign_of(&e);
}

int cutis_area_axis(const float *const t[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (cutis_side_of_line(t[0], t[1], t[2], axis) != 0) return axis;
    return -1;
}
