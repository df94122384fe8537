// Points under work, and what is known of each before any helper: its neighbours, the joints it
// may follow, the weights it starts from. Invariant: the joints of a point's given weights are
// among its candidates.
#include "fit/bake/level.h"

#include <stdlib.h>
#include <string.h>

#include "geometry/order.h"

typedef struct near_job {
    const cutis_bake_problem *problem;
    const cutis_bake_grid *grid;
    cutis_bake_level *level;
} near_job;

enum { TASK = 256 };

static void near_task(void *data, uint32_t index)
{
    const near_job *job = data;
    const cutis_bake_level *level = job->level;
    uint32_t i = index * TASK;
    for (uint32_t end = i + TASK; i < end && i < level->count; i++) {
        double squares[CUTIS_BAKE_NEAR];
        uint32_t *near = level->near + (size_t)CUTIS_BAKE_NEAR * i;
        uint32_t found = cutis_bake_grid_nearest(job->grid, job->problem->positions + 3 * (size_t)i,
                                                 CUTIS_BAKE_NEAR, near, squares);
        for (; found < CUTIS_BAKE_NEAR; found++) near[found] = i;
    }
}

static bool find_near(const cutis_bake_problem *p, cutis_arena *arena, cutis_bake_level *level)
{
    cutis_bake_grid grid;
    if (!cutis_bake_grid_create(arena, p->positions, level->count, &grid)) return false;
    near_job job = { p, &grid, level };
    cutis_device_run_items(p->device, near_task, &job, level->count, TASK);
    return true;
}

// Joints of a point's neighbours, of its own space, ascending. @return how many
static uint32_t gather_joints(const cutis_bake_problem *p, const cutis_bake_level *level,
                              uint32_t i, uint32_t *list)
{
    uint32_t count = 0, kept = 0;
    for (uint32_t k = 0; k <= CUTIS_BAKE_NEAR; k++) {
        const uint32_t other =
            k == CUTIS_BAKE_NEAR ? i : (level->near[(size_t)CUTIS_BAKE_NEAR * i + k]);
        if (p->space && p->space[other] != p->space[i]) continue;
        for (uint32_t j = p->first[other]; j < p->first[other + 1]; j++)
            list[count++] = p->joint[j];
    }
    qsort(list, count, sizeof *list, order_u32);
    for (uint32_t k = 0; k < count; k++)
        if (k == 0 || list[k] != list[k - 1]) list[kept++] = list[k];
    return kept;
}

// Joints beside the ones in a list too, behind them. @return how many
static uint32_t add_beside(uint32_t joints, const uint8_t *beside, uint32_t count, uint32_t *list,
                           uint8_t *found)
{
    const uint32_t near = count;
    memset(found, 0, joints);
    for (uint32_t k = 0; k < near; k++)
        for (uint32_t j = 0; j < joints; j++) found[j] |= beside[(size_t)list[k] * joints + j];
    for (uint32_t k = 0; k < near; k++) found[list[k]] = 0;
    for (uint32_t j = 0; j < joints; j++)
        if (found[j]) list[count++] = j;
    return count;
}

