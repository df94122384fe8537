/// The last step of writing: drop accessors and views that only replaced content used, gather the
/// bytes of all remaining views into one buffer, and point the views there. Invariant: nothing is
/// dropped or renumbered while an extension that we do not know is in use, because it may refer to
/// anything by its number.
#include "io/gltf/writer.h"

#include <stdlib.h>
#include <string.h>

/// Every place that refers to an accessor or a view, in core glTF and the extensions that we know:
/// keys from the root on; '*' stands for all items of an array or members of an object.
static const char *const ACCESSOR_PLACES[] = {
    "meshes/*/primitives/*/attributes/*",
    "meshes/*/primitives/*/indices",
    "meshes/*/primitives/*/targets/*/*",
    "meshes/*/primitives/*/extensions/CUTIS_handles/first",
    "meshes/*/primitives/*/extensions/CUTIS_handles/handles",
    "meshes/*/primitives/*/extensions/CUTIS_handles/weights",
    "meshes/*/extensions/CUTIS_cage/controls",
    "meshes/*/extensions/CUTIS_cage/weights",
    "meshes/*/extensions/CUTIS_parts/labels/*",
    "meshes/*/extensions/CUTIS_parts/weld/*",
    "meshes/*/extensions/CUTIS_parts/loops/*/vertices",
    "skins/*/inverseBindMatrices",
    "animations/*/samplers/*/input",
    "animations/*/samplers/*/output",
    "nodes/*/extensions/EXT_mesh_gpu_instancing/attributes/*",
    "extensions/CUTIS_handles/virtual/first",
    "extensions/CUTIS_handles/virtual/handles",
    "extensions/CUTIS_handles/virtual/shares",
    "extensions/CUTIS_handles/virtual/places",
    "extensions/CUTIS_cage/controls",
    "extensions/CUTIS_cage/triangles",
    "extensions/CUTIS_drivers/ranges",
    "extensions/CUTIS_drivers/coefficients",
    "extensions/CUTIS_drivers/weightCoefficients",
    NULL,
};
static const char *const VIEW_PLACES[] = {
    "accessors/*/bufferView",
    "accessors/*/sparse/indices/bufferView",
    "accessors/*/sparse/values/bufferView",
    "images/*/bufferView",
    "meshes/*/primitives/*/extensions/KHR_draco_mesh_compression/bufferView",
    NULL,
};

/// What each item of a collection becomes: marks while collecting, then the new number, or -1.
typedef struct numbering {
    int64_t *map;
    size_t count;
    int64_t mark; ///< 0: what refers to items gets their new numbers; -1: it is counted
} numbering;

static void touch(const numbering *n, json_t *slot)
{
    int64_t index;
    if (!cutis_json_integer(slot, &index) || index < 0 || (size_t)index >= n->count) return;
    if (n->mark < 0) {
        n->map[index]++;
    } else if (n->mark) {
        n->map[index] |= n->mark;
    } else if (n->map[index] != index) {
        if (json_is_integer(slot)) json_integer_set(slot, n->map[index]);
        if (json_is_real(slot)) json_real_set(slot, (double)n->map[index]);
    }
}

/// Marks or renumbers what stands at the end of the path, which alone is recursed on.
static void follow(const numbering *n, json_t *json, const char *path)
{
    const char *key;
    json_t *value;
    char step[40]; // longer than any of the tables above
    size_t i, length = strcspn(path, "/"), next = length + (path[length] == '/');
    if (!json) return;
    if (length == 0) {
        touch(n, json);
    } else if (*path != '*') {
        memcpy(step, path, length);
        step[length] = 0;
        follow(n, json_object_get(json, step), path + next);
    } else {
        json_array_foreach(json, i, value) follow(n, value, path + next);
        json_object_foreach(json, key, value) follow(n, value, path + next);
    }
}

static void follow_all(numbering *n, json_t *root, const char *const *places, int64_t mark)
{
    n->mark = mark;
    for (; *places; places++) follow(n, root, *places);
}

void cutis_gltf_count_uses(json_t *root, bool views, int64_t *counts, size_t count)
{
    numbering n = { .map = counts, .count = count };
    follow_all(&n, root, views ? VIEW_PLACES : ACCESSOR_PLACES, -1);
}

