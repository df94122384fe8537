/// Buffer views: ranges of buffers, or what EXT_meshopt_compression unpacks to. Invariant: a view
/// with data has `size` bytes of it.
#include "io/gltf/document.h"

#include <meshoptimizer.h>

enum mode { ATTRIBUTES, TRIANGLES, INDICES };
enum filter { NONE, OCTAHEDRAL, QUATERNION, EXPONENTIAL };

typedef struct packed {
    const uint8_t *data;
    size_t size, stride, count;
    enum mode mode;
    enum filter filter;
} packed;

/// The decoders rely on these by assertions only, so a file must not get past us without them.
static bool layout_possible(const packed *p)
{
    const bool index = p->stride == 2 || p->stride == 4;
    const bool attribute = p->stride > 0 && p->stride % 4 == 0 && p->stride <= 256;
    if (p->mode == ATTRIBUTES ? !attribute : !index) return false;
    if (p->mode == TRIANGLES && p->count % 3) return false;
    if (p->filter == NONE) return true;
    if (p->filter == OCTAHEDRAL && p->stride != 4 && p->stride != 8) return false;
    if (p->filter == QUATERNION && p->stride != 8) return false;
    return p->mode == ATTRIBUTES;
}

static cutis_result read_packed(const gltf_document *document, uint32_t index, const json_t *json,
                                packed *out)
{
    static const char *const MODES[] = { "ATTRIBUTES", "TRIANGLES", "INDICES" };
    static const char *const FILTERS[] = { "NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL" };
    const char *filter_name = cutis_gltf_string(json, "filter");
    int mode = cutis_gltf_find_word(MODES, 3, cutis_gltf_string(json, "mode"));
    int filter = filter_name ? cutis_gltf_find_word(FILTERS, 4, filter_name) : NONE;
    int64_t buffer = cutis_gltf_integer(json, "buffer", -1),
            offset = cutis_gltf_integer(json, "byteOffset", 0);
    int64_t size = cutis_gltf_integer(json, "byteLength", -1),
            count = cutis_gltf_integer(json, "count", -1);
    int64_t stride = cutis_gltf_integer(json, "byteStride", -1);
    static const char *const PLACE = "extensions/EXT_meshopt_compression";
    if (mode < 0 || filter < 0 || buffer < 0 || buffer >= document->buffer_count || offset < 0 ||
        size < 1 || count < 1 || stride < 1)
        return WRONG("CUTIS_MESHOPT_INVALID",
                     "/bufferViews/%u/%s: a property is missing or out of range", index, PLACE);
    const gltf_buffer *from = &document->buffers[buffer];
    if ((uint64_t)offset > from->size || (uint64_t)size > from->size - (uint64_t)offset)
        return WRONG("BUFFER_VIEW_TOO_LONG", "/bufferViews/%u/%s: does not fit into buffer %lld",
                     index, PLACE, (long long)buffer);
    if (!from->data)
        return WRONG("CUTIS_MESHOPT_INVALID", "/bufferViews/%u/%s: buffer %lld has no data", index,
                     PLACE, (long long)buffer);
    *out = (packed){ .data = from->data + offset,
                     .size = (size_t)size,
                     .stride = (size_t)stride,
                     .count = (size_t)count,
                     .mode = (enum mode)mode,
                     .filter = (enum filter)filter };
    if (!layout_possible(out))
        return WRONG("CUTIS_MESHOPT_INVALID",
                     "/bufferViews/%u/%s: mode, filter, count and stride do not go together", index,
                     PLACE);
    return CUTIS_OK;
}

static cutis_result unpack(gltf_document *document, uint32_t index, const json_t *json)
{
    gltf_view *view = &document->views[index];
    static int (*const DECODERS[])(void *, size_t, size_t, const unsigned char *, size_t) = {
        meshopt_decodeVertexBuffer, meshopt_decodeIndexBuffer, meshopt_decodeIndexSequence
    };
    static void (*const FILTERS[])(void *, size_t, size_t) = { NULL, meshopt_decodeFilterOct,
                                                               meshopt_decodeFilterQuat,
                                                               meshopt_decodeFilterExp };
    packed p = { 0 };
    cutis_result result = read_packed(document, index, json, &p);
    if (result == CUTIS_OK) result = cutis_gltf_charge(document, p.count, p.stride);
    if (result != CUTIS_OK) return result;
    if (p.count * p.stride < view->size)
        return WRONG("CUTIS_MESHOPT_INVALID",
                     "/bufferViews/%u/byteLength: %zu bytes, %zu are compressed", index, view->size,
                     p.count * p.stride);
    uint8_t *bytes = cutis_arena_alloc(&document->arena, p.count, p.stride);
    if (!bytes) return cutis_alloc_result(document->context);
    if (DECODERS[p.mode](bytes, p.count, p.stride, p.data, p.size) != 0)
        return WRONG("CUTIS_MESHOPT_INVALID",
                     "/bufferViews/%u/extensions/EXT_meshopt_compression: the data cannot be "
                     "decompressed",
                     index);
    if (p.filter != NONE) FILTERS[p.filter](bytes, p.count, p.stride);
    view->data = bytes;
    view->compressed = true;
    return CUTIS_OK;
}

