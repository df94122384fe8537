/// Loading a document and the small helpers its readers share. Invariant: what
/// cutis_gltf_document_load returns has passed the schema, every view lies inside its buffer, every
/// accessor inside its view.
#include "io/gltf/document.h"

#include "io/gltf/parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The promise of the reader: 64 times the input plus 16 MiB. The gate copies the model while ours
// is alive, so each decoded byte counts twice.
enum { BUDGET_FACTOR = 64, COPIES = 2 };
static const uint64_t BUDGET_BASE = UINT64_C(16) << 20;

// Findings that are listed: a file that is wrong everywhere must not fill the memory with its
// report.
enum { FINDINGS_MAX = 1000 };

/// Into the report: the pointer is what stands before the first ": ".
static bool report_text(const gltf_document *document, const char *code, uint8_t severity,
                        const char *text)
{
    char place[512];
    const char *colon = strstr(text, ": ");
    // Remarks leave room for errors.
    if (document->report->count >= (severity ? FINDINGS_MAX / 2 : FINDINGS_MAX)) return true;
    size_t length = colon ? (size_t)(colon - text) : 0;
    if (length >= sizeof place) length = sizeof place - 1;
    memcpy(place, text, length);
    place[length] = 0;
    return cutis_report_add(document->report, code, severity, 1, place, colon ? colon + 2 : text);
}

