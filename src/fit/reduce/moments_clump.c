// Welds that lie together share most units and faces: they are put into clumps, for which images
// of units and normals of faces are made once a pose. Also what an error does to a weld's normal:
// the edges opposite to the erring unit, summed over the fan. Where the fan closes around a unit
// nothing is left of them, and the unit has no rows there. Invariant: clumps and their order
// depend on the mesh only.
#include <string.h>

#include "fit/reduce/moments.h"

// A clump's welds and rows (candidates of its welds' rings) at most: rows of sixteen blocks of
// poses stay in a core's second cache.
enum { WELDS = 16, ROWS = 384 };

typedef struct clumper {
    cutis_moments *m;
    const cutis_moments_fans *fans;
    uint32_t *order;      ///< welds by their old numbers, in the new order
    uint32_t *queue;      ///< of a clump
    uint32_t *border;     ///< welds beside clumps, where others may begin
    uint32_t *seen;       ///< per weld: the last clump that had it in its queue, and 1
    uint8_t *taken;       ///< per weld: 1 it is in a clump, 2 in the border
    uint8_t *owned;       ///< per free unit: a clump has it
    uint32_t *place;      ///< per unit: in listed_unit, of the present clump
    uint32_t *face_place; ///< per triangle: in face, of the present clump
    double *copies;
    uint32_t units, faces, fan_count, rims, edges;
} clumper;

static uint32_t weld_rows(const clumper *c, uint32_t w)
{
    const cutis_moments *m = c->m;
    uint32_t rows = 0;
    for (uint32_t r = c->fans->ring_first[w]; r < c->fans->ring_first[w + 1]; r++) {
        const int32_t f = m->unit_free[c->fans->ring[r]];
        if (f >= 0) rows += m->slot_first[f + 1] - m->slot_first[f];
    }
    return rows;
}

// One clump, breadth first from a weld; what it could not take joins the border.
// @return the end of the border
static uint32_t fill_clump(clumper *c, uint32_t seed, uint32_t begin, uint32_t *done,
                           uint32_t border)
{
    const uint32_t number = ++c->m->clump_count;
    uint32_t tail = 0, rows = 0;
    c->queue[tail++] = seed;
    c->seen[seed] = number;
    for (uint32_t head = 0; head < tail; head++) {
        const uint32_t w = c->queue[head];
        rows += weld_rows(c, w);
        if (*done > begin && (*done - begin == WELDS || rows > ROWS)) {
            for (; head < tail; head++)
                if (!c->taken[c->queue[head]])
                    c->taken[c->queue[head]] = 2, c->border[border++] = c->queue[head];
            break;
        }
        c->taken[w] = 1;
        c->order[(*done)++] = w;
        for (uint32_t r = c->fans->ring_first[w]; r < c->fans->ring_first[w + 1]; r++) {
            const uint32_t next = c->fans->unit_weld[c->fans->ring[r]];
            if (next == UINT32_MAX || c->taken[next] == 1 || c->seen[next] == number) continue;
            c->seen[next] = number;
            c->queue[tail++] = next;
        }
    }
    return border;
}

static void order_welds(clumper *c)
{
    cutis_moments *m = c->m;
    uint32_t done = 0, lowest = 0, head = 0, border = 0;
    m->clump_count = 0;
    while (done < m->weld_count) {
        uint32_t seed = UINT32_MAX;
        for (; head < border && seed == UINT32_MAX; head++)
            if (c->taken[c->border[head]] != 1) seed = c->border[head];
        while (seed == UINT32_MAX && c->taken[lowest] == 1) lowest++;
        m->clump_weld[m->clump_count] = done;
        border = fill_clump(c, seed == UINT32_MAX ? lowest : seed, done, &done, border);
    }
    m->clump_weld[m->clump_count] = m->weld_count;
}

// The edges that an error at place `own` of a weld's ring is multiplied with: to the next corner
// from the one before it, over its triangles; ends that cancel are left out. @return their number
static uint32_t list_edges(const clumper *c, uint32_t w, uint32_t own, uint32_t *out)
{
    uint32_t count[2] = { 0 }; // ends to and from
    for (uint32_t t = c->fans->first[w]; t < c->fans->first[w + 1]; t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t *corner = c->fans->corner + 3 * (size_t)t;
            if (corner[k] != own) continue;
            for (int side = 0; side < 2; side++) {
                const uint32_t unit =
                    c->fans->ring[c->fans->ring_first[w] + corner[(k + 1 + side) % 3]];
                const uint32_t place = c->place[unit];
                uint32_t i = 0;
                while (i < count[!side] && out[2 * i + !side] != place) i++;
                if (i == count[!side]) {
                    out[2 * count[side]++ + side] = place;
                    continue;
                }
                for (count[!side]--; i < count[!side]; i++)
                    out[2 * i + !side] = out[2 * i + 2 + !side];
            }
        }
    return count[0]; // as many as count[1]: triangles bring one of each
}

// A free unit's positions belong to the first clump that has it.
static void list_unit(clumper *c, uint32_t unit)
{
    const int32_t f = c->m->unit_free[unit];
    c->place[unit] = c->units;
    c->m->listed_place[c->units] = f >= 0 && !c->owned[f] ? f : -1;
    if (f >= 0) c->owned[f] = 1;
    c->m->listed_unit[c->units++] = unit;
}

