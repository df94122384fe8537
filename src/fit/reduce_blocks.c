// Sorting vertices into blocks, and the way of weights and offsets into them and back. Invariant:
// the order depends on colours and counts alone.
#include "fit/reduce_blocks.h"

#include <string.h>

#include "fit/reduce_lanes.h"
#include "fit/reduce_vertex.h"

enum { LANES = CUTIS_REDUCE_LANES };

uint32_t cutis_reduce_kept_size(uint32_t n)
{
    return 2 + n + n * (n + 1) / 2; // REDUCE_KEPT_SIZE
}

static uint32_t blocks_of(uint32_t vertices)
{
    return (vertices + LANES - 1) / LANES;
}

typedef struct sort_job {
    const cutis_reduce_colours *colours;
    const uint32_t *slots;
    cutis_reduce_blocks *blocks;
    uint32_t (*count)[CUTIS_REDUCE_SET + 1]; ///< per colour: vertices that keep so many controls
} sort_job;

static void count_task(void *data, uint32_t colour)
{
    const sort_job *job = data;
    uint32_t *count = job->count[colour];
    memset(count, 0, sizeof job->count[colour]);
    for (uint32_t i = job->colours->first[colour]; i < job->colours->first[colour + 1]; i++) {
        const uint32_t v = job->colours->vertex[i];
        count[job->slots[v + 1] - job->slots[v]]++;
    }
}

// Shapes of all blocks, colour after colour, by size.
static void shape_blocks(const sort_job *job)
{
    cutis_reduce_blocks *out = job->blocks;
    uint32_t block = 0;
    out->slot_first[0] = out->kept_first[0] = 0;
    for (uint32_t c = 0; c < job->colours->count; c++)
        for (uint32_t n = 0; n <= CUTIS_REDUCE_SET; n++)
            for (uint32_t end = block + blocks_of(job->count[c][n]); block < end; block++) {
                out->size[block] = n;
                out->slot_first[block + 1] = out->slot_first[block] + n;
                out->kept_first[block + 1] = out->kept_first[block] + cutis_reduce_kept_size(n);
            }
}

// Put the vertices of a colour into its blocks, by size and in order.
static void fill_task(void *data, uint32_t colour)
{
    const sort_job *job = data;
    cutis_reduce_blocks *out = job->blocks;
    uint32_t lane[CUTIS_REDUCE_SET + 1], block = out->colour_first[colour];
    memset(out->vertex + (size_t)block * LANES, 0xff,
           (size_t)(out->colour_first[colour + 1] - block) * LANES * sizeof *out->vertex);
    for (uint32_t n = 0; n <= CUTIS_REDUCE_SET; n++) {
        lane[n] = block * LANES;
        block += blocks_of(job->count[colour][n]);
    }
    for (uint32_t i = job->colours->first[colour]; i < job->colours->first[colour + 1]; i++) {
        const uint32_t v = job->colours->vertex[i], at = lane[job->slots[v + 1] - job->slots[v]]++;
        out->vertex[at] = v;
        out->place[v] = at;
    }
}

bool cutis_reduce_blocks_create(const cutis_reduce_problem *problem,
                                const cutis_reduce_colours *colours, const uint32_t *slots,
                                cutis_arena *arena, cutis_reduce_blocks *out)
{
    sort_job job = { .colours = colours, .slots = slots, .blocks = out };
    *out = (cutis_reduce_blocks){ 0 };
    out->colour_first =
        cutis_arena_alloc(arena, (size_t)colours->count + 1, sizeof *out->colour_first);
    job.count = cutis_arena_alloc(arena, colours->count, sizeof *job.count);
    if (!out->colour_first || !job.count) return false;
    cutis_device_run(problem->device, count_task, &job, colours->count);
    for (uint32_t c = 0; c < colours->count; c++) {
        out->colour_first[c] = out->count;
        for (uint32_t n = 0; n <= CUTIS_REDUCE_SET; n++) out->count += blocks_of(job.count[c][n]);
    }
    out->colour_first[colours->count] = out->count;
    const size_t lanes = (size_t)out->count * LANES, ends = (size_t)out->count + 1;
    out->vertex = cutis_arena_alloc(arena, lanes, sizeof *out->vertex);
    out->place = cutis_arena_alloc(arena, problem->mesh->vertex_count, sizeof *out->place);
    out->size = cutis_arena_alloc(arena, out->count, sizeof *out->size);
    out->slot_first = cutis_arena_alloc(arena, ends, sizeof *out->slot_first);
    out->kept_first = cutis_arena_alloc(arena, ends, sizeof *out->kept_first);
    if (!out->vertex || !out->place || !out->size || !out->slot_first || !out->kept_first)
        return false;
    shape_blocks(&job);
    cutis_device_run(problem->device, fill_task, &job, colours->count);
    return true;
}

