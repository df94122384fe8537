// The text behind wide.h. NAME says for which width it is compiled. Frames, points or bones lie
// side by side; a lane never sees another, so the width does not show in the bits.
#include "fit/bake/wide.h"

#include <math.h>
#include <string.h>

typedef double lanes __attribute__((vector_size(8 * CUTIS_BAKE_LANES)));
typedef int64_t mask __attribute__((vector_size(8 * CUTIS_BAKE_LANES)));

static inline lanes load(const double *p)
{
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void store(double *p, lanes v)
{
    memcpy(p, &v, sizeof v);
}
static inline lanes choose(mask yes, lanes a, lanes b)
{
    return (lanes)(((mask)a & yes) | ((mask)b & ~yes));
}

static void products(const double *left, const double *right, size_t count, double *sums)
{
    lanes s[CUTIS_BAKE_RIGHT];
    for (int r = 0; r < CUTIS_BAKE_RIGHT; r++) s[r] = load(sums + CUTIS_BAKE_LEFT * r);
    for (size_t k = 0; k < count; k++) {
        const lanes a = load(left + CUTIS_BAKE_LEFT * k);
        for (int r = 0; r < CUTIS_BAKE_RIGHT; r++)
            s[r] += a * right[CUTIS_BAKE_RIGHT * k + (size_t)r];
    }
    for (int r = 0; r < CUTIS_BAKE_RIGHT; r++) store(sums + CUTIS_BAKE_LEFT * r, s[r]);
}

static void pack(const float *const *of, size_t count, double *right)
{
    const float *a = of[0], *b = of[1], *c = of[2], *d = of[3];
    for (size_t k = 0; k < count; k++) {
        right[4 * k] = (double)a[k], right[4 * k + 1] = (double)b[k];
        right[4 * k + 2] = (double)c[k], right[4 * k + 3] = (double)d[k];
    }
}

static void row(const double *form, const double *square, size_t stride, double *out)
{
    for (size_t c = 0; c < stride; c += CUTIS_BAKE_LANES) {
        lanes sum = { 0 };
        for (size_t k = 0; k < CUTIS_BAKE_SQUARE; k++)
            sum += load(form + k * stride + c) * square[k];
        store(out + c, sum);
    }
}

static void goal(double *restrict sums, const double *restrict place, const float *const *target,
                 size_t stride, size_t first, size_t end)
{
    for (size_t r = 0; r < 3; r++) {
        const float *a = target[0] + r * stride, *b = target[1] + r * stride,
                    *c = target[2] + r * stride, *d = target[3] + r * stride;
        for (size_t j = 0; j < 4; j++) {
            double *restrict to = sums + (3 * j + r) * stride;
            const double p = place[j], q = place[4 + j], u = place[8 + j], v = place[12 + j];
            for (size_t f = first; f < end; f++) {
                double sum = to[f];
                sum += p * (double)a[f];
                sum += q * (double)b[f];
                sum += u * (double)c[f];
                sum += v * (double)d[f];
                to[f] = sum;
            }
        }
    }
}

// Levenberg-Marquardt ---------------------------------------------------------------------------

// P_bc as the 4 x 4 matrix that it is.
static const uint8_t ENTRY[4][4] = {
    { 0, 1, 2, 3 }, { 1, 4, 5, 6 }, { 2, 5, 7, 8 }, { 3, 6, 8, 9 }
};

typedef struct solver {
    const cutis_bake_motion *motion;
    uint32_t helper_count, frame;
    lanes *turned; // the trial: [helper][4][3]
    lanes *now;    // what is kept
    lanes *pull;   // T_b: goals less what joints do
    lanes *rest;   // D_b of `now`
    lanes *other;  // D_b of the trial
    lanes *step;   // 6 each
    lanes *factor; // 36 each, those that are filled
} solver;

static inline lanes *block(const solver *s, uint32_t b, uint32_t c)
{
    return s->factor + 36 * ((size_t)s->motion->filled[b * s->helper_count + c] - 1);
}

// sum += sign * m P, [4][3] each
static inline void add_product(lanes *sum, const lanes *m, const double *p, double sign)
{
    for (int j = 0; j < 4; j++)
        for (int r = 0; r < 3; r++) {
            lanes x = m[r] * p[ENTRY[0][j]];
            x += m[3 + r] * p[ENTRY[1][j]];
            x += m[6 + r] * p[ENTRY[2][j]];
            x += m[9 + r] * p[ENTRY[3][j]];
            sum[3 * j + r] += x * sign;
        }
}

static void gather(solver *s)
{
    const cutis_bake_motion *q = s->motion;
    const size_t bones = q->joint_count + (size_t)q->helper_count;
    for (uint32_t b = 0; b < s->helper_count; b++) {
        for (size_t k = 0; k < 12; k++) {
            const size_t at = (12 * (size_t)b + k) * q->stride + s->frame;
            s->now[12 * b + k] = load(q->helpers + at);
            s->pull[12 * b + k] = load(q->goals + at);
        }
        for (uint32_t j = 0; j < q->joint_count; j++) {
            if (!q->coupled[b * bones + j]) continue;
            lanes m[12];
            for (size_t k = 0; k < 12; k++)
                m[k] = load(q->joints + (12 * (size_t)j + k) * q->stride + s->frame);
            add_product(s->pull + 12 * (size_t)b, m,
                        q->moments + CUTIS_BAKE_SQUARE * (b * bones + j), -1);
        }
    }
}

// D_b of all helpers; @return the energy, but for what does not depend on helpers
static lanes residual(const solver *s, const lanes *m, lanes *d)
{
    const cutis_bake_motion *q = s->motion;
    const size_t bones = q->joint_count + (size_t)q->helper_count;
    lanes energy = { 0 };
    for (uint32_t b = 0; b < s->helper_count; b++) {
        lanes *to = d + 12 * (size_t)b;
        for (int k = 0; k < 12; k++) to[k] = -s->pull[12 * (size_t)b + (size_t)k];
        for (uint32_t c = 0; c < s->helper_count; c++)
            if (q->coupled[b * bones + q->joint_count + c])
                add_product(to, m + 12 * (size_t)c,
                            q->moments + CUTIS_BAKE_SQUARE * (b * bones + q->joint_count + c), 1);
        for (int k = 0; k < 12; k++)
            energy += m[12 * (size_t)b + (size_t)k] * (to[k] - s->pull[12 * (size_t)b + (size_t)k]);
    }
    return energy;
}

// out = R v, columns of R stand at m
static inline void turn(const lanes *m, const lanes *v, lanes *out)
{
    for (int r = 0; r < 3; r++) out[r] = m[r] * v[0] + m[3 + r] * v[1] + m[6 + r] * v[2];
}

// J^T J of helpers b and c (docs/spec/bake.md 3): [tr X I - X^T, [x_b]; -[x_c], n I].
static void fill_block(const lanes *mb, const lanes *mc, const double *p, lanes *a)
{
    lanes y[3][3], x[3][3], xb[3], xc[3];
    for (int j = 0; j < 3; j++) { // S R_c^T, column by column of its rows
        for (int r = 0; r < 3; r++)
            y[j][r] =
                mc[r] * p[ENTRY[j][0]] + mc[3 + r] * p[ENTRY[j][1]] + mc[6 + r] * p[ENTRY[j][2]];
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            x[r][c] = mb[r] * y[0][c] + mb[3 + r] * y[1][c] + mb[6 + r] * y[2][c];
    const lanes zero = { 0 };
    const lanes s[3] = { zero + p[3], zero + p[6], zero + p[8] };
    turn(mb, s, xb), turn(mc, s, xc);
    const lanes trace = x[0][0] + x[1][1] + x[2][2];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            a[6 * r + c] = (r == c ? trace : zero) - x[c][r];
            a[6 * (3 + r) + 3 + c] = r == c ? zero + p[9] : zero;
        }
    for (int r = 0; r < 3; r++) a[6 * r + 3 + r] = a[6 * (3 + r) + r] = zero;
    a[4] = -xb[2], a[5] = xb[1], a[9] = xb[2], a[11] = -xb[0], a[15] = -xb[1], a[16] = xb[0];
    a[19] = xc[2], a[20] = -xc[1], a[24] = -xc[2], a[26] = xc[0], a[30] = xc[1], a[31] = -xc[0];
}

static void fill_system(const solver *s, lanes damping)
{
    const cutis_bake_motion *q = s->motion;
    const size_t bones = q->joint_count + (size_t)q->helper_count;
    for (uint32_t b = 0; b < s->helper_count; b++)
        for (uint32_t c = 0; c <= b; c++) {
            if (!q->filled[b * s->helper_count + c]) continue;
            lanes *a = block(s, b, c);
            if (q->coupled[b * bones + q->joint_count + c])
                fill_block(s->now + 12 * (size_t)b, s->now + 12 * (size_t)c,
                           q->moments + CUTIS_BAKE_SQUARE * (b * bones + q->joint_count + c), a);
            else
                memset(a, 0, 36 * sizeof *a);
            // 1e-10 of the diagonal: a helper of one point may turn about it as it likes.
            for (int k = 0; b == c && k < 6; k++) a[7 * k] += a[7 * k] * (damping + 1e-10) + 1e-30;
        }
    for (uint32_t b = 0; b < s->helper_count; b++) {
        const lanes *d = s->rest + 12 * (size_t)b, *m = s->now + 12 * (size_t)b;
        lanes h[3][3];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                h[r][c] = d[r] * m[c] + d[3 + r] * m[3 + c] + d[6 + r] * m[6 + c];
        lanes *g = s->step + 6 * (size_t)b;
        g[0] = h[1][2] - h[2][1], g[1] = h[2][0] - h[0][2], g[2] = h[0][1] - h[1][0];
        for (int r = 0; r < 3; r++) g[3 + r] = -d[9 + r];
    }
}

// c -= a b^T
static inline void take(lanes *restrict c, const lanes *restrict a, const lanes *restrict b)
{
    for (int r = 0; r < 6; r++) {
        lanes sum[6];
        for (int k = 0; k < 6; k++) sum[k] = c[6 * r + k];
        for (int k = 0; k < 6; k++)
            for (int l = 0; l < 6; l++) sum[l] -= a[6 * r + k] * b[6 * l + k];
        for (int k = 0; k < 6; k++) c[6 * r + k] = sum[k];
    }
}

static inline lanes root(lanes v)
{
    for (int i = 0; i < CUTIS_BAKE_LANES; i++) v[i] = sqrt(v[i]);
    return v;
}

// L of a diagonal block, with the inverses of its diagonal in its place.
static void factor_diagonal(lanes *a)
{
    for (int j = 0; j < 6; j++) {
        lanes pivot = a[7 * j];
        for (int k = 0; k < j; k++) pivot -= a[6 * j + k] * a[6 * j + k];
        const lanes inverse = 1 / root(pivot);
        a[7 * j] = inverse;
        for (int i = j + 1; i < 6; i++) {
            lanes sum = a[6 * i + j];
            for (int k = 0; k < j; k++) sum -= a[6 * i + k] * a[6 * j + k];
            a[6 * i + j] = sum * inverse;
        }
    }
}

// a = a L^-T
static void divide(lanes *a, const lanes *l)
{
    for (int r = 0; r < 6; r++)
        for (int j = 0; j < 6; j++) {
            lanes sum = a[6 * r + j];
            for (int k = 0; k < j; k++) sum -= a[6 * r + k] * l[6 * j + k];
            a[6 * r + j] = sum * l[7 * j];
        }
}

static void factor(const solver *s)
{
    const uint32_t *filled = s->motion->filled;
    const uint32_t n = s->helper_count;
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = j; i < n; i++) {
            if (!filled[i * n + j]) continue;
            lanes *a = block(s, i, j);
            for (uint32_t k = 0; k < j; k++)
                if (filled[i * n + k] && filled[j * n + k]) take(a, block(s, i, k), block(s, j, k));
            if (i == j)
                factor_diagonal(a);
            else
                divide(a, block(s, j, j));
        }
}

