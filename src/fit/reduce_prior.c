// Gradient sweeps with the smooth prior: the vertex's weights are pulled to the neighbours' mean of
// A - Abar, control by control. Which slots of neighbours have the same control, and what the
// original weights add, is found once. Invariant: sums run over tasks of fixed size, in order.
#include "fit/reduce_prior.h"

#include <string.h>

#include "fit/reduce_vertex.h"

enum { NONE = 255 };

typedef struct prior_job {
    const cutis_reduce_problem *problem;
    const cutis_reduce_state *state;
    cutis_reduce_prior *prior;
    double *sums;  ///< per task
    double *dense; ///< per task: 2 * control_count
} prior_job;

static uint32_t task_count(const cutis_reduce_problem *problem)
{
    return (problem->mesh->vertex_count + CUTIS_REDUCE_TASK - 1) / CUTIS_REDUCE_TASK;
}

// The mean diagonal of the Gram matrices of a task's vertices.
static void trace_task(void *data, uint32_t index)
{
    const prior_job *job = data;
    const cutis_reduce_state *state = job->state;
    const size_t rows = 3 * (size_t)job->problem->column_count;
    uint32_t v = index * CUTIS_REDUCE_TASK;
    double sum = 0;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < job->problem->mesh->vertex_count;
         v++) {
        const uint32_t begin = state->first[v], count = state->first[v + 1] - begin;
        const float *offset = state->offset + begin * rows;
        double trace = 0;
        for (size_t i = 0; i < count * rows; i++) trace += (double)offset[i] * offset[i];
        if (count) sum += trace / count;
    }
    job->sums[index] = sum;
}

// The weight of a control in a vertex's original influences, 0 if it has none.
static double original(const cutis_reduce_problem *p, uint32_t v, uint32_t control)
{
    uint32_t begin = p->first[v], end = p->first[v + 1];
    if (end - begin == p->control_count) return p->weight[begin + control]; // all: no search
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (p->control[middle] < control)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < p->first[v + 1] && p->control[begin] == control ? p->weight[begin] : 0;
}

// Slots of `u` that have the controls of v's slots: both lists ascend.
static void match_slots(const cutis_reduce_state *state, uint32_t v, uint32_t u, uint8_t *match)
{
    const uint32_t *mine = state->control + state->first[v],
                   *other = state->control + state->first[u];
    const uint32_t count = state->first[v + 1] - state->first[v],
                   others = state->first[u + 1] - state->first[u];
    for (uint32_t i = 0, k = 0; i < count; i++) {
        while (k < others && other[k] < mine[i]) k++;
        match[i] = k < others && other[k] == mine[i] ? (uint8_t)k : NONE;
    }
}

static void match_task(void *data, uint32_t index)
{
    const prior_job *job = data;
    const cutis_reduce_problem *problem = job->problem;
    const cutis_reduce_mesh *mesh = problem->mesh;
    const cutis_reduce_state *state = job->state;
    uint32_t v = index * CUTIS_REDUCE_TASK;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < mesh->vertex_count; v++) {
        const double d = mesh->diagonal[v] + cutis_reduce_anchor(problem, v);
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
            match_slots(state, v, mesh->neighbour[i],
                        job->prior->match + (size_t)i * problem->influences);
        for (uint32_t s = state->first[v]; s < state->first[v + 1]; s++) {
            double sum = 0;
            for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
                sum +=
                    mesh->cotangent[i] * original(problem, mesh->neighbour[i], state->control[s]);
            job->prior->base[s] = original(problem, v, state->control[s]) - sum / d;
        }
    }
}

bool cutis_reduce_prior_create(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                               cutis_arena *arena, cutis_reduce_prior *out)
{
    const cutis_reduce_mesh *mesh = problem->mesh;
    const uint32_t tasks = task_count(problem), vertices = mesh->vertex_count;
    *out = (cutis_reduce_prior){ 0 };
    if (!(problem->prior > 0)) return true;
    prior_job job = { .problem = problem, .state = state, .prior = out };
    job.sums = cutis_arena_alloc(arena, tasks, sizeof *job.sums);
    out->base = cutis_arena_alloc(arena, state->first[vertices], sizeof *out->base);
    out->match = cutis_arena_alloc(arena, mesh->first[vertices], problem->influences);
    if (!job.sums || !out->base || !out->match) return false;
    double sum = 0;
    uint32_t used = 0;
    cutis_device_run(problem->device, trace_task, &job, tasks);
    cutis_device_run(problem->device, match_task, &job, tasks);
    for (uint32_t t = 0; t < tasks; t++) sum += job.sums[t];
    for (uint32_t v = 0; v < vertices; v++) used += state->first[v + 1] > state->first[v];
    out->lambda = used ? problem->prior * sum / used : 0;
    return true;
}

