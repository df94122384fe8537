/// The page and the file of reproduce: tables with three columns a metric, pictures and plots. All
/// of it is in memory until every paper is done, so a failure leaves no file.
#include "reproduce/reproduce.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { TILE_WIDTH = 400, TILE_HEIGHT = 460 };

reproduce_table *reproduce_table_add(reproduce_job *job, const char *place, const char *title)
{
    uint32_t index =
        job->table_count < REPRODUCE_TABLES ? job->table_count++ : job->table_count - 1;
    reproduce_table *table = &job->tables[index];
    *table = (reproduce_table){ .paper = job->paper, .place = place, .title = title };
    return table;
}

void reproduce_metric_add(reproduce_table *table, const char *name, const char *unit,
                          reproduce_sense sense)
{
    if (table->metric_count < REPRODUCE_METRICS)
        table->metrics[table->metric_count++] = (reproduce_metric){ name, unit, sense };
}

reproduce_cell *reproduce_row_add(reproduce_table *table, const char *body, const char *label, ...)
{
    uint32_t row = table->row_count < REPRODUCE_ROWS ? table->row_count++ : table->row_count - 1;
    va_list values;
    va_start(values, label);
    vsnprintf(table->labels[row], sizeof table->labels[row], label, values);
    va_end(values);
    snprintf(table->bodies[row], sizeof table->bodies[row], "%s", body ? body : "");
    for (int m = 0; m < REPRODUCE_METRICS; m++)
        table->cells[row][m] = (reproduce_cell){ NAN, NAN, NAN };
    return table->cells[row];
}

void reproduce_missing(reproduce_job *job, const char *what, const char *why)
{
    if (job->note_count < REPRODUCE_NOTES)
        job->notes[job->note_count++] = (reproduce_note){ job->paper, what, why };
}

bool reproduce_progress(reproduce_job *job, const char *stage, double fraction)
{
    char text[160];
    snprintf(text, sizeof text, "%s: %s", job->paper, stage);
    return app_progress(job->app, text, fraction);
}

cutis_result reproduce_status(reproduce_job *job, int status)
{
    job->spoken = status != EXIT_GOOD;
    return job->spoken ? CUTIS_OUT_OF_MEMORY : CUTIS_OK;
}

cutis_result reproduce_rest(reproduce_job *job, const cutis_model *model, rest_shape *out)
{
    return reproduce_status(job, rest_shape_make(job->app, job->paper, model, out));
}

// Published figures stand as printed; measured ones have three digits.
static void put_number(html_page *page, double value, bool published)
{
    char digits[64];
    if (!published && value != 0 && fabs(value) < 1e-4) { // below what a table shows
        html_markup(page, "&asymp;0");
        return;
    }
    if (published && fabs(value) < 1e6)
        snprintf(digits, sizeof digits, "%.7g", value);
    else if (fabs(value) >= 999.5)
        snprintf(digits, sizeof digits, "%.0f", value);
    else
        snprintf(digits, sizeof digits, "%.3g", value);
    size_t whole = strcspn(digits, ".e");
    for (size_t i = 0; digits[i]; i++) {
        html_markup(page, "%c", digits[i]);
        if (i + 1 < whole && whole > 4 && (whole - i - 1) % 3 == 0 && digits[i] != '-')
            html_markup(page, "&#8239;");
    }
}

static const char *const CLASSES[3] = { "paper", "own", "ours" };

static double value_of(const reproduce_cell *cell, int column)
{
    return column == 0 ? cell->paper : column == 1 ? cell->own : cell->ours;
}

static bool has_column(const reproduce_table *table, uint32_t metric, int column)
{
    for (uint32_t r = 0; r < table->row_count; r++)
        if (!isnan(value_of(&table->cells[r][metric], column))) return true;
    return false;
}

// How much better than published, where that means anything.
static void put_factor(html_page *page, const reproduce_cell *cell, reproduce_sense sense)
{
    double factor = sense == REPRODUCE_LESS ? cell->paper / cell->ours : cell->ours / cell->paper;
    if (sense == REPRODUCE_PLAIN || !isfinite(factor) || factor <= 0) return;
    html_markup(page, "<small class=\"%s\">%.*f&times;</small>", factor >= 1 ? "up" : "down",
                factor < 0.95   ? 2
                : factor < 9.95 ? 1
                                : 0,
                factor);
}

