// How the target's rest pose is turned into the motion's (docs/spec/retarget.md E2), and lengths
// (E4). Invariant: a rotation K per node of the target; a node that follows nothing has its
// parent's.
//
// Limbs are aligned bone by bone. The trunk, the head, hands and fingers are not: where a rig puts
// its spine joints or the ends of its collar bones is a convention, both bodies stand upright, and
// a trunk aligned bone by bone comes out bent. Feet are aligned in heading only, so that a flat
// sole stays flat whatever the height of the ankle (docs/design/retarget.md).
#include "skeleton/retarget.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/svd3.h"
#include "math/elementary.h"

// Bones shorter than this part of the body's height have no direction.
static const double NO_BONE = 1e-3;
// Degrees from which on something is a pose, and up to which it may be a convention: of the trunk
// against up (motion capture puts shoulders behind: CMU's T-poses lean back by 7 to 13), of its
// halves against each other, of the head against the chest.
static const double LEAN[2] = { 5, 10 }, LEAN_MOTION[2] = { 14, 22 };
// Of beasts: what the motion's feet may differ by in height, in heights; how much of a leg goes
// down; degrees from which on a leg's direction, and a back's slope, is a pose; a leg so much less
// stretched than the motion's is folded.
static const double ONE_GROUND = 0.1, LEG_DOWN = 0.6, ASTRIDE[2] = { 8, 16 }, SITS[2] = { 10, 20 };
static const double FOLDED = 0.85;
static const double BENT[2] = { 14, 26 }, HEAD[2] = { 18, 30 };

// Directions of both bodies.
typedef struct directions {
    vec3 target, motion;
} directions;

// [first, second', first x second'] as columns; false if they are parallel.
static bool frame_of(vec3 first, vec3 second, double *out)
{
    vec3 a = v3_direction(first), b = v3_direction(second);
    if (!(v3_length(first) > 0) || !(v3_length(second) > 0)) return false;
    b = v3_mad(b, -v3_dot(a, b), a);
    if (!(v3_length(b) > 1e-6)) return false;
    b = v3_direction(b);
    const vec3 c = v3_cross(a, b);
    memcpy(out, (double[9]){ a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z }, 9 * sizeof *out);
    return true;
}

// K that takes the target's two directions to the motion's: the first exactly.
static bool align_frames(directions first, directions second, double *out)
{
    double t[9], m[9];
    if (!frame_of(first.target, second.target, t) || !frame_of(first.motion, second.motion, m))
        return false;
    double33_multiply_transpose(m, t, out);
    return true;
}

// The first joint of a role and side that follows the motion.
static bool find_pair(const retarget_job *job, retarget_role role, int side, int32_t *target,
                      int32_t *motion)
{
    int32_t best = CUTIS_NONE;
    for (uint32_t n = 0; n < job->target.count; n++)
        if (job->map[n] != CUTIS_NONE && job->target.role[n] == role &&
            job->target.side[n] == side &&
            (best == CUTIS_NONE || job->target.order[n] < job->target.order[best]))
            best = (int32_t)n;
    *target = best;
    *motion = best == CUTIS_NONE ? CUTIS_NONE : job->map[best];
    return best != CUTIS_NONE;
}

static void find_limbs(retarget_job *job)
{
    static const retarget_role LEG[3] = { ROLE_THIGH, ROLE_SHIN, ROLE_FOOT };
    static const retarget_role ARM[3] = { ROLE_UPPERARM, ROLE_FOREARM, ROLE_HAND };
    job->legs = job->feet = true;
    for (int side = 0; side < 2; side++) {
        retarget_limb *leg = &job->leg[side], *arm = &job->arm[side];
        for (int k = 0; k < 3; k++) {
            bool found = find_pair(job, LEG[k], side + 1, &leg->target[k], &leg->motion[k]);
            if (k == 0) job->legs = job->legs && found;
            job->feet = job->feet && found;
            find_pair(job, ARM[k], side + 1, &arm->target[k], &arm->motion[k]);
        }
        if (leg->target[1] != CUTIS_NONE && leg->target[2] != CUTIS_NONE &&
            !cutis_retarget_is_under(&job->target, leg->target[2], leg->target[1]))
            job->carrier[leg->target[2]] = leg->target[1];
    }
    bool paws = job->feet && job->target.four_legged && job->motion.four_legged;
    for (int i = 0; i < 6; i++) paws = paws && job->arm[i / 3].target[i % 3] != CUTIS_NONE;
    job->foot_count = !job->feet ? 0 : paws ? RETARGET_FEET : 2;
}

