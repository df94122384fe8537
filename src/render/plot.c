/// Plots with cairo: lines, bars, heat maps; the same drawing goes to PNG and SVG.
#include "render/cairo_image.h"
#include "render/ticks.h"
#include "base/error.h"

#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEFT = 78, RIGHT = 24, TOP = 54, BOTTOM = 58 };
static const uint32_t INK = 0x22272dff, SOFT = 0x6a737dff, GRID = 0xe4e8ecff, PAPER = 0xffffffff;

/// The frame of a plot in pixels, and the ranges that fill it.
typedef struct frame {
    double x0, y0, x1, y1; // pixels: left, top, right, bottom
    double low_x, high_x, low_y, high_y;
    bool logarithmic;
} frame;

static double scale_y(const frame *f, double y)
{
    return f->logarithmic ? log10(y) : y;
}

static double at_x(const frame *f, double x)
{
    return f->x0 + (x - f->low_x) / (f->high_x - f->low_x) * (f->x1 - f->x0);
}

static double at_y(const frame *f, double y)
{
    double t = (scale_y(f, y) - f->low_y) / (f->high_y - f->low_y);
    return f->y1 - t * (f->y1 - f->y0);
}

static bool drawable(const frame *f, double y)
{
    return isfinite(y) && (!f->logarithmic || y > 0);
}

static double series_x(const cutis_series *series, uint32_t i)
{
    return series->x ? series->x[i] : i;
}

static void find_ranges(const cutis_plot *plot, frame *f)
{
    f->low_x = f->low_y = INFINITY;
    f->high_x = f->high_y = -INFINITY;
    f->logarithmic = plot->logarithmic;
    for (uint32_t s = 0; s < plot->series_count; s++)
        for (uint32_t i = 0; i < plot->series[s].count; i++) {
            double x = series_x(&plot->series[s], i), y = plot->series[s].y[i];
            if (isfinite(x)) f->low_x = fmin(f->low_x, x), f->high_x = fmax(f->high_x, x);
            if (drawable(f, y))
                f->low_y = fmin(f->low_y, scale_y(f, y)),
                f->high_y = fmax(f->high_y, scale_y(f, y));
        }
    if (!(f->low_y <= f->high_y)) f->low_y = 0, f->high_y = 1;
    if (!(f->low_x <= f->high_x)) f->low_x = 0, f->high_x = 1;
    if ((plot->from_zero || plot->kind == CUTIS_PLOT_BARS) && !f->logarithmic)
        f->low_y = fmin(f->low_y, 0), f->high_y = fmax(f->high_y, 0);
    double pad = 0.06 * (f->high_y - f->low_y);
    if (!(pad > 0)) pad = fmax(fabs(f->high_y) * 0.1, 1e-9);
    if (f->high_y != 0 || f->logarithmic) f->high_y += pad;
    if (f->low_y != 0 || f->logarithmic) f->low_y -= pad;
    if (!(f->high_x > f->low_x)) f->low_x -= 0.5, f->high_x += 0.5;
}

static void draw_rule(cairo_t *cairo, double x0, double y0, double x1, double y1, uint32_t color)
{
    cutis_canvas_color(cairo, color);
    cairo_set_line_width(cairo, 1);
    cairo_move_to(cairo, floor(x0) + 0.5, floor(y0) + 0.5);
    cairo_line_to(cairo, floor(x1) + 0.5, floor(y1) + 0.5);
    cairo_stroke(cairo);
}

static void draw_y_axis(cairo_t *cairo, const frame *f)
{
    cutis_ticks ticks = cutis_ticks_choose(f->low_y, f->high_y, 6);
    for (int i = 0; i < ticks.count; i++) {
        double value = ticks.first + i * ticks.step;
        double y = f->y1 - (value - f->low_y) / (f->high_y - f->low_y) * (f->y1 - f->y0);
        char label[32];
        cutis_ticks_label(&ticks, i, label, sizeof label);
        if (f->logarithmic) snprintf(label, sizeof label, "%.3g", pow(10, value));
        draw_rule(cairo, f->x0, y, f->x1, y, GRID);
        cutis_canvas_text(cairo, f->x0 - 8, y + 4, 11, SOFT, 2, false, label);
    }
}

