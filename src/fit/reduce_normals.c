// Sweeps that follow vertex normals: Gauss-Seidel over vertices, colour after colour. An update
// solves the vertex's weights for the least energy with everything else fixed. The energy is a
// quadratic e^T A e - 2 F^T (e - e_now) of the vertex's error, A and F by reduce_turns.h, and e =
// sum a_i C_i, so G = C^T A C never changes with the set, and h = C^T F + G a_now. Invariants: the
// energy never rises, and the bits do not depend on threads.
#include "fit/reduce_normals.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/reduce_exchange.h"
#include "fit/reduce_sets.h"
#include "fit/reduce_vertex.h"

// So many sweeps that may exchange controls, then at most so many that may not.
enum { RESELECTING = 2, SWEEPS = 12 };
static const double STOP = 1e-3;

typedef struct normals_job {
    const cutis_reduce_problem *problem;
    cutis_reduce_turns turns;
    double *error;             ///< 3 * column_count per vertex; sweeps change it
    cutis_reduce_state *state; ///< these: sweeps only
    const cutis_reduce_colours *colours;
    uint32_t colour;
    bool reselect;
    float *offset;      ///< per slot: 3 * column_count
    size_t *gram_first; ///< vertex_count + 1
    double *gram;       ///< per vertex: C^T A C, full
    void (*each)(const struct normals_job *job, uint32_t vertex, double *scratch, double *sum);
    double *scratch; ///< per task
    size_t scratch_size;
    double *sums; ///< per task
} normals_job;

static uint32_t task_count(uint32_t vertices)
{
    return (vertices + CUTIS_REDUCE_TASK - 1) / CUTIS_REDUCE_TASK;
}

static void each_task(void *data, uint32_t index)
{
    const normals_job *job = data;
    const uint32_t count = job->problem->mesh->vertex_count;
    uint32_t v = index * CUTIS_REDUCE_TASK;
    job->sums[index] = 0;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < count; v++)
        job->each(job, v, job->scratch + index * job->scratch_size, &job->sums[index]);
}

// Do something with all vertices, in any order. @return the sum of what they add
static double for_each(normals_job *job, void (*each)(const normals_job *job, uint32_t vertex,
                                                      double *scratch, double *sum))
{
    const uint32_t tasks = task_count(job->problem->mesh->vertex_count);
    double sum = 0;
    job->each = each;
    cutis_reduce_run(job->problem, each_task, job, tasks);
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
    cutis_reduce_turns_start(&job->turns, v, job->error, scratch);
    *sum += cutis_reduce_turns_energy(&job->turns, v);
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
        for (uint32_t k = 0; k <= i; k++)
            gram[i * count + k] = gram[k * count + i] =
                cutis_reduce_dot(rows, offset + (size_t)k * rows, work);
    }
}

// Offsets and system of a vertex on its set.
static void system_vertex(const normals_job *job, uint32_t v, double *scratch, double *sum)
{
    const cutis_reduce_problem *problem = job->problem;
    const cutis_reduce_state *state = job->state;
    const uint32_t columns = problem->column_count, rows = 3 * columns;
    const uint32_t begin = state->first[v], count = state->first[v + 1] - begin;
    double *target = scratch, *metric = target + rows, *work = metric + 2 * (size_t)rows;
    float *offset = job->offset + (size_t)begin * rows;
    (void)sum;
    if (count < 2) return;
    cutis_reduce_target(problem, v, target);
    for (uint32_t i = 0; i < count; i++)
        cutis_reduce_offset(problem, v, state->control[begin + i], target,
                            offset + (size_t)i * rows);
    cutis_reduce_turns_metric(&job->turns, v, metric, work);
    metric_gram(count, columns, offset, metric, job->gram + job->gram_first[v], work);
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
        right[i] = cutis_reduce_dot(rows, offset + (size_t)i * rows, force);
        for (uint32_t k = 0; k < count; k++) right[i] += gram[i * count + k] * weight[k];
    }
}

// New weights on the set there is. @return the fall of the energy
static double keep_set(const normals_job *job, uint32_t v, const double *force)
{
    const uint32_t rows = 3 * job->problem->column_count, begin = job->state->first[v];
    const uint32_t count = job->state->first[v + 1] - begin;
    const double *gram = job->gram + job->gram_first[v];
    double *weight = job->state->weight + begin, right[CUTIS_REDUCE_SET] = { 0 };
    cutis_reduce_local local;
    right_of(count, rows, job->offset + (size_t)begin * rows, gram, force, weight, right);
    local.count = count;
    memcpy(local.gram, gram, (size_t)count * count * sizeof *gram);
    memcpy(local.right, right, count * sizeof *right);
    memcpy(local.weight, weight, count * sizeof *weight);
    cutis_reduce_regularise(&local, CUTIS_REDUCE_PROXIMAL, weight);
    cutis_reduce_solve(&local, job->problem->negative);
    const double before = value_of(count, gram, right, weight);
    memcpy(weight, local.weight, count * sizeof *weight);
    return before - value_of(count, gram, right, weight);
}

