/// Intrinsic distances: shortest ways inside the domain, by fast marching (first-order Godunov
/// steps in order of distance; around a site exact distances in line of sight).
#ifndef CUTIS_FIT_HANDLES_DISTANCE_H
#define CUTIS_FIT_HANDLES_DISTANCE_H

#include "fit/handles/site.h"

#define CUTIS_HANDLES_EXACT_STEPS                                                                  \
    5.0 ///< voxels around a site with straight distances: error 1.7
        ///< voxels at 128

/// Scratch memory of one march at a time, and its result. `distance` is HANDLES_INFINITY where the
/// front has not passed; `reached` lists the voxels it has passed, in order of distance.
typedef struct cutis_handles_front {
    const cutis_handles_grid *grid;
    float *distance;   ///< per voxel
    float *pending;    ///< per voxel: least distance found so far
    uint32_t *label;   ///< per voxel: source of the shortest way, NONE where not reached
    uint32_t *reached; ///< reached_count
    uint32_t reached_count;
    uint64_t *heap; ///< voxels that may be next: bits of the distance, then the voxel
    uint32_t *slot; ///< per voxel: place in the heap, NONE if not there
    uint32_t heap_count;
    uint32_t touched_count;
    uint32_t *touched; ///< voxels whose state must be cleared
    // Of a march to the end, per tile; all zero or NONE between two.
    uint64_t *fresh;      ///< 8 words: voxels whose neighbours must look at them
    uint32_t *tile_link;  ///< 2: tiles before and after in the queue
    uint32_t *tile_queue; ///< its queue, NONE if in none
} cutis_handles_front;

bool cutis_handles_front_init(cutis_arena *arena, const cutis_handles_grid *grid,
                              cutis_handles_front *out);
/// Forget the last march; costs what it touched.
void cutis_handles_front_clear(cutis_handles_front *front);
/// Start from a site: all its voxels within five steps that see it get their straight distance.
void cutis_handles_front_start(cutis_handles_front *front, const cutis_handles_site *site,
                               uint32_t label);
/// Pass the next voxel; NONE when nothing is left.
uint32_t cutis_handles_front_step(cutis_handles_front *front);

/// March to the end, right after the starts; `reached` stays empty.
void cutis_handles_front_finish(cutis_handles_front *front);

#define CUTIS_HANDLES_SWEEPS_A_LOOK 16 ///< sweeps between two looks at whether anything changed

/// Distances to the nearest handle, and whose they are (handles/nearest.c). One march from all
/// sites, and from virtual handles in voxels (labels after the sites'), into the work's `distance`
/// and `label`: HANDLES_INFINITY and NONE where no handle can be reached. `bars` is there
/// afterwards.
/// @param scratch owns what the buffers of a CPU device are
/// @param front   of a CPU, to be used again; or NULL
cutis_result cutis_handles_nearest(cutis_handles_work *work, cutis_arena *scratch,
                                   const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                                   uint32_t virtual_count, const uint32_t *voxel,
                                   cutis_handles_front *front);

#endif