static void draw_x_axis(cairo_t *cairo, const frame *f)
{
    cutis_ticks ticks = cutis_ticks_choose(f->low_x, f->high_x, 8);
    for (int i = 0; i < ticks.count; i++) {
        char label[32];
        cutis_ticks_label(&ticks, i, label, sizeof label);
        double x = at_x(f, ticks.first + i * ticks.step);
        draw_rule(cairo, x, f->y1, x, f->y1 + 5, SOFT);
        cutis_canvas_text(cairo, x, f->y1 + 20, 11, SOFT, 1, false, label);
    }
    draw_rule(cairo, f->x0, f->y1, f->x1, f->y1, SOFT);
}

static void draw_titles(cairo_t *cairo, const cutis_plot *plot, const frame *f)
{
    if (plot->title) cutis_canvas_text(cairo, f->x0, 28, 17, INK, 0, true, plot->title);
    if (plot->x_title)
        cutis_canvas_text(cairo, 0.5 * (f->x0 + f->x1), f->y1 + 44, 12, INK, 1, false,
                          plot->x_title);
    if (!plot->y_title) return;
    cairo_save(cairo);
    cairo_translate(cairo, 20, 0.5 * (f->y0 + f->y1));
    cairo_rotate(cairo, -1.5707963267948966);
    cutis_canvas_text(cairo, 0, 0, 12, INK, 1, false, plot->y_title);
    cairo_restore(cairo);
}

static void draw_key(cairo_t *cairo, const cutis_plot *plot, const frame *f)
{
    double x = f->x1;
    for (uint32_t s = plot->series_count; s-- > 0;) {
        const char *name = plot->series[s].name;
        if (!name) continue;
        x -= cutis_canvas_text_width(cairo, 12, false, name);
        cutis_canvas_text(cairo, x, 46, 12, INK, 0, false, name);
        cutis_canvas_color(cairo, cutis_color_category(s));
        cairo_rectangle(cairo, x - 18, 38, 12, 6);
        cairo_fill(cairo);
        x -= 34;
    }
}

static void draw_line_series(cairo_t *cairo, const frame *f, const cutis_series *series,
                             uint32_t color)
{
    cutis_canvas_color(cairo, color);
    cairo_set_line_width(cairo, 2);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    bool open = false;
    for (uint32_t i = 0; i < series->count; i++) {
        double x = series_x(series, i), y = series->y[i];
        if (!drawable(f, y) || !isfinite(x)) {
            open = false;
            continue;
        }
        if (open)
            cairo_line_to(cairo, at_x(f, x), at_y(f, y));
        else
            cairo_move_to(cairo, at_x(f, x), at_y(f, y));
        open = true;
    }
    cairo_stroke(cairo);
}

static void draw_bars(cairo_t *cairo, const cutis_plot *plot, const frame *f)
{
    uint32_t groups = 0;
    for (uint32_t s = 0; s < plot->series_count; s++)
        if (plot->series[s].count > groups) groups = plot->series[s].count;
    double group = (f->x1 - f->x0) / (groups ? groups : 1), bar = 0.76 * group / plot->series_count;
    double base = f->logarithmic ? f->y1 : at_y(f, 0);
    for (uint32_t s = 0; s < plot->series_count; s++)
        for (uint32_t i = 0; i < plot->series[s].count; i++) {
            if (!drawable(f, plot->series[s].y[i])) continue;
            double x = f->x0 + group * i + 0.12 * group + bar * s,
                   y = at_y(f, plot->series[s].y[i]);
            cutis_canvas_color(cairo, cutis_color_category(s));
            cairo_rectangle(cairo, x + 0.04 * bar, fmin(y, base), 0.92 * bar, fabs(base - y));
            cairo_fill(cairo);
        }
    for (uint32_t i = 0; plot->x_labels && i < groups; i++)
        cutis_canvas_text(cairo, f->x0 + group * (i + 0.5), f->y1 + 20, 11, SOFT, 1, false,
                          plot->x_labels[i]);
    draw_rule(cairo, f->x0, base, f->x1, base, SOFT);
}

static void draw_heatmap(cairo_t *cairo, const cutis_plot *plot, const frame *f)
{
    double range = f->high_y - f->low_y, row = (f->y1 - f->y0) / plot->series_count;
    for (uint32_t s = 0; s < plot->series_count; s++) {
        const cutis_series *series = &plot->series[s];
        double cell = (f->x1 - f->x0) / (series->count ? series->count : 1);
        for (uint32_t i = 0; i < series->count; i++) {
            double value =
                drawable(f, series->y[i]) ? (scale_y(f, series->y[i]) - f->low_y) / range : NAN;
            cutis_canvas_color(cairo, cutis_colormap_srgb(plot->map, value));
            cairo_rectangle(cairo, f->x0 + cell * i, f->y0 + row * s, cell + 0.5, row + 0.5);
            cairo_fill(cairo);
        }
        if (series->name)
            cutis_canvas_text(cairo, f->x0 - 8, f->y0 + row * (s + 0.5) + 4, 11, SOFT, 2, false,
                              series->name);
    }
}

