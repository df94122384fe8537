/// cutis compare: several methods over a clip, measured frame by frame against a reference.
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t FRAMES_MAX = 2000; // a report of more says no more

const char *compare_reference_name(const compare_job *job)
{
    return job->reference_path ? job->reference_path : picture_method_name(&job->shots[0]);
}

static int read_reference(cli_app *app, compare_job *job)
{
    job->reference_path = option_text(app, OPTION_REFERENCE);
    size_t plane = 3 * (size_t)job->stage.rest.vertex_count;
    job->reference_frame = malloc(plane * sizeof(float));
    if (!job->reference_frame) return app_fail_text(app, "not enough memory");
    if (!job->reference_path) return EXIT_GOOD;
    TRY(app_result(app, job->reference_path,
                   cutis_array_read(app->context, job->reference_path, &job->reference)));
    const uint64_t total = array_size(&job->reference);
    if (total != (uint64_t)plane * job->frame_count)
        return app_fail_text(app, "%s: %ju numbers; %u frames of %u vertices want %ju",
                             job->reference_path, total, job->frame_count,
                             job->stage.rest.vertex_count, (uint64_t)plane * job->frame_count);
    return EXIT_GOOD;
}

static bool allocate_series(compare_job *job)
{
    job->times = calloc(job->frame_count, sizeof(double));
    for (uint32_t s = 0; s < job->shot_count; s++) {
        double *block = calloc(COMPARE_COLUMNS * (size_t)job->frame_count, sizeof *block);
        if (!block) return false;
        for (uint32_t c = 0; c < COMPARE_COLUMNS; c++)
            job->series[s].columns[c] = block + (size_t)c * job->frame_count;
    }
    return job->times != NULL;
}

static void release_series(compare_job *job)
{
    for (uint32_t s = 0; s < job->shot_count; s++) free(job->series[s].columns[0]);
    free(job->times);
}

int compare_pose(compare_job *job, uint32_t frame)
{
    size_t plane = 3 * (size_t)job->stage.rest.vertex_count;
    for (uint32_t s = 0; s < job->shot_count; s++) {
        TRY(picture_pose(&job->stage, &job->shots[s], frame / job->fps));
    }
    const float *from =
        job->reference_path ? job->reference.values + frame * plane : job->shots[0].play.positions;
    memcpy(job->reference_frame, from, plane * sizeof(float));
    return EXIT_GOOD;
}

static int measure_shot(cli_app *app, compare_job *job, uint32_t shot, uint32_t frame,
                        double rest_volume)
{
    double *const *to = job->series[shot].columns;
    cutis_surface rest = rest_shape_surface(&job->stage.rest, job->stage.rest.positions);
    cutis_surface now = rest_shape_surface(&job->stage.rest, job->shots[shot].play.positions);
    cutis_difference difference;
    cutis_curvature curvature;
    cutis_result result = cutis_surface_compare(app->context, &rest, now.positions,
                                                job->reference_frame, &difference);
    if (result == CUTIS_OK)
        result = cutis_surface_curvature(app->context, &now, rest.positions, NULL, &curvature);
    if (result != CUTIS_OK) return app_fail(app, job->stage.path, result);
    to[COMPARE_POSITION_RMS][frame] = difference.position_rms;
    to[COMPARE_POSITION_MAX][frame] = difference.position_max;
    to[COMPARE_NORMAL_RMS][frame] = difference.normal_rms;
    to[COMPARE_VOLUME][frame] = fabs(rest_volume) > 0
                                    ? 100 * (cutis_surface_volume(&now) - rest_volume) / rest_volume
                                    : NAN;
    to[COMPARE_CURVATURE][frame] = curvature.mean_rms;
    to[COMPARE_STRETCH][frame] = curvature.edge_stretch_rms;
    return EXIT_GOOD;
}

static int measure_frames(cli_app *app, compare_job *job)
{
    cutis_surface rest = rest_shape_surface(&job->stage.rest, job->stage.rest.positions);
    double rest_volume = cutis_surface_volume(&rest);
    for (uint32_t f = 0; f < job->frame_count; f++) {
        if (!app_progress(app, "measuring", (double)f / job->frame_count)) return app_stopped(app);
        int status = compare_pose(job, f);
        job->times[f] = f / job->fps;
        for (uint32_t s = 0; s < job->shot_count && status == EXIT_GOOD; s++)
            status = measure_shot(app, job, s, f, rest_volume);
        if (status != EXIT_GOOD) return status;
    }
    for (uint32_t s = 0; s < job->shot_count; s++)
        job->series[s].ns_per_vertex =
            1e9 * job->shots[s].play.seconds / job->frame_count / job->stage.rest.vertex_count;
    app_progress_done(app);
    return EXIT_GOOD;
}

uint32_t compare_worst_frame(const compare_job *job, uint32_t shot)
{
    const bool self = !job->reference_path && shot == 0;
    const double *score = job->series[shot].columns[self ? COMPARE_VOLUME : COMPARE_POSITION_RMS];
    uint32_t worst = 0;
    for (uint32_t f = 0; f < job->frame_count; f++)
        if (fabs(score[f]) > fabs(score[worst])) worst = f;
    return worst;
}

