// Poisson reduction on a GPU. The problem goes up once, weights and errors come back at the end; in
// between there is one wait a sweep, for the fall of the energy that decides whether to go on.
// Invariant: kernels are launched in the order in which the CPU works (colour after colour), and
// falls are summed by the CPU's tasks, so both have the same bits.
#include "fit/reduce_device.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/reduce_device_run.h"
#include "fit/reduce_exchange.h"
#include "fit/reduce_vertex.h"

enum { ROWS_MAX = 600 };

bool cutis_reduce_on_device(const cutis_reduce_problem *problem)
{
    if (!problem->device || !problem->device->operations->compute_run) return false;
    const uint64_t vertices = problem->mesh->vertex_count;
    return 3 * (uint64_t)problem->column_count <= ROWS_MAX &&
           problem->first[vertices] < INT32_MAX && vertices < INT32_MAX / 64;
}

cutis_result cutis_reduce_device_make(cutis_reduce_device *run, uint64_t count, size_t size,
                                      cutis_buffer **out)
{
    return cutis_buffer_create(run->device, count ? count * size : size, out);
}

cutis_result cutis_reduce_device_upload(cutis_reduce_device *run, const void *data, uint64_t count,
                                        size_t size, cutis_buffer **out)
{
    cutis_result result = cutis_reduce_device_make(run, count, size, out);
    if (result != CUTIS_OK || count == 0) return result;
    return cutis_buffer_write(*out, 0, data, count * size);
}

static cutis_result upload_problem(cutis_reduce_device *run)
{
    const cutis_reduce_problem *p = run->problem;
    const uint64_t vertices = p->mesh->vertex_count, influences = p->first[vertices];
    cutis_result result =
        cutis_reduce_device_upload(run, p->positions, 3 * vertices, 8, &run->positions);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_upload(run, p->first, vertices + 1, 4, &run->first);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_upload(run, p->control, influences, 4, &run->control);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_upload(run, p->weight, influences, 8, &run->weight);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_upload(
            run, p->matrices, 12 * (uint64_t)p->column_count * p->control_count, 8, &run->matrices);
    return result;
}

typedef struct pull_job {
    const cutis_reduce_problem *problem;
    bool laplace;
    double *diagonal, *anchor;
} pull_job;

static void pull_task(void *data, uint32_t index)
{
    const pull_job *job = data;
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    uint32_t v = index * CUTIS_REDUCE_TASK;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < mesh->vertex_count; v++) {
        const double pull = cutis_reduce_anchor(job->problem, v);
        job->anchor[v] = job->laplace ? 1 / mesh->area[v] : pull;
        job->diagonal[v] = job->laplace ? mesh->diagonal[v] : mesh->diagonal[v] + pull;
    }
}

static cutis_result upload_mesh(cutis_reduce_device *run)
{
    const cutis_reduce_mesh *mesh = run->problem->mesh;
    const uint32_t vertices = mesh->vertex_count;
    const uint64_t edges = mesh->first[vertices];
    const bool laplace = run->schedule->laplace;
    double *diagonal = cutis_arena_alloc(&run->arena, vertices, sizeof *diagonal);
    double *anchor = cutis_arena_alloc(&run->arena, vertices, sizeof *anchor);
    if (!diagonal || !anchor) return cutis_alloc_result(run->problem->context);
    pull_job job = { run->problem, laplace, diagonal, anchor };
    cutis_device_run(run->problem->device, pull_task, &job,
                     (vertices + CUTIS_REDUCE_TASK - 1) / CUTIS_REDUCE_TASK);
    cutis_result result =
        cutis_reduce_device_upload(run, mesh->first, vertices + 1ull, 4, &run->ring_first);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_upload(run, mesh->neighbour, edges, 4, &run->ring);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_upload(run, mesh->cotangent, edges, 8, &run->edge);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_upload(run, diagonal, vertices, 8, &run->diagonal);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_upload(run, anchor, vertices, 8, &run->anchor);
    if (result == CUTIS_OK && laplace)
        result = cutis_reduce_device_upload(run, mesh->area, vertices, 8, &run->area);
    return result;
}

