/// cutis reproduce: the tables and figures of the five source papers, made again on generated
/// bodies, as one page (index.html) and one file (reproduce.json). Both are written at the very
/// end: a run that fails or is stopped leaves neither.
#include "reproduce/reproduce.h"

#include <stdlib.h>
#include <string.h>

typedef struct paper_row {
    const char *key, *title, *authors, *about, *machine;
    cutis_result (*run)(reproduce_job *job);
} paper_row;

static const paper_row papers[] = {
    { "sbs", "Spherical Blend Skinning on GPU", "K. A. Andersen, 2007",
      "Bones are blended as rotations about a centre that is found once for every set of bones and "
      "frame. Ours finds the centre in closed form, and can find one for every vertex, which "
      "leaves no creases.",
      "Barton 2500+, GeForce 6600GT", reproduce_sbs },
    { "pose-space", "Real-Time Weighted Pose-Space Deformation on the GPU",
      "T. Rhee, J. P. Lewis, U. Neumann, 2006",
      "Shapes of example poses are interpolated on top of plain skinning (SSD): once a pose (PSD) "
      "or for every vertex by its own joints (WPSD). Ours folds the interpolation matrix into the "
      "displacements, so WPSD costs two to three times PSD, not twenty.",
      "Pentium 4 3.4 GHz, GeForce 6800 Ultra", reproduce_pose_space },
    { "reduction", "Poisson-based Weight Reduction of Animated Meshes",
      "E. Landreneau, S. Schaefer, 2009",
      "Many weights a vertex become few that deform alike. Ours chooses which weights stay by "
      "what the poses lose, and follows the error's gradient in place of its Laplacian.",
      "Athlon 64 X2 4200+; frame rates: Core i7 920, GTX 280", reproduce_reduction },
    { "handles", "Real-time C2-Weighting Based Character Skinning Powered by GPU",
      "C. Xian, J. Huang, S. Jin, G. Luo, C. C. L. Wang",
      "Weights for points, bars and bones from distances inside the body. Ours solves one harmonic "
      "field a handle on the voxels; the paper's virtual handles are there too.",
      "Core i5-4460, GeForce GTX 760", reproduce_handles },
    { "patches", "Skeletal Rigid Skinning with Blending Patches on the GPU",
      "A. A. Vasilakis, I. Fudos",
      "A skeleton from the parts of a body, rigid parts, and a patch made anew each frame where "
      "two of them meet. Ours cuts along a plane and shapes the patch so that the joint keeps its "
      "volume.",
      "Core Duo 2.6 GHz, GeForce 8800 Ultra", reproduce_patches },
};
enum { PAPERS = sizeof papers / sizeof papers[0] };

static const char STYLE[] =
    "<style>\n"
    ":root { --paper-tint: #f3f0e8; --own-tint: #eef1f6; --ours-tint: #e7f3ec; --up: #1b7f4b; "
    "--down: #a85a16; --accent: #2b5fb3; }\n"
    "@media (prefers-color-scheme: dark) { :root { --paper-tint: #26231c; --own-tint: #1f242d; "
    "--ours-tint: #1a2a22; --up: #64c793; --down: #e0a060; --accent: #86b0ee; } }\n"
    "body { max-width: 1240px; }\n"
    "nav { display: flex; flex-wrap: wrap; gap: 8px; margin: 20px 0 8px; } nav a { color: "
    "var(--accent); text-decoration: none; border: 1px solid var(--line); background: "
    "var(--card); padding: 5px 12px; border-radius: 999px; font-size: 14px; }\n"
    "nav a:hover, nav a:focus { border-color: var(--accent); }\n"
    "section { border-top: 1px solid var(--line); margin-top: 48px; padding-top: 8px; }\n"
    "section h2 { font-size: 23px; margin: 24px 0 2px; } h3 { font-size: 16px; margin: 30px 0 "
    "10px; } h3 span { color: var(--accent); margin-right: 6px; }\n"
    "p.by { color: var(--soft); margin: 0 0 10px; } p.note { font-size: 13px; color: var(--soft); "
    "margin: 8px 0 0; max-width: 900px; }\n"
    ".scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; background: "
    "var(--card); } .scroll table { border: 0; font-size: 14px; }\n"
    ".scroll th, .scroll td { padding: 6px 10px; white-space: nowrap; } .scroll tbody "
    "tr:last-child "
    "td { border-bottom: 0; }\n"
    "th.metric { text-align: center; border-left: 1px solid var(--line); color: var(--ink); } "
    "th.metric small, td small { color: var(--soft); font-weight: 400; }\n"
    "thead th.paper, thead th.own, thead th.ours { font-size: 12px; padding: 3px 10px; text-align: "
    "right; } .first { "
    "border-left: 1px solid var(--line); }\n"
    ".wide th, .wide td { padding: 6px 6px; font-size: 13px; } .wide th.own, .wide td.body { "
    "white-space: normal; } .wide td.body { min-width: 110px; } .wide td.first, .wide th.first { "
    "padding-left: 9px; }\n"
    ".body { text-align: left !important; color: var(--soft); font-size: 13px; }\n"
    "th.paper, td.paper { background: var(--paper-tint); } th.own, td.own, b.own { background: "
    "var(--own-tint); } th.ours, td.ours, b.ours { background: var(--ours-tint); }\n"
    "td.ours { font-weight: 600; } td small.up, td small.down { margin-left: 6px; font-size: 11px; "
    "} small.up { color: var(--up) !important; } small.down { color: var(--down) !important; }\n"
    "b.own, b.ours, b.paper { padding: 1px 6px; border-radius: 4px; color: var(--ink); "
    "font-weight: 600; } b.paper { background: var(--paper-tint); }\n"
    "ul.missing { padding-left: 20px; } ul.missing li { margin: 4px 0; }\n"
    "</style>\n";

