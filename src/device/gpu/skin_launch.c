/// Launches of a skin on a GPU: which kernel for which outputs, and how it is spread over groups.
#include <device/gpu/skin.h>

#include <stdio.h>

#include <base/error.h>

#define GROUP_INSTANCES_MAX 8u
#define POSE_INSTANCES_MAX  32u
#define AMOUNT_BYTES_MAX    4096u

/// Shared memory for what a group has beside its palettes: staged records and vertex numbers,
/// signs, images.
static uint32_t static_local_bytes(const gpu_skin *skin)
{
    const cutis_gpu *gpu = skin->gpu;
    uint32_t record = 3u + (skin->has_normals ? 3u : 0u) + (skin->has_tangents ? 4u : 0u);
    uint32_t bytes = 256u + GROUP_INSTANCES_MAX * CUTIS_GPU_CHUNK_SLOTS / skin->block_size * 16u;
    if (gpu->staged)
        bytes += skin->warps *
                 (record * 256u + 4u * skin->block_size * (1u + (record * 8u + 31u) / 32u));
    if (skin->formula == CUTIS_FORMULA_SBS) bytes += skin->warps * GROUP_INSTANCES_MAX * 8u * 16u;
    return bytes;
}

/// Rows of a record in shared memory: odd, so that lanes which read different ones seldom meet in a
/// bank.
int cutis_gpu_near_rows(int size)
{
    return size | 1;
}

/// Shared memory for palettes of one group.
uint32_t cutis_gpu_near_bytes(const gpu_skin *skin)
{
    uint32_t used = static_local_bytes(skin), all = skin->gpu->local_bytes_max;
    uint32_t left = all > used ? all - used : 0;
    return left < skin->gpu->near_bytes ? left : skin->gpu->near_bytes;
}

/// Shared memory for one instance of a group.
static uint32_t instance_bytes(const gpu_skin *skin, const gpu_batch *batch, const gpu_path *path)
{
    const gpu_palette palette = cutis_gpu_palette(skin, path->nonuniform);
    const uint32_t rows = (uint32_t)cutis_gpu_near_rows(palette.size);
    return 16u + (skin->near ? skin->near_max * rows * 16u : 0u) +
           (batch->targets->bounds ? skin->warps * 192u * (uint32_t)sizeof(float) : 0u);
}

/// Shared memory for the amounts of morph targets, eight instances each; 0: they are read from
/// global memory, because there are too many, or instances are not done four at a time.
static uint32_t amount_bytes(const gpu_skin *skin, const gpu_batch *batch, const gpu_path *path)
{
    const uint64_t bytes = (uint64_t)skin->arguments.target_count * 8u * sizeof(float);
    const bool fours =
        skin->formula == CUTIS_FORMULA_LBS && !skin->pose_count && !batch->targets->tangents.buffer;
    if (!batch->morph || !skin->morph || !fours || bytes > AMOUNT_BYTES_MAX) return 0;
    const uint64_t all = bytes + instance_bytes(skin, batch, path);
    return all <= cutis_gpu_near_bytes(skin) ? (uint32_t)bytes : 0;
}

// Launches --------------------------------------------------------------------------------------

static bool same_record(const cutis_target *a, const cutis_target *b, uint64_t apart)
{
    return a->buffer->handle == b->buffer->handle && a->stride == b->stride && a->step == b->step &&
           b->first == a->first + apart;
}

/// Can the outputs be written as one packed record per vertex, 16 bytes at a time?
static bool is_packed(const cutis_skin_targets *to)
{
    const cutis_target *p = &to->positions, *n = &to->normals, *t = &to->tangents;
    uint32_t record = 3u + (n->buffer ? 3u : 0u) + (t->buffer ? 4u : 0u);
    if (!p->buffer || (t->buffer && !n->buffer) || p->stride != record) return false;
    if (n->buffer && !same_record(p, n, 3)) return false;
    if (t->buffer && !same_record(p, t, 6)) return false;
    return p->first % 4 == 0 && p->step % 4 == 0 && p->buffer->handle % 16 == 0;
}

