// PLY: vertices with positions, normals, colours and texture coordinates; faces of any number of
// corners; triangle strips; point clouds. Other elements and properties are stepped over.
// Invariant: before an element is read, its count is proven to fit into what is left of the file.
#include "io/ply.h"
#include "io/bytes.h"
#include "io/surface.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

// What a vertex property means to us.
typedef enum role { X, Y, Z, NX, NY, NZ, RED, GREEN, BLUE, ALPHA, S, T, ROLE_COUNT } role;

typedef struct reader {
    const cutis_input *input;
    cutis_context *context;
    cutis_surface_draft draft;
    ply_header header;
    cutis_text text;               // ASCII
    const unsigned char *at, *end; // binary
    float *attributes[ROLE_COUNT]; // vertex_count each, or NULL
    size_t vertex_count;
    bool has_vertices;
    int64_t *list; // of the property at work
    size_t list_count, list_capacity;
    uint32_t *corners; // the list, where it is a polygon
    size_t corner_capacity;
} reader;

static cutis_result fail_at(const reader *r, cutis_result result, const char *reason)
{
    if (r->header.encoding == PLY_ASCII)
        return cutis_fail(r->context, result, "%s: line %zu: %s", r->input->name, r->text.line,
                          reason);
    return cutis_fail(r->context, result, "%s: byte %zu: %s", r->input->name,
                      (size_t)((const char *)r->at - r->input->data), reason);
}

static cutis_result cut_off(const reader *r)
{
    return fail_at(r, CUTIS_CORRUPT_DATA, "the data ends too early");
}

// The next value of a type. ASCII goes through the correctly rounded float where the property is a
// float.
static cutis_result take_value(reader *r, ply_type type, double *out)
{
    if (r->header.encoding != PLY_ASCII) {
        uint32_t size = cutis_ply_size_of(type);
        if ((size_t)(r->end - r->at) < size) return cut_off(r);
        *out = cutis_load_number(r->at, " iuiuiuff"[type], size, r -> header.encoding == PLY_BIG);
        r->at += size;
        return CUTIS_OK;
    }
    cutis_span word = cutis_text_word(&r->text);
    if (word.size == 0) return cut_off(r);
    float value = 0;
    bool number = type == PLY_F32 ? cutis_parse_float(word, &value) : cutis_parse_double(word, out);
    if (type == PLY_F32) *out = (double)value;
    return number ? CUTIS_OK : cutis_text_bad(r->input, &r->text, "not a number:", word);
}

static size_t bytes_left(const reader *r)
{
    return r->header.encoding == PLY_ASCII ? (size_t)(r->text.end - r->text.at)
                                           : (size_t)(r->end - r->at);
}

static bool is_whole(double value)
{
    return value >= -2147483648.0 && value <= 4294967295.0 && value == floor(value);
}

// A list into r->list.
static cutis_result take_list(reader *r, const ply_property *property)
{
    double length = 0;
    cutis_result result = take_value(r, property->count_type, &length);
    if (result != CUTIS_OK) return result;
    size_t each = r->header.encoding == PLY_ASCII ? 2 : cutis_ply_size_of(property->type);
    if (!is_whole(length) || length < 0)
        return fail_at(r, CUTIS_CORRUPT_DATA, "the length of a list is no count");
    if (length * (double)each > (double)bytes_left(r) + 1) return cut_off(r);
    r->list_count = (size_t)length;
    if (!cutis_arena_grow(&r->draft.arena, &r->list, &r->list_capacity, r->list_count,
                          sizeof *r->list))
        return cutis_alloc_result(r->context);
    for (size_t i = 0; i < r->list_count; i++) {
        double value;
        result = take_value(r, property->type, &value);
        if (result != CUTIS_OK) return result;
        r->list[i] = is_whole(value) ? (int64_t)value : INT64_MIN;
    }
    return CUTIS_OK;
}

static cutis_result take_property(reader *r, const ply_property *property, double *value)
{
    return property->count_type != PLY_NONE ? take_list(r, property)
                                            : take_value(r, property->type, value);
}

// The least an element of this kind can take, so that a count can be checked before anything is
// allocated.
static size_t least_bytes(const reader *r, const ply_element *element)
{
    size_t least = 0;
    for (uint32_t i = 0; i < element->property_count; i++) {
        const ply_property *property = &r->header.properties[element->property_first + i];
        ply_type type = property->count_type == PLY_NONE ? property->type : property->count_type;
        least += r->header.encoding == PLY_ASCII ? 2 : cutis_ply_size_of(type);
    }
    return least;
}

