// How far points and their normals are off, summed over the frames themselves, not from moments,
// whose differences lose digits. Invariant: sums run over frames in ascending order.
#include "fit/bake/solver.h"

enum { TASK = 32, CHUNK = 64 };

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

// Sum over frames of its square; of normals (one: 0) what stands across the target, for their
// lengths are of no account.
static double sum_squares(const cutis_bake_work *work, const weights *w, const double *at,
                          double one, const float *target)
{
    const cutis_bake_problem *p = work->problem;
    double sum = 0, off[3][CHUNK];
    for (size_t first = 0; first < p->frame_count; first += CHUNK) {
        const size_t count = p->frame_count - first < CHUNK ? p->frame_count - first : CHUNK;
        differences(work, w, at, one, target, first, count, off);
        for (size_t f = 0; f < count; f++) {
            double square = 0, along = 0, length = 0;
            for (size_t c = 0; c < 3; c++) {
                const double t = (double)target[c * p->stride + first + f];
                square += off[c][f] * off[c][f];
                along += off[c][f] * t, length += t * t;
            }
            sum += one == 0 && length > 0 ? square - along * along / length : square;
        }
    }
    return sum > 0 ? sum : 0;
}

static void residual_task(void *data, uint32_t task)
{
    cutis_bake_work *work = data;
    const cutis_bake_problem *p = work->problem;
    cutis_bake_level *level = work->level;
    const double worth = p->worth * p->worth;
    for (uint32_t i = task * TASK; i < (task + 1) * TASK && i < level->count; i++) {
        const size_t slots = (size_t)i * p->influences, from = p->first ? p->first[i] : 0;
        const weights now = { level->slots[i], level->bone + slots, level->weight + slots };
        const weights own = { p->first ? p->first[i + 1] - (uint32_t)from : 0, p->joint + from,
                              p->weight + from };
        const float *target = p->targets + 3 * (size_t)i * p->stride;
        const double *at = p->positions + 3 * (size_t)i;
        level->residual[i] = sum_squares(work, &now, at, 1, target);
        if (own.count) level->plain[i] = sum_squares(work, &own, at, 1, target);
        if (!p->turns) continue;
        at = p->normals + 3 * (size_t)i, target = p->turns + 3 * (size_t)i * p->stride;
        level->turn[i] = worth * sum_squares(work, &now, at, 0, target);
        if (own.count) level->plain_turn[i] = worth * sum_squares(work, &own, at, 0, target);
    }
}

void cutis_bake_residuals(cutis_bake_work *work)
{
    cutis_device_run(work->problem->device, residual_task, work,
                     (work->level->count + TASK - 1) / TASK);
}
