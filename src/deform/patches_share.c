/// Shares of the bends of joints, made when a body is packed (docs/spec/patches.md B0): a field
/// over the surface for every joint, 0 on its parent's side, 1 on its child's, in between over a
/// band that is as long as the joint is thick and goes on over other joints of its limb.
///
/// Invariant: copies of a vertex in two parts have the same shares, unless they are of a seam;
/// shares are 0 or 1 at seams and in limbs that branch off.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "deform/patches_pack.h"
#include "geometry/heap.h"
#include "kernel/patches.h"

// Length of a band on one side, in shorter half axes of the loop. A round limb bends by a right
// angle without a fold from 1.04 on; much longer, thighs look like hoses.
static const double BAND_GIRTH = 2.3;
// The same in distances of the loop from the joint: of thin loops that turn about a joint far from
// them (eyelids, lips), the band must take the way that the loop goes.
static const double BAND_LEVER = 0.7;
// The same in edges at the loop: where the mesh is coarse beside the limb, every edge had a bend
// that is seen. An edge has 7/12 of the bend over the length of the band in edges, 2 / pi of that
// in the mean around a limb: a tenth of the bend with 3.7 edges, and edges are not all of one
// length.
static const double BAND_EDGES = 6.0;
// How far a band goes on the way to where a limb branches off or a seam is, and to a limb's tip.
static const double STOP_BRANCH = 0.9, STOP_TIP = 0.8;
// How long a band is at least where a limb branches off nearby, in what the girth wants: with none
// webs between fingers, the groin, eyelids and lips bent within an edge or two.
static const double OVER_BRANCH = 0.75;
// How much longer ways are in limbs that branch off: a bent thigh takes the other along at the
// groin, and not further down.
static const double STEPS_BESIDE = 2.0;
// What a side gets of the length that the other has no space for. With all of it thighs, whose
// bands end at the groin on the other side, bent over their whole length, with a ledge in front.
static const double BAND_GIVEN = 0.3;
// The three above where a child is too short to bend (eyelids, lips, toes): it is the skin around
// it that must, limbs beside it too, as far as the band wants.
static const double OVER_SHORT = 2.0, STEPS_SHORT = 1.0, GIVEN_SHORT = 1.0;
static const double CROWDING_LEAST = 1e-3; // less is none: distances are not looked for twice
// How far the middle of a band lies from the loop on the way to the plane through the joint, and
// how much that may be of a band's length. With all of the way steep slopes came up between limbs.
static const double BAND_SHIFT = 0.5, SHIFT_MOST = 0.7;
static const int SMOOTH_PASSES = 24; // geodesic distances over edges are jagged by a few percent
// What an edge weighs in it: between these, however flat its faces are.
static const double COTANGENT_LEAST = 0.05, COTANGENT_MOST = 1e6;
static const double SHARE_LEAST =
    1e-4;                              // below it is none: a right angle moves by 2e-4 of the girth
static const double LOOP_LEAST = 1e-3; // a loop is in the band, wherever that ends

enum node_kind { NODE_IN, NODE_FIXED, NODE_LOOP };

typedef struct sharing {
    const patch_body *body;
    const patch_pieces *parts;
    patch_bands *out;
    uint32_t *node;   // per part vertex: the one that stands for it and for its copy
    int32_t *copy;    // per part vertex: the other one of a joint's loop, or -1
    int32_t *sides;   // per part: its side of the joint at hand
    uint8_t *beside;  // per part: is it of a limb that branches off on the parent's side?
    uint8_t *kind;    // per node
    double *far;      // per node: distance to the loop
    uint32_t *origin; // and the node of the loop that is nearest
    double *stop;     // per node: distance to where the band must have ended
    double *limit;    // per node and side: how long the band may be
    double *share, *other, *area;
    double *near;    // per edge: what a neighbour over it weighs
    uint32_t *list;  // nodes of the band
    double most;     // length of the band on a side, as the joint's girth wants it
    double crowding; // how much of that the child has no space for: 0 none to 1 all
    uint32_t joint;  // at hand
    pvec shift;      // of how far a point is from the joint, its middle is as far from the loop
    pvec *slope;
    int32_t *at; // per part vertex: 0 in the band of the joint at hand, 1 beside it, or -1
} sharing;

