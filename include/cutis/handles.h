/// Handles: points, bars or the bones of a skeleton put on anything (meshes, open meshes, soups,
/// loose pieces, point clouds), and smooth weights for them. The shape is voxelised, so nothing is
/// asked of its triangles.
///
/// Weights are non-negative, sum to one, are C2 inside the shape, 1 at their own handle and 0 at
/// the others. Definitions: docs/spec/handles.md. Limits: docs/design/handles.md. Figures:
/// docs/benchmarks.md.
///
/// Threads: several may bind the same model at once (one device for several: see cutis/device.h). A
/// session is for one thread at a time, and so is what cutis_handles_look gives.
#ifndef CUTIS_HANDLES_H
#define CUTIS_HANDLES_H

#include <cutis/device.h>
#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Moves x to R (x - from) + from + translation.
typedef struct cutis_handle_motion {
    uint32_t handle;
    cutis_quat rotation;
    cutis_float3 translation;
} cutis_handle_motion;

/// A named pose; handles it does not mention stay.
typedef struct cutis_handle_pose {
    const char *name; ///< UTF-8, or NULL
    uint32_t motion_count;
    const cutis_handle_motion *motions;
} cutis_handle_pose;

typedef struct cutis_handle_set {
    uint32_t handle_count;
    const cutis_handle *handles;
    uint32_t pose_count;
    const cutis_handle_pose *poses;
} cutis_handle_set;

typedef enum cutis_weighting {
    CUTIS_WEIGHTING_FIELD =
        0, ///< a harmonic field per handle on the voxels: symmetric, no lumps, reaches far
    CUTIS_WEIGHTING_VIRTUAL =
        1, ///< supports of limited size, virtual handles between them (the paper's construction)
} cutis_weighting;

/// "field", "virtual".
CUTIS_API const char *cutis_weighting_name(cutis_weighting weighting);

/// The zero value: 128 voxels, field, 4 influences.
typedef struct cutis_handles_options {
    uint32_t voxels;  ///< along the longest side of the model, 8 .. 1024; 0 = 128
    bool voxels_auto; ///< raise `voxels` (to at most 512) until the grid separates the handles; not
                      ///< for skeletons
    cutis_weighting weighting;
    uint32_t influences; ///< weights kept per vertex, 1 .. 64; 0 = 4
    bool reduce;     ///< choose them by cutis_weights_reduce over the model's clips (else automatic
                     ///< poses), not by size: nearer to all weights, and slower. Not for sessions
    double softness; ///< skeletons: part of a bone next to a joint that bends with it, 0 < s <=
                     ///< 0.5; 0 = 0.25
    double radius; ///< VIRTUAL: largest support of a handle; 0 = half the longest distance between
                   ///< two handles
    double tolerance;      ///< FIELD: largest residual of the solver; 0 = 1e-6
    bool strict;           ///< handles the grid cannot separate are an error; not for skeletons
    int32_t skin_plus_one; ///< skeletons: 1 + the only skin to bind; 0 = all skins in use
    bool every_joint; ///< skeletons: all joints hold their bones, also those that artists give no
                      ///< weight (a top that only carries the rig, targets of inverse kinematics)
} cutis_handles_options;

/// What became of one handle, or of one joint of a skin.
typedef struct cutis_handle_result {
    const char *name;
    bool has_site;  ///< false: a joint that touches nothing; its weight is 0 everywhere
    bool shared;    ///< at the same place as an earlier handle: they share one weight equally
    bool floored;   ///< VIRTUAL: its support had to be larger than its distance to another handle
    double snapped; ///< how far outside the model the handle is; its weights are those of the
                    ///< nearest voxel
    double error;   ///< 1 - its weight at its own place, largest along a bar
} cutis_handle_result;

/// Seconds of each stage, as in the paper's Table 1.
typedef struct cutis_handles_seconds {
    double voxelise, distances, insertion, weights, reduction;
} cutis_handles_seconds;

