/// The page of a batch: a table with a picture of every model, light and dark, what was found in it
/// and how it went. One file, nothing outside referred to.
#include "batch.h"
#include "html.h"
#include "picture.h"
#include "rest_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SIDE = 224 }; // pixels; shown half as large, for screens with small ones

// Looking ----------------------------------------------------------------------------------------

/// Bones of a skeleton that has no mesh, as lines from each node to its parent.
static uint32_t make_bones(const cutis_model *model, cutis_scene_line **out, cutis_bounds *box)
{
    const cutis_model_data *data = cutis_model_get(model);
    cutis_transform *pose = malloc((data->node_count + (size_t)1) * sizeof *pose);
    cutis_mat34 *world = malloc((data->node_count + (size_t)1) * sizeof *world);
    cutis_scene_line *lines = *out = malloc((data->node_count + (size_t)1) * sizeof *lines);
    uint32_t count = 0;
    *box = (cutis_bounds){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    if (pose && world && lines) {
        cutis_pose_rest(model, pose, NULL);
        cutis_pose_world(model, pose, world);
    }
    for (uint32_t i = 0; pose && world && lines && i < data->node_count; i++) {
        const int32_t above = data->nodes[i].parent;
        const float *m = world[i].m;
        bounds_add(box, (cutis_bounds){ { m[3], m[7], m[11] }, { m[3], m[7], m[11] } });
        if (above == CUTIS_NONE) continue;
        const float *p = world[above].m;
        lines[count++] = (cutis_scene_line){ .from = { p[3], p[7], p[11] },
                                             .to = { m[3], m[7], m[11] },
                                             .width = 14,
                                             .dot = 14,
                                             .color = 0x3f83f8ff };
    }
    free(pose), free(world);
    return count;
}

/// Both pictures of a scene. What cannot be drawn has none: the report is about files.
static void draw(cli_app *app, cutis_renderer *renderer, cutis_scene scene, batch_job *job)
{
    for (int dark = 0; dark < 2; dark++) {
        cutis_image image = { 0 };
        void *data = NULL;
        size_t size = 0;
        scene.dark = dark;
        if (cutis_renderer_draw(renderer, &scene, SIDE, SIDE, &image) != CUTIS_OK) return;
        if (cutis_image_encode_png(app->context, &image, &data, &size) == CUTIS_OK) {
            job->looks.pictures[dark] = malloc(size + 1); // outlives the thread's context
            job->looks.picture_sizes[dark] = size;
            if (job->looks.pictures[dark]) memcpy(job->looks.pictures[dark], data, size);
            cutis_memory_free(app->context, data, size);
        }
        cutis_image_destroy(app->context, &image);
    }
}

static void draw_model(cli_app *app, cutis_renderer *renderer, const cutis_model *model,
                       batch_job *job)
{
    cutis_scene scene = { .camera = { .yaw = 28, .pitch = 9 } };
    if (cutis_model_triangle_count(model) == 0) {
        cutis_scene_line *lines;
        scene.line_count = make_bones(model, &lines, &scene.camera.frame);
        scene.lines = lines;
        scene.no_ground = true;
        if (scene.line_count) draw(app, renderer, scene, job);
        free(lines);
        return;
    }
    rest_shape rest;
    if (rest_shape_make(app, job->path, model, &rest) != EXIT_GOOD) return;
    float *colors = malloc(16 * ((size_t)rest.vertex_count + 1));
    if (colors) {
        picture_model_colors(model, colors);
        const cutis_scene_surface body = { .surface = rest_shape_surface(&rest, rest.positions),
                                           .colors = colors };
        scene.surface_count = 1;
        scene.surfaces = &body;
        draw(app, renderer, scene, job);
    }
    free(colors);
    rest_shape_release(&rest);
}

void batch_look(cli_app *app, batch_job *job, cutis_renderer **renderer, bool *blind)
{
    cutis_read_options options = { .gate = CUTIS_GATE_REPAIR };
    cutis_model *model = NULL;
    struct stat info;
    if (stat(job->path, &info) == 0) job->looks.bytes = (uint64_t)info.st_size;
    if (app_placement(app, job->path, &options) != EXIT_GOOD ||
        cutis_model_read(app->context, job->path, &options, &model) != CUTIS_OK)
        return;
    job->looks.known = true;
    job->looks.vertices = cutis_model_vertex_count(model);
    job->looks.triangles = cutis_model_triangle_count(model);
    job->looks.joints = count_joints(cutis_model_get(model));
    job->looks.clips = cutis_model_get(model)->clip_count;
    if (!*renderer && !*blind) *blind = cutis_renderer_create(app->context, renderer) != CUTIS_OK;
    if (*renderer) draw_model(app, *renderer, model, job);
    cutis_model_destroy(model);
}

// The page ---------------------------------------------------------------------------------------

static const char STYLE[] =
    "<style>\n"
    "td { vertical-align: top; }\n"
    "td:first-child { width: 112px; padding: 10px 6px 6px 12px; } td:nth-child(2) { text-align: "
    "left; "
    "width: 60%; overflow-wrap: anywhere; }\n"
    "th:nth-child(2) { text-align: left; } td.none { text-align: center; color: var(--soft); }\n"
    "td img { width: 112px; min-width: 112px; height: 112px; display: block; border-radius: 6px; "
    "background: none; "
    "}\n"
    ".blank { width: 112px; height: 112px; border-radius: 6px; border: 1px dashed var(--line); "
    "display: "
    "grid; place-items: center; color: var(--soft); font-size: 13px; }\n"
    ".file { font-weight: 600; } .said { color: var(--soft); font-size: 13px; margin: 4px 0 0; }\n"
    "details { font-size: 13px; margin-top: 6px; } summary { cursor: pointer; color: var(--soft); "
    "}\n"
    "details pre { white-space: pre-wrap; margin: 6px 0 0; padding: 8px 12px; font-size: 12px; }\n"
    ".only { float: right; font-size: 14px; color: var(--soft); }\n"
    "body:has(#only:checked) tr.passed { display: none; }\n"
    "@media (max-width: 720px) { th:nth-child(n+3), td:nth-child(n+3) { display: none; } "
    "td:nth-child(2) { width: auto; } }\n"
    "</style>\n";

static void put_bytes(html_page *page, uint64_t bytes)
{
    static const char *const UNITS[] = { "B", "KiB", "MiB", "GiB" };
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1000 && unit < 3) value /= 1024, unit++;
    html_markup(page, "<td>%.*f&nbsp;%s</td>", unit && value < 100 ? 1 : 0, value, UNITS[unit]);
}

