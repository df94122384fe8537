/// Block skins: what a binding of linear, rigid, spherical, dual-quaternion and optimized-centre
/// blending holds, of pose space and of rigid handles: the layout a device runs, and everything a
/// frame is prepared with.
///
/// Invariant: all indices are in range after bind; only workspaces change afterwards.
#ifndef CUTIS_DEFORM_SKIN_H
#define CUTIS_DEFORM_SKIN_H

#include "base/memory.h"
#include "deform/deformer.h"
#include "geometry/sets.h"

/// Memory of one call. All arrays hold `capacity` instances.
typedef struct cutis_skin_workspace {
    cutis_workspace base;
    double *worlds;            ///< 12 per step and lane
    double *palettes;          ///< 12 per bone: world * inverse bind
    double *squares;           ///< per bone: |L|^2; SBS only
    double *quats;             ///< 4 per bone: rotations; not LBS
    const float *run_matrices; ///< `matrices`, or the caller's palettes as they are
    float *matrices, *rotations, *duals, *stretches, *centres, *scales, *targets;
    uint32_t *nonuniform;
    double *pose_scratch;   ///< pose space only
    double *handle_scratch; ///< HANDLES_RIGID: CUTIS_HANDLE_SCRATCH per bone and lane
    float *pose_squares;    ///< WPSD only: poses * bones each
} cutis_skin_workspace;

/// A skin that handles hold, as the binding has it.
typedef struct cutis_handle_skin {
    uint32_t first_bone; ///< of its joints; virtual handles follow the last joint
    uint32_t joint_count;
    uint32_t first_handle; ///< the handle that is joint 0
} cutis_handle_skin;

typedef struct cutis_skin_binding {
    cutis_binding base;
    cutis_skin_layout layout;  ///< its arrays only where the device's memory is the host's
    cutis_arena layout_memory; ///< these arrays
    uint64_t layout_bytes;
    cutis_device_skin *skin;
    uint32_t list_length; ///< of all blocks' bone lists
    bool has_morphs;

    // The way from local transforms to bones: nodes that bones depend on, parents first.
    uint32_t node_count, step_count;
    uint32_t *step_node;
    int32_t *step_parent; ///< step, or -1
    const double *
        *step_matrix; ///< the node's own matrix, which counts while it is at rest; or NULL

    int32_t *step_driver; ///< place among the groups of drivers, or -1; NULL: nothing is driven
    int32_t *driver_step; ///< per place: step, or -1: no bone depends on it
    bool drives_weights;  ///< of morph targets

    uint32_t bone_count;
    uint32_t *bone_node, *bone_step;
    int32_t *bone_parent;   ///< nearest bone above of the same skin, or -1
    uint32_t *bone_used;    ///< all bits set if some vertex has weight on it, else 0
    uint8_t *bone_plain;    ///< its inverse bind is the identity
    double *inverse_binds;  ///< 12 per bone
    double *bind_rotations; ///< w x y z of the polar rotation of the inverse bind
    double *origins;        ///< 3 per bone: rest origin, from inverse(inverse bind)

    // Bone sets of two or more, first-seen order.
    uint32_t set_count, large_set_count, max_influences;
    uint32_t *set_first, *set_bone;
    double diagonal;     ///< of the rest shape
    double centre_limit; ///< largest |r_c - c0| that is trusted
    // SBS: centres are solved CUTIS_CENTRE_LANES sets of equal size at a time.
    uint32_t group_count;
    uint32_t *group_first;   ///< group_count + 1: places of the groups' sets, into group_bone
    uint32_t *group_bone;    ///< CUTIS_CENTRE_LANES per place: bones of the sets
    uint32_t *group_set;     ///< CUTIS_CENTRE_LANES per group; the last set of a size is repeated
    uint32_t *group_size;    ///< sets of the group without the repeated ones
    double *group_reference; ///< 3 CUTIS_CENTRE_LANES per group: c0, x of the sets, y, z

    uint32_t target_count;        ///< of the model; a layout may have more of its own behind them
    float *rest_targets;          ///< target_count
    struct cutis_pose_play *play; ///< PSD and WPSD; else NULL
    cutis_handle_skin *handle_skins; ///< HANDLES_RIGID: skins that handles hold
    uint32_t handle_skin_count;
    uint32_t lane_count;              ///< tasks that prepare instances at the same time
    atomic_uint_fast64_t solve_count; ///< centres solved so far (tests count them)
} cutis_skin_binding;

/// The binding of a method whose deformer is the one of skin.c.
static inline const cutis_skin_binding *cutis_skin_of(const cutis_binding *binding)
{
    return (const cutis_skin_binding *)binding;
}

/// Zeroed memory for arrays of the layout: a device with its own memory copies them, and then they
/// are released. NULL with the context's error set.
void *cutis_layout_alloc(cutis_skin_binding *binding, size_t count, size_t item);

// bones.c
/// @param skin_bone per skin: bone of its first joint; @param node_bone per node: its bone.
/// UINT32_MAX: none
cutis_result cutis_bind_bones(cutis_skin_binding *binding, cutis_arena *arena, uint32_t *skin_bone,
                              uint32_t *node_bone);

// influences.c: layout.first, bone, weight
cutis_result cutis_bind_influences(cutis_skin_binding *binding, cutis_arena *arena,
                                   const uint32_t *skin_bone, const uint32_t *node_bone);

// sets.c: bone_used, too
cutis_result cutis_bind_sets(cutis_skin_binding *binding, cutis_sets *table, uint32_t *vertex_set,
                             uint32_t *centre);

// pack.c: layout.block_count, vertices, list_first, list_bone
cutis_result cutis_bind_pack(cutis_skin_binding *binding, const cutis_sets *table,
                             const uint32_t *vertex_set);

