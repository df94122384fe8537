/// The header of a PLY file. Internal to the PLY reader.
#ifndef CUTIS_IO_PLY_H
#define CUTIS_IO_PLY_H

#include "io/format.h"
#include "io/text.h"

typedef enum ply_type {
    PLY_NONE = 0, ///< not a list
    PLY_I8,
    PLY_U8,
    PLY_I16,
    PLY_U16,
    PLY_I32,
    PLY_U32,
    PLY_F32,
    PLY_F64,
} ply_type;

typedef struct ply_property {
    cutis_span name;
    ply_type type;
    ply_type count_type; ///< of a list's length; PLY_NONE: a single value
} ply_property;

enum { PLY_PROPERTIES_MAX = 256, PLY_ELEMENTS_MAX = 32 };

typedef struct ply_element {
    cutis_span name;
    uint64_t count;
    uint32_t property_first, property_count;
} ply_element;

typedef enum ply_encoding { PLY_ASCII, PLY_LITTLE, PLY_BIG } ply_encoding;

typedef struct ply_header {
    ply_encoding encoding;
    ply_element elements[PLY_ELEMENTS_MAX];
    uint32_t element_count;
    ply_property properties[PLY_PROPERTIES_MAX];
    uint32_t property_count;
    size_t line; ///< of the first byte after the header
    size_t size; ///< bytes of the header
} ply_header;

uint32_t cutis_ply_size_of(ply_type type);
cutis_result cutis_ply_read_header(const cutis_input *input, ply_header *out);

#endif
