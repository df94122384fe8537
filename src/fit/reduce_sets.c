// The search for better sets: all exchanges of one kept control for one that is not, by the value
// of the vertex's own problem. Invariant: the value never rises.
#include "fit/reduce_sets.h"

#include <math.h>

#include "fit/reduce_solve.h"

// An exchange must lower the vertex's energy by this share of what is there, or rounding would
// decide.
static const double MARGIN = 1e-6;
// Exchanges at one vertex in one sweep.
enum { EXCHANGES = 4 };

static void try_set(const cutis_reduce_choice *all, const double *reference, bool negative,
                    cutis_reduce_trial *out)
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
static bool exchange(const cutis_reduce_choice *all, bool negative, double scale,
                     cutis_reduce_trial *best)
{
    double reference[CUTIS_REDUCE_CANDIDATES] = { 0 };
    bool inside[CUTIS_REDUCE_CANDIDATES] = { false }, better = false;
    cutis_reduce_trial start = *best, next;
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

static void sort_set(cutis_reduce_trial *set)
{
    for (uint32_t i = 1; i < set->count; i++)
        for (uint32_t k = i; k > 0 && set->member[k - 1] > set->member[k]; k--) {
            uint32_t member = set->member[k];
            double weight = set->weight[k];
            set->member[k] = set->member[k - 1], set->weight[k] = set->weight[k - 1];
            set->member[k - 1] = member, set->weight[k - 1] = weight;
        }
}

void cutis_reduce_find_set(const cutis_reduce_choice *all, const double *reference, bool negative,
                           double scale, cutis_reduce_trial *best)
{
    try_set(all, reference, negative, best);
    for (int n = 0; n < EXCHANGES; n++)
        if (!exchange(all, negative, fabs(scale + best->value), best)) break;
    sort_set(best);
}
