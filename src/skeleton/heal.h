/// Raw labels to parts whose borders are simple, disjoint, closed loops.
#ifndef CUTIS_SKELETON_HEAL_H
#define CUTIS_SKELETON_HEAL_H

#include "skeleton/closed.h"

/// Heal mesh->labels (docs/spec/skeleton.md A1a). New labels are pieces with a suffix.
/// @param rounds at most this many; 0: 20 and 4 for every part, from the 20th on 8
/// @param notes what changed, by part
/// @return CUTIS_UNSUPPORTED: one part is left, or it does not settle; the error names the part
cutis_result cutis_heal(cutis_closed *mesh, cutis_labels *names, uint32_t rounds,
                        cutis_notes *notes, cutis_skeleton_repairs *repairs);

/// Edges between two labels.
typedef struct cutis_contact {
    uint32_t low, high;    ///< labels
    uint32_t first, count; ///< entries of the edge list
    double length;
    bool open; ///< an arc that ends where a third label begins
} cutis_contact;

/// All contacts of a labelled mesh, sorted by labels; the lists live in the arena.
typedef struct cutis_contacts {
    uint32_t count, edge_count;
    cutis_contact *contacts;
    uint32_t *edges; ///< half-edges whose own face has the lower label
} cutis_contacts;

cutis_result cutis_contacts_find(const cutis_closed *mesh, cutis_arena *arena, cutis_contacts *out);

/// The node of a tree with at least two neighbours (else the largest) that minimises the sum of
/// size * hops; ties by number. The tree of `seed` only.
/// @param starts, neighbours CSR of the tree; @param scratch 2 * count
uint32_t cutis_best_root(uint32_t seed, uint32_t count, const uint32_t *starts,
                         const uint32_t *neighbours, const double *sizes, uint32_t *scratch);

#endif
