/// The glTF 2.0 schema as tables and one walker. Invariant: a document that passes has every
/// property of the types, ranges and references below; unknown properties and extras are not looked
/// at, the insides of extensions (schema_extensions.c) only where `strict`. The walk recurses on
/// the schema (seven levels), never on the document.
#include "io/gltf/schema.h"

#include "io/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const type TYPES[] = {
    TYPE("root", { "extensionsUsed", STRINGS, false, NULL, 0, 0, 0 },
         { "extensionsRequired", STRINGS, false, NULL, 0, 0, 0 },
         { PART_REQUIRED("asset", "asset") }, { LIST("accessors", "accessor") },
         { LIST("animations", "animation") }, { LIST("buffers", "buffer") },
         { LIST("bufferViews", "bufferView") }, { LIST("cameras", "camera") },
         { LIST("images", "image") }, { LIST("materials", "material") }, { LIST("meshes", "mesh") },
         { LIST("nodes", "node") }, { LIST("samplers", "sampler") }, { LIST("scenes", "scene") },
         { LIST("skins", "skin") }, { LIST("textures", "texture") }, { REF("scene", "scenes") }),
    TYPE("asset", { TEXT("copyright") }, { TEXT("generator") },
         { "version", STRING, true, NULL, 0, 0, 0 }, { TEXT("minVersion") }),
    TYPE("accessor", { REF("bufferView", "bufferViews") },
         { "byteOffset", INTEGER, false, COUNT(0) },
         { "componentType", INTEGER, true, NULL, 0, -BIG, BIG },
         { "normalized", BOOLEAN, false, NULL, 0, 0, 0 }, { "count", INTEGER, true, COUNT(1) },
         { "type", STRING, true, "SCALAR VEC2 VEC3 VEC4 MAT2 MAT3 MAT4", 0, 0, 0 },
         { "max", EXTREMES, false, NULL, 0, ANY }, { "min", EXTREMES, false, NULL, 0, ANY },
         { PART("sparse", "sparse") }, { TEXT("name") }),
    TYPE("sparse", { "count", INTEGER, true, COUNT(1) },
         { PART_REQUIRED("indices", "sparse_indices") },
         { PART_REQUIRED("values", "sparse_values") }),
    TYPE("sparse_indices", { REF_REQUIRED("bufferView", "bufferViews") },
         { "byteOffset", INTEGER, false, COUNT(0) },
         { "componentType", INTEGER, true, NULL, 0, -BIG, BIG }),
    TYPE("sparse_values", { REF_REQUIRED("bufferView", "bufferViews") },
         { "byteOffset", INTEGER, false, COUNT(0) }),
    TYPE("animation", { LIST_REQUIRED("channels", "channel") },
         { LIST_REQUIRED("samplers", "animation_sampler") }, { TEXT("name") }),
    TYPE("channel", { "sampler", INDEX, true, NULL, 0, 0, 0 },
         { PART_REQUIRED("target", "target") }),
    TYPE("target", { REF("node", "nodes") },
         { "path", STRING, true, "translation rotation scale weights pointer", 0, 0, 0 }),
    TYPE("animation_sampler", { REF_REQUIRED("input", "accessors") },
         { REF_REQUIRED("output", "accessors") },
         { WORD("interpolation", "LINEAR STEP CUBICSPLINE") }),
    TYPE("buffer", { TEXT("uri") }, { "byteLength", INTEGER, true, COUNT(1) }, { TEXT("name") }),
    TYPE("bufferView", { REF_REQUIRED("buffer", "buffers") },
         { "byteOffset", INTEGER, false, COUNT(0) }, { "byteLength", INTEGER, true, COUNT(1) },
         { "byteStride", INTEGER, false, NULL, 0, 4, 252 },
         { "target", INTEGER, false, NULL, 0, -BIG, BIG }, { TEXT("name") }),
    TYPE("camera", { PART("orthographic", "orthographic") }, { PART("perspective", "perspective") },
         { "type", STRING, true, "perspective orthographic", 0, 0, 0 }, { TEXT("name") }),
    TYPE("orthographic", { "xmag", NUMBER, true, NULL, 0, ANY },
         { "ymag", NUMBER, true, NULL, 0, ANY }, { "zfar", NUMBER, true, NULL, 0, POSITIVE },
         { "znear", NUMBER, true, NULL, 0, 0, INFINITY }),
    TYPE("perspective", { NUMBER_IN("aspectRatio", 5e-324, INFINITY) },
         { "yfov", NUMBER, true, NULL, 0, POSITIVE }, { NUMBER_IN("zfar", 5e-324, INFINITY) },
         { "znear", NUMBER, true, NULL, 0, POSITIVE }),
    TYPE("image", { TEXT("uri") },
         { WORD("mimeType",
                "image/jpeg image/png image/webp image/ktx2 image/avif image/vnd-ms.dds") },
         { REF("bufferView", "bufferViews") }, { TEXT("name") }),
    TYPE("material", { TEXT("name") }, { PART("pbrMetallicRoughness", "pbr") },
         { PART("normalTexture", "normal_texture") },
         { PART("occlusionTexture", "occlusion_texture") },
         { PART("emissiveTexture", "texture_info") },
         { "emissiveFactor", NUMBERS, false, NULL, 3, 0, 1 },
         { WORD("alphaMode", "OPAQUE MASK BLEND") }, { NUMBER_IN("alphaCutoff", 0, INFINITY) },
         { "doubleSided", BOOLEAN, false, NULL, 0, 0, 0 }),
    TYPE("pbr", { "baseColorFactor", NUMBERS, false, NULL, 4, 0, 1 },
         { PART("baseColorTexture", "texture_info") }, { NUMBER_IN("metallicFactor", 0, 1) },
         { NUMBER_IN("roughnessFactor", 0, 1) },
         { PART("metallicRoughnessTexture", "texture_info") }),
    TYPE("texture_info", { REF_REQUIRED("index", "textures") },
         { "texCoord", INTEGER, false, COUNT(0) }),
    TYPE("normal_texture", { REF_REQUIRED("index", "textures") },
         { "texCoord", INTEGER, false, COUNT(0) }, { NUMBER_IN("scale", -INFINITY, INFINITY) }),
    TYPE("occlusion_texture", { REF_REQUIRED("index", "textures") },
         { "texCoord", INTEGER, false, COUNT(0) }, { NUMBER_IN("strength", 0, 1) }),
    TYPE("mesh", { LIST_REQUIRED("primitives", "primitive") },
         { "weights", NUMBERS, false, NULL, 0, ANY }, { TEXT("name") }),
    TYPE("primitive", { "attributes", INDEX_MAP, true, "accessors", 0, 0, 0 },
         { REF("indices", "accessors") }, { REF("material", "materials") },
         { "mode", INTEGER, false, NULL, 0, 0, 6 },
         { "targets", INDEX_MAPS, false, "accessors", 0, 0, 0 }),
    TYPE("node", { REF("camera", "cameras") }, { "children", INDICES, false, "nodes", 0, 0, 0 },
         { REF("skin", "skins") }, { "matrix", NUMBERS, false, NULL, 16, ANY },
         { REF("mesh", "meshes") }, { "rotation", NUMBERS, false, NULL, 4, -1, 1 },
         { "scale", NUMBERS, false, NULL, 3, ANY }, { "translation", NUMBERS, false, NULL, 3, ANY },
         { "weights", NUMBERS, false, NULL, 0, ANY }, { TEXT("name") }),
    TYPE("sampler", { "magFilter", INTEGER, false, "9728 9729", 0, -BIG, BIG },
         { "minFilter", INTEGER, false, "9728 9729 9984 9985 9986 9987", 0, -BIG, BIG },
         { "wrapS", INTEGER, false, "33071 33648 10497", 0, -BIG, BIG },
         { "wrapT", INTEGER, false, "33071 33648 10497", 0, -BIG, BIG }, { TEXT("name") }),
    TYPE("scene", { "nodes", INDICES, false, "nodes", 0, 0, 0 }, { TEXT("name") }),
    TYPE("skin", { REF("inverseBindMatrices", "accessors") }, { REF("skeleton", "nodes") },
         { "joints", INDICES, true, "nodes", 0, 0, 0 }, { TEXT("name") }),
    TYPE("texture", { REF("sampler", "samplers") }, { REF("source", "images") }, { TEXT("name") }),
};