// Padding that was counted and is not there: up to a multiple of 4 bytes.
enum { PADDING_MAX = 3 };

/// The view inside its buffer. Padding beyond the end is cut off, before accessors are looked at.
static cutis_result check_range(gltf_document *document, uint32_t index, bool compressed)
{
    gltf_view *view = &document->views[index];
    const size_t there = document->buffers[view->buffer].size;
    json_t *json = (json_t *)cutis_gltf_item(document, "bufferViews", index);
    if (view->offset <= there && view->size <= there - view->offset) return CUTIS_OK;
    const size_t left = view->offset < there ? there - view->offset : 0;
    if (document->strict || compressed || left == 0 || view->size - left > PADDING_MAX)
        return WRONG("BUFFER_VIEW_TOO_LONG",
                     "/bufferViews/%u/byteLength: bytes %zu to %zu, buffer %u has %zu", index,
                     view->offset, view->offset + view->size, view->buffer, there);
    FORGIVE("BUFFER_VIEW_TOO_LONG", "/bufferViews/%u/byteLength: %zu bytes of padding too many",
            index, view->size - left);
    view->size = left;
    return json_object_set_new(json, "byteLength", json_integer((json_int_t)left)) == 0
               ? CUTIS_OK
               : cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for a view");
}

/// A stride that glTF does not allow is honoured all the same, and its accessors are laid out anew.
static cutis_result check_stride(gltf_document *document, uint32_t index)
{
    gltf_view *view = &document->views[index];
    json_t *json = (json_t *)cutis_gltf_item(document, "bufferViews", index);
    if (!view->stride && cutis_gltf_mends(document)) json_object_del(json, "byteStride");
    view->askew = view->stride && (view->stride < 4 || view->stride > 252);
    if (view->stride % 4) {
        FORGIVE("VALUE_MULTIPLE_OF", "/bufferViews/%u/byteStride: %u is not a multiple of 4", index,
                view->stride);
        view->askew = true;
    }
    if (view->stride > view->size) {
        FORGIVE("BUFFER_VIEW_TOO_BIG_BYTE_STRIDE",
                "/bufferViews/%u/byteStride: %u is more than the view's %zu bytes", index,
                view->stride, view->size);
        view->askew = true;
    }
    if (view->stride && view->target == GLTF_ELEMENT_ARRAY_BUFFER) {
        FORGIVE("BUFFER_VIEW_INVALID_BYTE_STRIDE",
                "/bufferViews/%u/byteStride: a view of indices has no stride", index);
        view->askew = true;
    }
    return CUTIS_OK;
}

static cutis_result load_view(gltf_document *document, uint32_t index)
{
    const json_t *json = cutis_gltf_item(document, "bufferViews", index);
    const json_t *compression = cutis_gltf_extension(json, "EXT_meshopt_compression");
    gltf_view *view = &document->views[index];
    view->vertices = view->indices = CUTIS_NONE;
    view->buffer = (uint32_t)cutis_gltf_index(json, "buffer");
    view->offset = (size_t)cutis_gltf_integer(json, "byteOffset", 0);
    view->size = (size_t)cutis_gltf_integer(json, "byteLength", 0);
    view->stride = (uint32_t)cutis_gltf_integer(json, "byteStride", 0);
    int64_t target = cutis_gltf_integer(json, "target", 0);
    if (target == GLTF_ARRAY_BUFFER || target == GLTF_ELEMENT_ARRAY_BUFFER)
        view->target = (uint32_t)target;
    else if (json_object_get(json, "target"))
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "VALUE_NOT_IN_LIST",
                          "/bufferViews/%u/target: %lld is no target", index, (long long)target);
    const gltf_buffer *buffer = &document->buffers[view->buffer];
    cutis_result result = check_range(document, index, compression != NULL);
    if (result == CUTIS_OK) result = check_stride(document, index);
    if (result != CUTIS_OK) return result;
    if (compression) return unpack(document, index, compression);
    if (buffer->data) view->data = buffer->data + view->offset;
    return CUTIS_OK;
}

cutis_result cutis_gltf_load_views(gltf_document *document)
{
    document->views = cutis_gltf_new_items(document, &document->arena, "bufferViews",
                                           sizeof *document->views, &document->view_count);
    if (!document->views) return cutis_alloc_result(document->context);
    for (uint32_t i = 0; i < document->view_count; i++) {
        cutis_result result = load_view(document, i);
        if (!cutis_gltf_go_on(document, &result)) return result;
    }
    return cutis_gltf_end_phase(document, CUTIS_OK);
}
