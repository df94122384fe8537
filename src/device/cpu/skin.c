/// Skins on the CPU device: what is known of blocks before the first frame, and the split of a call
/// into tasks.
///
/// Invariant: running allocates nothing, and every task writes vertices of its own; bounds are
/// merged by minimum and maximum, so neither the split nor the order of the tasks changes a bit.
#include "device/cpu/cpu.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/os/os.h"

#include <string.h>

// A task below this many blocks costs more to hand out than it saves (64 blocks take about a
// microsecond).
#define TASK_BLOCKS_MIN 64u
// Beyond so many blocks one thread takes some 300 us and more: a sleeping thread wakes in a tenth
// of that.
#define SHARED_BLOCKS 16384u
// Tasks a thread, so that a thread that is held up does not hold up the call.
#define TASKS_PER_THREAD 4u
// A task's rest data should stay in the second-level cache while several instances use it (512
// blocks: 0.6 MB).
#define TASK_BLOCKS_MAX 512u
// Deltas of morph targets (168 bytes a vertex for PSD with eight poses) are more than all else that
// a block reads, and coming from beyond the first cache they take longer than the arithmetic. So
// instances take turns at strips of blocks of so many bytes, which stay in that cache. Fields of
// WPSD are as many bytes, but hide behind its arithmetic.
#define STRIP_BYTES 28672u
// Going to the next instance costs what two blocks do.
#define STRIP_BLOCKS_MIN 4u
// Instances that take turns; more read no less, and their bones have to stay near as well.
#define STRIP_INSTANCES 32u

static uint8_t flags_of(const cutis_skin_layout *layout, uint32_t block)
{
    const uint32_t slot = block * CUTIS_CPU_BLOCK;
    const uint32_t *vertices = layout->vertices + slot;
    const float *weights = layout->weights + (size_t)layout->list_first[block] * CUTIS_CPU_BLOCK;
    uint32_t flags = CUTIS_CPU_BLOCK_RUN | CUTIS_CPU_BLOCK_PIVOT | CUTIS_CPU_BLOCK_ONE_SET |
                     CUTIS_CPU_BLOCK_NO_SET;
    if (layout->list_first[block] == layout->list_first[block + 1])
        flags &= ~(uint32_t)CUTIS_CPU_BLOCK_PIVOT;
    for (uint32_t l = 0; l < CUTIS_CPU_BLOCK; l++) {
        if (vertices[l] == CUTIS_NO_VERTEX) flags |= CUTIS_CPU_BLOCK_PADDED;
        if (vertices[l] == CUTIS_NO_VERTEX || vertices[l] != vertices[0] + l)
            flags &= ~(uint32_t)CUTIS_CPU_BLOCK_RUN;
        if ((flags & CUTIS_CPU_BLOCK_PIVOT) && !(weights[l] > 0))
            flags &= ~(uint32_t)CUTIS_CPU_BLOCK_PIVOT;
        if (layout->sets && layout->sets[slot + l] != CUTIS_NO_SET)
            flags &= ~(uint32_t)CUTIS_CPU_BLOCK_NO_SET;
        if (!layout->sets || layout->sets[slot + l] == CUTIS_NO_SET ||
            layout->sets[slot + l] != layout->sets[slot])
            flags &= ~(uint32_t)CUTIS_CPU_BLOCK_ONE_SET;
    }
    return (uint8_t)flags;
}

static uint64_t bytes_of(const cutis_skin_layout *layout)
{
    const uint64_t planes = 3 + (layout->normals ? 3 : 0) + (layout->tangents ? 4 : 0) +
                            (layout->centres ? 3 : 0) + (layout->sets ? 1 : 0);
    return 4 * CUTIS_CPU_BLOCK *
           (planes * layout->block_count + (uint64_t)layout->list_first[layout->block_count]);
}

static uint64_t delta_bytes_of(const cutis_skin_layout *layout)
{
    const uint64_t planes = 3 + (layout->normals ? 3 : 0) + (layout->tangents ? 3 : 0);
    return layout->morph_first
               ? 4 * CUTIS_CPU_BLOCK * planes * layout->morph_first[layout->block_count]
               : 0;
}

