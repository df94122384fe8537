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
#define PATCH_FLIPS       8    // passes over the rungs at most; most joints need two or three
#define PATCH_SLANT       2.0  // what lies along the bend axis counts so much more

/// What the functions here pass around: one joint of one instance.
STRUCT(patch_case)
{
    int joint, count, p_first, p_count, c_first, c_count, rung, point, shift;
    double step;
};

FN patch_case patch_case_of(PATCH_BODY S, GLOBAL const double *G, GLOBAL const int *I, int joint)
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
TEAM_FN void patch_place_borders(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL double *D,
                                 patch_case c)
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

FN pvec patch_end(PATCH_BODY S, GLOBAL const double *D, int slot)
{
    return pvec_at(D + S[PATCH_SLOT_PLACED], slot);
}

// The child's slot that is partner of a parent's, if that place of the loop is still there on both;
// -1 if not.
FN int patch_partner(PATCH_BODY S, GLOBAL const int *I, patch_case c, int slot)
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
FN int patch_partner_split(PATCH_BODY S, GLOBAL const int *I, GLOBAL const double *D, patch_case c,
                           int slot)
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

FN int patch_anchor(PATCH_BODY S, GLOBAL const int *I, GLOBAL const double *D, patch_case c,
                    int p_rank)
{
    int slot = I[S[PATCH_SLOT_ORDER] + c.p_first + p_rank];
    int partner = patch_partner(S, I, c, slot);
    if (partner == -2) partner = patch_partner_split(S, I, D, c, slot);
    return partner < 0 ? -1 : I[S[PATCH_SLOT_RANK] + partner];
}

FN double patch_slot_gap(PATCH_BODY S, GLOBAL const int *I, GLOBAL const double *D, int first,
                         int count, int rank)
{
    GLOBAL const int *order = I + S[PATCH_SLOT_ORDER] + first;
    GLOBAL const double *points = D + S[PATCH_SLOT_POINT];
    return pvec_length(pvec_minus(pvec_at(points, order[rank + 1 == count ? 0 : rank + 1]),
                                  pvec_at(points, order[rank])));
}

// What the walk along a border needs of each slot, by rank: how far it is to the next, and whether
// it is on the loop.
TEAM_FN void patch_measure_border(PATCH_BODY S, GLOBAL int *I, GLOBAL double *D, int first,
                                  int count)
{
    GLOBAL const int *order = I + S[PATCH_SLOT_ORDER] + first;
    GLOBAL const double *along = D + S[PATCH_SLOT_ALONG];
    TEAM_EACH (i, 0, count) {
        D[S[PATCH_SLOT_GAP] + first + i] = patch_slot_gap(S, I, D, first, count, i);
        I[S[PATCH_SLOT_LOOP] + first + i] = along[order[i]] >= 0.0;
    }
}

// The anchors in order: their ranks in RUNG_FACE, their partners' in RUNG_COUNT (there are no
// samples yet).
// @return how many
TEAM_FN int patch_list_anchors(PATCH_BODY S, GLOBAL int *I, GLOBAL const double *D,
                               patch_case c TEAM_PARAM)
{
    int anchors = 0;
    for (int from = 0; from < c.p_count; from += TEAM_LANES) {
        int i = from + TEAM_LANE, partner = i < c.p_count ? patch_anchor(S, I, D, c, i) : -1;
        int at = anchors + team_before_flag(partner >= 0);
        anchors += team_total_flag(partner >= 0);
        if (partner < 0) continue;
        I[S[PATCH_RUNG_FACE] + c.rung + at] = i;
        I[S[PATCH_RUNG_COUNT] + c.rung + at] = partner;
    }
    TEAM_SYNC;
    return anchors;
}

// Without anchors: the closest pair of border points.
TEAM_FN void patch_closest(PATCH_BODY S, GLOBAL int *I, GLOBAL double *D, patch_case c, int *p_rank,
                           int *c_rank)
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

