/// Exchanging controls of a vertex for others of its candidates (docs/spec/reduction.md 2.7), in
/// the first sweeps: all exchanges of one member for one outsider, by the value of the vertex's own
/// problem. Systems are summed KERNEL_LANES vertices side by side, sets are searched one after the
/// other.
///
/// Invariant: the vertex's part of the energy never rises.
#ifndef CUTIS_KERNEL_REDUCE_EXCHANGE_H
#define CUTIS_KERNEL_REDUCE_EXCHANGE_H

#include "reduce_weights.h"

// The candidates of one vertex: minimise a^T G a - 2 h^T a over `count` of them.
STRUCT(reduce_choice)
{
    int n, count, negative;
    const double *gram; // lower triangle
    const double *right;
};

// A set being tried.
STRUCT(reduce_trial)
{
    int member[REDUCE_SET]; // of the candidates
    double weight[REDUCE_SET], value;
};

// Weights and value of a set; `reference`: weights of all candidates now.
PROC void reduce_try(const reduce_choice *all, const double *reference, reduce_trial *set)
{
    double part[REDUCE_SET * REDUCE_SET], h[REDUCE_SET], pull[REDUCE_SET], sum = 0;
    const int count = all->count;
    int largest = 0;
    if (count < 2) return; // never
    for (int r = 0; r < count; r++) {
        const int own = set->member[r];
        pull[r] = set->weight[r] = reference[own];
        h[r] = all->right[own];
        for (int c = 0; c < count; c++)
            part[r * count + c] = all->gram[reduce_packed(own, set->member[c])];
    }
    // What left the set goes to its largest member, so that the start is feasible.
    for (int r = 0; r < count; r++) {
        sum += set->weight[r];
        if (set->weight[r] > set->weight[largest]) largest = r;
    }
    set->weight[largest] += 1 - sum;
    reduce_regularise(count, part, h, REDUCE_PROXIMAL, pull);
    reduce_solve(count, part, h, set->weight, all->negative);
    set->value = 0;
    for (int r = 0; r < count; r++) {
        double row = -2 * all->right[set->member[r]];
        for (int c = 0; c < count; c++)
            row += all->gram[reduce_packed(set->member[r], set->member[c])] * set->weight[c];
        set->value += set->weight[r] * row;
    }
}

// All exchanges of one member for one outsider. @return 1: the best of them is better than `best`
PROC int reduce_exchange(const reduce_choice *all, double scale, reduce_trial *best)
{
    double reference[REDUCE_CANDIDATES];
    int inside[REDUCE_CANDIDATES], better = 0;
    reduce_trial start = *best, next;
    for (int i = 0; i < all->n; i++) {
        reference[i] = 0;
        inside[i] = 0;
    }
    for (int r = 0; r < all->count; r++) {
        inside[start.member[r]] = 1;
        reference[start.member[r]] = start.weight[r];
    }
    for (int j = 0; j < all->n; j++) {
        if (inside[j]) continue;
        for (int r = 0; r < all->count; r++) {
            for (int c = 0; c < all->count; c++) next.member[c] = start.member[c];
            next.member[r] = j;
            reduce_try(all, reference, &next);
            if (next.value < best->value - REDUCE_EXCHANGE_MARGIN * scale) {
                *best = next;
                better = 1;
            }
        }
    }
    return better;
}

// From the members of `best`, exchange while that lowers the value by more than rounding does.
// scale: what added to the value gives the size of the vertex's energy. Out: members ascend.
PROC void reduce_find_set(const reduce_choice *all, const double *reference, double scale,
                          reduce_trial *best)
{
    reduce_try(all, reference, best);
    for (int e = 0; e < REDUCE_EXCHANGES; e++)
        if (!reduce_exchange(all, MAGNITUDE(scale + best->value), best)) break;
    for (int i = 1; i < all->count; i++)
        for (int k = i; k > 0 && best->member[k - 1] > best->member[k]; k--) {
            const int moved = best->member[k];
            const double carried = best->weight[k];
            best->member[k] = best->member[k - 1];
            best->weight[k] = best->weight[k - 1];
            best->member[k - 1] = moved;
            best->weight[k - 1] = carried;
        }
}

// sum of offset * direction over a few rows: eight partial sums, added in a fixed tree.
FN REAL reduce_dot(int rows, const float *offset, const REAL *direction)
{
    REAL part[8];
    for (int i = 0; i < 8; i++) part[i] = ZERO;
    for (int r = 0; r < rows; r++) part[r & 7] += NEAR_FLOAT(offset, r) * direction[r];
    return ((part[0] + part[4]) + (part[1] + part[5])) +
           ((part[2] + part[6]) + (part[3] + part[7]));
}

// The candidates of a block's lanes, and who of them looks for a better set.
STRUCT(reduce_choices)
{
    INT which;
    int n[KERNEL_LANES], most, list[REDUCE_LIST * KERNEL_LANES];
    REAL gram[TRIANGLE(REDUCE_CANDIDATES)], right[REDUCE_CANDIDATES]; // C^T desired, or C^T F
};

