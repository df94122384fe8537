/// Kernel text: active sets for non-negative least squares in Gram form, plain and with the sum
/// fixed to one, in double, on arrays of one work item.
///
/// Invariant: every iterate is feasible, and the order of steps depends on the numbers alone (ties
/// go to the lowest index), so equal problems have equal bits on every device. Defined by the file
/// that includes it: NNLS_MAX, the most unknowns.
#ifndef CUTIS_KERNEL_NNLS_H
#define CUTIS_KERNEL_NNLS_H

#include "item.h"

#ifdef KERNEL_CUDA
#define NNLS_PROC static __device__
#elif defined(KERNEL_OPENCL)
#define NNLS_PROC static
#else
#define NNLS_PROC static __attribute__((unused))
#endif

// A pivot this small against its own diagonal is rounding: the column depends on the others.
#define NNLS_PIVOT   1e-13
#define NNLS_EPSILON 2.2204460492503131e-16

// The unknowns that are free, in the order they were freed.
typedef struct nnls_set {
    int count, index[NNLS_MAX];
    char held[NNLS_MAX];    // in the set
    char blocked[NNLS_MAX]; // tried in this outer step and refused
} nnls_set;

// What counts as zero in a gradient.
NNLS_PROC double nnls_tolerance(int n, const double *g)
{
    double largest = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int l = 0; l < n; l++) sum += MAGNITUDE(g[j * n + l]);
        largest = sum > largest ? sum : largest;
    }
    return 10 * NNLS_EPSILON * largest * n;
}

// Solve the symmetric system a x = b in place; the lower triangle of a (row-major m x m) is
// overwritten. 0: a pivot is rounding.
NNLS_PROC int nnls_solve(int m, double *a, double *b)
{
    for (int i = 0; i < m; i++) {
        double *row = a + i * m, diagonal = row[i];
        for (int j = 0; j <= i; j++) {
            const double *other = a + j * m;
            double sum = row[j];
            for (int k = 0; k < j; k++) sum -= row[k] * other[k];
            if (j < i) {
                row[j] = sum / other[j];
            } else {
                if (!(sum > NNLS_PIVOT * diagonal)) return 0;
                row[i] = ROOT(sum);
            }
        }
    }
    for (int i = 0; i < m; i++) {
        for (int k = 0; k < i; k++) b[i] -= a[i * m + k] * b[k];
        b[i] /= a[i * m + i];
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int k = i + 1; k < m; k++) b[i] -= a[k * m + i] * b[k];
        b[i] /= a[i * m + i];
    }
    return 1;
}

NNLS_PROC int nnls_solve_plain(int n, const double *g, const double *h, const nnls_set *set,
                               double *s)
{
    double a[NNLS_MAX * NNLS_MAX];
    int m = set->count;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j <= i; j++) a[i * m + j] = g[set->index[i] * n + set->index[j]];
        s[i] = h[set->index[i]];
    }
    return nnls_solve(m, a, s);
}

// With the sum fixed the first free unknown is one minus the others. Its column is taken from
// theirs, so that an exact fit, where G itself is singular on the free set, is as good as any.
NNLS_PROC int nnls_solve_unit(int n, const double *g, const double *h, const nnls_set *set,
                              double *s)
{
    double a[NNLS_MAX * NNLS_MAX], b[NNLS_MAX];
    int m = set->count - 1, p = set->index[0];
    double gpp = g[p * n + p];
    for (int i = 0; i < m; i++) {
        int row = set->index[i + 1];
        double gip = g[row * n + p];
        for (int j = 0; j <= i; j++) {
            int column = set->index[j + 1];
            a[i * m + j] = (g[row * n + column] - gip) - (g[p * n + column] - gpp);
        }
        b[i] = (h[row] - h[p]) - (gip - gpp);
    }
    if (!nnls_solve(m, a, b)) return 0;
    s[0] = 1;
    for (int i = 0; i < m; i++) {
        s[i + 1] = b[i];
        s[0] -= b[i];
    }
    return 1;
}

NNLS_PROC void nnls_drop(nnls_set *set, int place)
{
    set->held[set->index[place]] = 0;
    set->count--;
    for (int i = place; i < set->count; i++) set->index[i] = set->index[i + 1];
}