typedef struct move_job {
    const cutis_reduce_problem *problem;
    cutis_reduce_state *state;
    cutis_reduce_blocks *blocks;
    double lambda;
    const cutis_reduce_turns *turns; ///< these two: under the energy of normals
    double *scratch;                 ///< per task
} move_job;

// Offsets and weights of one block; lanes without a vertex repeat the first, so that nothing
// singular is met there.
static void load_block(const move_job *job, uint32_t block)
{
    const cutis_reduce_state *state = job->state;
    const cutis_reduce_blocks *blocks = job->blocks;
    const uint32_t n = blocks->size[block], rows = 3 * job->problem->column_count;
    const size_t slot = (size_t)blocks->slot_first[block] * LANES;
    double *weight = blocks->weight + slot;
    float *offset = blocks->offset + slot * rows;
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t v = blocks->vertex[block * LANES + l];
        if (v == UINT32_MAX) v = blocks->vertex[block * LANES];
        const float *from = state->offset + (size_t)state->first[v] * rows;
        for (uint32_t i = 0; i < n; i++) weight[i * LANES + l] = state->weight[state->first[v] + i];
        for (size_t i = 0; i < (size_t)n * rows; i++) offset[i * LANES + l] = from[i];
    }
    cutis_reduce_lanes_keep(job->problem, blocks, job->lambda, block);
}

// Offsets of one lane on its set, and its metric. `line`: 4 * rows
static void load_turned_lane(const move_job *job, uint32_t block, uint32_t l, uint32_t v,
                             double *line)
{
    const cutis_reduce_problem *problem = job->problem;
    const cutis_reduce_state *state = job->state;
    const cutis_reduce_blocks *blocks = job->blocks;
    const uint32_t n = blocks->size[block], rows = 3 * problem->column_count;
    const size_t slot = (size_t)blocks->slot_first[block] * LANES;
    float *offset = blocks->offset + slot * rows + l, *one = (float *)(line + 3 * (size_t)rows);
    double *metric = blocks->metric + (size_t)block * 2 * rows * LANES + l;
    cutis_reduce_turns_place(job->turns, v, line);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t s = state->first[v] + i;
        blocks->weight[slot + i * LANES + l] = state->weight[s];
        cutis_reduce_offset(problem, v, state->control[s], line, one);
        for (size_t r = 0; r < rows; r++) offset[(i * rows + r) * LANES] = one[r];
    }
    cutis_reduce_turns_metric(job->turns, v, line, line + 2 * (size_t)rows);
    for (size_t i = 0; i < 2 * (size_t)rows; i++) metric[i * LANES] = line[i];
}

static void load_turned_block(const move_job *job, uint32_t block, double *line)
{
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t v = job->blocks->vertex[block * LANES + l];
        if (v == UINT32_MAX) v = job->blocks->vertex[block * LANES];
        load_turned_lane(job, block, l, v, line);
    }
    cutis_reduce_lanes_keep(job->problem, job->blocks, 0, block);
}

