/// Errors of reduced weights against the original ones, pose by pose.
#ifndef CUTIS_FIT_REDUCE_EVALUATE_H
#define CUTIS_FIT_REDUCE_EVALUATE_H

#include "fit/reduce/model.h"
#include "fit/reduce/poses.h"

/// Matrices of a group's joints in a pose: world * inverse bind, 12 doubles each.
void cutis_reduce_palette(const cutis_model *model, const cutis_reduce_group *group,
                          const cutis_mat34 *world, double *palette);

/// Fill the error fields of rows (frame arrays given) from `weights[row * group_count + group]`.
cutis_result cutis_reduce_evaluate(const cutis_model *model, const cutis_reduce_groups *groups,
                                   const cutis_reduce_poses *poses, uint32_t row_count,
                                   const cutis_reduce_weights *weights, double **frame_position,
                                   double **frame_normal);

#endif
