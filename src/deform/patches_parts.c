/// The parts of a body as meshes of their own: vertices of a loop are in both of its parts, rings
/// run counter-clockwise, and from border to border at a loop. Also distances within a part.
#include "deform/patches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/half_edge.h"
#include "geometry/heap.h"
#include "geometry/order.h"
#include "geometry/vector.h"

#define NOWHERE UINT32_MAX

// Faces sorted by part, and which vertices each part has. `copy` maps a welded vertex of the part
// at hand to its part vertex.
static cutis_result number_vertices(const patch_body *body, patch_pieces *out, uint32_t *copy)
{
    uint32_t parts = body->part_count, faces = body->face_count, used = 0;
    out->vertex_first = cutis_arena_alloc(body->arena, parts + 1, sizeof(uint32_t));
    out->face_first = cutis_arena_alloc(body->arena, parts + 1, sizeof(uint32_t));
    out->face_origin = cutis_arena_alloc(body->arena, faces, sizeof(uint32_t));
    out->faces = cutis_arena_alloc(body->arena, 3 * (size_t)faces, sizeof(uint32_t));
    uint32_t capacity = body->vertex_count;
    for (uint32_t i = 0; i < body->loop_count; i++) capacity += body->loops[i].count;
    out->welded = cutis_arena_alloc(body->arena, capacity, sizeof(uint32_t));
    out->vertex_part = cutis_arena_alloc(body->arena, capacity, sizeof(uint32_t));
    if (!out->vertex_first || !out->face_first || !out->face_origin || !out->faces ||
        !out->welded || !out->vertex_part)
        return cutis_alloc_result(body->context);
    order_by_key(body->labels, faces, parts, out->face_first, out->face_origin);
    for (uint32_t p = 0; p < parts; p++) {
        uint32_t end = out->face_first[p + 1];
        if (end == out->face_first[p])
            return UNSUPPORTED(body->context, "part %s has no face", patch_part_name(body, p));
        out->vertex_first[p] = used;
        for (uint32_t v = 0; v < body->vertex_count; v++) copy[v] = NOWHERE;
        for (uint32_t i = 3 * out->face_first[p]; i < 3 * end; i++)
            copy[body->faces[3 * (size_t)out->face_origin[i / 3] + i % 3]] = 0;
        for (uint32_t v = 0; v < body->vertex_count; v++) {
            if (copy[v] == NOWHERE) continue;
            if (used == capacity)
                return UNSUPPORTED(body->context, "part %s touches another in a vertex" PATCH_HEAL,
                                   patch_part_name(body, p));
            out->welded[used] = v;
            out->vertex_part[used] = p;
            copy[v] = used++;
        }
        for (uint32_t i = 3 * out->face_first[p]; i < 3 * end; i++)
            out->faces[i] = copy[body->faces[3 * (size_t)out->face_origin[i / 3] + i % 3]];
    }
    out->vertex_first[parts] = out->vertex_count = used;
    return CUTIS_OK;
}

static uint32_t find_copy(const patch_pieces *parts, uint32_t part, uint32_t welded)
{
    return (uint32_t)order_last(parts->welded, parts->vertex_first[part],
                                parts->vertex_first[part + 1], welded);
}

static cutis_result place_loops(const patch_body *body, patch_pieces *out)
{
    uint32_t places = 0;
    for (uint32_t i = 0; i < body->loop_count; i++) places += body->loops[i].count;
    out->vertex_loop = cutis_arena_alloc(body->arena, out->vertex_count, sizeof(int32_t));
    out->vertex_place = cutis_arena_alloc(body->arena, out->vertex_count, sizeof(int32_t));
    out->loop_copies = cutis_arena_alloc(body->arena, 2 * (size_t)places, sizeof(uint32_t));
    if (!out->vertex_loop || !out->vertex_place || !out->loop_copies)
        return cutis_alloc_result(body->context);
    for (uint32_t v = 0; v < out->vertex_count; v++)
        out->vertex_loop[v] = out->vertex_place[v] = -1;
    for (uint32_t i = 0; i < body->loop_count; i++) {
        const patch_loop *loop = &body->loops[i];
        for (uint32_t k = 0; k < loop->count; k++)
            for (uint32_t side = 0; side < 2; side++) {
                uint32_t v = find_copy(out, side ? loop->child : loop->parent,
                                       body->loop_vertices[loop->first + k]);
                if (out->vertex_loop[v] >= 0)
                    return UNSUPPORTED(body->context,
                                       "part %s: two of its borders touch" PATCH_HEAL,
                                       patch_part_name(body, side ? loop->child : loop->parent));
                out->vertex_loop[v] = (int32_t)i;
                out->vertex_place[v] = (int32_t)k;
                out->loop_copies[2 * (size_t)(loop->first + k) + side] = v;
            }
    }
    return CUTIS_OK;
}

