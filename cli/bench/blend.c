/// cutis bench blend: rows of ns per vertex beside plain C and the machine's limits, and the
/// figures the project promises.
///
/// A row's limit is the FMA rate while everything stays in cache (12 multiply-adds per list bone
/// and 18 for position and normal) and the bandwidth beyond it (weights, rest data, indices read;
/// position and normal written).
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX   128
#define SHEET_SETS 16

// From here on rest data and outputs (some 70 bytes a vertex) exceed a core's share of the last
// cache.
static const uint32_t MEMORY_BOUND_VERTICES = 500000;

typedef struct bench_row {
    cutis_method method;
    bool weighted, raw;
    const char *body;
    cutis_device_kind device;
    cutis_isa isa;
    uint32_t threads, vertices, instances;
    double ns, times_plain, of_limit; // NaN: does not apply
    double bones_per_block;
    double bytes_read, bytes_written; // a vertex; GPU: NaN
    double bandwidth;                 // of the machine while the row was measured; 0: not asked
    const char *limit;                // NULL: none
} bench_row;

/// Of the machine, with this many threads at once.
typedef struct bench_limits {
    double fma_rate;  // float multiply-adds a second
    double bandwidth; // bytes a second, two reads for one write, past the caches
} bench_limits;

typedef struct bench {
    cli_app *app;
    double budget;
    bench_row rows[ROWS_MAX];
    bench_figures figures;
    uint32_t row_count;
    bench_limits one, all; // one thread; all of them
    uint32_t all_threads;
    cutis_device_info machine, gpu;
} bench;

/// One character to measure on, with what plain C takes for it: raw, unit normals; seconds of one
/// frame on one core.
typedef struct subject {
    cutis_model *model;
    const char *body;
    uint32_t first_row;
    double plain[2];
} subject;

// The load of a shared machine changes. What is compared is measured alternately, several
// times each, and the best of each counts: a ratio of two quiet moments.
#define ROUNDS 3
// Memory is shared with other machines of the host: its bandwidth goes up and down by half within a
// second. So shorter turns, and each row is held against what was there while it was measured.
#define MEMORY_ROUNDS 16

static bool stopped(bench *b)
{
    return !app_progress(b->app, "measuring", b->row_count / 30.0);
}

/// @return bandwidth of this moment, 0 if it was not measured
static double refresh_limits(bench *b, uint32_t threads, bool memory, double budget)
{
    bench_limits *limits = threads == 1 ? &b->one : &b->all;
    if (threads != 1 && threads != b->all_threads) return 0.0;
    if (!memory) {
        limits->fma_rate =
            fmax(limits->fma_rate, bench_machine_fma_rate(b->machine.isa, threads, budget));
        return 0.0;
    }
    double bandwidth = bench_machine_bandwidth(b->machine.isa, threads, budget);
    limits->bandwidth = fmax(limits->bandwidth, bandwidth);
    return bandwidth;
}

static void set_limit(const bench *b, bench_row *row)
{
    const bench_limits *limits = row->threads == 1 ? &b->one : &b->all;
    double bones = row->bones_per_block, ns;
    if (row->device != CUTIS_DEVICE_CPU) return; // has its fill
    row->of_limit = NAN;
    if (row->threads != 1 && row->threads != b->all_threads) return;
    if (row->vertices >= MEMORY_BOUND_VERTICES) {
        if (row->bandwidth == 0.0) return;
        ns = 1e9 * (row->bytes_read + row->bytes_written) / row->bandwidth;
        row->limit = "bandwidth";
    } else if (row->method == CUTIS_METHOD_LBS && row->isa == b->machine.isa) {
        ns = 1e9 * (12.0 * bones + 18.0) / limits->fma_rate;
        row->limit = "fma";
    } else {
        return;
    }
    row->of_limit = ns / row->ns;
}

static cutis_result measure_rounds(bench *b, subject *s, bench_skin *skin, bool unit,
                                   double *seconds, double *bandwidth)
{
    const bool memory = skin->info.vertex_count >= MEMORY_BOUND_VERTICES;
    const int rounds = memory ? MEMORY_ROUNDS : ROUNDS;
    const double budget = b->budget / rounds;
    *bandwidth = 0.0;
    for (int round = 0; round < rounds; round++) {
        double now = 0.0, plain = 0.0;
        if (stopped(b)) return CUTIS_CANCELLED;
        TRY(bench_skin_time(skin, budget, &now));
        if (skin->device_info.kind == CUTIS_DEVICE_CPU)
            *bandwidth = fmax(*bandwidth, refresh_limits(b, skin->device_info.thread_count, memory,
                                                         0.5 * budget));
        *seconds = round == 0 ? now : fmin(*seconds, now);
        if (round >= ROUNDS) continue;
        TRY(bench_plain_time(s->model, skin->palette, unit, 0.5 * budget, &plain));
        s->plain[unit] = s->plain[unit] > 0.0 ? fmin(s->plain[unit], plain) : plain;
    }
    return CUTIS_OK;
}

