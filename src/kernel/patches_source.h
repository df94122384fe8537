/// Team kernels: what the vertices and triangles of a frame come from, for those who carry colours
/// and texture coordinates over. After patches_emit.h.
///
/// A vertex is a mixture of at most four vertices of the model: itself; the two ends of the edge it
/// was moved along or splits; a sample goes from its rung's parent end over the joint loop, half
/// way, to the child's end. A triangle is (part of) one of the model's, or of a patch.
#ifndef CUTIS_KERNEL_PATCHES_SOURCE_H
#define CUTIS_KERNEL_PATCHES_SOURCE_H

FN void patch_put_source(PATCH_BODY S, GLOBAL int *vertices, GLOBAL float *weights, int k,
                         int vertex, double weight)
{
    vertices[k] = FIELD(S, PATCH_VERTEX_FILE)[vertex];
    weights[k] = (float)weight;
}

// The two sources of a border point, `share` of the whole.
FN void patch_put_slot_source(PATCH_BODY S, GLOBAL const int *I, GLOBAL const double *D,
                              GLOBAL int *vertices, GLOBAL float *weights, int k, int slot,
                              double share)
{
    double t = D[S[PATCH_SLOT_T] + slot];
    patch_put_source(S, vertices, weights, k, I[S[PATCH_SLOT_FROM] + slot], share * (1.0 - t));
    patch_put_source(S, vertices, weights, k + 1, I[S[PATCH_SLOT_TO] + slot], share * t);
}

