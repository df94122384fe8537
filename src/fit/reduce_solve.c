// The local solver: equality by Cholesky and one multiplier, bounds by an active set, influence
// sets by backward elimination. Invariant: every sum runs in ascending index order and ties go to
// the lower index, so the result is a function of the numbers alone.
#include "fit/reduce_solve.h"

#include <math.h>
#include <string.h>

#include "fit/reduce_clones.h"
#include "math/cholesky.h"

enum { ITERATIONS = 50 };

// A multiplier this far below zero (relative to the system's size) asks for its control; nearer is
// rounding.
static const double MULTIPLIER_TOLERANCE = 1e-10;

void cutis_reduce_regularise(cutis_reduce_local *local, double relative, const double *reference)
{
    const uint32_t n = local->count;
    double trace = 0;
    for (uint32_t i = 0; i < n; i++) trace += local->gram[i * n + i];
    double mu = relative * trace / n;
    for (uint32_t i = 0; i < n; i++) {
        local->gram[i * n + i] += mu;
        local->right[i] += mu * reference[i];
    }
}

// The equality problem on the controls of `list`. false: singular.
static bool solve_equality(const cutis_reduce_local *local, const uint32_t *list, uint32_t count,
                           double *weight, double *multiplier)
{
    double factor[CUTIS_REDUCE_SET * CUTIS_REDUCE_SET], ones[CUTIS_REDUCE_SET];
    const uint32_t n = local->count;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t c = 0; c <= r; c++)
            factor[r * count + c] = local->gram[list[r] * n + list[c]];
    if (!cutis_cholesky_factor(count, factor)) return false;
    for (uint32_t r = 0; r < count; r++) {
        weight[r] = local->right[list[r]];
        ones[r] = 1;
    }
    cutis_cholesky_solve(count, factor, weight);
    cutis_cholesky_solve(count, factor, ones);
    double sum = 0, one_sum = 0;
    for (uint32_t r = 0; r < count; r++) sum += weight[r], one_sum += ones[r];
    double nu = (1 - sum) / one_sum;
    for (uint32_t r = 0; r < count; r++) weight[r] += nu * ones[r];
    *multiplier = nu;
    return isfinite(nu);
}

// The control off the list whose multiplier is most negative; n if none is. `weight` is dense.
static uint32_t most_wanted(const cutis_reduce_local *local, const bool *active, double nu)
{
    const uint32_t n = local->count;
    double largest = 0, trace = 0, worst;
    for (uint32_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(local->right[i]));
        trace += local->gram[i * n + i];
    }
    worst = -MULTIPLIER_TOLERANCE * fmax(largest, trace / n);
    uint32_t found = n;
    for (uint32_t i = 0; i < n; i++) {
        if (active[i]) continue;
        double z = -local->right[i] - nu;
        for (uint32_t j = 0; j < n; j++) z += local->gram[i * n + j] * local->weight[j];
        if (z < worst) worst = z, found = i;
    }
    return found;
}

// Go from the current weights towards the solution on the list, as far as the first bound. true:
// all the way.
static bool step_to(cutis_reduce_local *local, const uint32_t *list, uint32_t count,
                    const double *solution, bool *active)
{
    double alpha = 1;
    uint32_t bound = count;
    for (uint32_t r = 0; r < count; r++) {
        double old = local->weight[list[r]];
        if (solution[r] > 0) continue;
        double step = old / (old - solution[r]);
        if (!(step >= 0)) step = 0; // old and new both zero
        if (step < alpha || bound == count) alpha = fmin(alpha, step), bound = r;
    }
    for (uint32_t r = 0; r < count; r++) {
        double *w = &local->weight[list[r]];
        *w = bound == count ? solution[r] : fmax(0, *w + alpha * (solution[r] - *w));
    }
    if (bound == count) return true;
    local->weight[list[bound]] = 0;
    active[list[bound]] = false;
    return false;
}

static void solve_bounded(cutis_reduce_local *local)
{
    const uint32_t n = local->count;
    bool active[CUTIS_REDUCE_SET];
    uint32_t list[CUTIS_REDUCE_SET];
    double solution[CUTIS_REDUCE_SET], nu;
    for (uint32_t i = 0; i < n; i++) active[i] = local->weight[i] > 0;
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < n; i++)
            if (active[i]) list[count++] = i;
        if (count == 0 || !solve_equality(local, list, count, solution, &nu)) return;
        if (!step_to(local, list, count, solution, active)) continue;
        uint32_t wanted = most_wanted(local, active, nu);
        if (wanted == n) return;
        active[wanted] = true;
    }
}

