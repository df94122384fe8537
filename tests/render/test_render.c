/// Colour maps, pictures, sheets, plots, and scenes whose pixels can be told beforehand.
#include "support.h"
#include "render/renderer.h"
#include "render/ticks.h"

#include <cutis/render.h>
#include <unistd.h>

typedef struct fixture {
    cutis_context *context;
    cutis_renderer *renderer; ///< NULL without EGL
} fixture;

static int setup(void **state)
{
    static fixture f;
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    if (cutis_context_create(NULL, &f.context) != CUTIS_OK) return -1;
    if (cutis_renderer_create(f.context, &f.renderer) != CUTIS_OK) f.renderer = NULL;
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cutis_renderer_destroy(f->renderer);
    uint64_t left = cutis_context_memory(f->context);
    cutis_context_destroy(f->context);
    return left == 0 ? 0 : -1;
}

static cutis_renderer *renderer_of(void **state)
{
    fixture *f = *state;
    if (!f->renderer) {
        print_message("skip: %s\n", cutis_context_error(f->context));
        skip();
    }
    return f->renderer;
}

// Colour maps
// --------------------------------------------------------------------------------------

/// OKLab lightness from linear sRGB, written from the published forward matrices (ours go the other
/// way).
static double lightness(const float rgb[3])
{
    double l = 0.4122214708 * rgb[0] + 0.5363325363 * rgb[1] + 0.0514459929 * rgb[2];
    double m = 0.2119034982 * rgb[0] + 0.6806995451 * rgb[1] + 0.1073969566 * rgb[2];
    double s = 0.0883024619 * rgb[0] + 0.2817188376 * rgb[1] + 0.6299787005 * rgb[2];
    return 0.2104542553 * cbrt(l) + 0.7936177850 * cbrt(m) - 0.0040720468 * cbrt(s);
}

static void lightness_runs_evenly_along_the_sequential_maps(void **state)
{
    (void)state;
    for (int map = CUTIS_COLORMAP_HEAT; map <= CUTIS_COLORMAP_WEIGHT; map++) {
        float first[3], last[3], rgb[3];
        cutis_colormap_linear((cutis_colormap)map, 0, first);
        cutis_colormap_linear((cutis_colormap)map, 1, last);
        double low = lightness(first), high = lightness(last);
        assert_true(fabs(high - low) > 0.5);
        for (int i = 0; i <= 100; i++) {
            cutis_colormap_linear((cutis_colormap)map, i / 100.0, rgb);
            assert_near(lightness(rgb), low + (high - low) * i / 100.0, 0.012);
        }
    }
}

static void the_diverging_map_is_lightest_in_the_middle_and_even_on_both_sides(void **state)
{
    (void)state;
    float middle[3], left[3], right[3];
    cutis_colormap_linear(CUTIS_COLORMAP_DIVERGING, 0.5, middle);
    for (int i = 1; i <= 50; i++) {
        cutis_colormap_linear(CUTIS_COLORMAP_DIVERGING, 0.5 - i / 100.0, left);
        cutis_colormap_linear(CUTIS_COLORMAP_DIVERGING, 0.5 + i / 100.0, right);
        assert_near(lightness(left), lightness(right), 0.012);
        assert_true(lightness(left) < lightness(middle));
    }
    assert_true(left[2] > left[0] && right[0] > right[2]); // blue below, red above
}

static void values_outside_are_clamped_and_nan_is_grey(void **state)
{
    (void)state;
    assert_int_equal(cutis_colormap_srgb(CUTIS_COLORMAP_HEAT, -3),
                     cutis_colormap_srgb(CUTIS_COLORMAP_HEAT, 0));
    assert_int_equal(cutis_colormap_srgb(CUTIS_COLORMAP_HEAT, 7),
                     cutis_colormap_srgb(CUTIS_COLORMAP_HEAT, 1));
    uint32_t grey = cutis_colormap_srgb(CUTIS_COLORMAP_HEAT, NAN);
    assert_int_equal(grey >> 24, grey >> 16 & 255);
}

