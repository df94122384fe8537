/// Before sweeps: where vertices are to be, what the kept controls do to them, first weights and
/// errors; energies, and the sums over vertices.
#ifndef CUTIS_KERNEL_REDUCE_WEIGHTS_H
#define CUTIS_KERNEL_REDUCE_WEIGHTS_H

#include "reduce_lanes.h"

ITEM_KERNEL(reduce_target, REDUCE_TARGET_BUFFERS)
{
    ITEM_BEGIN
    GLOBAL const double *x = positions + 3 * (INDEX)item;
    GLOBAL double *place = target + 3 * (INDEX)item * COLUMNS;
    for (int j = 0; j < COLUMNS; j++) {
        GLOBAL const double *palette = matrices + 12 * (INDEX)j * given.sizes.controls;
        double sum[12];
        for (int c = 0; c < 12; c++) sum[c] = 0;
        for (int i = first[item]; i < first[item + 1]; i++) {
            GLOBAL const double *m = palette + 12 * (INDEX)control[i];
            double w = weight[i];
            for (int c = 0; c < 12; c++) sum[c] += w * m[c];
        }
        for (int c = 0; c < 3; c++)
            place[3 * j + c] =
                sum[4 * c] * x[0] + sum[4 * c + 1] * x[1] + sum[4 * c + 2] * x[2] + sum[4 * c + 3];
    }
    ITEM_END
}

// Where a control takes a vertex, less its target, into a lane's offsets of a slot.
FN void reduce_put_offsets(const reduce_problem *p, int v, int control, GLOBAL float *offset)
{
    GLOBAL const double *position = p->positions + 3 * (INDEX)v;
    GLOBAL const double *target = p->target + 3 * (INDEX)v * p->columns;
    for (int j = 0; j < p->columns; j++) {
        GLOBAL const double *m = reduce_matrix(p, j, control);
        for (int c = 0; c < 3; c++)
            offset[(3 * j + c) * REDUCE_BLOCK] =
                reduce_offset(m + 4 * c, position, target[3 * j + c]);
    }
}

ITEM_KERNEL(reduce_load, REDUCE_LOAD_BUFFERS)
{
    TAKE_PROBLEM;
    TAKE_BLOCKS;
    ITEM_BEGIN
    const int lane = item * KERNEL_LANES, rows = 3 * COLUMNS;
    const reduce_block block = reduce_block_at(&blocks, lane, rows, given.sizes.negative);
    for (int l = 0; l < KERNEL_LANES; l++) {
        // Lanes without a vertex repeat the first one; their results are discarded.
        const int mine = lane_vertex[lane + l], v = mine < 0 ? lane_vertex[lane] : mine;
        for (int i = 0; v >= 0 && i < block.n; i++) {
            const int slot = set_first[v] + i;
            block.weight[i * REDUCE_BLOCK + l] = set_weight[slot];
            reduce_put_offsets(&problem, v, set_control[slot],
                               block.offset + i * rows * REDUCE_BLOCK + l);
        }
    }
    ITEM_END
}

// First weights ---------------------------------------------------------------------------------

// Minimise with sum 1 on all n controls, `gram` (overwritten) and `right` with their pulls. @return
// lanes whose `weight` is the solution, without a bound in the way unless negative weights are
// allowed
WIDE_FN INT reduce_first(int n, REAL *gram, const REAL *right, int negative, REAL *row,
                         REAL *weight)
{
    REAL total = ZERO, sum = ZERO, last = ZERO;
    INT good = reduce_invert(n, gram, row);
    reduce_products(n, gram, right, row, weight);
    for (int i = 0; i < n; i++) {
        total += row[i];
        sum += weight[i];
    }
    REAL nu = (ONE - sum) / total;
    for (int i = 0; i < n; i++) {
        weight[i] += nu * row[i];
        last += weight[i];
    }
    good = good & (last - last == ZERO);
    for (int i = 0; i < n; i++) {
        weight[i] /= last; // the last rounding out of the sum
        if (!negative) good = good & (weight[i] > ZERO);
    }
    return good;
}

