// Weights on the form: the problem of one vertex, and sweeps. A vertex reads its surroundings and
// writes its own weights; what it pulls at is read from the form, never kept. Invariant: every
// update lowers the form's value or leaves it.
#include <math.h>
#include <string.h>

#include "fit/reduce/moments.h"

#define REDUCE_SET CUTIS_MOMENTS_WIDE
#include "kernel/reduce_solve.h"

// Towards the current weights, in mean diagonals: decides what the form leaves open.
static const double PROXIMAL = 1e-6;
// A change of weights that makes the surroundings worth another look.
static const double NOTICED = 1e-5;
// Subsets that are all tried; with more, swaps.
static const double SUBSETS = 300;
enum { WIDE = CUTIS_MOMENTS_WIDE, SET = CUTIS_MOMENTS_SET, SWAPS = 3, ROUNDS = 4 };

// All subsets ------------------------------------------------------------------------------------

// The weights of a subset are those of its first member and differences to the others: no
// constraint is left but the signs. Subsets grow by one member at a time, and their factors with
// them.
typedef struct subsets {
    uint32_t n, most, base;
    const double *gram, *right;
    double difference[WIDE][WIDE]; ///< the form of differences to the base, from it on
    double factor[SET][SET], inverse[SET], half[SET]; ///< of members after the first
    uint8_t member[SET];
    double best;
    uint32_t best_count;
    uint8_t best_member[SET];
    double best_weight[SET];
} subsets;

static void set_base(subsets *s, uint32_t base)
{
    const double *g = s->gram;
    const uint32_t n = s->n;
    s->base = base;
    for (uint32_t i = base + 1; i < n; i++)
        for (uint32_t j = base + 1; j <= i; j++)
            s->difference[i][j] =
                g[i * n + j] - g[i * n + base] - g[base * n + j] + g[base * n + base];
}

// Weights of the subset that ends at `depth`; kept if none is negative.
static void keep(subsets *s, uint32_t depth, double energy)
{
    double weight[SET], rest = 1;
    for (uint32_t k = depth + 1; k-- > 0;) {
        double sum = s->half[k] * s->inverse[k];
        for (uint32_t i = k + 1; i <= depth; i++) sum -= s->factor[i][k] * weight[i];
        if (!(sum > 0)) return;
        weight[k] = sum;
        rest -= sum;
    }
    if (!(rest > 0)) return;
    s->best = energy;
    s->best_count = depth + 2;
    s->best_member[0] = (uint8_t)s->base;
    s->best_weight[0] = rest;
    memcpy(s->best_member + 1, s->member, depth + 1);
    memcpy(s->best_weight + 1, weight, (depth + 1) * sizeof *weight);
}

static void grow(subsets *s, uint32_t depth, uint32_t from, double energy)
{
    const uint32_t n = s->n, b = s->base;
    for (uint32_t j = from; j < n; j++) {
        const double own = s->difference[j][j];
        double pivot = own,
               half = s->right[j] - s->right[b] - s->gram[j * n + b] + s->gram[b * n + b];
        double across[SET], *row = s->factor[depth];
        for (uint32_t k = 0; k < depth; k++) {
            double sum = s->difference[j][s->member[k]];
            for (uint32_t i = 0; i < k; i++) sum -= across[i] * s->factor[k][i];
            across[k] = sum;
            row[k] = sum * s->inverse[k];
            pivot -= sum * row[k];
            half -= row[k] * s->half[k];
        }
        if (!(pivot > 1e-12 * own)) continue; // it adds nothing that the others have not
        s->member[depth] = (uint8_t)j;
        s->inverse[depth] = 1 / pivot;
        s->half[depth] = half;
        const double lower = energy - half * half * s->inverse[depth];
        if (lower < s->best) keep(s, depth, lower);
        if (depth + 2 < s->most) grow(s, depth + 1, j + 1, lower);
    }
}

static void try_all(subsets *s)
{
    for (uint32_t base = 0; base < s->n; base++) {
        set_base(s, base);
        const double energy = s->gram[s->base * s->n + s->base] - 2 * s->right[s->base];
        if (energy < s->best) {
            s->best = energy;
            s->best_count = 1;
            s->best_member[0] = (uint8_t)s->base;
            s->best_weight[0] = 1;
        }
        if (s->most > 1) grow(s, 0, s->base + 1, energy);
    }
}

// One subset, and swaps --------------------------------------------------------------------------

// @return a^T G a - 2 h^T a
static double solve_set(uint32_t n, const double *gram, const double *right, uint32_t count,
                        const uint8_t *index, double *weight)
{
    double g[WIDE * WIDE], h[WIDE], energy = 0;
    for (uint32_t r = 0; r < count; r++) {
        h[r] = right[index[r]];
        for (uint32_t c = 0; c < count; c++) g[r * count + c] = gram[index[r] * n + index[c]];
    }
    reduce_solve((int)count, g, h, weight, 0);
    for (uint32_t r = 0; r < count; r++) {
        double sum = -2 * h[r];
        for (uint32_t c = 0; c < count; c++) sum += g[r * count + c] * weight[c];
        energy += weight[r] * sum;
    }
    return energy;
}

