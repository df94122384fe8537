// Islands of joints (islands.h). With weights w of other islands and s the sum of a point's own,
// its residual v - sum_other w M p - s sum_own w' M p is s times that of the target (v - sum_other
// w M p) / s for weights w' that sum to one: a problem of the same kind. Invariant: what other
// islands do to a vertex is not touched, so if they move as wholes it is where plain blending has
// it.
#include "fit/bake/islands.h"

#include <string.h>

#include "base/error.h"
#include "math/mat3.h"

static void choose_side(const cutis_bake_job *job, cutis_bake_islands *islands, uint32_t i)
{
    const uint32_t first = job->first[i], end = job->first[i + 1];
    uint32_t others = 0;
    double most = -1, share = 0;
    for (uint32_t k = first; k < end; k++) {
        const uint32_t side = islands->bone[job->joint[k]];
        double sum = 0;
        for (uint32_t j = first; j < end; j++)
            if (islands->bone[job->joint[j]] == side) sum += job->weight[j];
        if (sum > most) most = share = sum, islands->side[i] = side;
    }
    for (uint32_t k = first; k < end; k++)
        others += islands->bone[job->joint[k]] != islands->side[i];
    islands->share[i] = others ? share : 1;
    islands->limit[i] = (uint8_t)(job->problem.influences - others);
    islands->some |= others > 0;
    if (others < job->problem.influences) return;
    islands->side[i] = UINT32_MAX, islands->limit[i] = (uint8_t)job->problem.influences;
}

static bool is_part(const cutis_bake_islands *islands, uint32_t point)
{
    return islands->share[point] < 1 && islands->side[point] != UINT32_MAX;
}

typedef struct target_job {
    const cutis_bake_job *job;
    const cutis_bake_islands *islands;
    float *targets;
} target_job;

enum { TASK = 64 };

// Without what other islands do, and in the size of the own one's part.
static void target_task(void *data, uint32_t index)
{
    const target_job *t = data;
    const cutis_bake_job *job = t->job;
    const cutis_bake_part *part = &job->learned;
    uint32_t i = index * TASK;
    for (uint32_t end = i + TASK; i < end && i < job->point_count; i++) {
        if (!is_part(t->islands, i)) continue;
        for (uint32_t f = 0; f < part->count; f++) {
            double at[3] = { 0, 0, 0 };
            for (uint32_t k = job->first[i]; k < job->first[i + 1]; k++) {
                double m[12], moved[3];
                if (t->islands->bone[job->joint[k]] == t->islands->side[i]) continue;
                cutis_bake_matrix(part->joints + job->joint[k] * 12 * part->stride, part->stride, f,
                                  m);
                double34_point(m, job->positions + 3 * (size_t)i, moved);
                for (int c = 0; c < 3; c++) at[c] += job->weight[k] * moved[c];
            }
            for (size_t c = 0; c < 3; c++) {
                float *to = t->targets + (3 * (size_t)i + c) * part->stride + f;
                *to = (float)(((double)*to - at[c]) / t->islands->share[i]);
            }
        }
    }
}

static bool part_weights(cutis_bake_job *job, const cutis_bake_islands *islands)
{
    const uint32_t total = job->first[job->point_count];
    uint32_t *first = cutis_arena_zero(job->arena, job->point_count + (size_t)1, sizeof *first);
    uint32_t *joint = cutis_arena_alloc(job->arena, total + (size_t)1, sizeof *joint);
    double *weight = cutis_arena_alloc(job->arena, total + (size_t)1, sizeof *weight);
    if (!first || !joint || !weight) return false;
    for (uint32_t i = 0; i < job->point_count; i++) {
        uint32_t at = first[i];
        const bool part = is_part(islands, i);
        for (uint32_t k = job->first[i]; k < job->first[i + 1]; k++) {
            if (part && islands->bone[job->joint[k]] != islands->side[i]) continue;
            joint[at] = job->joint[k];
            weight[at++] = job->weight[k] / (part ? islands->share[i] : 1);
        }
        first[i + 1] = at;
    }
    job->problem.first = first, job->problem.joint = joint, job->problem.weight = weight;
    return true;
}

