/// Kernel text: the volume of a joint's patch for any weight, depth and flatness, without making
/// the patch again each time.
///
/// All rear rungs of fill keep have the same samples, each the same mix of its rung's two ends and
/// control point. A strip between two of them alternates, so its volume is a sum of determinants of
/// these six points with factors that are the same for all strips: 18 sums over the strips, made
/// once, give the volume for any mix. A weld beside a rear rung counts as one whose points are all
/// the same. The few other strips ("loose") are walked; front samples are linear in the flatness,
/// so a strip's volume is a cubic in it.
#ifndef CUTIS_KERNEL_PATCHES_KEEP_H
#define CUTIS_KERNEL_PATCHES_KEEP_H

#include "patches_curve.h"

#define PATCH_BULGE      (-1.5) // front arcs stand out by this much more than circles, at most
#define PATCH_REAR_STEP  1.42   // steps between the samples of the longest rear rung
#define PATCH_REAR_LEAST 0.5    // a longest rear rung of less stays straight

/// A joint while its weight is looked for.
STRUCT(patch_keeping)
{
    patch_case c;
    int rungs, loose;
    int count;    ///< samples of a rear rung, as its mixes are now
    double flat;  ///< how far front arcs are flattened
    double apart; ///< square of the longest rear rung's chord
};

// Does the strip between two rungs of these kinds belong to the sums?
FN int patch_is_summed(int a, int b)
{
    int other = a == PATCH_RUNG_REAR ? b : a;
    return (a == PATCH_RUNG_REAR || b == PATCH_RUNG_REAR) &&
           (other == PATCH_RUNG_REAR || other == PATCH_RUNG_WELD);
}

// Rear rungs are the same curve but for affine maps, so they are sampled at the same parameters:
// neighbours then keep their order, which samples at equal lengths of each do not. These are
// parameters of evenly spaced points of a symmetric one.
TEAM_FN void patch_set_times(patch_work w, patch_case c)
{
    GLOBAL patch_joint *j = work_joint(w) + c.joint;
    GLOBAL double *pieces = work_sums(w)[c.joint].piece, *times = j->times;
    GLOBAL patch_mix *mixes = work_sums(w)[c.joint].mix;
    double height = 0.5 * j->tangent * j->depth, weight = j->weight, reached = 0.0;
    TEAM_SYNC; // no lane looks at the last ones any more
    TEAM_EACH (i, 0, PATCH_HALF_STEPS + 1)
        mixes[i] = patch_mix_at(weight, 0.5 * i / PATCH_HALF_STEPS);
    TEAM_SYNC;
    TEAM_EACH (i, 0, PATCH_HALF_STEPS) {
        patch_mix a = mixes[i], b = mixes[i + 1];
        double along = 0.5 * (b.c - b.p) - 0.5 * (a.c - a.p), up = height * (b.k - a.k);
        pieces[i] = ROOT(along * along + up * up);
    }
    TEAM_SYNC;
    for (int i = 0; i < PATCH_HALF_STEPS; i++) reached += pieces[i];
    TEAM_EACH (k, 0, PATCH_TIMES / 2 + 1) {
        double wanted = 2.0 * reached * k / PATCH_TIMES, done = 0.0, t = 0.0;
        int i = 0;
        while (i < PATCH_HALF_STEPS - 1 && wanted > done + pieces[i]) done += pieces[i++];
        double f = pieces[i] > 0.0 ? (wanted - done) / pieces[i] : 0.0;
        t = 0.5 * (i + (f < 1.0 ? f : 1.0)) / PATCH_HALF_STEPS;
        if (k == PATCH_TIMES / 2) t = 0.5;
        times[k] = t;
        times[PATCH_TIMES - k] = 1.0 - t;
    }
    j->length = 2.0 * reached;
    TEAM_SYNC;
}

// Parameter of sample `at` of `count`, from 1.
FN double patch_rear_time(GLOBAL const patch_joint *j, int count, int at)
{
    double x = PATCH_TIMES * at / (double)(count + 1);
    int k = (int)x;
    double t = j->times[k];
    return x > k ? t + (x - k) * (j->times[k + 1] - t) : t;
}

