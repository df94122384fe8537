/// From a file in memory to a model: load the document, decode its parts, hand them to the gate.
/// The document stays with the model as its source.
#include "io/gltf/parts.h"
#include "model/validate.h"

#include <stdio.h>
#include <string.h>

/// All items of a collection, or NULL with *result set; nothing is done where that is set already.
static void *read_items(gltf_document *document, const char *collection, size_t size,
                        cutis_result (*read)(gltf_document *document, uint32_t index, void *item),
                        uint32_t *count, cutis_result *result)
{
    if (*result != CUTIS_OK) return NULL;
    char *items = cutis_gltf_new_items(document, &document->parts, collection, size, count);
    if (!items) *result = cutis_alloc_result(document->context);
    for (uint32_t i = 0; i < *count && *result == CUTIS_OK; i++) {
        *result = read(document, i, items + i * size);
        cutis_gltf_go_on(document, result);
    }
    *result = cutis_gltf_end_phase(document, *result);
    return items;
}

/// Before nodes are read. A node takes two characters of JSON but many bytes here and in the model:
/// itself, its rest transform, its place in three orders.
static cutis_result begin_nodes(gltf_document *document)
{
    cutis_result result = cutis_gltf_part_joints(document);
    size_t count = json_array_size(json_object_get(document->root, "nodes"));
    if (result == CUTIS_OK)
        result = cutis_gltf_charge(document, count, sizeof(cutis_node) + sizeof(cutis_transform));
    return result == CUTIS_OK ? cutis_gltf_load_hierarchy(document) : result;
}

static cutis_result read_node(gltf_document *document, uint32_t index, void *item)
{
    return cutis_gltf_read_node(document, document->node_of_model[index], item);
}

/// No two channels of a clip for the same node and path: which one wins would be a guess.
static cutis_result check_clip_targets(gltf_document *document)
{
    const cutis_model_data *data = &document->data;
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

static cutis_result begin_clips(gltf_document *document)
{
    document->channels = cutis_gltf_new_items(document, &document->arena, "animations",
                                              sizeof *document->channels, &document->clip_count);
    document->channel_counts =
        cutis_gltf_new_items(document, &document->arena, "animations",
                             sizeof *document->channel_counts, &document->clip_count);
    return document->channels && document->channel_counts ? CUTIS_OK
                                                          : cutis_alloc_result(document->context);
}

static cutis_result read_clip(gltf_document *document, uint32_t index, void *item)
{
    cutis_result result = document->strict ? cutis_gltf_check_samplers(document, index) : CUTIS_OK;
    return result == CUTIS_OK ? cutis_gltf_read_clip(document, index, item) : result;
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
        if (result == CUTIS_OK) result = cutis_gltf_check_bounds(document, i);
        cutis_gltf_go_on(document, &result);
    }
    document->charged = charged;
    return cutis_gltf_end_phase(document, result);
}

static cutis_result read_parts(gltf_document *document)
{
    cutis_model_data *data = &document->data;
    cutis_result result = begin_nodes(document);
    data->nodes =
        read_items(document, "nodes", sizeof *data->nodes, read_node, &data->node_count, &result);
    if (result == CUTIS_OK) result = cutis_gltf_check_meshes(document);
    data->meshes = read_items(document, "meshes", sizeof *data->meshes, cutis_gltf_read_mesh,
                              &data->mesh_count, &result);
    if (result == CUTIS_OK) result = cutis_gltf_begin_skins(document);
    data->skins = read_items(document, "skins", sizeof *data->skins, cutis_gltf_read_skin,
                             &data->skin_count, &result);
    data->materials = read_items(document, "materials", sizeof *data->materials,
                                 cutis_gltf_read_material, &data->material_count, &result);
    document->skin_count = data->skin_count;
    document->material_count = data->material_count;
    if (result == CUTIS_OK) result = begin_clips(document);
    data->clips = read_items(document, "animations", sizeof *data->clips, read_clip,
                             &data->clip_count, &result);
    if (result == CUTIS_OK) result = check_clip_targets(document);
    if (result == CUTIS_OK) result = cutis_gltf_read_pose_space(document);
    if (result == CUTIS_OK) result = cutis_gltf_read_handles(document);
    if (result == CUTIS_OK) result = cutis_gltf_read_cage(document);
    if (result == CUTIS_OK) result = cutis_gltf_read_drivers(document);
    if (result == CUTIS_OK) result = cutis_gltf_check_scene(document);
    if (result == CUTIS_OK && !document->strict) result = cutis_gltf_check_uses(document);
    if (result == CUTIS_OK) result = check_all_bounds(document);
    if (result == CUTIS_OK && document->strict) result = cutis_gltf_check_strict(document);
    return result;
}