// What a frame reads and writes a vertex of it by the CPU's layout: weights and bones of its
// block's list, position, normal, its number; centres, where the method has them. Outputs that stay
// in the cache are read before they are written; that is not counted.
static void count_bytes(bench_row *row)
{
    const bool cpu = row->device == CUTIS_DEVICE_CPU;
    const double list = row->bones_per_block * (4 + 4 / 16.0) + (4 + 1) / 16.0;
    const double centre = row->method == CUTIS_METHOD_COR                     ? 12
                          : row->method == CUTIS_METHOD_SBS && !row->weighted ? 4
                                                                              : 0;
    row->bytes_read = cpu ? list + 24 + 4 + centre : NAN;
    row->bytes_written = cpu ? 24 : NAN;
}

static cutis_result measure_row(bench *b, subject *s, cutis_device *device,
                                const cutis_bind_options *options, uint32_t instances)
{
    ENDS_BY(bench_skin_close) bench_skin skin = { 0 };
    double seconds = 0, bandwidth;
    if (b->row_count == ROWS_MAX) return CUTIS_OK;
    cutis_bind_options bind = *options;
    bind.normals = true;
    TRY(bench_skin_open(device, s->model, &bind, instances, &skin));
    TRY(measure_rounds(b, s, &skin, !bind.raw_normals, &seconds, &bandwidth));
    bench_row *row = &b->rows[b->row_count++];
    *row = (bench_row){ .method = bind.method,
                        .weighted = bind.weighted_centres,
                        .raw = bind.raw_normals,
                        .body = s->body,
                        .device = skin.device_info.kind,
                        .isa = skin.device_info.isa,
                        .threads = skin.device_info.thread_count,
                        .vertices = skin.info.vertex_count,
                        .instances = instances,
                        .bones_per_block = skin.info.bones_per_block,
                        .bandwidth = bandwidth,
                        .of_limit = NAN };
    count_bytes(row);
    row->ns = 1e9 * seconds / ((double)row->vertices * instances);
    double fill = 0.0;
    uint64_t size = 24 * (uint64_t)row->vertices * instances;
    if (skin.buffer && bench_fill_time(device, skin.buffer, size, b->budget, &fill) == CUTIS_OK) {
        row->of_limit = fill / seconds;
        row->limit = "fill";
    }
    return CUTIS_OK;
}

// All rows of a subject share the best time that plain C had in any of them. Its model goes.
static void subject_end(bench *b, const subject *s)
{
    for (uint32_t i = s->first_row; i < b->row_count; i++) {
        bench_row *row = &b->rows[i];
        row->times_plain = 1e9 * s->plain[!row->raw] / (row->ns * row->vertices);
    }
    cutis_model_destroy(s->model);
}

static const bench_row *find_row(const bench *b, const char *body, cutis_method method, bool raw,
                                 cutis_isa isa, uint32_t threads, uint32_t vertices)
{
    for (uint32_t i = 0; i < b->row_count; i++) {
        const bench_row *r = &b->rows[i];
        if (strcmp(r->body, body) == 0 && r->method == method && !r->weighted && r->raw == raw &&
            r->isa == isa && r->threads == threads && r->vertices == vertices)
            return r;
    }
    return NULL;
}

static bool wants(const bench *b, cutis_method method)
{
    return !option_given(b->app, OPTION_METHOD) ||
           option_choice(b->app, OPTION_METHOD) == (int)method;
}

// Linear blending with raw and unit normals, and the other methods.
static cutis_result measure_rows(bench *b, subject *s, cutis_device *device, uint32_t instances,
                                 bool others)
{
    static const cutis_bind_options all[] = {
        { .raw_normals = true },        { 0 },
        { .method = CUTIS_METHOD_SBS }, { .method = CUTIS_METHOD_SBS, .weighted_centres = true },
        { .method = CUTIS_METHOD_DQS }, { .method = CUTIS_METHOD_COR },
    };
    const bool cpu = cutis_device_describe(device).kind == CUTIS_DEVICE_CPU;
    for (size_t i = 0; i < (others ? sizeof all / sizeof *all : 2); i++)
        if (wants(b, all[i].method) && (cpu || !all[i].weighted_centres))
            TRY(measure_row(b, s, device, &all[i], instances));
    return CUTIS_OK;
}

