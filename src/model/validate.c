// The gate's first half: the shape of the caller's data. Reads counts, object indices and
// `influences.first`, never an array before its length is known to fit the context's limits. After
// it, every array's length follows from checked counts, every object an index names exists, and
// parents stand before their children no deeper than the limit.
#include "model/validate.h"

#include "base/error.h"
#include "model/pose_space.h"

uint64_t cutis_mesh_vertex_total(const cutis_mesh *mesh)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < mesh->primitive_count; i++) total += mesh->primitives[i].vertex_count;
    return total;
}

uint32_t cutis_channel_width(const cutis_model_data *data, const cutis_channel *channel)
{
    if (channel->path == CUTIS_PATH_ROTATION) return 4;
    if (channel->path != CUTIS_PATH_WEIGHTS) return 3;
    int32_t mesh = data->nodes[channel->node].mesh;
    return mesh == CUTIS_NONE ? 0 : data->meshes[mesh].target_count;
}

static bool in_range(int32_t index, uint32_t count)
{
    return index == CUTIS_NONE || (index >= 0 && (uint32_t)index < count);
}

static cutis_result check_influences(cutis_context *context, const cutis_primitive *primitive,
                                     uint32_t m, uint32_t p)
{
    const cutis_influences *i = &primitive->influences;
    if (!i->first) {
        if (i->joints || i->weights)
            FAIL("meshes/%u/primitives/%u: influences without `first`", m, p);
        return CUTIS_OK;
    }
    if (i->first[0] != 0)
        FAIL("meshes/%u/primitives/%u: the first influence is %u, not 0", m, p, i->first[0]);
    for (uint32_t v = 0; v < primitive->vertex_count; v++)
        if (i->first[v + 1] < i->first[v])
            FAIL("meshes/%u/primitives/%u: influences of vertex %u run from %u to %u", m, p, v,
                 i->first[v], i->first[v + 1]);
    if (i->first[primitive->vertex_count] > 0 && (!i->joints || !i->weights))
        FAIL("meshes/%u/primitives/%u: influences without joints or weights", m, p);
    return CUTIS_OK;
}

static cutis_result check_primitive(cutis_context *context, const cutis_model_data *data,
                                    uint32_t m, uint32_t p)
{
    const cutis_mesh *mesh = &data->meshes[m];
    const cutis_primitive *primitive = &mesh->primitives[p];
    if ((uint32_t)primitive->topology > CUTIS_TOPOLOGY_POINTS)
        FAIL("meshes/%u/primitives/%u: topology %d is unknown", m, p, (int)primitive->topology);
    if (primitive->vertex_count == 0) FAIL("meshes/%u/primitives/%u: no vertices", m, p);
    if (!primitive->positions) FAIL("meshes/%u/primitives/%u: no positions", m, p);
    if (primitive->index_count > 0 && !primitive->indices)
        FAIL("meshes/%u/primitives/%u: %u indices, but no array", m, p, primitive->index_count);
    if (!in_range(primitive->material, data->material_count))
        FAIL("meshes/%u/primitives/%u: material is %d, the model has %u", m, p, primitive->material,
             data->material_count);
    if (primitive->parts && primitive->topology != CUTIS_TOPOLOGY_TRIANGLES)
        FAIL("meshes/%u/primitives/%u: parts need triangles", m, p);
    if (primitive->parts && mesh->part_count == 0)
        FAIL("meshes/%u/primitives/%u: parts, but the mesh names none", m, p);
    return check_influences(context, primitive, m, p);
}

static cutis_result check_meshes(cutis_context *context, const cutis_model_data *data)
{
    const cutis_limits *limits = cutis_context_limits(context);
    uint64_t total = 0;
    for (uint32_t m = 0; m < data->mesh_count; m++) {
        const cutis_mesh *mesh = &data->meshes[m];
        if (mesh->primitive_count > 0 && !mesh->primitives)
            FAIL("meshes/%u: %u primitives, but no array", m, mesh->primitive_count);
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            total += mesh->primitives[p].vertex_count;
            if (total > limits->vertex_count)
                return cutis_fail(context, CUTIS_LIMIT_EXCEEDED,
                                  "meshes/%u/primitives/%u: more than %u vertices (limit of the "
                                  "context)",
                                  m, p, limits->vertex_count);
            TRY(check_primitive(context, data, m, p));
        }
        TRY(cutis_validate_part_tree(context, mesh, m));
    }
    return CUTIS_OK;
}

static cutis_result check_depth(cutis_context *context, const cutis_model_data *data)
{
    uint32_t nesting = cutis_context_limits(context)->nesting;
    uint32_t *depth = cutis_alloc_array(context, data->node_count, sizeof *depth);
    if (!depth) return cutis_alloc_result(context);
    cutis_result result = CUTIS_OK;
    for (uint32_t n = 0; n < data->node_count && result == CUTIS_OK; n++) {
        int32_t parent = data->nodes[n].parent;
        depth[n] = parent == CUTIS_NONE ? 1 : depth[parent] + 1;
        if (depth[n] > nesting)
            result =
                cutis_fail(context, CUTIS_LIMIT_EXCEEDED,
                           "nodes/%u: deeper than %u levels (limit of the context)", n, nesting);
    }
    cutis_free_array(context, depth, data->node_count, sizeof *depth);
    return result;
}

