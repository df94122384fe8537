// New helpers where most is unexplained: regions of points, the rigid motion of each, and of some
// the one that gains most (docs/spec/bake.md 4). Invariant: ties go to the lower number.
#include "fit/bake/solver.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/mat3.h"
#include "math/svd3.h"

enum { REGIONS = CUTIS_BAKE_CANDIDATES / 2, REGION_LEAST = 24, REGION_PART = 120 };
// A region's joint is one that has this much of its weight, or shares a point with such a one.
// Points may follow the helper that may follow one of these (level.h): it may move to where it is
// of most use, but not to another limb.
static const double JOINT_LEAST = 0.05;
// Where starts are to differ, what a region gains is lowered by up to this part of it.
static const double SHAKEN = 0.8;

// Turns of parts and shift; weight of the point that a lever shifts most.
enum { LEVER_TURNS = 4, TASK = 32 };
static const double LEVER_WEIGHT = 0.1;

double cutis_bake_random(uint32_t *state)
{
    if (*state == 0) return 0;
    *state = *state * 1664525u + 1013904223u;
    *state += *state == 0;
    return (double)(*state >> 8) / (1 << 24);
}

typedef struct seeding {
    cutis_bake_work *work;
    uint32_t region_size, region_count;
    uint32_t *regions; ///< [region][region_size]
    double *residual;  ///< per point, averaged
    double *distance;
    uint8_t *taken;
    uint8_t *joints; ///< [candidate][joint_count]
    double *gains;
    float *left;   ///< [point][3][stride]: what is not explained
    double *lever; ///< [region][3][stride] and a number per point
} seeding;

static void average(seeding *s)
{
    const cutis_bake_level *level = s->work->level;
    for (uint32_t i = 0; i < level->count; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < CUTIS_BAKE_NEAR; k++)
            sum += level->energy[level->near[(size_t)CUTIS_BAKE_NEAR * i + k]];
        s->residual[i] = sum / CUTIS_BAKE_NEAR;
    }
}

// The nearest points of one that are in no region yet.
static uint32_t grow(seeding *s, uint32_t centre, uint32_t *region)
{
    const cutis_bake_level *level = s->work->level;
    const cutis_bake_problem *p = s->work->problem;
    const double *c = p->positions + 3 * (size_t)centre;
    uint32_t count = 0;
    for (uint32_t i = 0; i < level->count; i++) {
        const double *x = p->positions + 3 * (size_t)i;
        const double d[3] = { x[0] - c[0], x[1] - c[1], x[2] - c[2] };
        if (s->taken[i]) continue;
        const double far = double3_dot(d, d);
        uint32_t at = count < s->region_size ? count++ : s->region_size;
        for (; at > 0 && far < s->distance[at - 1]; at--)
            if (at < s->region_size)
                s->distance[at] = s->distance[at - 1], region[at] = region[at - 1];
        if (at < s->region_size) s->distance[at] = far, region[at] = i;
    }
    for (uint32_t k = 0; k < count; k++) s->taken[region[k]] = 1;
    return count;
}

// Joints that share a point with the region's.
static void widen(const cutis_bake_problem *p, const cutis_bake_level *level, uint8_t *joints)
{
    enum { OWN = 1, SHARED = 2 };
    for (uint32_t i = 0; i < level->count; i++) {
        const uint32_t first = p->first[i], end = p->first[i + 1];
        bool some = false;
        for (uint32_t k = first; k < end; k++) some |= joints[p->joint[k]] == OWN;
        for (uint32_t k = first; k < end && some; k++)
            if (!joints[p->joint[k]]) joints[p->joint[k]] = SHARED;
    }
}

// Where the next region begins: where most is unexplained; at random, where much is.
static uint32_t centre_of(seeding *s)
{
    const cutis_bake_level *level = s->work->level;
    uint32_t best = UINT32_MAX;
    double sum = 0, at = 0;
    const bool random = s->work->random != 0;
    for (uint32_t i = 0; random && i < level->count; i++) sum += s->taken[i] ? 0 : s->residual[i];
    if (random) sum *= cutis_bake_random(&s->work->random);
    for (uint32_t i = 0; i < level->count; i++) {
        if (s->taken[i]) continue;
        if (random && best != UINT32_MAX && at > sum) break;
        at += s->residual[i];
        if (random || best == UINT32_MAX || s->residual[i] > s->residual[best]) best = i;
    }
    return best;
}

