/// Team kernels: the vertices of the bands of a joint, turned, and swollen or shrunk so that the
/// volume of the joint stays; and those of several joints.
///
/// Swelling moves every vertex outwards, most in the middle of the bands and not at all at their
/// ends. The volume is a cubic in it: its coefficients are summed over the faces once.
#ifndef CUTIS_KERNEL_PATCHES_SWELL_H
#define CUTIS_KERNEL_PATCHES_SWELL_H

#include "patches_joint.h"

#define PATCH_SWELL_MOST  0.24 // of the loop's half axis, at a turn of a radian: more looks swollen
#define PATCH_SWELL_STEPS 8    // of Newton's, at most: three do but for the largest bends
#define PATCH_SWELL_NEAR  1e-9 // of what swelling by the half axis would add: near enough

// Where a vertex is before the joints of this rank turn it.
FN pvec patch_before(patch_work w, int v)
{
    int band = body_vertex_band(w)[v], joint = band / 2;
    int moved = band <= PATCH_BAND_MIXED || (band >= 0 && work_joint(w)[joint].softly &&
                                             body_joint_band(w)[joint].rank < w.given->rank);
    return moved ? work_soft_point(w)[v] : body_vertex_point(w)[v];
}

/// A corner of a face, from the centre: where it is, and where swelling takes it.
STRUCT(patch_lifted)
{
    pvec at, grow;
};

FN patch_lifted patch_band_corner(patch_work w, pvec centre, int corner)
{
    patch_lifted c;
    int moved = corner >= 0;
    c.at = moved ? work_move_point(w)[corner] : pvec_minus(patch_before(w, -1 - corner), centre);
    c.grow = moved ? work_move_grow(w)[corner] : pvec_make(0, 0, 0);
    return c;
}
// The same before the joint turned it.
FN pvec patch_band_before(patch_work w, pvec centre, int corner)
{
    int v = corner >= 0 ? body_move_vertex(w)[corner] : -1 - corner;
    return pvec_minus(patch_before(w, v), centre);
}

/// A volume by how much a band swells: k[0] + k[1] x + k[2] x^2 + k[3] x^3.
STRUCT(patch_cubic)
{
    double k[4];
};

// Six times what a face encloses with the centre, added.
FN void patch_cubic_add(patch_cubic *sum, patch_lifted a, patch_lifted b, patch_lifted c)
{
    pvec none = pvec_cross(b.at, c.at), both = pvec_cross(b.grow, c.grow);
    pvec one = pvec_plus(pvec_cross(b.at, c.grow), pvec_cross(b.grow, c.at));
    sum->k[0] += pvec_dot(a.at, none);
    sum->k[1] += pvec_dot(a.at, one) + pvec_dot(a.grow, none);
    sum->k[2] += pvec_dot(a.at, both) + pvec_dot(a.grow, one);
    sum->k[3] += pvec_dot(a.grow, both);
}

// A stretch of the faces of a band: every PATCH_BAND_PARTS-th from `f` on. Of faces that other
// joints have changed, what they enclosed before is taken off.
FN patch_cubic patch_band_stretch(patch_work w, int joint, int f)
{
    GLOBAL const int *corners = body_band_face(w);
    pvec centre = body_joint_centre(w)[joint];
    int first = body_band_face_first(w)[joint], end = body_band_face_first(w)[joint + 1];
    int over = first + body_joint_band(w)[joint].over;
    patch_cubic sum = { { 0.0, 0.0, 0.0, 0.0 } };
    for (f += first; f < end; f += PATCH_BAND_PARTS) {
        GLOBAL const int *c = corners + 3 * f;
        patch_cubic_add(&sum, patch_band_corner(w, centre, c[0]),
                        patch_band_corner(w, centre, c[1]), patch_band_corner(w, centre, c[2]));
        if (f < over)
            sum.k[0] -=
                pvec_det(patch_band_before(w, centre, c[0]), patch_band_before(w, centre, c[1]),
                         patch_band_before(w, centre, c[2]));
    }
    return sum;
}

