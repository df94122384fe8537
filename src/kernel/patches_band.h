/// Kernel text: where a vertex is in its part's rest space once its joints have bent softly, and
/// its normal.
///
/// In the band of a joint each vertex takes a share f of the joint's turn s: on the parent's side
/// it turns by q(f) about the centre, on the child's by s^-1 q(f), f growing from 0 where the band
/// begins on the parent's side over the loop to 1 where it ends on the child's. So does the way by
/// which the child moves off the centre. Bands of joints of one limb overlap: the turns of the
/// deeper joint are made first. Both copies of a loop vertex come to the same place, and at rest
/// nothing moves (docs/spec/patches.md B0).
#ifndef CUTIS_KERNEL_PATCHES_BAND_H
#define CUTIS_KERNEL_PATCHES_BAND_H

#include "patches.h"

#define PATCH_UNFOLD 0.2 // what is left of a length for normals, at least

// Does anything turn a vertex? One with several turns is looked at by them.
FN int patch_in_band(patch_work w, int v)
{
    int band = body_vertex_band(w)[v];
    return band <= PATCH_BAND_MIXED || (band >= 0 && work_joint(w)[band / 2].softly);
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
FN patch_soft patch_soft_of(GLOBAL const patch_joint *j, int side, double share)
{
    double gap = j->soft.w - 1.0;
    double part = side ? share - 1.0 : share, part_size = side ? 1.0 - share : share;
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

// The child's scale, as a share of its bend has it.
FN pvec patch_stretched(GLOBAL const patch_joint *j, double share, pvec x)
{
    return pvec_plus(x, pvec_times(pvec_turned(j->stretch, x), share));
}

// x, from the centre, as a joint leaves it on a side.
FN pvec patch_soft_placed(GLOBAL const patch_joint *j, int side, double share, patch_soft s, pvec x)
{
    if (j->scaled) x = patch_stretched(j, share, x);
    x = pvec_times(patch_soft_turned(s, x), 1.0 / s.size);
    return j->scaled && side ? pvec_turned(j->shrink, x) : x;
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

/// A vertex on its way through its turns: where it is, all turns together, and two directions along
/// the surface, turned back to rest.
STRUCT(patch_way)
{
    pvec point;
    pquat turn;  // of any length
    double down; // 2 / its square
    pvec a, b;
};

// x turned by all turns; back: the other way.
FN pvec patch_way_turned(const patch_way *way, pvec x, int back)
{
    pvec u = pvec_make(way->turn.x, way->turn.y, way->turn.z);
    pvec once = pvec_cross(u, x), twice = pvec_cross(u, once);
    double along = back ? -way->down * way->turn.w : way->down * way->turn.w;
    return pvec_make(x.x + along * once.x + way->down * twice.x,
                     x.y + along * once.y + way->down * twice.y,
                     x.z + along * once.z + way->down * twice.z);
}

// One more turn, of a share on a side. Both factors of `size` are those of patch_soft_of.
FN void patch_way_turn(GLOBAL const patch_joint *j, int side, double share, double size,
                       patch_way *way)
{
    double part = side ? share - 1.0 : share, whole = side ? 1.0 - share : share;
    way->turn = pquat_times(pquat_make(1.0 + whole * (j->soft.w - 1.0), part * j->soft.x,
                                       part * j->soft.y, part * j->soft.z),
                            way->turn);
    way->down /= size;
}

// Directions along the surface take of a turn (slope . d) of how the point moves with its share; y:
// where it is from the centre. out: outwards at rest.
FN void patch_way_lean(GLOBAL const patch_joint *j, double share, patch_soft s, pvec y, pvec out,
                       double swell, double rate_a, double rate_b, patch_way *way)
{
    double down = 1.0 / s.size;
    pvec u = pvec_times(pvec_cross(s.axis, y), 2.0 * down);
    if (j->shifted) {
        patch_soft undo = patch_soft_of(j, 0, share);
        undo.along = -undo.along;
        u = pvec_plus(u, pvec_times(patch_soft_turned(undo, j->offset), down));
    }
    u = pvec_plus(patch_way_turned(way, u, 1), pvec_times(out, swell * (1.0 - 2.0 * share)));
    way->a = pvec_plus(way->a, pvec_times(u, rate_a));
    way->b = pvec_plus(way->b, pvec_times(u, rate_b));
}

// One of the turns of a vertex. rest_a, rest_b: directions at rest; out: outwards there.
FN void patch_make_turn(patch_work w, GLOBAL const patch_turn *turn, pvec out, pvec rest_a,
                        pvec rest_b, patch_way *way)
{
    int joint = turn->joint / 2, side = turn->joint % 2;
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    pvec centre = body_joint_centre(w)[joint], y = pvec_minus(way->point, centre);
    double share = turn->share;
    patch_soft s = patch_soft_of(j, side, share);
    if (share < 1.0) { // not followed whole
        double swell = 4.0 * j->swell * patch_outer(j->inner, out);
        if (swell != 0.0)
            y = pvec_plus(y,
                          pvec_times(patch_way_turned(way, out, 0), swell * share * (1.0 - share)));
        patch_way_lean(j, share, s, y, out, swell, pvec_dot(turn->slope, rest_a),
                       pvec_dot(turn->slope, rest_b), way);
    }
    way->point = pvec_plus(centre, pvec_times(patch_soft_turned(s, y), 1.0 / s.size));
    if (j->shifted) way->point = pvec_plus(way->point, patch_soft_shift(j, side, share));
    patch_way_turn(j, side, share, s.size, way);
}

/// A vertex on its way through joints that scale their children: where it is, outwards, two
/// directions along the surface, and what these would be if all vertices had its shares.
STRUCT(patch_flow)
{
    pvec point, out, a, b, plain_a, plain_b;
};

// One of its turns. `turn` has its share and slope; rest_a, rest_b, out: as in patch_make_turn.
FN void patch_flow_turn(patch_work w, patch_turn turn, pvec out, pvec rest_a, pvec rest_b,
                        patch_flow *flow)
{
    int joint = turn.joint / 2, side = turn.joint % 2;
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    pvec centre = body_joint_centre(w)[joint], y = pvec_minus(flow->point, centre);
    double share = turn.share, swell = 4.0 * j->swell * patch_outer(j->inner, out);
    patch_soft s = patch_soft_of(j, side, share);
    pvec more = pvec_times(flow->out, swell * (1.0 - 2.0 * share)); // how it moves with its share
    y = pvec_plus(y, pvec_times(flow->out, swell * share * (1.0 - share)));
    pvec stretched = j->scaled ? patch_stretched(j, share, y) : y;
    if (j->scaled) more = pvec_plus(patch_stretched(j, share, more), pvec_turned(j->stretch, y));
    more = pvec_plus(more, pvec_times(pvec_cross(s.axis, stretched), 2.0 / s.size));
    more = pvec_times(patch_soft_turned(s, more), 1.0 / s.size);
    if (j->scaled && side) more = pvec_turned(j->shrink, more);
    if (j->shifted) more = pvec_plus(more, side ? j->back : j->offset);
    flow->point = pvec_plus(centre, patch_soft_placed(j, side, share, s, y));
    if (j->shifted) flow->point = pvec_plus(flow->point, patch_soft_shift(j, side, share));
    flow->out = patch_soft_placed(j, side, share, s, flow->out);
    flow->plain_a = patch_soft_placed(j, side, share, s, flow->plain_a);
    flow->plain_b = patch_soft_placed(j, side, share, s, flow->plain_b);
    flow->a = pvec_plus(patch_soft_placed(j, side, share, s, flow->a),
                        pvec_times(more, pvec_dot(turn.slope, rest_a)));
    flow->b = pvec_plus(patch_soft_placed(j, side, share, s, flow->b),
                        pvec_times(more, pvec_dot(turn.slope, rest_b)));
}

// Normal of a vertex where a child is scaled: directions go along as they are, for what scales has
// no inverse that is its transpose.
PATCH_FN pvec patch_scaled_normal(patch_work w, int v)
{
    int band = body_vertex_band(w)[v], mixed = PATCH_BAND_MIXED - band, several = mixed >= 0;
    int first = several ? body_mixed_first(w)[mixed] : 0;
    int end = several ? body_mixed_first(w)[mixed + 1] : 1;
    pvec n = body_vertex_normal(w)[v], out = body_vertex_outwards(w)[v];
    pvec rest_a = patch_across(n), rest_b = pvec_cross(n, rest_a);
    patch_flow flow = { body_vertex_point(w)[v], out, rest_a, rest_b, rest_a, rest_b };
    for (int k = first; k < end; k++) {
        patch_turn turn = { body_vertex_share(w)[v], body_vertex_slope(w)[v], band };
        if (several) turn = body_turn(w)[k];
        if (several && k >= body_mixed_undo(w)[mixed]) turn.share = 0.0;
        if (work_joint(w)[turn.joint / 2].softly)
            patch_flow_turn(w, turn, out, rest_a, rest_b, &flow);
    }
    pvec bent = pvec_cross(flow.a, flow.b), plain = pvec_cross(flow.plain_a, flow.plain_b);
    double least = PATCH_UNFOLD * pvec_dot(plain, plain), along = pvec_dot(bent, plain);
    if (along < least && least > 1e-150)
        bent = pvec_plus(bent, pvec_times(plain, PATCH_UNFOLD * (1.0 - along / least)));
    return pvec_unit(bent);
}

// Normal of a vertex that several joints bend: across both directions; where the surface folds, no
// further from the turned normal than a band of one joint.
FN pvec patch_mixed_normal(patch_work w, int v)
{
    int mixed = PATCH_BAND_MIXED - body_vertex_band(w)[v], made = 0, scaled = 0;
    int end = body_mixed_first(w)[mixed + 1], undo = body_mixed_undo(w)[mixed];
    pvec n = body_vertex_normal(w)[v], a = patch_across(n), b = pvec_cross(n, a);
    patch_way way;
    way.point = body_vertex_point(w)[v];
    way.turn = pquat_make(1, 0, 0, 0);
    way.down = 2.0;
    way.a = a;
    way.b = b;
    for (int k = body_mixed_first(w)[mixed]; k < end; k++) {
        GLOBAL const patch_turn *turn = body_turn(w) + k;
        GLOBAL const patch_joint *j = work_joint(w) + turn->joint / 2;
        if (!j->softly) continue;
        if (k < undo)
            patch_make_turn(w, turn, body_vertex_outwards(w)[v], a, b, &way);
        else
            patch_way_turn(j, 1, 0.0, 1.0, &way);
        made++;
        scaled |= j->scaled;
    }
    if (!made) return n;
    if (scaled) return patch_scaled_normal(w, v);
    pvec bent = pvec_cross(way.a, way.b);
    double least = PATCH_UNFOLD * pvec_dot(a, a), along = pvec_dot(bent, n);
    if (along < least) bent = pvec_plus(bent, pvec_times(n, least - along));
    return pvec_unit(patch_way_turned(&way, bent, 0));
}

// By the inverse transpose of the band's derivative: turn (1 + u slope^T), u how y moves with the
// share. Everything is `size` times as long until the end, and the root is made meanwhile.
FN pvec patch_soft_normal(patch_work w, int v)
{
    int band = body_vertex_band(w)[v], joint = band / 2;
    if (band <= PATCH_BAND_MIXED) return patch_mixed_normal(w, v);
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    if (j->scaled) return patch_scaled_normal(w, v);
    double share = body_vertex_share(w)[v], swell = 4.0 * j->swell;
    pvec n = body_vertex_normal(w)[v], slope = body_vertex_slope(w)[v];
    pvec out = body_vertex_outwards(w)[v];
    swell *= patch_outer(j->inner, out);
    pvec y = pvec_plus(pvec_minus(body_vertex_point(w)[v], body_joint_centre(w)[joint]),
                       pvec_times(out, swell * share * (1.0 - share)));
    patch_soft s = patch_soft_of(j, band % 2, share);
    pvec u = pvec_plus(pvec_times(pvec_cross(s.axis, y), 2.0),
                       pvec_times(out, s.size * swell * (1.0 - 2.0 * share)));
    if (j->shifted) { // before the turn: turned back
        patch_soft back = patch_soft_of(j, 0, share);
        back.along = -back.along;
        u = pvec_plus(u, patch_soft_turned(back, j->offset));
    }
    double length = s.size + pvec_dot(u, slope), least = PATCH_UNFOLD * s.size;
    if (length < least) length = least;
    n = pvec_minus(pvec_times(n, length), pvec_times(slope, pvec_dot(u, n)));
    double long_as = s.size * pvec_length(n);
    return pvec_times(patch_soft_turned(s, n), long_as > 1e-150 ? 1.0 / long_as : 0.0);
}

// A vertex that several joints have bent, back in the rest space of its part.
FN pvec patch_back(patch_work w, int mixed, pvec x)
{
    for (int k = body_mixed_undo(w)[mixed]; k < body_mixed_first(w)[mixed + 1]; k++) {
        int joint = body_turn(w)[k].joint / 2;
        GLOBAL const patch_joint *j = work_joint(w) + joint;
        if (!j->softly) continue;
        pvec centre = body_joint_centre(w)[joint];
        x = patch_soft_placed(j, 1, 0.0, patch_soft_of(j, 1, 0.0), pvec_minus(x, centre));
        x = pvec_plus(centre, pvec_minus(x, j->back));
    }
    return x;
}

// A vertex and its normal in its part's rest space.
FN pvec patch_point(patch_work w, int v)
{
    return patch_in_band(w, v) ? work_soft_point(w)[v] : body_vertex_point(w)[v];
}
// The same where the vertices of several joints were not brought back before.
FN pvec patch_bent_point(patch_work w, int v)
{
    int band = body_vertex_band(w)[v];
    return band <= PATCH_BAND_MIXED ? patch_back(w, PATCH_BAND_MIXED - band, work_soft_point(w)[v])
                                    : patch_point(w, v);
}
FN pvec patch_normal(patch_work w, int v)
{
    return patch_in_band(w, v) ? patch_soft_normal(w, v) : body_vertex_normal(w)[v];
}

#endif