void cutis_gltf_renumber_views(json_t *root, int64_t *map, size_t count)
{
    numbering n = { .map = map, .count = count };
    follow_all(&n, root, VIEW_PLACES, 0);
}

/// Remove from `collection` what was referred to before and is not now. Returns the map (count
/// entries), or NULL.
static int64_t *prune(gltf_writer *writer, const char *collection, const char *const *places)
{
    json_t *items = json_object_get(writer->root, collection);
    numbering n = { .count = json_array_size(items) };
    n.map = cutis_alloc_zero(writer->context, n.count, sizeof *n.map);
    if (!n.map) {
        writer->failed = true;
        return NULL;
    }
    follow_all(&n, writer->before, places, 1);
    follow_all(&n, writer->root, places, 2);
    // What nothing uses stays, unless it is not even numbers.
    for (uint32_t i = 0; places == ACCESSOR_PLACES && i < writer->source.accessor_count; i++)
        if (writer->source.accessors[i].unfit) n.map[i] |= 1;
    // What was laid out anew while reading has left its old view behind.
    for (uint32_t v = 0; places == VIEW_PLACES && v < writer->source.view_count; v++)
        if (writer->source.views[v].abandoned) n.map[v] |= 1;
    int64_t next = 0;
    for (size_t i = 0; i < n.count; i++) {
        bool drop = n.map[i] == 1;
        n.map[i] = drop ? -1 : next;
        if (!drop && next != (int64_t)i)
            json_array_set(items, (size_t)next, json_array_get(items, i));
        next += !drop;
    }
    // From the end: nothing moves up, however many there are.
    while (json_array_size(items) > (size_t)next)
        json_array_remove(items, json_array_size(items) - 1);
    follow_all(&n, writer->root, places, 0);
    if (items && json_array_size(items) == 0) json_object_del(writer->root, collection);
    return n.map;
}

bool cutis_gltf_knows_extensions(const json_t *root)
{
    const json_t *used = json_object_get(root, "extensionsUsed");
    for (size_t i = 0; i < json_array_size(used); i++) {
        if (!cutis_gltf_extension_known(json_string_value(json_array_get(used, i)))) return false;
    }
    return true;
}

/// A view of the source that stays: its bytes in the source and its JSON.
typedef struct kept_view {
    uint32_t buffer;
    size_t offset, size;
    json_t *json;
} kept_view;

static int compare_views(const void *a, const void *b)
{
    const kept_view *x = a, *y = b;
    if (x->buffer != y->buffer) return x->buffer < y->buffer ? -1 : 1;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->size > y->size ? -1 : x->size < y->size;
}

static void point_view(gltf_writer *writer, json_t *view, size_t offset)
{
    cutis_gltf_set(writer, view, "buffer", json_integer(0));
    if (offset) {
        cutis_gltf_set(writer, view, "byteOffset", json_integer((json_int_t)offset));
    } else {
        json_object_del(view, "byteOffset");
    }
}

/// Copy runs of overlapping or touching views once each. A run starts at a multiple of 4 of its
/// buffer, so alignment stays.
static void copy_runs(gltf_writer *writer, kept_view *views, size_t count, bool whole)
{
    qsort(views, count, sizeof *views, compare_views);
    for (size_t i = 0; i < count && !writer->failed;) {
        const gltf_buffer *buffer = &writer->source.buffers[views[i].buffer];
        size_t start = whole ? 0 : views[i].offset / 4 * 4, end = views[i].offset + views[i].size;
        size_t next = i;
        while (next < count && views[next].buffer == views[i].buffer &&
               (whole || views[next].offset <= (end + 3) / 4 * 4)) {
            size_t last = views[next].offset + views[next].size;
            if (last > end) end = last;
            next++;
        }
        if (whole) end = buffer->size;
        cutis_bytes_pad(&writer->file, 4, 0);
        size_t base = writer->file.size;
        cutis_bytes_append(&writer->file, buffer->data + start, end - start);
        for (; i < next; i++) point_view(writer, views[i].json, base + views[i].offset - start);
    }
}

/// Views over buffers without data keep such a buffer, after the real one.
static void keep_empty_buffer(gltf_writer *writer, json_t *view, uint32_t buffer, json_t *empty,
                              int64_t *places)
{
    if (places[buffer] < 0) {
        places[buffer] = (int64_t)json_array_size(empty);
        cutis_gltf_append(writer, empty,
                          json_deep_copy(cutis_gltf_item(&writer->source, "buffers", buffer)));
    }
    cutis_gltf_set(writer, view, "buffer",
                   json_integer(places[buffer])); // shifted when the real one is known
}

