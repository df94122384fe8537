/// Patches with the rest topology. Every vertex has a place: kept ones move with their part, loop
/// vertices stand in the middle of the rung at their place of the loop, removed ones on that rung,
/// as far from its middle as their rest distance from the loop is of the border's. Invariant: one
/// position per welded vertex, so the mesh stays closed where it was.
#include "deform/patches_bound.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "kernel/kernel.h"
//
#include "kernel/item.h"
//
#include "kernel/team.h"
//
#include "kernel/patches.h"
//
#include "kernel/patches_joint.h"
//
#include "kernel/patches_room.h"
//
#include "kernel/patches_cut.h"
//
#include "kernel/patches_border.h"
//
#include "kernel/patches_rung.h"
//
#include "kernel/patches_curve.h"

struct patch_fixed {
    uint32_t output_count, welded_count;
    uint32_t *weld;   ///< per output vertex
    uint32_t *copies; ///< per welded vertex: a part vertex (on a loop: the parent's)
    double *places;   ///< like the distances in G: where on the loop, counted in vertices
    float *welded;    ///< 3 per welded vertex: of the frame at hand
    /// Of a device with its own memory: the body, and the work of the instance at hand.
    int32_t *body_ints, *work_ints;
    double *body_reals, *work_reals;
};

// Places spread from the loop outwards: a vertex has the mean direction, around the circle that the
// loop is mapped to, of its neighbours nearer to the loop.
static void spread_places(const patch_pieces *parts, const patch_pack *pack, uint32_t entry,
                          uint32_t first, uint32_t count, double turn, double *circle, double *out)
{
    const int32_t *order = pack->ints + pack->ints[pack->ints[PATCH_ENTRY_ORDER] + entry];
    const double *far = pack->reals + pack->ints[pack->ints[PATCH_ENTRY_FAR] + entry];
    int32_t joint = pack->ints[pack->ints[PATCH_ENTRY_JOINT] + entry];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = (uint32_t)order[i] - first;
        double x = 0.0, y = 0.0;
        if (parts->vertex_loop[v + first] == joint) {
            out[v] = parts->vertex_place[v + first];
            x = cos(out[v] / turn);
            y = sin(out[v] / turn);
        } else {
            for (uint32_t k = parts->ring_first[v + first]; k < parts->ring_first[v + first + 1];
                 k++) {
                uint32_t u = parts->ring[k] - first;
                if (!(far[u] < far[v])) continue;
                double w = 1.0 / fmax(parts->edge_lengths[parts->ring_edge[k]], 1e-300);
                x += w * circle[2 * u];
                y += w * circle[2 * u + 1];
            }
            double angle = atan2(y, x), l = fmax(sqrt(x * x + y * y), 1e-300);
            if (angle < 0.0) angle += 2.0 * M_PI;
            out[v] = angle * turn;
            x /= l;
            y /= l;
        }
        circle[2 * v] = x;
        circle[2 * v + 1] = y;
    }
}

// What a device with its own memory is asked for, the host has room for.
static cutis_result copy_body(const cutis_patches *patches, const patch_pack *pack,
                              cutis_arena *arena, struct patch_fixed *fixed)
{
    if (cutis_device_describe(patches->device).kind == CUTIS_DEVICE_CPU) return CUTIS_OK;
    fixed->body_ints = cutis_arena_copy(arena, pack->ints, pack->int_count, sizeof(int32_t));
    fixed->body_reals = cutis_arena_copy(arena, pack->reals, pack->real_count, sizeof(double));
    fixed->work_ints = cutis_arena_alloc(arena, patches->int_stride, sizeof(int32_t));
    fixed->work_reals = cutis_arena_alloc(arena, patches->real_stride, sizeof(double));
    return fixed->body_ints && fixed->body_reals && fixed->work_ints && fixed->work_reals
               ? CUTIS_OK
               : cutis_alloc_result(patches->arena.context);
}

