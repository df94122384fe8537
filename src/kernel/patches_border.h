/// Item kernels: the border a cut leaves at each loop of a part, as slots in order. After
/// patches_cut.h.
///
/// A slot is a vertex of the part (on the loop, or moved onto the border) or the point where an
/// edge is split. Borders of parent and child run the same way, along the loop's places upwards.
#ifndef CUTIS_KERNEL_PATCHES_BORDER_H
#define CUTIS_KERNEL_PATCHES_BORDER_H

FN int patch_slot_room(GLOBAL const int *S, int entry)
{
    return FIELD(S, PATCH_ENTRY_SLOT)[entry + 1] - FIELD(S, PATCH_ENTRY_SLOT)[entry];
}

// A new slot of an entry; -1 when it is full.
FN int patch_slot_add(GLOBAL const int *S, GLOBAL int *I, GLOBAL double *D, int entry, int node,
                      pvec point, double far, double along)
{
    GLOBAL int *border = I + S[PATCH_BORDER];
    if (border[entry] >= patch_slot_room(S, entry)) return -1;
    int slot = FIELD(S, PATCH_ENTRY_SLOT)[entry] + border[entry]++;
    I[S[PATCH_SLOT_NODE] + slot] = node;
    I[S[PATCH_SLOT_NEXT] + slot] = -1;
    I[S[PATCH_SLOT_WELD] + slot] = -1;
    I[S[PATCH_SPLIT] + entry] += node < 0;
    pvec_put(D + S[PATCH_SLOT_POINT], slot, point);
    D[S[PATCH_SLOT_FAR] + slot] = far;
    D[S[PATCH_SLOT_ALONG] + slot] = along;
    return slot;
}

FN double patch_far(GLOBAL const int *S, GLOBAL const double *G, int entry, int vertex)
{
    int part = FIELD(S, PATCH_VERTEX_PART)[vertex];
    return G[FIELD(S, PATCH_ENTRY_FAR)[entry] + vertex - FIELD(S, PATCH_PART_VERTEX)[part]];
}

// Place on the loop of a point at t from a to b, its neighbour there.
FN double patch_place(GLOBAL const int *S, int a, int b, double t)
{
    GLOBAL const int *place = FIELD(S, PATCH_VERTEX_PLACE);
    int joint = FIELD(S, PATCH_VERTEX_LOOP)[a];
    int count = FIELD(S, PATCH_JOINT_LOOP)[joint + 1] - FIELD(S, PATCH_JOINT_LOOP)[joint];
    int up = (place[b] - place[a] + count) % count == 1;
    double at = place[a] + (up ? t : -t);
    return at < 0.0 ? at + count : at;
}

FN int patch_edge_end(GLOBAL const int *S, int vertex, int edge)
{
    for (int k = FIELD(S, PATCH_RING_FIRST)[vertex]; k < FIELD(S, PATCH_RING_FIRST)[vertex + 1];
         k++)
        if (FIELD(S, PATCH_RING_EDGE)[k] == edge) return FIELD(S, PATCH_RING)[k];
    return vertex;
}

// The slot of a vertex that stays where it is or was moved onto the border.
PATCH_FN int patch_slot_vertex(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *I,
                               GLOBAL double *D, int entry, int v)
{
    pvec point = pvec_at(REALS(S, G, PATCH_POINTS), v);
    int loop = FIELD(S, PATCH_VERTEX_LOOP)[v];
    double far = patch_far(S, G, entry, v), along = -1.0;
    if (loop >= 0) along = FIELD(S, PATCH_VERTEX_PLACE)[v];
    if (I[S[PATCH_STATE] + v] == PATCH_ZERO) {
        int other = patch_edge_end(S, v, I[S[PATCH_SNAP_EDGE] + v]);
        double t = D[S[PATCH_SNAP] + v];
        point = pvec_mix(point, pvec_at(REALS(S, G, PATCH_POINTS), other), t);
        far += t * (patch_far(S, G, entry, other) - far);
    }
    int slot = patch_slot_add(S, I, D, entry, v, point, far, along);
    I[S[PATCH_SLOT] + v] = slot;
    return slot;
}

