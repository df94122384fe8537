/// The smooth prior of cages (docs/spec/reduction.md 2.4b): the reduced weight functions differ
/// from the original ones by fields whose gradient is small, dropped weights included. It is the
/// energy expected under independent random motion of the controls.
#ifndef CUTIS_KERNEL_REDUCE_PRIOR_H
#define CUTIS_KERNEL_REDUCE_PRIOR_H

#include "reduce_lanes.h"

ITEM_KERNEL(reduce_trace, REDUCE_TRACE_BUFFERS)
{
    TAKE_BLOCKS;
    ITEM_BEGIN
    const int lane = item * KERNEL_LANES;
    const reduce_block block = reduce_block_at(&blocks, lane, 3 * COLUMNS, 0);
    REAL sum = ZERO;
    for (int i = 0; i < block.n * block.rows; i++)
        sum += FLOAT_ENTRY(block.offset, i) * FLOAT_ENTRY(block.offset, i);
    for (int l = 0; l < KERNEL_LANES; l++)
        if (lane_vertex[lane + l] >= 0)
            part[lane_vertex[lane + l]] = block.n > 0 ? LANE(sum, l) / block.n : 0;
    ITEM_END
}

// The original weight of a control at a vertex, 0 if it has none.
FN double reduce_original(const reduce_problem *p, int v, int which)
{
    int begin = p->first[v], end = p->first[v + 1];
    const int last = end;
    if (end - begin == p->sizes.controls) return p->weight[begin + which]; // all: no search
    while (begin < end) {
        int middle = begin + (end - begin) / 2;
        if (p->control[middle] < which)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < last && p->control[begin] == which ? p->weight[begin] : 0;
}

ITEM_KERNEL(reduce_match, REDUCE_MATCH_BUFFERS)
{
    TAKE_PROBLEM;
    ITEM_BEGIN
    const int begin = set_first[item], n = set_first[item + 1] - begin;
    for (int e = ring_first[item]; e < ring_first[item + 1]; e++) { // both lists ascend
        const int other = set_first[ring[e]], end = set_first[ring[e] + 1];
        for (int i = 0, k = other; i < n; i++) {
            while (k < end && set_control[k] < set_control[begin + i]) k++;
            match[(INDEX)e * given.stride + i] = k < end && set_control[k] == set_control[begin + i]
                                                     ? (unsigned char)(k - other)
                                                     : (unsigned char)REDUCE_NONE;
        }
    }
    for (int i = begin; i < begin + n; i++) {
        double sum = 0;
        for (int e = ring_first[item]; e < ring_first[item + 1]; e++)
            sum += edge[e] * reduce_original(&problem, ring[e], set_control[i]);
        base[i] = reduce_original(&problem, item, set_control[i]) - sum / diagonal[item];
    }
    ITEM_END
}

// What the neighbours would have the kept weights of a vertex be; `share`: 1 / stiffness.
STRUCT(reduce_prior)
{
    GLOBAL const double *base;
    GLOBAL const unsigned char *match;
    int stride;
};

FN void reduce_prior_wish(const reduce_prior *prior, const reduce_mesh *mesh,
                          const reduce_sets *sets, int v, int n, double share, double *desired)
{
    for (int i = 0; i < n; i++) desired[i] = 0;
    for (int e = mesh->ring_first[v]; e < mesh->ring_first[v + 1]; e++) {
        GLOBAL const double *near = sets->set_weight + sets->set_first[mesh->ring[e]];
        GLOBAL const unsigned char *same = prior->match + (INDEX)e * prior->stride;
        const double l = mesh->edge[e];
        for (int i = 0; i < n; i++) desired[i] += same[i] == REDUCE_NONE ? 0 : l * near[same[i]];
    }
    for (int i = 0; i < n; i++)
        desired[i] = prior->base[sets->set_first[v] + i] + share * desired[i];
}

// The same for a block, and the push towards it.
FN void reduce_prior_push(const reduce_prior *prior, const reduce_block *b, const reduce_mesh *mesh,
                          const reduce_sets *sets, GLOBAL const int *vertex, REAL stiffness,
                          REAL *desired_weights, reduce_change *s)
{
    double copy[REDUCE_SET], *line = LINE(desired_weights, copy);
    for (int i = 0; i < b->n; i++) desired_weights[i] = ZERO;
    for (int l = 0; l < KERNEL_LANES; l++) {
        if (LANE(s->settled, l)) continue;
        reduce_prior_wish(prior, mesh, sets, vertex[l], b->n, 1 / LANE(stiffness, l), line);
        lane_put(desired_weights, l, b->n, line);
    }
    for (int i = 0; i < b->n; i++)
        s->push[i] = b->lambda * (desired_weights[i] - ENTRY(b->weight, i));
}

// Squared distance of weights from where the prior wants them.
FN REAL reduce_stray_from(int n, const REAL *desired_weights, const REAL *weight)
{
    REAL sum = ZERO;
    for (int i = 0; i < n; i++)
        sum += (weight[i] - desired_weights[i]) * (weight[i] - desired_weights[i]);
    return sum;
}

// Controls that are looked at together: a window over lists that are walked in step.
#define REDUCE_WINDOW 32

// Where a vertex's two lists are.
STRUCT(reduce_walk)
{
    int original, original_end, kept, kept_end;
};

FN reduce_walk reduce_walk_of(const reduce_problem *p, const reduce_sets *sets, int v)
{
    reduce_walk walk;
    walk.original = v < 0 ? 0 : p->first[v];
    walk.original_end = v < 0 ? 0 : p->first[v + 1];
    walk.kept = v < 0 ? 0 : sets->set_first[v];
    walk.kept_end = v < 0 ? 0 : sets->set_first[v + 1];
    return walk;
}

// The next control of the lists, `most` if they are at their ends.
FN int reduce_walk_next(const reduce_problem *p, const reduce_sets *sets, const reduce_walk *walk,
                        int most)
{
    int next = most;
    if (walk->original < walk->original_end && p->control[walk->original] < next)
        next = p->control[walk->original];
    if (walk->kept < walk->kept_end && sets->set_control[walk->kept] < next)
        next = sets->set_control[walk->kept];
    return next;
}

// A - Abar of the controls [from, from + REDUCE_WINDOW).
FN void reduce_walk_window(const reduce_problem *p, const reduce_sets *sets, reduce_walk *walk,
                           int from, double *out)
{
    for (int i = 0; i < REDUCE_WINDOW; i++) out[i] = 0;
    for (; walk->original < walk->original_end; walk->original++) {
        const int at = p->control[walk->original] - from;
        if (at >= REDUCE_WINDOW) break;
        out[at] = -p->weight[walk->original];
    }
    for (; walk->kept < walk->kept_end; walk->kept++) {
        const int at = sets->set_control[walk->kept] - from;
        if (at >= REDUCE_WINDOW) break;
        out[at] += sets->set_weight[walk->kept];
    }
}

// Square of the difference of A - Abar at two vertices, over all controls; u < 0: at v alone.
PROC double reduce_stray_between(const reduce_problem *p, const reduce_sets *sets, int v, int u)
{
    double own[REDUCE_WINDOW], other[REDUCE_WINDOW], sum = 0;
    const int most = 2147483647;
    reduce_walk here = reduce_walk_of(p, sets, v), there = reduce_walk_of(p, sets, u);
    for (;;) {
        const int from = reduce_walk_next(p, sets, &here, reduce_walk_next(p, sets, &there, most));
        if (from == most) return sum;
        reduce_walk_window(p, sets, &here, from, own);
        reduce_walk_window(p, sets, &there, from, other);
        for (int i = 0; i < REDUCE_WINDOW; i++) sum += (own[i] - other[i]) * (own[i] - other[i]);
    }
}

ITEM_KERNEL(reduce_stray, REDUCE_STRAY_BUFFERS)
{
    TAKE_PROBLEM;
    TAKE_SETS;
    ITEM_BEGIN
    double sum = anchor[item] * reduce_stray_between(&problem, &sets, item, -1);
    for (int e = ring_first[item]; e < ring_first[item + 1]; e++)
        if (ring[e] >= item) sum += edge[e] * reduce_stray_between(&problem, &sets, item, ring[e]);
    part[item] = sum;
    ITEM_END
}

#endif
