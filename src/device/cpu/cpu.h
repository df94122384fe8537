/// The CPU device inside: variants of the skinning schedule (one per instruction set), and the job
/// they run.
///
/// Invariant: every variant writes the same bits for the same job (docs/spec/conventions.md 6).
#ifndef CUTIS_DEVICE_CPU_H
#define CUTIS_DEVICE_CPU_H

#include "device/cpu/share.h"
#include "device/device.h"

#define CUTIS_CPU_BLOCK 16u

/// What is known of a block before the first frame.
enum {
    CUTIS_CPU_BLOCK_RUN = 1,     ///< its slots are consecutive output vertices, none is padding
    CUTIS_CPU_BLOCK_PADDED = 2,  ///< some slot is padding
    CUTIS_CPU_BLOCK_PIVOT = 4,   ///< every lane has weight on the list's first bone
    CUTIS_CPU_BLOCK_ONE_SET = 8, ///< every lane has the same centre
    CUTIS_CPU_BLOCK_NO_SET = 16, ///< no lane has a centre
};

typedef struct cutis_cpu_stream {
    char *data; ///< NULL: not wanted
    uint32_t stride;
    uint64_t instance_stride;
} cutis_cpu_stream;

/// One call of skin_run, shared by its tasks.
typedef struct cutis_cpu_job {
    const cutis_skin_layout *layout;
    const cutis_skin_frames *frames;
    const uint8_t *block_flags;
    cutis_cpu_stream positions, normals, tangents, previous;
    cutis_bounds *bounds; ///< NULL: not wanted; else each task merges into it
    bool streaming;       ///< write past the cache
    bool ahead;           ///< ask for the memory of outputs before it is written
    bool records;         ///< a vertex's normal lies right behind its position
    uint32_t task_blocks, tasks_per_instance, task_instances;
    uint32_t strip_blocks; ///< at which instances of a task take turns; 0: one after the other
    void (*run)(const struct cutis_cpu_job *job, uint32_t instance, uint32_t begin, uint32_t end);
} cutis_cpu_job;

/// Skin blocks [begin, end) of one instance (the scalar one: vertices [16 begin, 16 end)).
typedef void (*cutis_cpu_run)(const cutis_cpu_job *job, uint32_t instance, uint32_t begin,
                              uint32_t end);

typedef struct cutis_cpu_variant {
    cutis_isa isa;
    const char *name; ///< "avx512", "sse2", "sse2_fma"
    cutis_cpu_run run;
    const cutis_bone_work *bones;
    bool supported; ///< by this machine
} cutis_cpu_variant;

/// All variants that were compiled, best last. Thread-safe.
uint32_t cutis_cpu_variants(cutis_cpu_variant out[8]);
/// The best supported variant of an instruction set (AUTO: of all, lowered by CUTIS_ISA); false if
/// there is none.
bool cutis_cpu_choose(cutis_isa isa, cutis_cpu_variant *out);
/// Run a device with a given variant; for tests.
void cutis_cpu_device_use(cutis_device *device, const cutis_cpu_variant *variant);

/// Machine facts. `name` gets at most 128 bytes.
void cutis_cpu_name(char *name);
uint64_t
cutis_cpu_cache_bytes(void); ///< last-level cache, or a usual size where the machine does not tell

/// Merge a box into a job's bounds of an instance; thread-safe, the order does not matter.
void cutis_cpu_merge_bounds(cutis_bounds *bounds, const float low[3], const float high[3]);

typedef struct cutis_cpu_skin {
    cutis_device_skin base;
    const cutis_skin_layout *layout; ///< borrowed
    uint8_t *block_flags;            ///< block_count
    uint32_t run_count;              ///< blocks that are runs
    uint64_t bytes;                  ///< that one run of one instance reads, but for deltas
    uint64_t delta_bytes;            ///< those of all morph targets
    cutis_share share;               ///< whether threads pay, by what calls have taken
} cutis_cpu_skin;

cutis_result cutis_cpu_skin_create(cutis_device *device, const cutis_skin_layout *layout,
                                   cutis_device_skin **out);
void cutis_cpu_skin_destroy(cutis_device_skin *skin);
cutis_result cutis_cpu_skin_run(cutis_device_skin *skin, const cutis_skin_frames *frames,
                                const cutis_skin_targets *targets);
void cutis_cpu_skin_places(const cutis_device_skin *skin, uint32_t capacity,
                           cutis_frame_places *out);
cutis_result cutis_cpu_skin_run_placed(cutis_device_skin *skin, const cutis_buffer *frames,
                                       const cutis_frame_places *places, uint32_t count,
                                       const cutis_skin_targets *targets);

typedef struct cutis_cpu_device {
    cutis_device base;
    cutis_cpu_variant variant;
    uint64_t cache_bytes;
} cutis_cpu_device;

/// How outputs that the cache cannot hold are written: job->streaming, ahead and records. Whole
/// lines go past it, which spares reading them; lines that several blocks write in parts are asked
/// for early, because each store would wait for its line (3000 vertices, 1000 instances: 4.2 ns a
/// vertex, so 2.0). Where instances lie side by side their neighbours have the line already. What
/// counts is what the whole call of `call_count` instances writes: when its last batch is done the
/// first one's outputs are gone.
void cutis_cpu_choose_stores(const cutis_cpu_device *device, const cutis_cpu_skin *skin,
                             uint32_t call_count, cutis_cpu_job *job);

#endif
