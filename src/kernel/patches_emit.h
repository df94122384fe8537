/// Item kernels: counts, their sums, and the mesh of the frame.
///
/// Vertices of a frame: what is left of the parts (block by block), then per joint its split points
/// and samples. Triangles: what is left of the parts' faces, then per joint its strips. Every
/// place comes from sums over counts, so nothing depends on who writes first.
#ifndef CUTIS_KERNEL_PATCHES_EMIT_H
#define CUTIS_KERNEL_PATCHES_EMIT_H

#include "patches_out.h"
#include "patches_solve.h"

FN int patch_is_out(patch_work w, int v)
{
    int slot = work_slot(w)[v];
    return work_state(w)[v] != PATCH_REMOVED && (slot < 0 || work_slot_weld(w)[slot] < 0);
}

FN int patch_faces_left(patch_work w, int face)
{
    int corner = patch_first_removed(w, face);
    if (corner < 0) return 1;
    if (w.given->box) return 0;
    GLOBAL const int *v = body_face_vertex(w) + 3 * face;
    return (work_state(w)[v[(corner + 1) % 3]] == PATCH_KEPT) +
           (work_state(w)[v[(corner + 2) % 3]] == PATCH_KEPT);
}

// Does a frame fit into the caller's arrays? If not, nothing of it is written but its counts.
FN int patch_fits(patch_work w, GLOBAL const int *counts)
{
    return counts[2 * w.instance] <= w.given->vertex_capacity &&
           counts[2 * w.instance + 1] <= w.given->face_capacity;
}

// Are all faces of parts of which nothing is cut?
FN int patch_faces_whole(patch_work w, int first, int end)
{
    GLOBAL const int *faces = body_face_vertex(w), *parts = body_vertex_part(w);
    int last = parts[faces[3 * (end - 1)]], touched = 0;
    for (int part = parts[faces[3 * first]]; part <= last; part++)
        touched |= work_touched_count(w)[part];
    return touched == 0;
}

