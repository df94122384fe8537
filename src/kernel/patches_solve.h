/// Item kernels: the weight that keeps a joint's volume, and everything counted. After
/// patches_keep.h.
///
/// The volume under a conic between its chord and its control point is a share g(w) of the
/// triangle, so the volume of the joint is linear in g: drawn as chords (g = 0) and as corners (g =
/// 1) it says which g keeps the volume. What sampling with few points loses is put right in a step
/// or two more.
#ifndef CUTIS_KERNEL_PATCHES_SOLVE_H
#define CUTIS_KERNEL_PATCHES_SOLVE_H

// All lanes have the same numbers and write the same ones to the joint's record.
#define PATCH_SOLVE_STEPS 3
#define PATCH_SOLVE_LEFT  2e-6    // of the two parts: close enough
#define PATCH_BULGE_SLOPE 0.7     // fronts of small bends stand out further: by this slope
#define PATCH_DEPTH_MAX   3.0     // the crease's depth, in those of the limbs' corner
#define PATCH_DEPTH_MIN   (-30.0) // the same where it stands out: 3 of them, with the least weight
#define PATCH_OUT_SLOPE   8.0     // and no more than this over the tangent: a third of the chord
#define PATCH_OUT_LEAST   1e-4    // of the two parts: less is not worth standing out for
#define PATCH_OUT_MOST    0.007   // the same: from here it does less and less, it looks like scales

// w of a share g of the triangle, by the table.
FN double patch_weight_of(PATCH_BODY S, GLOBAL const double *G, double g)
{
    double x = g * PATCH_CONIC_STEPS;
    int i = x > 0.0 ? (int)x : 0;
    if (i > PATCH_CONIC_STEPS - 1) i = PATCH_CONIC_STEPS - 1;
    GLOBAL const double *table = REALS(S, G, PATCH_CONIC);
    double w = table[i] + (x - i) * (table[i + 1] - table[i]);
    return w < PATCH_WEIGHT_MIN ? PATCH_WEIGHT_MIN : w > PATCH_WEIGHT_MAX ? PATCH_WEIGHT_MAX : w;
}

FN double patch_unit_share(double g)
{
    return g < 0.0 ? 0.0 : g > 1.0 ? 1.0 : g;
}

// One weight for all rear rungs of the joint.
// @return volume that is too much
TEAM_FN double patch_keep(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL int *I,
                          GLOBAL double *D, patch_keeping *keep, double cut,
                          double whole TEAM_PARAM)
{
    patch_case c = keep->c;
    GLOBAL double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    int most = patch_samples_most(S, c, keep->rungs);
    patch_begin_front(S, I, D, keep, most TEAM_PASS);
    patch_sum_rear(S, G, I, D, c, keep->rungs);
    pvec ends = patch_volume_ends(S, I, D, *keep);
    double chords = ends.x + cut, corners = ends.y + cut;
    double slope = corners - chords, g = 0.5, left = chords;
    if (!(MAGNITUDE(slope) > 1e-12 * whole)) slope = 0.0;
    if (slope != 0.0) g = patch_unit_share(-chords / slope);
    for (int step = 0; step <= PATCH_SOLVE_STEPS; step++) {
        r[PATCH_J_WEIGHT] = patch_weight_of(S, G, g);
        patch_set_times(S, D, c);
        // Counts are fixed by the first weight: with others the volume would jump.
        int count = step == 0 ? patch_rear_count(r, c, keep->apart, most) : keep->count;
        keep->count = patch_set_mixes(S, D, c, count);
        left = patch_volume_now(S, I, D, *keep) + cut;
        if (slope == 0.0 || MAGNITUDE(left) < PATCH_SOLVE_LEFT * whole) break;
        double next = patch_unit_share(g - left / slope);
        if (next == g) break;
        g = next;
    }
    return left;
}

