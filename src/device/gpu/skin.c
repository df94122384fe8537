/// Skins on a GPU: a layout uploaded once, then frames in, vertices out.
///
/// A batch is one upload and one launch per path (uniform, nonuniform). Invariant: outputs are
/// written by kernels only, in the order of the device's queue; the lock is held for driver calls,
/// not while frames are packed.
#include <device/gpu/skin.h>

#include <base/error.h>
#include <base/memory.h>
#include <string.h>

/// Words of one batch's frames: the kernels' offsets have 32 bits, of which palettes may use a
/// half.
#define FRAME_WORDS_MAX (1ull << 30)

static gpu_skin *skin_of(cutis_device_skin *skin)
{
    return (gpu_skin *)skin;
}

// Bounds: floats as integers in the same order, so that kernels merge them by atomic minima
// --------

static int32_t ordered_bits(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? bits ^ 0x7fffffff : bits;
}

static float ordered_float(int32_t bits)
{
    float value;
    if (bits < 0) bits ^= 0x7fffffff;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bounds_bytes(uint32_t count)
{
    return (uint64_t)count * 6 * sizeof(int32_t);
}

static cutis_result start_bounds(gpu_skin *skin, uint32_t count)
{
    TRY(cutis_gpu_grow_slot(skin->gpu, &skin->bounds, bounds_bytes(count)));
    int32_t *box = skin->bounds.pinned.data;
    for (uint32_t i = 0; i < count * 6; i++)
        box[i] = ordered_bits(i % 6 < 3 ? __builtin_inff() : -__builtin_inff());
    return skin->gpu->driver->write(skin->gpu, skin->bounds.device, 0, box, bounds_bytes(count),
                                    false);
}

static cutis_result finish_bounds(gpu_skin *skin, uint32_t count, cutis_bounds *out)
{
    int32_t *box = skin->bounds.pinned.data;
    TRY(skin->gpu->driver->read(skin->gpu, skin->bounds.device, 0, box, bounds_bytes(count), true));
    for (uint32_t i = 0; i < count; i++, box += 6) {
        float f[6];
        for (int c = 0; c < 6; c++) f[c] = ordered_float(box[c]);
        out[i] = (cutis_bounds){ { f[0], f[1], f[2] }, { f[3], f[4], f[5] } };
    }
    return CUTIS_OK;
}

// Running -----------------------------------------------------------------------------------------

uint32_t cutis_gpu_skin_batch(const cutis_device_skin *base)
{
    const gpu_skin *skin = (const gpu_skin *)base;
    const uint64_t groups = (uint64_t)skin->arguments.chunk_count * (CUTIS_GPU_CHUNK_SLOTS / 32u);
    uint64_t most = FRAME_WORDS_MAX / cutis_gpu_frame_words(skin);
    if (most > 0x7fffffffull / (groups + 1)) most = 0x7fffffffull / (groups + 1);
    return most < 1 ? 1 : (uint32_t)most;
}

/// What was filled goes up, and the kernels are launched; with the lock held.
static cutis_result launch_batch(gpu_skin *skin, gpu_batch *batch)
{
    const cutis_gpu_driver *driver = skin->gpu->driver;
    const uint32_t count = batch->frames->instance_count;
    cutis_bounds *bounds = batch->targets->bounds;
    skin->recorded_count = 0;
    TRY(cutis_gpu_send_frames(skin, batch));
    if (bounds) TRY(start_bounds(skin, count));
    for (int p = 0; p < 2; p++)
        if (batch->paths[p].count) TRY(cutis_gpu_launch_path(skin, batch, &batch->paths[p]));
    if (driver->submit) TRY(driver->submit(skin->gpu));
    if (bounds) TRY(finish_bounds(skin, count, bounds));
    return CUTIS_OK;
}

cutis_result cutis_gpu_skin_run(cutis_device_skin *base, const cutis_skin_frames *frames,
                                const cutis_skin_targets *targets)
{
    gpu_skin *skin = skin_of(base);
    gpu_batch batch = { .frames = frames, .targets = targets, .morph = frames->targets != NULL };
    for (int p = 0; p < 2; p++)
        batch.paths[p] = (gpu_path){ .nonuniform = p == 1, .arguments = skin->arguments };
    for (uint32_t i = 0; i < frames->instance_count; i++)
        batch.paths[cutis_gpu_is_nonuniform(frames, i)].count++;
    TRY(cutis_gpu_open_frames(skin, &batch));
    cutis_gpu_fill_frames(skin, &batch);
    cutis_os_lock_take(skin->gpu->lock);
    cutis_result result = skin->gpu->lost ? cutis_gpu_lost(skin->gpu) : launch_batch(skin, &batch);
    batch.slot->filling = false;
    return cutis_gpu_leave(skin->gpu, result);
}

static cutis_result launch_placed(gpu_skin *skin, gpu_batch *batch)
{
    skin->recorded_count = 0;
    TRY(cutis_gpu_launch_path(skin, batch, &batch->paths[0]));
    return skin->gpu->driver->submit ? skin->gpu->driver->submit(skin->gpu) : CUTIS_OK;
}

cutis_result cutis_gpu_skin_run_placed(cutis_device_skin *base, const cutis_buffer *frames,
                                       const cutis_frame_places *places, uint32_t count,
                                       const cutis_skin_targets *targets)
{
    gpu_skin *skin = skin_of(base);
    gpu_slot slot = { .device = frames->handle };
    gpu_batch batch = { .targets = targets, .morph = skin->morph != 0, .slot = &slot };
    batch.paths[0] = (gpu_path){ .count = count, .arguments = skin->arguments };
    skin_arguments *a = &batch.paths[0].arguments;
    const gpu_palette p = cutis_gpu_palette(skin, false);
    const cutis_frame_place *first = p.matrix == 0 ? &places->matrix : &places->rotation;
    a->instances = (uint32_t)places->instances;
    a->scales = (uint32_t)places->scales;
    a->palette = (uint32_t)first->first; // of its record, that is
    a->frame_centres = (uint32_t)places->centres;
    a->targets = (uint32_t)places->targets;
    TRY(cutis_gpu_enter(skin->gpu));
    return cutis_gpu_leave(skin->gpu, launch_placed(skin, &batch));
}

static cutis_result prepare(gpu_skin *skin, uint32_t instance_count, uint32_t call_count,
                            const cutis_skin_targets *targets)
{
    const gpu_batch batch = { .targets = targets, .morph = skin->morph != 0 };
    if (instance_count) TRY(cutis_gpu_prepare_frames(skin, instance_count, call_count));
    if (targets->bounds)
        TRY(cutis_gpu_grow_slot(skin->gpu, &skin->bounds, bounds_bytes(instance_count)));
    for (int p = 0; p < (instance_count ? 2 : 1); p++) {
        const gpu_path path = { .nonuniform = p == 1, .arguments = skin->arguments };
        TRY(cutis_gpu_prepare_path(skin, &batch, &path));
    }
    return CUTIS_OK;
}

cutis_result cutis_gpu_skin_prepare(cutis_device_skin *base, uint32_t instance_count,
                                    uint32_t call_count, const cutis_skin_targets *targets)
{
    gpu_skin *skin = skin_of(base);
    TRY(cutis_gpu_enter(skin->gpu));
    return cutis_gpu_leave(skin->gpu, prepare(skin, instance_count, call_count, targets));
}

// Creation --------------------------------------------------------------------------------------

static cutis_gpu_order wanted_order(void)
{
    const char *order = cutis_os_environment("CUTIS_GPU_ORDER");
    if (order && strcmp(order, "output") == 0) return CUTIS_GPU_ORDER_OUTPUT;
    if (order && strcmp(order, "fours") == 0) return CUTIS_GPU_ORDER_FOURS;
    if (order && strcmp(order, "bound") == 0) return CUTIS_GPU_ORDER_BOUND;
    return CUTIS_GPU_ORDER_CHOOSE;
}

/// A work item does one vertex or two with each row of a palette that it reads. Two pay where lists
/// are short, and for matrices alone anyway. Pose space has a schedule of its own, and centres by
/// weights want more registers than there are. Smaller groups with more registers suit centres, but
/// not where blocks differ as regrouped ones do.
static cutis_result choose_block(gpu_skin *skin, cutis_arena *arena,
                                 const cutis_skin_layout *layout)
{
    const cutis_gpu *gpu = skin->gpu;
    const bool sbs = skin->formula == CUTIS_FORMULA_SBS, cor = skin->formula == CUTIS_FORMULA_COR;
    cutis_gpu_lists lists = { 0 };
    bool pairs = !skin->pose_count && skin->formula != CUTIS_FORMULA_SBS_WEIGHTED;
    if (skin->formula != CUTIS_FORMULA_LBS) pairs = pairs && gpu->turned_pairs;
    if (pairs && skin->formula != CUTIS_FORMULA_LBS) {
        TRY(cutis_gpu_lists_look(arena, layout, wanted_order(), 64, &lists));
        pairs = sbs ? lists.few_long : lists.some_long;
    }
    skin->block_size = pairs ? 64 : 32;
    skin->registers = pairs && (sbs || cor) && !lists.fours ? gpu->registers_centred : 0;
    skin->warps = skin->registers ? gpu->warps_centred : gpu->warps;
    return CUTIS_OK;
}

/// Pack for shared memory if one instance's records of the largest chunk fit, else for palettes in
/// global memory.
static cutis_result pack_layout(gpu_skin *skin, cutis_arena *arena, const cutis_skin_layout *layout,
                                cutis_gpu_layout *packed)
{
    TRY(choose_block(skin, arena, layout));
    TRY(cutis_gpu_layout_make(arena, layout, wanted_order(), true, skin->block_size, packed));
    gpu_palette uniform = cutis_gpu_palette(skin, false),
                nonuniform = cutis_gpu_palette(skin, true);
    int size = uniform.size > nonuniform.size ? uniform.size : nonuniform.size;
    uint64_t bounds = (uint64_t)skin->warps * 192u * sizeof(float);
    uint64_t each = 16u + packed->near_max * 16ull * (uint32_t)cutis_gpu_near_rows(size);
    skin->near = each + bounds <= cutis_gpu_near_bytes(skin);
    if (skin->near) return CUTIS_OK;
    return cutis_gpu_layout_make(arena, layout, wanted_order(), false, skin->block_size, packed);
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
        skin->fours = packed.fours;
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
    cutis_context *context = gpu->base.context;
    while (skin->slots) {
        gpu_slot *slot = skin->slots;
        skin->slots = slot->next;
        cutis_gpu_release_slot(gpu, slot);
        cutis_free(context, slot, sizeof *slot);
    }
    cutis_gpu_release_slot(gpu, &skin->bounds);
    gpu->driver->release(gpu, skin->layout);
    cutis_free_array(context, skin->origins, skin->origin_count, sizeof *skin->origins);
    cutis_free(context, skin, sizeof *skin);
}

cutis_result cutis_gpu_skin_create(cutis_device *device, const cutis_skin_layout *layout,
                                   cutis_device_skin **out)
{
    cutis_gpu *gpu = (cutis_gpu *)device;
    cutis_result result = cutis_gpu_enter(gpu);
    if (result != CUTIS_OK) return result;
    gpu_skin *skin = cutis_alloc_zero(device->context, 1, sizeof *skin);
    if (!skin) return cutis_gpu_leave(gpu, cutis_alloc_result(device->context));
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
    return cutis_gpu_leave(gpu, result);
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
