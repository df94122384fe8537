// From loose triangles to a closed mesh: weld vertices at one place, pair half-edges, orient, split
// what is not manifold, cap what is open. Invariant: nothing is moved but borders that nearly
// coincide, and no triangle is lost but those without area and those that are there twice.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "geometry/heap.h"
#include "skeleton/closed.h"
#include "math/elementary.h"

// Border vertices this close (part of the diagonal) are one: exporters round to 6 digits.
static const double WELD_REACH = 1e-5;
// A piece that encloses less than this part of (its diagonal)^3 is a sheet.
static const double SHEET = 1e-9;

typedef struct {
    cutis_context *context;
    cutis_arena arena; // released at the end
    cutis_gathered from;
    const uint32_t *labels; // per gathered triangle, or NULL
    const cutis_labels *names;
    uint32_t *weld; // per gathered vertex: welded vertex
    uint32_t face_count;
    uint32_t (*faces)[3], (*corners)[3]; // welded and gathered vertices
    uint32_t *triangles;                 // per face: gathered triangle
    uint32_t *twins;                     // 3 per face
    cutis_arena edge_arena;
    cutis_edge *edges; // of the faces, sorted
    size_t edge_count;
    uint8_t *flips; // per face: turned over
    uint32_t *shells;
    uint32_t shell_count;
    bool fans; // some edge has more than two faces
    cutis_skeleton_repairs *repairs;
} welder;

// Welding ----------------------------------------------------------------------------------------

// Faces of distinct welded vertices.
static cutis_result list_faces(welder *w)
{
    uint32_t n = w->from.triangle_count;
    if (!w->faces) {
        w->faces = cutis_arena_alloc(&w->arena, n, sizeof *w->faces);
        w->corners = cutis_arena_alloc(&w->arena, n, sizeof *w->corners);
        w->triangles = cutis_arena_alloc(&w->arena, n, sizeof *w->triangles);
        w->twins = cutis_arena_alloc(&w->arena, n, 3 * sizeof *w->twins);
        if (!w->faces || !w->corners || !w->triangles || !w->twins)
            return cutis_alloc_result(w->context);
    }
    w->face_count = 0;
    w->repairs->dropped_faces = 0;
    for (uint32_t t = 0; t < n; t++) {
        const uint32_t *corner = w->from.triangles + 3 * (size_t)t;
        uint32_t a = w->weld[corner[0]], b = w->weld[corner[1]], c = w->weld[corner[2]];
        if (a == b || b == c || c == a) {
            w->repairs->dropped_faces++;
            continue;
        }
        uint32_t *face = w->faces[w->face_count];
        face[0] = a, face[1] = b, face[2] = c;
        memcpy(w->corners[w->face_count], corner, sizeof *w->corners);
        w->triangles[w->face_count++] = t;
    }
    if (w->face_count == 0) return UNSUPPORTED(w->context, "every triangle is without area");
    return CUTIS_OK;
}

static uint32_t edge_from(const welder *w, uint32_t h)
{
    return w->faces[h / 3][h % 3];
}
static uint32_t edge_to(const welder *w, uint32_t h)
{
    return edge_from(w, half_next(h));
}
static cutis_result sort_edges(welder *w)
{
    cutis_arena_release(&w->edge_arena);
    return cutis_edges_sort(&w->edge_arena, w->faces[0], NULL, w->face_count, &w->edges,
                            &w->edge_count);
}

// Twice the same triangle, the same way round: one of them goes.
static cutis_result drop_doubles(welder *w)
{
    uint32_t kept = 0;
    uint8_t *doubled = cutis_arena_zero(&w->arena, w->face_count, 1);
    if (!doubled) return cutis_alloc_result(w->context);
    for (size_t i = 0, n; i < w->edge_count; i += n) {
        n = cutis_edges_run(w->edges, w->edge_count, i);
        for (size_t a = i; n > 2 && a < i + n; a++)
            for (size_t b = a + 1; b < i + n; b++) {
                uint32_t g = (uint32_t)w->edges[a].half, h = (uint32_t)w->edges[b].half;
                if (edge_from(w, g) == edge_from(w, h) && !doubled[g / 3] &&
                    edge_from(w, half_previous(g)) == edge_from(w, half_previous(h)))
                    doubled[h / 3] = 1;
            }
    }
    for (uint32_t f = 0; f < w->face_count; f++) {
        if (doubled[f]) {
            w->repairs->dropped_faces++;
            continue;
        }
        memmove(w->faces[kept], w->faces[f], sizeof *w->faces);
        memmove(w->corners[kept], w->corners[f], sizeof *w->corners);
        w->triangles[kept++] = w->triangles[f];
    }
    w->face_count = kept;
    return sort_edges(w);
}

