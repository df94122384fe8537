// Poisson sweeps: Gauss-Seidel over vertices, colour after colour. Every update solves the vertex's
// own weights for a moved target with everything else fixed. Invariants: the energy never rises,
// and the bits do not depend on threads.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/clones.h"
#include "fit/reduce_device.h"
#include "fit/reduce_exchange.h"
#include "fit/reduce_lanes.h"
#include "fit/reduce_normals.h"
#include "fit/reduce_vertex.h"
//
#include "kernel/kernel.h"
//
#include "kernel/item.h"

#define REDUCE_SET CUTIS_REDUCE_SET
#include "kernel/reduce.h"

// Sweeps of the gradient energy: so many that may exchange controls, then at most so many that may
// not.
enum { RESELECTING = 2, GRADIENT_SWEEPS = 12, LAPLACE_SWEEPS = 20 };
// Large meshes, and cages, whose every vertex is reduced: steps are made longer, which halves the
// sweeps (spec 2.6). The paper's energy is kept as it is as long as that ends.
enum { LARGE_MESH = 100000 };
static const double OVER_RELAXATION = 1.5;
static const double STOP = 1e-3;

double cutis_reduce_anchor(const cutis_reduce_problem *problem, uint32_t v)
{
    double ell = problem->radius * problem->mesh->extent;
    return problem->mesh->area[v] / (ell * ell);
}

typedef struct sweep_job {
    cutis_reduce_sweeper sweeper;
    uint32_t block, end; ///< of the colour
    char *scratch;       ///< per task
    size_t scratch_size;
    double *fall; ///< per task: by how much the energy fell
} sweep_job;

static void sweep_task(void *data, uint32_t index)
{
    const sweep_job *job = data;
    uint32_t b = job->block + index * CUTIS_REDUCE_TASK_BLOCKS, end = b + CUTIS_REDUCE_TASK_BLOCKS;
    void *scratch = job->scratch + index * job->scratch_size;
    double fall = 0;
    for (; b < end && b < job->end; b++) {
        if (b + 1 < job->end) cutis_reduce_lanes_fetch(&job->sweeper, b + 1);
        fall += cutis_reduce_lanes_update(&job->sweeper, b, scratch);
    }
    job->fall[index] = fall;
}

// All vertices once. @return the fall of the energy
static double sweep_once(sweep_job *job, uint32_t colour_count)
{
    const cutis_reduce_blocks *blocks = job->sweeper.blocks;
    double fall = 0;
    for (uint32_t c = 0; c < colour_count; c++) {
        job->block = blocks->colour_first[c], job->end = blocks->colour_first[c + 1];
        uint32_t tasks =
            (job->end - job->block + CUTIS_REDUCE_TASK_BLOCKS - 1) / CUTIS_REDUCE_TASK_BLOCKS;
        cutis_device_run(job->sweeper.problem->device, sweep_task, job, tasks);
        for (uint32_t t = 0; t < tasks; t++) fall += job->fall[t];
    }
    return fall;
}

static uint32_t sweep_limit(const cutis_reduce_problem *problem, bool laplace, bool reselect)
{
    if (problem->sweeps) return problem->sweeps;
    if (!laplace) return GRADIENT_SWEEPS + (reselect ? RESELECTING : 0);
    uint32_t paper = (uint32_t)ceil(0.001 * problem->mesh->vertex_count);
    return paper > LAPLACE_SWEEPS ? paper : LAPLACE_SWEEPS;
}

// The paper's count of sweeps is kept whole, for comparison; ours end when they gain little.
static double stop_of(const cutis_reduce_problem *problem, bool laplace)
{
    return problem->stop > 0 ? problem->stop : laplace ? 0 : STOP;
}

