/// Many limbs: octopuses, insects, hands.
#include "synth/family_kinds.h"

#include <stdio.h>

enum { ARMS = 4, ARM_BONES = 5 };

typedef struct octopus {
    int arms[2][ARMS][ARM_BONES];
    vec3 ways[2][ARMS];
} octopus;

static void octopus_arm(family *f, octopus *o, int side, int i, int body, double length, double r,
                        double tip)
{
    static const char *const parts[ARMS] = { "arm1", "arm2", "arm3", "arm4" };
    char name[24];
    int s = side < 0, p = part(f, parts[i], side), up = body;
    synth_quat q = cutis_synth_rotation(v3(0, side * (22.5 + 45 * i), 0));
    vec3 way = cutis_synth_quat_rotate(q, v3(0, 0, 1)), a = v3_mad(v3(0, -40, 0), 100, way);
    o->ways[s][i] = way;
    limb(f);
    for (int k = 0; k < ARM_BONES; k++) {
        double t = k / (double)ARM_BONES, u = (k + 1) / (double)ARM_BONES;
        vec3 b = v3_mad(a, length / ARM_BONES + (k ? 0 : 40), way);
        snprintf(name, sizeof name, "%s_%d", parts[i], k + 1);
        o->arms[s][i][k] = up = bone(f, name, side, up, a, r + t * (tip - r) + 8);
        cone(f, up, p, a, r + t * (tip - r), b, r + u * (tip - r), k ? 8 : 30);
        a = b;
    }
}

/// Bone k of an arm turned down by some degrees, and aside.
static void octopus_turn(family *f, const octopus *o, int s, int i, int k, double down,
                         double aside)
{
    // Right-hand bones mirror what they are given; the way is mirrored back for it.
    vec3 way = o->ways[s][i], mine = v3(s ? -way.x : way.x, way.y, way.z);
    turn(f, o->arms[s][i][k], v3_scale(v3_cross(v3(0, 1, 0), mine), down));
    turn(f, o->arms[s][i][k], v3(0, aside, 0));
}

static void pose_octopus(family *f, const octopus *o)
{
    begin_pose(f);
    bool bent = f->pose == CUTIS_FAMILY_POSE_BENT, curls = f->pose == CUTIS_FAMILY_POSE_SITTING;
    bool straight = f->pose == CUTIS_FAMILY_POSE_T;
    double first = straight ? draw(f, 0, 8) : draw(f, 18, 46), rest = straight ? 0 : draw(f, 2, 12);
    double curl = curls ? draw(f, 16, 34) : straight ? 0 : draw(f, 0, 14);
    for (int n = 0; n < 2 * ARMS; n++) {
        int s = n % 2, i = n / 2;
        double aside = bent ? either(f, 24) : 0, start = bent ? draw(f, -8, 48) : first;
        double wave = bent ? either(f, 22) : rest;
        for (int k = 0; k < ARM_BONES; k++) {
            double down = k == 0 ? start : k == 1 ? wave : curls || !bent ? -curl : -wave;
            octopus_turn(f, o, s, i, k, down, k ? aside : 0.3 * aside);
        }
    }
}

void cutis_family_octopus(family *f)
{
    octopus o;
    int head = part(f, "head", 0);
    double t = fat(f, 0.85, 1.25), rx = draw(f, 130, 185) * t, ry = draw(f, 160, 290);
    double length = draw(f, 520, 820), r = draw(f, 46, 62) * (0.6 + 0.4 * t), tip = draw(f, 16, 22);
    double lean = draw(f, 0, 45), eye = draw(f, 30, 44);
    int body = bone(f, "body", 0, -1, v3(0, 0, 0), 80);
    int mantle = bone(f, "mantle", 0, body, v3(0, 95, -10), 90);
    blob(f, body, head, v3(0, 10, 0), v3(140, 95, 140), 40, 0);
    synth_quat q = cutis_synth_rotation(v3(-lean, 0, 0));
    vec3 centre = v3_add(v3(0, 90, -10), cutis_synth_quat_rotate(q, v3(0, 0.75 * ry, 0)));
    blob(f, mantle, head, centre, v3(rx, ry, 0.9 * rx), 70, -lean);
    for (int side = 1; side >= -1; side -= 2)
        blob(f, body, head, at(side, 96, 78, 92), v3(eye, eye, eye), 18, 0);
    for (int n = 0; n < 2 * ARMS; n++)
        octopus_arm(f, &o, n % 2 ? -1 : 1, n / 2, body, length, r, tip);
    pose_octopus(f, &o);
    f->scale = 0.6;
}

