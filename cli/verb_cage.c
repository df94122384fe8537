/// cutis cage: bind a model to a cage, reduce its weights, write it with the cage or as a plain
/// skin. Nothing is written unless all of it succeeded.
#include "cage_poses.h"

#include <stdlib.h>
#include <string.h>

#include "reduce.h"

typedef struct cage_job {
    const char *path, *cage_path, *output;
    cutis_model *model; ///< as read
    cutis_model *bound;
    cutis_model *written; ///< with --as-skin; else NULL
    cutis_cage *cage;
    cutis_device *device;
    cutis_cage_options options;
    cage_poses examples, held_out, frames;
    cutis_cage_report *report;
    cutis_cage_skin_report skin;
} cage_job;

// Poses to learn from and to judge by; "auto": the library's own.
static int read_learning(cli_app *app, cage_job *job, const cutis_cage *cage, option_id examples_id,
                         option_id held_out_id)
{
    const char *examples = option_text(app, examples_id), *held_out = option_text(app, held_out_id);
    const double fps = option_number(app, OPTION_FPS, 30);
    if (examples && strcmp(examples, "auto") != 0)
        TRY(cage_poses_read(app, examples, cage, fps, &job->examples));
    if (held_out) TRY(cage_poses_read(app, held_out, cage, fps, &job->held_out));
    job->options.examples = job->examples.values;
    job->options.example_count = job->examples.count;
    job->options.held_out = job->held_out.values;
    job->options.held_out_count = job->held_out.count;
    return EXIT_GOOD;
}

static int read_reduction(cli_app *app, cage_job *job)
{
    cutis_cage_options *o = &job->options;
    const char *energy = option_text(app, OPTION_ENERGY);
    if (energy && strcmp(energy, "normals") == 0)
        return app_usage(app, "--energy normals is for skins; cages have gradient and laplace");
    o->method = (cutis_reduce_method)option_choice(app, OPTION_REDUCE_METHOD);
    o->energy = (cutis_reduce_energy)option_choice(app, OPTION_ENERGY);
    o->sets = (cutis_reduce_sets)option_choice(app, OPTION_SETS);
    o->signed_weights = option_given(app, OPTION_SIGNED);
    o->seed = (uint64_t)option_number(app, OPTION_SEED, 1);
    o->compare = option_given(app, OPTION_COMPARE);
    return EXIT_GOOD;
}

static int read_options(cli_app *app, cage_job *job)
{
    cutis_cage_options *o = &job->options;
    o->coordinates = (cutis_coordinates)option_choice(app, OPTION_COORDINATES);
    o->resolution = option_count(app, OPTION_RESOLUTION, 0);
    o->influences = option_count(app, OPTION_INFLUENCES, 0);
    TRY(read_reduction(app, job));
    job->cage_path = option_text(app, OPTION_CAGE);
    if (!job->cage_path) return app_usage(app, "--cage FILE is missing: the mesh around the model");
    if (o->resolution && o->coordinates != CUTIS_COORDINATES_HARMONIC)
        return app_usage(app, "--resolution goes with --coordinates harmonic");
    static const option_id REDUCING[] = { OPTION_CAGE_EXAMPLES, OPTION_CAGE_HELD_OUT,
                                          OPTION_REDUCE_METHOD, OPTION_ENERGY,
                                          OPTION_SETS,          OPTION_COMPARE,
                                          OPTION_SEED };
    for (size_t i = 0; !o->influences && i < sizeof REDUCING / sizeof *REDUCING; i++)
        if (option_given(app, REDUCING[i]))
            return app_usage(app, "reducing needs --influences K: --%s",
                             cli_options[REDUCING[i]].name);
    if (option_given(app, OPTION_CAGE_POSES) && !option_given(app, OPTION_AS_SKIN))
        return app_usage(app, "--cage-poses goes with --as-skin here; cutis deform plays them");
    return EXIT_GOOD;
}

static int read_cage(cli_app *app, cage_job *job)
{
    cutis_model *model = NULL;
    TRY(app_read_model(app, job->cage_path, &model));
    cutis_result result = cutis_cage_create(model, &job->cage);
    cutis_model_destroy(model);
    return app_result(app, job->cage_path, result);
}

static int bind_model(cli_app *app, cage_job *job)
{
    cutis_result result = cutis_cage_bind(job->model, job->device, job->cage, &job->options,
                                          &job->bound, &job->report);
    app_progress_done(app);
    if (result != CUTIS_OK) return app_fail(app, job->path, result);
    const cutis_cage_report *r = job->report;
    if (r->outside_count)
        app_note(app,
                 "%s: %ju of %ju vertices lie outside the cage, the worst is vertex %u, %.4g "
                 "outside; mean value coordinates reach them, but may be large there",
                 job->path, r->outside_count, r->vertex_count, r->outside_worst,
                 r->outside_distance);
    return EXIT_GOOD;
}

static int make_skin(cli_app *app, cage_job *job)
{
    const char *list = option_text(app, OPTION_CAGE_POSES);
    const double fps = option_number(app, OPTION_FPS, 30);
    if (list) TRY(cage_poses_read(app, list, job->cage, fps, &job->frames));
    return app_result(app, job->path,
                      cutis_cage_to_skin(job->bound, job->frames.values, job->frames.count,
                                         (float)fps, &job->written, &job->skin));
}

static void say_rows(const cli_app *app, const cutis_cage_report *r)
{
    if (r->row_count == 0) return;
    app_say(app, "%u example poses and rest, %u held out\n\n", r->example_count, r->held_out_count);
    reduce_say_rows(app, r->rows, r->row_count);
}

