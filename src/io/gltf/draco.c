/// KHR_draco_mesh_compression: the streams of all primitives go to the program cutis-draco, in one
/// process with limits (base/os/os.h); what it answers becomes a buffer of the document like any
/// other, with a view for each accessor. Invariant: afterwards the document says nothing of
/// compression that matters, and everything that is asked of a file's own buffers, views and
/// accessors is asked of these.
///
/// Where a primitive's accessors have views too, those hold the same data uncompressed: they are
/// used, and nothing is decoded.
#include "io/gltf/document.h"

#include "base/os/os.h"
#include "io/draco/protocol.h"
#include "io/gltf/draco.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char NAME[] = "KHR_draco_mesh_compression";

/// A primitive that is decoded.
typedef struct place {
    uint32_t mesh, primitive;
    json_t *json;
    size_t start; ///< of its answer
    uint32_t vertex_count, index_count;
} place;

typedef struct unpacker {
    gltf_document *document;
    place *places;
    size_t place_count, place_capacity;
    cutis_bytes request;
    uint64_t *origins;  ///< per accessor: 0, or one more than the view and id that fill it
    size_t answer_size; ///< what is asked for so far
    bool failed;        ///< no memory for JSON
} unpacker;

#define BAD_STREAM(at, format, ...)                                                                \
    WRONG("CUTIS_DRACO_INVALID", "/meshes/%u/primitives/%u/extensions/%s: " format, (at)->mesh,    \
          (at)->primitive, NAME, __VA_ARGS__)

static bool has_view(const gltf_document *document, int64_t accessor)
{
    return json_object_get(cutis_gltf_item(document, "accessors", (size_t)accessor), "bufferView");
}

/// Is anything that the extension stands for nowhere else in the file?
static bool is_needed(const gltf_document *document, const json_t *primitive)
{
    const json_t *extension = cutis_gltf_extension(primitive, NAME);
    const json_t *map = json_object_get(primitive, "attributes");
    const char *key;
    json_t *value;
    if (!extension) return false;
    int32_t indices = cutis_gltf_index(primitive, "indices");
    if (indices != CUTIS_NONE && !has_view(document, indices)) return true;
    json_object_foreach(json_object_get(extension, "attributes"), key, value)
    {
        int32_t accessor = cutis_gltf_index(map, key);
        if (accessor != CUTIS_NONE && !has_view(document, accessor)) return true;
    }
    return false;
}

/// The compressed bytes: a view that lies in a buffer with data.
static cutis_result find_stream(const gltf_document *document, const place *at,
                                const json_t *extension, const uint8_t **data, size_t *size)
{
    int64_t index = cutis_gltf_integer(extension, "bufferView", -1);
    const json_t *view =
        index >= 0 ? cutis_gltf_item(document, "bufferViews", (size_t)index) : NULL;
    if (!view) return BAD_STREAM(at, "%s", "has no bufferView of the file");
    const gltf_buffer *buffer = &document->buffers[cutis_gltf_index(view, "buffer")];
    uint64_t offset = (uint64_t)cutis_gltf_integer(view, "byteOffset", 0);
    uint64_t length = (uint64_t)cutis_gltf_integer(view, "byteLength", 0);
    if (offset > buffer->size || length > buffer->size - offset || length > UINT32_MAX / 2)
        return WRONG("BUFFER_VIEW_TOO_LONG",
                     "/bufferViews/%lld/byteLength: does not fit into its buffer",
                     (long long)index);
    if (!buffer->data) return BAD_STREAM(at, "bufferView %lld has no data", (long long)index);
    *data = buffer->data + offset;
    *size = (size_t)length;
    return CUTIS_OK;
}

static void set(unpacker *all, json_t *object, const char *key, size_t value)
{
    all->failed |= json_object_set_new(object, key, json_integer((json_int_t)value)) != 0;
}

