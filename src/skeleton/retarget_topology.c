// Roles by the shape of the tree, for rigs without names a program can read: legs are the two
// branches with the lowest tips that part above the knees, the head is the highest tip, arms reach
// farthest to the sides. Four branches to the ground are two pairs of legs, the fore legs below the
// head; names say little about those (arms, legs, hands?), so they are looked for first. Invariant:
// a rig that does not look like that ends without roles, not with wrong ones.
#include "skeleton/retarget.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/mat3.h"

// Parts of the body's height. Tips of legs are near the ground; legs part above the knees, so that
// toes of one foot are not taken for two legs.
static const double TIP_HEIGHT = 0.15, FORK_HEIGHT = 0.28, ANKLE_HEIGHT = 0.13;

// A standing body is at least this high against its width with stretched arms.
static const double STANDING = 0.4;

#define PATH_MAX_JOINTS 64

typedef struct tree {
    retarget_rig *rig;
    uint32_t *children;            // how many, joints and ends
    bool *in;                      // joints, and nodes under joints
    double ground, height, widest; // widest: along any axis
    double left[3];
} tree;

typedef struct path {
    int32_t joint[PATH_MAX_JOINTS]; // from the body outwards, without the fork itself
    uint32_t count;
    int32_t tip;
} path;

static const double *place(const tree *t, int32_t n)
{
    return t->rig->place + 3 * (size_t)n;
}

static double above(const tree *t, int32_t n)
{
    return double3_dot(place(t, n), t->rig->up) - t->ground;
}

static double apart(const tree *t, int32_t a, int32_t b)
{
    return v3_distance_of(place(t, a), place(t, b));
}

static cutis_result grow_tree(cutis_arena *arena, tree *t)
{
    retarget_rig *rig = t->rig;
    t->ground = INFINITY, t->widest = 0;
    t->children = cutis_arena_zero(arena, rig->count, sizeof *t->children);
    t->in = cutis_arena_alloc(arena, rig->count, sizeof *t->in);
    if (!t->children || !t->in) return cutis_alloc_result(arena->context);
    double high = -INFINITY;
    box3 box = box3_empty();
    for (uint32_t n = 0; n < rig->count; n++) {
        int32_t parent = rig->data->nodes[n].parent;
        t->in[n] = rig->joint[n] || (parent != CUTIS_NONE && t->in[parent] &&
                                     rig->data->nodes[n].mesh == CUTIS_NONE);
        if (!t->in[n]) continue;
        if (parent != CUTIS_NONE && t->in[parent]) t->children[parent]++;
        double h = double3_dot(rig->place + 3 * (size_t)n, rig->up);
        t->ground = fmin(t->ground, h), high = fmax(high, h);
        box3_add(&box, v3_of(rig->place + 3 * (size_t)n));
    }
    for (int k = 0; k < 3; k++) t->widest = fmax(t->widest, box.high[k] - box.low[k]);
    t->height = high - t->ground;
    return CUTIS_OK;
}

static bool is_tip(const tree *t, uint32_t n)
{
    return t->in[n] && t->children[n] == 0;
}

// The path from below `fork` to `tip`; empty if it is not under it or too long.
static void take_path(const tree *t, int32_t fork, int32_t tip, path *out)
{
    int32_t up[PATH_MAX_JOINTS];
    uint32_t count = 0;
    *out = (path){ .tip = tip };
    for (int32_t n = tip; n != fork; n = t->rig->data->nodes[n].parent) {
        if (n == CUTIS_NONE || count == PATH_MAX_JOINTS) return;
        if (t->rig->joint[n] && (n != tip || !cutis_retarget_is_end(&t->rig->data->nodes[n])))
            up[count++] = n;
    }
    for (uint32_t i = 0; i < count; i++) out->joint[i] = up[count - 1 - i];
    out->count = count;
}

// Tips on the ground whose branches part above the knees, lowest first; how many, at most `most`.
static uint32_t find_ground_tips(const tree *t, uint32_t most, int32_t *tips)
{
    uint32_t count = 0;
    for (;;) {
        int32_t best = CUTIS_NONE;
        for (uint32_t n = 0; n < t->rig->count; n++) {
            int32_t at = (int32_t)n;
            bool own = is_tip(t, n) && above(t, at) <= TIP_HEIGHT * t->height;
            for (uint32_t i = 0; i < count && own; i++) {
                int32_t meet = cutis_retarget_ancestor(t->rig, tips[i], at);
                own =
                    meet != CUTIS_NONE && t->in[meet] && above(t, meet) >= FORK_HEIGHT * t->height;
            }
            if (own && (best == CUTIS_NONE || above(t, at) < above(t, best))) best = at;
        }
        if (best == CUTIS_NONE || count == most) return count;
        tips[count++] = best;
    }
}

