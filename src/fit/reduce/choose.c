// Largest or fitted sets: decided by poses that neither has seen. The examples are dealt into two
// hands; both kinds of sets are fitted on one hand (with the automatic poses) by a few sweeps and
// judged on the other, then the other way round. Invariant: the choice depends on the problem only.
#include <string.h>

#include "base/error.h"
#include "fit/reduce/problem.h"

// Sweeps of a trial: two that may exchange controls and two that may not; the order is settled by
// then.
enum { TRIAL_SWEEPS = 4 };

// Fit one kind of set to `learn`, judge it by `test`.
static cutis_result try_sets(const cutis_reduce_problem *learn, const cutis_reduce_problem *test,
                             const cutis_reduce_colours *colours, cutis_reduce_energy energy,
                             bool fitted, double *value)
{
    cutis_arena arena = { .context = learn->context };
    cutis_reduce_state state;
    const cutis_reduce_plan plan = {
        .energy = energy,
        .fitted = fitted,
        .reselect = fitted && learn->reselect && energy == CUTIS_REDUCE_GRADIENT,
        .colours = colours,
    };
    double part = 0, all;
    double *error = cutis_arena_alloc(&arena, test->mesh->vertex_count,
                                      3 * (size_t)test->column_count * sizeof *error);
    cutis_result result = error ? CUTIS_OK : cutis_alloc_result(learn->context);
    if (result == CUTIS_OK) result = cutis_reduce_poisson(learn, &plan, &arena, &state);
    if (result == CUTIS_OK) result = cutis_reduce_errors(test, &state, false, error);
    if (result == CUTIS_OK) result = cutis_reduce_measure(test, energy, NULL, error, &all, &part);
    *value += part;
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

cutis_result cutis_reduce_colour(cutis_arena *arena, const cutis_reduce_mesh *mesh,
                                 cutis_reduce_colouring *made, uint32_t distance,
                                 const cutis_reduce_colours **out)
{
    cutis_reduce_colours *colours = &made->distance[distance - 1];
    *out = colours;
    return colours->first || cutis_reduce_colours_create(arena, mesh, distance, colours)
               ? CUTIS_OK
               : cutis_alloc_result(arena->context);
}

cutis_result cutis_reduce_once(const cutis_reduce_problem *problem, cutis_reduce_method method,
                               cutis_arena *arena, cutis_reduce_colouring *colouring,
                               cutis_arena *colour_arena, cutis_reduce_state *state,
                               cutis_reduce_sets *sets)
{
    const cutis_reduce_colours *colours;
    const bool geometric = method == CUTIS_REDUCE_GEOMETRIC;
    if (!geometric) *sets = CUTIS_REDUCE_SETS_LARGEST;
    if (*sets == CUTIS_REDUCE_SETS_AUTO) *sets = CUTIS_REDUCE_SETS_FITTED;
    TRY(cutis_reduce_start(problem, arena, *sets == CUTIS_REDUCE_SETS_FITTED, geometric, state));
    if (method != CUTIS_REDUCE_SMOOTH) return CUTIS_OK;
    TRY(cutis_reduce_colour(colour_arena, problem->mesh, colouring, 2, &colours));
    return cutis_reduce_smooth(problem, arena, colours, state);
}

uint32_t cutis_reduce_list_methods(cutis_reduce_method method, bool compared, bool all,
                                   cutis_reduce_method *out)
{
    static const cutis_reduce_method OTHERS[] = { CUTIS_REDUCE_KLARGEST, CUTIS_REDUCE_POISSON,
                                                  CUTIS_REDUCE_GEOMETRIC, CUTIS_REDUCE_SMOOTH };
    uint32_t count = 0;
    out[count++] = method;
    for (int m = 0; m < 4 && compared && (all || m == 0); m++)
        if (method != OTHERS[m]) out[count++] = OTHERS[m];
    return count;
}

uint32_t cutis_reduce_most(const cutis_reduce_state *state, uint32_t vertex_count)
{
    uint32_t most = 0;
    for (uint32_t v = 0; v < vertex_count; v++) {
        uint32_t count = 0;
        for (uint32_t i = state->first[v]; i < state->first[v + 1]; i++)
            count += (float)state->weight[i] != 0;
        if (count > most) most = count;
    }
    return most;
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
