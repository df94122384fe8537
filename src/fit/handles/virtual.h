/// VIRTUAL weighting, the paper's construction: supports of limited size around the sites, virtual
/// handles where no support reaches, their transforms from harmonic fields on the dual graph of the
/// Voronoi cells. The virtual handles are folded into the values of the real ones.
#ifndef CUTIS_FIT_HANDLES_VIRTUAL_H
#define CUTIS_FIT_HANDLES_VIRTUAL_H

#include "fit/handles/field.h"

/// Part of the way to the first core that a virtual handle's support goes. All of it would do for
/// interpolation; but then few large supports leave lumps: a U's far prong is felt more, the Fox is
/// farther from its artist's weights (docs/design/handles.md).
#define CUTIS_HANDLES_SUPPORT 0.85

typedef struct cutis_handles_virtual_options {
    double radius_max;   ///< largest support; 0: half the longest distance between two sites
    double radius_floor; ///< least support of a virtual handle, in voxels
    bool serial;         ///< one virtual handle at a time, where cover is worst: the reference
} cutis_handles_virtual_options;

typedef struct cutis_handles_virtual {
    uint32_t site_count, virtual_count, round_count;
    uint32_t *voxel;       ///< per virtual handle: where it is
    double *radius;        ///< sites, then virtual handles
    bool *floored;         ///< per site
    double *share;         ///< per virtual handle, site_count each: H, sum 1
    uint32_t *list_first;  ///< per voxel and one more: handles whose supports reach it
    uint32_t *list_handle; ///< ascending; sites first, then virtual handles
    float *list_value;     ///< > 0: the basis at the voxel
    double coverage_max;
    double seconds_distances, seconds_insertion;
} cutis_handles_virtual;

/// Fields of sites stay in the work for the next solve.
/// @param arena owns what `out` and `field` get
/// @param owner per voxel: from cutis_handles_owners; only components without a site use it
/// @param label per voxel: NONE in components without a site
/// @param fits  false, and no result: more handles reach one voxel than the device has space for; a
///              CPU has space for all
cutis_result cutis_handles_virtual_solve(cutis_handles_work *work, cutis_arena *arena,
                                         const cutis_handles_grid *grid,
                                         const cutis_handles_sites *sites, const uint32_t *label,
                                         const uint32_t *owner,
                                         const cutis_handles_virtual_options *options, bool *fits,
                                         cutis_handles_virtual *out, cutis_handles_field *field);

/// Weights of vertices on all handles, real and virtual: what the rigid mode needs, before virtual
/// handles are folded into real ones (handles/spread.c).
/// Lists per vertex: joints (below joint_count), then virtual handles (from joint_count on),
/// ascending; weights > 0, sum one.
typedef struct cutis_handles_spread {
    uint32_t *first; ///< vertex_count + 1; NULL: none was asked for
    uint32_t *handles;
    float *weights;
} cutis_handles_spread;

/// @param joint_site per joint: its site, or NONE; joints of one site share its weight equally
cutis_result cutis_handles_spread_make(cutis_arena *arena, cutis_device *device,
                                       const cutis_handles_grid *grid,
                                       const cutis_handles_virtual *virtual,
                                       const cutis_handles_shape *shape, uint32_t joint_count,
                                       const uint32_t *joint_site, cutis_handles_spread *out);

#endif
