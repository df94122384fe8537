/// Open addressing over a mixed hash, at most half full. Invariant: ids follow the order of first
/// sight; equal sets have equal ids (full comparison).
#include "geometry/sets.h"

#include <string.h>

static uint64_t hash_numbers(const uint32_t *numbers, uint32_t count)
{
    uint64_t hash = 0x9e3779b97f4a7c15u ^ count;
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ numbers[i]) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool same_numbers(const cutis_sets *table, uint32_t set, const uint32_t *numbers,
                         uint32_t count)
{
    uint32_t first = table->first[set];
    return table->first[set + 1] - first == count &&
           memcmp(table->numbers + first, numbers, count * sizeof *numbers) == 0;
}

/// Twice the slots; every set is put in again.
static bool grow_slots(cutis_sets *table)
{
    size_t capacity = table->slot_capacity ? 2 * table->slot_capacity : 64;
    uint32_t *slots = cutis_alloc_zero(table->context, capacity, sizeof *slots);
    if (!slots) return false;
    for (uint32_t set = 0; set < table->count; set++) {
        uint32_t first = table->first[set];
        size_t at =
            hash_numbers(table->numbers + first, table->first[set + 1] - first) & (capacity - 1);
        while (slots[at]) at = (at + 1) & (capacity - 1);
        slots[at] = set + 1;
    }
    cutis_free_array(table->context, table->slots, table->slot_capacity, sizeof *slots);
    table->slots = slots;
    table->slot_capacity = capacity;
    return true;
}

bool cutis_sets_find(cutis_sets *table, const uint32_t *numbers, uint32_t count, uint32_t *set)
{
    if (2 * ((size_t)table->count + 1) > table->slot_capacity && !grow_slots(table)) return false;
    size_t mask = table->slot_capacity - 1, at = hash_numbers(numbers, count) & mask;
    for (; table->slots[at]; at = (at + 1) & mask)
        if (same_numbers(table, table->slots[at] - 1, numbers, count)) {
            *set = table->slots[at] - 1;
            return true;
        }
    size_t used = table->count ? table->first[table->count] : 0;
    if (!cutis_grow(table->context, &table->first, &table->first_capacity, (size_t)table->count + 2,
                    sizeof *table->first) ||
        !cutis_grow(table->context, &table->numbers, &table->number_capacity, used + count,
                    sizeof *table->numbers))
        return false;
    table->first[table->count] = (uint32_t)used;
    memcpy(table->numbers + used, numbers, count * sizeof *numbers);
    table->slots[at] = table->count + 1;
    *set = table->count++;
    table->first[table->count] = (uint32_t)(used + count);
    return true;
}

void cutis_sets_release(cutis_sets *table)
{
    cutis_free_array(table->context, table->slots, table->slot_capacity, sizeof *table->slots);
    cutis_free_array(table->context, table->first, table->first_capacity, sizeof *table->first);
    cutis_free_array(table->context, table->numbers, table->number_capacity,
                     sizeof *table->numbers);
    *table = (cutis_sets){ .context = table->context };
}
