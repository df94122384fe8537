/// What is common to both compressions: which accessor is what, how finely its values are kept, and
/// the new buffer with the views that stay. Invariant: accessors keep their numbers; views are
/// renumbered, and only where every place that refers to one is known.
#include "io/gltf/compress.h"

#include <math.h>
#include <string.h>

// Of the largest side of a mesh's box. With 17 bits positions move by less than 1e-5 of its
// diagonal, with Draco's customary 14 by less than 1e-4.
enum { MESHOPT_BITS = 17, DRACO_BITS = 14 };
// Normals and tangents: 0.03 degrees. Texture coordinates: a sixteenth of a pixel of 1024.
static const double DIRECTION_STEP = 0x1p-10, TEXCOORD_STEP = 0x1p-14;

void cutis_gltf_gather(const gltf_item *item, size_t stride, uint8_t *out)
{
    for (size_t i = 0; i < item->count; i++) {
        memcpy(out + i * stride, item->data + i * item->stride, item->size);
        memset(out + i * stride + item->size, 0, stride - item->size);
    }
}

size_t cutis_gltf_pack_bytes(gltf_packer *packer, const void *data, size_t size)
{
    cutis_bytes_pad(&packer->file, 4, 0);
    const size_t offset = packer->file.size;
    cutis_bytes_append(&packer->file, data, size);
    return offset;
}

void cutis_gltf_note_error(gltf_packer *packer, const gltf_item *item, double error)
{
    if (item->role != GLTF_POSITION) return;
    if (error > packer->error) packer->error = error;
    if (item->diagonal > 0 && error / item->diagonal > packer->relative)
        packer->relative = error / item->diagonal;
}

/// Where the elements of an accessor are, if they are plainly there.
static gltf_item find_item(const gltf_writer *writer, const json_t *accessor)
{
    gltf_item item = { .component = (uint32_t)cutis_gltf_integer(accessor, "componentType", 0),
                       .count = (uint32_t)cutis_gltf_integer(accessor, "count", 0) };
    int32_t index = cutis_gltf_index(accessor, "bufferView");
    const json_t *view =
        json_array_get(json_object_get(writer->root, "bufferViews"), (size_t)index);
    int shape = cutis_gltf_find_word(CUTIS_GLTF_SHAPES, 7, cutis_gltf_string(accessor, "type"));
    item.size = cutis_gltf_component_size(item.component);
    const bool packed = shape <= GLTF_VEC4 || item.size == 4; // columns without gaps
    if (index == CUTIS_NONE || shape < 0 || item.size == 0 || !packed ||
        json_object_get(accessor, "sparse") || cutis_gltf_index(view, "buffer") != 0)
        return item;
    static const uint8_t WIDTHS[] = { 1, 2, 3, 4, 4, 9, 16 };
    item.width = WIDTHS[shape];
    item.size *= item.width;
    item.stride = (size_t)cutis_gltf_integer(view, "byteStride", item.size);
    item.data = (const uint8_t *)writer->file.data + cutis_gltf_integer(view, "byteOffset", 0) +
                cutis_gltf_integer(accessor, "byteOffset", 0);
    return item;
}

static void set_role(gltf_item *item, gltf_role role)
{
    const bool index = role >= GLTF_TRIANGLES;
    if (item->role == GLTF_OTHER)
        item->role = role;
    else if (item->role != role) // what holds for all of its uses
        item->role = index ? GLTF_INDICES : GLTF_ATTRIBUTE;
}

static gltf_role role_of(const char *name)
{
    if (strcmp(name, "POSITION") == 0) return GLTF_POSITION;
    if (strcmp(name, "NORMAL") == 0 || strcmp(name, "TANGENT") == 0) return GLTF_DIRECTION;
    return strncmp(name, "TEXCOORD_", 9) == 0 ? GLTF_TEXCOORD : GLTF_ATTRIBUTE;
}

/// Least and greatest coordinates of one attribute's positions, added to a box.
static void add_to_box(const gltf_item *item, float *low, float *high)
{
    if (item->component != GLTF_F32 || item->width != 3) return;
    for (size_t i = 0; item->data && i < item->count; i++) {
        float p[3];
        memcpy(p, item->data + i * item->stride, sizeof p);
        for (int k = 0; k < 3; k++) {
            low[k] = fminf(low[k], p[k]);
            high[k] = fmaxf(high[k], p[k]);
        }
    }
}

typedef struct mesh_scale {
    double step, diagonal;
} mesh_scale;

