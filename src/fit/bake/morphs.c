// What joints leave over, as morph targets with weights over time (docs/spec/bake.md 7): residuals
// in rest space, their principal fields, then weights and fields in turn as linear blending plays
// them. Invariant: sums run over frames or points in ascending order, so threads do not show in the
// bits.
#include "fit/bake/drive.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/cholesky.h"
#include "math/mat3.h"

// Where blending collapses, a displacement would be without bounds: this much of a unit is added.
static const double DAMPED = 1e-3;
// Points that the fields' weights are found on, columns beyond those wanted and rounds of the
// iteration that finds them, rounds of weights and fields afterwards.
enum { SAMPLE = 4096, BESIDE = 8, TURNS = 60, ROUNDS = 3, TASK = 16 };
// Rounds of drivers, fields that suit them, and weights that suit those.
enum { DRIVE_ROUNDS = 8 };

typedef struct morphing {
    cutis_bake_job *job;
    uint32_t count;  ///< fields
    uint32_t sample; ///< points
    float *residual; ///< [learned frame][3 sample], in rest space
    double *gram;    ///< [frame][frame]
    uint32_t width;  ///< columns of the iteration
    double *columns; ///< [column][frame]
    cutis_bake_part *part;
    double *coefficients; ///< [frame of the part][count]
} morphing;

// The blended matrix of a point in a frame, and what is missing to its target.
static void blend(const cutis_bake_job *job, const cutis_bake_part *part, uint32_t i, size_t f,
                  double *m, double *off)
{
    const cutis_bake_solution *s = &job->solution;
    const bool kept = cutis_bake_is_kept(job, i);
    const uint32_t count = kept ? job->first[i + 1] - job->first[i] : s->count[i];
    const uint32_t *bone =
        kept ? job->joint + job->first[i] : s->bone + (size_t)i * job->problem.influences;
    const double *weight =
        kept ? job->weight + job->first[i] : s->weight + (size_t)i * job->problem.influences;
    memset(m, 0, 12 * sizeof *m);
    for (uint32_t k = 0; k < count; k++) {
        const double *track =
            bone[k] < job->joint_count
                ? part->joints + bone[k] * 12 * part->stride
                : part->helpers + (bone[k] - job->joint_count) * 12 * part->stride;
        for (size_t r = 0; r < 3; r++)
            for (size_t c = 0; c < 4; c++)
                m[4 * r + c] += weight[k] * track[(3 * c + r) * part->stride + f];
    }
    double34_point(m, job->positions + 3 * (size_t)i, off);
    for (size_t c = 0; c < 3; c++)
        off[c] = (double)part->targets[(3 * (size_t)i + c) * part->stride + f] - off[c];
}

// (A^T A + damping)^-1 A^T off
static void to_rest(const double *m, const double *off, double *out)
{
    double a[9];
    for (size_t r = 0; r < 3; r++) {
        for (size_t c = 0; c < 3; c++) {
            a[3 * r + c] = r == c ? DAMPED : 0;
            for (size_t k = 0; k < 3; k++) a[3 * r + c] += m[4 * k + r] * m[4 * k + c];
        }
        out[r] = m[r] * off[0] + m[4 + r] * off[1] + m[8 + r] * off[2];
    }
    if (cutis_cholesky_factor(3, a))
        cutis_cholesky_solve(3, a, out);
    else
        out[0] = out[1] = out[2] = 0;
}

static void residual_task(void *data, uint32_t f)
{
    const morphing *w = data;
    const cutis_bake_job *job = w->job;
    for (uint32_t s = 0; s < w->sample; s++) {
        const uint32_t i = (uint32_t)((uint64_t)s * job->point_count / w->sample);
        double m[12], off[3], rest[3];
        blend(job, &job->learned, i, f, m, off);
        to_rest(m, off, rest);
        for (size_t c = 0; c < 3; c++)
            w->residual[((size_t)f * w->sample + s) * 3 + c] =
                (float)(sqrt(job->mass[i]) * rest[c]);
    }
}

