/// Skins on a GPU: a layout uploaded once, then frames in, vertices out.
///
/// A call is cut into batches of instances that fit in device memory (and, for host outputs, in a
/// bounded staging area); each batch is one upload and one launch per path (even, uneven).
/// Invariant: outputs in device buffers are written by kernels only, in the order of the device's
/// queue; host outputs are complete when the call returns.
#include <device/gpu/skin.h>

#include <base/error.h>
#include <stdio.h>
#include <string.h>

/// Host outputs pass through staging memory of about this size, so that a large batch does not
/// double its memory.
#define HOST_BATCH_BYTES    (64ull << 20)
#define GROUP_INSTANCES_MAX 8u
#define POSE_INSTANCES_MAX  32u
/// Instances whose frames one task copies.
#define PACK_INSTANCES 32u
/// Words of one batch's frames: the kernels' offsets have 32 bits, of which palettes may use a
/// half.
#define FRAME_WORDS_MAX (1ull << 30)

static gpu_skin *skin_of(cutis_device_skin *skin)
{
    return (gpu_skin *)skin;
}

// Palette records
// -------------------------------------------------------------------------------------

gpu_palette cutis_gpu_palette(const gpu_skin *skin, bool uneven)
{
    gpu_palette p = { -1, -1, -1, -1, -1, -1, 0 };
    bool turned = skin->formula != CUTIS_FORMULA_LBS, dqs = skin->formula == CUTIS_FORMULA_DQS;
    if (!dqs || uneven || skin->blend || skin->linear_normals) p.matrix = p.size, p.size += 3;
    if (turned) p.rotation = p.size, p.size += 1;
    if (dqs && !uneven) p.dual = p.size, p.size += 1;
    if (turned && uneven) p.stretch = p.size, p.size += 2;
    if (skin->formula == CUTIS_FORMULA_SBS_WEIGHTED) p.origin = p.size, p.size += 1;
    if (skin->pose_count) p.squares = p.size, p.size += (int)(skin->pose_count / 4);
    return p;
}

static void put_row(float *to, const float *from, uint32_t count)
{
    float row[4] = { 0, 0, 0, 0 };
    memcpy(row, from, count * sizeof *row);
    memcpy(to, row, sizeof row);
}

/// The bone records of one instance.
static void pack_palette(const gpu_skin *skin, const gpu_palette *p,
                         const cutis_skin_frames *frames, uint32_t instance, float *to)
{
    uint32_t bones = skin->arguments.bone_count;
    size_t first = (size_t)instance * bones;
    if (p->size == 3 && p->matrix == 0) {
        memcpy(to, frames->matrices + 12 * first, (size_t)bones * 12 * sizeof *to);
        return;
    }
    for (size_t b = 0; b < bones; b++, to += 4 * p->size) {
        size_t bone = first + b;
        if (p->matrix >= 0)
            memcpy(to + 4 * p->matrix, frames->matrices + 12 * bone, 12 * sizeof *to);
        if (p->rotation >= 0) put_row(to + 4 * p->rotation, frames->rotations + 4 * bone, 4);
        if (p->dual >= 0) put_row(to + 4 * p->dual, frames->duals + 4 * bone, 4);
        if (p->stretch >= 0) {
            put_row(to + 4 * p->stretch, frames->stretches + 6 * bone, 4);
            put_row(to + 4 * p->stretch + 4, frames->stretches + 6 * bone + 4, 2);
        }
        if (p->origin >= 0) put_row(to + 4 * p->origin, skin->origins + 3 * b, 3);
        if (p->squares >= 0)
            memcpy(to + 4 * p->squares, frames->pose_squares + skin->pose_count * bone,
                   skin->pose_count * sizeof *to);
    }
}

// Frames of a batch
// -----------------------------------------------------------------------------------

static uint64_t round4(uint64_t words)
{
    return (words + 3) / 4 * 4;
}

