// Which joint follows which: roles of both rigs, side by side. Invariant: a joint of the target
// follows at most one joint of the motion, and down a limb the order is kept.
#include "skeleton/retarget.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "skeleton/humanoid.h"

// Rigs that share this part of their joints' names are one rig, whatever the names say.
static const double SAME_RIG = 0.8;
// Shoulders against the trunk (see build).
static const double TWO_LEGGED = 0.6, FOUR_LEGGED = 0.45;
static const double UPRIGHT = 0.85; // cosine, trunk to legs
static const double FOUR_WITH_COLLARS =
    0.38; // people have them; found by shape, their shoulders may be narrow
// Part of an arm's reach that goes sideways, and how much more than of a leg's: see arms_spread.
static const double SPREAD = 0.6, SPREAD_MORE = 0.25;

int32_t cutis_retarget_ancestor(const retarget_rig *rig, int32_t a, int32_t b)
{
    while (a != b && a != CUTIS_NONE && b != CUTIS_NONE) {
        if (a > b)
            a = rig->data->nodes[a].parent;
        else
            b = rig->data->nodes[b].parent;
    }
    return a == b ? a : CUTIS_NONE;
}

int32_t cutis_retarget_joint(const retarget_rig *rig, retarget_role role, int side)
{
    int32_t best = CUTIS_NONE;
    for (uint32_t n = 0; n < rig->count; n++)
        if (rig->role[n] == role && rig->side[n] == side &&
            (best == CUTIS_NONE || rig->order[n] < rig->order[best]))
            best = (int32_t)n;
    return best;
}

// A spine that hangs from the chest is numbered from the hips, as all are.
static void turn_spine(retarget_rig *rig)
{
    int32_t hips = cutis_retarget_joint(rig, ROLE_HIPS, SIDE_NONE);
    uint8_t last = 0;
    bool hangs = false;
    for (uint32_t n = 0; n < rig->count; n++) {
        if (rig->role[n] != ROLE_SPINE) continue;
        if (rig->order[n] > last) last = rig->order[n];
        hangs = hangs || (hips > (int32_t)n && cutis_retarget_is_under(rig, hips, (int32_t)n));
    }
    for (uint32_t n = 0; n < rig->count && hangs; n++)
        if (rig->role[n] == ROLE_SPINE) rig->order[n] = (uint8_t)(last - rig->order[n]);
}

void cutis_retarget_number(retarget_rig *rig)
{
    for (uint32_t n = 0; n < rig->count; n++) {
        int32_t up = rig->data->nodes[n].parent;
        rig->order[n] = 0;
        while (up != CUTIS_NONE && (rig->role[up] != rig->role[n] || rig->side[up] != rig->side[n]))
            up = rig->data->nodes[up].parent;
        if (up != CUTIS_NONE && rig->order[up] < UINT8_MAX)
            rig->order[n] = (uint8_t)(rig->order[up] + 1);
    }
    turn_spine(rig);
}

bool cutis_retarget_whole(const retarget_rig *rig)
{
    bool legs = true, arms = true;
    for (int side = SIDE_LEFT; side <= SIDE_RIGHT; side++) {
        legs = legs && cutis_retarget_joint(rig, ROLE_THIGH, side) != CUTIS_NONE &&
               cutis_retarget_joint(rig, ROLE_SHIN, side) != CUTIS_NONE;
        arms = arms && cutis_retarget_joint(rig, ROLE_UPPERARM, side) != CUTIS_NONE &&
               cutis_retarget_joint(rig, ROLE_FOREARM, side) != CUTIS_NONE;
    }
    return legs || arms;
}

static bool mean_place(const retarget_rig *rig, retarget_role role, bool sided, double *out)
{
    int32_t a = cutis_retarget_joint(rig, role, sided ? SIDE_LEFT : SIDE_NONE);
    int32_t b = cutis_retarget_joint(rig, role, sided ? SIDE_RIGHT : SIDE_NONE);
    if (a == CUTIS_NONE || b == CUTIS_NONE) return false;
    for (int k = 0; k < 3; k++)
        out[k] = (rig->place[3 * (size_t)a + k] + rig->place[3 * (size_t)b + k]) / 2;
    return true;
}

