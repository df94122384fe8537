/// The finished surface of a body: whole, mirrored, labelled.
#ifndef CUTIS_SYNTH_SURFACE_H
#define CUTIS_SYNTH_SURFACE_H

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

#endif