/// Shared memory for what a group has beside its palettes: staged records and vertex numbers,
/// signs, images.
static uint32_t static_local_bytes(const gpu_skin *skin)
{
    const cutis_gpu *gpu = skin->gpu;
    uint32_t record = 3u + (skin->has_normals ? 3u : 0u) + (skin->has_tangents ? 4u : 0u);
    uint32_t bytes = 256u + GROUP_INSTANCES_MAX * CUTIS_GPU_CHUNK_BLOCKS * 16u;
    if (gpu->staged) bytes += gpu->warps * (record * 256u + 128u);
    if (skin->formula == CUTIS_FORMULA_SBS) bytes += gpu->warps * GROUP_INSTANCES_MAX * 8u * 16u;
    return bytes;
}

/// Shared memory for palettes of one group.
static uint32_t near_bytes_max(const gpu_skin *skin)
{
    uint32_t used = static_local_bytes(skin), all = skin->gpu->local_bytes_max;
    uint32_t left = all > used ? all - used : 0;
    return left < skin->gpu->near_bytes ? left : skin->gpu->near_bytes;
}

static bool is_uneven(const cutis_skin_frames *frames, uint32_t instance)
{
    return frames->uneven && frames->uneven[instance];
}

/// Words of one path's frames.
static uint64_t path_words(const gpu_skin *skin, bool uneven, uint64_t count)
{
    const skin_arguments *a = &skin->arguments;
    gpu_palette palette = cutis_gpu_palette(skin, uneven);
    return 2 * round4(count) + count * a->bone_count * 4u * (uint32_t)palette.size +
           count * a->set_count * 4u + round4(count * a->target_count);
}

/// Copies of a path's frames, a few instances a task.
typedef struct pack_job {
    const gpu_skin *skin;
    const gpu_batch *batch;
    const gpu_path *path;
    float *words;
    gpu_palette palette;
} pack_job;

static void pack_instances(void *data, uint32_t task)
{
    const pack_job *job = data;
    const cutis_skin_frames *frames = job->batch->frames;
    const gpu_path *path = job->path;
    const skin_arguments *a = &path->arguments;
    size_t record = (size_t)a->bone_count * 4u * (uint32_t)job->palette.size;
    size_t end = (size_t)(task + 1) * PACK_INSTANCES;
    float *words = job->words;
    for (size_t i = (size_t)task * PACK_INSTANCES; i < end && i < path->count; i++) {
        uint32_t n;
        memcpy(&n, words + a->instances + i, sizeof n);
        uint32_t instance = job->batch->first + n;
        words[a->scales + i] = frames->scales[instance];
        pack_palette(job->skin, &job->palette, frames, instance, words + a->palette + i * record);
        if (a->set_count)
            memcpy(words + a->frame_centres + i * a->set_count * 4,
                   frames->centres + (size_t)instance * a->set_count * 4,
                   (size_t)a->set_count * 4 * sizeof *words);
        if (a->target_count && frames->targets)
            memcpy(words + a->targets + i * a->target_count,
                   frames->targets + (size_t)instance * a->target_count,
                   (size_t)a->target_count * sizeof *words);
    }
}

/// Fill one path's frames into the staging memory, from word *at on; offsets go to the path's
/// arguments.
static void pack_path(const gpu_skin *skin, gpu_batch *batch, gpu_path *path, float *words,
                      uint64_t *at)
{
    skin_arguments *a = &path->arguments;
    gpu_palette palette = cutis_gpu_palette(skin, path->uneven);
    uint64_t record = (uint64_t)a->bone_count * 4u * (uint32_t)palette.size;
    a->instances = (uint32_t)*at;
    a->scales = (uint32_t)(*at += round4(path->count));
    a->palette = (uint32_t)(*at += round4(path->count));
    a->frame_centres = (uint32_t)(*at += path->count * record);
    a->targets = (uint32_t)(*at += (uint64_t)path->count * a->set_count * 4u);
    *at += round4((uint64_t)path->count * a->target_count);
    uint32_t i = 0;
    for (uint32_t n = 0; n < batch->count; n++)
        if (is_uneven(batch->frames, batch->first + n) == path->uneven)
            memcpy(words + a->instances + i++, &n, sizeof n);
    pack_job job = { skin, batch, path, words, palette };
    uint32_t tasks = (path->count + PACK_INSTANCES - 1) / PACK_INSTANCES;
    if (tasks > 1)
        cutis_gpu_run_tasks(&skin->gpu->base, pack_instances, &job, tasks);
    else
        pack_instances(&job, 0);
}

