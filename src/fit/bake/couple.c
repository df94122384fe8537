// Coefficients of all drivers together. A regression of each alone takes its helper's best track
// for the truth; helpers that share vertices can make up for what another cannot do. So the sum
// over frames of what drivers miss, as vertices see it, is lowered in all coefficients at once:
// conjugate gradients on the quadratic about where the helpers are (docs/spec/bake.md 8).
// Invariant: every sum is one task's, over frames and pairs in ascending order.
#include "fit/bake/drive.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/cholesky.h"
#include "math/elementary.h"
#include "math/mat3.h"

enum { OUTPUTS = 6, TERMS = CUTIS_REGRESS_TERMS, STEPS = 12, ROOM = OUTPUTS * TERMS };
// Steps of the descent end where what is left of the gradient is this part of it.
static const double ENOUGH = 1e-3;
// Squared turns below this are so small that their squares are lost in steps that are not exact.
static const double SMALL = 1e-6;

// Vertices that two helpers share: sums of w_h w_k over them, of (p - pivot_h) (p - pivot_k)^T and
// lower powers.
typedef struct pair {
    uint32_t other;
    double square[9], own[3], others[3], mass;
} pair;

// How a helper answers to its driver in a frame.
typedef struct answer {
    double turn[9];   ///< of the rotation vector, to a turn in the world
    double shift[9];  ///< of the shift, to one in the world
    double linear[9]; ///< where it turns its vertices
} answer;

typedef struct couple {
    const cutis_bake_job *job;
    const double *driven, *wanted; ///< tracks: as drivers have them, and where they would be better
    uint32_t frame_count, helper_count;
    uint32_t *first; ///< per helper, and one more: its pairs
    pair *pairs;
    answer *answers;                            ///< [helper][frame]
    double *twists;                             ///< [helper][frame][6]: turn and shift in the world
    double *gram;                               ///< [helper][TERMS][TERMS]: of terms, factored
    double *weight;                             ///< [helper][TERMS]: of the ridge
    double *block;                              ///< [helper][36]: what twists cost on average
    double *factor;                             ///< the same, factored
    double *found, *left, *ready, *way, *image; ///< [helper][TERMS][6]
    const double *from;
    double *to, *sums; ///< of the pass at work
} couple;

// Inputs and terms --------------------------------------------------------------------------------

static uint32_t read_terms(const couple *c, uint32_t helper, uint32_t frame, double *terms)
{
    const struct cutis_bake_drive *d = c->job->drive;
    double u[4 * CUTIS_DRIVER_INPUTS];
    const cutis_regress_fit *fit = &d->fits[helper];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 4 * fit->input_count; i++)
        if (fit->used >> i & 1)
            u[count++] =
                d->inputs[(4 * (size_t)fit->inputs[i / 4] + i % 4) * c->frame_count + frame];
    return cutis_regress_terms(u, count, terms);
}

// What vertices feel ------------------------------------------------------------------------------

// d exp(r) = (this dr) x exp(r).
static void left_jacobian(const double *r, double *out)
{
    const double square = double3_dot(r, r), angle = sqrt(square);
    double sine, cosine, a = 0.5, b = 1.0 / 6;
    fixed_sincos(angle, &sine, &cosine);
    if (square > SMALL) {
        a = (1 - cosine) / square;
        b = (angle - sine) / (square * angle);
    }
    const double cross[9] = { 0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0 };
    double twice[9];
    double33_multiply(cross, cross, twice);
    for (int k = 0; k < 9; k++) out[k] = (k % 4 == 0) + a * cross[k] + b * twice[k];
}

