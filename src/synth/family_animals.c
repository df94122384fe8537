/// Four-legged animals, birds and fish.
#include "synth/family_kinds.h"

/// From a: so far along a direction in the plane x = const, up from +z by degrees.
static vec3 along(vec3 a, double length, double up)
{
    synth_quat q = cutis_synth_rotation(v3(-up, 0, 0));
    return v3_mad(a, length, cutis_synth_quat_rotate(q, v3(0, 0, 1)));
}

typedef struct quadruped {
    double leg, length, r, limb_r, y, neck_up;
    int hips, spine, chest, necks[2], neck_count, head, tails[3];
    int upper[2][2], lower[2][2], paw[2][2]; ///< front and hind, left and right
} quadruped;

static void quadruped_trunk(family *f, quadruped *q, int torso)
{
    double y = q->y, l = q->length, r = q->r, sag = draw(f, -0.1, 0.12) * r;
    q->hips = bone(f, "hips", 0, -1, v3(0, y, -0.4 * l), 100);
    q->spine = bone(f, "spine", 0, q->hips, v3(0, y, -0.14 * l), 0.85 * r);
    q->chest = bone(f, "chest", 0, q->spine, v3(0, y, 0.16 * l), 0.85 * r);
    blob(f, q->hips, torso, v3(0, y + 0.02 * r, -0.34 * l), v3(0.8 * r, 0.9 * r, 0.27 * l), 60, 0);
    blob(f, q->spine, torso, v3(0, y - sag, 0), v3(0.86 * r, 0.92 * r, 0.36 * l), 70, 0);
    blob(f, q->chest, torso, v3(0, y - 0.03 * r, 0.32 * l), v3(0.9 * r, 1.06 * r, 0.27 * l), 60, 0);
}

static void quadruped_ears(family *f, const quadruped *q, int p, vec3 skull, double r)
{
    double length = draw(f, 0.45, 1.35) * r, out = draw(f, 0.4, 1.6);
    for (int side = 1; side >= -1; side -= 2) {
        vec3 low = v3_add(skull, at(side, 0.55 * r, 0.6 * r, -0.3 * r));
        vec3 to = v3_unit(v3(side * out, 1, -0.2));
        f->place--;
        flat(f, q->head, p, low, 0.42 * r, v3_mad(low, length, to), 0.3 * r + 2, 14, 0.62,
             v3(0, 0.2, 1));
    }
}

static void quadruped_head(family *f, quadruped *q, int neck_part, int head_part)
{
    double length = draw(f, 120, 460), r = q->r, head = draw(f, 0.44, 0.6) * r + 22;
    double muzzle = draw(f, 1.1, 2.3) * head, nod = q->neck_up > 45 ? -25 : -12;
    double thick = draw(f, 0.4, 0.55) * r, thin = draw(f, 0.7, 0.85) * head;
    vec3 a = v3(0, q->y + 0.3 * r, 0.4 * q->length), from = a;
    q->neck_count = length > 280 ? 2 : 1;
    limb(f);
    a = along(a, 0.45 * r, q->neck_up);
    for (int i = 0, up = q->chest; i < q->neck_count; i++) {
        double t = (i + 1.0) / q->neck_count, s = (double)i / q->neck_count;
        vec3 b = along(a, length / q->neck_count, q->neck_up + (i ? 8 : 0));
        q->necks[i] = up = bone(f,
                                q->neck_count == 1 ? "neck"
                                : i                ? "neck2"
                                                   : "neck1",
                                0, up, i ? a : from, 0.8 * thick);
        cone(f, up, neck_part, i ? a : v3_mix(from, a, 0.6),
             thick + s * (thin - thick) + (i ? 0 : 12), b, thick + t * (thin - thick), i ? 14 : 45);
        a = b;
    }
    q->head = bone(f, "head", 0, q->necks[q->neck_count - 1], a, 0.7 * thin);
    vec3 skull = along(a, 0.35 * head, 20), nose = along(skull, muzzle, nod);
    blob(f, q->head, head_part, skull, v3(0.9 * head, 0.95 * head, 1.05 * head), 22, 0);
    f->place--;
    cone(f, q->head, head_part, skull, 0.7 * head, nose, draw(f, 0.38, 0.55) * head, 25);
    quadruped_ears(f, q, head_part, skull, head);
}

