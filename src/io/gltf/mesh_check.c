/// What glTF asks of the accessors of a mesh: formats by attribute, equal counts, views that are
/// not shared between uses. Invariant: after cutis_gltf_check_meshes, mesh.c decodes attributes
/// knowing their width and count.
#include "io/gltf/parts.h"

#include <stdio.h>
#include <string.h>

enum { F = 1, I8N = 2, U8N = 4, I16N = 8, U16N = 16, U8 = 32, U16 = 64, I8 = 128, I16 = 256 };
enum { QUANTIZED_ANY = I8 | U8 | I16 | U16 | I8N | U8N | I16N | U16N };

/// Allowed formats: always, and more of them with KHR_mesh_quantization.
typedef struct semantic {
    const char *name; ///< a trailing '_' stands for a set number
    gltf_shape low, high;
    int formats, quantized;
} semantic;

static const semantic ATTRIBUTES[] = {
    { "POSITION", GLTF_VEC3, GLTF_VEC3, F, QUANTIZED_ANY },
    { "NORMAL", GLTF_VEC3, GLTF_VEC3, F, I8N | I16N },
    { "TANGENT", GLTF_VEC4, GLTF_VEC4, F, I8N | I16N },
    { "TEXCOORD_", GLTF_VEC2, GLTF_VEC2, F | U8N | U16N, QUANTIZED_ANY },
    { "COLOR_", GLTF_VEC3, GLTF_VEC4, F | U8N | U16N, 0 },
    { "JOINTS_", GLTF_VEC4, GLTF_VEC4, U8 | U16, 0 },
    { "WEIGHTS_", GLTF_VEC4, GLTF_VEC4, F | U8N | U16N, 0 },
    { NULL, GLTF_SCALAR, GLTF_SCALAR, 0, 0 },
};

static const semantic TARGETS[] = {
    { "POSITION", GLTF_VEC3, GLTF_VEC3, F, I8 | I16 | I8N | I16N },
    { "NORMAL", GLTF_VEC3, GLTF_VEC3, F, I8N | I16N },
    { "TANGENT", GLTF_VEC3, GLTF_VEC3, F, I8N | I16N },
    { "TEXCOORD_", GLTF_VEC2, GLTF_VEC2, F | I8N | I16N | U8N | U16N, QUANTIZED_ANY },
    { "COLOR_", GLTF_VEC3, GLTF_VEC4, F | I8N | I16N | U8N | U16N, 0 },
    { NULL, GLTF_SCALAR, GLTF_SCALAR, 0, 0 },
};

static int format_of(const gltf_accessor *a)
{
    static const int PLAIN[] = { I8, U8, I16, U16, 0, 0, F };
    static const int NORMALIZED[] = { I8N, U8N, I16N, U16N, 0, 0, F };
    return a->unknown ? 0 : (a->normalized ? NORMALIZED : PLAIN)[a->component - GLTF_I8];
}

/// The semantic of an attribute's name; `set` is its number, or -1. NULL: none of ours.
static const semantic *find_semantic(const semantic *list, const char *name, int *set)
{
    *set = -1;
    for (; list->name; list++) {
        size_t length = strlen(list->name);
        if (list->name[length - 1] != '_') {
            if (strcmp(list->name, name) == 0) return list;
            continue;
        }
        if (strncmp(list->name, name, length) != 0) continue;
        const char *digits = name + length;
        size_t digit_count = strspn(digits, "0123456789");
        if (digit_count == 0 || digit_count > 6 || digits[digit_count] != 0 ||
            (digits[0] == '0' && digit_count > 1))
            return NULL;
        sscanf(digits, "%d", set);
        return list;
    }
    return NULL;
}

