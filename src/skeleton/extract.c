// Extraction from one end to the other: labels, a closed mesh, healing, parts, visibility kernels,
// axes, refinement, graph, rig, model. Invariant: nothing is published unless all of it succeeded.
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "skeleton/axes.h"
#include "skeleton/graph.h"
#include "skeleton/heal.h"
#include "skeleton/rig.h"
#include "skeleton/source.h"

static const double DEFAULT_ANGLE = 15; // degrees

typedef struct {
    cutis_context *context;
    const cutis_model *model;
    cutis_skeleton_options options;
    cutis_skeleton_report *report;
    cutis_arena *arena; // the report's: what lives as long as it
    cutis_labels names;
    cutis_notes notes, losses; // the latter: what could not be kept of the input
    cutis_skeleton_repairs repairs;
    cutis_closed mesh;
    cutis_parts parts;
    cutis_arena parts_arena; // of the parts as they are now
    double *distances;       // per vertex
    cutis_part_link *lines;
    uint32_t line_count;
} extraction;

static cutis_result check_options(cutis_context *context, const cutis_skeleton_options *o)
{
    if ((unsigned)o->source > CUTIS_PART_SOURCE_JOINTS ||
        (unsigned)o->method > CUTIS_SKELETON_BOUNDARY || (unsigned)o->refine > CUTIS_REFINE_NONE)
        return INVALID(context, "unknown source, method or refinement");
    if (o->angle != 0 && !(o->angle >= 5 && o->angle <= 20))
        return INVALID(context, "the largest turn of an axis is %g degrees; 5 to 20 are possible",
                       o->angle);
    if (o->source == CUTIS_PART_SOURCE_LABELS && !o->labels)
        return INVALID(context, "parts from labels, but no labels");
    return CUTIS_OK;
}