// A vote for the axis that is up: a direction, and how much it says.
static void vote(double *sum, vec3 d, double weight)
{
    if (v3_length(d) > 0) v3_sum(sum, v3_scale(v3_direction(d), weight));
}

// Front of a foot x left is up, if the foot is not stretched: one in line with its shin is no
// standing foot, whatever it points to.
static void vote_feet(const retarget_rig *rig, vec3 left, double *sum)
{
    for (int side = SIDE_LEFT; side <= SIDE_RIGHT; side++) {
        int32_t shin = cutis_retarget_joint(rig, ROLE_SHIN, side);
        int32_t foot = cutis_retarget_joint(rig, ROLE_FOOT, side);
        int32_t toes = cutis_retarget_joint(rig, ROLE_TOES, side);
        if (shin == CUTIS_NONE || foot == CUTIS_NONE || toes == CUTIS_NONE) continue;
        vec3 front = v3_direction(cutis_retarget_between(rig->place, foot, toes));
        vec3 down = v3_direction(cutis_retarget_between(rig->place, shin, foot));
        vote(sum, v3_cross(front, left), 0.4 * fmax(0, 1 - 1.3 * fabs(v3_dot(front, down))));
    }
}

// The axis that is up (y where nothing says): the trunk, most of all; legs, which a sitting body
// holds forward; feet; the head. Two of a body that bends or sits agree. A beast stands on its fore
// legs, also when it sits.
static void find_up(retarget_rig *rig)
{
    double head[3], chest[3], hips[3], feet[3], paws[3], left[3] = { 0 }, sum[3] = { 0 };
    int32_t l = cutis_retarget_joint(rig, ROLE_THIGH, SIDE_LEFT);
    int32_t r = cutis_retarget_joint(rig, ROLE_THIGH, SIDE_RIGHT);
    bool has_head = mean_place(rig, ROLE_HEAD, false, head);
    bool has_chest = mean_place(rig, ROLE_UPPERARM, true, chest);
    bool has_hips =
        mean_place(rig, ROLE_THIGH, true, hips) || mean_place(rig, ROLE_HIPS, false, hips);
    bool has_feet =
        mean_place(rig, ROLE_FOOT, true, feet) || mean_place(rig, ROLE_SHIN, true, feet);
    if (l != CUTIS_NONE && r != CUTIS_NONE)
        v3_put(v3_direction(cutis_retarget_between(rig->place, r, l)), left);
    const double *top = has_chest ? chest : has_head ? head : NULL;
    if (!top || (!has_hips && !has_feet)) return;
    if (rig->four_legged && has_chest && mean_place(rig, ROLE_HAND, true, paws))
        vote(sum, v3_sub(v3_of(chest), v3_of(paws)), 1);
    else if (has_hips)
        vote(sum, v3_sub(v3_of(top), v3_of(hips)), 1);
    if (has_hips && has_feet) vote(sum, v3_sub(v3_of(hips), v3_of(feet)), 0.6);
    if (!has_hips) vote(sum, v3_sub(v3_of(top), v3_of(feet)), 1);
    if (has_head && has_chest && !rig->four_legged)
        vote(sum, v3_sub(v3_of(head), v3_of(chest)), 0.3);
    vote_feet(rig, v3_of(left), sum);
    sum[1] += 0.2; // most files have y up
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(sum[k]) > fabs(sum[axis])) axis = k;
    memset(rig->up, 0, sizeof rig->up);
    rig->up[axis] = sum[axis] < 0 ? -1 : 1;
}

// Width of the shoulders against the length of the trunk, which no pose changes: people have 0.68
// to 0.9, beasts 0.2 to 0.35. NAN where a rig lacks arms or legs.
static double build(const retarget_rig *rig)
{
    double chest[3], hips[3];
    int32_t l = cutis_retarget_joint(rig, ROLE_UPPERARM, SIDE_LEFT);
    int32_t r = cutis_retarget_joint(rig, ROLE_UPPERARM, SIDE_RIGHT);
    if (!mean_place(rig, ROLE_UPPERARM, true, chest) || !mean_place(rig, ROLE_THIGH, true, hips))
        return NAN;
    return v3_length(cutis_retarget_between(rig->place, l, r)) / v3_distance_of(chest, hips);
}

