/// From a file in memory to a model: load the document, decode its parts, hand them to the gate.
/// The document stays with the model as its source.
#include "io/gltf/parts.h"
#include "model/validate.h"

#include <stdio.h>

static cutis_result read_nodes(gltf_document *document, cutis_arena *arena, cutis_model_data *data)
{
    // A node takes two characters of JSON but many bytes here and in the model: itself, its rest
    // transform, its place in three orders.
    size_t count = json_array_size(json_object_get(document->root, "nodes"));
    cutis_result result =
        cutis_gltf_charge(document, count, sizeof(cutis_node) + sizeof(cutis_transform));
    if (result != CUTIS_OK) return result;
    cutis_node *nodes =
        cutis_gltf_new_items(document, arena, "nodes", sizeof *nodes, &data->node_count);
    result = cutis_gltf_load_hierarchy(document);
    if (!nodes) return cutis_alloc_result(document->context);
    for (uint32_t i = 0; i < data->node_count && result == CUTIS_OK; i++) {
        result = cutis_gltf_read_node(document, arena, document->node_of_model[i], &nodes[i]);
        cutis_gltf_go_on(document, &result);
    }
    data->nodes = nodes;
    return cutis_gltf_end_phase(document, result);
}

static cutis_result read_meshes(gltf_document *document, cutis_arena *arena, cutis_model_data *data)
{
    cutis_mesh *meshes =
        cutis_gltf_new_items(document, arena, "meshes", sizeof *meshes, &data->mesh_count);
    cutis_result result = cutis_gltf_check_meshes(document);
    if (!meshes) return cutis_alloc_result(document->context);
    for (uint32_t i = 0; i < data->mesh_count && result == CUTIS_OK; i++) {
        result = cutis_gltf_read_mesh(document, arena, i, &meshes[i]);
        cutis_gltf_go_on(document, &result);
    }
    data->meshes = meshes;
    return cutis_gltf_end_phase(document, result);
}

static cutis_result read_skins(gltf_document *document, cutis_arena *arena, cutis_model_data *data)
{
    cutis_skin *skins =
        cutis_gltf_new_items(document, arena, "skins", sizeof *skins, &data->skin_count);
    cutis_result result = CUTIS_OK;
    if (!skins) return cutis_alloc_result(document->context);
    for (uint32_t i = 0; i < data->skin_count && result == CUTIS_OK; i++) {
        result = cutis_gltf_read_skin(document, arena, i, &skins[i]);
        cutis_gltf_go_on(document, &result);
    }
    data->skins = skins;
    document->skin_count = data->skin_count;
    return cutis_gltf_end_phase(document, result);
}

static cutis_result read_materials(gltf_document *document, cutis_arena *arena,
                                   cutis_model_data *data)
{
    cutis_material *materials = cutis_gltf_new_items(document, arena, "materials",
                                                     sizeof *materials, &data->material_count);
    if (!materials) return cutis_alloc_result(document->context);
    for (uint32_t i = 0; i < data->material_count; i++)
        cutis_gltf_read_material(document, i, &materials[i]);
    data->materials = materials;
    document->material_count = data->material_count;
    return CUTIS_OK;
}

/// No two channels of a clip for the same node and path: which one wins would be a guess.
static cutis_result check_clip_targets(gltf_document *document, const cutis_model_data *data)
{
    uint32_t *stamps = cutis_alloc_zero(document->context, data->node_count, 4 * sizeof *stamps);
    if (!stamps) return cutis_alloc_result(document->context);
    cutis_result result = CUTIS_OK;
    for (uint32_t c = 0; c < data->clip_count && result == CUTIS_OK; c++) {
        const cutis_clip *clip = &data->clips[c];
        for (uint32_t i = 0; i < clip->channel_count && result == CUTIS_OK; i++) {
            uint32_t *stamp = &stamps[4 * (size_t)clip->channels[i].node + clip->channels[i].path];
            if (*stamp == c + 1)
                result = WRONG("ANIMATION_DUPLICATE_TARGETS",
                               "/animations/%u/channels/%u/target: an earlier channel has the "
                               "same node and path",
                               c, document->channels[c][i]);
            *stamp = c + 1;
        }
    }
    cutis_free_array(document->context, stamps, data->node_count, 4 * sizeof *stamps);
    return result;
}

static cutis_result read_clips(gltf_document *document, cutis_arena *arena, cutis_model_data *data)
{
    cutis_clip *clips =
        cutis_gltf_new_items(document, arena, "animations", sizeof *clips, &data->clip_count);
    document->channels = cutis_gltf_new_items(document, &document->arena, "animations",
                                              sizeof *document->channels, &document->clip_count);
    document->channel_counts =
        cutis_gltf_new_items(document, &document->arena, "animations",
                             sizeof *document->channel_counts, &document->clip_count);
    cutis_result result = CUTIS_OK;
    if (!clips || !document->channels || !document->channel_counts)
        return cutis_alloc_result(document->context);
    for (uint32_t i = 0; i < data->clip_count && result == CUTIS_OK; i++) {
        if (document->strict) result = cutis_gltf_check_samplers(document, i);
        if (result == CUTIS_OK) result = cutis_gltf_read_clip(document, arena, data, i, &clips[i]);
        cutis_gltf_go_on(document, &result);
    }
    data->clips = clips;
    result = cutis_gltf_end_phase(document, result);
    return result == CUTIS_OK ? check_clip_targets(document, data) : result;
}

