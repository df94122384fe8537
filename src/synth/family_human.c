/// Two legs, two arms, upright: people and plump toy bears.
#include "synth/family_kinds.h"

typedef struct human {
    double size, thick, hip, shin, thigh, torso, upper, fore, shoulder, hip_x, head, ankle, neck;
    double hips_y, spine_y, chest_y, neck_y, head_y, arm_y, arm, leg;
    int hips, spine, chest, neck_bone, head_bone;
    int clavicle[2], upperarm[2], forearm[2], hand[2], thighs[2], shins[2], foot[2];
} human;

static void draw_human(family *f, human *h)
{
    h->size = draw(f, 0.74, 1.08);
    h->thick = fat(f, 0.76, 1.62);
    h->arm = fat(f, 0.86, 1.4) * h->size;
    h->leg = fat(f, 0.82, 1.4) * h->size;
    h->shin = draw(f, 370, 460) * h->size;
    h->thigh = draw(f, 380, 470) * h->size;
    h->torso = draw(f, 470, 580) * h->size;
    h->upper = draw(f, 255, 320) * h->size;
    h->fore = draw(f, 230, 285) * h->size;
    h->shoulder = draw(f, 155, 200) * h->size + 14 * h->thick;
    h->hip_x = draw(f, 78, 100) * h->size + 10 * h->thick;
    h->head = draw(f, 98, 122) * (0.65 + 0.35 * h->size);
    h->neck = draw(f, 84, 122) * h->size;
    h->ankle = 78 * h->size;
    h->hip = h->ankle + h->shin + h->thigh;
    h->hips_y = h->hip + 50 * h->size;
    h->spine_y = h->hips_y + 0.28 * h->torso;
    h->chest_y = h->hips_y + 0.55 * h->torso;
    h->neck_y = h->hips_y + h->torso;
    h->head_y = h->neck_y + h->neck;
    h->arm_y = h->neck_y - 66 * h->size;
}

static void human_trunk(family *f, human *h, int head, int torso)
{
    double s = h->size, t = h->thick, r = h->head, belly = draw(f, 0, 60) * (t - 0.7);
    double fold = h->neck * 0.45;
    h->hips = bone(f, "hips", 0, -1, v3(0, h->hips_y, 0), 90);
    h->spine = bone(f, "spine", 0, h->hips, v3(0, h->spine_y, 0), 90 * s);
    h->chest = bone(f, "chest", 0, h->spine, v3(0, h->chest_y, -5), 90 * s);
    h->neck_bone = bone(f, "neck", 0, h->chest, v3(0, h->neck_y, -12), 0.5 * h->neck);
    h->head_bone = bone(f, "head", 0, h->neck_bone, v3(0, h->head_y, -4), 0.4 * h->neck);
    blob(f, h->hips, torso, v3(0, h->hip + 38 * s, -4),
         v3(h->hip_x + 62 * t * s, 125 * s, 92 * s * t), 60, 0);
    blob(f, h->spine, torso, v3(0, h->spine_y + 40 * s, 4 + belly),
         v3(118 * s * t, 0.33 * h->torso, 84 * s * t), 70, 0);
    blob(f, h->chest, torso, v3(0, h->chest_y + 0.2 * h->torso, -4),
         v3(0.78 * h->shoulder + 12 * t, 0.36 * h->torso, 98 * s * (0.4 + 0.6 * t)), 60, 0);
    double neck = (40 + 10 * t) * s;
    vec3 low = v3(0, h->neck_y - 45 * s, -14), middle = v3(0, h->neck_y + fold, -8);
    cone(f, h->neck_bone, torso, low, neck * 1.2, middle, neck, 40);
    cone(f, h->neck_bone, head, middle, neck, v3(0, h->head_y + 0.2 * r, -2), neck, 12);
    blob(f, h->head_bone, head, v3(0, h->head_y + 0.85 * r, -4), v3(0.78 * r, r, 0.95 * r), 25, 0);
    blob(f, h->head_bone, head, v3(0, h->head_y + 0.38 * r, 0.36 * r),
         v3(0.55 * r, 0.62 * r, 0.58 * r), 35, 0);
    cone(f, h->head_bone, head, v3(0, h->head_y + 0.85 * r, 0.86 * r), 13,
         v3(0, h->head_y + 0.55 * r, 1.02 * r), 17, 16);
}

