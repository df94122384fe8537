/// cutis demo: the main job once, on a character made by code. Every method deforms the bend and
/// the twist clip on the default device; a table says what each does to the volume, how far it is
/// from linear and dual quaternion blending, and what it costs. Everything shown is measured in
/// this run.
#include "app.h"
#include "bench/bench.h"
#include "play.h"
#include "rest_shape.h"
#include "sink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLIP_BEND, CLIP_TWIST, CLIP_COUNT };

typedef struct demo_method {
    const char *name, *meaning;
    cutis_bind_options bind;
} demo_method;

static const demo_method methods[] = {
    { "rigid", "each vertex follows one bone", { .method = CUTIS_METHOD_RIGID } },
    { "lbs", "linear: the classic, loses volume", { .method = CUTIS_METHOD_LBS } },
    { "sbs", "spherical: a centre per bone set", { .method = CUTIS_METHOD_SBS } },
    { "sbs_weighted",
      "spherical: no creases",
      { .method = CUTIS_METHOD_SBS, .weighted_centres = true } },
    { "dqs", "dual quaternions", { .method = CUTIS_METHOD_DQS } },
    { "cor", "optimized centres", { .method = CUTIS_METHOD_COR } },
};
#define METHODS (sizeof methods / sizeof *methods)
static const int METHOD_LBS = 1, METHOD_DQS = 4;
static const char *const clip_names[CLIP_COUNT] = { "bend", "twist" };
static const double FPS = 30;

typedef struct demo_result {
    double variation[CLIP_COUNT];       // the frame that varies most, %
    double stretch[CLIP_COUNT];         // RMS log edge stretch at the frame shown
    float *shown[CLIP_COUNT];           // positions of that frame
    double from_lbs, from_dqs;          // largest over the clips, RMS % of the diagonal
    double ns, times_plain, characters; // one core; all cores at 60 frames a second
} demo_result;

typedef struct demo {
    cli_app *app;
    const char *folder;
    cutis_model *model;
    cutis_device *device, *one_core;
    rest_shape rest;
    double made_in, rest_volume;
    uint32_t shown_frame[CLIP_COUNT];
    double plain_ns;
    demo_result results[METHODS];
} demo;

static int check(demo *d, cutis_result result)
{
    return app_result(d->app, "demo", result);
}

static void demo_path(const demo *d, const char *name, char *out, size_t capacity)
{
    snprintf(out, capacity, "%s/%s", d->folder, name);
}

// A clip by its name, to be played on the default device.
static int open_clip(demo *d, const char *name, cutis_bind_options bind, play *out,
                     uint32_t *frame_count)
{
    uint32_t clip = 0;
    TRY(check(d, cutis_model_find_clip(d->model, name, &clip)));
    const play_options options = { .clip = (int32_t)clip, .batch = 1, .bind = bind };
    *frame_count = clip_frame_count(d->model, options.clip, FPS);
    return play_open(d->app, "demo", d->model, d->device, &options, out);
}

// The frame to show is the one whose volume linear blending changes most: the peak of the motion.
static int find_peaks(demo *d)
{
    for (int c = 0; c < CLIP_COUNT; c++) {
        uint32_t count;
        ENDS_BY(play_close) play p = { 0 };
        TRY(open_clip(d, clip_names[c], (cutis_bind_options){ 0 }, &p, &count));
        double most = -1.0;
        for (uint32_t f = 0; f < count; f++) {
            TRY(check(d, play_frames(&p, f, 1, FPS)));
            cutis_surface surface = rest_shape_surface(&d->rest, p.positions);
            double change = fabs(cutis_surface_volume(&surface) - d->rest_volume);
            if (change > most) {
                most = change;
                d->shown_frame[c] = f;
            }
        }
    }
    return EXIT_GOOD;
}

