/// Team kernels: the vertices of the bands of a joint, turned, and swollen or shrunk so that the
/// volume of the joint stays; and those of several joints.
///
/// Swelling moves every vertex outwards, most in the middle of the bands and not at all at their
/// ends. The volume is a cubic in it: its coefficients are summed over the faces once.
#ifndef CUTIS_KERNEL_PATCHES_SWELL_H
#define CUTIS_KERNEL_PATCHES_SWELL_H

#include "patches_joint.h"

#define PATCH_SWELL_MOST  0.27 // of what a band's length goes by, at a turn of a radian
#define PATCH_SWELL_STEPS 8    // of Newton's, at most: three do but for the largest bends
#define PATCH_SWELL_NEAR  1e-9 // of what swelling by the half axis would add: near enough

/// Corners of faces that are looked at together: where they are after a joint's turn, from its
/// centre, where swelling takes them, and where they were before. 3 times 3 numbers of every face.
STRUCT(patch_wide)
{
    double at[9 * PATCH_LANES], grow[9 * PATCH_LANES], before[9 * PATCH_LANES];
};
FN void patch_wide_put(double *to, int lane, int corner, pvec x)
{
    to += 3 * corner * PATCH_LANES + lane;
    to[0] = x.x;
    to[PATCH_LANES] = x.y;
    to[2 * PATCH_LANES] = x.z;
}
FN pvec patch_wide_get(const double *from, int lane, int corner)
{
    from += 3 * corner * PATCH_LANES + lane;
    return pvec_make(from[0], from[PATCH_LANES], from[2 * PATCH_LANES]);
}

// Six times what faces enclose with the centre by how much a band swells, k[0] + k[1] x + k[2] x^2
// + k[3] x^3, added: to k[0] of all lanes, then k[1] ...
FN void patch_cubic_add(double *sum, const patch_wide *wide)
{
    for (int lane = 0; lane < PATCH_LANES; lane++) {
        pvec a = patch_wide_get(wide->at, lane, 0), p = patch_wide_get(wide->grow, lane, 0);
        pvec b = patch_wide_get(wide->at, lane, 1), q = patch_wide_get(wide->grow, lane, 1);
        pvec c = patch_wide_get(wide->at, lane, 2), r = patch_wide_get(wide->grow, lane, 2);
        pvec none = pvec_cross(b, c), both = pvec_cross(q, r);
        pvec one = pvec_plus(pvec_cross(b, r), pvec_cross(q, c));
        sum[lane] += pvec_dot(a, none);
        sum[PATCH_LANES + lane] += pvec_dot(a, one) + pvec_dot(p, none);
        sum[2 * PATCH_LANES + lane] += pvec_dot(a, both) + pvec_dot(p, one);
        sum[3 * PATCH_LANES + lane] += pvec_dot(p, both);
    }
}
FN void patch_before_take(double *sum, const patch_wide *wide, pvec centre)
{
    for (int lane = 0; lane < PATCH_LANES; lane++)
        sum[lane] -= pvec_det(pvec_minus(patch_wide_get(wide->before, lane, 0), centre),
                              pvec_minus(patch_wide_get(wide->before, lane, 1), centre),
                              pvec_minus(patch_wide_get(wide->before, lane, 2), centre));
}

// PATCH_LANES stretches of the faces of a band, from stretch `at` on: each has every
// PATCH_BAND_PARTS-th. Of faces that other joints have changed, what they enclosed before is taken
// off. Faces and those that were changed are whole blocks of lanes (deform/patches_band.c).
FN void patch_band_stretches(patch_work w, int joint, int at, double *sum)
{
    GLOBAL const int *corners = body_band_face(w), *vertices = body_move_vertex(w);
    GLOBAL const patch_lifted *lifted = work_lifted(w);
    GLOBAL const pvec *points = work_soft_point(w);
    pvec centre = body_joint_centre(w)[joint];
    int first = body_band_face_first(w)[joint], end = body_band_face_first(w)[joint + 1];
    int over = first + body_joint_band(w)[joint].over, lift = body_joint_band(w)[joint].lifted;
    for (int f = first + at; f < end; f += PATCH_BAND_PARTS) {
        patch_wide wide;
        for (int lane = 0; lane < PATCH_LANES; lane++)
            for (int c = 0; c < 3; c++) {
                int i = corners[3 * (f + lane) + c];
                patch_wide_put(wide.at, lane, c, lifted[i + lift].at);
                patch_wide_put(wide.grow, lane, c, pvec_of(lifted[i + lift].grow));
            }
        patch_cubic_add(sum, &wide);
        if (f >= over) continue;
        for (int lane = 0; lane < PATCH_LANES; lane++)
            for (int c = 0; c < 3; c++)
                patch_wide_put(wide.before, lane, c, points[vertices[corners[3 * (f + lane) + c]]]);
        patch_before_take(sum, &wide, centre);
    }
}