// Pictures
// -----------------------------------------------------------------------------------------

static void a_png_comes_back_with_the_same_bytes(void **state)
{
    fixture *f = *state;
    cutis_image image, again;
    cutis_image_difference difference;
    assert_ok(f->context, cutis_image_create(f->context, 37, 21, 0x102030ff, &image));
    for (size_t i = 0; i < 4 * 37 * 21; i++)
        image.pixels[i] = (uint8_t)(cutis_random_bits(3, 0, i) & 255);
    char path[] = "/tmp/cutis-test-XXXXXX";
    close(mkstemp(path));
    assert_ok(f->context, cutis_image_write_png(f->context, &image, path));
    assert_ok(f->context, cutis_image_read_png(f->context, path, &again));
    unlink(path);
    assert_int_equal(again.width, 37);
    assert_memory_equal(image.pixels, again.pixels, 4 * 37 * 21);
    assert_int_equal(cutis_image_compare(&image, &again, &difference), CUTIS_OK);
    assert_true(difference.mean == 0 && difference.far_share == 0);
    again.pixels[0] ^= 0x40; // 64 off in one channel of one pixel
    cutis_image_compare(&image, &again, &difference);
    assert_near(difference.mean, 64.0 / (4 * 37 * 21), 1e-12);
    assert_near(difference.far_share, 1.0 / (37 * 21), 1e-12);
    cutis_image_destroy(f->context, &image);
    cutis_image_destroy(f->context, &again);
}

static void a_huge_picture_is_refused_before_anything_is_allocated(void **state)
{
    fixture *f = *state;
    cutis_image image;
    uint64_t before = cutis_context_memory(f->context);
    assert_int_equal(cutis_image_create(f->context, 100000, 100000, 0, &image),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_context_memory(f->context), before);
    assert_non_null(strstr(cutis_context_error(f->context), "100000x100000"));
}

static void damaged_pngs_are_refused(void **state)
{
    fixture *f = *state;
    cutis_image image;
    void *data;
    size_t size;
    assert_ok(f->context, cutis_image_create(f->context, 16, 16, 0xff8800ff, &image));
    assert_ok(f->context, cutis_image_encode_png(f->context, &image, &data, &size));
    cutis_image_destroy(f->context, &image);
    char path[] = "/tmp/cutis-test-XXXXXX";
    close(mkstemp(path));
    for (size_t cut = 0; cut + 13 < size;
         cut += 7) { // IEND may be missing: libpng then has all pixels
        assert_ok(f->context, cutis_file_write(f->context, path, data, cut));
        cutis_result result = cutis_image_read_png(f->context, path, &image);
        assert_int_equal(result, CUTIS_CORRUPT_DATA);
    }
    unlink(path);
    cutis_memory_free(f->context, data, size);
}

static void pasting_cuts_off_what_does_not_fit(void **state)
{
    fixture *f = *state;
    cutis_image target, source;
    assert_ok(f->context, cutis_image_create(f->context, 8, 8, 0x000000ff, &target));
    assert_ok(f->context, cutis_image_create(f->context, 4, 4, 0xffffffff, &source));
    cutis_image_paste(&target, &source, -2, -2);
    cutis_image_paste(&target, &source, 6, 7);
    cutis_image_paste(&target, &source, 100, 0);
    int white = 0;
    for (int i = 0; i < 64; i++) white += target.pixels[4 * i] == 255;
    assert_int_equal(white, 2 * 2 + 2 * 1);
    cutis_image_destroy(f->context, &target);
    cutis_image_destroy(f->context, &source);
}

// Scenes
// -------------------------------------------------------------------------------------------

static const float QUAD[] = { -1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0 };
static const uint32_t QUAD_INDICES[] = { 0, 1, 2, 0, 2, 3 };

