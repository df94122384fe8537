/// What the kernels of the patches take: a body, its work, and the outputs of a frame.
#ifndef CUTIS_KERNEL_PATCHES_ARGUMENTS_H
#define CUTIS_KERNEL_PATCHES_ARGUMENTS_H

#include "patches_fields.h"

#define PATCH_PARTS_BUFFERS(IN, OUT)      IN(char, body) IN(float, palette) OUT(char, work)
#define PATCH_JOINTS_BUFFERS(IN, OUT)     IN(char, body) OUT(char, work)
#define PATCH_BANDS_BUFFERS(IN, OUT)      IN(char, body) OUT(char, work)
#define PATCH_OVERLAPS_BUFFERS(IN, OUT)   IN(char, body) OUT(char, work)
#define PATCH_CUT_BUFFERS(IN, OUT)        IN(char, body) OUT(char, work)
#define PATCH_RUNGS_BUFFERS(IN, OUT)      IN(char, body) OUT(char, work)
#define PATCH_CUT_VOLUME_BUFFERS(IN, OUT) IN(char, body) OUT(char, work)
#define PATCH_SOLVE_BUFFERS(IN, OUT)      IN(char, body) OUT(char, work)
#define PATCH_COUNT_BUFFERS(IN, OUT)      IN(char, body) OUT(char, work)
/// counts: per instance vertices and triangles, whether they fit or not; wanted_counts: the same
/// where the caller wants them, or NULL.
#define PATCH_SUM_BUFFERS(IN, OUT)                                                                 \
    IN(char, body) OUT(char, work) OUT(int, counts) OUT(int, wanted_counts)
/// normals, labels: may be NULL.
#define PATCH_VERTICES_BUFFERS(IN, OUT)                                                            \
    IN(char, body) OUT(char, work) IN(int, counts) OUT(float, positions) OUT(float, normals)
#define PATCH_FACES_BUFFERS(IN, OUT)                                                               \
    IN(char, body) OUT(char, work) IN(int, counts) OUT(int, indices) OUT(int, labels)
#define PATCH_STRIPS_BUFFERS(IN, OUT)                                                              \
    IN(char, body)                                                                                 \
    OUT(char, work)                                                                                \
    IN(int, counts) OUT(float, positions) OUT(float, normals) OUT(int, indices) OUT(int, labels)
/// Whole bodies.
#define PATCH_BENT_BUFFERS(IN, OUT)                                                                \
    IN(char, body)                                                                                 \
    OUT(char, work)                                                                                \
    OUT(int, counts) OUT(int, wanted_counts) OUT(float, positions) OUT(float, normals)
#define PATCH_BENT_FACES_BUFFERS(IN, OUT) IN(char, body) OUT(int, indices) OUT(int, labels)
/// 4 vertices of the model and 4 weights each.
#define PATCH_VERTEX_SOURCES_BUFFERS(IN, OUT)                                                      \
    IN(char, body)                                                                                 \
    OUT(char, work) IN(int, counts) OUT(int, source_vertices) OUT(float, source_weights)
#define PATCH_JOINT_SOURCES_BUFFERS(IN, OUT) PATCH_VERTEX_SOURCES_BUFFERS(IN, OUT)
/// The triangle of the model that a triangle is or is cut from; -1: a patch.
#define PATCH_ORIGINS_BUFFERS(IN, OUT)                                                             \
    IN(char, body) OUT(char, work) IN(int, counts) OUT(int, origins)
#define PATCH_NO_ORIGINS_BUFFERS(IN, OUT) PATCH_ORIGINS_BUFFERS(IN, OUT)

/// The vertices of the model.
#define PATCH_REST_BUFFERS(IN, OUT) IN(char, body) OUT(char, work) OUT(float, rest_positions)

/// A line per kernel, in the order of a frame: its list, the texts it is in
/// (device/compute/patches.c), the items of a task on CPUs; of a GPU the work items of a group, the
/// lanes of a team (those of a joint's walk are half a warp: one lane walks) and registers at most,
/// 0 any: those with which the H200 was fastest (docs/design/patches.md).
/// Wide ones are compiled for every width of vectors (device/compute/patches_wide.h).
#define PATCH_KERNELS_WIDE(X)                                                                      \
    X(patch_overlaps, PATCH_OVERLAPS_BUFFERS, BAND, 8, 64, 32, 0) /* per block of vertices */      \
    X(patch_bands, PATCH_BANDS_BUFFERS, BAND, 1, 128, 128, 128)   /* per joint */                  \
    X(patch_bent, PATCH_BENT_BUFFERS, BENT, 8, 64, 32, 96)        /* per block of vertices */
#define PATCH_KERNELS_PLAIN(X)                                                                     \
    X(patch_parts, PATCH_PARTS_BUFFERS, JOINT, 256, 64, 1, 0)            /* per part */            \
    X(patch_joints, PATCH_JOINTS_BUFFERS, JOINT, 32, 64, 1, 0)           /* per joint */           \
    X(patch_cut, PATCH_CUT_BUFFERS, BORDER, 1, 128, 32, 72)              /* per part */            \
    X(patch_rungs, PATCH_RUNGS_BUFFERS, RUNG, 1, 64, 16, 96)             /* per joint */           \
    X(patch_cut_volume, PATCH_CUT_VOLUME_BUFFERS, BORDER, 1, 64, 32, 64) /* per part */            \
    X(patch_solve, PATCH_SOLVE_BUFFERS, SOLVE, 1, 128, 32, 128)          /* per joint */           \
    X(patch_rest, PATCH_REST_BUFFERS, REST, 8, 64, 32, 96) /* per block of the model's vertices */ \
    X(patch_count, PATCH_COUNT_BUFFERS, EMIT, 64, 64, 32, 0)           /* vertices, then faces */  \
    X(patch_sum, PATCH_SUM_BUFFERS, EMIT, 16, 64, 32, 0)               /* per instance */          \
    X(patch_vertices, PATCH_VERTICES_BUFFERS, EMIT, 8, 64, 32, 96)     /* per block of vertices */ \
    X(patch_faces, PATCH_FACES_BUFFERS, EMIT, 8, 64, 32, 40)           /* per block of faces */    \
    X(patch_bent_faces, PATCH_BENT_FACES_BUFFERS, BENT, 32, 64, 32, 0) /* per block of faces */    \
    X(patch_strips, PATCH_STRIPS_BUFFERS, EMIT, 1, 64, 32, 96)         /* per joint */             \
    X(patch_vertex_sources, PATCH_VERTEX_SOURCES_BUFFERS, SOURCE, 8, 64, 32, 0) /* vertices */     \
    X(patch_joint_sources, PATCH_JOINT_SOURCES_BUFFERS, SOURCE, 1, 64, 32, 0)   /* per joint */    \
    X(patch_origins, PATCH_ORIGINS_BUFFERS, SOURCE, 8, 64, 32, 0)        /* per block of faces */  \
    X(patch_no_origins, PATCH_NO_ORIGINS_BUFFERS, SOURCE, 16, 64, 32, 0) /* per joint */

#define PATCH_KERNELS(X) PATCH_KERNELS_PLAIN(X) PATCH_KERNELS_WIDE(X)

#define PATCH_SAME_ARGUMENTS(kernel, BUFFERS, text, items, group, team, most)                      \
    typedef patch_arguments kernel##_arguments;
PATCH_KERNELS(PATCH_SAME_ARGUMENTS)

#endif
