/// A body as small cubes: which are inside, how deep each lies, distances through them. Nothing is
/// asked of the mesh but that it closes; noise and facets of the surface do not matter here.
#ifndef CUTIS_SKELETON_CELLS_H
#define CUTIS_SKELETON_CELLS_H

#include "geometry/heap.h"
#include "skeleton/closed.h"

enum { CUTIS_CELL_NEIGHBOURS = 26 };

typedef struct cutis_cells {
    cutis_arena *arena;
    cutis_context *context;
    vec3 axes[3];        ///< of the grid: the body's own, so a body that is turned keeps its cells
    double diagonal;     ///< of the body's box along them
    double low[3], size; ///< corner of the grid along them, edge of a cell
    uint32_t n[3];       ///< of the grid, with a border of empty places
    uint32_t *at;        ///< per place: its cell, or CUTIS_NOTHING
    uint32_t count;
    uint32_t *places;                       ///< per cell
    double *depth;                          ///< per cell: from its centre to the surface
    ptrdiff_t steps[CUTIS_CELL_NEIGHBOURS]; ///< from a place to its neighbours
    double lengths[CUTIS_CELL_NEIGHBOURS];  ///< of those steps
} cutis_cells;

/// Cells of a mesh, about `wanted` of them; those that the surface passes through belong to it, so
/// that thin sheets hold together. Of several pieces all are there.
/// @param part take skin away that faces other skin next to it: limbs that touch come apart, and
///             folds of a coarse mesh do, too
cutis_result cutis_cells_make(cutis_arena *arena, const cutis_closed *mesh, uint32_t wanted,
                              bool part, cutis_cells *out);

/// How far a cube of edge 1 reaches along a direction, end to end.
double cutis_cells_breadth(const cutis_cells *cells, vec3 way);

vec3 cutis_cell_centre(const cutis_cells *cells, uint32_t cell);

/// The cell at a point, or the nearest within a few steps; CUTIS_NOTHING: there is none.
uint32_t cutis_cell_near(const cutis_cells *cells, vec3 point);

/// Where a march begins, and how far it already is.
typedef struct cutis_cell_start {
    uint32_t cell;
    double distance;
} cutis_cell_start;

/// Shortest ways through the cells from starts; INFINITY where none leads.
/// @param costs per cell: what a unit of length costs there; NULL: 1
/// @param from  per cell: the cell before it on its way, CUTIS_NOTHING at starts; NULL: not wanted
/// @param origin per cell: the number of the start that it was reached from; NULL: not wanted
/// @return false: out of memory
bool cutis_cells_march(const cutis_cells *cells, cutis_heap *heap, const cutis_cell_start *starts,
                       uint32_t start_count, const double *costs, double *distances, uint32_t *from,
                       uint32_t *origin);

#endif
