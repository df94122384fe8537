/// cutis render: pictures of a posed model.
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct render_job {
    picture_stage stage;
    picture_shot shots[PICTURE_METHODS];
    uint32_t shot_count;
    double seconds;
    float *reference; ///< positions for error:, or NULL
    const char *output;
} render_job;

// error:FILE: one frame of positions, or frames at 30 a second of which the nearest is taken.
static int read_reference(cli_app *app, render_job *job, const char *path)
{
    cutis_array array = { 0 };
    TRY(app_result(app, path, cutis_array_read(app->context, path, &array)));
    size_t plane = 3 * (size_t)job->stage.rest.vertex_count;
    const uint64_t total = array_size(&array), frames = plane ? total / plane : 0;
    int status = EXIT_GOOD;
    if (frames == 0 || total % plane)
        status = app_fail_text(app, "%s: %ju numbers are no frames of %u vertices", path, total,
                               job->stage.rest.vertex_count);
    else {
        uint64_t frame = (uint64_t)llround(job->seconds * 30);
        if (frame >= frames) frame = frames - 1;
        memcpy(job->reference, array.values + frame * plane, plane * sizeof(float));
    }
    cutis_array_destroy(app->context, &array);
    return status;
}

static int make_reference(cli_app *app, render_job *job)
{
    const char *name = job->stage.show.reference;
    if (!name[0]) return EXIT_GOOD;
    size_t size = 12 * (size_t)job->stage.rest.vertex_count;
    job->reference = malloc(size);
    if (!job->reference) return app_fail_text(app, "not enough memory");
    picture_shot shot = { .weighted = strcmp(name, "sbs-weighted") == 0,
                          .method = CUTIS_METHOD_SBS };
    if (!shot.weighted && cutis_method_from_name(name, &shot.method) != CUTIS_OK)
        return read_reference(app, job, name);
    int status = picture_bind(&job->stage, &shot);
    if (status == EXIT_GOOD) status = picture_pose(&job->stage, &shot, job->seconds);
    if (status == EXIT_GOOD) memcpy(job->reference, shot.play.positions, size);
    play_close(&shot.play);
    return status;
}

/// --focus: the camera looks at a cube around a joint, a third of the body wide.
static int focus_joint(cli_app *app, render_job *job, const char *name)
{
    uint32_t node = 0;
    const play *p = &job->shots[0].play;
    TRY(app_result(app, job->stage.path, cutis_model_find_joint(job->stage.model, name, &node)));
    cutis_mat34 *world = malloc(p->node_count * sizeof *world);
    if (!world) return app_fail_text(app, "not enough memory");
    cutis_pose_world(job->stage.model, p->transforms, world);
    const cutis_surface rest = rest_shape_surface(&job->stage.rest, job->stage.rest.positions);
    const float *m = world[node].m, reach = (float)cutis_surface_diagonal(&rest) / 6;
    job->stage.camera.frame = (cutis_bounds){ { m[3] - reach, m[7] - reach, m[11] - reach },
                                              { m[3] + reach, m[7] + reach, m[11] + reach } };
    free(world);
    return EXIT_GOOD;
}

/// Frame all shots alike: the camera looks at the box around every one of them.
static void frame_shots(render_job *job)
{
    cutis_bounds box = job->shots[0].play.bounds[0];
    for (uint32_t i = 1; i < job->shot_count; i++) bounds_add(&box, job->shots[i].play.bounds[0]);
    for (uint32_t i = 0; i < job->shot_count; i++)
        picture_cage_frame(&job->stage, &job->shots[i].play, &box);
    job->stage.camera.frame = box;
}

static int bind_shots(cli_app *app, render_job *job)
{
    for (uint32_t i = 0; i < job->shot_count; i++) {
        if (!app_progress(app, "binding", (double)i / job->shot_count)) return app_stopped(app);
        TRY(picture_bind(&job->stage, &job->shots[i]));
        TRY(picture_pose(&job->stage, &job->shots[i], job->seconds));
    }
    return EXIT_GOOD;
}

/// Every tile of a sheet shares one range, or colours could not be compared.
static void share_range(picture_paint *paints, uint32_t count)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        if (!paints[i].values) return;
        low = fmin(low, paints[i].legend.low);
        high = fmax(high, paints[i].legend.high);
    }
    if (!(high > low)) high = low + 1e-6;
    for (uint32_t i = 0; i < count; i++) paints[i].legend.low = low, paints[i].legend.high = high;
}

static void caption(const render_job *job, const picture_shot *shot, char *out, size_t capacity)
{
    cutis_surface rest = rest_shape_surface(&job->stage.rest, job->stage.rest.positions);
    double before = cutis_surface_volume(&rest), after = picture_shot_volume(&job->stage, shot);
    if (fabs(before) > 1e-12)
        snprintf(out, capacity, "%s \xc2\xb7 volume %+.2f %%", picture_method_name(shot),
                 100 * (after - before) / before);
    else
        snprintf(out, capacity, "%s", picture_method_name(shot));
}

