/// What drivers are learned with: joints, their inputs in the learned frames, and what was found.
#ifndef CUTIS_FIT_BAKE_DRIVE_H
#define CUTIS_FIT_BAKE_DRIVE_H

#include "fit/bake/islands.h"
#include "fit/bake/regress.h"

struct cutis_bake_drive {
    uint32_t joint_count;
    uint32_t *node;       ///< per joint: each node once, ascending
    int32_t *above;       ///< per joint: nearest joint above, or -1
    uint32_t *bone_joint; ///< per bone
    uint32_t *island;     ///< per bone: what moves as a whole where nothing was learned
    cutis_bake_islands islands;
    uint8_t *moves; ///< per joint
    double *inputs; ///< [joint][4][frame] of the learned frames
    float *ranges;  ///< 8 per joint
    uint8_t *fold;  ///< per learned frame
    uint8_t *mask;  ///< [helper][bone]
    double *rest;   ///< 12 per helper: local at rest
    double *lever;  ///< per helper
    cutis_regress_fit *fits;
    uint32_t morph_count;
    cutis_regress_fit *morph_fits; ///< of weights of morph targets: the shift along x
    double *scratch;
};

/// Weights of morph targets as functions of joints (drive_morphs.c): learned from these, and what
/// they come to in the learned frames, in their place.
/// @param chosen the joints are those of the last time; @param weights [frame][count]
cutis_result cutis_bake_drive_morphs(cutis_bake_job *job, uint32_t count, bool chosen,
                                     double *weights);
/// Drivers of morph targets for the model that comes out.
/// @param place per joint: one more than its place among those that are read
cutis_result cutis_bake_drive_weights(cutis_bake_job *job, const uint32_t *place,
                                      cutis_drivers *all);

/// Coefficients of all drivers together, from those there are (couple.c).
/// @param driven tracks as drivers have them; @param wanted where they would be better
cutis_result cutis_bake_drive_couple(cutis_bake_job *job, const double *driven,
                                     const double *wanted);
/// Rotation vector and shift of a helper that stands so in a frame of a part: what a driver says.
void cutis_bake_drive_difference(const cutis_bake_job *job, const cutis_bake_part *part,
                                 uint32_t helper, uint32_t frame, const double *m, double *y);
/// The matrix above a helper's node.
void cutis_bake_drive_above(const cutis_bake_job *job, const cutis_bake_part *part, uint32_t helper,
                            uint32_t frame, double *out);

#endif