static void find_regions(seeding *s)
{
    const cutis_bake_level *level = s->work->level;
    const cutis_bake_problem *p = s->work->problem;
    memset(s->taken, 0, level->count);
    s->region_count = 0;
    while (s->region_count < REGIONS) {
        const uint32_t best = centre_of(s);
        if (best == UINT32_MAX) break;
        uint32_t *region = s->regions + (size_t)s->region_count * s->region_size;
        if (grow(s, best, region) < s->region_size) break;
        uint8_t *joints = s->joints + (size_t)s->region_count * p->joint_count;
        for (uint32_t j = 0; j < p->joint_count; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < s->region_size; k++)
                for (uint32_t i = p->first[(region[k])]; i < p->first[(region[k]) + 1]; i++)
                    if (p->joint[i] == j) sum += p->weight[i];
            joints[j] = sum > JOINT_LEAST * s->region_size;
        }
        if (p->joint_count) widen(p, level, joints);
        s->region_count++;
    }
}

// The rigid motion that fits points (NULL: the first ones) best in a frame (Kabsch), as columns of
// a track.
static void fit_frame(const cutis_bake_problem *p, const uint32_t *points, uint32_t count,
                      size_t frame, double *track)
{
    double mean[3] = { 0 }, place[3] = { 0 }, a[9] = { 0 }, u[9], s[3], v[9], r[9];
    for (uint32_t k = 0; k < count; k++) {
        const size_t x = 3 * (size_t)(points ? points[k] : k);
        for (size_t c = 0; c < 3; c++) {
            mean[c] += p->positions[x + c] / count;
            place[c] += (double)p->targets[(x + c) * p->stride + frame] / count;
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        const size_t x = 3 * (size_t)(points ? points[k] : k);
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 3; j++)
                a[3 * i + j] += ((double)p->targets[(x + i) * p->stride + frame] - place[i]) *
                                (p->positions[x + j] - mean[j]);
    }
    cutis_svd3(a, u, s, v);
    double33_multiply_transpose(u, v, r);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) track[(3 * j + i) * p->stride + frame] = r[3 * i + j];
        track[(9 + i) * p->stride + frame] = place[i] - double3_dot(r + 3 * i, mean);
    }
}

static void fit_task(void *data, uint32_t index)
{
    const seeding *s = data;
    const cutis_bake_work *work = s->work;
    const cutis_bake_problem *p = work->problem;
    const uint32_t *region = s->regions + (size_t)index * s->region_size;
    double *track = work->helpers + (work->helper_count + index) * 12 * p->stride;
    memset(track, 0, 12 * p->stride * sizeof *track);
    for (size_t f = 0; f < p->frame_count; f++) fit_frame(p, region, s->region_size, f, track);
}

// Levers ----------------------------------------------------------------------------------------

// Where points are wanted beside where they are.
static void left_task(void *data, uint32_t index)
{
    const seeding *s = data;
    const cutis_bake_work *work = s->work;
    const cutis_bake_problem *p = work->problem;
    const size_t n = p->stride;
    for (uint32_t i = index * TASK; i < (index + 1) * TASK && i < work->level->count; i++) {
        const double *x = p->positions + 3 * (size_t)i;
        for (size_t c = 0; c < 3; c++) {
            const size_t at = (3 * (size_t)i + c) * n;
            for (size_t f = 0; f < n; f++) s->left[at + f] = p->targets[at + f];
            for (uint32_t k = 0; k < work->level->slots[i]; k++) {
                const size_t slot = (size_t)i * p->influences + k;
                const double w = work->level->weight[slot];
                const double *m = cutis_bake_track(work, work->level->bone[slot]) + c * n;
                for (size_t f = 0; f < n; f++)
                    s->left[at + f] -= (float)(w * (m[f] * x[0] + m[3 * n + f] * x[1] +
                                                    m[6 * n + f] * x[2] + m[9 * n + f]));
            }
        }
    }
}

static double dot(const float *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += (double)a[k] * b[k];
    return sum;
}

