// Levels of the multigrid numbered by the host: blocks of 2 x 2 x 2 nodes in the order of their
// first children, colour by colour. Invariant: where nothing is cut, the numbers are those of
// kernel/handles_levels.h. Where limbs touch, the first coarser level keeps the pieces of a block
// apart, or a correction meant for one leg would move the other.
#include "base/error.h"
#include "fit/handles/multigrid.h"
#include "fit/handles/sheets.h"
#include "geometry/order.h"
#include "kernel/handles_levels.h"

typedef struct numbering {
    cutis_arena scratch;
    cutis_handles_work *work;
    cutis_handles_system *system;
    int size[3];          ///< of the finer level's grid
    uint32_t *cell;       ///< per finer node: its place there
    uint32_t *voxel;      ///< per finest node; NULL beyond the finest
    uint32_t *of_block;   ///< per block: its group, or NONE
    uint32_t *of_piece;   ///< per node of the grid, where blocks are cut
    uint32_t *group;      ///< per finer node
    uint32_t *block;      ///< per group
    uint32_t *own;        ///< per group: its number, colour by colour
    uint32_t group_count; ///< in the order of their first children
} numbering;

static uint32_t block_of(const numbering *n, uint32_t cell)
{
    handles_cell c = handles_cell_of(cell, n->size[0], n->size[1]);
    c.x /= 2, c.y /= 2, c.z /= 2;
    return (uint32_t)((c.z * ((n->size[1] + 1) / 2) + c.y) * ((n->size[0] + 1) / 2) + c.x);
}

static uint32_t blocks_of(const int *size)
{
    return (uint32_t)(((size[0] + 1) / 2) * ((size[1] + 1) / 2) * ((size[2] + 1) / 2));
}

// Groups of the finer level's nodes: blocks, or pieces of them.
static void group_nodes(numbering *n, uint32_t count)
{
    const cutis_handles_sheets *sheets = n->system->grid->sheets;
    const uint32_t blocks = blocks_of(n->size);
    n->group_count = 0;
    for (uint32_t b = 0; b < blocks; b++) n->of_block[b] = CUTIS_HANDLES_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t block = block_of(n, n->cell[i]);
        const uint32_t piece = n->voxel && sheets ? sheets->piece[n->voxel[i]] : CUTIS_HANDLES_NONE;
        uint32_t *slot = piece == CUTIS_HANDLES_NONE ? &n->of_block[block] : &n->of_piece[piece];
        if (*slot == CUTIS_HANDLES_NONE) {
            n->block[n->group_count] = block;
            *slot = n->group_count++;
        }
        n->group[i] = *slot;
    }
}

static int colour_of(const numbering *n, uint32_t block)
{
    return handles_colour(handles_cell_of(block, (n->size[0] + 1) / 2, (n->size[1] + 1) / 2));
}

// Numbers of the groups, and their places. @return how many are of the first colour
static uint32_t number_groups(numbering *n, uint32_t *cell)
{
    uint32_t red = 0, at[2] = { 0 };
    for (uint32_t g = 0; g < n->group_count; g++) red += colour_of(n, n->block[g]) == 0;
    at[1] = red;
    for (uint32_t g = 0; g < n->group_count; g++) {
        n->own[g] = at[colour_of(n, n->block[g])]++;
        cell[n->own[g]] = n->block[g];
    }
    return red;
}

// One level more, into the work's buffers.
static cutis_result write_level(numbering *n, const cutis_handles_level *fine,
                                cutis_handles_level *coarse)
{
    cutis_handles_buffers *b = &n->work->buffers;
    const uint32_t depth = n->system->level_count, count = fine->count, groups = n->group_count;
    uint32_t *cell = cutis_arena_alloc(&n->scratch, groups, sizeof *cell);
    uint32_t *first = cutis_arena_alloc(&n->scratch, (size_t)groups + 1, sizeof *first);
    uint32_t *child = cutis_arena_alloc(&n->scratch, count, sizeof *child);
    if (!cell || !first || !child) return cutis_alloc_result(n->scratch.context);
    coarse->red_count = number_groups(n, cell);
    for (uint32_t i = 0; i < count; i++) n->group[i] = n->own[n->group[i]];
    order_by_key(n->group, count, groups, first, child);
    TRY(cutis_buffer_write(b->cell, 4ull * coarse->at, cell, 4ull * groups));
    TRY(cutis_buffer_write(b->order, 4ull * coarse->at, n->own, 4ull * groups));
    TRY(cutis_buffer_write(b->parent, 4ull * fine->at, n->group, 4ull * count));
    TRY(cutis_buffer_write(b->child, 4ull * fine->at, child, 4ull * count));
    TRY(cutis_buffer_write(b->child_first, 4ull * (coarse->at + depth), first, 4ull * groups + 4));
    n->cell = cell;
    n->voxel = NULL;
    for (int c = 0; c < 3; c++) n->size[c] = (n->size[c] + 1) / 2;
    return CUTIS_OK;
}

