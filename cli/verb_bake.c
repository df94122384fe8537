/// cutis bake: what a method or a sequence does to a mesh, as joints, weights and tracks that every
/// engine plays.
#include "bake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Helpers that --max-error tries at most.
enum { HELPERS_MOST = 256, HELPERS_DEFAULT = 16 };
// A clip is worse than plain linear blending beyond this: where nothing helps both are alike.
static const double WORSE = 1.001;

static int bake_with(cli_app *app, bake_job *job, uint32_t helpers)
{
    cutis_bake_report_destroy(job->report);
    cutis_model_destroy(job->baked);
    job->report = NULL, job->baked = NULL;
    job->options.helpers = helpers;
    TRY(app_result(app, job->path,
                   cutis_bake(job->model, job->device, &job->frames, &job->options, &job->baked,
                              &job->report)));
    return bake_judge(app, job);
}

// As few helpers as keep every vertex within the bound: twice as many until they do, then halving.
static int bake_within(cli_app *app, bake_job *job)
{
    const uint32_t least = cutis_model_get(job->model)->skin_count ? 0 : 1;
    const uint32_t vertices = cutis_model_vertex_count(job->model);
    const uint32_t limit = vertices < HELPERS_MOST ? vertices : HELPERS_MOST;
    uint32_t low = least, high = least;
    TRY(bake_with(app, job, high));
    while (job->max > job->max_error) {
        low = high;
        high = high ? 2 * high : 1;
        if (high > limit && low < limit) high = limit;
        if (high > limit)
            return app_fail_text(
                app, "%s: %g mm is not kept by %u helpers (%g mm): a larger --max-error?",
                job->path, 1e3 * job->max_error, low, 1e3 * job->max);
        TRY(bake_with(app, job, high));
    }
    while (high - low > 1 && high > least) {
        const uint32_t middle = low + (high - low) / 2;
        TRY(bake_with(app, job, middle));
        if (job->max > job->max_error)
            low = middle;
        else
            high = middle;
    }
    return job->report->helper_count == high ? EXIT_GOOD : bake_with(app, job, high);
}

// A body without a skin is compared with one rigid motion of the whole.
static int make_plain(cli_app *app, bake_job *job)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(job->model, &instances);
    for (uint32_t i = 0; i < count; i++)
        if (instances[i].skin != CUTIS_NONE) return EXIT_GOOD;
    const cutis_bake_options one = { .helpers = 1 };
    return app_result(app, job->path,
                      cutis_bake(job->model, job->device, &job->frames, &one, &job->plain, NULL));
}

static const char *row_name(const bake_clip *row)
{
    return row->name ? row->name : "(no name)";
}

static void say(const cli_app *app, const bake_job *job)
{
    const cutis_bake_report *r = job->report;
    app_say(app, "%s: %u %s, %ju vertices, %.2f s\n", job->output, r->helper_count,
            r->joint_count ? "helper joints" : "joints", (uintmax_t)r->vertex_count, r->seconds);
    if (r->morph_count) app_say(app, "%-16s %u\n", "morph targets", r->morph_count);
    if (r->kept_count && r->helper_count)
        app_say(app, "%-16s %ju vertices keep their own, which do better\n", "weights",
                (uintmax_t)r->kept_count);
    app_say(app, "%s%-16s %7s %12s %12s %12s %12s %8s%s\n", app_style(app, "1"), "clip", "frames",
            job->plain ? "rigid rms mm" : "lbs rms mm", "max", "baked rms mm", "max", "ratio",
            app_style(app, "0"));
    for (uint32_t i = 0; i < job->clip_count; i++) {
        const bake_clip *c = &job->rows[i];
        app_say(app, "%-16s %7u %12.4f %12.3f %12.4f %12.3f %8.4f%s\n", row_name(c), c->count,
                1e3 * c->plain_rms, 1e3 * c->plain_max, 1e3 * c->rms, 1e3 * c->max,
                c->plain_rms > 0 ? c->rms / c->plain_rms : 0, c->held_out ? "  left out" : "");
    }
    app_say(app, "%-16s %7u %12.4f %12.3f %12.4f %12.3f %8.4f\n", "all", job->frames.count,
            1e3 * job->plain_rms, 1e3 * job->plain_max, 1e3 * job->rms, 1e3 * job->max,
            job->plain_rms > 0 ? job->rms / job->plain_rms : 0);
}

static void emit_result(const bake_job *job)
{
    const cutis_bake_report *r = job->report;
    struct stat info = { 0 };
    json_out json = { .file = stdout };
    if (stat(job->output, &info) != 0) info.st_size = 0;
    emit(&json,
         "{ file %s output %s method %s helpers %u morphs %u joints %u influences %u vertices %ju "
         "kept_vertices %ju frames %u fps %g rms %g max %g plain_rms %g plain_max %g ratio %g "
         "bytes %ju seconds %g",
         job->path, job->output, job->sequence ? NULL : cutis_method_name(job->method),
         r->helper_count, r->morph_count, r->joint_count, job->options.influences,
         (uintmax_t)r->vertex_count, (uintmax_t)r->kept_count, job->frames.count, job->fps,
         job->rms, job->max, job->plain_rms, job->plain_max,
         job->plain_rms > 0 ? job->rms / job->plain_rms : NAN, (uintmax_t)info.st_size, r->seconds);
    emit_array(&json, "clips");
    for (uint32_t i = 0; i < job->clip_count; i++) {
        const bake_clip *c = &job->rows[i];
        emit(&json,
             "{ name %s frames %u held_out %d rms %g max %g plain_rms %g plain_max %g "
             "worst_frame %u }",
             c->name, c->count, c->held_out, c->rms, c->max, c->plain_rms, c->plain_max, c->worst);
    }
    emit(&json, "] }");
}

