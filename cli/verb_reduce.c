/// cutis reduce: fewer influences per vertex, the same motion. Nothing is written unless the whole
/// reduction succeeded.
#include "reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DEGREE = 0.017453292519943295;
enum { MOMENTS_MOST = 16 }; // influences that moments can keep (cutis/weights.h)

static int parse_clips(cli_app *app, const char *text, const cutis_model *model, clip_list *out)
{
    char name[512];
    const char *left = text;
    size_t span;
    for (const char *entry; (entry = next_entry(&left, ",", &span));) {
        if (span == 0 || span >= sizeof name || out->count == CLIPS_MAX)
            return app_usage(app, "\"%s\": expected clips separated by commas, at most %d", text,
                             CLIPS_MAX);
        memcpy(name, entry, span);
        name[span] = 0;
        TRY(app_result(app, app->operands[0],
                       cutis_model_find_clip(model, name, &out->clips[out->count])));
        out->count++;
    }
    return out->count ? EXIT_GOOD : app_usage(app, "no clips are named");
}

static int read_options(cli_app *app, reduce_job *job)
{
    const char *poses = option_text(app, OPTION_POSES),
               *held_out = option_text(app, OPTION_HELD_OUT);
    cutis_reduce_options *o = &job->options;
    clip_list *learn = &job->learn, *judge = &job->judge;
    o->max_error = 1e-3 * option_number(app, OPTION_MAX_ERROR, 0);
    o->max_normal = DEGREE * option_number(app, OPTION_MAX_NORMAL, 0);
    o->joints = option_count(app, OPTION_JOINTS, 0);
    o->influences = option_count(app, OPTION_INFLUENCES,
                                 o->max_error > 0 || o->max_normal > 0 ? MOMENTS_MOST : 4);
    o->method = (cutis_reduce_method)option_choice(app, OPTION_REDUCE_METHOD);
    o->energy = (cutis_reduce_energy)option_choice(app, OPTION_ENERGY);
    o->sets = (cutis_reduce_sets)option_choice(app, OPTION_SETS);
    o->seed = (uint64_t)option_number(app, OPTION_SEED, 1);
    o->repair = option_given(app, OPTION_FIX);
    o->compare = option_given(app, OPTION_COMPARE);
    o->effort = (cutis_reduce_effort)option_choice(app, OPTION_EFFORT);
    o->mix = option_number(app, OPTION_MIX, 0);
    o->memory = 1e9 * option_number(app, OPTION_MEMORY, 0);
    o->automatic = poses && strcmp(poses, "auto") == 0;
    const bool moments = (o->method == CUTIS_REDUCE_DEFAULT || o->method == CUTIS_REDUCE_MOMENTS) &&
                         !option_given(app, OPTION_ENERGY) && !option_given(app, OPTION_SETS);
    // Other methods' weights are rounded where they are written, and judged so.
    const uint32_t totals[] = { 0, 65535, 255 };
    if (!moments || o->influences <= MOMENTS_MOST)
        o->weight_total = totals[option_choice(app, OPTION_WEIGHTS)];
    o->examples_only = moments && option_given(app, OPTION_MIX) && o->mix == 0;
    if (held_out && o->automatic)
        return app_usage(app, "--held-out goes with clips; automatic poses bring their own");
    if (poses && !o->automatic) TRY(parse_clips(app, poses, job->model, learn));
    if (held_out) TRY(parse_clips(app, held_out, job->model, judge));
    if (learn->count) o->clips = learn->clips, o->clip_count = learn->count;
    if (judge->count) o->held_out_clips = judge->clips, o->held_out_clip_count = judge->count;
    return EXIT_GOOD;
}

// A dash where nothing was held out to judge by.
const char *reduce_error_text(double value, char text[32])
{
    snprintf(text, 32, isnan(value) ? "-" : "%.5f", value);
    return text;
}

void reduce_say_rows(const cli_app *app, const cutis_reduce_row *rows, uint32_t count)
{
    const bool random = count && rows[0].random_normal > 0;
    app_say(app, "%s%-10s %-8s %12s %12s %12s %12s ", app_style(app, "1"), "method", "sets",
            "examples %", "rad", "held out %", "rad");
    if (random) app_say(app, "%12s %12s ", "random %", "rad");
    app_say(app, "%11s %7s %8s%s\n", "energy", "sweeps", "seconds", app_style(app, "0"));
    for (uint32_t i = 0; i < count; i++) {
        const cutis_reduce_row *row = &rows[i];
        char position[32], normal[32];
        app_say(app, "%-10s %-8s %12.5f %12.5f %12s %12s ", cutis_reduce_method_name(row->method),
                cutis_reduce_sets_name(row->sets), row->example_position, row->example_normal,
                reduce_error_text(row->held_out_position, position),
                reduce_error_text(row->held_out_normal, normal));
        if (random) app_say(app, "%12.5f %12.5f ", row->random_position, row->random_normal);
        if (isnan(row->energy))
            app_say(app, "%11s", "-");
        else
            app_say(app, "%11.4g", row->energy);
        app_say(app, " %7u %8.3f\n", row->sweep_count, row->seconds);
    }
}

