/// The device interface: what deform and fit see of any device, and what cpu/, opencl/ and cuda/
/// implement.
///
/// A skin is uploaded once (cutis_skin_layout, made by deform at bind) and run many times with
/// per-instance frames. Invariant: for the same layout and frames every device and schedule writes
/// the same bits.
#ifndef CUTIS_DEVICE_DEVICE_H
#define CUTIS_DEVICE_DEVICE_H

#include <cutis/device.h>
#include <cutis/math.h>

/// Formula a skin is run with; kernel text knows it as FORMULA_LBS and so on. RIGID runs LBS with
/// one influence of weight 1. The centre of SBS is per bone set, from frames; that of SBS_WEIGHTED
/// per vertex, solved in the kernel from matrices and origins; that of COR per vertex, from the
/// layout.
#define CUTIS_FORMULAS(X) X(LBS, 0) X(SBS, 1) X(SBS_WEIGHTED, 2) X(DQS, 3) X(COR, 4)

typedef enum cutis_formula {
#define CUTIS_FORMULA_ENUM(id, number) CUTIS_FORMULA_##id = number,
    CUTIS_FORMULAS(CUTIS_FORMULA_ENUM)
} cutis_formula;

typedef enum cutis_normal_rule {
    CUTIS_NORMAL_NONE,
    CUTIS_NORMAL_RAW, ///< as blended
    CUTIS_NORMAL_UNIT,
} cutis_normal_rule;

#define CUTIS_NO_VERTEX 0xffffffffu
#define CUTIS_NO_SET    0xffffffffu
#define CUTIS_POSE_QUAD 4u ///< example poses come in whole quads

/// A bound character, packed in blocks. Vertices are sorted by bone set; the vertices of a block
/// share one ascending bone list, with weight 0 for bones a vertex does not have. Lane l of block k
/// is "slot" k * block_size + l. Padding lanes have CUTIS_NO_VERTEX, weight 1 on the first list
/// bone, zeros elsewhere. Planes: per block, component after component, block_size floats each.
typedef struct cutis_skin_layout {
    cutis_formula formula;
    cutis_normal_rule normal_rule;
    bool tangents;
    bool linear_normals; ///< SBS: normals by the blended matrix (the paper's shader)
    uint32_t block_size; ///< 16 (CPU) or 32 (GPU): cutis_device_block_size
    uint32_t vertex_count, block_count, bone_count, set_count, target_count;
    uint32_t pose_count; ///< WPSD: example poses, padded to whole quads with fields of 0; 0: none
    bool pose_gaussian;  ///< the kernel (kernel/pose_space.h)
    // From here on arrays, which devices with memory of their own have copies of.
    const uint32_t *list_first; ///< block_count + 1, into the list
    const uint32_t *list_bone;  ///< ascending within a block
    const float *weights;       ///< block_size per list entry
    const float *positions;     ///< 3 planes per block
    const float *normals;       ///< 3 planes per block, or NULL
    const float *tangents_rest; ///< 4 planes per block, or NULL
    const uint32_t *vertices;   ///< per slot: output vertex, or CUTIS_NO_VERTEX
    const uint32_t
        *sets; ///< per slot: centre in the frame, CUTIS_NO_SET for single-bone vertices; SBS only
    const float
        *centres; ///< 3 planes per block; COR only (single-bone vertices: their own position)
    const float *origins;         ///< 3 per bone: rest origins; SBS_WEIGHTED only
    const float *blend;           ///< per slot, 0 = LBS .. 1; or NULL
    const uint32_t *morph_first;  ///< block_count + 1, into the morph list; or NULL
    const uint32_t *morph_target; ///< ascending within a block
    const float *morph_delta;     ///< per morph entry: 3 planes of positions (then 3 of normals if
                                  ///< `normals`, 3 of tangents if `tangents`)
    const float *pose_scales;     ///< per slot: log2 e / sigma, or log2 e / (2 sigma^2)
    const float *
        pose_fields; ///< per block and pose: 3 planes of e, 1 of s (then 3 of normals if `normals`)
    // For the scalar reference schedule, which walks vertices, not blocks (and for tests):
    const uint32_t *vertex_slot; ///< per output vertex: its slot
    const uint32_t
        *first; ///< vertex_count + 1: influences by output vertex, ascending bones, weight > 0
    const uint32_t *bone;
    const float *weight;
} cutis_skin_layout;

