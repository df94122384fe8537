/// The headers of images: what format they are in, against what the document says, their size, and
/// what glTF has no use for. Pixels are not looked at. Image files that cannot be opened are a
/// warning: a model does without. Invariant: no byte beyond `size` is read, and a file that many
/// images name is opened once.
#include "io/gltf/parts.h"

#include "base/os/os.h"
#include "io/bytes.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/// What the first bytes say.
typedef struct image_header {
    const char *mime; ///< NULL: none of the formats whose header is read, or not there
    const char *code; ///< of the validator, for what is wrong with it; else NULL
    const char *reason;
    uint32_t width, height;
    bool unusual; ///< other colours than sRGB, pixels that are not square, or moving
} image_header;

static uint32_t big_u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void fail_header(image_header *out, const char *code, const char *reason)
{
    out->code = code;
    out->reason = reason;
}

/// From marker to marker up to a frame's; everything between has its length in front.
static void read_jpeg(const uint8_t *data, size_t size, image_header *out)
{
    size_t at = 2;
    for (;;) {
        // Fill bytes, restarts and the like are markers without a segment.
        while (at < size && (data[at] == 0xFF || data[at] == 1 || (data[at] & 0xF8) == 0xD0 ||
                             data[at] == 0xD8 || data[at] == 0xD9))
            at++;
        if (size - at < 3) break;
        const uint8_t marker = data[at];
        const size_t length = (size_t)data[at + 1] << 8 | data[at + 2];
        const bool frame =
            ((marker & 0xF0) == 0xC0 && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) ||
            marker == 0xDE;
        if (length < 2) {
            fail_header(out, "IMAGE_DATA_INVALID", "a JPEG segment of no length");
            return;
        }
        if (size - at - 1 < length) break;
        const uint8_t *segment = data + at + 3;
        at += 1 + length;
        if (!frame) continue;
        if (length < 8 || (segment[5] != 3 && segment[5] != 1)) {
            fail_header(out, "IMAGE_DATA_INVALID", "a JPEG that has neither 1 nor 3 channels");
            return;
        }
        out->height = (uint32_t)segment[1] << 8 | segment[2];
        out->width = (uint32_t)segment[3] << 8 | segment[4];
        return;
    }
    fail_header(out, "IMAGE_UNEXPECTED_EOS", "the JPEG ends before its frame");
}

/// White point, red, green, blue of sRGB in hundred-thousandths, as PNG has them.
static bool is_srgb(const uint8_t *data)
{
    static const uint32_t SRGB[8] = { 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000 };
    for (size_t i = 0; i < 8; i++)
        if (big_u32(data + 4 * i) != SRGB[i]) return false;
    return true;
}

/// What the chunks of a PNG say about its colours so far; what came first counts.
typedef struct png_colors {
    bool primaries_known, transfer_known, primaries_custom, transfer_custom;
} png_colors;

static void look_at_colors(const char *name, const uint8_t *data, png_colors *colors)
{
    if (memcmp(name, "sRGB", 4) == 0) {
        *colors = (png_colors){ .primaries_known = true, .transfer_known = true };
    } else if (memcmp(name, "iCCP", 4) == 0) {
        *colors = (png_colors){ true, true, true, true };
    } else if (memcmp(name, "cHRM", 4) == 0 && !colors->primaries_known) {
        colors->primaries_known = true;
        colors->primaries_custom = !is_srgb(data);
    } else if (memcmp(name, "gAMA", 4) == 0 && !colors->transfer_known) {
        colors->transfer_known = true;
        colors->transfer_custom = big_u32(data) != 45455 && big_u32(data) != 100000;
    }
}