static cutis_result number_edges(const patch_body *body, patch_pieces *out)
{
    size_t count = 3 * (size_t)body->face_count;
    cutis_edge *edges;
    out->face_edges = cutis_arena_alloc(body->arena, count, sizeof(uint32_t));
    out->face_joined = cutis_arena_alloc(body->arena, count, sizeof(int32_t));
    out->edge_lengths = cutis_arena_alloc(body->arena, count, sizeof(double));
    if (!out->face_edges || !out->face_joined || !out->edge_lengths)
        return cutis_alloc_result(body->context);
    memset(out->face_joined, 0xff, count * sizeof *out->face_joined);
    TRY(cutis_edges_sort(body->arena, out->faces, NULL, body->face_count, &edges, &count));
    for (size_t i = 0, n; i < count; i += n) {
        uint32_t e = out->edge_count++;
        const double *a = body->points + 3 * (size_t)out->welded[edges[i].low];
        const double *b = body->points + 3 * (size_t)out->welded[edges[i].high];
        out->edge_lengths[e] = v3_distance_of(a, b);
        out->face_edges[edges[i].half] = e;
        n = cutis_edges_run(edges, count, i) > 1 ? 2 : 1;
        if (n == 2) {
            out->face_edges[edges[i + 1].half] = e;
            out->face_joined[edges[i].half] = (int32_t)(edges[i + 1].half / 3);
            out->face_joined[edges[i + 1].half] = (int32_t)(edges[i].half / 3);
        }
    }
    return CUTIS_OK;
}

// The ring of one vertex from its faces (v, a, b): b follows a. `first` .. are its half-edges.
static cutis_result chain_ring(const patch_body *body, patch_pieces *out, uint32_t v,
                               const uint32_t *halves, uint32_t count, uint32_t *used)
{
    uint32_t start = 0;
    for (uint32_t i = 0; i < count; i++) { // on a loop: the face nothing comes before
        uint32_t h = halves[i], a = out->faces[half_next(h)];
        bool follows = false;
        for (uint32_t k = 0; k < count; k++) follows |= out->faces[half_previous(halves[k])] == a;
        if (!follows) start = i;
    }
    bool loop = out->vertex_loop[v] >= 0;
    uint32_t h = halves[start];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = half_previous(h), b = out->faces[before];
        out->ring[*used] = out->faces[half_next(h)];
        out->ring_edge[(*used)++] = out->face_edges[h];
        uint32_t next = NOWHERE;
        for (uint32_t k = 0; k < count; k++)
            if (out->faces[half_next(halves[k])] == b) next = halves[k];
        if (i == count - 1) {
            if (loop) {
                out->ring[*used] = b;
                out->ring_edge[(*used)++] = out->face_edges[before];
            }
            if (loop ? next == NOWHERE : next == halves[start]) return CUTIS_OK;
            next = NOWHERE;
        }
        if (next == NOWHERE) break;
        h = next;
    }
    return UNSUPPORTED(
        body->context,
        "part %s: its faces around a vertex are connected only through it" PATCH_HEAL,
        patch_part_name(body, out->vertex_part[v]));
}

static cutis_result make_rings(const patch_body *body, patch_pieces *out)
{
    size_t halves = 3 * (size_t)body->face_count;
    uint32_t *first = cutis_arena_alloc(body->arena, out->vertex_count + (size_t)1, sizeof *first);
    uint32_t *list = cutis_arena_alloc(body->arena, halves, sizeof *list);
    out->ring_first =
        cutis_arena_alloc(body->arena, out->vertex_count + (size_t)1, sizeof(uint32_t));
    out->ring = cutis_arena_alloc(body->arena, halves + out->vertex_count, sizeof(uint32_t));
    out->ring_edge = cutis_arena_alloc(body->arena, halves + out->vertex_count, sizeof(uint32_t));
    if (!first || !list || !out->ring_first || !out->ring || !out->ring_edge)
        return cutis_alloc_result(body->context);
    order_by_key(out->faces, halves, out->vertex_count, first, list);
    uint32_t used = 0;
    for (uint32_t v = 0; v < out->vertex_count; v++) {
        out->ring_first[v] = used;
        TRY(chain_ring(body, out, v, list + first[v], first[v + 1] - first[v], &used));
    }
    out->ring_first[out->vertex_count] = used;
    return CUTIS_OK;
}