static cutis_result prepare(numbering *n)
{
    const cutis_handles_grid *grid = n->system->grid;
    const cutis_handles_buffers *b = &n->work->buffers;
    const size_t count = n->system->levels[0].count;
    n->cell = cutis_arena_alloc(&n->scratch, count, sizeof *n->cell);
    n->group = cutis_arena_alloc(&n->scratch, count, sizeof *n->group);
    n->block = cutis_arena_alloc(&n->scratch, count, sizeof *n->block);
    n->own = cutis_arena_alloc(&n->scratch, count, sizeof *n->own);
    n->of_block = cutis_arena_alloc(&n->scratch, blocks_of(n->size), sizeof *n->of_block);
    if (!n->cell || !n->group || !n->block || !n->own || !n->of_block)
        return cutis_alloc_result(n->scratch.context);
    TRY(cutis_buffer_read(b->cell, 0, n->cell, 4 * count));
    if (!grid->sheets) return CUTIS_OK;
    n->voxel = cutis_arena_alloc(&n->scratch, count, sizeof *n->voxel);
    n->of_piece = cutis_arena_alloc(&n->scratch, grid->voxel_count, sizeof *n->of_piece);
    if (!n->voxel || !n->of_piece) return cutis_alloc_result(n->scratch.context);
    for (uint32_t v = 0; v < grid->voxel_count; v++) n->of_piece[v] = CUTIS_HANDLES_NONE;
    return cutis_buffer_read(b->voxel, 0, n->voxel, 4 * count);
}

static cutis_result number(numbering *n)
{
    cutis_handles_system *system = n->system;
    TRY(prepare(n));
    while (system->level_count < CUTIS_HANDLES_LEVELS) {
        const cutis_handles_level *fine = &system->levels[system->level_count - 1];
        if (fine->count <= CUTIS_HANDLES_COARSE) break;
        group_nodes(n, fine->count);
        // As many nodes as before: pieces of single voxels do not get coarser.
        if (n->group_count == fine->count) break;
        cutis_handles_level coarse = { .at = fine->at + fine->count, .count = n->group_count };
        TRY(write_level(n, fine, &coarse));
        system->levels[system->level_count++] = coarse;
    }
    return CUTIS_OK;
}

cutis_result cutis_handles_levels_number(cutis_handles_work *work, cutis_handles_system *system)
{
    numbering n = { .scratch = { .context = work->context }, .work = work, .system = system };
    for (int c = 0; c < 3; c++) n.size[c] = (int)system->grid->size[c];
    const cutis_result result = system->levels[0].count ? number(&n) : CUTIS_OK;
    cutis_arena_release(&n.scratch);
    return result;
}

// Pieces of blocks ------------------------------------------------------------------------------

typedef struct pieces {
    const cutis_handles_grid *grid;
    numbering of;      ///< for blocks
    uint8_t *kind;     ///< per block: CUT, BESIDE one that is, or 0
    uint32_t *list;    ///< nodes of both kinds, `count`
    uint32_t *where;   ///< per node: its place in the list
    uint32_t *up;      ///< per node of the list
    uint32_t *towards; ///< six for each: a node of the piece in that direction
    uint32_t count;
} pieces;

enum { BESIDE = 1, CUT = 2 };

static uint32_t node_block(const pieces *p, uint32_t node)
{
    return block_of(&p->of, p->grid->place[node]);
}

static void mark_blocks(pieces *p)
{
    const cutis_handles_grid *grid = p->grid;
    for (uint32_t v = 0; v < grid->sheets->regular; v++)
        if (grid->sheets->sight[grid->place[v]] == CUTIS_HANDLES_NONE)
            p->kind[node_block(p, v)] = CUT;
    for (uint32_t a = 0; a < grid->voxel_count; a++) {
        if (!(p->kind[node_block(p, a)] & CUT)) continue;
        for (size_t d = 0; d < 6; d++) {
            const uint32_t m = grid->neighbour[6 * (size_t)a + d];
            if (m != CUTIS_HANDLES_NONE) p->kind[node_block(p, m)] |= BESIDE;
        }
    }
}

