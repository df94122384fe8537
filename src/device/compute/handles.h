/// Kernels of handle weights (kernel/handles.h) for GPUs. Arguments stand as in the text.
#ifndef CUTIS_DEVICE_COMPUTE_HANDLES_H
#define CUTIS_DEVICE_COMPUTE_HANDLES_H

#include "device/compute/basic.h"

#define CUTIS_HANDLES_SLOTS 16 ///< most influences a vertex keeps there

extern const cutis_compute_kernel cutis_compute_handles_start, cutis_compute_handles_sweep,
    cutis_compute_handles_conduct, cutis_compute_handles_finest, cutis_compute_handles_coarse,
    cutis_compute_handles_begin, cutis_compute_handles_divide, cutis_compute_handles_smooth,
    cutis_compute_handles_restrict, cutis_compute_handles_prolong, cutis_compute_handles_coarsest,
    cutis_compute_handles_dot, cutis_compute_handles_turning, cutis_compute_handles_turn,
    cutis_compute_handles_apply, cutis_compute_handles_stepping, cutis_compute_handles_advance,
    cutis_compute_handles_worst, cutis_compute_handles_done, cutis_compute_handles_values,
    cutis_compute_handles_sample;

/// kernel/handles_virtual.h.
extern const cutis_compute_kernel cutis_compute_handles_scatter, cutis_compute_handles_boxes,
    cutis_compute_handles_around, cutis_compute_handles_fields, cutis_compute_handles_keep,
    cutis_compute_handles_apart, cutis_compute_handles_cover, cutis_compute_handles_peaks,
    cutis_compute_handles_rank, cutis_compute_handles_bound, cutis_compute_handles_near,
    cutis_compute_handles_support, cutis_compute_handles_clash, cutis_compute_handles_gain,
    cutis_compute_handles_borders, cutis_compute_handles_faces, cutis_compute_handles_fold,
    cutis_compute_handles_pack;

/// kernel/handles_levels.h.
extern const cutis_compute_kernel cutis_compute_handles_split, cutis_compute_handles_nodes,
    cutis_compute_handles_map, cutis_compute_handles_firsts, cutis_compute_handles_heads,
    cutis_compute_handles_blocks, cutis_compute_handles_family, cutis_compute_handles_children;

/// kernel/handles_grid.h.
extern const cutis_compute_kernel cutis_compute_handles_surfaces, cutis_compute_handles_corners,
    cutis_compute_handles_balls, cutis_compute_handles_flood, cutis_compute_handles_rows,
    cutis_compute_handles_number, cutis_compute_handles_links, cutis_compute_handles_pieces,
    cutis_compute_handles_roots, cutis_compute_handles_names;

#endif