// Samples of every rear rung: what the longest wants.
FN int patch_rear_count(GLOBAL const patch_joint *j, patch_case c, double apart, int most)
{
    double wanted = ROOT(apart) * j->length / c.step;
    int count = patch_sample_count(wanted, PATCH_REAR_STEP, most);
    if (count == 0 && most > 0 && wanted > PATCH_REAR_LEAST)
        count = 1;                                        // straight, it has no weight
    return count > 0 && count < most ? count | 1 : count; // its middle is where it turns most
}

// Mixes of `count` samples by the present weight; 0: chords.
TEAM_FN int patch_set_mixes(patch_work w, patch_case c, int count)
{
    GLOBAL const patch_joint *j = work_joint(w) + c.joint;
    GLOBAL patch_mix *mixes = work_sums(w)[c.joint].mix;
    double weight = j->weight;
    TEAM_SYNC; // no lane looks at the last ones any more
    TEAM_EACH (i, 0, count + 2)
        mixes[i] = patch_mix_at(weight, i == 0      ? 0.0
                                        : i > count ? 1.0
                                                    : patch_rear_time(j, count, i));
    TEAM_SYNC;
    return count;
}

// The two legs over the control points.
TEAM_FN void patch_set_corners(patch_work w, patch_case c)
{
    GLOBAL patch_mix *mixes = work_sums(w)[c.joint].mix;
    TEAM_SYNC;
    TEAM_EACH (i, 0, 3) {
        mixes[i].p = i == 0;
        mixes[i].k = i == 1;
        mixes[i].c = i == 2;
    }
    TEAM_SYNC;
}

// Counts and arcs of the front, and the longest rear rung.
TEAM_FN void patch_begin_front(patch_work w, patch_keeping *keep, int most TEAM_PARAM)
{
    patch_case c = keep->c;
    GLOBAL const patch_joint *j = work_joint(w) + c.joint;
    GLOBAL const int *kinds = work_rung_kind(w) + c.rung;
    GLOBAL const int *ps = work_rung_p(w) + c.rung, *qs = work_rung_c(w) + c.rung;
    GLOBAL pvec *round = work_front_round(w);
    GLOBAL double *sums = work_sums(w)[c.joint].lane;
    int total = 0, loose = 0, rungs = keep->rungs;
    double longest = 0.0;
    for (int from = 0; from < rungs; from += TEAM_LANES) {
        int i = from + TEAM_LANE, count = 0, open = 0, kind = PATCH_RUNG_WELD;
        pvec p = pvec_make(0, 0, 0), q = p;
        if (i < rungs) {
            kind = kinds[i];
            open = !patch_is_summed(kind, kinds[i + 1 == rungs ? 0 : i + 1]);
            p = patch_end(w, ps[i]);
            q = patch_end(w, qs[i]);
        }
        if (kind == PATCH_RUNG_REAR) {
            pvec chord = pvec_minus(p, q);
            double square = pvec_dot(chord, chord);
            if (square > longest) longest = square;
        } else if (kind != PATCH_RUNG_WELD && kind != PATCH_RUNG_LINE) {
            count = patch_sample_count(patch_arc_length(j, p, q), c.step, most);
        }
        int at = loose + team_before_flag(open), first = total + team_before(count);
        loose += team_total_flag(open);
        total += team_total(count);
        if (i < rungs) {
            work_front_count(w)[c.rung + i] = count;
            work_front_first(w)[c.rung + i] = first;
        }
        if (open) work_loose(w)[c.rung + at] = i;
        pvec back = kind == PATCH_RUNG_FRONT_ARC && count > 0 ? patch_swung_back(j, q) : q;
        for (int k = 0; k < count; k++) {
            double t = (k + 1) / (double)(count + 1);
            round[c.point + first + k] = kind == PATCH_RUNG_FRONT_ARC
                                             ? patch_round_arc(j, p, back, t)
                                             : patch_round_fan(j, p, q, t);
        }
    }
    TEAM_SYNC;
    sums[TEAM_LANE] = longest;
    TEAM_SYNC;
    for (int k = 0; k < TEAM_LANES; k++)
        if (sums[k] > longest) longest = sums[k];
    TEAM_SYNC;
    keep->loose = loose;
    keep->apart = longest;
}