// The piece of a part around a vertex. @return has it a loop?
static bool flood(const patch_pieces *parts, uint32_t from, uint32_t *queue, bool *seen)
{
    bool loop = false;
    uint32_t count = 1;
    queue[0] = from;
    seen[from] = true;
    for (uint32_t i = 0; i < count; i++) {
        loop |= parts->vertex_loop[queue[i]] >= 0;
        for (uint32_t k = parts->ring_first[queue[i]]; k < parts->ring_first[queue[i] + 1]; k++)
            if (!seen[parts->ring[k]]) {
                seen[parts->ring[k]] = true;
                queue[count++] = parts->ring[k];
            }
    }
    return loop;
}

// Pieces of a part that have loops: one at most. Those that have none (eyes, a helmet) are closed
// by themselves and follow the part; whether they may is known when bands are.
static cutis_result check_pieces(const patch_body *body, patch_pieces *parts)
{
    uint32_t *queue = cutis_arena_alloc(body->arena, parts->vertex_count, sizeof *queue);
    bool *seen = cutis_arena_zero(body->arena, parts->vertex_count, sizeof *seen);
    parts->skin_first = cutis_arena_alloc(body->arena, body->part_count, sizeof(uint32_t));
    if (!queue || !seen || !parts->skin_first) return cutis_alloc_result(body->context);
    parts->detached = NOWHERE;
    for (uint32_t p = 0; p < body->part_count; p++) {
        uint32_t pieces = 0, looped = 0;
        parts->skin_first[p] = parts->vertex_first[p];
        for (uint32_t v = parts->vertex_first[p]; v < parts->vertex_first[p + 1]; v++) {
            if (seen[v]) continue;
            pieces++;
            if (!flood(parts, v, queue, seen)) continue;
            parts->skin_first[p] = v;
            looped++;
        }
        if (looped > 1)
            return UNSUPPORTED(body->context, "part %s is in several pieces" PATCH_HEAL,
                               patch_part_name(body, p));
        if (pieces > 1) parts->detached = p;
    }
    return CUTIS_OK;
}

cutis_result cutis_patch_parts_make(const patch_body *body, patch_pieces *out)
{
    *out = (patch_pieces){ 0 };
    uint32_t *copy = cutis_arena_alloc(body->arena, body->vertex_count, sizeof *copy);
    if (!copy) return cutis_alloc_result(body->context);
    TRY(number_vertices(body, out, copy));
    TRY(place_loops(body, out));
    TRY(number_edges(body, out));
    TRY(make_rings(body, out));
    return check_pieces(body, out);
}

// Dijkstra ----------------------------------------------------------------------------------------

cutis_result cutis_patch_distances(const patch_body *body, const patch_pieces *parts, uint32_t part,
                                   const uint32_t *sources, uint32_t source_count,
                                   double *distances)
{
    uint32_t first = parts->vertex_first[part], count = parts->vertex_first[part + 1] - first;
    cutis_heap heap = { .context = body->context };
    bool good = true;
    for (uint32_t v = 0; v < count; v++) distances[v] = INFINITY;
    for (uint32_t i = 0; i < source_count && good; i++) {
        distances[sources[i] - first] = 0.0;
        good = cutis_heap_push(&heap, 0.0, sources[i] - first);
    }
    while (heap.count > 0 && good) {
        cutis_waiting now = cutis_heap_pop(&heap);
        uint32_t v = now.vertex + first;
        if (now.distance > distances[now.vertex]) continue; // a shorter way was found since
        for (uint32_t k = parts->ring_first[v]; k < parts->ring_first[v + 1] && good; k++) {
            uint32_t u = parts->ring[k] - first;
            double d = now.distance + parts->edge_lengths[parts->ring_edge[k]];
            if (!(d < distances[u])) continue;
            distances[u] = d;
            good = cutis_heap_push(&heap, d, u);
        }
    }
    cutis_heap_release(&heap);
    return good ? CUTIS_OK : cutis_alloc_result(body->context);
}
