/// What linear blending, PSD and WPSD with given weights are off in examples that are left out:
/// poses are interpolated without them, as a fit without them would do.
#ifndef CUTIS_FIT_EXAMPLES_LEFT_OUT_H
#define CUTIS_FIT_EXAMPLES_LEFT_OUT_H

#include "fit/poses/fit.h"

/// What all groups share.
typedef struct cutis_out_space {
    const cutis_fit_problem *problem;
    const cutis_fit_poses *poses; ///< NULL: linear blending alone
    cutis_pose_table table;       ///< of all poses
    const int32_t *place;         ///< per node: joint of the space, or -1
} cutis_out_space;

/// Some examples that are left out together.
typedef struct cutis_out_group {
    const cutis_out_space *space;
    uint32_t left_count, use_count;
    const uint32_t *left;  ///< examples that are left out; the caller's
    const uint32_t *use;   ///< the others, without those of the same poses
    uint32_t count;        ///< poses that are still there, rest included; 0: blending alone
    const uint32_t *keep;  ///< their numbers, ascending; 0 is rest
    const uint32_t *place; ///< per pose: where it is among them
    cutis_pose_table table;
    const double *rows;   ///< per example left out: squares to each of them (pose, joint)
    const double *shares; ///< per example left out: PSD's weights
} cutis_out_group;

/// Joints of the skin and their weights.
typedef struct cutis_out_weights {
    uint32_t count;
    const uint32_t *joints;
    const float *weights;
} cutis_out_weights;

/// @param poses of the problem's examples; NULL: linear blending alone. Borrowed, as the problem
cutis_result cutis_out_open(const cutis_fit_problem *problem, const cutis_fit_poses *poses,
                            cutis_arena *arena, cutis_out_space *out);

/// @param pose_of per example; @param left borrowed
cutis_result cutis_out_group_create(const cutis_out_space *space, const uint32_t *pose_of,
                                    uint32_t left_count, const uint32_t *left, cutis_arena *arena,
                                    cutis_out_group *out);

/// Squares of vertex v of a span in each example left out: linear blending, PSD, WPSD (the last two
/// only with poses). @param scratch cutis_out_scratch doubles
void cutis_out_try(const cutis_out_group *group, const cutis_fit_span *span, uint32_t v,
                   const cutis_out_weights *weights, double *scratch, double *off);
size_t cutis_out_scratch(const cutis_out_group *group, uint32_t weights);

#endif