typedef struct buffer_plan {
    const void *data; ///< NULL: only room for it
    uint64_t count;
    size_t size;
    cutis_buffer **out;
} buffer_plan;

static cutis_result make_buffers(cutis_reduce_device *run, const buffer_plan *all, size_t count)
{
    cutis_result result = CUTIS_OK;
    for (size_t i = 0; i < count && result == CUTIS_OK; i++) {
        cutis_buffer_destroy(*all[i].out);
        *all[i].out = NULL;
        result = all[i].data ? cutis_reduce_device_upload(run, all[i].data, all[i].count,
                                                          all[i].size, all[i].out)
                             : cutis_reduce_device_make(run, all[i].count, all[i].size, all[i].out);
    }
    return result;
}

static cutis_result make_state(cutis_reduce_device *run)
{
    const cutis_reduce_state *state = run->state;
    const uint64_t vertices = run->problem->mesh->vertex_count, slots = state->first[vertices];
    const uint64_t rows = 3 * (uint64_t)run->problem->column_count;
    const buffer_plan all[] = {
        { state->first, vertices + 1, 4, &run->set_first },
        { NULL, slots, 4, &run->set_control },
        { NULL, slots, 8, &run->set_weight },
        { NULL, vertices * rows, 8, &run->error },
    };
    return make_buffers(run, all, sizeof all / sizeof *all);
}

static cutis_result make_blocks(cutis_reduce_device *run)
{
    const cutis_reduce_blocks *blocks = &run->blocks;
    const uint64_t rows = 3 * (uint64_t)run->problem->column_count;
    const uint64_t lanes = (uint64_t)blocks->count * CUTIS_REDUCE_LANES;
    const uint64_t block_slots = (uint64_t)blocks->slot_first[blocks->count] * CUTIS_REDUCE_LANES;
    const uint64_t kept = (uint64_t)blocks->kept_first[blocks->count] * CUTIS_REDUCE_LANES;
    const buffer_plan all[] = {
        { blocks->vertex, lanes, 4, &run->lane_vertex },
        { blocks->size, blocks->count, 4, &run->block_size },
        { blocks->slot_first, blocks->count + 1ull, 4, &run->slot_first },
        { blocks->kept_first, blocks->count + 1ull, 4, &run->kept_first },
        { NULL, block_slots, 8, &run->block_weight },
        { NULL, block_slots * rows, 4, &run->block_offset },
        { NULL, kept, 8, &run->block_kept },
        { NULL, lanes, 8, &run->block_active },
        { NULL, lanes, 8, &run->fall },
        { NULL, lanes, 8, &run->edges }, // per vertex; summed with tasks of lanes beside
        { NULL, lanes, 8, &run->anchors },
    };
    return make_buffers(run, all, sizeof all / sizeof *all);
}

static cutis_result make_tasks(cutis_reduce_device *run)
{
    const cutis_reduce_blocks *blocks = &run->blocks;
    const uint32_t colours = run->colours->count, vertices = run->problem->mesh->vertex_count;
    const uint32_t stretch = CUTIS_REDUCE_TASK_BLOCKS * CUTIS_REDUCE_LANES;
    const size_t lanes = (size_t)blocks->count * CUTIS_REDUCE_LANES;
    const size_t most = lanes / stretch + colours + vertices / CUTIS_REDUCE_TASK + 1;
    int32_t *first = cutis_arena_alloc(&run->arena, most, sizeof *first);
    int32_t *end = cutis_arena_alloc(&run->arena, most, sizeof *end);
    run->falls = cutis_arena_alloc(&run->arena, most, sizeof *run->falls);
    if (!first || !end || !run->falls) return cutis_alloc_result(run->problem->context);
    uint32_t count = 0;
    for (uint32_t c = 0; c <= colours; c++) {
        const bool last = c == colours;
        const uint32_t step = last ? CUTIS_REDUCE_TASK : stretch;
        const uint32_t to = last ? vertices : blocks->colour_first[c + 1] * CUTIS_REDUCE_LANES;
        uint32_t at = last ? 0 : blocks->colour_first[c] * CUTIS_REDUCE_LANES;
        if (last) run->colour_tasks = count;
        for (; at < to; at += step, count++) {
            first[count] = (int32_t)at;
            end[count] = (int32_t)(to - at < step ? to : at + step);
        }
    }
    run->vertex_tasks = count - run->colour_tasks;
    const buffer_plan all[] = { { first, count, 4, &run->task_first },
                                { end, count, 4, &run->task_end },
                                { NULL, count, 8, &run->task_fall } };
    return make_buffers(run, all, 3);
}

