/// cutis rig: joints, parts and weights for a body that has none, and motions if any are given.
/// What fails its own check is written only with --keep.
#include "rig.h"

#include <math.h>
#include <string.h>

#define NOTES_SHOWN 12u // on stderr; --json has them all

static int make(cli_app *app, rig_job *job)
{
    TRY(app_result(app, job->path,
                   cutis_rig(job->model, job->device, &job->options, &job->rigged, &job->report)));
    return rig_motions_add(app, job);
}

static void say(const cli_app *app, const rig_job *job)
{
    const cutis_rig_report *r = job->report;
    app_say(app, "%s: %s, %u joints, %u parts, %.2f s\n", job->output, cutis_rig_kind_name(r->kind),
            r->joint_count, r->part_count, r->seconds);
    if (r->second != CUTIS_RIG_AUTO)
        app_say(app, "%-16s %.2f from the kind's own; next best %s, %.2f\n", "limbs", r->deviation,
                cutis_rig_kind_name(r->second), r->second_deviation);
    else if (isfinite(r->deviation))
        app_say(app, "%-16s %.2f from the kind's own\n", "limbs", r->deviation);
    if (r->moved_inside)
        app_say(app, "%-16s %u were moved into the body\n", "joints", r->moved_inside);
    for (uint32_t i = 0; i < job->motion_count; i++) {
        const cutis_retarget_report *moved = &job->motions[i].moved;
        app_say(app, "%-16s %s, %u frames, %u of %u joints moved\n", i ? "" : "motion",
                rig_clip_name(job, i), moved->frame_count, moved->mapped_count, moved->joint_count);
        if (job->motions[i].seen.contact_count == 0)
            app_say(app, "%-16s were not checked: the check knows two legs that stand, or four\n",
                    "feet");
    }
}

static void emit_motions(json_out *json, const rig_job *job)
{
    emit_array(json, "motions");
    for (uint32_t i = 0; i < job->motion_count; i++) {
        const rig_motion *m = &job->motions[i];
        emit(json, "{ file %s clip %s frames %u fps %g joints %u slide %g seconds %g", m->path,
             rig_clip_name(job, i), m->moved.frame_count, m->moved.fps, m->moved.mapped_count,
             m->moved.slide, m->seconds);
        emit(json, "torn %g lean %g off_ground %g sunk %g slide_seen %g }", m->seen.torn,
             m->seen.lean, m->seen.off_ground, m->seen.sunk, m->seen.slide);
    }
    emit_end(json);
}

// @param written was the model?
static void emit_result(const rig_job *job, bool written)
{
    const cutis_rig_report *r = job->report;
    json_out json = { .file = stdout };
    emit(&json,
         "{ file %s output %s kind %s deviation %g second %s second_deviation %g joints %u "
         "parts %u moved_inside %u seconds %g",
         job->path, written ? job->output : NULL, cutis_rig_kind_name(r->kind), r->deviation,
         r->second == CUTIS_RIG_AUTO ? NULL : cutis_rig_kind_name(r->second), r->second_deviation,
         r->joint_count, r->part_count, r->moved_inside, r->seconds);
    emit_array(&json, "changes");
    for (uint32_t i = 0; i < r->note_count; i++) emit_string(&json, NULL, r->notes[i]);
    emit_end(&json);
    emit_array(&json, "problems");
    for (uint32_t i = 0; i < r->problem_count; i++) emit_string(&json, NULL, r->problems[i]);
    emit_end(&json);
    emit_motions(&json, job);
    emit_end(&json);
}

// Its own check: problems are told, and nothing is written, unless it is to be kept.
static int judge(cli_app *app, const rig_job *job)
{
    const cutis_rig_report *r = job->report;
    for (uint32_t i = 0; i < r->note_count && i < NOTES_SHOWN; i++)
        app_note(app, "%s: %s", job->path, r->notes[i]);
    if (r->problem_count == 0) return EXIT_GOOD;
    for (uint32_t i = 1; i < r->problem_count; i++)
        app_note(app, "%s: %s", job->path, r->problems[i]);
    return app_fail_text(app, "%s: %s%s", job->path, r->problems[0],
                         option_given(app, OPTION_KEEP) ? "" : " (--keep writes it all the same)");
}

