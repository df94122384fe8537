/// Item kernels: rungs between the two borders of a joint. After patches_border.h.
///
/// Borders are zipped: both are walked once around, anchors (places of the loop that both still
/// have) and the ends of the front in step, in between by arc length. Every state of the walk is a
/// rung from a slot of the parent to one of the child; strips between consecutive rungs then close
/// the joint by construction. Positions are in the parent's rest space, from the joint's centre.
#ifndef CUTIS_KERNEL_PATCHES_RUNG_H
#define CUTIS_KERNEL_PATCHES_RUNG_H

#define PATCH_WELD        1e-9 // of the diagonal: a shorter rung is one vertex
#define PATCH_WELD_ANCHOR 0.02 // of a step: the same for anchors, which have one partner only
#define PATCH_WELD_END    1.5  // of a step: the same for the ends of the front
#define PATCH_SAME_PLACE  1e-9 // parameters of both borders
#define PATCH_EVEN        0.2  // of the shorter border: so far from its ends distances decide

/// What the functions here pass around: one joint of one instance.
STRUCT(patch_case)
{
    int joint, count, p_first, p_count, c_first, c_count, rung, point, shift;
    double step;
};

FN patch_case patch_case_of(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *I,
                            int joint)
{
    patch_case c;
    GLOBAL const int *entry = FIELD(S, PATCH_JOINT_ENTRY) + 2 * joint;
    c.joint = joint;
    c.count = FIELD(S, PATCH_JOINT_LOOP)[joint + 1] - FIELD(S, PATCH_JOINT_LOOP)[joint];
    c.p_first = FIELD(S, PATCH_ENTRY_SLOT)[entry[0]];
    c.c_first = FIELD(S, PATCH_ENTRY_SLOT)[entry[1]];
    c.p_count = I[S[PATCH_BORDER] + entry[0]];
    c.c_count = I[S[PATCH_BORDER] + entry[1]];
    c.rung = FIELD(S, PATCH_JOINT_RUNG)[joint];
    c.point = FIELD(S, PATCH_JOINT_POINT)[joint];
    c.shift = I[S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * joint + PATCH_J_SHIFT];
    c.step = REALS(S, G, PATCH_STEP)[joint];
    return c;
}

// Border points from the centre, the child's turned into place.
TEAM_FN void patch_place_borders(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                                 GLOBAL double *D, patch_case c)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    GLOBAL const double *points = D + S[PATCH_SLOT_POINT];
    GLOBAL double *placed = D + S[PATCH_SLOT_PLACED];
    pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), c.joint);
    pvec offset = pvec_at(r + PATCH_J_OFFSET, 0);
    TEAM_EACH (i, c.p_first, c.p_first + c.p_count)
        pvec_put(placed, i, pvec_minus(pvec_at(points, i), centre));
    TEAM_EACH (i, c.c_first, c.c_first + c.c_count) {
        pvec y = pvec_turned(r + PATCH_J_TURN, pvec_minus(pvec_at(points, i), centre));
        pvec_put(placed, i, pvec_plus(y, offset));
    }
}

FN pvec patch_end(GLOBAL const int *S, GLOBAL const double *D, int slot)
{
    return pvec_at(D + S[PATCH_SLOT_PLACED], slot);
}

// The child's slot that is partner of a parent's, if that place of the loop is still there on both;
// -1 if not.
FN int patch_partner(GLOBAL const int *S, GLOBAL const int *I, patch_case c, int slot)
{
    int node = I[S[PATCH_SLOT_NODE] + slot], first = FIELD(S, PATCH_JOINT_LOOP)[c.joint];
    GLOBAL const int *state = I + S[PATCH_STATE], *loop = FIELD(S, PATCH_LOOP_VERTEX);
    if (node >= 0) {
        if (FIELD(S, PATCH_VERTEX_LOOP)[node] != c.joint) return -1;
        int place = (FIELD(S, PATCH_VERTEX_PLACE)[node] + c.shift) % c.count;
        int other = loop[2 * (first + place) + 1];
        if (state[other] == PATCH_REMOVED) return -1;
        return I[S[PATCH_SLOT] + other];
    }
    return -2; // a point on an edge: by place, below
}

