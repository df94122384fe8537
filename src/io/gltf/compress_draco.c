/// KHR_draco_mesh_compression: triangles with all their attributes to streams, by the program
/// cutis-draco. Invariant: a primitive is compressed whole or stays as it is; where anything else
/// refers to its vertices or triangles by number, their order stays.
#include "io/gltf/compress.h"

#include "base/os/os.h"
#include "io/bytes.h"
#include "io/draco/protocol.h"
#include "io/gltf/draco.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char NAME[] = "KHR_draco_mesh_compression";
static const char WRONG_ANSWER[] = "Draco's answer is not what was asked for";

// As Draco has them: of an octahedron's side, of the box of texture coordinates, colours and
// weights.
enum { NORMAL_BITS = 11, TEXCOORD_BITS = 14, COLOR_BITS = 10, OTHER_BITS = 16 };

/// A primitive on its way.
typedef struct stream {
    json_t *json;
    bool ordered;
    uint32_t vertex_count, index_count; ///< before
    draco_encoded encoded;
    const uint8_t *data;
} stream;

typedef struct draco_packer {
    gltf_packer *packer;
    cutis_bytes request;
    stream *streams;
    size_t count, capacity;
    int64_t *uses; ///< of each accessor, by all there are
    bool ordered;  ///< an extension of ours counts vertices
} draco_packer;

/// Everything in the buffer, of at most four components, one element a vertex.
static bool is_possible(const gltf_packer *packer, const json_t *json)
{
    const json_t *map = json_object_get(json, "attributes");
    int32_t positions = cutis_gltf_index(map, "POSITION"),
            indices = cutis_gltf_index(json, "indices");
    const char *name;
    json_t *value;
    if (positions == CUTIS_NONE || indices == CUTIS_NONE ||
        cutis_gltf_integer(json, "mode", 4) != 4)
        return false;
    const gltf_item *first = &packer->items[positions], *corners = &packer->items[indices];
    if (first->component != GLTF_F32 || first->width != 3 || !corners->data || corners->count < 3 ||
        corners->count % 3)
        return false;
    json_object_foreach((json_t *)map, name, value)
    {
        int64_t accessor = 0;
        cutis_json_integer(value, &accessor);
        const gltf_item *item = &packer->items[accessor];
        if (!item->data || item->width > 4 || item->count != first->count) return false;
    }
    return true;
}

/// Bits of a float attribute; 0: exactly, as an application's own are, for they may be numbers of
/// things.
static uint32_t bits_of(const gltf_packer *packer, const char *name, const gltf_item *item,
                        uint32_t kind)
{
    const uint32_t bits = packer->writer->options.position_bits;
    if (item->component != GLTF_F32 || packer->writer->options.exact || name[0] == '_') return 0;
    switch (kind) {
    case DRACO_POSITION:
        return bits ? bits : 14;
    case DRACO_NORMAL:
        return NORMAL_BITS;
    case DRACO_TEXCOORD:
        return TEXCOORD_BITS;
    case DRACO_COLOR:
        return COLOR_BITS;
    default:
        return OTHER_BITS;
    }
}

static uint32_t kind_of(const char *name)
{
    if (strcmp(name, "POSITION") == 0) return DRACO_POSITION;
    if (strcmp(name, "NORMAL") == 0) return DRACO_NORMAL;
    if (strncmp(name, "TEXCOORD_", 9) == 0) return DRACO_TEXCOORD;
    return strncmp(name, "COLOR_", 6) == 0 ? DRACO_COLOR : DRACO_OTHER;
}

/// Attribute `rank` of a primitive: its positions first, then the others in their order.
static const char *attribute_at(const json_t *map, size_t rank, int32_t *accessor)
{
    const char *name = "POSITION", *key;
    json_t *value;
    size_t at = 1;
    json_object_foreach((json_t *)map, key, value)
    {
        if (rank > 0 && strcmp(key, "POSITION") != 0 && at++ == rank) name = key;
    }
    *accessor = cutis_gltf_index(map, name);
    return name;
}

