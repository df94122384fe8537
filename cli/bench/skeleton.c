/// cutis bench skeleton: extraction on bodies of the sizes of Vasilakis and Fudos' Table 2. Parts
/// are those of the biped or quadruped, the smallest leaves merged until as many are left.
#include "bench/bench.h"
#include "bench/measure.h"

#include <stdlib.h>

#include <cutis/skeleton.h>

const bench_skeleton_row bench_skeleton_rows[] = {
    { "Cow's size", CUTIS_BODY_QUADRUPED, 3825, 16, 1.982, 0.868, 2.995, true },
    { "Horse's size", CUTIS_BODY_QUADRUPED, 8964, 17, 2.086, 0.924, 3.178, true },
    { "Dilo's size", CUTIS_BODY_BIPED, 26214, 37, 4.701, 2.022, 7.150, false },
    { "Human's size", CUTIS_BODY_BIPED, 74014, 31, 10.244, 4.649, 14.893, false },
};
enum { ROWS = BENCH_SKELETON_ROWS, RUNS = 5 };

void bench_merge_leaves(uint32_t count, const uint32_t *parent, double *size, uint32_t wanted,
                        uint32_t *map)
{
    for (uint32_t p = 0; p < count; p++) map[p] = p;
    for (uint32_t left = count; left > wanted; left--) {
        uint32_t best = count;
        for (uint32_t p = 0; p < count; p++) {
            bool leaf = map[p] == p && parent[p] != p;
            for (uint32_t q = 0; q < count; q++) leaf &= !(map[q] == q && q != p && parent[q] == p);
            if (leaf && (best == count || size[p] < size[best])) best = p;
        }
        if (best == count) break;
        size[parent[best]] += size[best];
        for (uint32_t p = 0; p < count; p++)
            if (map[p] == best) map[p] = parent[best];
    }
}

// Labels of a body with as many parts as the row wants.
static cutis_result make_labels(const bench_skeleton_row *row, const cutis_model *body,
                                uint32_t *labels)
{
    OWN(cutis_model) *model = NULL;
    OWN(cutis_skeleton_report) *report = NULL;
    cutis_skeleton_options options = { .source = CUTIS_PART_SOURCE_PARTS, .keep_curved = true };
    TRY(cutis_skeleton_extract(body, &options, &model, &report));
    const cutis_mesh *mesh = &cutis_model_get(model)->meshes[0];
    const cutis_primitive *primitive = &mesh->primitives[0];
    const uint32_t count = report->part_count;
    ENDS_BY(memory_release) memory_list memory = { 0 };
    uint32_t *map = memory_take(&memory, count, sizeof *map);
    uint32_t *parent = memory_take(&memory, count, sizeof *parent);
    double *volume = memory_take(&memory, count, sizeof *volume);
    if (memory.failed) return CUTIS_OUT_OF_MEMORY;
    for (uint32_t p = 0; p < count; p++) {
        parent[p] = p ? (uint32_t)mesh->part_tree->parts[p].parent : 0; // parents come first
        volume[p] = report->parts[p].volume;
    }
    bench_merge_leaves(count, parent, volume, row->parts, map);
    for (uint32_t t = 0; t < primitive->index_count / 3; t++) labels[t] = map[primitive->parts[t]];
    return CUTIS_OK;
}

static cutis_result time_extraction(const cutis_model *body, const uint32_t *labels,
                                    const bench_skeleton_row *row, bench_skeleton_figures *f)
{
    cutis_skeleton_options options = { .source = CUTIS_PART_SOURCE_LABELS,
                                       .labels = labels,
                                       .label_count = f->triangles,
                                       .keep_curved = true };
    for (int run = 0; run < RUNS; run++) {
        cutis_model *model = NULL;
        cutis_skeleton_report *report = NULL;
        TRY(cutis_skeleton_extract(body, &options, &model, &report));
        bool right = report->part_count == row->parts;
        if (run == 0 || report->total_seconds < f->total) {
            f->kernel = report->kernel_seconds;
            f->axes = report->axes_seconds;
            f->total = report->total_seconds;
        }
        f->star_shaped = 0;
        for (uint32_t p = 0; p < report->part_count; p++)
            f->star_shaped += report->parts[p].star_shaped;
        cutis_skeleton_report_destroy(report);
        cutis_model_destroy(model);
        if (!right) return CUTIS_INTERNAL;
    }
    return CUTIS_OK;
}

cutis_result bench_skeleton_measure(cli_app *app, const bench_skeleton_row *row,
                                    bench_skeleton_figures *f)
{
    OWN(cutis_model) *body = NULL;
    cutis_synth_options synth = { .body = row->body, .vertex_count = row->vertices };
    *f = (bench_skeleton_figures){ 0 };
    TRY(cutis_synth_create(app->context, &synth, &body));
    f->triangles = cutis_model_triangle_count(body);
    OWN_MEMORY uint32_t *labels = calloc(f->triangles, sizeof *labels);
    TRY(labels ? make_labels(row, body, labels) : CUTIS_OUT_OF_MEMORY);
    return time_extraction(body, labels, row, f);
}

static void emit_row(json_out *json, const bench_skeleton_row *row, const bench_skeleton_figures *f)
{
    emit(json,
         "{ body %s vertices %u triangles %ju parts %u star_shaped %u kernel_seconds %g "
         "axes_seconds %g total_seconds %g microseconds_per_triangle %g paper_total_seconds %g }",
         row->name, row->vertices, f->triangles, row->parts, f->star_shaped, f->kernel, f->axes,
         f->total, 1e6 * f->total / (double)f->triangles, row->paper_total);
}

int bench_skeleton(cli_app *app)
{
    json_out json = { .file = stdout };
    int status = EXIT_GOOD;
    bench_figures figures = { 0 };
    app_say(app, "one thread, best of %d; Table 2 is Vasilakis and Fudos' (2.6 GHz Core Duo)\n",
            RUNS);
    app_say(app, "%-14s %9s %6s %5s %9s %9s %9s %11s %9s %9s %9s\n", "body", "vertices", "parts",
            "star", "kernel s", "axes s", "total s", "us/triangle", "Table 2 k", "axes", "total");
    if (app->json) emit(&json, "{ rows [");
    for (int i = 0; i < ROWS && status == EXIT_GOOD; i++) {
        const bench_skeleton_row *row = &bench_skeleton_rows[i];
        bench_skeleton_figures f;
        if (option_given(app, OPTION_QUICK) && !row->quick) continue;
        cutis_result result = bench_skeleton_measure(app, row, &f);
        if (result != CUTIS_OK) {
            status = app_fail(app, "bench skeleton", result);
            break;
        }
        app_say(app, "%-14s %9u %6u %5u %9.4f %9.4f %9.4f %11.3f %9.3f %9.3f %9.3f\n", row->name,
                row->vertices, row->parts, f.star_shaped, f.kernel, f.axes, f.total,
                1e6 * f.total / (double)f.triangles, row->paper_kernel, row->paper_axes,
                row->paper_total);
        if (app->json) emit_row(&json, row, &f);
        bench_figure_add(&figures, "seconds_over_table_2", row->vertices,
                         f.total / row->paper_total, false, 1);
    }
    bench_figures_say(app, &figures);
    if (app->json) {
        emit(&json, "]");
        bench_figures_emit(&json, &figures);
        emit_end(&json);
    }
    return status;
}
