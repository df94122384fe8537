// Largest or fitted sets: decided by poses that neither has seen. The examples are dealt into two
// hands; both kinds of sets are fitted on one hand (with the automatic poses) by a few sweeps and
// judged on the other, then the other way round. Invariant: the choice depends on the problem only.
#include <string.h>

#include "fit/reduce_vertex.h"

// Sweeps of a trial: two that may exchange controls and two that may not; the order is settled by
// then.
enum { TRIAL_SWEEPS = 4 };

typedef struct judge_job {
    const cutis_reduce_problem *problem;
    const cutis_reduce_state *state;
    double *error;
} judge_job;

// Errors of a state's weights in the poses of another problem.
static void judge_task(void *data, uint32_t index)
{
    const judge_job *job = data;
    const cutis_reduce_problem *problem = job->problem;
    const cutis_reduce_state *state = job->state;
    const uint32_t count = problem->mesh->vertex_count;
    uint32_t v = index * CUTIS_REDUCE_TASK;
    for (uint32_t end = v + CUTIS_REDUCE_TASK; v < end && v < count; v++) {
        double *error = job->error + 3 * (size_t)problem->column_count * v;
        const double *p = problem->positions + 3 * (size_t)v;
        cutis_reduce_target(problem, v, error);
        for (uint32_t j = 0; j < problem->column_count; j++)
            for (int r = 0; r < 3; r++) {
                double sum = -error[3 * j + r];
                for (uint32_t i = state->first[v]; i < state->first[v + 1]; i++) {
                    const double *m = problem->matrices + 4 * r +
                                      12 * ((size_t)j * problem->control_count + state->control[i]);
                    sum += state->weight[i] * (m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3]);
                }
                error[3 * j + r] = sum;
            }
    }
}

// Fit one kind of set to `learn`, judge it by `test`.
static cutis_result try_sets(const cutis_reduce_problem *learn, const cutis_reduce_problem *test,
                             const cutis_reduce_colours *colours, cutis_reduce_energy energy,
                             bool fitted, double *value)
{
    cutis_arena arena = { .context = learn->context };
    cutis_reduce_state state;
    const uint32_t vertices = test->mesh->vertex_count;
    double *error =
        cutis_arena_alloc(&arena, vertices, 3 * (size_t)test->column_count * sizeof *error);
    const bool exchanging = fitted && learn->reselect && energy == CUTIS_REDUCE_GRADIENT;
    cutis_result result = CUTIS_OK;
    if (!error) result = cutis_alloc_result(learn->context);
    if (result == CUTIS_OK)
        result = cutis_reduce_poisson(learn, &arena, energy, colours, fitted, exchanging, &state);
    if (result == CUTIS_OK) {
        double part;
        judge_job job = { test, &state, error };
        cutis_device_run(test->device, judge_task, &job,
                         (vertices + CUTIS_REDUCE_TASK - 1) / CUTIS_REDUCE_TASK);
        cutis_reduce_measure(test, energy, error, &part);
        *value += part;
    }
    cutis_arena_release(&arena);
    return result;
}

// Deal the columns: examples of `hand` are judged by, all others learned from.
static void deal(const cutis_reduce_problem *problem, uint32_t example_count, uint32_t hand,
                 double *matrices, cutis_reduce_problem *learn, cutis_reduce_problem *test)
{
    const size_t palette = 12 * (size_t)problem->control_count;
    *learn = *test = *problem;
    learn->sweeps = TRIAL_SWEEPS;
    learn->results = NULL; // trials are not kept
    learn->column_count = test->column_count = 0;
    for (uint32_t c = 0; c < example_count; c++) test->column_count += c % 2 == hand;
    double *seen = matrices + palette * test->column_count, *unseen = matrices;
    test->matrices = unseen, learn->matrices = seen;
    for (uint32_t c = 0; c < problem->column_count; c++) {
        bool judged = c < example_count && c % 2 == hand;
        memcpy(judged ? unseen : seen, problem->matrices + palette * c, palette * sizeof *seen);
        if (judged)
            unseen += palette;
        else
            seen += palette, learn->column_count++;
    }
}

cutis_result cutis_reduce_choose(const cutis_reduce_problem *problem, uint32_t example_count,
                                 cutis_reduce_energy energy, const cutis_reduce_colours *colours,
                                 bool *fitted)
{
    double value[2] = { 0 };
    cutis_result result = CUTIS_OK;
    bool reduced = false;
    *fitted = true;
    for (uint32_t v = 0; v < problem->mesh->vertex_count && !reduced; v++)
        reduced = problem->first[v + 1] - problem->first[v] > problem->influences;
    if (example_count < 2 || !reduced)
        return CUTIS_OK; // nothing to choose, or nothing to choose by
    const size_t columns = problem->column_count,
                 palette = 12 * (size_t)problem->control_count * sizeof(double);
    double *matrices = cutis_alloc_array(problem->context, columns, palette);
    if (!matrices) return cutis_alloc_result(problem->context);
    for (uint32_t hand = 0; hand < 2; hand++) {
        cutis_reduce_problem learn, test;
        deal(problem, example_count, hand, matrices, &learn, &test);
        for (int kind = 0; kind < 2 && result == CUTIS_OK; kind++)
            result = try_sets(&learn, &test, colours, energy, kind, &value[kind]);
    }
    cutis_free_array(problem->context, matrices, columns, palette);
    *fitted = !(value[0] < value[1]);
    return result;
}
