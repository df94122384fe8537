/// Item kernels: the border a cut leaves at each loop of a part, as slots in order. After
/// patches_cut.h.
///
/// A slot is a vertex of the part (on the loop, or moved onto the border) or the point where an
/// edge is split. Borders of parent and child run the same way, along the loop's places upwards.
#ifndef CUTIS_KERNEL_PATCHES_BORDER_H
#define CUTIS_KERNEL_PATCHES_BORDER_H

FN int patch_slot_room(PATCH_BODY S, int entry)
{
    return FIELD(S, PATCH_ENTRY_SLOT)[entry + 1] - FIELD(S, PATCH_ENTRY_SLOT)[entry];
}

FN void patch_slot_put(PATCH_BODY S, GLOBAL int *I, GLOBAL double *D, int slot, int node,
                       pvec point, double far, double along, int from, int to, double t)
{
    I[S[PATCH_SLOT_FROM] + slot] = from;
    I[S[PATCH_SLOT_TO] + slot] = to;
    D[S[PATCH_SLOT_T] + slot] = t;
    I[S[PATCH_SLOT_NODE] + slot] = node;
    I[S[PATCH_SLOT_NEXT] + slot] = -1;
    I[S[PATCH_SLOT_WELD] + slot] = -1;
    I[S[PATCH_SLOT_GUEST] + slot] = -1;
    pvec_put(D + S[PATCH_SLOT_POINT], slot, point);
    D[S[PATCH_SLOT_FAR] + slot] = far;
    D[S[PATCH_SLOT_ALONG] + slot] = along;
}

// Place on the loop of a point at t from a to b, its neighbour there.
FN double patch_place(PATCH_BODY S, int a, int b, double t)
{
    GLOBAL const int *place = FIELD(S, PATCH_VERTEX_PLACE);
    int joint = FIELD(S, PATCH_VERTEX_LOOP)[a];
    int count = FIELD(S, PATCH_JOINT_LOOP)[joint + 1] - FIELD(S, PATCH_JOINT_LOOP)[joint];
    int up = (place[b] - place[a] + count) % count == 1;
    double at = place[a] + (up ? t : -t);
    return at < 0.0 ? at + count : at;
}

FN int patch_edge_end(PATCH_BODY S, int vertex, int edge)
{
    for (int k = FIELD(S, PATCH_RING_FIRST)[vertex]; k < FIELD(S, PATCH_RING_FIRST)[vertex + 1];
         k++)
        if (FIELD(S, PATCH_RING_EDGE)[k] == edge) return FIELD(S, PATCH_RING)[k];
    return vertex;
}

// The slot of a vertex that stays where it is or was moved onto the border.
PATCH_FN void patch_slot_vertex(PATCH_BODY S, GLOBAL const double *G, GLOBAL int *I,
                                GLOBAL double *D, int entry, int v, int slot)
{
    pvec point = pvec_at(REALS(S, G, PATCH_POINTS), v);
    int loop = FIELD(S, PATCH_VERTEX_LOOP)[v];
    double far = patch_far(S, G, entry, v), along = -1.0, t = 0.0;
    int other = v;
    if (loop >= 0) along = FIELD(S, PATCH_VERTEX_PLACE)[v];
    if (I[S[PATCH_STATE] + v] == PATCH_ZERO) {
        other = patch_edge_end(S, v, I[S[PATCH_SNAP_EDGE] + v]);
        t = D[S[PATCH_SNAP] + v];
        point = pvec_mix(point, pvec_at(REALS(S, G, PATCH_POINTS), other), t);
        far += t * (patch_far(S, G, entry, other) - far);
    }
    patch_slot_put(S, I, D, slot, v, point, far, along, v, other, t);
    I[S[PATCH_SLOT] + v] = slot;
}

