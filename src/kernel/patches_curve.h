/// Kernel text: the curves of rungs, their samples, the strips between them and the volume they
/// enclose.
///
/// All rear rungs of fill keep have one weight, one number of samples and the same parameters for
/// them. Points of neighbours then differ by what their ends and control points differ, so that
/// they keep their order; rungs sampled each by its own length would fold over one another.
#ifndef CUTIS_KERNEL_PATCHES_CURVE_H
#define CUTIS_KERNEL_PATCHES_CURVE_H

#include "patches_conic.h"
#include "patches_rung.h"

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
PATCH_FN pvec patch_between(patch_work w, patch_case c, double place)
{
    GLOBAL const patch_joint *j = work_joint(w) + c.joint;
    GLOBAL const int *loop = body_loop_vertex(w);
    GLOBAL const pvec *points = body_vertex_point(w);
    pvec centre = body_joint_centre(w)[c.joint];
    int first = body_joint_loop(w)[c.joint], i = (int)place;
    double t = place - i;
    pvec a = pvec_mix(points[loop[2 * (first + i % c.count)]],
                      points[loop[2 * (first + (i + 1) % c.count)]], t);
    pvec b = pvec_mix(points[loop[2 * (first + (i + c.shift) % c.count) + 1]],
                      points[loop[2 * (first + (i + 1 + c.shift) % c.count) + 1]], t);
    b = pvec_plus(pvec_turned(j->turn, pvec_minus(b, centre)), j->offset);
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
FN pvec patch_corner_of(patch_work w, GLOBAL const patch_joint *j, int joint, pvec p, pvec c)
{
    pvec limb = body_joint_limb(w)[joint];
    pvec other = pvec_turned(j->turn, limb), axis = j->axis;
    pvec chord = pvec_minus(c, p);
    double slant = pvec_dot(axis, chord);
    pvec flat = pvec_minus(chord, pvec_times(axis, slant));
    pvec out = pvec_cross(flat, axis);
    double tangent = j->tangent;
    double m = patch_limb_slope(pvec_dot(limb, flat), pvec_dot(limb, out), tangent);
    double n = patch_limb_slope(pvec_dot(other, flat), -pvec_dot(other, out), tangent);
    double f = n / (m + n), share = (n + m * n) / (m + n + 2.0 * m * n);
    pvec across = pvec_plus(pvec_times(flat, f), pvec_times(out, m * f * j->depth));
    return pvec_plus(pvec_plus(p, across), pvec_times(axis, share * slant));
}

// Control point and weight of a rear rung (docs/spec/patches.md B6).
PATCH_FN patch_curve patch_curve_of(patch_work w, patch_case c, int index)
{
    GLOBAL const patch_joint *j = work_joint(w) + c.joint;
    patch_curve curve;
    curve.p = patch_end(w, work_rung_p(w)[c.rung + index]);
    curve.c = patch_end(w, work_rung_c(w)[c.rung + index]);
    curve.w = j->weight;
    int fill = w.given->fill;
    if (fill == PATCH_FILL_KEEP) {
        curve.k = patch_corner_of(w, j, c.joint, curve.p, curve.c);
        return curve;
    }
    GLOBAL const int *parts = body_joint_part(w) + 2 * c.joint;
    pvec centre = body_joint_centre(w)[c.joint];
    pvec u = pvec_minus(centre, body_part_centroid(w)[parts[0]]);
    pvec v = pvec_turned(j->turn, pvec_minus(centre, body_part_centroid(w)[parts[1]]));
    pvec m = patch_between(w, c, work_rung_along(w)[c.rung + index]);
    pvec x = patch_meeting(curve.p, u, curve.c, v, m), mean = pvec_mix(m, x, 0.5), s;
    s = fill == PATCH_FILL_MEAN ? mean : fill == PATCH_FILL_BETWEEN ? m : x;
    curve.k = fill == PATCH_FILL_REDUCED   ? mean
              : fill == PATCH_FILL_BETWEEN ? pvec_minus(pvec_times(m, 2.0), mean)
                                           : m;
    double weight = patch_weight_through(curve.p, curve.k, curve.c, s).w;
    curve.w = weight < 0.2 ? (weight > 0.0 ? 0.2 : 0.0) : weight > 5.0 ? 5.0 : weight;
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
PATCH_FN void patch_sample_conic(GLOBAL pvec *out, int first, int count, patch_curve v)
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
            out[first + made++] = patch_conic(v.p, v.k, v.c, v.w, t + f * (next - t));
        }
        past += piece;
        t = next;
    }
}