static int write_frame(demo *d, int method, int clip, const play *p)
{
    char name[64], path[4096];
    frame_sink *sink = NULL;
    snprintf(name, sizeof name, "%s_%s.glb", clip_names[clip], methods[method].name);
    demo_path(d, name, path, sizeof path);
    int status = sink_open(d->app, d->model,
                           &(sink_options){ .path = path, .frame_count = 1, .fps = FPS }, &sink);
    if (status != EXIT_GOOD) return status;
    status = sink_add(sink, p->positions, p->normals);
    if (status == EXIT_GOOD) return sink_finish(sink);
    sink_drop(sink);
    return status;
}

static int show_clip(demo *d, int method, int clip)
{
    demo_result *r = &d->results[method];
    cutis_bind_options bind = methods[method].bind;
    cutis_curvature curvature;
    uint32_t count;
    ENDS_BY(play_close) play p = { 0 };
    bind.normals = true;
    TRY(open_clip(d, clip_names[clip], bind, &p, &count));
    cutis_surface surface = rest_shape_surface(&d->rest, p.positions);
    TRY(check(d, play_frames(&p, d->shown_frame[clip], 1, FPS)));
    r->variation[clip] = 100.0 * (cutis_surface_volume(&surface) - d->rest_volume) / d->rest_volume;
    TRY(check(d, cutis_surface_curvature(d->app->context, &surface, d->rest.positions, NULL,
                                         &curvature)));
    r->stretch[clip] = curvature.edge_stretch_rms;
    TRY(write_frame(d, method, clip, &p));
    r->shown[clip] = p.positions; // kept for the differences
    p.positions = NULL;
    return EXIT_GOOD;
}

static int time_method(demo *d, int method)
{
    demo_result *r = &d->results[method];
    cutis_device *devices[2] = { d->one_core, d->device };
    for (int k = 0; k < 2; k++) {
        cutis_bind_options bind = methods[method].bind;
        ENDS_BY(bench_skin_close) bench_skin skin = { 0 };
        double seconds = 0.0, plain = 0.0;
        bind.normals = true;
        TRY(check(d, bench_skin_open(devices[k], d->model, &bind, 1, &skin)));
        TRY(check(d, bench_skin_time(&skin, 0.25, &seconds)));
        if (method == METHOD_LBS && k == 0) {
            TRY(check(d, bench_plain_time(d->model, skin.palette, true, 0.25, &plain)));
            d->plain_ns = 1e9 * plain / skin.info.vertex_count;
        }
        if (k == 0) r->ns = 1e9 * seconds / skin.info.vertex_count;
        if (k == 1) r->characters = 1.0 / (60.0 * seconds);
    }
    return EXIT_GOOD;
}

static int compare_methods(demo *d)
{
    cutis_surface rest = rest_shape_surface(&d->rest, d->rest.positions);
    for (size_t m = 0; m < METHODS; m++) {
        demo_result *r = &d->results[m];
        for (int c = 0; c < CLIP_COUNT; c++) {
            cutis_difference lbs, dqs;
            TRY(check(d, cutis_surface_compare(d->app->context, &rest, r->shown[c],
                                               d->results[METHOD_LBS].shown[c], &lbs)));
            TRY(check(d, cutis_surface_compare(d->app->context, &rest, r->shown[c],
                                               d->results[METHOD_DQS].shown[c], &dqs)));
            r->from_lbs = fmax(r->from_lbs, lbs.position_rms);
            r->from_dqs = fmax(r->from_dqs, dqs.position_rms);
        }
        r->times_plain = d->plain_ns / r->ns;
    }
    return EXIT_GOOD;
}

// walk.npy: what a pipeline takes on; all frames with dual quaternions.
static int write_walk(demo *d)
{
    char path[4096];
    frame_sink *sink = NULL;
    uint32_t count;
    ENDS_BY(play_close) play p = { 0 };
    demo_path(d, "walk_dqs.npy", path, sizeof path);
    TRY(open_clip(d, "walk", (cutis_bind_options){ .method = CUTIS_METHOD_DQS }, &p, &count));
    int status = sink_open(
        d->app, d->model, &(sink_options){ .path = path, .frame_count = count, .fps = FPS }, &sink);
    for (uint32_t f = 0; f < count && status == EXIT_GOOD; f++) {
        status = check(d, play_frames(&p, f, 1, FPS));
        if (status == EXIT_GOOD) status = sink_add(sink, p.positions, NULL);
    }
    if (status == EXIT_GOOD)
        status = sink_finish(sink);
    else
        sink_drop(sink);
    return status;
}

