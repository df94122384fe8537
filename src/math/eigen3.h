/// Eigenvalues and eigenvectors of a symmetric 3x3 matrix by cyclic Jacobi.
#ifndef CUTIS_MATH_EIGEN3_H
#define CUTIS_MATH_EIGEN3_H

// cutis-skeleton uses it across the border of libcutis.so; it is not part of its interface.
#pragma GCC visibility push(default)

/// @param a       symmetric: xx xy xz yy yz zz
/// @param values  3, descending
/// @param vectors 9: vector k of `values` is vectors[3 k .. 3 k + 2]; orthonormal
void cutis_eigen3(const double *a, double *values, double *vectors);

#pragma GCC visibility pop

#endif