// The candidates of a vertex with their system. `reference`: their weights now; `offset`: theirs.
static void gather_choice(const normals_job *job, uint32_t v, const double *force,
                          cutis_reduce_choice *all, cutis_reduce_trial *now, double *reference,
                          float *offset, double *scratch)
{
    const cutis_reduce_problem *problem = job->problem;
    const uint32_t columns = problem->column_count, rows = 3 * columns;
    const uint32_t begin = job->state->first[v];
    double *target = scratch, *metric = target + rows, *work = metric + 2 * (size_t)rows;
    uint32_t list[CUTIS_REDUCE_SET];
    all->count = cutis_reduce_largest(problem, v, cutis_reduce_candidate_limit(problem), list);
    now->count = job->state->first[v + 1] - begin;
    cutis_reduce_target(problem, v, target);
    for (uint32_t i = 0; i < all->count; i++) {
        all->control[i] = problem->control[list[i]];
        reference[i] = 0;
        cutis_reduce_offset(problem, v, all->control[i], target, offset + (size_t)i * rows);
        for (uint32_t r = 0; r < now->count; r++)
            if (job->state->control[begin + r] == all->control[i]) {
                now->member[r] = i;
                reference[i] = job->state->weight[begin + r];
            }
    }
    cutis_reduce_turns_metric(&job->turns, v, metric, work);
    metric_gram(all->count, columns, offset, metric, all->gram, work);
    right_of(all->count, rows, offset, all->gram, force, reference, all->right);
}

// The best set that exchanges find. @return the fall of the energy
static double change_set(const normals_job *job, uint32_t v, const double *force, double *scratch)
{
    const uint32_t rows = 3 * job->problem->column_count, begin = job->state->first[v];
    float *offset = (float *)(scratch + 4 * (size_t)rows);
    double reference[CUTIS_REDUCE_CANDIDATES] = { 0 }, *gram = job->gram + job->gram_first[v];
    cutis_reduce_choice all;
    cutis_reduce_trial best;
    gather_choice(job, v, force, &all, &best, reference, offset, scratch);
    const double before = value_of(all.count, all.gram, all.right, reference);
    cutis_reduce_find_set(&all, reference, job->problem->negative, 0, &best);
    for (uint32_t r = 0; r < best.count; r++) {
        job->state->control[begin + r] = all.control[best.member[r]];
        job->state->weight[begin + r] = best.weight[r];
        memcpy(job->offset + (size_t)(begin + r) * rows, offset + (size_t)best.member[r] * rows,
               rows * sizeof *offset);
        for (uint32_t c = 0; c < best.count; c++)
            *gram++ = all.gram[best.member[r] * all.count + best.member[c]];
    }
    return before - best.value;
}

// One update. @return the fall of the energy
static double update_vertex(const normals_job *job, uint32_t v, double *scratch)
{
    const cutis_reduce_state *state = job->state;
    const size_t rows = 3 * (size_t)job->problem->column_count;
    const uint32_t begin = state->first[v], count = state->first[v + 1] - begin;
    double *force = scratch, *now = force + rows, *rest = now + rows, fall;
    double *error = job->error + v * rows;
    if (count < 2 || !cutis_reduce_turns_force(&job->turns, v, job->error, force, rest)) return 0;
    if (job->reselect && cutis_reduce_may_exchange(job->problem, state, v))
        fall = change_set(job, v, force, rest);
    else
        fall = keep_set(job, v, force);
    cutis_reduce_blend(count, (uint32_t)rows, job->offset + begin * rows, state->weight + begin,
                       now);
    cutis_reduce_turns_move(&job->turns, v, error, now, rest);
    memcpy(error, now, rows * sizeof *error);
    return fall;
}

static void sweep_task(void *data, uint32_t index)
{
    const normals_job *job = data;
    uint32_t i = job->colours->first[job->colour] + index * CUTIS_REDUCE_TASK;
    uint32_t end = job->colours->first[job->colour + 1];
    double fall = 0;
    if (end - i > CUTIS_REDUCE_TASK) end = i + CUTIS_REDUCE_TASK;
    for (; i < end; i++)
        fall +=
            update_vertex(job, job->colours->vertex[i], job->scratch + index * job->scratch_size);
    job->sums[index] = fall;
}