/// A view holds vertices or indices, never both, as its target says; two vertex attributes on it
/// need a stride.
static cutis_result claim_view(gltf_document *document, const char *place, uint32_t accessor,
                               bool vertices)
{
    int32_t index = document->accessors[accessor].view;
    if (index == CUTIS_NONE) return CUTIS_OK;
    gltf_view *view = &document->views[index];
    uint32_t target = vertices ? GLTF_ARRAY_BUFFER : GLTF_ELEMENT_ARRAY_BUFFER;
    int32_t *mine = vertices ? &view->vertices : &view->indices;
    int32_t other = vertices ? view->indices : view->vertices;
    // Read for use, a wrong target does no harm; uses.c sees to it that nobody writes it.
    if (document->strict && ((view->target && view->target != target) || other != CUTIS_NONE))
        return WRONG("BUFFER_VIEW_TARGET_OVERRIDE",
                     "%s: bufferView %d holds %s by its target or another accessor", place, index,
                     vertices ? "indices" : "vertices");
    if (vertices && *mine != CUTIS_NONE && *mine != (int32_t)accessor && !view->stride) {
        FORGIVE("MESH_PRIMITIVE_ACCESSOR_WITHOUT_BYTESTRIDE",
                "%s: bufferView %d holds attributes %d and %u but has no stride", place, index,
                *mine, accessor);
        document->accessors[accessor].askew = true;
        return CUTIS_OK;
    }
    *mine = (int32_t)accessor;
    return CUTIS_OK;
}

/// Formats that glTF does not allow and that nobody can mistake: weights whose integers are not
/// called normalised, joints of 32 bits.
static cutis_result check_format(gltf_document *document, const char *place, const char *name,
                                 uint32_t accessor, const semantic *s)
{
    gltf_accessor *a = &document->accessors[accessor];
    json_t *json = (json_t *)cutis_gltf_item(document, "accessors", accessor);
    const int format = format_of(a),
              allowed = s->formats | (document->quantized ? s->quantized : 0);
    const bool shaped = a->shape >= s->low && a->shape <= s->high;
    const bool weights = strcmp(s->name, "WEIGHTS_") == 0 && (format & (U8 | U16));
    const bool joints = strcmp(s->name, "JOINTS_") == 0 && !a->unknown && !a->normalized &&
                        a->component == GLTF_U32;
    if (shaped && (format & allowed)) return CUTIS_OK;
    if (document->strict || !shaped || !(weights || joints))
        return WRONG("MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_INVALID_FORMAT",
                     "%s: the format of accessor %u is not one for %s", place, accessor, name);
    FORGIVE("MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_INVALID_FORMAT", "%s: accessor %u has %s", place,
            accessor, weights ? "integers that are not called normalised" : "32 bit joints");
    a->unfit = joints;
    if (!weights) return CUTIS_OK;
    a->normalized = true;
    return json_object_set_new(json, "normalized", json_true()) == 0
               ? CUTIS_OK
               : cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for an accessor");
}

static cutis_result check_attribute(gltf_document *document, const char *place, const char *name,
                                    uint32_t accessor, const semantic *s, uint32_t vertex_count,
                                    bool target)
{
    gltf_accessor *a = &document->accessors[accessor];
    char full[160];
    snprintf(full, sizeof full, "%s/%.40s", place, name);
    if (a->component == GLTF_U32 && !s)
        return WRONG("MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_UNSIGNED_INT",
                     "%s: accessor %u has 32 bit integers, only indices may", full, accessor);
    cutis_result result = s ? check_format(document, full, name, accessor, s) : CUTIS_OK;
    if (result != CUTIS_OK) return result;
    if (a->count != vertex_count)
        return WRONG(target ? "MESH_PRIMITIVE_MORPH_TARGET_INVALID_ATTRIBUTE_COUNT"
                            : "MESH_PRIMITIVE_UNEQUAL_ACCESSOR_COUNT",
                     "%s: accessor %u has %u elements, the primitive has %u vertices", full,
                     accessor, a->count, vertex_count);
    if (strcmp(name, "POSITION") == 0 && !a->has_bounds) {
        FORGIVE("MESH_PRIMITIVE_POSITION_ACCESSOR_WITHOUT_BOUNDS",
                "%s: accessor %u has no min and max", full, accessor);
        a->boundless = true;
    }
    const json_t *json = cutis_gltf_item(document, "accessors", accessor);
    if (a->view != CUTIS_NONE &&
        (cutis_gltf_integer(json, "byteOffset", 0) % 4 || (a->stride % 4 && a->count > 1))) {
        FORGIVE("MESH_PRIMITIVE_ACCESSOR_UNALIGNED",
                "%s: the elements of accessor %u do not start at multiples of 4 bytes", full,
                accessor);
        a->askew = true;
    }
    return claim_view(document, full, accessor, true);
}

