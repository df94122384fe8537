/// From bytes to JSON and buffers: the GLB container, data URIs, files beside the document. Nothing
/// outside the document's folder is opened, and the size of everything is known before memory is
/// asked for.
#include "io/gltf/document.h"

#include "base/os/os.h"

#include <stdio.h>
#include <string.h>

enum { GLB_MAGIC = 0x46546C67, CHUNK_JSON = 0x4E4F534A, CHUNK_BIN = 0x004E4942 };

// JSON alone may take this much of the reader's allowance; real documents take a tenth of it.
enum { JSON_FACTOR = 48 };
static const uint64_t JSON_BASE = UINT64_C(8) << 20;

static uint32_t read_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/// The chunks of a GLB: JSON first, then at most one BIN; unknown ones after them are skipped, as
/// the specification asks.
static cutis_result split_glb(gltf_document *document, const uint8_t *data, size_t size,
                              const uint8_t **json, size_t *json_size)
{
    if (size < 12)
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                 "byte %zu: the GLB header is cut off", size);
    if (read_u32(data + 4) != 2)
        return cutis_gltf_refuse(document, CUTIS_UNSUPPORTED_FORMAT,
                                 "byte 4: GLB version %u, not 2", read_u32(data + 4));
    if (read_u32(data + 8) > size)
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                 "byte 8: the header says %u bytes, the file has %zu",
                                 read_u32(data + 8), size);
    size = read_u32(data + 8); // what follows it is not part of the asset
    size_t offset = 12;
    for (uint32_t index = 0; offset < size; index++) {
        if (size - offset < 8)
            return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                     "byte %zu: a chunk header is cut off", offset);
        uint32_t length = read_u32(data + offset), kind = read_u32(data + offset + 4);
        if (length % 4)
            return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                     "byte %zu: a chunk of %u bytes, not a multiple of 4", offset,
                                     length);
        if (length > size - offset - 8)
            return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                     "byte %zu: a chunk of %u bytes is longer than the file",
                                     offset, length);
        if ((index == 0) != (kind == CHUNK_JSON) || (kind == CHUNK_BIN && index != 1))
            return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                     "byte %zu: chunks must be one JSON, then at most one BIN",
                                     offset);
        if (index == 0) {
            *json = data + offset + 8;
            *json_size = length;
        } else if (kind == CHUNK_BIN) {
            document->bin = data + offset + 8;
            document->bin_size = length;
        }
        offset += 8 + (size_t)length;
    }
    if (!*json)
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA, "byte 12: there is no JSON chunk");
    return CUTIS_OK;
}

cutis_result cutis_gltf_load_json(gltf_document *document, const uint8_t *data, size_t size)
{
    const uint8_t *json = NULL;
    size_t json_size = 0;
    uint64_t cost;
    cutis_result result;
    if (size >= 4 && read_u32(data) == GLB_MAGIC) {
        document->binary = true;
        result = split_glb(document, data, size, &json, &json_size);
        if (result != CUTIS_OK) return result;
    } else {
        json = data;
        json_size = size;
    }
    if (json_size == 0)
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA, "byte 0: the JSON is empty");
    result =
        cutis_json_measure(document->context, document->file, (const char *)json, json_size, &cost);
    if (result != CUTIS_OK) return result;
    uint64_t used = cutis_context_memory(document->context);
    uint64_t limit = cutis_context_limits(document->context)->memory_bytes;
    if (cost > json_size * JSON_FACTOR + JSON_BASE || used > limit || cost > limit - used)
        return cutis_gltf_refuse(document, CUTIS_LIMIT_EXCEEDED,
                                 "byte 0: parsing its JSON would take %llu bytes of memory",
                                 (unsigned long long)cost);
    document->charged += cost;
    return cutis_json_parse(document->context, document->file, (const char *)json, json_size,
                            &document->root);
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    if (c == '/' || c == '_') return 63;
    return -1;
}

bool cutis_gltf_decode_base64(const char *text, uint8_t *out, size_t size)
{
    size_t written = 0;
    uint32_t bits = 0;
    int bit_count = 0;
    for (; *text && *text != '='; text++) {
        int digit = base64_digit(*text);
        if (digit < 0) return false;
        bits = bits << 6 | (uint32_t)digit;
        bit_count += 6;
        if (bit_count < 8) continue;
        bit_count -= 8;
        if (written < size) out[written] = (uint8_t)(bits >> bit_count);
        written++;
    }
    while (*text == '=') text++;
    return *text == 0 && written >= size;
}

static cutis_result load_data_uri(gltf_document *document, uint32_t index, const char *uri)
{
    gltf_buffer *buffer = &document->buffers[index];
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 7 || memcmp(comma - 7, ";base64", 7) != 0)
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                 "/buffers/%u/uri: a data URI without base64 data", index);
    // Four characters hold three bytes; a lying byteLength is found before it is allocated.
    if (buffer->size > strlen(comma + 1) / 4 * 3 + 3)
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                 "/buffers/%u/byteLength: %zu bytes, the data URI holds less",
                                 index, buffer->size);
    uint8_t *bytes = cutis_arena_alloc(&document->arena, buffer->size, 1);
    if (!bytes) return cutis_alloc_result(document->context);
    if (!cutis_gltf_decode_base64(comma + 1, bytes, buffer->size))
        return cutis_gltf_refuse(
            document, CUTIS_CORRUPT_DATA,
            "/buffers/%u/uri: base64 is malformed or shorter than byteLength %zu", index,
            buffer->size);
    buffer->data = bytes;
    return CUTIS_OK;
}

