/// Packs a body into the buffers that the kernels read: every array of kernel/patches.h gets its
/// place, first counted, then filled. Also what is made only here: limb directions, loop planes and
/// shifts, distance fields, the table of conic weights.
#include "deform/patches_pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/team.h"
//
#include "kernel/patches.h"
#include "math/eigen3.h"
#include "math/mat3.h"

// Samples of a joint, per rung it may have.
static const uint32_t POINTS_PER_RUNG = 6;

typedef struct packing {
    const patch_body *body;
    const patch_pieces *parts;
    patch_pack *out;
    uint32_t entry_count, place_count;
    uint32_t *entry_first; // per part, + 1
    uint32_t *entry_joint, *entry_side;
} packing;

// A part's loops, in the order of the loops.
static cutis_result list_entries(packing *p)
{
    const patch_body *body = p->body;
    p->entry_count = 2 * body->loop_count;
    p->entry_first = cutis_arena_alloc(body->arena, body->part_count + 1, sizeof(uint32_t));
    p->entry_joint = cutis_arena_alloc(body->arena, p->entry_count, sizeof(uint32_t));
    p->entry_side = cutis_arena_alloc(body->arena, p->entry_count, sizeof(uint32_t));
    if (!p->entry_first || !p->entry_joint || !p->entry_side)
        return cutis_alloc_result(body->context);
    uint32_t used = 0;
    for (uint32_t part = 0; part < body->part_count; part++) {
        p->entry_first[part] = used;
        for (uint32_t i = 0; i < body->loop_count; i++)
            if (body->loops[i].parent == part || body->loops[i].child == part) {
                p->entry_joint[used] = i;
                p->entry_side[used++] = body->loops[i].child == part;
            }
    }
    p->entry_first[body->part_count] = used;
    for (uint32_t i = 0; i < body->loop_count; i++) p->place_count += body->loops[i].count;
    return CUTIS_OK;
}

// Border points of an entry at most; a cut that has more is made smaller.
static uint32_t slot_room(const packing *p, uint32_t entry)
{
    const patch_loop *loop = &p->body->loops[p->entry_joint[entry]];
    uint32_t part = p->entry_side[entry] ? loop->child : loop->parent;
    uint32_t faces = p->parts->face_first[part + 1] - p->parts->face_first[part];
    return 6 * loop->count + 8 * (uint32_t)ceil(sqrt((double)faces)) + 64;
}

/// Hands out places in a buffer.
typedef struct places {
    int32_t *fields;
    uint64_t used;
} places;

static void take(places *p, int field, uint64_t count)
{
    if (field >= 0) p->fields[field] = (int32_t)p->used;
    p->used += count;
}