/// A volume by how much a band swells: k[0] + k[1] x + k[2] x^2 + k[3] x^3.
STRUCT(patch_cubic)
{
    double k[4];
};

// Six times what a band gains by how much it swells. Summed in stretches, and these in stretches,
// so that any number of lanes gives the same bits. All lanes have the result.
TEAM_FN patch_cubic patch_band_gain(patch_work w, int joint)
{
    int place = body_joint_band(w)[joint].place;
    GLOBAL double *sums = work_swell_sum(w) + 4 * PATCH_BAND_PARTS * place;
    GLOBAL double *tops = work_swell_top(w) + 4 * PATCH_BAND_TOPS * place;
    patch_cubic total = { { 0.0, 0.0, 0.0, 0.0 } };
    TEAM_EACH (k, 0, PATCH_BAND_PARTS / PATCH_LANES) {
        double sum[4 * PATCH_LANES];
        for (int i = 0; i < 4 * PATCH_LANES; i++) sum[i] = 0.0;
        patch_band_stretches(w, joint, k * PATCH_LANES, sum);
        for (int i = 0; i < 4 * PATCH_LANES; i++)
            sums[PATCH_BAND_PARTS * (i / PATCH_LANES) + k * PATCH_LANES + i % PATCH_LANES] = sum[i];
    }
    TEAM_SYNC;
    TEAM_EACH (k, 0, 4 * PATCH_BAND_TOPS) {
        double sum = 0.0;
        int first = k / PATCH_BAND_TOPS * PATCH_BAND_PARTS, end = first + PATCH_BAND_PARTS;
        for (int i = first + k % PATCH_BAND_TOPS; i < end; i += PATCH_BAND_TOPS) sum += sums[i];
        tops[k] = sum;
    }
    TEAM_SYNC;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < PATCH_BAND_TOPS; k++) total.k[i] += tops[PATCH_BAND_TOPS * i + k];
    total.k[0] -= body_joint_band(w)[joint].volume;
    return total;
}

FN double patch_cubic_at(patch_cubic c, double x)
{
    return c.k[0] + x * (c.k[1] + x * (c.k[2] + x * c.k[3]));
}

// How much a joint must swell (shrink: below 0) so that its soft turn keeps the volume, at most
// `most`; not where swelling would hardly add any.
FN double patch_swell_for(patch_cubic gain, double most, double slope_least, double near)
{
    double x = 0.0;
    for (int step = 0; step < PATCH_SWELL_STEPS; step++) {
        double value = patch_cubic_at(gain, x);
        double slope = gain.k[1] + x * (2.0 * gain.k[2] + x * 3.0 * gain.k[3]);
        if (!(slope > slope_least && slope > 0.0) || MAGNITUDE(value) <= near) break;
        double next = x - value / slope;
        next = next > most ? most : next < -most ? -most : next;
        if (next == x) break;
        x = next;
    }
    return x;
}

// A vertex of a joint's band, turned by it.
FN void patch_turn_move(patch_work w, int joint, patch_soft bend, int i, double twice)
{
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    int v = body_move_vertex(w)[i], kind = body_move_kind(w)[i], side = kind & PATCH_MOVE_CHILD;
    double share = body_move_share(w)[i];
    pvec x = pvec_minus(work_soft_point(w)[v], body_joint_centre(w)[joint]);
    patch_lifted to = { x, { 0.0f, 0.0f, 0.0f } };
    if (!(kind & (PATCH_MOVE_WHOLE | PATCH_MOVE_STILL))) {
        pvec rest = body_vertex_outwards(w)[v];
        patch_rows turn = patch_soft_rows(bend, side, share, twice);
        if (j->scaled) turn = patch_scaled_rows(j, turn, side, share);
        pvec out = kind & PATCH_MOVE_MIXED ? pvec_of(work_soft_out(w)[v]) : rest;
        out = patch_rows_of(turn, out);
        to.at = patch_rows_of(turn, x);
        to.grow = pvec_shortened(pvec_times(out, patch_bump(share) * patch_outer(j->inner, rest)));
        work_soft_out(w)[v] = pvec_shortened(out);
    }
    work_lifted(w)[i + body_joint_band(w)[joint].lifted] = to;
}