static void say_result(const cli_app *app, const reduce_job *job)
{
    const cutis_reduce_report *r = job->reduction;
    app_say(app, "%s: %u influences at most, before %u; %ju of %ju vertices %s\n", job->output,
            job->after.max_influences, job->before.max_influences, r->reduced_count,
            r->vertex_count, r->bounds.judged_count ? "keep fewer" : "had more");
    if (r->learned_count + r->learned_random_count > 0)
        app_say(app,
                "learned from %u frames and %u random poses; judged by %u other frames and %u "
                "other random poses\n",
                r->learned_count, r->learned_random_count,
                r->held_out_count - r->held_out_random_count, r->held_out_random_count);
    else
        app_say(app, "%u example poses, %u held out, %u automatic\n", r->example_count,
                r->held_out_count, r->automatic_count);
    reduce_say_limits(app, job);
    app_say(app, "\n");
    reduce_say_rows(app, r->rows, r->row_count);
}

static void emit_histogram(json_out *json, const char *key, const cutis_weight_summary *summary)
{
    emit_array(json, key);
    for (int i = 0; i < 17; i++) emit_count(json, NULL, summary->histogram[i]);
    emit_end(json);
}

void reduce_emit_row(json_out *json, const cutis_reduce_row *row, uint32_t frame_count)
{
    emit(json,
         "{ method %s sets %s influences %u example_position %g example_normal %g "
         "held_out_position %g held_out_normal %g random_position %g random_normal %g energy %g "
         "sweeps %u seconds %g",
         cutis_reduce_method_name(row->method), cutis_reduce_sets_name(row->sets),
         row->max_influences, row->example_position, row->example_normal, row->held_out_position,
         row->held_out_normal, row->random_position, row->random_normal, row->energy,
         row->sweep_count, row->seconds);
    emit_numbers(json, "energies", row->curve, row->curve_count);
    emit_numbers(json, "frame_position", row->frame_position, frame_count);
    emit_numbers(json, "frame_normal", row->frame_normal, frame_count);
    emit_end(json);
}

static void emit_result(const reduce_job *job)
{
    const cutis_reduce_report *r = job->reduction;
    json_out json = { .file = stdout };
    emit(&json,
         "{ file %s output %s vertices %ju reduced_vertices %ju repaired_vertices %ju "
         "automatic_poses %u learned_frames %u learned_random_poses %u held_out_random_poses %u "
         "worse %u fell_back %d narrow %d too_large %d form_bytes %g",
         job->path, job->output, r->vertex_count, r->reduced_count, r->repaired_count,
         r->automatic_count, r->learned_count, r->learned_random_count, r->held_out_random_count,
         (unsigned)r->worse, r->fell_back, r->narrow, r->too_large, r->form_bytes);
    emit_histogram(&json, "histogram_before", &job->before);
    emit_histogram(&json, "histogram_after", &job->after);
    reduce_emit_limits(&json, job);
    emit_array(&json, "methods");
    for (uint32_t i = 0; i < r->row_count; i++)
        reduce_emit_row(&json, &r->rows[i], r->example_count + r->held_out_count);
    emit(&json, "] frames [");
    for (uint32_t i = 0; i < r->example_count + r->held_out_count; i++) {
        const int32_t clip = r->poses[i].clip;
        emit(&json, "{ held_out %d clip %g seconds %g }", i >= r->example_count,
             clip == CUTIS_NONE ? NAN : clip, r->poses[i].seconds);
    }
    emit(&json, "] }");
}

static int write_result(cli_app *app, reduce_job *job)
{
    TRY(app_result(app, job->path, cutis_weights_summarize(job->model, &job->before)));
    TRY(app_result(app, job->path, cutis_weights_summarize(job->reduced, &job->after)));
    const char *report = option_text(app, OPTION_REPORT);
    if (report) TRY(reduce_report(app, job, report));
    const int32_t *merged = job->reduction->merged;
    const uint32_t nodes = cutis_model_get(job->model)->node_count;
    if (merged) {
        job->unneeded = calloc(nodes ? nodes : 1, 1);
        if (!job->unneeded) return app_fail(app, job->path, CUTIS_OUT_OF_MEMORY);
        for (uint32_t n = 0; n < nodes; n++) job->unneeded[n] = merged[n] != CUTIS_NONE;
        app->unneeded_nodes = job->unneeded;
    }
    const int status = app_write_model(app, job->reduced, job->output);
    app->unneeded_nodes = NULL;
    return status;
}