static void write_results(const demo *d, FILE *file)
{
    cutis_device_info device = cutis_device_describe(d->device);
    json_out json = { .file = file };
    emit(&json,
         "{ version %s device %s device_name %s vertices %u rest_volume %.17g "
         "plain_ns_per_vertex %g rows [",
         cutis_version(), cutis_device_kind_name(device.kind), device.name, d->rest.vertex_count,
         d->rest_volume, d->plain_ns);
    for (size_t m = 0; m < METHODS; m++) {
        const demo_result *r = &d->results[m];
        emit(&json, "{ method %s", methods[m].name);
        for (int c = 0; c < CLIP_COUNT; c++) {
            emit_object(&json, clip_names[c]);
            emit(&json, "frame %u volume_variation %g edge_stretch_rms %g }", d->shown_frame[c],
                 r->variation[c], r->stretch[c]);
        }
        emit(&json,
             "position_rms_from_lbs %g position_rms_from_dqs %g ns_per_vertex %g times_plain %g "
             "characters_at_60_hz %g }",
             r->from_lbs, r->from_dqs, r->ns, r->times_plain, r->characters);
    }
    emit(&json, "] }");
}

static int save_results(demo *d)
{
    char path[4096];
    OWN_MEMORY char *text = NULL;
    size_t size = 0;
    demo_path(d, "demo.json", path, sizeof path);
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return app_fail_text(d->app, "%s: not enough memory", path);
    write_results(d, memory);
    if (fclose(memory) != 0) return app_fail_text(d->app, "%s: not enough memory", path);
    return app_result(d->app, path, cutis_file_write(d->app->context, path, text, size));
}

static void print_table(const demo *d)
{
    const cli_app *app = d->app;
    cutis_device_info device = cutis_device_describe(d->device);
    cutis_weight_summary weights = { 0 };
    cutis_weights_summarize(d->model, &weights);
    app_say(app, "%sCutis %s%s on %s: %s", app_style(app, "1"), cutis_version(),
            app_style(app, "0"), cutis_device_kind_name(device.kind), device.name);
    if (device.kind == CUTIS_DEVICE_CPU)
        app_say(app, ", %s, %u threads", cutis_isa_name(device.isa), device.thread_count);
    app_say(app,
            "\nA biped made by code in %.1f s: %u vertices, %u joints, up to %u influences, %.2f "
            "litres\n\n",
            d->made_in, d->rest.vertex_count, weights.joint_count, weights.max_influences,
            1e3 * d->rest_volume);
    app_say(app, "%s%-13s %14s   %15s   %12s  %s\n", app_style(app, "1"), "", "volume change",
            "distance from", "one core", "all cores");
    app_say(app, "%-13s %6s %7s   %7s %7s   %6s %7s  %s%s\n", "method", "bend", "twist", "lbs",
            "dqs", "ns/v", "x C", "characters at 60 Hz", app_style(app, "0"));
    for (size_t m = 0; m < METHODS; m++) {
        const demo_result *r = &d->results[m];
        const char *tone = fabs(r->variation[0]) < 1.0 && fabs(r->variation[1]) < 1.0 ? "32" : "33";
        app_say(app,
                "%-13s %s%+5.1f %% %+5.1f %%%s   %5.2f %% %5.2f %%   %6.2f %7.1f  %9.0f   %s\n",
                methods[m].name, app_style(app, tone), r->variation[0], r->variation[1],
                app_style(app, "0"), r->from_lbs, r->from_dqs, r->ns, r->times_plain, r->characters,
                methods[m].meaning);
    }
    app_say(app,
            "volume: at the peak of each clip. distance: RMS, %% of the diagonal. ns/v: ns per "
            "vertex,\n"
            "position and unit normal, all influences. x C: plain C linear blending (%.1f ns) over "
            "it.\n",
            d->plain_ns);
    app_say(app,
            "\nWritten to %s: biped.glb (the character), bend_*.glb and twist_*.glb (each method "
            "at the\n"
            "peak; open two side by side), walk_dqs.npy (positions of every frame), demo.json "
            "(this table)\n",
            d->folder);
    // %s: the command, the demo's folder.
    static const char *const next[][2] = {
        { "%s render %s/biped.glb --clip twist --methods lbs,dqs -o twist.png", "two methods" },
        { "%s deform %s/biped.glb --clip wave --method dqs -o wave.glb", "a clip to open" },
        { "%s check YOUR.glb", "your own character" },
        { "%s compare YOUR.glb --clip 0 --methods dqs,lbs --report r.html", "a report to mail" },
        { "%s help", "everything else" },
    };
    app_say(app, "%sTry next:%s\n", app_style(app, "1"), app_style(app, "0"));
    for (size_t i = cli_pictures ? 0 : 1; i < sizeof next / sizeof *next; i++) {
        char line[8400];
        const char *second = strstr(next[i][0] + 2, "%s");
        snprintf(line, sizeof line, "%s%.*s%s%s", app->program,
                 second ? (int)(second - next[i][0] - 2) : (int)strlen(next[i][0]), next[i][0] + 2,
                 second ? d->folder : "", second ? second + 2 : "");
        app_say(app, "  %-77s # %s\n", line, next[i][1]); // the whole line can be pasted
    }
}