static void drop_meshopt(gltf_writer *writer, json_t *object)
{
    for (int i = 0; i < 2; i++)
        cutis_gltf_place_extension(writer, object, CUTIS_GLTF_MESHOPT[i], NULL);
}

static void unpack_view(gltf_writer *writer, json_t *json, const gltf_view *view)
{
    drop_meshopt(writer, json);
    cutis_bytes_pad(&writer->file, 4, 0);
    size_t offset = writer->file.size;
    cutis_bytes_append(&writer->file, view->data, view->size);
    point_view(writer, json, offset);
}

/// Bytes of the views that come from the source. `map` gives the new number of each, or -1.
static void gather_source(gltf_writer *writer, const int64_t *map, bool whole, json_t *empty,
                          json_t *empty_views)
{
    const gltf_document *source = &writer->source;
    json_t *views = json_object_get(writer->root, "bufferViews");
    kept_view *kept = cutis_alloc_array(writer->context, source->view_count, sizeof *kept);
    int64_t *places = cutis_alloc_array(writer->context, source->buffer_count, sizeof *places);
    size_t count = 0;
    if (!kept || !places) writer->failed = true;
    for (uint32_t b = 0; b < source->buffer_count && places; b++) places[b] = -1;
    for (uint32_t v = 0; v < source->view_count && !writer->failed; v++) {
        const gltf_view *view = &source->views[v];
        json_t *json = map && map[v] < 0 ? NULL : json_array_get(views, map ? (size_t)map[v] : v);
        if (!json) continue;
        if (view->compressed) {
            unpack_view(writer, json, view);
        } else if (!view->data) {
            keep_empty_buffer(writer, json, view->buffer, empty, places);
            if (json_array_append(empty_views, json) != 0) writer->failed = true;
        } else {
            kept[count++] = (kept_view){ view->buffer, view->offset, view->size, json };
        }
    }
    if (!writer->failed) copy_runs(writer, kept, count, whole);
    cutis_free_array(writer->context, places, source->buffer_count, sizeof *places);
    cutis_free_array(writer->context, kept, source->view_count, sizeof *kept);
}

/// New views: vertices and indices one by one, then the one of everything else.
static void gather_new(gltf_writer *writer, size_t first, size_t other_view)
{
    json_t *views = json_object_get(writer->root, "bufferViews");
    cutis_bytes_pad(&writer->file, 4, 0);
    size_t base = writer->file.size;
    cutis_bytes_append(&writer->file, writer->bytes.data, writer->bytes.size);
    for (size_t v = first; v < json_array_size(views); v++) {
        json_t *view = json_array_get(views, v);
        if (v == other_view) continue;
        point_view(writer, view, base + (size_t)cutis_gltf_integer(view, "byteOffset", 0));
    }
    if (writer->other.size == 0) return;
    json_t *view = json_array_get(views, other_view);
    cutis_bytes_pad(&writer->file, 4, 0);
    point_view(writer, view, writer->file.size);
    cutis_gltf_set(writer, view, "byteLength", json_integer((json_int_t)writer->other.size));
    cutis_bytes_append(&writer->file, writer->other.data, writer->other.size);
}

/// One buffer with all data, then those that have none. A name or extras of the only source buffer
/// stay with it.
static void write_buffers(gltf_writer *writer, json_t *empty, json_t *empty_views)
{
    json_t *buffers = json_array(), *buffer, *item;
    size_t i;
    // The first buffer of a GLB is its BIN chunk; one without data must not take its place.
    if (writer->binary && writer->file.size == 0 && json_array_size(empty) > 0)
        cutis_bytes_append(&writer->file, "\0\0\0", 4);
    if (writer->file.size > 0) {
        buffer = writer->before && writer->source.buffer_count == 1
                     ? json_deep_copy(cutis_gltf_item(&writer->source, "buffers", 0))
                     : json_object();
        json_object_del(buffer, "uri");
        drop_meshopt(writer, buffer);
        cutis_gltf_set(writer, buffer, "byteLength", json_integer((json_int_t)writer->file.size));
        cutis_gltf_append(writer, buffers, buffer);
    }
    size_t shift = json_array_size(buffers);
    json_array_foreach(empty_views, i, item) cutis_gltf_set(
        writer, item, "buffer", json_integer(cutis_gltf_index(item, "buffer") + (json_int_t)shift));
    json_array_extend(buffers, empty);
    if (json_array_size(buffers) > 0) {
        cutis_gltf_set(writer, writer->root, "buffers", buffers);
    } else {
        json_object_del(writer->root, "buffers");
        json_decref(buffers);
    }
}