static int32_t side_of(const sharing *s, uint32_t v)
{
    return s->sides[s->parts->vertex_part[v]];
}

// Which parts are on which side of a joint: its child's limb, and all others, of which those above
// it are no limbs beside.
static void find_sides(const sharing *s, uint32_t joint)
{
    const patch_loop *loops = s->body->loops;
    for (uint32_t p = 0; p < s->body->part_count; p++) s->sides[p] = 0, s->beside[p] = 1;
    for (uint32_t p = loops[joint].parent;; p = loops[s->out->tree[p]].parent) {
        s->beside[p] = 0;
        if (s->out->tree[p] < 0) break;
    }
    for (uint32_t p = 0; p < s->body->part_count; p++) {
        uint32_t above = p;
        while (above != loops[joint].child && s->out->tree[above] >= 0)
            above = loops[s->out->tree[above]].parent;
        if (above == loops[joint].child) s->sides[p] = 1, s->beside[p] = 0;
    }
}

// What holds where the child has space, and where it has none, by how much it has.
static double by_crowding(const sharing *s, double roomy, double crowded)
{
    return roomy + s->crowding * (crowded - roomy);
}

static void find_kinds(const sharing *s, uint32_t joint)
{
    for (uint32_t v = 0; v < s->parts->vertex_count; v++) {
        const int32_t loop = s->parts->vertex_loop[v];
        s->kind[v] = loop >= 0 && s->body->loops[loop].seam ? NODE_FIXED : NODE_IN;
        if (loop == (int32_t)joint) s->kind[v] = NODE_LOOP;
    }
}

// From the nodes that are in the heap over the nodes of the band, at most `most` far. Nodes of the
// loop and fixed ones are reached and not passed.
static bool march(const sharing *s, cutis_heap *heap, double most, double *distance)
{
    const patch_pieces *parts = s->parts;
    const double steps = by_crowding(s, STEPS_BESIDE, STEPS_SHORT);
    while (heap->count > 0) {
        const cutis_waiting now = cutis_heap_pop(heap);
        if (now.distance > distance[now.vertex]) continue; // a shorter way was found since
        if (now.distance > most) continue;
        if (now.distance > 0.0 && s->kind[now.vertex] != NODE_IN) continue;
        const uint32_t both[2] = { now.vertex, (uint32_t)s->copy[now.vertex] };
        for (int c = 0; c < (s->copy[now.vertex] >= 0 ? 2 : 1); c++)
            for (uint32_t k = parts->ring_first[both[c]]; k < parts->ring_first[both[c] + 1]; k++) {
                const uint32_t u = s->node[parts->ring[k]];
                const double edge = parts->edge_lengths[parts->ring_edge[k]];
                const bool beside = s->beside[parts->vertex_part[both[c]]];
                const double d = now.distance + (beside ? steps * edge : edge);
                if (!(d < distance[u])) continue;
                distance[u] = d;
                if (distance == s->far) s->origin[u] = s->origin[now.vertex];
                if (!cutis_heap_push(heap, d, u)) return false;
            }
    }
    return true;
}

static void forget(const sharing *s, double *distance)
{
    for (uint32_t v = 0; v < s->parts->vertex_count; v++) distance[v] = INFINITY;
}

static bool start(cutis_heap *heap, double *distance, uint32_t node)
{
    distance[node] = 0.0;
    return cutis_heap_push(heap, 0.0, node);
}

// The tip of a part with one loop: its vertex farthest from the joint.
static uint32_t tip_of(const sharing *s, uint32_t part)
{
    uint32_t tip = s->parts->skin_first[part];
    for (uint32_t v = tip; v < s->parts->vertex_first[part + 1]; v++)
        if (isfinite(s->far[s->node[v]]) && !(s->far[s->node[v]] <= s->far[s->node[tip]])) tip = v;
    return s->node[tip];
}

// Bands end on the way to what stops them, `reach` of it; where that is short, at `least`.
static void lower_limits(const sharing *s, int side, double reach, double least)
{
    const patch_loop *loop = &s->body->loops[s->joint];
    const double step = s->parts->shapes[side ? loop->child : loop->parent].step;
    for (uint32_t v = 0; v < s->parts->vertex_count; v++) {
        double *limit = &s->limit[2 * (size_t)v + side];
        if (isfinite(s->stop[v]))
            *limit = fmin(*limit, fmax(reach * (s->far[v] + s->stop[v] - step), least));
    }
}

