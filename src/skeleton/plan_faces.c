// Parts of a mesh's faces, from the lines' nodes that own the cells there. Invariant: within a
// shell every part is one piece.
#include "base/error.h"
#include "skeleton/borders.h"
#include "skeleton/plan.h"

typedef struct {
    const cutis_closed *mesh;
    uint32_t *labels;
    uint32_t *piece; // per face: faces of one label that hang together
    bool *kept;      // per piece
    uint32_t *queue, count;
} islands;

// Number the pieces of a shell; of each label the largest is kept.
// @param faces, n those of the shell
static void find_pieces(islands *all, const uint32_t *faces, uint32_t n)
{
    uint32_t largest[CUTIS_PLAN_PARTS], sizes[CUTIS_PLAN_PARTS] = { 0 };
    for (uint32_t i = 0; i < n; i++) {
        uint32_t head = 0, tail = 0, label = all->labels[faces[i]], *queue = all->queue;
        if (all->piece[faces[i]] != CUTIS_NOTHING) continue;
        queue[tail++] = faces[i], all->piece[faces[i]] = all->count;
        while (head < tail)
            for (uint32_t f = queue[head++], k = 0; k < 3; k++) {
                uint32_t g = all->mesh->twins[3 * f + k] / 3;
                if (all->piece[g] == CUTIS_NOTHING && all->labels[g] == label)
                    all->piece[g] = all->count, queue[tail++] = g;
            }
        if (tail > sizes[label]) sizes[label] = tail, largest[label] = all->count;
        all->kept[all->count++] = false;
    }
    for (uint32_t l = 0; l < CUTIS_PLAN_PARTS; l++)
        if (sizes[l] > 0) all->kept[largest[l]] = true;
}

// A piece that is not kept takes the label that it shares most of its border with.
static bool give_away(islands *all, uint32_t seed)
{
    const cutis_closed *mesh = all->mesh;
    uint32_t id = all->piece[seed], head = 0, tail = 0, best = 0, *queue = all->queue;
    uint32_t beside[CUTIS_PLAN_PARTS];
    double border[CUTIS_PLAN_PARTS] = { 0 };
    queue[tail++] = seed, all->piece[seed] = CUTIS_NOTHING;
    while (head < tail)
        for (uint32_t f = queue[head++], k = 0; k < 3; k++) {
            uint32_t h = 3 * f + k, g = mesh->twins[h] / 3, label = all->labels[g];
            if (all->piece[g] == id) all->piece[g] = CUTIS_NOTHING, queue[tail++] = g;
            if (label == all->labels[seed]) continue;
            if (border[label] == 0 || (all->piece[g] != CUTIS_NOTHING && all->kept[all->piece[g]]))
                beside[label] = all->piece[g];
            border[label] += cutis_edge_length(mesh, h);
        }
    for (uint32_t l = 1; l < CUTIS_PLAN_PARTS; l++)
        if (border[l] > border[best]) best = l;
    bool found = border[best] > 0;
    for (uint32_t i = 0; i < tail; i++) {
        all->piece[queue[i]] = found ? beside[best] : id;
        if (found) all->labels[queue[i]] = best;
    }
    if (!found) all->kept[id] = true; // nothing is beside it
    return found;
}

// Of a part in several pieces of one shell the largest stays. Shells of their own, as boots that
// game characters wear, have parts of their own.
static bool join_islands(cutis_arena *scratch, const cutis_closed *mesh, uint32_t *labels)
{
    const size_t n = mesh->face_count;
    islands all = { .mesh = mesh, .labels = labels };
    uint32_t *shell = cutis_arena_alloc(scratch, n, sizeof *shell);
    bool *seen = cutis_arena_zero(scratch, n, sizeof *seen);
    all.piece = cutis_nothings(scratch, n);
    all.kept = cutis_arena_alloc(scratch, n, sizeof *all.kept);
    all.queue = cutis_arena_alloc(scratch, n, sizeof *all.queue);
    if (!shell || !seen || !all.piece || !all.kept || !all.queue) return false;
    for (uint32_t seed = 0; seed < n; seed++) {
        uint32_t head = 0, tail = 0;
        if (seen[seed]) continue;
        shell[tail++] = seed, seen[seed] = true;
        while (head < tail)
            for (uint32_t f = shell[head++], k = 0; k < 3; k++) {
                uint32_t g = mesh->twins[3 * f + k] / 3;
                if (!seen[g]) seen[g] = true, shell[tail++] = g;
            }
        find_pieces(&all, shell, tail);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t f = 0; f < n; f++)
            if (!all.kept[all.piece[f]]) changed |= give_away(&all, f);
    }
    return true;
}

cutis_result cutis_plan_tidy(const cutis_closed *mesh, uint32_t *labels, uint32_t part_count)
{
    cutis_arena scratch = { .context = mesh->context };
    cutis_result result = CUTIS_OK;
    if (!join_islands(&scratch, mesh, labels)) result = cutis_alloc_result(mesh->context);
    if (result == CUTIS_OK) result = cutis_borders_smooth(mesh, labels, part_count);
    if (result == CUTIS_OK && !join_islands(&scratch, mesh, labels))
        result = cutis_alloc_result(mesh->context);
    cutis_arena_release(&scratch);
    return result;
}

cutis_result cutis_plan_label(const cutis_plan *plan, const cutis_centrelines *lines,
                              const cutis_closed *mesh, uint32_t *labels)
{
    cutis_arena scratch = { .context = mesh->context };
    uint32_t *owners = cutis_arena_alloc(&scratch, lines->cells.count, sizeof *owners);
    cutis_result result =
        owners ? cutis_centrelines_owners(lines, owners) : cutis_alloc_result(mesh->context);
    for (uint32_t f = 0; f < mesh->face_count && result == CUTIS_OK; f++) {
        uint32_t cell = cutis_cell_near(&lines->cells, cutis_face_middle(mesh, f));
        uint32_t owner = cell == CUTIS_NOTHING ? CUTIS_NOTHING : owners[cell];
        labels[f] = owner == CUTIS_NOTHING ? plan->node_parts[0] : plan->node_parts[owner];
    }
    cutis_arena_release(&scratch);
    return result == CUTIS_OK ? cutis_plan_tidy(mesh, labels, plan->part_count) : result;
}
