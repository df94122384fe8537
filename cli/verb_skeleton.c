/// cutis skeleton: a rig for a body cut in parts. Nothing is written unless all of it succeeded.
#include "skeleton.h"

#include <string.h>

#define NOTES_SHOWN 12u // on stderr; a healed segmentation may have a hundred

static int read_labels(cli_app *app, skeleton_job *job, const char *path)
{
    TRY(app_result(app, path,
                   cutis_part_labels_read(app->context, path, &job->labels, &job->label_count)));
    job->options.source = CUTIS_PART_SOURCE_LABELS;
    job->options.labels = job->labels;
    job->options.label_count = job->label_count;
    return EXIT_GOOD;
}

static int read_source(cli_app *app, skeleton_job *job)
{
    static const char *const WORDS[] = { "auto",   "",       "parts", "materials",
                                         "meshes", "shells", "joints" };
    job->source = option_text(app, OPTION_PARTS);
    if (!job->source)
        return app_usage(app, "--parts SOURCE is missing: file:LABELS, parts, materials, meshes, "
                              "shells, joints or auto");
    if (strncmp(job->source, "file:", 5) == 0) return read_labels(app, job, job->source + 5);
    for (int i = 0; i < 7; i++)
        if (*WORDS[i] && strcmp(job->source, WORDS[i]) == 0) {
            job->options.source = (cutis_part_source)i;
            return EXIT_GOOD;
        }
    return app_usage(app,
                     "--parts %s: want file:LABELS, parts, materials, meshes, shells, joints or "
                     "auto",
                     job->source);
}

static int read_options(cli_app *app, skeleton_job *job)
{
    cutis_skeleton_options *o = &job->options;
    o->root = option_text(app, OPTION_ROOT);
    o->method = (cutis_skeleton_method)option_choice(app, OPTION_SKELETON_METHOD);
    o->refine = (cutis_skeleton_refine)option_choice(app, OPTION_REFINE);
    o->angle = option_number(app, OPTION_ANGLE, 0);
    o->root_at_centroid = option_choice(app, OPTION_ROOT_AT) == 1;
    o->world_frames = option_choice(app, OPTION_JOINT_FRAMES) == 1;
    o->keep_curved = option_given(app, OPTION_NO_SPLIT_CURVED);
    o->heal_rounds = option_count(app, OPTION_HEAL_ROUNDS, 0);
    o->straighten = option_given(app, OPTION_STRAIGHTEN);
    o->extra = option_given(app, OPTION_EXTRA);
    o->part_count = option_count(app, OPTION_PART_COUNT, 0);
    const char *source = option_text(app, OPTION_PARTS);
    if (source && strcmp(source, "auto") != 0 && option_given(app, OPTION_PART_COUNT))
        return app_usage(app, "--count goes with --parts auto");
    return EXIT_GOOD;
}

static void say_parts(const cli_app *app, const skeleton_job *job)
{
    const cutis_skeleton_report *r = job->report;
    const cutis_part_tree *tree = cutis_model_get(job->result)->meshes[0].part_tree;
    app_say(app, "\n%s%-20s %-20s %8s %6s %8s %6s %s%s\n", app_style(app, "1"), "part", "parent",
            "vertices", "star", "kernel", "groups", "joint", app_style(app, "0"));
    for (uint32_t p = 0; p < r->part_count; p++) {
        const cutis_skeleton_part *part = &r->parts[p];
        const cutis_part *own = &tree->parts[p];
        app_say(app, "%-20.60s %-20.60s %8u %6s %8.4g %6u %9.4f %9.4f %9.4f\n", part->name,
                own->parent == CUTIS_NONE ? "-" : r->parts[own->parent].name, part->vertex_count,
                part->star_shaped ? "yes" : "no", own->kernel_radius, part->group_count,
                own->position[0], own->position[1], own->position[2]);
    }
}

static void say_result(cli_app *app, const skeleton_job *job)
{
    const cutis_skeleton_report *r = job->report;
    const uint32_t leaves = cutis_model_get(job->result)->node_count - (r->part_count + 1);
    app_say(app, "%s: %u parts, %u further nodes, %u vertices, %ju triangles\n", job->output,
            r->part_count, leaves, cutis_model_vertex_count(job->result),
            cutis_model_triangle_count(job->result));
    for (uint32_t i = 0; i < r->note_count && i < NOTES_SHOWN; i++)
        app_note(app, "%s: %s", job->path, r->notes[i]);
    if (r->note_count > NOTES_SHOWN)
        app_note(app, "%s: and %u more like these; --json lists them all", job->path,
                 r->note_count - NOTES_SHOWN);
    say_parts(app, job);
    app_say(app, "\nkernels %.3f s, axes %.3f s, total %.3f s\n", r->kernel_seconds,
            r->axes_seconds, r->total_seconds);
}

