/// Orders and groups of numbers: comparisons for qsort, counting sort, quickselect, union and find.
#ifndef CUTIS_GEOMETRY_ORDER_H
#define CUTIS_GEOMETRY_ORDER_H

#include <stdbool.h>
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

/// Is item a before b? By keys[stride * item], ties by item.
static inline bool order_before(const double *keys, size_t stride, uint32_t a, uint32_t b)
{
    const double x = keys[stride * a], y = keys[stride * b];
    return x < y || (x == y && a < b);
}
/// Quickselect: list[middle] becomes what a sort of list[low] .. list[high - 1] by order_before
/// puts there, and what is before it stands before it.
static inline void order_select(uint32_t *list, uint32_t low, uint32_t high, uint32_t middle,
                                const double *keys, size_t stride)
{
    while (high - low > 1) {
        uint32_t pivot = list[low + (high - low) / 2], i = low, j = high - 1;
        while (i <= j) {
            while (order_before(keys, stride, list[i], pivot)) i++;
            while (order_before(keys, stride, pivot, list[j])) j--;
            if (i > j) break;
            uint32_t swap = list[i];
            list[i++] = list[j], list[j] = swap;
            if (j == 0) break;
            j--;
        }
        if (middle <= j)
            high = j + 1;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

/// The one that stands for the group of i. up[i] == i at first; up[group_of(up, a)] = b joins two.
static inline uint32_t group_of(uint32_t *up, uint32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

#endif
