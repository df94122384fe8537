/// Team kernels: what the vertices and triangles of a frame come from, for those who carry colours
/// and texture coordinates over.
///
/// A vertex is a mixture of at most four vertices of the model: itself; the two ends of the edge it
/// was moved along or splits; a sample goes from its rung's parent end over the joint loop, half
/// way, to the child's end. A triangle is (part of) one of the model's, or of a patch.
#ifndef CUTIS_KERNEL_PATCHES_SOURCE_H
#define CUTIS_KERNEL_PATCHES_SOURCE_H

#include "patches_emit.h"

/// Where the sources of vertices go.
STRUCT(patch_sources)
{
    GLOBAL int *vertices;
    GLOBAL float *weights;
};

// Source `k` of output vertex `out`.
FN void patch_put_source(patch_work w, patch_sources to, int out, int k, int vertex, double weight)
{
    to.vertices[patch_element(w, w.given->source_vertices, out) + k] = body_vertex_file(w)[vertex];
    to.weights[patch_element(w, w.given->source_weights, out) + k] = (float)weight;
}

// The two sources of a border point, `share` of the whole.
FN void patch_put_slot_source(patch_work w, patch_sources to, int out, int slot, double share)
{
    double t = work_slot_t(w)[slot];
    patch_put_source(w, to, out, 0, work_slot_from(w)[slot], share * (1.0 - t));
    patch_put_source(w, to, out, 1, work_slot_to(w)[slot], share * t);
}

FN patch_sources patch_sources_of(GLOBAL int *vertices, GLOBAL float *weights)
{
    patch_sources to;
    to.vertices = vertices;
    to.weights = weights;
    return to;
}

// What is left of the parts.
TEAM_KERNEL(patch_vertex_sources, PATCH_VERTEX_SOURCES_BUFFERS)
{
    TEAM_BEGIN
    int blocks = patch_blocks(given.vertex_count), block = item % blocks;
    patch_work w = patch_work_of(body, work, &given, item / blocks);
    patch_sources to = patch_sources_of(source_vertices, source_weights);
    int fits = patch_fits(w, counts);
    TEAM_EACH (v, block * PATCH_BLOCK, fits ? patch_block_end(block, given.vertex_count) : 0) {
        int out = given.whole ? body_whole_vertex(w)[v] : work_vertex_out(w)[v];
        if (out < 0) continue;
        for (int k = 0; k < 4; k++) patch_put_source(w, to, out, k, v, k == 0 ? 1.0 : 0.0);
        if (!given.whole && work_state(w)[v] == PATCH_ZERO)
            patch_put_slot_source(w, to, out, work_slot(w)[v], 1.0);
    }
    ITEM_END
}

// A sample of a rung, `f` of the way from its parent's end.
FN void patch_put_sample_source(patch_work w, patch_sources to, int out, patch_case c, int rung,
                                double f)
{
    int slot = f <= 0.5 ? work_rung_p(w)[rung] : work_rung_c(w)[rung];
    int first = body_joint_loop(w)[c.joint];
    double middle = f <= 0.5 ? 2.0 * f : 2.0 * (1.0 - f), along = work_rung_along(w)[rung];
    int place = (int)along;
    double t = along - place;
    GLOBAL const int *loop = body_loop_vertex(w);
    patch_put_slot_source(w, to, out, slot, 1.0 - middle);
    patch_put_source(w, to, out, 2, loop[2 * (first + place % c.count)], middle * (1.0 - t));
    patch_put_source(w, to, out, 3, loop[2 * (first + (place + 1) % c.count)], middle * t);
}

// Split points of one border of a joint.
TEAM_FN void patch_put_split_sources(patch_work w, patch_sources to, int first, int count)
{
    TEAM_EACH (i, first, first + count) {
        if (work_slot_node(w)[i] >= 0 || work_slot_weld(w)[i] >= 0) continue;
        int out = patch_slot_vertex_out(w, i);
        for (int k = 2; k < 4; k++) patch_put_source(w, to, out, k, work_slot_from(w)[i], 0.0);
        patch_put_slot_source(w, to, out, i, 1.0);
    }
}

// Split points and samples of a joint.
TEAM_KERNEL(patch_joint_sources, PATCH_JOINT_SOURCES_BUFFERS)
{
    TEAM_BEGIN
    int joint = TEAM_INDEX(given.joint_count);
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(given.joint_count));
    patch_sources to = patch_sources_of(source_vertices, source_weights);
    GLOBAL const patch_joint *j = work_joint(w) + joint;
    patch_case c = patch_case_of(w, joint);
    int fits = patch_fits(w, counts);
    if (fits) {
        patch_put_split_sources(w, to, c.p_first, c.p_count);
        patch_put_split_sources(w, to, c.c_first, c.c_count);
    }
    int samples = j->vertex_out + j->splits_out;
    TEAM_EACH (i, 0, fits ? j->rungs : 0) {
        int count = work_rung_count(w)[c.rung + i], first = work_rung_first(w)[c.rung + i];
        for (int k = 0; k < count; k++)
            patch_put_sample_source(w, to, samples + first + k, c, c.rung + i,
                                    (k + 1) / (double)(count + 1));
    }
    ITEM_END
}

// Triangles: of the parts.
TEAM_KERNEL(patch_origins, PATCH_ORIGINS_BUFFERS)
{
    TEAM_BEGIN
    int blocks = patch_blocks(given.face_count), block = item % blocks;
    patch_work w = patch_work_of(body, work, &given, item / blocks);
    int end = patch_block_end(block, given.face_count);
    int out = given.whole ? block * PATCH_BLOCK : work_block_face(w)[block];
    if (!patch_fits(w, counts)) end = 0;
    for (int from = block * PATCH_BLOCK; from < end; from += TEAM_LANES) {
        int f = from + TEAM_LANE, left = f >= end ? 0 : given.whole ? 1 : patch_faces_left(w, f);
        int at = out + team_before(left);
        out += team_total(left);
        for (int k = 0; k < left; k++)
            origins[patch_element(w, given.origins, at + k)] = body_face_origin(w)[f];
    }
    ITEM_END
}

// Of the patches: none.
TEAM_KERNEL(patch_no_origins, PATCH_NO_ORIGINS_BUFFERS)
{
    TEAM_BEGIN
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(given.joint_count));
    GLOBAL const patch_joint *j = work_joint(w) + TEAM_INDEX(given.joint_count);
    TEAM_EACH (i, 0, patch_fits(w, counts) ? j->faces : 0)
        origins[patch_element(w, given.origins, j->face_out + i)] = -1;
    ITEM_END
}

#endif
