/// The bones of a binding: joints of every skin in use, then the nodes that carry what is not
/// skinned, in the order the instances ask for them; and the way from a pose to each. Invariant: a
/// step's parent comes before it.
#include "base/error.h"
#include "base/memory.h"
#include "deform/skin.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/svd3.h"
#include "model/drivers.h"

static const uint32_t NO_BONE = UINT32_MAX;

/// Some primitive of the mesh has no influences, so it moves with the instance's node.
static bool has_plain_primitive(const cutis_mesh *mesh, int32_t skin)
{
    if (skin == CUTIS_NONE) return true;
    for (uint32_t p = 0; p < mesh->primitive_count; p++)
        if (!mesh->primitives[p].influences.first) return true;
    return false;
}

/// Give numbers to bones: skin_bone[skin] is the first joint's, node_bone[node] the node's.
static uint64_t number_bones(const cutis_skin_binding *binding, uint32_t *skin_bone,
                             uint32_t *node_bone)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    const cutis_instance *instances;
    uint32_t instance_count = cutis_model_instances(binding->base.model, &instances);
    uint64_t count = 0;
    for (uint32_t s = 0; s < data->skin_count; s++) skin_bone[s] = NO_BONE;
    for (uint32_t n = 0; n < data->node_count; n++) node_bone[n] = NO_BONE;
    for (uint32_t i = 0; i < instance_count; i++) {
        const cutis_instance *instance = &instances[i];
        if (instance->skin != CUTIS_NONE && skin_bone[instance->skin] == NO_BONE) {
            skin_bone[instance->skin] = (uint32_t)count;
            count += data->skins[instance->skin].joint_count;
            count += cutis_handle_bone_count(binding, instance->skin);
        }
        if (has_plain_primitive(&data->meshes[instance->mesh], instance->skin) &&
            node_bone[instance->node] == NO_BONE)
            node_bone[instance->node] = (uint32_t)count++;
    }
    return count;
}

static void set_identity_bone(cutis_skin_binding *binding, uint32_t bone, uint32_t node)
{
    binding->bone_node[bone] = node;
    binding->bone_plain[bone] = 1;
    binding->bone_parent[bone] = -1;
    double34_identity(binding->inverse_binds + 12 * (size_t)bone);
    binding->bind_rotations[4 * (size_t)bone] = 1.0;
}

/// Inverse bind, its rotation, and the rest origin: the point that the inverse bind takes to 0.
static void set_inverse_bind(cutis_skin_binding *binding, uint32_t bone, const cutis_mat34 *matrix)
{
    double *inverse_bind = binding->inverse_binds + 12 * (size_t)bone;
    double linear[9], cofactor[9], rotation[9], *origin = binding->origins + 3 * (size_t)bone;
    double34_from_floats(matrix->m, inverse_bind);
    double identity[12];
    double34_identity(identity);
    binding->bone_plain[bone] = memcmp(identity, inverse_bind, sizeof identity) == 0;
    double34_linear(inverse_bind, linear);
    if (cutis_polar3(linear, rotation))
        cutis_quat_from_mat3(rotation, binding->bind_rotations + 4 * (size_t)bone);
    double33_cofactor(linear, cofactor);
    double determinant = double3_dot(linear, cofactor);
    for (int c = 0; c < 3 && determinant != 0.0; c++) // inverse = cofactor^T / det
        origin[c] = -(cofactor[c] * inverse_bind[3] + cofactor[3 + c] * inverse_bind[7] +
                      cofactor[6 + c] * inverse_bind[11]) /
                    determinant;
}

/// The nearest joint of the same skin above each joint. `joint_of` is scratch: joint + 1 of each
/// node.
static void set_parents(cutis_skin_binding *binding, const cutis_skin *skin, uint32_t first,
                        uint32_t *joint_of)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    for (uint32_t j = 0; j < skin->joint_count; j++) joint_of[skin->joints[j]] = j + 1;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        int32_t node = data->nodes[skin->joints[j]].parent;
        while (node != CUTIS_NONE && !joint_of[node]) node = data->nodes[node].parent;
        binding->bone_parent[first + j] =
            node == CUTIS_NONE ? -1 : (int32_t)(first + joint_of[node] - 1);
    }
    for (uint32_t j = 0; j < skin->joint_count; j++) joint_of[skin->joints[j]] = 0;
}

static void fill_bones(cutis_skin_binding *binding, const uint32_t *skin_bone,
                       const uint32_t *node_bone, uint32_t *joint_of)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    for (uint32_t n = 0; n < data->node_count; n++)
        if (node_bone[n] != NO_BONE) set_identity_bone(binding, node_bone[n], n);
    for (uint32_t s = 0; s < data->skin_count; s++) {
        const cutis_skin *skin = &data->skins[s];
        if (skin_bone[s] == NO_BONE) continue;
        for (uint32_t j = 0; j < skin->joint_count; j++) {
            set_identity_bone(binding, skin_bone[s] + j, skin->joints[j]);
            if (skin->inverse_binds)
                set_inverse_bind(binding, skin_bone[s] + j, &skin->inverse_binds[j]);
        }
        // Virtual handles use the first joint's node until their palettes are filled in.
        const uint32_t end = skin_bone[s] + skin->joint_count;
        for (uint32_t v = 0; v < cutis_handle_bone_count(binding, (int32_t)s); v++)
            set_identity_bone(binding, end + v, skin->joints[0]);
        set_parents(binding, skin, skin_bone[s], joint_of);
    }
}

