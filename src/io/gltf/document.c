/// Loading a document and the small helpers its readers share. Invariant: what
/// cutis_gltf_document_load returns has passed the schema, every view lies inside its buffer, every
/// accessor inside its view.
#include "io/gltf/document.h"

#include "io/gltf/extensions.h"
#include "io/gltf/schema.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The promise of the reader: 64 times the input plus 16 MiB. The gate copies the model while ours
// is alive, so each decoded byte counts twice.
enum { BUDGET_FACTOR = 64, COPIES = 2 };
static const uint64_t BUDGET_BASE = UINT64_C(16) << 20;

cutis_result cutis_gltf_refuse(const gltf_document *document, cutis_result result,
                               const char *format, ...)
{
    char text[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return cutis_fail(document->context, result, "%s: %s", document->file, text);
}

cutis_result cutis_gltf_charge(gltf_document *document, uint64_t count, uint64_t item)
{
    uint64_t bytes, limit = document->input_bytes * BUDGET_FACTOR + BUDGET_BASE;
    if (__builtin_mul_overflow(count, item * COPIES, &bytes) || bytes > limit ||
        document->charged > limit - bytes) {
        return cutis_gltf_refuse(document, CUTIS_LIMIT_EXCEEDED,
                                 "/: decoding it takes more than %d times its size of %llu bytes",
                                 BUDGET_FACTOR, (unsigned long long)document->input_bytes);
    }
    document->charged += bytes;
    return CUTIS_OK;
}

int64_t cutis_gltf_integer(const json_t *object, const char *key, int64_t otherwise)
{
    int64_t number;
    return cutis_json_integer(json_object_get(object, key), &number) ? number : otherwise;
}

int32_t cutis_gltf_index(const json_t *object, const char *key)
{
    return (int32_t)cutis_gltf_integer(object, key, CUTIS_NONE);
}

const char *cutis_gltf_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

void cutis_gltf_floats(const json_t *array, float *out)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        out[i] = (float)json_number_value(json_array_get(array, i));
}

const json_t *cutis_gltf_item(const gltf_document *document, const char *collection, size_t index)
{
    return json_array_get(json_object_get(document->root, collection), index);
}

const json_t *cutis_gltf_extension(const json_t *object, const char *name)
{
    return json_object_get(json_object_get(object, "extensions"), name);
}

/// "2.0" and the like: digits, a point, digits.
static bool parse_version(const char *text, unsigned *major, unsigned *minor)
{
    int end = 0;
    if (text[0] < '0' || text[0] > '9') return false;
    return sscanf(text, "%5u.%5u%n", major, minor, &end) == 2 && text[end] == 0 &&
           strpbrk(text, "+- ") == NULL;
}

static cutis_result check_asset(const gltf_document *document)
{
    const json_t *asset = json_object_get(document->root, "asset");
    const char *version = cutis_gltf_string(asset, "version"),
               *least = cutis_gltf_string(asset, "minVersion");
    unsigned major, minor, least_major, least_minor;
    if (!parse_version(version, &major, &minor))
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                 "/asset/version: \"%s\" is no version", version);
    if (major != 2)
        return cutis_gltf_refuse(document, CUTIS_UNSUPPORTED_FORMAT,
                                 "/asset/version: glTF %s, this reads glTF 2", version);
    if (!least) return CUTIS_OK;
    if (!parse_version(least, &least_major, &least_minor))
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                 "/asset/minVersion: \"%s\" is no version", least);
    if (least_major > major || (least_major == major && least_minor > minor))
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                 "/asset/minVersion: %s is greater than the version %s", least,
                                 version);
    if (least_major != 2 || least_minor > 0)
        return cutis_gltf_refuse(document, CUTIS_UNSUPPORTED_FORMAT,
                                 "/asset/minVersion: needs glTF %s, this reads 2.0", least);
    return CUTIS_OK;
}

static bool contains(const json_t *array, const char *text)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *item = json_string_value(json_array_get(array, i));
        if (item && strcmp(item, text) == 0) return true;
    }
    return false;
}

static cutis_result check_required(const gltf_document *document)
{
    const json_t *required = json_object_get(document->root, "extensionsRequired");
    const json_t *used = json_object_get(document->root, "extensionsUsed");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        if (!cutis_gltf_extension_readable(name))
            return cutis_gltf_refuse(document, CUTIS_UNSUPPORTED_FORMAT,
                                     "/extensionsRequired/%zu: the extension %s is not supported",
                                     i, name);
        // The list of required ones that we can read is short, so this is linear in the file.
        if (!contains(used, name))
            return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                     "/extensionsRequired/%zu: %s is not in extensionsUsed", i,
                                     name);
    }
    return CUTIS_OK;
}

void cutis_gltf_document_destroy(cutis_source *source)
{
    gltf_document *document = (gltf_document *)source;
    cutis_context *context = document->context;
    json_decref(document->root);
    for (uint32_t i = 0; i < document->buffer_count && document->buffers; i++) {
        if (document->buffers[i].owned)
            cutis_free(context, document->buffers[i].owned, document->buffers[i].owned_size + 1);
    }
    cutis_arena_release(&document->arena);
    cutis_free(context, document, sizeof *document);
}

cutis_result cutis_gltf_document_load(cutis_context *context, const char *file, bool on_disk,
                                      const void *data, size_t size, bool repair,
                                      gltf_document **out)
{
    cutis_result result = CUTIS_OUT_OF_MEMORY;
    gltf_document *document = cutis_alloc_zero(context, 1, sizeof *document);
    if (!document) return cutis_alloc_result(context);
    atomic_init(&document->source.references, 1);
    document->source.destroy = cutis_gltf_document_destroy;
    document->context = context;
    document->arena.context = context;
    document->on_disk = on_disk;
    document->repair = repair;
    document->input_bytes = size;
    document->file = cutis_arena_string(&document->arena, file);
    if (!document->file) {
        result = cutis_alloc_result(context);
        goto fail;
    }
    result = cutis_gltf_load_json(document, data, size);
    if (result == CUTIS_OK) result = cutis_gltf_check_schema(context, file, document->root);
    if (result == CUTIS_OK) result = check_asset(document);
    if (result == CUTIS_OK) result = check_required(document);
    document->quantized =
        contains(json_object_get(document->root, "extensionsUsed"), "KHR_mesh_quantization");
    if (result == CUTIS_OK) result = cutis_gltf_load_buffers(document);
    if (result == CUTIS_OK) result = cutis_gltf_load_views(document);
    if (result == CUTIS_OK) result = cutis_gltf_load_accessors(document);
    if (result != CUTIS_OK) goto fail;
    *out = document;
    return CUTIS_OK;

fail:
    cutis_gltf_document_destroy(&document->source);
    return result;
}
