/// Item kernels: rungs between the two borders of a joint, their curves, and the volume they
/// enclose. After patches_border.h.
///
/// Borders are zipped: both are walked once around, anchors (places of the loop that both still
/// have) in step, in between by their own arc length. Every state of the walk is a rung from a slot
/// of the parent to one of the child; strips between consecutive rungs then close the joint by
/// construction. Positions are in the parent's rest space, from the joint's centre.
#ifndef CUTIS_KERNEL_PATCHES_RUNG_H
#define CUTIS_KERNEL_PATCHES_RUNG_H

#define PATCH_WELD        1e-9 // of the diagonal: a shorter rung is one vertex
#define PATCH_WELD_ANCHOR 0.02 // of a step: the same for anchors, which have one partner only
#define PATCH_WELD_END    1.0  // of a step: the same for the ends of the front
#define PATCH_SAME_PLACE  1e-9 // parameters of both borders
#define PATCH_ARC_STEPS   8    // of the table of arc lengths
#define PATCH_WEIGHT_MIN  0.1
#define PATCH_WEIGHT_MAX  30.0
#define PATCH_LEFT_OVER   1e-5 // of the cut volume: less is not worth flattening the front for

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

// Rungs of one stretch: from anchor (p, q) over p_steps and c_steps to the next, which is not
// added. Places on the loop go from `along` over `turn` places.
PATCH_FN int patch_zip(GLOBAL const int *S, GLOBAL int *I, GLOBAL double *D, patch_case c,
                       int index, int p, int p_steps, int q, int c_steps, double along, double turn)
{
    if (p_steps == 1 && c_steps == 1) return index; // from anchor to anchor
    double p_length = 0.0, c_length = 0.0, p_at = 0.0, c_at = 0.0;
    for (int i = 0; i < p_steps; i++) p_length += patch_gap_at(S, D, c.p_first, c.p_count, p + i);
    for (int i = 0; i < c_steps; i++) c_length += patch_gap_at(S, D, c.c_first, c.c_count, q + i);
    if (!(p_length > 0.0)) p_length = 1.0;
    if (!(c_length > 0.0)) c_length = 1.0;
    int i = 0, k = 0;
    while (i < p_steps || k < c_steps) {
        double p_next = 2.0, c_next = 2.0;
        if (i < p_steps)
            p_next = i == p_steps - 1
                         ? 1.0
                         : p_at + patch_gap_at(S, D, c.p_first, c.p_count, p + i) / p_length;
        if (k < c_steps)
            c_next = k == c_steps - 1
                         ? 1.0
                         : c_at + patch_gap_at(S, D, c.c_first, c.c_count, q + k) / c_length;
        if (p_next < c_next + PATCH_SAME_PLACE && i < p_steps) {
            i++;
            p_at = p_next;
            if (c_next < p_next + PATCH_SAME_PLACE && k < c_steps) {
                k++;
                c_at = c_next;
            }
        } else {
            k++;
            c_at = c_next;
        }
        if (i == p_steps && k == c_steps) break;
        double mean = 0.5 * (p_at + c_at), place = along + turn * mean;
        if (place >= c.count) place -= c.count;
        index = patch_rung_add(S, I, D, c, index, p + i, q + k, PATCH_RUNG_CONIC, place);
    }
    return index;
}

FN double patch_slot_place(GLOBAL const int *S, GLOBAL const int *I, GLOBAL const double *D,
                           patch_case c, int p_rank)
{
    double along = D[S[PATCH_SLOT_ALONG] + I[S[PATCH_SLOT_ORDER] + c.p_first + p_rank % c.p_count]];
    return along < 0.0 ? 0.0 : along;
}

// All rungs from the first anchor (or, without one, the closest pair), zipped in between. One lane:
// a walk.
// @return how many
PATCH_FN int patch_ladder(GLOBAL const int *S, GLOBAL int *I, GLOBAL double *D, patch_case c,
                          int p0, int q0, int kind)
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
        index = patch_zip(S, I, D, c, index, p0 + p, i - p, q0 + q, k - q, place, turn);
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

