/// Motions of the bodies as functions of time, and the channels sampled from them.
#ifndef CUTIS_SYNTH_CLIPS_H
#define CUTIS_SYNTH_CLIPS_H

#include <cutis/model.h>
#include "base/memory.h"
#include "synth/skeleton.h"
#include "synth/trig.h"

/// Local rotations of all joints, and where the root joint is from its rest place (mm).
typedef struct clip_pose {
    synth_quat rotations[SYNTH_JOINT_MAX];
    vec3 offset;
} clip_pose;

/// `t` runs from 0 to 1 over the clip; walks accept any t.
typedef void (*clip_function)(const synth_skeleton *skeleton, double t, clip_pose *pose);

typedef struct clip_row {
    const char *name;
    double duration; ///< seconds
    uint32_t intervals;
    clip_function function;
    bool linear;        ///< plain keys; otherwise cubic ones with Catmull-Rom tangents
    double start, span; ///< t runs from start to start + span; span 0: from start to start + 1
} clip_row;

typedef struct clip_list {
    const clip_row *rows;
    size_t count;
} clip_list;

extern const clip_list cutis_synth_biped_clips, cutis_synth_quadruped_clips, cutis_synth_arm_clips;
/// Motions to put on others.
extern const clip_list cutis_synth_biped_motions, cutis_synth_quadruped_motions;
/// The eight example poses of the arm, one a second (a clip of its own, not in the list above).
extern const clip_row cutis_synth_arm_examples_clip;

/// Turns about an axis, for cutis_synth_turn.
static inline vec3 axis_x(double degrees)
{
    return v3(degrees, 0, 0);
}
static inline vec3 axis_y(double degrees)
{
    return v3(0, degrees, 0);
}
static inline vec3 axis_z(double degrees)
{
    return v3(0, 0, degrees);
}

/// Turn the joint `name` of a side by R(v), after what is there already (v as for the left side;
/// degrees; the right gets the mirror image). A body that lacks the joint is left alone.
void cutis_synth_turn(const synth_skeleton *skeleton, clip_pose *pose, const char *name, int side,
                      vec3 v);
void cutis_synth_pose_clear(clip_pose *pose);
/// Sine of so many turns, and what rises from 0 to 1 and falls again over one.
double cutis_synth_sine(double turns);
double cutis_synth_swing(double turns);
/// A table of 16 values over one cycle, Catmull-Rom between them.
double cutis_synth_cycle(const double table[16], double t);
/// Smoothstep of t clamped to 0..1.
double cutis_synth_smoothstep(double t);

/// Sample a row for the skeleton whose joint j is node first_node + j. Only what moves gets a
/// channel.
cutis_result cutis_synth_clip(cutis_arena *arena, const synth_skeleton *skeleton,
                              const clip_row *row, uint32_t first_node, cutis_clip *out);

#endif