static cutis_result check_nodes(cutis_context *context, const cutis_model_data *data)
{
    const cutis_limits *limits = cutis_context_limits(context);
    if (data->node_count > limits->node_count || data->node_count > INT32_MAX)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "nodes: %u, the context's limit is %u",
                          data->node_count, limits->node_count);
    uint64_t vertices = 0, targets = 0;
    for (uint32_t n = 0; n < data->node_count; n++) {
        const cutis_node *node = &data->nodes[n];
        if (node->parent < CUTIS_NONE || node->parent >= (int32_t)n)
            FAIL("nodes/%u: parent is %d; a parent stands before its children", n, node->parent);
        if (!in_range(node->mesh, data->mesh_count))
            FAIL("nodes/%u: mesh is %d, the model has %u", n, node->mesh, data->mesh_count);
        if (!in_range(node->skin, data->skin_count))
            FAIL("nodes/%u: skin is %d, the model has %u", n, node->skin, data->skin_count);
        if (node->skin != CUTIS_NONE && node->mesh == CUTIS_NONE)
            FAIL("nodes/%u: a skin, but no mesh", n);
        if (node->mesh == CUTIS_NONE || node->outside) continue;
        vertices += cutis_mesh_vertex_total(&data->meshes[node->mesh]);
        targets += data->meshes[node->mesh].target_count;
        if (vertices > limits->vertex_count || targets > UINT32_MAX)
            return cutis_fail(
                context, CUTIS_LIMIT_EXCEEDED,
                "nodes/%u: the scene's instances have more than %u vertices (limit of "
                "the context)",
                n, limits->vertex_count);
    }
    return check_depth(context, data);
}

static cutis_result check_skins(cutis_context *context, const cutis_model_data *data)
{
    uint32_t *seen = cutis_alloc_zero(context, data->node_count, sizeof *seen);
    if (!seen) return cutis_alloc_result(context);
    const uint32_t joint_limit = cutis_context_limits(context)->joint_count;
    cutis_result result = CUTIS_OK;
    for (uint32_t s = 0; s < data->skin_count && result == CUTIS_OK; s++) {
        const cutis_skin *skin = &data->skins[s];
        if (skin->joint_count > joint_limit)
            result = cutis_fail(context, CUTIS_LIMIT_EXCEEDED,
                                "skins/%u: %u joints, the context's limit is %u", s,
                                skin->joint_count, joint_limit);
        else if (skin->joint_count == 0 || !skin->joints)
            result = CORRUPT("skins/%u: no joints", s);
        else if (!in_range(skin->root, data->node_count))
            result = CORRUPT("skins/%u: root is %d, the model has %u nodes", s, skin->root,
                             data->node_count);
        for (uint32_t j = 0; j < skin->joint_count && result == CUTIS_OK; j++) {
            uint32_t node = skin->joints[j];
            if (node >= data->node_count)
                result = CORRUPT("skins/%u: joint %u is node %u, the model has %u nodes", s, j,
                                 node, data->node_count);
            else if (seen[node] == s + 1)
                result =
                    CORRUPT("skins/%u: joint %u is node %u, which is there already", s, j, node);
            else
                seen[node] = s + 1;
        }
    }
    cutis_free_array(context, seen, data->node_count, sizeof *seen);
    return result;
}

static cutis_result check_clips(cutis_context *context, const cutis_model_data *data)
{
    for (uint32_t c = 0; c < data->clip_count; c++) {
        const cutis_clip *clip = &data->clips[c];
        if (clip->channel_count > 0 && !clip->channels)
            FAIL("clips/%u: %u channels, but no array", c, clip->channel_count);
        for (uint32_t i = 0; i < clip->channel_count; i++) {
            const cutis_channel *channel = &clip->channels[i];
            if (channel->node >= data->node_count)
                FAIL("clips/%u/channels/%u: node is %u, the model has %u", c, i, channel->node,
                     data->node_count);
            if ((uint32_t)channel->path > CUTIS_PATH_WEIGHTS)
                FAIL("clips/%u/channels/%u: path %d is unknown", c, i, (int)channel->path);
            if ((uint32_t)channel->interpolation > CUTIS_INTERPOLATION_CUBIC)
                FAIL("clips/%u/channels/%u: interpolation %d is unknown", c, i,
                     (int)channel->interpolation);
            if (channel->key_count == 0 || !channel->times || !channel->values)
                FAIL("clips/%u/channels/%u: no keys", c, i);
            if (cutis_channel_width(data, channel) == 0)
                FAIL("clips/%u/channels/%u: node %u has no morph targets", c, i, channel->node);
        }
    }
    return CUTIS_OK;
}

cutis_result cutis_validate_shape(cutis_context *context, const cutis_model_data *data)
{
    if ((data->node_count && !data->nodes) || (data->mesh_count && !data->meshes) ||
        (data->skin_count && !data->skins) || (data->clip_count && !data->clips) ||
        (data->material_count && !data->materials))
        FAIL("the model's arrays: a count without its array");
    if (data->mesh_count > INT32_MAX || data->skin_count > INT32_MAX ||
        data->clip_count > INT32_MAX || data->material_count > INT32_MAX)
        FAIL("the model's arrays: a count above 2147483647");
    TRY(check_meshes(context, data));
    TRY(check_nodes(context, data));
    TRY(check_skins(context, data));
    TRY(check_clips(context, data));
    TRY(cutis_validate_pose_space(context, data));
    TRY(cutis_validate_cage(context, data));
    TRY(cutis_validate_drivers(context, data));
    return cutis_validate_handles(context, data);
}
