// Sweeps on the turns of normals on a GPU, after those of the gradient energy: the same buffers,
// blocks of other colours. Invariant: kernels are launched in the order in which the CPU works, and
// sums run by the CPU's tasks, so both have the same bits.
#include "base/error.h"
#include "base/os/os.h"
#include "fit/reduce_device_run.h"
#include "fit/reduce_vertex.h"

#define TURN_ARGUMENTS(run)                                                                        \
    CUTIS_BUFFER_ARGUMENT((run)->record), CUTIS_BUFFER_ARGUMENT((run)->fan_first),                 \
        CUTIS_BUFFER_ARGUMENT((run)->fan)

// Fans up, records made there.
static cutis_result upload_turns(cutis_reduce_device *run, cutis_reduce_turns *turns)
{
    const cutis_reduce_problem *p = run->problem;
    const cutis_reduce_surface *surface = run->schedule->surface;
    const uint64_t vertices = p->mesh->vertex_count, columns = p->column_count;
    if (!cutis_reduce_turns_fans(p, surface, &run->arena, turns))
        return cutis_alloc_result(p->context);
    const uint64_t corners = turns->fan_first[vertices];
    cutis_result result =
        cutis_reduce_device_upload(run, turns->fan_first, vertices + 1, 4, &run->fan_first);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_upload(run, turns->fan, 2 * corners, 4, &run->fan);
    if (result == CUTIS_OK)
        result =
            cutis_reduce_device_upload(run, turns->column_weights, columns, 8, &run->pose_weights);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_upload(run, p->mesh->area, vertices, 8, &run->area);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_make(run, 8 * columns * vertices, 8, &run->record);
    return result;
}

// Normals and turns of the errors. @param energy theirs and the gradient's share
static cutis_result start_turns(cutis_reduce_device *run, double share, double *energy)
{
    const cutis_reduce_problem *p = run->problem;
    const uint32_t vertices = p->mesh->vertex_count;
    const cutis_compute_argument places[] = { PROBLEM_ARGUMENTS(run, 0),
                                              CUTIS_BUFFER_ARGUMENT(run->record) };
    const cutis_compute_argument normal[] = { TURN_ARGUMENTS(run),
                                              CUTIS_BUFFER_ARGUMENT(run->pose_weights),
                                              CUTIS_BUFFER_ARGUMENT(run->area),
                                              CUTIS_INT_ARGUMENT(p->column_count) };
    const cutis_compute_argument turn[] = { TURN_ARGUMENTS(run), CUTIS_BUFFER_ARGUMENT(run->error),
                                            CUTIS_INT_ARGUMENT(p->column_count),
                                            CUTIS_BUFFER_ARGUMENT(run->edges) };
    double turns = 0, plain = 0, gradient;
    cutis_result result =
        cutis_reduce_device_launch(run, &cutis_compute_reduce_places, vertices, places);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_launch(run, &cutis_compute_reduce_normal, vertices, normal);
    if (result == CUTIS_OK)
        result = cutis_reduce_device_launch(run, &cutis_compute_reduce_turn, vertices, turn);
    if (result == CUTIS_OK) result = cutis_reduce_device_sum(run, run->edges, false, &turns);
    if (result == CUTIS_OK) result = cutis_reduce_device_measure(run, &plain, &gradient);
    *energy = turns + share * plain;
    return result;
}

// Blocks of the far colours with offsets, metric and what they keep.
static cutis_result make_systems(cutis_reduce_device *run, double share)
{
    const cutis_reduce_problem *p = run->problem;
    cutis_result result = cutis_reduce_device_store(run);
    run->colours = run->schedule->far;
    if (result == CUTIS_OK &&
        !cutis_reduce_blocks_create(p, run->colours, run->state->first, &run->arena, &run->blocks))
        result = cutis_alloc_result(p->context);
    if (result == CUTIS_OK) result = cutis_reduce_device_blocks(run);
    const uint64_t lanes = (uint64_t)run->blocks.count * CUTIS_REDUCE_LANES;
    if (result == CUTIS_OK)
        result =
            cutis_reduce_device_make(run, 6 * (uint64_t)p->column_count * lanes, 8, &run->metric);
    const cutis_compute_argument a[] = { MESH_ARGUMENTS(run),
                                         CUTIS_BUFFER_ARGUMENT(run->positions),
                                         CUTIS_BUFFER_ARGUMENT(run->matrices),
                                         CUTIS_INT_ARGUMENT(p->column_count),
                                         CUTIS_INT_ARGUMENT(p->control_count),
                                         CUTIS_INT_ARGUMENT(p->negative),
                                         BLOCK_ARGUMENTS(run),
                                         CUTIS_BUFFER_ARGUMENT(run->metric),
                                         TURN_ARGUMENTS(run),
                                         CUTIS_DOUBLE_ARGUMENT(share),
                                         CUTIS_BUFFER_ARGUMENT(run->set_first),
                                         CUTIS_BUFFER_ARGUMENT(run->set_control),
                                         CUTIS_BUFFER_ARGUMENT(run->set_weight) };
    return result == CUTIS_OK
               ? cutis_reduce_device_launch(run, &cutis_compute_reduce_system, (uint32_t)lanes, a)
               : result;
}