static bool is_wanted(const cli_app *app, int paper)
{
    const char *key = option_text(app, OPTION_PAPER);
    return !key || strcmp(key, "all") == 0 || strcmp(key, papers[paper].key) == 0;
}

static void begin_page(reproduce_job *job)
{
    html_page *page = &job->page;
    const cutis_device_info info = cutis_device_describe(job->single);
    html_open(page, "Cutis: five papers made again");
    html_markup(page, "%s", STYLE);
    html_markup(page, "<h1>Five papers made again</h1>\n<p class=\"lead\">Every table of the five "
                      "papers that Cutis builds on, with what this machine measured beside it. "
                      "Bodies are generated, of the papers' sizes. <b class=\"paper\">paper</b> is "
                      "the published figure, <b class=\"own\">its method</b> the paper's way run "
                      "by Cutis where ours differs, <b class=\"ours\">ours</b> the default of "
                      "Cutis. Small figures say how much better than published; the papers' "
                      "machines are 10 to 20 years older than this one, so compare columns of "
                      "the same machine first.</p>\n<p class=\"lead\">");
    html_text(page, info.name);
    html_markup(page, ", %s, one thread unless said; GPU columns: ", cutis_isa_name(info.isa));
    html_text(page, job->gpu ? cutis_device_describe(job->gpu).name
                             : "none (run with --device cuda or opencl)");
    html_markup(page, ".%s</p>\n<nav>",
                job->quick ? " A quick run: short timings, large bodies left out." : "");
    for (int p = 0; p < PAPERS; p++)
        if (is_wanted(job->app, p))
            html_markup(page, "<a href=\"#%s\">%s</a>", papers[p].key, papers[p].title);
    html_markup(page, "<a href=\"#missing\">Not there yet</a></nav>\n");
}

static void list_missing(reproduce_job *job)
{
    html_page *page = &job->page;
    html_markup(page, "<section id=\"missing\"><h2>Not there yet</h2>\n");
    if (job->note_count == 0) html_markup(page, "<p>Nothing is missing.</p>\n");
    html_markup(page, job->note_count ? "<ul class=\"missing\">\n" : "");
    for (uint32_t i = 0; i < job->note_count; i++) {
        html_markup(page, "<li><b>%s: ", job->notes[i].paper);
        html_between(page, "", job->notes[i].what, "</b> &ndash; ");
        html_between(page, "", job->notes[i].why, "</li>\n");
    }
    html_markup(page, "%s</section>\n<p class=\"note\">Cutis %s, <code>cutis reproduce",
                job->note_count ? "</ul>\n" : "", cutis_version());
    const char *key = option_text(job->app, OPTION_PAPER);
    html_markup(page, "%s%s%s</code>. The numbers of this page: reproduce.json.</p>\n",
                key ? " --paper " : "", key ? key : "", job->quick ? " --quick" : "");
}

static cutis_result run_papers(reproduce_job *job, double *seconds)
{
    cutis_result result = CUTIS_OK;
    for (int p = 0; p < PAPERS && result == CUTIS_OK; p++) {
        html_page *page = &job->page;
        if (!is_wanted(job->app, p)) continue;
        job->paper = papers[p].key;
        const double start = app_seconds();
        html_markup(page,
                    "<section id=\"%s\"><h2>%s</h2>\n<p class=\"by\">%s &middot; measured "
                    "there on %s</p>\n<p>%s</p>\n",
                    papers[p].key, papers[p].title, papers[p].authors, papers[p].machine,
                    papers[p].about);
        result = papers[p].run(job);
        html_markup(page, "</section>\n");
        seconds[p] = app_seconds() - start;
        app_progress_done(job->app);
        if (result == CUTIS_OK)
            app_say(job->app, "%-11s %6.1f s  %s\n", papers[p].key, seconds[p], papers[p].title);
    }
    return result;
}

// The file --------------------------------------------------------------------------------------

