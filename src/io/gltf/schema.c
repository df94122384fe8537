/// The glTF 2.0 schema as tables and one walker. Invariant: a document that passes has every
/// property of the types, ranges and references below; unknown properties, extras and the insides
/// of extensions are not looked at. The walk recurses on the schema (five levels), never on the
/// document.
#include "io/gltf/schema.h"

#include "base/error.h"
#include "base/memory.h"
#include "io/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum kind {
    BOOLEAN,
    STRING,
    STRINGS,   ///< array of distinct strings
    INTEGER,   ///< from low to high
    NUMBER,    ///< from low to high
    NUMBERS,   ///< `count` of them (0: any number but none)
    INDEX,     ///< into the root's collection `of`
    INDICES,   ///< array of distinct indices into `of`
    OBJECT,    ///< of type `of`
    OBJECTS,   ///< non-empty array of type `of`
    INDEX_MAP, ///< object whose values are indices into `of`
    INDEX_MAPS ///< non-empty array of such objects
};

typedef struct property {
    const char *name;
    enum kind kind;
    bool required;
    const char *of;
    int count;
    double low, high;
} property;

typedef struct type {
    const char *name;
    const property *properties;
} type;

#define BIG        9007199254740991.0
#define ANY        -INFINITY, INFINITY
#define POSITIVE   5e-324, INFINITY
#define COUNT(low) NULL, 0, low, BIG
#define TEXT(name)                                                                                 \
    {                                                                                              \
        name, STRING, false, NULL, 0, 0, 0                                                         \
    }
#define REF(name, to)                                                                              \
    {                                                                                              \
        name, INDEX, false, to, 0, 0, 0                                                            \
    }
#define REF_REQUIRED(name, to)                                                                     \
    {                                                                                              \
        name, INDEX, true, to, 0, 0, 0                                                             \
    }
#define PART(name, of)                                                                             \
    {                                                                                              \
        name, OBJECT, false, of, 0, 0, 0                                                           \
    }
#define PART_REQUIRED(name, of)                                                                    \
    {                                                                                              \
        name, OBJECT, true, of, 0, 0, 0                                                            \
    }
#define LIST(name, of)                                                                             \
    {                                                                                              \
        name, OBJECTS, false, of, 0, 0, 0                                                          \
    }
#define LIST_REQUIRED(name, of)                                                                    \
    {                                                                                              \
        name, OBJECTS, true, of, 0, 0, 0                                                           \
    }
#define NUMBER_IN(name, low, high)                                                                 \
    {                                                                                              \
        name, NUMBER, false, NULL, 0, low, high                                                    \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, BOOLEAN, false, NULL, 0, 0, 0                                                        \
    }
#define TYPE(name, ...)                                                                            \
    {                                                                                              \
        name, (const property[])                                                                   \
        {                                                                                          \
            __VA_ARGS__, END                                                                       \
        }                                                                                          \
    }

