/// Memory with a page before and after it that nobody may touch. A block either ends exactly at the
/// page behind it (to the alignment asked for) or begins right after the page before it; what is
/// left of its pages is filled with a pattern that is NaN as float and as double, and must still be
/// there when the block is released. Released pages may not be touched any more either.
#ifndef CUTIS_TESTS_GUARD_H
#define CUTIS_TESTS_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef enum guard_place { GUARD_END = 0, GUARD_BEGIN = 1 } guard_place;

enum { GUARD_PAGE = 4096, GUARD_FILL = 0xff };

typedef struct guard_block {
    unsigned char *pages; ///< the first one that may be used
    size_t size, room;    ///< asked for; of the pages
    size_t offset;        ///< of the block in them
} guard_block;

static inline void guard_must(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "guard: %s\n", what);
    abort();
}

static inline guard_block guard_take(size_t size, size_t alignment, guard_place place)
{
    guard_block b = { .size = size };
    b.room = (size + GUARD_PAGE - 1) / GUARD_PAGE * GUARD_PAGE;
    unsigned char *all = mmap(NULL, b.room + 2 * GUARD_PAGE, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    guard_must(all != MAP_FAILED, "no memory");
    b.pages = all + GUARD_PAGE;
    if (b.room) guard_must(mprotect(b.pages, b.room, PROT_READ | PROT_WRITE) == 0, "mprotect");
    if (place == GUARD_END) b.offset = (b.room - size) / alignment * alignment;
    if (b.room) memset(b.pages, GUARD_FILL, b.room);
    return b;
}

static inline void *guard_memory(const guard_block *b)
{
    return b->pages + b->offset;
}

static inline void guard_give(guard_block *b)
{
    for (size_t i = 0; i < b->room; i++)
        if (i < b->offset || i >= b->offset + b->size)
            guard_must(b->pages[i] == GUARD_FILL, "written beside a block");
    munmap(b->pages - GUARD_PAGE, b->room + 2 * GUARD_PAGE);
    *b = (guard_block){ 0 };
}

#endif
