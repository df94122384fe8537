/// A model with a shape more: a morph target of each mesh in the scene that makes it look like a
/// given frame while it rests. Invariant: clips and nodes say the same of the old targets; the new
/// one is the last of its mesh, and fully on.
#include "studio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct piece {
    struct piece *next;
    max_align_t memory[];
} piece;

typedef struct shape {
    const cutis_model *model;
    const cutis_model_data *data;
    const char *name;
    const float *positions; // wanted, of an output frame
    float *rest;            // what it is
    cutis_mat34 *world;     // of nodes at rest
    piece *pieces;          // all memory of this work
    bool failed;
} shape;

static void *take(shape *s, size_t count, size_t size)
{
    piece *made = calloc(1, sizeof *made + count * size);
    if (!made) return s->failed = true, NULL;
    made->next = s->pieces;
    s->pieces = made;
    return made->memory;
}

/// `count` values and one more.
static float *one_more(shape *s, const float *values, uint32_t count, float last)
{
    float *out = take(s, (size_t)count + 1, sizeof *out);
    if (out && values) memcpy(out, values, count * sizeof *out);
    if (out) out[count] = last;
    return out;
}

/// How linear blending at rest moves vertex v, undone. false: it cannot be
static bool undo_blend(const shape *s, const cutis_instance *instance, const cutis_primitive *part,
                       uint32_t v, cutis_mat34 *out)
{
    const cutis_skin *skin = instance->skin >= 0 ? &s->data->skins[instance->skin] : NULL;
    const cutis_influences *from = &part->influences;
    cutis_mat34 blended = { { 0 } };
    float sum = 0;
    for (uint32_t k = skin && from->first ? from->first[v] : 0;
         skin && from->first && k < from->first[v + 1]; k++) {
        cutis_mat34 joint = s->world[skin->joints[from->joints[k]]];
        if (skin->inverse_binds)
            joint = cutis_mat34_multiply(&joint, &skin->inverse_binds[from->joints[k]]);
        for (int i = 0; i < 12; i++) blended.m[i] += from->weights[k] * joint.m[i];
        sum += from->weights[k];
    }
    for (int i = 0; i < 12 && sum > 0; i++) blended.m[i] /= sum;
    return cutis_mat34_invert(sum > 0 ? &blended : &s->world[instance->node], out);
}

static float *displacements(shape *s, const cutis_instance *instance, const cutis_primitive *part,
                            uint32_t vertex)
{
    float *out = take(s, (size_t)3 * part->vertex_count, sizeof *out);
    for (uint32_t v = 0; out && v < part->vertex_count; v++) {
        const size_t at = 3 * ((size_t)vertex + v);
        const float *to = s->positions + at, *from = s->rest + at;
        cutis_mat34 back;
        if (memcmp(to, from, sizeof(float[3])) == 0 || !undo_blend(s, instance, part, v, &back))
            continue;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                out[3 * (size_t)v + i] += back.m[4 * i + k] * (to[k] - from[k]);
    }
    return out;
}

static void add_target(shape *s, const cutis_instance *instance, cutis_mesh *mesh)
{
    const uint32_t old = mesh->target_count;
    cutis_primitive *parts = take(s, mesh->primitive_count, sizeof *parts);
    const char **names = take(s, (size_t)old + 1, sizeof *names);
    uint32_t vertex = instance->vertex_first;
    for (uint32_t i = 0; parts && i < mesh->primitive_count; i++) {
        cutis_morph_target *targets = take(s, (size_t)old + 1, sizeof *targets);
        parts[i] = mesh->primitives[i];
        if (targets && old) memcpy(targets, parts[i].targets, old * sizeof *targets);
        if (targets) targets[old].positions = displacements(s, instance, &parts[i], vertex);
        vertex += parts[i].vertex_count;
        parts[i].targets = targets;
    }
    for (uint32_t i = 0; names && i <= old; i++)
        names[i] = i == old ? s->name : mesh->target_names ? mesh->target_names[i] : "";
    mesh->primitives = parts;
    mesh->target_names = names;
    mesh->target_weights = one_more(s, mesh->target_weights, old, 1);
    mesh->target_count = old + 1;
}