FN void patch_slot_split(PATCH_BODY S, GLOBAL const double *G, GLOBAL int *I, GLOBAL double *D,
                         int entry, int kept, int removed, int edge, int slot)
{
    double t = patch_crossing(S, G, I, D, kept, removed);
    double low = patch_far(S, G, entry, kept), along = -1.0;
    if (t < PATCH_SPLIT_EDGE) t = PATCH_SPLIT_EDGE;
    if (t > 1.0 - PATCH_SPLIT_EDGE) t = 1.0 - PATCH_SPLIT_EDGE;
    if (patch_on_one_loop(S, kept, removed)) along = patch_place(S, kept, removed, t);
    pvec point = pvec_mix(pvec_at(REALS(S, G, PATCH_POINTS), kept),
                          pvec_at(REALS(S, G, PATCH_POINTS), removed), t);
    double far = low + t * (patch_far(S, G, entry, removed) - low);
    patch_slot_put(S, I, D, slot, -1 - edge, point, far, along, kept, removed, t);
    I[S[PATCH_EDGE_SLOT] + edge] = slot;
}

// A piece of border, as the kept face beside it has it. Both ends have slots of one entry.
FN void patch_link(PATCH_BODY S, GLOBAL int *I, int entry, int from, int to)
{
    if (FIELD(S, PATCH_ENTRY_SIDE)[entry])
        I[S[PATCH_SLOT_NEXT] + from] = to;
    else
        I[S[PATCH_SLOT_NEXT] + to] = from;
}

// Slots a vertex brings besides those of the loops: itself where it was moved, or the points on its
// edges to kept vertices.
FN int patch_slots_of(PATCH_BODY S, GLOBAL const int *I, int entry, int v)
{
    GLOBAL const int *state = I + S[PATCH_STATE];
    int count = 0;
    if (I[S[PATCH_OWNER] + v] != entry) return 0;
    if (state[v] == PATCH_ZERO) return FIELD(S, PATCH_VERTEX_LOOP)[v] < 0;
    for (int k = FIELD(S, PATCH_RING_FIRST)[v]; k < FIELD(S, PATCH_RING_FIRST)[v + 1]; k++)
        count += state[FIELD(S, PATCH_RING)[k]] == PATCH_KEPT;
    return count;
}

// Which slots a vertex brings: what they are, for now.
FN void patch_slots_name(PATCH_BODY S, GLOBAL int *I, int v, int slot)
{
    GLOBAL const int *state = I + S[PATCH_STATE];
    if (state[v] == PATCH_ZERO) {
        I[S[PATCH_SLOT_NODE] + slot] = v;
        return;
    }
    for (int k = FIELD(S, PATCH_RING_FIRST)[v]; k < FIELD(S, PATCH_RING_FIRST)[v + 1]; k++) {
        int u = FIELD(S, PATCH_RING)[k];
        if (state[u] != PATCH_KEPT) continue;
        I[S[PATCH_SLOT_NODE] + slot] = -1 - FIELD(S, PATCH_RING_EDGE)[k];
        I[S[PATCH_SLOT_FROM] + slot] = u;
        I[S[PATCH_SLOT_TO] + slot++] = v;
    }
}

