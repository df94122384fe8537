/// cutis bake: what a method or a sequence does to a mesh, as joints, weights and tracks that every
/// engine plays.
#include "bake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HELPERS_DEFAULT = 16 };
// A clip is worse than plain linear blending beyond this: where nothing helps both are alike.
static const double WORSE = 1.001;
// A mean turn of normals, in degrees, that could be seen.
static const double SEEN = 0.05;

bool bake_is_bare(const bake_job *job)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(job->model, &instances);
    for (uint32_t i = 0; i < count; i++)
        if (instances[i].skin != CUTIS_NONE) return false;
    return true;
}

// A body without a skin is compared with one rigid motion of the whole.
static int make_plain(cli_app *app, bake_job *job)
{
    if (!bake_is_bare(job)) return EXIT_GOOD;
    const cutis_bake_options one = { .helpers = 1 };
    return app_result(app, job->path,
                      cutis_bake(job->model, job->device, &job->frames, &one, &job->plain, NULL));
}

static const char *row_name(const bake_clip *row)
{
    return row->name ? row->name : "(no name)";
}

uint32_t bake_clip_frames(const bake_job *job)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->clip_count; i++) count += job->rows[i].count;
    return count;
}

static void say_driven(const cli_app *app, const bake_job *job)
{
    const bake_driven *d = &job->driven;
    char how[96] = "";
    if (job->report->helper_count && !job->options.drivers)
        snprintf(how, sizeof how, "  helpers rest");
    if (job->options.drivers && job->report->morph_count)
        snprintf(how, sizeof how, "  driven, morph targets too");
    else if (job->options.drivers)
        snprintf(how, sizeof how, "  driven; best %.4f mm, joints %.1f a helper",
                 1e3 * job->report->unseen_free_rms,
                 job->report->helper_count ? (double)d->inputs / job->report->helper_count : 0);
    app_say(app, "%-16s %7u %11.4f %9.3f %6s %13.4f %9.3f %6s %8.4f%s\n", "unseen poses", d->poses,
            1e3 * d->plain_rms, 1e3 * d->plain_max, "", 1e3 * d->rms, 1e3 * d->max, "",
            d->plain_rms > 0 ? d->rms / d->plain_rms : 0, how);
}

static void say_row(const cli_app *app, const char *name, const bake_clip *c)
{
    app_say(app, "%-16s %7u %11.4f %9.3f %6.3f %13.4f %9.3f %6.3f %8.4f%s\n", name, c->count,
            1e3 * c->plain_rms, 1e3 * c->plain_max, c->plain_normal, 1e3 * c->rms, 1e3 * c->max,
            c->normal, c->plain_rms > 0 ? c->rms / c->plain_rms : 0,
            c->held_out ? "  left out" : "");
}

bake_clip bake_all(const bake_job *job)
{
    return (bake_clip){ .count = bake_clip_frames(job),
                        .rms = job->rms,
                        .max = job->max,
                        .plain_rms = job->plain_rms,
                        .plain_max = job->plain_max,
                        .normal = job->normal,
                        .plain_normal = job->plain_normal };
}

// Frames that weights could be learned from.
static uint32_t learned_frames(const bake_job *job)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < job->frames.count; f++)
        count += !(job->frames.held_out && job->frames.held_out[f]);
    return count;
}

// What the joints cost in the file, and what was said about weights.
static void say_cost(const cli_app *app, const bake_job *job)
{
    static const char *const BITS[] = { "floats", "16 bits", "8 bits" };
    const cutis_bake_report *r = job->report;
    const double few = job->format_ratios[CUTIS_WEIGHTS_U8];
    struct stat before, after;
    char others[64] = "";
    if (r->morph_count) app_say(app, "%-16s %u\n", "morph targets", r->morph_count);
    if (r->learned_frames < learned_frames(job))
        app_say(app, "%-16s %u of %u frames, what --memory holds\n", "learned from",
                r->learned_frames, learned_frames(job));
    if (r->kept_count && r->helper_count)
        app_say(app, "%-16s %ju vertices keep their own, which do better\n", "weights",
                (uintmax_t)r->kept_count);
    if (job->format != CUTIS_WEIGHTS_U8 && few > 0 && job->rms > 0)
        snprintf(others, sizeof others, "; 8 would make %.3g times the error", few);
    app_say(app, "%-16s %s%s\n", r->kept_count && r->helper_count ? "" : "weights",
            BITS[job->format], others);
    if (has_extension(job->path, ".glb") && stat(job->output, &after) == 0 &&
        stat(job->path, &before) == 0)
        app_say(app, "%-16s %ju, the input has %ju\n", "bytes", (uintmax_t)after.st_size,
                (uintmax_t)before.st_size);
}

