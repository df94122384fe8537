/// cutis bench growth: what a hundred times the size costs, by the processor time of one thread, so
/// that other work on the machine hardly shows. Each task has three sizes over two decades (one
/// with --quick). The exponent is the slope of log cost against log size: of all three, and of the
/// larger two, since what every call costs anyway makes small sizes dear and the slope flat. The
/// goal is for both.
#include "bench/bench.h"
#include "bench/exponent.h"
#include "bench/measure.h"

#include <cutis/crowd.h>
#include <cutis/skeleton.h>

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { SIZES = 3, REPEATS = 3 };
/// A group of runs lasts at least so long; groups up to ENOUGH are repeated and the best one
/// counts.
static const double GROUP = 0.05, ENOUGH = 1.0;
/// A hundred times the size may cost twice as much apiece: caches end somewhere in between.
static const double GOAL = 1.15;

/// Processor seconds of one run.
static cutis_result time_runs(bench_function function, void *data, double *seconds)
{
    double spent = 0;
    uint32_t group = 1;
    for (int repeat = 0; repeat < REPEATS;) {
        const clock_t start = clock();
        for (uint32_t i = 0; i < group; i++) { TRY(function(data)); }
        spent = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (spent < GROUP) {
            group *= 2;
            continue;
        }
        if (repeat == 0 || spent / group < *seconds) *seconds = spent / group;
        repeat = spent > ENOUGH ? REPEATS : repeat + 1;
    }
    return CUTIS_OK;
}

/// One task at one size: what was measured.
typedef struct growth_point {
    double size, seconds;
} growth_point;

typedef struct growth_bench {
    cli_app *app;
    cutis_device *device;
} growth_bench;

static cutis_result deform_at(const growth_bench *b, uint32_t vertices, growth_point *out)
{
    OWN(cutis_model) *model = NULL;
    ENDS_BY(bench_skin_close) bench_skin skin = { 0 };
    TRY(bench_body_create(b->app->context, vertices, 16, &model));
    TRY(bench_skin_open(b->device, model, &(cutis_bind_options){ .normals = true }, 1, &skin));
    out->size = vertices;
    return time_runs(bench_skin_run, &skin, &out->seconds);
}

static cutis_result crowd_at(const growth_bench *b, uint32_t instances, growth_point *out)
{
    ENDS_BY(bench_walkers_close) bench_walkers *walkers = NULL;
    TRY(bench_walkers_open(b->app->context, b->device, instances, 3000, &walkers));
    out->size = instances;
    return time_runs(bench_walkers_run, walkers, &out->seconds);
}

static cutis_result reduce_at(const growth_bench *b, uint32_t vertices, growth_point *out)
{
    bench_reduced figures = { 0 };
    TRY(bench_reduce_sized(b->app, b->device, vertices, &figures));
    *out = (growth_point){ vertices, figures.cpu_seconds };
    return CUTIS_OK;
}

typedef struct handles_task {
    const growth_bench *bench;
    const cutis_model *model;
    cutis_handle handles[BENCH_HANDLES];
    uint32_t voxels;
    uint64_t domain;
} handles_task;

static cutis_result bind_handles(void *data)
{
    handles_task *task = data;
    OWN(cutis_handle_session) *session = NULL;
    const cutis_handles_options options = { .voxels = task->voxels };
    TRY(cutis_handle_session_create(task->model, task->bench->device, &options, &session));
    TRY(cutis_handles_set(session, task->handles, BENCH_HANDLES));
    task->domain = cutis_handles_look(session).report->domain_voxels;
    return CUTIS_OK;
}

static cutis_result handles_at(const growth_bench *b, uint32_t voxels, growth_point *out)
{
    OWN(cutis_model) *model = NULL;
    TRY(cutis_synth_create(b->app->context, &(cutis_synth_options){ 0 }, &model));
    handles_task task = { .bench = b, .model = model, .voxels = voxels };
    bench_handles_spread(model, task.handles);
    TRY(time_runs(bind_handles, &task, &out->seconds));
    out->size = (double)task.domain;
    return CUTIS_OK;
}