// The vertices of a joint's band, turned by it. Those that follow whole and those that stay are
// corners of its faces.
TEAM_FN void patch_turn_band(patch_work w, int joint)
{
    GLOBAL const int *kinds = body_move_kind(w);
    GLOBAL const double *shares = body_move_share(w);
    patch_soft bend = patch_soft_of(work_joint(w) + joint);
    int first = body_band_first(w)[joint], end = body_band_first(w)[joint + 1];
    TEAM_EACH (k, 0, (end - first + PATCH_LANES - 1) / PATCH_LANES) {
        double twice[PATCH_LANES];
        int at = first + k * PATCH_LANES, many = PATCH_LANES_TO(at, end);
        for (int lane = 0; lane < many; lane++)
            twice[lane] =
                patch_soft_twice(bend, kinds[at + lane] & PATCH_MOVE_CHILD, shares[at + lane]);
        for (int lane = 0; lane < many; lane++)
            patch_turn_move(w, joint, bend, at + lane, twice[lane]);
    }
    TEAM_SYNC;
}

// How a turned point moves with its share where the child is scaled. rest: before it was turned.
FN pvec patch_scaled_rate(GLOBAL const patch_joint *j, patch_soft bend, int side, double share,
                          pvec rest)
{
    double twice = 2.0 / patch_soft_size(bend, share);
    pvec more = pvec_turned(j->stretch, rest);
    pvec stretched = pvec_plus(rest, pvec_times(more, share));
    more = pvec_plus(more, pvec_times(pvec_cross(bend.axis, stretched), twice));
    patch_rows turn = patch_soft_rows(bend, side, share, patch_soft_twice(bend, side, share));
    more = patch_rows_of(turn, more);
    return side ? pvec_turned(j->shrink, more) : more;
}

/// Two directions along the surface.
STRUCT(patch_pair)
{
    pvec a, b;
};

// Those of a vertex before a joint turns it; at rest where it is the first of its joints.
FN patch_pair patch_pair_of(patch_work w, int v, int mixed)
{
    GLOBAL const pvec_short *lean = work_soft_lean(w) + 2 * v;
    patch_pair p = { { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } };
    if (mixed) {
        p.a = pvec_of(lean[0]);
        p.b = pvec_of(lean[1]);
    }
    if (!patch_leans(p.a)) {
        pvec n = body_vertex_normal(w)[v];
        p.a = patch_across(n);
        p.b = pvec_cross(n, p.a);
    }
    return p;
}

/// Quotients that a move goes by.
STRUCT(patch_quotients)
{
    double twice; // patch_soft_twice
    double rate;  // 2 over the square of q(f)
    double bump;  // how swelling grows with the share, of what it is
};

// The same after: they lean as the point moves with its share. y: where it is from the centre,
// swollen; grow: where swelling takes it.
FN patch_pair patch_lean(patch_work w, int joint, patch_soft bend, patch_quotients by, int i,
                         pvec y, pvec grow, patch_pair p)
{
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    int v = body_move_vertex(w)[i], side = body_move_kind(w)[i] & PATCH_MOVE_CHILD;
    double share = body_move_share(w)[i];
    patch_rows turn = patch_soft_rows(bend, side, share, by.twice);
    pvec u = pvec_times(pvec_cross(bend.axis, y), by.rate);
    if (j->scaled) {
        pvec centre = body_joint_centre(w)[joint];
        turn = patch_scaled_rows(j, turn, side, share);
        u = patch_scaled_rate(j, bend, side, share, pvec_minus(work_soft_point(w)[v], centre));
    }
    if (j->shifted) u = pvec_plus(u, side ? j->back : j->offset);
    u = pvec_plus(u, pvec_times(grow, by.bump));
    patch_pair to;
    to.a = pvec_plus(patch_rows_of(turn, p.a), pvec_times(u, body_move_rate(w)[2 * i]));
    to.b = pvec_plus(patch_rows_of(turn, p.b), pvec_times(u, body_move_rate(w)[2 * i + 1]));
    return to;
}

// A vertex of a joint's band, where it is after it. One that a joint above bends too goes on in the
// parent's space.
FN void patch_place_move(patch_work w, int joint, patch_soft bend, double swell, int i,
                         patch_quotients by)
{
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    GLOBAL const patch_lifted *from = work_lifted(w) + (i + body_joint_band(w)[joint].lifted);
    int v = body_move_vertex(w)[i], kind = body_move_kind(w)[i];
    int shaded = w.given->normals.stride != 0;
    if (kind & PATCH_MOVE_STILL) return;
    pvec grow = pvec_of(from->grow), y = pvec_plus(from->at, pvec_times(grow, swell));
    patch_pair pair = { { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } };
    if (shaded) pair = patch_pair_of(w, v, kind & PATCH_MOVE_MIXED);
    if (shaded && !(kind & PATCH_MOVE_WHOLE))
        pair = patch_lean(w, joint, bend, by, i, y, grow, pair);
    if (j->shifted)
        y = pvec_plus(y, patch_soft_shift(j, kind & PATCH_MOVE_CHILD, body_move_share(w)[i]));
    if (kind & PATCH_MOVE_ON) {
        y = pvec_plus(pvec_turned(j->turn, y), j->offset);
        pair.a = pvec_turned(j->turn, pair.a);
        pair.b = pvec_turned(j->turn, pair.b);
        work_soft_out(w)[v] = pvec_shortened(pvec_turned(j->turn, pvec_of(work_soft_out(w)[v])));
    }
    work_soft_point(w)[v] = pvec_plus(body_joint_centre(w)[joint], y);
    work_soft_lean(w)[2 * v] = pvec_shortened(pair.a);
    work_soft_lean(w)[2 * v + 1] = pvec_shortened(pair.b);
}

