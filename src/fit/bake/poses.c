// Random poses to learn drivers from: every joint for itself, within what some poses show of it.
// Invariant: they depend on model, poses and seed alone (the counter hash of seed, pose and joint).
#include <cutis/bake.h>
#include <cutis/clip.h>
#include <cutis/synth.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fit/reduce/poses.h"
#include "math/elementary.h"
#include "math/quat.h"
#include "model/validate.h"

// Draws that leave an axis alone, to one that does not: joints often turn about one axis only, and
// what is learned must hold there too.
static const double STILL = 0.5;

// The box of a joint's rotation vectors from rest: least, greatest.
static void find_range(cutis_quat at_rest, const cutis_transform *poses, size_t nodes,
                       uint32_t count, double *box)
{
    const double rest[4] = { at_rest.w, -(double)at_rest.x, -(double)at_rest.y,
                             -(double)at_rest.z };
    for (int c = 0; c < 6; c++) box[c] = 0;
    for (uint32_t f = 0; f < count; f++) {
        const cutis_quat b = poses[f * nodes].rotation;
        double q[4] = { b.w, b.x, b.y, b.z }, r[3];
        double_quat_multiply(rest, q, q);
        const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if (!(square > 0)) continue;
        for (int c = 0; c < 4; c++) q[c] /= sqrt(square);
        cutis_quat_log(q, r);
        for (int c = 0; c < 3; c++) {
            box[c] = fmin(box[c], r[c]);
            box[3 + c] = fmax(box[3 + c], r[c]);
        }
    }
}

// Where a swing from one end to the other is at an even moment: mostly near the ends.
static double swing(double moment)
{
    return 0.5 * (1 - fixed_cos(3.141592653589793 * moment));
}

static cutis_quat random_turn(cutis_quat rest, const double *box, bool swings, uint64_t seed,
                              uint64_t pose, uint64_t node)
{
    double r[3], q[4];
    for (uint64_t c = 0; c < 3; c++) {
        const double draw = cutis_random_unit(seed, pose, 3 * node + c) * (1 + STILL) - STILL;
        const double share = swings && draw > 0 ? swing(draw) : draw;
        r[c] = draw < 0 ? 0 : box[c] + (box[3 + c] - box[c]) * share;
    }
    cutis_quat_exp(r, q);
    const cutis_quat turn = { (float)q[1], (float)q[2], (float)q[3], (float)q[0] };
    return cutis_quat_multiply(rest, turn);
}

static cutis_result make_poses(const cutis_model *model, const cutis_transform *poses,
                               uint32_t pose_count, bool swings, uint64_t seed, uint32_t count,
                               cutis_transform *out)
{
    if (!model || !poses || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    const cutis_model_data *data = cutis_model_get(model);
    const size_t nodes = data->node_count, floats = 10 * nodes * pose_count;
    if (cutis_first_not_finite(&poses->translation.x, floats) < floats)
        return INVALID(context, "bake: a pose holds a value that is not finite");
    cutis_arena arena = { .context = context };
    cutis_reduce_frames joints = { 0 };
    if (!cutis_reduce_list_joints(model, &arena, &joints)) {
        cutis_arena_release(&arena);
        return cutis_alloc_result(context);
    }
    for (uint32_t i = 0; i < count; i++) cutis_pose_rest(model, out + i * nodes, NULL);
    for (uint32_t j = 0; j < joints.joint_count; j++) {
        const uint32_t node = joints.joints[j];
        const cutis_quat rest = data->nodes[node].rest.rotation;
        double box[6];
        // The root turns the whole body, which is no change of pose.
        if (joints.above[j] < 0 || data->nodes[node].matrix) continue;
        bool driven = false; // others move it
        for (uint32_t d = 0; data->drivers && d < data->drivers->driver_count; d++)
            driven |= data->drivers->drivers[d].node == node;
        if (driven) continue;
        find_range(rest, poses + node, nodes, pose_count, box);
        for (uint32_t i = 0; i < count; i++)
            out[i * nodes + node].rotation = random_turn(rest, box, swings && i % 2, seed, i, node);
    }
    cutis_arena_release(&arena);
    return CUTIS_OK;
}

cutis_result cutis_bake_poses(const cutis_model *model, const cutis_transform *poses,
                              uint32_t pose_count, uint64_t seed, uint32_t count,
                              cutis_transform *out)
{
    return make_poses(model, poses, pose_count, false, seed, count, out);
}

cutis_result cutis_bake_swings(const cutis_model *model, const cutis_transform *poses,
                               uint32_t pose_count, uint64_t seed, uint32_t count,
                               cutis_transform *out)
{
    return make_poses(model, poses, pose_count, true, seed, count, out);
}
