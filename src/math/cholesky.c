/// Cholesky, column by column. Invariant: every sum runs over ascending indices, so the bits are
/// the same everywhere.
#include "math/cholesky.h"

#include <math.h>
#include <stddef.h>

bool cutis_cholesky_factor(uint32_t n, double *a)
{
    for (size_t j = 0; j < n; j++) {
        double pivot = a[j * n + j];
        for (size_t k = 0; k < j; k++) pivot -= a[j * n + k] * a[j * n + k];
        if (!(pivot > 0.0) || isinf(pivot)) return false;
        pivot = sqrt(pivot);
        a[j * n + j] = pivot;
        for (size_t i = j + 1; i < n; i++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = sum / pivot;
        }
    }
    return true;
}

void cutis_cholesky_solve(uint32_t n, const double *a, double *b)
{
    for (size_t i = 0; i < n; i++) {
        double sum = b[i];
        for (size_t k = 0; k < i; k++) sum -= a[i * n + k] * b[k];
        b[i] = sum / a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        double sum = b[i];
        for (size_t k = i + 1; k < n; k++) sum -= a[k * n + i] * b[k];
        b[i] = sum / a[i * n + i];
    }
}
