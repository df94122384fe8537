/// The last steps to the mesh that is seen: noise and holes as a scanner leaves them, and an order
/// of vertices and triangles that is a shuffle of its own stream, so no number tells anything.
/// A surface with holes stays manifold and in one piece.
#include "synth/family.h"

#include "base/error.h"
#include "geometry/half_edge.h"
#include "geometry/order.h"

/// Streams beside those of proportions and pose.
enum { STREAM_NOISE = 1, STREAM_HOLES, STREAM_VERTICES, STREAM_TRIANGLES, STREAM_CORNERS };
/// Noise: so much of the mean edge, standard deviation; drawn.
static const double NOISE_LEAST = 0.02, NOISE_MOST = 0.08;
/// Holes: radius as a share of the diagonal; how far triangles in one may lean from its middle.
static const double HOLE_LEAST = 0.012, HOLE_MOST = 0.03, HOLE_COS = 0.4;
enum { HOLE_COUNT_MAX = 6 };

typedef struct scanner {
    uint64_t seed, stream;
    synth_surface *s;
    uint8_t *dead;  ///< per triangle
    uint32_t *twin; ///< per half-edge of the closed surface
    uint32_t *up;   ///< per triangle: groups
    uint32_t *rims; ///< per vertex: half-edges that leave it along a hole
} scanner;

static double unit(const scanner *c, int stream, uint64_t index)
{
    return cutis_random_unit(c->seed, c->stream + (uint64_t)stream, index);
}

static double mean_edge(const synth_surface *s)
{
    double sum = 0;
    for (uint32_t h = 0; h < 3 * s->triangle_count; h++)
        sum += v3_distance(s->positions[s->triangles[h]], s->positions[s->triangles[half_next(h)]]);
    return sum / (3.0 * s->triangle_count);
}

/// Along the normal; the sum of four uniform numbers is near enough to a normal distribution.
static void add_noise(const scanner *c)
{
    double spread = NOISE_LEAST + (NOISE_MOST - NOISE_LEAST) * unit(c, STREAM_NOISE, 0);
    spread *= mean_edge(c->s) * 1.7320508075688772; // the sum's own deviation is 1 / sqrt(3)
    for (uint32_t v = 0; v < c->s->vertex_count; v++) {
        double sum = -2;
        for (uint64_t i = 0; i < 4; i++) sum += unit(c, STREAM_NOISE, 1 + 4 * (uint64_t)v + i);
        c->s->positions[v] = v3_mad(c->s->positions[v], spread * sum, c->s->normals[v]);
    }
}

static vec3 corner(const synth_surface *s, uint32_t h)
{
    return s->positions[s->triangles[h]];
}

static void punch(const scanner *c, uint64_t hole, double diagonal)
{
    const synth_surface *s = c->s;
    uint32_t t = (uint32_t)(unit(c, STREAM_HOLES, 2 * hole + 1) * s->triangle_count);
    double radius = HOLE_LEAST + (HOLE_MOST - HOLE_LEAST) * unit(c, STREAM_HOLES, 2 * hole + 2);
    vec3 middle = corner(s, 3 * t);
    vec3 normal = v3_unit(v3_normal(corner(s, 3 * t), corner(s, 3 * t + 1), corner(s, 3 * t + 2)));
    for (uint32_t i = 0; i < s->triangle_count; i++) {
        vec3 a = corner(s, 3 * i), b = corner(s, 3 * i + 1), e = corner(s, 3 * i + 2);
        if (v3_distance(a, middle) > radius * diagonal) continue;
        if (v3_dot(v3_unit(v3_normal(a, b, e)), normal) > HOLE_COS) c->dead[i] = 1;
    }
}

