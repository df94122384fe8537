/// Team kernels: what the vertices and triangles of a frame come from, for those who carry colours
/// and texture coordinates over. After patches_emit.h.
///
/// A vertex is a mixture of at most four vertices of the model: itself; the two ends of the edge it
/// was moved along or splits; a sample goes from its rung's parent end over the joint loop, half
/// way, to the child's end. A triangle is (part of) one of the model's, or of a patch.
#ifndef CUTIS_KERNEL_PATCHES_SOURCE_H
#define CUTIS_KERNEL_PATCHES_SOURCE_H

FN void patch_put_source(patch_work w, GLOBAL int *vertices, GLOBAL float *weights, int k,
                         int vertex, double weight)
{
    vertices[k] = body_vertex_file(w)[vertex];
    weights[k] = (float)weight;
}

// The two sources of a border point, `share` of the whole.
FN void patch_put_slot_source(patch_work w, GLOBAL int *vertices, GLOBAL float *weights, int k,
                              int slot, double share)
{
    double t = work_slot_t(w)[slot];
    patch_put_source(w, vertices, weights, k, work_slot_from(w)[slot], share * (1.0 - t));
    patch_put_source(w, vertices, weights, k + 1, work_slot_to(w)[slot], share * t);
}

// What is left of the parts.
TEAM_KERNEL(patch_vertex_sources, PATCH_VERTEX_SOURCES_BUFFERS)
{
    TEAM_BEGIN
    int blocks = patch_blocks(given.vertex_count), instance = item / blocks, block = item % blocks;
    patch_work w = patch_work_of(body, work, &given, instance);
    int fits = patch_fits(counts, &given, instance);
    TEAM_EACH (v, block * PATCH_BLOCK, fits ? patch_block_end(block, given.vertex_count) : 0) {
        int out = work_vertex_out(w)[v];
        if (out < 0) continue;
        INDEX at = 4 * ((INDEX)instance * given.vertex_room + out);
        for (int k = 0; k < 4; k++)
            patch_put_source(w, source_vertices + at, source_weights + at, k, v,
                             k == 0 ? 1.0 : 0.0);
        if (work_state(w)[v] == PATCH_ZERO)
            patch_put_slot_source(w, source_vertices + at, source_weights + at, 0, work_slot(w)[v],
                                  1.0);
    }
    ITEM_END
}

// A sample of a rung, `f` of the way from its parent's end.
FN void patch_put_sample_source(patch_work w, patch_case c, int rung, double f,
                                GLOBAL int *vertices, GLOBAL float *weights)
{
    int slot = f <= 0.5 ? work_rung_p(w)[rung] : work_rung_c(w)[rung];
    int first = body_joint_loop(w)[c.joint];
    double middle = f <= 0.5 ? 2.0 * f : 2.0 * (1.0 - f), along = work_rung_along(w)[rung];
    int place = (int)along;
    double t = along - place;
    GLOBAL const int *loop = body_loop_vertex(w);
    patch_put_slot_source(w, vertices, weights, 0, slot, 1.0 - middle);
    patch_put_source(w, vertices, weights, 2, loop[2 * (first + place % c.count)],
                     middle * (1.0 - t));
    patch_put_source(w, vertices, weights, 3, loop[2 * (first + (place + 1) % c.count)],
                     middle * t);
}

// Split points of one border of a joint.
TEAM_FN void patch_put_split_sources(patch_work w, int first, int count, INDEX base,
                                     GLOBAL int *vertices, GLOBAL float *weights)
{
    TEAM_EACH (i, first, first + count) {
        if (work_slot_node(w)[i] >= 0 || work_slot_weld(w)[i] >= 0) continue;
        INDEX at = 4 * (base + patch_slot_vertex_out(w, i));
        for (int k = 2; k < 4; k++)
            patch_put_source(w, vertices + at, weights + at, k, work_slot_from(w)[i], 0.0);
        patch_put_slot_source(w, vertices + at, weights + at, 0, i, 1.0);
    }
}

// Split points and samples of a joint.
TEAM_KERNEL(patch_joint_sources, PATCH_JOINT_SOURCES_BUFFERS)
{
    TEAM_BEGIN
    int instance = TEAM_INSTANCE(given.joint_count), joint = TEAM_INDEX(given.joint_count);
    patch_work w = patch_work_of(body, work, &given, instance);
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    patch_case c = patch_case_of(w, joint);
    int fits = patch_fits(counts, &given, instance);
    INDEX base = (INDEX)instance * given.vertex_room;
    if (fits) {
        patch_put_split_sources(w, c.p_first, c.p_count, base, source_vertices, source_weights);
        patch_put_split_sources(w, c.c_first, c.c_count, base, source_vertices, source_weights);
    }
    int samples = j->vertex_out + j->splits_out;
    TEAM_EACH (i, 0, fits ? j->rungs : 0) {
        int count = work_rung_count(w)[c.rung + i], first = work_rung_first(w)[c.rung + i];
        for (int k = 0; k < count; k++) {
            INDEX at = 4 * (base + samples + first + k);
            patch_put_sample_source(w, c, c.rung + i, (k + 1) / (double)(count + 1),
                                    source_vertices + at, source_weights + at);
        }
    }
    ITEM_END
}

// Triangles: of the parts.
TEAM_KERNEL(patch_origins, PATCH_ORIGINS_BUFFERS)
{
    TEAM_BEGIN
    int blocks = patch_blocks(given.face_count), instance = item / blocks, block = item % blocks;
    patch_work w = patch_work_of(body, work, &given, instance);
    int out = work_block_face(w)[block], end = patch_block_end(block, given.face_count);
    if (!patch_fits(counts, &given, instance)) end = 0;
    for (int from = block * PATCH_BLOCK; from < end; from += TEAM_LANES) {
        int f = from + TEAM_LANE, left = f < end ? patch_faces_left(w, f) : 0;
        INDEX at = (INDEX)instance * given.face_room + out + team_before(left);
        out += team_total(left);
        for (int k = 0; k < left; k++) origins[at + k] = body_face_origin(w)[f];
    }
    ITEM_END
}

// Of the patches: none.
TEAM_KERNEL(patch_no_origins, PATCH_NO_ORIGINS_BUFFERS)
{
    TEAM_BEGIN
    int instance = TEAM_INSTANCE(given.joint_count);
    patch_work w = patch_work_of(body, work, &given, instance);
    GLOBAL const patch_joint *j = work_joint(w) + TEAM_INDEX(given.joint_count);
    int fits = patch_fits(counts, &given, instance);
    TEAM_EACH (i, 0, fits ? j->faces : 0)
        origins[(INDEX)instance * given.face_room + j->face_out + i] = -1;
    ITEM_END
}

#endif