// The members with the least weight, and the candidates outside that would gain most: SWAPS of
// each.
static void rank_swaps(uint32_t n, const double *gram, const double *right, uint32_t count,
                       const uint8_t *index, const double *weight, int *leave, int *enter)
{
    bool inside[WIDE] = { false };
    for (uint32_t r = 0; r < count; r++) inside[index[r]] = true;
    for (int k = 0; k < SWAPS; k++) {
        double least = INFINITY, lowest = INFINITY;
        leave[k] = enter[k] = -1;
        for (uint32_t r = 0; r < count; r++) {
            bool taken = false;
            for (int i = 0; i < k; i++) taken |= leave[i] == (int)r;
            if (!taken && weight[r] < least) least = weight[r], leave[k] = (int)r;
        }
        for (uint32_t j = 0; j < n; j++) {
            double slope = -right[j];
            bool taken = inside[j];
            for (int i = 0; i < k; i++) taken |= enter[i] == (int)j;
            for (uint32_t r = 0; r < count; r++) slope += gram[j * n + index[r]] * weight[r];
            if (!taken && slope < lowest) lowest = slope, enter[k] = (int)j;
        }
    }
}

static void try_swaps(uint32_t n, const double *gram, const double *right, uint32_t most,
                      uint8_t *count, uint8_t *index, double *weight)
{
    bool inside[WIDE] = { false };
    for (uint32_t r = 0; r < *count; r++) inside[index[r]] = true;
    for (uint32_t j = 0; j < n && *count < most; j++)
        if (!inside[j]) weight[*count] = 0, index[(*count)++] = (uint8_t)j;
    double best = solve_set(n, gram, right, *count, index, weight);
    for (int round = 0; round < ROUNDS; round++) {
        int leave[SWAPS], enter[SWAPS], from = -1, to = -1;
        rank_swaps(n, gram, right, *count, index, weight, leave, enter);
        for (int a = 0; a < SWAPS; a++)
            for (int b = 0; b < SWAPS; b++) {
                uint8_t trial[SET];
                double w[SET];
                if (leave[a] < 0 || enter[b] < 0) continue;
                memcpy(trial, index, *count);
                memcpy(w, weight, *count * sizeof *w);
                trial[leave[a]] = (uint8_t)enter[b];
                const double energy = solve_set(n, gram, right, *count, trial, w);
                if (energy < best) best = energy, from = leave[a], to = enter[b];
            }
        if (from < 0) return;
        index[from] = (uint8_t)to;
        best = solve_set(n, gram, right, *count, index, weight);
    }
}

// How many subsets of at most k of n there are, up to SUBSETS.
static bool are_few(uint32_t n, uint32_t k)
{
    double sum = 0, term = 1;
    for (uint32_t i = 1; i <= k && i <= n && sum <= SUBSETS; i++) {
        term = term * (n - i + 1) / i;
        sum += term;
    }
    return sum <= SUBSETS;
}

void cutis_moments_local(uint32_t n, const double *gram, const double *right, uint32_t most,
                         uint8_t *count, uint8_t *index, double *weight)
{
    if (most > n) most = n;
    if (!are_few(n, most)) {
        try_swaps(n, gram, right, most, count, index, weight);
        return;
    }
    subsets s;
    s.n = n, s.most = most, s.gram = gram, s.right = right;
    s.best = INFINITY, s.best_count = 0;
    try_all(&s);
    if (s.best_count == 0) return; // nothing is finite
    *count = (uint8_t)s.best_count;
    memcpy(index, s.best_member, s.best_count);
    memcpy(weight, s.best_weight, s.best_count * sizeof *weight);
}

// A vertex among others --------------------------------------------------------------------------

static uint32_t slots(const cutis_moments *m, uint32_t f)
{
    return m->slot_first[f + 1] - m->slot_first[f];
}

// The form is larger than caches: rows of the block after the next are asked for ahead of time.
enum { AHEAD = 2 };
static void ask_for(const cutis_moments_work *w, size_t b, uint32_t n)
{
    const cutis_moments *m = w->m;
    const uint32_t g = m->near[b];
    const double *block = m->value + m->entry[b];
    const uint8_t *index = w->state->index + (size_t)g * m->influences;
    for (uint32_t k = 0; k < w->state->count[g]; k++)
        __builtin_prefetch(block + (size_t)index[k] * n);
}