// The front takes what the rear could not: its arcs are flattened towards their chords (s to 1), or
// stand out further (s below 0) like the cap of a knee. By a parabola through what is left
// at three values.
TEAM_FN double patch_shape_front(PATCH_BODY S, GLOBAL const int *I, GLOBAL double *D,
                                 patch_keeping *keep, double cut, double left)
{
    double tangent = D[S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * keep->c.joint + PATCH_J_TAN];
    double bulge = -PATCH_BULGE_SLOPE / tangent, rear = patch_rear_now(S, D, *keep);
    double end = left > 0.0 ? 1.0 : bulge < PATCH_BULGE ? bulge : PATCH_BULGE;
    patch_walk_loose(S, I, D, *keep, PATCH_WALK_FLAT);
    GLOBAL const double *walked = patch_walked(S, D, keep->c);
    double last = patch_volume_flat(walked, rear, end) + cut;
    if (last * left >= 0.0) {
        // Else an inside-out front, or none: it is left alone.
        keep->flat = MAGNITUDE(last) < MAGNITUDE(left) ? end : 0.0;
        return MAGNITUDE(last) < MAGNITUDE(left) ? last : left;
    }
    double s = left / (left - last); // of the way to the end
    double middle = patch_volume_flat(walked, rear, s * end) + cut;
    // left + b x + a x^2 through (s, middle) and (1, last); the root between 0 and 1.
    double a = ((middle - left) / s - (last - left)) / (s - 1.0), b = last - left - a;
    double root = b * b - 4.0 * a * left;
    keep->flat = s * end;
    if (root > 0.0) {
        double x = b < 0.0 ? 2.0 * left / (-b + ROOT(root)) : 2.0 * left / (-b - ROOT(root));
        if (x > 0.0 && x < 1.0) keep->flat = x * end;
    }
    return patch_volume_flat(walked, rear, keep->flat) + cut;
}

// The volume with the crease so deep.
TEAM_FN double patch_volume_at(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const int *I,
                               GLOBAL double *D, patch_keeping keep, double depth)
{
    D[S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * keep.c.joint + PATCH_J_DEPTH] = depth;
    patch_sum_rear(S, G, I, D, keep.c, keep.rungs);
    patch_set_times(S, D, keep.c);
    patch_set_mixes(S, D, keep.c, keep.count);
    return patch_volume_now(S, I, D, keep);
}

// Still too much: the crease goes deeper than the limbs' own corner. Still too little: it goes, and
// in its place the rear stands out beyond its chords, as it does where a joint that is bent at rest
// is stretched.
TEAM_FN double patch_deepen(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const int *I,
                            GLOBAL double *D, patch_keeping keep, double cut, double whole,
                            double left)
{
    double tangent = D[S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * keep.c.joint + PATCH_J_TAN];
    double out = -PATCH_OUT_SLOPE / tangent, end = PATCH_DEPTH_MAX, share = 0.0;
    if (left < 0.0) end = out > PATCH_DEPTH_MIN ? out : PATCH_DEPTH_MIN;
    double last = patch_volume_at(S, G, I, D, keep, end) + cut;
    if (last * left < 0.0)
        share = left / (left - last);
    else if (MAGNITUDE(last) < MAGNITUDE(left)) // else there is no crease to speak of
        share = 1.0;
    if (left < 0.0) share *= patch_unit_share(2.0 + left / (PATCH_OUT_MOST * whole));
    if (share == 1.0) return last;
    return patch_volume_at(S, G, I, D, keep, 1.0 + (end - 1.0) * share) + cut;
}

// Weight, flatness and depth that keep the volume, and the samples that they make.
// @return volume that is left over
TEAM_FN double patch_keep_volume(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL int *I,
                                 GLOBAL double *D, patch_case c, int rungs, double cut,
                                 double whole TEAM_PARAM)
{
    patch_keeping keep;
    keep.c = c;
    keep.rungs = rungs;
    keep.count = 0;
    keep.flat = 0.0;
    double left = patch_keep(S, G, I, D, &keep, cut, whole TEAM_PASS);
    if (MAGNITUDE(left) > PATCH_LEFT_OVER * whole)
        left = patch_shape_front(S, I, D, &keep, cut, left);
    int out = left < -PATCH_OUT_LEAST * whole && left > -2.0 * PATCH_OUT_MOST * whole;
    if (left > PATCH_LEFT_OVER * whole || out)
        left = patch_deepen(S, G, I, D, keep, cut, whole, left);
    D[S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint + PATCH_J_FLAT] = keep.flat;
    patch_end_samples(S, I, D, keep TEAM_PASS);
    return left;
}

FN int patch_strip_faces(PATCH_BODY S, GLOBAL const int *I, patch_strip s)
{
    patch_rail p = patch_rail_of(S, I, s.a_rung), q = patch_rail_of(S, I, s.b_rung);
    int faces = 0, a = p.start, b = q.start;
    for (int turn; (turn = patch_strip_turn(s)) != 0;) {
        int x = turn == 1 ? patch_rail_id(p, ++s.a) : patch_rail_id(q, ++s.b);
        faces += a != b && b != x && x != a;
        if (turn == 1)
            a = x;
        else
            b = x;
    }
    return faces;
}