static void quadruped_tail(family *f, quadruped *q)
{
    int p = part(f, "tail", 0), up = q->hips;
    static const char *const names[3] = { "tail1", "tail2", "tail3" };
    double length = draw(f, 150, 560) / 3, r = draw(f, 26, 42), tip = draw(f, 16, 24);
    double way = 180 + draw(f, -35, 40);
    vec3 a = v3(0, q->y + 0.35 * q->r, -0.5 * q->length);
    limb(f);
    for (int i = 0; i < 3; i++) {
        vec3 b = along(a, length + (i ? 0 : 40), way);
        double t = i / 3.0, u = (i + 1) / 3.0;
        q->tails[i] = up = bone(f, names[i], 0, up, a, r + 4);
        cone(f, up, p, a, r + t * (tip - r), b, r + u * (tip - r), i ? 8 : 22);
        a = b;
    }
}

/// Front (0) or hind (1) leg; the bends of the two face each other.
static void quadruped_leg(family *f, quadruped *q, int hind, int side, double bend)
{
    static const char *const names[2][3] = { { "upperarm", "forearm", "hand" },
                                             { "thigh", "shin", "foot" } };
    static const char *const parts[2][2] = { { "front_upper", "front_lower" },
                                             { "hind_upper", "hind_lower" } };
    int i = side < 0, upper = part(f, parts[hind][0], side), lower = part(f, parts[hind][1], side);
    double x = 0.56 * q->r, y = q->y - 0.1 * q->r, r = q->limb_r, way = hind ? 1 : -1;
    double z = (hind ? -0.4 : 0.34) * q->length, knee = 0.52 * y, ankle = 0.16 * y + 18;
    vec3 top = at(side, x, y, z), middle = at(side, 1.05 * x, knee, z + way * bend);
    vec3 low = at(side, 1.05 * x, ankle, z - way * 0.5 * bend);
    vec3 toe = at(side, 1.05 * x, r, z - way * 0.4 * bend + 0.4 * r);
    q->upper[hind][i] = bone(f, names[hind][0], side, hind ? q->hips : q->chest, top, 1.5 * r);
    q->lower[hind][i] = bone(f, names[hind][1], side, q->upper[hind][i], middle, 1.2 * r);
    q->paw[hind][i] = bone(f, names[hind][2], side, q->lower[hind][i], low, r);
    limb(f);
    cone(f, q->upper[hind][i], upper, top, hind ? 2.1 * r : 1.8 * r, middle, 1.15 * r, 40);
    cone(f, q->lower[hind][i], lower, middle, 1.15 * r, low, 0.88 * r, 12);
    cone(f, q->paw[hind][i], lower, low, 0.88 * r, toe, 1.05 * r, 10);
    f->place--;
    cone(f, q->paw[hind][i], lower, toe, 1.02 * r, v3_add(toe, v3(0, -0.1 * r, 0.9 * r)), 0.85 * r,
         10);
}

static void pose_neck(family *f, const quadruped *q, vec3 by)
{
    for (int i = 0; i < q->neck_count; i++) turn(f, q->necks[i], v3_scale(by, 1.0 / q->neck_count));
}

static void sit_quadruped(family *f, const quadruped *q, bool tail)
{
    double rise = draw(f, 30, 46), fold = draw(f, 20, 34);
    turn(f, q->hips, v3(-rise, 0, 0));
    pose_neck(f, q, v3(0.6 * rise, 0, 0));
    if (tail) turn(f, q->tails[0], v3(0.5 * rise, 0, 0));
    for (int i = 0; i < 2; i++) {
        turn(f, q->upper[0][i], v3(0.9 * rise, 0, 0));
        turn(f, q->upper[1][i], v3(-fold, 0, 0));
        turn(f, q->upper[1][i], v3(0, 14, 0));
        turn(f, q->lower[1][i], v3(rise + fold + 8, 0, 0));
        turn(f, q->paw[1][i], v3(-0.35 * rise, 0, 0));
    }
}