// Few candidates: their sums stay in registers. Rows are read beyond their ends, into the next ones
// (CUTIS_MOMENTS_BEYOND), and what comes of that is dropped.
static const double *pull_few(const cutis_moments_work *w, uint32_t f, double *restrict out)
{
    const cutis_moments *m = w->m;
    const uint32_t n = slots(m, f), most = m->influences;
    const size_t end = m->near_first[f + 1];
    const double *diagonal = NULL;
    double sum[CUTIS_MOMENTS_BEYOND] = { 0 };
    for (size_t b = m->near_first[f]; b < end; b++) {
        const uint32_t g = m->near[b];
        const double *block = m->value + m->entry[b];
        if (b + AHEAD < end) ask_for(w, b + AHEAD, n);
        if (g == f) {
            diagonal = block;
            continue;
        }
        const uint8_t *index = w->state->index + (size_t)g * most;
        const double *weight = w->state->weight + (size_t)g * most;
        for (uint32_t k = 0; k < w->state->count[g]; k++) {
            const double a = weight[k], *row = block + (size_t)index[k] * n;
            for (int i = 0; i < CUTIS_MOMENTS_BEYOND; i++) sum[i] += a * row[i];
        }
    }
    memcpy(out, sum, n * sizeof *sum);
    return diagonal;
}

// What the others' errors make of the vertex's weights: the sum of H_fg a_g.
static const double *pull(const cutis_moments_work *w, uint32_t f, double *restrict out)
{
    const cutis_moments *m = w->m;
    const uint32_t n = slots(m, f), most = m->influences;
    const size_t end = m->near_first[f + 1];
    const double *diagonal = NULL;
    if (n <= CUTIS_MOMENTS_BEYOND) return pull_few(w, f, out);
    for (uint32_t i = 0; i < n; i++) out[i] = 0;
    for (size_t b = m->near_first[f]; b < end; b++) {
        const uint32_t g = m->near[b];
        const double *restrict block = m->value + m->entry[b];
        if (b + AHEAD < end) ask_for(w, b + AHEAD, n);
        if (g == f) {
            diagonal = block;
            continue;
        }
        const uint8_t *index = w->state->index + (size_t)g * most;
        const double *weight = w->state->weight + (size_t)g * most;
        for (uint32_t k = 0; k < w->state->count[g]; k++) {
            const double a = weight[k], *restrict row = block + (size_t)index[k] * n;
            for (uint32_t i = 0; i < n; i++) out[i] += a * row[i];
        }
    }
    return diagonal;
}

// a^T H a + 2 a^T r of a sparse a.
static double value_of(const double *gram, const double *force, uint32_t n, uint32_t count,
                       const uint8_t *index, const double *weight)
{
    double sum = 0;
    for (uint32_t r = 0; r < count; r++) {
        double part = 2 * force[index[r]];
        for (uint32_t c = 0; c < count; c++) part += gram[index[r] * n + index[c]] * weight[c];
        sum += weight[r] * part;
    }
    return sum;
}

// The vertex's own part of the form, and what pulls at it.
static uint32_t load_vertex(const cutis_moments_work *w, uint32_t f, double *gram, double *force)
{
    const uint32_t n = slots(w->m, f);
    const double *diagonal = pull(w, f, force), *place = w->m->place + w->m->place_first[f];
    for (uint32_t i = 0; i < n * n; i++) gram[i] = diagonal[i] + w->places * place[i];
    for (uint32_t i = 0; i < n && w->m->linear; i++)
        force[i] -= w->m->linear[w->m->slot_first[f] + i];
    return n;
}

uint32_t cutis_moments_load(const cutis_moments_work *w, uint32_t f, double *gram, double *force)
{
    return load_vertex(w, f, gram, force);
}

static void notice(cutis_moments_work *w, uint32_t f)
{
    for (size_t b = w->m->near_first[f]; b < w->m->near_first[f + 1]; b++)
        w->dirty[w->m->near[b]] = 1;
}