static void say(const cli_app *app, const bake_job *job)
{
    const cutis_bake_report *r = job->report;
    const bake_clip all = bake_all(job);
    app_say(app, "%s: %u %s, %ju vertices, %.2f s\n", job->output, r->helper_count,
            r->joint_count ? "helper joints" : "joints", (uintmax_t)r->vertex_count, r->seconds);
    say_cost(app, job);
    app_say(app, "%s%-16s %7s %11s %9s %6s %13s %9s %6s %8s%s\n", app_style(app, "1"), "clip",
            "frames", job->plain ? "rigid rms mm" : "lbs rms mm", "max", "deg", "baked rms mm",
            "max", "deg", "ratio", app_style(app, "0"));
    for (uint32_t i = 0; i < job->clip_count; i++)
        say_row(app, row_name(&job->rows[i]), &job->rows[i]);
    say_row(app, "all", &all);
    if (job->driven.poses) say_driven(app, job);
    bake_say_left(app, job);
}

static void emit_clip(json_out *json, const bake_clip *c)
{
    emit(json,
         "{ name %s frames %u held_out %d rms %g max %g plain_rms %g plain_max %g "
         "normal_degrees %g plain_normal_degrees %g worst_frame %u }",
         c->name, c->count, c->held_out, c->rms, c->max, c->plain_rms, c->plain_max, c->normal,
         c->plain_normal, c->worst);
}

static void emit_result(const bake_job *job)
{
    static const char *const NAMES[] = { "float", "u16", "u8" };
    const cutis_bake_report *r = job->report;
    struct stat info = { 0 };
    json_out json = { .file = stdout };
    if (stat(job->output, &info) != 0) info.st_size = 0;
    emit(&json,
         "{ file %s output %s method %s limits %s helpers %u morphs %u joints %u influences %u "
         "weights %s vertices %ju kept_vertices %ju frames %u learned_frames %u fps %g rms %g max "
         "%g plain_rms %g "
         "plain_max %g ratio %g normal_degrees %g plain_normal_degrees %g bytes %ju seconds %g",
         job->path, job->output, job->sequence ? NULL : cutis_method_name(job->method), job->player,
         r->helper_count, r->morph_count, r->joint_count, job->options.influences,
         NAMES[job->format], (uintmax_t)r->vertex_count, (uintmax_t)r->kept_count,
         bake_clip_frames(job), r->learned_frames, job->fps, job->rms, job->max, job->plain_rms,
         job->plain_max, job->plain_rms > 0 ? job->rms / job->plain_rms : NAN, job->normal,
         job->plain_normal, (uintmax_t)info.st_size, r->seconds);
    if (job->driven.poses)
        emit(&json, "unseen { poses %u rms %g max %g plain_rms %g plain_max %g ratio %g",
             job->driven.poses, job->driven.rms, job->driven.max, job->driven.plain_rms,
             job->driven.plain_max,
             job->driven.plain_rms > 0 ? job->driven.rms / job->driven.plain_rms : NAN);
    if (job->driven.poses && job->options.drivers)
        emit(&json, "inputs %u free_rms %g", job->driven.inputs, r->unseen_free_rms);
    if (job->driven.poses) emit(&json, "}");
    emit_array(&json, "clips");
    for (uint32_t i = 0; i < job->clip_count; i++) emit_clip(&json, &job->rows[i]);
    emit(&json, "]");
    bake_emit_left(&json, job);
    emit(&json, "}");
}

double bake_unseen(const bake_job *job)
{
    const uint32_t count = cutis_model_vertex_count(job->model);
    const float *first = bake_target(job, 0);
    double most = 0;
    for (size_t i = 0; i < 3 * (size_t)count; i++) most = fmax(most, fabs((double)first[i]));
    return 2e-5 * most;
}

// What rounding does to positions.
static double rounding(const bake_job *job)
{
    return 0.05 * bake_unseen(job);
}