static cutis_result place_ints(packing *p)
{
    const patch_body *body = p->body;
    const patch_pieces *parts = p->parts;
    int32_t *fields = p->out->ints;
    places s = { fields, PATCH_FIELD_COUNT };
    uint64_t P = body->part_count, J = body->loop_count, V = parts->vertex_count;
    uint64_t F = body->face_count, N = p->entry_count;
    take(&s, PATCH_PART_VERTEX, P + 1);
    take(&s, PATCH_PART_FACE, P + 1);
    take(&s, PATCH_PART_ENTRY, P + 1);
    take(&s, PATCH_PART_SEED, P);
    take(&s, PATCH_PART_TIP, P);
    take(&s, PATCH_ENTRY_JOINT, N);
    take(&s, PATCH_ENTRY_SIDE, N);
    take(&s, PATCH_ENTRY_FAR, N);
    take(&s, PATCH_ENTRY_AT, N);
    take(&s, PATCH_ENTRY_ORDER, N);
    take(&s, PATCH_ENTRY_SHARE, N);
    take(&s, PATCH_ENTRY_SLOT, N + 1);
    take(&s, PATCH_JOINT_PART, 2 * J);
    take(&s, PATCH_JOINT_ENTRY, 2 * J);
    take(&s, PATCH_JOINT_SEAM, J);
    take(&s, PATCH_JOINT_LOOP, J + 1);
    take(&s, PATCH_JOINT_RUNG, J + 1);
    take(&s, PATCH_JOINT_POINT, J + 1);
    take(&s, PATCH_LOOP_VERTEX, 2 * (uint64_t)p->place_count);
    take(&s, PATCH_VERTEX_PART, V);
    take(&s, PATCH_VERTEX_LOOP, V);
    take(&s, PATCH_VERTEX_PLACE, V);
    take(&s, PATCH_RING_FIRST, V + 1);
    take(&s, PATCH_RING, parts->ring_first[V]);
    take(&s, PATCH_RING_EDGE, parts->ring_first[V]);
    take(&s, PATCH_FACES, 3 * F);
    take(&s, PATCH_FACE_EDGES, 3 * F);
    take(&s, PATCH_FACE_JOINED, 3 * F);
    take(&s, PATCH_SLOT_JOINT, p->out->slot_count);
    take(&s, PATCH_SEED_ORDER, V);
    take(&s, PATCH_VERTEX_FILE, V);
    take(&s, PATCH_FACE_ORIGIN, F);
    for (uint32_t e = 0; e < N; e++) { // the orders stand behind everything
        const patch_loop *loop = &body->loops[p->entry_joint[e]];
        uint32_t part = p->entry_side[e] ? loop->child : loop->parent;
        s.used += parts->vertex_first[part + 1] - parts->vertex_first[part];
    }
    if (s.used > INT32_MAX)
        return cutis_fail(body->context, CUTIS_LIMIT_EXCEEDED, "the mesh is too large for patches");
    p->out->int_count = (uint32_t)s.used;
    return CUTIS_OK;
}

static cutis_result place_reals(packing *p)
{
    const patch_body *body = p->body;
    const patch_pieces *parts = p->parts;
    places g = { p->out->ints, 0 };
    uint64_t P = body->part_count, J = body->loop_count, V = parts->vertex_count;
    take(&g, PATCH_POINTS, 3 * V);
    take(&g, PATCH_NORMALS, 3 * V);
    take(&g, PATCH_EDGE_NORMAL, 3 * (uint64_t)parts->edge_count);
    take(&g, PATCH_EDGE_STEP, P);
    take(&g, PATCH_EDGE_MOST, P);
    take(&g, PATCH_CENTROID, 3 * P);
    take(&g, PATCH_VOLUME, P);
    take(&g, PATCH_FRAME, 15 * P);
    take(&g, PATCH_CENTRE, 3 * J);
    take(&g, PATCH_LIMB, 3 * J);
    take(&g, PATCH_PLANE, 3 * J);
    take(&g, PATCH_WIDTH, J);
    take(&g, PATCH_SHIFTS, 9 * (uint64_t)p->place_count);
    take(&g, PATCH_STEP, J);
    take(&g, PATCH_CONIC, PATCH_CONIC_STEPS + 1);
    take(&g, PATCH_SCALARS, 2);
    take(&g, PATCH_FAR, 0);
    uint64_t most = 0;
    for (uint32_t part = 0; part < P; part++) { // distances: of every entry, and of a leaf's tip
        uint32_t entries = p->entry_first[part + 1] - p->entry_first[part];
        uint64_t vertices = parts->vertex_first[part + 1] - parts->vertex_first[part];
        g.used += vertices * (entries + (entries == 1));
        if (vertices > most) most = vertices;
    }
    g.used += most; // distances to the last part's seed, for a moment
    if (g.used > INT32_MAX)
        return cutis_fail(body->context, CUTIS_LIMIT_EXCEEDED, "the mesh is too large for patches");
    p->out->real_count = (uint32_t)g.used;
    return CUTIS_OK;
}