/// Point an accessor at the next bytes of the answer, in a view of its own.
static void place_accessor(unpacker *all, uint32_t accessor, size_t stride, size_t size,
                           uint32_t target)
{
    const gltf_document *document = all->document;
    json_t *views = json_object_get(document->root, "bufferViews"), *view = json_object();
    json_t *json = json_array_get(json_object_get(document->root, "accessors"), accessor);
    json_object_del(json, "byteOffset");
    json_object_del(json, "sparse");
    set(all, view, "buffer", document->buffer_count);
    set(all, view, "byteOffset", all->answer_size);
    set(all, view, "byteLength", size);
    if (stride) set(all, view, "byteStride", stride);
    set(all, view, "target", target);
    set(all, json, "bufferView", json_array_size(views));
    all->failed |= json_array_append_new(views, view) != 0;
    all->answer_size += draco_padded(size);
}

/// Is the accessor still to be filled? One that two streams would fill is refused.
static cutis_result claim(unpacker *all, const place *at, uint32_t accessor, uint64_t origin,
                          bool *wanted)
{
    const gltf_document *document = all->document;
    *wanted = all->origins[accessor] == 0;
    if (!*wanted && all->origins[accessor] != origin)
        return BAD_STREAM(at, "accessor %u is in another compressed mesh, too", accessor);
    all->origins[accessor] = origin;
    document->draco[accessor] = GLTF_DRACO_DECODED;
    return CUTIS_OK;
}

static cutis_result add_attribute(unpacker *all, place *at, const json_t *extension,
                                  const char *name, const json_t *id_json, uint32_t *added)
{
    gltf_document *document = all->document;
    int32_t accessor = cutis_gltf_index(json_object_get(at->json, "attributes"), name);
    const json_t *json = cutis_gltf_item(document, "accessors", (size_t)accessor);
    int64_t id, count = cutis_gltf_integer(json, "count", 0);
    uint64_t view = (uint64_t)cutis_gltf_integer(extension, "bufferView", 0);
    bool wanted;
    if (!cutis_json_integer(id_json, &id) || id < 0 || id >= UINT32_MAX || accessor == CUTIS_NONE)
        return BAD_STREAM(at, "attributes/%.40s: is not in the primitive, or has no id", name);
    int shape = cutis_gltf_find_word(CUTIS_GLTF_SHAPES, 4, cutis_gltf_string(json, "type"));
    uint32_t component = (uint32_t)cutis_gltf_integer(json, "componentType", 0);
    if (shape < 0 || !cutis_gltf_component_size(component))
        return BAD_STREAM(at, "attributes/%.40s: accessor %d has a type that no attribute has",
                          name, accessor);
    if (count > UINT32_MAX || (at->vertex_count && count != at->vertex_count))
        return WRONG("MESH_PRIMITIVE_UNEQUAL_ACCESSOR_COUNT",
                     "/meshes/%u/primitives/%u/attributes/%.40s: accessor %d has another count",
                     at->mesh, at->primitive, name, accessor);
    at->vertex_count = (uint32_t)count;
    cutis_result result =
        claim(all, at, (uint32_t)accessor, (view << 32 | (uint64_t)id) + 1, &wanted);
    if (result != CUTIS_OK || !wanted) return result;
    uint32_t width = (uint32_t)shape + 1, size = width * cutis_gltf_component_size(component);
    uint32_t stride = draco_padded(size); // vertices start at multiples of 4
    result = cutis_gltf_charge(document, (uint64_t)count, stride);
    if (result != CUTIS_OK) return result;
    place_accessor(all, (uint32_t)accessor, stride == size ? 0 : stride, (size_t)count * stride,
                   GLTF_ARRAY_BUFFER);
    cutis_bytes_append(&all->request,
                       &(draco_attribute){ (uint32_t)id, component, width, stride, 0, 0 },
                       sizeof(draco_attribute));
    ++*added;
    return CUTIS_OK;
}