static const type TYPES[] = {
    TYPE("root", { "extensionsUsed", STRINGS, false, NULL, 0, 0, 0 },
         { "extensionsRequired", STRINGS, false, NULL, 0, 0, 0 }, PART_REQUIRED("asset", "asset"),
         LIST("accessors", "accessor"), LIST("animations", "animation"), LIST("buffers", "buffer"),
         LIST("bufferViews", "bufferView"), LIST("cameras", "camera"), LIST("images", "image"),
         LIST("materials", "material"), LIST("meshes", "mesh"), LIST("nodes", "node"),
         LIST("samplers", "sampler"), LIST("scenes", "scene"), LIST("skins", "skin"),
         LIST("textures", "texture"), REF("scene", "scenes")),
    TYPE("asset", TEXT("copyright"), TEXT("generator"), { "version", STRING, true, NULL, 0, 0, 0 },
         TEXT("minVersion")),
    TYPE("accessor", REF("bufferView", "bufferViews"), { "byteOffset", INTEGER, false, COUNT(0) },
         { "componentType", INTEGER, true, COUNT(0) },
         { "normalized", BOOLEAN, false, NULL, 0, 0, 0 }, { "count", INTEGER, true, COUNT(1) },
         { "type", STRING, true, NULL, 0, 0, 0 }, { "max", NUMBERS, false, NULL, 0, ANY },
         { "min", NUMBERS, false, NULL, 0, ANY }, PART("sparse", "sparse"), TEXT("name")),
    TYPE("sparse", { "count", INTEGER, true, COUNT(1) }, PART_REQUIRED("indices", "sparse_indices"),
         PART_REQUIRED("values", "sparse_values")),
    TYPE("sparse_indices", REF_REQUIRED("bufferView", "bufferViews"),
         { "byteOffset", INTEGER, false, COUNT(0) }, { "componentType", INTEGER, true, COUNT(0) }),
    TYPE("sparse_values", REF_REQUIRED("bufferView", "bufferViews"),
         { "byteOffset", INTEGER, false, COUNT(0) }),
    TYPE("animation", LIST_REQUIRED("channels", "channel"),
         LIST_REQUIRED("samplers", "animation_sampler"), TEXT("name")),
    TYPE("channel", { "sampler", INTEGER, true, COUNT(0) }, PART_REQUIRED("target", "target")),
    TYPE("target", REF("node", "nodes"), { "path", STRING, true, NULL, 0, 0, 0 }),
    TYPE("animation_sampler", REF_REQUIRED("input", "accessors"),
         REF_REQUIRED("output", "accessors"), TEXT("interpolation")),
    TYPE("buffer", TEXT("uri"), { "byteLength", INTEGER, true, COUNT(1) }, TEXT("name")),
    TYPE("bufferView", REF_REQUIRED("buffer", "buffers"),
         { "byteOffset", INTEGER, false, COUNT(0) }, { "byteLength", INTEGER, true, COUNT(1) },
         { "byteStride", INTEGER, false, NULL, 0, 4, 252 }, { "target", INTEGER, false, COUNT(0) },
         TEXT("name")),
    TYPE("camera", PART("orthographic", "orthographic"), PART("perspective", "perspective"),
         { "type", STRING, true, NULL, 0, 0, 0 }, TEXT("name")),
    TYPE("orthographic", { "xmag", NUMBER, true, NULL, 0, ANY },
         { "ymag", NUMBER, true, NULL, 0, ANY }, { "zfar", NUMBER, true, NULL, 0, POSITIVE },
         { "znear", NUMBER, true, NULL, 0, 0, INFINITY }),
    TYPE("perspective", NUMBER_IN("aspectRatio", 5e-324, INFINITY),
         { "yfov", NUMBER, true, NULL, 0, POSITIVE }, NUMBER_IN("zfar", 5e-324, INFINITY),
         { "znear", NUMBER, true, NULL, 0, POSITIVE }),
    TYPE("image", TEXT("uri"), TEXT("mimeType"), REF("bufferView", "bufferViews"), TEXT("name")),
    TYPE("material", TEXT("name"), PART("pbrMetallicRoughness", "pbr"),
         PART("normalTexture", "normal_texture"), PART("occlusionTexture", "occlusion_texture"),
         PART("emissiveTexture", "texture_info"),
         { "emissiveFactor", NUMBERS, false, NULL, 3, 0, 1 }, TEXT("alphaMode"),
         NUMBER_IN("alphaCutoff", 0, INFINITY), { "doubleSided", BOOLEAN, false, NULL, 0, 0, 0 }),
    TYPE("pbr", { "baseColorFactor", NUMBERS, false, NULL, 4, 0, 1 },
         PART("baseColorTexture", "texture_info"), NUMBER_IN("metallicFactor", 0, 1),
         NUMBER_IN("roughnessFactor", 0, 1), PART("metallicRoughnessTexture", "texture_info")),
    TYPE("texture_info", REF_REQUIRED("index", "textures"),
         { "texCoord", INTEGER, false, COUNT(0) }),
    TYPE("normal_texture", REF_REQUIRED("index", "textures"),
         { "texCoord", INTEGER, false, COUNT(0) }, NUMBER_IN("scale", -INFINITY, INFINITY)),
    TYPE("occlusion_texture", REF_REQUIRED("index", "textures"),
         { "texCoord", INTEGER, false, COUNT(0) }, NUMBER_IN("strength", 0, 1)),
    TYPE("mesh", LIST_REQUIRED("primitives", "primitive"),
         { "weights", NUMBERS, false, NULL, 0, ANY }, TEXT("name")),
    TYPE("primitive", { "attributes", INDEX_MAP, true, "accessors", 0, 0, 0 },
         REF("indices", "accessors"), REF("material", "materials"),
         { "mode", INTEGER, false, NULL, 0, 0, 6 },
         { "targets", INDEX_MAPS, false, "accessors", 0, 0, 0 }),
    TYPE("node", REF("camera", "cameras"), { "children", INDICES, false, "nodes", 0, 0, 0 },
         REF("skin", "skins"), { "matrix", NUMBERS, false, NULL, 16, ANY }, REF("mesh", "meshes"),
         { "rotation", NUMBERS, false, NULL, 4, -1, 1 }, { "scale", NUMBERS, false, NULL, 3, ANY },
         { "translation", NUMBERS, false, NULL, 3, ANY },
         { "weights", NUMBERS, false, NULL, 0, ANY }, TEXT("name")),
    TYPE("sampler", { "magFilter", INTEGER, false, COUNT(0) },
         { "minFilter", INTEGER, false, COUNT(0) }, { "wrapS", INTEGER, false, COUNT(0) },
         { "wrapT", INTEGER, false, COUNT(0) }, TEXT("name")),
    TYPE("scene", { "nodes", INDICES, false, "nodes", 0, 0, 0 }, TEXT("name")),
    TYPE("skin", REF("inverseBindMatrices", "accessors"), REF("skeleton", "nodes"),
         { "joints", INDICES, true, "nodes", 0, 0, 0 }, TEXT("name")),
    TYPE("texture", REF("sampler", "samplers"), REF("source", "images"), TEXT("name")),
};

