/// The page of `reduce`: figures, the body in the pose that k-largest does worst in, heat maps of
/// the normal deviation of both methods, errors per pose, energy per sweep, influences before and
/// after.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "picture.h"
#include "reduce.h"

enum { TILES = 3 };

/// The same pose by three sets of weights: original, k-largest, chosen.
typedef struct reduce_bodies {
    memory_list memory;
    cutis_model *largest;
    uint32_t vertex_count;
    uint64_t triangle_count;
    uint32_t *indices, *weld;
    float *positions[TILES], *normals[TILES], *deviation[TILES];
} reduce_bodies;

static void add_table(html_page *page, const cutis_reduce_report *r)
{
    html_markup(page, "<h2>Figures</h2>\n<table><thead><tr><th>method</th><th>sets</"
                      "th><th>examples, %%</th><th>rad</th>"
                      "<th>held out, "
                      "%%</th><th>rad</th><th>energy</th><th>sweeps</th><th>seconds</th></tr></"
                      "thead>\n<tbody>\n");
    for (uint32_t i = 0; i < r->row_count; i++) {
        const cutis_reduce_row *row = &r->rows[i];
        char position[32], normal[32];
        html_markup(page,
                    "<tr><td>%s</td><td>%s</td><td>%.5f</td><td>%.5f</td><td>%s</td><td>%s</"
                    "td><td>%.4g</td>"
                    "<td>%u</td><td>%.3f</td></tr>\n",
                    cutis_reduce_method_name(row->method), cutis_reduce_sets_name(row->sets),
                    row->example_position, row->example_normal,
                    reduce_error_text(row->held_out_position, position),
                    reduce_error_text(row->held_out_normal, normal), row->energy, row->sweep_count,
                    row->seconds);
    }
    html_markup(page, "</tbody></table>\n");
}

static const cutis_reduce_row *klargest_row(const cutis_reduce_report *r)
{
    for (uint32_t i = 0; i < r->row_count; i++)
        if (r->rows[i].method == CUTIS_REDUCE_KLARGEST) return &r->rows[i];
    return &r->rows[0];
}

// The pose that k-largest does worst in, among those held out if there are any.
static uint32_t worst_pose(const cutis_reduce_report *r)
{
    const double *normal = klargest_row(r)->frame_normal;
    uint32_t first = r->held_out_count ? r->example_count : 0, worst = first;
    for (uint32_t i = first; i < r->example_count + r->held_out_count; i++)
        if (normal[i] > normal[worst]) worst = i;
    return worst;
}

static cutis_result pose_body(const reduce_job *job, const cutis_model *model,
                              const cutis_transform *pose, reduce_bodies *bodies, int tile)
{
    OWN(cutis_binding) *binding = NULL;
    cutis_context *context = cutis_model_context(model);
    cutis_surface surface = { bodies->vertex_count, bodies->triangle_count, bodies->positions[tile],
                              bodies->indices };
    cutis_poses poses = { .kind = CUTIS_POSE_LOCAL, .local = pose };
    cutis_outputs outputs = { .positions.data = bodies->positions[tile] };
    TRY(cutis_bind(job->device, model, NULL, &binding));
    TRY(cutis_deform(binding, &poses, 1, &outputs));
    TRY(cutis_surface_normals(context, &surface, bodies->weld, bodies->normals[tile]));
    for (uint32_t v = 0; v < bodies->vertex_count; v++) {
        const float *a = bodies->normals[0] + 3 * (size_t)v,
                    *b = bodies->normals[tile] + 3 * (size_t)v;
        double dot = (double)a[0] * b[0] + (double)a[1] * b[1] + (double)a[2] * b[2];
        bodies->deviation[tile][v] = (float)acos(fmax(-1, fmin(1, dot)));
    }
    return CUTIS_OK;
}

