/// Packs a body into the buffer that the kernels read: everything is counted, the arrays of
/// kernel/patches_fields.h get their places, then they are filled. Also what is made only here:
/// limb directions, loop planes and shifts, distances, the table of conic weights.
#include "deform/patches_pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/vector.h"
#include "kernel/patches_conic.h"
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
static uint32_t slot_capacity(const packing *p, uint32_t entry)
{
    const patch_loop *loop = &p->body->loops[p->entry_joint[entry]];
    uint32_t part = p->entry_side[entry] ? loop->child : loop->parent;
    uint32_t faces = p->parts->face_first[part + 1] - p->parts->face_first[part];
    return 6 * loop->count + 8 * (uint32_t)ceil(sqrt((double)faces)) + 64;
}

// How many there are of everything.
static cutis_result count_all(packing *p, const patch_bands *bands)
{
    const patch_body *body = p->body;
    const patch_pieces *parts = p->parts;
    uint64_t *n = p->out->counts;
    for (uint32_t e = 0; e < p->entry_count; e++) n[PATCH_SLOTS] += slot_capacity(p, e);
    for (uint32_t part = 0; part < body->part_count; part++) {
        const uint64_t entries = p->entry_first[part + 1] - p->entry_first[part];
        n[PATCH_REACHES] += entries * (parts->vertex_first[part + 1] - parts->vertex_first[part]);
        n[PATCH_PAIRS] += entries * entries;
    }
    n[PATCH_PARTS] = body->part_count;
    n[PATCH_PARTS_1] = body->part_count + 1ull;
    n[PATCH_JOINTS] = body->loop_count;
    n[PATCH_JOINTS_1] = body->loop_count + 1ull;
    n[PATCH_ENTRIES] = p->entry_count;
    n[PATCH_ENTRIES_1] = p->entry_count + 1ull;
    n[PATCH_VERTICES] = parts->vertex_count;
    n[PATCH_VERTICES_1] = parts->vertex_count + 1ull;
    n[PATCH_EDGES] = parts->edge_count;
    n[PATCH_FACES] = body->face_count;
    n[PATCH_PLACES] = p->place_count;
    n[PATCH_RINGS] = parts->ring_first[parts->vertex_count];
    n[PATCH_RUNGS] = n[PATCH_SLOTS];
    n[PATCH_POINTS] = POINTS_PER_RUNG * n[PATCH_SLOTS];
    n[PATCH_VERTEX_BLOCKS] = (parts->vertex_count + PATCH_BLOCK - 1ull) / PATCH_BLOCK;
    n[PATCH_FACE_BLOCKS] = (body->face_count + PATCH_BLOCK - 1ull) / PATCH_BLOCK;
    n[PATCH_CONICS] = PATCH_CONIC_STEPS + 1;
    n[PATCH_RESTS] = body->output_count;
    n[PATCH_MOVES] = bands->move_count;
    n[PATCH_LIFTS] = bands->lift_count;
    n[PATCH_RANK] = bands->rank_most;
    n[PATCH_BAND_FACES] = bands->face_count;
    n[PATCH_MIXED] = bands->mixed_count;
    n[PATCH_MIXED_1] = bands->mixed_count + 1ull;
    n[PATCH_UNDOS] = bands->undo_count;
    for (int k = 0; k < PATCH_COUNTS; k++) // indices are ints
        if (n[k] > INT32_MAX / 4)
            return cutis_fail(body->context, CUTIS_LIMIT_EXCEEDED,
                              "the mesh is too large for patches");
    return CUTIS_OK;
}

