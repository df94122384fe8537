// Labels of joints, made to nest. The faces of a joint and all below it are a region inside its
// parent's, but regions may touch: where a joint's own band is pinched, or where siblings meet.
// Invariant of the result: around every vertex there is one label, or a joint and its parent in two
// sectors; so borders are simple loops, disjoint, each of a joint and its parent.
//
// A face only ever takes a label above its own, so this ends.
#include <string.h>

#include "base/error.h"
#include "skeleton/source.h"

typedef struct {
    cutis_closed *mesh;
    const uint32_t *parents;
    uint32_t *depths; // per label
    double *areas;    // per label, with all below it
    uint32_t *labels; // per face: of the next pass
} nester;

static uint32_t ancestor(const nester *n, uint32_t label, uint32_t depth)
{
    while (n->depths[label] > depth) label = n->parents[label];
    return label;
}

// The deepest label that two have above them; CUTIS_NOTHING: trees of their own.
static uint32_t common(const nester *n, uint32_t a, uint32_t b)
{
    while (a != b && a != CUTIS_NOTHING && b != CUTIS_NOTHING) {
        uint32_t *deep = n->depths[a] < n->depths[b] ? &b : &a;
        *deep = n->parents[*deep];
    }
    return a == b ? a : CUTIS_NOTHING;
}

// What stands around a vertex: the label above all, the largest branch below it, border edges.
typedef struct {
    uint32_t top, branch, borders;
} ring;

static ring look_around(const nester *n, uint32_t v)
{
    const cutis_closed *mesh = n->mesh;
    ring r = { mesh->labels[mesh->leaving[v] / 3], CUTIS_NOTHING, 0 };
    for (uint32_t h = mesh->leaving[v]; h != CUTIS_NOTHING; h = cutis_next_around(mesh, v, h)) {
        if (r.top != CUTIS_NOTHING) r.top = common(n, r.top, mesh->labels[h / 3]);
        r.borders += cutis_is_border(mesh, h);
    }
    if (r.top == CUTIS_NOTHING || r.borders == 0) return r;
    for (uint32_t h = mesh->leaving[v]; h != CUTIS_NOTHING; h = cutis_next_around(mesh, v, h)) {
        uint32_t label = mesh->labels[h / 3];
        uint32_t branch = ancestor(n, label, n->depths[r.top] + 1);
        if (label != r.top && (r.branch == CUTIS_NOTHING || n->areas[branch] > n->areas[r.branch] ||
                               (n->areas[branch] == n->areas[r.branch] && branch < r.branch)))
            r.branch = branch;
    }
    return r;
}

// Labels around a vertex become the top one and one branch below it, or the top one alone.
static bool nest_vertex(const nester *n, uint32_t v, bool alone)
{
    const cutis_closed *mesh = n->mesh;
    ring r = look_around(n, v);
    bool changed = false;
    if (r.borders == 0 || r.top == CUTIS_NOTHING) return false;
    alone = alone && r.borders > 2;
    for (uint32_t h = mesh->leaving[v]; h != CUTIS_NOTHING; h = cutis_next_around(mesh, v, h)) {
        uint32_t label = mesh->labels[h / 3], *to = &n->labels[h / 3], want = r.top;
        if (label != r.top && !alone && ancestor(n, label, n->depths[r.branch]) == r.branch)
            want = r.branch;
        if (n->depths[want] < n->depths[*to]) *to = want;
        changed = changed || want != label;
    }
    return changed;
}

static void measure(nester *n, uint32_t count)
{
    for (uint32_t l = 0; l < count; l++) {
        n->depths[l] = 0, n->areas[l] = 0;
        for (uint32_t up = n->parents[l]; up != CUTIS_NOTHING; up = n->parents[up]) n->depths[l]++;
    }
    for (uint32_t f = 0; f < n->mesh->face_count; f++)
        for (uint32_t l = n->mesh->labels[f]; l != CUTIS_NOTHING; l = n->parents[l])
            n->areas[l] += cutis_face_area(n->mesh, f);
}

cutis_result cutis_nest(cutis_closed *mesh, const cutis_labels *names, uint32_t *moved)
{
    cutis_context *context = mesh->context;
    cutis_arena arena = { .context = context };
    size_t bytes = mesh->face_count * sizeof *mesh->labels;
    nester n = { .mesh = mesh, .parents = names->parents };
    n.depths = cutis_arena_alloc(&arena, names->count, sizeof *n.depths);
    n.areas = cutis_arena_alloc(&arena, names->count, sizeof *n.areas);
    n.labels = cutis_arena_copy(&arena, mesh->labels, mesh->face_count, sizeof *n.labels);
    uint32_t *before = cutis_arena_copy(&arena, mesh->labels, mesh->face_count, sizeof *before);
    cutis_result result =
        n.depths && n.areas && n.labels && before ? CUTIS_OK : cutis_alloc_result(context);
    if (result == CUTIS_OK) measure(&n, names->count);
    for (bool changed = true, alone = false; result == CUTIS_OK && (changed || !alone);) {
        alone = !changed; // touching loops only once nothing else is left
        changed = false;
        for (uint32_t v = 0; v < mesh->vertex_count; v++)
            changed = nest_vertex(&n, v, alone) || changed;
        memcpy(mesh->labels, n.labels, bytes);
        result = cutis_progress(context, "nesting joints", 0.5);
    }
    *moved = 0;
    for (uint32_t f = 0; f < mesh->face_count && result == CUTIS_OK; f++)
        *moved += mesh->labels[f] != before[f];
    cutis_arena_release(&arena);
    return result;
}