// Slots of an entry: of its loop, then of moved vertices and split edges. Box removal's border runs
// along edges: its slots come with the links.
// @return how many; if there is no room for them, those that fit are there
TEAM_FN int patch_slots(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL int *I,
                        GLOBAL double *D, patch_cutting c, int e, int cut TEAM_PARAM)
{
    GLOBAL const int *state = I + S[PATCH_STATE];
    GLOBAL const int *near = I + (S[PATCH_NEAR] + FIELD(S, PATCH_ENTRY_AT)[e] + c.first);
    int joint = FIELD(S, PATCH_ENTRY_JOINT)[e], side = FIELD(S, PATCH_ENTRY_SIDE)[e];
    int base = FIELD(S, PATCH_ENTRY_SLOT)[e], room = patch_slot_room(S, e), used = 0, named = 0;
    int end = FIELD(S, PATCH_JOINT_LOOP)[joint + 1], listed = cut ? I[S[PATCH_NEAR_COUNT] + e] : 0;
    for (int from = FIELD(S, PATCH_JOINT_LOOP)[joint]; from < end; from += TEAM_LANES) {
        int i = from + TEAM_LANE, v = i < end ? FIELD(S, PATCH_LOOP_VERTEX)[2 * i + side] : -1;
        int there = v >= 0 && state[v] != PATCH_REMOVED, at = used + team_before_flag(there);
        if (there && at < room) I[S[PATCH_SLOT_NODE] + base + at] = v;
        used += team_total_flag(there);
    }
    named = used < room ? used : room;
    for (int from = 0; from < listed; from += TEAM_LANES) {
        int i = from + TEAM_LANE, v = i < listed ? near[i] : -1;
        int count = v >= 0 ? patch_slots_of(S, I, e, v) : 0, at = used + team_before(count);
        int fits = at + count <= room;
        if (count > 0 && fits) patch_slots_name(S, I, v, base + at);
        used += team_total(count);
        named = used <= room ? used : named;
    }
    TEAM_SYNC;
    TEAM_EACH (i, base, base + named) { // all of them now, so that lanes have the same to do
        int node = I[S[PATCH_SLOT_NODE] + i];
        if (node >= 0)
            patch_slot_vertex(S, G, I, D, e, node, i);
        else
            patch_slot_split(S, G, I, D, e, I[S[PATCH_SLOT_FROM] + i], I[S[PATCH_SLOT_TO] + i],
                             -1 - node, i);
    }
    if (TEAM_LANE == 0) I[S[PATCH_BORDER] + e] = used;
    return used;
}

// The slot where the border leaves the removed corner of a face towards `to`.
FN int patch_slot_towards(PATCH_BODY S, GLOBAL const int *I, int to, int edge)
{
    return I[S[PATCH_STATE] + to] == PATCH_ZERO ? I[S[PATCH_SLOT] + to]
                                                : I[S[PATCH_EDGE_SLOT] + edge];
}

// The border in face (u, a, b), u removed: from the edge or corner on b's side to that on a's.
FN void patch_link_face(PATCH_BODY S, GLOBAL int *I, int face, int corner, int entry)
{
    GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * face;
    GLOBAL const int *edge = FIELD(S, PATCH_FACE_EDGES) + 3 * face;
    GLOBAL const int *state = I + S[PATCH_STATE];
    int a = v[(corner + 1) % 3], b = v[(corner + 2) % 3];
    int ua = edge[corner], ab = edge[(corner + 1) % 3], bu = edge[(corner + 2) % 3];
    int from, to;
    if (state[a] != PATCH_KEPT && state[b] != PATCH_KEPT) return;
    if (state[b] == PATCH_REMOVED)
        from = I[S[PATCH_EDGE_SLOT] + ab];
    else
        from = patch_slot_towards(S, I, b, bu);
    if (state[a] == PATCH_REMOVED)
        to = I[S[PATCH_EDGE_SLOT] + ab];
    else
        to = patch_slot_towards(S, I, a, ua);
    patch_link(S, I, entry, from, to);
}

// Box removal: the edge across from a removed corner, if a face is left beyond it.
PATCH_FN int patch_link_box(PATCH_BODY S, GLOBAL const double *G, GLOBAL int *I, GLOBAL double *D,
                            int face, int corner, int entry)
{
    GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * face, *state = I + S[PATCH_STATE];
    int a = v[(corner + 1) % 3], b = v[(corner + 2) % 3];
    int beyond = FIELD(S, PATCH_FACE_JOINED)[3 * face + (corner + 1) % 3];
    if (beyond < 0 || state[a] == PATCH_REMOVED || state[b] == PATCH_REMOVED) return 1;
    for (int k = 0; k < 3; k++)
        if (state[FIELD(S, PATCH_FACES)[3 * beyond + k]] == PATCH_REMOVED) return 1;
    for (int k = 0; k < 2; k++) {
        int end = k ? b : a;
        if (I[S[PATCH_SLOT] + end] >= 0) continue;
        if (I[S[PATCH_BORDER] + entry] >= patch_slot_room(S, entry)) return 0;
        patch_slot_vertex(S, G, I, D, entry, end,
                          FIELD(S, PATCH_ENTRY_SLOT)[entry] + I[S[PATCH_BORDER] + entry]++);
    }
    patch_link(S, I, entry, I[S[PATCH_SLOT] + b], I[S[PATCH_SLOT] + a]);
    return 1;
}