// From right to left, by hips or by shoulders.
static bool lateral(const retarget_job *job, const retarget_limb *limbs, directions *out)
{
    const retarget_limb *left = &limbs[0], *right = &limbs[1];
    if (left->target[0] == CUTIS_NONE || right->target[0] == CUTIS_NONE) return false;
    out->target = cutis_retarget_between(job->target.place, right->target[0], left->target[0]);
    out->motion = cutis_retarget_between(job->motion.place, right->motion[0], left->motion[0]);
    return v3_length(out->target) > NO_BONE * cutis_retarget_height(&job->target) &&
           v3_length(out->motion) > 0;
}

// The trunk of both bodies: whole, and its halves.
typedef struct trunk {
    directions whole, lower, upper;
    double bent; // 0: one piece; 1: half by half
} trunk;

// 0 below `from`, 1 above `to` (degrees), smooth between: what is a convention of rigs and what is
// a pose has no sharp border, and results must not jump at one.
static double pose_share(double angle, double from, double to)
{
    double x = (angle * (180 / M_PI) - from) / (to - from);
    x = fmin(fmax(x, 0), 1);
    return x * x * (3 - 2 * x);
}

static directions mix_directions(directions a, directions b, double t)
{
    return (directions){ v3_mix(v3_direction(a.target), v3_direction(b.target), t),
                         v3_mix(v3_direction(a.motion), v3_direction(b.motion), t) };
}

static vec3 middle_of(const double *places, int32_t a, int32_t b)
{
    return v3_scale(v3_add(cutis_retarget_at(places, a), cutis_retarget_at(places, b)), 0.5);
}

// Middle of the hip joints (`arms`: of the shoulders) of both bodies.
static bool girdle(const retarget_job *job, const retarget_limb *limbs, directions *out)
{
    if (limbs[0].target[0] == CUTIS_NONE || limbs[1].target[0] == CUTIS_NONE) return false;
    out->target = middle_of(job->target.place, limbs[0].target[0], limbs[1].target[0]);
    out->motion = middle_of(job->motion.place, limbs[0].motion[0], limbs[1].motion[0]);
    return true;
}

static directions from_to(directions a, directions b)
{
    return (directions){ v3_sub(b.target, a.target), v3_sub(b.motion, a.motion) };
}

// The spine joint that stands nearest to the middle between hips and shoulders.
static bool waist(const retarget_rig *rig, vec3 low, vec3 high, vec3 *out)
{
    double best = 0.3; // of the way: a joint at an end parts nothing
    vec3 axis = v3_sub(high, low);
    for (uint32_t n = 0; n < rig->count; n++) {
        if (rig->role[n] != ROLE_SPINE) continue;
        vec3 at = cutis_retarget_at(rig->place, (int32_t)n);
        double part = v3_dot(v3_sub(at, low), axis) / v3_dot(axis, axis);
        if (fabs(part - 0.5) < best) best = fabs(part - 0.5), *out = at;
    }
    return best < 0.3;
}

// From the hips to head or neck, for bodies without legs or arms.
static directions trunk_to_head(const retarget_job *job, directions upright)
{
    int32_t top_t, top_m, base_t, base_m;
    if ((!find_pair(job, ROLE_HEAD, SIDE_NONE, &top_t, &top_m) &&
         !find_pair(job, ROLE_NECK, SIDE_NONE, &top_t, &top_m)) ||
        (!find_pair(job, ROLE_HIPS, SIDE_NONE, &base_t, &base_m) &&
         !find_pair(job, ROLE_SPINE, SIDE_NONE, &base_t, &base_m)))
        return upright;
    return (directions){ cutis_retarget_between(job->target.place, base_t, top_t),
                         cutis_retarget_between(job->motion.place, base_m, top_m) };
}