/// Bone data of several instances, instance after instance. All entries are finite.
/// Path: a frame is `uniform` when all its bones are rigid up to one common scale sigma
/// (docs/spec/blending.md 6.1): matrices then hold M_j / sigma (not rounded to the rotation, so
/// images of centres are exact), and positions are multiplied by `scale` = sigma at the end. LBS:
/// uniform when every bone is a scaled rotation; matrices hold M_j / largest scale.
typedef struct cutis_skin_frames {
    uint32_t instance_count;
    const float *matrices; ///< 12 per bone: row-major [L | t] (uniform: [R | t / sigma])
    const float
        *rotations;     ///< 4 per bone: w x y z of the polar rotation; SBS, SBS_WEIGHTED, DQS, COR
    const float *duals; ///< 4 per bone: w x y z of 0.5 (0, t) q; DQS, uniform frames
    const float
        *stretches; ///< 6 per bone: xx xy xz yy yz zz of S = R^T L; nonuniform frames, not LBS
    const float *centres;       ///< 4 per set (x y z 0); SBS
    const float *scales;        ///< per instance: sigma (nonuniform frames: 1)
    const uint32_t *nonuniform; ///< per instance: 0 uniform, 1 general path
    const float *targets;       ///< target_count per instance: morph weights; or NULL
    const float *pose_squares;  ///< WPSD: bone_count * pose_count per instance: squared distances,
                                ///< 1e30 at most and of padding; or NULL
} cutis_skin_frames;

/// An output as the caller wants it. Neither: not wanted.
typedef struct cutis_output_stream {
    void *data;           ///< host memory, or NULL
    cutis_buffer *buffer; ///< device memory, or NULL
    uint64_t offset;
    uint32_t stride;          ///< bytes; never 0 here
    uint64_t instance_stride; ///< bytes; never 0 here
} cutis_output_stream;

/// An output as a deformer writes it: words (4 bytes) of a buffer of its device.
typedef struct cutis_target {
    const cutis_buffer *buffer; ///< NULL: not wanted
    uint64_t first, step;       ///< of the batch's first element; from instance to instance
    uint64_t stride;            ///< from element to element
} cutis_target;

typedef struct cutis_skin_targets {
    cutis_target positions, normals, tangents;
    cutis_target previous; ///< CPU devices only; others have it copied before
    cutis_bounds *bounds;  ///< of the frames' instances, or NULL
    uint32_t call_count;   ///< that a call or a crowd's frame writes, these among them; 0: these
} cutis_skin_targets;

/// Memory of a device and memory of the host of the same size, between which it copies at full
/// speed.
typedef struct cutis_staging {
    cutis_buffer *buffer;
    void *host;
    uint64_t size;
} cutis_staging;

/// Where frames have one kind of a bone's values: of bone b of instance i at word
/// first + (i * bone_count + b) * step. step 0: nowhere.
typedef struct cutis_frame_place {
    uint64_t first, step;
} cutis_frame_place;

/// Uniform frames in a buffer of the device, in words, for kernels that make them there
/// (cutis_skin_frames says what is what).
typedef struct cutis_frame_places {
    uint64_t words;             ///< of all
    uint64_t instances, scales; ///< per instance: its number, its scale
    uint64_t nonuniform;        ///< per instance: 0; UINT64_MAX: not wanted
    uint64_t centres, targets;  ///< 4 per set; target_count per instance
    cutis_frame_place matrix, rotation, dual, origin;
} cutis_frame_places;

struct cutis_compute_kernel; // device/compute.h

typedef struct cutis_device_skin cutis_device_skin; ///< a layout on a device; each device derives
                                                    ///< its own from it (model.h has a cutis_skin)