bool cutis_bake_mask(cutis_bake_problem *p, cutis_arena *arena)
{
    const uint32_t joints = p->joint_count;
    cutis_bake_level level = { .count = p->point_count };
    uint32_t longest = 1;
    for (uint32_t i = 0; i < p->point_count; i++)
        if (p->first[i + 1] - p->first[i] > longest) longest = p->first[i + 1] - p->first[i];
    const size_t room = (size_t)(CUTIS_BAKE_NEAR + 1) * longest + joints;
    uint32_t *list = cutis_arena_alloc(arena, room, sizeof *list);
    uint32_t *end = cutis_arena_zero(arena, p->point_count + (size_t)1, sizeof *end);
    uint32_t *first = cutis_arena_zero(arena, p->point_count + (size_t)1, sizeof *first),
             *all = NULL;
    uint8_t *beside = cutis_arena_zero(arena, joints, joints),
            *found = cutis_arena_alloc(arena, joints, 1);
    level.near = cutis_arena_alloc(arena, level.count, CUTIS_BAKE_NEAR * sizeof *level.near);
    if (!list || !first || !end || !beside || !found || !level.near || !find_near(p, arena, &level))
        return false;
    for (uint32_t i = 0; i < p->point_count; i++) {
        const uint32_t count = gather_joints(p, &level, i, list);
        for (uint32_t a = 0; a < count; a++)
            for (uint32_t b = 0; b < count; b++) beside[(size_t)list[a] * joints + list[b]] = 1;
    }
    for (int pass = 0; pass < 2; pass++) { // how many, then which
        for (uint32_t i = 0; i < p->point_count; i++) {
            uint32_t count = gather_joints(p, &level, i, list);
            end[i] = first[i] + count;
            count = add_beside(joints, beside, count, list, found);
            if (all) memcpy(all + first[i], list, count * sizeof *list);
            first[i + 1] = first[i] + count;
        }
        if (!all) all = cutis_arena_alloc(arena, first[p->point_count] + (size_t)1, sizeof *all);
        if (!all) return false;
    }
    p->may_first = first, p->may_near = end, p->may = all;
    return true;
}

static bool find_candidates(const cutis_bake_problem *p, cutis_arena *arena,
                            cutis_bake_level *level)
{
    static const uint32_t none = 0;
    const size_t total = p->may_first ? p->may_first[p->point_count] : 0;
    level->joint_product = cutis_arena_zero(arena, total + 1, sizeof *level->joint_product);
    level->joint_first = p->may_first, level->joint_near = p->may_near;
    level->joint = p->may_first ? p->may : &none;
    if (!p->may_first)
        level->joint_first = level->joint_near =
            cutis_arena_zero(arena, level->count + (size_t)1, sizeof(uint32_t));
    return level->joint_product && level->joint_first;
}

// The largest of the given weights, which the first solve makes the best of.
static void start_weights(const cutis_bake_problem *p, cutis_bake_level *level)
{
    for (uint32_t i = 0; i < level->count; i++) {
        const uint32_t v = i;
        uint32_t *bone = level->bone + (size_t)i * p->influences, count = 0;
        double *weight = level->weight + (size_t)i * p->influences;
        const uint32_t limit = cutis_bake_limit(p, v);
        for (uint32_t k = p->first[v]; k < p->first[v + 1]; k++) {
            uint32_t at = count < limit ? count++ : limit;
            for (; at > 0 && p->weight[k] > weight[at - 1]; at--)
                if (at < limit) weight[at] = weight[at - 1], bone[at] = bone[at - 1];
            if (at < limit) weight[at] = p->weight[k], bone[at] = p->joint[k];
        }
        double sum = 0;
        for (uint32_t k = 0; k < count; k++) sum += weight[k];
        for (uint32_t k = 0; k < count; k++) weight[k] /= sum;
        level->slots[i] = (uint8_t)count;
    }
}

static bool allocate(const cutis_bake_problem *p, cutis_arena *arena, uint32_t capacity,
                     cutis_bake_level *level)
{
    const size_t n = level->count, slots = n * p->influences;
    level->square = cutis_arena_alloc(arena, n, CUTIS_BAKE_SQUARE * sizeof *level->square);
    level->energy = cutis_arena_zero(arena, n, sizeof *level->energy);
    level->target_square = cutis_arena_zero(arena, n, sizeof *level->target_square);
    level->near = cutis_arena_alloc(arena, n, CUTIS_BAKE_NEAR * sizeof *level->near);
    level->slots = cutis_arena_zero(arena, n, 1);
    level->bone = cutis_arena_zero(arena, slots, sizeof *level->bone);
    level->weight = cutis_arena_zero(arena, slots, sizeof *level->weight);
    level->product = cutis_arena_zero(arena, slots, sizeof *level->product);
    if (p->joint_count) {
        level->allowed = cutis_arena_zero(arena, capacity, n);
        if (!level->allowed) return false;
    }
    return level->square && level->energy && level->target_square && level->near && level->slots &&
           level->bone && level->weight && level->product;
}