// The same for a split point on the loop: the child's must be on the partner edge.
FN int patch_partner_split(GLOBAL const int *S, GLOBAL const int *I, GLOBAL const double *D,
                           patch_case c, int slot)
{
    double along = D[S[PATCH_SLOT_ALONG] + slot];
    if (along < 0.0) return -1;
    int place = (int)along, first = FIELD(S, PATCH_JOINT_LOOP)[c.joint];
    GLOBAL const int *state = I + S[PATCH_STATE], *loop = FIELD(S, PATCH_LOOP_VERTEX);
    int a = loop[2 * (first + (place + c.shift) % c.count) + 1];
    int b = loop[2 * (first + (place + 1 + c.shift) % c.count) + 1];
    int removed = state[a] == PATCH_REMOVED;
    if (removed == (state[b] == PATCH_REMOVED)) return -1;
    if (state[removed ? b : a] != PATCH_KEPT) return -1;
    // The kept end must be the same one, or the borders would cross.
    int p = loop[2 * (first + place % c.count)];
    if ((state[p] == PATCH_REMOVED) != removed) return -1;
    int k = FIELD(S, PATCH_RING_FIRST)[a];
    if (FIELD(S, PATCH_RING)[k] != b) k = FIELD(S, PATCH_RING_FIRST)[a + 1] - 1;
    return I[S[PATCH_EDGE_SLOT] + FIELD(S, PATCH_RING_EDGE)[k]];
}

PATCH_FN int patch_anchor(GLOBAL const int *S, GLOBAL const int *I, GLOBAL const double *D,
                          patch_case c, int p_rank)
{
    int slot = I[S[PATCH_SLOT_ORDER] + c.p_first + p_rank];
    int partner = patch_partner(S, I, c, slot);
    if (partner == -2) partner = patch_partner_split(S, I, D, c, slot);
    return partner < 0 ? -1 : I[S[PATCH_SLOT_RANK] + partner];
}

FN double patch_slot_gap(GLOBAL const int *S, GLOBAL const int *I, GLOBAL const double *D,
                         int first, int count, int rank)
{
    GLOBAL const int *order = I + S[PATCH_SLOT_ORDER] + first;
    GLOBAL const double *points = D + S[PATCH_SLOT_POINT];
    return pvec_length(pvec_minus(pvec_at(points, order[(rank + 1) % count]),
                                  pvec_at(points, order[rank % count])));
}

// What the walk along the borders needs of each slot: how far it is to the next, and the anchors.
// @return is there an anchor?
TEAM_FN int patch_measure_borders(GLOBAL const int *RESTRICT S, GLOBAL int *I, GLOBAL double *D,
                                  patch_case c TEAM_PARAM)
{
    int anchored = 0;
    TEAM_EACH (i, 0, c.p_count) {
        int partner = patch_anchor(S, I, D, c, i);
        I[S[PATCH_SLOT_ANCHOR] + c.p_first + i] = partner;
        D[S[PATCH_SLOT_GAP] + c.p_first + i] = patch_slot_gap(S, I, D, c.p_first, c.p_count, i);
        anchored |= partner >= 0;
    }
    TEAM_EACH (i, 0, c.c_count)
        D[S[PATCH_SLOT_GAP] + c.c_first + i] = patch_slot_gap(S, I, D, c.c_first, c.c_count, i);
    TEAM_SYNC;
    return team_any(anchored);
}

// Without anchors: the closest pair of border points.
TEAM_FN void patch_closest(GLOBAL const int *RESTRICT S, GLOBAL int *I, GLOBAL double *D,
                           patch_case c, int *p_rank, int *c_rank)
{
    GLOBAL const int *order = I + S[PATCH_SLOT_ORDER];
    GLOBAL int *partners = I + S[PATCH_RUNG_KIND] + c.rung; // scratch: there are no rungs yet
    GLOBAL double *squares = D + S[PATCH_RUNG_ALONG] + c.rung;
    double least = 1e300;
    TEAM_EACH (i, 0, c.p_count) {
        double best = 1e300;
        for (int k = 0; k < c.c_count; k++) {
            pvec gap = pvec_minus(patch_end(S, D, order[c.p_first + i]),
                                  patch_end(S, D, order[c.c_first + k]));
            double square = pvec_dot(gap, gap);
            if (square < best) {
                best = square;
                partners[i] = k;
            }
        }
        squares[i] = best;
    }
    TEAM_SYNC;
    for (int i = 0; i < c.p_count; i++)
        if (squares[i] < least) {
            least = squares[i];
            *p_rank = i;
            *c_rank = partners[i];
        }
    TEAM_SYNC;
}