// What a frame costs before its first vertex: time at few vertices less their share at the slope of
// many.
static cutis_result frame_cost(bench *b, cutis_device *device, cutis_method method, uint32_t sets,
                               double ns_per_vertex, double *seconds)
{
    const cutis_bind_options options = { .method = method, .normals = true };
    OWN(cutis_model) *model = NULL;
    uint32_t vertices = 32 * sets;
    TRY(bench_body_create(b->app->context, vertices, sets, &model));
    TRY(bench_frame_time(device, model, &options, b->budget, seconds));
    *seconds -= 1e-9 * ns_per_vertex * vertices;
    return CUTIS_OK;
}

static cutis_result centre_share(bench *b, const subject *biped, cutis_device *device)
{
    const uint32_t vertices = cutis_model_vertex_count(biped->model);
    const cutis_isa isa = cutis_device_describe(device).isa;
    const bench_row *sbs = find_row(b, "biped", CUTIS_METHOD_SBS, false, isa, 1, vertices);
    const bench_row *lbs = find_row(b, "biped", CUTIS_METHOD_LBS, false, isa, 1, vertices);
    cutis_weight_summary weights;
    double with = 0.0, without = 0.0;
    if (!sbs || !lbs) return CUTIS_OK;
    TRY(cutis_weights_summarize(biped->model, &weights));
    uint32_t sets = weights.bone_set_count < 400 ? weights.bone_set_count : 400;
    TRY(frame_cost(b, device, CUTIS_METHOD_SBS, sets, sbs->ns, &with));
    TRY(frame_cost(b, device, CUTIS_METHOD_LBS, sets, lbs->ns, &without));
    bench_figure_add(&b->figures, "sbs_centres_share_of_frame", 0,
                     (with - without) / (1e-9 * sbs->ns * vertices), false, 0.05);
    return CUTIS_OK;
}

static cutis_result open_cpu(bench *b, cutis_isa isa, uint32_t threads, cutis_device **out)
{
    cutis_device_options options = { .isa = isa, .thread_count = threads };
    return cutis_device_create(b->app->context, &options, out);
}

// One sheet at one size: LBS on one thread and on all, the other methods and AVX2 at the middle
// size.
static cutis_result sheet_rows(bench *b, uint32_t vertices, bool middle)
{
    cutis_device_options wanted;
    cutis_model *model = NULL;
    app_device_options(b->app, &wanted); // was checked before
    cutis_result result = bench_body_create(b->app->context, vertices, SHEET_SETS, &model);
    subject s = { .model = model, .body = "sheet", .first_row = b->row_count };
    const bool wide = !wanted.thread_count && b->all_threads > 1;
    const bool narrow =
        middle && wanted.isa == CUTIS_ISA_AUTO && b->machine.isa == CUTIS_ISA_AVX512;
    const struct {
        bool run, others;
        cutis_isa isa;
        uint32_t threads;
    } runs[] = {
        { true, middle, wanted.isa, wanted.thread_count ? wanted.thread_count : 1 },
        { wide, false, wanted.isa, b->all_threads },
        { narrow, false, CUTIS_ISA_AVX2, 1 },
    };
    for (int i = 0; i < 3 && result == CUTIS_OK; i++) {
        OWN(cutis_device) *device = NULL;
        if (!runs[i].run) continue;
        result = open_cpu(b, runs[i].isa, runs[i].threads, &device);
        if (result == CUTIS_OK) result = measure_rows(b, &s, device, 1, runs[i].others);
    }
    subject_end(b, &s);
    return result;
}

static cutis_result biped_rows(bench *b)
{
    cutis_model *model = NULL;
    OWN(cutis_device) *device = NULL;
    cutis_device_options wanted;
    app_device_options(b->app, &wanted);
    cutis_synth_options options = { .body = CUTIS_BODY_BIPED, .size = CUTIS_BODY_SIZE_HIGH };
    cutis_result result = cutis_synth_create(b->app->context, &options, &model);
    subject s = { .model = model, .body = "biped", .first_row = b->row_count };
    if (result == CUTIS_OK)
        result = open_cpu(b, wanted.isa, wanted.thread_count ? wanted.thread_count : 1, &device);
    if (result == CUTIS_OK) result = measure_rows(b, &s, device, 1, true);
    if (result == CUTIS_OK) result = centre_share(b, &s, device);
    subject_end(b, &s);
    return result;
}