// Welds are done; of several that share an end the last one counts. A rung beside a weld, with
// which it shares an end, is a border edge and stays straight.
FN void patch_weld_end(GLOBAL const int *RESTRICT S, GLOBAL int *I, patch_case c, int rungs,
                       int index)
{
    GLOBAL int *kind = I + S[PATCH_RUNG_KIND] + c.rung, *p = I + S[PATCH_RUNG_P] + c.rung;
    GLOBAL int *q = I + S[PATCH_RUNG_C] + c.rung;
    int before = (index + rungs - 1) % rungs, after = (index + 1) % rungs, last = rungs - 1;
    if (kind[index] != PATCH_RUNG_WELD) {
        if (kind[before] == PATCH_RUNG_WELD && (p[before] == p[index] || q[before] == q[index]))
            kind[index] = PATCH_RUNG_LINE;
        if (kind[after] == PATCH_RUNG_WELD && (p[after] == p[index] || q[after] == q[index]))
            kind[index] = PATCH_RUNG_LINE;
        return;
    }
    int p_last = index == last || !((p[after] == p[index] && kind[after] == PATCH_RUNG_WELD) ||
                                    (p[last] == p[index] && kind[last] == PATCH_RUNG_WELD));
    int q_last = index == last || !((q[after] == q[index] && kind[after] == PATCH_RUNG_WELD) ||
                                    (q[last] == q[index] && kind[last] == PATCH_RUNG_WELD));
    if (q_last) I[S[PATCH_SLOT_WELD] + q[index]] = p[index];
    if (p_last) I[S[PATCH_SLOT_GUEST] + p[index]] = q[index];
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
    if (TEAM_LANE == 0) *rungs = patch_ladder(S, I, D, c, p0, q0, kind);
    TEAM_SYNC;
    int count = *rungs;
    TEAM_EACH (i, 0, count) patch_weld_anchor(S, G, I, D, c, i);
    TEAM_SYNC;
    TEAM_EACH (i, 0, count) patch_weld_short(S, G, I, D, c, i);
    TEAM_SYNC;
    TEAM_EACH (i, 0, count) patch_weld_end(S, I, c, count, i);
    ITEM_END
}

/// One rung's curve: ends, control point and weight of a conic (from the parent's end).
STRUCT(patch_curve)
{
    pvec p, c, k;
    double w;
};

// Where the joint's loop is at a place, half way between the two parts.
PATCH_FN pvec patch_between(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const double *D,
                            patch_case c, double place)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    GLOBAL const int *loop = FIELD(S, PATCH_LOOP_VERTEX);
    GLOBAL const double *points = REALS(S, G, PATCH_POINTS);
    pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), c.joint);
    int first = FIELD(S, PATCH_JOINT_LOOP)[c.joint], i = (int)place;
    double t = place - i;
    pvec a = pvec_mix(pvec_at(points, loop[2 * (first + i % c.count)]),
                      pvec_at(points, loop[2 * (first + (i + 1) % c.count)]), t);
    pvec b = pvec_mix(pvec_at(points, loop[2 * (first + (i + c.shift) % c.count) + 1]),
                      pvec_at(points, loop[2 * (first + (i + 1 + c.shift) % c.count) + 1]), t);
    b = pvec_plus(pvec_turned(r + PATCH_J_TURN, pvec_minus(b, centre)),
                  pvec_at(r + PATCH_J_OFFSET, 0));
    return pvec_mix(pvec_minus(a, centre), b, 0.5);
}

