/// cutis rig: joints, parts and weights for a body that has none, and a motion if one is given.
/// What fails its own check is written only with --keep.
#include <cutis/retarget.h>
#include <cutis/rig.h>

#include "app.h"

typedef struct rig_job {
    const char *path, *motion_path, *output;
    cutis_model *model, *motion, *rigged, *result;
    cutis_device *device;
    cutis_rig_options options;
    cutis_rig_report *report;
    cutis_retarget_report moved;
} rig_job;

static int make(cli_app *app, rig_job *job)
{
    TRY(app_result(app, job->path,
                   cutis_rig(job->model, job->device, &job->options, &job->rigged, &job->report)));
    if (!job->motion) return EXIT_GOOD;
    const cutis_retarget_options how = { 0 };
    TRY(app_result(app, job->motion_path,
                   cutis_retarget(job->rigged, job->motion, &how, &job->result, &job->moved)));
    return app_result(
        app, job->motion_path,
        cutis_rig_check_motion(job->result, job->motion, 0, &job->moved, job->report));
}

static void say(const cli_app *app, const rig_job *job)
{
    const cutis_rig_report *r = job->report;
    app_say(app, "%s: %s, %u joints, %u parts, %.2f s\n", job->output, cutis_rig_kind_name(r->kind),
            r->joint_count, r->part_count, r->seconds);
    if (r->second != CUTIS_RIG_AUTO)
        app_say(app, "%-16s %.2f from the kind's own; next best %s, %.2f\n", "limbs", r->deviation,
                cutis_rig_kind_name(r->second), r->second_deviation);
    else
        app_say(app, "%-16s %.2f from the kind's own\n", "limbs", r->deviation);
    if (r->moved_inside)
        app_say(app, "%-16s %u were moved into the body\n", "joints", r->moved_inside);
    if (job->result)
        app_say(app, "%-16s %u frames, %u of %u joints moved\n", "motion", job->moved.frame_count,
                job->moved.mapped_count, job->moved.joint_count);
}

static void emit_result(const rig_job *job)
{
    const cutis_rig_report *r = job->report;
    json_out json = { .file = stdout };
    emit(&json,
         "{ file %s output %s kind %s deviation %g second %s second_deviation %g joints %u "
         "parts %u moved_inside %u seconds %g",
         job->path, job->output, cutis_rig_kind_name(r->kind), r->deviation,
         r->second == CUTIS_RIG_AUTO ? NULL : cutis_rig_kind_name(r->second), r->second_deviation,
         r->joint_count, r->part_count, r->moved_inside, r->seconds);
    emit_array(&json, "problems");
    for (uint32_t i = 0; i < r->problem_count; i++) emit_string(&json, NULL, r->problems[i]);
    emit(&json, "] }");
}

// Its own check: problems are told, and nothing is written, unless it is to be kept.
static int judge(cli_app *app, const rig_job *job)
{
    const cutis_rig_report *r = job->report;
    if (r->problem_count == 0) return EXIT_GOOD;
    for (uint32_t i = 1; i < r->problem_count; i++)
        app_note(app, "%s: %s", job->path, r->problems[i]);
    return app_fail_text(app, "%s: %s%s", job->path, r->problems[0],
                         option_given(app, OPTION_KEEP) ? "" : " (--keep writes it all the same)");
}

int verb_rig(cli_app *app)
{
    rig_job job = { .path = app->operands[0], .motion_path = option_text(app, OPTION_MOTION) };
    int status = app_output(app, ".glb .gltf", &job.output); // others hold no weights
    job.options.kind = (cutis_rig_kind)option_choice(app, OPTION_KIND);
    job.options.influences = option_count(app, OPTION_INFLUENCES, 0);
    job.options.largest = option_given(app, OPTION_LARGEST);
    if (status == EXIT_GOOD) status = app_read_model(app, job.path, &job.model);
    if (status == EXIT_GOOD && job.motion_path)
        status = app_read_model(app, job.motion_path, &job.motion);
    if (status == EXIT_GOOD) status = app_open_device(app, &job.device);
    if (status == EXIT_GOOD) status = make(app, &job);
    app_progress_done(app);
    if (status == EXIT_GOOD) {
        int judged = judge(app, &job);
        const cutis_model *result = job.result ? job.result : job.rigged;
        const bool kept = judged == EXIT_GOOD || option_given(app, OPTION_KEEP);
        if (kept) status = app_write_model(app, result, job.output);
        if (status == EXIT_GOOD && app->json)
            emit_result(&job);
        else if (status == EXIT_GOOD && kept)
            say(app, &job);
        if (status == EXIT_GOOD) status = judged;
    }
    cutis_rig_report_destroy(job.report);
    cutis_device_destroy(job.device);
    cutis_model_destroy(job.result);
    cutis_model_destroy(job.rigged);
    cutis_model_destroy(job.motion);
    cutis_model_destroy(job.model);
    return status;
}