typedef struct walk {
    cutis_context *context;
    const char *file;
    const json_t *root;
    json_t *used;     ///< the names in extensionsUsed, as keys
    uint32_t *stamps; ///< per node: the number of the index array that named it last
    uint32_t stamp;
    char pointer[512];
} walk;

static cutis_result refuse(walk *w, const char *format, ...)
{
    char reason[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return cutis_fail(w->context, CUTIS_CORRUPT_DATA, "%s: %s: %s", w->file,
                      w->pointer[0] ? w->pointer : "/", reason);
}

/// Extend the pointer by one step; the result is the length to cut it back to.
static size_t enter(walk *w, const char *step)
{
    size_t length = strlen(w->pointer);
    snprintf(w->pointer + length, sizeof w->pointer - length, "/%s", step);
    return length;
}

static size_t enter_index(walk *w, size_t index)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", index);
    return enter(w, text);
}

static const type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (strcmp(TYPES[i].name, name) == 0) return &TYPES[i];
    }
    return NULL;
}

static cutis_result check_integer(walk *w, const json_t *value, double low, double high)
{
    int64_t number;
    if (!cutis_json_integer(value, &number)) return refuse(w, "must be an integer");
    if ((double)number < low || (double)number > high)
        return refuse(w, "%lld is out of range [%g, %g]", (long long)number, low, high);
    return CUTIS_OK;
}

static cutis_result check_number(walk *w, const json_t *value, double low, double high)
{
    if (!json_is_number(value)) return refuse(w, "must be a number");
    double number = json_number_value(value);
    // A value that no float holds would turn into infinity later on.
    if (!isfinite(number) || fabs(number) > 3.4028234663852886e38 || number < low || number > high)
        return refuse(w, "%g is out of range", number);
    return CUTIS_OK;
}

static cutis_result check_index(walk *w, const json_t *value, const char *collection)
{
    size_t size = json_array_size(json_object_get(w->root, collection));
    int64_t number;
    if (!cutis_json_integer(value, &number)) return refuse(w, "must be an index");
    if (number < 0 || (uint64_t)number >= size)
        return refuse(w, "index %lld, but there are %zu %s", (long long)number, size, collection);
    return CUTIS_OK;
}

/// Distinct node indices. A stamp per node keeps many short arrays as cheap as one long one.
static cutis_result check_indices(walk *w, const json_t *array, const char *collection)
{
    if (!json_is_array(array)) return refuse(w, "must be an array");
    if (json_array_size(array) == 0) return refuse(w, "must not be empty");
    w->stamp++;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        size_t cut = enter_index(w, i);
        int64_t index = 0;
        cutis_result result = check_index(w, item, collection);
        if (result != CUTIS_OK) return result;
        cutis_json_integer(item, &index);
        if (w->stamps[index] == w->stamp)
            return refuse(w, "%lld stands in the array twice", (long long)index);
        w->stamps[index] = w->stamp;
        w->pointer[cut] = 0;
    }
    return CUTIS_OK;
}

static cutis_result check_strings(walk *w, const json_t *array)
{
    cutis_result result = CUTIS_OK;
    if (!json_is_array(array)) return refuse(w, "must be an array");
    if (json_array_size(array) == 0) return refuse(w, "must not be empty");
    json_t *seen = json_object();
    for (size_t i = 0; i < json_array_size(array) && result == CUTIS_OK; i++) {
        const char *text = json_string_value(json_array_get(array, i));
        size_t cut = enter_index(w, i);
        if (!text) {
            result = refuse(w, "must be a string");
        } else if (json_object_get(seen, text)) {
            result = refuse(w, "%s stands in the array twice", text);
        } else {
            json_object_set_new(seen, text, json_true());
        }
        w->pointer[cut] = 0;
    }
    json_decref(seen);
    return result;
}

