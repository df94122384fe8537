/// cutis bench pose-space: plain skinning (SSD), PSD and WPSD on the arm of the 2006 paper's sizes,
/// with positions and normals, beside the paper's table; and how long learning weights takes.
///
/// What is compared is measured alternately, and the best of each counts: a ratio of quiet moments.
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>

#include "bench/measure.h"

#define ROUNDS  3
#define METHODS BENCH_SPACE_METHODS
#define SIZES   3
#define POSES   CUTIS_ARM_EXAMPLE_COUNT

const cutis_method bench_space_methods[METHODS] = { CUTIS_METHOD_LBS, CUTIS_METHOD_PSD,
                                                    CUTIS_METHOD_WPSD };
static const char *const NAMES[METHODS] = { "ssd", "psd", "wpsd" };
const double bench_space_paper[SIZES][METHODS][2] = {
    { { 150, 1425 }, { 98, 1230 }, { 5, 85 } },
    { { 39, 630 }, { 23, 530 }, { 1.2, 25 } },
    { { 5, 164 }, { 4.5, 140 }, { 0.29, 7 } },
};

typedef struct space_bench {
    cli_app *app;
    cutis_device *device;
    cutis_device_info info;
    uint32_t instances, threads;
    double budget;
    bench_space_row rows[SIZES];
    bench_learned learned;
} space_bench;

void bench_arm_close(bench_arm *s)
{
    free(s->poses);
    cutis_pose_fit_report_destroy(s->report);
    cutis_model_destroy(s->fitted);
    cutis_model_destroy(s->arm);
    *s = (bench_arm){ 0 };
}

/// Examples are a second apart; instances stand between them.
static cutis_result sample_poses(bench_arm *s, uint32_t instances)
{
    const size_t nodes = cutis_model_get(s->arm)->node_count;
    uint32_t clip;
    s->poses = calloc((POSES + (size_t)instances) * nodes, sizeof *s->poses);
    if (!s->poses) return CUTIS_OUT_OF_MEMORY;
    TRY(cutis_model_find_clip(s->arm, "examples", &clip));
    for (uint32_t k = 0; k < POSES + instances; k++) {
        double seconds = k < POSES ? k : (POSES - 1) * (k - POSES + 0.5) / instances;
        TRY(bench_sample(s->arm, clip, (float)seconds, s->poses + k * nodes));
    }
    return CUTIS_OK;
}

cutis_result bench_arm_open(cutis_context *context, cutis_device *device, cutis_body_size size,
                            uint32_t instances, const cutis_pose_fit_options *fit, bench_arm *out)
{
    const cutis_synth_options options = { .body = CUTIS_BODY_ARM, .size = size, .examples = true };
    *out = (bench_arm){ 0 };
    TRY(cutis_synth_create(context, &options, &out->arm));
    size_t vertices = cutis_model_vertex_count(out->arm);
    OWN_MEMORY float *shapes = malloc(POSES * vertices * 3 * sizeof *shapes);
    TRY(shapes ? cutis_synth_arm_examples(out->arm, shapes) : CUTIS_OUT_OF_MEMORY);
    TRY(sample_poses(out, instances));
    return cutis_poses_fit(out->arm, device,
                           &(cutis_pose_examples){ POSES, out->poses, shapes, NULL }, fit,
                           &out->fitted, &out->report);
}

// Instances that are compared with the CPU's.
#define COMPARED 4u