/// One step for a whole mesh, or its primitives would part along their seams.
static mesh_scale scale_of(const gltf_packer *packer, const json_t *primitives)
{
    const cutis_write_options *options = &packer->writer->options;
    float low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    double side = 0, square = 0;
    for (size_t p = 0; p < json_array_size(primitives); p++) {
        const json_t *map = json_object_get(json_array_get(primitives, p), "attributes");
        int32_t accessor = cutis_gltf_index(map, "POSITION");
        if (accessor != CUTIS_NONE) add_to_box(&packer->items[accessor], low, high);
    }
    for (int k = 0; k < 3 && low[0] <= high[0]; k++) {
        const double extent = (double)high[k] - (double)low[k];
        side = fmax(side, extent);
        square += extent * extent;
    }
    uint32_t bits = options->compression == CUTIS_COMPRESSION_DRACO ? DRACO_BITS : MESHOPT_BITS;
    if (options->position_bits) bits = options->position_bits;
    return (mesh_scale){ isfinite(side) ? ldexp(side, -(int)bits) : 0, sqrt(square) };
}

static void set_attributes(gltf_packer *packer, const json_t *map, mesh_scale scale)
{
    const bool exact = packer->writer->options.exact;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)map, name, value)
    {
        int64_t accessor = 0;
        cutis_json_integer(value, &accessor);
        gltf_item *item = &packer->items[accessor];
        set_role(item, role_of(name));
        item->diagonal = fmax(item->diagonal, scale.diagonal);
        const bool lossy = !exact && item->component == GLTF_F32;
        item->step = !lossy                         ? 0
                     : item->role == GLTF_POSITION  ? scale.step
                     : item->role == GLTF_DIRECTION ? DIRECTION_STEP
                     : item->role == GLTF_TEXCOORD  ? TEXCOORD_STEP
                                                    : 0;
    }
}

static void set_roles(gltf_packer *packer, const json_t *mesh)
{
    const json_t *primitives = json_object_get(mesh, "primitives");
    const mesh_scale scale = scale_of(packer, primitives);
    for (size_t p = 0; p < json_array_size(primitives); p++) {
        const json_t *json = json_array_get(primitives, p);
        const json_t *targets = json_object_get(json, "targets");
        int32_t indices = cutis_gltf_index(json, "indices");
        set_attributes(packer, json_object_get(json, "attributes"), scale);
        for (size_t t = 0; t < json_array_size(targets); t++)
            set_attributes(packer, json_array_get(targets, t), scale);
        if (indices != CUTIS_NONE)
            set_role(&packer->items[indices],
                     cutis_gltf_integer(json, "mode", 4) == 4 ? GLTF_TRIANGLES : GLTF_INDICES);
    }
}

/// The views that somebody still refers to, with their bytes; `map` gets their new numbers.
static void keep_views(gltf_packer *packer, const int64_t *uses, int64_t *map)
{
    const gltf_writer *writer = packer->writer;
    const json_t *views = json_object_get(writer->root, "bufferViews");
    const bool meshopt = writer->options.compression == CUTIS_COMPRESSION_MESHOPT;
    for (size_t v = 0; v < json_array_size(views); v++) {
        const json_t *view = json_array_get(views, v);
        map[v] = -1;
        if (uses[v] == 0) continue;
        json_t *copy = json_deep_copy(view);
        const int32_t buffer = cutis_gltf_index(view, "buffer");
        if (buffer == 0) {
            const size_t offset = cutis_gltf_pack_bytes(
                packer,
                (const uint8_t *)writer->file.data + cutis_gltf_integer(view, "byteOffset", 0),
                (size_t)cutis_gltf_integer(view, "byteLength", 0));
            cutis_gltf_set(packer->writer, copy, "byteOffset", json_integer((json_int_t)offset));
        } else { // a buffer without data, behind the one that stands for what meshopt unpacks
            cutis_gltf_set(packer->writer, copy, "buffer", json_integer(buffer + meshopt));
        }
        map[v] = (int64_t)json_array_size(packer->views);
        cutis_gltf_append(packer->writer, packer->views, copy);
    }
}

void cutis_gltf_rebuild_views(gltf_packer *packer)
{
    gltf_writer *writer = packer->writer;
    const size_t count = json_array_size(json_object_get(writer->root, "bufferViews"));
    int64_t *uses = cutis_alloc_zero(writer->context, count, sizeof *uses);
    int64_t *map = cutis_alloc_zero(writer->context, count, sizeof *map);
    for (size_t a = 0; a < packer->item_count; a++) {
        json_t *json = json_array_get(json_object_get(writer->root, "accessors"), a);
        if (packer->items[a].gone) {
            json_object_del(json, "bufferView");
            json_object_del(json, "byteOffset");
        }
    }
    if (uses && map) {
        cutis_gltf_count_uses(writer->root, true, uses, count);
        keep_views(packer, uses, map);
        cutis_gltf_renumber_views(writer->root, map, count);
    } else {
        writer->failed = true;
    }
    cutis_free_array(writer->context, uses, count, sizeof *uses);
    cutis_free_array(writer->context, map, count, sizeof *map);
}

