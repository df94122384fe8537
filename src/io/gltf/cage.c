/// CUTIS_cage (docs/formats/cage.md): the root has the cage, a mesh the weights of its vertices,
/// `slots` each, all in accessors of their own bits. Invariant: sizes are compared with the
/// accessors' before anything is allocated; values are for the model's gate.
#include "io/gltf/parts.h"
#include "io/gltf/writer.h"

#define NAME "CUTIS_cage"

static const char *const COORDINATES[] = { "mvc", "harmonic" };

#define FAIL(...) return WRONG("CUTIS_EXTENSION_INVALID", __VA_ARGS__)

// The accessor that a key names, if it is of the shape; else NULL.
static const gltf_accessor *accessor_of(const gltf_document *document, const json_t *object,
                                        const char *key, gltf_shape shape, bool floats,
                                        uint32_t *index)
{
    const int64_t value = cutis_gltf_accessor_of(document, json_object_get(object, key));
    if (value < 0) return NULL;
    const gltf_accessor *a = &document->accessors[value];
    bool whole = a->component == GLTF_U8 || a->component == GLTF_U16 || a->component == GLTF_U32;
    *index = (uint32_t)value;
    return a->shape == shape && (floats ? a->component == GLTF_F32 : whole) ? a : NULL;
}

// Slots to lists: padding has weight 0. Without `controls` every vertex has all, in order.
static cutis_result make_lists(gltf_document *document, uint32_t slots, const uint32_t *controls,
                               const float *weights, cutis_cage_mesh *out)
{
    const size_t count = (size_t)out->vertex_count * slots;
    cutis_result result = cutis_gltf_charge(document, count + out->vertex_count + 1, 8);
    if (result != CUTIS_OK) return result;
    uint32_t *first =
        cutis_arena_alloc(&document->parts, (size_t)out->vertex_count + 1, sizeof *first);
    uint32_t *list = cutis_arena_alloc(&document->parts, count, sizeof *list), used = 0;
    float *kept = cutis_arena_alloc(&document->parts, count, sizeof *kept);
    if (!first || !list || !kept) return cutis_alloc_result(document->context);
    for (uint32_t v = 0; v < out->vertex_count; v++) {
        first[v] = used;
        for (size_t i = (size_t)v * slots; i < ((size_t)v + 1) * slots; i++) {
            if (controls && weights[i] == 0) continue;
            list[used] = controls ? controls[i] : (uint32_t)(i - (size_t)v * slots);
            kept[used++] = weights[i];
        }
    }
    first[out->vertex_count] = used;
    out->first = first;
    out->controls = list;
    out->weights = kept;
    return CUTIS_OK;
}

static cutis_result read_mesh(gltf_document *document, uint32_t m, uint32_t control_count,
                              cutis_cage_mesh *out)
{
    const json_t *json = cutis_gltf_extension(cutis_gltf_item(document, "meshes", m), NAME);
    const cutis_mesh *mesh = &document->data.meshes[m];
    *out = (cutis_cage_mesh){ 0 };
    if (!json) return CUTIS_OK;
    uint32_t weights_at = 0, controls_at = 0;
    uint64_t vertices = 0;
    int64_t slots = 0;
    for (uint32_t p = 0; p < mesh->primitive_count; p++)
        vertices += mesh->primitives[p].vertex_count;
    const bool dense = !json_object_get(json, "controls");
    const gltf_accessor *weights =
        accessor_of(document, json, "weights", GLTF_SCALAR, true, &weights_at);
    const gltf_accessor *controls =
        accessor_of(document, json, "controls", GLTF_SCALAR, false, &controls_at);
    if (!cutis_json_integer(json_object_get(json, "slots"), &slots) || slots < 1 ||
        slots > control_count || (dense && slots != control_count))
        FAIL("/meshes/%u/extensions/" NAME "/slots: want 1 to %u, or all without controls", m,
             control_count);
    if (!weights || weights->count != vertices * (uint64_t)slots)
        FAIL("/meshes/%u/extensions/" NAME "/weights: want an accessor of %llu floats", m,
             (unsigned long long)(vertices * (uint64_t)slots));
    if (!dense && (!controls || controls->count != weights->count))
        FAIL("/meshes/%u/extensions/" NAME "/controls: want an accessor of %u whole numbers", m,
             weights->count);
    const float *values = NULL;
    const uint32_t *list = NULL;
    cutis_result result = cutis_gltf_new_floats(document, weights_at, &values);
    if (result == CUTIS_OK && !dense)
        result = cutis_gltf_new_integers(document, controls_at, &list);
    out->vertex_count = (uint32_t)vertices;
    return result == CUTIS_OK ? make_lists(document, (uint32_t)slots, list, values, out) : result;
}

