// Smooth weights (docs/spec/reduction.md 2.5): the reduced weight functions differ from the
// original ones by fields whose Laplacian is small; dropped weights count. No poses. Residuals are
// sparse: at a vertex only controls that it or a neighbour keeps (what the others leave is the same
// whatever is done). Invariants: those of the sweeps; rho is L (A - Abar) for the current weights
// A.
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
    size_t *first;       ///< vertex_count + 1, into rho: a vertex's row
    double *rho;         ///< of controls that the vertex or a neighbour keeps; others never change
    size_t *place_first; ///< vertex_count + 1
    uint16_t *place;     ///< per vertex, row (its own, its neighbours') and kept slot: where in it
    double *pull;        ///< per neighbour: its cotangent over its area
    double *stiff;       ///< per vertex: what a unit of a weight costs
    double (*inverse)[4][4]; ///< per vertex, with `rest` (cutis_reduce_precision); else NULL
    double *fall;            ///< per task
    // While rows are made, CHUNKS at a time; per chunk and control:
    bool counting;
    uint32_t chunk;    ///< vertices of one
    double *value;     ///< the residual of the row at hand
    uint32_t *row;     ///< the row that last had the control, and 1
    uint32_t *at;      ///< where in it
    uint32_t *touched; ///< controls of the row at hand
    double *energy;    ///< per chunk
} smooth_job;

// Parts that rows are made in, each with its own table of controls.
enum { CHUNKS = 64 };

typedef struct chunk_table {
    double *value;
    uint32_t *row, *at, *touched, count;
} chunk_table;

// Give the controls of `list` a place in the row that is being made.
static void touch(chunk_table *t, uint32_t row, const uint32_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (t->row[list[i]] == row + 1) continue;
        t->row[list[i]] = row + 1;
        t->value[list[i]] = 0;
        t->at[list[i]] = t->count;
        t->touched[t->count++] = list[i];
    }
}

// Vertex u's part of the row's residual: `factor` times its difference of weights.
static void add_difference(const smooth_job *job, chunk_table *t, uint32_t row, uint32_t u,
                           double factor)
{
    const cutis_reduce_problem *problem = job->problem;
    const cutis_reduce_state *state = job->state;
    const uint32_t begin = problem->first[u], count = problem->first[u + 1] - begin;
    touch(t, row, problem->control + begin, count);
    for (uint32_t i = begin; i < begin + count; i++)
        t->value[problem->control[i]] -= factor * problem->weight[i];
    for (uint32_t s = state->first[u]; s < state->first[u + 1]; s++)
        t->value[state->control[s]] += factor * state->weight[s];
}

// Where the row of vertex v, number `as` of those that vertex u looks at, has u's kept controls.
static void note_places(smooth_job *job, const chunk_table *t, uint32_t u, size_t as)
{
    const cutis_reduce_state *state = job->state;
    const uint32_t begin = state->first[u], count = state->first[u + 1] - begin;
    uint16_t *place = job->place + job->place_first[u] + as * count;
    for (uint32_t s = 0; s < count; s++) place[s] = (uint16_t)t->at[state->control[begin + s]];
}

// A row: first the controls that are kept around it, which have places, then the others, which
// only count in the energy.
static double make_row(smooth_job *job, chunk_table *t, uint32_t v)
{
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    const cutis_reduce_state *state = job->state;
    const uint32_t begin = mesh->first[v], end = mesh->first[v + 1];
    double energy = 0;
    t->count = 0;
    touch(t, v, state->control + state->first[v], state->first[v + 1] - state->first[v]);
    for (uint32_t i = begin; i < end; i++) {
        const uint32_t u = mesh->neighbour[i];
        touch(t, v, state->control + state->first[u], state->first[u + 1] - state->first[u]);
    }
    const uint32_t kept = t->count;
    if (job->counting) {
        job->first[v + 1] = kept;
        return 0;
    }
    note_places(job, t, v, 0);
    add_difference(job, t, v, v, -mesh->diagonal[v]);
    for (uint32_t i = begin; i < end; i++) {
        const uint32_t u = mesh->neighbour[i];
        const size_t back = order_last(mesh->neighbour, mesh->first[u], mesh->first[u + 1], v);
        note_places(job, t, u, back - mesh->first[u] + 1);
        add_difference(job, t, v, u, mesh->cotangent[i]);
    }
    for (uint32_t i = 0; i < kept; i++) job->rho[job->first[v] + i] = t->value[t->touched[i]];
    for (uint32_t i = 0; i < t->count; i++) {
        const double rho = t->value[t->touched[i]];
        energy += rho * rho / mesh->area[v];
    }
    return energy;
}

