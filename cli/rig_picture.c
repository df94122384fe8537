/// Pictures of a rigged body for its page: three views of parts, three of the skeleton, frames of
/// each motion. Invariant: the floor is where the rest body stands, so a foot that floats or sinks
/// is seen to.
#include <math.h>

#include "picture.h"
#include "rig.h"

enum { VIEWS = 3, FRAMES = 6 };

// Pixels of a tile that is as wide as this and as high as the body asks for.
enum { VIEW_WIDTH = 460, FRAME_WIDTH = 260 };

static int open_stage(cli_app *app, const rig_job *job, picture_stage *out)
{
    *out = (picture_stage){ .app = app,
                            .path = job->path,
                            .model = job->rigged,
                            .device = job->device,
                            .clip = CUTIS_NONE };
    TRY(rest_shape_make(app, job->path, job->rigged, &out->rest));
    out->colors = malloc(16 * ((size_t)out->rest.vertex_count + 1));
    if (!out->colors) return app_fail_text(app, "%s: not enough memory", job->path);
    picture_model_colors(job->rigged, out->colors);
    return app_result(app, "report", cutis_renderer_create(app->context, &out->renderer));
}

static void close_stage(picture_stage *stage)
{
    stage->model = NULL, stage->device = NULL; // the job's
    picture_close(stage);
}

static cutis_float3 size_of(cutis_bounds box)
{
    return (cutis_float3){ box.max.x - box.min.x, box.max.y - box.min.y, box.max.z - box.min.z };
}

// Neither a ribbon nor a tower, whatever the body is.
static uint32_t height_of(cutis_bounds box, uint32_t width)
{
    const cutis_float3 size = size_of(box);
    const double across = fmax(hypot(size.x, size.z), 1e-12), wanted = 1.15 * size.y / across;
    return (uint32_t)(width * fmin(fmax(wanted, 0.62), 1.35));
}

static int put_sheet(picture_stage *stage, html_page *page, const cutis_image *images,
                     const char *const *titles, uint32_t count, const char *text)
{
    cli_app *app = stage->app;
    cutis_tile tiles[FRAMES];
    cutis_image sheet = { 0 };
    for (uint32_t i = 0; i < count; i++) tiles[i] = (cutis_tile){ &images[i], titles[i], NULL };
    cutis_result result =
        cutis_sheet_create(app->context, tiles, count, count, NULL, NULL, false, &sheet);
    if (result == CUTIS_OK) result = html_put_picture(app->context, page, &sheet, text);
    cutis_image_destroy(app->context, &sheet);
    return app_result(app, "report", result);
}

static int put_views(picture_stage *stage, picture_shot *shot, html_page *page, const char *text)
{
    static const char *const TITLES[VIEWS] = { "front", "side", "three quarters" };
    static const double YAWS[VIEWS] = { 0, 90, 35 };
    cutis_image images[VIEWS] = { 0 };
    int status = EXIT_GOOD;
    for (int i = 0; i < VIEWS && status == EXIT_GOOD; i++) {
        stage->camera.yaw = YAWS[i];
        stage->camera.pitch = i == 2 ? 14 : 5;
        status = picture_draw(stage, shot, NULL, &images[i]);
    }
    if (status == EXIT_GOOD) status = put_sheet(stage, page, images, TITLES, VIEWS, text);
    for (int i = 0; i < VIEWS; i++) cutis_image_destroy(stage->app->context, &images[i]);
    return status;
}

static int put_rest(picture_stage *stage, html_page *page)
{
    picture_shot shot = { .method = CUTIS_METHOD_LBS };
    int status = picture_bind(stage, &shot);
    if (status == EXIT_GOOD) status = picture_pose(stage, &shot, 0);
    stage->width = VIEW_WIDTH;
    stage->height = height_of(stage->camera.frame, VIEW_WIDTH);
    html_markup(page, "<h2>Parts</h2>\n");
    stage->show.parts = true;
    if (status == EXIT_GOOD)
        status =
            put_views(stage, &shot, page, "Every triangle has a part; colours as in the table");
    html_markup(page, "<h2>Skeleton</h2>\n");
    stage->show.parts = false;
    stage->show.skeleton = true;
    if (status == EXIT_GOOD)
        status = put_views(stage, &shot, page,
                           "Joints and the bones between them, seen through the body");
    stage->show.skeleton = false;
    picture_shot_close(&shot);
    return status;
}

