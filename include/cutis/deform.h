/// Deforming: bind a model to a method on a device once, then turn poses into vertices every frame.
///
/// Threads: a binding is immutable, and several may deform with it at once, each into outputs of
/// its own; how many do so without waiting is options.concurrent_calls. The method PATCHES is
/// experimental.
#ifndef CUTIS_DEFORM_H
#define CUTIS_DEFORM_H

#include <cutis/device.h>
#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a method needs of a model beyond meshes, nodes and skins.
enum {
    CUTIS_NEEDS_POSE_SPACE = 1,      ///< example poses (cutis/poses.h)
    CUTIS_NEEDS_VIRTUAL_HANDLES = 2, ///< cutis/handles.h
    CUTIS_NEEDS_CAGE = 4,            ///< cutis/cage.h
    CUTIS_NEEDS_PARTS = 8,           ///< parts of a closed mesh (cutis/skeleton.h)
};
/// What a method can do beyond positions, normals and bounds from local poses.
enum {
    CUTIS_CAN_TANGENTS = 1,
    CUTIS_CAN_PREVIOUS = 2,       ///< previous positions
    CUTIS_CAN_BLEND = 4,          ///< options.blend
    CUTIS_CAN_LIMIT = 8,          ///< options.max_influences
    CUTIS_CAN_MATRICES = 16,      ///< poses as world matrices or palettes
    CUTIS_CAN_CONTROLS = 32,      ///< poses as positions of controls, and nothing else
    CUTIS_CAN_RAW_NORMALS = 64,   ///< options.raw_normals
    CUTIS_CAN_PAPER = 128,        ///< options.weighted_centres, paper.centres, paper.normals
    CUTIS_CHANGES_TOPOLOGY = 256, ///< every frame has its own vertices: outputs.topology
};
#define CUTIS_CAN_SKIN                                                                             \
    (CUTIS_CAN_TANGENTS | CUTIS_CAN_PREVIOUS | CUTIS_CAN_LIMIT | CUTIS_CAN_MATRICES |              \
     CUTIS_CAN_RAW_NORMALS)

/// The methods: X(NAME, number, name, title, needs, abilities, help). The one list that enum,
/// names, the command and its documents, and the studio are made from. docs/design/blending.md
/// compares them.
#define CUTIS_METHODS(X)                                                                           \
    X(LBS, 0, "lbs", "linear", 0, CUTIS_CAN_SKIN, "blend the matrices; fast, loses volume")        \
    X(RIGID, 1, "rigid", "rigid", 0, CUTIS_CAN_SKIN,                                               \
      "each vertex follows its largest weight (ties: the lowest joint)")                           \
    X(SBS, 2, "sbs", "spherical", 0, CUTIS_CAN_SKIN | CUTIS_CAN_BLEND | CUTIS_CAN_PAPER,           \
      "one rotation centre per bone set and frame; keeps volume")                                  \
    X(DQS, 3, "dqs", "dual quaternion", 0, CUTIS_CAN_SKIN | CUTIS_CAN_BLEND,                       \
      "keeps volume, bulges a little")                                                             \
    X(COR, 4, "cor", "optimized centres", 0, CUTIS_CAN_SKIN | CUTIS_CAN_BLEND,                     \
      "one rest centre per vertex, found when binding; keeps volume, no bulge")                    \
    X(PSD, 5, "psd", "pose space", CUTIS_NEEDS_POSE_SPACE, CUTIS_CAN_SKIN & ~CUTIS_CAN_MATRICES,   \
      "linear, and the displacements of example poses, interpolated once per pose")                \
    X(WPSD, 6, "wpsd", "pose space, weighted", CUTIS_NEEDS_POSE_SPACE,                             \
      CUTIS_CAN_SKIN & ~CUTIS_CAN_MATRICES,                                                        \
      "the same, interpolated per vertex by its own joints' distances")                            \
    X(HANDLES_RIGID, 7, "handles-rigid", "handles, rigid", CUTIS_NEEDS_VIRTUAL_HANDLES,            \
      CUTIS_CAN_SKIN & ~CUTIS_CAN_LIMIT,                                                           \
      "linear over handles and virtual handles, of which each moves rigidly")                      \
    X(CAGE, 8, "cage", "cage", CUTIS_NEEDS_CAGE, CUTIS_CAN_CONTROLS | CUTIS_CAN_PREVIOUS,          \
      "a coarse mesh moves the body: weighted controls")                                           \
    X(PATCHES, 9, "patches", "blending patches", CUTIS_NEEDS_PARTS,                                \
      CUTIS_CAN_MATRICES | CUTIS_CHANGES_TOPOLOGY,                                                 \
      "no weights: joints bend in bands, or rigid parts are closed by patches; volume is kept")

