/// Blocks: which vertices share a bone list. Vertices of one bone set fill whole blocks in output
/// order; what is left of each set is merged greedily, so that lists stay short and few lanes are
/// padding.
///
/// Invariant: every vertex is in exactly one lane; a block's list is the ascending union of its
/// vertices' sets; the result depends on nothing but the sets. Blocks are in the order of their
/// first vertex, so outputs are written nearly front to back.
#include "base/error.h"
#include "base/memory.h"
#include "deform/skin.h"
#include "geometry/order.h"

#include <stdlib.h>
#include <string.h>

// Cost of a block beside its bones, in bones: loads, the point, the normal, stores.
#define BLOCK_COST 3
// Rests that are compared with each other; more would make packing quadratic for skins with very
// many sets.
#define WINDOW_SMALL 2048
#define WINDOW_LARGE 256

typedef struct rest {
    uint32_t set, begin, count; ///< vertices [begin, begin + count) of the sorted list
    uint32_t next;              ///< next rest that is not used up, or the end
    const uint32_t *bones;      ///< of the set
    uint32_t size;              ///< their number
} rest;

typedef struct packer {
    const cutis_sets *table;
    uint32_t block_size, block_count, rest_count, window;
    uint32_t *sorted; ///< vertices by set, ascending within a set
    uint32_t *begin;  ///< per set + 1: into `sorted`
    rest *rests;      ///< in lexicographic order of their sets
    uint32_t head;
    uint32_t *lanes; ///< block_size per block
    uint8_t *marked; ///< per bone: in the list of the block being filled
} packer;

static uint32_t set_size(const packer *p, uint32_t set)
{
    return p->table->first[set + 1] - p->table->first[set];
}

static uint32_t *new_block(packer *p)
{
    return p->lanes + (size_t)p->block_size * p->block_count++;
}

/// Blocks of consecutive vertices, which devices write in one go. What is left moves to the front
/// of [at, end).
/// @return the end of what is left
static uint32_t take_runs(packer *p, uint32_t at, uint32_t end)
{
    uint32_t kept = at, *v = p->sorted;
    while (at < end) {
        uint32_t length = 1;
        while (at + length < end && length < p->block_size && v[at + length] == v[at] + length)
            length++;
        if (length == p->block_size) {
            memcpy(new_block(p), v + at, length * sizeof *v);
        } else {
            memmove(v + kept, v + at, length * sizeof *v);
            kept += length;
        }
        at += length;
    }
    return kept;
}

/// Whole blocks of every set; what is left goes to `rests`.
static void take_whole_blocks(packer *p)
{
    for (uint32_t s = 0; s < p->table->count; s++) {
        uint32_t at = p->begin[s], end = take_runs(p, at, p->begin[s + 1]);
        for (; end - at >= p->block_size; at += p->block_size)
            memcpy(new_block(p), p->sorted + at, p->block_size * sizeof *p->sorted);
        if (at < end)
            p->rests[p->rest_count++] = (rest){
                s, at, end - at, 0, p->table->numbers + p->table->first[s], set_size(p, s)
            };
    }
}

/// Lexicographic. No two sets are equal: any sort gives the same.
static int compare_rests(const void *a, const void *b)
{
    const rest *x = a, *y = b;
    for (uint32_t i = 0; i < x->size && i < y->size; i++)
        if (x->bones[i] != y->bones[i]) return x->bones[i] < y->bones[i] ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size;
}

static void mark(packer *p, uint32_t set, uint8_t value)
{
    for (uint32_t i = p->table->first[set]; i < p->table->first[set + 1]; i++)
        p->marked[p->table->numbers[i]] = value;
}

/// How many bones of the set are not yet in the list.
static uint32_t growth(const packer *p, uint32_t set)
{
    uint32_t count = 0;
    for (uint32_t i = p->table->first[set]; i < p->table->first[set + 1]; i++)
        count += !p->marked[p->table->numbers[i]];
    return count;
}