cutis_result cutis_patches_bind_fixed(cutis_patches *patches, const patch_body *body,
                                      const patch_pieces *parts, const patch_pack *pack)
{
    cutis_arena *arena = &patches->arena;
    struct patch_fixed *fixed = cutis_arena_alloc(arena, 1, sizeof *fixed);
    double *circle =
        cutis_arena_alloc(body->arena, 2 * (size_t)parts->vertex_count, sizeof *circle);
    if (!fixed || !circle) return cutis_alloc_result(body->context);
    *fixed = (struct patch_fixed){ .output_count = body->output_count,
                                   .welded_count = body->vertex_count };
    fixed->weld = cutis_arena_copy(arena, body->weld, body->output_count, sizeof *fixed->weld);
    fixed->copies = cutis_arena_alloc(arena, body->vertex_count, sizeof *fixed->copies);
    fixed->places = cutis_arena_alloc(arena, pack->real_count, sizeof *fixed->places);
    fixed->welded = cutis_arena_alloc(arena, 3 * (size_t)body->vertex_count, sizeof(float));
    if (!fixed->weld || !fixed->copies || !fixed->places || !fixed->welded)
        return cutis_alloc_result(body->context);
    for (uint32_t v = 0; v < body->vertex_count; v++) fixed->copies[v] = UINT32_MAX;
    for (uint32_t v = 0; v < parts->vertex_count; v++) fixed->copies[parts->welded[v]] = v;
    for (uint32_t i = 0; i < body->loop_count; i++)
        for (uint32_t k = body->loops[i].first; k < body->loops[i].first + body->loops[i].count;
             k++)
            fixed->copies[body->loop_vertices[k]] = parts->loop_copies[2 * (size_t)k];
    for (uint32_t p = 0; p < body->part_count; p++) {
        const int32_t *entries = pack->ints + pack->ints[PATCH_PART_ENTRY];
        uint32_t first = parts->vertex_first[p], count = parts->vertex_first[p + 1] - first;
        for (uint32_t e = (uint32_t)entries[p]; e < (uint32_t)entries[p + 1]; e++) {
            int32_t joint = pack->ints[pack->ints[PATCH_ENTRY_JOINT] + e];
            double turn = body->loops[joint].count / (2.0 * M_PI);
            spread_places(parts, pack, e, first, count, turn, circle,
                          fixed->places + pack->ints[pack->ints[PATCH_ENTRY_FAR] + e]);
        }
    }
    patches->fixed = fixed;
    return copy_body(patches, pack, arena, fixed);
}

/// The buffers of a host device, as the kernels see them.
typedef struct view {
    const int *S;
    const double *G;
    const int *I;
    double *D;
} view;

static pvec rung_at(const view *w, patch_case c, int index, double t)
{
    const int *S = w->S, *I = w->I;
    const double *r = w->D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * c.joint;
    int kind = I[S[PATCH_RUNG_KIND] + c.rung + index];
    pvec p = patch_end(S, w->D, I[S[PATCH_RUNG_P] + c.rung + index]);
    pvec q = patch_end(S, w->D, I[S[PATCH_RUNG_C] + c.rung + index]);
    if (kind == PATCH_RUNG_CONIC) {
        patch_curve v = patch_curve_of(S, w->G, I, w->D, c, index);
        return patch_conic(v.p, v.k, v.c, v.w, t);
    }
    if (r[PATCH_J_ANGLE] < PATCH_BEND_MIN) return pvec_mix(p, q, t);
    if (kind == PATCH_RUNG_FAN) return patch_fan(r, p, q, t);
    if (kind != PATCH_RUNG_ARC) return pvec_mix(p, q, t);
    pquat s = pquat_make(r[PATCH_J_SWING], r[PATCH_J_SWING + 1], r[PATCH_J_SWING + 2],
                         r[PATCH_J_SWING + 3]);
    pvec offset = pvec_at(r + PATCH_J_OFFSET, 0);
    pvec back = pquat_turned(pquat_make(s.w, -s.x, -s.y, -s.z), pvec_minus(q, offset));
    pvec arc = pvec_plus(patch_arc(p, back, s, t), pvec_times(offset, t));
    return pvec_mix(arc, pvec_mix(p, q, t), r[PATCH_J_FLAT]);
}

// Rungs on both sides of a place, and how far between them it lies.
static void find_rungs(const view *w, patch_case c, int rungs, double place, int *a, int *b,
                       double *f)
{
    const double *along = w->D + w->S[PATCH_RUNG_ALONG] + c.rung;
    *a = *b = 0;
    *f = 0.0;
    for (int i = 0; i < rungs; i++) {
        int next = i + 1 == rungs ? 0 : i + 1;
        double gap = along[next] - along[i], at = place - along[i];
        if (gap < 0.0 || rungs == 1) gap += c.count;
        if (at < 0.0) at += c.count;
        if (at > gap || !(gap > 0.0)) continue;
        *a = i;
        *b = next;
        *f = at / gap;
        return;
    }
}

// A point of the patch: at a place of the loop, `t` from the parent's border to the child's. If
// `far` > 0: the rest distance from the loop decides t, on the part of `side`.
static pvec patch_at(const view *w, int joint, double place, double far, int side)
{
    const int *S = w->S, *I = w->I;
    patch_case c = patch_case_of(S, w->G, I, joint);
    int rungs = I[S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * joint + PATCH_J_RUNGS], a, b;
    double f, t = 0.5;
    find_rungs(w, c, rungs, place, &a, &b, &f);
    if (far > 0.0) {
        const int *slots = I + S[side ? PATCH_RUNG_C : PATCH_RUNG_P] + c.rung;
        const double *fars = w->D + S[PATCH_SLOT_FAR];
        double border = fars[slots[a]] + f * (fars[slots[b]] - fars[slots[a]]);
        double share = border > far ? far / border : 1.0;
        t = side ? 0.5 + 0.5 * share : 0.5 - 0.5 * share;
    }
    pvec x = pvec_mix(rung_at(w, c, a, t), rung_at(w, c, b, t), f);
    return pvec_plus(x, pvec_at(REALS(S, w->G, PATCH_CENTRE), joint));
}

