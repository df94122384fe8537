/// Item kernels: the border a cut leaves at each loop of a part, as slots in order. After
/// patches_cut.h.
///
/// A slot is a vertex of the part (on the loop, or moved onto the border) or the point where an
/// edge is split. Borders of parent and child run the same way, along the loop's places upwards.
#ifndef CUTIS_KERNEL_PATCHES_BORDER_H
#define CUTIS_KERNEL_PATCHES_BORDER_H

#include "patches_cut.h"

FN int patch_slot_capacity(patch_work w, int entry)
{
    return body_entry_slot(w)[entry + 1] - body_entry_slot(w)[entry];
}

FN void patch_slot_put(patch_work w, int slot, int node, pvec point, double far, double along,
                       int from, int to, double t)
{
    work_slot_from(w)[slot] = from;
    work_slot_to(w)[slot] = to;
    work_slot_t(w)[slot] = t;
    work_slot_node(w)[slot] = node;
    work_slot_next(w)[slot] = -1;
    work_slot_weld(w)[slot] = -1;
    work_slot_guest(w)[slot] = -1;
    work_slot_point(w)[slot] = point;
    work_slot_far(w)[slot] = far;
    work_slot_along(w)[slot] = along;
}

// Place on the loop of a point at t from a to b, its neighbour there.
FN double patch_place(patch_work w, int a, int b, double t)
{
    GLOBAL const int *place = body_vertex_place(w);
    int joint = body_vertex_loop(w)[a];
    int count = body_joint_loop(w)[joint + 1] - body_joint_loop(w)[joint];
    int up = (place[b] - place[a] + count) % count == 1;
    double at = place[a] + (up ? t : -t);
    return at < 0.0 ? at + count : at;
}

FN int patch_edge_end(patch_work w, int vertex, int edge)
{
    for (int k = body_ring_first(w)[vertex]; k < body_ring_first(w)[vertex + 1]; k++)
        if (body_ring_edge(w)[k] == edge) return body_ring(w)[k];
    return vertex;
}

// The slot of a vertex that stays where it is or was moved onto the border.
PATCH_FN void patch_slot_vertex(patch_work w, int entry, int v, int slot)
{
    pvec point = patch_point(w, v);
    int loop = body_vertex_loop(w)[v];
    double far = patch_far_of(w, entry, v), along = -1.0, t = 0.0;
    int other = v;
    if (loop >= 0) along = body_vertex_place(w)[v];
    if (work_state(w)[v] == PATCH_ZERO) {
        other = patch_edge_end(w, v, work_snap_edge(w)[v]);
        t = work_snap(w)[v];
        point = pvec_mix(point, patch_point(w, other), t);
        far += t * (patch_far_of(w, entry, other) - far);
    }
    patch_slot_put(w, slot, v, point, far, along, v, other, t);
    work_slot(w)[v] = slot;
}

FN void patch_slot_split(patch_work w, int entry, int kept, int removed, int edge, int slot)
{
    double t = patch_crossing(w, kept, removed);
    double low = patch_far_of(w, entry, kept), along = -1.0;
    if (t < PATCH_SPLIT_EDGE) t = PATCH_SPLIT_EDGE;
    if (t > 1.0 - PATCH_SPLIT_EDGE) t = 1.0 - PATCH_SPLIT_EDGE;
    if (patch_on_one_loop(w, kept, removed)) along = patch_place(w, kept, removed, t);
    pvec point = pvec_mix(patch_point(w, kept), patch_point(w, removed), t);
    double far = low + t * (patch_far_of(w, entry, removed) - low);
    patch_slot_put(w, slot, -1 - edge, point, far, along, kept, removed, t);
    work_edge_slot(w)[edge] = slot;
}

// A piece of border, as the kept face beside it has it. Both ends have slots of one entry.
FN void patch_link(patch_work w, int entry, int from, int to)
{
    if (body_entry_side(w)[entry])
        work_slot_next(w)[from] = to;
    else
        work_slot_next(w)[to] = from;
}

// Slots a vertex brings besides those of the loops: itself where it was moved, or the points on its
// edges to kept vertices.
FN int patch_slots_of(patch_work w, int entry, int v)
{
    GLOBAL const int *state = work_state(w);
    int count = 0;
    if (work_owner(w)[v] != entry) return 0;
    if (state[v] == PATCH_ZERO) return body_vertex_loop(w)[v] < 0;
    for (int k = body_ring_first(w)[v]; k < body_ring_first(w)[v + 1]; k++)
        count += state[body_ring(w)[k]] == PATCH_KEPT;
    return count;
}

