/// Half-edge mesh: storage, connection, and split, flip and collapse as pure surgery (no geometry
/// judged here).
#include "synth/mesh.h"

#include "base/memory.h"
#include "geometry/order.h"

void cutis_synth_mesh_release(mesh *m)
{
    cutis_free_array(m->context, m->vertices, m->vertex_capacity, sizeof *m->vertices);
    cutis_free_array(m->context, m->halves, m->half_capacity, sizeof *m->halves);
    m->vertices = NULL;
    m->halves = NULL;
    m->vertex_capacity = m->half_capacity = 0;
}

cutis_result cutis_synth_mesh_reserve(mesh *m, size_t vertices, size_t halves)
{
    bool grown = cutis_grow(m->context, &m->vertices, &m->vertex_capacity,
                            (size_t)m->vertex_count + vertices, sizeof *m->vertices) &&
                 cutis_grow(m->context, &m->halves, &m->half_capacity,
                            (size_t)m->half_count + halves, sizeof *m->halves);
    return grown ? CUTIS_OK : cutis_alloc_result(m->context);
}

int32_t cutis_synth_mesh_total(const mesh *m)
{
    return m->shape->folded ? 2 * m->vertices_live - m->plane_live : m->vertices_live;
}

/// @param first half-edges that leave v are sorted[first[v]] .. sorted[first[v + 1]]
static void join_twins(mesh *m, const uint32_t *first, const uint32_t *sorted)
{
    for (int32_t h = 0; h < m->half_count; h++) {
        int32_t a = half_start(m, h), b = half_end(m, h);
        m->halves[h].twin = -1;
        for (uint32_t i = first[b]; i < first[b + 1]; i++)
            if (half_end(m, (int32_t)sorted[i]) == a) m->halves[h].twin = (int32_t)sorted[i];
    }
}

static void find_outgoing(mesh *m, const uint32_t *first, const uint32_t *sorted)
{
    m->vertices_live = m->vertex_count;
    m->plane_live = 0;
    for (int32_t v = 0; v < m->vertex_count; v++) {
        m->vertices[v].valence = (int32_t)(first[v + 1] - first[v]);
        m->vertices[v].half = m->vertices[v].valence ? (int32_t)sorted[first[v]] : -1;
        for (uint32_t i = first[v]; i < first[v + 1]; i++)
            if (m->halves[sorted[i]].twin < 0) m->vertices[v].half = (int32_t)sorted[i];
        if (on_plane(&m->vertices[v])) m->plane_live++;
    }
}

cutis_result cutis_synth_mesh_connect(mesh *m)
{
    cutis_arena arena = { .context = m->context };
    size_t count = (size_t)m->vertex_count, halves = (size_t)m->half_count;
    uint32_t *first = cutis_arena_alloc(&arena, count + 1, sizeof *first);
    uint32_t *sorted = cutis_arena_alloc(&arena, halves, sizeof *sorted);
    uint32_t *starts = cutis_arena_alloc(&arena, halves, sizeof *starts);
    bool good = first && sorted && starts;
    if (good) {
        for (size_t h = 0; h < halves; h++) starts[h] = (uint32_t)m->halves[h].vertex;
        order_by_key(starts, halves, count, first, sorted);
        join_twins(m, first, sorted);
        find_outgoing(m, first, sorted);
    }
    cutis_arena_release(&arena);
    return good ? CUTIS_OK : cutis_alloc_result(m->context);
}

static int32_t renumber_half(const int32_t *triangles, int32_t h)
{
    return h < 0 ? -1 : 3 * triangles[h / 3] + h % 3;
}

/// @param vertices, triangles new numbers of what lives; the others are not read
static void compact(mesh *m, int32_t *vertices, int32_t *triangles)
{
    int32_t live = 0, kept = 0;
    for (int32_t v = 0; v < m->vertex_count; v++)
        if (m->vertices[v].half >= 0) vertices[v] = live++;
    for (int32_t t = 0; t < m->half_count / 3; t++)
        if (m->halves[3 * t].vertex >= 0) triangles[t] = kept++;
    for (int32_t h = 0; h < m->half_count; h++) {
        if (m->halves[h].vertex < 0) continue;
        m->halves[renumber_half(triangles, h)] =
            (mesh_half){ vertices[m->halves[h].vertex], renumber_half(triangles, m->halves[h].twin),
                         m->halves[h].loop };
    }
    for (int32_t v = 0; v < m->vertex_count; v++) {
        if (m->vertices[v].half < 0) continue;
        mesh_vertex moved = m->vertices[v];
        moved.half = renumber_half(triangles, moved.half);
        m->vertices[vertices[v]] = moved;
    }
    m->vertex_count = live;
    m->half_count = 3 * kept;
}

cutis_result cutis_synth_mesh_compact(mesh *m)
{
    cutis_arena arena = { .context = m->context };
    int32_t *vertices = cutis_arena_alloc(&arena, (size_t)m->vertex_count, sizeof *vertices);
    int32_t *triangles = cutis_arena_alloc(&arena, (size_t)m->half_count / 3, sizeof *triangles);
    bool good = vertices && triangles;
    if (good) compact(m, vertices, triangles);
    cutis_arena_release(&arena);
    return good ? CUTIS_OK : cutis_alloc_result(m->context);
}

