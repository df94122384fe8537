// The search for better sets: all exchanges of one kept control for one that is not, by the value
// of the vertex's own problem. Invariant: the vertex's part of the energy never rises.
#include "fit/reduce_exchange.h"

#include <string.h>

#include "fit/reduce_vertex.h"

// An exchange must lower the vertex's energy by this share of what is there, or rounding would
// decide.
static const double MARGIN = 1e-6;
// Exchanges at one vertex in one sweep.
enum { EXCHANGES = 4 };

// A set being tried for a vertex: indices into its candidates.
typedef struct trial {
    uint32_t count, member[CUTIS_REDUCE_SET];
    double weight[CUTIS_REDUCE_SET];
    double value; ///< a^T G a - 2 h^T a
} trial;

// The candidates of one vertex with their Gram matrix; too large for arrays on the stack when there
// are many poses.
typedef struct choice {
    uint32_t count, control[CUTIS_REDUCE_CANDIDATES];
    double gram[CUTIS_REDUCE_CANDIDATES * CUTIS_REDUCE_CANDIDATES], right[CUTIS_REDUCE_CANDIDATES];
} choice;

static void try_set(const choice *all, const double *reference, bool negative, trial *out)
{
    cutis_reduce_local local;
    double pull[CUTIS_REDUCE_SET];
    uint32_t n = local.count = out->count;
    if (n == 0) return; // never: sets have at least two members here
    for (uint32_t r = 0; r < n; r++) {
        pull[r] = local.weight[r] = reference[out->member[r]];
        local.right[r] = all->right[out->member[r]];
        for (uint32_t c = 0; c < n; c++)
            local.gram[r * n + c] = all->gram[out->member[r] * all->count + out->member[c]];
    }
    // What left the set goes to its largest member, so that the start is feasible.
    double sum = 0;
    uint32_t largest = 0;
    for (uint32_t r = 0; r < n; r++) {
        sum += local.weight[r];
        if (local.weight[r] > local.weight[largest]) largest = r;
    }
    local.weight[largest] += 1 - sum;
    cutis_reduce_regularise(&local, CUTIS_REDUCE_PROXIMAL, pull);
    cutis_reduce_solve(&local, negative);
    out->value = 0;
    for (uint32_t r = 0; r < n; r++) {
        double row = -2 * all->right[out->member[r]];
        for (uint32_t c = 0; c < n; c++)
            row += all->gram[out->member[r] * all->count + out->member[c]] * local.weight[c];
        out->value += local.weight[r] * row;
        out->weight[r] = local.weight[r];
    }
}

// All exchanges of one member for one outsider; the best, if it is better than `best`.
static bool exchange(const choice *all, bool negative, double scale, trial *best)
{
    double reference[CUTIS_REDUCE_CANDIDATES] = { 0 };
    bool inside[CUTIS_REDUCE_CANDIDATES] = { false }, better = false;
    trial start = *best, next;
    for (uint32_t r = 0; r < start.count; r++) {
        inside[start.member[r]] = true;
        reference[start.member[r]] = start.weight[r];
    }
    for (uint32_t j = 0; j < all->count; j++) {
        if (inside[j]) continue;
        for (uint32_t r = 0; r < start.count; r++) {
            next = start;
            next.member[r] = j;
            try_set(all, reference, negative, &next);
            if (next.value < best->value - MARGIN * scale) *best = next, better = true;
        }
    }
    return better;
}

static void gather_choice(const cutis_reduce_problem *problem, uint32_t v, const double *target,
                          const double *wish, choice *out, uint32_t *list)
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

// Keep a new set: controls ascending, offsets and weights of the vertex's lane to match.
static void adopt(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                  const cutis_reduce_blocks *blocks, uint32_t v, const choice *all, trial *set,
                  const double *target)
{
    enum { LANES = CUTIS_REDUCE_LANES };
    const uint32_t begin = state->first[v], n = set->count, rows = 3 * problem->column_count;
    const uint32_t place = blocks->place[v];
    const size_t slot = (size_t)blocks->slot_first[place / LANES] * LANES;
    float *offset = blocks->offset + slot * rows + place % LANES;
    double *weight = blocks->weight + slot + place % LANES;
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && set->member[k - 1] > set->member[k]; k--) {
            uint32_t member = set->member[k];
            double moved = set->weight[k];
            set->member[k] = set->member[k - 1], set->weight[k] = set->weight[k - 1];
            set->member[k - 1] = member, set->weight[k - 1] = moved;
        }
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
    choice all;
    trial best = { .count = state->first[v + 1] - state->first[v] };
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
            if (all.control[i] == state->control[state->first[v] + r]) {
                best.member[r] = i;
                reference[i] = weight[r * CUTIS_REDUCE_LANES];
            }
    for (uint32_t r = 0; r < rows; r++) scale += wish[r] * wish[r];
    try_set(&all, reference, problem->negative, &best);
    for (int n = 0; n < EXCHANGES; n++)
        if (!exchange(&all, problem->negative, scale + best.value, &best)) break;
    const double before = square_distance(own, wish, rows);
    adopt(problem, state, blocks, v, &all, &best, target);
    cutis_reduce_blend(best.count, rows, state->offset + (size_t)state->first[v] * rows,
                       best.weight, own);
    return before - square_distance(own, wish, rows);
}
