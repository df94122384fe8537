/// Pictures in memory: create, paste, compare, text (cairo), PNG in and out (libpng).
///
/// libpng reports errors by longjmp; everything that must survive one lives in a struct outside the
/// jumping function.
#include "base/error.h"
#include "base/memory.h"
#include "base/os/os.h"
#include "render/cairo_image.h"

#include <cutis/render.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

static cutis_result check_size(cutis_context *context, uint64_t width, uint64_t height)
{
    if (width >= 1 && height >= 1 && width <= CUTIS_IMAGE_SIDE_MAX &&
        height <= CUTIS_IMAGE_SIDE_MAX)
        return CUTIS_OK;
    return INVALID(context, "a picture of %llux%llu: each side must be 1 to %d pixels",
                   (unsigned long long)width, (unsigned long long)height, CUTIS_IMAGE_SIDE_MAX);
}

cutis_result cutis_image_create(cutis_context *context, uint32_t width, uint32_t height,
                                uint32_t color, cutis_image *out)
{
    if (!context || !out) return CUTIS_INVALID_ARGUMENT;
    TRY(check_size(context, width, height));
    cutis_image image = { width, height, cutis_alloc_array(context, (size_t)width * height, 4) };
    if (!image.pixels) return cutis_alloc_result(context);
    uint8_t bytes[4] = { color >> 24, color >> 16 & 255, color >> 8 & 255, color & 255 };
    for (size_t i = 0; i < (size_t)width * height; i++) memcpy(image.pixels + 4 * i, bytes, 4);
    *out = image;
    return CUTIS_OK;
}

void cutis_image_destroy(cutis_context *context, cutis_image *image)
{
    if (!image) return;
    cutis_free_array(context, image->pixels, (size_t)image->width * image->height, 4);
    *image = (cutis_image){ 0 };
}

void cutis_image_paste(cutis_image *target, const cutis_image *source, int32_t x, int32_t y)
{
    if (!target || !source) return;
    int64_t x0 = x < 0 ? -(int64_t)x : 0, x1 = (int64_t)target->width - x;
    if (x1 > source->width) x1 = source->width;
    for (int64_t row = 0; row < source->height; row++) {
        int64_t to = row + y;
        if (to < 0 || to >= target->height || x1 <= x0) continue;
        memcpy(target->pixels + 4 * (to * target->width + x + x0),
               source->pixels + 4 * (row * source->width + x0), (size_t)(4 * (x1 - x0)));
    }
}

cutis_result cutis_image_compare(const cutis_image *a, const cutis_image *b,
                                 cutis_image_difference *out)
{
    if (!a || !b || !out) return CUTIS_INVALID_ARGUMENT;
    if (a->width != b->width || a->height != b->height) return CUTIS_INVALID_ARGUMENT;
    size_t count = (size_t)a->width * a->height;
    uint64_t sum = 0, far = 0;
    for (size_t i = 0; i < count; i++) {
        int worst = 0;
        for (int c = 0; c < 4; c++) {
            int d = a->pixels[4 * i + c] - b->pixels[4 * i + c];
            if (d < 0) d = -d;
            sum += (uint64_t)d;
            if (d > worst) worst = d;
        }
        far += worst > 16;
    }
    *out = (cutis_image_difference){ (double)sum / (4.0 * (double)count),
                                     (double)far / (double)count };
    return CUTIS_OK;
}

// Text ------------------------------------------------------------------------------------------

cutis_result cutis_image_text(cutis_context *context, cutis_image *image, double x, double y,
                              double size, uint32_t color, int anchor, const char *text)
{
    if (!context || !image || !text) return CUTIS_INVALID_ARGUMENT;
    cutis_canvas canvas;
    TRY(cutis_canvas_open(context, image, &canvas));
    cutis_canvas_text(canvas.cairo, x, y, size, color, anchor, false, text);
    return cutis_canvas_close(context, image, &canvas);
}

// PNG -------------------------------------------------------------------------------------------

bool cutis_sink_append(cutis_sink *sink, const void *data, size_t size)
{
    if (!cutis_grow(sink->context, &sink->data, &sink->capacity, sink->size + size, 1))
        return false;
    memcpy(sink->data + sink->size, data, size);
    sink->size += size;
    return true;
}

bool cutis_sink_take(cutis_sink *sink, bool good, void **data, size_t *size)
{
    char *exact = good ? cutis_alloc(sink->context, sink->size + 1) : NULL;
    if (exact) {
        memcpy(exact, sink->data, sink->size);
        exact[sink->size] = 0;
        *data = exact;
        *size = sink->size;
    }
    cutis_free(sink->context, sink->data, sink->capacity);
    return exact;
}

