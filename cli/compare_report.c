/// The page of cutis compare: tables, plots over time, pictures of the worst frames and heat maps.
#include "compare.h"
#include "html.h"

#include <math.h>
#include <stdlib.h>

static int add_plots(cli_app *app, html_page *page, const compare_job *job)
{
    static const struct {
        const char *title, *unit;
        int column;
    } plots[] = {
        { "Position error", "RMS, % of the diagonal", COMPARE_POSITION_RMS },
        { "Normal deviation", "RMS, radians", COMPARE_NORMAL_RMS },
        { "Volume against rest", "%", COMPARE_VOLUME },
        { "Mean curvature", "RMS, 1/m", COMPARE_CURVATURE },
        { "Edge stretch", "RMS of log length / rest", COMPARE_STRETCH },
    };
    html_markup(page, "<h2>Over time</h2>\n<div class=\"grid\">\n");
    for (size_t i = 0; i < sizeof plots / sizeof *plots; i++) {
        cutis_series series[PICTURE_METHODS];
        for (uint32_t s = 0; s < job->shot_count; s++)
            series[s] = (cutis_series){ picture_method_name(&job->shots[s]), job->frame_count,
                                        job->times, job->series[s].columns[plots[i].column] };
        TRY(html_plot(app, page,
                      (cutis_plot){ .title = plots[i].title,
                                    .x_title = "seconds",
                                    .y_title = plots[i].unit,
                                    .series = series,
                                    .series_count = job->shot_count }));
    }
    html_markup(page, "</div>\n");
    return EXIT_GOOD;
}

static void add_table(html_page *page, const compare_job *job)
{
    html_markup(page, "<h2>Figures</h2>\n<table><thead><tr><th>method</th><th>position RMS, "
                      "%%</th><th>position max, %%</th>"
                      "<th>normal RMS, rad</th><th>volume, least</th><th>volume, most</th><th>edge "
                      "stretch</th><th>worst frame</th></tr></thead>\n<tbody>\n");
    for (uint32_t s = 0; s < job->shot_count; s++) {
        const compare_totals t = compare_sum_up(job, s);
        html_markup(page, "<tr><td>%s <code>%s</code></td>", picture_method_title(&job->shots[s]),
                    picture_method_name(&job->shots[s]));
        html_markup(page,
                    "<td>%.4f</td><td>%.4f</td><td>%.4f</td><td>%+.2f %%</td><td>%+.2f "
                    "%%</td><td>%.4f</td><td>%u</td></tr>\n",
                    t.position_rms, t.position_max, t.normal_rms, t.volume_min, t.volume_max,
                    t.stretch, compare_worst_frame(job, s));
    }
    html_markup(page, "</tbody></table>\n");
}

/// All methods at one frame, plain or painted with their distance from the reference.
static int add_sheet(cli_app *app, html_page *page, compare_job *job, uint32_t frame, bool painted)
{
    cutis_image images[PICTURE_METHODS] = { 0 }, sheet = { 0 };
    picture_paint paints[PICTURE_METHODS] = { 0 };
    cutis_tile tiles[PICTURE_METHODS];
    double high = 1e-6;
    int status = compare_pose(job, frame);
    snprintf(job->stage.show.reference, sizeof job->stage.show.reference, "%s",
             painted ? compare_reference_name(job) : "");
    for (uint32_t s = 0; s < job->shot_count && status == EXIT_GOOD; s++) {
        status = picture_paint_shot(&job->stage, &job->shots[s],
                                    painted ? job->reference_frame : NULL, &paints[s]);
        high = fmax(high, paints[s].legend.high);
    }
    job->stage.camera.frame = job->shots[0].play.bounds[0];
    for (uint32_t s = 0; s < job->shot_count && status == EXIT_GOOD; s++) {
        paints[s].legend.high = high;
        paints[s].legend.title = paints[s].title;
        status = picture_draw(&job->stage, &job->shots[s], &paints[s], &images[s]);
        tiles[s] = (cutis_tile){ &images[s], picture_method_title(&job->shots[s]), NULL };
    }
    if (status == EXIT_GOOD)
        status = app_result(app, "report",
                            cutis_sheet_create(app->context, tiles, job->shot_count, 0, NULL,
                                               painted ? &paints[0].legend : NULL, job->stage.dark,
                                               &sheet));
    char text[256];
    snprintf(text, sizeof text, "Frame %u (%.2f s)%s", frame, frame / job->fps,
             painted ? ", painted with the distance from the reference" : "");
    if (status == EXIT_GOOD)
        status = app_result(app, "report", html_put_picture(app->context, page, &sheet, text));
    cutis_image_destroy(app->context, &sheet);
    for (uint32_t s = 0; s < job->shot_count; s++) {
        picture_paint_release(&paints[s]);
        cutis_image_destroy(app->context, &images[s]);
    }
    return status;
}

static int add_worst_frames(cli_app *app, html_page *page, compare_job *job)
{
    html_markup(page, "<h2>The worst frames</h2>\n");
    for (uint32_t s = 0; s < job->shot_count; s++) {
        uint32_t frame = compare_worst_frame(job, s);
        bool seen = false;
        for (uint32_t k = 0; k < s; k++) seen |= compare_worst_frame(job, k) == frame;
        if (seen) continue;
        if (!app_progress(app, "drawing", (double)s / job->shot_count)) return app_stopped(app);
        html_markup(page, "<p>Worst for <b>%s</b>:</p>\n", picture_method_title(&job->shots[s]));
        TRY(add_sheet(app, page, job, frame, false));
        TRY(add_sheet(app, page, job, frame, true));
    }
    return EXIT_GOOD;
}

int compare_report(cli_app *app, compare_job *job)
{
    html_page page;
    html_open(&page, "Cutis: methods compared");
    html_markup(&page, "<h1>");
    html_text(&page, job->stage.path);
    html_markup(&page, "</h1>\n<p class=\"lead\">%u vertices, clip ", job->stage.rest.vertex_count);
    html_text(&page, option_text(app, OPTION_CLIP) ? option_text(app, OPTION_CLIP) : "(rest pose)");
    html_markup(&page, ", %u frames at %g a second, measured against ", job->frame_count, job->fps);
    html_text(&page, compare_reference_name(job));
    html_markup(&page, ".</p>\n");
    add_table(&page, job);
    int status = add_worst_frames(app, &page, job);
    if (status == EXIT_GOOD) status = add_plots(app, &page, job);
    app_progress_done(app);
    if (status != EXIT_GOOD) {
        html_release(&page);
        return status;
    }
    html_command(&page, app);
    html_markup(&page,
                "<p class=\"lead\">Cutis %s. Errors: %% of the diagonal of the rest bounding box; "
                "normals: radians RMS over welded area-weighted vertex normals; volume: signed, in "
                "%% of the rest volume.</p>\n",
                cutis_version());
    status = html_write(app, &page, job->report);
    if (status == EXIT_GOOD) app_say(app, "%s written\n", job->report);
    return status;
}