/// Make pinned and device memory at least `bytes` large. Capacity grows by halves, so a growing
/// crowd settles.
cutis_result cutis_gpu_grow_slot(gpu_skin *skin, gpu_slot *slot, uint64_t bytes)
{
    cutis_gpu *gpu = skin->gpu;
    const cutis_gpu_driver *driver = gpu->driver;
    if (slot->capacity >= bytes) return CUTIS_OK;
    uint64_t capacity = slot->capacity + slot->capacity / 2;
    if (capacity < bytes) capacity = bytes;
    driver->unpin(gpu, &slot->pinned);
    driver->release(gpu, slot->device);
    slot->device = slot->capacity = 0;
    cutis_result result = driver->pin(gpu, (size_t)capacity, &slot->pinned);
    if (result == CUTIS_OK) result = driver->allocate(gpu, capacity, &slot->device);
    if (result == CUTIS_OK) slot->capacity = capacity;
    return result;
}

/// The next staging slot, when the device has read what is in it.
static cutis_result take_slot(gpu_skin *skin, uint64_t bytes, gpu_slot **out)
{
    gpu_slot *slot = &skin->slots[skin->slot_next];
    cutis_result result = CUTIS_OK;
    if (slot->pending) result = skin->gpu->driver->wait(skin->gpu, slot->event);
    slot->pending = false;
    if (result == CUTIS_OK) result = cutis_gpu_grow_slot(skin, slot, bytes);
    if (result != CUTIS_OK) return result;
    skin->slot_next = (skin->slot_next + 1) % GPU_SLOTS;
    *out = slot;
    return CUTIS_OK;
}

static cutis_result upload_frames(gpu_skin *skin, gpu_batch *batch)
{
    const cutis_gpu_driver *driver = skin->gpu->driver;
    uint64_t words = 0, at = 0;
    for (int p = 0; p < 2; p++)
        if (batch->paths[p].count)
            words += path_words(skin, batch->paths[p].uneven, batch->paths[p].count);
    cutis_result result = take_slot(skin, words * sizeof(float), &batch->slot);
    if (result != CUTIS_OK) return result;
    for (int p = 0; p < 2; p++)
        if (batch->paths[p].count)
            pack_path(skin, batch, &batch->paths[p], batch->slot->pinned.data, &at);
    result = driver->write(skin->gpu, batch->slot->device, 0, batch->slot->pinned.data,
                           at * sizeof(float), false);
    if (result == CUTIS_OK) result = driver->mark(skin->gpu, &batch->slot->event);
    batch->slot->pending = result == CUTIS_OK;
    return result;
}

// Launches
// --------------------------------------------------------------------------------------------

static bool same_record(const gpu_target *a, const gpu_target *b, uint64_t apart)
{
    return a->handle == b->handle && a->stride == b->stride && a->step == b->step &&
           b->first == a->first + apart;
}

/// Can the outputs be written as one packed record per vertex, 16 bytes at a time?
static bool is_packed(const gpu_batch *batch)
{
    const gpu_target *p = &batch->positions, *n = &batch->normals, *t = &batch->tangents;
    uint32_t record = 3u + (n->wanted ? 3u : 0u) + (t->wanted ? 4u : 0u);
    if (!p->wanted || (t->wanted && !n->wanted) || p->stride != record) return false;
    if (n->wanted && !same_record(p, n, 3)) return false;
    if (t->wanted && !same_record(p, t, 6)) return false;
    return p->first % 4 == 0 && p->step % 4 == 0 && p->handle % 16 == 0;
}

/// Registers of a work item, at most: what measured best for the formula.
static uint32_t registers_of(const gpu_skin *skin)
{
    const cutis_gpu *gpu = skin->gpu;
    bool few =
        skin->formula == CUTIS_FORMULA_DQS || (skin->formula == CUTIS_FORMULA_LBS && skin->unit);
    if (skin->pose_count) return gpu->registers_posed;
    return few ? gpu->registers_few : gpu->registers;
}

