// The part of a mesh that reduction by moments is about: free units and their candidates, welds
// with their fans, and which free units share a weld. Invariant: lists ascend, so that every sum
// over them has one order.
#include <math.h>
#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "fit/reduce/moments.h"

// With so few free units those around them are free too: there is little else to choose.
enum { FEW = 512, RINGS = 2 };

static uint32_t influence_count(const cutis_moments *m, uint32_t unit)
{
    return m->group->first[unit + 1] - m->group->first[unit];
}

static bool is_closed(const cutis_moments *m, uint32_t unit, uint32_t i)
{
    return m->closed && m->closed[m->group->first[unit] + i];
}

static bool may_change(const cutis_moments *m, uint32_t unit)
{
    const uint32_t count = influence_count(m, unit);
    bool closed = false;
    for (uint32_t i = 0; i < count && m->closed; i++) closed |= is_closed(m, unit, i);
    return closed || count > (m->every ? 1 : m->influences);
}

// Candidates of a unit: its largest weights, in the order of controls.
static uint32_t list_candidates(const cutis_moments *m, uint32_t unit, uint32_t *out)
{
    const double *weight = (m->prior ? m->prior : m->group->weight) + m->group->first[unit];
    const uint32_t count = influence_count(m, unit);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t larger = 0;
        if (is_closed(m, unit, i)) continue;
        for (uint32_t j = 0; j < count && larger < m->limit && count > m->limit; j++)
            larger += !is_closed(m, unit, j) &&
                      (weight[j] > weight[i] || (weight[j] == weight[i] && j < i));
        if (larger < m->limit) out[found++] = i;
    }
    return found;
}

static bool list_free(cutis_moments *m, cutis_arena *arena)
{
    const uint32_t units = m->group->unit_count;
    const cutis_reduce_mesh *mesh = &m->group->mesh;
    m->unit_free = cutis_arena_alloc(arena, units, sizeof *m->unit_free);
    if (!m->unit_free) return false;
    uint32_t count = 0;
    for (uint32_t u = 0; u < units; u++) {
        m->unit_free[u] = may_change(m, u) ? 0 : -1;
        count += m->unit_free[u] == 0;
    }
    for (int32_t ring = 0; ring < RINGS && count < FEW; ring++)
        for (uint32_t u = 0; u < units; u++)
            for (uint32_t i = mesh->first[u]; i < mesh->first[u + 1] && m->unit_free[u] == ring;
                 i++)
                if (m->unit_free[mesh->neighbour[i]] < 0 &&
                    influence_count(m, mesh->neighbour[i]) > 1)
                    m->unit_free[mesh->neighbour[i]] = ring + 1;
    for (uint32_t u = 0; u < units; u++)
        if (m->unit_free[u] >= 0) m->unit_free[u] = (int32_t)m->free_count++;
    m->free_unit = cutis_arena_alloc(arena, m->free_count, sizeof *m->free_unit);
    m->slot_first = cutis_arena_alloc(arena, (size_t)m->free_count + 1, sizeof *m->slot_first);
    m->place_first = cutis_arena_alloc(arena, (size_t)m->free_count + 1, sizeof *m->place_first);
    m->slot = cutis_arena_alloc(arena, (size_t)m->free_count * m->limit, sizeof *m->slot);
    if (!m->free_unit || !m->slot_first || !m->place_first || !m->slot) return false;
    m->slot_first[0] = 0, m->place_first[0] = 0;
    for (uint32_t u = 0; u < units; u++) {
        if (m->unit_free[u] < 0) continue;
        const uint32_t f = (uint32_t)m->unit_free[u];
        const uint32_t n = list_candidates(m, u, m->slot + m->slot_first[f]);
        m->free_unit[f] = u;
        m->slot_first[f + 1] = m->slot_first[f] + n;
        m->place_first[f + 1] = m->place_first[f] + (size_t)n * n;
    }
    return true;
}

