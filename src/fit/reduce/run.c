// A reduction on a device: buffers, launches, sums and energies. Invariant: sums run over stretches
// of fixed size, in order, so they depend neither on the device nor on its threads.
#include "fit/reduce/run.h"

#include <stdio.h>

#include "base/error.h"
#include "base/os/os.h"

enum {
    GPU_COLUMNS = 200, // poses whose rows the arrays of a work item can hold
    LANE_STRETCH = REDUCE_TASK * REDUCE_BLOCK,
    DEFINES = 320,
};

// Most controls a vertex of this problem chooses from.
static uint32_t candidate_limit(const cutis_reduce_problem *problem)
{
    uint32_t limit = 2 * problem->influences > 16 ? 2 * problem->influences : 16;
    if (limit > CUTIS_REDUCE_CANDIDATES) limit = CUTIS_REDUCE_CANDIDATES;
    return limit > problem->influences ? limit : problem->influences;
}

static cutis_result open_device(cutis_reduce_run *run)
{
    cutis_device *device = run->problem->device;
    run->gpu =
        device && device->operations->compute_run && run->problem->column_count <= GPU_COLUMNS;
    run->device = device;
    if (device && (run->gpu || !device->operations->compute_run)) return CUTIS_OK;
    const cutis_device_options options = { .thread_count = device ? device->task_threads : 1 };
    cutis_result result = cutis_device_create(run->problem->context, &options, &run->own);
    run->device = run->own;
    return result;
}

cutis_result cutis_reduce_open(const cutis_reduce_problem *problem, bool fitted,
                               cutis_reduce_state *state, cutis_reduce_run *run)
{
    const cutis_reduce_mesh *mesh = problem->mesh;
    *run = (cutis_reduce_run){ .problem = problem,
                               .state = state,
                               .arena.context = problem->context,
                               .sizes = {
                                   (int)problem->column_count, (int)problem->control_count,
                                   (int)(fitted ? candidate_limit(problem) : problem->influences),
                                   problem->negative } };
    // Kernels count in ints: lanes and slots are no more than these.
    if (mesh->vertex_count > INT32_MAX / (2 * REDUCE_BLOCK) ||
        problem->first[mesh->vertex_count] > INT32_MAX ||
        mesh->first[mesh->vertex_count] > INT32_MAX || problem->column_count > INT32_MAX / 2048)
        return cutis_fail(problem->context, CUTIS_UNSUPPORTED,
                          "reduce: %u vertices with %u influences in %u poses are too many",
                          mesh->vertex_count, problem->first[mesh->vertex_count],
                          problem->column_count);
    return open_device(run);
}

void cutis_reduce_close(cutis_reduce_run *run)
{
#define DESTROY(name) cutis_buffer_destroy(run->buffers.name);
    CUTIS_REDUCE_BUFFERS(DESTROY)
    cutis_arena_release(&run->arena);
    cutis_device_destroy(run->own);
}

// Buffers ---------------------------------------------------------------------------------------

static cutis_result make_buffer(cutis_reduce_run *run, const cutis_reduce_array *array)
{
    const uint64_t size = array->count * array->size;
    cutis_buffer_destroy(*array->out);
    *array->out = NULL;
    if (array->data && size && !run->gpu)
        return cutis_buffer_wrap(run->device, (uint64_t)(uintptr_t)array->data, size, array->out);
    cutis_result result = cutis_buffer_create(run->device, size ? size : array->size, array->out);
    if (result != CUTIS_OK || !array->data || array->back) return result;
    return cutis_buffer_write(*array->out, 0, array->data, size);
}

cutis_result cutis_reduce_make(cutis_reduce_run *run, const cutis_reduce_array *arrays,
                               size_t count)
{
    cutis_result result = CUTIS_OK;
    const double start = run->gpu ? cutis_os_seconds() : 0;
    for (size_t i = 0; i < count && result == CUTIS_OK; i++) result = make_buffer(run, &arrays[i]);
    if (run->gpu) run->state->transfer_seconds += cutis_os_seconds() - start;
    return result;
}

static cutis_result send_problem(cutis_reduce_run *run)
{
    const cutis_reduce_problem *p = run->problem;
    const uint64_t vertices = p->mesh->vertex_count, influences = p->first[vertices];
    const cutis_reduce_array all[] = {
        { p->positions, 3 * vertices, 8, &run->buffers.positions, false },
        { p->first, vertices + 1, 4, &run->buffers.first, false },
        { p->control, influences, 4, &run->buffers.control, false },
        { p->weight, influences, 8, &run->buffers.weight, false },
        { p->matrices, (uint64_t)p->column_count * p->control_count, 96, &run->buffers.matrices,
          false },
    };
    return CUTIS_REDUCE_MAKE(run, all);
}

typedef struct anchor_job {
    const cutis_reduce_problem *problem;
    bool laplace;
    double *diagonal, *anchor;
} anchor_job;

