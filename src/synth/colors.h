/// Vertex colours: suit, skin, shoes and hair, or a coat of fur.
#ifndef CUTIS_SYNTH_COLORS_H
#define CUTIS_SYNTH_COLORS_H

#include "synth/surface.h"

/// Linear RGBA of every vertex of the surface. A vertex on a joint's loop has the colour of the
/// child's part.
/// @param colors 4 * vertex_count floats
cutis_result cutis_synth_colors(cutis_arena *arena, const synth_table *table,
                                const synth_skeleton *skeleton, const synth_surface *surface,
                                float *colors);

#endif
