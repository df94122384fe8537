/// The quadruped's motions: walk (lateral sequence), bend, twist; and as a cast of motions for
/// others walk, run (a trot: legs in diagonal pairs), idle.
#include "synth/clips.h"

#include "geometry/sincos.h"

#include <stdio.h>

static const double PROTRACTION[16] = { 18,  14.5, 11,  7,   3.5, 0,  -4, -8,
                                        -12, -15,  -17, -10, 2,   13, 19, 20 };
static const double SWING[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 2, 8, 20, 34, 36, 24, 10, 2 };
static const double ROOT_Y[16] = { -8, -5, -4, -6, -8, -8, -8, -9, -8, -5, -4, -6, -8, -8, -8, -9 };

static void turn_tail(const synth_skeleton *k, clip_pose *p, int i, vec3 v)
{
    char name[8];
    snprintf(name, sizeof name, "tail%d", i);
    cutis_synth_turn(k, p, name, 0, v);
}

static void walk_hind(const synth_skeleton *k, clip_pose *p, int side, double t)
{
    double forward = cutis_synth_cycle(PROTRACTION, t), swing = cutis_synth_cycle(SWING, t);
    cutis_synth_turn(k, p, "thigh", side, axis_x(-(0.9 * forward + 0.3 * swing)));
    cutis_synth_turn(k, p, "shin", side, axis_x(swing));
    cutis_synth_turn(k, p, "hock", side, axis_x(-0.8 * swing));
    double ahead = cutis_synth_cycle(SWING, t + 1.0 / 16);
    cutis_synth_turn(k, p, "hindpaw", side, axis_x(0.9 * ahead + 0.1 * forward));
}

static void walk_fore(const synth_skeleton *k, clip_pose *p, int side, double t)
{
    double forward = cutis_synth_cycle(PROTRACTION, t), swing = cutis_synth_cycle(SWING, t);
    cutis_synth_turn(k, p, "upperarm", side, axis_x(-1.3 * forward + 0.1 * swing));
    cutis_synth_turn(k, p, "forearm", side, axis_x(-0.95 * swing));
    cutis_synth_turn(k, p, "carpus", side, axis_x(1.5 * swing));
    cutis_synth_turn(k, p, "forepaw", side, axis_x(0.6 * swing));
}

static void walk_trunk(const synth_skeleton *k, clip_pose *p, double t)
{
    double s, c, s2, c2;
    sincos_degrees(360 * t, &s, &c);
    sincos_degrees(720 * t, &s2, &c2);
    cutis_synth_turn(k, p, "hips", 0, axis_y(-3 * c));
    cutis_synth_turn(k, p, "hips", 0, axis_z(2 * s));
    cutis_synth_turn(k, p, "spine", 0, axis_y(3 * c));
    cutis_synth_turn(k, p, "spine", 0, axis_z(-s));
    cutis_synth_turn(k, p, "chest", 0, axis_y(2 * s));
    cutis_synth_turn(k, p, "chest", 0, axis_z(-s));
    cutis_synth_turn(k, p, "neck", 0, axis_x(4 + 2 * c2));
    cutis_synth_turn(k, p, "neck2", 0, axis_x(-2 * c2));
    cutis_synth_turn(k, p, "head", 0, axis_x(3 - c2));
    for (int side = 1; side >= -1; side -= 2) cutis_synth_turn(k, p, "ear", side, axis_x(3 * s2));
    for (int i = 1; i <= 4; i++) {
        double wag, unused;
        sincos_degrees(360 * t - 0.7 * (i - 1) * (180 / SYNTH_PI), &wag, &unused);
        turn_tail(k, p, i, axis_y((3 + 2 * i) * wag));
        turn_tail(k, p, i, axis_x(-4));
    }
}

static void walk(const synth_skeleton *k, double t, clip_pose *p)
{
    walk_trunk(k, p, t);
    walk_hind(k, p, 1, t);
    walk_fore(k, p, 1, t - 0.25);
    walk_hind(k, p, -1, t + 0.5);
    walk_fore(k, p, -1, t + 0.25);
    p->offset.y = cutis_synth_cycle(ROOT_Y, t);
}

static void bend(const synth_skeleton *k, double t, clip_pose *p)
{
    double a = cutis_synth_swing(t);
    for (int side = 1; side >= -1; side -= 2) {
        cutis_synth_turn(k, p, "forearm", side, axis_x(-80 * a));
        cutis_synth_turn(k, p, "carpus", side, axis_x(70 * a));
        cutis_synth_turn(k, p, "shin", side, axis_x(70 * a));
        cutis_synth_turn(k, p, "hock", side, axis_x(-60 * a));
    }
    cutis_synth_turn(k, p, "neck", 0, axis_x(25 * a));
    for (int i = 1; i <= 4; i++) turn_tail(k, p, i, axis_x(15 * a));
}

static void twist(const synth_skeleton *k, double t, clip_pose *p)
{
    double a = cutis_synth_sine(t);
    cutis_synth_turn(k, p, "spine", 0, axis_z(20 * a));
    cutis_synth_turn(k, p, "chest", 0, axis_z(20 * a));
    cutis_synth_turn(k, p, "neck", 0, axis_z(25 * a));
    cutis_synth_turn(k, p, "neck2", 0, axis_z(25 * a));
    for (int i = 1; i <= 4; i++) turn_tail(k, p, i, axis_z(25 * a));
}

static void run(const synth_skeleton *k, double t, clip_pose *p)
{
    walk_trunk(k, p, t);
    for (int side = 1; side >= -1; side -= 2) {
        walk_hind(k, p, side, side > 0 ? t : t + 0.5);
        walk_fore(k, p, side, side > 0 ? t + 0.5 : t);
    }
    p->offset.y = cutis_synth_cycle(ROOT_Y, t) + 14 * cutis_synth_sine(2 * t + 0.6);
}

/// Standing: a breath, a look around, a wag.
static void idle(const synth_skeleton *k, double t, clip_pose *p)
{
    const double breath = cutis_synth_sine(2 * t), look = cutis_synth_sine(t);
    cutis_synth_turn(k, p, "chest", 0, axis_x(0.8 * breath));
    cutis_synth_turn(k, p, "neck", 0, axis_y(7 * look));
    cutis_synth_turn(k, p, "neck", 0, axis_x(-1.5 * breath));
    cutis_synth_turn(k, p, "neck2", 0, axis_y(6 * look));
    cutis_synth_turn(k, p, "head", 0, axis_y(8 * look));
    for (int i = 1; i <= 4; i++)
        turn_tail(k, p, i, axis_y((2 + 2 * i) * cutis_synth_sine(5 * t - 0.1 * i)));
}

static const clip_row rows[] = {
    { "walk", 1, 16, walk, false, 0, 1 },
    { "bend", 4, 32, bend, false, 0, 1 },
    { "twist", 4, 32, twist, false, 0, 1 },
};
const clip_list cutis_synth_quadruped_clips = { rows, sizeof rows / sizeof *rows };

static const clip_row motions[] = {
    { "walk", 1, 16, walk, false, 0, 1 },
    { "run", 0.6, 16, run, false, 0, 1 },
    { "idle", 5, 80, idle, false, 0, 1 },
};
const clip_list cutis_synth_quadruped_motions = { motions, sizeof motions / sizeof *motions };
