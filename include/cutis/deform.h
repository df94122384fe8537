/// Deforming: bind a model to a method on a device once, then turn poses into vertices every frame.
#ifndef CUTIS_DEFORM_H
#define CUTIS_DEFORM_H

#include <cutis/device.h>
#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How bones are blended. docs/design/blending.md compares them.
typedef enum cutis_method {
    CUTIS_METHOD_LBS = 0,   ///< linear: blend the matrices. Fast, loses volume
    CUTIS_METHOD_RIGID = 1, ///< each vertex follows its largest weight (ties: the lowest joint)
    CUTIS_METHOD_SBS = 2,   ///< spherical: one rotation centre per bone set and frame
    CUTIS_METHOD_DQS = 3,   ///< dual quaternion. Keeps volume, bulges
    CUTIS_METHOD_COR = 4,   ///< optimized centres: one rest centre per vertex, found at bind
    CUTIS_METHOD_PSD = 5, ///< linear, and the displacements of example poses, interpolated once per
                          ///< pose (cutis/poses.h)
    CUTIS_METHOD_WPSD =
        6, ///< the same, interpolated per vertex by its own joints' distances; CPU devices only
    CUTIS_METHOD_HANDLES_RIGID = 7, ///< linear over handles and virtual handles, of which each
                                    ///< moves rigidly between its real ones (cutis/handles.h)
    CUTIS_METHOD_CAGE = 8, ///< weighted controls of the model's cage, normals by the best affine
                           ///< map of each vertex's controls (cutis/cage.h)
} cutis_method;

/// "lbs", "rigid", "sbs", "dqs", "cor", "psd", "wpsd", "handles-rigid", "cage". PSD and WPSD need a
/// model with a pose space and local poses, HANDLES_RIGID one with virtual handles; they are bones
/// of the binding behind the joints of their skin, so CUTIS_POSE_PALETTE has them too. CAGE needs a
/// model with a cage and CUTIS_POSE_CONTROLS.
CUTIS_API const char *cutis_method_name(cutis_method method);
/// @return CUTIS_NOT_FOUND for another name
CUTIS_API cutis_result cutis_method_from_name(const char *name, cutis_method *out);

/// The zero value: linear blending, positions only, all influences.
typedef struct cutis_bind_options {
    cutis_method method;
    bool normals; ///< normals can be asked for in outputs (computed from the faces where a mesh has
                  ///< none)
    bool tangents;           ///< tangents too, where a mesh has them (elsewhere zeros)
    bool raw_normals;        ///< skip the last step to unit length (never longer than 1)
    bool weighted_centres;   ///< SBS: a centre per vertex, no creases (SBS_WEIGHTED)
    bool paper_centres;      ///< SBS: reference point = world origin, as in the paper
    bool paper_normals;      ///< SBS: linear normals, as in the paper's shader
    uint32_t max_influences; ///< 0 = all; else keep the largest and renormalise
    const float
        *blend; ///< per output vertex, 0 = LBS .. 1 = the method; NULL = 1; SBS, DQS and CoR only
    uint32_t concurrent_calls;  ///< how many threads may deform at once without waiting for each
                                ///< other; 0 = 1
    uint32_t instance_capacity; ///< instances whose palettes are prepared together; 0 = chosen by
                                ///< the device
} cutis_bind_options;

/// Immutable result of binding; shareable between threads.
typedef struct cutis_binding cutis_binding;

/// @param model borrowed until the binding is destroyed
/// @return CUTIS_OK, CUTIS_UNSUPPORTED (the method cannot do this model or device; the error says
/// why), CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_bind(cutis_device *device, const cutis_model *model,
                                  const cutis_bind_options *options, cutis_binding **out);
CUTIS_API void cutis_binding_destroy(cutis_binding *binding); ///< NULL is fine

typedef struct cutis_binding_info {
    uint32_t vertex_count; ///< of one output frame
    uint32_t bone_count;   ///< joints of all skinned instances, and nodes of unskinned ones
    uint32_t max_influences;
    uint32_t bone_set_count;  ///< sets of two or more bones with weight
    uint32_t large_set_count; ///< of those, sets of three or more (where SBS may crease)
    float bones_per_block;    ///< mean length of the shared bone lists
    uint64_t memory_bytes;
    uint64_t centre_solves; ///< SBS: solves per frame and instance
} cutis_binding_info;

CUTIS_API cutis_binding_info cutis_binding_describe(const cutis_binding *binding);

typedef enum cutis_pose_kind {
    CUTIS_POSE_LOCAL = 0,   ///< local transforms of all nodes
    CUTIS_POSE_WORLD = 1,   ///< world matrices of all nodes, from the caller's own animation system
    CUTIS_POSE_PALETTE = 2, ///< world * inverse bind of every bone of the binding
    CUTIS_POSE_CONTROLS = 3, ///< positions of the cage's controls, world space
} cutis_pose_kind;

/// Poses of all instances, instance after instance.
typedef struct cutis_poses {
    cutis_pose_kind kind;
    const cutis_transform *local; ///< node_count each
    const cutis_mat34 *matrices;  ///< node_count (world) or bone_count (palette) each
    const cutis_float3 *controls; ///< control_count each (bone_count of the binding)
    const float *morph_weights;   ///< cutis_model_target_count each, or NULL: the rest weights
} cutis_poses;

/// Where one kind of value goes. Either host memory or a device buffer; both NULL: not wanted.
typedef struct cutis_stream {
    void *data;               ///< host memory, or NULL
    cutis_buffer *buffer;     ///< of the binding's device, or NULL
    uint64_t offset;          ///< bytes into `buffer`
    uint32_t stride;          ///< bytes from vertex to vertex; 0 = tightly packed; a multiple of 4
    uint64_t instance_stride; ///< bytes from instance to instance; 0 = vertex_count * stride
} cutis_stream;

/// Outputs: vertices of each instance in the model's order (cutis_model_instances), world space.
typedef struct cutis_outputs {
    cutis_stream positions; ///< 3 floats; required unless only bounds are wanted
    cutis_stream normals;   ///< 3 floats; needs options.normals
    cutis_stream tangents;  ///< 4 floats; needs options.tangents
    cutis_stream
        previous_positions; ///< 3 floats: what `positions` held before this call (motion vectors)
    cutis_bounds *bounds;   ///< one per instance, tight, host memory; NULL = not wanted
} cutis_outputs;

/// Deform instances. Nothing is allocated; safe to call from several threads with different
/// outputs. With host outputs the result is there on return; with device buffers the work is only
/// started (cutis_device_finish).
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (sizes or streams disagree with the binding),
/// CUTIS_DEVICE_LOST, CUTIS_DEVICE_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_deform(const cutis_binding *binding, const cutis_poses *poses,
                                    uint32_t instance_count, const cutis_outputs *outputs);

/// Bone matrices (world * inverse bind) of one pose, in the order CUTIS_POSE_PALETTE wants them.
/// @param palette bone_count of caller memory
CUTIS_API void cutis_binding_palette(const cutis_binding *binding, const cutis_transform *local,
                                     cutis_mat34 *palette);

#ifdef __cplusplus
}
#endif
#endif
