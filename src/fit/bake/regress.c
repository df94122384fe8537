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
// Inputs that are not read may raise it by this much together, squared.
static const double SPARE = 1.05;
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
    uint32_t kept_count; ///< terms that may be other than zero
    uint8_t kept[TERMS];
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

uint32_t cutis_regress_terms(const double *u, uint32_t n, double *terms)
{
    memcpy(terms, u, n * sizeof *terms);
    double *to = terms + n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++) *to++ = u[i] * u[j];
    return n + n * (n + 1) / 2;
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
        cutis_regress_terms(u, 4 * count, terms);
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

uint32_t cutis_regress_kept(uint32_t used, uint32_t n, uint8_t *terms)
{
    uint32_t at = n, count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (used >> i & 1) terms[count++] = (uint8_t)i;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++, at++)
            if ((used >> i & used >> j) & 1) terms[count++] = (uint8_t)at;
    return count;
}

static void keep_terms(uint32_t used, uint32_t inputs, moments *m)
{
    m->kept_count = cutis_regress_kept(used, 4 * inputs, m->kept);
}

// Inputs that move in some frame, as bits.
static uint32_t moving(const moments *m, uint32_t inputs)
{
    uint32_t used = 0;
    for (size_t i = 0; i < 4 * (size_t)inputs; i++)
        for (size_t k = 0; k < FOLDS; k++)
            if (m->gram[(k * m->n + i) * m->n + i] > 0) used |= 1u << i;
    return used;
}

// Coefficients from all folds but one (FOLDS: from all).
static bool solve(moments *m, uint32_t without, double ridge)
{
    const size_t n = m->n, few = m->kept_count;
    double right[TERMS], most = 0;
    memset(m->sum, 0, few * few * sizeof *m->sum);
    memset(m->solved, 0, OUTPUTS * n * sizeof *m->solved);
    for (uint32_t k = 0; k < FOLDS; k++)
        for (size_t i = 0; i < few && k != without; i++) {
            const double *row = m->gram + (k * n + m->kept[i]) * n;
            for (size_t j = 0; j <= i; j++) m->sum[i * few + j] += row[m->kept[j]];
        }
    for (size_t i = 0; i < few; i++) most = fmax(most, m->sum[i * few + i]);
    // A term that never moves has the coefficient zero.
    for (size_t i = 0; i < few; i++)
        m->sum[i * few + i] += ridge * m->sum[i * few + i] + 1e-12 * most;
    if (!(most > 0) || !cutis_cholesky_factor((uint32_t)few, m->sum)) return false;
    for (size_t o = 0; o < OUTPUTS; o++) {
        memset(right, 0, few * sizeof *right);
        for (uint32_t k = 0; k < FOLDS; k++)
            for (size_t i = 0; i < few && k != without; i++)
                right[i] += m->right[(k * OUTPUTS + o) * n + m->kept[i]];
        cutis_cholesky_solve((uint32_t)few, m->sum, right);
        for (size_t i = 0; i < few; i++) m->solved[o * n + m->kept[i]] = right[i];
    }
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
        for (size_t a = 0; a < m->kept_count; a++) {
            const size_t i = m->kept[a];
            double row = 0.5 * gram[i * n + i] * c[i];
            for (size_t b = 0; b < a; b++) row += gram[i * n + m->kept[b]] * c[m->kept[b]];
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
            keep_terms(moving(&m, out->input_count + 1), out->input_count + 1, &m);
            const double error = cross_validate(s, &m, RIDGES[RIDGE_FIRST]);
            if (error < best) best = error, joint = s->candidates[c];
        }
        if (joint == UINT32_MAX || !(best <= GAIN * out->error)) return;
        out->inputs[out->input_count++] = joint;
        out->error = best;
    }
}

static double choose_ridge(const cutis_regress_samples *s, moments *m, cutis_regress_fit *out)
{
    double best = INFINITY;
    for (int k = 0; k < RIDGE_COUNT; k++) {
        const double error = cross_validate(s, m, RIDGES[k]);
        if (error < best) best = error, out->ridge = RIDGES[k];
    }
    return best;
}

// Leave out inputs that say little, the least of them first: what is left is read every frame.
static void spare_inputs(const cutis_regress_samples *s, moments *m, cutis_regress_fit *out)
{
    const double most = SPARE * out->error;
    while (out->used & (out->used - 1)) {
        double best = INFINITY;
        uint32_t away = 0;
        for (uint32_t i = 0; i < 4 * out->input_count; i++) {
            if (!(out->used >> i & 1)) continue;
            keep_terms(out->used & ~(1u << i), out->input_count, m);
            const double error = cross_validate(s, m, out->ridge);
            if (error < best) best = error, away = i;
        }
        if (!(best <= most)) return;
        out->used &= ~(1u << away);
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
    if (!chosen) out->used = moving(&m, out->input_count);
    keep_terms(out->used, out->input_count, &m);
    out->ridge = RIDGES[RIDGE_COUNT - 1];
    out->error = choose_ridge(s, &m, out);
    if (!chosen) {
        spare_inputs(s, &m, out);
        keep_terms(out->used, out->input_count, &m);
    }
    if (!solve(&m, FOLDS, out->ridge)) {
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
    cutis_regress_terms(inputs, n, terms);
    for (size_t o = 0; o < OUTPUTS; o++) out[o] = 0;
    for (uint32_t i = 0; i < count; i++)
        for (size_t o = 0; o < OUTPUTS; o++)
            out[o] += terms[i] * (double)fit->coefficients[OUTPUTS * i + o];
}