/// Minimum and maximum of all accessors, scanned within the same allowance as decoding: accessors
/// may overlap.
static cutis_result check_all_bounds(gltf_document *document)
{
    uint64_t charged = document->charged;
    cutis_result result = CUTIS_OK;
    document->charged = 0;
    for (uint32_t i = 0; i < document->accessor_count && result == CUTIS_OK; i++) {
        const gltf_accessor *a = &document->accessors[i];
        result = cutis_gltf_charge(document, a->count, a->width * sizeof(float));
        if (result == CUTIS_OK)
            result = document->repair ? cutis_gltf_mend_bounds(document, i)
                                      : cutis_gltf_check_bounds(document, i);
        cutis_gltf_go_on(document, &result);
    }
    document->charged = charged;
    return cutis_gltf_end_phase(document, result);
}

static cutis_result read_parts(gltf_document *document, cutis_arena *arena, cutis_model_data *data)
{
    cutis_result result = read_nodes(document, arena, data);
    if (result == CUTIS_OK) result = read_meshes(document, arena, data);
    if (result == CUTIS_OK) result = read_skins(document, arena, data);
    if (result == CUTIS_OK) result = read_materials(document, arena, data);
    if (result == CUTIS_OK) result = read_clips(document, arena, data);
    if (result == CUTIS_OK) result = cutis_gltf_read_pose_space(document, arena, data);
    if (result == CUTIS_OK) result = cutis_gltf_read_handles(document, arena, data);
    if (result == CUTIS_OK) result = cutis_gltf_read_cage(document, arena, data);
    if (result == CUTIS_OK) result = cutis_gltf_check_scene(document, data);
    if (result == CUTIS_OK) result = check_all_bounds(document);
    if (result == CUTIS_OK && document->strict) result = cutis_gltf_check_strict(document, data);
    return result;
}

/// What the reader itself repaired, beside what the gate did.
static cutis_result note_mended(const gltf_document *document, cutis_model *model)
{
    cutis_result result = CUTIS_OK;
    if (document->corrected_bounds)
        result = cutis_model_note(model, "ACCESSOR_BOUNDS_MISMATCH", 0, document->corrected_bounds,
                                  "accessors", "%u accessors had another minimum or maximum",
                                  document->corrected_bounds);
    if (result == CUTIS_OK && document->corrected_rotations)
        result =
            cutis_model_note(model, "ROTATION_NON_UNIT", 0, document->corrected_rotations, "nodes",
                             "%u rotations were not of unit length and were normalised",
                             document->corrected_rotations);
    return result;
}

/// Load, decode and pass the gate. `document` is the caller's to release, also after a failure.
static cutis_result read_document(cutis_context *context, const char *path, const void *data,
                                  size_t size, const gltf_purpose *purpose, cutis_model **out)
{
    cutis_arena arena = { .context = context };
    cutis_model_data parts = { 0 };
    gltf_document *document = NULL;
    cutis_result result = cutis_gltf_document_load(context, path, data, size, purpose, &document);
    if (result != CUTIS_OK) return result;
    result = read_parts(document, &arena, &parts);
    document->report = NULL; // from here on models share the document
    document->published = true;
    if (result == CUTIS_OK) {
        if (document->kept) parts.source = &document->source;
        result = cutis_model_create(context, &parts,
                                    purpose->repair ? CUTIS_GATE_REPAIR : CUTIS_GATE_REFUSE, out);
        if (result != CUTIS_OK) {
            char reason[1024];
            snprintf(reason, sizeof reason, "%s", cutis_context_error(context));
            document->report = purpose->report;
            result = cutis_gltf_issue(document, result, "CUTIS_MODEL_INVALID", "/%s", reason);
            document->report = NULL;
        }
    }
    if (result == CUTIS_OK) {
        result = note_mended(document, *out);
        if (result != CUTIS_OK) {
            cutis_model_destroy(*out);
            *out = NULL;
        }
    }
    cutis_arena_release(&arena);
    cutis_source_release(&document->source); // the model has its own reference
    return result;
}

cutis_result cutis_gltf_read(cutis_context *context, const char *path, bool on_disk,
                             const void *data, size_t size, const cutis_read_options *options,
                             cutis_model **out)
{
    gltf_purpose purpose = { .on_disk = on_disk,
                             .repair = options && options->gate == CUTIS_GATE_REPAIR,
                             .strict = options && options->strict,
                             .kept = options && options->keep_source };
    return read_document(context, path, data, size, &purpose, out);
}

cutis_result cutis_gltf_inspect(cutis_context *context, const char *path, bool on_disk,
                                const void *data, size_t size, cutis_check_report *report)
{
    cutis_model *model = NULL;
    gltf_purpose purpose = { .on_disk = on_disk, .strict = true, .report = report };
    uint32_t before = report->count;
    cutis_result result = read_document(context, path, data, size, &purpose, &model);
    cutis_model_destroy(model);
    // What is listed is no failure of the inspection.
    if (result == CUTIS_OUT_OF_MEMORY || report->count == before) return result;
    return CUTIS_OK;
}