// One shift over frames, u, that points take parts s >= 0 of, as explains most: from the region's
// mean on, parts and shift in turn. @return the largest part
static double find_shift(const seeding *s, const uint32_t *region, const uint8_t *joints, double *u,
                         double *part)
{
    const cutis_bake_work *work = s->work;
    const cutis_bake_problem *p = work->problem;
    const cutis_bake_level *level = work->level;
    const size_t length = 3 * p->stride;
    double most = 0;
    memset(u, 0, length * sizeof *u);
    for (uint32_t k = 0; k < s->region_size; k++)
        for (size_t e = 0; e < length; e++) u[e] += (double)s->left[region[k] * length + e];
    for (int turn = 0; turn < LEVER_TURNS; turn++) {
        double square = 0, sum = 0;
        for (size_t e = 0; e < length; e++) square += u[e] * u[e];
        if (!(square > 0)) return 0;
        most = 0;
        for (uint32_t i = 0; i < level->count; i++) {
            const bool may = cutis_bake_may(level, i, joints);
            const double at = may ? dot(s->left + i * length, u, length) / square : 0;
            part[i] = at > 0 ? at : 0;
            if (part[i] > most) most = part[i];
            sum += p->mass[i] * part[i] * part[i];
        }
        if (!(sum > 0)) return 0;
        memset(u, 0, length * sizeof *u);
        for (uint32_t i = 0; i < level->count; i++) {
            const double by = p->mass[i] * part[i] / sum;
            for (size_t e = 0; by > 0 && e < length; e++)
                u[e] += by * (double)s->left[i * length + e];
        }
    }
    return most;
}

// A helper that moves with its region, and so far beyond it that points with a little of its weight
// are shifted as they should be: many points all over a limb, each by its own part, which no
// neighbourhood's motion shows and rounds reach through long valleys only.
static void lever_task(void *data, uint32_t index)
{
    const seeding *s = data;
    const cutis_bake_work *work = s->work;
    const cutis_bake_problem *p = work->problem;
    const size_t n = p->stride, track = 12 * n;
    double *u = s->lever + index * (3 * n + work->level->count);
    const double *from = work->helpers + (work->helper_count + index) * track;
    double *to = work->helpers + (work->helper_count + s->region_count + index) * track;
    const double most = find_shift(s, s->regions + (size_t)index * s->region_size,
                                   s->joints + (size_t)index * p->joint_count, u, u + 3 * n);
    memcpy(to, from, track * sizeof *to);
    for (size_t e = 0; e < 3 * n; e++) to[9 * n + e] += most / LEVER_WEIGHT * u[e];
}

// As many candidates more as there are regions.
static void find_levers(seeding *s)
{
    cutis_bake_work *work = s->work;
    const uint32_t joints = work->problem->joint_count;
    cutis_device_run(work->problem->device, left_task, s, (work->level->count + TASK - 1) / TASK);
    cutis_device_run(work->problem->device, lever_task, s, s->region_count);
    memcpy(s->joints + (size_t)s->region_count * joints, s->joints,
           (size_t)s->region_count * joints);
    s->region_count *= 2;
}

// The best of the regions becomes the next helper.
static void choose(seeding *s)
{
    cutis_bake_work *work = s->work;
    cutis_bake_level *level = work->level;
    const cutis_bake_problem *p = work->problem;
    const uint32_t bones = p->joint_count + work->helper_count;
    uint32_t best = 0;
    double most = -1;
    cutis_bake_form(work, bones, bones + s->region_count);
    cutis_bake_gains(work, s->region_count, s->joints, s->gains);
    for (uint32_t r = 0; r < s->region_count; r++) {
        double sum = 0;
        for (uint32_t i = 0; i < level->count; i++) sum += s->gains[(size_t)r * level->count + i];
        sum *= 1 - SHAKEN * cutis_bake_random(&work->random);
        if (sum > most) most = sum, best = r;
    }
    const size_t size = 12 * p->stride;
    double *to = work->helpers + work->helper_count * size;
    if (best) memcpy(to, to + best * size, size * sizeof *to);
    const uint8_t *joints = s->joints + (size_t)best * p->joint_count;
    memcpy(work->seed_joints + (size_t)work->helper_count * p->joint_count, joints, p->joint_count);
    for (uint32_t i = 0; level->allowed && i < level->count; i++) {
        bool may = false;
        for (uint32_t k = level->joint_first[i]; k < level->joint_near[i]; k++)
            may |= joints[level->joint[k]] != 0;
        level->allowed[(size_t)work->helper_count * level->count + i] = may;
    }
    work->helper_count++;
}

// The first bone of all, where there is no joint: one rigid motion of everything.
static void seed_whole(seeding *s)
{
    cutis_bake_work *work = s->work;
    const cutis_bake_problem *p = work->problem;
    double *track = work->helpers;
    memset(track, 0, 12 * p->stride * sizeof *track);
    for (size_t f = 0; f < p->frame_count; f++) fit_frame(p, NULL, work->level->count, f, track);
    work->helper_count = 1;
}