static uint64_t count_shares(const packing *p)
{
    uint64_t count = 0;
    for (uint32_t part = 0; part < p->body->part_count; part++) {
        uint64_t entries = p->entry_first[part + 1] - p->entry_first[part];
        count += entries * entries;
    }
    return count;
}

static cutis_result place_work(packing *p)
{
    const patch_body *body = p->body;
    const patch_pieces *parts = p->parts;
    places i = { p->out->ints, 0 }, d = { p->out->ints, 0 };
    uint64_t P = body->part_count, J = body->loop_count, V = parts->vertex_count;
    uint64_t slots = p->out->slot_count, rungs = p->out->rung_count, points = p->out->point_count;
    uint64_t fields = p->out->real_count - (uint64_t)p->out->ints[PATCH_FAR];
    static const int per_vertex[] = { PATCH_STATE,      PATCH_OWNER, PATCH_SLOT,
                                      PATCH_VERTEX_OUT, PATCH_QUEUE, PATCH_SNAP_EDGE };
    static const int per_slot[] = { PATCH_SLOT_NODE,  PATCH_SLOT_NEXT, PATCH_SLOT_ORDER,
                                    PATCH_SLOT_RANK,  PATCH_SLOT_WELD, PATCH_SLOT_OUT,
                                    PATCH_SLOT_GUEST, PATCH_SLOT_LOOP, PATCH_SLOT_RUNG,
                                    PATCH_SLOT_FROM,  PATCH_SLOT_TO };
    static const int per_rung[] = { PATCH_RUNG_P,     PATCH_RUNG_C,     PATCH_RUNG_KIND,
                                    PATCH_RUNG_COUNT, PATCH_RUNG_FIRST, PATCH_RUNG_FACE };
    for (size_t k = 0; k < sizeof per_vertex / sizeof *per_vertex; k++) take(&i, per_vertex[k], V);
    for (size_t k = 0; k < sizeof per_slot / sizeof *per_slot; k++) take(&i, per_slot[k], slots);
    for (size_t k = 0; k < sizeof per_rung / sizeof *per_rung; k++) take(&i, per_rung[k], rungs);
    take(&i, PATCH_EDGE_SLOT, parts->edge_count);
    take(&i, PATCH_BORDER, p->entry_count);
    take(&i, PATCH_REACH, p->entry_count);
    take(&i, PATCH_NEAR, fields);
    take(&i, PATCH_NEAR_COUNT, p->entry_count);
    take(&i, PATCH_TRIES, P);
    take(&i, PATCH_TOUCHED, P);
    take(&i, PATCH_FACE_LIST, body->face_count);
    take(&i, PATCH_JOINT_INTS, PATCH_JOINT_INT_COUNT * J);
    take(&i, PATCH_BLOCK_VERTEX, (V + PATCH_BLOCK - 1) / PATCH_BLOCK);
    take(&i, PATCH_BLOCK_FACE, (body->face_count + (uint64_t)PATCH_BLOCK - 1) / PATCH_BLOCK);
    take(&d, PATCH_MATRIX, 12 * P);
    take(&d, PATCH_JOINT_REAL, PATCH_JOINT_REAL_COUNT * J);
    take(&d, PATCH_VALUE, fields);
    take(&d, PATCH_SNAP, V);
    take(&d, PATCH_SHARE, count_shares(p));
    take(&d, PATCH_SHRINK, p->entry_count);
    take(&d, PATCH_ENTRY_SUM, TEAM_PARTS * (uint64_t)p->entry_count);
    take(&d, PATCH_SLOT_POINT, 3 * slots);
    take(&d, PATCH_SLOT_PLACED, 3 * slots);
    take(&d, PATCH_SLOT_FAR, slots);
    take(&d, PATCH_SLOT_ALONG, slots);
    take(&d, PATCH_SLOT_GAP, slots);
    take(&d, PATCH_SLOT_T, slots);
    take(&d, PATCH_JOINT_SUM, PATCH_SCRATCH * J);
    take(&d, PATCH_RUNG_SUM, 12 * rungs);
    take(&d, PATCH_RUNG_ALONG, rungs);
    take(&d, PATCH_SAMPLE, 3 * points);
    take(&d, PATCH_SAMPLE_SUM, 6 * points);
    if (i.used > INT32_MAX || d.used > INT32_MAX)
        return cutis_fail(body->context, CUTIS_LIMIT_EXCEEDED, "the mesh is too large for patches");
    p->out->ints[PATCH_INT_STRIDE] = (int32_t)i.used;
    p->out->ints[PATCH_REAL_STRIDE] = (int32_t)d.used;
    return CUTIS_OK;
}