// Where the lines a + s u and b + t v meet, both projected into the plane of a, b and m. `at` is
// where they would if they were parallel or met beyond m.
PATCH_FN pvec patch_meeting(pvec a, pvec u, pvec b, pvec v, pvec m)
{
    pvec middle = pvec_mix(a, b, 0.5), fallback = pvec_mix(middle, m, 0.5);
    pvec ab = pvec_minus(b, a), n = pvec_unit(pvec_cross(ab, pvec_minus(m, a)));
    u = pvec_minus(u, pvec_times(n, pvec_dot(u, n)));
    v = pvec_minus(v, pvec_times(n, pvec_dot(v, n)));
    double d = pvec_dot(n, pvec_cross(u, v));
    if (!(d * d > 1e-12 * pvec_dot(u, u) * pvec_dot(v, v))) return fallback;
    pvec x = pvec_plus(a, pvec_times(u, pvec_dot(n, pvec_cross(ab, v)) / d));
    pvec up = pvec_minus(m, middle), at = pvec_minus(x, middle);
    double height = pvec_dot(at, up);
    if (height <= 0.0 || pvec_dot(at, at) > pvec_dot(up, up)) return fallback;
    return x;
}

// Control point and weight of a rear rung (docs/design/patches.md has the five ways).
PATCH_FN patch_curve patch_curve_of(GLOBAL const int *S, GLOBAL const double *G,
                                    GLOBAL const int *I, GLOBAL const double *D, patch_case c,
                                    int index)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    patch_curve curve;
    curve.p = patch_end(S, D, I[S[PATCH_RUNG_P] + c.rung + index]);
    curve.c = patch_end(S, D, I[S[PATCH_RUNG_C] + c.rung + index]);
    curve.w = r[PATCH_J_WEIGHT];
    pvec middle = pvec_mix(curve.p, curve.c, 0.5);
    int fill = S[PATCH_FILL];
    if (fill == PATCH_FILL_KEEP) {
        double height =
            0.5 * pvec_length(pvec_minus(curve.c, curve.p)) * r[PATCH_J_TAN] * r[PATCH_J_DEPTH];
        curve.k = pvec_plus(middle, pvec_times(pvec_at(r + PATCH_J_CORNER, 0), height));
        return curve;
    }
    GLOBAL const int *parts = FIELD(S, PATCH_JOINT_PART) + 2 * c.joint;
    pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), c.joint);
    pvec u = pvec_minus(centre, pvec_at(REALS(S, G, PATCH_CENTROID), parts[0]));
    pvec v = pvec_turned(r + PATCH_J_TURN,
                         pvec_minus(centre, pvec_at(REALS(S, G, PATCH_CENTROID), parts[1])));
    pvec m = patch_between(S, G, D, c, D[S[PATCH_RUNG_ALONG] + c.rung + index]);
    pvec x = patch_meeting(curve.p, u, curve.c, v, m), mean = pvec_mix(m, x, 0.5), s;
    s = fill == PATCH_FILL_MEAN ? mean : fill == PATCH_FILL_BETWEEN ? m : x;
    curve.k = fill == PATCH_FILL_REDUCED   ? mean
              : fill == PATCH_FILL_BETWEEN ? pvec_minus(pvec_times(m, 2.0), mean)
                                           : m;
    double w = patch_weight_through(curve.p, curve.k, curve.c, s).w;
    curve.w = w < 0.2 ? (w > 0.0 ? 0.2 : 0.0) : w > 5.0 ? 5.0 : w;
    return curve;
}

// Length of a conic, by chords.
PATCH_FN double patch_conic_length(patch_curve v)
{
    double length = 0.0;
    pvec last = v.p;
    for (int i = 1; i <= PATCH_ARC_STEPS; i++) {
        pvec x = patch_conic(v.p, v.k, v.c, v.w, i / (double)PATCH_ARC_STEPS);
        length += pvec_length(pvec_minus(x, last));
        last = x;
    }
    return length;
}