/// Ends and control point of a rear rung; of a weld its point, three times.
STRUCT(patch_rail_points)
{
    pvec p, k, c;
};

FN patch_rail_points patch_rail_points_of(patch_work w, GLOBAL const pvec *corners,
                                          GLOBAL const int *kinds, GLOBAL const int *ps,
                                          GLOBAL const int *qs, int i)
{
    patch_rail_points r;
    r.p = r.k = r.c = patch_end(w, ps[i]);
    if (kinds[i] == PATCH_RUNG_REAR) {
        r.k = corners[i];
        r.c = patch_end(w, qs[i]);
    }
    return r;
}

FN void patch_add_dots(double *sums, pvec x, patch_rail_points b)
{
    sums[0] += pvec_dot(x, b.p);
    sums[1] += pvec_dot(x, b.k);
    sums[2] += pvec_dot(x, b.c);
}

// The control points of the rear rungs, and what their strips sum up to: per pair of rungs (a, b)
// the products of a's cross products (parent x control, control x child, child x parent) with b's
// points, then of b's with a's.
TEAM_FN void patch_sum_rear(patch_work w, patch_case c, int rungs)
{
    GLOBAL const patch_joint *j = work_joint(w) + c.joint;
    GLOBAL const int *kinds = work_rung_kind(w) + c.rung;
    GLOBAL const int *ps = work_rung_p(w) + c.rung, *qs = work_rung_c(w) + c.rung;
    GLOBAL pvec *corners = work_corner(w) + c.rung;
    GLOBAL double *sums = work_sums(w)[c.joint].part, *whole = work_sums(w)[c.joint].whole;
    TEAM_EACH (i, 0, rungs)
        if (kinds[i] == PATCH_RUNG_REAR)
            corners[i] = patch_corner_of(w, j, c.joint, patch_end(w, ps[i]), patch_end(w, qs[i]));
    TEAM_SYNC;
    // Half of them at a time: all would take so many registers that few teams run at once.
    for (int side = 0; side < 2; side++)
        TEAM_EACH (k, 0, TEAM_PARTS) {
            double own[PATCH_SUMS / 2];
            for (int n = 0; n < PATCH_SUMS / 2; n++) own[n] = 0.0;
            for (int i = k; i < rungs; i += TEAM_PARTS) {
                int next = i + 1 == rungs ? 0 : i + 1, crossed = side ? next : i;
                if (!patch_is_summed(kinds[i], kinds[next])) continue;
                patch_rail_points a = patch_rail_points_of(w, corners, kinds, ps, qs, crossed);
                patch_rail_points b =
                    patch_rail_points_of(w, corners, kinds, ps, qs, side ? i : next);
                patch_add_dots(own, pvec_cross(a.p, a.k), b);
                patch_add_dots(own + 3, pvec_cross(a.k, a.c), b);
                patch_add_dots(own + 6, pvec_cross(a.c, a.p), b);
            }
            for (int n = 0; n < PATCH_SUMS / 2; n++)
                sums[PATCH_SUMS * k + PATCH_SUMS / 2 * side + n] = own[n];
        }
    TEAM_SYNC;
    TEAM_EACH (n, 0, PATCH_SUMS) {
        double sum = 0.0;
        for (int k = 0; k < TEAM_PARTS; k++) sum += sums[PATCH_SUMS * k + n];
        whole[n] = sum;
    }
    TEAM_SYNC;
}

// Six times the volume of the strips between rear rungs, by their mixes.
FN double patch_rear_volume(GLOBAL const double *sums, GLOBAL const patch_mix *mixes, int count)
{
    double volume = 0.0;
    for (int i = 0; i <= count; i++) {
        patch_mix m = mixes[i], n = mixes[i + 1];
        double pk = m.p * n.k - m.k * n.p, kc = m.k * n.c - m.c * n.k, cp = m.c * n.p - m.p * n.c;
        double a = pk * (n.p * sums[9] + n.k * sums[10] + n.c * sums[11]) +
                   kc * (n.p * sums[12] + n.k * sums[13] + n.c * sums[14]) +
                   cp * (n.p * sums[15] + n.k * sums[16] + n.c * sums[17]);
        double b = pk * (m.p * sums[0] + m.k * sums[1] + m.c * sums[2]) +
                   kc * (m.p * sums[3] + m.k * sums[4] + m.c * sums[5]) +
                   cp * (m.p * sums[6] + m.k * sums[7] + m.c * sums[8]);
        volume += a - b;
    }
    return volume;
}

