/// Small dense symmetric positive definite systems by Cholesky, in double, in fixed order.
#ifndef CUTIS_MATH_CHOLESKY_H
#define CUTIS_MATH_CHOLESKY_H

#include <stdbool.h>
#include <stdint.h>

/// Factor in place: the lower triangle of a (row-major n x n) becomes L with L L^T = a; the upper
/// one is not read.
/// @return false if a pivot is not positive; `a` is then undefined
bool cutis_cholesky_factor(uint32_t n, double *a);

/// Solve L L^T x = b in place, with what cutis_cholesky_factor left.
void cutis_cholesky_solve(uint32_t n, const double *a, double *b);

#endif
