/// cutis fit: a rig, the poses of a clip's keys and a shape for each; out comes a model with
/// weights learned from them (if asked for) and their displacements as morph targets of a pose
/// space. Nothing is written unless the whole fit succeeded.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "play.h"
#include "fit_shapes.h"

typedef struct fit_job {
    const char *path, *output;
    cutis_model *model, *fitted;
    cutis_device *device;
    cutis_pose_fit_options options;
    cutis_pose_fit_report *fit;
    int32_t clip;
    uint32_t count;         ///< examples
    float *times;           ///< of the clip's keys, ascending
    cutis_transform *poses; ///< count * node_count
    float *shapes;          ///< count * vertex_count * 3
    uint32_t *keep_joints;
    uint8_t *keep_vertices;
    bool played[3];      ///< of PLAYED: wanted in the report
    double *residual[3]; ///< per example, in the model's units: lbs, psd, wpsd; NULL: not played
} fit_job;

static const cutis_method PLAYED[3] = { CUTIS_METHOD_LBS, CUTIS_METHOD_PSD, CUTIS_METHOD_WPSD };

static int no_memory(cli_app *app)
{
    return app_fail_text(app, "fit: not enough memory");
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

// The times at which any channel of the clip has a key.
static int find_keys(cli_app *app, fit_job *job)
{
    const cutis_clip *clip = &cutis_model_get(job->model)->clips[job->clip];
    size_t total = 0;
    for (uint32_t c = 0; c < clip->channel_count; c++) total += clip->channels[c].key_count;
    if (!total) return app_fail_text(app, "%s: the clip of --poses has no keys", job->path);
    job->times = malloc(total * sizeof *job->times);
    if (!job->times) return no_memory(app);
    total = 0;
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        memcpy(job->times + total, clip->channels[c].times,
               clip->channels[c].key_count * sizeof *job->times);
        total += clip->channels[c].key_count;
    }
    qsort(job->times, total, sizeof *job->times, compare_floats);
    for (size_t i = 0; i < total; i++)
        if (job->count == 0 || job->times[i] > job->times[job->count - 1])
            job->times[job->count++] = job->times[i];
    return EXIT_GOOD;
}

static int sample_poses(cli_app *app, fit_job *job)
{
    const size_t nodes = cutis_model_get(job->model)->node_count;
    cutis_sampler *sampler = NULL;
    job->poses = calloc(job->count * nodes, sizeof *job->poses);
    if (!job->poses) return no_memory(app);
    TRY(app_result(app, job->path,
                   cutis_sampler_create(job->model, (uint32_t)job->clip, &sampler)));
    for (uint32_t k = 0; k < job->count; k++)
        cutis_sampler_sample(sampler, job->times[k], job->poses + k * nodes, NULL);
    cutis_sampler_destroy(sampler);
    return EXIT_GOOD;
}

// --keep-joints and --keep-vertices, once the model is there.
static int read_locks(cli_app *app, fit_job *job)
{
    const char *names = option_text(app, OPTION_KEEP_JOINTS);
    const char *path = option_text(app, OPTION_KEEP_VERTICES);
    const uint32_t vertices = cutis_model_vertex_count(job->model);
    if (names) job->keep_joints = calloc(strlen(names) + 1, sizeof *job->keep_joints);
    if (names && !job->keep_joints) return no_memory(app);
    size_t span;
    for (const char *entry; names && (entry = next_entry(&names, ",", &span));) {
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)(span < 255 ? span : 255), entry);
        TRY(app_result(app, job->path,
                       cutis_model_find_joint(job->model, name,
                                              &job->keep_joints[job->options.keep_joint_count])));
        job->options.keep_joint_count++;
    }
    job->options.keep_joints = job->keep_joints;
    if (!path) return EXIT_GOOD;
    cutis_array array = { 0 };
    TRY(app_result(app, path, cutis_array_read(app->context, path, &array)));
    int status = EXIT_GOOD;
    job->keep_vertices = calloc(vertices + (size_t)1, 1);
    if (array.dimension_count != 1 || array.dimensions[0] != vertices)
        status = app_fail_text(app, "%s: want one number for each of the model's %u vertices", path,
                               vertices);
    else if (!job->keep_vertices)
        status = no_memory(app);
    else
        for (uint32_t v = 0; v < vertices; v++) job->keep_vertices[v] = array.values[v] != 0;
    job->options.keep_vertices = job->keep_vertices;
    cutis_array_destroy(app->context, &array);
    return status;
}