static pvec vertex_at(const view *w, const struct patch_fixed *fixed, uint32_t v)
{
    const int *S = w->S, *I = w->I;
    const double *matrices = w->D + S[PATCH_MATRIX];
    int part = FIELD(S, PATCH_VERTEX_PART)[v], loop = FIELD(S, PATCH_VERTEX_LOOP)[v];
    int state = I[S[PATCH_STATE] + v];
    if (loop >= 0 && I[S[PATCH_JOINT_INTS] + PATCH_JOINT_INT_COUNT * loop + PATCH_J_MOVES]) {
        int parent = FIELD(S, PATCH_JOINT_PART)[2 * loop];
        pvec x = patch_at(w, loop, FIELD(S, PATCH_VERTEX_PLACE)[v], 0.0, 0);
        return pvec_moved(matrices + 12 * parent, x);
    }
    if (state == PATCH_ZERO)
        return pvec_moved(matrices + 12 * part,
                          pvec_at(w->D + S[PATCH_SLOT_POINT], I[S[PATCH_SLOT] + v]));
    if (state == PATCH_KEPT)
        return pvec_moved(matrices + 12 * part, pvec_at(REALS(S, w->G, PATCH_POINTS), (int)v));
    int entry = I[S[PATCH_OWNER] + v], joint = FIELD(S, PATCH_ENTRY_JOINT)[entry];
    int at = FIELD(S, PATCH_ENTRY_FAR)[entry] + (int)v - FIELD(S, PATCH_PART_VERTEX)[part];
    pvec x = patch_at(w, joint, fixed->places[at], w->G[at], FIELD(S, PATCH_ENTRY_SIDE)[entry]);
    return pvec_moved(matrices + 12 * FIELD(S, PATCH_JOINT_PART)[2 * joint], x);
}

// The buffers as the host sees them; those of another memory are read.
static cutis_result open_view(const cutis_patches *patches, uint32_t instance, view *out)
{
    const struct patch_fixed *fixed = patches->fixed;
    uint64_t ints = 4 * (uint64_t)patches->int_stride, reals = 8 * (uint64_t)patches->real_stride;
    *out = (view){ fixed->body_ints, fixed->body_reals, fixed->work_ints, fixed->work_reals };
    if (fixed->work_ints) {
        cutis_result result =
            cutis_buffer_read(patches->i, ints * instance, fixed->work_ints, ints);
        if (result != CUTIS_OK) return result;
        return cutis_buffer_read(patches->d, reals * instance, fixed->work_reals, reals);
    }
    out->S = (const int *)(uintptr_t)patches->s->handle;
    out->G = (const double *)(uintptr_t)patches->g->handle;
    out->I = (const int *)(uintptr_t)patches->i->handle + (size_t)instance * patches->int_stride;
    out->D = (double *)(uintptr_t)patches->d->handle + (size_t)instance * patches->real_stride;
    return CUTIS_OK;
}

static cutis_result place_frame(const cutis_patches *patches, uint32_t instance, float *positions)
{
    const struct patch_fixed *fixed = patches->fixed;
    view w;
    cutis_result result = open_view(patches, instance, &w);
    if (result != CUTIS_OK) return result;
    memset(fixed->welded, 0, 3 * (size_t)fixed->welded_count * sizeof *fixed->welded);
    for (uint32_t v = 0; v < fixed->welded_count; v++) {
        if (fixed->copies[v] == UINT32_MAX) continue; // no face has it
        pvec x = vertex_at(&w, fixed, fixed->copies[v]);
        fixed->welded[3 * (size_t)v] = (float)x.x;
        fixed->welded[3 * (size_t)v + 1] = (float)x.y;
        fixed->welded[3 * (size_t)v + 2] = (float)x.z;
    }
    for (uint32_t v = 0; v < fixed->output_count; v++)
        memcpy(positions + 3 * (size_t)v, fixed->welded + 3 * (size_t)fixed->weld[v],
               3 * sizeof(float));
    return CUTIS_OK;
}

cutis_result cutis_patches_run_fixed(cutis_patches *patches, const cutis_model *model,
                                     const cutis_poses *poses, uint32_t instance_count,
                                     float *positions)
{
    cutis_result result = cutis_patches_check(patches, model, poses, instance_count);
    for (uint32_t first = 0; first < instance_count && result == CUTIS_OK;) {
        uint32_t left = instance_count - first;
        uint32_t count = left < patches->capacity ? left : patches->capacity;
        result = cutis_patches_solve(patches, model, poses, first, count);
        for (uint32_t i = 0; i < count && result == CUTIS_OK; i++)
            result = place_frame(
                patches, i, positions + 3 * (size_t)patches->fixed->output_count * (first + i));
        first += count;
    }
    return result;
}