static void substitute(const solver *s)
{
    const uint32_t *filled = s->motion->filled;
    const uint32_t n = s->helper_count;
    for (uint32_t b = 0; b < n; b++) {
        lanes *x = s->step + 6 * (size_t)b;
        for (uint32_t c = 0; c < b; c++) {
            if (!filled[b * n + c]) continue;
            const lanes *l = block(s, b, c), *y = s->step + 6 * (size_t)c;
            for (int r = 0; r < 6; r++)
                for (int k = 0; k < 6; k++) x[r] -= l[6 * r + k] * y[k];
        }
        const lanes *l = block(s, b, b);
        for (int r = 0; r < 6; r++) {
            for (int k = 0; k < r; k++) x[r] -= l[6 * r + k] * x[k];
            x[r] *= l[7 * r];
        }
    }
    for (uint32_t b = n; b-- > 0;) {
        lanes *x = s->step + 6 * (size_t)b;
        const lanes *l = block(s, b, b);
        for (int r = 6; r-- > 0;) {
            for (int k = r + 1; k < 6; k++) x[r] -= l[6 * k + r] * x[k];
            x[r] *= l[7 * r];
        }
        for (uint32_t c = 0; c < b; c++) {
            if (!filled[b * n + c]) continue;
            const lanes *m = block(s, b, c);
            lanes *y = s->step + 6 * (size_t)c;
            for (int k = 0; k < 6; k++)
                for (int r = 0; r < 6; r++) y[r] -= m[6 * k + r] * x[k];
        }
    }
}