/// A rung of a loose strip while the weight is looked for.
STRUCT(patch_loose)
{
    int rung, kind, last, first; ///< its first sample
    int p, q;
};

FN patch_loose patch_loose_of(patch_work w, patch_case c, int rung, int rear)
{
    patch_loose t;
    t.rung = rung;
    t.kind = work_rung_kind(w)[rung];
    t.first = c.point + work_front_first(w)[rung];
    t.p = work_rung_p(w)[rung];
    t.q = work_rung_c(w)[rung];
    t.last = t.kind == PATCH_RUNG_WELD   ? 0
             : t.kind == PATCH_RUNG_REAR ? rear + 1
                                         : work_front_count(w)[rung] + 1;
    return t;
}

FN pvec patch_loose_point(patch_work w, GLOBAL const patch_mix *mixes, patch_loose t, int at,
                          double flat)
{
    pvec q = patch_end(w, t.q);
    if (at == t.last) return q;
    pvec p = patch_end(w, t.p);
    if (t.kind == PATCH_RUNG_REAR) return patch_mixed(mixes[at], p, work_corner(w)[t.rung], q);
    return pvec_mix(work_front_round(w)[t.first + at - 1], pvec_mix(p, q, at / (double)t.last),
                    flat);
}

// Six times the volume of a loose strip over the joint's centre.
FN double patch_loose_volume(patch_work w, GLOBAL const patch_mix *mixes, patch_keeping keep,
                             int index)
{
    int next = index + 1 == keep.rungs ? 0 : index + 1;
    patch_loose p = patch_loose_of(w, keep.c, keep.c.rung + index, keep.count);
    patch_loose q = patch_loose_of(w, keep.c, keep.c.rung + next, keep.count);
    patch_strip s;
    s.a = s.b = 0;
    s.a_last = p.last;
    s.b_last = q.last;
    s.one_start = p.p == q.p;
    s.one_end = p.q == q.q;
    pvec a = patch_end(w, p.p), b = patch_end(w, q.p);
    double sum = 0.0;
    for (int side; (side = patch_strip_next(s)) != 0;) {
        int first = side == 1, at = first ? ++s.a : ++s.b;
        patch_loose t = p; // one text for both: lanes differ in who advances
        if (!first) t = q;
        pvec x = patch_loose_point(w, mixes, t, at, keep.flat);
        sum += pvec_det(a, b, x);
        if (first)
            a = x;
        else
            b = x;
    }
    return sum;
}

/// What all loose strips are walked for, one value for each (and the number of them).
enum patch_walk_for {
    PATCH_WALK_NOW = 1,  ///< as they are
    PATCH_WALK_ENDS = 2, ///< with chords and with corners for rear rungs
    PATCH_WALK_FLAT = 4  ///< with four flatnesses: a strip's volume is a cubic in it
};

FN double patch_flat_node(int k)
{
    return k == 0 ? 0.0 : k == 1 ? 1.0 : k == 2 ? 0.5 * PATCH_BULGE : PATCH_BULGE;
}

// Six times the volume of all loose strips, as `walked` of the joint. Strips are few, so all that
// is asked for is walked at once.
TEAM_FN void patch_walk_loose(patch_work w, patch_keeping keep, int values)
{
    GLOBAL patch_sums *sums = work_sums(w) + keep.c.joint;
    GLOBAL const int *list = work_loose(w) + keep.c.rung;
    TEAM_EACH (k, 0, TEAM_PARTS) {
        int value = k % values; // and k + TEAM_PARTS has the same
        double sum = 0.0;
        if (values == PATCH_WALK_ENDS) keep.count = value;
        if (values == PATCH_WALK_FLAT) keep.flat = patch_flat_node(value);
        for (int i = k; i < values * keep.loose; i += TEAM_PARTS)
            sum += patch_loose_volume(w, sums->mix, keep, list[i / values]);
        sums->lane[k] = sum;
    }
    TEAM_SYNC;
    TEAM_EACH (value, 0, values) {
        double total = 0.0;
        for (int k = value; k < TEAM_PARTS && k < values * keep.loose; k += values)
            total += sums->lane[k];
        sums->walked[value] = total;
    }
    TEAM_SYNC;
}

