/// Virtual handles as bones. A virtual handle moves by the normalised blend of the dual quaternions
/// of its real handles, times the blend of their stretches: the same for any common motion before
/// or after, so a rig that moves as one moves rigidly. Invariant: what a virtual bone gets depends
/// on the palette alone.

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "deform/skin.h"
#include "math/mat3.h"
#include "math/quat.h"

static bool rigid_handles(const cutis_skin_binding *binding)
{
    return binding->base.options.method == CUTIS_METHOD_HANDLES_RIGID;
}

cutis_result cutis_bind_handles_check(cutis_context *context, const cutis_model *model,
                                      const cutis_bind_options *options)
{
    const cutis_handle_rig *rig = cutis_model_get(model)->handles;
    if (options->method != CUTIS_METHOD_HANDLES_RIGID) return CUTIS_OK;
    if (!rig || rig->virtual_count == 0 || !rig->weights)
        return cutis_fail(context, CUTIS_UNSUPPORTED,
                          "bind: handles-rigid needs a model with virtual handles (cutis handles "
                          "--weighting virtual)");
    if (options->max_influences)
        return cutis_fail(context, CUTIS_UNSUPPORTED,
                          "bind: handles-rigid has its own weights and keeps all of them");
    return CUTIS_OK;
}

// The first handle of a skin: what the meshes shown with it say. CUTIS_NONE: not held.
static int32_t first_handle(const cutis_skin_binding *binding, int32_t skin, bool *agree)
{
    const cutis_handle_rig *rig = cutis_model_get(binding->base.model)->handles;
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(binding->base.model, &instances);
    int32_t found = CUTIS_NONE;
    *agree = true;
    for (uint32_t i = 0; i < count; i++) {
        if (instances[i].skin != skin) continue;
        int32_t held = rig->first_handles[instances[i].mesh];
        if (held == CUTIS_NONE) continue;
        if (found != CUTIS_NONE && found != held) *agree = false;
        found = held;
    }
    return found;
}

uint32_t cutis_handle_bone_count(const cutis_skin_binding *binding, int32_t skin)
{
    bool agree;
    if (!rigid_handles(binding) || first_handle(binding, skin, &agree) == CUTIS_NONE) return 0;
    return cutis_model_get(binding->base.model)->handles->virtual_count;
}

cutis_result cutis_bind_handles(cutis_skin_binding *binding, const uint32_t *skin_bone)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    if (!rigid_handles(binding)) return CUTIS_OK;
    binding->handle_skins =
        cutis_binding_alloc(&binding->base, data->skin_count, sizeof *binding->handle_skins);
    if (!binding->handle_skins) return cutis_alloc_result(binding->base.context);
    for (uint32_t s = 0; s < data->skin_count; s++) {
        bool agree;
        if (skin_bone[s] == UINT32_MAX) continue;
        int32_t first = first_handle(binding, (int32_t)s, &agree);
        if (!agree)
            return cutis_fail(binding->base.context, CUTIS_UNSUPPORTED,
                              "bind: the meshes of skin %u begin at different handles", s);
        if (first == CUTIS_NONE) continue;
        binding->handle_skins[binding->handle_skin_count++] =
            (cutis_handle_skin){ skin_bone[s], data->skins[s].joint_count, (uint32_t)first };
    }
    return CUTIS_OK;
}

const cutis_influences *cutis_bound_influences(const cutis_skin_binding *binding, uint32_t mesh,
                                               uint32_t primitive)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    const cutis_influences *own = &data->meshes[mesh].primitives[primitive].influences;
    if (!rigid_handles(binding)) return own;
    for (uint32_t m = 0; m < mesh; m++) primitive += data->meshes[m].primitive_count;
    const cutis_influences *held = &data->handles->weights[primitive].influences;
    return held->first ? held : own;
}

