/// A texture seam: the surface cut open along a simple path of edges.
#ifndef CUTIS_SYNTH_SEAM_H
#define CUTIS_SYNTH_SEAM_H

#include "synth/surface.h"

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