static int32_t *ints(const packing *p, int field)
{
    return p->out->ints + p->out->ints[field];
}

static double *reals(const packing *p, int field)
{
    return p->out->reals + p->out->ints[field];
}

static void copy_ints(const packing *p, int field, const void *from, size_t count)
{
    memcpy(ints(p, field), from, count * sizeof(int32_t));
}

static void fill_topology(packing *p)
{
    const patch_body *body = p->body;
    const patch_pieces *parts = p->parts;
    size_t V = parts->vertex_count, F = body->face_count, R = parts->ring_first[V];
    copy_ints(p, PATCH_PART_VERTEX, parts->vertex_first, body->part_count + (size_t)1);
    copy_ints(p, PATCH_PART_FACE, parts->face_first, body->part_count + (size_t)1);
    copy_ints(p, PATCH_PART_ENTRY, p->entry_first, body->part_count + (size_t)1);
    copy_ints(p, PATCH_ENTRY_JOINT, p->entry_joint, p->entry_count);
    copy_ints(p, PATCH_ENTRY_SIDE, p->entry_side, p->entry_count);
    copy_ints(p, PATCH_LOOP_VERTEX, parts->loop_copies, 2 * (size_t)p->place_count);
    copy_ints(p, PATCH_VERTEX_PART, parts->vertex_part, V);
    copy_ints(p, PATCH_VERTEX_LOOP, parts->vertex_loop, V);
    copy_ints(p, PATCH_VERTEX_PLACE, parts->vertex_place, V);
    copy_ints(p, PATCH_RING_FIRST, parts->ring_first, V + 1);
    copy_ints(p, PATCH_RING, parts->ring, R);
    copy_ints(p, PATCH_RING_EDGE, parts->ring_edge, R);
    copy_ints(p, PATCH_FACES, parts->faces, 3 * F);
    copy_ints(p, PATCH_FACE_EDGES, parts->face_edges, 3 * F);
    copy_ints(p, PATCH_FACE_JOINED, parts->face_joined, 3 * F);
    for (size_t f = 0; f < F; f++)
        ints(p, PATCH_FACE_ORIGIN)[f] = (int32_t)body->origins[parts->face_origin[f]];
    for (size_t v = 0; v < V; v++) {
        ints(p, PATCH_VERTEX_FILE)[v] = (int32_t)body->files[parts->welded[v]];
        memcpy(reals(p, PATCH_POINTS) + 3 * v, body->points + 3 * (size_t)parts->welded[v],
               3 * sizeof(double));
        memcpy(reals(p, PATCH_NORMALS) + 3 * v, body->normals + 3 * (size_t)parts->welded[v],
               3 * sizeof(double));
    }
}

static pvec face_normal(const packing *p, int32_t face)
{
    const int32_t *v = ints(p, PATCH_FACES) + 3 * (size_t)face;
    const double *points = reals(p, PATCH_POINTS);
    pvec x = pvec_at(points, v[0]);
    return pvec_cross(pvec_minus(pvec_at(points, v[1]), x), pvec_minus(pvec_at(points, v[2]), x));
}

