// Weights of one vertex from examples. Invariant: weights are non-negative and sum to one, and
// depend on this vertex alone, so any number of threads gives the same bits.
#include "fit/poses/weights.h"

#include <math.h>
#include <string.h>

#define NNLS_MAX CUTIS_NNLS_MAX
#include "kernel/examples.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/svd3.h"

// Singular values of a blended matrix below this, for joints that turn, are damped
// (docs/spec/pose-space.md 3).
static const double SINGULAR = 0.05;

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
        const size_t at = v->example ? v->example[e] : e;
        const double *palette = v->palettes + 12 * at * v->palette_count;
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

void cutis_example_form(const cutis_example_vertex *v, bool normalise, double *columns, double *g,
                        double *h)
{
    const uint32_t n = v->joint_count, rows = 3 * v->example_count;
    fill_columns(v, normalise, columns);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j <= i; j++)
            g[i * n + j] = g[j * n + i] =
                dot(columns + (size_t)i * rows, columns + (size_t)j * rows, rows);
        h[i] = normalise ? dot(columns + (size_t)i * rows, v->places, rows) : 0;
    }
}

void cutis_example_random(const cutis_example_vertex *v, double *columns, double *g)
{
    const uint32_t n = v->joint_count;
    memset(g, 0, (size_t)n * n * sizeof *g);
    for (uint32_t k = 0; k < v->random_count; k++) {
        const double *palette = v->random + 12 * (size_t)k * v->palette_count;
        double own[3] = { 0 };
        for (uint32_t j = 0; j < n; j++) {
            double34_point(palette + 12 * (size_t)v->joint[j], v->rest, columns + 3 * (size_t)j);
            for (uint32_t c = 0; c < 3; c++) own[c] += v->prior[j] * columns[3 * j + c];
        }
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t c = 0; c < 3; c++) columns[3 * j + c] -= own[c];
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j <= i; j++)
                g[i * n + j] += double3_dot(columns + 3 * (size_t)i, columns + 3 * (size_t)j);
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            g[i * n + j] /= v->random_count ? v->random_count : 1;
            g[j * n + i] = g[i * n + j];
        }
}

void cutis_example_finish(const cutis_example_vertex *v, uint32_t influences, bool normalise,
                          double *g, double *h, double *part, cutis_example_weights *out)
{
    int candidate[CUTIS_NNLS_MAX];
    examples_equations q = { .n = (int)v->joint_count,
                             .normalise = normalise,
                             .g = g,
                             .h = h,
                             .part = part,
                             .prior = v->prior };
    out->deficient = examples_ridge(&q) != 0;
    out->count =
        (uint32_t)examples_weights(&q, (int)influences, candidate, out->weight, &out->discarded);
    for (uint32_t i = 0; i < out->count; i++) out->candidate[i] = (uint32_t)candidate[i];
}

void cutis_example_solve(const cutis_example_vertex *v, uint32_t influences, bool normalise,
                         double *scratch, cutis_example_weights *out)
{
    const size_t n = v->joint_count;
    double *g = scratch, *part = g + n * n, *h = part + n * n, *columns = h + n;
    cutis_example_form(v, normalise, columns, g, h);
    if (v->pull > 0 && v->random_count && !normalise) {
        cutis_example_random(v, columns, part);
        for (size_t i = 0; i < n * n; i++) g[i] += v->pull * v->example_count * part[i];
    }
    cutis_example_finish(v, influences, normalise, g, h, part, out);
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

void cutis_example_turn(const double *palette, uint32_t count, const uint32_t *joints,
                        const float *weights, double *out)
{
    double sum[4] = { 0 }, first[4] = { 1 };
    for (uint32_t i = 0; i < count; i++) {
        double l[9], q[4], dot = 0;
        double34_linear(palette + 12 * (size_t)joints[i], l);
        double size = sqrt(double33_square(l) / 3);
        for (int k = 0; k < 9 && size > 0; k++) l[k] /= size;
        cutis_quat_from_mat3(l, q);
        if (i == 0) memcpy(first, q, sizeof first);
        for (int k = 0; k < 4; k++) dot += first[k] * q[k];
        for (int k = 0; k < 4; k++) sum[k] += (dot < 0 ? -1 : 1) * (double)weights[i] * q[k];
    }
    cutis_mat3_from_quat(sum, out);
}

void cutis_example_pull_normal(const double *blend, bool uniform, double scale,
                               const double *normal, double *out)
{
    double inverse[9];
    if (uniform) {
        invert_linear(blend, scale, inverse);
    } else {
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) inverse[3 * r + c] = blend[4 * c + r];
    }
    double33_vector(inverse, normal, out);
    double length = sqrt(double3_dot(out, out));
    for (int c = 0; c < 3; c++) out[c] = length > 0 ? out[c] / length : 0;
}
