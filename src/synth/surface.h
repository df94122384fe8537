/// The finished surface of a body: whole, mirrored, labelled; and what is put on it.
#ifndef CUTIS_SYNTH_SURFACE_H
#define CUTIS_SYNTH_SURFACE_H

#include <cutis/model.h>

#include "base/memory.h"
#include "synth/skeleton.h"
#include "synth/shape.h"

typedef struct synth_surface {
    uint32_t vertex_count, triangle_count;
    vec3 *positions;     ///< mm
    vec3 *normals;       ///< unit, of the shape function
    uint32_t *triangles; ///< 3 each, outside to the left
    uint32_t *labels;    ///< joint of each triangle's part
    uint32_t
        *mirror; ///< the vertex on the other side; itself on x = 0 and on bodies without mirror
} synth_surface;

/// All steps from the table to the whole surface with exactly `vertices` vertices.
cutis_result cutis_synth_surface_build(cutis_arena *arena, const synth_table *table,
                                       const synth_skeleton *skeleton, uint32_t vertices,
                                       synth_surface *out);
/// The same of a shape that is initialised already, which it releases.
/// @param table what of it is not the shape: name, box, cell, mirrored
/// @param skeleton NULL: no joint is cut in; the labels are left to the caller
cutis_result cutis_synth_surface_of_shape(cutis_arena *arena, const synth_table *table, shape *s,
                                          const synth_skeleton *skeleton, uint32_t vertices,
                                          synth_surface *out);

/// Linear RGBA of every vertex of the surface: suit, skin, shoes and hair, or a coat of fur. A
/// vertex on a joint's loop has the colour of the child's part.
/// @param colors 4 * vertex_count floats
cutis_result cutis_synth_colors(cutis_arena *arena, const synth_table *table,
                                const synth_skeleton *skeleton, const synth_surface *surface,
                                float *colors);

/// Influences in the arena, at most 8 a vertex, largest first, sums 1. Mirrored bodies get mirrored
/// weights, to the last rounding.
cutis_result cutis_synth_weights(cutis_arena *arena, const synth_skeleton *skeleton,
                                 const synth_surface *surface, cutis_influences *out);

/// A texture seam: the surface cut open along a simple path of edges.
typedef struct synth_seam {
    uint32_t path_count; ///< vertices of the path: edges + 1
    uint32_t *path;      ///< from the smallest x towards the largest
    uint32_t copy_count; ///< path_count - 2: the path's inner vertices again
    uint32_t *copies;    ///< the vertex each new one is a copy of; number surface->vertex_count + i
} synth_seam;

/// Cut along `edges` edges. Triangles to the right of the path then use the copies; no triangle is
/// added.
cutis_result cutis_synth_seam_cut(cutis_arena *arena, synth_surface *surface, uint32_t edges,
                                  synth_seam *out);

#endif
