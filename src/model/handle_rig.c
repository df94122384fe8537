// The gate of handle rigs. Invariant: after it every weight names a handle that the skin of its
// mesh has or a virtual one, every virtual handle has shares that sum to one, and every array has
// the length that the model's meshes say.
#include "model/validate.h"

#include <math.h>

/// Shares may be off by this much: they are floats that were rounded one by one.
static const double SHARE_SLACK = 1e-4;

static cutis_result check_handles(cutis_context *context, const cutis_model_data *data)
{
    const cutis_handle_rig *rig = data->handles;
    for (uint32_t h = 0; h < rig->handle_count; h++) {
        const cutis_handle *handle = &rig->handles[h];
        if (rig->nodes[h] >= data->node_count)
            FAIL("handles: handle %u is node %u, the model has %u", h, rig->nodes[h],
                 data->node_count);
        if ((unsigned)handle->kind > CUTIS_HANDLE_BAR) FAIL("handles: handle %u: no such kind", h);
        if (cutis_first_not_finite(&handle->from.x, 3) < 3 ||
            (handle->kind == CUTIS_HANDLE_BAR && cutis_first_not_finite(&handle->to.x, 3) < 3))
            FAIL("handles: the place of handle %u is not finite", h);
    }
    return CUTIS_OK;
}

static cutis_result check_virtual(cutis_context *context, const cutis_handle_rig *rig)
{
    if (rig->virtual_count == 0) return CUTIS_OK;
    if (!rig->virtual_places || !rig->share_first || !rig->share_handles || !rig->shares)
        FAIL("handles: virtual handles without places or shares");
    if (cutis_first_not_finite(&rig->virtual_places[0].x, 3 * (size_t)rig->virtual_count) <
        3 * (size_t)rig->virtual_count)
        FAIL("handles: the place of a virtual handle is not finite");
    if (rig->share_first[0] != 0) FAIL("handles: the shares do not start at 0");
    for (uint32_t v = 0; v < rig->virtual_count; v++) {
        double sum = 0;
        if (rig->share_first[v + 1] < rig->share_first[v] ||
            rig->share_first[v + 1] - rig->share_first[v] > rig->handle_count)
            FAIL("handles: the shares of virtual handle %u are out of order", v);
        for (uint32_t i = rig->share_first[v]; i < rig->share_first[v + 1]; i++) {
            if (rig->share_handles[i] >= rig->handle_count)
                FAIL("handles: virtual handle %u has a share of handle %u, there are %u", v,
                     rig->share_handles[i], rig->handle_count);
            if (!(rig->shares[i] >= 0 && rig->shares[i] <= 1.0f + (float)SHARE_SLACK))
                FAIL("handles: a share of virtual handle %u is not between 0 and 1", v);
            sum += rig->shares[i];
        }
        if (!(fabs(sum - 1) <= SHARE_SLACK))
            FAIL("handles: the shares of virtual handle %u sum to %g", v, sum);
    }
    return CUTIS_OK;
}

static cutis_result check_weights(cutis_context *context, const cutis_handle_rig *rig, uint32_t p,
                                  uint32_t first_handle, uint32_t *real_end)
{
    const cutis_handle_weights *weights = &rig->weights[p];
    const cutis_influences *in = &weights->influences;
    const uint32_t all = rig->handle_count + rig->virtual_count;
    if (!in->first) return CUTIS_OK;
    if (in->first[0] != 0) FAIL("handles: the weights of primitive %u do not start at 0", p);
    for (uint32_t v = 0; v < weights->vertex_count; v++)
        if (in->first[v + 1] < in->first[v] || in->first[v + 1] - in->first[v] > all)
            FAIL("handles: the weights of vertex %u of primitive %u are out of order", v, p);
    const uint32_t count = in->first[weights->vertex_count];
    if (count && (!in->joints || !in->weights)) FAIL("handles: primitive %u has no weights", p);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t handle = in->joints[i];
        if (handle >= all || handle < first_handle)
            FAIL("handles: primitive %u has weight on handle %u, it may have %u to %u", p, handle,
                 first_handle, all);
        if (!(in->weights[i] >= 0 && isfinite(in->weights[i])))
            FAIL("handles: a weight of primitive %u is negative or not finite", p);
        if (handle < rig->handle_count && handle >= *real_end) *real_end = handle + 1;
    }
    return CUTIS_OK;
}

