/// cutis bench frame: whole frames, pose to pixels: sample, deform, draw, for the three published
/// sizes of the arm.
#include "bench/bench.h"

#include <stdlib.h>

#include <cutis/render.h>

typedef struct frame_work {
    cutis_live *live;
    const cutis_binding *binding;
    cutis_sampler *sampler;
    cutis_transform *pose;
    cutis_camera camera;
    double seconds;
    bool finish; ///< wait for every frame, or only for a group
} frame_work;

// Drivers queue frames; a measured group ends with a wait, so every frame counted has been drawn.
enum { GROUP_FRAMES = 32 };

static cutis_result deform_next(frame_work *w)
{
    w->seconds += 0.0137;
    if (w->seconds > 4.0) w->seconds -= 4.0;
    cutis_sampler_sample(w->sampler, (float)w->seconds, w->pose, NULL);
    return cutis_live_deform(w->live, w->binding, &(cutis_poses){ .local = w->pose });
}

// Deform as many frames ahead as the live body takes, then draw them.
static cutis_result frame_group(void *data)
{
    frame_work *w = data;
    const uint32_t ahead = w->finish ? 1 : cutis_live_ahead(w->live);
    for (uint32_t done = 0; done < GROUP_FRAMES; done += ahead) {
        for (uint32_t i = 0; i < ahead; i++) TRY(deform_next(w));
        for (uint32_t i = 1; i <= ahead; i++)
            TRY(cutis_live_draw(w->live, &w->camera, w->finish || (done + i == GROUP_FRAMES)));
    }
    return CUTIS_OK;
}

typedef struct frame_row {
    uint32_t vertices;
    uint64_t triangles;
    double throughput, latency; ///< frames a second without and with a wait after each
    double paper;
    const char *path;
} frame_row;

static cutis_result measure_body(cli_app *app, cutis_device *device, cutis_renderer *renderer,
                                 const cutis_model *model, double budget, frame_row *row)
{
    OWN(cutis_binding) *binding = NULL;
    OWN(cutis_sampler) *sampler = NULL;
    OWN(cutis_live) *live = NULL;
    uint64_t triangles = cutis_model_triangle_count(model);
    OWN_MEMORY uint32_t *indices = malloc(12 * (size_t)triangles);
    OWN_MEMORY cutis_transform *pose = calloc(cutis_model_get(model)->node_count, sizeof *pose);
    if (!indices || !pose) return CUTIS_OUT_OF_MEMORY;
    uint32_t clip = 0;
    cutis_model_triangles(model, indices);
    TRY(cutis_bind(device, model, &(cutis_bind_options){ .normals = true }, &binding));
    TRY(cutis_model_find_clip(model, "bend", &clip));
    TRY(cutis_sampler_create(model, clip, &sampler));
    TRY(cutis_live_create(renderer, device, cutis_model_vertex_count(model), triangles, indices,
                          640, 480, &live));
    frame_work w = { .live = live,
                     .binding = binding,
                     .sampler = sampler,
                     .pose = pose,
                     .camera = { .yaw = 20,
                                 .pitch = 10,
                                 .frame = { { 0.05f, 1.3f, -0.12f }, { 0.95f, 1.55f, 0.1f } } } };
    double seconds = 0;
    TRY(bench_best(frame_group, &w, budget, &seconds));
    row->throughput = GROUP_FRAMES / seconds;
    w.finish = true;
    TRY(bench_best(frame_group, &w, budget, &seconds));
    row->latency = GROUP_FRAMES / seconds;
    row->vertices = cutis_model_vertex_count(model);
    row->triangles = triangles;
    row->path = cutis_live_path(live);
    if (!option_given(app, OPTION_OUTPUT)) return CUTIS_OK;
    cutis_image image = { 0 };
    TRY(cutis_live_read(live, &image));
    cutis_result written =
        cutis_image_write_png(app->context, &image, option_text(app, OPTION_OUTPUT));
    cutis_image_destroy(app->context, &image);
    return written;
}

static void print_rows(const cli_app *app, const frame_row *rows, uint32_t count,
                       const char *renderer, const char *device, const bench_figures *figures)
{
    if (app->json) {
        json_out json = { .file = stdout };
        emit(&json, "{ renderer %s device %s rows [", renderer, device);
        for (const frame_row *r = rows; r < rows + count; r++)
            emit(&json,
                 "{ vertices %u triangles %ju frames_per_second %g frames_per_second_waiting %g "
                 "paper_frames_per_second %g vertices_reach_renderer %s }",
                 r->vertices, r->triangles, r->throughput, r->latency, r->paper, r->path);
        emit(&json, "]");
        bench_figures_emit(&json, figures);
        emit_end(&json);
        return;
    }
    app_say(app, "whole frames a second, 640x480: pose, linear blend with unit normals, draw\n");
    app_say(app, "%s, %s\n\n", device, renderer);
    app_say(app, "%10s %10s %12s %16s %12s   %s\n", "vertices", "triangles", "frames/s",
            "wait after each", "paper (2006)", "vertices are");
    for (uint32_t i = 0; i < count; i++)
        app_say(app, "%10u %10ju %12.0f %16.0f %12.0f   %s\n", rows[i].vertices, rows[i].triangles,
                rows[i].throughput, rows[i].latency, rows[i].paper, rows[i].path);
    bench_figures_say(app, figures);
}

int bench_frames(cli_app *app)
{
    static const double PAPER[] = { 1425, 630, 164 }, GOALS[] = { 8000, 4000, 2000 }; // one H200
    bench_figures figures = { 0 };
    const char *name = "bench frame";
    OWN(cutis_device) *device = NULL;
    OWN(cutis_renderer) *renderer = NULL;
    frame_row rows[3] = { 0 };
    TRY(app_open_device(app, &device));
    TRY(app_result(app, name, cutis_renderer_create(app->context, &renderer)));
    for (int i = 0; i < 3; i++) {
        OWN(cutis_model) *model = NULL;
        const cutis_synth_options synth = { .body = CUTIS_BODY_ARM,
                                            .size = (cutis_body_size)(CUTIS_BODY_SIZE_LOW + i) };
        rows[i].paper = PAPER[i];
        TRY(app_result(app, name, cutis_synth_create(app->context, &synth, &model)));
        TRY(app_result(app, name,
                       measure_body(app, device, renderer, model,
                                    option_given(app, OPTION_QUICK) ? 0.1 : 1.0, &rows[i])));
        bench_figure_add(&figures, "frames_per_second", rows[i].vertices, rows[i].throughput, true,
                         GOALS[i]);
    }
    app_progress_done(app);
    print_rows(app, rows, 3, cutis_renderer_name(renderer), cutis_device_describe(device).name,
               &figures);
    return EXIT_GOOD;
}