// Six times the volume of the strips between rear rungs, as their mixes are now.
FN double patch_rear_now(patch_work w, patch_keeping keep)
{
    GLOBAL const patch_sums *sums = work_sums(w) + keep.c.joint;
    return patch_rear_volume(sums->whole, sums->mix, keep.count);
}

// Volume of the patch over the joint's centre, as weight, depth and flatness are now.
TEAM_FN double patch_volume_now(patch_work w, patch_keeping keep)
{
    patch_walk_loose(w, keep, PATCH_WALK_NOW);
    return (patch_rear_now(w, keep) + work_sums(w)[keep.c.joint].walked[0]) / 6.0;
}

// The volume with chords (x) and with corners (y) for rear rungs.
TEAM_FN pvec patch_volume_ends(patch_work w, patch_keeping keep)
{
    GLOBAL const double *walked = work_sums(w)[keep.c.joint].walked;
    GLOBAL const double *sums = work_sums(w)[keep.c.joint].whole;
    patch_set_corners(w, keep.c);
    patch_walk_loose(w, keep, PATCH_WALK_ENDS);
    keep.count = 1;
    return pvec_make((sums[6] - sums[17] + walked[0]) / 6.0,
                     (patch_rear_now(w, keep) + walked[1]) / 6.0, 0.0);
}

// The volume with the front so flat: the cubic through what was walked for four flatnesses.
FN double patch_volume_flat(GLOBAL const double *walked, double rear, double flat)
{
    double a = flat, b = flat - 1.0, c = flat - 0.5 * PATCH_BULGE, d = flat - PATCH_BULGE;
    // Divided by the products of each node's distances to the others.
    double sum = b * c * d * walked[0] * (1.0 / (-0.5 * PATCH_BULGE * PATCH_BULGE));
    sum += a * c * d * walked[1] * (1.0 / ((1.0 - 0.5 * PATCH_BULGE) * (1.0 - PATCH_BULGE)));
    sum += a * b * d * walked[2] *
           (1.0 / (-0.25 * PATCH_BULGE * PATCH_BULGE * (0.5 * PATCH_BULGE - 1.0)));
    sum += a * b * c * walked[3] * (1.0 / (0.5 * PATCH_BULGE * PATCH_BULGE * (PATCH_BULGE - 1.0)));
    return (rear + sum) / 6.0;
}

// Samples of all rungs where they belong, the front's among the others.
TEAM_FN void patch_end_samples(patch_work w, patch_keeping keep TEAM_PARAM)
{
    patch_case c = keep.c;
    GLOBAL const patch_mix *mixes = work_sums(w)[c.joint].mix;
    GLOBAL const pvec *corners = work_corner(w), *round = work_front_round(w);
    GLOBAL pvec *out = work_sample(w);
    int total = 0;
    for (int from = 0; from < keep.rungs; from += TEAM_LANES) {
        int i = from + TEAM_LANE, rung = c.rung + i, count = 0, old = 0, rear = 0;
        if (i < keep.rungs) {
            rear = work_rung_kind(w)[rung] == PATCH_RUNG_REAR;
            count = rear ? keep.count : work_front_count(w)[rung];
            old = c.point + work_front_first(w)[rung];
        }
        int first = total + team_before(count);
        total += team_total(count);
        if (i >= keep.rungs) continue;
        work_rung_count(w)[rung] = count;
        work_rung_first(w)[rung] = first;
        if (count == 0) continue;
        pvec p = patch_end(w, work_rung_p(w)[rung]);
        pvec q = patch_end(w, work_rung_c(w)[rung]), k = corners[rung];
        for (int n = 0; n < count; n++) {
            pvec x;
            if (rear)
                x = patch_mixed(mixes[n + 1], p, k, q);
            else
                x = pvec_mix(round[old + n], pvec_mix(p, q, (n + 1) / (double)(count + 1)),
                             keep.flat);
            out[c.point + first + n] = x;
        }
    }
    TEAM_SYNC;
}

#endif
