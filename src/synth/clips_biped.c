/// The biped's motions: walk (and walk_forward), bend, twist, wave; and as a cast of motions for
/// others walk, run, idle, wave. Angles in degrees, vectors for
/// the left side.
#include "synth/clips.h"

#include "geometry/sincos.h"

static const double HIP[16] = { 28, 26, 21, 15, 9, 3, -3, -8, -11, -9, 0, 12, 22, 28, 30, 30 };
static const double KNEE[16] = { 4, 11, 17, 16, 12, 8, 5, 6, 13, 28, 46, 60, 60, 45, 22, 6 };
static const double ANKLE[16] = { 0, -5, 0, 4, 6, 8, 10, 11, 7, -6, -17, -10, -2, 1, 2, 1 };
static const double TOES[16] = { 0, 0, 0, 0, 0, 0, 0, 6, 18, 28, 14, 0, 0, 0, 0, 0 };
/// Height of the root that puts the lowest sole point on the ground, mm.
static const double ROOT_Y[16] = { -24, -30, -31, -20, -12, -9, -12, -18,
                                   -24, -30, -31, -20, -12, -9, -12, -18 };
/// Deviation from even progress, mm.
static const double ROOT_Z[16] = { 0, 34, 39, 35, 12, -11, -27, -26,
                                   0, 34, 39, 35, 12, -11, -27, -26 };
static const double STRIDE = 1372;

/// Upper arm, elbow axis (+ flexes forward), forearm.
static const vec3 ARM = { 0.766, -0.643, 0 }, ELBOW = { -0.643, -0.766, 0 },
                  FOREARM = { 0.760, -0.638, 0.125 };

/// The four fingers' two joints, or the mitten's; `curl` per finger from the index on.
static void curl_fingers(const synth_skeleton *k, clip_pose *p, int side, const double curl[4])
{
    static const char *const names[4][2] = { { "index1", "index2" },
                                             { "middle1", "middle2" },
                                             { "ring1", "ring2" },
                                             { "pinky1", "pinky2" } };
    for (int i = 0; i < 4; i++)
        for (int joint = 0; joint < 2; joint++)
            cutis_synth_turn(k, p, names[i][joint], side, axis_z(-curl[i]));
    cutis_synth_turn(k, p, "fingers1", side, axis_z(-curl[1]));
    cutis_synth_turn(k, p, "fingers2", side, axis_z(-curl[1]));
}

static void walk_leg(const synth_skeleton *k, clip_pose *p, int side, double t)
{
    cutis_synth_turn(k, p, "thigh", side, axis_x(-(cutis_synth_cycle(HIP, t) + 3)));
    cutis_synth_turn(k, p, "thigh", side, axis_z(-1.5));
    cutis_synth_turn(k, p, "shin", side, axis_x(cutis_synth_cycle(KNEE, t)));
    cutis_synth_turn(k, p, "foot", side, axis_x(-cutis_synth_cycle(ANKLE, t)));
    cutis_synth_turn(k, p, "toes", side, axis_x(-cutis_synth_cycle(TOES, t)));
}

static void walk_arm(const synth_skeleton *k, clip_pose *p, int side, double t)
{
    static const double curl[4] = { 20, 24, 27, 29 }; // a relaxed hand
    double s, c;
    sincos_degrees(360 * t, &s, &c);
    cutis_synth_turn(k, p, "clavicle", side, axis_z(-5));
    cutis_synth_turn(k, p, "clavicle", side, axis_y(-3 * c));
    cutis_synth_turn(k, p, "upperarm", side, axis_x(20 * c - 3));
    cutis_synth_turn(k, p, "upperarm", side, axis_z(-36));
    cutis_synth_turn(k, p, "forearm", side, v3_scale(ELBOW, 20 - 9 * c));
    cutis_synth_turn(k, p, "hand", side, axis_z(-4));
    curl_fingers(k, p, side, curl);
    cutis_synth_turn(k, p, "thumb1", side, axis_y(12));
    cutis_synth_turn(k, p, "thumb2", side, axis_z(-10));
}

static void walk(const synth_skeleton *k, double t, clip_pose *p)
{
    double s, c;
    sincos_degrees(360 * t, &s, &c);
    cutis_synth_turn(k, p, "hips", 0, axis_y(-5 * c));
    cutis_synth_turn(k, p, "hips", 0, axis_z(2.5 * s));
    cutis_synth_turn(k, p, "hips", 0, axis_x(3));
    cutis_synth_turn(k, p, "spine", 0, axis_y(5 * c));
    cutis_synth_turn(k, p, "spine", 0, axis_z(-2 * s));
    cutis_synth_turn(k, p, "chest", 0, axis_y(6 * c));
    cutis_synth_turn(k, p, "chest", 0, axis_z(-s));
    cutis_synth_turn(k, p, "neck", 0, axis_y(-3 * c));
    cutis_synth_turn(k, p, "neck", 0, axis_x(-2));
    cutis_synth_turn(k, p, "head", 0, axis_y(-3 * c));
    cutis_synth_turn(k, p, "head", 0, axis_x(-1));
    for (int side = 1; side >= -1; side -= 2) {
        walk_leg(k, p, side, side > 0 ? t : t + 0.5);
        walk_arm(k, p, side, side > 0 ? t : t + 0.5);
    }
    p->offset.y = cutis_synth_cycle(ROOT_Y, t);
}