static void human_hand(family *f, const human *h, int side, int b, int p, double x)
{
    double y = h->arm_y, s = h->size, length = 0.62 * h->fore, width = 41 * s;
    vec3 up = v3(0, 1, 0);
    flat(f, b, p, at(side, x, y, 0), 30 * h->arm, at(side, x + 0.5 * length, y, 4), width, 20, 0.84,
         up);
    f->place--;
    flat(f, b, p, at(side, x + 0.45 * length, y, 4), width, at(side, x + 0.85 * length, y, 4),
         0.78 * width, 14, 0.82, up);
    f->place--;
    cone(f, b, p, at(side, x + 0.16 * length, y, 18 * s), 27 * s,
         at(side, x + 0.48 * length, y - 4, 62 * s), 25 * s, 14);
}

static void human_arm(family *f, human *h, int side, int torso)
{
    int i = side < 0, upper = part(f, "upperarm", side), fore = part(f, "forearm", side);
    int hand = part(f, "hand", side);
    double x = h->shoulder, y = h->arm_y, r = h->arm, e = x + h->upper, w = e + h->fore;
    h->clavicle[i] = bone(f, "clavicle", side, h->chest, at(side, 0.3 * x, y + 20, -8), 60 * r);
    h->upperarm[i] = bone(f, "upperarm", side, h->clavicle[i], at(side, x, y, 0), 52 * r);
    h->forearm[i] = bone(f, "forearm", side, h->upperarm[i], at(side, e, y, 0), 44 * r);
    h->hand[i] = bone(f, "hand", side, h->forearm[i], at(side, w, y, 0), 32 * r);
    trunk(f);
    cone(f, h->clavicle[i], torso, at(side, 0.3 * x, y + 12, -8), 62 * r,
         at(side, 0.9 * x, y + 4, 0), 56 * r, 45);
    limb(f);
    cone(f, h->upperarm[i], upper, at(side, x, y, 0), 54 * r, at(side, e, y, 0), 39 * r, 30);
    cone(f, h->forearm[i], fore, at(side, e, y, 0), 40 * r, at(side, w, y, 0), 27 * r, 14);
    human_hand(f, h, side, h->hand[i], hand, w);
}

static void human_leg(family *f, human *h, int side)
{
    int i = side < 0, thigh = part(f, "thigh", side), shin = part(f, "shin", side);
    int foot = part(f, "foot", side);
    double x = h->hip_x, r = h->leg, s = h->size, knee = h->ankle + h->shin;
    h->thighs[i] = bone(f, "thigh", side, h->hips, at(side, x, h->hip, 0), 80 * r);
    h->shins[i] = bone(f, "shin", side, h->thighs[i], at(side, x, knee, 4), 56 * r);
    h->foot[i] = bone(f, "foot", side, h->shins[i], at(side, x, h->ankle, -8), 36 * r);
    int toes = bone(f, "toes", side, h->foot[i], at(side, x + 12 * s, 34 * s, 112 * s), 26 * s);
    limb(f);
    cone(f, h->thighs[i], thigh, at(side, x, h->hip - 10, 0), 84 * r, at(side, x, knee, 4), 53 * r,
         50);
    cone(f, h->shins[i], shin, at(side, x, knee, 2), 53 * r, at(side, x, h->ankle, -8), 34 * r, 16);
    f->place--;
    blob(f, h->shins[i], shin, at(side, x, knee - 0.3 * h->shin, -18 * r),
         v3(47 * r, 0.34 * h->shin, 44 * r), 30, 0);
    cone(f, h->foot[i], foot, at(side, x, h->ankle - 12 * s, -16), 36 * s + 2,
         at(side, x, 40 * s, -24), 38 * s, 20);
    f->place--;
    flat(f, h->foot[i], foot, at(side, x, 46 * s, -10), 42 * s,
         at(side, x + 12 * s, 32 * s, 112 * s), 40 * s, 24, 0.75, v3(0, 1, 0));
    f->place--;
    flat(f, toes, foot, at(side, x + 12 * s, 32 * s, 112 * s), 40 * s,
         at(side, x + 16 * s, 28 * s, 165 * s), 32 * s, 8, 0.7, v3(0, 1, 0));
}

/// Down from the horizontal, forwards, and how far the elbow is bent.
static void pose_arm(family *f, const human *h, int i, double down, double forward, double elbow)
{
    turn(f, h->clavicle[i], v3(0, 0, -0.15 * down));
    turn(f, h->upperarm[i], v3(0, 0, -0.85 * down));
    turn(f, h->upperarm[i], v3(-forward, 0, 0));
    turn(f, h->forearm[i], v3(0, -elbow, 0));
}