// The trunk's direction, up itself where both bodies stand; its halves where they are bent against
// each other in one body and not in the other.
static trunk find_trunk(const retarget_job *job)
{
    const vec3 up = v3_of(job->target.up);
    const directions upright = { up, up };
    directions hips, chest, belly;
    bool girdles = girdle(job, job->leg, &hips) && girdle(job, job->arm, &chest);
    directions d = girdles ? from_to(hips, chest) : trunk_to_head(job, upright);
    trunk t = { upright, upright, upright, 0 };
    if (!(v3_length(d.target) > 0) || !(v3_length(d.motion) > 0)) return t;
    double lean = pose_share(v3_angle(d.target, up), LEAN[0], LEAN[1]);
    double own = pose_share(v3_angle(d.motion, up), LEAN_MOTION[0], LEAN_MOTION[1]);
    t.whole.target = v3_mix(up, v3_direction(d.target), lean);
    t.whole.motion = v3_mix(up, v3_direction(d.motion), own);
    t.lower = t.upper = t.whole;
    if (!girdles || job->target.four_legged || job->motion.four_legged ||
        !waist(&job->target, hips.target, chest.target, &belly.target) ||
        !waist(&job->motion, hips.motion, chest.motion, &belly.motion))
        return t;
    double whole[9];
    directions lower = from_to(hips, belly), upper = from_to(belly, chest);
    cutis_retarget_least(d.target, d.motion, whole);
    double off = fmax(v3_angle(cutis_retarget_rotated(whole, lower.target), lower.motion),
                      v3_angle(cutis_retarget_rotated(whole, upper.target), upper.motion));
    t.bent = pose_share(off, BENT[0], BENT[1]);
    t.lower = mix_directions(t.whole, lower, t.bent);
    t.upper = mix_directions(t.whole, upper, t.bent);
    return t;
}

static bool align_hips(const retarget_job *job, double *out)
{
    directions side;
    return (lateral(job, job->leg, &side) || lateral(job, job->arm, &side)) &&
           align_frames(side, find_trunk(job).lower, out);
}

static bool align_chest(const retarget_job *job, double *out)
{
    directions side;
    return lateral(job, job->arm, &side) && align_frames(find_trunk(job).upper, side, out);
}

// A spine joint below the chest: on the way from the hips to it, as far as the trunk is bent.
static void align_spine(const retarget_job *job, int32_t c, int32_t chest, double *align)
{
    double hips[9], ribs[9], a[4], b[4], dot = 0;
    double part =
        find_trunk(job).bent * (job->target.order[c] + 1.0) / (job->target.order[chest] + 1.0);
    if (!(part > 0) || !align_hips(job, hips) || !align_chest(job, ribs)) return;
    cutis_quat_from_mat3(hips, a);
    cutis_quat_from_mat3(ribs, b);
    for (int k = 0; k < 4; k++) dot += a[k] * b[k];
    for (int k = 0; k < 4; k++) a[k] = (1 - part) * a[k] + (dot < 0 ? -part : part) * b[k];
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]);
    if (!(length > 0)) return;
    for (int k = 0; k < 4; k++) a[k] /= length;
    cutis_mat3_from_quat(a, align);
}

// Neck and head go with the chest, unless the head is clearly bent against it at rest while the
// motion's stands upright: then back, half of it in the neck.
static void align_head(const retarget_job *job, int32_t c, double *align)
{
    directions chest;
    int32_t head, motion_head;
    const vec3 up = v3_of(job->target.up);
    if (job->target.four_legged || !girdle(job, job->arm, &chest) ||
        !find_pair(job, ROLE_HEAD, SIDE_NONE, &head, &motion_head))
        return;
    vec3 own = v3_sub(cutis_retarget_at(job->motion.place, motion_head), chest.motion);
    if (v3_angle(own, up) * (180 / M_PI) > HEAD[1]) return; // no upright head to go by
    const double *centre = job->target.centre;
    vec3 at = centre && isfinite(centre[3 * (size_t)head])
                  ? cutis_retarget_at(centre, head)
                  : cutis_retarget_at(job->target.place, head);
    // As the chest's own rotation leaves it; the neck's is taken back out of the head's.
    double base[9], least[9];
    if (!align_chest(job, base)) return;
    vec3 now = cutis_retarget_rotated(base, v3_sub(at, chest.target));
    double share = pose_share(v3_angle(now, up), HEAD[0], HEAD[1]);
    if (!(share > 0)) return;
    if (job->target.role[c] == ROLE_NECK) share /= 2;
    cutis_retarget_least(now, v3_mix(v3_direction(now), up, share), least);
    double33_multiply(least, base, align);
}