/// Bone sets whose centres are solved together: sets of equal size, CUTIS_CENTRE_LANES at most.
#define CUTIS_CENTRE_LANES 8u
typedef struct cutis_centre_group {
    const double *palette;   ///< 12 per bone
    const double *squares;   ///< per bone: sum of squares of its linear part
    const uint32_t *bones;   ///< CUTIS_CENTRE_LANES per place; lanes beyond set_count repeat a set
    const double *reference; ///< CUTIS_CENTRE_LANES x, then y, then z
    uint32_t count;          ///< bones of each set: 2 at least
    uint32_t set_count;
    double limit; ///< largest distance from the reference that is trusted
} cutis_centre_group;

/// Their least-squares systems N y = h about the reference points, in closed form.
typedef struct cutis_centre_systems {
    double n[6][CUTIS_CENTRE_LANES]; ///< xx xy xz yy yz zz
    double h[3][CUTIS_CENTRE_LANES];
    double square[CUTIS_CENTRE_LANES]; ///< sigma^2: mean square scale of the bones
} cutis_centre_systems;

/// Of the bones in use: smallest and largest sigma (sign of det L times sqrt(|L|^2 / 3)), and the
/// largest |S / |sigma| -+ 1| (to first order; DBL_MAX for L = 0). No bone in use: low > high.
typedef struct cutis_bone_range {
    double low, high, nonuniform;
} cutis_bone_range;

/// Host work on bones, in double, with the widest vectors at hand. The same bits from every table.
typedef struct cutis_bone_work {
    /// True only if all are finite and the singular values of every linear part lie within 1e-5 of
    /// 1, det > 0 (float matrices, 12 each). False says nothing.
    bool (*rigid)(const float *matrices, size_t count);
    /// @param used per bone: 0 if it does not count; @param squares per bone: |L|^2, or NULL
    void (*shapes)(const double *palette, const uint32_t *used, uint32_t count, double *squares,
                   cutis_bone_range *range);
    /// Rotations (w x y z) of bones that are sigma times a rotation to 1e-4; others get any
    /// numbers.
    void (*turns)(const double *palette, uint32_t count, double sigma, double *quats);
    /// @return bit set of lanes that need the eigenvectors; @param centres laid out like
    /// `reference`
    uint32_t (*centres)(const cutis_centre_group *group, double *centres,
                        cutis_centre_systems *systems);
} cutis_bone_work;

/// What every device implements. Errors are set on the device's context.
typedef struct cutis_device_operations {
    void (*destroy)(cutis_device *device);
    cutis_device_info (*describe)(const cutis_device *device);
    cutis_result (*finish)(cutis_device *device); ///< NULL: nothing is ever under way
    cutis_result (*buffer_create)(cutis_device *device, uint64_t size, uint64_t foreign_handle,
                                  cutis_buffer **out); ///< foreign_handle 0: allocate
    void (*buffer_destroy)(cutis_buffer *buffer);
    cutis_result (*buffer_write)(cutis_buffer *buffer, uint64_t offset, const void *data,
                                 uint64_t size);
    cutis_result (*buffer_read)(cutis_buffer *buffer, uint64_t offset, void *data, uint64_t size);
    /// NULL: the device has neither.
    void (*native)(const cutis_device *device, uint64_t *context, uint64_t *queue);
    uint32_t block_size;
    /// `layout` is borrowed by CPU devices until the skin is destroyed (no copy), uploaded by
    /// others.
    cutis_result (*skin_create)(cutis_device *device, const cutis_skin_layout *layout,
                                cutis_device_skin **out);
    void (*skin_destroy)(cutis_device_skin *skin);
    /// Instances of one call of skin_run at most: what its kernels' offsets reach.
    uint32_t (*skin_batch)(const cutis_device_skin *skin);
    /// Queues the work, or does it (CPU). Bounds are there on return. Positions may be left out
    /// when bounds are wanted. Nothing is allocated after skin_prepare for as many instances.
    cutis_result (*skin_run)(cutis_device_skin *skin, const cutis_skin_frames *frames,
                             const cutis_skin_targets *targets);
    /// Memory and kernels for runs of `instance_count`, of which `call_count` may be under way at
    /// once (0: kernels for skin_run_placed alone); NULL: there is nothing to prepare.
    /// @param targets as they will be, their buffers may be any
    cutis_result (*skin_prepare)(cutis_device_skin *skin, uint32_t instance_count,
                                 uint32_t call_count, const cutis_skin_targets *targets);
    /// Frames that are in a buffer already: where they must lie for up to `capacity` instances, and
    /// a run of the first `count` of them.
    void (*skin_places)(const cutis_device_skin *skin, uint32_t capacity, cutis_frame_places *out);
    cutis_result (*skin_run_placed)(cutis_device_skin *skin, const cutis_buffer *frames,
                                    const cutis_frame_places *places, uint32_t count,
                                    const cutis_skin_targets *targets);
    /// NULL: the device's memory is the host's.
    cutis_result (*staging_create)(cutis_device *device, uint64_t size, cutis_staging **out);
    void (*staging_destroy)(cutis_staging *staging); ///< NULL is fine
    /// The first `size` bytes to the host's memory; waits for them. And back.
    cutis_result (*staging_read)(cutis_staging *staging, uint64_t size);
    cutis_result (*staging_write)(cutis_staging *staging, uint64_t size);
    /// As staging_write, but only begun; `staging_wait` waits until the host's memory may be filled
    /// again.
    cutis_result (*staging_send)(cutis_staging *staging, uint64_t size);
    cutis_result (*staging_wait)(cutis_staging *staging);
    /// Queue an item kernel (device/compute.h): buffers in the order of its list, the struct with
    /// its range filled in. NULL: its C text runs on the device's threads.
    cutis_result (*compute_run)(cutis_device *device, const struct cutis_compute_kernel *kernel,
                                uint32_t item_count, const cutis_buffer *const *buffers,
                                const void *arguments);
    /// Compile them now, together; NULL: there is nothing to compile.
    cutis_result (*compute_prepare)(cutis_device *device,
                                    const struct cutis_compute_kernel *const *kernels,
                                    uint32_t count);
} cutis_device_operations;

