// Weights and transforms in turn, over-relaxed, from greedy seeds; helpers of little use are
// replaced (docs/spec/bake.md 5). Large meshes are solved on a sample of their points, then on all.
// Invariant: the state that is kept never has a higher energy than one before it.
#include "fit/bake/level.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "device/compute.h"
#include "math/mat3.h"
#include "math/quat.h"

// Points and frames that helpers are found on (of 300 frames every second); rounds of
// both solves on all points afterwards.
enum { SAMPLE = 8192, SAMPLE_FRAMES = 150, FULL_ROUNDS = 3, INHERIT_STEPS = 60 };
enum { SEED_ROUNDS = 2, FIRST_STEPS = 24, REFILL_ROUNDS = 14, REFILL_STEPS = 10, LAST_STEPS = 60 };
enum { STARTS = 3, ADD_STEPS = 6, CANDIDATES = 6, FOLLOW_STEPS = 80 };
// Over-relaxation: where it starts, grows on success, and ends.
static const double BETA = 0.5, BETA_GROWTH = 1.2, BETA_MOST = 4;
// Rounds that gain less than this part are the last.
static const double STALLED = 5e-5;

// Helpers that are tried beyond those wanted.
static uint32_t extra_of(uint32_t wanted)
{
    return wanted < 4 ? 1 : wanted < 16 ? wanted / 4 : wanted / 8;
}

// What has to be put back when a step fails.
typedef struct snapshot {
    uint32_t helper_count;
    double energy;
    double *helpers, *weight;
    uint8_t *slots, *allowed, *seed_joints;
    uint32_t *bone;
} snapshot;

static bool snapshot_create(const cutis_bake_work *work, cutis_arena *arena, snapshot *s)
{
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    const size_t slots = (size_t)level->count * p->influences;
    s->helpers = cutis_arena_alloc(arena, work->capacity * 12 * p->stride, sizeof *s->helpers);
    s->weight = cutis_arena_alloc(arena, slots, sizeof *s->weight);
    s->bone = cutis_arena_alloc(arena, slots, sizeof *s->bone);
    s->slots = cutis_arena_alloc(arena, level->count, 1);
    s->allowed = cutis_arena_alloc(arena, (size_t)work->capacity * level->count, 1);
    s->seed_joints = cutis_arena_alloc(arena, (size_t)work->capacity * p->joint_count + 1, 1);
    return s->helpers && s->weight && s->bone && s->slots && s->allowed && s->seed_joints;
}

static void swap_copy(void *state, void *kept, size_t size, bool restore)
{
    memcpy(restore ? state : kept, restore ? kept : state, size);
}

static void snapshot_move(cutis_bake_work *work, snapshot *s, bool restore)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_level *level = work->level;
    const size_t slots = (size_t)level->count * p->influences;
    if (restore)
        work->helper_count = s->helper_count, work->energy = s->energy;
    else
        s->helper_count = work->helper_count, s->energy = work->energy;
    const size_t h = work->helper_count;
    swap_copy(work->helpers, s->helpers, h * 12 * p->stride * sizeof(double), restore);
    swap_copy(level->weight, s->weight, slots * sizeof(double), restore);
    swap_copy(level->bone, s->bone, slots * sizeof(uint32_t), restore);
    swap_copy(level->slots, s->slots, level->count, restore);
    if (level->allowed) swap_copy(level->allowed, s->allowed, h * level->count, restore);
    swap_copy(work->seed_joints, s->seed_joints, h * p->joint_count, restore);
}

// Over-relaxation -------------------------------------------------------------------------------

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

