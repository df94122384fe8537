/// Fours of consecutive vertices dealt to blocks so that a block has few bones: it takes in turn
/// the four that adds the fewest to those it has, so a first one that has few.
///
/// Fours with the same bones are a kind. A stretch of the skin is dealt at a time, as long as its
/// kinds are few: the work is a look at each kind for every four. Invariant: what comes out depends
/// on the skin and the block alone, so a skin has one order on every device of a kind.
#include <device/gpu/regroup.h>

#include <base/error.h>
#include <string.h>

enum { FOUR = 4 };

/// Vertices of a stretch. An instance's blocks are written at about the same time, so that what
/// neighbouring blocks write meets in the cache; longer stretches were not measured.
#define STRETCH_VERTICES 65536u
#define STRETCH_FOURS    (STRETCH_VERTICES / FOUR)
#define KINDS_MAX        2048u
#define TABLE_SIZE       (4u * KINDS_MAX)
#define NONE             0xffffffffu

typedef struct four_kind {
    uint32_t next, last; ///< of its fours, the first that is left and the last
} four_kind;

typedef struct regrouper {
    const cutis_skin_layout *from;
    uint32_t stretch;         ///< its number, from 1
    uint32_t begin, fours;    ///< first vertex; fours that have a kind
    uint32_t bones, kinds;    ///< so far
    uint32_t words, capacity; ///< of a set of bones: those in use, and room for all
    uint32_t *stamp, *name;   ///< per bone: the last stretch that had it; its number there
    uint32_t *table;          ///< kinds by the hash of their bones
    uint32_t *after;          ///< per four the next one of its kind
    four_kind *kind;
    uint32_t left[KINDS_MAX], left_count; ///< kinds that have fours left
    uint64_t *set;                        ///< per kind its bones
    uint64_t *bones_now;                  ///< of the four or block at hand
} regrouper;

static cutis_result open_regrouper(regrouper *r, cutis_arena *arena)
{
    const size_t bones = (size_t)r->from->bone_count + 1;
    r->capacity = (uint32_t)((bones + 63) / 64);
    r->stamp = cutis_arena_zero(arena, bones, sizeof *r->stamp);
    r->name = cutis_arena_alloc(arena, bones, sizeof *r->name);
    r->table = cutis_arena_alloc(arena, TABLE_SIZE, sizeof *r->table);
    r->after = cutis_arena_alloc(arena, STRETCH_FOURS, sizeof *r->after);
    r->kind = cutis_arena_alloc(arena, KINDS_MAX, sizeof *r->kind);
    r->set = cutis_arena_alloc(arena, (size_t)KINDS_MAX * r->capacity, sizeof *r->set);
    r->bones_now = cutis_arena_alloc(arena, r->capacity, sizeof *r->bones_now);
    const bool whole =
        r->stamp && r->name && r->table && r->after && r->kind && r->set && r->bones_now;
    return whole ? CUTIS_OK : cutis_alloc_result(arena->context);
}

static uint64_t *set_of(const regrouper *r, uint32_t kind)
{
    return r->set + (size_t)kind * r->capacity;
}

/// The bones of a four, numbered as they come. @return a hash of them
static uint64_t take_bones(regrouper *r, uint32_t four)
{
    const cutis_skin_layout *from = r->from;
    const uint32_t v = r->begin + four * FOUR;
    uint64_t hash = 0;
    memset(r->bones_now, 0, r->capacity * sizeof *r->bones_now);
    for (uint32_t i = from->first[v]; i < from->first[v + FOUR]; i++) {
        const uint32_t bone = from->bone[i];
        if (r->stamp[bone] != r->stretch) {
            r->stamp[bone] = r->stretch;
            r->name[bone] = r->bones++;
        }
        r->bones_now[r->name[bone] / 64] |= 1ull << r->name[bone] % 64;
    }
    r->words = (r->bones + 63) / 64;
    for (uint32_t w = 0; w < r->words; w++) // words that come into use later are no part of it
        if (r->bones_now[w]) {
            hash = (hash ^ r->bones_now[w] ^ w) * 0x9e3779b97f4a7c15ull;
            hash ^= hash >> 29;
        }
    return hash;
}