// A vertex of a loop where a limb branches off?
static bool is_branch(const sharing *s, uint32_t v)
{
    const uint32_t *part = s->parts->vertex_part;
    return s->copy[v] >= 0 && s->beside[part[v]] != s->beside[part[s->copy[v]]];
}

// Where bands end on a side: before seams, branches and tips.
static bool find_limits(const sharing *s, int side)
{
    enum { SEAMS, BRANCHES, TIPS, STOPS };
    static const double *const REACH[STOPS] = { &STOP_BRANCH, &STOP_BRANCH, &STOP_TIP };
    const patch_pieces *parts = s->parts;
    const double over = by_crowding(s, OVER_BRANCH, OVER_SHORT) * s->most;
    cutis_heap heap = { .context = s->body->context };
    bool good = true;
    for (int stop = 0; stop < STOPS && good; stop++) {
        forget(s, s->stop);
        for (uint32_t v = 0; v < parts->vertex_count && stop != TIPS && good; v++)
            if (s->node[v] == v && side_of(s, v) == side &&
                (stop == SEAMS ? s->kind[v] == NODE_FIXED : is_branch(s, v)))
                good = start(&heap, s->stop, v);
        for (uint32_t p = 0; p < s->body->part_count && stop == TIPS && good; p++)
            if (s->sides[p] == side && s->out->loop_counts[p] == 1)
                good = start(&heap, s->stop, tip_of(s, p));
        good = good && march(s, &heap, 3.0 * s->most, s->stop);
        lower_limits(s, side, *REACH[stop], stop == BRANCHES ? over : 0.0);
    }
    cutis_heap_release(&heap);
    return good;
}

static bool find_distances(const sharing *s)
{
    const patch_loop *loop = &s->body->loops[s->joint];
    const double most = s->most;
    cutis_heap heap = { .context = s->body->context };
    bool good = true;
    forget(s, s->far);
    for (uint32_t k = 0; k < loop->count && good; k++) {
        const uint32_t v = s->parts->loop_copies[2 * (size_t)(loop->first + k)];
        s->origin[v] = v;
        good = start(&heap, s->far, v);
    }
    good = good && march(s, &heap, 2.0 * most, s->far);
    cutis_heap_release(&heap);
    for (size_t v = 0; v < 2 * (size_t)s->parts->vertex_count; v++) s->limit[v] = 2.0 * most;
    return good && find_limits(s, 0) && find_limits(s, 1);
}

// How much of the band the child has no space for, in the mean around the loop.
static double find_crowding(const sharing *s)
{
    const patch_loop *loop = &s->body->loops[s->joint];
    double space = 0.0;
    for (uint32_t k = 0; k < loop->count; k++) {
        const uint32_t v = s->parts->loop_copies[2 * (size_t)(loop->first + k)];
        space += fmin(fmax(s->limit[2 * (size_t)v + 1], 0.0), s->most);
    }
    const double missing = 1.0 - space / (loop->count * s->most);
    return missing > CROWDING_LEAST ? missing : 0.0;
}

static pvec point_of(const sharing *s, uint32_t v)
{
    pvec x;
    memcpy(&x, s->body->points + 3 * (size_t)s->parts->welded[v], sizeof x);
    return x;
}

static pvec centre_of(const sharing *s)
{
    pvec centre;
    memcpy(&centre, s->body->centres + 3 * (size_t)s->joint, sizeof centre);
    return centre;
}

// How far the points of the loop are from the joint.
static double lever_of(const sharing *s)
{
    const patch_loop *loop = &s->body->loops[s->joint];
    double sum = 0.0;
    for (uint32_t k = 0; k < loop->count; k++) {
        const pvec x = pvec_minus(point_of(s, s->parts->loop_copies[2 * (size_t)(loop->first + k)]),
                                  centre_of(s));
        sum += pvec_dot(x, x);
    }
    return sqrt(sum / loop->count);
}

