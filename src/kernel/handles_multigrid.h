/// Harmonic fields by conjugate gradients with a multigrid cycle. Smoothing goes by colours, which
/// makes the cycle symmetric and independent of the order of nodes within a colour. Sums run in
/// stretches of fixed size, then over the stretches in order: the same bits for any number of
/// threads or lanes.
#ifndef CUTIS_KERNEL_HANDLES_MULTIGRID_H
#define CUTIS_KERNEL_HANDLES_MULTIGRID_H

#include "handles.h"

/// The node of an item and its first lane.
#define LANED_NODE int i = item / (lanes / width), lane = item % (lanes / width) * width
/// Nodes [i, end) of an item.
#define LANED_STRETCH                                                                              \
    int lane = item % (lanes / width) * width, i = item / (lanes / width) * given.stretch;         \
    int end = i + given.stretch < given.count ? i + given.stretch : given.count
#define LANED_EACH for (int l = 0; l < width; l++)

/// Sums of conductance times value over a node's six neighbours. `row`: where its neighbours are
/// listed; `x`: first lane of the level's first node.
FN void handles_around_node(GLOBAL const unsigned *neighbour, GLOBAL const double *conductance,
                            GLOBAL const double *x, INDEX row, const int lanes, const int width,
                            double *sum)
{
    for (int d = 0; d < 6; d++)
        LANED_FETCH(x + (INDEX)neighbour[row + 6 * HANDLES_AHEAD + d] * lanes);
    LANED_EACH sum[l] = 0;
    for (int d = 0; d < 6; d++) {
        const double c = conductance[row + d];
        GLOBAL const double *other = x + (INDEX)neighbour[row + d] * lanes;
        LANED_EACH sum[l] += c * other[l];
    }
}

LANED_KERNEL(handles_begin, HANDLES_BEGIN_BUFFERS)
{
    ITEM_BEGIN
    LANED_NODE;
    const INDEX v = voxel[i], own = (INDEX)i * lanes + lane;
    const unsigned site = (unsigned)(given.first + lane);
    double sum[LANED_MOST];
    LANED_EACH sum[l] = 0;
    for (int d = 0; d < 6; d++) {
        const double c = level_conductance[6 * (INDEX)i + d];
        const unsigned nearest = label[voxel[level_neighbour[6 * (INDEX)i + d]]];
        LANED_EACH sum[l] += c * (nearest == site + (unsigned)l ? 1.0 : 0.0);
    }
    LANED_EACH
    {
        x[own + l] = label[v] == site + (unsigned)l ? 1 : 0;
        p[own + l] = 0;
        sum[l] -= diagonal[i] * x[own + l];
    }
    for (int d = 0; d < 6; d++) {
        const unsigned m = neighbour[6 * v + d];
        if (m != HANDLES_NONE && owner[m] != HANDLES_NONE)
            LANED_EACH if (owner[m] == site + (unsigned)l) sum[l] += conductance[6 * v + d];
    }
    LANED_EACH r[own + l] = sum[l];
    ITEM_END
}

// The cycle -------------------------------------------------------------------------------------

LANED_KERNEL(handles_smooth, HANDLES_SMOOTH_BUFFERS)
{
    const INDEX base = (INDEX)given.at * lanes;
    ITEM_BEGIN
    LANED_NODE;
    i += given.first;
    const INDEX node = given.at + i, own = node * lanes + lane;
    double sum[LANED_MOST];
    if (given.zero)
        LANED_EACH z[own + l] = r[own + l] * inverse[node];
    else {
        handles_around_node(level_neighbour, level_conductance, z + base + lane, 6 * node, lanes,
                            width, sum);
        LANED_EACH z[own + l] = (r[own + l] + sum[l]) * inverse[node];
    }
    ITEM_END
}

