// Weights that points keep: those they came with, where they do as well, and where a clip would be
// worse than by them (docs/spec/bake.md 6). Invariant: no learned clip ends worse than plain
// blending by more than rounding, as far as points came with no more influences than are baked.
#include "fit/bake/job.h"

#include <math.h>
#include <stdlib.h>

#include "geometry/heap.h"

// A point's own weights stay if others would bring it nearer by no more than this, of the diagonal:
// nobody sees it, and in other motions its own are the safer ones.
static const double WELL = 1e-5;
// What a clip's RMS may be above plain blending's, of the diagonal: positions are rounded to it.
static const double ROUNDING = 3e-7;
// What a point may lose in all clips for what the worse one gains, squared: where plain blending is
// right to rounding in one, nothing would be left of what others gain.
static const double PRICE_MOST = 100;
// Points that are looked at first, and what all clips have there if the others need no look.
enum { SAMPLE = 4096, TASK = 64 };
static const double PLAINLY = 0.8;

typedef struct keeping {
    cutis_bake_job *job;
    cutis_bake_problem problem;
    cutis_bake_work work;
    uint32_t clip_count, step; ///< every so many points
    uint32_t *first;           ///< clip_count + 1: learned frames of a clip
    double *now, *own;         ///< [clip][point]: squares, times the point's vertices
    cutis_waiting *order;      ///< points, cheapest first
} keeping;

static bool may_keep(const cutis_bake_job *job, uint32_t point)
{
    return !job->bare && job->first[point + 1] - job->first[point] <= job->problem.influences;
}

bool cutis_bake_is_kept(const cutis_bake_job *job, uint32_t point)
{
    const double near = WELL * job->diagonal, good = near * near * job->learned.count;
    return may_keep(job, point) &&
           (job->problem.keep_weights || (job->own && job->own[point]) ||
            job->solution.plain[point] + job->solution.plain_turn[point] <=
                job->solution.residual[point] + job->solution.turn[point] + good);
}

// Learned frames clip by clip; random poses stand behind them and are of none.
static bool find_clips(keeping *k)
{
    const cutis_bake_part *part = &k->job->learned;
    const int32_t *clips = k->job->frames->clips;
    k->first = cutis_arena_zero(k->job->arena, part->count + (size_t)2, sizeof *k->first);
    if (!k->first) return false;
    for (uint32_t f = 0; f < part->count; f++) {
        const int32_t clip = clips ? clips[part->frame[f]] : 0;
        if (clip == CUTIS_NONE) break;
        if (f == 0 || (clips && clip != clips[part->frame[f - 1]])) k->clip_count++;
        k->first[k->clip_count] = f + 1;
    }
    return true;
}

static void errors_task(void *data, uint32_t task)
{
    const keeping *k = data;
    const cutis_bake_job *job = k->job;
    const size_t n = job->point_count;
    for (uint32_t s = task * TASK; s < (task + 1) * TASK && s * (size_t)k->step < n; s++) {
        const uint32_t i = s * k->step, from = job->first[i];
        const size_t slots = (size_t)i * job->problem.influences;
        for (uint32_t c = 0; c < k->clip_count; c++) {
            double *now = &k->now[c * n + i], *own = &k->own[c * n + i];
            *own = job->mass[i] * cutis_bake_squares_in(&k->work, i, job->first[i + 1] - from,
                                                        job->joint + from, job->weight + from,
                                                        k->first[c], k->first[c + 1]);
            *now = cutis_bake_is_kept(job, i)
                       ? *own
                       : job->mass[i] * cutis_bake_squares_in(&k->work, i, job->solution.count[i],
                                                              job->solution.bone + slots,
                                                              job->solution.weight + slots,
                                                              k->first[c], k->first[c + 1]);
        }
    }
}

static double sum_of(const keeping *k, const double *squares, uint32_t clip)
{
    const size_t n = k->job->point_count;
    double sum = 0;
    for (size_t i = 0; i < n; i += k->step) sum += squares[clip * n + i];
    return sum;
}

