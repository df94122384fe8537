/// Item kernels: what a frame removes from each part, and the border that is left at each loop.
///
/// Invariant, for every entry (loop of a part): the removed vertices are connected with the loop,
/// the kept ones with each other, no face has vertices removed by two joints, and the border slots
/// form one closed curve that visits each slot once. A part that cannot have that tries again with
/// less territory; with none (the seventh time) nothing is removed and the border is the loop.
#ifndef CUTIS_KERNEL_PATCHES_CUT_H
#define CUTIS_KERNEL_PATCHES_CUT_H

#include "patches_territory.h"

#define PATCH_TRIES_MAX  6
#define PATCH_SNAP_NEAR  0.25 // a split this near to the end of an edge moves the vertex instead
#define PATCH_SPLIT_EDGE 0.05 // splits keep this distance from the ends
#define PATCH_GIVEN_BACK 0.1  // where an edge without sign change is split

FN int patch_degree(patch_work w, int v)
{
    return body_ring_first(w)[v + 1] - body_ring_first(w)[v];
}

/// One part of one instance while it is cut: what the functions here pass around.
STRUCT(patch_cutting)
{
    int part, first, end, entry_first, entry_end;
};

FN patch_cutting patch_cutting_of(patch_work w, int part)
{
    patch_cutting c;
    c.part = part;
    c.first = body_part_vertex(w)[part];
    c.end = body_part_vertex(w)[part + 1];
    c.entry_first = body_part_entry(w)[part];
    c.entry_end = body_part_entry(w)[part + 1];
    return c;
}

// The vertices of the part, nearest to the loop of an entry first.
FN GLOBAL const int *patch_order(patch_work w, patch_cutting c, int entry)
{
    return body_order(w) + body_entry_at(w)[entry] + c.first;
}

