/// Frames of a batch on their way to a GPU: bone records packed into pinned memory on the host's
/// threads, then sent. Invariant: memory that is being filled belongs to one call, so no lock is
/// held meanwhile.
#include <device/gpu/skin.h>

#include <base/error.h>
#include <base/memory.h>
#include <string.h>

/// Instances whose frames one task copies.
#define PACK_INSTANCES 32u
/// Words that rounding adds to the arrays of a path.
#define ROUNDING 4u

// Palette records -------------------------------------------------------------------------------

gpu_palette cutis_gpu_palette(const gpu_skin *skin, bool nonuniform)
{
    gpu_palette p = { -1, -1, -1, -1, -1, -1, 0 };
    bool turned = skin->formula != CUTIS_FORMULA_LBS, dqs = skin->formula == CUTIS_FORMULA_DQS;
    if (!dqs || nonuniform || skin->blend || skin->linear_normals) p.matrix = p.size, p.size += 3;
    if (turned) p.rotation = p.size, p.size += 1;
    if (dqs && !nonuniform) p.dual = p.size, p.size += 1;
    if (turned && nonuniform) p.stretch = p.size, p.size += 2;
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

// Frames of a batch -----------------------------------------------------------------------------

static uint64_t round4(uint64_t words)
{
    return (words + 3) / 4 * 4;
}

bool cutis_gpu_is_nonuniform(const cutis_skin_frames *frames, uint32_t instance)
{
    return frames->nonuniform && frames->nonuniform[instance];
}

/// Words of one path's frames.
static uint64_t path_words(const gpu_skin *skin, bool nonuniform, uint64_t count)
{
    const skin_arguments *a = &skin->arguments;
    gpu_palette palette = cutis_gpu_palette(skin, nonuniform);
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
        uint32_t instance = n;
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
    gpu_palette palette = cutis_gpu_palette(skin, path->nonuniform);
    uint64_t record = (uint64_t)a->bone_count * 4u * (uint32_t)palette.size;
    a->instances = (uint32_t)*at;
    a->scales = (uint32_t)(*at += round4(path->count));
    a->palette = (uint32_t)(*at += round4(path->count));
    a->frame_centres = (uint32_t)(*at += path->count * record);
    a->targets = (uint32_t)(*at += (uint64_t)path->count * a->set_count * 4u);
    *at += round4((uint64_t)path->count * a->target_count);
    uint32_t i = 0;
    for (uint32_t n = 0; n < batch->frames->instance_count; n++)
        if (cutis_gpu_is_nonuniform(batch->frames, n) == path->nonuniform)
            memcpy(words + a->instances + i++, &n, sizeof n);
    pack_job job = { skin, batch, path, words, palette };
    cutis_device_run_items(&skin->gpu->base, pack_instances, &job, path->count, PACK_INSTANCES);
}

/// Make pinned and device memory at least `bytes` large. Capacity grows by halves, so a growing
/// crowd settles.
cutis_result cutis_gpu_grow_slot(cutis_gpu *gpu, gpu_slot *slot, uint64_t bytes)
{
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

void cutis_gpu_release_slot(cutis_gpu *gpu, gpu_slot *slot)
{
    if (slot->pending) gpu->driver->wait(gpu, slot->event);
    gpu->driver->forget(gpu, slot->event);
    gpu->driver->unpin(gpu, &slot->pinned);
    gpu->driver->release(gpu, slot->device);
}

/// A slot that is not being filled: the one that was used longest ago, once there are GPU_SLOTS.
/// Calls that fill theirs at the same time (several threads, or a thread that helps while it waits)
/// have one each. @param out NULL: no memory
static gpu_slot *choose_slot(gpu_skin *skin)
{
    uint32_t count = 0;
    gpu_slot **place = &skin->slots, **found = NULL;
    for (; *place; place = &(*place)->next, count++)
        if (!(*place)->filling && !found) found = place;
    if (found && (count >= GPU_SLOTS || !(*found)->pending)) {
        gpu_slot *slot = *found; // to the end: it is now the one used last
        *found = slot->next;
        slot->next = NULL;
        for (place = &skin->slots; *place; place = &(*place)->next) {}
        return *place = slot;
    }
    return *place = cutis_alloc_zero(skin->gpu->base.context, 1, sizeof **place);
}

static cutis_result take_slot(gpu_skin *skin, uint64_t bytes, gpu_slot **out)
{
    gpu_slot *slot = choose_slot(skin);
    if (!slot) return cutis_alloc_result(skin->gpu->base.context);
    cutis_result result = CUTIS_OK;
    if (slot->pending) result = skin->gpu->driver->wait(skin->gpu, slot->event);
    slot->pending = false;
    if (result == CUTIS_OK) result = cutis_gpu_grow_slot(skin->gpu, slot, bytes);
    if (result != CUTIS_OK) return result;
    slot->filling = true;
    *out = slot;
    return CUTIS_OK;
}

cutis_result cutis_gpu_open_frames(gpu_skin *skin, gpu_batch *batch)
{
    uint64_t words = 0;
    TRY(cutis_gpu_enter(skin->gpu));
    for (int p = 0; p < 2; p++)
        if (batch->paths[p].count)
            words += path_words(skin, batch->paths[p].nonuniform, batch->paths[p].count);
    return cutis_gpu_leave(skin->gpu, take_slot(skin, words * sizeof(float), &batch->slot));
}

void cutis_gpu_fill_frames(const gpu_skin *skin, gpu_batch *batch)
{
    batch->word_count = 0;
    for (int p = 0; p < 2; p++)
        if (batch->paths[p].count)
            pack_path(skin, batch, &batch->paths[p], batch->slot->pinned.data, &batch->word_count);
}

cutis_result cutis_gpu_send_frames(gpu_skin *skin, gpu_batch *batch)
{
    const cutis_gpu_driver *driver = skin->gpu->driver;
    gpu_slot *slot = batch->slot;
    cutis_result result = driver->write(skin->gpu, slot->device, 0, slot->pinned.data,
                                        batch->word_count * sizeof(float), false);
    if (result == CUTIS_OK) result = driver->mark(skin->gpu, &slot->event);
    slot->pending = result == CUTIS_OK;
    return result;
}

cutis_result cutis_gpu_prepare_frames(gpu_skin *skin, uint32_t count, uint32_t calls)
{
    const uint64_t uniform = path_words(skin, false, count),
                   nonuniform = path_words(skin, true, count);
    const uint64_t words = (uniform > nonuniform ? uniform : nonuniform) + 4 * ROUNDING;
    cutis_result result = CUTIS_OK;
    for (uint32_t i = 0; (i < GPU_SLOTS || i < calls) && result == CUTIS_OK; i++) {
        gpu_slot *slot = NULL; // another one each time: those taken before count as being filled
        result = take_slot(skin, words * sizeof(float), &slot);
        if (slot) slot->preparing = true;
        if (result == CUTIS_OK) result = skin->gpu->driver->mark(skin->gpu, &slot->event);
        if (result == CUTIS_OK) slot->pending = true;
    }
    for (gpu_slot *slot = skin->slots; slot; slot = slot->next)
        if (slot->preparing) slot->preparing = slot->filling = false;
    return result;
}

uint64_t cutis_gpu_frame_words(const gpu_skin *skin)
{
    const uint64_t uniform = path_words(skin, false, 4), nonuniform = path_words(skin, true, 4);
    return ((uniform > nonuniform ? uniform : nonuniform) + 4) / 4;
}

void cutis_gpu_skin_places(const cutis_device_skin *base, uint32_t capacity,
                           cutis_frame_places *out)
{
    const gpu_skin *skin = (const gpu_skin *)base;
    const skin_arguments *a = &skin->arguments;
    const gpu_palette p = cutis_gpu_palette(skin, false);
    const uint64_t record = 4u * (uint64_t)p.size, count = round4(capacity);
    const uint64_t palette = 2 * count;
#define PLACE(part) { palette + (p.part < 0 ? 0 : 4u * (uint64_t)p.part), p.part < 0 ? 0 : record }
    *out = (cutis_frame_places){ .scales = count,
                                 .nonuniform = UINT64_MAX,
                                 .centres = palette + count * a->bone_count * record,
                                 .matrix = PLACE(matrix),
                                 .rotation = PLACE(rotation),
                                 .dual = PLACE(dual),
                                 .origin = PLACE(origin) };
#undef PLACE
    out->targets = out->centres + count * a->set_count * 4u;
    out->words = out->targets + round4(count * a->target_count);
}
