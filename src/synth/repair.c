/// Local repair. A triangle that has a sharp angle, or faces away from the surface, has its edges
/// flipped and its corners moved, one at a time, whenever that raises the smallest angle of the
/// triangles concerned. Where this does not help, an edge of it is collapsed and a long edge
/// elsewhere split, so that the count stays; and where that is stuck too, the whole mesh is
/// smoothed once more and the repair tried again. Topology and constraints stay.
#include "synth/remesh.h"

#include "base/error.h"

/// Cosine of 26 degrees: triangles sharper than that are worked on, so that no angle exceeds 128
/// either.
static const double SHARP_COS = 0.8987940462991670;
/// A move must lower the cosine of the sharpest angle by this much to count.
static const double GAIN = 1e-3;
/// Shortest over longest edge of neighbours on a curve that a move may leave.
static const double CURVE_RATIO = 0.5;
enum { ROUNDS = 40, MOVES_FROM = 12, ATTEMPTS = 6, SNAP_STEPS = 8 };

/// cutis_synth_sharpest of a triangle of the surface; 2 when it faces away from the normals at its
/// corners.
static double judge(vec3 a, vec3 na, const mesh_vertex *b, const mesh_vertex *c)
{
    vec3 normals = v3_add(v3_add(na, b->normal), c->normal);
    if (v3_dot(v3_normal(a, b->position, c->position), normals) <= 0) return 2;
    return cutis_synth_sharpest(a, b->position, c->position);
}

static double judge_three(const mesh *m, int32_t a, int32_t b, int32_t c)
{
    const mesh_vertex *v = &m->vertices[a];
    return judge(v->position, v->normal, &m->vertices[b], &m->vertices[c]);
}

static double triangle_worst(const mesh *m, int32_t h)
{
    return judge_three(m, half_start(m, h), half_end(m, h), half_start(m, half_previous(h)));
}

/// The worst triangle around v if it stood at x with this normal.
static double ring_worst(const mesh *m, int32_t v, vec3 x, vec3 normal)
{
    double most = -1;
    for (int32_t h = m->vertices[v].half; h >= 0; h = next_around(m, v, h)) {
        double worst = judge(x, normal, &m->vertices[half_end(m, h)],
                             &m->vertices[half_start(m, half_previous(h))]);
        if (worst > most) most = worst;
    }
    return most;
}

/// The lengths of the two edges of v along its curve, for a vertex at x, stay comparable.
static bool keeps_curve_even(const mesh *m, int32_t v, vec3 x)
{
    int32_t ends[2];
    if (m->vertices[v].curve == SYNTH_FREE) return true;
    if (cutis_synth_curve_neighbours(m, v, ends) != 2) return false;
    double a = v3_distance(x, mesh_position(m, ends[0])),
           b = v3_distance(x, mesh_position(m, ends[1]));
    return a > CURVE_RATIO * b && b > CURVE_RATIO * a;
}

/// Try places around v on the surface and take the best; true if one was better.
static bool improve_vertex(remesher *r, int32_t v)
{
    static const double directions[8][2] = { { 1, 0 },  { 0.7071, 0.7071 },
                                             { 0, 1 },  { -0.7071, 0.7071 },
                                             { -1, 0 }, { -0.7071, -0.7071 },
                                             { 0, -1 }, { 0.7071, -0.7071 } };
    mesh *m = r->m;
    mesh_vertex *vertex = &m->vertices[v];
    if (vertex->curve == SYNTH_CORNER) return false;
    vec3 normal = vertex->normal, u = v3_cross(normal, v3(0, 1, 0));
    if (v3_dot(u, u) < 0.01) u = v3_cross(normal, v3(1, 0, 0));
    u = v3_unit(u);
    vec3 w = v3_cross(normal, u);
    double best = ring_worst(m, v, vertex->position, normal), was = best;
    mesh_vertex moved = *vertex;
    for (double step = 0.32; step > 0.03; step /= 2) {
        double length = step * r->scale * vertex->size;
        for (int i = 0; i < 8; i++) {
            vec3 n, x = v3_mad(v3_mad(vertex->position, directions[i][0] * length, u),
                               directions[i][1] * length, w);
            x = cutis_synth_snap(m, vertex, x, SNAP_STEPS, &n);
            double worst = ring_worst(m, v, x, n);
            if (worst >= best - GAIN || !keeps_curve_even(m, v, x)) continue;
            best = worst;
            moved.position = x;
            moved.normal = n;
        }
    }
    if (best >= was) return false;
    moved.size = cutis_synth_shape_size(m->shape, moved.position);
    *vertex = moved;
    return true;
}