struct cutis_device {
    cutis_context *context;
    const cutis_device_operations *operations;
    uint32_t task_threads;       ///< for host work; GPU devices have some for that alone
    uint32_t compute_width;      ///< CPU: the widest cutis_compute_width it may use
    cutis_task_runner run_tasks; ///< the caller's: it may do anything while it waits; or NULL
    void *run_tasks_user;
    struct cutis_os_pool *pool; ///< NULL with the caller's own runner
};
/// Threads as the options say. What is there of them after a failure goes with the device.
cutis_result cutis_device_open_threads(cutis_device *device, const cutis_device_options *options);

/// Host tasks on the device's threads; on this one without a device, or where there is one task.
/// Returns when all are done. Not with a lock held: the caller's own threads may do other work of
/// theirs meanwhile, with this device.
void cutis_device_run(cutis_device *device, void (*task)(void *data, uint32_t index), void *data,
                      uint32_t count);

/// The same for `count` items, this many of them a task.
static inline void cutis_device_run_items(cutis_device *device,
                                          void (*task)(void *data, uint32_t index), void *data,
                                          uint32_t count, uint32_t task_items)
{
    cutis_device_run(device, task, data, count / task_items + (count % task_items != 0));
}

struct cutis_buffer {
    cutis_device *device;
    uint64_t size, handle;
};
struct cutis_device_skin {
    cutis_device *device;
};

/// The device's own (CPU), or the best this machine has.
const cutis_bone_work *cutis_device_bone_work(const cutis_device *device);

/// Constructors of the kinds; each sets the error and returns CUTIS_DEVICE_UNAVAILABLE when it is
/// not there.
#define CUTIS_DEVICE_CREATE(id, name, number)                                                      \
    cutis_result cutis_##name##_device_create(cutis_context *, const cutis_device_options *,       \
                                              cutis_device **);
CUTIS_DEVICES(CUTIS_DEVICE_CREATE)
/// Append what a kind offers to a list (or one unavailable entry with the reason).
#define CUTIS_DEVICE_LIST(id, name, number)                                                        \
    void cutis_##name##_device_list(cutis_context *, uint32_t capacity, cutis_device_info *,       \
                                    uint32_t *count);
CUTIS_DEVICES(CUTIS_DEVICE_LIST)

#endif
