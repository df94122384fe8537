// Smooth weights (docs/spec/reduction.md 2.5): the reduced weight functions differ from the
// original ones by fields whose Laplacian is small; dropped weights count. No poses. Residuals are
// sparse: at a vertex only controls that it or a neighbour had. Invariants: those of the sweeps;
// rho is L (A - Abar) for the current weights A.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fit/reduce/problem.h"
#include "geometry/order.h"

enum { SWEEPS = 20 };
static const double STOP = 1e-3;

typedef struct smooth_job {
    const cutis_reduce_problem *problem;
    cutis_reduce_state *state;
    const cutis_reduce_colours *colours;
    uint32_t colour;
    size_t *first;     ///< vertex_count + 1, into control and rho
    uint32_t *control; ///< ascending per vertex
    double *rho;
    size_t *place_first; ///< vertex_count + 1
    size_t *place;       ///< per vertex, kept slot and row (its own, its neighbours'): where in rho
    double (*inverse)[4][4]; ///< per vertex, with `rest` (cutis_reduce_precision); else NULL
    double *fall;            ///< per task
} smooth_job;

static double *find_rho(const smooth_job *job, uint32_t vertex, uint32_t control)
{
    return job->rho + order_last(job->control, job->first[vertex], job->first[vertex + 1], control);
}

// Add the controls of vertex u to the ascending list of the row being built. @return its new end
static size_t merge_controls(const cutis_reduce_problem *problem, uint32_t u, uint32_t *list,
                             size_t begin, size_t end)
{
    for (uint32_t i = problem->first[u]; i < problem->first[u + 1]; i++) {
        uint32_t control = problem->control[i];
        size_t at = end;
        while (at > begin && list[at - 1] > control) at--;
        if (at > begin && list[at - 1] == control) continue;
        memmove(list + at + 1, list + at, (end - at) * sizeof *list);
        list[at] = control;
        end++;
    }
    return end;
}

// `row`: scratch for all controls
static void build_rows(smooth_job *job, uint32_t *row)
{
    const cutis_reduce_problem *problem = job->problem;
    const cutis_reduce_mesh *mesh = problem->mesh;
    size_t used = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        size_t count = merge_controls(problem, v, row, 0, 0);
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
            count = merge_controls(problem, mesh->neighbour[i], row, 0, count);
        job->first[v] = used;
        memcpy(job->control + used, row, count * sizeof *row);
        used += count;
    }
    job->first[mesh->vertex_count] = used;
}

// Most entries the rows can have: every influence once for its vertex and once for each neighbour.
static size_t row_bound(const cutis_reduce_problem *problem)
{
    const cutis_reduce_mesh *mesh = problem->mesh;
    size_t bound = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        size_t row = problem->first[v + 1] - problem->first[v];
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
            row += problem->first[mesh->neighbour[i] + 1] - problem->first[mesh->neighbour[i]];
        bound += row < problem->control_count ? row : problem->control_count;
    }
    return bound;
}

// Spread one vertex's e_i = A_i - Abar_i over the rows that contain it.
static void spread(smooth_job *job, uint32_t v, uint32_t control, double e)
{
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    if (e == 0) return;
    *find_rho(job, v, control) -= mesh->diagonal[v] * e;
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
        *find_rho(job, mesh->neighbour[i], control) += mesh->cotangent[i] * e;
}

static void start_rho(smooth_job *job)
{
    const cutis_reduce_problem *problem = job->problem;
    const cutis_reduce_state *state = job->state;
    for (uint32_t v = 0; v < problem->mesh->vertex_count; v++) {
        uint32_t slot = state->first[v];
        for (uint32_t i = problem->first[v]; i < problem->first[v + 1]; i++) {
            double kept = 0;
            if (slot < state->first[v + 1] && state->control[slot] == problem->control[i])
                kept = state->weight[slot++];
            spread(job, v, problem->control[i], kept - problem->weight[i]);
        }
    }
}

