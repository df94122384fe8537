/// Item kernels: the weight that keeps a joint's volume, and everything counted. After
/// patches_keep.h.
///
/// The volume under a conic between its chord and its control point is a share g(w) of the
/// triangle, so the volume of the joint is linear in g: drawn as chords (g = 0) and as corners (g =
/// 1) it says which g keeps the volume. What sampling with few points loses is put right in a step
/// or two more.
#ifndef CUTIS_KERNEL_PATCHES_SOLVE_H
#define CUTIS_KERNEL_PATCHES_SOLVE_H

#include "patches_keep.h"

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
FN double patch_weight_of(patch_work w, double g)
{
    double x = g * PATCH_CONIC_STEPS;
    int i = x > 0.0 ? (int)x : 0;
    if (i > PATCH_CONIC_STEPS - 1) i = PATCH_CONIC_STEPS - 1;
    GLOBAL const double *table = body_conic_weight(w);
    double weight = table[i] + (x - i) * (table[i + 1] - table[i]);
    return weight < PATCH_WEIGHT_MIN   ? PATCH_WEIGHT_MIN
           : weight > PATCH_WEIGHT_MAX ? PATCH_WEIGHT_MAX
                                       : weight;
}

FN double patch_unit_share(double g)
{
    return g < 0.0 ? 0.0 : g > 1.0 ? 1.0 : g;
}