// Of the foot's tips the farthest: a big toe rather than a heel.
static void farthest_tip(const tree *t, int32_t foot, int32_t *tip)
{
    for (uint32_t n = 0; n < t->rig->count; n++)
        if (is_tip(t, n) && cutis_retarget_is_under(t->rig, (int32_t)n, foot) &&
            apart(t, (int32_t)n, foot) > apart(t, *tip, foot))
            *tip = (int32_t)n;
}

// Index of the joint on a path that stands nearest to the middle of the way between two others.
static uint32_t middle_joint(const tree *t, const path *p, uint32_t first, uint32_t last)
{
    double way[PATH_MAX_JOINTS] = { 0 };
    for (uint32_t i = first + 1; i <= last; i++)
        way[i] = way[i - 1] + apart(t, p->joint[i], p->joint[i - 1]);
    uint32_t best = first + 1;
    for (uint32_t i = first + 1; i < last; i++)
        if (fabs(way[i] - way[last] / 2) < fabs(way[best] - way[last] / 2)) best = i;
    return best;
}

static void set_role(tree *t, int32_t n, int role, int side)
{
    t->rig->role[n] = (uint8_t)role;
    t->rig->side[n] = (uint8_t)side;
}

// How much the bone of joint i on the path points down: 1 straight down, 0 level.
static double downward(const tree *t, const path *p, uint32_t i)
{
    int32_t next = i + 1 < p->count ? p->joint[i + 1] : p->tip;
    double length = apart(t, next, p->joint[i]);
    if (next == p->joint[i] || !(length > 1e-6 * t->height)) return 1;
    return (above(t, p->joint[i]) - above(t, next)) / length;
}

// Thigh: the first joint whose bone goes down. Foot: the first one as low as an ankle. Shin: half
// way between.
static bool name_leg(tree *t, const path *p, int side)
{
    uint32_t thigh = 0, foot = p->count;
    if (p->count < 2) return false;
    while (thigh + 2 < p->count && downward(t, p, thigh) < 0.7) thigh++;
    for (uint32_t i = p->count; i-- > thigh + 2;)
        if (above(t, p->joint[i]) < ANKLE_HEIGHT * t->height) foot = i;
    uint32_t last = foot < p->count ? foot : p->count - 1;
    uint32_t shin =
        foot < p->count || p->count > thigh + 2 ? middle_joint(t, p, thigh, last) : thigh + 1;
    for (uint32_t i = 0; i < thigh; i++) set_role(t, p->joint[i], ROLE_HIPJOINT, side);
    set_role(t, p->joint[thigh], ROLE_THIGH, side);
    set_role(t, p->joint[shin], ROLE_SHIN, side);
    if (foot < p->count) set_role(t, p->joint[foot], ROLE_FOOT, side);
    for (uint32_t i = foot + 1; i < p->count; i++) set_role(t, p->joint[i], ROLE_TOES, side);
    return true;
}

// Left is up x front, front where the feet point; without feet that say it, +z.
static void find_left(tree *t, const path legs[2])
{
    double front[3] = { 0 };
    for (int side = 0; side < 2; side++) {
        const path *p = &legs[side];
        int32_t last = p->joint[p->count - 1];
        for (uint32_t i = 0; i < p->count; i++)
            if (t->rig->role[p->joint[i]] == ROLE_FOOT) last = p->joint[i];
        v3_sum(front, cutis_retarget_between(t->rig->place, last, p->tip));
    }
    double along = double3_dot(front, t->rig->up);
    for (int k = 0; k < 3; k++) front[k] -= along * t->rig->up[k];
    if (double3_dot(front, front) < 1e-6 * t->height * t->height)
        for (int k = 0; k < 3; k++) front[k] = t->rig->up[1] > 0.5 ? k == 2 : -(k == 1);
    double3_cross(t->rig->up, front, t->left);
    double length = sqrt(double3_dot(t->left, t->left));
    for (int k = 0; k < 3; k++) t->left[k] /= length > 0 ? length : 1;
}

static double leftward(const tree *t, int32_t n, int32_t from)
{
    return v3_dot(cutis_retarget_between(t->rig->place, from, n), v3_of(t->left));
}