static cutis_result make_bodies(const reduce_job *job, const cutis_transform *pose,
                                reduce_bodies *out)
{
    cutis_context *context = cutis_model_context(job->model);
    size_t count = out->vertex_count = cutis_model_vertex_count(job->model);
    out->triangle_count = cutis_model_triangle_count(job->model);
    out->indices = memory_take(&out->memory, 3 * out->triangle_count, sizeof *out->indices);
    out->weld = memory_take(&out->memory, count, sizeof *out->weld);
    for (int t = 0; t < TILES; t++) {
        out->positions[t] = memory_take(&out->memory, 3 * count, sizeof(float));
        out->normals[t] = memory_take(&out->memory, 3 * count, sizeof(float));
        out->deviation[t] = memory_take(&out->memory, count, sizeof(float));
    }
    if (out->memory.failed) return CUTIS_OUT_OF_MEMORY;
    cutis_model_triangles(job->model, out->indices);
    cutis_model_file_positions(job->model, out->positions[0]);
    TRY(cutis_weld_positions(context, (uint32_t)count, out->positions[0], out->weld));
    TRY(cutis_weights_limit(job->model, job->options.influences, &out->largest));
    const cutis_model *models[TILES] = { job->model, out->largest, job->reduced };
    for (int t = 0; t < TILES; t++) TRY(pose_body(job, models[t], pose, out, t));
    return CUTIS_OK;
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// The end of the colour scale: what 99 % of k-largest's vertices stay below, so that one fold does
// not hide the rest.
static double scale_end(const reduce_bodies *bodies)
{
    float *sorted = malloc((bodies->vertex_count + 1) * sizeof *sorted);
    double end = 0.1;
    if (sorted && bodies->vertex_count) {
        memcpy(sorted, bodies->deviation[1], bodies->vertex_count * sizeof *sorted);
        qsort(sorted, bodies->vertex_count, sizeof *sorted, ascending);
        end = fmax(1e-4, sorted[(size_t)(0.99 * (bodies->vertex_count - 1))]);
    }
    free(sorted);
    return end;
}

// Tiles [first, TILES) side by side, plain or painted with their deviation.
static int add_sheet(cli_app *app, html_page *page, const reduce_job *job,
                     const reduce_bodies *bodies, cutis_renderer *renderer, bool painted,
                     const char *text)
{
    const char *titles[TILES] = { "original", "k-largest",
                                  cutis_reduce_method_name(job->reduction->rows[0].method) };
    const cutis_legend legend = { .map = CUTIS_COLORMAP_HEAT,
                                  .high = scale_end(bodies),
                                  .title = "normal deviation, radians" };
    picture_view views[TILES];
    for (int t = 0; t < TILES; t++)
        views[t] = (picture_view){ .surface = { bodies->vertex_count, bodies->triangle_count,
                                                bodies->positions[t], bodies->indices },
                                   .normals = bodies->normals[t],
                                   .values = bodies->deviation[t],
                                   .title = titles[t] };
    return report_views(app, page, renderer, views + painted, TILES - painted,
                        painted ? &legend : NULL, text);
}

static void bodies_end(reduce_bodies *bodies)
{
    cutis_model_destroy(bodies->largest);
    memory_release(&bodies->memory);
}

static int add_pictures(cli_app *app, html_page *page, const reduce_job *job)
{
    const cutis_reduce_report *r = job->reduction;
    if (r->example_count + r->held_out_count == 0) return EXIT_GOOD;
    uint32_t pose = worst_pose(r);
    ENDS_BY(bodies_end) reduce_bodies bodies = { 0 };
    OWN(cutis_renderer) *renderer = NULL;
    char text[256], where[160] = "an automatic pose";
    if (r->poses[pose].clip != CUTIS_NONE)
        snprintf(where, sizeof where, "clip %d at %.2f s", r->poses[pose].clip,
                 r->poses[pose].seconds);
    const cutis_transform *worst =
        r->transforms + (size_t)pose * cutis_model_get(job->model)->node_count;
    TRY(app_result(app, "report", make_bodies(job, worst, &bodies)));
    TRY(app_result(app, "report", cutis_renderer_create(app->context, &renderer)));
    html_markup(page, "<h2>The pose that k-largest does worst in</h2>\n");
    snprintf(text, sizeof text, "%s pose: %s. %u influences against all of them",
             pose < r->example_count ? "Example" : "Held-out", where, job->options.influences);
    TRY(add_sheet(app, page, job, &bodies, renderer, false, text));
    return add_sheet(app, page, job, &bodies, renderer, true,
                     "Angle between the normals and those of the original weights");
}

static int add_frame_plots(cli_app *app, html_page *page, const cutis_reduce_report *r)
{
    cutis_series position[6], normal[6]; // as many as there are methods
    uint32_t count = r->example_count + r->held_out_count;
    for (uint32_t i = 0; i < r->row_count; i++) {
        const char *name = cutis_reduce_method_name(r->rows[i].method);
        position[i] = (cutis_series){ name, count, NULL, r->rows[i].frame_position };
        normal[i] = (cutis_series){ name, count, NULL, r->rows[i].frame_normal };
    }
    html_markup(page,
                "<h2>Pose by pose</h2>\n<p>Poses 0 to %u are examples, the others were held "
                "out.</p>\n<div class=\"grid\">\n",
                r->example_count ? r->example_count - 1 : 0);
    cutis_plot plot = { .title = "Normal deviation",
                        .x_title = "pose",
                        .y_title = "RMS, radians",
                        .series_count = r->row_count,
                        .series = normal,
                        .from_zero = true };
    TRY(html_plot(app, page, plot));
    plot.title = "Position error", plot.y_title = "RMS, % of the diagonal", plot.series = position;
    TRY(html_plot(app, page, plot));
    html_markup(page, "</div>\n");
    return EXIT_GOOD;
}

static int add_other_plots(cli_app *app, html_page *page, const reduce_job *job)
{
    const cutis_reduce_row *row = &job->reduction->rows[0];
    double before[17], after[17];
    char names[17][8];
    const char *labels[17];
    uint32_t groups = job->before.max_influences < 16 ? job->before.max_influences + 1 : 17;
    for (uint32_t i = 0; i < groups; i++) {
        before[i] = (double)job->before.histogram[i];
        after[i] = (double)job->after.histogram[i];
        snprintf(names[i], sizeof names[i], i == 16 ? "16+" : "%u", i);
        labels[i] = names[i];
    }
    cutis_series bars[2] = { { "before", groups, NULL, before }, { "after", groups, NULL, after } };
    cutis_series curve = { cutis_reduce_method_name(row->method), row->curve_count, NULL,
                           row->curve };
    html_markup(page, "<h2>Influences and energy</h2>\n<div class=\"grid\">\n");
    TRY(html_plot(app, page,
                  (cutis_plot){ .kind = CUTIS_PLOT_BARS,
                                .title = "Vertices by number of influences",
                                .x_title = "influences",
                                .y_title = "vertices",
                                .series_count = 2,
                                .series = bars,
                                .x_labels = labels,
                                .from_zero = true }));
    if (row->curve_count > 1)
        TRY(html_plot(app, page,
                      (cutis_plot){ .title = "Energy per sweep",
                                    .x_title = "sweep",
                                    .y_title = "energy",
                                    .series_count = 1,
                                    .series = &curve,
                                    .from_zero = true }));
    html_markup(page, "</div>\n");
    return EXIT_GOOD;
}

int reduce_report(cli_app *app, reduce_job *job, const char *report)
{
    const cutis_reduce_report *r = job->reduction;
    html_page page;
    html_open(&page, "Cutis: weights reduced");
    html_between(&page, "<h1>", job->path, "</h1>\n");
    html_markup(&page,
                "<p class=\"lead\">%ju skinned vertices, %ju of them with more than %u "
                "influences. Learned from %u "
                "poses (%u automatic beside or among them), judged by %u others. Errors are means "
                "over poses: RMS position in %% "
                "of the diagonal, RMS angle between vertex normals in radians, against the "
                "original weights.</p>\n",
                r->vertex_count, r->reduced_count, job->options.influences, r->example_count,
                r->automatic_count, r->held_out_count);
    reduce_page_limits(&page, job);
    add_table(&page, r);
    int status = add_pictures(app, &page, job);
    if (status == EXIT_GOOD) status = add_frame_plots(app, &page, r);
    if (status == EXIT_GOOD) status = add_other_plots(app, &page, job);
    if (status != EXIT_GOOD) {
        html_release(&page);
        return status;
    }
    html_markup(&page, "<p class=\"lead\">Cutis %s, <code>cutis reduce</code>.</p>\n",
                cutis_version());
    return html_write(app, &page, report);
}
