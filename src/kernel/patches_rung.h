/// Item kernels: rungs between the two borders of a joint.
///
/// Borders are zipped: both are walked once around, anchors (places of the loop that both still
/// have) and the ends of the front in step, in between by arc length. Every state of the walk is a
/// rung from a slot of the parent to one of the child; strips between consecutive rungs then close
/// the joint by construction. Positions are in the parent's rest space, from the joint's centre.
#ifndef CUTIS_KERNEL_PATCHES_RUNG_H
#define CUTIS_KERNEL_PATCHES_RUNG_H

#include "patches_border.h"

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

FN patch_case patch_case_of(patch_work w, int joint)
{
    patch_case c;
    GLOBAL const int *entry = body_joint_entry(w) + 2 * joint;
    c.joint = joint;
    c.count = body_joint_loop(w)[joint + 1] - body_joint_loop(w)[joint];
    c.p_first = body_entry_slot(w)[entry[0]];
    c.c_first = body_entry_slot(w)[entry[1]];
    c.p_count = work_border_count(w)[entry[0]];
    c.c_count = work_border_count(w)[entry[1]];
    c.rung = body_joint_rung(w)[joint];
    c.point = body_joint_point(w)[joint];
    c.shift = work_joint(w)[joint].shift;
    c.step = body_joint_step(w)[joint];
    return c;
}

// Border points from the centre, the child's turned into place.
TEAM_FN void patch_place_borders(patch_work w, patch_case c)
{
    GLOBAL const patch_joint *j = work_joint(w) + c.joint;
    GLOBAL const pvec *points = work_slot_point(w);
    GLOBAL pvec *placed = work_slot_placed(w);
    pvec centre = body_joint_centre(w)[c.joint], offset = j->offset;
    TEAM_EACH (i, c.p_first, c.p_first + c.p_count) placed[i] = pvec_minus(points[i], centre);
    TEAM_EACH (i, c.c_first, c.c_first + c.c_count)
        placed[i] = pvec_plus(pvec_turned(j->turn, pvec_minus(points[i], centre)), offset);
}

FN pvec patch_end(patch_work w, int slot)
{
    return work_slot_placed(w)[slot];
}

// The child's slot that is partner of a parent's vertex, if that place of the loop is still there
// on both; -1 if not.
FN int patch_partner(patch_work w, patch_case c, int node)
{
    if (body_vertex_loop(w)[node] != c.joint) return -1;
    int place = (body_vertex_place(w)[node] + c.shift) % c.count;
    int other = body_loop_vertex(w)[2 * (body_joint_loop(w)[c.joint] + place) + 1];
    return work_state(w)[other] == PATCH_REMOVED ? -1 : work_slot(w)[other];
}

// The same for a split point on the loop: the child's must be on the partner edge.
FN int patch_partner_split(patch_work w, patch_case c, int slot)
{
    double along = work_slot_along(w)[slot];
    if (along < 0.0) return -1;
    int place = (int)along, first = body_joint_loop(w)[c.joint];
    GLOBAL const int *state = work_state(w), *loop = body_loop_vertex(w);
    int a = loop[2 * (first + (place + c.shift) % c.count) + 1];
    int b = loop[2 * (first + (place + 1 + c.shift) % c.count) + 1];
    int removed = state[a] == PATCH_REMOVED;
    if (removed == (state[b] == PATCH_REMOVED)) return -1;
    if (state[removed ? b : a] != PATCH_KEPT) return -1;
    // The kept end must be the same one, or the borders would cross.
    int p = loop[2 * (first + place % c.count)];
    if ((state[p] == PATCH_REMOVED) != removed) return -1;
    int k = body_ring_first(w)[a];
    if (body_ring(w)[k] != b) k = body_ring_first(w)[a + 1] - 1;
    return work_edge_slot(w)[body_ring_edge(w)[k]];
}

FN int patch_anchor(patch_work w, patch_case c, int p_rank)
{
    int slot = work_slot_order(w)[c.p_first + p_rank], node = work_slot_node(w)[slot];
    int partner = node >= 0 ? patch_partner(w, c, node) : patch_partner_split(w, c, slot);
    return partner < 0 ? -1 : work_slot_rank(w)[partner];
}