typedef enum cutis_method {
#define CUTIS_METHOD_ENUM(name, number, text, title, needs, abilities, help)                       \
    CUTIS_METHOD_##name = number,
    CUTIS_METHODS(CUTIS_METHOD_ENUM)
#undef CUTIS_METHOD_ENUM
} cutis_method;

typedef struct cutis_method_info {
    cutis_method method;
    const char *name;   ///< "lbs", "handles-rigid"
    const char *title;  ///< for people: "dual quaternion"
    uint32_t needs;     ///< CUTIS_NEEDS_...
    uint32_t abilities; ///< CUTIS_CAN_...
    const char *help;   ///< one line
} cutis_method_info;

/// The method of a number, in the order of the enum; NULL from the first that there is not.
CUTIS_API const cutis_method_info *cutis_method_describe(cutis_method method);
/// Its name, "unknown" for another number.
CUTIS_API const char *cutis_method_name(cutis_method method);
/// @return CUTIS_NOT_FOUND for another name
CUTIS_API cutis_result cutis_method_from_name(const char *name, cutis_method *out);

/// PATCHES: what a bent joint takes away from its two parts.
typedef enum cutis_patch_removal {
    CUTIS_PATCH_CUT = 0, ///< what lies beyond a plane through the joint: a smooth border
    CUTIS_PATCH_BOX = 1, ///< what lies in the other part's box, as in the paper
} cutis_patch_removal;

/// PATCHES: how the gap on the inner side of a bend is filled.
typedef enum cutis_patch_fill {
    CUTIS_PATCH_FILL_DEFAULT = 0, ///< keep for cut, reduced for box
    CUTIS_PATCH_FILL_KEEP = 1,    ///< so that the joint keeps its volume
    CUTIS_PATCH_FILL_MEAN = 2,    ///< the paper's four alternatives, in its order
    CUTIS_PATCH_FILL_INTERSECTION = 3,
    CUTIS_PATCH_FILL_REDUCED = 4,
    CUTIS_PATCH_FILL_BETWEEN = 5,
} cutis_patch_fill;

/// PATCHES (cut and keep): where a joint bends.
typedef enum cutis_patch_band {
    CUTIS_PATCH_BAND_GIRTH = 0, ///< in a band about as long as the limb is thick, with the model's
                                ///< own triangles; patches only where a part leaves its joint
    CUTIS_PATCH_BAND_NONE = 1,  ///< in the patch alone: parts stay rigid to their borders
} cutis_patch_band;

/// The zero value: linear blending, positions only, all influences.
typedef struct cutis_bind_options {
    uint32_t struct_size; ///< sizeof of this struct where you compile; 0: as of version 0.1
    cutis_method method;
    bool normals; ///< normals can be asked for in outputs (computed from the faces where a mesh has
                  ///< none)
    bool tangents;         ///< tangents too, where a mesh has them (elsewhere zeros)
    bool raw_normals;      ///< skip the last step to unit length (never longer than 1)
    bool weighted_centres; ///< SBS: a centre per vertex, no creases (SBS_WEIGHTED)
    /// As the paper of SBS has it, for comparison.
    struct {
        bool centres; ///< reference point = world origin
        bool normals; ///< linear normals, as in its shader
    } paper;
    uint32_t max_influences; ///< 0 = all; else keep the largest and renormalise
    /// Per output vertex, 0 = LBS .. 1 = the method; NULL = 1; SBS, DQS and CoR only. Borrowed for
    /// the call.
    const float *blend;
    uint32_t concurrent_calls;  ///< how many threads may deform at once without waiting for each
                                ///< other; 0 = 1
    uint32_t instance_capacity; ///< instances that are worked on together; 0 = chosen by the
                                ///< device (PATCHES: 1; a CPU takes at most two a thread)
    cutis_patch_removal patch_removal; ///< PATCHES
    cutis_patch_fill patch_fill;       ///< PATCHES
    cutis_patch_band patch_band;       ///< PATCHES
    cutis_drive drive; ///< which driven nodes of local poses are computed; 0: those at rest
} cutis_bind_options;

/// Immutable result of binding; shareable between threads.
typedef struct cutis_binding cutis_binding;