static void find_pivots(const cutis_bake_work *work, double *pivot)
{
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    for (uint32_t h = 0; h < work->helper_count; h++) {
        double sum = 0, *to = pivot + 3 * (size_t)h;
        to[0] = to[1] = to[2] = 0;
        for (uint32_t i = 0; i < level->count; i++)
            for (uint32_t k = 0; k < level->slots[i]; k++) {
                if (level->bone[(size_t)i * p->influences + k] != p->joint_count + h) continue;
                const double w = level->weight[(size_t)i * p->influences + k];
                sum += w * w;
                for (int c = 0; c < 3; c++)
                    to[c] += w * w * p->positions[3 * (size_t)i + (size_t)c];
            }
        for (int c = 0; c < 3 && sum > 0; c++) to[c] /= sum;
    }
}

// One round from the helpers as they are.
static void step(cutis_bake_work *work, uint32_t sweeps)
{
    const uint32_t joints = work->problem->joint_count;
    cutis_bake_form(work, joints, joints + work->helper_count);
    work->energy = cutis_bake_weights(work, sweeps);
    work->energy -= cutis_bake_motion_solve(work, 1);
}

// @param stage for progress; @param from, to its part of it
static cutis_result relax(cutis_bake_work *work, snapshot *kept, uint32_t steps, double from,
                          double to)
{
    const cutis_bake_problem *p = work->problem;
    const size_t size = work->helper_count * 12 * p->stride * sizeof(double);
    double beta = BETA, *pivot = cutis_alloc_array(p->context, 3, work->capacity * sizeof *pivot);
    cutis_result result = pivot ? CUTIS_OK : cutis_alloc_result(p->context);
    memcpy(work->before, work->helpers, size);
    uint32_t stalled = 0;
    for (uint32_t k = 0; k < steps && stalled < 3 && result == CUTIS_OK; k++) {
        snapshot_move(work, kept, false);
        if (k > 0) {
            find_pivots(work, pivot);
            relax_job job = { work, pivot, beta };
            cutis_device_run(p->device, relax_task, &job, work->helper_count);
        }
        step(work, 1);
        const double gain = 1 - work->energy / kept->energy;
        if (k > 0 && !(gain > 0)) {
            snapshot_move(work, kept, true);
            beta *= 0.5;
            if (beta < 0.02) break;
        } else {
            memcpy(work->before, kept->helpers, size);
            if (k > 0) beta = fmin(beta * BETA_GROWTH, BETA_MOST);
            stalled = gain < STALLED ? stalled + 1 : 0;
        }
        result = cutis_progress(p->context, "baking", from + (to - from) * k / steps);
    }
    cutis_free_array(p->context, pivot, 3, work->capacity * sizeof *pivot);
    return result;
}

// Refilling -------------------------------------------------------------------------------------

// Take away the helpers that would be missed least.
static bool drop_least(cutis_bake_work *work, cutis_arena *arena, uint32_t count)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_level *level = work->level;
    const size_t slots = (size_t)level->count * p->influences;
    double *loss = cutis_arena_zero(arena, slots, sizeof *loss);
    double *sums = cutis_arena_zero(arena, work->helper_count, sizeof *sums);
    if (!loss || !sums) return false;
    level->loss = loss;
    cutis_bake_weights(work, 0);
    level->loss = NULL;
    for (uint32_t i = 0; i < level->count; i++)
        for (uint32_t k = 0; k < level->slots[i]; k++) {
            const size_t at = (size_t)i * p->influences + k;
            if (level->bone[at] >= p->joint_count)
                sums[level->bone[at] - p->joint_count] += p->mass[i] * loss[at];
        }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t least = 0;
        for (uint32_t h = 1; h < work->helper_count; h++)
            if (sums[h] < sums[least]) least = h;
        memmove(sums + least, sums + least + 1, (work->helper_count - 1 - least) * sizeof *sums);
        cutis_bake_drop(work, least);
    }
    cutis_bake_form(work, p->joint_count, p->joint_count + work->helper_count);
    cutis_bake_weights(work, 2);
    return true;
}

