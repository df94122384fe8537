/// The arm's example shapes: linear blend skinning of the arm with a muscle that swells by the sine
/// of each joint's angle where the joint has weight. What a pose-space fit is trained on, with a
/// known truth.
#include <cutis/synth.h>

#include "base/error.h"
#include "synth/body.h"

/// Metres at sin = 1, weight 1, on a skin facing front: a fifth of the arm's radius.
static const double SWELL = 0.009;

typedef struct joint_frame {
    synth_quat rotation;
    vec3 origin; ///< metres, posed
    double sine; ///< of the joint's own angle
} joint_frame;

static void pose_frames(const synth_skeleton *skeleton, const clip_pose *pose, joint_frame *frames)
{
    for (int j = 0; j < skeleton->joint_count; j++) {
        synth_quat q = pose->rotations[j];
        int parent = skeleton->joints[j].parent;
        // sin of the full angle from the half one: 2 sin cos.
        frames[j].sine = 2 * q.w * sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
        vec3 pivot = v3_scale(skeleton->joints[j].pivot, 1e-3);
        frames[j].rotation = q;
        frames[j].origin = pivot;
        if (parent < 0) continue;
        vec3 bone = v3_sub(pivot, v3_scale(skeleton->joints[parent].pivot, 1e-3));
        frames[j].rotation = cutis_synth_quat_multiply(frames[parent].rotation, q);
        frames[j].origin =
            v3_add(frames[parent].origin, cutis_synth_quat_rotate(frames[parent].rotation, bone));
    }
}

static void write_shape(const synth_skeleton *skeleton, const cutis_primitive *p,
                        const joint_frame *frames, float *out)
{
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        vec3 x = v3_at(p->positions, v), n = v3_at(p->normals, v), sum = v3(0, 0, 0);
        double swell = 0;
        for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++)
            swell += frames[p->influences.joints[i]].sine * p->influences.weights[i];
        if (n.z > 0) x = v3_mad(x, SWELL * swell * n.z, n);
        for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++) {
            const joint_frame *frame = &frames[p->influences.joints[i]];
            vec3 pivot = v3_scale(skeleton->joints[p->influences.joints[i]].pivot, 1e-3);
            vec3 moved =
                v3_add(frame->origin, cutis_synth_quat_rotate(frame->rotation, v3_sub(x, pivot)));
            sum = v3_mad(sum, p->influences.weights[i], moved);
        }
        v3_put_floats(sum, out + 3 * (size_t)v);
    }
}

cutis_result cutis_synth_arm_examples(const cutis_model *arm, float *positions)
{
    if (!arm || !positions) return CUTIS_INVALID_ARGUMENT;
    const cutis_model_data *data = cutis_model_get(arm);
    cutis_context *context = cutis_model_context(arm);
    synth_skeleton skeleton;
    TRY(cutis_synth_skeleton_init(&skeleton, context, &cutis_synth_arm));
    bool ours = data->mesh_count == 1 && data->meshes[0].primitive_count == 1 &&
                data->meshes[0].primitives[0].normals && data->skin_count == 1 &&
                data->skins[0].joint_count == (uint32_t)skeleton.joint_count &&
                data->meshes[0].primitives[0].influences.first;
    if (!ours) return INVALID(context, "examples: the model is not an arm of cutis_synth_create");
    const cutis_primitive *primitive = data->meshes[0].primitives;
    for (int k = 0; k < CUTIS_ARM_EXAMPLE_COUNT; k++) {
        joint_frame frames[SYNTH_JOINT_MAX];
        clip_pose pose;
        cutis_synth_pose_clear(&pose);
        cutis_synth_arm_examples_clip.function(&skeleton, k / (double)(CUTIS_ARM_EXAMPLE_COUNT - 1),
                                               &pose);
        pose_frames(&skeleton, &pose, frames);
        write_shape(&skeleton, primitive, frames,
                    positions + 3 * (size_t)k * primitive->vertex_count);
    }
    return CUTIS_OK;
}
