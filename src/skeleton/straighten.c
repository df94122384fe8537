// Straight joint loops: near a loop its plane decides on which side a point lies, farther away the
// distance along the skin does, and in between both. Triangles are cut where that field is zero.
// Invariant: no vertex moves, so the surface stays what it was; only triangles are split, and only
// faces of the two parts of a joint change sides.
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "geometry/order.h"
#include "skeleton/rig.h"

static const double NEAR = 0.6;        // part of the band where the plane alone decides
static const double OTHER_LOOP = 0.45; // of the distance to the nearest other loop
static const double REACH = 0.3;       // of the shorter part
static const double EDGES = 2;         // a band narrower than this many edges is left alone
static const double SNAP = 0.15;       // a cut this near the end of an edge goes through its end

typedef struct {
    cutis_closed *mesh;
    const cutis_ring *ring;
    uint32_t parent, child; // labels
    double *along;          // per vertex: signed distance along the skin, + in the child
    double *field;          // per vertex: psi
    cutis_arena arena;
} joint_band;

static bool in_band(const joint_band *b, uint32_t face)
{
    return b->mesh->labels[face] == b->parent || b->mesh->labels[face] == b->child;
}

// Half the width of the band, or 0: no space.
static double band_width(joint_band *b)
{
    const cutis_closed *mesh = b->mesh;
    double other = INFINITY, reach[2] = { 0, 0 };
    for (uint32_t h = 0; h < 3 * mesh->face_count; h++) {
        double d = b->along[cutis_from(mesh, h)];
        if (!in_band(b, h / 3) || !isfinite(d)) continue;
        reach[d > 0] = fmax(reach[d > 0], fabs(d));
        if (cutis_is_border(mesh, h) && !in_band(b, mesh->twins[h] / 3))
            other = fmin(other, fabs(d));
    }
    double *lengths = cutis_arena_alloc(&b->arena, b->ring->count, sizeof *lengths);
    if (!lengths) return 0;
    for (uint32_t i = 0; i < b->ring->count; i++)
        lengths[i] = v3_distance_of(mesh->points[b->ring->vertices[i]],
                                    mesh->points[b->ring->vertices[(i + 1) % b->ring->count]]);
    qsort(lengths, b->ring->count, sizeof *lengths, order_double);
    double edge = lengths[b->ring->count / 2];
    double width =
        fmin(b->ring->radius, fmin(OTHER_LOOP * other, REACH * fmin(reach[0], reach[1])));
    return width < EDGES * edge ? 0 : width;
}

static void fill_field(joint_band *b, double width)
{
    const cutis_closed *mesh = b->mesh;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        double phi = b->along[v] / width, s = (fabs(phi) - NEAR) / (1 - NEAR);
        if (!isfinite(phi)) continue;
        s = fmin(1, fmax(0, s));
        s = s * s * (3 - 2 * s);
        vec3 d = v3_sub(v3_of(mesh->points[v]), v3_of(b->ring->centre));
        b->field[v] = (1 - s) * v3_dot(v3_of(b->ring->normal), d) / width + s * phi;
    }
}

static bool crosses(const joint_band *b, uint32_t from, uint32_t to)
{
    return b->field[from] * b->field[to] < 0;
}

// Cuts near the end of an edge go through the end.
static void snap(joint_band *b)
{
    const cutis_closed *mesh = b->mesh;
    for (uint32_t h = 0; h < 3 * mesh->face_count; h++) {
        uint32_t from = cutis_from(mesh, h), to = cutis_to(mesh, h);
        if (!in_band(b, h / 3) || !crosses(b, from, to)) continue;
        double t = b->field[from] / (b->field[from] - b->field[to]);
        if (t < SNAP) b->field[from] = 0;
        if (t > 1 - SNAP) b->field[to] = 0;
    }
}

typedef struct {
    uint32_t from, to;
} cut;

