/// EXT_meshopt_compression: every accessor in a view of its own, packed by Debian's encoder where
/// that makes it smaller. The order of vertices and triangles stays; a triangle may be turned.
/// Values that are quantised are multiples of a power of two (the filter EXPONENTIAL), so they stay
/// floats and no node has to scale them.
#include "io/gltf/compress.h"

#include "io/bytes.h"
#include "io/gltf/meshopt.h"

#include <math.h>
#include <meshoptimizer.h>
#include <string.h>

/// The specification has version 1 alone; the library writes 0 unless it is told. Once, before
/// there are threads.
__attribute__((constructor)) static void choose_version(void)
{
    meshopt_encodeIndexVersion(1);
    meshopt_encodeVertexVersion(0);
}

/// A view as it will be: elements, or indices, or bytes in words.
typedef struct packing {
    uint8_t *bytes; ///< count * stride
    size_t count, stride, capacity;
    gltf_meshopt_mode mode;
    gltf_meshopt_filter filter;
} packing;

/// Multiples of a step, as the filter has them: 24 bits of a whole number, 8 of the step's
/// exponent. Then also the bounds that they decode to. false: a value is not finite, or too large.
static bool quantise(gltf_packer *packer, const gltf_item *item, uint8_t *words, float *low,
                     float *high)
{
    enum { MOST = (1 << 23) - 1 };
    double greatest = 0, worst = 0;
    for (size_t i = 0; i < item->count; i++) {
        for (uint32_t k = 0; k < item->width; k++)
            greatest =
                fmax(greatest, fabs((double)cutis_load_f32(words + 4 * (i * item->width + k))));
    }
    int exponent;
    frexp(fmax(item->step, greatest / MOST), &exponent);
    // The power of two that is not greater than the step, unless the values need a greater one.
    exponent -= greatest / ldexp(1, exponent - 1) <= MOST;
    if (!isfinite(greatest) || exponent < -100 || exponent > 100) return false;
    for (size_t i = 0; i < item->count; i++) {
        double square = 0;
        for (uint32_t k = 0; k < item->width; k++) {
            uint8_t *word = words + 4 * (i * item->width + k);
            const double value = (double)cutis_load_f32(word);
            const int32_t multiple = (int32_t)lrint(ldexp(value, -exponent));
            const double decoded = ldexp(multiple, exponent);
            square += (decoded - value) * (decoded - value);
            if (i == 0 || (float)decoded < low[k]) low[k] = (float)decoded;
            if (i == 0 || (float)decoded > high[k]) high[k] = (float)decoded;
            cutis_store_u32(word, (uint32_t)exponent << 24 | ((uint32_t)multiple & 0xffffff));
        }
        worst = fmax(worst, sqrt(square));
    }
    cutis_gltf_note_error(packer, item, worst);
    return true;
}

static void set_bounds(gltf_writer *writer, json_t *json, const char *key, const float *values,
                       uint32_t width)
{
    json_t *list = json_array();
    for (uint32_t k = 0; k < width; k++)
        cutis_gltf_append(writer, list, json_real((double)values[k] + 0.0));
    cutis_gltf_set(writer, json, key, list);
}

/// How an accessor is packed, and its bytes.
static packing plan(const gltf_item *item)
{
    const bool indices = item->role >= GLTF_TRIANGLES, other = item->role == GLTF_OTHER;
    const size_t size = (size_t)item->count * item->size;
    if (indices)
        return (packing){ .count = item->count,
                          .stride = item->size == 4 ? 4 : 2,
                          .mode = item->role == GLTF_TRIANGLES && item->count % 3 == 0
                                      ? MESHOPT_TRIANGLES
                                      : MESHOPT_INDICES };
    // What is no attribute may have no stride: it is packed as words where its elements are none.
    if (other && item->size % 4) return (packing){ .count = (size + 3) / 4, .stride = 4 };
    return (packing){ .count = item->count, .stride = (item->size + 3) / 4 * 4 };
}

static void fill(const gltf_item *item, packing *p)
{
    if (p->mode != MESHOPT_ATTRIBUTES && item->size == 1) { // there are no indices of 8 bits
        for (size_t i = 0; i < item->count; i++) {
            p->bytes[2 * i] = item->data[i * item->stride];
            p->bytes[2 * i + 1] = 0;
        }
    } else if (p->stride < item->size || p->count != item->count) { // as words
        memset(p->bytes, 0, p->count * p->stride);
        cutis_gltf_gather(item, item->size, p->bytes);
    } else {
        cutis_gltf_gather(item, p->stride, p->bytes);
    }
}

/// Encode into `out`. @return the size, or 0: it does not fit, so it is not worth it
static size_t encode(gltf_writer *writer, const packing *p, uint8_t *out, size_t capacity)
{
    cutis_context *context = writer->context;
    if (p->mode == MESHOPT_ATTRIBUTES)
        return meshopt_encodeVertexBuffer(out, capacity, p->bytes, p->count, p->stride);
    uint32_t *wide = cutis_alloc_array(context, p->count, sizeof *wide);
    if (!wide) {
        writer->failed = true;
        return 0;
    }
    for (size_t i = 0; i < p->count; i++)
        wide[i] =
            p->stride == 4 ? cutis_load_u32(p->bytes + 4 * i) : cutis_load_u16(p->bytes + 2 * i);
    const size_t size = p->mode == MESHOPT_TRIANGLES
                            ? meshopt_encodeIndexBuffer(out, capacity, wide, p->count)
                            : meshopt_encodeIndexSequence(out, capacity, wide, p->count);
    cutis_free_array(context, wide, p->count, sizeof *wide);
    return size;
}

