// Random poses of the rig, in which learned weights are held to the model's own: what they change
// there is what they may do to poses nobody showed. Invariant: the poses depend on the model alone.
#include <math.h>

#include <cutis/clip.h>
#include <cutis/synth.h>

#include "base/error.h"
#include "fit/poses/fit.h"
#include "math/mat3.h"

// A joint turns by at most twice the arc tangent of this, 40 degrees, about any axis.
static const double TURN = 0.363970234266202;

// A turn of a joint, w x y z: a point of the ball as the vector part, so that no sine is needed.
static cutis_quat random_turn(uint32_t pose, uint32_t joint)
{
    double v[3], square;
    uint64_t draw = 0;
    do {
        square = 0;
        for (int c = 0; c < 3; c++) {
            v[c] = 2 * cutis_random_unit(pose, joint, draw++) - 1;
            square += v[c] * v[c];
        }
    } while (square > 1);
    const double w = 1 / sqrt(1 + TURN * TURN * square);
    return (cutis_quat){ .w = (float)w,
                         .x = (float)(w * TURN * v[0]),
                         .y = (float)(w * TURN * v[1]),
                         .z = (float)(w * TURN * v[2]) };
}

cutis_result cutis_fit_random(cutis_fit_problem *p)
{
    const cutis_model_data *data = p->data;
    cutis_mat34 *world = cutis_arena_alloc(p->arena, data->node_count, sizeof *world);
    cutis_transform *pose = cutis_arena_alloc(p->arena, data->node_count, sizeof *pose);
    if (!world || !pose) return cutis_alloc_result(p->context);
    for (uint32_t s = 0; s < data->skin_count; s++) {
        const cutis_skin *skin = &data->skins[s];
        if (!p->skins[s].used) continue;
        double *to = p->skins[s].random = cutis_arena_alloc(
            p->arena, (size_t)CUTIS_FIT_RANDOM * skin->joint_count, 12 * sizeof *to);
        if (!to) return cutis_alloc_result(p->context);
        for (uint32_t k = 0; k < CUTIS_FIT_RANDOM; k++) {
            cutis_pose_rest(p->model, pose, NULL);
            for (uint32_t j = 0; j < skin->joint_count; j++) {
                cutis_quat *q = &pose[skin->joints[j]].rotation;
                *q = cutis_quat_multiply(*q, random_turn(k, j));
            }
            cutis_pose_world(p->model, pose, world);
            for (uint32_t j = 0; j < skin->joint_count; j++, to += 12) {
                double a[12], b[12];
                double34_from_floats(world[skin->joints[j]].m, a);
                double34_identity(b);
                if (skin->inverse_binds) double34_from_floats(skin->inverse_binds[j].m, b);
                double34_multiply(a, b, to);
            }
        }
    }
    return CUTIS_OK;
}