cutis_result cutis_reduce_device_blocks(cutis_reduce_device *run)
{
    cutis_result result = make_blocks(run);
    return result == CUTIS_OK ? make_tasks(run) : result;
}

cutis_result cutis_reduce_device_launch(cutis_reduce_device *run,
                                        const cutis_compute_kernel *kernel, uint32_t count,
                                        const cutis_compute_argument *arguments)
{
    cutis_compute_kernel sized = *kernel;
    char defines[CUTIS_REDUCE_DEFINES + 64];
    snprintf(defines, sizeof defines, "%s%s#define REDUCE_ONLY_%s\n", run->defines,
             run->chosen ? "#define REDUCE_CHOSEN\n" : "", kernel->entry + strlen("cutis_reduce_"));
    sized.defines = defines;
    return cutis_compute_run_old(run->device, &sized, count, arguments);
}

// Sum values by tasks: of lanes, as sweeps do, or of vertices.
cutis_result cutis_reduce_device_sum(cutis_reduce_device *run, const cutis_buffer *values,
                                     bool lanes, double *sum)
{
    const cutis_compute_argument a[] = { CUTIS_BUFFER_ARGUMENT(values),
                                         CUTIS_BUFFER_ARGUMENT(run->task_first),
                                         CUTIS_BUFFER_ARGUMENT(run->task_end),
                                         CUTIS_INT_ARGUMENT(lanes ? CUTIS_REDUCE_LANES : 1),
                                         CUTIS_BUFFER_ARGUMENT(run->task_fall) };
    const uint32_t all = run->colour_tasks + run->vertex_tasks;
    cutis_result result = cutis_reduce_device_launch(run, &cutis_compute_reduce_falls, all, a);
    if (result == CUTIS_OK) result = cutis_buffer_read(run->task_fall, 0, run->falls, all * 8ull);
    if (result != CUTIS_OK) return result;
    *sum = 0;
    for (uint32_t t = lanes ? 0 : run->colour_tasks; t < (lanes ? run->colour_tasks : all); t++)
        *sum += run->falls[t];
    return CUTIS_OK;
}

cutis_result cutis_reduce_device_measure(cutis_reduce_device *run, double *energy, double *gradient)
{
    const cutis_compute_argument a[] = {
        CUTIS_BUFFER_ARGUMENT(run->ring_first),
        CUTIS_BUFFER_ARGUMENT(run->ring),
        CUTIS_BUFFER_ARGUMENT(run->edge),
        CUTIS_BUFFER_ARGUMENT(run->diagonal),
        CUTIS_BUFFER_ARGUMENT(run->anchor),
        CUTIS_BUFFER_ARGUMENT(run->error),
        CUTIS_INT_ARGUMENT(run->problem->column_count),
        CUTIS_INT_ARGUMENT(run->schedule->laplace),
        CUTIS_BUFFER_ARGUMENT(run->edges),
        CUTIS_BUFFER_ARGUMENT(run->anchors),
    };
    double anchors = 0;
    cutis_result result = cutis_reduce_device_launch(run, &cutis_compute_reduce_energy,
                                                     run->problem->mesh->vertex_count, a);
    if (result == CUTIS_OK) result = cutis_reduce_device_sum(run, run->edges, false, gradient);
    if (result == CUTIS_OK) result = cutis_reduce_device_sum(run, run->anchors, false, &anchors);
    *energy = *gradient + anchors;
    return result;
}

