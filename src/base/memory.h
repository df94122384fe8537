/// Allocation through a context: charged before it happens, sized by checked arithmetic, released
/// with its size. Also the arena: many small allocations, one release.
#ifndef CUTIS_BASE_MEMORY_H
#define CUTIS_BASE_MEMORY_H

#include <cutis/base.h>

// cutis-io and cutis-render use these across the border of libcutis.so; they are not part of its
// interface.
#pragma GCC visibility push(default)

/// `size` bytes aligned to 64, or NULL with the context's error set (limit or allocator). size 0
/// gives a valid pointer that must be released with size 0.
void *cutis_alloc(cutis_context *context, size_t size);
/// The same for `count * item` bytes; NULL if the product overflows.
void *cutis_alloc_array(cutis_context *context, size_t count, size_t item);
/// The same, zeroed.
void *cutis_alloc_zero(cutis_context *context, size_t count, size_t item);
void cutis_free(cutis_context *context, void *memory, size_t size);
void cutis_free_array(cutis_context *context, void *memory, size_t count, size_t item);
/// Grow an array to at least `needed` items (capacity doubles); contents kept. false on failure,
/// array unchanged.
bool cutis_grow(cutis_context *context, void *array_pointer, size_t *capacity, size_t needed,
                size_t item);

/// Count memory that somebody else allocates (a library with its own allocator) towards the
/// context's limit, before it is asked for. false, with the error set: the limit does not allow it.
bool cutis_charge(cutis_context *context, size_t size);
void cutis_uncharge(cutis_context *context, size_t size);

/// After a failed allocation: CUTIS_OUT_OF_MEMORY or CUTIS_LIMIT_EXCEEDED, whichever it was in this
/// thread.
cutis_result cutis_alloc_result(const cutis_context *context);
#ifdef __clang_analyzer__ // it looks at one file at a time, and must know that this is never OK
#define cutis_alloc_result(context) (cutis_alloc_result(context), CUTIS_OUT_OF_MEMORY)
#endif

/// Checked sizes: false on overflow, and nothing written.
bool cutis_size_multiply(size_t a, size_t b, size_t *out);
bool cutis_size_add(size_t a, size_t b, size_t *out);

/// Chunks of memory released together. The zero value with `context` set is an empty arena.
typedef struct cutis_arena {
    cutis_context *context;
    struct cutis_arena_chunk *chunks;
    /// Of the same context, or NULL: large arrays of it are taken over by cutis_arena_copy as they
    /// lie. For a reader that is done with what it read.
    struct cutis_arena *lender;
} cutis_arena;

/// 16-byte aligned (arrays of 64 bytes and more: 64), or NULL.
void *cutis_arena_alloc(cutis_arena *arena, size_t count, size_t item);
void *cutis_arena_zero(cutis_arena *arena, size_t count, size_t item); ///< the same, zeroed
void *cutis_arena_copy(cutis_arena *arena, const void *data, size_t count, size_t item);
char *cutis_arena_string(cutis_arena *arena, const char *text); ///< NULL gives NULL
char *cutis_arena_format(cutis_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/// cutis_grow for an array that only this has allocated; it goes with the arena.
bool cutis_arena_grow(cutis_arena *arena, void *array_pointer, size_t *capacity, size_t needed,
                      size_t item);
void cutis_arena_release(cutis_arena *arena);

/// A zeroed object in an arena of its own, where what it points at may live too; NULL: out of
/// memory. All of it goes with the object.
void *cutis_owner_create(cutis_context *context, size_t size);
cutis_arena *cutis_owner_arena(void *object);
void cutis_owner_destroy(void *object); ///< NULL is fine

#pragma GCC visibility pop

#endif