static cutis_result sweep_all(sweep_job *job, uint32_t colour_count, uint32_t limit)
{
    cutis_reduce_sweeper *sweeper = &job->sweeper;
    cutis_reduce_state *state = sweeper->state;
    const double stop = stop_of(sweeper->problem, sweeper->laplace);
    const bool may_reselect = sweeper->reselect;
    const char *what = sweeper->turns ? "fitting normals" : "reducing weights";
    for (uint32_t s = 0; s < limit; s++) {
        cutis_result result = cutis_progress(sweeper->problem->context, what, (double)s / limit);
        if (result != CUTIS_OK) return result;
        sweeper->reselect = may_reselect && s < RESELECTING;
        double fall = sweep_once(job, colour_count);
        state->curve[s + 1] = state->curve[s] - fall;
        state->sweep_count = s + 1;
        if (state->curve[s] <= 0 || (fall < stop * state->curve[s] && !sweeper->reselect)) break;
    }
    return CUTIS_OK;
}

// Tasks of the colour that has most.
static uint32_t most_tasks(const cutis_reduce_blocks *blocks, uint32_t colour_count)
{
    uint32_t most = 0;
    for (uint32_t c = 0; c < colour_count; c++) {
        uint32_t count = blocks->colour_first[c + 1] - blocks->colour_first[c];
        if (count > most) most = count;
    }
    return most / CUTIS_REDUCE_TASK_BLOCKS + 1;
}

bool cutis_reduce_sweep_blocks(const cutis_reduce_sweeper *sweeper, uint32_t colour_count,
                               uint32_t limit, cutis_result *result)
{
    const cutis_reduce_problem *problem = sweeper->problem;
    const size_t tasks = most_tasks(sweeper->blocks, colour_count);
    cutis_arena own = { .context = problem->context };
    sweep_job job = { .sweeper = *sweeper, .scratch_size = cutis_reduce_lanes_scratch(problem) };
    job.scratch = cutis_arena_alloc(&own, tasks, job.scratch_size);
    job.fall = cutis_arena_alloc(&own, tasks, sizeof *job.fall);
    const bool good = job.scratch && job.fall;
    if (good) {
        const double start = cutis_os_seconds();
        *result = sweep_all(&job, colour_count, limit);
        sweeper->state->sweep_seconds += cutis_os_seconds() - start;
        cutis_reduce_blocks_store(problem, sweeper->blocks, sweeper->state);
    }
    cutis_arena_release(&own);
    return good;
}

static double relaxation_of(const cutis_reduce_problem *problem, bool laplace)
{
    const bool cage = problem->prior > 0 && !laplace;
    return cage || problem->mesh->vertex_count >= LARGE_MESH ? OVER_RELAXATION : 1;
}

cutis_result cutis_reduce_sweep(const cutis_reduce_problem *problem, cutis_arena *arena,
                                cutis_reduce_energy energy, const cutis_reduce_colours *colours,
                                bool reselect, cutis_reduce_state *state)
{
    cutis_context *context = problem->context;
    const uint32_t vertices = problem->mesh->vertex_count;
    const size_t rows = 3 * (size_t)problem->column_count;
    const bool laplace = energy == CUTIS_REDUCE_LAPLACE;
    const uint32_t limit = sweep_limit(problem, laplace, reselect);
    cutis_arena own = { .context = context };
    cutis_reduce_blocks blocks;
    cutis_reduce_prior prior = { 0 };
    cutis_reduce_sweeper sweeper = { .problem = problem,
                                     .state = state,
                                     .blocks = &blocks,
                                     .prior = &prior,
                                     .laplace = laplace,
                                     .reselect = reselect,
                                     .omega = relaxation_of(problem, laplace) };
    state->curve = cutis_arena_alloc(arena, (size_t)limit + 1, sizeof *state->curve);
    bool good = state->curve != NULL;
    if (good && !laplace) good = cutis_reduce_prior_create(problem, state, &own, &prior);
    if (prior.lambda > 0) sweeper.reselect = false; // it counts on the sets
    good = good && cutis_reduce_blocks_create(problem, colours, state->first, &own, &blocks) &&
           cutis_reduce_blocks_load(problem, state, prior.lambda, &own, &blocks);
    sweeper.rho =
        good ? cutis_arena_alloc(&own, laplace ? vertices : 0, rows * sizeof(double)) : NULL;
    double prior_energy = 0;
    good = sweeper.rho && (laplace || cutis_reduce_prior_energy(problem, state, &prior_energy));
    cutis_result result = CUTIS_OK;
    if (good) {
        if (laplace) cutis_reduce_residual(problem, state->error, sweeper.rho);
        state->curve[0] =
            cutis_reduce_measure(problem, energy, state->error, NULL) + prior.lambda * prior_energy;
        good = cutis_reduce_sweep_blocks(&sweeper, colours->count, limit, &result);
        state->energy = cutis_reduce_measure(problem, energy, state->error, &state->gradient);
    }
    cutis_arena_release(&own);
    return good ? result : cutis_alloc_result(context);
}

