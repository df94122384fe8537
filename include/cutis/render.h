/// Pictures and plots, offscreen: surfaces lit and shadowed, colour maps with legends, contact
/// sheets, plots. Library cutis-render.
///
/// Works without display or GPU (EGL and OpenGL ES 3 on Mesa's software renderer) and on a GPU by
/// the same code.
///
/// Threads: a renderer and its live bodies belong to the thread that made them; every thread may
/// have its own. Images, sheets and plots may be made by several at once, each its own. Live
/// drawing is experimental.
#ifndef CUTIS_RENDER_H
#define CUTIS_RENDER_H

#include <cutis/deform.h>
#include <cutis/measure.h>
#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// Images ----------------------------------------------------------------------------------------

/// 8 bits each of red, green, blue, alpha (sRGB, not premultiplied), top row first, owned by the
/// image.
typedef struct cutis_image {
    uint32_t width, height;
    uint8_t *pixels;
} cutis_image;

#define CUTIS_IMAGE_SIDE_MAX 16384 ///< pixels; larger is refused before anything is allocated

/// A picture filled with one colour (0xRRGGBBAA).
CUTIS_API cutis_result cutis_image_create(cutis_context *context, uint32_t width, uint32_t height,
                                          uint32_t color, cutis_image *out);
CUTIS_API void cutis_image_destroy(cutis_context *context, cutis_image *image);
/// Atomic. The same picture gives the same bytes.
CUTIS_API cutis_result cutis_image_write_png(cutis_context *context, const cutis_image *image,
                                             const char *path);
CUTIS_API cutis_result cutis_image_read_png(cutis_context *context, const char *path,
                                            cutis_image *out);
/// PNG bytes in memory (for reports); release with cutis_memory_free.
CUTIS_API cutis_result cutis_image_encode_png(cutis_context *context, const cutis_image *image,
                                              void **data, size_t *size);
/// Copy `source` into `target` with its top left corner at (x, y); what does not fit is cut off.
CUTIS_API void cutis_image_paste(cutis_image *target, const cutis_image *source, int32_t x,
                                 int32_t y);

typedef struct cutis_image_difference {
    double mean;      ///< mean absolute difference over all channels, 0..255
    double far_share; ///< share of pixels with a channel off by more than 16
} cutis_image_difference;

/// @return CUTIS_INVALID_ARGUMENT if the sizes differ
CUTIS_API cutis_result cutis_image_compare(const cutis_image *a, const cutis_image *b,
                                           cutis_image_difference *out);

/// Text in a picture (sans serif, kerned). `anchor` 0 left, 1 centre, 2 right; `y` is the baseline.
CUTIS_API cutis_result cutis_image_text(cutis_context *context, cutis_image *image, double x,
                                        double y, double size, uint32_t color, int anchor,
                                        const char *text);

// Colour maps -----------------------------------------------------------------------------------

/// Perceptually uniform: lightness runs evenly in OKLab.
typedef enum cutis_colormap {
    CUTIS_COLORMAP_HEAT = 0,      ///< dark violet to pale yellow: errors, 0 is dark
    CUTIS_COLORMAP_WEIGHT = 1,    ///< pale grey to deep blue: weights
    CUTIS_COLORMAP_DIVERGING = 2, ///< blue, near white, red: signed values
} cutis_colormap;

/// @param value 0..1, clamped; NaN gives mid grey; @param rgb linear light
CUTIS_API void cutis_colormap_linear(cutis_colormap map, double value, float rgb[3]);
/// The same as sRGB bytes, 0xRRGGBBff.
CUTIS_API uint32_t cutis_colormap_srgb(cutis_colormap map, double value);
/// `index`-th of a set of clearly different colours (parts, plot lines), sRGB 0xRRGGBBff.
CUTIS_API uint32_t cutis_color_category(uint32_t index);

// Scenes ----------------------------------------------------------------------------------------

/// A surface to draw; all arrays borrowed. Colour comes from the first of: values, colors, color.
typedef struct cutis_scene_surface {
    cutis_surface surface;
    const float *normals; ///< 3 per vertex, or NULL: computed
    const float *values;  ///< one per vertex, mapped from [low, high]; or NULL
    double low, high;
    cutis_colormap map;
    const float *colors; ///< 4 per vertex, linear; or NULL
    float color[4];      ///< linear; all zero: a pleasant clay
    float roughness;     ///< 0: 0.6
    bool wire;           ///< edges on top
} cutis_scene_surface;

/// Lines on top of everything (bones, axes), and dots at both ends; width in pixels of a
/// 720-pixel-high picture.
typedef struct cutis_scene_line {
    cutis_float3 from, to;
    float width;
    float dot;      ///< radius of the end dots, 0: none
    uint32_t color; ///< sRGB 0xRRGGBBaa
} cutis_scene_line;

/// Where one looks from: turned by `yaw` degrees to the right of the front (+z), lifted by `pitch`,
/// `distance` in radii of the framed sphere (0: fitted to the picture).
typedef struct cutis_camera {
    double yaw, pitch, distance;
    double field_of_view; ///< degrees, vertical; 0: 28
    cutis_bounds frame;   ///< what must be in the picture; empty or zero: the surfaces of the scene
} cutis_camera;

