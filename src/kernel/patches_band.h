/// Kernel text: how a joint bends the vertices of its band, and where these and their normals are
/// in the end.
///
/// In the band of a joint each vertex takes a share f of the joint's turn s: on the parent's side
/// it turns by q(f) about the centre, on the child's by s^-1 q(f), f growing from 0 where the band
/// begins on the parent's side over the loop to 1 where it ends on the child's. So does the way by
/// which the child moves off the centre. Bands of joints of one limb overlap: the turns of the
/// deeper joint are made first. Both copies of a loop vertex come to the same place, and at rest
/// nothing moves (docs/spec/patches.md B0).
///
/// Invariant: what a vertex takes along through its joints (place, direction outwards, two
/// directions along the surface) is in one space: that of its part, or where several joints bend it
/// that of the part above the highest of these.
#ifndef CUTIS_KERNEL_PATCHES_BAND_H
#define CUTIS_KERNEL_PATCHES_BAND_H

#include "patches.h"

#define PATCH_UNFOLD 0.2 // what is left of a length for normals, at least

// Faces, moves or vertices that are looked at together, faces each in a stretch of their own: lanes
// of vectors on a CPU, where a root or a quotient of one would be waited for.
#if defined(KERNEL_OPENCL) || defined(KERNEL_CUDA) || defined(TEAM_HOST)
#define PATCH_LANES 1
#else
#define PATCH_LANES PATCH_FACE_BLOCK
#endif
// How many lanes there are from `at` on.
#define PATCH_LANES_TO(at, end) ((end) - (at) < PATCH_LANES ? (end) - (at) : PATCH_LANES)

FN pvec pvec_of(pvec_short v)
{
    return pvec_make(v.x, v.y, v.z);
}
FN pvec_short pvec_shortened(pvec v)
{
    pvec_short s = { (float)v.x, (float)v.y, (float)v.z };
    return s;
}

STRUCT(patch_rows)
{
    pvec x, y, z;
};
FN pvec patch_rows_of(patch_rows m, pvec v)
{
    return pvec_make(pvec_dot(m.x, v), pvec_dot(m.y, v), pvec_dot(m.z, v));
}
// b first, then a, which is row-major at a.
FN patch_rows patch_rows_before(GLOBAL const double *a, patch_rows b)
{
    patch_rows m;
    m.x = pvec_plus(pvec_times(b.x, a[0]), pvec_plus(pvec_times(b.y, a[1]), pvec_times(b.z, a[2])));
    m.y = pvec_plus(pvec_times(b.x, a[3]), pvec_plus(pvec_times(b.y, a[4]), pvec_times(b.z, a[5])));
    m.z = pvec_plus(pvec_times(b.x, a[6]), pvec_plus(pvec_times(b.y, a[7]), pvec_times(b.z, a[8])));
    return m;
}

/// The turn of a joint, kept while its vertices are gone through.
STRUCT(patch_soft)
{
    pvec axis;  // of the soft turn, of its own length
    double gap; // its scalar less 1
};
FN patch_soft patch_soft_of(GLOBAL const patch_joint *j)
{
    patch_soft b = { pvec_make(j->soft.x, j->soft.y, j->soft.z), j->soft.w - 1.0 };
    return b;
}
// The square of q(f), by which all of its turns are too long.
FN double patch_soft_size(patch_soft b, double share)
{
    return 1.0 + 2.0 * b.gap * share * (1.0 - share);
}
// What patch_soft_rows goes by.
FN double patch_soft_twice(patch_soft b, int side, double share)
{
    return 2.0 * (side ? share - 1.0 : share) / patch_soft_size(b, share);
}
// q(share), the child's s^-1 q(share), which is (1 - share) of the turn back. Both have the same
// length, and no root is needed. twice: patch_soft_twice.
FN patch_rows patch_soft_rows(patch_soft b, int side, double share, double twice)
{
    double part = side ? share - 1.0 : share, whole = side ? 1.0 - share : share;
    pvec s = pvec_times(b.axis, twice * (1.0 + whole * b.gap)),
         a = pvec_times(b.axis, twice * part);
    double xx = a.x * b.axis.x, yy = a.y * b.axis.y, zz = a.z * b.axis.z;
    double xy = a.x * b.axis.y, xz = a.x * b.axis.z, yz = a.y * b.axis.z;
    patch_rows m = { pvec_make(1.0 - (yy + zz), xy - s.z, xz + s.y),
                     pvec_make(xy + s.z, 1.0 - (xx + zz), yz - s.x),
                     pvec_make(xz - s.y, yz + s.x, 1.0 - (xx + yy)) };
    return m;
}