cutis_result cutis_bake_islands_part(cutis_bake_job *job, const uint32_t *bone_island,
                                     cutis_bake_islands *out)
{
    const size_t n = job->point_count;
    *out = (cutis_bake_islands){ .bone = bone_island };
    out->side = cutis_arena_alloc(job->arena, n, sizeof *out->side);
    out->share = cutis_arena_alloc(job->arena, n, sizeof *out->share);
    out->limit = cutis_arena_alloc(job->arena, n, sizeof *out->limit);
    uint32_t *space = cutis_arena_alloc(job->arena, n, sizeof *space);
    double *mass = cutis_arena_alloc(job->arena, n, sizeof *mass);
    if (!out->side || !out->share || !out->limit || !space || !mass)
        return cutis_alloc_result(job->context);
    for (uint32_t i = 0; i < n; i++) {
        choose_side(job, out, i);
        const bool stays = out->side[i] == UINT32_MAX;
        // Points of other skins are of other spaces, too.
        space[i] = stays ? UINT32_MAX : job->space[i] * job->joint_count + out->side[i];
        mass[i] = stays ? 0 : job->mass[i] * out->share[i] * out->share[i];
    }
    job->problem.space = space, job->problem.mass = mass;
    if (!out->some) return CUTIS_OK;
    const cutis_bake_part *part = &job->learned;
    target_job t = {
        job, out, cutis_arena_copy(job->arena, part->targets, n * 3 * part->stride, sizeof(float))
    };
    if (!t.targets || !part_weights(job, out)) return cutis_alloc_result(job->context);
    cutis_device_run_items(job->device, target_task, &t, job->point_count, TASK);
    job->problem.targets = t.targets, job->problem.limits = out->limit;
    return CUTIS_OK;
}

// The largest of some weights, at most `limit`, in the order they come in, summing to `sum`.
static uint32_t keep_largest(uint32_t limit, double sum, uint32_t count, uint32_t *bone,
                             double *weight)
{
    double total = 0;
    while (count > limit) {
        uint32_t least = 0;
        for (uint32_t k = 1; k < count; k++)
            if (weight[k] < weight[least]) least = k;
        count--;
        for (uint32_t k = least; k < count; k++) bone[k] = bone[k + 1], weight[k] = weight[k + 1];
    }
    for (uint32_t k = 0; k < count; k++) total += weight[k];
    for (uint32_t k = 0; k < count; k++) weight[k] *= sum / total;
    return count;
}

// A point's own weights on joints of other islands, or on all; the largest.
static uint32_t list_given(const cutis_bake_job *job, const cutis_bake_islands *islands, uint32_t i,
                           bool all, uint32_t *bone, double *weight)
{
    uint32_t count = 0;
    for (uint32_t k = job->first[i]; k < job->first[i + 1]; k++) {
        if (!all && islands->bone[job->joint[k]] == islands->side[i]) continue;
        uint32_t at = count;
        if (count < CUTIS_BAKE_SLOTS) {
            count++;
        } else { // no room for more: in place of the least
            at = 0;
            for (uint32_t j = 1; j < count; j++)
                if (weight[j] < weight[at]) at = j;
            if (weight[at] >= job->weight[k]) continue;
        }
        bone[at] = job->joint[k], weight[at] = job->weight[k];
    }
    return count;
}

// Ascending, as everywhere.
static void store(uint32_t count, const uint32_t *bone, const double *weight, uint32_t *to_bone,
                  double *to_weight)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t at = k;
        for (; at > 0 && bone[k] < to_bone[at - 1]; at--)
            to_bone[at] = to_bone[at - 1], to_weight[at] = to_weight[at - 1];
        to_bone[at] = bone[k], to_weight[at] = weight[k];
    }
}