bool cutis_reduce_update(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                         cutis_reduce_energy energy, double *rho, uint32_t vertex, double *fall)
{
    uint32_t ends[3] = { 0, 1, 1 };
    const cutis_reduce_colours colours = { .count = 1, .first = ends, .vertex = &vertex };
    const bool laplace = energy == CUTIS_REDUCE_LAPLACE;
    cutis_arena arena = { .context = problem->context };
    cutis_reduce_blocks blocks;
    cutis_reduce_prior prior = { 0 };
    void *scratch = cutis_arena_alloc(&arena, 1, cutis_reduce_lanes_scratch(problem));
    bool good = scratch && (laplace || cutis_reduce_prior_create(problem, state, &arena, &prior)) &&
                cutis_reduce_blocks_create(problem, &colours, state->first, &arena, &blocks) &&
                cutis_reduce_blocks_load(problem, state, prior.lambda, &arena, &blocks);
    if (good) {
        cutis_reduce_sweeper sweeper = { .problem = problem,
                                         .state = state,
                                         .blocks = &blocks,
                                         .prior = &prior,
                                         .laplace = laplace,
                                         .omega = 1,
                                         .rho = rho };
        const double down = cutis_reduce_lanes_update(&sweeper, 0, scratch);
        if (fall) *fall = down;
        cutis_reduce_blocks_store(problem, &blocks, state);
    }
    cutis_arena_release(&arena);
    return good;
}

void cutis_reduce_residual(const cutis_reduce_problem *problem, const double *error, double *rho)
{
    const cutis_reduce_mesh *mesh = problem->mesh;
    const uint32_t rows = 3 * problem->column_count;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        double *out = rho + (size_t)v * rows;
        for (uint32_t r = 0; r < rows; r++)
            out[r] = -mesh->diagonal[v] * error[(size_t)v * rows + r];
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
            for (uint32_t r = 0; r < rows; r++)
                out[r] += mesh->cotangent[i] * error[(size_t)mesh->neighbour[i] * rows + r];
    }
}

typedef struct measure_job {
    const cutis_reduce_problem *problem;
    const double *error;
    bool laplace;
    double (*sums)[2]; ///< per task: edges, anchors
} measure_job;

// Energy of a task's vertices, in order.
CUTIS_FIT_CLONES
static void measure_stretch(const measure_job *job, uint32_t index, double sums[2])
{
    const cutis_reduce_problem *problem = job->problem;
    const cutis_reduce_mesh *mesh = problem->mesh;
    uint32_t v = index * CUTIS_REDUCE_TASK;
    sums[0] = sums[1] = 0;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < mesh->vertex_count; v++) {
        double edges, anchors;
        double pull = job->laplace ? 1 / mesh->area[v] : cutis_reduce_anchor(problem, v);
        reduce_energy((const int *)mesh->first, (const int *)mesh->neighbour, mesh->cotangent,
                      mesh->diagonal[v], pull, job->error, (int)(3 * problem->column_count),
                      job->laplace, (int)v, &edges, &anchors);
        sums[0] += edges;
        sums[1] += anchors;
    }
}

static void measure_task(void *data, uint32_t index)
{
    const measure_job *job = data;
    measure_stretch(job, index, job->sums[index]);
}