// Everything that sweeps would look for anew each time: where a kept slot's residuals are, and what
// its controls' precision needs.
static void place_task(void *data, uint32_t index)
{
    smooth_job *job = data;
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    const cutis_reduce_state *state = job->state;
    uint32_t v = index * CUTIS_REDUCE_TASK;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < mesh->vertex_count; v++) {
        size_t *place = job->place + job->place_first[v];
        const uint32_t *control = state->control + state->first[v],
                       count = state->first[v + 1] - state->first[v];
        for (uint32_t s = 0; s < count; s++) {
            *place++ = (size_t)(find_rho(job, v, control[s]) - job->rho);
            for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
                *place++ = (size_t)(find_rho(job, mesh->neighbour[i], control[s]) - job->rho);
        }
        if (job->inverse) cutis_reduce_precision(job->problem, v, control, count, job->inverse[v]);
    }
}

static bool make_places(smooth_job *job, cutis_arena *arena)
{
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    const uint32_t vertices = mesh->vertex_count;
    job->place_first = cutis_arena_alloc(arena, (size_t)vertices + 1, sizeof *job->place_first);
    if (!job->place_first) return false;
    job->place_first[0] = 0;
    for (uint32_t v = 0; v < vertices; v++)
        job->place_first[v + 1] =
            job->place_first[v] + (size_t)(job->state->first[v + 1] - job->state->first[v]) *
                                      (mesh->first[v + 1] - mesh->first[v] + 1);
    job->place = cutis_arena_alloc(arena, job->place_first[vertices], sizeof *job->place);
    if (job->problem->rest && job->problem->negative)
        job->inverse = cutis_arena_alloc(arena, vertices, sizeof *job->inverse);
    if (!job->place || (job->problem->rest && job->problem->negative && !job->inverse))
        return false;
    cutis_device_run_items(job->problem->device, place_task, job, vertices, CUTIS_REDUCE_TASK);
    return true;
}

// The nearest weights with sum 1 (and none negative: projection onto the simplex, by dropping what
// becomes negative).
static void project(uint32_t count, bool negative, double *y)
{
    bool out[CUTIS_REDUCE_SET] = { false };
    for (uint32_t left = count; left > 0;) {
        double sum = 0;
        for (uint32_t i = 0; i < count; i++)
            if (!out[i]) sum += y[i];
        double shift = (1 - sum) / left;
        uint32_t dropped = 0;
        for (uint32_t i = 0; i < count && !negative; i++)
            if (!out[i] && y[i] + shift < 0) out[i] = true, dropped++;
        if (dropped == 0) {
            for (uint32_t i = 0; i < count; i++) y[i] = out[i] ? 0 : y[i] + shift;
            return;
        }
        left -= dropped;
    }
}

static double smooth_vertex(smooth_job *job, uint32_t v)
{
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    const cutis_reduce_state *state = job->state;
    uint32_t begin = state->first[v], count = state->first[v + 1] - begin;
    double y[CUTIS_REDUCE_SET], *weight = state->weight + begin, fall = 0;
    double m = 1 / mesh->area[v], l = -mesh->diagonal[v], a = m * l * l;
    if (count < 2) return 0;
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
        a += mesh->cotangent[i] * mesh->cotangent[i] / mesh->area[mesh->neighbour[i]];
    if (!(a > 0)) return 0;
    const size_t *place = job->place + job->place_first[v];
    for (uint32_t s = 0; s < count; s++) {
        double sum = m * l * job->rho[*place++];
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
            sum += mesh->cotangent[i] / mesh->area[mesh->neighbour[i]] * job->rho[*place++];
        y[s] = weight[s] - sum / a;
        fall += (sum / a) * (sum / a);
    }
    double desired[CUTIS_REDUCE_SET];
    memcpy(desired, y, count * sizeof *y);
    if (job->problem->rest)
        cutis_reduce_precise(job->problem, v, state->control + begin, count,
                             job->inverse ? (const double(*)[4])job->inverse[v] : NULL, y);
    else
        project(count, job->problem->negative, y);
    place = job->place + job->place_first[v];
    for (uint32_t s = 0; s < count; s++) {
        const double e = y[s] - weight[s];
        fall -= (y[s] - desired[s]) * (y[s] - desired[s]);
        job->rho[*place++] -= mesh->diagonal[v] * e;
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
            job->rho[*place++] += mesh->cotangent[i] * e;
        weight[s] = y[s];
    }
    return a * fall;
}

