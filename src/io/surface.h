/// One mesh of one primitive while a reader fills it in: vertices with what the file has of them,
/// and triangles. For formats that hold a surface and nothing else (PLY, OFF, STL).
#ifndef CUTIS_IO_SURFACE_H
#define CUTIS_IO_SURFACE_H

#include "io/format.h"
#include "io/polygon.h"

/// Arrays are the arena's; NULL where the file has none.
typedef struct cutis_surface_draft {
    const cutis_input *input;
    cutis_arena arena;
    size_t vertex_count;
    float *positions, *normals, *colors, *texcoords; ///< 3, 3, 4, 2 a vertex
    uint32_t *indices;
    size_t index_count, index_capacity;
    uint32_t *parts; ///< a triangle, for `part_names`
    uint32_t part_count;
    const char *const *part_names;
    cutis_polygons polygons;
} cutis_surface_draft;

void cutis_surface_begin(cutis_surface_draft *draft, const cutis_input *input);
void cutis_surface_end(cutis_surface_draft *draft);

/// Indices must be proven to be vertices.
cutis_result cutis_surface_triangle(cutis_surface_draft *draft, uint32_t a, uint32_t b, uint32_t c);
/// The same, as count - 2 triangles; fewer than 3 corners are nothing.
/// @return CUTIS_UNSUPPORTED without a text: it takes too long, which the caller says with the
/// place
cutis_result cutis_surface_polygon(cutis_surface_draft *draft, const uint32_t *corners,
                                   uint32_t count);
/// A model of one node, named after the file. Without triangles it is a cloud of points.
cutis_result cutis_surface_publish(cutis_surface_draft *draft, cutis_model **out);

#endif
