/// Team kernels: the vertices of the bands of a joint, turned, and swollen or shrunk so that the
/// volume of the joint stays; and those of several joints.
///
/// Swelling moves every vertex outwards, most in the middle of the bands and not at all at
/// their ends, so the volume is a cubic in how much: its four coefficients are summed over the
/// faces once, and solved for.
#ifndef CUTIS_KERNEL_PATCHES_SWELL_H
#define CUTIS_KERNEL_PATCHES_SWELL_H

#include "patches_joint.h"

#define PATCH_SWELL_MOST  0.24 // of the loop's half axis, at a turn of a radian: more looks swollen
#define PATCH_SWELL_STEPS 4    // of Newton: 1e-9 of the volume where a fifth is enough swelling

/// A corner of a face: from the centre, and where swelling takes it.
STRUCT(patch_swollen)
{
    pvec at, grow;
};

// Where a vertex is before the joints of this rank turn it.
FN pvec patch_before(patch_work w, int v)
{
    int band = body_vertex_band(w)[v], joint = band / 2;
    int moved = band <= PATCH_BAND_MIXED || (band >= 0 && work_joint(w)[joint].softly &&
                                             body_joint_band(w)[joint].rank < w.given->rank);
    return moved ? work_soft_point(w)[v] : body_vertex_point(w)[v];
}

FN patch_swollen patch_swollen_of(patch_work w, pvec centre, int corner)
{
    patch_swollen s;
    int in = corner >= 0;
    s.at = in ? work_move_point(w)[corner] : pvec_minus(patch_before(w, -1 - corner), centre);
    s.grow = in ? work_move_grow(w)[corner] : pvec_make(0, 0, 0);
    return s;
}

// Six times the volume of a face, as a cubic in how much it swells, added to a stretch's sums.
FN void patch_add_swollen(GLOBAL double *sums, patch_swollen a, patch_swollen b, patch_swollen c)
{
    pvec across = pvec_cross(b.at, c.at), grown = pvec_cross(b.grow, c.grow);
    pvec mixed = pvec_plus(pvec_cross(b.grow, c.at), pvec_cross(b.at, c.grow));
    sums[0] += pvec_dot(a.at, across);
    sums[TEAM_PARTS] += pvec_dot(a.grow, across) + pvec_dot(a.at, mixed);
    sums[2 * TEAM_PARTS] += pvec_dot(a.grow, mixed) + pvec_dot(a.at, grown);
    sums[3 * TEAM_PARTS] += pvec_dot(a.grow, grown);
}

// Six times what a face had before, taken away.
FN void patch_take_before(patch_work w, GLOBAL double *sum, pvec centre, GLOBAL const int *c)
{
    GLOBAL const int *vertices = body_move_vertex(w);
    pvec a = patch_before(w, c[0] >= 0 ? vertices[c[0]] : -1 - c[0]);
    pvec b = patch_before(w, c[1] >= 0 ? vertices[c[1]] : -1 - c[1]);
    pvec d = patch_before(w, c[2] >= 0 ? vertices[c[2]] : -1 - c[2]);
    *sum -= pvec_det(pvec_minus(a, centre), pvec_minus(b, centre), pvec_minus(d, centre));
}

// The faces that a band moves. A stretch is every 32nd face, so that one lane walks them in order
// and any number of lanes gives the same bits.
TEAM_FN void patch_sum_swell(patch_work w, int joint)
{
    GLOBAL const int *corners = body_band_face(w);
    GLOBAL double *sums = work_swell_sum(w) + 4 * TEAM_PARTS * joint;
    pvec centre = body_joint_centre(w)[joint];
    int first = body_band_face_first(w)[joint], end = body_band_face_first(w)[joint + 1];
    int over = body_joint_band(w)[joint].over;
    TEAM_EACH (k, 0, 4 * TEAM_PARTS) sums[k] = 0.0;
    TEAM_SYNC;
    for (int from = first; from < end; from += TEAM_PARTS)
        TEAM_EACH (k, 0, end - from < TEAM_PARTS ? end - from : TEAM_PARTS) {
            GLOBAL const int *c = corners + 3 * (from + k);
            patch_add_swollen(sums + k, patch_swollen_of(w, centre, c[0]),
                              patch_swollen_of(w, centre, c[1]), patch_swollen_of(w, centre, c[2]));
            if (over) patch_take_before(w, sums + k, centre, c);
        }
    TEAM_SYNC;
}