typedef struct insect {
    int thorax, head, abdomen[2], femur[2][3], tibia[2][3], tarsus[2][3], feelers[2];
    double lengths[3], r, rise, fall;
} insect;

/// A direction `out` degrees from +z towards the side, `up` degrees above the ground.
static vec3 heading(int side, double out, double up)
{
    synth_quat a = cutis_synth_rotation(v3(0, out, 0)), b = cutis_synth_rotation(v3(-up, 0, 0));
    vec3 v = cutis_synth_quat_rotate(a, cutis_synth_quat_rotate(b, v3(0, 0, 1)));
    return v3(side * v.x, v.y, v.z);
}

static void insect_leg(family *f, insect *b, int side, int i, double x, double z)
{
    static const char *const parts[3] = { "leg1", "leg2", "leg3" };
    static const char *const names[3][3] = { { "femur1", "tibia1", "tarsus1" },
                                             { "femur2", "tibia2", "tarsus2" },
                                             { "femur3", "tibia3", "tarsus3" } };
    static const double ways[3] = { 48, 94, 134 };
    int s = side < 0, p = part(f, parts[i], side);
    double r = b->r, more = i == 2 ? 1.15 : 1;
    vec3 a = at(side, x, -30, z);
    vec3 knee = v3_mad(a, more * b->lengths[0] + 50, heading(side, ways[i], b->rise));
    vec3 ankle = v3_mad(knee, more * b->lengths[1], heading(side, ways[i], -b->fall));
    vec3 toe = v3_mad(ankle, b->lengths[2], heading(side, ways[i], -18));
    b->femur[s][i] = bone(f, names[i][0], side, b->thorax, a, 1.3 * r);
    b->tibia[s][i] = bone(f, names[i][1], side, b->femur[s][i], knee, 1.2 * r);
    b->tarsus[s][i] = bone(f, names[i][2], side, b->tibia[s][i], ankle, 1.1 * r);
    limb(f);
    cone(f, b->femur[s][i], p, a, 1.25 * r, knee, 1.05 * r, 18);
    cone(f, b->tibia[s][i], p, knee, r, ankle, 0.85 * r, 8);
    cone(f, b->tarsus[s][i], p, ankle, 0.85 * r, toe, 0.75 * r, 8);
}

static void insect_feeler(family *f, insect *b, int side, vec3 from, double length, double out)
{
    int p = part(f, "antenna", side);
    vec3 middle = v3_mad(from, 0.55 * length, heading(side, out, 50));
    vec3 tip = v3_mad(middle, 0.6 * length, heading(side, 0.8 * out, 5));
    b->feelers[side < 0] = bone(f, "antenna1", side, b->head, from, 22);
    int second = bone(f, "antenna2", side, b->feelers[side < 0], middle, 22);
    limb(f);
    cone(f, b->feelers[side < 0], p, from, 25, middle, 23, 12);
    cone(f, second, p, middle, 23, tip, 21, 6);
}

static void pose_insect(family *f, const insect *b)
{
    begin_pose(f);
    bool bent = f->pose == CUTIS_FAMILY_POSE_BENT, sits = f->pose == CUTIS_FAMILY_POSE_SITTING;
    bool straight = f->pose == CUTIS_FAMILY_POSE_T;
    double lift = sits ? draw(f, 8, 22) : straight ? -0.6 * b->rise : 0, most = bent ? 20 : 6;
    double fold = sits ? -draw(f, 8, 18) : straight ? 0.55 * (b->rise + b->fall) : 0;
    if (bent) {
        turn(f, b->head, either3(f, 18, 25, 10));
        turn(f, b->abdomen[0], either3(f, 16, 22, 0));
        turn(f, b->abdomen[1], either3(f, 10, 14, 0));
    }
    for (int n = 0; n < 6; n++) {
        static const double ways[3] = { 48, 94, 134 };
        int s = n % 2, i = n / 2;
        vec3 up = v3_cross(heading(1, ways[i], 0), v3(0, 1, 0));
        double swing = straight || sits ? 0 : either(f, most), flex = bent ? either(f, 20) : 0;
        turn(f, b->femur[s][i], v3_scale(up, lift + 0.5 * flex));
        turn(f, b->femur[s][i], v3(0, swing, 0));
        turn(f, b->tibia[s][i], v3_scale(up, fold + flex));
    }
}

