/// Kernel text: the curves of rungs, their samples, the strips between them and the volume they
/// enclose. After patches_rung.h.
///
/// All rear rungs of fill keep have one weight, one number of samples and the same parameters for
/// them. Points of neighbours then differ by what their ends and control points differ, so that
/// they keep their order; rungs sampled each by its own length would fold over one another.
#ifndef CUTIS_KERNEL_PATCHES_CURVE_H
#define CUTIS_KERNEL_PATCHES_CURVE_H

#define PATCH_ARC_STEPS  8 // of the table of arc lengths
#define PATCH_WEIGHT_MIN 0.1
#define PATCH_WEIGHT_MAX 30.0
#define PATCH_LEFT_OVER  1e-5 // of the cut volume: less is not worth flattening the front for

/// One rung's curve: ends, control point and weight of a conic (from the parent's end).
STRUCT(patch_curve)
{
    pvec p, c, k;
    double w;
};

// Where the joint's loop is at a place, half way between the two parts.
PATCH_FN pvec patch_between(PATCH_BODY S, GLOBAL const double *G, GLOBAL const double *D,
                            patch_case c, double place)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    GLOBAL const int *loop = FIELD(S, PATCH_LOOP_VERTEX);
    GLOBAL const double *points = REALS(S, G, PATCH_POINTS);
    pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), c.joint);
    int first = FIELD(S, PATCH_JOINT_LOOP)[c.joint], i = (int)place;
    double t = place - i;
    pvec a = pvec_mix(pvec_at(points, loop[2 * (first + i % c.count)]),
                      pvec_at(points, loop[2 * (first + (i + 1) % c.count)]), t);
    pvec b = pvec_mix(pvec_at(points, loop[2 * (first + (i + c.shift) % c.count) + 1]),
                      pvec_at(points, loop[2 * (first + (i + 1 + c.shift) % c.count) + 1]), t);
    b = pvec_plus(pvec_turned(r + PATCH_J_TURN, pvec_minus(b, centre)),
                  pvec_at(r + PATCH_J_OFFSET, 0));
    return pvec_mix(pvec_minus(a, centre), b, 0.5);
}

// Where the lines a + s u and b + t v meet, both projected into the plane of a, b and m. `at` is
// where they would if they were parallel or met beyond m.
PATCH_FN pvec patch_meeting(pvec a, pvec u, pvec b, pvec v, pvec m)
{
    pvec middle = pvec_mix(a, b, 0.5), fallback = pvec_mix(middle, m, 0.5);
    pvec ab = pvec_minus(b, a), n = pvec_unit(pvec_cross(ab, pvec_minus(m, a)));
    u = pvec_minus(u, pvec_times(n, pvec_dot(u, n)));
    v = pvec_minus(v, pvec_times(n, pvec_dot(v, n)));
    double d = pvec_dot(n, pvec_cross(u, v));
    if (!(d * d > 1e-12 * pvec_dot(u, u) * pvec_dot(v, v))) return fallback;
    pvec x = pvec_plus(a, pvec_times(u, pvec_dot(n, pvec_cross(ab, v)) / d));
    pvec up = pvec_minus(m, middle), at = pvec_minus(x, middle);
    double height = pvec_dot(at, up);
    if (height <= 0.0 || pvec_dot(at, at) > pvec_dot(up, up)) return fallback;
    return x;
}

// Slope of a limb against a rung. Of a regular rung it is the tangent; the more a joint is bent,
// the further others may differ from that.
FN double patch_limb_slope(double along, double across, double tangent)
{
    double range = 1.5 + 6.0 * tangent * tangent, least = tangent / range, most = tangent * range;
    if (!(across > 0.0)) return least;
    if (!(across < most * along)) return most;
    return across > least * along ? across / along : least;
}