static void append_elements(cutis_bytes *to, const gltf_item *item)
{
    for (size_t i = 0; i < item->count; i++)
        cutis_bytes_append(to, item->data + i * item->stride, item->size);
    cutis_bytes_pad(to, 4, 0);
}

static void append_indices(cutis_bytes *to, const gltf_item *item)
{
    for (size_t i = 0; i < item->count; i++) {
        const uint8_t *at = item->data + i * item->stride;
        const uint32_t index = item->size == 1   ? *at
                               : item->size == 2 ? cutis_load_u16(at)
                                                 : cutis_load_u32(at);
        cutis_bytes_append(to, &index, sizeof index);
    }
}

/// The error of a grid over the largest side of the accessor's box, half a diagonal of its cells,
/// and of the floats that hold it.
static double error_of(const gltf_item *item, uint32_t bits)
{
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    double side = 0, greatest = 0;
    for (size_t i = 0; i < item->count; i++) {
        for (int k = 0; k < 3; k++) {
            const double x = (double)cutis_load_f32(item->data + i * item->stride + 4 * k);
            low[k] = fmin(low[k], x);
            high[k] = fmax(high[k], x);
            greatest = fmax(greatest, fabs(x));
        }
    }
    for (int k = 0; k < 3; k++) side = fmax(side, high[k] - low[k]);
    return bits ? sqrt(3) * (side / (ldexp(1, (int)bits) - 1) / 2 + greatest * 0x1p-23) : 0;
}

static void add_stream(draco_packer *draco, json_t *json)
{
    gltf_packer *packer = draco->packer;
    const json_t *map = json_object_get(json, "attributes");
    const gltf_item *corners = &packer->items[cutis_gltf_index(json, "indices")];
    const size_t count = json_object_size(map);
    const bool ordered = draco->ordered || json_array_size(json_object_get(json, "targets")) > 0;
    int32_t accessor;
    attribute_at(map, 0, &accessor);
    cutis_bytes *to = &draco->request;
    const draco_mesh head = { packer->items[accessor].count, corners->count, (uint32_t)count,
                              ordered };
    if (!cutis_grow(packer->writer->context, &draco->streams, &draco->capacity, draco->count + 1,
                    sizeof *draco->streams)) {
        packer->writer->failed = true;
        return;
    }
    draco->streams[draco->count++] = (stream){ .json = json,
                                               .ordered = ordered,
                                               .vertex_count = head.vertex_count,
                                               .index_count = head.index_count };
    cutis_bytes_append(to, &head, sizeof head);
    for (size_t a = 0; a < count; a++) {
        const char *name = attribute_at(map, a, &accessor);
        const gltf_item *item = &packer->items[accessor];
        const bool normalized = json_is_true(json_object_get(
            json_array_get(json_object_get(packer->writer->root, "accessors"), (size_t)accessor),
            "normalized"));
        const uint32_t kind = kind_of(name), bits = bits_of(packer, name, item, kind);
        const draco_attribute attribute = { kind,       item->component, item->width,
                                            item->size, normalized,      bits };
        cutis_bytes_append(to, &attribute, sizeof attribute);
    }
    for (size_t a = 0; a < count; a++) {
        attribute_at(map, a, &accessor);
        append_elements(to, &packer->items[accessor]);
    }
    append_indices(to, corners);
    if (to->failed) packer->writer->failed = true;
}

/// The accessor of a stream: the old one if nothing else uses it, else another of its kind.
static int32_t take_accessor(draco_packer *draco, int32_t accessor, uint32_t count)
{
    gltf_packer *packer = draco->packer;
    gltf_writer *writer = packer->writer;
    json_t *accessors = json_object_get(writer->root, "accessors"),
           *json = json_array_get(accessors, (size_t)accessor);
    if (draco->uses[accessor] == 1) {
        packer->items[accessor].gone = true;
    } else {
        json_t *copy = json_deep_copy(json);
        draco->uses[accessor]--;
        json_object_del(copy, "bufferView");
        json_object_del(copy, "byteOffset");
        accessor = (int32_t)json_array_size(accessors);
        cutis_gltf_append(writer, accessors, copy);
        json = json_array_get(accessors, (size_t)accessor);
    }
    cutis_gltf_set(writer, json, "count", json_integer(count));
    return accessor;
}

