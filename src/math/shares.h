/// Shares as whole numbers: what weights become in files. Invariant: the numbers sum to the total
/// wherever a share is above zero.
#ifndef CUTIS_MATH_SHARES_H
#define CUTIS_MATH_SHARES_H

#include <math.h>
#include <stdint.h>

/// Whole numbers nearest to shares that sum to 1: rounded down, then one more for the largest
/// remainders (ties: the larger share, then the first).
static inline void cutis_shares_round(const double *shares, uint32_t count, uint32_t total,
                                      uint32_t *out)
{
    uint32_t given = 0;
    double largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double exact = shares[i] * total;
        out[i] = exact > 0 ? (uint32_t)fmin(floor(exact), total - given) : 0;
        given += out[i];
        largest = fmax(largest, shares[i]);
    }
    while (largest > 0 && given < total) {
        uint32_t best = 0;
        double most = -INFINITY;
        for (uint32_t i = 0; i < count; i++) {
            const double remainder = shares[i] * total - out[i];
            if (remainder > most || (remainder == most && shares[i] > shares[best]))
                most = remainder, best = i;
        }
        out[best]++, given++;
    }
}

#endif