// Another set of helpers from this one: some more and then the least missed away, or the other way
// round, in turn. Either finds what the other does not.
static cutis_result exchange(cutis_bake_work *work, cutis_arena *arena, snapshot *kept, bool add,
                             uint32_t few, double progress)
{
    const uint32_t wanted = work->problem->helper_count;
    if (add) {
        TRY(cutis_bake_seed(work, wanted + few, 1));
        TRY(relax(work, kept, ADD_STEPS, progress, progress));
    }
    const uint32_t away = add ? work->helper_count - wanted : few;
    if (!drop_least(work, arena, away)) return cutis_alloc_result(arena->context);
    if (!add) TRY(cutis_bake_seed(work, wanted, 1));
    return relax(work, kept, REFILL_STEPS, progress, progress + 0.1);
}

static cutis_result refill(cutis_bake_work *work, cutis_arena *arena, snapshot *kept)
{
    snapshot best = { 0 };
    if (work->helper_count < 2 || work->helper_count < work->problem->helper_count) return CUTIS_OK;
    if (!snapshot_create(work, arena, &best)) return cutis_alloc_result(arena->context);
    uint32_t failed = 0, few = extra_of(work->helper_count);
    for (uint32_t round = 0; round < REFILL_ROUNDS; round++) {
        cutis_arena own = { .context = arena->context };
        snapshot_move(work, &best, false);
        const cutis_result result =
            exchange(work, &own, kept, round % 2 == 0, few, 0.2 + 0.6 * round / REFILL_ROUNDS);
        cutis_arena_release(&own);
        if (result != CUTIS_OK) return result;
        failed = work->energy < best.energy * (1 - STALLED) ? 0 : failed + 1;
        if (work->energy > best.energy) snapshot_move(work, &best, true);
        if (failed < 2) continue;
        if (few == 1) break;
        few /= 2, failed = 0; // fewer at once may do what many did not
    }
    return CUTIS_OK;
}

// The whole -------------------------------------------------------------------------------------

static const cutis_bake_wide *wide_of(const cutis_device *device)
{
#if defined(__x86_64__) && !defined(CUTIS_SCALAR_ONLY)
    if (device && device->compute_width >= CUTIS_COMPUTE_AVX512) return &cutis_bake_wide_avx512;
    if (device && device->compute_width >= CUTIS_COMPUTE_AVX2) return &cutis_bake_wide_avx2;
#endif
    (void)device;
    return &cutis_bake_wide_plain;
}

static bool open_work(cutis_bake_work *work, const cutis_bake_problem *p, cutis_arena *arena)
{
    uint32_t room = p->helper_count + extra_of(p->helper_count) + CANDIDATES;
    if ((p->joint_count + room) % 8) room += 8 - (p->joint_count + room) % 8;
    *work = (cutis_bake_work){ .problem = p, .arena = arena, .wide = wide_of(p->device) };
    work->region_factor = 1;
    work->capacity = room, work->bone_capacity = p->joint_count + room;
    const size_t n = work->bone_capacity, track = 12 * p->stride;
    work->helpers = cutis_arena_zero(arena, room * track, sizeof(double));
    work->before = cutis_arena_zero(arena, room * track, sizeof(double));
    work->goals = cutis_arena_zero(arena, room * track, sizeof(double));
    work->form = cutis_arena_zero(arena, n * n, CUTIS_BAKE_SQUARE * sizeof(double));
    work->diagonal = cutis_arena_zero(arena, n, CUTIS_BAKE_SQUARE * sizeof(double));
    work->moments = cutis_arena_zero(arena, room * n, CUTIS_BAKE_SQUARE * sizeof(double));
    work->coupled = cutis_arena_zero(arena, room, n);
    work->filled = cutis_arena_zero(arena, room, room);
    work->seed_joints = cutis_arena_zero(arena, room, p->joint_count + (size_t)1);
    work->damping = cutis_arena_zero(arena, p->stride, sizeof(double));
    work->gain = cutis_arena_zero(arena, p->stride, sizeof(double));
    work->left = cutis_arena_zero(arena, n / 2, 2 * track * sizeof(double));
    const size_t a = cutis_bake_weights_scratch(work->bone_capacity), b = cutis_bake_scratch(room);
    work->scratch_size = ((a > b ? a : b) + 7) / 8 * 8;
    work->scratch = cutis_arena_alloc(arena, CUTIS_BAKE_TASKS * work->scratch_size, sizeof(double));
    if (!work->helpers || !work->before || !work->goals || !work->form || !work->diagonal ||
        !work->moments || !work->coupled || !work->filled || !work->seed_joints || !work->damping ||
        !work->gain || !work->left || !work->scratch)
        return false;
    for (size_t f = 0; f < p->stride; f++) work->damping[f] = 1e-4;
    return true;
}

