// Transforms of helpers for given weights: moments of the points (once), goals of every frame, and
// a solve per frame whose cost does not depend on the points (docs/spec/bake.md 3). Invariant: sums
// run over points in ascending order, whichever thread does them.
#include "fit/bake/gpu.h"

#include <string.h>

// Frames of a task of goals.
enum { FRAMES = 64 };

// Doubles that all solves of transforms have together; where one needs more than a share of it,
// fewer run at once.
static const size_t SCRATCH_MOST = (size_t)1 << 25;

size_t cutis_bake_scratch(uint32_t helper_count, size_t blocks)
{
    return CUTIS_BAKE_LANES * (66 * (size_t)helper_count + 36 * blocks);
}

// Moments of one helper with all bones that share a point with it.
static void moments_task(void *data, uint32_t helper)
{
    const cutis_bake_work *work = data;
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    const size_t bones = p->joint_count + (size_t)work->helper_count;
    double *moments = work->moments + helper * bones * CUTIS_BAKE_SQUARE;
    uint8_t *coupled = work->coupled + helper * bones;
    memset(moments, 0, bones * CUTIS_BAKE_SQUARE * sizeof *moments);
    memset(coupled, 0, bones);
    for (uint32_t i = 0; i < level->count; i++) {
        const uint32_t *bone = level->bone + (size_t)i * p->influences;
        const double *weight = level->weight + (size_t)i * p->influences;
        uint32_t own = 0;
        while (own < level->slots[i] && bone[own] != p->joint_count + helper) own++;
        if (own == level->slots[i]) continue;
        const double *square = level->square + CUTIS_BAKE_SQUARE * (size_t)i;
        const double by = p->mass[i] * weight[own];
        for (uint32_t k = 0; k < level->slots[i]; k++) {
            double *to = moments + bone[k] * (size_t)CUTIS_BAKE_SQUARE;
            const double w = by * weight[k] * (k == own ? 1 + p->affinity : 1);
            for (int e = 0; e < CUTIS_BAKE_SQUARE; e++) to[e] += w * square[e];
            coupled[bone[k]] = 1;
        }
    }
}

// Goals of one helper over some frames.
static void goals_task(void *data, uint32_t index)
{
    const cutis_bake_work *work = data;
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    const uint32_t chunks = (uint32_t)((p->stride + FRAMES - 1) / FRAMES);
    const uint32_t helper = index / chunks;
    const size_t first = (size_t)(index % chunks) * FRAMES;
    const size_t end = first + FRAMES < p->stride ? first + FRAMES : p->stride;
    double *goal = work->goals + helper * 12 * p->stride;
    for (size_t k = 0; k < 12; k++)
        memset(goal + k * p->stride + first, 0, (end - first) * sizeof *goal);
    double place[4 * CUTIS_BAKE_TOGETHER];
    const float *target[CUTIS_BAKE_TOGETHER];
    uint32_t waiting = 0;
    for (uint32_t i = 0; i <= level->count; i++) {
        const uint32_t kinds = p->turns && i < level->count ? 2 : 1;
        for (uint32_t kind = 0; kind < kinds; kind++) {
            if (i < level->count) {
                const uint32_t *bone = level->bone + (size_t)i * p->influences;
                uint32_t own = 0;
                while (own < level->slots[i] && bone[own] != p->joint_count + helper) own++;
                if (own == level->slots[i]) continue;
                const double w = level->weight[(size_t)i * p->influences + own];
                const double by = p->mass[i] * (w + p->affinity * w * w);
                const double *at = (kind ? p->normals : p->positions) + 3 * (size_t)i;
                const double times = kind ? p->worth * p->worth * by : by;
                for (int c = 0; c < 3; c++) place[4 * waiting + (uint32_t)c] = times * at[c];
                place[4 * waiting + 3] = kind ? 0 : by;
                target[waiting++] = (kind ? p->turns : p->targets) + i * 3 * p->stride;
                if (waiting < CUTIS_BAKE_TOGETHER) continue;
            }
            if (waiting == 0) break;
            for (; waiting < CUTIS_BAKE_TOGETHER; waiting++) { // the last ones: zeros add nothing
                memset(place + 4 * waiting, 0, 4 * sizeof *place);
                target[waiting] = target[0];
            }
            work->wide->goal(goal, place, target, p->stride, first, end);
            waiting = 0;
        }
    }
}