static int read_options(cli_app *app, fit_job *job)
{
    cutis_pose_fit_options *o = &job->options;
    o->learn_weights = option_given(app, OPTION_LEARN_WEIGHTS);
    o->weights_only = option_given(app, OPTION_WEIGHTS_ONLY);
    o->paper.normalise = option_given(app, OPTION_NORMALISE);
    o->influences = option_count(app, OPTION_INFLUENCES, 0);
    o->kernel = (cutis_pose_kernel)option_choice(app, OPTION_KERNEL);
    o->distance = (cutis_pose_distance)option_choice(app, OPTION_DISTANCE);
    o->sigma = (float)option_number(app, OPTION_SIGMA, 0);
    o->after = option_given(app, OPTION_AFTER);
    o->principal_poses = option_count(app, OPTION_PRINCIPAL_POSES, 0);
    const char *space = option_text(app, OPTION_POSE_SPACE);
    job->played[0] = true;
    job->played[1] = !o->weights_only && (!space || strcmp(space, "psd") == 0);
    job->played[2] = !o->weights_only && (!space || strcmp(space, "wpsd") == 0);
    if (!o->learn_weights && (o->weights_only || o->paper.normalise || o->influences))
        return app_usage(app,
                         "--weights-only, --normalise and --influences go with --learn-weights");
    if (!o->learn_weights &&
        (option_given(app, OPTION_KEEP_JOINTS) || option_given(app, OPTION_KEEP_VERTICES)))
        return app_usage(app, "--keep-joints and --keep-vertices go with --learn-weights");
    if (o->weights_only && (space || o->principal_poses))
        return app_usage(app, "--pose-space and --principal-poses make no sense with "
                              "--weights-only");
    if (!option_given(app, OPTION_FIT_POSES) || !option_given(app, OPTION_SHAPES))
        return app_usage(app, "needs --poses and --shapes");
    return EXIT_GOOD;
}

// Play the result in the example poses and measure what is left.
static int play_method(cli_app *app, fit_job *job, int m, float *out)
{
    const size_t vertices = cutis_model_vertex_count(job->fitted);
    OWN(cutis_binding) *binding = NULL;
    cutis_bind_options options = { .method = PLAYED[m] };
    job->residual[m] = calloc(job->count, sizeof **job->residual);
    if (!job->residual[m]) return no_memory(app);
    TRY(app_result(app, job->path, cutis_bind(job->device, job->fitted, &options, &binding)));
    const size_t nodes = cutis_model_get(job->fitted)->node_count;
    for (uint32_t k = 0; k < job->count; k++) {
        const float *shape = job->shapes + 3 * k * vertices;
        double sum = 0;
        TRY(app_result(app, job->path,
                       cutis_deform(binding, &(cutis_poses){ .local = job->poses + k * nodes }, 1,
                                    &(cutis_outputs){ .positions = { .data = out } })));
        for (size_t i = 0; i < 3 * vertices; i++)
            sum += ((double)out[i] - shape[i]) * ((double)out[i] - shape[i]);
        job->residual[m][k] = sqrt(sum / (double)vertices);
    }
    return EXIT_GOOD;
}

static int play_examples(cli_app *app, fit_job *job)
{
    OWN_MEMORY float *out = calloc(cutis_model_vertex_count(job->fitted), 3 * sizeof *out);
    if (!out) return no_memory(app);
    for (int m = 0; m < 3; m++)
        if (job->played[m]) TRY(play_method(app, job, m, out));
    return EXIT_GOOD;
}

static int fit_model(cli_app *app, fit_job *job)
{
    cutis_pose_examples examples = { job->count, job->poses, job->shapes, NULL };
    cutis_result result =
        cutis_poses_fit(job->model, job->device, &examples, &job->options, &job->fitted, &job->fit);
    app_progress_done(app);
    if (result != CUTIS_OK) return app_fail(app, job->path, result);
    const cutis_pose_fit_report *fit = job->fit;
    if (fit->ambiguous_count && job->played[2])
        app_note(
            app,
            "%s: %ju vertices follow joints that have no weight on them: wpsd plays what differs "
            "as psd does, not locally",
            job->path, fit->ambiguous_count);
    if (fit->damped_count)
        app_note(app,
                 "%s: blending is nearly singular at %ju vertices; they do not reach their "
                 "shape exactly (--after-skinning does)",
                 job->path, fit->damped_count);
    int status = play_examples(app, job);
    return status == EXIT_GOOD ? app_write_model(app, job->fitted, job->output) : status;
}

