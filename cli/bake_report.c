/// The page of `bake`: figures of every clip, errors frame by frame, and the frames that plain
/// blending and the baked file do worst in: what was to be baked, plain blending, the baked file,
/// and how far both are off.
#include "bake.h"

#include <math.h>
#include <string.h>

#include "html.h"
#include "picture.h"

enum { TILES = 3 };

typedef struct bake_bodies {
    memory_list memory;
    uint32_t vertex_count;
    uint64_t triangle_count;
    uint32_t *indices, *weld;
    float *positions[TILES], *normals[TILES], *off[TILES];
} bake_bodies;

static void bodies_end(bake_bodies *bodies)
{
    memory_release(&bodies->memory);
}

static const char *plain_name(const bake_job *job)
{
    return job->plain ? "one rigid motion" : "plain linear blending";
}

static void add_row(html_page *page, const char *name, const bake_clip *c)
{
    html_between(page, "<tr><td>", name, "</td>");
    html_markup(page,
                "<td>%u</td><td>%.4f</td><td>%.3f</td><td>%.3f</td><td>%.4f</td><td>%.3f</td>"
                "<td>%.3f</td><td>%.4f</td><td>%s</td></tr>\n",
                c->count, 1e3 * c->plain_rms, 1e3 * c->plain_max, c->plain_normal, 1e3 * c->rms,
                1e3 * c->max, c->normal, c->plain_rms > 0 ? c->rms / c->plain_rms : 0,
                c->held_out ? "left out" : "");
}

static void add_table(html_page *page, const bake_job *job)
{
    const bake_clip all = bake_all(job);
    html_markup(page,
                "<h2>Figures</h2>\n<table><thead><tr><th>clip</th><th>frames</th><th>%s, rms "
                "mm</th><th>max</th><th>normals, degrees</th><th>baked, rms mm</th><th>max</th>"
                "<th>normals, degrees</th><th>ratio</th><th></th></tr></thead>\n<tbody>\n",
                plain_name(job));
    for (uint32_t i = 0; i < job->clip_count; i++)
        add_row(page, job->rows[i].name ? job->rows[i].name : "(no name)", &job->rows[i]);
    add_row(page, "all", &all);
    html_markup(page, "</tbody></table>\n");
    const bake_driven *d = &job->driven;
    if (d->poses)
        html_markup(page,
                    "<p>In %u random poses that nothing was learned from, %s: %.4f mm, at most "
                    "%.3f, where %s has %.4f and %.3f.</p>\n",
                    d->poses,
                    job->options.drivers ? "with helpers driven by joints" : "with helpers at rest",
                    1e3 * d->rms, 1e3 * d->max, plain_name(job), 1e3 * d->plain_rms,
                    1e3 * d->plain_max);
    if (job->report->morph_count)
        html_markup(page, "<p>%u morph targets, with tracks, for what joints leave over.</p>\n",
                    job->report->morph_count);
    if (job->surfaces && !job->sequence)
        html_markup(page, "<p>Patches have triangles of their own in every frame. What was baked "
                          "are the model's own vertices, put on them: where a patch has more "
                          "triangles than the model, its shape between vertices is lost.</p>\n");
}

// Vertices that no joint follows.
static void add_left(html_page *page, const bake_job *job)
{
    const bake_left *left = &job->left;
    if (left->count == 0) return;
    html_markup(page,
                "<h2>What is left</h2>\n<p>%u vertices stay off by more than %.3g mm (RMS over all "
                "frames), %u of them where the surface tears. Farthest:",
                left->count, 1e3 * left->beyond, left->torn);
    for (uint32_t i = 0; i < left->count && i < BAKE_LEFT_LISTED; i++)
        html_markup(page, "%s vertex %u by %.3g mm", i ? "," : "", left->worst[i],
                    1e3 * left->distance[i]);
    html_markup(page, ".</p>\n");
}

static int add_plot(cli_app *app, html_page *page, const bake_job *job)
{
    const uint32_t count = bake_clip_frames(job);
    const cutis_series series[2] = { { "baked", count, NULL, job->series[0] },
                                     { plain_name(job), count, NULL, job->series[1] } };
    html_markup(page, "<h2>Frame by frame</h2>\n<p>Clips one after the other, in the order of the "
                      "table.</p>\n<div class=\"grid\">\n");
    TRY(html_plot(app, page,
                  (cutis_plot){ .title = "Error against what was baked",
                                .x_title = "frame",
                                .y_title = "RMS, metres",
                                .series_count = 2,
                                .series = series,
                                .logarithmic = true }));
    html_markup(page, "</div>\n");
    return EXIT_GOOD;
}