static void answers_task(void *data, uint32_t helper)
{
    const couple *c = data;
    const cutis_bake_job *job = c->job;
    const cutis_bake_part *part = &job->learned;
    const size_t track = helper * 12 * part->stride;
    for (uint32_t f = 0; f < c->frame_count; f++) {
        answer *a = &c->answers[(size_t)helper * c->frame_count + f];
        double *x = c->twists + ((size_t)helper * c->frame_count + f) * OUTPUTS;
        double m[12], y[6], above[12], jacobian[9], turn[9];
        cutis_bake_matrix(c->driven + track, part->stride, f, m);
        double34_linear(m, a->linear);
        cutis_bake_drive_difference(job, part, helper, f, m, y);
        left_jacobian(y, jacobian);
        cutis_bake_drive_above(job, part, helper, f, above);
        double34_linear(above, a->shift);
        const double size = fixed_cbrt(fabs(double33_determinant(a->shift)));
        for (int k = 0; k < 9; k++) turn[k] = size > 0 ? a->shift[k] / size : k % 4 == 0;
        double33_multiply(turn, jacobian, a->turn);
        cutis_bake_matrix(c->wanted + track, part->stride, f, m);
        cutis_bake_drive_difference(job, part, helper, f, m, y);
        double33_vector(a->turn, y, x);
        double33_vector(a->shift, y + 3, x + 3);
    }
}

// Adds to z what a twist of one helper is worth to a pair's other; the matrices are where they turn
// their vertices.
static void add_force(const pair *p, const double *linear, const double *other, const double *x,
                      double *z)
{
    double half[9], full[9], own[3], others[3], turned[3];
    double33_multiply(linear, p->square, half);
    double33_multiply_transpose(half, other, full); // sum of a b^T
    double33_vector(linear, p->own, own);
    double33_vector(other, p->others, others);
    const double trace = full[0] + full[4] + full[8];
    for (size_t i = 0; i < 3; i++) {
        z[i] += trace * x[i];
        for (size_t k = 0; k < 3; k++) z[i] -= full[3 * k + i] * x[k];
    }
    double3_cross(own, x + 3, turned);
    for (size_t i = 0; i < 3; i++) z[i] += turned[i], z[3 + i] += p->mass * x[3 + i];
    double3_cross(x, others, turned);
    for (size_t i = 0; i < 3; i++) z[3 + i] += turned[i];
}

static void transpose_vector(const double *m, const double *v, double *out)
{
    for (size_t i = 0; i < 3; i++) out[i] = m[i] * v[0] + m[3 + i] * v[1] + m[6 + i] * v[2];
}

// Forces on a helper's outputs in a frame by all twists.
static void gather_forces(const couple *c, uint32_t helper, uint32_t f, double *out)
{
    const answer *a = &c->answers[(size_t)helper * c->frame_count + f];
    double z[OUTPUTS] = { 0 };
    for (uint32_t k = c->first[helper]; k < c->first[helper + 1]; k++) {
        const size_t at = (size_t)c->pairs[k].other * c->frame_count + f;
        add_force(&c->pairs[k], a->linear, c->answers[at].linear, c->twists + at * OUTPUTS, z);
    }
    transpose_vector(a->turn, z, out);
    transpose_vector(a->shift, z + 3, out + 3);
}

static void twists_task(void *data, uint32_t helper)
{
    const couple *c = data;
    const double *from = c->from + (size_t)helper * ROOM;
    double terms[TERMS];
    for (uint32_t f = 0; f < c->frame_count; f++) {
        const size_t at = (size_t)helper * c->frame_count + f;
        const uint32_t count = read_terms(c, helper, f, terms);
        double y[OUTPUTS] = { 0 };
        for (uint32_t t = 0; t < count; t++)
            for (size_t o = 0; o < OUTPUTS; o++) y[o] += terms[t] * from[OUTPUTS * t + o];
        double33_vector(c->answers[at].turn, y, c->twists + at * OUTPUTS);
        double33_vector(c->answers[at].shift, y + 3, c->twists + at * OUTPUTS + 3);
    }
}