// Points on edges take their normals from the faces on both sides.
static void fill_edges(packing *p)
{
    for (uint32_t e = 0; e < p->parts->edge_count; e++) {
        pvec sum = pvec_make(0, 0, 0);
        for (int k = 0; k < 2; k++) {
            int32_t face = (int32_t)p->parts->edge_faces[2 * (size_t)e + k];
            if (face >= 0) sum = pvec_plus(sum, face_normal(p, face));
        }
        pvec_put(reals(p, PATCH_EDGE_NORMAL), (int)e, sum);
    }
}

static void fill_rooms(packing *p)
{
    const patch_body *body = p->body;
    int32_t *slot = ints(p, PATCH_ENTRY_SLOT), *entry = ints(p, PATCH_JOINT_ENTRY);
    uint32_t used = 0;
    for (uint32_t e = 0; e < p->entry_count; e++) {
        slot[e] = (int32_t)used;
        for (uint32_t k = 0; k < slot_room(p, e); k++)
            ints(p, PATCH_SLOT_JOINT)[used++] = (int32_t)p->entry_joint[e];
        entry[2 * (size_t)p->entry_joint[e] + p->entry_side[e]] = (int32_t)e;
    }
    slot[p->entry_count] = (int32_t)used;
    int32_t rungs = 0, points = 0, shares = 0;
    for (uint32_t part = 0; part < body->part_count; part++)
        for (uint32_t e = p->entry_first[part]; e < p->entry_first[part + 1]; e++) {
            ints(p, PATCH_ENTRY_SHARE)[e] = shares;
            shares += (int32_t)(p->entry_first[part + 1] - p->entry_first[part]);
        }
    for (uint32_t j = 0; j < body->loop_count; j++) {
        const patch_loop *loop = &body->loops[j];
        int32_t room = (int32_t)(slot_room(p, (uint32_t)entry[2 * j]) +
                                 slot_room(p, (uint32_t)entry[2 * j + 1]));
        ints(p, PATCH_JOINT_PART)[2 * j] = (int32_t)loop->parent;
        ints(p, PATCH_JOINT_PART)[2 * j + 1] = (int32_t)loop->child;
        ints(p, PATCH_JOINT_SEAM)[j] = loop->seam;
        ints(p, PATCH_JOINT_LOOP)[j] = (int32_t)loop->first;
        ints(p, PATCH_JOINT_RUNG)[j] = rungs;
        ints(p, PATCH_JOINT_POINT)[j] = points;
        rungs += room;
        points += (int32_t)POINTS_PER_RUNG * room;
    }
    ints(p, PATCH_JOINT_LOOP)[body->loop_count] = (int32_t)p->place_count;
    ints(p, PATCH_JOINT_RUNG)[body->loop_count] = rungs;
    ints(p, PATCH_JOINT_POINT)[body->loop_count] = points;
}

typedef struct far_vertex {
    double distance;
    uint32_t vertex;
} far_vertex;

