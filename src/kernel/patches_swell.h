/// Team kernels: the vertices of the bands of a joint, turned, and swollen or shrunk so that the
/// volume of the joint stays; and those of several joints.
///
/// Swelling moves every vertex outwards, most in the middle of the bands and not at all at their
/// ends. How much is found by secants: the volume is summed over the faces for none, for a guess
/// from the rest shape, and for what follows from both.
#ifndef CUTIS_KERNEL_PATCHES_SWELL_H
#define CUTIS_KERNEL_PATCHES_SWELL_H

#include "patches_joint.h"

#define PATCH_SWELL_MOST  0.24 // of the loop's half axis, at a turn of a radian: more looks swollen
#define PATCH_SWELL_STEPS 5    // of secants, at most: two do but for the largest bends
#define PATCH_SWELL_NEAR  1e-5 // of what swelling by the half axis would add: near enough

// Where a vertex is before the joints of this rank turn it.
FN pvec patch_before(patch_work w, int v)
{
    int band = body_vertex_band(w)[v], joint = band / 2;
    int moved = band <= PATCH_BAND_MIXED || (band >= 0 && work_joint(w)[joint].softly &&
                                             body_joint_band(w)[joint].rank < w.given->rank);
    return moved ? work_soft_point(w)[v] : body_vertex_point(w)[v];
}

// A corner of a face, from the centre: as the joint moved it, or as it was.
FN pvec patch_band_corner(patch_work w, pvec centre, int corner)
{
    return corner >= 0 ? work_move_point(w)[corner]
                       : pvec_minus(patch_before(w, -1 - corner), centre);
}
FN pvec patch_band_before(patch_work w, pvec centre, int corner)
{
    int v = corner >= 0 ? body_move_vertex(w)[corner] : -1 - corner;
    return pvec_minus(patch_before(w, v), centre);
}

// Sums of a joint's lanes. All lanes have the same number.
FN double patch_swell_total(GLOBAL const double *sums)
{
    double total = 0.0;
    for (int k = 0; k < TEAM_PARTS; k++) total += sums[k];
    return total;
}

// Six times what the faces of a band enclose with the centre; `before`: those that other joints
// have changed, as they were. A stretch is every 32nd face, so that one lane walks them in order
// and any number of lanes gives the same bits.
TEAM_FN double patch_band_volume(patch_work w, int joint, int before)
{
    GLOBAL const int *corners = body_band_face(w);
    GLOBAL double *sums = work_swell_sum(w) + TEAM_PARTS * joint;
    pvec centre = body_joint_centre(w)[joint];
    int first = body_band_face_first(w)[joint], end = body_band_face_first(w)[joint + 1];
    if (before) end = first + body_joint_band(w)[joint].over;
    TEAM_EACH (k, 0, TEAM_PARTS) {
        double sum = 0.0;
        for (int f = first + k; f < end; f += TEAM_PARTS) {
            GLOBAL const int *c = corners + 3 * f;
            sum += before ? pvec_det(patch_band_before(w, centre, c[0]),
                                     patch_band_before(w, centre, c[1]),
                                     patch_band_before(w, centre, c[2]))
                          : pvec_det(patch_band_corner(w, centre, c[0]),
                                     patch_band_corner(w, centre, c[1]),
                                     patch_band_corner(w, centre, c[2]));
        }
        sums[k] = sum;
    }
    TEAM_SYNC;
    double total = patch_swell_total(sums);
    TEAM_SYNC;
    return total;
}

// The vertices of a joint's band, swollen by so much more.
TEAM_FN void patch_swell_band(patch_work w, int joint, double more)
{
    GLOBAL pvec *points = work_move_point(w), *grows = work_move_grow(w);
    TEAM_EACH (i, body_band_first(w)[joint], body_band_first(w)[joint + 1])
        points[i] = pvec_plus(points[i], pvec_times(grows[i], more));
    TEAM_SYNC;
}