/// Groups on a multiprocessor that they allow, for compilers that want it said so.
static uint32_t groups_of(const gpu_skin *skin)
{
    uint32_t registers = registers_of(skin);
    uint32_t groups = registers ? 65536u / (registers * 32u * skin->gpu->warps) : 1u;
    return groups ? groups : 1u;
}

/// Instances of a group, at most.
static uint32_t instances_max(const gpu_skin *skin)
{
    uint32_t most = skin->pose_count ? skin->gpu->pose_instances : skin->gpu->group_instances;
    uint32_t limit = skin->pose_count ? POSE_INSTANCES_MAX : GROUP_INSTANCES_MAX;
    return most < limit ? most : limit;
}

static void path_defines(const gpu_skin *skin, const gpu_batch *batch, const gpu_path *path,
                         char *out, size_t capacity)
{
    gpu_palette p = cutis_gpu_palette(skin, path->uneven);
    bool staged = skin->gpu->staged && is_packed(batch);
    char posed[192] = "";
    if (skin->pose_count)
        snprintf(posed, sizeof posed,
                 "#define SKIN_POSE_PLANES %d\n#define SKIN_GAUSSIAN %d\n#define SKIN_SQUARES %d\n"
                 "#define POSE_TILE %u\n#define POSE_FAST %d\n",
                 skin->has_normals ? 7 : 4, skin->gaussian, p.squares, skin->gpu->pose_tile,
                 skin->gpu->pose_fast);
    snprintf(out, capacity,
             "#define SKIN_FORMULA %d\n#define SKIN_NORMALS %d\n#define SKIN_TANGENTS %d\n"
             "#define SKIN_UNIT %d\n#define SKIN_UNEVEN %d\n#define SKIN_BLEND %d\n"
             "#define SKIN_MORPH %d\n#define SKIN_LINEAR_NORMALS %d\n#define SKIN_POSITIONS %d\n"
             "#define SKIN_BOUNDS %d\n#define SKIN_WARPS %u\n#define SKIN_NEAR %d\n"
             "#define SKIN_STAGED %d\n#define SKIN_LISTS %d\n#define SKIN_PTX %d\n#define "
             "SKIN_PALETTE %d\n"
             "#define SKIN_MATRIX %d\n#define SKIN_ROTATION %d\n#define SKIN_DUAL %d\n"
             "#define SKIN_STRETCH %d\n#define SKIN_ORIGIN %d\n#define SKIN_REGISTERS %u\n"
             "#define SKIN_GROUPS %u\n#define SKIN_TOGETHER %u\n#define SKIN_POSES %u\n%s%s",
             (int)skin->formula, batch->normals.wanted, batch->tangents.wanted, skin->unit,
             path->uneven, skin->blend, batch->frames->targets ? skin->morph : 0,
             skin->linear_normals, batch->positions.wanted, batch->bounds, skin->gpu->warps,
             skin->near, staged, skin->gpu->staged && !skin->gpu->lists_refused,
             skin->gpu->staged && skin->gpu->warps > 1, p.size, p.matrix, p.rotation, p.dual,
             p.stretch, p.origin, registers_of(skin), groups_of(skin), instances_max(skin),
             skin->pose_count, posed, skin->gpu->tuning ? skin->gpu->tuning : "");
}

