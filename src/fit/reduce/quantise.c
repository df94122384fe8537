// Weights as whole numbers over a total (255, 65535) that make the form's value low
// (docs/spec/reduction.md 2.10): rounded first, then vertex by vertex units move between influences
// while that lowers the value with the others as they are. Invariants: every vertex's numbers sum
// to the total; the value never rises, so it is never above that of rounding.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fit/reduce/bound.h"
#include "math/shares.h"

enum { WIDE = CUTIS_MOMENTS_WIDE, SWEEPS = 40, MOVES = 256 };
static const double STANDSTILL = 1e-5; // of a sweep's fall, relative
// A move must gain more than rounding of the sums could pretend.
static const double GAIN = 1e-13;
// Of the diagonal, so that the best real weights are determined.
static const double NEARLY = 1e-9;

void cutis_quantise_round(const cutis_reduce_group *group, uint32_t total,
                          cutis_reduce_weights *weights)
{
    for (uint32_t u = 0; u < group->unit_count; u++) {
        double *weight = weights->weight + weights->first[u];
        const uint32_t count = weights->first[u + 1] - weights->first[u];
        uint32_t numbers[64];
        if (count > 64) continue;
        cutis_shares_round(weight, count, total, numbers);
        for (uint32_t i = 0; i < count; i++) weight[i] = numbers[i] / (double)total;
    }
}

typedef struct quantiser {
    cutis_moments m;
    cutis_arena arena;
    uint32_t total;
    cutis_reduce_weights *weights;
    cutis_moments_state state; ///< all candidates of a vertex, in order
    uint8_t *dirty;
} quantiser;

// Kept influences are the candidates; a vertex that changed or keeps several is free.
static cutis_result open_quantiser(quantiser *q)
{
    const cutis_reduce_group *group = q->m.group;
    const uint32_t slots = group->first[group->unit_count];
    uint8_t *closed = cutis_arena_alloc(&q->arena, slots, 1);
    if (!closed) return cutis_alloc_result(q->m.context);
    memset(closed, 1, slots);
    q->m.influences = 1;
    for (uint32_t u = 0; u < group->unit_count; u++) {
        const uint32_t begin = q->weights->first[u], end = q->weights->first[u + 1];
        for (uint32_t i = group->first[u], k = begin; i < group->first[u + 1] && k < end; i++)
            if (group->control[i] == q->weights->control[k]) closed[i] = 0, k++;
        if (end - begin > q->m.influences) q->m.influences = end - begin;
    }
    q->m.closed = closed;
    TRY(cutis_moments_open(&q->m, &q->arena));
    q->dirty = cutis_arena_alloc(&q->arena, q->m.free_count, 1);
    if (!q->dirty || !cutis_moments_state_create(&q->m, &q->arena, &q->state))
        return cutis_alloc_result(q->m.context);
    return CUTIS_OK;
}

// The weights as a state. Candidates are exactly the kept ones, in the same order.
static void load_state(quantiser *q)
{
    for (uint32_t f = 0; f < q->m.free_count; f++) {
        const uint32_t unit = q->m.free_unit[f], begin = q->weights->first[unit],
                       count = q->weights->first[unit + 1] - begin;
        const size_t at = (size_t)f * q->m.influences;
        q->state.count[f] = (uint8_t)count;
        for (uint32_t i = 0; i < count; i++) {
            q->state.index[at + i] = (uint8_t)i;
            q->state.weight[at + i] = q->weights->weight[begin + i];
        }
    }
}

// a^T G a + 2 a^T r of whole numbers.
static double value_of(uint32_t n, const double *gram, const double *force, const uint32_t *number,
                       double step)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        double part = 2 * force[i];
        for (uint32_t j = 0; j < n; j++) part += gram[i * n + j] * (step * number[j]);
        sum += step * number[i] * part;
    }
    return sum;
}