FN double patch_slot_gap(patch_work w, int first, int count, int rank)
{
    GLOBAL const int *order = work_slot_order(w) + first;
    GLOBAL const pvec *points = work_slot_point(w);
    return pvec_length(
        pvec_minus(points[order[rank + 1 == count ? 0 : rank + 1]], points[order[rank]]));
}

// What the walk along a border needs of each slot, by rank: how far it is to the next, and whether
// it is on the loop.
TEAM_FN void patch_measure_border(patch_work w, int first, int count)
{
    GLOBAL const int *order = work_slot_order(w) + first;
    GLOBAL const double *along = work_slot_along(w);
    TEAM_EACH (i, 0, count) {
        work_slot_gap(w)[first + i] = patch_slot_gap(w, first, count, i);
        work_slot_on_loop(w)[first + i] = along[order[i]] >= 0.0;
    }
}

// The anchors in order: their ranks and their partners'.
// @return how many
TEAM_FN int patch_list_anchors(patch_work w, patch_case c TEAM_PARAM)
{
    int anchors = 0;
    for (int from = 0; from < c.p_count; from += TEAM_LANES) {
        int i = from + TEAM_LANE, partner = i < c.p_count ? patch_anchor(w, c, i) : -1;
        int at = anchors + team_before_flag(partner >= 0);
        anchors += team_total_flag(partner >= 0);
        if (partner < 0) continue;
        work_anchor_rank(w)[c.rung + at] = i;
        work_anchor_partner(w)[c.rung + at] = partner;
    }
    TEAM_SYNC;
    return anchors;
}

