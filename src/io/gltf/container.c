/// From bytes to JSON and buffers: the GLB container, data URIs, files beside the document. Nothing
/// outside the document's folder is opened, and the size of everything is known before memory is
/// asked for.
#include "io/gltf/document.h"

#include "base/os/os.h"
#include "io/bytes.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static cutis_result check_glb_header(const gltf_document *document, const uint8_t *data,
                                     size_t size)
{
    if (size >= 4 && cutis_load_u32(data) != GLB_MAGIC)
        return WRONG("GLB_INVALID_MAGIC", "byte 0: the file does not start with glTF");
    if (size < 12)
        return WRONG("GLB_UNEXPECTED_END_OF_HEADER", "byte %zu: the GLB header is cut off", size);
    if (cutis_load_u32(data + 4) != 2)
        return cutis_gltf_issue(document, CUTIS_UNSUPPORTED_FORMAT, "GLB_INVALID_VERSION",
                                "byte 4: GLB version %u, not 2", cutis_load_u32(data + 4));
    if (cutis_load_u32(data + 8) <= 12)
        return WRONG("GLB_LENGTH_TOO_SMALL", "byte 8: the header says %u bytes",
                     cutis_load_u32(data + 8));
    return CUTIS_OK;
}

// Padding that writers forget or count twice: up to a multiple of 4 bytes.
enum { PADDING_MAX = 3 };

/// The length of the chunk at `offset`, and where the next one starts.
static cutis_result measure_chunk(const gltf_document *document, const uint8_t *data, size_t size,
                                  uint32_t total, size_t offset, uint32_t *length, size_t *next)
{
    const uint64_t stated = cutis_load_u32(data + offset), end = offset + 8 + stated;
    const bool fits = end <= size;
    *length = (uint32_t)stated;
    *next = (size_t)end;
    if (stated % 4) {
        // The next chunk follows at once, or after the padding that was not counted.
        const size_t padded = (size_t)(end + 3) / 4 * 4;
        const bool at_once =
            fits && (end == size || end == total ||
                     (size - end >= 8 && cutis_load_u32(data + end + 4) == CHUNK_BIN));
        const bool after = fits && (padded == size || padded == total ||
                                    (padded < size && size - padded >= 8 &&
                                     cutis_load_u32(data + padded + 4) == CHUNK_BIN));
        if (document->strict || !(at_once || after))
            return WRONG("GLB_CHUNK_LENGTH_UNALIGNED",
                         "byte %zu: a chunk of %u bytes, not a multiple of 4", offset, *length);
        FORGIVE("GLB_CHUNK_LENGTH_UNALIGNED", "byte %zu: a chunk of %u bytes, not a multiple of 4",
                offset, *length);
        if (!at_once) *next = padded;
    }
    if (end <= total) return CUTIS_OK;
    // The file, not the number in its header, says what there is.
    if (document->strict || !fits)
        return WRONG("GLB_CHUNK_TOO_BIG",
                     "byte %zu: a chunk of %u bytes does not fit into the %u bytes", offset,
                     *length, total);
    return cutis_gltf_forgive(document, CUTIS_CORRUPT_DATA, "GLB_CHUNK_TOO_BIG",
                              "byte %zu: a chunk of %u bytes is longer than the header says",
                              offset, *length);
}

/// One chunk at `offset`: that it fits, and what it is.
static cutis_result take_chunk(gltf_document *document, const uint8_t *data, size_t size,
                               uint32_t total, size_t offset, uint32_t index, const uint8_t **json,
                               size_t *json_size, size_t *next)
{
    uint32_t length, kind = cutis_load_u32(data + offset + 4);
    cutis_result result = measure_chunk(document, data, size, total, offset, &length, next);
    if (result != CUTIS_OK) return result;
    if (index == 0 && kind != CHUNK_JSON)
        return WRONG("GLB_UNEXPECTED_FIRST_CHUNK", "byte %zu: the first chunk is not JSON", offset);
    if (kind == CHUNK_JSON && length == 0)
        return WRONG("GLB_EMPTY_CHUNK", "byte %zu: the JSON chunk is empty", offset);
    if ((kind == CHUNK_JSON && index > 0) || (kind == CHUNK_BIN && document->bin))
        return WRONG("GLB_DUPLICATE_CHUNK", "byte %zu: a second chunk of this kind", offset);
    if (kind == CHUNK_BIN && index > 1)
        return WRONG("GLB_UNEXPECTED_BIN_CHUNK", "byte %zu: the BIN chunk is not the second",
                     offset);
    if (offset + 8 + (uint64_t)length > size) {
        const uint64_t missing = offset + 8 + (uint64_t)length - size;
        if (document->strict || kind != CHUNK_BIN || missing > PADDING_MAX)
            return WRONG("GLB_UNEXPECTED_END_OF_CHUNK_DATA",
                         "byte %zu: the file ends inside a chunk", size);
        FORGIVE("GLB_UNEXPECTED_END_OF_CHUNK_DATA",
                "byte %zu: the padding of the last chunk is missing", size);
        length -= (uint32_t)missing;
        *next = size;
    }
    if (kind == CHUNK_BIN && length == 0)
        cutis_gltf_remark(document, CUTIS_ISSUE_INFORMATION, "GLB_EMPTY_BIN_CHUNK",
                          "byte %zu: the BIN chunk is empty", offset);
    if (kind == CHUNK_JSON) {
        *json = data + offset + 8;
        *json_size = length;
    } else if (kind == CHUNK_BIN) {
        document->bin = data + offset + 8;
        document->bin_size = length;
    } else {
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "GLB_UNKNOWN_CHUNK_TYPE",
                          "byte %zu: a chunk of type 0x%08x", offset, kind);
        document->chunks_size += 8 + (size_t)length; // BIN is the second: they are the last
    }
    return CUTIS_OK;
}