// Swell a joint (shrink it: below 0) so that its soft turn keeps the volume.
// @param swell out: how much; @return volume that is too much all the same
TEAM_FN double patch_keep_band(patch_work w, int joint, double most, double *swell)
{
    patch_band band = body_joint_band(w)[joint];
    pvec inner = work_joint(w)[joint].inner;
    double want = band.volume, x = 0.0, last_x = 0.0, last = 0.0;
    double slope = band.slope - pvec_dot(band.slopes, inner);
    double near = PATCH_SWELL_NEAR * band.slope * body_joint_width(w)[joint];
    if (band.over > 0) want += patch_band_volume(w, joint, 1);
    double value = patch_band_volume(w, joint, 0) - want;
    for (int step = 0; step < PATCH_SWELL_STEPS; step++) {
        if (step > 0 && MAGNITUDE(x - last_x) > 1e-9 * most) slope = (value - last) / (x - last_x);
        if (!(slope > 0.2 * band.slope && slope > 0.0) || MAGNITUDE(value) <= near) break;
        double next = x - value / slope;
        next = next > most ? most : next < -most ? -most : next;
        if (next == x) break;
        patch_swell_band(w, joint, next - x);
        last_x = x, last = value, x = next;
        value = patch_band_volume(w, joint, 0) - want;
    }
    *swell = x;
    return value / 6.0;
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
        int mixed = kind & PATCH_MOVE_MIXED;
        double share = body_move_share(w)[i];
        patch_soft s = patch_soft_of(j, kind & PATCH_MOVE_CHILD, share);
        double down = 1.0 / s.size;
        pvec rest = body_vertex_outwards(w)[v];
        pvec x = mixed ? work_soft_point(w)[v] : body_vertex_point(w)[v];
        pvec out = patch_soft_turned(s, mixed ? work_soft_out(w)[v] : rest);
        points[i] = pvec_times(patch_soft_turned(s, pvec_minus(x, centre)), down);
        grows[i] = pvec_times(out, down * patch_bump(share) * patch_outer(j->inner, rest));
        if (mixed && !(kind & PATCH_MOVE_ON)) work_soft_out(w)[v] = pvec_times(out, down);
    }
}

// A vertex that a joint above bends too, or that follows whole: its place and direction go on.
FN void patch_move_on(patch_work w, GLOBAL const patch_joint *j, int joint, int i, int v,
                      double swell)
{
    double share = body_move_share(w)[i];
    pvec centre = body_joint_centre(w)[joint], out = work_soft_out(w)[v];
    patch_soft s = patch_soft_of(j, 0, share);
    double down = 1.0 / s.size;
    double most = swell * patch_bump(share) * patch_outer(j->inner, body_vertex_outwards(w)[v]);
    pvec y = pvec_plus(pvec_minus(work_soft_point(w)[v], centre), pvec_times(out, most));
    pvec x = pvec_times(patch_soft_turned(s, y), down);
    if (j->shifted) x = pvec_plus(x, patch_soft_shift(j, 0, share));
    work_soft_point(w)[v] = pvec_plus(centre, x);
    work_soft_out(w)[v] = pvec_times(patch_soft_turned(s, out), down);
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
        pvec x = work_move_point(w)[i];
        if (j->shifted)
            x = pvec_plus(x, patch_soft_shift(j, kind & PATCH_MOVE_CHILD, body_move_share(w)[i]));
        work_soft_point(w)[v] = pvec_plus(centre, x);
    }
}

// The joints of a rank: their bands turned, and swollen so that the volume stays.
TEAM_KERNEL(patch_bands, PATCH_BANDS_BUFFERS)
{
    TEAM_BEGIN
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(given.joint_count));
    int joint = TEAM_INDEX(given.joint_count);
    GLOBAL patch_joint *j = work_joint(w) + joint;
    int softly = j->softly && body_joint_band(w)[joint].rank == given.rank;
    if (softly) {
        pquat q = j->soft;
        double turned = 4.0 * ROOT(q.x * q.x + q.y * q.y + q.z * q.z) / (1.0 + q.w);
        double swell, most = PATCH_SWELL_MOST * turned * body_joint_width(w)[joint];
        patch_turn_band(w, joint);
        TEAM_SYNC;
        double gained = patch_keep_band(w, joint, most, &swell);
        if (TEAM_LANE == 0) {
            j->swell = swell;
            j->gained = gained;
        }
        patch_place_band(w, joint, swell);
    }
    ITEM_END
}

// A vertex that several joints have bent, back in the rest space of its part.
FN pvec patch_back(patch_work w, int mixed, pvec x)
{
    for (int k = body_mixed_undo(w)[mixed]; k < body_mixed_first(w)[mixed + 1]; k++) {
        int joint = body_turn(w)[k].joint / 2;
        GLOBAL const patch_joint *j = work_joint(w) + joint;
        if (!j->softly) continue;
        pvec centre = body_joint_centre(w)[joint];
        patch_soft s = patch_soft_of(j, 1, 0.0);
        x = pvec_minus(patch_soft_turned(s, pvec_minus(x, centre)), j->back);
        x = pvec_plus(centre, x);
    }
    return x;
}

// Per block of the vertices that several joints bend: at rest before the first rank, and back in
// their parts after the last.
TEAM_KERNEL(patch_overlaps, PATCH_OVERLAPS_BUFFERS)
{
    TEAM_BEGIN
    int blocks = (given.mixed_count + PATCH_BLOCK - 1) / PATCH_BLOCK, block = item % blocks;
    int end = (block + 1) * PATCH_BLOCK;
    patch_work w = patch_work_of(body, work, &given, item / blocks);
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
