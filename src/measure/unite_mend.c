/// Cuts leave edges and heights that are shorter than floats can tell apart. Around new points
/// short edges are collapsed and flat triangles lose their longest edge to the other diagonal, as
/// long as neighbours keep looking the same way; a round changes nothing beside what it has
/// changed. Closed stays closed.
#include "measure/unite.h"

#include <string.h>

enum { ROUNDS = 40 };

typedef struct mending {
    uniting *u;
    double least;           ///< length that edges and heights shall have
    uint32_t *first, *list; ///< corners by point: 3 face + corner
    bool *locked;           ///< per point: changed in this round
    bool changed;
} mending;

static bool is_new(const mending *m, uint32_t point)
{
    return point >= m->u->place_count;
}

static vec3 normal_of(const uniting *u, const uint32_t *c)
{
    return v3_normal(unite_point(u, c[0]), unite_point(u, c[1]), unite_point(u, c[2]));
}

static double distance(const uniting *u, uint32_t a, uint32_t b)
{
    return v3_length(v3_sub(unite_point(u, a), unite_point(u, b)));
}

static double longest(const uniting *u, const uint32_t *c, int *edge)
{
    double most = -1;
    for (int k = 0; k < 3; k++) {
        const double length = distance(u, c[k], c[(k + 1) % 3]);
        if (length > most) most = length, *edge = k;
    }
    return most;
}

/// The least height of a triangle.
static double least_height(const uniting *u, const uint32_t *c)
{
    int edge = 0;
    const double base = longest(u, c, &edge);
    return base > 0 ? v3_length(normal_of(u, c)) / base : 0;
}

static void list_corners(mending *m)
{
    const uniting *u = m->u;
    uint32_t *end = m->first + 1; // of the point before, then where its next corner goes
    memset(m->first, 0, (u->point_count + (size_t)2) * sizeof *m->first);
    for (size_t f = 0; f < u->face_count; f++)
        for (int k = 0; k < 3 && u->kept[f]; k++) end[u->faces[f].corners[k] + 1]++;
    for (uint32_t p = 0; p < u->point_count; p++) end[p + 1] += end[p];
    for (size_t f = 0; f < u->face_count; f++)
        for (int k = 0; k < 3 && u->kept[f]; k++)
            m->list[end[u->faces[f].corners[k]]++] = (uint32_t)(3 * f) + (uint32_t)k;
    memset(m->locked, 0, u->point_count * sizeof *m->locked);
}

static bool around_is_locked(const mending *m, uint32_t p)
{
    for (uint32_t i = m->first[p]; i < m->first[p + 1]; i++)
        for (int k = 0; k < 3; k++)
            if (m->locked[m->u->faces[m->list[i] / 3].corners[k]]) return true;
    return false;
}

static void lock_around(const mending *m, uint32_t p)
{
    for (uint32_t i = m->first[p]; i < m->first[p + 1]; i++)
        for (int k = 0; k < 3; k++) m->locked[m->u->faces[m->list[i] / 3].corners[k]] = true;
}

static bool has_corner(const unite_face *f, uint32_t p)
{
    return f->corners[0] == p || f->corners[1] == p || f->corners[2] == p;
}

static bool are_joined(const mending *m, uint32_t p, uint32_t q)
{
    for (uint32_t i = m->first[p]; i < m->first[p + 1]; i++)
        if (has_corner(&m->u->faces[m->list[i] / 3], q)) return true;
    return false;
}

/// Two faces have the edge, and nobody but their other corners is joined to both ends.
static bool may_collapse(const mending *m, uint32_t p, uint32_t q)
{
    int faces = 0, joined = 0;
    for (uint32_t i = m->first[p]; i < m->first[p + 1]; i++) {
        const unite_face *f = &m->u->faces[m->list[i] / 3];
        const uint32_t next = f->corners[(m->list[i] % 3 + 1) % 3];
        faces += has_corner(f, q);
        joined += next != q && are_joined(m, next, q);
    }
    return faces == 2 && joined == 2;
}

