/// The functions of kernel/handles.h as C, for what the host does in order: the arithmetic of one
/// voxel or point is the kernels'.
#ifndef CUTIS_FIT_HANDLES_TEXT_H
#define CUTIS_FIT_HANDLES_TEXT_H

#include "fit/handles/sheets.h"

static inline handles_point cutis_handles_point(const double *p)
{
    return handles_make(p[0], p[1], p[2]);
}

/// Taps of a point in a node (NONE: none): those that it reaches.
static inline void cutis_handles_taps_in(const cutis_handles_grid *grid, uint32_t node,
                                         const double *point, handles_taps *out)
{
    out->count = 0;
    if (node == HANDLES_NONE) return;
    if (cutis_handles_cut_near(grid, point)) {
        cutis_handles_block block = { .node = HANDLES_NONE };
        cutis_handles_taps_of(grid, node, point, &block, out);
    } else
        handles_taps_at(grid->index, cutis_handles_grid_given(grid), cutis_handles_point(point), 1,
                        out);
}

/// Taps of any point; none if it is not in the domain.
static inline void cutis_handles_taps_at(const cutis_handles_grid *grid, const double *point,
                                         bool connected, handles_taps *out)
{
    if (connected)
        cutis_handles_taps_in(grid, cutis_handles_node_of(grid, point), point, out);
    else if ((out->count = 0, cutis_handles_voxel_of(grid, point)) != HANDLES_NONE)
        handles_taps_at(grid->index, cutis_handles_grid_given(grid), cutis_handles_point(point), 0,
                        out);
}

#endif