// Samples of a conic at equal lengths along those chords.
PATCH_FN void patch_sample_conic(GLOBAL double *out, int first, int count, patch_curve v)
{
    double pieces[PATCH_ARC_STEPS], length = 0.0, past = 0.0, t = 0.0;
    pvec last = v.p;
    int made = 0;
    for (int i = 0; i < PATCH_ARC_STEPS; i++) {
        pvec x = patch_conic(v.p, v.k, v.c, v.w, (i + 1) / (double)PATCH_ARC_STEPS);
        pieces[i] = pvec_length(pvec_minus(x, last));
        length += pieces[i];
        last = x;
    }
    for (int i = 0; i < PATCH_ARC_STEPS && made < count; i++) {
        double next = (i + 1) / (double)PATCH_ARC_STEPS, piece = pieces[i];
        while (made < count) {
            double wanted = length * (made + 1) / (count + 1);
            if (wanted > past + piece && i < PATCH_ARC_STEPS - 1) break;
            double f = piece > 0.0 ? (wanted - past) / piece : 0.0;
            f = f < 0.0 ? 0.0 : f > 1.0 ? 1.0 : f;
            pvec_put(out, first + made++, patch_conic(v.p, v.k, v.c, v.w, t + f * (next - t)));
        }
        past += piece;
        t = next;
    }
}

PATCH_FN void patch_sample_arc(GLOBAL const double *r, GLOBAL double *out, int first, int count,
                               pvec p, pvec q)
{
    pquat s = pquat_make(r[PATCH_J_SWING], r[PATCH_J_SWING + 1], r[PATCH_J_SWING + 2],
                         r[PATCH_J_SWING + 3]);
    pvec offset = pvec_at(r + PATCH_J_OFFSET, 0);
    pvec back = pquat_turned(pquat_make(s.w, -s.x, -s.y, -s.z), pvec_minus(q, offset));
    for (int i = 0; i < count; i++) {
        double t = (i + 1) / (double)(count + 1);
        pvec arc = pvec_plus(patch_arc(p, back, s, t), pvec_times(offset, t));
        pvec_put(out, first + i, pvec_mix(arc, pvec_mix(p, q, t), r[PATCH_J_FLAT]));
    }
}

// Inner samples a curve of this length wants.
FN int patch_sample_count(double length, double step, int most)
{
    double wanted = length / step;
    int count = 0;
    while (count < most && count + 1 < wanted) count++;
    return count;
}

FN double patch_arc_length(GLOBAL const double *r, pvec p, pvec c)
{
    pvec axis =
        pvec_unit(pvec_make(r[PATCH_J_SWING + 1], r[PATCH_J_SWING + 2], r[PATCH_J_SWING + 3]));
    pvec across = pvec_minus(p, pvec_times(axis, pvec_dot(axis, p)));
    double around = r[PATCH_J_ANGLE] * pvec_length(across), chord = pvec_length(pvec_minus(c, p));
    return around > chord ? around : chord;
}

// Samples of one rung, by the present weight.
FN int patch_rung_samples(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                          GLOBAL const int *I, GLOBAL const double *D, patch_case c, int index,
                          int most, int front_only)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    int kind = I[S[PATCH_RUNG_KIND] + c.rung + index], count = 0;
    if (kind == PATCH_RUNG_ARC) {
        pvec p = patch_end(S, D, I[S[PATCH_RUNG_P] + c.rung + index]);
        pvec q = patch_end(S, D, I[S[PATCH_RUNG_C] + c.rung + index]);
        // A pure twist adds no vertices (the paper's rule): its rungs are straight.
        if (r[PATCH_J_ANGLE] >= PATCH_BEND_MIN)
            count = patch_sample_count(patch_arc_length(r, p, q), c.step, most);
    } else if (kind == PATCH_RUNG_CONIC && !front_only) {
        patch_curve v = patch_curve_of(S, G, I, D, c, index);
        count = patch_sample_count(patch_conic_length(v), c.step, most);
        if (count > 0 && count < most) count |= 1; // its middle is where it turns most
    }
    return count;
}

// How many samples each rung gets, and where they lie.
TEAM_FN int patch_count_samples(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                                GLOBAL int *I, GLOBAL const double *D, patch_case c, int rungs,
                                int front_only TEAM_PARAM)
{
    int room = FIELD(S, PATCH_JOINT_POINT)[c.joint + 1] - c.point, total = 0;
    int most = room / rungs < S[PATCH_CURVE_MAX] ? room / rungs : S[PATCH_CURVE_MAX];
    for (int from = 0; from < rungs; from += TEAM_LANES) {
        int i = from + TEAM_LANE;
        int count = i < rungs ? patch_rung_samples(S, G, I, D, c, i, most, front_only) : 0;
        int first = total + team_before(count);
        if (i < rungs) {
            I[S[PATCH_RUNG_COUNT] + c.rung + i] = count;
            I[S[PATCH_RUNG_FIRST] + c.rung + i] = first;
        }
        total += team_total(count);
    }
    TEAM_SYNC;
    return total;
}