static void draw_plot(cairo_t *cairo, const cutis_plot *plot, double width, double height)
{
    frame f = { .x0 = LEFT, .y0 = TOP, .x1 = width - RIGHT, .y1 = height - BOTTOM };
    find_ranges(plot, &f);
    cutis_canvas_color(cairo, PAPER);
    cairo_paint(cairo);
    draw_titles(cairo, plot, &f);
    if (plot->series_count == 0) return;
    if (plot->kind == CUTIS_PLOT_HEATMAP) {
        draw_heatmap(cairo, plot, &f);
        return;
    }
    draw_y_axis(cairo, &f);
    draw_key(cairo, plot, &f);
    if (plot->kind == CUTIS_PLOT_BARS) {
        draw_bars(cairo, plot, &f);
        return;
    }
    draw_x_axis(cairo, &f);
    for (uint32_t s = 0; s < plot->series_count; s++)
        draw_line_series(cairo, &f, &plot->series[s], cutis_color_category(s));
}

// Out -------------------------------------------------------------------------------------------

static void plot_size(const cutis_plot *plot, uint32_t *width, uint32_t *height)
{
    *width = plot->width ? plot->width : 960;
    *height = plot->height ? plot->height : 540;
}

static cairo_status_t svg_write(void *user, const unsigned char *data, unsigned int size)
{
    return cutis_sink_append(user, data, size) ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

cutis_result cutis_plot_svg(cutis_context *context, const cutis_plot *plot, void **data,
                            size_t *size)
{
    if (!context || !plot || !data || !size) return CUTIS_INVALID_ARGUMENT;
    uint32_t width, height;
    plot_size(plot, &width, &height);
    cutis_sink sink = { .context = context };
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(svg_write, &sink, width, height);
    cairo_t *cairo = cairo_create(surface);
    draw_plot(cairo, plot, width, height);
    cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    bool good = status == CAIRO_STATUS_SUCCESS && sink.size;
    if (cutis_sink_take(&sink, good, data, size)) return CUTIS_OK;
    bool memory = status == CAIRO_STATUS_SUCCESS || status == CAIRO_STATUS_NO_MEMORY ||
                  status == CAIRO_STATUS_WRITE_ERROR; // what writes is svg_write, into memory
    if (memory) return cutis_fail(context, CUTIS_OUT_OF_MEMORY, "no memory for a plot");
    return cutis_fail(context, CUTIS_INTERNAL, "a plot could not be drawn: %s",
                      cairo_status_to_string(status));
}

static cutis_result write_svg(cutis_context *context, const cutis_plot *plot, const char *path)
{
    void *data = NULL;
    size_t size = 0;
    cutis_result result = cutis_plot_svg(context, plot, &data, &size);
    return result == CUTIS_OK ? cutis_sink_write(context, path, data, size) : result;
}

static cutis_result write_png(cutis_context *context, const cutis_plot *plot, const char *path)
{
    cutis_image image = { 0 };
    cutis_canvas canvas;
    uint32_t width, height;
    plot_size(plot, &width, &height);
    TRY(cutis_image_create(context, width, height, PAPER, &image));
    cutis_result result = cutis_canvas_open(context, &image, &canvas);
    if (result == CUTIS_OK) {
        draw_plot(canvas.cairo, plot, width, height);
        result = cutis_canvas_close(context, &image, &canvas);
    }
    if (result == CUTIS_OK) result = cutis_image_write_png(context, &image, path);
    cutis_image_destroy(context, &image);
    return result;
}

cutis_result cutis_plot_write(cutis_context *context, const cutis_plot *plot, const char *path)
{
    if (!context || !plot || !path) return CUTIS_INVALID_ARGUMENT;
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".svg") == 0) return write_svg(context, plot, path);
    if (length > 4 && strcmp(path + length - 4, ".png") == 0) return write_png(context, plot, path);
    return cutis_fail(context, CUTIS_UNSUPPORTED_FORMAT, "%s: plots are written as .svg or .png",
                      path);
}