// Where the two limbs' directions meet over a rung, seen along the bend axis. What the rung has of
// that axis its two legs share by their lengths (in city blocks): by its foot on the chord the
// corner would jump from one end to the other where neighbours are short or steep.
FN pvec patch_corner_of(PATCH_BODY S, GLOBAL const double *G, GLOBAL const double *r, int joint,
                        pvec p, pvec c)
{
    pvec limb = pvec_at(REALS(S, G, PATCH_LIMB), joint);
    pvec other = pvec_turned(r + PATCH_J_TURN, limb), axis = pvec_at(r + PATCH_J_AXIS, 0);
    pvec chord = pvec_minus(c, p);
    double slant = pvec_dot(axis, chord);
    pvec flat = pvec_minus(chord, pvec_times(axis, slant));
    pvec out = pvec_cross(flat, axis);
    double tangent = r[PATCH_J_TAN];
    double m = patch_limb_slope(pvec_dot(limb, flat), pvec_dot(limb, out), tangent);
    double n = patch_limb_slope(pvec_dot(other, flat), -pvec_dot(other, out), tangent);
    double f = n / (m + n), share = (n + m * n) / (m + n + 2.0 * m * n);
    pvec across = pvec_plus(pvec_times(flat, f), pvec_times(out, m * f * r[PATCH_J_DEPTH]));
    return pvec_plus(pvec_plus(p, across), pvec_times(axis, share * slant));
}

// Control point and weight of a rear rung (docs/design/patches.md has the five ways).
PATCH_FN patch_curve patch_curve_of(PATCH_BODY S, GLOBAL const double *G, GLOBAL const int *I,
                                    GLOBAL const double *D, patch_case c, int index)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    patch_curve curve;
    curve.p = patch_end(S, D, I[S[PATCH_RUNG_P] + c.rung + index]);
    curve.c = patch_end(S, D, I[S[PATCH_RUNG_C] + c.rung + index]);
    curve.w = r[PATCH_J_WEIGHT];
    int fill = S[PATCH_FILL];
    if (fill == PATCH_FILL_KEEP) {
        curve.k = patch_corner_of(S, G, r, c.joint, curve.p, curve.c);
        return curve;
    }
    GLOBAL const int *parts = FIELD(S, PATCH_JOINT_PART) + 2 * c.joint;
    pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), c.joint);
    pvec u = pvec_minus(centre, pvec_at(REALS(S, G, PATCH_CENTROID), parts[0]));
    pvec v = pvec_turned(r + PATCH_J_TURN,
                         pvec_minus(centre, pvec_at(REALS(S, G, PATCH_CENTROID), parts[1])));
    pvec m = patch_between(S, G, D, c, D[S[PATCH_RUNG_ALONG] + c.rung + index]);
    pvec x = patch_meeting(curve.p, u, curve.c, v, m), mean = pvec_mix(m, x, 0.5), s;
    s = fill == PATCH_FILL_MEAN ? mean : fill == PATCH_FILL_BETWEEN ? m : x;
    curve.k = fill == PATCH_FILL_REDUCED   ? mean
              : fill == PATCH_FILL_BETWEEN ? pvec_minus(pvec_times(m, 2.0), mean)
                                           : m;
    double w = patch_weight_through(curve.p, curve.k, curve.c, s).w;
    curve.w = w < 0.2 ? (w > 0.0 ? 0.2 : 0.0) : w > 5.0 ? 5.0 : w;
    return curve;
}

// Length of a conic, by chords.
PATCH_FN double patch_conic_length(patch_curve v)
{
    double length = 0.0;
    pvec last = v.p;
    for (int i = 1; i <= PATCH_ARC_STEPS; i++) {
        pvec x = patch_conic(v.p, v.k, v.c, v.w, i / (double)PATCH_ARC_STEPS);
        length += pvec_length(pvec_minus(x, last));
        last = x;
    }
    return length;
}