void cutis_reduce_prior_wish(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                             const cutis_reduce_prior *prior, uint32_t v, double share,
                             double *wish)
{
    const cutis_reduce_mesh *mesh = problem->mesh;
    const uint32_t begin = state->first[v], count = state->first[v + 1] - begin;
    for (uint32_t s = 0; s < count; s++) wish[s] = 0;
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const double *weight = state->weight + state->first[mesh->neighbour[i]];
        const uint8_t *match = prior->match + (size_t)i * problem->influences;
        const double l = mesh->cotangent[i];
        for (uint32_t s = 0; s < count; s++) wish[s] += match[s] == NONE ? 0 : l * weight[match[s]];
    }
    for (uint32_t s = 0; s < count; s++) wish[s] = prior->base[begin + s] + share * wish[s];
}

void cutis_reduce_prior_note(cutis_reduce_state *state, const cutis_reduce_blocks *blocks,
                             uint32_t block)
{
    for (uint32_t l = 0; l < CUTIS_REDUCE_LANES; l++) {
        const uint32_t v = blocks->vertex[(size_t)block * CUTIS_REDUCE_LANES + l];
        const double *weight =
            blocks->weight + (size_t)blocks->slot_first[block] * CUTIS_REDUCE_LANES + l;
        for (uint32_t i = 0; v != UINT32_MAX && i < blocks->size[block]; i++)
            state->weight[state->first[v] + i] = weight[(size_t)i * CUTIS_REDUCE_LANES];
    }
}

// A - Abar of all controls at a vertex.
static void differences(const cutis_reduce_problem *p, const cutis_reduce_state *s, uint32_t v,
                        double *out)
{
    memset(out, 0, p->control_count * sizeof *out);
    for (uint32_t i = p->first[v]; i < p->first[v + 1]; i++) out[p->control[i]] = -p->weight[i];
    for (uint32_t i = s->first[v]; i < s->first[v + 1]; i++) out[s->control[i]] += s->weight[i];
}

// Anchors of a task's vertices and their edges to later ones.
static void energy_task(void *data, uint32_t index)
{
    const prior_job *job = data;
    const cutis_reduce_problem *problem = job->problem;
    const cutis_reduce_mesh *mesh = problem->mesh;
    const uint32_t controls = problem->control_count;
    double *own = job->dense + (size_t)index * 2 * controls, *other = own + controls, energy = 0;
    uint32_t v = index * CUTIS_REDUCE_TASK;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < mesh->vertex_count; v++) {
        double square = 0;
        differences(problem, job->state, v, own);
        for (uint32_t c = 0; c < controls; c++) square += own[c] * own[c];
        double part = cutis_reduce_anchor(problem, v) * square;
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
            if (mesh->neighbour[i] < v) continue;
            differences(problem, job->state, mesh->neighbour[i], other);
            square = 0;
            for (uint32_t c = 0; c < controls; c++)
                square += (own[c] - other[c]) * (own[c] - other[c]);
            part += mesh->cotangent[i] * square;
        }
        energy += part;
    }
    job->sums[index] = energy;
}

bool cutis_reduce_prior_energy(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                               double *energy)
{
    const uint32_t tasks = task_count(problem);
    *energy = 0;
    if (!(problem->prior > 0)) return true;
    cutis_arena arena = { .context = problem->context };
    prior_job job = { .problem = problem, .state = state };
    job.sums = cutis_arena_alloc(&arena, tasks, sizeof *job.sums);
    job.dense =
        cutis_arena_alloc(&arena, tasks, 2 * (size_t)problem->control_count * sizeof *job.dense);
    const bool good = job.sums && job.dense;
    if (good) cutis_device_run(problem->device, energy_task, &job, tasks);
    for (uint32_t t = 0; good && t < tasks; t++) *energy += job.sums[t];
    cutis_arena_release(&arena);
    return good;
}
