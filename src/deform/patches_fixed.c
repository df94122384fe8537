/// Patches with the rest topology. Every vertex has a place: kept ones move with their part, loop
/// vertices stand in the middle of the rung at their place of the loop, removed ones on that rung,
/// as far from its middle as their rest distance from the loop is of the border's. Invariant: one
/// position per welded vertex, so the mesh stays closed where it was.
#include "deform/patches_binding.h"

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
#include "kernel/patches_conic.h"
//
#include "kernel/patches_curve.h"

struct patch_fixed {
    uint32_t output_count, welded_count;
    uint32_t *weld;   ///< per output vertex
    uint32_t *copies; ///< per welded vertex: a part vertex (on a loop: the parent's)
    double *places;   ///< like body_far: where on the loop, counted in vertices
    char *body;       ///< of a device with its own memory, whose work comes to the host
};

// Places spread from the loop outwards: a vertex has the mean direction, around the circle that the
// loop is mapped to, of its neighbours nearer to the loop.
static void spread_places(const patch_pieces *parts, patch_work w, uint32_t entry, uint32_t first,
                          uint32_t count, double turn, double *circle, double *out)
{
    const int at = body_entry_at(w)[entry] + (int)first, joint = body_entry_joint(w)[entry];
    const int *order = body_order(w) + at;
    const double *far = body_far(w) + at;
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
                double near = 1.0 / fmax(parts->edge_lengths[parts->ring_edge[k]], 1e-300);
                x += near * circle[2 * u];
                y += near * circle[2 * u + 1];
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

cutis_result cutis_patches_bind_fixed(patches_binding *binding, const patch_body *body,
                                      const patch_pieces *parts, const patch_pack *pack)
{
    cutis_arena *arena = &binding->base.arena;
    struct patch_fixed *fixed = cutis_arena_alloc(arena, 1, sizeof *fixed);
    double *circle =
        cutis_arena_alloc(body->arena, 2 * (size_t)parts->vertex_count, sizeof *circle);
    if (!fixed || !circle) return cutis_alloc_result(body->context);
    *fixed = (struct patch_fixed){ .output_count = body->output_count,
                                   .welded_count = body->vertex_count };
    fixed->weld = cutis_arena_copy(arena, body->weld, body->output_count, sizeof *fixed->weld);
    fixed->copies = cutis_arena_alloc(arena, body->vertex_count, sizeof *fixed->copies);
    fixed->places = cutis_arena_alloc(arena, pack->counts[PATCH_REACHES], sizeof *fixed->places);
    if (!fixed->weld || !fixed->copies || !fixed->places) return cutis_alloc_result(body->context);
    for (uint32_t v = 0; v < body->vertex_count; v++) fixed->copies[v] = UINT32_MAX;
    for (uint32_t v = 0; v < parts->vertex_count; v++) fixed->copies[parts->welded[v]] = v;
    for (uint32_t i = 0; i < body->loop_count; i++)
        for (uint32_t k = body->loops[i].first; k < body->loops[i].first + body->loops[i].count;
             k++)
            fixed->copies[body->loop_vertices[k]] = parts->loop_copies[2 * (size_t)k];
    const patch_work w = patch_work_of(pack->body, NULL, &pack->arguments, 0);
    for (uint32_t p = 0; p < body->part_count; p++) {
        const int *entries = body_part_entry(w);
        const uint32_t first = parts->vertex_first[p], count = parts->vertex_first[p + 1] - first;
        for (uint32_t e = (uint32_t)entries[p]; e < (uint32_t)entries[p + 1]; e++) {
            double turn = body->loops[body_entry_joint(w)[e]].count / (2.0 * M_PI);
            spread_places(parts, w, e, first, count, turn, circle,
                          fixed->places + body_entry_at(w)[e] + first);
        }
    }
    binding->fixed = fixed;
    if (!binding->base.device->operations->staging_create) return CUTIS_OK;
    fixed->body = cutis_arena_copy(arena, pack->body, pack->body_units, PATCH_UNIT);
    return fixed->body ? CUTIS_OK : cutis_alloc_result(body->context);
}

bool cutis_patches_fixed_workspace(patches_binding *binding, patches_workspace *workspace)
{
    const size_t units = binding->fixed->body ? binding->arguments.work_stride : 0;
    workspace->welded = cutis_binding_alloc(&binding->base, binding->fixed->welded_count,
                                            3 * sizeof *workspace->welded);
    workspace->host_work = cutis_binding_alloc(&binding->base, units, PATCH_UNIT);
    return workspace->welded && workspace->host_work;
}

static pvec rung_at(patch_work w, patch_case c, int index, double t)
{
    const patch_joint *j = work_joint(w) + c.joint;
    const int kind = work_rung_kind(w)[c.rung + index];
    pvec p = patch_end(w, work_rung_p(w)[c.rung + index]);
    pvec q = patch_end(w, work_rung_c(w)[c.rung + index]);
    if (kind == PATCH_RUNG_REAR) {
        patch_curve v = patch_curve_of(w, c, index);
        return patch_conic(v.p, v.k, v.c, v.w, t);
    }
    if (j->angle < PATCH_BEND_MIN) return pvec_mix(p, q, t);
    if (kind == PATCH_RUNG_FRONT_FAN) return patch_fan(j, p, q, t);
    if (kind != PATCH_RUNG_FRONT_ARC) return pvec_mix(p, q, t);
    pvec arc = patch_round_arc(j, p, patch_swung_back(j, q), t);
    return pvec_mix(arc, pvec_mix(p, q, t), j->flat);
}

// Rungs on both sides of a place, and how far between them it lies.
static void find_rungs(patch_work w, patch_case c, int rungs, double place, int *a, int *b,
                       double *f)
{
    const double *along = work_rung_along(w) + c.rung;
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
static pvec patch_at(patch_work w, int joint, double place, double far, int side)
{
    patch_case c = patch_case_of(w, joint);
    int a, b;
    double f, t = 0.5;
    find_rungs(w, c, work_joint(w)[joint].rungs, place, &a, &b, &f);
    if (far > 0.0) {
        const int *slots = (side ? work_rung_c(w) : work_rung_p(w)) + c.rung;
        const double *fars = work_slot_far(w);
        double border = fars[slots[a]] + f * (fars[slots[b]] - fars[slots[a]]);
        double share = border > far ? far / border : 1.0;
        t = side ? 0.5 + 0.5 * share : 0.5 - 0.5 * share;
    }
    pvec x = pvec_mix(rung_at(w, c, a, t), rung_at(w, c, b, t), f);
    return pvec_plus(x, body_joint_centre(w)[joint]);
}

static pvec vertex_at(patch_work w, const struct patch_fixed *fixed, int v)
{
    const double *matrices = work_matrix(w);
    const int part = body_vertex_part(w)[v], loop = body_vertex_loop(w)[v];
    const int state = work_state(w)[v];
    if (loop >= 0 && work_joint(w)[loop].moves) {
        pvec x = patch_at(w, loop, body_vertex_place(w)[v], 0.0, 0);
        return pvec_moved(matrices + 12 * body_joint_part(w)[2 * loop], x);
    }
    if (state == PATCH_ZERO)
        return pvec_moved(matrices + 12 * part, work_slot_point(w)[work_slot(w)[v]]);
    if (state == PATCH_KEPT) return pvec_moved(matrices + 12 * part, body_vertex_point(w)[v]);
    const int entry = work_owner(w)[v], joint = body_entry_joint(w)[entry];
    const int at = body_entry_at(w)[entry] + v;
    pvec x = patch_at(w, joint, fixed->places[at], body_far(w)[at], body_entry_side(w)[entry]);
    return pvec_moved(matrices + 12 * body_joint_part(w)[2 * joint], x);
}

// The buffers as the host sees them; those of another memory are read.
static cutis_result open_work(const patches_binding *binding, const patches_workspace *workspace,
                              uint32_t instance, patch_work *out)
{
    const patch_arguments *a = &binding->arguments;
    if (!binding->fixed->body) {
        *out = patch_work_of((const char *)(uintptr_t)binding->body->handle,
                             (char *)(uintptr_t)workspace->work->handle, a, (int)instance);
        return CUTIS_OK;
    }
    const uint64_t size = PATCH_UNIT * (uint64_t)a->work_stride;
    *out = patch_work_of(binding->fixed->body, workspace->host_work, a, 0);
    return cutis_buffer_read(workspace->work, size * instance, workspace->host_work, size);
}

cutis_result cutis_patches_place(const patches_binding *binding, patches_workspace *workspace,
                                 uint32_t instance, char *out, uint64_t stride)
{
    const struct patch_fixed *fixed = binding->fixed;
    float *welded = workspace->welded;
    patch_work w;
    cutis_result result = open_work(binding, workspace, instance, &w);
    if (result != CUTIS_OK) return result;
    memset(welded, 0, 3 * (size_t)fixed->welded_count * sizeof *welded);
    for (uint32_t v = 0; v < fixed->welded_count; v++) {
        if (fixed->copies[v] == UINT32_MAX) continue; // no face has it
        pvec x = vertex_at(w, fixed, (int)fixed->copies[v]);
        welded[3 * (size_t)v] = (float)x.x;
        welded[3 * (size_t)v + 1] = (float)x.y;
        welded[3 * (size_t)v + 2] = (float)x.z;
    }
    for (uint32_t v = 0; v < fixed->output_count; v++)
        memcpy(out + v * stride, welded + 3 * (size_t)fixed->weld[v], 3 * sizeof *welded);
    return CUTIS_OK;
}
