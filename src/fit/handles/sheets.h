/// Sheets: where two sheets of a shape's own surface pass through one voxel, or through two side by
/// side, with nothing of the body between them, the voxel gets a node for each connected piece of
/// the inside, and pieces that only touch are not linked. What is called a voxel elsewhere is such
/// a node; nearly all voxels have one. Invariant: nodes below `regular` are the voxels as they
/// were; a shape whose surface touches itself nowhere has no others, and all its links.
#ifndef CUTIS_FIT_HANDLES_SHEETS_H
#define CUTIS_FIT_HANDLES_SHEETS_H

#include "fit/handles/grid.h"
#include "kernel/handles.h"

#define CUTIS_HANDLES_LAYERS HANDLES_LAYERS

struct cutis_handles_sheets {
    cutis_handles_shape shape; ///< borrowed
    const uint32_t *weld;      ///< per vertex
    int8_t *side;     ///< per triangle: 1 its normal points out, -1 in, 0 it bounds nothing solid
    uint32_t *solid;  ///< per triangle: its connected piece, a vertex
    uint32_t regular; ///< voxels
    uint32_t *first, *triangle; ///< per voxel: the triangles of solids that touch it
    uint32_t *node;             ///< per such triangle: its node there
    uint32_t *next;             ///< per node: another one of the same voxel, or NONE
    uint32_t *sight;            ///< dense: the grid's index, less voxels where something is cut
    uint8_t *near;              ///< dense: a block of 4 x 4 x 4 from there on has such a voxel
    uint32_t *vertex;           ///< per vertex: its node
    uint8_t *passed; ///< per vertex: whether its taps look at such a voxel; kernels pass over it
    uint32_t *piece; ///< per node in a cut block of 2 x 2 x 2 places: the first one of its piece
                     ///< there; else NONE
    uint32_t cut_count;
};

/// Split a grid's voxels; its place and neighbour arrays are replaced where something is cut.
/// @param made whether something is: grid->sheets is set, and voxel_count counts nodes
cutis_result cutis_handles_sheets_make(cutis_arena *arena, cutis_device *device,
                                       const cutis_handles_shape *shape, cutis_handles_grid *grid,
                                       bool *made);

/// The pieces of cut blocks, after the links. @return false: out of memory
bool cutis_handles_sheets_pieces(cutis_arena *arena, cutis_arena *scratch,
                                 const cutis_handles_grid *grid, cutis_handles_sheets *sheets);

/// `near` and `passed`, after `sight`. @return false: out of memory
bool cutis_handles_sheets_near(cutis_arena *arena, const cutis_handles_grid *grid,
                               cutis_handles_sheets *sheets);

/// How far a point (in voxels from the grid's low corner) is inside some triangles' surface:
/// positive inside, by the nearest of them. @param nearest the nearest point, or NULL
double cutis_handles_depth(const cutis_handles_grid *grid, const cutis_handles_sheets *sheets,
                           const uint32_t *triangles, const uint32_t *nodes, uint32_t count,
                           uint32_t node, const double *point, double *nearest);

/// The node of a point: of several in its voxel the one that holds it deepest; NONE outside.
uint32_t cutis_handles_node_of(const cutis_handles_grid *grid, const double *point);

/// Where a bone that was in a node is at a point: in the node of the point's voxel that is reached
/// within three steps; where its limb is not there (it is deep inside of another) in the nearest
/// one of the limb, going nearer from node to node. NONE outside the domain.
uint32_t cutis_handles_node_next(const cutis_handles_grid *grid, uint32_t from,
                                 const double *point);

/// Whether a node is of a point's voxel.
bool cutis_handles_node_holds(const cutis_handles_grid *grid, uint32_t node, const double *point);

/// The node at b, on the straight way from a, which is in `node`: through links where there are
/// any.
uint32_t cutis_handles_node_along(const cutis_handles_grid *grid, uint32_t node, const double *a,
                                  const double *b);

/// Whether the taps of a point look at a voxel where something is cut.
bool cutis_handles_cut_near(const cutis_handles_grid *grid, const double *point);

/// What a node reaches by links inside a block of 4 x 4 x 4 voxels: the taps of all points of the
/// node that look at this block.
typedef struct cutis_handles_block {
    uint32_t node; ///< NONE: nothing yet
    int own;       ///< its place in the block, x + 4 y + 16 z
    int count;
    uint32_t reached[64]; ///< nodes, by ascending places
    uint8_t place[64];
} cutis_handles_block;

/// Taps of a point that lies in a node: those that it reaches by links inside the block.
/// @param block kept from point to point; made anew where it is another one's
void cutis_handles_taps_of(const cutis_handles_grid *grid, uint32_t node, const double *point,
                           cutis_handles_block *block, handles_taps *out);

#endif
