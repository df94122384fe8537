/// Which vertices share a position. An open-addressing table keyed by the three floats. Invariant:
/// the representative is always the lowest vertex of a place, whatever the number of threads. -0
/// and +0 are the same place.
#include <cutis/measure.h>

#include <string.h>

#include "base/memory.h"
#include "device/device.h"

static uint32_t coordinate_bits(float value)
{
    uint32_t bits;
    if (value == 0.0f) return 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t position_hash(const uint32_t key[3])
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < 3; k++) {
        h ^= key[k];
        h *= 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static void position_key(const float *positions, uint32_t vertex, uint32_t key[3])
{
    for (int k = 0; k < 3; k++) key[k] = coordinate_bits(positions[3 * (size_t)vertex + k]);
}

// Vertices of one task.
enum { TASK_VERTICES = 4096 };

typedef struct weld_job {
    uint32_t vertex_count;
    const float *positions;
    uint32_t *table; ///< the lowest vertex seen of a place, or UINT32_MAX
    size_t mask;
    uint32_t *weld;
} weld_job;

static bool same_place(const weld_job *job, const uint32_t key[3], uint32_t vertex)
{
    uint32_t other[3];
    position_key(job->positions, vertex, other);
    return key[0] == other[0] && key[1] == other[1] && key[2] == other[2];
}

// A place takes the first free slot of its row of slots and keeps it, so that vertices of one place
// meet there whatever the order in which threads come; the lowest of them stays.
static void enter_task(void *data, uint32_t index)
{
    const weld_job *job = data;
    uint32_t v = index * TASK_VERTICES;
    for (uint32_t end = v + TASK_VERTICES; v < end && v < job->vertex_count; v++) {
        uint32_t key[3];
        position_key(job->positions, v, key);
        for (size_t slot = position_hash(key) & job->mask;; slot = (slot + 1) & job->mask) {
            uint32_t there = __atomic_load_n(&job->table[slot], __ATOMIC_RELAXED);
            if (there == UINT32_MAX &&
                __atomic_compare_exchange_n(&job->table[slot], &there, v, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
                break;
            if (!same_place(job, key, there)) continue;
            while (v < there && !__atomic_compare_exchange_n(&job->table[slot], &there, v, false,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                ;
            break;
        }
    }
}

static void look_task(void *data, uint32_t index)
{
    const weld_job *job = data;
    uint32_t v = index * TASK_VERTICES;
    for (uint32_t end = v + TASK_VERTICES; v < end && v < job->vertex_count; v++) {
        uint32_t key[3];
        position_key(job->positions, v, key);
        size_t slot = position_hash(key) & job->mask;
        while (!same_place(job, key, job->table[slot])) slot = (slot + 1) & job->mask;
        job->weld[v] = job->table[slot];
    }
}

cutis_result cutis_weld_positions_on(cutis_context *context, cutis_device *device,
                                     uint32_t vertex_count, const float *positions, uint32_t *weld)
{
    if (!context || !weld || (vertex_count && !positions)) return CUTIS_INVALID_ARGUMENT;
    size_t capacity = 16;
    while (capacity < 2 * (size_t)vertex_count) capacity *= 2;
    weld_job job = { vertex_count, positions, NULL, capacity - 1, weld };
    job.table = cutis_alloc_array(context, capacity, sizeof *job.table);
    if (!job.table) return cutis_alloc_result(context);
    memset(job.table, 0xff, capacity * sizeof *job.table);
    cutis_device_run_items(device, enter_task, &job, vertex_count, TASK_VERTICES);
    cutis_device_run_items(device, look_task, &job, vertex_count, TASK_VERTICES);
    cutis_free_array(context, job.table, capacity, sizeof *job.table);
    return CUTIS_OK;
}

cutis_result cutis_weld_positions(cutis_context *context, uint32_t vertex_count,
                                  const float *positions, uint32_t *weld)
{
    return cutis_weld_positions_on(context, NULL, vertex_count, positions, weld);
}