/// Two rims that meet in one vertex are opened into one; true when that was needed.
static bool open_pinches(const scanner *c)
{
    const synth_surface *s = c->s;
    bool changed = false;
    for (uint32_t v = 0; v < s->vertex_count; v++) c->rims[v] = 0;
    for (uint32_t h = 0; h < 3 * s->triangle_count; h++)
        if (!c->dead[h / 3] && c->dead[c->twin[h] / 3]) c->rims[s->triangles[h]]++;
    for (uint32_t h = 0; h < 3 * s->triangle_count; h++) {
        if (c->dead[h / 3] || c->rims[s->triangles[h]] < 2) continue;
        c->dead[h / 3] = 1;
        changed = true;
    }
    return changed;
}

/// Only the largest piece stays.
static void keep_largest(const scanner *c)
{
    uint32_t count = c->s->triangle_count, best = 0, most = 0, size = 0;
    for (uint32_t t = 0; t < count; t++) c->up[t] = t;
    for (uint32_t h = 0; h < 3 * count; h++)
        if (!c->dead[h / 3] && !c->dead[c->twin[h] / 3])
            c->up[group_of(c->up, h / 3)] = group_of(c->up, c->twin[h] / 3);
    for (uint32_t root = 0; root < count; root++, size = 0) {
        if (c->dead[root] || c->up[root] != root) continue;
        for (uint32_t t = 0; t < count; t++) size += group_of(c->up, t) == root;
        if (size > most) most = size, best = root;
    }
    for (uint32_t t = 0; t < count; t++)
        if (group_of(c->up, t) != best) c->dead[t] = 1;
}

static cutis_result find_twins(scanner *c, cutis_arena *scratch)
{
    cutis_edge *edges;
    size_t count;
    TRY(cutis_edges_sort(scratch, c->s->triangles, NULL, c->s->triangle_count, &edges, &count));
    for (size_t i = 0; i + 1 < count; i += 2) {
        c->twin[edges[i].half] = (uint32_t)edges[i + 1].half;
        c->twin[edges[i + 1].half] = (uint32_t)edges[i].half;
    }
    return CUTIS_OK;
}

static void punch_all(const scanner *c)
{
    box3 box = box3_empty();
    for (uint32_t v = 0; v < c->s->vertex_count; v++) box3_add(&box, c->s->positions[v]);
    uint64_t holes = 1 + (uint64_t)(unit(c, STREAM_HOLES, 0) * HOLE_COUNT_MAX);
    for (uint64_t i = 0; i < holes; i++) punch(c, i, box3_diagonal(&box));
    while (open_pinches(c)) {}
    keep_largest(c);
}