bool bake_is_worse(const bake_job *job, const bake_clip *c)
{
    return c->rms > c->plain_rms * WORSE && c->rms > c->plain_rms + rounding(job);
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
    for (uint32_t i = 0; i < job->clip_count; i++) {
        const bake_clip *c = &job->rows[i];
        if (bake_is_worse(job, c))
            app_note(app, "%s: %s is worse than plain linear blending: %.4g mm, not %.4g",
                     job->path, row_name(c), 1e3 * c->rms, 1e3 * c->plain_rms);
        if (!job->plain && c->normal > c->plain_normal * WORSE &&
            c->normal > c->plain_normal + SEEN)
            app_note(app,
                     "%s: normals of %s are worse than those of plain linear blending: %.3g "
                     "degrees, not %.3g",
                     job->path, row_name(c), c->normal, c->plain_normal);
    }
    const bake_driven *d = &job->driven;
    if (d->poses && d->rms > d->plain_rms * WORSE && d->rms > d->plain_rms + least)
        app_note(app,
                 "%s: random poses are worse than by plain linear blending: %.4g mm, not %.4g%s",
                 job->path, 1e3 * d->rms, 1e3 * d->plain_rms,
                 job->options.drivers || job->report->helper_count == 0
                     ? ""
                     : " (helpers rest there; --drivers moves them)");
    bake_note_left(app, job);
}

int bake_read_options(cli_app *app, bake_job *job)
{
    const char *report = option_text(app, OPTION_REPORT);
    TRY(app_output(app, ".glb .gltf", &job->output)); // others hold no weights
    if (report) TRY(app_check_output_as(app, "--report", report, ".html"));
    const bool bones = option_given(app, OPTION_BONES);
    job->sequence = !option_given(app, OPTION_METHOD);
    job->method = (cutis_method)option_choice(app, OPTION_METHOD);
    job->fps = option_number(app, OPTION_FPS, 30);
    job->max_error = 1e-3 * option_number(app, OPTION_BAKE_ERROR, 0);
    job->frames.budget = (uint64_t)(1e9 * option_number(app, OPTION_MEMORY, 2));
    job->options.influences = option_count(app, OPTION_INFLUENCES, 4);
    job->options.morphs = option_count(app, OPTION_MORPHS, 0);
    job->options.drivers = option_given(app, OPTION_BAKE_DRIVERS);
    if (job->options.drivers && (job->sequence || option_given(app, OPTION_CAGE_POSES)))
        return app_usage(app, "--drivers is for --method: joints have to move what is baked");
    if (job->options.drivers && option_given(app, OPTION_HELPERS) && job->options.morphs == 0 &&
        option_count(app, OPTION_HELPERS, 1) == 0)
        return app_usage(app,
                         "--drivers moves helpers and morph targets: --helpers 1 or --morphs 1 "
                         "at least");
    if (job->options.influences > 16)
        return app_usage(app, "--influences %u: at most 16", job->options.influences);
    TRY(bake_read_limits(app, job));
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
    if (option_given(app, OPTION_RIG) && option_given(app, OPTION_BAKE_REST))
        return app_usage(app, "--rig has a rest shape of its own");
    job->options.helpers = bones ? option_count(app, OPTION_BONES, 1)
                                 : option_count(app, OPTION_HELPERS, HELPERS_DEFAULT);
    return EXIT_GOOD;
}

int bake_begin(cli_app *app, bake_job *job)
{
    TRY(app_open_device(app, &job->device));
    if (job->sequence) return bake_read(app, job);
    TRY(app_read_model(app, job->path, &job->model));
    return bake_play(app, job);
}

int bake_end(cli_app *app, bake_job *job)
{
    const char *report = option_text(app, OPTION_REPORT);
    TRY(bake_search(app, job));
    TRY(bake_find_left(app, job));
    TRY(bake_check_targets(app, job));
    app_progress_done(app);
    warn(app, job);
    app->weight_format = &job->format;
    TRY(app_write_model(app, job->baked, job->output));
    if (report) TRY(bake_report(app, job, report));
    say(app, job);
    if (app->json) emit_result(job);
    return EXIT_GOOD;
}

void bake_close(bake_job *job)
{
    bake_stream_close(job->stream);
    free(job->poses);
    free(job->positions);
    free(job->normals);
    free(job->times);
    free(job->clips);
    free(job->held_out);
    free(job->rows);
    free(job->counted);
    free(job->series[0]);
    free(job->series[1]);
    free(job->squares[0]);
    free(job->squares[1]);
    cage_poses_release(&job->cage);
    cutis_bake_report_destroy(job->report);
    cutis_model_destroy(job->baked);
    cutis_model_destroy(job->plain);
    cutis_model_destroy(job->model);
    cutis_device_destroy(job->device);
}

int verb_bake(cli_app *app)
{
    ENDS_BY(bake_close) bake_job job = { .path = app->operands[0] };
    TRY(bake_read_options(app, &job));
    TRY(bake_begin(app, &job));
    TRY(make_plain(app, &job));
    return bake_end(app, &job);
}
