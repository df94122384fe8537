/// A model to words. Invariant: after a failed allocation nothing more is written, and pack_write
/// says so.
#include "pack.h"

#include <stdlib.h>
#include <string.h>

typedef struct writer {
    uint32_t *words;
    size_t count, capacity;
    bool failed;
} writer;

static uint32_t *more(writer *to, size_t count)
{
    if (to->failed) return NULL;
    if (to->capacity - to->count < count) {
        size_t capacity = 2 * to->capacity + count + 1024;
        uint32_t *grown = realloc(to->words, capacity * sizeof *grown);
        to->failed = grown == NULL;
        if (!grown) return NULL;
        to->words = grown;
        to->capacity = capacity;
    }
    uint32_t *words = to->words + to->count;
    to->count += count;
    return words;
}

static void put(writer *to, uint32_t value)
{
    uint32_t *word = more(to, 1);
    if (word) *word = value;
}

/// Floats, integers and structs of them, without a count.
static void put_values(writer *to, const void *values, size_t words)
{
    uint32_t *place = more(to, words);
    if (place && words) memcpy(place, values, words * sizeof *place);
}

static void put_array(writer *to, const void *values, size_t words)
{
    if (!values) words = 0;
    put(to, (uint32_t)words);
    put_values(to, values, words);
}

static void put_text(writer *to, const char *text)
{
    if (!text) {
        put(to, UINT32_MAX);
        return;
    }
    size_t length = strlen(text), words = length / 4 + 1;
    put(to, (uint32_t)length);
    uint32_t *place = more(to, words);
    if (!place) return;
    memset(place, 0, words * sizeof *place);
    memcpy(place, text, length);
}

static void put_names(writer *to, const char *const *names, uint32_t count)
{
    put(to, names ? count : 0);
    for (uint32_t i = 0; names && i < count; i++) put_text(to, names[i]);
}

static void put_node(writer *to, const cutis_model_data *data, const cutis_node *node)
{
    put_text(to, node->name);
    put(to, (uint32_t)node->parent);
    put_values(to, &node->rest, 10);
    put_array(to, node->matrix, 12);
    put(to, (uint32_t)node->mesh);
    put(to, (uint32_t)node->skin);
    put_array(to, node->target_weights,
              node->mesh >= 0 ? data->meshes[node->mesh].target_count : 0);
    put(to, node->outside);
}

static void put_primitive(writer *to, const cutis_primitive *part, uint32_t target_count)
{
    const size_t n = part->vertex_count;
    const cutis_influences *skin = &part->influences;
    const size_t entries = skin->first ? skin->first[n] : 0;
    put(to, part->topology);
    put(to, part->vertex_count);
    put(to, (uint32_t)part->material);
    put_array(to, part->indices, part->index_count);
    put_array(to, part->positions, 3 * n);
    put_array(to, part->normals, 3 * n);
    put_array(to, part->tangents, 4 * n);
    put_array(to, part->texcoords, 2 * n);
    put_array(to, part->colors, 4 * n);
    put_array(to, skin->first, n + 1);
    put_array(to, skin->joints, entries);
    put_array(to, skin->weights, entries);
    put_array(to, part->parts,
              part->topology == CUTIS_TOPOLOGY_TRIANGLES ? part->index_count / 3 : 0);
    put(to, part->targets ? target_count : 0);
    for (uint32_t t = 0; part->targets && t < target_count; t++) {
        put_array(to, part->targets[t].positions, 3 * n);
        put_array(to, part->targets[t].normals, 3 * n);
        put_array(to, part->targets[t].tangents, 3 * n);
    }
}

static void put_mesh(writer *to, const cutis_mesh *mesh)
{
    put_text(to, mesh->name);
    put(to, mesh->target_count);
    put_names(to, mesh->target_names, mesh->target_count);
    put_array(to, mesh->target_weights, mesh->target_count);
    put(to, mesh->part_count);
    put_names(to, mesh->part_names, mesh->part_count);
    put(to, mesh->primitive_count);
    for (uint32_t p = 0; p < mesh->primitive_count; p++)
        put_primitive(to, &mesh->primitives[p], mesh->target_count);
}

static void put_skin(writer *to, const cutis_skin *skin)
{
    put_text(to, skin->name);
    put_array(to, skin->joints, skin->joint_count);
    put_array(to, skin->inverse_binds, 12 * (size_t)skin->joint_count);
    put(to, (uint32_t)skin->root);
}

static uint32_t path_width(const cutis_model_data *data, const cutis_channel *channel)
{
    switch (channel->path) {
    case CUTIS_PATH_ROTATION:
        return 4;
    case CUTIS_PATH_WEIGHTS:
        return data->meshes[data->nodes[channel->node].mesh].target_count;
    default:
        return 3;
    }
}

static void put_clip(writer *to, const cutis_model_data *data, const cutis_clip *clip)
{
    put_text(to, clip->name);
    put_values(to, &clip->duration, 1);
    put(to, clip->channel_count);
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const cutis_channel *channel = &clip->channels[c];
        const size_t sets = channel->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1;
        put(to, channel->node);
        put(to, channel->path);
        put(to, channel->interpolation);
        put_array(to, channel->times, channel->key_count);
        put_array(to, channel->values, sets * channel->key_count * path_width(data, channel));
    }
}

static void put_material(writer *to, const cutis_material *material)
{
    put_text(to, material->name);
    put_values(to, material->base_color, 4);
    put_values(to, &material->metallic, 1);
    put_values(to, &material->roughness, 1);
    put(to, material->double_sided);
}

static void put_pose_space(writer *to, const cutis_pose_space *space, uint32_t mesh_count)
{
    const size_t entries = (size_t)space->joint_count * space->pose_count;
    put(to, space->pose_count);
    put_array(to, space->joints, space->joint_count);
    put_array(to, space->rotations, 4 * entries);
    put_array(to, space->translations, 3 * entries);
    put_array(to, space->targets, mesh_count);
    put(to, space->field_count);
    put_array(to, space->coefficients, (size_t)(space->pose_count - 1) * space->field_count);
    put(to, space->after);
    put(to, space->kernel);
    put(to, space->distance);
    put_values(to, &space->sigma, 1);
}

cutis_result pack_write(const cutis_model *model, pack_words *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    writer to = { 0 };
    put(&to, PACK_MAGIC);
    put(&to, data->mesh_count);
    for (uint32_t i = 0; i < data->mesh_count; i++) put_mesh(&to, &data->meshes[i]);
    put(&to, data->node_count);
    for (uint32_t i = 0; i < data->node_count; i++) put_node(&to, data, &data->nodes[i]);
    put(&to, data->skin_count);
    for (uint32_t i = 0; i < data->skin_count; i++) put_skin(&to, &data->skins[i]);
    put(&to, data->clip_count);
    for (uint32_t i = 0; i < data->clip_count; i++) put_clip(&to, data, &data->clips[i]);
    put(&to, data->material_count);
    for (uint32_t i = 0; i < data->material_count; i++) put_material(&to, &data->materials[i]);
    put(&to, data->pose_space != NULL);
    if (data->pose_space) put_pose_space(&to, data->pose_space, data->mesh_count);
    if (to.failed) {
        free(to.words);
        return CUTIS_OUT_OF_MEMORY;
    }
    *out = (pack_words){ to.words, (uint32_t)to.count };
    return CUTIS_OK;
}
