// Bodies of no kind, and limbs of no role: every limb a part, with bones by its length, on the
// nearest joint. Invariant: carriers come before what they carry, so parents are there.
#include <math.h>
#include <stdio.h>

#include "skeleton/planner.h"

static const double BONE = 0.12;  // of the diagonal: the length of one
static const double STEP = 0.18;  // of it: so far from the root of the rig the trunk has a joint
static const double SEEN = 0.04;  // of it: what stands out less is not a part
static const double OPENS = 1.5;  // nor what opens less
static const double SNOUT = 0.45; // of a head: the longest
static const double BLUNT = 1.2;  // opening of what has none
static const double CONE = 3.2;   // sections: limbs are longer than the tip of a cone
static const double ROD = 5;      // sections: a limb all the same
static const double BORDER = 1.0; // of a limb: where its part begins

enum { BONES_MOST = 5 };

static int32_t nearest_joint(const cutis_planner *p, vec3 point)
{
    const cutis_plan_joint *joints = p->plan->joints;
    int32_t best = CUTIS_NONE;
    for (uint32_t j = 0; j < p->plan->joint_count; j++)
        if (best == CUTIS_NONE ||
            v3_distance(joints[j].point, point) < v3_distance(joints[best].point, point))
            best = (int32_t)j;
    return best;
}

static void lay(cutis_planner *p, uint32_t index, const char *name)
{
    const cutis_limb *limb = &p->limbs[index];
    int bones = (int)(limb->length / (BONE * p->diagonal) + 0.5);
    if (bones < 1) bones = 1;
    if (bones > BONES_MOST) bones = BONES_MOST;
    int32_t parent = nearest_joint(p, cutis_plan_limb_at(p, index, 1.1));
    cutis_plan_mark(p, limb, BORDER * limb->length, cutis_plan_add_part(p, "", name, ""));
    for (int b = 0; b < bones; b++) {
        char number[16];
        snprintf(number, sizeof number, "_%d", b + 1);
        parent = cutis_plan_add_joint(p, name, bones > 1 ? number : "", "", parent,
                                      cutis_plan_limb_at(p, index, 1 - (double)b / bones));
    }
}

// A snout, a beak: on a head, and going its way.
static bool goes_on(const cutis_limb *limb, const cutis_limb *head)
{
    vec3 own = v3_unit(v3_sub(limb->tip, limb->root));
    return limb->length < SNOUT * head->length &&
           v3_dot(own, v3_unit(v3_sub(limb->root, head->root))) > 0.5;
}

// Is it a limb that people would name? Fingers, toes and claws of a leg are the leg's.
static bool seen(const cutis_planner *p, uint32_t index)
{
    const cutis_limb *limb = &p->limbs[index];
    if (limb->carrier != CUTIS_NOTHING &&
        (p->plan->kind == CUTIS_KIND_BIRD || goes_on(limb, &p->limbs[limb->carrier])))
        return false;
    return p->roles[index] == CUTIS_ROLE_NONE && !limb->behind && limb->opening >= OPENS &&
           limb->stands_out >= SEEN * p->diagonal &&
           (limb->carrier == CUTIS_NOTHING || p->roles[limb->carrier] == CUTIS_ROLE_HEAD);
}

void cutis_plan_extras(cutis_planner *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        char name[24];
        if (!seen(p, i)) continue;
        snprintf(name, sizeof name, "%s%u", p->limbs[i].carrier == CUTIS_NOTHING ? "limb" : "horn",
                 ++n);
        lay(p, i, name);
    }
}

// A joint of the trunk on the way from a limb to the centre, where none is near.
static void bridge(cutis_planner *p, uint32_t index)
{
    const cutis_limb *limb = &p->limbs[index];
    double whole = limb->along[limb->count - 1];
    if (limb->root_way < STEP * p->diagonal) return;
    vec3 middle = cutis_limb_point(p->lines, limb, (limb->length + whole) / 2);
    int32_t near = nearest_joint(p, middle);
    if (v3_distance(p->plan->joints[near].point, middle) < STEP * p->diagonal / 2) return;
    char number[16];
    snprintf(number, sizeof number, "%u", p->plan->joint_count);
    cutis_plan_add_joint(p, "spine", number, "", near, middle);
}

// Corners of a box, tips of a cone and the ends of a ball are no limbs; a rod is one.
static bool is_clear(const cutis_planner *p, const cutis_limb *limb)
{
    return limb->stands_out >= SEEN * p->diagonal &&
           limb->length > (limb->opening >= OPENS ? CONE : ROD) * limb->thickness;
}

// May a limb be a part, or are there so many that stand out more? Carriers go before what they
// carry.
static bool among_most(const cutis_planner *p, uint32_t index)
{
    const cutis_limb *limb = &p->limbs[index];
    uint32_t before = 1; // the body
    for (uint32_t i = 0; i < p->count; i++) {
        const cutis_limb *other = &p->limbs[i];
        if (i == index || p->told[i] == CUTIS_ROLE_NONE) continue;
        before += cutis_limb_within(p->all, index, i) ||
                  (!cutis_limb_within(p->all, i, index) &&
                   (other->stands_out > limb->stands_out ||
                    (other->stands_out == limb->stands_out && i < index)));
    }
    return p->part_most == 0 || before < p->part_most;
}

void cutis_plan_any(cutis_planner *p)
{
    bool done[CUTIS_LIMB_MOST] = { false };
    bool found = false;
    uint32_t n = 0;
    cutis_plan_add_part(p, "", "body", "");
    cutis_plan_add_joint(p, "", "body", "", CUTIS_NONE, p->lines->nodes[0].point);
    for (uint32_t i = 0; i < p->count; i++) found = found || is_clear(p, &p->limbs[i]);
    for (uint32_t i = 0; i < p->count; i++)
        if (found && p->limbs[i].carrier == CUTIS_NOTHING) bridge(p, i);
    for (bool more = found; more;) { // carriers first
        more = false;
        for (uint32_t i = 0; i < p->count; i++) {
            uint32_t carrier = p->limbs[i].carrier;
            char name[24];
            if (done[i] || (carrier != CUTIS_NOTHING && !done[carrier])) continue;
            done[i] = more = true;
            if (p->told[i] == CUTIS_ROLE_NONE || !among_most(p, i)) continue;
            if (p->limbs[i].stands_out < SEEN * p->diagonal && p->told[i] == CUTIS_ROLE_UNTOLD)
                continue;
            if (p->told[i] == CUTIS_ROLE_UNTOLD && p->limbs[i].opening <= BLUNT &&
                !is_clear(p, &p->limbs[i]))
                continue;
            snprintf(name, sizeof name, "limb%u", ++n);
            lay(p, i, name);
        }
    }
}