static uint32_t lane_count(const cutis_reduce_device *run)
{
    return run->blocks.count * CUTIS_REDUCE_LANES;
}

cutis_result cutis_reduce_device_store(cutis_reduce_device *run)
{
    const cutis_compute_argument a[] = { BLOCK_ARGUMENTS(run),
                                         CUTIS_BUFFER_ARGUMENT(run->set_first),
                                         CUTIS_BUFFER_ARGUMENT(run->set_weight) };
    return cutis_reduce_device_launch(run, &cutis_compute_reduce_store, lane_count(run), a);
}

// The prior's weight, tables and first energy.
static cutis_result begin_prior(cutis_reduce_device *run, double *energy)
{
    const cutis_reduce_problem *p = run->problem;
    const uint32_t vertices = p->mesh->vertex_count, *first = run->state->first;
    const cutis_compute_argument trace[] = { BLOCK_ARGUMENTS(run),
                                             CUTIS_INT_ARGUMENT(p->column_count),
                                             CUTIS_BUFFER_ARGUMENT(run->edges) };
    double sum = 0;
    uint32_t used = 0;
    *energy = 0;
    if (!(p->prior > 0) || run->schedule->laplace) return CUTIS_OK;
    for (uint32_t v = 0; v < vertices; v++) used += first[v + 1] > first[v];
    cutis_result result = cutis_reduce_device_make(run, first[vertices], 8, &run->base);
    if (result == CUTIS_OK)
        result =
            cutis_reduce_device_make(run, p->mesh->first[vertices], p->influences, &run->match);
    if (result == CUTIS_OK) result = cutis_reduce_device_store(run);
    if (result == CUTIS_OK)
        result =
            cutis_reduce_device_launch(run, &cutis_compute_reduce_trace, lane_count(run), trace);
    if (result == CUTIS_OK) result = cutis_reduce_device_sum(run, run->edges, false, &sum);
    run->lambda = used ? p->prior * sum / used : 0;
    const cutis_compute_argument match[] = { MESH_ARGUMENTS(run), LIST_ARGUMENTS(run),
                                             CUTIS_INT_ARGUMENT(p->influences),
                                             CUTIS_BUFFER_ARGUMENT(run->base),
                                             CUTIS_BUFFER_ARGUMENT(run->match) };
    const cutis_compute_argument stray[] = { MESH_ARGUMENTS(run),
                                             CUTIS_BUFFER_ARGUMENT(run->anchor),
                                             LIST_ARGUMENTS(run),
                                             CUTIS_BUFFER_ARGUMENT(run->edges) };
    if (result == CUTIS_OK)
        result = cutis_reduce_device_launch(run, &cutis_compute_reduce_match, vertices, match);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_launch(run, &cutis_compute_reduce_stray, vertices, stray);
    if (result == CUTIS_OK) result = cutis_reduce_device_sum(run, run->edges, false, energy);
    return result;
}

// A team finds the place of an influence among the others by comparing it with all of them.
enum { CHOOSE_INFLUENCES_MAX = 256 };

static bool is_short(const cutis_reduce_problem *p)
{
    for (uint32_t v = 0; v < p->mesh->vertex_count; v++)
        if (p->first[v + 1] - p->first[v] > CHOOSE_INFLUENCES_MAX) return false;
    return true;
}

// Influences that sets are chosen from; k: they are the largest.
static uint32_t candidate_limit(const cutis_reduce_device *run)
{
    const cutis_reduce_problem *p = run->problem;
    return run->schedule->fitted && p->influences < CUTIS_REDUCE_CANDIDATES
               ? cutis_reduce_candidate_limit(p)
               : p->influences;
}