typedef struct trunk {
    int32_t fork, head, hands[2], chest; // fork of the legs; tips
    const path *legs;
} trunk;

static bool in_legs(const tree *t, const trunk *k, int32_t n)
{
    return cutis_retarget_is_under(t->rig, n, k->legs[0].joint[0]) ||
           cutis_retarget_is_under(t->rig, n, k->legs[1].joint[0]);
}

// Head: the highest tip. Hands: the farthest to each side, above the knees. The chest is where they
// meet.
static bool find_trunk(const tree *t, trunk *k)
{
    k->head = k->hands[0] = k->hands[1] = CUTIS_NONE;
    for (uint32_t n = 0; n < t->rig->count; n++) {
        int32_t at = (int32_t)n;
        if (!is_tip(t, n) || in_legs(t, k, at)) continue;
        if (k->head == CUTIS_NONE || above(t, at) > above(t, k->head)) k->head = at;
    }
    for (uint32_t n = 0; n < t->rig->count; n++) {
        int32_t at = (int32_t)n;
        if (!is_tip(t, n) || in_legs(t, k, at) || at == k->head) continue;
        double out = leftward(t, at, k->fork);
        int side = out > 0 ? 0 : 1;
        if (fabs(out) < 0.08 * t->height || above(t, at) < FORK_HEIGHT * t->height) continue;
        if (k->hands[side] == CUTIS_NONE || fabs(out) > fabs(leftward(t, k->hands[side], k->fork)))
            k->hands[side] = at;
    }
    if (k->hands[0] == CUTIS_NONE || k->hands[1] == CUTIS_NONE || k->head == CUTIS_NONE)
        return false;
    k->chest = cutis_retarget_ancestor(t->rig, k->hands[0], k->hands[1]);
    return k->chest != CUTIS_NONE && t->in[k->chest] && !in_legs(t, k, k->chest);
}

// Shoulder: the first joint that is not close to the middle (that is a collar bone); hand: where
// fingers part, or the third.
static void name_arm(tree *t, const path *p, int32_t chest, int side)
{
    uint32_t shoulder = 0, hand = p->count;
    if (p->count < 2) return;
    if (p->count > 3 &&
        fabs(leftward(t, p->joint[0], chest)) < 0.5 * fabs(leftward(t, p->joint[1], chest)))
        shoulder = 1;
    for (uint32_t i = p->count; i-- > shoulder + 2;)
        if (t->children[p->joint[i]] > 1) hand = i;
    if (hand == p->count && p->count > shoulder + 2) hand = shoulder + 2;
    uint32_t elbow = hand < p->count ? middle_joint(t, p, shoulder, hand) : shoulder + 1;
    if (shoulder) set_role(t, p->joint[0], ROLE_CLAVICLE, side);
    set_role(t, p->joint[shoulder], ROLE_UPPERARM, side);
    if (elbow < p->count) set_role(t, p->joint[elbow], ROLE_FOREARM, side);
    if (hand < p->count) set_role(t, p->joint[hand], ROLE_HAND, side);
}

static void name_trunk(tree *t, const trunk *k)
{
    path p;
    int32_t meet = cutis_retarget_ancestor(t->rig, k->fork, k->chest);
    take_path(t, meet, k->chest, &p);
    for (uint32_t i = 0; i < p.count; i++) set_role(t, p.joint[i], ROLE_SPINE, SIDE_NONE);
    // The root may be the chest: then the trunk goes from it down to the legs' fork.
    if (meet == k->chest && k->chest != k->fork) {
        set_role(t, k->chest, ROLE_SPINE, SIDE_NONE);
    } else {
        for (int32_t n = k->fork;; n = t->rig->data->nodes[n].parent) {
            if (t->rig->joint[n]) set_role(t, n, ROLE_HIPS, SIDE_NONE);
            if (n == meet) break;
        }
    }
    if (t->rig->joint[k->fork]) set_role(t, k->fork, ROLE_HIPS, SIDE_NONE);
    int32_t neck = cutis_retarget_ancestor(t->rig, k->head, k->chest);
    take_path(t, neck, k->head, &p);
    for (uint32_t i = 0; i < p.count; i++) {
        bool last = i + 1 == p.count || t->children[p.joint[i]] > 1;
        set_role(t, p.joint[i], last ? ROLE_HEAD : ROLE_NECK, SIDE_NONE);
        if (last) break;
    }
}