// One weight for all rear rungs of the joint.
// @return volume that is too much
TEAM_FN double patch_keep(patch_work w, patch_keeping *keep, double cut, double whole TEAM_PARAM)
{
    patch_case c = keep->c;
    GLOBAL patch_joint *j = work_joint(w) + c.joint;
    int most = patch_samples_most(w, c, keep->rungs);
    patch_begin_front(w, keep, most TEAM_PASS);
    patch_sum_rear(w, c, keep->rungs);
    pvec ends = patch_volume_ends(w, *keep);
    double chords = ends.x + cut, corners = ends.y + cut;
    double slope = corners - chords, g = 0.5, left = chords;
    if (!(MAGNITUDE(slope) > 1e-12 * whole)) slope = 0.0;
    if (slope != 0.0) g = patch_unit_share(-chords / slope);
    for (int step = 0; step <= PATCH_SOLVE_STEPS; step++) {
        j->weight = patch_weight_of(w, g);
        patch_set_times(w, c);
        // Counts are fixed by the first weight: with others the volume would jump.
        int count = step == 0 ? patch_rear_count(j, c, keep->apart, most) : keep->count;
        keep->count = patch_set_mixes(w, c, count);
        left = patch_volume_now(w, *keep) + cut;
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
TEAM_FN double patch_shape_front(patch_work w, patch_keeping *keep, double cut, double left)
{
    double tangent = work_joint(w)[keep->c.joint].tangent;
    double bulge = -PATCH_BULGE_SLOPE / tangent, rear = patch_rear_now(w, *keep);
    double end = left > 0.0 ? 1.0 : bulge < PATCH_BULGE ? bulge : PATCH_BULGE;
    patch_walk_loose(w, *keep, PATCH_WALK_FLAT);
    GLOBAL const double *walked = work_sums(w)[keep->c.joint].walked;
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
TEAM_FN double patch_volume_at(patch_work w, patch_keeping keep, double depth)
{
    work_joint(w)[keep.c.joint].depth = depth;
    patch_sum_rear(w, keep.c, keep.rungs);
    patch_set_times(w, keep.c);
    patch_set_mixes(w, keep.c, keep.count);
    return patch_volume_now(w, keep);
}

// Still too much: the crease goes deeper than the limbs' own corner. Still too little: it goes, and
// in its place the rear stands out beyond its chords, as it does where a joint that is bent at rest
// is stretched.
TEAM_FN double patch_deepen(patch_work w, patch_keeping keep, double cut, double whole, double left)
{
    double tangent = work_joint(w)[keep.c.joint].tangent;
    double out = -PATCH_OUT_SLOPE / tangent, end = PATCH_DEPTH_MAX, share = 0.0;
    if (left < 0.0) end = out > PATCH_DEPTH_MIN ? out : PATCH_DEPTH_MIN;
    double last = patch_volume_at(w, keep, end) + cut;
    if (last * left < 0.0)
        share = left / (left - last);
    else if (MAGNITUDE(last) < MAGNITUDE(left)) // else there is no crease to speak of
        share = 1.0;
    if (left < 0.0) share *= patch_unit_share(2.0 + left / (PATCH_OUT_MOST * whole));
    if (share == 1.0) return last;
    return patch_volume_at(w, keep, 1.0 + (end - 1.0) * share) + cut;
}

// Weight, flatness and depth that keep the volume, and the samples that they make.
// @return volume that is left over
TEAM_FN double patch_keep_volume(patch_work w, patch_case c, int rungs, double cut,
                                 double whole TEAM_PARAM)
{
    patch_keeping keep;
    keep.c = c;
    keep.rungs = rungs;
    keep.count = 0;
    keep.flat = 0.0;
    double left = patch_keep(w, &keep, cut, whole TEAM_PASS);
    if (MAGNITUDE(left) > PATCH_LEFT_OVER * whole) left = patch_shape_front(w, &keep, cut, left);
    int out = left < -PATCH_OUT_LEAST * whole && left > -2.0 * PATCH_OUT_MOST * whole;
    if (left > PATCH_LEFT_OVER * whole || out) left = patch_deepen(w, keep, cut, whole, left);
    work_joint(w)[c.joint].flat = keep.flat;
    patch_end_samples(w, keep TEAM_PASS);
    return left;
}

FN int patch_strip_faces(patch_work w, patch_strip s)
{
    patch_rail p = patch_rail_of(w, s.a_rung), q = patch_rail_of(w, s.b_rung);
    int faces = 0, a = p.start, b = q.start;
    for (int side; (side = patch_strip_next(s)) != 0;) {
        int x = side == 1 ? patch_rail_id(p, ++s.a) : patch_rail_id(q, ++s.b);
        faces += a != b && b != x && x != a;
        if (side == 1)
            a = x;
        else
            b = x;
    }
    return faces;
}

// Triangles of every strip, counted from the joint's first.
// @return how many
TEAM_FN int patch_count_faces(patch_work w, patch_case c, int rungs TEAM_PARAM)
{
    int total = 0;
    for (int from = 0; from < rungs; from += TEAM_LANES) {
        int i = from + TEAM_LANE, faces = 0;
        if (i < rungs) faces = patch_strip_faces(w, patch_strip_of(w, c, rungs, i));
        int first = total + team_before(faces);
        if (i < rungs) work_rung_face(w)[c.rung + i] = first;
        total += team_total(faces);
    }
    return total;
}

// Split points that become vertices, numbered from the joint's first.
TEAM_FN int patch_number_splits(patch_work w, int first, int count, int number TEAM_PARAM)
{
    for (int from = first; from < first + count; from += TEAM_LANES) {
        int i = from + TEAM_LANE;
        int own = i < first + count && work_slot_node(w)[i] < 0 && work_slot_weld(w)[i] < 0;
        int at = number + team_before_flag(own);
        if (own) work_slot_out(w)[i] = -1 - at;
        number += team_total_flag(own);
    }
    return number;
}

// What became one with a parent's split point is numbered like it.
TEAM_FN void patch_share_splits(patch_work w, patch_case c)
{
    TEAM_SYNC;
    TEAM_EACH (i, c.c_first, c.c_first + c.c_count) {
        int weld = work_slot_weld(w)[i];
        if (weld >= 0 && work_slot_node(w)[weld] < 0) work_slot_out(w)[i] = work_slot_out(w)[weld];
    }
}

TEAM_KERNEL(patch_solve, PATCH_SOLVE_BUFFERS)
{
    TEAM_BEGIN
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(given.joint_count));
    int joint = TEAM_INDEX(given.joint_count);
    GLOBAL patch_joint *j = work_joint(w) + joint;
    GLOBAL const int *parts = body_joint_part(w) + 2 * joint;
    GLOBAL const double *volumes = body_part_volume(w);
    patch_case c = patch_case_of(w, joint);
    double cut = j->cut[0] + j->cut[1]; // what bands gained or lost is not the patch's to put right
    double whole = volumes[parts[0]] + volumes[parts[1]], left = 0.0;
    int rungs = j->rungs;
    if (given.fill == PATCH_FILL_KEEP && j->bent) {
        left = patch_keep_volume(w, c, rungs, cut, whole TEAM_PASS);
    } else {
        patch_count_samples(w, c, rungs TEAM_PASS);
        patch_place_samples(w, c, rungs);
        if (j->moves) left = patch_volume(w, c, rungs) + cut;
    }
    int points = work_rung_first(w)[c.rung + rungs - 1] + work_rung_count(w)[c.rung + rungs - 1];
    int faces = patch_count_faces(w, c, rungs TEAM_PASS);
    int splits = patch_number_splits(w, c.p_first, c.p_count, 0 TEAM_PASS);
    splits = patch_number_splits(w, c.c_first, c.c_count, splits TEAM_PASS);
    patch_share_splits(w, c);
    if (TEAM_LANE == 0) {
        j->left = left + j->gained;
        j->points = points;
        j->faces = faces;
        j->splits_out = splits;
    }
    ITEM_END
}

#endif
