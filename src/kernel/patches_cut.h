/// Item kernels: what a frame removes from each part, and the border that is left at each loop.
/// After patches_room.h.
///
/// Invariant, for every entry (loop of a part): the removed vertices hang together with the loop,
/// the kept ones with each other, no face has vertices removed by two joints, and the border slots
/// form one closed curve that visits each slot once. A part that cannot have that tries again with
/// less territory; with none (the seventh time) nothing is removed and the border is the loop.
#ifndef CUTIS_KERNEL_PATCHES_CUT_H
#define CUTIS_KERNEL_PATCHES_CUT_H

#define PATCH_TRIES_MAX  6
#define PATCH_SNAP_NEAR  0.25 // a split this near to the end of an edge moves the vertex instead
#define PATCH_SPLIT_EDGE 0.05 // splits keep this distance from the ends
#define PATCH_GIVEN_BACK 0.1  // where an edge without sign change is split

ITEM_KERNEL patch_clear(GLOBAL const int *S, GLOBAL int *int_work, ITEM_ARGS)
{
    ITEM_BEGIN
    int blocks = (S[PATCH_VERTEX_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int first = item % blocks * PATCH_BLOCK, end = first + PATCH_BLOCK;
    GLOBAL int *I = int_work + (INDEX)(item / blocks) * S[PATCH_INT_STRIDE];
    if (end > S[PATCH_VERTEX_COUNT]) end = S[PATCH_VERTEX_COUNT];
    for (int v = first; v < end; v++) {
        I[S[PATCH_STATE] + v] = PATCH_KEPT;
        I[S[PATCH_OWNER] + v] = -1;
        I[S[PATCH_SLOT] + v] = -1;
    }
    ITEM_END
}

FN int patch_degree(GLOBAL const int *S, int v)
{
    return FIELD(S, PATCH_RING_FIRST)[v + 1] - FIELD(S, PATCH_RING_FIRST)[v];
}

// Candidates of all entries, those that meet another joint's given back, then what hangs together
// with the loop is removed. The queue then holds the removed vertices.
// @return how many
PATCH_FN int patch_remove(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *I,
                          GLOBAL double *D, int part, double fraction)
{
    GLOBAL int *state = I + S[PATCH_STATE], *owner = I + S[PATCH_OWNER],
               *queue = I + S[PATCH_QUEUE];
    GLOBAL double *value = D + S[PATCH_VALUE];
    GLOBAL const int *ring = FIELD(S, PATCH_RING), *ring_first = FIELD(S, PATCH_RING_FIRST);
    GLOBAL const int *loop_of = FIELD(S, PATCH_VERTEX_LOOP);
    int first = FIELD(S, PATCH_PART_VERTEX)[part], base = first;
    int count = FIELD(S, PATCH_PART_VERTEX)[part + 1] - first, candidates = 0, removed = 0;
    double eps = REALS(S, G, PATCH_SCALARS)[1];
    for (int e = FIELD(S, PATCH_PART_ENTRY)[part]; e < FIELD(S, PATCH_PART_ENTRY)[part + 1]; e++) {
        int joint = FIELD(S, PATCH_ENTRY_JOINT)[e];
        if (!I[S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * joint + PATCH_J_BENT]) continue;
        GLOBAL const int *order = S + FIELD(S, PATCH_ENTRY_ORDER)[e];
        GLOBAL const double *far = G + FIELD(S, PATCH_ENTRY_FAR)[e];
        double need = D[S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * joint + PATCH_J_NEED +
                        FIELD(S, PATCH_ENTRY_SIDE)[e]];
        double shrink = fraction > 0.0 ? fraction * patch_room_most(S, G, D, e) : 0.0;
        for (int i = 0; i < count && far[order[i] - first] <= 1.15 * need; i++) {
            int v = order[i];
            if (owner[v] >= 0 || (loop_of[v] >= 0 && loop_of[v] != joint)) continue;
            double g = patch_value(S, G, D, e, v, shrink);
            if (!(g > eps)) continue;
            value[v] = g;
            owner[v] = e;
            queue[base + candidates++] = v;
        }
    }
    // A candidate next to a stronger one of another joint is given back. All look at the same
    // candidates; state marks them, so that the order does not matter.
    for (int i = 0; i < candidates; i++) {
        int v = queue[base + i];
        for (int k = ring_first[v]; k < ring_first[v + 1]; k++) {
            int u = ring[k];
            if (owner[u] < 0 || owner[u] == owner[v]) continue;
            if (value[u] > value[v] || (value[u] == value[v] && u < v)) state[v] = PATCH_ZERO;
        }
    }
    for (int i = 0; i < candidates; i++) {
        int v = queue[base + i];
        if (state[v] == PATCH_ZERO) owner[v] = -1;
        state[v] = PATCH_KEPT;
    }
    for (int e = FIELD(S, PATCH_PART_ENTRY)[part]; e < FIELD(S, PATCH_PART_ENTRY)[part + 1]; e++) {
        int joint = FIELD(S, PATCH_ENTRY_JOINT)[e], side = FIELD(S, PATCH_ENTRY_SIDE)[e];
        for (int i = FIELD(S, PATCH_JOINT_LOOP)[joint]; i < FIELD(S, PATCH_JOINT_LOOP)[joint + 1];
             i++) {
            int v = FIELD(S, PATCH_LOOP_VERTEX)[2 * i + side];
            if (owner[v] != e || state[v] == PATCH_REMOVED) continue;
            state[v] = PATCH_REMOVED;
            queue[base + removed++] = v;
        }
    }
    for (int i = 0; i < removed; i++) {
        int v = queue[base + i];
        for (int k = ring_first[v]; k < ring_first[v + 1]; k++) {
            int u = ring[k];
            if (owner[u] != owner[v] || state[u] != PATCH_KEPT) continue;
            state[u] = PATCH_REMOVED;
            queue[base + removed++] = u;
        }
    }
    for (int e = FIELD(S, PATCH_PART_ENTRY)[part]; e < FIELD(S, PATCH_PART_ENTRY)[part + 1]; e++) {
        GLOBAL const int *order = S + FIELD(S, PATCH_ENTRY_ORDER)[e];
        GLOBAL const double *far = G + FIELD(S, PATCH_ENTRY_FAR)[e];
        double need =
            D[S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * FIELD(S, PATCH_ENTRY_JOINT)[e] +
              PATCH_J_NEED + FIELD(S, PATCH_ENTRY_SIDE)[e]];
        for (int i = 0; i < count && far[order[i] - first] <= 1.15 * need; i++)
            if (state[order[i]] == PATCH_KEPT) owner[order[i]] = -1;
    }
    return removed;
}

// A vertex that is left over joins the removal around it.
// @return false if two joints would meet, or it lies on another loop
FN int patch_take(GLOBAL const int *S, GLOBAL int *I, int v, int entry)
{
    GLOBAL int *state = I + S[PATCH_STATE], *owner = I + S[PATCH_OWNER];
    int loop = FIELD(S, PATCH_VERTEX_LOOP)[v];
    if (loop >= 0 && loop != FIELD(S, PATCH_ENTRY_JOINT)[entry]) return 0;
    for (int k = FIELD(S, PATCH_RING_FIRST)[v]; k < FIELD(S, PATCH_RING_FIRST)[v + 1]; k++) {
        int u = FIELD(S, PATCH_RING)[k];
        if (state[u] == PATCH_REMOVED && owner[u] != entry) return 0;
    }
    state[v] = PATCH_REMOVED;
    owner[v] = entry;
    return 1;
}

// What of the kept vertices does not hang together with the seed is removed too.
// @return removed vertices now, or -1 if that is not possible
PATCH_FN int patch_flood(GLOBAL const int *S, GLOBAL int *I, int part, int removed)
{
    GLOBAL int *state = I + S[PATCH_STATE], *owner = I + S[PATCH_OWNER],
               *queue = I + S[PATCH_QUEUE];
    GLOBAL int *seen = I + S[PATCH_SNAP_EDGE];
    GLOBAL const int *ring = FIELD(S, PATCH_RING), *ring_first = FIELD(S, PATCH_RING_FIRST);
    int first = FIELD(S, PATCH_PART_VERTEX)[part], end = FIELD(S, PATCH_PART_VERTEX)[part + 1];
    int seed = FIELD(S, PATCH_PART_SEED)[part], kept = 1, base = first + removed;
    if (state[seed] != PATCH_KEPT || removed >= end - first) return -1;
    for (int v = first; v < end; v++) seen[v] = 0;
    seen[seed] = 1;
    queue[base] = seed;
    for (int i = 0; i < kept; i++) {
        int v = queue[base + i];
        for (int k = ring_first[v]; k < ring_first[v + 1]; k++) {
            int u = ring[k];
            if (state[u] == PATCH_REMOVED || seen[u]) continue;
            seen[u] = 1;
            queue[base + kept++] = u;
        }
    }
    int left = end - first - removed - kept;
    if (left == 0) return removed;
    if (10 * left > end - first) return -1;
    for (int i = 0; i < removed; i++) { // the queue grows by what is taken
        int v = queue[first + i];
        for (int k = ring_first[v]; k < ring_first[v + 1]; k++) {
            int u = ring[k];
            if (state[u] == PATCH_REMOVED || seen[u]) continue;
            if (!patch_take(S, I, u, owner[v])) return -1;
            queue[first + removed++] = u;
        }
    }
    return removed;
}

// Box removal drops faces whole. A kept vertex without a face, or whose faces hang together in it
// alone, goes too.
// @return removed vertices now, or -1
PATCH_FN int patch_unpinch(GLOBAL const int *S, GLOBAL int *I, int part, int removed)
{
    GLOBAL int *state = I + S[PATCH_STATE], *owner = I + S[PATCH_OWNER],
               *queue = I + S[PATCH_QUEUE];
    GLOBAL const int *ring = FIELD(S, PATCH_RING), *ring_first = FIELD(S, PATCH_RING_FIRST);
    int first = FIELD(S, PATCH_PART_VERTEX)[part];
    for (int i = 0; i < removed; i++) {
        int v = queue[first + i];
        for (int k = ring_first[v]; k < ring_first[v + 1]; k++) {
            int u = ring[k], runs = 0, degree = patch_degree(S, u), last = 0;
            if (state[u] == PATCH_REMOVED) continue;
            int closed = FIELD(S, PATCH_VERTEX_LOOP)[u] < 0, faces = closed ? degree : degree - 1;
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
            if (!patch_take(S, I, u, owner[v])) return -1;
            queue[first + removed++] = u;
            i = -1; // rings around it have changed: look again from the first
            break;
        }
    }
    return removed;
}

// How often the removed and the kept alternate around a vertex.
FN int patch_changes(GLOBAL const int *S, GLOBAL const int *I, int v)
{
    GLOBAL const int *state = I + S[PATCH_STATE], *ring = FIELD(S, PATCH_RING);
    int first = FIELD(S, PATCH_RING_FIRST)[v], degree = patch_degree(S, v), changes = 0;
    int closed = FIELD(S, PATCH_VERTEX_LOOP)[v] < 0;
    for (int k = 0; k < (closed ? degree : degree - 1); k++) {
        int a = state[ring[first + k]] == PATCH_REMOVED;
        int b = state[ring[first + (k + 1) % degree]] == PATCH_REMOVED;
        changes += a != b;
    }
    return changes;
}

// Where the border crosses an edge: from the kept end 0 to the removed end 1.
PATCH_FN double patch_crossing(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *I,
                               GLOBAL const double *D, int kept, int removed, double fraction)
{
    int entry = I[S[PATCH_OWNER] + removed];
    double shrink = fraction > 0.0 ? fraction * patch_room_most(S, G, D, entry) : 0.0;
    double low = patch_value(S, G, D, entry, kept, shrink), high = D[S[PATCH_VALUE] + removed];
    if (low > REALS(S, G, PATCH_SCALARS)[1]) return PATCH_GIVEN_BACK;
    return low < 0.0 ? -low / (high - low) : 0.0;
}

FN int patch_on_one_loop(GLOBAL const int *S, int a, int b)
{
    GLOBAL const int *loop = FIELD(S, PATCH_VERTEX_LOOP), *place = FIELD(S, PATCH_VERTEX_PLACE);
    if (loop[a] < 0 || loop[a] != loop[b]) return 0;
    int count = FIELD(S, PATCH_JOINT_LOOP)[loop[a] + 1] - FIELD(S, PATCH_JOINT_LOOP)[loop[a]];
    int step = (place[a] - place[b] + count) % count;
    return step == 1 || step == count - 1;
}

// A vertex offers to move along an edge. Vertices of a loop only along the loop.
FN void patch_offer(GLOBAL const int *S, GLOBAL int *I, GLOBAL double *D, int v, int other,
                    int edge, double near)
{
    GLOBAL double *snap = D + S[PATCH_SNAP];
    GLOBAL int *snap_edge = I + S[PATCH_SNAP_EDGE];
    int loop = FIELD(S, PATCH_VERTEX_LOOP)[v];
    if (!(near < PATCH_SNAP_NEAR) || (loop >= 0 && !patch_on_one_loop(S, v, other))) return;
    if (snap_edge[v] >= 0 && (snap[v] < near || (snap[v] == near && snap_edge[v] < edge))) return;
    snap[v] = near;
    snap_edge[v] = edge;
}

// Does `a` move rather than its neighbour `b`? Vertices of a loop first, then the shorter way.
FN int patch_moves_first(GLOBAL const int *S, GLOBAL const double *snap, int a, int b)
{
    int on_a = FIELD(S, PATCH_VERTEX_LOOP)[a] >= 0, on_b = FIELD(S, PATCH_VERTEX_LOOP)[b] >= 0;
    if (on_a != on_b) return on_a;
    return snap[a] != snap[b] ? snap[a] < snap[b] : a < b;
}

// May this vertex become a point of the border? Its removed neighbours must be one run, of one
// joint.
PATCH_FN int patch_may_snap(GLOBAL const int *S, GLOBAL const int *I, int v)
{
    GLOBAL const int *state = I + S[PATCH_STATE], *owner = I + S[PATCH_OWNER];
    int closed = FIELD(S, PATCH_VERTEX_LOOP)[v] < 0;
    int entry = state[v] == PATCH_REMOVED ? owner[v] : -1;
    if (patch_changes(S, I, v) != (closed ? 2 : 1)) return 0;
    for (int k = FIELD(S, PATCH_RING_FIRST)[v]; k < FIELD(S, PATCH_RING_FIRST)[v + 1]; k++) {
        int u = FIELD(S, PATCH_RING)[k];
        if (state[u] != PATCH_REMOVED) continue;
        if (entry >= 0 && owner[u] != entry) return 0;
        entry = owner[u];
    }
    return 1;
}

// Vertices that the border passes near are moved onto it; no two neighbours. SNAP_EDGE then has the
// edge, SNAP how far from the vertex.
// @return vertices in the queue: the removed ones, and kept ones that may have moved
PATCH_FN int patch_snap(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *I,
                        GLOBAL double *D, int part, int removed, double fraction)
{
    GLOBAL int *state = I + S[PATCH_STATE], *owner = I + S[PATCH_OWNER];
    GLOBAL int *snap_edge = I + S[PATCH_SNAP_EDGE], *queue = I + S[PATCH_QUEUE];
    GLOBAL const double *snap = D + S[PATCH_SNAP];
    GLOBAL const int *ring = FIELD(S, PATCH_RING), *ring_first = FIELD(S, PATCH_RING_FIRST);
    int first = FIELD(S, PATCH_PART_VERTEX)[part], end = FIELD(S, PATCH_PART_VERTEX)[part + 1];
    int offers = removed;
    for (int v = first; v < end; v++) snap_edge[v] = -1;
    for (int i = 0; i < removed; i++) {
        int u = queue[first + i];
        for (int k = ring_first[u]; k < ring_first[u + 1]; k++) {
            int v = ring[k], edge = FIELD(S, PATCH_RING_EDGE)[k];
            if (state[v] == PATCH_REMOVED) continue;
            double t = patch_crossing(S, G, I, D, v, u, fraction);
            int fresh = snap_edge[v] < 0;
            patch_offer(S, I, D, v, u, edge, t);
            if (fresh && snap_edge[v] >= 0) queue[first + offers++] = v;
            patch_offer(S, I, D, u, v, edge, 1.0 - t);
        }
    }
    for (int i = 0; i < offers; i++) {
        int v = queue[first + i];
        if (snap_edge[v] >= 0 && !patch_may_snap(S, I, v)) snap_edge[v] = -1;
    }
    // Decided by the offers alone, then done: the order of the queue does not matter.
    for (int i = 0; i < offers; i++) {
        int v = queue[first + i], moves = snap_edge[v] >= 0;
        for (int k = ring_first[v]; k < ring_first[v + 1] && moves; k++)
            if (snap_edge[ring[k]] >= 0 && !patch_moves_first(S, snap, v, ring[k])) moves = 0;
        queue[first + i] = moves ? v : -1 - v;
    }
    for (int i = 0; i < offers; i++) {
        int v = queue[first + i];
        if (v < 0) {
            v = -1 - v;
            snap_edge[v] = -1;
        } else {
            if (state[v] != PATCH_REMOVED)
                for (int k = ring_first[v]; k < ring_first[v + 1]; k++)
                    if (state[ring[k]] == PATCH_REMOVED) owner[v] = owner[ring[k]];
            state[v] = PATCH_ZERO;
        }
        queue[first + i] = v;
    }
    return offers;
}

#endif