// Do legs go on where the trunk ends, as those of whoever stands upright? No beast's do, whatever
// its file has up; shoulders that were found may be narrow.
static bool stands_upright(const retarget_rig *rig)
{
    double chest[3], hips[3], feet[3];
    if (!mean_place(rig, ROLE_UPPERARM, true, chest) || !mean_place(rig, ROLE_THIGH, true, hips) ||
        !mean_place(rig, ROLE_FOOT, true, feet))
        return false;
    const vec3 trunk = v3_sub(v3_of(chest), v3_of(hips)), legs = v3_sub(v3_of(hips), v3_of(feet));
    return v3_dot(trunk, legs) > UPRIGHT * v3_length(trunk) * v3_length(legs);
}

// Part of the way from the first joint of limbs to their last that goes along `side`, the mean of
// left and right.
static double sideways(const retarget_rig *rig, retarget_role first, retarget_role last, vec3 side)
{
    double part = 0;
    for (int s = SIDE_LEFT; s <= SIDE_RIGHT; s++) {
        const vec3 way = v3_direction(cutis_retarget_between(
            rig->place, cutis_retarget_joint(rig, first, s), cutis_retarget_joint(rig, last, s)));
        part += 0.5 * fabs(v3_dot(way, side));
    }
    return part;
}

// Are arms held away from the body while legs are not? So stand people in T and in A, also when
// they crouch; a beast that sprawls does so with all four legs.
static bool arms_spread(const retarget_rig *rig)
{
    static const retarget_role NEEDED[4] = { ROLE_UPPERARM, ROLE_HAND, ROLE_THIGH, ROLE_FOOT };
    double mean[3];
    for (int i = 0; i < 4; i++)
        if (!mean_place(rig, NEEDED[i], true, mean)) return false;
    const vec3 side = v3_direction(
        cutis_retarget_between(rig->place, cutis_retarget_joint(rig, ROLE_UPPERARM, SIDE_RIGHT),
                               cutis_retarget_joint(rig, ROLE_UPPERARM, SIDE_LEFT)));
    const double arms = sideways(rig, ROLE_UPPERARM, ROLE_HAND, side);
    return arms > SPREAD && arms > sideways(rig, ROLE_THIGH, ROLE_FOOT, side) + SPREAD_MORE;
}

// Legs that a body walks on, where its maker (rig.c) says what it is; 0: nobody does.
static uint32_t told_legs(const retarget_rig *rig)
{
    static const struct {
        const char *kind;
        uint32_t legs;
    } KINDS[] = { { "human", 2 }, { "bear", 2 }, { "quadruped", 4 } };
    for (uint32_t n = 0; n < rig->count; n++) {
        const char *kind = rig->data->nodes[n].extras;
        kind = kind ? strstr(kind, CUTIS_KIND_KEY) : NULL;
        for (size_t i = 0; kind && i < sizeof KINDS / sizeof *KINDS; i++) {
            const size_t size = strlen(KINDS[i].kind);
            const char *name = kind + strlen(CUTIS_KIND_KEY);
            if (strncmp(name, KINDS[i].kind, size) == 0 && name[size] == '"') return KINDS[i].legs;
        }
    }
    return 0;
}

