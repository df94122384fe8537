/// Inside of the blending patches: the body as parts, loops and fields while it is bound, and the
/// binding. The per-frame work is kernel text (kernel/patches*.h).
#ifndef CUTIS_DEFORM_PATCHES_H
#define CUTIS_DEFORM_PATCHES_H

#include <cutis/patches.h>

#include "base/memory.h"

/// What helps where borders or the mesh are not what patches need: a new rig of the bare body, or
/// another of its parts.
#define PATCH_HEAL                                                                                 \
    "; cutis rig --patches makes a body without that, cutis skeleton --parts parts another rig"

/// A ring of edges between two parts, welded vertices: v[i] -> v[i + 1] is an edge of a child face.
typedef struct patch_loop {
    uint32_t parent, child;
    uint32_t first, count; ///< into loop_vertices
    bool seam;
} patch_loop;

/// What a model says, welded: the first step of binding. All arrays lie in `arena`.
typedef struct patch_body {
    cutis_arena *arena;
    cutis_context *context;
    const cutis_model *model;
    const cutis_mesh *mesh;
    const cutis_skin *skin;
    uint32_t output_count;
    const uint32_t *weld; ///< per output vertex: welded vertex
    uint32_t vertex_count, face_count, part_count, loop_count;
    double *points;    ///< 3 per welded vertex
    double *normals;   ///< the same: the file's, if it has them
    double *outwards;  ///< the same: of the faces around it
    uint32_t *faces;   ///< 3 welded vertices each, in the order of the model
    uint32_t *labels;  ///< part of each face
    uint32_t *origins; ///< triangle of the model that it is
    uint32_t *files;   ///< per welded vertex: an output vertex
    uint32_t *twins;   ///< 3 per face: half-edge 3 f + k on the other side
    uint32_t *joints;  ///< per part: joint of the skin
    uint32_t *parents; ///< per part: part, or itself for the root
    patch_loop *loops;
    uint32_t *loop_vertices;
    double *centres; ///< 3 per loop
    double diagonal;
} patch_body;

static inline const char *patch_part_name(const patch_body *body, uint32_t part)
{
    const char *name = body->mesh->part_names ? body->mesh->part_names[part] : NULL;
    return name ? name : "(no name)";
}

/// One part: its vertices (ascending welded), faces with part vertices, and surroundings.
typedef struct patch_shape {
    double volume, step; ///< median edge
    double centroid[3];
    double axes[9], low[3], high[3];
} patch_shape;

/// The parts as meshes of their own: loop vertices are in both parts.
typedef struct patch_pieces {
    uint32_t vertex_count, edge_count;
    uint32_t *vertex_first, *face_first; ///< per part, + 1
    uint32_t *welded;                    ///< per part vertex
    uint32_t *vertex_part;
    int32_t *vertex_loop, *vertex_place;
    uint32_t *face_origin; ///< per face in part order: face of the body
    uint32_t *faces;       ///< 3 part vertices, part order
    uint32_t *face_edges;  ///< 3
    int32_t *face_joined;  ///< 3: face in part order, or -1
    double *edge_lengths;
    uint32_t *ring_first, *ring, *ring_edge;
    uint32_t *loop_copies; ///< 2 per place on a loop: part vertex in the parent, in the child
    patch_shape *shapes;   ///< per part
    uint32_t *skin_first;  ///< per part: the first vertex of its piece that has loops
    uint32_t detached;     ///< a part with further pieces that no other touches, or UINT32_MAX
} patch_pieces;

/// Weld, check that the mesh is closed, find loops and the tree.
cutis_result cutis_patch_body_read(const cutis_model *model, cutis_arena *arena, patch_body *out);
cutis_result cutis_patch_parts_make(const patch_body *body, patch_pieces *out);
/// Volumes, centroids and boxes; the model's own where it has a part tree.
cutis_result cutis_patch_shapes_make(const patch_body *body, patch_pieces *parts);
/// Geodesic distances (edge graph of a part) from the sources, which are part vertices of it.
/// @param distances one per vertex of the part
cutis_result cutis_patch_distances(const patch_body *body, const patch_pieces *parts, uint32_t part,
                                   const uint32_t *sources, uint32_t source_count,
                                   double *distances);

#endif