// Three starts, from small regions and from larger ones: where they end differs by a fifth.
static cutis_result start(cutis_bake_work *work, cutis_arena *arena, snapshot *kept)
{
    const uint32_t wanted = work->problem->helper_count;
    snapshot none = { 0 }, best = { 0 };
    if (!snapshot_create(work, arena, &none) || !snapshot_create(work, arena, &best))
        return cutis_alloc_result(arena->context);
    snapshot_move(work, &none, false);
    for (uint32_t k = 0; k < STARTS; k++) {
        if (k > 0) {
            snapshot_move(work, &none, true);
            if (work->problem->joint_count) work->energy = cutis_bake_weights(work, 0);
        }
        work->region_factor = 1u << k;
        const cutis_result result = cutis_bake_seed(work, wanted, SEED_ROUNDS);
        work->region_factor = 1;
        TRY(result);
        TRY(relax(work, kept, FIRST_STEPS, 0.1 * k, 0.1 * k + 0.1));
        if (k == 0 || work->energy < best.energy) snapshot_move(work, &best, false);
        if (wanted < 2) break;
    }
    snapshot_move(work, &best, true);
    return CUTIS_OK;
}

static void sort_slots(uint32_t count, uint32_t *bone, double *weight)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && bone[k] < bone[k - 1]; k--) {
            const uint32_t b = bone[k];
            const double w = weight[k];
            bone[k] = bone[k - 1], weight[k] = weight[k - 1];
            bone[k - 1] = b, weight[k - 1] = w;
        }
}

static bool publish(const cutis_bake_work *work, cutis_arena *arena, cutis_bake_solution *out)
{
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    const size_t slots = (size_t)level->count * p->influences;
    out->helper_count = work->helper_count;
    out->energy = work->energy;
    out->helpers =
        cutis_arena_copy(arena, work->helpers, work->helper_count * 12 * p->stride, sizeof(double));
    out->count = cutis_arena_copy(arena, level->slots, level->count, 1);
    out->bone = cutis_arena_copy(arena, level->bone, slots, sizeof *out->bone);
    out->weight = cutis_arena_copy(arena, level->weight, slots, sizeof *out->weight);
    out->residual = cutis_arena_copy(arena, level->residual, level->count, sizeof(double));
    out->plain = cutis_arena_copy(arena, level->plain, level->count, sizeof(double));
    if (!out->helpers || !out->count || !out->bone || !out->weight || !out->residual || !out->plain)
        return false;
    for (uint32_t i = 0; i < level->count; i++)
        sort_slots(out->count[i], out->bone + (size_t)i * p->influences,
                   out->weight + (size_t)i * p->influences);
    return true;
}

static cutis_result search(cutis_bake_work *work, cutis_arena *arena, cutis_bake_level *level)
{
    const cutis_bake_problem *p = work->problem;
    snapshot kept = { 0 };
    work->level = level;
    if (!cutis_bake_level_create(p, arena, work->capacity, level) ||
        !snapshot_create(work, arena, &kept))
        return cutis_alloc_result(p->context);
    cutis_bake_form(work, 0, p->joint_count);
    cutis_bake_level_products(work, level);
    if (p->joint_count && !p->keep_weights) work->energy = cutis_bake_weights(work, 4);
    if (p->helper_count == 0) return CUTIS_OK;
    TRY(start(work, arena, &kept));
    return refill(work, arena, &kept);
}