/// How far a GPU's last frame is from the CPU's, of the diagonal of its box.
static cutis_result compare_skin(cli_app *app, const cutis_model *model, const bench_skin *skin,
                                 cutis_method method, double *apart)
{
    const uint32_t instances = skin->instance_count < COMPARED ? skin->instance_count : COMPARED;
    const size_t vertices = skin->info.vertex_count * (size_t)instances;
    OWN_MEMORY float *records = malloc(24 * vertices), *positions = malloc(12 * vertices);
    OWN(cutis_device) *cpu = NULL;
    if (!records || !positions) return CUTIS_OUT_OF_MEMORY;
    TRY(cutis_buffer_read(skin->buffer, 0, records, 24 * vertices));
    TRY(cutis_device_create(app->context, NULL, &cpu));
    TRY(bench_deform(cpu, model, &(cutis_bind_options){ .method = method }, &skin->poses, instances,
                     &(cutis_outputs){ .positions.data = positions }));
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    double most = 0, diagonal = 0;
    for (size_t v = 0; v < vertices; v++) {
        double square = 0;
        for (int c = 0; c < 3; c++) {
            double x = positions[3 * v + (size_t)c];
            low[c] = fmin(low[c], x), high[c] = fmax(high[c], x);
            square += (x - records[6 * v + (size_t)c]) * (x - records[6 * v + (size_t)c]);
        }
        most = fmax(most, square);
    }
    for (int c = 0; c < 3; c++) diagonal += (high[c] - low[c]) * (high[c] - low[c]);
    *apart = sqrt(most / diagonal);
    return CUTIS_OK;
}

/// SSD runs on the arm itself: the fitted one has targets that plain skinning would look at.
cutis_result bench_space_measure(cli_app *app, cutis_device *device, uint32_t instances,
                                 double budget, cutis_body_size size, bench_space_row *row)
{
    ENDS_BY(bench_arm_close) bench_arm s = { 0 };
    bench_skin skins[METHODS];
    uint32_t open = 0;
    cutis_result result = bench_arm_open(app->context, device, size, instances, NULL, &s);
    if (result != CUTIS_OK) return result;
    row->vertices = cutis_model_vertex_count(s.arm);
    const size_t nodes = cutis_model_get(s.arm)->node_count;
    for (; open < METHODS && result == CUTIS_OK; open++) {
        result = bench_skin_open(
            device, open == 0 ? s.arm : s.fitted,
            &(cutis_bind_options){ .method = bench_space_methods[open], .normals = true },
            instances, &skins[open]);
        if (result != CUTIS_OK) break;
        skins[open].poses = (cutis_poses){ .local = s.poses + POSES * nodes };
        row->seconds[open] = INFINITY;
    }
    for (uint32_t i = 0; i < ROUNDS * METHODS && result == CUTIS_OK; i++) {
        double seconds = 0;
        if (!app_progress(app, "measuring", i / (double)(ROUNDS * METHODS)))
            result = CUTIS_CANCELLED;
        else
            result = bench_skin_time(&skins[i % METHODS], budget, &seconds);
        row->seconds[i % METHODS] = fmin(row->seconds[i % METHODS], seconds);
    }
    for (uint32_t m = 0; m < METHODS && result == CUTIS_OK && skins[m].buffer; m++)
        result = compare_skin(app, m == 0 ? s.arm : s.fitted, &skins[m], bench_space_methods[m],
                              &row->apart[m]);
    while (open > 0) bench_skin_close(&skins[--open]);
    return result;
}

static void print_rows(const space_bench *b)
{
    const cli_app *app = b->app;
    app_say(app, "pose space: 4 joints, %d poses, positions and unit normals; %s, ", POSES,
            b->info.name);
    if (b->info.kind == CUTIS_DEVICE_CPU)
        app_say(app, "%s, %u thread%s\n", cutis_isa_name(b->info.isa), b->threads,
                b->threads == 1 ? "" : "s");
    else
        app_say(app, "%u instances in one dispatch\n", b->instances);
    app_say(app, "%s%9s %-6s %11s %12s %9s %14s %10s%s\n", app_style(app, "1"), "vertices", "",
            "ns/vertex", "frames/s", "x ssd", "paper CPU", "GPU", app_style(app, "0"));
    for (int i = 0; i < SIZES; i++)
        for (int m = 0; m < METHODS; m++) {
            const bench_space_row *r = &b->rows[i];
            double each = r->seconds[m] / b->instances;
            app_say(app, "%9u %-6s %11.3f %12.0f %9.2f %14g %10g\n", r->vertices, NAMES[m],
                    1e9 * each / r->vertices, 1 / each, r->seconds[m] / r->seconds[0],
                    bench_space_paper[i][m][0], bench_space_paper[i][m][1]);
        }
    if (b->info.kind != CUTIS_DEVICE_CPU)
        app_say(app, "from the CPU's vertices, of the diagonal: ssd %.2g, psd %.2g, wpsd %.2g\n",
                b->rows[SIZES - 1].apart[0], b->rows[SIZES - 1].apart[1],
                b->rows[SIZES - 1].apart[2]);
    if (b->learned.seconds > 0)
        app_say(app, "weights of %u vertices, %u joints, %u poses learned in %.3f s on %s\n",
                b->learned.vertices, b->learned.joints, b->learned.poses, b->learned.seconds,
                b->learned.gpu ? b->info.name : "two threads");
}