static cutis_result gpu_rows(bench *b, cutis_device *device, uint32_t vertices)
{
    const uint32_t instances = option_count(b->app, OPTION_INSTANCES, 1024);
    cutis_model *model = NULL;
    cutis_result result = bench_body_create(b->app->context, vertices, SHEET_SETS, &model);
    subject s = { .model = model, .body = "sheet", .first_row = b->row_count };
    if (result == CUTIS_OK) result = measure_rows(b, &s, device, instances, true);
    if (result == CUTIS_OK && instances > 1 && wants(b, CUTIS_METHOD_LBS))
        result = measure_row(b, &s, device, &(cutis_bind_options){ 0 }, 1);
    subject_end(b, &s);
    return result;
}

static void lbs_figures(bench *b, uint32_t vertices)
{
    const cutis_isa isa = b->machine.isa;
    const bench_row *raw = find_row(b, "sheet", CUTIS_METHOD_LBS, true, isa, 1, vertices);
    const bench_row *unit = find_row(b, "sheet", CUTIS_METHOD_LBS, false, isa, 1, vertices);
    const bench_row *wide =
        find_row(b, "sheet", CUTIS_METHOD_LBS, true, isa, b->all_threads, vertices);
    if (!raw || !unit) return;
    if (wide && wide != raw) // within what runs of one binary differ by
        bench_figure_add(&b->figures, "lbs_all_threads_over_one", vertices, wide->ns / raw->ns,
                         false, 1.03);
    if (vertices < MEMORY_BOUND_VERTICES) {
        bench_figure_add(&b->figures, "lbs_times_plain", vertices, raw->times_plain, true, 5.0);
        bench_figure_add(&b->figures, "lbs_of_fma_limit", vertices, raw->of_limit, true, 0.80);
        bench_figure_add(&b->figures, "lbs_unit_times_plain", vertices, unit->times_plain, true,
                         0.85 * 5.0);
        bench_figure_add(&b->figures, "lbs_unit_of_fma_limit", vertices, unit->of_limit, true,
                         0.85 * 0.80);
    } else {
        bench_figure_add(&b->figures, "lbs_of_bandwidth", vertices, raw->of_limit, true, 0.75);
        bench_figure_add(&b->figures, "lbs_unit_of_bandwidth", vertices, unit->of_limit, true,
                         0.85 * 0.75);
        if (wide && wide != raw)
            bench_figure_add(&b->figures, "lbs_of_bandwidth_all_threads", vertices, wide->of_limit,
                             true, 0.75);
    }
}

static void method_figures(bench *b, uint32_t vertices)
{
    static const cutis_method methods[] = { CUTIS_METHOD_SBS, CUTIS_METHOD_DQS, CUTIS_METHOD_COR };
    const cutis_isa isa = b->machine.isa;
    const bench_row *unit = find_row(b, "sheet", CUTIS_METHOD_LBS, false, isa, 1, vertices);
    for (int i = 0; i < 3 && unit; i++) {
        const bench_row *r = find_row(b, "sheet", methods[i], false, isa, 1, vertices);
        char name[32];
        snprintf(name, sizeof name, "%s_times_lbs", cutis_method_name(methods[i]));
        if (r) bench_figure_add(&b->figures, name, vertices, r->ns / unit->ns, false, 2.2);
    }
    const bench_row *avx2 =
        find_row(b, "sheet", CUTIS_METHOD_LBS, true, CUTIS_ISA_AVX2, 1, vertices);
    if (avx2)
        bench_figure_add(&b->figures, "lbs_avx2_times_plain", vertices, avx2->times_plain, true,
                         4.0);
    const bench_row *biped = find_row(b, "biped", CUTIS_METHOD_LBS, true, isa, 1, vertices);
    if (biped)
        bench_figure_add(&b->figures, "biped_lbs_times_plain", vertices, biped->times_plain, true,
                         4.0);
    const bench_row *million = find_row(b, "sheet", CUTIS_METHOD_LBS, true, isa, 1, 1000000);
    const bench_row *ten = find_row(b, "sheet", CUTIS_METHOD_LBS, true, isa, 1, 10000000);
    if (million && ten)
        bench_figure_add(&b->figures, "lbs_ns_10M_over_1M", 0, ten->ns / million->ns, false, 1.2);
}