/// Tracks of morph weights, with the new one fully on in every key.
static const cutis_channel *widen_tracks(shape *s, const cutis_clip *clip, const uint8_t *changed)
{
    cutis_channel *out = take(s, clip->channel_count, sizeof *out);
    for (uint32_t i = 0; out && i < clip->channel_count; i++) {
        out[i] = clip->channels[i];
        const int32_t mesh = s->data->nodes[out[i].node].mesh;
        if (out[i].path != CUTIS_PATH_WEIGHTS || mesh < 0 || !changed[mesh]) continue;
        const bool cubic = out[i].interpolation == CUTIS_INTERPOLATION_CUBIC;
        const uint32_t width = s->data->meshes[mesh].target_count;
        const size_t rows = (size_t)out[i].key_count * (cubic ? 3 : 1);
        float *values = take(s, rows * (width + 1), sizeof *values);
        for (size_t k = 0; values && k < rows; k++) {
            memcpy(values + k * (width + 1), out[i].values + k * width, width * sizeof *values);
            values[k * (width + 1) + width] = !cubic || k % 3 == 1 ? 1.0f : 0.0f; // no slopes
        }
        out[i].values = values;
    }
    return out;
}

static cutis_result build(shape *s, cutis_model **out)
{
    const cutis_model_data *data = s->data;
    cutis_model_data more = *data;
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(s->model, &instances);
    uint8_t *changed = take(s, (size_t)data->mesh_count + 1, 1);
    cutis_mesh *meshes = take(s, (size_t)data->mesh_count + 1, sizeof *meshes);
    cutis_node *nodes = take(s, (size_t)data->node_count + 1, sizeof *nodes);
    cutis_clip *clips = take(s, (size_t)data->clip_count + 1, sizeof *clips);
    if (s->failed) return CUTIS_OUT_OF_MEMORY;
    if (data->mesh_count) memcpy(meshes, data->meshes, data->mesh_count * sizeof *meshes);
    for (uint32_t i = 0; i < count; i++) {
        if (changed[instances[i].mesh]) continue; // shown twice: as the first one shows it
        changed[instances[i].mesh] = 1;
        add_target(s, &instances[i], &meshes[instances[i].mesh]);
    }
    for (uint32_t i = 0; i < data->node_count; i++) {
        nodes[i] = data->nodes[i];
        if (nodes[i].target_weights && changed[nodes[i].mesh])
            nodes[i].target_weights =
                one_more(s, nodes[i].target_weights, data->meshes[nodes[i].mesh].target_count, 1);
    }
    for (uint32_t i = 0; i < data->clip_count; i++) {
        clips[i] = data->clips[i];
        clips[i].channels = widen_tracks(s, &data->clips[i], changed);
    }
    more.meshes = meshes, more.nodes = nodes, more.clips = clips;
    if (s->failed) return CUTIS_OUT_OF_MEMORY;
    return cutis_model_create(cutis_model_context(s->model), &more, CUTIS_GATE_REFUSE, out);
}

/// The model at rest, as linear blending shows it.
static cutis_result show_rest(shape *s)
{
    const cutis_model_data *data = s->data;
    cutis_binding *binding = NULL;
    cutis_transform *pose = take(s, (size_t)data->node_count + 1, sizeof *pose);
    float *morphs = take(s, (size_t)cutis_model_target_count(s->model) + 1, sizeof *morphs);
    s->world = take(s, (size_t)data->node_count + 1, sizeof *s->world);
    s->rest = take(s, (size_t)3 * cutis_model_vertex_count(s->model) + 1, sizeof *s->rest);
    if (s->failed) return CUTIS_OUT_OF_MEMORY;
    cutis_pose_rest(s->model, pose, morphs);
    cutis_pose_world(s->model, pose, s->world);
    cutis_result result = cutis_bind(exact_device(), s->model,
                                     &(cutis_bind_options){ .method = CUTIS_METHOD_LBS }, &binding);
    if (result == CUTIS_OK)
        result = cutis_deform(binding, &(cutis_poses){ .local = pose, .morph_weights = morphs }, 1,
                              &(cutis_outputs){ .positions.data = s->rest });
    cutis_binding_destroy(binding);
    return result;
}

/// @param positions an output frame as it shall be at rest
cutis_model *EXPORT(studio_with_shape)(const cutis_model *model, const char *name,
                                       const float *positions)
{
    cutis_model *made = NULL;
    shape s = {
        .model = model, .data = cutis_model_get(model), .name = name, .positions = positions
    };
    cutis_result result = show_rest(&s);
    if (result == CUTIS_OK) result = build(&s, &made);
    for (piece *next; s.pieces; s.pieces = next) {
        next = s.pieces->next;
        free(s.pieces);
    }
    return good(result) ? made : NULL;
}
