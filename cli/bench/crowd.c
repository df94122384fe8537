/// cutis bench crowd: whole frames of a crowd that lives on the device (clips, poses, skins),
/// beside the same frames by cutis_deform with poses of the host; and 10,000 bipeds with levels of
/// detail.
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>

#include <cutis/crowd.h>

enum { LEVELS = 4, QUEUED_FRAMES = 8 };

typedef struct crowd_bench {
    cutis_device *device;
    cutis_model *models[LEVELS];
    cutis_binding *bindings[LEVELS];
    cutis_crowd *crowd;
    cutis_crowd_output outputs[LEVELS];
    uint32_t level_count, count;
    const cutis_crowd_view *view;
    double clock;
    // The other way.
    cutis_sampler *sampler;
    cutis_transform *poses;
} crowd_bench;

static void crowd_bench_close(crowd_bench *b)
{
    cutis_crowd_destroy(b->crowd);
    for (uint32_t l = 0; l < LEVELS; l++) {
        cutis_buffer_destroy(b->outputs[l].vertices);
        cutis_binding_destroy(b->bindings[l]);
        cutis_model_destroy(b->models[l]);
    }
    cutis_sampler_destroy(b->sampler);
    free(b->poses);
}

static cutis_result place_walkers(crowd_bench *b)
{
    const uint32_t columns = (uint32_t)ceil(sqrt(b->count));
    TRY(cutis_crowd_resize(b->crowd, b->count));
    for (uint32_t i = 0; i < b->count; i++) {
        cutis_crowd_instance one = { .root = cutis_transform_identity(), .track_count = 1 };
        one.root.translation =
            (cutis_float3){ 1.2f * (float)(i % columns), 0, 1.2f * (float)(i / columns) };
        one.tracks[0] = (cutis_crowd_track){ .seconds = cutis_random_unit(1, 0, i), .speed = 1 };
        TRY(cutis_crowd_set(b->crowd, i, 1, &one));
    }
    return CUTIS_OK;
}

static cutis_result open_crowd(crowd_bench *b, cutis_context *context, cutis_method method,
                               const uint32_t *vertices, const float *distances)
{
    cutis_crowd_level levels[LEVELS];
    for (uint32_t l = 0; l < b->level_count; l++) {
        const cutis_synth_options synth = { .vertex_count = vertices[l] };
        const cutis_bind_options bind = { .method = method,
                                          .normals = true,
                                          .instance_capacity = b->count < 1024 ? b->count : 1024 };
        TRY(cutis_synth_create(context, &synth, &b->models[l]));
        TRY(cutis_bind(b->device, b->models[l], &bind, &b->bindings[l]));
        levels[l] = (cutis_crowd_level){ b->bindings[l], distances[l] };
    }
    const cutis_crowd_options options = { .levels = levels,
                                          .level_count = b->level_count,
                                          .instance_capacity = b->count,
                                          .normal = CUTIS_CROWD_NORMAL_F32 };
    TRY(cutis_crowd_create(&options, &b->crowd));
    const cutis_crowd_info info = cutis_crowd_describe(b->crowd);
    for (uint32_t l = 0; l < b->level_count; l++)
        TRY(cutis_buffer_create(b->device, info.levels[l].slot_bytes * b->count,
                                &b->outputs[l].vertices));
    return place_walkers(b);
}

static cutis_result crowd_frames(void *data)
{
    crowd_bench *b = data;
    for (int f = 0; f < QUEUED_FRAMES; f++)
        TRY(cutis_crowd_run(b->crowd, b->clock += 0.011, b->view, b->outputs));
    return cutis_device_finish(b->device);
}

/// The same by the host's poses: sampled on this thread, sent with cutis_deform.
static cutis_result deform_frames(void *data)
{
    crowd_bench *b = data;
    const uint32_t nodes = cutis_model_get(b->models[0])->node_count;
    const float duration = cutis_sampler_duration(b->sampler);
    const cutis_crowd_level_info info = cutis_crowd_describe(b->crowd).levels[0];
    const cutis_outputs outputs = {
        .positions = { .buffer = b->outputs[0].vertices,
                       .stride = 24,
                       .instance_stride = info.slot_bytes },
        .normals = { .buffer = b->outputs[0].vertices,
                     .offset = 12,
                     .stride = 24,
                     .instance_stride = info.slot_bytes },
    };
    b->clock += 0.011;
    for (uint32_t i = 0; i < b->count; i++)
        cutis_sampler_sample(b->sampler,
                             fmodf((float)(b->clock + cutis_random_unit(1, 0, i)), duration),
                             b->poses + (size_t)i * nodes, NULL);
    TRY(cutis_deform(b->bindings[0], &(cutis_poses){ .local = b->poses }, b->count, &outputs));
    return cutis_device_finish(b->device);
}

cutis_result bench_walkers_open(cutis_context *context, cutis_device *device, uint32_t count,
                                uint32_t vertices, bench_walkers **out)
{
    crowd_bench *b = *out = calloc(1, sizeof *b);
    if (!b) return CUTIS_OUT_OF_MEMORY;
    *b = (crowd_bench){ .device = device, .level_count = 1, .count = count };
    return open_crowd(b, context, CUTIS_METHOD_LBS, &vertices, &(float){ 0 });
}