static cutis_image draw_quad(fixture *f, const cutis_scene_surface *surface, cutis_camera camera)
{
    cutis_image image;
    cutis_scene scene = {
        .surface_count = 1, .surfaces = surface, .camera = camera, .no_ground = true
    };
    assert_ok(f->context, cutis_renderer_draw(f->renderer, &scene, 200, 200, &image));
    return image;
}

static void painted_values_have_the_hue_of_the_map(void **state)
{
    fixture *f = *state;
    renderer_of(state);
    for (int step = 0; step <= 4; step++) {
        float values[4];
        for (int i = 0; i < 4; i++) values[i] = (float)(10 + 5 * step);
        cutis_scene_surface quad = {
            .surface = { 4, 2, QUAD, QUAD_INDICES }, .values = values, .low = 10, .high = 30
        };
        cutis_image image = draw_quad(f, &quad, (cutis_camera){ 0 });
        const uint8_t *p = image.pixels + 4 * (100 * 200 + 100);
        float expected[3];
        cutis_colormap_linear(CUTIS_COLORMAP_HEAT, step / 4.0, expected);
        // Light changes brightness, not hue: the ratio of channels in linear light stays.
        double got[3];
        for (int c = 0; c < 3; c++) got[c] = pow((p[c] / 255.0 + 0.055) / 1.055, 2.4);
        int top = expected[0] > expected[2] ? 0 : 2;
        for (int c = 0; c < 3; c++)
            assert_near(got[c] / got[top], expected[c] / expected[top], 0.12);
        cutis_image_destroy(f->context, &image);
    }
}

static void the_automatic_camera_keeps_the_whole_body_in_the_picture(void **state)
{
    fixture *f = *state;
    renderer_of(state);
    for (double yaw = 0; yaw < 180; yaw += 30) {
        cutis_scene_surface quad = { .surface = { 4, 2, QUAD, QUAD_INDICES },
                                     .color = { 1, 0, 0, 1 } };
        cutis_image image = draw_quad(f, &quad, (cutis_camera){ .yaw = yaw, .pitch = 20 });
        int red = 0, border = 0;
        for (int i = 0; i < 200 * 200; i++) {
            bool is_red = image.pixels[4 * i] > 2 * image.pixels[4 * i + 1] + 8;
            red += is_red;
            border += is_red && (i % 200 < 2 || i % 200 > 197 || i / 200 < 2 || i / 200 > 197);
        }
        assert_int_equal(border, 0);
        if (yaw != 90) assert_true(red > 1500); // and large
        cutis_image_destroy(f->context, &image);
    }
}

static void projection_agrees_with_the_pixels(void **state)
{
    fixture *f = *state;
    renderer_of(state);
    // A small quad at a corner of the framed box; its projected centre must be red.
    cutis_camera camera = { .yaw = 25, .pitch = 15, .frame = { { -1, -1, -1 }, { 1, 1, 1 } } };
    float p[12];
    for (int i = 0; i < 12; i++)
        p[i] = 0.08f * QUAD[i] + (i % 3 == 0 ? 0.7f : i % 3 == 1 ? 0.6f : 0.3f);
    cutis_scene_surface quad = { .surface = { 4, 2, p, QUAD_INDICES }, .color = { 1, 0, 0, 1 } };
    cutis_image image = draw_quad(f, &quad, camera);
    cutis_view view = cutis_view_frame(&camera, &camera.frame, 1);
    double at[3];
    assert_true(cutis_mat4_project(&view.both, (double[3]){ 0.7, 0.6, 0.3 }, at));
    int x = (int)((0.5 + 0.5 * at[0]) * 200), y = (int)((0.5 - 0.5 * at[1]) * 200);
    const uint8_t *pixel = image.pixels + 4 * (y * 200 + x);
    assert_true(pixel[0] > 2 * pixel[1] + 8);
    cutis_image_destroy(f->context, &image);
}

