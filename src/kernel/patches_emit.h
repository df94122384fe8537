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
ITEM_KERNEL patch_count(GLOBAL const int *S, GLOBAL int *int_work, ITEM_ARGS)
{
    ITEM_BEGIN
    int vertex_blocks = (S[PATCH_VERTEX_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int face_blocks = (S[PATCH_FACE_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int block = item % (vertex_blocks + face_blocks), sum = 0;
    GLOBAL int *I = int_work + (INDEX)(item / (vertex_blocks + face_blocks)) * S[PATCH_INT_STRIDE];
    if (block < vertex_blocks) {
        for (int i = 0; i < PATCH_BLOCK; i++) {
            int v = block * PATCH_BLOCK + i;
            if (v < S[PATCH_VERTEX_COUNT]) sum += patch_is_out(S, I, v);
        }
        I[S[PATCH_BLOCK_VERTEX] + block] = sum;
    } else {
        block -= vertex_blocks;
        for (int i = 0; i < PATCH_BLOCK; i++) {
            int f = block * PATCH_BLOCK + i;
            if (f < S[PATCH_FACE_COUNT]) sum += patch_faces_left(S, I, f);
        }
        I[S[PATCH_BLOCK_FACE] + block] = sum;
    }
    ITEM_END
}

// counts: per instance vertices and triangles.
ITEM_KERNEL patch_sum(GLOBAL const int *S, GLOBAL int *int_work, GLOBAL int *counts, ITEM_ARGS)
{
    ITEM_BEGIN
    int vertex_blocks = (S[PATCH_VERTEX_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int face_blocks = (S[PATCH_FACE_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    GLOBAL int *I = int_work + (INDEX)item * S[PATCH_INT_STRIDE];
    GLOBAL int *joints = I + S[PATCH_JOINT_INTS];
    int vertices = 0, faces = 0;
    for (int i = 0; i < vertex_blocks; i++) {
        int count = I[S[PATCH_BLOCK_VERTEX] + i];
        I[S[PATCH_BLOCK_VERTEX] + i] = vertices;
        vertices += count;
    }
    for (int i = 0; i < face_blocks; i++) {
        int count = I[S[PATCH_BLOCK_FACE] + i];
        I[S[PATCH_BLOCK_FACE] + i] = faces;
        faces += count;
    }
    for (int j = 0; j < S[PATCH_JOINT_COUNT]; j++, joints += PATCH_JOINT_INT_COUNT) {
        joints[PATCH_J_VERTEX_OUT] = vertices;
        joints[PATCH_J_FACE_OUT] = faces;
        vertices += joints[PATCH_J_SPLITS_OUT] + joints[PATCH_J_POINTS];
        faces += joints[PATCH_J_FACES];
    }
    counts[2 * item] = vertices;
    counts[2 * item + 1] = faces;
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

ITEM_KERNEL patch_vertices(GLOBAL const int *S, GLOBAL const double *G, GLOBAL int *int_work,
                           GLOBAL const double *work, GLOBAL const int *counts,
                           GLOBAL float *positions, GLOBAL float *normals, int vertex_room,
                           int face_room, ITEM_ARGS)
{
    ITEM_BEGIN
    int blocks = (S[PATCH_VERTEX_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int instance = item / blocks, block = item % blocks;
    GLOBAL int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL const double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    int out = I[S[PATCH_BLOCK_VERTEX] + block], end = (block + 1) * PATCH_BLOCK;
    if (end > S[PATCH_VERTEX_COUNT]) end = S[PATCH_VERTEX_COUNT];
    int fits = counts[2 * instance] <= vertex_room && counts[2 * instance + 1] <= face_room;
    int last = -1;
    double shrink = 1.0; // parts are rigid up to one scale: normals stay unit but for that
    for (int v = block * PATCH_BLOCK; v < end && fits; v++) {
        if (!patch_is_out(S, I, v)) continue;
        int part = FIELD(S, PATCH_VERTEX_PART)[v];
        GLOBAL const double *m = D + S[PATCH_MATRIX] + 12 * part;
        if (part != last) shrink = patch_inverse_scale(m);
        last = part;
        pvec x = I[S[PATCH_STATE] + v] == PATCH_ZERO
                     ? pvec_at(D + S[PATCH_SLOT_POINT], I[S[PATCH_SLOT] + v])
                     : pvec_at(REALS(S, G, PATCH_POINTS), v);
        INDEX at = (INDEX)instance * vertex_room + out;
        patch_store(positions, at, pvec_moved(m, x));
        if (normals)
            patch_store(
                normals, at,
                pvec_times(patch_rotated(m, pvec_at(REALS(S, G, PATCH_NORMALS), v)), shrink));
        I[S[PATCH_VERTEX_OUT] + v] = out++;
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

FN int patch_vertex_out(GLOBAL const int *S, GLOBAL const int *I, int v)
{
    int slot = I[S[PATCH_SLOT] + v];
    if (slot < 0) return I[S[PATCH_VERTEX_OUT] + v];
    return patch_slot_vertex_out(S, I, slot);
}

FN void patch_put_face(GLOBAL int *indices, GLOBAL int *labels, INDEX at, int a, int b, int c,
                       int label)
{
    indices[3 * at] = a;
    indices[3 * at + 1] = b;
    indices[3 * at + 2] = c;
    if (labels) labels[at] = label;
}

ITEM_KERNEL patch_faces(GLOBAL const int *S, GLOBAL const int *int_work, GLOBAL const int *counts,
                        GLOBAL int *indices, GLOBAL int *labels, int vertex_room, int face_room,
                        ITEM_ARGS)
{
    ITEM_BEGIN
    int blocks = (S[PATCH_FACE_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int instance = item / blocks, block = item % blocks;
    GLOBAL const int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL const int *state = I + S[PATCH_STATE];
    INDEX at = (INDEX)instance * face_room + I[S[PATCH_BLOCK_FACE] + block];
    int end = (block + 1) * PATCH_BLOCK;
    if (end > S[PATCH_FACE_COUNT]) end = S[PATCH_FACE_COUNT];
    int fits = counts[2 * instance] <= vertex_room && counts[2 * instance + 1] <= face_room;
    for (int f = block * PATCH_BLOCK; f < end && fits; f++) {
        GLOBAL const int *v = FIELD(S, PATCH_FACES) + 3 * f;
        GLOBAL const int *edge = FIELD(S, PATCH_FACE_EDGES) + 3 * f;
        int corner = patch_first_removed(S, I, f), label = FIELD(S, PATCH_VERTEX_PART)[v[0]];
        if (corner < 0) {
            patch_put_face(indices, labels, at++, patch_vertex_out(S, I, v[0]),
                           patch_vertex_out(S, I, v[1]), patch_vertex_out(S, I, v[2]), label);
            continue;
        }
        if (patch_faces_left(S, I, f) == 0) continue;
        int a = v[(corner + 1) % 3], b = v[(corner + 2) % 3], ab = edge[(corner + 1) % 3];
        int from = state[b] == PATCH_REMOVED ? I[S[PATCH_EDGE_SLOT] + ab]
                                             : patch_slot_towards(S, I, b, edge[(corner + 2) % 3]);
        int to = state[a] == PATCH_REMOVED ? I[S[PATCH_EDGE_SLOT] + ab]
                                           : patch_slot_towards(S, I, a, edge[corner]);
        int p = patch_slot_vertex_out(S, I, to);
        int q = patch_slot_vertex_out(S, I, from);
        if (state[a] == PATCH_KEPT && state[b] == PATCH_KEPT) {
            int x = patch_vertex_out(S, I, a), y = patch_vertex_out(S, I, b);
            patch_put_face(indices, labels, at++, p, x, y, label);
            patch_put_face(indices, labels, at++, p, y, q, label);
        } else {
            int x = patch_vertex_out(S, I, state[a] == PATCH_KEPT ? a : b);
            patch_put_face(indices, labels, at++, p, x, q, label);
        }
    }
    ITEM_END
}

// Where the sums of a strip's point are kept.
FN GLOBAL double *patch_sum_of(GLOBAL const int *S, GLOBAL double *D, int point, int id)
{
    return id >= 0 ? D + S[PATCH_SLOT_SUM] + 3 * id
                   : D + S[PATCH_SAMPLE_SUM] + 3 * (point - 1 - id);
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

// The strips of a joint: triangles, and their normals summed at their corners.
PATCH_FN void patch_put_strips(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *I,
                               GLOBAL double *D, patch_case c, GLOBAL int *indices,
                               GLOBAL int *labels, INDEX at, int normals)
{
    GLOBAL const int *ints = I + S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * c.joint;
    int rungs = ints[PATCH_J_RUNGS], label = S[PATCH_PART_COUNT] + c.joint;
    int sample_out = ints[PATCH_J_VERTEX_OUT] + ints[PATCH_J_SPLITS_OUT];
    for (int i = 0; i < rungs; i++) {
        patch_strip s = patch_strip_of(S, I, c, rungs, i, PATCH_DRAW_CURVES);
        for (int turn; (turn = patch_strip_turn(s)) != 0;) {
            int rung = turn == 1 ? s.a_rung : s.b_rung, last = turn == 1 ? s.a_last : s.b_last;
            int next = (turn == 1 ? s.a : s.b) + 1, id[3];
            id[0] = patch_point_id(S, I, s.a_rung, s.a, s.a_last);
            id[1] = patch_point_id(S, I, s.b_rung, s.b, s.b_last);
            id[2] = patch_point_id(S, I, rung, next, last);
            if (id[0] != id[1] && id[1] != id[2] && id[2] != id[0]) {
                int v[3];
                for (int k = 0; k < 3; k++)
                    v[k] = id[k] >= 0 ? patch_slot_vertex_out(S, I, id[k]) : sample_out - 1 - id[k];
                patch_put_face(indices, labels, at++, v[0], v[1], v[2], label);
                if (normals) {
                    pvec a =
                        patch_point_at(S, G, I, D, c, s.a_rung, s.a, s.a_last, PATCH_DRAW_CURVES);
                    pvec b =
                        patch_point_at(S, G, I, D, c, s.b_rung, s.b, s.b_last, PATCH_DRAW_CURVES);
                    pvec x = patch_point_at(S, G, I, D, c, rung, next, last, PATCH_DRAW_CURVES);
                    pvec n = pvec_cross(pvec_minus(b, a), pvec_minus(x, a));
                    for (int k = 0; k < 3; k++) patch_add(patch_sum_of(S, D, c.point, id[k]), n);
                }
            }
            if (turn == 1)
                s.a++;
            else
                s.b++;
        }
    }
}

// Sums at the borders get the faces that are left there.
PATCH_FN void patch_add_kept(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *I,
                             GLOBAL double *D, patch_case c)
{
    GLOBAL const double *turn =
        D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint + PATCH_J_TURN;
    GLOBAL double *sums = D + S[PATCH_SLOT_SUM];
    for (int i = c.p_first; i < c.p_first + c.p_count; i++)
        patch_add(sums + 3 * i, patch_kept_normals(S, G, I, I[S[PATCH_SLOT_NODE] + i]));
    for (int i = c.c_first; i < c.c_first + c.c_count; i++) {
        int weld = I[S[PATCH_SLOT_WELD] + i];
        pvec n = pvec_turned(turn, patch_kept_normals(S, G, I, I[S[PATCH_SLOT_NODE] + i]));
        patch_add(sums + 3 * (weld >= 0 ? weld : i), n);
    }
}

PATCH_FN void patch_put_slots(GLOBAL const int *S, GLOBAL const int *I, GLOBAL const double *D,
                              int first, int count, GLOBAL const double *matrix,
                              GLOBAL const double *parent, GLOBAL float *positions,
                              GLOBAL float *normals, INDEX base)
{
    for (int i = first; i < first + count; i++) {
        if (I[S[PATCH_SLOT_WELD] + i] >= 0) continue;
        INDEX at = base + patch_slot_vertex_out(S, I, i);
        if (I[S[PATCH_SLOT_NODE] + i] < 0)
            patch_store(positions, at, pvec_moved(matrix, pvec_at(D + S[PATCH_SLOT_POINT], i)));
        pvec n = pvec_at(D + S[PATCH_SLOT_SUM], i);
        if (normals && pvec_dot(n, n) > 0.0) patch_store(normals, at, patch_direction(parent, n));
    }
}

ITEM_KERNEL patch_strips(GLOBAL const int *S, GLOBAL const double *G, GLOBAL const int *int_work,
                         GLOBAL double *work, GLOBAL const int *counts, GLOBAL float *positions,
                         GLOBAL float *normals, GLOBAL int *indices, GLOBAL int *labels,
                         int vertex_room, int face_room, ITEM_ARGS)
{
    ITEM_BEGIN
    int joint_count = S[PATCH_JOINT_COUNT], joint = item % joint_count;
    int instance = item / joint_count;
    GLOBAL const int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    GLOBAL const int *ints = I + S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * joint;
    GLOBAL const int *parts = FIELD(S, PATCH_JOINT_PART) + 2 * joint;
    int fits = counts[2 * instance] <= vertex_room && counts[2 * instance + 1] <= face_room;
    // A joint at rest is welded whole: nothing to draw, and its normals are those of the file.
    if (fits && (ints[PATCH_J_FACES] > 0 || ints[PATCH_J_SPLITS_OUT] > 0)) {
        patch_case c = patch_case_of(S, G, I, joint);
        INDEX base = (INDEX)instance * vertex_room;
        GLOBAL const double *parent = D + S[PATCH_MATRIX] + 12 * parts[0];
        GLOBAL const double *child = D + S[PATCH_MATRIX] + 12 * parts[1];
        GLOBAL double *sums = D + S[PATCH_SLOT_SUM], *sample_sums = D + S[PATCH_SAMPLE_SUM];
        for (int i = 0; i < 3 * c.p_count; i++) sums[3 * c.p_first + i] = 0.0;
        for (int i = 0; i < 3 * c.c_count; i++) sums[3 * c.c_first + i] = 0.0;
        for (int i = 0; i < 3 * ints[PATCH_J_POINTS]; i++) sample_sums[3 * c.point + i] = 0.0;
        patch_put_strips(S, G, I, D, c, indices, labels,
                         (INDEX)instance * face_room + ints[PATCH_J_FACE_OUT], normals != 0);
        if (normals) patch_add_kept(S, G, I, D, c);
        patch_put_slots(S, I, D, c.p_first, c.p_count, parent, parent, positions, normals, base);
        patch_put_slots(S, I, D, c.c_first, c.c_count, child, parent, positions, normals, base);
        pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), joint);
        INDEX at = base + ints[PATCH_J_VERTEX_OUT] + ints[PATCH_J_SPLITS_OUT];
        for (int i = c.point; i < c.point + ints[PATCH_J_POINTS]; i++, at++) {
            pvec x = pvec_plus(pvec_at(D + S[PATCH_SAMPLE], i), centre);
            patch_store(positions, at, pvec_moved(parent, x));
            if (normals) patch_store(normals, at, patch_direction(parent, pvec_at(sample_sums, i)));
        }
    }
    ITEM_END
}

#endif