cutis_bone_numbers cutis_bound_bones(const cutis_skin_binding *binding,
                                     const cutis_influences *influences, uint32_t mesh,
                                     int32_t skin, uint32_t skin_bone)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    const cutis_handle_rig *rig = data->handles;
    // Plain weights, also of a primitive that no handle holds, name joints.
    if (!rigid_handles(binding) || influences < &rig->weights[0].influences ||
        influences > &rig->weights[rig->primitive_count - 1].influences)
        return (cutis_bone_numbers){ UINT32_MAX, skin_bone, skin_bone };
    return (cutis_bone_numbers){ rig->handle_count, skin_bone - (uint32_t)rig->first_handles[mesh],
                                 skin_bone + data->skins[skin].joint_count - rig->handle_count };
}

// q, 0.5 (0, t) q and the stretch of a bone's matrix [R S | t]; one without a rotation does not
// turn.
static void split_bone(const double *matrix, double *out)
{
    static const double NO_TURN[4] = { 1, 0, 0, 0 };
    double stretch[6], *q = out, *dual = out + 4;
    const double x = 0.5 * matrix[3], y = 0.5 * matrix[7], z = 0.5 * matrix[11];
    cutis_bone_split(matrix, NO_TURN, q, stretch);
    dual[0] = -(x * q[1] + y * q[2] + z * q[3]);
    dual[1] = x * q[0] + y * q[3] - z * q[2];
    dual[2] = y * q[0] + z * q[1] - x * q[3];
    dual[3] = z * q[0] + x * q[2] - y * q[1];
    memcpy(out + 8, stretch, sizeof stretch);
}

// A unit dual quaternion and a stretch as a matrix.
static void join_bone(const double *parts, double *matrix)
{
    const double *q = parts, *d = parts + 4, *s = parts + 8;
    const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    const double stretch[9] = { s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5] };
    double rotation[9], linear[9];
    cutis_mat3_from_quat(q, rotation);
    double33_multiply(rotation, stretch, linear);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) matrix[4 * r + c] = linear[3 * r + c];
    const double scale = square > 0 ? 2 / square : 0;
    matrix[3] = scale * (d[1] * q[0] - d[0] * q[1] + d[3] * q[2] - d[2] * q[3]);
    matrix[7] = scale * (d[2] * q[0] - d[0] * q[2] + d[1] * q[3] - d[3] * q[1]);
    matrix[11] = scale * (d[3] * q[0] - d[0] * q[3] + d[2] * q[1] - d[1] * q[2]);
}

void cutis_handles_palette(const cutis_skin_binding *binding, double *palette, double *scratch)
{
    for (uint32_t k = 0; k < binding->handle_skin_count; k++) {
        const cutis_handle_skin *skin = &binding->handle_skins[k];
        const cutis_handle_rig *rig = cutis_model_get(binding->base.model)->handles;
        for (uint32_t j = 0; j < skin->joint_count; j++)
            split_bone(palette + 12 * (size_t)(skin->first_bone + j),
                       scratch + CUTIS_HANDLE_SCRATCH * (size_t)j);
        for (uint32_t v = 0; v < rig->virtual_count; v++) {
            double sum[CUTIS_HANDLE_SCRATCH] = { 0 }, pivot[4] = { 0 };
            double *out = palette + 12 * (size_t)(skin->first_bone + skin->joint_count + v);
            bool any = false;
            for (uint32_t e = rig->share_first[v]; e < rig->share_first[v + 1]; e++) {
                const uint32_t joint = rig->share_handles[e] - skin->first_handle;
                if (joint >= skin->joint_count) continue; // another skin's handle
                const double *part = scratch + CUTIS_HANDLE_SCRATCH * (size_t)joint;
                double share = rig->shares[e], turn = share;
                if (!any) memcpy(pivot, part, sizeof pivot);
                any = true;
                if (pivot[0] * part[0] + pivot[1] * part[1] + pivot[2] * part[2] +
                        pivot[3] * part[3] <
                    0)
                    turn = -share;
                for (int i = 0; i < 8; i++) sum[i] += turn * part[i];
                for (int i = 8; i < CUTIS_HANDLE_SCRATCH; i++) sum[i] += share * part[i];
            }
            if (any)
                join_bone(sum, out);
            else
                double34_identity(out);
        }
    }
}
