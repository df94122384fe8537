// From limbs with roles to parts and joints. Joints along limbs come from rows (plan_rows.c), those
// of the trunk lie between the roots of limbs. Invariant: parents before children; left is up x
// front; every node of the centrelines has a part.
#include "skeleton/planner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"
#include "skeleton/plan_rows.h"

static const uint32_t CELLS = 80000;   // enough for fingers and toes of a whole body
static const double LEAST_END = 0.015; // of the diagonal: what an end stands out by
static const double USUAL = 0.5,
                    BETTER = 0.6;   // deviations: what needs no second look; what one must gain
static const double STRAIGHT = 0.9; // of a limb's length: up to there joints lie on its line
static const double AIMED = 0.25;   // of it: the stretch that shows where the bone goes on
static const double BRANCH =
    1.2; // of the section: so far inside of a border branches are outside's
static const double IN_TRUNK = 0.8;   // of the centre's ball
static const double NO_KIND = 1.5;    // deviation beyond which a body is of none
static const double NO_KIND_TOLD = 2; // the same where a person says what limbs are
static const double NECK = 0.85;      // of a head's section: so narrow it is over
static const double NEAR_WAIST = 0.1; // of a limb: so far from its share a wrist may be
static const double WAIST = 0.95;     // of what lies on both sides
static const double LEGS_TELL = 0.3;  // cosine: so far down they go
static const double LONG_NECK = 0.58; // of the trunk: a neck of two bones; a bird's is a part then

// Limbs of a role -------------------------------------------------------------------------------

uint32_t cutis_plan_limbs(const cutis_planner *p, cutis_role role, uint32_t *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->roles[i] == role) list[n++] = i;
    return n;
}

// A place along a limb, 0 its tip, 1 where it opens. Near there and beyond, the line turns to the
// body's centre while the bone goes straight on.
vec3 cutis_plan_limb_at(const cutis_planner *p, uint32_t limb, double share)
{
    const cutis_limb *l = &p->limbs[limb];
    if (share <= STRAIGHT) return cutis_limb_point(p->lines, l, share * l->length);
    vec3 a = cutis_limb_point(p->lines, l, (STRAIGHT - AIMED) * l->length);
    vec3 b = cutis_limb_point(p->lines, l, STRAIGHT * l->length);
    return v3_mad(b, (share - STRAIGHT) * l->length, v3_unit(v3_sub(b, a)));
}

// A point on the way from one limb to another through the body, by its share of that way.
// @param from, to shares of the limbs where the way begins and ends
vec3 cutis_plan_between(const cutis_planner *p, uint32_t a, double from, uint32_t b, double to,
                        double t)
{
    const cutis_limb *la = &p->limbs[a], *lb = &p->limbs[b];
    uint32_t ia = la->count,
             ib = lb->count; // the paths part where they differ, seen from the centre
    while (ia > 0 && ib > 0 && la->path[ia - 1] == lb->path[ib - 1]) ia--, ib--;
    double fork_a = la->along[ia < la->count ? ia : ia - 1];
    double fork_b = lb->along[ib < lb->count ? ib : ib - 1];
    double first = fmax(0, fork_a - from * la->length), second = fmax(0, fork_b - to * lb->length);
    double way = t * (first + second);
    if (way <= first) return cutis_limb_point(p->lines, la, from * la->length + way);
    return cutis_limb_point(p->lines, lb, fork_b - (way - first));
}

// The same from the mean of limbs of a role.
static vec3 trunk_at(const cutis_planner *p, cutis_role role, double from, uint32_t b, double to,
                     double t)
{
    uint32_t list[CUTIS_LIMB_MOST], n = cutis_plan_limbs(p, role, list);
    vec3 sum = v3(0, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        sum = v3_add(sum, cutis_plan_between(p, list[i], from, b, to, t));
    return n ? v3_divide(sum, n) : p->lines->nodes[0].point;
}

// The mean place of limbs of a role at a share of their length; the centre if there are none.
static vec3 mean_at(const cutis_planner *p, cutis_role role, double share)
{
    uint32_t list[CUTIS_LIMB_MOST], n = cutis_plan_limbs(p, role, list);
    vec3 sum = v3(0, 0, 0);
    if (n == 0) return p->lines->nodes[0].point;
    for (uint32_t i = 0; i < n; i++) sum = v3_add(sum, cutis_plan_limb_at(p, list[i], share));
    return v3_divide(sum, n);
}

// Sort a list of limbs by a coordinate, largest first.
static void sort_along(const cutis_planner *p, uint32_t *list, uint32_t n, double share, vec3 way)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t limb = list[i], k = i;
        double value = v3_dot(cutis_plan_limb_at(p, limb, share), way);
        for (; k > 0 && v3_dot(cutis_plan_limb_at(p, list[k - 1], share), way) < value; k--)
            list[k] = list[k - 1];
        list[k] = limb;
    }
}

static double tip_way(const cutis_planner *p, uint32_t limb)
{
    return p->lines->nodes[p->limbs[limb].path[0]].way;
}

// Frame of the body -----------------------------------------------------------------------------

static vec3 across(vec3 v, vec3 up)
{
    return v3_mad(v, -v3_dot(v, up), up);
}

