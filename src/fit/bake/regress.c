// Ridge regression on quadratics of joints' inputs, joints by forward selection, all judged by
// cross-validation. Gram matrices of the folds are kept apart: errors of frames left out need no
// second pass over them.
#include "fit/bake/regress.h"

#include <math.h>
#include <string.h>

#include "math/cholesky.h"

enum { TERMS = CUTIS_REGRESS_TERMS, FOLDS = CUTIS_REGRESS_FOLDS, OUTPUTS = 6 };
// A joint more must lower the RMS of frames left out by a tenth.
static const double GAIN = 0.81;
// Ridges, of the features' own squares; the smallest is where float coefficients still cancel well.
static const double RIDGES[] = { 1e-6, 1e-5, 1e-4, 1e-3, 1e-2 };
enum { RIDGE_FIRST = 1, RIDGE_COUNT = 5 };

typedef struct moments {
    double *gram;   ///< [FOLDS][n][n], lower triangle
    double *right;  ///< [FOLDS][6][n]
    double *square; ///< [FOLDS]
    double *sum;    ///< [n][n]
    double *solved; ///< [6][n]
    uint32_t n;
} moments;

size_t cutis_regress_scratch(void)
{
    return (size_t)(FOLDS + 1) * TERMS * TERMS + (size_t)(FOLDS + 1) * OUTPUTS * TERMS + FOLDS;
}

static moments open_moments(double *scratch, uint32_t inputs)
{
    const uint32_t n = 4 * inputs;
    moments m = { .n = n + n * (n + 1) / 2 };
    m.gram = scratch;
    m.sum = m.gram + (size_t)FOLDS * TERMS * TERMS;
    m.right = m.sum + (size_t)TERMS * TERMS;
    m.solved = m.right + (size_t)FOLDS * OUTPUTS * TERMS;
    m.square = m.solved + (size_t)OUTPUTS * TERMS;
    return m;
}

static void fill_terms(const double *u, uint32_t n, double *terms)
{
    memcpy(terms, u, n * sizeof *terms);
    double *to = terms + n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++) *to++ = u[i] * u[j];
}

static void read_inputs(const cutis_regress_samples *s, const uint32_t *joints, uint32_t count,
                        uint32_t frame, double *u)
{
    for (uint32_t k = 0; k < count; k++)
        for (size_t c = 0; c < 4; c++)
            u[4 * k + c] = s->inputs[(4 * (size_t)joints[k] + c) * s->frame_count + frame];
}

static void gather(const cutis_regress_samples *s, const uint32_t *joints, uint32_t count,
                   moments *m)
{
    const size_t n = m->n;
    memset(m->gram, 0, FOLDS * n * n * sizeof *m->gram);
    memset(m->right, 0, FOLDS * OUTPUTS * n * sizeof *m->right);
    memset(m->square, 0, FOLDS * sizeof *m->square);
    for (uint32_t f = 0; f < s->frame_count; f++) {
        double u[4 * CUTIS_DRIVER_INPUTS], terms[TERMS];
        const double *y = s->targets + (size_t)OUTPUTS * f;
        double *gram = m->gram + s->fold[f] * n * n, *right = m->right + s->fold[f] * OUTPUTS * n;
        read_inputs(s, joints, count, f, u);
        fill_terms(u, 4 * count, terms);
        for (size_t i = 0; i < n; i++) {
            const double t = terms[i];
            double *row = gram + i * n;
            if (t == 0) continue;
            for (size_t j = 0; j <= i; j++) row[j] += t * terms[j];
        }
        for (size_t o = 0; o < OUTPUTS; o++) {
            for (size_t i = 0; i < n; i++) right[o * n + i] += y[o] * terms[i];
            m->square[s->fold[f]] += (o < 3 ? s->lever * s->lever : 1) * y[o] * y[o];
        }
    }
}

// Coefficients from all folds but one (FOLDS: from all).
static bool solve(moments *m, uint32_t without, double ridge)
{
    const size_t n = m->n;
    memset(m->sum, 0, n * n * sizeof *m->sum);
    memset(m->solved, 0, OUTPUTS * n * sizeof *m->solved);
    for (uint32_t k = 0; k < FOLDS; k++) {
        if (k == without) continue;
        for (size_t i = 0; i < n * n; i++) m->sum[i] += m->gram[k * n * n + i];
        for (size_t i = 0; i < OUTPUTS * n; i++) m->solved[i] += m->right[k * OUTPUTS * n + i];
    }
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, m->sum[i * n + i]);
    // A term that never moves has the coefficient zero.
    for (size_t i = 0; i < n; i++) m->sum[i * n + i] += ridge * m->sum[i * n + i] + 1e-12 * most;
    if (!(most > 0) || !cutis_cholesky_factor((uint32_t)n, m->sum)) return false;
    for (size_t o = 0; o < OUTPUTS; o++)
        cutis_cholesky_solve((uint32_t)n, m->sum, m->solved + o * n);
    return true;
}