static void forces_task(void *data, uint32_t helper)
{
    const couple *c = data;
    double *to = c->to + (size_t)helper * ROOM, terms[TERMS];
    memset(to, 0, ROOM * sizeof *to);
    for (uint32_t f = 0; f < c->frame_count; f++) {
        double force[OUTPUTS];
        gather_forces(c, helper, f, force);
        const uint32_t count = read_terms(c, helper, f, terms);
        for (uint32_t t = 0; t < count; t++)
            for (size_t o = 0; o < OUTPUTS; o++) to[OUTPUTS * t + o] += terms[t] * force[o];
    }
}

// The ridge: coefficients cost what they would do to vertices alone.
static void ridge_task(void *data, uint32_t helper)
{
    const couple *c = data;
    const double *from = c->from + (size_t)helper * ROOM, *block = c->block + 36 * (size_t)helper;
    double *to = c->to + (size_t)helper * ROOM;
    for (size_t t = 0; t < TERMS; t++) {
        const double by = c->weight[helper * (size_t)TERMS + t];
        for (size_t o = 0; o < OUTPUTS && by > 0; o++)
            for (size_t k = 0; k < OUTPUTS; k++)
                to[OUTPUTS * t + o] += by * block[OUTPUTS * o + k] * from[OUTPUTS * t + k];
    }
}

static void apply(couple *c, const double *from, double *to)
{
    c->from = from, c->to = to;
    cutis_device_run(c->job->device, twists_task, c, c->helper_count);
    cutis_device_run(c->job->device, forces_task, c, c->helper_count);
    cutis_device_run(c->job->device, ridge_task, c, c->helper_count);
}

// What the descent is steered by: each helper as if alone -------------------------------------

static void blocks_task(void *data, uint32_t helper)
{
    const couple *c = data;
    const cutis_regress_fit *fit = &c->job->drive->fits[helper];
    double *block = c->block + 36 * (size_t)helper, *factor = c->factor + 36 * (size_t)helper;
    double *gram = c->gram + (size_t)helper * TERMS * TERMS, terms[TERMS], most = 0;
    double *weight = c->weight + helper * (size_t)TERMS;
    const pair *self = &c->pairs[c->first[helper]];
    while (self->other != helper) self++;
    uint32_t count = 0;
    for (uint32_t f = 0; f < c->frame_count; f++) {
        const answer *a = &c->answers[(size_t)helper * c->frame_count + f];
        count = read_terms(c, helper, f, terms);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = 0; k <= i && terms[i] != 0; k++)
                gram[i * count + k] += terms[i] * terms[k];
        for (int o = 0; o < OUTPUTS; o++) {
            double y[OUTPUTS] = { 0 }, x[OUTPUTS], z[OUTPUTS] = { 0 }, back[OUTPUTS];
            y[o] = 1.0 / c->frame_count;
            double33_vector(a->turn, y, x), double33_vector(a->shift, y + 3, x + 3);
            add_force(self, a->linear, a->linear, x, z);
            transpose_vector(a->turn, z, back), transpose_vector(a->shift, z + 3, back + 3);
            for (int k = 0; k < OUTPUTS; k++) block[OUTPUTS * k + o] += back[k];
        }
    }
    for (uint32_t t = 0; t < count; t++) most = fmax(most, gram[t * count + t]);
    for (uint32_t t = 0; t < count; t++) {
        weight[t] = fit->ridge * gram[t * count + t] + 1e-12 * most;
        gram[t * count + t] += weight[t];
    }
    const double size = c->job->diagonal, least = 1e-9 * self->mass;
    for (size_t o = 0; o < OUTPUTS; o++) block[7 * o] += o < 3 ? least * size * size : least;
    memcpy(factor, block, 36 * sizeof *factor);
    const bool good = most > 0 && self->mass > 0 && cutis_cholesky_factor(count, gram) &&
                      cutis_cholesky_factor(OUTPUTS, factor);
    if (!good) weight[0] = -1; // it stays as it is
}

