// The whole of a solve: helpers are found on some points and frames, then on more, then weights and
// transforms on all (docs/spec/bake.md 5). Invariant: a stage goes on from what the one before
// left.
#include "fit/bake/gpu.h"
#include "fit/bake/level.h"
#include "fit/bake/search.h"

#include <string.h>

#include "base/error.h"
#include "device/compute.h"

// Points and frames that helpers are found on: on the last of these first, with so many points a
// helper. Where helpers are few, rounds cost little and one that stands badly costs much.
typedef struct stage {
    uint32_t points, frames;
} stage;
static const stage MIDDLE = { 8192, 150 };
enum { FIRST_POINTS = 128, FIRST_LEAST = 800, FIRST_MOST = 4096, FIRST_FRAMES = 32 };
static const cutis_bake_effort MANY = {
    .starts = 4, .first = 24, .exchanges = 14, .shaken = 12, .steps = 18
};
static const cutis_bake_effort SOME = {
    .starts = 8, .first = 60, .exchanges = 14, .shaken = 12, .steps = 18, .longer = 60, .levers = 1
};
static const cutis_bake_effort FEW = { .starts = 12,
                                       .first = 400,
                                       .exchanges = 14,
                                       .shaken = 24,
                                       .steps = 20,
                                       .longer = 200,
                                       .levers = 1 };
// Far ends of valleys are helpers far off with little weight: what is left there of a driver's
// error and of rounding counts many times.
static const cutis_bake_effort FEW_DRIVEN = {
    .starts = 12, .first = 24, .exchanges = 14, .shaken = 36, .steps = 20
};
static const cutis_bake_effort LATER = { .exchanges = 4, .steps = 12 };
// Large meshes, where every round costs more, and is one of fewer.
static const cutis_bake_effort LARGE = {
    .starts = 3, .first = 24, .exchanges = 10, .shaken = 6, .steps = 16
};
// Without joints beside them helpers end in fewer bad places.
static const cutis_bake_effort ALONE = {
    .starts = 3, .first = 24, .exchanges = 8, .shaken = 2, .steps = 12
};
static const cutis_bake_effort LARGE_LATER = { .exchanges = 2, .steps = 12 };
// Rounds of both solves on all points of large meshes; steps of transforms of frames that were left
// out; rounds at the end.
enum { FULL_ROUNDS = 3, INHERIT_STEPS = 60, LAST_STEPS = 120 };
enum { FEW_MOST = 6, SOME_MOST = 12 };

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
    uint32_t room = p->helper_count + cutis_bake_extra(p->helper_count) + CUTIS_BAKE_CANDIDATES;
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
    work->filled = cutis_arena_zero(arena, room, room * sizeof *work->filled);
    work->seed_joints = cutis_arena_zero(arena, room, p->joint_count + (size_t)1);
    work->damping = cutis_arena_zero(arena, p->stride, sizeof(double));
    work->gain = cutis_arena_zero(arena, p->stride, sizeof(double));
    work->left = cutis_arena_zero(arena, n / 2, 2 * track * sizeof(double));
    work->scratch_size = (cutis_bake_weights_scratch(work->bone_capacity) + 7) / 8 * 8;
    work->scratch = cutis_arena_alloc(arena, CUTIS_BAKE_TASKS * work->scratch_size, sizeof(double));
    if (!work->helpers || !work->before || !work->goals || !work->form || !work->diagonal ||
        !work->moments || !work->coupled || !work->filled || !work->seed_joints || !work->damping ||
        !work->gain || !work->left || !work->scratch)
        return false;
    for (size_t f = 0; f < p->stride; f++) work->damping[f] = 1e-4;
    return true;
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
    out->turn = cutis_arena_copy(arena, level->turn, level->count, sizeof(double));
    out->plain_turn = cutis_arena_copy(arena, level->plain_turn, level->count, sizeof(double));
    if (!out->turn || !out->plain_turn) return false;
    if (!out->helpers || !out->count || !out->bone || !out->weight || !out->residual || !out->plain)
        return false;
    for (uint32_t i = 0; i < level->count; i++)
        sort_slots(out->count[i], out->bone + (size_t)i * p->influences,
                   out->weight + (size_t)i * p->influences);
    return true;
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
    return work->result;
}

enum { STAGES = 2 };

static stage stage_of(const cutis_bake_problem *p, uint32_t depth)
{
    const uint32_t points = FIRST_POINTS * p->helper_count;
    const stage first = { points < FIRST_LEAST  ? FIRST_LEAST
                          : points > FIRST_MOST ? FIRST_MOST
                                                : points,
                          FIRST_FRAMES };
    return depth == 0 ? MIDDLE : first;
}

static cutis_result explore(cutis_bake_work *work, cutis_arena *arena, cutis_bake_level *level,
                            uint32_t depth);