// Blocks of vertices, then blocks of faces.
TEAM_KERNEL(patch_count, PATCH_COUNT_BUFFERS)
{
    TEAM_BEGIN
    int vertex_blocks = patch_blocks(given.vertex_count);
    int blocks = vertex_blocks + patch_blocks(given.face_count), block = item % blocks, sum = 0;
    patch_work w = patch_work_of(body, work, &given, item / blocks);
    if (block < vertex_blocks) {
        TEAM_EACH (v, block * PATCH_BLOCK, patch_block_end(block, given.vertex_count))
            sum += patch_is_out(w, v);
    } else {
        block -= vertex_blocks;
        int first = block * PATCH_BLOCK, end = patch_block_end(block, given.face_count);
        int whole = patch_faces_whole(w, first, end);
        TEAM_EACH (f, first, end) sum += whole ? 1 : patch_faces_left(w, f);
    }
    sum = team_total(sum);
    GLOBAL int *out = item % blocks < vertex_blocks ? work_block_vertex(w) : work_block_face(w);
    if (TEAM_LANE == 0) out[block] = sum;
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

TEAM_KERNEL(patch_sum, PATCH_SUM_BUFFERS)
{
    TEAM_BEGIN
    patch_work w = patch_work_of(body, work, &given, item);
    int vertices =
        patch_sum_blocks(work_block_vertex(w), patch_blocks(given.vertex_count), 0 TEAM_PASS);
    int faces = patch_sum_blocks(work_block_face(w), patch_blocks(given.face_count), 0 TEAM_PASS);
    for (int from = 0; from < given.joint_count; from += TEAM_LANES) {
        int joint = from + TEAM_LANE, there = joint < given.joint_count;
        GLOBAL patch_joint *j = work_joint(w) + (there ? joint : 0);
        int own = there ? j->splits_out + j->points : 0, own_faces = there ? j->faces : 0;
        int at = vertices + team_before(own), face = faces + team_before(own_faces);
        if (there) {
            j->vertex_out = at;
            j->face_out = face;
        }
        vertices += team_total(own);
        faces += team_total(own_faces);
    }
    if (TEAM_LANE == 0) {
        counts[2 * item] = vertices;
        counts[2 * item + 1] = faces;
        if (wanted_counts) {
            INDEX at = patch_element(w, given.counts, 0);
            wanted_counts[at] = vertices;
            wanted_counts[at + 1] = faces;
        }
    }
    ITEM_END
}

// What is left of the parts, moved.
TEAM_KERNEL(patch_vertices, PATCH_VERTICES_BUFFERS)
{
    TEAM_BEGIN
    int blocks = patch_blocks(given.vertex_count);
    int block = item % blocks;
    patch_work w = patch_work_of(body, work, &given, item / blocks);
    int out = work_block_vertex(w)[block], end = patch_block_end(block, given.vertex_count);
    if (!patch_fits(w, counts)) end = 0;
    for (int from = block * PATCH_BLOCK; from < end; from += TEAM_LANES) {
        int v = from + TEAM_LANE, there = v < end && patch_is_out(w, v);
        int place = out + team_before_flag(there);
        out += team_total_flag(there);
        if (v < end && !there)
            work_vertex_out(w)[v] = work_state(w)[v] == PATCH_REMOVED ? -1 : -2 - work_slot(w)[v];
        if (!there) continue;
        int part = body_vertex_part(w)[v], slot = work_slot(w)[v];
        GLOBAL const double *m = work_matrix(w) + 12 * part;
        pvec x = work_state(w)[v] == PATCH_ZERO ? work_slot_point(w)[slot] : patch_point(w, v);
        patch_store(positions, patch_element(w, given.positions, place), pvec_moved(m, x));
        if (normals)
            patch_store(normals, patch_element(w, given.normals, place),
                        patch_part_normal(w, part, patch_normal(w, v)));
        work_vertex_out(w)[v] = place;
        if (slot < 0) continue;
        int guest = work_slot_guest(w)[slot];
        work_slot_out(w)[slot] = place;
        if (guest >= 0) work_slot_out(w)[guest] = place;
    }
    ITEM_END
}

// Output vertex of a slot; of the parent's where both became one.
FN int patch_slot_vertex_out(patch_work w, int slot)
{
    int out = work_slot_out(w)[slot], joint = body_slot_joint(w)[slot];
    if (out >= 0) return out;
    return work_joint(w)[joint].vertex_out - 1 - out;
}

FN int patch_vertex_out(patch_work w, int v)
{
    int out = work_vertex_out(w)[v];
    return out >= -1 ? out : patch_slot_vertex_out(w, -2 - out);
}

// Triangle `k` of the frame.
FN void patch_put_face(patch_work w, GLOBAL int *indices, GLOBAL int *labels, int k, int a, int b,
                       int c, int label)
{
    INDEX at = patch_element(w, w.given->indices, k);
    indices[at] = a;
    indices[at + 1] = b;
    indices[at + 2] = c;
    if (labels) labels[patch_element(w, w.given->labels, k)] = label;
}

// The border point of the other part that this one is one vertex with, or -1.
FN int patch_twin(patch_work w, int slot)
{
    int weld = work_slot_weld(w)[slot];
    return weld >= 0 ? weld : work_slot_guest(w)[slot];
}

// Is there a straight rung between two border points of one part, one of which both parts share?
FN int patch_rung_joins(patch_work w, int a, int b)
{
    if (b < 0 || body_slot_joint(w)[a] != body_slot_joint(w)[b]) return 0;
    int joint = body_slot_joint(w)[a], a_twin = patch_twin(w, a), b_twin = patch_twin(w, b);
    int from = body_joint_rung(w)[joint], end = from + work_joint(w)[joint].rungs;
    for (int r = from; r < end && (a_twin >= 0 || b_twin >= 0); r++) {
        int p = work_rung_p(w)[r], c = work_rung_c(w)[r];
        int joins = (p == a_twin && c == b) || (p == b && c == a_twin) || (p == a && c == b_twin) ||
                    (p == b_twin && c == a);
        if (joins && work_rung_count(w)[r] == 0) return 1;
    }
    return 0;
}

// What is left of a face that was cut, at most two triangles from `k` on: by the diagonal from p,
// unless a strip of the patch has that edge already.
FN void patch_put_cut_face(patch_work w, int f, int corner, GLOBAL int *indices, GLOBAL int *labels,
                           int k, int label)
{
    GLOBAL const int *state = work_state(w);
    patch_piece s = patch_piece_of(w, f, corner);
    int p = patch_slot_vertex_out(w, s.to), q = patch_slot_vertex_out(w, s.from);
    if (state[s.a] == PATCH_KEPT && state[s.b] == PATCH_KEPT) {
        int x = patch_vertex_out(w, s.a), y = patch_vertex_out(w, s.b);
        int other = patch_rung_joins(w, s.to, work_slot(w)[s.b]) &&
                    !patch_rung_joins(w, s.from, work_slot(w)[s.a]);
        patch_put_face(w, indices, labels, k, p, x, other ? q : y, label);
        patch_put_face(w, indices, labels, k + 1, other ? x : p, y, q, label);
    } else {
        int x = patch_vertex_out(w, state[s.a] == PATCH_KEPT ? s.a : s.b);
        patch_put_face(w, indices, labels, k, p, x, q, label);
    }
}

// The faces that are left. Those that the border touches are listed first and done at the end, so
// that lanes have the same to do: face and place of their triangles, from the block's first.
TEAM_KERNEL(patch_faces, PATCH_FACES_BUFFERS)
{
    TEAM_BEGIN
    int blocks = patch_blocks(given.face_count), block = item % blocks;
    int start = block * PATCH_BLOCK, end = patch_block_end(block, given.face_count);
    patch_work w = patch_work_of(body, work, &given, item / blocks);
    GLOBAL int *list = work_face_list(w) + start;
    GLOBAL const int *outs = work_vertex_out(w);
    int base = work_block_face(w)[block], out = 0, listed = 0;
    if (!patch_fits(w, counts)) end = start;
    for (int from = start; from < end; from += TEAM_LANES) {
        int f = from + TEAM_LANE < end ? from + TEAM_LANE : end - 1, there = from + TEAM_LANE < end;
        GLOBAL const int *v = body_face_vertex(w) + 3 * f;
        int x = outs[v[0]], y = outs[v[1]], z = outs[v[2]], plain = x >= 0 && y >= 0 && z >= 0;
        int left = !there                                     ? 0
                   : plain || (x != -1 && y != -1 && z != -1) ? 1
                                                              : patch_faces_left(w, f);
        int at = out + team_before_flag(left > 0) + team_before_flag(left > 1);
        int touched = left > 0 && !plain, place = listed + team_before_flag(touched);
        out += team_total_flag(left > 0) + team_total_flag(left > 1);
        listed += team_total_flag(touched);
        if (touched)
            list[place] = (f - start) * 2 * PATCH_BLOCK + at;
        else if (left > 0)
            patch_put_face(w, indices, labels, base + at, x, y, z, body_vertex_part(w)[v[0]]);
    }
    TEAM_SYNC;
    TEAM_EACH (i, 0, listed) {
        int f = start + list[i] / (2 * PATCH_BLOCK), corner = patch_first_removed(w, f);
        int at = base + list[i] % (2 * PATCH_BLOCK);
        GLOBAL const int *v = body_face_vertex(w) + 3 * f;
        int label = body_vertex_part(w)[v[0]];
        if (corner >= 0)
            patch_put_cut_face(w, f, corner, indices, labels, at, label);
        else
            patch_put_face(w, indices, labels, at, patch_vertex_out(w, v[0]),
                           patch_vertex_out(w, v[1]), patch_vertex_out(w, v[2]), label);
    }
    ITEM_END
}

/// Where the triangles of a strip go.
STRUCT(patch_target)
{
    GLOBAL int *indices;
    GLOBAL int *labels;
    int at, sample_out, label;
};

// What a strip has summed at a sample of a rung (its ends take their normals from the parts). The
// strips before and after a rung each have a place.
FN void patch_put_sum(patch_work w, patch_case c, patch_rail t, int at, int before, pvec sum)
{
    if (at > 0 && at < t.last)
        work_sample_normal(w)[2 * (c.point + t.first + at - 1) + before] = sum;
}

// Output vertex of a point of a rung, of which those of its ends are known.
FN int patch_rail_out(patch_rail t, int at, int start_out, int end_out, int sample_out)
{
    return at == 0 ? start_out : at < t.last ? sample_out + t.first + at - 1 : end_out;
}

// The triangles of the strip after a rung, and their normals summed at its points.
FN void patch_put_strip(patch_work w, patch_case c, patch_strip s, patch_target out, int normals)
{
    patch_rail p = patch_rail_of(w, s.a_rung), q = patch_rail_of(w, s.b_rung);
    int p_start = patch_slot_vertex_out(w, p.start), p_end = patch_slot_vertex_out(w, p.end);
    int q_start = patch_slot_vertex_out(w, q.start), q_end = patch_slot_vertex_out(w, q.end);
    int a_id = p.start, b_id = q.start, a_out = p_start, b_out = q_start;
    pvec none = pvec_make(0, 0, 0), a_sum = none, b_sum = none;
    pvec a = patch_end(w, p.start), b = patch_end(w, q.start);
    for (int side; (side = patch_strip_next(s)) != 0;) {
        int first = side == 1, at = first ? s.a + 1 : s.b + 1;
        int id = first ? patch_rail_id(p, at) : patch_rail_id(q, at);
        int to = first ? patch_rail_out(p, at, p_start, p_end, out.sample_out)
                       : patch_rail_out(q, at, q_start, q_end, out.sample_out);
        pvec x = patch_point_at(w, c, first ? p.rung : q.rung, at, first ? p.last : q.last);
        pvec n = none;
        if (a_id != b_id && b_id != id && id != a_id) {
            n = pvec_cross(pvec_minus(b, a), pvec_minus(x, a));
            patch_put_face(w, out.indices, out.labels, out.at++, a_out, b_out, to, out.label);
        }
        a_sum = pvec_plus(a_sum, n);
        b_sum = pvec_plus(b_sum, n);
        if (normals && first) patch_put_sum(w, c, p, s.a, 0, a_sum);
        if (normals && !first) patch_put_sum(w, c, q, s.b, 1, b_sum);
        if (first) {
            s.a++;
            a = x, a_sum = n, a_id = id, a_out = to;
        } else {
            s.b++;
            b = x, b_sum = n, b_id = id, b_out = to;
        }
    }
}

// The strip after a rung.
FN void patch_put_rung(patch_work w, patch_case c, int rungs, int index, patch_target out,
                       int normals)
{
    out.at += work_rung_face(w)[c.rung + index];
    patch_put_strip(w, c, patch_strip_of(w, c, rungs, index), out, normals);
}

// Normal of a border point, in the parent's rest space: that of the part's own surface there, so
// that nothing shows where the patch begins. Where the borders of both parts meet, their mean.
PATCH_FN pvec patch_slot_normal(patch_work w, patch_case c, int slot, int child)
{
    GLOBAL const double *turn = work_joint(w)[c.joint].turn;
    int guest = child ? -1 : work_slot_guest(w)[slot];
    pvec n = pvec_unit(pvec_mix(patch_normal(w, work_slot_from(w)[slot]),
                                patch_normal(w, work_slot_to(w)[slot]), work_slot_t(w)[slot]));
    if (child) n = pvec_turned(turn, n);
    if (guest < 0) return n;
    pvec its = pvec_mix(patch_normal(w, work_slot_from(w)[guest]),
                        patch_normal(w, work_slot_to(w)[guest]), work_slot_t(w)[guest]);
    return pvec_plus(n, pvec_turned(turn, pvec_unit(its)));
}

TEAM_FN void patch_put_slots(patch_work w, patch_case c, int child, GLOBAL float *positions,
                             GLOBAL float *normals)
{
    GLOBAL const int *parts = body_joint_part(w) + 2 * c.joint;
    GLOBAL const double *parent = work_matrix(w) + 12 * parts[0];
    GLOBAL const double *matrix = work_matrix(w) + 12 * parts[child];
    int first = child ? c.c_first : c.p_first, count = child ? c.c_count : c.p_count;
    TEAM_EACH (i, first, first + count) {
        if (work_slot_weld(w)[i] >= 0) continue;
        int k = patch_slot_vertex_out(w, i);
        if (work_slot_node(w)[i] < 0)
            patch_store(positions, patch_element(w, w.given->positions, k),
                        pvec_moved(matrix, work_slot_point(w)[i]));
        if (!normals) continue;
        pvec n = patch_slot_normal(w, c, i, child);
        if (pvec_dot(n, n) > 0.0)
            patch_store(normals, patch_element(w, w.given->normals, k), patch_direction(parent, n));
    }
}

TEAM_FN void patch_put_samples(patch_work w, patch_case c, int count, int first,
                               GLOBAL float *positions, GLOBAL float *normals)
{
    GLOBAL const double *parent = work_matrix(w) + 12 * body_joint_part(w)[2 * c.joint];
    pvec centre = body_joint_centre(w)[c.joint];
    TEAM_EACH (i, 0, count) {
        pvec x = pvec_plus(work_sample(w)[c.point + i], centre);
        patch_store(positions, patch_element(w, w.given->positions, first + i),
                    pvec_moved(parent, x));
        if (!normals) continue;
        GLOBAL const pvec *sums = work_sample_normal(w) + 2 * (c.point + i);
        patch_store(normals, patch_element(w, w.given->normals, first + i),
                    patch_direction(parent, pvec_plus(sums[1], sums[0])));
    }
}

TEAM_KERNEL(patch_strips, PATCH_STRIPS_BUFFERS)
{
    TEAM_BEGIN
    int joint = TEAM_INDEX(given.joint_count);
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(given.joint_count));
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    // A joint at rest is welded whole: nothing to draw, and its normals are those of the file.
    if (patch_fits(w, counts) && (j->faces > 0 || j->splits_out > 0)) {
        patch_case c = patch_case_of(w, joint);
        int rungs = j->rungs;
        patch_target out;
        out.indices = indices;
        out.labels = labels;
        out.at = j->face_out;
        out.sample_out = j->vertex_out + j->splits_out;
        out.label = given.part_count + joint;
        TEAM_EACH (i, 0, rungs) patch_put_rung(w, c, rungs, i, out, normals != 0);
        TEAM_SYNC;
        patch_put_slots(w, c, 0, positions, normals);
        patch_put_slots(w, c, 1, positions, normals);
        patch_put_samples(w, c, j->points, out.sample_out, positions, normals);
    }
    ITEM_END
}

#endif
