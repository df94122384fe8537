/// The passes of the remesher. Every pass goes in index order and looks at the mesh as it is then,
/// so the result is one fixed sequence of operations, each of which keeps topology and constraints.
#include "synth/remesh.h"

#include "base/error.h"

static const double SPLIT_ABOVE = 1.35, COLLAPSE_BELOW = 0.78;
/// Cosine of how far a kept triangle may turn in a collapse, and of a flip against the mean before
/// it.
static const double TURN_COS = 0.6, FLIP_COS = 0.5;
/// A triangle with less than this of (longest edge)^2 as twice its area is a sliver.
static const double SLIVER = 0.12;
/// Valence flips leave no angle below 21.6 degrees.
static const double ANGLE_COS = 0.93;
static const double SMOOTH_FACTOR = 0.6;

double cutis_synth_edge_ratio(const remesher *r, int32_t h)
{
    const mesh_vertex *a = &r->m->vertices[half_start(r->m, h)];
    const mesh_vertex *b = &r->m->vertices[half_end(r->m, h)];
    return v3_distance(a->position, b->position) / (r->scale * (a->size + b->size) * 0.5);
}

int32_t cutis_synth_split_middle(mesh *m, int32_t h)
{
    const mesh_vertex *a = &m->vertices[half_start(m, h)], *b = &m->vertices[half_end(m, h)];
    mesh_vertex like = { .curve = m->halves[h].twin < 0 ? SYNTH_PLANE : m->halves[h].loop };
    vec3 normal, middle = v3_scale(v3_add(a->position, b->position), 0.5);
    vec3 x = cutis_synth_snap(m, &like, middle, 3, &normal);
    int32_t v = cutis_synth_mesh_split(m, h, x);
    m->vertices[v].normal = normal;
    return v;
}

static cutis_result split_long(remesher *r)
{
    // New triangles wait for the next pass.
    int32_t count = r->m->half_count / 3;
    for (int32_t t = 0; t < count; t++) {
        if (r->m->halves[3 * t].vertex < 0) continue;
        double most = SPLIT_ABOVE;
        int32_t longest = -1;
        for (int32_t h = 3 * t; h < 3 * t + 3; h++) {
            double ratio = cutis_synth_edge_ratio(r, h);
            if (ratio > most) most = ratio, longest = h;
        }
        if (longest < 0) continue;
        TRY(cutis_synth_mesh_reserve(r->m, 1, 6));
        cutis_synth_split_middle(r->m, longest);
    }
    return CUTIS_OK;
}

/// One kept triangle (p, b, c), whose first corner was at `old`.
static bool triangle_is_sound(const remesher *r, vec3 old, vec3 p, double size, int32_t vb,
                              int32_t vc)
{
    const mesh_vertex *b = &r->m->vertices[vb], *c = &r->m->vertices[vc];
    vec3 before = v3_normal(old, b->position, c->position);
    vec3 after = v3_normal(p, b->position, c->position);
    vec3 pb = v3_sub(b->position, p), pc = v3_sub(c->position, p);
    vec3 bc = v3_sub(c->position, b->position);
    double lb = v3_dot(pb, pb), lc = v3_dot(pc, pc), la = v3_dot(bc, bc);
    double most = lb > lc ? lb : lc, area = v3_length(after), area_before = v3_length(before);
    if (la > most) most = la;
    if (area < SLIVER * most) return false;
    double limit_b = r->edge_max * r->scale * (size + b->size) * 0.5;
    double limit_c = r->edge_max * r->scale * (size + c->size) * 0.5;
    if (lb > limit_b * limit_b || lc > limit_c * limit_c) return false;
    // The normal of a needle is noise; the surface's own normals judge instead.
    if (area_before < 0.02 * most) return v3_dot(after, v3_add(b->normal, c->normal)) > area;
    return v3_dot(before, after) >= TURN_COS * area * area_before;
}

/// The triangles around v that do not hold `other`.
static bool ring_is_sound(const remesher *r, int32_t v, int32_t other, vec3 p, double size)
{
    const mesh *m = r->m;
    for (int32_t h = m->vertices[v].half; h >= 0; h = next_around(m, v, h)) {
        int32_t b = half_end(m, h), c = half_start(m, half_previous(h));
        if (b != other && c != other && !triangle_is_sound(r, mesh_position(m, v), p, size, b, c))
            return false;
    }
    return true;
}

