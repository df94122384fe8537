// Active sets for non-negative least squares. Invariant: every iterate is feasible, and the order
// of steps depends on the numbers alone (ties go to the lowest index), so equal problems have equal
// bits.
#include "fit/nnls.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A pivot this small against its own diagonal is rounding: the column depends on the others.
static const double PIVOT = 1e-13;

// The unknowns that are free, in the order they were freed.
typedef struct free_set {
    uint32_t count, index[CUTIS_NNLS_MAX];
    bool held[CUTIS_NNLS_MAX];    ///< in the set
    bool blocked[CUTIS_NNLS_MAX]; ///< tried in this outer step and refused
} free_set;

double cutis_nnls_tolerance(uint32_t n, const double *g)
{
    double largest = 0;
    for (uint32_t j = 0; j < n; j++) {
        double sum = 0;
        for (uint32_t l = 0; l < n; l++) sum += fabs(g[j * n + l]);
        largest = fmax(largest, sum);
    }
    return 10 * DBL_EPSILON * largest * n;
}

// Solve the symmetric system a x = b in place; the lower triangle of a (row-major m x m) is spoilt.
// false: a pivot is rounding.
static bool solve(uint32_t m, double *a, double *b)
{
    for (uint32_t i = 0; i < m; i++) {
        double *row = a + (size_t)i * m, diagonal = row[i];
        for (uint32_t j = 0; j <= i; j++) {
            const double *other = a + (size_t)j * m;
            double sum = row[j];
            for (uint32_t k = 0; k < j; k++) sum -= row[k] * other[k];
            if (j < i) {
                row[j] = sum / other[j];
            } else {
                if (!(sum > PIVOT * diagonal)) return false;
                row[i] = sqrt(sum);
            }
        }
    }
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t k = 0; k < i; k++) b[i] -= a[(size_t)i * m + k] * b[k];
        b[i] /= a[(size_t)i * m + i];
    }
    for (uint32_t i = m; i-- > 0;) {
        for (uint32_t k = i + 1; k < m; k++) b[i] -= a[(size_t)k * m + i] * b[k];
        b[i] /= a[(size_t)i * m + i];
    }
    return true;
}

static bool solve_plain(uint32_t n, const double *g, const double *h, const free_set *set,
                        double *s)
{
    double a[CUTIS_NNLS_MAX * CUTIS_NNLS_MAX];
    uint32_t m = set->count;
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t j = 0; j <= i; j++)
            a[(size_t)i * m + j] = g[(size_t)set->index[i] * n + set->index[j]];
        s[i] = h[set->index[i]];
    }
    return solve(m, a, s);
}

// With the sum fixed the first free unknown is one minus the others. Its column is taken from
// theirs, so that an exact fit, where G itself is singular on the free set, is as good as any.
static bool solve_unit(uint32_t n, const double *g, const double *h, const free_set *set, double *s)
{
    double a[CUTIS_NNLS_MAX * CUTIS_NNLS_MAX], b[CUTIS_NNLS_MAX];
    const uint32_t m = set->count - 1, p = set->index[0];
    const double gpp = g[(size_t)p * n + p];
    for (uint32_t i = 0; i < m; i++) {
        uint32_t row = set->index[i + 1];
        double gip = g[(size_t)row * n + p];
        for (uint32_t j = 0; j <= i; j++) {
            uint32_t column = set->index[j + 1];
            a[(size_t)i * m + j] =
                (g[(size_t)row * n + column] - gip) - (g[(size_t)p * n + column] - gpp);
        }
        b[i] = (h[row] - h[p]) - (gip - gpp);
    }
    if (!solve(m, a, b)) return false;
    s[0] = 1;
    for (uint32_t i = 0; i < m; i++) {
        s[i + 1] = b[i];
        s[0] -= b[i];
    }
    return true;
}

static void drop(free_set *set, uint32_t place)
{
    set->held[set->index[place]] = false;
    set->count--;
    memmove(set->index + place, set->index + place + 1, (set->count - place) * sizeof *set->index);
}