// A cage's weights are meant where there is no skin, or where signed ones are asked for.
static bool means_cage(const cli_app *app, const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    bool skinned = false;
    for (uint32_t i = 0; i < count; i++) skinned |= instances[i].skin != CUTIS_NONE;
    return data->cage && (!skinned || option_given(app, OPTION_SIGNED));
}

// What a user should know before the result is used.
static void say_warnings(cli_app *app, const reduce_job *job)
{
    static const char *const WORSE[4] = { "normals on frames of clips",
                                          "positions on frames of clips", "normals on random poses",
                                          "positions on random poses" };
    const cutis_reduce_report *r = job->reduction;
    for (int i = 0; i < 4; i++)
        if ((unsigned)r->worse >> i & 1)
            app_note(app, "%s: worse than k-largest in %s that were not learned from", job->path,
                     WORSE[i]);
    if (r->held_out_count == 0)
        app_note(app,
                 "%s: nothing could be held out: the clips have %u frame%s, and all of them are "
                 "examples; "
                 "--held-out CLIP names others to judge by",
                 job->path, r->example_count, r->example_count == 1 ? "" : "s");
    if (r->fell_back)
        app_note(
            app,
            "%s: nothing was found that is as good as k-largest on all poses not learned from: "
            "k-largest's weights are written",
            job->path);
    if (r->bounds.beyond_count)
        app_note(app,
                 "%s: %llu vertices are beyond the bound in one of the last %u unseen poses, which "
                 "decided nothing: a smaller bound has more room",
                 job->path, (unsigned long long)r->bounds.beyond_count, r->bounds.judged_count);
    if (r->quantised.total && isnan(r->quantised.chosen_energy))
        app_note(app,
                 "%s: the weights are rounded: to choose them would take more than --memory allows",
                 job->path);
    if (r->too_large)
        app_note(
            app,
            "%s: the form of moments would take %.3g GB, more than --memory allows: poisson ran "
            "in its place",
            job->path, 1e-9 * r->form_bytes);
    else if (r->narrow)
        app_note(app, "%s: vertices chose among their 16 largest weights, to save memory",
                 job->path);
}

static int reduce_model(cli_app *app, reduce_job *job)
{
    if (option_given(app, OPTION_SIGNED) && !cutis_model_get(job->model)->cage)
        return app_usage(app, "--signed is for cages; weights of a skin are never negative");
    TRY(read_options(app, job));
    cutis_result result = cutis_weights_reduce(job->model, job->device, &job->options,
                                               &job->reduced, &job->reduction);
    app_progress_done(app);
    if (result != CUTIS_OK) return app_fail(app, job->path, result);
    if (job->reduction->repaired_count)
        app_note(app, "%s: %ju vertices had no weight and follow the skin's first joint now",
                 job->path, job->reduction->repaired_count);
    if (job->reduction->few_poses)
        app_note(app,
                 "%s: so few poses do not determine %u weights; unseen ones may be worse than with "
                 "k-largest",
                 job->path, job->options.influences);
    say_warnings(app, job);
    return write_result(app, job);
}

static void close_job(reduce_job *job)
{
    free(job->unneeded);
    cutis_reduce_report_destroy(job->reduction);
    cutis_model_destroy(job->reduced);
    cutis_device_destroy(job->device);
    cutis_model_destroy(job->model);
}

int verb_reduce(cli_app *app)
{
    ENDS_BY(close_job) reduce_job job = { .path = app->operands[0] };
    const char *report = option_text(app, OPTION_REPORT);
    TRY(app_output(app, ".glb .gltf", &job.output)); // others hold no weights
    if (report) TRY(app_check_output_as(app, "--report", report, ".html"));
    TRY(app_read_model(app, job.path, &job.model));
    TRY(app_open_device(app, &job.device));
    const bool limited = option_given(app, OPTION_MAX_ERROR) ||
                         option_given(app, OPTION_MAX_NORMAL) || option_given(app, OPTION_JOINTS);
    if (limited && option_given(app, OPTION_COMPARE))
        return app_usage(app, "--compare goes with a count of influences; a bound and --joints are "
                              "what moments do alone");
    if (limited && means_cage(app, job.model))
        return app_usage(app,
                         "--max-error, --max-normal and --joints are for skins, not for cages");
    if (means_cage(app, job.model))
        return cage_reduce(app, job.path, job.output, job.model, job.device);
    TRY(reduce_model(app, &job));
    say_result(app, &job);
    if (app->json) emit_result(&job);
    return EXIT_GOOD;
}