// layout.c: the planes of the layout
cutis_result cutis_bind_layout(cutis_skin_binding *binding, const uint32_t *vertex_set,
                               const uint32_t *centre, const float *centres);

/// What weighted pose space adds by targets of the layout's own, behind the model's.
typedef struct cutis_pose_residuals {
    uint32_t target_count; ///< one per example pose; 0: none
    const uint32_t *rows;  ///< per output vertex: its row of deltas, or UINT32_MAX
    const float *deltas;   ///< per row and target: 3 of the position, 3 of the normal
} cutis_pose_residuals;

// pose_space.c
/// After the layout, before the morph targets: RBF of PSD, or fields of WPSD.
/// @param arena outlives the bind of morph targets
/// @param residuals what WPSD leaves to morph targets, in the arena
cutis_result cutis_bind_pose_space(cutis_skin_binding *binding, cutis_arena *arena,
                                   cutis_pose_residuals *residuals);

/// Memory of a workspace. false: out of memory.
bool cutis_pose_space_workspace(cutis_skin_binding *binding, cutis_skin_workspace *workspace);

/// One instance. PSD: morph weights of the examples; WPSD: squared distances per bone.
/// @param local node_count transforms; @param slot its place in the workspace
/// @param lane  of the task that prepares it: those share no scratch
void cutis_pose_space_prepare(const cutis_skin_binding *binding, cutis_skin_workspace *workspace,
                              const cutis_transform *local, uint32_t slot, uint32_t lane);

// morph.c: target lists of the layout, rest weights
cutis_result cutis_bind_morphs(cutis_skin_binding *binding, const cutis_pose_residuals *residuals);

// cor.c: one rest centre per vertex. In: 3 floats each, their positions
cutis_result cutis_bind_centres(cutis_skin_binding *binding, float *centres);

// handles.c
/// The method's needs: a rig with virtual handles. Other methods: nothing to check.
cutis_result cutis_bind_handles_check(cutis_context *context, const cutis_model *model,
                                      const cutis_bind_options *options);

/// Bones a skin needs beyond its joints.
uint32_t cutis_handle_bone_count(const cutis_skin_binding *binding, int32_t skin);

/// Which skins are held; after the bones are numbered.
cutis_result cutis_bind_handles(cutis_skin_binding *binding, const uint32_t *skin_bone);

/// The weights a primitive is bound with: its own, or those on handles.
const cutis_influences *cutis_bound_influences(const cutis_skin_binding *binding, uint32_t mesh,
                                               uint32_t primitive);

/// Bones of the numbers that those weights name: so much is added (modulo 2^32) to numbers below
/// `split`, and to the others.
typedef struct cutis_bone_numbers {
    uint32_t split, below, above;
} cutis_bone_numbers;
cutis_bone_numbers cutis_bound_bones(const cutis_skin_binding *binding,
                                     const cutis_influences *influences, uint32_t mesh,
                                     int32_t skin, uint32_t skin_bone);
static inline uint32_t cutis_bone_of(const cutis_bone_numbers *numbers, uint32_t number)
{
    return number + (number < numbers->split ? numbers->below : numbers->above);
}

/// Fill in the virtual handles' matrices of one palette. Other methods: nothing.
/// @param scratch CUTIS_HANDLE_SCRATCH doubles per bone
void cutis_handles_palette(const cutis_skin_binding *binding, double *palette, double *scratch);
#define CUTIS_HANDLE_SCRATCH 14

// palette.c
/// World * inverse bind of every bone. @param worlds step_count * 12 of scratch
/// @param root above the topmost nodes; NULL: nothing is
void cutis_palette_local(const cutis_skin_binding *binding, const cutis_transform *local,
                         const cutis_transform *root, double *worlds, double *palette);
/// The matrix of a transform as they have it.
void cutis_palette_transform(const cutis_transform *transform, double *matrix);
void cutis_palette_world(const cutis_skin_binding *binding, const cutis_mat34 *world,
                         double *palette);
/// The rotation a bone has by its local rotations alone, for bones whose matrix defines none. w x y
/// z
/// @param root above the topmost nodes; NULL: nothing is
void cutis_palette_rotation(const cutis_skin_binding *binding, const cutis_transform *local,
                            const cutis_transform *root, uint32_t bone, double *quat);

/// Rotation (w x y z) and stretch (xx xy xz yy yz zz) of a bone matrix: L = R S
/// (docs/spec/blending.md 6.1).
/// @param fallback rotation to take when L defines none, or NULL: then false is returned and
/// nothing written
bool cutis_bone_split(const double *matrix, const double *fallback, double *quat, double *stretch);

// centre.c
/// Rotation centres of bone sets of equal size, several at a time (docs/spec/blending.md 4.2).
/// @param centres laid out like the group's reference points
void cutis_centre_solve(const cutis_bone_work *work, const cutis_centre_group *group,
                        double *centres);

// frame.c
/// Bone data of instances [first, first + count) into the workspace.
/// @param roots above the nodes of local poses, one per pose; the identity, or NULL: nothing is
/// @param rigid the poses are palettes whose bones are all known to be rigid (cutis_bone_work)
/// @return false if a bone matrix is not finite in float
bool cutis_frames_prepare(const cutis_skin_binding *binding, cutis_skin_workspace *workspace,
                          const cutis_poses *poses, const cutis_transform *roots, uint32_t first,
                          uint32_t count, bool rigid);
/// Arrays of a workspace. false: out of memory.
bool cutis_frames_workspace(cutis_skin_binding *binding, cutis_skin_workspace *workspace);

#endif