/// Do the faces around p that stay look the same way when p comes to q?
static bool keeps_turn(const mending *m, uint32_t p, uint32_t q)
{
    const uniting *u = m->u;
    for (uint32_t i = m->first[p]; i < m->first[p + 1]; i++) {
        const unite_face *f = &u->faces[m->list[i] / 3];
        uint32_t moved[3] = { f->corners[0], f->corners[1], f->corners[2] };
        if (has_corner(f, q)) continue;
        moved[m->list[i] % 3] = q;
        if (least_height(u, f->corners) >= m->least &&
            v3_dot(normal_of(u, f->corners), normal_of(u, moved)) <= 0)
            return false;
    }
    return true;
}

static void collapse(mending *m, uint32_t p, uint32_t q)
{
    lock_around(m, p), lock_around(m, q);
    for (uint32_t i = m->first[p]; i < m->first[p + 1]; i++) {
        unite_face *f = &m->u->faces[m->list[i] / 3];
        if (has_corner(f, q))
            m->u->kept[m->list[i] / 3] = false;
        else
            f->corners[m->list[i] % 3] = q;
    }
    m->changed = true;
}

static bool collapse_short(mending *m, const uint32_t *corners)
{
    for (int k = 0; k < 6; k++) {
        const uint32_t p = corners[k % 3], q = corners[(k % 3 + (k < 3 ? 1 : 2)) % 3];
        if (!is_new(m, p) || distance(m->u, p, q) >= m->least) continue;
        if (around_is_locked(m, p) || around_is_locked(m, q)) continue;
        if (!may_collapse(m, p, q) || !keeps_turn(m, p, q)) continue;
        collapse(m, p, q);
        return true;
    }
    return false;
}

/// The other face of an edge; UINT32_MAX: there is not exactly one.
static uint32_t face_across(const mending *m, uint32_t face, uint32_t a, uint32_t b)
{
    uint32_t other = UINT32_MAX;
    for (uint32_t i = m->first[a]; i < m->first[a + 1]; i++) {
        const uint32_t f = m->list[i] / 3;
        if (f == face || !has_corner(&m->u->faces[f], b)) continue;
        if (other != UINT32_MAX) return UINT32_MAX;
        other = f;
    }
    return other;
}

/// A flat triangle a b c, ab its longest edge, and its neighbour b a d become c a d and c d b.
static void flip_flat(mending *m, uint32_t face)
{
    uniting *u = m->u;
    unite_face *f = &u->faces[face];
    int k = 0;
    longest(u, f->corners, &k);
    const uint32_t a = f->corners[k], b = f->corners[(k + 1) % 3], c = f->corners[(k + 2) % 3];
    if (around_is_locked(m, a) || around_is_locked(m, b)) return;
    const uint32_t across = face_across(m, face, a, b);
    if (across == UINT32_MAX) return;
    unite_face *g = &u->faces[across];
    const uint32_t d = g->corners[0] + g->corners[1] + g->corners[2] - a - b;
    const uint32_t one[3] = { c, a, d }, two[3] = { c, d, b };
    const vec3 up = normal_of(u, g->corners);
    const double before = least_height(u, f->corners), x = least_height(u, one),
                 y = least_height(u, two);
    if (are_joined(m, c, d) || (x < y ? x : y) <= before) return;
    if (v3_dot(up, normal_of(u, one)) <= 0 || v3_dot(up, normal_of(u, two)) <= 0) return;
    lock_around(m, a), lock_around(m, b);
    f->origin = g->origin;
    memcpy(f->corners, one, sizeof one), memcpy(g->corners, two, sizeof two);
    m->changed = true;
}

cutis_result unite_mend(uniting *u, double least)
{
    mending m = { .u = u, .least = least, .changed = true };
    m.first = cutis_arena_alloc(&u->arena, u->point_count + (size_t)2, sizeof *m.first);
    m.list = cutis_arena_alloc(&u->arena, u->face_count, 3 * sizeof *m.list);
    m.locked = cutis_arena_alloc(&u->arena, u->point_count, sizeof *m.locked);
    if (!m.first || !m.list || !m.locked) return cutis_alloc_result(u->context);
    for (int round = 0; round < ROUNDS && m.changed; round++) {
        m.changed = false;
        list_corners(&m);
        for (uint32_t f = 0; f < u->face_count; f++) {
            const uint32_t *c = u->faces[f].corners;
            if (!u->kept[f] || !(is_new(&m, c[0]) || is_new(&m, c[1]) || is_new(&m, c[2])))
                continue;
            if (least_height(u, c) >= least || collapse_short(&m, c)) continue;
            flip_flat(&m, f);
        }
    }
    return CUTIS_OK;
}
