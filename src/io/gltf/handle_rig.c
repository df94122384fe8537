/// CUTIS_handles (docs/formats/cutis_handles.md): the root has the handles and the virtual ones, a
/// mesh says at which handle its skin begins, a primitive has its weights on all of them. Numbers
/// that are many are in accessors, so what is written is read with the same bits. Invariant:
/// every accessor's kind and length are checked before it is decoded; values are for the model's
/// gate.
#include "io/gltf/parts.h"
#include "io/gltf/writer.h"

#include <string.h>

#define NAME "CUTIS_handles"

#define FAIL(...) return WRONG("CUTIS_EXTENSION_INVALID", __VA_ARGS__)

// Reading
// -----------------------------------------------------------------------------------------

static bool read_float3(const json_t *array, cutis_float3 *out)
{
    if (!cutis_gltf_all_numbers(array, 3)) return false;
    cutis_gltf_floats(array, &out->x);
    return true;
}

static cutis_result read_handles(gltf_document *document, const json_t *list, cutis_handle *handles,
                                 uint32_t *nodes)
{
    for (size_t h = 0; h < json_array_size(list); h++) {
        const json_t *item = json_array_get(list, h), *node = json_object_get(item, "node");
        const char *kind = json_string_value(json_object_get(item, "kind"));
        json_int_t index = json_is_integer(node) ? json_integer_value(node) : -1;
        handles[h] = (cutis_handle){ 0 };
        if (index < 0 || index >= (json_int_t)document->node_count)
            FAIL("/extensions/" NAME "/handles/%zu/node: no node of the file", h);
        nodes[h] = document->model_of_node[index];
        bool bar = kind && strcmp(kind, "bar") == 0, good = bar || (kind && !strcmp(kind, "point"));
        if (bar) {
            handles[h].kind = CUTIS_HANDLE_BAR;
            good = read_float3(json_object_get(item, "to"), &handles[h].to);
        }
        good =
            good && read_float3(json_object_get(item, bar ? "from" : "position"), &handles[h].from);
        if (!good)
            FAIL("/extensions/" NAME "/handles/%zu: want a point with its position, or a bar with "
                 "from and to",
                 h);
    }
    return CUTIS_OK;
}

// The accessor a key names, of that shape; `count` UINT32_MAX: any number of elements.
static bool find_accessor(const gltf_document *document, const json_t *object, const char *key,
                          gltf_shape shape, bool floats, uint32_t count, uint32_t *out)
{
    const int64_t index = cutis_gltf_accessor_of(document, json_object_get(object, key));
    if (index < 0) return false;
    const gltf_accessor *a = &document->accessors[index];
    *out = (uint32_t)index;
    return a->shape == shape && (a->component == GLTF_F32) == floats &&
           (count == UINT32_MAX || a->count == count);
}

// Lists of (index, value): where each begins, and the two arrays, which are as long as it says.
static cutis_result read_lists(gltf_document *document, const json_t *object,
                               const char *values_key, uint32_t count, const char *place,
                               const uint32_t **first, const uint32_t **indices,
                               const float **values)
{
    uint32_t starts, handles, floats;
    if (!find_accessor(document, object, "first", GLTF_SCALAR, false, count + 1, &starts) ||
        !find_accessor(document, object, "handles", GLTF_SCALAR, false, UINT32_MAX, &handles) ||
        !find_accessor(document, object, values_key, GLTF_SCALAR, true,
                       document->accessors[handles].count, &floats))
        FAIL("%s: want accessors first, handles and %s: %u, n and n scalars", place, values_key,
             count + 1);
    cutis_result result = cutis_gltf_new_integers(document, starts, first);
    if (result == CUTIS_OK && (*first)[count] != document->accessors[handles].count)
        FAIL("%s: the lists end at %u, there are %u entries", place, (*first)[count],
             document->accessors[handles].count);
    if (result == CUTIS_OK) result = cutis_gltf_new_integers(document, handles, indices);
    if (result == CUTIS_OK) result = cutis_gltf_new_floats(document, floats, values);
    return result;
}