static void anchor_task(void *data, uint32_t index)
{
    const anchor_job *job = data;
    const cutis_reduce_mesh *mesh = job->problem->mesh;
    const double ell = job->problem->radius * mesh->extent;
    uint32_t v = index * CUTIS_REDUCE_TASK;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < mesh->vertex_count; v++) {
        job->anchor[v] = job->laplace ? 1 / mesh->area[v] : mesh->area[v] / (ell * ell);
        job->diagonal[v] = mesh->diagonal[v] + (job->laplace ? 0 : job->anchor[v]);
    }
}

cutis_result cutis_reduce_send_mesh(cutis_reduce_run *run, bool laplace)
{
    const cutis_reduce_mesh *mesh = run->problem->mesh;
    const uint64_t vertices = mesh->vertex_count, edges = mesh->first[vertices];
    anchor_job job = { .problem = run->problem, .laplace = laplace };
    job.diagonal = cutis_arena_alloc(&run->arena, vertices, sizeof *job.diagonal);
    job.anchor = cutis_arena_alloc(&run->arena, vertices, sizeof *job.anchor);
    if (!job.diagonal || !job.anchor) return cutis_alloc_result(run->problem->context);
    cutis_device_run_items(run->device, anchor_task, &job, mesh->vertex_count, CUTIS_REDUCE_TASK);
    const cutis_reduce_array all[] = {
        { mesh->first, vertices + 1, 4, &run->buffers.ring_first, false },
        { mesh->neighbour, edges, 4, &run->buffers.ring, false },
        { mesh->cotangent, edges, 8, &run->buffers.edge, false },
        { job.diagonal, vertices, 8, &run->buffers.diagonal, false },
        { job.anchor, vertices, 8, &run->buffers.anchor, false },
        { mesh->area, vertices, 8, &run->buffers.area, false },
        { NULL, vertices, 8, &run->buffers.part, false },
        { NULL, vertices, 8, &run->buffers.anchor_part, false },
    };
    return CUTIS_REDUCE_MAKE(run, all);
}

// Kernels ---------------------------------------------------------------------------------------

uint32_t cutis_reduce_items(const cutis_reduce_run *run, uint32_t blocks)
{
    return run->gpu ? blocks * REDUCE_BLOCK : blocks;
}

// A kernel for the sizes of this run, which a GPU's text has as constants.
static cutis_compute_kernel size_kernel(const cutis_reduce_run *run,
                                        const cutis_compute_kernel *kernel, uint32_t trials,
                                        char defines[DEFINES])
{
    const uint32_t set = run->problem->influences, limit = candidate_limit(run->problem);
    const uint32_t candidates = limit < CUTIS_REDUCE_CANDIDATES ? limit : CUTIS_REDUCE_CANDIDATES;
    cutis_compute_kernel sized = *kernel;
    snprintf(defines, DEFINES,
             "#define KERNEL_DOUBLE\n#define REDUCE_SET %u\n"
             "#define REDUCE_CANDIDATES %u\n#define REDUCE_LIST %u\n#define REDUCE_COLUMNS %u\n"
             "#define REDUCE_TRIALS %u\n%s",
             set, candidates, set > candidates ? set : candidates, run->problem->column_count,
             trials, kernel->lanes ? "" : "#define TEAM_ALONE\n");
    sized.defines = defines;
    return sized;
}

cutis_result cutis_reduce_compile(const cutis_reduce_run *run, const cutis_reduce_kernel *kernels,
                                  uint32_t count)
{
    char defines[CUTIS_REDUCE_COMPILED][DEFINES];
    cutis_compute_kernel sized[CUTIS_REDUCE_COMPILED];
    const cutis_compute_kernel *list[CUTIS_REDUCE_COMPILED];
    if (!run->gpu) return CUTIS_OK;
    if (count > CUTIS_REDUCE_COMPILED) return CUTIS_INVALID_ARGUMENT; // ours never have as many
    for (uint32_t i = 0; i < count; i++) {
        sized[i] = size_kernel(run, kernels[i].kernel, kernels[i].trials, defines[i]);
        list[i] = &sized[i];
    }
    return cutis_compute_prepare(run->device, list, count);
}

cutis_result cutis_reduce_launch(cutis_reduce_run *run, const cutis_compute_kernel *kernel,
                                 uint32_t trials, uint32_t count, const void *buffers,
                                 const void *arguments)
{
    char defines[DEFINES];
    const cutis_compute_kernel sized = size_kernel(run, kernel, trials, defines);
    return cutis_compute_run(run->device, &sized, count, buffers, arguments);
}

cutis_result cutis_reduce_find_targets(cutis_reduce_run *run)
{
    const uint32_t vertices = run->problem->mesh->vertex_count;
    const cutis_reduce_array target = { NULL, (uint64_t)vertices * run->problem->column_count, 24,
                                        &run->buffers.target, false };
    TRY(send_problem(run));
    TRY(cutis_reduce_make(run, &target, 1));
    return CUTIS_REDUCE_LAUNCH(reduce_target, REDUCE_TARGET_BUFFERS, vertices);
}