/// A random order of 0 .. count - 1.
static void shuffle(const scanner *c, int stream, uint32_t count, uint32_t *order)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = (uint32_t)(unit(c, stream, i) * (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
}

/// Vertices that are used, in their new order; `place` becomes each old vertex' new number.
static cutis_result reorder_vertices(cutis_arena *arena, const scanner *c, cutis_influences *w,
                                     uint32_t *place)
{
    synth_surface *s = c->s;
    uint32_t kept = 0, total = w->first[s->vertex_count], at = 0;
    uint32_t *order = cutis_arena_alloc(arena, s->vertex_count, sizeof *order);
    uint32_t *first = cutis_arena_alloc(arena, (size_t)s->vertex_count + 1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(arena, total, sizeof *joints);
    float *weights = cutis_arena_alloc(arena, total, sizeof *weights);
    vec3 *positions = cutis_arena_alloc(arena, s->vertex_count, sizeof *positions);
    if (!order || !first || !joints || !weights || !positions)
        return cutis_alloc_result(arena->context);
    shuffle(c, STREAM_VERTICES, s->vertex_count, order);
    for (uint32_t v = 0; v < s->vertex_count; v++) place[v] = UINT32_MAX;
    for (uint32_t h = 0; h < 3 * s->triangle_count; h++)
        if (!c->dead[h / 3]) place[s->triangles[h]] = 0;
    for (uint32_t i = 0; i < s->vertex_count; i++) {
        uint32_t v = order[i];
        if (place[v] == UINT32_MAX) continue;
        first[kept] = at;
        for (uint32_t k = w->first[v]; k < w->first[v + 1]; k++)
            joints[at] = w->joints[k], weights[at++] = w->weights[k];
        positions[kept] = s->positions[v];
        place[v] = kept++;
    }
    first[kept] = at;
    s->vertex_count = kept;
    s->positions = positions;
    *w = (cutis_influences){ first, joints, weights };
    return CUTIS_OK;
}

static cutis_result reorder_triangles(cutis_arena *arena, const scanner *c, const uint32_t *place,
                                      uint32_t *parts)
{
    synth_surface *s = c->s;
    uint32_t kept = 0;
    uint32_t *order = cutis_arena_alloc(arena, s->triangle_count, sizeof *order);
    uint32_t *triangles = cutis_arena_alloc(arena, s->triangle_count, 3 * sizeof *triangles);
    uint32_t *labels = cutis_arena_copy(arena, parts, s->triangle_count, sizeof *labels);
    if (!order || !triangles || !labels) return cutis_alloc_result(arena->context);
    shuffle(c, STREAM_TRIANGLES, s->triangle_count, order);
    for (uint32_t i = 0; i < s->triangle_count; i++) {
        uint32_t t = order[i], turn = (uint32_t)(unit(c, STREAM_CORNERS, i) * 3);
        if (c->dead[t]) continue;
        for (uint32_t k = 0; k < 3; k++)
            triangles[3 * (size_t)kept + k] = place[s->triangles[3 * (size_t)t + (k + turn) % 3]];
        parts[kept++] = labels[t];
    }
    s->triangle_count = kept;
    s->triangles = triangles;
    return CUTIS_OK;
}

/// Area-weighted, as any reader of the bare mesh would make them.
static cutis_result remake_normals(cutis_arena *arena, synth_surface *s)
{
    s->normals = cutis_arena_zero(arena, s->vertex_count, sizeof *s->normals);
    if (!s->normals) return cutis_alloc_result(arena->context);
    for (uint32_t t = 0; t < s->triangle_count; t++) {
        vec3 n = v3_normal(corner(s, 3 * t), corner(s, 3 * t + 1), corner(s, 3 * t + 2));
        for (uint32_t h = 3 * t; h < 3 * t + 3; h++)
            s->normals[s->triangles[h]] = v3_add(s->normals[s->triangles[h]], n);
    }
    for (uint32_t v = 0; v < s->vertex_count; v++) s->normals[v] = v3_unit(s->normals[v]);
    return CUTIS_OK;
}

cutis_result cutis_family_scan_and_shuffle(cutis_arena *arena, const family *f, bool scan,
                                           synth_surface *surface, uint32_t *parts,
                                           cutis_influences *weights)
{
    cutis_arena scratch = { .context = arena->context };
    size_t triangles = surface->triangle_count, vertices = surface->vertex_count;
    scanner c = { .seed = f->seed, .stream = ((uint64_t)f->kind + 1) << 32, .s = surface };
    c.dead = cutis_arena_zero(&scratch, triangles, 1);
    c.twin = cutis_arena_zero(&scratch, triangles, 3 * sizeof *c.twin);
    c.up = cutis_arena_alloc(&scratch, triangles, sizeof *c.up);
    c.rims = cutis_arena_alloc(&scratch, vertices, sizeof *c.rims);
    cutis_result result = CUTIS_OK;
    if (!c.dead || !c.twin || !c.up || !c.rims) result = cutis_alloc_result(arena->context);
    if (result == CUTIS_OK && scan) {
        add_noise(&c);
        result = find_twins(&c, &scratch);
        if (result == CUTIS_OK) punch_all(&c);
    }
    if (result == CUTIS_OK) result = reorder_vertices(arena, &c, weights, c.rims);
    if (result == CUTIS_OK) result = reorder_triangles(arena, &c, c.rims, parts);
    if (result == CUTIS_OK) result = remake_normals(arena, surface);
    cutis_arena_release(&scratch);
    return result;
}
