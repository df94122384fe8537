/// Weights of one point on the simplex with few influences (docs/spec/bake.md 2), in double: what
/// the CPU's blocks of points and a GPU's work items both run.
///
/// Where a point's numbers lie differs: rows of Q in a task's memory on a CPU, entries made when
/// they are asked for on a GPU. So the file that includes this defines
///     BAKE_MOST                        influences and one more
///     BAKE_STATE                       fields of bake_solver of its own
///     BAKE_ENTRY(s, i, b)              Q of the support's bone i and a bone b
///     BAKE_DIAGONAL(s, b)              Q_bb
///     BAKE_CANDIDATE(s, k)             the k-th bone that the point may follow
///     BAKE_JOIN(s, i, b)               bone b is to be the support's i-th
///     BAKE_MOVE(s, i, from)            the support's bone `from` is to be its i-th
/// Invariant: the energy never rises, and the steps depend on the numbers alone.
#ifndef CUTIS_KERNEL_BAKE_H
#define CUTIS_KERNEL_BAKE_H

#include "item.h"

#ifdef KERNEL_CUDA
#define BAKE_PROC static __device__ __forceinline__
#elif defined(KERNEL_OPENCL)
#define BAKE_PROC static
#else
#define BAKE_PROC static __attribute__((unused))
#endif

#define BAKE_TRIED 6 // bones tried in one sweep, best first
#define BAKE_HUGE  1.7976931348623157e308

STRUCT(bake_solver)
{
    int limit;           // influences of the point
    int candidate_count; // bones that it may follow
    int count;           // of the support
    int bone[BAKE_MOST];
    double weight[BAKE_MOST], energy;
    BAKE_STATE
};

// Part of a support: which of its bones, and their weights.
STRUCT(bake_support)
{
    int count, keep[BAKE_MOST];
    double weight[BAKE_MOST], energy;
};

// (Q + 1e-12 tr Q) x = 1 on the bones `keep`: two that move alike share. 0: a pivot is rounding.
// Wherever n is a constant the loops and arrays dissolve.
FN int bake_ones(const int n, const double *q, const int *keep, double *x)
{
    double a[BAKE_MOST * BAKE_MOST], trace = 0;
    for (int i = 0; i < n; i++) trace += q[keep[i] * BAKE_MOST + keep[i]];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) a[i * BAKE_MOST + j] = q[keep[i] * BAKE_MOST + keep[j]];
        a[i * BAKE_MOST + i] += 1e-12 * trace;
        x[i] = 1;
    }
    for (int j = 0; j < n; j++) {
        double pivot = a[j * BAKE_MOST + j];
        for (int k = 0; k < j; k++) pivot -= a[j * BAKE_MOST + k] * a[j * BAKE_MOST + k];
        if (!(pivot > 0.0) || pivot > BAKE_HUGE) return 0;
        pivot = ROOT(pivot);
        a[j * BAKE_MOST + j] = pivot;
        for (int i = j + 1; i < n; i++) {
            double sum = a[i * BAKE_MOST + j];
            for (int k = 0; k < j; k++) sum -= a[i * BAKE_MOST + k] * a[j * BAKE_MOST + k];
            a[i * BAKE_MOST + j] = sum / pivot;
        }
    }
    for (int i = 0; i < n; i++) {
        double sum = x[i];
        for (int k = 0; k < i; k++) sum -= a[i * BAKE_MOST + k] * x[k];
        x[i] = sum / a[i * BAKE_MOST + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = x[i];
        for (int k = i + 1; k < n; k++) sum -= a[k * BAKE_MOST + i] * x[k];
        x[i] = sum / a[i * BAKE_MOST + i];
    }
    return 1;
}

// Least w^T Q w on the bones `keep` of a support: those whose weights are not positive leave.
BAKE_PROC void bake_simplex(const double *q, bake_support *s)
{
    while (s->count > 1) {
        double x[BAKE_MOST], sum = 0;
        const int count = s->count;
        int worst = count, good;
        if (count == 4)
            good = bake_ones(4, q, s->keep, x);
        else if (count == 3)
            good = bake_ones(3, q, s->keep, x);
        else if (count == 5 && BAKE_MOST >= 5)
            good = bake_ones(5, q, s->keep, x);
        else if (count == 2)
            good = bake_ones(2, q, s->keep, x);
        else
            good = bake_ones(count, q, s->keep, x);
        if (good) {
            for (int i = 0; i < count; i++) sum += x[i];
            double least = 1e-6 * sum;
            for (int i = 0; i < count; i++)
                if (x[i] < least) {
                    least = x[i];
                    worst = i;
                }
        } else {
            worst = count - 1;
        }
        if (worst == count) {
            for (int i = 0; i < count; i++) s->weight[i] = x[i] / sum;
            break;
        }
        s->count = count - 1;
        for (int i = worst; i < s->count; i++) s->keep[i] = s->keep[i + 1];
    }
    if (s->count == 1) s->weight[0] = 1;
    s->energy = 0;
    for (int i = 0; i < s->count; i++) {
        double g = 0;
        for (int j = 0; j < s->count; j++)
            g += q[s->keep[i] * BAKE_MOST + s->keep[j]] * s->weight[j];
        s->energy += s->weight[i] * g;
    }
}

