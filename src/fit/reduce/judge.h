/// Poses that weights are judged by: the part of a body that differs from the original is blended
/// by original and reduced weights, pose by pose, and looked at. What does not differ costs
/// nothing.
#ifndef CUTIS_FIT_REDUCE_JUDGE_H
#define CUTIS_FIT_REDUCE_JUDGE_H

#include "fit/reduce/model.h"

/// A body: all groups in order. Every mesh counts once, whatever the number of its instances.
typedef struct cutis_judge {
    const cutis_model *model;
    cutis_device *device;
    const cutis_reduce_groups *groups;
    size_t vertex_count, triangle_count, joint_most;
    uint32_t *triangles;
    uint32_t *weld;   ///< per vertex: its representative
    uint32_t *copies; ///< per representative with a face: vertices there; else 0
    size_t counted;   ///< vertices at places with a face
    double extent;    ///< diagonal at rest
} cutis_judge;

/// Vertices that are blended: those that moved, and what normals near them need. `spot` is a place
/// of normals; those whose normal can differ have `copies`.
typedef struct cutis_judge_part {
    uint32_t vertex_count, triangle_count, spot_count;
    uint32_t *vertex; ///< of the body, ascending
    uint32_t *first;  ///< per group, and the end
    uint8_t *moved;   ///< per vertex here: its weights differ
    uint32_t *spot;   ///< per vertex here
    uint32_t *triangles;
    uint32_t *copies; ///< per spot: vertices there if its normal can differ, else 0
    uint32_t *place;  ///< per spot: the representative
} cutis_judge_part;

/// One pose by one row of weights. Normals are not of unit length.
typedef struct cutis_judge_view {
    const cutis_judge *judge;
    const cutis_judge_part *part;
    uint32_t pose, row, task;
    const double *original, *reduced;
    const double *normals, *compared; ///< per spot
} cutis_judge_view;

/// At most so many tasks; each has memory for a body, so no more than there are threads for, and
/// four.
enum { CUTIS_JUDGE_TASKS = 16 };
uint32_t cutis_judge_tasks(const cutis_judge *judge);
/// What looks at a pose; those with the same `task` come one after another, poses ascending.
typedef void (*cutis_judge_look)(void *data, const cutis_judge_view *view);

cutis_result cutis_judge_open(cutis_judge *judge, cutis_arena *arena);
/// Mark vertices whose weights of a row differ (`other` NULL: from the original ones).
void cutis_judge_mark(const cutis_judge *judge, const cutis_reduce_weights *weights,
                      const cutis_reduce_weights *other, uint8_t *moved);
bool cutis_judge_take(const cutis_judge *judge, const uint8_t *moved, cutis_arena *arena,
                      cutis_judge_part *out);
/// @param transforms  node_count per pose; @param weights  row * group count
cutis_result cutis_judge_run(const cutis_judge *judge, const cutis_judge_part *part,
                             const cutis_transform *transforms, uint32_t pose_count,
                             const cutis_reduce_weights *weights, uint32_t row_count, bool normals,
                             cutis_judge_look look, void *data);
/// Between the normals of a spot.
double cutis_judge_angle(const cutis_judge_view *view, uint32_t spot);

/// The largest errors of vertices over poses: distance in world space, angle between welded normals
/// in radians (at the place's representative; elsewhere 0) and the pose where it is that large.
/// Vertices of all groups in order (evaluate.c).
typedef struct cutis_reduce_worst {
    double *position;
    double *normal; ///< NULL: not wanted
    uint32_t *pose;
} cutis_reduce_worst;

/// Which vertices are to blame for normals beyond a bound.
typedef struct cutis_reduce_bound {
    double normal;       ///< radians
    const uint8_t *able; ///< per vertex: it could be blamed
    uint8_t *blamed;     ///< set to 1 where it is
} cutis_reduce_bound;

/// @param changed  per vertex: its weights are others than when `out` was found on these poses,
/// which is then brought up to date; NULL: `out` is made anew. @param bound NULL: nobody is blamed
cutis_result cutis_reduce_find_worst(const cutis_judge *judge, const cutis_transform *transforms,
                                     uint32_t pose_count, const cutis_reduce_weights *weights,
                                     const uint8_t *changed, const cutis_reduce_bound *bound,
                                     cutis_reduce_worst *out);

#endif