static bool align_foot(const retarget_job *job, int32_t c, double *out)
{
    const int side = job->target.side[c] - SIDE_LEFT;
    directions front, up = { v3_of(job->target.up), v3_of(job->target.up) };
    bool first = c == job->leg[side].target[2];
    if (first && v3_length(job->sole_front[side]) > 0) {
        up.target = job->sole_up[side];
        front.target = job->sole_front[side];
    } else if (!cutis_retarget_heading(&job->target, c, &front.target)) {
        return align_hips(job, out);
    }
    if (cutis_retarget_heading(&job->motion, job->map[c], &front.motion))
        return align_frames(up, front, out);
    return align_hips(job, out);
}

// Directions of a limb's bone: to the next joint of both; a last joint that stands for more of the
// motion's (shin and foot in one) points to its skin.
static bool bone(const retarget_job *job, int32_t c, const retarget_limb *limb, int k,
                 directions *out)
{
    static const retarget_role NEXT[ROLE_COUNT] = { [ROLE_SHIN] = ROLE_FOOT,
                                                    [ROLE_FOREARM] = ROLE_HAND,
                                                    [ROLE_THIGH] = ROLE_SHIN,
                                                    [ROLE_UPPERARM] = ROLE_FOREARM };
    int next = k + 1;
    while (next < 3 && limb->target[next] == CUTIS_NONE) next++;
    int32_t after = next < 3 ? limb->motion[next]
                             : cutis_retarget_joint(&job->motion, NEXT[job->target.role[c]],
                                                    job->target.side[c]);
    if (next < 3) {
        out->target = cutis_retarget_between(job->target.place, c, limb->target[next]);
    } else {
        const double *centre = job->target.centre;
        if (after == CUTIS_NONE || !centre || !isfinite(centre[3 * (size_t)c])) return false;
        out->target = v3_sub(cutis_retarget_at(centre, c), cutis_retarget_at(job->target.place, c));
    }
    out->motion = cutis_retarget_between(job->motion.place, job->map[c], after);
    return v3_length(out->target) > NO_BONE * cutis_retarget_height(&job->target) &&
           v3_length(out->motion) > 0;
}

static void align_limb(const retarget_job *job, int32_t c, const retarget_limb *limb, int k,
                       double *align)
{
    double least[9];
    directions d;
    if (limb->target[k] != c || !bone(job, c, limb, k, &d)) return;
    cutis_retarget_least(cutis_retarget_rotated(align, d.target), d.motion, least);
    cutis_retarget_rotate(least, align);
}

// A joint of no known role: the rotation that takes the places of its child joints
// nearest to the motion's (one: the least, from the parent's; several: in the least-squares sense).
static void align_other(const retarget_job *job, int32_t c, double *align)
{
    double sum[9] = { 0 }, least[9];
    vec3 turned = { 0 }, m = { 0 };
    uint32_t count = 0;
    for (uint32_t n = (uint32_t)c + 1; n < job->target.count; n++) {
        int32_t up = job->target.data->nodes[n].parent;
        while (up > c && job->map[up] == CUTIS_NONE) up = job->target.data->nodes[up].parent;
        if (up != c || job->map[n] == CUTIS_NONE) continue;
        vec3 t = cutis_retarget_between(job->target.place, c, (int32_t)n);
        vec3 own = cutis_retarget_between(job->motion.place, job->map[c], job->map[n]);
        if (!(v3_length(t) > NO_BONE * cutis_retarget_height(&job->target)) ||
            !(v3_length(own) > 0))
            continue;
        turned = cutis_retarget_rotated(align, t), m = v3_direction(own);
        v3_sum(sum, v3_scale(turned, m.x));
        v3_sum(sum + 3, v3_scale(turned, m.y));
        v3_sum(sum + 6, v3_scale(turned, m.z));
        count++;
    }
    if (count == 0) return;
    if (count == 1) {
        cutis_retarget_least(turned, m, least);
    } else {
        double u[9], s[3], v[9];
        cutis_svd3(sum, u, s, v);
        if (!(s[1] > 1e-6 * s[0])) return;
        double33_multiply_transpose(u, v, least); // both proper: the nearest proper rotation
    }
    cutis_retarget_rotate(least, align);
}