static cutis_result check_numbers(walk *w, const json_t *array, const property *p)
{
    if (!json_is_array(array)) return refuse(w, "must be an array of numbers");
    size_t size = json_array_size(array);
    if (p->count ? size != (size_t)p->count : size == 0)
        return refuse(w, "has %zu numbers, not %s%d", size, p->count ? "" : "at least ",
                      p->count ? p->count : 1);
    for (size_t i = 0; i < size; i++) {
        size_t cut = enter_index(w, i);
        cutis_result result = check_number(w, json_array_get(array, i), p->low, p->high);
        if (result != CUTIS_OK) return result;
        w->pointer[cut] = 0;
    }
    return CUTIS_OK;
}

static cutis_result check_index_map(walk *w, const json_t *map, const char *collection)
{
    if (!json_is_object(map)) return refuse(w, "must be an object");
    if (json_object_size(map) == 0) return refuse(w, "must not be empty");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)map, key, value)
    {
        size_t cut = enter(w, key);
        cutis_result result = check_index(w, value, collection);
        if (result != CUTIS_OK) return result;
        w->pointer[cut] = 0;
    }
    return CUTIS_OK;
}

/// An extension that is used must be declared, or a reader that relies on extensionsUsed is misled.
static cutis_result check_extensions(walk *w, const json_t *object)
{
    const json_t *extensions = json_object_get(object, "extensions");
    if (!extensions) return CUTIS_OK;
    size_t cut = enter(w, "extensions");
    if (!json_is_object(extensions)) return refuse(w, "must be an object");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)extensions, key, value)
    {
        size_t inner = enter(w, key);
        if (!json_object_get(w->used, key))
            return refuse(w, "the extension is not in extensionsUsed");
        if (!json_is_object(value)) return refuse(w, "must be an object");
        w->pointer[inner] = 0;
    }
    w->pointer[cut] = 0;
    return CUTIS_OK;
}

static cutis_result check_object(walk *w, const json_t *object, const type *t);

static cutis_result check_array(walk *w, const json_t *array, const property *p)
{
    if (!json_is_array(array)) return refuse(w, "must be an array");
    if (json_array_size(array) == 0) return refuse(w, "must not be empty");
    const type *t = p->kind == OBJECTS ? find_type(p->of) : NULL;
    for (size_t i = 0; i < json_array_size(array); i++) {
        size_t cut = enter_index(w, i);
        const json_t *item = json_array_get(array, i);
        cutis_result result = t ? check_object(w, item, t) : check_index_map(w, item, p->of);
        if (result != CUTIS_OK) return result;
        w->pointer[cut] = 0;
    }
    return CUTIS_OK;
}

static cutis_result check_property(walk *w, const json_t *value, const property *p)
{
    switch (p->kind) {
    case BOOLEAN:
        return json_is_boolean(value) ? CUTIS_OK : refuse(w, "must be true or false");
    case STRING:
        return json_is_string(value) ? CUTIS_OK : refuse(w, "must be a string");
    case STRINGS:
        return check_strings(w, value);
    case INTEGER:
        return check_integer(w, value, p->low, p->high);
    case NUMBER:
        return check_number(w, value, p->low, p->high);
    case NUMBERS:
        return check_numbers(w, value, p);
    case INDEX:
        return check_index(w, value, p->of);
    case INDICES:
        return check_indices(w, value, p->of);
    case OBJECT:
        return check_object(w, value, find_type(p->of));
    case INDEX_MAP:
        return check_index_map(w, value, p->of);
    case OBJECTS:
    case INDEX_MAPS:
        return check_array(w, value, p);
    }
    return CUTIS_OK;
}

static cutis_result check_object(walk *w, const json_t *object, const type *t)
{
    if (!json_is_object(object)) return refuse(w, "must be an object");
    for (const property *p = t->properties; p->name; p++) {
        const json_t *value = json_object_get(object, p->name);
        if (!value && p->required) return refuse(w, "\"%s\" is missing", p->name);
        if (!value) continue;
        size_t cut = enter(w, p->name);
        cutis_result result = check_property(w, value, p);
        if (result != CUTIS_OK) return result;
        w->pointer[cut] = 0;
    }
    return check_extensions(w, object);
}

cutis_result cutis_gltf_check_schema(cutis_context *context, const char *file, const json_t *root)
{
    walk w = { .context = context, .file = file, .root = root, .used = json_object() };
    size_t node_count = json_array_size(json_object_get(root, "nodes"));
    const json_t *used = json_object_get(root, "extensionsUsed");
    cutis_result result;
    w.stamps = cutis_alloc_zero(context, node_count, sizeof *w.stamps);
    for (size_t i = 0; i < json_array_size(used); i++) {
        const char *name = json_string_value(json_array_get(used, i));
        if (name) json_object_set_new(w.used, name, json_true());
    }
    result = w.stamps ? check_object(&w, root, find_type("root")) : cutis_alloc_result(context);
    cutis_free_array(context, w.stamps, node_count, sizeof *w.stamps);
    json_decref(w.used);
    return result;
}