double cutis_reduce_measure(const cutis_reduce_problem *problem, cutis_reduce_energy energy,
                            const double *error, double *gradient)
{
    const uint32_t tasks =
        (problem->mesh->vertex_count + CUTIS_REDUCE_TASK - 1) / CUTIS_REDUCE_TASK;
    measure_job job = { problem, error, energy == CUTIS_REDUCE_LAPLACE, NULL };
    double edges = 0, anchors = 0, one[2];
    job.sums = cutis_alloc_array(problem->context, tasks, sizeof *job.sums);
    if (job.sums) cutis_device_run(problem->device, measure_task, &job, tasks);
    for (uint32_t t = 0; t < tasks; t++) { // without memory for the sums: one after the other
        if (!job.sums) measure_stretch(&job, t, one);
        edges += job.sums ? job.sums[t][0] : one[0];
        anchors += job.sums ? job.sums[t][1] : one[1];
    }
    if (job.sums) cutis_free_array(problem->context, job.sums, tasks, sizeof *job.sums);
    if (gradient) *gradient = edges;
    return edges + anchors;
}

// `surface`: sweeps on normals follow, with colours `far`; NULL: none.
static cutis_result poisson_on_device(const cutis_reduce_problem *problem, cutis_arena *arena,
                                      cutis_reduce_energy energy,
                                      const cutis_reduce_colours *colours,
                                      const cutis_reduce_surface *surface,
                                      const cutis_reduce_colours *far, bool fitted, bool reselect,
                                      cutis_reduce_state *state)
{
    const bool laplace = energy == CUTIS_REDUCE_LAPLACE;
    cutis_reduce_schedule schedule = {
        .fitted = fitted,
        .laplace = laplace,
        .limit = sweep_limit(problem, laplace, reselect),
        .reselecting = reselect ? RESELECTING : 0,
        .trials = CUTIS_REDUCE_TRIALS,
        .omega = relaxation_of(problem, laplace),
        .stop = stop_of(problem, laplace),
        .surface = surface,
        .far = far,
        .far_limit = surface ? cutis_reduce_normals_limit(problem, reselect) : 0,
    };
    const size_t longest =
        schedule.limit > schedule.far_limit ? schedule.limit : schedule.far_limit;
    if (!cutis_reduce_state_create(problem, arena, false, state))
        return cutis_alloc_result(problem->context);
    state->curve = cutis_arena_alloc(arena, longest + 1, sizeof *state->curve);
    if (!state->curve) return cutis_alloc_result(problem->context);
    return cutis_reduce_device_run(problem, colours, &schedule, state);
}

cutis_result cutis_reduce_poisson(const cutis_reduce_problem *problem, cutis_arena *arena,
                                  cutis_reduce_energy energy, const cutis_reduce_colours *colours,
                                  bool fitted, bool reselect, cutis_reduce_state *state)
{
    if (cutis_reduce_on_device(problem))
        return poisson_on_device(problem, arena, energy, colours, NULL, NULL, fitted, reselect,
                                 state);
    if (!cutis_reduce_start(problem, arena, fitted, true, state))
        return cutis_alloc_result(problem->context);
    return cutis_reduce_sweep(problem, arena, energy, colours, reselect, state);
}

cutis_result cutis_reduce_poisson_normals(const cutis_reduce_problem *problem, cutis_arena *arena,
                                          const cutis_reduce_surface *surface,
                                          const cutis_reduce_colours *near,
                                          const cutis_reduce_colours *far, bool fitted,
                                          bool reselect, cutis_reduce_state *state)
{
    const cutis_reduce_energy energy = CUTIS_REDUCE_GRADIENT;
    if (cutis_reduce_on_device(problem))
        return poisson_on_device(problem, arena, energy, near, surface, far, fitted, reselect,
                                 state);
    cutis_result result =
        cutis_reduce_poisson(problem, arena, energy, near, fitted, reselect, state);
    return result == CUTIS_OK ? cutis_reduce_normals(problem, surface, far, reselect, arena, state)
                              : result;
}