/// What the reader put right, beside what the gate did.
static cutis_result note_forgiven(const gltf_document *document, cutis_model *model)
{
    cutis_result result = CUTIS_OK;
    for (uint32_t i = 0; document->notes && i < document->notes->count && result == CUTIS_OK; i++) {
        const gltf_note *note = &document->notes->items[i];
        // The one that is only a warning to the validator.
        const bool mild = strcmp(note->code, "UNKNOWN_ASSET_MINOR_VERSION") == 0;
        result = cutis_model_note(model, note->code, mild ? CUTIS_ISSUE_WARNING : CUTIS_ISSUE_ERROR,
                                  note->count, note->place, "%s", note->text);
    }
    return result;
}

/// Load, decode and pass the gate.
static cutis_result read_document(const cutis_input *input, const gltf_document *purpose,
                                  cutis_model **out)
{
    cutis_context *context = input->context;
    gltf_document *document = NULL;
    cutis_result result = cutis_gltf_document_load(input, purpose, &document);
    if (result != CUTIS_OK) return result;
    result = read_parts(document);
    document->report = NULL; // from here on models share the document
    document->published = true;
    if (result == CUTIS_OK) {
        if (document->kept) document->data.source = &document->source;
        result = cutis_model_create_from(context, &document->data,
                                         purpose->repair ? CUTIS_GATE_REPAIR : CUTIS_GATE_REFUSE,
                                         &document->parts, out);
        if (result != CUTIS_OK) {
            char reason[1024];
            snprintf(reason, sizeof reason, "%s", cutis_context_error(context));
            document->report = purpose->report;
            result = cutis_gltf_issue(document, result, "CUTIS_MODEL_INVALID", "/%s", reason);
            document->report = NULL;
        }
    }
    if (result == CUTIS_OK) {
        result = note_forgiven(document, *out);
        document->notes = NULL;
        if (result != CUTIS_OK) {
            cutis_model_destroy(*out);
            *out = NULL;
        }
    }
    cutis_arena_release(&document->parts);
    document->data = (cutis_model_data){ 0 };
    cutis_source_release(&document->source); // the model has its own reference
    return result;
}

cutis_result cutis_gltf_read(const cutis_input *input, const cutis_read_options *options,
                             cutis_model **out)
{
    const gltf_document purpose = { .repair = options && options->gate == CUTIS_GATE_REPAIR,
                                    .strict = options && options->strict,
                                    .kept = options && options->keep_source };
    return read_document(input, &purpose, out);
}

cutis_result cutis_gltf_inspect(const cutis_input *input, cutis_check_report *report)
{
    cutis_model *model = NULL;
    const gltf_document purpose = { .strict = true, .report = report };
    uint32_t before = report->count;
    cutis_result result = read_document(input, &purpose, &model);
    cutis_model_destroy(model);
    if (report->failed) return CUTIS_OUT_OF_MEMORY;
    // An error that is listed is no failure of the inspection.
    for (uint32_t i = before; i < report->count && result != CUTIS_OUT_OF_MEMORY; i++)
        if (report->issues[i].severity == CUTIS_ISSUE_ERROR)
            return cutis_report_add(report, "NOT_CHECKED", CUTIS_ISSUE_INFORMATION, 1, "/",
                                    "what is looked at after these errors")
                       ? CUTIS_OK
                       : CUTIS_OUT_OF_MEMORY;
    return result;
}