// Four legs by the tree, unless names say shoulders that no beast has (someone who bends to the
// ground) or that it stands upright or spreads its arms; names, with four legs where they say a
// beast's build (a dog that sits); the tree.
cutis_result cutis_retarget_roles(cutis_arena *arena, retarget_rig *rig)
{
    bool whole = cutis_retarget_roles_by_name(rig);
    const uint32_t told = whole ? told_legs(rig) : 0;
    if (told) {
        rig->four_legged = told == 4;
        rig->found = CUTIS_RETARGET_BY_NAMES;
        if (!rig->up_told) find_up(rig);
        return CUTIS_OK;
    }
    const double named = build(rig);
    const bool upright = whole && (stands_upright(rig) || arms_spread(rig));
    const int32_t thigh = whole ? cutis_retarget_joint(rig, ROLE_THIGH, SIDE_LEFT) : CUTIS_NONE;
    TRY(cutis_retarget_roles_of_four(arena, rig, &rig->four_legged));
    rig->found = CUTIS_RETARGET_BY_TOPOLOGY;
    // A raised tail over a lowered head: the tree has it backwards, names do not.
    bool backwards = rig->four_legged && thigh != CUTIS_NONE && rig->role[thigh] >= ROLE_CLAVICLE &&
                     rig->role[thigh] <= ROLE_HAND;
    if (rig->four_legged && !backwards && !upright && !(whole && named > TWO_LEGGED))
        return CUTIS_OK;
    whole = cutis_retarget_roles_by_name(rig);
    const bool collars = cutis_retarget_joint(rig, ROLE_CLAVICLE, SIDE_LEFT) != CUTIS_NONE &&
                         cutis_retarget_joint(rig, ROLE_CLAVICLE, SIDE_RIGHT) != CUTIS_NONE;
    rig->four_legged = whole && !upright && named < (collars ? FOUR_WITH_COLLARS : FOUR_LEGGED);
    rig->found = CUTIS_RETARGET_BY_NAMES;
    if (!whole) {
        TRY(cutis_retarget_roles_by_topology(arena, rig, &whole));
        rig->found = whole ? CUTIS_RETARGET_BY_TOPOLOGY : CUTIS_RETARGET_BY_NOTHING;
        if (!whole) cutis_retarget_roles_by_name(rig); // a part of a body is better than nothing
    }
    if (!rig->up_told) find_up(rig);
    return CUTIS_OK;
}

static uint32_t role_length(const retarget_rig *rig, uint8_t role, uint8_t side)
{
    uint32_t length = 0;
    for (uint32_t n = 0; n < rig->count; n++)
        if (rig->role[n] == role && rig->side[n] == side && rig->order[n] >= length)
            length = rig->order[n] + 1u;
    return length;
}

static int32_t joint_at(const retarget_rig *rig, uint8_t role, uint8_t side, uint32_t order)
{
    for (uint32_t n = 0; n < rig->count; n++)
        if (rig->role[n] == role && rig->side[n] == side && rig->order[n] == order)
            return (int32_t)n;
    return CUTIS_NONE;
}

// Which of `m` joints of the motion moves joint `i` of `n`; m: none. Trunk and neck are spread over
// each other's length, ends to ends; limbs go joint by joint; all hips follow the last.
static uint32_t partner(uint8_t role, uint32_t i, uint32_t n, uint32_t m)
{
    if (role == ROLE_HIPS) return m - 1;
    if (role != ROLE_SPINE && role != ROLE_NECK) return i;
    if (n == 1) return role == ROLE_SPINE ? m - 1 : (m - 1) / 2;
    if (n <= m) return (uint32_t)lround((double)i * (m - 1) / (n - 1));
    for (uint32_t j = 0; j < m; j++) {
        double at = m > 1 ? (double)j * (n - 1) / (m - 1) : n - 1;
        if ((uint32_t)lround(at) == i) return j;
    }
    return m;
}

static int32_t role_partner(const retarget_rig *target, const retarget_rig *motion, uint32_t c)
{
    const uint8_t role = target->role[c], side = target->side[c];
    if (role == ROLE_NONE) return CUTIS_NONE;
    uint32_t n = role_length(target, role, side), m = role_length(motion, role, side);
    return m ? joint_at(motion, role, side, partner(role, target->order[c], n, m)) : CUTIS_NONE;
}

static const char *plain_name(const char *name)
{
    const char *start = name ? name : "";
    for (const char *at = start; *at; at++)
        if (*at == ':' || *at == '|') start = at + 1;
    return start;
}

static bool same_name(const char *a, const char *b)
{
    a = plain_name(a), b = plain_name(b);
    if (!*a) return false;
    for (; *a && tolower((unsigned char)*a) == tolower((unsigned char)*b); a++) b++;
    return !*a && !*b;
}