static void join(mesh *m, int32_t a, int32_t b)
{
    if (a >= 0) m->halves[a].twin = b;
    if (b >= 0) m->halves[b].twin = a;
}

int32_t cutis_synth_mesh_add(mesh *m, int32_t a, int32_t b, int32_t c)
{
    int32_t h = m->half_count;
    m->halves[h] = (mesh_half){ a, -1, 0 };
    m->halves[h + 1] = (mesh_half){ b, -1, 0 };
    m->halves[h + 2] = (mesh_half){ c, -1, 0 };
    m->half_count += 3;
    return h;
}

/// Cut the triangle (a, b, c) left of h into (a, v, c) and the new (v, b, c); returns v -> b of the
/// new one.
static int32_t cut_triangle(mesh *m, int32_t h, int32_t v)
{
    int32_t hn = half_next(h), hp = half_previous(h);
    int32_t b = half_start(m, hn), c = half_start(m, hp);
    int32_t n = cutis_synth_mesh_add(m, v, b, c);
    join(m, n + 1, m->halves[hn].twin);
    m->halves[n + 1].loop = m->halves[hn].loop;
    m->halves[n].loop = m->halves[h].loop;
    m->halves[hn].vertex = v;
    m->halves[hn].loop = 0;
    join(m, hn, n + 2);
    if (m->vertices[b].half == hn) m->vertices[b].half = n + 1;
    m->vertices[c].valence++;
    return n;
}

int32_t cutis_synth_mesh_split(mesh *m, int32_t h, vec3 position)
{
    int32_t o = m->halves[h].twin, loop = m->halves[h].loop, v = m->vertex_count++;
    int32_t b = half_end(m, h);
    mesh_vertex *vertex = &m->vertices[v];
    *vertex = (mesh_vertex){ .position = position, .curve = loop, .valence = o < 0 ? 2 : 4 };
    if (o < 0) vertex->curve = SYNTH_PLANE;
    vertex->normal = m->vertices[half_start(m, h)].normal;
    vertex->size = cutis_synth_shape_size(m->shape, position);
    m->vertices_live++;
    if (o < 0) m->plane_live++;

    int32_t n = cut_triangle(m, h, v);
    vertex->half = n;
    if (o < 0) {
        m->halves[h].twin = -1;
        m->halves[n].twin = -1;
        return v;
    }
    // The other side: (b, a, d) becomes (v, a, d) with the old half o, and (b, v, d) is new.
    int32_t op = half_previous(o), d = half_start(m, op), n2 = cutis_synth_mesh_add(m, b, v, d);
    join(m, n2 + 2, m->halves[op].twin);
    m->halves[n2 + 2].loop = m->halves[op].loop;
    m->halves[n2].loop = loop;
    m->halves[o].vertex = v;
    m->halves[op].loop = 0;
    join(m, op, n2 + 1);
    join(m, h, o);
    join(m, n, n2);
    if (m->vertices[b].half == o) m->vertices[b].half = n2;
    if (m->vertices[d].half == op) m->vertices[d].half = n2 + 2;
    m->vertices[d].valence++;
    return v;
}

static bool is_edge(const mesh *m, int32_t a, int32_t b)
{
    for (int32_t h = m->vertices[a].half; h >= 0; h = next_around(m, a, h))
        if (half_end(m, h) == b || (rotate_half(m, h) < 0 && half_start(m, half_previous(h)) == b))
            return true;
    return false;
}

bool cutis_synth_mesh_can_flip(const mesh *m, int32_t h)
{
    int32_t o = m->halves[h].twin;
    if (o < 0 || m->halves[h].loop) return false;
    return !is_edge(m, half_start(m, half_previous(h)), half_start(m, half_previous(o)));
}

void cutis_synth_mesh_flip(mesh *m, int32_t h)
{
    // Quad a, d, b, c around the edge a-b; afterwards the triangles are (d, b, c) and (c, a, d).
    int32_t o = m->halves[h].twin;
    int32_t hn = half_next(h), hp = half_previous(h), on = half_next(o), op = half_previous(o);
    int32_t a = half_start(m, h), b = half_start(m, o);
    int32_t c = half_start(m, hp), d = half_start(m, op);
    int32_t outer_h = m->halves[op].twin, outer_o = m->halves[hp].twin;
    m->halves[h].loop = m->halves[op].loop;
    m->halves[o].loop = m->halves[hp].loop;
    m->halves[hp].loop = m->halves[op].loop = 0;
    m->halves[h].vertex = d;
    m->halves[o].vertex = c;
    m->halves[h].twin = m->halves[o].twin = -1;
    join(m, h, outer_h);
    join(m, o, outer_o);
    join(m, hp, op);
    if (m->vertices[a].half == h) m->vertices[a].half = on;
    if (m->vertices[b].half == o) m->vertices[b].half = hn;
    if (m->vertices[c].half == hp) m->vertices[c].half = o;
    if (m->vertices[d].half == op) m->vertices[d].half = h;
    m->vertices[a].valence--;
    m->vertices[b].valence--;
    m->vertices[c].valence++;
    m->vertices[d].valence++;
}