PATCH_FN int patch_slot_split(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *I,
                              GLOBAL double *D, int entry, int kept, int removed, int edge,
                              double fraction)
{
    double t = patch_crossing(S, G, I, D, kept, removed, fraction);
    double low = patch_far(S, G, entry, kept), along = -1.0;
    if (t < PATCH_SPLIT_EDGE) t = PATCH_SPLIT_EDGE;
    if (t > 1.0 - PATCH_SPLIT_EDGE) t = 1.0 - PATCH_SPLIT_EDGE;
    if (patch_on_one_loop(S, kept, removed)) along = patch_place(S, kept, removed, t);
    pvec point = pvec_mix(pvec_at(REALS(S, G, PATCH_POINTS), kept),
                          pvec_at(REALS(S, G, PATCH_POINTS), removed), t);
    double far = low + t * (patch_far(S, G, entry, removed) - low);
    int slot = patch_slot_add(S, I, D, entry, -1 - edge, point, far, along);
    I[S[PATCH_EDGE_SLOT] + edge] = slot;
    return slot;
}

// A piece of border, as the kept face beside it has it. Both ends have slots of one entry.
FN void patch_link(GLOBAL const int *S, GLOBAL int *I, int entry, int from, int to)
{
    if (FIELD(S, PATCH_ENTRY_SIDE)[entry])
        I[S[PATCH_SLOT_NEXT] + from] = to;
    else
        I[S[PATCH_SLOT_NEXT] + to] = from;
}

// Slots of all loops, of moved vertices and of split edges. false when an entry is full.
PATCH_FN int patch_slots(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *I,
                         GLOBAL double *D, int part, int queued, double fraction)
{
    GLOBAL const int *state = I + S[PATCH_STATE], *queue = I + S[PATCH_QUEUE];
    GLOBAL const int *ring = FIELD(S, PATCH_RING), *ring_first = FIELD(S, PATCH_RING_FIRST);
    int first = FIELD(S, PATCH_PART_VERTEX)[part];
    for (int e = FIELD(S, PATCH_PART_ENTRY)[part]; e < FIELD(S, PATCH_PART_ENTRY)[part + 1]; e++) {
        int joint = FIELD(S, PATCH_ENTRY_JOINT)[e], side = FIELD(S, PATCH_ENTRY_SIDE)[e];
        I[S[PATCH_BORDER] + e] = I[S[PATCH_SPLIT] + e] = 0;
        for (int i = FIELD(S, PATCH_JOINT_LOOP)[joint]; i < FIELD(S, PATCH_JOINT_LOOP)[joint + 1];
             i++) {
            int v = FIELD(S, PATCH_LOOP_VERTEX)[2 * i + side];
            if (state[v] != PATCH_REMOVED && patch_slot_vertex(S, G, I, D, e, v) < 0) return 0;
        }
    }
    if (S[PATCH_BOX]) return 1; // its border runs along edges: slots come with the links
    for (int i = 0; i < queued; i++) {
        int u = queue[first + i], entry = I[S[PATCH_OWNER] + u];
        if (state[u] == PATCH_ZERO && FIELD(S, PATCH_VERTEX_LOOP)[u] < 0 &&
            patch_slot_vertex(S, G, I, D, entry, u) < 0)
            return 0;
        for (int k = ring_first[u]; k < ring_first[u + 1] && state[u] == PATCH_REMOVED; k++)
            if (state[ring[k]] == PATCH_KEPT &&
                patch_slot_split(S, G, I, D, entry, ring[k], u, FIELD(S, PATCH_RING_EDGE)[k],
                                 fraction) < 0)
                return 0;
    }
    return 1;
}

// The slot where the border leaves the removed corner of a face towards `to`.
FN int patch_slot_towards(GLOBAL const int *S, GLOBAL const int *I, int to, int edge)
{
    return I[S[PATCH_STATE] + to] == PATCH_ZERO ? I[S[PATCH_SLOT] + to]
                                                : I[S[PATCH_EDGE_SLOT] + edge];
}