// The sum of what limbs of a role go, from their roots to their tips.
static vec3 ways_of(const cutis_planner *p, cutis_role role)
{
    uint32_t list[CUTIS_LIMB_MOST], n = cutis_plan_limbs(p, role, list);
    vec3 sum = v3(0, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        sum = v3_add(sum, v3_sub(p->limbs[list[i]].tip, p->limbs[list[i]].root));
    return sum;
}

static cutis_role front_role(const cutis_planner *p)
{
    uint32_t list[CUTIS_LIMB_MOST];
    return cutis_plan_limbs(p, CUTIS_ROLE_HEAD, list) ? CUTIS_ROLE_HEAD : CUTIS_ROLE_EAR;
}

static cutis_role rear_role(const cutis_planner *p)
{
    uint32_t list[CUTIS_LIMB_MOST];
    cutis_role rear = p->plan->kind == CUTIS_KIND_INSECT ? CUTIS_ROLE_ABDOMEN
                      : p->plan->kind == CUTIS_KIND_FISH ? CUTIS_ROLE_CAUDAL
                                                         : CUTIS_ROLE_TAIL;
    return cutis_plan_limbs(p, rear, list) ? rear : CUTIS_ROLE_LEG;
}

// Across a pair and the body's length: what is up or down.
static vec3 across_pair(const cutis_planner *p, cutis_role role, vec3 front)
{
    uint32_t list[CUTIS_LIMB_MOST];
    if (cutis_plan_limbs(p, role, list) != 2) return v3(0, 0, 0);
    return v3_cross(v3_sub(p->limbs[list[0]].root, p->limbs[list[1]].root), front);
}

// Does a bird's back look the other way? Legs tell, unless they are stretched out behind in flight.
static bool is_below(const cutis_planner *p, vec3 up)
{
    const double down = v3_dot(v3_unit(ways_of(p, CUTIS_ROLE_LEG)), v3_unit(up));
    return fabs(down) > LEGS_TELL ? down > 0 : up.y < 0;
}

// Up as the kind tells: above the legs, on the fin's side. The y axis, where that is near, and
// where nothing tells.
static vec3 find_up(const cutis_planner *p, vec3 front)
{
    const vec3 y = v3(0, 1, 0);
    vec3 up = y;
    switch (p->plan->kind) {
    case CUTIS_KIND_HUMAN:
    case CUTIS_KIND_BEAR:
        return v3_unit(v3_sub(mean_at(p, CUTIS_ROLE_ARM, 1), mean_at(p, CUTIS_ROLE_LEG, 1)));
    case CUTIS_KIND_QUADRUPED:
    case CUTIS_KIND_INSECT:
        up = v3_scale(ways_of(p, CUTIS_ROLE_LEG), -1);
        break;
    case CUTIS_KIND_OCTOPUS:
        up = v3_scale(ways_of(p, CUTIS_ROLE_HEAD), 1);
        break;
    case CUTIS_KIND_BIRD:
        up = across_pair(p, CUTIS_ROLE_WING, front);
        if (!(v3_length(up) > 0)) up = across_pair(p, CUTIS_ROLE_LEG, front);
        if (is_below(p, up)) up = v3_scale(up, -1);
        break;
    case CUTIS_KIND_FISH:
        up = across_pair(p, CUTIS_ROLE_PECTORAL, front);
        if (v3_length(up) > 0) { // fins lie by it to a few degrees: tilted or not
            const vec3 back = across(ways_of(p, CUTIS_ROLE_DORSAL), v3_unit(front));
            const double tells = v3_length(back) > 0 ? v3_dot(up, back) : up.y;
            return v3_unit(tells < 0 ? v3_scale(up, -1) : up);
        }
        up = ways_of(p, CUTIS_ROLE_DORSAL);
        break;
    default:
        break;
    }
    up = across(up, v3_unit(front));
    return v3_length(up) > 0 && v3_dot(v3_unit(up), y) < 0.4 ? v3_unit(up) : y;
}

// Front as the kind tells: feet of people, heads of animals; else +z. Left is up x front.
static void find_frame(cutis_planner *p)
{
    vec3 front = v3(0, 0, 1);
    uint32_t list[CUTIS_LIMB_MOST], n;
    switch (p->plan->kind) {
    case CUTIS_KIND_HUMAN:
    case CUTIS_KIND_BEAR: {
        vec3 sum = v3(0, 0, 0);
        n = cutis_plan_limbs(p, CUTIS_ROLE_LEG, list);
        p->up = find_up(p, front);
        for (uint32_t i = 0; i < n; i++)
            sum = v3_add(sum, v3_sub(cutis_plan_limb_at(p, list[i], 0),
                                     cutis_plan_limb_at(p, list[i], 0.16)));
        if (n > 0 && v3_length(across(sum, p->up)) > 0) front = sum;
        break;
    }
    case CUTIS_KIND_QUADRUPED:
    case CUTIS_KIND_BIRD:
    case CUTIS_KIND_INSECT:
    case CUTIS_KIND_FISH:
        front = v3_sub(mean_at(p, front_role(p), 1), mean_at(p, rear_role(p), 1));
        p->up = find_up(p, front);
        break;
    default:
        p->up = find_up(p, v3(0, 0, 0));
        break;
    }
    front = across(front, p->up);
    if (!(v3_length(front) > 0)) front = across(v3(0, 0, 1), p->up);
    if (!(v3_length(front) > 0)) front = across(v3(1, 0, 0), p->up);
    p->front = v3_unit(front);
    p->plan->front = p->front;
    p->left = v3_cross(p->up, p->front);
}

// Joints and parts ------------------------------------------------------------------------------

int32_t cutis_plan_add_joint(cutis_planner *p, const char *base, const char *name, const char *side,
                             int32_t parent, vec3 point)
{
    cutis_plan *plan = p->plan;
    if (plan->joint_count == CUTIS_PLAN_JOINTS) return parent;
    cutis_plan_joint *joint = &plan->joints[plan->joint_count];
    snprintf(joint->name, sizeof joint->name, "%s%s%s", base, name, side);
    joint->parent = parent, joint->point = point;
    return (int32_t)plan->joint_count++;
}

uint32_t cutis_plan_add_part(cutis_planner *p, const char *base, const char *name, const char *side)
{
    cutis_plan *plan = p->plan;
    char text[CUTIS_PLAN_NAME];
    snprintf(text, sizeof text, "%s%s%s", base, name, side);
    for (uint32_t i = 0; i < plan->part_count; i++)
        if (strcmp(plan->parts[i], text) == 0) return i;
    if (plan->part_count == CUTIS_PLAN_PARTS) return 0;
    memcpy(plan->parts[plan->part_count], text, sizeof text);
    return plan->part_count++;
}

// A limb and all that it carries beyond a place: nodes as far from the centre as that place. Lines
// of its other ends may run beside its own down to the trunk.
void cutis_plan_mark(cutis_planner *p, const cutis_limb *limb, double along, uint32_t part)
{
    const uint32_t index = (uint32_t)(limb - p->limbs);
    const double ball = p->lines->nodes[0].radius, whole = limb->along[limb->count - 1];
    const double border = fmax(whole - along, IN_TRUNK * ball); // the centre is nobody's
    for (uint32_t e = 0; e < p->lines->end_count; e++) {
        if (e != limb->end && (p->all->of_end[e] == CUTIS_NOTHING ||
                               !cutis_limb_within(p->all, p->all->of_end[e], index)))
            continue;
        uint32_t v = p->lines->ends[e].node;
        for (; v != CUTIS_NOTHING && p->lines->nodes[v].way >= (1 - 1e-12) * border;
             v = p->lines->nodes[v].parent) {
            p->plan->node_parts[v] = part;
        }
    }
}

// The place of the largest section of a limb's end: its head, if it has one. What widens again
// beyond a neck is not the head's.
static double peak_of(const cutis_limb *limb)
{
    double most = 0, peak = limb->length;
    for (uint32_t i = 0; i < limb->count; i++) {
        double t = limb->along[i] / limb->length;
        if (t > 0.1 && t < 0.8 && limb->section[i] > most)
            most = limb->section[i], peak = limb->along[i];
        if (t > 0.3 && limb->section[i] < NECK * most) break;
    }
    return peak;
}

// The narrowest place between what is thick before a share of a limb, a palm, and what is beyond.
static double waist_of(const cutis_limb *limb, double share)
{
    double palm = 0, least = INFINITY, beyond = 0, at = share * limb->length;
    for (uint32_t i = 0; i < limb->count; i++) {
        double t = limb->along[i] / limb->length;
        if (t < share - NEAR_WAIST || t > share + 2 * NEAR_WAIST) continue;
        if (t < share && limb->section[i] > palm) palm = limb->section[i], least = INFINITY;
        if (t < share + NEAR_WAIST && limb->section[i] < least)
            least = limb->section[i], at = limb->along[i], beyond = 0;
        beyond = fmax(beyond, limb->section[i]);
    }
    return least < WAIST * palm && least < WAIST * beyond ? at : share * limb->length;
}

static double row_place(const cutis_limb *limb, plan_anchor anchor, double value)
{
    if (anchor == FROM_TIP) return value * limb->length;
    if (anchor == AT_WAIST) return waist_of(limb, value);
    if (anchor == AFTER_WAIST)
        return value * limb->length + (waist_of(limb, PLAN_WRIST) - PLAN_WRIST * limb->length) / 2;
    const double peak = peak_of(limb);
    return peak + value * cutis_limb_section(limb, peak);
}

// What branches off a limb just inside of a border is of the part outside of it: a thumb leaves the
// line of an arm before the wrist.
static void mark_branches(cutis_planner *p, const cutis_limb *limb, double outermost)
{
    const uint32_t *parts = p->plan->node_parts;
    for (uint32_t i = 0, k = 0; i < limb->count && limb->along[i] <= outermost; i++) {
        double along = limb->along[i] - BRANCH * limb->section[i];
        while (limb->along[k] < along) k++;
        if (parts[limb->path[i]] != CUTIS_NOTHING)
            p->side_parts[limb->path[i]] = parts[limb->path[k]];
    }
}

// Joints and parts of a limb, by its rows. Returns its last joint.
static int32_t lay_limb(cutis_planner *p, uint32_t index, int variant, const char *base,
                        const char *side, int32_t parent)
{
    const cutis_limb *limb = &p->limbs[index];
    double outermost = 0;
    for (uint32_t r = 0; r < CUTIS_PLAN_ROW_COUNT; r++) {
        const plan_row *row = &CUTIS_PLAN_ROWS[r];
        if (row->kind != p->plan->kind || row->role != p->roles[index] || row->variant != variant)
            continue;
        if (row->joint) {
            double at = row_place(limb, row->anchor, row->at);
            parent = cutis_plan_add_joint(p, base, row->joint, side, parent,
                                          cutis_plan_limb_at(p, index, at / limb->length));
        }
        if (!row->part) continue;
        double cut = row_place(limb, row->anchor, row->cut);
        cutis_plan_mark(p, limb, cut, cutis_plan_add_part(p, base, row->part, side));
        outermost = fmax(outermost, cut);
    }
    mark_branches(p, limb, outermost);
    return parent;
}

static const char *side_name(uint32_t i)
{
    return i == 0 ? "_l" : "_r";
}

// A pair, left first.
void cutis_plan_lay_pair(cutis_planner *p, cutis_role role, int variant, const char *base,
                         int32_t parent)
{
    uint32_t list[CUTIS_LIMB_MOST], n = cutis_plan_limbs(p, role, list);
    sort_along(p, list, n, 1, p->left);
    for (uint32_t i = 0; i < n && i < 2; i++)
        lay_limb(p, list[i], variant, base, n == 1 ? "" : side_name(i), parent);
}

int32_t cutis_plan_lay_single(cutis_planner *p, cutis_role role, const char *base, int32_t parent)
{
    uint32_t list[CUTIS_LIMB_MOST];
    return cutis_plan_limbs(p, role, list) ? lay_limb(p, list[0], 0, base, "", parent) : parent;
}

// Kinds -----------------------------------------------------------------------------------------

static vec3 flipped(vec3 v, vec3 across)
{
    return v3_mad(v, -2 * v3_dot(v, across), across);
}

// Hip joints are each other's mirror images across the middle of the body; the
// lines that lead to them are not where one leg is raised. Both get the mean of both.
static void mirror_hips(const cutis_planner *p, vec3 middle)
{
    const int32_t l = cutis_plan_find(p->plan, "thigh", "_l"),
                  r = cutis_plan_find(p->plan, "thigh", "_r");
    if (l == CUTIS_NONE || r == CUTIS_NONE) return;
    vec3 *left = &p->plan->joints[l].point, *right = &p->plan->joints[r].point;
    const vec3 mean = v3_mix(v3_sub(*left, middle), flipped(v3_sub(*right, middle), p->left), 0.5);
    *left = v3_add(middle, mean), *right = v3_add(middle, flipped(mean, p->left));
}

static void plan_human(cutis_planner *p)
{
    uint32_t arms[CUTIS_LIMB_MOST], heads[CUTIS_LIMB_MOST],
        n = cutis_plan_limbs(p, CUTIS_ROLE_ARM, arms);
    cutis_plan_add_part(p, "", "torso", "");
    vec3 low = mean_at(p, CUTIS_ROLE_LEG, 0.96), neck = mean_at(p, CUTIS_ROLE_HEAD, 0.97);
    vec3 shoulders = mean_at(p, CUTIS_ROLE_ARM, 0.95), hips = v3_mix(low, neck, 0.087);
    vec3 middle = v3_mix(hips, neck, 0.28), high = v3_mix(hips, neck, 0.55);
    if (cutis_plan_limbs(p, CUTIS_ROLE_HEAD,
                         heads)) { // backs bend: half way to the line through the body
        middle = v3_mix(middle, trunk_at(p, CUTIS_ROLE_LEG, 1, heads[0], 0.97, 0.33), 0.5);
        high = v3_mix(high, trunk_at(p, CUTIS_ROLE_LEG, 1, heads[0], 0.97, 0.58), 0.5);
    }
    int32_t root = cutis_plan_add_joint(p, "", "hips", "", CUTIS_NONE, hips);
    int32_t spine = cutis_plan_add_joint(p, "", "spine", "", root, middle);
    int32_t chest = cutis_plan_add_joint(p, "", "chest", "", spine, high);
    int32_t head = cutis_plan_lay_single(p, CUTIS_ROLE_HEAD, "", chest);
    cutis_plan_lay_pair(p, CUTIS_ROLE_EAR, 0, "", head);
    cutis_plan_lay_single(p, CUTIS_ROLE_TAIL, "", root);
    sort_along(p, arms, n, 1, p->left);
    for (uint32_t i = 0; i < n && i < 2; i++) {
        vec3 root_of_arm = cutis_plan_limb_at(p, arms[i], 0.95);
        int32_t clavicle = cutis_plan_add_joint(p, "", "clavicle", side_name(i), chest,
                                                v3_mix(shoulders, root_of_arm, 0.3));
        lay_limb(p, arms[i], 0, "", side_name(i), clavicle);
    }
    cutis_plan_lay_pair(p, CUTIS_ROLE_LEG, 0, "", root);
    mirror_hips(p, hips);
}

// A head that is no limb: from its neck, the narrowest place between the ears and the trunk.
static vec3 neck_of_ears(cutis_planner *p)
{
    uint32_t ears[CUTIS_LIMB_MOST], n = cutis_plan_limbs(p, CUTIS_ROLE_EAR, ears);
    uint32_t head = cutis_plan_add_part(p, "", "head", "");
    vec3 sum = v3(0, 0, 0);
    for (uint32_t i = 0; i < n; i++) {
        const cutis_limb *limb = &p->limbs[ears[i]];
        double most = 0, least = INFINITY, end = limb->along[limb->count - 1], neck = end;
        double stop = end - p->lines->nodes[0].radius;
        for (uint32_t k = 0; k < limb->count; k++) {
            if (limb->along[k] < 1.2 * limb->length || limb->along[k] > stop) continue;
            if (limb->section[k] > most) most = limb->section[k], least = INFINITY;
            if (limb->section[k] < least) least = limb->section[k], neck = limb->along[k];
        }
        cutis_plan_mark(p, limb, neck, head);
        sum = v3_add(sum, cutis_limb_point(p->lines, limb, neck));
    }
    return n ? v3_divide(sum, n) : p->lines->nodes[0].point;
}

// The same for a body whose centre lies in its head: the narrowest place on the way from its legs.
static vec3 bear_neck_from_below(cutis_planner *p)
{
    static const cutis_role ROLES[2] = { CUTIS_ROLE_LEG, CUTIS_ROLE_ARM };
    uint32_t torso = cutis_plan_add_part(p, "", "torso", ""), list[CUTIS_LIMB_MOST];
    vec3 sum = v3(0, 0, 0);
    double way = 0, n = 0;
    uint32_t legs = cutis_plan_limbs(p, CUTIS_ROLE_LEG, list);
    for (uint32_t i = 0; i < legs; i++) {
        const cutis_limb *limb = &p->limbs[list[i]];
        double least = INFINITY, end = limb->along[limb->count - 1], at = limb->length;
        for (uint32_t k = 0; k < limb->count; k++) {
            if (limb->along[k] < 1.3 * limb->length || limb->section[k] >= least ||
                limb->along[k] > end - 0.4 * p->lines->nodes[0].radius)
                continue;
            least = limb->section[k], at = limb->along[k];
        }
        sum = v3_add(sum, cutis_limb_point(p->lines, limb, at));
        way += end - at, n++;
    }
    if (n == 0) return p->lines->nodes[0].point;
    for (int r = 0; r < 2; r++) {
        uint32_t count = cutis_plan_limbs(p, ROLES[r], list);
        for (uint32_t i = 0; i < count; i++) {
            const cutis_limb *limb = &p->limbs[list[i]];
            cutis_plan_mark(p, limb, limb->along[limb->count - 1] - way / n, torso);
        }
    }
    p->plan->node_parts[0] = cutis_plan_add_part(p, "", "head", "");
    return v3_divide(sum, n);
}

// How far the roots of limbs of a role are from the centre.
static double mean_way(const cutis_planner *p, cutis_role role)
{
    uint32_t list[CUTIS_LIMB_MOST], n = cutis_plan_limbs(p, role, list);
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += (tip_way(p, list[i]) - p->limbs[list[i]].length) / n;
    return sum;
}

static void plan_bear(cutis_planner *p)
{
    bool in_head = mean_way(p, CUTIS_ROLE_EAR) < 0.7 * mean_way(p, CUTIS_ROLE_LEG);
    cutis_plan_add_part(p, "", "torso", "");
    vec3 neck = in_head ? bear_neck_from_below(p) : neck_of_ears(p);
    vec3 legs = mean_at(p, CUTIS_ROLE_LEG, 1);
    int32_t root = cutis_plan_add_joint(p, "", "hips", "", CUTIS_NONE, v3_mix(legs, neck, 0.14));
    int32_t chest = cutis_plan_add_joint(p, "", "chest", "", root, v3_mix(legs, neck, 0.5));
    int32_t head = cutis_plan_add_joint(p, "", "head", "", chest, neck);
    cutis_plan_lay_pair(p, CUTIS_ROLE_ARM, 0, "", chest);
    cutis_plan_lay_pair(p, CUTIS_ROLE_LEG, 0, "", root);
    cutis_plan_lay_pair(p, CUTIS_ROLE_EAR, 0, "", head);
    cutis_plan_lay_single(p, CUTIS_ROLE_TAIL, "", root);
}

// Neck and head: one bone, or two where the neck is long against the trunk. @return is it long?
static bool lay_neck(cutis_planner *p, uint32_t index, double root, double trunk, int32_t parent)
{
    const cutis_limb *limb = &p->limbs[index];
    double peak = peak_of(limb), end = root * limb->length;
    double head = fmin(peak + 0.2 * cutis_limb_section(limb, peak), end);
    bool is_long = end - head > LONG_NECK * trunk;
    parent = cutis_plan_add_joint(p, is_long ? "neck1" : "neck", "", "", parent,
                                  cutis_plan_limb_at(p, index, root));
    if (is_long)
        parent = cutis_plan_add_joint(p, "neck2", "", "", parent,
                                      cutis_limb_point(p->lines, limb, (0.45 * end + 0.55 * head)));
    lay_limb(p, index, 0, "", "", parent);
    return is_long;
}

// Lines of ears may keep beside that of the head down to the chest: as far from the centre as the
// head's part begins they are the head's, then the neck's.
static void give_ears(cutis_planner *p, uint32_t head)
{
    const cutis_limb *limb = &p->limbs[head];
    uint32_t ears[CUTIS_LIMB_MOST], n = cutis_plan_limbs(p, CUTIS_ROLE_EAR, ears);
    uint32_t parts[2] = { cutis_plan_add_part(p, "", "neck", ""),
                          cutis_plan_add_part(p, "", "head", "") };
    double ways[2] = { INFINITY, INFINITY };
    for (uint32_t i = 0; i < limb->count; i++)
        for (int k = 0; k < 2; k++)
            if (p->plan->node_parts[limb->path[i]] == parts[k])
                ways[k] = p->lines->nodes[limb->path[i]].way;
    for (uint32_t i = 0; i < n; i++) {
        const cutis_limb *ear = &p->limbs[ears[i]];
        for (int k = 0; k < 2; k++)
            cutis_plan_mark(p, ear, tip_way(p, ears[i]) - fmin(ways[k], ways[1]), parts[k]);
        cutis_plan_mark(p, ear, ear->length, parts[1]);
    }
}

static void plan_quadruped(cutis_planner *p)
{
    uint32_t legs[CUTIS_LIMB_MOST], n = cutis_plan_limbs(p, CUTIS_ROLE_LEG, legs);
    cutis_plan_add_part(p, "", "torso", "");
    sort_along(p, legs, n, 1, p->front);
    uint32_t half = n / 2;
    vec3 zero = v3(0, 0, 0), fore = half ? zero : p->lines->nodes[0].point;
    vec3 hind = n > half ? zero : fore;
    for (uint32_t i = 0; i < n; i++) {
        vec3 root = cutis_plan_limb_at(p, legs[i], i < half ? 1.20 : 1.14);
        if (i < half)
            fore = v3_add(fore, v3_divide(root, half));
        else
            hind = v3_add(hind, v3_divide(root, n - half));
    }
    int32_t root = cutis_plan_add_joint(p, "", "hips", "", CUTIS_NONE, hind);
    int32_t spine = cutis_plan_add_joint(p, "", "spine", "", root, v3_mix(hind, fore, 0.35));
    int32_t chest = cutis_plan_add_joint(p, "", "chest", "", spine, v3_mix(hind, fore, 0.757));
    uint32_t heads[CUTIS_LIMB_MOST];
    if (cutis_plan_limbs(p, CUTIS_ROLE_HEAD, heads)) {
        lay_neck(p, heads[0], 1.05, v3_distance(fore, hind), chest);
        give_ears(p, heads[0]);
    } else if (cutis_plan_limbs(p, CUTIS_ROLE_EAR, heads)) {
        int32_t neck = cutis_plan_add_joint(p, "", "neck", "", chest, neck_of_ears(p));
        cutis_plan_add_joint(p, "", "head", "", neck, mean_at(p, CUTIS_ROLE_EAR, 1.2));
    }
    cutis_plan_lay_single(p, CUTIS_ROLE_TAIL, "", root);
    for (uint32_t set = 0; set < 2; set++) {
        uint32_t *pair = set ? legs + half : legs, count = set ? n - half : half;
        sort_along(p, pair, count, 1, p->left);
        for (uint32_t i = 0; i < count && i < 2; i++)
            lay_limb(p, pair[i], (int)set, "", side_name(i), set ? root : chest);
    }
}

static void plan_bird(cutis_planner *p)
{
    cutis_plan_add_part(p, "", "torso", "");
    vec3 tail = mean_at(p, CUTIS_ROLE_TAIL, 0.86), neck = mean_at(p, CUTIS_ROLE_HEAD, 1);
    vec3 wings = mean_at(p, CUTIS_ROLE_WING, 1.15), legs = mean_at(p, CUTIS_ROLE_LEG, 1.2);
    int32_t root = cutis_plan_add_joint(p, "", "hips", "", CUTIS_NONE,
                                        v3_mix(v3_mix(tail, neck, 0.34), legs, 0.3));
    int32_t chest = cutis_plan_add_joint(p, "", "chest", "", root,
                                         v3_mix(v3_mix(tail, neck, 0.64), wings, 0.3));
    uint32_t heads[CUTIS_LIMB_MOST];
    if (cutis_plan_limbs(p, CUTIS_ROLE_HEAD, heads)) {
        const cutis_limb *limb = &p->limbs[heads[0]];
        double trunk = v3_distance(tail, neck), peak = peak_of(limb);
        if (limb->length - peak > LONG_NECK * trunk)
            cutis_plan_mark(p, limb, 0.95 * limb->length, cutis_plan_add_part(p, "", "neck", ""));
        lay_neck(p, heads[0], 1.05, trunk, chest);
    }
    cutis_plan_lay_single(p, CUTIS_ROLE_TAIL, "", root);
    cutis_plan_lay_pair(p, CUTIS_ROLE_WING, 0, "", chest);
    cutis_plan_lay_pair(p, CUTIS_ROLE_LEG, 0, "", root);
}

static void plan_octopus(cutis_planner *p)
{
    static const char *const NAMES[4] = { "arm1", "arm2", "arm3", "arm4" };
    uint32_t arms[CUTIS_LIMB_MOST], n = cutis_plan_limbs(p, CUTIS_ROLE_ARM, arms), left = 0,
                                    right = 0;
    cutis_plan_add_part(p, "", "head", "");
    vec3 roots = mean_at(p, CUTIS_ROLE_ARM, 1.04), mantle = mean_at(p, CUTIS_ROLE_HEAD, 1.15);
    int32_t root = cutis_plan_add_joint(p, "", "body", "", CUTIS_NONE, v3_mix(roots, mantle, 0.3));
    cutis_plan_lay_single(p, CUTIS_ROLE_HEAD, "", root);
    sort_along(p, arms, n, 1, p->front);
    for (uint32_t i = 0; i < n; i++) {
        vec3 out = v3_sub(cutis_plan_limb_at(p, arms[i], 1), roots);
        bool on_left = v3_dot(out, p->left) >= 0;
        uint32_t k = on_left ? left++ : right++;
        if (k > 3) k = on_left ? right++ : left++, on_left = !on_left;
        lay_limb(p, arms[i], 0, NAMES[k & 3], side_name(!on_left), root);
    }
}

// The head of an insect with antennae: up to the next opening beyond theirs.
static int32_t insect_head(cutis_planner *p, int32_t thorax)
{
    uint32_t list[CUTIS_LIMB_MOST];
    if (cutis_plan_limbs(p, CUTIS_ROLE_HEAD, list)) return lay_limb(p, list[0], 0, "", "", thorax);
    uint32_t n = cutis_plan_limbs(p, CUTIS_ROLE_EAR, list);
    if (n == 0) return thorax;
    uint32_t head = cutis_plan_add_part(p, "", "head", "");
    vec3 sum = v3(0, 0, 0);
    for (uint32_t i = 0; i < n; i++) {
        const cutis_limb *limb = &p->limbs[list[i]];
        double neck = 1.6 * limb->length;
        for (uint32_t k = limb->opening_count; k-- > 0;)
            if (limb->openings[k].along > 1.2 * limb->length) neck = limb->openings[k].along;
        cutis_plan_mark(p, limb, neck, head);
        sum = v3_add(sum, cutis_limb_point(p->lines, limb, neck));
    }
    return cutis_plan_add_joint(p, "", "head", "", thorax, v3_divide(sum, n));
}

static void plan_insect(cutis_planner *p)
{
    uint32_t legs[CUTIS_LIMB_MOST], n = cutis_plan_limbs(p, CUTIS_ROLE_LEG, legs), seen[2] = { 0 };
    static const char *const NUMBERS[3] = { "1", "2", "3" };
    cutis_plan_add_part(p, "", "thorax", "");
    vec3 middle = mean_at(p, CUTIS_ROLE_LEG, 1.15);
    int32_t root = cutis_plan_add_joint(p, "", "thorax", "", CUTIS_NONE, middle);
    int32_t head = insect_head(p, root);
    cutis_plan_lay_single(p, CUTIS_ROLE_ABDOMEN, "", root);
    cutis_plan_lay_pair(p, CUTIS_ROLE_EAR, 0, "", head);
    sort_along(p, legs, n, 1, p->front);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t right = v3_dot(v3_sub(cutis_plan_limb_at(p, legs[i], 0.8), middle), p->left) < 0;
        if (seen[right] == 3) right = !right;
        char side[8];
        snprintf(side, sizeof side, "%s%s", NUMBERS[seen[right]++ % 3], side_name(right));
        lay_limb(p, legs[i], 0, "", side, root);
    }
}

