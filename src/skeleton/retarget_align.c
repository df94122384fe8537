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
#include "math/svd3.h"

// Bones shorter than this part of the body's height have no direction.
static const double NO_BONE = 1e-3;
// Bodies whose trunk leans less than this (cosine) stand upright: up is up in both.
static const double UPRIGHT = 0.94;

static vec3 rotated(const double *r, vec3 v)
{
    return v3(v3_dot(v3_of(r), v), v3_dot(v3_of(r + 3), v), v3_dot(v3_of(r + 6), v));
}

// rotation = by rotation
static void rotate_by(const double *by, double *rotation)
{
    double out[9];
    double33_multiply(by, rotation, out);
    memcpy(rotation, out, sizeof out);
}

// The least rotation that takes direction a to b; opposite ones: half a turn about anything across.
static void least_rotation(vec3 from, vec3 to, double *out)
{
    vec3 a = v3_direction(from), b = v3_direction(to);
    double c = v3_dot(a, b), axis[3];
    v3_put(v3_cross(a, b), axis);
    if (c < -1 + 1e-12) {
        v3_put(v3_direction(v3_cross(a, v3(fabs(a.x) < 0.9, fabs(a.x) >= 0.9, 0))), axis);
        for (int i = 0; i < 9; i++)
            out[i] = 2 * axis[i / 3] * axis[i % 3] - (i % 4 == 0 ? 1.0 : 0.0);
        return;
    }
    // R = c I + [axis]x + axis axis^T / (1 + c)
    const double cross[9] = { 0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0 };
    for (int i = 0; i < 9; i++)
        out[i] = (i % 4 == 0 ? c : 0.0) + cross[i] + axis[i / 3] * axis[i % 3] / (1 + c);
}

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
        bool loose = leg->target[1] != CUTIS_NONE && leg->target[2] != CUTIS_NONE &&
                     !cutis_retarget_is_under(&job->target, leg->target[2], leg->target[1]);
        job->loose[side] = loose ? leg->target[2] : CUTIS_NONE;
    }
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

// The trunk's direction: from the middle of the legs (or the first trunk joint) to head or neck;
// up itself where both bodies stand.
static directions trunk_up(const retarget_job *job)
{
    int32_t top_t, top_m, base_t, base_m;
    const vec3 up = v3_of(job->target.up);
    const directions upright = { up, up };
    if ((!find_pair(job, ROLE_HEAD, SIDE_NONE, &top_t, &top_m) &&
         !find_pair(job, ROLE_NECK, SIDE_NONE, &top_t, &top_m)) ||
        (!find_pair(job, ROLE_HIPS, SIDE_NONE, &base_t, &base_m) &&
         !find_pair(job, ROLE_SPINE, SIDE_NONE, &base_t, &base_m)))
        return upright;
    directions d = { v3_direction(cutis_retarget_between(job->target.place, base_t, top_t)),
                     v3_direction(cutis_retarget_between(job->motion.place, base_m, top_m)) };
    bool known = v3_length(d.target) > 0 && v3_length(d.motion) > 0;
    bool stands = v3_dot(d.target, up) > UPRIGHT && v3_dot(d.motion, up) > UPRIGHT;
    return known && !stands ? d : upright;
}

static bool align_hips(const retarget_job *job, double *out)
{
    directions side;
    return (lateral(job, job->leg, &side) || lateral(job, job->arm, &side)) &&
           align_frames(side, trunk_up(job), out);
}

static bool align_chest(const retarget_job *job, double *out)
{
    directions side;
    return lateral(job, job->arm, &side) && align_frames(trunk_up(job), side, out);
}