static void pose_quadruped(family *f, const quadruped *q, bool tail)
{
    begin_pose(f);
    bool bent = f->pose == CUTIS_FAMILY_POSE_BENT;
    if (f->pose == CUTIS_FAMILY_POSE_SITTING) {
        sit_quadruped(f, q, tail);
        return;
    }
    double out = f->pose == CUTIS_FAMILY_POSE_T ? draw(f, 9, 18) : draw(f, 0, 5);
    for (int k = 0; k < 4; k++) {
        int hind = k / 2, i = k % 2;
        double swing = bent ? either(f, 26) : f->pose == CUTIS_FAMILY_POSE_A ? either(f, 9) : 0;
        turn(f, q->upper[hind][i], v3(swing, 0, out));
        if (bent) turn(f, q->lower[hind][i], v3(hind ? draw(f, 0, 35) : draw(f, 0, 50), 0, 0));
    }
    for (int i = 0; i < 3 && tail; i++)
        turn(f, q->tails[i], bent ? either3(f, 22, 25, 0) : either3(f, 8, 0, 0));
    if (!bent) return;
    turn(f, q->spine, either3(f, 10, 14, 0));
    turn(f, q->chest, either3(f, 8, 12, 0));
    pose_neck(f, q, draw3(f, v3(-20, -40, -10), v3(35, 40, 10)));
    turn(f, q->head, either3(f, 18, 20, 10));
}

void cutis_family_quadruped(family *f)
{
    quadruped q = { 0 };
    int head = part(f, "head", 0), neck = part(f, "neck", 0), torso = part(f, "torso", 0);
    q.leg = draw(f, 290, 680), q.length = draw(f, 560, 860);
    q.r = draw(f, 105, 140) * fat(f, 0.82, 1.45);
    q.limb_r = draw(f, 27, 36) * fat(f, 0.92, 1.35), q.neck_up = draw(f, 12, 68);
    q.y = q.leg + 0.75 * q.r;
    bool tail = draw(f, 0, 1) < 0.8;
    double bend = draw(f, 0.02, 0.07) * q.leg;
    quadruped_trunk(f, &q, torso);
    quadruped_head(f, &q, neck, head);
    if (tail) quadruped_tail(f, &q);
    for (int k = 0; k < 4; k++) quadruped_leg(f, &q, k / 2, k % 2 ? -1 : 1, bend);
    pose_quadruped(f, &q, tail);
    f->scale = 0.9;
}

typedef struct bird {
    double length, r, y;
    int hips, chest, necks[2], neck_count, head, tail, wings[2][3], thigh[2], shin[2], foot[2];
} bird;

static void bird_head(family *f, bird *b, int head_part, int torso)
{
    double r = b->r, neck = draw(f, 50, 330), head = draw(f, 0.42, 0.58) * r + 8;
    double up = draw(f, 30, 75), thin = 0.62 * head, bill = draw(f, 0.9, 2.6) * head;
    bool longer = neck > 170;
    int neck_part = longer ? part(f, "neck", 0) : torso;
    vec3 from = v3(0, b->y + 0.25 * r, 0.3 * b->length), a = along(from, 0.45 * r, up);
    b->neck_count = longer ? 2 : 1;
    limb(f);
    for (int i = 0, parent = b->chest; i < b->neck_count; i++) {
        vec3 c = along(a, neck / b->neck_count, up + (i ? 10 : 0)), start = i ? a : from;
        b->necks[i] = parent =
            bone(f, longer ? (i ? "neck2" : "neck1") : "neck", 0, parent, start, thin);
        cone(f, parent, neck_part, i ? a : v3_mix(from, a, 0.6), i ? 1.1 * thin : 0.46 * r, c,
             thin * (i ? 1 : 1.1), i ? 10 : 40);
        a = c;
    }
    b->head = bone(f, "head", 0, b->necks[b->neck_count - 1], a, thin);
    vec3 skull = along(a, 0.4 * head, 30);
    blob(f, b->head, head_part, skull, v3(0.88 * head, 0.92 * head, head), 18, 0);
    f->place--;
    cone(f, b->head, head_part, along(skull, 0.6 * head, -5), 0.5 * head,
         along(skull, 0.7 * head + bill, -10), draw(f, 14, 20), 14);
}