static void pose_leg(family *f, const human *h, int i, double forward, double out, double knee)
{
    turn(f, h->thighs[i], v3(-forward, 0, 0));
    turn(f, h->thighs[i], v3(0, forward > 45 ? out : 0, forward > 45 ? 0 : out));
    turn(f, h->shins[i], v3(knee, 0, 0));
    turn(f, h->foot[i], v3(0.3 * (forward - knee), 0, 0));
}

static void bend_human(family *f, const human *h)
{
    turn(f, h->spine, draw3(f, v3(-8, -18, -9), v3(22, 18, 9)));
    turn(f, h->chest, draw3(f, v3(-6, -14, -8), v3(14, 14, 8)));
    turn(f, h->neck_bone, either3(f, 10, 15, 6));
    turn(f, h->head_bone, either3(f, 12, 22, 8));
    for (int i = 0; i < 2; i++) {
        double down = draw(f, -40, 62), forward = draw(f, -15, 45), elbow = draw(f, 20, 95);
        pose_arm(f, h, i, down, forward, elbow);
        double lift = draw(f, -12, 48), out = draw(f, 3, 16), knee = draw(f, 2, 30);
        pose_leg(f, h, i, lift, out, knee + (lift > 0 ? lift : 0));
    }
}

static void pose_human(family *f, const human *h)
{
    begin_pose(f);
    if (f->pose == CUTIS_FAMILY_POSE_BENT) {
        bend_human(f, h);
        return;
    }
    bool sits = f->pose == CUTIS_FAMILY_POSE_SITTING, t = f->pose == CUTIS_FAMILY_POSE_T;
    double down = t ? draw(f, -6, 8) : sits ? draw(f, 38, 62) : draw(f, 30, 62);
    double forward = sits ? draw(f, 10, 45) : either(f, 6), elbow = draw(f, 0, t ? 6 : 22);
    double lift = sits ? draw(f, 75, 95) : 0, out = draw(f, sits ? 6 : 3, sits ? 16 : 10);
    double knee = sits ? draw(f, 70, 95) : 0;
    if (sits) elbow = draw(f, 10, 60);
    turn(f, h->head_bone, v3(either(f, 6), 0, 0));
    for (int i = 0; i < 2; i++) {
        pose_arm(f, h, i, down, forward, elbow);
        pose_leg(f, h, i, lift, out, knee);
    }
}

void cutis_family_human(family *f)
{
    human h;
    int head = part(f, "head", 0), torso = part(f, "torso", 0);
    draw_human(f, &h);
    human_trunk(f, &h, head, torso);
    for (int side = 1; side >= -1; side -= 2) human_arm(f, &h, side, torso);
    for (int side = 1; side >= -1; side -= 2) human_leg(f, &h, side);
    pose_human(f, &h);
    f->scale = 1;
}

typedef struct bear {
    double thick, rx, ry, rz, head, ear, arm, leg, arm_length, leg_length;
    int hips, chest, head_bone, upperarm[2], forearm[2], thigh[2], foot[2];
} bear;

static void bear_limbs(family *f, bear *b, int side)
{
    int i = side < 0, arm = part(f, "arm", side), leg = part(f, "leg", side);
    double x = 0.72 * b->rx, y = 0.52 * b->ry, r = b->arm, l = b->arm_length, far = 0.8 * b->rx + r;
    b->upperarm[i] = bone(f, "upperarm", side, b->chest, at(side, x, y, 0), 0.9 * r);
    b->forearm[i] =
        bone(f, "forearm", side, b->upperarm[i], at(side, far + 0.45 * l, y, 0), 0.9 * r);
    limb(f);
    cone(f, b->upperarm[i], arm, at(side, x, y, 0), r, at(side, far + 0.45 * l, y, 0), 0.95 * r,
         35);
    cone(f, b->forearm[i], arm, at(side, far + 0.45 * l, y, 0), 0.95 * r, at(side, far + l, y, 0),
         0.9 * r, 12);
    x = 0.5 * b->rx, y = -0.62 * b->ry, r = b->leg, l = b->leg_length;
    double knee = -0.9 * b->ry - 0.4 * l, ankle = -0.95 * b->ry - l;
    b->thigh[i] = bone(f, "thigh", side, b->hips, at(side, x, y, 0), r);
    b->foot[i] = bone(f, "foot", side, b->thigh[i], at(side, 1.1 * x, knee, 0), 0.9 * r);
    limb(f);
    cone(f, b->thigh[i], leg, at(side, x, y, 0), 1.05 * r, at(side, 1.1 * x, knee, 0), r, 35);
    f->place--;
    cone(f, b->foot[i], leg, at(side, 1.1 * x, knee, 0), r, at(side, 1.12 * x, ankle, 0), 0.95 * r,
         12);
    f->place--;
    cone(f, b->foot[i], leg, at(side, 1.12 * x, ankle - 0.1 * r, 0), 0.8 * r,
         at(side, 1.15 * x, ankle - 0.15 * r, 0.75 * r), 0.75 * r, 20);
}

