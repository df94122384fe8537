// Twist joints of a target: what hangs from an upper arm, a forearm or a thigh and is called so.
// They follow no joint of the motion; they take half of what their bone is twisted by. Invariant: a
// twist joint turns about its bone alone.
#include "skeleton/retarget.h"

#include <ctype.h>
#include <math.h>

#include "base/error.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/elementary.h"

static bool is_twist(const char *name)
{
    static const char WORD[] = "twist";
    for (; name && *name; name++) {
        size_t k = 0;
        while (WORD[k] && tolower((unsigned char)name[k]) == WORD[k]) k++;
        if (!WORD[k]) return true;
    }
    return false;
}

// The limb's place of a joint, and the limb; -1 where it is no upper bone or forearm.
static int place_in_limb(const retarget_job *job, int32_t bone, const retarget_limb **limb)
{
    for (int side = 0; side < 2; side++) {
        if (job->arm[side].target[0] == bone || job->arm[side].target[1] == bone) {
            *limb = &job->arm[side];
            return job->arm[side].target[1] == bone;
        }
        *limb = &job->leg[side];
        if (job->leg[side].target[0] == bone) return 0;
    }
    return -1;
}

cutis_result cutis_retarget_twists(retarget_job *job)
{
    const cutis_node *nodes = job->target.data->nodes;
    job->twists = cutis_arena_alloc(job->arena, job->target.count, sizeof *job->twists);
    job->twist_count = 0;
    if (!job->twists) return cutis_alloc_result(job->context);
    for (uint32_t n = 0; n < job->target.count; n++) {
        const retarget_limb *limb = NULL;
        const int32_t bone = nodes[n].parent;
        if (bone == CUTIS_NONE || job->map[n] != CUTIS_NONE || job->carrier[n] != CUTIS_NONE ||
            !is_twist(nodes[n].name))
            continue;
        const int k = place_in_limb(job, bone, &limb);
        if (k < 0 || limb->target[k + 1] == CUTIS_NONE) continue;
        const vec3 way = cutis_retarget_between(job->target.place, bone, limb->target[k + 1]);
        const int32_t other = k == 0 ? nodes[bone].parent : limb->target[2];
        if (!(v3_length(way) > 0) || other == CUTIS_NONE) continue;
        job->twists[job->twist_count++] = (retarget_twist){ .node = (int32_t)n,
                                                            .bone = bone,
                                                            .other = other,
                                                            .near = k == 0,
                                                            .axis = v3_direction(way) };
    }
    return CUTIS_OK;
}

// The angle about an axis of a rotation that is a twist about it, then a swing.
static double twist_of(const double *rotation, vec3 axis)
{
    double q[4];
    cutis_quat_from_mat3(rotation, q);
    double angle = 2 * fixed_atan2(v3_dot(v3(q[1], q[2], q[3]), axis), q[0]);
    return angle > M_PI ? angle - 2 * M_PI : angle < -M_PI ? angle + 2 * M_PI : angle;
}

void cutis_retarget_twist(const retarget_job *job, retarget_frame *frame)
{
    for (uint32_t i = 0; i < job->twist_count; i++) {
        const retarget_twist *t = &job->twists[i];
        const double *bone = frame->turned + 9 * (size_t)t->bone;
        const double *other = frame->turned + 9 * (size_t)t->other;
        double between[9], turn[9];
        if (t->near)
            double33_transpose_multiply(other, bone, between);
        else
            double33_transpose_multiply(bone, other, between);
        const double half = twist_of(between, t->axis) * (t->near ? -0.5 : 0.5);
        const double s = fixed_sin(half / 2);
        const double q[4] = { fixed_cos(half / 2), s * t->axis.x, s * t->axis.y, s * t->axis.z };
        cutis_mat3_from_quat(q, turn);
        double33_multiply(bone, turn, frame->turned + 9 * (size_t)t->node);
    }
}