// Where a foot is at rest and where its leg begins, of both bodies.
static void feet_at(const retarget_job *job, int foot, directions *at, directions *root)
{
    const retarget_limb *limb = &job->limb[foot];
    const retarget_sole *sole = &job->sole[foot];
    int32_t nodes[RETARGET_FOOT_POINTS];
    uint32_t count;
    at->target = v3(0, 0, 0);
    for (uint32_t i = 0; i < sole->count; i++)
        at->target = v3_mad(at->target, 1.0 / sole->count, v3_of(sole->place + 3 * (size_t)i));
    cutis_retarget_foot_points(&job->motion, limb->motion[2], nodes, &count);
    at->motion = cutis_retarget_at(job->motion.place, nodes[count > 1]);
    root->target = cutis_retarget_at(job->target.place, limb->target[0]);
    root->motion = cutis_retarget_at(job->motion.place, limb->motion[0]);
}

// Length of a leg along its bones, down to the sole, and how much of it lies between its ends.
static double leg_along(const double *place, const int32_t *joint, vec3 foot, double *stretched)
{
    double sum = v3_distance(cutis_retarget_at(place, joint[2]), foot);
    for (int k = 0; k < 2; k++)
        sum += v3_length(cutis_retarget_between(place, joint[k], joint[k + 1]));
    *stretched = sum > 0 ? v3_distance(cutis_retarget_at(place, joint[0]), foot) / sum : 0;
    return sum;
}

// Do both bodies have four legs, and does the motion's stand on them at rest?
static bool motion_stands(const retarget_job *job)
{
    const vec3 up = v3_of(job->target.up);
    double low = INFINITY, high = -INFINITY;
    bool stands = job->foot_count == RETARGET_FEET;
    for (int i = 0; i < RETARGET_FEET && stands; i++) {
        directions foot, root;
        feet_at(job, i, &foot, &root);
        const vec3 leg = v3_sub(root.motion, foot.motion);
        low = fmin(low, v3_dot(foot.motion, up)), high = fmax(high, v3_dot(foot.motion, up));
        stands = job->sole[i].count > 0 && v3_dot(leg, up) > LEG_DOWN * v3_length(leg);
    }
    return stands && high - low < ONE_GROUND * cutis_retarget_height(&job->motion);
}

// How high shoulders stand above hips if the target's legs stand as the motion's do.
static double rise_of_shoulders(const retarget_job *job)
{
    const vec3 up = v3_of(job->target.up);
    double rise = 0, stretched;
    for (int i = 0; i < RETARGET_FEET; i++) {
        directions foot, root;
        feet_at(job, i, &foot, &root);
        double own = leg_along(job->target.place, job->limb[i].target, foot.target, &stretched);
        double other = leg_along(job->motion.place, job->limb[i].motion, foot.motion, &stretched);
        double high = v3_dot(v3_sub(root.motion, foot.motion), up);
        rise += (i < 2 ? -0.5 : 0.5) * (other > 0 ? own * high / other : 0);
    }
    return rise;
}

// The trunk of a beast: its own slope where that is how its legs let it stand; who sits, or rears,
// gets the slope of standing.
static void find_on_four(retarget_job *job)
{
    directions side, hips, chest;
    const vec3 up = v3_of(job->target.up);
    directions upright = { up, up };
    job->on_four = motion_stands(job) && lateral(job, job->leg, &side) &&
                   girdle(job, job->leg, &hips) && girdle(job, job->arm, &chest) &&
                   align_frames(upright, side, job->back);
    if (!job->on_four) return;
    const vec3 own = cutis_retarget_rotated(job->back, v3_sub(chest.target, hips.target));
    const double length = v3_length(own), rise = v3_dot(own, up);
    vec3 flat = v3_mad(own, -rise, up);
    if (!(length > 0)) return;
    const double stands = fmin(fmax(rise_of_shoulders(job) / length, -0.9), 0.9);
    const double share = pose_share(
        fabs(fixed_asin(fmin(fmax(rise / length, -1), 1)) - fixed_asin(stands)), SITS[0], SITS[1]);
    if (!(v3_length(flat) > 0.1 * length)) { // rears: the way the motion's trunk goes
        flat = v3_sub(chest.motion, hips.motion);
        flat = v3_mad(flat, -v3_dot(flat, up), up);
    }
    const vec3 want = v3_mad(v3_scale(v3_direction(flat), sqrt(1 - stands * stands)), stands, up);
    double least[9];
    cutis_retarget_least(own, v3_mix(v3_direction(own), want, share), least);
    cutis_retarget_rotate(least, job->back);
}