FN void reduce_choices_sum(const reduce_problem *p, const reduce_block *b, GLOBAL const int *vertex,
                           reduce_choices *c)
{
    float chunk[REDUCE_CANDIDATES * REDUCE_CHUNK * KERNEL_LANES];
    for (int i = 0; i < TRIANGLE(c->most); i++) c->gram[i] = ZERO;
    for (int i = 0; i < c->most; i++) c->right[i] = ZERO;
    for (int from = 0; from < p->columns; from += REDUCE_POSES) {
        const int left = p->columns - from, poses = left < REDUCE_POSES ? left : REDUCE_POSES;
        const int rows = 3 * poses;
        const REAL *desired = b->desired + 3 * from;
        for (int i = 0; i < c->most * rows * KERNEL_LANES; i++) chunk[i] = 0;
        for (int l = 0; l < KERNEL_LANES; l++)
            if (c->n[l] > 0)
                reduce_offsets(p, vertex[l], c->list + l * REDUCE_LIST, c->n[l], from, poses, l,
                               chunk);
        if (b->metric)
            reduce_gram_metric(c->most, rows, chunk, b->metric + 6 * from * REDUCE_BLOCK, c->gram);
        else
            reduce_gram(c->most, rows, chunk, c->gram);
        for (int i = 0; i < c->most; i++) {
            const float *own = chunk + i * rows * KERNEL_LANES;
            if (!b->metric) c->right[i] += reduce_dot(rows, own, desired);
            for (int r = 0; r < rows && b->metric; r++)
                c->right[i] += NEAR_FLOAT(own, r) * desired[r];
        }
    }
}

// A new set of lane l: controls, weights and offsets; another set, another inverse.
FN void reduce_adopt(const reduce_problem *p, const reduce_sets *sets, const reduce_block *b, int v,
                     int l, const int *list, const reduce_trial *set)
{
    for (int i = 0; i < b->n; i++) {
        const int control = p->control[list[set->member[i]]];
        sets->set_control[sets->set_first[v] + i] = control;
        b->weight[i * REDUCE_BLOCK + l] = set->weight[i];
        reduce_put_offsets(p, v, control, b->offset + i * b->rows * REDUCE_BLOCK + l);
    }
    b->active[l] = 0;
}

// a^T G a - 2 h^T a
FN double reduce_choice_value(const reduce_choice *all, const double *a)
{
    double value = 0;
    for (int r = 0; r < all->n; r++) {
        double row = -2 * all->right[r];
        for (int c = 0; c < all->n; c++) row += all->gram[reduce_packed(r, c)] * a[c];
        value += a[r] * row;
    }
    return value;
}

// The best set of lane l, and keep it. @return the fall of the vertex's own problem (with a metric;
// else the error tells)
PROC double reduce_choices_lane(const reduce_problem *p, const reduce_sets *sets,
                                const reduce_block *b, int v, int l, reduce_choices *c)
{
    double gram_copy[TRIANGLE(REDUCE_CANDIDATES)], right[REDUCE_CANDIDATES];
    double reference[REDUCE_CANDIDATES], scale = 0, before = 0;
    const int *list = c->list + l * REDUCE_LIST;
    const double *gram = LINE(c->gram, gram_copy);
    reduce_choice all;
    reduce_trial best;
    all.n = c->n[l];
    all.count = b->n;
    all.negative = b->negative;
    all.gram = gram;
    all.right = right;
    lane_get(c->gram, l, TRIANGLE(all.n), gram_copy);
    for (int i = 0; i < all.n; i++) {
        right[i] = LANE(c->right[i], l);
        reference[i] = 0;
        for (int r = 0; r < b->n; r++)
            if (sets->set_control[sets->set_first[v] + r] == p->control[list[i]]) {
                best.member[r] = i;
                reference[i] = b->weight[r * REDUCE_BLOCK + l];
            }
    }
    if (b->metric) { // h = C^T F + G a
        for (int i = 0; i < all.n; i++)
            for (int k = 0; k < all.n; k++) right[i] += gram[reduce_packed(i, k)] * reference[k];
        before = reduce_choice_value(&all, reference);
    }
    for (int r = 0; r < b->rows && !b->metric; r++)
        scale += LANE(b->desired[r], l) * LANE(b->desired[r], l);
    reduce_find_set(&all, reference, scale, &best);
    reduce_adopt(p, sets, b, v, l, list, &best);
    return before - best.value;
}

// Vertices of a block with few candidates outside their sets (`trials`) look for better ones, and
// are settled then. @return by how much the value fell (with a metric)
PROC void reduce_reselect(const reduce_problem *p, const reduce_sets *sets, const reduce_block *b,
                          GLOBAL const int *vertex, int trials, reduce_change *s, REAL *fall)
{
    reduce_choices c;
    c.most = 0;
    for (int l = 0; l < KERNEL_LANES; l++) {
        c.n[l] = 0;
        if (LANE(s->settled, l)) continue;
        const int had = p->first[vertex[l] + 1] - p->first[vertex[l]];
        const int outside = (had < p->sizes.limit ? had : p->sizes.limit) - b->n;
        if (outside <= 0 || b->n * outside > trials) continue;
        c.n[l] = reduce_candidates(p, vertex[l], c.list + l * REDUCE_LIST);
        if (c.n[l] > c.most) c.most = c.n[l];
    }
    if (c.most == 0) return;
    reduce_choices_sum(p, b, vertex, &c);
    for (int l = 0; l < KERNEL_LANES; l++) {
        if (c.n[l] == 0) continue;
        LANE(*fall, l) = reduce_choices_lane(p, sets, b, vertex[l], l, &c);
        LANE(s->settled, l) = LANE(ALL_LANES, l);
    }
}

#endif