static void gram_task(void *data, uint32_t f)
{
    const morphing *w = data;
    const size_t length = 3 * (size_t)w->sample, n = w->job->learned.count;
    const float *a = w->residual + f * length;
    for (uint32_t g = 0; g <= f; g++) {
        const float *b = w->residual + g * length;
        double sum = 0;
        for (size_t k = 0; k < length; k++) sum += (double)a[k] * (double)b[k];
        w->gram[f * n + g] = w->gram[g * n + f] = sum;
    }
}

static double column_dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

// Orthonormal columns (Gram and Schmidt); one that is nothing becomes zero.
static void orthonormalise(morphing *w)
{
    const size_t n = w->job->learned.count;
    for (uint32_t a = 0; a < w->width; a++) {
        double *x = w->columns + a * n;
        const double before = column_dot(x, x, n);
        for (int again = 0; again < 2; again++)
            for (uint32_t b = 0; b < a; b++) {
                const double *y = w->columns + b * n, by = column_dot(x, y, n);
                for (size_t k = 0; k < n; k++) x[k] -= by * y[k];
            }
        const double square = column_dot(x, x, n);
        const double by = square > 1e-24 * before && square > 0 ? 1 / sqrt(square) : 0;
        for (size_t k = 0; k < n; k++) x[k] *= by;
    }
}

// The first principal vectors of the frames, by orthogonal iteration from fixed columns.
static bool find_columns(morphing *w, cutis_arena *arena)
{
    const size_t n = w->job->learned.count;
    w->width = w->count + BESIDE < n ? w->count + BESIDE : (uint32_t)n;
    w->columns = cutis_arena_alloc(arena, w->width * n, sizeof *w->columns);
    double *next = cutis_arena_alloc(arena, w->width * n, sizeof *next);
    if (!w->columns || !next) return false;
    uint32_t seed = 1;
    for (size_t k = 0; k < w->width * n; k++) {
        seed = seed * 1664525u + 1013904223u;
        w->columns[k] = (double)(seed >> 8) / (1 << 24) - 0.5;
    }
    orthonormalise(w);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        for (uint32_t a = 0; a < w->width; a++)
            for (size_t f = 0; f < n; f++)
                next[a * n + f] = column_dot(w->gram + f * n, w->columns + a * n, n);
        memcpy(w->columns, next, w->width * n * sizeof *next);
        orthonormalise(w);
    }
    return true;
}

// Fields of one point for given weights, as least squares over the learned frames: 3 count
// unknowns.
static void field_task(void *data, uint32_t index)
{
    const morphing *w = data;
    const cutis_bake_job *job = w->job;
    enum { MOST = 3 * CUTIS_BAKE_MORPHS };
    const uint32_t n = 3 * w->count;
    for (uint32_t i = index * TASK; i < (index + 1) * TASK && i < job->point_count; i++) {
        double a[MOST * MOST] = { 0 }, b[MOST] = { 0 }, trace = 0;
        for (uint32_t f = 0; f < job->learned.count; f++) {
            const double *x = w->coefficients + (size_t)f * w->count;
            double m[12], off[3], square[9], pull[3];
            blend(job, &job->learned, i, f, m, off);
            for (size_t r = 0; r < 3; r++) {
                pull[r] = m[r] * off[0] + m[4 + r] * off[1] + m[8 + r] * off[2];
                for (size_t c = 0; c < 3; c++)
                    square[3 * r + c] = m[r] * m[c] + m[4 + r] * m[4 + c] + m[8 + r] * m[8 + c];
            }
            for (uint32_t k = 0; k < w->count; k++) {
                for (uint32_t r = 0; r < 3; r++) b[3 * k + r] += x[k] * pull[r];
                for (uint32_t l = 0; l <= k; l++)
                    for (uint32_t r = 0; r < 3; r++)
                        for (uint32_t c = 0; c < 3; c++)
                            a[(3 * k + r) * n + 3 * l + c] += x[k] * x[l] * square[3 * r + c];
            }
        }
        for (uint32_t k = 0; k < n; k++) trace += a[k * n + k];
        for (uint32_t k = 0; k < n; k++) a[k * n + k] += DAMPED * trace / n + 1e-30;
        const bool good = cutis_cholesky_factor(n, a);
        if (good) cutis_cholesky_solve(n, a, b);
        for (uint32_t k = 0; k < w->count; k++)
            for (uint32_t r = 0; r < 3; r++)
                job->morphs[((size_t)k * job->point_count + i) * 3 + r] = good ? b[3 * k + r] : 0;
    }
}