// Which slots a vertex brings: what they are, for now.
FN void patch_slots_name(patch_work w, int v, int slot)
{
    GLOBAL const int *state = work_state(w);
    if (state[v] == PATCH_ZERO) {
        work_slot_node(w)[slot] = v;
        return;
    }
    for (int k = body_ring_first(w)[v]; k < body_ring_first(w)[v + 1]; k++) {
        int u = body_ring(w)[k];
        if (state[u] != PATCH_KEPT) continue;
        work_slot_node(w)[slot] = -1 - body_ring_edge(w)[k];
        work_slot_from(w)[slot] = u;
        work_slot_to(w)[slot++] = v;
    }
}

// Slots of an entry: of its loop, then of moved vertices and split edges. Box removal's border runs
// along edges: its slots come with the links.
// @return how many; if not all of them fit, those that do are there
TEAM_FN int patch_slots(patch_work w, patch_cutting c, int e, int cut TEAM_PARAM)
{
    GLOBAL const int *state = work_state(w);
    GLOBAL const int *near = work_near(w) + body_entry_at(w)[e] + c.first;
    int joint = body_entry_joint(w)[e], side = body_entry_side(w)[e];
    int base = body_entry_slot(w)[e], capacity = patch_slot_capacity(w, e), used = 0, named = 0;
    int end = body_joint_loop(w)[joint + 1], listed = cut ? work_near_count(w)[e] : 0;
    for (int from = body_joint_loop(w)[joint]; from < end; from += TEAM_LANES) {
        int i = from + TEAM_LANE, v = i < end ? body_loop_vertex(w)[2 * i + side] : -1;
        int there = v >= 0 && state[v] != PATCH_REMOVED, at = used + team_before_flag(there);
        if (there && at < capacity) work_slot_node(w)[base + at] = v;
        used += team_total_flag(there);
    }
    named = used < capacity ? used : capacity;
    for (int from = 0; from < listed; from += TEAM_LANES) {
        int i = from + TEAM_LANE, v = i < listed ? near[i] : -1;
        int count = v >= 0 ? patch_slots_of(w, e, v) : 0, at = used + team_before(count);
        int fits = at + count <= capacity;
        if (count > 0 && fits) patch_slots_name(w, v, base + at);
        used += team_total(count);
        named = used <= capacity ? used : named;
    }
    TEAM_SYNC;
    TEAM_EACH (i, base, base + named) { // all of them now, so that lanes have the same to do
        int node = work_slot_node(w)[i];
        if (node >= 0)
            patch_slot_vertex(w, e, node, i);
        else
            patch_slot_split(w, e, work_slot_from(w)[i], work_slot_to(w)[i], -1 - node, i);
    }
    if (TEAM_LANE == 0) work_border_count(w)[e] = used;
    return used;
}

/// The border in face (u, a, b), u removed: slots of the edge or corner on b's side, and on a's.
STRUCT(patch_piece)
{
    int a, b, from, to;
};

FN patch_piece patch_piece_of(patch_work w, int face, int corner)
{
    GLOBAL const int *v = body_face_vertex(w) + 3 * face, *state = work_state(w);
    GLOBAL const int *edge = body_face_edge(w) + 3 * face, *split = work_edge_slot(w);
    int next = (corner + 1) % 3, last = (corner + 2) % 3; // edge `next` goes from a to b
    patch_piece p;
    p.a = v[next];
    p.b = v[last];
    p.from = state[p.b] == PATCH_ZERO ? work_slot(w)[p.b]
                                      : split[edge[state[p.b] == PATCH_REMOVED ? next : last]];
    p.to = state[p.a] == PATCH_ZERO ? work_slot(w)[p.a]
                                    : split[edge[state[p.a] == PATCH_REMOVED ? next : corner]];
    return p;
}

FN void patch_link_face(patch_work w, int face, int corner, int entry)
{
    GLOBAL const int *state = work_state(w);
    patch_piece p = patch_piece_of(w, face, corner);
    if (state[p.a] != PATCH_KEPT && state[p.b] != PATCH_KEPT) return;
    patch_link(w, entry, p.from, p.to);
}