/// How a path is spread over groups: instances together while their palettes fit, chunks split
/// while the device is not full.
static cutis_gpu_launch path_shape(const gpu_skin *skin, const gpu_batch *batch, gpu_path *path)
{
    const cutis_gpu *gpu = skin->gpu;
    skin_arguments *a = &path->arguments;
    gpu_palette palette = cutis_gpu_palette(skin, path->uneven);
    uint32_t each = 16u + (skin->near ? skin->near_max * (uint32_t)palette.size * 16u : 0u);
    if (batch->bounds) each += gpu->warps * 192u * (uint32_t)sizeof(float);
    uint32_t together = near_bytes_max(skin) / each;
    if (together < 1) together = 1;
    if (together > instances_max(skin)) together = instances_max(skin);
    if (together > path->count) together = path->count;
    uint64_t groups = ((uint64_t)path->count + together - 1) / together * a->chunk_count;
    uint64_t wanted = (uint64_t)gpu->info.thread_count * 4;
    uint32_t split_max = (CUTIS_GPU_CHUNK_BLOCKS + gpu->warps - 1) / gpu->warps;
    uint32_t splits = groups >= wanted ? 1 : (uint32_t)((wanted + groups - 1) / groups);
    if (splits > split_max) splits = split_max;
    a->group_instances = together;
    a->instance_count = path->count;
    a->split_count = splits;
    return (cutis_gpu_launch){ .group_count = groups * splits,
                               .group_size = gpu->warps * 32u,
                               .local_bytes = each * together };
}

static void set_target(const gpu_target *target, uint64_t *first, uint64_t *step, uint32_t *stride)
{
    *first = target->first;
    *step = target->step;
    *stride = target->stride;
}

static cutis_result launch_recorded(gpu_skin *skin, gpu_recorded *r)
{
    const cutis_gpu_argument arguments[] = {
        { &r->arguments, sizeof r->arguments },
        { &skin->layout, 8 },
        { &skin->layout, 8 },
        { &r->frames, 8 },
        { &r->frames, 8 },
        { &r->frames, 8 },
        { &r->positions, 8 },
        { &r->normals, 8 },
        { &r->tangents, 8 },
        { &r->bounds, 8 },
    };
    r->launch.arguments = arguments;
    r->launch.argument_count = sizeof arguments / sizeof *arguments;
    return skin->gpu->driver->launch(skin->gpu, &r->kernel, &r->launch);
}

/// A compiler that refuses the kernel with bone lists in registers gets the one without, from then
/// on for all kernels of the device.
static cutis_result path_kernel(const gpu_skin *skin, const gpu_batch *batch, const gpu_path *path,
                                cutis_gpu_kernel *out)
{
    char defines[1024];
    cutis_gpu *gpu = skin->gpu;
    path_defines(skin, batch, path, defines, sizeof defines);
    cutis_result result = cutis_gpu_kernel_get(gpu, defines, "cutis_skin", registers_of(skin), out);
    if (result != CUTIS_DEVICE_BUILD_FAILED || !gpu->staged || gpu->lists_refused) return result;
    gpu->lists_refused = true;
    path_defines(skin, batch, path, defines, sizeof defines);
    return cutis_gpu_kernel_get(gpu, defines, "cutis_skin", registers_of(skin), out);
}

static cutis_result launch_path(gpu_skin *skin, gpu_batch *batch, gpu_path *path)
{
    skin_arguments *a = &path->arguments;
    gpu_recorded *record = &skin->recorded[skin->recorded_count];
    set_target(&batch->positions, &a->position_first, &a->position_step, &a->position_stride);
    set_target(&batch->normals, &a->normal_first, &a->normal_step, &a->normal_stride);
    set_target(&batch->tangents, &a->tangent_first, &a->tangent_step, &a->tangent_stride);
    *record = (gpu_recorded){
        .launch = path_shape(skin, batch, path),
        .frames = batch->slot->device,
        .positions = batch->positions.handle,
        .normals = batch->normals.handle,
        .tangents = batch->tangents.handle,
        .bounds = batch->bounds ? skin->bounds.device : 0,
    };
    record->arguments = *a;
    cutis_result result = path_kernel(skin, batch, path, &record->kernel);
    if (result != CUTIS_OK) return result;
    skin->recorded_count++;
    return launch_recorded(skin, record);
}

cutis_result cutis_gpu_skin_repeat(cutis_device_skin *base)
{
    gpu_skin *skin = skin_of(base);
    cutis_result result = cutis_gpu_enter(skin->gpu);
    if (result != CUTIS_OK) return result;
    for (uint32_t i = 0; i < skin->recorded_count && result == CUTIS_OK; i++)
        result = launch_recorded(skin, &skin->recorded[i]);
    cutis_gpu_leave(skin->gpu);
    return result;
}

// A batch
// ---------------------------------------------------------------------------------------------

