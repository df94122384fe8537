// Rounds of weights and transforms, over-relaxed (docs/spec/bake.md 5), and what puts a state back.
// Invariant: a round that does not lower the energy is undone.
#include "fit/bake/search.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/mat3.h"
#include "math/quat.h"

// Over-relaxation: where it starts, grows on success, and ends.
static const double BETA = 0.5, BETA_GROWTH = 1.2, BETA_MOST = 4;
// Rounds that gain less than this part each, so many in turn, are the last: valleys are long, and a
// round that gains little says little.
enum { WINDOW = 12 };
static const double STALLED = 5e-5;

bool cutis_bake_snapshot_create(const cutis_bake_work *work, cutis_arena *arena,
                                cutis_bake_snapshot *s)
{
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    const size_t slots = (size_t)level->count * p->influences;
    s->helpers = cutis_arena_alloc(arena, work->capacity * 12 * p->stride, sizeof *s->helpers);
    s->weight = cutis_arena_alloc(arena, slots, sizeof *s->weight);
    s->bone = cutis_arena_alloc(arena, slots, sizeof *s->bone);
    s->slots = cutis_arena_alloc(arena, level->count, 1);
    s->allowed =
        cutis_arena_alloc(arena, level->allowed ? (size_t)work->capacity * level->count : 1, 1);
    s->seed_joints = cutis_arena_alloc(arena, (size_t)work->capacity * p->joint_count + 1, 1);
    return s->helpers && s->weight && s->bone && s->slots && s->allowed && s->seed_joints;
}

static void copy(void *state, void *kept, size_t size, bool restore)
{
    memcpy(restore ? state : kept, restore ? kept : state, size);
}

static void copy_all(const cutis_bake_work *work, const cutis_bake_snapshot *s, size_t helpers,
                     bool restore)
{
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    const size_t slots = (size_t)level->count * p->influences;
    copy(work->helpers, s->helpers, helpers * 12 * p->stride * sizeof(double), restore);
    copy(level->weight, s->weight, slots * sizeof(double), restore);
    copy(level->bone, s->bone, slots * sizeof(uint32_t), restore);
    copy(level->slots, s->slots, level->count, restore);
    if (level->allowed) copy(level->allowed, s->allowed, helpers * level->count, restore);
    copy(work->seed_joints, s->seed_joints, helpers * p->joint_count, restore);
}

void cutis_bake_keep(const cutis_bake_work *work, cutis_bake_snapshot *to)
{
    to->helper_count = work->helper_count, to->energy = work->energy;
    copy_all(work, to, work->helper_count, false);
}

void cutis_bake_restore(cutis_bake_work *work, const cutis_bake_snapshot *from)
{
    work->helper_count = from->helper_count, work->energy = from->energy;
    copy_all(work, from, from->helper_count, true);
}

void cutis_bake_settle(cutis_bake_work *work)
{
    const uint32_t joints = work->problem->joint_count;
    cutis_bake_form(work, joints, joints + work->helper_count);
    work->energy = cutis_bake_weights(work, 0);
}

void cutis_bake_round(cutis_bake_work *work, uint32_t sweeps)
{
    const uint32_t joints = work->problem->joint_count;
    cutis_bake_form(work, joints, joints + work->helper_count);
    work->energy = cutis_bake_weights(work, sweeps);
    work->energy -= cutis_bake_motion_solve(work, 1);
}

// Over-relaxation -------------------------------------------------------------------------------

void cutis_bake_middles(const cutis_bake_problem *p, uint32_t helpers, const uint8_t *count,
                        const uint32_t *bone, const double *weight, double *pivot)
{
    double sum[CUTIS_BAKE_BONES] = { 0 };
    memset(pivot, 0, 3 * (size_t)helpers * sizeof *pivot);
    for (uint32_t i = 0; i < p->point_count; i++)
        for (uint32_t k = 0; k < count[i]; k++) {
            const size_t slot = (size_t)i * p->influences + k;
            if (bone[slot] < p->joint_count) continue;
            const uint32_t h = bone[slot] - p->joint_count;
            const double w = weight[slot], by = p->mass[i] * w * w;
            sum[h] += by;
            for (size_t c = 0; c < 3; c++)
                pivot[3 * (size_t)h + c] += by * p->positions[3 * (size_t)i + c];
        }
    for (uint32_t h = 0; h < helpers; h++)
        for (size_t c = 0; c < 3 && sum[h] > 0; c++) pivot[3 * (size_t)h + c] /= sum[h];
}

