/// The one interface behind cutis_bind: what every way of deforming implements, and what all of
/// them share. Block skins (skin.c, with pose space and handles as stages of theirs), cages
/// (cage.c) and patches (patches.c) are deformers; a method is a row of CUTIS_METHODS and names
/// one.
///
/// Invariant: after cutis_bind a binding changes only in its workspaces, each used by the one call
/// that holds it.
#ifndef CUTIS_DEFORM_DEFORMER_H
#define CUTIS_DEFORM_DEFORMER_H

#include <stdatomic.h>

#include <cutis/deform.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "device/stage.h"

/// The outputs that there are, in the order of cutis_stage_batch.targets.
typedef enum cutis_output_kind {
    CUTIS_OUTPUT_POSITIONS,
    CUTIS_OUTPUT_NORMALS,
    CUTIS_OUTPUT_TANGENTS,
    CUTIS_OUTPUT_PREVIOUS,
    CUTIS_OUTPUT_INDICES,
    CUTIS_OUTPUT_LABELS,
    CUTIS_OUTPUT_SOURCE_VERTICES,
    CUTIS_OUTPUT_SOURCE_WEIGHTS,
    CUTIS_OUTPUT_ORIGINS,
    CUTIS_OUTPUT_COUNTS,
    CUTIS_OUTPUT_REST_POSITIONS,
    CUTIS_OUTPUT_KINDS
} cutis_output_kind;

/// Memory of one call of cutis_deform; deformers append their own.
typedef struct cutis_workspace {
    struct cutis_workspace *_Atomic next;
    atomic_flag busy;
    cutis_stage stage;
} cutis_workspace;

/// A call of cutis_deform, checked.
typedef struct cutis_deform_call {
    const cutis_poses *poses;     ///< NULL: only prepare
    const cutis_transform *roots; ///< of crowds: above the nodes of local poses, or NULL
    const cutis_outputs *outputs;
    uint32_t instance_count;
    uint32_t written_count; ///< instances that are written together, these among them: a crowd's
    cutis_stage_output streams[CUTIS_OUTPUT_KINDS];
    uint32_t vertex_capacity, triangle_capacity; ///< of an instance
    bool finite; ///< of poses it is known already, or found out later
    bool rigid;  ///< so are palettes of skins: all bones are rigid
} cutis_deform_call;

typedef struct cutis_deformer {
    size_t binding_size, workspace_size; ///< of the structs that begin with the common ones
    /// What options and models it cannot do, beyond what CUTIS_METHODS says.
    cutis_result (*check)(cutis_context *context, const cutis_model *model,
                          const cutis_bind_options *options);
    /// Sets vertex_count (and triangle_count) and capacity. What it makes half is destroyed.
    cutis_result (*bind)(cutis_binding *binding);
    /// What cutis_binding_alloc did not give out.
    void (*destroy)(cutis_binding *binding);
    void (*describe)(const cutis_binding *binding, cutis_binding_info *info);
    cutis_result (*workspace_create)(cutis_binding *binding, cutis_workspace *workspace);
    /// What cutis_binding_alloc did not give out; NULL: nothing.
    void (*workspace_destroy)(cutis_binding *binding, cutis_workspace *workspace);
    /// Poses of the right kind and finite; also what outputs it cannot give together.
    cutis_result (*check_call)(const cutis_binding *binding, cutis_deform_call *call);
    /// Instances of a batch into its targets. Allocates nothing after `prepare`.
    cutis_result (*run)(const cutis_binding *binding, cutis_workspace *workspace,
                        const cutis_deform_call *call, cutis_stage_batch *batch);
    /// Everything that `run` would allocate or compile for such a batch.
    cutis_result (*prepare)(const cutis_binding *binding, cutis_workspace *workspace,
                            const cutis_deform_call *call, cutis_stage_batch *batch);
    /// Bone matrices of a local pose; NULL: there are none.
    void (*palette)(const cutis_binding *binding, cutis_workspace *workspace,
                    const cutis_transform *local, cutis_mat34 *palette);
} cutis_deformer;

extern const cutis_deformer cutis_skin_deformer, cutis_cage_deformer, cutis_patches_deformer;

/// What all bindings have; deformers append their own.
struct cutis_binding {
    cutis_context *context;
    cutis_device *device;
    const cutis_model *model;
    const cutis_deformer *deformer;
    const cutis_method_info *method;
    cutis_bind_options options;
    uint32_t vertex_count, triangle_count; ///< of an output frame, at most
    uint32_t capacity;                     ///< instances of a batch
    bool keeps_previous;                   ///< the deformer copies previous positions itself
    cutis_os_lock *lock;                   ///< of the list of workspaces
    atomic_uint waiting;                   ///< calls that sleep until a workspace is free
    bool preparing;                        ///< a call takes all workspaces; with the lock held
    cutis_workspace *_Atomic workspaces;
    uint64_t memory_bytes;
    cutis_arena arena; ///< what lives as long as the binding
};

/// Zeroed memory that lives as long as the binding; NULL with the context's error set. While it is
/// bound, or with the lock held.
void *cutis_binding_alloc(cutis_binding *binding, size_t count, size_t item);

// deform.c
/// cutis_deform of local poses with roots above their topmost nodes (block skins only).
/// @param written_count  as in cutis_deform_call
cutis_result cutis_deform_rooted(const cutis_binding *binding, const cutis_poses *poses,
                                 const cutis_transform *roots, uint32_t instance_count,
                                 uint32_t written_count, const cutis_outputs *outputs);

// outputs.c
/// The outputs of a call as streams with their shape, checked against method, binding and buffers.
cutis_result cutis_outputs_check(const cutis_binding *binding, const cutis_outputs *outputs,
                                 uint32_t instance_count, cutis_deform_call *call);
static inline bool cutis_output_wanted(const cutis_deform_call *call, cutis_output_kind kind)
{
    return call->streams[kind].stream.data || call->streams[kind].stream.buffer;
}

// poses.c
/// Poses of a kind that the method takes, there and finite. Morph weights are not looked at.
/// @param bones matrices of a palette
cutis_result cutis_poses_check(const cutis_binding *binding, const cutis_deform_call *call,
                               size_t nodes, size_t bones);

// workspace.c
cutis_result cutis_workspaces_create(cutis_binding *binding);
void cutis_workspaces_destroy(cutis_binding *binding);
/// A free workspace; NULL: no memory for one more.
cutis_workspace *cutis_workspace_take(const cutis_binding *binding);
/// Around taking all of them: two calls that each hold some would wait for each other for ever.
void cutis_workspaces_begin(cutis_binding *binding);
void cutis_workspaces_end(cutis_binding *binding);
void cutis_workspace_give(const cutis_binding *binding, cutis_workspace *workspace);

#endif