cutis_result cutis_gltf_read_cage(gltf_document *document)
{
    cutis_model_data *data = &document->data;
    const json_t *json = cutis_gltf_extension(document->root, NAME);
    if (!json) return CUTIS_OK;
    const int word = cutis_gltf_find_word(COORDINATES, 2, cutis_gltf_string(json, "coordinates"));
    uint32_t controls_at = 0, triangles_at = 0;
    const uint32_t *triangles = NULL;
    const gltf_accessor *controls =
        accessor_of(document, json, "controls", GLTF_VEC3, true, &controls_at);
    const gltf_accessor *corners =
        accessor_of(document, json, "triangles", GLTF_SCALAR, false, &triangles_at);
    if (word < 0) FAIL("/extensions/" NAME "/coordinates: want mvc or harmonic");
    if (!controls || !corners || corners->count % 3)
        FAIL("/extensions/" NAME ": needs accessors for controls (VEC3, float) and triangles");
    cutis_cage *cage = cutis_arena_alloc(&document->parts, 1, sizeof *cage);
    cutis_cage_mesh *meshes = cutis_arena_alloc(&document->parts, data->mesh_count, sizeof *meshes);
    if (!cage || !meshes) return cutis_alloc_result(document->context);
    const float *places = NULL;
    cutis_result result = cutis_gltf_new_floats(document, controls_at, &places);
    if (result == CUTIS_OK) result = cutis_gltf_new_integers(document, triangles_at, &triangles);
    for (uint32_t m = 0; m < data->mesh_count && result == CUTIS_OK; m++)
        result = read_mesh(document, m, controls->count, &meshes[m]);
    *cage = (cutis_cage){ .control_count = controls->count,
                          .triangle_count = corners->count / 3,
                          .controls = (const cutis_float3 *)places,
                          .triangles = triangles,
                          .coordinates = (cutis_coordinates)word,
                          .mesh_count = data->mesh_count,
                          .meshes = meshes };
    data->cage = cage;
    return result;
}

// Lists to slots; padding has weight 0 on control 0.
static json_t *write_mesh(gltf_writer *writer, const cutis_cage *cage, const cutis_cage_mesh *mesh)
{
    uint32_t slots = 1;
    bool dense = true;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        uint32_t count = mesh->first[v + 1] - mesh->first[v];
        if (count > slots) slots = count;
        dense = dense && count == cage->control_count;
    }
    const size_t count = (size_t)mesh->vertex_count * slots;
    uint16_t *controls = cutis_alloc_zero(writer->context, count, sizeof *controls);
    float *weights = cutis_alloc_zero(writer->context, count, sizeof *weights);
    json_t *json = json_object();
    if (!controls || !weights || count > UINT32_MAX) writer->failed = true;
    for (uint32_t v = 0; v < mesh->vertex_count && !writer->failed; v++)
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
            size_t at = (size_t)v * slots + (i - mesh->first[v]);
            controls[at] = (uint16_t)mesh->controls[i];
            weights[at] = mesh->weights[i];
        }
    if (!writer->failed && count > 0) {
        cutis_gltf_set(writer, json, "slots", json_integer(slots));
        cutis_gltf_set_numbers(writer, json, "weights", weights, count, GLTF_SCALAR, GLTF_F32);
        if (!dense)
            cutis_gltf_set_numbers(writer, json, "controls", controls, count, GLTF_SCALAR,
                                   GLTF_U16);
    }
    if (controls) cutis_free_array(writer->context, controls, count, sizeof *controls);
    if (weights) cutis_free_array(writer->context, weights, count, sizeof *weights);
    return json;
}

void cutis_gltf_write_cage(gltf_writer *writer)
{
    const cutis_cage *cage = writer->data->cage;
    json_t *meshes = json_object_get(writer->root, "meshes");
    for (uint32_t m = 0; m < writer->data->mesh_count && !writer->failed; m++) {
        bool bound = cage && cage->meshes[m].first && cage->meshes[m].vertex_count > 0;
        cutis_gltf_place_extension(writer, json_array_get(meshes, m), NAME,
                                   bound ? write_mesh(writer, cage, &cage->meshes[m]) : NULL);
    }
    json_t *json = NULL;
    if (cage) {
        json = json_object();
        cutis_gltf_set(writer, json, "coordinates", json_string(COORDINATES[cage->coordinates]));
        cutis_gltf_set_numbers(writer, json, "controls", cage->controls, cage->control_count,
                               GLTF_VEC3, GLTF_F32);
        cutis_gltf_set_numbers(writer, json, "triangles", cage->triangles,
                               3 * (size_t)cage->triangle_count, GLTF_SCALAR, GLTF_U32);
    }
    cutis_gltf_root_extension(writer, NAME, json);
}
