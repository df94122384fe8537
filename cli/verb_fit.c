/// cutis fit: a rig, the poses of a clip's keys and a shape for each; out comes a model with
/// weights learned from them (if asked for) and their displacements as morph targets of a pose
/// space. Nothing is written unless the whole fit succeeded.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "play.h"
#include "fit_shapes.h"
#include "parts.h"

/// Where a vertex is farthest from its place in an example.
typedef struct fit_miss {
    double distance; ///< model's units
    uint32_t example;
} fit_miss;

typedef struct fit_job {
    const char *path, *output;
    cutis_model *model, *fitted;
    bool rounded;     ///< learned weights were, after displacements were found
    cutis_model *rig; ///< the model with weights as the file will have them; NULL: its own
    cutis_device *device;
    cutis_pose_fit_options options;
    cutis_pose_fit_report *fit;
    int32_t clip;
    uint32_t count;         ///< examples
    float *times;           ///< of the clip's keys, ascending
    cutis_transform *poses; ///< count * node_count
    fit_shapes shapes;
    cutis_pose_examples examples; ///< of the two above
    cutis_pose_learner *learner;  ///< of parts; NULL: none yet
    uint32_t *keep_joints;
    uint8_t *keep_vertices;
    bool played[3];      ///< of PLAYED: wanted in the report
    double *residual[3]; ///< per example, in the model's units: lbs, psd, wpsd; NULL: not played
    fit_miss *missed[3]; ///< per vertex of those played: where it misses its examples most
} fit_job;

/// A vertex that is off an example by more than this part of the diagonal does not pass through it:
/// a hundred times the rounding of coordinates.
static const double MISS = 1e-5;
static const double FAR = 0.5; // diagonals: no sculpt is so far from what its pose shows
#define MISSES_SHOWN 8

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