/// Steps: every node that is a bone's or above one, in node order.
static cutis_result make_steps(cutis_skin_binding *binding, uint32_t *step_of)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    const uint32_t wanted = UINT32_MAX;
    uint32_t count = 0, fixed_count = 0;
    memset(step_of, 0, data->node_count * sizeof *step_of);
    for (uint32_t b = 0; b < binding->bone_count; b++)
        for (int32_t n = (int32_t)binding->bone_node[b]; n != CUTIS_NONE && !step_of[n];
             n = data->nodes[n].parent)
            step_of[n] = wanted;
    for (uint32_t n = 0; n < data->node_count; n++) {
        if (!step_of[n]) continue;
        count++;
        if (data->nodes[n].matrix) fixed_count++;
    }
    double *fixed = cutis_binding_alloc(&binding->base, fixed_count, 12 * sizeof *fixed);
    binding->step_node = cutis_binding_alloc(&binding->base, count, sizeof *binding->step_node);
    binding->step_parent = cutis_binding_alloc(&binding->base, count, sizeof *binding->step_parent);
    binding->step_matrix = cutis_binding_alloc(&binding->base, count, sizeof *binding->step_matrix);
    if (!fixed || !binding->step_node || !binding->step_parent || !binding->step_matrix)
        return cutis_alloc_result(binding->base.context);
    for (uint32_t n = 0; n < data->node_count; n++) {
        if (!step_of[n]) continue;
        uint32_t step = binding->step_count++;
        int32_t parent = data->nodes[n].parent;
        step_of[n] = step;
        binding->step_node[step] = n;
        binding->step_parent[step] = parent == CUTIS_NONE ? -1 : (int32_t)step_of[parent];
        if (!data->nodes[n].matrix) continue;
        double34_from_floats(data->nodes[n].matrix->m, fixed);
        binding->step_matrix[step] = fixed;
        fixed += 12;
    }
    for (uint32_t b = 0; b < binding->bone_count; b++)
        binding->bone_step[b] = step_of[binding->bone_node[b]];
    return CUTIS_OK;
}

/// Which steps are driven, unless the options have none of it.
static cutis_result find_drivers(cutis_skin_binding *binding, const uint32_t *step_of)
{
    const cutis_model *model = binding->base.model;
    const uint32_t groups = cutis_drive_groups(model);
    if (binding->base.options.drive == CUTIS_DRIVE_NONE) return CUTIS_OK;
    binding->drives_weights = model->drive_weights != NULL;
    if (groups == 0) return CUTIS_OK;
    binding->step_driver =
        cutis_binding_alloc(&binding->base, binding->step_count, sizeof *binding->step_driver);
    binding->driver_step = cutis_binding_alloc(&binding->base, (size_t)groups * CUTIS_DRIVE_GROUP,
                                               sizeof *binding->driver_step);
    if (!binding->step_driver || !binding->driver_step)
        return cutis_alloc_result(binding->base.context);
    for (uint32_t k = 0; k < binding->step_count; k++) binding->step_driver[k] = -1;
    for (uint32_t g = 0; g < groups; g++) {
        const uint32_t *nodes, count = cutis_drive_nodes(model, g, &nodes);
        for (uint32_t l = 0; l < count; l++) {
            const uint32_t step = step_of[nodes[l]], place = g * CUTIS_DRIVE_GROUP + l;
            const bool there = step < binding->step_count && binding->step_node[step] == nodes[l];
            binding->driver_step[place] = there ? (int32_t)step : -1;
            if (there) binding->step_driver[step] = (int32_t)place;
        }
    }
    return CUTIS_OK;
}

static bool alloc_bones(cutis_skin_binding *binding, uint32_t count)
{
    binding->bone_count = count;
    binding->bone_node = cutis_binding_alloc(&binding->base, count, sizeof *binding->bone_node);
    binding->bone_step = cutis_binding_alloc(&binding->base, count, sizeof *binding->bone_step);
    binding->bone_parent = cutis_binding_alloc(&binding->base, count, sizeof *binding->bone_parent);
    binding->bone_used = cutis_binding_alloc(&binding->base, count, sizeof *binding->bone_used);
    binding->bone_plain = cutis_binding_alloc(&binding->base, count, sizeof *binding->bone_plain);
    binding->inverse_binds =
        cutis_binding_alloc(&binding->base, count, 12 * sizeof *binding->inverse_binds);
    binding->bind_rotations =
        cutis_binding_alloc(&binding->base, count, 4 * sizeof *binding->bind_rotations);
    binding->origins = cutis_binding_alloc(&binding->base, count, 3 * sizeof *binding->origins);
    return binding->bone_node && binding->bone_step && binding->bone_parent && binding->bone_used &&
           binding->bone_plain && binding->inverse_binds && binding->bind_rotations &&
           binding->origins;
}

cutis_result cutis_bind_bones(cutis_skin_binding *binding, cutis_arena *arena, uint32_t *skin_bone,
                              uint32_t *node_bone)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    binding->node_count = data->node_count;
    uint64_t count = number_bones(binding, skin_bone, node_bone);
    if (count > INT32_MAX / 12)
        return cutis_fail(binding->base.context, CUTIS_LIMIT_EXCEEDED,
                          "bind: %llu bones are too many", (unsigned long long)count);
    uint32_t *scratch = cutis_arena_zero(arena, data->node_count, sizeof *scratch);
    if (!scratch || !alloc_bones(binding, (uint32_t)count))
        return cutis_alloc_result(binding->base.context);
    fill_bones(binding, skin_bone, node_bone, scratch);
    TRY(make_steps(binding, scratch));
    return find_drivers(binding, scratch);
}