static cutis_result read_virtual(gltf_document *document, const json_t *json, cutis_handle_rig *rig)
{
    uint32_t places;
    const float *values = NULL;
    if (!json) return CUTIS_OK;
    if (!find_accessor(document, json, "places", GLTF_VEC3, true, UINT32_MAX, &places))
        FAIL("/extensions/" NAME "/virtual/places: want an accessor of VEC3 floats");
    rig->virtual_count = document->accessors[places].count;
    cutis_result result = cutis_gltf_new_floats(document, places, &values);
    rig->virtual_places = (const cutis_float3 *)values;
    if (result == CUTIS_OK)
        result =
            read_lists(document, json, "shares", rig->virtual_count, "/extensions/" NAME "/virtual",
                       &rig->share_first, &rig->share_handles, &rig->shares);
    return result;
}

static cutis_result read_primitive(gltf_document *document, uint32_t mesh, uint32_t file,
                                   uint32_t vertex_count, cutis_handle_weights *out)
{
    const json_t *list = json_object_get(cutis_gltf_item(document, "meshes", mesh), "primitives");
    const json_t *own = cutis_gltf_extension(json_array_get(list, file), NAME);
    char place[96];
    *out = (cutis_handle_weights){ .vertex_count = vertex_count };
    if (!own) return CUTIS_OK;
    snprintf(place, sizeof place, "/meshes/%u/primitives/%u/extensions/" NAME, mesh, file);
    return read_lists(document, own, "weights", vertex_count, place, &out->influences.first,
                      &out->influences.joints, &out->influences.weights);
}

static cutis_result read_meshes(gltf_document *document, cutis_handle_rig *rig)
{
    const cutis_model_data *data = &document->data;
    rig->mesh_count = data->mesh_count;
    for (uint32_t m = 0; m < data->mesh_count; m++)
        rig->primitive_count += data->meshes[m].primitive_count;
    int32_t *first = cutis_arena_alloc(&document->parts, data->mesh_count, sizeof *first);
    cutis_handle_weights *weights =
        cutis_arena_alloc(&document->parts, rig->primitive_count, sizeof *weights);
    uint32_t at = 0;
    if (!first || !weights) return cutis_alloc_result(document->context);
    rig->first_handles = first;
    rig->weights = rig->virtual_count ? weights : NULL;
    for (uint32_t m = 0; m < data->mesh_count; m++) {
        const json_t *own = cutis_gltf_extension(cutis_gltf_item(document, "meshes", m), NAME);
        const json_t *handle = json_object_get(own, "first");
        first[m] = CUTIS_NONE;
        if (own && (!json_is_integer(handle) || json_integer_value(handle) < 0 ||
                    json_integer_value(handle) >= rig->handle_count))
            FAIL("/meshes/%u/extensions/" NAME "/first: want the index of a handle", m);
        if (own) first[m] = (int32_t)json_integer_value(handle);
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++) {
            cutis_result result =
                read_primitive(document, m, document->primitives[m][p],
                               data->meshes[m].primitives[p].vertex_count, &weights[at++]);
            if (result != CUTIS_OK) return result;
        }
    }
    return CUTIS_OK;
}

cutis_result cutis_gltf_read_handles(gltf_document *document)
{
    const json_t *json = cutis_gltf_extension(document->root, NAME);
    const json_t *list = json_object_get(json, "handles");
    if (!json) return CUTIS_OK;
    const size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0 || count > UINT32_MAX)
        FAIL("/extensions/" NAME "/handles: want at least one handle");
    cutis_result result = cutis_gltf_charge(document, count, sizeof(cutis_handle));
    if (result != CUTIS_OK) return result;
    cutis_handle_rig *rig = cutis_arena_alloc(&document->parts, 1, sizeof *rig);
    cutis_handle *handles = cutis_arena_alloc(&document->parts, count, sizeof *handles);
    uint32_t *nodes = cutis_arena_alloc(&document->parts, count, sizeof *nodes);
    if (!rig || !handles || !nodes) return cutis_alloc_result(document->context);
    *rig =
        (cutis_handle_rig){ .handle_count = (uint32_t)count, .handles = handles, .nodes = nodes };
    result = read_handles(document, list, handles, nodes);
    if (result == CUTIS_OK) result = read_virtual(document, json_object_get(json, "virtual"), rig);
    if (result == CUTIS_OK) result = read_meshes(document, rig);
    document->data.handles = rig;
    return result;
}

