// Arrays of numbers: NumPy `.npy` (versions 1 to 3, any numeric type up to 8 bytes, C or Fortran
// order, either byte order) and PC2 point caches, read as floats. Invariant: the product of the
// dimensions is proven to lie inside the file before anything of that size is allocated.
#include "io/bytes.h"
#include "io/format.h"
#include "io/text.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { DIMENSIONS_MAX = 8 };

typedef struct npy_header {
    char kind; // 'f', 'i', 'u', 'b'
    bool big_endian;
    bool fortran;
    uint32_t width; // bytes of one number
    uint32_t dimension_count;
    uint64_t dimensions[DIMENSIONS_MAX];
} npy_header;

// The header is a Python dictionary in a fixed style; this walks its characters.
typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')) c->at++;
}

static bool take(cursor *c, char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

static bool take_string(cursor *c, cutis_span *out)
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
    char quote = *c->at++;
    out->data = c->at;
    while (c->at < c->end && *c->at != quote) c->at++;
    if (c->at == c->end) return false;
    out->size = (size_t)(c->at++ - out->data);
    return true;
}

static bool take_word(cursor *c, cutis_span *out)
{
    skip_space(c);
    out->data = c->at;
    while (c->at < c->end && ((*c->at >= 'a' && *c->at <= 'z') ||
                              (*c->at >= 'A' && *c->at <= 'Z') || (*c->at >= '0' && *c->at <= '9')))
        c->at++;
    out->size = (size_t)(c->at - out->data);
    return out->size > 0;
}

static bool parse_descr(cutis_span descr, npy_header *header)
{
    if (descr.size != 3) return false;
    char order = descr.data[0];
    header->kind = descr.data[1];
    header->width = (uint32_t)(descr.data[2] - '0');
    header->big_endian = order == '>';
    uint32_t w = header->width;
    bool order_known = order == '<' || order == '>' || order == '=' || (order == '|' && w == 1);
    bool real = header->kind == 'f' && (w == 4 || w == 8);
    bool whole =
        (header->kind == 'i' || header->kind == 'u') && (w == 1 || w == 2 || w == 4 || w == 8);
    return order_known && (real || whole || (header->kind == 'b' && w == 1));
}

static bool parse_shape(cursor *c, npy_header *header)
{
    if (!take(c, '(')) return false;
    header->dimension_count = 0;
    while (!take(c, ')')) {
        cutis_span word;
        int64_t value;
        if (header->dimension_count == DIMENSIONS_MAX || !take_word(c, &word)) return false;
        if (word.size > 1 && word.data[word.size - 1] == 'L') word.size--; // Python 2 wrote 3L
        if (!cutis_parse_int(word, &value) || value < 0) return false;
        header->dimensions[header->dimension_count++] = (uint64_t)value;
        if (!take(c, ',') && (c->at == c->end || *c->at != ')')) return false;
    }
    return true;
}

static const char *parse_dictionary(cursor c, npy_header *header)
{
    unsigned seen = 0;
    cutis_span key, value;
    if (!take(&c, '{')) return "the header is not a dictionary";
    while (!take(&c, '}')) {
        if (!take_string(&c, &key) || !take(&c, ':')) return "the header is not a dictionary";
        if (cutis_span_is(key, "descr")) {
            if (!take_string(&c, &value) || !parse_descr(value, header))
                return "the type of the numbers is not one of f4, f8, i1-i8, u1-u8, b1";
            seen |= 1;
        } else if (cutis_span_is(key, "fortran_order")) {
            if (!take_word(&c, &value)) return "fortran_order is neither True nor False";
            header->fortran = cutis_span_is(value, "True");
            if (!header->fortran && !cutis_span_is(value, "False"))
                return "fortran_order is neither True nor False";
            seen |= 2;
        } else if (cutis_span_is(key, "shape")) {
            if (!parse_shape(&c, header)) return "the shape is not a tuple of up to 8 counts";
            seen |= 4;
        } else {
            return "the header has an unknown key";
        }
        if (!take(&c, ',')) {
            if (!take(&c, '}')) return "the header is not a dictionary";
            break;
        }
    }
    return seen == 7 ? NULL : "the header lacks descr, fortran_order or shape";
}

static double load_number(const npy_header *header, const unsigned char *at)
{
    return cutis_load_number(at, header->kind, header->width, header->big_endian);
}

// Values in C order; in a Fortran-ordered file the first index runs fastest.
static void load_values(const npy_header *header, const unsigned char *data, size_t count,
                        float *out)
{
    if (!header->fortran || header->dimension_count < 2) {
        for (size_t i = 0; i < count; i++)
            out[i] = (float)load_number(header, data + i * header->width);
        return;
    }
    uint64_t index[DIMENSIONS_MAX] = { 0 }, stride[DIMENSIONS_MAX] = { 1 };
    for (uint32_t d = 1; d < header->dimension_count; d++)
        stride[d] = stride[d - 1] * header->dimensions[d - 1];
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)load_number(header, data + at * header->width);
        for (uint32_t d = header->dimension_count; d-- > 0;) {
            at += stride[d];
            if (++index[d] < header->dimensions[d]) break;
            at -= stride[d] * header->dimensions[d];
            index[d] = 0;
        }
    }
}