static void bird_wing(family *f, bird *b, int side, const double *lengths, double chord,
                      double sweep)
{
    static const char *const names[3] = { "wing1", "wing2", "wing3" };
    int p = part(f, "wing", side), up = b->chest;
    vec3 a = at(side, 0.55 * b->r, b->y + 0.42 * b->r, 0.14 * b->length);
    double width = chord;
    limb(f);
    for (int i = 0; i < 3; i++) {
        double l = lengths[i] + (i ? 0 : 0.5 * b->r), next = chord * (i == 2 ? 0.5 : 0.9 - 0.1 * i);
        double back = i == 0 ? 0.12 : i == 1 ? -0.05 - 0.3 * sweep : -0.2 - sweep;
        vec3 c = v3_mad(a, l, v3_unit(v3(side, 0.02, back)));
        b->wings[side < 0][i] = up = bone(f, names[i], side, up, a, 0.5 * width + 10);
        flat(f, up, p, a, width, c, next, i ? 10 : 25, 0.42, v3(0, 1, 0));
        a = c, width = next;
    }
}

static void bird_leg(family *f, bird *b, int side, double shin, double r, double toes)
{
    int i = side < 0, p = part(f, "leg", side);
    double x = 0.45 * b->r, z = -0.04 * b->length, thigh = 0.55 * b->r + 50;
    vec3 hip = at(side, x, b->y - 0.35 * b->r, z), knee = v3_add(hip, v3(0, -thigh, 18));
    vec3 ankle = v3_add(knee, v3(0, -shin, -12));
    b->thigh[i] = bone(f, "thigh", side, b->hips, hip, 1.8 * r);
    b->shin[i] = bone(f, "shin", side, b->thigh[i], knee, 1.3 * r);
    b->foot[i] = bone(f, "foot", side, b->shin[i], ankle, 1.3 * r);
    limb(f);
    cone(f, b->thigh[i], p, hip, 2.4 * r, knee, 1.25 * r, 30);
    cone(f, b->shin[i], p, knee, 1.2 * r, ankle, r, 10);
    for (int k = 0; k < 4; k++) {
        static const double ways[4] = { 0, 38, -38, 180 };
        synth_quat q = cutis_synth_rotation(v3(0, ways[k], 0));
        vec3 to = cutis_synth_quat_rotate(q, v3(0, -0.12, k == 3 ? 0.6 * toes : toes));
        cone(f, b->foot[i], p, ankle, 0.95 * r, v3_add(ankle, to), 0.9 * r, 10);
        f->place--;
    }
}

static void pose_bird(family *f, const bird *b)
{
    begin_pose(f);
    bool sits = f->pose == CUTIS_FAMILY_POSE_SITTING, bent = f->pose == CUTIS_FAMILY_POSE_BENT;
    double lean = sits ? draw(f, 15, 40) : draw(f, 0, 20), crouch = sits ? draw(f, 25, 45) : 0;
    double down = f->pose == CUTIS_FAMILY_POSE_T ? draw(f, -6, 6) : draw(f, 18, 42);
    double back = sits ? draw(f, 28, 46) : 0, lift = 0;
    vec3 nod = either3(f, 0, bent ? 30 : 0, bent ? 15 : 0), wag = either3(f, 12, bent ? 15 : 0, 0);
    turn(f, b->hips, v3(-lean, 0, 0));
    turn(f, b->necks[0], v3(0.5 * lean, bent ? either(f, 30) : 0, 0));
    turn(f, b->head, v3(0.5 * lean, nod.y, nod.z));
    turn(f, b->tail, v3(0.4 * lean + wag.x, wag.y, 0));
    for (int i = 0; i < 2; i++) {
        if (bent) down = draw(f, -50, 30), lift = draw(f, -15, 35), back = either(f, 18);
        turn(f, b->wings[i][0], v3(0, back, -down));
        turn(f, b->wings[i][1], v3(0, 0.6 * back, bent ? either(f, 28) : 0.3 * down));
        turn(f, b->wings[i][2], v3(0, 0.4 * back, bent ? either(f, 22) : 0.2 * down));
        turn(f, b->thigh[i], v3(lean - crouch - lift, 0, 4));
        turn(f, b->shin[i], v3(1.6 * crouch + lift, 0, 0));
        turn(f, b->foot[i], v3(-0.6 * crouch, 0, 0));
    }
}