/// Chunks up to the first of pixels.
static void read_png(const uint8_t *data, size_t size, image_header *out)
{
    static const struct {
        char name[5];
        uint32_t length;
    } FIXED[] = { { "IHDR", 13 }, { "cHRM", 32 }, { "sRGB", 1 }, { "pHYs", 9 }, { "gAMA", 4 } };
    png_colors colors = { 0 };
    bool header = false;
    for (size_t at = 8; size - at >= 8;) {
        const uint32_t length = big_u32(data + at);
        const char *name = (const char *)data + at + 4;
        if (memcmp(name, "IDAT", 4) == 0) {
            if (!header) fail_header(out, "IMAGE_DATA_INVALID", "a PNG without its header");
            out->unusual = out->unusual || colors.primaries_custom || colors.transfer_custom;
            return;
        }
        for (size_t i = 0; i < sizeof FIXED / sizeof *FIXED; i++) {
            if (memcmp(name, FIXED[i].name, 4) != 0 || length == FIXED[i].length) continue;
            fail_header(out, "IMAGE_DATA_INVALID", "a PNG chunk of the wrong length");
            return;
        }
        at += 8;
        if (size - at < (uint64_t)length + 4) break;
        if (memcmp(name, "IHDR", 4) == 0) {
            header = true;
            out->width = big_u32(data + at);
            out->height = big_u32(data + at + 4);
        } else if (memcmp(name, "pHYs", 4) == 0) {
            out->unusual = out->unusual || big_u32(data + at) != big_u32(data + at + 4);
        } else {
            look_at_colors(name, data + at, &colors);
        }
        at += (size_t)length + 4;
    }
    fail_header(out, "IMAGE_UNEXPECTED_EOS", "the PNG ends before its pixels");
}

static void read_webp(const uint8_t *data, size_t size, image_header *out)
{
    const bool lossless = size > 15 && data[15] == 'L';
    if (size < (lossless ? 25u : 30u)) {
        fail_header(out, "IMAGE_UNEXPECTED_EOS", "the WebP ends in its header");
    } else if (memcmp(data + 12, "VP8 ", 4) == 0) {
        out->width = ((uint32_t)data[26] | (uint32_t)data[27] << 8) & 0x3FFF;
        out->height = ((uint32_t)data[28] | (uint32_t)data[29] << 8) & 0x3FFF;
    } else if (memcmp(data + 12, "VP8L", 4) == 0) {
        out->width = 1 + ((uint32_t)data[21] | (uint32_t)(data[22] & 0x3F) << 8);
        out->height = 1 + ((uint32_t)data[22] >> 6 | (uint32_t)data[23] << 2 |
                           (uint32_t)(data[24] & 15) << 10);
    } else if (memcmp(data + 12, "VP8X", 4) == 0) {
        out->unusual = data[20] & 0x22; // moving, or with a colour profile
        out->width = 1 + ((uint32_t)data[24] | (uint32_t)data[25] << 8 | (uint32_t)data[26] << 16);
        out->height = 1 + ((uint32_t)data[27] | (uint32_t)data[28] << 8 | (uint32_t)data[29] << 16);
    } else {
        fail_header(out, "IMAGE_DATA_INVALID", "a WebP of a kind that does not exist");
    }
}