// How much a joint swells (shrinks: below 0) so that its soft turn keeps the volume: Newton's steps
// on the cubic, as long as swelling makes it larger. All lanes have the same numbers.
// @return volume that is too much all the same
FN double patch_find_swell(GLOBAL const double *sums, double volume, double most, double *swell)
{
    double c[4];
    for (int n = 0; n < 4; n++) {
        c[n] = n == 0 ? -volume : 0.0;
        for (int k = 0; k < TEAM_PARTS; k++) c[n] += sums[n * TEAM_PARTS + k];
    }
    double x = 0.0;
    for (int step = 0; step < PATCH_SWELL_STEPS; step++) {
        double value = c[0] + x * (c[1] + x * (c[2] + x * c[3]));
        double slope = c[1] + x * (2.0 * c[2] + 3.0 * x * c[3]);
        if (!(slope > 0.3 * c[1]) || !(c[1] > 0.0)) break;
        x -= value / slope;
        x = x > most ? most : x < -most ? -most : x;
    }
    *swell = x;
    return (c[0] + x * (c[1] + x * (c[2] + x * c[3]))) / 6.0;
}

// The vertices of a joint's band, turned by it.
TEAM_FN void patch_turn_band(patch_work w, int joint)
{
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    GLOBAL pvec *points = work_move_point(w), *grows = work_move_grow(w);
    pvec centre = body_joint_centre(w)[joint];
    TEAM_EACH (i, body_band_first(w)[joint], body_band_first(w)[joint + 1]) {
        int v = body_move_vertex(w)[i], kind = body_move_kind(w)[i];
        pvec rest = body_vertex_outwards(w)[v];
        if (kind & PATCH_MOVE_WHOLE) continue;
        int mixed = kind & PATCH_MOVE_MIXED;
        double share = body_move_share(w)[i];
        patch_soft s = patch_soft_of(j, kind & PATCH_MOVE_CHILD, share);
        double down = 1.0 / s.size;
        pvec x = mixed ? work_soft_point(w)[v] : body_vertex_point(w)[v];
        points[i] = pvec_times(patch_soft_turned(s, pvec_minus(x, centre)), down);
        grows[i] = pvec_times(patch_soft_turned(s, mixed ? work_soft_out(w)[v] : rest),
                              down * patch_bump(share) * patch_outer(j->inner, rest));
    }
}

// A vertex that other joints bend too, or that follows whole: its place and direction go on.
FN void patch_move_on(patch_work w, GLOBAL const patch_joint *j, int joint, int i, int v,
                      double swell)
{
    int kind = body_move_kind(w)[i], side = (kind & PATCH_MOVE_CHILD) && !(kind & PATCH_MOVE_ON);
    double share = body_move_share(w)[i];
    pvec centre = body_joint_centre(w)[joint], out = work_soft_out(w)[v];
    patch_soft s = patch_soft_of(j, side, share);
    double down = 1.0 / s.size;
    double most = swell * patch_bump(share) * patch_outer(j->inner, body_vertex_outwards(w)[v]);
    pvec y = pvec_plus(pvec_minus(work_soft_point(w)[v], centre), pvec_times(out, most));
    pvec x = pvec_times(patch_soft_turned(s, y), down);
    if (j->shifted) x = pvec_plus(x, patch_soft_shift(j, side, share));
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
        if (kind & PATCH_MOVE_MIXED) {
            patch_move_on(w, j, joint, i, v, swell);
            continue;
        }
        pvec x = pvec_plus(work_move_point(w)[i], pvec_times(work_move_grow(w)[i], swell));
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
        double volume = body_joint_band(w)[joint].over ? 0.0 : body_joint_band(w)[joint].volume;
        patch_turn_band(w, joint);
        TEAM_SYNC;
        patch_sum_swell(w, joint);
        double gained =
            patch_find_swell(work_swell_sum(w) + 4 * TEAM_PARTS * joint, volume, most, &swell);
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
