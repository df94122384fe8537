// Parts of a body that nobody has cut: those of its plan (plan.c), as `cutis rig` names them, with
// fingers where hands show five. Invariant: within a shell every part is one piece; a body of which
// nothing stands out is sliced if it is long, and else stays whole.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "skeleton/plan.h"
#include "skeleton/source.h"

enum { SLICES_MOST = 8 };

// Fewer parts -----------------------------------------------------------------------------------

// Join the smallest part to the neighbour with the longest border until `wanted` are left.
static cutis_result merge_parts(cutis_closed *mesh, uint32_t wanted, uint32_t labels,
                                cutis_arena *arena)
{
    bool *alone = cutis_arena_zero(arena, labels, sizeof *alone); // shells of their own
    double *area = cutis_arena_alloc(arena, labels, sizeof *area);
    double *border = cutis_arena_alloc(arena, labels, sizeof *border);
    if (!alone || !area || !border) return cutis_alloc_result(mesh->context);
    for (;;) {
        uint32_t count = 0, least = CUTIS_NOTHING, to = CUTIS_NOTHING;
        memset(area, 0, labels * sizeof *area);
        memset(border, 0, labels * sizeof *border);
        for (uint32_t f = 0; f < mesh->face_count; f++)
            area[mesh->labels[f]] += cutis_face_area(mesh, f);
        for (uint32_t l = 0; l < labels; l++) {
            if (!(area[l] > 0)) continue;
            count++;
            if (!alone[l] && (least == CUTIS_NOTHING || area[l] < area[least])) least = l;
        }
        if (count <= wanted || least == CUTIS_NOTHING) return CUTIS_OK;
        for (uint32_t h = 0; h < 3 * mesh->face_count; h++) {
            uint32_t other = mesh->labels[mesh->twins[h] / 3];
            if (mesh->labels[h / 3] != least || other == least) continue;
            border[other] += cutis_edge_length(mesh, h);
            if (to == CUTIS_NOTHING || border[other] > border[to]) to = other;
        }
        alone[least] = to == CUTIS_NOTHING;
        for (uint32_t f = 0; f < mesh->face_count && to != CUTIS_NOTHING; f++)
            if (mesh->labels[f] == least) mesh->labels[f] = to;
    }
}

// The part that each part hangs from: that of the line's node before its first. Where trunks are
// cut (plan_bends.c) limbs hang from pieces that lines do not know, and borders are few: not known.
// @param lines NULL: there are no limbs
static cutis_result find_parents(const cutis_plan *plan, const cutis_centrelines *lines,
                                 const uint32_t *number, cutis_labels *names)
{
    if (!lines || plan->kind == CUTIS_KIND_HUMAN || plan->kind == CUTIS_KIND_QUADRUPED)
        return CUTIS_OK;
    uint32_t *parents = cutis_nothings(names->arena, names->count);
    bool seen[CUTIS_PLAN_PARTS] = { false };
    if (!parents) return cutis_alloc_result(names->arena->context);
    seen[plan->node_parts[0]] = true;
    for (uint32_t v = 1; v < lines->count; v++) { // parents come first
        const uint32_t own = plan->node_parts[v], up = plan->node_parts[lines->nodes[v].parent];
        if (!seen[own]) seen[own] = true, parents[number[own]] = number[up];
    }
    names->parents = parents;
    return CUTIS_OK;
}

// Parts of the plan, named; those of shells are forgotten.
static cutis_result take_parts(cutis_closed *mesh, const cutis_plan *plan,
                               const cutis_centrelines *lines, const uint32_t *labels,
                               cutis_labels *names)
{
    uint32_t number[CUTIS_PLAN_PARTS];
    for (uint32_t p = 0; p < plan->part_count; p++) {
        number[p] = cutis_labels_add(names, "%s", plan->parts[p]);
        if (number[p] == CUTIS_NOTHING) return cutis_alloc_result(mesh->context);
    }
    for (uint32_t f = 0; f < mesh->face_count; f++) mesh->labels[f] = number[labels[f]];
    return find_parents(plan, lines, number, names);
}

// A body of which nothing stands out, but long: a worm, a tube. Slices across it.
static cutis_result slice(const cutis_closed *mesh, uint32_t *labels, cutis_plan *plan)
{
    box3 box = box3_empty();
    double size[3];
    int along = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) box3_add(&box, v3_of(mesh->points[v]));
    for (int k = 0; k < 3; k++) {
        size[k] = box.high[k] - box.low[k];
        if (size[k] > size[along]) along = k;
    }
    const double slices = floor(size[along] / fmax(size[(along + 1) % 3], size[(along + 2) % 3]));
    if (!(slices >= 2)) return CUTIS_OK;
    plan->part_count = slices < SLICES_MOST ? (uint32_t)slices : SLICES_MOST;
    for (uint32_t p = 0; p < plan->part_count; p++)
        snprintf(plan->parts[p], CUTIS_PLAN_NAME, "part%u", p);
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        double place[3];
        v3_put(cutis_face_middle(mesh, f), place);
        const double t = (place[along] - box.low[along]) / size[along];
        labels[f] = (uint32_t)fmin(t * plan->part_count, plan->part_count - 1.);
    }
    return cutis_plan_tidy(mesh, labels, plan->part_count);
}

static cutis_result segment(cutis_closed *mesh, uint32_t wanted, cutis_labels *names,
                            cutis_arena *arena)
{
    cutis_centrelines *lines = cutis_arena_zero(arena, 1, sizeof *lines);
    cutis_plan *plan = cutis_arena_zero(arena, 1, sizeof *plan);
    uint32_t *labels = cutis_arena_alloc(arena, mesh->face_count, sizeof *labels);
    if (!lines || !plan || !labels) return cutis_alloc_result(mesh->context);
    TRY(cutis_plan_body(arena, mesh, CUTIS_KIND_COUNT, NULL, lines, plan));
    TRY(cutis_progress(mesh->context, "segmenting", 0.5));
    const bool limbs = plan->part_count > 1;
    if (limbs) {
        TRY(cutis_plan_label(plan, lines, mesh, labels));
        TRY(cutis_plan_bends(mesh, labels, plan));
        TRY(cutis_plan_fingers(mesh, labels, true, plan));
    } else {
        TRY(slice(mesh, labels, plan));
    }
    if (plan->part_count < 2) return CUTIS_OK;
    TRY(take_parts(mesh, plan, limbs ? lines : NULL, labels, names));
    return wanted ? merge_parts(mesh, wanted < 2 ? 2 : wanted, names->count, arena) : CUTIS_OK;
}

cutis_result cutis_segment(cutis_closed *mesh, uint32_t wanted, cutis_labels *names)
{
    cutis_arena arena = { .context = mesh->context };
    cutis_result result = segment(mesh, wanted, names, &arena);
    cutis_arena_release(&arena);
    return result;
}
