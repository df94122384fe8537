/// Numbers for names: each different name gets the next number, in order of first use. Constant
/// time per name.
#ifndef CUTIS_IO_NAMES_H
#define CUTIS_IO_NAMES_H

#include "base/memory.h"
#include "io/text.h"

/// The zero value with `arena` set is empty; everything lives in the arena.
typedef struct cutis_names {
    cutis_arena *arena;
    const char **names; ///< count strings
    uint32_t count;
    size_t capacity;
    uint32_t *slots; ///< name number + 1, or 0; slot_count is a power of two
    size_t slot_count;
} cutis_names;

/// @return false without memory
bool cutis_names_add(cutis_names *names, cutis_span name, uint32_t *number);
/// @return the number, or UINT32_MAX
uint32_t cutis_names_find(const cutis_names *names, cutis_span name);
/// Make every name valid UTF-8; nothing can be found afterwards.
void cutis_names_repair(cutis_names *names);

#endif