typedef struct relax_job {
    cutis_bake_work *work;
    const double *pivot; ///< 3 per helper
    double beta;
} relax_job;

// A helper goes on as it went, turning about the middle of what it moves.
static void relax_task(void *data, uint32_t helper)
{
    const relax_job *job = data;
    const cutis_bake_problem *p = job->work->problem;
    const size_t n = p->stride;
    double *now = job->work->helpers + helper * 12 * n;
    const double *before = job->work->before + helper * 12 * n;
    const double *pivot = job->pivot + 3 * (size_t)helper;
    for (size_t f = 0; f < p->frame_count; f++) {
        double a[9], b[9], turn[9], q[4], r[9], place[3];
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 3; j++) {
                a[3 * i + j] = now[(3 * j + i) * n + f];
                b[3 * i + j] = before[(3 * j + i) * n + f];
            }
        for (size_t i = 0; i < 3; i++) {
            const double here = double3_dot(a + 3 * i, pivot) + now[(9 + i) * n + f];
            const double there = double3_dot(b + 3 * i, pivot) + before[(9 + i) * n + f];
            place[i] = here + job->beta * (here - there);
        }
        double33_multiply_transpose(a, b, turn);
        cutis_quat_from_mat3(turn, q);
        if (q[0] < 0)
            for (int k = 0; k < 4; k++) q[k] = -q[k];
        for (int k = 1; k < 4; k++) q[k] *= 1 + job->beta;
        cutis_mat3_from_quat(q, turn);
        double33_multiply(turn, b, r);
        for (size_t i = 0; i < 3; i++) {
            for (size_t j = 0; j < 3; j++) now[(3 * j + i) * n + f] = r[3 * i + j];
            now[(9 + i) * n + f] = place[i] - double3_dot(r + 3 * i, pivot);
        }
    }
}

cutis_result cutis_bake_relax(cutis_bake_work *work, cutis_bake_snapshot *kept, uint32_t steps,
                              double from, double to)
{
    const cutis_bake_problem *p = work->problem;
    const size_t size = work->helper_count * 12 * p->stride * sizeof(double);
    double beta = BETA, *pivot = cutis_alloc_array(p->context, 3, work->capacity * sizeof *pivot);
    cutis_result result = pivot ? CUTIS_OK : cutis_alloc_result(p->context);
    memcpy(work->before, work->helpers, size);
    double once = work->energy;
    for (uint32_t k = 0; k < steps && result == CUTIS_OK; k++) {
        if (k % WINDOW == 0 && k > 0) {
            if (work->energy > once * (1 - STALLED * WINDOW)) break;
            once = work->energy;
        }
        cutis_bake_keep(work, kept);
        if (k > 0) {
            cutis_bake_middles(p, work->helper_count, work->level->slots, work->level->bone,
                               work->level->weight, pivot);
            relax_job job = { work, pivot, beta };
            cutis_device_run(p->device, relax_task, &job, work->helper_count);
        }
        cutis_bake_round(work, 1);
        const double gain = 1 - work->energy / kept->energy;
        if (k > 0 && !(gain > 0)) {
            cutis_bake_restore(work, kept);
            beta *= 0.5;
            if (beta < 0.02) break;
        } else {
            memcpy(work->before, kept->helpers, size);
            if (k > 0) beta = fmin(beta * BETA_GROWTH, BETA_MOST);
        }
        result = work->result != CUTIS_OK
                     ? work->result
                     : cutis_progress(p->context, "baking", from + (to - from) * k / steps);
    }
    cutis_free_array(p->context, pivot, 3, work->capacity * sizeof *pivot);
    return result;
}
