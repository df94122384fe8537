// The start of a reduction: which controls a vertex keeps, their offsets and Gram matrix, and
// weights by k-largest or by the geometric fit. Invariant: a vertex that keeps all of its
// influences has its original weights and no error.
#include <math.h>
#include <string.h>

#include "fit/reduce_vertex.h"

// Pull of the geometric fit and of the elimination towards the original weights (spec 3: better on
// unseen poses than less).
static const double PULL = 1e-2;
// Signed weights whose sum nearly vanishes cannot be divided by it.
static const double SUM_MIN = 1e-6;

typedef struct start_job {
    const cutis_reduce_problem *problem;
    cutis_reduce_state *state;
    bool fitted, geometric;
} start_job;

bool cutis_reduce_state_create(const cutis_reduce_problem *problem, cutis_arena *arena, bool whole,
                               cutis_reduce_state *out)
{
    const size_t vertices = problem->mesh->vertex_count, rows = 3 * (size_t)problem->column_count;
    *out = (cutis_reduce_state){ 0 };
    out->first = cutis_arena_alloc(arena, vertices + 1, sizeof *out->first);
    out->gram_first = cutis_arena_alloc(arena, vertices + 1, sizeof *out->gram_first);
    out->inverse_first = cutis_arena_alloc(arena, vertices + 1, sizeof *out->inverse_first);
    if (!out->first || !out->gram_first || !out->inverse_first) return false;
    uint32_t slots = 0;
    size_t grams = 0, inverses = 0, entries, values;
    for (size_t v = 0; v < vertices; v++) {
        uint32_t count = problem->first[v + 1] - problem->first[v];
        if (count > problem->influences) count = problem->influences;
        out->first[v] = slots;
        out->gram_first[v] = grams;
        out->inverse_first[v] = inverses;
        inverses += (size_t)count * count + count + 2; // REDUCE_KEPT_SIZE
        slots += count;
        grams += (size_t)count * (count + 1) / 2;
    }
    out->first[vertices] = slots;
    out->gram_first[vertices] = grams;
    out->inverse_first[vertices] = inverses;
    if (!cutis_size_multiply(slots, rows, &entries) ||
        !cutis_size_multiply(vertices, rows, &values))
        return false;
    out->control = cutis_arena_alloc(arena, slots, sizeof *out->control);
    out->weight = cutis_arena_alloc(arena, slots, sizeof *out->weight);
    out->error = cutis_arena_alloc(arena, values, sizeof *out->error);
    if (!whole) return out->control && out->weight && out->error;
    out->offset = cutis_arena_alloc(arena, entries, sizeof *out->offset);
    out->gram = cutis_arena_alloc(arena, grams, sizeof *out->gram);
    out->inverse = cutis_arena_alloc(arena, inverses, sizeof *out->inverse);
    out->active = cutis_arena_alloc(arena, vertices, sizeof *out->active);
    return out->control && out->weight && out->offset && out->gram && out->error && out->inverse &&
           out->active;
}

// Gram matrix of candidates without keeping their offsets: poses a few at a time.
static void candidate_gram(const cutis_reduce_problem *problem, uint32_t vertex,
                           const double *target, const uint32_t *list, uint32_t count, double *gram)
{
    enum { POSES = 8 };
    float offset[CUTIS_REDUCE_CANDIDATES * 3 * POSES];
    double part[CUTIS_REDUCE_CANDIDATES * CUTIS_REDUCE_CANDIDATES];
    memset(gram, 0, (size_t)count * count * sizeof *gram);
    for (uint32_t begin = 0; begin < problem->column_count; begin += POSES) {
        cutis_reduce_problem some = *problem;
        some.matrices += 12 * (size_t)begin * problem->control_count;
        some.column_count = problem->column_count - begin;
        if (some.column_count > POSES) some.column_count = POSES;
        uint32_t rows = 3 * some.column_count;
        for (uint32_t i = 0; i < count; i++)
            cutis_reduce_offset(&some, vertex, problem->control[list[i]],
                                target + 3 * (size_t)begin, offset + (size_t)i * rows);
        cutis_reduce_gram(count, rows, offset, part);
        for (uint32_t i = 0; i < count * count; i++) gram[i] += part[i];
    }
}

// Replace a list of candidates by those that explain the poses best.
static void fit_set(const cutis_reduce_problem *problem, uint32_t vertex, const double *target,
                    uint32_t *list, uint32_t count, uint32_t keep)
{
    cutis_reduce_local local;
    uint32_t kept[CUTIS_REDUCE_CANDIDATES];
    local.count = count;
    candidate_gram(problem, vertex, target, list, count, local.gram);
    for (uint32_t i = 0; i < count; i++) {
        local.weight[i] = problem->weight[list[i]];
        local.right[i] = 0;
    }
    cutis_reduce_regularise(&local, PULL, local.weight);
    cutis_reduce_eliminate(&local, keep, problem->negative, kept);
    for (uint32_t i = 0; i < keep; i++) list[i] = list[kept[i]];
}