// All points and frames, from what was found on some.
static cutis_result refine(cutis_bake_work *work, cutis_arena *arena, cutis_bake_level *level,
                           const cutis_bake_work *thin, const uint32_t *frame)
{
    const cutis_bake_problem *p = work->problem;
    work->level = level;
    if (!cutis_bake_level_create(p, arena, work->capacity, level) ||
        !cutis_bake_level_inherit(thin, frame, arena, work))
        return cutis_alloc_result(p->context);
    cutis_bake_form(work, 0, p->joint_count);
    cutis_bake_level_products(work, level);
    cutis_bake_motion_solve(work, INHERIT_STEPS);
    cutis_bake_form(work, p->joint_count, p->joint_count + work->helper_count);
    work->energy = cutis_bake_weights(work, 2);
    return CUTIS_OK;
}

static cutis_result finish(cutis_bake_work *work, cutis_arena *arena)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_level *last = work->level;
    snapshot kept = { 0 };
    if (!snapshot_create(work, arena, &kept)) return cutis_alloc_result(p->context);
    if (work->helper_count && p->point_count <= SAMPLE) TRY(relax(work, &kept, LAST_STEPS, 0.8, 1));
    for (uint32_t k = 0; k < FULL_ROUNDS && p->point_count > SAMPLE; k++) step(work, 1);
    // The last weights belong to the last transforms.
    last->residual = cutis_arena_zero(arena, last->count, sizeof(double));
    last->plain = cutis_arena_zero(arena, last->count, sizeof(double));
    if (!last->residual || !last->plain) return cutis_alloc_result(p->context);
    cutis_bake_form(work, p->joint_count, p->joint_count + work->helper_count);
    work->energy = cutis_bake_weights(work, 2);
    return CUTIS_OK;
}

// On some points and frames first, where there are many.
static cutis_result run(cutis_bake_work *work, cutis_arena *arena, cutis_bake_level *level)
{
    const cutis_bake_problem *p = work->problem;
    const uint32_t apart = p->frame_count / SAMPLE_FRAMES > 1 ? p->frame_count / SAMPLE_FRAMES : 1;
    if (p->helper_count == 0 || (p->point_count <= SAMPLE && apart == 1)) {
        TRY(search(work, arena, level));
    } else {
        cutis_bake_problem some;
        cutis_bake_work thin;
        cutis_bake_level few;
        uint32_t *frame = NULL;
        if (!cutis_bake_thin(p, arena, SAMPLE, apart, &some, &frame) ||
            !open_work(&thin, &some, arena))
            return cutis_alloc_result(p->context);
        TRY(search(&thin, arena, &few));
        TRY(refine(work, arena, level, &thin, frame));
    }
    return finish(work, arena);
}

cutis_result cutis_bake_solve(const cutis_bake_problem *problem, cutis_arena *arena,
                              cutis_bake_solution *out)
{
    cutis_arena own = { .context = problem->context };
    cutis_bake_work work;
    cutis_bake_level level;
    cutis_result result = CUTIS_OK;
    if (!open_work(&work, problem, &own)) result = cutis_alloc_result(problem->context);
    if (result == CUTIS_OK) result = run(&work, &own, &level);
    if (result == CUTIS_OK && !publish(&work, arena, out))
        result = cutis_alloc_result(problem->context);
    cutis_arena_release(&own);
    return result;
}

