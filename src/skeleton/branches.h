/// Distances over a surface, and the limbs that they show: where far ends of a body part from each
/// other when it is swept from them to its middle.
#ifndef CUTIS_SKELETON_BRANCHES_H
#define CUTIS_SKELETON_BRANCHES_H

#include "skeleton/closed.h"
#include "geometry/heap.h"

/// A front that marches over a mesh.
typedef struct cutis_front {
    cutis_closed *mesh;
    cutis_heap heap;
    uint8_t *fixed; ///< per vertex
} cutis_front;

/// Distances over one shell from a vertex, up to `limit`; INFINITY beyond. *far is the farthest.
/// false: out of memory.
bool cutis_march(cutis_front *w, uint32_t source, double limit, double *distances, uint32_t *far);

/// The vertex of a list with the least mean distance to far points that are far from each other.
/// @param distances, sum, least scratch per vertex
bool cutis_find_middle(cutis_front *w, const uint32_t *list, uint32_t count, uint64_t seed,
                       double *distances, double *sum, double *least, uint32_t *out);

/// A stretch of a body between two places where it branches, or to a far end.
typedef struct cutis_stretch {
    double low, high; ///< of the field
    uint32_t parent;  ///< the stretch below, or CUTIS_NOTHING
    uint32_t alias;   ///< joined to this one; itself if not
    uint32_t tip;     ///< its farthest vertex, or CUTIS_NOTHING: an inner stretch
} cutis_stretch;

typedef struct cutis_branches {
    cutis_closed *mesh;
    cutis_arena *arena;
    const double *field; ///< per vertex
    double tall;         ///< what stands out by more is a branch, by less a bump
    cutis_stretch *arcs;
    uint32_t count;
    size_t capacity;
    uint32_t *up;   ///< union-find over vertices; CUTIS_NOTHING outside the list
    uint32_t *open; ///< per representative: the stretch that is growing downwards
    double *peak;   ///< per representative
} cutis_branches;

/// Arrays of vertex_count in the arena. false: out of memory.
bool cutis_branches_make(cutis_branches *b, cutis_closed *mesh, cutis_arena *arena,
                         const double *field);

/// Sweep the vertices of a list from the far ends of the field inwards; what an earlier sweep found
/// is forgotten. false: out of memory.
bool cutis_branches_find(cutis_branches *b, const uint32_t *list, uint32_t count, double tall);

/// Does stretch a end in a tip and hang on another?
static inline bool cutis_is_limb(const cutis_branches *b, uint32_t a)
{
    const cutis_stretch *own = &b->arcs[a];
    return own->alias == a && own->tip != CUTIS_NOTHING && own->parent != CUTIS_NOTHING;
}

#endif
