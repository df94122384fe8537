/// The first, fine mesh of a body's surface, from a grid.
#ifndef CUTIS_SYNTH_EXTRACT_H
#define CUTIS_SYNTH_EXTRACT_H

#include "synth/mesh.h"

/// Fills the empty mesh m (context and shape set). Manifold, one component, a disc for mirrored
/// bodies (x >= 0, border on x = 0) and a sphere otherwise; vertices within a fraction of a cell of
/// the surface.
/// @return CUTIS_INTERNAL when the table does not give such a surface
cutis_result cutis_synth_extract(mesh *m, const synth_table *table);

#endif