// Two beasts: backs, necks and the bends of legs are each body's own, and the motion moves them
// from how they stand. Legs that clearly stand astride are brought below the body as a whole, those
// that are folded bone by bone.
static void align_on_four(const retarget_job *job, int32_t c, double *align)
{
    const int role = job->target.role[c];
    const bool limb = (role >= ROLE_UPPERARM && role <= ROLE_PINKY) || role >= ROLE_THIGH;
    int leg = 0, k = 0;
    for (int i = 0; i < 3 * RETARGET_FEET; i++)
        if (job->limb[i / 3].target[i % 3] == c) leg = i / 3, k = i % 3 + 1;
    if (limb && k == 0) return; // as what it hangs from
    if (k < 2) memcpy(align, job->back, sizeof job->back);
    if (k == 0) return;
    directions foot, root;
    double own, other;
    feet_at(job, leg, &foot, &root);
    leg_along(job->target.place, job->limb[leg].target, foot.target, &own);
    leg_along(job->motion.place, job->limb[leg].motion, foot.motion, &other);
    if (own < FOLDED * other) {
        if (k < 3) align_limb(job, c, &job->limb[leg], k - 1, align);
        return;
    }
    if (k > 1) return;
    double least[9];
    const directions way = from_to(root, foot);
    const vec3 now = cutis_retarget_rotated(align, v3_direction(way.target));
    const double share = pose_share(v3_angle(now, way.motion), ASTRIDE[0], ASTRIDE[1]);
    cutis_retarget_least(now, v3_mix(now, v3_direction(way.motion), share), least);
    cutis_retarget_rotate(least, align);
}

// Jaws, eyes, lips, ears: where a rig puts the joints of a face is a convention, and directions
// between them say nothing of its pose. They go with the head.
static bool is_of_head(const retarget_rig *rig, int32_t c)
{
    while (c != CUTIS_NONE && rig->role[c] != ROLE_HEAD) c = rig->data->nodes[c].parent;
    return c != CUTIS_NONE;
}

static void align_node(const retarget_job *job, int32_t c, int32_t chest, double *align)
{
    const int role = job->target.role[c], side = job->target.side[c] - 1;
    if (job->on_four) {
        align_on_four(job, c, align);
        return;
    }
    switch (role) {
    case ROLE_HIPS:
        (void)align_hips(job, align);
        break;
    case ROLE_SPINE:
        if (c == chest)
            (void)align_chest(job, align);
        else if (chest != CUTIS_NONE)
            align_spine(job, c, chest, align);
        break;
    case ROLE_NECK:
    case ROLE_HEAD:
        align_head(job, c, align);
        break;
    case ROLE_THIGH:
    case ROLE_SHIN:
        align_limb(job, c, &job->leg[side], role - ROLE_THIGH, align);
        break;
    case ROLE_UPPERARM:
    case ROLE_FOREARM:
        align_limb(job, c, &job->arm[side], role - ROLE_UPPERARM, align);
        break;
    case ROLE_FOOT:
        (void)align_foot(job, c, align);
        break;
    case ROLE_NONE:
        if (!is_of_head(&job->target, c)) align_other(job, c, align);
        break;
    default:
        break; // as its parent
    }
}

// Motion lengths to target lengths: legs, else the trunk, else the spread of all joints.
static double find_scale(const retarget_job *job)
{
    const double *target = job->target.place, *motion = job->motion.place;
    double t = 0, m = 0;
    for (int i = 0; i < 4; i++) {
        const retarget_limb *leg = &job->leg[i / 2];
        const int32_t *from = &leg->target[i % 2], *moved = &leg->motion[i % 2];
        if (from[0] == CUTIS_NONE || from[1] == CUTIS_NONE) continue;
        t += v3_length(cutis_retarget_between(target, from[0], from[1]));
        m += v3_length(cutis_retarget_between(motion, moved[0], moved[1]));
    }
    int32_t a, b, x, y;
    if (!(t > 0 && m > 0) && find_pair(job, ROLE_HEAD, SIDE_NONE, &a, &b) &&
        (find_pair(job, ROLE_HIPS, SIDE_NONE, &x, &y) ||
         find_pair(job, ROLE_SPINE, SIDE_NONE, &x, &y))) {
        t = v3_length(cutis_retarget_between(target, x, a));
        m = v3_length(cutis_retarget_between(motion, y, b));
    }
    if (t > 0 && m > 0) return t / m;
    t = m = 0;
    for (uint32_t n = 0; n < job->target.count; n++) {
        if (job->map[n] == CUTIS_NONE) continue;
        t += v3_length(cutis_retarget_between(target, job->root, (int32_t)n));
        m += v3_length(cutis_retarget_between(motion, job->root_motion, job->map[n]));
    }
    return t > 0 && m > 0 ? t / m : 1;
}

