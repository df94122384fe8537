/// Pictures where there is no renderer (WebAssembly, Windows): every function that would make one
/// refuses, and says so.
#include <cutis/render.h>

#include "base/error.h"

static cutis_result refuse(cutis_context *context)
{
    return cutis_fail(context, CUTIS_UNSUPPORTED, "this build of Cutis makes no pictures");
}

cutis_result cutis_renderer_create(cutis_context *context, cutis_renderer **out)
{
    *out = NULL;
    return refuse(context);
}

void cutis_renderer_destroy(cutis_renderer *renderer)
{
    (void)renderer; // there never was one
}

const char *cutis_renderer_name(const cutis_renderer *renderer)
{
    (void)renderer;
    return "none";
}

// Never reached: there is no renderer to call it with.
cutis_result cutis_renderer_draw(cutis_renderer *renderer, const cutis_scene *scene, uint32_t width,
                                 uint32_t height, cutis_image *out)
{
    (void)renderer, (void)scene, (void)width, (void)height;
    *out = (cutis_image){ 0 };
    return CUTIS_UNSUPPORTED;
}

void cutis_image_destroy(cutis_context *context, cutis_image *image)
{
    (void)context;
    *image = (cutis_image){ 0 };
}

cutis_result cutis_image_write_png(cutis_context *context, const cutis_image *image,
                                   const char *path)
{
    (void)image, (void)path;
    return refuse(context);
}

cutis_result cutis_image_encode_png(cutis_context *context, const cutis_image *image, void **data,
                                    size_t *size)
{
    (void)image, (void)data, (void)size;
    return refuse(context);
}

cutis_result cutis_sheet_create(cutis_context *context, const cutis_tile *tiles,
                                uint32_t tile_count, uint32_t columns, const char *title,
                                const cutis_legend *legend, bool dark, cutis_image *out)
{
    (void)tiles, (void)tile_count, (void)columns, (void)title, (void)legend, (void)dark;
    *out = (cutis_image){ 0 };
    return refuse(context);
}

cutis_result cutis_plot_write(cutis_context *context, const cutis_plot *plot, const char *path)
{
    (void)plot, (void)path;
    return refuse(context);
}

cutis_result cutis_plot_svg(cutis_context *context, const cutis_plot *plot, void **data,
                            size_t *size)
{
    (void)plot, (void)data, (void)size;
    return refuse(context);
}

// A live body: never made, so that the others are never reached.

cutis_result cutis_live_create(cutis_renderer *renderer, cutis_device *device,
                               uint32_t vertex_count, uint64_t triangle_count,
                               const uint32_t *indices, uint32_t width, uint32_t height,
                               cutis_live **out)
{
    (void)renderer, (void)device, (void)vertex_count, (void)triangle_count, (void)indices;
    (void)width, (void)height;
    *out = NULL;
    return CUTIS_UNSUPPORTED;
}

void cutis_live_destroy(cutis_live *live)
{
    (void)live;
}

cutis_result cutis_live_deform(cutis_live *live, const cutis_binding *binding,
                               const cutis_poses *poses)
{
    (void)live, (void)binding, (void)poses;
    return CUTIS_UNSUPPORTED;
}

uint32_t cutis_live_ahead(const cutis_live *live)
{
    (void)live;
    return 1;
}

cutis_result cutis_live_draw(cutis_live *live, const cutis_camera *camera, bool finish)
{
    (void)live, (void)camera, (void)finish;
    return CUTIS_UNSUPPORTED;
}

cutis_result cutis_live_read(cutis_live *live, cutis_image *out)
{
    (void)live;
    *out = (cutis_image){ 0 };
    return CUTIS_UNSUPPORTED;
}

const char *cutis_live_path(const cutis_live *live)
{
    (void)live;
    return "none";
}
