/// Inside VIRTUAL weighting (handles/virtual.c): fields of sites (handles/slots.c), and insertion
/// of virtual handles by marching (handles/insert.c) or by sweeps (handles/insert_sweep.c). Both
/// insert the same handles in the same order.
#ifndef CUTIS_FIT_HANDLES_INSERT_H
#define CUTIS_FIT_HANDLES_INSERT_H

#include "fit/handles/distance.h"
#include "fit/handles/virtual.h"

#define CUTIS_HANDLES_BATCH 16 ///< fields marched together, each with a front of its own

/// A voxel of a support, and how much of its radius away.
typedef struct cutis_handles_entry {
    uint32_t voxel;
    float ratio;
} cutis_handles_entry;

/// A virtual handle.
typedef struct cutis_handles_inserted {
    uint32_t voxel;
    double radius;
    uint32_t entry_count;
    cutis_handles_entry *entries; ///< marching: its support, in the scratch arena
} cutis_handles_inserted;

typedef struct cutis_handles_insertion {
    cutis_handles_work *work;
    cutis_arena *arena, *scratch;
    const cutis_handles_grid *grid;
    const cutis_handles_sites *sites;
    const uint32_t *label, *owner; ///< per voxel
    const cutis_handles_virtual_options *options;
    cutis_handles_virtual *out;
    cutis_handles_front fronts[CUTIS_HANDLES_BATCH]; ///< marching
    uint32_t *slot;      ///< per site: where its field is in the work's `site_fields`
    double *site_radius; ///< per site
    double radius_max;   ///< largest of a virtual handle
    double radius_least;
    cutis_handles_inserted *inserted; ///< out->virtual_count
    size_t inserted_capacity;
    uint32_t *peak_mask;    ///< bits of voxels, scratch of every round
    uint32_t list_capacity; ///< sweeps: entries of a voxel
} cutis_handles_insertion;

/// Fields of all sites; only those that are not there yet are marched.
cutis_result cutis_handles_site_fields(cutis_handles_insertion *in);

/// Maxima of the work's `cover` above HANDLES_TAU, ascending. @param list space for voxel_count
cutis_result cutis_handles_peaks(cutis_handles_insertion *in, uint32_t *list, uint32_t *count);

/// One virtual handle more. false: out of memory
bool cutis_handles_insert(cutis_handles_insertion *in, cutis_handles_inserted handle);

/// Virtual handles until everything is covered. The work's `cover` is of all handles afterwards.
cutis_result cutis_handles_insert_march(cutis_handles_insertion *in);
/// @param fits false: a list of handles that reach a voxel was full
cutis_result cutis_handles_insert_sweep(cutis_handles_insertion *in, bool *fits);

/// Lists of the handles that reach each voxel, into `out` and the work's buffers.
cutis_result cutis_handles_lists_march(cutis_handles_insertion *in);
cutis_result cutis_handles_lists_sweep(cutis_handles_insertion *in);

/// What sites cover. @param capacity of the lists, whose first entries they get; 0: no lists
cutis_result cutis_handles_cover_sites(cutis_handles_insertion *in, uint32_t capacity);

/// Sweep `count` fields from their starts until nothing changes; they end in the work's `field`.
/// @param unit_count of the work's `units`; 0: all voxels of all fields
cutis_result cutis_handles_sweep_fields(cutis_handles_insertion *in, uint32_t count,
                                        uint32_t unit_count);
/// Memory for that, nothing reached yet.
cutis_result cutis_handles_reserve_sweep(cutis_handles_insertion *in, uint32_t count);
/// Fields that are swept together.
uint32_t cutis_handles_sweep_most(const cutis_handles_grid *grid);

/// Harmonic fields on the dual graph of the Voronoi cells of all handles, real and virtual: how
/// much of each real handle's transform a virtual one takes (handles/dual.c).
/// A face between voxels of two cells.
typedef struct cutis_handles_face {
    uint32_t a, b;         ///< handles, a < b; sites first, then virtual ones
    double length, factor; ///< of the way between them; what conductance falls by far from sites
} cutis_handles_face;

/// @param voxel per virtual handle: where it is
/// @param faces between cells of different handles, those of two cells in any fixed order
/// @return site_count shares per virtual handle, >= 0, sum 1, in the arena; NULL if memory ran out
double *cutis_handles_dual_solve(cutis_arena *arena, cutis_device *device,
                                 const cutis_handles_grid *grid, const cutis_handles_sites *sites,
                                 uint32_t virtual_count, const uint32_t *voxel,
                                 const cutis_handles_face *faces, size_t face_count);

#endif