// The node under `top` that is farthest from it, seen from above; `top` itself if it has none.
static int32_t toe_of(const retarget_rig *rig, int32_t top)
{
    int32_t best = top;
    double most = 0;
    for (uint32_t n = (uint32_t)top + 1; n < rig->count; n++) {
        if (!cutis_retarget_is_under(rig, (int32_t)n, top)) continue;
        vec3 d = cutis_retarget_between(rig->place, top, (int32_t)n);
        double rise = v3_dot(d, v3_of(rig->up)), far = v3_dot(d, d) - rise * rise;
        if (far > most) most = far, best = (int32_t)n;
    }
    return best;
}

// Where a foot points; without toes, where its skin lies.
static bool heading(const retarget_rig *rig, int32_t foot, vec3 *out)
{
    const vec3 up = v3_of(rig->up);
    int32_t toe = toe_of(rig, foot);
    *out = cutis_retarget_between(rig->place, foot, toe);
    if (toe == foot && rig->centre && isfinite(rig->centre[3 * (size_t)foot]))
        *out = v3_sub(cutis_retarget_at(rig->centre, foot), cutis_retarget_at(rig->place, foot));
    *out = v3_mad(*out, -v3_dot(*out, up), up);
    return v3_length(*out) > NO_BONE * cutis_retarget_height(rig);
}

static bool align_foot(const retarget_job *job, int32_t c, double *out)
{
    directions front, up = { v3_of(job->target.up), v3_of(job->target.up) };
    if (heading(&job->target, c, &front.target) &&
        heading(&job->motion, job->map[c], &front.motion))
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
    least_rotation(rotated(align, d.target), d.motion, least);
    rotate_by(least, align);
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
        turned = rotated(align, t), m = v3_direction(own);
        v3_sum(sum, v3_scale(turned, m.x));
        v3_sum(sum + 3, v3_scale(turned, m.y));
        v3_sum(sum + 6, v3_scale(turned, m.z));
        count++;
    }
    if (count == 0) return;
    if (count == 1) {
        least_rotation(turned, m, least);
    } else {
        double u[9], s[3], v[9];
        cutis_svd3(sum, u, s, v);
        if (!(s[1] > 1e-6 * s[0])) return;
        double33_multiply_transpose(u, v, least); // both proper: the nearest proper rotation
    }
    rotate_by(least, align);
}