// Without anchors: the closest pair of border points.
TEAM_FN void patch_closest(patch_work w, patch_case c, int *p_rank, int *c_rank)
{
    GLOBAL const int *order = work_slot_order(w);
    GLOBAL int *partners = work_closest(w) + c.rung;
    GLOBAL double *squares = work_closest_square(w) + c.rung;
    double least = 1e300;
    TEAM_EACH (i, 0, c.p_count) {
        double best = 1e300;
        for (int k = 0; k < c.c_count; k++) {
            pvec gap =
                pvec_minus(patch_end(w, order[c.p_first + i]), patch_end(w, order[c.c_first + k]));
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
FN int patch_rung_add(patch_work w, patch_case c, int index, int p_rank, int c_rank, int kind,
                      double along, int span)
{
    work_rung_p(w)[c.rung + index] = p_rank;
    work_rung_c(w)[c.rung + index] = c_rank;
    work_rung_kind(w)[c.rung + index] = kind;
    work_rung_span(w)[c.rung + index] = span;
    work_rung_along(w)[c.rung + index] = along;
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
// added. Places on the loop go from `along` over `turn` places.
FN int patch_zip(patch_work w, patch_case c, int index, int p_rank, int p_steps, int c_rank,
                 int c_steps, double along, double turn, int kind)
{
    GLOBAL const double *p_gaps = work_slot_gap(w) + c.p_first;
    GLOBAL const double *c_gaps = work_slot_gap(w) + c.c_first;
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
    work_span_way(w)[c.rung + span] = pvec_make(along, turn, both + 1e-300);
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
        index = patch_rung_add(w, c, index, p.rank, q.rank, kind, p.at + q.at, span);
    }
    return index;
}

FN double patch_slot_place(patch_work w, patch_case c, int p_rank)
{
    double along = work_slot_along(w)[work_slot_order(w)[c.p_first + p_rank]];
    return along < 0.0 ? 0.0 : along;
}

// Parent's and child's end of the front meet half way. On a loop that is tilted about the inner
// direction they lie off the bend axis, the child's has turned past the parent's, and without this
// the patch would cross itself there.
FN void patch_join_ends(patch_work w, patch_case c, int p, int q)
{
    GLOBAL const patch_joint *j = work_joint(w) + c.joint;
    pvec middle = pvec_mix(patch_end(w, p), patch_end(w, q), 0.5);
    pvec centre = body_joint_centre(w)[c.joint];
    pvec back = pvec_turned_back(j->turn, pvec_minus(middle, j->offset));
    work_slot_placed(w)[p] = middle;
    work_slot_placed(w)[q] = middle;
    work_slot_point(w)[p] = pvec_plus(middle, centre);
    work_slot_point(w)[q] = pvec_plus(back, centre);
}

// The rung from the parent's end of a front to the child's: one vertex if they are near.
FN int patch_rung_end(patch_work w, patch_case c, int index, int p_rank, int c_rank, double along)
{
    int p = work_slot_order(w)[c.p_first + p_rank];
    int q = work_slot_order(w)[c.c_first + c_rank];
    double length = pvec_length(pvec_minus(patch_end(w, p), patch_end(w, q)));
    int near = length < PATCH_WELD_END * c.step;
    if (near) patch_join_ends(w, c, p, q);
    return patch_rung_add(w, c, index, p_rank, c_rank,
                          near ? PATCH_RUNG_WELD : PATCH_RUNG_FRONT_FAN, along, -1);
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
FN int patch_stretch(patch_work w, patch_case c, int index, int p, int p_steps, int q, int c_steps,
                     double along, double turn)
{
    GLOBAL const int *p_loop = work_slot_on_loop(w) + c.p_first;
    GLOBAL const int *c_loop = work_slot_on_loop(w) + c.c_first;
    int p_end = patch_wrapped(p + p_steps, c.p_count),
        c_end = patch_wrapped(q + c_steps, c.c_count);
    int p_head = patch_loop_run(p_loop, c.p_count, p, 1, p_steps - 1);
    int c_head = patch_loop_run(c_loop, c.c_count, q, 1, c_steps - 1);
    int p_tail = patch_loop_run(p_loop, c.p_count, p_end, -1, p_steps - 1);
    int c_tail = patch_loop_run(c_loop, c.c_count, c_end, -1, c_steps - 1);
    int p_rear = p_steps - p_head - p_tail, c_rear = c_steps - c_head - c_tail;
    int whole = w.given->box || p_rear < 2 || c_rear < 2, kind = PATCH_RUNG_REAR;
    if (whole) {
        if (!w.given->box && p_head == p_steps - 1 && c_head == c_steps - 1)
            kind = PATCH_RUNG_FRONT_FAN;
        p_head = c_head = p_tail = c_tail = 0;
        p_rear = p_steps;
        c_rear = c_steps;
    }
    for (int piece = 0; piece < 3; piece++) { // head, rear, tail; the ends of the front in between
        int p_run = piece == 1 ? p_head : p_tail, c_run = piece == 1 ? c_head : c_tail;
        double at = piece == 2 ? along + turn : along;
        if (at >= c.count) at -= c.count;
        if (piece > 0 && p_run + c_run > 0) index = patch_rung_end(w, c, index, p, q, at);
        p_run = piece == 0 ? p_head : piece == 1 ? p_rear : p_tail;
        c_run = piece == 0 ? c_head : piece == 1 ? c_rear : c_tail;
        if (p_run + c_run > 0)
            index = patch_zip(w, c, index, p, p_run, q, c_run, at, piece == 1 ? turn : 0.0,
                              piece == 1 ? kind : PATCH_RUNG_FRONT_FAN);
        p = patch_wrapped(p + p_run, c.p_count);
        q = patch_wrapped(q + c_run, c.c_count);
    }
    return index;
}

// All rungs from the first anchor (or, without one, the closest pair (p0, q0)), zipped in between,
// their ends as ranks. One lane: a walk.
// @return how many
FN int patch_ladder(patch_work w, patch_case c, int p0, int q0, int anchors)
{
    GLOBAL const int *ranks = work_anchor_rank(w) + c.rung;
    GLOBAL const int *partners = work_anchor_partner(w) + c.rung;
    int kind = anchors > 0 ? PATCH_RUNG_FRONT_ARC : PATCH_RUNG_REAR;
    int p = 0, q = 0; // steps from the first anchor
    if (anchors > 0) {
        p0 = ranks[0];
        q0 = partners[0];
    }
    double place = patch_slot_place(w, c, p0), start = place;
    int index = patch_rung_add(w, c, 0, p0, q0, kind, place, -1);
    for (int i = 1; i <= anchors || i == 1; i++) {
        int last = i >= anchors, steps = c.p_count, k = c.c_count;
        double next = start;
        if (!last) {
            steps = ranks[i] - p0;
            k = partners[i] - q0;
            if (k < 0) k += c.c_count;
            if (k <= q) continue; // not in order: no anchor
            next = patch_slot_place(w, c, ranks[i]);
        }
        double turn = next - place;
        if (turn <= 0.0) turn += c.count;
        if (steps - p > 1 || k - q > 1)
            index = patch_stretch(w, c, index, patch_wrapped(p0 + p, c.p_count), steps - p,
                                  patch_wrapped(q0 + q, c.c_count), k - q, place, turn);
        if (!last) index = patch_rung_add(w, c, index, ranks[i], partners[i], kind, next, -1);
        p = steps;
        q = k;
        place = next;
    }
    return index;
}

// Is this slot where the front ends: on the loop, and beside what was removed?
FN int patch_is_end(patch_work w, int slot)
{
    int node = work_slot_node(w)[slot];
    return node < 0 || work_state(w)[node] == PATCH_ZERO;
}

// A rung's place along its stretch becomes one on the loop.
FN void patch_place_rung(patch_work w, patch_case c, int index)
{
    GLOBAL double *along = work_rung_along(w) + c.rung + index;
    int span = work_rung_span(w)[c.rung + index];
    if (span < 0) return;
    pvec way = work_span_way(w)[c.rung + span];
    double place = way.x + way.y * (*along / way.z);
    *along = place >= c.count ? place - c.count : place;
}

// The ends of a rung become slots; anchors that are one point, or the two ends of the front, one
// vertex.
FN void patch_weld_anchor(patch_work w, patch_case c, int index)
{
    GLOBAL int *kind = work_rung_kind(w) + c.rung + index;
    GLOBAL int *p_end = work_rung_p(w) + c.rung + index;
    GLOBAL int *c_end = work_rung_c(w) + c.rung + index;
    int p = work_slot_order(w)[c.p_first + *p_end];
    int q = work_slot_order(w)[c.c_first + *c_end];
    *p_end = p;
    *c_end = q;
    if (*kind != PATCH_RUNG_FRONT_ARC) return;
    double length = pvec_length(pvec_minus(patch_end(w, p), patch_end(w, q)));
    int ends = length < PATCH_WELD_END * c.step && patch_is_end(w, p) && patch_is_end(w, q);
    if (!ends && !(length < PATCH_WELD_ANCHOR * c.step)) return;
    if (ends) patch_join_ends(w, c, p, q);
    *kind = PATCH_RUNG_WELD;
}

// How far apart the ends of a rear rung are, squared. Its curve lies across the bend axis, so the
// less it has of that direction the better it keeps its order among the others.
FN double patch_rung_cost(patch_work w, int p, int q, pvec axis)
{
    pvec gap = pvec_minus(patch_end(w, p), patch_end(w, q));
    double slant = pvec_dot(gap, axis);
    return pvec_dot(gap, gap) + PATCH_SLANT * slant * slant;
}

// A rear rung at which one border stops and the other goes on is a diagonal of the quad between its
// neighbours: the other diagonal takes its place if that is shorter, but not in the front's end,
// which is a fan already.
// @return 1 if it does
FN int patch_flip(patch_work w, patch_case c, int rungs, int index)
{
    GLOBAL int *p = work_rung_p(w) + c.rung, *q = work_rung_c(w) + c.rung;
    GLOBAL double *along = work_rung_along(w) + c.rung;
    GLOBAL const patch_joint *j = work_joint(w) + c.joint;
    int before = index - 1, after = patch_wrapped(index + 1, rungs);
    int p_stops = p[before] == p[index], p_goes = p[index] != p[after];
    int q_stops = q[before] == q[index], q_goes = q[index] != q[after];
    if (work_rung_kind(w)[c.rung + index] != PATCH_RUNG_REAR) return 0;
    if (p_stops == q_stops || p_goes == q_goes || p_stops != p_goes) return 0;
    int x = p_stops ? p[after] : p[before], y = q_stops ? q[after] : q[before];
    if (work_slot_along(w)[x] >= 0.0 || work_slot_along(w)[y] >= 0.0) return 0;
    pvec axis = j->axis;
    if (!(patch_rung_cost(w, x, y, axis) < patch_rung_cost(w, p[index], q[index], axis))) return 0;
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
TEAM_FN void patch_flip_rungs(patch_work w, patch_case c, int rungs TEAM_PARAM)
{
    int idle = 0;
    for (int pass = 0; pass < PATCH_FLIPS && idle < 2; pass++) {
        int flips = 0;
        for (int i = 2 - pass % 2 + 2 * TEAM_LANE; i < rungs; i += 2 * TEAM_LANES)
            flips |= patch_flip(w, c, rungs, i);
        TEAM_SYNC;
        idle = team_any(flips) ? 0 : idle + 1;
    }
}

// A rung of no length becomes one vertex, a short one stays straight.
FN void patch_weld_short(patch_work w, patch_case c, int index)
{
    GLOBAL int *kind = work_rung_kind(w) + c.rung + index;
    int p = work_rung_p(w)[c.rung + index], q = work_rung_c(w)[c.rung + index];
    if (*kind == PATCH_RUNG_WELD) return;
    double length = pvec_length(pvec_minus(patch_end(w, p), patch_end(w, q)));
    if (length < PATCH_WELD * w.given->diagonal)
        *kind = PATCH_RUNG_WELD;
    else if (length < 0.1 * c.step)
        *kind = PATCH_RUNG_LINE;
}

// Does this weld stay? A slot is one with one other at most, so of several that share an end the
// last one counts. Rungs that share an end follow each other.
FN int patch_weld_stays(patch_work w, patch_case c, int rungs, int index)
{
    GLOBAL const int *kind = work_rung_kind(w) + c.rung, *p = work_rung_p(w) + c.rung;
    GLOBAL const int *q = work_rung_c(w) + c.rung;
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
FN void patch_weld_end(patch_work w, patch_case c, int rungs, int index)
{
    GLOBAL int *kind = work_rung_kind(w) + c.rung, *p = work_rung_p(w) + c.rung;
    GLOBAL int *q = work_rung_c(w) + c.rung;
    GLOBAL const int *stays = work_rung_stays(w) + c.rung;
    int before = index == 0 ? rungs - 1 : index - 1, after = patch_wrapped(index + 1, rungs);
    if (stays[index]) {
        work_slot_weld(w)[q[index]] = p[index];
        work_slot_guest(w)[p[index]] = q[index];
    } else if (kind[index] == PATCH_RUNG_WELD ||
               (stays[before] && (p[before] == p[index] || q[before] == q[index])) ||
               (stays[after] && (p[after] == p[index] || q[after] == q[index])))
        kind[index] = PATCH_RUNG_LINE;
}

TEAM_KERNEL(patch_rungs, PATCH_RUNGS_BUFFERS)
{
    TEAM_BEGIN
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(given.joint_count));
    int joint = TEAM_INDEX(given.joint_count), p0 = 0, q0 = 0;
    GLOBAL patch_joint *j = work_joint(w) + joint;
    patch_case c = patch_case_of(w, joint);
    patch_place_borders(w, c);
    patch_measure_border(w, c.p_first, c.p_count);
    patch_measure_border(w, c.c_first, c.c_count);
    int anchors = patch_list_anchors(w, c TEAM_PASS);
    if (anchors == 0) patch_closest(w, c, &p0, &q0);
    if (TEAM_LANE == 0) j->rungs = patch_ladder(w, c, p0, q0, anchors);
    TEAM_SYNC;
    int count = j->rungs;
    TEAM_EACH (i, 0, count) {
        patch_place_rung(w, c, i);
        patch_weld_anchor(w, c, i);
    }
    TEAM_SYNC;
    if (given.fill == PATCH_FILL_KEEP && j->bent) patch_flip_rungs(w, c, count TEAM_PASS);
    TEAM_EACH (i, 0, count) patch_weld_short(w, c, i);
    TEAM_SYNC;
    GLOBAL int *stays = work_rung_stays(w) + c.rung;
    TEAM_EACH (i, 0, count) stays[i] = patch_weld_stays(w, c, count, i);
    TEAM_SYNC;
    TEAM_EACH (i, 0, count) patch_weld_end(w, c, count, i);
    ITEM_END
}

#endif