void cutis_family_bird(family *f)
{
    bird b = { 0 };
    int head = part(f, "head", 0), torso = part(f, "torso", 0);
    b.length = draw(f, 360, 540), b.r = draw(f, 92, 120) * fat(f, 0.82, 1.4), b.y = 500;
    double lengths[3];
    v3_put(draw3(f, v3(110, 130, 140), v3(190, 230, 280)), lengths);
    double chord = draw(f, 80, 112), sweep = draw(f, 0, 0.7);
    double shin = draw(f, 70, 260), r = draw(f, 22, 28), toes = draw(f, 60, 95);
    b.hips = bone(f, "hips", 0, -1, v3(0, b.y, -0.16 * b.length), 90);
    b.chest = bone(f, "chest", 0, b.hips, v3(0, b.y, 0.05 * b.length), 0.8 * b.r);
    blob(f, b.hips, torso, v3(0, b.y, -0.16 * b.length), v3(0.8 * b.r, 0.8 * b.r, 0.36 * b.length),
         50, 0);
    blob(f, b.chest, torso, v3(0, b.y - 4, 0.13 * b.length), v3(b.r, 1.02 * b.r, 0.34 * b.length),
         60, 0);
    bird_head(f, &b, head, torso);
    vec3 rump = v3(0, b.y + 0.15 * b.r, -0.4 * b.length);
    int tail = part(f, "tail", 0);
    double tail_length = draw(f, 150, 330), tail_width = draw(f, 58, 100);
    b.tail = bone(f, "tail", 0, b.hips, rump, 45);
    limb(f);
    flat(f, b.tail, tail, rump, 56, along(rump, tail_length, 180), tail_width, 25, 0.44,
         v3(0, 1, 0));
    for (int side = 1; side >= -1; side -= 2) bird_wing(f, &b, side, lengths, chord, sweep);
    for (int side = 1; side >= -1; side -= 2) bird_leg(f, &b, side, shin, r, toes);
    pose_bird(f, &b);
    f->scale = 0.5;
}

typedef struct fish {
    double length, height, thin;
    int body, head, spine[2], caudal, pectoral[2];
} fish;

/// The body's sections from the nose to the root of the tail: place along the length, radius.
static void fish_body(family *f, fish *b, int p)
{
    double l = b->length, h = b->height, belly = draw(f, 0.82, 1), stem = draw(f, 0.2, 0.32) * h;
    double z[6] = { 0.42 * l, 0.25 * l, 0.04 * l, -0.16 * l, -0.32 * l, -0.43 * l };
    double r[6] = { draw(f, 0.3, 0.5) * h, 0.85 * h, h, belly * 0.86 * h, 0.5 * h, stem };
    if (r[5] < 42) r[5] = 42;
    b->body = bone(f, "body", 0, -1, v3(0, 0, z[2]), h);
    b->head = bone(f, "head", 0, b->body, v3(0, 0, z[1]), 0.7 * h);
    b->spine[0] = bone(f, "spine1", 0, b->body, v3(0, 0, z[3]), 0.7 * h);
    b->spine[1] = bone(f, "spine2", 0, b->spine[0], v3(0, 0, z[4]), 0.5 * h);
    const int bones[5] = { b->head, b->body, b->body, b->spine[0], b->spine[1] };
    for (int i = 0; i < 5; i++)
        flat(f, bones[i], p, v3(0, 0, z[i]), r[i], v3(0, 0, z[i + 1]), r[i + 1], 40, b->thin,
             v3(1, 0, 0));
    b->caudal = bone(f, "caudal", 0, b->spine[1], v3(0, 0, -0.44 * l), 36);
}

