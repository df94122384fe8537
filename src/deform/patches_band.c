/// The bands in which joints bend softly (kernel/patches_band.h), made when a body is packed: which
/// joint bends a vertex, by what share, how that share changes over the surface, and per joint what
/// its volume depends on. Invariant: bands do not overlap, the two copies of a loop vertex
/// have the same share, and vertices outside of bands are rigid (docs/spec/patches.md B0).
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "deform/patches_pack.h"
#include "kernel/patches.h"

// Length of a band on one side, in shorter half axes of the loop. A round limb bends by a right
// angle without a fold from 1.04 on; from 2 on thighs look like hoses.
static const double BAND_GIRTH = 1.6;
static const int SMOOTH_PASSES = 16; // geodesic distances over edges are jagged by a few percent

typedef struct banding {
    const patch_body *body;
    const patch_pieces *parts;
    patch_work w;
    int *band;             // per vertex of a part: joint, or -1
    double *share, *other; // the share of the bend it takes; the same while it is smoothed
    pvec *slope;           // its gradient
    int *copy;             // of a loop vertex the one in the other part, or -1
    patch_band *joints;
} banding;

/// The lists of the packed body.
typedef struct packed_lists {
    int *first, *vertex, *face_first, *face;
} packed_lists;

// How far a vertex is from everything its part must leave alone: other loops, the tip of a leaf.
static double other_distance(const banding *b, uint32_t part, int entry, uint32_t v)
{
    double least = body_part_is_leaf(b->w)[part] ? body_vertex_tip(b->w)[v] : INFINITY;
    for (int e = body_part_entry(b->w)[part]; e < body_part_entry(b->w)[part + 1]; e++)
        if (e != entry) least = fmin(least, patch_far_of(b->w, e, (int)v));
    return least;
}

// How long the band is at a vertex: half way to what it must leave alone, at most.
static double band_length(const banding *b, uint32_t part, int entry, uint32_t v)
{
    const double own = patch_far_of(b->w, entry, (int)v), step = body_part_step(b->w)[part];
    const double half = 0.5 * (own + other_distance(b, part, entry, v) - step);
    return fmin(BAND_GIRTH * body_joint_width(b->w)[body_entry_joint(b->w)[entry]], half);
}

// Mean length of the band of an entry along its loop.
static double mean_length(const banding *b, uint32_t joint, int side)
{
    const patch_loop *loop = &b->body->loops[joint];
    const int entry = body_joint_entry(b->w)[2 * joint + side];
    const uint32_t part = side ? loop->child : loop->parent;
    double sum = 0.0;
    for (uint32_t k = 0; k < loop->count; k++) {
        uint32_t v = b->parts->loop_copies[2 * (size_t)(loop->first + k) + side];
        sum += fmax(band_length(b, part, entry, v), 0.0) / loop->count;
    }
    return sum;
}

// Shares of one side of a joint: `loop_share` on the loop, to 0 (child: 1) where the band ends. A
// loop vertex that is too near to another loop bends alone.
static void fill_side(const banding *b, uint32_t joint, int side, double loop_share)
{
    const patch_loop *loop = &b->body->loops[joint];
    const int entry = body_joint_entry(b->w)[2 * joint + side];
    const uint32_t part = side ? loop->child : loop->parent;
    for (uint32_t v = b->parts->vertex_first[part]; v < b->parts->vertex_first[part + 1]; v++) {
        const double far = patch_far_of(b->w, entry, (int)v);
        const double length = band_length(b, part, entry, v);
        const bool on_loop = b->parts->vertex_loop[v] == (int32_t)joint;
        if (!on_loop && !(far < length)) continue;
        const double x = on_loop ? 0.0 : far / length, ease = x * (1.25 - 0.25 * x * x * x * x);
        b->band[v] = (int)joint;
        b->share[v] = side ? 1.0 - (1.0 - loop_share) * (1.0 - ease) : loop_share * (1.0 - ease);
    }
}

static bool is_child(const banding *b, uint32_t v, int joint)
{
    return b->parts->vertex_part[v] == b->body->loops[joint].child;
}

// The share of a neighbour: of one that this joint does not bend, that of its part.
static double share_near(const banding *b, uint32_t v, uint32_t u)
{
    const int joint = b->band[v];
    if (b->band[u] == joint) return b->share[u];
    return is_child(b, v, joint) ? 1.0 : 0.0;
}

