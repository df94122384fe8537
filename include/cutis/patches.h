/// Rigid skinning with blending patches: every part of a body moves rigidly, and a patch made anew
/// each frame closes each joint. No weights, no collapse, no candy wrapper; the surface is closed
/// in every pose, and the joint keeps its volume.
///
/// docs/design/patches.md has the method, its figures and its limits.
#ifndef CUTIS_PATCHES_H
#define CUTIS_PATCHES_H

#include <cutis/deform.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a bent joint takes away from its two parts.
typedef enum cutis_patch_removal {
    CUTIS_PATCH_CUT = 0, ///< what lies beyond a plane through the joint: a smooth border
    CUTIS_PATCH_BOX = 1, ///< what lies in the other part's box, as in the paper
} cutis_patch_removal;

/// How the gap on the inner side of a bend is filled.
typedef enum cutis_patch_fill {
    CUTIS_PATCH_FILL_DEFAULT = 0, ///< keep for cut, reduced for box
    CUTIS_PATCH_FILL_KEEP = 1,    ///< so that the joint keeps its volume
    CUTIS_PATCH_FILL_MEAN = 2,    ///< the paper's four alternatives, in its order
    CUTIS_PATCH_FILL_INTERSECTION = 3,
    CUTIS_PATCH_FILL_REDUCED = 4,
    CUTIS_PATCH_FILL_BETWEEN = 5,
} cutis_patch_fill;

/// "cut", "box".
CUTIS_API const char *cutis_patch_removal_name(cutis_patch_removal removal);
/// @return CUTIS_NOT_FOUND for another name
CUTIS_API cutis_result cutis_patch_removal_from_name(const char *name, cutis_patch_removal *out);
/// "default", "keep", "mean", "intersection", "reduced", "between".
CUTIS_API const char *cutis_patch_fill_name(cutis_patch_fill fill);
/// @return CUTIS_NOT_FOUND for another name
CUTIS_API cutis_result cutis_patch_fill_from_name(const char *name, cutis_patch_fill *out);

/// The zero value: plane cut, volume kept, one instance at a time.
typedef struct cutis_patches_options {
    cutis_patch_removal removal;
    cutis_patch_fill fill;
    uint32_t instance_capacity; ///< instances worked on together; 0 = 1
} cutis_patches_options;

/// A body bound to a device: its parts, loops and room for the work of a frame. One call at a time.
typedef struct cutis_patches cutis_patches;

/// Bind a model whose mesh has parts (cutis_skeleton_extract, cutis_synth_create, CUTIS_parts). The
/// mesh must be closed, its parts whole, and their borders closed loops that do not touch.
/// @param model not needed any more afterwards, except by cutis_patches_run with local poses
/// @return CUTIS_OK, CUTIS_UNSUPPORTED (no parts, no skin, an open mesh, loops that touch; the
///         error names the part), CUTIS_CANCELLED, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_patches_create(cutis_device *device, const cutis_model *model,
                                            const cutis_patches_options *options,
                                            cutis_patches **out);
CUTIS_API void cutis_patches_destroy(cutis_patches *patches); ///< NULL is fine

typedef struct cutis_patches_info {
    uint32_t part_count, joint_count;
    uint32_t vertex_count;                       ///< of the welded rest mesh
    uint32_t triangle_count;                     ///< of the rest mesh
    uint32_t vertex_capacity, triangle_capacity; ///< no frame has more
    double volume, diagonal;                     ///< of the rest mesh
    uint64_t memory_bytes;
} cutis_patches_info;
CUTIS_API cutis_patches_info cutis_patches_describe(const cutis_patches *patches);

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
/// @param joint below joint_count
CUTIS_API cutis_patches_joint cutis_patches_joint_at(const cutis_patches *patches, uint32_t joint);
/// Name of a part; owned by the binding.
CUTIS_API const char *cutis_patches_part_name(const cutis_patches *patches, uint32_t part);