static void walk_forward(const synth_skeleton *k, double t, clip_pose *p)
{
    walk(k, t, p);
    p->offset.z = STRIDE * t + cutis_synth_cycle(ROOT_Z, t);
}

static void bend(const synth_skeleton *k, double t, clip_pose *p)
{
    double a = cutis_synth_swing(t), curl[4] = { 45 * a, 45 * a, 45 * a, 45 * a };
    for (int side = 1; side >= -1; side -= 2) {
        cutis_synth_turn(k, p, "forearm", side, v3_scale(ELBOW, 95 * a));
        cutis_synth_turn(k, p, "shin", side, axis_x(95 * a));
        cutis_synth_turn(k, p, "thigh", side, axis_x(-70 * a));
        cutis_synth_turn(k, p, "upperarm", side, axis_z(-25 * a));
        curl_fingers(k, p, side, curl);
    }
}

static void twist(const synth_skeleton *k, double t, clip_pose *p)
{
    double a = cutis_synth_sine(t);
    for (int side = 1; side >= -1; side -= 2)
        cutis_synth_turn(k, p, "forearm", side, v3_scale(FOREARM, 120 * a));
    cutis_synth_turn(k, p, "chest", 0, axis_y(30 * a));
    cutis_synth_turn(k, p, "head", 0, axis_y(40 * a));
}

static void wave(const synth_skeleton *k, double t, clip_pose *p)
{
    double e = cutis_synth_smoothstep(t / 0.2) * (1 - cutis_synth_smoothstep((t - 0.8) / 0.2));
    double w = cutis_synth_sine(4 * t) * cutis_synth_smoothstep((t - 0.15) / 0.15) *
               (1 - cutis_synth_smoothstep((t - 0.7) / 0.15));
    cutis_synth_turn(k, p, "clavicle", -1, axis_z(10 * e));
    cutis_synth_turn(k, p, "upperarm", -1, axis_z(45 * e));
    cutis_synth_turn(k, p, "upperarm", -1, v3_scale(ARM, -85 * e));
    cutis_synth_turn(k, p, "forearm", -1, v3_scale(ELBOW, 70 * e + 22 * w));
    cutis_synth_turn(k, p, "hand", -1, v3_scale(ELBOW, -8 * w));
    cutis_synth_turn(k, p, "clavicle", 1, axis_z(-4 * e));
    cutis_synth_turn(k, p, "upperarm", 1, axis_z(-36 * e));
    cutis_synth_turn(k, p, "forearm", 1, v3_scale(ELBOW, 15 * e));
    cutis_synth_turn(k, p, "spine", 0, axis_z(-3 * e));
    cutis_synth_turn(k, p, "head", 0, axis_z(4 * e));
    cutis_synth_turn(k, p, "head", 0, axis_y(-8 * e));
}

/// A run: a step from a bent leg, a flight, the heel up behind. Cycles as above, from where the
/// foot comes down.
static const double RUN_HIP[16] = { 38, 35, 28, 18, 8, -2, -8, -10, -5, 7, 21, 34, 43, 47, 46, 42 };
static const double RUN_KNEE[16] = {
    18, 30, 38, 39, 33, 24, 18, 22, 40, 66, 90, 98, 88, 62, 34, 18
};
static const double RUN_ANKLE[16] = { 4, 10, 18, 22, 17, 4, -11, -19, -15, -7, -2, 2, 4, 5, 5, 5 };
static const double RUN_TOES[16] = { 0, 0, 0, 0, 4, 14, 22, 14, 4, 0, 0, 0, 0, 0, 0, 0 };
/// Height of the root, mm: the lowest sole point is within 6 mm of the ground while a foot stands,
/// and 11 mm above it between.
static const double RUN_Y[16] = { -31, -70, -66, -62, -44, -17, 8, 22,
                                  -31, -70, -66, -62, -44, -17, 8, 22 };

static void run_leg(const synth_skeleton *k, clip_pose *p, int side, double t)
{
    cutis_synth_turn(k, p, "thigh", side, axis_x(-(cutis_synth_cycle(RUN_HIP, t) + 7)));
    cutis_synth_turn(k, p, "thigh", side, axis_z(-2));
    cutis_synth_turn(k, p, "shin", side, axis_x(cutis_synth_cycle(RUN_KNEE, t)));
    cutis_synth_turn(k, p, "foot", side, axis_x(-cutis_synth_cycle(RUN_ANKLE, t)));
    cutis_synth_turn(k, p, "toes", side, axis_x(-cutis_synth_cycle(RUN_TOES, t)));
}