/// Would collapsing h to `position` leave all triangles around it sound?
static bool collapse_is_sound(const remesher *r, int32_t h, vec3 position)
{
    int32_t a = half_start(r->m, h), b = half_end(r->m, h);
    double size = cutis_synth_shape_size(r->m->shape, position);
    return ring_is_sound(r, a, b, position, size) && ring_is_sound(r, b, a, position, size);
}

bool cutis_synth_try_collapse(remesher *r, int32_t h)
{
    mesh *m = r->m;
    const mesh_vertex *a = &m->vertices[half_start(m, h)], *b = &m->vertices[half_end(m, h)];
    // The start is removed: turn the edge around when only its end may be.
    if (m->halves[h].twin >= 0 && a->curve != SYNTH_FREE && b->curve != a->curve) {
        h = m->halves[h].twin;
        const mesh_vertex *swap = a;
        a = b;
        b = swap;
    }
    if (!cutis_synth_mesh_can_collapse(m, h)) return false;
    vec3 position = a->curve == SYNTH_CORNER ? a->position : b->position;
    vec3 normal = a->curve == SYNTH_CORNER ? a->normal : b->normal;
    bool snapped = true;
    if (a->curve == b->curve && a->curve != SYNTH_CORNER) {
        vec3 middle = v3_scale(v3_add(a->position, b->position), 0.5);
        // Most refusals show before the snap, which costs more than the check.
        if (!collapse_is_sound(r, h, middle)) return false;
        snapped = r->snap_steps > 0;
        if (snapped)
            position = cutis_synth_snap(m, a, middle, r->snap_steps, &normal);
        else
            position = middle, normal = v3_unit(v3_add(a->normal, b->normal));
    }
    // The middle was looked at above.
    if (snapped && !collapse_is_sound(r, h, position)) return false;
    int32_t kept = half_end(m, h);
    cutis_synth_mesh_collapse(m, h, position);
    m->vertices[kept].normal = normal;
    return true;
}

static void collapse_short(remesher *r)
{
    for (int32_t h = 0; h < r->m->half_count; h++) {
        if (r->m->halves[h].vertex < 0 || r->m->halves[h].twin > h) continue;
        if (cutis_synth_edge_ratio(r, h) < COLLAPSE_BELOW) cutis_synth_try_collapse(r, h);
    }
}

static int excess(const mesh_vertex *v, int change)
{
    int d = v->valence + change - (on_plane(v) ? 3 : 6);
    return d * d;
}

/// Corners of the quad around the edge a-b of h: c left, d right.
typedef struct quad {
    int32_t a, b, c, d;
    vec3 pa, pb, pc, pd;
} quad;

static quad quad_around(const mesh *m, int32_t h)
{
    int32_t o = m->halves[h].twin;
    quad q = { .a = half_start(m, h), .b = half_start(m, o) };
    q.c = half_start(m, half_previous(h));
    q.d = half_start(m, half_previous(o));
    q.pa = mesh_position(m, q.a);
    q.pb = mesh_position(m, q.b);
    q.pc = mesh_position(m, q.c);
    q.pd = mesh_position(m, q.d);
    return q;
}

/// Both triangles after the flip look the way both did before.
static bool flip_keeps_side(const quad *q)
{
    vec3 mean =
        v3_add(v3_unit(v3_normal(q->pa, q->pb, q->pc)), v3_unit(v3_normal(q->pb, q->pa, q->pd)));
    vec3 first = v3_normal(q->pd, q->pb, q->pc), second = v3_normal(q->pc, q->pa, q->pd);
    double limit = FLIP_COS * v3_length(mean);
    return v3_dot(mean, first) > limit * v3_length(first) &&
           v3_dot(mean, second) > limit * v3_length(second);
}

bool cutis_synth_flip_is_sound(const remesher *r, int32_t h)
{
    quad q = quad_around(r->m, h);
    const mesh_vertex *a = &r->m->vertices[q.a], *b = &r->m->vertices[q.b];
    if (a->valence <= (on_plane(a) ? 2 : 4) || b->valence <= (on_plane(b) ? 2 : 4)) return false;
    return flip_keeps_side(&q) && cutis_synth_mesh_can_flip(r->m, h);
}