static void smooth(banding *b)
{
    const patch_pieces *parts = b->parts;
    for (int pass = 0; pass < SMOOTH_PASSES; pass++) {
        for (uint32_t v = 0; v < parts->vertex_count; v++) {
            if (b->band[v] < 0) continue;
            double sum = 0.0, count = 0.0;
            const uint32_t both[2] = { v, b->copy[v] >= 0 ? (uint32_t)b->copy[v] : v };
            for (int c = 0; c < (b->copy[v] >= 0 ? 2 : 1); c++) {
                // The parent's copy first, so that both have the same bits.
                const uint32_t x =
                    b->copy[v] >= 0 && is_child(b, v, b->band[v]) ? both[1 - c] : both[c];
                for (uint32_t k = parts->ring_first[x]; k < parts->ring_first[x + 1]; k++) {
                    sum += share_near(b, x, parts->ring[k]);
                    count += 1.0;
                }
            }
            b->other[v] = 0.5 * b->share[v] + 0.5 * sum / count;
        }
        for (uint32_t v = 0; v < parts->vertex_count; v++)
            if (b->band[v] >= 0) b->share[v] = b->other[v];
    }
}

// Share of a corner of a face as a joint sees it.
static double corner_share(const banding *b, uint32_t v, int joint)
{
    if (b->band[v] == joint) return b->share[v];
    return is_child(b, v, joint) ? 1.0 : 0.0;
}

// The gradient of a joint's shares over a face, times twice its area.
// @return twice the area
static double face_slope(const banding *b, uint32_t f, int joint, pvec *slope)
{
    const uint32_t *v = b->parts->faces + 3 * (size_t)f;
    const pvec *points = body_vertex_point(b->w), x = points[v[0]], y = points[v[1]];
    const pvec z = points[v[2]], n = pvec_cross(pvec_minus(y, x), pvec_minus(z, x));
    const double twice = pvec_length(n);
    // n / |n| x (sum of shares times opposite edges)
    pvec e = pvec_times(pvec_minus(z, y), corner_share(b, v[0], joint));
    e = pvec_plus(e, pvec_times(pvec_minus(x, z), corner_share(b, v[1], joint)));
    e = pvec_plus(e, pvec_times(pvec_minus(y, x), corner_share(b, v[2], joint)));
    *slope = pvec_times(pvec_cross(n, e), twice > 0.0 ? 1.0 / twice : 0.0);
    return twice;
}

// Gradients of the shares, from the faces around a vertex by their areas, in both parts.
static void fill_slopes(const banding *b)
{
    const patch_pieces *parts = b->parts;
    double *area = b->other;
    memset(area, 0, parts->vertex_count * sizeof *area);
    for (uint32_t f = 0; f < b->body->face_count; f++)
        for (int k = 0; k < 3; k++) {
            const uint32_t v = parts->faces[3 * (size_t)f + k];
            pvec slope;
            if (b->band[v] < 0) continue;
            area[v] += face_slope(b, f, b->band[v], &slope);
            b->slope[v] = pvec_plus(b->slope[v], slope);
        }
    for (uint32_t v = 0; v < parts->vertex_count; v++) {
        if (b->band[v] < 0) continue;
        pvec sum = b->slope[v];
        double whole = area[v];
        if (b->copy[v] >= 0 && (uint32_t)b->copy[v] < v) continue; // done with the other
        if (b->copy[v] >= 0) {
            sum = pvec_plus(sum, b->slope[b->copy[v]]);
            whole += area[b->copy[v]];
        }
        b->slope[v] = pvec_times(sum, whole > 0.0 ? 1.0 / whole : 0.0);
        if (b->copy[v] >= 0) b->slope[b->copy[v]] = b->slope[v];
    }
}

// How many corners of a face the band of a joint moves. Bands of two joints may move one face:
// where loops are too near.
static int moved_corners(const banding *b, uint32_t f, int joint)
{
    const uint32_t *v = b->parts->faces + 3 * (size_t)f;
    return (b->band[v[0]] == joint) + (b->band[v[1]] == joint) + (b->band[v[2]] == joint);
}

// Six times the volume of a face at rest over a joint's centre.
static double face_volume(const banding *b, uint32_t f, uint32_t joint)
{
    const pvec centre = body_joint_centre(b->w)[joint], *points = body_vertex_point(b->w);
    const uint32_t *v = b->parts->faces + 3 * (size_t)f;
    return pvec_det(pvec_minus(points[v[0]], centre), pvec_minus(points[v[1]], centre),
                    pvec_minus(points[v[2]], centre));
}