// Explore on some points and frames, and go on from there on all.
static cutis_result descend(cutis_bake_work *work, cutis_arena *arena, cutis_bake_level *level,
                            uint32_t depth)
{
    const cutis_bake_problem *p = work->problem;
    const stage at = stage_of(p, depth);
    const uint32_t apart = p->frame_count / at.frames;
    cutis_bake_problem some;
    cutis_bake_work thin;
    cutis_bake_level few;
    uint32_t *frame = NULL;
    if (!cutis_bake_thin(p, arena, at.points, apart > 1 ? apart : 1, &some, &frame) ||
        !open_work(&thin, &some, arena))
        return cutis_alloc_result(p->context);
    cutis_result result = explore(&thin, arena, &few, depth + 1);
    cutis_bake_gpu_close(&thin);
    if (result == CUTIS_OK) result = refine(work, arena, level, &thin, frame);
    return result;
}

static const cutis_bake_effort *effort_of(const cutis_bake_problem *p)
{
    if (p->joint_count == 0) return &ALONE;
    if (p->helper_count <= FEW_MOST) return p->driven ? &FEW_DRIVEN : &FEW;
    if (p->large) return &LARGE;
    return p->helper_count <= SOME_MOST && !p->driven ? &SOME : &MANY;
}

// Helpers of a problem: where there are many points or frames, first on fewer, where looking around
// costs little.
static cutis_result explore(cutis_bake_work *work, cutis_arena *arena, cutis_bake_level *level,
                            uint32_t depth)
{
    const cutis_bake_problem *p = work->problem;
    for (; depth < STAGES && p->helper_count; depth++) {
        const stage at = stage_of(p, depth);
        if (p->point_count <= at.points && p->frame_count < 2 * at.frames) continue;
        TRY(descend(work, arena, level, depth));
        return depth == 0 ? CUTIS_OK
                          : cutis_bake_search(work, arena, p->large ? &LARGE_LATER : &LATER);
    }
    work->level = level;
    if (!cutis_bake_level_create(p, arena, work->capacity, level))
        return cutis_alloc_result(p->context);
    cutis_bake_form(work, 0, p->joint_count);
    cutis_bake_level_products(work, level);
    if (p->joint_count && !p->keep_weights) work->energy = cutis_bake_weights(work, 4);
    if (p->helper_count == 0) return CUTIS_OK;
    return cutis_bake_search(work, arena, effort_of(p));
}

// What normals may turn further off in some frames than by the weights that points came with, of
// what they do in all. Beyond it they are worth something, more and more, while squared distances
// rise by no more than this.
static const double TURN_MOST = 0.02, TURN_STEP = 2.5, TURN_PRICE = 1.05;
static const double TURN_LESS = 0.5; // where that is too much
enum { TRIES = 3 };

// The last rounds on everything, with weights that belong to the last transforms.
static cutis_result polish(cutis_bake_work *work, cutis_bake_snapshot *kept)
{
    const cutis_bake_problem *p = work->problem;
    if (work->helper_count && p->point_count <= MIDDLE.points)
        TRY(cutis_bake_relax(work, kept, LAST_STEPS, 0.8, 1));
    for (uint32_t k = 0; k < FULL_ROUNDS && p->point_count > MIDDLE.points; k++)
        cutis_bake_round(work, 1);
    cutis_bake_form(work, p->joint_count, p->joint_count + work->helper_count);
    work->energy = cutis_bake_weights(work, 2);
    cutis_bake_residuals(work);
    return work->result;
}

// @param own whether the turns of the weights that points came with are to be found too
static bool turns_badly(cutis_bake_work *work, double *turns, bool own)
{
    const uint32_t frames = work->problem->frame_count;
    double worse = 0, all = 0;
    cutis_bake_turns(work, turns, own ? turns + frames : NULL);
    for (uint32_t f = 0; f < frames; f++) {
        if (turns[f] > turns[frames + f]) worse += turns[f] - turns[frames + f];
        all += turns[frames + f];
    }
    return worse > TURN_MOST * all;
}

static double distances(const cutis_bake_work *work)
{
    double sum = 0;
    for (uint32_t i = 0; i < work->level->count; i++)
        sum += work->problem->mass[i] * work->level->residual[i];
    return sum;
}

// Everything that depends on what normals are worth.
static void weigh_normals(cutis_bake_work *work, cutis_bake_problem *p, double worth)
{
    p->worth = worth;
    cutis_bake_squares(p, work->level);
    cutis_bake_level_products(work, work->level);
}

// One try of what normals may be worth. @return whether distances are still good enough; if not,
// the state before it is back
static cutis_result light_by(cutis_bake_work *work, cutis_bake_problem *p, double worth,
                             double most, cutis_bake_snapshot *before, cutis_bake_snapshot *kept,
                             bool *good)
{
    const double now = p->worth;
    cutis_bake_keep(work, before);
    weigh_normals(work, p, worth);
    work->energy = cutis_bake_weights(work, 2);
    TRY(polish(work, kept));
    *good = distances(work) <= most;
    if (*good) return work->result;
    cutis_bake_restore(work, before);
    cutis_bake_form(work, p->joint_count, p->joint_count + work->helper_count);
    weigh_normals(work, p, now);
    cutis_bake_residuals(work);
    return work->result;
}

