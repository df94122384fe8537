/// Accessors: typed arrays over views. Invariant: cutis_gltf_load_accessors proves that every
/// element of every accessor lies inside its view, so decoding reads without a check.
#include "io/gltf/document.h"

#include "io/bytes.h"
#include "model/validate.h"

#include <math.h>
#include <string.h>

/// Where the components of an element stand. Columns of matrices start at multiples of 4 bytes.
typedef struct layout {
    uint32_t rows, columns, component_size, column_stride;
    uint32_t size; ///< from element to element
    uint32_t last; ///< of the last element: the padding after its last column may be missing
} layout;

const char *const CUTIS_GLTF_SHAPES[] = {
    "SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"
};

uint32_t cutis_gltf_component_size(int64_t component)
{
    static const uint8_t SIZES[] = { 1, 1, 2, 2, 0, 4, 4 };
    return component >= GLTF_I8 && component <= GLTF_F32 ? SIZES[component - GLTF_I8] : 0;
}

static layout layout_of(gltf_shape shape, uint32_t component)
{
    static const uint8_t ROWS[] = { 1, 2, 3, 4, 2, 3, 4 }, COLUMNS[] = { 1, 1, 1, 1, 2, 3, 4 };
    layout l = { .rows = ROWS[shape], .columns = COLUMNS[shape] };
    l.component_size = cutis_gltf_component_size(component);
    l.column_stride = l.rows * l.component_size;
    if (l.columns > 1) l.column_stride = (l.column_stride + 3) / 4 * 4;
    l.size = l.columns * l.column_stride;
    l.last = (l.columns - 1) * l.column_stride + l.rows * l.component_size;
    return l;
}

static double read_component(const uint8_t *bytes, uint32_t component)
{
    switch (component) {
    case GLTF_I8:
        return (int8_t)bytes[0];
    case GLTF_U8:
        return bytes[0];
    case GLTF_I16:
        return (int16_t)cutis_load_u16(bytes);
    case GLTF_U16:
        return cutis_load_u16(bytes);
    case GLTF_U32:
        return cutis_load_u32(bytes);
    default:
        return (double)cutis_load_f32(bytes);
    }
}

/// `count` elements of `size` bytes, `stride` apart, from `offset` of view `index`: aligned in the
/// buffer, inside the view. `place` is the property that names the view.
static cutis_result place_in_view(gltf_document *document, uint32_t accessor, const char *place,
                                  uint32_t index, int64_t offset, uint64_t count, size_t stride,
                                  size_t size, uint32_t alignment, const uint8_t **out)
{
    const gltf_view *view = &document->views[index];
    // A component that is known has 1 to 4 bytes.
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
    const bool inner = offset % alignment;
    const bool outer = !view->compressed && (view->offset + (uint64_t)offset) % alignment;
    uint64_t last;
    if (document->strict && (inner || outer))
        return WRONG(inner ? "ACCESSOR_OFFSET_ALIGNMENT" : "ACCESSOR_TOTAL_OFFSET_ALIGNMENT",
                     "/accessors/%u%s/byteOffset: %lld is not a multiple of %u in its %s", accessor,
                     place, (long long)offset, alignment, inner ? "view" : "buffer");
    if (__builtin_mul_overflow(count - 1, (uint64_t)stride, &last) ||
        __builtin_add_overflow(last, (uint64_t)offset + size, &last) || last > view->size)
        return WRONG("ACCESSOR_TOO_LONG",
                     "/accessors/%u%s: %llu elements of %zu bytes from byte %lld do not fit into "
                     "the %zu bytes of bufferView %u",
                     accessor, place, (unsigned long long)count, size, (long long)offset,
                     view->size, index);
    if (inner || outer) { // bytes are read one by one, so only the writer minds
        FORGIVE(inner ? "ACCESSOR_OFFSET_ALIGNMENT" : "ACCESSOR_TOTAL_OFFSET_ALIGNMENT",
                "/accessors/%u%s/byteOffset: %lld is not a multiple of %u in its %s", accessor,
                place, (long long)offset, alignment, inner ? "view" : "buffer");
        document->accessors[accessor].askew = true;
    }
    const json_t *buffer = cutis_gltf_item(document, "buffers", view->buffer);
    if (!view->data && cutis_gltf_meshopt_extension(buffer))
        document->accessors[accessor].missing = true;
    *out = view->data ? view->data + offset : NULL;
    return CUTIS_OK;
}