static void emit_table(json_out *json, const reproduce_table *table)
{
    static const char *const senses[] = { "plain", "less", "more" };
    emit(json, "{ place %s title %s own %s ours %s note %s metrics [", table->place, table->title,
         table->own, table->ours, table->note);
    for (uint32_t m = 0; m < table->metric_count; m++)
        emit(json, "{ name %s unit %s better %s }", table->metrics[m].name, table->metrics[m].unit,
             senses[table->metrics[m].sense]);
    emit(json, "] rows [");
    for (uint32_t r = 0; r < table->row_count; r++) {
        emit(json, "{ label %s body %s cells [", table->labels[r],
             table->bodies[r][0] ? table->bodies[r] : NULL);
        for (const reproduce_cell *c = table->cells[r]; c < table->cells[r] + table->metric_count;
             c++)
            emit(json, "{ paper %g own %g ours %g }", c->paper, c->own, c->ours);
        emit(json, "] }");
    }
    emit(json, "] }");
}

static void emit_paper(json_out *json, const reproduce_job *job, const paper_row *paper,
                       double seconds)
{
    emit(json, "{ key %s title %s authors %s machine %s seconds %g tables [", paper->key,
         paper->title, paper->authors, paper->machine, seconds);
    for (uint32_t t = 0; t < job->table_count; t++)
        if (strcmp(job->tables[t].paper, paper->key) == 0) emit_table(json, &job->tables[t]);
    emit(json, "] missing [");
    for (uint32_t i = 0; i < job->note_count; i++)
        if (strcmp(job->notes[i].paper, paper->key) == 0)
            emit(json, "{ what %s why %s }", job->notes[i].what, job->notes[i].why);
    emit(json, "] }");
}

static void emit_all(FILE *file, const reproduce_job *job, const double *seconds)
{
    json_out json = { .file = file };
    const cutis_device_info info = cutis_device_describe(job->single);
    emit(&json, "{ version %s cpu %s isa %s gpu %s quick %d papers [", cutis_version(), info.name,
         cutis_isa_name(info.isa), job->gpu ? cutis_device_describe(job->gpu).name : NULL,
         job->quick);
    for (int p = 0; p < PAPERS; p++)
        if (is_wanted(job->app, p)) emit_paper(&json, job, &papers[p], seconds[p]);
    emit(&json, "] }");
}

static int write_all(reproduce_job *job, const char *folder, const double *seconds)
{
    cli_app *app = job->app;
    char path[4096];
    OWN_MEMORY char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) return app_fail_text(app, "%s: not enough memory", folder);
    emit_all(file, job, seconds);
    if (fclose(file) != 0) return app_fail_text(app, "%s: not enough memory", folder);
    snprintf(path, sizeof path, "%s/reproduce.json", folder);
    TRY(app_result(app, path, cutis_file_write(app->context, path, text, size)));
    snprintf(path, sizeof path, "%s/index.html", folder);
    TRY(html_write(app, &job->page, path));
    if (app->json) fwrite(text, 1, size, stdout);
    app_say(app, "%s written\n", path);
    return EXIT_GOOD;
}

static cutis_result open_devices(reproduce_job *job)
{
    cli_app *app = job->app;
    cutis_device_options options;
    app_device_options(app, &options); // was checked before
    const bool gpu = options.kind != CUTIS_DEVICE_CPU;
    if (gpu) TRY(cutis_device_create(app->context, &options, &job->gpu));
    cutis_device_options cpu = { .isa = options.isa, .thread_count = options.thread_count };
    TRY(cutis_device_create(app->context, &cpu, &job->device));
    cpu.thread_count = 1;
    TRY(cutis_device_create(app->context, &cpu, &job->single));
    return cutis_renderer_create(app->context, &job->renderer);
}

int verb_reproduce(cli_app *app)
{
    const char *folder = option_text(app, OPTION_OUTPUT);
    double seconds[PAPERS] = { 0 };
    cutis_device_options options;
    if (!folder) return app_usage(app, "-o DIR is missing: where should the pages go?");
    int status = app_device_options(app, &options);
    if (status == EXIT_GOOD) status = app_make_folder(app, folder);
    if (status != EXIT_GOOD) return status;
    reproduce_job *job = calloc(1, sizeof *job);
    if (!job) return app_fail_text(app, "reproduce: not enough memory");
    job->app = app;
    job->quick = option_given(app, OPTION_QUICK);
    job->budget = job->quick ? 0.02 : 0.25;
    cutis_result result = open_devices(job);
    if (result == CUTIS_OK) {
        begin_page(job);
        result = run_papers(job, seconds);
    }
    app_progress_done(app);
    if (result == CUTIS_OK) {
        list_missing(job);
        status = write_all(job, folder, seconds);
    } else {
        status = job->spoken ? EXIT_FAILED
                             : app_fail(app, job->paper ? job->paper : "reproduce", result);
    }
    html_release(&job->page);
    cutis_renderer_destroy(job->renderer);
    cutis_device_destroy(job->single);
    cutis_device_destroy(job->device);
    cutis_device_destroy(job->gpu);
    free(job);
    return status;
}