/// "%20" and the like; false if malformed, too long, or hiding a zero byte.
static bool decode_percent(const char *uri, char *out, size_t capacity)
{
    size_t length = 0;
    for (; *uri; uri++, length++) {
        unsigned value = (unsigned char)*uri;
        if (length + 1 >= capacity) return false;
        if (value == '%') {
            char digits[3] = { uri[1], uri[1] ? uri[2] : 0, 0 };
            if (strspn(digits, "0123456789abcdefABCDEF") != 2) return false;
            sscanf(digits, "%x", &value);
            if (value == 0) return false;
            uri += 2;
        }
        out[length] = (char)value;
    }
    out[length] = 0;
    return true;
}

static cutis_result load_file(gltf_document *document, uint32_t index, const char *uri)
{
    gltf_buffer *buffer = &document->buffers[index];
    char relative[4096], path[8192], reason[1024];
    if (!document->on_disk)
        return cutis_gltf_refuse(document, CUTIS_UNSUPPORTED_FORMAT,
                                 "/buffers/%u/uri: a file beside a document that is in memory",
                                 index);
    if (!decode_percent(uri, relative, sizeof relative))
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA, "/buffers/%u/uri: malformed", index);
    cutis_result result =
        cutis_os_resolve_below(document->context, document->file, relative, path, sizeof path);
    if (result == CUTIS_OK)
        result = cutis_os_read_file(document->context, path, &buffer->owned, &buffer->owned_size);
    if (result != CUTIS_OK) {
        snprintf(reason, sizeof reason, "%s", cutis_context_error(document->context));
        return cutis_gltf_refuse(document, result, "/buffers/%u/uri: %s", index, reason);
    }
    document->input_bytes += buffer->owned_size;
    if (buffer->owned_size < buffer->size)
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                 "/buffers/%u/byteLength: %zu bytes, the file %s has %zu", index,
                                 buffer->size, relative, buffer->owned_size);
    buffer->data = buffer->owned;
    return CUTIS_OK;
}

static cutis_result load_glb_buffer(gltf_document *document, const json_t *json)
{
    gltf_buffer *buffer = &document->buffers[0];
    bool fallback = cutis_gltf_extension(json, "EXT_meshopt_compression") != NULL;
    if (!document->bin && fallback) return CUTIS_OK;
    if (!document->bin)
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                 "/buffers/0: has no uri, and there is no BIN chunk");
    if (document->bin_size < buffer->size)
        return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                 "/buffers/0/byteLength: %zu bytes, the BIN chunk has %zu",
                                 buffer->size, document->bin_size);
    buffer->data = cutis_arena_copy(&document->arena, document->bin, buffer->size, 1);
    return buffer->data ? CUTIS_OK : cutis_alloc_result(document->context);
}

static cutis_result load_buffer(gltf_document *document, uint32_t index, json_t *loaded)
{
    const json_t *json = cutis_gltf_item(document, "buffers", index);
    gltf_buffer *buffer = &document->buffers[index];
    const char *uri = cutis_gltf_string(json, "uri");
    buffer->size = (size_t)cutis_gltf_integer(json, "byteLength", 0);
    if (!uri) return index == 0 && document->binary ? load_glb_buffer(document, json) : CUTIS_OK;
    if (strncmp(uri, "data:", 5) == 0) return load_data_uri(document, index, uri);
    // A file named by many buffers is read once, or naming it often would multiply its size.
    const json_t *earlier = json_object_get(loaded, uri);
    if (earlier) {
        const gltf_buffer *first = &document->buffers[json_integer_value(earlier)];
        if (first->owned_size < buffer->size)
            return cutis_gltf_refuse(document, CUTIS_CORRUPT_DATA,
                                     "/buffers/%u/byteLength: %zu bytes, the file has %zu", index,
                                     buffer->size, first->owned_size);
        buffer->data = first->owned;
        return CUTIS_OK;
    }
    json_object_set_new(loaded, uri, json_integer(index));
    return load_file(document, index, uri);
}

cutis_result cutis_gltf_load_buffers(gltf_document *document)
{
    uint32_t count = (uint32_t)json_array_size(json_object_get(document->root, "buffers"));
    document->buffers = cutis_arena_alloc(&document->arena, count, sizeof *document->buffers);
    if (!document->buffers) return cutis_alloc_result(document->context);
    memset(document->buffers, 0, count * sizeof *document->buffers);
    document->buffer_count = count;
    json_t *loaded = json_object();
    cutis_result result = CUTIS_OK;
    for (uint32_t i = 0; i < count && result == CUTIS_OK; i++)
        result = load_buffer(document, i, loaded);
    json_decref(loaded);
    document->bin = NULL;
    return result;
}