static cutis_result add_indices(unpacker *all, place *at, uint64_t view, uint32_t *index_size)
{
    gltf_document *document = all->document;
    int32_t accessor = cutis_gltf_index(at->json, "indices");
    const json_t *json = cutis_gltf_item(document, "accessors", (size_t)accessor);
    int64_t component = cutis_gltf_integer(json, "componentType", 0),
            count = cutis_gltf_integer(json, "count", 0);
    bool wanted;
    if (accessor == CUTIS_NONE || cutis_gltf_integer(at->json, "mode", 4) != 4)
        return BAD_STREAM(at, "%s", "only triangles with indices are read");
    if (component != GLTF_U8 && component != GLTF_U16 && component != GLTF_U32)
        return WRONG("MESH_PRIMITIVE_INDICES_ACCESSOR_INVALID_FORMAT",
                     "/meshes/%u/primitives/%u/indices: accessor %d is not of unsigned integers",
                     at->mesh, at->primitive, accessor);
    // An id that no attribute has.
    cutis_result result =
        claim(all, at, (uint32_t)accessor, (view << 32 | UINT32_MAX) + 1, &wanted);
    if (result == CUTIS_OK && count > UINT32_MAX)
        result = cutis_gltf_issue(document, CUTIS_LIMIT_EXCEEDED, NULL,
                                  "/accessors/%d/count: %lld elements", accessor, (long long)count);
    at->index_count = (uint32_t)count;
    if (result != CUTIS_OK || !wanted) return result;
    *index_size = cutis_gltf_component_size(component);
    result = cutis_gltf_charge(document, (uint64_t)count, *index_size);
    if (result != CUTIS_OK) return result;
    place_accessor(all, (uint32_t)accessor, 0, (size_t)count * *index_size,
                   GLTF_ELEMENT_ARRAY_BUFFER);
    return CUTIS_OK;
}

/// One primitive into the request, and room for its answer.
static cutis_result add_stream(unpacker *all, place *at)
{
    gltf_document *document = all->document;
    const json_t *extension = cutis_gltf_extension(at->json, NAME);
    const size_t before = all->request.size;
    draco_stream head = { 0 };
    const uint8_t *data = NULL;
    size_t size = 0;
    const char *key;
    json_t *value;
    cutis_result result = find_stream(document, at, extension, &data, &size);
    if (result != CUTIS_OK) return result;
    at->start = all->answer_size;
    all->answer_size += sizeof(uint32_t); // its status
    cutis_bytes_append(&all->request, &head, sizeof head);
    json_object_foreach(json_object_get(extension, "attributes"), key, value)
    {
        result = add_attribute(all, at, extension, key, value, &head.attribute_count);
        if (result != CUTIS_OK) return result;
    }
    result = add_indices(all, at, (uint64_t)cutis_gltf_integer(extension, "bufferView", 0),
                         &head.index_size);
    if (result != CUTIS_OK) return result;
    head.size = (uint32_t)size;
    head.vertex_count = at->vertex_count;
    head.index_count = at->index_count;
    if (head.attribute_count == 0 && head.index_size == 0) { // another primitive has asked for it
        all->request.size = before;
        all->answer_size = at->start;
        return CUTIS_OK;
    }
    result = cutis_gltf_charge(document, size, 1); // many primitives may name one stream
    if (result != CUTIS_OK) return result;
    cutis_bytes_append(&all->request, data, size);
    cutis_bytes_pad(&all->request, 4, 0);
    if (all->request.failed) return cutis_alloc_result(document->context);
    memcpy((uint8_t *)all->request.data + before, &head, sizeof head);
    if (!cutis_grow(document->context, &all->places, &all->place_capacity, all->place_count + 1,
                    sizeof *all->places))
        return cutis_alloc_result(document->context);
    all->places[all->place_count++] = *at;
    return CUTIS_OK;
}

/// While inspecting: without a decoder there is nothing to judge.
static void leave_undecoded(const gltf_document *document, const json_t *primitive)
{
    const json_t *extension = cutis_gltf_extension(primitive, NAME);
    const json_t *map = json_object_get(primitive, "attributes");
    int32_t indices = cutis_gltf_index(primitive, "indices");
    const char *key;
    json_t *value;
    if (indices != CUTIS_NONE) document->draco[indices] = GLTF_DRACO_UNDECODED;
    json_object_foreach(json_object_get(extension, "attributes"), key, value)
    {
        int32_t accessor = cutis_gltf_index(map, key);
        if (accessor != CUTIS_NONE) document->draco[accessor] = GLTF_DRACO_UNDECODED;
    }
}