static cutis_result sweep_colour(cutis_reduce_device *run, double share, uint32_t colour,
                                 bool exchange)
{
    const cutis_reduce_problem *p = run->problem;
    const uint32_t *first = run->blocks.colour_first;
    const uint32_t at = first[colour] * CUTIS_REDUCE_LANES;
    const uint32_t count = first[colour + 1] * CUTIS_REDUCE_LANES - at;
    if (exchange) {
        const cutis_compute_argument a[] = { MESH_ARGUMENTS(run),
                                             PROBLEM_ARGUMENTS(run,
                                                               cutis_reduce_candidate_limit(p)),
                                             BLOCK_ARGUMENTS(run),
                                             CUTIS_BUFFER_ARGUMENT(run->metric),
                                             TURN_ARGUMENTS(run),
                                             CUTIS_DOUBLE_ARGUMENT(share),
                                             CUTIS_BUFFER_ARGUMENT(run->set_first),
                                             CUTIS_BUFFER_ARGUMENT(run->set_control),
                                             CUTIS_BUFFER_ARGUMENT(run->error),
                                             CUTIS_INT_ARGUMENT(run->schedule->trials),
                                             CUTIS_INT_ARGUMENT(at),
                                             CUTIS_BUFFER_ARGUMENT(run->fall) };
        return cutis_reduce_device_launch(run, &cutis_compute_reduce_turned_exchanging, count, a);
    }
    const cutis_compute_argument a[] = { MESH_ARGUMENTS(run),
                                         BLOCK_ARGUMENTS(run),
                                         CUTIS_BUFFER_ARGUMENT(run->metric),
                                         TURN_ARGUMENTS(run),
                                         CUTIS_DOUBLE_ARGUMENT(share),
                                         CUTIS_BUFFER_ARGUMENT(run->error),
                                         CUTIS_INT_ARGUMENT(p->column_count),
                                         CUTIS_INT_ARGUMENT(p->negative),
                                         CUTIS_INT_ARGUMENT(at),
                                         CUTIS_BUFFER_ARGUMENT(run->fall) };
    return cutis_reduce_device_launch(run, &cutis_compute_reduce_turned, count, a);
}

static cutis_result sweep_all(cutis_reduce_device *run, double share)
{
    cutis_reduce_state *state = run->state;
    const cutis_reduce_schedule *schedule = run->schedule;
    const bool exchanges = schedule->reselecting && cutis_reduce_device_exchanges(run);
    for (uint32_t s = 0; s < schedule->far_limit; s++) {
        cutis_result result = cutis_progress(run->problem->context, "fitting normals",
                                             (double)s / schedule->far_limit);
        const bool early = s < schedule->reselecting;
        double fall = 0;
        for (uint32_t c = 0; c < run->colours->count && result == CUTIS_OK; c++)
            result = sweep_colour(run, share, c, early && exchanges);
        if (result == CUTIS_OK) result = cutis_reduce_device_sum(run, run->fall, true, &fall);
        if (result != CUTIS_OK) return result;
        state->curve[s + 1] = state->curve[s] - fall;
        state->sweep_count = s + 1;
        if (state->curve[s] <= 0 || (fall < schedule->stop * state->curve[s] && !early)) break;
    }
    return CUTIS_OK;
}

cutis_result cutis_reduce_device_normals(cutis_reduce_device *run)
{
    cutis_reduce_state *state = run->state;
    cutis_reduce_turns turns = { 0 };
    state->sweep_count = 0;
    const double start = cutis_os_seconds();
    cutis_result result = upload_turns(run, &turns);
    state->transfer_seconds += cutis_os_seconds() - start;
    if (result == CUTIS_OK) result = start_turns(run, turns.gradient, &state->curve[0]);
    if (result == CUTIS_OK) result = make_systems(run, turns.gradient);
    const double sweeping = cutis_os_seconds();
    if (result == CUTIS_OK) result = sweep_all(run, turns.gradient);
    state->sweep_seconds += cutis_os_seconds() - sweeping;
    state->energy = state->curve[state->sweep_count];
    return result;
}