static bool allocate(seeding *s, cutis_arena *arena)
{
    const cutis_bake_level *level = s->work->level;
    const cutis_bake_problem *p = s->work->problem;
    const uint32_t part = level->count / REGION_PART;
    s->region_size = s->work->region_factor * (part > REGION_LEAST ? part : REGION_LEAST);
    if (s->region_size > level->count / 2) s->region_size = level->count / 2 + 1;
    s->regions = cutis_arena_alloc(arena, (size_t)REGIONS * s->region_size, sizeof *s->regions);
    s->residual = cutis_arena_alloc(arena, level->count, sizeof *s->residual);
    s->distance = cutis_arena_alloc(arena, s->region_size, sizeof *s->distance);
    s->taken = cutis_arena_alloc(arena, level->count, 1);
    s->joints = cutis_arena_alloc(arena, (size_t)CUTIS_BAKE_CANDIDATES * p->joint_count + 1, 1);
    s->gains =
        cutis_arena_alloc(arena, (size_t)CUTIS_BAKE_CANDIDATES * level->count, sizeof *s->gains);
    const size_t levers = s->work->levers ? 3 * p->stride : 1;
    s->left = cutis_arena_alloc(arena, levers * level->count, sizeof *s->left);
    s->lever = cutis_arena_alloc(arena, REGIONS * (3 * p->stride + level->count), sizeof *s->lever);
    if (!s->left || !s->lever) return false;
    return s->regions && s->residual && s->distance && s->taken && s->joints && s->gains;
}

cutis_result cutis_bake_seed(cutis_bake_work *work, uint32_t count, uint32_t rounds)
{
    const cutis_bake_problem *p = work->problem;
    cutis_arena arena = { .context = p->context };
    cutis_result result = CUTIS_OK;
    seeding s = { .work = work };
    if (!allocate(&s, &arena)) result = cutis_alloc_result(p->context);
    while (result == CUTIS_OK && work->helper_count < count) {
        if (p->joint_count + work->helper_count == 0) {
            seed_whole(&s);
        } else {
            average(&s);
            find_regions(&s);
            if (s.region_count == 0) break;
            cutis_device_run(p->device, fit_task, &s, s.region_count);
            if (work->levers) find_levers(&s);
            choose(&s);
        }
        const uint32_t bones = p->joint_count + work->helper_count;
        for (uint32_t k = 0; k < rounds; k++) {
            cutis_bake_form(work, k ? p->joint_count : bones - 1, bones);
            work->energy = cutis_bake_weights(work, 2);
            work->energy -= cutis_bake_motion_solve(work, 2);
        }
        cutis_bake_form(work, p->joint_count, bones);
        work->energy = cutis_bake_weights(work, 2); // residuals of the points as they are
        result = work->result;
        if (result != CUTIS_OK) break;
        result = cutis_progress(p->context, "finding helpers",
                                (double)work->helper_count / (count ? count : 1));
    }
    cutis_arena_release(&arena);
    return result;
}

void cutis_bake_drop(cutis_bake_work *work, uint32_t helper)
{
    const cutis_bake_problem *p = work->problem;
    cutis_bake_level *level = work->level;
    const size_t size = 12 * p->stride, after = work->helper_count - 1 - helper;
    double *track = work->helpers + helper * size;
    memmove(track, track + size, after * size * sizeof *track);
    if (level->allowed)
        memmove(level->allowed + (size_t)helper * level->count,
                level->allowed + (size_t)(helper + 1) * level->count, after * level->count);
    uint8_t *joints = work->seed_joints + (size_t)helper * p->joint_count;
    memmove(joints, joints + p->joint_count, after * p->joint_count);
    for (uint32_t i = 0; i < level->count; i++) {
        uint32_t *bone = level->bone + (size_t)i * p->influences, kept = 0;
        double *weight = level->weight + (size_t)i * p->influences;
        for (uint32_t k = 0; k < level->slots[i]; k++) {
            if (bone[k] == p->joint_count + helper) continue;
            weight[kept] = weight[k];
            bone[kept++] = bone[k] - (bone[k] > p->joint_count + helper);
        }
        level->slots[i] = (uint8_t)kept;
    }
    work->helper_count--;
}
