/// A cut is the plane of a joint met with the surface. The plane may meet it in several curves; the
/// one whose centroid is nearest to the cut point is meant. Each of its crossed edges is split
/// once, and the edges between the new vertices are the loop: closed by construction, or ending on
/// x = 0 twice.
#include "synth/mesh.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>

/// mm; vertices closer to a plane count as this far above it, so that a crossing is never at a
/// vertex.
static const double CLEAR = 1e-2;

typedef struct cutter {
    mesh *m;
    cutis_arena arena;
    mesh_plane plane;
    bool central;
    double *side;   ///< signed distance of every vertex to the plane
    uint8_t *below; ///< per vertex: side < 0
    int32_t *seen;  ///< per triangle: curve it belongs to + 1
    int32_t *queue; ///< triangles that the plane crosses, in the order of their curves
    int32_t queue_count;
    int32_t (*edges)[2]; ///< crossed edges of the chosen curve
    int32_t edge_count;
} cutter;

static bool crossed(const cutter *c, int32_t h)
{
    return c->below[half_start(c->m, h)] != c->below[half_end(c->m, h)];
}

static vec3 crossing(const cutter *c, int32_t a, int32_t b)
{
    double t = c->side[a] / (c->side[a] - c->side[b]);
    vec3 x = mesh_position(c->m, a);
    return v3_mad(x, t, v3_sub(mesh_position(c->m, b), x));
}

/// Length-weighted centroid of the curve through triangle `start`; marks its triangles.
static vec3 follow(cutter *c, int32_t start, int32_t mark)
{
    vec3 sum = v3(0, 0, 0);
    double total = 0;
    int32_t head = c->queue_count, tail = head;
    c->queue[tail++] = start;
    c->seen[start] = mark;
    while (head < tail) {
        int32_t t = c->queue[head++];
        vec3 ends[3];
        int count = 0;
        for (int32_t h = 3 * t; h < 3 * t + 3; h++) {
            if (!crossed(c, h)) continue;
            ends[count++] = crossing(c, half_start(c->m, h), half_end(c->m, h));
            int32_t twin = c->m->halves[h].twin;
            if (twin < 0 || c->seen[twin / 3]) continue;
            c->seen[twin / 3] = mark;
            c->queue[tail++] = twin / 3;
        }
        double length = v3_distance(ends[0], ends[1]);
        sum = v3_mad(sum, length / 2, v3_add(ends[0], ends[1]));
        total += length;
    }
    c->queue_count = tail;
    return v3_scale(sum, 1 / total);
}

/// Mark of the curve meant, or 0 if the plane misses the surface.
static int32_t choose_curve(cutter *c)
{
    int32_t best = 0, mark = 0;
    double least = 0;
    for (int32_t t = 0; t < c->m->half_count / 3; t++) {
        const mesh_half *h = &c->m->halves[3 * t];
        uint8_t below = c->below[h[0].vertex];
        if (below == c->below[h[1].vertex] && below == c->below[h[2].vertex]) continue;
        if (c->seen[t]) continue;
        vec3 offset = v3_sub(follow(c, t, ++mark), c->plane.point);
        if (c->central) offset.x = 0;
        double far = v3_dot(offset, offset);
        if (best == 0 || far < least) best = mark, least = far;
    }
    return best;
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/// In the order of the half-edges, whichever way the curve was followed.
static void collect_edges(cutter *c, int32_t mark)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < c->queue_count; i++)
        if (c->seen[c->queue[i]] == mark) c->queue[kept++] = c->queue[i];
    qsort(c->queue, (size_t)kept, sizeof *c->queue, ascending);
    c->edge_count = 0;
    for (int32_t i = 0; i < kept; i++) {
        for (int32_t h = 3 * c->queue[i]; h < 3 * c->queue[i] + 3; h++) {
            int32_t twin = c->m->halves[h].twin;
            if (!crossed(c, h) || (twin >= 0 && twin < h)) continue;
            c->edges[c->edge_count][0] = half_start(c->m, h);
            c->edges[c->edge_count++][1] = half_end(c->m, h);
        }
    }
}

static cutis_result split_edges(cutter *c, int32_t loop)
{
    mesh *m = c->m;
    int32_t first = m->vertex_count;
    TRY(cutis_synth_mesh_reserve(m, (size_t)c->edge_count, 6 * (size_t)c->edge_count));
    for (int32_t i = 0; i < c->edge_count; i++) {
        int32_t a = c->edges[i][0], b = c->edges[i][1], h = find_half(m, a, b);
        if (m->halves[h].loop)
            return cutis_fail(m->context, CUTIS_INTERNAL, "joint loops %d and %d cross", (int)loop,
                              (int)m->halves[h].loop);
        int32_t v = cutis_synth_mesh_split(m, h, crossing(c, a, b));
        bool corner = m->vertices[v].curve == SYNTH_PLANE;
        m->vertices[v].curve = corner ? SYNTH_CORNER : loop;
        m->vertices[v].loop = loop;
        cutis_synth_snap_vertex(m, v, 6);
    }
    for (int32_t v = first; v < m->vertex_count; v++)
        for (int32_t h = m->vertices[v].half; h >= 0; h = next_around(m, v, h))
            if (half_end(m, h) >= first) m->halves[h].loop = loop;
    return CUTIS_OK;
}