// How long edges at the loop are, in the mean.
static double edge_at_loop(const sharing *s)
{
    const patch_pieces *parts = s->parts;
    const patch_loop *loop = &s->body->loops[s->joint];
    double sum = 0.0, count = 0.0;
    for (uint32_t i = 2 * loop->first; i < 2 * (loop->first + loop->count); i++) {
        const uint32_t v = parts->loop_copies[i];
        for (uint32_t k = parts->ring_first[v]; k < parts->ring_first[v + 1]; k++) {
            sum += parts->edge_lengths[parts->ring_edge[k]];
            count += 1.0;
        }
    }
    return count > 0.0 ? sum / count : 0.0;
}

// Bands lie on both sides of where the joint bends, which need not be at its loop. A joint beside
// its loop says nothing of that: where its section has no centre on the axis, turning costs volume.
static void find_shift(sharing *s, double width)
{
    const patch_loop *loop = &s->body->loops[s->joint];
    const pvec centre = centre_of(s);
    pvec child, mean = pvec_make(0, 0, 0);
    memcpy(&child, s->parts->shapes[loop->child].centroid, sizeof child);
    for (uint32_t k = 0; k < loop->count; k++)
        mean = pvec_plus(mean, point_of(s, s->parts->loop_copies[2 * (size_t)(loop->first + k)]));
    mean = pvec_minus(pvec_times(mean, 1.0 / loop->count), centre);
    const pvec limb = pvec_unit(pvec_minus(child, centre));
    const double aside =
        pvec_length(pvec_minus(mean, pvec_times(limb, pvec_dot(limb, mean)))) / fmax(width, 1e-150);
    s->shift = pvec_times(limb, BAND_SHIFT * fmax(1.0 - aside, 0.0));
}

// How far the band's middle is from a vertex of the loop, towards the parent.
static double shift_at(const sharing *s, uint32_t v)
{
    const double shift = pvec_dot(s->shift, pvec_minus(point_of(s, v), centre_of(s)));
    return fmin(fmax(shift, -SHIFT_MOST * s->most), SHIFT_MOST * s->most);
}

// How long the band is at a vertex on a side: as the girth wants, and some of what is missing on
// the other.
static double length_of(const sharing *s, uint32_t v, int side)
{
    const double shift = side ? -shift_at(s, s->origin[v]) : shift_at(s, s->origin[v]);
    const double other = fmax(s->limit[2 * (size_t)s->origin[v] + (size_t)(1 - side)], 0.0);
    const double given = by_crowding(s, BAND_GIVEN, GIVEN_SHORT);
    const double wanted = s->most + shift + given * fmax(s->most - shift - other, 0.0);
    return fmax(fmin(s->limit[2 * (size_t)v + (size_t)side], wanted), 0.0);
}

// The share of the loop where a vertex is nearest to it: by how long the band is there on both
// sides, so that bends go on evenly over the loop.
static double loop_share(const sharing *s, uint32_t v)
{
    const double parent = length_of(s, s->origin[v], 0), child = length_of(s, s->origin[v], 1);
    return parent + child > 0.0 ? parent / (parent + child) : 0.5;
}

// From 0 to 1, straight over the loop and level at the end.
static double ease_of(double x)
{
    const double square = x * x;
    return x * (7.0 - square * square * square) / 6.0;
}

static void fill_shares(const sharing *s)
{
    for (uint32_t v = 0; v < s->parts->vertex_count; v++) {
        const int32_t side = side_of(s, v);
        s->share[v] = side > 0 ? 1.0 : 0.0;
        if (s->kind[v] == NODE_LOOP && s->node[v] == v)
            s->share[v] = fmin(fmax(loop_share(s, v), LOOP_LEAST), 1.0 - LOOP_LEAST);
        if (s->kind[v] != NODE_IN) continue;
        if (!(s->far[v] < 2.0 * s->most)) continue;
        const double length = length_of(s, v, side);
        if (!(s->far[v] < length)) continue;
        const double ease = ease_of(s->far[v] / length);
        const double share = loop_share(s, v);
        s->share[v] = side ? 1.0 - (1.0 - share) * (1.0 - ease) : share * (1.0 - ease);
    }
}

static bool is_between(double share)
{
    return share > 0.0 && share < 1.0;
}

