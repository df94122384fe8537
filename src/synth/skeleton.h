/// The joints of a body: rows of its table, sided ones twice, parents first and depth-first.
#ifndef CUTIS_SYNTH_SKELETON_H
#define CUTIS_SYNTH_SKELETON_H

#include <cutis/base.h>
#include "synth/tables.h"
#include "geometry/vector.h"

typedef struct synth_joint {
    char name[24];
    int row;    ///< into skeleton.rows
    int side;   ///< 0 in the middle, 1 left, -1 right
    int parent; ///< -1: none
    int mirror; ///< the joint of the other side; itself in the middle
    vec3 pivot; ///< mm
} synth_joint;

typedef struct synth_skeleton {
    const synth_joint_row *rows[SYNTH_JOINT_MAX];
    int row_parents[SYNTH_JOINT_MAX]; ///< -1: none
    int row_loops[SYNTH_JOINT_MAX];   ///< the loop where the row's part begins; -1: it has none
    int row_count, loop_count;
    synth_joint joints[SYNTH_JOINT_MAX];
    int joint_count;
    int part_first; ///< joints from here on have a part and weights (1 for the arm)
} synth_skeleton;

/// @return CUTIS_INTERNAL when a parent's name is not above its child in the table
cutis_result cutis_synth_skeleton_init(synth_skeleton *s, cutis_context *context,
                                       const synth_table *table);
/// Joint of a row on a side (rows in the middle have one joint for both sides).
int cutis_synth_skeleton_joint(const synth_skeleton *s, int row, int side);

#endif