// Fans while they are made.
typedef struct fan_maker {
    uint32_t *unit_weld;                 ///< per unit; UINT32_MAX: no free unit is near
    uint32_t *triangle_first, *triangle; ///< of a weld
    uint32_t *local;                     ///< per unit: place in the ring that is being made
    cutis_moments_fans fans;
} fan_maker;

// Corners of a triangle by weld; false where two are one, which never has an area to speak of.
static bool corner_welds(const cutis_moments *m, const uint32_t *weld, uint32_t t, uint32_t *out)
{
    for (int c = 0; c < 3; c++) out[c] = weld[m->group->welded[3 * (size_t)t + c]];
    return out[0] != out[1] && out[1] != out[2] && out[2] != out[0];
}

// Number the welds that a free unit's triangle touches; count vertices.
static cutis_result number_welds(cutis_moments *m, cutis_arena *arena, cutis_arena *own,
                                 fan_maker *maker)
{
    const cutis_reduce_group *group = m->group;
    uint32_t *place = cutis_arena_alloc(own, group->source_count, sizeof *place);
    uint32_t *number = cutis_arena_alloc(own, group->source_count, sizeof *number);
    double *copies = cutis_arena_zero(own, group->source_count, sizeof *copies);
    uint32_t *unit_place = cutis_arena_alloc(own, group->unit_count, sizeof *unit_place);
    maker->unit_weld = cutis_arena_alloc(own, group->unit_count, sizeof *maker->unit_weld);
    m->unit_copies = cutis_arena_zero(arena, group->unit_count, sizeof *m->unit_copies);
    if (!place || !number || !copies || !unit_place || !maker->unit_weld || !m->unit_copies)
        return cutis_alloc_result(m->context);
    TRY(cutis_weld_positions_on(m->context, m->device, group->source_count, group->source_positions,
                                place));
    for (uint32_t v = 0; v < group->source_count; v++) {
        unit_place[group->unit[v]] = place[v];
        copies[place[v]]++, m->unit_copies[group->unit[v]]++;
        number[v] = UINT32_MAX;
    }
    for (uint32_t t = 0; t < group->triangle_count; t++) {
        uint32_t corner[3], touched = 0;
        const uint32_t *units = group->welded + 3 * (size_t)t;
        for (int c = 0; c < 3; c++) touched |= m->unit_free[units[c]] >= 0;
        if (!touched || !corner_welds(m, unit_place, t, corner)) continue;
        for (int c = 0; c < 3; c++)
            if (number[corner[c]] == UINT32_MAX) number[corner[c]] = m->weld_count++;
    }
    m->copies = cutis_arena_alloc(arena, m->weld_count, sizeof *m->copies);
    if (!m->copies) return cutis_alloc_result(m->context);
    for (uint32_t v = 0; v < group->source_count; v++)
        if (place[v] == v && number[v] != UINT32_MAX) m->copies[number[v]] = sqrt(copies[v]);
    for (uint32_t u = 0; u < group->unit_count; u++) maker->unit_weld[u] = number[unit_place[u]];
    return CUTIS_OK;
}

// Does the triangle belong to a fan at this corner? All corners must differ, by place: units whose
// weld has no number cannot be told apart, but then the triangle is in no fan at them either.
static bool in_fan(const fan_maker *maker, const uint32_t *units, int c)
{
    const uint32_t *weld = maker->unit_weld, w = weld[units[c]];
    return w != UINT32_MAX && weld[units[(c + 1) % 3]] != w && weld[units[(c + 2) % 3]] != w &&
           units[(c + 1) % 3] != units[(c + 2) % 3];
}

