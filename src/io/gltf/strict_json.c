/// What glTF says about properties together, where reading does not need it: cameras, lights,
/// images, URIs, animation pointers, extensions that must be required. Runs on a document that has
/// passed the schema, so every property has its type and every index its item.
#include "io/gltf/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LIGHTS "/extensions/KHR_lights_punctual/lights"

static cutis_result check_camera(const gltf_document *document, uint32_t index)
{
    const json_t *json = cutis_gltf_item(document, "cameras", index);
    const json_t *perspective = json_object_get(json, "perspective");
    const json_t *orthographic = json_object_get(json, "orthographic");
    const json_t *lens = perspective ? perspective : orthographic;
    const char *type = cutis_gltf_string(json, "type");
    bool known = strcmp(type, "perspective") == 0 || strcmp(type, "orthographic") == 0;
    if (perspective && orthographic)
        return WRONG("ONE_OF_MISMATCH", "/cameras/%u: perspective and orthographic", index);
    if (!known) return CUTIS_OK;
    if (!json_object_get(json, type))
        return WRONG("UNDEFINED_PROPERTY", "/cameras/%u: \"%s\" is missing", index, type);
    if (cutis_gltf_number(lens, "zfar", INFINITY) <= cutis_gltf_number(lens, "znear", 0))
        return WRONG("CAMERA_ZFAR_LEQUAL_ZNEAR", "/cameras/%u: zfar is not beyond znear", index);
    if (cutis_gltf_number(orthographic, "xmag", 1) == 0 ||
        cutis_gltf_number(orthographic, "ymag", 1) == 0)
        return WRONG("CAMERA_XMAG_YMAG_ZERO", "/cameras/%u: xmag or ymag is 0", index);
    return CUTIS_OK;
}

/// The syntax of a reference to a file: a scheme before the first ':' if there is one. Percent
/// signs are looked at when the file is opened.
static bool is_reference(const char *uri)
{
    size_t before = strcspn(uri, ":/?#");
    if (uri[before] != ':') return true;
    size_t scheme =
        strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    bool letter = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", uri[0]) != NULL;
    if (before == 0 || scheme != before || !letter) return false;
    if (strncmp(uri + before, "://", 3) != 0) return true;
    const char *host = uri + before + 3, *end = host + strcspn(host, "/?#");
    const char *port = memchr(host, ':', (size_t)(end - host));
    if (*host == '[') return memchr(host, ']', (size_t)(end - host)) != NULL;
    return !port || strspn(port + 1, "0123456789") == (size_t)(end - port - 1);
}

bool cutis_gltf_uri_valid(const char *uri)
{
    if (strncasecmp(uri, "data:", 5) != 0) return is_reference(uri);
    const char *comma = strchr(uri, ',');
    if (!comma) return false;
    // Parameters are name=value, and ";base64" comes last.
    for (const char *at = memchr(uri, ';', (size_t)(comma - uri)); at && at < comma;) {
        const char *next = memchr(at + 1, ';', (size_t)(comma - at - 1));
        size_t length = (size_t)((next ? next : comma) - at - 1);
        bool last = !next && length == 6 && memcmp(at + 1, "base64", 6) == 0;
        if (!last && !memchr(at + 1, '=', length)) return false;
        at = next;
    }
    if (comma - uri < 7 || memcmp(comma - 7, ";base64", 7) != 0) return true;
    return cutis_gltf_base64_valid(comma + 1);
}

static cutis_result check_image(const gltf_document *document, uint32_t index)
{
    const json_t *json = cutis_gltf_item(document, "images", index);
    const char *uri = cutis_gltf_string(json, "uri");
    int32_t view = cutis_gltf_index(json, "bufferView");
    if ((uri != NULL) == (view != CUTIS_NONE))
        return WRONG("ONE_OF_MISMATCH", "/images/%u: needs either uri or bufferView", index);
    if (uri && !cutis_gltf_uri_valid(uri))
        return WRONG("INVALID_URI", "/images/%u/uri: malformed", index);
    if (view == CUTIS_NONE) return CUTIS_OK;
    if (!json_object_get(json, "mimeType"))
        return WRONG("UNSATISFIED_DEPENDENCY", "/images/%u/bufferView: there is no mimeType",
                     index);
    if (json_object_get(cutis_gltf_item(document, "bufferViews", (size_t)view), "byteStride"))
        return WRONG("IMAGE_BUFFER_VIEW_WITH_BYTESTRIDE",
                     "/images/%u/bufferView: it has a byteStride", index);
    return CUTIS_OK;
}