// Q of the support and, unless it is negative, one more bone. Returns how many they are.
BAKE_PROC int bake_gather(const bake_solver *s, int more, double *q)
{
    const int n = s->count;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) q[i * BAKE_MOST + j] = BAKE_ENTRY(s, i, s->bone[j]);
        if (more >= 0) {
            const double entry = BAKE_ENTRY(s, i, more);
            q[i * BAKE_MOST + n] = entry;
            q[n * BAKE_MOST + i] = entry;
        }
    }
    if (more < 0) return n;
    q[n * BAKE_MOST + n] = BAKE_DIAGONAL(s, more);
    return n + 1;
}

// Of n bones all, or all but one.
BAKE_PROC void bake_without(int n, int out, bake_support *t)
{
    t->count = 0;
    for (int i = 0; i < n; i++)
        if (i != out) t->keep[t->count++] = i;
}

// The support and one more bone; where that is one too many, the best without one of the old.
BAKE_PROC void bake_try(const bake_solver *s, int bone, bake_support *best)
{
    double q[BAKE_MOST * BAKE_MOST];
    const int n = bake_gather(s, bone, q);
    best->energy = BAKE_HUGE;
    best->count = 0;
    for (int out = -1; out + 1 < n; out++) { // never the new one
        bake_support one;
        bake_without(n, out, &one);
        bake_simplex(q, &one);
        if (out >= 0 && !(one.energy < best->energy)) continue;
        if (out >= 0 || one.count <= s->limit) *best = one;
        if (out < 0 && one.count <= s->limit) break;
    }
}

// Take a support over: what is known of its bones is there but for the last one's.
BAKE_PROC void bake_take(bake_solver *s, const bake_support *t, int bone)
{
    const int before = s->count;
    for (int i = 0; i < t->count; i++) {
        const int from = t->keep[i];
        if (from == before) {
            BAKE_JOIN(s, i, bone);
            s->bone[i] = bone;
        } else {
            if (from != i) BAKE_MOVE(s, i, from);
            s->bone[i] = s->bone[from];
        }
        s->weight[i] = t->weight[i];
    }
    s->count = t->count;
    s->energy = t->energy;
}

// Candidates by what a step towards them alone gains. Returns how many, best first.
BAKE_PROC int bake_rank(const bake_solver *s, int *best)
{
    double gains[BAKE_TRIED];
    int found = 0;
    for (int k = 0; k < s->candidate_count; k++) {
        const int b = BAKE_CANDIDATE(s, k);
        double g = 0;
        int there = 0;
        for (int i = 0; i < s->count; i++) {
            g += s->weight[i] * BAKE_ENTRY(s, i, b);
            there |= s->bone[i] == b;
        }
        const double slope = s->energy - g, bend = BAKE_DIAGONAL(s, b) - 2 * g + s->energy;
        if (there || !(slope > 1e-9 * s->energy) || !(bend > 0)) continue;
        const double gain = slope * slope / bend;
        int at = found < BAKE_TRIED ? found++ : BAKE_TRIED;
        for (; at > 0 && gain > gains[at - 1]; at--)
            if (at < BAKE_TRIED) {
                gains[at] = gains[at - 1];
                best[at] = best[at - 1];
            }
        if (at < BAKE_TRIED) {
            gains[at] = gain;
            best[at] = b;
        }
    }
    return found;
}

// The whole of a point: from its support, or from the best bone alone.
BAKE_PROC void bake_point(bake_solver *s, int sweeps)
{
    double q[BAKE_MOST * BAKE_MOST];
    bake_support t;
    if (s->count == 0) {
        int first = BAKE_CANDIDATE(s, 0);
        for (int k = 1; k < s->candidate_count; k++)
            if (BAKE_DIAGONAL(s, BAKE_CANDIDATE(s, k)) < BAKE_DIAGONAL(s, first))
                first = BAKE_CANDIDATE(s, k);
        s->bone[s->count++] = first;
    }
    for (int i = 0; i < s->count; i++) BAKE_JOIN(s, i, s->bone[i]);
    bake_without(bake_gather(s, -1, q), -1, &t);
    bake_simplex(q, &t);
    bake_take(s, &t, 0);
    for (int sweep = 0; sweep < sweeps; sweep++) {
        int best[BAKE_TRIED];
        const int found = bake_rank(s, best);
        int better = 0;
        for (int k = 0; k < found && !better; k++) {
            bake_try(s, best[k], &t);
            better = t.energy < s->energy * (1 - 1e-7);
            if (better) bake_take(s, &t, best[k]);
        }
        if (!better) break;
    }
}

// What the energy would rise by without a bone of the support.
BAKE_PROC void bake_losses(const bake_solver *s, GLOBAL double *loss)
{
    double q[BAKE_MOST * BAKE_MOST];
    const int n = bake_gather(s, -1, q);
    for (int out = 0; out < n; out++) {
        bake_support t;
        bake_without(n, out, &t);
        if (n > 1) bake_simplex(q, &t);
        if (n == 1) t.energy = BAKE_HUGE;
        for (int k = 0; n == 1 && k < s->candidate_count; k++)
            if (BAKE_CANDIDATE(s, k) != s->bone[0] &&
                BAKE_DIAGONAL(s, BAKE_CANDIDATE(s, k)) < t.energy)
                t.energy = BAKE_DIAGONAL(s, BAKE_CANDIDATE(s, k));
        loss[out] = t.energy - s->energy;
    }
}

#endif