void cutis_bake_squares(const cutis_bake_problem *p, cutis_bake_level *level)
{
    for (uint32_t i = 0; i < level->count; i++) {
        const double *x = p->positions + 3 * (size_t)i;
        const double square[CUTIS_BAKE_SQUARE] = {
            x[0] * x[0], x[0] * x[1], x[0] * x[2], x[0], x[1] * x[1],
            x[1] * x[2], x[1],        x[2] * x[2], x[2], 1
        };
        memcpy(level->square + CUTIS_BAKE_SQUARE * (size_t)i, square, sizeof square);
        if (!p->normals) continue;
        const double *n = p->normals + 3 * (size_t)i;
        const double turn[CUTIS_BAKE_SQUARE] = {
            n[0] * n[0], n[0] * n[1], n[0] * n[2], 0, n[1] * n[1], n[1] * n[2], 0, n[2] * n[2]
        };
        for (size_t k = 0; k < CUTIS_BAKE_SQUARE; k++)
            level->square[CUTIS_BAKE_SQUARE * (size_t)i + k] += p->worth * p->worth * turn[k];
    }
}

bool cutis_bake_level_create(const cutis_bake_problem *p, cutis_arena *arena, uint32_t capacity,
                             cutis_bake_level *level)
{
    *level = (cutis_bake_level){ .count = p->point_count };
    if (!allocate(p, arena, capacity, level)) return false;
    cutis_bake_squares(p, level);
    if (!find_near(p, arena, level)) return false;
    if (!find_candidates(p, arena, level)) return false;
    if (p->first) start_weights(p, level);
    return true;
}

typedef struct inherit_job {
    const cutis_bake_problem *problem;
    const cutis_bake_grid *grid;
    cutis_bake_level *level;
    const cutis_bake_level *from;
} inherit_job;

// What the nearest point of a sample follows, as far as this one may too.
static void inherit_task(void *data, uint32_t index)
{
    const inherit_job *job = data;
    const cutis_bake_problem *p = job->problem;
    cutis_bake_level *level = job->level;
    const cutis_bake_level *from = job->from;
    uint32_t i = index * TASK;
    for (uint32_t end = i + TASK; i < end && i < level->count; i++) {
        double square, sum = 0;
        uint32_t nearest = 0, count = 0;
        if (!cutis_bake_grid_nearest(job->grid, p->positions + 3 * (size_t)i, 1, &nearest, &square))
            continue;
        uint32_t *bone = level->bone + (size_t)i * p->influences;
        double *weight = level->weight + (size_t)i * p->influences;
        for (uint32_t k = 0; k < from->slots[nearest] && count < cutis_bake_limit(p, i); k++) {
            const size_t at = (size_t)nearest * p->influences + k;
            const uint32_t b = from->bone[at];
            bool may = b >= p->joint_count &&
                       (!level->allowed ||
                        level->allowed[(size_t)(b - p->joint_count) * level->count + i]);
            for (uint32_t j = level->joint_first[i]; j < level->joint_first[i + 1] && !may; j++)
                may = level->joint[j] == b;
            if (!may) continue;
            bone[count] = b, weight[count++] = from->weight[at];
            sum += from->weight[at];
        }
        for (uint32_t k = 0; k < count; k++) weight[k] /= sum;
        if (count) level->slots[i] = (uint8_t)count;
    }
}