static void row_label(const bench_row *row, char *out, size_t capacity)
{
    snprintf(out, capacity, "%s%s, %s normals", cutis_method_name(row->method),
             row->weighted ? " --weighted" : "", row->raw ? "raw" : "unit");
}

static void print_text(const bench *b)
{
    const cli_app *app = b->app;
    app_say(app, "%s, %s, %u cores", b->machine.name, cutis_isa_name(b->machine.isa),
            b->all_threads);
    if (b->one.fma_rate > 0.0)
        app_say(app, "; %.1f G multiply-adds/s and %.1f GB/s on one core", 1e-9 * b->one.fma_rate,
                1e-9 * b->one.bandwidth);
    else
        app_say(app, "; rows on %s", b->gpu.name);
    app_say(app, "\n");
    app_say(app, "\n%s%-30s %-6s %-7s %3s %9s %5s %9s %8s %6s %7s %9s%s\n", app_style(app, "1"),
            "method", "body", "isa", "thr", "vertices", "inst", "ns/vertex", "x plain", "B read",
            "written", "of limit", app_style(app, "0"));
    for (uint32_t i = 0; i < b->row_count; i++) {
        const bench_row *r = &b->rows[i];
        char label[64], limit[32] = "", read[16] = "", written[16] = "";
        row_label(r, label, sizeof label);
        if (isfinite(r->bytes_read)) {
            snprintf(read, sizeof read, "%.1f", r->bytes_read);
            snprintf(written, sizeof written, "%.0f", r->bytes_written);
        }
        if (isfinite(r->of_limit))
            snprintf(limit, sizeof limit, "%5.0f %% %s", 100.0 * r->of_limit, r->limit);
        app_say(app, "%-30s %-6s %-7s %3u %9u %5u %9.3f %8.2f %6s %7s %9s\n", label, r->body,
                r->device == CUTIS_DEVICE_CPU ? cutis_isa_name(r->isa)
                                              : cutis_device_kind_name(r->device),
                r->threads, r->vertices, r->instances, r->ns, r->times_plain, read, written, limit);
    }
    bench_figures_say(app, &b->figures);
}

static void print_json(const bench *b)
{
    json_out json = { .file = stdout };
    emit(&json,
         "{ machine { cpu %s isa %s cores %u gfma_per_second %g gb_per_second %g "
         "gb_per_second_all_threads %g } rows [",
         b->machine.name, cutis_isa_name(b->machine.isa), b->all_threads, 1e-9 * b->one.fma_rate,
         1e-9 * b->one.bandwidth, 1e-9 * b->all.bandwidth);
    for (const bench_row *r = b->rows; r < b->rows + b->row_count; r++)
        emit(&json,
             "{ method %s normals %s body %s device %s isa %s threads %u vertices %u instances %u "
             "ns_per_vertex %g times_plain %g of_limit %g limit %s bones_per_block %g "
             "bytes_read_per_vertex %g bytes_written_per_vertex %g }",
             r->weighted ? "sbs --weighted" : cutis_method_name(r->method), r->raw ? "raw" : "unit",
             r->body, cutis_device_kind_name(r->device),
             r->device == CUTIS_DEVICE_CPU ? cutis_isa_name(r->isa) : NULL, r->threads, r->vertices,
             r->instances, r->ns, r->times_plain, r->of_limit, r->limit, r->bones_per_block,
             r->bytes_read, r->bytes_written);
    emit(&json, "]");
    bench_figures_emit(&json, &b->figures);
    emit_end(&json);
}

static uint32_t choose_sizes(const cli_app *app, uint32_t sizes[4])
{
    uint32_t count = 0;
    if (option_given(app, OPTION_VERTICES)) {
        sizes[count++] = option_count(app, OPTION_VERTICES, 0);
        return count;
    }
    sizes[count++] = 2972;
    sizes[count++] = 46036;
    if (!option_given(app, OPTION_QUICK)) sizes[count++] = 1000000;
    if (option_given(app, OPTION_LARGE)) sizes[count++] = 10000000;
    return count;
}