static void unpack_gram(const double *packed, uint32_t count, double *gram)
{
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t c = 0; c <= r; c++, packed++)
            gram[r * count + c] = gram[c * count + r] = *packed;
}

// The original weights of the set, divided by their sum; false if that is not possible.
static bool largest_weights(const double *original, uint32_t count, double *weight)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += original[i];
    if (fabs(sum) < SUM_MIN) {
        for (uint32_t i = 0; i < count; i++) weight[i] = 1.0 / count;
        return false;
    }
    for (uint32_t i = 0; i < count; i++) weight[i] = original[i] / sum;
    return true;
}

static void weigh(const start_job *job, uint32_t vertex, const double *original)
{
    cutis_reduce_state *state = job->state;
    uint32_t begin = state->first[vertex];
    cutis_reduce_local local;
    local.count = state->first[vertex + 1] - begin;
    bool largest = largest_weights(original, local.count, local.weight);
    if (job->geometric || !largest) {
        unpack_gram(state->gram + state->gram_first[vertex], local.count, local.gram);
        for (uint32_t i = 0; i < local.count; i++) local.right[i] = 0;
        cutis_reduce_regularise(&local, PULL, original);
        cutis_reduce_solve(&local, job->problem->negative);
    }
    memcpy(state->weight + begin, local.weight, local.count * sizeof *local.weight);
}

static void store_offsets(const start_job *job, uint32_t vertex, const double *target)
{
    cutis_reduce_state *state = job->state;
    uint32_t begin = state->first[vertex], count = state->first[vertex + 1] - begin;
    uint32_t rows = 3 * job->problem->column_count;
    float *offset = state->offset + (size_t)begin * rows;
    double gram[CUTIS_REDUCE_SET * CUTIS_REDUCE_SET],
        *packed = state->gram + state->gram_first[vertex];
    for (uint32_t i = 0; i < count; i++)
        cutis_reduce_offset(job->problem, vertex, state->control[begin + i], target,
                            offset + (size_t)i * rows);
    cutis_reduce_gram(count, rows, offset, gram);
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t c = 0; c <= r; c++) *packed++ = gram[r * count + c];
}

static void start_vertex(const start_job *job, uint32_t vertex)
{
    const cutis_reduce_problem *problem = job->problem;
    cutis_reduce_state *state = job->state;
    uint32_t count = problem->first[vertex + 1] - problem->first[vertex];
    uint32_t begin = state->first[vertex], keep = state->first[vertex + 1] - begin;
    uint32_t rows = 3 * problem->column_count, list[CUTIS_REDUCE_SET];
    double *error = state->error + (size_t)vertex * rows, original[CUTIS_REDUCE_SET];
    state->active[vertex] = 0;
    cutis_reduce_target(problem, vertex, error); // its place is free until the weights are known
    bool fit = job->fitted && count > keep && keep < CUTIS_REDUCE_CANDIDATES;
    uint32_t chosen = cutis_reduce_largest(
        problem, vertex, fit ? cutis_reduce_candidate_limit(problem) : keep, list);
    if (fit) fit_set(problem, vertex, error, list, chosen, keep);
    for (uint32_t i = 0; i < keep; i++) {
        state->control[begin + i] = problem->control[list[i]];
        original[i] = problem->weight[list[i]];
    }
    store_offsets(job, vertex, error);
    if (count == keep) {
        memcpy(state->weight + begin, original, keep * sizeof *original);
        memset(error, 0, rows * sizeof *error);
        return;
    }
    weigh(job, vertex, original);
    cutis_reduce_blend(keep, rows, state->offset + (size_t)begin * rows, state->weight + begin,
                       error);
}

static void start_task(void *data, uint32_t index)
{
    const start_job *job = data;
    uint32_t count = job->problem->mesh->vertex_count, v = index * CUTIS_REDUCE_TASK;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < count; v++) start_vertex(job, v);
}

void cutis_reduce_run(const cutis_reduce_problem *problem, void (*task)(void *data, uint32_t index),
                      void *data, uint32_t count)
{
    if (problem->device && count > 1)
        problem->device->operations->run_tasks(problem->device, task, data, count);
    else
        for (uint32_t i = 0; i < count; i++) task(data, i);
}

bool cutis_reduce_start(const cutis_reduce_problem *problem, cutis_arena *arena, bool fitted,
                        bool geometric, cutis_reduce_state *out)
{
    if (!cutis_reduce_state_create(problem, arena, true, out)) return false;
    start_job job = { problem, out, fitted, geometric };
    uint32_t tasks = (problem->mesh->vertex_count + CUTIS_REDUCE_TASK - 1) / CUTIS_REDUCE_TASK;
    cutis_reduce_run(problem, start_task, &job, tasks);
    return true;
}
