/// Rigid islands: connected pieces of a mesh that no bone bends, beside others that bones do bend:
/// hats, belts, swords, plates, eyes. They are no part of the body whose weights are found, and
/// each follows one joint. Invariant: a mesh in one piece, and one none of whose pieces holds a
/// bone (a soup), has none.
#ifndef CUTIS_FIT_HANDLES_ISLANDS_H
#define CUTIS_FIT_HANDLES_ISLANDS_H

#include "fit/handles/skeleton.h"
#include "fit/handles/solve.h"

typedef struct cutis_handles_islands {
    uint32_t island_count;
    uint32_t *island; ///< per vertex: its island, or NONE; NULL where there are none
    bool *contact;    ///< per vertex of an island: whether it tells what the island follows
    uint32_t *leads;  ///< per island: the one it follows, or NONE: the body
    uint32_t *joint;  ///< per island: whom it follows, after cutis_handles_islands_follow
    uint32_t *held;   ///< per island: the joint whose bones lie in it, or NONE
    bool *touches;    ///< per pair of islands that follow the body
    double *sum;      ///< joints per island: weight there
    double *leaf;     ///< joints per island: how far a joint without children is from it
    cutis_handles_shape
        body; ///< the shape without them: their vertices stand on the body's nearest
} cutis_handles_islands;

/// @param reach vertices of an island this much farther from the body than its nearest count too
cutis_result cutis_handles_islands_find(cutis_arena *arena, const cutis_handles_shape *shape,
                                        const cutis_handles_bones *bones, double reach,
                                        cutis_handles_islands *out);

/// One joint for all vertices of each island: that of most weight where it touches the body, or a
/// joint without children that is at the island and has some of it, as a hand's slot for weapons.
void cutis_handles_islands_follow(const cutis_handles_islands *islands,
                                  const cutis_handles_bones *bones,
                                  cutis_handles_influences *influences);

#endif
