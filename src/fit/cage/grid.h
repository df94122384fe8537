/// The grid of harmonic coordinates: nodes inside a cage, their six arms, and interpolation between
/// nodes and cage.
#ifndef CUTIS_FIT_CAGE_GRID_H
#define CUTIS_FIT_CAGE_GRID_H

#include "fit/cage/shape.h"

/// Values known exactly: those of a point on a triangle of the cage.
typedef struct cutis_cage_place {
    uint32_t triangle;
    double barycentric[3];
} cutis_cage_place;

typedef struct cutis_cage_grid {
    const cutis_cage_shape *shape;
    bool simple;
    uint32_t size[3]; ///< nodes per axis, padding included
    double origin[3], step;
    int32_t *index;      ///< dense (x fastest): node, or -1 outside
    uint32_t node_count; ///< inside; sorted by colour (parity of the coordinate sum)
    uint32_t red_count;
    uint32_t *place;      ///< per node: its dense place
    int32_t *neighbours;  ///< 6 per node (-x +x -y +y -z +z); the node itself where an arm ends in
                          ///< the cage
    double *coefficients; ///< 6 per node, sum 1 with what is fixed; 0 where the cage ends an arm
    int32_t *rows;        ///< per node: its row of fixed values, or -1
    uint32_t row_count;
    uint32_t *row_first; ///< row_count + 1
    uint32_t *row_control;
    double *row_value;
    uint32_t *cell_first; ///< dense places + 1: triangles that may touch a cell
    uint32_t *cell_triangle;
} cutis_cage_grid;

/// @param resolution nodes along the longest side of the cage
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (no node is inside), CUTIS_LIMIT_EXCEEDED,
/// CUTIS_OUT_OF_MEMORY, CUTIS_CANCELLED
cutis_result cutis_cage_grid_create(cutis_arena *arena, const cutis_cage_shape *shape,
                                    uint32_t resolution, bool simple, cutis_cage_grid *out);

/// A convex combination of nodes and controls: what a value at a point is made of.
#define CUTIS_CAGE_LEAVES 8
typedef struct cutis_cage_blend {
    uint32_t node_count, control_count;
    uint32_t node[CUTIS_CAGE_LEAVES], control[3 * CUTIS_CAGE_LEAVES];
    double node_weight[CUTIS_CAGE_LEAVES], control_weight[3 * CUTIS_CAGE_LEAVES];
} cutis_cage_blend;

/// Interpolation at a point inside: trilinear, where the cage cuts the cell between it and the
/// nodes on this side. Exact for linear functions, never negative.
void cutis_cage_grid_blend(const cutis_cage_grid *grid, const double *point, cutis_cage_blend *out);

#endif