// The mean of a node's neighbours. Were all worth the same, the bend would be shared out by edges,
// and one a tenth as long as its neighbours would have as much of it as they.
static double mean_around(const sharing *s, uint32_t v)
{
    const patch_pieces *parts = s->parts;
    const uint32_t both[2] = { v, (uint32_t)s->copy[v] };
    double sum = 0.0, total = 0.0;
    for (int c = 0; c < (s->copy[v] >= 0 ? 2 : 1); c++)
        for (uint32_t k = parts->ring_first[both[c]]; k < parts->ring_first[both[c] + 1]; k++) {
            const double weight = s->near[parts->ring_edge[k]];
            sum += weight * s->share[s->node[parts->ring[k]]];
            total += weight;
        }
    return sum / total;
}

// Geodesic distances over edges are jagged by a few percent.
static void smooth(const sharing *s)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < s->parts->vertex_count; v++)
        if (s->node[v] == v && is_between(s->share[v])) s->list[count++] = v;
    for (int pass = 0; pass < SMOOTH_PASSES; pass++) {
        for (uint32_t i = 0; i < count; i++)
            s->other[i] = 0.5 * s->share[s->list[i]] + 0.5 * mean_around(s, s->list[i]);
        for (uint32_t i = 0; i < count; i++) s->share[s->list[i]] = s->other[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        double *share = &s->share[s->list[i]];
        if (*share < SHARE_LEAST) *share = 0.0;
        if (*share > 1.0 - SHARE_LEAST) *share = 1.0;
    }
}

// The gradient of the shares over a face, times twice its area.
// @return twice the area
static double face_slope(const sharing *s, const uint32_t *v, pvec *slope)
{
    pvec x[3], e = pvec_make(0, 0, 0);
    for (int k = 0; k < 3; k++) x[k] = point_of(s, v[k]);
    const pvec n = pvec_cross(pvec_minus(x[1], x[0]), pvec_minus(x[2], x[0]));
    const double twice = pvec_length(n);
    for (int k = 0; k < 3; k++) // n / |n| x (sum of shares times opposite edges)
        e = pvec_plus(
            e, pvec_times(pvec_minus(x[(k + 2) % 3], x[(k + 1) % 3]), s->share[s->node[v[k]]]));
    *slope = pvec_times(pvec_cross(n, e), twice > 0.0 ? 1.0 / twice : 0.0);
    return twice;
}

// Gradients of the shares, from the faces around a vertex by their areas, in all parts.
static void fill_slopes(const sharing *s)
{
    const patch_pieces *parts = s->parts;
    memset(s->area, 0, parts->vertex_count * sizeof *s->area);
    memset(s->slope, 0, parts->vertex_count * sizeof *s->slope);
    for (uint32_t p = 0; p < s->body->part_count; p++)
        for (uint32_t f = parts->face_first[p]; f < parts->face_first[p + 1]; f++) {
            const uint32_t *v = parts->faces + 3 * (size_t)f;
            const uint32_t n[3] = { s->node[v[0]], s->node[v[1]], s->node[v[2]] };
            pvec slope;
            if (!is_between(s->share[n[0]]) && !is_between(s->share[n[1]]) &&
                !is_between(s->share[n[2]]))
                continue;
            const double area = face_slope(s, v, &slope);
            for (int k = 0; k < 3; k++) {
                s->area[n[k]] += area;
                s->slope[n[k]] = pvec_plus(s->slope[n[k]], slope);
            }
        }
}

static cutis_result add_item(const sharing *s, uint32_t joint, uint32_t v, double share, pvec slope)
{
    patch_bands *out = s->out;
    if (!cutis_grow(s->body->context, &out->items, &out->item_room, out->item_count + 1,
                    sizeof *out->items))
        return cutis_alloc_result(s->body->context);
    out->items[out->item_count++] =
        (patch_item){ .joint = joint,
                      .vertex = v,
                      .side = (uint32_t)s->sides[s->parts->vertex_part[v]],
                      .share = share,
                      .slope = slope };
    return CUTIS_OK;
}

static cutis_result add_items(const sharing *s, uint32_t joint)
{
    for (uint32_t v = 0; v < s->parts->vertex_count; v++) {
        const uint32_t n = s->node[v];
        s->at[v] = -1;
        if (!is_between(s->share[n])) continue;
        const pvec slope = pvec_times(s->slope[n], s->area[n] > 0.0 ? 1.0 / s->area[n] : 0.0);
        s->at[v] = 0;
        TRY(add_item(s, joint, v, s->share[n], slope));
    }
    return CUTIS_OK;
}