// The geometric fit of lane l with bounds in the way, from `weight`.
PROC void reduce_first_bounded(int n, const REAL *packed, const REAL *right, int l, int negative,
                               REAL *weight)
{
    double gram[REDUCE_SET * REDUCE_SET], h[REDUCE_SET], now[REDUCE_SET];
    for (int r = 0, at = 0; r < n; r++) {
        h[r] = LANE(right[r], l);
        now[r] = LANE(weight[r], l);
        for (int c = 0; c <= r; c++, at++) gram[r * n + c] = gram[c * n + r] = LANE(packed[at], l);
    }
    reduce_solve(n, gram, h, now, negative);
    for (int i = 0; i < n; i++) LANE(weight[i], l) = now[i];
}

// The nearest weights of the lanes `which`, from `weight`.
PROC void reduce_first_nearest(const reduce_block *b, const INT *which, const REAL *original,
                               REAL *weight)
{
    REAL gram[TRIANGLE(REDUCE_SET)], system[TRIANGLE(REDUCE_SET)], right[REDUCE_SET];
    REAL row[REDUCE_SET], solution[REDUCE_SET];
    const int n = b->n;
    reduce_block_gram(b, gram);
    REAL mu = REDUCE_PULL * reduce_mean_diagonal(n, gram);
    for (int i = 0; i < n; i++) {
        gram[TRIANGLE(i) + i] += mu;
        right[i] = mu * original[i];
    }
    for (int i = 0; i < TRIANGLE(n); i++) system[i] = gram[i];
    INT good = reduce_first(n, system, right, b->negative, row, solution);
    INT found = *which & good;
    for (int i = 0; i < n; i++) weight[i] = SELECT(found, solution[i], weight[i]);
    for (int l = 0; l < KERNEL_LANES; l++)
        if (LANE(*which, l) && !LANE(good, l))
            reduce_first_bounded(n, gram, right, l, b->negative, weight);
}

// A vertex that keeps all of its influences keeps its weights, and has no error.
ITEM_KERNEL(reduce_weigh, REDUCE_WEIGH_BUFFERS)
{
    TAKE_BLOCKS;
    ITEM_BEGIN
    const int lane = item * KERNEL_LANES, rows = 3 * COLUMNS;
    const reduce_block block = reduce_block_at(&blocks, lane, rows, given.sizes.negative);
    REAL original[REDUCE_SET], weight[REDUCE_SET], sum = ZERO;
    INT less = NO_LANES; // lanes that keep fewer influences than they had
    for (int l = 0; l < KERNEL_LANES; l++) {
        const int v = lane_vertex[lane + l];
        if (v >= 0 && first[v + 1] - first[v] > block.n) LANE(less, l) = LANE(ALL_LANES, l);
    }
    for (int i = 0; i < block.n; i++) {
        weight[i] = original[i] = ENTRY(block.weight, i);
        sum += original[i];
    }
    if (reduce_any(less)) {
        INT small = reduce_size_of(sum) < SPLAT(REDUCE_SUM_MIN);
        for (int i = 0; i < block.n; i++) {
            REAL share = SELECT(small, SPLAT(1.0 / block.n), original[i] / sum);
            weight[i] = SELECT(less, share, original[i]);
        }
        INT which = less & (small | (given.geometric ? ALL_LANES : NO_LANES));
        if (reduce_any(which)) reduce_first_nearest(&block, &which, original, weight);
        for (int i = 0; i < block.n; i++) PUT_ENTRY(block.weight, i, weight[i]);
    }
    for (int r = 0; r < rows; r++) {
        REAL away = ZERO;
        for (int i = 0; i < block.n; i++)
            away += weight[i] * FLOAT_ENTRY(block.offset, i * rows + r);
        away = SELECT(less, away, ZERO);
        for (int l = 0; l < KERNEL_LANES; l++)
            if (lane_vertex[lane + l] >= 0)
                error[(INDEX)lane_vertex[lane + l] * rows + r] = LANE(away, l);
    }
    ITEM_END
}