// What a person says of it: parts, or what limbs are.
static int read_hints(cli_app *app, rig_job *job)
{
    const char *parts = option_text(app, OPTION_PARTS), *strokes = option_text(app, OPTION_STROKES);
    job->options.part_count = option_count(app, OPTION_PART_COUNT, 0);
    if (job->options.part_count && job->options.kind != CUTIS_RIG_ANY)
        return app_usage(app, "--count goes with --kind any: other kinds have the parts they have");
    if (parts && strncmp(parts, "file:", 5) != 0)
        return app_usage(app, "--parts %s: want file:LABELS; without it parts are found", parts);
    if (parts && (strokes || job->options.twist || job->options.patches ||
                  option_given(app, OPTION_PART_COUNT) || option_given(app, OPTION_KIND)))
        return app_usage(app,
                         "--kind, --count, --strokes, --twist and --patches are for parts that "
                         "are found");
    if (parts)
        TRY(app_result(
            app, parts + 5,
            cutis_part_labels_read(app->context, parts + 5, &job->labels, &job->label_count)));
    job->options.labels = job->labels, job->options.label_count = job->label_count;
    if (!strokes) return EXIT_GOOD;
    TRY(app_result(app, strokes, cutis_handles_read(app->context, strokes, &job->strokes)));
    const cutis_handle_set *set = cutis_handle_file_get(job->strokes);
    job->options.strokes = set->handles, job->options.stroke_count = set->handle_count;
    return EXIT_GOOD;
}

static int read_job(cli_app *app, rig_job *job)
{
    const double begun = app_seconds();
    const char *report = option_text(app, OPTION_REPORT);
    TRY(app_output(app, ".glb .gltf", &job->output)); // others hold no weights
    if (report) TRY(app_check_output_as(app, "--report", report, ".html"));
    job->options.kind = (cutis_rig_kind)option_choice(app, OPTION_KIND);
    job->options.influences = option_count(app, OPTION_INFLUENCES, 0);
    job->options.largest = option_given(app, OPTION_LARGEST);
    job->options.twist = option_given(app, OPTION_TWIST);
    job->options.patches = option_given(app, OPTION_FOR_PATCHES);
    TRY(read_hints(app, job));
    TRY(app_read_model(app, job->path, &job->model));
    TRY(rig_motions_read(app, job));
    job->read_seconds = app_seconds() - begun;
    return app_open_device(app, &job->device);
}

// The model first: a page without it would tell of nothing.
static int write_files(cli_app *app, rig_job *job)
{
    const double begun = app_seconds();
    TRY(app_write_model(app, job->rigged, job->output));
    job->write_seconds = app_seconds() - begun;
    return option_given(app, OPTION_REPORT) ? rig_report(app, job, option_text(app, OPTION_REPORT))
                                            : EXIT_GOOD;
}

static int run(cli_app *app, rig_job *job)
{
    TRY(read_job(app, job));
    TRY(make(app, job));
    app_progress_done(app);
    const int judged = judge(app, job);
    const bool kept = judged == EXIT_GOOD || option_given(app, OPTION_KEEP);
    if (kept) TRY(write_files(app, job));
    if (app->json)
        emit_result(job, kept);
    else if (kept)
        say(app, job);
    return judged;
}

int verb_rig(cli_app *app)
{
    rig_job job = { .path = app->operands[0] };
    const int status = run(app, &job);
    app_progress_done(app);
    cutis_rig_report_destroy(job.report);
    cutis_handle_file_destroy(job.strokes);
    cutis_memory_free(app->context, job.labels, job.label_count * sizeof *job.labels);
    cutis_device_destroy(job.device);
    cutis_model_destroy(job.rigged);
    cutis_model_destroy(job.model);
    rig_motions_release(&job);
    return status;
}