enum patch_sampling { PATCH_SAMPLE_ALL, PATCH_SAMPLE_REAR, PATCH_SAMPLE_FRONT };

TEAM_FN void patch_place_samples(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                                 GLOBAL const int *I, GLOBAL double *D, patch_case c, int rungs,
                                 int which)
{
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    GLOBAL double *out = D + S[PATCH_SAMPLE];
    TEAM_EACH (i, 0, rungs) {
        int count = I[S[PATCH_RUNG_COUNT] + c.rung + i], kind = I[S[PATCH_RUNG_KIND] + c.rung + i];
        int first = c.point + I[S[PATCH_RUNG_FIRST] + c.rung + i];
        if (count == 0) continue;
        if (kind == PATCH_RUNG_CONIC && which != PATCH_SAMPLE_FRONT) {
            patch_sample_conic(out, first, count, patch_curve_of(S, G, I, D, c, i));
        } else if (kind == PATCH_RUNG_ARC && which != PATCH_SAMPLE_REAR) {
            pvec p = patch_end(S, D, I[S[PATCH_RUNG_P] + c.rung + i]);
            pvec q = patch_end(S, D, I[S[PATCH_RUNG_C] + c.rung + i]);
            patch_sample_arc(r, out, first, count, p, q);
        }
    }
    TEAM_SYNC;
}

/// A walk along a strip between two rungs, a and b. Points of a rung are counted from the parent's
/// end: 0, its samples, the child's end (a weld has one point only).
STRUCT(patch_strip)
{
    int a_rung, b_rung, a_last, b_last, a, b;
    int one_start, one_end; ///< both rungs begin, or end, in the same point
};

/// How rear rungs are drawn while their weight is looked for: as they are, as chords (w = 0), as
/// the two legs over their control points (w infinite).
enum patch_drawing { PATCH_DRAW_CURVES, PATCH_DRAW_CHORDS, PATCH_DRAW_CORNERS };

FN int patch_rung_last(GLOBAL const int *S, GLOBAL const int *I, int rung, int drawing)
{
    int kind = I[S[PATCH_RUNG_KIND] + rung], count = I[S[PATCH_RUNG_COUNT] + rung];
    if (kind == PATCH_RUNG_WELD) return 0;
    if (kind == PATCH_RUNG_CONIC && drawing != PATCH_DRAW_CURVES)
        count = drawing == PATCH_DRAW_CORNERS;
    return count + 1;
}

FN patch_strip patch_strip_of(GLOBAL const int *S, GLOBAL const int *I, patch_case c, int rungs,
                              int index, int drawing)
{
    patch_strip s;
    s.a_rung = c.rung + index;
    s.b_rung = c.rung + (index + 1 == rungs ? 0 : index + 1);
    s.a_last = patch_rung_last(S, I, s.a_rung, drawing);
    s.b_last = patch_rung_last(S, I, s.b_rung, drawing);
    s.a = s.b = 0;
    s.one_start = I[S[PATCH_RUNG_P] + s.a_rung] == I[S[PATCH_RUNG_P] + s.b_rung];
    s.one_end = I[S[PATCH_RUNG_C] + s.a_rung] == I[S[PATCH_RUNG_C] + s.b_rung];
    return s;
}

// Who advances next, giving the triangle (a, b, its next point): 1 a, 2 b, 0 the strip has ended.
// From a common point both leave together, and reach one together: else a rung with more samples
// than both of its neighbours would have its second one joined to that point by both strips.
FN int patch_strip_turn(patch_strip s)
{
    if (s.a >= s.a_last) return s.b >= s.b_last ? 0 : 2;
    if (s.b >= s.b_last) return 1;
    if (s.one_start && s.a + s.b == 1) return s.a == 0 ? 1 : 2;
    if (s.one_end && (s.a == s.a_last - 1) != (s.b == s.b_last - 1))
        return s.a == s.a_last - 1 ? 2 : 1;
    return (s.b + 1) * s.a_last < (s.a + 1) * s.b_last ? 2 : 1;
}