// Which blocks of the factor are not zero: those of the matrix, and what elimination adds.
// @return how many
static size_t fill_in(cutis_bake_work *work)
{
    const uint32_t n = work->helper_count, joints = work->problem->joint_count;
    uint32_t *filled = work->filled, count = 0;
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t c = 0; c < n; c++)
            filled[b * n + c] = b == c || work->coupled[b * (size_t)(joints + n) + joints + c];
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t b = k + 1; b < n; b++)
            for (uint32_t c = k + 1; c <= b && filled[b * n + k]; c++)
                filled[b * n + c] |= filled[c * n + k];
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t c = 0; c <= b; c++)
            if (filled[b * n + c]) filled[b * n + c] = ++count;
    return count;
}

// Memory for solves of so many blocks. @return how many may run at once; 0: there is none
static uint32_t take_scratch(cutis_bake_work *work, size_t blocks)
{
    const size_t size = cutis_bake_scratch(work->helper_count, blocks);
    size_t tasks = SCRATCH_MOST / size; // NOLINT(clang-analyzer-core.DivideZero): a task has memory
    tasks = tasks < 1 ? 1 : tasks > CUTIS_BAKE_TASKS ? CUTIS_BAKE_TASKS : tasks;
    work->solve_size = size;
    if (tasks * size <= work->solve_room) return (uint32_t)tasks;
    work->solve_room = tasks * size + tasks * size / 4; // one after the other would add up
    work->solve_scratch = cutis_arena_alloc(work->arena, work->solve_room, sizeof(double));
    if (!work->solve_scratch) {
        cutis_bake_try(work, cutis_alloc_result(work->problem->context));
        work->solve_room = 0;
    }
    return work->solve_scratch ? (uint32_t)tasks : 0;
}

typedef struct solve_job {
    cutis_bake_work *work;
    cutis_bake_motion motion;
    uint32_t groups, tasks;
} solve_job;

static void solve_task(void *data, uint32_t task)
{
    const solve_job *job = data;
    for (uint32_t g = task; g < job->groups; g += job->tasks)
        job->work->wide->solve(&job->motion, g * CUTIS_BAKE_LANES,
                               job->work->solve_scratch + task * job->work->solve_size);
}

double cutis_bake_motion_solve(cutis_bake_work *work, uint32_t steps)
{
    const cutis_bake_problem *p = work->problem;
    const uint32_t chunks = (uint32_t)((p->stride + FRAMES - 1) / FRAMES);
    if (work->helper_count == 0 || work->result != CUTIS_OK) return 0;
    cutis_device_run(p->device, moments_task, work, work->helper_count);
    if (work->gpu)
        cutis_bake_try(work, cutis_bake_gpu_goals(work));
    else
        cutis_device_run(p->device, goals_task, work, work->helper_count * chunks);
    const uint32_t tasks = take_scratch(work, fill_in(work));
    if (tasks == 0) return 0;
    solve_job job = { .tasks = tasks,
                      .work = work,
                      .groups = (uint32_t)(p->stride / CUTIS_BAKE_LANES) };
    job.motion = (cutis_bake_motion){ .helper_count = work->helper_count,
                                      .joint_count = p->joint_count,
                                      .stride = p->stride,
                                      .joints = p->joints,
                                      .helpers = work->helpers,
                                      .goals = work->goals,
                                      .moments = work->moments,
                                      .coupled = work->coupled,
                                      .filled = work->filled,
                                      .damping = work->damping,
                                      .gain = work->gain,
                                      .frame_count = p->frame_count,
                                      .step_count = steps };
    cutis_device_run(p->device, solve_task, &job, tasks);
    double sum = 0;
    for (uint32_t f = 0; f < p->frame_count; f++) sum += work->gain[f];
    return sum;
}