static void align_node(const retarget_job *job, int32_t c, int32_t chest, double *align)
{
    const int role = job->target.role[c], side = job->target.side[c] - 1;
    switch (role) {
    case ROLE_HIPS:
        (void)align_hips(job, align);
        break;
    case ROLE_SPINE:
        if (c == chest) (void)align_chest(job, align);
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
        align_other(job, c, align);
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

// Places and rotations of the motion's nodes to the target's world axes.
static void turn_world(const retarget_job *job, double *place, double *rotation)
{
    for (size_t n = 0; n < job->motion.count; n++) {
        double33_vector(job->turn, place + 3 * n, place + 3 * n);
        rotate_by(job->turn, rotation + 9 * n);
    }
}

cutis_result cutis_retarget_align(retarget_job *job)
{
    const uint32_t count = job->target.count;
    int32_t chest = CUTIS_NONE;
    job->align = cutis_arena_alloc(job->arena, count, 9 * sizeof *job->align);
    if (!job->align) return cutis_alloc_result(job->context);
    take_roles(job);
    least_rotation(v3_of(job->motion.up), v3_of(job->target.up), job->turn);
    turn_world(job, job->motion.place, job->motion.rotation);
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
        if (job->target.role[n] == ROLE_SPINE) chest = (int32_t)n;
    }
    if (job->root == CUTIS_NONE)
        return cutis_fail(job->context, CUTIS_NOT_FOUND, "the map moves no joint of the model");
    if (job->map[job->root] != CUTIS_NONE) job->root_motion = job->map[job->root];
    job->scale = find_scale(job);
    for (uint32_t n = 0; n < count; n++) {
        int32_t parent = job->target.data->nodes[n].parent;
        double *align = job->align + 9 * (size_t)n;
        double33_identity(align);
        if (parent != CUTIS_NONE) memcpy(align, job->align + 9 * (size_t)parent, 9 * sizeof *align);
        if (job->map[n] != CUTIS_NONE) align_node(job, (int32_t)n, chest, align);
    }
    return CUTIS_OK;
}

cutis_result cutis_retarget_frame_alloc(const retarget_job *job, retarget_frame *out)
{
    const size_t m = job->motion.count, t = job->target.count;
    out->matrices = cutis_arena_alloc(job->arena, m, 12 * sizeof(double));
    out->place = cutis_arena_alloc(job->arena, m, 3 * sizeof(double));
    out->rotation = cutis_arena_alloc(job->arena, m, 9 * sizeof(double));
    out->turned = cutis_arena_alloc(job->arena, t, 9 * sizeof(double));
    out->placed = cutis_arena_alloc(job->arena, t, 3 * sizeof(double));
    bool all = out->matrices && out->place && out->rotation && out->turned && out->placed;
    return all ? CUTIS_OK : cutis_alloc_result(job->context);
}

// D of every node: what follows the motion from its joint, the rest from its parent.
static void turn_nodes(const retarget_job *job, retarget_frame *frame)
{
    for (uint32_t n = 0; n < job->target.count; n++) {
        double *d = frame->turned + 9 * (size_t)n, moved[9];
        int32_t s = job->map[n], parent = job->target.data->nodes[n].parent;
        if (s != CUTIS_NONE) {
            double33_multiply_transpose(frame->rotation + 9 * (size_t)s,
                                        job->motion.rotation + 9 * (size_t)s, moved);
            double33_multiply(moved, job->align + 9 * (size_t)n, d);
        } else if (parent != CUTIS_NONE) {
            memcpy(d, frame->turned + 9 * (size_t)parent, 9 * sizeof *d);
        } else {
            double33_identity(d);
        }
    }
}

// Place of a node from the one it is carried by.
static void place_from(const retarget_job *job, int32_t from, int32_t n, retarget_frame *frame)
{
    vec3 offset = rotated(frame->turned + 9 * (size_t)from,
                          cutis_retarget_between(job->target.place, from, n));
    v3_put(v3_add(cutis_retarget_at(frame->placed, from), offset), frame->placed + 3 * (size_t)n);
}

// Places of all target nodes from `turned` and the root's place.
static void place_nodes(const retarget_job *job, retarget_frame *frame)
{
    for (uint32_t n = 0; n < job->target.count; n++) {
        int32_t parent = job->target.data->nodes[n].parent;
        if ((int32_t)n == job->root) continue;
        if ((int32_t)n > job->root && parent != CUTIS_NONE)
            place_from(job, parent, (int32_t)n, frame);
        else
            memcpy(frame->placed + 3 * (size_t)n, job->target.place + 3 * (size_t)n,
                   3 * sizeof *frame->placed);
    }
    for (int side = 0; side < 2; side++) {
        const int32_t foot = job->loose[side];
        if (foot == CUTIS_NONE) continue;
        place_from(job, job->leg[side].target[1], foot, frame);
        for (int32_t n = foot + 1; n < (int32_t)job->target.count; n++)
            if (cutis_retarget_is_under(&job->target, n, foot))
                place_from(job, job->target.data->nodes[n].parent, n, frame);
    }
}

void cutis_retarget_frame_make(const retarget_job *job, const cutis_transform *pose, double lift,
                               retarget_frame *frame)
{
    const double *up = job->target.up;
    double *root = frame->placed + 3 * (size_t)job->root;
    cutis_retarget_world(job->motion.data, pose, frame->matrices, frame->place, frame->rotation);
    turn_world(job, frame->place, frame->rotation);
    turn_nodes(job, frame);
    for (int k = 0; k < 3; k++)
        root[k] = job->scale * frame->place[3 * (size_t)job->root_motion + k] + lift * up[k];
    place_nodes(job, frame);
    if (!job->legs) return;
    for (int k = 0; k < 3; k++) {
        double have = 0, want = lift * up[k];
        for (int side = 0; side < 2; side++) {
            have += frame->placed[3 * (size_t)job->leg[side].target[0] + k] / 2;
            want += job->scale * frame->place[3 * (size_t)job->leg[side].motion[0] + k] / 2;
        }
        root[k] += want - have;
    }
    place_nodes(job, frame);
}

double cutis_retarget_lowest(const retarget_job *job, const double *places)
{
    double low = NAN;
    for (int side = 0; side < 2; side++) {
        int32_t foot = job->leg[side].target[2];
        for (int32_t n = foot; foot != CUTIS_NONE && n < (int32_t)job->target.count; n++)
            if (cutis_retarget_is_under(&job->target, n, foot))
                low = fmin(low, double3_dot(places + 3 * (size_t)n, job->target.up));
    }
    return low;
}

// Turn every followed node of [top, end) on the way from `end`'s parent up to `top`; `top` alone,
// if the other is no descendant of it.
static void turn_way(const retarget_job *job, int32_t top, int32_t end, const double *by,
                     retarget_frame *frame)
{
    int32_t last =
        cutis_retarget_is_under(&job->target, end, top) ? job->target.data->nodes[end].parent : top;
    for (int32_t n = last; n >= top; n = job->target.data->nodes[n].parent) {
        if (job->map[n] != CUTIS_NONE) rotate_by(by, frame->turned + 9 * (size_t)n);
    }
    for (uint32_t n = (uint32_t)top + 1; n < job->target.count; n++) {
        int32_t parent = job->target.data->nodes[n].parent;
        if (job->map[n] == CUTIS_NONE && parent >= top)
            memcpy(frame->turned + 9 * (size_t)n, frame->turned + 9 * (size_t)parent,
                   9 * sizeof(double));
    }
    place_nodes(job, frame);
}

void cutis_retarget_reach(const retarget_job *job, int side, const double *offset,
                          retarget_frame *frame)
{
    const int32_t *leg = job->leg[side].target;
    double by[9];
    vec3 thigh = cutis_retarget_between(frame->placed, leg[0], leg[1]);
    vec3 shin = cutis_retarget_between(frame->placed, leg[1], leg[2]);
    vec3 goal = v3_add(cutis_retarget_between(frame->placed, leg[0], leg[2]), v3_of(offset));
    double a = v3_length(thigh), b = v3_length(shin), far = v3_length(goal);
    double reach = fmin(fmax(far, fabs(a - b) * 1.001), (a + b) * 0.9999);
    if (!(a > 0) || !(b > 0) || !(far > 0)) return;
    goal = v3_direction(goal);
    // The knee stays in the plane it bends in; a straight leg bends in the plane of its foot.
    vec3 across = v3_cross(thigh, shin), front;
    if (!(v3_length(across) > 1e-4 * a * b)) {
        if (!heading(&job->target, leg[2], &front)) return;
        across = v3_cross(rotated(frame->turned + 9 * (size_t)leg[2], front), thigh);
        if (!(v3_length(across) > 0)) return;
    }
    // Towards the knee's side: across x (down the leg).
    vec3 bend = v3_scale(v3_cross(v3_direction(across), goal), -1);
    if (!(v3_length(bend) > 1e-6)) return;
    double along = (a * a - b * b + reach * reach) / (2 * reach);
    double out = sqrt(fmax(0, a * a - along * along));
    vec3 want = v3_mad(v3_scale(goal, along), out, v3_direction(bend));
    least_rotation(thigh, want, by);
    turn_way(job, leg[0], leg[1], by, frame);
    least_rotation(cutis_retarget_between(frame->placed, leg[1], leg[2]),
                   v3_sub(v3_scale(goal, reach), want), by);
    turn_way(job, leg[1], leg[2], by, frame);
}
