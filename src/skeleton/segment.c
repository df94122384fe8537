// Parts of a body that nobody has cut: those of its plan (plan.c), as `cutis rig` names them, with
// fingers where hands show five. Invariant: within a shell every part is one piece; a body of which
// nothing stands out stays whole.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "skeleton/plan.h"
#include "skeleton/source.h"

// Fewer parts -----------------------------------------------------------------------------------

// Join the smallest part to the neighbour with the longest border until `wanted` are left.
static cutis_result merge_parts(cutis_closed *mesh, uint32_t wanted, uint32_t labels,
                                cutis_arena *arena)
{
    double *area = cutis_arena_alloc(arena, labels, sizeof *area);
    double *border = cutis_arena_alloc(arena, labels, sizeof *border);
    if (!area || !border) return cutis_alloc_result(mesh->context);
    for (;;) {
        uint32_t count = 0, least = CUTIS_NOTHING, to = CUTIS_NOTHING;
        memset(area, 0, labels * sizeof *area);
        memset(border, 0, labels * sizeof *border);
        for (uint32_t f = 0; f < mesh->face_count; f++)
            area[mesh->labels[f]] += cutis_face_area(mesh, f);
        for (uint32_t l = 0; l < labels; l++) {
            if (!(area[l] > 0)) continue;
            count++;
            if (least == CUTIS_NOTHING || area[l] < area[least]) least = l;
        }
        if (count <= wanted || least == CUTIS_NOTHING) return CUTIS_OK;
        for (uint32_t h = 0; h < 3 * mesh->face_count; h++) {
            uint32_t other = mesh->labels[mesh->twins[h] / 3];
            if (mesh->labels[h / 3] != least || other == least) continue;
            border[other] += cutis_edge_length(mesh, h);
            if (to == CUTIS_NOTHING || border[other] > border[to]) to = other;
        }
        if (to == CUTIS_NOTHING) return CUTIS_OK; // a shell of its own
        for (uint32_t f = 0; f < mesh->face_count; f++)
            if (mesh->labels[f] == least) mesh->labels[f] = to;
    }
}

// Parts of the plan, named; those of shells are forgotten.
static cutis_result take_parts(cutis_closed *mesh, const cutis_plan *plan, const uint32_t *labels,
                               cutis_labels *names)
{
    uint32_t number[CUTIS_PLAN_PARTS];
    for (uint32_t p = 0; p < plan->part_count; p++) {
        number[p] = cutis_labels_add(names, "%s", plan->parts[p]);
        if (number[p] == CUTIS_NOTHING) return cutis_alloc_result(mesh->context);
    }
    for (uint32_t f = 0; f < mesh->face_count; f++) mesh->labels[f] = number[labels[f]];
    return CUTIS_OK;
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
    if (plan->part_count < 2) return CUTIS_OK;
    TRY(cutis_plan_label(plan, lines, mesh, labels));
    TRY(cutis_plan_bends(mesh, labels, plan));
    TRY(cutis_plan_fingers(mesh, labels, true, plan));
    TRY(take_parts(mesh, plan, labels, names));
    return wanted ? merge_parts(mesh, wanted < 2 ? 2 : wanted, names->count, arena) : CUTIS_OK;
}

cutis_result cutis_segment(cutis_closed *mesh, uint32_t wanted, cutis_labels *names)
{
    cutis_arena arena = { .context = mesh->context };
    cutis_result result = segment(mesh, wanted, names, &arena);
    cutis_arena_release(&arena);
    return result;
}