static cutis_result extract(void *data)
{
    OWN(cutis_model) *model = NULL;
    OWN(cutis_skeleton_report) *report = NULL;
    const cutis_skeleton_options options = { .source = CUTIS_PART_SOURCE_PARTS,
                                             .keep_curved = true };
    return cutis_skeleton_extract(data, &options, &model, &report);
}

static cutis_result skeleton_at(const growth_bench *b, uint32_t vertices, growth_point *out)
{
    OWN(cutis_model) *model = NULL;
    const cutis_synth_options synth = { .vertex_count = vertices };
    TRY(cutis_synth_create(b->app->context, &synth, &model));
    out->size = (double)cutis_model_triangle_count(model);
    return time_runs(extract, model, &out->seconds);
}

static const struct {
    const char *name, *size;
    cutis_result (*measure)(const growth_bench *b, uint32_t asked, growth_point *out);
    uint32_t sizes[2][SIZES]; ///< whole; --quick
} TASKS[] = {
    { "deform", "vertices", deform_at, { { 10000, 100000, 1000000 }, { 5000, 15000, 50000 } } },
    { "crowd", "instances", crowd_at, { { 10, 100, 1000 }, { 4, 12, 40 } } },
    { "reduce", "vertices", reduce_at, { { 4000, 40000, 400000 }, { 1000, 3000, 10000 } } },
    { "handles", "voxels of the domain", handles_at, { { 55, 119, 256 }, { 32, 47, 69 } } },
    { "skeleton", "triangles", skeleton_at, { { 3000, 30000, 300000 }, { 1500, 4500, 15000 } } },
};
enum { TASK_COUNT = sizeof TASKS / sizeof *TASKS };

static void show_task(const cli_app *app, json_out *json, size_t task, const growth_point *points,
                      double exponent, double last)
{
    app_say(app, "%-9s %-21s", TASKS[task].name, TASKS[task].size);
    for (int i = 0; i < SIZES; i++)
        app_say(app, " %11.0f %9.3g us", points[i].size, 1e6 * points[i].seconds / points[i].size);
    app_say(app, " %8.3f %8.3f\n", exponent, last);
    if (!app->json) return;
    emit(json, "{ what %s size_in %s exponent %g exponent_of_larger %g points [", TASKS[task].name,
         TASKS[task].size, exponent, last);
    for (int i = 0; i < SIZES; i++)
        emit(json, "{ size %g cpu_seconds %g }", points[i].size, points[i].seconds);
    emit(json, "] }");
}

int bench_growth(cli_app *app)
{
    OWN(cutis_device) *device = NULL;
    json_out json = { .file = stdout };
    bench_figures figures = { 0 };
    const int quick = option_given(app, OPTION_QUICK);
    growth_bench b = { .app = app };
    TRY(app_result(
        app, "bench growth",
        cutis_device_create(app->context, &(cutis_device_options){ .thread_count = 1 }, &device)));
    b.device = device;
    app_say(app, "processor time of one thread: three sizes, and microseconds apiece; cost grows "
                 "as size to the exponent\n(of all three, of the larger two)\n");
    if (app->json) emit(&json, "{ rows [");
    for (size_t t = 0; t < TASK_COUNT; t++) {
        growth_point points[SIZES];
        double sizes[SIZES], seconds[SIZES];
        for (int i = 0; i < SIZES; i++) {
            TRY(app_result(app, TASKS[t].name,
                           TASKS[t].measure(&b, TASKS[t].sizes[quick][i], &points[i])));
            sizes[i] = points[i].size, seconds[i] = points[i].seconds;
        }
        app_progress_done(app);
        const double exponent = bench_exponent(sizes, seconds, SIZES);
        const double last = bench_exponent(sizes + 1, seconds + 1, SIZES - 1);
        char name[32];
        snprintf(name, sizeof name, "%s_exponent", TASKS[t].name);
        show_task(app, &json, t, points, exponent, last);
        fflush(stdout); // tasks take a while
        bench_figure_add(&figures, name, 0, fmax(exponent, last), false, GOAL);
    }
    if (app->json) emit_end(&json);
    bench_figures_say(app, &figures);
    if (app->json) {
        bench_figures_emit(&json, &figures);
        emit_end(&json);
    }
    return EXIT_GOOD;
}
