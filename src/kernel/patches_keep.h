/// Kernel text: the volume of a joint's patch for any weight, depth and flatness, without making
/// the patch anew each time. After patches_curve.h.
///
/// All rear rungs of fill keep have the same samples, each the same mix of its rung's two ends and
/// control point. A strip between two of them alternates, so its volume is a sum of determinants of
/// these six points with factors that are the same for all strips: 18 sums over the strips, made
/// once, give the volume for any mix. A weld beside a rear rung counts as one whose points are all
/// the same. The few other strips ("loose") are walked; front samples are linear in the flatness,
/// so a strip's volume is a cubic in it.
///
/// While a weight is looked for, RUNG_FIRST counts front samples alone, SAMPLE_SUM has them as they
/// are without flattening; RUNG_SUM has the control points, RUNG_FACE the loose strips.
#ifndef CUTIS_KERNEL_PATCHES_KEEP_H
#define CUTIS_KERNEL_PATCHES_KEEP_H

#define PATCH_BULGE      (-1.5) // front arcs stand out by this much more than circles, at most
#define PATCH_HALF_STEPS 16     // of the table of lengths of side a symmetric conic
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
    int other = a == PATCH_RUNG_CONIC ? b : a;
    return (a == PATCH_RUNG_CONIC || b == PATCH_RUNG_CONIC) &&
           (other == PATCH_RUNG_CONIC || other == PATCH_RUNG_WELD);
}

FN GLOBAL double *patch_mixes(PATCH_BODY S, GLOBAL double *D, patch_case c)
{
    return D + S[PATCH_JOINT_SUM] + PATCH_SCRATCH * c.joint + PATCH_SCRATCH_MIX;
}

// Point `at` of a rear rung: so much of the parent's end, the control point, the child's end.
FN void patch_put_mix(GLOBAL double *mixes, int at, double w, double t)
{
    double u = 1.0 - t, x = u * u, y = 2.0 * w * t * u, z = t * t;
    double f = 1.0 / (x + y + z);
    mixes[3 * at] = x * f;
    mixes[3 * at + 1] = y * f;
    mixes[3 * at + 2] = z * f;
}
FN pvec patch_mixed(GLOBAL const double *mix, pvec p, pvec k, pvec c)
{
    return pvec_plus(pvec_times(p, mix[0]),
                     pvec_plus(pvec_times(k, mix[1]), pvec_times(c, mix[2])));
}

// Rear rungs are the same curve but for affine maps, so they are sampled at the same parameters:
// neighbours then keep their order, which samples at equal lengths of each do not. These are
// parameters of evenly spaced points of a symmetric one.
TEAM_FN void patch_set_times(PATCH_BODY S, GLOBAL double *D, patch_case c)
{
    GLOBAL double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    GLOBAL double *pieces = D + S[PATCH_JOINT_SUM] + PATCH_SCRATCH * c.joint,
                  *times = r + PATCH_J_TIMES;
    GLOBAL double *mixes = patch_mixes(S, D, c);
    double height = 0.5 * r[PATCH_J_TAN] * r[PATCH_J_DEPTH], w = r[PATCH_J_WEIGHT], reached = 0.0;
    TEAM_SYNC; // no lane looks at the last ones any more
    TEAM_EACH (i, 0, PATCH_HALF_STEPS + 1) patch_put_mix(mixes, i, w, 0.5 * i / PATCH_HALF_STEPS);
    TEAM_SYNC;
    TEAM_EACH (i, 0, PATCH_HALF_STEPS) {
        GLOBAL const double *m = mixes + 3 * i;
        double along = 0.5 * (m[5] - m[3]) - 0.5 * (m[2] - m[0]), up = height * (m[4] - m[1]);
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
    r[PATCH_J_LENGTH] = 2.0 * reached;
    TEAM_SYNC;
}

// Parameter of sample `at` of `count`, from 1.
FN double patch_rear_time(GLOBAL const double *r, int count, int at)
{
    double x = PATCH_TIMES * at / (double)(count + 1);
    int k = (int)x;
    double t = r[PATCH_J_TIMES + k];
    return x > k ? t + (x - k) * (r[PATCH_J_TIMES + k + 1] - t) : t;
}

// Samples of every rear rung: what the longest wants.
FN int patch_rear_count(GLOBAL const double *r, patch_case c, double apart, int most)
{
    double wanted = ROOT(apart) * r[PATCH_J_LENGTH] / c.step;
    int count = patch_sample_count(wanted, PATCH_REAR_STEP, most);
    if (count == 0 && most > 0 && wanted > PATCH_REAR_LEAST)
        count = 1;                                        // straight, it has no weight
    return count > 0 && count < most ? count | 1 : count; // its middle is where it turns most
}

// Mixes of `count` samples by the present weight; 0: chords.
TEAM_FN int patch_set_mixes(PATCH_BODY S, GLOBAL double *D, patch_case c, int count)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    GLOBAL double *mixes = patch_mixes(S, D, c);
    double w = r[PATCH_J_WEIGHT];
    TEAM_SYNC; // no lane looks at the last ones any more
    TEAM_EACH (i, 0, count + 2)
        patch_put_mix(mixes, i, w, i == 0 ? 0.0 : i > count ? 1.0 : patch_rear_time(r, count, i));
    TEAM_SYNC;
    return count;
}

