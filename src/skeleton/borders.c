// Borders of parts by least cuts. Around the border of two parts lies a band as wide as half of its
// radius on each side; faces at the band's rims keep their part, between them runs the cut whose
// edges sum to least: concave edges are cheap, faces that change their part cost the more the
// farther they lie from the old border. The cut is found by Dinic's method; the two directions of
// an edge are its two half-edges, so what is left of it is kept per half-edge. Invariant: no border
// takes more than a third of a part.
#include "skeleton/borders.h"

#include <math.h>

#include "base/error.h"
#include "geometry/heap.h"
#include "math/elementary.h"

static const double HALF_WIDTH = 0.6; // of the border's radius, if it is one ring
static const double CREASE = 0.8;     // radians of a concave edge that make it as cheap as can be
static const double CHEAPEST = 0.15;
static const double STAYS = 1.0;         // what it costs to move a border by the band's width
static const uint32_t BAND_MOST = 60000; // faces: finer borders are smooth as they are
static const double TINY = 1e-9;         // of the border: flows smaller than that are none
static const double LOSES = 0.35;        // of its faces, the most that a part may
static const double PI2 = 6.28318530717959;

typedef struct {
    const cutis_closed *mesh;
    uint32_t *labels;
    cutis_arena arena;
    cutis_heap heap;
    double *distance;      // per face: from the border; INFINITY outside of the band
    double *left;          // per half-edge: capacity that is left
    double *source, *sink; // per face: capacities from and to the ends
    uint32_t *level;       // per face: steps from the source
    uint8_t *tried;        // per face: half-edges that lead nowhere any more
    uint32_t *band, count; // faces of the band, the nearest to the border first
    uint32_t *queue;
    double smallest;
    uint32_t *sizes; // faces per part
} cutter;

static vec3 face_cross(const cutis_closed *mesh, uint32_t f)
{
    const uint32_t *v = mesh->faces[f];
    vec3 a = v3_of(mesh->points[v[0]]);
    return v3_cross(v3_sub(v3_of(mesh->points[v[1]]), a), v3_sub(v3_of(mesh->points[v[2]]), a));
}

// What it costs to cut along an edge: its length, less where the surface folds inwards.
static double edge_cost(const cutis_closed *mesh, uint32_t h)
{
    uint32_t f = h / 3, g = mesh->twins[h] / 3;
    vec3 n = v3_unit(face_cross(mesh, f)), m = v3_unit(face_cross(mesh, g));
    double length = cutis_edge_length(mesh, h);
    double out = v3_dot(v3_sub(cutis_face_middle(mesh, g), cutis_face_middle(mesh, f)), n);
    if (!(out > 0)) return length;
    double angle = fixed_acos(fmin(fmax(v3_dot(n, m), -1), 1));
    return length * fmax(CHEAPEST, 1 - angle / CREASE);
}

// Faces of both parts near their border. false: out of memory.
static bool find_band(cutter *c, uint32_t a, uint32_t b, double width)
{
    const cutis_closed *mesh = c->mesh;
    c->count = 0;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        bool beside = false;
        if (c->labels[f] != a && c->labels[f] != b) continue;
        for (uint32_t h = 3 * f; h < 3 * f + 3; h++) {
            uint32_t other = c->labels[mesh->twins[h] / 3];
            beside = beside || (other != c->labels[f] && (other == a || other == b));
        }
        if (beside && !cutis_heap_push(&c->heap, 0, f)) return false;
    }
    while (c->heap.count > 0) {
        cutis_waiting now = cutis_heap_pop(&c->heap);
        uint32_t f = now.vertex;
        if (now.distance >= c->distance[f]) continue;
        c->distance[f] = now.distance;
        c->band[c->count++] = f;
        for (uint32_t h = 3 * f; h < 3 * f + 3; h++) {
            uint32_t g = mesh->twins[h] / 3;
            if (c->labels[g] != c->labels[f] || isfinite(c->distance[g])) continue;
            double d =
                now.distance + v3_distance(cutis_face_middle(mesh, f), cutis_face_middle(mesh, g));
            if (d < width && !cutis_heap_push(&c->heap, d, g)) return false;
        }
    }
    return true;
}

// Capacities. Faces with neighbours of their part beyond the band are held; others cost more to
// change the farther they lie from the border. false: a part would have nothing that holds it.
static bool fill_in(cutter *c, uint32_t a, double width, double length)
{
    uint32_t held[2] = { 0, 0 };
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t f = c->band[i], side = c->labels[f] == a;
        bool rim = false;
        for (uint32_t h = 3 * f; h < 3 * f + 3; h++) {
            uint32_t g = c->mesh->twins[h] / 3;
            c->left[h] = isfinite(c->distance[g]) ? edge_cost(c->mesh, h) : 0;
            rim = rim || (!isfinite(c->distance[g]) && c->labels[g] == c->labels[f]);
        }
        double area = v3_length(face_cross(c->mesh, f)) / 2;
        double stay = rim ? 1e3 * length : 2 * STAYS * area * c->distance[f] / (width * width);
        c->source[f] = side ? stay : 0, c->sink[f] = side ? 0 : stay;
        held[side] += rim;
    }
    return held[0] > 0 && held[1] > 0;
}