static cutis_result check_light(const gltf_document *document, uint32_t index)
{
    const json_t *lights = cutis_gltf_extension(document->root, "KHR_lights_punctual");
    const json_t *json = json_array_get(json_object_get(lights, "lights"), index);
    const json_t *spot = json_object_get(json, "spot");
    const char *type = cutis_gltf_string(json, "type");
    static const double DEFAULT_OUTER = 0.7853981633974483; // an eighth of a turn
    if (spot && strcmp(type, "spot") != 0)
        cutis_gltf_remark(document, CUTIS_ISSUE_INFORMATION, "EXTRA_PROPERTY",
                          LIGHTS "/%u/spot: not of a light of type %.40s", index, type);
    if (json_object_get(json, "range") && strcmp(type, "directional") == 0)
        cutis_gltf_remark(document, CUTIS_ISSUE_INFORMATION, "EXTRA_PROPERTY",
                          LIGHTS "/%u/range: not of a light of type directional", index);
    if (strcmp(type, "spot") == 0 && cutis_gltf_number(spot, "outerConeAngle", DEFAULT_OUTER) <=
                                         cutis_gltf_number(spot, "innerConeAngle", 0))
        return WRONG("KHR_LIGHTS_PUNCTUAL_LIGHT_SPOT_ANGLES",
                     LIGHTS "/%u/spot/outerConeAngle: not wider than innerConeAngle", index);
    return CUTIS_OK;
}

/// A channel that animates what a pointer names has no node, and says so in its path.
static cutis_result check_pointers(const gltf_document *document, uint32_t index)
{
    const json_t *list =
        json_object_get(cutis_gltf_item(document, "animations", index), "channels");
    for (size_t c = 0; c < json_array_size(list); c++) {
        const json_t *target = json_object_get(json_array_get(list, c), "target");
        if (!cutis_gltf_extension(target, "KHR_animation_pointer")) continue;
        if (json_object_get(target, "node"))
            return WRONG("KHR_ANIMATION_POINTER_ANIMATION_CHANNEL_TARGET_NODE",
                         "/animations/%u/channels/%zu/target/extensions/KHR_animation_pointer: the "
                         "target has a node",
                         index, c);
        if (strcmp(cutis_gltf_string(target, "path"), "pointer") != 0)
            return WRONG("KHR_ANIMATION_POINTER_ANIMATION_CHANNEL_TARGET_PATH",
                         "/animations/%u/channels/%zu/target/extensions/KHR_animation_pointer: the "
                         "path is \"%.40s\", not \"pointer\"",
                         index, c, cutis_gltf_string(target, "path"));
    }
    return CUTIS_OK;
}

/// Lists of extensions: quantised data cannot be optional.
static cutis_result check_lists(const gltf_document *document)
{
    const json_t *used = json_object_get(document->root, "extensionsUsed");
    const json_t *required = json_object_get(document->root, "extensionsRequired");
    if (required && !used)
        return WRONG("UNSATISFIED_DEPENDENCY", "/extensionsRequired: there is no extensionsUsed");
    if (cutis_gltf_find_text(used, "KHR_mesh_quantization") >= 0 &&
        cutis_gltf_find_text(required, "KHR_mesh_quantization") < 0)
        return WRONG("NON_REQUIRED_EXTENSION",
                     "/extensionsUsed: KHR_mesh_quantization cannot be optional");
    return CUTIS_OK;
}

cutis_result cutis_gltf_check_strict_json(gltf_document *document)
{
    static const struct {
        const char *collection;
        cutis_result (*check)(const gltf_document *document, uint32_t index);
    } CHECKS[] = { { "cameras", check_camera },
                   { "images", check_image },
                   { "animations", check_pointers } };
    cutis_result result = check_lists(document);
    if (!cutis_gltf_go_on(document, &result)) return result;
    for (size_t k = 0; k < sizeof CHECKS / sizeof *CHECKS; k++) {
        size_t count = json_array_size(json_object_get(document->root, CHECKS[k].collection));
        for (uint32_t i = 0; i < count; i++) {
            result = CHECKS[k].check(document, i);
            if (!cutis_gltf_go_on(document, &result)) return result;
        }
    }
    const json_t *lights = cutis_gltf_extension(document->root, "KHR_lights_punctual");
    for (uint32_t i = 0; i < json_array_size(json_object_get(lights, "lights")); i++) {
        result = check_light(document, i);
        if (!cutis_gltf_go_on(document, &result)) return result;
    }
    return cutis_gltf_end_phase(document, cutis_gltf_check_strict_materials(document));
}