// Box removal: the edge across from a removed corner, if a face is left beyond it.
PATCH_FN int patch_link_box(patch_work w, int face, int corner, int entry)
{
    GLOBAL const int *v = body_face_vertex(w) + 3 * face, *state = work_state(w);
    int a = v[(corner + 1) % 3], b = v[(corner + 2) % 3];
    int beyond = body_face_joined(w)[3 * face + (corner + 1) % 3];
    if (beyond < 0 || state[a] == PATCH_REMOVED || state[b] == PATCH_REMOVED) return 1;
    for (int k = 0; k < 3; k++)
        if (state[body_face_vertex(w)[3 * beyond + k]] == PATCH_REMOVED) return 1;
    for (int k = 0; k < 2; k++) {
        int end = k ? b : a;
        if (work_slot(w)[end] >= 0) continue;
        if (work_border_count(w)[entry] >= patch_slot_capacity(w, entry)) return 0;
        patch_slot_vertex(w, entry, end, body_entry_slot(w)[entry] + work_border_count(w)[entry]++);
    }
    patch_link(w, entry, work_slot(w)[b], work_slot(w)[a]);
    return 1;
}

// The corner of a face that links it: the first removed one. -1: none.
FN int patch_first_removed(patch_work w, int face)
{
    for (int k = 0; k < 3; k++)
        if (work_state(w)[body_face_vertex(w)[3 * face + k]] == PATCH_REMOVED) return k;
    return -1;
}

// Box removal: all of them. One lane, because they make slots.
// @return false when an entry is full
PATCH_FN int patch_link_boxes(patch_work w, patch_cutting c)
{
    int end = body_part_face(w)[c.part + 1];
    for (int f = body_part_face(w)[c.part]; f < end; f++) {
        int corner = patch_first_removed(w, f);
        if (corner < 0) continue;
        int entry = work_owner(w)[body_face_vertex(w)[3 * f + corner]];
        if (!patch_link_box(w, f, corner, entry)) return 0;
    }
    return 1;
}

// Loop edges that are still there, whole or in part.
TEAM_FN void patch_link_loop(patch_work w, int entry)
{
    int joint = body_entry_joint(w)[entry], side = body_entry_side(w)[entry];
    int first = body_joint_loop(w)[joint];
    int count = body_joint_loop(w)[joint + 1] - first;
    GLOBAL const int *state = work_state(w), *slot = work_slot(w);
    TEAM_EACH (i, 0, count) {
        int a = body_loop_vertex(w)[2 * (first + i) + side];
        int b = body_loop_vertex(w)[2 * (first + (i + 1) % count) + side];
        int end = body_ring_first(w)[a + 1] - 1, k = body_ring_first(w)[a];
        if (body_ring(w)[k] != b) k = end; // loop neighbours end the ring
        int edge = body_ring_edge(w)[k], third = body_ring(w)[k == end ? k - 1 : k + 1];
        int from = slot[a], to = slot[b];
        if (state[a] == PATCH_REMOVED && state[b] == PATCH_REMOVED) continue;
        if (w.given->box) {
            if (state[a] == PATCH_REMOVED || state[b] == PATCH_REMOVED ||
                state[third] == PATCH_REMOVED)
                continue;
        } else if (state[a] == PATCH_REMOVED || state[b] == PATCH_REMOVED) {
            if (state[a] == PATCH_ZERO || state[b] == PATCH_ZERO) continue;
            if (state[a] == PATCH_REMOVED)
                from = work_edge_slot(w)[edge];
            else
                to = work_edge_slot(w)[edge];
        }
        work_slot_next(w)[from] = to; // upwards for both sides
    }
}

// Follow the border of an entry. false unless it is one curve through all of its slots: then it is
// back at the first after this many steps, and not before.
FN int patch_trace(patch_work w, int entry)
{
    int base = body_entry_slot(w)[entry], count = work_border_count(w)[entry], slot = base;
    GLOBAL int *rank = work_slot_rank(w), *order = work_slot_order(w) + base;
    GLOBAL const int *next = work_slot_next(w);
    for (int i = 0; i < count; i++) {
        if (slot < base || (slot == base && i > 0)) return 0;
        order[i] = slot;
        rank[slot] = i;
        slot = next[slot];
    }
    return count >= 3 && slot == base;
}