// Units, faces and rims of a weld (its old number), of which clump-mates may have listed some.
static void list_weld(clumper *c, uint32_t w, uint32_t unit_begin, uint32_t face_begin)
{
    cutis_moments *m = c->m;
    const cutis_moments_fans *fans = c->fans;
    const uint32_t *ring = fans->ring + fans->ring_first[w];
    const uint32_t count = fans->ring_first[w + 1] - fans->ring_first[w];
    for (uint32_t r = 0; r < count; r++) {
        const uint32_t at = c->place[ring[r]];
        if (at >= unit_begin && at < c->units && m->listed_unit[at] == ring[r]) continue;
        list_unit(c, ring[r]);
    }
    for (uint32_t t = fans->first[w]; t < fans->first[w + 1]; t++) {
        uint32_t *at = &c->face_place[fans->triangle[t]];
        if (*at < face_begin || *at == UINT32_MAX) {
            *at = c->faces++;
            for (int k = 0; k < 3; k++)
                m->face[3 * (size_t)*at + k] = c->place[ring[fans->corner[3 * (size_t)t + k]]];
        }
        m->fan[c->fan_count++] = *at;
    }
    for (uint32_t r = 0; r < count; r++) {
        const int32_t f = m->unit_free[ring[r]];
        const uint32_t edges = f < 0 ? 0 : list_edges(c, w, r, m->edges + 2 * (size_t)c->edges);
        if (edges == 0) continue;
        m->rim[c->rims] = c->place[ring[r]];
        m->rim_free[c->rims] = (uint32_t)f;
        c->edges += edges;
        m->rim_edge[++c->rims] = c->edges;
    }
}

static void list_clumps(clumper *c)
{
    cutis_moments *m = c->m;
    m->rim_edge[0] = 0;
    for (uint32_t i = 0; i < m->clump_count; i++) {
        m->clump_unit[i] = c->units, m->clump_face[i] = c->faces;
        for (uint32_t w = m->clump_weld[i]; w < m->clump_weld[i + 1]; w++) {
            m->weld_face[w] = c->fan_count, m->weld_rim[w] = c->rims;
            m->weld_candidates[w] = weld_rows(c, c->order[w]);
            list_weld(c, c->order[w], m->clump_unit[i], m->clump_face[i]);
        }
    }
    for (uint32_t f = 0, count = 0; f < m->free_count; f++) { // those without faces
        if (c->owned[f]) continue;
        if (count++ % WELDS == 0) {
            m->clump_unit[m->clump_count] = c->units, m->clump_face[m->clump_count] = c->faces;
            m->clump_weld[++m->clump_count] = m->weld_count;
        }
        list_unit(c, m->free_unit[f]);
    }
    m->clump_unit[m->clump_count] = c->units, m->clump_face[m->clump_count] = c->faces;
    m->weld_face[m->weld_count] = c->fan_count, m->weld_rim[m->weld_count] = c->rims;
    memcpy(c->copies, m->copies, m->weld_count * sizeof *c->copies);
    for (uint32_t w = 0; w < m->weld_count; w++) m->copies[w] = c->copies[c->order[w]];
}

bool cutis_moments_clump(cutis_moments *m, const cutis_moments_fans *fans, cutis_arena *arena,
                         cutis_arena *own)
{
    clumper c = { .m = m, .fans = fans };
    const size_t welds = m->weld_count, rings = fans->ring_first[welds], faces = fans->first[welds],
                 clumps = welds + m->free_count + 1, units = rings + m->free_count;
    c.order = cutis_arena_alloc(own, welds, sizeof *c.order);
    c.queue = cutis_arena_alloc(own, welds, sizeof *c.queue);
    c.border = cutis_arena_alloc(own, welds, sizeof *c.border);
    c.seen = cutis_arena_zero(own, welds, sizeof *c.seen);
    c.taken = cutis_arena_zero(own, welds, 1);
    c.owned = cutis_arena_zero(own, m->free_count, 1);
    c.copies = cutis_arena_alloc(own, welds, sizeof *c.copies);
    c.place = cutis_arena_zero(own, m->group->unit_count, sizeof *c.place);
    c.face_place = cutis_arena_alloc(own, m->group->triangle_count, sizeof *c.face_place);
    m->clump_weld = cutis_arena_alloc(arena, clumps, sizeof *m->clump_weld);
    m->clump_unit = cutis_arena_alloc(arena, clumps, sizeof *m->clump_unit);
    m->clump_face = cutis_arena_alloc(arena, clumps, sizeof *m->clump_face);
    m->listed_unit = cutis_arena_alloc(arena, units, sizeof *m->listed_unit);
    m->listed_place = cutis_arena_alloc(arena, units, sizeof *m->listed_place);
    m->face = cutis_arena_alloc(arena, 3 * faces, sizeof *m->face);
    m->weld_face = cutis_arena_alloc(arena, welds + 1, sizeof *m->weld_face);
    m->fan = cutis_arena_alloc(arena, faces, sizeof *m->fan);
    m->weld_rim = cutis_arena_alloc(arena, welds + 1, sizeof *m->weld_rim);
    m->rim = cutis_arena_alloc(arena, rings, sizeof *m->rim);
    m->weld_candidates = cutis_arena_alloc(arena, welds, sizeof *m->weld_candidates);
    m->rim_free = cutis_arena_alloc(arena, rings, sizeof *m->rim_free);
    m->rim_edge = cutis_arena_alloc(arena, rings + 1, sizeof *m->rim_edge);
    m->edges = cutis_arena_alloc(arena, 6 * faces, sizeof *m->edges);
    if (!c.order || !c.queue || !c.border || !c.seen || !c.taken || !c.owned || !c.copies ||
        !c.place || !c.face_place || !m->clump_weld || !m->clump_unit || !m->clump_face ||
        !m->listed_unit || !m->listed_place || !m->face || !m->weld_face || !m->fan ||
        !m->weld_rim || !m->rim || !m->rim_free || !m->rim_edge || !m->edges || !m->weld_candidates)
        return false;
    for (uint32_t t = 0; t < m->group->triangle_count; t++) c.face_place[t] = UINT32_MAX;
    order_welds(&c);
    list_clumps(&c);
    return true;
}
