/// Which faces are the outside. Faces are grouped as far as no segment lies between them; how often
/// the surface goes round the space on the outer side of one of them (its solid angles seen from
/// there, over 4 pi) is the same for all, and 0 where that side is outside.
#include "measure/unite.h"

#include "base/error.h"
#include "geometry/half_edge.h"
#include "geometry/order.h"

static double doubled_area(const uniting *u, const unite_face *f)
{
    return v3_length(v3_normal(unite_point(u, f->corners[0]), unite_point(u, f->corners[1]),
                               unite_point(u, f->corners[2])));
}

/// Half of the solid angle of a triangle, seen from p (van Oosterom and Strackee).
static double half_angle(const uniting *u, uint32_t triangle, vec3 p)
{
    const uint32_t *c = unite_corners(u, triangle);
    const vec3 a = v3_sub(unite_point(u, c[0]), p), b = v3_sub(unite_point(u, c[1]), p);
    const vec3 d = v3_sub(unite_point(u, c[2]), p);
    const double x = v3_length(a), y = v3_length(b), z = v3_length(d);
    const double volume = v3_dot(a, v3_cross(b, d));
    return fixed_atan2(volume, x * y * z + v3_dot(a, b) * z + v3_dot(b, d) * x + v3_dot(d, a) * y);
}

/// How often the surface goes round the outer side of a face.
static double around(const uniting *u, const unite_face *f)
{
    const vec3 a = unite_point(u, f->corners[0]), b = unite_point(u, f->corners[1]);
    const vec3 middle = v3_divide(v3_add(v3_add(a, b), unite_point(u, f->corners[2])), 3);
    double sum = 0;
    for (uint32_t t = 0; t < u->triangle_count; t++)
        if (t != f->origin) sum += half_angle(u, t, middle);
    return sum / (2 * M_PI) - 0.5; // in the face itself it is the mean of both sides
}

/// Faces on both sides of an edge that no segment lies on are one group; else four faces meet
/// there.
static cutis_result group_faces(uniting *u, uint32_t *up, cutis_edge **edges, size_t *count)
{
    uint32_t *corners = cutis_arena_alloc(&u->arena, u->face_count, 3 * sizeof *corners);
    if (!corners) return cutis_alloc_result(u->context);
    for (size_t f = 0; f < u->face_count; f++) {
        up[f] = (uint32_t)f;
        memcpy(corners + 3 * f, u->faces[f].corners, 3 * sizeof *corners);
    }
    TRY(cutis_edges_sort(&u->arena, corners, NULL, u->face_count, edges, count));
    const cutis_edge *e = *edges;
    for (size_t i = 0, n; i < *count; i += n) {
        n = cutis_edges_run(e, *count, i);
        const uint32_t one = (uint32_t)(e[i].half / 3);
        if (n == 2)
            up[group_of(up, one)] = group_of(up, (uint32_t)(e[i + 1].half / 3));
        else if (n != 4)
            for (size_t k = i; k < i + n; k++) unite_touch(u, u->faces[e[k].half / 3].origin);
    }
    return CUTIS_OK;
}

/// Is the outer side of a group outside? Seen from its largest face, whose middle is far from
/// others.
static cutis_result judge_groups(uniting *u, uint32_t *up)
{
    uint32_t *largest = cutis_arena_alloc(&u->arena, u->face_count, sizeof *largest);
    double *area = cutis_arena_zero(&u->arena, u->face_count, sizeof *area);
    if (!largest || !area) return cutis_alloc_result(u->context);
    for (uint32_t f = 0; f < u->face_count; f++) {
        const uint32_t group = group_of(up, f);
        const double own = doubled_area(u, &u->faces[f]);
        if (own >= area[group]) area[group] = own, largest[group] = f;
    }
    for (uint32_t f = 0; f < u->face_count; f++) {
        if (group_of(up, f) != f) continue;
        const double turns = around(u, &u->faces[largest[f]]), whole = floor(turns + 0.5);
        if (fabs(turns - whole) > 0.25) unite_touch(u, u->faces[largest[f]].origin); // not closed
        u->kept[f] = whole == 0;
        TRY(cutis_progress(u->context, "outside", (f + 1.0) / (double)u->face_count));
    }
    for (uint32_t f = 0; f < u->face_count; f++) u->kept[f] = u->kept[group_of(up, f)];
    return CUTIS_OK;
}

/// What is kept passes every edge as often one way as the other, or groups were misjudged: faces
/// that lie on each other have no outer side.
static void check_closed(uniting *u, const cutis_edge *edges, size_t count)
{
    for (size_t i = 0, n; i < count; i += n) {
        int balance = 0;
        n = cutis_edges_run(edges, count, i);
        for (size_t k = i; k < i + n; k++) {
            const unite_face *f = &u->faces[edges[k].half / 3];
            const int way = f->corners[edges[k].half % 3] == edges[k].low ? 1 : -1;
            if (u->kept[edges[k].half / 3]) balance += way;
        }
        for (size_t k = i; k < i + n && balance; k++)
            unite_touch(u, u->faces[edges[k].half / 3].origin);
    }
}

cutis_result unite_keep(uniting *u)
{
    cutis_edge *edges = NULL;
    size_t count = 0;
    uint32_t *up = cutis_arena_alloc(&u->arena, u->face_count, sizeof *up);
    u->kept = cutis_arena_zero(&u->arena, u->face_count, sizeof *u->kept);
    if (!up || !u->kept) return cutis_alloc_result(u->context);
    TRY(group_faces(u, up, &edges, &count));
    if (u->failed) return CUTIS_OK;
    TRY(judge_groups(u, up));
    check_closed(u, edges, count);
    return CUTIS_OK;
}
