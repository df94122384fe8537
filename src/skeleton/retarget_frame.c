// One frame of the target from one of the motion (docs/spec/retarget.md E3, E4), and legs that are
// bent to a goal (E5). Invariant: what follows nothing is carried rigidly by its parent, or by its
// carrier.
#include "skeleton/retarget.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/mat3.h"

// A leg that hangs like this (cosine of 30 degrees) stands; what is this part of the height below
// its foot is no part of the body.
static const double STANDS = 0.866, GOWN = 0.08;

void cutis_retarget_least(vec3 from, vec3 to, double *out)
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

// Places and rotations of the motion's nodes to the target's world axes.
void cutis_retarget_turn(const retarget_job *job, double *place, double *rotation)
{
    for (size_t n = 0; n < job->motion.count; n++) {
        double33_vector(job->turn, place + 3 * n, place + 3 * n);
        cutis_retarget_rotate(job->turn, rotation + 9 * n);
    }
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

// D of every node: what follows the motion from its joint, the rest from its carrier or its parent,
// twist joints halfway to the next.
static void turn_nodes(const retarget_job *job, retarget_frame *frame)
{
    for (uint32_t n = 0; n < job->target.count; n++) {
        int32_t s = job->map[n];
        if (s == CUTIS_NONE) continue;
        double moved[9];
        double33_multiply_transpose(frame->rotation + 9 * (size_t)s,
                                    job->motion.rotation + 9 * (size_t)s, moved);
        double33_multiply(moved, job->align + 9 * (size_t)n, frame->turned + 9 * (size_t)n);
    }
    for (uint32_t n = 0; n < job->target.count; n++) {
        if (job->map[n] != CUTIS_NONE) continue;
        int32_t by =
            job->carrier[n] != CUTIS_NONE ? job->carrier[n] : job->target.data->nodes[n].parent;
        double *d = frame->turned + 9 * (size_t)n;
        double33_identity(d);
        if (by != CUTIS_NONE) memcpy(d, frame->turned + 9 * (size_t)by, 9 * sizeof *d);
    }
    cutis_retarget_twist(job, frame);
}

// Place of a node from the one it is carried by.
static void place_from(const retarget_job *job, int32_t from, int32_t n, retarget_frame *frame)
{
    vec3 offset = cutis_retarget_rotated(frame->turned + 9 * (size_t)from,
                                         cutis_retarget_between(job->target.place, from, n));
    v3_put(v3_add(cutis_retarget_at(frame->placed, from), offset), frame->placed + 3 * (size_t)n);
}

// What stands elsewhere in the tree than where it belongs, and what hangs from it. Carriers are in
// place: they follow the motion.
static void place_carried(const retarget_job *job, retarget_frame *frame)
{
    for (uint32_t n = 0; n < job->target.count; n++) {
        const int32_t at = (int32_t)n, by = job->carrier[n];
        if (by == CUTIS_NONE || cutis_retarget_is_under(&job->target, job->root, at)) continue;
        place_from(job, by, at, frame);
        for (int32_t m = at + 1; m < (int32_t)job->target.count; m++)
            if (cutis_retarget_is_under(&job->target, m, at) && job->carrier[m] == CUTIS_NONE)
                place_from(job, job->target.data->nodes[m].parent, m, frame);
    }
}

// Places of all target nodes from `turned` and the root's place: what is below the root, what is
// above and goes with it, what hangs from that, what is carried.
static void place_nodes(const retarget_job *job, retarget_frame *frame)
{
    const int32_t root = job->root, count = (int32_t)job->target.count;
    const cutis_node *nodes = job->target.data->nodes;
    for (int32_t n = root + 1; n < count; n++)
        if (cutis_retarget_is_under(&job->target, n, root))
            place_from(job, nodes[n].parent, n, frame);
    for (int32_t n = 0; n < count; n++) {
        if (cutis_retarget_is_under(&job->target, n, root)) continue;
        bool above = cutis_retarget_is_under(&job->target, root, n);
        if (above && job->carrier[n] != CUTIS_NONE)
            place_from(job, root, n, frame);
        else if (nodes[n].parent != CUTIS_NONE)
            place_from(job, nodes[n].parent, n, frame);
        else
            memcpy(frame->placed + 3 * (size_t)n, job->target.place + 3 * (size_t)n,
                   3 * sizeof *frame->placed);
    }
    place_carried(job, frame);
}

void cutis_retarget_frame_make(const retarget_job *job, const cutis_transform *pose, double lift,
                               retarget_frame *frame)
{
    const double *up = job->target.up;
    double *root = frame->placed + 3 * (size_t)job->root;
    cutis_retarget_world(job->motion.data, pose, frame->matrices, frame->place, frame->rotation);
    cutis_retarget_turn(job, frame->place, frame->rotation);
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

double cutis_retarget_ground(const retarget_job *job)
{
    const vec3 up = v3_of(job->target.up);
    double low = NAN, skin = 0;
    for (uint32_t side = 0; side < job->foot_count; side++)
        for (uint32_t i = 0; i < job->sole[side].count; i++)
            low = fmin(low, v3_dot(v3_of(job->sole[side].place + 3 * (size_t)i), up));
    if (job->target.skin == CUTIS_NONE || !isfinite(low)) return low;
    for (int k = 0; k < 3; k++)
        skin += job->target.up[k] *
                (job->target.up[k] > 0 ? job->target.bounds.low : job->target.bounds.high)[k];
    // A body that kneels or sits has its feet elsewhere; a standing one may have a tail or a gown.
    bool stands = true;
    for (int side = 0; side < 2; side++) {
        const int32_t *leg = job->leg[side].target;
        vec3 d = cutis_retarget_between(job->target.place, leg[0], leg[2]);
        stands = stands && -v3_dot(d, up) > STANDS * v3_length(d);
    }
    return stands && low > skin + GOWN * job->stature ? low : skin;
}

// Turn every followed node of [top, end) on the way from `end`'s parent up to `top`; `top` alone,
// if the other is no descendant of it.
static void turn_way(const retarget_job *job, int32_t top, int32_t end, const double *by,
                     retarget_frame *frame)
{
    int32_t last =
        cutis_retarget_is_under(&job->target, end, top) ? job->target.data->nodes[end].parent : top;
    for (int32_t n = last; n >= top; n = job->target.data->nodes[n].parent) {
        if (job->map[n] != CUTIS_NONE) cutis_retarget_rotate(by, frame->turned + 9 * (size_t)n);
    }
    for (uint32_t n = 0; n < job->target.count; n++) {
        int32_t from =
            job->carrier[n] != CUTIS_NONE ? job->carrier[n] : job->target.data->nodes[n].parent;
        if (job->map[n] == CUTIS_NONE && from != CUTIS_NONE)
            memcpy(frame->turned + 9 * (size_t)n, frame->turned + 9 * (size_t)from,
                   9 * sizeof(double));
    }
    cutis_retarget_twist(job, frame);
    place_nodes(job, frame);
}

void cutis_retarget_reach(const retarget_job *job, int side, const double *place,
                          retarget_frame *frame)
{
    const int32_t *leg = job->limb[side].target;
    double by[9];
    vec3 thigh = cutis_retarget_between(frame->placed, leg[0], leg[1]);
    vec3 shin = cutis_retarget_between(frame->placed, leg[1], leg[2]);
    vec3 goal = v3_sub(v3_of(place), cutis_retarget_at(frame->placed, leg[0]));
    double a = v3_length(thigh), b = v3_length(shin), far = v3_length(goal);
    double reach = fmin(fmax(far, fabs(a - b) * 1.001), (a + b) * 0.9999);
    if (!(a > 0) || !(b > 0) || !(far > 0)) return;
    goal = v3_direction(goal);
    // The knee stays in the plane it bends in; a straight leg bends in the plane of its foot.
    vec3 across = v3_cross(thigh, shin);
    if (!(v3_length(across) > 1e-4 * a * b)) {
        vec3 front = job->sole_front[side];
        across = v3_cross(cutis_retarget_rotated(frame->turned + 9 * (size_t)leg[2], front), thigh);
        if (!(v3_length(across) > 0)) return;
    }
    // Towards the knee's side: across x (down the leg).
    vec3 bend = v3_scale(v3_cross(v3_direction(across), goal), -1);
    if (!(v3_length(bend) > 1e-6)) return;
    double along = (a * a - b * b + reach * reach) / (2 * reach);
    double out = sqrt(fmax(0, a * a - along * along));
    vec3 want = v3_mad(v3_scale(goal, along), out, v3_direction(bend));
    cutis_retarget_least(thigh, want, by);
    turn_way(job, leg[0], leg[1], by, frame);
    cutis_retarget_least(cutis_retarget_between(frame->placed, leg[1], leg[2]),
                         v3_sub(v3_scale(goal, reach), want), by);
    turn_way(job, leg[1], leg[2], by, frame);
}
