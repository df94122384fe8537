/// The voxel domain of handle weights: which voxels a shape fills, who is next to whom, and which
/// pieces are connected. Invariants: every vertex of the shape lies in a domain voxel; two layers
/// of voxels around the domain are outside it; the grid is centred on the bounding box, so mirrors
/// and quarter turns of the shape permute voxels.
#ifndef CUTIS_FIT_HANDLES_GRID_H
#define CUTIS_FIT_HANDLES_GRID_H

#include "fit/handles/work.h"

#define CUTIS_HANDLES_NONE HANDLES_NONE

/// What is voxelised: all arrays borrowed.
typedef struct cutis_handles_shape {
    uint32_t vertex_count;
    const float *positions; ///< 3 per vertex, finite
    uint32_t triangle_count;
    const uint32_t *triangles; ///< 3 per triangle; a line is a triangle a, b, b
    uint32_t cap_count;        ///< the last so many triangles close holes
    const uint32_t *weld;      ///< per vertex: the first one of its place; NULL: not known
    uint32_t wall_count;       ///< where weld is known
    const uint32_t *walls; ///< triangles, one at every edge that three or more share, caps apart;
                           ///< NULL: not known
    uint32_t point_count;
    const uint32_t *points; ///< vertices that are a point cloud: balls around them are filled
} cutis_handles_shape;

typedef struct cutis_handles_sheets cutis_handles_sheets;

typedef struct cutis_handles_grid {
    uint32_t size[3];   ///< voxels per axis, padding included
    double origin[3];   ///< low corner of the grid
    double step;        ///< side of a voxel
    size_t dense_count; ///< product of size
    uint32_t *index;    ///< dense place (x fastest): domain voxel, or NONE
    uint32_t voxel_count;
    uint32_t *place;     ///< per domain voxel: its dense place; voxels stand tile by tile
    uint32_t *neighbour; ///< 6 per domain voxel: -x +x -y +y -z +z, or NONE
    uint32_t *component; ///< per domain voxel: its 6-connected piece, numbered by first voxel
    uint32_t component_count;
    uint32_t tile_count;      ///< tiles that hold a voxel
    uint32_t *tile_first;     ///< tile_count + 1: the first voxel of each
    uint32_t *tile_neighbour; ///< 6 per tile, in the order of voxels' neighbours, or NONE
    /// Where the surface touches itself: a voxel may be several nodes, numbered behind all voxels
    /// (fit/handles/sheets.h); the arrays above are of nodes then. NULL: it does so nowhere.
    cutis_handles_sheets *sheets;
} cutis_handles_grid;

/// @param work   has the grid and the vertices on its device afterwards
/// @param voxels along the longest side of the bounding box
/// @return CUTIS_OK, CUTIS_LIMIT_EXCEEDED (a grid beyond the memory limit), CUTIS_OUT_OF_MEMORY,
/// CUTIS_CANCELLED
cutis_result cutis_handles_grid_create(cutis_arena *arena, cutis_handles_work *work,
                                       const cutis_handles_shape *shape, uint32_t voxels,
                                       cutis_handles_grid *out);

/// Have a grid that was made elsewhere on the work's device.
cutis_result cutis_handles_work_on(cutis_handles_work *work, const cutis_handles_grid *grid);

/// The grid as kernels take it.
static inline handles_grid cutis_handles_grid_given(const cutis_handles_grid *grid)
{
    return (handles_grid){
        .origin = { grid->origin[0], grid->origin[1], grid->origin[2] },
        .step = grid->step,
        .size = { (int)grid->size[0], (int)grid->size[1], (int)grid->size[2] },
        .voxel_count = (int)grid->voxel_count,
    };
}

/// Tiles of the whole grid along each axis.
/// @return their product
static inline size_t cutis_handles_tiles(const cutis_handles_grid *grid, uint32_t *count)
{
    for (int c = 0; c < 3; c++) count[c] = (grid->size[c] + HANDLES_TILE - 1) / HANDLES_TILE;
    return (size_t)count[0] * count[1] * count[2];
}

/// The centre of a domain voxel.
void cutis_handles_voxel_centre(const cutis_handles_grid *grid, uint32_t voxel, double *centre);

/// The domain voxel at integer coordinates, NONE outside the grid or the domain.
static inline uint32_t cutis_handles_voxel_at(const cutis_handles_grid *grid, const int64_t *cell)
{
    for (int c = 0; c < 3; c++)
        if (cell[c] < 0 || cell[c] >= (int64_t)grid->size[c]) return CUTIS_HANDLES_NONE;
    return grid->index[((size_t)cell[2] * grid->size[1] + (size_t)cell[1]) * grid->size[0] +
                       (size_t)cell[0]];
}

/// The domain voxel that holds a point, or NONE.
uint32_t cutis_handles_voxel_of(const cutis_handles_grid *grid, const double *point);

/// The domain voxel whose centre is nearest to a point (ties: the lowest).
uint32_t cutis_handles_voxel_nearest(const cutis_handles_grid *grid, const double *point,
                                     double *distance);

#endif