// Which point it is: its slot (of the parent, where both became one), or -1 - its sample.
FN int patch_point_id(GLOBAL const int *S, GLOBAL const int *I, int rung, int at, int last)
{
    if (at == 0) return I[S[PATCH_RUNG_P] + rung];
    if (at < last) return -1 - (I[S[PATCH_RUNG_FIRST] + rung] + at - 1);
    int slot = I[S[PATCH_RUNG_C] + rung], weld = I[S[PATCH_SLOT_WELD] + slot];
    return weld >= 0 ? weld : slot;
}

FN pvec patch_point_at(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *I,
                       GLOBAL const double *D, patch_case c, int rung, int at, int last,
                       int drawing)
{
    if (at == 0) return patch_end(S, D, I[S[PATCH_RUNG_P] + rung]);
    if (at == last) return patch_end(S, D, I[S[PATCH_RUNG_C] + rung]);
    if (drawing == PATCH_DRAW_CORNERS && I[S[PATCH_RUNG_KIND] + rung] == PATCH_RUNG_CONIC)
        return patch_curve_of(S, G, I, D, c, rung - c.rung).k;
    return pvec_at(D + S[PATCH_SAMPLE], c.point + I[S[PATCH_RUNG_FIRST] + rung] + at - 1);
}

// Six times the volume of a strip over the joint's centre.
PATCH_FN double patch_strip_volume(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *I,
                                   GLOBAL const double *D, patch_case c, patch_strip s, int drawing)
{
    double sum = 0.0;
    pvec a = patch_point_at(S, G, I, D, c, s.a_rung, 0, s.a_last, drawing);
    pvec b = patch_point_at(S, G, I, D, c, s.b_rung, 0, s.b_last, drawing);
    for (int turn; (turn = patch_strip_turn(s)) != 0;) {
        if (turn == 1) {
            pvec x = patch_point_at(S, G, I, D, c, s.a_rung, ++s.a, s.a_last, drawing);
            sum += pvec_det(a, b, x);
            a = x;
        } else {
            pvec x = patch_point_at(S, G, I, D, c, s.b_rung, ++s.b, s.b_last, drawing);
            sum += pvec_det(a, b, x);
            b = x;
        }
    }
    return sum;
}

/// Strips whose volume is summed: all, those that have conics, those that have none.
enum patch_strips_kind { PATCH_STRIPS_ALL, PATCH_STRIPS_REAR, PATCH_STRIPS_FRONT };

// Volume of the patch, or of its rear or front, over the joint's centre.
TEAM_FN double patch_volume(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                            GLOBAL const int *I, GLOBAL double *D, patch_case c, int rungs,
                            int drawing, int which)
{
    GLOBAL double *sums = D + S[PATCH_JOINT_SUM] + TEAM_PARTS * c.joint;
    GLOBAL const int *kind = I + S[PATCH_RUNG_KIND];
    double total = 0.0;
    TEAM_EACH (k, 0, TEAM_PARTS) {
        double sum = 0.0;
        for (int i = k; i < rungs; i += TEAM_PARTS) {
            patch_strip s = patch_strip_of(S, I, c, rungs, i, drawing);
            int rear = kind[s.a_rung] == PATCH_RUNG_CONIC || kind[s.b_rung] == PATCH_RUNG_CONIC;
            if (which == PATCH_STRIPS_ALL || rear == (which == PATCH_STRIPS_REAR))
                sum += patch_strip_volume(S, G, I, D, c, s, drawing);
        }
        sums[k] = sum;
    }
    TEAM_SYNC;
    for (int k = 0; k < TEAM_PARTS; k++) total += sums[k];
    TEAM_SYNC;
    return total / 6.0;
}

#endif
