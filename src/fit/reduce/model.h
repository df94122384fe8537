/// From a model to reduction problems and back: one group per skin, seam copies welded.
#ifndef CUTIS_FIT_REDUCE_MODEL_H
#define CUTIS_FIT_REDUCE_MODEL_H

#include "fit/reduce/poses.h"
#include "fit/reduce/problem.h"

/// All vertices that belong to one skin: of every mesh whose first skinned instance has it.
typedef struct cutis_reduce_group {
    uint32_t skin;
    uint32_t source_count;   ///< vertices as the files have them, meshes and primitives in order
    uint32_t unit_count;     ///< of those, different in position or weights
    uint32_t *unit;          ///< per source vertex
    float *source_positions; ///< 3 per source vertex
    uint32_t triangle_count;
    uint32_t *triangles; ///< 3 source vertices each
    uint32_t *welded;    ///< the same by units
    double *positions;   ///< 3 per unit
    uint32_t *first;     ///< unit_count + 1: clean influences
    uint32_t *control;
    double *weight;
    /// Where joints go (joints.c): influences that cannot be kept, and what those that can start
    /// with; else NULL.
    uint8_t *closed;
    double *prior;
    cutis_reduce_mesh mesh;
} cutis_reduce_group;

typedef struct cutis_reduce_groups {
    uint32_t count;
    cutis_reduce_group *group;
    int32_t *mesh_group;     ///< per mesh of the model, or -1
    uint64_t repaired_count; ///< vertices that had no weight
} cutis_reduce_groups;

/// @param device whose threads work; NULL: the caller's; @param repair vertices without weight
/// follow the skin's first joint; else they are an error that names the first
cutis_result cutis_reduce_groups_create(const cutis_model *model, cutis_device *device, bool repair,
                                        cutis_arena *arena, cutis_reduce_groups *out);

/// Reduced weights of a group: what a state comes down to.
typedef struct cutis_reduce_weights {
    uint32_t *first; ///< unit_count + 1
    uint32_t *control;
    double *weight;
} cutis_reduce_weights;

/// Matrices of a group's joints in a pose: world * inverse bind, 12 doubles each.
void cutis_reduce_palette(const cutis_model *model, const cutis_reduce_group *group,
                          const cutis_mat34 *world, double *palette);

/// Errors against the original weights, pose by pose (evaluate.c), from `weights[row * group_count
/// + group]`.
cutis_result cutis_reduce_evaluate(const cutis_model *model, cutis_device *device,
                                   const cutis_reduce_groups *groups,
                                   const cutis_reduce_poses *poses, uint32_t row_count,
                                   const cutis_reduce_weights *weights, double **frame_position,
                                   double **frame_normal);

/// A model with the weights of every group in place of its own.
cutis_result cutis_reduce_apply(const cutis_model *model, const cutis_reduce_groups *groups,
                                const cutis_reduce_weights *weights, cutis_model **out);

#endif