static bool sort_triangles(cutis_moments *m, cutis_arena *own, fan_maker *maker)
{
    const cutis_reduce_group *group = m->group;
    maker->triangle_first =
        cutis_arena_zero(own, (size_t)m->weld_count + 2, sizeof *maker->triangle_first);
    maker->triangle =
        cutis_arena_alloc(own, 3 * (size_t)group->triangle_count, sizeof *maker->triangle);
    maker->local = cutis_arena_alloc(own, group->unit_count, sizeof *maker->local);
    if (!maker->triangle_first || !maker->triangle || !maker->local) return false;
    uint32_t *first = maker->triangle_first;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t t = 0; t < group->triangle_count; t++)
            for (int c = 0; c < 3; c++) {
                const uint32_t *units = group->welded + 3 * (size_t)t;
                if (!in_fan(maker, units, c)) continue;
                const uint32_t w = maker->unit_weld[units[c]];
                if (pass == 0)
                    first[w + 2]++;
                else
                    maker->triangle[first[w + 1]++] = t;
            }
        for (uint32_t w = 0; w < m->weld_count && pass == 0; w++) first[w + 2] += first[w + 1];
    }
    for (uint32_t u = 0; u < group->unit_count; u++) maker->local[u] = UINT32_MAX;
    return true;
}

static bool make_fans(cutis_moments *m, cutis_arena *own, fan_maker *maker)
{
    cutis_moments_fans *fans = &maker->fans;
    const size_t corners = 3 * (size_t)maker->triangle_first[m->weld_count];
    fans->ring_first = cutis_arena_alloc(own, (size_t)m->weld_count + 1, sizeof *fans->ring_first);
    fans->first = cutis_arena_alloc(own, (size_t)m->weld_count + 1, sizeof *fans->first);
    fans->ring = cutis_arena_alloc(own, corners, sizeof *fans->ring);
    fans->corner = cutis_arena_alloc(own, corners, sizeof *fans->corner);
    fans->triangle = maker->triangle;
    fans->unit_weld = maker->unit_weld;
    if (!fans->ring_first || !fans->first || !fans->ring || !fans->corner) return false;
    uint32_t used = 0, faces = 0;
    for (uint32_t w = 0; w < m->weld_count; w++) {
        const uint32_t begin = used;
        fans->ring_first[w] = begin, fans->first[w] = faces;
        for (uint32_t i = maker->triangle_first[w]; i < maker->triangle_first[w + 1]; i++, faces++)
            for (int c = 0; c < 3; c++) {
                const uint32_t unit = m->group->welded[3 * (size_t)maker->triangle[i] + c];
                if (maker->local[unit] == UINT32_MAX) {
                    maker->local[unit] = used - begin;
                    fans->ring[used++] = unit;
                }
                fans->corner[3 * (size_t)faces + c] = maker->local[unit];
            }
        for (uint32_t i = begin; i < used; i++) maker->local[fans->ring[i]] = UINT32_MAX;
    }
    fans->ring_first[m->weld_count] = used, fans->first[m->weld_count] = faces;
    return true;
}

// For every free unit: the welds it has rows in, and its rim there.
static bool list_welds(cutis_moments *m, cutis_arena *arena)
{
    const uint32_t rims = m->weld_rim[m->weld_count];
    m->in_first = cutis_arena_zero(arena, (size_t)m->free_count + 2, sizeof *m->in_first);
    m->in = cutis_arena_alloc(arena, rims, sizeof *m->in);
    m->in_rim = cutis_arena_alloc(arena, rims, sizeof *m->in_rim);
    if (!m->in_first || !m->in || !m->in_rim) return false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t w = 0; w < m->weld_count; w++)
            for (uint32_t r = m->weld_rim[w]; r < m->weld_rim[w + 1]; r++) {
                const uint32_t f = m->rim_free[r];
                if (pass == 0) {
                    m->in_first[f + 2]++;
                } else {
                    m->in[m->in_first[f + 1]] = w;
                    m->in_rim[m->in_first[f + 1]++] = r;
                }
            }
        for (uint32_t f = 0; f < m->free_count && pass == 0; f++)
            m->in_first[f + 2] += m->in_first[f + 1];
    }
    return true;
}

