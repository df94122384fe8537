// Sorting vertices into blocks. Invariant: the order depends on colours and sizes alone.
#include "fit/reduce/blocks.h"

#include <string.h>

enum { LANES = REDUCE_BLOCK, SIZES = CUTIS_REDUCE_SET + 1 };

static uint32_t blocks_of(uint32_t vertices)
{
    return (vertices + LANES - 1) / LANES;
}

typedef struct sort_job {
    const cutis_reduce_colours *colours;
    uint32_t ends[2]; ///< of the one colour that there is without colours
    const uint32_t *first;
    cutis_reduce_blocks *blocks;
    uint32_t (*count)[SIZES]; ///< per colour: vertices of every size
} sort_job;

static const uint32_t *range_of(const sort_job *job, uint32_t colour)
{
    return job->colours ? job->colours->first + colour : job->ends;
}

static uint32_t vertex_at(const sort_job *job, uint32_t i)
{
    return job->colours ? job->colours->vertex[i] : i;
}

static uint32_t size_of(const sort_job *job, uint32_t vertex)
{
    return job->first[vertex + 1] - job->first[vertex];
}

static void count_task(void *data, uint32_t colour)
{
    const sort_job *job = data;
    const uint32_t *range = range_of(job, colour);
    memset(job->count[colour], 0, sizeof job->count[colour]);
    for (uint32_t i = range[0]; i < range[1]; i++)
        job->count[colour][size_of(job, vertex_at(job, i))]++;
}

// Shapes of all blocks, colour after colour, by size.
static void shape_blocks(const sort_job *job)
{
    cutis_reduce_blocks *out = job->blocks;
    uint32_t block = 0;
    out->slot_first[0] = out->kept_first[0] = 0;
    for (uint32_t c = 0; c < out->colour_count; c++)
        for (uint32_t n = 0; n < SIZES; n++)
            for (uint32_t end = block + blocks_of(job->count[c][n]); block < end; block++) {
                out->size[block] = n;
                out->slot_first[block + 1] = out->slot_first[block] + n;
                out->kept_first[block + 1] = out->kept_first[block] + REDUCE_KEPT_SIZE(n);
            }
}

// Put the vertices of a colour into its blocks, by size and in order.
static void fill_task(void *data, uint32_t colour)
{
    const sort_job *job = data;
    const uint32_t *range = range_of(job, colour);
    cutis_reduce_blocks *out = job->blocks;
    uint32_t lane[SIZES], block = out->colour_first[colour];
    memset(out->vertex + (size_t)block * LANES, 0xff,
           (size_t)(out->colour_first[colour + 1] - block) * LANES * sizeof *out->vertex);
    for (uint32_t n = 0; n < SIZES; n++) {
        lane[n] = block * LANES;
        block += blocks_of(job->count[colour][n]);
    }
    for (uint32_t i = range[0]; i < range[1]; i++)
        out->vertex[lane[size_of(job, vertex_at(job, i))]++] = vertex_at(job, i);
}

bool cutis_reduce_blocks_create(const cutis_reduce_problem *problem,
                                const cutis_reduce_colours *colours, const uint32_t *first,
                                cutis_arena *arena, cutis_reduce_blocks *out)
{
    sort_job job = { colours, { 0, problem->mesh->vertex_count }, first, out, NULL };
    *out = (cutis_reduce_blocks){ .colour_count = colours ? colours->count : 1 };
    const uint32_t count = out->colour_count;
    out->colour_first = cutis_arena_alloc(arena, (size_t)count + 1, sizeof *out->colour_first);
    job.count = cutis_arena_alloc(arena, count, sizeof *job.count);
    if (!out->colour_first || !job.count) return false;
    cutis_device_run(problem->device, count_task, &job, count);
    for (uint32_t c = 0; c < count; c++) {
        out->colour_first[c] = out->count;
        for (uint32_t n = 0; n < SIZES; n++) out->count += blocks_of(job.count[c][n]);
    }
    out->colour_first[count] = out->count;
    const size_t ends = (size_t)out->count + 1;
    out->vertex = cutis_arena_alloc(arena, out->count, LANES * sizeof *out->vertex);
    out->size = cutis_arena_alloc(arena, out->count, sizeof *out->size);
    out->slot_first = cutis_arena_alloc(arena, ends, sizeof *out->slot_first);
    out->kept_first = cutis_arena_alloc(arena, ends, sizeof *out->kept_first);
    if (!out->vertex || !out->size || !out->slot_first || !out->kept_first) return false;
    shape_blocks(&job);
    cutis_device_run(problem->device, fill_task, &job, count);
    return true;
}