FN double patch_gap_at(GLOBAL const int *S, GLOBAL const double *D, int first, int count, int rank)
{
    return D[S[PATCH_SLOT_GAP] + first + rank % count];
}

FN int patch_rung_add(GLOBAL const int *S, GLOBAL int *I, GLOBAL double *D, patch_case c, int index,
                      int p_rank, int c_rank, int kind, double along)
{
    GLOBAL const int *order = I + S[PATCH_SLOT_ORDER];
    I[S[PATCH_RUNG_P] + c.rung + index] = order[c.p_first + p_rank % c.p_count];
    I[S[PATCH_RUNG_C] + c.rung + index] = order[c.c_first + c_rank % c.c_count];
    I[S[PATCH_RUNG_KIND] + c.rung + index] = kind;
    D[S[PATCH_RUNG_ALONG] + c.rung + index] = along;
    return index + 1;
}

// Where a point at `at` of a border of this length goes on one of the mean length: at its ends by
// its distance from them, evenly in between.
FN double patch_evened(double at, double length, double mean, double end)
{
    double to = at;
    if (!(mean > 0.0)) return 0.0;
    if (at > length - end)
        to = mean - (length - at);
    else if (at > end)
        to = end + (at - end) * (mean - 2.0 * end) / (length - 2.0 * end);
    return to / mean;
}

// Rungs of one stretch: from anchor (p, q) over p_steps and c_steps to the next, which is not
// added. Places on the loop go from `along` over `turn` places.
PATCH_FN int patch_zip(GLOBAL const int *S, GLOBAL int *I, GLOBAL double *D, patch_case c,
                       int index, int p, int p_steps, int q, int c_steps, double along, double turn,
                       int kind)
{
    if (p_steps == 1 && c_steps == 1) return index; // from anchor to anchor
    double p_length = 0.0, c_length = 0.0, p_at = 0.0, c_at = 0.0;
    for (int i = 0; i < p_steps; i++) p_length += patch_gap_at(S, D, c.p_first, c.p_count, p + i);
    for (int i = 0; i < c_steps; i++) c_length += patch_gap_at(S, D, c.c_first, c.c_count, q + i);
    double end = PATCH_EVEN * (p_length < c_length ? p_length : c_length);
    double mean = 0.5 * (p_length + c_length);
    int i = 0, k = 0;
    while (i < p_steps || k < c_steps) {
        double p_next = 2.0, c_next = 2.0, p_to = 0.0, c_to = 0.0;
        if (i < p_steps) {
            p_to = p_at + patch_gap_at(S, D, c.p_first, c.p_count, p + i);
            p_next = i == p_steps - 1 ? 1.0 : patch_evened(p_to, p_length, mean, end);
        }
        if (k < c_steps) {
            c_to = c_at + patch_gap_at(S, D, c.c_first, c.c_count, q + k);
            c_next = k == c_steps - 1 ? 1.0 : patch_evened(c_to, c_length, mean, end);
        }
        if (p_next < c_next + PATCH_SAME_PLACE && i < p_steps) {
            i++;
            p_at = p_to;
            if (c_next < p_next + PATCH_SAME_PLACE && k < c_steps) {
                k++;
                c_at = c_to;
            }
        } else {
            k++;
            c_at = c_to;
        }
        if (i == p_steps && k == c_steps) break;
        double at = (p_at + c_at) / (p_length + c_length + 1e-300), place = along + turn * at;
        if (place >= c.count) place -= c.count;
        index = patch_rung_add(S, I, D, c, index, p + i, q + k, kind, place);
    }
    return index;
}