// The corner of a face that links it: the first removed one. -1: none.
FN int patch_first_removed(PATCH_BODY S, GLOBAL const int *I, int face)
{
    for (int k = 0; k < 3; k++)
        if (I[S[PATCH_STATE] + FIELD(S, PATCH_FACES)[3 * face + k]] == PATCH_REMOVED) return k;
    return -1;
}

// Box removal: all of them. One lane, because they make slots.
// @return false when an entry is full
PATCH_FN int patch_link_boxes(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL int *I,
                              GLOBAL double *D, patch_cutting c)
{
    int end = FIELD(S, PATCH_PART_FACE)[c.part + 1];
    for (int f = FIELD(S, PATCH_PART_FACE)[c.part]; f < end; f++) {
        int corner = patch_first_removed(S, I, f);
        if (corner < 0) continue;
        int entry = I[S[PATCH_OWNER] + FIELD(S, PATCH_FACES)[3 * f + corner]];
        if (!patch_link_box(S, G, I, D, f, corner, entry)) return 0;
    }
    return 1;
}

// Loop edges that are still there, whole or in part.
TEAM_FN void patch_link_loop(PATCH_BODY S, GLOBAL int *I, int entry)
{
    int joint = FIELD(S, PATCH_ENTRY_JOINT)[entry], side = FIELD(S, PATCH_ENTRY_SIDE)[entry];
    int first = FIELD(S, PATCH_JOINT_LOOP)[joint];
    int count = FIELD(S, PATCH_JOINT_LOOP)[joint + 1] - first;
    GLOBAL const int *state = I + S[PATCH_STATE], *slot = I + S[PATCH_SLOT];
    TEAM_EACH (i, 0, count) {
        int a = FIELD(S, PATCH_LOOP_VERTEX)[2 * (first + i) + side];
        int b = FIELD(S, PATCH_LOOP_VERTEX)[2 * (first + (i + 1) % count) + side];
        int end = FIELD(S, PATCH_RING_FIRST)[a + 1] - 1, k = FIELD(S, PATCH_RING_FIRST)[a];
        if (FIELD(S, PATCH_RING)[k] != b) k = end; // loop neighbours end the ring
        int edge = FIELD(S, PATCH_RING_EDGE)[k],
            third = FIELD(S, PATCH_RING)[k == end ? k - 1 : k + 1];
        int from = slot[a], to = slot[b];
        if (state[a] == PATCH_REMOVED && state[b] == PATCH_REMOVED) continue;
        if (S[PATCH_BOX]) {
            if (state[a] == PATCH_REMOVED || state[b] == PATCH_REMOVED ||
                state[third] == PATCH_REMOVED)
                continue;
        } else if (state[a] == PATCH_REMOVED || state[b] == PATCH_REMOVED) {
            if (state[a] == PATCH_ZERO || state[b] == PATCH_ZERO) continue;
            if (state[a] == PATCH_REMOVED)
                from = I[S[PATCH_EDGE_SLOT] + edge];
            else
                to = I[S[PATCH_EDGE_SLOT] + edge];
        }
        I[S[PATCH_SLOT_NEXT] + from] = to; // upwards for both sides
    }
}