static role role_named(cutis_span name)
{
    static const char *const NAMES[ROLE_COUNT][3] = {
        { "x" },
        { "y" },
        { "z" },
        { "nx" },
        { "ny" },
        { "nz" },
        { "red", "r", "diffuse_red" },
        { "green", "g", "diffuse_green" },
        { "blue", "b", "diffuse_blue" },
        { "alpha", "a" },
        { "s", "u", "texture_u" },
        { "t", "v", "texture_v" },
    };
    for (int i = 0; i < ROLE_COUNT; i++)
        for (int k = 0; k < 3 && NAMES[i][k]; k++)
            if (cutis_span_is(name, NAMES[i][k])) return (role)i;
    return ROLE_COUNT;
}

static double color_unit(ply_type type)
{
    return type == PLY_U8 ? 255 : type == PLY_U16 ? 65535 : 1;
}

static cutis_result store_value(reader *r, role what, ply_type type, size_t vertex, double value)
{
    if (what >= RED && what <= ALPHA) value /= color_unit(type);
    if (what <= Z) value = (double)((float)value * r->input->scale);
    if (what == T) value = 1 - value; // PLY counts upwards, the model downwards
    float narrow = (float)value;
    if (!isfinite(narrow))
        return fail_at(r, CUTIS_CORRUPT_DATA, "a vertex has a number that is not finite");
    r->attributes[what][vertex] = narrow;
    return CUTIS_OK;
}

// `width` attributes side by side; `fill` where the file has none for the last.
static float *weave(reader *r, role first, uint32_t width, float fill)
{
    float *out = cutis_arena_alloc(&r->draft.arena, r->vertex_count, width * sizeof(float));
    for (size_t v = 0; out && v < r->vertex_count; v++)
        for (uint32_t k = 0; k < width; k++)
            out[width * v + k] = r->attributes[first + k] ? r->attributes[first + k][v] : fill;
    return out;
}

static cutis_result read_vertices(reader *r, const ply_element *element)
{
    role roles[PLY_PROPERTIES_MAX];
    r->vertex_count = (size_t)element->count;
    for (uint32_t i = 0; i < element->property_count; i++) {
        const ply_property *property = &r->header.properties[element->property_first + i];
        roles[i] = property->count_type == PLY_NONE ? role_named(property->name) : ROLE_COUNT;
        if (roles[i] == ROLE_COUNT) continue;
        if (r->attributes[roles[i]]) {
            roles[i] = ROLE_COUNT; // "s" and "u" in one file: the first counts
            continue;
        }
        r->attributes[roles[i]] =
            cutis_arena_alloc(&r->draft.arena, r->vertex_count, sizeof(float));
        if (!r->attributes[roles[i]]) return cutis_alloc_result(r->context);
    }
    if (!r->attributes[X] || !r->attributes[Y] || !r->attributes[Z])
        return fail_at(r, CUTIS_CORRUPT_DATA, "the vertices lack x, y or z");
    for (size_t v = 0; v < r->vertex_count; v++) {
        for (uint32_t i = 0; i < element->property_count; i++) {
            const ply_property *property = &r->header.properties[element->property_first + i];
            double value = 0;
            cutis_result result = take_property(r, property, &value);
            // Every property was given a role above.
            if (result == CUTIS_OK && roles[i] != ROLE_COUNT)
                result = store_value(r, roles[i], property->type, v, value);
            if (result != CUTIS_OK) return result;
        }
    }
    r->has_vertices = true;
    r->draft.positions = weave(r, X, 3, 0);
    return r->draft.positions ? CUTIS_OK : cutis_alloc_result(r->context);
}

static cutis_result add_polygon(reader *r)
{
    size_t n = r->list_count;
    if (!cutis_arena_grow(&r->draft.arena, &r->corners, &r->corner_capacity, n, sizeof *r->corners))
        return cutis_alloc_result(r->context);
    for (size_t i = 0; i < n; i++) {
        if (r->list[i] < 0 || (uint64_t)r->list[i] >= r->vertex_count)
            return fail_at(r, CUTIS_CORRUPT_DATA, "a face refers to a vertex that is not there");
        r->corners[i] = (uint32_t)r->list[i];
    }
    cutis_result result = cutis_surface_polygon(&r->draft, r->corners, (uint32_t)n);
    return result == CUTIS_UNSUPPORTED ? fail_at(r, CUTIS_LIMIT_EXCEEDED,
                                                 "a concave polygon of many corners takes too long")
                                       : result;
}

