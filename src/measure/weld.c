/// Which vertices share a position. An open-addressing table keyed by the three floats; vertices
/// enter in ascending order, so the representative is always the lowest. -0 and +0 are the same
/// place.
#include <cutis/measure.h>

#include <string.h>

#include "base/memory.h"

static uint32_t coordinate_bits(float value)
{
    uint32_t bits;
    if (value == 0.0f) return 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t position_hash(const uint32_t key[3])
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < 3; k++) {
        h ^= key[k];
        h *= 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static void position_key(const float *positions, uint32_t vertex, uint32_t key[3])
{
    for (int k = 0; k < 3; k++) key[k] = coordinate_bits(positions[3 * (size_t)vertex + k]);
}

// A table larger than the near caches is waited for, unless it is asked for some vertices ahead.
enum { AHEAD = 12 };

cutis_result cutis_weld_positions(cutis_context *context, uint32_t vertex_count,
                                  const float *positions, uint32_t *weld)
{
    size_t capacity = 16;
    while (capacity < 2 * (size_t)vertex_count) capacity *= 2;
    uint32_t *table = cutis_alloc_array(context, capacity, sizeof *table);
    if (!table) return cutis_alloc_result(context);
    memset(table, 0xff, capacity * sizeof *table);
    for (uint32_t v = 0; v < vertex_count; v++) {
        uint32_t key[3], other[3];
        if (v + AHEAD < vertex_count) {
            position_key(positions, v + AHEAD, key);
            __builtin_prefetch(&table[position_hash(key) & (capacity - 1)]);
        }
        position_key(positions, v, key);
        size_t slot = position_hash(key) & (capacity - 1);
        weld[v] = v;
        for (; table[slot] != UINT32_MAX; slot = (slot + 1) & (capacity - 1)) {
            position_key(positions, table[slot], other);
            if (memcmp(key, other, sizeof key) == 0) {
                weld[v] = table[slot];
                break;
            }
        }
        if (weld[v] == v) table[slot] = v;
    }
    cutis_free_array(context, table, capacity, sizeof *table);
    return CUTIS_OK;
}