// Follow the border of an entry. false unless it is one curve through all of its slots: then it is
// back at the first after so many steps, and not before.
FN int patch_trace(PATCH_BODY S, GLOBAL int *I, int entry)
{
    int base = FIELD(S, PATCH_ENTRY_SLOT)[entry], count = I[S[PATCH_BORDER] + entry], slot = base;
    GLOBAL int *rank = I + S[PATCH_SLOT_RANK], *order = I + S[PATCH_SLOT_ORDER] + base;
    GLOBAL const int *next = I + S[PATCH_SLOT_NEXT];
    for (int i = 0; i < count; i++) {
        if (slot < base || (slot == base && i > 0)) return 0;
        order[i] = slot;
        rank[slot] = i;
        slot = next[slot];
    }
    return count >= 3 && slot == base;
}

// The faces that have removed or moved vertices, in order.
TEAM_FN void patch_list_faces(PATCH_BODY S, GLOBAL int *I, patch_cutting c, int removed TEAM_PARAM)
{
    GLOBAL const int *state = I + S[PATCH_STATE];
    int first = FIELD(S, PATCH_PART_FACE)[c.part], end = FIELD(S, PATCH_PART_FACE)[c.part + 1];
    int count = 0;
    for (int from = first; from < end && removed > 0; from += TEAM_LANES) {
        int f = from + TEAM_LANE < end ? from + TEAM_LANE : end - 1;
        GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * f;
        int a = state[v[0]], b = state[v[1]], d = state[v[2]];
        int touched = from + TEAM_LANE < end && (a | b | d) != PATCH_KEPT;
        int at = count + team_before_flag(touched);
        if (touched) I[S[PATCH_FACE_LIST] + first + at] = f;
        count += team_total_flag(touched);
    }
    if (TEAM_LANE == 0) I[S[PATCH_TOUCHED] + c.part] = count;
}

// Slots, links and traces of one try. Every slot is linked by one face or loop edge.
// @return false if a border is not one closed curve, or has no room
TEAM_FN int patch_borders(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL int *I,
                          GLOBAL double *D, patch_cutting c, int removed TEAM_PARAM)
{
    int box = S[PATCH_BOX], bad = 0, first = FIELD(S, PATCH_PART_FACE)[c.part];
    for (int e = c.entry_first; e < c.entry_end; e++)
        bad |= patch_slots(S, G, I, D, c, e, removed > 0 && !box TEAM_PASS) > patch_slot_room(S, e);
    patch_list_faces(S, I, c, removed TEAM_PASS);
    TEAM_SYNC;
    if (bad) return 0;
    if (removed > 0 && box) {
        if (TEAM_LANE == 0) bad = !patch_link_boxes(S, G, I, D, c);
        TEAM_SYNC;
        if (team_any(bad)) return 0;
    } else if (removed > 0) {
        TEAM_EACH (i, 0, I[S[PATCH_TOUCHED] + c.part]) {
            int f = I[S[PATCH_FACE_LIST] + first + i], corner = patch_first_removed(S, I, f);
            if (corner >= 0)
                patch_link_face(S, I, f, corner,
                                I[S[PATCH_OWNER] + FIELD(S, PATCH_FACES)[3 * f + corner]]);
        }
        TEAM_SYNC;
    }
    for (int e = c.entry_first; e < c.entry_end; e++) patch_link_loop(S, I, e);
    TEAM_SYNC;
    TEAM_EACH (e, c.entry_first, c.entry_end) bad |= !patch_trace(S, I, e);
    TEAM_SYNC;
    return !team_any(bad);
}

// Rest position of a corner that is not removed, from the centre.
FN pvec patch_corner(PATCH_BODY S, GLOBAL const double *G, GLOBAL const int *I,
                     GLOBAL const double *D, int v, pvec centre)
{
    pvec x = I[S[PATCH_STATE] + v] == PATCH_ZERO
                 ? pvec_at(D + S[PATCH_SLOT_POINT], I[S[PATCH_SLOT] + v])
                 : pvec_at(REALS(S, G, PATCH_POINTS), v);
    return pvec_minus(x, centre);
}