// What a child that is scaled does with a share of its turn: its scale first, and on its own side
// back into its own measure.
FN patch_rows patch_scaled_rows(GLOBAL const patch_joint *j, patch_rows turn, int side,
                                double share)
{
    GLOBAL const double *u = j->stretch;
    patch_rows m, in[1];
    in->x = pvec_make(1.0 + share * u[0], share * u[1], share * u[2]);
    in->y = pvec_make(share * u[3], 1.0 + share * u[4], share * u[5]);
    in->z = pvec_make(share * u[6], share * u[7], 1.0 + share * u[8]);
    m.x = pvec_plus(pvec_times(in->x, turn.x.x),
                    pvec_plus(pvec_times(in->y, turn.x.y), pvec_times(in->z, turn.x.z)));
    m.y = pvec_plus(pvec_times(in->x, turn.y.x),
                    pvec_plus(pvec_times(in->y, turn.y.y), pvec_times(in->z, turn.y.z)));
    m.z = pvec_plus(pvec_times(in->x, turn.z.x),
                    pvec_plus(pvec_times(in->y, turn.z.y), pvec_times(in->z, turn.z.z)));
    return side ? patch_rows_before(j->shrink, m) : m;
}

// Bands swell where they are stretched, not where they are pressed together.
FN double patch_outer(pvec inner, pvec normal)
{
    return 1.0 - pvec_dot(inner, normal);
}

// What a vertex has of the way that the child moves, on its side.
FN pvec patch_soft_shift(GLOBAL const patch_joint *j, int side, double share)
{
    return side ? pvec_times(j->back, share - 1.0) : pvec_times(j->offset, share);
}

// A direction across a unit vector.
FN pvec patch_across(pvec n)
{
    return MAGNITUDE(n.x) < 0.6 ? pvec_make(0.0, n.z, -n.y) : pvec_make(-n.z, 0.0, n.x);
}

FN int patch_leans(pvec a)
{
    return a.x != 0.0 || a.y != 0.0 || a.z != 0.0;
}

// A vertex in the space that its joints leave it in.
FN pvec patch_point(patch_work w, int v)
{
    return body_vertex_band(w)[v] >= 0 ? work_soft_point(w)[v] : body_vertex_point(w)[v];
}
// The part whose space that is.
FN int patch_space(patch_work w, int v)
{
    int band = body_vertex_band(w)[v];
    return band > 0 && w.given->whole ? body_mixed_part(w)[band - 1] : body_vertex_part(w)[v];
}

// Its normal there, of any length: across both directions along the surface; where the surface
// folds, no further from the turned normal than PATCH_UNFOLD leaves. `square`: of that length; 1 of
// normals that stay as they are.
FN pvec patch_normal_way(patch_work w, int v, double *square_out)
{
    pvec n = body_vertex_normal(w)[v];
    *square_out = 1.0;
    if (body_vertex_band(w)[v] < 0) return n;
    pvec a = pvec_of(work_soft_lean(w)[2 * v]), b = pvec_of(work_soft_lean(w)[2 * v + 1]);
    if (!patch_leans(a)) return n; // no joint has turned it
    pvec rest = patch_across(n), out = pvec_of(work_soft_out(w)[v]), bent = pvec_cross(a, b);
    double square = pvec_dot(out, out), along = pvec_dot(bent, out);
    double least = PATCH_UNFOLD * pvec_dot(rest, rest) * square; // times the length of out
    if ((along < 0.0 || along * along < least * least * square) && square > 1e-30)
        bent = pvec_plus(bent, pvec_times(out, (least * ROOT(square) - along) / square));
    *square_out = pvec_dot(bent, bent);
    return bent;
}
// What makes a vector of that square a unit one (pvec_unit).
FN double patch_unit_scale(double square)
{
    double l = ROOT(square), scale = 1.0 / l;
    return l > 1e-150 ? scale : 1.0;
}
FN pvec patch_normal(patch_work w, int v)
{
    double square;
    pvec way = patch_normal_way(w, v, &square);
    return pvec_times(way, patch_unit_scale(square));
}

// The way back, of a vertex that several joints have bent, into the space of its part.
FN void patch_back(patch_work w, int mixed, int v)
{
    GLOBAL pvec_short *lean = work_soft_lean(w) + 2 * v;
    for (int k = body_mixed_undo(w)[mixed]; k < body_mixed_undo(w)[mixed + 1]; k++) {
        int joint = body_undo(w)[k];
        GLOBAL const patch_joint *j = work_joint(w) + joint;
        if (!j->softly) continue;
        patch_soft bend = patch_soft_of(j);
        patch_rows m = patch_soft_rows(bend, 1, 0.0, patch_soft_twice(bend, 1, 0.0));
        if (j->scaled) m = patch_scaled_rows(j, m, 1, 0.0);
        pvec centre = body_joint_centre(w)[joint];
        pvec x = patch_rows_of(m, pvec_minus(work_soft_point(w)[v], centre));
        work_soft_point(w)[v] = pvec_plus(centre, pvec_minus(x, j->back));
        work_soft_out(w)[v] = pvec_shortened(patch_rows_of(m, pvec_of(work_soft_out(w)[v])));
        for (int i = 0; i < 2; i++) lean[i] = pvec_shortened(patch_rows_of(m, pvec_of(lean[i])));
    }
}

#endif