static cutis_result load_sparse(gltf_document *document, uint32_t index, const json_t *sparse,
                                const layout *l)
{
    gltf_accessor *a = &document->accessors[index];
    const json_t *indices = json_object_get(sparse, "indices");
    const json_t *values = json_object_get(sparse, "values");
    int64_t count = cutis_gltf_integer(sparse, "count", 0);
    int64_t component = cutis_gltf_integer(indices, "componentType", 0);
    uint32_t size = cutis_gltf_component_size(component);
    if (count > a->count)
        return WRONG("ACCESSOR_SPARSE_COUNT_OUT_OF_RANGE",
                     "/accessors/%u/sparse/count: %lld of %u elements", index, (long long)count,
                     a->count);
    if (component != GLTF_U8 && component != GLTF_U16 && component != GLTF_U32) {
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "VALUE_NOT_IN_LIST",
                          "/accessors/%u/sparse/indices/componentType: %lld is no index type",
                          index, (long long)component);
        // Reading must not guess; looking on and repairing leave the base as it is.
        a->missing = !document->report && !document->repair;
        a->loose = true;
        return CUTIS_OK;
    }
    a->sparse_count = (uint32_t)count;
    a->sparse_component = (uint32_t)component;
    for (int which = 0; which < 2; which++) {
        const gltf_view *view =
            &document->views[cutis_gltf_index(which ? values : indices, "bufferView")];
        const char *code =
            view->stride ? "BUFFER_VIEW_INVALID_BYTE_STRIDE" : "BUFFER_VIEW_TARGET_OVERRIDE";
        if (!view->stride && !view->target) continue;
        // Nobody agrees on what a stride would mean here, unless it is what there is anyway.
        if (view->stride && view->stride != (which ? l->size : size) && count > 1)
            return WRONG(code, "/accessors/%u/sparse/%s/bufferView: the view has a stride", index,
                         which ? "values" : "indices");
        FORGIVE(code, "/accessors/%u/sparse/%s/bufferView: the view has a stride or a target",
                index, which ? "values" : "indices");
        a->askew = true;
    }
    cutis_result result = place_in_view(document, index, "/sparse/indices",
                                        (uint32_t)cutis_gltf_index(indices, "bufferView"),
                                        cutis_gltf_integer(indices, "byteOffset", 0),
                                        (uint64_t)count, size, size, size, &a->sparse_indices);
    if (result != CUTIS_OK) return result;
    return place_in_view(document, index, "/sparse/values",
                         (uint32_t)cutis_gltf_index(values, "bufferView"),
                         cutis_gltf_integer(values, "byteOffset", 0), (uint64_t)count, l->size,
                         l->last, l->component_size, &a->sparse_values);
}

static cutis_result load_type(const gltf_document *document, uint32_t index, json_t *json,
                              gltf_accessor *a)
{
    const char *shape = cutis_gltf_string(json, "type");
    int64_t component = cutis_gltf_integer(json, "componentType", 0),
            count = cutis_gltf_integer(json, "count", 0);
    while (a->shape <= GLTF_MAT4 && strcmp(CUTIS_GLTF_SHAPES[a->shape], shape) != 0) a->shape++;
    // New types may come with extensions; that is no error before somebody uses one.
    if (cutis_gltf_component_size(component) == 0)
        cutis_gltf_remark(document, CUTIS_ISSUE_WARNING, "VALUE_NOT_IN_LIST",
                          "/accessors/%u/componentType: %lld is no component type", index,
                          (long long)component);
    if (a->shape > GLTF_MAT4 || cutis_gltf_component_size(component) == 0) {
        a->unknown = true;
        a->shape = GLTF_SCALAR;
        component = GLTF_U8;
    }
    if (count > UINT32_MAX && a->view != CUTIS_NONE)
        return WRONG("ACCESSOR_TOO_LONG",
                     "/accessors/%u/count: %lld elements do not fit into bufferView %d", index,
                     (long long)count, a->view);
    if (count > UINT32_MAX)
        return cutis_gltf_issue(document, CUTIS_LIMIT_EXCEEDED, NULL,
                                "/accessors/%u/count: %lld elements", index, (long long)count);
    a->component = (uint32_t)component;
    a->normalized = json_is_true(json_object_get(json, "normalized"));
    a->count = (uint32_t)count;
    if (a->normalized && (a->component == GLTF_F32 || a->component == GLTF_U32)) {
        FORGIVE("ACCESSOR_NORMALIZED_INVALID",
                "/accessors/%u/normalized: only for 8 and 16 bit integers", index);
        a->normalized = false;
        json_object_del(json, "normalized");
    }
    return CUTIS_OK;
}

