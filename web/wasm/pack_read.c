/// Words to a model. Arrays and strings are borrowed from the words; only the structs around them
/// are made here, and freed once cutis_model_create has copied everything.
///
/// Invariant: nothing is read past the last word. What the values say is the gate's business.
#include "pack.h"

#include <stdlib.h>
#include <string.h>

typedef struct block {
    struct block *next;
    max_align_t bytes[];
} block;

typedef struct reader {
    const uint32_t *next, *end;
    block *blocks;
    bool corrupt, full; // counts past the end; no memory
} reader;

static uint32_t get(reader *from)
{
    if (from->next >= from->end) {
        from->corrupt = true;
        return 0;
    }
    return *from->next++;
}

static const void *get_values(reader *from, size_t words)
{
    if (words > (size_t)(from->end - from->next)) {
        from->corrupt = true;
        return NULL;
    }
    const uint32_t *values = from->next;
    from->next += words;
    return values;
}

/// An array that has `words` values or none; other counts are corrupt.
static const void *get_array(reader *from, size_t words)
{
    const uint32_t count = get(from);
    if (count == 0) return NULL;
    if (count != words) from->corrupt = true;
    return from->corrupt ? NULL : get_values(from, count);
}

static const void *get_any(reader *from, uint32_t *count)
{
    *count = get(from);
    return *count ? get_values(from, *count) : NULL;
}

static float get_float(reader *from)
{
    const float *value = get_values(from, 1);
    return value ? *value : 0;
}

static const char *get_text(reader *from)
{
    const uint32_t length = get(from);
    if (length == UINT32_MAX) return NULL;
    const char *text = get_values(from, length / 4 + 1);
    if (text && text[length] != 0) from->corrupt = true;
    return from->corrupt ? NULL : text;
}

/// Zeroed structs that live as long as the reader; each takes at least one word, so a count that
/// the words cannot hold is not believed.
static void *make(reader *from, uint32_t count, size_t size)
{
    if (count > (size_t)(from->end - from->next)) from->corrupt = true;
    if (count == 0 || from->corrupt || from->full) return NULL;
    block *made = calloc(1, sizeof *made + count * size);
    if (!made) {
        from->full = true;
        return NULL;
    }
    made->next = from->blocks;
    from->blocks = made;
    return made->bytes;
}

static const char *const *get_names(reader *from, uint32_t wanted)
{
    const uint32_t count = get(from);
    if (count && count != wanted) from->corrupt = true;
    const char **names = make(from, count, sizeof *names);
    for (uint32_t i = 0; names && i < count; i++) names[i] = get_text(from);
    return names;
}

static void get_node(reader *from, const cutis_model_data *data, cutis_node *node)
{
    node->name = get_text(from);
    node->parent = (int32_t)get(from);
    const void *rest = get_values(from, 10);
    if (rest) memcpy(&node->rest, rest, sizeof node->rest);
    node->matrix = get_array(from, 12);
    node->mesh = (int32_t)get(from);
    node->skin = (int32_t)get(from);
    const bool known = node->mesh >= 0 && (uint32_t)node->mesh < data->mesh_count;
    node->target_weights = get_array(from, known ? data->meshes[node->mesh].target_count : 0);
    node->outside = get(from) != 0;
}

static void get_primitive(reader *from, cutis_primitive *part, uint32_t target_count)
{
    part->topology = (cutis_topology)get(from);
    const size_t n = part->vertex_count = get(from);
    if (n > (size_t)(from->end - from->next)) from->corrupt = true; // so 4 * n cannot overflow
    part->material = (int32_t)get(from);
    part->indices = get_any(from, &part->index_count);
    part->positions = get_array(from, 3 * n);
    part->normals = get_array(from, 3 * n);
    part->tangents = get_array(from, 4 * n);
    part->texcoords = get_array(from, 2 * n);
    part->colors = get_array(from, 4 * n);
    part->influences.first = get_array(from, n + 1);
    const size_t entries = part->influences.first ? part->influences.first[n] : 0;
    part->influences.joints = get_array(from, entries);
    part->influences.weights = get_array(from, entries);
    part->parts = get_array(from, part->index_count / 3);
    const uint32_t count = get(from);
    if (count && count != target_count) from->corrupt = true;
    cutis_morph_target *targets = make(from, count, sizeof *targets);
    for (uint32_t t = 0; targets && t < count; t++) {
        targets[t].positions = get_array(from, 3 * n);
        targets[t].normals = get_array(from, 3 * n);
        targets[t].tangents = get_array(from, 3 * n);
    }
    part->targets = targets;
}

static void get_mesh(reader *from, cutis_mesh *mesh)
{
    mesh->name = get_text(from);
    mesh->target_count = get(from);
    mesh->target_names = get_names(from, mesh->target_count);
    mesh->target_weights = get_array(from, mesh->target_count);
    mesh->part_count = get(from);
    mesh->part_names = get_names(from, mesh->part_count);
    mesh->primitive_count = get(from);
    cutis_primitive *parts = make(from, mesh->primitive_count, sizeof *parts);
    for (uint32_t p = 0; parts && p < mesh->primitive_count; p++)
        get_primitive(from, &parts[p], mesh->target_count);
    mesh->primitives = parts;
}