// The vertices of a joint's band, where they are after it.
TEAM_FN void patch_place_band(patch_work w, int joint, double swell)
{
    GLOBAL const int *kinds = body_move_kind(w);
    GLOBAL const double *shares = body_move_share(w);
    patch_soft bend = patch_soft_of(work_joint(w) + joint);
    int first = body_band_first(w)[joint], end = body_band_first(w)[joint + 1];
    TEAM_EACH (k, 0, (end - first + PATCH_LANES - 1) / PATCH_LANES) {
        double twice[PATCH_LANES], rate[PATCH_LANES], bump[PATCH_LANES];
        int at = first + k * PATCH_LANES, many = PATCH_LANES_TO(at, end);
        for (int lane = 0; lane < many; lane++) {
            double share = shares[at + lane];
            twice[lane] = patch_soft_twice(bend, kinds[at + lane] & PATCH_MOVE_CHILD, share);
            rate[lane] = 2.0 / patch_soft_size(bend, share);
            bump[lane] = swell * (1.0 - 2.0 * share) / (share * (1.0 - share));
        }
        for (int lane = 0; lane < many; lane++) {
            patch_quotients by = { twice[lane], rate[lane], bump[lane] };
            patch_place_move(w, joint, bend, swell, at + lane, by);
        }
    }
}

// What a joint swells by, and what it gains all the same. A child that is scaled may have another
// volume, so nothing is kept there.
TEAM_FN void patch_keep_band(patch_work w, int joint, double *swell, double *gained)
{
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    patch_band band = body_joint_band(w)[joint];
    pquat q = j->soft;
    double turned = 4.0 * ROOT(q.x * q.x + q.y * q.y + q.z * q.z) / (1.0 + q.w);
    double width = band.girth;
    *swell = *gained = 0.0;
    if (j->scaled) return;
    patch_cubic gain = patch_band_gain(w, joint);
    *swell = patch_swell_for(gain, PATCH_SWELL_MOST * turned * width, 0.2 * band.slope,
                             PATCH_SWELL_NEAR * band.slope * width);
    *gained = patch_cubic_at(gain, *swell) / 6.0;
}

// The joints of a rank: their bands turned, and swollen so that the volume stays.
TEAM_KERNEL(patch_bands, PATCH_BANDS_BUFFERS)
{
    TEAM_BEGIN
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(given.rank_count));
    int joint = body_rank_joint(w)[given.rank_first + TEAM_INDEX(given.rank_count)];
    GLOBAL patch_joint *j = work_joint(w) + joint;
    if (j->softly) {
        double swell, gained;
        patch_turn_band(w, joint);
        patch_keep_band(w, joint, &swell, &gained);
        if (TEAM_LANE == 0) {
            j->swell = swell;
            j->gained = j->left = gained;
        }
        TEAM_SYNC;
        patch_place_band(w, joint, swell);
    }
    ITEM_END
}

// Per block of vertices: all at rest before the first rank, those that several joints bend back in
// their parts after the last.
TEAM_KERNEL(patch_overlaps, PATCH_OVERLAPS_BUFFERS)
{
    TEAM_BEGIN
    int blocks = (given.vertex_count + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int block = TEAM_INDEX(blocks), end = (block + 1) * PATCH_BLOCK;
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(blocks));
    TEAM_EACH (v, block * PATCH_BLOCK, end < given.vertex_count ? end : given.vertex_count) {
        int band = body_vertex_band(w)[v];
        if (given.rank < 0) work_soft_point(w)[v] = body_vertex_point(w)[v];
        if (band >= 0 && given.rank < 0) {
            work_soft_lean(w)[2 * v] = pvec_shortened(pvec_make(0.0, 0.0, 0.0));
            if (band > 0) work_soft_out(w)[v] = pvec_shortened(body_vertex_outwards(w)[v]);
        } else if (band > 0) {
            patch_back(w, band - 1, v);
        }
    }
    ITEM_END
}

#endif