// The trial: R' = cay(w) R, t' = t + tau. Cayley's map is a rotation to rounding, without sines.
static void move(const solver *s)
{
    for (uint32_t b = 0; b < s->helper_count; b++) {
        const lanes *x = s->step + 6 * (size_t)b, *m = s->now + 12 * (size_t)b;
        lanes *to = s->turned + 12 * (size_t)b;
        const lanes h[3] = { x[0] * 0.5, x[1] * 0.5, x[2] * 0.5 };
        const lanes by = 2 / (1 + (h[0] * h[0] + h[1] * h[1] + h[2] * h[2]));
        for (int j = 0; j < 3; j++) {
            const lanes *v = m + 3 * j;
            const lanes u[3] = { h[1] * v[2] - h[2] * v[1], h[2] * v[0] - h[0] * v[2],
                                 h[0] * v[1] - h[1] * v[0] };
            to[3 * j] = v[0] + by * (u[0] + (h[1] * u[2] - h[2] * u[1]));
            to[3 * j + 1] = v[1] + by * (u[1] + (h[2] * u[0] - h[0] * u[2]));
            to[3 * j + 2] = v[2] + by * (u[2] + (h[0] * u[1] - h[1] * u[0]));
        }
        for (int r = 0; r < 3; r++) to[9 + r] = m[9 + r] + x[3 + r];
    }
}