/// Bounds of another length than an element's say nothing, an offset into no view neither.
static cutis_result check_extras(gltf_document *document, uint32_t index, json_t *json)
{
    gltf_accessor *a = &document->accessors[index];
    static const char *const KEYS[] = { "min", "max" };
    for (int k = 0; k < 2; k++) {
        const json_t *list = json_object_get(json, KEYS[k]);
        if (!list || json_array_size(list) == a->width) continue;
        FORGIVE(json_array_size(list) || a->component != GLTF_F32 ? "ARRAY_LENGTH_NOT_IN_LIST"
                                                                  : "EMPTY_ENTITY",
                "/accessors/%u/%s: not %u numbers", index, KEYS[k], a->width);
        json_object_del(json, KEYS[k]);
        a->has_bounds = false;
        a->boundless = true;
    }
    if (a->view == CUTIS_NONE && json_object_get(json, "byteOffset")) {
        FORGIVE("UNSATISFIED_DEPENDENCY", "/accessors/%u/byteOffset: there is no bufferView",
                index);
        json_object_del(json, "byteOffset");
    }
    return CUTIS_OK;
}

/// Bounds of integers are integers that their type holds.
static cutis_result check_stated(const gltf_document *document, uint32_t index, const char *key,
                                 const json_t *bounds)
{
    const uint32_t component = document->accessors[index].component;
    const bool is_signed = component == GLTF_I8 || component == GLTF_I16;
    const int bits = 8 * (int)cutis_gltf_component_size(component);
    const double high = ldexp(1, is_signed ? bits - 1 : bits) - 1;
    const double low = is_signed ? -high - 1 : 0;
    for (size_t k = 0; k < json_array_size(bounds); k++) {
        const double value = json_number_value(json_array_get(bounds, k));
        if (value != floor(value))
            return WRONG("ARRAY_TYPE_MISMATCH", "/accessors/%u/%s/%zu: %g is no integer", index,
                         key, k, value);
        if (value < low || value > high)
            return WRONG("INVALID_GL_VALUE", "/accessors/%u/%s/%zu: %g, the type has %g to %g",
                         index, key, k, value, low, high);
    }
    return CUTIS_OK;
}

static cutis_result load_accessor(gltf_document *document, uint32_t index)
{
    json_t *json = (json_t *)cutis_gltf_item(document, "accessors", index);
    const json_t *min = json_object_get(json, "min"), *max = json_object_get(json, "max");
    const json_t *sparse = json_object_get(json, "sparse");
    gltf_accessor *a = &document->accessors[index];
    a->view = cutis_gltf_index(json, "bufferView");
    a->draco = document->draco ? document->draco[index] : GLTF_DRACO_NONE;
    cutis_result result = load_type(document, index, json, a);
    if (result != CUTIS_OK || a->unknown) return result;
    layout l = layout_of(a->shape, a->component);
    a->width = l.rows * l.columns;
    a->has_bounds = min && max;
    result = check_extras(document, index, json);
    if (result != CUTIS_OK) return result;
    if (document->strict && a->component != GLTF_F32) {
        result = check_stated(document, index, "min", min);
        if (result == CUTIS_OK) result = check_stated(document, index, "max", max);
        if (result != CUTIS_OK) return result;
    }
    if (a->view != CUTIS_NONE) {
        uint32_t stride = document->views[a->view].stride;
        a->askew = document->views[a->view].askew;
        if (l.columns > 1 && cutis_gltf_integer(json, "byteOffset", 0) % 4) {
            FORGIVE("ACCESSOR_MATRIX_ALIGNMENT",
                    "/accessors/%u/byteOffset: matrices start at multiples of 4", index);
            a->askew = true;
        }
        a->stride = stride ? stride : l.size;
        if (a->stride < l.size)
            return WRONG("ACCESSOR_SMALL_BYTESTRIDE",
                         "/accessors/%u/bufferView: its stride %u is less than an element's %u "
                         "bytes",
                         index, stride, l.size);
        result = place_in_view(document, index, "", (uint32_t)a->view,
                               cutis_gltf_integer(json, "byteOffset", 0), a->count, a->stride,
                               l.last, l.component_size, &a->data);
        if (result != CUTIS_OK) return result;
    }
    return sparse ? load_sparse(document, index, sparse, &l) : CUTIS_OK;
}

