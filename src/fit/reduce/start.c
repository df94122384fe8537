// The start of a reduction: which controls a vertex keeps, their offsets, and weights by k-largest
// or by the geometric fit. Invariant: a vertex that keeps all of its influences has its original
// weights and no error.
#include "base/error.h"
#include "base/os/os.h"
#include "fit/reduce/run.h"

bool cutis_reduce_state_create(const cutis_reduce_problem *problem, cutis_arena *arena,
                               cutis_reduce_state *out)
{
    const size_t vertices = problem->mesh->vertex_count;
    cutis_arena *results = problem->results ? problem->results : arena;
    *out = (cutis_reduce_state){ 0 };
    out->first = cutis_arena_alloc(results, vertices + 1, sizeof *out->first);
    if (!out->first) return false;
    uint32_t slots = 0;
    size_t values;
    for (size_t v = 0; v < vertices; v++) {
        uint32_t count = problem->first[v + 1] - problem->first[v];
        if (count > problem->influences) count = problem->influences;
        out->first[v] = slots;
        slots += count;
    }
    out->first[vertices] = slots;
    if (!cutis_size_multiply(vertices, 3 * (size_t)problem->column_count, &values)) return false;
    out->control = cutis_arena_alloc(results, slots, sizeof *out->control);
    out->weight = cutis_arena_alloc(results, slots, sizeof *out->weight);
    out->error = cutis_arena_alloc(arena, values, sizeof *out->error);
    return out->control && out->weight && out->error;
}

// Influences, targets, and buffers of the state; `given`: its sets and weights are there.
static cutis_result send_state(cutis_reduce_run *run, bool given)
{
    cutis_reduce_state *state = run->state;
    const uint64_t vertices = run->problem->mesh->vertex_count, slots = state->first[vertices];
    const uint32_t rows = 3 * run->problem->column_count;
    const cutis_reduce_array all[] = {
        { state->first, vertices + 1, 4, &run->buffers.set_first, false },
        { state->control, slots, 4, &run->buffers.set_control, !given },
        { state->weight, slots, 8, &run->buffers.set_weight, !given },
        { state->error, vertices * rows, 8, &run->buffers.error, true },
    };
    TRY(CUTIS_REDUCE_MAKE(run, all));
    return cutis_reduce_find_targets(run);
}

// Vertices with equally many candidates side by side, for lanes that choose together.
static cutis_result sort_candidates(cutis_reduce_run *run, uint32_t *items)
{
    const cutis_reduce_problem *p = run->problem;
    const uint32_t vertices = p->mesh->vertex_count, limit = (uint32_t)run->sizes.limit;
    uint32_t *first = cutis_arena_alloc(&run->arena, (size_t)vertices + 1, sizeof *first);
    cutis_reduce_blocks groups;
    if (!first) return cutis_alloc_result(p->context);
    first[0] = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        const uint32_t count = p->first[v + 1] - p->first[v];
        first[v + 1] = first[v] + (count < limit ? count : limit);
    }
    if (!cutis_reduce_blocks_create(p, NULL, first, &run->arena, &groups))
        return cutis_alloc_result(p->context);
    *items = groups.count;
    const cutis_reduce_array order = { groups.vertex, (uint64_t)groups.count * REDUCE_BLOCK, 4,
                                       &run->buffers.order, false };
    return cutis_reduce_make(run, &order, 1);
}

cutis_result cutis_reduce_choose_sets(cutis_reduce_run *run)
{
    uint32_t items = run->problem->mesh->vertex_count;
    TRY(send_state(run, false));
    if (!run->gpu) TRY(sort_candidates(run, &items));
    return CUTIS_REDUCE_LAUNCH(reduce_choose, REDUCE_CHOOSE_BUFFERS, items);
}

cutis_result cutis_reduce_lay_out(cutis_reduce_run *run, const cutis_reduce_colours *colours)
{
    cutis_reduce_blocks *blocks = &run->blocks;
    if (!cutis_reduce_blocks_create(run->problem, colours, run->state->first, &run->arena, blocks))
        return cutis_alloc_result(run->problem->context);
    const uint64_t lanes = (uint64_t)blocks->count * REDUCE_BLOCK;
    const uint64_t slots = (uint64_t)blocks->slot_first[blocks->count] * REDUCE_BLOCK;
    const uint64_t kept = (uint64_t)blocks->kept_first[blocks->count] * REDUCE_BLOCK;
    const cutis_reduce_array all[] = {
        { blocks->vertex, lanes, 4, &run->buffers.lane_vertex, false },
        { blocks->size, blocks->count, 4, &run->buffers.block_size, false },
        { blocks->slot_first, blocks->count + 1ull, 4, &run->buffers.slot_first, false },
        { blocks->kept_first, blocks->count + 1ull, 4, &run->buffers.kept_first, false },
        { NULL, slots, 8, &run->buffers.block_weight, false },
        { NULL, slots * 3 * run->problem->column_count, 4, &run->buffers.block_offset, false },
        { NULL, kept, 8, &run->buffers.block_kept, false },
        { NULL, lanes, 8, &run->buffers.block_active, false },
        { NULL, lanes, 8, &run->buffers.fall, false },
    };
    TRY(CUTIS_REDUCE_MAKE(run, all));
    return cutis_reduce_make_stretches(run);
}

