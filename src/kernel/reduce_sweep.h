/// Sweeps under the gradient energy and under the paper's, a colour a launch.
///
/// Invariant: vertices of a block are of one colour, so nothing that one of them writes is read by
/// another.
#ifndef CUTIS_KERNEL_REDUCE_SWEEP_H
#define CUTIS_KERNEL_REDUCE_SWEEP_H

#include "reduce_exchange.h"
#include "reduce_prior.h"

// A block's own records are read straight on, but those of the vertices around (`size` doubles) lie
// apart: ask for them while another block is solved.
FN void reduce_fetch(const reduce_mesh *mesh, GLOBAL const int *vertex,
                     GLOBAL const double *records, int size)
{
    for (int l = 0; l < KERNEL_LANES && vertex[l] >= 0; l++)
        for (int i = mesh->ring_first[vertex[l]]; i < mesh->ring_first[vertex[l] + 1]; i++) {
            GLOBAL const double *record = records + (INDEX)mesh->ring[i] * size;
            for (int k = 0; k < size; k += 8) FETCH(record + k);
            FETCH(record + size - 1);
        }
}
#if KERNEL_LANES > 1
#define FETCH_NEXT(records, size)                                                                  \
    if (item + 1 < given.item_end) reduce_fetch(&mesh, vertex + KERNEL_LANES, records, size)
#else
#define FETCH_NEXT(records, size) ((void)0)
#endif

// The gradient energy ---------------------------------------------------------------------------

// The error a vertex would have if it were free: its neighbours' average. `always`: even if that is
// zero, as the error is now. @return what multiplies the squared distance from it in the energy; 0:
// there is nothing to do
FN double reduce_wish(const reduce_mesh *mesh, GLOBAL const double *error, int v, int rows,
                      int always, double *RESTRICT desired)
{
    GLOBAL const double *own = error + (INDEX)v * rows;
    const double stiffness = mesh->diagonal[v], share = 1 / stiffness;
    double size = 0;
    for (int r = 0; r < rows; r++) desired[r] = 0;
    for (int i = mesh->ring_first[v]; i < mesh->ring_first[v + 1]; i++) {
        GLOBAL const double *other = error + (INDEX)mesh->ring[i] * rows;
        const double l = mesh->edge[i];
        for (int r = 0; r < rows; r++) desired[r] += l * other[r];
    }
    for (int r = 0; r < rows; r++) desired[r] *= share;
    for (int r = 0; r < rows; r++) size += MAGNITUDE(desired[r]) + MAGNITUDE(own[r]);
    return size > 0 || always ? stiffness : 0;
}

// New weights to where the neighbours read them under a prior.
FN void reduce_scatter_weights(const reduce_block *b, const reduce_sets *sets,
                               GLOBAL const int *vertex, INT idle, const reduce_change *s)
{
    for (int l = 0; l < KERNEL_LANES; l++)
        for (int i = 0; !LANE(idle, l) && i < b->n; i++)
            sets->set_weight[sets->set_first[vertex[l]] + i] = LANE(s->now[i], l);
}

ITEM_KERNEL(reduce_gradient, REDUCE_GRADIENT_BUFFERS)
{
    TAKE_MESH;
    TAKE_PROBLEM;
    TAKE_SETS;
    TAKE_BLOCKS;
    ITEM_BEGIN
    TAKE_BLOCK;
    REAL down = ZERO, stiffness = ZERO;
    block.lambda = given.lambda;
    FETCH_NEXT(error, block.rows);
    for (int l = 0; l < KERNEL_LANES && block.n >= 2; l++) {
        const int v = vertex[l], always = given.lambda > 0;
        if (v >= 0) LANE(stiffness, l) = reduce_wish(&mesh, error, v, block.rows, always, line);
        reduce_gather(&block, l, v, LANE(stiffness, l) > 0, error, line);
    }
    const INT idle = (stiffness > ZERO) == 0;
    if (reduce_any(idle == 0)) {
        reduce_change change;
        reduce_prior prior;
        REAL before, after, desired_weights[REDUCE_SET];
        reduce_begin(&block, idle, &change);
        if (TRIALS > 0) reduce_reselect(&problem, &sets, &block, vertex, TRIALS, &change, &down);
        if (given.lambda > 0) {
            prior.base = base;
            prior.match = match;
            prior.stride = given.stride;
            reduce_prior_push(&prior, &block, &mesh, &sets, vertex, stiffness, desired_weights,
                              &change);
        }
        reduce_update(&block, given.omega, &change);
        reduce_distances(&block, &before, &after);
        if (given.lambda > 0) {
            before += given.lambda * reduce_stray_from(block.n, desired_weights, change.old);
            after += given.lambda * reduce_stray_from(block.n, desired_weights, change.now);
            reduce_scatter_weights(&block, &sets, vertex, idle, &change);
        }
        for (int l = 0; l < KERNEL_LANES; l++)
            if (!LANE(idle, l)) reduce_scatter(&block, l, vertex[l], error, 0);
        down = SELECT(idle, ZERO, stiffness * (before - after));
    }
    STORE_LANES(fall + lane, down);
    ITEM_END
}