static void fish_tail(family *f, const fish *b)
{
    int p = part(f, "caudal", 0);
    double l = b->length, tall = draw(f, 0.11, 0.2) * l, far = draw(f, 0.1, 0.19) * l;
    vec3 root = v3(0, 0, -0.45 * l), side = v3(1, 0, 0);
    double fork = draw(f, 0.35, 1) * far;
    limb(f);
    for (int i = 1; i >= -1; i -= 2) {
        flat(f, b->caudal, p, root, 44, v3(0, i * tall, root.z - far), 36, 20, 0.5, side);
        f->place--;
    }
    flat(f, b->caudal, p, root, 46, v3(0, 0, root.z - fork), 0.62 * tall, 24, 0.44, side);
}

static void fish_fins(family *f, fish *b)
{
    double l = b->length, h = b->height, tall = draw(f, 0.35, 0.75) * h + 30, r = draw(f, 46, 62);
    double z = draw(f, -0.02, 0.1) * l, lean = draw(f, 0.1, 0.2) * l;
    int p = part(f, "dorsal", 0), fin = bone(f, "dorsal", 0, b->body, v3(0, 0.8 * h, z), 36);
    limb(f);
    flat(f, fin, p, v3(0, 0.82 * h, z), 1.25 * r, v3(0, 0.9 * h + tall, z - lean), 0.8 * r, 18,
         0.44, v3(1, 0, 0));
    if (draw(f, 0, 1) < 0.6) {
        p = part(f, "anal", 0);
        fin = bone(f, "anal", 0, b->spine[0], v3(0, -0.6 * h, -0.2 * l), 30);
        limb(f);
        flat(f, fin, p, v3(0, -0.6 * h, -0.2 * l), 50, v3(0, -0.75 * h - 0.6 * tall, -0.3 * l), 38,
             16, 0.46, v3(1, 0, 0));
    }
    double long_fin = draw(f, 0.13, 0.24) * l, width = draw(f, 44, 62);
    for (int side = 1; side >= -1; side -= 2) {
        p = part(f, "pectoral", side);
        vec3 root = at(side, 0.8 * h * b->thin, -0.35 * h, 0.2 * l);
        vec3 tip = v3_mad(root, long_fin, v3_unit(v3(side, -0.35, -0.6)));
        b->pectoral[side < 0] = fin = bone(f, "pectoral", side, b->body, root, 32);
        limb(f);
        flat(f, fin, p, root, 0.75 * width, tip, width, 16, 0.46, v3(side * 0.3, 1, 0));
    }
}

static void pose_fish(family *f, const fish *b)
{
    begin_pose(f);
    bool curls = f->pose == CUTIS_FAMILY_POSE_SITTING, bent = f->pose == CUTIS_FAMILY_POSE_BENT;
    double way = draw(f, 0, 1) < 0.5 ? -1 : 1, most = curls ? 26 : bent ? 18 : 3;
    double by = way * draw(f, 0.6 * most, most), other = bent ? -by : by;
    turn(f, b->head, v3(0, -0.7 * by, 0));
    turn(f, b->spine[0], v3(0, other, 0));
    turn(f, b->spine[1], v3(0, curls ? by : -other, 0));
    turn(f, b->caudal, v3(0, curls ? by : -1.2 * other, 0));
    double spread = f->pose == CUTIS_FAMILY_POSE_T ? draw(f, 0, 6) : draw(f, 5, 30);
    for (int i = 0; i < 2; i++) {
        if (bent) spread = draw(f, -15, 35);
        turn(f, b->pectoral[i], v3(0, 0, -spread));
    }
}

void cutis_family_fish(family *f)
{
    fish b = { .length = draw(f, 850, 1150) };
    b.height = draw(f, 0.11, 0.19) * b.length * fat(f, 0.85, 1.25);
    b.thin = draw(f, 0.42, 0.62) + 0.12 * f->plump;
    fish_body(f, &b, part(f, "body", 0));
    fish_tail(f, &b);
    fish_fins(f, &b);
    pose_fish(f, &b);
    f->scale = 0.4;
}