// Go from w towards the solution s on the free set until an unknown reaches zero; unfree those that
// do.
static void step_back(free_set *set, const double *s, double *w)
{
    double alpha = 1;
    uint32_t worst = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        double from = w[set->index[i]];
        if (s[i] > 0 || from / (from - s[i]) >= alpha) continue;
        alpha = from / (from - s[i]);
        worst = i;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        double *entry = &w[set->index[i]];
        *entry += alpha * (s[i] - *entry);
        if (i == worst || (s[i] <= 0 && *entry <= DBL_EPSILON)) *entry = -1;
    }
    for (uint32_t i = set->count; i-- > 0;) {
        if (w[set->index[i]] >= 0) continue;
        w[set->index[i]] = 0;
        drop(set, i);
    }
}

typedef bool (*inner_solve)(uint32_t n, const double *g, const double *h, const free_set *set,
                            double *s);

// Solve on the free set, with fewer unknowns until all are positive. `newest`: the unknown that has
// just been freed, or n. false: it had to be refused, and everything is as before.
static bool settle(uint32_t n, const double *g, const double *h, inner_solve inner, free_set *set,
                   uint32_t newest, double *w)
{
    double s[CUTIS_NNLS_MAX];
    for (bool first = newest < n;; first = false) {
        bool solved = inner(n, g, h, set, s);
        if (first && (!solved || s[set->count - 1] <= 0)) {
            drop(set, set->count - 1);
            return false;
        }
        if (!solved) return true; // what w holds is feasible
        bool positive = true;
        for (uint32_t i = 0; i < set->count; i++) positive = positive && s[i] > 0;
        if (positive) break;
        step_back(set, s, w);
        if (!set->count) return true;
    }
    for (uint32_t i = 0; i < set->count; i++) w[set->index[i]] = s[i];
    return true;
}

// The bound unknown whose freeing gains most; n if none gains.
static uint32_t best_bound(uint32_t n, const double *g, const double *h, const free_set *set,
                           const double *w, bool unit, double tolerance)
{
    double y[CUTIS_NNLS_MAX], mu = 0, most = tolerance;
    for (uint32_t j = 0; j < n; j++) {
        double sum = h[j];
        for (uint32_t i = 0; i < set->count; i++)
            sum -= g[(size_t)j * n + set->index[i]] * w[set->index[i]];
        y[j] = sum;
    }
    for (uint32_t i = 0; unit && i < set->count; i++) mu += w[set->index[i]] * y[set->index[i]];
    uint32_t best = n;
    for (uint32_t j = 0; j < n; j++) {
        if (set->held[j] || set->blocked[j] || !(y[j] - mu > most)) continue;
        most = y[j] - mu;
        best = j;
    }
    return best;
}

static bool run(uint32_t n, const double *g, const double *h, bool unit, free_set *set, double *w)
{
    const inner_solve inner = unit ? solve_unit : solve_plain;
    const double tolerance = cutis_nnls_tolerance(n, g);
    for (uint32_t step = 0; step < 10 * n + 10; step++) {
        uint32_t next = best_bound(n, g, h, set, w, unit, tolerance);
        if (next == n) return true;
        set->index[set->count++] = next;
        set->held[next] = true;
        if (settle(n, g, h, inner, set, next, w))
            memset(set->blocked, 0, sizeof set->blocked);
        else
            set->blocked[next] = true;
    }
    return false;
}

bool cutis_nnls(uint32_t n, const double *g, const double *h, double *w)
{
    free_set set = { 0 };
    memset(w, 0, n * sizeof *w);
    return run(n, g, h, false, &set, w);
}

bool cutis_nnls_unit(uint32_t n, const double *g, const double *h, double *w)
{
    free_set set = { .count = 1 };
    memset(w, 0, n * sizeof *w);
    for (uint32_t j = 1; j < n; j++) {
        uint32_t best = set.index[0];
        if (0.5 * g[(size_t)j * n + j] - h[j] < 0.5 * g[(size_t)best * n + best] - h[best])
            set.index[0] = j;
    }
    set.held[set.index[0]] = true;
    w[set.index[0]] = 1;
    return run(n, g, h, true, &set, w);
}