// The thumb leaves the hand nearest to the wrist; the others follow across the palm.
static void plan_hand(cutis_planner *p)
{
    static const char *const NAMES[5] = { "thumb", "index", "middle", "ring", "pinky" };
    uint32_t fingers[CUTIS_LIMB_MOST], stump[CUTIS_LIMB_MOST];
    uint32_t n = cutis_plan_limbs(p, CUTIS_ROLE_FINGER, fingers), thumb = 0;
    vec3 roots = mean_at(p, CUTIS_ROLE_FINGER, 1), low = mean_at(p, CUTIS_ROLE_STUMP, 0);
    double fingers_length = 0;
    cutis_plan_add_part(p, "", "palm", "");
    for (uint32_t i = 0; i < n; i++) {
        if (v3_distance(cutis_plan_limb_at(p, fingers[i], 1), low) <
            v3_distance(cutis_plan_limb_at(p, fingers[thumb], 1), low))
            thumb = i;
    }
    uint32_t first = n ? fingers[thumb] : 0;
    vec3 side = n ? v3_sub(cutis_plan_limb_at(p, first, 1), roots) : p->left;
    side =
        across(side, v3_unit(v3_sub(roots, low))); // how far up the palm a finger is says nothing
    sort_along(p, fingers, n, 0.9, side);
    for (uint32_t i = 0; i < n; i++)
        if (fingers[i] == first)
            memmove(fingers + 1, fingers, i * sizeof *fingers), fingers[0] = first;
    if (n > 1) roots = v3(0, 0, 0);
    for (uint32_t i = 1; i < n; i++) {
        fingers_length += p->limbs[fingers[i]].length / (n - 1);
        roots = v3_add(roots, v3_divide(cutis_plan_limb_at(p, fingers[i], 1), n - 1));
    }
    int32_t root = CUTIS_NONE;
    vec3 wrist = v3_mix(low, roots, 0.5);
    if (cutis_plan_limbs(p, CUTIS_ROLE_STUMP, stump)) {
        const cutis_limb *limb = &p->limbs[stump[0]];
        double at = fmax(v3_distance(low, roots) - 0.95 * fingers_length, 0.3 * limb->length);
        wrist = cutis_limb_point(p->lines, limb, at);
        root =
            cutis_plan_add_joint(p, "", "forearm", "", root, cutis_plan_limb_at(p, stump[0], 0.28));
        if (at > 1.08 * fingers_length)
            cutis_plan_mark(p, limb, at, cutis_plan_add_part(p, "", "forearm", ""));
    }
    int32_t hand = cutis_plan_add_joint(p, "", "hand", "", root, wrist);
    for (uint32_t i = 0; i < n && i < 5; i++) {
        int32_t parent = hand;
        if (i == 0)
            parent = cutis_plan_add_joint(p, "thumb", "1", "", hand,
                                          v3_mix(wrist, cutis_plan_limb_at(p, first, 0.89), 0.4));
        lay_limb(p, fingers[i], i == 0, NAMES[i], "", parent);
    }
}

