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

/// Bytes of a file that a library hands over piece by piece (image.c).
typedef struct cutis_sink {
    cutis_context *context;
    char *data;
    size_t size, capacity;
} cutis_sink;

bool cutis_sink_append(cutis_sink *sink, const void *data, size_t size);
/// The bytes alone, with a zero after them, for the caller; false: not `good`, or out of memory.
/// The sink is gone afterwards.
bool cutis_sink_take(cutis_sink *sink, bool good, void **data, size_t *size);
/// Write such bytes to a file, and release them.
cutis_result cutis_sink_write(cutis_context *context, const char *path, void *data, size_t size);

#endif
