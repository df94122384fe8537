// Weights of one vertex from examples. Invariant: weights are non-negative and sum to one, and
// depend on this vertex alone, so any number of threads gives the same bits.
#include "fit/examples_weights.h"

#include <math.h>
#include <string.h>

#include "math/mat3.h"
#include "math/svd3.h"

// Weights below this are not worth an influence (spec 6.2).
static const double WEIGHT_MIN = 1e-3;
// The pull to the prior, of the mean diagonal (spec 6). Solved twice, the second time towards the
// first solution: what the examples determine then keeps no trace of the prior, (1e-8 / lambda)^2,
// and what they leave open keeps all of it.
static const double RIDGE = 1e-8;
// A direction whose pivot is smaller against the diagonal is open: places are floats, so squares
// are known to 1e-13 or so.
static const double OPEN = 1e-10;
// Singular values of a blended matrix below this, for joints that turn, are damped (spec 3).
static const double SINGULAR = 0.05;

typedef struct normal_equations {
    uint32_t n;
    double *g, *h;  ///< with the ridge
    double *g_part; ///< scratch: the same on a subset
    const double *prior;
    double mu; ///< the ridge
    bool normalise;
} normal_equations;

uint64_t cutis_example_scratch(uint32_t joint_count, uint32_t example_count)
{
    uint64_t n = joint_count;
    return 2 * n * n + n + 3 * n * example_count;
}

// Columns of the candidates, one after the other: where each would take the vertex, about its place
// (or, to normalise afterwards, about the world's origin as the paper has it).
static void fill_columns(const cutis_example_vertex *v, bool normalise, double *columns)
{
    for (uint32_t e = 0; e < v->example_count; e++) {
        const double *palette = v->palettes + 12 * (size_t)e * v->palette_count;
        const double *place = v->places + 3 * (size_t)e;
        for (uint32_t j = 0; j < v->joint_count; j++) {
            double *to = columns + 3 * ((size_t)j * v->example_count + e);
            double34_point(palette + 12 * (size_t)v->joint[j], v->rest, to);
            for (int c = 0; c < 3 && !normalise; c++) to[c] -= place[c];
        }
    }
}

static double dot(const double *a, const double *b, uint32_t count)
{
    // Four sums: the order is fixed, and the machine need not wait for each addition.
    double s[4] = { 0 };
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (uint32_t l = 0; l < 4; l++) s[l] += a[i + l] * b[i + l];
    for (; i < count; i++) s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

// Does the matrix (differences to its first joint) leave a direction open? `a` is spoilt.
static bool is_open(uint32_t n, const double *g, double *a)
{
    uint32_t m = n - 1;
    double largest = 0;
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j <= i; j++)
            a[i * m + j] = (g[(i + 1) * n + j + 1] - g[(i + 1) * n]) - (g[j + 1] - g[0]);
    for (uint32_t i = 0; i < m; i++) largest = fmax(largest, a[i * m + i]);
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double sum = a[i * m + j];
            for (uint32_t k = 0; k < j; k++) sum -= a[i * m + k] * a[j * m + k];
            if (j == i && !(sum > OPEN * largest)) return true;
            a[i * m + j] = j == i ? sqrt(sum) : sum / a[j * m + j];
        }
    return false;
}

static void make_equations(const cutis_example_vertex *v, normal_equations *q, double *columns,
                           bool *open)
{
    const uint32_t n = q->n, rows = 3 * v->example_count;
    double trace = 0;
    fill_columns(v, q->normalise, columns);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++)
            q->g[i * n + j] = q->g[j * n + i] =
                dot(columns + (size_t)i * rows, columns + (size_t)j * rows, rows);
    *open = n > 1 && is_open(n, q->g, q->g_part);
    for (uint32_t i = 0; i < n; i++) trace += q->g[i * n + i];
    q->mu = RIDGE * trace / n;
    if (!(q->mu > 0)) q->mu = 1; // every joint leaves it where it should be: the prior alone
    for (uint32_t i = 0; i < n; i++) {
        q->g[i * n + i] += q->mu;
        q->h[i] = q->normalise ? dot(columns + (size_t)i * rows, v->places, rows) : 0;
    }
}

// Solve on a subset of the candidates; w per entry of the subset. Returns the objective.
static double solve_subset(const normal_equations *q, uint32_t count, const uint32_t *subset,
                           double *w)
{
    double h[CUTIS_NNLS_MAX], pull[CUTIS_NNLS_MAX], value = 0;
    for (uint32_t i = 0; i < count; i++) {
        pull[i] = q->prior[subset[i]];
        for (uint32_t j = 0; j < count; j++)
            q->g_part[i * count + j] = q->g[subset[i] * q->n + subset[j]];
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) h[i] = q->h[subset[i]] + q->mu * pull[i];
        if (q->normalise)
            cutis_nnls(count, q->g_part, h, w);
        else
            cutis_nnls_unit(count, q->g_part, h, w);
        memcpy(pull, w, count * sizeof *w);
    }
    for (uint32_t i = 0; i < count; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < count; j++) sum += q->g_part[i * count + j] * w[j];
        value += w[i] * (sum - q->mu * w[i] - 2 * q->h[subset[i]]);
    }
    return value;
}