// Writing
// -----------------------------------------------------------------------------------------

static json_t *write_handle(gltf_writer *writer, const cutis_handle_rig *rig, uint32_t h)
{
    const cutis_handle *handle = &rig->handles[h];
    const bool bar = handle->kind == CUTIS_HANDLE_BAR;
    json_t *json = json_object();
    cutis_gltf_set(writer, json, "node", json_integer(writer->node_of_model[rig->nodes[h]]));
    cutis_gltf_set(writer, json, "kind", json_string(bar ? "bar" : "point"));
    cutis_gltf_set(writer, json, bar ? "from" : "position",
                   cutis_gltf_float_array(&handle->from.x, 3));
    if (bar) cutis_gltf_set(writer, json, "to", cutis_gltf_float_array(&handle->to.x, 3));
    return json;
}

static json_t *write_lists(gltf_writer *writer, const uint32_t *first, uint32_t count,
                           const uint32_t *handles, const float *values, const char *values_key)
{
    json_t *json = json_object();
    cutis_gltf_set_numbers(writer, json, "first", first, (size_t)count + 1, GLTF_SCALAR, GLTF_U32);
    cutis_gltf_set_numbers(writer, json, "handles", handles, first[count], GLTF_SCALAR, GLTF_U32);
    cutis_gltf_set_numbers(writer, json, values_key, values, first[count], GLTF_SCALAR, GLTF_F32);
    return json;
}

// Where primitive p of a mesh is in the file: the source's places, then new ones.
static json_t *primitive_of(const gltf_writer *writer, uint32_t mesh, uint32_t p)
{
    const json_t *list = json_object_get(
        json_array_get(json_object_get(writer->root, "meshes"), mesh), "primitives");
    const uint32_t count = writer->data->meshes[mesh].primitive_count;
    const bool kept = writer->before && mesh < writer->source.mesh_count &&
                      p < writer->source.primitive_counts[mesh];
    return json_array_get(list, kept ? writer->source.primitives[mesh][p]
                                     : json_array_size(list) - count + p);
}

static void write_meshes(gltf_writer *writer, const cutis_handle_rig *rig)
{
    const cutis_model_data *data = writer->data;
    uint32_t at = 0;
    for (uint32_t m = 0; m < data->mesh_count; m++) {
        json_t *own = NULL, *mesh = json_array_get(json_object_get(writer->root, "meshes"), m);
        if (rig && rig->first_handles[m] != CUTIS_NONE) {
            own = json_object();
            cutis_gltf_set(writer, own, "first", json_integer(rig->first_handles[m]));
        }
        cutis_gltf_place_extension(writer, mesh, NAME, own);
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++, at++) {
            json_t *lists = NULL;
            if (rig && rig->weights && rig->weights[at].influences.first) {
                const cutis_influences *in = &rig->weights[at].influences;
                if (in->first[rig->weights[at].vertex_count] > 0)
                    lists = write_lists(writer, in->first, rig->weights[at].vertex_count,
                                        in->joints, in->weights, "weights");
            }
            cutis_gltf_place_extension(writer, primitive_of(writer, m, p), NAME, lists);
        }
    }
}

static json_t *write_rig(gltf_writer *writer, const cutis_handle_rig *rig)
{
    json_t *json = json_object(), *handles = json_array();
    for (uint32_t h = 0; h < rig->handle_count; h++)
        cutis_gltf_append(writer, handles, write_handle(writer, rig, h));
    cutis_gltf_set(writer, json, "handles", handles);
    if (rig->virtual_count) {
        json_t *lists = write_lists(writer, rig->share_first, rig->virtual_count,
                                    rig->share_handles, rig->shares, "shares");
        cutis_gltf_set_numbers(writer, lists, "places", rig->virtual_places, rig->virtual_count,
                               GLTF_VEC3, GLTF_F32);
        cutis_gltf_set(writer, json, "virtual", lists);
    }
    return json;
}

void cutis_gltf_write_handles(gltf_writer *writer)
{
    const cutis_handle_rig *rig = writer->data->handles;
    write_meshes(writer, rig);
    cutis_gltf_root_extension(writer, NAME, rig ? write_rig(writer, rig) : NULL);
}