// Poses are of joints: what a clip does with morph targets is not among the examples.
static void note_morphs(cli_app *app, const fit_job *job)
{
    const cutis_clip *clip = &cutis_model_get(job->model)->clips[job->clip];
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        if (clip->channels[c].path != CUTIS_PATH_WEIGHTS) continue;
        app_note(app,
                 "%s: the clip of --poses moves morph targets, which rest here: shapes that have "
                 "them moved are not met",
                 job->path);
        return;
    }
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
    o->prior = option_given(app, OPTION_PRIOR) ? option_number(app, OPTION_PRIOR, 0)
               : o->paper.normalise            ? 0
                                               : CUTIS_PRIOR_AUTO;
    o->own_joints = option_given(app, OPTION_OWN_JOINTS);
    o->kernel = (cutis_pose_kernel)option_choice(app, OPTION_KERNEL);
    o->distance = (cutis_pose_distance)option_choice(app, OPTION_DISTANCE);
    o->sigma = (float)option_number(app, OPTION_SIGMA, 0);
    o->after = option_given(app, OPTION_AFTER);
    o->principal_poses = option_count(app, OPTION_PRINCIPAL_POSES, 0);
    const char *space = option_text(app, OPTION_POSE_SPACE);
    job->played[0] = true;
    job->played[1] = !o->weights_only && (!space || strcmp(space, "psd") == 0);
    job->played[2] = !o->weights_only && (!space || strcmp(space, "wpsd") == 0);
    if (!o->learn_weights && (o->weights_only || o->paper.normalise || o->influences ||
                              o->own_joints || option_given(app, OPTION_PRIOR)))
        return app_usage(app, "--weights-only, --normalise, --influences, --own-joints and --prior "
                              "go with --learn-weights");
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
    job->missed[m] = calloc(vertices + 1, sizeof **job->missed);
    if (!job->residual[m] || !job->missed[m]) return no_memory(app);
    TRY(app_result(app, job->path, cutis_bind(job->device, job->fitted, &options, &binding)));
    const size_t nodes = cutis_model_get(job->fitted)->node_count;
    for (uint32_t k = 0; k < job->count; k++) {
        const float *shape = fit_shapes_get(&job->shapes, k);
        double sum = 0, square = 0;
        if (!shape) return app_fail(app, option_text(app, OPTION_SHAPES), CUTIS_FILE_READ);
        TRY(app_result(app, job->path,
                       cutis_deform(binding, &(cutis_poses){ .local = job->poses + k * nodes }, 1,
                                    &(cutis_outputs){ .positions = { .data = out } })));
        for (size_t i = 0; i < 3 * vertices; i++) {
            const double own = ((double)out[i] - shape[i]) * ((double)out[i] - shape[i]);
            sum += own;
            square = i % 3 ? square + own : own;
            fit_miss *miss = &job->missed[m][i / 3];
            if (i % 3 == 2 && sqrt(square) > miss->distance) *miss = (fit_miss){ sqrt(square), k };
        }
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

static bool shapes_differ(const fit_job *job, uint32_t a, uint32_t b, size_t vertex)
{
    const float *p = fit_shapes_get(&job->shapes, a) + 3 * vertex; // displaced: in memory
    const float *q = fit_shapes_get(&job->shapes, b) + 3 * vertex;
    return hypot(hypot((double)p[0] - q[0], (double)p[1] - q[1]), (double)p[2] - q[2]) >
           MISS * job->fit->diagonal;
}

// Why a vertex misses an example.
static const char *reason_of(const fit_job *job, int m, size_t vertex)
{
    const uint32_t example = job->missed[m][vertex].example, first = job->fit->same_as[example];
    static char text[128];
    for (uint32_t k = 0; k < job->count; k++) {
        const bool twins = k != example && job->fit->same_as[k] == first;
        if (!twins || !shapes_differ(job, k, example, vertex)) continue;
        snprintf(text, sizeof text, "example %u has the same pose and another shape", k);
        return text;
    }
    if (first == UINT32_MAX) return "its pose is the rest pose, and its shape is not";
    if (job->fit->field_count < job->fit->pose_count - 1) return "principal poses leave it out";
    if (m == 2 && job->missed[1] && job->missed[1][vertex].distance <= MISS * job->fit->diagonal)
        return "its weights hardly tell poses apart that ask for different shapes";
    if (job->rounded) return "its learned weights are rounded to the bits of the file";
    if (!job->fit->damped_count) return "floats do not tell its pose from the nearest one";
    return "blending is nearly singular there (--after-skinning reaches it)";
}

static uint64_t count_misses(const fit_job *job, int m, size_t *worst)
{
    uint64_t count = 0;
    *worst = 0;
    for (size_t v = 0; v < cutis_model_vertex_count(job->fitted); v++) {
        count += job->missed[m][v].distance > MISS * job->fit->diagonal;
        if (job->missed[m][v].distance > job->missed[m][*worst].distance) *worst = v;
    }
    return count;
}

// The vertices that do not pass through their examples: how many, the first ones, why.
static void note_misses(cli_app *app, const fit_job *job)
{
    for (int m = 1; m < 3; m++) {
        size_t worst;
        if (!job->missed[m]) continue;
        const uint64_t count = count_misses(job, m, &worst);
        if (!count) continue;
        app_note(app,
                 "%s: %s: %ju vertices miss an example by more than %g of the diagonal, at most "
                 "vertex %zu in example %u by %.3g",
                 job->path, m == 1 ? "psd" : "wpsd", count, MISS, worst,
                 job->missed[m][worst].example,
                 job->missed[m][worst].distance / job->fit->diagonal);
        uint32_t shown = 0;
        for (size_t v = 0; v < cutis_model_vertex_count(job->fitted) && shown < MISSES_SHOWN; v++) {
            if (!(job->missed[m][v].distance > MISS * job->fit->diagonal)) continue;
            shown++;
            app_note(app, "vertex %zu, example %u, %.3g: %s", v, job->missed[m][v].example,
                     job->missed[m][v].distance / job->fit->diagonal, reason_of(job, m, v));
        }
    }
}

// Examples that ask for different shapes in one pose.
static void note_contradictions(cli_app *app, const fit_job *job)
{
    const cutis_pose_fit_report *f = job->fit;
    for (uint32_t i = 0; i < f->contradiction_count && i < MISSES_SHOWN; i++) {
        const cutis_pose_contradiction *c = &f->contradictions[i];
        char other[40] = "the rest pose";
        if (c->first != UINT32_MAX) snprintf(other, sizeof other, "example %u", c->first);
        app_note(
            app,
            "%s: example %u contradicts %s: poses %.2g degrees apart, shapes up to %.2g of the "
            "diagonal (vertex %u; %ju vertices above 0.001)",
            job->path, c->second, other, c->radians * 57.29577951308232, c->off / f->diagonal,
            c->vertex, c->vertex_count);
    }
    if (f->contradiction_count > MISSES_SHOWN)
        app_note(app, "%s: %u pairs of examples contradict each other", job->path,
                 f->contradiction_count);
}

// Weights in as many bits as are asked for, as the file will have them; floats are left alone.
static int round_weights(cli_app *app, const fit_job *job, cutis_model **model)
{
    static const uint32_t TOTALS[] = { 0, 65535, 255 };
    const uint32_t total = TOTALS[option_choice(app, OPTION_WEIGHTS)];
    cutis_model *rounded = NULL;
    if (!total) return EXIT_GOOD;
    TRY(app_result(app, job->path,
                   cutis_weights_round(*model ? *model : job->model, total, &rounded)));
    cutis_model_destroy(*model);
    *model = rounded;
    return EXIT_GOOD;
}

// In place of a fit that there may be: of job->rig, or the model. What is told of the model's own
// weights, before, stays.
static int fit_once(cli_app *app, fit_job *job, const cutis_pose_fit_options *options)
{
    OWN(cutis_pose_fit_report) *first = job->fit;
    cutis_model_destroy(job->fitted);
    job->fitted = NULL, job->fit = NULL;
    const cutis_result result = cutis_poses_fit(job->rig ? job->rig : job->model, job->device,
                                                &job->examples, options, &job->fitted, &job->fit);
    app_progress_done(app);
    if (result != CUTIS_OK) return app_fail(app, job->path, result);
    if (!first || !first->before || !job->fit->before) return EXIT_GOOD;
    job->fit->before_rms = first->before_rms;
    memcpy((double *)job->fit->before, first->before, job->count * sizeof *first->before);
    return EXIT_GOOD;
}

// The largest of the rig's weights were better than what was learned; the fit left all of them,
// which are more than may be written.
static int fit_fewer(cli_app *app, fit_job *job)
{
    const cutis_pose_fit_options *o = &job->options;
    cutis_weight_summary summary;
    if (!o->influences || o->keep_joint_count || o->keep_vertices) return EXIT_GOOD;
    TRY(app_result(app, job->path, cutis_weights_summarize(job->fitted, &summary)));
    if (summary.max_influences <= o->influences) return EXIT_GOOD;
    TRY(app_result(app, job->path, cutis_weights_limit(job->model, o->influences, &job->rig)));
    if (!o->weights_only) return fit_once(app, job, o);
    cutis_model_destroy(job->fitted); // which is the model
    job->fitted = job->rig, job->rig = NULL;
    return EXIT_GOOD;
}

// The rig's weights stay, rounded: displacements are of these. What was found while learning is
// still told.
static int fit_rounded(cli_app *app, fit_job *job)
{
    const double prior = job->fit->prior, own = job->fit->left_out_own,
                 plain = job->fit->left_out_plain, rms = job->fit->left_out_rms;
    cutis_pose_fit_options options = job->options;
    options.learn_weights = options.own_joints = false;
    options.keep_joint_count = 0, options.keep_joints = NULL, options.keep_vertices = NULL;
    TRY(round_weights(app, job, &job->rig));
    if (!job->rig) return EXIT_GOOD;
    TRY(fit_once(app, job, &options));
    job->fit->prior = prior;
    job->fit->left_out_own = own, job->fit->left_out_plain = plain, job->fit->left_out_rms = rms;
    return EXIT_GOOD;
}

// Displacements are of the weights that the file will have, so that it meets the examples, and
// errors are of them. Weights that were learned are rounded at the end alone.
static int fit_as_written(cli_app *app, fit_job *job)
{
    const cutis_pose_fit_options *o = &job->options;
    if (!o->learn_weights) TRY(round_weights(app, job, &job->rig));
    TRY(fit_once(app, job, o));
    if (!o->learn_weights) return EXIT_GOOD;
    if (isinf(job->fit->prior)) TRY(fit_fewer(app, job));
    if (isinf(job->fit->prior) && !o->weights_only) return fit_rounded(app, job);
    job->rounded = option_choice(app, OPTION_WEIGHTS) != 0;
    return round_weights(app, job, &job->fitted);
}

// Shapes that are nowhere near their poses are met all the same, by displacements as large as that:
// in millimetres, lying, or with their vertices in another order.
static void note_far(cli_app *app, const fit_job *job)
{
    const cutis_pose_fit_report *fit = job->fit;
    uint32_t worst = 0;
    if (!fit->before) return;
    for (uint32_t e = 1; e < fit->example_count; e++)
        if (fit->before[e] > fit->before[worst]) worst = e;
    if (!(fit->before[worst] > FAR * fit->diagonal)) return;
    app_note(app,
             "%s: example %u is %.3g diagonals of the body away from its pose (RMS): another unit, "
             "axis up, place or order of vertices? (--units, --up)",
             job->path, worst, fit->before[worst] / fit->diagonal);
}

static int fit_model(cli_app *app, fit_job *job)
{
    TRY(fit_as_written(app, job));
    const cutis_pose_fit_report *fit = job->fit;
    note_far(app, job);
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
    if (!fit->one_out.group_count)
        app_note(app,
                 "%s: nothing could be left out, there is one example alone: how it does in other "
                 "poses is not known",
                 job->path);
    int status = play_examples(app, job);
    if (status == EXIT_GOOD) note_misses(app, job);
    if (status == EXIT_GOOD) note_contradictions(app, job);
    return status == EXIT_GOOD ? app_write_model(app, job->fitted, job->output) : status;
}

// What the fit is off in examples it has not seen.
static void say_one_out(const cli_app *app, const fit_job *job)
{
    const cutis_pose_left_out *o = &job->fit->one_out;
    if (!o->group_count) return;
    app_say(app,
            o->group_count == job->count ? "each pose left out in turn" : "%u stretches left out",
            o->group_count);
    app_say(app, " (%u vertices): rms ssd %.3e", o->vertex_count, o->ssd_rms);
    if (o->psd && job->played[1]) app_say(app, ", psd %.3e", o->psd_rms);
    if (o->wpsd && job->played[2]) app_say(app, ", wpsd %.3e", o->wpsd_rms);
    app_say(app, "\n");
}

static void say_number(const cli_app *app, const double *values, uint32_t k)
{
    char text[32] = "-";
    if (values) snprintf(text, sizeof text, "%.3e", values[k]);
    app_say(app, " %12s", text);
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
    if (f->left_out_plain > 0) {
        app_say(app, "poses left out: rms %.3e with the rig's weights, %.3e learned plainly, ",
                f->left_out_own, f->left_out_plain);
        if (isinf(f->prior))
            app_say(app, "so the rig's stay\n");
        else if (f->prior == 0)
            app_say(app, "so these are taken\n");
        else
            app_say(app, "%.3e drawn to the rig's\n", f->left_out_rms);
    }
    say_one_out(app, job);
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
    const cutis_pose_left_out *o = &f->one_out;
    app_say(app, "\n%s%-6s %8s %12s %12s %12s %12s | %12s %12s %12s%s\n", app_style(app, "1"),
            "pose", "seconds", "before", "ssd", "psd", "wpsd", "left out ssd", "psd", "wpsd",
            app_style(app, "0"));
    for (uint32_t k = 0; k < job->count; k++) {
        app_say(app, "%-6u %8.3f", k, job->times[k]);
        for (int m = 0; m < 4; m++) {
            say_number(app, m == 0 ? f->before : job->residual[m - 1], k);
        }
        app_say(app, " |");
        say_number(app, o->ssd, k);
        say_number(app, job->played[1] ? o->psd : NULL, k);
        say_number(app, job->played[2] ? o->wpsd : NULL, k);
        app_say(app, "\n");
    }
}

static void emit_misses(json_out *json, const fit_job *job, int m)
{
    size_t worst;
    if (!job->missed[m]) return;
    const uint64_t count = count_misses(job, m, &worst);
    emit(json, m == 1 ? "psd_worst %g psd_missed %ju" : "wpsd_worst %g wpsd_missed %ju",
         job->missed[m][worst].distance / job->fit->diagonal, count);
    emit_array(json, m == 1 ? "psd_misses" : "wpsd_misses");
    for (size_t v = 0; v < cutis_model_vertex_count(job->fitted); v++)
        if (job->missed[m][v].distance > MISS * job->fit->diagonal)
            emit(json, "{ vertex %u example %u off %g why %s }", (uint32_t)v,
                 job->missed[m][v].example, job->missed[m][v].distance / job->fit->diagonal,
                 reason_of(job, m, v));
    emit(json, "]");
}

static void emit_one_out(json_out *json, const fit_job *job)
{
    const cutis_pose_fit_report *f = job->fit;
    const cutis_pose_left_out *o = &f->one_out;
    if (o->group_count) {
        emit(json, "leave_one_out { groups %u vertices %u ssd_rms %g", o->group_count,
             o->vertex_count, o->ssd_rms);
        emit_numbers(json, "ssd", o->ssd, job->count);
        for (int m = 1; m < 3; m++) {
            const double *values = m == 1 ? o->psd : o->wpsd;
            if (!values || !job->played[m]) continue;
            emit(json, m == 1 ? "psd_rms %g" : "wpsd_rms %g", m == 1 ? o->psd_rms : o->wpsd_rms);
            emit_numbers(json, m == 1 ? "psd" : "wpsd", values, job->count);
        }
        emit(json, "}");
    }
    emit_array(json, "contradictions");
    for (uint32_t i = 0; i < f->contradiction_count && i < CUTIS_CONTRADICTIONS; i++) {
        const cutis_pose_contradiction *c = &f->contradictions[i];
        emit(json, "{ first %g second %u radians %g off %g vertex %u vertices %ju }",
             c->first == UINT32_MAX ? -1.0 : (double)c->first, c->second, c->radians,
             c->off / f->diagonal, c->vertex, c->vertex_count);
    }
    emit(json, "]");
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
    if (f->left_out_plain > 0)
        emit(&json, "left_out { rig %g plain %g learned %g } prior %g", f->left_out_own,
             f->left_out_plain, f->left_out_rms, isinf(f->prior) ? -1.0 : f->prior);
    emit_one_out(&json, job);
    for (int m = 1; m < 3; m++) emit_misses(&json, job, m);
    emit_end(&json);
}

static void close_job(fit_job *job)
{
    for (int m = 0; m < 3; m++) free(job->residual[m]), free(job->missed[m]);
    free(job->keep_vertices);
    free(job->keep_joints);
    cutis_pose_learner_destroy(job->learner);
    fit_shapes_release(&job->shapes);
    free(job->poses);
    free(job->times);
    cutis_pose_fit_report_destroy(job->fit);
    cutis_model_destroy(job->fitted);
    cutis_model_destroy(job->rig);
    cutis_device_destroy(job->device);
    cutis_model_destroy(job->model);
}

static int open_model(cli_app *app, fit_job *job)
{
    job->path = app->operands[0];
    TRY(app_output(app, ".glb .gltf", &job->output));
    TRY(read_options(app, job));
    return app_read_model(app, job->path, &job->model);
}

// Everything that a fit of the model needs, once.
static int open_examples(cli_app *app, fit_job *job)
{
    if (job->device) return EXIT_GOOD;
    TRY(clip_find_text(app, job->path, option_text(app, OPTION_FIT_POSES), &job->model,
                       &job->clip));
    TRY(find_keys(app, job));
    TRY(sample_poses(app, job));
    note_morphs(app, job);
    TRY(fit_shapes_read(app, job->path, job->model, job->count, job->poses,
                        job->options.weights_only, &job->shapes));
    TRY(read_locks(app, job));
    job->examples = (cutis_pose_examples){ job->count, job->poses, job->shapes.positions, NULL };
    if (!job->shapes.positions)
        job->options.read = fit_shapes_some, job->options.user = &job->shapes;
    return app_open_device(app, &job->device);
}

static int finish_fit(cli_app *app, fit_job *job)
{
    TRY(open_examples(app, job));
    TRY(fit_model(app, job));
    say_result(app, job);
    if (app->json) emit_result(job);
    return EXIT_GOOD;
}

int verb_fit(cli_app *app)
{
    ENDS_BY(close_job) fit_job job = { 0 };
    TRY(open_model(app, &job));
    return finish_fit(app, &job);
}

// In parts, for the farm --------------------------------------------------------------------------

static void fit_close(void *data)
{
    if (!data) return;
    close_job(data);
    free(data);
}

static int fit_open(cli_app *app, uint32_t *parts, uint32_t *vertices, void **out)
{
    fit_job *job = *out = calloc(1, sizeof *job);
    if (!job) return no_memory(app);
    TRY(open_model(app, job));
    *parts = cutis_poses_part_count(job->model);
    *vertices = cutis_model_vertex_count(job->model);
    return EXIT_GOOD;
}

// Parts need nothing of each other.
static uint32_t fit_needs(uint32_t parts, uint32_t part)
{
    return part < parts ? 0 : parts;
}

static int fit_prepare(cli_app *app, void *data)
{
    fit_job *job = data;
    TRY(open_examples(app, job));
    if (job->learner) return EXIT_GOOD;
    return app_result(app, job->path,
                      cutis_pose_learner_create(job->model, job->device, &job->examples,
                                                &job->options, &job->learner));
}

static int fit_learn(cli_app *app, void *data, const part_source *source, uint32_t part,
                     part_bytes *out)
{
    fit_job *job = data;
    (void)source;
    out->of_library = true;
    return app_result(app, job->path,
                      cutis_pose_learner_learn(job->learner, part, &out->data, &out->size));
}

static int fit_finish(cli_app *app, void *data, const part_source *source, uint32_t parts)
{
    fit_job *job = data;
    OWN_MEMORY part_bytes *all = calloc(parts + (size_t)1, sizeof *all);
    OWN_MEMORY const void **bytes = calloc(parts + (size_t)1, sizeof *bytes);
    OWN_MEMORY size_t *sizes = calloc(parts + (size_t)1, sizeof *sizes);
    if (!all || !bytes || !sizes) return no_memory(app);
    int status = EXIT_GOOD;
    for (uint32_t k = 0; k < parts && status == EXIT_GOOD; k++) {
        status = source->get(source, app, k, &all[k]);
        bytes[k] = all[k].data, sizes[k] = all[k].size;
    }
    job->options.part_count = parts;
    job->options.parts = bytes, job->options.part_sizes = sizes;
    if (status == EXIT_GOOD) status = finish_fit(app, job);
    for (uint32_t k = 0; k < parts; k++) part_bytes_free(app, &all[k]);
    return status;
}

const part_verb fit_in_parts = { "fit",     fit_open,   fit_needs, fit_prepare,
                                 fit_learn, fit_finish, fit_close };