static cutis_result cutter_alloc(cutter *c)
{
    size_t triangles = (size_t)c->m->half_count / 3;
    c->side = cutis_arena_alloc(&c->arena, (size_t)c->m->vertex_count, sizeof *c->side);
    c->below = cutis_arena_alloc(&c->arena, (size_t)c->m->vertex_count, 1);
    c->seen = cutis_arena_zero(&c->arena, triangles, sizeof *c->seen);
    c->queue = cutis_arena_alloc(&c->arena, triangles, sizeof *c->queue);
    c->edges = cutis_arena_alloc(&c->arena, triangles, sizeof *c->edges);
    bool all = c->side && c->below && c->seen && c->queue && c->edges;
    return all ? CUTIS_OK : cutis_alloc_result(c->arena.context);
}

static cutis_result cut_row(mesh *m, const synth_joint_row *row, int loop)
{
    cutter c = { .m = m,
                 .arena = { .context = m->context },
                 .plane = { v3_of(row->cut), v3_unit(v3_of(row->normal)) },
                 .central = m->shape->folded && !row->sided };
    cutis_result result = cutter_alloc(&c);
    m->loops[loop] = c.plane;
    for (int32_t v = 0; v < m->vertex_count && result == CUTIS_OK; v++) {
        double d = v3_dot(v3_sub(mesh_position(m, v), c.plane.point), c.plane.normal);
        c.side[v] = d < CLEAR && d > -CLEAR ? CLEAR : d;
        c.below[v] = c.side[v] < 0;
    }
    int32_t mark = result == CUTIS_OK ? choose_curve(&c) : 0;
    if (result == CUTIS_OK && mark == 0)
        result = cutis_fail(m->context, CUTIS_INTERNAL, "joint %s: its plane misses the surface",
                            row->name);
    if (result == CUTIS_OK) {
        collect_edges(&c, mark);
        result = split_edges(&c, loop + 1);
    }
    cutis_arena_release(&c.arena);
    return result;
}

cutis_result cutis_synth_cut(mesh *m, const synth_skeleton *skeleton)
{
    m->loop_count = skeleton->loop_count;
    for (int row = 0; row < skeleton->row_count; row++) {
        if (skeleton->row_loops[row] < 0) continue;
        TRY(cut_row(m, skeleton->rows[row], skeleton->row_loops[row]));
    }
    return CUTIS_OK;
}

static int32_t nearest_triangle(const mesh *m, vec3 point)
{
    int32_t best = 0;
    double least = 1e300;
    for (int32_t h = 0; h < m->half_count; h += 3) {
        vec3 sum = v3_add(v3_add(mesh_position(m, m->halves[h].vertex),
                                 mesh_position(m, m->halves[h + 1].vertex)),
                          mesh_position(m, m->halves[h + 2].vertex));
        double far = v3_distance(v3_scale(sum, 1.0 / 3), point);
        if (far < least) least = far, best = h / 3;
    }
    return best;
}

/// The part on the other side of a half-edge whose own side is `label`; -1: the loop does not bound
/// this part.
static int32_t across(const mesh *m, const synth_skeleton *s, int32_t h, int32_t label)
{
    int32_t loop = m->halves[h].loop - 1;
    if (loop < 0) return label;
    for (int row = 0; row < s->row_count; row++) {
        if (s->row_loops[row] != loop) continue;
        if (s->row_parents[row] == label) return row;
        if (row == label) return s->row_parents[row];
    }
    return -1;
}

static cutis_result flood(const mesh *m, const synth_skeleton *s, int32_t *labels, int32_t *queue)
{
    int root = s->part_first; // rows and joints share their first numbers: the root has no sides
    int32_t start = nearest_triangle(m, v3_of(s->rows[root]->pivot)), head = 0, tail = 0;
    for (int32_t t = 0; t < m->half_count / 3; t++) labels[t] = -1;
    labels[start] = root;
    queue[tail++] = start;
    while (head < tail) {
        int32_t t = queue[head++];
        for (int32_t h = 3 * t; h < 3 * t + 3; h++) {
            int32_t twin = m->halves[h].twin;
            if (twin < 0) continue;
            int32_t label = across(m, s, h, labels[t]);
            if (label < 0 || (labels[twin / 3] >= 0 && labels[twin / 3] != label))
                return cutis_fail(m->context, CUTIS_INTERNAL,
                                  "loop %d does not part %s from its parent",
                                  (int)m->halves[h].loop, s->rows[labels[t]]->name);
            if (labels[twin / 3] >= 0) continue;
            labels[twin / 3] = label;
            queue[tail++] = twin / 3;
        }
    }
    return CUTIS_OK;
}

cutis_result cutis_synth_label(const mesh *m, const synth_skeleton *skeleton, int32_t *labels)
{
    size_t triangles = (size_t)m->half_count / 3;
    int32_t *queue = cutis_alloc_array(m->context, triangles, sizeof *queue);
    if (!queue) return cutis_alloc_result(m->context);
    cutis_result result = flood(m, skeleton, labels, queue);
    cutis_free_array(m->context, queue, triangles, sizeof *queue);
    if (result != CUTIS_OK) return result;
    bool found[SYNTH_JOINT_MAX] = { false };
    for (size_t t = 0; t < triangles; t++) found[labels[t]] = true;
    for (int row = skeleton->part_first; row < skeleton->row_count; row++)
        if (!found[row])
            return cutis_fail(m->context, CUTIS_INTERNAL, "joint %s has no part",
                              skeleton->rows[row]->name);
    return CUTIS_OK;
}