typedef struct cutis_scene {
    uint32_t surface_count, line_count;
    const cutis_scene_surface *surfaces;
    const cutis_scene_line *lines;
    cutis_camera camera;
    bool no_ground;    ///< no floor and shadow
    float ground;      ///< height of the floor, with `ground_fixed`
    bool ground_fixed; ///< false: the floor is at the lowest point
    bool dark;         ///< dark background
} cutis_scene;

typedef struct cutis_renderer cutis_renderer;

/// @return CUTIS_DEVICE_UNAVAILABLE (the error names the package that is missing)
CUTIS_API cutis_result cutis_renderer_create(cutis_context *context, cutis_renderer **out);
CUTIS_API void cutis_renderer_destroy(cutis_renderer *renderer); ///< NULL is fine
/// "llvmpipe (LLVM 15.0.6, 512 bits)"; owned by the renderer.
CUTIS_API const char *cutis_renderer_name(const cutis_renderer *renderer);

/// Draw a scene. A renderer belongs to the thread that made it.
CUTIS_API cutis_result cutis_renderer_draw(cutis_renderer *renderer, const cutis_scene *scene,
                                           uint32_t width, uint32_t height, cutis_image *out);

// Live drawing ----------------------------------------------------------------------------------

/// A body drawn every frame from vertices that a device writes: 24-byte records, position then
/// normal. On CUDA the device writes straight into the renderer's buffer (nothing leaves the GPU);
/// on the CPU into mapped memory; on OpenCL the records are copied.
typedef struct cutis_live cutis_live;

/// @param device the binding's device; must outlive the live body
/// @param indices 3 * triangle_count, all < vertex_count; copied
/// @return CUTIS_UNSUPPORTED if the device and the renderer cannot share (the error says what to
/// use)
CUTIS_API cutis_result cutis_live_create(cutis_renderer *renderer, cutis_device *device,
                                         uint32_t vertex_count, uint64_t triangle_count,
                                         const uint32_t *indices, uint32_t width, uint32_t height,
                                         cutis_live **out);
CUTIS_API void cutis_live_destroy(cutis_live *live); ///< NULL is fine
/// Deform one pose into the body's records. The binding needs normals.
CUTIS_API cutis_result cutis_live_deform(cutis_live *live, const cutis_binding *binding,
                                         const cutis_poses *poses);
/// Deforms that may be ahead of drawing: 1, or more where changing between deforming and drawing is
/// dear to a GPU: deform that many frames, then draw them, and they share the change.
CUTIS_API uint32_t cutis_live_ahead(const cutis_live *live);
/// Draw the oldest frame that was deformed and not drawn (or the last one again), seen by `camera`
/// (whose frame must be given); waits until it is drawn when `finish`.
CUTIS_API cutis_result cutis_live_draw(cutis_live *live, const cutis_camera *camera, bool finish);
CUTIS_API cutis_result cutis_live_read(cutis_live *live, cutis_image *out);
/// How the vertices reach the renderer: "in CUDA's memory", "handed to CUDA and back", "mapped",
/// "copied". Static memory.
CUTIS_API const char *cutis_live_path(const cutis_live *live);

// Sheets ----------------------------------------------------------------------------------------

/// One tile of a contact sheet.
typedef struct cutis_tile {
    const cutis_image *image;
    const char *title;    ///< below the picture, or NULL
    const char *subtitle; ///< smaller, below the title, or NULL
} cutis_tile;

/// A legend for a colour map: its name, ends and unit.
typedef struct cutis_legend {
    cutis_colormap map;
    double low, high;
    const char *title; ///< "normal deviation, degrees"; NULL: no legend
} cutis_legend;

/// Tiles in rows of `columns` (0: chosen), with titles and, if asked, one legend for all.
CUTIS_API cutis_result cutis_sheet_create(cutis_context *context, const cutis_tile *tiles,
                                          uint32_t tile_count, uint32_t columns, const char *title,
                                          const cutis_legend *legend, bool dark, cutis_image *out);

// Plots -----------------------------------------------------------------------------------------

typedef enum cutis_plot_kind {
    CUTIS_PLOT_LINES = 0,
    CUTIS_PLOT_BARS = 1,    ///< one group per x, one bar per series; x_labels name the groups
    CUTIS_PLOT_HEATMAP = 2, ///< series are rows, x columns
} cutis_plot_kind;

typedef struct cutis_series {
    const char *name;
    uint32_t count;
    const double *x; ///< lines only; NULL: 0, 1, 2, ...
    const double *y; ///< NaN leaves a gap
} cutis_series;

typedef struct cutis_plot {
    cutis_plot_kind kind;
    const char *title, *x_title, *y_title; ///< or NULL
    uint32_t series_count;
    const cutis_series *series;
    const char *const *x_labels; ///< bars: one per group, or NULL
    bool logarithmic;            ///< y axis; values <= 0 are left out
    bool from_zero;              ///< y axis starts at 0
    cutis_colormap map;          ///< heat map
    uint32_t width, height;      ///< 0: 960 x 540
} cutis_plot;

/// Written as `.svg` or `.png`, by the name.
CUTIS_API cutis_result cutis_plot_write(cutis_context *context, const cutis_plot *plot,
                                        const char *path);
/// SVG text in memory (for reports), zero-terminated, `size` without the zero; release with
/// cutis_memory_free.
CUTIS_API cutis_result cutis_plot_svg(cutis_context *context, const cutis_plot *plot, void **data,
                                      size_t *size);

#ifdef __cplusplus
}
#endif
#endif