FN double patch_slot_place(GLOBAL const int *S, GLOBAL const int *I, GLOBAL const double *D,
                           patch_case c, int p_rank)
{
    double along = D[S[PATCH_SLOT_ALONG] + I[S[PATCH_SLOT_ORDER] + c.p_first + p_rank % c.p_count]];
    return along < 0.0 ? 0.0 : along;
}

// Parent's and child's end of the front meet half way. On a loop that is tilted about the inner
// direction they lie off the bend axis, the child's has turned past the parent's, and without this
// the patch would cross itself there.
PATCH_FN void patch_join_ends(GLOBAL const int *S, GLOBAL const double *G, GLOBAL double *D,
                              patch_case c, int p, int q)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    GLOBAL const double *m = r + PATCH_J_TURN;
    pvec middle = pvec_mix(patch_end(S, D, p), patch_end(S, D, q), 0.5);
    pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), c.joint);
    pvec y = pvec_minus(middle, pvec_at(r + PATCH_J_OFFSET, 0));
    pvec back =
        pvec_make(m[0] * y.x + m[3] * y.y + m[6] * y.z, m[1] * y.x + m[4] * y.y + m[7] * y.z,
                  m[2] * y.x + m[5] * y.y + m[8] * y.z);
    pvec_put(D + S[PATCH_SLOT_PLACED], p, middle);
    pvec_put(D + S[PATCH_SLOT_PLACED], q, middle);
    pvec_put(D + S[PATCH_SLOT_POINT], p, pvec_plus(middle, centre));
    pvec_put(D + S[PATCH_SLOT_POINT], q, pvec_plus(back, centre));
}

// The rung from the parent's end of a front to the child's: one vertex if they are near.
FN int patch_rung_end(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *I, GLOBAL double *D,
                      patch_case c, int index, int p_rank, int c_rank, double along)
{
    int p = I[S[PATCH_SLOT_ORDER] + c.p_first + p_rank % c.p_count];
    int q = I[S[PATCH_SLOT_ORDER] + c.c_first + c_rank % c.c_count];
    double length = pvec_length(pvec_minus(patch_end(S, D, p), patch_end(S, D, q)));
    int near = length < PATCH_WELD_END * c.step;
    if (near) patch_join_ends(S, G, D, c, p, q);
    return patch_rung_add(S, I, D, c, index, p_rank, c_rank,
                          near ? PATCH_RUNG_WELD : PATCH_RUNG_FAN, along);
}

// How many slots after `rank` (before it, way = -1) are still on the loop.
FN int patch_loop_run(GLOBAL const int *S, GLOBAL const int *I, GLOBAL const double *D, int first,
                      int count, int rank, int way, int most)
{
    GLOBAL const int *order = I + S[PATCH_SLOT_ORDER] + first;
    int run = 0;
    while (run < most &&
           D[S[PATCH_SLOT_ALONG] + order[(rank + way * (run + 1) + count) % count]] >= 0.0)
        run++;
    return run;
}

// The stretch between two anchors: where both borders leave the loop, the front ends; the rest of
// the loop on both sides of that is front, what lies between is rear.
PATCH_FN int patch_stretch(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *I,
                           GLOBAL double *D, patch_case c, int index, int p, int p_steps, int q,
                           int c_steps, double along, double turn)
{
    p %= c.p_count;
    q %= c.c_count;
    int p_head = patch_loop_run(S, I, D, c.p_first, c.p_count, p, 1, p_steps - 1);
    int c_head = patch_loop_run(S, I, D, c.c_first, c.c_count, q, 1, c_steps - 1);
    int p_tail =
        patch_loop_run(S, I, D, c.p_first, c.p_count, (p + p_steps) % c.p_count, -1, p_steps - 1);
    int c_tail =
        patch_loop_run(S, I, D, c.c_first, c.c_count, (q + c_steps) % c.c_count, -1, c_steps - 1);
    int p_rear = p_steps - p_head - p_tail, c_rear = c_steps - c_head - c_tail;
    if (S[PATCH_BOX] || p_rear < 2 || c_rear < 2) {
        int front = !S[PATCH_BOX] && p_head == p_steps - 1 && c_head == c_steps - 1;
        return patch_zip(S, I, D, c, index, p, p_steps, q, c_steps, along, turn,
                         front ? PATCH_RUNG_FAN : PATCH_RUNG_CONIC);
    }
    if (p_head + c_head > 0) {
        index = patch_zip(S, I, D, c, index, p, p_head, q, c_head, along, 0.0, PATCH_RUNG_FAN);
        index = patch_rung_end(S, G, I, D, c, index, p + p_head, q + c_head, along);
    }
    index = patch_zip(S, I, D, c, index, p + p_head, p_rear, q + c_head, c_rear, along, turn,
                      PATCH_RUNG_CONIC);
    if (p_tail + c_tail > 0) {
        double end = along + turn >= c.count ? along + turn - c.count : along + turn;
        p += p_head + p_rear;
        q += c_head + c_rear;
        index = patch_rung_end(S, G, I, D, c, index, p, q, end);
        index = patch_zip(S, I, D, c, index, p, p_tail, q, c_tail, end, 0.0, PATCH_RUNG_FAN);
    }
    return index;
}