static uint32_t half_edge(const cutis_closed *mesh, uint32_t from, uint32_t to)
{
    uint32_t h = mesh->leaving[from];
    while (cutis_to(mesh, h) != to) h = cutis_around(mesh, h);
    return h;
}

static bool split_edges(joint_band *b)
{
    cutis_closed *mesh = b->mesh;
    uint32_t count = 0, capacity = 0;
    for (uint32_t h = 0; h < 3 * mesh->face_count; h++) capacity += in_band(b, h / 3);
    cut *cuts = cutis_arena_alloc(&b->arena, capacity, sizeof *cuts);
    if (!cuts) return false;
    for (uint32_t h = 0; h < 3 * mesh->face_count; h++) {
        uint32_t from = cutis_from(mesh, h), to = cutis_to(mesh, h);
        if (from < to && in_band(b, h / 3) && in_band(b, mesh->twins[h] / 3) &&
            crosses(b, from, to))
            cuts[count++] = (cut){ from, to };
    }
    // New vertices lie on the zero of the field: they need no entry of their own in it.
    for (uint32_t i = 0; i < count; i++) {
        double a = b->field[cuts[i].from], c = b->field[cuts[i].to];
        uint32_t vertex;
        if (!cutis_closed_split(mesh, half_edge(mesh, cuts[i].from, cuts[i].to), a / (a - c),
                                &vertex))
            return false;
    }
    return true;
}

static void relabel(joint_band *b, uint32_t old_vertices)
{
    cutis_closed *mesh = b->mesh;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        double sum = 0;
        if (!in_band(b, f)) continue;
        for (int c = 0; c < 3; c++)
            if (mesh->faces[f][c] < old_vertices) sum += b->field[mesh->faces[f][c]];
        if (sum != 0) mesh->labels[f] = sum > 0 ? b->child : b->parent;
    }
}

static cutis_result straighten_joint(cutis_parts *parts, uint32_t p, bool *done)
{
    cutis_closed *mesh = parts->mesh;
    joint_band b = { .mesh = mesh,
                     .ring = &parts->rings[parts->parts[p].ring],
                     .child = parts->parts[p].label,
                     .parent = parts->parts[parts->parts[p].parent].label,
                     .arena = { .context = mesh->context } };
    uint32_t n = mesh->vertex_count;
    b.along = cutis_arena_alloc(&b.arena, n, sizeof *b.along);
    b.field = cutis_arena_alloc(&b.arena, n, sizeof *b.field);
    bool good = b.along && b.field;
    *done = false;
    for (uint32_t v = 0; v < n && good; v++) b.along[v] = INFINITY, b.field[v] = 0;
    const uint32_t *loop = b.ring->vertices, count = b.ring->count;
    good = good && cutis_label_distances(mesh, b.child, loop, count, 1, b.along) &&
           cutis_label_distances(mesh, b.parent, loop, count, -1, b.along);
    double width = good ? band_width(&b) : 0;
    if (good && width > 0) {
        fill_field(&b, width);
        snap(&b);
        good = split_edges(&b);
        if (good) relabel(&b, n);
        *done = good;
    }
    cutis_arena_release(&b.arena);
    return good ? CUTIS_OK : cutis_alloc_result(mesh->context);
}

cutis_result cutis_straighten(cutis_parts *parts, cutis_notes *notes, uint32_t *done,
                              uint32_t *skipped)
{
    *done = *skipped = 0;
    for (uint32_t p = 1; p < parts->count; p++) {
        bool straight;
        if (parts->parts[p].ring == CUTIS_NONE) continue;
        TRY(straighten_joint(parts, p, &straight));
        TRY(cutis_progress(parts->mesh->context, "straightening", (p + 1.0) / parts->count));
        ++*(straight ? done : skipped);
        if (!straight)
            cutis_note(notes, "the loop of \"%s\" has no space to be straightened",
                       parts->parts[p].name);
    }
    return CUTIS_OK;
}