// Roles of the motion hold for what follows it: an edited map says what a joint is.
static void take_roles(retarget_job *job)
{
    for (uint32_t n = 0; n < job->target.count; n++) {
        if (job->map[n] == CUTIS_NONE || job->motion.role[job->map[n]] == ROLE_NONE) continue;
        job->target.role[n] = job->motion.role[job->map[n]];
        job->target.side[n] = job->motion.side[job->map[n]];
    }
    cutis_retarget_number(&job->target);
}

// Standing height: that of the skin, or what legs, trunk and head add up to in a body that sits.
static double find_stature(const retarget_job *job)
{
    const double *place = job->target.place;
    double height = cutis_retarget_height(&job->target), sum = 0;
    directions hips, chest;
    int32_t head, motion_head;
    if (job->target.four_legged || !job->feet || !girdle(job, job->leg, &hips) ||
        !girdle(job, job->arm, &chest) ||
        !find_pair(job, ROLE_HEAD, SIDE_NONE, &head, &motion_head))
        return height;
    for (int i = 0; i < 4; i++) {
        const int32_t *bone = &job->leg[i / 2].target[i % 2];
        sum += v3_length(cutis_retarget_between(place, bone[0], bone[1])) / 2;
    }
    sum += v3_distance(hips.target, chest.target) +
           2 * v3_distance(chest.target, cutis_retarget_at(place, head));
    return fmax(height, sum);
}

static cutis_result find_soles(retarget_job *job)
{
    directions left;
    if (!lateral(job, job->leg, &left)) left.target = v3(0, 0, 0);
    for (uint32_t side = 0; side < RETARGET_FEET; side++) {
        const int32_t *leg = job->limb[side].target;
        job->sole_front[side] = v3(0, 0, 0), job->sole_up[side] = v3_of(job->target.up);
        if (side >= job->foot_count && side >= 2) continue;
        if (leg[2] == CUTIS_NONE || leg[1] == CUTIS_NONE) continue;
        TRY(cutis_retarget_sole(job, leg[2], &job->sole[side]));
        TRY(cutis_retarget_foot_frame(job->arena, &job->target, &job->sole[side], leg,
                                      v3_direction(left.target), &job->sole_front[side],
                                      &job->sole_up[side]));
    }
    return CUTIS_OK;
}

// How far a point is from the bone between two joints.
static double from_bone(const double *places, vec3 p, int32_t a, int32_t b)
{
    vec3 u = cutis_retarget_between(places, a, b), v = v3_sub(p, cutis_retarget_at(places, a));
    double square = v3_dot(u, u), at = square > 0 ? v3_dot(u, v) / square : 0;
    return v3_length(v3_mad(v, -fmin(fmax(at, 0), 1), u));
}

// The joint whose bone is nearest to where a helper's skin (or the helper) is.
static int32_t nearest_bone(const retarget_job *job, int32_t helper)
{
    const retarget_rig *rig = &job->target;
    const double *centre = rig->centre ? rig->centre + 3 * (size_t)helper : NULL;
    vec3 p = centre && isfinite(centre[0]) ? v3_of(centre) : cutis_retarget_at(rig->place, helper);
    int32_t best = CUTIS_NONE;
    double least = INFINITY;
    for (uint32_t n = 0; n < rig->count; n++) {
        if (job->map[n] == CUTIS_NONE) continue;
        int32_t up = rig->data->nodes[n].parent;
        while (up != CUTIS_NONE && job->map[up] == CUTIS_NONE) up = rig->data->nodes[up].parent;
        if (job->carrier[n] != CUTIS_NONE) up = job->carrier[n];
        double own = from_bone(rig->place, p, (int32_t)n, (int32_t)n);
        double bone = up == CUTIS_NONE ? INFINITY : from_bone(rig->place, p, up, (int32_t)n);
        if (fmin(own, bone) < least) least = fmin(own, bone), best = bone < own ? up : (int32_t)n;
    }
    return best;
}