/// Sets of a numbered attribute run from 0 without a gap; joints and weights come in pairs.
static cutis_result check_sets(const gltf_document *document, const char *place, const json_t *map)
{
    static const char *const NAMES[] = { "TEXCOORD_", "COLOR_", "JOINTS_", "WEIGHTS_" };
    int counts[4] = { 0 }, highest[4] = { -1, -1, -1, -1 }, set;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)map, key, value)
    {
        const semantic *s = find_semantic(ATTRIBUTES, key, &set);
        for (int i = 0; s && i < 4; i++) {
            if (strcmp(s->name, NAMES[i]) != 0) continue;
            counts[i]++;
            if (set > highest[i]) highest[i] = set;
        }
    }
    for (int i = 0; i < 4; i++) {
        if (highest[i] + 1 != counts[i])
            return WRONG("MESH_PRIMITIVE_INDEXED_SEMANTIC_CONTINUITY",
                         "%s: %s%d is there, but not all sets before it", place, NAMES[i],
                         highest[i]);
    }
    if (counts[2] != counts[3])
        return WRONG("MESH_PRIMITIVE_JOINTS_WEIGHTS_MISMATCH",
                     "%s: %d sets of joints, %d sets of weights", place, counts[2], counts[3]);
    return CUTIS_OK;
}

static cutis_result check_attributes(gltf_document *document, const char *place, const json_t *map,
                                     uint32_t *vertex_count)
{
    const char *key;
    json_t *value;
    int set;
    int32_t position = cutis_gltf_index(map, "POSITION");
    *vertex_count = position == CUTIS_NONE ? 0 : document->accessors[position].count;
    json_object_foreach((json_t *)map, key, value)
    {
        int64_t accessor = 0;
        const semantic *s = find_semantic(ATTRIBUTES, key, &set);
        if (!s && key[0] != '_')
            return WRONG("MESH_PRIMITIVE_INVALID_ATTRIBUTE", "%s/%.60s: is no attribute", place,
                         key);
        cutis_json_integer(value, &accessor);
        if (*vertex_count == 0) *vertex_count = document->accessors[accessor].count;
        cutis_result result =
            check_attribute(document, place, key, (uint32_t)accessor, s, *vertex_count, false);
        if (result != CUTIS_OK) return result;
    }
    return check_sets(document, place, map);
}