// Every tile shows as much, whichever way the body goes: its middle, and room for the largest.
static void frame_tiles(const cutis_bounds *boxes, float ground, cutis_bounds *out)
{
    float across = 0, low = ground, high = ground;
    for (int i = 0; i < FRAMES; i++) {
        const cutis_float3 size = size_of(boxes[i]);
        across = fmaxf(across, fmaxf(size.x, size.z));
        low = fminf(low, boxes[i].min.y), high = fmaxf(high, boxes[i].max.y);
    }
    for (int i = 0; i < FRAMES; i++) {
        const float x = 0.5f * (boxes[i].min.x + boxes[i].max.x),
                    z = 0.5f * (boxes[i].min.z + boxes[i].max.z);
        out[i] = (cutis_bounds){ { x - across / 2, low, z - across / 2 },
                                 { x + across / 2, high, z + across / 2 } };
    }
}

static int draw_strip(picture_stage *stage, picture_shot *shot, double duration,
                      cutis_image *images)
{
    cutis_bounds boxes[FRAMES], framed[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        TRY(picture_pose(stage, shot, i * duration / FRAMES));
        const cutis_surface surface = rest_shape_surface(&stage->rest, shot->play.positions);
        boxes[i] = cutis_surface_bounds(&surface);
    }
    frame_tiles(boxes, stage->ground, framed);
    stage->height = height_of(framed[0], FRAME_WIDTH);
    for (int i = 0; i < FRAMES; i++) {
        TRY(picture_pose(stage, shot, i * duration / FRAMES));
        stage->camera.frame = framed[i];
        TRY(picture_draw(stage, shot, NULL, &images[i]));
    }
    return EXIT_GOOD;
}

static int put_strip(picture_stage *stage, html_page *page, const rig_job *job, uint32_t motion)
{
    const uint32_t clip = job->motions[motion].clip;
    const double duration = (double)cutis_model_get(job->rigged)->clips[clip].duration;
    picture_shot shot = { .method = CUTIS_METHOD_LBS };
    cutis_image images[FRAMES] = { 0 };
    char texts[FRAMES][24], text[320];
    const char *titles[FRAMES];
    stage->clip = (int32_t)clip;
    stage->width = FRAME_WIDTH;
    stage->camera = (cutis_camera){ .yaw = 40, .pitch = 8 };
    stage->show.parts = true;
    for (int i = 0; i < FRAMES; i++) {
        snprintf(texts[i], sizeof texts[i], "%.2f s", i * duration / FRAMES);
        titles[i] = texts[i];
    }
    int status = picture_bind(stage, &shot);
    if (status == EXIT_GOOD) status = draw_strip(stage, &shot, duration, images);
    snprintf(text, sizeof text, "%s: %.2f s", rig_clip_name(job, motion), duration);
    if (status == EXIT_GOOD) status = put_sheet(stage, page, images, titles, FRAMES, text);
    for (int i = 0; i < FRAMES; i++) cutis_image_destroy(stage->app->context, &images[i]);
    picture_shot_close(&shot);
    return status;
}

int rig_pictures(cli_app *app, html_page *page, const rig_job *job)
{
    picture_stage stage;
    int status = open_stage(app, job, &stage);
    if (status == EXIT_GOOD) {
        const cutis_surface surface = rest_shape_surface(&stage.rest, stage.rest.positions);
        stage.camera.frame = cutis_surface_bounds(&surface);
        stage.ground = stage.camera.frame.min.y;
        stage.ground_fixed = true;
        status = put_rest(&stage, page);
    }
    if (job->motion_count) html_markup(page, "<h2>Motions</h2>\n");
    for (uint32_t i = 0; i < job->motion_count && status == EXIT_GOOD; i++) {
        if (!app_progress(app, "drawing", (double)i / job->motion_count))
            status = app_stopped(app);
        else
            status = put_strip(&stage, page, job, i);
    }
    close_stage(&stage);
    return status;
}
