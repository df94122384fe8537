/// The mesh while it is being made: triangles as half-edges, and the three operations on it.
///
/// Half-edge h runs from half[h].vertex to half[half_next(h)].vertex. The mesh is closed except,
/// for a mirrored body, along x = 0. Split, flip and collapse keep it manifold and keep its
/// topology; vertices know one outgoing half-edge, border vertices the one on the border.
#ifndef CUTIS_SYNTH_MESH_H
#define CUTIS_SYNTH_MESH_H

#include <cutis/base.h>

#include "geometry/half_edge.h"
#include "geometry/vector.h"
#include "synth/shape.h"
#include "synth/skeleton.h"

enum {
    SYNTH_FREE = 0,    ///< positive: index + 1 of the loop the vertex is on
    SYNTH_PLANE = -1,  ///< on x = 0
    SYNTH_CORNER = -2, ///< where a loop meets x = 0: fixed
};

typedef struct mesh_vertex {
    vec3 position, normal;
    double size;     ///< relative edge length wanted here
    int32_t curve;   ///< SYNTH_FREE, ... or a loop + 1
    int32_t loop;    ///< of a corner: its loop + 1
    int32_t half;    ///< outgoing; -1: vertex removed
    int32_t valence; ///< triangles around
} mesh_vertex;

typedef struct mesh_half {
    int32_t vertex; ///< start; -1 in all three: triangle removed
    int32_t twin;   ///< -1: border
    int32_t loop;   ///< loop + 1 the edge belongs to, or 0
} mesh_half;

typedef struct mesh_plane {
    vec3 point, normal;
} mesh_plane;

typedef struct mesh {
    cutis_context *context;
    mesh_vertex *vertices;
    mesh_half *halves;
    size_t vertex_capacity, half_capacity;
    int32_t vertex_count, half_count; ///< removed ones included
    int32_t vertices_live, plane_live;
    mesh_plane loops[SYNTH_JOINT_MAX];
    int loop_count;
    const shape *shape;
} mesh;

/// The next outgoing half-edge of the same vertex, counter-clockwise; -1 at the border.
static inline int32_t rotate_half(const mesh *m, int32_t h)
{
    return m->halves[half_previous(h)].twin;
}
/// The same from the vertex' own half-edge on; -1 also when that is reached again.
static inline int32_t next_around(const mesh *m, int32_t v, int32_t h)
{
    int32_t next = rotate_half(m, h);
    return next == m->vertices[v].half ? -1 : next;
}
static inline int32_t half_start(const mesh *m, int32_t h)
{
    return m->halves[h].vertex;
}
static inline int32_t half_end(const mesh *m, int32_t h)
{
    return m->halves[half_next(h)].vertex;
}
/// The half-edge from a to b, or -1.
static inline int32_t find_half(const mesh *m, int32_t a, int32_t b)
{
    int32_t h = m->vertices[a].half;
    while (h >= 0 && half_end(m, h) != b) h = next_around(m, a, h);
    return h;
}
static inline bool on_plane(const mesh_vertex *v)
{
    return v->curve == SYNTH_PLANE || v->curve == SYNTH_CORNER;
}
static inline vec3 mesh_position(const mesh *m, int32_t v)
{
    return m->vertices[v].position;
}

void cutis_synth_mesh_release(mesh *m);
/// Space for `vertices` and `halves` more; without it the operations below must not be called.
cutis_result cutis_synth_mesh_reserve(mesh *m, size_t vertices, size_t halves);
/// Twins, valences and outgoing half-edges from the triangles alone.
cutis_result cutis_synth_mesh_connect(mesh *m);
/// Drop what was removed; order is kept.
cutis_result cutis_synth_mesh_compact(mesh *m);
/// Vertices of the whole body: a mirrored one has every vertex off the plane twice.
int32_t cutis_synth_mesh_total(const mesh *m);

/// A triangle that is connected to nothing yet; returns its first half-edge. Needs space for 3
/// halves.
int32_t cutis_synth_mesh_add(mesh *m, int32_t a, int32_t b, int32_t c);
/// New vertex at `position` on the edge of h; its class follows the edge. Needs space for 1 vertex
/// and 6 halves.
int32_t cutis_synth_mesh_split(mesh *m, int32_t h, vec3 position);
/// May the edge of h be flipped without making a double edge? Border and loop edges may not.
bool cutis_synth_mesh_can_flip(const mesh *m, int32_t h);
void cutis_synth_mesh_flip(mesh *m, int32_t h);
/// May the start of h be merged into its end: topology and constraints only.
bool cutis_synth_mesh_can_collapse(const mesh *m, int32_t h);
/// The start vanishes; the end keeps its class (or becomes the corner the start was) and gets
/// `position`.
void cutis_synth_mesh_collapse(mesh *m, int32_t h, vec3 position);

/// The first, fine mesh of a body's surface, from a grid: fills the empty mesh m (context and shape
/// set). Manifold, one component, a disc for mirrored bodies (x >= 0, border on x = 0) and a sphere
/// otherwise; vertices within a fraction of a cell of the surface.
/// @return CUTIS_INTERNAL when the table does not give such a surface
cutis_result cutis_synth_extract(mesh *m, const synth_table *table);

/// Joint planes cut into the mesh as loops of edges, one per joint row that has a cut; afterwards
/// vertices and edges of the loops carry their class.
cutis_result cutis_synth_cut(mesh *m, const synth_skeleton *skeleton);
/// The row of every triangle's part, by flood fill from the root across the loops.
/// @param labels half_count / 3 entries; the mesh must be compact
/// @return CUTIS_INTERNAL when loops and parts do not match the skeleton
cutis_result cutis_synth_label(const mesh *m, const synth_skeleton *skeleton, int32_t *labels);

/// Where a vertex of the class of `like` comes to lie on the surface when put at `x`, and the unit
/// normal there.
/// @param steps Newton steps at most; stops early once on the surface
vec3 cutis_synth_snap(const mesh *m, const mesh_vertex *like, vec3 x, int steps, vec3 *normal);
/// Snap a vertex where it stands.
void cutis_synth_snap_vertex(mesh *m, int32_t v, int steps);

#endif
