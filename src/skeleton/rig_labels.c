// A rig for a body whose parts are told: the skeleton of its parts (extract.c), weights by bones in
// place of rigid ones. Invariant: a part that is told and not there any more is a problem.
#include "skeleton/rig_labels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/skeleton.h>

#include "base/error.h"
#include "geometry/order.h"
#include "skeleton/source.h"

static bool is_there(const cutis_skeleton_report *made, uint32_t label)
{
    char name[32];
    snprintf(name, sizeof name, CUTIS_LABEL_NAME, label);
    for (uint32_t p = 0; p < made->part_count; p++)
        if (strcmp(made->parts[p].name, name) == 0) return true;
    return false;
}

// Parts that healing gave to others, by name.
static cutis_result note_lost(cutis_arena *arena, const cutis_rig_options *options,
                              const cutis_skeleton_report *made, cutis_notes *problems)
{
    const size_t count = (size_t)options->label_count;
    uint32_t *sorted = cutis_arena_copy(arena, options->labels, count, sizeof *sorted);
    if (!sorted) return cutis_alloc_result(arena->context);
    qsort(sorted, count, sizeof *sorted, order_u32);
    for (size_t i = 0; i < count; i++)
        if ((i == 0 || sorted[i] != sorted[i - 1]) && !is_there(made, sorted[i]))
            cutis_note(problems, "nothing is left of part %u: healing gave its faces to others",
                       sorted[i]);
    return CUTIS_OK;
}

cutis_result cutis_rig_labelled(const cutis_model *model, cutis_device *device,
                                const cutis_rig_options *options, cutis_rig_report *report,
                                cutis_notes *problems, cutis_notes *notes, cutis_model **out)
{
    const cutis_skeleton_options cut = { .source = CUTIS_PART_SOURCE_LABELS,
                                         .labels = options->labels,
                                         .label_count = options->label_count };
    const cutis_handles_options weigh = { .influences = options->influences,
                                          .reduce = !options->largest,
                                          .every_joint = true };
    cutis_arena arena = { .context = cutis_model_context(model) };
    cutis_skeleton_report *made = NULL;
    cutis_model *parts = NULL;
    cutis_result result = cutis_skeleton_extract(model, &cut, &parts, &made);
    if (result == CUTIS_OK) result = cutis_handles_skeleton(parts, device, &weigh, out, NULL);
    if (result == CUTIS_OK) result = note_lost(&arena, options, made, problems);
    if (result == CUTIS_OK) {
        report->kind = CUTIS_RIG_ANY, report->second = CUTIS_RIG_AUTO;
        report->joint_count = cutis_model_get(*out)->skins[0].joint_count;
        report->part_count = made->part_count;
        report->deviation = report->second_deviation = NAN;
        for (uint32_t i = 0; i < made->note_count; i++) cutis_note(notes, "%s", made->notes[i]);
    }
    cutis_skeleton_report_destroy(made);
    cutis_model_destroy(parts);
    cutis_arena_release(&arena);
    return result;
}