// Two arms or legs are as long as each other: what a raised knee or a fold in the groin moves is
// where the line meets the trunk, one way on one side and the other way on the other.
static void even_pairs(const cutis_planner *p, cutis_limb *limbs)
{
    static const cutis_role PAIRED[2] = { CUTIS_ROLE_ARM, CUTIS_ROLE_LEG };
    for (int r = 0; r < 2; r++) {
        uint32_t list[CUTIS_LIMB_MOST];
        if (cutis_plan_limbs(p, PAIRED[r], list) != 2) continue;
        cutis_limb *a = &limbs[list[0]], *b = &limbs[list[1]];
        a->length = b->length = (a->length + b->length) / 2;
    }
}

uint32_t cutis_plan_part(const cutis_plan *plan, const char *name, const char *side)
{
    char full[CUTIS_PLAN_NAME];
    snprintf(full, sizeof full, "%s%s", name, side);
    for (uint32_t i = 0; i < plan->part_count; i++)
        if (strcmp(plan->parts[i], full) == 0) return i;
    return CUTIS_NOTHING;
}

int32_t cutis_plan_find(const cutis_plan *plan, const char *name, const char *side)
{
    char full[CUTIS_PLAN_NAME];
    snprintf(full, sizeof full, "%s%s", name, side);
    for (uint32_t j = 0; j < plan->joint_count; j++)
        if (strcmp(plan->joints[j].name, full) == 0) return (int32_t)j;
    return CUTIS_NONE;
}

