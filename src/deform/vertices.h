/// What cutis_skin_vertices hands to the kernel text, a vertex at a time.
#ifndef CUTIS_DEFORM_VERTICES_H
#define CUTIS_DEFORM_VERTICES_H

#include <cutis/deform.h>

/// Influences of a vertex, bones of DQS, matrices of a palette: at most.
enum { CUTIS_VERTEX_INFLUENCES = 64, CUTIS_VERTEX_BONES = 1024, CUTIS_VERTEX_PALETTE = 65536 };

/// A bone as DQS needs it: its matrix is rotation times stretch.
typedef struct cutis_vertex_bone {
    float rotation[4]; ///< w x y z
    float stretch[6];  ///< xx xy xz yy yz zz
} cutis_vertex_bone;

typedef struct cutis_vertex_work {
    const cutis_mat34 *palette;
    const cutis_vertex_bone *bones; ///< NULL: linear
    bool normals;
    bool rotations; ///< linear: all bones are scaled rotations, so normals are blended like points
    uint32_t count; ///< influences of the vertex, ascending by place, weights sum to one
    uint32_t joints[CUTIS_VERTEX_INFLUENCES];
    float weights[CUTIS_VERTEX_INFLUENCES];
} cutis_vertex_work;

typedef void cutis_vertices_function(cutis_vertex_work *work, float position[3], float normal[3]);
cutis_vertices_function cutis_vertices_run_plain, cutis_vertices_run_fma;

#endif