cutis_result cutis_gltf_load_accessors(gltf_document *document)
{
    document->accessors =
        cutis_gltf_new_items(document, &document->arena, "accessors", sizeof *document->accessors,
                             &document->accessor_count);
    if (!document->accessors) return cutis_alloc_result(document->context);
    for (uint32_t i = 0; i < document->accessor_count; i++) {
        cutis_result result = load_accessor(document, i);
        if (!cutis_gltf_go_on(document, &result)) return result;
    }
    return cutis_gltf_end_phase(document, CUTIS_OK);
}

static float to_float(double raw, const gltf_accessor *a)
{
    if (!a->normalized) return (float)raw;
    float value = (float)raw;
    switch (a->component) {
    case GLTF_U8:
        return value / 255.0f;
    case GLTF_U16:
        return value / 65535.0f;
    case GLTF_I8:
        return value < -127.0f ? -1.0f : value / 127.0f;
    default:
        return value < -32767.0f ? -1.0f : value / 32767.0f;
    }
}

/// One element to `width` floats, or to as many whole numbers.
typedef void (*decoder)(const gltf_accessor *a, const layout *l, const uint8_t *bytes, void *out);

static void decode_float(const gltf_accessor *a, const layout *l, const uint8_t *bytes, void *out)
{
    float *values = out;
    if (a->component == GLTF_F32) {
        memcpy(out, bytes, a->width * sizeof *values); // columns of float matrices have no gaps
        return;
    }
    for (uint32_t c = 0; c < l->columns; c++) {
        for (uint32_t r = 0; r < l->rows; r++)
            *values++ = to_float(
                read_component(bytes + c * l->column_stride + r * l->component_size, a->component),
                a);
    }
}

static void decode_integer(const gltf_accessor *a, const layout *l, const uint8_t *bytes, void *out)
{
    (void)l;
    for (uint32_t c = 0; c < a->width; c++)
        ((uint32_t *)out)[c] = a->component == GLTF_U8    ? bytes[c]
                               : a->component == GLTF_U16 ? cutis_load_u16(bytes + 2 * (size_t)c)
                                                          : cutis_load_u32(bytes + 4 * (size_t)c);
}

/// Numbers of this type, of four bytes, that lie in the document as an array of them would, else
/// NULL: most of a large file, and there is no need to have them twice. They live as long as the
/// document.
static const void *in_place(const gltf_accessor *a, uint32_t component)
{
    const bool whole = !a->missing && !a->unknown && !a->sparse_values && a->data;
    const bool dense =
        whole && a->component == component && a->stride == layout_of(a->shape, a->component).size;
    return dense && (uintptr_t)a->data % sizeof(uint32_t) == 0 ? a->data : NULL;
}

/// The index of a sparse entry: ascending, in range.
static cutis_result sparse_index(const gltf_document *document, uint32_t accessor, uint32_t entry,
                                 int64_t *previous)
{
    const gltf_accessor *a = &document->accessors[accessor];
    uint32_t size = cutis_gltf_component_size(a->sparse_component);
    int64_t index =
        (int64_t)read_component(a->sparse_indices + (size_t)entry * size, a->sparse_component);
    if (index <= *previous || index >= a->count)
        return WRONG(index <= *previous ? "ACCESSOR_SPARSE_INDICES_NON_INCREASING"
                                        : "ACCESSOR_SPARSE_INDEX_OOB",
                     "/accessors/%u/sparse/indices: entry %u is %lld, after %lld, of %u elements",
                     accessor, entry, (long long)index, (long long)*previous, a->count);
    *previous = index;
    return CUTIS_OK;
}

static cutis_result check_finite(const gltf_document *document, uint32_t accessor,
                                 const float *values, size_t count)
{
    // With repair wanted, the gate knows better what to do about a weight or a key that is not a
    // number.
    if (document->repair || document->accessors[accessor].component != GLTF_F32) return CUTIS_OK;
    const size_t bad = cutis_first_not_finite(values, count);
    if (bad < count)
        return WRONG("ACCESSOR_INVALID_FLOAT",
                     "/accessors/%u: component %zu of element %zu is not a finite number", accessor,
                     bad % document->accessors[accessor].width,
                     bad / document->accessors[accessor].width);
    return CUTIS_OK;
}