// Squared error of the frames of a fold.
static double left_out(const cutis_regress_samples *s, const moments *m, uint32_t fold)
{
    const size_t n = m->n;
    const double *gram = m->gram + fold * n * n, *right = m->right + fold * OUTPUTS * n;
    double error = m->square[fold];
    for (size_t o = 0; o < OUTPUTS; o++) {
        const double *c = m->solved + o * n;
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            double row = 0.5 * gram[i * n + i] * c[i];
            for (size_t j = 0; j < i; j++) row += gram[i * n + j] * c[j];
            sum += 2 * c[i] * (row - right[o * n + i]);
        }
        error += (o < 3 ? s->lever * s->lever : 1) * sum;
    }
    return error;
}

static double cross_validate(const cutis_regress_samples *s, moments *m, double ridge)
{
    double error = 0;
    for (uint32_t k = 0; k < FOLDS; k++) {
        if (!solve(m, k, ridge)) return INFINITY;
        error += left_out(s, m, k);
    }
    return error > 0 ? error : 0;
}

static void choose_joints(const cutis_regress_samples *s, double *scratch, cutis_regress_fit *out)
{
    out->input_count = 0;
    moments m = open_moments(scratch, 0);
    gather(s, NULL, 0, &m);
    out->error = 0;
    for (uint32_t k = 0; k < FOLDS; k++) out->error += m.square[k];
    while (out->input_count < CUTIS_DRIVER_INPUTS) {
        double best = INFINITY;
        uint32_t joint = UINT32_MAX;
        for (uint32_t c = 0; c < s->candidate_count; c++) {
            uint32_t joints[CUTIS_DRIVER_INPUTS];
            bool there = false;
            memcpy(joints, out->inputs, sizeof joints);
            joints[out->input_count] = s->candidates[c];
            for (uint32_t k = 0; k < out->input_count; k++) there |= joints[k] == s->candidates[c];
            if (there) continue;
            m = open_moments(scratch, out->input_count + 1);
            gather(s, joints, out->input_count + 1, &m);
            const double error = cross_validate(s, &m, RIDGES[RIDGE_FIRST]);
            if (error < best) best = error, joint = s->candidates[c];
        }
        if (joint == UINT32_MAX || !(best <= GAIN * out->error)) return;
        out->inputs[out->input_count++] = joint;
        out->error = best;
    }
}

void cutis_regress(const cutis_regress_samples *s, bool chosen, double *scratch,
                   cutis_regress_fit *out)
{
    if (!chosen) choose_joints(s, scratch, out);
    if (out->input_count == 0) return;
    moments m = open_moments(scratch, out->input_count);
    gather(s, out->inputs, out->input_count, &m);
    double best = INFINITY, ridge = RIDGES[RIDGE_COUNT - 1];
    for (int k = 0; k < RIDGE_COUNT; k++) {
        const double error = cross_validate(s, &m, RIDGES[k]);
        if (error < best) best = error, ridge = RIDGES[k];
    }
    out->error = best;
    if (!solve(&m, FOLDS, ridge)) {
        out->input_count = 0;
        return;
    }
    for (size_t i = 0; i < m.n; i++)
        for (size_t o = 0; o < OUTPUTS; o++)
            out->coefficients[OUTPUTS * i + o] = (float)m.solved[o * m.n + i];
}

void cutis_regress_evaluate(const cutis_regress_fit *fit, const double *inputs, double *out)
{
    const uint32_t n = 4 * fit->input_count, count = n + n * (n + 1) / 2;
    double terms[TERMS];
    fill_terms(inputs, n, terms);
    for (size_t o = 0; o < OUTPUTS; o++) out[o] = 0;
    for (uint32_t i = 0; i < count; i++)
        for (size_t o = 0; o < OUTPUTS; o++)
            out[o] += terms[i] * (double)fit->coefficients[OUTPUTS * i + o];
}