// For one more face.
static cutis_result make_room(const sharing *s)
{
    patch_bands *out = s->out;
    return cutis_grow(s->body->context, &out->corners, &out->corner_room, 3 * (out->face_count + 1),
                      sizeof *out->corners)
               ? CUTIS_OK
               : cutis_alloc_result(s->body->context);
}

// Faces up to a whole block of them, of one vertex each: they enclose nothing, exactly.
static cutis_result fill_block(const sharing *s, uint32_t first)
{
    patch_bands *out = s->out;
    while ((out->face_count - first) % PATCH_FACE_BLOCK != 0) {
        TRY(make_room(s));
        for (size_t k = 0; k < 3; k++)
            out->corners[3 * out->face_count + k] = out->corners[3 * (size_t)first];
        out->face_count++;
    }
    return CUTIS_OK;
}

// Faces that the band moves. Corners that follow the child whole, beyond further joints, and those
// in limbs beside that do not follow are items too: where they are when this joint turns depends on
// other joints.
static cutis_result add_faces(const sharing *s, uint32_t joint)
{
    const patch_pieces *parts = s->parts;
    patch_bands *out = s->out;
    out->face_first[joint] = (uint32_t)out->face_count;
    for (uint32_t f = 0; f < s->body->face_count; f++) {
        const uint32_t *v = parts->faces + 3 * (size_t)f, part = parts->vertex_part[v[0]];
        if (s->at[v[0]] != 0 && s->at[v[1]] != 0 && s->at[v[2]] != 0) continue;
        TRY(make_room(s));
        for (int k = 0; k < 3; k++) {
            out->corners[3 * out->face_count + (size_t)k] = (int)v[k];
            const bool whole = s->sides[part] == 1 && part != s->body->loops[joint].child;
            if (s->at[v[k]] >= 0 || (!whole && !s->beside[part])) continue;
            s->at[v[k]] = 1;
            TRY(add_item(s, joint, v[k], whole ? 1.0 : 0.0, pvec_make(0, 0, 0)));
        }
        out->face_count++;
    }
    return fill_block(s, out->face_first[joint]);
}

static cutis_result share_joint(sharing *s, uint32_t joint)
{
    double normal[3], width;
    cutis_patch_loop_plane(s->body, joint, normal, &width);
    find_sides(s, joint);
    find_kinds(s, joint);
    s->joint = joint;
    s->out->joints[joint].girth =
        fmax(fmax(width, BAND_LEVER * lever_of(s)), BAND_EDGES / BAND_GIRTH * edge_at_loop(s));
    s->most = BAND_GIRTH * s->out->joints[joint].girth;
    find_shift(s, width);
    s->crowding = 0.0;
    bool good = find_distances(s);
    s->crowding = find_crowding(s);
    if (good && s->crowding > 0.0) good = find_distances(s);
    if (!good) return cutis_alloc_result(s->body->context);
    fill_shares(s);
    smooth(s);
    fill_slopes(s);
    TRY(add_items(s, joint));
    return add_faces(s, joint);
}

// Vertices of a joint's loop are one in both parts, and parts a tree.
static void join_copies(const sharing *s)
{
    const patch_body *body = s->body;
    for (uint32_t p = 0; p < body->part_count; p++)
        s->out->tree[p] = -1, s->out->loop_counts[p] = 0;
    for (uint32_t v = 0; v < s->parts->vertex_count; v++) s->copy[v] = -1, s->node[v] = v;
    for (uint32_t j = 0; j < body->loop_count; j++) {
        const patch_loop *loop = &body->loops[j];
        s->out->loop_counts[loop->parent]++;
        s->out->loop_counts[loop->child]++;
        if (loop->seam) continue;
        s->out->tree[loop->child] = (int32_t)j;
        for (uint32_t k = 0; k < loop->count; k++) {
            const uint32_t *c = s->parts->loop_copies + 2 * (size_t)(loop->first + k);
            s->copy[c[0]] = (int32_t)c[1];
            s->copy[c[1]] = (int32_t)c[0];
            s->node[c[1]] = c[0];
        }
    }
}