/// The rest to begin a block with: the one with the most bones, since smaller sets then join for
/// nothing.
static uint32_t choose_seed(const packer *p)
{
    uint32_t best = p->head, seen = 0;
    for (uint32_t i = p->head; i < p->rest_count && seen < p->window;
         i = p->rests[i].next, seen++) {
        uint32_t a = p->rests[i].size, b = p->rests[best].size;
        if (a > b || (a == b && p->rests[i].count > p->rests[best].count)) best = i;
    }
    return best;
}

/// The rest that lengthens the list least for the lanes it fills; rest_count if none is worth it.
/// Worth it: new bones cost the whole block one walk each; elsewhere the vertices would cost their
/// share of a block.
static uint32_t choose_partner(const packer *p, uint32_t space)
{
    uint32_t best = p->rest_count, seen = 0;
    int64_t best_gain = -1;
    for (uint32_t i = p->head; i < p->rest_count && seen < p->window;
         i = p->rests[i].next, seen++) {
        const rest *r = &p->rests[i];
        int64_t lanes = r->count < space ? r->count : space;
        int64_t share = lanes * (BLOCK_COST + r->size);
        int64_t gain = share - (int64_t)p->block_size * growth(p, r->set);
        if (gain > best_gain) best = i, best_gain = gain;
    }
    return best;
}

/// Move up to `space` vertices of a rest into the block. @return how many
static uint32_t take(packer *p, uint32_t index, uint32_t *lanes, uint32_t space)
{
    rest *r = &p->rests[index];
    uint32_t count = r->count < space ? r->count : space;
    memcpy(lanes, p->sorted + r->begin, count * sizeof *lanes);
    mark(p, r->set, 1);
    r->begin += count;
    r->count -= count;
    return count;
}

/// Unlink rests that are used up.
static void drop_empty(packer *p)
{
    uint32_t *link = &p->head, seen = 0;
    while (*link < p->rest_count && seen <= p->window) {
        rest *r = &p->rests[*link];
        if (r->count == 0)
            *link = r->next;
        else
            link = &r->next, seen++;
    }
}

static void merge_rests(packer *p, const uint32_t *vertex_set)
{
    while (p->head < p->rest_count) {
        uint32_t *lanes = new_block(p), used = 0;
        uint32_t choice = choose_seed(p);
        while (used < p->block_size && choice < p->rest_count) {
            used += take(p, choice, lanes + used, p->block_size - used);
            drop_empty(p);
            choice = choose_partner(p, p->block_size - used);
        }
        for (uint32_t l = 0; l < used; l++) mark(p, vertex_set[lanes[l]], 0);
        qsort(lanes, used, sizeof *lanes, order_u32); // no two are equal: any sort gives the same
        for (uint32_t l = used; l < p->block_size; l++) lanes[l] = CUTIS_NO_VERTEX;
    }
}

/// The ascending union of the sets of one block into `list` (NULL: only count).
static uint32_t list_block(packer *p, const uint32_t *lanes, const uint32_t *vertex_set,
                           uint32_t *list)
{
    uint32_t count = 0, last = UINT32_MAX;
    for (uint32_t l = 0; l < p->block_size && lanes[l] != CUTIS_NO_VERTEX; l++) {
        uint32_t set = vertex_set[lanes[l]];
        if (set == last) continue;
        last = set;
        for (uint32_t i = p->table->first[set]; i < p->table->first[set + 1]; i++) {
            uint32_t bone = p->table->numbers[i];
            if (p->marked[bone]) continue;
            p->marked[bone] = 1;
            if (list) list[count] = bone;
            count++;
        }
    }
    last = UINT32_MAX;
    for (uint32_t l = 0; l < p->block_size && lanes[l] != CUTIS_NO_VERTEX; l++) {
        if (vertex_set[lanes[l]] != last) mark(p, vertex_set[lanes[l]], 0);
        last = vertex_set[lanes[l]];
    }
    bool ascend = true; // as one set does
    for (uint32_t i = 1; list && i < count; i++) ascend &= list[i - 1] < list[i];
    if (!ascend) qsort(list, count, sizeof *list, order_u32);
    return count;
}

/// A block that has lanes left, and its bones.
typedef struct open_block {
    uint32_t block, count, first, size; ///< bones [first, first + size)
    uint32_t next;
} open_block;

typedef struct open_blocks {
    open_block *items;
    uint32_t *bones;
    uint32_t count, head;
} open_blocks;

