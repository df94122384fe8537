/// Singular values of a 3x3 matrix, and its polar decomposition.
#ifndef CUTIS_MATH_SVD3_H
#define CUTIS_MATH_SVD3_H

#include <stdbool.h>

// cutis-skeleton uses these across the border of libcutis.so.
#pragma GCC visibility push(default)

/// a = U diag(s) V^T with proper rotations U and V (row-major); s[0] >= s[1] >= |s[2]|, s[2] has
/// the sign of det a.
void cutis_svd3(const double *a, double *u, double *s, double *v);

/// The proper rotation R of the polar decomposition of sign(det a) a, so that a = R S with S
/// symmetric.
/// @return false, and nothing written, when `a` does not define it: two singular values below 1e-6
/// of the largest, or a = 0
bool cutis_polar3(const double *a, double *rotation);

#pragma GCC visibility pop

#endif