static void load_task(void *data, uint32_t index)
{
    const move_job *job = data;
    uint32_t b = index * CUTIS_REDUCE_TASK_BLOCKS;
    const size_t rows = 3 * (size_t)job->problem->column_count;
    for (uint32_t end = b + CUTIS_REDUCE_TASK_BLOCKS; b < end && b < job->blocks->count; b++)
        if (job->turns)
            load_turned_block(job, b, job->scratch + 4 * rows * index);
        else
            load_block(job, b);
}

static uint32_t tasks_of(const cutis_reduce_blocks *blocks)
{
    return (blocks->count + CUTIS_REDUCE_TASK_BLOCKS - 1) / CUTIS_REDUCE_TASK_BLOCKS;
}

static bool make_room(const cutis_reduce_problem *problem, cutis_arena *arena,
                      cutis_reduce_blocks *blocks)
{
    const size_t slots = blocks->slot_first[blocks->count];
    const size_t rows = 3 * (size_t)problem->column_count;
    size_t entries;
    if (!cutis_size_multiply(slots, rows * LANES, &entries)) return false;
    blocks->weight = cutis_arena_alloc(arena, slots, LANES * sizeof *blocks->weight);
    blocks->offset = cutis_arena_alloc(arena, entries, sizeof *blocks->offset);
    blocks->kept =
        cutis_arena_alloc(arena, blocks->kept_first[blocks->count], LANES * sizeof *blocks->kept);
    blocks->active = cutis_arena_alloc(arena, blocks->count, LANES * sizeof *blocks->active);
    return blocks->weight && blocks->offset && blocks->kept && blocks->active;
}

bool cutis_reduce_blocks_load(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                              double lambda, cutis_arena *arena, cutis_reduce_blocks *blocks)
{
    if (!make_room(problem, arena, blocks)) return false;
    move_job job = {
        .problem = problem, .state = (cutis_reduce_state *)state, .blocks = blocks, .lambda = lambda
    };
    cutis_device_run(problem->device, load_task, &job, tasks_of(blocks));
    return true;
}

bool cutis_reduce_blocks_load_turned(const cutis_reduce_problem *problem,
                                     const cutis_reduce_state *state,
                                     const cutis_reduce_turns *turns, cutis_arena *arena,
                                     cutis_reduce_blocks *blocks)
{
    const size_t rows = 3 * (size_t)problem->column_count;
    move_job job = {
        .problem = problem, .state = (cutis_reduce_state *)state, .blocks = blocks, .turns = turns
    };
    if (!make_room(problem, arena, blocks)) return false;
    blocks->metric =
        cutis_arena_alloc(arena, blocks->count, 2 * rows * LANES * sizeof *blocks->metric);
    job.scratch = cutis_arena_alloc(arena, tasks_of(blocks), 4 * rows * sizeof *job.scratch);
    if (!blocks->metric || !job.scratch) return false;
    cutis_device_run(problem->device, load_task, &job, tasks_of(blocks));
    return true;
}

static void store_task(void *data, uint32_t index)
{
    const move_job *job = data;
    const cutis_reduce_blocks *blocks = job->blocks;
    cutis_reduce_state *state = job->state;
    uint32_t b = index * CUTIS_REDUCE_TASK_BLOCKS;
    for (uint32_t end = b + CUTIS_REDUCE_TASK_BLOCKS; b < end && b < blocks->count; b++)
        for (uint32_t l = 0; l < LANES; l++) {
            const uint32_t v = blocks->vertex[b * LANES + l];
            const double *weight = blocks->weight + (size_t)blocks->slot_first[b] * LANES + l;
            for (uint32_t i = 0; v != UINT32_MAX && i < blocks->size[b]; i++)
                state->weight[state->first[v] + i] = weight[i * LANES];
        }
}

void cutis_reduce_blocks_store(const cutis_reduce_problem *problem,
                               const cutis_reduce_blocks *blocks, cutis_reduce_state *state)
{
    move_job job = { .problem = problem, .state = state, .blocks = (cutis_reduce_blocks *)blocks };
    cutis_device_run(problem->device, store_task, &job, tasks_of(blocks));
}