static cutis_result start_bounds(gpu_skin *skin, const gpu_batch *batch)
{
    uint64_t bytes = (uint64_t)batch->count * 6 * sizeof(int32_t);
    cutis_result result = cutis_gpu_grow_slot(skin, &skin->bounds, bytes);
    if (result != CUTIS_OK) return result;
    int32_t *box = skin->bounds.pinned.data;
    for (uint32_t i = 0; i < batch->count * 6; i++)
        box[i] = cutis_gpu_ordered_bits(i % 6 < 3 ? __builtin_inff() : -__builtin_inff());
    return skin->gpu->driver->write(skin->gpu, skin->bounds.device, 0, box, bytes, false);
}

static cutis_result finish_bounds(gpu_skin *skin, const gpu_batch *batch, cutis_bounds *out)
{
    int32_t *box = skin->bounds.pinned.data;
    cutis_result result = skin->gpu->driver->read(
        skin->gpu, skin->bounds.device, 0, box, (uint64_t)batch->count * 6 * sizeof(int32_t), true);
    for (uint32_t i = 0; i < batch->count && result == CUTIS_OK; i++, box += 6) {
        float f[6];
        for (int c = 0; c < 6; c++) f[c] = cutis_gpu_ordered_float(box[c]);
        out[batch->first + i] = (cutis_bounds){ { f[0], f[1], f[2] }, { f[3], f[4], f[5] } };
    }
    return result;
}

static cutis_result run_batch(gpu_skin *skin, gpu_batch *batch, const cutis_skin_outputs *outputs)
{
    skin->recorded_count = 0;
    for (int p = 0; p < 2; p++) {
        batch->paths[p] = (gpu_path){ .uneven = p == 1, .arguments = skin->arguments };
        for (uint32_t i = 0; i < batch->count; i++)
            batch->paths[p].count += is_uneven(batch->frames, batch->first + i) == (p == 1);
    }
    batch->bounds = outputs->bounds != NULL;
    cutis_result result = cutis_gpu_open_targets(skin, batch, outputs);
    if (result == CUTIS_OK) result = upload_frames(skin, batch);
    if (result == CUTIS_OK && batch->bounds) result = start_bounds(skin, batch);
    if (result == CUTIS_OK) result = cutis_gpu_keep_previous(skin, batch, outputs);
    for (int p = 0; p < 2 && result == CUTIS_OK; p++)
        if (batch->paths[p].count) result = launch_path(skin, batch, &batch->paths[p]);
    if (result == CUTIS_OK && skin->gpu->driver->submit)
        result = skin->gpu->driver->submit(skin->gpu);
    if (result == CUTIS_OK) result = cutis_gpu_close_targets(skin, batch, outputs);
    if (result == CUTIS_OK && batch->bounds) result = finish_bounds(skin, batch, outputs->bounds);
    return result;
}

/// Instances of one batch: what staging memory and the kernels' 32-bit offsets allow.
static uint32_t batch_size(const gpu_skin *skin, const cutis_skin_frames *frames,
                           const cutis_skin_outputs *outputs)
{
    uint64_t even = path_words(skin, false, 4),
             uneven = frames->uneven ? path_words(skin, true, 4) : 0;
    uint64_t most = FRAME_WORDS_MAX * 4 / ((even > uneven ? even : uneven) + 1);
    uint64_t groups = (uint64_t)skin->arguments.chunk_count * CUTIS_GPU_CHUNK_BLOCKS;
    uint64_t bytes = cutis_gpu_host_bytes(skin, outputs);
    if (most > 0x7fffffffull / (groups + 1)) most = 0x7fffffffull / (groups + 1);
    if (bytes && most > HOST_BATCH_BYTES / bytes) most = HOST_BATCH_BYTES / bytes;
    if (most < 1) most = 1;
    return most > frames->instance_count ? frames->instance_count : (uint32_t)most;
}

