/// cutis handles: weights for points, bars or a skeleton on anything. Nothing is written unless all
/// of it succeeded.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

static int read_voxels(cli_app *app, handles_job *job)
{
    const char *text = option_text(app, OPTION_VOXELS);
    if (!text) return EXIT_GOOD;
    if (strcmp(text, "auto") == 0) {
        job->options.voxels_auto = true;
        return EXIT_GOOD;
    }
    char *end = NULL;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || value < 8 || value > 1024)
        return app_usage(app, "--voxels: \"%s\" is no number from 8 to 1024, nor auto", text);
    job->options.voxels = (uint32_t)value;
    return EXIT_GOOD;
}

static int read_options(cli_app *app, handles_job *job)
{
    const bool skeleton = option_given(app, OPTION_SKELETON);
    cutis_handles_options *o = &job->options;
    if (skeleton == option_given(app, OPTION_HANDLES))
        return app_usage(app, "either --handles FILE or --skeleton");
    o->weighting = (cutis_weighting)option_choice(app, OPTION_WEIGHTING);
    o->influences = option_count(app, OPTION_INFLUENCES, 0);
    o->softness = option_number(app, OPTION_SOFTNESS, 0);
    o->radius = option_number(app, OPTION_RADIUS, 0);
    o->strict = option_given(app, OPTION_STRICT);
    o->reduce = !option_given(app, OPTION_LARGEST);
    if (option_given(app, OPTION_SKIN))
        o->skin_plus_one = (int32_t)option_count(app, OPTION_SKIN, 0) + 1;
    if (skeleton && o->strict)
        return app_usage(app, "--strict is for --handles; a skeleton never fails");
    if (!skeleton && option_given(app, OPTION_SKIN))
        return app_usage(app, "--skin goes with --skeleton");
    if (!skeleton && o->softness > 0) return app_usage(app, "--softness goes with --skeleton");
    if (o->radius > 0 && o->weighting != CUTIS_WEIGHTING_VIRTUAL)
        return app_usage(app, "--radius goes with --weighting virtual; field has no supports");
    int status = read_voxels(app, job);
    if (status == EXIT_GOOD && skeleton && o->voxels_auto)
        return app_usage(app,
                         "--voxels auto is for --handles; bones meet, so no grid separates them");
    return status;
}

static const char *handle_name(const cutis_handles_report *report, uint32_t i, char *out)
{
    if (report->handles[i].name)
        snprintf(out, 96, "\"%.80s\"", report->handles[i].name);
    else
        snprintf(out, 96, "%u", i);
    return out;
}

// What is worth knowing, one line each; of many alike the first and how many more.
static void say_notes(cli_app *app, const handles_job *job)
{
    const cutis_handles_report *r = job->report;
    char name[96];
    uint32_t snapped = 0, shared = 0, first_snapped = 0, first_shared = 0;
    for (uint32_t i = r->handle_count; i-- > 0;) {
        if (r->handles[i].snapped > 0) snapped++, first_snapped = i;
        if (r->handles[i].shared) shared++, first_shared = i;
    }
    if (snapped)
        app_note(app,
                 "%s: %u handle%s outside the model and hold%s its nearest voxel; the first: %s, "
                 "%.4g away",
                 job->path, snapped, snapped == 1 ? " is" : "s are", snapped == 1 ? "s" : "",
                 handle_name(r, first_snapped, name), r->handles[first_snapped].snapped);
    if (shared)
        app_note(app,
                 "%s: %u handle%s at the place of another and share%s its weight; the first: %s",
                 job->path, shared, shared == 1 ? " is" : "s are", shared == 1 ? "s" : "",
                 handle_name(r, first_shared, name));
    if (job->file && r->voxels_needed && r->interpolation_error_max > 0)
        app_note(app,
                 "%s: handles %.4g apart are too close for the grid: a weight at its own handle is "
                 "off by %.2g; "
                 "--voxels %u would do",
                 job->path, r->separation_min, r->interpolation_error_max, r->voxels_needed);
    if (r->orphan_components)
        app_note(app, "%s: %u loose piece%s without a handle follow%s the nearest one", job->path,
                 r->orphan_components, r->orphan_components == 1 ? "" : "s",
                 r->orphan_components == 1 ? "s" : "");
    if (r->joints_without_site)
        app_note(app, "%s: %u joint%s not touch the model and get no weight", job->path,
                 r->joints_without_site, r->joints_without_site == 1 ? " does" : "s do");
}