enum { RING = 64 };

/// Neighbours of v, at most RING of them.
/// @return how many there are
static int neighbours(const mesh *m, int32_t v, int32_t ring[RING])
{
    int count = 0;
    for (int32_t h = m->vertices[v].half; h >= 0; h = next_around(m, v, h)) {
        if (count < RING) ring[count] = half_end(m, h);
        count++;
        if (rotate_half(m, h) >= 0) continue;
        if (count < RING) ring[count] = half_start(m, half_previous(h));
        count++;
    }
    return count;
}

/// Neighbours that both ends of h share.
static int common_neighbours(const mesh *m, int32_t r, int32_t k)
{
    int32_t around_r[RING], around_k[RING];
    int of_r = neighbours(m, r, around_r), of_k = neighbours(m, k, around_k), count = 0;
    if (of_r > RING || of_k > RING) return -1; // no fan of the remesher's is as wide
    for (int i = 0; i < of_r; i++)
        for (int j = 0; j < of_k && around_r[i] != k; j++) count += around_r[i] == around_k[j];
    return count;
}

/// The start of h may go along the edge: it is free, or the edge belongs to its curve.
static bool may_move_along(const mesh *m, int32_t h)
{
    const mesh_vertex *r = &m->vertices[half_start(m, h)];
    if (r->curve == SYNTH_FREE) return true;
    // A corner stays where it is, but may take over its neighbour along the border.
    if (r->curve == SYNTH_CORNER)
        return m->halves[h].twin < 0 && m->vertices[half_end(m, h)].curve == SYNTH_PLANE;
    if (r->curve == SYNTH_PLANE) return m->halves[h].twin < 0;
    return m->halves[h].loop == r->curve;
}

bool cutis_synth_mesh_can_collapse(const mesh *m, int32_t h)
{
    if (!may_move_along(m, h)) return false;
    int32_t o = m->halves[h].twin, r = half_start(m, h), k = half_end(m, h);
    // The edges that vanish at r must carry no constraint, or a loop would lose its way.
    int32_t hp = half_previous(h), c = half_start(m, hp);
    if (m->halves[hp].loop || m->halves[hp].twin < 0) return false;
    if (m->vertices[c].valence <= (on_plane(&m->vertices[c]) ? 2 : 4)) return false;
    if (o >= 0) {
        int32_t on = half_next(o), d = half_end(m, on);
        if (m->halves[on].loop || m->halves[on].twin < 0) return false;
        if (m->vertices[d].valence <= (on_plane(&m->vertices[d]) ? 2 : 4)) return false;
    }
    return common_neighbours(m, r, k) == (o < 0 ? 1 : 2);
}

static void remove_triangle(mesh *m, int32_t h)
{
    int32_t first = h - h % 3;
    for (int i = 0; i < 3; i++) m->halves[first + i] = (mesh_half){ -1, -1, 0 };
}

void cutis_synth_mesh_collapse(mesh *m, int32_t h, vec3 position)
{
    int32_t o = m->halves[h].twin, r = half_start(m, h), k = half_end(m, h);
    int32_t hn = half_next(h), hp = half_previous(h), c = half_start(m, hp);
    int32_t outer = m->halves[hn].twin, inner = m->halves[hp].twin; // k->c side, r->c side
    bool plane = on_plane(&m->vertices[r]);
    for (int32_t i = m->vertices[r].half; i >= 0; i = next_around(m, r, i)) m->halves[i].vertex = k;
    m->halves[inner].loop = m->halves[hn].loop;
    m->halves[inner].twin = -1;
    join(m, inner, outer);
    if (m->vertices[c].half == hp) m->vertices[c].half = outer;
    if (m->vertices[k].half == hn || m->vertices[k].half == o) m->vertices[k].half = inner;
    m->vertices[c].valence--;
    m->vertices[k].valence += m->vertices[r].valence - (o < 0 ? 2 : 4);
    if (o >= 0) {
        int32_t on = half_next(o), op = half_previous(o), d = half_start(m, op);
        int32_t outer2 = m->halves[op].twin, inner2 = m->halves[on].twin; // k->d side, d->r side
        m->halves[inner2].loop = m->halves[op].loop;
        m->halves[inner2].twin = -1;
        join(m, inner2, outer2);
        if (m->vertices[d].half == op) m->vertices[d].half = inner2;
        m->vertices[d].valence--;
        remove_triangle(m, o);
    }
    remove_triangle(m, h);
    m->vertices[r].half = -1;
    m->vertices_live--;
    if (plane) m->plane_live--;
    if (m->vertices[r].curve == SYNTH_CORNER) {
        m->vertices[k].curve = SYNTH_CORNER;
        m->vertices[k].loop = m->vertices[r].loop;
    }
    m->vertices[k].position = position;
    m->vertices[k].size = cutis_synth_shape_size(m->shape, position);
}
