/// What the Khronos validator warns of and remarks on in core glTF, and what this look leaves out,
/// for the report. Nothing here is an error. Runs on a document that has passed the schema, so
/// every property has its type and every index its item. Informations about what is unused, empty
/// or degenerate are not given: they are many, and nobody is worse off for them.
#include "io/gltf/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define REMARK(severity, ...) cutis_gltf_remark(document, CUTIS_ISSUE_##severity, __VA_ARGS__)

/// "PREFIX_name": capitals and digits, then letters, digits and underscores.
static bool well_named(const char *name)
{
    static const char CAPITALS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz_";
    size_t prefix = strspn(name, CAPITALS);
    return prefix && name[prefix] == '_' && name[prefix + 1] &&
           name[prefix + 1 + strspn(name + prefix + 1, LETTERS)] == 0;
}

/// Extensions whose rules are neither rows of the schema nor checked where they are read.
static bool is_looked_into(const char *name)
{
    return strncmp(name, "CUTIS_", 6) == 0 || strstr(name, "_meshopt_compression") ||
           cutis_gltf_extension_checked(name);
}

static void remark_extensions(const gltf_document *document)
{
    const json_t *used = json_object_get(document->root, "extensionsUsed");
    for (size_t i = 0; i < json_array_size(used); i++) {
        const char *name = json_string_value(json_array_get(used, i));
        if (!well_named(name))
            REMARK(WARNING, "INVALID_EXTENSION_NAME_FORMAT",
                   "/extensionsUsed/%zu: \"%.100s\" is not PREFIX_name", i, name);
        if (is_looked_into(name)) continue;
        REMARK(INFORMATION, "UNSUPPORTED_EXTENSION",
               "/extensionsUsed/%zu: the rules of %.100s are "
               "not known here",
               i, name);
        cutis_gltf_not_checked(document, "/extensionsUsed/%zu: what is inside %.100s", i, name);
    }
    if (json_object_get(document->root, "images"))
        cutis_gltf_not_checked(document, "/images: pixels (only headers are read)");
}

static bool is_identity(const json_t *numbers, const double *identity)
{
    for (size_t i = 0; i < json_array_size(numbers); i++)
        if (json_number_value(json_array_get(numbers, i)) != identity[i]) return false;
    return true;
}