// Weights of one frame for given fields.
static void weight_task(void *data, uint32_t f)
{
    const morphing *w = data;
    const cutis_bake_job *job = w->job;
    const uint32_t n = w->count;
    double a[CUTIS_BAKE_MORPHS * CUTIS_BAKE_MORPHS] = { 0 }, b[CUTIS_BAKE_MORPHS] = { 0 };
    double trace = 0;
    for (uint32_t i = 0; i < job->point_count; i++) {
        double m[12], off[3], moved[CUTIS_BAKE_MORPHS][3];
        blend(job, w->part, i, f, m, off);
        for (uint32_t k = 0; k < n; k++) {
            const double *d = job->morphs + ((size_t)k * job->point_count + i) * 3;
            for (size_t r = 0; r < 3; r++) moved[k][r] = double3_dot(m + 4 * r, d);
            b[k] += job->mass[i] * double3_dot(moved[k], off);
            for (uint32_t l = 0; l <= k; l++)
                a[k * n + l] += job->mass[i] * double3_dot(moved[k], moved[l]);
        }
    }
    for (uint32_t k = 0; k < n; k++) trace += a[k * n + k];
    for (uint32_t k = 0; k < n; k++) a[k * n + k] += 1e-9 * trace / n + 1e-30;
    const bool good = cutis_cholesky_factor(n, a);
    if (good) cutis_cholesky_solve(n, a, b);
    for (uint32_t k = 0; k < n; k++) w->coefficients[(size_t)f * n + k] = good ? b[k] : 0;
}

// So that no weight is larger than one.
static void scale_fields(cutis_bake_job *job)
{
    const uint32_t frames = job->frames->count;
    for (uint32_t k = 0; k < job->morph_count; k++) {
        double most = 0, *to = job->morphs + (size_t)k * job->point_count * 3;
        for (uint32_t f = 0; f < frames; f++)
            most = fmax(most, fabs(job->morph_weights[(size_t)k * frames + f]));
        for (uint32_t f = 0; f < frames && most > 0; f++)
            job->morph_weights[(size_t)k * frames + f] /= most;
        for (size_t c = 0; job->drive && most > 0 && c < 6 * (size_t)CUTIS_REGRESS_TERMS; c++)
            job->drive->morph_fits[k].coefficients[c] /= (float)most;
        for (size_t v = 0; v < 3 * (size_t)job->point_count; v++) to[v] *= most;
    }
}

static cutis_result find_fields(morphing *w, cutis_arena *arena)
{
    cutis_bake_job *job = w->job;
    const size_t n = job->learned.count;
    w->sample = job->point_count < SAMPLE ? job->point_count : SAMPLE;
    w->residual = cutis_arena_alloc(arena, n * w->sample, 3 * sizeof *w->residual);
    w->gram = cutis_arena_alloc(arena, n * n, sizeof *w->gram);
    if (!w->residual || !w->gram) return cutis_alloc_result(job->context);
    cutis_device_run(job->device, residual_task, w, (uint32_t)n);
    TRY(cutis_progress(job->context, "morph targets", 0));
    cutis_device_run(job->device, gram_task, w, (uint32_t)n);
    TRY(cutis_progress(job->context, "morph targets", 0));
    if (!find_columns(w, arena)) return cutis_alloc_result(job->context);
    for (size_t f = 0; f < n; f++)
        for (uint32_t k = 0; k < w->count; k++)
            w->coefficients[f * w->count + k] = w->columns[k * n + f];
    for (int round = 0; round < ROUNDS; round++) {
        TRY(cutis_progress(job->context, "morph targets", (double)round / ROUNDS));
        if (round > 0) cutis_device_run(job->device, weight_task, w, (uint32_t)n);
        TRY(cutis_progress(job->context, "morph targets", (round + 0.5) / ROUNDS));
        cutis_device_run_items(job->device, field_task, w, job->point_count, TASK);
    }
    return cutis_progress(job->context, "morph targets", 1);
}