// What of the mesh sweeps would compute anew each time, and what a vertex's controls say.
static void prepare_vertex(smooth_job *job, uint32_t v)
{
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    const cutis_reduce_state *state = job->state;
    double stiff = mesh->diagonal[v] * mesh->diagonal[v] / mesh->area[v];
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        job->pull[i] = mesh->cotangent[i] / mesh->area[mesh->neighbour[i]];
        stiff += mesh->cotangent[i] * job->pull[i];
    }
    job->stiff[v] = stiff;
    if (job->inverse)
        cutis_reduce_precision(job->problem, v, state->control + state->first[v],
                               state->first[v + 1] - state->first[v], job->inverse[v]);
}

static void chunk_task(void *data, uint32_t index)
{
    smooth_job *job = data;
    const size_t controls = job->problem->control_count, at = index * controls;
    chunk_table t = { job->value + at, job->row + at, job->at + at, job->touched + at, 0 };
    const uint32_t vertices = job->problem->mesh->vertex_count;
    const uint64_t begin = (uint64_t)index * job->chunk, end = begin + job->chunk;
    double energy = 0;
    memset(t.row, 0, controls * sizeof *t.row);
    for (uint64_t v = begin; v < end && v < vertices; v++) {
        energy += make_row(job, &t, (uint32_t)v);
        if (!job->counting) prepare_vertex(job, (uint32_t)v);
    }
    job->energy[index] = energy;
}

// @param energy of the weights as they are
static cutis_result make_rows(smooth_job *job, cutis_arena *arena, double *energy)
{
    cutis_context *context = job->problem->context;
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    const uint32_t vertices = mesh->vertex_count;
    *energy = 0;
    job->chunk = vertices / CHUNKS + 1;
    job->counting = true;
    cutis_device_run(job->problem->device, chunk_task, job, CHUNKS);
    job->first[0] = job->place_first[0] = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        if (job->first[v + 1] > UINT16_MAX) // a vertex with thousands of neighbours
            return cutis_fail(context, CUTIS_UNSUPPORTED,
                              "vertex %u has more than %d controls around it", v, UINT16_MAX);
        job->first[v + 1] += job->first[v];
        job->place_first[v + 1] =
            job->place_first[v] + (size_t)(job->state->first[v + 1] - job->state->first[v]) *
                                      (mesh->first[v + 1] - mesh->first[v] + 1);
    }
    job->rho = cutis_arena_alloc(arena, job->first[vertices], sizeof *job->rho);
    job->place = cutis_arena_alloc(arena, job->place_first[vertices], sizeof *job->place);
    if (!job->rho || !job->place) return cutis_alloc_result(context);
    job->counting = false;
    cutis_device_run(job->problem->device, chunk_task, job, CHUNKS);
    for (int i = 0; i < CHUNKS; i++) *energy += job->energy[i];
    return CUTIS_OK;
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

// What the residuals pull a vertex's weights down by, slot by slot, times its stiffness.
static void gather_pull(const smooth_job *job, uint32_t v, uint32_t count, double *sum)
{
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    const uint16_t *place = job->place + job->place_first[v];
    const double own = -mesh->diagonal[v] / mesh->area[v], *rho = job->rho + job->first[v];
    for (uint32_t s = 0; s < count; s++) sum[s] = own * rho[*place++];
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const double pull = job->pull[i];
        rho = job->rho + job->first[mesh->neighbour[i]];
        for (uint32_t s = 0; s < count; s++) sum[s] += pull * rho[*place++];
    }
}

static void spread_change(smooth_job *job, uint32_t v, uint32_t count, const double *change)
{
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    const uint16_t *place = job->place + job->place_first[v];
    double own = -mesh->diagonal[v], *rho = job->rho + job->first[v];
    for (uint32_t s = 0; s < count; s++) rho[*place++] += own * change[s];
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        rho = job->rho + job->first[mesh->neighbour[i]];
        for (uint32_t s = 0; s < count; s++) rho[*place++] += mesh->cotangent[i] * change[s];
    }
}

static double smooth_vertex(smooth_job *job, uint32_t v)
{
    const cutis_reduce_state *state = job->state;
    const uint32_t begin = state->first[v], count = state->first[v + 1] - begin;
    double y[CUTIS_REDUCE_SET], desired[CUTIS_REDUCE_SET], sum[CUTIS_REDUCE_SET];
    double *weight = state->weight + begin, fall = 0;
    if (count < 2 || !(job->stiff[v] > 0)) return 0;
    gather_pull(job, v, count, sum);
    for (uint32_t s = 0; s < count; s++) {
        const double step = sum[s] / job->stiff[v];
        desired[s] = y[s] = weight[s] - step;
        fall += step * step;
    }
    if (job->problem->rest)
        cutis_reduce_precise(job->problem, v, state->control + begin, count,
                             job->inverse ? (const double(*)[4])job->inverse[v] : NULL, y);
    else
        project(count, job->problem->negative, y);
    for (uint32_t s = 0; s < count; s++) {
        fall -= (y[s] - desired[s]) * (y[s] - desired[s]);
        sum[s] = y[s] - weight[s];
        weight[s] = y[s];
    }
    spread_change(job, v, count, sum);
    return job->stiff[v] * fall;
}

