/// Joint planes cut into the mesh as loops of edges, and the parts between them.
#ifndef CUTIS_SYNTH_CUTS_H
#define CUTIS_SYNTH_CUTS_H

#include "synth/mesh.h"
#include "synth/skeleton.h"

/// One loop per joint row that has a cut; afterwards vertices and edges of the loops carry their
/// class.
cutis_result cutis_synth_cut(mesh *m, const synth_skeleton *skeleton);
/// The row of every triangle's part, by flood fill from the root across the loops.
/// @param labels half_count / 3 entries; the mesh must be compact
/// @return CUTIS_INTERNAL when loops and parts do not match the skeleton
cutis_result cutis_synth_label(const mesh *m, const synth_skeleton *skeleton, int32_t *labels);

#endif