static bool moves_skin(const retarget_rig *rig, int32_t top)
{
    for (uint32_t n = (uint32_t)top; rig->moves_skin && n < rig->count; n++)
        if (rig->moves_skin[n] && cutis_retarget_is_under(rig, (int32_t)n, top)) return true;
    return false;
}

// What moves skin and follows nothing, nor hangs from what does, would stay behind: joints above
// the hips go with them, others with the nearest bone.
static void find_carriers(retarget_job *job)
{
    const retarget_rig *rig = &job->target;
    const cutis_node *nodes = rig->data->nodes;
    int32_t hips = job->root, motion, top = CUTIS_NONE, first;
    if (job->map[hips] == CUTIS_NONE && !find_pair(job, ROLE_HIPS, SIDE_NONE, &hips, &motion))
        return;
    first = job->map[job->root] == CUTIS_NONE ? job->root : nodes[job->root].parent;
    for (int32_t n = first; n != CUTIS_NONE; n = nodes[n].parent)
        if (rig->moves_skin && rig->moves_skin[n]) top = n;
    for (int32_t n = first; top != CUTIS_NONE && n != nodes[top].parent; n = nodes[n].parent)
        job->carrier[n] = hips;
    for (uint32_t n = 0; n < rig->count; n++) {
        bool helper = rig->joint[n] && !cutis_retarget_is_under(rig, hips, (int32_t)n);
        for (int32_t up = (int32_t)n; up != CUTIS_NONE && helper; up = nodes[up].parent)
            helper = job->map[up] == CUTIS_NONE &&
                     (job->carrier[up] == CUTIS_NONE || cutis_retarget_is_under(rig, hips, up));
        for (uint32_t m = n + 1; helper && m < rig->count; m++) // a way to what follows
            helper =
                job->map[m] == CUTIS_NONE || !cutis_retarget_is_under(rig, (int32_t)m, (int32_t)n);
        if (helper && moves_skin(rig, (int32_t)n)) job->carrier[n] = nearest_bone(job, (int32_t)n);
    }
}

cutis_result cutis_retarget_align(retarget_job *job)
{
    const uint32_t count = job->target.count;
    int32_t chest = CUTIS_NONE;
    job->align = cutis_arena_alloc(job->arena, count, 9 * sizeof *job->align);
    job->carrier = cutis_arena_alloc(job->arena, count, sizeof *job->carrier);
    if (!job->align || !job->carrier) return cutis_alloc_result(job->context);
    for (uint32_t n = 0; n < count; n++) job->carrier[n] = CUTIS_NONE;
    take_roles(job);
    cutis_retarget_least(v3_of(job->motion.up), v3_of(job->target.up), job->turn);
    cutis_retarget_turn(job, job->motion.place, job->motion.rotation);
    memcpy(job->motion.up, job->target.up, sizeof job->motion.up);
    find_limbs(job);
    job->root = CUTIS_NONE;
    for (uint32_t n = 0; n < count; n++) {
        if (job->map[n] == CUTIS_NONE) continue;
        if (job->root == CUTIS_NONE) {
            job->root = (int32_t)n;
            job->root_motion = job->map[n];
        }
        int32_t meet = cutis_retarget_ancestor(&job->target, job->root, (int32_t)n);
        if (meet == CUTIS_NONE)
            return INVALID(job->context, "the mapped joints stand in different trees of the model");
        job->root = meet;
        if (job->target.role[n] == ROLE_SPINE &&
            (chest == CUTIS_NONE || job->target.order[n] >= job->target.order[chest]))
            chest = (int32_t)n;
    }
    if (job->root == CUTIS_NONE)
        return cutis_fail(job->context, CUTIS_NOT_FOUND, "the map moves no joint of the model");
    if (job->map[job->root] != CUTIS_NONE) job->root_motion = job->map[job->root];
    job->scale = find_scale(job);
    job->stature = find_stature(job);
    find_carriers(job);
    TRY(cutis_retarget_twists(job));
    TRY(find_soles(job));
    find_on_four(job);
    for (uint32_t n = 0; n < count; n++) {
        int32_t parent = job->target.data->nodes[n].parent;
        double *align = job->align + 9 * (size_t)n;
        double33_identity(align);
        if (parent != CUTIS_NONE) memcpy(align, job->align + 9 * (size_t)parent, 9 * sizeof *align);
        if (job->map[n] != CUTIS_NONE) align_node(job, (int32_t)n, chest, align);
    }
    return CUTIS_OK;
}