static uint32_t without(const uint32_t *subset, uint32_t count, uint32_t place, uint32_t *out)
{
    for (uint32_t i = 0, at = 0; i < count; i++)
        if (i != place) out[at++] = subset[i];
    return count - 1;
}

// Entries worth keeping, in order; at least the largest.
static uint32_t keep_worthy(uint32_t *subset, double *w, uint32_t count)
{
    uint32_t kept = 0, largest = 0;
    for (uint32_t i = 1; i < count; i++)
        if (w[i] > w[largest]) largest = i;
    for (uint32_t i = 0; i < count; i++) {
        if (w[i] < WEIGHT_MIN && i != largest) continue;
        subset[kept] = subset[i];
        w[kept++] = w[i];
    }
    return kept;
}

// One joint after the other, always the one that is missed least (spec 6.2).
static uint32_t remove_joints(const normal_equations *q, uint32_t *subset, double *w,
                              uint32_t count, uint32_t influences)
{
    uint32_t fewer[CUTIS_NNLS_MAX];
    double trial[CUTIS_NNLS_MAX];
    while (count > influences) {
        uint32_t best = 0;
        double least = INFINITY;
        for (uint32_t i = 0; i < count; i++) {
            without(subset, count, i, fewer);
            double value = solve_subset(q, count - 1, fewer, trial);
            if (value < least) least = value, best = i;
        }
        count = without(subset, count, best, fewer);
        memcpy(subset, fewer, count * sizeof *subset);
        solve_subset(q, count, subset, w);
        count = keep_worthy(subset, w, count);
    }
    return count;
}

void cutis_example_solve(const cutis_example_vertex *v, uint32_t influences, bool normalise,
                         double *scratch, cutis_example_weights *out)
{
    const uint32_t n = v->joint_count;
    uint32_t subset[CUTIS_NNLS_MAX];
    double w[CUTIS_NNLS_MAX], full[CUTIS_NNLS_MAX], sum = 0, full_sum = 0, kept = 0;
    normal_equations q = { .n = n,
                           .g = scratch,
                           .h = scratch + 2 * (size_t)n * n,
                           .g_part = scratch + (size_t)n * n,
                           .prior = v->prior,
                           .normalise = normalise };
    make_equations(v, &q, scratch + 2 * (size_t)n * n + n, &out->deficient);
    for (uint32_t j = 0; j < n; j++) subset[j] = j;
    solve_subset(&q, n, subset, w);
    memcpy(full, w, n * sizeof *w);
    uint32_t count = keep_worthy(subset, w, n);
    count = remove_joints(&q, subset, w, count, influences);
    solve_subset(&q, count, subset, w);
    out->count = 0;
    for (uint32_t i = 0; i < count; i++) sum += w[i];
    for (uint32_t i = 0; i < count; i++) {
        if (!(w[i] > 0) && sum > 0) continue;
        out->candidate[out->count] = subset[i];
        out->weight[out->count++] = sum > 0 ? w[i] / sum : 1.0 / count;
        kept += full[subset[i]];
    }
    for (uint32_t j = 0; j < n; j++) full_sum += full[j];
    out->discarded = full_sum > 0 ? fmax(0, 1 - kept / full_sum) : 0;
}

// L^-1, damped where a singular value is small. false if it was.
static bool invert_linear(const double *blend, double scale, double *inverse)
{
    double l[9], u[9], s[3], v[9], cofactors[9];
    double34_linear(blend, l);
    cutis_svd3(l, u, s, v);
    if (fabs(s[2]) >= SINGULAR * scale && fabs(s[2]) > 0) {
        double33_cofactor(l, cofactors);
        double determinant = double33_determinant(l);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) inverse[3 * r + c] = cofactors[3 * c + r] / determinant;
        return true;
    }
    double damping = SINGULAR * scale;
    memset(inverse, 0, 9 * sizeof *inverse);
    for (int k = 0; k < 3; k++) {
        double bottom = s[k] * s[k] + damping * damping;
        double reciprocal = bottom > 0 ? s[k] / bottom : 0;
        if (fabs(s[k]) >= damping && s[k] != 0) reciprocal = 1 / s[k];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                inverse[3 * r + c] += reciprocal * v[3 * r + k] * u[3 * c + k];
    }
    return false;
}

bool cutis_example_pull(const double *blend, double scale, const double *rest, const double *place,
                        double *displacement)
{
    double inverse[9], image[3], left[3];
    bool exact = invert_linear(blend, scale, inverse);
    double34_point(blend, rest, image);
    for (int c = 0; c < 3; c++) left[c] = place[c] - image[c];
    double33_vector(inverse, left, displacement);
    return exact;
}

void cutis_example_pull_normal(const double *blend, bool even, double scale, const double *normal,
                               double *out)
{
    double inverse[9];
    if (even) {
        invert_linear(blend, scale, inverse);
    } else {
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) inverse[3 * r + c] = blend[4 * c + r];
    }
    double33_vector(inverse, normal, out);
    double length = sqrt(double3_dot(out, out));
    for (int c = 0; c < 3; c++) out[c] = length > 0 ? out[c] / length : 0;
}
