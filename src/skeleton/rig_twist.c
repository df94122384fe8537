// Twist joints. A forearm is twisted at its far end, by the hand; upper arms and thighs at their
// near one, against what carries them. So the twist joint takes the skin of a forearm towards the
// hand, of the others towards their root, linearly along the bone, and is turned by half
// (retarget_twist.c): what one joint would wring in one place is wrung half there, half along the
// bone. Invariant: weights of a vertex still sum to what they did, and none has more of them than
// `most`.
#include "skeleton/rig_twist.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static const struct {
    const char *bone, *next;
    bool near;
} TWISTED[] = { { "upperarm", "forearm", true },
                { "forearm", "hand", false },
                { "thigh", "shin", true } };

enum { KINDS = sizeof TWISTED / sizeof *TWISTED, VERTEX_MOST = 64 };

uint32_t cutis_twist_add(cutis_plan *plan)
{
    uint32_t count = 0;
    for (int i = 0; i < 2 * KINDS; i++) {
        const char *side = i < KINDS ? "_l" : "_r";
        const int32_t bone = cutis_plan_find(plan, TWISTED[i % KINDS].bone, side);
        const int32_t next = cutis_plan_find(plan, TWISTED[i % KINDS].next, side);
        if (bone == CUTIS_NONE || next == CUTIS_NONE || plan->joints[next].parent != bone ||
            plan->joint_count == CUTIS_PLAN_JOINTS)
            continue;
        cutis_plan_joint *joint = &plan->joints[plan->joint_count++];
        snprintf(joint->name, sizeof joint->name, "%s_twist%s", TWISTED[i % KINDS].bone, side);
        joint->parent = bone;
        joint->point = v3_mix(plan->joints[bone].point, plan->joints[next].point, 0.5);
        count++;
    }
    return count;
}

// The share of a bone's weight that its twist joint has at a place: by how far it is along the
// bone.
static double share_at(const cutis_plan *plan, uint32_t twist, vec3 at)
{
    const cutis_plan_joint *joint = &plan->joints[twist], *bone = &plan->joints[joint->parent];
    const vec3 half = v3_sub(joint->point, bone->point);
    const double square = v3_dot(half, half);
    const double along = square > 0 ? v3_dot(v3_sub(at, bone->point), half) / (2 * square) : 0;
    const double t = fmin(fmax(along, 0), 1);
    for (int i = 0; i < KINDS; i++)
        if (strncmp(bone->name, TWISTED[i].bone, strlen(TWISTED[i].bone)) == 0)
            return TWISTED[i].near ? 1 - t : t;
    return 0;
}

typedef struct {
    uint32_t count, joints[VERTEX_MOST];
    double weights[VERTEX_MOST];
} blend;

static void add(blend *b, uint32_t joint, double weight)
{
    if (b->count == VERTEX_MOST || !(weight > 0)) return;
    b->joints[b->count] = joint;
    b->weights[b->count++] = weight;
}

// The largest `most`, the others' weight shared out among them.
static void limit(blend *b, uint32_t most)
{
    double whole = 0, kept = 0;
    for (uint32_t i = 0; i < b->count; i++) whole += b->weights[i];
    while (b->count > most) {
        uint32_t least = 0;
        for (uint32_t i = 1; i < b->count; i++)
            if (b->weights[i] < b->weights[least]) least = i;
        b->count--;
        for (uint32_t i = least; i < b->count; i++)
            b->joints[i] = b->joints[i + 1], b->weights[i] = b->weights[i + 1];
    }
    for (uint32_t i = 0; i < b->count; i++) kept += b->weights[i];
    for (uint32_t i = 0; i < b->count && kept > 0; i++) b->weights[i] *= whole / kept;
}

static blend spread_one(const cutis_plan *plan, uint32_t count, const cutis_influences *in,
                        uint32_t v, vec3 at)
{
    blend out = { 0 };
    for (uint32_t i = in->first[v]; i < in->first[v + 1]; i++) {
        uint32_t twist = plan->joint_count - count;
        while (twist < plan->joint_count && plan->joints[twist].parent != (int32_t)in->joints[i])
            twist++;
        const double weight = (double)in->weights[i];
        const double share = twist < plan->joint_count ? share_at(plan, twist, at) : 0;
        add(&out, in->joints[i], (1 - share) * weight);
        add(&out, twist, share * weight);
    }
    return out;
}

cutis_result cutis_twist_spread(cutis_arena *arena, const cutis_plan *plan, uint32_t count,
                                const float *positions, uint32_t vertex_count, uint32_t most,
                                cutis_influences *influences)
{
    const size_t old = influences->first ? influences->first[vertex_count] : 0;
    uint32_t *first = cutis_arena_alloc(arena, vertex_count + (size_t)1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(arena, 2 * old + 1, sizeof *joints);
    float *weights = cutis_arena_alloc(arena, 2 * old + 1, sizeof *weights);
    uint32_t used = 0;
    if (!first || !joints || !weights) return cutis_alloc_result(arena->context);
    if (!influences->first) return CUTIS_OK;
    for (uint32_t v = 0; v < vertex_count; v++) {
        const float *x = positions + 3 * (size_t)v;
        blend b = spread_one(plan, count, influences, v, v3(x[0], x[1], x[2]));
        limit(&b, most);
        first[v] = used;
        for (uint32_t i = 0; i < b.count; i++)
            joints[used] = b.joints[i], weights[used++] = (float)b.weights[i];
    }
    first[vertex_count] = used;
    *influences = (cutis_influences){ first, joints, weights };
    return CUTIS_OK;
}