static cutis_result measure_cpu(bench *b)
{
    uint32_t sizes[4], count = choose_sizes(b->app, sizes);
    const bool filtered = option_given(b->app, OPTION_VERTICES);
    for (int i = 0; i < 2; i++) {
        refresh_limits(b, i ? b->all_threads : 1, false, 0.2 * b->budget);
        refresh_limits(b, i ? b->all_threads : 1, true, 0.2 * b->budget);
    }
    for (uint32_t i = 0; i < count; i++)
        TRY(sheet_rows(b, sizes[i], sizes[i] == 46036 || filtered));
    if (!filtered && !option_given(b->app, OPTION_QUICK)) TRY(biped_rows(b));
    for (uint32_t i = 0; i < b->row_count; i++) set_limit(b, &b->rows[i]);
    for (uint32_t i = 0; i < count; i++) lbs_figures(b, sizes[i]);
    method_figures(b, filtered ? sizes[0] : 46036);
    return CUTIS_OK;
}

static bool is_timed(int method)
{
    return method == CUTIS_METHOD_LBS || method == CUTIS_METHOD_SBS || method == CUTIS_METHOD_DQS ||
           method == CUTIS_METHOD_COR;
}

static int bench_blend(cli_app *app)
{
    OWN_MEMORY bench *b = calloc(1, sizeof *b);
    OWN(cutis_device) *device = NULL;
    cutis_device *cpu = NULL;
    cutis_device_options wanted;
    if (!b) return app_fail_text(app, "bench: not enough memory");
    TRY(app_device_options(app, &wanted));
    if (option_given(app, OPTION_VERTICES) && option_count(app, OPTION_VERTICES, 0) < 64)
        return app_usage(app, "--vertices: want at least 64");
    if (!is_timed(option_choice(app, OPTION_METHOD)))
        return app_usage(app, "--method %s: blend times lbs, sbs, dqs and cor",
                         option_text(app, OPTION_METHOD));
    TRY(app_open_device(app, &device));
    b->app = app;
    b->budget = option_given(app, OPTION_QUICK) ? 0.06 : 0.6;
    TRY(app_result(app, "bench blend", open_cpu(b, wanted.isa, 0, &cpu)));
    b->machine = cutis_device_describe(cpu);
    b->gpu = cutis_device_describe(device);
    b->all_threads = b->machine.thread_count;
    cutis_device_destroy(cpu);
    TRY(app_result(app, "bench blend",
                   wanted.kind == CUTIS_DEVICE_CPU
                       ? measure_cpu(b)
                       : gpu_rows(b, device, option_count(app, OPTION_VERTICES, 46036))));
    app_progress_done(app);
    if (app->json)
        print_json(b);
    else
        print_text(b);
    return EXIT_GOOD;
}

#define TAKES(id) [OPTION_##id] = true
#define DEVICES   TAKES(DEVICE), TAKES(THREADS), TAKES(ISA)
#define ALWAYS    TAKES(QUICK), TAKES(JSON), TAKES(QUIET), TAKES(HELP)

int verb_bench(cli_app *app)
{
    static const struct {
        const char *name;
        int (*run)(cli_app *app);
        option_set takes; // of the verb's options those that change something
    } benches[] = {
        { "blend",
          bench_blend,
          { ALWAYS, DEVICES, TAKES(LARGE), TAKES(VERTICES), TAKES(METHOD), TAKES(INSTANCES) } },
        { "pose", bench_poses, { ALWAYS } },
        { "pose-space", bench_pose_space, { ALWAYS, DEVICES, TAKES(INSTANCES) } },
        { "frame", bench_frames, { ALWAYS, DEVICES, TAKES(OUTPUT), TAKES(FORCE) } },
        { "crowd", bench_crowd, { ALWAYS, DEVICES, TAKES(VERTICES), TAKES(INSTANCES) } },
        { "reduce", bench_reduce, { ALWAYS, DEVICES, TAKES(VERTICES) } },
        { "cage", bench_cage, { ALWAYS, DEVICES, TAKES(VERTICES), TAKES(INSTANCES) } },
        { "handles", bench_handles, { ALWAYS, DEVICES, TAKES(VERTICES) } },
        { "skeleton", bench_skeleton, { ALWAYS } },
        { "patches", bench_patches, { ALWAYS, DEVICES, TAKES(VERTICES), TAKES(INSTANCES) } },
        { "files", bench_files, { ALWAYS, TAKES(VERTICES) } },
        { "growth", bench_growth, { ALWAYS } },
    };
    size_t b = 0; // the table of verbs lets only benches through
    while (strcmp(app->operands[0], benches[b].name) != 0) b++;
    for (int id = 0; id < OPTION_ID_COUNT; id++)
        if (option_given(app, (option_id)id) && !benches[b].takes[id])
            return app_usage(app, "--%s does nothing in bench %s", cli_options[id].name,
                             benches[b].name);
    return benches[b].run(app);
}