// Weights of a point for the model, and what they leave.
static void set_weights(cutis_bake_job *job, uint32_t i, uint32_t count, const uint32_t *bone,
                        const double *weight, const double *helpers)
{
    cutis_bake_solution *s = &job->solution;
    const size_t at = (size_t)i * job->problem.influences;
    store(count, bone, weight, s->bone + at, s->weight + at);
    s->count[i] = (uint8_t)count;
    s->residual[i] = s->turn[i] = s->plain_turn[i] = 0; // normals were of a part of it alone
    for (uint32_t f = 0; f < job->learned.count; f++)
        s->residual[i] += cutis_bake_point_error(job, &job->learned, helpers, false, i, f);
}

static void join_point(cutis_bake_job *job, const cutis_bake_islands *islands, uint32_t i,
                       const double *helpers)
{
    cutis_bake_solution *s = &job->solution;
    const uint32_t slots = job->problem.influences;
    uint32_t bone[2 * CUTIS_BAKE_SLOTS], own_bone[CUTIS_BAKE_SLOTS], count = 0;
    double weight[2 * CUTIS_BAKE_SLOTS], own[CUTIS_BAKE_SLOTS];
    for (; count < s->count[i]; count++) {
        bone[count] = s->bone[(size_t)i * slots + count];
        weight[count] = s->weight[(size_t)i * slots + count];
    }
    s->plain[i] = 0;
    for (uint32_t f = 0; f < job->learned.count; f++)
        s->plain[i] += cutis_bake_point_error(job, &job->learned, helpers, true, i, f);
    uint32_t own_count = list_given(job, islands, i, true, own_bone, own);
    own_count = keep_largest(slots, 1, own_count, own_bone, own);
    set_weights(job, i, own_count, own_bone, own, helpers);
    if (!is_part(islands, i)) return;
    const double left = s->residual[i];
    const uint32_t given = list_given(job, islands, i, false, bone + count, weight + count);
    const uint32_t kept = keep_largest(slots - given, islands->share[i], count, bone, weight);
    memmove(bone + kept, bone + count, given * sizeof *bone);
    memmove(weight + kept, weight + count, given * sizeof *weight);
    set_weights(job, i, kept + given, bone, weight, helpers);
    // Others may have left too little room.
    if (s->residual[i] > left) set_weights(job, i, own_count, own_bone, own, helpers);
}

void cutis_bake_islands_join(cutis_bake_job *job, const cutis_bake_islands *islands,
                             const double *helpers)
{
    for (uint32_t i = 0; i < job->point_count; i++)
        if (islands->side[i] == UINT32_MAX || is_part(islands, i))
            join_point(job, islands, i, helpers);
}

double cutis_bake_point_error(const cutis_bake_job *job, const cutis_bake_part *part,
                              const double *helpers, bool own, uint32_t point, uint32_t frame)
{
    const cutis_bake_solution *s = &job->solution;
    const uint32_t slots = job->problem.influences, first = job->first[point];
    const uint32_t count = own ? job->first[point + 1] - first : s->count[point];
    double at[3] = { 0, 0, 0 }, square = 0;
    for (uint32_t k = 0; k < count; k++) {
        const size_t place = (size_t)point * slots + k;
        const uint32_t bone = own ? job->joint[first + k] : s->bone[place];
        const double w = own ? job->weight[first + k] : s->weight[place];
        const bool joint = bone < job->joint_count;
        double m[12], moved[3];
        cutis_bake_matrix((joint ? part->joints + bone * 12 * part->stride
                                 : helpers + (bone - job->joint_count) * 12 * part->stride),
                          part->stride, frame, m);
        double34_point(m, job->positions + 3 * (size_t)point, moved);
        for (int c = 0; c < 3; c++) at[c] += w * moved[c];
    }
    for (size_t c = 0; c < 3; c++) {
        const double d = at[c] - part->targets[(3 * (size_t)point + c) * part->stride + frame];
        square += d * d;
    }
    return square;
}