// @param nested faces that went to a joint further up
static void note_repairs(const cutis_skeleton_repairs *r, uint32_t nested, cutis_notes *notes)
{
    const struct {
        uint32_t count;
        const char *text;
    } rows[] = { { r->dropped_faces, "triangles without area or there twice were dropped" },
                 { r->welded_edges, "open edges of borders that nearly coincide were welded" },
                 { r->flipped_faces, "triangles were turned over" },
                 { r->split_edges, "edges of more than two triangles were split" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count) cutis_note(notes, "%u %s", rows[i].count, rows[i].text);
    if (r->capped_holes)
        cutis_note(notes, "%u holes were capped with %u triangles", r->capped_holes, r->cap_faces);
    if (nested)
        cutis_note(notes,
                   "%u faces went to a joint further up, so that every part borders on its parent "
                   "and its children alone",
                   nested);
}

static cutis_result close_surface(extraction *x)
{
    const uint32_t *labels;
    uint32_t nested = 0;
    TRY(cutis_source_labels(x->model, &x->options, &x->names, &labels));
    TRY(cutis_closed_make(x->model, labels, &x->names, &x->repairs, &x->mesh));
    if (x->options.source == CUTIS_PART_SOURCE_AUTO)
        TRY(cutis_segment(&x->mesh, x->options.part_count, &x->names));
    if (x->names.parents) TRY(cutis_nest(&x->mesh, &x->names, &nested));
    x->repairs.relabelled_faces += nested;
    note_repairs(&x->repairs, nested, &x->notes);
    return CUTIS_OK;
}

// Heal the labels and find the parts again.
static cutis_result find_parts(extraction *x)
{
    cutis_arena_release(&x->parts_arena);
    TRY(cutis_heal(&x->mesh, &x->names, x->options.heal_rounds, &x->notes, &x->repairs));
    TRY(cutis_parts_find(&x->mesh, &x->names, x->options.root, &x->notes, &x->parts_arena,
                         &x->parts));
    x->distances = cutis_arena_alloc(&x->parts_arena, x->mesh.vertex_count, sizeof *x->distances);
    return x->distances ? CUTIS_OK : cutis_alloc_result(x->context);
}

static cutis_result reshape_parts(extraction *x)
{
    // A number of parts that was asked for is not raised again.
    bool fixed = x->options.source == CUTIS_PART_SOURCE_AUTO && x->options.part_count > 0;
    if (!x->options.keep_curved && !fixed)
        TRY(cutis_split_curved(&x->parts, &x->names, &x->notes, x->distances,
                               &x->repairs.curved_splits));
    if (x->repairs.curved_splits) TRY(find_parts(x));
    if (x->options.straighten)
        TRY(cutis_straighten(&x->parts, &x->notes, &x->repairs.straightened,
                             &x->repairs.not_straightened));
    return x->repairs.straightened ? find_parts(x) : CUTIS_OK;
}

static cutis_result analyse(extraction *x)
{
    cutis_parts *parts = &x->parts;
    cutis_skeleton_report *shown = x->report;
    double start = cutis_os_seconds();
    for (uint32_t p = 0; p < parts->count; p++) {
        TRY(cutis_piece_centroid(parts, p));
        TRY(cutis_progress(x->context, "kernels", (double)(p + 1) / parts->count));
    }
    double middle = cutis_os_seconds();
    shown->kernel_seconds = middle - start;
    for (uint32_t p = 0; p < parts->count; p++) {
        cutis_piece *part = &parts->parts[p];
        TRY(cutis_piece_axes(parts, p));
        TRY(cutis_piece_box(parts, p));
        TRY(cutis_progress(x->context, "axes", (double)(p + 1) / parts->count));
        memcpy(part->axes_before, part->axes, sizeof part->axes);
        memcpy(part->box_low_before, part->box_low, sizeof part->box_low);
        memcpy(part->box_high_before, part->box_high, sizeof part->box_high);
    }
    double bound =
        (x->options.angle > 0 ? x->options.angle : DEFAULT_ANGLE) * 3.14159265358979323846 / 180;
    TRY(cutis_parts_refine(parts, x->options.refine, bound));
    for (uint32_t p = 0; p < parts->count; p++) TRY(cutis_piece_group(parts, p));
    shown->axes_seconds = cutis_os_seconds() - middle;
    TRY(cutis_parts_lines(parts, x->options.method, &x->lines, &x->line_count));
    return cutis_parts_rig(parts, x->options.root_at_centroid, x->distances);
}

static cutis_result fill_report(extraction *x)
{
    cutis_parts *parts = &x->parts;
    cutis_skeleton_report *shown = x->report;
    cutis_skeleton_part *list = cutis_arena_alloc(x->arena, parts->count, sizeof *list);
    if (!list) return cutis_alloc_result(x->context);
    for (uint32_t p = 0; p < parts->count; p++) {
        const cutis_piece *from = &parts->parts[p];
        cutis_skeleton_part *to = &list[p];
        *to = (cutis_skeleton_part){ .name = from->name,
                                     .vertex_count = from->vertex_count,
                                     .face_count = from->face_count,
                                     .star_shaped = from->star_shaped,
                                     .volume = from->volume,
                                     .group_count = from->group_count,
                                     .joint_count = from->joint_count };
        memcpy(to->axes_before, from->axes_before, sizeof to->axes_before);
        memcpy(to->box_before[0], from->box_low_before, sizeof to->box_before[0]);
        memcpy(to->box_before[1], from->box_high_before, sizeof to->box_before[1]);
        to->link_points =
            cutis_arena_copy(x->arena, from->links, from->group_count, sizeof *from->links);
        to->groups =
            cutis_arena_copy(x->arena, from->groups, from->joint_count, sizeof *from->groups);
        if (!to->link_points || !to->groups) return cutis_alloc_result(x->context);
    }
    x->repairs.touching_parts = parts->touching_count;
    for (uint32_t r = 0; r < parts->ring_count; r++) x->repairs.seam_count += parts->rings[r].seam;
    shown->part_count = parts->count;
    shown->parts = list;
    shown->repairs = x->repairs;
    // Losses first: what was healed may be a hundred lines.
    for (uint32_t i = 0; i < x->notes.count; i++) cutis_note(&x->losses, "%s", x->notes.lines[i]);
    if (x->notes.failed || x->losses.failed) return cutis_alloc_result(x->context);
    shown->note_count = x->losses.count;
    shown->notes = x->losses.lines;
    return CUTIS_OK;
}

void cutis_skeleton_report_destroy(cutis_skeleton_report *report)
{
    cutis_owner_destroy(report);
}

cutis_result cutis_skeleton_extract(const cutis_model *model, const cutis_skeleton_options *options,
                                    cutis_model **out, cutis_skeleton_report **report)
{
    if (out) *out = NULL;
    if (report) *report = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    double start = cutis_os_seconds();
    extraction x = { .context = context,
                     .model = model,
                     .options = options ? *options : (cutis_skeleton_options){ 0 },
                     .parts_arena = { .context = context } };
    cutis_model *made = NULL;
    TRY(check_options(context, &x.options));
    x.report = cutis_owner_create(context, sizeof *x.report);
    if (!x.report) return cutis_alloc_result(context);
    x.arena = x.names.arena = x.notes.arena = x.losses.arena = cutis_owner_arena(x.report);
    cutis_result result = close_surface(&x);
    if (result == CUTIS_OK) result = find_parts(&x);
    if (result == CUTIS_OK) result = reshape_parts(&x);
    if (result == CUTIS_OK) result = analyse(&x);
    if (result == CUTIS_OK)
        result = cutis_skeleton_model(&x.parts, model, &x.options, x.lines, x.line_count,
                                      x.repairs.flipped_faces > 0, &x.losses, &made);
    if (result == CUTIS_OK) result = fill_report(&x);
    if (result != CUTIS_OK) cutis_model_destroy(made);
    x.report->total_seconds = cutis_os_seconds() - start;
    cutis_arena_release(&x.parts_arena);
    cutis_closed_release(&x.mesh);
    if (result == CUTIS_OK) *out = made;
    if (result == CUTIS_OK && report)
        *report = x.report;
    else
        cutis_skeleton_report_destroy(x.report);
    return result;
}
