/// Remeshing passes: edges of the wanted length, valences near six, Delaunay, vertices spread
/// evenly.
#ifndef CUTIS_SYNTH_REMESH_H
#define CUTIS_SYNTH_REMESH_H

#include "synth/mesh.h"

/// Edge length wanted = scale * size at the edge, mm.
typedef struct remesher {
    mesh *m;
    double scale;
    double edge_max; ///< no collapse may leave an edge longer than this many lengths wanted
    int snap_steps;  ///< Newton steps where a collapse puts its vertex; 0: the middle will do for
                     ///< now
} remesher;

/// Length of an edge in units of the length wanted there.
double cutis_synth_edge_ratio(const remesher *r, int32_t h);
/// Cosine of the smallest angle of a triangle.
double cutis_synth_sharpest(vec3 a, vec3 b, vec3 c);
/// May the edge of h (not of a loop or the border) be flipped: no double edge, no fold, no valence
/// below four?
bool cutis_synth_flip_is_sound(const remesher *r, int32_t h);
/// The two neighbours of v along its curve; returns how many it has.
int cutis_synth_curve_neighbours(const mesh *m, int32_t v, int32_t out[2]);
/// Collapse the edge of h if topology, constraints and geometry allow it.
bool cutis_synth_try_collapse(remesher *r, int32_t h);
/// Split the edge of h at its snapped middle; returns the new vertex. Needs space as
/// cutis_synth_mesh_split.
int32_t cutis_synth_split_middle(mesh *m, int32_t h);

void cutis_synth_flip_valence(remesher *r);
void cutis_synth_flip_delaunay(remesher *r);
void cutis_synth_smooth(remesher *r);

/// Coarsen and remesh until the whole body has about `vertices` vertices; scale is the one that
/// gave them.
cutis_result cutis_synth_remesh(remesher *r, uint32_t vertices);
/// Split the longest or collapse the shortest edges, few at a time and far apart, until the whole
/// body has exactly `vertices` vertices; then settle the mesh.
/// @return CUTIS_INTERNAL if 40 rounds were not enough
cutis_result cutis_synth_exact_count(remesher *r, uint32_t vertices);
/// Raise angles below about 22 degrees by moving vertices and flipping edges locally; vertex count,
/// topology and constraints stay.
cutis_result cutis_synth_repair(remesher *r);

#endif