// How many of an entry's vertices, nearest first, a frame looks at: those that can be removed, and
// their neighbours.
FN int patch_reach(patch_work w, patch_cutting c, int entry)
{
    GLOBAL const int *order = patch_order(w, c, entry);
    GLOBAL const double *far = body_far(w) + body_entry_at(w)[entry];
    double most = 1.15 * patch_need(w, entry) + body_part_edge_most(w)[c.part];
    int low = 0, high = c.end - c.first;
    while (low < high) {
        int middle = (low + high) / 2;
        if (far[order[middle]] <= most)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Nothing is removed, and how far each entry looks.
TEAM_FN void patch_cut_begin(patch_work w, patch_cutting c, double fraction)
{
    TEAM_SYNC; // no lane looks at the last try any more
    TEAM_EACH (v, c.first, c.end) {
        work_state(w)[v] = PATCH_KEPT;
        work_owner(w)[v] = -1;
        work_slot(w)[v] = -1;
        work_snap_edge(w)[v] = -1;
    }
    TEAM_EACH (e, c.entry_first, c.entry_end) {
        patch_share(w, c.part, e);
        work_reach(w)[e] = patch_reach(w, c, e);
        work_shrink(w)[e] = fraction > 0.0 ? fraction * patch_territory_most(w, c.part, e) : 0.0;
    }
    TEAM_SYNC;
}

// Where the value of a vertex for an entry stands. Those within its reach are known.
FN GLOBAL double *patch_value_at(patch_work w, int entry, int v)
{
    return work_value(w) + body_entry_at(w)[entry] + v;
}

// Looks around a vertex within an entry's reach: has it neighbours on the other side of the entry's
// border (1), and is it, a candidate, next to a stronger one of another joint (2)? What is removed
// has an owner, what is kept has none.
FN int patch_look(patch_work w, GLOBAL const int *owner, int entry, int v)
{
    int own = owner[v], end = body_ring_first(w)[v + 1], there = 0, weaker = 0;
    if (own >= 0 && own != entry) return 0;
    for (int k = body_ring_first(w)[v]; k < end; k++) {
        int u = body_ring(w)[k], other = owner[u];
        there |= own >= 0 ? other < 0 : other == entry;
        if (own < 0 || other < 0 || other == entry) continue;
        double a = *patch_value_at(w, other, u), b = *patch_value_at(w, entry, v);
        weaker |= a > b || (a == b && u < v);
    }
    return there + 2 * weaker;
}

// The vertices beside the border of each entry, nearest to its loop first: few of many, listed so
// that lanes have the same to do. Candidates next to a stronger one of another joint are marked
// (all look at the same owners, so the order does not matter), and then the lists are not right.
// @return are there any (what this lane has seen)?
TEAM_FN int patch_list_near(patch_work w, patch_cutting c TEAM_PARAM)
{
    GLOBAL const int *owner = work_owner(w);
    int marked = 0;
    for (int e = c.entry_first; e < c.entry_end; e++) {
        GLOBAL const int *order = patch_order(w, c, e);
        GLOBAL int *near = work_near(w) + body_entry_at(w)[e] + c.first;
        int reach = work_reach(w)[e], count = 0;
        for (int from = 0; from < reach; from += TEAM_LANES) {
            int i = from + TEAM_LANE, v = i < reach ? order[i] : c.first;
            int seen = i < reach ? patch_look(w, owner, e, v) : 0, there = seen & 1;
            int at = count + team_before_flag(there);
            if (there) near[at] = v;
            if (seen & 2) work_state(w)[v] = PATCH_ZERO;
            marked |= seen & 2;
            count += team_total_flag(there);
        }
        if (TEAM_LANE == 0) work_near_count(w)[e] = count;
    }
    TEAM_SYNC;
    return marked;
}

// Candidates are given back where they are marked, or if what is connected is still to be found
// (`careful`) kept for now; the others are removed already.
TEAM_FN void patch_settle(patch_work w, patch_cutting c, int careful)
{
    GLOBAL int *state = work_state(w), *owner = work_owner(w);
    TEAM_EACH (v, c.first, c.end) {
        int back = state[v] == PATCH_ZERO;
        if (back) owner[v] = -1;
        if (back || careful) state[v] = PATCH_KEPT;
    }
    TEAM_SYNC;
}

// Is a neighbour of this vertex removed by the same joint? (Without a way out: so the reads do not
// wait for each other.)
FN int patch_touches(patch_work w, int v)
{
    GLOBAL const int *state = work_state(w), *owner = work_owner(w);
    int entry = owner[v], end = body_ring_first(w)[v + 1], touches = 0;
    for (int k = body_ring_first(w)[v]; k < end; k++) {
        int u = body_ring(w)[k];
        touches |= (state[u] == PATCH_REMOVED) & (owner[u] == entry);
    }
    return touches;
}

// Of the candidates those connected with their loop are removed. Nearest first, so that
// one sweep does nearly all.
TEAM_FN void patch_spread(patch_work w, patch_cutting c TEAM_PARAM)
{
    GLOBAL int *state = work_state(w), *owner = work_owner(w);
    for (int e = c.entry_first; e < c.entry_end; e++) {
        int joint = body_entry_joint(w)[e], side = body_entry_side(w)[e];
        TEAM_EACH (i, body_joint_loop(w)[joint], body_joint_loop(w)[joint + 1]) {
            int v = body_loop_vertex(w)[2 * i + side];
            if (owner[v] == e) state[v] = PATCH_REMOVED;
        }
    }
    TEAM_SYNC;
    for (int e = c.entry_first; e < c.entry_end; e++) {
        GLOBAL const int *order = patch_order(w, c, e);
        int reach = work_reach(w)[e], grown = 1;
        while (grown) {
            grown = 0;
            for (int from = 0; from < reach; from += TEAM_LANES) {
                int i = from + TEAM_LANE, v = i < reach ? order[i] : -1, again;
                int open = v >= 0 && owner[v] == e && state[v] == PATCH_KEPT;
                do { // once for one lane; else until these vertices have settled
                    again = open && patch_touches(w, v);
                    if (again) {
                        state[v] = PATCH_REMOVED;
                        open = 0;
                    }
                    grown |= again;
                    TEAM_SYNC;
                } while (TEAM_LANES > 1 && team_any(again));
            }
            grown = team_any(grown);
        }
    }
}

// Candidates that are not connected with their loop are given back.
// @return how many are removed
TEAM_FN int patch_count_removed(patch_work w, patch_cutting c TEAM_PARAM)
{
    int removed = 0;
    TEAM_EACH (v, c.first, c.end) {
        if (work_state(w)[v] == PATCH_REMOVED)
            removed++;
        else
            work_owner(w)[v] = -1;
    }
    TEAM_SYNC;
    return team_total(removed);
}

// The candidates of all entries: owner has them, and state as removed. Those that meet another
// joint's are marked; what lies beside the borders is listed.
// @return 0: there are none, 1: some, 2: some are marked
TEAM_FN int patch_candidates(patch_work w, patch_cutting c TEAM_PARAM)
{
    GLOBAL int *owner = work_owner(w), *state = work_state(w);
    GLOBAL const int *loop_of = body_vertex_loop(w);
    double eps = w.given->eps;
    int some = 0, bent = 0;
    for (int e = c.entry_first; e < c.entry_end; e++) {
        int joint = body_entry_joint(w)[e];
        if (!work_joint(w)[joint].bent) continue;
        GLOBAL const int *order = patch_order(w, c, e);
        double shrink = work_shrink(w)[e];
        bent++;
        TEAM_EACH (i, 0, work_reach(w)[e]) {
            int v = order[i];
            double g = patch_value_of(w, c.part, e, v, shrink);
            *patch_value_at(w, e, v) = g;
            if (!(g > eps) || owner[v] >= 0 || (loop_of[v] >= 0 && loop_of[v] != joint)) continue;
            owner[v] = e;
            state[v] = PATCH_REMOVED;
            some = 1;
        }
        TEAM_SYNC;
    }
    if (!bent || !team_any(some)) return 0;
    int marked = patch_list_near(w, c TEAM_PASS);
    return team_any(marked) ? 2 : 1;
}

// May a vertex that is left over join the removal of an entry? Not if two joints would meet, or it
// lies on another loop.
FN int patch_may_take(patch_work w, int v, int entry)
{
    GLOBAL const int *state = work_state(w), *owner = work_owner(w);
    int loop = body_vertex_loop(w)[v];
    if (loop >= 0 && loop != body_entry_joint(w)[entry]) return 0;
    for (int k = body_ring_first(w)[v]; k < body_ring_first(w)[v + 1]; k++) {
        int u = body_ring(w)[k];
        if (state[u] == PATCH_REMOVED && owner[u] != entry) return 0;
    }
    return 1;
}

// The vertex counts as removed by at least eps.
FN void patch_take(patch_work w, int part, int v, int entry)
{
    double eps = w.given->eps;
    double g = patch_value(w, part, entry, v, work_shrink(w)[entry]);
    work_state(w)[v] = PATCH_REMOVED;
    work_owner(w)[v] = entry;
    *patch_value_at(w, entry, v) = g > eps ? g : eps;
}

FN int patch_sees(patch_work w, GLOBAL const int *seen, int v)
{
    int end = body_ring_first(w)[v + 1], sees = 0;
    for (int k = body_ring_first(w)[v]; k < end; k++) sees |= seen[body_ring(w)[k]];
    return sees;
}

// Marks in `seen` which kept vertices are connected with the seed; nearest to it first, so
// that one sweep does nearly all.
// @return how many do not
TEAM_FN int patch_mark_seen(patch_work w, GLOBAL int *seen, patch_cutting c TEAM_PARAM)
{
    GLOBAL const int *state = work_state(w);
    GLOBAL const int *order = body_seed_order(w) + c.first;
    int seed = body_part_seed(w)[c.part], count = c.end - c.first, grown = 1, left = 1;
    TEAM_EACH (v, c.first, c.end) seen[v] = v == seed;
    TEAM_SYNC;
    while (grown && left) {
        grown = left = 0;
        for (int from = 0; from < count; from += TEAM_LANES) {
            int i = from + TEAM_LANE, v = i < count ? order[i] : seed, again;
            int open = state[v] != PATCH_REMOVED && !seen[v];
            do { // once for one lane; else until these vertices have settled
                again = open && patch_sees(w, seen, v);
                if (again) {
                    seen[v] = 1;
                    open = 0;
                }
                grown |= again;
                TEAM_SYNC;
            } while (TEAM_LANES > 1 && team_any(again));
            left += open;
        }
        grown = team_any(grown);
        left = team_total(left);
    }
    return left;
}

// What was taken lies wherever: the whole part is looked at from now on.
TEAM_FN void patch_reach_all(patch_work w, patch_cutting c)
{
    for (int e = c.entry_first; e < c.entry_end; e++) {
        GLOBAL const int *order = patch_order(w, c, e);
        TEAM_EACH (i, work_reach(w)[e], c.end - c.first) {
            int v = order[i];
            if (work_state(w)[v] != PATCH_REMOVED)
                *patch_value_at(w, e, v) = patch_value(w, c.part, e, v, work_shrink(w)[e]);
        }
    }
    TEAM_SYNC;
    TEAM_EACH (e, c.entry_first, c.entry_end) work_reach(w)[e] = c.end - c.first;
    TEAM_SYNC;
}

// Kept vertices that are not connected with the seed are removed too.
// @return removed vertices now, or -1 if that is not possible
TEAM_FN int patch_flood(patch_work w, patch_cutting c, int removed TEAM_PARAM)
{
    GLOBAL int *state = work_state(w), *owner = work_owner(w);
    GLOBAL int *seen = work_seen(w);
    GLOBAL const int *ring = body_ring(w), *ring_first = body_ring_first(w);
    if (state[body_part_seed(w)[c.part]] != PATCH_KEPT) return -1;
    int left = patch_mark_seen(w, seen, c TEAM_PASS), taken = 1, bad = 0;
    if (left == 0) return removed;
    if (10 * left > c.end - c.first) return -1;
    while (taken && !bad) {
        taken = 0;
        TEAM_EACH (v, c.first, c.end) {
            if (state[v] == PATCH_REMOVED || seen[v]) continue;
            int entry = -1;
            for (int k = ring_first[v]; k < ring_first[v + 1]; k++)
                if (state[ring[k]] == PATCH_REMOVED) entry = owner[ring[k]];
            if (entry < 0) continue;
            if (patch_may_take(w, v, entry)) {
                patch_take(w, c.part, v, entry);
                taken++;
            } else {
                bad = 1;
            }
        }
        TEAM_SYNC;
        bad = team_any(bad);
        taken = team_total(taken);
        removed += taken;
    }
    // Two lanes may have let two joints meet.
    TEAM_EACH (v, c.first, c.end)
        if (state[v] == PATCH_REMOVED && !patch_may_take(w, v, owner[v])) bad = 1;
    if (team_any(bad)) return -1;
    patch_reach_all(w, c);
    return removed;
}

// Box removal drops faces whole. A kept vertex without a face, or whose faces meet in it
// alone, goes too. One lane: what goes depends on what went before.
// @return removed vertices now, or -1
PATCH_FN int patch_unpinch(patch_work w, patch_cutting c)
{
    GLOBAL int *state = work_state(w), *owner = work_owner(w), *queue = work_pinched(w);
    GLOBAL const int *ring = body_ring(w), *ring_first = body_ring_first(w);
    int first = c.first, removed = 0;
    for (int v = c.first; v < c.end; v++)
        if (state[v] == PATCH_REMOVED) queue[first + removed++] = v;
    for (int i = 0; i < removed; i++) {
        int v = queue[first + i];
        for (int k = ring_first[v]; k < ring_first[v + 1]; k++) {
            int u = ring[k], runs = 0, degree = patch_degree(w, u), last = 0;
            if (state[u] == PATCH_REMOVED) continue;
            int closed = body_vertex_loop(w)[u] < 0, faces = closed ? degree : degree - 1;
            for (int f = 0; f < faces; f++) {
                int a = ring[ring_first[u] + f], b = ring[ring_first[u] + (f + 1) % degree];
                int whole = state[a] != PATCH_REMOVED && state[b] != PATCH_REMOVED;
                runs += whole && !last;
                last = whole;
                if (f == faces - 1 && closed && runs > 1 && whole) {
                    a = ring[ring_first[u]], b = ring[ring_first[u] + 1];
                    runs -= state[a] != PATCH_REMOVED && state[b] != PATCH_REMOVED;
                }
            }
            if (runs == 1) continue;
            if (!patch_may_take(w, u, owner[v])) return -1;
            patch_take(w, c.part, u, owner[v]);
            queue[first + removed++] = u;
            i = -1; // rings around it have changed: look again from the first
            break;
        }
    }
    return removed;
}

// Where the border crosses an edge: from the kept end 0 to the removed end 1, by their values.
FN double patch_crossing_of(double low, double high, double eps)
{
    if (low > eps) return PATCH_GIVEN_BACK;
    return low < 0.0 ? -low / (high - low) : 0.0;
}
FN double patch_crossing(patch_work w, int kept, int removed)
{
    int entry = work_owner(w)[removed];
    return patch_crossing_of(*patch_value_at(w, entry, kept), *patch_value_at(w, entry, removed),
                             w.given->eps);
}

FN int patch_on_one_loop(patch_work w, int a, int b)
{
    GLOBAL const int *loop = body_vertex_loop(w), *place = body_vertex_place(w);
    if (loop[a] < 0 || loop[a] != loop[b]) return 0;
    int count = body_joint_loop(w)[loop[a] + 1] - body_joint_loop(w)[loop[a]];
    int step = (place[a] - place[b] + count) % count;
    return step == 1 || step == count - 1;
}

// Does `a` move rather than its neighbour `b`? Vertices of a loop first, then the shorter way.
FN int patch_moves_first(patch_work w, GLOBAL const double *snap, int a, int b)
{
    int on_a = body_vertex_loop(w)[a] >= 0, on_b = body_vertex_loop(w)[b] >= 0;
    if (on_a != on_b) return on_a;
    return snap[a] != snap[b] ? snap[a] < snap[b] : a < b;
}

// The edge a vertex would be moved along: the one where the border is nearest, and near enough.
// Vertices of a loop only along the loop. -1: none, or the vertex may not become a point of the
// border: its removed neighbours must be one run, of one joint.
FN int patch_offer(patch_work w, int v)
{
    GLOBAL const int *owner = work_owner(w), *ring = body_ring(w);
    int own = owner[v], loop = body_vertex_loop(w)[v], best = -1, changes = 0, mixed = 0;
    int first = body_ring_first(w)[v], end = body_ring_first(w)[v + 1];
    int last = owner[ring[end - 1]] >= 0, entry = own;
    double least = PATCH_SNAP_NEAR, eps = w.given->eps;
    // No way out of the loop before its end, so that lanes wait for memory together.
    for (int k = first; k < end; k++) {
        int u = ring[k], other = owner[u], edge = body_ring_edge(w)[k];
        int removed = other >= 0, crosses = (own >= 0) != removed;
        changes += removed != last && (loop < 0 || k > first);
        mixed |= removed && entry >= 0 && other != entry;
        entry = removed ? other : entry;
        last = removed;
        GLOBAL const double *values = patch_value_at(w, !crosses ? 0 : removed ? other : own, 0);
        double mine = crosses ? values[v] : 0.0, its = crosses ? values[u] : 0.0;
        double t = patch_crossing_of(removed ? mine : its, removed ? its : mine, eps);
        double near = removed ? t : 1.0 - t;
        int nearer = crosses && (near < least || (best >= 0 && near == least && edge < best));
        if (nearer && (loop < 0 || patch_on_one_loop(w, v, u))) {
            least = near;
            best = edge;
        }
    }
    if (best < 0 || mixed || changes != (loop < 0 ? 2 : 1)) return -1;
    work_snap(w)[v] = least;
    return best;
}

// A moved vertex belongs to the joint that removed its neighbours.
FN void patch_move(patch_work w, int v)
{
    GLOBAL int *state = work_state(w), *owner = work_owner(w);
    if (state[v] == PATCH_KEPT)
        for (int k = body_ring_first(w)[v]; k < body_ring_first(w)[v + 1]; k++) {
            int u = body_ring(w)[k];
            if (state[u] == PATCH_REMOVED) owner[v] = owner[u];
        }
    state[v] = PATCH_ZERO;
}

// Vertices that the border passes near are moved onto it; no two neighbours. snap_edge then has the
// edge, snap how far from the vertex. A vertex may be near the borders of several entries: all of
// them find the same.
TEAM_FN void patch_snap(patch_work w, patch_cutting c)
{
    GLOBAL int *snap_edge = work_snap_edge(w), *moved = work_snapped(w);
    GLOBAL const double *snap = work_snap(w);
    GLOBAL const int *ring = body_ring(w), *ring_first = body_ring_first(w);
    // Decided by the offers alone, then done: the order does not matter.
    for (int pass = 0; pass < 3; pass++) {
        for (int e = c.entry_first; e < c.entry_end; e++) {
            GLOBAL const int *near = work_near(w) + body_entry_at(w)[e] + c.first;
            TEAM_EACH (i, 0, work_near_count(w)[e]) {
                int v = near[i], moves = 1;
                if (pass == 0) {
                    snap_edge[v] = patch_offer(w, v);
                } else if (pass == 1) {
                    moves = snap_edge[v] >= 0;
                    for (int k = ring_first[v]; k < ring_first[v + 1] && moves; k++)
                        if (snap_edge[ring[k]] >= 0 && !patch_moves_first(w, snap, v, ring[k]))
                            moves = 0;
                    moved[v] = moves;
                } else if (moved[v]) {
                    patch_move(w, v);
                } else {
                    snap_edge[v] = -1;
                }
            }
        }
        TEAM_SYNC;
    }
}

#endif
