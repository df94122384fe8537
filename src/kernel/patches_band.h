/// Kernel text: where a vertex is in its part's rest space once its joint has bent softly, and its
/// normal.
///
/// In the band of a joint each vertex takes a share f of the joint's turn s: the parent's turn by
/// q(f) about the centre, the child's by s^-1 q(f), f growing from 0 where the parent's band begins
/// over the loop to 1 where the child's ends. Both copies of a loop vertex come to the same place,
/// and at rest nothing moves (docs/spec/patches.md B0).
#ifndef CUTIS_KERNEL_PATCHES_BAND_H
#define CUTIS_KERNEL_PATCHES_BAND_H

#include "patches.h"

#define PATCH_UNFOLD 0.2 // what is left of a length for normals, at least

// Is a vertex in a band that turns?
FN int patch_in_band(patch_work w, int v)
{
    int band = body_vertex_band(w)[v];
    return band >= 0 && work_joint(w)[band].softly;
}

/// How a vertex of a band turns in its part's rest space: size x + along (axis x x) + across (axis
/// x (axis x x)) is x turned, `size` times as long; axis is the soft turn's own, of any length.
STRUCT(patch_soft)
{
    pvec axis;
    double size, along, across;
};

// By q(share), the child's by s^-1 q(share), which is (1 - share) of the turn back. Both have the
// same length, and neither a root nor a division is needed.
FN patch_soft patch_soft_of(patch_work w, GLOBAL const patch_joint *j, int band, int v)
{
    double share = body_vertex_share(w)[v], gap = j->soft.w - 1.0;
    int parent = body_vertex_part(w)[v] == body_joint_part(w)[2 * band];
    double part = parent ? share : share - 1.0, part_size = parent ? share : 1.0 - share;
    patch_soft s;
    s.axis = pvec_make(j->soft.x, j->soft.y, j->soft.z);
    s.size = 1.0 + 2.0 * gap * share * (1.0 - share);
    s.along = 2.0 * part * (1.0 + part_size * gap);
    s.across = 2.0 * part * part;
    return s;
}
FN pvec patch_soft_turned(patch_soft s, pvec x)
{
    pvec turned = pvec_cross(s.axis, x), again = pvec_cross(s.axis, turned);
    return pvec_make(s.size * x.x + s.along * turned.x + s.across * again.x,
                     s.size * x.y + s.along * turned.y + s.across * again.y,
                     s.size * x.z + s.along * turned.z + s.across * again.z);
}

// Bands swell where they are stretched, not where they are pressed together.
FN double patch_outer(pvec inner, pvec normal)
{
    return 1.0 - pvec_dot(inner, normal);
}

// By the inverse transpose of the band's derivative: turn (1 + u slope^T), u how y moves with the
// share. Everything is `size` times as long until the end, and the root is made meanwhile.
FN pvec patch_soft_normal(patch_work w, int v)
{
    int band = body_vertex_band(w)[v];
    GLOBAL const patch_joint *j = work_joint(w) + band;
    double share = body_vertex_share(w)[v], swell = 4.0 * j->swell;
    pvec n = body_vertex_normal(w)[v], slope = body_vertex_slope(w)[v];
    swell *= patch_outer(j->inner, n);
    pvec y = pvec_plus(pvec_minus(body_vertex_point(w)[v], body_joint_centre(w)[band]),
                       pvec_times(n, swell * share * (1.0 - share)));
    patch_soft s = patch_soft_of(w, j, band, v);
    pvec u = pvec_cross(s.axis, y);
    double length = s.size + 2.0 * pvec_dot(u, slope), least = PATCH_UNFOLD * s.size;
    if (length < least) length = least;
    double along = 2.0 * pvec_dot(u, n) + s.size * swell * (1.0 - 2.0 * share);
    n = pvec_minus(pvec_times(n, length), pvec_times(slope, along));
    double long_as = s.size * pvec_length(n);
    return pvec_times(patch_soft_turned(s, n), long_as > 1e-150 ? 1.0 / long_as : 0.0);
}

// A vertex and its normal in its part's rest space.
FN pvec patch_point(patch_work w, int v)
{
    return patch_in_band(w, v) ? work_soft_point(w)[v] : body_vertex_point(w)[v];
}
FN pvec patch_normal(patch_work w, int v)
{
    return patch_in_band(w, v) ? patch_soft_normal(w, v) : body_vertex_normal(w)[v];
}

#endif