/// @param model borrowed until the binding is destroyed
/// @return CUTIS_OK, CUTIS_UNSUPPORTED (the method cannot do this model or device; the error says
/// why), CUTIS_INVALID_ARGUMENT, CUTIS_LIMIT_EXCEEDED, CUTIS_CANCELLED (PATCHES),
/// CUTIS_OUT_OF_MEMORY, and of a GPU CUTIS_DEVICE_OUT_OF_MEMORY, CUTIS_DEVICE_LOST
CUTIS_API cutis_result cutis_bind(cutis_device *device, const cutis_model *model,
                                  const cutis_bind_options *options, cutis_binding **out);
CUTIS_API void cutis_binding_destroy(cutis_binding *binding); ///< NULL is fine

typedef struct cutis_binding_info {
    uint32_t vertex_count;   ///< of one output frame; PATCHES: no frame has more
    uint32_t triangle_count; ///< PATCHES: no frame has more; else 0
    uint32_t bone_count; ///< joints of all skinned instances, and nodes of unskinned ones; CAGE:
                         ///< controls; PATCHES: parts
    uint32_t max_influences;
    uint32_t bone_set_count;  ///< sets of two or more bones with weight
    uint32_t large_set_count; ///< of those, sets of three or more (where SBS may crease)
    float bones_per_block;    ///< mean length of the shared bone lists
    uint64_t memory_bytes;
    uint64_t centre_solves; ///< SBS: solves per frame and instance
} cutis_binding_info;

CUTIS_API cutis_binding_info cutis_binding_describe(const cutis_binding *binding);

typedef enum cutis_pose_kind {
    CUTIS_POSE_LOCAL = 0,   ///< local transforms of all nodes (as cutis_pose_world takes them);
                            ///< driven nodes are computed as options.drive says
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
    const float *morph_weights;   ///< cutis_model_target_count each, or NULL: the rest weights. Of
                                  ///< local poses driven ones (cutis_drivers) follow the joints
} cutis_poses;

/// Where one kind of value goes. Either host memory or a device buffer; both NULL: not wanted.
/// Addresses, offsets and strides are multiples of 4.
typedef struct cutis_stream {
    void *data;               ///< host memory, or NULL
    cutis_buffer *buffer;     ///< of the binding's device, or NULL
    uint64_t offset;          ///< bytes into `buffer`
    uint32_t stride;          ///< bytes from vertex to vertex; 0 = tightly packed
    uint64_t instance_stride; ///< bytes from instance to instance; 0 = vertex_count * stride
} cutis_stream;

/// Outputs of methods that change the topology (PATCHES): every frame has its own vertices and
/// triangles, at most as many as cutis_binding_describe says. All zero for other methods. Streams
/// of vertices hold vertex_capacity elements an instance, those of triangles triangle_capacity.
typedef struct cutis_topology_outputs {
    /// Room of each instance; 0 = what the binding says, which always suffices. With less, the call
    /// waits for the counts, and the first frame that does not fit is CUTIS_BUFFER_TOO_SMALL: its
    /// counts are there, nothing else of it.
    uint32_t vertex_capacity, triangle_capacity;
    cutis_stream indices; ///< 3 uint32 a triangle; required with positions
    cutis_stream counts;  ///< 2 uint32 an instance: vertices, triangles; required with positions
    cutis_stream labels;  ///< uint32 a triangle: its part, or part_count + joint for patches
    /// What vertices and triangles come from, for colours and the like. A vertex is a mixture of
    /// four vertices of the model (primitives in order); weights sum to 1.
    cutis_stream source_vertices; ///< 4 uint32 a vertex
    cutis_stream source_weights;  ///< 4 floats a vertex; both or none
    cutis_stream origins; ///< uint32 a triangle: of the model (in the order of its primitives) that
                          ///< it is or is cut from; UINT32_MAX: a patch
    /// The rest topology in place of, or beside, a new one: 3 floats for every vertex of the model
    /// (cutis_model_vertex_count); those that the joints removed are placed on the patches.
    /// docs/guide/patches.md says what that loses (--fixed).
    cutis_stream rest_positions;
    struct cutis_patches_report
        *reports; ///< joint_count an instance, host memory (cutis/patches.h)
} cutis_topology_outputs;

/// Outputs: vertices of each instance in the model's order (cutis_model_instances), world space.
typedef struct cutis_outputs {
    cutis_stream positions; ///< 3 floats; required unless only bounds are wanted
    cutis_stream normals;   ///< 3 floats; needs options.normals
    cutis_stream tangents;  ///< 4 floats; needs options.tangents
    cutis_stream
        previous_positions; ///< 3 floats: what `positions`, which it needs, held before this call
    cutis_bounds *bounds;   ///< one per instance, tight, host memory; NULL = not wanted
    cutis_topology_outputs topology; ///< PATCHES
} cutis_outputs;

