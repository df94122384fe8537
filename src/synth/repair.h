/// The last few sharp triangles: found one by one and mended.
#ifndef CUTIS_SYNTH_REPAIR_H
#define CUTIS_SYNTH_REPAIR_H

#include "synth/remesh.h"

/// Raise angles below about 22 degrees by moving vertices and flipping edges locally; vertex count,
/// topology and constraints stay.
cutis_result cutis_synth_repair(remesher *r);

#endif