// Branches as long as half a leg that are no part of the body: a tail, wings, but not the other
// four arms of an octopus.
static uint32_t limbs_left_over(const tree *t, double leg)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < t->rig->count; n++) {
        double length = 0;
        int32_t at = (int32_t)n;
        if (!is_tip(t, n)) continue;
        while (at != CUTIS_NONE && t->rig->role[at] == ROLE_NONE) {
            int32_t parent = t->rig->data->nodes[at].parent;
            if (parent != CUTIS_NONE) length += apart(t, at, parent);
            at = parent;
        }
        count += at != CUTIS_NONE && length > leg / 2;
    }
    return count;
}

static bool name_body(tree *t)
{
    int32_t tips[5];
    path legs[2], arm;
    // A body that lies has another axis for its height; one on four legs or more is no person
    // (three: a tail).
    if (!(t->height > STANDING * t->widest)) return false;
    uint32_t legs_found = find_ground_tips(t, 5, tips);
    if (legs_found < 2 || legs_found > 3) return false;
    int32_t fork = cutis_retarget_ancestor(t->rig, tips[0], tips[1]);
    for (int i = 0; i < 2; i++) {
        take_path(t, fork, tips[i], &legs[i]);
        if (!legs[i].count) return false;
        farthest_tip(t, legs[i].joint[legs[i].count > 2 ? 2 : legs[i].count - 1], &legs[i].tip);
        take_path(t, fork, legs[i].tip, &legs[i]);
        if (!name_leg(t, &legs[i], SIDE_LEFT)) return false; // sides are not known yet
    }
    find_left(t, legs);
    bool swapped =
        leftward(t, legs[0].joint[0], legs[1].joint[0]) + leftward(t, tips[0], tips[1]) < 0;
    for (int i = 0; i < 2; i++) name_leg(t, &legs[i], (i == 0) == swapped ? SIDE_RIGHT : SIDE_LEFT);
    trunk k = { .fork = fork, .legs = legs };
    if (!find_trunk(t, &k)) {
        if (t->rig->joint[fork]) set_role(t, fork, ROLE_HIPS, SIDE_NONE);
        return true;
    }
    name_trunk(t, &k);
    for (int i = 0; i < 2; i++) {
        take_path(t, k.chest, k.hands[i], &arm);
        name_arm(t, &arm, k.chest, i == 0 ? SIDE_LEFT : SIDE_RIGHT);
    }
    return limbs_left_over(t, apart(t, legs[0].joint[0], legs[0].tip)) <= 2;
}

// Four legs -------------------------------------------------------------------------------------

static uint32_t depth_of(const tree *t, int32_t n)
{
    uint32_t depth = 0;
    for (; n != CUTIS_NONE; n = t->rig->data->nodes[n].parent) depth++;
    return depth;
}

// Tips in pairs, 0 1 and 2 3: those that meet deepest in the tree, else those that stand nearest.
static void pair_tips(const tree *t, int32_t tips[4])
{
    static const int WAYS[3][4] = { { 0, 1, 2, 3 }, { 0, 2, 1, 3 }, { 0, 3, 1, 2 } };
    int32_t old[4], best = 0;
    uint32_t deepest = 0;
    double least = INFINITY;
    memcpy(old, tips, sizeof old);
    for (int w = 0; w < 3; w++) {
        uint32_t depth = 0;
        double way = 0;
        for (int pair = 0; pair < 4; pair += 2) {
            int32_t a = old[WAYS[w][pair]], b = old[WAYS[w][pair + 1]];
            depth += depth_of(t, cutis_retarget_ancestor(t->rig, a, b));
            way += apart(t, a, b);
        }
        if (depth > deepest || (depth == deepest && way < least))
            deepest = depth, least = way, best = w;
    }
    for (int i = 0; i < 4; i++) tips[i] = old[WAYS[best][i]];
}

// How far two tips together stand from a node, seen from above.
static double from_above(const tree *t, const int32_t tips[2], int32_t node)
{
    double d[3];
    for (int k = 0; k < 3; k++)
        d[k] = (place(t, tips[0])[k] + place(t, tips[1])[k]) / 2 - place(t, node)[k];
    double along = double3_dot(d, t->rig->up);
    return double3_dot(d, d) - along * along;
}