// Move as many units as gain most between the two influences that gain most. @return whether any
static bool move(uint32_t n, const double *gram, const double *force, uint32_t *number, double step)
{
    double slope[WIDE], best = 0, size = 0;
    uint32_t from = 0, to = 0, units = 0;
    for (uint32_t i = 0; i < n; i++) {
        slope[i] = force[i];
        for (uint32_t j = 0; j < n; j++) slope[i] += gram[i * n + j] * (step * number[j]);
        size = fmax(size, gram[i * n + i]);
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            const double curve = gram[i * n + i] + gram[j * n + j] - 2 * gram[i * n + j],
                         down = slope[i] - slope[j];
            if (i == j || number[i] == 0 || !(down > 0)) continue;
            const double wanted = curve > 0 ? floor(down / (curve * step) + 0.5) : number[i];
            const double count = fmin(number[i], fmax(1, wanted)), s = count * step;
            const double fall = s * (2 * down - s * curve);
            if (fall > best) best = fall, from = i, to = j, units = (uint32_t)count;
        }
    if (!(best > GAIN * step * size)) return false;
    number[from] -= units, number[to] += units;
    return true;
}

static void descend(uint32_t n, const double *gram, const double *force, uint32_t *number,
                    double step)
{
    for (int i = 0; i < MOVES && move(n, gram, force, number, step);) i++;
}

double cutis_quantise_vertex(uint32_t n, double *gram, const double *force, uint32_t total,
                             uint32_t *number)
{
    double right[WIDE] = { 0 }, weight[WIDE] = { 0 }, real[WIDE] = { 0 }, trace = 0;
    uint8_t index[WIDE], count = (uint8_t)n;
    uint32_t now[WIDE], other[WIDE];
    const double step = 1.0 / total, before = value_of(n, gram, force, number, step);
    memcpy(now, number, n * sizeof *now);
    descend(n, gram, force, now, step);
    double best = value_of(n, gram, force, now, step);
    for (uint32_t i = 0; i < n; i++) {
        right[i] = -force[i], index[i] = (uint8_t)i, weight[i] = step * number[i];
        trace += gram[i * n + i];
    }
    for (uint32_t i = 0; i < n; i++) gram[i * n + i] += NEARLY * trace / n;
    cutis_moments_local(n, gram, right, n, &count, index, weight);
    for (uint32_t i = 0; i < n; i++) gram[i * n + i] -= NEARLY * trace / n;
    for (uint32_t i = 0; i < count; i++) real[index[i]] = weight[i];
    cutis_shares_round(real, n, total, other);
    descend(n, gram, force, other, step);
    const double value = value_of(n, gram, force, other, step);
    if (value < best) best = value, memcpy(now, other, n * sizeof *now);
    if (!(before - best > GAIN * step * trace)) return 0;
    memcpy(number, now, n * sizeof *now);
    return before - best;
}

// One vertex with the others as they are. @return the fall of the form's value
static double update(quantiser *q, uint32_t f)
{
    const cutis_moments_work w = { .m = &q->m, .places = 1, .state = &q->state, .dirty = q->dirty };
    double gram[WIDE * WIDE], force[WIDE], *own = q->state.weight + (size_t)f * q->m.influences;
    uint32_t number[WIDE];
    const uint32_t n = cutis_moments_load(&w, f, gram, force);
    q->dirty[f] = 0;
    for (uint32_t i = 0; i < n; i++) number[i] = (uint32_t)floor(own[i] * q->total + 0.5);
    const double fall = n < 2 ? 0 : cutis_quantise_vertex(n, gram, force, q->total, number);
    if (!(fall > 0)) return 0;
    for (uint32_t i = 0; i < n; i++) own[i] = number[i] / (double)q->total;
    for (size_t b = q->m.near_first[f]; b < q->m.near_first[f + 1]; b++) q->dirty[q->m.near[b]] = 1;
    q->dirty[f] = 0;
    return fall;
}