cutis_result cutis_plan_make(cutis_arena *arena, const cutis_centrelines *lines, cutis_kind kind,
                             const cutis_hints *hints, cutis_plan *out)
{
    const double diagonal = lines->cells.diagonal;
    static void (*const KINDS[CUTIS_KIND_COUNT])(cutis_planner *) = {
        plan_human, plan_quadruped, plan_bird,       plan_octopus,   plan_insect,
        plan_bear,  plan_hand,      cutis_plan_fish, cutis_plan_any,
    };
    cutis_limbs *limbs = cutis_arena_alloc(arena, 1, sizeof *limbs);
    cutis_kind_match match = { .kind = kind };
    *out = (cutis_plan){ .second = INFINITY };
    out->node_parts = cutis_nothings(arena, lines->count);
    if (!limbs || !out->node_parts) return cutis_alloc_result(lines->cells.context);
    TRY(cutis_limbs_find(arena, lines, diagonal, limbs));
    cutis_role told[CUTIS_LIMB_MOST];
    TRY(cutis_hints_find(lines->cells.context, hints, lines, limbs, diagonal, told));
    if (kind == CUTIS_KIND_ANY)
        match.cost = 0;
    else if (kind == CUTIS_KIND_COUNT)
        cutis_kind_find(limbs->list, limbs->count, diagonal, told, &match, &out->next,
                        &out->second);
    else
        cutis_kind_fit(limbs->list, limbs->count, diagonal, told, kind, &match);
    const double most = hints && hints->stroke_count ? NO_KIND_TOLD : NO_KIND;
    if (kind == CUTIS_KIND_COUNT && match.cost > most) {
        out->next = match.kind, out->second = match.cost;
        match = (cutis_kind_match){ .kind = CUTIS_KIND_ANY, .cost = match.cost };
    }
    out->kind = match.kind, out->cost = match.cost;
    cutis_planner p = { .plan = out,
                        .lines = lines,
                        .all = limbs,
                        .limbs = limbs->list,
                        .roles = match.roles,
                        .count = limbs->count,
                        .diagonal = diagonal,
                        .told = told,
                        .part_most = hints ? hints->part_count : 0 };
    p.side_parts = cutis_nothings(arena, lines->count);
    if (!p.side_parts) return cutis_alloc_result(lines->cells.context);
    even_pairs(&p, limbs->list);
    find_frame(&p);
    KINDS[match.kind](&p);
    if (match.kind != CUTIS_KIND_ANY) cutis_plan_extras(&p);
    out->lacks = cutis_kind_lacks(match.kind, p.roles, p.count, &out->has, &out->needs);
    if (out->node_parts[0] == CUTIS_NOTHING) out->node_parts[0] = 0;
    for (uint32_t i = 1; i < lines->count; i++)
        if (out->node_parts[i] == CUTIS_NOTHING)
            out->node_parts[i] = p.side_parts[lines->nodes[i].parent] != CUTIS_NOTHING
                                     ? p.side_parts[lines->nodes[i].parent]
                                     : out->node_parts[lines->nodes[i].parent];
    return CUTIS_OK;
}