// A rung between slots of these ranks; where it is along the loop, or along the stretch that begins
// with rung `span`.
FN int patch_rung_add(PATCH_BODY S, GLOBAL int *I, GLOBAL double *D, patch_case c, int index,
                      int p_rank, int c_rank, int kind, double along, int span)
{
    I[S[PATCH_RUNG_P] + c.rung + index] = p_rank;
    I[S[PATCH_RUNG_C] + c.rung + index] = c_rank;
    I[S[PATCH_RUNG_KIND] + c.rung + index] = kind;
    I[S[PATCH_RUNG_FIRST] + c.rung + index] = span;
    D[S[PATCH_RUNG_ALONG] + c.rung + index] = along;
    return index + 1;
}

FN int patch_wrapped(int rank, int count)
{
    return rank >= count ? rank - count : rank;
}

/// A walk along one border: where it is, and the next slot, if there is one, as a share of the way.
STRUCT(patch_walk)
{
    int rank, left; ///< slots still to come
    double at, to, next;
    double length, scale; ///< of the stretch; what lies evenly in between is stretched by this
};

FN double patch_walk_length(GLOBAL const double *gaps, int count, int rank, int steps)
{
    double length = 0.0;
    for (int i = 0; i < steps; i++) {
        length += gaps[rank];
        rank = patch_wrapped(rank + 1, count);
    }
    return length;
}

// Where the next slot goes on a border of the mean length: at its ends by its distance from them,
// evenly in between.
FN patch_walk patch_walk_look(GLOBAL const double *gaps, patch_walk w, double mean, double end,
                              double inverse)
{
    w.next = 2.0;
    if (w.left == 0) return w;
    w.to = w.at + gaps[w.rank];
    double to = w.to;
    if (w.to > w.length - end)
        to = mean - (w.length - w.to);
    else if (w.to > end)
        to = end + (w.to - end) * w.scale;
    w.next = w.left == 1 ? 1.0 : to * inverse;
    return w;
}

FN patch_walk patch_walk_step(patch_walk w, int count)
{
    w.at = w.to;
    w.rank = patch_wrapped(w.rank + 1, count);
    w.left--;
    return w;
}

// Rungs of one stretch: from anchor (p, q) over p_steps and c_steps to the next, which is not
// added. Places on the loop go from `along` over `turn` places (SAMPLE has them for a moment).
FN int patch_zip(PATCH_BODY S, GLOBAL int *I, GLOBAL double *D, patch_case c, int index, int p_rank,
                 int p_steps, int c_rank, int c_steps, double along, double turn, int kind)
{
    GLOBAL const double *p_gaps = D + S[PATCH_SLOT_GAP] + c.p_first;
    GLOBAL const double *c_gaps = D + S[PATCH_SLOT_GAP] + c.c_first;
    patch_walk p, q;
    if (p_steps == 1 && c_steps == 1) return index; // from anchor to anchor
    p.rank = p_rank, p.left = p_steps, p.at = p.to = 0.0;
    q.rank = c_rank, q.left = c_steps, q.at = q.to = 0.0;
    p.length = patch_walk_length(p_gaps, c.p_count, p_rank, p_steps);
    q.length = patch_walk_length(c_gaps, c.c_count, c_rank, c_steps);
    double both = p.length + q.length, mean = 0.5 * both;
    double end = PATCH_EVEN * (p.length < q.length ? p.length : q.length);
    double inverse = mean > 0.0 ? 1.0 / mean : 0.0;
    int span = index;
    pvec_put(D + S[PATCH_SAMPLE], c.point + span, pvec_make(along, turn, both + 1e-300));
    p.scale = (mean - 2.0 * end) / (p.length - 2.0 * end);
    q.scale = (mean - 2.0 * end) / (q.length - 2.0 * end);
    p = patch_walk_look(p_gaps, p, mean, end, inverse);
    q = patch_walk_look(c_gaps, q, mean, end, inverse);
    for (;;) {
        int p_steps_on = p.left > 0 && p.next < q.next + PATCH_SAME_PLACE;
        int c_steps_on = q.left > 0 && (!p_steps_on || q.next < p.next + PATCH_SAME_PLACE);
        if (p_steps_on)
            p = patch_walk_look(p_gaps, patch_walk_step(p, c.p_count), mean, end, inverse);
        if (c_steps_on)
            q = patch_walk_look(c_gaps, patch_walk_step(q, c.c_count), mean, end, inverse);
        if (p.left + q.left == 0) break;
        index = patch_rung_add(S, I, D, c, index, p.rank, q.rank, kind, p.at + q.at, span);
    }
    return index;
}

