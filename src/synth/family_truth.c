/// True labels: a triangle belongs to the flesh its centroid is nearest to. Every bone and every
/// part that comes out is one connected patch: smaller pieces of the same label go to the label
/// they have most edges with.
#include "synth/family.h"

#include "base/error.h"
#include "geometry/half_edge.h"
#include "geometry/order.h"

/// An island may lie in another; so deep they never were.
enum { ROUND_MAX = 16 };

typedef struct patches {
    const cutis_edge *edges; ///< sorted: 2 i and 2 i + 1 are one edge of the closed surface
    size_t edge_count, triangle_count, label_count;
    uint32_t *labels, *up, *sizes, *largest, *islands;
} patches;

static vec3 centroid(const synth_surface *s, uint32_t t)
{
    const uint32_t *v = s->triangles + 3 * (size_t)t;
    vec3 sum = v3_add(v3_add(s->positions[v[0]], s->positions[v[1]]), s->positions[v[2]]);
    return v3_scale(sum, 1.0 / 3);
}

static int nearest_flesh(const family *f, const shape *s, vec3 x)
{
    int best = 0;
    double least = 0;
    for (int i = 0; i < f->flesh_count; i++) {
        double d = cutis_synth_shape_piece(s, i, x);
        if (i == 0 || d < least) least = d, best = i;
    }
    return best;
}

/// Connected pieces of equal label, and each label's largest (the first of equals).
static void find_pieces(patches *p)
{
    for (uint32_t t = 0; t < p->triangle_count; t++) p->up[t] = t, p->sizes[t] = 0;
    for (size_t i = 0; i + 1 < p->edge_count; i += 2) {
        uint32_t a = (uint32_t)(p->edges[i].half / 3), b = (uint32_t)(p->edges[i + 1].half / 3);
        if (p->labels[a] == p->labels[b]) p->up[group_of(p->up, a)] = group_of(p->up, b);
    }
    for (uint32_t t = 0; t < p->triangle_count; t++) p->sizes[group_of(p->up, t)]++;
    for (size_t l = 0; l < p->label_count; l++) p->largest[l] = UINT32_MAX;
    for (uint32_t t = 0; t < p->triangle_count; t++) {
        uint32_t *most = &p->largest[p->labels[t]];
        if (p->sizes[t] && (*most == UINT32_MAX || p->sizes[t] > p->sizes[*most])) *most = t;
    }
}

/// Numbers, from 1, of the pieces that are not their label's largest; 0 for the others.
static uint32_t number_islands(patches *p)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < p->triangle_count; t++) {
        bool island = p->sizes[t] && p->largest[p->labels[t]] != t;
        p->islands[t] = island ? ++count : 0;
    }
    return count;
}

/// Every island gets the label it has most edges with; one round.
static cutis_result join_islands(patches *p, cutis_context *context, uint32_t count)
{
    size_t size = (size_t)(count + 1) * p->label_count;
    uint32_t *votes = cutis_alloc_zero(context, size, sizeof *votes);
    if (!votes) return cutis_alloc_result(context);
    for (size_t i = 0; i + 1 < p->edge_count; i += 2) {
        uint32_t t[2] = { (uint32_t)(p->edges[i].half / 3), (uint32_t)(p->edges[i + 1].half / 3) };
        for (int k = 0; k < 2; k++) {
            uint32_t island = p->islands[group_of(p->up, t[k])], other = p->labels[t[1 - k]];
            if (island && other != p->labels[t[k]]) votes[island * p->label_count + other]++;
        }
    }
    for (uint32_t t = 0; t < p->triangle_count; t++) {
        uint32_t island = p->islands[group_of(p->up, t)], best = 0;
        if (!island) continue;
        const uint32_t *row = votes + island * p->label_count;
        for (uint32_t l = 1; l < p->label_count; l++)
            if (row[l] > row[best]) best = l;
        p->labels[t] = best;
    }
    cutis_free_array(context, votes, size, sizeof *votes);
    return CUTIS_OK;
}

static cutis_result clean(patches *p, cutis_arena *arena, const synth_surface *surface)
{
    cutis_edge *edges;
    size_t triangles = surface->triangle_count;
    TRY(cutis_edges_sort(arena, surface->triangles, NULL, triangles, &edges, &p->edge_count));
    p->edges = edges;
    p->triangle_count = triangles;
    p->up = cutis_arena_alloc(arena, triangles, sizeof *p->up);
    p->sizes = cutis_arena_alloc(arena, triangles, sizeof *p->sizes);
    p->islands = cutis_arena_alloc(arena, triangles, sizeof *p->islands);
    p->largest = cutis_arena_alloc(arena, p->label_count, sizeof *p->largest);
    if (!p->up || !p->sizes || !p->islands || !p->largest)
        return cutis_alloc_result(arena->context);
    for (int round = 0; round < ROUND_MAX; round++) {
        find_pieces(p);
        uint32_t islands = number_islands(p);
        if (islands == 0) break;
        TRY(join_islands(p, arena->context, islands));
    }
    return CUTIS_OK;
}

cutis_result cutis_family_labels(cutis_arena *arena, const family *f, const shape *s,
                                 const synth_surface *surface, bool parts, uint32_t *labels)
{
    cutis_arena scratch = { .context = arena->context };
    patches p = { .labels = labels,
                  .label_count = (size_t)(parts ? f->part_count : f->bone_count) };
    for (uint32_t t = 0; t < surface->triangle_count; t++) {
        const family_flesh *flesh = &f->flesh[nearest_flesh(f, s, centroid(surface, t))];
        labels[t] = (uint32_t)(parts ? flesh->part : flesh->bone);
    }
    cutis_result result = clean(&p, &scratch, surface);
    for (size_t l = 0; l < p.label_count && result == CUTIS_OK; l++)
        if (p.largest[l] == UINT32_MAX)
            result = cutis_fail(arena->context, CUTIS_INTERNAL, "%s has no triangle",
                                parts ? f->parts[l] : f->bones[l].name);
    cutis_arena_release(&scratch);
    return result;
}