// The faces that have removed or moved vertices, in order.
TEAM_FN void patch_list_faces(patch_work w, patch_cutting c, int removed TEAM_PARAM)
{
    GLOBAL const int *state = work_state(w);
    int first = body_part_face(w)[c.part], end = body_part_face(w)[c.part + 1];
    int count = 0;
    for (int from = first; from < end && removed > 0; from += TEAM_LANES) {
        int f = from + TEAM_LANE < end ? from + TEAM_LANE : end - 1;
        GLOBAL const int *v = body_face_vertex(w) + 3 * f;
        int a = state[v[0]], b = state[v[1]], d = state[v[2]];
        int touched = from + TEAM_LANE < end && (a | b | d) != PATCH_KEPT;
        int at = count + team_before_flag(touched);
        if (touched) work_touched(w)[first + at] = f;
        count += team_total_flag(touched);
    }
    if (TEAM_LANE == 0) work_touched_count(w)[c.part] = count;
}

// Slots, links and traces of one try. Every slot is linked by one face or loop edge.
// @return false if a border is not one closed curve, or does not fit
TEAM_FN int patch_borders(patch_work w, patch_cutting c, int removed TEAM_PARAM)
{
    int box = w.given->box, bad = 0, first = body_part_face(w)[c.part];
    for (int e = c.entry_first; e < c.entry_end; e++)
        bad |= patch_slots(w, c, e, removed > 0 && !box TEAM_PASS) > patch_slot_capacity(w, e);
    patch_list_faces(w, c, removed TEAM_PASS);
    TEAM_SYNC;
    if (bad) return 0;
    if (removed > 0 && box) {
        if (TEAM_LANE == 0) bad = !patch_link_boxes(w, c);
        TEAM_SYNC;
        if (team_any(bad)) return 0;
    } else if (removed > 0) {
        TEAM_EACH (i, 0, work_touched_count(w)[c.part]) {
            int f = work_touched(w)[first + i], corner = patch_first_removed(w, f);
            if (corner >= 0)
                patch_link_face(w, f, corner, work_owner(w)[body_face_vertex(w)[3 * f + corner]]);
        }
        TEAM_SYNC;
    }
    for (int e = c.entry_first; e < c.entry_end; e++) patch_link_loop(w, e);
    TEAM_SYNC;
    TEAM_EACH (e, c.entry_first, c.entry_end) bad |= !patch_trace(w, e);
    TEAM_SYNC;
    return !team_any(bad);
}

// Rest position of a corner that is not removed, from the centre.
FN pvec patch_corner(patch_work w, int v, pvec centre)
{
    pvec x =
        work_state(w)[v] == PATCH_ZERO ? work_slot_point(w)[work_slot(w)[v]] : patch_point(w, v);
    return pvec_minus(x, centre);
}

// Six times the volume of what is left of a face, over its centre.
FN double patch_left_volume(patch_work w, int face, int corner, pvec centre)
{
    GLOBAL const int *v = body_face_vertex(w) + 3 * face, *state = work_state(w);
    if (corner < 0) {
        pvec x = patch_corner(w, v[0], centre), y = patch_corner(w, v[1], centre);
        return pvec_det(x, y, patch_corner(w, v[2], centre));
    }
    int a = v[(corner + 1) % 3], b = v[(corner + 2) % 3];
    if (w.given->box || (state[a] != PATCH_KEPT && state[b] != PATCH_KEPT)) return 0.0;
    GLOBAL const pvec *points = work_slot_point(w);
    patch_piece s = patch_piece_of(w, face, corner);
    pvec p = pvec_minus(points[s.to], centre), q = pvec_minus(points[s.from], centre);
    if (state[a] != PATCH_KEPT) return pvec_det(p, patch_corner(w, b, centre), q);
    pvec x = patch_corner(w, a, centre);
    if (state[b] != PATCH_KEPT) return pvec_det(p, x, q);
    pvec y = patch_corner(w, b, centre);
    return pvec_det(p, x, y) + pvec_det(p, y, q);
}

// What the cut takes from the volume at a face, over the centre of the joint that cuts it.
FN double patch_face_loss(patch_work w, int face, int entry)
{
    GLOBAL const int *v = body_face_vertex(w) + 3 * face;
    pvec centre = body_joint_centre(w)[body_entry_joint(w)[entry]];
    pvec x = pvec_minus(patch_point(w, v[0]), centre);
    pvec y = pvec_minus(patch_point(w, v[1]), centre);
    pvec z = pvec_minus(patch_point(w, v[2]), centre);
    double left = patch_left_volume(w, face, patch_first_removed(w, face), centre);
    return (left - pvec_det(x, y, z)) / 6.0;
}