static cutis_result decode(gltf_document *document, uint32_t accessor, decoder one, void *out)
{
    const gltf_accessor *a = &document->accessors[accessor];
    const layout l = layout_of(a->shape, a->component);
    const size_t size = a->width * sizeof(uint32_t); // of a decoded element
    int64_t index = -1;
    // A fallback buffer has no data of its own; that is no error before somebody needs it. (A
    // buffer that simply names no data reads as zeros, like an accessor without a view: such
    // documents are valid templates.)
    if (a->missing || a->unknown)
        return WRONG("BUFFER_MISSING_GLB_DATA",
                     "/accessors/%u: its buffer has no data, or its type is unknown", accessor);
    if (a->data && a->component == GLTF_F32 && a->stride == l.size)
        memcpy(out, a->data, a->count * size);
    else if (!a->data)
        memset(out, 0, a->count * size);
    else
        for (size_t i = 0; i < a->count; i++)
            one(a, &l, a->data + i * a->stride, (uint8_t *)out + i * size);
    for (uint32_t i = 0; a->sparse_indices && a->sparse_values && i < a->sparse_count; i++) {
        cutis_result result = sparse_index(document, accessor, i, &index);
        if (result != CUTIS_OK) return result;
        one(a, &l, a->sparse_values + (size_t)i * l.size, (uint8_t *)out + (size_t)index * size);
    }
    return CUTIS_OK;
}

/// Charge, allocate and decode: floats and whole numbers have 4 bytes.
static cutis_result decode_new(gltf_document *document, uint32_t accessor, decoder one, void **out)
{
    const gltf_accessor *a = &document->accessors[accessor];
    const size_t size = a->width * sizeof(uint32_t);
    cutis_result result = cutis_gltf_charge(document, a->count, size);
    if (result != CUTIS_OK) return result;
    *out = cutis_arena_alloc(&document->parts, a->count, size);
    return *out ? decode(document, accessor, one, *out) : cutis_alloc_result(document->context);
}

/// The same for who only reads: nothing is decoded where there is nothing to decode.
static cutis_result decode_or_borrow(gltf_document *document, uint32_t accessor, decoder one,
                                     uint32_t component, const void **out)
{
    const gltf_accessor *a = &document->accessors[accessor];
    void *values = NULL;
    *out = in_place(a, component);
    if (*out) return cutis_gltf_charge(document, a->count, a->width * sizeof(uint32_t));
    const cutis_result result = decode_new(document, accessor, one, &values);
    *out = values;
    return result;
}

cutis_result cutis_gltf_new_floats(gltf_document *document, uint32_t accessor, const float **out)
{
    const gltf_accessor *a = &document->accessors[accessor];
    const void *values = NULL;
    cutis_result result = decode_or_borrow(document, accessor, decode_float, GLTF_F32, &values);
    *out = values;
    if (result != CUTIS_OK) return result;
    return check_finite(document, accessor, values, (size_t)a->count * a->width);
}

cutis_result cutis_gltf_own_floats(gltf_document *document, uint32_t accessor, float **out)
{
    const gltf_accessor *a = &document->accessors[accessor];
    void *values = NULL;
    cutis_result result = decode_new(document, accessor, decode_float, &values);
    *out = values;
    if (result != CUTIS_OK) return result;
    return check_finite(document, accessor, values, (size_t)a->count * a->width);
}

// What 8 bits per component make of a unit vector: the Khronos validator's tolerance of a length.
static const double UNIT_VECTOR = 0.00674;

static double square_of(const float *n)
{
    return (double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2];
}

static bool is_unit(double square)
{
    return square >= (1 - UNIT_VECTOR) * (1 - UNIT_VECTOR) &&
           square <= (1 + UNIT_VECTOR) * (1 + UNIT_VECTOR);
}

static bool all_directions(const float *n, size_t count, uint32_t width)
{
    for (size_t v = 0; v < count; v++, n += width)
        if (!is_unit(square_of(n)) || (width == 4 && fabsf(n[3]) != 1)) return false;
    return true;
}