static int prepare(demo *d)
{
    char path[4096];
    cutis_synth_options options = { .body = CUTIS_BODY_BIPED,
                                    .vertex_count = option_count(d->app, OPTION_VERTICES, 0) };
    double start = app_seconds();
    TRY(app_open_device(d->app, &d->device));
    cutis_device_options one = { .thread_count = 1 };
    app_device_options(d->app, &one);
    one.thread_count = one.kind == CUTIS_DEVICE_CPU ? 1 : 0;
    TRY(check(d, cutis_device_create(d->app->context, &one, &d->one_core)));
    TRY(check(d, cutis_synth_create(d->app->context, &options, &d->model)));
    d->made_in = app_seconds() - start;
    TRY(app_make_folder(d->app, d->folder)); // what fails before leaves none
    TRY(rest_shape_make(d->app, "demo", d->model, &d->rest));
    cutis_surface rest = rest_shape_surface(&d->rest, d->rest.positions);
    d->rest_volume = cutis_surface_volume(&rest);
    demo_path(d, "biped.glb", path, sizeof path);
    return app_result(d->app, path, cutis_model_write(d->model, path, NULL));
}

int verb_demo(cli_app *app)
{
    const char *folder = option_text(app, OPTION_OUTPUT);
    demo d = { .app = app, .folder = folder ? folder : "out/demo" };
    int status = prepare(&d);
    if (status == EXIT_GOOD) status = find_peaks(&d);
    for (size_t m = 0; m < METHODS && status == EXIT_GOOD; m++) {
        if (!app_progress(app, methods[m].name, (double)m / METHODS)) status = app_stopped(app);
        for (int c = 0; c < CLIP_COUNT && status == EXIT_GOOD; c++)
            status = show_clip(&d, (int)m, c);
        if (status == EXIT_GOOD) status = time_method(&d, (int)m);
    }
    if (status == EXIT_GOOD) status = compare_methods(&d);
    if (status == EXIT_GOOD) status = write_walk(&d);
    if (status == EXIT_GOOD) status = save_results(&d);
    app_progress_done(app);
    if (status == EXIT_GOOD) {
        print_table(&d);
        if (app->json) write_results(&d, stdout);
    }
    for (size_t m = 0; m < METHODS; m++)
        for (int c = 0; c < CLIP_COUNT; c++) free(d.results[m].shown[c]);
    rest_shape_release(&d.rest);
    cutis_device_destroy(d.one_core);
    cutis_device_destroy(d.device);
    cutis_model_destroy(d.model);
    return status;
}