// Samples of a conic at equal lengths along those chords.
PATCH_FN void patch_sample_conic(GLOBAL double *out, int first, int count, patch_curve v)
{
    double pieces[PATCH_ARC_STEPS], length = 0.0, past = 0.0, t = 0.0;
    pvec last = v.p;
    int made = 0;
    for (int i = 0; i < PATCH_ARC_STEPS; i++) {
        pvec x = patch_conic(v.p, v.k, v.c, v.w, (i + 1) / (double)PATCH_ARC_STEPS);
        pieces[i] = pvec_length(pvec_minus(x, last));
        length += pieces[i];
        last = x;
    }
    for (int i = 0; i < PATCH_ARC_STEPS && made < count; i++) {
        double next = (i + 1) / (double)PATCH_ARC_STEPS, piece = pieces[i];
        while (made < count) {
            double wanted = length * (made + 1) / (count + 1);
            if (wanted > past + piece && i < PATCH_ARC_STEPS - 1) break;
            double f = piece > 0.0 ? (wanted - past) / piece : 0.0;
            f = f < 0.0 ? 0.0 : f > 1.0 ? 1.0 : f;
            pvec_put(out, first + made++, patch_conic(v.p, v.k, v.c, v.w, t + f * (next - t)));
        }
        past += piece;
        t = next;
    }
}

// The child's end of a front arc, swung back to the parent.
FN pvec patch_swung_back(GLOBAL const double *r, pvec q)
{
    pquat back = pquat_make(r[PATCH_J_SWING], -r[PATCH_J_SWING + 1], -r[PATCH_J_SWING + 2],
                            -r[PATCH_J_SWING + 3]);
    return pquat_turned(back, pvec_minus(q, pvec_at(r + PATCH_J_OFFSET, 0)));
}
FN pvec patch_round_arc(GLOBAL const double *r, pvec p, pvec back, double t)
{
    pquat s = pquat_make(r[PATCH_J_SWING], r[PATCH_J_SWING + 1], r[PATCH_J_SWING + 2],
                         r[PATCH_J_SWING + 3]);
    return pvec_plus(patch_arc(p, back, s, t), pvec_times(pvec_at(r + PATCH_J_OFFSET, 0), t));
}

// Like an arc, about the bend axis, between two points of the front that are no partners: distance
// from the axis and place along it go evenly.
PATCH_FN pvec patch_round_fan(GLOBAL const double *r, pvec p, pvec q, double t)
{
    pvec axis = pvec_at(r + PATCH_J_AXIS, 0);
    double p_at = pvec_dot(axis, p), q_at = pvec_dot(axis, q);
    pvec u = pvec_minus(p, pvec_times(axis, p_at)), v = pvec_minus(q, pvec_times(axis, q_at));
    double far = pvec_length(u) + t * (pvec_length(v) - pvec_length(u));
    pvec around = pvec_times(pvec_unit(pvec_mix(pvec_unit(u), pvec_unit(v), t)), far);
    return pvec_plus(around, pvec_times(axis, p_at + t * (q_at - p_at)));
}
// Flattened towards its chord.
FN pvec patch_fan(GLOBAL const double *r, pvec p, pvec q, double t)
{
    return pvec_mix(patch_round_fan(r, p, q, t), pvec_mix(p, q, t), r[PATCH_J_FLAT]);
}

PATCH_FN void patch_sample_front(GLOBAL const double *r, GLOBAL double *out, int first, int count,
                                 int kind, pvec p, pvec q)
{
    pvec back = patch_swung_back(r, q);
    for (int i = 0; i < count; i++) {
        double t = (i + 1) / (double)(count + 1);
        pvec x =
            kind == PATCH_RUNG_ARC ? patch_round_arc(r, p, back, t) : patch_round_fan(r, p, q, t);
        pvec_put(out, first + i, pvec_mix(x, pvec_mix(p, q, t), r[PATCH_J_FLAT]));
    }
}

// Inner samples a curve of this length wants.
FN int patch_sample_count(double length, double step, int most)
{
    double wanted = length / step;
    int count = 0;
    while (count < most && count + 1 < wanted) count++;
    return count;
}

FN double patch_arc_length(GLOBAL const double *r, pvec p, pvec c)
{
    pvec axis = pvec_at(r + PATCH_J_AXIS, 0);
    pvec across = pvec_minus(p, pvec_times(axis, pvec_dot(axis, p)));
    double around = r[PATCH_J_ANGLE] * pvec_length(across), chord = pvec_length(pvec_minus(c, p));
    return around > chord ? around : chord;
}