/// The answer: a status before the arrays of each primitive, everything as long as was asked for.
static cutis_result check_answer(const unpacker *all, const uint8_t *answer, size_t got)
{
    const gltf_document *document = all->document;
    for (size_t i = 0; i < all->place_count; i++) {
        const place *at = &all->places[i];
        uint32_t words[3] = { DRACO_BROKEN, 0, 0 };
        if (at->start + sizeof *words <= got) memcpy(words, answer + at->start, sizeof *words);
        if (words[0] == DRACO_OK) continue;
        if (at->start + sizeof words <= got) memcpy(words, answer + at->start, sizeof words);
        if (words[0] == DRACO_COUNTS)
            return BAD_STREAM(at, "%u vertices and %u indices, its accessors say %u and %u",
                              words[1], words[2], at->vertex_count, at->index_count);
        if (words[0] == DRACO_ATTRIBUTE)
            return BAD_STREAM(at, "the stream has no attribute with the id %u", words[1]);
        return BAD_STREAM(at, "%s", "the stream cannot be decompressed");
    }
    if (got != all->answer_size)
        return WRONG("CUTIS_DRACO_INVALID", "/meshes: Draco's streams gave %zu bytes, not %zu", got,
                     all->answer_size);
    return CUTIS_OK;
}

#if defined(__wasm__)
#define ABSENT                                                                                     \
    "Draco is not in this build, which runs in a web page; on your machine: cutis convert FILE "   \
    "-o OUT.glb"
#elif defined(_WIN32)
#define ABSENT                                                                                     \
    "Draco is not in Cutis for Windows; where it is (Linux, WSL): cutis convert FILE -o OUT.glb"
#else
#define ABSENT                                                                                     \
    "the program cutis-draco is not there: install libdraco-dev and g++, and build Cutis again"
#endif

cutis_result cutis_gltf_run_draco(cutis_context *context, const cutis_bytes *request, void *answer,
                                  size_t answer_size, size_t *got)
{
    // A MiB of compressed streams takes a third of a second; corner tables and prediction take
    // several times the memory of what is decoded.
    const uint64_t mebibytes = request->size >> 20;
    char path[4096];
    if (!cutis_os_find_helper("cutis-draco", "CUTIS_DRACO", NAME, path, sizeof path))
        return cutis_fail(context, CUTIS_UNSUPPORTED_FORMAT, ABSENT);
    return cutis_os_run_helper(context,
                               &(cutis_os_helper){ .program = path,
                                                   .input = request->data,
                                                   .input_size = request->size,
                                                   .output = answer,
                                                   .output_size = answer_size,
                                                   .memory_bytes = (UINT64_C(128) << 20) +
                                                                   64 * (uint64_t)request->size +
                                                                   16 * (uint64_t)answer_size,
                                                   .seconds = (uint32_t)(1 + mebibytes) },
                               got);
}

bool cutis_gltf_has_draco(void)
{
    char path[4096];
    return cutis_os_find_helper("cutis-draco", "CUTIS_DRACO", NAME, path, sizeof path);
}

/// Run the decoder; its answer becomes the document's last buffer.
static cutis_result decode_all(unpacker *all)
{
    gltf_document *document = all->document;
    cutis_context *context = document->context;
    gltf_buffer *buffers =
        cutis_arena_zero(&document->arena, document->buffer_count + (size_t)1, sizeof *buffers);
    uint8_t *answer = cutis_alloc(context, all->answer_size + 1);
    size_t got = 0;
    char reason[512];
    memcpy(all->request.data, &(draco_request){ DRACO_DECODE, (uint32_t)all->place_count },
           sizeof(draco_request));
    cutis_result result = buffers && answer ? CUTIS_OK : cutis_alloc_result(context);
    if (result == CUTIS_OK) {
        result = cutis_gltf_run_draco(context, &all->request, answer, all->answer_size, &got);
        if (result != CUTIS_OK && result != CUTIS_CANCELLED) {
            snprintf(reason, sizeof reason, "%s", cutis_context_error(context));
            result = cutis_gltf_issue(document, result,
                                      result == CUTIS_LIMIT_EXCEEDED       ? NULL
                                      : result == CUTIS_UNSUPPORTED_FORMAT ? "UNSUPPORTED_EXTENSION"
                                                                           : "CUTIS_DRACO_INVALID",
                                      "/meshes: %s: %s", NAME, reason);
        }
    }
    if (result == CUTIS_OK) result = check_answer(all, answer, got);
    if (result != CUTIS_OK) {
        cutis_free(context, answer, all->answer_size + 1);
        return result;
    }
    memcpy(buffers, document->buffers, document->buffer_count * sizeof *buffers);
    buffers[document->buffer_count++] = (gltf_buffer){
        .data = answer, .owned = answer, .owned_size = all->answer_size, .size = all->answer_size
    };
    document->buffers = buffers;
    return CUTIS_OK;
}