static void steer_task(void *data, uint32_t helper)
{
    const couple *c = data;
    const cutis_regress_fit *fit = &c->job->drive->fits[helper];
    const uint32_t count = cutis_regress_count(cutis_regress_inputs(fit));
    const double *from = c->left + (size_t)helper * ROOM;
    const double *gram = c->gram + (size_t)helper * TERMS * TERMS;
    double *to = c->ready + (size_t)helper * ROOM, column[TERMS];
    memset(to, 0, ROOM * sizeof *to);
    if (c->weight[helper * (size_t)TERMS] < 0) return;
    for (size_t t = 0; t < count; t++) {
        memcpy(to + OUTPUTS * t, from + OUTPUTS * t, OUTPUTS * sizeof *to);
        cutis_cholesky_solve(OUTPUTS, c->factor + 36 * (size_t)helper, to + OUTPUTS * t);
    }
    for (size_t o = 0; o < OUTPUTS; o++) {
        for (size_t t = 0; t < count; t++) column[t] = to[OUTPUTS * t + o];
        cutis_cholesky_solve(count, gram, column);
        for (size_t t = 0; t < count; t++) to[OUTPUTS * t + o] = column[t];
    }
}

// The whole -------------------------------------------------------------------------------------

static void add_vertex(const couple *c, uint32_t point, double by, pair *p, uint32_t helper)
{
    const double *at = c->job->problem.positions + 3 * (size_t)point;
    const double *own = c->job->pivot + 3 * (size_t)helper;
    const double *other = c->job->pivot + 3 * (size_t)p->other;
    for (size_t i = 0; i < 3; i++) {
        const double u = at[i] - own[i];
        for (size_t k = 0; k < 3; k++) p->square[3 * i + k] += by * u * (at[k] - other[k]);
        p->own[i] += by * u, p->others[i] += by * (at[i] - other[i]);
    }
    p->mass += by;
}

// A point's pairs: marked (`place` is 0 or 1), or added to their sums (one more than where).
static void visit_point(const couple *c, uint32_t point, uint32_t *place)
{
    const cutis_bake_solution *s = &c->job->solution;
    const cutis_bake_problem *p = &c->job->problem;
    const size_t first = (size_t)point * p->influences;
    for (size_t a = first; a < first + s->count[point]; a++)
        for (size_t b = first; b < first + s->count[point]; b++) {
            if (s->bone[a] < p->joint_count || s->bone[b] < p->joint_count) continue;
            const uint32_t h = s->bone[a] - p->joint_count;
            uint32_t *at = &place[(size_t)h * c->helper_count + s->bone[b] - p->joint_count];
            if (!c->pairs)
                *at = 1;
            else
                add_vertex(c, point,
                           p->mass[point] * s->weight[a] * s->weight[b] *
                               (a == b ? 1 + p->affinity : 1),
                           &c->pairs[*at - 1], h);
        }
}

static bool list_pairs(couple *c, cutis_arena *arena)
{
    const uint32_t n = c->helper_count, points = c->job->point_count;
    uint32_t *place = cutis_arena_zero(arena, n, n * sizeof *place), count = 0;
    c->first = cutis_arena_zero(arena, n + (size_t)1, sizeof *c->first);
    if (!place || !c->first) return false;
    for (uint32_t i = 0; i < points; i++) visit_point(c, i, place);
    for (uint32_t h = 0; h < n; h++) {
        place[(size_t)h * n + h] = 1;
        for (uint32_t k = 0; k < n; k++)
            if (place[(size_t)h * n + k]) place[(size_t)h * n + k] = ++count;
        c->first[h + 1] = count;
    }
    c->pairs = cutis_arena_zero(arena, count, sizeof *c->pairs);
    if (!c->pairs) return false;
    for (uint32_t k = 0; k < n * n; k++)
        if (place[k]) c->pairs[place[k] - 1].other = k % n;
    for (uint32_t i = 0; i < points; i++) visit_point(c, i, place);
    return true;
}

