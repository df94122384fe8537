/// Weighted Laplace systems on voxels, many right-hand sides at once: conjugate gradients with a
/// multigrid cycle as preconditioner. The same bits for any number of threads.
#ifndef CUTIS_FIT_HANDLES_MULTIGRID_H
#define CUTIS_FIT_HANDLES_MULTIGRID_H

#include "fit/handles_grid.h"

#define CUTIS_HANDLES_LANES  8 ///< most right-hand sides solved together
#define CUTIS_HANDLES_LEVELS 12
#define CUTIS_HANDLES_COARSE 24  ///< nodes that are few enough for plain sweeps
#define CUTIS_HANDLES_SWEEPS 12  ///< symmetric sweeps on the coarsest level
#define CUTIS_HANDLES_CYCLES 500 ///< most iterations
#define CUTIS_HANDLES_SUM    128 ///< nodes of a partial sum; sums of these run in order
/// Systems of more nodes visit the second level twice a cycle: 9 iterations at any size where one
/// visit takes 11 to 15. Below, what the small levels cost in waits and launches is more than that.
#define CUTIS_HANDLES_LARGE (1u << 17)
/// Iterations after which one visit must do: two are positive definite only while a visit goes less
/// than twice too far, which shapes of thin sheets and rods come near.
#define CUTIS_HANDLES_PATIENCE 100

/// One level: nodes with up to six neighbours each. Nodes are sorted into two colours (parity of
/// the coordinate sum), and neighbours always have the other colour.
typedef struct cutis_handles_level {
    uint32_t count, red_count;  ///< the first red_count nodes are of the first colour
    uint32_t *neighbour;        ///< 6 per node; the node itself where there is none
    double *conductance;        ///< 6 per node; 0 where there is no neighbour
    double *diagonal, *inverse; ///< per node: row sum with what goes to fixed voxels, and 1 / that
    uint32_t *cell;             ///< 3 per node: coordinates
    uint32_t *child_first;      ///< count + 1, into child; nodes of the finer level
    uint32_t *child;
    uint32_t *order;  ///< nodes by their first child: so their children are passed through once
    uint32_t *parent; ///< per node: node of the coarser level
    double *b, *x;    ///< lanes per node (coarser levels only)
} cutis_handles_level;

typedef struct cutis_handles_system {
    const cutis_handles_grid *grid;
    uint32_t level_count;
    uint32_t visits; ///< of level 1 in a cycle, at first
    cutis_handles_level levels[CUTIS_HANDLES_LEVELS];
    uint32_t *node;            ///< per voxel: node of level 0, or NONE (fixed)
    uint32_t *voxel;           ///< per node of level 0: its voxel
    uint32_t lanes;            ///< of the vectors: 8 (so it is made), 4 or 2
    double *x, *r, *p, *q, *z; ///< `lanes` per node of level 0, with room for LANES
    double *partial;           ///< sums per chunk
    uint32_t iteration_count;  ///< most of any solve so far
} cutis_handles_system;

/// @return visits of level 1 in a cycle of a system whose levels are counted
static inline uint32_t cutis_handles_visits(const cutis_handles_system *system)
{
    return system->levels[0].count > CUTIS_HANDLES_LARGE && system->level_count > 2 ? 2 : 1;
}

/// Build the system of all voxels that are not fixed.
/// @param fixed       per voxel: owner, or NONE if it is free; every component has a fixed voxel
/// @param conductance per voxel and direction as grid->neighbour; symmetric, > 0 where there is a
/// neighbour
bool cutis_handles_system_create(cutis_arena *arena, const cutis_handles_grid *grid,
                                 const uint32_t *fixed, const double *conductance,
                                 cutis_handles_system *out);

/// Solve for owners [first, first + lanes): value 1 on voxels fixed to the owner, 0 on those fixed
/// to others. system->x holds the start and then the solution.
/// @param tolerance largest |residual| / diagonal
void cutis_handles_system_solve(cutis_handles_system *system, cutis_device *device,
                                const uint32_t *fixed, const double *conductance, uint32_t first,
                                double tolerance);

#endif
