/// Drawing with cairo into our pictures, and the text style that pictures, sheets and plots share.
#ifndef CUTIS_RENDER_CAIRO_IMAGE_H
#define CUTIS_RENDER_CAIRO_IMAGE_H

#include <cairo.h>
#include <cutis/render.h>

/// A cairo surface holding a copy of an image while it is drawn on.
typedef struct cutis_canvas {
    cairo_surface_t *surface;
    cairo_t *cairo;
} cutis_canvas;

cutis_result cutis_canvas_open(cutis_context *context, const cutis_image *image, cutis_canvas *out);
/// Copy the drawing back into the image and let the surface go, also when it fails.
cutis_result cutis_canvas_close(cutis_context *context, cutis_image *image, cutis_canvas *canvas);

/// `anchor` 0 left, 1 centre, 2 right; `y` is the baseline; colour 0xRRGGBBAA.
void cutis_canvas_text(cairo_t *cairo, double x, double y, double size, uint32_t color, int anchor,
                       bool bold, const char *text);
double cutis_canvas_text_width(cairo_t *cairo, double size, bool bold, const char *text);
void cutis_canvas_color(cairo_t *cairo, uint32_t color);

#endif
