/// Least squares with non-negative unknowns, in Gram form: plain, and with the sum fixed to one.
/// What weights are learned with, one small problem per vertex.
#ifndef CUTIS_FIT_NNLS_H
#define CUTIS_FIT_NNLS_H

#include <stdbool.h>
#include <stdint.h>

#define CUTIS_NNLS_MAX 64 ///< most unknowns of one problem

/// Minimise 1/2 w^T G w - h^T w over w >= 0 (Lawson and Hanson, in the form of Bro and de Jong).
/// @param n 1 .. CUTIS_NNLS_MAX; @param g symmetric positive semidefinite, row-major n x n
/// @param w n; on return w >= 0, (h - G w)_j within the tolerance of 0 where w_j > 0, at most that
///          elsewhere
/// @return false if the guard of 10 n + 10 steps stopped it; w is feasible all the same
bool cutis_nnls(uint32_t n, const double *g, const double *h, double *w);

/// The same with sum w = 1 inside the problem. On return there is a mu with (h - G w)_j = mu where
/// w_j > 0 and <= mu elsewhere, up to the tolerance.
bool cutis_nnls_unit(uint32_t n, const double *g, const double *h, double *w);

/// What counts as zero in a gradient: 10 eps n max_j sum_l |G_jl|.
double cutis_nnls_tolerance(uint32_t n, const double *g);

#endif