// The child's end of a front arc, swung back to the parent.
FN pvec patch_swung_back(GLOBAL const patch_joint *j, pvec q)
{
    pquat back = pquat_make(j->swing.w, -j->swing.x, -j->swing.y, -j->swing.z);
    return pquat_turned(back, pvec_minus(q, j->offset));
}
FN pvec patch_round_arc(GLOBAL const patch_joint *j, pvec p, pvec back, double t)
{
    return pvec_plus(patch_arc(p, back, j->swing, t), pvec_times(j->offset, t));
}

// Like an arc, about the bend axis, between two points of the front that are no partners: distance
// from the axis and place along it go evenly.
PATCH_FN pvec patch_round_fan(GLOBAL const patch_joint *j, pvec p, pvec q, double t)
{
    pvec axis = j->axis;
    double p_at = pvec_dot(axis, p), q_at = pvec_dot(axis, q);
    pvec u = pvec_minus(p, pvec_times(axis, p_at)), v = pvec_minus(q, pvec_times(axis, q_at));
    double far = pvec_length(u) + t * (pvec_length(v) - pvec_length(u));
    pvec around = pvec_times(pvec_unit(pvec_mix(pvec_unit(u), pvec_unit(v), t)), far);
    return pvec_plus(around, pvec_times(axis, p_at + t * (q_at - p_at)));
}