// Fields for what drivers can give: what they make of the joints takes the place of the best
// weights, fields follow, and the best weights of these are what drivers learn next.
static cutis_result drive_fields(morphing *w)
{
    cutis_bake_job *job = w->job;
    for (int round = 0; round < DRIVE_ROUNDS; round++) {
        TRY(cutis_progress(job->context, "driving morph targets", (double)round / DRIVE_ROUNDS));
        cutis_device_run(job->device, weight_task, w, job->learned.count);
        TRY(cutis_bake_drive_morphs(job, w->count, round > 0, w->coefficients));
        cutis_device_run_items(job->device, field_task, w, job->point_count, TASK);
    }
    return CUTIS_OK;
}

// The same where helpers are as drivers have them.
static cutis_result find_driven(morphing *w, cutis_arena *arena)
{
    cutis_bake_part *part = &w->job->learned;
    double *tracks = part->helpers;
    const size_t count = w->job->solution.helper_count * 12 * part->stride;
    if (!w->job->drive) return find_fields(w, arena);
    part->helpers = cutis_arena_zero(arena, count + 1, sizeof *part->helpers);
    cutis_result result = part->helpers ? CUTIS_OK : cutis_alloc_result(w->job->context);
    if (result == CUTIS_OK && count) cutis_bake_drive_part(w->job, part, part->helpers);
    if (result == CUTIS_OK) result = find_fields(w, arena);
    if (result == CUTIS_OK) result = drive_fields(w);
    part->helpers = tracks;
    return result;
}

// Weights of some frames, to where they are kept.
static cutis_result weigh_part(cutis_bake_job *job, cutis_bake_part *part, uint32_t first,
                               void *data)
{
    morphing *w = data;
    const size_t frames = job->frames->count;
    (void)first;
    w->part = part;
    cutis_device_run(job->device, weight_task, w, part->count);
    for (uint32_t f = 0; f < part->count; f++)
        for (uint32_t m = 0; m < w->count; m++)
            job->morph_weights[m * frames + part->frame[f]] =
                w->coefficients[(size_t)f * w->count + m];
    return cutis_progress(job->context, "morph targets", 1);
}

cutis_result cutis_bake_morph(cutis_bake_job *job)
{
    cutis_arena arena = { .context = job->context };
    const uint32_t frames = job->frames->count;
    const uint32_t count =
        job->options.morphs < job->learned.count ? job->options.morphs : job->learned.count;
    if (count == 0) return CUTIS_OK;
    morphing w = { .job = job, .count = count, .part = &job->learned };
    job->morphs =
        cutis_arena_zero(job->arena, (size_t)count * job->point_count, 3 * sizeof(double));
    job->morph_weights = cutis_arena_zero(job->arena, (size_t)count * frames, sizeof(double));
    w.coefficients = cutis_arena_zero(&arena, (size_t)count * frames, sizeof(double));
    cutis_result result = job->morphs && job->morph_weights && w.coefficients
                              ? find_driven(&w, &arena)
                              : cutis_alloc_result(job->context);
    if (result == CUTIS_OK) result = weigh_part(job, &job->learned, 0, &w);
    if (result == CUTIS_OK) result = cutis_bake_each(job, 0, job->others.count, weigh_part, &w);
    cutis_arena_release(&arena);
    if (result != CUTIS_OK) return result;
    job->morph_count = count;
    scale_fields(job);
    return CUTIS_OK;
}
