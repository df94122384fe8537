// The header of a PLY file: format, elements, properties. Invariant: every element's properties lie
// in the table, and at most one element has each of the names the reader uses.
#include "io/ply.h"

#include <string.h>

#include "base/error.h"

uint32_t cutis_ply_size_of(ply_type type)
{
    static const uint32_t SIZES[] = { 0, 1, 1, 2, 2, 4, 4, 4, 8 };
    return SIZES[type];
}

static ply_type type_named(cutis_span word)
{
    static const struct {
        const char *name;
        ply_type type;
    } TYPES[] = {
        { "char", PLY_I8 },   { "uchar", PLY_U8 },   { "short", PLY_I16 },   { "ushort", PLY_U16 },
        { "int", PLY_I32 },   { "uint", PLY_U32 },   { "float", PLY_F32 },   { "double", PLY_F64 },
        { "int8", PLY_I8 },   { "uint8", PLY_U8 },   { "int16", PLY_I16 },   { "uint16", PLY_U16 },
        { "int32", PLY_I32 }, { "uint32", PLY_U32 }, { "float32", PLY_F32 }, { "float64", PLY_F64 },
    };
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (cutis_span_is(word, TYPES[i].name)) return TYPES[i].type;
    return PLY_NONE;
}

static const char *take_format(cutis_text *text, ply_header *header)
{
    cutis_span word = cutis_text_token(text);
    if (cutis_span_is(word, "ascii"))
        header->encoding = PLY_ASCII;
    else if (cutis_span_is(word, "binary_little_endian"))
        header->encoding = PLY_LITTLE;
    else if (cutis_span_is(word, "binary_big_endian"))
        header->encoding = PLY_BIG;
    else
        return "the format is not ascii, binary_little_endian or binary_big_endian";
    return cutis_span_is(cutis_text_token(text), "1.0") ? NULL : "the format's version is not 1.0";
}

static const char *take_element(cutis_text *text, ply_header *header)
{
    if (header->element_count == PLY_ELEMENTS_MAX) return "more than 32 elements";
    ply_element *element = &header->elements[header->element_count];
    int64_t count;
    element->name = cutis_text_token(text);
    if (!cutis_parse_int(cutis_text_token(text), &count) || count < 0)
        return "an element needs a name and a count";
    for (uint32_t i = 0; i < header->element_count; i++)
        if (cutis_span_equal(header->elements[i].name, element->name))
            return "an element occurs twice";
    element->count = (uint64_t)count;
    element->property_first = header->property_count;
    element->property_count = 0;
    header->element_count++;
    return NULL;
}

static const char *take_property(cutis_text *text, ply_header *header)
{
    if (header->element_count == 0) return "a property before the first element";
    if (header->property_count == PLY_PROPERTIES_MAX) return "more than 256 properties";
    ply_property *property = &header->properties[header->property_count];
    cutis_span word = cutis_text_token(text);
    property->count_type = PLY_NONE;
    if (cutis_span_is(word, "list")) {
        property->count_type = type_named(cutis_text_token(text));
        if (property->count_type == PLY_NONE || property->count_type >= PLY_F32)
            return "the length of a list needs a whole-number type";
        word = cutis_text_token(text);
    }
    property->type = type_named(word);
    if (property->type == PLY_NONE) return "unknown type of a property";
    property->name = cutis_text_token(text);
    if (property->name.size == 0) return "a property without a name";
    header->property_count++;
    header->elements[header->element_count - 1].property_count++;
    return NULL;
}

static bool is_magic(const cutis_input *input)
{
    return input->size >= 4 && memcmp(input->data, "ply", 3) == 0 &&
           (input->data[3] == '\n' || input->data[3] == '\r');
}

cutis_result cutis_ply_read_header(const cutis_input *input, ply_header *out)
{
    memset(out, 0, sizeof *out);
    if (!is_magic(input))
        return cutis_fail(input->context, CUTIS_CORRUPT_DATA,
                          "%s: line 1: a PLY file starts with 'ply'", input->name);
    cutis_text text = cutis_text_begin(input->data, input->size);
    bool format = false;
    const char *reason = NULL;
    while (cutis_text_next_line(&text)) {
        cutis_span word = cutis_text_token(&text);
        if (cutis_span_is(word, "format")) {
            reason = format ? "a second format" : take_format(&text, out);
            format = true;
        } else if (cutis_span_is(word, "element")) {
            reason = take_element(&text, out);
        } else if (cutis_span_is(word, "property")) {
            reason = take_property(&text, out);
        } else if (cutis_span_is(word, "end_header")) {
            reason = format ? NULL : "no format before end_header";
            if (reason) break;
            cutis_text_rest(&text);
            // Exactly one line end: the next byte may be data that looks like one.
            cutis_text_next_line(&text);
            out->size = (size_t)(text.at - input->data);
            out->line = text.line;
            return CUTIS_OK;
        } else if (word.size && !cutis_span_is(word, "comment") &&
                   !cutis_span_is(word, "obj_info")) {
            reason = "unknown statement in the header";
        }
        if (reason) break;
        cutis_text_rest(&text);
    }
    return cutis_fail(input->context, CUTIS_CORRUPT_DATA, "%s: line %zu: %s", input->name,
                      text.line, reason ? reason : "the header does not end");
}
