/// The last vertices: exactly as many as asked for.
#ifndef CUTIS_SYNTH_COUNT_H
#define CUTIS_SYNTH_COUNT_H

#include "synth/remesh.h"

/// Split the longest or collapse the shortest edges, few at a time and far apart, until the whole
/// body has exactly `vertices` vertices; then settle the mesh.
/// @return CUTIS_INTERNAL if 40 rounds were not enough
cutis_result cutis_synth_exact_count(remesher *r, uint32_t vertices);

#endif