/// What a joint did in a frame.
typedef struct cutis_patches_report {
    double bend, twist; ///< radians
    double weight;      ///< of its conics (fill keep)
    double flatness;    ///< 0: front arcs are circles, 1: chords
    double volume_left; ///< volume gained (lost: negative), cubic units, by this joint
    uint32_t triangles; ///< of the patch
    uint32_t retries;   ///< cuts that were made smaller, the larger of its two parts'
} cutis_patches_report;

/// Where frames go. Host memory, or buffers of the binding's device (results stay there).
/// Instance i stands at i * capacity. World space.
typedef struct cutis_patches_output {
    uint32_t vertex_capacity, triangle_capacity; ///< of each instance; 0 = those of the info
    cutis_stream positions;                      ///< 3 floats a vertex, tightly packed
    cutis_stream normals;                        ///< 3 floats, unit; NULL = not wanted
    cutis_stream indices;                        ///< 3 uint32 a triangle
    cutis_stream labels; ///< uint32 a triangle: its part, or part_count + joint for patches; NULL
                         ///< = not wanted
    /// What vertices and triangles come from, for colours and the like; NULL = not wanted. A vertex
    /// is a mixture of four vertices of the model (primitives in order); weights sum to 1.
    cutis_stream source_vertices; ///< 4 uint32 a vertex
    cutis_stream source_weights;  ///< 4 floats a vertex; both or none
    cutis_stream origins; ///< uint32 a triangle: of the model (in the order of its primitives) that
                          ///< it is or is cut from; UINT32_MAX: a patch
    cutis_stream counts;  ///< 2 uint32 an instance: vertices, triangles
    cutis_patches_report *reports; ///< joint_count an instance, host memory, or NULL
} cutis_patches_output;

/// Make the meshes of `instance_count` poses. Nothing is allocated. CUTIS_POSE_PALETTE takes the
/// matrix of every part (world * inverse bind of its joint), so no model is needed.
/// @param model the one that was bound; NULL with palettes
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT, CUTIS_BUFFER_TOO_SMALL (host outputs: the counts say
///         what is needed), CUTIS_DEVICE_LOST
CUTIS_API cutis_result cutis_patches_run(cutis_patches *patches, const cutis_model *model,
                                         const cutis_poses *poses, uint32_t instance_count,
                                         const cutis_patches_output *output);

/// The rest topology in place of a new one: every vertex of the model's output frame, those that
/// the joints removed placed on the patches by their place along the loop and their distance from
/// it. For engines that need one topology; docs/design/patches.md says what it loses. Host devices
/// and others alike; the result comes to host memory.
/// @param positions 3 * cutis_model_vertex_count floats an instance, caller memory
CUTIS_API cutis_result cutis_patches_run_fixed(cutis_patches *patches, const cutis_model *model,
                                               const cutis_poses *poses, uint32_t instance_count,
                                               float *positions);

/// The paper's triangulation in place of the strips of a frame, for comparison: every point of a
/// patch finds the triangles around it by itself (local Delaunay), and those that all three corners
/// found are kept. Not closed: points disagree in places. On the host, quadratic in the points of a
/// patch.
/// @param positions, normals  counts[0] vertices of a frame of cutis_patches_run
/// @param indices, labels     its triangles, and the result: room for triangle_capacity
/// @param counts              vertices, triangles; the latter changes
/// @return CUTIS_OK, CUTIS_BUFFER_TOO_SMALL, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_patches_local(cutis_context *context, const cutis_patches_info *info,
                                           const float *positions, const float *normals,
                                           uint32_t *indices, uint32_t *labels,
                                           uint32_t triangle_capacity, uint32_t counts[2]);

/// Part matrices of one pose, in the order CUTIS_POSE_PALETTE wants them.
/// @param palette part_count of caller memory
CUTIS_API void cutis_patches_palette(const cutis_patches *patches, const cutis_model *model,
                                     const cutis_transform *local, cutis_mat34 *palette);

#ifdef __cplusplus
}
#endif
#endif
