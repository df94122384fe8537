/// What the page shows of a model: its structure as JSON, and values per vertex of an output frame.
#include "studio.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_out.h"

static void tell_numbers(json_out *json, const char *key, const float *values, uint64_t count)
{
    emit_array(json, key);
    for (uint64_t i = 0; values && i < count; i++) emit_number(json, NULL, (double)values[i]);
    emit_end(json);
}

static void tell_indices(json_out *json, const char *key, const uint32_t *values, uint32_t count)
{
    emit_array(json, key);
    for (uint32_t i = 0; i < count; i++) emit_count(json, NULL, values[i]);
    emit_end(json);
}

static void tell_nodes(json_out *json, const cutis_model_data *data)
{
    emit_array(json, "nodes");
    for (uint32_t i = 0; i < data->node_count; i++) {
        const cutis_node *node = &data->nodes[i];
        emit(json, "{ name %s parent %.17g mesh %.17g skin %.17g hasMatrix %d outside %d",
             node->name, (double)node->parent, (double)node->mesh, (double)node->skin,
             node->matrix != NULL, node->outside);
        tell_numbers(json, "rest", &node->rest.translation.x, sizeof node->rest / sizeof(float));
        emit_end(json);
    }
    emit_end(json);
}

static void tell_meshes(json_out *json, const cutis_model_data *data)
{
    emit_array(json, "meshes");
    for (uint32_t i = 0; i < data->mesh_count; i++) {
        const cutis_mesh *mesh = &data->meshes[i];
        emit(json, "{ name %s targetCount %u targetNames [", mesh->name, mesh->target_count);
        for (uint32_t k = 0; mesh->target_names && k < mesh->target_count; k++)
            emit_string(json, NULL, mesh->target_names[k]);
        emit(json, "] primitives [");
        for (uint32_t k = 0; k < mesh->primitive_count; k++) {
            const cutis_primitive *part = &mesh->primitives[k];
            emit(json, "{ topology %u vertexCount %u indexCount %u material %.17g }",
                 (unsigned)part->topology, part->vertex_count, part->index_count,
                 (double)part->material);
        }
        emit(json, "] }");
    }
    emit_end(json);
}

static void tell_pose_space(json_out *json, const cutis_model_data *data)
{
    const cutis_pose_space *space = data->pose_space;
    if (!space) return;
    emit_object(json, "poseSpace");
    emit(json, "poseCount %u jointCount %u", space->pose_count, space->joint_count);
    tell_indices(json, "joints", space->joints, space->joint_count);
    tell_numbers(json, "rotations", &space->rotations->x,
                 (uint64_t)4 * space->pose_count * space->joint_count);
    if (space->translations)
        tell_numbers(json, "translations", &space->translations->x,
                     (uint64_t)3 * space->pose_count * space->joint_count);
    emit_array(json, "targets");
    for (uint32_t i = 0; i < data->mesh_count; i++) emit_number(json, NULL, space->targets[i]);
    emit_end(json);
    emit_end(json);
}

/// Meshes in the scene, in the order of outputs, and how much there is of everything.
static void tell_outputs(json_out *json, const cutis_model *model)
{
    const cutis_instance *at;
    cutis_weight_summary summary = { 0 };
    const uint32_t count = cutis_model_instances(model, &at);
    (void)cutis_weights_summarize(model, &summary);
    emit(json, "vertexCount %u triangleCount %ju targetCount %u maxInfluences %u instances [",
         cutis_model_vertex_count(model), (uintmax_t)cutis_model_triangle_count(model),
         cutis_model_target_count(model), summary.max_influences);
    for (uint32_t i = 0; i < count; i++)
        emit(json, "{ node %u mesh %u skin %.17g vertexFirst %u vertexCount %u }", at[i].node,
             at[i].mesh, (double)at[i].skin, at[i].vertex_first, at[i].vertex_count);
    emit_end(json);
}

static void tell_cage(json_out *json, const cutis_model_data *data)
{
    const cutis_cage *cage = data->cage;
    if (!cage) return;
    emit_object(json, "cage");
    tell_numbers(json, "controls", &cage->controls->x, (uint64_t)3 * cage->control_count);
    tell_indices(json, "triangles", cage->triangles, 3 * cage->triangle_count);
    emit_end(json);
}