PATCH_FN void patch_sample_front(GLOBAL const patch_joint *j, GLOBAL pvec *out, int first,
                                 int count, int kind, pvec p, pvec q)
{
    pvec back = patch_swung_back(j, q);
    for (int i = 0; i < count; i++) {
        double t = (i + 1) / (double)(count + 1);
        pvec x = kind == PATCH_RUNG_FRONT_ARC ? patch_round_arc(j, p, back, t)
                                              : patch_round_fan(j, p, q, t);
        out[first + i] = pvec_mix(x, pvec_mix(p, q, t), j->flat);
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

FN double patch_arc_length(GLOBAL const patch_joint *j, pvec p, pvec c)
{
    pvec axis = j->axis;
    pvec across = pvec_minus(p, pvec_times(axis, pvec_dot(axis, p)));
    double around = j->angle * pvec_length(across), chord = pvec_length(pvec_minus(c, p));
    return around > chord ? around : chord;
}

// Samples of one rung. Rear rungs of fill keep are counted with their weight (patches_keep.h).
FN int patch_rung_samples(patch_work w, patch_case c, int index, int most)
{
    GLOBAL const patch_joint *j = work_joint(w) + c.joint;
    int kind = work_rung_kind(w)[c.rung + index], count = 0;
    if (kind == PATCH_RUNG_FRONT_ARC || kind == PATCH_RUNG_FRONT_FAN) {
        pvec p = patch_end(w, work_rung_p(w)[c.rung + index]);
        pvec q = patch_end(w, work_rung_c(w)[c.rung + index]);
        // A pure twist adds no vertices (the paper's rule): its rungs are straight.
        if (j->angle >= PATCH_BEND_MIN)
            count = patch_sample_count(patch_arc_length(j, p, q), c.step, most);
    } else if (kind == PATCH_RUNG_REAR && w.given->fill != PATCH_FILL_KEEP) {
        patch_curve v = patch_curve_of(w, c, index);
        count = patch_sample_count(patch_conic_length(v), c.step, most);
        if (count > 0 && count < most) count |= 1; // its middle is where it turns most
    }
    return count;
}

// Samples of a rung at most.
FN int patch_samples_most(patch_work w, patch_case c, int rungs)
{
    int available = (body_joint_point(w)[c.joint + 1] - c.point) / rungs;
    return available < PATCH_CURVE_MOST ? available : PATCH_CURVE_MOST;
}

// How many samples each rung gets, and where they lie.
TEAM_FN void patch_count_samples(patch_work w, patch_case c, int rungs TEAM_PARAM)
{
    int most = patch_samples_most(w, c, rungs), total = 0;
    for (int from = 0; from < rungs; from += TEAM_LANES) {
        int i = from + TEAM_LANE;
        int count = i < rungs ? patch_rung_samples(w, c, i, most) : 0;
        int first = total + team_before(count);
        if (i < rungs) {
            work_rung_count(w)[c.rung + i] = count;
            work_rung_first(w)[c.rung + i] = first;
        }
        total += team_total(count);
    }
    TEAM_SYNC;
}

TEAM_FN void patch_place_samples(patch_work w, patch_case c, int rungs)
{
    GLOBAL const patch_joint *j = work_joint(w) + c.joint;
    GLOBAL pvec *out = work_sample(w);
    TEAM_EACH (i, 0, rungs) {
        int count = work_rung_count(w)[c.rung + i], kind = work_rung_kind(w)[c.rung + i];
        int first = c.point + work_rung_first(w)[c.rung + i];
        if (count == 0) continue;
        patch_curve v = patch_curve_of(w, c, i);
        if (kind == PATCH_RUNG_REAR)
            patch_sample_conic(out, first, count, v);
        else
            patch_sample_front(j, out, first, count, kind, v.p, v.c);
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

FN int patch_rung_last(patch_work w, int rung)
{
    return work_rung_kind(w)[rung] == PATCH_RUNG_WELD ? 0 : work_rung_count(w)[rung] + 1;
}

FN patch_strip patch_strip_of(patch_work w, patch_case c, int rungs, int index)
{
    patch_strip s;
    s.a_rung = c.rung + index;
    s.b_rung = c.rung + (index + 1 == rungs ? 0 : index + 1);
    s.a_last = patch_rung_last(w, s.a_rung);
    s.b_last = patch_rung_last(w, s.b_rung);
    s.a = s.b = 0;
    s.one_start = work_rung_p(w)[s.a_rung] == work_rung_p(w)[s.b_rung];
    s.one_end = work_rung_c(w)[s.a_rung] == work_rung_c(w)[s.b_rung];
    return s;
}

// Who advances next, giving the triangle (a, b, its next point): 1 a, 2 b, 0 the strip has ended.
// From a common point both leave together, and reach one together: else a rung with more samples
// than both of its neighbours would have its second one joined to that point by both strips.
FN int patch_strip_next(patch_strip s)
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

FN patch_rail patch_rail_of(patch_work w, int rung)
{
    patch_rail t;
    int slot = work_rung_c(w)[rung], weld = work_slot_weld(w)[slot];
    t.rung = rung;
    t.last = patch_rung_last(w, rung);
    t.first = work_rung_first(w)[rung];
    t.start = work_rung_p(w)[rung];
    t.end = weld >= 0 ? weld : slot;
    return t;
}

FN int patch_rail_id(patch_rail t, int at)
{
    return at == 0 ? t.start : at < t.last ? -1 - (t.first + at - 1) : t.end;
}

FN pvec patch_point_at(patch_work w, patch_case c, int rung, int at, int last)
{
    if (at == 0) return patch_end(w, work_rung_p(w)[rung]);
    if (at == last) return patch_end(w, work_rung_c(w)[rung]);
    return work_sample(w)[c.point + work_rung_first(w)[rung] + at - 1];
}

// Six times the volume of a strip over the joint's centre.
PATCH_FN double patch_strip_volume(patch_work w, patch_case c, patch_strip s)
{
    double sum = 0.0;
    pvec a = patch_point_at(w, c, s.a_rung, 0, s.a_last);
    pvec b = patch_point_at(w, c, s.b_rung, 0, s.b_last);
    for (int side; (side = patch_strip_next(s)) != 0;) {
        if (side == 1) {
            pvec x = patch_point_at(w, c, s.a_rung, ++s.a, s.a_last);
            sum += pvec_det(a, b, x);
            a = x;
        } else {
            pvec x = patch_point_at(w, c, s.b_rung, ++s.b, s.b_last);
            sum += pvec_det(a, b, x);
            b = x;
        }
    }
    return sum;
}

// Volume of the patch over the joint's centre.
TEAM_FN double patch_volume(patch_work w, patch_case c, int rungs)
{
    GLOBAL double *sums = work_sums(w)[c.joint].lane;
    double total = 0.0;
    TEAM_EACH (k, 0, TEAM_PARTS) {
        double sum = 0.0;
        for (int i = k; i < rungs; i += TEAM_PARTS)
            sum += patch_strip_volume(w, c, patch_strip_of(w, c, rungs, i));
        sums[k] = sum;
    }
    TEAM_SYNC;
    for (int k = 0; k < TEAM_PARTS; k++) total += sums[k];
    TEAM_SYNC;
    return total / 6.0;
}

#endif