cutis_result cutis_sink_write(cutis_context *context, const char *path, void *data, size_t size)
{
    cutis_os_write *file = NULL;
    cutis_result result = cutis_os_write_begin(context, path, &file);
    if (result == CUTIS_OK) result = cutis_os_write_append(file, data, size);
    if (result == CUTIS_OK)
        result = cutis_os_write_commit(file);
    else
        cutis_os_write_abort(file);
    cutis_memory_free(context, data, size);
    return result;
}

static void sink_write(png_structp png, png_bytep data, png_size_t size)
{
    if (!cutis_sink_append(png_get_io_ptr(png), data, size)) png_error(png, "no memory");
}

static void sink_flush(png_structp png)
{
    (void)png;
}

static void quiet_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void jump_out(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

static bool encode_rows(png_structp png, png_infop info, const cutis_image *image, cutis_sink *sink)
{
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_write_fn(png, sink, sink_write, sink_flush);
    png_set_IHDR(png, info, image->width, image->height, 8, PNG_COLOR_TYPE_RGB_ALPHA,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(png, 6);
    png_write_info(png, info);
    for (uint32_t row = 0; row < image->height; row++)
        png_write_row(png, image->pixels + 4 * (size_t)row * image->width);
    png_write_end(png, NULL);
    return true;
}

cutis_result cutis_image_encode_png(cutis_context *context, const cutis_image *image, void **data,
                                    size_t *size)
{
    if (!context || !image || !image->pixels || !data || !size) return CUTIS_INVALID_ARGUMENT;
    cutis_sink sink = { .context = context };
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, jump_out, quiet_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool good = info && encode_rows(png, info, image, &sink);
    png_destroy_write_struct(png ? &png : NULL, info ? &info : NULL);
    if (cutis_sink_take(&sink, good, data, size)) return CUTIS_OK;
    return cutis_fail(context, CUTIS_OUT_OF_MEMORY, "no memory for a PNG");
}

cutis_result cutis_image_write_png(cutis_context *context, const cutis_image *image,
                                   const char *path)
{
    if (!context || !image || !path) return CUTIS_INVALID_ARGUMENT;
    void *data = NULL;
    size_t size = 0;
    TRY(cutis_image_encode_png(context, image, &data, &size));
    return cutis_sink_write(context, path, data, size);
}

typedef struct png_source {
    const unsigned char *data;
    size_t size, used;
} png_source;

static void source_read(png_structp png, png_bytep out, png_size_t size)
{
    png_source *source = png_get_io_ptr(png);
    if (size > source->size - source->used) png_error(png, "the file ends too early");
    memcpy(out, source->data + source->used, size);
    source->used += size;
}

static bool decode_header(png_structp png, png_infop info, png_source *source)
{
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_user_limits(png, CUTIS_IMAGE_SIDE_MAX, CUTIS_IMAGE_SIDE_MAX);
    png_set_read_fn(png, source, source_read);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return png_get_rowbytes(png, info) == 4 * (size_t)png_get_image_width(png, info);
}

static bool decode_rows(png_structp png, png_infop info, cutis_image *image)
{
    if (setjmp(png_jmpbuf(png))) return false;
    int passes = png_get_interlace_type(png, info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t row = 0; row < image->height; row++)
            png_read_row(png, image->pixels + 4 * (size_t)row * image->width, NULL);
    png_read_end(png, NULL);
    return true;
}

cutis_result cutis_image_read_png(cutis_context *context, const char *path, cutis_image *out)
{
    void *data = NULL;
    size_t size = 0;
    TRY(cutis_os_read_file(context, path, &data, &size));
    png_source source = { data, size, 0 };
    cutis_image image = { 0 };
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, jump_out, quiet_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    cutis_result result =
        cutis_fail(context, CUTIS_CORRUPT_DATA, "%s: not a PNG that can be read", path);
    if (info && decode_header(png, info, &source))
        result = cutis_image_create(context, png_get_image_width(png, info),
                                    png_get_image_height(png, info), 0, &image);
    if (result == CUTIS_OK && !decode_rows(png, info, &image))
        result = cutis_fail(context, CUTIS_CORRUPT_DATA, "%s: damaged PNG data", path);
    png_destroy_read_struct(png ? &png : NULL, info ? &info : NULL, NULL);
    cutis_free(context, data, size + 1);
    if (result != CUTIS_OK)
        cutis_image_destroy(context, &image);
    else
        *out = image;
    return result;
}
