/// Item kernels: counts, their sums, and the mesh of the frame. After patches_solve.h.
///
/// Vertices of a frame: what is left of the parts (block by block), then per joint its split points
/// and samples. Triangles: what is left of the parts' faces, then per joint its strips. Every
/// place comes from sums over counts, so nothing depends on who writes first.
#ifndef CUTIS_KERNEL_PATCHES_EMIT_H
#define CUTIS_KERNEL_PATCHES_EMIT_H

FN int patch_is_out(PATCH_BODY S, GLOBAL const int *I, int v)
{
    int slot = I[S[PATCH_SLOT] + v];
    return I[S[PATCH_STATE] + v] != PATCH_REMOVED && (slot < 0 || I[S[PATCH_SLOT_WELD] + slot] < 0);
}

FN int patch_faces_left(PATCH_BODY S, GLOBAL const int *I, int face)
{
    int corner = patch_first_removed(S, I, face);
    if (corner < 0) return 1;
    if (S[PATCH_BOX]) return 0;
    GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * face;
    return (I[S[PATCH_STATE] + v[(corner + 1) % 3]] == PATCH_KEPT) +
           (I[S[PATCH_STATE] + v[(corner + 2) % 3]] == PATCH_KEPT);
}

// Blocks of vertices, then blocks of faces.
OLD_ITEM_KERNEL patch_count(PATCH_BODY_ARGS, GLOBAL int *int_work, ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int vertex_blocks =
        (S[PATCH_VERTEX_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int face_blocks = (S[PATCH_FACE_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int blocks = vertex_blocks + face_blocks, block = item % blocks, sum = 0;
    GLOBAL int *I = int_work + (INDEX)(item / blocks) * S[PATCH_INT_STRIDE];
    GLOBAL int *out = I + S[PATCH_BLOCK_VERTEX] + block;
    if (block < vertex_blocks) {
        int end = (block + 1) * PATCH_BLOCK;
        if (end > S[PATCH_VERTEX_COUNT]) end = S[PATCH_VERTEX_COUNT];
        TEAM_EACH (v, block * PATCH_BLOCK, end) sum += patch_is_out(S, I, v);
    } else {
        block -= vertex_blocks;
        int end = (block + 1) * PATCH_BLOCK;
        if (end > S[PATCH_FACE_COUNT]) end = S[PATCH_FACE_COUNT];
        TEAM_EACH (f, block * PATCH_BLOCK, end) sum += patch_faces_left(S, I, f);
        out = I + S[PATCH_BLOCK_FACE] + block;
    }
    sum = team_total(sum);
    if (TEAM_LANE == 0) *out = sum;
    ITEM_END
}

// Counts become places.
// @return their sum and `from`
TEAM_FN int patch_sum_blocks(GLOBAL int *counts, int count, int sum TEAM_PARAM)
{
    for (int from = 0; from < count; from += TEAM_LANES) {
        int i = from + TEAM_LANE, own = i < count ? counts[i] : 0;
        int before = sum + team_before(own);
        if (i < count) counts[i] = before;
        sum += team_total(own);
    }
    return sum;
}

// counts: per instance vertices and triangles.
OLD_ITEM_KERNEL patch_sum(PATCH_BODY_ARGS, GLOBAL int *int_work, GLOBAL int *counts, ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int vertex_blocks =
        (S[PATCH_VERTEX_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int face_blocks = (S[PATCH_FACE_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    GLOBAL int *I = int_work + (INDEX)item * S[PATCH_INT_STRIDE];
    int vertices = patch_sum_blocks(I + S[PATCH_BLOCK_VERTEX], vertex_blocks, 0 TEAM_PASS);
    int faces = patch_sum_blocks(I + S[PATCH_BLOCK_FACE], face_blocks, 0 TEAM_PASS);
    for (int from = 0; from < S[PATCH_JOINT_COUNT]; from += TEAM_LANES) {
        int j = from + TEAM_LANE, there = j < S[PATCH_JOINT_COUNT];
        GLOBAL int *joint = I + S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * (there ? j : 0);
        int own = there ? joint[PATCH_J_SPLITS_OUT] + joint[PATCH_J_POINTS] : 0;
        int own_faces = there ? joint[PATCH_J_FACES] : 0;
        int at = vertices + team_before(own), face = faces + team_before(own_faces);
        if (there) {
            joint[PATCH_J_VERTEX_OUT] = at;
            joint[PATCH_J_FACE_OUT] = face;
        }
        vertices += team_total(own);
        faces += team_total(own_faces);
    }
    if (TEAM_LANE == 0) {
        counts[2 * item] = vertices;
        counts[2 * item + 1] = faces;
    }
    ITEM_END
}

FN void patch_store(GLOBAL float *out, INDEX at, pvec v)
{
    out[3 * at] = (float)v.x;
    out[3 * at + 1] = (float)v.y;
    out[3 * at + 2] = (float)v.z;
}

// A direction by a part's matrix.
FN pvec patch_rotated(GLOBAL const double *m, pvec n)
{
    return pvec_make(m[0] * n.x + m[1] * n.y + m[2] * n.z, m[4] * n.x + m[5] * n.y + m[6] * n.z,
                     m[8] * n.x + m[9] * n.y + m[10] * n.z);
}
FN double patch_inverse_scale(GLOBAL const double *m)
{
    double scale = ROOT(m[0] * m[0] + m[4] * m[4] + m[8] * m[8]);
    return scale > 1e-150 ? 1.0 / scale : 0.0;
}
FN pvec patch_direction(GLOBAL const double *m, pvec n)
{
    return pvec_unit(patch_rotated(m, n));
}

// What is left of the parts, moved.
OLD_ITEM_KERNEL patch_vertices(PATCH_BODY_ARGS, GLOBAL const double *RESTRICT G,
                               GLOBAL int *int_work, GLOBAL const double *work,
                               GLOBAL const int *counts, GLOBAL float *positions,
                               GLOBAL float *normals, int vertex_room, int face_room, ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int blocks =
        (S[PATCH_VERTEX_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int instance = item / blocks, block = item % blocks, last = -1;
    GLOBAL int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL const double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    int out = I[S[PATCH_BLOCK_VERTEX] + block], end = (block + 1) * PATCH_BLOCK;
    if (end > S[PATCH_VERTEX_COUNT]) end = S[PATCH_VERTEX_COUNT];
    int fits = counts[2 * instance] <= vertex_room && counts[2 * instance + 1] <= face_room;
    double shrink = 1.0; // parts are rigid up to one scale: normals stay unit but for that
    for (int from = block * PATCH_BLOCK; from < end && fits; from += TEAM_LANES) {
        int v = from + TEAM_LANE, there = v < end && patch_is_out(S, I, v);
        int place = out + team_before_flag(there);
        out += team_total_flag(there);
        if (v < end && !there)
            I[S[PATCH_VERTEX_OUT] + v] =
                I[S[PATCH_STATE] + v] == PATCH_REMOVED ? -1 : -2 - I[S[PATCH_SLOT] + v];
        if (!there) continue;
        int part = FIELD(S, PATCH_VERTEX_PART)[v];
        GLOBAL const double *m = D + S[PATCH_MATRIX] + 12 * part;
        if (part != last) shrink = patch_inverse_scale(m);
        last = part;
        pvec x = I[S[PATCH_STATE] + v] == PATCH_ZERO
                     ? pvec_at(D + S[PATCH_SLOT_POINT], I[S[PATCH_SLOT] + v])
                     : pvec_at(REALS(S, G, PATCH_POINTS), v);
        INDEX at = (INDEX)instance * vertex_room + place;
        patch_store(positions, at, pvec_moved(m, x));
        if (normals)
            patch_store(
                normals, at,
                pvec_times(patch_rotated(m, pvec_at(REALS(S, G, PATCH_NORMALS), v)), shrink));
        I[S[PATCH_VERTEX_OUT] + v] = place;
        int slot = I[S[PATCH_SLOT] + v];
        if (slot < 0) continue;
        int guest = I[S[PATCH_SLOT_GUEST] + slot];
        I[S[PATCH_SLOT_OUT] + slot] = place;
        if (guest >= 0) I[S[PATCH_SLOT_OUT] + guest] = place;
    }
    ITEM_END
}

// Output vertex of a slot; of the parent's where both became one.
FN int patch_slot_vertex_out(PATCH_BODY S, GLOBAL const int *I, int slot)
{
    int out = I[S[PATCH_SLOT_OUT] + slot], joint = FIELD(S, PATCH_SLOT_JOINT)[slot];
    if (out >= 0) return out;
    return I[S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * joint + PATCH_J_VERTEX_OUT] - 1 - out;
}

// Output vertex of what VERTEX_OUT says.
FN int patch_resolve(PATCH_BODY S, GLOBAL const int *I, int out)
{
    return out >= -1 ? out : patch_slot_vertex_out(S, I, -2 - out);
}
FN int patch_vertex_out(PATCH_BODY S, GLOBAL const int *I, int v)
{
    return patch_resolve(S, I, I[S[PATCH_VERTEX_OUT] + v]);
}

FN void patch_put_face(GLOBAL int *indices, GLOBAL int *labels, INDEX at, int a, int b, int c,
                       int label)
{
    indices[3 * at] = a;
    indices[3 * at + 1] = b;
    indices[3 * at + 2] = c;
    if (labels) labels[at] = label;
}

// What is left of a face that was cut, at most two triangles.
FN void patch_put_cut_face(PATCH_BODY S, GLOBAL const int *I, int f, int corner,
                           GLOBAL int *indices, GLOBAL int *labels, INDEX at, int label)
{
    GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * f, *state = I + S[PATCH_STATE];
    GLOBAL const int *edge = FIELD(S, PATCH_FACE_EDGES) + 3 * f;
    int a = v[(corner + 1) % 3], b = v[(corner + 2) % 3], ab = edge[(corner + 1) % 3];
    int from = state[b] == PATCH_REMOVED ? I[S[PATCH_EDGE_SLOT] + ab]
                                         : patch_slot_towards(S, I, b, edge[(corner + 2) % 3]);
    int to = state[a] == PATCH_REMOVED ? I[S[PATCH_EDGE_SLOT] + ab]
                                       : patch_slot_towards(S, I, a, edge[corner]);
    int p = patch_slot_vertex_out(S, I, to);
    int q = patch_slot_vertex_out(S, I, from);
    if (state[a] == PATCH_KEPT && state[b] == PATCH_KEPT) {
        int x = patch_vertex_out(S, I, a), y = patch_vertex_out(S, I, b);
        patch_put_face(indices, labels, at, p, x, y, label);
        patch_put_face(indices, labels, at + 1, p, y, q, label);
    } else {
        int x = patch_vertex_out(S, I, state[a] == PATCH_KEPT ? a : b);
        patch_put_face(indices, labels, at, p, x, q, label);
    }
}

// The faces that are left. Those that the border touches are listed first and done at the end, so
// that lanes have the same to do: face and place of their triangles, from the block's first.
OLD_ITEM_KERNEL patch_faces(PATCH_BODY_ARGS, GLOBAL int *int_work, GLOBAL const int *counts,
                            GLOBAL int *indices, GLOBAL int *labels, int vertex_room, int face_room,
                            ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int blocks =
        (S[PATCH_FACE_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int instance = item / blocks, block = item % blocks;
    int start = block * PATCH_BLOCK, end = start + PATCH_BLOCK;
    GLOBAL int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL int *list = I + S[PATCH_FACE_LIST] + start;
    GLOBAL const int *outs = I + S[PATCH_VERTEX_OUT];
    INDEX base = (INDEX)instance * face_room + I[S[PATCH_BLOCK_FACE] + block];
    int out = 0, listed = 0;
    if (end > S[PATCH_FACE_COUNT]) end = S[PATCH_FACE_COUNT];
    if (counts[2 * instance] > vertex_room || counts[2 * instance + 1] > face_room) end = start;
    for (int from = start; from < end; from += TEAM_LANES) {
        int f = from + TEAM_LANE < end ? from + TEAM_LANE : end - 1, there = from + TEAM_LANE < end;
        GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * f;
        int x = outs[v[0]], y = outs[v[1]], z = outs[v[2]], plain = x >= 0 && y >= 0 && z >= 0;
        int left = !there                                     ? 0
                   : plain || (x != -1 && y != -1 && z != -1) ? 1
                                                              : patch_faces_left(S, I, f);
        int at = out + team_before_flag(left > 0) + team_before_flag(left > 1);
        int touched = left > 0 && !plain, place = listed + team_before_flag(touched);
        out += team_total_flag(left > 0) + team_total_flag(left > 1);
        listed += team_total_flag(touched);
        if (touched)
            list[place] = (f - start) * 2 * PATCH_BLOCK + at;
        else if (left > 0)
            patch_put_face(indices, labels, base + at, x, y, z, FIELD(S, PATCH_VERTEX_PART)[v[0]]);
    }
    TEAM_SYNC;
    TEAM_EACH (i, 0, listed) {
        int f = start + list[i] / (2 * PATCH_BLOCK), corner = patch_first_removed(S, I, f);
        INDEX at = base + list[i] % (2 * PATCH_BLOCK);
        GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * f;
        int label = FIELD(S, PATCH_VERTEX_PART)[v[0]];
        if (corner >= 0)
            patch_put_cut_face(S, I, f, corner, indices, labels, at, label);
        else
            patch_put_face(indices, labels, at, patch_vertex_out(S, I, v[0]),
                           patch_vertex_out(S, I, v[1]), patch_vertex_out(S, I, v[2]), label);
    }
    ITEM_END
}

// Normals of the rest faces that a border point still touches, weighted by area.
PATCH_FN pvec patch_kept_normals(PATCH_BODY S, GLOBAL const double *G, GLOBAL const int *I,
                                 int node)
{
    pvec sum = pvec_make(0, 0, 0);
    GLOBAL const int *ring = FIELD(S, PATCH_RING), *first = FIELD(S, PATCH_RING_FIRST);
    GLOBAL const double *points = REALS(S, G, PATCH_POINTS);
    if (node < 0) return pvec_at(REALS(S, G, PATCH_EDGE_NORMAL), -1 - node);
    int begin = first[node], degree = first[node + 1] - begin;
    int faces = FIELD(S, PATCH_VERTEX_LOOP)[node] < 0 ? degree : degree - 1;
    pvec x = pvec_at(points, node), a = pvec_minus(pvec_at(points, ring[begin]), x);
    int a_kept = I[S[PATCH_STATE] + ring[begin]] == PATCH_KEPT;
    for (int k = 1; k <= faces; k++) {
        int v = ring[begin + (k == degree ? 0 : k)];
        int b_kept = I[S[PATCH_STATE] + v] == PATCH_KEPT;
        pvec b = pvec_minus(pvec_at(points, v), x);
        if (a_kept || b_kept) sum = pvec_plus(sum, pvec_cross(a, b));
        a = b;
        a_kept = b_kept;
    }
    return sum;
}

/// Where the triangles of a strip go.
STRUCT(patch_target)
{
    GLOBAL int *indices;
    GLOBAL int *labels;
    INDEX at;
    int sample_out, label;
};

// What a strip has summed at a point of a rung: at its ends, or at a sample. The strips before and
// after a rung each have a place.
FN void patch_put_sum(PATCH_BODY S, GLOBAL double *D, patch_case c, patch_rail t, int at,
                      int before, pvec sum)
{
    if (at == 0)
        pvec_put(D + S[PATCH_RUNG_SUM], 4 * t.rung + before, sum);
    else if (at == t.last)
        pvec_put(D + S[PATCH_RUNG_SUM], 4 * t.rung + 2 + before, sum);
    else
        pvec_put(D + S[PATCH_SAMPLE_SUM], 2 * (c.point + t.first + at - 1) + before, sum);
}

// Output vertex of a point of a rung, of which those of its ends are known.
FN int patch_rail_out(patch_rail t, int at, int start_out, int end_out, int sample_out)
{
    return at == 0 ? start_out : at < t.last ? sample_out + t.first + at - 1 : end_out;
}

// The triangles of the strip after a rung, and their normals summed at its points.
FN void patch_put_strip(PATCH_BODY S, GLOBAL const int *I, GLOBAL double *D, patch_case c,
                        patch_strip s, patch_target out, int normals)
{
    patch_rail p = patch_rail_of(S, I, s.a_rung), q = patch_rail_of(S, I, s.b_rung);
    int p_start = patch_slot_vertex_out(S, I, p.start), p_end = patch_slot_vertex_out(S, I, p.end);
    int q_start = patch_slot_vertex_out(S, I, q.start), q_end = patch_slot_vertex_out(S, I, q.end);
    int a_id = p.start, b_id = q.start, a_out = p_start, b_out = q_start;
    pvec none = pvec_make(0, 0, 0), a_sum = none, b_sum = none;
    pvec a = patch_end(S, D, p.start), b = patch_end(S, D, q.start);
    for (int turn; (turn = patch_strip_turn(s)) != 0;) {
        int first = turn == 1, at = first ? s.a + 1 : s.b + 1;
        int id = first ? patch_rail_id(p, at) : patch_rail_id(q, at);
        int to = first ? patch_rail_out(p, at, p_start, p_end, out.sample_out)
                       : patch_rail_out(q, at, q_start, q_end, out.sample_out);
        pvec x = patch_point_at(S, I, D, c, first ? p.rung : q.rung, at, first ? p.last : q.last);
        pvec n = none;
        if (a_id != b_id && b_id != id && id != a_id) {
            n = pvec_cross(pvec_minus(b, a), pvec_minus(x, a));
            patch_put_face(out.indices, out.labels, out.at++, a_out, b_out, to, out.label);
        }
        a_sum = pvec_plus(a_sum, n);
        b_sum = pvec_plus(b_sum, n);
        if (normals && first) patch_put_sum(S, D, c, p, s.a, 0, a_sum);
        if (normals && !first) patch_put_sum(S, D, c, q, s.b, 1, b_sum);
        if (first) {
            s.a++;
            a = x, a_sum = n, a_id = id, a_out = to;
        } else {
            s.b++;
            b = x, b_sum = n, b_id = id, b_out = to;
        }
    }
    if (!normals) return;
    patch_put_sum(S, D, c, p, s.a, 0, a_sum);
    patch_put_sum(S, D, c, q, s.b, 1, b_sum);
    if (p.last == 0) pvec_put(D + S[PATCH_RUNG_SUM], 4 * p.rung + 2, none); // a weld has one point
    if (q.last == 0) pvec_put(D + S[PATCH_RUNG_SUM], 4 * q.rung + 3, none);
}

// A rung: the strip after it, and whether it is the first of its slots.
FN void patch_put_rung(PATCH_BODY S, GLOBAL int *I, GLOBAL double *D, patch_case c, int rungs,
                       int index, patch_target out, int normals)
{
    int before = c.rung + (index == 0 ? rungs - 1 : index - 1), rung = c.rung + index;
    int p = I[S[PATCH_RUNG_P] + rung], q = I[S[PATCH_RUNG_C] + rung];
    out.at += I[S[PATCH_RUNG_FACE] + rung];
    if (I[S[PATCH_RUNG_P] + before] != p) I[S[PATCH_SLOT_RUNG] + p] = index;
    if (I[S[PATCH_RUNG_C] + before] != q) I[S[PATCH_SLOT_RUNG] + q] = index;
    patch_put_strip(S, I, D, c, patch_strip_of(S, I, c, rungs, index), out, normals);
}

// What the rungs of a slot have summed at it. They follow each other.
FN pvec patch_slot_sum(PATCH_BODY S, GLOBAL const int *I, GLOBAL const double *D, patch_case c,
                       int rungs, int slot, int child)
{
    GLOBAL const int *ends = I + (child ? S[PATCH_RUNG_C] : S[PATCH_RUNG_P]) + c.rung;
    pvec sum = pvec_make(0, 0, 0);
    int i = I[S[PATCH_SLOT_RUNG] + slot];
    while (ends[i] == slot) {
        GLOBAL const double *sums = D + S[PATCH_RUNG_SUM] + 12 * (c.rung + i) + 6 * child;
        sum = pvec_plus(sum, pvec_plus(pvec_at(sums, 1), pvec_at(sums, 0)));
        i = i + 1 == rungs ? 0 : i + 1;
    }
    return sum;
}

// Normal of a border point: the patch, and the faces that are left there.
PATCH_FN pvec patch_slot_normal(PATCH_BODY S, GLOBAL const double *G, GLOBAL const int *I,
                                GLOBAL const double *D, patch_case c, int rungs, int slot,
                                int child)
{
    GLOBAL const double *turn =
        D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint + PATCH_J_TURN;
    int guest = child ? -1 : I[S[PATCH_SLOT_GUEST] + slot];
    pvec kept = patch_kept_normals(S, G, I, I[S[PATCH_SLOT_NODE] + slot]);
    pvec sum = patch_slot_sum(S, I, D, c, rungs, slot, child);
    sum = pvec_plus(sum, child ? pvec_turned(turn, kept) : kept);
    if (guest < 0) return sum;
    kept = patch_kept_normals(S, G, I, I[S[PATCH_SLOT_NODE] + guest]);
    sum = pvec_plus(sum, patch_slot_sum(S, I, D, c, rungs, guest, 1));
    return pvec_plus(sum, pvec_turned(turn, kept));
}

TEAM_FN void patch_put_slots(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const int *I,
                             GLOBAL const double *D, patch_case c, int rungs, int child,
                             GLOBAL float *positions, GLOBAL float *normals, INDEX base)
{
    GLOBAL const int *parts = FIELD(S, PATCH_JOINT_PART) + 2 * c.joint;
    GLOBAL const double *parent = D + S[PATCH_MATRIX] + 12 * parts[0];
    GLOBAL const double *matrix = D + S[PATCH_MATRIX] + 12 * parts[child];
    int first = child ? c.c_first : c.p_first, count = child ? c.c_count : c.p_count;
    TEAM_EACH (i, first, first + count) {
        if (I[S[PATCH_SLOT_WELD] + i] >= 0) continue;
        INDEX at = base + patch_slot_vertex_out(S, I, i);
        if (I[S[PATCH_SLOT_NODE] + i] < 0)
            patch_store(positions, at, pvec_moved(matrix, pvec_at(D + S[PATCH_SLOT_POINT], i)));
        if (!normals) continue;
        pvec n = patch_slot_normal(S, G, I, D, c, rungs, i, child);
        if (pvec_dot(n, n) > 0.0) patch_store(normals, at, patch_direction(parent, n));
    }
}

TEAM_FN void patch_put_samples(PATCH_BODY S, GLOBAL const double *RESTRICT G,
                               GLOBAL const double *D, patch_case c, int count,
                               GLOBAL float *positions, GLOBAL float *normals, INDEX base)
{
    GLOBAL const double *parent =
        D + S[PATCH_MATRIX] + 12 * FIELD(S, PATCH_JOINT_PART)[2 * c.joint];
    pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), c.joint);
    TEAM_EACH (i, 0, count) {
        pvec x = pvec_plus(pvec_at(D + S[PATCH_SAMPLE], c.point + i), centre);
        patch_store(positions, base + i, pvec_moved(parent, x));
        if (!normals) continue;
        GLOBAL const double *sums = D + S[PATCH_SAMPLE_SUM] + 6 * (c.point + i);
        patch_store(normals, base + i,
                    patch_direction(parent, pvec_plus(pvec_at(sums, 1), pvec_at(sums, 0))));
    }
}

OLD_ITEM_KERNEL patch_strips(PATCH_BODY_ARGS, GLOBAL const double *RESTRICT G, GLOBAL int *int_work,
                             GLOBAL double *work, GLOBAL const int *counts, GLOBAL float *positions,
                             GLOBAL float *normals, GLOBAL int *indices, GLOBAL int *labels,
                             int vertex_room, int face_room, ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int joint_count = S[PATCH_JOINT_COUNT],
                                             instance = TEAM_INSTANCE(joint_count);
    int joint = TEAM_INDEX(joint_count);
    GLOBAL int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    GLOBAL const int *ints = I + S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * joint;
    int fits = counts[2 * instance] <= vertex_room && counts[2 * instance + 1] <= face_room;
    // A joint at rest is welded whole: nothing to draw, and its normals are those of the file.
    if (fits && (ints[PATCH_J_FACES] > 0 || ints[PATCH_J_SPLITS_OUT] > 0)) {
        patch_case c = patch_case_of(S, G, I, joint);
        int rungs = ints[PATCH_J_RUNGS];
        int sample_out = ints[PATCH_J_VERTEX_OUT] + ints[PATCH_J_SPLITS_OUT];
        INDEX base = (INDEX)instance * vertex_room;
        patch_target out;
        out.indices = indices;
        out.labels = labels;
        out.at = (INDEX)instance * face_room + ints[PATCH_J_FACE_OUT];
        out.sample_out = sample_out;
        out.label = S[PATCH_PART_COUNT] + joint;
        TEAM_EACH (i, 0, rungs) patch_put_rung(S, I, D, c, rungs, i, out, normals != 0);
        TEAM_SYNC;
        patch_put_slots(S, G, I, D, c, rungs, 0, positions, normals, base);
        patch_put_slots(S, G, I, D, c, rungs, 1, positions, normals, base);
        patch_put_samples(S, G, D, c, ints[PATCH_J_POINTS], positions, normals, base + sample_out);
    }
    ITEM_END
}

#endif