// The border in face (u, a, b), u removed: from the edge or corner on b's side to that on a's.
FN void patch_link_face(GLOBAL const int *S, GLOBAL int *I, int face, int corner, int entry)
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
PATCH_FN int patch_link_box(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *I,
                            GLOBAL double *D, int face, int corner, int entry)
{
    GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * face, *state = I + S[PATCH_STATE];
    int a = v[(corner + 1) % 3], b = v[(corner + 2) % 3];
    int beyond = FIELD(S, PATCH_FACE_JOINED)[3 * face + (corner + 1) % 3];
    if (beyond < 0 || state[a] == PATCH_REMOVED || state[b] == PATCH_REMOVED) return 1;
    for (int k = 0; k < 3; k++)
        if (state[FIELD(S, PATCH_FACES)[3 * beyond + k]] == PATCH_REMOVED) return 1;
    if (I[S[PATCH_SLOT] + a] < 0 && patch_slot_vertex(S, G, I, D, entry, a) < 0) return 0;
    if (I[S[PATCH_SLOT] + b] < 0 && patch_slot_vertex(S, G, I, D, entry, b) < 0) return 0;
    patch_link(S, I, entry, I[S[PATCH_SLOT] + b], I[S[PATCH_SLOT] + a]);
    return 1;
}

// The corner of a face that links it: the first removed one. -1: none.
FN int patch_first_removed(GLOBAL const int *S, GLOBAL const int *I, int face)
{
    for (int k = 0; k < 3; k++)
        if (I[S[PATCH_STATE] + FIELD(S, PATCH_FACES)[3 * face + k]] == PATCH_REMOVED) return k;
    return -1;
}