// The two legs over the control points.
TEAM_FN void patch_set_corners(PATCH_BODY S, GLOBAL double *D, patch_case c)
{
    GLOBAL double *mixes = patch_mixes(S, D, c);
    TEAM_SYNC;
    TEAM_EACH (i, 0, 9) mixes[i] = i % 4 == 0;
    TEAM_SYNC;
}

// Counts and arcs of the front, and the longest rear rung.
TEAM_FN void patch_begin_front(PATCH_BODY S, GLOBAL int *I, GLOBAL double *D, patch_keeping *keep,
                               int most TEAM_PARAM)
{
    patch_case c = keep->c;
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    GLOBAL const int *kinds = I + S[PATCH_RUNG_KIND] + c.rung;
    GLOBAL const int *ps = I + S[PATCH_RUNG_P] + c.rung, *qs = I + S[PATCH_RUNG_C] + c.rung;
    GLOBAL double *round = D + S[PATCH_SAMPLE_SUM];
    GLOBAL double *sums = D + S[PATCH_JOINT_SUM] + PATCH_SCRATCH * c.joint;
    int total = 0, loose = 0, rungs = keep->rungs;
    double longest = 0.0;
    for (int from = 0; from < rungs; from += TEAM_LANES) {
        int i = from + TEAM_LANE, count = 0, open = 0, kind = PATCH_RUNG_WELD;
        pvec p = pvec_make(0, 0, 0), q = p;
        if (i < rungs) {
            kind = kinds[i];
            open = !patch_is_summed(kind, kinds[i + 1 == rungs ? 0 : i + 1]);
            p = patch_end(S, D, ps[i]);
            q = patch_end(S, D, qs[i]);
        }
        if (kind == PATCH_RUNG_CONIC) {
            pvec chord = pvec_minus(p, q);
            double square = pvec_dot(chord, chord);
            if (square > longest) longest = square;
        } else if (kind != PATCH_RUNG_WELD && kind != PATCH_RUNG_LINE) {
            count = patch_sample_count(patch_arc_length(r, p, q), c.step, most);
        }
        int at = loose + team_before_flag(open), first = total + team_before(count);
        loose += team_total_flag(open);
        total += team_total(count);
        if (i < rungs) {
            I[S[PATCH_RUNG_COUNT] + c.rung + i] = count;
            I[S[PATCH_RUNG_FIRST] + c.rung + i] = first;
        }
        if (open) I[S[PATCH_RUNG_FACE] + c.rung + at] = i;
        pvec back = kind == PATCH_RUNG_ARC && count > 0 ? patch_swung_back(r, q) : q;
        for (int k = 0; k < count; k++) {
            double t = (k + 1) / (double)(count + 1);
            pvec_put(round, c.point + first + k,
                     kind == PATCH_RUNG_ARC ? patch_round_arc(r, p, back, t)
                                            : patch_round_fan(r, p, q, t));
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

FN patch_rail_points patch_rail_points_of(PATCH_BODY S, GLOBAL const double *D,
                                          GLOBAL const double *corners, GLOBAL const int *kinds,
                                          GLOBAL const int *ps, GLOBAL const int *qs, int i)
{
    patch_rail_points r;
    r.p = r.k = r.c = patch_end(S, D, ps[i]);
    if (kinds[i] == PATCH_RUNG_CONIC) {
        r.k = pvec_at(corners, i);
        r.c = patch_end(S, D, qs[i]);
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
TEAM_FN void patch_sum_rear(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const int *I,
                            GLOBAL double *D, patch_case c, int rungs)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    GLOBAL const int *kinds = I + S[PATCH_RUNG_KIND] + c.rung;
    GLOBAL const int *ps = I + S[PATCH_RUNG_P] + c.rung, *qs = I + S[PATCH_RUNG_C] + c.rung;
    GLOBAL double *corners = D + S[PATCH_RUNG_SUM] + 3 * c.rung;
    GLOBAL double *sums = D + S[PATCH_JOINT_SUM] + PATCH_SCRATCH * c.joint;
    TEAM_EACH (i, 0, rungs)
        if (kinds[i] == PATCH_RUNG_CONIC)
            pvec_put(
                corners, i,
                patch_corner_of(S, G, r, c.joint, patch_end(S, D, ps[i]), patch_end(S, D, qs[i])));
    TEAM_SYNC;
    // Half of them at a time: all would take so many registers that few teams run at once.
    for (int side = 0; side < 2; side++)
        TEAM_EACH (k, 0, TEAM_PARTS) {
            double own[PATCH_SUMS / 2];
            for (int n = 0; n < PATCH_SUMS / 2; n++) own[n] = 0.0;
            for (int i = k; i < rungs; i += TEAM_PARTS) {
                int next = i + 1 == rungs ? 0 : i + 1, crossed = side ? next : i;
                if (!patch_is_summed(kinds[i], kinds[next])) continue;
                patch_rail_points a = patch_rail_points_of(S, D, corners, kinds, ps, qs, crossed);
                patch_rail_points b =
                    patch_rail_points_of(S, D, corners, kinds, ps, qs, side ? i : next);
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
        sums[PATCH_SCRATCH_SUM + n] = sum;
    }
    TEAM_SYNC;
}

// Six times the volume of the strips between rear rungs, by their mixes.
FN double patch_rear_volume(GLOBAL const double *sums, GLOBAL const double *mixes, int count)
{
    double volume = 0.0;
    for (int i = 0; i <= count; i++) {
        GLOBAL const double *m = mixes + 3 * i;
        double pk = m[0] * m[4] - m[1] * m[3], kc = m[1] * m[5] - m[2] * m[4];
        double cp = m[2] * m[3] - m[0] * m[5];
        double a = pk * (m[3] * sums[9] + m[4] * sums[10] + m[5] * sums[11]) +
                   kc * (m[3] * sums[12] + m[4] * sums[13] + m[5] * sums[14]) +
                   cp * (m[3] * sums[15] + m[4] * sums[16] + m[5] * sums[17]);
        double b = pk * (m[0] * sums[0] + m[1] * sums[1] + m[2] * sums[2]) +
                   kc * (m[0] * sums[3] + m[1] * sums[4] + m[2] * sums[5]) +
                   cp * (m[0] * sums[6] + m[1] * sums[7] + m[2] * sums[8]);
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

FN patch_loose patch_loose_of(PATCH_BODY S, GLOBAL const int *I, patch_case c, int rung, int rear)
{
    patch_loose t;
    t.rung = rung;
    t.kind = I[S[PATCH_RUNG_KIND] + rung];
    t.first = c.point + I[S[PATCH_RUNG_FIRST] + rung];
    t.p = I[S[PATCH_RUNG_P] + rung];
    t.q = I[S[PATCH_RUNG_C] + rung];
    t.last = t.kind == PATCH_RUNG_WELD    ? 0
             : t.kind == PATCH_RUNG_CONIC ? rear + 1
                                          : I[S[PATCH_RUNG_COUNT] + rung] + 1;
    return t;
}

FN pvec patch_loose_point(PATCH_BODY S, GLOBAL const double *D, GLOBAL const double *mixes,
                          patch_loose t, int at, double flat)
{
    pvec q = patch_end(S, D, t.q);
    if (at == t.last) return q;
    pvec p = patch_end(S, D, t.p);
    if (t.kind == PATCH_RUNG_CONIC)
        return patch_mixed(mixes + 3 * at, p, pvec_at(D + S[PATCH_RUNG_SUM], t.rung), q);
    return pvec_mix(pvec_at(D + S[PATCH_SAMPLE_SUM], t.first + at - 1),
                    pvec_mix(p, q, at / (double)t.last), flat);
}

// Six times the volume of a loose strip over the joint's centre.
FN double patch_loose_volume(PATCH_BODY S, GLOBAL const int *I, GLOBAL const double *D,
                             GLOBAL const double *mixes, patch_keeping keep, int index)
{
    int next = index + 1 == keep.rungs ? 0 : index + 1;
    patch_loose p = patch_loose_of(S, I, keep.c, keep.c.rung + index, keep.count);
    patch_loose q = patch_loose_of(S, I, keep.c, keep.c.rung + next, keep.count);
    patch_strip s;
    s.a = s.b = 0;
    s.a_last = p.last;
    s.b_last = q.last;
    s.one_start = p.p == q.p;
    s.one_end = p.q == q.q;
    pvec a = patch_end(S, D, p.p), b = patch_end(S, D, q.p);
    double sum = 0.0;
    for (int turn; (turn = patch_strip_turn(s)) != 0;) {
        int first = turn == 1, at = first ? ++s.a : ++s.b;
        patch_loose t = p; // one text for both: lanes differ in who advances
        if (!first) t = q;
        pvec x = patch_loose_point(S, D, mixes, t, at, keep.flat);
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

// Six times the volume of all loose strips, in the first places of the joint's scratch. Strips are
// few, so all that is asked for is walked at once.
TEAM_FN void patch_walk_loose(PATCH_BODY S, GLOBAL const int *I, GLOBAL double *D,
                              patch_keeping keep, int values)
{
    GLOBAL double *sums = D + S[PATCH_JOINT_SUM] + PATCH_SCRATCH * keep.c.joint;
    GLOBAL const double *mixes = sums + PATCH_SCRATCH_MIX;
    GLOBAL const int *list = I + S[PATCH_RUNG_FACE] + keep.c.rung;
    TEAM_EACH (k, 0, TEAM_PARTS) {
        int value = k % values; // and k + TEAM_PARTS has the same
        double sum = 0.0;
        if (values == PATCH_WALK_ENDS) keep.count = value;
        if (values == PATCH_WALK_FLAT) keep.flat = patch_flat_node(value);
        for (int i = k; i < values * keep.loose; i += TEAM_PARTS)
            sum += patch_loose_volume(S, I, D, mixes, keep, list[i / values]);
        sums[k] = sum;
    }
    TEAM_SYNC;
    TEAM_EACH (value, 0, values) {
        double total = 0.0;
        for (int k = value; k < TEAM_PARTS && k < values * keep.loose; k += values)
            total += sums[k];
        sums[TEAM_PARTS + value] = total;
    }
    TEAM_SYNC;
}

FN GLOBAL const double *patch_walked(PATCH_BODY S, GLOBAL const double *D, patch_case c)
{
    return D + S[PATCH_JOINT_SUM] + PATCH_SCRATCH * c.joint + TEAM_PARTS;
}

// Six times the volume of the strips between rear rungs, as their mixes are now.
FN double patch_rear_now(PATCH_BODY S, GLOBAL const double *D, patch_keeping keep)
{
    GLOBAL const double *sums = D + S[PATCH_JOINT_SUM] + PATCH_SCRATCH * keep.c.joint;
    return patch_rear_volume(sums + PATCH_SCRATCH_SUM, sums + PATCH_SCRATCH_MIX, keep.count);
}

// Volume of the patch over the joint's centre, as weight, depth and flatness are now.
TEAM_FN double patch_volume_now(PATCH_BODY S, GLOBAL const int *I, GLOBAL double *D,
                                patch_keeping keep)
{
    patch_walk_loose(S, I, D, keep, PATCH_WALK_NOW);
    return (patch_rear_now(S, D, keep) + patch_walked(S, D, keep.c)[0]) / 6.0;
}

// The volume with chords (x) and with corners (y) for rear rungs.
TEAM_FN pvec patch_volume_ends(PATCH_BODY S, GLOBAL const int *I, GLOBAL double *D,
                               patch_keeping keep)
{
    GLOBAL const double *walked = patch_walked(S, D, keep.c);
    GLOBAL const double *sums =
        D + S[PATCH_JOINT_SUM] + PATCH_SCRATCH * keep.c.joint + PATCH_SCRATCH_SUM;
    patch_set_corners(S, D, keep.c);
    patch_walk_loose(S, I, D, keep, PATCH_WALK_ENDS);
    keep.count = 1;
    return pvec_make((sums[6] - sums[17] + walked[0]) / 6.0,
                     (patch_rear_now(S, D, keep) + walked[1]) / 6.0, 0.0);
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
TEAM_FN void patch_end_samples(PATCH_BODY S, GLOBAL int *I, GLOBAL double *D,
                               patch_keeping keep TEAM_PARAM)
{
    patch_case c = keep.c;
    GLOBAL const double *mixes = patch_mixes(S, D, c), *corners = D + S[PATCH_RUNG_SUM];
    GLOBAL const double *round = D + S[PATCH_SAMPLE_SUM];
    GLOBAL double *out = D + S[PATCH_SAMPLE];
    int total = 0;
    for (int from = 0; from < keep.rungs; from += TEAM_LANES) {
        int i = from + TEAM_LANE, rung = c.rung + i, count = 0, old = 0, rear = 0;
        if (i < keep.rungs) {
            rear = I[S[PATCH_RUNG_KIND] + rung] == PATCH_RUNG_CONIC;
            count = rear ? keep.count : I[S[PATCH_RUNG_COUNT] + rung];
            old = c.point + I[S[PATCH_RUNG_FIRST] + rung];
        }
        int first = total + team_before(count);
        total += team_total(count);
        if (i >= keep.rungs) continue;
        I[S[PATCH_RUNG_COUNT] + rung] = count;
        I[S[PATCH_RUNG_FIRST] + rung] = first;
        if (count == 0) continue;
        pvec p = patch_end(S, D, I[S[PATCH_RUNG_P] + rung]);
        pvec q = patch_end(S, D, I[S[PATCH_RUNG_C] + rung]), k = pvec_at(corners, rung);
        for (int n = 0; n < count; n++) {
            pvec x;
            if (rear)
                x = patch_mixed(mixes + 3 * (n + 1), p, k, q);
            else
                x = pvec_mix(pvec_at(round, old + n), pvec_mix(p, q, (n + 1) / (double)(count + 1)),
                             keep.flat);
            pvec_put(out, c.point + first + n, x);
        }
    }
    TEAM_SYNC;
}

#endif