static void put_head(html_page *page, const reproduce_table *table, bool bodies)
{
    static const char *const titles[3] = { "paper", "its method", "ours" };
    html_markup(page, "<thead><tr><th rowspan=\"2\"></th>");
    if (bodies) html_markup(page, "<th rowspan=\"2\" class=\"body\">measured on</th>");
    for (uint32_t m = 0; m < table->metric_count; m++) {
        int span = 0;
        for (int c = 0; c < 3; c++) span += has_column(table, m, c);
        html_markup(page, "<th colspan=\"%d\" class=\"metric\">", span > 0 ? span : 1);
        html_text(page, table->metrics[m].name);
        if (table->metrics[m].unit)
            html_between(page, " <small>", table->metrics[m].unit, "</small>");
        html_markup(page, "</th>");
    }
    html_markup(page, "</tr>\n<tr>");
    for (uint32_t m = 0; m < table->metric_count; m++) {
        bool any = false;
        for (int c = 0; c < 3; c++)
            if (has_column(table, m, c)) {
                html_markup(page, "<th class=\"%s%s\">%s</th>", CLASSES[c], any ? "" : " first",
                            titles[c]);
                any = true;
            }
        if (!any) html_markup(page, "<th class=\"first\"></th>");
    }
    html_markup(page, "</tr></thead>\n");
}

static void put_row(html_page *page, const reproduce_table *table, uint32_t r, bool bodies)
{
    html_between(page, "<tr><td>", table->labels[r], "</td>");
    if (bodies) html_between(page, "<td class=\"body\">", table->bodies[r], "</td>");
    for (uint32_t m = 0; m < table->metric_count; m++) {
        const reproduce_cell *cell = &table->cells[r][m];
        bool any = false;
        for (int c = 0; c < 3; c++) {
            if (!has_column(table, m, c)) continue;
            html_markup(page, "<td class=\"%s%s\">", CLASSES[c], any ? "" : " first");
            any = true;
            if (isnan(value_of(cell, c)))
                html_markup(page, "&ndash;");
            else
                put_number(page, value_of(cell, c), c == 0);
            if (c == 2) put_factor(page, cell, table->metrics[m].sense);
            html_markup(page, "</td>");
        }
        if (!any) html_markup(page, "<td class=\"first\">&ndash;</td>");
    }
    html_markup(page, "</tr>\n");
}

void reproduce_show(reproduce_job *job, const reproduce_table *table)
{
    html_page *page = &job->page;
    bool bodies = false;
    for (uint32_t r = 0; r < table->row_count; r++) bodies |= table->bodies[r][0] != 0;
    html_between(page, "<h3><span>", table->place, "</span> ");
    html_text(page, table->title);
    html_markup(page, "</h3>\n<div class=\"scroll%s\"><table>\n",
                table->metric_count > 3 ? " wide" : "");
    put_head(page, table, bodies);
    html_markup(page, "<tbody>\n");
    for (uint32_t r = 0; r < table->row_count; r++) put_row(page, table, r, bodies);
    html_markup(page, "</tbody></table></div>\n<p class=\"note\">");
    if (table->own) html_between(page, "<b class=\"own\">its method</b> ", table->own, ". ");
    if (table->ours) html_between(page, "<b class=\"ours\">ours</b> ", table->ours, ". ");
    html_between(page, "", table->note, "</p>\n");
}

cutis_result reproduce_pictures(reproduce_job *job, const picture_view *views, uint32_t count,
                                cutis_camera camera, const cutis_legend *legend,
                                const char *caption)
{
    cutis_context *context = job->app->context;
    cutis_image sheet = { 0 };
    cutis_result result =
        picture_views(context, job->renderer, views, count, camera, legend,
                      count < 4 ? TILE_WIDTH : TILE_WIDTH - 80, TILE_HEIGHT, &sheet);
    if (result == CUTIS_OK) result = html_put_picture(context, &job->page, &sheet, caption);
    cutis_image_destroy(context, &sheet);
    return result;
}