// Free units that share a weld with f, ascending. @return their number
static uint32_t gather_near(const cutis_moments *m, uint32_t f, uint32_t *mark, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t i = m->in_first[f]; i <= m->in_first[f + 1]; i++) {
        const bool last = i == m->in_first[f + 1]; // itself, even where it has no face
        const uint32_t begin = last ? 0 : m->weld_rim[m->in[i]],
                       end = last ? 1 : m->weld_rim[m->in[i] + 1];
        for (uint32_t r = begin; r < end; r++) {
            const uint32_t g = last ? f : m->rim_free[r];
            if (mark[g] == f) continue;
            uint32_t at = count++;
            for (; at > 0 && list[at - 1] > g; at--) list[at] = list[at - 1];
            list[at] = g;
            mark[g] = f;
        }
    }
    return count;
}

static bool list_near(cutis_moments *m, cutis_arena *arena, cutis_arena *own)
{
    uint32_t *mark = cutis_arena_alloc(own, m->free_count, sizeof *mark);
    uint32_t *list = cutis_arena_alloc(own, m->free_count, sizeof *list);
    m->near_first = cutis_arena_alloc(arena, (size_t)m->free_count + 1, sizeof *m->near_first);
    if (!mark || !list || !m->near_first) return false;
    for (int pass = 0; pass < 2; pass++) {
        size_t used = 0;
        for (uint32_t f = 0; f < m->free_count; f++) mark[f] = UINT32_MAX;
        m->value_count = 0;
        for (uint32_t f = 0; f < m->free_count; f++) {
            const uint32_t count = gather_near(m, f, mark, list),
                           n = m->slot_first[f + 1] - m->slot_first[f];
            m->near_first[f] = used;
            for (uint32_t i = 0; i < count; i++, used++) {
                const uint32_t g = list[i];
                if (pass == 1) m->near[used] = g, m->entry[used] = m->value_count;
                m->value_count += (size_t)n * (m->slot_first[g + 1] - m->slot_first[g]);
            }
        }
        m->near_first[m->free_count] = used;
        if (pass == 1) break;
        m->near = cutis_arena_alloc(arena, used, sizeof *m->near);
        m->entry = cutis_arena_alloc(arena, used, sizeof *m->entry);
        if (!m->near || !m->entry) return false;
    }
    return true;
}

static bool list_edges(cutis_moments *m, cutis_arena *arena)
{
    const cutis_reduce_mesh *mesh = &m->group->mesh;
    size_t most = 0, used = 0;
    for (uint32_t f = 0; f < m->free_count; f++)
        most += mesh->first[m->free_unit[f] + 1] - mesh->first[m->free_unit[f]];
    m->edge_first = cutis_arena_alloc(arena, (size_t)m->free_count + 1, sizeof *m->edge_first);
    m->edge = cutis_arena_alloc(arena, most, sizeof *m->edge);
    if (!m->edge_first || !m->edge) return false;
    for (uint32_t f = 0; f < m->free_count; f++) {
        const uint32_t unit = m->free_unit[f];
        m->edge_first[f] = (uint32_t)used;
        for (uint32_t i = mesh->first[unit]; i < mesh->first[unit + 1]; i++)
            if (m->unit_free[mesh->neighbour[i]] >= 0)
                m->edge[used++] = (uint32_t)m->unit_free[mesh->neighbour[i]];
    }
    m->edge_first[m->free_count] = (uint32_t)used;
    return true;
}

cutis_result cutis_moments_open(cutis_moments *m, cutis_arena *arena)
{
    cutis_arena own = { .context = m->context };
    fan_maker maker = { 0 };
    m->free_count = m->weld_count = 0;
    cutis_result result = list_free(m, arena) ? CUTIS_OK : cutis_alloc_result(m->context);
    if (result == CUTIS_OK) result = number_welds(m, arena, &own, &maker);
    if (result == CUTIS_OK &&
        !(sort_triangles(m, &own, &maker) && make_fans(m, &own, &maker) &&
          cutis_moments_clump(m, &maker.fans, arena, &own) && list_welds(m, arena) &&
          list_near(m, arena, &own) && list_edges(m, arena)))
        result = cutis_alloc_result(m->context);
    cutis_arena_release(&own);
    return result;
}

double cutis_moments_size(const cutis_moments *m)
{
    return 8.0 * ((double)m->value_count + (double)m->place_first[m->free_count]);
}