// Fitted sets, by teams, while the host goes on. Leaves `run->chosen` NULL where work items must
// find them.
static cutis_result choose_sets(cutis_reduce_device *run)
{
    const cutis_reduce_problem *p = run->problem;
    const uint32_t vertices = p->mesh->vertex_count, limit = candidate_limit(run);
    if (limit <= p->influences || !is_short(p)) return CUTIS_OK;
    cutis_result result =
        cutis_reduce_device_make(run, run->state->first[vertices], 4, &run->chosen);
    const cutis_compute_argument a[] = { PROBLEM_ARGUMENTS(run, limit),
                                         CUTIS_BUFFER_ARGUMENT(run->set_first),
                                         CUTIS_BUFFER_ARGUMENT(run->chosen) };
    return result == CUTIS_OK
               ? cutis_reduce_device_launch(run, &cutis_compute_reduce_choose, vertices, a)
               : result;
}

// Sets, first weights and what the lanes keep. @param extra the prior's part of the first energy
static cutis_result begin(cutis_reduce_device *run, double *extra)
{
    const cutis_reduce_problem *p = run->problem;
    const uint32_t limit = candidate_limit(run);
    const cutis_compute_argument start[] = {
        PROBLEM_ARGUMENTS(run, limit),         BLOCK_ARGUMENTS(run),
        CUTIS_BUFFER_ARGUMENT(run->set_first), CUTIS_BUFFER_ARGUMENT(run->set_control),
        CUTIS_BUFFER_ARGUMENT(run->error),     CUTIS_INT_ARGUMENT(1),
        CUTIS_BUFFER_ARGUMENT(run->chosen)
    };
    cutis_result result =
        cutis_reduce_device_launch(run, &cutis_compute_reduce_begin, lane_count(run), start);
    double energy = 0;
    if (result == CUTIS_OK) result = begin_prior(run, &energy);
    *extra = run->lambda * energy;
    const cutis_compute_argument keep[] = { BLOCK_ARGUMENTS(run),
                                            CUTIS_INT_ARGUMENT(p->column_count),
                                            CUTIS_INT_ARGUMENT(p->negative),
                                            CUTIS_DOUBLE_ARGUMENT(run->lambda) };
    if (result == CUTIS_OK)
        result = cutis_reduce_device_launch(run, &cutis_compute_reduce_keep, lane_count(run), keep);
    return result;
}

static cutis_result sweep_colour(cutis_reduce_device *run, uint32_t colour, bool exchange)
{
    const cutis_reduce_problem *p = run->problem;
    const uint32_t *first = run->blocks.colour_first;
    const uint32_t at = first[colour] * CUTIS_REDUCE_LANES;
    const uint32_t count = first[colour + 1] * CUTIS_REDUCE_LANES - at;
    const double omega = run->schedule->omega;
    if (exchange) {
        const cutis_compute_argument a[] = { MESH_ARGUMENTS(run),
                                             PROBLEM_ARGUMENTS(run,
                                                               cutis_reduce_candidate_limit(p)),
                                             BLOCK_ARGUMENTS(run),
                                             CUTIS_BUFFER_ARGUMENT(run->set_first),
                                             CUTIS_BUFFER_ARGUMENT(run->set_control),
                                             CUTIS_BUFFER_ARGUMENT(run->error),
                                             CUTIS_DOUBLE_ARGUMENT(omega),
                                             CUTIS_INT_ARGUMENT(run->schedule->trials),
                                             CUTIS_INT_ARGUMENT(at),
                                             CUTIS_BUFFER_ARGUMENT(run->fall) };
        return cutis_reduce_device_launch(run, &cutis_compute_reduce_exchanging, count, a);
    }
    if (run->schedule->laplace) {
        const cutis_compute_argument a[] = { MESH_ARGUMENTS(run),
                                             CUTIS_BUFFER_ARGUMENT(run->area),
                                             CUTIS_BUFFER_ARGUMENT(run->rho),
                                             BLOCK_ARGUMENTS(run),
                                             CUTIS_BUFFER_ARGUMENT(run->error),
                                             CUTIS_INT_ARGUMENT(p->column_count),
                                             CUTIS_INT_ARGUMENT(p->negative),
                                             CUTIS_DOUBLE_ARGUMENT(omega),
                                             CUTIS_INT_ARGUMENT(at),
                                             CUTIS_BUFFER_ARGUMENT(run->fall) };
        return cutis_reduce_device_launch(run, &cutis_compute_reduce_laplace, count, a);
    }
    const cutis_compute_argument a[] = { MESH_ARGUMENTS(run),
                                         BLOCK_ARGUMENTS(run),
                                         CUTIS_BUFFER_ARGUMENT(run->error),
                                         CUTIS_INT_ARGUMENT(p->column_count),
                                         CUTIS_INT_ARGUMENT(p->negative),
                                         CUTIS_DOUBLE_ARGUMENT(omega),
                                         CUTIS_DOUBLE_ARGUMENT(run->lambda),
                                         CUTIS_BUFFER_ARGUMENT(run->set_first),
                                         CUTIS_BUFFER_ARGUMENT(run->set_weight),
                                         CUTIS_BUFFER_ARGUMENT(run->base),
                                         CUTIS_BUFFER_ARGUMENT(run->match),
                                         CUTIS_INT_ARGUMENT(p->influences),
                                         CUTIS_INT_ARGUMENT(at),
                                         CUTIS_BUFFER_ARGUMENT(run->fall) };
    return cutis_reduce_device_launch(run, &cutis_compute_reduce_gradient, count, a);
}

