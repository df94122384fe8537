/// Exact vertex counts. A vertex off the mirror plane counts twice, one on it once; so an odd
/// difference is made up by one operation on x = 0, and even ones by splits or collapses of free
/// edges.
#include "synth/remesh.h"

#include "base/error.h"
#include "geometry/heap.h"

#include <stdlib.h>

enum { ROUND_MAX = 40 };

/// Edges on the border, or else those that may be split (no constraint) or collapsed (both ends
/// free), as half-edges by ratio; the longest first to split, the shortest to collapse.
static size_t gather(const remesher *r, bool border, bool split, cutis_waiting *list)
{
    const mesh *m = r->m;
    size_t count = 0;
    for (int32_t h = 0; h < m->half_count; h++) {
        if (m->halves[h].vertex < 0 || m->halves[h].twin > h) continue;
        if ((m->halves[h].twin < 0) != border || m->halves[h].loop) continue;
        const mesh_vertex *a = &m->vertices[half_start(m, h)], *b = &m->vertices[half_end(m, h)];
        if (!border && !split && (a->curve != SYNTH_FREE || b->curve != SYNTH_FREE)) continue;
        if (border && !split && (a->curve == SYNTH_CORNER || b->curve == SYNTH_CORNER)) continue;
        list[count++] =
            (cutis_waiting){ (split ? -1 : 1) * cutis_synth_edge_ratio(r, h), (uint32_t)h };
    }
    qsort(list, count, sizeof *list, cutis_heap_order);
    return count;
}

/// Marks the neighbourhood of both ends; false, and nothing marked, if a part of it was marked
/// before.
static bool claim(const mesh *m, int32_t edge, uint8_t *taken)
{
    int32_t ends[2] = { half_start(m, edge), half_end(m, edge) };
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2; i++) {
            if (pass == 0 && taken[ends[i]]) return false;
            taken[ends[i]] |= (uint8_t)pass;
            for (int32_t h = m->vertices[ends[i]].half; h >= 0; h = next_around(m, ends[i], h)) {
                int32_t around[2] = { half_end(m, h), half_start(m, half_previous(h)) };
                for (int k = 0; k < 2; k++) {
                    if (pass == 0 && taken[around[k]]) return false;
                    taken[around[k]] |= (uint8_t)pass;
                }
            }
        }
    }
    return true;
}

static cutis_result operate(remesher *r, bool border, bool split, int32_t wanted,
                            cutis_waiting *list, uint8_t *taken)
{
    mesh *m = r->m;
    size_t count = gather(r, border, split, list);
    int32_t done = 0, known = m->vertex_count;
    cutis_result result = cutis_synth_mesh_reserve(m, (size_t)wanted + 1, 6 * (size_t)wanted + 6);
    for (size_t i = 0; i < count && done < wanted && result == CUTIS_OK; i++) {
        int32_t h = (int32_t)list[i].vertex;
        if (m->halves[h].vertex < 0 || half_start(m, h) >= known || half_end(m, h) >= known)
            continue;
        if (!claim(m, h, taken)) continue;
        if (split)
            cutis_synth_split_middle(m, h);
        else if (!cutis_synth_try_collapse(r, h))
            continue;
        done++;
    }
    // No edge on x = 0 could be collapsed: one more vertex there makes the difference even as well.
    if (border && done == 0 && count > 0 && result == CUTIS_OK)
        cutis_synth_split_middle(m, (int32_t)list[count - 1].vertex);
    return result;
}

static cutis_result one_round(remesher *r, int32_t missing)
{
    mesh *m = r->m;
    cutis_arena arena = { .context = m->context };
    cutis_waiting *list = cutis_arena_alloc(&arena, (size_t)m->half_count, sizeof *list);
    uint8_t *taken = cutis_arena_zero(&arena, (size_t)m->vertex_count, 1);
    cutis_result result = list && taken ? CUTIS_OK : cutis_alloc_result(m->context);
    bool split = missing > 0, odd = m->shape->folded && missing % 2 != 0;
    if (result == CUTIS_OK) {
        int32_t wanted = missing < 0 ? -missing : missing;
        if (m->shape->folded) wanted /= 2;
        int32_t most = m->vertices_live / 50 + 1;
        if (wanted > most) wanted = most;
        result = operate(r, odd, split, odd ? 1 : wanted, list, taken);
    }
    cutis_arena_release(&arena);
    return result;
}

static void settle(remesher *r, int smooths)
{
    cutis_synth_flip_valence(r);
    cutis_synth_flip_delaunay(r);
    for (int i = 0; i < smooths; i++) cutis_synth_smooth(r);
    cutis_synth_flip_delaunay(r);
}

cutis_result cutis_synth_exact_count(remesher *r, uint32_t vertices)
{
    mesh *m = r->m;
    // The count comes first: what a last collapse stretches, the smoothing after it evens out.
    r->edge_max = 2;
    for (int round = 0;; round++) {
        int32_t missing = (int32_t)vertices - cutis_synth_mesh_total(m);
        if (missing == 0) break;
        if (round == ROUND_MAX)
            return cutis_fail(m->context, CUTIS_INTERNAL, "%d vertices too few after %d rounds",
                              (int)missing, (int)ROUND_MAX);
        TRY(cutis_progress(m->context, "count", round / (double)ROUND_MAX));
        TRY(one_round(r, missing));
        TRY(cutis_synth_mesh_compact(m));
        settle(r, 3);
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) cutis_synth_smooth(r);
        cutis_synth_flip_valence(r);
        cutis_synth_flip_delaunay(r);
    }
    cutis_synth_smooth(r);
    cutis_synth_smooth(r);
    cutis_synth_flip_delaunay(r);
    return CUTIS_OK;
}
