/// Distinct lists of numbers (the bones of a vertex, a pair of them, ...), numbered in first-seen
/// order.
#ifndef CUTIS_GEOMETRY_SETS_H
#define CUTIS_GEOMETRY_SETS_H

#include "base/memory.h"

/// The zero value with `context` set is empty.
typedef struct cutis_sets {
    cutis_context *context;
    uint32_t count;
    uint32_t *first; ///< count + 1, into `numbers`
    uint32_t *numbers;
    uint32_t *slots; ///< open addressing: set + 1, or 0
    size_t first_capacity, number_capacity, slot_capacity;
} cutis_sets;

/// The set of a list, a new one if need be; lists differ in order too. false: out of memory.
bool cutis_sets_find(cutis_sets *sets, const uint32_t *numbers, uint32_t count, uint32_t *set);
void cutis_sets_release(cutis_sets *sets);

#endif
