/// Joints that no learned frame moves cut a skeleton into islands, which drivers must not blend:
/// what of a vertex belongs to other islands than its own stays as it is, and the problem is about
/// the rest of it (docs/spec/bake.md 8).
#ifndef CUTIS_FIT_BAKE_ISLANDS_H
#define CUTIS_FIT_BAKE_ISLANDS_H

#include "fit/bake/job.h"

typedef struct cutis_bake_islands {
    const uint32_t *bone; ///< per bone: its island
    uint32_t *side; ///< per point: the island it has most weight on; UINT32_MAX: there are too
                    ///< many others, its weights stay
    double *share;  ///< per point: weight on that island
    uint8_t *limit; ///< per point: influences that others leave
    bool some;      ///< a share is less than one
} cutis_bake_islands;

/// Change the job's problem: targets, given weights, masses and spaces of the islands' own parts.
/// @param bone_island per bone
cutis_result cutis_bake_islands_part(cutis_bake_job *job, const uint32_t *bone_island,
                                     cutis_bake_islands *out);
/// Back to whole vertices: weights, and residuals for helpers as these tracks have them.
void cutis_bake_islands_join(cutis_bake_job *job, const cutis_bake_islands *islands,
                             const double *helpers);

/// Squared distance of a point from where it is to be, with the weights that are written.
/// @param helpers tracks; NULL: with the weights that it came with
/// @param own     its own weights, whatever was found
double cutis_bake_point_error(const cutis_bake_job *job, const cutis_bake_part *part,
                              const double *helpers, bool own, uint32_t point, uint32_t frame);

#endif