// How far apart two frames are: some points are enough.
static double frames_apart(const cutis_bake_problem *p, uint32_t a, uint32_t b)
{
    const uint32_t step = p->point_count / 256 + 1;
    double sum = 0;
    for (uint32_t i = 0; i < p->point_count; i += step)
        for (size_t c = 0; c < 3; c++) {
            const float *v = p->targets + (3 * (size_t)i + c) * p->stride;
            const double d = (double)v[a] - v[b];
            sum += d * d;
        }
    return sum;
}

// Tracks of a thinner problem: of its frames before and after, the one that looks more alike. They
// may be of different clips.
static void inherit_tracks(const cutis_bake_work *from, const uint32_t *frame, cutis_bake_work *to)
{
    const cutis_bake_problem *thin = from->problem, *p = to->problem;
    uint32_t before = 0;
    for (uint32_t f = 0; f < p->frame_count; f++) {
        while (before + 1 < thin->frame_count && frame[before + 1] <= f) before++;
        uint32_t near = before;
        if (before + 1 < thin->frame_count &&
            frames_apart(p, f, frame[before + 1]) < frames_apart(p, f, frame[before]))
            near = before + 1;
        for (size_t k = 0; k < 12 * (size_t)to->helper_count; k++)
            to->helpers[k * p->stride + f] = from->helpers[k * thin->stride + near];
    }
}

bool cutis_bake_level_inherit(const cutis_bake_work *from, const uint32_t *frame,
                              cutis_arena *arena, cutis_bake_work *to)
{
    const cutis_bake_problem *p = to->problem;
    cutis_bake_level *level = to->level;
    cutis_bake_grid grid;
    if (!cutis_bake_grid_create(arena, from->problem->positions, from->problem->point_count, &grid))
        return false;
    to->helper_count = from->helper_count;
    memcpy(to->seed_joints, from->seed_joints, (size_t)from->helper_count * p->joint_count);
    for (uint32_t h = 0; h < to->helper_count && level->allowed; h++)
        for (uint32_t i = 0; i < level->count; i++)
            for (uint32_t k = level->joint_first[i]; k < level->joint_near[i]; k++)
                level->allowed[(size_t)h * level->count + i] |=
                    to->seed_joints[(size_t)h * p->joint_count + level->joint[k]] != 0;
    inherit_job job = { p, &grid, level, from->level };
    cutis_device_run_items(p->device, inherit_task, &job, level->count, TASK);
    inherit_tracks(from, frame, to);
    return true;
}

typedef struct thin_job {
    const cutis_bake_problem *from;
    const cutis_bake_problem *to;
    const uint32_t *point, *frame;
    float *targets, *turns;
} thin_job;

static void thin_task(void *data, uint32_t index)
{
    const thin_job *job = data;
    const cutis_bake_problem *p = job->from, *to = job->to;
    uint32_t i = index * TASK;
    for (uint32_t end = i + TASK; i < end && i < to->point_count; i++)
        for (size_t c = 0; c < 3; c++)
            for (uint32_t f = 0; f < to->stride; f++) {
                const bool there = f < to->frame_count; // zeros beyond the last
                const size_t at = (3 * (size_t)i + c) * to->stride + f;
                const size_t from =
                    (3 * (size_t)job->point[i] + c) * p->stride + (there ? job->frame[f] : 0);
                job->targets[at] = there ? p->targets[from] : 0;
                if (p->turns) job->turns[at] = there ? p->turns[from] : 0;
            }
}