FN double patch_slot_place(PATCH_BODY S, GLOBAL const int *I, GLOBAL const double *D, patch_case c,
                           int p_rank)
{
    double along = D[S[PATCH_SLOT_ALONG] + I[S[PATCH_SLOT_ORDER] + c.p_first + p_rank]];
    return along < 0.0 ? 0.0 : along;
}

// Parent's and child's end of the front meet half way. On a loop that is tilted about the inner
// direction they lie off the bend axis, the child's has turned past the parent's, and without this
// the patch would cross itself there.
FN void patch_join_ends(PATCH_BODY S, GLOBAL const double *G, GLOBAL double *D, patch_case c, int p,
                        int q)
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
FN int patch_rung_end(PATCH_BODY S, GLOBAL const double *G, GLOBAL int *I, GLOBAL double *D,
                      patch_case c, int index, int p_rank, int c_rank, double along)
{
    int p = I[S[PATCH_SLOT_ORDER] + c.p_first + p_rank];
    int q = I[S[PATCH_SLOT_ORDER] + c.c_first + c_rank];
    double length = pvec_length(pvec_minus(patch_end(S, D, p), patch_end(S, D, q)));
    int near = length < PATCH_WELD_END * c.step;
    if (near) patch_join_ends(S, G, D, c, p, q);
    return patch_rung_add(S, I, D, c, index, p_rank, c_rank,
                          near ? PATCH_RUNG_WELD : PATCH_RUNG_FAN, along, -1);
}

// How many slots after `rank` (before it, way = -1) are still on the loop.
FN int patch_loop_run(GLOBAL const int *on_loop, int count, int rank, int way, int most)
{
    int run = 0;
    while (run < most) {
        rank += way;
        rank = rank < 0 ? rank + count : patch_wrapped(rank, count);
        if (!on_loop[rank]) break;
        run++;
    }
    return run;
}

// The stretch between two anchors: where both borders leave the loop, the front ends; the rest of
// the loop on both sides of that is front, what lies between is rear.
FN int patch_stretch(PATCH_BODY S, GLOBAL const double *G, GLOBAL int *I, GLOBAL double *D,
                     patch_case c, int index, int p, int p_steps, int q, int c_steps, double along,
                     double turn)
{
    GLOBAL const int *p_loop = I + S[PATCH_SLOT_LOOP] + c.p_first;
    GLOBAL const int *c_loop = I + S[PATCH_SLOT_LOOP] + c.c_first;
    int p_end = patch_wrapped(p + p_steps, c.p_count),
        c_end = patch_wrapped(q + c_steps, c.c_count);
    int p_head = patch_loop_run(p_loop, c.p_count, p, 1, p_steps - 1);
    int c_head = patch_loop_run(c_loop, c.c_count, q, 1, c_steps - 1);
    int p_tail = patch_loop_run(p_loop, c.p_count, p_end, -1, p_steps - 1);
    int c_tail = patch_loop_run(c_loop, c.c_count, c_end, -1, c_steps - 1);
    int p_rear = p_steps - p_head - p_tail, c_rear = c_steps - c_head - c_tail;
    int whole = S[PATCH_BOX] || p_rear < 2 || c_rear < 2, kind = PATCH_RUNG_CONIC;
    if (whole) {
        if (!S[PATCH_BOX] && p_head == p_steps - 1 && c_head == c_steps - 1) kind = PATCH_RUNG_FAN;
        p_head = c_head = p_tail = c_tail = 0;
        p_rear = p_steps;
        c_rear = c_steps;
    }
    for (int piece = 0; piece < 3; piece++) { // head, rear, tail; the ends of the front in between
        int p_run = piece == 1 ? p_head : p_tail, c_run = piece == 1 ? c_head : c_tail;
        double at = piece == 2 ? along + turn : along;
        if (at >= c.count) at -= c.count;
        if (piece > 0 && p_run + c_run > 0) index = patch_rung_end(S, G, I, D, c, index, p, q, at);
        p_run = piece == 0 ? p_head : piece == 1 ? p_rear : p_tail;
        c_run = piece == 0 ? c_head : piece == 1 ? c_rear : c_tail;
        if (p_run + c_run > 0)
            index = patch_zip(S, I, D, c, index, p, p_run, q, c_run, at, piece == 1 ? turn : 0.0,
                              piece == 1 ? kind : PATCH_RUNG_FAN);
        p = patch_wrapped(p + p_run, c.p_count);
        q = patch_wrapped(q + c_run, c.c_count);
    }
    return index;
}