// The paper's energy ----------------------------------------------------------------------------

// The error a vertex would have if it were free. @return what multiplies the square; 0: nothing to
// do
FN double reduce_wish_laplace(const reduce_mesh *mesh, GLOBAL const double *area,
                              GLOBAL const double *rho, GLOBAL const double *error, int v, int rows,
                              double *RESTRICT desired)
{
    GLOBAL const double *own = error + (INDEX)v * rows;
    const double m = 1 / area[v], l = -mesh->diagonal[v];
    double a = m * l * l, size = 0;
    for (int r = 0; r < rows; r++) desired[r] = m * l * rho[(INDEX)v * rows + r];
    for (int i = mesh->ring_first[v]; i < mesh->ring_first[v + 1]; i++) {
        const int u = mesh->ring[i];
        const double w = 1 / area[u], c = mesh->edge[i];
        a += w * c * c;
        for (int r = 0; r < rows; r++) desired[r] += w * c * rho[(INDEX)u * rows + r];
    }
    if (!(a > 0)) return 0;
    for (int r = 0; r < rows; r++) {
        size += MAGNITUDE(desired[r]);
        desired[r] = own[r] - desired[r] / a;
    }
    return size > 0 ? a : 0;
}

// The vertex's error moves by `step`: residuals around it follow.
FN void reduce_move_laplace(const reduce_mesh *mesh, GLOBAL double *rho, int v, int rows,
                            const double *RESTRICT step)
{
    for (int r = 0; r < rows; r++) rho[(INDEX)v * rows + r] += -mesh->diagonal[v] * step[r];
    for (int i = mesh->ring_first[v]; i < mesh->ring_first[v + 1]; i++) {
        GLOBAL double *near = rho + (INDEX)mesh->ring[i] * rows;
        for (int r = 0; r < rows; r++) near[r] += mesh->edge[i] * step[r];
    }
}

ITEM_KERNEL(reduce_laplace, REDUCE_LAPLACE_BUFFERS)
{
    TAKE_MESH;
    TAKE_BLOCKS;
    ITEM_BEGIN
    TAKE_BLOCK;
    REAL down = ZERO, stiffness = ZERO;
    FETCH_NEXT(rho, block.rows);
    for (int l = 0; l < KERNEL_LANES && block.n >= 2; l++) {
        const int v = vertex[l];
        if (v >= 0)
            LANE(stiffness, l) = reduce_wish_laplace(&mesh, area, rho, error, v, block.rows, line);
        reduce_gather(&block, l, v, LANE(stiffness, l) > 0, error, line);
    }
    const INT idle = (stiffness > ZERO) == 0;
    if (reduce_any(idle == 0)) {
        reduce_change change;
        REAL before, after;
        double *step = LINE(block.rest, block.rest);
        reduce_begin(&block, idle, &change);
        reduce_update(&block, given.omega, &change);
        reduce_distances(&block, &before, &after);
        for (int l = 0; l < KERNEL_LANES; l++) {
            if (LANE(idle, l)) continue;
            reduce_scatter(&block, l, vertex[l], error, step);
            reduce_move_laplace(&mesh, rho, vertex[l], block.rows, step);
        }
        down = SELECT(idle, ZERO, stiffness * (before - after));
    }
    STORE_LANES(fall + lane, down);
    ITEM_END
}

#endif