// All rungs from the first anchor (or, without one, the closest pair), zipped in between. One lane:
// a walk.
// @return how many
PATCH_FN int patch_ladder(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *I,
                          GLOBAL double *D, patch_case c, int p0, int q0, int kind)
{
    GLOBAL const int *anchors = I + S[PATCH_SLOT_ANCHOR] + c.p_first;
    int index = 0;
    int p = 0, q = 0; // steps from the first anchor
    for (int i = 0; i < c.p_count && kind == PATCH_RUNG_ARC; i++)
        if (anchors[i] >= 0) {
            p0 = i;
            q0 = anchors[i];
            break;
        }
    double place = patch_slot_place(S, I, D, c, p0);
    index = patch_rung_add(S, I, D, c, index, p0, q0, kind, place);
    for (int i = 1; i <= c.p_count; i++) {
        int rank = (p0 + i) % c.p_count, k, last = i == c.p_count;
        if (last) {
            k = c.c_count;
        } else {
            int partner = kind == PATCH_RUNG_ARC ? anchors[rank] : -1;
            if (partner < 0) continue;
            k = (partner - q0 + c.c_count) % c.c_count;
            if (k <= q) continue; // not in order: no anchor
        }
        double next = kind == PATCH_RUNG_ARC ? patch_slot_place(S, I, D, c, rank) : place;
        double turn = next - place;
        if (turn <= 0.0) turn += c.count;
        index = patch_stretch(S, G, I, D, c, index, p0 + p, i - p, q0 + q, k - q, place, turn);
        if (!last) index = patch_rung_add(S, I, D, c, index, rank, q0 + k, kind, next);
        p = i;
        q = k;
        place = next;
    }
    return index;
}

// Is this slot where the front ends: on the loop, and beside what was removed?
FN int patch_is_end(GLOBAL const int *S, GLOBAL const int *I, int slot)
{
    int node = I[S[PATCH_SLOT_NODE] + slot];
    return node < 0 || I[S[PATCH_STATE] + node] == PATCH_ZERO;
}

// Anchors that are one point, or the two ends of the front, become one vertex.
FN void patch_weld_anchor(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                          GLOBAL int *I, GLOBAL double *D, patch_case c, int index)
{
    GLOBAL int *kind = I + S[PATCH_RUNG_KIND] + c.rung + index;
    int p = I[S[PATCH_RUNG_P] + c.rung + index], q = I[S[PATCH_RUNG_C] + c.rung + index];
    if (*kind != PATCH_RUNG_ARC) return;
    double length = pvec_length(pvec_minus(patch_end(S, D, p), patch_end(S, D, q)));
    int ends = length < PATCH_WELD_END * c.step && patch_is_end(S, I, p) && patch_is_end(S, I, q);
    if (!ends && !(length < PATCH_WELD_ANCHOR * c.step)) return;
    if (ends) patch_join_ends(S, G, D, c, p, q);
    *kind = PATCH_RUNG_WELD;
}