// All rungs from the first anchor (or, without one, the closest pair (p0, q0)), zipped in between,
// their ends as ranks. One lane: a walk.
// @return how many
FN int patch_ladder(PATCH_BODY S, GLOBAL const double *G, GLOBAL int *I, GLOBAL double *D,
                    patch_case c, int p0, int q0, int anchors)
{
    GLOBAL const int *ranks = I + S[PATCH_RUNG_FACE] + c.rung;
    GLOBAL const int *partners = I + S[PATCH_RUNG_COUNT] + c.rung;
    int kind = anchors > 0 ? PATCH_RUNG_ARC : PATCH_RUNG_CONIC;
    int p = 0, q = 0; // steps from the first anchor
    if (anchors > 0) {
        p0 = ranks[0];
        q0 = partners[0];
    }
    double place = patch_slot_place(S, I, D, c, p0), start = place;
    int index = patch_rung_add(S, I, D, c, 0, p0, q0, kind, place, -1);
    for (int i = 1; i <= anchors || i == 1; i++) {
        int last = i >= anchors, steps = c.p_count, k = c.c_count;
        double next = start;
        if (!last) {
            steps = ranks[i] - p0;
            k = partners[i] - q0;
            if (k < 0) k += c.c_count;
            if (k <= q) continue; // not in order: no anchor
            next = patch_slot_place(S, I, D, c, ranks[i]);
        }
        double turn = next - place;
        if (turn <= 0.0) turn += c.count;
        if (steps - p > 1 || k - q > 1)
            index = patch_stretch(S, G, I, D, c, index, patch_wrapped(p0 + p, c.p_count), steps - p,
                                  patch_wrapped(q0 + q, c.c_count), k - q, place, turn);
        if (!last) index = patch_rung_add(S, I, D, c, index, ranks[i], partners[i], kind, next, -1);
        p = steps;
        q = k;
        place = next;
    }
    return index;
}

// Is this slot where the front ends: on the loop, and beside what was removed?
FN int patch_is_end(PATCH_BODY S, GLOBAL const int *I, int slot)
{
    int node = I[S[PATCH_SLOT_NODE] + slot];
    return node < 0 || I[S[PATCH_STATE] + node] == PATCH_ZERO;
}

// A rung's place along its stretch becomes one on the loop.
FN void patch_place_rung(PATCH_BODY S, GLOBAL const int *I, GLOBAL double *D, patch_case c,
                         int index)
{
    GLOBAL double *along = D + S[PATCH_RUNG_ALONG] + c.rung + index;
    int span = I[S[PATCH_RUNG_FIRST] + c.rung + index];
    if (span < 0) return;
    pvec way = pvec_at(D + S[PATCH_SAMPLE], c.point + span);
    double place = way.x + way.y * (*along / way.z);
    *along = place >= c.count ? place - c.count : place;
}