// The skins a mesh is shown with have a joint for every handle it has weight on, which are those
// below real_ends[mesh].
static cutis_result check_skins(cutis_context *context, const cutis_model_data *data,
                                const uint32_t *real_ends)
{
    for (uint32_t n = 0; n < data->node_count; n++) {
        const cutis_node *node = &data->nodes[n];
        const int32_t held =
            node->mesh == CUTIS_NONE ? CUTIS_NONE : data->handles->first_handles[node->mesh];
        if (held == CUTIS_NONE || node->skin == CUTIS_NONE) continue;
        const uint32_t joints = data->skins[node->skin].joint_count, first = (uint32_t)held;
        const uint32_t real_end = real_ends[node->mesh];
        if (joints > data->handles->handle_count - first || real_end > first + joints)
            FAIL("handles: mesh %d is held by handles %u to %u, skin %d has %u joints", node->mesh,
                 first, real_end, node->skin, joints);
    }
    return CUTIS_OK;
}

/// @param real_ends per mesh: one past the last handle (no virtual one) it has weight on
static cutis_result check_meshes(cutis_context *context, const cutis_model_data *data,
                                 uint32_t *real_ends)
{
    const cutis_handle_rig *rig = data->handles;
    uint32_t primitive = 0;
    for (uint32_t m = 0; m < data->mesh_count; m++) {
        const int32_t held = rig->first_handles[m];
        const uint32_t first = held == CUTIS_NONE ? rig->handle_count : (uint32_t)held;
        real_ends[m] = 0;
        if (held < CUTIS_NONE || (held >= 0 && (uint32_t)held >= rig->handle_count))
            FAIL("handles: mesh %u begins at handle %d, there are %u", m, held, rig->handle_count);
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++, primitive++) {
            if (primitive >= rig->primitive_count || !rig->weights) continue;
            if (rig->weights[primitive].influences.first &&
                (held == CUTIS_NONE || rig->weights[primitive].vertex_count !=
                                           data->meshes[m].primitives[p].vertex_count))
                FAIL("handles: primitive %u has weights of other vertices", primitive);
            TRY(check_weights(context, rig, primitive, first, &real_ends[m]));
        }
    }
    if (primitive != rig->primitive_count)
        FAIL("handles: %u primitives, the model has %u", rig->primitive_count, primitive);
    return check_skins(context, data, real_ends);
}

cutis_result cutis_validate_handles(cutis_context *context, const cutis_model_data *data)
{
    const cutis_handle_rig *rig = data->handles;
    if (!rig) return CUTIS_OK;
    if (rig->handle_count == 0 || !rig->handles || !rig->nodes)
        FAIL("handles: none, or without places or nodes");
    if (rig->handle_count > CUTIS_HANDLE_RIG_MAX || rig->virtual_count > CUTIS_HANDLE_RIG_MAX)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "handles: %u and %u virtual, %u at most",
                          rig->handle_count, rig->virtual_count, CUTIS_HANDLE_RIG_MAX);
    if (rig->mesh_count != data->mesh_count || (rig->mesh_count && !rig->first_handles))
        FAIL("handles: of %u meshes, the model has %u", rig->mesh_count, data->mesh_count);
    cutis_result result = check_handles(context, data);
    if (result == CUTIS_OK) result = check_virtual(context, rig);
    if (result != CUTIS_OK) return result;
    uint32_t *real_ends = cutis_alloc_array(context, data->mesh_count, sizeof *real_ends);
    result = real_ends ? check_meshes(context, data, real_ends) : cutis_alloc_result(context);
    if (real_ends) cutis_free_array(context, real_ends, data->mesh_count, sizeof *real_ends);
    return result;
}