cutis_result cutis_cpu_skin_create(cutis_device *device, const cutis_skin_layout *layout,
                                   cutis_device_skin **out)
{
    if (layout->block_size != CUTIS_CPU_BLOCK)
        return INVALID(device->context, "cpu: skin: blocks of %u vertices, not %u",
                       layout->block_size, CUTIS_CPU_BLOCK);
    cutis_cpu_skin *skin = cutis_alloc_zero(device->context, 1, sizeof *skin);
    if (!skin) return cutis_alloc_result(device->context);
    skin->base.device = device;
    skin->layout = layout;
    skin->block_flags = cutis_alloc(device->context, layout->block_count);
    if (!skin->block_flags) {
        cutis_result result = cutis_alloc_result(device->context);
        cutis_free(device->context, skin, sizeof *skin);
        return result;
    }
    for (uint32_t k = 0; k < layout->block_count; k++) {
        skin->block_flags[k] = flags_of(layout, k);
        skin->run_count += (skin->block_flags[k] & CUTIS_CPU_BLOCK_RUN) != 0;
    }
    skin->bytes = bytes_of(layout);
    skin->delta_bytes = delta_bytes_of(layout);
    *out = &skin->base;
    return CUTIS_OK;
}

void cutis_cpu_skin_destroy(cutis_device_skin *base)
{
    cutis_cpu_skin *skin = (cutis_cpu_skin *)base;
    if (!skin) return;
    cutis_context *context = skin->base.device->context;
    cutis_free(context, skin->block_flags, skin->layout->block_count);
    cutis_free(context, skin, sizeof *skin);
}

// Running ---------------------------------------------------------------------------------------

static cutis_cpu_stream stream_of(const cutis_target *target)
{
    if (!target->buffer) return (cutis_cpu_stream){ NULL, 0, 0 };
    return (cutis_cpu_stream){ (char *)(uintptr_t)target->buffer->handle + 4 * target->first,
                               (uint32_t)(4 * target->stride), 4 * target->step };
}

// Floats are ordered as their bits are, once negative ones are turned round; so a box end is a
// compare-and-swap.
typedef uint32_t __attribute__((may_alias)) float_bits;