// The ends of a rung become slots; anchors that are one point, or the two ends of the front, one
// vertex.
FN void patch_weld_anchor(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL int *I,
                          GLOBAL double *D, patch_case c, int index)
{
    GLOBAL int *kind = I + S[PATCH_RUNG_KIND] + c.rung + index;
    GLOBAL int *p_end = I + S[PATCH_RUNG_P] + c.rung + index;
    GLOBAL int *c_end = I + S[PATCH_RUNG_C] + c.rung + index;
    int p = I[S[PATCH_SLOT_ORDER] + c.p_first + *p_end];
    int q = I[S[PATCH_SLOT_ORDER] + c.c_first + *c_end];
    *p_end = p;
    *c_end = q;
    if (*kind != PATCH_RUNG_ARC) return;
    double length = pvec_length(pvec_minus(patch_end(S, D, p), patch_end(S, D, q)));
    int ends = length < PATCH_WELD_END * c.step && patch_is_end(S, I, p) && patch_is_end(S, I, q);
    if (!ends && !(length < PATCH_WELD_ANCHOR * c.step)) return;
    if (ends) patch_join_ends(S, G, D, c, p, q);
    *kind = PATCH_RUNG_WELD;
}

// How far apart the ends of a rear rung are, squared. Its curve lies across the bend axis, so the
// less it has of that direction the better it keeps its order among the others.
FN double patch_rung_cost(PATCH_BODY S, GLOBAL const double *D, int p, int q, pvec axis)
{
    pvec gap = pvec_minus(patch_end(S, D, p), patch_end(S, D, q));
    double slant = pvec_dot(gap, axis);
    return pvec_dot(gap, gap) + PATCH_SLANT * slant * slant;
}

// A rear rung at which one border stops and the other goes on is a diagonal of the quad between its
// neighbours: the other diagonal takes its place if that is shorter, but not in the front's end,
// which is a fan already.
// @return 1 if it does
FN int patch_flip(PATCH_BODY S, GLOBAL int *I, GLOBAL double *D, patch_case c, int rungs, int index)
{
    GLOBAL int *p = I + S[PATCH_RUNG_P] + c.rung, *q = I + S[PATCH_RUNG_C] + c.rung;
    GLOBAL double *along = D + S[PATCH_RUNG_ALONG] + c.rung;
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    int before = index - 1, after = patch_wrapped(index + 1, rungs);
    int p_stops = p[before] == p[index], p_goes = p[index] != p[after];
    int q_stops = q[before] == q[index], q_goes = q[index] != q[after];
    if (I[S[PATCH_RUNG_KIND] + c.rung + index] != PATCH_RUNG_CONIC) return 0;
    if (p_stops == q_stops || p_goes == q_goes || p_stops != p_goes) return 0;
    int x = p_stops ? p[after] : p[before], y = q_stops ? q[after] : q[before];
    if (D[S[PATCH_SLOT_ALONG] + x] >= 0.0 || D[S[PATCH_SLOT_ALONG] + y] >= 0.0) return 0;
    pvec axis = pvec_at(r + PATCH_J_AXIS, 0);
    if (!(patch_rung_cost(S, D, x, y, axis) < patch_rung_cost(S, D, p[index], q[index], axis)))
        return 0;
    p[index] = x;
    q[index] = y;
    double gap = along[after] - along[before], at = along[index] - along[before];
    if (gap < 0.0) gap += c.count;
    if (at < 0.0) at += c.count;
    double place = at < gap ? along[after] - at : along[before];
    along[index] = place < 0.0 ? place + c.count : place;
    return 1;
}

// Rear rungs by the shorter diagonals, every second one at a time: borders of which one was cut far
// and the other hardly are not matched by their lengths. The first rung stays.
TEAM_FN void patch_flip_rungs(PATCH_BODY S, GLOBAL int *I, GLOBAL double *D, patch_case c,
                              int rungs TEAM_PARAM)
{
    int idle = 0;
    for (int pass = 0; pass < PATCH_FLIPS && idle < 2; pass++) {
        int flips = 0;
        for (int i = 2 - pass % 2 + 2 * TEAM_LANE; i < rungs; i += 2 * TEAM_LANES)
            flips |= patch_flip(S, I, D, c, rungs, i);
        TEAM_SYNC;
        idle = team_any(flips) ? 0 : idle + 1;
    }
}