// All vertices once. @return the fall of the energy
static double sweep_once(normals_job *job)
{
    double fall = 0;
    for (job->colour = 0; job->colour < job->colours->count; job->colour++) {
        const uint32_t *first = job->colours->first + job->colour;
        const uint32_t tasks = task_count(first[1] - first[0]);
        cutis_reduce_run(job->problem, sweep_task, job, tasks);
        for (uint32_t t = 0; t < tasks; t++) fall += job->sums[t];
    }
    return fall;
}

static bool make_job(const cutis_reduce_problem *problem, const cutis_reduce_surface *surface,
                     double *error, cutis_arena *arena, normals_job *out)
{
    const size_t rows = 3 * (size_t)problem->column_count;
    const size_t tasks = task_count(problem->mesh->vertex_count) + 1;
    *out = (normals_job){ .problem = problem, .error = error };
    // Two rows of an update, and the most that is under it: four rows and the candidates' offsets.
    out->scratch_size = 6 * rows + (CUTIS_REDUCE_CANDIDATES * rows + 1) / 2;
    out->scratch = cutis_arena_alloc(arena, tasks, out->scratch_size * sizeof *out->scratch);
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

static bool make_systems(normals_job *job, cutis_reduce_state *state, cutis_arena *arena)
{
    const size_t vertices = job->problem->mesh->vertex_count;
    const size_t rows = 3 * (size_t)job->problem->column_count;
    size_t grams = 0;
    job->state = state;
    job->offset = cutis_arena_alloc(arena, state->first[vertices], rows * sizeof *job->offset);
    job->gram_first = cutis_arena_alloc(arena, vertices + 1, sizeof *job->gram_first);
    if (!job->offset || !job->gram_first) return false;
    for (size_t v = 0; v < vertices; v++) {
        const size_t count = state->first[v + 1] - state->first[v];
        job->gram_first[v] = grams;
        grams += count * count;
    }
    job->gram = cutis_arena_alloc(arena, grams, sizeof *job->gram);
    if (!job->gram) return false;
    for_each(job, system_vertex);
    return true;
}

static cutis_result sweep_all(normals_job *job, uint32_t limit, uint32_t reselecting)
{
    cutis_reduce_state *state = job->state;
    const double stop = job->problem->stop > 0 ? job->problem->stop : STOP;
    const double start = cutis_os_seconds();
    for (uint32_t s = 0; s < limit; s++) {
        cutis_result result =
            cutis_progress(job->problem->context, "fitting normals", (double)s / limit);
        if (result != CUTIS_OK) return result;
        job->reselect = s < reselecting;
        const double fall = sweep_once(job);
        state->curve[s + 1] = state->curve[s] - fall;
        state->sweep_count = s + 1;
        if (state->curve[s] <= 0 || (fall < stop * state->curve[s] && !job->reselect)) break;
    }
    state->energy = state->curve[state->sweep_count];
    state->sweep_seconds += cutis_os_seconds() - start;
    return CUTIS_OK;
}

cutis_result cutis_reduce_normals(const cutis_reduce_problem *problem,
                                  const cutis_reduce_surface *surface,
                                  const cutis_reduce_colours *colours, bool reselect,
                                  cutis_arena *arena, cutis_reduce_state *state)
{
    const uint32_t reselecting = reselect ? RESELECTING : 0;
    const uint32_t limit = problem->sweeps ? problem->sweeps : SWEEPS + reselecting;
    cutis_arena own = { .context = problem->context };
    normals_job job;
    state->sweep_count = 0;
    state->curve = cutis_arena_alloc(arena, (size_t)limit + 1, sizeof *state->curve);
    bool good = state->curve && make_job(problem, surface, state->error, &own, &job);
    if (good) {
        state->curve[0] = start_turns(&job);
        job.colours = colours;
        good = make_systems(&job, state, &own);
    }
    cutis_result result =
        good ? sweep_all(&job, limit, reselecting) : cutis_alloc_result(problem->context);
    cutis_arena_release(&own);
    return result;
}

cutis_result cutis_reduce_normals_measure(const cutis_reduce_problem *problem,
                                          const cutis_reduce_surface *surface, const double *error,
                                          double *energy)
{
    cutis_arena own = { .context = problem->context };
    normals_job job;
    // Nothing is written to the errors without sweeps.
    const bool good = make_job(problem, surface, (double *)error, &own, &job);
    if (good) *energy = start_turns(&job);
    cutis_arena_release(&own);
    return good ? CUTIS_OK : cutis_alloc_result(problem->context);
}
