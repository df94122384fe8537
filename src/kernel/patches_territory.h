/// Kernel text: which vertices of a part a joint may remove, and how far they lie inside what it
/// removes.
///
/// The value of a vertex for an entry (a loop of its part) is the lesser of how far it lies beyond
/// the joint's plane (or inside the other part's box) and how far inside the joint's territory.
/// Territories of a part's joints do not meet, so at most one value is positive.
#ifndef CUTIS_KERNEL_PATCHES_TERRITORY_H
#define CUTIS_KERNEL_PATCHES_TERRITORY_H

#include "patches_joint.h"

FN double patch_least(double a, double b)
{
    return a < b ? a : b;
}

// How deep a point lies inside a part's box.
FN double patch_box_depth(patch_work w, int part, pvec x)
{
    GLOBAL const patch_box *box = body_part_box(w) + part;
    double depth = 1e300;
    for (int k = 0; k < 3; k++) {
        double at = pvec_dot(box->axis[k], x);
        depth = patch_least(depth, patch_least(at - box->low[k], box->high[k] - at));
    }
    return depth;
}

// The paper's removal: inside the other part's box, and beyond its end of the joint.
FN double patch_box_value(patch_work w, GLOBAL const patch_joint *j, int joint, int side, pvec y)
{
    pvec centre = body_joint_centre(w)[joint];
    pvec normal = body_joint_plane(w)[joint];
    int other = body_joint_part(w)[2 * joint + 1 - side];
    pvec z = side ? pvec_plus(pvec_turned(j->turn, y), j->offset)
                  : pvec_turned_back(j->turn, pvec_minus(y, j->offset));
    double beyond = side ? -pvec_dot(normal, z) : pvec_dot(normal, z);
    return patch_least(beyond, patch_box_depth(w, other, pvec_plus(z, centre)));
}

// Where the cut lies along the limb: straight from the end of the front to the inner side.
FN double patch_cut_height(GLOBAL const patch_cut_shape *s, pvec y)
{
    double at = pvec_dot(s->axis, y), in = pvec_dot(s->inner, y), reach = s->reach;
    at = at < s->low ? s->low : at > s->high ? s->high : at;
    double height = s->height + s->height_slope * at;
    double depth = s->depth + s->depth_slope * at;
    double last = s->follow * height - s->bend * depth + s->slope * (reach - depth);
    return height + (last - height) * (in - depth) / (reach - depth);
}

// How far a vertex lies beyond the joint's removal.
FN double patch_beyond(patch_work w, int entry, pvec x)
{
    int joint = body_entry_joint(w)[entry], side = body_entry_side(w)[entry];
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    pvec y = pvec_minus(x, body_joint_centre(w)[joint]);
    if (w.given->box) return patch_box_value(w, j, joint, side, y);
    double d = pvec_dot(body_joint_limb(w)[joint], y);
    d -= patch_cut_height(&j->shape[side], y);
    return side ? -d : d;
}

FN double patch_need(patch_work w, int entry)
{
    return work_joint(w)[body_entry_joint(w)[entry]].need[body_entry_side(w)[entry]];
}

// What the entries of a part get of the way to each other.
FN void patch_share(patch_work w, int part, int entry)
{
    int first = body_part_entry(w)[part], end = body_part_entry(w)[part + 1];
    GLOBAL double *shares = work_share(w) + body_entry_share(w)[entry];
    double need = patch_need(w, entry);
    for (int k = first; k < end; k++)
        shares[k - first] = patch_least(0.8, need / (need + patch_need(w, k)));
}

// How far a vertex lies inside the territory of an entry of its part.
FN double patch_territory(patch_work w, int part, int entry, int vertex)
{
    int first = body_part_entry(w)[part], end = body_part_entry(w)[part + 1];
    GLOBAL const double *shares = work_share(w) + body_entry_share(w)[entry];
    double mu = body_part_step(w)[part];
    double own = patch_far_of(w, entry, vertex);
    double inside = 1.15 * patch_need(w, entry) - own;
    for (int k = first; k < end; k++) {
        double share = shares[k - first], far = patch_far_of(w, k, vertex);
        double left = share * far - (1.0 - share) * own - mu;
        inside = k != entry ? patch_least(inside, left) : inside;
    }
    if (body_part_is_leaf(w)[part])
        inside = patch_least(inside, 0.8 * body_vertex_tip(w)[vertex] - 0.2 * own);
    return inside;
}

FN double patch_value_of(patch_work w, int part, int entry, int vertex, double shrink)
{
    double beyond = patch_beyond(w, entry, patch_point(w, vertex));
    return patch_least(beyond, patch_territory(w, part, entry, vertex) - shrink);
}

// The same where it is seldom asked for.
PATCH_FN double patch_value(patch_work w, int part, int entry, int vertex, double shrink)
{
    return patch_value_of(w, part, entry, vertex, shrink);
}

// Where the territory is largest on its own loop: what the last retry takes away whole.
PATCH_FN double patch_territory_most(patch_work w, int part, int entry)
{
    int joint = body_entry_joint(w)[entry], side = body_entry_side(w)[entry];
    double most = 0.0;
    for (int i = body_joint_loop(w)[joint]; i < body_joint_loop(w)[joint + 1]; i++) {
        double h = patch_territory(w, part, entry, body_loop_vertex(w)[2 * i + side]);
        if (h > most) most = h;
    }
    return most;
}

#endif