/// No image of these formats is shorter than 14 bytes.
static const char *format_of(const uint8_t *data, size_t size)
{
    if (size < 14) return NULL;
    if (memcmp(data, "\xFF\xD8\xFF", 3) == 0) return "image/jpeg";
    if (memcmp(data, "\x89PNG\r\n\x1A\n", 8) == 0) return "image/png";
    if (memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBPVP", 6) == 0) return "image/webp";
    if (memcmp(data, "\xABKTX 20\xBB\r\n\x1A\n", 12) == 0) return "image/ktx2";
    return NULL;
}

static image_header read_header(const uint8_t *data, size_t size)
{
    image_header out = { .mime = format_of(data, size) };
    if (out.mime && strcmp(out.mime, "image/ktx2") == 0) out.mime = NULL;
    if (!out.mime) return out;
    if (strcmp(out.mime, "image/jpeg") == 0) read_jpeg(data, size, &out);
    if (strcmp(out.mime, "image/png") == 0) read_png(data, size, &out);
    if (strcmp(out.mime, "image/webp") == 0) read_webp(data, size, &out);
    return out;
}

/// Where the bytes of an image are; `owned` of `owned_size` is released by whoever looked at them.
typedef struct image_bytes {
    const uint8_t *data; ///< NULL: not to be had, which has been remarked on
    size_t size;
    void *owned;
    size_t owned_size;
} image_bytes;

/// The media type of a data URI is that of its content, or nobody knows what is meant.
static cutis_result open_data_uri(const gltf_document *document, uint32_t index, const char *uri,
                                  image_bytes *out)
{
    const char *comma = uri + strcspn(uri, ","); // there: the syntax has been checked
    const size_t length = strcspn(uri + 5, ";,");
    out->owned_size = strlen(comma) + 3;
    out->owned = cutis_alloc(document->context, out->owned_size);
    if (!out->owned) return cutis_alloc_result(document->context);
    const char *mime;
    out->data = out->owned;
    out->size = cutis_gltf_decode_data_uri(uri, out->owned, out->owned_size);
    mime = format_of(out->data, out->size);
    if (mime && strlen(mime) == length && strncasecmp(uri + 5, mime, length) == 0) return CUTIS_OK;
    return WRONG("INVALID_URI", "/images/%u/uri: says %.*s, holds %s", index,
                 length < 60 ? (int)length : 60, uri + 5, mime ? mime : "something else");
}

static cutis_result open_file(const gltf_document *document, uint32_t index, const char *uri,
                              image_bytes *out)
{
    char relative[4096], path[8192];
    cutis_result result = CUTIS_UNSUPPORTED_FORMAT;
    if (strchr(uri, ':')) {
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "NON_RELATIVE_URI",
                          "/images/%u/uri: not a file beside the document", index);
        cutis_gltf_not_checked(document, "/images/%u: not a file beside the document", index);
        return CUTIS_OK;
    }
    if (!document->on_disk) {
        cutis_gltf_not_checked(document, "/images/%u: a file, and the document is in memory",
                               index);
        return CUTIS_OK;
    }
    if (cutis_gltf_decode_percent(uri, relative, sizeof relative))
        result =
            cutis_os_resolve_below(document->context, document->file, relative, path, sizeof path);
    if (result == CUTIS_OK)
        result = cutis_os_read_file(document->context, path, &out->owned, &out->size);
    if (result == CUTIS_OUT_OF_MEMORY) return result;
    if (result != CUTIS_OK) {
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "IO_ERROR",
                          "/images/%u/uri: %.200s cannot be opened", index, uri);
        cutis_gltf_not_checked(document, "/images/%u: cannot be opened", index);
        return CUTIS_OK;
    }
    out->data = out->owned;
    out->owned_size = out->size + 1;
    return CUTIS_OK;
}

/// The enabled formats: those of core glTF, and WebP with its extension.
static bool is_enabled(const gltf_document *document, const char *mime)
{
    return strcmp(mime, "image/webp") != 0 ||
           cutis_gltf_find_text(json_object_get(document->root, "extensionsUsed"),
                                "EXT_texture_webp") >= 0;
}

static bool is_power_of_two(uint32_t n)
{
    return n && (n & (n - 1)) == 0;
}

static cutis_result judge_image(const gltf_document *document, uint32_t index, bool inside,
                                const image_header *header)
{
    const char *said = cutis_gltf_string(cutis_gltf_item(document, "images", index), "mimeType");
    if (header->code) return WRONG(header->code, "/images/%u: %s", index, header->reason);
    if (!header->mime) {
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "IMAGE_UNRECOGNIZED_FORMAT",
                          "/images/%u: neither JPEG nor PNG nor WebP", index);
        cutis_gltf_not_checked(document, "/images/%u: of a format whose header is not read", index);
        return CUTIS_OK;
    }
    if (!is_enabled(document, header->mime))
        return WRONG("IMAGE_NON_ENABLED_MIME_TYPE", "/images/%u: %s needs an extension", index,
                     header->mime);
    if (said && strcmp(said, header->mime) != 0)
        return WRONG("IMAGE_MIME_TYPE_INVALID", "/images/%u/%s: says %.60s, is %s", index,
                     inside ? "bufferView" : "uri", said, header->mime);
    if (!is_power_of_two(header->width) || !is_power_of_two(header->height))
        cutis_gltf_remark(document, CUTIS_ISSUE_INFORMATION, "IMAGE_NPOT_DIMENSIONS",
                          "/images/%u: %u x %u pixels, not powers of two", index, header->width,
                          header->height);
    if (header->unusual)
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "IMAGE_FEATURES_UNSUPPORTED",
                          "/images/%u: colours other than sRGB, pixels that are not square, or "
                          "moving",
                          index);
    return CUTIS_OK;
}

