/// One domain from voxels to the weights of its vertices: what handles and skeletons share.
#ifndef CUTIS_FIT_HANDLES_SOLVE_H
#define CUTIS_FIT_HANDLES_SOLVE_H

#include <cutis/handles.h>

#include "fit/handles/virtual.h"

/// Influences of the vertices of a shape: `slots` each, ascending joints; unused ones have weight 0
/// and stand last.
typedef struct cutis_handles_influences {
    uint32_t slots;
    uint32_t *joints;
    float *weights;
} cutis_handles_influences;

typedef struct cutis_handles_solution {
    cutis_arena *arena; ///< owns the field and the influences
    cutis_handles_work *work;
    const cutis_handles_options *options;
    cutis_handles_grid grid;
    cutis_handles_sites sites;
    uint32_t joint_count; ///< handles, or joints of the skin
    uint32_t *joint_site; ///< per joint: its site, or NONE
    uint32_t *sharers;    ///< per site: joints that have it
    bool skeleton;
    cutis_handles_virtual virtual; ///< VIRTUAL
    cutis_handles_spread
        spread; ///< VIRTUAL: made for the rig of a model, by cutis_handles_spread_make
    cutis_handles_field field;
    cutis_handles_influences influences;
} cutis_handles_solution;

/// Cores, distances, weights of voxels, weights of vertices. The grid, the sites and joint_site are
/// there. Adds to the report; `results` has joint_count entries to fill in.
cutis_result cutis_handles_solve(cutis_handles_solution *solution, const cutis_handles_shape *shape,
                                 cutis_handles_report *report, cutis_handle_result *results);

/// The last of it: influences from the field, joint_site and sharers.
cutis_result cutis_handles_weigh(cutis_handles_solution *solution, const cutis_handles_shape *shape,
                                 cutis_handles_report *report);

/// Options with the defaults filled in; CUTIS_INVALID_ARGUMENT with the error if one is out of
/// range.
cutis_result cutis_handles_check_options(cutis_context *context,
                                         const cutis_handles_options *options,
                                         cutis_handles_options *out);

/// Voxels two sites must be apart for exact interpolation.
static inline double cutis_handles_gap(cutis_weighting weighting)
{
    return weighting == CUTIS_WEIGHTING_VIRTUAL ? 8 : 6;
}

#endif
