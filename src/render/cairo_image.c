/// Cairo wants native-endian premultiplied ARGB; our pictures are plain RGBA bytes. The conversion
/// happens here and only here, in whole numbers, so an opaque picture that is opened and closed
/// keeps its bytes.
#include "render/cairo_image.h"
#include "base/error.h"

#include <string.h>

static void to_cairo(const cutis_image *image, cairo_surface_t *surface)
{
    unsigned char *data = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *from = image->pixels + 4 * (size_t)y * image->width;
        for (uint32_t x = 0; x < image->width; x++, from += 4) {
            uint32_t a = from[3], pixel = a << 24;
            for (int c = 0; c < 3; c++) pixel |= ((from[c] * a + 127) / 255) << (16 - 8 * c);
            memcpy(data + (size_t)y * stride + 4 * (size_t)x, &pixel, 4);
        }
    }
}

static void from_cairo(cairo_surface_t *surface, cutis_image *image)
{
    const unsigned char *data = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    for (uint32_t y = 0; y < image->height; y++) {
        uint8_t *to = image->pixels + 4 * (size_t)y * image->width;
        for (uint32_t x = 0; x < image->width; x++, to += 4) {
            uint32_t pixel;
            memcpy(&pixel, data + (size_t)y * stride + 4 * (size_t)x, 4);
            uint32_t a = pixel >> 24;
            for (int c = 0; c < 3; c++) {
                uint32_t v = pixel >> (16 - 8 * c) & 255;
                to[c] = (uint8_t)(a ? (v * 255 + a / 2) / a : 0);
            }
            to[3] = (uint8_t)a;
        }
    }
}

cutis_result cutis_canvas_open(cutis_context *context, const cutis_image *image, cutis_canvas *out)
{
    out->surface =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)image->width, (int)image->height);
    out->cairo = cairo_create(out->surface);
    if (cairo_status(out->cairo) != CAIRO_STATUS_SUCCESS) {
        cairo_destroy(out->cairo);
        cairo_surface_destroy(out->surface);
        return cutis_fail(context, CUTIS_OUT_OF_MEMORY, "no memory to draw in a picture");
    }
    cairo_surface_flush(out->surface);
    to_cairo(image, out->surface);
    cairo_surface_mark_dirty(out->surface);
    return CUTIS_OK;
}

cutis_result cutis_canvas_close(cutis_context *context, cutis_image *image, cutis_canvas *canvas)
{
    cairo_status_t status = cairo_status(canvas->cairo);
    cairo_surface_flush(canvas->surface);
    if (status == CAIRO_STATUS_SUCCESS) from_cairo(canvas->surface, image);
    cairo_destroy(canvas->cairo);
    cairo_surface_destroy(canvas->surface);
    if (status == CAIRO_STATUS_SUCCESS) return CUTIS_OK;
    return cutis_fail(context, CUTIS_INTERNAL, "drawing failed: %s",
                      cairo_status_to_string(status));
}

void cutis_canvas_color(cairo_t *cairo, uint32_t color)
{
    cairo_set_source_rgba(cairo, (color >> 24) / 255.0, (color >> 16 & 255) / 255.0,
                          (color >> 8 & 255) / 255.0, (color & 255) / 255.0);
}

static void choose_font(cairo_t *cairo, double size, bool bold)
{
    cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, size);
}

double cutis_canvas_text_width(cairo_t *cairo, double size, bool bold, const char *text)
{
    cairo_text_extents_t extents;
    choose_font(cairo, size, bold);
    cairo_text_extents(cairo, text, &extents);
    return extents.x_advance;
}

void cutis_canvas_text(cairo_t *cairo, double x, double y, double size, uint32_t color, int anchor,
                       bool bold, const char *text)
{
    double width = cutis_canvas_text_width(cairo, size, bold, text);
    cutis_canvas_color(cairo, color);
    cairo_move_to(cairo, x - (anchor == 1 ? width / 2 : anchor == 2 ? width : 0), y);
    cairo_show_text(cairo, text);
}