static void find_errors(keeping *k, uint32_t step)
{
    const uint32_t count = (k->job->point_count + step - 1) / step;
    k->step = step;
    cutis_device_run_items(k->job->device, errors_task, k, count, TASK);
}

// The clip that is worst beside plain blending, beyond rounding; UINT32_MAX: none is.
static uint32_t worst_clip(const keeping *k)
{
    uint32_t worst = UINT32_MAX;
    double most = 1, vertices = 0;
    for (uint32_t i = 0; i < k->job->point_count; i++) vertices += k->job->mass[i];
    for (uint32_t c = 0; c < k->clip_count; c++) {
        const double frames = k->first[c + 1] - k->first[c];
        const double now = sqrt(sum_of(k, k->now, c) / vertices / frames);
        const double own = sqrt(sum_of(k, k->own, c) / vertices / frames);
        const double ratio = now / (own + ROUNDING * k->job->diagonal);
        if (ratio > most) most = ratio, worst = c;
    }
    return worst;
}

// Points that make a clip worse get their own weights back until it is not: first those that lose
// least in all clips for what this one gains. @return false: there are none
static bool give_back(keeping *k, uint32_t clip)
{
    cutis_bake_job *job = k->job;
    const size_t n = job->point_count;
    double excess = sum_of(k, k->now, clip) - sum_of(k, k->own, clip);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const double gain = k->now[clip * n + i] - k->own[clip * n + i];
        double loss = 0;
        if (!(gain > 0) || job->own[i] || !may_keep(job, i)) continue;
        for (uint32_t c = 0; c < k->clip_count; c++) loss += k->own[c * n + i] - k->now[c * n + i];
        if (loss > PRICE_MOST * gain) continue;
        k->order[count++] = (cutis_waiting){ loss / gain, i };
    }
    qsort(k->order, count, sizeof *k->order, cutis_heap_order);
    for (uint32_t e = 0; e < count && excess > 0; e++) {
        const uint32_t i = k->order[e].vertex;
        excess -= k->now[clip * n + i] - k->own[clip * n + i];
        job->own[i] = 1;
        for (uint32_t c = 0; c < k->clip_count; c++) k->now[c * n + i] = k->own[c * n + i];
    }
    return count > 0;
}

// Whether all clips are plainly better on some points.
static bool all_better(keeping *k)
{
    const uint32_t step = k->job->point_count / SAMPLE;
    find_errors(k, step > 1 ? step : 1);
    for (uint32_t c = 0; c < k->clip_count; c++)
        if (!(sum_of(k, k->now, c) < PLAINLY * PLAINLY * sum_of(k, k->own, c))) return false;
    return true;
}

cutis_result cutis_bake_keep_own(cutis_bake_job *job)
{
    cutis_arena own = { .context = job->context };
    const size_t n = job->point_count;
    keeping k = { .job = job, .problem = job->problem };
    if (job->bare || job->problem.keep_weights) return CUTIS_OK;
    // The points as they are, not as islands have them.
    k.problem.positions = job->positions, k.problem.targets = job->learned.targets;
    k.problem.joints = job->learned.joints;
    k.work = (cutis_bake_work){ .problem = &k.problem, .helpers = job->learned.helpers };
    job->own = cutis_arena_zero(job->arena, n, 1);
    bool good = job->own && find_clips(&k);
    k.now = cutis_arena_zero(&own, n * k.clip_count + 1, sizeof *k.now);
    k.own = cutis_arena_zero(&own, n * k.clip_count + 1, sizeof *k.own);
    k.order = cutis_arena_alloc(&own, n, sizeof *k.order);
    good = good && k.now && k.own && k.order;
    if (good && !all_better(&k)) {
        if (k.step > 1) find_errors(&k, 1);
        // Every time some points more; at the end all would be as they were.
        for (uint32_t clip = worst_clip(&k); clip != UINT32_MAX && give_back(&k, clip);)
            clip = worst_clip(&k);
    }
    cutis_arena_release(&own);
    return good ? CUTIS_OK : cutis_alloc_result(job->context);
}