bool cutis_reduce_device_exchanges(const cutis_reduce_device *run)
{
    for (uint32_t v = 0; v < run->problem->mesh->vertex_count; v++)
        if (run->state->first[v + 1] - run->state->first[v] >= 2 &&
            cutis_reduce_may_exchange(run->problem, run->state, v))
            return true;
    return false;
}

static cutis_result sweep_all(cutis_reduce_device *run)
{
    cutis_reduce_state *state = run->state;
    const cutis_reduce_schedule *schedule = run->schedule;
    const bool exchanges = schedule->reselecting && cutis_reduce_device_exchanges(run);
    for (uint32_t s = 0; s < schedule->limit; s++) {
        cutis_result result =
            cutis_progress(run->problem->context, "reducing weights", (double)s / schedule->limit);
        const bool early = s < schedule->reselecting;
        double fall = 0;
        for (uint32_t c = 0; c < run->colours->count && result == CUTIS_OK; c++)
            result = sweep_colour(run, c, early && exchanges);
        if (result == CUTIS_OK) result = cutis_reduce_device_sum(run, run->fall, true, &fall);
        if (result != CUTIS_OK) return result;
        state->curve[s + 1] = state->curve[s] - fall;
        state->sweep_count = s + 1;
        if (state->curve[s] <= 0 || (fall < schedule->stop * state->curve[s] && !early)) break;
    }
    return CUTIS_OK;
}

// The paper's residual of the first errors: on the host, once.
static cutis_result make_residual(cutis_reduce_device *run)
{
    const uint64_t count =
        3 * (uint64_t)run->problem->column_count * run->problem->mesh->vertex_count;
    double *rho = cutis_arena_alloc(&run->arena, count, sizeof *rho);
    if (!rho) return cutis_alloc_result(run->problem->context);
    cutis_result result = cutis_buffer_read(run->error, 0, run->state->error, count * 8);
    if (result != CUTIS_OK) return result;
    cutis_reduce_residual(run->problem, run->state->error, rho);
    return cutis_reduce_device_upload(run, rho, count, 8, &run->rho);
}

static cutis_result read_back(cutis_reduce_device *run)
{
    cutis_reduce_state *state = run->state;
    const uint64_t vertices = run->problem->mesh->vertex_count, slots = state->first[vertices];
    const uint64_t rows = 3 * (uint64_t)run->problem->column_count;
    cutis_result result = cutis_reduce_device_store(run);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(run->set_control, 0, state->control, slots * 4);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(run->set_weight, 0, state->weight, slots * 8);
    if (result == CUTIS_OK && !run->problem->results)
        result = cutis_buffer_read(run->error, 0, state->error, vertices * rows * 8);
    return result;
}