static void put_picture(html_page *page, const batch_job *job)
{
    const char *alt = job->looks.known ? "no triangles" : "unreadable";
    html_markup(page, "<td>");
    if (!job->looks.pictures[0] || !job->looks.pictures[1]) {
        html_between(page, "<div class=\"blank\">", job->looks.known ? alt : "not read",
                     "</div></td>");
        return;
    }
    html_markup(page, "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"");
    html_data(page, "image/png", job->looks.pictures[1], job->looks.picture_sizes[1]);
    html_between(page, "\"><img loading=\"lazy\" alt=\"", job->shown, "\" src=\"");
    html_data(page, "image/png", job->looks.pictures[0], job->looks.picture_sizes[0]);
    html_markup(page, "\"></picture></td>");
}

/// How many findings of a kind the run's words list, a line each.
static uint32_t count_lines(const batch_job *job, const char *word)
{
    uint32_t count = 0;
    const char *text = job->said.words ? job->said.words : "", *line;
    for (size_t length; (line = next_entry(&text, "\n", &length));)
        count += strncmp(line, word, strlen(word)) == 0;
    return count;
}

/// Everything a run said but its last line, which stands above.
static void put_details(html_page *page, const batch_job *job)
{
    const char *words = job->said.words ? job->said.words : "";
    const uint32_t errors = count_lines(job, "error "), warnings = count_lines(job, "warning "),
                   infos = count_lines(job, "info ");
    const size_t whole = strlen(words);
    size_t length = whole && words[whole - 1] == '\n' ? whole - 1 : whole;
    while (length && words[length - 1] != '\n') length--;
    if (errors + warnings + infos == 0 || length == 0) return;
    char *text = strndup(words, length);
    html_markup(page, "<details><summary>%u finding%s</summary>", errors + warnings + infos,
                errors + warnings + infos == 1 ? "" : "s");
    html_between(page, "<pre>", text ? text : "", "</pre></details>");
    free(text);
}

static void put_row(html_page *page, const batch_job *job)
{
    char verdict[4096];
    const bool good = job->status == EXIT_GOOD, warns = good && count_lines(job, "warning ") > 0;
    batch_verdict(job, verdict, sizeof verdict);
    const char *said = verdict;
    const size_t named = strlen(job->shown);
    if (strncmp(said, job->shown, named) == 0 && strncmp(said + named, ": ", 2) == 0)
        said += named + 2;
    html_markup(page, "<tr%s>", good ? " class=\"passed\"" : "");
    put_picture(page, job);
    html_markup(page, "<td><span class=\"badge %s\">%s</span>",
                !good   ? "bad"
                : warns ? "warn"
                        : "good",
                !good   ? "failed"
                : warns ? "warnings"
                        : "ok");
    html_between(page, "<span class=\"file\">", job->shown, "</span>");
    html_between(page, "<p class=\"said\">", said, "</p>");
    put_details(page, job);
    html_markup(page, "</td>");
    if (job->looks.known)
        html_markup(page, "<td>%u</td><td>%ju</td><td>%u</td><td>%u</td>", job->looks.vertices,
                    (uintmax_t)job->looks.triangles, job->looks.joints, job->looks.clips);
    else
        html_markup(page, "<td>\xe2\x80\x93</td><td>\xe2\x80\x93</td><td>\xe2\x80\x93</td>"
                          "<td>\xe2\x80\x93</td>");
    put_bytes(page, job->looks.bytes);
    html_markup(page, "</tr>\n");
}

static void put_tally(html_page *page, const batch *b)
{
    html_markup(page,
                "<div class=\"tally\"><div><b>%u</b><span>files</span></div><div><b>%u</b><span>ok"
                "</span></div><div%s><b>%u</b><span>failed</span></div>",
                b->count, b->count - b->failed, b->failed ? " class=\"bad\"" : "", b->failed);
    const uint32_t skipped = b->hidden + b->other + b->unreadable + b->links;
    if (skipped)
        html_markup(
            page,
            "<div title=\"%u hidden, %u of other kinds, %u unreadable folders, %u links that "
            "lead nowhere or back\"><b>%u</b><span>skipped</span></div>",
            b->hidden, b->other, b->unreadable, b->links, skipped);
    html_markup(page, "</div>\n");
    if (b->failed && b->failed < b->count)
        html_markup(page, "<label class=\"only\"><input type=\"checkbox\" id=\"only\"> failed ones "
                          "only</label>\n");
}

int batch_report(const batch *b, const char *path)
{
    html_page page;
    const bool checks = strcmp(b->app->verb->name, "check") == 0;
    html_open(&page, checks ? "Cutis: models checked" : "Cutis: models converted");
    html_verdict_style(&page);
    html_markup(&page, "%s", STYLE);
    html_markup(&page, "<h1>%s</h1>\n<p class=\"lead\">",
                checks ? "Models checked" : "Models converted");
    for (uint32_t i = 0; i < b->app->operand_count && i < 3; i++)
        html_between(&page, i ? ", <code>" : "<code>", b->app->operands[i], "</code>");
    if (b->app->operand_count > 3) html_markup(&page, " and %u more", b->app->operand_count - 3);
    html_markup(&page, " \xc2\xb7 Cutis %s</p>\n", cutis_version());
    put_tally(&page, b);
    html_markup(&page, "<table><thead><tr><th></th><th>file</th><th>vertices</th><th>triangles</th>"
                       "<th>joints</th><th>clips</th><th>size</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < b->count; i++) put_row(&page, &b->jobs[i]);
    html_markup(&page, "</tbody></table>\n");
    return html_write(b->app, &page, path);
}