static void get_skin(reader *from, cutis_skin *skin)
{
    skin->name = get_text(from);
    skin->joints = get_any(from, &skin->joint_count);
    skin->inverse_binds = get_array(from, 12 * (size_t)skin->joint_count);
    skin->root = (int32_t)get(from);
}

static size_t channel_values(const cutis_model_data *data, const cutis_channel *channel)
{
    const size_t keys =
        (size_t)channel->key_count * (channel->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1);
    if (channel->path == CUTIS_PATH_ROTATION) return 4 * keys;
    if (channel->path != CUTIS_PATH_WEIGHTS) return 3 * keys;
    if (channel->node >= data->node_count) return 0;
    const int32_t mesh = data->nodes[channel->node].mesh;
    return mesh >= 0 && (uint32_t)mesh < data->mesh_count ? keys * data->meshes[mesh].target_count
                                                          : 0;
}

static void get_clip(reader *from, const cutis_model_data *data, cutis_clip *clip)
{
    clip->name = get_text(from);
    clip->duration = get_float(from);
    clip->channel_count = get(from);
    cutis_channel *channels = make(from, clip->channel_count, sizeof *channels);
    for (uint32_t c = 0; channels && c < clip->channel_count; c++) {
        cutis_channel *channel = &channels[c];
        channel->node = get(from);
        channel->path = (cutis_path)get(from);
        channel->interpolation = (cutis_interpolation)get(from);
        channel->times = get_any(from, &channel->key_count);
        channel->values = get_array(from, channel_values(data, channel));
        if (!channel->values) from->corrupt = true;
    }
    clip->channels = channels;
}

static void get_material(reader *from, cutis_material *material)
{
    material->name = get_text(from);
    for (int i = 0; i < 4; i++) material->base_color[i] = get_float(from);
    material->metallic = get_float(from);
    material->roughness = get_float(from);
    material->double_sided = get(from) != 0;
}

static const cutis_pose_space *get_pose_space(reader *from, uint32_t mesh_count)
{
    if (!get(from)) return NULL;
    cutis_pose_space *space = make(from, 1, sizeof *space);
    if (!space) return NULL;
    space->pose_count = get(from);
    space->joints = get_any(from, &space->joint_count);
    const uint64_t entries = (uint64_t)space->joint_count * space->pose_count;
    if (entries > UINT32_MAX / 4) from->corrupt = true;
    space->rotations = get_array(from, 4 * (size_t)entries);
    space->translations = get_array(from, 3 * (size_t)entries);
    space->targets = get_array(from, mesh_count);
    space->field_count = get(from);
    if (space->pose_count < 1 || (uint64_t)space->pose_count * space->field_count > UINT32_MAX / 4)
        from->corrupt = true;
    else
        space->coefficients = get_array(from, (size_t)(space->pose_count - 1) * space->field_count);
    space->after = get(from) != 0;
    space->kernel = (cutis_pose_kernel)get(from);
    space->distance = (cutis_pose_distance)get(from);
    space->sigma = get_float(from);
    if (!space->rotations || !space->targets) from->corrupt = true;
    return space;
}

#define GET_ALL(from, data, count, array, type, get_one)                                           \
    do {                                                                                           \
        const uint32_t wanted = get(from);                                                         \
        type *all = make(from, wanted, sizeof *all);                                               \
        for (uint32_t i = 0; all && i < wanted; i++) get_one;                                      \
        (data)->array = all;                                                                       \
        (data)->count = wanted;                                                                    \
    } while (0)

static void get_model(reader *from, cutis_model_data *data)
{
    if (get(from) != PACK_MAGIC) from->corrupt = true;
    GET_ALL(from, data, mesh_count, meshes, cutis_mesh, get_mesh(from, &all[i]));
    GET_ALL(from, data, node_count, nodes, cutis_node, get_node(from, data, &all[i]));
    GET_ALL(from, data, skin_count, skins, cutis_skin, get_skin(from, &all[i]));
    GET_ALL(from, data, clip_count, clips, cutis_clip, get_clip(from, data, &all[i]));
    GET_ALL(from, data, material_count, materials, cutis_material, get_material(from, &all[i]));
    data->pose_space = get_pose_space(from, data->mesh_count);
}

cutis_result pack_read(cutis_context *context, const uint32_t *words, uint32_t count,
                       cutis_model **out)
{
    reader from = { .next = words, .end = words + count };
    cutis_model_data data = { 0 };
    get_model(&from, &data);
    cutis_result result = from.full                               ? CUTIS_OUT_OF_MEMORY
                          : from.corrupt || from.next != from.end ? CUTIS_CORRUPT_DATA
                                                                  : CUTIS_OK;
    if (result == CUTIS_OK) result = cutis_model_create(context, &data, CUTIS_GATE_REPAIR, out);
    while (from.blocks) {
        block *next = from.blocks->next;
        free(from.blocks);
        from.blocks = next;
    }
    return result;
}