static cutis_result check_target(gltf_document *document, const char *place, const json_t *map,
                                 const json_t *attributes, uint32_t vertex_count)
{
    const char *key;
    json_t *value;
    int set;
    json_object_foreach((json_t *)map, key, value)
    {
        int64_t accessor = 0;
        const semantic *s = find_semantic(TARGETS, key, &set);
        if (!s && key[0] != '_')
            return WRONG("MESH_PRIMITIVE_INVALID_ATTRIBUTE", "%s/%.60s: cannot be morphed", place,
                         key);
        if (!json_object_get(attributes, key))
            return WRONG("MESH_PRIMITIVE_MORPH_TARGET_NO_BASE_ACCESSOR",
                         "%s/%.60s: the primitive has none", place, key);
        cutis_json_integer(value, &accessor);
        cutis_result result =
            check_attribute(document, place, key, (uint32_t)accessor, s, vertex_count, true);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

static cutis_result check_indices(gltf_document *document, const char *place, uint32_t accessor)
{
    gltf_accessor *a = &document->accessors[accessor];
    char full[160];
    snprintf(full, sizeof full, "%s/indices", place);
    if (a->unknown || a->shape != GLTF_SCALAR || a->normalized ||
        (a->component != GLTF_U8 && a->component != GLTF_U16 && a->component != GLTF_U32))
        return WRONG("MESH_PRIMITIVE_INDICES_ACCESSOR_INVALID_FORMAT",
                     "%s: accessor %u is not SCALAR of unsigned integers", full, accessor);
    if (a->view != CUTIS_NONE && document->views[a->view].stride) {
        FORGIVE("MESH_PRIMITIVE_INDICES_ACCESSOR_WITH_BYTESTRIDE",
                "%s: bufferView %d has a stride, which is honoured", full, a->view);
        a->askew = true;
    }
    return claim_view(document, full, accessor, false);
}

static cutis_result check_primitive(gltf_document *document, uint32_t mesh, uint32_t index,
                                    const json_t *json, uint32_t target_count)
{
    const json_t *attributes = json_object_get(json, "attributes");
    const json_t *targets = json_object_get(json, "targets");
    int32_t indices = cutis_gltf_index(json, "indices");
    char place[96], inner[128];
    uint32_t vertex_count;
    snprintf(place, sizeof place, "/meshes/%u/primitives/%u", mesh, index);
    snprintf(inner, sizeof inner, "%s/attributes", place);
    cutis_result result = check_attributes(document, inner, attributes, &vertex_count);
    if (result == CUTIS_OK && indices != CUTIS_NONE)
        result = check_indices(document, place, (uint32_t)indices);
    if (result != CUTIS_OK) return result;
    if (json_array_size(targets) != target_count)
        return WRONG("MESH_PRIMITIVES_UNEQUAL_TARGETS_COUNT",
                     "%s/targets: %zu morph targets, the first primitive has %u", place,
                     json_array_size(targets), target_count);
    for (uint32_t t = 0; t < target_count && result == CUTIS_OK; t++) {
        snprintf(inner, sizeof inner, "%s/targets/%u", place, t);
        result =
            check_target(document, inner, json_array_get(targets, t), attributes, vertex_count);
    }
    return result;
}

static cutis_result check_mesh(gltf_document *document, uint32_t index)
{
    const json_t *json = cutis_gltf_item(document, "meshes", index);
    const json_t *list = json_object_get(json, "primitives"),
                 *weights = json_object_get(json, "weights");
    uint32_t count = (uint32_t)json_array_size(list), kept = 0;
    size_t targets = json_array_size(json_object_get(json_array_get(list, 0), "targets"));
    uint32_t *map = cutis_arena_alloc(&document->arena, count, sizeof *map);
    if (!map) return cutis_alloc_result(document->context);
    if (weights && json_array_size(weights) != targets)
        return WRONG("MESH_INVALID_WEIGHTS_COUNT",
                     "/meshes/%u/weights: %zu weights for %zu morph targets", index,
                     json_array_size(weights), targets);
    for (uint32_t p = 0; p < count; p++) {
        const json_t *primitive = json_array_get(list, p);
        cutis_result result = check_primitive(document, index, p, primitive, (uint32_t)targets);
        if (result != CUTIS_OK) return result;
        // Without positions there is nothing to draw or deform; the writer still keeps it.
        if (json_object_get(json_object_get(primitive, "attributes"), "POSITION")) map[kept++] = p;
    }
    document->primitives[index] = map;
    document->primitive_counts[index] = kept;
    return CUTIS_OK;
}

/// Joints of the smallest skin each mesh is used with, UINT32_MAX without one: what joints are in
/// range. Of the JSON, because meshes are read before skins.
static cutis_result find_joint_limits(gltf_document *document)
{
    uint32_t *limits = cutis_gltf_new_items(document, &document->arena, "meshes", sizeof *limits,
                                            &document->mesh_count);
    document->joints_used = cutis_gltf_new_items(document, &document->arena, "meshes",
                                                 sizeof(uint32_t), &document->mesh_count);
    if (!limits || !document->joints_used) return cutis_alloc_result(document->context);
    memset(limits, 0xff, document->mesh_count * sizeof *limits);
    for (uint32_t n = 0; n < document->node_count; n++) {
        const json_t *node = cutis_gltf_item(document, "nodes", n);
        int32_t mesh = cutis_gltf_index(node, "mesh"), skin = cutis_gltf_index(node, "skin");
        if (mesh == CUTIS_NONE || skin == CUTIS_NONE) continue;
        size_t joints = json_array_size(
            json_object_get(cutis_gltf_item(document, "skins", (size_t)skin), "joints"));
        if (joints < limits[mesh]) limits[mesh] = (uint32_t)joints;
    }
    document->joint_limits = limits;
    return CUTIS_OK;
}

cutis_result cutis_gltf_check_meshes(gltf_document *document)
{
    cutis_result result = find_joint_limits(document);
    if (result != CUTIS_OK) return result;
    document->primitives = cutis_gltf_new_items(
        document, &document->arena, "meshes", sizeof *document->primitives, &document->mesh_count);
    document->primitive_counts = cutis_gltf_new_items(document, &document->arena, "meshes",
                                                      sizeof(uint32_t), &document->mesh_count);
    if (!document->primitives || !document->primitive_counts)
        return cutis_alloc_result(document->context);
    for (uint32_t i = 0; i < document->mesh_count; i++) {
        result = check_mesh(document, i);
        if (!cutis_gltf_go_on(document, &result)) return result;
    }
    return cutis_gltf_end_phase(document, CUTIS_OK);
}