/// Flip the edge of h if the sharper of the two triangles gets blunter.
static bool improve_edge(remesher *r, int32_t h)
{
    mesh *m = r->m;
    int32_t o = m->halves[h].twin;
    if (o < 0 || m->halves[h].loop || !cutis_synth_flip_is_sound(r, h)) return false;
    double before = triangle_worst(m, h), other = triangle_worst(m, o);
    if (other > before) before = other;
    int32_t a = half_start(m, h), b = half_start(m, o);
    int32_t c = half_start(m, half_previous(h)), d = half_start(m, half_previous(o));
    double first = judge_three(m, d, b, c), second = judge_three(m, c, a, d);
    if ((first > second ? first : second) >= before - GAIN) return false;
    cutis_synth_mesh_flip(m, h);
    return true;
}

static bool is_free(const mesh *m, int32_t v)
{
    return m->vertices[v].curve == SYNTH_FREE;
}

/// The edges of triangle t, shortest first.
static void sort_edges(const mesh *m, int32_t t, int32_t out[3])
{
    double lengths[3];
    for (int i = 0; i < 3; i++) {
        int32_t h = 3 * t + i;
        double length =
            v3_distance(mesh_position(m, half_start(m, h)), mesh_position(m, half_end(m, h)));
        int at = i;
        for (; at > 0 && lengths[at - 1] > length; at--) {
            lengths[at] = lengths[at - 1];
            out[at] = out[at - 1];
        }
        lengths[at] = length;
        out[at] = h;
    }
}

/// The longest edge between free vertices, or of the border, in units of what is wanted there.
static int32_t longest_edge(const remesher *r, bool border)
{
    const mesh *m = r->m;
    int32_t longest = -1;
    double most = 0;
    for (int32_t h = 0; h < m->half_count; h++) {
        int32_t twin = m->halves[h].twin;
        if (m->halves[h].vertex < 0 || (twin < 0) != border || twin > h || m->halves[h].loop)
            continue;
        if (!border && (!is_free(m, half_start(m, h)) || !is_free(m, half_end(m, h)))) continue;
        double ratio = cutis_synth_edge_ratio(r, h);
        if (ratio > most) most = ratio, longest = h;
    }
    return longest;
}

/// A triangle that neither flips nor moves repair: collapse an edge of it that takes a free vertex
/// away (or one on the border), and split the longest edge of that kind elsewhere, so that the
/// whole body's count stays.
static cutis_result move_vertex_away(remesher *r, int32_t t, bool *changed)
{
    mesh *m = r->m;
    int32_t edges[3];
    TRY(cutis_synth_mesh_reserve(m, 1, 6));
    sort_edges(m, t, edges);
    for (int i = 0; i < 3; i++) {
        bool border = m->halves[edges[i]].twin < 0;
        if (!border && !is_free(m, half_start(m, edges[i])) && !is_free(m, half_end(m, edges[i])))
            continue;
        if (!cutis_synth_try_collapse(r, edges[i])) continue;
        int32_t h = longest_edge(r, border);
        if (h < 0) return cutis_fail(m->context, CUTIS_INTERNAL, "no edge left to split");
        improve_vertex(r, cutis_synth_split_middle(m, h));
        *changed = true;
        break;
    }
    return CUTIS_OK;
}

/// Work on one sharp triangle; true if anything changed.
static bool repair_triangle(remesher *r, int32_t t)
{
    bool changed = false;
    for (int32_t h = 3 * t; h < 3 * t + 3 && !changed; h++) changed = improve_edge(r, h);
    for (int32_t h = 3 * t; h < 3 * t + 3; h++) changed |= improve_vertex(r, half_start(r->m, h));
    return changed;
}

/// Rounds over the sharp triangles; *sharp = how many were left when the last one began.
static cutis_result repair_all(remesher *r, int32_t *sharp)
{
    mesh *m = r->m;
    for (int round = 0; round < ROUNDS; round++) {
        bool changed = false;
        int32_t count = m->half_count / 3;
        *sharp = 0;
        for (int32_t t = 0; t < count; t++) {
            if (m->halves[3 * t].vertex < 0 || triangle_worst(m, 3 * t) < SHARP_COS) continue;
            ++*sharp;
            if (repair_triangle(r, t))
                changed = true;
            else if (round >= MOVES_FROM && round % 4 == 0)
                TRY(move_vertex_away(r, t, &changed));
        }
        if (*sharp == 0 || (!changed && round > MOVES_FROM + 4)) break;
    }
    return CUTIS_OK;
}

cutis_result cutis_synth_repair(remesher *r)
{
    r->edge_max = 2;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int32_t sharp = 0;
        // Angles count where the vertices will stay: exactly on the surface.
        for (int32_t v = 0; v < r->m->vertex_count; v++)
            if (r->m->vertices[v].half >= 0) cutis_synth_snap_vertex(r->m, v, SNAP_STEPS);
        TRY(cutis_progress(r->m->context, "repair", attempt / (double)ATTEMPTS));
        TRY(repair_all(r, &sharp));
        if (sharp == 0 || attempt + 1 == ATTEMPTS) break;
        // Stuck: smoothing leads away from here, and the next attempt starts elsewhere.
        cutis_synth_smooth(r);
        cutis_synth_flip_valence(r);
        cutis_synth_smooth(r);
        cutis_synth_flip_delaunay(r);
    }
    return CUTIS_OK;
}
