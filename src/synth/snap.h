/// Putting vertices on the surface, each within its class.
#ifndef CUTIS_SYNTH_SNAP_H
#define CUTIS_SYNTH_SNAP_H

#include "synth/mesh.h"

/// Where a vertex of the class of `like` comes to lie when put at `x`, and the unit normal there.
/// @param steps Newton steps at most; stops early once on the surface
vec3 cutis_synth_snap(const mesh *m, const mesh_vertex *like, vec3 x, int steps, vec3 *normal);
/// Snap a vertex where it stands.
void cutis_synth_snap_vertex(mesh *m, int32_t v, int steps);

#endif