/// The floats of an attribute that was decoded, `width` a vertex; NULL: it has none, or those of a
/// primitive with another count of vertices (checked later).
static float *decoded_floats(const gltf_document *document, const place *at, const char *name,
                             uint32_t width)
{
    int32_t accessor = cutis_gltf_index(json_object_get(at->json, "attributes"), name);
    const json_t *json = cutis_gltf_item(document, "accessors", (size_t)accessor);
    if (accessor == CUTIS_NONE || document->draco[accessor] != GLTF_DRACO_DECODED ||
        cutis_gltf_integer(json, "componentType", 0) != GLTF_F32 ||
        cutis_gltf_integer(json, "count", 0) != at->vertex_count ||
        cutis_gltf_find_word(CUTIS_GLTF_SHAPES, 4, cutis_gltf_string(json, "type")) + 1 !=
            (int)width)
        return NULL;
    const json_t *view =
        cutis_gltf_item(document, "bufferViews", (size_t)cutis_gltf_index(json, "bufferView"));
    uint8_t *answer = document->buffers[document->buffer_count - 1].owned;
    return (float *)(void *)(answer + cutis_gltf_integer(view, "byteOffset", 0));
}

// What rounding to 8 bits and more does to a length or a sum; more was there before.
static const double ROUNDED = 0.02;

/// Directions get their length and sign back.
static void mend_directions(float *values, uint32_t count, uint32_t width)
{
    for (size_t v = 0; values && v < count; v++) {
        float *n = values + v * width;
        const double length = sqrt((double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2]);
        for (int k = 0; k < 3 && fabs(length - 1) < ROUNDED; k++) n[k] = (float)(n[k] / length);
        if (width == 4 && fabs(fabs((double)n[3]) - 1) < ROUNDED) n[3] = n[3] < 0 ? -1.0f : 1.0f;
    }
}

/// The weights of a vertex, over all sets, get their sum back.
static void mend_weights(const gltf_document *document, const place *at)
{
    enum { SETS = 16 };
    float *sets[SETS];
    uint32_t set_count = 0;
    char name[24];
    for (; set_count < SETS; set_count++) {
        snprintf(name, sizeof name, "WEIGHTS_%u", set_count);
        sets[set_count] = decoded_floats(document, at, name, 4);
        if (!sets[set_count]) break;
    }
    for (size_t v = 0; set_count && v < at->vertex_count; v++) {
        double sum = 0;
        for (uint32_t k = 0; k < 4 * set_count; k++) sum += (double)sets[k / 4][4 * v + k % 4];
        for (uint32_t k = 0; k < 4 * set_count && fabs(sum - 1) < ROUNDED; k++)
            sets[k / 4][4 * v + k % 4] = (float)(sets[k / 4][4 * v + k % 4] / sum);
    }
}

/// What the loss of a compression did to promises of glTF.
static void mend(const unpacker *all)
{
    for (size_t i = 0; i < all->place_count; i++) {
        const place *at = &all->places[i];
        const gltf_document *document = all->document;
        mend_directions(decoded_floats(document, at, "NORMAL", 3), at->vertex_count, 3);
        mend_directions(decoded_floats(document, at, "TANGENT", 4), at->vertex_count, 4);
        mend_weights(document, at);
    }
}