static void set_bounds(gltf_writer *writer, int32_t accessor, const draco_encoded *encoded)
{
    json_t *json = json_array_get(json_object_get(writer->root, "accessors"), (size_t)accessor);
    json_t *low = json_array(), *high = json_array();
    for (int k = 0; k < 3; k++) {
        cutis_gltf_append(writer, low, json_real((double)encoded->low[k] + 0.0));
        cutis_gltf_append(writer, high, json_real((double)encoded->high[k] + 0.0));
    }
    cutis_gltf_set(writer, json, "min", low);
    cutis_gltf_set(writer, json, "max", high);
}

/// A primitive's accessors, as the stream will fill them.
static void take_accessors(draco_packer *draco, const stream *s)
{
    gltf_packer *packer = draco->packer;
    gltf_writer *writer = packer->writer;
    json_t *map = json_object_get(s->json, "attributes");
    const size_t count = json_object_size(map);
    int32_t accessor = 0;
    const char *first = attribute_at(map, 0, &accessor);
    const gltf_item *item = &packer->items[accessor];
    cutis_gltf_note_error(packer, item,
                          error_of(item, bits_of(packer, first, item, DRACO_POSITION)));
    for (size_t a = 0; a < count; a++) {
        const char *name = attribute_at(map, a, &accessor);
        accessor = take_accessor(draco, accessor, s->encoded.vertex_count);
        cutis_gltf_set(writer, map, name, json_integer(accessor));
        if (a == 0) set_bounds(writer, accessor, &s->encoded);
    }
    accessor = take_accessor(draco, cutis_gltf_index(s->json, "indices"), s->encoded.index_count);
    cutis_gltf_set(writer, s->json, "indices", json_integer(accessor));
    if (s->encoded.vertex_count > 255)
        cutis_gltf_set(
            writer, json_array_get(json_object_get(writer->root, "accessors"), (size_t)accessor),
            "componentType", json_integer(s->encoded.vertex_count > 65535 ? GLTF_U32 : GLTF_U16));
}

/// The stream, its view, and the extension that names them.
static void put_stream(gltf_packer *packer, const stream *s)
{
    gltf_writer *writer = packer->writer;
    const json_t *map = json_object_get(s->json, "attributes");
    json_t *extension = json_object(), *view = json_object(), *ids = json_object();
    const size_t offset = cutis_gltf_pack_bytes(packer, s->data, s->encoded.size);
    int32_t accessor;
    for (size_t a = 0; a < json_object_size(map); a++)
        cutis_gltf_set(writer, ids, attribute_at(map, a, &accessor), json_integer((json_int_t)a));
    cutis_gltf_set(writer, view, "buffer", json_integer(0));
    cutis_gltf_set(writer, view, "byteOffset", json_integer((json_int_t)offset));
    cutis_gltf_set(writer, view, "byteLength", json_integer(s->encoded.size));
    cutis_gltf_set(writer, extension, "bufferView",
                   json_integer((json_int_t)json_array_size(packer->views)));
    cutis_gltf_append(writer, packer->views, view);
    cutis_gltf_set(writer, extension, "attributes", ids);
    cutis_gltf_place_extension(writer, s->json, NAME, extension);
}

/// What each stream is, all of them there and as large as they say. Those that Draco cannot make,
/// or not in order (it drops vertices that no triangle has), go from the list.
static cutis_result check_answer(draco_packer *draco, const uint8_t *answer, size_t got)
{
    cutis_context *context = draco->packer->writer->context;
    size_t at = 0, kept = 0;
    for (size_t i = 0; i < draco->count; i++) {
        stream *s = &draco->streams[i];
        uint32_t words[3] = { DRACO_BROKEN, 0, 0 }; // its status first
        if (got - at >= sizeof words) memcpy(words, answer + at, sizeof words);
        if (words[0] == DRACO_FAILED) {
            at += sizeof words;
            continue;
        }
        if (words[0] != DRACO_OK || got - at < sizeof *words + sizeof s->encoded)
            return cutis_fail(context, CUTIS_UNSUPPORTED, "%s", WRONG_ANSWER);
        memcpy(&s->encoded, answer + at + sizeof *words, sizeof s->encoded);
        at += sizeof *words + sizeof s->encoded;
        s->data = answer + at;
        const uint64_t padded = draco_padded(s->encoded.size);
        if (padded > got - at) return cutis_fail(context, CUTIS_UNSUPPORTED, "%s", WRONG_ANSWER);
        at += padded;
        if (!s->ordered || (s->encoded.vertex_count == s->vertex_count &&
                            s->encoded.index_count == s->index_count))
            draco->streams[kept++] = *s;
    }
    draco->count = kept;
    return CUTIS_OK;
}