/// The kind with these bones, perhaps a new one; NONE if there is no room for one.
static uint32_t find_kind(regrouper *r, uint64_t hash)
{
    uint32_t at = (uint32_t)(hash % TABLE_SIZE);
    for (; r->table[at] != NONE; at = (at + 1) % TABLE_SIZE)
        if (memcmp(set_of(r, r->table[at]), r->bones_now, r->capacity * sizeof *r->set) == 0)
            return r->table[at];
    if (r->kinds == KINDS_MAX) return NONE;
    r->table[at] = r->kinds;
    r->kind[r->kinds] = (four_kind){ NONE, NONE };
    memcpy(set_of(r, r->kinds), r->bones_now, r->capacity * sizeof *r->set);
    return r->kinds++;
}

/// Sort the fours from `begin` on into kinds, until there are too many.
static void open_stretch(regrouper *r, uint32_t begin, uint32_t count)
{
    r->begin = begin;
    r->stretch++;
    r->bones = r->kinds = r->words = 0;
    memset(r->table, 0xff, TABLE_SIZE * sizeof *r->table);
    for (r->fours = 0; r->fours < count; r->fours++) {
        const uint32_t four = r->fours, kind = find_kind(r, take_bones(r, four));
        if (kind == NONE) return;
        four_kind *k = &r->kind[kind];
        r->after[four] = NONE;
        if (k->next == NONE)
            k->next = four;
        else
            r->after[k->last] = four;
        k->last = four;
    }
}

static uint32_t count_bits(uint64_t bits)
{
    return (uint32_t)__builtin_popcountll(bits);
}

/// What the block takes next: of the kinds that add the fewest bones the one that shares the most
/// with it, of those the one whose next four comes first.
/// @return its place among the kinds that are left
static uint32_t best_kind(const regrouper *r)
{
    uint32_t best = NONE, best_added = NONE, best_shared = 0;
    for (uint32_t l = 0; l < r->left_count; l++) {
        const uint32_t k = r->left[l];
        const uint64_t *set = set_of(r, k);
        uint32_t added = 0, shared = 0;
        for (uint32_t w = 0; w < r->words; w++) {
            added += count_bits(set[w] & ~r->bones_now[w]);
            shared += count_bits(set[w] & r->bones_now[w]);
        }
        if (added > best_added || (added == best_added && shared < best_shared)) continue;
        if (added == best_added && shared == best_shared &&
            r->kind[r->left[best]].next < r->kind[k].next)
            continue;
        best = l, best_added = added, best_shared = shared;
    }
    return best;
}

static void deal_stretch(regrouper *r, uint32_t block_size, uint32_t *order)
{
    for (r->left_count = 0; r->left_count < r->kinds; r->left_count++)
        r->left[r->left_count] = r->left_count;
    for (uint32_t n = 0; n < r->fours; n++) {
        if (n % (block_size / FOUR) == 0)
            memset(r->bones_now, 0, r->capacity * sizeof *r->bones_now);
        const uint32_t l = best_kind(r), k = r->left[l], four = r->kind[k].next;
        r->kind[k].next = r->after[four];
        if (r->kind[k].next == NONE) r->left[l] = r->left[--r->left_count];
        for (uint32_t w = 0; w < r->words; w++) r->bones_now[w] |= set_of(r, k)[w];
        for (uint32_t i = 0; i < FOUR; i++) order[n * FOUR + i] = r->begin + four * FOUR + i;
    }
}

cutis_result cutis_gpu_regroup(cutis_arena *arena, const cutis_skin_layout *layout,
                               uint32_t block_size, const uint32_t **out)
{
    regrouper *r = cutis_arena_zero(arena, 1, sizeof *r);
    const uint32_t count = layout->vertex_count, per_block = block_size / FOUR;
    uint32_t *order = cutis_arena_alloc(arena, (size_t)count + 1, sizeof *order);
    if (!r || !order) return cutis_alloc_result(arena->context);
    r->from = layout;
    TRY(open_regrouper(r, arena));
    uint32_t begin = 0;
    while (count - begin >= FOUR) {
        const uint32_t left = (count - begin) / FOUR;
        open_stretch(r, begin, left < STRETCH_FOURS ? left : STRETCH_FOURS);
        if (r->fours < left && r->fours % per_block) // whole blocks, as more follow
            open_stretch(r, begin, r->fours - r->fours % per_block);
        deal_stretch(r, block_size, order + begin);
        begin += r->fours * FOUR;
    }
    for (; begin < count; begin++) order[begin] = begin;
    *out = order;
    return CUTIS_OK;
}
