/// Sites for the joints of a skin (docs/spec/handles.md 4.4): bones between joints, leaves
/// prolonged to the end of the shape, ends trimmed where bones meet. There is no skin this fails
/// on.
#ifndef CUTIS_FIT_HANDLES_SKELETON_H
#define CUTIS_FIT_HANDLES_SKELETON_H

#include <cutis/model.h>

#include "fit/handles/site.h"

typedef struct cutis_handles_bones {
    uint32_t joint_count;
    double *origin;  ///< 3 per joint, mesh space at bind
    int32_t *parent; ///< per joint: joint above it (nodes between are skipped), or CUTIS_NONE
    bool *control;   ///< per joint: it moves others and has no weight
    bool every;      ///< no joint only carries
    uint32_t
        *node; ///< per joint: where it is in a grid with sheets, from cutis_handles_bones_sites
} cutis_handles_bones;

cutis_result cutis_handles_bones_create(cutis_arena *arena, const cutis_model *model, uint32_t skin,
                                        cutis_handles_bones *out);

/// @param softness  part of a bone that is trimmed where it meets another
/// @param gap       least distance between the sites of two bones that meet
/// @param site      per joint, out: its site, or NONE
bool cutis_handles_bones_sites(cutis_handles_bones *bones, const cutis_handles_grid *grid,
                               double softness, double gap, cutis_handles_sites *sites,
                               uint32_t *site);

#endif
