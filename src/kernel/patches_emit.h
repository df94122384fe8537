/// Item kernels: counts, their sums, and the mesh of the frame. After patches_solve.h.
///
/// Vertices of a frame: what is left of the parts (block by block), then per joint its split points
/// and samples. Triangles: what is left of the parts' faces, then per joint its strips. Every
/// place comes from sums over counts, so nothing depends on who writes first.
#ifndef CUTIS_KERNEL_PATCHES_EMIT_H
#define CUTIS_KERNEL_PATCHES_EMIT_H

FN int patch_is_out(GLOBAL const int *S, GLOBAL const int *I, int v)
{
    int slot = I[S[PATCH_SLOT] + v];
    return I[S[PATCH_STATE] + v] != PATCH_REMOVED && (slot < 0 || I[S[PATCH_SLOT_WELD] + slot] < 0);
}

FN int patch_faces_left(GLOBAL const int *S, GLOBAL const int *I, int face)
{
    int corner = patch_first_removed(S, I, face);
    if (corner < 0) return 1;
    if (S[PATCH_BOX]) return 0;
    GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * face;
    return (I[S[PATCH_STATE] + v[(corner + 1) % 3]] == PATCH_KEPT) +
           (I[S[PATCH_STATE] + v[(corner + 2) % 3]] == PATCH_KEPT);
}