typedef struct walk {
    gltf_document *document;
    json_t *used;     ///< the names in extensionsUsed, as keys
    uint32_t *stamps; ///< per node or variant: the number of the index array that named it last
    uint32_t stamp;
    char pointer[512];
} walk;

__attribute__((format(printf, 3, 4))) static cutis_result refuse(walk *w, const char *code,
                                                                 const char *format, ...)
{
    char reason[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return cutis_gltf_issue(w->document, CUTIS_CORRUPT_DATA, code, "%s: %s",
                            w->pointer[0] ? w->pointer : "/", reason);
}

/// What reading for use puts right: an error only for who is strict.
__attribute__((format(printf, 3, 4))) static cutis_result forgive(walk *w, const char *code,
                                                                  const char *format, ...)
{
    char reason[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return cutis_gltf_forgive(w->document, CUTIS_CORRUPT_DATA, code, "%s: %s",
                              w->pointer[0] ? w->pointer : "/", reason);
}

/// Extend the pointer by one step; the result is the length to cut it back to.
static size_t enter(walk *w, const char *step)
{
    size_t length = strlen(w->pointer), size = strlen(step), room = sizeof w->pointer - 1 - length;
    if (room == 0) return length;
    if (size > room - 1) size = room - 1;
    w->pointer[length] = '/';
    memcpy(w->pointer + length + 1, step, size);
    w->pointer[length + 1 + size] = 0;
    return length;
}

static size_t enter_index(walk *w, size_t index)
{
    char text[CUTIS_NUMBER_SIZE];
    cutis_print_whole((int64_t)index, text);
    return enter(w, text);
}

/// Whether `text` is one of the words in `list`, which are separated by spaces.
static bool in_words(const char *list, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = list; length && (at = strstr(at, text)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
    return false;
}

const type *cutis_gltf_find_type(const type *types, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(types[i].name, name) == 0) return &types[i];
    }
    return NULL;
}

/// Types of extensions may have parts of core ones and of their own.
static const type *find_type(const char *name)
{
    const type *own = cutis_gltf_find_type(TYPES, sizeof TYPES / sizeof *TYPES, name);
    return own ? own : cutis_gltf_extension_part(name);
}
// A stride that glTF does not allow, but that says where elements are: 0 is as good as none.
enum { STRIDE_MAX = 65535 };

static cutis_result check_integer(walk *w, const json_t *value, const property *p)
{
    int64_t number;
    double low = p->low, high = p->high;
    char text[CUTIS_NUMBER_SIZE];
    if (!cutis_json_integer(value, &number))
        return refuse(w, "TYPE_MISMATCH", "must be an integer");
    if (strcmp(p->name, "byteStride") == 0 && number >= 0 && number <= STRIDE_MAX &&
        ((double)number < low || (double)number > high))
        return forgive(w, "VALUE_NOT_IN_RANGE", "a stride of %lld bytes", (long long)number);
    if ((double)number < low || (double)number > high)
        return refuse(w, "VALUE_NOT_IN_RANGE", "%lld is out of range [%g, %g]", (long long)number,
                      p->low, p->high);
    if (p->of) cutis_print_whole(number, text);
    if (p->of && !in_words(p->of, text))
        cutis_gltf_remark(w->document, CUTIS_ISSUE_WARNING, "VALUE_NOT_IN_LIST",
                          "%s: %s is not one of %s", w->pointer, text, p->of);
    return CUTIS_OK;
}

static cutis_result check_number(walk *w, json_t *value, const property *p)
{
    if (!json_is_number(value)) return refuse(w, "TYPE_MISMATCH", "must be a number");
    double number = json_number_value(value);
    // A value that no float holds would turn into infinity later on.
    if (!isfinite(number) || fabs(number) > 3.4028234663852886e38)
        return refuse(w, "VALUE_NOT_IN_RANGE", "%g is out of range", number);
    if (number >= p->low && number <= p->high) return CUTIS_OK;
    // A share of something is cut to its range; a rotation is normalised by who reads it.
    if (!isfinite(p->high)) return refuse(w, "VALUE_NOT_IN_RANGE", "%g is out of range", number);
    cutis_result result =
        forgive(w, "VALUE_NOT_IN_RANGE", "%g is not from %g to %g", number, p->low, p->high);
    if (result != CUTIS_OK || strcmp(p->name, "rotation") == 0) return result;
    double nearest = number < p->low ? p->low : p->high;
    if (json_is_real(value)) json_real_set(value, nearest);
    if (json_is_integer(value)) json_integer_set(value, (json_int_t)nearest);
    return CUTIS_OK;
}

/// The array that a property's `of` names; *missing: it is of an extension that the root lacks.
static const json_t *find_collection(const walk *w, const char *name, bool *missing)
{
    const char *list = name && *name == '@' ? strchr(name, '/') + 1 : NULL;
    char extension[64];
    *missing = false;
    if (!list) return json_object_get(w->document->root, name);
    snprintf(extension, sizeof extension, "%.*s", (int)(list - name) - 2, name + 1);
    const json_t *owner = cutis_gltf_extension(w->document->root, extension);
    *missing = !json_is_object(owner);
    return json_object_get(owner, list);
}

static cutis_result check_index(walk *w, const json_t *value, const char *collection)
{
    bool missing;
    size_t size = json_array_size(find_collection(w, collection, &missing));
    int64_t number;
    if (missing) return refuse(w, "UNSATISFIED_DEPENDENCY", "the root has no %s", collection + 1);
    if (!cutis_json_integer(value, &number)) return refuse(w, "TYPE_MISMATCH", "must be an index");
    if (number < 0) return refuse(w, "INVALID_INDEX", "%lld cannot be an index", (long long)number);
    if (collection && (uint64_t)number >= size)
        return refuse(w, "UNRESOLVED_REFERENCE", "index %lld, but there are %zu %s",
                      (long long)number, size, collection + (*collection == '@'));
    return CUTIS_OK;
}

/// One entry of an array of distinct indices. A stamp per node keeps many short arrays as cheap as
/// one long one.
static cutis_result check_one_index(walk *w, const json_t *item, const char *collection,
                                    bool *twice)
{
    int64_t index = 0;
    if (!cutis_json_integer(item, &index)) return refuse(w, "INVALID_INDEX", "must be an index");
    cutis_result result = check_index(w, item, collection);
    if (result != CUTIS_OK) return result;
    *twice = w->stamps[index] == w->stamp;
    w->stamps[index] = w->stamp;
    if (!*twice) return CUTIS_OK;
    return forgive(w, "DUPLICATE_ELEMENTS", "%lld occurs in the array twice", (long long)index);
}

/// A non-empty array, or CUTIS_CORRUPT_DATA.
static cutis_result check_is_list(walk *w, const json_t *array)
{
    if (!json_is_array(array)) return refuse(w, "TYPE_MISMATCH", "must be an array");
    if (json_array_size(array) == 0) return refuse(w, "EMPTY_ENTITY", "must not be empty");
    return CUTIS_OK;
}

/// An array of distinct indices. One that occurs again is left out; but a joint that does is a
/// joint of its own, because vertices count joints.
static cutis_result check_indices(walk *w, json_t *array, const property *p)
{
    cutis_result result = check_is_list(w, array);
    const bool joints = strcmp(p->name, "joints") == 0;
    size_t kept = 0, count = json_array_size(array);
    w->stamp++;
    for (size_t i = 0; i < count && result == CUTIS_OK; i++) {
        bool twice = false;
        size_t cut = enter_index(w, i);
        json_t *item = json_array_get(array, i);
        result = check_one_index(w, item, p->of, &twice);
        cutis_gltf_go_on(w->document, &result);
        w->pointer[cut] = 0;
        if (twice && !joints && !w->document->strict) continue;
        if (kept != i) json_array_set(array, kept, item);
        kept++;
    }
    while (result == CUTIS_OK && json_array_size(array) > kept)
        json_array_remove(array, json_array_size(array) - 1);
    return result;
}

static cutis_result check_strings(walk *w, json_t *array)
{
    cutis_result result = check_is_list(w, array);
    json_t *seen = json_object();
    for (size_t i = 0; i < json_array_size(array) && result == CUTIS_OK; i++) {
        const char *text = json_string_value(json_array_get(array, i));
        size_t cut = enter_index(w, i);
        if (!text) {
            result = refuse(w, "ARRAY_TYPE_MISMATCH", "must be a string");
        } else if (json_object_get(seen, text)) {
            result = forgive(w, "DUPLICATE_ELEMENTS", "%.100s occurs in the array twice", text);
            // From the end: a list of many equal names is walked once.
            if (result == CUTIS_OK) {
                json_array_set(array, i, json_array_get(array, json_array_size(array) - 1));
                json_array_remove(array, json_array_size(array) - 1);
                i--;
            }
        } else if (json_object_set_new(seen, text, json_true()) != 0) {
            result = cutis_fail(w->document->context, CUTIS_OUT_OF_MEMORY, "no memory for names");
        }
        cutis_gltf_go_on(w->document, &result);
        w->pointer[cut] = 0;
    }
    json_decref(seen);
    return result;
}

static cutis_result check_numbers(walk *w, json_t *array, const property *p)
{
    // How many extremes there are depends on the accessor, which is looked at later.
    const bool may_be_empty = p->kind == EXTREMES && json_is_array(array);
    cutis_result result = may_be_empty ? CUTIS_OK : check_is_list(w, array);
    size_t size = json_array_size(array);
    if (result == CUTIS_OK && p->count && size != (size_t)p->count)
        return refuse(w, "ARRAY_LENGTH_NOT_IN_LIST", "has %zu numbers, not %d", size, p->count);
    for (size_t i = 0; i < size && result == CUTIS_OK; i++) {
        json_t *item = json_array_get(array, i);
        size_t cut = enter_index(w, i);
        if (!json_is_number(item))
            result = refuse(w, "ARRAY_TYPE_MISMATCH", "must be a number");
        else if (p->kind == NUMBERS)
            result = check_number(w, item, p);
        cutis_gltf_go_on(w->document, &result);
        w->pointer[cut] = 0;
    }
    return result;
}

static cutis_result check_index_map(walk *w, const json_t *map, const char *collection)
{
    if (!json_is_object(map)) return refuse(w, "TYPE_MISMATCH", "must be an object");
    if (json_object_size(map) == 0) return refuse(w, "EMPTY_ENTITY", "must not be empty");
    const char *key;
    json_t *value;
    cutis_result result = CUTIS_OK;
    json_object_foreach((json_t *)map, key, value)
    {
        size_t cut = enter(w, key);
        result =
            json_is_number(value) && json_number_value(value) == floor(json_number_value(value))
                ? check_index(w, value, collection)
                : refuse(w, "INVALID_INDEX", "must be an index");
        w->pointer[cut] = 0;
        if (!cutis_gltf_go_on(w->document, &result)) break;
    }
    return result;
}

static cutis_result check_object(walk *w, json_t *object, const type *t);

/// The inside of an extension that stands on an object of type `place`.
static cutis_result check_extension(walk *w, const char *name, json_t *value, const char *place)
{
    if (!cutis_gltf_extension_belongs(name, place))
        return refuse(w, "UNEXPECTED_EXTENSION_OBJECT", "the extension does not belong here");
    const type *t = cutis_gltf_extension_type(name, place);
    return t ? check_object(w, value, t) : CUTIS_OK;
}

static cutis_result check_undeclared(walk *w, const char *name)
{
    cutis_result result =
        forgive(w, "UNDECLARED_EXTENSION", "the extension is not in extensionsUsed");
    if (result != CUTIS_OK) return result;
    if (!cutis_gltf_declare(w->document->root, name) ||
        json_object_set_new(w->used, name, json_true()) != 0)
        return cutis_fail(w->document->context, CUTIS_OUT_OF_MEMORY, "no memory for names");
    return CUTIS_OK;
}

/// An extension that is used must be declared, or a reader that relies on extensionsUsed is misled.
static cutis_result check_extensions(walk *w, const json_t *object, const char *place)
{
    const json_t *extensions = json_object_get(object, "extensions");
    if (!extensions) return CUTIS_OK;
    size_t cut = enter(w, "extensions");
    const char *key;
    json_t *value;
    cutis_result result =
        json_is_object(extensions) ? CUTIS_OK : refuse(w, "TYPE_MISMATCH", "must be an object");
    json_object_foreach((json_t *)extensions, key, value)
    {
        size_t inner = enter(w, key);
        if (!json_object_get(w->used, key)) result = check_undeclared(w, key);
        if (result != CUTIS_OK)
            ;
        else if (!json_is_object(value))
            result = refuse(w, "TYPE_MISMATCH", "must be an object");
        else if (w->document->strict)
            result = check_extension(w, key, value, place);
        w->pointer[inner] = 0;
        if (!cutis_gltf_go_on(w->document, &result)) break;
    }
    w->pointer[cut] = 0;
    return result;
}

/// Whether the pointer names an item of a list of the root ("/nodes/3").
static bool array_is_collection(const walk *w)
{
    const char *second = strchr(w->pointer + 1, '/');
    return second && !strchr(second + 1, '/');
}

static cutis_result check_array(walk *w, json_t *array, const property *p)
{
    cutis_result result = check_is_list(w, array);
    const type *t = p->kind == OBJECTS ? find_type(p->of) : NULL;
    for (size_t i = 0; i < json_array_size(array) && result == CUTIS_OK; i++) {
        size_t cut = enter_index(w, i);
        json_t *item = json_array_get(array, i);
        if (!json_is_object(item))
            result = refuse(w, array_is_collection(w) ? "TYPE_MISMATCH" : "ARRAY_TYPE_MISMATCH",
                            "must be an object");
        else
            result = t ? check_object(w, item, t) : check_index_map(w, item, p->of);
        cutis_gltf_go_on(w->document, &result);
        w->pointer[cut] = 0;
    }
    return result;
}

/// A string; where the property has a pattern or a list of words, one that fits.
static cutis_result check_string(walk *w, const json_t *value, const property *p)
{
    const char *text = json_string_value(value);
    if (!text) return refuse(w, "TYPE_MISMATCH", "must be a string");
    // The validator only warns: new words come with extensions, and readers skip what they name.
    if (p->of && !in_words(p->of, text))
        cutis_gltf_remark(w->document, CUTIS_ISSUE_WARNING, "VALUE_NOT_IN_LIST",
                          "%s: \"%.100s\" is not one of %s", w->pointer, text, p->of);
    return CUTIS_OK;
}

/// RFC 6901: nothing, or steps that start with '/'; '~' is written ~0, '/' inside a step ~1.
static cutis_result check_pointer(walk *w, const json_t *value)
{
    const char *text = json_string_value(value);
    if (!text) return refuse(w, "TYPE_MISMATCH", "must be a string");
    bool good = *text == 0 || *text == '/';
    for (const char *at = text; (at = strchr(at, '~')); at++)
        good = good && (at[1] == '0' || at[1] == '1');
    return good ? CUTIS_OK : refuse(w, "PATTERN_MISMATCH", "\"%.100s\" is no JSON pointer", text);
}

static cutis_result check_property(walk *w, json_t *value, const property *p)
{
    switch (p->kind) {
    case BOOLEAN:
        return json_is_boolean(value) ? CUTIS_OK
                                      : refuse(w, "TYPE_MISMATCH", "must be true or false");
    case STRING:
        return check_string(w, value, p);
    case POINTER:
        return check_pointer(w, value);
    case STRINGS:
        return check_strings(w, value);
    case INTEGER:
        return check_integer(w, value, p);
    case NUMBER:
        return check_number(w, value, p);
    case NUMBER_OR_0:
        if (json_is_number(value) && json_number_value(value) == 0) return CUTIS_OK;
        return check_number(w, value, p);
    case NUMBERS:
    case EXTREMES:
        return check_numbers(w, value, p);
    case INDEX:
        return check_index(w, value, p->of);
    case INDICES:
        return check_indices(w, value, p);
    case OBJECT:
    case CHOSEN:
        return check_object(w, value, find_type(p->of));
    case INDEX_MAP:
        return check_index_map(w, value, p->of);
    case OBJECTS:
    case INDEX_MAPS:
        return check_array(w, value, p);
    }
    return CUTIS_OK;
}

/// Properties the type does not have: allowed, but probably a slip.
static void remark_unknown(walk *w, const json_t *object, const type *t)
{
    const char *key;
    json_t *value;
    const json_t *extras = json_object_get(object, "extras");
    if (!w->document->report) return;
    if (extras && !json_is_object(extras))
        cutis_gltf_remark(w->document, CUTIS_ISSUE_INFORMATION, "NON_OBJECT_EXTRAS",
                          "%s/extras: no object, which tools expect", w->pointer);
    json_object_foreach((json_t *)object, key, value)
    {
        const property *p = t->properties;
        if (strcmp(key, "extensions") == 0 || strcmp(key, "extras") == 0) continue;
        while (p->name && strcmp(p->name, key) != 0) p++;
        if (!p->name)
            cutis_gltf_remark(w->document, CUTIS_ISSUE_WARNING, "UNEXPECTED_PROPERTY",
                              "%s/%.100s: glTF has no such property here", w->pointer, key);
    }
}

static cutis_result check_object(walk *w, json_t *object, const type *t)
{
    if (!json_is_object(object)) return refuse(w, "TYPE_MISMATCH", "must be an object");
    cutis_result result = CUTIS_OK;
    for (const property *p = t->properties; p->name; p++) {
        json_t *value = json_object_get(object, p->name);
        const char *chosen = p->kind == CHOSEN ? cutis_gltf_string(object, "type") : p->name;
        if (!chosen || strcmp(chosen, p->name) != 0) {
            // Not the one of several that counts.
        } else if (value) {
            size_t cut = enter(w, p->name);
            // An empty list says what none would.
            bool spare = !p->required && !w->document->strict && json_is_array(value) &&
                         json_array_size(value) == 0;
            result =
                spare ? forgive(w, "EMPTY_ENTITY", "an empty list") : check_property(w, value, p);
            if (spare) json_object_del(object, p->name);
            w->pointer[cut] = 0;
        } else if (p->required || p->kind == CHOSEN) {
            result = refuse(w, "UNDEFINED_PROPERTY", "\"%s\" is missing", p->name);
        }
        if (!cutis_gltf_go_on(w->document, &result)) return result;
    }
    remark_unknown(w, object, t);
    return check_extensions(w, object, t->name);
}

cutis_result cutis_gltf_check_schema(gltf_document *document)
{
    json_t *root = document->root;
    walk w = { .document = document, .used = json_object() };
    bool missing;
    size_t stamp_count = json_array_size(json_object_get(root, "nodes"));
    size_t variants =
        json_array_size(find_collection(&w, "@KHR_materials_variants/variants", &missing));
    if (variants > stamp_count) stamp_count = variants;
    const json_t *used = json_object_get(root, "extensionsUsed");
    cutis_result result = CUTIS_OK;
    w.stamps = cutis_alloc_zero(document->context, stamp_count, sizeof *w.stamps);
    if (!w.stamps) result = cutis_alloc_result(document->context);
    for (size_t i = 0; i < json_array_size(used); i++) {
        const char *name = json_string_value(json_array_get(used, i));
        if (name && json_object_set_new(w.used, name, json_true()) != 0)
            result = cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for names");
    }
    if (result == CUTIS_OK) result = check_object(&w, root, find_type("root"));
    cutis_free_array(document->context, w.stamps, stamp_count, sizeof *w.stamps);
    json_decref(w.used);
    return cutis_gltf_end_phase(document, result);
}

/// Recurses on the schema, as the walk does.
static bool plain_object(const json_t *object, const type *t)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const property *p = t->properties;
        size_t i;
        json_t *item;
        if (strcmp(key, "extensions") == 0 || strcmp(key, "extras") == 0) continue;
        while (p->name && strcmp(p->name, key) != 0) p++;
        if (!p->name) return false;
        if (p->kind == OBJECT && !plain_object(value, find_type(p->of))) return false;
        if (p->kind != OBJECTS) continue;
        json_array_foreach(value, i, item)
        {
            if (!plain_object(item, find_type(p->of))) return false;
        }
    }
    return true;
}

bool cutis_gltf_plain_schema(const json_t *root)
{
    return plain_object(root, find_type("root"));
}