ITEM_KERNEL(reduce_store, REDUCE_STORE_BUFFERS)
{
    TAKE_BLOCKS;
    ITEM_BEGIN
    const int lane = item * KERNEL_LANES;
    const reduce_block block = reduce_block_at(&blocks, lane, 0, 0);
    for (int l = 0; l < KERNEL_LANES; l++) {
        const int v = lane_vertex[lane + l];
        for (int i = 0; v >= 0 && i < block.n; i++)
            set_weight[set_first[v] + i] = block.weight[i * REDUCE_BLOCK + l];
    }
    ITEM_END
}

ITEM_KERNEL(reduce_errors, REDUCE_ERRORS_BUFFERS)
{
    TAKE_PROBLEM;
    ITEM_BEGIN
    GLOBAL const double *x = positions + 3 * (INDEX)item;
    for (int r = 0; r < 3 * COLUMNS; r++) {
        const INDEX at = 3 * (INDEX)item * COLUMNS + r;
        double sum = given.rounded ? 0 : -target[at];
        for (int i = set_first[item]; i < set_first[item + 1]; i++) {
            GLOBAL const double *m = reduce_matrix(&problem, r / 3, set_control[i]) + 4 * (r % 3);
            sum += set_weight[i] * (given.rounded ? reduce_offset(m, x, target[at])
                                                  : m[0] * x[0] + m[1] * x[1] + m[2] * x[2] + m[3]);
        }
        error[at] = sum;
    }
    ITEM_END
}

// Energies --------------------------------------------------------------------------------------

ITEM_KERNEL(reduce_energy, REDUCE_ENERGY_BUFFERS)
{
    ITEM_BEGIN
    const int rows = 3 * COLUMNS;
    GLOBAL const double *own = error + (INDEX)item * rows;
    double far = 0, near = 0;
    if (given.laplace) {
        for (int r = 0; r < rows; r++) {
            double rho = -diagonal[item] * own[r];
            for (int i = ring_first[item]; i < ring_first[item + 1]; i++)
                rho += edge[i] * error[(INDEX)ring[i] * rows + r];
            far += anchor[item] * rho * rho;
        }
    } else {
        for (int r = 0; r < rows; r++) near += own[r] * own[r];
        near = anchor[item] * near;
        for (int i = ring_first[item]; i < ring_first[item + 1]; i++) {
            GLOBAL const double *other = error + (INDEX)ring[i] * rows;
            double sum = 0;
            if (ring[i] <= item) continue;
            for (int r = 0; r < rows; r++) sum += (own[r] - other[r]) * (own[r] - other[r]);
            far += edge[i] * sum;
        }
    }
    part[item] = far;
    anchor_part[item] = near;
    ITEM_END
}

ITEM_KERNEL(reduce_residual, REDUCE_RESIDUAL_BUFFERS)
{
    ITEM_BEGIN
    const int rows = 3 * COLUMNS;
    GLOBAL double *out = rho + (INDEX)item * rows;
    for (int r = 0; r < rows; r++) out[r] = -diagonal[item] * error[(INDEX)item * rows + r];
    for (int i = ring_first[item]; i < ring_first[item + 1]; i++)
        for (int r = 0; r < rows; r++) out[r] += edge[i] * error[(INDEX)ring[i] * rows + r];
    ITEM_END
}

ITEM_KERNEL(reduce_sum, REDUCE_SUM_BUFFERS)
{
    ITEM_BEGIN
    const int end = stretch_end[given.first + item];
    double sum = 0;
    for (int i = stretch_first[given.first + item]; i < end; i += given.block) {
        double some = 0;
        for (int k = i; k < i + given.block && k < end; k++) some += values[k];
        sum += some;
    }
    sums[item] = sum;
    ITEM_END
}

#endif