// Array of the body, to be filled.
#define FILL(p, name)                                                                              \
    ((void *)((p)->out->body + PATCH_UNIT * (size_t)(p)->out->arguments.at.body_##name))

static void fill_ints(void *to, const void *from, size_t count)
{
    memcpy(to, from, count * sizeof(int32_t));
}

static void fill_topology(packing *p)
{
    const patch_body *body = p->body;
    const patch_pieces *parts = p->parts;
    const uint64_t *n = p->out->counts;
    fill_ints(FILL(p, part_vertex), parts->vertex_first, n[PATCH_PARTS_1]);
    fill_ints(FILL(p, part_face), parts->face_first, n[PATCH_PARTS_1]);
    fill_ints(FILL(p, part_entry), p->entry_first, n[PATCH_PARTS_1]);
    fill_ints(FILL(p, entry_joint), p->entry_joint, n[PATCH_ENTRIES]);
    fill_ints(FILL(p, entry_side), p->entry_side, n[PATCH_ENTRIES]);
    fill_ints(FILL(p, loop_vertex), parts->loop_copies, 2 * n[PATCH_PLACES]);
    fill_ints(FILL(p, vertex_part), parts->vertex_part, n[PATCH_VERTICES]);
    fill_ints(FILL(p, vertex_loop), parts->vertex_loop, n[PATCH_VERTICES]);
    fill_ints(FILL(p, vertex_place), parts->vertex_place, n[PATCH_VERTICES]);
    fill_ints(FILL(p, ring_first), parts->ring_first, n[PATCH_VERTICES_1]);
    fill_ints(FILL(p, ring), parts->ring, n[PATCH_RINGS]);
    fill_ints(FILL(p, ring_edge), parts->ring_edge, n[PATCH_RINGS]);
    fill_ints(FILL(p, face_vertex), parts->faces, 3 * n[PATCH_FACES]);
    fill_ints(FILL(p, face_edge), parts->face_edges, 3 * n[PATCH_FACES]);
    fill_ints(FILL(p, face_joined), parts->face_joined, 3 * n[PATCH_FACES]);
    int32_t *origin = FILL(p, face_origin), *file = FILL(p, vertex_file);
    pvec *point = FILL(p, vertex_point), *normal = FILL(p, vertex_normal);
    pvec *outwards = FILL(p, vertex_outwards);
    for (size_t f = 0; f < body->face_count; f++)
        origin[f] = (int32_t)body->origins[parts->face_origin[f]];
    for (size_t v = 0; v < parts->vertex_count; v++) {
        const size_t welded = parts->welded[v];
        file[v] = (int32_t)body->files[welded];
        memcpy(&point[v], body->points + 3 * welded, sizeof *point);
        memcpy(&normal[v], body->normals + 3 * welded, sizeof *normal);
        memcpy(&outwards[v], body->outwards + 3 * welded, sizeof *outwards);
    }
}

// Which slots, shares and reaches belong to an entry.
static void fill_entries(packing *p)
{
    int32_t *slot = FILL(p, entry_slot), *slot_joint = FILL(p, slot_joint);
    int32_t *share = FILL(p, entry_share), *at = FILL(p, entry_at), *joint = FILL(p, joint_entry);
    int32_t slots = 0, shares = 0, reached = 0;
    for (uint32_t part = 0; part < p->body->part_count; part++) {
        const int32_t first = (int32_t)p->parts->vertex_first[part];
        const int32_t vertices = (int32_t)p->parts->vertex_first[part + 1] - first;
        for (uint32_t e = p->entry_first[part]; e < p->entry_first[part + 1]; e++) {
            joint[2 * (size_t)p->entry_joint[e] + p->entry_side[e]] = (int32_t)e;
            slot[e] = slots;
            share[e] = shares;
            at[e] = reached - first;
            for (uint32_t k = 0; k < slot_capacity(p, e); k++)
                slot_joint[slots++] = (int32_t)p->entry_joint[e];
            shares += (int32_t)(p->entry_first[part + 1] - p->entry_first[part]);
            reached += vertices;
        }
    }
    slot[p->entry_count] = slots;
}

// Which rungs and samples belong to a joint; after the entries.
static void fill_joint_ranges(packing *p)
{
    const patch_body *body = p->body;
    const int32_t *entry = FILL(p, joint_entry);
    int32_t *part = FILL(p, joint_part), *seam = FILL(p, joint_seam), *loop = FILL(p, joint_loop);
    int32_t *rung = FILL(p, joint_rung), *point = FILL(p, joint_point), rungs = 0;
    for (uint32_t j = 0; j < body->loop_count; j++) {
        part[2 * j] = (int32_t)body->loops[j].parent;
        part[2 * j + 1] = (int32_t)body->loops[j].child;
        seam[j] = body->loops[j].seam;
        loop[j] = (int32_t)body->loops[j].first;
        rung[j] = rungs;
        point[j] = (int32_t)POINTS_PER_RUNG * rungs;
        rungs += (int32_t)(slot_capacity(p, (uint32_t)entry[2 * j]) +
                           slot_capacity(p, (uint32_t)entry[2 * j + 1]));
    }
    loop[body->loop_count] = (int32_t)p->place_count;
    rung[body->loop_count] = rungs;
    point[body->loop_count] = (int32_t)POINTS_PER_RUNG * rungs;
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

// What distances are found with.
typedef struct distance_scratch {
    far_vertex *sorted;
    uint32_t *sources;
    double *seed; ///< to a part's seed
} distance_scratch;

// The vertex of a part that is farthest from all of its loops.
static uint32_t find_seed(const packing *p, uint32_t part)
{
    const int32_t *at = FILL(p, entry_at);
    const double *far = FILL(p, far);
    uint32_t seed = p->parts->vertex_first[part];
    double most = -1.0;
    for (uint32_t v = seed; v < p->parts->vertex_first[part + 1]; v++) {
        double least = INFINITY;
        for (uint32_t e = p->entry_first[part]; e < p->entry_first[part + 1]; e++)
            least = fmin(least, far[at[e] + (int32_t)v]);
        if (least > most) {
            most = least;
            seed = v;
        }
    }
    return seed;
}

// Distances to the loops of a part and the orders by them; its seed, the order from there, and of a
// leaf the distances to it.
static cutis_result fill_part_distances(packing *p, uint32_t part, distance_scratch *scratch)
{
    const patch_pieces *parts = p->parts;
    const uint32_t first = parts->vertex_first[part];
    const uint32_t count = parts->vertex_first[part + 1] - first;
    const int32_t *at = FILL(p, entry_at);
    double *far = FILL(p, far), *tip = FILL(p, vertex_tip);
    int32_t *order = FILL(p, order), *seed = FILL(p, part_seed), *leaf = FILL(p, part_is_leaf);
    int32_t *seed_order = FILL(p, seed_order);
    for (uint32_t e = p->entry_first[part]; e < p->entry_first[part + 1]; e++) {
        const patch_loop *loop = &p->body->loops[p->entry_joint[e]];
        const size_t begin = (uint32_t)(at[e] + (int32_t)first);
        for (uint32_t k = 0; k < loop->count; k++)
            scratch->sources[k] =
                parts->loop_copies[2 * (size_t)(loop->first + k) + p->entry_side[e]];
        TRY(cutis_patch_distances(p->body, parts, part, scratch->sources, loop->count,
                                  far + begin));
        sort_by_distance(far + begin, first, count, scratch->sorted, order + begin);
    }
    scratch->sources[0] = find_seed(p, part);
    seed[part] = (int32_t)scratch->sources[0];
    TRY(cutis_patch_distances(p->body, parts, part, scratch->sources, 1, scratch->seed));
    sort_by_distance(scratch->seed, first, count, scratch->sorted, seed_order + first);
    leaf[part] = p->entry_first[part + 1] - p->entry_first[part] == 1;
    for (uint32_t v = 0; v < count; v++) tip[first + v] = leaf[part] ? scratch->seed[v] : 0.0;
    return CUTIS_OK;
}

// Distances are for cuts: of a whole body there are none.
static cutis_result fill_distances(packing *p)
{
    const patch_body *body = p->body;
    const size_t vertices = p->parts->vertex_count;
    distance_scratch scratch = {
        .sorted = cutis_arena_alloc(body->arena, vertices, sizeof *scratch.sorted),
        .sources =
            cutis_arena_alloc(body->arena, p->place_count + (size_t)1, sizeof *scratch.sources),
        .seed = cutis_arena_alloc(body->arena, vertices, sizeof *scratch.seed),
    };
    if (!scratch.sorted || !scratch.sources || !scratch.seed)
        return cutis_alloc_result(body->context);
    for (uint32_t part = 0; part < body->part_count; part++) {
        if (!p->out->arguments.whole) TRY(fill_part_distances(p, part, &scratch));
        TRY(cutis_progress(body->context, "binding", (part + 1.0) / body->part_count));
    }
    return CUTIS_OK;
}

// What has no direction points up.
static vec3 unit(vec3 v)
{
    double length = v3_length(v);
    return length > 0.0 ? v3_divide(v, length) : v3(0, 1, 0);
}

void cutis_patch_loop_plane(const patch_body *body, uint32_t joint, double *normal, double *width)
{
    const patch_loop *loop = &body->loops[joint];
    const uint32_t *at = body->loop_vertices + loop->first;
    double mean[3] = { 0 }, square[6] = { 0 }, values[3], vectors[9], area[3] = { 0 };
    for (uint32_t i = 0; i < loop->count; i++)
        for (int k = 0; k < 3; k++) mean[k] += body->points[3 * (size_t)at[i] + k] / loop->count;
    for (uint32_t i = 0; i < loop->count; i++) {
        const double *x = body->points + 3 * (size_t)at[i];
        const double *y = body->points + 3 * (size_t)at[(i + 1) % loop->count];
        double a[3];
        v3_put(v3_sub(v3_of(x), v3_of(mean)), a);
        v3_sum(area, v3_cross(v3_of(a), v3_sub(v3_of(y), v3_of(mean))));
        for (int r = 0, k = 0; r < 3; r++)
            for (int c = r; c < 3; c++, k++) square[k] += a[r] * a[c] / loop->count;
    }
    cutis_eigen3(square, values, vectors);
    double sign = double3_dot(vectors + 6, area) < 0.0 ? -1.0 : 1.0;
    v3_put(v3_scale(v3_of(vectors + 6), sign), normal);
    *width = sqrt(2.0 * fmax(values[1], 0.0));
}

// Along the limb: from the parent's middle to the joint to the child's. A parent with three joints
// or more (trunk, palm) has no direction of its own: the loop's normal stands for it.
static void fit_limb(const packing *p, uint32_t joint, const double *normal, double *limb)
{
    const patch_loop *loop = &p->body->loops[joint];
    vec3 centre = v3_of(p->body->centres + 3 * (size_t)joint), along = v3_of(normal);
    uint32_t joints = p->entry_first[loop->parent + 1] - p->entry_first[loop->parent];
    vec3 a = joints >= 3 ? along : v3_sub(centre, v3_of(p->parts->shapes[loop->parent].centroid));
    vec3 b = v3_sub(v3_of(p->parts->shapes[loop->child].centroid), centre);
    vec3 sum = v3_add(unit(a), unit(b));
    v3_put(unit(v3_dot(sum, sum) < 1e-6 ? along : sum), limb);
}

// For every shift k of a loop the sum of y[i + k] y[i]^T, from which a frame finds the best one.
static void fill_shifts(const packing *p, uint32_t joint)
{
    const patch_loop *loop = &p->body->loops[joint];
    const uint32_t *at = p->body->loop_vertices + loop->first;
    const double *centre = p->body->centres + 3 * (size_t)joint;
    for (uint32_t k = 0; k < loop->count; k++) {
        double *out = (double *)FILL(p, loop_shift) + 9 * (size_t)(loop->first + k);
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
    pvec *centre = FILL(p, joint_centre), *limb = FILL(p, joint_limb),
         *plane = FILL(p, joint_plane);
    double *width = FILL(p, joint_width), *step = FILL(p, joint_step);
    for (uint32_t j = 0; j < body->loop_count; j++) {
        const patch_loop *loop = &body->loops[j];
        memcpy(&centre[j], body->centres + 3 * (size_t)j, sizeof *centre);
        cutis_patch_loop_plane(body, j, &plane[j].x, &width[j]);
        fit_limb(p, j, &plane[j].x, &limb[j].x);
        fill_shifts(p, j);
        step[j] = 0.5 * (p->parts->shapes[loop->parent].step + p->parts->shapes[loop->child].step);
    }
}

static void fill_parts(packing *p)
{
    double *step = FILL(p, part_step), *most = FILL(p, part_edge_most);
    double *volume = FILL(p, part_volume);
    pvec *centroid = FILL(p, part_centroid);
    patch_box *box = FILL(p, part_box);
    for (uint32_t part = 0; part < p->body->part_count; part++) {
        const patch_shape *shape = &p->parts->shapes[part];
        step[part] = shape->step;
        most[part] = longest_edge(p->parts, part);
        volume[part] = shape->volume;
        memcpy(&centroid[part], shape->centroid, sizeof *centroid);
        memcpy(box[part].axis, shape->axes, sizeof box->axis);
        memcpy(box[part].low, shape->low, sizeof box->low);
        memcpy(box[part].high, shape->high, sizeof box->high);
    }
}

static void fill_conics(const packing *p)
{
    double *table = FILL(p, conic_weight);
    for (int i = 0; i <= PATCH_CONIC_STEPS; i++) {
        double g = i / (double)PATCH_CONIC_STEPS, low = 0.0, high = 1e6;
        for (int k = 0; k < 200 && high - low > 1e-14 * high; k++) {
            double middle = 0.5 * (low + high);
            if (patch_conic_share(middle) < g)
                low = middle;
            else
                high = middle;
        }
        table[i] = i == 0 ? 0.0 : fmin(0.5 * (low + high), 1e3);
    }
}

static cutis_result place_all(packing *p)
{
    const patch_body *body = p->body;
    patch_arguments *a = &p->out->arguments;
    if (!cutis_patch_places(false, p->out->counts, a->whole, &a->at, &p->out->body_units) ||
        !cutis_patch_places(true, p->out->counts, a->whole, &a->at, &a->work_stride))
        return cutis_fail(body->context, CUTIS_LIMIT_EXCEEDED, "the mesh is too large for patches");
    a->part_count = (int)body->part_count;
    a->joint_count = (int)body->loop_count;
    a->vertex_count = (int)p->parts->vertex_count;
    a->face_count = (int)body->face_count;
    a->rest_count = (int)body->output_count;
    a->diagonal = body->diagonal;
    a->eps = 1e-6 * body->diagonal; // so that nothing is removed at rest
    p->out->body = cutis_arena_zero(body->arena, p->out->body_units, PATCH_UNIT);
    return p->out->body ? CUTIS_OK : cutis_alloc_result(body->context);
}

static cutis_result fill_all(packing *p, const patch_bands *bands)
{
    p->out->arguments.whole = cutis_patch_bands_whole(p->body, bands);
    if (p->parts->detached != UINT32_MAX && !p->out->arguments.whole)
        return UNSUPPORTED(p->body->context,
                           "part %s is in several pieces, which only joints that all bend in bands "
                           "allow (a second loop between two parts has none)",
                           patch_part_name(p->body, p->parts->detached));
    TRY(list_entries(p));
    TRY(count_all(p, bands));
    TRY(place_all(p));
    fill_topology(p);
    fill_entries(p);
    fill_joint_ranges(p);
    fill_joints(p);
    fill_parts(p);
    fill_conics(p);
    TRY(fill_distances(p));
    cutis_patch_pack_bands(p->body, p->parts, bands, p->out);
    TRY(cutis_patch_pack_whole(p->body, p->parts, bands, p->out));
    return cutis_patch_pack_rest(p->body, p->parts, p->out);
}

cutis_result cutis_patch_pack_make(const patch_body *body, const patch_pieces *parts, int box,
                                   int fill, bool band, patch_pack *out)
{
    packing p = { .body = body, .parts = parts, .out = out };
    patch_bands bands;
    *out = (patch_pack){ .arguments = { .box = box, .fill = fill } };
    cutis_result result = cutis_patch_bands_make(body, parts, band, &bands);
    if (result == CUTIS_OK) result = cutis_patch_bands_turn(body, parts, &bands);
    if (result == CUTIS_OK) result = fill_all(&p, &bands);
    cutis_patch_bands_release(body, &bands);
    return result;
}