// The same with limbs that touch taken apart, if that is clearly better. Finer cells also part what
// is only folded, so they may show limbs of the kind that is known, but no other kind.
static cutis_result look_apart(cutis_arena *arena, const cutis_closed *mesh, uint32_t cells,
                               cutis_kind kind, const cutis_hints *hints, cutis_centrelines *lines,
                               cutis_plan *out)
{
    cutis_centrelines *apart = cutis_arena_zero(arena, 1, sizeof *apart);
    cutis_plan *other = cutis_arena_zero(arena, 1, sizeof *other);
    if (!apart || !other) return cutis_alloc_result(mesh->context);
    cutis_errors_ignore(true); // what fails then, as a stroke on no limb, was good before
    cutis_result result = cutis_centrelines_find(arena, mesh, cells, true, LEAST_END, apart);
    if (result == CUTIS_OK) result = cutis_plan_make(arena, apart, kind, hints, other);
    cutis_errors_ignore(false);
    if (result == CUTIS_CANCELLED)
        return cutis_fail(mesh->context, CUTIS_CANCELLED, "limbs: stopped on request");
    if (result == CUTIS_OUT_OF_MEMORY || result == CUTIS_LIMIT_EXCEEDED)
        return cutis_alloc_result(mesh->context);
    const bool known = cells == CELLS ? other->kind != CUTIS_KIND_ANY : other->kind == out->kind;
    if (result == CUTIS_OK && other->cost < BETTER * out->cost && known)
        *lines = *apart, *out = *other;
    return CUTIS_OK;
}

cutis_result cutis_plan_body(cutis_arena *arena, const cutis_closed *mesh, cutis_kind kind,
                             const cutis_hints *hints, cutis_centrelines *lines, cutis_plan *out)
{
    TRY(cutis_centrelines_find(arena, mesh, CELLS, false, LEAST_END, lines));
    TRY(cutis_plan_make(arena, lines, kind, hints, out));
    if (kind == CUTIS_KIND_ANY) return CUTIS_OK;
    for (uint32_t finer = 1; finer <= 2 && out->cost >= USUAL; finer++)
        TRY(look_apart(arena, mesh, finer * CELLS, kind, hints, lines, out));
    return CUTIS_OK;
}
