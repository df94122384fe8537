/// Team kernel: the vertices of the bands of a joint, turned, and swollen or shrunk so that the
/// volume of the joint stays.
///
/// Swelling moves every vertex along its normal, most in the middle of the bands and not at all at
/// their ends, so the volume is a cubic in how much: its four coefficients are summed over the
/// faces once, and solved for.
#ifndef CUTIS_KERNEL_PATCHES_SWELL_H
#define CUTIS_KERNEL_PATCHES_SWELL_H

#include "patches_joint.h"

#define PATCH_SWELL_MOST  0.16 // of the loop's half axis, at a turn of a radian: more looks swollen
#define PATCH_SWELL_STEPS 4    // of Newton: 1e-9 of the volume where a fifth is enough swelling

/// A corner of a face: from the centre, and where swelling takes it.
STRUCT(patch_swollen)
{
    pvec at, grow;
};

FN patch_swollen patch_swollen_of(patch_work w, int in, pvec centre, int v)
{
    patch_swollen s;
    s.at = in ? work_soft_point(w)[v] : pvec_minus(body_vertex_point(w)[v], centre);
    s.grow = in ? work_soft_grow(w)[v] : pvec_make(0, 0, 0);
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

// The faces that a band moves, those whose corners all are in it first. A stretch is every 32nd
// face, so that one lane walks them in order and any number of lanes gives the same bits.
TEAM_FN void patch_sum_swell(patch_work w, int joint)
{
    GLOBAL const int *faces = body_band_face(w), *bands = body_vertex_band(w);
    GLOBAL double *sums = work_swell_sum(w) + 4 * TEAM_PARTS * joint;
    pvec centre = body_joint_centre(w)[joint];
    int first = body_band_face_first(w)[joint], end = body_band_face_first(w)[joint + 1];
    int inner = first + body_joint_band(w)[joint].inner;
    TEAM_EACH (k, 0, 4 * TEAM_PARTS) sums[k] = 0.0;
    TEAM_SYNC;
    for (int from = first; from < end; from += TEAM_PARTS)
        TEAM_EACH (k, 0, end - from < TEAM_PARTS ? end - from : TEAM_PARTS) {
            GLOBAL const int *v = body_face_vertex(w) + 3 * faces[from + k];
            int in = from + k < inner;
            patch_add_swollen(sums + k,
                              patch_swollen_of(w, in || bands[v[0]] == joint, centre, v[0]),
                              patch_swollen_of(w, in || bands[v[1]] == joint, centre, v[1]),
                              patch_swollen_of(w, in || bands[v[2]] == joint, centre, v[2]));
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

// The vertices of a joint's bands, turned and swollen so that the volume stays.
TEAM_KERNEL(patch_bands, PATCH_BANDS_BUFFERS)
{
    TEAM_BEGIN
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(given.joint_count));
    int joint = TEAM_INDEX(given.joint_count);
    GLOBAL patch_joint *j = work_joint(w) + joint;
    GLOBAL const int *list = body_band_vertex(w);
    GLOBAL pvec *points = work_soft_point(w), *grows = work_soft_grow(w);
    int end = body_band_first(w)[joint + 1], softly = j->softly;
    pvec centre = body_joint_centre(w)[joint];
    TEAM_EACH (i, body_band_first(w)[joint], softly ? end : 0) {
        int v = list[i];
        patch_soft s = patch_soft_of(w, j, joint, v);
        double down = 1.0 / s.size;
        points[v] =
            pvec_times(patch_soft_turned(s, pvec_minus(body_vertex_point(w)[v], centre)), down);
        grows[v] = pvec_times(patch_soft_turned(s, body_vertex_normal(w)[v]),
                              down * patch_bump(body_vertex_share(w)[v]) *
                                  patch_outer(j->inner, body_vertex_normal(w)[v]));
    }
    TEAM_SYNC;
    if (softly) {
        pquat q = j->soft;
        double turned = 4.0 * ROOT(q.x * q.x + q.y * q.y + q.z * q.z) / (1.0 + q.w);
        double swell, most = PATCH_SWELL_MOST * turned * body_joint_width(w)[joint];
        patch_sum_swell(w, joint);
        double gained = patch_find_swell(work_swell_sum(w) + 4 * TEAM_PARTS * joint,
                                         body_joint_band(w)[joint].volume, most, &swell);
        if (TEAM_LANE == 0) {
            j->swell = swell;
            j->gained = gained;
        }
        TEAM_EACH (i, body_band_first(w)[joint], end) {
            int v = list[i];
            points[v] = pvec_plus(centre, pvec_plus(points[v], pvec_times(grows[v], swell)));
        }
    }
    ITEM_END
}

#endif