/// @param opened the number of the first image of each file
static cutis_result check_image(const gltf_document *document, uint32_t index,
                                image_header *headers, json_t *opened)
{
    const json_t *json = cutis_gltf_item(document, "images", index);
    const char *uri = cutis_gltf_string(json, "uri");
    const int32_t view = cutis_gltf_index(json, "bufferView");
    const json_t *earlier = uri ? json_object_get(opened, uri) : NULL;
    image_bytes bytes = { 0 };
    cutis_result result = CUTIS_OK;
    if (json_object_size(json_object_get(json, "extensions"))) {
        cutis_gltf_not_checked(document, "/images/%u: an extension may say where it is", index);
        return CUTIS_OK;
    }
    if (earlier) { // what it is has been said, what each image says of it not
        headers[index] = headers[json_integer_value(earlier)];
        return headers[index].mime ? judge_image(document, index, false, &headers[index])
                                   : CUTIS_OK;
    }
    if (!uri) {
        bytes.data = document->views[view].data;
        bytes.size = document->views[view].size;
    } else if (strncasecmp(uri, "data:", 5) == 0) {
        result = open_data_uri(document, index, uri, &bytes);
    } else {
        if (json_object_set_new(opened, uri, json_integer(index)) != 0)
            return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for names");
        result = open_file(document, index, uri, &bytes);
    }
    if (result == CUTIS_OK && bytes.data) {
        headers[index] = read_header(bytes.data, bytes.size);
        result = judge_image(document, index, !uri, &headers[index]);
    }
    if (bytes.owned) cutis_free(document->context, bytes.owned, bytes.owned_size);
    return result;
}

/// A texture's source is in a format that may stand there, by what it says or else what it is.
static cutis_result check_source(const gltf_document *document, uint32_t index, bool webp,
                                 const image_header *headers)
{
    const json_t *texture = cutis_gltf_item(document, "textures", index);
    const int32_t image = cutis_gltf_index(
        webp ? cutis_gltf_extension(texture, "EXT_texture_webp") : texture, "source");
    if (image == CUTIS_NONE) return CUTIS_OK;
    const char *mime =
        cutis_gltf_string(cutis_gltf_item(document, "images", (size_t)image), "mimeType");
    if (!mime && !headers[image].code) mime = headers[image].mime;
    if (!mime || (webp ? strcmp(mime, "image/webp") == 0
                       : strcmp(mime, "image/png") == 0 || strcmp(mime, "image/jpeg") == 0))
        return CUTIS_OK;
    return WRONG("TEXTURE_INVALID_IMAGE_MIME_TYPE", "/textures/%u%s/source: image %d is %.60s",
                 index, webp ? "/extensions/EXT_texture_webp" : "", image, mime);
}

cutis_result cutis_gltf_check_strict_images(gltf_document *document)
{
    const size_t count = json_array_size(json_object_get(document->root, "images"));
    const size_t textures = json_array_size(json_object_get(document->root, "textures"));
    image_header *headers = cutis_alloc_zero(document->context, count, sizeof *headers);
    json_t *opened = json_object();
    cutis_result result = headers && opened ? CUTIS_OK : cutis_alloc_result(document->context);
    for (uint32_t i = 0; i < count && result == CUTIS_OK; i++) {
        result = check_image(document, i, headers, opened);
        cutis_gltf_go_on(document, &result);
    }
    for (uint32_t i = 0; i < 2 * textures && result == CUTIS_OK; i++) {
        result = check_source(document, i / 2, i % 2, headers);
        cutis_gltf_go_on(document, &result);
    }
    json_decref(opened);
    cutis_free_array(document->context, headers, count, sizeof *headers);
    return cutis_gltf_end_phase(document, result);
}