// Triangles of every strip, counted from the joint's first.
// @return how many
TEAM_FN int patch_count_faces(PATCH_BODY S, GLOBAL int *I, patch_case c, int rungs TEAM_PARAM)
{
    int total = 0;
    for (int from = 0; from < rungs; from += TEAM_LANES) {
        int i = from + TEAM_LANE, faces = 0;
        if (i < rungs) faces = patch_strip_faces(S, I, patch_strip_of(S, I, c, rungs, i));
        int first = total + team_before(faces);
        if (i < rungs) I[S[PATCH_RUNG_FACE] + c.rung + i] = first;
        total += team_total(faces);
    }
    return total;
}

// Split points that become vertices, numbered from the joint's first.
TEAM_FN int patch_number_splits(PATCH_BODY S, GLOBAL int *I, int first, int count,
                                int number TEAM_PARAM)
{
    for (int from = first; from < first + count; from += TEAM_LANES) {
        int i = from + TEAM_LANE;
        int own =
            i < first + count && I[S[PATCH_SLOT_NODE] + i] < 0 && I[S[PATCH_SLOT_WELD] + i] < 0;
        int at = number + team_before_flag(own);
        if (own) I[S[PATCH_SLOT_OUT] + i] = -1 - at;
        number += team_total_flag(own);
    }
    return number;
}

// What became one with a parent's split point is numbered like it.
TEAM_FN void patch_share_splits(PATCH_BODY S, GLOBAL int *I, patch_case c)
{
    TEAM_SYNC;
    TEAM_EACH (i, c.c_first, c.c_first + c.c_count) {
        int weld = I[S[PATCH_SLOT_WELD] + i];
        if (weld >= 0 && I[S[PATCH_SLOT_NODE] + weld] < 0)
            I[S[PATCH_SLOT_OUT] + i] = I[S[PATCH_SLOT_OUT] + weld];
    }
}

OLD_ITEM_KERNEL patch_solve(PATCH_BODY_ARGS, GLOBAL const double *RESTRICT G, GLOBAL int *int_work,
                            GLOBAL double *work, ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int joint_count = S[PATCH_JOINT_COUNT],
                                             instance = TEAM_INSTANCE(joint_count);
    int joint = TEAM_INDEX(joint_count);
    GLOBAL int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    GLOBAL int *ints = I + S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * joint;
    GLOBAL double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * joint;
    GLOBAL const int *parts = FIELD(S, PATCH_JOINT_PART) + 2 * joint;
    GLOBAL const double *volumes = REALS(S, G, PATCH_VOLUME);
    patch_case c = patch_case_of(S, G, I, joint);
    double cut = r[PATCH_J_CUT] + r[PATCH_J_CUT + 1];
    double whole = volumes[parts[0]] + volumes[parts[1]], left = 0.0;
    int rungs = ints[PATCH_J_RUNGS];
    if (S[PATCH_FILL] == PATCH_FILL_KEEP && ints[PATCH_J_BENT]) {
        left = patch_keep_volume(S, G, I, D, c, rungs, cut, whole TEAM_PASS);
    } else {
        patch_count_samples(S, G, I, D, c, rungs TEAM_PASS);
        patch_place_samples(S, G, I, D, c, rungs);
        if (ints[PATCH_J_MOVES]) left = patch_volume(S, I, D, c, rungs) + cut;
    }
    int points =
        I[S[PATCH_RUNG_FIRST] + c.rung + rungs - 1] + I[S[PATCH_RUNG_COUNT] + c.rung + rungs - 1];
    int faces = patch_count_faces(S, I, c, rungs TEAM_PASS);
    int splits = patch_number_splits(S, I, c.p_first, c.p_count, 0 TEAM_PASS);
    splits = patch_number_splits(S, I, c.c_first, c.c_count, splits TEAM_PASS);
    patch_share_splits(S, I, c);
    if (TEAM_LANE == 0) {
        r[PATCH_J_LEFT] = left;
        ints[PATCH_J_POINTS] = points;
        ints[PATCH_J_FACES] = faces;
        ints[PATCH_J_SPLITS_OUT] = splits;
    }
    ITEM_END
}

#endif