// What neighbours weigh: by the cotangents of the two angles across an edge, which leave alone what
// grows evenly over the surface, however edges lie.
static void weigh_edges(const sharing *s)
{
    const patch_pieces *parts = s->parts;
    memset(s->near, 0, parts->edge_count * sizeof *s->near);
    for (uint32_t f = 0; f < s->body->face_count; f++)
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t *v = parts->faces + 3 * (size_t)f;
            const pvec top = point_of(s, v[(k + 2) % 3]);
            const pvec a = pvec_minus(point_of(s, v[k]), top);
            const pvec b = pvec_minus(point_of(s, v[(k + 1) % 3]), top);
            const double area = pvec_length(pvec_cross(a, b));
            s->near[parts->face_edges[3 * (size_t)f + k]] +=
                fmin(pvec_dot(a, b) / fmax(area, 1e-300), COTANGENT_MOST);
        }
    for (uint32_t e = 0; e < parts->edge_count; e++) s->near[e] = fmax(s->near[e], COTANGENT_LEAST);
}

static cutis_result allocate(const patch_body *body, size_t count, sharing *s)
{
    cutis_arena *arena = body->arena;
    patch_bands *out = s->out;
    out->face_first = cutis_arena_zero(arena, body->loop_count + (size_t)1, sizeof(uint32_t));
    out->joints = cutis_arena_zero(arena, body->loop_count + (size_t)1, sizeof *out->joints);
    out->tree = cutis_arena_zero(arena, body->part_count, sizeof *out->tree);
    out->loop_counts = cutis_arena_zero(arena, body->part_count, sizeof *out->loop_counts);
    s->node = cutis_arena_alloc(arena, count, sizeof *s->node);
    s->origin = cutis_arena_alloc(arena, count, sizeof *s->origin);
    s->copy = cutis_arena_alloc(arena, count, sizeof *s->copy);
    s->sides = cutis_arena_alloc(arena, body->part_count, sizeof *s->sides);
    s->beside = cutis_arena_alloc(arena, body->part_count, sizeof *s->beside);
    s->kind = cutis_arena_alloc(arena, count, sizeof *s->kind);
    s->limit = cutis_arena_alloc(arena, 2 * count, sizeof *s->limit);
    s->slope = cutis_arena_alloc(arena, count, sizeof *s->slope);
    s->at = cutis_arena_alloc(arena, count, sizeof *s->at);
    s->list = cutis_arena_alloc(arena, count, sizeof *s->list);
    s->near = cutis_arena_alloc(arena, s->parts->edge_count, sizeof *s->near);
    double **const reals[] = { &s->far, &s->stop, &s->share, &s->other, &s->area };
    bool good = out->face_first && out->joints && out->tree && out->loop_counts && s->node &&
                s->origin && s->copy && s->sides && s->beside && s->kind && s->limit && s->slope &&
                s->at && s->list && s->near;
    for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) {
        *reals[k] = cutis_arena_alloc(arena, count, sizeof **reals[k]);
        good = good && *reals[k];
    }
    return good ? CUTIS_OK : cutis_alloc_result(body->context);
}

cutis_result cutis_patch_bands_make(const patch_body *body, const patch_pieces *parts, bool wanted,
                                    patch_bands *out)
{
    *out = (patch_bands){ 0 };
    sharing s = { .body = body, .parts = parts, .out = out };
    TRY(allocate(body, parts->vertex_count, &s));
    join_copies(&s);
    weigh_edges(&s);
    for (uint32_t j = 0; j < body->loop_count; j++) {
        out->joints[j].there = wanted && !body->loops[j].seam;
        out->face_first[j] = (uint32_t)out->face_count;
        if (out->joints[j].there) TRY(share_joint(&s, j));
    }
    out->face_first[body->loop_count] = (uint32_t)out->face_count;
    return CUTIS_OK;
}

void cutis_patch_bands_release(const patch_body *body, patch_bands *bands)
{
    cutis_free_array(body->context, bands->items, bands->item_room, sizeof *bands->items);
    cutis_free_array(body->context, bands->corners, bands->corner_room, sizeof *bands->corners);
}
