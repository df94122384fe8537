// The start of a reduction: which controls a vertex keeps, their offsets, and weights by k-largest
// or by the geometric fit; eight vertices of one shape at a time. Invariant: a vertex that keeps
// all of its influences has its original weights and no error.
#include <math.h>
#include <string.h>

#include "fit/clones.h"
#include "fit/reduce_blocks.h"
#include "fit/reduce_vertex.h"
//
#define KERNEL_DOUBLE
#define KERNEL_LANES 8
#include "kernel/kernel.h"
//
#include "kernel/item.h"

#define REDUCE_SET        CUTIS_REDUCE_SET
#define REDUCE_CANDIDATES CUTIS_REDUCE_CANDIDATES
#include "kernel/reduce_wide.h"

_Static_assert(KERNEL_LANES == CUTIS_REDUCE_LANES, "a group is a vector");
enum {
    LANES = CUTIS_REDUCE_LANES,
    CHUNK = 24,      // rows of offsets that Gram matrices are summed from at a time
    TASK_GROUPS = 16 // of one task
};
// Pull of the geometric fit and of the elimination towards the original weights (spec 3: better on
// unseen poses than less).
static const double PULL = 1e-2;
// Signed weights whose sum nearly vanishes cannot be divided by it.
static const double SUM_MIN = 1e-6;

// A vertex's shape is how many influences it has, as far as that makes a difference: up to k all
// are kept, more of them are candidates up to the limit.
typedef struct start_job {
    const cutis_reduce_problem *problem;
    cutis_reduce_state *state;
    bool geometric;
    uint32_t limit;   ///< most candidates; k where sets are not fitted
    uint32_t *vertex; ///< vertices by shape, LANES to a group; UINT32_MAX: none
    uint32_t group_count;
} start_job;

bool cutis_reduce_state_create(const cutis_reduce_problem *problem, cutis_arena *arena, bool whole,
                               cutis_reduce_state *out)
{
    const size_t vertices = problem->mesh->vertex_count, rows = 3 * (size_t)problem->column_count;
    cutis_arena *results = problem->results ? problem->results : arena;
    *out = (cutis_reduce_state){ 0 };
    out->first = cutis_arena_alloc(results, vertices + 1, sizeof *out->first);
    if (!out->first) return false;
    uint32_t slots = 0;
    size_t entries, values;
    for (size_t v = 0; v < vertices; v++) {
        uint32_t count = problem->first[v + 1] - problem->first[v];
        if (count > problem->influences) count = problem->influences;
        out->first[v] = slots;
        slots += count;
    }
    out->first[vertices] = slots;
    if (!cutis_size_multiply(slots, rows, &entries) ||
        !cutis_size_multiply(vertices, rows, &values))
        return false;
    out->control = cutis_arena_alloc(results, slots, sizeof *out->control);
    out->weight = cutis_arena_alloc(results, slots, sizeof *out->weight);
    out->error = cutis_arena_alloc(arena, values, sizeof *out->error);
    if (!whole) return out->control && out->weight && out->error;
    out->offset = cutis_arena_alloc(arena, entries, sizeof *out->offset);
    return out->control && out->weight && out->error && out->offset;
}

static uint32_t shape_of(const start_job *job, uint32_t v)
{
    const uint32_t had = job->problem->first[v + 1] - job->problem->first[v];
    const uint32_t most =
        job->limit > job->problem->influences ? job->limit : job->problem->influences + 1;
    return had < most ? had : most;
}

// Offsets of a group's lists of controls, a few rows of all: poses [begin, begin + some) of them.
// `list` NULL: of the sets that are kept.
static void gather_rows(const start_job *job, const uint32_t *vertex,
                        uint32_t (*list)[CUTIS_REDUCE_SET], uint32_t count, uint32_t begin,
                        uint32_t some, float *out)
{
    const cutis_reduce_state *state = job->state;
    cutis_reduce_problem part = *job->problem;
    const uint32_t rows = 3 * some, all = 3 * job->problem->column_count;
    float line[CHUNK] = { 0 };
    part.matrices += 12 * (size_t)begin * part.control_count;
    part.column_count = some;
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t v = vertex[l];
            const float *from = line;
            if (v == UINT32_MAX)
                memset(line, 0, sizeof line);
            else if (!list)
                from = state->offset + (size_t)(state->first[v] + i) * all + 3 * (size_t)begin;
            else
                cutis_reduce_offset(&part, v, job->problem->control[list[l][i]],
                                    state->error + (size_t)v * all + 3 * (size_t)begin, line);
            for (uint32_t r = 0; r < rows; r++) out[(i * rows + r) * LANES + l] = from[r];
        }
}