void cutis_family_insect(family *f)
{
    insect b;
    int head = part(f, "head", 0), thorax = part(f, "thorax", 0), abdomen = part(f, "abdomen", 0);
    double t = fat(f, 0.85, 1.3), x = draw(f, 78, 100) * t, z = draw(f, 125, 165);
    double skull = draw(f, 72, 100), waist = draw(f, 34, 52), way = z + 0.6 * skull;
    double rear = draw(f, 80, 130) * t, half = draw(f, 120, 240), droop = draw(f, -5, 22);
    b.lengths[0] = draw(f, 150, 270), b.lengths[1] = draw(f, 180, 320);
    b.lengths[2] = draw(f, 70, 140), b.r = draw(f, 22, 28) * (0.5 + 0.5 * t);
    b.rise = draw(f, 12, 48), b.fall = draw(f, 45, 68);
    b.thorax = bone(f, "thorax", 0, -1, v3(0, 0, 0), 70);
    b.head = bone(f, "head", 0, b.thorax, v3(0, 8, 0.92 * z), 36);
    vec3 root = v3(0, 0, -0.9 * z), back = heading(1, 180, -droop);
    b.abdomen[0] = bone(f, "abdomen1", 0, b.thorax, root, 40);
    vec3 middle = v3_mad(root, 30 + half, back);
    b.abdomen[1] = bone(f, "abdomen2", 0, b.abdomen[0], middle, 0.7 * rear);
    blob(f, b.thorax, thorax, v3(0, 0, 0), v3(x, 0.92 * x, z), 30, 0);
    cone(f, b.head, head, v3(0, 8, 0.85 * z), 42, v3(0, 12, way), 46, 20);
    blob(f, b.head, head, v3(0, 12, way + 0.3 * skull), v3(skull, 0.85 * skull, 0.82 * skull), 20,
         0);
    cone(f, b.abdomen[0], abdomen, root, waist, v3_mad(root, 60, back), waist + 12, 20);
    blob(f, b.abdomen[0], abdomen, v3_mad(root, 40 + 0.75 * half, back),
         v3(rear, 0.92 * rear, half), 30, -droop);
    blob(f, b.abdomen[1], abdomen, v3_mad(root, 40 + 1.4 * half, back),
         v3(0.8 * rear, 0.75 * rear, 0.75 * half), 60, -droop);
    for (int n = 0; n < 6; n++) {
        int i = n / 2;
        insect_leg(f, &b, n % 2 ? -1 : 1, i, 0.6 * x, (1 - i) * 0.52 * z);
    }
    if (draw(f, 0, 1) < 0.75) {
        double length = draw(f, 130, 300), out = draw(f, 18, 45);
        for (int side = 1; side >= -1; side -= 2)
            insect_feeler(f, &b, side, at(side, 0.4 * skull, 12 + 0.5 * skull, way + 0.6 * skull),
                          length, out);
    }
    pose_insect(f, &b);
    f->scale = 0.2;
}

typedef struct hand {
    double stub, palm, gap, r, length, fan;
    int fingers[5][3]; ///< thumb first
} hand;

static void hand_palm(family *f, const hand *h, int b, int p, double mirror)
{
    vec3 front = v3(0, 0, 1);
    for (int i = 0; i < 4; i++) {
        double x = mirror * (1.5 - i) * h->gap, reach = h->palm * (i == 3   ? 0.9
                                                                   : i == 1 ? 1.02
                                                                            : 1);
        flat(f, b, p, v3(0.68 * x, 50, 0), 86, v3(0.96 * x, reach - 30, 0), 0.66 * h->gap, 70, 0.8,
             front);
    }
}

static void hand_finger(family *f, hand *h, int b, int i, double mirror)
{
    static const char *const names[5] = { "thumb", "index", "middle", "ring", "pinky" };
    static const double lengths[5] = { 0, 0.92, 1, 0.93, 0.74 }, shares[3] = { 0.46, 0.29, 0.25 };
    char name[24];
    int p = part(f, names[i], 0), up = b;
    double x = mirror * (2.5 - i) * h->gap, r = h->r * (i == 4 ? 0.88 : 1);
    double y = h->palm * (i == 4 ? 0.9 : i == 2 ? 1.02 : 1) - 30, fan = h->fan * (2.3 - i) * 6;
    synth_quat q = cutis_synth_rotation(v3(0, 0, -mirror * fan));
    vec3 way = cutis_synth_quat_rotate(q, v3(0, 1, 0)), a = v3(x, y, 0);
    limb(f);
    for (int k = 0; k < 3; k++) {
        vec3 c = v3_mad(a, lengths[i] * h->length * shares[k] + (k ? 0 : 30), way);
        snprintf(name, sizeof name, "%s%d", names[i], k + 1);
        h->fingers[i][k] = up = bone(f, name, 0, up, a, 0.9 * r);
        cone(f, up, p, a, r * (1.04 - 0.07 * k), c, r * (0.97 - 0.07 * k), k ? 7 : 16);
        a = c;
    }
}

