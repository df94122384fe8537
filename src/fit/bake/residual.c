// How far points and their normals are off, summed over the frames themselves, not from moments,
// whose differences lose digits. Invariant: sums run over frames in ascending order.
#include "fit/bake/gpu.h"

#include "base/error.h"

enum { TASK = 32, CHUNK = 64 };

typedef struct turn_job {
    const cutis_bake_work *work;
    double *turns[2]; ///< per frame: by the weights there are, by those points came with
} turn_job;

typedef struct weights {
    uint32_t count;
    const uint32_t *bone;
    const double *weight;
} weights;

// Where sum w M (at, one) is beside the target, frame by frame.
static void differences(const cutis_bake_work *work, const weights *w, const double *at, double one,
                        const float *target, size_t first, size_t count, double (*off)[CHUNK])
{
    const size_t stride = work->problem->stride, column = 3 * stride;
    for (size_t c = 0; c < 3; c++) {
        for (size_t f = 0; f < count; f++) off[c][f] = -(double)target[c * stride + first + f];
        for (uint32_t k = 0; k < w->count; k++) {
            const double *m = cutis_bake_track(work, w->bone[k]) + c * stride + first;
            const double a = w->weight[k] * at[0], b = w->weight[k] * at[1],
                         d = w->weight[k] * at[2], e = w->weight[k] * one;
            for (size_t f = 0; f < count; f++)
                off[c][f] +=
                    a * m[f] + b * m[column + f] + d * m[2 * column + f] + e * m[3 * column + f];
        }
    }
}

// Its square in a frame; of normals (one: 0) what stands across the target, for their lengths are
// of no account.
static double square_of(const cutis_bake_problem *p, double (*off)[CHUNK], const float *target,
                        size_t first, size_t f, double one)
{
    double square = 0, along = 0, length = 0;
    for (size_t c = 0; c < 3; c++) {
        const double t = (double)target[c * p->stride + first + f];
        square += off[c][f] * off[c][f];
        along += off[c][f] * t, length += t * t;
    }
    if (one == 0 && length > 0) square -= along * along / length;
    return square > 0 ? square : 0;
}

static double sum_squares_in(const cutis_bake_work *work, const weights *w, const double *at,
                             double one, const float *target, size_t first, size_t end)
{
    const cutis_bake_problem *p = work->problem;
    double sum = 0, off[3][CHUNK];
    for (; first < end; first += CHUNK) {
        const size_t count = end - first < CHUNK ? end - first : CHUNK;
        differences(work, w, at, one, target, first, count, off);
        for (size_t f = 0; f < count; f++) sum += square_of(p, off, target, first, f, one);
    }
    return sum;
}

static double sum_squares(const cutis_bake_work *work, const weights *w, const double *at,
                          double one, const float *target)
{
    return sum_squares_in(work, w, at, one, target, 0, work->problem->frame_count);
}

double cutis_bake_squares_in(const cutis_bake_work *work, uint32_t point, uint32_t count,
                             const uint32_t *bone, const double *weight, size_t first, size_t end)
{
    const cutis_bake_problem *p = work->problem;
    return sum_squares_in(work, &(weights){ count, bone, weight }, p->positions + 3 * (size_t)point,
                          1, p->targets + 3 * (size_t)point * p->stride, first, end);
}

static void residual_task(void *data, uint32_t task)
{
    cutis_bake_work *work = data;
    const cutis_bake_problem *p = work->problem;
    cutis_bake_level *level = work->level;
    for (uint32_t i = task * TASK; i < (task + 1) * TASK && i < level->count; i++) {
        const size_t slots = (size_t)i * p->influences, from = p->first ? p->first[i] : 0;
        const weights now = { level->slots[i], level->bone + slots, level->weight + slots };
        const weights own = { p->first ? p->first[i + 1] - (uint32_t)from : 0, p->joint + from,
                              p->weight + from };
        const float *target = p->targets + 3 * (size_t)i * p->stride;
        const double *at = p->positions + 3 * (size_t)i;
        level->residual[i] = sum_squares(work, &now, at, 1, target);
        if (own.count && !level->plain_known)
            level->plain[i] = sum_squares(work, &own, at, 1, target);
        if (!p->turns) continue;
        at = p->normals + 3 * (size_t)i, target = p->turns + 3 * (size_t)i * p->stride;
        level->turn[i] = sum_squares(work, &now, at, 0, target);
        if (own.count && !level->own_known)
            level->own_turn[i] = sum_squares(work, &own, at, 0, target);
    }
}