static cutis_result run(draco_packer *draco, const char *path)
{
    cutis_context *context = draco->packer->writer->context;
    const draco_request head = { DRACO_ENCODE, (uint32_t)draco->count };
    const size_t size = 2 * draco->request.size + 4096 * draco->count, asked = draco->count;
    uint8_t *answer = cutis_alloc(context, size);
    size_t got = 0;
    if (!answer) return cutis_alloc_result(context);
    memcpy(draco->request.data, &head, sizeof head);
    cutis_result result = cutis_gltf_run_draco(context, &draco->request, answer, size, &got);
    if (result == CUTIS_OK) result = check_answer(draco, answer, got);
    if (result == CUTIS_OK && draco->count < asked)
        cutis_log(context,
                  "%s: %s: %zu of %zu primitives stay as they are: Draco cannot compress them",
                  path, NAME, asked - draco->count, asked);
    if (result == CUTIS_OK && draco->count) {
        for (size_t i = 0; i < draco->count; i++) take_accessors(draco, &draco->streams[i]);
        cutis_gltf_rebuild_views(draco->packer); // before there are views that it does not know
        for (size_t i = 0; i < draco->count; i++) put_stream(draco->packer, &draco->streams[i]);
        cutis_gltf_require_extension(draco->packer->writer, NAME);
    }
    cutis_free(context, answer, size);
    return result;
}

static void collect(draco_packer *draco)
{
    gltf_writer *writer = draco->packer->writer;
    const json_t *meshes = json_object_get(writer->root, "meshes");
    const json_t *used = json_object_get(writer->root, "extensionsUsed");
    for (size_t i = 0; i < json_array_size(used); i++) {
        const char *name = json_string_value(json_array_get(used, i));
        draco->ordered |= name && strncmp(name, "CUTIS_", 6) == 0;
    }
    for (size_t m = 0; m < json_array_size(meshes); m++) {
        const json_t *list = json_object_get(json_array_get(meshes, m), "primitives");
        for (size_t p = 0; p < json_array_size(list) && !writer->failed; p++)
            if (is_possible(draco->packer, json_array_get(list, p)))
                add_stream(draco, json_array_get(list, p));
    }
}

cutis_result cutis_gltf_pack_draco(gltf_packer *packer, const char *path)
{
    gltf_writer *writer = packer->writer;
    cutis_context *context = writer->context;
    draco_packer draco = { .packer = packer, .request.context = context };
    cutis_result result = CUTIS_OK;
    draco.uses = cutis_alloc_zero(context, packer->item_count, sizeof *draco.uses);
    cutis_bytes_append(&draco.request, &(draco_request){ 0 }, sizeof(draco_request));
    if (!draco.uses || draco.request.failed) {
        result = cutis_alloc_result(context);
    } else {
        cutis_gltf_count_uses(writer->root, false, draco.uses, packer->item_count);
        collect(&draco);
        if (draco.count && !writer->failed) result = run(&draco, path);
        if (result != CUTIS_OK) { // it names no file
            char reason[512];
            snprintf(reason, sizeof reason, "%s", cutis_context_error(context));
            result = cutis_fail(context, result, "%s: %s: %s", path, NAME, reason);
        }
    }
    cutis_bytes_drop(&draco.request);
    cutis_free_array(context, draco.uses, packer->item_count, sizeof *draco.uses);
    cutis_free_array(context, draco.streams, draco.capacity, sizeof *draco.streams);
    return result;
}