static void hand_thumb(family *f, hand *h, int b, int palm, double mirror)
{
    int p = part(f, "thumb", 0);
    double l = 0.42 * h->length, x = 1.5 * h->gap;
    vec3 a = v3(mirror * 0.6 * x, 90, 20),
         c = v3_add(a, v3(mirror * (0.55 * x + 60), 0.4 * h->palm, 45));
    vec3 way = v3_unit(v3(mirror * 0.72, 0.66, 0.2)), d = v3_mad(c, l, way);
    h->fingers[0][0] = bone(f, "thumb1", 0, b, a, 70);
    h->fingers[0][1] = bone(f, "thumb2", 0, h->fingers[0][0], c, 0.95 * h->r);
    h->fingers[0][2] = bone(f, "thumb3", 0, h->fingers[0][1], d, 0.9 * h->r);
    trunk(f);
    cone(f, h->fingers[0][0], palm, a, 82, v3_mix(a, c, 0.75), 1.3 * h->r, 40);
    limb(f);
    cone(f, h->fingers[0][1], p, v3_mix(a, c, 0.7), 1.25 * h->r, d, 1.08 * h->r, 25);
    cone(f, h->fingers[0][2], p, d, 1.08 * h->r, v3_mad(d, 0.85 * l, way), 0.88 * h->r, 7);
}

static void pose_hand(family *f, const hand *h, int wrist, double mirror)
{
    begin_pose(f);
    bool bent = f->pose == CUTIS_FAMILY_POSE_BENT, curls = f->pose == CUTIS_FAMILY_POSE_SITTING;
    double least = curls ? 22 : f->pose == CUTIS_FAMILY_POSE_T ? 0 : 8;
    double most = curls ? 44 : f->pose == CUTIS_FAMILY_POSE_T ? 3 : 18, by = draw(f, least, most);
    if (bent) turn(f, wrist, either3(f, 25, 0, 15));
    for (int i = 1; i < 5; i++) {
        if (bent) by = draw(f, 0, 1) < 0.4 ? draw(f, 0, 10) : draw(f, 15, 52);
        for (int k = 0; k < 3; k++) turn(f, h->fingers[i][k], v3(by * (1.1 - 0.15 * k), 0, 0));
    }
    double thumb = bent ? draw(f, 0, 30) : 0.4 * by;
    turn(f, h->fingers[0][0], v3(0.3 * thumb, -mirror * 0.4 * thumb, 0));
    turn(f, h->fingers[0][1], v3(0.3 * thumb, 0, mirror * 0.5 * thumb));
    turn(f, h->fingers[0][2], v3(0, 0, mirror * thumb));
}

void cutis_family_hand(family *f)
{
    hand h;
    double t = fat(f, 0.8, 1.06), mirror = draw(f, 0, 1) < 0.5 ? -1 : 1;
    h.stub = draw(f, 90, 480), h.palm = draw(f, 350, 430), h.gap = draw(f, 98, 112);
    h.r = 42 * t, h.length = draw(f, 310, 430), h.fan = draw(f, 0.75, 1.5);
    int palm = part(f, "palm", 0), arm = h.stub > 260 ? part(f, "forearm", 0) : palm;
    int forearm = bone(f, "forearm", 0, -1, v3(0, -0.8 * h.stub, 0), 100);
    int wrist = bone(f, "hand", 0, forearm, v3(0, 0, 0), 90);
    flat(f, forearm, arm, v3(0, -h.stub, 0), 134 * t, v3(0, 0, 0), 116 * t, 50, 0.78, v3(0, 0, 1));
    hand_palm(f, &h, wrist, palm, mirror);
    hand_thumb(f, &h, wrist, palm, mirror);
    for (int i = 1; i < 5; i++) hand_finger(f, &h, wrist, i, mirror);
    pose_hand(f, &h, wrist, mirror);
    f->scale = 0.2;
}