// Printing --------------------------------------------------------------------------------------

static double rms(const double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += values[i] * values[i];
    return sqrt(sum / count);
}

compare_totals compare_sum_up(const compare_job *job, uint32_t shot)
{
    double *const *e = job->series[shot].columns;
    compare_totals t = { .position_rms = rms(e[COMPARE_POSITION_RMS], job->frame_count),
                         .normal_rms = rms(e[COMPARE_NORMAL_RMS], job->frame_count),
                         .stretch = rms(e[COMPARE_STRETCH], job->frame_count),
                         .volume_min = INFINITY,
                         .volume_max = -INFINITY };
    for (uint32_t f = 0; f < job->frame_count; f++) {
        t.position_max = fmax(t.position_max, e[COMPARE_POSITION_MAX][f]);
        t.volume_min = fmin(t.volume_min, e[COMPARE_VOLUME][f]);
        t.volume_max = fmax(t.volume_max, e[COMPARE_VOLUME][f]);
    }
    return t;
}

static void print_table(cli_app *app, const compare_job *job)
{
    app_say(app, "%-20s %12s %12s %12s %20s %10s\n", "method", "position rms", "position max",
            "normal rms", "volume", "stretch");
    app_say(app, "%-20s %12s %12s %12s %20s %10s\n", "", "% diagonal", "% diagonal", "radians",
            "%, least..most", "log rms");
    for (uint32_t s = 0; s < job->shot_count; s++) {
        compare_totals t = compare_sum_up(job, s);
        app_say(app, "%-20s %12.4f %12.4f %12.4f %+9.2f .. %+7.2f %10.4f\n",
                picture_method_name(&job->shots[s]), t.position_rms, t.position_max, t.normal_rms,
                t.volume_min, t.volume_max, t.stretch);
    }
    app_say(app, "reference: %s; %u frames at %g a second\n", compare_reference_name(job),
            job->frame_count, job->fps);
}

static void print_json(cli_app *app, const compare_job *job)
{
    if (!app->json) return;
    json_out json = { .file = stdout };
    emit(&json, "{ file %s clip %s frames %u fps %g reference %s methods [", job->stage.path,
         option_text(app, OPTION_CLIP), job->frame_count, job->fps, compare_reference_name(job));
    for (uint32_t s = 0; s < job->shot_count; s++) {
        compare_totals t = compare_sum_up(job, s);
        emit(&json,
             "{ method %s position_rms %g position_max %g normal_rms %g volume_variation_min %g "
             "volume_variation_max %g edge_stretch_rms %g worst_frame %u ns_per_vertex %g }",
             picture_method_name(&job->shots[s]), t.position_rms, t.position_max, t.normal_rms,
             t.volume_min, t.volume_max, t.stretch, compare_worst_frame(job, s),
             job->series[s].ns_per_vertex);
    }
    emit(&json, "] }");
}

static int run_job(cli_app *app, compare_job *job)
{
    int status = picture_open(app, app->operands[0], job->report, &job->stage);
    if (status != EXIT_GOOD) return status;
    if (!option_given(app, OPTION_PICTURE_SIZE)) job->stage.width = 420, job->stage.height = 520;
    job->frame_count = clip_frame_count(job->stage.model, job->stage.clip, job->fps);
    if (job->frame_count > FRAMES_MAX)
        status = app_fail_text(app, "%s: %u frames; at most %u (a smaller --fps makes fewer)",
                               job->stage.path, job->frame_count, FRAMES_MAX);
    if (status == EXIT_GOOD) status = read_reference(app, job);
    if (status == EXIT_GOOD && !allocate_series(job))
        status = app_fail_text(app, "not enough memory");
    for (uint32_t s = 0; s < job->shot_count && status == EXIT_GOOD; s++)
        status = picture_bind(&job->stage, &job->shots[s]);
    if (status == EXIT_GOOD) status = measure_frames(app, job);
    if (status == EXIT_GOOD && job->report) status = compare_report(app, job);
    if (status == EXIT_GOOD) {
        print_table(app, job);
        print_json(app, job);
    }
    for (uint32_t s = 0; s < job->shot_count; s++) play_close(&job->shots[s].play);
    release_series(job);
    cutis_array_destroy(app->context, &job->reference);
    free(job->reference_frame);
    picture_close(&job->stage);
    return status;
}

int verb_compare(cli_app *app)
{
    compare_job job = { .fps = option_number(app, OPTION_FPS, 30),
                        .report = option_text(app, OPTION_REPORT) };
    TRY(picture_methods(app, job.shots, &job.shot_count));
    for (uint32_t i = 0; i < job.shot_count; i++)
        if (picture_is_patched(&job.shots[i]))
            return app_usage(app, "patches have vertices of their own, which compare with none; "
                                  "render draws them beside others, measure measures them");
    if (job.shot_count < 2 && !option_given(app, OPTION_REFERENCE))
        return app_usage(app, "want --methods A,B,... or a --reference");
    if (job.report) TRY(app_check_output_as(app, "--report", job.report, ".html"));
    return run_job(app, &job);
}