static void say_result(const cli_app *app, const cage_job *job)
{
    const cutis_cage_report *r = job->report;
    app_say(app, "%s: %ju vertices, %u controls, %s coordinates in %.3g s\n", job->output,
            r->vertex_count, job->cage->control_count,
            cutis_coordinates_name(job->options.coordinates), r->seconds);
    app_say(app, "weights %.4f to %.4f, rest shape off by at most %.2g %% of the diagonal\n",
            r->weight_min, r->weight_max, r->precision);
    if (r->node_count)
        app_say(app, "grid of %u: %ju nodes inside, %u sweeps, residual %.2g\n", r->resolution,
                r->node_count, r->sweep_count, r->residual);
    say_rows(app, r);
    if (!job->written) return;
    if (!job->skin.paired && job->skin.max_influences <= 4)
        app_say(app, "written as a skin: one joint a control, %u influences, for any player\n",
                job->skin.max_influences);
    else if (!job->skin.paired)
        app_say(app,
                "written as a skin: one joint a control, %u influences, for players that read "
                "JOINTS_1 and on\n",
                job->skin.max_influences);
    else
        app_say(
            app,
            "written as a skin: two joints a control (some weights are negative) moving by plus "
            "and minus %.4g times its way, %u influences, for players that read JOINTS_1 and "
            "on\n",
            job->skin.scale, job->skin.max_influences);
}

static void emit_rows(json_out *json, const cutis_cage_report *r)
{
    emit(
        json,
        "example_poses %u held_out_poses %u reduced_vertices %ju infeasible_vertices %ju methods [",
        r->example_count, r->held_out_count, r->reduced_count, r->infeasible_count);
    for (uint32_t i = 0; i < r->row_count; i++)
        reduce_emit_row(json, &r->rows[i], r->example_count + r->held_out_count);
    emit_end(json);
}

static void emit_result(const cage_job *job)
{
    const cutis_cage_report *r = job->report;
    json_out json = { .file = stdout };
    emit(&json,
         "{ file %s cage %s output %s coordinates %s controls %u vertices %ju outside_vertices %ju "
         "outside_distance %g weight_min %g weight_max %g precision %g resolution %u nodes %ju "
         "sweeps %u residual %g seconds %g",
         job->path, job->cage_path, job->output, cutis_coordinates_name(job->options.coordinates),
         job->cage->control_count, r->vertex_count, r->outside_count, r->outside_distance,
         r->weight_min, r->weight_max, r->precision, r->resolution, r->node_count, r->sweep_count,
         r->residual, r->seconds);
    emit_rows(&json, r);
    emit(&json, "skin { written %d paired %d joints %u influences %u scale %g frames %u } }",
         job->written != NULL, job->skin.paired, job->skin.joint_count, job->skin.max_influences,
         job->skin.scale, job->frames.count);
}

static void close_job(cage_job *job)
{
    cage_poses_release(&job->examples);
    cage_poses_release(&job->held_out);
    cage_poses_release(&job->frames);
    cutis_cage_report_destroy(job->report);
    cutis_model_destroy(job->written);
    cutis_model_destroy(job->bound);
    cutis_cage_destroy(job->cage);
    cutis_device_destroy(job->device);
    cutis_model_destroy(job->model);
}

int verb_cage(cli_app *app)
{
    ENDS_BY(close_job) cage_job job = { .path = app->operands[0] };
    TRY(app_output(app, ".glb .gltf", &job.output)); // others hold no cage
    TRY(read_options(app, &job));
    TRY(app_read_model(app, job.path, &job.model));
    TRY(read_cage(app, &job));
    TRY(read_learning(app, &job, job.cage, OPTION_CAGE_EXAMPLES, OPTION_CAGE_HELD_OUT));
    TRY(app_open_device(app, &job.device));
    TRY(bind_model(app, &job));
    if (option_given(app, OPTION_AS_SKIN)) TRY(make_skin(app, &job));
    TRY(app_write_model(app, job.written ? job.written : job.bound, job.output));
    say_result(app, &job);
    if (app->json) emit_result(&job);
    return EXIT_GOOD;
}

// Of a model that has its cage ------------------------------------------------------------------

static void emit_reduced(const cage_job *job)
{
    json_out json = { .file = stdout };
    emit(&json, "{ file %s output %s vertices %ju", job->path, job->output,
         job->report->vertex_count);
    emit_rows(&json, job->report);
    emit_end(&json);
}

int cage_reduce(cli_app *app, const char *path, const char *output, const cutis_model *model,
                cutis_device *device)
{
    ENDS_BY(close_job) cage_job job = { .path = path, .output = output };
    TRY(read_reduction(app, &job));
    job.options.influences = option_count(app, OPTION_INFLUENCES, 8);
    TRY(read_learning(app, &job, cutis_model_get(model)->cage, OPTION_POSES, OPTION_HELD_OUT));
    TRY(app_result(app, path,
                   cutis_cage_reduce(model, device, &job.options, &job.bound, &job.report)));
    app_progress_done(app);
    TRY(app_write_model(app, job.bound, output));
    app_say(app, "%s: the cage's weights, %u a vertex at most; %ju vertices had more\n",
            // A reduction that succeeds has a report.
            // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
            output, job.options.influences, job.report->reduced_count);
    say_rows(app, job.report);
    if (app->json) emit_reduced(&job);
    return EXIT_GOOD;
}
