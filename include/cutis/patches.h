/// Rigid skinning with blending patches: every part of a body moves rigidly, and a patch made anew
/// each frame closes each joint. No weights, no collapse, no candy wrapper; the surface is closed
/// in every pose, and the joint keeps its volume.
///
/// Method: docs/spec/patches.md. Limits: docs/design/patches.md. Figures: docs/benchmarks.md.
/// Experimental: outputs and options of this method may still change.
///
/// Threads: all of this may be called by several at once.
#ifndef CUTIS_PATCHES_H
#define CUTIS_PATCHES_H

#include <cutis/deform.h>

#ifdef __cplusplus
extern "C" {
#endif

/// "cut", "box".
CUTIS_API const char *cutis_patch_removal_name(cutis_patch_removal removal);
/// @return CUTIS_NOT_FOUND for another name
CUTIS_API cutis_result cutis_patch_removal_from_name(const char *name, cutis_patch_removal *out);
/// "default", "keep", "mean", "intersection", "reduced", "between".
CUTIS_API const char *cutis_patch_fill_name(cutis_patch_fill fill);
/// @return CUTIS_NOT_FOUND for another name
CUTIS_API cutis_result cutis_patch_fill_from_name(const char *name, cutis_patch_fill *out);

/// Bodies are bound with CUTIS_METHOD_PATCHES (cutis_bind, cutis_deform): the model's mesh must
/// have parts (cutis_skeleton_extract, cutis_synth_create, CUTIS_parts), be closed, its parts
/// whole, and their borders closed loops that do not touch; what is wrong is named by cutis_bind's
/// error (CUTIS_UNSUPPORTED). Poses as palettes are the matrices of the parts (world * inverse bind
/// of their joints).

typedef struct cutis_patches_info {
    uint32_t part_count, joint_count;
    uint32_t vertex_count;                       ///< of the welded rest mesh
    uint32_t triangle_count;                     ///< of the rest mesh
    uint32_t vertex_capacity, triangle_capacity; ///< no frame has more
    double volume, diagonal;                     ///< of the rest mesh
} cutis_patches_info;
/// @param binding of CUTIS_METHOD_PATCHES; of another method: all zero
CUTIS_API cutis_patches_info cutis_patches_describe(const cutis_binding *binding);

/// Where two parts meet.
typedef struct cutis_patches_joint {
    uint32_t parent, child;             ///< parts
    uint32_t node;                      ///< the child's joint
    uint32_t loop_length;               ///< vertices
    bool seam;                          ///< a second loop of a pair of parts: closed, never cut
    double centre[3];                   ///< the point it turns about
    double limb[3];                     ///< unit, along the limb, from parent to child
    double parent_volume, child_volume; ///< of the two parts, closed by fans over their loops
} cutis_patches_joint;
/// @param joint below joint_count; else all zero
CUTIS_API cutis_patches_joint cutis_patches_joint_at(const cutis_binding *binding, uint32_t joint);
/// Name of a part; owned by the binding. "" from part_count on.
CUTIS_API const char *cutis_patches_part_name(const cutis_binding *binding, uint32_t part);

/// What a joint did in a frame.
typedef struct cutis_patches_report {
    double bend, twist; ///< radians
    double weight;      ///< of its conics (fill keep)
    double flatness;    ///< 0: front arcs are circles, 1: chords
    double volume_left; ///< volume gained (lost: negative), cubic units, by this joint
    uint32_t triangles; ///< of the patch
    uint32_t retries;   ///< cuts that were made smaller, the larger of its two parts'
} cutis_patches_report;

/// The paper's triangulation in place of the strips of a frame, for comparison: every point of a
/// patch finds the triangles around it by itself (local Delaunay), and those that all three corners
/// found are kept. Not closed: points disagree in places. On the host, quadratic in the points of a
/// patch.
/// @param positions, normals  counts[0] vertices of a frame
/// @param indices, labels     its triangles, and the result: room for triangle_capacity
/// @param counts              vertices, triangles; the latter changes
/// @return CUTIS_OK, CUTIS_BUFFER_TOO_SMALL, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_patches_local(cutis_context *context, const cutis_patches_info *info,
                                           const float *positions, const float *normals,
                                           uint32_t *indices, uint32_t *labels,
                                           uint32_t triangle_capacity, uint32_t counts[2]);

#ifdef __cplusplus
}
#endif
#endif