/// What was done. With several skins: sums, and the largest of what is a maximum.
typedef struct cutis_handles_report {
    uint32_t voxels;   ///< along the longest side, as used
    double voxel_size; ///< of the first domain
    uint64_t domain_voxels;
    uint32_t components;
    uint32_t orphan_components; ///< without a handle: they follow the nearest one
    /// Skeletons: loose pieces of the mesh that no bone bends (hats, swords, plates, eyes) beside a
    /// body that bones do bend; each follows one joint.
    uint32_t rigid_islands;
    uint32_t touching;         ///< links between voxels that were cut: parts that only touch
    uint32_t real_handles;     ///< with a site
    uint32_t virtual_handles;  ///< VIRTUAL
    uint32_t insertion_rounds; ///< VIRTUAL
    double coverage_max;       ///< VIRTUAL: largest distance / support over the voxels; at most 0.8
    uint32_t iterations;       ///< FIELD: of the solver
    uint32_t floored_handles;
    uint32_t joints_without_site;
    double interpolation_error_max; ///< largest error of any handle
    double separation_min;  ///< least distance between two handles, world units; 0 with one handle
    uint32_t voxels_needed; ///< that would separate all handles; 0 if they are (errors up to 1e-6)
    double dropped_mass_max, dropped_mass_mean; ///< weight beyond the kept influences, per vertex
    cutis_handles_seconds seconds;
    uint32_t handle_count;
    cutis_handle_result *handles; ///< handle_count: the handles, or the joints of the skins bound
    cutis_context *context;       ///< that owns the arrays
} cutis_handles_report;

CUTIS_API void cutis_handles_report_destroy(cutis_handles_report *report); ///< NULL is fine

/// Weights for handles. The new model's meshes are skinned to one node per handle (under a node
/// named "handles"), a clip with one key per pose is added, and everything else is kept. Skins the
/// meshes had no longer move them: they are at rest. The result is the same for any number of
/// threads.
/// @param device whose threads work; NULL: the calling one
/// @param report what was done (destroy it), or NULL
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (no vertices, no handles, options out of range,
/// `strict`),
///         CUTIS_LIMIT_EXCEEDED (the grid), CUTIS_CANCELLED, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_handles_weights(const cutis_model *model, cutis_device *device,
                                             const cutis_handle_set *handles,
                                             const cutis_handles_options *options,
                                             cutis_model **out, cutis_handles_report **report);

/// A live session: handles come, move and go on one shape, and the weights follow. The shape is
/// voxelised once; a change recomputes what depends on it (VIRTUAL keeps the distances of handles
/// that stayed), and after any changes the weights have the same bits as those of a fresh bind of
/// the same handles. One thread at a time.
typedef struct cutis_handle_session cutis_handle_session;

/// @param model  borrowed until the session is destroyed
/// @param device whose threads (and GPU) work; NULL: the calling thread. Borrowed as well
/// @return as cutis_handles_weights; `voxels_auto` is not for sessions
CUTIS_API cutis_result cutis_handle_session_create(const cutis_model *model, cutis_device *device,
                                                   const cutis_handles_options *options,
                                                   cutis_handle_session **out);
CUTIS_API void cutis_handle_session_destroy(cutis_handle_session *session); ///< NULL is fine

/// Replace all handles at once, or add, move or remove one. A change that fails leaves everything
/// as it was. Handles are copied.
CUTIS_API cutis_result cutis_handles_set(cutis_handle_session *session, const cutis_handle *handles,
                                         uint32_t count);
/// @param index where it is now, or NULL
CUTIS_API cutis_result cutis_handles_add(cutis_handle_session *session, const cutis_handle *handle,
                                         uint32_t *index);
/// @param place its new kind and place; a NULL name keeps the old one
CUTIS_API cutis_result cutis_handles_move(cutis_handle_session *session, uint32_t index,
                                          const cutis_handle *place);
/// Later handles move up by one.
CUTIS_API cutis_result cutis_handles_remove(cutis_handle_session *session, uint32_t index);

/// What a session holds; all of it is valid until the next change.
typedef struct cutis_handles_view {
    uint32_t handle_count;
    const cutis_handle *handles;
    uint32_t vertex_count;  ///< of one output frame of the model
    uint32_t influences;    ///< slots per vertex: joints ascending, unused ones last with weight 0
    const uint32_t *joints; ///< handles; NULL while there are none
    const float *weights;
    const cutis_handles_report *report; ///< of the last change; NULL while there are no handles
} cutis_handles_view;

CUTIS_API cutis_handles_view cutis_handles_look(const cutis_handle_session *session);

/// The model that cutis_handles_weights would make of the handles as they are now.
CUTIS_API cutis_result cutis_handles_finish(const cutis_handle_session *session,
                                            const cutis_handle_pose *poses, uint32_t pose_count,
                                            cutis_model **out);

/// Automatic weights for a rig: the joints of each skin are handles, the meshes that use it get new
/// weights, everything else stays. Does not fail for any skin.
/// @return as cutis_handles_weights; CUTIS_INVALID_ARGUMENT if no mesh of the scene has a skin
CUTIS_API cutis_result cutis_handles_skeleton(const cutis_model *model, cutis_device *device,
                                              const cutis_handles_options *options,
                                              cutis_model **out, cutis_handles_report **report);

#ifdef __cplusplus
}
#endif
#endif