// Both rigs with the same names: joint by joint, whatever they are.
static bool map_same_names(const retarget_rig *target, const retarget_rig *motion, int32_t *map)
{
    uint32_t wanted = 0, found = 0;
    for (uint32_t c = 0; c < target->count; c++) {
        map[c] = CUTIS_NONE;
        if (!target->joint[c]) continue;
        wanted++;
        for (uint32_t s = 0; s < motion->count && map[c] == CUTIS_NONE; s++)
            if (motion->joint[s] &&
                same_name(target->data->nodes[c].name, motion->data->nodes[s].name))
                map[c] = (int32_t)s;
        found += map[c] != CUTIS_NONE;
    }
    return found >= 2 && found >= SAME_RIG * wanted;
}

// Joints that no name matched follow what their role says, if nothing else does.
static void fill_roles(const retarget_rig *target, const retarget_rig *motion, int32_t *map)
{
    for (uint32_t c = 0; c < target->count; c++) {
        if (map[c] != CUTIS_NONE || !target->joint[c]) continue;
        int32_t s = role_partner(target, motion, c);
        bool used = false;
        for (uint32_t n = 0; n < target->count; n++) used = used || (s >= 0 && map[n] == s);
        if (!used) map[c] = s;
    }
}

static cutis_result map_rigs(cutis_arena *arena, retarget_rig *target, retarget_rig *motion,
                             int32_t *map)
{
    TRY(cutis_retarget_roles(arena, target));
    TRY(cutis_retarget_roles(arena, motion));
    if (map_same_names(target, motion, map)) {
        fill_roles(target, motion, map);
        target->found = motion->found = CUTIS_RETARGET_BY_SAME_NAMES;
        return CUTIS_OK;
    }
    uint32_t count = 0;
    for (uint32_t c = 0; c < target->count; c++) {
        map[c] = role_partner(target, motion, c);
        count += map[c] != CUTIS_NONE;
    }
    if (count >= 2) return CUTIS_OK;
    if (target->count == 0 || motion->count == 0)
        return cutis_fail(arena->context, CUTIS_NOT_FOUND, "%s has no joints",
                          target->count == 0 ? "the model" : "the motion");
    return cutis_fail(arena->context, CUTIS_NOT_FOUND,
                      "the model's joints and those of the motion have nothing in common, neither "
                      "by names nor as bodies with legs and arms: give a map");
}

void cutis_retarget_tell_up(retarget_rig *rig, cutis_retarget_up up)
{
    rig->up_told = up != CUTIS_RETARGET_UP_AUTO;
    for (int k = 0; k < 3 && rig->up_told; k++) rig->up[k] = k == (int)up - CUTIS_RETARGET_UP_X;
}

cutis_result cutis_retarget_map_up(const cutis_model *target, const cutis_model *motion,
                                   cutis_retarget_up up, int32_t *map,
                                   cutis_retarget_found *target_by, cutis_retarget_found *motion_by)
{
    cutis_arena arena = { .context = cutis_model_context(target) };
    retarget_rig a, b;
    cutis_result result = cutis_retarget_rig_bind(&arena, target, &a);
    if (result == CUTIS_OK) {
        cutis_retarget_tell_up(&a, up);
        result = cutis_retarget_rig_pose(&arena, motion, NULL, &b);
    }
    if (result == CUTIS_OK) result = map_rigs(&arena, &a, &b, map);
    if (result == CUTIS_OK && target_by) *target_by = a.found;
    if (result == CUTIS_OK && motion_by) *motion_by = b.found;
    cutis_arena_release(&arena);
    return result;
}

cutis_result cutis_retarget_map(const cutis_model *target, const cutis_model *motion, int32_t *map,
                                cutis_retarget_found *target_by, cutis_retarget_found *motion_by)
{
    if (!target || !motion || !map) return CUTIS_INVALID_ARGUMENT;
    return cutis_retarget_map_up(target, motion, CUTIS_RETARGET_UP_AUTO, map, target_by, motion_by);
}
