// Parts of a body that is rigged, by the plan. Invariant: healing costs no part; where it would,
// borders stay as they are found.
#include "skeleton/rig_parts.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "skeleton/heal.h"
#include "skeleton/parts.h"

// Are all labels still there that were before, and no others?
static bool same_parts(const uint32_t *before, const uint32_t *after, uint32_t count)
{
    bool had[CUTIS_PLAN_PARTS] = { 0 }, has[CUTIS_PLAN_PARTS] = { 0 };
    for (uint32_t f = 0; f < count; f++) {
        if (after[f] >= CUTIS_PLAN_PARTS) return false;
        had[before[f]] = has[after[f]] = true;
    }
    return memcmp(had, has, sizeof had) == 0;
}

// Labels of the mesh's faces, healed as those of a told body are (heal.c).
static cutis_result heal_borders(const cutis_plan *plan, cutis_closed *mesh, cutis_arena *scratch,
                                 uint32_t *labels)
{
    const uint32_t faces = mesh->face_count;
    uint32_t *own = mesh->labels;
    cutis_skeleton_repairs repairs = { 0 };
    cutis_labels names = { .arena = scratch };
    cutis_notes notes = { .arena = scratch };
    for (uint32_t p = 0; p < plan->part_count; p++)
        if (cutis_labels_add(&names, "%s", plan->parts[p]) == CUTIS_NOTHING)
            return cutis_alloc_result(mesh->context);
    mesh->labels = cutis_arena_copy(scratch, labels, faces, sizeof *labels);
    cutis_result result = mesh->labels ? cutis_heal(mesh, &names, 0, &notes, &repairs)
                                       : cutis_alloc_result(mesh->context);
    if (result == CUTIS_OK && same_parts(labels, mesh->labels, faces))
        memcpy(labels, mesh->labels, faces * sizeof *labels);
    mesh->labels = own;
    return result == CUTIS_UNSUPPORTED ? CUTIS_OK : result; // a body of one part, or never settled
}

cutis_result cutis_rig_nearest(const cutis_closed *mesh, const uint32_t *labels,
                               const cutis_gathered *body, cutis_arena *scratch, uint32_t *parts)
{
    const uint32_t faces = mesh->face_count;
    uint32_t *list = cutis_arena_alloc(scratch, faces, sizeof *list);
    double(*middles)[3] = cutis_arena_alloc(scratch, faces, sizeof *middles);
    if (!list || !middles) return cutis_alloc_result(mesh->context);
    for (uint32_t f = 0; f < faces; f++) {
        const uint32_t *v = mesh->faces[f];
        list[f] = f;
        for (int k = 0; k < 3; k++)
            middles[f][k] =
                (mesh->points[v[0]][k] + mesh->points[v[1]][k] + mesh->points[v[2]][k]) / 3;
    }
    cutis_nearest *nearest = cutis_nearest_make(scratch, (const double(*)[3])middles, list, faces);
    if (!nearest) return cutis_alloc_result(mesh->context);
    for (uint32_t t = 0; t < body->triangle_count; t++) {
        double middle[3] = { 0 }, distance = INFINITY;
        for (int k = 0; k < 9; k++)
            middle[k % 3] +=
                body->positions[3 * (size_t)body->triangles[3 * (size_t)t + k / 3] + k % 3] / 3.;
        uint32_t f = cutis_nearest_find(nearest, middle, &distance);
        if (f != CUTIS_NOTHING) parts[t] = labels[f];
    }
    return CUTIS_OK;
}

cutis_result cutis_rig_parts(cutis_plan *plan, const cutis_centrelines *lines, cutis_closed *mesh,
                             const cutis_gathered *body, uint32_t *parts)
{
    cutis_arena scratch = { .context = mesh->context };
    uint32_t *labels = cutis_arena_alloc(&scratch, mesh->face_count, sizeof *labels);
    cutis_result result =
        labels ? cutis_plan_label(plan, lines, mesh, labels) : cutis_alloc_result(mesh->context);
    if (result == CUTIS_OK) result = cutis_plan_fingers(mesh, labels, false, plan);
    if (result == CUTIS_OK) result = heal_borders(plan, mesh, &scratch, labels);
    if (result == CUTIS_OK) result = cutis_rig_nearest(mesh, labels, body, &scratch, parts);
    cutis_arena_release(&scratch);
    return result;
}