static int make_bodies(cli_app *app, const bake_job *job, uint32_t frame, bake_bodies *out)
{
    const size_t count = out->vertex_count = cutis_model_vertex_count(job->model);
    out->triangle_count = cutis_model_triangle_count(job->model);
    out->indices = memory_take(&out->memory, 3 * out->triangle_count, sizeof *out->indices);
    out->weld = memory_take(&out->memory, count, sizeof *out->weld);
    for (int t = 0; t < TILES; t++) {
        out->positions[t] = memory_take(&out->memory, 3 * count, sizeof(float));
        out->normals[t] = memory_take(&out->memory, 3 * count, sizeof(float));
        out->off[t] = memory_take(&out->memory, count, sizeof(float));
    }
    if (out->memory.failed) return bake_no_memory(app, job);
    cutis_model_triangles(job->model, out->indices);
    memcpy(out->positions[0], bake_target(job, frame), 3 * count * sizeof(float));
    TRY(app_result(
        app, "report",
        cutis_weld_positions(app->context, (uint32_t)count, out->positions[0], out->weld)));
    TRY(bake_frame(app, job, true, frame, out->positions[1]));
    TRY(bake_frame(app, job, false, frame, out->positions[2]));
    for (int t = 0; t < TILES; t++) {
        const cutis_surface surface = { out->vertex_count, out->triangle_count, out->positions[t],
                                        out->indices };
        TRY(app_result(app, "report",
                       cutis_surface_normals(app->context, &surface, out->weld, out->normals[t])));
        for (size_t v = 0; v < count; v++) {
            double square = 0;
            for (size_t c = 0; c < 3; c++) {
                const double d =
                    (double)out->positions[t][3 * v + c] - out->positions[0][3 * v + c];
                square += d * d;
            }
            out->off[t][v] = (float)(1e3 * sqrt(square));
        }
    }
    return EXIT_GOOD;
}

static int add_sheet(cli_app *app, html_page *page, const bake_job *job, const bake_bodies *bodies,
                     cutis_renderer *renderer, bool painted, const char *text)
{
    const char *titles[TILES] = { job->sequence ? "frames" : cutis_method_name(job->method),
                                  plain_name(job), "baked" };
    double most = 1e-6;
    for (uint32_t v = 0; v < bodies->vertex_count; v++) most = fmax(most, bodies->off[1][v]);
    const cutis_legend legend = { .map = CUTIS_COLORMAP_HEAT, .high = most, .title = "error, mm" };
    picture_view views[TILES];
    for (int t = 0; t < TILES; t++)
        views[t] = (picture_view){ .surface = { bodies->vertex_count, bodies->triangle_count,
                                                bodies->positions[t], bodies->indices },
                                   .normals = bodies->normals[t],
                                   .values = bodies->off[t],
                                   .title = titles[t] };
    return report_views(app, page, renderer, views + painted, TILES - painted,
                        painted ? &legend : NULL, text);
}

// The bodies of one frame, plain and painted by their error.
static int add_frame(cli_app *app, html_page *page, const bake_job *job, cutis_renderer *renderer,
                     uint32_t frame)
{
    ENDS_BY(bodies_end) bake_bodies bodies = { 0 };
    char text[128];
    TRY(make_bodies(app, job, frame, &bodies));
    snprintf(text, sizeof text, "Frame %u of the plot", frame);
    TRY(add_sheet(app, page, job, &bodies, renderer, false, text));
    return add_sheet(app, page, job, &bodies, renderer, true, "How far vertices are off");
}

static int add_pictures(cli_app *app, html_page *page, const bake_job *job)
{
    OWN(cutis_renderer) *renderer = NULL;
    uint32_t worst[2] = { 0, 0 };
    for (uint32_t f = 0; f < bake_clip_frames(job); f++)
        for (int k = 0; k < 2; k++)
            if (job->series[k][f] > job->series[k][worst[k]]) worst[k] = f;
    TRY(app_result(app, "report", cutis_renderer_create(app->context, &renderer)));
    html_markup(page, "<h2>The frame that %s does worst in</h2>\n", plain_name(job));
    TRY(add_frame(app, page, job, renderer, worst[1]));
    if (worst[0] == worst[1]) return EXIT_GOOD;
    html_markup(page, "<h2>The frame that the baked file does worst in</h2>\n");
    return add_frame(app, page, job, renderer, worst[0]);
}

int bake_report(cli_app *app, const bake_job *job, const char *report)
{
    static const char *const STORED[] = { "as floats", "in 16 bits", "in 8 bits" };
    const cutis_bake_report *r = job->report;
    html_page page;
    html_open(&page, "Cutis: baked");
    html_between(&page, "<h1>", job->path, "</h1>\n");
    html_markup(&page,
                "<p class=\"lead\">%u joints added to %u, at most %u weights a vertex, %ju "
                "vertices of which %ju keep their own weights, which are stored %s. Errors are "
                "distances of the written "
                "file, played by linear blending, to %s, over vertices and frames.</p>\n",
                r->helper_count, r->joint_count, job->options.influences,
                (uintmax_t)r->vertex_count, (uintmax_t)r->kept_count, STORED[job->format],
                job->sequence ? "the frames" : cutis_method_name(job->method));
    add_table(&page, job);
    add_left(&page, job);
    int status = add_pictures(app, &page, job);
    if (status == EXIT_GOOD) status = add_plot(app, &page, job);
    if (status != EXIT_GOOD) {
        html_release(&page);
        return status;
    }
    html_command(&page, app);
    return html_write(app, &page, report);
}