// Samples of one rung. Rear rungs of fill keep are counted with their weight (patches_keep.h).
FN int patch_rung_samples(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const int *I,
                          GLOBAL const double *D, patch_case c, int index, int most)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    int kind = I[S[PATCH_RUNG_KIND] + c.rung + index], count = 0;
    if (kind == PATCH_RUNG_ARC || kind == PATCH_RUNG_FAN) {
        pvec p = patch_end(S, D, I[S[PATCH_RUNG_P] + c.rung + index]);
        pvec q = patch_end(S, D, I[S[PATCH_RUNG_C] + c.rung + index]);
        // A pure twist adds no vertices (the paper's rule): its rungs are straight.
        if (r[PATCH_J_ANGLE] >= PATCH_BEND_MIN)
            count = patch_sample_count(patch_arc_length(r, p, q), c.step, most);
    } else if (kind == PATCH_RUNG_CONIC && S[PATCH_FILL] != PATCH_FILL_KEEP) {
        patch_curve v = patch_curve_of(S, G, I, D, c, index);
        count = patch_sample_count(patch_conic_length(v), c.step, most);
        if (count > 0 && count < most) count |= 1; // its middle is where it turns most
    }
    return count;
}

// Samples of a rung at most.
FN int patch_samples_most(PATCH_BODY S, patch_case c, int rungs)
{
    int room = (FIELD(S, PATCH_JOINT_POINT)[c.joint + 1] - c.point) / rungs;
    return room < S[PATCH_CURVE_MAX] ? room : S[PATCH_CURVE_MAX];
}

// How many samples each rung gets, and where they lie.
TEAM_FN void patch_count_samples(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL int *I,
                                 GLOBAL const double *D, patch_case c, int rungs TEAM_PARAM)
{
    int most = patch_samples_most(S, c, rungs), total = 0;
    for (int from = 0; from < rungs; from += TEAM_LANES) {
        int i = from + TEAM_LANE;
        int count = i < rungs ? patch_rung_samples(S, G, I, D, c, i, most) : 0;
        int first = total + team_before(count);
        if (i < rungs) {
            I[S[PATCH_RUNG_COUNT] + c.rung + i] = count;
            I[S[PATCH_RUNG_FIRST] + c.rung + i] = first;
        }
        total += team_total(count);
    }
    TEAM_SYNC;
}

TEAM_FN void patch_place_samples(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const int *I,
                                 GLOBAL double *D, patch_case c, int rungs)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    GLOBAL double *out = D + S[PATCH_SAMPLE];
    TEAM_EACH (i, 0, rungs) {
        int count = I[S[PATCH_RUNG_COUNT] + c.rung + i], kind = I[S[PATCH_RUNG_KIND] + c.rung + i];
        int first = c.point + I[S[PATCH_RUNG_FIRST] + c.rung + i];
        if (count == 0) continue;
        patch_curve v = patch_curve_of(S, G, I, D, c, i);
        if (kind == PATCH_RUNG_CONIC)
            patch_sample_conic(out, first, count, v);
        else
            patch_sample_front(r, out, first, count, kind, v.p, v.c);
    }
    TEAM_SYNC;
}

/// A walk along a strip between two rungs, a and b. Points of a rung are counted from the parent's
/// end: 0, its samples, the child's end (a weld has one point only).
STRUCT(patch_strip)
{
    int a_rung, b_rung, a_last, b_last, a, b;
    int one_start, one_end; ///< both rungs begin, or end, in the same point
};

FN int patch_rung_last(PATCH_BODY S, GLOBAL const int *I, int rung)
{
    return I[S[PATCH_RUNG_KIND] + rung] == PATCH_RUNG_WELD ? 0 : I[S[PATCH_RUNG_COUNT] + rung] + 1;
}

FN patch_strip patch_strip_of(PATCH_BODY S, GLOBAL const int *I, patch_case c, int rungs, int index)
{
    patch_strip s;
    s.a_rung = c.rung + index;
    s.b_rung = c.rung + (index + 1 == rungs ? 0 : index + 1);
    s.a_last = patch_rung_last(S, I, s.a_rung);
    s.b_last = patch_rung_last(S, I, s.b_rung);
    s.a = s.b = 0;
    s.one_start = I[S[PATCH_RUNG_P] + s.a_rung] == I[S[PATCH_RUNG_P] + s.b_rung];
    s.one_end = I[S[PATCH_RUNG_C] + s.a_rung] == I[S[PATCH_RUNG_C] + s.b_rung];
    return s;
}

