/// A binary heap of vertices by distance, ties by number: what marching over a surface needs.
#ifndef CUTIS_GEOMETRY_HEAP_H
#define CUTIS_GEOMETRY_HEAP_H

#include "base/memory.h"

typedef struct cutis_waiting {
    double distance;
    uint32_t vertex;
} cutis_waiting;

/// The zero value with `context` set is empty; release with cutis_heap_release.
typedef struct cutis_heap {
    cutis_context *context;
    cutis_waiting *entries;
    size_t count, capacity;
} cutis_heap;

static inline bool cutis_heap_sooner(cutis_waiting a, cutis_waiting b)
{
    return a.distance < b.distance || (a.distance == b.distance && a.vertex < b.vertex);
}

/// The same order, for qsort of what need not be a heap.
static inline int cutis_heap_order(const void *a, const void *b)
{
    const cutis_waiting *x = a, *y = b;
    return cutis_heap_sooner(*x, *y) ? -1 : cutis_heap_sooner(*y, *x);
}

/// false: out of memory.
static inline bool cutis_heap_push(cutis_heap *heap, double distance, uint32_t vertex)
{
    if (!cutis_grow(heap->context, &heap->entries, &heap->capacity, heap->count + 1,
                    sizeof *heap->entries))
        return false;
    cutis_waiting entry = { distance, vertex };
    size_t i = heap->count++;
    for (; i > 0 && cutis_heap_sooner(entry, heap->entries[(i - 1) / 2]); i = (i - 1) / 2)
        heap->entries[i] = heap->entries[(i - 1) / 2];
    heap->entries[i] = entry;
    return true;
}

/// The nearest; the heap must not be empty.
static inline cutis_waiting cutis_heap_pop(cutis_heap *heap)
{
    cutis_waiting top = heap->entries[0], last = heap->entries[--heap->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < heap->count; i = child) {
        if (child + 1 < heap->count &&
            cutis_heap_sooner(heap->entries[child + 1], heap->entries[child]))
            child++;
        if (!cutis_heap_sooner(heap->entries[child], last)) break;
        heap->entries[i] = heap->entries[child];
    }
    heap->entries[i] = last;
    return top;
}

static inline void cutis_heap_release(cutis_heap *heap)
{
    cutis_free_array(heap->context, heap->entries, heap->capacity, sizeof *heap->entries);
}

#endif