// Borders that nearly coincide ------------------------------------------------------------------

typedef struct {
    int64_t cell[3];
    uint32_t vertex;
} border_point;

static int compare_points(const void *a, const void *b)
{
    const border_point *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->cell[k] != q->cell[k]) return p->cell[k] < q->cell[k] ? -1 : 1;
    return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

static double place_distance(const welder *w, uint32_t a, uint32_t b)
{
    return v3_distance(v3_at(w->from.positions, a), v3_at(w->from.positions, b));
}

static uint32_t list_border(const welder *w, double reach, border_point *points)
{
    uint32_t count = 0;
    for (uint32_t h = 0; h < 3 * w->face_count; h++) {
        if (w->twins[h] != CUTIS_NOTHING) continue;
        border_point *p = &points[count++];
        p->vertex = edge_from(w, h);
        for (int k = 0; k < 3; k++)
            p->cell[k] = (int64_t)floor(w->from.positions[3 * (size_t)p->vertex + k] / reach);
    }
    qsort(points, count, sizeof *points, compare_points);
    return count;
}

static uint32_t first_not_below(const border_point *points, uint32_t count, const border_point *key)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (compare_points(&points[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The lowest border vertex within reach of p, or p's own.
static uint32_t lowest_near(const welder *w, const border_point *points, uint32_t count,
                            const border_point *p, double reach)
{
    uint32_t best = p->vertex;
    for (int i = 0; i < 27; i++) {
        border_point key = {
            { p->cell[0] + i % 3 - 1, p->cell[1] + i / 3 % 3 - 1, p->cell[2] + i / 9 - 1 }, 0
        };
        for (uint32_t j = first_not_below(points, count, &key);
             j < count && memcmp(points[j].cell, key.cell, sizeof key.cell) == 0; j++)
            if (points[j].vertex < best && place_distance(w, points[j].vertex, p->vertex) <= reach)
                best = points[j].vertex;
    }
    return best;
}

// Border vertices within reach become one, at the place of the lowest. Only ever called with open
// edges about; the edges of the borders must be longer than the reach, so no face collapses.
static cutis_result weld_borders(welder *w, double reach, bool *changed)
{
    *changed = false;
    border_point *points = cutis_arena_alloc(&w->arena, 3 * (size_t)w->face_count, sizeof *points);
    uint32_t *target = cutis_arena_alloc(&w->arena, w->from.vertex_count, sizeof *target);
    if (!points || !target) return cutis_alloc_result(w->context);
    for (uint32_t h = 0; h < 3 * w->face_count; h++)
        if (w->twins[h] == CUTIS_NOTHING)
            reach = fmin(reach, 0.3 * place_distance(w, edge_from(w, h), edge_to(w, h)));
    if (!(reach > 0)) return CUTIS_OK;
    uint32_t count = list_border(w, reach, points);
    for (uint32_t v = 0; v < w->from.vertex_count; v++) target[v] = v;
    for (uint32_t i = 0; i < count; i++)
        target[points[i].vertex] = lowest_near(w, points, count, &points[i], reach);
    for (uint32_t v = 0; v < w->from.vertex_count; v++) {
        uint32_t to = w->weld[v];
        while (target[to] != to) to = target[to];
        if (to == w->weld[v]) continue;
        w->weld[v] = to;
        *changed = true;
        memcpy(w->from.positions + 3 * (size_t)v, w->from.positions + 3 * (size_t)to,
               3 * sizeof(float));
    }
    return CUTIS_OK;
}

// Pairing and orientation -----------------------------------------------------------------------

// Edges of exactly two faces are pairs, whichever way they run.
static void pair_simple(welder *w)
{
    memset(w->twins, 0xff, 3 * (size_t)w->face_count * sizeof *w->twins);
    w->fans = false;
    for (size_t i = 0, n; i < w->edge_count; i += n) {
        const cutis_edge *e = &w->edges[i];
        n = cutis_edges_run(w->edges, w->edge_count, i);
        w->fans = w->fans || n > 2;
        if (n == 2)
            w->twins[e[0].half] = (uint32_t)e[1].half, w->twins[e[1].half] = (uint32_t)e[0].half;
    }
}

static const char *face_name(const welder *w, uint32_t f)
{
    return w->labels ? w->names->names[w->labels[w->triangles[f]]] : "the model";
}

// Flood every piece, turning faces so that neighbours agree.
static cutis_result orient(welder *w)
{
    uint32_t n = w->face_count, *queue = cutis_arena_alloc(&w->arena, n, sizeof *queue);
    w->flips = cutis_arena_alloc(&w->arena, n, 1);
    w->shells = cutis_nothings(&w->arena, n);
    if (!queue || !w->flips || !w->shells) return cutis_alloc_result(w->context);
    w->shell_count = 0;
    for (uint32_t seed = 0; seed < n; seed++) {
        if (w->shells[seed] != CUTIS_NOTHING) continue;
        uint32_t head = 0, tail = 0;
        queue[tail++] = seed;
        w->shells[seed] = w->shell_count, w->flips[seed] = 0;
        while (head < tail) {
            uint32_t f = queue[head++];
            for (uint32_t h = 3 * f; h < 3 * f + 3; h++) {
                uint32_t t = w->twins[h];
                if (t == CUTIS_NOTHING) continue;
                uint8_t flip = w->flips[f] ^ (edge_from(w, h) == edge_from(w, t));
                if (w->shells[t / 3] == CUTIS_NOTHING) {
                    w->shells[t / 3] = w->shell_count, w->flips[t / 3] = flip;
                    queue[tail++] = t / 3;
                } else if (w->flips[t / 3] != flip) {
                    return UNSUPPORTED(w->context,
                                       "part \"%s\": the surface has one side only (a Moebius "
                                       "strip) and encloses nothing",
                                       face_name(w, f));
                }
            }
        }
        w->shell_count++;
    }
    return CUTIS_OK;
}

static void face_points(const welder *w, uint32_t f, double p[3][3])
{
    for (int c = 0; c < 3; c++) v3_put(v3_at(w->from.positions, w->corners[f][c]), p[c]);
}

// Turn faces over, and whole pieces that are inside out.
static cutis_result turn_outward(welder *w)
{
    double(*middle)[4] = cutis_arena_zero(&w->arena, w->shell_count, sizeof *middle);
    double *volume = cutis_arena_zero(&w->arena, w->shell_count, sizeof *volume), p[3][3];
    if (!middle || !volume) return cutis_alloc_result(w->context);
    for (uint32_t f = 0; f < w->face_count; f++) {
        double *m = middle[w->shells[f]];
        face_points(w, f, p);
        for (int k = 0; k < 3; k++) m[k] += p[0][k] + p[1][k] + p[2][k];
        m[3] += 3;
    }
    for (uint32_t s = 0; s < w->shell_count; s++)
        for (int k = 0; k < 3; k++) middle[s][k] /= middle[s][3];
    for (uint32_t f = 0; f < w->face_count; f++) {
        face_points(w, f, p);
        double v = v3_wedge_of(p[0], p[1], p[2], middle[w->shells[f]]);
        volume[w->shells[f]] += w->flips[f] ? -v : v;
    }
    bool any = false;
    for (uint32_t f = 0; f < w->face_count; f++) {
        if (w->flips[f] ^ (volume[w->shells[f]] < 0)) {
            uint32_t *a = w->faces[f], *b = w->corners[f], t = a[1], u = b[1];
            a[1] = a[2], a[2] = t, b[1] = b[2], b[2] = u;
            w->repairs->flipped_faces++;
            any = true;
        }
    }
    if (!any) return CUTIS_OK;
    TRY(sort_edges(w)); // half-edge numbers moved
    pair_simple(w);
    return CUTIS_OK;
}

static vec3 spoke_direction(const welder *w, const cutis_edge *e, vec3 axis)
{
    uint32_t third = edge_from(w, half_previous((uint32_t)e->half));
    vec3 d = v3_sub(v3_at(w->from.positions, third), v3_at(w->from.positions, e->low));
    return v3_mad(d, -v3_dot(d, axis), axis);
}

// An edge of more than two faces: faces that enclose material between them are a pair. Seen along
// the edge, material lies clockwise of a face that runs up and counter-clockwise of one that runs
// down. @param spokes half-edges by angle
static void pair_fan(welder *w, cutis_waiting *spokes, const cutis_edge *edges, size_t count)
{
    vec3 axis = v3_sub(v3_at(w->from.positions, edges->high), v3_at(w->from.positions, edges->low));
    axis = v3_divide(axis, v3_length(axis));
    vec3 zero = spoke_direction(w, edges, axis), side = v3_cross(axis, zero);
    for (size_t i = 0; i < count; i++) {
        uint32_t h = (uint32_t)edges[i].half;
        vec3 d = spoke_direction(w, &edges[i], axis);
        double angle = i == 0 ? 0 : fixed_atan2(v3_dot(d, side), v3_dot(d, zero));
        spokes[i] = (cutis_waiting){ angle, h };
    }
    qsort(spokes, count, sizeof *spokes, cutis_heap_order);
    for (size_t i = 0; i < count; i++) {
        const uint32_t above = spokes[i].vertex, below = spokes[(i + count - 1) % count].vertex;
        if (edge_from(w, above) > edge_to(w, above) || edge_from(w, below) < edge_to(w, below) ||
            w->twins[below] != CUTIS_NOTHING)
            continue;
        w->twins[above] = below, w->twins[below] = above;
    }
}

static cutis_result pair_fans(welder *w)
{
    cutis_waiting *spokes = NULL;
    size_t capacity = 0;
    for (size_t i = 0, n; i < w->edge_count && w->fans; i += n) {
        n = cutis_edges_run(w->edges, w->edge_count, i);
        if (n < 3) continue;
        if (!cutis_arena_grow(&w->arena, &spokes, &capacity, n, sizeof *spokes))
            return cutis_alloc_result(w->context);
        pair_fan(w, spokes, w->edges + i, n);
        w->repairs->split_edges++;
    }
    return CUTIS_OK;
}

// The closed mesh -------------------------------------------------------------------------------

// One vertex for every fan of corners connected by pairs.
static bool make_vertices(welder *w, cutis_closed *mesh)
{
    const float *positions = w->from.positions;
    uint32_t corners = 3 * w->face_count;
    if (!cutis_closed_grow(mesh, corners, w->face_count, w->from.vertex_count)) return false;
    mesh->face_count = w->face_count;
    memcpy(mesh->twins, w->twins, corners * sizeof *w->twins);
    memcpy(mesh->corners, w->corners, w->face_count * sizeof *w->corners);
    memset(mesh->faces, 0xff, w->face_count * sizeof *mesh->faces);
    for (uint32_t seed = 0; seed < corners; seed++) {
        if (mesh->faces[seed / 3][seed % 3] != CUTIS_NOTHING) continue;
        uint32_t v = mesh->vertex_count++, h, start = seed;
        while (w->twins[half_previous(start)] != CUTIS_NOTHING) { // back to a border, or around
            start = w->twins[half_previous(start)];
            if (start == seed) break;
        }
        h = start;
        do { // ends with the border edge that leaves v, where there is one
            mesh->faces[h / 3][h % 3] = v;
            mesh->leaving[v] = h;
            h = w->twins[h];
            if (h != CUTIS_NOTHING) h = half_next(h);
        } while (h != CUTIS_NOTHING && h != start);
        const float *p = positions + 3 * (size_t)w->corners[seed / 3][seed % 3];
        for (int k = 0; k < 3; k++) mesh->points[v][k] = p[k];
    }
    return true;
}

static bool make_outputs(welder *w, cutis_closed *mesh)
{
    const cutis_gathered *from = &w->from;
    mesh->primitives =
        cutis_arena_alloc(&mesh->arena, from->primitive_count, 2 * sizeof *mesh->primitives);
    if (!mesh->primitives) return false;
    memcpy(mesh->primitives, from->primitives, from->primitive_count * sizeof *mesh->primitives);
    mesh->primitive_count = from->primitive_count;
    for (uint32_t v = 0; v < from->vertex_count; v++) {
        cutis_output_vertex *output = &mesh->outputs[v];
        *output = (cutis_output_vertex){ CUTIS_NOTHING, v, v, 0, { 0 } };
        memcpy(output->position, from->positions + 3 * (size_t)v, sizeof output->position);
    }
    mesh->output_count = from->vertex_count;
    for (uint32_t f = 0; f < mesh->face_count; f++)
        for (int c = 0; c < 3; c++)
            mesh->outputs[mesh->corners[f][c]].primitive =
                from->triangle_primitives[w->triangles[f]];
    return true;
}

// Caps ------------------------------------------------------------------------------------------

// A vertex of a cap: attributes halfway between two outputs of the border, or those of one.
static uint32_t cap_output(cutis_closed *mesh, uint32_t vertex, uint32_t a, uint32_t b,
                           uint32_t primitive)
{
    const double *p = mesh->points[vertex];
    cutis_output_vertex *output = &mesh->outputs[mesh->output_count];
    *output =
        (cutis_output_vertex){ primitive, a, b, 0.5, { (float)p[0], (float)p[1], (float)p[2] } };
    return mesh->output_count++;
}

static uint32_t corner_of(const cutis_closed *mesh, uint32_t h)
{
    return mesh->corners[h / 3][h % 3];
}

// One face over border edges; corners are outputs.
static uint32_t cap_face(cutis_closed *mesh, const uint32_t *vertices, const uint32_t *outputs,
                         uint32_t neighbour)
{
    uint32_t f = mesh->face_count++;
    for (int c = 0; c < 3; c++) mesh->faces[f][c] = vertices[c], mesh->corners[f][c] = outputs[c];
    mesh->labels[f] = mesh->labels[neighbour / 3];
    mesh->shells[f] = mesh->shells[neighbour / 3];
    return f;
}

static void join(cutis_closed *mesh, uint32_t g, uint32_t h)
{
    mesh->twins[g] = h, mesh->twins[h] = g;
}

// Close the border loop `loop` (half-edges, each starts where the one before ends).
static void cap_loop(cutis_closed *mesh, const uint32_t *loop, uint32_t count, uint32_t primitive)
{
    if (count == 2) {
        join(mesh, loop[0], loop[1]);
        return;
    }
    uint32_t base = mesh->output_count, vertices[3], outputs[3];
    for (uint32_t i = 0; i < count; i++)
        cap_output(mesh, cutis_from(mesh, loop[i]), corner_of(mesh, loop[i]),
                   corner_of(mesh, loop[i]), primitive);
    if (count == 3) {
        for (uint32_t i = 0; i < 3; i++)
            vertices[i] = cutis_from(mesh, loop[2 - i]), outputs[i] = base + 2 - i;
        uint32_t f = cap_face(mesh, vertices, outputs, loop[0]);
        join(mesh, 3 * f, loop[1]), join(mesh, 3 * f + 1, loop[0]), join(mesh, 3 * f + 2, loop[2]);
        return;
    }
    uint32_t centre = mesh->vertex_count++;
    double sum[3] = { 0 }, total = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double *p = mesh->points[cutis_from(mesh, loop[i])];
        const double *q = mesh->points[cutis_to(mesh, loop[i])];
        double length = v3_distance_of(p, q);
        for (int k = 0; k < 3; k++) sum[k] += 0.5 * length * (p[k] + q[k]);
        total += length;
    }
    for (int k = 0; k < 3; k++) mesh->points[centre][k] = (float)(sum[k] / total);
    uint32_t middle = cap_output(mesh, centre, corner_of(mesh, loop[0]),
                                 corner_of(mesh, loop[count / 2]), primitive);
    uint32_t first = mesh->face_count;
    for (uint32_t i = 0; i < count; i++) { // (to, from, centre): runs against the border
        vertices[0] = cutis_to(mesh, loop[i]), vertices[1] = cutis_from(mesh, loop[i]);
        outputs[0] = base + (i + 1) % count, outputs[1] = base + i;
        vertices[2] = centre, outputs[2] = middle;
        uint32_t f = cap_face(mesh, vertices, outputs, loop[i]);
        join(mesh, 3 * f, loop[i]);
    }
    for (uint32_t i = 0; i < count; i++) // from -> centre of one, centre -> to of the one before
        join(mesh, 3 * (first + i) + 1, 3 * (first + (i + count - 1) % count) + 2);
    mesh->leaving[centre] = 3 * first + 2;
}

// The primitive of caps that look like the face of a border edge.
static uint32_t caps_like(const welder *w, cutis_closed *mesh, uint32_t h)
{
    int32_t material = mesh->primitives[mesh->outputs[corner_of(mesh, h)].primitive].material;
    uint32_t caps = w->from.primitive_count;
    while (caps < mesh->primitive_count && mesh->primitives[caps].material != material) caps++;
    if (caps == mesh->primitive_count)
        mesh->primitives[mesh->primitive_count++] =
            (cutis_output_primitive){ .material = material };
    return caps;
}

static bool cap_holes(welder *w, cutis_closed *mesh)
{
    uint32_t open = 0, faces = mesh->face_count;
    for (uint32_t h = 0; h < 3 * faces; h++) open += mesh->twins[h] == CUTIS_NOTHING;
    if (open == 0) return true;
    uint32_t *loop = cutis_arena_alloc(&w->arena, open, sizeof *loop);
    if (!loop || !cutis_closed_grow(mesh, (size_t)mesh->vertex_count + open, (size_t)faces + open,
                                    (size_t)mesh->output_count + 2 * (size_t)open))
        return false;
    for (uint32_t seed = 0; seed < 3 * faces; seed++) {
        if (mesh->twins[seed] != CUTIS_NOTHING) continue;
        uint32_t count = 0, h = seed;
        do { // make_vertices left the border edge of a vertex in `leaving`
            loop[count++] = h;
            h = mesh->leaving[cutis_to(mesh, h)];
        } while (h != seed);
        uint32_t before = mesh->face_count;
        cap_loop(mesh, loop, count, count == 2 ? 0 : caps_like(w, mesh, seed));
        w->repairs->capped_holes++;
        w->repairs->cap_faces += mesh->face_count - before;
    }
    return true;
}

// The pieces of the paired mesh, and that each encloses something.
static cutis_result check_shells(welder *w, cutis_closed *mesh)
{
    uint32_t n = mesh->face_count, *queue = cutis_arena_alloc(&w->arena, n, sizeof *queue);
    if (!queue) return cutis_alloc_result(w->context);
    memset(mesh->shells, 0xff, n * sizeof *mesh->shells);
    mesh->shell_count = 0;
    for (uint32_t seed = 0; seed < n; seed++) {
        if (mesh->shells[seed] != CUTIS_NOTHING) continue;
        box3 box = box3_empty();
        double volume = 0, size = 0;
        uint32_t head = 0, tail = 0;
        queue[tail++] = seed;
        mesh->shells[seed] = mesh->shell_count;
        while (head < tail) {
            uint32_t f = queue[head++];
            for (uint32_t h = 3 * f; h < 3 * f + 3; h++) {
                uint32_t g = mesh->twins[h] / 3;
                box3_add(&box, v3_of(mesh->points[cutis_from(mesh, h)]));
                if (mesh->shells[g] != CUTIS_NOTHING) continue;
                mesh->shells[g] = mesh->shell_count;
                queue[tail++] = g;
            }
        }
        for (uint32_t i = 0; i < tail; i++) {
            const uint32_t *v = mesh->faces[queue[i]];
            volume +=
                v3_wedge_of(mesh->points[v[0]], mesh->points[v[1]], mesh->points[v[2]], box.low) /
                6;
        }
        size = box3_diagonal(&box);
        // Small sheets (lashes, hair) stay attached; a body that is one cannot have bones inside.
        if (fabs(volume) <= SHEET * size * size * size && 2 * tail > n)
            return UNSUPPORTED(w->context,
                               "part \"%s\": welding and capping %u holes leaves a sheet that "
                               "encloses nothing",
                               seed < w->face_count ? face_name(w, seed) : "caps",
                               w->repairs->capped_holes);
        mesh->shell_count++;
    }
    return CUTIS_OK;
}

static cutis_result build(welder *w, cutis_closed *mesh)
{
    if (!make_vertices(w, mesh) || !make_outputs(w, mesh)) return cutis_alloc_result(w->context);
    for (uint32_t f = 0; f < mesh->face_count; f++)
        mesh->labels[f] = w->labels ? w->labels[w->triangles[f]] : 0;
    if (!cap_holes(w, mesh)) return cutis_alloc_result(w->context);
    box3 box = box3_empty();
    for (uint32_t v = 0; v < mesh->vertex_count; v++) box3_add(&box, v3_of(mesh->points[v]));
    mesh->diagonal = box3_diagonal(&box);
    return check_shells(w, mesh);
}

// Pieces are parts.
static cutis_result label_shells(cutis_closed *mesh, cutis_labels *names)
{
    for (uint32_t s = 0; s < mesh->shell_count; s++)
        if (cutis_labels_add(names, "shell%u", s) == CUTIS_NOTHING)
            return cutis_alloc_result(mesh->context);
    memcpy(mesh->labels, mesh->shells, mesh->face_count * sizeof *mesh->labels);
    return CUTIS_OK;
}

static uint32_t count_open(const welder *w)
{
    uint32_t open = 0;
    for (uint32_t h = 0; h < 3 * w->face_count; h++) open += w->twins[h] == CUTIS_NOTHING;
    return open;
}

// Doubles show as edges of many faces.
static cutis_result pair_all(welder *w)
{
    TRY(sort_edges(w));
    pair_simple(w);
    if (!w->fans) return CUTIS_OK;
    TRY(drop_doubles(w));
    pair_simple(w);
    return CUTIS_OK;
}

static cutis_result weld_all(welder *w)
{
    w->weld = cutis_arena_alloc(&w->arena, w->from.vertex_count, sizeof *w->weld);
    if (!w->weld) return cutis_alloc_result(w->context);
    TRY(cutis_weld_positions(w->context, w->from.vertex_count, w->from.positions, w->weld));
    TRY(list_faces(w));
    TRY(pair_all(w));
    uint32_t open = count_open(w);
    if (open == 0) return CUTIS_OK;
    box3 box = box3_empty();
    for (uint32_t v = 0; v < w->from.vertex_count; v++) box3_add(&box, v3_at(w->from.positions, v));
    bool changed;
    cutis_result result = weld_borders(w, WELD_REACH * box3_diagonal(&box), &changed);
    if (result != CUTIS_OK || !changed) return result;
    TRY(list_faces(w));
    TRY(pair_all(w));
    w->repairs->welded_edges = open - count_open(w);
    return CUTIS_OK;
}

cutis_result cutis_closed_make(const cutis_model *model, const uint32_t *labels,
                               cutis_labels *names, cutis_skeleton_repairs *repairs,
                               cutis_closed *out)
{
    cutis_context *context = cutis_model_context(model);
    welder w = { .context = context,
                 .arena = { .context = context },
                 .edge_arena = { .context = context },
                 .labels = labels,
                 .names = names,
                 .repairs = repairs };
    *out = (cutis_closed){ .context = context, .arena = { .context = context } };
    // The transforms of the primitives outlive the welder: names' arena lives as long as the mesh.
    cutis_result result = cutis_gather(names->arena, model, &w.from);
    if (result == CUTIS_OK) result = weld_all(&w);
    if (result == CUTIS_OK) result = orient(&w);
    if (result == CUTIS_OK) result = turn_outward(&w);
    if (result == CUTIS_OK) result = pair_fans(&w);
    if (result == CUTIS_OK) result = build(&w, out);
    if (result == CUTIS_OK && !labels) result = label_shells(out, names);
    if (result != CUTIS_OK) cutis_closed_release(out);
    cutis_arena_release(&w.edge_arena);
    cutis_arena_release(&w.arena);
    return result;
}