void cutis_reduce_solve(cutis_reduce_local *local, bool negative)
{
    if (local->count == 1) {
        local->weight[0] = 1;
        return;
    }
    if (!negative) {
        solve_bounded(local);
    } else {
        uint32_t list[CUTIS_REDUCE_SET];
        double solution[CUTIS_REDUCE_SET], nu;
        for (uint32_t i = 0; i < local->count; i++) list[i] = i;
        if (solve_equality(local, list, local->count, solution, &nu))
            memcpy(local->weight, solution, local->count * sizeof *solution);
    }
    // The sum is 1 by construction; this takes the last rounding out of it.
    double sum = 0;
    for (uint32_t i = 0; i < local->count; i++) sum += local->weight[i];
    for (uint32_t i = 0; i < local->count; i++) local->weight[i] /= sum;
}

// Inverse of a positive definite matrix in place, by Gauss and Jordan: rows are long enough for
// vectors, and the pull has made the matrix well conditioned. false: a pivot is not positive.
CUTIS_REDUCE_CLONES
static bool invert(uint32_t n, double *a)
{
    double row[CUTIS_REDUCE_CANDIDATES];
    for (uint32_t p = 0; p < n; p++) {
        double pivot = a[p * n + p];
        if (!(pivot > 0) || !(pivot < INFINITY)) return false;
        for (uint32_t c = 0; c < n; c++) row[c] = a[p * n + c] / pivot;
        row[p] = 1 / pivot;
        for (uint32_t r = 0; r < n; r++) {
            double *restrict out = a + r * n, factor = out[p];
            if (r == p) continue;
            out[p] = 0;
            for (uint32_t c = 0; c < n; c++) out[c] -= factor * row[c];
        }
        for (uint32_t c = 0; c < n; c++) a[p * n + c] = row[c];
    }
    return true;
}

// K = G^-1 - g1 g1^T / (1 . g1), and the weights with sum 1. false: singular.
static bool eliminate_start(const cutis_reduce_local *local, double *k, double *a)
{
    const uint32_t n = local->count;
    double g1[CUTIS_REDUCE_CANDIDATES], one_sum = 0, sum = 0;
    memcpy(k, local->gram, (size_t)n * n * sizeof *k);
    if (!invert(n, k)) return false;
    for (uint32_t r = 0; r < n; r++) {
        g1[r] = a[r] = 0;
        for (uint32_t c = 0; c < n; c++) {
            g1[r] += k[r * n + c];
            a[r] += k[r * n + c] * local->right[c];
        }
        one_sum += g1[r];
        sum += a[r];
    }
    for (uint32_t r = 0; r < n; r++) {
        double share = g1[r] / one_sum;
        for (uint32_t c = 0; c < n; c++) k[r * n + c] -= share * g1[c];
        a[r] += (1 - sum) * share;
    }
    return true;
}

// The candidate whose removal costs least; with bounds first one that is not positive.
static uint32_t cheapest(uint32_t n, const bool *out, const double *k, const double *a,
                         bool negative)
{
    double least = INFINITY;
    uint32_t found = n;
    for (uint32_t i = 0; i < n; i++) {
        if (out[i]) continue;
        double diagonal = k[i * n + i];
        // A diagonal that rounding has eaten belongs to a control that others replace exactly.
        double cost = diagonal > 0 ? a[i] * a[i] / diagonal : 0;
        if (!negative && a[i] <= 0) cost = -1 + a[i];
        if (found == n || cost < least) least = cost, found = i;
    }
    return found;
}

CUTIS_REDUCE_CLONES
void cutis_reduce_eliminate(cutis_reduce_local *local, uint32_t keep, bool negative, uint32_t *kept)
{
    const uint32_t n = local->count;
    double k[CUTIS_REDUCE_CANDIDATES * CUTIS_REDUCE_CANDIDATES], a[CUTIS_REDUCE_CANDIDATES];
    bool out[CUTIS_REDUCE_CANDIDATES] = { false };
    if (!eliminate_start(local, k, a)) { // no motion at all: the largest will do
        memset(k, 0, sizeof k);
        memcpy(a, local->weight, n * sizeof *a);
        for (uint32_t i = 0; i < n; i++) k[i * n + i] = 1;
    }
    for (uint32_t left = n; left > keep; left--) {
        uint32_t i = cheapest(n, out, k, a, negative);
        double pivot = k[i * n + i], share = pivot > 0 ? 1 / pivot : 0,
               column[CUTIS_REDUCE_CANDIDATES];
        out[i] = true;
        for (uint32_t r = 0; r < n; r++) column[r] = k[r * n + i];
        double removed = a[i] * share;
        for (uint32_t r = 0; r < n; r++) {
            if (out[r]) continue;
            a[r] -= column[r] * removed;
            double factor = column[r] * share;
            for (uint32_t c = 0; c < n; c++) k[r * n + c] -= factor * column[c];
        }
    }
    for (uint32_t i = 0, used = 0; i < n; i++)
        if (!out[i]) kept[used++] = i;
}