static void solve(const cutis_bake_motion *motion, uint32_t frame, double *scratch)
{
    const size_t h = motion->helper_count;
    lanes *at = (lanes *)scratch;
    solver s = { .motion = motion, .helper_count = motion->helper_count, .frame = frame };
    s.now = at, s.turned = at + 12 * h, s.pull = at + 24 * h, s.rest = at + 36 * h;
    s.other = at + 48 * h, s.step = at + 60 * h, s.factor = at + 66 * h;
    gather(&s);
    lanes damping = load(motion->damping + frame), energy = residual(&s, s.now, s.rest);
    const lanes start = energy;
    for (uint32_t k = 0; k < motion->step_count; k++) {
        fill_system(&s, damping);
        factor(&s);
        substitute(&s);
        move(&s);
        const lanes trial = residual(&s, s.turned, s.other);
        const mask better = trial < energy; // NaN is not
        for (size_t i = 0; i < 12 * h; i++) {
            s.now[i] = choose(better, s.turned[i], s.now[i]);
            s.rest[i] = choose(better, s.other[i], s.rest[i]);
        }
        energy = choose(better, trial, energy);
        damping = choose(better, damping * 0.2, damping * 10);
        const mask low = damping<1e-9, high = damping> 1e6;
        const lanes zero = { 0 };
        damping = choose(low, zero + 1e-9, choose(high, zero + 1e6, damping));
    }
    const lanes gained = start - energy;
    for (uint32_t l = 0; l < CUTIS_BAKE_LANES && frame + l < motion->frame_count; l++) {
        motion->damping[frame + l] = damping[l];
        motion->gain[frame + l] = gained[l];
        for (size_t i = 0; i < 12 * h; i++)
            motion->helpers[i * motion->stride + frame + l] = s.now[i][l];
    }
}

const cutis_bake_wide NAME(cutis_bake_wide) = { products, row, goal, pack, solve };