// Steps from the source through what is left. @return does any lead to the sink?
static bool find_levels(cutter *c)
{
    uint32_t head = 0, tail = 0;
    bool reached = false;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t f = c->band[i];
        c->level[f] = CUTIS_NOTHING, c->tried[f] = 0;
        if (c->source[f] > c->smallest) c->level[f] = 0, c->queue[tail++] = f;
    }
    while (head < tail) {
        uint32_t f = c->queue[head++];
        reached = reached || c->sink[f] > c->smallest;
        for (uint32_t h = 3 * f; h < 3 * f + 3; h++) {
            uint32_t g = c->mesh->twins[h] / 3;
            if (c->left[h] <= c->smallest || c->level[g] != CUTIS_NOTHING) continue;
            c->level[g] = c->level[f] + 1, c->queue[tail++] = g;
        }
    }
    return reached;
}

// Push what one way takes from a face with a source. The way is kept as half-edges in the queue.
// @return false: there is none
static bool push_one(cutter *c, uint32_t start)
{
    uint32_t depth = 0, f = start;
    while (c->sink[f] <= c->smallest) {
        uint32_t h = 3 * f + c->tried[f];
        if (c->tried[f] == 3) { // back, and never here again
            if (depth == 0) return false;
            f = c->queue[--depth] / 3, c->tried[f]++;
        } else if (c->left[h] > c->smallest && c->level[c->mesh->twins[h] / 3] == c->level[f] + 1) {
            c->queue[depth++] = h, f = c->mesh->twins[h] / 3;
        } else {
            c->tried[f]++;
        }
    }
    double flow = fmin(c->source[start], c->sink[f]);
    for (uint32_t i = 0; i < depth; i++) flow = fmin(flow, c->left[c->queue[i]]);
    c->source[start] -= flow, c->sink[f] -= flow;
    for (uint32_t i = 0; i < depth; i++)
        c->left[c->queue[i]] -= flow, c->left[c->mesh->twins[c->queue[i]]] += flow;
    return true;
}

// What the source still reaches is its. A thin part between two borders may be cheaper cut away
// than round: then the border stays.
static void take_cut(cutter *c, uint32_t a, uint32_t b)
{
    uint32_t lost[2] = { 0, 0 };
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t label = c->level[c->band[i]] != CUTIS_NOTHING ? a : b;
        lost[c->labels[c->band[i]] == b] += label != c->labels[c->band[i]];
    }
    if (lost[0] > LOSES * c->sizes[a] || lost[1] > LOSES * c->sizes[b]) return;
    for (uint32_t i = 0; i < c->count; i++)
        c->labels[c->band[i]] = c->level[c->band[i]] != CUTIS_NOTHING ? a : b;
    c->sizes[a] += lost[1] - lost[0], c->sizes[b] += lost[0] - lost[1];
}

// @param length of their border
static bool cut_pair(cutter *c, uint32_t a, uint32_t b, double length)
{
    double width = HALF_WIDTH * length / PI2;
    if (!(length > 0)) return true;
    bool good = find_band(c, a, b, width);
    if (good && c->count <= BAND_MOST && fill_in(c, a, width, length)) {
        c->smallest = TINY * length;
        while (find_levels(c))
            for (uint32_t i = 0; i < c->count; i++)
                while (c->source[c->band[i]] > c->smallest && push_one(c, c->band[i])) {}
        take_cut(c, a, b);
    }
    for (uint32_t i = 0; i < c->count; i++) c->distance[c->band[i]] = INFINITY;
    c->heap.count = 0;
    return good;
}

cutis_result cutis_borders_smooth(const cutis_closed *mesh, uint32_t *labels, uint32_t part_count)
{
    cutter c = { .mesh = mesh, .labels = labels };
    const size_t n = mesh->face_count;
    c.arena.context = c.heap.context = mesh->context;
    c.distance = cutis_arena_alloc(&c.arena, n, sizeof *c.distance);
    c.left = cutis_arena_alloc(&c.arena, 3 * n, sizeof *c.left);
    c.source = cutis_arena_alloc(&c.arena, n, sizeof *c.source);
    c.sink = cutis_arena_alloc(&c.arena, n, sizeof *c.sink);
    c.level = cutis_arena_alloc(&c.arena, n, sizeof *c.level);
    c.tried = cutis_arena_alloc(&c.arena, n, sizeof *c.tried);
    c.band = cutis_arena_alloc(&c.arena, n, sizeof *c.band);
    c.queue = cutis_arena_alloc(&c.arena, n, sizeof *c.queue);
    double *lengths = cutis_arena_zero(&c.arena, (size_t)part_count * part_count, sizeof *lengths);
    c.sizes = cutis_arena_zero(&c.arena, part_count, sizeof *c.sizes);
    bool good = lengths && c.sizes && c.distance && c.left && c.source && c.sink && c.level &&
                c.tried && c.band && c.queue;
    for (size_t f = 0; f < n && good; f++) c.distance[f] = INFINITY;
    for (size_t f = 0; f < n && good; f++) c.sizes[labels[f]]++;
    for (uint32_t h = 0; h < 3 * n && good; h++) {
        uint32_t a = labels[h / 3], b = labels[mesh->twins[h] / 3];
        if (a < b) lengths[a * part_count + b] += cutis_edge_length(mesh, h);
    }
    for (uint32_t a = 0; a < part_count && good; a++)
        for (uint32_t b = a + 1; b < part_count && good; b++)
            good = cut_pair(&c, a, b, lengths[a * part_count + b]);
    cutis_heap_release(&c.heap);
    cutis_arena_release(&c.arena);
    return good ? CUTIS_OK : cutis_alloc_result(mesh->context);
}