cutis_result cutis_reduce_weigh(cutis_reduce_run *run, bool geometric)
{
    const uint32_t items = cutis_reduce_items(run, run->blocks.count);
    TRY(CUTIS_REDUCE_LAUNCH(reduce_load, REDUCE_LOAD_BUFFERS, items));
    return CUTIS_REDUCE_LAUNCH(reduce_weigh, REDUCE_WEIGH_BUFFERS, items, .geometric = geometric);
}

cutis_result cutis_reduce_store(cutis_reduce_run *run)
{
    const reduce_store_buffers buffers = { REDUCE_STORE_BUFFERS(CUTIS_REDUCE_PASS,
                                                                CUTIS_REDUCE_PASS) };
    return cutis_reduce_launch(run, &cutis_compute_reduce_store, 0,
                               cutis_reduce_items(run, run->blocks.count), &buffers,
                               &(reduce_store_arguments){ 0 });
}

cutis_result cutis_reduce_read_back(cutis_reduce_run *run, bool errors)
{
    cutis_reduce_state *state = run->state;
    const uint64_t vertices = run->problem->mesh->vertex_count, slots = state->first[vertices];
    TRY(cutis_reduce_store(run));
    if (!run->gpu) return CUTIS_OK; // it works in the state's own arrays
    const double start = cutis_os_seconds();
    TRY(cutis_buffer_read(run->buffers.set_control, 0, state->control, slots * 4));
    TRY(cutis_buffer_read(run->buffers.set_weight, 0, state->weight, slots * 8));
    if (errors)
        TRY(cutis_buffer_read(run->buffers.error, 0, state->error,
                              vertices * run->problem->column_count * 24));
    state->transfer_seconds += cutis_os_seconds() - start;
    return CUTIS_OK;
}

// What every start runs, and what judges it then.
static cutis_result compile_start(cutis_reduce_run *run)
{
    static const cutis_compute_kernel *const all[] = {
        &cutis_compute_reduce_target, &cutis_compute_reduce_choose, &cutis_compute_reduce_load,
        &cutis_compute_reduce_weigh,  &cutis_compute_reduce_store,  &cutis_compute_reduce_energy,
        &cutis_compute_reduce_sum,    &cutis_compute_reduce_normal, &cutis_compute_reduce_tilt,
    };
    cutis_reduce_kernel list[sizeof all / sizeof *all];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        list[i] = (cutis_reduce_kernel){ all[i], 0 };
    return cutis_reduce_compile(run, list, sizeof all / sizeof *all);
}

cutis_result cutis_reduce_start(const cutis_reduce_problem *problem, cutis_arena *arena,
                                bool fitted, bool geometric, cutis_reduce_state *out)
{
    cutis_reduce_run run;
    if (!cutis_reduce_state_create(problem, arena, out))
        return cutis_alloc_result(problem->context);
    cutis_result result = cutis_reduce_open(problem, fitted, out, &run);
    if (result == CUTIS_OK) result = compile_start(&run);
    if (result == CUTIS_OK) result = cutis_reduce_choose_sets(&run);
    if (result == CUTIS_OK) result = cutis_reduce_lay_out(&run, NULL);
    if (result == CUTIS_OK) result = cutis_reduce_weigh(&run, geometric);
    if (result == CUTIS_OK) result = cutis_reduce_read_back(&run, true);
    cutis_reduce_close(&run);
    return result;
}

cutis_result cutis_reduce_errors(const cutis_reduce_problem *problem,
                                 const cutis_reduce_state *state, bool rounded, double *error)
{
    const uint32_t vertices = problem->mesh->vertex_count;
    cutis_reduce_state given = *state;
    cutis_reduce_run own, *run = &own;
    given.error = error;
    cutis_result result = cutis_reduce_open(problem, false, &given, run);
    if (result == CUTIS_OK) result = send_state(run, true);
    if (result == CUTIS_OK)
        result =
            CUTIS_REDUCE_LAUNCH(reduce_errors, REDUCE_ERRORS_BUFFERS, vertices, .rounded = rounded);
    if (result == CUTIS_OK && run->gpu)
        result = cutis_buffer_read(run->buffers.error, 0, error,
                                   24 * (uint64_t)vertices * problem->column_count);
    cutis_reduce_close(run);
    return result;
}