/// The new buffer in place of the old one.
static void put_in_place(gltf_packer *packer)
{
    gltf_writer *writer = packer->writer;
    const bool meshopt = writer->options.compression == CUTIS_COMPRESSION_MESHOPT;
    json_t *buffers = json_object_get(writer->root, "buffers"), *plain = json_object();
    cutis_gltf_set(writer, writer->root, "bufferViews", json_incref(packer->views));
    cutis_gltf_set(writer, json_array_get(buffers, 0), "byteLength",
                   json_integer((json_int_t)packer->file.size));
    if (packer->plain == 0) { // nothing became smaller: there is no buffer to stand for it
        for (size_t v = 0; v < json_array_size(packer->views) && meshopt; v++) {
            json_t *view = json_array_get(packer->views, v);
            const int32_t buffer = cutis_gltf_index(view, "buffer");
            if (buffer > 0) cutis_gltf_set(writer, view, "buffer", json_integer(buffer - 1));
        }
    } else {
        json_t *fallback = json_object();
        cutis_gltf_set(writer, fallback, "fallback", json_true());
        cutis_gltf_set(writer, plain, "byteLength", json_integer((json_int_t)packer->plain));
        cutis_gltf_place_extension(writer, plain, CUTIS_GLTF_MESHOPT[0], fallback);
        if (json_array_insert(buffers, 1, plain) != 0) writer->failed = true;
    }
    json_decref(plain);
    cutis_bytes_drop(&writer->file);
    writer->file = packer->file;
    packer->file = (cutis_bytes){ .context = writer->context };
}

void cutis_gltf_require_extension(gltf_writer *writer, const char *name)
{
    json_t *required = cutis_gltf_collection(writer, "extensionsRequired");
    cutis_gltf_use_extension(writer, name);
    if (cutis_gltf_find_text(required, name) < 0)
        cutis_gltf_append(writer, required, json_string(name));
}

/// Streams of the source: their accessors have views here, which are compressed anew.
static void drop_old_streams(gltf_writer *writer)
{
    const json_t *meshes = json_object_get(writer->root, "meshes");
    for (size_t m = 0; m < json_array_size(meshes); m++) {
        const json_t *list = json_object_get(json_array_get(meshes, m), "primitives");
        for (size_t p = 0; p < json_array_size(list); p++)
            cutis_gltf_place_extension(writer, json_array_get(list, p),
                                       "KHR_draco_mesh_compression", NULL);
    }
    cutis_gltf_drop_extension(writer, "KHR_draco_mesh_compression");
}

static cutis_result pack(gltf_packer *packer, const char *path)
{
    gltf_writer *writer = packer->writer;
    const bool meshopt = writer->options.compression == CUTIS_COMPRESSION_MESHOPT;
    const json_t *accessors = json_object_get(writer->root, "accessors");
    const json_t *meshes = json_object_get(writer->root, "meshes");
    cutis_result result = CUTIS_OK;
    for (size_t a = 0; a < packer->item_count; a++)
        packer->items[a] = find_item(writer, json_array_get(accessors, a));
    for (size_t m = 0; m < json_array_size(meshes); m++)
        set_roles(packer, json_array_get(meshes, m));
    if (meshopt)
        cutis_gltf_pack_meshopt(packer);
    else
        result = cutis_gltf_pack_draco(packer, path);
    if (packer->file.failed) writer->failed = true;
    if (writer->failed || result != CUTIS_OK || json_array_size(packer->views) == 0) return result;
    if (meshopt && packer->plain) cutis_gltf_require_extension(writer, CUTIS_GLTF_MESHOPT[0]);
    put_in_place(packer);
    return CUTIS_OK;
}

cutis_result cutis_gltf_compress(gltf_writer *writer, const char *path)
{
    cutis_context *context = writer->context;
    const size_t before = writer->file.size;
    if (writer->options.compression == CUTIS_COMPRESSION_NONE || before == 0) return CUTIS_OK;
    drop_old_streams(writer);
    if (!cutis_gltf_knows_extensions(writer->root)) {
        cutis_log(context,
                  "%s: not compressed: it uses an extension that Cutis does not know, which may "
                  "refer to its data by number",
                  path);
        return CUTIS_OK;
    }
    gltf_packer packer = { .writer = writer, .file.context = context, .views = json_array() };
    packer.item_count = json_array_size(json_object_get(writer->root, "accessors"));
    packer.items = cutis_alloc_zero(context, packer.item_count, sizeof *packer.items);
    cutis_result result = packer.items ? pack(&packer, path) : cutis_alloc_result(context);
    if (writer->options.report)
        *writer->options.report = (cutis_compression_report){ .position_error = packer.error,
                                                              .relative_error = packer.relative,
                                                              .bytes_before = before,
                                                              .bytes_after = writer->file.size };
    cutis_free_array(context, packer.items, packer.item_count, sizeof *packer.items);
    json_decref(packer.views);
    cutis_bytes_drop(&packer.file);
    return result;
}