/// The chunks of a GLB: JSON first, then at most one BIN; unknown ones after them are skipped, as
/// the specification asks. What follows the declared length is not part of the asset.
static cutis_result split_glb(gltf_document *document, const uint8_t *data, size_t size,
                              const uint8_t **json, size_t *json_size)
{
    cutis_result result = check_glb_header(document, data, size);
    if (result != CUTIS_OK) return result;
    uint32_t total = cutis_load_u32(data + 8);
    size_t offset = 12;
    for (uint32_t index = 0; offset < total && offset < size; index++) {
        if (size - offset < 8) {
            if (document->strict || index == 0)
                return WRONG("GLB_UNEXPECTED_END_OF_CHUNK_HEADER",
                             "byte %zu: a chunk header is cut off", offset);
            FORGIVE("GLB_UNEXPECTED_END_OF_CHUNK_HEADER", "byte %zu: %zu bytes after the chunks",
                    offset, size - offset);
            break;
        }
        result = take_chunk(document, data, size, total, offset, index, json, json_size, &offset);
        if (result != CUTIS_OK) return result;
    }
    if (document->chunks_size && document->kept) {
        document->chunks = cutis_arena_copy(&document->arena, data + offset - document->chunks_size,
                                            document->chunks_size, 1);
        if (!document->chunks) return cutis_alloc_result(document->context);
    }
    // Every chunk is whole: the header alone is wrong.
    if (offset < total)
        FORGIVE("GLB_LENGTH_MISMATCH", "byte 8: the header says %u bytes, the file has %zu", total,
                size);
    if (offset < size)
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "GLB_EXTRA_DATA",
                          "byte %zu: data after the end of the GLB", offset);
    return CUTIS_OK;
}

/// What editors put before a text and tools after it: a byte order mark, zero bytes.
static cutis_result strip_json(const gltf_document *document, const uint8_t **json, size_t *size)
{
    if (*size >= 3 && memcmp(*json, "\xEF\xBB\xBF", 3) == 0) {
        FORGIVE("INVALID_JSON", "byte 0: a byte order mark before the JSON");
        *json += 3;
        *size -= 3;
    }
    size_t kept = *size;
    while (kept > 0 && (*json)[kept - 1] == 0) kept--;
    if (kept > 0 && kept < *size) {
        FORGIVE("INVALID_JSON", "byte %zu: zero bytes after the JSON", kept);
        *size = kept;
    }
    return CUTIS_OK;
}