static void say_result(const cli_app *app, const handles_job *job)
{
    const cutis_handles_report *r = job->report;
    const cutis_handles_seconds *t = &r->seconds;
    app_say(app, "%s: %u %s, %s weighting, %ju voxels (%u along the longest side) in %u piece%s\n",
            job->output, r->real_handles, job->file ? "handles" : "bones",
            cutis_weighting_name(job->options.weighting), r->domain_voxels, r->voxels,
            r->components, r->components == 1 ? "" : "s");
    if (job->options.weighting == CUTIS_WEIGHTING_VIRTUAL)
        app_say(app, "%u virtual handles in %u rounds, coverage %.3f, %u supports at their floor\n",
                r->virtual_handles, r->insertion_rounds, r->coverage_max, r->floored_handles);
    else
        app_say(app, "%u solver iterations\n", r->iterations);
    app_say(
        app,
        "interpolation error %.2g, least separation %.4g, dropped weight mean %.2g, largest %.2g\n",
        r->interpolation_error_max, r->separation_min, r->dropped_mass_mean, r->dropped_mass_max);
    if (job->compared)
        app_say(app,
                "against the file's own weights: %.3f in weights, %.3f %% of the diagonal over its "
                "clips\n",
                job->weight_difference, job->position_difference);
    app_say(app, "\n%s%12s %12s %12s %12s %12s %12s%s\n", app_style(app, "1"), "voxelise ms",
            "distances ms", "insertion ms", "weights ms", "reduction ms", "update ms",
            app_style(app, "0"));
    app_say(app, "%12.1f %12.1f %12.1f %12.1f %12.1f %12.3f\n", 1e3 * t->voxelise,
            1e3 * t->distances, 1e3 * t->insertion, 1e3 * t->weights, 1e3 * t->reduction,
            1e3 * job->update);
}

static void emit_result(const handles_job *job)
{
    const cutis_handles_report *r = job->report;
    const cutis_handles_seconds *t = &r->seconds;
    json_out json = { .file = stdout };
    emit(&json,
         "{ file %s output %s weighting %s voxels %u voxel_size %g domain_voxels %ju components %u "
         "components_without_handle %u real_handles %u virtual_handles %u insertion_rounds %u "
         "coverage_max %g iterations %u floored_handles %u joints_without_site %u "
         "interpolation_error_max %g separation_min %g voxels_needed %u dropped_mass_max %g "
         "dropped_mass_mean %g",
         job->path, job->output, cutis_weighting_name(job->options.weighting), r->voxels,
         r->voxel_size, r->domain_voxels, r->components, r->orphan_components, r->real_handles,
         r->virtual_handles, r->insertion_rounds, r->coverage_max, r->iterations,
         r->floored_handles, r->joints_without_site, r->interpolation_error_max, r->separation_min,
         r->voxels_needed, r->dropped_mass_max, r->dropped_mass_mean);
    emit(&json,
         "seconds { voxelise %g distances %g insertion %g weights %g reduction %g update %g }",
         t->voxelise, t->distances, t->insertion, t->weights, t->reduction, job->update);
    if (job->compared)
        emit(&json, "against_existing { mean_absolute %g position_rms %g }", job->weight_difference,
             job->position_difference);
    emit_array(&json, "handles");
    for (uint32_t i = 0; i < r->handle_count; i++)
        emit(&json,
             "{ name %s has_site %d shared %d floored %d snapped %g interpolation_error %g }",
             r->handles[i].name, r->handles[i].has_site, r->handles[i].shared,
             r->handles[i].floored, r->handles[i].snapped, r->handles[i].error);
    emit(&json, "] }");
}

static int bind_model(cli_app *app, handles_job *job)
{
    const char *handles = option_text(app, OPTION_HANDLES);
    cutis_result result = CUTIS_OK;
    if (handles) {
        result = cutis_handles_read(app->context, handles, &job->file);
        if (result != CUTIS_OK) return app_fail(app, handles, result);
        result = cutis_handles_weights(job->model, job->device, cutis_handle_file_get(job->file),
                                       &job->options, &job->result, &job->report);
    } else {
        result = cutis_handles_skeleton(job->model, job->device, &job->options, &job->result,
                                        &job->report);
    }
    app_progress_done(app);
    return app_result(app, job->path, result);
}

static int write_result(cli_app *app, handles_job *job)
{
    const char *picture = option_text(app, OPTION_WEIGHTS_PICTURE);
    TRY(handles_compare(app, job));
    if (picture) TRY(handles_picture(app, job, picture));
    return app_write_model(app, job->result, job->output);
}

int verb_handles(cli_app *app)
{
    handles_job job = { .path = app->operands[0] };
    const char *picture = option_text(app, OPTION_WEIGHTS_PICTURE);
    int status = app_output(app, ".glb .gltf", &job.output); // others hold no weights
    if (status == EXIT_GOOD) status = read_options(app, &job);
    if (status == EXIT_GOOD && picture)
        status = app_check_output_as(app, "--weights-picture", picture, ".png");
    if (status == EXIT_GOOD) status = app_read_model(app, job.path, &job.model);
    if (status == EXIT_GOOD) status = app_open_device(app, &job.device);
    if (status == EXIT_GOOD) status = bind_model(app, &job);
    if (status == EXIT_GOOD) status = write_result(app, &job);
    if (status == EXIT_GOOD) {
        say_notes(app, &job);
        say_result(app, &job);
        if (app->json) emit_result(&job);
    }
    cutis_handles_report_destroy(job.report);
    cutis_model_destroy(job.result);
    cutis_handle_file_destroy(job.file);
    cutis_device_destroy(job.device);
    cutis_model_destroy(job.model);
    return status;
}
