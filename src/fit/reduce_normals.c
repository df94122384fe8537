// Sweeps that follow vertex normals: Gauss-Seidel over vertices, colour after colour. An update
// solves the vertex's weights for the least energy with everything else fixed. The energy is a
// quadratic s^T A s - 2 F^T s of the step s of the vertex's error, A and F by reduce_turns.h, so
// the sweeps are those of reduce_lanes.h with a metric. Invariants: the energy never rises, and the
// bits do not depend on threads.
#include "fit/reduce_normals.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fit/reduce_lanes.h"
#include "fit/reduce_sets.h"
#include "fit/reduce_vertex.h"

// So many sweeps that may exchange controls, then at most so many that may not.
enum { RESELECTING = 2, SWEEPS = 12 };

typedef struct normals_job {
    const cutis_reduce_problem *problem;
    cutis_reduce_turns turns;
    const double *error; ///< 3 * column_count per vertex
    void (*each)(const struct normals_job *job, uint32_t vertex, double *scratch, double *sum);
    double *scratch; ///< per task: 3 * column_count
    double *sums;    ///< per task
} normals_job;

static uint32_t task_count(uint32_t vertices)
{
    return (vertices + CUTIS_REDUCE_TASK - 1) / CUTIS_REDUCE_TASK;
}

static void each_task(void *data, uint32_t index)
{
    const normals_job *job = data;
    const uint32_t count = job->problem->mesh->vertex_count;
    double *scratch = job->scratch + 3 * (size_t)job->problem->column_count * index;
    uint32_t v = index * CUTIS_REDUCE_TASK;
    job->sums[index] = 0;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < count; v++)
        job->each(job, v, scratch, &job->sums[index]);
}

// Do something with all vertices, in any order. @return the sum of what they add
static double for_each(normals_job *job, void (*each)(const normals_job *job, uint32_t vertex,
                                                      double *scratch, double *sum))
{
    const uint32_t tasks = task_count(job->problem->mesh->vertex_count);
    double sum = 0;
    job->each = each;
    cutis_device_run(job->problem->device, each_task, job, tasks);
    for (uint32_t t = 0; t < tasks; t++) sum += job->sums[t];
    return sum;
}

static void target_vertex(const normals_job *job, uint32_t v, double *scratch, double *sum)
{
    (void)sum;
    cutis_reduce_turns_target(&job->turns, v, scratch);
}

static void normal_vertex(const normals_job *job, uint32_t v, double *scratch, double *sum)
{
    (void)scratch, (void)sum;
    cutis_reduce_turns_normal(&job->turns, v);
}

static void turn_vertex(const normals_job *job, uint32_t v, double *scratch, double *sum)
{
    *sum += cutis_reduce_turns_start(&job->turns, v, job->error, scratch);
}

// gram = offset^T metric offset. `work`: 3 * columns
static void metric_gram(uint32_t count, uint32_t columns, const float *offset, const double *metric,
                        double *gram, double *work)
{
    const uint32_t rows = 3 * columns;
    for (uint32_t i = 0; i < count; i++) {
        const float *o = offset + (size_t)i * rows;
        for (uint32_t j = 0; j < columns; j++) {
            const double *m = metric + 6 * (size_t)j;
            double x = o[3 * j], y = o[3 * j + 1], z = o[3 * j + 2];
            work[3 * j] = m[0] * x + m[3] * y + m[4] * z;
            work[3 * j + 1] = m[3] * x + m[1] * y + m[5] * z;
            work[3 * j + 2] = m[4] * x + m[5] * y + m[2] * z;
        }
        for (uint32_t k = 0; k <= i; k++) {
            double sum = 0;
            for (uint32_t r = 0; r < rows; r++) sum += work[r] * offset[(size_t)k * rows + r];
            gram[i * count + k] = gram[k * count + i] = sum;
        }
    }
}

// a^T G a - 2 h^T a
static double value_of(uint32_t count, const double *gram, const double *right,
                       const double *weight)
{
    double value = 0;
    for (uint32_t r = 0; r < count; r++) {
        double row = -2 * right[r];
        for (uint32_t c = 0; c < count; c++) row += gram[r * count + c] * weight[c];
        value += weight[r] * row;
    }
    return value;
}

// h = C^T F + G a
static void right_of(uint32_t count, uint32_t rows, const float *offset, const double *gram,
                     const double *force, const double *weight, double *right)
{
    for (uint32_t i = 0; i < count; i++) {
        right[i] = 0;
        for (uint32_t r = 0; r < rows; r++) right[i] += offset[(size_t)i * rows + r] * force[r];
        for (uint32_t k = 0; k < count; k++) right[i] += gram[i * count + k] * weight[k];
    }
}

// The candidates of a vertex with their system. `reference`: their weights now; `offset`: theirs.
static void gather_choice(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                          const cutis_reduce_turns *turns, const double *now_weight, uint32_t v,
                          const double *force, cutis_reduce_choice *all, cutis_reduce_trial *now,
                          double *reference, float *offset, double *scratch)
{
    const uint32_t columns = problem->column_count, rows = 3 * columns, begin = state->first[v];
    double *target = scratch, *metric = target + rows, *work = metric + 2 * (size_t)rows;
    uint32_t list[CUTIS_REDUCE_SET];
    all->count = cutis_reduce_largest(problem, v, cutis_reduce_candidate_limit(problem), list);
    now->count = state->first[v + 1] - begin;
    cutis_reduce_turns_place(turns, v, target);
    for (uint32_t i = 0; i < all->count; i++) {
        all->control[i] = problem->control[list[i]];
        reference[i] = 0;
        cutis_reduce_offset(problem, v, all->control[i], target, offset + (size_t)i * rows);
        for (uint32_t r = 0; r < now->count; r++)
            if (state->control[begin + r] == all->control[i]) {
                now->member[r] = i;
                reference[i] = now_weight[r * CUTIS_REDUCE_LANES];
            }
    }
    cutis_reduce_turns_metric(turns, v, metric, work);
    metric_gram(all->count, columns, offset, metric, all->gram, work);
    right_of(all->count, rows, offset, all->gram, force, reference, all->right);
}