bool cutis_bake_thin(const cutis_bake_problem *p, cutis_arena *arena, uint32_t points,
                     uint32_t frame_step, cutis_bake_problem *out, uint32_t **frame)
{
    *out = *p;
    out->point_count = p->point_count < points ? p->point_count : points;
    out->frame_count = (p->frame_count + frame_step - 1) / frame_step;
    out->stride =
        (out->frame_count + CUTIS_BAKE_LANES - (size_t)1) / CUTIS_BAKE_LANES * CUTIS_BAKE_LANES;
    const size_t n = out->point_count, lists = p->first ? p->first[p->point_count] : 0;
    uint32_t *point = cutis_arena_alloc(arena, n, sizeof *point);
    double *positions = cutis_arena_alloc(arena, n, 3 * sizeof *positions);
    double *mass = cutis_arena_alloc(arena, n, sizeof *mass);
    uint32_t *space = cutis_arena_alloc(arena, n, sizeof *space);
    uint32_t *first = cutis_arena_zero(arena, n + 1, sizeof *first);
    uint32_t *joint = cutis_arena_alloc(arena, lists + 1, sizeof *joint);
    double *weight = cutis_arena_alloc(arena, lists + 1, sizeof *weight);
    const size_t mays = p->may_first ? p->may_first[p->point_count] : 0;
    uint32_t *may_first = cutis_arena_zero(arena, n + 1, sizeof *may_first);
    uint32_t *may_near = cutis_arena_zero(arena, n + 1, sizeof *may_near);
    uint32_t *may = cutis_arena_alloc(arena, mays + 1, sizeof *may);
    double *joints = cutis_arena_zero(arena, p->joint_count * 12 * out->stride + 1, sizeof *joints);
    float *targets = cutis_arena_alloc(arena, n * 3 * out->stride, sizeof *targets);
    float *turns = cutis_arena_alloc(arena, p->turns ? n * 3 * out->stride : 1, sizeof *turns);
    double *normals = cutis_arena_zero(arena, p->normals ? n : 1, 3 * sizeof *normals);
    *frame = cutis_arena_alloc(arena, out->frame_count, sizeof **frame);
    if (!point || !positions || !mass || !space || !first || !joint || !weight || !joints ||
        !targets || !turns || !normals || !may_first || !may_near || !may || !*frame)
        return false;
    for (uint32_t f = 0; f < out->frame_count; f++) (*frame)[f] = f * frame_step;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = point[i] = (uint32_t)((uint64_t)i * p->point_count / n);
        memcpy(positions + 3 * (size_t)i, p->positions + 3 * (size_t)v, 3 * sizeof *positions);
        if (p->normals)
            memcpy(normals + 3 * (size_t)i, p->normals + 3 * (size_t)v, 3 * sizeof *normals);
        mass[i] = p->mass[v], space[i] = p->space ? p->space[v] : 0, first[i + 1] = first[i];
        for (uint32_t k = p->first ? p->first[v] : 0; p->first && k < p->first[v + 1]; k++) {
            joint[first[i + 1]] = p->joint[k];
            weight[first[i + 1]++] = p->weight[k];
        }
        if (!p->may_first) continue;
        const uint32_t count = p->may_first[v + 1] - p->may_first[v];
        memcpy(may + may_first[i], p->may + p->may_first[v], count * sizeof *may);
        may_first[i + 1] = may_first[i] + count;
        may_near[i] = may_first[i] + (p->may_near[v] - p->may_first[v]);
    }
    for (size_t k = 0; k < 12 * (size_t)p->joint_count; k++)
        for (uint32_t f = 0; f < out->frame_count; f++)
            joints[k * out->stride + f] = p->joints[k * p->stride + (*frame)[f]];
    out->positions = positions, out->mass = mass, out->joints = joints, out->targets = targets;
    out->space = p->space ? space : NULL;
    if (p->limits) {
        uint8_t *limits = cutis_arena_alloc(arena, n, 1);
        if (!limits) return false;
        for (uint32_t i = 0; i < n; i++) limits[i] = p->limits[point[i]];
        out->limits = limits;
    }
    if (p->turns) out->turns = turns, out->normals = normals;
    if (p->may_first) out->may_first = may_first, out->may_near = may_near, out->may = may;
    if (p->first) out->first = first, out->joint = joint, out->weight = weight;
    thin_job job = { p, out, point, *frame, targets, turns };
    cutis_device_run_items(p->device, thin_task, &job, out->point_count, TASK);
    return true;
}