LANED_KERNEL(handles_restrict, HANDLES_RESTRICT_BUFFERS)
{
    const INDEX base = (INDEX)given.at * lanes;
    ITEM_BEGIN
    LANED_NODE;
    const INDEX block = order[given.to + i];
    double total[LANED_MOST], sum[LANED_MOST];
    LANED_EACH total[l] = 0;
    for (unsigned e = child_first[given.list + block]; e < child_first[given.list + block + 1];
         e++) {
        const INDEX c = child[given.at + (INDEX)e];
        if (c < given.red) {
            const INDEX node = given.at + c, own = node * lanes + lane;
            handles_around_node(level_neighbour, level_conductance, z + base + lane, 6 * node,
                                lanes, width, sum);
            LANED_EACH total[l] += r[own + l] + sum[l] - diagonal[node] * z[own + l];
        }
    }
    LANED_EACH r[(given.to + block) * lanes + lane + l] = total[l];
    ITEM_END
}

LANED_KERNEL(handles_prolong, HANDLES_PROLONG_BUFFERS)
{
    ITEM_BEGIN
    LANED_NODE;
    const INDEX own = (INDEX)(given.at + i) * lanes + lane;
    const INDEX from = (given.to + (INDEX)parent[given.at + i]) * lanes + lane;
    LANED_EACH z[own + l] += z[from + l];
    ITEM_END
}

LANED_KERNEL(handles_coarsest, HANDLES_COARSEST_BUFFERS)
{
    ITEM_BEGIN
    const INDEX base = (INDEX)given.at * lanes + item * width;
    double sum[LANED_MOST];
    for (int i = 0; i < given.red; i++)
        LANED_EACH z[base + (INDEX)i * lanes + l] =
            r[base + (INDEX)i * lanes + l] * inverse[given.at + i];
    // Half sweeps: black, then red and black `sweeps` times, then red.
    for (int pass = 0; pass < 2 * given.sweeps + 2; pass++)
        for (int i = pass % 2 ? 0 : given.red; i < (pass % 2 ? given.red : given.count); i++) {
            const INDEX own = base + (INDEX)i * lanes;
            handles_around_node(level_neighbour, level_conductance, z + base,
                                6 * (INDEX)(given.at + i), lanes, width, sum);
            LANED_EACH z[own + l] = (r[own + l] + sum[l]) * inverse[given.at + i];
        }
    ITEM_END
}

// Conjugate gradients ---------------------------------------------------------------------------

/// The larger of two residuals, of which one is not yet divided by the diagonal.
FN double handles_worse(double worst, double residual, double inverse)
{
    const double size = MAGNITUDE(residual) * inverse;
    return size > worst ? size : worst;
}

LANED_KERNEL(handles_dot, HANDLES_DOT_BUFFERS)
{
    ITEM_BEGIN
    LANED_STRETCH;
    double total[LANED_MOST];
    LANED_EACH total[l] = 0;
    for (; i < end; i++) {
        const INDEX own = (INDEX)i * lanes + lane;
        LANED_EACH total[l] += r[own + l] * z[own + l];
    }
    LANED_EACH partial[(INDEX)item * width + l] = total[l];
    ITEM_END
}

LANED_KERNEL(handles_direction, HANDLES_DIRECTION_BUFFERS)
{
    ITEM_BEGIN
    LANED_STRETCH;
    for (; i < end; i++) {
        const INDEX own = (INDEX)i * lanes + lane;
        LANED_EACH p[own + l] = z[own + l] + scalars[lanes + lane + l] * p[own + l];
    }
    ITEM_END
}

LANED_KERNEL(handles_apply, HANDLES_APPLY_BUFFERS)
{
    ITEM_BEGIN
    LANED_STRETCH;
    double total[LANED_MOST], sum[LANED_MOST];
    LANED_EACH total[l] = 0;
    for (; i < end; i++) {
        const INDEX own = (INDEX)i * lanes + lane;
        handles_around_node(level_neighbour, level_conductance, p + lane, 6 * (INDEX)i, lanes,
                            width, sum);
        LANED_EACH
        {
            const double value = diagonal[i] * p[own + l] - sum[l];
            q[own + l] = value;
            total[l] += value * p[own + l];
        }
    }
    if (given.stretch > 1) LANED_EACH partial[(INDEX)item * width + l] = total[l];
    ITEM_END
}