// Where helpers stand in frames that nothing was learned from: the weights are given.
cutis_result cutis_bake_follow(const cutis_bake_problem *problem,
                               const cutis_bake_solution *weights, double *helpers)
{
    cutis_arena own = { .context = problem->context };
    cutis_bake_work work;
    cutis_bake_level all;
    const size_t tracks = weights->helper_count * 12 * problem->stride;
    cutis_bake_problem p = *problem;
    p.helper_count = weights->helper_count;
    cutis_result result = CUTIS_OK;
    if (!open_work(&work, &p, &own) || !cutis_bake_level_create(&p, &own, work.capacity, &all))
        result = cutis_alloc_result(p.context);
    if (result == CUTIS_OK) {
        work.level = &all, work.helper_count = weights->helper_count;
        memcpy(all.slots, weights->count, all.count);
        memcpy(all.bone, weights->bone, (size_t)all.count * p.influences * sizeof *all.bone);
        memcpy(all.weight, weights->weight, (size_t)all.count * p.influences * sizeof *all.weight);
        memcpy(work.helpers, helpers, tracks * sizeof *helpers);
        cutis_bake_motion_solve(&work, FOLLOW_STEPS);
        memcpy(helpers, work.helpers, tracks * sizeof *helpers);
    }
    cutis_arena_release(&own);
    return result;
}

// Weights for tracks that drivers give: helpers where the mask allows them, and nowhere else.
static void weigh(cutis_bake_work *work, const uint8_t *mask)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_level *all = work->level;
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t *bone = all->bone + (size_t)i * p->influences, kept = 0;
        double *weight = all->weight + (size_t)i * p->influences;
        for (uint32_t h = 0; h < work->helper_count; h++)
            for (uint32_t k = all->joint_first[i]; k < all->joint_first[i + 1]; k++)
                all->allowed[(size_t)h * all->count + i] |=
                    mask[(size_t)h * p->joint_count + all->joint[k]];
        for (uint32_t k = 0; k < all->slots[i]; k++) {
            const uint32_t b = bone[k];
            bool may =
                b >= p->joint_count && all->allowed[(size_t)(b - p->joint_count) * all->count + i];
            for (uint32_t j = all->joint_first[i]; j < all->joint_first[i + 1] && !may; j++)
                may = all->joint[j] == b;
            if (may) bone[kept] = b, weight[kept++] = weight[k];
        }
        all->slots[i] = (uint8_t)kept;
    }
    cutis_bake_form(work, 0, p->joint_count + work->helper_count);
    cutis_bake_level_products(work, all);
    cutis_bake_weights(work, 4);
}

cutis_result cutis_bake_weigh(const cutis_bake_problem *problem, const double *helpers,
                              const uint8_t *mask, cutis_bake_solution *weights)
{
    cutis_arena own = { .context = problem->context };
    cutis_bake_work work;
    cutis_bake_level all;
    const size_t slots = (size_t)problem->point_count * problem->influences;
    cutis_result result = CUTIS_OK;
    if (!open_work(&work, problem, &own) ||
        !cutis_bake_level_create(problem, &own, work.capacity, &all))
        result = cutis_alloc_result(problem->context);
    if (result == CUTIS_OK) {
        work.level = &all, work.helper_count = weights->helper_count;
        memcpy(all.slots, weights->count, all.count);
        memcpy(all.bone, weights->bone, slots * sizeof *all.bone);
        memcpy(all.weight, weights->weight, slots * sizeof *all.weight);
        memcpy(work.helpers, helpers,
               weights->helper_count * 12 * problem->stride * sizeof *helpers);
        all.residual = weights->residual, all.plain = weights->plain;
        weigh(&work, mask);
        memcpy(weights->count, all.slots, all.count);
        memcpy(weights->bone, all.bone, slots * sizeof *all.bone);
        memcpy(weights->weight, all.weight, slots * sizeof *all.weight);
        for (uint32_t i = 0; i < all.count; i++)
            sort_slots(weights->count[i], weights->bone + (size_t)i * problem->influences,
                       weights->weight + (size_t)i * problem->influences);
    }
    cutis_arena_release(&own);
    return result;
}
