// Open addressing over 64-bit FNV-1a with a final mix. Invariant: at most half of the slots are
// taken.
#include "io/names.h"

#include <string.h>

static uint64_t hash(cutis_span name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < name.size; i++)
        h = (h ^ (unsigned char)name.data[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

static size_t find_slot(const cutis_names *names, cutis_span name)
{
    size_t slot = (size_t)hash(name) & (names->slot_count - 1);
    for (; names->slots[slot]; slot = (slot + 1) & (names->slot_count - 1)) {
        const char *other = names->names[names->slots[slot] - 1];
        if (strncmp(other, name.data, name.size) == 0 && other[name.size] == 0) break;
    }
    return slot;
}

static bool grow_slots(cutis_names *names)
{
    size_t count = names->slot_count ? 2 * names->slot_count : 64;
    uint32_t *slots = cutis_arena_zero(names->arena, count, sizeof *slots);
    if (!slots) return false;
    names->slots = slots;
    names->slot_count = count;
    for (uint32_t i = 0; i < names->count; i++) {
        cutis_span name = { names->names[i], strlen(names->names[i]) };
        slots[find_slot(names, name)] = i + 1;
    }
    return true;
}

// A name ends at a zero byte, as every C string does.
static cutis_span cut_at_zero(cutis_span name)
{
    const char *zero = name.size ? memchr(name.data, 0, name.size) : NULL;
    if (zero) name.size = (size_t)(zero - name.data);
    return name;
}

bool cutis_names_add(cutis_names *names, cutis_span name, uint32_t *number)
{
    name = cut_at_zero(name);
    if (2 * ((size_t)names->count + 1) > names->slot_count && !grow_slots(names)) return false;
    size_t slot = find_slot(names, name);
    if (names->slots[slot] == 0) {
        if (!cutis_arena_grow(names->arena, &names->names, &names->capacity,
                              (size_t)names->count + 1, sizeof *names->names))
            return false;
        char *copy = cutis_arena_alloc(names->arena, name.size + 1, 1);
        if (!copy) return false;
        if (name.size) memcpy(copy, name.data, name.size);
        copy[name.size] = 0;
        names->names[names->count++] = copy;
        names->slots[slot] = names->count;
    }
    *number = names->slots[slot] - 1;
    return true;
}

uint32_t cutis_names_find(const cutis_names *names, cutis_span name)
{
    if (names->count == 0) return UINT32_MAX;
    return names->slots[find_slot(names, cut_at_zero(name))] - 1u;
}

void cutis_names_repair(cutis_names *names)
{
    for (uint32_t i = 0; i < names->count; i++) cutis_utf8_repair((char *)names->names[i]);
}