LANED_KERNEL(handles_advance, HANDLES_ADVANCE_BUFFERS)
{
    ITEM_BEGIN
    LANED_STRETCH;
    double worst[LANED_MOST];
    LANED_EACH worst[l] = 0;
    for (; i < end; i++) {
        const INDEX own = (INDEX)i * lanes + lane;
        LANED_EACH
        {
            const double alpha = scalars[2 * lanes + lane + l];
            const double left = r[own + l] - alpha * q[own + l];
            x[own + l] += alpha * p[own + l];
            r[own + l] = left;
            worst[l] = handles_worse(worst[l], left, inverse[i]);
        }
    }
    if (given.stretch > 1) LANED_EACH partial[(INDEX)item * width + l] = worst[l];
    ITEM_END
}

LANED_KERNEL(handles_worst, HANDLES_WORST_BUFFERS)
{
    ITEM_BEGIN
    LANED_STRETCH;
    double worst[LANED_MOST];
    LANED_EACH worst[l] = 0;
    for (; i < end; i++)
        LANED_EACH worst[l] = handles_worse(worst[l], r[(INDEX)i * lanes + lane + l], inverse[i]);
    LANED_EACH partial[(INDEX)item * width + l] = worst[l];
    ITEM_END
}

/// Sums of all partial sums, in order.
FN void handles_sum_partials(GLOBAL const double *partial, int sums, const int lanes,
                             const int width, double *out)
{
    LANED_EACH out[l] = 0;
    for (INDEX c = 0; c < sums; c++) LANED_EACH out[l] += partial[c * lanes + l];
}

LANED_KERNEL(handles_find_beta, HANDLES_FIND_BETA_BUFFERS)
{
    ITEM_BEGIN
    const int lane = item * width;
    double sum[LANED_MOST];
    handles_sum_partials(partial + lane, given.sums, lanes, width, sum);
    LANED_EACH
    {
        const double rho = scalars[lane + l];
        scalars[lanes + lane + l] = rho > 0 ? sum[l] / rho : 0;
        scalars[lane + l] = sum[l];
    }
    ITEM_END
}

/// A field that has converged to the last bit has nothing left to go along.
LANED_KERNEL(handles_find_alpha, HANDLES_FIND_ALPHA_BUFFERS)
{
    ITEM_BEGIN
    const int lane = item * width;
    double sum[LANED_MOST];
    handles_sum_partials(partial + lane, given.sums, lanes, width, sum);
    LANED_EACH
    {
        const double rho = scalars[lane + l], done = scalars[3 * lanes + lane + l];
        scalars[2 * lanes + lane + l] = done == 0 && sum[l] > 0 && rho > 0 ? rho / sum[l] : 0;
    }
    ITEM_END
}

LANED_KERNEL(handles_done, HANDLES_DONE_BUFFERS)
{
    ITEM_BEGIN
    const int lane = item * width;
    double worst[LANED_MOST];
    LANED_EACH worst[l] = 0;
    for (INDEX c = 0; c < given.sums; c++) LANED_EACH
        {
            const double size = partial[c * lanes + lane + l];
            worst[l] = size > worst[l] ? size : worst[l];
        }
    LANED_EACH
    {
        if (worst[l] < given.tolerance) scalars[3 * lanes + lane + l] = 1;
        if (scalars[3 * lanes + lane + l] == 0) RAISE(flag[0]);
    }
    ITEM_END
}

LANED_KERNEL(handles_gather, HANDLES_GATHER_BUFFERS)
{
    ITEM_BEGIN
    LANED_NODE;
    const INDEX to = (INDEX)i * given.sites + given.first + lane;
    LANED_EACH
    {
        float value = owner[i] == (unsigned)(given.first + lane + l) ? 1 : 0;
        if (owner[i] == HANDLES_NONE) {
            value = (float)x[(INDEX)node[i] * lanes + lane + l];
            value = value < 0 ? 0 : value > 1 ? 1 : value;
        }
        if (given.first + lane + l < given.sites) values[to + l] = value;
    }
    ITEM_END
}

ITEM_KERNEL(handles_normalise, HANDLES_NORMALISE_BUFFERS)
{
    ITEM_BEGIN
    const INDEX to = (INDEX)item * given.sites;
    double sum = 0;
    for (int s = 0; s < given.sites; s++) sum += values[to + s];
    if (sum > 0)
        for (int s = 0; s < given.sites; s++) values[to + s] = (float)(values[to + s] / sum);
    ITEM_END
}

#endif