static void tell_model(json_out *json, const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    emit_object(json, NULL);
    tell_outputs(json, model);
    tell_nodes(json, data);
    emit_array(json, "skins");
    for (uint32_t i = 0; i < data->skin_count; i++) {
        emit(json, "{ name %s", data->skins[i].name);
        tell_indices(json, "joints", data->skins[i].joints, data->skins[i].joint_count);
        emit_end(json);
    }
    emit(json, "] clips [");
    for (uint32_t i = 0; i < data->clip_count; i++)
        emit(json, "{ name %s duration %g }", data->clips[i].name, (double)data->clips[i].duration);
    emit_end(json);
    tell_meshes(json, data);
    tell_pose_space(json, data);
    emit_array(json, "handles");
    for (uint32_t i = 0; data->handles && i < data->handles->handle_count; i++)
        emit_count(json, NULL, data->handles->nodes[i]);
    emit_end(json);
    tell_cage(json, data);
    bool parts = false;
    for (uint32_t i = 0; i < data->mesh_count; i++) parts |= data->meshes[i].part_count > 0;
    emit(json, "virtualCount %u", data->handles ? data->handles->virtual_count : 0);
    emit(json, "hasParts %d hasCage %d driverCount %u materialCount %u }", parts,
         data->cage != NULL, data->drivers ? data->drivers->driver_count : 0, data->material_count);
}

/// Zero-terminated JSON; studio_free it.
char *EXPORT(studio_describe)(const cutis_model *model)
{
    char *text = NULL;
    size_t size = 0;
    json_out json = { .file = open_memstream(&text, &size) };
    if (json.file) tell_model(&json, model);
    if (json.file && fclose(json.file) == 0 && text) return text;
    good(CUTIS_OUT_OF_MEMORY);
    return NULL;
}

/// Call `visit` for the primitives of all instances, in the order of an output frame.
static void each_part(const cutis_model *model, void *user,
                      void (*visit)(void *user, const cutis_instance *instance,
                                    const cutis_primitive *part, uint32_t vertex))
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        uint32_t vertex = instances[i].vertex_first;
        for (uint32_t k = 0; k < mesh->primitive_count; k++) {
            visit(user, &instances[i], &mesh->primitives[k], vertex);
            vertex += mesh->primitives[k].vertex_count;
        }
    }
}

typedef struct look {
    float *texcoords, *colors;
    uint32_t has; // 1: texture coordinates, 2: colours
} look;

static void look_at_part(void *user, const cutis_instance *instance, const cutis_primitive *part,
                         uint32_t vertex)
{
    look *out = user;
    (void)instance;
    out->has |= (part->texcoords ? 1 : 0) | (part->colors ? 2 : 0);
    if (part->texcoords && out->texcoords)
        memcpy(out->texcoords + (size_t)2 * vertex, part->texcoords,
               sizeof(float[2]) * part->vertex_count);
    for (size_t i = 0; out->colors && i < (size_t)4 * part->vertex_count; i++)
        out->colors[(size_t)4 * vertex + i] = part->colors ? part->colors[i] : 1.0f;
}

/// Texture coordinates (2 floats a vertex, 0 where a part has none) and colours (4, white); NULL:
/// not wanted. @return what there is: 1 texture coordinates, 2 colours
uint32_t EXPORT(studio_look)(const cutis_model *model, float *texcoords, float *colors)
{
    look out = { texcoords, colors, 0 };
    if (texcoords) memset(texcoords, 0, sizeof(float[2]) * cutis_model_vertex_count(model));
    each_part(model, &out, look_at_part);
    return out.has;
}

typedef struct weighing {
    const cutis_model_data *data;
    uint32_t node;
    float *weights, *counts;
} weighing;

static void weigh_part(void *user, const cutis_instance *instance, const cutis_primitive *part,
                       uint32_t vertex)
{
    const weighing *out = user;
    const cutis_influences *influences = &part->influences;
    const cutis_skin *skin = instance->skin >= 0 ? &out->data->skins[instance->skin] : NULL;
    uint32_t joint = 0;
    while (skin && joint < skin->joint_count && skin->joints[joint] != out->node) joint++;
    for (uint32_t v = 0; v < part->vertex_count; v++) {
        double sum = 0, own = 0;
        uint32_t count = 0;
        for (uint32_t k = influences->first ? influences->first[v] : 0;
             skin && influences->first && k < influences->first[v + 1]; k++) {
            sum += (double)influences->weights[k];
            if (influences->joints[k] == joint) own += (double)influences->weights[k];
            count += influences->weights[k] > 0;
        }
        if (out->weights) out->weights[vertex + v] = sum > 0 ? (float)(own / sum) : 0.0f;
        if (out->counts) out->counts[vertex + v] = (float)count;
    }
}

/// Per vertex: the weight of a node, and how many joints have weight on it; NULL: not wanted.
void EXPORT(studio_weights)(const cutis_model *model, uint32_t node, float *weights, float *counts)
{
    weighing out = { cutis_model_get(model), node, weights, counts };
    each_part(model, &out, weigh_part);
}
