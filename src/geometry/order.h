/// Orders and groups of numbers: comparisons for qsort, counting sort, union and find.
#ifndef CUTIS_GEOMETRY_ORDER_H
#define CUTIS_GEOMETRY_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline int order_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}
static inline int order_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
static inline int order_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Items by key: those of key k are list[first[k]] .. list[first[k + 1]], ascending.
/// @param first key_count + 1
static inline void order_by_key(const uint32_t *keys, size_t count, size_t key_count,
                                uint32_t *first, uint32_t *list)
{
    memset(first, 0, (key_count + 1) * sizeof *first);
    for (size_t i = 0; i < count; i++) first[keys[i] + 1]++;
    for (size_t k = 0; k < key_count; k++) first[k + 1] += first[k];
    for (size_t i = 0; i < count; i++) list[first[keys[i]]++] = (uint32_t)i;
    for (size_t k = key_count; k > 0; k--) first[k] = first[k - 1];
    first[0] = 0;
}

/// The last of list[low] .. list[high - 1], ascending, that is not above a value; `low` if all are.
static inline size_t order_last(const uint32_t *list, size_t low, size_t high, uint32_t value)
{
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/// The one that stands for the group of i. up[i] == i at first; up[group_of(up, a)] = b joins two.
static inline uint32_t group_of(uint32_t *up, uint32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

#endif