static void release(cutis_reduce_device *run)
{
    cutis_buffer *all[] = {
        run->positions,    run->first,        run->control,    run->weight,       run->matrices,
        run->ring_first,   run->ring,         run->edge,       run->diagonal,     run->area,
        run->anchor,       run->lane_vertex,  run->block_size, run->slot_first,   run->kept_first,
        run->block_weight, run->block_offset, run->block_kept, run->block_active, run->set_first,
        run->set_control,  run->set_weight,   run->error,      run->rho,          run->base,
        run->match,        run->fall,         run->task_first, run->task_end,     run->task_fall,
        run->edges,        run->anchors,      run->record,     run->fan_first,    run->fan,
        run->pose_weights, run->metric,       run->chosen,
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) cutis_buffer_destroy(all[i]);
    cutis_arena_release(&run->arena);
}

// What the kernels are compiled for.
static void define_sizes(cutis_reduce_device *run)
{
    const cutis_reduce_problem *p = run->problem;
    const uint32_t limit = cutis_reduce_candidate_limit(p), set = p->influences;
    const uint32_t candidates = limit < CUTIS_REDUCE_CANDIDATES ? limit : CUTIS_REDUCE_CANDIDATES;
    snprintf(run->defines, sizeof run->defines,
             "#define KERNEL_DOUBLE\n#define REDUCE_SET %u\n#define REDUCE_CANDIDATES %u\n"
             "#define REDUCE_LIST %u\n#define REDUCE_ROWS %u\n",
             set, candidates, set > candidates ? set : candidates, 3 * p->column_count);
}

// Blocks, and the colours they are of where there are none yet. false: no memory
static bool lay_out(cutis_reduce_device *run)
{
    const cutis_reduce_problem *p = run->problem;
    if (!run->colours) {
        cutis_reduce_colours *own = cutis_arena_alloc(&run->arena, 1, sizeof *own);
        if (!own ||
            !cutis_reduce_colours_create(&run->arena, p->mesh, run->schedule->laplace ? 2 : 1, own))
            return false;
        run->colours = own;
    }
    return cutis_reduce_blocks_create(p, run->colours, run->state->first, &run->arena,
                                      &run->blocks);
}

cutis_result cutis_reduce_device_run(const cutis_reduce_problem *problem,
                                     const cutis_reduce_colours *colours,
                                     const cutis_reduce_schedule *schedule,
                                     cutis_reduce_state *state)
{
    cutis_reduce_device run = { .problem = problem,
                                .colours = colours,
                                .schedule = schedule,
                                .state = state,
                                .device = problem->device,
                                .arena.context = problem->context };
    double extra = 0;
    const double start = cutis_os_seconds();
    define_sizes(&run);
    cutis_result result = upload_problem(&run);
    if (result == CUTIS_OK) result = make_state(&run);
    if (result == CUTIS_OK) result = choose_sets(&run);
    if (result == CUTIS_OK && !lay_out(&run)) result = cutis_alloc_result(problem->context);
    if (result == CUTIS_OK) result = upload_mesh(&run);
    if (result == CUTIS_OK) result = cutis_reduce_device_blocks(&run);
    state->transfer_seconds = cutis_os_seconds() - start;
    if (result == CUTIS_OK) result = begin(&run, &extra);
    if (result == CUTIS_OK && schedule->laplace) result = make_residual(&run);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_measure(&run, &state->curve[0], &state->gradient);
    state->curve[0] += extra;
    const double sweeping = cutis_os_seconds();
    if (result == CUTIS_OK) result = sweep_all(&run);
    state->sweep_seconds = cutis_os_seconds() - sweeping;
    if (result == CUTIS_OK)
        result = cutis_reduce_device_measure(&run, &state->energy, &state->gradient);
    if (result == CUTIS_OK && schedule->surface) result = cutis_reduce_device_normals(&run);
    const double reading = cutis_os_seconds();
    if (result == CUTIS_OK) result = read_back(&run);
    state->transfer_seconds += cutis_os_seconds() - reading;
    release(&run);
    return result;
}
