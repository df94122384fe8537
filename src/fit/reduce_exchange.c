// The search for better sets: all exchanges of one kept control for one that is not, by the value
// of the vertex's own problem. Invariant: the vertex's part of the energy never rises.
#include "fit/reduce_exchange.h"

#include <string.h>

#include "fit/reduce_sets.h"
#include "fit/reduce_vertex.h"

static void gather_choice(const cutis_reduce_problem *problem, uint32_t v, const double *target,
                          const double *wish, cutis_reduce_choice *out, uint32_t *list)
{
    enum { POSES = 8 };
    float offset[CUTIS_REDUCE_CANDIDATES * 3 * POSES];
    const uint32_t n = out->count;
    memset(out->gram, 0, (size_t)n * n * sizeof *out->gram);
    memset(out->right, 0, n * sizeof *out->right);
    for (uint32_t begin = 0; begin < problem->column_count; begin += POSES) {
        cutis_reduce_problem some = *problem;
        some.matrices += 12 * (size_t)begin * problem->control_count;
        some.column_count = problem->column_count - begin;
        if (some.column_count > POSES) some.column_count = POSES;
        uint32_t rows = 3 * some.column_count;
        for (uint32_t i = 0; i < n; i++) {
            out->control[i] = problem->control[list[i]];
            cutis_reduce_offset(&some, v, out->control[i], target + 3 * (size_t)begin,
                                offset + (size_t)i * rows);
            out->right[i] +=
                cutis_reduce_dot(rows, offset + (size_t)i * rows, wish + 3 * (size_t)begin);
        }
        cutis_reduce_gram(n, rows, offset, out->gram);
    }
}

// Keep a new set: controls, offsets and weights of the vertex's lane to match.
static void adopt(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                  const cutis_reduce_blocks *blocks, uint32_t v, const cutis_reduce_choice *all,
                  const cutis_reduce_trial *set, const double *target)
{
    enum { LANES = CUTIS_REDUCE_LANES };
    const uint32_t begin = state->first[v], n = set->count, rows = 3 * problem->column_count;
    const uint32_t place = blocks->place[v];
    const size_t slot = (size_t)blocks->slot_first[place / LANES] * LANES;
    float *offset = blocks->offset + slot * rows + place % LANES;
    double *weight = blocks->weight + slot + place % LANES;
    blocks->active[place] = 0; // another set, another inverse
    for (uint32_t i = 0; i < n; i++) {
        float *own = state->offset + (size_t)(begin + i) * rows;
        state->control[begin + i] = all->control[set->member[i]];
        weight[i * LANES] = set->weight[i];
        cutis_reduce_offset(problem, v, state->control[begin + i], target, own);
        for (size_t r = 0; r < rows; r++) offset[((size_t)i * rows + r) * LANES] = own[r];
    }
}

bool cutis_reduce_may_exchange(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                               uint32_t v)
{
    const uint32_t count = state->first[v + 1] - state->first[v];
    const uint32_t had = problem->first[v + 1] - problem->first[v];
    const uint32_t limit = cutis_reduce_candidate_limit(problem);
    const uint32_t outside = (had < limit ? had : limit) - count;
    return outside > 0 && count * outside <= CUTIS_REDUCE_TRIALS;
}

static double square_distance(const double *a, const double *b, uint32_t rows)
{
    double sum = 0;
    for (uint32_t r = 0; r < rows; r++) sum += (a[r] - b[r]) * (a[r] - b[r]);
    return sum;
}

double cutis_reduce_exchange(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                             const cutis_reduce_blocks *blocks, uint32_t v, const double *wish,
                             double *target)
{
    cutis_reduce_choice all;
    cutis_reduce_trial best = { .count = state->first[v + 1] - state->first[v] };
    const uint32_t rows = 3 * problem->column_count, place = blocks->place[v];
    const size_t slot = (size_t)blocks->slot_first[place / CUTIS_REDUCE_LANES] * CUTIS_REDUCE_LANES;
    const double *weight = blocks->weight + slot + place % CUTIS_REDUCE_LANES;
    double *own = state->error + (size_t)v * rows;
    double reference[CUTIS_REDUCE_CANDIDATES] = { 0 }, scale = 0;
    uint32_t list[CUTIS_REDUCE_SET];
    all.count = cutis_reduce_largest(problem, v, cutis_reduce_candidate_limit(problem), list);
    cutis_reduce_target(problem, v, target);
    gather_choice(problem, v, target, wish, &all, list);
    for (uint32_t r = 0; r < best.count; r++)
        for (uint32_t i = 0; i < all.count; i++)
            if (problem->control[list[i]] == state->control[state->first[v] + r]) {
                best.member[r] = i;
                reference[i] = weight[r * CUTIS_REDUCE_LANES];
            }
    for (uint32_t r = 0; r < rows; r++) scale += wish[r] * wish[r];
    cutis_reduce_find_set(&all, reference, problem->negative, scale, &best);
    const double before = square_distance(own, wish, rows);
    adopt(problem, state, blocks, v, &all, &best, target);
    cutis_reduce_blend(best.count, rows, state->offset + (size_t)state->first[v] * rows,
                       best.weight, own);
    return before - square_distance(own, wish, rows);
}