// What is left of the parts. sources: 4 vertices and 4 weights each.
OLD_ITEM_KERNEL patch_vertex_sources(PATCH_BODY_ARGS, GLOBAL const int *int_work,
                                     GLOBAL const double *work, GLOBAL const int *counts,
                                     GLOBAL int *source_vertices, GLOBAL float *source_weights,
                                     int vertex_room, int face_room, ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int blocks =
        (S[PATCH_VERTEX_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int instance = item / blocks, block = item % blocks, end = (block + 1) * PATCH_BLOCK;
    GLOBAL const int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL const double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    if (end > S[PATCH_VERTEX_COUNT]) end = S[PATCH_VERTEX_COUNT];
    int fits = counts[2 * instance] <= vertex_room && counts[2 * instance + 1] <= face_room;
    TEAM_EACH (v, block * PATCH_BLOCK, fits ? end : 0) {
        int out = I[S[PATCH_VERTEX_OUT] + v];
        if (out < 0) continue;
        INDEX at = 4 * ((INDEX)instance * vertex_room + out);
        for (int k = 0; k < 4; k++)
            patch_put_source(S, source_vertices + at, source_weights + at, k, v,
                             k == 0 ? 1.0 : 0.0);
        if (I[S[PATCH_STATE] + v] == PATCH_ZERO)
            patch_put_slot_source(S, I, D, source_vertices + at, source_weights + at, 0,
                                  I[S[PATCH_SLOT] + v], 1.0);
    }
    ITEM_END
}

// A sample of a rung, `f` of the way from its parent's end.
FN void patch_put_sample_source(PATCH_BODY S, GLOBAL const int *I, GLOBAL const double *D,
                                patch_case c, int rung, double f, GLOBAL int *vertices,
                                GLOBAL float *weights)
{
    int slot = I[(f <= 0.5 ? S[PATCH_RUNG_P] : S[PATCH_RUNG_C]) + rung];
    int first = FIELD(S, PATCH_JOINT_LOOP)[c.joint];
    double middle = f <= 0.5 ? 2.0 * f : 2.0 * (1.0 - f), along = D[S[PATCH_RUNG_ALONG] + rung];
    int place = (int)along;
    double t = along - place;
    GLOBAL const int *loop = FIELD(S, PATCH_LOOP_VERTEX);
    patch_put_slot_source(S, I, D, vertices, weights, 0, slot, 1.0 - middle);
    patch_put_source(S, vertices, weights, 2, loop[2 * (first + place % c.count)],
                     middle * (1.0 - t));
    patch_put_source(S, vertices, weights, 3, loop[2 * (first + (place + 1) % c.count)],
                     middle * t);
}

// Split points and samples of a joint.
OLD_ITEM_KERNEL patch_joint_sources(PATCH_BODY_ARGS, GLOBAL const double *RESTRICT G,
                                    GLOBAL const int *int_work, GLOBAL const double *work,
                                    GLOBAL const int *counts, GLOBAL int *source_vertices,
                                    GLOBAL float *source_weights, int vertex_room, int face_room,
                                    ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int joint_count = S[PATCH_JOINT_COUNT],
                                             instance = TEAM_INSTANCE(joint_count);
    int joint = TEAM_INDEX(joint_count);
    GLOBAL const int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    GLOBAL const double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    GLOBAL const int *ints = I + S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * joint;
    patch_case c = patch_case_of(S, G, I, joint);
    int fits = counts[2 * instance] <= vertex_room && counts[2 * instance + 1] <= face_room;
    INDEX base = (INDEX)instance * vertex_room;
    for (int side = 0; side < 2 && fits; side++) {
        int first = side ? c.c_first : c.p_first, count = side ? c.c_count : c.p_count;
        TEAM_EACH (i, first, first + count) {
            if (I[S[PATCH_SLOT_NODE] + i] >= 0 || I[S[PATCH_SLOT_WELD] + i] >= 0) continue;
            INDEX at = 4 * (base + patch_slot_vertex_out(S, I, i));
            for (int k = 2; k < 4; k++)
                patch_put_source(S, source_vertices + at, source_weights + at, k,
                                 I[S[PATCH_SLOT_FROM] + i], 0.0);
            patch_put_slot_source(S, I, D, source_vertices + at, source_weights + at, 0, i, 1.0);
        }
    }
    int samples = ints[PATCH_J_VERTEX_OUT] + ints[PATCH_J_SPLITS_OUT];
    TEAM_EACH (i, 0, fits ? ints[PATCH_J_RUNGS] : 0) {
        int count = I[S[PATCH_RUNG_COUNT] + c.rung + i],
            first = I[S[PATCH_RUNG_FIRST] + c.rung + i];
        for (int k = 0; k < count; k++) {
            INDEX at = 4 * (base + samples + first + k);
            patch_put_sample_source(S, I, D, c, c.rung + i, (k + 1) / (double)(count + 1),
                                    source_vertices + at, source_weights + at);
        }
    }
    ITEM_END
}

// Triangles: of the parts. Those of the patches were set to "none" before.
OLD_ITEM_KERNEL patch_origins(PATCH_BODY_ARGS, GLOBAL const int *int_work, GLOBAL const int *counts,
                              GLOBAL int *origins, int vertex_room, int face_room, ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int blocks =
        (S[PATCH_FACE_COUNT] + PATCH_BLOCK - 1) / PATCH_BLOCK;
    int instance = item / blocks, block = item % blocks;
    GLOBAL const int *I = int_work + (INDEX)instance * S[PATCH_INT_STRIDE];
    int out = I[S[PATCH_BLOCK_FACE] + block], end = (block + 1) * PATCH_BLOCK;
    if (end > S[PATCH_FACE_COUNT]) end = S[PATCH_FACE_COUNT];
    int fits = counts[2 * instance] <= vertex_room && counts[2 * instance + 1] <= face_room;
    for (int from = block * PATCH_BLOCK; from < end && fits; from += TEAM_LANES) {
        int f = from + TEAM_LANE, left = f < end ? patch_faces_left(S, I, f) : 0;
        INDEX at = (INDEX)instance * face_room + out + team_before(left);
        out += team_total(left);
        for (int k = 0; k < left; k++) origins[at + k] = FIELD(S, PATCH_FACE_ORIGIN)[f];
    }
    ITEM_END
}

// Of the patches: none.
OLD_ITEM_KERNEL patch_no_origins(PATCH_BODY_ARGS, GLOBAL const int *int_work,
                                 GLOBAL const int *counts, GLOBAL int *origins, int vertex_room,
                                 int face_room, ITEM_ARGS)
{
    OLD_BEGIN TEAM_BEGIN PATCH_BODY_HERE int joint_count = S[PATCH_JOINT_COUNT],
                                             instance = TEAM_INSTANCE(joint_count);
    GLOBAL const int *ints = int_work + (INDEX)instance * S[PATCH_INT_STRIDE] +
                             S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * TEAM_INDEX(joint_count);
    int fits = counts[2 * instance] <= vertex_room && counts[2 * instance + 1] <= face_room;
    TEAM_EACH (i, 0, fits ? ints[PATCH_J_FACES] : 0)
        origins[(INDEX)instance * face_room + ints[PATCH_J_FACE_OUT] + i] = -1;
    ITEM_END
}

#endif