static void emit_point(json_out *json, const char *key, const double *p)
{
    emit_array(json, key);
    emit(json, "%.17g %.17g %.17g ]", p[0], p[1], p[2]);
}

static void emit_axes(json_out *json, const char *key, const double *axes)
{
    emit_array(json, key);
    for (int e = 0; e < 3; e++) emit_point(json, NULL, axes + 3 * e);
    emit_end(json);
}

static void emit_part(json_out *json, const cutis_skeleton_report *r, const cutis_part_tree *tree,
                      uint32_t p)
{
    const cutis_skeleton_part *part = &r->parts[p];
    const cutis_part *own = &tree->parts[p];
    emit(json, "{ name %s vertices %u faces %u star_shaped %d kernel_radius %.17g", part->name,
         part->vertex_count, part->face_count, part->star_shaped, own->kernel_radius);
    emit_point(json, "centroid", own->centroid);
    emit(json, "volume %.17g", part->volume);
    emit_axes(json, "axes", &own->axes[0][0]);
    emit_axes(json, "axes_before", part->axes_before);
    emit_object(json, "box");
    emit_point(json, "min", own->box_min);
    emit_point(json, "max", own->box_max);
    emit(json, "} parent %s", own->parent == CUTIS_NONE ? NULL : r->parts[own->parent].name);
    emit_point(json, "joint", own->position);
    emit_point(json, "end", own->end);
    emit(json, "loop_vertices %u groups [",
         own->loop == CUTIS_NONE ? 0 : tree->loops[own->loop].vertex_count);
    for (uint32_t i = 0; i < part->joint_count; i++) emit_count(json, NULL, part->groups[i]);
    emit(json, "] link_points [");
    for (uint32_t i = 0; i < part->group_count; i++)
        emit_point(json, NULL, part->link_points + 3 * (size_t)i);
    emit(json, "] }");
}

static void emit_result(const skeleton_job *job)
{
    const cutis_skeleton_report *r = job->report;
    const cutis_skeleton_repairs *d = &r->repairs;
    const cutis_part_tree *tree = cutis_model_get(job->result)->meshes[0].part_tree;
    json_out json = { .file = stdout };
    emit(&json, "{ file %s output %s source %s parts [", job->path, job->output, job->source);
    for (uint32_t p = 0; p < r->part_count; p++) emit_part(&json, r, tree, p);
    emit(&json,
         "] repairs { dropped_faces %u welded_edges %u flipped_faces %u split_edges %u "
         "capped_holes %u healing_rounds %u relabelled_faces %ju touching_parts %u seams %u "
         "curved_splits %u straightened %u not_straightened %u } changes [",
         d->dropped_faces, d->welded_edges, d->flipped_faces, d->split_edges, d->capped_holes,
         d->rounds, d->relabelled_faces, d->touching_parts, d->seam_count, d->curved_splits,
         d->straightened, d->not_straightened);
    for (uint32_t i = 0; i < r->note_count; i++) emit_string(&json, NULL, r->notes[i]);
    emit(&json, "] seconds { kernel %g axes %g total %g } }", r->kernel_seconds, r->axes_seconds,
         r->total_seconds);
}

static int extract(cli_app *app, skeleton_job *job)
{
    cutis_result result =
        cutis_skeleton_extract(job->model, &job->options, &job->result, &job->report);
    app_progress_done(app);
    return app_result(app, job->path, result);
}

int verb_skeleton(cli_app *app)
{
    skeleton_job job = { .path = app->operands[0] };
    const char *picture = option_text(app, OPTION_SKELETON_PICTURE);
    int status = app_output(app, ".glb .gltf .bvh .obj .ply .stl", &job.output);
    if (status == EXIT_GOOD) status = app_check_writing(app, job.output);
    if (status == EXIT_GOOD) status = read_options(app, &job);
    if (status == EXIT_GOOD && picture)
        status = app_check_output_as(app, "--picture", picture, ".png");
    if (status == EXIT_GOOD) status = read_source(app, &job);
    if (status == EXIT_GOOD) status = app_read_model(app, job.path, &job.model);
    if (status == EXIT_GOOD) status = extract(app, &job);
    if (status == EXIT_GOOD && picture) status = skeleton_picture(app, &job, picture);
    if (status == EXIT_GOOD) status = app_write_model(app, job.result, job.output);
    if (status == EXIT_GOOD) {
        say_result(app, &job);
        if (app->json) emit_result(&job);
    }
    cutis_skeleton_report_destroy(job.report);
    cutis_model_destroy(job.result);
    cutis_model_destroy(job.model);
    cutis_memory_free(app->context, job.labels, job.label_count * sizeof(uint32_t));
    return status;
}