static void say_result(const cli_app *app, const fit_job *job)
{
    const cutis_pose_fit_report *f = job->fit;
    app_say(app, "%s: %u examples, %u distinct poses with rest, %ju vertices\n", job->output,
            f->example_count, f->pose_count, f->vertex_count);
    if (job->options.learn_weights)
        app_say(app,
                "weights learned: %.4f of the weight discarded in the mean, %.4f at most; %ju "
                "vertices by nearness to the bones\n",
                f->discarded_mean, f->discarded_max, f->deficient_count);
    app_say(app, "still joints %u, damped vertices %ju, ambiguous vertices %ju\n",
            f->still_joint_count, f->damped_count, f->ambiguous_count);
    if (!job->options.weights_only)
        app_say(app,
                "sigma %.4f rad, condition %.3g; memory: psd %.0f KiB, wpsd %.0f KiB, the paper's "
                "layout %.0f KiB\n",
                f->sigma, f->condition, (double)f->psd_bytes / 1024, (double)f->wpsd_bytes / 1024,
                (double)f->paper_bytes / 1024);
    if (f->field_count && f->field_count < f->pose_count - 1)
        app_say(app,
                "%u principal fields keep %.4f %% of the displacements, off by %.3g m at most\n",
                f->field_count, 100 * f->energy, f->compression_max);
    app_say(app, "\n%s%-6s %8s %12s %12s %12s %12s%s\n", app_style(app, "1"), "pose", "seconds",
            "before", "ssd", "psd", "wpsd", app_style(app, "0"));
    for (uint32_t k = 0; k < job->count; k++) {
        app_say(app, "%-6u %8.3f", k, job->times[k]);
        for (int m = 0; m < 4; m++) {
            const double *values = m == 0 ? f->before : job->residual[m - 1];
            char text[32] = "-";
            if (values) snprintf(text, sizeof text, "%.3e", values[k]);
            app_say(app, " %12s", text);
        }
        app_say(app, "\n");
    }
}

static void emit_result(const fit_job *job)
{
    const cutis_pose_fit_report *f = job->fit;
    static const char *const keys[] = { "before_rms", "ssd_rms", "psd_rms", "wpsd_rms" };
    json_out json = { .file = stdout };
    emit(&json,
         "{ file %s output %s vertices %ju examples %u poses %u merged %u root_counts %d diagonal "
         "%g "
         "discarded_mean %g discarded_max %g deficient_vertices %ju damped_vertices %ju "
         "ambiguous_vertices %ju still_joints [",
         job->path, job->output, f->vertex_count, f->example_count, f->pose_count, f->merged_count,
         f->root_counts, f->diagonal, f->discarded_mean, f->discarded_max, f->deficient_count,
         f->damped_count, f->ambiguous_count);
    for (uint32_t i = 0; i < f->still_joint_count; i++) {
        const char *name = cutis_model_get(job->model)->nodes[f->still_joints[i]].name;
        if (name)
            emit_string(&json, NULL, name);
        else
            emit_count(&json, NULL, f->still_joints[i]);
    }
    emit(&json,
         "] sigma %g condition %g displacement_max %g fields %u energy %g compression_max %g "
         "paper_bytes %ju psd_bytes %ju wpsd_bytes %ju",
         f->sigma, f->condition, f->displacement_max, f->field_count, f->energy, f->compression_max,
         f->paper_bytes, f->psd_bytes, f->wpsd_bytes);
    for (int m = 0; m < 4; m++) {
        const double *values = m == 0 ? f->before : job->residual[m - 1];
        if (values) emit_numbers(&json, keys[m], values, job->count);
    }
    emit_end(&json);
}

static void close_job(fit_job *job)
{
    for (int m = 0; m < 3; m++) free(job->residual[m]);
    free(job->keep_vertices);
    free(job->keep_joints);
    free(job->shapes);
    free(job->poses);
    free(job->times);
    cutis_pose_fit_report_destroy(job->fit);
    cutis_model_destroy(job->fitted);
    cutis_device_destroy(job->device);
    cutis_model_destroy(job->model);
}

int verb_fit(cli_app *app)
{
    ENDS_BY(close_job) fit_job job = { .path = app->operands[0] };
    TRY(app_output(app, ".glb .gltf", &job.output));
    TRY(read_options(app, &job));
    TRY(app_read_model(app, job.path, &job.model));
    TRY(clip_find_text(app, job.path, option_text(app, OPTION_FIT_POSES), &job.model, &job.clip));
    TRY(find_keys(app, &job));
    TRY(sample_poses(app, &job));
    TRY(fit_shapes_read(app, job.path, job.model, job.count, job.poses, &job.shapes));
    TRY(read_locks(app, &job));
    TRY(app_open_device(app, &job.device));
    TRY(fit_model(app, &job));
    say_result(app, &job);
    if (app->json) emit_result(&job);
    return EXIT_GOOD;
}