static void group_gram(const start_job *job, const uint32_t *vertex,
                       uint32_t (*list)[CUTIS_REDUCE_SET], uint32_t count, REAL *gram)
{
    float offset[CUTIS_REDUCE_SET * CHUNK * LANES];
    const uint32_t columns = job->problem->column_count;
    for (uint32_t i = 0; i < TRIANGLE(count); i++) gram[i] = ZERO;
    for (uint32_t begin = 0; begin < columns; begin += CHUNK / 3) {
        uint32_t some = columns - begin < CHUNK / 3 ? columns - begin : CHUNK / 3;
        gather_rows(job, vertex, list, count, begin, some, offset);
        reduce_gram((int)count, 3 * (int)some, offset, gram);
    }
}

// Original weights of the lists, and the pull towards them into a system.
static void pull_group(const start_job *job, const uint32_t *vertex,
                       uint32_t list[LANES][CUTIS_REDUCE_SET], uint32_t count, REAL *gram,
                       REAL *right, REAL *reference)
{
    const REAL mu = PULL * reduce_mean_diagonal((int)count, gram);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t l = 0; l < LANES; l++)
            reference[i][l] = vertex[l] == UINT32_MAX ? 0 : job->problem->weight[list[l][i]];
        gram[TRIANGLE(i) + i] += mu;
        right[i] = mu * reference[i];
    }
}

// Replace lists of candidates by those that explain the poses best.
static void fit_sets(const start_job *job, const uint32_t *vertex,
                     uint32_t list[LANES][CUTIS_REDUCE_SET], uint32_t count, uint32_t keep)
{
    REAL gram[TRIANGLE(CUTIS_REDUCE_CANDIDATES)], right[CUTIS_REDUCE_CANDIDATES],
        reference[CUTIS_REDUCE_CANDIDATES];
    group_gram(job, vertex, list, count, gram);
    pull_group(job, vertex, list, count, gram, right, reference);
    INT gone =
        reduce_eliminate((int)count, gram, right, reference, (int)keep, job->problem->negative);
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t i = 0, used = 0; i < count; i++)
            if (!HAS(gone[l], i)) list[l][used++] = list[l][i];
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

// The geometric fit of one lane with bounds in the way.
static void fit_bounded(const REAL *gram, const REAL *right, uint32_t l, uint32_t count,
                        bool negative, double *weight)
{
    cutis_reduce_local local = { .count = count };
    for (uint32_t r = 0, at = 0; r < count; r++)
        for (uint32_t c = 0; c <= r; c++, at++)
            local.gram[r * count + c] = local.gram[c * count + r] = gram[at][l];
    for (uint32_t i = 0; i < count; i++) {
        local.right[i] = right[i][l];
        local.weight[i] = weight[i];
    }
    cutis_reduce_solve(&local, negative);
    memcpy(weight, local.weight, count * sizeof *weight);
}

static void weigh(const start_job *job, const uint32_t *vertex,
                  uint32_t list[LANES][CUTIS_REDUCE_SET], uint32_t count)
{
    const bool negative = job->problem->negative;
    cutis_reduce_state *state = job->state;
    REAL gram[TRIANGLE(CUTIS_REDUCE_SET)], system[TRIANGLE(CUTIS_REDUCE_SET)],
        right[CUTIS_REDUCE_SET], original[CUTIS_REDUCE_SET], row[CUTIS_REDUCE_SET],
        solution[CUTIS_REDUCE_SET];
    group_gram(job, vertex, NULL, count, gram);
    pull_group(job, vertex, list, count, gram, right, original);
    memcpy(system, gram, TRIANGLE(count) * sizeof *gram);
    INT good = reduce_first((int)count, system, right, negative, row, solution);
    for (uint32_t l = 0; l < LANES; l++) {
        double line[CUTIS_REDUCE_SET];
        if (vertex[l] == UINT32_MAX) continue;
        double *weight = state->weight + state->first[vertex[l]];
        for (uint32_t i = 0; i < count; i++) line[i] = original[i][l];
        if (largest_weights(line, count, weight) && !job->geometric) continue;
        if (good[l])
            for (uint32_t i = 0; i < count; i++) weight[i] = solution[i][l];
        else
            fit_bounded(gram, right, l, count, negative, weight);
    }
}