/// An image inside a GLB belongs into its buffer, not into base64 in its JSON.
static void embed_image(gltf_writer *writer, json_t *image)
{
    static const char START[] = "data:image/", BASE64[] = ";base64,";
    const char *uri = cutis_gltf_string(image, "uri");
    const char *data = uri && strncmp(uri, START, strlen(START)) == 0 ? strstr(uri, BASE64) : NULL;
    if (!data) return;
    const char *text = data + strlen(BASE64);
    size_t digits = strcspn(text, "="), size = digits / 4 * 3 + (digits % 4 ? digits % 4 - 1 : 0);
    uint8_t *bytes = cutis_alloc(writer->context, size);
    if (!bytes) {
        writer->failed = true;
        return;
    }
    bool malformed = false;
    if (size > 0 && cutis_gltf_decode_base64(text, bytes, size, &malformed) >= size && !malformed) {
        json_t *views = cutis_gltf_collection(writer, "bufferViews"), *view = json_object();
        cutis_bytes_pad(&writer->file, 4, 0);
        point_view(writer, view, writer->file.size);
        cutis_gltf_set(writer, view, "byteLength", json_integer((json_int_t)size));
        cutis_bytes_append(&writer->file, bytes, size);
        cutis_gltf_append(writer, views, view);
        cutis_gltf_set(writer, image, "mimeType",
                       json_stringn(uri + strlen("data:"), (size_t)(data - uri) - strlen("data:")));
        cutis_gltf_set_index(writer, image, "bufferView", (int32_t)json_array_size(views) - 1);
        json_object_del(image, "uri");
    }
    cutis_free(writer->context, bytes, size);
}

static bool any_compressed(const gltf_document *source)
{
    for (uint32_t v = 0; v < source->view_count; v++) {
        if (source->views[v].compressed) return true;
    }
    return false;
}

void cutis_gltf_lay_out(gltf_writer *writer)
{
    bool known = cutis_gltf_knows_extensions(writer->root);
    json_t *empty = json_array(), *empty_views = json_array();
    int64_t *map = NULL;
    size_t first = writer->source_views, other = (size_t)writer->other_view, map_size = 0;
    if (writer->before && known) {
        size_t accessor_count = json_array_size(json_object_get(writer->root, "accessors"));
        int64_t *accessors = prune(writer, "accessors", ACCESSOR_PLACES);
        cutis_free_array(writer->context, accessors, accessor_count, sizeof *accessors);
        map_size = json_array_size(json_object_get(writer->root, "bufferViews"));
        map = writer->failed ? NULL : prune(writer, "bufferViews", VIEW_PLACES);
        // New views follow the source's and are all in use, so they move down together.
        for (size_t v = 0; map && v < writer->source_views; v++) first -= map[v] < 0;
        other -= writer->source_views - first;
    }
    if (writer->before && !writer->failed) gather_source(writer, map, !known, empty, empty_views);
    if (!writer->failed) gather_new(writer, first, other);
    const json_t *images = json_object_get(writer->root, "images");
    for (size_t i = 0; i < json_array_size(images) && writer->binary && !writer->failed; i++)
        embed_image(writer, json_array_get(images, i));
    if (!writer->failed) write_buffers(writer, empty, empty_views);
    // Last: the source's buffers, which may be fallbacks, are gone only now.
    if (writer->before && !writer->failed && any_compressed(&writer->source))
        for (int i = 0; i < 2; i++) cutis_gltf_drop_extension(writer, CUTIS_GLTF_MESHOPT[i]);
    if (writer->file.failed) writer->failed = true;
    cutis_free_array(writer->context, map, map_size, sizeof *map);
    json_decref(empty);
    json_decref(empty_views);
}