// Turns of some frames, summed over points in ascending order.
static void turn_task(void *data, uint32_t task)
{
    const turn_job *job = data;
    const cutis_bake_work *work = job->work;
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    const size_t first = (size_t)task * CHUNK;
    const size_t count = p->frame_count - first < CHUNK ? p->frame_count - first : CHUNK;
    for (uint32_t i = 0; i < level->count; i++) {
        const size_t slots = (size_t)i * p->influences, from = p->first[i];
        const weights both[2] = { { level->slots[i], level->bone + slots, level->weight + slots },
                                  { p->first[i + 1] - (uint32_t)from, p->joint + from,
                                    p->weight + from } };
        const float *target = p->turns + 3 * (size_t)i * p->stride;
        for (int k = 0; k < (job->turns[1] ? 2 : 1); k++) {
            double off[3][CHUNK];
            differences(work, &both[k], p->normals + 3 * (size_t)i, 0, target, first, count, off);
            for (size_t f = 0; f < count; f++)
                job->turns[k][first + f] += p->mass[i] * square_of(p, off, target, first, f, 0);
        }
    }
}

void cutis_bake_turns(cutis_bake_work *work, double *now, double *own)
{
    turn_job job = { work, { now, own } };
    const uint32_t frames = work->problem->frame_count;
    for (uint32_t f = 0; f < frames; f++) now[f] = 0;
    for (uint32_t f = 0; own && f < frames; f++) own[f] = 0;
    if (work->gpu) {
        const cutis_bake_errors here = { .normals = true, .per_frame = now };
        const cutis_bake_errors before = { .own = true, .normals = true, .per_frame = own };
        cutis_bake_try(work, cutis_bake_gpu_errors(work, &here));
        if (own) cutis_bake_try(work, cutis_bake_gpu_errors(work, &before));
        return;
    }
    cutis_device_run(work->problem->device, turn_task, &job, (frames + CHUNK - 1) / CHUNK);
}

static cutis_result residuals_on_gpu(const cutis_bake_work *work)
{
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    TRY(cutis_bake_gpu_errors(work, &(cutis_bake_errors){ .per_point = level->residual }));
    if (p->first && !level->plain_known)
        TRY(cutis_bake_gpu_errors(work,
                                  &(cutis_bake_errors){ .own = true, .per_point = level->plain }));
    if (!p->turns) return CUTIS_OK;
    TRY(cutis_bake_gpu_errors(work,
                              &(cutis_bake_errors){ .normals = true, .per_point = level->turn }));
    if (!p->first || level->own_known) return CUTIS_OK;
    return cutis_bake_gpu_errors(
        work, &(cutis_bake_errors){ .own = true, .normals = true, .per_point = level->own_turn });
}

void cutis_bake_residuals(cutis_bake_work *work)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_level *level = work->level;
    const double worth = p->worth * p->worth;
    if (work->gpu)
        cutis_bake_try(work, residuals_on_gpu(work));
    else
        cutis_device_run(p->device, residual_task, work, (level->count + TASK - 1) / TASK);
    level->plain_known = true, level->own_known = p->turns != NULL;
    for (uint32_t i = 0; i < level->count && p->turns; i++) {
        level->turn[i] *= worth;
        level->plain_turn[i] = worth * level->own_turn[i];
    }
}