cutis_result cutis_gltf_issue(const gltf_document *document, cutis_result result, const char *code,
                              const char *format, ...)
{
    char text[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bool finding = result == CUTIS_CORRUPT_DATA || result == CUTIS_UNSUPPORTED_FORMAT ||
                   result == CUTIS_FILE_NOT_FOUND || result == CUTIS_FILE_READ;
    if (document->report && code && finding &&
        !report_text(document, code, CUTIS_ISSUE_ERROR, text))
        return cutis_alloc_result(document->context);
    if (!code) return cutis_fail(document->context, result, "%s: %s", document->file, text);
    return cutis_fail(document->context, result, "%s: %s [%s]", document->file, text, code);
}

/// A line for each code: the first place, and how many there are.
static cutis_result add_note(const gltf_document *document, const char *code, const char *text)
{
    gltf_notes *notes = document->notes;
    cutis_arena *arena = (cutis_arena *)&document->arena;
    const char *colon = strstr(text, ": ");
    for (uint32_t i = 0; i < notes->count; i++) {
        if (strcmp(notes->items[i].code, code) != 0) continue;
        notes->items[i].count++;
        return CUTIS_OK;
    }
    if (notes->count == GLTF_NOTES_MAX) return CUTIS_OK;
    gltf_note note = { .code = code,
                       .count = 1,
                       .place = cutis_arena_format(arena, "%.*s", (int)(colon ? colon - text : 1),
                                                   colon ? text : "/"),
                       .text = cutis_arena_string(arena, colon ? colon + 2 : text) };
    if (!note.place || !note.text) return cutis_alloc_result(document->context);
    notes->items[notes->count++] = note;
    return CUTIS_OK;
}

cutis_result cutis_gltf_forgive(const gltf_document *document, cutis_result result,
                                const char *code, const char *format, ...)
{
    char text[768];
    if (!document->strict && (document->published || !document->notes)) return CUTIS_OK;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (document->strict) return cutis_gltf_issue(document, result, code, "%s", text);
    return add_note(document, code, text);
}

void cutis_gltf_remark(const gltf_document *document, uint8_t severity, const char *code,
                       const char *format, ...)
{
    char text[768];
    va_list arguments;
    if (!document->report) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report_text(document, code, severity, text);
}

void cutis_gltf_not_checked(const gltf_document *document, const char *format, ...)
{
    char text[768];
    va_list arguments;
    if (!document->report) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report_text(document, "NOT_CHECKED", CUTIS_ISSUE_INFORMATION, text);
}

bool cutis_gltf_go_on(gltf_document *document, cutis_result *result)
{
    if (*result == CUTIS_OK) return true;
    if (!document->report || *result != CUTIS_CORRUPT_DATA) return false;
    document->wrong = true;
    *result = CUTIS_OK;
    return true;
}

cutis_result cutis_gltf_end_phase(const gltf_document *document, cutis_result result)
{
    return result == CUTIS_OK && document->wrong ? CUTIS_CORRUPT_DATA : result;
}

cutis_result cutis_gltf_charge(gltf_document *document, uint64_t count, uint64_t item)
{
    uint64_t bytes, limit = document->input_bytes * BUDGET_FACTOR + BUDGET_BASE;
    if (__builtin_mul_overflow(count, item * COPIES, &bytes) || bytes > limit ||
        document->charged > limit - bytes) {
        return cutis_gltf_issue(document, CUTIS_LIMIT_EXCEEDED, NULL,
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

double cutis_gltf_number(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return value ? json_number_value(value) : otherwise;
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

uint32_t cutis_gltf_entry(const json_t *array, size_t index)
{
    int64_t value = 0;
    cutis_json_integer(json_array_get(array, index), &value);
    return (uint32_t)value;
}

int cutis_gltf_find_text(const json_t *array, const char *text)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *item = json_string_value(json_array_get(array, i));
        if (item && strcmp(item, text) == 0) return (int)i;
    }
    return -1;
}

int cutis_gltf_find_word(const char *const *words, int count, const char *word)
{
    for (int i = 0; word && i < count; i++)
        if (strcmp(words[i], word) == 0) return i;
    return -1;
}

bool cutis_gltf_all_numbers(const json_t *array, size_t count)
{
    if (!json_is_array(array) || json_array_size(array) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!json_is_number(json_array_get(array, i))) return false;
    return true;
}

int64_t cutis_gltf_accessor_of(const gltf_document *document, const json_t *value)
{
    int64_t index;
    bool there = cutis_json_integer(value, &index) && index < document->accessor_count;
    return there && index >= 0 ? index : -1;
}

void *cutis_gltf_new_items(const gltf_document *document, cutis_arena *arena,
                           const char *collection, size_t item, uint32_t *count)
{
    *count = (uint32_t)json_array_size(json_object_get(document->root, collection));
    return cutis_arena_zero(arena, *count, item);
}

gltf_glance cutis_gltf_glance(gltf_document *document)
{
    gltf_glance before = { document->parts, document->charged };
    document->parts = (cutis_arena){ .context = document->context };
    return before;
}

void cutis_gltf_forget(gltf_document *document, const gltf_glance *before)
{
    cutis_arena_release(&document->parts);
    document->parts = before->parts;
    document->charged = before->charged;
}

/// "2.0" and the like: digits, a point, digits.
static bool parse_version(const char *text, unsigned *major, unsigned *minor)
{
    int end = 0;
    if (text[0] < '0' || text[0] > '9') return false;
    return sscanf(text, "%5u.%5u%n", major, minor, &end) == 2 && text[end] == 0 &&
           strpbrk(text, "+- ") == NULL;
}

/// Before everything else: of another version nothing can be said. Types are the schema's business.
static cutis_result check_version(const gltf_document *document)
{
    const char *version = cutis_gltf_string(json_object_get(document->root, "asset"), "version");
    unsigned major, minor;
    if (!version) return CUTIS_OK;
    if (!parse_version(version, &major, &minor))
        return WRONG("PATTERN_MISMATCH", "/asset/version: \"%.40s\" is no version", version);
    if (major != 2)
        return cutis_gltf_issue(document, CUTIS_UNSUPPORTED_FORMAT, "UNKNOWN_ASSET_MAJOR_VERSION",
                                "/asset/version: glTF %s, this reads glTF 2", version);
    return CUTIS_OK;
}

static cutis_result check_asset(const gltf_document *document)
{
    json_t *asset = json_object_get(document->root, "asset");
    const char *version = cutis_gltf_string(asset, "version"),
               *least = cutis_gltf_string(asset, "minVersion");
    unsigned major = 2, minor = 0, least_major, least_minor;
    parse_version(version, &major, &minor); // it is one
    if (minor > 0)
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "UNKNOWN_ASSET_MINOR_VERSION",
                          "/asset/version: glTF %s, rules of 2.0 are looked at", version);
    if (!least) return CUTIS_OK;
    if (!parse_version(least, &least_major, &least_minor))
        return WRONG("PATTERN_MISMATCH", "/asset/minVersion: \"%s\" is no version", least);
    if (least_major == 2 && least_minor == 0) return CUTIS_OK;
    const bool greater = least_major > major || (least_major == major && least_minor > minor);
    // Another major number, or a property that 2.0 does not have, means what it says.
    const bool newer = least_major != 2 || !cutis_gltf_plain_schema(document->root);
    if (greater && (document->strict || newer))
        return WRONG("ASSET_MIN_VERSION_GREATER_THAN_VERSION",
                     "/asset/minVersion: %s is greater than the version %s", least, version);
    cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "UNKNOWN_ASSET_MINOR_VERSION",
                      "/asset/minVersion: needs glTF %s, this reads 2.0", least);
    if (newer && !document->report)
        return cutis_gltf_issue(document, CUTIS_UNSUPPORTED_FORMAT, "UNKNOWN_ASSET_MINOR_VERSION",
                                "/asset/minVersion: needs glTF %s, this reads 2.0", least);
    if (document->strict) return CUTIS_OK;
    FORGIVE(greater ? "ASSET_MIN_VERSION_GREATER_THAN_VERSION" : "UNKNOWN_ASSET_MINOR_VERSION",
            "/asset/minVersion: glTF %s, but nothing newer than 2.0 is in it", least);
    json_object_del(asset, "minVersion");
    if (json_object_set_new(asset, "version", json_string("2.0")) != 0)
        return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for a version");
    return CUTIS_OK;
}

bool cutis_gltf_declare(json_t *root, const char *name)
{
    json_t *used = json_object_get(root, "extensionsUsed");
    if (!used) {
        if (json_object_set_new(root, "extensionsUsed", json_array()) != 0) return false;
        used = json_object_get(root, "extensionsUsed");
    }
    return json_array_append_new(used, json_string(name)) == 0;
}

static cutis_result check_required(gltf_document *document)
{
    const json_t *required = json_object_get(document->root, "extensionsRequired");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const json_t *used = json_object_get(document->root, "extensionsUsed");
        const char *name = json_string_value(json_array_get(required, i));
        bool readable = cutis_gltf_extension_readable(name);
        // Readable ones are few, and the others end the walk: this is linear in the file.
        if (cutis_gltf_find_text(used, name) < 0 && (readable || document->strict)) {
            FORGIVE("UNUSED_EXTENSION_REQUIRED",
                    "/extensionsRequired/%zu: %s is not in extensionsUsed", i, name);
            if (!cutis_gltf_declare(document->root, name))
                return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for names");
        }
        if (readable) continue;
        if (!document->report)
            return cutis_gltf_issue(document, CUTIS_UNSUPPORTED_FORMAT, "UNSUPPORTED_EXTENSION",
                                    "/extensionsRequired/%zu: the extension %s is not supported", i,
                                    name);
        cutis_gltf_not_checked(document, "/extensionsRequired/%zu: data that %s holds", i, name);
        break;
    }
    return CUTIS_OK;
}

