/// Lines through the middle of a body: a tree from its centre to every end that stands out, with
/// the thickness around each point. What limbs, parts and joints are found from.
#ifndef CUTIS_SKELETON_CENTRELINES_H
#define CUTIS_SKELETON_CENTRELINES_H

#include "skeleton/cells.h"

enum { CUTIS_END_MOST = 48 };

typedef struct cutis_line_node {
    uint32_t parent; ///< towards the centre; the centre itself: CUTIS_NOTHING
    uint32_t cell;
    vec3 point;
    double radius;  ///< of the largest ball around the point inside the body
    double section; ///< of a disc as large as the body's section across the line
    double way;     ///< from the centre, along the lines
    double reach;   ///< from the centre through the body, the shortest way
} cutis_line_node;

/// An end: the body's cells farther from the centre than `meets` make one piece around it.
typedef struct cutis_line_end {
    uint32_t node;
    double reach;      ///< from the centre through the body
    double stands_out; ///< reach less where it meets an end that reaches farther
} cutis_line_end;

typedef struct cutis_centrelines {
    cutis_cells cells;
    double *reach;          ///< per cell: from the centre through the body
    uint32_t *main;         ///< per cell: the next one towards the centre along the middle
    uint32_t centre;        ///< cell
    cutis_line_node *nodes; ///< parents before children; the first is the centre
    uint32_t count;
    cutis_line_end ends[CUTIS_END_MOST]; ///< what stands out most first
    uint32_t end_count;
    double meets[CUTIS_END_MOST][CUTIS_END_MOST]; ///< reach where two ends become one piece
} cutis_centrelines;

/// @param wanted cells, about
/// @param part   of cutis_cells_make
/// @param least  what an end must stand out by, of the diagonal of the cells
cutis_result cutis_centrelines_find(cutis_arena *arena, const cutis_closed *mesh, uint32_t wanted,
                                    bool part, double least, cutis_centrelines *out);

/// The node that every cell belongs to: the one whose ball is nearest, through the body.
/// @param owners per cell; CUTIS_NOTHING where no way leads
cutis_result cutis_centrelines_owners(const cutis_centrelines *lines, uint32_t *owners);

#endif