static void the_same_scene_gives_the_same_pixels(void **state)
{
    fixture *f = *state;
    renderer_of(state);
    cutis_scene_surface quad = { .surface = { 4, 2, QUAD, QUAD_INDICES }, .wire = true };
    cutis_image a = draw_quad(f, &quad, (cutis_camera){ .yaw = 40 });
    cutis_image b = draw_quad(f, &quad, (cutis_camera){ .yaw = 40 });
    assert_memory_equal(a.pixels, b.pixels, 4 * 200 * 200);
    cutis_image_destroy(f->context, &a);
    cutis_image_destroy(f->context, &b);
}

// Sheets and plots
// ---------------------------------------------------------------------------------

static void the_legend_of_a_sheet_runs_from_the_first_colour_to_the_last(void **state)
{
    fixture *f = *state;
    cutis_image tile, sheet;
    assert_ok(f->context, cutis_image_create(f->context, 600, 100, 0x888888ff, &tile));
    cutis_tile tiles[] = { { &tile, "one", NULL }, { &tile, "two", "second" } };
    cutis_legend legend = { CUTIS_COLORMAP_HEAT, 0, 12.5, "error, %" };
    assert_ok(f->context,
              cutis_sheet_create(f->context, tiles, 2, 1, NULL, &legend, false, &sheet));
    bool first = false, last = false;
    uint32_t low = cutis_colormap_srgb(CUTIS_COLORMAP_HEAT, 0),
             high = cutis_colormap_srgb(CUTIS_COLORMAP_HEAT, 1);
    for (size_t i = 0; i < (size_t)sheet.width * sheet.height; i++) {
        const uint8_t *p = sheet.pixels + 4 * i;
        uint32_t color = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
        first |= color == low;
        last |= color == high;
    }
    assert_true(first && last);
    cutis_image_destroy(f->context, &sheet);
    cutis_image_destroy(f->context, &tile);
}

static void ticks_are_round_and_inside(void **state)
{
    (void)state;
    static const struct {
        double low, high, first, step;
        int count;
    } CASES[] = {
        { 0, 1, 0, 0.2, 6 },
        { 0, 12.5, 0, 2, 7 },
        { -0.03, 0.05, -0.03, 0.01, 9 },
        { 3, 97, 20, 20, 4 },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        cutis_ticks t = cutis_ticks_choose(CASES[i].low, CASES[i].high, 6);
        assert_near(t.first, CASES[i].first, 1e-12);
        assert_near(t.step, CASES[i].step, 1e-12);
        assert_int_equal(t.count, CASES[i].count);
    }
    assert_int_equal(cutis_ticks_choose(1, 1, 6).count, 0);
    assert_int_equal(cutis_ticks_choose(0, INFINITY, 6).count, 0);
}

static void plots_are_written_as_svg_and_png_and_survive_gaps(void **state)
{
    fixture *f = *state;
    double y[] = { 1, NAN, 3, INFINITY, -2, 0 };
    cutis_series series[] = { { "a < b & \"c\"", 6, NULL, y } };
    void *svg;
    size_t size;
    for (int kind = CUTIS_PLOT_LINES; kind <= CUTIS_PLOT_HEATMAP; kind++)
        for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
            cutis_plot plot = { .kind = (cutis_plot_kind)kind,
                                .title = "t",
                                .series = series,
                                .series_count = 1,
                                .logarithmic = logarithmic };
            assert_ok(f->context, cutis_plot_svg(f->context, &plot, &svg, &size));
            assert_int_equal(strlen(svg), size);
            assert_non_null(strstr(svg, "<svg"));
            assert_non_null(strstr(svg, "</svg>"));
            assert_null(strstr(svg, "nan"));
            cutis_memory_free(f->context, svg, size);
        }
    assert_int_equal(cutis_plot_write(f->context, &(cutis_plot){ 0 }, "/tmp/plot.gif"),
                     CUTIS_UNSUPPORTED_FORMAT);
}

// Live drawing
// -------------------------------------------------------------------------------------