double cutis_reduce_normals_exchange(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                                     const cutis_reduce_blocks *blocks,
                                     const cutis_reduce_turns *turns, uint32_t v,
                                     const double *force, double *scratch, float *offset)
{
    enum { LANES = CUTIS_REDUCE_LANES };
    const uint32_t rows = 3 * problem->column_count, begin = state->first[v];
    const uint32_t place = blocks->place[v];
    const size_t slot = (size_t)blocks->slot_first[place / LANES] * LANES;
    double *weight = blocks->weight + slot + place % LANES,
           *error = state->error + (size_t)v * rows;
    float *lane = blocks->offset + slot * rows + place % LANES;
    double reference[CUTIS_REDUCE_CANDIDATES] = { 0 }, *step = scratch;
    cutis_reduce_choice all;
    cutis_reduce_trial best;
    gather_choice(problem, state, turns, weight, v, force, &all, &best, reference, offset, scratch);
    const double before = value_of(all.count, all.gram, all.right, reference);
    cutis_reduce_find_set(&all, reference, problem->negative, 0, &best);
    blocks->active[place] = 0; // another set, another inverse
    for (uint32_t r = 0; r < rows; r++) step[r] = 0;
    for (uint32_t i = 0; i < best.count; i++) {
        const float *own = offset + (size_t)best.member[i] * rows;
        state->control[begin + i] = all.control[best.member[i]];
        weight[i * LANES] = best.weight[i];
        for (uint32_t r = 0; r < rows; r++) {
            lane[((size_t)i * rows + r) * LANES] = own[r];
            step[r] += best.weight[i] * own[r];
        }
    }
    for (uint32_t r = 0; r < rows; r++) { // from the new error to the step
        const double now = step[r];
        step[r] = now - error[r];
        error[r] = now;
    }
    cutis_reduce_turns_move(turns, v, step, step + rows);
    return before - best.value;
}

static bool make_job(const cutis_reduce_problem *problem, const cutis_reduce_surface *surface,
                     const double *error, cutis_arena *arena, normals_job *out)
{
    const size_t rows = 3 * (size_t)problem->column_count;
    const size_t tasks = task_count(problem->mesh->vertex_count);
    *out = (normals_job){ .problem = problem, .error = error };
    out->scratch = cutis_arena_alloc(arena, tasks, rows * sizeof *out->scratch);
    out->sums = cutis_arena_alloc(arena, tasks, sizeof *out->sums);
    return out->scratch && out->sums &&
           cutis_reduce_turns_create(problem, surface, arena, &out->turns);
}

// Normals and turns of the errors. @return their energy
static double start_turns(normals_job *job)
{
    double gradient;
    for_each(job, target_vertex);
    for_each(job, normal_vertex);
    const double energy = for_each(job, turn_vertex);
    return energy + job->turns.gradient * cutis_reduce_measure(job->problem, CUTIS_REDUCE_GRADIENT,
                                                               job->error, &gradient);
}

uint32_t cutis_reduce_normals_limit(const cutis_reduce_problem *problem, bool reselect)
{
    return problem->sweeps ? problem->sweeps : SWEEPS + (reselect ? RESELECTING : 0);
}

cutis_result cutis_reduce_normals(const cutis_reduce_problem *problem,
                                  const cutis_reduce_surface *surface,
                                  const cutis_reduce_colours *colours, bool reselect,
                                  cutis_arena *arena, cutis_reduce_state *state)
{
    const uint32_t limit = cutis_reduce_normals_limit(problem, reselect);
    cutis_arena own = { .context = problem->context };
    cutis_reduce_blocks blocks;
    cutis_reduce_prior prior = { 0 };
    normals_job job;
    cutis_reduce_sweeper sweeper = { .problem = problem,
                                     .state = state,
                                     .blocks = &blocks,
                                     .prior = &prior,
                                     .reselect = reselect,
                                     .omega = 1,
                                     .turns = &job.turns };
    cutis_result result = CUTIS_OK;
    state->sweep_count = 0;
    state->curve = cutis_arena_alloc(arena, (size_t)limit + 1, sizeof *state->curve);
    bool good = state->curve && make_job(problem, surface, state->error, &own, &job);
    if (good) {
        state->curve[0] = start_turns(&job);
        good = cutis_reduce_blocks_create(problem, colours, state->first, &own, &blocks) &&
               cutis_reduce_blocks_load_turned(problem, state, &job.turns, &own, &blocks) &&
               cutis_reduce_sweep_blocks(&sweeper, colours->count, limit, &result);
        state->energy = state->curve[state->sweep_count];
    }
    cutis_arena_release(&own);
    return good ? result : cutis_alloc_result(problem->context);
}

cutis_result cutis_reduce_normals_measure(const cutis_reduce_problem *problem,
                                          const cutis_reduce_surface *surface, const double *error,
                                          double *energy)
{
    cutis_arena own = { .context = problem->context };
    normals_job job;
    const bool good = make_job(problem, surface, error, &own, &job);
    if (good) *energy = start_turns(&job);
    cutis_arena_release(&own);
    return good ? CUTIS_OK : cutis_alloc_result(problem->context);
}