// First and last joint of a leg are upper bone and paw, between them is the lower leg, hock and
// all. What is short before the upper bone (a shoulder blade) is no bone of the leg.
static bool name_paw(tree *t, const path *p, bool fore, int side)
{
    uint32_t first = 0;
    double length = apart(t, p->joint[0], p->tip);
    while (first + 3 < p->count && apart(t, p->joint[first], p->joint[first + 1]) < 0.12 * length)
        first++;
    if (p->count < first + 2) return false;
    for (uint32_t i = 0; i < p->count; i++) {
        int role = fore ? ROLE_FOREARM : ROLE_SHIN;
        if (i < first)
            role = fore ? ROLE_CLAVICLE : ROLE_HIPJOINT;
        else if (i == first)
            role = fore ? ROLE_UPPERARM : ROLE_THIGH;
        else if (i + 1 == p->count && i > first + 1)
            role = fore ? ROLE_HAND : ROLE_FOOT;
        set_role(t, p->joint[i], role, side);
    }
    return true;
}

static bool name_four(tree *t)
{
    int32_t tips[5];
    path legs[4];
    if (!(t->height > STANDING * t->widest) || find_ground_tips(t, 5, tips) != 4) return false;
    pair_tips(t, tips);
    trunk k = { .legs = legs, .head = CUTIS_NONE };
    for (uint32_t n = 0; n < t->rig->count; n++) {
        bool leg = false;
        for (int i = 0; i < 4; i++) leg = leg || tips[i] == (int32_t)n;
        if (is_tip(t, n) && !leg &&
            (k.head == CUTIS_NONE || above(t, (int32_t)n) > above(t, k.head)))
            k.head = (int32_t)n;
    }
    if (k.head == CUTIS_NONE) return false;
    if (from_above(t, tips, k.head) < from_above(t, tips + 2, k.head)) { // hind legs first
        int32_t swap[2] = { tips[0], tips[1] };
        tips[0] = tips[2], tips[1] = tips[3], tips[2] = swap[0], tips[3] = swap[1];
    }
    k.fork = cutis_retarget_ancestor(t->rig, tips[0], tips[1]);
    k.chest = cutis_retarget_ancestor(t->rig, tips[2], tips[3]);
    double front[3], along;
    for (int i = 0; i < 3; i++)
        front[i] = place(t, tips[2])[i] + place(t, tips[3])[i] - place(t, tips[0])[i] -
                   place(t, tips[1])[i];
    along = double3_dot(front, t->rig->up);
    for (int i = 0; i < 3; i++) front[i] -= along * t->rig->up[i];
    double3_cross(t->rig->up, front, t->left);
    for (int i = 0; i < 4; i++) {
        take_path(t, i < 2 ? k.fork : k.chest, tips[i], &legs[i]);
        bool left = leftward(t, tips[i], tips[i ^ 1]) > 0;
        if (!legs[i].count || !name_paw(t, &legs[i], i >= 2, left ? SIDE_LEFT : SIDE_RIGHT))
            return false;
    }
    name_trunk(t, &k);
    return true;
}

// y up, else z, else x; or as told.
static cutis_result find_body(cutis_arena *arena, retarget_rig *rig, bool (*name)(tree *),
                              uint32_t axes, bool *whole)
{
    tree t = { .rig = rig };
    static const double UPS[3][3] = { { 0, 1, 0 }, { 0, 0, 1 }, { 1, 0, 0 } };
    double told[3];
    memcpy(told, rig->up_told ? rig->up : UPS[0], sizeof told);
    *whole = false;
    for (uint32_t i = 0; i < (rig->up_told ? 1 : axes) && !*whole; i++) {
        memcpy(rig->up, rig->up_told ? told : UPS[i], sizeof rig->up);
        memset(rig->role, 0, rig->count);
        memset(rig->side, 0, rig->count);
        TRY(grow_tree(arena, &t));
        bool named = name(&t);
        cutis_retarget_number(rig);
        *whole = named && cutis_retarget_whole(rig);
    }
    if (*whole) return CUTIS_OK;
    memset(rig->role, 0, rig->count);
    memset(rig->side, 0, rig->count);
    memcpy(rig->up, told, sizeof rig->up);
    return CUTIS_OK;
}

cutis_result cutis_retarget_roles_by_topology(cutis_arena *arena, retarget_rig *rig, bool *whole)
{
    return find_body(arena, rig, name_body, 3, whole);
}

cutis_result cutis_retarget_roles_of_four(cutis_arena *arena, retarget_rig *rig, bool *four)
{
    return find_body(arena, rig, name_four, 2, four);
}