static cutis_result run_batches(gpu_skin *skin, const cutis_skin_frames *frames,
                                const cutis_skin_outputs *outputs)
{
    uint32_t size = batch_size(skin, frames, outputs), done = 0;
    while (done < frames->instance_count) {
        uint32_t left = frames->instance_count - done;
        gpu_batch batch = { .frames = frames, .first = done, .count = left < size ? left : size };
        cutis_result result = run_batch(skin, &batch, outputs);
        if (result == CUTIS_DEVICE_OUT_OF_MEMORY && batch.count > 1) {
            cutis_log(skin->gpu->base.context, "%s: no memory for %u instances at once, trying %u",
                      skin->gpu->driver->name, batch.count, (batch.count + 1) / 2);
            size = (batch.count + 1) / 2;
            continue;
        }
        if (result == CUTIS_DEVICE_OUT_OF_MEMORY)
            return cutis_fail(skin->gpu->base.context, result,
                              "%s: the device has no memory for even one instance of %u vertices",
                              skin->gpu->driver->name, skin->arguments.vertex_count);
        if (result != CUTIS_OK) return result;
        done += batch.count;
    }
    return CUTIS_OK;
}

cutis_result cutis_gpu_skin_run(cutis_device_skin *base, const cutis_skin_frames *frames,
                                const cutis_skin_outputs *outputs)
{
    gpu_skin *skin = skin_of(base);
    cutis_result result = cutis_gpu_check_streams(skin, frames->instance_count, outputs);
    if (result != CUTIS_OK) return result;
    if (skin->arguments.vertex_count ==
        0) { // nothing to write, and a launch of no groups is an error
        for (uint32_t i = 0; outputs->bounds && i < frames->instance_count; i++)
            outputs->bounds[i] =
                (cutis_bounds){ { __builtin_inff(), __builtin_inff(), __builtin_inff() },
                                { -__builtin_inff(), -__builtin_inff(), -__builtin_inff() } };
        return CUTIS_OK;
    }
    result = cutis_gpu_enter(skin->gpu);
    if (result != CUTIS_OK) return result;
    result = run_batches(skin, frames, outputs);
    cutis_gpu_leave(skin->gpu);
    return result;
}

// Creation
// --------------------------------------------------------------------------------------------

static cutis_gpu_order wanted_order(void)
{
    const char *order = cutis_os_environment("CUTIS_GPU_ORDER");
    if (order && strcmp(order, "output") == 0) return CUTIS_GPU_ORDER_OUTPUT;
    if (order && strcmp(order, "bound") == 0) return CUTIS_GPU_ORDER_BOUND;
    return CUTIS_GPU_ORDER_CHOOSE;
}

/// Pack for shared memory if one instance's records of the largest chunk fit, else for palettes in
/// global memory.
static cutis_result pack_layout(gpu_skin *skin, cutis_arena *arena, const cutis_skin_layout *layout,
                                cutis_gpu_layout *packed)
{
    cutis_result result = cutis_gpu_layout_make(arena, layout, wanted_order(), true, packed);
    if (result != CUTIS_OK) return result;
    gpu_palette even = cutis_gpu_palette(skin, false), uneven = cutis_gpu_palette(skin, true);
    int size = even.size > uneven.size ? even.size : uneven.size;
    uint64_t bounds = (uint64_t)skin->gpu->warps * 192u * sizeof(float);
    uint64_t each = 16u + packed->near_max * 16ull * (uint32_t)size;
    skin->near = each + bounds <= near_bytes_max(skin);
    if (skin->near) return CUTIS_OK;
    return cutis_gpu_layout_make(arena, layout, wanted_order(), false, packed);
}

static cutis_result upload_layout(gpu_skin *skin, const cutis_skin_layout *layout)
{
    cutis_gpu *gpu = skin->gpu;
    cutis_arena arena = { .context = gpu->base.context };
    cutis_gpu_layout packed;
    cutis_result result = pack_layout(skin, &arena, layout, &packed);
    if (result == CUTIS_OK) {
        uint64_t bytes = (uint64_t)packed.word_count * sizeof(uint32_t);
        skin->arguments = packed.arguments;
        skin->near_max = packed.near_max;
        result = gpu->driver->allocate(gpu, bytes ? bytes : 16, &skin->layout);
        if (result == CUTIS_OK && bytes)
            result = gpu->driver->write(gpu, skin->layout, 0, packed.words, bytes, true);
    }
    cutis_arena_release(&arena);
    return result;
}