/// List the blocks from `begin` on that are not full.
static bool find_open(packer *p, uint32_t begin, const uint32_t *vertex_set, cutis_arena *arena,
                      open_blocks *open)
{
    size_t total = 0, used = 0;
    for (uint32_t k = begin; k < p->block_count; k++) {
        const uint32_t *lanes = p->lanes + (size_t)k * p->block_size;
        if (lanes[p->block_size - 1] != CUTIS_NO_VERTEX) continue;
        total += list_block(p, lanes, vertex_set, NULL);
        open->count++;
    }
    open->items = cutis_arena_alloc(arena, open->count, sizeof *open->items);
    open->bones = cutis_arena_alloc(arena, total, sizeof *open->bones);
    if (!open->items || !open->bones) return false;
    open->count = 0;
    for (uint32_t k = begin; k < p->block_count; k++) {
        const uint32_t *lanes = p->lanes + (size_t)k * p->block_size;
        if (lanes[p->block_size - 1] != CUTIS_NO_VERTEX) continue;
        uint32_t count = 0, size = list_block(p, lanes, vertex_set, open->bones + used);
        while (lanes[count] != CUTIS_NO_VERTEX) count++;
        open->items[open->count] = (open_block){ k, count, (uint32_t)used, size, open->count + 1 };
        open->count++;
        used += size;
    }
    return true;
}

/// The best open block to begin with (space 0: the longest list) or to add (the most bones in
/// common).
static uint32_t choose_open(const packer *p, const open_blocks *open, uint32_t space)
{
    uint32_t best = open->count, seen = 0;
    uint64_t best_score = 0;
    for (uint32_t i = open->head; i < open->count && seen < p->window;
         i = open->items[i].next, seen++) {
        const open_block *item = &open->items[i];
        uint32_t shared = 0;
        if (space && item->count > space) continue;
        for (uint32_t b = 0; b < item->size && space; b++)
            shared += p->marked[open->bones[item->first + b]];
        uint64_t score = ((uint64_t)(space ? shared : item->size) << 32) + item->count + 1;
        if (score > best_score) best = i, best_score = score;
    }
    return best;
}

static void unlink_open(open_blocks *open, uint32_t index)
{
    uint32_t *link = &open->head;
    while (*link != index) link = &open->items[*link].next;
    *link = open->items[index].next;
}

/// Blocks that are not full are put together while they fit: that saves a block's own cost each
/// time, however different their bones are.
static bool merge_open_blocks(packer *p, uint32_t begin, const uint32_t *vertex_set,
                              cutis_arena *arena)
{
    open_blocks open = { 0 };
    if (!find_open(p, begin, vertex_set, arena, &open)) return false;
    while (open.head < open.count) {
        uint32_t choice = choose_open(p, &open, 0), used = 0;
        uint32_t *lanes = p->lanes + (size_t)open.items[choice].block * p->block_size;
        while (choice < open.count) {
            open_block *item = &open.items[choice];
            uint32_t *from = p->lanes + (size_t)item->block * p->block_size;
            memmove(lanes + used, from, item->count * sizeof *lanes);
            if (from != lanes) from[0] = CUTIS_NO_VERTEX; // empty now
            used += item->count;
            for (uint32_t b = 0; b < item->size; b++) p->marked[open.bones[item->first + b]] = 1;
            unlink_open(&open, choice);
            choice =
                used < p->block_size ? choose_open(p, &open, p->block_size - used) : open.count;
        }
        for (uint32_t l = 0; l < used; l++) mark(p, vertex_set[lanes[l]], 0);
        qsort(lanes, used, sizeof *lanes, order_u32);
    }
    uint32_t kept = begin;
    for (uint32_t k = begin; k < p->block_count; k++) {
        uint32_t *lanes = p->lanes + (size_t)k * p->block_size;
        if (lanes[0] == CUTIS_NO_VERTEX) continue;
        memmove(p->lanes + (size_t)kept++ * p->block_size, lanes, p->block_size * sizeof *lanes);
    }
    p->block_count = kept;
    return true;
}