double cutis_moments_update(cutis_moments_work *w, uint32_t f, bool select)
{
    const uint32_t most = w->m->influences;
    uint8_t *own_index = w->state->index + (size_t)f * most, count = w->state->count[f], index[SET];
    double *own = w->state->weight + (size_t)f * most, weight[SET];
    double gram[WIDE * WIDE], force[WIDE], right[WIDE], old[WIDE] = { 0 }, trace = 0, change = 0;
    const uint32_t n = load_vertex(w, f, gram, force);
    const double before = value_of(gram, force, n, count, own_index, own);
    for (uint32_t i = 0; i < n; i++) trace += gram[i * n + i];
    w->dirty[f] = 0;
    if (!(trace > 0)) return 0;
    const uint32_t kept = cutis_moments_most(w->m, f);
    if (kept == 0) return 0;
    const double pull_back = PROXIMAL * trace / n;
    for (uint32_t r = 0; r < count; r++) old[own_index[r]] = own[r];
    for (uint32_t i = 0; i < n; i++) right[i] = pull_back * old[i] - force[i];
    memcpy(index, own_index, count);
    memcpy(weight, own, count * sizeof *weight);
    for (uint32_t i = 0; i < n; i++) gram[i * n + i] += pull_back;
    if (select)
        cutis_moments_local(n, gram, right, kept, &count, index, weight);
    else
        solve_set(n, gram, right, count, index, weight);
    for (uint32_t i = 0; i < n; i++) gram[i * n + i] -= pull_back;
    const double fall = before - value_of(gram, force, n, count, index, weight);
    if (!(fall > 0)) return 0;
    for (uint32_t r = 0; r < count; r++) old[index[r]] -= weight[r];
    for (uint32_t i = 0; i < n; i++) change = fmax(change, fabs(old[i]));
    w->state->count[f] = count;
    memcpy(own_index, index, count);
    memcpy(own, weight, count * sizeof *weight);
    if (change > NOTICED) {
        notice(w, f);
        w->dirty[f] = 0;
    }
    return fall;
}

double cutis_moments_replace(cutis_moments_work *w, uint32_t f, const cutis_moments_state *from)
{
    const uint32_t most = w->m->influences;
    double gram[WIDE * WIDE], force[WIDE];
    const uint32_t n = load_vertex(w, f, gram, force);
    const double before =
        value_of(gram, force, n, w->state->count[f], w->state->index + (size_t)f * most,
                 w->state->weight + (size_t)f * most);
    cutis_moments_copy(w->m, from, f, w->state);
    notice(w, f);
    return value_of(gram, force, n, w->state->count[f], w->state->index + (size_t)f * most,
                    w->state->weight + (size_t)f * most) -
           before;
}

double cutis_moments_sweep(cutis_moments_work *w, bool select)
{
    double fall = 0;
    for (uint32_t f = 0; f < w->m->free_count; f++)
        if (w->dirty[f]) fall += cutis_moments_update(w, f, select);
    w->state->energy -= fall;
    return fall;
}

// States -----------------------------------------------------------------------------------------

bool cutis_moments_state_create(const cutis_moments *m, cutis_arena *arena,
                                cutis_moments_state *out)
{
    const size_t places = (size_t)m->free_count * m->influences;
    out->energy = -1;
    out->count = cutis_arena_zero(arena, m->free_count, sizeof *out->count);
    out->index = cutis_arena_zero(arena, places, sizeof *out->index);
    out->weight = cutis_arena_zero(arena, places, sizeof *out->weight);
    return out->count && out->index && out->weight;
}

void cutis_moments_copy(const cutis_moments *m, const cutis_moments_state *from, uint32_t free,
                        cutis_moments_state *to)
{
    const size_t at = (size_t)free * m->influences;
    to->count[free] = from->count[free];
    memcpy(to->index + at, from->index + at, from->count[free]);
    memcpy(to->weight + at, from->weight + at, from->count[free] * sizeof *to->weight);
}

void cutis_moments_pick(const cutis_moments *m, const double *keys, cutis_moments_state *out)
{
    for (uint32_t f = 0; f < m->free_count; f++) {
        const uint32_t n = slots(m, f), begin = m->slot_first[f], unit = m->free_unit[f];
        const size_t at = (size_t)f * m->influences;
        const uint32_t most = cutis_moments_most(m, f), kept = most ? most : n;
        double sum = 0;
        uint32_t count = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t larger = 0;
            for (uint32_t j = 0; j < n; j++)
                larger += keys[begin + j] > keys[begin + i] ||
                          (keys[begin + j] == keys[begin + i] && j < i);
            if (larger >= kept) continue;
            out->index[at + count] = (uint8_t)i;
            out->weight[at + count] = cutis_moments_prior(m, unit, m->slot[begin + i]);
            sum += out->weight[at + count++];
        }
        out->count[f] = (uint8_t)count;
        for (uint32_t i = 0; i < count; i++) out->weight[at + i] /= sum;
    }
}

double cutis_moments_energy(const cutis_moments *m, const cutis_moments_state *state)
{
    cutis_moments_work w = { .m = m, .places = 1, .state = (cutis_moments_state *)state };
    double energy = m->constant;
    for (uint32_t f = 0; f < m->free_count; f++) {
        double gram[WIDE * WIDE], force[WIDE];
        const uint32_t n = load_vertex(&w, f, gram, force);
        // Both ends of a pair count it, one vertex what is linear.
        for (uint32_t i = 0; i < n; i++)
            force[i] = 0.5 * (force[i] - (m->linear ? m->linear[m->slot_first[f] + i] : 0));
        energy +=
            value_of(gram, force, n, state->count[f], state->index + (size_t)f * m->influences,
                     state->weight + (size_t)f * m->influences);
    }
    return energy;
}