static void destroy_skin(gpu_skin *skin)
{
    cutis_gpu *gpu = skin->gpu;
    const cutis_gpu_driver *driver = gpu->driver;
    for (int i = 0; i < GPU_SLOTS; i++) {
        if (skin->slots[i].pending) driver->wait(gpu, skin->slots[i].event);
        driver->forget(gpu, skin->slots[i].event);
        driver->unpin(gpu, &skin->slots[i].pinned);
        driver->release(gpu, skin->slots[i].device);
    }
    driver->unpin(gpu, &skin->bounds.pinned);
    driver->release(gpu, skin->bounds.device);
    driver->unpin(gpu, &skin->shadow.pinned);
    driver->release(gpu, skin->shadow.device);
    driver->unpin(gpu, &skin->kept.pinned);
    driver->release(gpu, skin->kept.device);
    driver->release(gpu, skin->layout);
    cutis_free_array(gpu->base.context, skin->origins, skin->origin_count, sizeof *skin->origins);
    cutis_free(gpu->base.context, skin, sizeof *skin);
}

/// CUTIS_GPU_POSE=TILE,INSTANCES,REGISTERS,FAST: to measure shapes of weighted pose space with.
static void tune_poses(cutis_gpu *gpu)
{
    const char *text = cutis_os_environment("CUTIS_GPU_POSE");
    unsigned tile, instances, registers, fast;
    if (!text || sscanf(text, "%u,%u,%u,%u", &tile, &instances, &registers, &fast) != 4) return;
    if (tile < 1 || tile > 8 || instances < 1 || registers < 16 || registers > 255) return;
    gpu->pose_tile = tile;
    gpu->pose_instances = instances;
    gpu->registers_posed = registers;
    gpu->pose_fast = fast != 0;
}

cutis_result cutis_gpu_skin_create(cutis_device *device, const cutis_skin_layout *layout,
                                   cutis_device_skin **out)
{
    cutis_gpu *gpu = (cutis_gpu *)device;
    cutis_result result = cutis_gpu_enter(gpu);
    if (result != CUTIS_OK) return result;
    if (layout->pose_count) tune_poses(gpu);
    gpu_skin *skin = cutis_alloc_zero(device->context, 1, sizeof *skin);
    if (!skin) {
        cutis_gpu_leave(gpu);
        return cutis_alloc_result(device->context);
    }
    skin->base.device = device;
    skin->gpu = gpu;
    skin->formula = layout->formula;
    skin->unit = layout->normal_rule != CUTIS_NORMAL_RAW;
    skin->has_normals = layout->normals && layout->normal_rule != CUTIS_NORMAL_NONE;
    skin->has_tangents = layout->tangents;
    skin->linear_normals = layout->linear_normals;
    skin->blend = layout->blend != NULL;
    skin->morph = layout->morph_first ? 1 + (layout->normals != NULL) + layout->tangents : 0;
    skin->pose_count = layout->pose_count;
    skin->gaussian = layout->pose_gaussian;
    if (layout->origins) {
        skin->origin_count = 3 * (size_t)layout->bone_count;
        skin->origins =
            cutis_alloc_array(device->context, skin->origin_count, sizeof *skin->origins);
        if (skin->origins)
            memcpy(skin->origins, layout->origins, skin->origin_count * sizeof *skin->origins);
        else
            result = cutis_alloc_result(device->context);
    }
    if (result == CUTIS_OK) result = upload_layout(skin, layout);
    if (result == CUTIS_OK)
        *out = &skin->base;
    else
        destroy_skin(skin);
    cutis_gpu_leave(gpu);
    return result;
}

void cutis_gpu_skin_destroy(cutis_device_skin *base)
{
    if (!base) return;
    gpu_skin *skin = skin_of(base);
    cutis_gpu *gpu = skin->gpu;
    cutis_os_lock_take(gpu->lock);
    destroy_skin(skin);
    cutis_os_lock_give(gpu->lock);
}
