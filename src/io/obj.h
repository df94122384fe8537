/// An OBJ file as its statements say it, before it is a model. Internal to the OBJ reader.
#ifndef CUTIS_IO_OBJ_H
#define CUTIS_IO_OBJ_H

#include "io/format.h"
#include "io/names.h"

/// Indices from 0; -1: none.
typedef struct obj_corner {
    int32_t v, vt, vn;
} obj_corner;

/// One f, l or p statement.
typedef struct obj_element {
    uint32_t first, count; ///< corners
    int32_t material;      ///< into materials, or -1
    uint32_t part;         ///< into parts
    uint32_t line;
    cutis_topology topology;
} obj_element;

/// The largest index of a kind that occurred, and where: forward references are legal, so the check
/// comes last.
typedef struct obj_reach {
    int64_t index;
    size_t line;
} obj_reach;

typedef struct obj_file {
    const cutis_input *input;
    cutis_arena arena;
    float *positions, *colors, *texcoords, *normals; ///< 3, 4, 2, 3 per entry
    size_t position_capacity, color_capacity, texcoord_capacity, normal_capacity;
    size_t position_count, texcoord_count, normal_count;
    bool has_colors;
    obj_corner *corners;
    size_t corner_count, corner_capacity;
    obj_element *elements;
    size_t element_count, element_capacity;
    cutis_names materials, parts, libraries;
    int32_t material; ///< in force
    uint32_t part;    ///< in force, or UINT32_MAX before any o or g
    bool any_part;
    obj_reach reach[3];    ///< v, vt, vn
    cutis_material *looks; ///< per material, from the .mtl files; arena
} obj_file;

/// Read the material libraries the file names; those that are not there or cannot be read are only
/// logged.
cutis_result cutis_obj_read_materials(obj_file *file);
/// Turn statements into a model.
cutis_result cutis_obj_build(obj_file *file, cutis_model **out);

#endif
