/// Transfers between the host's memory and a device. Large ones go piece by piece through two
/// pinned buffers: the device copies one while the device's threads fill or empty the other, which
/// is several times faster than memory that the driver must pin, and new memory is touched by many
/// threads. Invariant: when a write returns the source may change, when a read returns the data is
/// there.
#include <device/gpu/gpu.h>

#include <string.h>

#include <base/error.h>

// Where it begins to pay, a piece, and what one task copies of it.
enum { LARGE = 8 << 20, PIECE = 8 << 20, TASK = 256 << 10 };

typedef struct copy_job {
    char *to;
    const char *from;
    size_t size;
} copy_job;

static void copy_task(void *data, uint32_t index)
{
    const copy_job *job = data;
    const size_t at = (size_t)index * TASK, left = job->size - at;
    memcpy(job->to + at, job->from + at, left < TASK ? left : TASK);
}

// The device's own threads help; the caller's are not asked, for the lock is held.
static void copy(cutis_gpu *gpu, void *to, const void *from, size_t size)
{
    copy_job job = { to, from, size };
    if (gpu->base.pool)
        cutis_os_pool_run(gpu->base.pool, copy_task, &job, (uint32_t)((size + TASK - 1) / TASK));
    else
        memcpy(to, from, size);
}

// false: no pinned memory is to be had, so the driver must do without.
static bool make_stages(cutis_gpu *gpu)
{
    bool good = true;
    for (int s = 0; s < 2 && good; s++)
        if (!gpu->stages[s].pinned.data)
            good = gpu->driver->pin(gpu, PIECE, &gpu->stages[s].pinned) == CUTIS_OK;
    return good;
}

void cutis_gpu_drop_stages(cutis_gpu *gpu)
{
    for (int s = 0; s < 2; s++) {
        if (!gpu->stages[s].pinned.data) continue;
        gpu->driver->forget(gpu, gpu->stages[s].event);
        gpu->driver->unpin(gpu, &gpu->stages[s].pinned);
        gpu->stages[s].event = NULL;
    }
}

// Wait until the device has done what it was given for a stage.
static cutis_result wait_stage(cutis_gpu *gpu, const cutis_gpu_stage *stage)
{
    return stage->event ? gpu->driver->wait(gpu, stage->event) : CUTIS_OK;
}

cutis_result cutis_gpu_write(cutis_gpu *gpu, uint64_t handle, uint64_t offset, const void *data,
                             uint64_t size)
{
    if (size < LARGE || !make_stages(gpu))
        return gpu->driver->write(gpu, handle, offset, data, size, true);
    for (uint64_t at = 0; at < size; at += PIECE) {
        cutis_gpu_stage *stage = &gpu->stages[at / PIECE % 2];
        const size_t piece = size - at < PIECE ? (size_t)(size - at) : PIECE;
        TRY(wait_stage(gpu, stage));
        copy(gpu, stage->pinned.data, (const char *)data + at, piece);
        TRY(gpu->driver->write(gpu, handle, offset + at, stage->pinned.data, piece, false));
        TRY(gpu->driver->mark(gpu, &stage->event));
    }
    for (int s = 0; s < 2; s++) TRY(wait_stage(gpu, &gpu->stages[s]));
    return CUTIS_OK;
}

static cutis_result begin_read(cutis_gpu *gpu, uint64_t handle, uint64_t offset, uint64_t size,
                               uint64_t at)
{
    if (at >= size) return CUTIS_OK;
    cutis_gpu_stage *stage = &gpu->stages[at / PIECE % 2];
    TRY(wait_stage(gpu, stage));
    TRY(gpu->driver->read(gpu, handle, offset + at, stage->pinned.data,
                          size - at < PIECE ? size - at : PIECE, false));
    return gpu->driver->mark(gpu, &stage->event);
}

cutis_result cutis_gpu_read(cutis_gpu *gpu, uint64_t handle, uint64_t offset, void *data,
                            uint64_t size)
{
    if (size < LARGE || !make_stages(gpu))
        return gpu->driver->read(gpu, handle, offset, data, size, true);
    TRY(begin_read(gpu, handle, offset, size, 0));
    for (uint64_t at = 0; at < size; at += PIECE) {
        const cutis_gpu_stage *stage = &gpu->stages[at / PIECE % 2];
        TRY(begin_read(gpu, handle, offset, size, at + PIECE));
        TRY(wait_stage(gpu, stage));
        copy(gpu, (char *)data + at, stage->pinned.data,
             size - at < PIECE ? (size_t)(size - at) : PIECE);
    }
    return CUTIS_OK;
}