// Loop edges that are still there, whole or in part.
PATCH_FN void patch_link_loop(GLOBAL const int *S, GLOBAL int *I, int entry)
{
    int joint = FIELD(S, PATCH_ENTRY_JOINT)[entry], side = FIELD(S, PATCH_ENTRY_SIDE)[entry];
    int first = FIELD(S, PATCH_JOINT_LOOP)[joint];
    int count = FIELD(S, PATCH_JOINT_LOOP)[joint + 1] - first;
    GLOBAL const int *state = I + S[PATCH_STATE], *slot = I + S[PATCH_SLOT];
    for (int i = 0; i < count; i++) {
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

// Follow the border of an entry. false unless it is one curve through all of its slots.
FN int patch_trace(GLOBAL const int *S, GLOBAL int *I, int entry)
{
    int base = FIELD(S, PATCH_ENTRY_SLOT)[entry], count = I[S[PATCH_BORDER] + entry], slot = base;
    GLOBAL int *rank = I + S[PATCH_SLOT_RANK];
    for (int i = 0; i < count; i++) rank[base + i] = -1;
    for (int i = 0; i < count; i++) {
        if (slot < base || rank[slot] >= 0) return 0;
        I[S[PATCH_SLOT_ORDER] + base + i] = slot;
        rank[slot] = i;
        slot = I[S[PATCH_SLOT_NEXT] + slot];
    }
    return count >= 3 && slot == base;
}

// Slots, links and traces of one try. The faces around removed vertices are found through their
// rings; a face with two of them comes up twice, with the same links.
PATCH_FN int patch_borders(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *I,
                           GLOBAL double *D, int part, int queued, double fraction)
{
    if (!patch_slots(S, G, I, D, part, queued, fraction)) return 0;
    if (queued > 0) {
        int end = FIELD(S, PATCH_PART_FACE)[part + 1];
        for (int f = FIELD(S, PATCH_PART_FACE)[part]; f < end; f++) {
            int corner = patch_first_removed(S, I, f);
            if (corner < 0) continue;
            int entry = I[S[PATCH_OWNER] + FIELD(S, PATCH_FACES)[3 * f + corner]];
            if (!S[PATCH_BOX]) {
                patch_link_face(S, I, f, corner, entry);
            } else if (!patch_link_box(S, G, I, D, f, corner, entry)) {
                return 0;
            }
        }
    }
    for (int e = FIELD(S, PATCH_PART_ENTRY)[part]; e < FIELD(S, PATCH_PART_ENTRY)[part + 1]; e++) {
        patch_link_loop(S, I, e);
        if (!patch_trace(S, I, e)) return 0;
    }
    return 1;
}

// Rest position of a corner that is not removed, from the centre.
FN pvec patch_corner(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *I,
                     GLOBAL const double *D, int v, pvec centre)
{
    pvec x = I[S[PATCH_STATE] + v] == PATCH_ZERO
                 ? pvec_at(D + S[PATCH_SLOT_POINT], I[S[PATCH_SLOT] + v])
                 : pvec_at(REALS(S, G, PATCH_POINTS), v);
    return pvec_minus(x, centre);
}

// Six times the volume of what is left of a face, over its centre.
PATCH_FN double patch_left_volume(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *I,
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

// What the cut takes from the volume, joint by joint, over each joint's centre. After the rungs,
// which may have moved border points.
ITEM_KERNEL patch_cut_volume(GLOBAL const int *S, GLOBAL const double *G,
                             GLOBAL const int *int_work, GLOBAL double *work, ITEM_ARGS)
{
    ITEM_BEGIN
    int count = S[PATCH_PART_COUNT], part = item % count;
    GLOBAL const int *I = int_work + (INDEX)(item / count) * S[PATCH_INT_STRIDE];
    GLOBAL double *D = work + (INDEX)(item / count) * S[PATCH_REAL_STRIDE];
    GLOBAL const int *state = I + S[PATCH_STATE], *owner = I + S[PATCH_OWNER];
    int end = FIELD(S, PATCH_PART_FACE)[part + 1];
    for (int f = FIELD(S, PATCH_PART_FACE)[part]; f < end; f++) {
        GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * f;
        int entry = -1;
        for (int k = 0; k < 3; k++)
            if (state[v[k]] != PATCH_KEPT) entry = owner[v[k]];
        if (entry < 0) continue;
        int joint = FIELD(S, PATCH_ENTRY_JOINT)[entry];
        pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), joint);
        pvec x = pvec_minus(pvec_at(REALS(S, G, PATCH_POINTS), v[0]), centre);
        pvec y = pvec_minus(pvec_at(REALS(S, G, PATCH_POINTS), v[1]), centre);
        pvec z = pvec_minus(pvec_at(REALS(S, G, PATCH_POINTS), v[2]), centre);
        double left = patch_left_volume(S, G, I, D, f, patch_first_removed(S, I, f), centre);
        D[S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * joint + PATCH_J_CUT +
          FIELD(S, PATCH_ENTRY_SIDE)[entry]] += (left - pvec_det(x, y, z)) / 6.0;
    }
    ITEM_END
}

ITEM_KERNEL patch_cut(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *int_work,
                      GLOBAL double *work, ITEM_ARGS)
{
    ITEM_BEGIN
    int count = S[PATCH_PART_COUNT], part = item % count, tries = 0;
    GLOBAL int *I = int_work + (INDEX)(item / count) * S[PATCH_INT_STRIDE];
    GLOBAL double *D = work + (INDEX)(item / count) * S[PATCH_REAL_STRIDE];
    for (; tries <= PATCH_TRIES_MAX + 1; tries++) {
        double fraction = tries / (double)PATCH_TRIES_MAX;
        int queued = tries <= PATCH_TRIES_MAX ? patch_remove(S, G, I, D, part, fraction) : 0;
        int good = 1;
        if (queued > 0) {
            int last = -1;
            while (S[PATCH_BOX] && queued > 0 && queued != last) {
                last = queued;
                queued = patch_unpinch(S, I, part, queued);
                if (queued > 0) queued = patch_flood(S, I, part, queued);
            }
            if (!S[PATCH_BOX]) queued = patch_flood(S, I, part, queued);
            good = queued > 0;
            if (good && !S[PATCH_BOX]) queued = patch_snap(S, G, I, D, part, queued, fraction);
        }
        if (good) good = patch_borders(S, G, I, D, part, queued, fraction);
        if (good) break;
        int end = FIELD(S, PATCH_PART_VERTEX)[part + 1];
        for (int v = FIELD(S, PATCH_PART_VERTEX)[part]; v < end; v++) {
            I[S[PATCH_STATE] + v] = PATCH_KEPT;
            I[S[PATCH_OWNER] + v] = I[S[PATCH_SLOT] + v] = -1;
        }
    }
    I[S[PATCH_TRIES] + part] = tries;
    ITEM_END
}

#endif