/// The document as it would be without the extension.
static cutis_result settle(unpacker *all, bool any_left)
{
    gltf_document *document = all->document;
    static const char *const LISTS[] = { "extensionsUsed", "extensionsRequired" };
    json_t *buffer = json_object();
    set(all, buffer, "byteLength", all->answer_size);
    all->failed |= json_array_append_new(json_object_get(document->root, "buffers"), buffer) != 0;
    for (int i = 0; i < 2 && !any_left; i++) {
        json_t *list = json_object_get(document->root, LISTS[i]);
        int index = cutis_gltf_find_text(list, NAME);
        if (index >= 0) json_array_remove(list, (size_t)index);
        if (list && json_array_size(list) == 0) json_object_del(document->root, LISTS[i]);
    }
    if (all->failed)
        return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "%s: no memory for its JSON",
                          document->file);
    return CUTIS_OK;
}

static cutis_result walk(unpacker *all, bool *any_left)
{
    gltf_document *document = all->document;
    const json_t *meshes = json_object_get(document->root, "meshes");
    const bool decoder = cutis_gltf_has_draco();
    cutis_result result = CUTIS_OK;
    for (uint32_t m = 0; m < json_array_size(meshes); m++) {
        const json_t *list = json_object_get(json_array_get(meshes, m), "primitives");
        for (uint32_t p = 0; p < json_array_size(list) && result == CUTIS_OK; p++) {
            place at = { .mesh = m, .primitive = p, .json = json_array_get(list, p) };
            if (!is_needed(document, at.json)) {
                *any_left |= cutis_gltf_extension(at.json, NAME) != NULL;
            } else if (!decoder && document->report) {
                *any_left = true;
                leave_undecoded(document, at.json);
            } else {
                result = add_stream(all, &at);
                if (!cutis_gltf_go_on(document, &result)) return result;
            }
        }
    }
    if (!decoder && document->report && *any_left)
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "UNSUPPORTED_EXTENSION",
                          "/extensionsUsed: %s is not decoded: cutis-draco is not there", NAME);
    return cutis_gltf_end_phase(document, result);
}

/// The extension goes from the primitives that were decoded.
static void drop_extension(const json_t *meshes, const uint8_t *state)
{
    for (size_t m = 0; m < json_array_size(meshes); m++) {
        const json_t *list = json_object_get(json_array_get(meshes, m), "primitives");
        for (size_t p = 0; p < json_array_size(list); p++) {
            json_t *json = json_array_get(list, p), *held = json_object_get(json, "extensions");
            int32_t indices = cutis_gltf_index(json, "indices");
            if (indices == CUTIS_NONE || state[indices] != GLTF_DRACO_DECODED) continue;
            json_object_del(held, NAME);
            if (held && json_object_size(held) == 0) json_object_del(json, "extensions");
        }
    }
}

cutis_result cutis_gltf_unpack_draco(gltf_document *document)
{
    cutis_context *context = document->context;
    const size_t count = json_array_size(json_object_get(document->root, "accessors"));
    unpacker all = { .document = document, .request.context = context };
    bool any_left = false;
    if (cutis_gltf_find_text(json_object_get(document->root, "extensionsUsed"), NAME) < 0)
        return CUTIS_OK;
    document->draco = cutis_arena_zero(&document->arena, count, 1);
    all.origins = cutis_alloc_zero(context, count, sizeof *all.origins);
    cutis_bytes_append(&all.request, &(draco_request){ 0 }, sizeof(draco_request));
    cutis_result result = document->draco && all.origins && !all.request.failed
                              ? CUTIS_OK
                              : cutis_alloc_result(context);
    if (result == CUTIS_OK) result = walk(&all, &any_left);
    if (result == CUTIS_OK && all.place_count) {
        result = decode_all(&all);
        if (result == CUTIS_OK) result = settle(&all, any_left);
        if (result == CUTIS_OK) mend(&all);
        if (result == CUTIS_OK)
            drop_extension(json_object_get(document->root, "meshes"), document->draco);
    }
    cutis_bytes_drop(&all.request);
    cutis_free_array(context, all.origins, count, sizeof *all.origins);
    cutis_free_array(context, all.places, all.place_capacity, sizeof *all.places);
    return result;
}