cutis_result cutis_gltf_load_json(gltf_document *document, const cutis_input *input)
{
    const uint8_t *data = (const uint8_t *)input->data, *json = data;
    size_t size = input->size, json_size = size;
    cutis_result result;
    size_t length = strlen(document->file);
    bool named = length >= 4 && strcasecmp(document->file + length - 4, ".glb") == 0;
    if ((size >= 4 && cutis_load_u32(data) == GLB_MAGIC) ||
        (named && (size == 0 || data[0] != '{'))) {
        document->binary = true;
        json_size = 0;
        result = split_glb(document, data, size, &json, &json_size);
        if (result != CUTIS_OK) return result;
    }
    result = strip_json(document, &json, &json_size);
    if (result != CUTIS_OK) return result;
    if (json_size == 0) return WRONG("INVALID_JSON", "byte 0: the JSON is empty");
    cutis_json parsed;
    result =
        cutis_json_parse(document->context, document->file, (const char *)json, json_size, &parsed);
    if (result == CUTIS_CORRUPT_DATA) {
        // The parser's error names the file already.
        const char *reason = cutis_context_error(document->context);
        size_t prefix = strlen(document->file) + 2;
        char text[512];
        snprintf(text, sizeof text, "%s", strlen(reason) > prefix ? reason + prefix : reason);
        return cutis_gltf_issue(
            document, result, parsed.overflow ? "VALUE_NOT_IN_RANGE" : "INVALID_JSON", "%s", text);
    }
    if (result != CUTIS_OK) return result;
    document->root = parsed.root;
    document->json_bytes = parsed.charged;
    document->charged += parsed.charged;
    return CUTIS_OK;
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

size_t cutis_gltf_decode_base64(const char *text, uint8_t *out, size_t size, bool *malformed)
{
    size_t written = 0;
    uint32_t bits = 0;
    int bit_count = 0;
    for (; *text && *text != '=' && *text != '%'; text++) {
        int digit = base64_digit(*text);
        if (digit < 0) break;
        bits = bits << 6 | (uint32_t)digit;
        bit_count += 6;
        if (bit_count < 8) continue;
        bit_count -= 8;
        if (written < size) out[written] = (uint8_t)(bits >> bit_count);
        written++;
    }
    while (*text == '=' || strncasecmp(text, "%3d", 3) == 0) text += *text == '=' ? 1 : 3;
    *malformed = *text != 0;
    return written;
}

bool cutis_gltf_base64_valid(const char *text)
{
    size_t digits = 0, padding = 0;
    for (; *text; text++) {
        // Padding may be written in percent.
        if (text[0] == '=' || strncasecmp(text, "%3d", 3) == 0) {
            padding++;
            if (text[0] == '%') text += 2;
        } else if (base64_digit(*text) < 0 || padding) {
            return false;
        } else {
            digits++;
        }
    }
    return padding > 2 ? false : padding ? (digits + padding) % 4 == 0 : digits % 4 != 1;
}

/// The byte at `*text`, which may be written as "%20"; *text is then on its last character.
static bool take_percent(const char **text, unsigned *value)
{
    char digits[3] = { (*text)[1], (*text)[1] ? (*text)[2] : 0, 0 };
    if (**text != '%' || strspn(digits, "0123456789abcdefABCDEF") != 2) return false;
    sscanf(digits, "%x", value);
    *text += 2;
    return true;
}

/// Data as plain text with percents: one byte a character. Returns how many bytes there are; writes
/// at most `size` of them.
static size_t decode_plain(const char *text, uint8_t *out, size_t size)
{
    size_t count = 0;
    for (; *text; text++, count++) {
        unsigned value = (unsigned char)*text;
        take_percent(&text, &value);
        if (count < size) out[count] = (uint8_t)value;
    }
    return count;
}

size_t cutis_gltf_decode_data_uri(const char *uri, uint8_t *out, size_t size)
{
    const char *comma = strchr(uri, ',');
    bool base64 = comma - uri >= 7 && memcmp(comma - 7, ";base64", 7) == 0, malformed;
    size_t held = base64 ? cutis_gltf_decode_base64(comma + 1, out, size, &malformed)
                         : decode_plain(comma + 1, out, size);
    return held < size ? held : size;
}

/// A buffer and the bytes there are for it. Fewer than it says are all it has: views that need
/// more are refused, and it is the views that count.
static cutis_result take_held(gltf_document *document, uint32_t index, const uint8_t *data,
                              size_t held, const char *where)
{
    gltf_buffer *buffer = &document->buffers[index];
    if (held < buffer->size) {
        FORGIVE("BUFFER_BYTE_LENGTH_MISMATCH", "/buffers/%u/byteLength: %zu bytes, %s has %zu",
                index, buffer->size, where, held);
        buffer->size = held;
    }
    buffer->data = data;
    return CUTIS_OK;
}

static cutis_result load_data_uri(gltf_document *document, uint32_t index, const char *uri)
{
    gltf_buffer *buffer = &document->buffers[index];
    const char *comma = strchr(uri, ',');
    if (!comma) return WRONG("INVALID_URI", "/buffers/%u/uri: a data URI without data", index);
    bool base64 = comma - uri >= 7 && memcmp(comma - 7, ";base64", 7) == 0;
    if (document->strict) {
        size_t length = strcspn(uri + 5, ";,");
        bool octets = length == 24 && strncasecmp(uri + 5, "application/octet-stream", 24) == 0;
        bool buffers = length == 23 && strncasecmp(uri + 5, "application/gltf-buffer", 23) == 0;
        if (!cutis_gltf_uri_valid(uri))
            return WRONG("INVALID_URI", "/buffers/%u/uri: malformed", index);
        if (!octets && !buffers)
            return WRONG("BUFFER_DATA_URI_MIME_TYPE_INVALID",
                         "/buffers/%u/uri: not application/octet-stream or "
                         "application/gltf-buffer",
                         index);
    }
    // Four characters hold three bytes; a lying byteLength is found before it is allocated.
    size_t most = base64 ? strlen(comma + 1) / 4 * 3 + 3 : strlen(comma + 1);
    size_t room = buffer->size < most ? buffer->size : most;
    uint8_t *bytes = cutis_arena_alloc(&document->arena, room, 1);
    if (!bytes) return cutis_alloc_result(document->context);
    bool malformed = false;
    size_t held = base64 ? cutis_gltf_decode_base64(comma + 1, bytes, room, &malformed)
                         : decode_plain(comma + 1, bytes, room);
    if (malformed) return WRONG("INVALID_URI", "/buffers/%u/uri: base64 is malformed", index);
    return take_held(document, index, bytes, held, "the data URI");
}

bool cutis_gltf_decode_percent(const char *uri, char *out, size_t capacity)
{
    size_t length = 0;
    for (; *uri; uri++, length++) {
        unsigned value = (unsigned char)*uri;
        if (length + 1 >= capacity) return false;
        if (value == '%' && (!take_percent(&uri, &value) || value == 0)) return false;
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
        return cutis_gltf_issue(document, CUTIS_UNSUPPORTED_FORMAT, "IO_ERROR",
                                "/buffers/%u/uri: a file beside a document that is in memory",
                                index);
    if ((document->strict && !cutis_gltf_uri_valid(uri)) ||
        !cutis_gltf_decode_percent(uri, relative, sizeof relative))
        return WRONG("INVALID_URI", "/buffers/%u/uri: malformed", index);
    // What only a network holds cannot be looked at here: no error of the file, and no data.
    if (document->report &&
        (strncasecmp(uri, "http://", 7) == 0 || strncasecmp(uri, "https://", 8) == 0)) {
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "NON_RELATIVE_URI",
                          "/buffers/%u/uri: not a file beside the document, not looked at", index);
        cutis_gltf_not_checked(document, "/buffers/%u: not a file beside the document", index);
        return CUTIS_OK;
    }
    cutis_result result =
        cutis_os_resolve_below(document->context, document->file, relative, path, sizeof path);
    if (result == CUTIS_OK)
        result = cutis_os_read_file(document->context, path, &buffer->owned, &buffer->owned_size);
    if (result != CUTIS_OK) {
        snprintf(reason, sizeof reason, "%s", cutis_context_error(document->context));
        return cutis_gltf_issue(document, result, "IO_ERROR", "/buffers/%u/uri: %s", index, reason);
    }
    document->input_bytes += buffer->owned_size;
    return take_held(document, index, buffer->owned, buffer->owned_size, "the file");
}

static cutis_result load_glb_buffer(gltf_document *document, const json_t *json)
{
    gltf_buffer *buffer = &document->buffers[0];
    bool fallback = cutis_gltf_extension(json, "EXT_meshopt_compression") != NULL;
    if (!document->bin && fallback) return CUTIS_OK;
    if (!document->bin)
        return WRONG("BUFFER_MISSING_GLB_DATA",
                     "/buffers/0: has no uri, and there is no BIN chunk");
    cutis_result result =
        take_held(document, 0, document->bin, document->bin_size, "the BIN chunk");
    if (result == CUTIS_OK && document->bin_size > (buffer->size + 3) / 4 * 4)
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "BUFFER_GLB_CHUNK_TOO_BIG",
                          "/buffers/0: the BIN chunk has %zu bytes more",
                          document->bin_size - buffer->size);
    if (result != CUTIS_OK || !document->kept) return result;
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
    if (strncasecmp(uri, "data:", 5) == 0) return load_data_uri(document, index, uri);
    // A file named by many buffers is read once, or naming it often would multiply its size.
    const json_t *earlier = json_object_get(loaded, uri);
    if (earlier) {
        const gltf_buffer *first = &document->buffers[json_integer_value(earlier)];
        return take_held(document, index, first->owned, first->owned_size, "the file");
    }
    if (json_object_set_new(loaded, uri, json_integer(index)) != 0)
        return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for names of files");
    return load_file(document, index, uri);
}

cutis_result cutis_gltf_load_buffers(gltf_document *document)
{
    document->buffers = cutis_gltf_new_items(document, &document->arena, "buffers",
                                             sizeof *document->buffers, &document->buffer_count);
    if (!document->buffers) return cutis_alloc_result(document->context);
    json_t *loaded = json_object();
    cutis_result result = CUTIS_OK;
    for (uint32_t i = 0; i < document->buffer_count && result == CUTIS_OK; i++) {
        result = load_buffer(document, i, loaded);
        cutis_gltf_go_on(document, &result);
    }
    json_decref(loaded);
    document->bin = NULL;
    return cutis_gltf_end_phase(document, result);
}