// A rung of no length becomes one vertex, a short one stays straight.
FN void patch_weld_short(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL int *I,
                         GLOBAL const double *D, patch_case c, int index)
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
FN int patch_weld_stays(PATCH_BODY S, GLOBAL const int *I, patch_case c, int rungs, int index)
{
    GLOBAL const int *kind = I + S[PATCH_RUNG_KIND] + c.rung, *p = I + S[PATCH_RUNG_P] + c.rung;
    GLOBAL const int *q = I + S[PATCH_RUNG_C] + c.rung;
    if (kind[index] != PATCH_RUNG_WELD) return 0;
    for (int k = 1, after = index; k < rungs; k++) {
        after = patch_wrapped(after + 1, rungs);
        if (p[after] != p[index] && q[after] != q[index]) return 1;
        if (kind[after] == PATCH_RUNG_WELD) return 0;
    }
    return 1;
}

// Welds are done. A rung beside one, with which it shares an end, is a border edge and stays
// straight.
FN void patch_weld_end(PATCH_BODY S, GLOBAL int *I, patch_case c, int rungs, int index)
{
    GLOBAL int *kind = I + S[PATCH_RUNG_KIND] + c.rung, *p = I + S[PATCH_RUNG_P] + c.rung;
    GLOBAL int *q = I + S[PATCH_RUNG_C] + c.rung;
    GLOBAL const int *stays = I + S[PATCH_RUNG_FIRST] + c.rung;
    int before = index == 0 ? rungs - 1 : index - 1, after = patch_wrapped(index + 1, rungs);
    if (stays[index]) {
        I[S[PATCH_SLOT_WELD] + q[index]] = p[index];
        I[S[PATCH_SLOT_GUEST] + p[index]] = q[index];
    } else if (kind[index] == PATCH_RUNG_WELD ||
               (stays[before] && (p[before] == p[index] || q[before] == q[index])) ||
               (stays[after] && (p[after] == p[index] || q[after] == q[index])))
        kind[index] = PATCH_RUNG_LINE;
}

OLD_ITEM_KERNEL patch_rungs(PATCH_BODY_ARGS, GLOBAL const double *RESTRICT G, GLOBAL int *int_work,
                            GLOBAL double *work, ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int joint_count = S[PATCH_JOINT_COUNT],
                                             instance = TEAM_INSTANCE(joint_count);
    int joint = TEAM_INDEX(joint_count), p0 = 0, q0 = 0;
    GLOBAL int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    GLOBAL int *ints = I + S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * joint;
    patch_case c = patch_case_of(S, G, I, joint);
    patch_place_borders(S, G, D, c);
    patch_measure_border(S, I, D, c.p_first, c.p_count);
    patch_measure_border(S, I, D, c.c_first, c.c_count);
    int anchors = patch_list_anchors(S, I, D, c TEAM_PASS);
    if (anchors == 0) patch_closest(S, I, D, c, &p0, &q0);
    if (TEAM_LANE == 0) ints[PATCH_J_RUNGS] = patch_ladder(S, G, I, D, c, p0, q0, anchors);
    TEAM_SYNC;
    int count = ints[PATCH_J_RUNGS];
    TEAM_EACH (i, 0, count) {
        patch_place_rung(S, I, D, c, i);
        patch_weld_anchor(S, G, I, D, c, i);
    }
    TEAM_SYNC;
    if (S[PATCH_FILL] == PATCH_FILL_KEEP && ints[PATCH_J_BENT])
        patch_flip_rungs(S, I, D, c, count TEAM_PASS);
    TEAM_EACH (i, 0, count) patch_weld_short(S, G, I, D, c, i);
    TEAM_SYNC;
    GLOBAL int *stays = I + S[PATCH_RUNG_FIRST] + c.rung; // scratch: there are no samples yet
    TEAM_EACH (i, 0, count) stays[i] = patch_weld_stays(S, I, c, count, i);
    TEAM_SYNC;
    TEAM_EACH (i, 0, count) patch_weld_end(S, I, c, count, i);
    ITEM_END
}

#endif