// What rounding alone does to positions.
static double rounding(const bake_job *job)
{
    const uint32_t count = cutis_model_vertex_count(job->model);
    const float *first = bake_target(job, 0);
    double most = 0;
    for (size_t i = 0; i < 3 * (size_t)count; i++) most = fmax(most, fabs((double)first[i]));
    return 1e-6 * most;
}

static void warn(cli_app *app, const bake_job *job)
{
    const double least = rounding(job);
    const uint32_t clips = cutis_model_get(job->baked)->clip_count;
    if (job->sequence && clips > 1 && job->report->helper_count)
        app_note(app,
                 "%s: helpers have tracks in one of %u clips: the others move by the new weights "
                 "alone",
                 job->path, clips);
    if (option_choice(app, OPTION_WEIGHTS) == 2)
        app_note(app, "%s: the errors are those before weights are rounded to 8 bits", job->path);
    for (uint32_t i = 0; i < job->clip_count; i++) {
        const bake_clip *c = &job->rows[i];
        if (c->rms > c->plain_rms * WORSE && c->rms > c->plain_rms + least)
            app_note(app, "%s: %s is worse than plain linear blending: %.4g mm, not %.4g",
                     job->path, row_name(c), 1e3 * c->rms, 1e3 * c->plain_rms);
    }
}

static int read_options(cli_app *app, bake_job *job)
{
    const bool bones = option_given(app, OPTION_BONES);
    job->sequence = !option_given(app, OPTION_METHOD);
    job->method = (cutis_method)option_choice(app, OPTION_METHOD);
    job->fps = option_number(app, OPTION_FPS, 30);
    job->max_error = 1e-3 * option_number(app, OPTION_BAKE_ERROR, 0);
    job->options.influences = option_count(app, OPTION_INFLUENCES, 4);
    job->options.morphs = option_count(app, OPTION_MORPHS, 0);
    if (job->options.influences > 16)
        return app_usage(app, "--influences %u: at most 16", job->options.influences);
    if (job->sequence && !bones && !option_given(app, OPTION_HELPERS) && !(job->max_error > 0))
        return app_usage(app, "want --method METHOD for a model, or --bones N for a sequence");
    if (!job->sequence && bones)
        return app_usage(app, "--bones is for sequences; --helpers adds joints to a model's own");
    if ((bones || option_given(app, OPTION_HELPERS)) && job->max_error > 0)
        return app_usage(app, "--max-error finds the number of joints itself");
    if (!job->sequence && (job->method == CUTIS_METHOD_LBS || job->method == CUTIS_METHOD_RIGID))
        return app_usage(app, "--method %s: engines play it as it is",
                         cutis_method_name(job->method));
    if (!job->sequence && (option_given(app, OPTION_RIG) || option_given(app, OPTION_BAKE_REST)))
        return app_usage(app, "--rest and --rig are for sequences");
    if (job->sequence && option_given(app, OPTION_BAKE_CLIPS))
        return app_usage(app, "--clips is for --method: a sequence is one clip");
    if (option_given(app, OPTION_CLIP) && !option_given(app, OPTION_RIG))
        return app_usage(app, "--clip is of --rig; --clips names those of a model");
    if (job->max_error > 0 && option_choice(app, OPTION_WEIGHTS) == 2)
        return app_usage(app, "--max-error cannot be kept by weights of 8 bits; u16 does");
    if (option_given(app, OPTION_RIG) && option_given(app, OPTION_BAKE_REST))
        return app_usage(app, "--rig has a rest shape of its own");
    job->options.helpers = bones ? option_count(app, OPTION_BONES, 1)
                                 : option_count(app, OPTION_HELPERS, HELPERS_DEFAULT);
    return EXIT_GOOD;
}

static int run(cli_app *app, bake_job *job)
{
    const char *report = option_text(app, OPTION_REPORT);
    TRY(app_output(app, ".glb .gltf", &job->output)); // others hold no weights
    if (report) TRY(app_check_output_as(app, "--report", report, ".html"));
    TRY(read_options(app, job));
    TRY(app_open_device(app, &job->device));
    if (job->sequence) {
        TRY(bake_read(app, job));
    } else {
        TRY(app_read_model(app, job->path, &job->model));
        TRY(bake_play(app, job));
    }
    TRY(make_plain(app, job));
    if (job->max_error > 0)
        TRY(bake_within(app, job));
    else
        TRY(bake_with(app, job, job->options.helpers));
    app_progress_done(app);
    warn(app, job);
    TRY(app_write_model(app, job->baked, job->output));
    if (report) TRY(bake_report(app, job, report));
    say(app, job);
    if (app->json) emit_result(job);
    return EXIT_GOOD;
}

static void close_job(bake_job *job)
{
    bake_stream_close(job->stream);
    free(job->poses);
    free(job->positions);
    free(job->times);
    free(job->clips);
    free(job->held_out);
    free(job->rows);
    free(job->counted);
    free(job->series[0]);
    free(job->series[1]);
    cage_poses_release(&job->cage);
    cutis_bake_report_destroy(job->report);
    cutis_model_destroy(job->baked);
    cutis_model_destroy(job->plain);
    cutis_model_destroy(job->model);
    cutis_device_destroy(job->device);
}

int verb_bake(cli_app *app)
{
    ENDS_BY(close_job) bake_job job = { .path = app->operands[0] };
    return run(app, &job);
}