// Vertices of a colour lie apart, so that nothing of the next one is in a cache yet: what it owns
// is asked for some vertices ahead, then the rows that it works on.
enum { AHEAD = 4, LINE = 64 };
static void ask_for_own(const smooth_job *job, uint32_t v)
{
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    const char *place = (const char *)(job->place + job->place_first[v]),
               *end = (const char *)(job->place + job->place_first[v + 1]);
    for (; place < end; place += LINE) __builtin_prefetch(place);
    __builtin_prefetch(mesh->neighbour + mesh->first[v]);
    __builtin_prefetch(mesh->cotangent + mesh->first[v]);
    __builtin_prefetch(job->pull + mesh->first[v]);
    __builtin_prefetch(job->state->weight + job->state->first[v]);
    __builtin_prefetch(job->state->control + job->state->first[v]);
    if (job->inverse) __builtin_prefetch(job->inverse[v]), __builtin_prefetch(job->inverse[v] + 2);
}
static void ask_for_rows(const smooth_job *job, uint32_t v)
{
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    __builtin_prefetch(job->rho + job->first[v], 1);
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const double *row = job->rho + job->first[mesh->neighbour[i]];
        __builtin_prefetch(row, 1);
        __builtin_prefetch(row + LINE / sizeof *row, 1);
    }
}

static void smooth_task(void *data, uint32_t index)
{
    smooth_job *job = data;
    uint32_t i = job->colours->first[job->colour] + index * CUTIS_REDUCE_TASK;
    uint32_t end = job->colours->first[job->colour + 1];
    if (end - i > CUTIS_REDUCE_TASK) end = i + CUTIS_REDUCE_TASK;
    double fall = 0;
    const uint32_t *vertex = job->colours->vertex;
    for (; i < end; i++) {
        if (i + 2 * AHEAD < end) ask_for_own(job, vertex[i + 2 * AHEAD]);
        if (i + AHEAD < end) ask_for_rows(job, vertex[i + AHEAD]);
        fall += smooth_vertex(job, vertex[i]);
    }
    job->fall[index] = fall;
}

static cutis_result sweep_all(smooth_job *job, uint32_t limit)
{
    cutis_reduce_state *state = job->state;
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

static bool open_job(smooth_job *job, cutis_arena *arena)
{
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    const size_t vertices = mesh->vertex_count,
                 table = CHUNKS * (size_t)job->problem->control_count;
    const bool precise = job->problem->rest && job->problem->negative;
    job->first = cutis_arena_alloc(arena, vertices + 1, sizeof *job->first);
    job->place_first = cutis_arena_alloc(arena, vertices + 1, sizeof *job->place_first);
    job->pull = cutis_arena_alloc(arena, mesh->first[vertices], sizeof *job->pull);
    job->stiff = cutis_arena_alloc(arena, vertices, sizeof *job->stiff);
    job->fall = cutis_arena_alloc(arena, vertices / CUTIS_REDUCE_TASK + 1, sizeof *job->fall);
    job->value = cutis_arena_alloc(arena, table, sizeof *job->value);
    job->row = cutis_arena_alloc(arena, table, sizeof *job->row);
    job->at = cutis_arena_alloc(arena, table, sizeof *job->at);
    job->touched = cutis_arena_alloc(arena, table, sizeof *job->touched);
    job->energy = cutis_arena_alloc(arena, CHUNKS, sizeof *job->energy);
    if (precise) job->inverse = cutis_arena_alloc(arena, vertices, sizeof *job->inverse);
    return job->first && job->place_first && job->pull && job->stiff && job->fall && job->value &&
           job->row && job->at && job->touched && job->energy && (job->inverse || !precise);
}

cutis_result cutis_reduce_smooth(const cutis_reduce_problem *problem, cutis_arena *arena,
                                 const cutis_reduce_colours *colours, cutis_reduce_state *state)
{
    cutis_context *context = problem->context;
    const uint32_t vertices = problem->mesh->vertex_count;
    smooth_job job = { .problem = problem, .state = state, .colours = colours };
    uint32_t limit = problem->sweeps ? problem->sweeps : SWEEPS;
    if (!problem->sweeps && vertices > 1000 * SWEEPS) limit = (vertices + 999) / 1000;
    cutis_arena own = { .context = context };
    state->curve = cutis_arena_alloc(arena, (size_t)limit + 1, sizeof *state->curve);
    cutis_result result = state->curve && open_job(&job, &own)
                              ? make_rows(&job, &own, &state->curve[0])
                              : cutis_alloc_result(context);
    if (result == CUTIS_OK) {
        result = sweep_all(&job, limit);
        if (result == CUTIS_OK) result = cutis_reduce_errors(problem, state, true, state->error);
        state->energy = state->curve[state->sweep_count];
        if (problem->rest) state->infeasible_count = cutis_reduce_count_imprecise(problem, state);
    }
    cutis_arena_release(&own);
    return result;
}