// Product of the dimensions; false if it does not fit. One dimension of 0 makes the array empty,
// however large the others.
static bool count_values(const npy_header *header, size_t *out)
{
    size_t count = 1;
    bool fits = true, empty = false;
    for (uint32_t d = 0; d < header->dimension_count; d++) {
        empty |= header->dimensions[d] == 0;
        fits = fits && cutis_size_multiply(count, (size_t)header->dimensions[d], &count);
    }
    *out = empty ? 0 : count;
    return fits || empty;
}

static cutis_result finish_array(const cutis_input *input, const npy_header *header, size_t start,
                                 cutis_array *out)
{
    cutis_context *context = input->context;
    size_t count, bytes, left = input->size - start;
    if (!count_values(header, &count) || !cutis_size_multiply(count, header->width, &bytes) ||
        bytes > left)
        return cutis_fail(
            context, CUTIS_CORRUPT_DATA,
            "%s: byte %zu: the shape needs more numbers than the %zu bytes that follow",
            input->name, start, left);
    float *values = cutis_alloc_array(context, count, sizeof *values);
    if (!values) return cutis_alloc_result(context);
    load_values(header, (const unsigned char *)input->data + start, count, values);
    memset(out, 0, sizeof *out);
    out->dimension_count = header->dimension_count;
    memcpy(out->dimensions, header->dimensions, sizeof(uint64_t) * header->dimension_count);
    out->values = values;
    return CUTIS_OK;
}

static cutis_result read_npy(const cutis_input *input, cutis_array *out)
{
    const char *data = input->data, *path = input->name;
    const size_t size = input->size;
    if (size < 10)
        return cutis_fail(input->context, CUTIS_CORRUPT_DATA, "%s: byte %zu: the header is cut off",
                          path, size);
    unsigned version = (unsigned char)data[6];
    if (version < 1 || version > 3)
        return cutis_fail(input->context, CUTIS_UNSUPPORTED_FORMAT, "%s: byte 6: .npy version %u",
                          path, version);
    size_t start = version == 1 ? 10 : 12;
    size_t length = version == 1 ? cutis_load_u16(data + 8) : 0;
    if (version > 1) length = size >= 12 ? cutis_load_u32(data + 8) : SIZE_MAX;
    if (size < start || length > size - start)
        return cutis_fail(input->context, CUTIS_CORRUPT_DATA, "%s: byte 8: the header is cut off",
                          path);
    npy_header header = { 0 };
    const char *reason = parse_dictionary((cursor){ data + start, data + start + length }, &header);
    if (reason)
        return cutis_fail(input->context, CUTIS_CORRUPT_DATA, "%s: byte %zu: %s", path, start,
                          reason);
    return finish_array(input, &header, start + length, out);
}

static cutis_result read_pc2(const cutis_input *input, cutis_array *out)
{
    const char *data = input->data, *path = input->name;
    const size_t size = input->size;
    if (size < 32)
        return cutis_fail(input->context, CUTIS_CORRUPT_DATA, "%s: byte %zu: the header is cut off",
                          path, size);
    uint32_t version = cutis_load_u32(data + 12);
    if (version != 1)
        return cutis_fail(input->context, CUTIS_UNSUPPORTED_FORMAT, "%s: byte 12: PC2 version %u",
                          path, version);
    npy_header header = { .kind = 'f', .width = 4, .dimension_count = 3 };
    header.dimensions[0] = cutis_load_u32(data + 28);
    header.dimensions[1] = cutis_load_u32(data + 16);
    header.dimensions[2] = 3;
    cutis_result result = finish_array(input, &header, 32, out);
    if (result == CUTIS_OK) out->rate = (double)cutis_load_f32(data + 24);
    return result;
}

cutis_result cutis_array_parse(const cutis_input *input, cutis_array *out)
{
    cutis_format format = cutis_format_of_content(input->data, input->size);
    if (format == CUTIS_FORMAT_NPY) return read_npy(input, out);
    if (format == CUTIS_FORMAT_PC2) return read_pc2(input, out);
    return cutis_fail(input->context, CUTIS_UNSUPPORTED_FORMAT, "%s: neither .npy nor .pc2",
                      input->name);
}

cutis_result cutis_array_read(cutis_context *context, const char *path, cutis_array *out)
{
    if (!context || !path || !out) return CUTIS_INVALID_ARGUMENT;
    memset(out, 0, sizeof *out);
    cutis_input input;
    cutis_result result = cutis_input_open(context, path, NULL, &input);
    if (result == CUTIS_OK) result = cutis_array_parse(&input, out);
    cutis_input_close(&input);
    return result;
}

void cutis_array_destroy(cutis_context *context, cutis_array *array)
{
    if (!array || !array->values) return;
    size_t count = 1;
    for (uint32_t d = 0; d < array->dimension_count; d++) count *= (size_t)array->dimensions[d];
    cutis_free_array(context, array->values, count, sizeof *array->values);
    memset(array, 0, sizeof *array);
}