static int draw_tiles(cli_app *app, render_job *job, picture_paint *paints, cutis_image *images)
{
    for (uint32_t i = 0; i < job->shot_count; i++)
        TRY(picture_paint_shot(&job->stage, &job->shots[i], job->reference, &paints[i]));
    share_range(paints, job->shot_count);
    for (uint32_t i = 0; i < job->shot_count; i++) {
        if (!app_progress(app, "drawing", (double)i / job->shot_count)) return app_stopped(app);
        TRY(picture_draw(&job->stage, &job->shots[i], &paints[i], &images[i]));
    }
    return EXIT_GOOD;
}

static int draw_picture(cli_app *app, render_job *job, cutis_image *out)
{
    picture_paint paints[PICTURE_METHODS] = { 0 };
    cutis_image images[PICTURE_METHODS] = { 0 };
    char captions[PICTURE_METHODS][96];
    cutis_tile tiles[PICTURE_METHODS];
    int status = draw_tiles(app, job, paints, images);
    if (status == EXIT_GOOD && job->shot_count == 1 && !paints[0].values) {
        *out = images[0];
        images[0] = (cutis_image){ 0 };
    } else if (status == EXIT_GOOD) {
        for (uint32_t i = 0; i < job->shot_count; i++) {
            caption(job, &job->shots[i], captions[i], sizeof captions[i]);
            tiles[i] =
                (cutis_tile){ &images[i], picture_method_title(&job->shots[i]), captions[i] };
        }
        cutis_result result =
            cutis_sheet_create(app->context, tiles, job->shot_count, 0, NULL,
                               paints[0].values ? &paints[0].legend : NULL, job->stage.dark, out);
        if (result != CUTIS_OK) status = app_fail(app, job->output, result);
    }
    for (uint32_t i = 0; i < job->shot_count; i++) {
        picture_paint_release(&paints[i]);
        cutis_image_destroy(app->context, &images[i]);
    }
    return status;
}

static int write_pictures(cli_app *app, render_job *job)
{
    uint32_t turns = option_count(app, OPTION_TURNTABLE, 1);
    double yaw = job->stage.camera.yaw;
    for (uint32_t i = 0; i < turns; i++) {
        cutis_image image = { 0 };
        char path[4096];
        size_t stem = strlen(job->output) - 4;
        if (turns > 1)
            snprintf(path, sizeof path, "%.*s_%04u.png", (int)stem, job->output, i);
        else
            snprintf(path, sizeof path, "%s", job->output);
        job->stage.camera.yaw = yaw + 360.0 * i / turns;
        TRY(draw_picture(app, job, &image));
        cutis_result result = cutis_image_write_png(app->context, &image, path);
        uint32_t width = image.width, height = image.height;
        cutis_image_destroy(app->context, &image);
        if (result != CUTIS_OK) return app_fail(app, path, result);
        app_progress_done(app);
        app_say(app, "%s: %ux%u, %s\n", path, width, height,
                cutis_renderer_name(job->stage.renderer));
    }
    return EXIT_GOOD;
}

static int run_job(cli_app *app, render_job *job)
{
    int status = picture_open(app, app->operands[0], true, &job->stage);
    if (status != EXIT_GOOD) return status;
    if (job->shot_count > 1 && !option_given(app, OPTION_PICTURE_SIZE))
        job->stage.width = 420, job->stage.height = 560;
    job->seconds = option_number(app, OPTION_TIME, 0);
    if (!option_given(app, OPTION_TIME))
        status = clip_peak(app, job->stage.path, job->stage.model, job->stage.device,
                           job->stage.clip, &job->seconds);
    if (status == EXIT_GOOD) status = make_reference(app, job);
    if (status == EXIT_GOOD) status = bind_shots(app, job);
    if (status == EXIT_GOOD) frame_shots(job);
    if (status == EXIT_GOOD && option_given(app, OPTION_FOCUS))
        status = focus_joint(app, job, option_text(app, OPTION_FOCUS));
    if (status == EXIT_GOOD) status = write_pictures(app, job);
    if (status == EXIT_GOOD && app->json)
        emit(&(json_out){ .file = stdout }, "{ file %s output %s renderer %s seconds %g }",
             job->stage.path, job->output, cutis_renderer_name(job->stage.renderer), job->seconds);
    for (uint32_t i = 0; i < job->shot_count; i++) picture_shot_close(&job->shots[i]);
    free(job->reference);
    picture_close(&job->stage);
    return status;
}

const bool cli_pictures = true;

int verb_render(cli_app *app)
{
    render_job job = { 0 };
    TRY(app_output(app, ".png", &job.output));
    TRY(picture_methods(app, job.shots, &job.shot_count));
    if (option_given(app, OPTION_TIME) && !option_given(app, OPTION_CLIP) &&
        !option_given(app, OPTION_CAGE_POSES) && !option_given(app, OPTION_SHOW)) // error:FRAMES
        return app_usage(app, "--time goes with --clip or --cage-poses");
    bool patched = false;
    for (uint32_t i = 0; i < job.shot_count; i++) patched |= picture_is_patched(&job.shots[i]);
    if (!patched && (option_given(app, OPTION_REMOVE) || option_given(app, OPTION_FILL) ||
                     option_given(app, OPTION_BAND)))
        return app_usage(app, "--remove, --fill and --band are for the method patches");
    if (patched) TRY(patch_check_options(app));
    return run_job(app, &job);
}