// Controls, offsets and errors of one vertex of a group whose list is final; weights where it keeps
// all of its influences.
static void keep_list(const start_job *job, uint32_t v, const uint32_t *list, uint32_t keep)
{
    const cutis_reduce_problem *problem = job->problem;
    cutis_reduce_state *state = job->state;
    const uint32_t begin = state->first[v], rows = 3 * problem->column_count;
    const double *target = state->error + (size_t)v * rows;
    for (uint32_t i = 0; i < keep; i++) {
        state->control[begin + i] = problem->control[list[i]];
        state->weight[begin + i] = problem->weight[list[i]];
        cutis_reduce_offset(problem, v, state->control[begin + i], target,
                            state->offset + (size_t)(begin + i) * rows);
    }
}

CUTIS_FIT_CLONES_WHOLE
static void start_group(const start_job *job, uint32_t group)
{
    const cutis_reduce_problem *problem = job->problem;
    cutis_reduce_state *state = job->state;
    const uint32_t *vertex = job->vertex + (size_t)group * LANES, rows = 3 * problem->column_count;
    const uint32_t k = problem->influences, shape = shape_of(job, vertex[0]);
    const uint32_t keep = shape < k ? shape : k;
    const bool fit = job->limit > k && shape > k;
    uint32_t list[LANES][CUTIS_REDUCE_SET] = { { 0 } };
    for (uint32_t l = 0; l < LANES && vertex[l] != UINT32_MAX; l++) {
        cutis_reduce_largest(problem, vertex[l], fit ? shape : keep, list[l]);
        // Its place is free until the weights are known.
        cutis_reduce_target(problem, vertex[l], state->error + (size_t)vertex[l] * rows);
    }
    if (fit) fit_sets(job, vertex, list, shape, keep);
    for (uint32_t l = 0; l < LANES && vertex[l] != UINT32_MAX; l++)
        keep_list(job, vertex[l], list[l], keep);
    if (shape > k) weigh(job, vertex, list, keep);
    for (uint32_t l = 0; l < LANES && vertex[l] != UINT32_MAX; l++) {
        const uint32_t v = vertex[l], begin = state->first[v];
        double *error = state->error + (size_t)v * rows;
        if (shape > k)
            cutis_reduce_blend(keep, rows, state->offset + (size_t)begin * rows,
                               state->weight + begin, error);
        else
            memset(error, 0, rows * sizeof *error);
    }
}

static void start_task(void *data, uint32_t index)
{
    const start_job *job = data;
    uint32_t g = index * TASK_GROUPS;
    for (uint32_t end = g + TASK_GROUPS; g < end && g < job->group_count; g++) start_group(job, g);
}

// Sort the vertices by shape into groups.
static bool make_groups(start_job *job, cutis_arena *arena)
{
    enum { SHAPES = CUTIS_REDUCE_SET + 2 };
    const uint32_t vertices = job->problem->mesh->vertex_count;
    uint32_t count[SHAPES] = { 0 }, next[SHAPES];
    for (uint32_t v = 0; v < vertices; v++) count[shape_of(job, v)]++;
    for (uint32_t s = 0; s < SHAPES; s++) {
        next[s] = job->group_count * LANES;
        job->group_count += (count[s] + LANES - 1) / LANES;
    }
    job->vertex = cutis_arena_alloc(arena, job->group_count, LANES * sizeof *job->vertex);
    if (!job->vertex) return false;
    memset(job->vertex, 0xff, (size_t)job->group_count * LANES * sizeof *job->vertex);
    for (uint32_t v = 0; v < vertices; v++) job->vertex[next[shape_of(job, v)]++] = v;
    return true;
}

bool cutis_reduce_start(const cutis_reduce_problem *problem, cutis_arena *arena, bool fitted,
                        bool geometric, cutis_reduce_state *out)
{
    if (!cutis_reduce_state_create(problem, arena, true, out)) return false;
    cutis_arena own = { .context = problem->context };
    start_job job = { .problem = problem, .state = out, .geometric = geometric };
    job.limit = fitted && problem->influences < CUTIS_REDUCE_CANDIDATES
                    ? cutis_reduce_candidate_limit(problem)
                    : problem->influences;
    const bool good = make_groups(&job, &own);
    if (good)
        cutis_device_run(problem->device, start_task, &job,
                         (job.group_count + TASK_GROUPS - 1) / TASK_GROUPS);
    cutis_arena_release(&own);
    return good;
}