/// Deform and draw the arm through one device; the pixels must not depend on which.
static cutis_image live_picture(fixture *f, cutis_device *device, const cutis_model *arm)
{
    cutis_binding *binding = NULL;
    cutis_live *live = NULL;
    cutis_image image;
    uint64_t triangles = cutis_model_triangle_count(arm);
    uint32_t *indices = malloc(12 * (size_t)triangles);
    cutis_transform *pose = malloc(cutis_model_get(arm)->node_count * sizeof *pose);
    cutis_model_triangles(arm, indices);
    cutis_pose_rest(arm, pose, NULL);
    cutis_camera camera = { .yaw = 20, .frame = { { 0, 1.25f, -0.2f }, { 1, 1.6f, 0.2f } } };
    assert_ok(f->context,
              cutis_bind(device, arm, &(cutis_bind_options){ .normals = true }, &binding));
    assert_ok(f->context, cutis_live_create(f->renderer, device, cutis_model_vertex_count(arm),
                                            triangles, indices, 160, 90, &live));
    assert_ok(f->context, cutis_live_deform(live, binding, &(cutis_poses){ .local = pose }));
    assert_ok(f->context, cutis_live_draw(live, &camera, true));
    assert_ok(f->context, cutis_live_read(live, &image));
    cutis_live_destroy(live);
    cutis_binding_destroy(binding);
    free(indices), free(pose);
    return image;
}

static void live_drawing_shows_the_body_and_does_not_depend_on_the_device(void **state)
{
    fixture *f = *state;
    renderer_of(state);
    cutis_model *arm = NULL;
    cutis_device *cpu = NULL, *opencl = NULL;
    assert_ok(f->context,
              cutis_synth_create(
                  f->context,
                  &(cutis_synth_options){ .body = CUTIS_BODY_ARM, .vertex_count = 1000 }, &arm));
    assert_ok(f->context, cutis_device_create(f->context, NULL, &cpu));
    cutis_image mapped = live_picture(f, cpu, arm);
    int body = 0;
    for (int i = 0; i < 160 * 90; i++)
        body += mapped.pixels[4 * i] > mapped.pixels[4 * i + 2] + 8; // clay is warm
    assert_in_range(body, 900, 160 * 90 / 2);
    if (cutis_device_create(f->context, &(cutis_device_options){ .kind = CUTIS_DEVICE_OPENCL },
                            &opencl) == CUTIS_OK) {
        cutis_image copied = live_picture(f, opencl, arm);
        assert_memory_equal(mapped.pixels, copied.pixels, 4 * 160 * 90);
        cutis_image_destroy(f->context, &copied);
    }
    cutis_image_destroy(f->context, &mapped);
    cutis_device_destroy(opencl);
    cutis_device_destroy(cpu);
    cutis_model_destroy(arm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_drawing_shows_the_body_and_does_not_depend_on_the_device),
        cmocka_unit_test(lightness_runs_evenly_along_the_sequential_maps),
        cmocka_unit_test(the_diverging_map_is_lightest_in_the_middle_and_even_on_both_sides),
        cmocka_unit_test(values_outside_are_clamped_and_nan_is_grey),
        cmocka_unit_test(a_png_comes_back_with_the_same_bytes),
        cmocka_unit_test(a_huge_picture_is_refused_before_anything_is_allocated),
        cmocka_unit_test(damaged_pngs_are_refused),
        cmocka_unit_test(pasting_cuts_off_what_does_not_fit),
        cmocka_unit_test(painted_values_have_the_hue_of_the_map),
        cmocka_unit_test(the_automatic_camera_keeps_the_whole_body_in_the_picture),
        cmocka_unit_test(projection_agrees_with_the_pixels),
        cmocka_unit_test(the_same_scene_gives_the_same_pixels),
        cmocka_unit_test(the_legend_of_a_sheet_runs_from_the_first_colour_to_the_last),
        cmocka_unit_test(ticks_are_round_and_inside),
        cmocka_unit_test(plots_are_written_as_svg_and_png_and_survive_gaps),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