double cutis_synth_sharpest(vec3 a, vec3 b, vec3 c)
{
    vec3 e[3] = { v3_unit(v3_sub(b, a)), v3_unit(v3_sub(c, b)), v3_unit(v3_sub(a, c)) };
    double most = -v3_dot(e[0], e[1]), second = -v3_dot(e[1], e[2]), third = -v3_dot(e[2], e[0]);
    if (second > most) most = second;
    return third > most ? third : most;
}

void cutis_synth_flip_valence(remesher *r)
{
    mesh *m = r->m;
    for (int32_t h = 0; h < m->half_count; h++) {
        int32_t o = m->halves[h].twin;
        if (m->halves[h].vertex < 0 || o < h || m->halves[h].loop) continue;
        quad q = quad_around(m, h);
        const mesh_vertex *a = &m->vertices[q.a], *b = &m->vertices[q.b];
        const mesh_vertex *c = &m->vertices[q.c], *d = &m->vertices[q.d];
        int before = excess(a, 0) + excess(b, 0) + excess(c, 0) + excess(d, 0);
        int after = excess(a, -1) + excess(b, -1) + excess(c, 1) + excess(d, 1);
        if (after >= before) continue;
        if (cutis_synth_sharpest(q.pd, q.pb, q.pc) > ANGLE_COS ||
            cutis_synth_sharpest(q.pc, q.pa, q.pd) > ANGLE_COS)
            continue;
        if (cutis_synth_flip_is_sound(r, h)) cutis_synth_mesh_flip(m, h);
    }
}

void cutis_synth_flip_delaunay(remesher *r)
{
    mesh *m = r->m;
    // Each flip shortens the longest-path measure of Delaunay; three sweeps leave a handful, the
    // next pass has them.
    for (int sweep = 0; sweep < 3; sweep++) {
        int32_t flips = 0;
        for (int32_t h = 0; h < m->half_count; h++) {
            int32_t o = m->halves[h].twin;
            if (m->halves[h].vertex < 0 || o < h || m->halves[h].loop) continue;
            quad q = quad_around(m, h);
            if (v3_cotangent(q.pc, q.pa, q.pb) + v3_cotangent(q.pd, q.pa, q.pb) > -1e-9) continue;
            if (!cutis_synth_flip_is_sound(r, h)) continue;
            cutis_synth_mesh_flip(m, h);
            flips++;
        }
        if (flips == 0) break;
    }
}

/// Mean of the centroids around v, weighted by area / L^3: vertices crowd where L is small.
static vec3 free_target(const mesh *m, int32_t v)
{
    const mesh_vertex *vertex = &m->vertices[v];
    vec3 sum = v3(0, 0, 0);
    double total = 0;
    for (int32_t h = vertex->half; h >= 0; h = next_around(m, v, h)) {
        const mesh_vertex *b = &m->vertices[half_end(m, h)];
        const mesh_vertex *c = &m->vertices[half_start(m, half_previous(h))];
        double area = v3_length(v3_normal(vertex->position, b->position, c->position));
        double size = vertex->size + b->size + c->size, weight = area / (size * size * size);
        sum = v3_mad(sum, weight, v3_add(v3_add(vertex->position, b->position), c->position));
        total += weight;
    }
    vec3 move = v3_sub(v3_scale(sum, 1 / (3 * total)), vertex->position);
    move = v3_mad(move, -v3_dot(move, vertex->normal), vertex->normal);
    return v3_mad(vertex->position, SMOOTH_FACTOR, move);
}

int cutis_synth_curve_neighbours(const mesh *m, int32_t v, int32_t out[2])
{
    int count = 0;
    int32_t curve = m->vertices[v].curve;
    for (int32_t h = m->vertices[v].half; h >= 0; h = next_around(m, v, h)) {
        bool mine = curve == SYNTH_PLANE ? m->halves[h].twin < 0 : m->halves[h].loop == curve;
        if (mine && count < 2) out[count++] = half_end(m, h);
        if (rotate_half(m, h) < 0 && count < 2) out[count++] = half_start(m, half_previous(h));
    }
    return count;
}

