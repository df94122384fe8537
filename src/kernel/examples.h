/// Kernel text: joint weights of one vertex from the normal equations of its examples: a ridge
/// towards the prior, the principal joints one by one (docs/spec/pose-space.md 6).
///
/// Invariant: weights are not negative, sum to one, and depend on this vertex alone. Arrays are
/// those of one work item; NNLS_MAX candidates at most.
#ifndef CUTIS_KERNEL_EXAMPLES_H
#define CUTIS_KERNEL_EXAMPLES_H

#include "nnls.h"

// Weights below this are not worth an influence (docs/spec/pose-space.md 6.2).
#define EXAMPLES_WEIGHT_MIN 1e-3
// The pull to the prior, of the mean diagonal (docs/spec/pose-space.md 6). Solved twice, the second
// time towards the first solution: what the examples determine then keeps no trace of the prior,
// (1e-8 / lambda)^2, and what they leave open keeps all of it.
#define EXAMPLES_RIDGE 1e-8
// A direction whose pivot is smaller against the diagonal is open: places are floats, so squares
// are known to 1e-13 or so.
#define EXAMPLES_OPEN 1e-10
#define EXAMPLES_HUGE 1.7976931348623157e308

typedef struct examples_equations {
    int n, normalise; // normalise: the sum is made one afterwards
    double mu;        // the ridge
    double *g, *h;    // g with the ridge; h without
    double *part;     // scratch: n * n
    const double *prior;
} examples_equations;

// Does the matrix (differences to its first joint) leave a direction open? `a` is overwritten.
NNLS_PROC int examples_open(int n, const double *g, double *a)
{
    int m = n - 1;
    double largest = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j <= i; j++)
            a[i * m + j] = (g[(i + 1) * n + j + 1] - g[(i + 1) * n]) - (g[j + 1] - g[0]);
    for (int i = 0; i < m; i++) largest = a[i * m + i] > largest ? a[i * m + i] : largest;
    for (int i = 0; i < m; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i * m + j];
            for (int k = 0; k < j; k++) sum -= a[i * m + k] * a[j * m + k];
            if (j == i && !(sum > EXAMPLES_OPEN * largest)) return 1;
            a[i * m + j] = j == i ? ROOT(sum) : sum / a[j * m + j];
        }
    return 0;
}

// The ridge on g. @return do the examples leave a direction open?
NNLS_PROC int examples_ridge(examples_equations *q)
{
    double trace = 0;
    int open = q->n > 1 && examples_open(q->n, q->g, q->part);
    for (int i = 0; i < q->n; i++) trace += q->g[i * q->n + i];
    q->mu = EXAMPLES_RIDGE * trace / q->n;
    if (!(q->mu > 0)) q->mu = 1; // every joint leaves it where it should be: the prior alone
    for (int i = 0; i < q->n; i++) q->g[i * q->n + i] += q->mu;
    return open;
}

// Solve on a subset of the candidates; w per entry of the subset. Returns the objective.
NNLS_PROC double examples_subset(const examples_equations *q, int count, const int *subset,
                                 double *w)
{
    double h[NNLS_MAX], pull[NNLS_MAX], value = 0;
    for (int i = 0; i < count; i++) {
        pull[i] = q->prior[subset[i]];
        for (int j = 0; j < count; j++) q->part[i * count + j] = q->g[subset[i] * q->n + subset[j]];
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count; i++) h[i] = q->h[subset[i]] + q->mu * pull[i];
        nnls_run(count, q->part, h, !q->normalise, w);
        for (int i = 0; i < count; i++) pull[i] = w[i];
    }
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int j = 0; j < count; j++) sum += q->part[i * count + j] * w[j];
        value += w[i] * (sum - q->mu * w[i] - 2 * q->h[subset[i]]);
    }
    return value;
}

NNLS_PROC int examples_without(const int *subset, int count, int place, int *out)
{
    for (int i = 0, at = 0; i < count; i++)
        if (i != place) out[at++] = subset[i];
    return count - 1;
}

// Entries worth keeping, in order; at least the largest.
NNLS_PROC int examples_worthy(int *subset, double *w, int count)
{
    int kept = 0, largest = 0;
    for (int i = 1; i < count; i++)
        if (w[i] > w[largest]) largest = i;
    for (int i = 0; i < count; i++) {
        if (w[i] < EXAMPLES_WEIGHT_MIN && i != largest) continue;
        subset[kept] = subset[i];
        w[kept++] = w[i];
    }
    return kept;
}

// One joint after the other, always the one that is missed least (docs/spec/pose-space.md 6.2).
NNLS_PROC int examples_remove(const examples_equations *q, int *subset, double *w, int count,
                              int influences)
{
    int fewer[NNLS_MAX];
    double trial[NNLS_MAX];
    while (count > influences) {
        int best = 0;
        double least = EXAMPLES_HUGE;
        for (int i = 0; i < count; i++) {
            examples_without(subset, count, i, fewer);
            double value = examples_subset(q, count - 1, fewer, trial);
            if (value < least) {
                least = value;
                best = i;
            }
        }
        count = examples_without(subset, count, best, fewer);
        for (int i = 0; i < count; i++) subset[i] = fewer[i];
        examples_subset(q, count, subset, w);
        count = examples_worthy(subset, w, count);
    }
    return count;
}

// The whole: candidates kept and their weights. @param discarded of the unlimited solution, on
// joints not kept; @return how many are kept
NNLS_PROC int examples_weights(const examples_equations *q, int influences, int *candidate,
                               double *weight, double *discarded)
{
    int subset[NNLS_MAX];
    double w[NNLS_MAX], full[NNLS_MAX], sum = 0, full_sum = 0, kept = 0;
    int n = q->n, kept_count = 0;
    subset[0] = 0; // compilers cannot see that n is not 0
    for (int j = 0; j < n; j++) subset[j] = j;
    examples_subset(q, n, subset, w);
    for (int j = 0; j < n; j++) full[j] = w[j];
    int count = examples_worthy(subset, w, n);
    count = examples_remove(q, subset, w, count, influences);
    examples_subset(q, count, subset, w);
    for (int i = 0; i < count; i++) sum += w[i];
    for (int i = 0; i < count; i++) {
        if (!(w[i] > 0) && sum > 0) continue;
        candidate[kept_count] = subset[i];
        weight[kept_count++] = sum > 0 ? w[i] / sum : 1.0 / count;
        kept += full[subset[i]];
    }
    for (int j = 0; j < n; j++) full_sum += full[j];
    double left = full_sum > 0 ? 1 - kept / full_sum : 0;
    *discarded = left > 0 ? left : 0;
    return kept_count;
}

#endif