// Six times the volume of what is left of a face, over its centre.
FN double patch_left_volume(PATCH_BODY S, GLOBAL const double *G, GLOBAL const int *I,
                            GLOBAL const double *D, int face, int corner, pvec centre)
{
    GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * face;
    GLOBAL const int *edge = FIELD(S, PATCH_FACE_EDGES) + 3 * face, *state = I + S[PATCH_STATE];
    if (corner < 0) {
        pvec x = patch_corner(S, G, I, D, v[0], centre), y = patch_corner(S, G, I, D, v[1], centre);
        return pvec_det(x, y, patch_corner(S, G, I, D, v[2], centre));
    }
    int a = v[(corner + 1) % 3], b = v[(corner + 2) % 3];
    if (S[PATCH_BOX] || (state[a] != PATCH_KEPT && state[b] != PATCH_KEPT)) return 0.0;
    GLOBAL const double *points = D + S[PATCH_SLOT_POINT];
    int ab = edge[(corner + 1) % 3];
    int from = state[b] == PATCH_REMOVED ? I[S[PATCH_EDGE_SLOT] + ab]
                                         : patch_slot_towards(S, I, b, edge[(corner + 2) % 3]);
    int to = state[a] == PATCH_REMOVED ? I[S[PATCH_EDGE_SLOT] + ab]
                                       : patch_slot_towards(S, I, a, edge[corner]);
    pvec p = pvec_minus(pvec_at(points, to), centre), q = pvec_minus(pvec_at(points, from), centre);
    if (state[a] != PATCH_KEPT) return pvec_det(p, patch_corner(S, G, I, D, b, centre), q);
    pvec x = patch_corner(S, G, I, D, a, centre);
    if (state[b] != PATCH_KEPT) return pvec_det(p, x, q);
    pvec y = patch_corner(S, G, I, D, b, centre);
    return pvec_det(p, x, y) + pvec_det(p, y, q);
}

// What the cut takes from the volume at a face, over the centre of the joint that cuts it.
FN double patch_face_loss(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const int *I,
                          GLOBAL const double *D, int face, int entry)
{
    GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * face;
    GLOBAL const double *points = REALS(S, G, PATCH_POINTS);
    pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), FIELD(S, PATCH_ENTRY_JOINT)[entry]);
    pvec x = pvec_minus(pvec_at(points, v[0]), centre);
    pvec y = pvec_minus(pvec_at(points, v[1]), centre);
    pvec z = pvec_minus(pvec_at(points, v[2]), centre);
    double left = patch_left_volume(S, G, I, D, face, patch_first_removed(S, I, face), centre);
    return (left - pvec_det(x, y, z)) / 6.0;
}

// What the cut takes from the volume, joint by joint. After the rungs, which may have moved border
// points.
OLD_ITEM_KERNEL patch_cut_volume(PATCH_BODY_ARGS, GLOBAL const double *RESTRICT G,
                                 GLOBAL const int *int_work, GLOBAL double *work, ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int count = S[PATCH_PART_COUNT],
                                             instance = TEAM_INSTANCE(count);
    patch_cutting c = patch_cutting_of(S, TEAM_INDEX(count));
    GLOBAL const int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    GLOBAL const int *state = I + S[PATCH_STATE], *owner = I + S[PATCH_OWNER];
    GLOBAL double *sums = D + S[PATCH_ENTRY_SUM];
    GLOBAL const int *faces = I + S[PATCH_FACE_LIST] + FIELD(S, PATCH_PART_FACE)[c.part];
    int touched = I[S[PATCH_TOUCHED] + c.part];
    TEAM_EACH (k, TEAM_PARTS * c.entry_first, TEAM_PARTS * c.entry_end) sums[k] = 0.0;
    TEAM_SYNC;
    TEAM_EACH (k, 0, TEAM_PARTS) {
        for (int i = k; i < touched; i += TEAM_PARTS) {
            int f = faces[i], entry = -1;
            GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * f;
            for (int n = 0; n < 3; n++)
                if (state[v[n]] != PATCH_KEPT) entry = owner[v[n]];
            sums[TEAM_PARTS * entry + k] += patch_face_loss(S, G, I, D, f, entry);
        }
    }
    TEAM_SYNC;
    TEAM_EACH (e, c.entry_first, c.entry_end) {
        double sum = 0.0;
        for (int k = 0; k < TEAM_PARTS; k++) sum += sums[TEAM_PARTS * e + k];
        D[S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * FIELD(S, PATCH_ENTRY_JOINT)[e] +
          PATCH_J_CUT + FIELD(S, PATCH_ENTRY_SIDE)[e]] = sum;
    }
    ITEM_END
}