/// Registers of a work item, at most: what measured best for the formula.
static uint32_t registers_of(const gpu_skin *skin, const gpu_batch *batch)
{
    const cutis_gpu *gpu = skin->gpu;
    bool many = skin->block_size > 32u || skin->formula == CUTIS_FORMULA_SBS_WEIGHTED;
    if (skin->pose_count) return gpu->registers_posed;
    if (batch->morph && skin->formula == CUTIS_FORMULA_LBS) return gpu->registers_morphed;
    if (skin->registers) return skin->registers;
    return many ? gpu->registers_pairs : gpu->registers;
}

/// Groups on a multiprocessor that they allow, for compilers that want it said so.
static uint32_t groups_of(const gpu_skin *skin, const gpu_batch *batch)
{
    uint32_t registers = registers_of(skin, batch);
    uint32_t groups = registers ? 65536u / (registers * 32u * skin->warps) : 1u;
    return groups ? groups : 1u;
}

/// Instances of a group, at most.
static uint32_t instances_max(const gpu_skin *skin)
{
    uint32_t most = skin->pose_count ? skin->gpu->pose_instances : skin->gpu->group_instances;
    uint32_t limit = skin->pose_count ? POSE_INSTANCES_MAX : GROUP_INSTANCES_MAX;
    return most < limit ? most : limit;
}

#define FORMULA_DEFINE(id, number) "#define FORMULA_" #id " " #number "\n"

static void path_defines(const gpu_skin *skin, const gpu_batch *batch, const gpu_path *path,
                         char *out, size_t capacity)
{
    gpu_palette p = cutis_gpu_palette(skin, path->nonuniform);
    const cutis_skin_targets *to = batch->targets;
    bool staged = skin->gpu->staged && is_packed(to);
    char posed[192] = "";
    if (skin->pose_count)
        snprintf(posed, sizeof posed,
                 "#define SKIN_POSE_PLANES %d\n#define SKIN_GAUSSIAN %d\n#define SKIN_SQUARES %d\n"
                 "#define POSE_TILE %u\n",
                 skin->has_normals ? 7 : 4, skin->gaussian, p.squares, skin->gpu->pose_tile);
    snprintf(out, capacity,
             "%s%s#define SKIN_FORMULA %d\n#define SKIN_NORMALS %d\n#define SKIN_TANGENTS %d\n"
             "#define SKIN_UNIT %d\n#define SKIN_NONUNIFORM %d\n#define SKIN_BLEND %d\n"
             "#define SKIN_MORPH %d\n#define SKIN_LINEAR_NORMALS %d\n#define SKIN_POSITIONS %d\n"
             "#define SKIN_BOUNDS %d\n#define SKIN_WARPS %u\n#define SKIN_NEAR %d\n"
             "#define SKIN_STAGED %d\n#define SKIN_FOURS %d\n#define SKIN_LISTS %d\n#define "
             "SKIN_PTX %d\n#define "
             "SKIN_PALETTE %d\n#define SKIN_NEAR_PALETTE %d\n#define SKIN_AMOUNTS %d\n"
             "#define SKIN_MATRIX %d\n#define SKIN_ROTATION %d\n#define SKIN_DUAL %d\n"
             "#define SKIN_STRETCH %d\n#define SKIN_ORIGIN %d\n#define SKIN_REGISTERS %u\n"
             "#define SKIN_GROUPS %u\n#define SKIN_TOGETHER %u\n#define SKIN_POSES %u\n%s%s",
             skin->block_size > 32u ? "#define KERNEL_PAIRS\n" : "", CUTIS_FORMULAS(FORMULA_DEFINE),
             (int)skin->formula, to->normals.buffer != NULL, to->tangents.buffer != NULL,
             skin->unit, path->nonuniform, skin->blend, batch->morph ? skin->morph : 0,
             skin->linear_normals, to->positions.buffer != NULL, to->bounds != NULL, skin->warps,
             skin->near, staged, skin->fours, skin->gpu->staged && !skin->gpu->lists_refused,
             skin->gpu->staged && skin->warps > 1, p.size, cutis_gpu_near_rows(p.size),
             amount_bytes(skin, batch, path) != 0, p.matrix, p.rotation, p.dual, p.stretch,
             p.origin, registers_of(skin, batch), groups_of(skin, batch), instances_max(skin),
             skin->pose_count, posed, skin->gpu->tuning ? skin->gpu->tuning : "");
}