static int compare_far(const void *a, const void *b)
{
    const far_vertex *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

static void sort_by_distance(const double *far, uint32_t first, uint32_t count, far_vertex *sorted,
                             int32_t *out)
{
    for (uint32_t v = 0; v < count; v++) sorted[v] = (far_vertex){ far[v], first + v };
    qsort(sorted, count, sizeof *sorted, compare_far);
    for (uint32_t v = 0; v < count; v++) out[v] = (int32_t)sorted[v].vertex;
}

// Distances of one entry, its order, and the seed and tip of the part, which need all of them.
static cutis_result fill_part_fields(packing *p, uint32_t part, uint32_t *int_at, uint32_t *real_at,
                                     far_vertex *sorted, uint32_t *sources)
{
    const patch_pieces *parts = p->parts;
    uint32_t first = parts->vertex_first[part], count = parts->vertex_first[part + 1] - first;
    uint32_t entries = p->entry_first[part], end = p->entry_first[part + 1];
    for (uint32_t e = entries; e < end; e++) {
        const patch_loop *loop = &p->body->loops[p->entry_joint[e]];
        double *far = p->out->reals + *real_at;
        for (uint32_t k = 0; k < loop->count; k++)
            sources[k] = parts->loop_copies[2 * (size_t)(loop->first + k) + p->entry_side[e]];
        cutis_result result =
            cutis_patch_distances(p->body, parts, part, sources, loop->count, far);
        if (result != CUTIS_OK) return result;
        sort_by_distance(far, first, count, sorted, p->out->ints + *int_at);
        ints(p, PATCH_ENTRY_FAR)[e] = (int32_t)*real_at;
        ints(p, PATCH_ENTRY_AT)[e] = (int32_t)*real_at - p->out->ints[PATCH_FAR] - (int32_t)first;
        ints(p, PATCH_ENTRY_ORDER)[e] = (int32_t)*int_at;
        *int_at += count;
        *real_at += count;
    }
    uint32_t seed = 0;
    double most = -1.0;
    for (uint32_t v = 0; v < count; v++) {
        double least = INFINITY;
        for (uint32_t e = entries; e < end; e++)
            least = fmin(least, p->out->reals[ints(p, PATCH_ENTRY_FAR)[e] + (int32_t)v]);
        if (least > most) {
            most = least;
            seed = v;
        }
    }
    ints(p, PATCH_PART_SEED)[part] = (int32_t)(first + seed);
    ints(p, PATCH_PART_TIP)[part] = -1;
    sources[0] = first + seed;
    cutis_result result =
        cutis_patch_distances(p->body, parts, part, sources, 1, p->out->reals + *real_at);
    if (result != CUTIS_OK) return result;
    sort_by_distance(p->out->reals + *real_at, first, count, sorted,
                     ints(p, PATCH_SEED_ORDER) + first);
    if (end - entries != 1) return CUTIS_OK; // its distances are not needed any more
    ints(p, PATCH_PART_TIP)[part] = (int32_t)*real_at;
    *real_at += count;
    return CUTIS_OK;
}

static cutis_result fill_fields(packing *p)
{
    const patch_body *body = p->body;
    uint32_t int_at = (uint32_t)(p->out->ints[PATCH_FACE_ORIGIN]) + p->body->face_count;
    uint32_t real_at = (uint32_t)p->out->ints[PATCH_FAR];
    far_vertex *sorted = cutis_arena_alloc(body->arena, p->parts->vertex_count, sizeof *sorted);
    uint32_t *sources = cutis_arena_alloc(body->arena, p->place_count + (size_t)1, sizeof *sources);
    if (!sorted || !sources) return cutis_alloc_result(body->context);
    for (uint32_t part = 0; part < body->part_count; part++) {
        cutis_result result = fill_part_fields(p, part, &int_at, &real_at, sorted, sources);
        if (result == CUTIS_OK)
            result = cutis_progress(body->context, "binding", (part + 1.0) / body->part_count);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

static void unit(double *v)
{
    double l = sqrt(double3_dot(v, v));
    for (int k = 0; k < 3; k++) v[k] = l > 0.0 ? v[k] / l : k == 1;
}

// Plane of a loop by least squares, its normal towards the child, and its shorter half axis.
static void fit_plane(const packing *p, uint32_t joint, double *normal, double *width)
{
    const patch_loop *loop = &p->body->loops[joint];
    const uint32_t *at = p->body->loop_vertices + loop->first;
    double mean[3] = { 0 }, square[6] = { 0 }, values[3], vectors[9], area[3] = { 0 };
    for (uint32_t i = 0; i < loop->count; i++)
        for (int k = 0; k < 3; k++) mean[k] += p->body->points[3 * (size_t)at[i] + k] / loop->count;
    for (uint32_t i = 0; i < loop->count; i++) {
        const double *x = p->body->points + 3 * (size_t)at[i];
        const double *y = p->body->points + 3 * (size_t)at[(i + 1) % loop->count];
        double a[3], b[3], n[3];
        for (int k = 0; k < 3; k++) a[k] = x[k] - mean[k], b[k] = y[k] - mean[k];
        double3_cross(a, b, n);
        for (int k = 0; k < 3; k++) area[k] += n[k];
        for (int r = 0, k = 0; r < 3; r++)
            for (int c = r; c < 3; c++, k++) square[k] += a[r] * a[c] / loop->count;
    }
    cutis_eigen3(square, values, vectors);
    double sign = double3_dot(vectors + 6, area) < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; k++) normal[k] = sign * vectors[6 + k];
    *width = sqrt(2.0 * fmax(values[1], 0.0));
}

// Along the limb: from the parent's middle to the joint to the child's. A parent with three joints
// or more (trunk, palm) has no direction of its own: the loop's normal stands for it.
static void fit_limb(const packing *p, uint32_t joint, const double *normal, double *limb)
{
    const patch_loop *loop = &p->body->loops[joint];
    const double *centre = p->body->centres + 3 * (size_t)joint;
    uint32_t joints = p->entry_first[loop->parent + 1] - p->entry_first[loop->parent];
    double a[3], b[3];
    for (int k = 0; k < 3; k++) {
        a[k] = joints >= 3 ? normal[k] : centre[k] - p->parts->shapes[loop->parent].centroid[k];
        b[k] = p->parts->shapes[loop->child].centroid[k] - centre[k];
    }
    unit(a);
    unit(b);
    for (int k = 0; k < 3; k++) limb[k] = a[k] + b[k];
    if (double3_dot(limb, limb) < 1e-6) memcpy(limb, normal, 3 * sizeof *limb);
    unit(limb);
}

// For every shift k of a loop the sum of y[i + k] y[i]^T, from which a frame finds the best one.
static void fill_shifts(const packing *p, uint32_t joint)
{
    const patch_loop *loop = &p->body->loops[joint];
    const uint32_t *at = p->body->loop_vertices + loop->first;
    const double *centre = p->body->centres + 3 * (size_t)joint;
    for (uint32_t k = 0; k < loop->count; k++) {
        double *out = reals(p, PATCH_SHIFTS) + 9 * (size_t)(loop->first + k);
        memset(out, 0, 9 * sizeof *out);
        for (uint32_t i = 0; i < loop->count; i++) {
            const double *x = p->body->points + 3 * (size_t)at[(i + k) % loop->count];
            const double *y = p->body->points + 3 * (size_t)at[i];
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    out[3 * r + c] += (x[r] - centre[r]) * (y[c] - centre[c]);
        }
    }
}

static double longest_edge(const patch_pieces *parts, uint32_t part)
{
    double most = 0.0;
    uint32_t end = parts->ring_first[parts->vertex_first[part + 1]];
    for (uint32_t k = parts->ring_first[parts->vertex_first[part]]; k < end; k++)
        most = fmax(most, parts->edge_lengths[parts->ring_edge[k]]);
    return most;
}

static void fill_joints(packing *p)
{
    const patch_body *body = p->body;
    for (uint32_t j = 0; j < body->loop_count; j++) {
        const patch_loop *loop = &body->loops[j];
        double *normal = reals(p, PATCH_PLANE) + 3 * (size_t)j;
        memcpy(reals(p, PATCH_CENTRE) + 3 * (size_t)j, body->centres + 3 * (size_t)j,
               3 * sizeof(double));
        fit_plane(p, j, normal, reals(p, PATCH_WIDTH) + j);
        fit_limb(p, j, normal, reals(p, PATCH_LIMB) + 3 * (size_t)j);
        fill_shifts(p, j);
        reals(p, PATCH_STEP)[j] =
            0.5 * (p->parts->shapes[loop->parent].step + p->parts->shapes[loop->child].step);
    }
    for (uint32_t part = 0; part < body->part_count; part++) {
        const patch_shape *shape = &p->parts->shapes[part];
        double *frame = reals(p, PATCH_FRAME) + 15 * (size_t)part;
        reals(p, PATCH_EDGE_STEP)[part] = shape->step;
        reals(p, PATCH_EDGE_MOST)[part] = longest_edge(p->parts, part);
        reals(p, PATCH_VOLUME)[part] = shape->volume;
        memcpy(reals(p, PATCH_CENTROID) + 3 * (size_t)part, shape->centroid, 3 * sizeof(double));
        memcpy(frame, shape->axes, 9 * sizeof(double));
        for (int k = 0; k < 3; k++) {
            frame[9 + 2 * k] = shape->low[k];
            frame[10 + 2 * k] = shape->high[k];
        }
    }
    reals(p, PATCH_SCALARS)[0] = body->diagonal;
    reals(p, PATCH_SCALARS)[1] = 1e-6 * body->diagonal; // so that nothing is removed at rest
}

// The share of the triangle that lies between chord and conic.
static double conic_share(double w)
{
    if (fabs(w - 1.0) < 1e-4) return 2.0 / 3.0 + (w - 1.0) * 4.0 / 15.0;
    if (w < 1.0) {
        double a = acos(w), s = sin(a);
        return (a - s * w) * w / (s * s * s);
    }
    double b = acosh(w), s = sinh(b);
    return (s * w - b) * w / (s * s * s);
}

static void fill_conics(const packing *p)
{
    double *table = reals(p, PATCH_CONIC);
    for (int i = 0; i <= PATCH_CONIC_STEPS; i++) {
        double g = i / (double)PATCH_CONIC_STEPS, low = 0.0, high = 1e6;
        for (int k = 0; k < 200 && high - low > 1e-14 * high; k++) {
            double middle = 0.5 * (low + high);
            if (conic_share(middle) < g)
                low = middle;
            else
                high = middle;
        }
        table[i] = i == 0 ? 0.0 : fmin(0.5 * (low + high), 1e3);
    }
}

cutis_result cutis_patch_pack_make(const patch_body *body, const patch_pieces *parts, int box,
                                   int fill, patch_pack *out)
{
    packing p = { .body = body, .parts = parts, .out = out };
    *out = (patch_pack){ 0 };
    int32_t fields[PATCH_FIELD_COUNT] = { 0 };
    cutis_result result = list_entries(&p);
    if (result != CUTIS_OK) return result;
    for (uint32_t e = 0; e < p.entry_count; e++) out->slot_count += slot_room(&p, e);
    out->rung_count = out->slot_count;
    out->point_count = POINTS_PER_RUNG * out->slot_count;
    out->ints = fields;
    result = place_ints(&p);
    if (result == CUTIS_OK) result = place_reals(&p);
    if (result == CUTIS_OK) result = place_work(&p);
    if (result != CUTIS_OK) return result;
    out->ints = cutis_arena_alloc(body->arena, out->int_count, sizeof *out->ints);
    out->reals = cutis_arena_alloc(body->arena, out->real_count, sizeof *out->reals);
    if (!out->ints || !out->reals) return cutis_alloc_result(body->context);
    memcpy(out->ints, fields, sizeof fields);
    out->ints[PATCH_PART_COUNT] = (int32_t)body->part_count;
    out->ints[PATCH_JOINT_COUNT] = (int32_t)body->loop_count;
    out->ints[PATCH_VERTEX_COUNT] = (int32_t)parts->vertex_count;
    out->ints[PATCH_FACE_COUNT] = (int32_t)body->face_count;
    out->ints[PATCH_BOX] = box;
    out->ints[PATCH_FILL] = fill;
    out->ints[PATCH_CURVE_MAX] = PATCH_CURVE_MOST;
    fill_topology(&p);
    fill_edges(&p);
    fill_rooms(&p);
    fill_joints(&p);
    fill_conics(&p);
    return fill_fields(&p);
}
