/// Allocation through a context. Invariant: memory_used is the sum of the sizes of live
/// allocations, and never exceeds the limit, because a size is charged before the allocator is
/// asked.
#include "base/memory.h"
#include "base/context.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static _Thread_local cutis_result last_failure = CUTIS_OUT_OF_MEMORY;

bool cutis_size_multiply(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

bool cutis_size_add(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

cutis_result(cutis_alloc_result)(const cutis_context *context)
{
    (void)context;
    return last_failure;
}

bool cutis_charge(cutis_context *context, size_t size)
{
    uint64_t limit = context->options.limits.memory_bytes;
    uint64_t used = atomic_load(&context->memory_used);
    do {
        if (used > limit || size > limit - used) {
            last_failure = cutis_fail(context, CUTIS_LIMIT_EXCEEDED,
                                      "%zu bytes more than the memory limit of %llu allows", size,
                                      (unsigned long long)limit);
            return false;
        }
    } while (!atomic_compare_exchange_weak(&context->memory_used, &used, used + size));
    return true;
}

void cutis_uncharge(cutis_context *context, size_t size)
{
    atomic_fetch_sub(&context->memory_used, size);
}

void *cutis_alloc(cutis_context *context, size_t size)
{
    if (!cutis_charge(context, size)) return NULL;
    const cutis_allocator *allocator = &context->options.allocator;
    void *memory = allocator->allocate(allocator->user, size ? size : 1, ALIGNMENT);
    if (!memory) {
        atomic_fetch_sub(&context->memory_used, size);
        last_failure = cutis_fail(context, CUTIS_OUT_OF_MEMORY, "no memory for %zu bytes", size);
    }
    return memory;
}

void *cutis_alloc_array(cutis_context *context, size_t count, size_t item)
{
    size_t size;
    if (cutis_size_multiply(count, item, &size)) return cutis_alloc(context, size);
    last_failure = cutis_fail(context, CUTIS_OUT_OF_MEMORY, "no memory for %zu items of %zu bytes",
                              count, item);
    return NULL;
}

void *cutis_alloc_zero(cutis_context *context, size_t count, size_t item)
{
    void *memory = cutis_alloc_array(context, count, item);
    return memory ? memset(memory, 0, count * item) : NULL;
}

void cutis_free(cutis_context *context, void *memory, size_t size)
{
    if (!memory) return;
    const cutis_allocator *allocator = &context->options.allocator;
    allocator->release(allocator->user, memory, size ? size : 1);
    atomic_fetch_sub(&context->memory_used, size);
}

// What is given away has a zero behind it, so that text can be read as such.
void cutis_memory_free(cutis_context *context, void *memory, size_t size)
{
    if (context && memory) cutis_free(context, memory, size + 1);
}

void cutis_free_array(cutis_context *context, void *memory, size_t count, size_t item)
{
    cutis_free(context, memory, count * item); // cannot overflow: the allocation succeeded with it
}

// Arena -----------------------------------------------------------------------------------------

typedef struct cutis_arena_chunk {
    struct cutis_arena_chunk *next;
    size_t size, used; // bytes, this header included
} cutis_arena_chunk;

enum { CHUNK_SIZE = 64 << 10, SMALL = 4 << 10 };

static size_t align_up(size_t value, size_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

static cutis_arena_chunk *add_chunk(cutis_arena *arena, size_t size)
{
    cutis_arena_chunk *chunk = cutis_alloc(arena->context, size);
    if (!chunk) return NULL;
    chunk->size = size;
    chunk->used = align_up(sizeof *chunk, ALIGNMENT);
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *cutis_arena_alloc(cutis_arena *arena, size_t count, size_t item)
{
    size_t size, whole;
    if (!cutis_size_multiply(count, item, &size) || !cutis_size_add(size, 2 * ALIGNMENT, &whole)) {
        last_failure = cutis_fail(arena->context, CUTIS_OUT_OF_MEMORY,
                                  "no memory for %zu items of %zu bytes", count, item);
        return NULL;
    }
    const size_t alignment = size < ALIGNMENT ? 16 : ALIGNMENT;
    cutis_arena_chunk *chunk = arena->chunks;
    if (size >=
        SMALL) { // its own chunk, behind the current one so that small ones go on filling that
        chunk = add_chunk(arena, whole);
        if (!chunk) return NULL;
        if (chunk->next) {
            arena->chunks = chunk->next;
            chunk->next = arena->chunks->next;
            arena->chunks->next = chunk;
        }
    } else if (!chunk ||
               align_up(chunk->used, alignment) > chunk->size || // a large chunk may end anywhere
               size > chunk->size - align_up(chunk->used, alignment)) {
        chunk = add_chunk(arena, CHUNK_SIZE);
        if (!chunk) return NULL;
    }
    size_t start = align_up(chunk->used, alignment);
    chunk->used = start + size;
    return (char *)chunk + start;
}

void *cutis_arena_zero(cutis_arena *arena, size_t count, size_t item)
{
    void *memory = cutis_arena_alloc(arena, count, item);
    return memory ? memset(memory, 0, count * item) : NULL;
}

// The chunk of an array that has one of its own, out of its arena's list; NULL: there is none.
static cutis_arena_chunk *unlink_large(cutis_arena *arena, const void *array, size_t size)
{
    const size_t start = align_up(sizeof(cutis_arena_chunk), ALIGNMENT);
    for (cutis_arena_chunk **link = &arena->chunks; *link; link = &(*link)->next) {
        cutis_arena_chunk *chunk = *link;
        if ((char *)chunk + start != array || chunk->used != start + size) continue;
        *link = chunk->next;
        return chunk;
    }
    return NULL;
}

// From this size on the search for a chunk costs less than a copy.
static const size_t WORTH_TAKING = 1u << 20;

static void *take_over(cutis_arena *arena, const void *data, size_t count, size_t item)
{
    size_t size;
    if (!arena->lender || !cutis_size_multiply(count, item, &size) || size < WORTH_TAKING)
        return NULL;
    cutis_arena_chunk *chunk = unlink_large(arena->lender, data, size);
    if (!chunk) return NULL;
    cutis_arena_chunk **place = arena->chunks ? &arena->chunks->next : &arena->chunks;
    chunk->next = *place; // behind the one that small arrays go on filling
    *place = chunk;
    return (void *)data;
}

void *cutis_arena_copy(cutis_arena *arena, const void *data, size_t count, size_t item)
{
    void *taken = take_over(arena, data, count, item);
    if (taken) return taken;
    void *copy = cutis_arena_alloc(arena, count, item);
    if (copy && count) memcpy(copy, data, count * item);
    return copy;
}

char *cutis_arena_string(cutis_arena *arena, const char *text)
{
    return text ? cutis_arena_copy(arena, text, strlen(text) + 1, 1) : NULL;
}

char *cutis_arena_format(cutis_arena *arena, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : cutis_arena_alloc(arena, (size_t)length + 1, 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

// An array that has a chunk of its own goes at once; a small one stays until the arena goes.
static void drop_large(cutis_arena *arena, const void *array, size_t size)
{
    cutis_arena_chunk *chunk = size >= SMALL ? unlink_large(arena, array, size) : NULL;
    if (chunk) cutis_free(arena->context, chunk, chunk->size);
}

/// In the arena, or without one through the context.
static bool grow(cutis_context *context, cutis_arena *arena, void *array_pointer, size_t *capacity,
                 size_t needed, size_t item)
{
    if (needed <= *capacity) return true;
    size_t grown = *capacity < 8 ? 8 : *capacity;
    while (grown < needed) {
        if (!cutis_size_multiply(grown, 2, &grown)) grown = needed;
    }
    void *old, *fresh = arena ? cutis_arena_alloc(arena, grown, item)
                              : cutis_alloc_array(context, grown, item);
    if (!fresh) return false;
    memcpy(&old, array_pointer, sizeof old); // the caller's pointer may be of any type
    if (old) memcpy(fresh, old, *capacity * item);
    if (arena)
        drop_large(arena, old, *capacity * item);
    else
        cutis_free_array(context, old, *capacity, item);
    memcpy(array_pointer, &fresh, sizeof fresh);
    *capacity = grown;
    return true;
}

bool cutis_grow(cutis_context *context, void *array_pointer, size_t *capacity, size_t needed,
                size_t item)
{
    return grow(context, NULL, array_pointer, capacity, needed, item);
}

bool cutis_arena_grow(cutis_arena *arena, void *array_pointer, size_t *capacity, size_t needed,
                      size_t item)
{
    return grow(arena->context, arena, array_pointer, capacity, needed, item);
}

void cutis_arena_release(cutis_arena *arena)
{
    while (arena->chunks) {
        cutis_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        cutis_free(arena->context, chunk, chunk->size);
    }
}

// The arena stands before its object, in its own first chunk.
void *cutis_owner_create(cutis_context *context, size_t size)
{
    cutis_arena own = { .context = context };
    cutis_arena *arena = cutis_arena_zero(&own, 1, ALIGNMENT + size);
    if (!arena) return NULL;
    *arena = own;
    return (char *)arena + ALIGNMENT;
}

cutis_arena *cutis_owner_arena(void *object)
{
    return (cutis_arena *)((char *)object - ALIGNMENT);
}

void cutis_owner_destroy(void *object)
{
    if (!object) return;
    cutis_arena own = *cutis_owner_arena(object);
    cutis_arena_release(&own);
}