// What the cut takes from the volume, joint by joint. After the rungs, which may have moved border
// points.
TEAM_KERNEL(patch_cut_volume, PATCH_CUT_VOLUME_BUFFERS)
{
    TEAM_BEGIN
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(given.part_count));
    patch_cutting c = patch_cutting_of(w, TEAM_INDEX(given.part_count));
    GLOBAL const int *state = work_state(w), *owner = work_owner(w);
    GLOBAL double *sums = work_entry_sum(w);
    GLOBAL const int *faces = work_touched(w) + body_part_face(w)[c.part];
    int touched = work_touched_count(w)[c.part];
    TEAM_EACH (k, TEAM_PARTS * c.entry_first, TEAM_PARTS * c.entry_end) sums[k] = 0.0;
    TEAM_SYNC;
    TEAM_EACH (k, 0, TEAM_PARTS) {
        for (int i = k; i < touched; i += TEAM_PARTS) {
            int f = faces[i], entry = -1;
            GLOBAL const int *v = body_face_vertex(w) + 3 * f;
            for (int n = 0; n < 3; n++)
                if (state[v[n]] != PATCH_KEPT) entry = owner[v[n]];
            sums[TEAM_PARTS * entry + k] += patch_face_loss(w, f, entry);
        }
    }
    TEAM_SYNC;
    TEAM_EACH (e, c.entry_first, c.entry_end) {
        double sum = 0.0;
        for (int k = 0; k < TEAM_PARTS; k++) sum += sums[TEAM_PARTS * e + k];
        work_joint(w)[body_entry_joint(w)[e]].cut[body_entry_side(w)[e]] = sum;
    }
    ITEM_END
}

// Box removal: what is left is cleaned up until nothing changes.
// @return removed vertices now, or -1
TEAM_FN int patch_clean_box(patch_work w, patch_cutting c, int removed TEAM_PARAM)
{
    int last = -1;
    while (removed > 0 && removed != last) {
        last = removed;
        if (TEAM_LANE == 0) work_removed(w)[c.part] = patch_unpinch(w, c);
        TEAM_SYNC;
        removed = work_removed(w)[c.part];
        TEAM_SYNC;
        if (removed > 0) removed = patch_flood(w, c, removed TEAM_PASS);
    }
    return removed;
}

// One try. Mostly the candidates are connected with their loops, and what is left with itself: then
// every border is one closed curve, and if every border is one closed curve then they are (a piece
// more would have a border of its own). Only where it is not, `careful` looks at what is
// connected.
// @return is every border one closed curve?
TEAM_FN int patch_try(patch_work w, patch_cutting c, int marked, int careful TEAM_PARAM)
{
    int removed = 1, box = w.given->box;
    if (marked || careful) patch_settle(w, c, careful);
    if (!careful) {
        if (work_state(w)[body_part_seed(w)[c.part]] != PATCH_KEPT) return 0;
    } else {
        patch_spread(w, c TEAM_PASS);
        removed = patch_count_removed(w, c TEAM_PASS);
        if (removed > 0)
            removed = box ? patch_clean_box(w, c, removed TEAM_PASS)
                          : patch_flood(w, c, removed TEAM_PASS);
        if (removed < 0) return 0;
    }
    if (removed > 0 && !box) {
        if (marked || careful) patch_list_near(w, c TEAM_PASS);
        patch_snap(w, c);
    }
    return patch_borders(w, c, removed TEAM_PASS);
}

TEAM_KERNEL(patch_cut, PATCH_CUT_BUFFERS)
{
    TEAM_BEGIN
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(given.part_count));
    patch_cutting c = patch_cutting_of(w, TEAM_INDEX(given.part_count));
    int tries = 0, careful = given.box, good = 0;
    for (; !good; tries++) {
        patch_cut_begin(w, c, tries / (double)PATCH_TRIES_MAX);
        int some = tries <= PATCH_TRIES_MAX ? patch_candidates(w, c TEAM_PASS) : 0;
        if (some) {
            good = patch_try(w, c, some > 1, careful TEAM_PASS);
            if (!good && !careful) tries--; // the same again, carefully
            careful = given.box || (!good && !careful);
        } else {
            patch_borders(w, c, 0 TEAM_PASS);
            good = 1; // there is nothing less than nothing
        }
    }
    if (TEAM_LANE == 0) work_tries(w)[c.part] = tries - 1;
    ITEM_END
}

#endif