// Blocks of vertices, then blocks of faces.
TEAM_KERNEL patch_count(GLOBAL const int *RESTRICT S, GLOBAL int *int_work, ITEM_ARGS)
{
    TEAM_BEGIN
    int vertex_blocks = (S[PATCH_VERTEX_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int face_blocks = (S[PATCH_FACE_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int block = item % (vertex_blocks + face_blocks), sum = 0;
    GLOBAL int *I = int_work + (INDEX)(item / (vertex_blocks + face_blocks)) * S[PATCH_INT_STRIDE];
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
TEAM_KERNEL patch_sum(GLOBAL const int *RESTRICT S, GLOBAL int *int_work, GLOBAL int *counts,
                      ITEM_ARGS)
{
    TEAM_BEGIN
    int vertex_blocks = (S[PATCH_VERTEX_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
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
TEAM_KERNEL patch_vertices(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                           GLOBAL int *int_work, GLOBAL const double *work,
                           GLOBAL const int *counts, GLOBAL float *positions, GLOBAL float *normals,
                           int vertex_room, int face_room, ITEM_ARGS)
{
    TEAM_BEGIN
    int blocks = (S[PATCH_VERTEX_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int instance = item / blocks, block = item % blocks, last = -1;
    GLOBAL int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL const double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    int out = I[S[PATCH_BLOCK_VERTEX] + block], end = (block + 1) * PATCH_BLOCK;
    if (end > S[PATCH_VERTEX_COUNT]) end = S[PATCH_VERTEX_COUNT];
    int fits = counts[2 * instance] <= vertex_room && counts[2 * instance + 1] <= face_room;
    double shrink = 1.0; // parts are rigid up to one scale: normals stay unit but for that
    for (int from = block * PATCH_BLOCK; from < end && fits; from += TEAM_LANES) {
        int v = from + TEAM_LANE, there = v < end && patch_is_out(S, I, v);
        int place = out + team_before(there);
        out += team_total(there);
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
    }
    ITEM_END
}

// Output vertex of a slot; of the parent's where both became one.
FN int patch_slot_vertex_out(GLOBAL const int *S, GLOBAL const int *I, int slot)
{
    int weld = I[S[PATCH_SLOT_WELD] + slot];
    if (weld >= 0) slot = weld;
    int node = I[S[PATCH_SLOT_NODE] + slot];
    if (node >= 0) return I[S[PATCH_VERTEX_OUT] + node];
    int joint = FIELD(S, PATCH_SLOT_JOINT)[slot];
    return I[S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * joint + PATCH_J_VERTEX_OUT] +
           I[S[PATCH_SLOT_OUT] + slot];
}

// Output vertex of what VERTEX_OUT says.
FN int patch_resolve(GLOBAL const int *S, GLOBAL const int *I, int out)
{
    return out >= -1 ? out : patch_slot_vertex_out(S, I, -2 - out);
}
FN int patch_vertex_out(GLOBAL const int *S, GLOBAL const int *I, int v)
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
FN void patch_put_cut_face(GLOBAL const int *RESTRICT S, GLOBAL const int *I, int f, int corner,
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

TEAM_KERNEL patch_faces(GLOBAL const int *RESTRICT S, GLOBAL const int *int_work,
                        GLOBAL const int *counts, GLOBAL int *indices, GLOBAL int *labels,
                        int vertex_room, int face_room, ITEM_ARGS)
{
    TEAM_BEGIN
    int blocks = (S[PATCH_FACE_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int instance = item / blocks, block = item % blocks;
    GLOBAL const int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    int out = I[S[PATCH_BLOCK_FACE] + block], end = (block + 1) * PATCH_BLOCK;
    if (end > S[PATCH_FACE_COUNT]) end = S[PATCH_FACE_COUNT];
    int fits = counts[2 * instance] <= vertex_room && counts[2 * instance + 1] <= face_room;
    for (int from = block * PATCH_BLOCK; from < end && fits; from += TEAM_LANES) {
        int f = from + TEAM_LANE < end ? from + TEAM_LANE : end - 1;
        GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * f, *outs = I + S[PATCH_VERTEX_OUT];
        int x = outs[v[0]], y = outs[v[1]], z = outs[v[2]], whole = x != -1 && y != -1 && z != -1;
        int left = whole ? 1 : patch_faces_left(S, I, f);
        if (from + TEAM_LANE >= end) left = 0;
        INDEX at = (INDEX)instance * face_room + out + team_before(left);
        out += team_total(left);
        if (left == 0) continue;
        int label = FIELD(S, PATCH_VERTEX_PART)[v[0]];
        if (whole)
            patch_put_face(indices, labels, at, patch_resolve(S, I, x), patch_resolve(S, I, y),
                           patch_resolve(S, I, z), label);
        else
            patch_put_cut_face(S, I, f, patch_first_removed(S, I, f), indices, labels, at, label);
    }
    ITEM_END
}

FN void patch_add(GLOBAL double *sum, pvec v)
{
    sum[0] += v.x;
    sum[1] += v.y;
    sum[2] += v.z;
}

FN pvec patch_face_normal(GLOBAL const int *S, GLOBAL const double *G, int face)
{
    GLOBAL const double *points = REALS(S, G, PATCH_POINTS);
    GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * face;
    pvec x = pvec_at(points, v[0]);
    return pvec_cross(pvec_minus(pvec_at(points, v[1]), x), pvec_minus(pvec_at(points, v[2]), x));
}

// Normals of the rest faces that a border point still touches, weighted by area.
PATCH_FN pvec patch_kept_normals(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *I,
                                 int node)
{
    pvec sum = pvec_make(0, 0, 0);
    GLOBAL const int *ring = FIELD(S, PATCH_RING), *first = FIELD(S, PATCH_RING_FIRST);
    GLOBAL const double *points = REALS(S, G, PATCH_POINTS);
    if (node < 0) {
        GLOBAL const int *faces = FIELD(S, PATCH_EDGE_FACES) + 2 * (-1 - node);
        for (int k = 0; k < 2; k++)
            if (faces[k] >= 0) sum = pvec_plus(sum, patch_face_normal(S, G, faces[k]));
        return sum;
    }
    int degree = patch_degree(S, node), closed = FIELD(S, PATCH_VERTEX_LOOP)[node] < 0;
    pvec x = pvec_at(points, node);
    for (int k = 0; k < (closed ? degree : degree - 1); k++) {
        int a = ring[first[node] + k], b = ring[first[node] + (k + 1) % degree];
        if (I[S[PATCH_STATE] + a] != PATCH_KEPT && I[S[PATCH_STATE] + b] != PATCH_KEPT) continue;
        sum = pvec_plus(
            sum, pvec_cross(pvec_minus(pvec_at(points, a), x), pvec_minus(pvec_at(points, b), x)));
    }
    return sum;
}

// One step of a strip: the triangle that `turn` gives, as points of its rungs.
STRUCT(patch_step)
{
    int rung, next, last; ///< of the third point
    int a, b, x;          ///< ids
    int real;             ///< has it three corners?
};

FN patch_step patch_step_of(GLOBAL const int *RESTRICT S, GLOBAL const int *I, patch_strip s,
                            int turn)
{
    patch_step t;
    t.rung = turn == 1 ? s.a_rung : s.b_rung;
    t.last = turn == 1 ? s.a_last : s.b_last;
    t.next = (turn == 1 ? s.a : s.b) + 1;
    t.a = patch_point_id(S, I, s.a_rung, s.a, s.a_last);
    t.b = patch_point_id(S, I, s.b_rung, s.b, s.b_last);
    t.x = patch_point_id(S, I, t.rung, t.next, t.last);
    t.real = t.a != t.b && t.b != t.x && t.x != t.a;
    return t;
}

FN int patch_id_out(GLOBAL const int *RESTRICT S, GLOBAL const int *I, int id, int sample_out)
{
    return id >= 0 ? patch_slot_vertex_out(S, I, id) : sample_out - 1 - id;
}

// Where a rung keeps the sum of a point: its ends', or that of a sample.
FN GLOBAL double *patch_sum_of(GLOBAL const int *RESTRICT S, GLOBAL const int *I, GLOBAL double *D,
                               patch_case c, int rung, int at, int last)
{
    if (at == 0) return D + S[PATCH_RUNG_SUM] + 6 * rung;
    if (at == last) return D + S[PATCH_RUNG_SUM] + 6 * rung + 3;
    return D + S[PATCH_SAMPLE_SUM] + 3 * (c.point + I[S[PATCH_RUNG_FIRST] + rung] + at - 1);
}

/// Where the triangles of a strip go. No indices: nowhere.
STRUCT(patch_target)
{
    GLOBAL int *indices;
    GLOBAL int *labels;
    INDEX at;
    int sample_out, label;
};

// The triangles of a strip, and their normals summed at the points of one of its rungs.
PATCH_FN void patch_put_strip(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *I,
                              GLOBAL double *D, patch_case c, patch_strip s, int second,
                              patch_target out, int normals)
{
    int rung = second ? s.b_rung : s.a_rung, last = second ? s.b_last : s.a_last;
    pvec a = patch_point_at(S, G, I, D, c, s.a_rung, 0, s.a_last, PATCH_DRAW_CURVES);
    pvec b = patch_point_at(S, G, I, D, c, s.b_rung, 0, s.b_last, PATCH_DRAW_CURVES);
    for (int turn; (turn = patch_strip_turn(s)) != 0;) {
        patch_step t = patch_step_of(S, I, s, turn);
        pvec x = patch_point_at(S, G, I, D, c, t.rung, t.next, t.last, PATCH_DRAW_CURVES);
        if (t.real && normals) {
            pvec n = pvec_cross(pvec_minus(b, a), pvec_minus(x, a));
            patch_add(patch_sum_of(S, I, D, c, rung, second ? s.b : s.a, last), n);
            if (t.rung == rung) patch_add(patch_sum_of(S, I, D, c, rung, t.next, last), n);
        }
        if (t.real && out.indices)
            patch_put_face(out.indices, out.labels, out.at++,
                           patch_id_out(S, I, t.a, out.sample_out),
                           patch_id_out(S, I, t.b, out.sample_out),
                           patch_id_out(S, I, t.x, out.sample_out), out.label);
        if (turn == 1) {
            s.a++;
            a = x;
        } else {
            s.b++;
            b = x;
        }
    }
}

// A rung: the strip after it goes out, and what the strips before and after it sum at its points.
FN void patch_put_rung(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G, GLOBAL int *I,
                       GLOBAL double *D, patch_case c, int rungs, int index, patch_target out,
                       int normals)
{
    int before = index == 0 ? rungs - 1 : index - 1, rung = c.rung + index;
    int first = c.point + I[S[PATCH_RUNG_FIRST] + rung];
    patch_target none = out;
    none.indices = 0;
    out.at += I[S[PATCH_RUNG_FACE] + rung];
    if (normals) {
        int p = I[S[PATCH_RUNG_P] + rung], q = I[S[PATCH_RUNG_C] + rung];
        for (int i = 0; i < 6; i++) D[S[PATCH_RUNG_SUM] + 6 * rung + i] = 0.0;
        for (int i = 3 * first; i < 3 * (first + I[S[PATCH_RUNG_COUNT] + rung]); i++)
            D[S[PATCH_SAMPLE_SUM] + i] = 0.0;
        patch_put_strip(S, G, I, D, c, patch_strip_of(S, I, c, rungs, before, PATCH_DRAW_CURVES), 1,
                        none, 1);
        if (I[S[PATCH_RUNG_P] + c.rung + before] != p) I[S[PATCH_SLOT_RUNG] + p] = index;
        if (I[S[PATCH_RUNG_C] + c.rung + before] != q) I[S[PATCH_SLOT_RUNG] + q] = index;
    }
    patch_put_strip(S, G, I, D, c, patch_strip_of(S, I, c, rungs, index, PATCH_DRAW_CURVES), 0, out,
                    normals);
}

// What the rungs of a slot have summed at it. They follow each other.
FN pvec patch_slot_sum(GLOBAL const int *RESTRICT S, GLOBAL const int *I, GLOBAL const double *D,
                       patch_case c, int rungs, int slot, int child)
{
    GLOBAL const int *ends = I + (child ? S[PATCH_RUNG_C] : S[PATCH_RUNG_P]) + c.rung;
    pvec sum = pvec_make(0, 0, 0);
    int i = I[S[PATCH_SLOT_RUNG] + slot];
    while (ends[i] == slot) {
        sum = pvec_plus(sum, pvec_at(D + S[PATCH_RUNG_SUM], 2 * (c.rung + i) + child));
        i = i + 1 == rungs ? 0 : i + 1;
    }
    return sum;
}

// Normal of a border point: the patch, and the faces that are left there.
PATCH_FN pvec patch_slot_normal(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *I,
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

TEAM_FN void patch_put_slots(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                             GLOBAL const int *I, GLOBAL const double *D, patch_case c, int rungs,
                             int child, GLOBAL float *positions, GLOBAL float *normals, INDEX base)
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

TEAM_FN void patch_put_samples(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                               GLOBAL const double *D, patch_case c, int count,
                               GLOBAL float *positions, GLOBAL float *normals, INDEX base)
{
    GLOBAL const double *parent =
        D + S[PATCH_MATRIX] + 12 * FIELD(S, PATCH_JOINT_PART)[2 * c.joint];
    pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), c.joint);
    TEAM_EACH (i, 0, count) {
        pvec x = pvec_plus(pvec_at(D + S[PATCH_SAMPLE], c.point + i), centre);
        patch_store(positions, base + i, pvec_moved(parent, x));
        if (normals)
            patch_store(normals, base + i,
                        patch_direction(parent, pvec_at(D + S[PATCH_SAMPLE_SUM], c.point + i)));
    }
}

TEAM_KERNEL patch_strips(GLOBAL const int *RESTRICT S, GLOBAL const double *RESTRICT G,
                         GLOBAL int *int_work, GLOBAL double *work, GLOBAL const int *counts,
                         GLOBAL float *positions, GLOBAL float *normals, GLOBAL int *indices,
                         GLOBAL int *labels, int vertex_room, int face_room, ITEM_ARGS)
{
    TEAM_BEGIN
    int joint_count = S[PATCH_JOINT_COUNT], instance = TEAM_INSTANCE(joint_count);
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
        TEAM_EACH (i, 0, rungs) patch_put_rung(S, G, I, D, c, rungs, i, out, normals != 0);
        TEAM_SYNC;
        patch_put_slots(S, G, I, D, c, rungs, 0, positions, normals, base);
        patch_put_slots(S, G, I, D, c, rungs, 1, positions, normals, base);
        patch_put_samples(S, G, D, c, ints[PATCH_J_POINTS], positions, normals, base + sample_out);
    }
    ITEM_END
}

#endif