// Go from w towards the solution s on the free set until an unknown reaches zero; unfree those that
// do.
NNLS_PROC void nnls_step_back(nnls_set *set, const double *s, double *w)
{
    double alpha = 1;
    int worst = 0;
    for (int i = 0; i < set->count; i++) {
        double from = w[set->index[i]];
        if (s[i] > 0 || from / (from - s[i]) >= alpha) continue;
        alpha = from / (from - s[i]);
        worst = i;
    }
    for (int i = 0; i < set->count; i++) {
        double entry = w[set->index[i]];
        entry += alpha * (s[i] - entry);
        if (i == worst || (s[i] <= 0 && entry <= NNLS_EPSILON)) entry = -1;
        w[set->index[i]] = entry;
    }
    for (int i = set->count - 1; i >= 0; i--) {
        if (w[set->index[i]] >= 0) continue;
        w[set->index[i]] = 0;
        nnls_drop(set, i);
    }
}

// Solve on the free set, with fewer unknowns until all are positive. `newest`: the unknown that has
// just been freed. 0: it had to be refused, and everything is as before.
NNLS_PROC int nnls_settle(int n, const double *g, const double *h, int unit, nnls_set *set,
                          double *w)
{
    double s[NNLS_MAX];
    for (int first = 1;; first = 0) {
        int solved = unit ? nnls_solve_unit(n, g, h, set, s) : nnls_solve_plain(n, g, h, set, s);
        if (first && (!solved || s[set->count - 1] <= 0)) {
            nnls_drop(set, set->count - 1);
            return 0;
        }
        if (!solved) return 1; // what w holds is feasible
        int positive = 1;
        for (int i = 0; i < set->count; i++) positive = positive && s[i] > 0;
        if (positive) break;
        nnls_step_back(set, s, w);
        if (!set->count) return 1;
    }
    for (int i = 0; i < set->count; i++) w[set->index[i]] = s[i];
    return 1;
}

// The bound unknown whose freeing gains most; n if none gains.
NNLS_PROC int nnls_best_bound(int n, const double *g, const double *h, const nnls_set *set,
                              const double *w, int unit, double tolerance)
{
    double y[NNLS_MAX], mu = 0, most = tolerance;
    for (int j = 0; j < n; j++) {
        double sum = h[j];
        for (int i = 0; i < set->count; i++) sum -= g[j * n + set->index[i]] * w[set->index[i]];
        y[j] = sum;
    }
    // y has n entries, at most n are in the set.
    for (int i = 0; unit && i < set->count; i++) mu += w[set->index[i]] * y[set->index[i]];
    int best = n;
    for (int j = 0; j < n; j++) {
        if (set->held[j] || set->blocked[j] || !(y[j] - mu > most)) continue;
        most = y[j] - mu;
        best = j;
    }
    return best;
}

// Minimise 1/2 w^T G w - h^T w over w >= 0, `unit`: with sum w = 1. 0: the guard of 10 n + 10
// steps stopped it; w is feasible nevertheless.
NNLS_PROC int nnls_run(int n, const double *g, const double *h, int unit, double *w)
{
    nnls_set set;
    double tolerance = nnls_tolerance(n, g);
    set.count = 0;
    for (int j = 0; j < n; j++) {
        set.held[j] = 0;
        set.blocked[j] = 0;
        w[j] = 0;
    }
    if (unit) { // from the best vertex of the simplex
        int best = 0;
        for (int j = 1; j < n; j++)
            if (0.5 * g[j * n + j] - h[j] < 0.5 * g[best * n + best] - h[best]) best = j;
        set.index[set.count++] = best;
        set.held[best] = 1;
        w[best] = 1;
    }
    for (int step = 0; step < 10 * n + 10; step++) {
        int next = nnls_best_bound(n, g, h, &set, w, unit, tolerance);
        if (next == n) return 1;
        set.index[set.count++] = next;
        set.held[next] = 1;
        if (nnls_settle(n, g, h, unit, &set, w))
            for (int j = 0; j < n; j++) set.blocked[j] = 0;
        else
            set.blocked[next] = 1;
    }
    return 0;
}

#endif