/// How a path is spread over groups: instances together while their palettes fit, chunks split
/// while the device is not full.
static cutis_gpu_launch path_shape(const gpu_skin *skin, const gpu_batch *batch, gpu_path *path)
{
    const cutis_gpu *gpu = skin->gpu;
    skin_arguments *a = &path->arguments;
    const uint32_t each = instance_bytes(skin, batch, path);
    const uint32_t amounts = amount_bytes(skin, batch, path);
    uint32_t together = (cutis_gpu_near_bytes(skin) - amounts) / each;
    if (together < 1) together = 1;
    if (together > instances_max(skin)) together = instances_max(skin);
    if (together > path->count) together = path->count;
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a path that is launched has instances
    uint64_t groups = ((uint64_t)path->count + together - 1) / together * a->chunk_count;
    uint64_t wanted = (uint64_t)gpu->info.thread_count * 4;
    uint32_t split_max = (CUTIS_GPU_CHUNK_SLOTS / skin->block_size + skin->warps - 1) / skin->warps;
    uint32_t splits = groups >= wanted ? 1 : (uint32_t)((wanted + groups - 1) / groups);
    if (splits > split_max) splits = split_max;
    a->group_instances = together;
    a->instance_count = path->count;
    a->split_count = splits;
    return (cutis_gpu_launch){ .group_count = groups * splits,
                               .group_size = skin->warps * 32u,
                               .local_bytes = each * together + amounts };
}

static uint64_t set_target(const cutis_target *target, uint64_t *first, uint64_t *step,
                           uint32_t *stride)
{
    *first = target->first;
    *step = target->step;
    *stride = (uint32_t)target->stride;
    return target->buffer ? target->buffer->handle : 0;
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
    static const char *const blended[] = { "algebra.h",  "blend.h",    "arguments_gpu.h",
                                           "near_gpu.h", "skin_gpu.h", "group_gpu.h",
                                           NULL };
    static const char *const posed[] = { "algebra.h",       "blend.h",     "pose_space.h",
                                         "arguments_gpu.h", "near_gpu.h",  "skin_gpu.h",
                                         "pose_gpu.h",      "group_gpu.h", NULL };
    const char *const *texts = skin->pose_count ? posed : blended;
    char defines[2048];
    cutis_gpu *gpu = skin->gpu;
    path_defines(skin, batch, path, defines, sizeof defines);
    cutis_result result =
        cutis_gpu_kernel_get(gpu, texts, defines, "cutis_skin", registers_of(skin, batch), out);
    if (result != CUTIS_DEVICE_BUILD_FAILED || !gpu->staged || gpu->lists_refused) return result;
    gpu->lists_refused = true;
    path_defines(skin, batch, path, defines, sizeof defines);
    return cutis_gpu_kernel_get(gpu, texts, defines, "cutis_skin", registers_of(skin, batch), out);
}

cutis_result cutis_gpu_launch_path(gpu_skin *skin, gpu_batch *batch, gpu_path *path)
{
    skin_arguments *a = &path->arguments;
    const cutis_skin_targets *to = batch->targets;
    gpu_recorded *record = &skin->recorded[skin->recorded_count];
    *record = (gpu_recorded){
        .launch = path_shape(skin, batch, path),
        .frames = batch->slot->device,
        .positions =
            set_target(&to->positions, &a->position_first, &a->position_step, &a->position_stride),
        .normals = set_target(&to->normals, &a->normal_first, &a->normal_step, &a->normal_stride),
        .tangents =
            set_target(&to->tangents, &a->tangent_first, &a->tangent_step, &a->tangent_stride),
        .bounds = to->bounds ? skin->bounds.device : 0,
    };
    record->arguments = *a;
    TRY(path_kernel(skin, batch, path, &record->kernel));
    skin->recorded_count++;
    return launch_recorded(skin, record);
}

cutis_result cutis_gpu_prepare_path(gpu_skin *skin, const gpu_batch *batch, const gpu_path *path)
{
    cutis_gpu_kernel kernel;
    return path_kernel(skin, batch, path, &kernel);
}

cutis_result cutis_gpu_skin_repeat(cutis_device_skin *base)
{
    gpu_skin *skin = (gpu_skin *)base;
    cutis_result result = cutis_gpu_enter(skin->gpu);
    if (result != CUTIS_OK) return result;
    for (uint32_t i = 0; i < skin->recorded_count && result == CUTIS_OK; i++)
        result = launch_recorded(skin, &skin->recorded[i]);
    return cutis_gpu_leave(skin->gpu, result);
}