cutis_result cutis_gltf_new_directions(gltf_document *document, uint32_t accessor,
                                       const char *place, const float **out)
{
    const gltf_accessor *a = &document->accessors[accessor];
    if (!cutis_gltf_mends(document) || document->repair || !cutis_gltf_has_data(a))
        return cutis_gltf_new_floats(document, accessor, out);
    void *values = NULL;
    *out = in_place(a, GLTF_F32);
    if (*out && all_directions(*out, a->count, a->width))
        return cutis_gltf_charge(document, a->count, a->width * sizeof(float));
    cutis_result result = decode_new(document, accessor, decode_float, &values);
    *out = values;
    if (result != CUTIS_OK) return result;
    float *n = values;
    size_t off = 0, signs = 0;
    for (size_t v = 0; v < a->count; v++, n += a->width) {
        const double square = square_of(n);
        const bool unit = is_unit(square), sign = a->width < 4 || fabsf(n[3]) == 1;
        if (unit && sign) continue; // so it is finite, too
        if (!isfinite(square) || (a->width == 4 && !isfinite(n[3])))
            return check_finite(document, accessor, values, (size_t)a->count * a->width);
        off += !unit;
        signs += !sign;
        // What has no direction at all gets one from its faces when it is written.
        for (int k = 0; k < 3 && !unit && square > 1e-24; k++) n[k] = (float)(n[k] / sqrt(square));
        if (!sign) n[3] = n[3] < 0 ? -1.0f : 1.0f;
    }
    if (result == CUTIS_OK && off)
        result = cutis_gltf_forgive(document, CUTIS_CORRUPT_DATA, "ACCESSOR_VECTOR3_NON_UNIT",
                                    "%s: %zu of %u vectors are not of unit length", place, off,
                                    a->count);
    if (result == CUTIS_OK && signs)
        result = cutis_gltf_forgive(document, CUTIS_CORRUPT_DATA, "ACCESSOR_INVALID_SIGN",
                                    "%s: the signs of %zu of %u tangents are not 1 or -1", place,
                                    signs, a->count);
    return result;
}

cutis_result cutis_gltf_new_integers(gltf_document *document, uint32_t accessor,
                                     const uint32_t **out)
{
    const gltf_accessor *a = &document->accessors[accessor];
    const bool whole =
        a->component == GLTF_U8 || a->component == GLTF_U16 || a->component == GLTF_U32;
    const void *values = NULL;
    if (!a->missing && !a->unknown && (!whole || a->normalized || a->shape > GLTF_VEC4))
        return WRONG("MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_INVALID_FORMAT",
                     "/accessors/%u/componentType: unsigned integers are needed", accessor);
    cutis_result result = decode_or_borrow(document, accessor, decode_integer, GLTF_U32, &values);
    *out = values;
    return result;
}

bool cutis_gltf_has_data(const gltf_accessor *accessor)
{
    return !accessor->missing && (accessor->data || accessor->sparse_values);
}

/// Raw component values, as minimum and maximum are given; `element` counts base elements first,
/// then sparse ones.
static bool raw_element(const gltf_accessor *a, const layout *l, const uint8_t *bytes, double *low,
                        double *high)
{
    bool finite = true;
    for (uint32_t c = 0; c < l->columns; c++) {
        for (uint32_t r = 0; r < l->rows; r++) {
            uint32_t k = c * l->rows + r;
            double value =
                bytes ? read_component(bytes + c * l->column_stride + r * l->component_size,
                                       a->component)
                      : 0;
            if (value < low[k]) low[k] = value;
            if (value > high[k]) high[k] = value;
            if (!isfinite(value)) finite = false;
        }
    }
    return finite;
}

static bool same_bound(double stated, double found, bool is_float)
{
    return is_float ? (float)stated == (float)found : stated == found;
}

/// The common case of floats one after the other, at a fraction of the price.
static bool float_bounds(const gltf_accessor *a, double *low, double *high)
{
    bool finite = true;
    float least[16], most[16];
    for (int k = 0; k < 16; k++) least[k] = INFINITY, most[k] = -INFINITY;
    for (size_t i = 0; i < a->count; i++) {
        for (uint32_t k = 0; k < a->width; k++) {
            float value = cutis_load_f32(a->data + i * a->stride + 4 * (size_t)k);
            least[k] = value < least[k] ? value : least[k];
            most[k] = value > most[k] ? value : most[k];
            finite &= fabsf(value) <= 3.402823466e38f;
        }
    }
    for (int k = 0; k < 16; k++) low[k] = (double)least[k], high[k] = (double)most[k];
    return finite;
}