// A rung of no length becomes one vertex, a short one stays straight.
FN void patch_weld_short(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                         GLOBAL int *I, GLOBAL const double *D, patch_case c, int index)
{
    GLOBAL int *kind = I + S[PATCH_RUNG_KIND] + c.rung + index;
    int p = I[S[PATCH_RUNG_P] + c.rung + index], q = I[S[PATCH_RUNG_C] + c.rung + index];
    if (*kind == PATCH_RUNG_WELD) return;
    double length = pvec_length(pvec_minus(patch_end(S, D, p), patch_end(S, D, q)));
    if (length < PATCH_WELD * REALS(S, G, PATCH_SCALARS)[0])
        *kind = PATCH_RUNG_WELD;
    else if (length < 0.1 * c.step)
        *kind = PATCH_RUNG_LINE;
}

// Does this weld stay? A slot is one with one other at most, so of several that share an end the
// last one counts. Rungs that share an end follow each other.
FN int patch_weld_stays(GLOBAL const int *RESTRICT S, GLOBAL const int *I, patch_case c, int rungs,
                        int index)
{
    GLOBAL const int *kind = I + S[PATCH_RUNG_KIND] + c.rung, *p = I + S[PATCH_RUNG_P] + c.rung;
    GLOBAL const int *q = I + S[PATCH_RUNG_C] + c.rung;
    if (kind[index] != PATCH_RUNG_WELD) return 0;
    for (int k = 1; k < rungs; k++) {
        int after = (index + k) % rungs;
        if (p[after] != p[index] && q[after] != q[index]) return 1;
        if (kind[after] == PATCH_RUNG_WELD) return 0;
    }
    return 1;
}

// Welds are done. A rung beside one, with which it shares an end, is a border edge and stays
// straight.
FN void patch_weld_end(GLOBAL const int *RESTRICT S, GLOBAL int *I, patch_case c, int rungs,
                       int index)
{
    GLOBAL int *kind = I + S[PATCH_RUNG_KIND] + c.rung, *p = I + S[PATCH_RUNG_P] + c.rung;
    GLOBAL int *q = I + S[PATCH_RUNG_C] + c.rung;
    GLOBAL const int *stays = I + S[PATCH_RUNG_FIRST] + c.rung;
    int before = (index + rungs - 1) % rungs, after = (index + 1) % rungs;
    if (stays[index]) {
        I[S[PATCH_SLOT_WELD] + q[index]] = p[index];
        I[S[PATCH_SLOT_GUEST] + p[index]] = q[index];
    } else if (kind[index] == PATCH_RUNG_WELD ||
               (stays[before] && (p[before] == p[index] || q[before] == q[index])) ||
               (stays[after] && (p[after] == p[index] || q[after] == q[index])))
        kind[index] = PATCH_RUNG_LINE;
}

TEAM_KERNEL patch_rungs(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                        GLOBAL int *int_work, GLOBAL double *work, ITEM_ARGS)
{
    TEAM_BEGIN
    int joint_count = S[PATCH_JOINT_COUNT], instance = TEAM_INSTANCE(joint_count);
    int joint = TEAM_INDEX(joint_count), p0 = 0, q0 = 0;
    GLOBAL int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    GLOBAL int *rungs = I + S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * joint + PATCH_J_RUNGS;
    patch_case c = patch_case_of(S, G, I, joint);
    patch_place_borders(S, G, D, c);
    int kind = PATCH_RUNG_ARC;
    if (!patch_measure_borders(S, I, D, c TEAM_PASS)) {
        kind = PATCH_RUNG_CONIC;
        patch_closest(S, I, D, c, &p0, &q0);
    }
    if (TEAM_LANE == 0) *rungs = patch_ladder(S, G, I, D, c, p0, q0, kind);
    TEAM_SYNC;
    int count = *rungs;
    TEAM_EACH (i, 0, count) patch_weld_anchor(S, G, I, D, c, i);
    TEAM_SYNC;
    TEAM_EACH (i, 0, count) patch_weld_short(S, G, I, D, c, i);
    TEAM_SYNC;
    GLOBAL int *stays = I + S[PATCH_RUNG_FIRST] + c.rung; // scratch: there are no samples yet
    TEAM_EACH (i, 0, count) stays[i] = patch_weld_stays(S, I, c, count, i);
    TEAM_SYNC;
    TEAM_EACH (i, 0, count) patch_weld_end(S, I, c, count, i);
    ITEM_END
}

#endif