// Six times what a band gains by how much it swells. Summed in stretches, and these in stretches,
// so that any number of lanes gives the same bits. All lanes have the result.
TEAM_FN patch_cubic patch_band_gain(patch_work w, int joint)
{
    GLOBAL double *sums = work_swell_sum(w) + 4 * PATCH_BAND_PARTS * joint;
    GLOBAL double *tops = work_swell_top(w) + 4 * PATCH_BAND_TOPS * joint;
    patch_cubic total = { { 0.0, 0.0, 0.0, 0.0 } };
    TEAM_EACH (k, 0, PATCH_BAND_PARTS) {
        patch_cubic sum = patch_band_stretch(w, joint, k);
        for (int i = 0; i < 4; i++) sums[PATCH_BAND_PARTS * i + k] = sum.k[i];
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

// The vertices of a joint's band, turned by it.
TEAM_FN void patch_turn_band(patch_work w, int joint)
{
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    GLOBAL pvec *points = work_move_point(w), *grows = work_move_grow(w);
    pvec centre = body_joint_centre(w)[joint];
    TEAM_EACH (i, body_band_first(w)[joint], body_band_first(w)[joint + 1]) {
        int v = body_move_vertex(w)[i], kind = body_move_kind(w)[i];
        if (kind & PATCH_MOVE_WHOLE) continue;
        int mixed = kind & PATCH_MOVE_MIXED, side = kind & PATCH_MOVE_CHILD;
        double share = body_move_share(w)[i];
        patch_soft s = patch_soft_of(j, side, share);
        pvec rest = body_vertex_outwards(w)[v];
        pvec x = mixed ? work_soft_point(w)[v] : body_vertex_point(w)[v];
        pvec out = patch_soft_placed(j, side, share, s, mixed ? work_soft_out(w)[v] : rest);
        points[i] = patch_soft_placed(j, side, share, s, pvec_minus(x, centre));
        grows[i] = pvec_times(out, patch_bump(share) * patch_outer(j->inner, rest));
        if (mixed && !(kind & PATCH_MOVE_ON)) work_soft_out(w)[v] = out;
    }
    TEAM_SYNC;
}

// A vertex that a joint above bends too, or that follows whole: its place and direction go on.
FN void patch_move_on(patch_work w, GLOBAL const patch_joint *j, int joint, int i, int v,
                      double swell)
{
    double share = body_move_share(w)[i];
    pvec centre = body_joint_centre(w)[joint], out = work_soft_out(w)[v];
    patch_soft s = patch_soft_of(j, 0, share);
    double most = swell * patch_bump(share) * patch_outer(j->inner, body_vertex_outwards(w)[v]);
    pvec y = pvec_plus(pvec_minus(work_soft_point(w)[v], centre), pvec_times(out, most));
    pvec x = patch_soft_placed(j, 0, share, s, y);
    if (j->shifted) x = pvec_plus(x, patch_soft_shift(j, 0, share));
    work_soft_point(w)[v] = pvec_plus(centre, x);
    work_soft_out(w)[v] = patch_soft_placed(j, 0, share, s, out);
}

// The vertices of a joint's band, where they are after it.
TEAM_FN void patch_place_band(patch_work w, int joint, double swell)
{
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    pvec centre = body_joint_centre(w)[joint];
    TEAM_EACH (i, body_band_first(w)[joint], body_band_first(w)[joint + 1]) {
        int v = body_move_vertex(w)[i], kind = body_move_kind(w)[i];
        if (kind & PATCH_MOVE_ON) {
            patch_move_on(w, j, joint, i, v, swell);
            continue;
        }
        pvec x = pvec_plus(work_move_point(w)[i], pvec_times(work_move_grow(w)[i], swell));
        if (j->shifted)
            x = pvec_plus(x, patch_soft_shift(j, kind & PATCH_MOVE_CHILD, body_move_share(w)[i]));
        work_soft_point(w)[v] = pvec_plus(centre, x);
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
    double width = body_joint_width(w)[joint];
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
        patch_place_band(w, joint, swell);
    }
    ITEM_END
}

// Per block of the vertices that several joints bend: at rest before the first rank, and back in
// their parts after the last.
TEAM_KERNEL(patch_overlaps, PATCH_OVERLAPS_BUFFERS)
{
    TEAM_BEGIN
    int blocks = (given.mixed_count + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int block = TEAM_INDEX(blocks), end = (block + 1) * PATCH_BLOCK;
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(blocks));
    TEAM_EACH (i, block * PATCH_BLOCK, end < given.mixed_count ? end : given.mixed_count) {
        int v = body_mixed_vertex(w)[i];
        if (given.rank < 0) {
            work_soft_point(w)[v] = body_vertex_point(w)[v];
            work_soft_out(w)[v] = body_vertex_outwards(w)[v];
        } else {
            work_soft_point(w)[v] = patch_back(w, i, work_soft_point(w)[v]);
        }
    }
    ITEM_END
}

#endif