cutis_result bench_walkers_run(void *walkers)
{
    return crowd_frames(walkers);
}

void bench_walkers_close(bench_walkers **walkers)
{
    if (*walkers) crowd_bench_close(*walkers);
    free(*walkers);
}

typedef struct crowd_row {
    const char *method;
    uint32_t instances, vertices, levels;
    double crowd, deform; ///< seconds of a frame; 0: not measured
    bool on_device;
} crowd_row;

static cutis_result measure_crowd(cli_app *app, cutis_device *device, cutis_method method,
                                  uint32_t count, const uint32_t *vertices, uint32_t levels,
                                  double budget, crowd_row *row)
{
    static const float DISTANCES[] = { 20, 45, 90, 0 };
    const cutis_crowd_view view = { .eye = { 60, 2, 60 } };
    ENDS_BY(crowd_bench_close)
    crowd_bench b = { .device = device, .level_count = levels, .count = count };
    if (levels > 1) b.view = &view;
    TRY(open_crowd(&b, app->context, method, vertices, DISTANCES + LEVELS - levels));
    *row = (crowd_row){ .method = cutis_method_name(method),
                        .instances = count,
                        .vertices = cutis_model_vertex_count(b.models[0]),
                        .levels = levels,
                        .on_device = cutis_crowd_describe(b.crowd).levels[0].on_device };
    TRY(bench_best(crowd_frames, &b, budget, &row->crowd));
    row->crowd /= QUEUED_FRAMES;
    if (levels > 1) return CUTIS_OK;
    TRY(cutis_sampler_create(b.models[0], 0, &b.sampler));
    b.poses = calloc((size_t)count * cutis_model_get(b.models[0])->node_count, sizeof *b.poses);
    if (!b.poses) return CUTIS_OUT_OF_MEMORY;
    return bench_best(deform_frames, &b, budget, &row->deform);
}

static void print_rows(const cli_app *app, const crowd_row *rows, uint32_t count,
                       const bench_figures *figures)
{
    if (app->json) {
        json_out json = { .file = stdout };
        emit(&json, "{ rows [");
        for (const crowd_row *r = rows; r < rows + count; r++)
            emit(
                &json,
                "{ method %s instances %u vertices %u levels %u poses_on_device %d milliseconds %g "
                "frames_per_second %g deform_milliseconds %g }",
                r->method, r->instances, r->vertices, r->levels, r->on_device, 1e3 * r->crowd,
                1 / r->crowd, 1e3 * r->deform);
        emit(&json, "]");
        bench_figures_emit(&json, figures);
        emit_end(&json);
        return;
    }
    app_say(app, "%6s %9s %8s %6s %10s %10s %10s   %s\n", "method", "instances", "vertices",
            "levels", "ms/frame", "frames/s", "deform ms", "poses are made by");
    for (const crowd_row *r = rows; r < rows + count; r++)
        app_say(app, "%6s %9u %8u %6u %10.3f %10.0f %10.3f   %s\n", r->method, r->instances,
                r->vertices, r->levels, 1e3 * r->crowd, 1 / r->crowd, 1e3 * r->deform,
                r->on_device ? "the device" : "the host");
    app_say(app, "deform: the same frame by cutis_sampler_sample on one thread and cutis_deform\n");
    bench_figures_say(app, figures);
}

int bench_crowd(cli_app *app)
{
    static const cutis_method METHODS[] = { CUTIS_METHOD_LBS, CUTIS_METHOD_SBS, CUTIS_METHOD_DQS };
    static const uint32_t CHAIN[LEVELS] = { 3000, 2400, 1900, 1500 };
    const bool quick = option_given(app, OPTION_QUICK);
    const double budget = quick ? 0.1 : 1;
    OWN(cutis_device) *device = NULL;
    crowd_row rows[4];
    TRY(app_open_device(app, &device));
    const bool cpu = cutis_device_describe(device).kind == CUTIS_DEVICE_CPU;
    const uint32_t count = option_count(app, OPTION_INSTANCES, cpu || quick ? 16 : 1024);
    const uint32_t vertices = option_count(app, OPTION_VERTICES, quick ? 3000 : 46036);
    for (int m = 0; m < 3; m++)
        TRY(app_result(
            app, "bench crowd",
            measure_crowd(app, device, METHODS[m], count, &vertices, 1, budget, &rows[m])));
    TRY(app_result(app, "bench crowd",
                   measure_crowd(app, device, CUTIS_METHOD_LBS,
                                 quick ? 100
                                 : cpu ? 1000
                                       : 10000,
                                 CHAIN, LEVELS, budget, &rows[3])));
    app_progress_done(app);
    bench_figures figures = { 0 };
    // 1000 frames a second of 10,000: one H200's. Anywhere, a crowd is not slower than its poses
    // one by one.
    bench_figure_add(&figures, "millions_of_instances_per_second", 0,
                     1e-6 * rows[3].instances / rows[3].crowd, true, 10);
    for (int m = 0; m < 3; m++) {
        char name[32];
        snprintf(name, sizeof name, "crowd_over_deform_%s", rows[m].method);
        bench_figure_add(&figures, name, 0, rows[m].crowd / rows[m].deform, false, 1);
    }
    print_rows(app, rows, 4, &figures);
    return EXIT_GOOD;
}
