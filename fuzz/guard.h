/// The allocator of the fast fuzz programs (CUTIS_FUZZ=FAST), which have no AddressSanitizer: every
/// block ends at a page that nobody may touch, so reading or writing past its end stops at once.
/// Blocks are rounded up to lines of 64 bytes; the bytes between and the line before are filled and
/// looked at on release, and what was released is overwritten. Slots of pages are reserved once and
/// used again last in, first out, so that an allocation costs no system call. jansson's small
/// blocks come from a buffer that is started anew with each execution, and are counted.
#ifndef CUTIS_FUZZ_GUARD_H
#define CUTIS_FUZZ_GUARD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cutis/base.h>
#include <jansson.h>

enum {
    GUARD_PAGE = 4096,
    GUARD_LINE = 64,
    GUARD_CLASSES = 9, ///< of 1, 2, 4 ... 256 pages
    GUARD_SLOTS = 1024,
    GUARD_WIPE = 4096,     ///< bytes that are overwritten on release
    GUARD_FILL = 0xa5,     ///< around a block
    GUARD_RELEASED = 0xdd, ///< in it, when it is nobody's
    GUARD_JSON = 64 << 20,
};

#define GUARD_MUST(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "guard: %s\n", #condition);                                            \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

typedef struct guard_class {
    uint8_t *base; ///< GUARD_SLOTS of (pages and one that is closed)
    size_t slot_bytes;
    uint32_t made, free_count;
    uint32_t free_slots[GUARD_SLOTS];
    size_t sizes[GUARD_SLOTS]; ///< of the block; SIZE_MAX: free
} guard_class;

static guard_class guard_classes[GUARD_CLASSES];
static struct {
    uint8_t *base;
    size_t used, live;
    size_t kept_used, kept_live; ///< what models hold that are made once
} guard_json;

static inline size_t guard_round(size_t size)
{
    return (size + GUARD_LINE - 1) / GUARD_LINE * GUARD_LINE;
}

static inline guard_class *guard_class_of(size_t size)
{
    size_t pages = 1;
    for (int c = 0; c < GUARD_CLASSES; c++, pages *= 2)
        if (guard_round(size) <= pages * GUARD_PAGE) {
            guard_class *k = &guard_classes[c];
            if (k->base) return k;
            k->slot_bytes = pages * GUARD_PAGE;
            k->base = mmap(NULL, GUARD_SLOTS * (k->slot_bytes + GUARD_PAGE), PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            GUARD_MUST(k->base != MAP_FAILED);
            return k;
        }
    return NULL;
}

static inline uint8_t *guard_slot(const guard_class *k, uint32_t slot)
{
    return k->base + (size_t)slot * (k->slot_bytes + GUARD_PAGE);
}

/// Large blocks, and those that no slot is left for, are the C library's.
static void *guard_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    GUARD_MUST(alignment <= GUARD_LINE && size <= SIZE_MAX / 2);
    guard_class *k = guard_class_of(size);
    if (!k || (!k->free_count && k->made == GUARD_SLOTS))
        return aligned_alloc(GUARD_LINE, guard_round(size));
    uint32_t slot;
    if (k->free_count) {
        slot = k->free_slots[--k->free_count];
    } else {
        slot = k->made++;
        if (mprotect(guard_slot(k, slot), k->slot_bytes, PROT_READ | PROT_WRITE) != 0) return NULL;
    }
    uint8_t *start = guard_slot(k, slot), *end = start + k->slot_bytes;
    uint8_t *block = end - guard_round(size);
    k->sizes[slot] = size;
    memset(block + size, GUARD_FILL, (size_t)(end - block) - size);
    if (block > start) memset(block - GUARD_LINE, GUARD_FILL, GUARD_LINE);
    return block;
}

static inline void guard_check(const uint8_t *from, const uint8_t *to)
{
    for (; from < to; from++) GUARD_MUST(*from == GUARD_FILL);
}

static void guard_release(void *user, void *memory, size_t size)
{
    (void)user;
    uint8_t *block = memory;
    if (!block) return;
    guard_class *k = guard_class_of(size);
    if (!k || block < k->base || block >= guard_slot(k, GUARD_SLOTS)) {
        free(block);
        return;
    }
    uint32_t slot = (uint32_t)((size_t)(block - k->base) / (k->slot_bytes + GUARD_PAGE));
    uint8_t *start = guard_slot(k, slot), *end = start + k->slot_bytes;
    GUARD_MUST(k->sizes[slot] == size); // and not released twice
    GUARD_MUST(block == end - guard_round(size));
    guard_check(block + size, end);
    if (block > start) guard_check(block - GUARD_LINE, block);
    memset(block, GUARD_RELEASED, size < GUARD_WIPE ? size : GUARD_WIPE);
    k->sizes[slot] = SIZE_MAX;
    k->free_slots[k->free_count++] = slot;
}

static void *guard_json_allocate(size_t size)
{
    if (!guard_json.base) {
        guard_json.base = mmap(NULL, GUARD_JSON, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        GUARD_MUST(guard_json.base != MAP_FAILED);
    }
    size_t bytes = (size + 15) / 16 * 16;
    if (bytes > GUARD_JSON - guard_json.used) return NULL;
    guard_json.live++;
    guard_json.used += bytes;
    return guard_json.base + guard_json.used - bytes;
}

static void guard_json_release(void *memory)
{
    if (memory) guard_json.live--;
}

/// Before each execution: the input again, at the end of a page that is followed by a closed one.
static const uint8_t *guard_begin(const uint8_t *data, size_t size)
{
    static uint8_t *end;
    static const size_t LARGEST = 1 << 20;
    if (!end) {
        uint8_t *room = mmap(NULL, LARGEST + GUARD_PAGE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        GUARD_MUST(room != MAP_FAILED && mprotect(room + LARGEST, GUARD_PAGE, PROT_NONE) == 0);
        end = room + LARGEST;
        json_set_alloc_funcs(guard_json_allocate, guard_json_release);
    }
    GUARD_MUST(size <= LARGEST);
    return memcpy(end - size, data, size);
}

static void guard_end(void)
{
    GUARD_MUST(guard_json.live == guard_json.kept_live);
    guard_json.used = guard_json.kept_used;
}

/// What is allocated now stays.
static inline void guard_keep(void)
{
    guard_json.kept_live = guard_json.live;
    guard_json.kept_used = guard_json.used;
}

#endif
