/// Weighted Laplace systems on voxels, many right-hand sides at once: conjugate gradients with a
/// multigrid cycle as preconditioner, by kernel/handles_levels.h and handles_multigrid.h on any
/// device. The same bits for any number of threads, lanes and fields beside each other.
#ifndef CUTIS_FIT_HANDLES_MULTIGRID_H
#define CUTIS_FIT_HANDLES_MULTIGRID_H

#include "fit/handles/grid.h"

#define CUTIS_HANDLES_LEVELS 12
#define CUTIS_HANDLES_COARSE 24  ///< nodes that are few enough for plain sweeps
#define CUTIS_HANDLES_SWEEPS 12  ///< symmetric sweeps on the coarsest level
#define CUTIS_HANDLES_CYCLES 500 ///< most iterations
/// Systems of more nodes visit the second level twice a cycle: 9 iterations at any size where one
/// visit takes 11 to 15. Below, what the small levels cost in waits and launches is more than that.
#define CUTIS_HANDLES_LARGE (1u << 17)
/// Iterations after which one visit must do: two are positive definite only while a visit goes less
/// than twice too far, which thin sheets, rods and a solid ball do not keep to (they then stand
/// still). More than twice what two visits take where they work.
#define CUTIS_HANDLES_PATIENCE 24

/// One level: nodes with up to six neighbours each, sorted into two colours (parity of the
/// coordinate sum); neighbours always have the other colour. A node is a free voxel or a block of
/// 2 x 2 x 2 finer nodes, so every level has the same form.
typedef struct cutis_handles_level {
    uint32_t at;               ///< its first node in the arrays that all levels share
    uint32_t count, red_count; ///< the first red_count nodes are of the first colour
} cutis_handles_level;

typedef struct cutis_handles_system {
    const cutis_handles_grid *grid;
    uint32_t level_count;
    uint32_t visits; ///< of level 1 in a cycle, at first
    cutis_handles_level levels[CUTIS_HANDLES_LEVELS];
    uint32_t iteration_count; ///< most of any solve so far
    double progress;          ///< what the caller is told while a solve goes on
} cutis_handles_system;

/// Number the levels beyond the finest, which is there: on the host, as the kernels do, and with
/// the pieces of cut blocks apart.
cutis_result cutis_handles_levels_number(cutis_handles_work *work, cutis_handles_system *system);

/// Number the nodes of all voxels that the work's `owner` leaves free (every piece has one that it
/// does not), and their blocks; fill in conductances from the work's `conductance`, which is
/// symmetric, > 0 where there is a neighbour.
cutis_result cutis_handles_system_create(cutis_handles_work *work, const cutis_handles_grid *grid,
                                         cutis_handles_system *out);

/// Fields that are solved together when this many are left: all lanes of a node are an item on a
/// CPU, eight, four or two.
uint32_t cutis_handles_lanes(const cutis_handles_work *work, const cutis_handles_system *system,
                             uint32_t left);

/// Solve for sites [first, first + lanes): 1 on voxels that the work's `owner` fixes to the site, 0
/// on those of others, into the work's `x`. It starts from 1 where the site is nearest (`label`).
/// @param tolerance largest |residual| / diagonal
cutis_result cutis_handles_system_solve(cutis_handles_work *work, cutis_handles_system *system,
                                        uint32_t first, uint32_t lanes, double tolerance);

#endif
