/// cutis bench reduce, its rows of moments: the whole reduction on generated bipeds of growing size
/// and on one with many influences, and how near forming comes to its multiply-adds alone.
///
/// CPU time of all threads, so that a busy machine does not change what is compared; the machine's
/// rate is that of one core in the same run, best of many.
#include "bench/bench.h"
#include "bench/measure.h"

#include <time.h>

typedef struct moments_row {
    uint32_t vertices, wide, influences; ///< wide: influences before; 0: the biped's own
    bool quick;
} moments_row;

static const moments_row rows[] = {
    { 3000, 0, 2, true },
    { 46036, 0, 2, false },
    { 400000, 0, 2, false },
    { 3000, 24, 4, false },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

typedef struct moments_figures {
    double seconds, cpu_seconds; ///< whole reduction: on the clock, of all threads
    double form_seconds;         ///< of these, of all threads
    double products, rate;       ///< multiply-adds of the form; a second on one core
    uint64_t reduced;            ///< vertices
    uint32_t poses;
} moments_figures;

static bool wanted(cli_app *app, const moments_row *row)
{
    const uint32_t only = option_count(app, OPTION_VERTICES, 0);
    if (only) return row->vertices == only;
    return option_given(app, OPTION_QUICK) ? row->quick : row->vertices < 100000;
}

bool bench_moments_has(cli_app *app)
{
    bool any = false;
    for (int i = 0; i < ROWS; i++) any |= wanted(app, &rows[i]);
    return any;
}

static cutis_result make_model(cli_app *app, cutis_device *device, const moments_row *row,
                               cutis_model **out)
{
    const cutis_synth_options synth = { .vertex_count = row->vertices };
    if (!row->wide) return cutis_synth_create(app->context, &synth, out);
    OWN(cutis_model) *body = NULL;
    const cutis_handles_options wide = { .influences = row->wide };
    TRY(cutis_synth_create(app->context, &synth, &body));
    return cutis_handles_skeleton(body, device, &wide, out, NULL);
}

static cutis_result measure(cli_app *app, cutis_device *device, const moments_row *row,
                            moments_figures *out)
{
    OWN(cutis_model) *model = NULL, *reduced = NULL;
    OWN(cutis_reduce_report) *report = NULL;
    const cutis_reduce_options options = { .influences = row->influences,
                                           .method = CUTIS_REDUCE_MOMENTS };
    const double budget = 0.2;
    const cutis_device_info info = cutis_device_describe(device);
    TRY(make_model(app, device, row, &model));
    double rate = bench_machine_fma_rate(info.isa, 1, budget);
    const clock_t start = clock();
    TRY(cutis_weights_reduce(model, device, &options, &reduced, &report));
    const clock_t end = clock();
    const double again = bench_machine_fma_rate(info.isa, 1, budget);
    if (again > rate) rate = again;
    app_progress_done(app);
    *out = (moments_figures){ .seconds = report->rows[0].seconds,
                              .cpu_seconds = (double)(end - start) / CLOCKS_PER_SEC,
                              .form_seconds = report->form_seconds,
                              .products = report->form_products,
                              .rate = 0.5 * rate, // doubles
                              .reduced = report->reduced_count,
                              .poses = report->learned_count + report->learned_random_count };
    return CUTIS_OK;
}

static void say_row(cli_app *app, const moments_row *row, const moments_figures *f)
{
    app_say(app, "%-18s %8u %8llu %3u %5u %8.2f %8.2f %9.1f %8.2f %8.2f %8.1f %6.2f\n",
            row->wide ? "biped, 24 wide" : "biped", row->vertices, (unsigned long long)f->reduced,
            row->influences, f->poses, f->seconds, f->cpu_seconds,
            1e6 * f->cpu_seconds / (double)f->reduced, f->form_seconds, 1e-9 * f->products,
            1e-9 * f->rate, f->form_seconds * f->rate / f->products);
}

static void emit_row(json_out *json, const moments_row *row, const moments_figures *f)
{
    emit(json,
         "{ vertices %u reduced %u influences %u wide %u poses %u seconds %g cpu_seconds %g "
         "form_cpu_seconds %g form_multiply_adds %g multiply_adds_per_second %g form_of_limit %g }",
         row->vertices, (unsigned)f->reduced, row->influences, row->wide, f->poses, f->seconds,
         f->cpu_seconds, f->form_seconds, f->products, f->rate,
         f->products / (f->form_seconds * f->rate));
}

cutis_result bench_moments(cli_app *app, cutis_device *device, json_out *json)
{
    if (app->json) emit(json, "moments [");
    app_say(app,
            "\nmoments, normal effort, evaluation included; CPU s: of all threads; x: forming over "
            "what its multiply-adds alone take on one core at the rate measured beside it (asked: "
            "at most 2)\n%-18s %8s %8s %3s %5s %8s %8s %9s %8s %8s %8s %6s\n",
            "body", "vertices", "reduced", "K", "poses", "s", "CPU s", "us/reduced", "form s",
            "G madds", "G/s", "x");
    for (int i = 0; i < ROWS; i++) {
        moments_figures f;
        if (!wanted(app, &rows[i])) continue;
        TRY(measure(app, device, &rows[i], &f));
        say_row(app, &rows[i], &f);
        fflush(stdout);
        if (app->json) emit_row(json, &rows[i], &f);
    }
    if (app->json) emit_end(json);
    return CUTIS_OK;
}