// Normals after distances: which helpers there are is settled, and most sets of weights leave
// normals as they should be. Where their worth costs too much, less of it may not.
static cutis_result light(cutis_bake_work *work, cutis_bake_problem *p, cutis_arena *arena,
                          cutis_bake_snapshot *kept)
{
    cutis_bake_snapshot before = { 0 };
    double *turns = cutis_arena_alloc(arena, 2 * (size_t)p->frame_count, sizeof *turns);
    if (!turns || !cutis_bake_snapshot_create(work, arena, &before))
        return cutis_alloc_result(p->context);
    const double most = TURN_PRICE * distances(work);
    double worth = p->worth, step = TURN_STEP;
    p->worth = 0;
    for (int k = 0; k < TRIES && turns_badly(work, turns, k == 0); k++) {
        bool good = false;
        TRY(light_by(work, p, worth, most, &before, kept, &good));
        if (!good) step = TURN_LESS;
        worth *= step;
        if (good && step < 1) break; // more is too much
    }
    return work->result;
}

static cutis_result finish(cutis_bake_work *work, cutis_arena *arena, cutis_bake_snapshot *kept)
{
    cutis_bake_level *last = work->level;
    last->residual = cutis_arena_zero(arena, last->count, sizeof(double));
    last->plain = cutis_arena_zero(arena, last->count, sizeof(double));
    last->turn = cutis_arena_zero(arena, last->count, sizeof(double));
    last->plain_turn = cutis_arena_zero(arena, last->count, sizeof(double));
    last->own_turn = cutis_arena_zero(arena, last->count, sizeof(double));
    if (!last->residual || !last->plain || !last->turn || !last->plain_turn || !last->own_turn ||
        !cutis_bake_snapshot_create(work, arena, kept))
        return cutis_alloc_result(work->problem->context);
    return polish(work, kept);
}

static cutis_result run(cutis_bake_work *work, cutis_bake_problem *p,
                        const cutis_bake_problem *given, cutis_arena *arena,
                        cutis_bake_level *level)
{
    cutis_bake_snapshot kept = { 0 };
    p->normals = NULL, p->turns = NULL;
    p->large = p->point_count > MIDDLE.points;
    TRY(explore(work, arena, level, 0));
    TRY(finish(work, arena, &kept));
    if (!given->turns || work->helper_count == 0) return CUTIS_OK;
    p->normals = given->normals, p->turns = given->turns;
    return light(work, p, arena, &kept);
}

cutis_result cutis_bake_solve(const cutis_bake_problem *given, cutis_arena *arena,
                              cutis_bake_solution *out)
{
    cutis_bake_problem own_problem = *given, *problem = &own_problem;
    cutis_arena own = { .context = problem->context };
    cutis_bake_work work;
    cutis_bake_level level;
    cutis_result result = CUTIS_OK;
    if ((problem->joint_count && !cutis_bake_mask(problem, &own)) ||
        !open_work(&work, problem, &own))
        result = cutis_alloc_result(problem->context);
    if (result == CUTIS_OK) {
        result = run(&work, problem, given, &own, &level);
        cutis_bake_gpu_close(&work);
    }
    if (result == CUTIS_OK && !publish(&work, arena, out))
        result = cutis_alloc_result(problem->context);
    cutis_arena_release(&own);
    return result;
}

// Where helpers stand in frames that nothing was learned from: the weights are given.
cutis_result cutis_bake_follow(const cutis_bake_problem *problem,
                               const cutis_bake_solution *weights, uint32_t steps, double *helpers)
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
        cutis_bake_motion_solve(&work, steps);
        result = work.result;
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
    cutis_bake_residuals(work);
}

cutis_result cutis_bake_weigh(const cutis_bake_problem *given, const double *helpers,
                              const uint8_t *mask, cutis_bake_solution *weights)
{
    cutis_bake_problem masked = *given, *problem = &masked;
    cutis_arena own = { .context = problem->context };
    cutis_bake_work work;
    cutis_bake_level all;
    const size_t slots = (size_t)problem->point_count * problem->influences;
    cutis_result result = CUTIS_OK;
    if ((problem->joint_count && !cutis_bake_mask(problem, &own)) ||
        !open_work(&work, problem, &own) ||
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
        all.turn = weights->turn, all.plain_turn = weights->plain_turn;
        all.own_turn = cutis_arena_zero(&own, all.count, sizeof(double));
        if (all.own_turn) weigh(&work, mask);
        result = all.own_turn ? work.result : cutis_alloc_result(problem->context);
        cutis_bake_gpu_close(&work);
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