static vec3 curve_target(const mesh *m, int32_t v)
{
    const mesh_vertex *vertex = &m->vertices[v];
    int32_t ends[2];
    if (cutis_synth_curve_neighbours(m, v, ends) != 2) return vertex->position;
    vec3 sum = v3(0, 0, 0);
    double total = 0;
    for (int i = 0; i < 2; i++) {
        const mesh_vertex *end = &m->vertices[ends[i]];
        double weight = v3_distance(end->position, vertex->position) / (end->size + vertex->size);
        sum = v3_mad(sum, weight / 2, v3_add(end->position, vertex->position));
        total += weight;
    }
    return v3_scale(sum, 1 / total);
}

/// No triangle around v faces away from the normal when v is at x.
static bool ring_faces_out(const mesh *m, int32_t v, vec3 x, vec3 normal)
{
    for (int32_t h = m->vertices[v].half; h >= 0; h = next_around(m, v, h)) {
        vec3 b = mesh_position(m, half_end(m, h));
        vec3 c = mesh_position(m, half_start(m, half_previous(h)));
        if (v3_dot(v3_normal(x, b, c), normal) <= 0) return false;
    }
    return true;
}

void cutis_synth_smooth(remesher *r)
{
    mesh *m = r->m;
    for (int32_t v = 0; v < m->vertex_count; v++) {
        mesh_vertex *vertex = &m->vertices[v];
        if (vertex->half < 0 || vertex->curve == SYNTH_CORNER) continue;
        bool is_free = vertex->curve == SYNTH_FREE;
        vec3 target = is_free ? free_target(m, v) : curve_target(m, v), normal;
        vec3 x = cutis_synth_snap(m, vertex, target, is_free ? 1 : 2, &normal);
        if (!ring_faces_out(m, v, x, normal) &&
            ring_faces_out(m, v, vertex->position, vertex->normal))
            continue;
        vertex->position = x;
        vertex->normal = normal;
        vertex->size = cutis_synth_shape_size(m->shape, x);
    }
}

/// Area of the whole body with every piece measured in its own size.
static double relative_area(const mesh *m)
{
    double sum = 0;
    for (int32_t h = 0; h < m->half_count; h += 3) {
        if (m->halves[h].vertex < 0) continue;
        const mesh_vertex *a = &m->vertices[m->halves[h].vertex];
        const mesh_vertex *b = &m->vertices[m->halves[h + 1].vertex];
        const mesh_vertex *c = &m->vertices[m->halves[h + 2].vertex];
        double size = (a->size + b->size + c->size) / 3;
        sum += v3_length(v3_normal(a->position, b->position, c->position)) / (2 * size * size);
    }
    return m->shape->folded ? 2 * sum : sum;
}

/// From the grid's mesh to edges of about `scale`, in steps of 1.5 so that collapses stay local.
static cutis_result coarsen(remesher *r, double scale)
{
    for (double step = 6.4; step < 0.8 * scale; step *= 1.5) {
        r->scale = step;
        // Short edges against the curvature: the smoothing below puts the vertices back on the
        // surface.
        r->snap_steps = step < 8 ? 0 : 1;
        collapse_short(r);
        collapse_short(r);
        cutis_synth_flip_valence(r);
        cutis_synth_smooth(r);
        cutis_synth_flip_delaunay(r);
        TRY(cutis_synth_mesh_compact(r->m));
    }
    r->scale = scale;
    r->snap_steps = 2;
    return CUTIS_OK;
}

static cutis_result one_pass(remesher *r)
{
    TRY(split_long(r));
    collapse_short(r);
    collapse_short(r);
    cutis_synth_flip_valence(r);
    cutis_synth_smooth(r);
    cutis_synth_smooth(r);
    cutis_synth_flip_delaunay(r);
    return cutis_synth_mesh_compact(r->m);
}

cutis_result cutis_synth_remesh(remesher *r, uint32_t vertices)
{
    r->edge_max = 1.4;
    double scale = sqrt(1.1547 * relative_area(r->m) / (double)vertices);
    TRY(coarsen(r, scale));
    for (int pass = 0; pass < 19; pass++) {
        double have = cutis_synth_mesh_total(r->m), gap = have / (double)vertices - 1;
        if (pass >= 5 && gap < 0.008 && gap > -0.008) break;
        if (pass >= 5) r->scale *= sqrt(have / (double)vertices);
        TRY(cutis_progress(r->m->context, "remesh", pass / 19.0));
        TRY(one_pass(r));
    }
    return CUTIS_OK;
}