// The state back into the weights; those that became 0 go.
static void store_state(quantiser *q)
{
    const uint32_t units = q->m.group->unit_count;
    uint32_t used = 0, begin = 0;
    for (uint32_t u = 0; u < units; u++) {
        const int32_t f = q->m.unit_free[u];
        const uint32_t end = q->weights->first[u + 1];
        q->weights->first[u] = used;
        for (uint32_t i = begin; i < end; i++) {
            const double weight = f < 0
                                      ? q->weights->weight[i]
                                      : q->state.weight[(size_t)f * q->m.influences + (i - begin)];
            if (!(weight > 0)) continue;
            q->weights->control[used] = q->weights->control[i];
            q->weights->weight[used++] = weight;
        }
        begin = end;
    }
    q->weights->first[units] = used;
}

static cutis_result run_quantiser(quantiser *q, const cutis_mixed *x, uint32_t g,
                                  cutis_quantise_result *out)
{
    cutis_moments_poses kinds[CUTIS_MIXED_KINDS];
    const uint32_t kind_count = cutis_mixed_kinds(x, g, kinds);
    // Rounding leaves positions nearly as good as they can be: they count as much as normals here,
    // so that these do not gain at their cost.
    for (uint32_t k = 0; k < kind_count; k++) kinds[k].position = kinds[k].normal;
    TRY(open_quantiser(q));
    if (cutis_moments_size(&q->m) > x->budget) { // nothing to choose by
        cutis_quantise_round(q->m.group, q->total, q->weights);
        out->real = out->rounded = out->chosen = NAN;
        return CUTIS_OK;
    }
    q->m.roomy = 3 * cutis_moments_size(&q->m) <= x->budget;
    const uint32_t slots = q->m.slot_first[q->m.free_count];
    double *real = cutis_arena_zero(&q->arena, q->weights->first[q->m.group->unit_count], 8);
    double *start = cutis_arena_zero(&q->arena, slots, sizeof *start);
    if (!real || !start) return cutis_alloc_result(q->m.context);
    memcpy(real, q->weights->weight, q->weights->first[q->m.group->unit_count] * sizeof *real);
    cutis_quantise_round(q->m.group, q->total, q->weights);
    for (uint32_t f = 0; f < q->m.free_count; f++) {
        const uint32_t unit = q->m.free_unit[f], n = q->m.slot_first[f + 1] - q->m.slot_first[f];
        memcpy(start + q->m.slot_first[f], q->weights->weight + q->weights->first[unit],
               n * sizeof *start);
    }
    TRY(cutis_moments_form(&q->m, &q->arena, kinds, kind_count, start));
    load_state(q);
    q->state.energy = cutis_moments_energy(&q->m, &q->state);
    out->rounded += q->state.energy;
    memset(q->dirty, 1, q->m.free_count);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double fall = 0;
        for (uint32_t f = 0; f < q->m.free_count; f++)
            if (q->dirty[f]) fall += update(q, f);
        q->state.energy -= fall;
        if (!(fall > STANDSTILL * q->state.energy)) break;
    }
    out->chosen += cutis_moments_energy(&q->m, &q->state);
    cutis_reduce_weights before = *q->weights;
    before.weight = real;
    cutis_reduce_weights *weights = q->weights;
    cutis_moments_state chosen = q->state;
    if (!cutis_moments_state_create(&q->m, &q->arena, &q->state))
        return cutis_alloc_result(q->m.context);
    q->weights = &before;
    load_state(q);
    out->real += cutis_moments_energy(&q->m, &q->state);
    q->weights = weights, q->state = chosen;
    store_state(q);
    return CUTIS_OK;
}

cutis_result cutis_quantise(const cutis_mixed *x, uint32_t g, uint32_t total,
                            cutis_reduce_weights *weights, cutis_quantise_result *out)
{
    quantiser q = { .arena.context = x->context, .total = total, .weights = weights };
    q.m = (cutis_moments){ .context = x->context,
                           .device = x->device,
                           .group = x->forms[g].group,
                           .control_count = x->forms[g].control_count,
                           .limit = WIDE,
                           .every = true };
    cutis_result result = run_quantiser(&q, x, g, out);
    cutis_arena_release(&q.arena);
    return result;
}