/// The least and greatest value of each component; of an accessor without data nothing is known.
static cutis_result find_bounds(gltf_document *document, uint32_t accessor, double *low,
                                double *high)
{
    const gltf_accessor *a = &document->accessors[accessor];
    layout l = layout_of(a->shape, a->component);
    int64_t index = -1;
    uint32_t entry = 0, entry_count = a->sparse_indices && a->sparse_values ? a->sparse_count : 0;
    for (uint32_t i = 0; i < entry_count; i++) { // those the walk below does not come to, too
        cutis_result result = sparse_index(document, accessor, i, &index);
        if (result != CUTIS_OK) return result;
    }
    index = -1;
    if (!entry_count && a->data && a->component == GLTF_F32 && float_bounds(a, low, high))
        return CUTIS_OK;
    for (int k = 0; k < 16; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (uint32_t i = 0; i < a->count; i++) {
        // Sparse indices ascend, so the next replaced element is always known.
        if (entry < entry_count && index < (int64_t)i) {
            cutis_result result = sparse_index(document, accessor, entry, &index);
            if (result != CUTIS_OK) return result;
            entry++;
        }
        const uint8_t *bytes = a->data ? a->data + (size_t)i * a->stride : NULL;
        if (entry_count && index == (int64_t)i)
            bytes = a->sparse_values + (size_t)(entry - 1) * l.size;
        if (raw_element(a, &l, bytes, low, high)) continue;
        if (document->strict)
            return WRONG("ACCESSOR_INVALID_FLOAT", "/accessors/%u: element %u is not finite",
                         accessor, i);
        low[0] = NAN; // no bounds at all
        return CUTIS_OK;
    }
    return CUTIS_OK;
}

static bool bounds_known(const gltf_accessor *a)
{
    return cutis_gltf_has_data(a) && !a->loose && !a->draco;
}

/// Whether a list of bounds, if there is one, is what was found; the first entry that is not.
static bool bounds_hold(const json_t *list, const double *found, const gltf_accessor *a,
                        uint32_t *k)
{
    for (*k = 0; list && *k < a->width; ++*k)
        if (!same_bound(json_number_value(json_array_get(list, *k)), found[*k],
                        a->component == GLTF_F32))
            return false;
    return true;
}

/// Put the true values in place of a list of bounds. @return false: no memory
static bool set_bounds(json_t *json, const char *key, const double *found, const gltf_accessor *a)
{
    json_t *list = json_array();
    for (uint32_t k = 0; list && k < a->width; k++) {
        // In full: a reader that does not round to float must find the very value.
        json_t *number = a->component == GLTF_F32 ? json_real(found[k] + 0.0)
                                                  : json_integer((json_int_t)found[k]);
        if (json_array_append_new(list, number) != 0) {
            json_decref(list);
            return false;
        }
    }
    return json_object_set_new(json, key, list) == 0;
}

static cutis_result put_bounds(const gltf_document *document, json_t *json, const double *low,
                               const double *high, const gltf_accessor *a)
{
    if (set_bounds(json, "min", low, a) && set_bounds(json, "max", high, a)) return CUTIS_OK;
    return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for bounds");
}

cutis_result cutis_gltf_check_bounds(gltf_document *document, uint32_t accessor)
{
    gltf_accessor *a = &document->accessors[accessor];
    json_t *json = json_array_get(json_object_get(document->root, "accessors"), accessor);
    const json_t *min = json_object_get(json, "min"), *max = json_object_get(json, "max");
    double low[16] = { 0 }, high[16] = { 0 };
    uint32_t k;
    if (a->draco == GLTF_DRACO_DECODED && (min || max)) { // they are of what was compressed
        cutis_result found = find_bounds(document, accessor, low, high);
        return found == CUTIS_OK ? put_bounds(document, json, low, high, a) : found;
    }
    if (!bounds_known(a))
        return a->boundless && !a->missing && !a->loose
                   ? put_bounds(document, json, low, high, a) // zeros
                   : CUTIS_OK;
    if (!min && !max && !a->boundless && !a->idle && !document->strict) return CUTIS_OK;
    cutis_result result = find_bounds(document, accessor, low, high);
    if (result != CUTIS_OK) return result;
    // What is not finite, nobody uses, or the gate says what becomes of it.
    for (k = 0; k < a->width && !document->strict; k++)
        if (!isfinite(low[k]) || !isfinite(high[k])) {
            if (a->idle)
                FORGIVE("ACCESSOR_INVALID_FLOAT", "/accessors/%u: not finite, and nothing uses it",
                        accessor);
            a->unfit = true;
            return CUTIS_OK;
        }
    const bool low_holds = bounds_hold(min, low, a, &k);
    if (!low_holds)
        FORGIVE("ACCESSOR_MIN_MISMATCH", "/accessors/%u/min/%u: %g, but the least value is %g",
                accessor, k, json_number_value(json_array_get(min, k)), low[k]);
    const bool high_holds = bounds_hold(max, high, a, &k);
    if (!high_holds)
        FORGIVE("ACCESSOR_MAX_MISMATCH", "/accessors/%u/max/%u: %g, but the greatest value is %g",
                accessor, k, json_number_value(json_array_get(max, k)), high[k]);
    if (low_holds && high_holds && !a->boundless) return CUTIS_OK;
    return put_bounds(document, json, low, high, a);
}

/// Room for one more view; the arrays before it stay where the arena has them.
static bool grow_views(gltf_document *document)
{
    if (document->view_count < document->view_capacity) return true;
    uint32_t capacity = 2 * document->view_count + 16;
    gltf_view *views = cutis_arena_zero(&document->arena, capacity, sizeof *views);
    if (!views) return false;
    if (document->view_count) memcpy(views, document->views, document->view_count * sizeof *views);
    document->views = views;
    document->view_capacity = capacity;
    return true;
}

/// A view of its own for bytes that no buffer has, in both the list and the JSON.
static bool add_view(gltf_document *document, const uint8_t *bytes, size_t size, uint32_t stride,
                     uint32_t target)
{
    json_t *json = json_pack("{s:i,s:I}", "buffer", 0, "byteLength", (json_int_t)size);
    if (!json || !grow_views(document) ||
        (stride && json_object_set_new(json, "byteStride", json_integer(stride)) != 0) ||
        (target && json_object_set_new(json, "target", json_integer(target)) != 0) ||
        json_array_append(json_object_get(document->root, "bufferViews"), json) != 0) {
        json_decref(json);
        return false;
    }
    json_decref(json);
    document->views[document->view_count++] = (gltf_view){ .data = bytes,
                                                           .size = size,
                                                           .stride = stride,
                                                           .target = target,
                                                           .compressed = true,
                                                           .vertices = CUTIS_NONE,
                                                           .indices = CUTIS_NONE };
    return true;
}

/// The views an accessor stands on, which may hold nothing else.
static void abandon_views(gltf_document *document, const gltf_accessor *a, const json_t *sparse)
{
    if (a->view != CUTIS_NONE) document->views[a->view].abandoned = true;
    static const char *const PARTS[] = { "indices", "values" };
    for (int i = 0; i < 2 && sparse; i++) {
        int32_t view = cutis_gltf_index(json_object_get(sparse, PARTS[i]), "bufferView");
        if (view != CUTIS_NONE) document->views[view].abandoned = true;
    }
}

cutis_result cutis_gltf_repack(gltf_document *document, uint32_t accessor, uint32_t target)
{
    gltf_accessor *a = &document->accessors[accessor];
    json_t *json = json_array_get(json_object_get(document->root, "accessors"), accessor);
    if (!document->kept || a->unknown || a->loose || a->missing) return CUTIS_OK;
    if (!cutis_gltf_has_data(a)) { // zeros, as they are without a view
        abandon_views(document, a, NULL);
        a->view = CUTIS_NONE;
        a->askew = false;
        json_object_del(json, "bufferView");
        json_object_del(json, "byteOffset");
        return CUTIS_OK;
    }
    const layout l = layout_of(a->shape, a->component);
    const size_t stride = target == GLTF_ARRAY_BUFFER ? (l.size + 3) / 4 * 4 : l.size;
    cutis_result result = cutis_gltf_charge(document, a->count, stride);
    if (result != CUTIS_OK) return result;
    uint8_t *bytes = cutis_arena_zero(&document->arena, a->count, stride);
    if (!bytes) return cutis_alloc_result(document->context);
    for (size_t i = 0; a->data && i < a->count; i++)
        memcpy(bytes + i * stride, a->data + i * a->stride, l.last);
    int64_t index = -1;
    for (uint32_t i = 0; a->sparse_indices && a->sparse_values && i < a->sparse_count; i++) {
        result = sparse_index(document, accessor, i, &index);
        if (result != CUTIS_OK) return result;
        memcpy(bytes + (size_t)index * stride, a->sparse_values + (size_t)i * l.size, l.last);
    }
    abandon_views(document, a, json_object_get(json, "sparse"));
    if (!add_view(document, bytes, a->count * stride, stride != l.size ? (uint32_t)stride : 0,
                  target) ||
        json_object_set_new(json, "bufferView", json_integer(document->view_count - 1)) != 0)
        return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for a view");
    json_object_del(json, "byteOffset");
    json_object_del(json, "sparse");
    a->view = (int32_t)document->view_count - 1;
    a->data = bytes;
    a->stride = stride;
    a->sparse_count = 0;
    a->sparse_indices = a->sparse_values = NULL;
    a->askew = false;
    return CUTIS_OK;
}