static json_t *describe(gltf_packer *packer, const packing *p, const uint8_t *stream, size_t size)
{
    static const char *const MODES[] = { "ATTRIBUTES", "TRIANGLES", "INDICES" };
    gltf_writer *writer = packer->writer;
    json_t *json = json_object();
    const size_t offset = cutis_gltf_pack_bytes(packer, stream, size);
    cutis_gltf_set(writer, json, "buffer", json_integer(0));
    cutis_gltf_set(writer, json, "byteOffset", json_integer((json_int_t)offset));
    cutis_gltf_set(writer, json, "byteLength", json_integer((json_int_t)size));
    cutis_gltf_set(writer, json, "byteStride", json_integer((json_int_t)p->stride));
    cutis_gltf_set(writer, json, "count", json_integer((json_int_t)p->count));
    cutis_gltf_set(writer, json, "mode", json_string(MODES[p->mode]));
    if (p->filter) cutis_gltf_set(writer, json, "filter", json_string("EXPONENTIAL"));
    return json;
}

/// The view of an accessor: packed where `size` is not 0.
static void add_view(gltf_packer *packer, uint32_t accessor, const packing *p,
                     const uint8_t *stream, size_t size)
{
    gltf_writer *writer = packer->writer;
    const gltf_item *item = &packer->items[accessor];
    json_t *view = json_object(),
           *json = json_array_get(json_object_get(writer->root, "accessors"), accessor);
    const size_t bytes = p->count * p->stride;
    const bool attribute = item->role > GLTF_OTHER && item->role < GLTF_TRIANGLES;
    size_t offset = packer->plain;
    if (size)
        packer->plain += (bytes + 3) / 4 * 4;
    else
        offset = cutis_gltf_pack_bytes(packer, p->bytes, bytes);
    cutis_gltf_set(writer, view, "buffer", json_integer(size ? 1 : 0));
    cutis_gltf_set(writer, view, "byteOffset", json_integer((json_int_t)offset));
    cutis_gltf_set(writer, view, "byteLength", json_integer((json_int_t)bytes));
    if (attribute && p->stride != item->size)
        cutis_gltf_set(writer, view, "byteStride", json_integer((json_int_t)p->stride));
    if (item->role != GLTF_OTHER)
        cutis_gltf_set(writer, view, "target",
                       json_integer(attribute ? GLTF_ARRAY_BUFFER : GLTF_ELEMENT_ARRAY_BUFFER));
    if (size)
        cutis_gltf_place_extension(writer, view, CUTIS_GLTF_MESHOPT[0],
                                   describe(packer, p, stream, size));
    if (p->mode != MESHOPT_ATTRIBUTES && item->size == 1)
        cutis_gltf_set(writer, json, "componentType", json_integer(GLTF_U16));
    cutis_gltf_set(writer, json, "bufferView",
                   json_integer((json_int_t)json_array_size(packer->views)));
    cutis_gltf_append(writer, packer->views, view);
}

static void pack_item(gltf_packer *packer, uint32_t accessor)
{
    gltf_writer *writer = packer->writer;
    cutis_context *context = writer->context;
    const gltf_item *item = &packer->items[accessor];
    json_t *json = json_array_get(json_object_get(writer->root, "accessors"), accessor);
    packing p = plan(item);
    const size_t bytes = p.count * p.stride;
    const bool possible = p.mode != MESHOPT_ATTRIBUTES || p.stride <= 256;
    uint8_t *stream = cutis_alloc(context, bytes);
    float low[4], high[4];
    size_t size = 0;
    p.bytes = cutis_alloc(context, bytes);
    if (!p.bytes || !stream) {
        writer->failed = true;
    } else {
        fill(item, &p);
        if (item->step > 0 && item->width <= 4 && quantise(packer, item, p.bytes, low, high)) {
            p.filter = MESHOPT_EXPONENTIAL;
            if (json_object_get(json, "min")) set_bounds(writer, json, "min", low, item->width);
            if (json_object_get(json, "max")) set_bounds(writer, json, "max", high, item->width);
        }
        if (possible) size = encode(writer, &p, stream, bytes);
        if (!size && p.filter)
            cutis_gltf_meshopt_filter(
                &(gltf_meshopt){ .count = p.count, .stride = p.stride, .filter = p.filter },
                p.bytes);
        add_view(packer, accessor, &p, stream, size);
    }
    cutis_free(context, stream, bytes);
    cutis_free(context, p.bytes, bytes);
}

void cutis_gltf_pack_meshopt(gltf_packer *packer)
{
    for (size_t a = 0; a < packer->item_count; a++)
        packer->items[a].gone = packer->items[a].data != NULL;
    cutis_gltf_rebuild_views(packer);
    for (uint32_t a = 0; a < packer->item_count && !packer->writer->failed; a++)
        if (packer->items[a].gone) pack_item(packer, a);
}