static void run_arm(const synth_skeleton *k, clip_pose *p, int side, double t)
{
    static const double curl[4] = { 50, 54, 57, 60 }; // a loose fist
    double s, c;
    sincos_degrees(360 * t, &s, &c);
    cutis_synth_turn(k, p, "clavicle", side, axis_z(-4));
    cutis_synth_turn(k, p, "clavicle", side, axis_y(-5 * c));
    cutis_synth_turn(k, p, "upperarm", side, axis_x(34 * c + 4));
    cutis_synth_turn(k, p, "upperarm", side, axis_z(-33));
    cutis_synth_turn(k, p, "forearm", side, v3_scale(ELBOW, 82 - 14 * c));
    curl_fingers(k, p, side, curl);
    cutis_synth_turn(k, p, "thumb1", side, axis_y(14));
    cutis_synth_turn(k, p, "thumb2", side, axis_z(-14));
}

static void run(const synth_skeleton *k, double t, clip_pose *p)
{
    double s, c;
    sincos_degrees(360 * t, &s, &c);
    cutis_synth_turn(k, p, "hips", 0, axis_y(-8 * c));
    cutis_synth_turn(k, p, "hips", 0, axis_z(3 * s));
    cutis_synth_turn(k, p, "hips", 0, axis_x(7));
    cutis_synth_turn(k, p, "spine", 0, axis_y(8 * c));
    cutis_synth_turn(k, p, "spine", 0, axis_z(-2 * s));
    cutis_synth_turn(k, p, "spine", 0, axis_x(3));
    cutis_synth_turn(k, p, "chest", 0, axis_y(10 * c));
    cutis_synth_turn(k, p, "chest", 0, axis_z(-s));
    cutis_synth_turn(k, p, "neck", 0, axis_y(-5 * c));
    cutis_synth_turn(k, p, "neck", 0, axis_x(-5));
    cutis_synth_turn(k, p, "head", 0, axis_y(-5 * c));
    cutis_synth_turn(k, p, "head", 0, axis_x(-3));
    for (int side = 1; side >= -1; side -= 2) {
        run_leg(k, p, side, side > 0 ? t : t + 0.5);
        run_arm(k, p, side, side > 0 ? t : t + 0.5);
    }
    p->offset.y = cutis_synth_cycle(RUN_Y, t);
}

/// Standing: a breath, a slow look to either side, arms that hang. Feet stay where they are.
static void idle(const synth_skeleton *k, double t, clip_pose *p)
{
    static const double curl[4] = { 22, 26, 29, 31 };
    const double breath = cutis_synth_sine(2 * t), look = cutis_synth_sine(t);
    cutis_synth_turn(k, p, "spine", 0, axis_y(2 * look));
    cutis_synth_turn(k, p, "spine", 0, axis_x(0.6 * breath));
    cutis_synth_turn(k, p, "chest", 0, axis_x(-1.6 * breath));
    cutis_synth_turn(k, p, "chest", 0, axis_y(2 * look));
    cutis_synth_turn(k, p, "neck", 0, axis_x(0.8 * breath));
    cutis_synth_turn(k, p, "head", 0, axis_y(9 * look));
    cutis_synth_turn(k, p, "head", 0, axis_z(1.5 * look));
    for (int side = 1; side >= -1; side -= 2) {
        cutis_synth_turn(k, p, "clavicle", side, axis_z(-5 + 1.2 * breath));
        cutis_synth_turn(k, p, "upperarm", side, axis_x(-3 - 1.5 * look * side));
        cutis_synth_turn(k, p, "upperarm", side, axis_z(-37 + 1.5 * breath));
        cutis_synth_turn(k, p, "forearm", side, v3_scale(ELBOW, 16 + 2 * breath));
        cutis_synth_turn(k, p, "hand", side, axis_z(-4));
        curl_fingers(k, p, side, curl);
        cutis_synth_turn(k, p, "thumb1", side, axis_y(12));
        cutis_synth_turn(k, p, "thumb2", side, axis_z(-10));
    }
}

static const clip_row rows[] = {
    { "walk", 1.1, 16, walk, false, 0, 1 }, { "walk_forward", 1.1, 16, walk_forward, false, 0, 1 },
    { "bend", 4, 32, bend, false, 0, 1 },   { "twist", 4, 32, twist, false, 0, 1 },
    { "wave", 2, 80, wave, false, 0, 1 },
};
const clip_list cutis_synth_biped_clips = { rows, sizeof rows / sizeof *rows };

static const clip_row motions[] = {
    { "walk", 1.1, 16, walk, false, 0, 1 },
    { "run", 0.72, 16, run, false, 0, 1 },
    { "idle", 5, 40, idle, false, 0, 1 },
    { "wave", 2, 80, wave, false, 0, 1 },
};
const clip_list cutis_synth_biped_motions = { motions, sizeof motions / sizeof *motions };
