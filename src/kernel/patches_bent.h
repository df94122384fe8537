/// Team kernels: the mesh of a frame of a whole body, one whose joints all bend in bands. Nothing
/// is cut and both copies of a loop are one vertex, so its triangles are the body's own, numbered
/// when it is bound; a frame is a pass over its vertices.
#ifndef CUTIS_KERNEL_PATCHES_BENT_H
#define CUTIS_KERNEL_PATCHES_BENT_H

#include "patches_out.h"

// Does a frame fit into the caller's arrays? If not, nothing of it is written but its counts.
FN int patch_bent_fits(const patch_arguments *given)
{
    return given->whole_count <= given->vertex_capacity &&
           given->face_count <= given->face_capacity;
}

// Per block of vertices.
TEAM_KERNEL(patch_bent, PATCH_BENT_BUFFERS)
{
    TEAM_BEGIN
    int blocks = patch_blocks(given.vertex_count), block = TEAM_INDEX(blocks);
    patch_work w = patch_work_of(body, work, &given, TEAM_INSTANCE(blocks));
    int first = block * PATCH_BLOCK;
    int end = patch_bent_fits(&given) ? patch_block_end(block, given.vertex_count) : 0;
    if (block == 0 && TEAM_LANE == 0) {
        counts[2 * w.instance] = given.whole_count;
        counts[2 * w.instance + 1] = given.face_count;
        if (wanted_counts) {
            INDEX at = patch_element(w, given.counts, 0);
            wanted_counts[at] = given.whole_count;
            wanted_counts[at + 1] = given.face_count;
        }
    }
    TEAM_EACH (k, 0, end > first ? (end - first + PATCH_LANES - 1) / PATCH_LANES : 0) {
        pvec way[PATCH_LANES] = { { 0.0, 0.0, 0.0 } };
        double scale[PATCH_LANES] = { 0.0 };
        int at = first + k * PATCH_LANES, many = PATCH_LANES_TO(at, end);
        for (int lane = 0; normals && lane < many; lane++)
            way[lane] = patch_normal_way(w, at + lane, &scale[lane]);
        for (int lane = 0; normals && lane < many; lane++)
            scale[lane] = patch_unit_scale(scale[lane]);
        for (int lane = 0; lane < many; lane++) {
            int v = at + lane, out = body_whole_vertex(w)[v], part = patch_space(w, v);
            if (out < 0) continue;
            patch_store(positions, patch_element(w, given.positions, out),
                        pvec_moved(work_matrix(w) + 12 * part, patch_point(w, v)));
            if (normals)
                patch_store(normals, patch_element(w, given.normals, out),
                            patch_part_normal(w, part, pvec_times(way[lane], scale[lane])));
        }
    }
    ITEM_END
}

// Per block of faces.
TEAM_KERNEL(patch_bent_faces, PATCH_BENT_FACES_BUFFERS)
{
    TEAM_BEGIN
    int blocks = patch_blocks(given.face_count), block = TEAM_INDEX(blocks);
    patch_work w = { body, 0, &given, TEAM_INSTANCE(blocks) };
    int end = patch_bent_fits(&given) ? patch_block_end(block, given.face_count) : 0;
    TEAM_EACH (f, block * PATCH_BLOCK, end) {
        GLOBAL const int *v = body_whole_face(w) + 3 * f;
        INDEX at = patch_element(w, given.indices, f);
        indices[at] = v[0];
        indices[at + 1] = v[1];
        indices[at + 2] = v[2];
        if (labels)
            labels[patch_element(w, given.labels, f)] =
                body_vertex_part(w)[body_face_vertex(w)[3 * f]];
    }
    ITEM_END
}

#endif