static bench_figures figures_of(const space_bench *b)
{
    bench_figures list = { 0 };
    const bench_space_row *high = &b->rows[SIZES - 1];
    bool cpu = b->info.kind == CUTIS_DEVICE_CPU;
    for (int i = cpu ? 0 : SIZES - 1; i < SIZES; i++) {
        const bench_space_row *r = &b->rows[i];
        bench_figure_add(&list, "psd_times_ssd", r->vertices, r->seconds[1] / r->seconds[0], false,
                         cpu ? 2.3 : 1.6);
        bench_figure_add(&list, "wpsd_times_ssd", r->vertices, r->seconds[2] / r->seconds[0], false,
                         cpu ? 7 : 2.3);
    }
    bench_figure_add(&list, "wpsd_frames_per_second", high->vertices,
                     b->instances / high->seconds[2], true, cpu ? 1500 : 1.5e6);
    if (!cpu) bench_figure_add(&list, "wpsd_from_cpu_of_diagonal", 0, high->apart[2], false, 1e-6);
    if (b->learned.seconds > 0)
        bench_figure_add(&list, "learn_seconds", 0, b->learned.seconds, false, cpu ? 1 : 0.05);
    return list;
}

static void emit_rows(const space_bench *b, const bench_figures *figures)
{
    json_out json = { .file = stdout };
    emit(&json, "{ device %s isa %s threads %u instances %u rows [", b->info.name,
         cutis_isa_name(b->info.isa), b->threads, b->instances);
    for (int i = 0; i < SIZES; i++)
        for (int m = 0; m < METHODS; m++) {
            const bench_space_row *r = &b->rows[i];
            emit(&json,
                 "{ method %s vertices %u ns_per_vertex %g frames_per_second %g times_ssd %g "
                 "paper_cpu_frames_per_second %g paper_gpu_frames_per_second %g }",
                 NAMES[m], r->vertices, 1e9 * r->seconds[m] / ((double)r->vertices * b->instances),
                 b->instances / r->seconds[m], r->seconds[m] / r->seconds[0],
                 bench_space_paper[i][m][0], bench_space_paper[i][m][1]);
        }
    emit_end(&json);
    bench_figures_emit(&json, figures);
    emit_end(&json);
}

int bench_pose_space(cli_app *app)
{
    space_bench b = { .app = app, .budget = option_given(app, OPTION_QUICK) ? 0.02 : 0.3 };
    OWN(cutis_device) *device = NULL;
    cutis_device_options options;
    TRY(app_device_options(app, &options));
    bool cpu = options.kind == CUTIS_DEVICE_CPU;
    if (cpu && !option_given(app, OPTION_THREADS)) options.thread_count = 1;
    TRY(app_result(app, option_text(app, OPTION_DEVICE),
                   cutis_device_create(app->context, &options, &device)));
    b.device = device;
    b.info = cutis_device_describe(device);
    b.threads = options.thread_count ? options.thread_count : b.info.thread_count;
    b.instances = option_count(app, OPTION_INSTANCES, cpu ? 1 : 1024);
    for (uint32_t i = 0; i < SIZES; i++)
        TRY(app_result(app, "bench pose-space",
                       bench_space_measure(app, device, b.instances, b.budget,
                                           (cutis_body_size)(CUTIS_BODY_SIZE_LOW + i),
                                           &b.rows[i])));
    TRY(app_result(
        app, "bench pose-space",
        bench_learn(app, option_given(app, OPTION_QUICK), cpu ? NULL : device, &b.learned)));
    app_progress_done(app);
    print_rows(&b);
    const bench_figures figures = figures_of(&b);
    bench_figures_say(app, &figures);
    if (app->json) emit_rows(&b, &figures);
    return EXIT_GOOD;
}