/// Make ready for calls of cutis_deform with up to `instance_count` instances and these kinds of
/// output (pointers and buffers may be others later, strides not): kernels are compiled and memory
/// is allocated, on the host and on the device. After it such a call allocates and compiles
/// nothing. Without it the first call does: a CPU only allocates, and only where CAGE or PATCHES
/// give bounds; a GPU allocates a frame's memory and compiles its kernels (seconds, once per
/// machine: they are kept in the user's cache folder). Meanwhile other threads may deform; those
/// that prepare wait for each other.
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT, CUTIS_OUT_OF_MEMORY, CUTIS_DEVICE_BUILD_FAILED,
/// CUTIS_DEVICE_LOST, CUTIS_DEVICE_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_binding_prepare(cutis_binding *binding, const cutis_outputs *outputs,
                                             uint32_t instance_count);

/// Deform instances. Nothing is allocated after cutis_binding_prepare, nor without it on the CPU
/// (but for bounds of CAGE and PATCHES, once); safe to call from several threads with different
/// outputs. With host outputs the result is there on return; with device buffers the work is only
/// started (cutis_device_finish).
///
/// Calls beyond options.concurrent_calls wait for each other, asleep. On a device with the caller's
/// own run_tasks they do not: such a runner may do other jobs of its own while it waits, so there
/// one more call makes room for itself (allocating, once).
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (sizes or streams disagree with the binding: nothing
/// was written; a matrix that is not finite or too large: some instances may have been),
/// CUTIS_BUFFER_TOO_SMALL (PATCHES, capacities), CUTIS_OUT_OF_MEMORY, CUTIS_DEVICE_BUILD_FAILED,
/// CUTIS_DEVICE_LOST, CUTIS_DEVICE_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_deform(const cutis_binding *binding, const cutis_poses *poses,
                                    uint32_t instance_count, const cutis_outputs *outputs);

/// Bone matrices (world * inverse bind) of one pose, in the order CUTIS_POSE_PALETTE wants them. A
/// call like cutis_deform to other threads.
/// @param palette bone_count of caller memory
/// @return CUTIS_OK, CUTIS_UNSUPPORTED (CAGE has none), CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_binding_palette(const cutis_binding *binding,
                                             const cutis_transform *local, cutis_mat34 *palette);

/// Type of the numbers in an array.
typedef enum cutis_number {
    CUTIS_NUMBER_F32 = 0,
    CUTIS_NUMBER_U8 = 1,
    CUTIS_NUMBER_U16 = 2,
    CUTIS_NUMBER_U32 = 3,
} cutis_number;

/// Numbers of vertices in the caller's memory.
typedef struct cutis_vertex_array {
    const void *data;
    uint32_t stride; ///< bytes from vertex to vertex; 0 = tightly packed
    cutis_number type;
} cutis_vertex_array;

/// Vertices in the caller's memory.
typedef struct cutis_vertices {
    uint32_t vertex_count;
    uint32_t influence_count;     ///< of every vertex, 1 .. 64; with weight 0 its joint may be any
    cutis_vertex_array positions; ///< 3 F32
    cutis_vertex_array normals;   ///< 3 F32; data NULL: none
    cutis_vertex_array joints;    ///< influence_count U8, U16 or U32: places in the palette
    cutis_vertex_array weights;   ///< influence_count F32, U8 or U16; divided by their sum
} cutis_vertices;

/// Skin vertices without model, device and binding, on the calling thread: a pure function that
/// allocates nothing, for those who keep their own memory. LBS and DQS, any affine palette; a
/// vertex may be written where it was read. A binding does the same with all cores and vectors,
/// 17 to 30 times as fast on one core (docs/benchmarks.md).
/// @param palette world * inverse bind, bone_count matrices
/// @param outputs positions and, where wanted, normals (of unit length), host memory; nothing else
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (a joint beyond the palette, a weight that is negative
/// or not finite, a matrix in use that is not finite, types, strides, outputs), CUTIS_UNSUPPORTED
/// (another method, more than 65536 bones, with DQS 1024)
CUTIS_API cutis_result cutis_skin_vertices(const cutis_vertices *vertices, cutis_method method,
                                           const cutis_mat34 *palette, uint32_t bone_count,
                                           const cutis_outputs *outputs);

#ifdef __cplusplus
}
#endif
#endif