// A strip turns over with every triangle; -1 starts a new one.
static cutis_result add_strip(reader *r)
{
    size_t start = 0;
    for (size_t i = 0; i < r->list_count; i++) {
        int64_t c = r->list[i];
        if (c == -1) {
            start = i + 1;
            continue;
        }
        if (c < 0 || (uint64_t)c >= r->vertex_count)
            return fail_at(r, CUTIS_CORRUPT_DATA, "a strip refers to a vertex that is not there");
        if (i < start + 2) continue;
        int64_t a = r->list[i - 2], b = r->list[i - 1];
        bool odd = (i - start) & 1;
        cutis_result result = cutis_surface_triangle(&r->draft, (uint32_t)(odd ? b : a),
                                                     (uint32_t)(odd ? a : b), (uint32_t)c);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

// What the lists of an element are to us.
typedef enum lists { NO_LISTS, FACES, STRIPS } lists;

static cutis_result read_lists(reader *r, const ply_element *element, lists kind)
{
    if (kind != NO_LISTS && !r->has_vertices && element->count)
        return fail_at(r, CUTIS_CORRUPT_DATA, "the faces stand before the vertices");
    // Elements without properties take no bytes, so their count is bounded by nothing: no loop.
    for (uint64_t f = 0; element->property_count && f < element->count; f++) {
        for (uint32_t i = 0; i < element->property_count; i++) {
            const ply_property *property = &r->header.properties[element->property_first + i];
            double ignored;
            cutis_result result = take_property(r, property, &ignored);
            bool corners = kind != NO_LISTS && property->count_type != PLY_NONE &&
                           (cutis_span_is(property->name, "vertex_indices") ||
                            cutis_span_is(property->name, "vertex_index"));
            if (result == CUTIS_OK && corners)
                result = kind == STRIPS ? add_strip(r) : add_polygon(r);
            if (result != CUTIS_OK) return result;
        }
    }
    return CUTIS_OK;
}

static cutis_result read_elements(reader *r)
{
    for (uint32_t e = 0; e < r->header.element_count; e++) {
        const ply_element *element = &r->header.elements[e];
        size_t needed, least = least_bytes(r, element);
        // The last number of an ASCII file needs no line end after it.
        if (!cutis_size_multiply((size_t)element->count, least, &needed) ||
            needed > bytes_left(r) + 1)
            return cut_off(r);
        lists kind = cutis_span_is(element->name, "face")        ? FACES
                     : cutis_span_is(element->name, "tristrips") ? STRIPS
                                                                 : NO_LISTS;
        cutis_result result = cutis_span_is(element->name, "vertex") ? read_vertices(r, element)
                                                                     : read_lists(r, element, kind);
        if (result != CUTIS_OK) return result;
    }
    if (r->vertex_count == 0) return fail_at(r, CUTIS_CORRUPT_DATA, "the file has no vertices");
    return CUTIS_OK;
}

static cutis_result publish(reader *r, cutis_model **out)
{
    bool normals = r->attributes[NX] && r->attributes[NY] && r->attributes[NZ];
    bool colors = r->attributes[RED] && r->attributes[GREEN] && r->attributes[BLUE];
    bool texcoords = r->attributes[S] && r->attributes[T];
    cutis_surface_draft *draft = &r->draft;
    draft->vertex_count = r->vertex_count;
    draft->normals = normals ? weave(r, NX, 3, 0) : NULL;
    draft->colors = colors ? weave(r, RED, 4, 1) : NULL;
    draft->texcoords = texcoords ? weave(r, S, 2, 0) : NULL;
    if ((normals && !draft->normals) || (colors && !draft->colors) ||
        (texcoords && !draft->texcoords))
        return cutis_alloc_result(r->context);
    return cutis_surface_publish(draft, out);
}

cutis_result cutis_ply_read(const cutis_input *input, cutis_model **out)
{
    cutis_context *context = input->context;
    reader *r = cutis_alloc_zero(context, 1, sizeof *r);
    if (!r) return cutis_alloc_result(context);
    r->input = input;
    r->context = context;
    cutis_surface_begin(&r->draft, input);
    cutis_result result = cutis_ply_read_header(input, &r->header);
    if (result == CUTIS_OK) {
        const char *body = input->data + r->header.size;
        r->text = (cutis_text){ body, input->data + input->size, r->header.line };
        r->at = (const unsigned char *)body;
        r->end = (const unsigned char *)input->data + input->size;
        result = read_elements(r);
    }
    if (result == CUTIS_OK) result = publish(r, out);
    cutis_surface_end(&r->draft);
    cutis_free(context, r, sizeof *r);
    return result;
}