void cutis_gltf_document_destroy(cutis_source *source)
{
    gltf_document *document = (gltf_document *)source;
    cutis_context *context = document->context;
    cutis_json_release(context,
                       &(cutis_json){ .root = document->root, .charged = document->json_bytes });
    for (uint32_t i = 0; i < document->buffer_count && document->buffers; i++) {
        if (document->buffers[i].owned)
            cutis_free(context, document->buffers[i].owned, document->buffers[i].owned_size + 1);
    }
    cutis_arena_release(&document->parts);
    cutis_arena_release(&document->arena);
    cutis_free(context, document, sizeof *document);
}

cutis_result cutis_gltf_document_load(const cutis_input *input, const gltf_document *purpose,
                                      gltf_document **out)
{
    cutis_context *context = input->context;
    gltf_document *document = cutis_alloc(context, sizeof *document);
    if (!document) return cutis_alloc_result(context);
    *document = *purpose;
    atomic_init(&document->source.references, 1);
    document->source.destroy = cutis_gltf_document_destroy;
    document->context = document->arena.context = document->parts.context = context;
    document->on_disk = input->on_disk;
    document->input_bytes = input->size;
    document->file = cutis_arena_string(&document->arena, input->name);
    if (!document->strict)
        document->notes = cutis_arena_zero(&document->arena, 1, sizeof *document->notes);
    cutis_result result = document->file && (document->strict || document->notes)
                              ? cutis_gltf_load_json(document, input)
                              : cutis_alloc_result(context);
    if (result == CUTIS_OK) result = check_version(document);
    if (result == CUTIS_OK) result = cutis_gltf_check_schema(document);
    if (result == CUTIS_OK) result = check_asset(document);
    if (result == CUTIS_OK) result = check_required(document);
    if (result == CUTIS_OK && document->strict) result = cutis_gltf_check_strict_json(document);
    if (result == CUTIS_OK) result = cutis_gltf_remark_all(document);
    document->quantized = cutis_gltf_find_text(json_object_get(document->root, "extensionsUsed"),
                                               "KHR_mesh_quantization") >= 0;
    if (result == CUTIS_OK) result = cutis_gltf_load_buffers(document);
    if (result == CUTIS_OK) result = cutis_gltf_load_views(document);
    if (result == CUTIS_OK && document->strict) result = cutis_gltf_check_strict_images(document);
    if (result == CUTIS_OK) result = cutis_gltf_load_accessors(document);
    if (result == CUTIS_OK)
        *out = document;
    else
        cutis_gltf_document_destroy(&document->source);
    return result;
}