// Who advances next, giving the triangle (a, b, its next point): 1 a, 2 b, 0 the strip has ended.
// From a common point both leave together, and reach one together: else a rung with more samples
// than both of its neighbours would have its second one joined to that point by both strips.
FN int patch_strip_turn(patch_strip s)
{
    if (s.a >= s.a_last) return s.b >= s.b_last ? 0 : 2;
    if (s.b >= s.b_last) return 1;
    if (s.one_start && s.a + s.b == 1) return s.a == 0 ? 1 : 2;
    if (s.one_end && (s.a == s.a_last - 1) != (s.b == s.b_last - 1))
        return s.a == s.a_last - 1 ? 2 : 1;
    return (s.b + 1) * s.a_last < (s.a + 1) * s.b_last ? 2 : 1;
}

/// A rung as its strips see it: the ids of its points are its slots (of the parent, where both
/// became one) and -1 - its samples.
STRUCT(patch_rail)
{
    int rung, last, first, start, end;
};

FN patch_rail patch_rail_of(PATCH_BODY S, GLOBAL const int *I, int rung)
{
    patch_rail t;
    int slot = I[S[PATCH_RUNG_C] + rung], weld = I[S[PATCH_SLOT_WELD] + slot];
    t.rung = rung;
    t.last = patch_rung_last(S, I, rung);
    t.first = I[S[PATCH_RUNG_FIRST] + rung];
    t.start = I[S[PATCH_RUNG_P] + rung];
    t.end = weld >= 0 ? weld : slot;
    return t;
}

FN int patch_rail_id(patch_rail t, int at)
{
    return at == 0 ? t.start : at < t.last ? -1 - (t.first + at - 1) : t.end;
}

FN pvec patch_point_at(PATCH_BODY S, GLOBAL const int *I, GLOBAL const double *D, patch_case c,
                       int rung, int at, int last)
{
    if (at == 0) return patch_end(S, D, I[S[PATCH_RUNG_P] + rung]);
    if (at == last) return patch_end(S, D, I[S[PATCH_RUNG_C] + rung]);
    return pvec_at(D + S[PATCH_SAMPLE], c.point + I[S[PATCH_RUNG_FIRST] + rung] + at - 1);
}

// Six times the volume of a strip over the joint's centre.
PATCH_FN double patch_strip_volume(PATCH_BODY S, GLOBAL const int *I, GLOBAL const double *D,
                                   patch_case c, patch_strip s)
{
    double sum = 0.0;
    pvec a = patch_point_at(S, I, D, c, s.a_rung, 0, s.a_last);
    pvec b = patch_point_at(S, I, D, c, s.b_rung, 0, s.b_last);
    for (int turn; (turn = patch_strip_turn(s)) != 0;) {
        if (turn == 1) {
            pvec x = patch_point_at(S, I, D, c, s.a_rung, ++s.a, s.a_last);
            sum += pvec_det(a, b, x);
            a = x;
        } else {
            pvec x = patch_point_at(S, I, D, c, s.b_rung, ++s.b, s.b_last);
            sum += pvec_det(a, b, x);
            b = x;
        }
    }
    return sum;
}

// Volume of the patch over the joint's centre.
TEAM_FN double patch_volume(PATCH_BODY S, GLOBAL const int *I, GLOBAL double *D, patch_case c,
                            int rungs)
{
    GLOBAL double *sums = D + S[PATCH_JOINT_SUM] + PATCH_SCRATCH * c.joint;
    double total = 0.0;
    TEAM_EACH (k, 0, TEAM_PARTS) {
        double sum = 0.0;
        for (int i = k; i < rungs; i += TEAM_PARTS)
            sum += patch_strip_volume(S, I, D, c, patch_strip_of(S, I, c, rungs, i));
        sums[k] = sum;
    }
    TEAM_SYNC;
    for (int k = 0; k < TEAM_PARTS; k++) total += sums[k];
    TEAM_SYNC;
    return total / 6.0;
}

#endif
