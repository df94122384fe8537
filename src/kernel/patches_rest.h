/// Team kernel: the vertices of the rest topology.
///
/// Every vertex has a place: kept ones move with their part, loop vertices lie in the middle of
/// the rung at their place of the loop, removed ones on that rung, as far from its middle as their
/// rest distance from the loop is of the border's. Vertices at the same point have one place, so
/// the mesh stays closed where it was.
#ifndef CUTIS_KERNEL_PATCHES_REST_H
#define CUTIS_KERNEL_PATCHES_REST_H

#include "patches_emit.h"

// A point of a rung, `t` from the parent's border to the child's.
PATCH_FN pvec patch_rung_at(patch_work w, patch_case c, int index, double t)
{
    GLOBAL const patch_joint *j = work_joint(w) + c.joint;
    int kind = work_rung_kind(w)[c.rung + index];
    pvec p = patch_end(w, work_rung_p(w)[c.rung + index]);
    pvec q = patch_end(w, work_rung_c(w)[c.rung + index]);
    if (kind == PATCH_RUNG_REAR) {
        patch_curve v = patch_curve_of(w, c, index);
        return patch_conic(v.p, v.k, v.c, v.w, t);
    }
    int fan = kind == PATCH_RUNG_FRONT_FAN, front = fan || kind == PATCH_RUNG_FRONT_ARC;
    pvec chord = pvec_mix(p, q, t);
    if (j->angle < PATCH_BEND_MIN || !front) return chord;
    return pvec_mix(fan ? patch_round_fan(j, p, q, t)
                        : patch_round_arc(j, p, patch_swung_back(j, q), t),
                    chord, j->flat);
}

/// Rungs on both sides of a place, and how far between them it lies.
STRUCT(patch_beside)
{
    int a, b;
    double f;
};

FN patch_beside patch_rungs_beside(patch_work w, patch_case c, int rungs, double place)
{
    GLOBAL const double *along = work_rung_along(w) + c.rung;
    patch_beside r;
    r.a = r.b = 0;
    r.f = 0.0;
    for (int i = 0; i < rungs; i++) {
        int next = i + 1 == rungs ? 0 : i + 1;
        double gap = along[next] - along[i], at = place - along[i];
        if (gap < 0.0 || rungs == 1) gap += c.count;
        if (at < 0.0) at += c.count;
        if (at > gap || !(gap > 0.0)) continue;
        r.a = i;
        r.b = next;
        r.f = at / gap;
        return r;
    }
    return r;
}

// A point of the patch: at a place of the loop, in the middle; if `far` > 0: the rest distance from
// the loop decides, on the part of `side`.
PATCH_FN pvec patch_rest_between(patch_work w, int joint, double place, double far, int side)
{
    patch_case c = patch_case_of(w, joint);
    patch_beside r = patch_rungs_beside(w, c, work_joint(w)[joint].rungs, place);
    double t = 0.5;
    if (far > 0.0) {
        GLOBAL const int *slots = (side ? work_rung_c(w) : work_rung_p(w)) + c.rung;
        GLOBAL const double *fars = work_slot_far(w);
        double border = fars[slots[r.a]] + r.f * (fars[slots[r.b]] - fars[slots[r.a]]);
        double share = border > far ? far / border : 1.0;
        t = side ? 0.5 + 0.5 * share : 0.5 - 0.5 * share;
    }
    pvec x = pvec_mix(patch_rung_at(w, c, r.a, t), patch_rung_at(w, c, r.b, t), r.f);
    return pvec_plus(x, body_joint_centre(w)[joint]);
}

// Where a vertex of a part is.
PATCH_FN pvec patch_rest_vertex(patch_work w, int v)
{
    GLOBAL const double *matrices = work_matrix(w);
    int part = body_vertex_part(w)[v], loop = body_vertex_loop(w)[v];
    if (w.given->whole) return pvec_moved(matrices + 12 * patch_space(w, v), patch_point(w, v));
    int state = work_state(w)[v];
    if (loop >= 0 && work_joint(w)[loop].moves) {
        pvec x = patch_rest_between(w, loop, body_vertex_place(w)[v], 0.0, 0);
        return pvec_moved(matrices + 12 * body_joint_part(w)[2 * loop], x);
    }
    if (state == PATCH_ZERO)
        return pvec_moved(matrices + 12 * part, work_slot_point(w)[work_slot(w)[v]]);
    if (state == PATCH_KEPT) return pvec_moved(matrices + 12 * part, patch_point(w, v));
    int entry = work_owner(w)[v], joint = body_entry_joint(w)[entry];
    int at = body_entry_at(w)[entry] + v;
    pvec x =
        patch_rest_between(w, joint, body_place(w)[at], body_far(w)[at], body_entry_side(w)[entry]);
    return pvec_moved(matrices + 12 * body_joint_part(w)[2 * joint], x);
}

// Per block of the model's vertices.
TEAM_KERNEL(patch_rest, PATCH_REST_BUFFERS)
{
    TEAM_BEGIN
    int blocks = patch_blocks(given.rest_count), block = item % blocks;
    patch_work w = patch_work_of(body, work, &given, item / blocks);
    TEAM_EACH (v, block * PATCH_BLOCK, patch_block_end(block, given.rest_count)) {
        int vertex = body_rest_vertex(w)[v];
        pvec x = pvec_make(0.0, 0.0, 0.0); // of one that no face has
        if (vertex >= 0) x = patch_rest_vertex(w, vertex);
        patch_store(rest_positions, patch_element(w, given.rest_positions, v), x);
    }
    ITEM_END
}

#endif
