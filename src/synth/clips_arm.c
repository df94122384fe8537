/// The arm's motions: bend, twist, raise, and the eight example poses of the pose-space tests as a
/// clip.
#include "synth/clips.h"

static void bend(const synth_skeleton *k, double t, clip_pose *p)
{
    double a = cutis_synth_swing(t);
    cutis_synth_turn(k, p, "elbow", 0, v3(0, -110 * a, 0));
    cutis_synth_turn(k, p, "wrist", 0, v3(0, -40 * a, 0));
}

static void twist(const synth_skeleton *k, double t, clip_pose *p)
{
    cutis_synth_turn(k, p, "wrist", 0, v3_scale(v3(0.993, 0, 0.12), 150 * cutis_synth_sine(t)));
}

static void raise(const synth_skeleton *k, double t, clip_pose *p)
{
    double a = cutis_synth_swing(t);
    cutis_synth_turn(k, p, "shoulder", 0, v3(0, 0, 60 * a));
    cutis_synth_turn(k, p, "collar", 0, v3(0, 0, 12 * a));
}

/// One joint at a time: rest, elbow 45 and 90, shoulder 45 and 90, wrist 45 and 90, collar 20
/// degrees.
static void examples(const synth_skeleton *k, double t, clip_pose *p)
{
    static const struct {
        const char *joint;
        vec3 turn;
    } poses[8] = {
        { "elbow", { 0, 0, 0 } },     { "elbow", { 0, -45, 0 } },   { "elbow", { 0, -90, 0 } },
        { "shoulder", { 0, 0, 45 } }, { "shoulder", { 0, 0, 90 } }, { "wrist", { 0, -45, 0 } },
        { "wrist", { 0, -90, 0 } },   { "collar", { 0, 0, 20 } },
    };
    double key = 7 * t + 0.5;
    int i = key < 0 ? 0 : key > 7 ? 7 : (int)key;
    cutis_synth_turn(k, p, poses[i].joint, 0, poses[i].turn);
}

static const clip_row rows[] = {
    { "bend", 4, 32, bend, false, 0, 1 },
    { "twist", 4, 32, twist, false, 0, 1 },
    { "raise", 4, 32, raise, false, 0, 1 },
};
const clip_list cutis_synth_arm_clips = { rows, sizeof rows / sizeof *rows };

const clip_row cutis_synth_arm_examples_clip = { "examples", 7, 7, examples, true, 0, 1 };