/// By their first vertices, which no two share. The sorted vertices are not needed any more.
static void order_blocks(packer *p, uint32_t vertex_count, uint32_t *vertices)
{
    uint32_t *block = p->sorted, at = 0;
    memset(block, 0xff, vertex_count * sizeof *block);
    for (uint32_t k = 0; k < p->block_count; k++) block[p->lanes[(size_t)k * p->block_size]] = k;
    for (uint32_t v = 0; v < vertex_count; v++)
        if (block[v] != UINT32_MAX)
            memcpy(vertices + (size_t)at++ * p->block_size,
                   p->lanes + (size_t)block[v] * p->block_size, p->block_size * sizeof *vertices);
}

static cutis_result write_lists(cutis_skin_binding *binding, packer *p, const uint32_t *vertex_set)
{
    cutis_skin_layout *layout = &binding->layout;
    size_t slots = (size_t)p->block_count * p->block_size;
    uint32_t *vertices = cutis_layout_alloc(binding, slots, sizeof *vertices);
    uint32_t *list_first =
        cutis_layout_alloc(binding, (size_t)p->block_count + 1, sizeof *list_first);
    if (!vertices || !list_first) return cutis_alloc_result(binding->base.context);
    order_blocks(p, layout->vertex_count, vertices);
    uint64_t total = 0;
    for (uint32_t k = 0; k < p->block_count; k++) {
        total += list_block(p, vertices + (size_t)k * p->block_size, vertex_set, NULL);
        if (total > INT32_MAX / p->block_size)
            return cutis_fail(binding->base.context, CUTIS_LIMIT_EXCEEDED,
                              "bind: too many weights: more than %u list entries",
                              (unsigned)(INT32_MAX / p->block_size));
        list_first[k + 1] = (uint32_t)total;
    }
    uint32_t *list_bone = cutis_layout_alloc(binding, (size_t)total, sizeof *list_bone);
    if (!list_bone) return cutis_alloc_result(binding->base.context);
    for (uint32_t k = 0; k < p->block_count; k++)
        list_block(p, vertices + (size_t)k * p->block_size, vertex_set, list_bone + list_first[k]);
    layout->block_count = p->block_count;
    layout->vertices = vertices;
    layout->list_first = list_first, layout->list_bone = list_bone;
    return CUTIS_OK;
}

cutis_result cutis_bind_pack(cutis_skin_binding *binding, const cutis_sets *table,
                             const uint32_t *vertex_set)
{
    uint32_t vertex_count = binding->layout.vertex_count, sets = table->count;
    packer p = { .table = table, .block_size = binding->layout.block_size };
    // Every set fills whole blocks and at most one more.
    size_t block_limit = (size_t)vertex_count / p.block_size + sets;
    cutis_arena arena = { .context = binding->base.context };
    p.sorted = cutis_arena_alloc(&arena, vertex_count, sizeof *p.sorted);
    p.begin = cutis_arena_alloc(&arena, (size_t)sets + 1, sizeof *p.begin);
    p.rests = cutis_arena_alloc(&arena, sets, sizeof *p.rests);
    p.marked = cutis_arena_zero(&arena, binding->bone_count, sizeof *p.marked);
    p.lanes = cutis_arena_alloc(&arena, block_limit, p.block_size * sizeof *p.lanes);
    cutis_result result;
    if (!p.sorted || !p.begin || !p.rests || !p.marked || !p.lanes) {
        result = cutis_alloc_result(binding->base.context);
    } else {
        order_by_key(vertex_set, vertex_count, sets, p.begin, p.sorted);
        take_whole_blocks(&p);
        p.window = p.rest_count <= 4 * WINDOW_SMALL ? WINDOW_SMALL : WINDOW_LARGE;
        qsort(p.rests, p.rest_count, sizeof *p.rests, compare_rests);
        for (uint32_t i = 0; i < p.rest_count; i++) p.rests[i].next = i + 1;
        uint32_t whole = p.block_count;
        merge_rests(&p, vertex_set);
        result = merge_open_blocks(&p, whole, vertex_set, &arena)
                     ? write_lists(binding, &p, vertex_set)
                     : cutis_alloc_result(binding->base.context);
    }
    cutis_arena_release(&arena);
    return result;
}