static bool open_couple(couple *c, cutis_arena *arena)
{
    const size_t n = c->helper_count, frames = c->frame_count;
    c->answers = cutis_arena_alloc(arena, n * frames, sizeof *c->answers);
    c->twists = cutis_arena_alloc(arena, n * frames, OUTPUTS * sizeof *c->twists);
    c->gram = cutis_arena_zero(arena, n * TERMS, TERMS * sizeof *c->gram);
    c->weight = cutis_arena_zero(arena, n, TERMS * sizeof *c->weight);
    c->block = cutis_arena_zero(arena, n, 36 * sizeof *c->block);
    c->factor = cutis_arena_zero(arena, n, 36 * sizeof *c->factor);
    c->found = cutis_arena_zero(arena, n, 5 * ROOM * sizeof *c->found);
    if (!c->answers || !c->twists || !c->gram || !c->weight || !c->block || !c->factor || !c->found)
        return false;
    c->left = c->found + n * ROOM, c->ready = c->left + n * ROOM;
    c->way = c->ready + n * ROOM, c->image = c->way + n * ROOM;
    return list_pairs(c, arena);
}

static double product(const couple *c, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < (size_t)c->helper_count * ROOM; i++) sum += a[i] * b[i];
    return sum;
}

// Conjugate gradients from the coefficients there are.
static void descend(couple *c)
{
    const size_t n = (size_t)c->helper_count * ROOM;
    apply(c, c->found, c->image);
    for (size_t i = 0; i < n; i++) c->left[i] -= c->image[i];
    cutis_device_run(c->job->device, steer_task, c, c->helper_count);
    memcpy(c->way, c->ready, n * sizeof *c->way);
    double now = product(c, c->left, c->ready);
    const double begun = now;
    for (int k = 0; k < STEPS && now > ENOUGH * ENOUGH * begun; k++) {
        apply(c, c->way, c->image);
        const double bend = product(c, c->way, c->image);
        if (!(bend > 0)) break;
        for (size_t i = 0; i < n; i++) {
            c->found[i] += now / bend * c->way[i];
            c->left[i] -= now / bend * c->image[i];
        }
        cutis_device_run(c->job->device, steer_task, c, c->helper_count);
        const double next = product(c, c->left, c->ready);
        for (size_t i = 0; i < n; i++) c->way[i] = c->ready[i] + next / now * c->way[i];
        now = next;
    }
}

static void move(double *own, float *theirs, bool back)
{
    for (int o = 0; o < OUTPUTS; o++)
        if (back)
            theirs[o] = (float)own[o];
        else
            own[o] = (double)theirs[o];
}

// From those of the fits, or back: here are only terms of inputs that are read.
static void move_coefficients(const couple *c, bool back)
{
    for (uint32_t h = 0; h < c->helper_count; h++) {
        cutis_regress_fit *fit = &c->job->drive->fits[h];
        const uint32_t n = 4 * fit->input_count;
        uint8_t kept[TERMS];
        const uint32_t count = cutis_regress_kept(fit->used, n, kept);
        for (uint32_t t = 0; t < count; t++)
            move(c->found + (size_t)h * ROOM + OUTPUTS * t, fit->coefficients + OUTPUTS * kept[t],
                 back);
    }
}

cutis_result cutis_bake_drive_couple(cutis_bake_job *job, const double *driven,
                                     const double *wanted)
{
    cutis_arena arena = { .context = job->context };
    couple c = { .job = job,
                 .driven = driven,
                 .wanted = wanted,
                 .frame_count = job->learned.count,
                 .helper_count = job->solution.helper_count };
    if (!open_couple(&c, &arena)) {
        cutis_arena_release(&arena);
        return cutis_alloc_result(job->context);
    }
    cutis_device_run(job->device, answers_task, &c, c.helper_count);
    cutis_device_run(job->device, blocks_task, &c, c.helper_count);
    c.to = c.left;
    cutis_device_run(job->device, forces_task, &c, c.helper_count);
    move_coefficients(&c, false);
    descend(&c);
    move_coefficients(&c, true);
    cutis_arena_release(&arena);
    return CUTIS_OK;
}
