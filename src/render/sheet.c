/// Contact sheets: pictures in a grid with titles, and one legend for all.
#include "render/cairo_image.h"
#include "render/ticks.h"
#include "base/error.h"

enum { GAP = 16, MARGIN = 24, TITLE_ROW = 30, SUBTITLE_ROW = 20, HEAD_ROW = 52, LEGEND_ROW = 64 };

typedef struct sheet_layout {
    uint32_t columns, rows, tile_width, tile_height, caption, head, foot, width, height;
} sheet_layout;

static uint32_t default_columns(uint32_t count)
{
    uint32_t columns = 1;
    while (columns * columns < count) columns++;
    return count <= 5 ? count : columns;
}

static sheet_layout lay_out(const cutis_tile *tiles, uint32_t count, uint32_t columns, bool title,
                            bool legend)
{
    sheet_layout l = { .columns = columns ? columns : default_columns(count) };
    bool titles = false, subtitles = false;
    for (uint32_t i = 0; i < count; i++) {
        if (tiles[i].image->width > l.tile_width) l.tile_width = tiles[i].image->width;
        if (tiles[i].image->height > l.tile_height) l.tile_height = tiles[i].image->height;
        titles |= tiles[i].title != NULL;
        subtitles |= tiles[i].subtitle != NULL;
    }
    l.rows = (count + l.columns - 1) / l.columns;
    l.caption = (titles ? TITLE_ROW : 0) + (subtitles ? SUBTITLE_ROW : 0);
    l.head = title ? HEAD_ROW : 0;
    l.foot = legend ? LEGEND_ROW : 0;
    l.width = 2 * MARGIN + l.columns * (l.tile_width + GAP) - GAP;
    l.height = 2 * MARGIN + l.head + l.rows * (l.tile_height + l.caption + GAP) - GAP + l.foot;
    return l;
}

static void draw_legend(cairo_t *cairo, const cutis_legend *legend, double x, double y,
                        double width, uint32_t ink)
{
    enum { STEPS = 256, BAR = 14 };
    cutis_canvas_text(cairo, x, y, 13, ink, 0, false, legend->title);
    for (int i = 0; i < STEPS; i++) {
        cutis_canvas_color(cairo, cutis_colormap_srgb(legend->map, i / (STEPS - 1.0)));
        cairo_rectangle(cairo, x + width * i / STEPS, y + 8, width / STEPS + 1, BAR);
        cairo_fill(cairo);
    }
    cutis_ticks ticks = cutis_ticks_choose(legend->low, legend->high, 6);
    for (int i = 0; i < ticks.count; i++) {
        double value = ticks.first + i * ticks.step,
               at = (value - legend->low) / (legend->high - legend->low);
        char text[32];
        cutis_ticks_label(&ticks, i, text, sizeof text);
        cutis_canvas_color(cairo, ink);
        cairo_rectangle(cairo, x + width * at - 0.5, y + 8 + BAR, 1, 4);
        cairo_fill(cairo);
        cutis_canvas_text(cairo, x + width * at, y + 8 + BAR + 16, 11, ink, 1, false, text);
    }
}

static void draw_captions(cairo_t *cairo, const sheet_layout *l, const cutis_tile *tiles,
                          uint32_t count, uint32_t ink, uint32_t soft)
{
    for (uint32_t i = 0; i < count; i++) {
        double x = MARGIN + (i % l->columns) * (l->tile_width + GAP) + 0.5 * l->tile_width;
        double y = MARGIN + l->head + (i / l->columns) * (l->tile_height + l->caption + GAP) +
                   l->tile_height;
        if (tiles[i].title) cutis_canvas_text(cairo, x, y + 22, 16, ink, 1, true, tiles[i].title);
        if (tiles[i].subtitle)
            cutis_canvas_text(cairo, x, y + (tiles[i].title ? TITLE_ROW : 0) + 12, 12, soft, 1,
                              false, tiles[i].subtitle);
    }
}

cutis_result cutis_sheet_create(cutis_context *context, const cutis_tile *tiles,
                                uint32_t tile_count, uint32_t columns, const char *title,
                                const cutis_legend *legend, bool dark, cutis_image *out)
{
    if (!context || !tiles || !out) return CUTIS_INVALID_ARGUMENT;
    if (tile_count == 0) return INVALID(context, "a sheet without pictures");
    for (uint32_t i = 0; i < tile_count; i++)
        if (!tiles[i].image || !tiles[i].image->pixels)
            return INVALID(context, "picture %u of a sheet is not there", i);
    bool with_legend = legend && legend->title && legend->high > legend->low;
    sheet_layout l = lay_out(tiles, tile_count, columns, title != NULL, with_legend);
    uint32_t ink = dark ? 0xf0f2f5ff : 0x1d2126ff, soft = dark ? 0xa8b0baff : 0x5b6570ff;
    cutis_image sheet = { 0 };
    TRY(cutis_image_create(context, l.width, l.height, dark ? 0x16181cff : 0xfafbfcff, &sheet));
    for (uint32_t i = 0; i < tile_count; i++)
        cutis_image_paste(
            &sheet, tiles[i].image, (int32_t)(MARGIN + (i % l.columns) * (l.tile_width + GAP)),
            (int32_t)(MARGIN + l.head + (i / l.columns) * (l.tile_height + l.caption + GAP)));
    cutis_canvas canvas;
    cutis_result result = cutis_canvas_open(context, &sheet, &canvas);
    if (result == CUTIS_OK) {
        if (title) cutis_canvas_text(canvas.cairo, MARGIN, MARGIN + 24, 22, ink, 0, true, title);
        draw_captions(canvas.cairo, &l, tiles, tile_count, ink, soft);
        if (with_legend) {
            double width = l.width - 2.0 * MARGIN < 420 ? l.width - 2.0 * MARGIN : 420;
            draw_legend(canvas.cairo, legend, MARGIN, l.height - LEGEND_ROW + 10, width, ink);
        }
        result = cutis_canvas_close(context, &sheet, &canvas);
    }
    if (result != CUTIS_OK)
        cutis_image_destroy(context, &sheet);
    else
        *out = sheet;
    return result;
}