static void join(uint32_t *up, uint32_t a, uint32_t b)
{
    a = group_of(up, a), b = group_of(up, b);
    up[a > b ? a : b] = a < b ? a : b;
}

// Nodes of a cut block that are linked within it are one piece, all nodes of one beside it too.
static void join_within(pieces *p, uint32_t *first)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t a = p->list[i], block = node_block(p, a);
        if (p->kind[block] == BESIDE) {
            if (first[block] == CUTIS_HANDLES_NONE) first[block] = i;
            join(p->up, i, first[block]);
        }
        for (size_t d = 0; d < 6; d++) {
            const uint32_t m = p->grid->neighbour[6 * (size_t)a + d];
            if (m != CUTIS_HANDLES_NONE && node_block(p, m) == block) join(p->up, i, p->where[m]);
        }
    }
}

// A node has one neighbour in a direction: pieces that one piece is linked to there become one.
// @return whether some did
static bool join_across(pieces *p)
{
    bool changed = false;
    for (size_t i = 0; i < 6 * (size_t)p->count; i++) p->towards[i] = CUTIS_HANDLES_NONE;
    for (uint32_t i = 0; i < p->count; i++)
        for (size_t d = 0; d < 6; d++) {
            const uint32_t a = p->list[i], m = p->grid->neighbour[6 * (size_t)a + d];
            if (m == CUTIS_HANDLES_NONE || p->where[m] == CUTIS_HANDLES_NONE ||
                node_block(p, m) == node_block(p, a))
                continue;
            uint32_t *to = &p->towards[6 * (size_t)group_of(p->up, i) + d];
            if (*to == CUTIS_HANDLES_NONE) *to = p->where[m];
            if (group_of(p->up, *to) == group_of(p->up, p->where[m])) continue;
            join(p->up, *to, p->where[m]);
            changed = true;
        }
    return changed;
}

static bool list_nodes(pieces *p, cutis_arena *scratch)
{
    const uint32_t n = p->grid->voxel_count;
    for (uint32_t a = 0; a < n; a++) {
        p->where[a] = p->kind[node_block(p, a)] ? p->count : CUTIS_HANDLES_NONE;
        if (p->where[a] != CUTIS_HANDLES_NONE) p->list[p->count++] = a;
    }
    p->up = cutis_arena_alloc(scratch, p->count, sizeof *p->up);
    p->towards = cutis_arena_alloc(scratch, p->count, 6 * sizeof *p->towards);
    for (uint32_t i = 0; i < p->count && p->up; i++) p->up[i] = i;
    return p->up && p->towards;
}

bool cutis_handles_sheets_pieces(cutis_arena *arena, cutis_arena *scratch,
                                 const cutis_handles_grid *grid, cutis_handles_sheets *sheets)
{
    const uint32_t n = grid->voxel_count;
    pieces p = { .grid = grid };
    for (int c = 0; c < 3; c++) p.of.size[c] = (int)grid->size[c];
    const uint32_t blocks = blocks_of(p.of.size);
    sheets->piece = cutis_arena_alloc(arena, n, sizeof *sheets->piece);
    p.kind = cutis_arena_zero(scratch, blocks, sizeof *p.kind);
    p.list = cutis_arena_alloc(scratch, n, sizeof *p.list);
    p.where = cutis_arena_alloc(scratch, n, sizeof *p.where);
    uint32_t *first = cutis_arena_alloc(scratch, blocks, sizeof *first);
    if (!sheets->piece || !p.kind || !p.list || !p.where || !first) return false;
    mark_blocks(&p);
    if (!list_nodes(&p, scratch)) return false;
    for (uint32_t b = 0; b < blocks; b++) first[b] = CUTIS_HANDLES_NONE;
    join_within(&p, first);
    while (join_across(&p)) continue;
    for (uint32_t a = 0; a < n; a++)
        sheets->piece[a] = p.where[a] == CUTIS_HANDLES_NONE || p.kind[node_block(&p, a)] == BESIDE
                               ? CUTIS_HANDLES_NONE
                               : p.list[group_of(p.up, p.where[a])];
    return true;
}