static void merge_end(float *end, float value, bool low)
{
    float_bits *place = (float_bits *)end;
    uint32_t old = __atomic_load_n(place, __ATOMIC_RELAXED), bits;
    memcpy(&bits, &value, sizeof bits);
    for (;;) {
        float now;
        memcpy(&now, &old, sizeof now);
        if (low ? !(value < now) : !(value > now)) return;
        if (__atomic_compare_exchange_n(place, &old, bits, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
}

void cutis_cpu_merge_bounds(cutis_bounds *bounds, const float low[3], const float high[3])
{
    float *lows[3] = { &bounds->min.x, &bounds->min.y, &bounds->min.z };
    float *highs[3] = { &bounds->max.x, &bounds->max.y, &bounds->max.z };
    for (int c = 0; c < 3; c++) {
        merge_end(lows[c], low[c], true);
        merge_end(highs[c], high[c], false);
    }
}

/// Blocks [begin, end) of instances [first, last).
static void run_instances(const cutis_cpu_job *job, uint32_t first, uint32_t last, uint32_t begin,
                          uint32_t end)
{
    const uint32_t strip = job->strip_blocks && last - first > 1 ? job->strip_blocks : end - begin;
    for (uint32_t next; begin < end; begin = next) {
        next = end - begin > strip ? begin + strip : end;
        for (uint32_t i = first; i < last; i++) job->run(job, i, begin, next);
    }
}

// Task index: instances run fastest, so that a range of blocks stays in the cache for all of them.
static void run_task(void *data, uint32_t index)
{
    const cutis_cpu_job *job = data;
    const uint32_t block_count = job->layout->block_count;
    const uint32_t groups =
        (job->frames->instance_count + job->task_instances - 1) / job->task_instances;
    const uint32_t begin = index / groups * job->task_blocks;
    uint32_t end = begin + job->task_blocks;
    if (end > block_count) end = block_count;
    const uint32_t instance = index % groups * job->task_instances;
    uint32_t last = instance + job->task_instances;
    if (last > job->frames->instance_count) last = job->frames->instance_count;
    run_instances(job, instance, last, begin, end);
}

// Enough tasks for all threads; a large mesh is cut into ranges of blocks, small instances are
// bundled.
static uint32_t split(cutis_cpu_job *job, uint32_t thread_count)
{
    const uint64_t block_count = job->layout->block_count;
    const uint64_t instance_count = job->frames->instance_count;
    uint64_t blocks = TASK_BLOCKS_MAX; // one thread: as few as the cache allows
    if (thread_count > 1)
        blocks = block_count * instance_count / ((uint64_t)thread_count * TASKS_PER_THREAD);
    if (blocks > TASK_BLOCKS_MAX) blocks = TASK_BLOCKS_MAX;
    if (blocks < TASK_BLOCKS_MIN) blocks = TASK_BLOCKS_MIN;
    uint64_t together = 1; // instances that take turns at a range, of a strip at least
    if (job->strip_blocks) {
        together = blocks / job->strip_blocks;
        if (together > STRIP_INSTANCES) together = STRIP_INSTANCES;
        if (together > instance_count) together = instance_count;
        if (together < 1) together = 1;
    }
    const uint64_t ranges = (block_count * together + blocks - 1) / blocks;
    job->task_blocks = (uint32_t)((block_count + ranges - 1) / ranges);
    job->task_instances = (uint32_t)(blocks / block_count);
    if (job->task_instances < together) job->task_instances = (uint32_t)together;
    if (job->task_instances < 1) job->task_instances = 1;
    if (job->task_instances > instance_count) job->task_instances = (uint32_t)instance_count;
    const uint64_t groups = (instance_count + job->task_instances - 1) / job->task_instances;
    return (uint32_t)(ranges * groups);
}

static void run_on(cutis_cpu_device *device, cutis_cpu_job *job, bool alone)
{
    const uint64_t block_count = job->layout->block_count;
    const uint32_t instance_count = job->frames->instance_count;
    if (block_count * instance_count <= (alone ? TASK_BLOCKS_MAX : TASK_BLOCKS_MIN)) {
        run_instances(job, 0, instance_count, 0, (uint32_t)block_count);
        return;
    }
    const uint32_t count = split(job, alone ? 1 : device->base.task_threads);
    cutis_device_run(alone ? NULL : &device->base, run_task, job, count);
}

/// On all threads where they have been seen to pay; work that takes a thread far longer than
/// handing out is not tried on one.
static void run_job(cutis_cpu_device *device, cutis_cpu_skin *skin, cutis_cpu_job *job)
{
    const uint64_t work = (uint64_t)job->layout->block_count * job->frames->instance_count;
    const bool alone = device->base.task_threads == 1 || work <= TASK_BLOCKS_MIN;
    if (alone || work > SHARED_BLOCKS) {
        run_on(device, job, alone);
        return;
    }
    const cutis_share_choice choice = cutis_share_choose(&skin->share, work);
    const double start = choice.trial ? cutis_os_seconds() : 0;
    run_on(device, job, !choice.shared);
    if (choice.trial) cutis_share_tell(&choice, (uint64_t)(1e9 * (cutis_os_seconds() - start)));
}

static const cutis_bounds EMPTY_BOUNDS = {
    { __builtin_inff(), __builtin_inff(), __builtin_inff() },
    { -__builtin_inff(), -__builtin_inff(), -__builtin_inff() },
};

// + 0: which of -0 and +0 a minimum keeps depends on the order.
static void settle_bounds(cutis_bounds *bounds)
{
    bounds->min.x += 0.0f;
    bounds->min.y += 0.0f;
    bounds->min.z += 0.0f;
    bounds->max.x += 0.0f;
    bounds->max.y += 0.0f;
    bounds->max.z += 0.0f;
}

void cutis_cpu_choose_stores(const cutis_cpu_device *device, const cutis_cpu_skin *skin,
                             uint32_t call_count, cutis_cpu_job *job)
{
    const cutis_skin_layout *layout = skin->layout;
    const cutis_cpu_stream *p = &job->positions, *n = &job->normals;
    const uint32_t here = job->frames->instance_count;
    const uint64_t instance_count = call_count > here ? call_count : here;
    const uint64_t vertex_bytes = (p->data ? 12 : 0) + (n->data ? 12 : 0);
    const uint64_t written = vertex_bytes * layout->vertex_count * instance_count;
    job->records = p->data && n->data == p->data + 12 && n->stride == p->stride &&
                   n->instance_stride == p->instance_stride;
    if (written <= device->cache_bytes / 2 || written + skin->bytes <= device->cache_bytes) return;
    const bool runs = 2 * (uint64_t)skin->run_count >= layout->block_count;
    const bool whole = job->records
                           ? p->stride == 24
                           : (!p->data || p->stride == 12) && (!n->data || n->stride == 12);
    job->streaming = runs && whole && !job->previous.data;
    job->ahead = !job->streaming && p->instance_stride >= p->stride;
}

/// Blocks of a strip, by what a few of the instances read; 0: instances one after the other.
static uint32_t strip_of(const cutis_cpu_skin *skin, const cutis_skin_frames *frames)
{
    const uint64_t target_count = skin->layout->target_count, count = frames->instance_count;
    const uint64_t asked[3] = { 0, count / 2, count - 1 };
    uint64_t most = 0;
    if (!frames->targets || skin->delta_bytes < skin->bytes || count < 2) return 0;
    for (int i = 0; i < 3; i++) {
        const float *weights = frames->targets + asked[i] * target_count;
        uint64_t moving = 0;
        for (uint64_t t = 0; t < target_count; t++) moving += weights[t] != 0;
        if (moving > most) most = moving;
    }
    const uint64_t deltas = skin->delta_bytes / target_count * most;
    if (deltas < skin->bytes) return 0;
    const uint64_t blocks =
        STRIP_BYTES * (uint64_t)skin->layout->block_count / (deltas + skin->bytes);
    return blocks > STRIP_BLOCKS_MIN ? (uint32_t)blocks : STRIP_BLOCKS_MIN;
}

cutis_result cutis_cpu_skin_run(cutis_device_skin *base, const cutis_skin_frames *frames,
                                const cutis_skin_targets *targets)
{
    cutis_cpu_skin *skin = (cutis_cpu_skin *)base;
    cutis_cpu_device *device = (cutis_cpu_device *)base->device;
    const cutis_skin_layout *layout = skin->layout;
    cutis_cpu_job job = {
        .layout = layout,
        .frames = frames,
        .block_flags = skin->block_flags,
        .strip_blocks = strip_of(skin, frames),
        .positions = stream_of(&targets->positions),
        .normals = stream_of(&targets->normals),
        .tangents = stream_of(&targets->tangents),
        .previous = stream_of(&targets->previous),
        .bounds = targets->bounds,
        .run = device->variant.run,
    };
    if (layout->normal_rule == CUTIS_NORMAL_NONE) job.normals.data = NULL;
    if (!layout->tangents) job.tangents.data = NULL;
    if (!job.positions.data) job.previous.data = NULL;
    for (uint32_t i = 0; job.bounds && i < frames->instance_count; i++)
        job.bounds[i] = EMPTY_BOUNDS;
    if (frames->instance_count == 0 || layout->block_count == 0) return CUTIS_OK;

    cutis_cpu_choose_stores(device, skin, targets->call_count, &job);
    run_job(device, skin, &job);
    for (uint32_t i = 0; job.bounds && i < frames->instance_count; i++)
        settle_bounds(job.bounds + i);
    return CUTIS_OK;
}

// One array after the other, as skin_run takes them.
void cutis_cpu_skin_places(const cutis_device_skin *base, uint32_t capacity,
                           cutis_frame_places *out)
{
    const cutis_skin_layout *layout = ((const cutis_cpu_skin *)base)->layout;
    const bool turned = layout->formula != CUTIS_FORMULA_LBS;
    const uint64_t bones = (uint64_t)capacity * layout->bone_count;
    *out = (cutis_frame_places){ .scales = capacity, .nonuniform = 2 * (uint64_t)capacity };
    out->matrix = (cutis_frame_place){ 3 * (uint64_t)capacity, 12 };
    out->rotation = (cutis_frame_place){ out->matrix.first + 12 * bones, turned ? 4 : 0 };
    out->dual = (cutis_frame_place){ out->rotation.first + out->rotation.step * bones,
                                     layout->formula == CUTIS_FORMULA_DQS ? 4 : 0 };
    out->centres = out->dual.first + out->dual.step * bones;
    out->targets = out->centres + 4 * (uint64_t)capacity * layout->set_count;
    out->words = out->targets + (uint64_t)capacity * layout->target_count;
}

cutis_result cutis_cpu_skin_run_placed(cutis_device_skin *base, const cutis_buffer *buffer,
                                       const cutis_frame_places *places, uint32_t count,
                                       const cutis_skin_targets *targets)
{
    const float *words = (const float *)(uintptr_t)buffer->handle;
    const cutis_skin_frames frames = {
        .instance_count = count,
        .matrices = words + places->matrix.first,
        .rotations = places->rotation.step ? words + places->rotation.first : NULL,
        .duals = places->dual.step ? words + places->dual.first : NULL,
        .centres = words + places->centres,
        .scales = words + places->scales,
        .nonuniform = (const uint32_t *)(const void *)(words + places->nonuniform),
        .targets =
            ((const cutis_cpu_skin *)base)->layout->morph_first ? words + places->targets : NULL,
    };
    return cutis_cpu_skin_run(base, &frames, targets);
}