// Sums ------------------------------------------------------------------------------------------

cutis_result cutis_reduce_make_stretches(cutis_reduce_run *run)
{
    const cutis_reduce_blocks *blocks = &run->blocks;
    const uint32_t vertices = run->problem->mesh->vertex_count;
    const size_t most =
        blocks->count / REDUCE_TASK + blocks->colour_count + vertices / CUTIS_REDUCE_TASK + 1;
    int32_t *first = cutis_arena_alloc(&run->arena, most, sizeof *first);
    int32_t *end = cutis_arena_alloc(&run->arena, most, sizeof *end);
    run->sums = cutis_arena_alloc(&run->arena, most, sizeof *run->sums);
    if (!first || !end || !run->sums) return cutis_alloc_result(run->problem->context);
    uint32_t count = 0;
    for (uint32_t c = 0; c <= blocks->colour_count; c++) {
        const bool last = c == blocks->colour_count;
        const uint32_t step = last ? CUTIS_REDUCE_TASK : LANE_STRETCH;
        const uint32_t to = last ? vertices : blocks->colour_first[c + 1] * REDUCE_BLOCK;
        uint32_t at = last ? 0 : blocks->colour_first[c] * REDUCE_BLOCK;
        if (last) run->lane_stretches = count;
        for (; at < to; at += step, count++) {
            first[count] = (int32_t)at;
            end[count] = (int32_t)(to - at < step ? to : at + step);
        }
    }
    run->vertex_stretches = count - run->lane_stretches;
    const cutis_reduce_array all[] = { { first, count, 4, &run->buffers.stretch_first, false },
                                       { end, count, 4, &run->buffers.stretch_end, false },
                                       { run->sums, count, 8, &run->buffers.sums, true } };
    return CUTIS_REDUCE_MAKE(run, all);
}

cutis_result cutis_reduce_sum(cutis_reduce_run *run, const cutis_buffer *values, bool lanes,
                              double *sum)
{
    const uint32_t count = lanes ? run->lane_stretches : run->vertex_stretches;
    const reduce_sum_buffers buffers = { .values = values,
                                         .stretch_first = run->buffers.stretch_first,
                                         .stretch_end = run->buffers.stretch_end,
                                         .sums = run->buffers.sums };
    const reduce_sum_arguments arguments = { .first = lanes ? 0 : (int)run->lane_stretches,
                                             .block = lanes ? REDUCE_BLOCK : 1 };
    *sum = 0;
    cutis_result result =
        cutis_reduce_launch(run, &cutis_compute_reduce_sum, 0, count, &buffers, &arguments);
    if (result == CUTIS_OK && run->gpu)
        result = cutis_buffer_read(run->buffers.sums, 0, run->sums, 8 * (uint64_t)count);
    for (uint32_t i = 0; i < count && result == CUTIS_OK; i++) *sum += run->sums[i];
    return result;
}

cutis_result cutis_reduce_find_energy(cutis_reduce_run *run, bool laplace, double *energy,
                                      double *gradient)
{
    double anchors;
    TRY(CUTIS_REDUCE_LAUNCH(reduce_energy, REDUCE_ENERGY_BUFFERS, run->problem->mesh->vertex_count,
                            .laplace = laplace));
    TRY(cutis_reduce_sum(run, run->buffers.part, false, gradient));
    TRY(cutis_reduce_sum(run, run->buffers.anchor_part, false, &anchors));
    *energy = *gradient + anchors;
    return CUTIS_OK;
}

cutis_result cutis_reduce_measure(const cutis_reduce_problem *problem, cutis_reduce_energy energy,
                                  const cutis_reduce_surface *surface, const double *error,
                                  double *value, double *gradient)
{
    const bool laplace = energy == CUTIS_REDUCE_LAPLACE;
    cutis_reduce_state state = { 0 };
    cutis_reduce_run run;
    double tilts = 0, part = 0;
    *value = 0;
    cutis_result result = cutis_reduce_open(problem, false, &state, &run);
    const cutis_reduce_array errors = { error,
                                        (uint64_t)problem->column_count *
                                            problem->mesh->vertex_count,
                                        24, &run.buffers.error, false };
    if (result == CUTIS_OK) result = cutis_reduce_make(&run, &errors, 1);
    if (result == CUTIS_OK) result = cutis_reduce_send_mesh(&run, laplace);
    if (result == CUTIS_OK) result = cutis_reduce_make_stretches(&run);
    if (result == CUTIS_OK && surface) {
        result = cutis_reduce_find_targets(&run);
        if (result == CUTIS_OK) result = cutis_reduce_find_tilts(&run, surface, &tilts);
    }
    if (result == CUTIS_OK) result = cutis_reduce_find_energy(&run, laplace, value, &part);
    if (surface) *value = tilts + run.share * *value;
    if (gradient) *gradient = part;
    cutis_reduce_close(&run);
    return result;
}
