/// Principal poses (docs/spec/pose-space.md 7): displacements of many examples as sums of a few
/// fields.
#ifndef CUTIS_FIT_EXAMPLES_PRINCIPAL_H
#define CUTIS_FIT_EXAMPLES_PRINCIPAL_H

#include <stddef.h>
#include <stdint.h>

#define CUTIS_PRINCIPAL_MAX 256 ///< most columns: the matrix is made diagonal by single rotations

/// Orthonormal directions in which columns differ most: eigenvectors of X^T X, the largest first.
/// With F = X V, X = F V^T; the first m columns of both leave an error whose square is the sum of
/// the other eigenvalues.
/// @param columns count arrays of `rows` floats; @param count 1 .. CUTIS_PRINCIPAL_MAX
/// @param vectors count * count: entry k of direction m at [k * count + m]
/// @param squares count: eigenvalues, the squares of the singular values, descending
/// @param scratch count * count doubles
void cutis_principal_basis(uint32_t count, size_t rows, const float *const *columns,
                           double *vectors, double *squares, double *scratch);

#endif