static void smooth_task(void *data, uint32_t index)
{
    smooth_job *job = data;
    uint32_t i = job->colours->first[job->colour] + index * CUTIS_REDUCE_TASK;
    uint32_t end = job->colours->first[job->colour + 1];
    if (end - i > CUTIS_REDUCE_TASK) end = i + CUTIS_REDUCE_TASK;
    double fall = 0;
    for (; i < end; i++) fall += smooth_vertex(job, job->colours->vertex[i]);
    job->fall[index] = fall;
}

static double smooth_energy(const smooth_job *job)
{
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    double energy = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (size_t i = job->first[v]; i < job->first[v + 1]; i++)
            energy += job->rho[i] * job->rho[i] / mesh->area[v];
    return energy;
}

static cutis_result sweep_all(smooth_job *job, uint32_t limit)
{
    cutis_reduce_state *state = job->state;
    state->curve[0] = smooth_energy(job);
    for (uint32_t s = 0; s < limit; s++) {
        TRY(cutis_progress(job->problem->context, "smoothing weights", (double)s / limit));
        double fall = 0;
        for (job->colour = 0; job->colour < job->colours->count; job->colour++) {
            uint32_t count =
                job->colours->first[job->colour + 1] - job->colours->first[job->colour];
            uint32_t tasks = (count + CUTIS_REDUCE_TASK - 1) / CUTIS_REDUCE_TASK;
            cutis_device_run(job->problem->device, smooth_task, job, tasks);
            for (uint32_t t = 0; t < tasks; t++) fall += job->fall[t];
        }
        state->curve[s + 1] = state->curve[s] - fall;
        state->sweep_count = s + 1;
        // The first sweep may have to rise: k-largest does not reproduce the vertices at rest.
        if (!(fall > STOP * state->curve[s]) && (s > 0 || !job->problem->rest)) break;
    }
    return CUTIS_OK;
}

cutis_result cutis_reduce_smooth(const cutis_reduce_problem *problem, cutis_arena *arena,
                                 const cutis_reduce_colours *colours, cutis_reduce_state *state)
{
    cutis_context *context = problem->context;
    const uint32_t vertices = problem->mesh->vertex_count;
    smooth_job job = { .problem = problem, .state = state, .colours = colours };
    const size_t bound = row_bound(problem), tasks = vertices / CUTIS_REDUCE_TASK + 1;
    uint32_t limit = problem->sweeps ? problem->sweeps : SWEEPS;
    if (!problem->sweeps && vertices > 1000 * SWEEPS) limit = (vertices + 999) / 1000;
    cutis_arena own = { .context = context };
    state->curve = cutis_arena_alloc(arena, (size_t)limit + 1, sizeof *state->curve);
    uint32_t *row = cutis_arena_alloc(&own, problem->control_count, sizeof *row);
    job.first = cutis_arena_alloc(&own, (size_t)vertices + 1, sizeof *job.first);
    job.control = cutis_arena_alloc(&own, bound, sizeof *job.control);
    job.rho = cutis_arena_zero(&own, bound, sizeof *job.rho);
    job.fall = cutis_arena_alloc(&own, tasks, sizeof *job.fall);
    cutis_result result = CUTIS_OK;
    if (!state->curve || !row || !job.first || !job.control || !job.rho || !job.fall) {
        result = cutis_alloc_result(context);
    } else {
        build_rows(&job, row);
        start_rho(&job);
        result = make_places(&job, &own) ? sweep_all(&job, limit) : cutis_alloc_result(context);
        if (result == CUTIS_OK) result = cutis_reduce_errors(problem, state, true, state->error);
        state->energy = state->curve[state->sweep_count];
        if (problem->rest) state->infeasible_count = cutis_reduce_count_imprecise(problem, state);
    }
    cutis_arena_release(&own);
    return result;
}