// Box removal: what is left is cleaned up until nothing changes.
// @return removed vertices now, or -1
TEAM_FN int patch_clean_box(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL int *I,
                            GLOBAL double *D, patch_cutting c, int removed TEAM_PARAM)
{
    int last = -1;
    while (removed > 0 && removed != last) {
        last = removed;
        if (TEAM_LANE == 0) I[S[PATCH_TRIES] + c.part] = patch_unpinch(S, G, I, D, c);
        TEAM_SYNC;
        removed = I[S[PATCH_TRIES] + c.part];
        TEAM_SYNC;
        if (removed > 0) removed = patch_flood(S, G, I, D, c, removed TEAM_PASS);
    }
    return removed;
}

// One try. Mostly the candidates hang together with their loops, and what is left with itself: then
// every border is one closed curve, and if every border is one closed curve then they do (a piece
// more would have a border of its own). Only where it is not, `careful` looks at what hangs
// together.
// @return is every border one closed curve?
TEAM_FN int patch_try(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL int *I,
                      GLOBAL double *D, patch_cutting c, int marked, int careful TEAM_PARAM)
{
    int removed = 1, box = S[PATCH_BOX];
    if (marked || careful) patch_settle(S, I, c, careful);
    if (!careful) {
        if (I[S[PATCH_STATE] + FIELD(S, PATCH_PART_SEED)[c.part]] != PATCH_KEPT) return 0;
    } else {
        patch_spread(S, I, c TEAM_PASS);
        removed = patch_count_removed(S, I, c TEAM_PASS);
        if (removed > 0)
            removed = box ? patch_clean_box(S, G, I, D, c, removed TEAM_PASS)
                          : patch_flood(S, G, I, D, c, removed TEAM_PASS);
        if (removed < 0) return 0;
    }
    if (removed > 0 && !box) {
        if (marked || careful) patch_list_near(S, I, D, c TEAM_PASS);
        patch_snap(S, G, I, D, c);
    }
    return patch_borders(S, G, I, D, c, removed TEAM_PASS);
}

OLD_ITEM_KERNEL patch_cut(PATCH_BODY_ARGS, GLOBAL const double *RESTRICT G, GLOBAL int *int_work,
                          GLOBAL double *work, ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int count = S[PATCH_PART_COUNT], tries = 0,
                                             careful = S[PATCH_BOX], good = 0;
    int instance = TEAM_INSTANCE(count);
    patch_cutting c = patch_cutting_of(S, TEAM_INDEX(count));
    GLOBAL int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    for (; !good; tries++) {
        patch_cut_begin(S, G, I, D, c, tries / (double)PATCH_TRIES_MAX);
        int some = tries <= PATCH_TRIES_MAX ? patch_candidates(S, G, I, D, c TEAM_PASS) : 0;
        if (some) {
            good = patch_try(S, G, I, D, c, some > 1, careful TEAM_PASS);
            if (!good && !careful) tries--; // the same again, carefully
            careful = S[PATCH_BOX] || (!good && !careful);
        } else {
            patch_borders(S, G, I, D, c, 0 TEAM_PASS);
            good = 1; // there is nothing less than nothing
        }
    }
    if (TEAM_LANE == 0) I[S[PATCH_TRIES] + c.part] = tries - 1;
    ITEM_END
}

#endif