static void bear_ears(family *f, const bear *b, int side, double y)
{
    int p = part(f, "ear", side);
    double x = 0.68 * b->head, r = b->ear;
    vec3 low = at(side, x, y + 0.62 * b->head, 0), tip = at(side, 1.25 * x, y + 1.1 * b->head, 0);
    int ear = bone(f, "ear", side, b->head_bone, low, 0.6 * r);
    limb(f);
    flat(f, ear, p, v3_mix(low, tip, 0.4), 0.8 * r, tip, r, 14, 0.6, v3(0, 0, 1));
}

static void pose_bear(family *f, const bear *b)
{
    begin_pose(f);
    bool sits = f->pose == CUTIS_FAMILY_POSE_SITTING, bent = f->pose == CUTIS_FAMILY_POSE_BENT;
    double down = f->pose == CUTIS_FAMILY_POSE_T ? draw(f, -8, 6) : draw(f, 15, 45);
    double forward = sits ? draw(f, 10, 40) : 0, elbow = draw(f, 0, 25), out = draw(f, 4, 16);
    double lift = sits ? draw(f, 70, 88) : 0;
    if (bent) {
        turn(f, b->chest, draw3(f, v3(-5, -16, -10), v3(14, 16, 10)));
        turn(f, b->head_bone, either3(f, 10, 28, 14));
    }
    for (int i = 0; i < 2; i++) {
        if (bent) down = draw(f, -45, 40), forward = draw(f, -15, 45), elbow = draw(f, 5, 45);
        if (bent) lift = draw(f, -15, 50), out = draw(f, 6, 18);
        turn(f, b->upperarm[i], v3(0, 0, -down));
        turn(f, b->upperarm[i], v3(-forward, 0, 0));
        turn(f, b->forearm[i], v3(0, -elbow, 0));
        turn(f, b->thigh[i], v3(-lift, 0, 0));
        turn(f, b->thigh[i], v3(0, sits ? out : 0, sits ? 0 : out));
        turn(f, b->foot[i], v3(sits ? draw(f, 0, 15) : 0.5 * lift, 0, 0));
    }
}

void cutis_family_bear(family *f)
{
    int head = part(f, "head", 0), torso = part(f, "torso", 0);
    bear b = { .thick = fat(f, 0.82, 1.18) };
    b.rx = draw(f, 175, 225) * b.thick, b.ry = draw(f, 215, 285), b.rz = 0.92 * b.rx;
    b.head = draw(f, 150, 215), b.ear = draw(f, 52, 82);
    b.arm = draw(f, 62, 84) * b.thick, b.leg = draw(f, 76, 98) * b.thick;
    b.arm_length = draw(f, 110, 260), b.leg_length = draw(f, 90, 240);
    double y = 0.9 * b.ry + 0.72 * b.head, muzzle = draw(f, 0.35, 0.5) * b.head;
    b.hips = bone(f, "hips", 0, -1, v3(0, -0.4 * b.ry, 0), 100);
    b.chest = bone(f, "chest", 0, b.hips, v3(0, 0.15 * b.ry, 0), 90);
    b.head_bone = bone(f, "head", 0, b.chest, v3(0, 0.9 * b.ry, 0), 60);
    blob(f, b.hips, torso, v3(0, -0.22 * b.ry, 0), v3(b.rx, 0.8 * b.ry, b.rz), 60, 0);
    blob(f, b.chest, torso, v3(0, 0.3 * b.ry, 0), v3(0.84 * b.rx, 0.7 * b.ry, 0.84 * b.rz), 60, 0);
    blob(f, b.head_bone, head, v3(0, y, 6), v3(b.head * 1.08, b.head, b.head * 0.98), 22, 0);
    cone(f, b.head_bone, head, v3(0, y - 0.18 * b.head, 0.6 * b.head), 1.1 * muzzle,
         v3(0, y - 0.22 * b.head, 0.95 * b.head), 0.85 * muzzle, 25);
    for (int side = 1; side >= -1; side -= 2) bear_limbs(f, &b, side);
    for (int side = 1; side >= -1; side -= 2) bear_ears(f, &b, side, y);
    pose_bear(f, &b);
    f->scale = 0.4;
}