/// Whether the node moves what it holds; absent properties do not.
static bool has_transform(const json_t *node)
{
    static const double EYE[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    static const double ZERO[3] = { 0 }, ONE[3] = { 1, 1, 1 };
    return !is_identity(json_object_get(node, "matrix"), EYE) ||
           !is_identity(json_object_get(node, "translation"), ZERO) ||
           !is_identity(json_object_get(node, "rotation"), EYE + 12) ||
           !is_identity(json_object_get(node, "scale"), ONE);
}

/// Whether any primitive of the node's mesh has joints.
static bool shows_joints(const gltf_document *document, const json_t *node)
{
    const int32_t mesh = cutis_gltf_index(node, "mesh");
    if (mesh == CUTIS_NONE) return false;
    const json_t *list =
        json_object_get(cutis_gltf_item(document, "meshes", (size_t)mesh), "primitives");
    for (size_t p = 0; p < json_array_size(list); p++)
        if (json_object_get(json_object_get(json_array_get(list, p), "attributes"), "JOINTS_0"))
            return true;
    return false;
}

/// @param children one byte per node: it is one
static void remark_node(const gltf_document *document, uint32_t index, const uint8_t *children)
{
    const json_t *node = cutis_gltf_item(document, "nodes", index);
    const json_t *matrix = json_object_get(node, "matrix");
    if (matrix && !has_transform(node))
        REMARK(INFORMATION, "NODE_MATRIX_DEFAULT", "/nodes/%u/matrix: the identity", index);
    if (!json_object_get(node, "skin")) {
        if (shows_joints(document, node))
            REMARK(WARNING, "NODE_SKINNED_MESH_WITHOUT_SKIN",
                   "/nodes/%u: its mesh has joints, and it has no skin", index);
        return;
    }
    if (children[index])
        REMARK(WARNING, "NODE_SKINNED_MESH_NON_ROOT",
               "/nodes/%u: nodes above a skinned mesh do not move it", index);
    if (has_transform(node))
        REMARK(WARNING, "NODE_SKINNED_MESH_LOCAL_TRANSFORMS",
               "/nodes/%u: a skinned mesh is not moved by its node", index);
}

static cutis_result remark_nodes(const gltf_document *document)
{
    const json_t *nodes = json_object_get(document->root, "nodes");
    const size_t count = json_array_size(nodes);
    uint8_t *children = cutis_alloc_zero(document->context, count, 1);
    if (!children) return cutis_alloc_result(document->context);
    for (size_t n = 0; n < count; n++) {
        const json_t *list = json_object_get(json_array_get(nodes, n), "children");
        for (size_t i = 0; i < json_array_size(list); i++) children[cutis_gltf_entry(list, i)] = 1;
    }
    for (uint32_t n = 0; n < count; n++) remark_node(document, n, children);
    cutis_free(document->context, children, count);
    return CUTIS_OK;
}

/// Whether as many vertices make whole lines or triangles.
static bool fits_mode(int64_t mode, int64_t count)
{
    switch (mode) {
    case 1:
        return count % 2 == 0;
    case 2:
    case 3:
        return count >= 2;
    case 4:
        return count % 3 == 0;
    case 5:
    case 6:
        return count >= 3;
    default:
        return true;
    }
}

static void remark_mesh(const gltf_document *document, uint32_t index)
{
    const json_t *list = json_object_get(cutis_gltf_item(document, "meshes", index), "primitives");
    for (size_t p = 0; p < json_array_size(list); p++) {
        const json_t *primitive = json_array_get(list, p);
        const json_t *attributes = json_object_get(primitive, "attributes");
        int32_t counted = cutis_gltf_index(primitive, "indices");
        if (!json_object_get(attributes, "POSITION"))
            REMARK(WARNING, "MESH_PRIMITIVE_NO_POSITION",
                   "/meshes/%u/primitives/%zu/attributes: no POSITION", index, p);
        if (counted == CUTIS_NONE) { // all attributes have as many
            void *first = json_object_iter((json_t *)attributes);
            counted = cutis_gltf_index(attributes, json_object_iter_key(first));
        }
        const int64_t count =
            cutis_gltf_integer(cutis_gltf_item(document, "accessors", (size_t)counted), "count", 0);
        if (!fits_mode(cutis_gltf_integer(primitive, "mode", 4), count))
            REMARK(WARNING, "MESH_PRIMITIVE_INCOMPATIBLE_MODE",
                   "/meshes/%u/primitives/%zu: %lld vertices do not fit its mode", index, p,
                   (long long)count);
    }
}

static void remark_animation(const gltf_document *document, uint32_t index)
{
    static const char *const MOVES[] = { "translation", "rotation", "scale" };
    const json_t *list =
        json_object_get(cutis_gltf_item(document, "animations", index), "channels");
    for (size_t c = 0; c < json_array_size(list); c++) {
        const json_t *target = json_object_get(json_array_get(list, c), "target");
        const int32_t node = cutis_gltf_index(target, "node");
        if (cutis_gltf_extension(target, "KHR_animation_pointer")) {
            REMARK(INFORMATION, "INCOMPLETE_EXTENSION_SUPPORT",
                   "/animations/%u/channels/%zu/target/extensions/KHR_animation_pointer: not "
                   "followed",
                   index, c);
            cutis_gltf_not_checked(document, "/animations/%u/channels/%zu: where its pointer leads",
                                   index, c);
        }
        if (node == CUTIS_NONE ||
            cutis_gltf_find_word(MOVES, 3, cutis_gltf_string(target, "path")) < 0)
            continue;
        if (json_object_get(cutis_gltf_item(document, "nodes", (size_t)node), "skin"))
            REMARK(WARNING, "ANIMATION_CHANNEL_TARGET_NODE_SKIN",
                   "/animations/%u/channels/%zu/target/path: node %d shows a skinned mesh, which "
                   "it does not move",
                   index, c, node);
    }
}

static void remark_camera(const gltf_document *document, uint32_t index)
{
    const json_t *json = cutis_gltf_item(document, "cameras", index);
    const json_t *flat = json_object_get(json, "orthographic");
    if (cutis_gltf_number(flat, "xmag", 1) < 0 || cutis_gltf_number(flat, "ymag", 1) < 0)
        REMARK(WARNING, "CAMERA_XMAG_YMAG_NEGATIVE",
               "/cameras/%u/orthographic: xmag or ymag is negative", index);
    if (cutis_gltf_number(json_object_get(json, "perspective"), "yfov", 1) >= 3.141592653589793)
        REMARK(WARNING, "CAMERA_YFOV_GEQUAL_PI",
               "/cameras/%u/perspective/yfov: half a turn or more", index);
}

/// Data that a GLB could hold itself.
static void remark_uris(const gltf_document *document, const char *collection)
{
    const json_t *items = json_object_get(document->root, collection);
    for (size_t i = 0; i < json_array_size(items) && document->binary; i++) {
        const char *uri = cutis_gltf_string(json_array_get(items, i), "uri");
        if (!uri) continue;
        REMARK(INFORMATION, "URI_GLB", "/%s/%zu/uri: in a GLB", collection, i);
        if (strncasecmp(uri, "data:", 5) == 0)
            REMARK(WARNING, "DATA_URI_GLB", "/%s/%zu/uri: data as text in a GLB", collection, i);
    }
}

cutis_result cutis_gltf_remark_all(gltf_document *document)
{
    static const struct {
        const char *collection;
        void (*remark)(const gltf_document *document, uint32_t index);
    } REMARKS[] = { { "meshes", remark_mesh },
                    { "animations", remark_animation },
                    { "cameras", remark_camera } };
    if (!document->report) return CUTIS_OK;
    remark_extensions(document);
    for (size_t k = 0; k < sizeof REMARKS / sizeof *REMARKS; k++) {
        size_t count = json_array_size(json_object_get(document->root, REMARKS[k].collection));
        for (uint32_t i = 0; i < count; i++) REMARKS[k].remark(document, i);
    }
    remark_uris(document, "buffers");
    remark_uris(document, "images");
    return remark_nodes(document);
}