// Vertices and faces of every band, faces whose corners all are in it first, and the volume of
// these over the joint's centre at rest.
static void list_bands(const banding *b, const packed_lists *out)
{
    uint32_t vertices = 0, faces = 0;
    for (uint32_t j = 0; j < b->body->loop_count; j++) {
        const patch_loop *loop = &b->body->loops[j];
        patch_band *band = &b->joints[j];
        out->first[j] = (int)vertices;
        out->face_first[j] = (int)faces;
        for (int side = 0; side < 2 && band->there; side++) {
            const uint32_t part = side ? loop->child : loop->parent;
            const uint32_t *first = b->parts->vertex_first;
            for (uint32_t v = first[part]; v < first[part + 1]; v++)
                if (b->band[v] == (int)j) out->vertex[vertices++] = (int)v;
        }
        for (int pass = 0; pass < 4 && band->there; pass++) { // inner ones, then the others
            const uint32_t part = pass % 2 ? loop->child : loop->parent;
            const uint32_t *first = b->parts->face_first;
            for (uint32_t f = first[part]; f < first[part + 1]; f++) {
                const int corners = moved_corners(b, f, (int)j);
                if (corners == 0 || (corners == 3) != (pass < 2)) continue;
                out->face[faces++] = (int)f;
                band->inner += corners == 3;
                band->volume += face_volume(b, f, j);
            }
        }
    }
    out->first[b->body->loop_count] = (int)vertices;
    out->face_first[b->body->loop_count] = (int)faces;
}

static void pair_copies(banding *b)
{
    for (uint32_t v = 0; v < b->parts->vertex_count; v++) b->copy[v] = -1;
    for (uint32_t i = 0; i < b->body->loop_count; i++)
        for (uint32_t k = 0; k < b->body->loops[i].count; k++) {
            const uint32_t *c = b->parts->loop_copies + 2 * (size_t)(b->body->loops[i].first + k);
            b->copy[c[0]] = (int)c[1];
            b->copy[c[1]] = (int)c[0];
        }
}

static void fill_bands(banding *b)
{
    for (uint32_t j = 0; j < b->body->loop_count; j++) {
        const double parent = mean_length(b, j, 0), child = mean_length(b, j, 1);
        const double share = parent + child > 0.0 ? parent / (parent + child) : 0.5;
        b->joints[j].there = !b->body->loops[j].seam;
        for (int side = 0; side < 2 && b->joints[j].there; side++) fill_side(b, j, side, share);
    }
}

cutis_result cutis_patch_pack_bands(const patch_body *body, const patch_pieces *parts,
                                    const patch_pack *pack, bool wanted)
{
    char *const packed = pack->body;
    const patch_places *at = &pack->arguments.at;
    const size_t count = parts->vertex_count;
    banding b = { .body = body,
                  .parts = parts,
                  .w = patch_work_of(packed, NULL, &pack->arguments, 0),
                  .band = (void *)(packed + PATCH_UNIT * (size_t)at->body_vertex_band),
                  .share = (void *)(packed + PATCH_UNIT * (size_t)at->body_vertex_share),
                  .slope = (void *)(packed + PATCH_UNIT * (size_t)at->body_vertex_slope),
                  .joints = (void *)(packed + PATCH_UNIT * (size_t)at->body_joint_band) };
    const packed_lists lists = {
        .first = (void *)(packed + PATCH_UNIT * (size_t)at->body_band_first),
        .vertex = (void *)(packed + PATCH_UNIT * (size_t)at->body_band_vertex),
        .face_first = (void *)(packed + PATCH_UNIT * (size_t)at->body_band_face_first),
        .face = (void *)(packed + PATCH_UNIT * (size_t)at->body_band_face)
    };
    b.other = cutis_arena_alloc(body->arena, count, sizeof *b.other);
    b.copy = cutis_arena_alloc(body->arena, count, sizeof *b.copy);
    if (!b.other || !b.copy) return cutis_alloc_result(body->context);
    for (size_t v = 0; v < count; v++) b.band[v] = -1;
    if (!wanted) return CUTIS_OK;
    pair_copies(&b);
    fill_bands(&b);
    smooth(&b);
    fill_slopes(&b);
    list_bands(&b, &lists);
    return CUTIS_OK;
}
