/// The small solves of weight reduction in double, on arrays of one vertex: minimise
/// a^T G a - 2 h^T a with sum a = 1, and a >= 0 unless negative weights are allowed.
///
/// Invariant: every sum runs in ascending index order and ties go to the lower index, so the result
/// is a function of the numbers alone, on every device. Defined by the including file: REDUCE_SET
/// (most controls a vertex keeps).
#ifndef CUTIS_KERNEL_REDUCE_SOLVE_H
#define CUTIS_KERNEL_REDUCE_SOLVE_H

#include "item.h"

// Long functions. On CUDA they are put into the kernels: NVRTC was seen to make wrong code of calls
// that take arrays of the work item (docs/design/reduction.md).
#ifdef KERNEL_CUDA
#define PROC FN
#elif defined(KERNEL_OPENCL)
#define PROC static
#else
#define PROC static __attribute__((unused))
#endif

#define REDUCE_ITERATIONS 50 // of active sets
// A multiplier this far below zero (relative to the system's size) asks for its control; nearer is
// rounding.
#define REDUCE_TINY 1e-10
#define REDUCE_MOST 1.7976931348623157e308

// Add mu I and mu * reference: mu = relative * trace / n.
FN void reduce_regularise(int n, double *gram, double *right, double relative,
                          const double *reference)
{
    double trace = 0;
    for (int i = 0; i < n; i++) trace += gram[i * n + i];
    double mu = relative * trace / n;
    for (int i = 0; i < n; i++) {
        gram[i * n + i] += mu;
        right[i] += mu * reference[i];
    }
}

// Cholesky in place, of the lower triangle. 0: a pivot is not positive.
PROC int reduce_factor(int n, double *a)
{
    for (int j = 0; j < n; j++) {
        double pivot = a[j * n + j];
        for (int k = 0; k < j; k++) pivot -= a[j * n + k] * a[j * n + k];
        if (!(pivot > 0.0) || pivot > REDUCE_MOST) return 0;
        pivot = ROOT(pivot);
        a[j * n + j] = pivot;
        for (int i = j + 1; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = sum / pivot;
        }
    }
    return 1;
}
PROC void reduce_substitute(int n, const double *a, double *b)
{
    for (int i = 0; i < n; i++) {
        double sum = b[i];
        for (int k = 0; k < i; k++) sum -= a[i * n + k] * b[k];
        b[i] = sum / a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = b[i];
        for (int k = i + 1; k < n; k++) sum -= a[k * n + i] * b[k];
        b[i] = sum / a[i * n + i];
    }
}

// The equality problem on the controls of `list`. 0: singular.
PROC int reduce_equality(int n, const double *gram, const double *right, const int *list, int count,
                         double *weight, double *multiplier)
{
    double factor[REDUCE_SET * REDUCE_SET], ones[REDUCE_SET];
    if (count < 1) return 0;
    for (int r = 0; r < count; r++)
        for (int c = 0; c <= r; c++) factor[r * count + c] = gram[list[r] * n + list[c]];
    if (!reduce_factor(count, factor)) return 0;
    for (int r = 0; r < count; r++) {
        weight[r] = right[list[r]];
        ones[r] = 1;
    }
    reduce_substitute(count, factor, weight);
    reduce_substitute(count, factor, ones);
    double sum = 0, one_sum = 0;
    for (int r = 0; r < count; r++) {
        sum += weight[r];
        one_sum += ones[r];
    }
    double nu = (1 - sum) / one_sum;
    for (int r = 0; r < count; r++) weight[r] += nu * ones[r];
    *multiplier = nu;
    return nu - nu == 0; // finite
}

// The control off the list whose multiplier is most negative; n if none is.
PROC int reduce_most_wanted(int n, const double *gram, const double *right, const double *weight,
                            const int *active, double nu)
{
    double largest = 0, trace = 0;
    for (int i = 0; i < n; i++) {
        double size = MAGNITUDE(right[i]);
        if (size > largest) largest = size;
        trace += gram[i * n + i];
    }
    double scale = trace / n > largest ? trace / n : largest;
    double worst = -REDUCE_TINY * scale;
    int found = n;
    for (int i = 0; i < n; i++) {
        if (active[i]) continue;
        double z = -right[i] - nu;
        for (int j = 0; j < n; j++) z += gram[i * n + j] * weight[j];
        if (z < worst) {
            worst = z;
            found = i;
        }
    }
    return found;
}

// Go from the current weights towards the solution on the list, as far as the first bound. 1: all
// the way.
PROC int reduce_step(double *weight, const int *list, int count, const double *solution,
                     int *active)
{
    double alpha = 1;
    int bound = count;
    for (int r = 0; r < count; r++) {
        double old = weight[list[r]];
        if (solution[r] > 0) continue;
        double step = old / (old - solution[r]);
        if (!(step >= 0)) step = 0; // old and new both zero
        if (step < alpha || bound == count) {
            alpha = step < alpha ? step : alpha;
            bound = r;
        }
    }
    for (int r = 0; r < count; r++) {
        double w = weight[list[r]];
        double moved = w + alpha * (solution[r] - w);
        if (!(moved > 0)) moved = 0;
        weight[list[r]] = bound == count ? solution[r] : moved;
    }
    if (bound == count) return 1;
    weight[list[bound]] = 0;
    active[list[bound]] = 0;
    return 0;
}

PROC void reduce_bounded(int n, const double *gram, const double *right, double *weight)
{
    int active[REDUCE_SET], list[REDUCE_SET];
    double solution[REDUCE_SET], nu = 0;
    for (int i = 0; i < n; i++) active[i] = weight[i] > 0;
    for (int iteration = 0; iteration < REDUCE_ITERATIONS; iteration++) {
        int count = 0;
        for (int i = 0; i < n; i++)
            if (active[i]) list[count++] = i;
        if (!reduce_equality(n, gram, right, list, count, solution, &nu)) return;
        if (!reduce_step(weight, list, count, solution, active)) continue;
        int wanted = reduce_most_wanted(n, gram, right, weight, active, nu);
        if (wanted == n) return;
        active[wanted] = 1;
    }
}

// In: where to start (sum 1, feasible). A singular system leaves the weights as they were.
PROC void reduce_solve(int n, const double *gram, const double *right, double *weight, int negative)
{
    if (n < 2) {
        weight[0] = 1;
        return;
    }
    if (!negative) {
        reduce_bounded(n, gram, right, weight);
    } else {
        int list[REDUCE_SET];
        double solution[REDUCE_SET], nu = 0;
        for (int i = 0; i < n; i++) list[i] = i;
        if (reduce_equality(n, gram, right, list, n, solution, &nu))
            for (int i = 0; i < n; i++) weight[i] = solution[i];
    }
    // The sum is 1 by construction; this takes the last rounding out of it.
    double sum = 0;
    for (int i = 0; i < n; i++) sum += weight[i];
    for (int i = 0; i < n; i++) weight[i] /= sum;
}

#endif
