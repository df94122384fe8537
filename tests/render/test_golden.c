/// Pictures of every built-in body by every method, and the views of docs/spec/characters.md 7.9,
/// against golden pictures that were looked at. CUTIS_UPDATE_GOLDEN=1 writes them anew; look at
/// them before committing.
#include "support.h"

#include <cutis/render.h>

/// Upright bodies get upright pictures, so that a body fills its picture and a wrong vertex counts.
static const uint32_t SIZES[][2] = { { 200, 240 }, { 240, 200 }, { 320, 160 }, { 240, 160 } };
// Mesa's rasteriser differs by a little from version to version and CPU to CPU; a wrong vertex
// shows as far pixels.
static const double MEAN_LIMIT = 2.0, FAR_LIMIT = 0.005;

typedef struct stage {
    cutis_context *context;
    cutis_renderer *renderer;
    cutis_device *device;
    cutis_model *models[4]; ///< biped, quadruped, arm, cylinder
} stage;

static const char *const BODIES[] = { "biped", "quadruped", "arm", "cylinder" };
static const cutis_synth_options OPTIONS[] = {
    { .body = CUTIS_BODY_BIPED, .vertex_count = 12000 },
    { .body = CUTIS_BODY_QUADRUPED, .vertex_count = 8000 },
    { .body = CUTIS_BODY_ARM, .size = CUTIS_BODY_SIZE_LOW },
    { .body = CUTIS_BODY_CYLINDER }
};

static int setup(void **state)
{
    static stage s;
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    if (cutis_context_create(NULL, &s.context) != CUTIS_OK) return -1;
    if (cutis_renderer_create(s.context, &s.renderer) != CUTIS_OK) s.renderer = NULL;
    if (cutis_device_create(s.context, NULL, &s.device) != CUTIS_OK) return -1;
    for (int i = 0; i < 4; i++)
        if (cutis_synth_create(s.context, &OPTIONS[i], &s.models[i]) != CUTIS_OK) return -1;
    *state = &s;
    return 0;
}

static int teardown(void **state)
{
    stage *s = *state;
    for (int i = 0; i < 4; i++) cutis_model_destroy(s->models[i]);
    cutis_device_destroy(s->device);
    cutis_renderer_destroy(s->renderer);
    uint64_t left = cutis_context_memory(s->context);
    cutis_context_destroy(s->context);
    return left == 0 ? 0 : -1;
}

static float *vertex_colors(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_primitive *primitive = &data->meshes[0].primitives[0];
    float *colors = malloc(16 * (size_t)primitive->vertex_count);
    for (size_t i = 0; i < 4 * (size_t)primitive->vertex_count; i++)
        colors[i] =
            primitive->colors ? primitive->colors[i] : (float[]){ 0.56f, 0.50f, 0.44f, 1 }[i % 4];
    return colors;
}

/// Draw a posed body. `clip` NULL: rest.
static cutis_image draw(stage *s, int body, cutis_bind_options options, const char *clip,
                        double phase, double yaw)
{
    const cutis_model *model = s->models[body];
    uint32_t count = cutis_model_vertex_count(model), index = 0;
    uint64_t triangles = cutis_model_triangle_count(model);
    cutis_transform *pose = malloc(cutis_model_get(model)->node_count * sizeof *pose);
    float *positions = malloc(12 * (size_t)count), *normals = malloc(12 * (size_t)count),
          *colors = vertex_colors(model);
    uint32_t *indices = malloc(12 * (size_t)triangles);
    cutis_binding *binding = NULL;
    cutis_sampler *sampler = NULL;
    cutis_image image;
    options.normals = true;
    assert_ok(s->context, cutis_bind(s->device, model, &options, &binding));
    cutis_pose_rest(model, pose, NULL);
    if (clip) {
        assert_ok(s->context, cutis_model_find_clip(model, clip, &index));
        assert_ok(s->context, cutis_sampler_create(model, index, &sampler));
        cutis_sampler_sample(sampler, (float)(phase * cutis_sampler_duration(sampler)), pose, NULL);
    }
    cutis_model_triangles(model, indices);
    assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = pose }, 1,
                                       &(cutis_outputs){ .positions.data = positions,
                                                         .normals.data = normals }));
    cutis_scene_surface surface = { .surface = { count, triangles, positions, indices },
                                    .normals = normals,
                                    .colors = colors };
    cutis_scene scene = { .surface_count = 1,
                          .surfaces = &surface,
                          .camera = { .yaw = yaw, .pitch = 8 } };
    assert_ok(s->context,
              cutis_renderer_draw(s->renderer, &scene, SIZES[body][0], SIZES[body][1], &image));
    cutis_sampler_destroy(sampler);
    cutis_binding_destroy(binding);
    free(pose), free(positions), free(normals), free(colors), free(indices);
    return image;
}

static void check_golden(stage *s, cutis_image *image, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/render/golden/%s.png", CUTIS_SOURCE_DIR, name);
    if (getenv("CUTIS_UPDATE_GOLDEN")) {
        assert_ok(s->context, cutis_image_write_png(s->context, image, path));
    } else {
        cutis_image golden;
        cutis_image_difference difference;
        assert_ok(s->context, cutis_image_read_png(s->context, path, &golden));
        assert_int_equal(cutis_image_compare(image, &golden, &difference), CUTIS_OK);
        if (difference.mean > MEAN_LIMIT || difference.far_share > FAR_LIMIT) {
            char now[512];
            snprintf(now, sizeof now, "/tmp/cutis-golden-%s.png", name);
            cutis_image_write_png(s->context, image, now);
            fail_msg("%s: mean difference %.2f of 255, %.2f %% of the pixels far off; see %s", name,
                     difference.mean, 100 * difference.far_share, now);
        }
        cutis_image_destroy(s->context, &golden);
    }
    cutis_image_destroy(s->context, image);
}

static stage *ready(void **state)
{
    stage *s = *state;
    if (!s->renderer) {
        print_message("skip: %s\n", cutis_context_error(s->context));
        skip();
    }
    return s;
}

static void every_body_looks_as_it_did_under_every_method(void **state)
{
    stage *s = ready(state);
    static const struct {
        const char *name;
        cutis_bind_options options;
    } METHODS[] = { { "lbs", { .method = CUTIS_METHOD_LBS } },
                    { "rigid", { .method = CUTIS_METHOD_RIGID } },
                    { "sbs", { .method = CUTIS_METHOD_SBS } },
                    { "sbs-weighted", { .method = CUTIS_METHOD_SBS, .weighted_centres = true } },
                    { "dqs", { .method = CUTIS_METHOD_DQS } },
                    { "cor", { .method = CUTIS_METHOD_COR } } };
    for (int body = 0; body < 4; body++)
        for (size_t m = 0; m < sizeof METHODS / sizeof *METHODS; m++) {
            char name[64];
            snprintf(name, sizeof name, "%s-bend-%s", BODIES[body], METHODS[m].name);
            cutis_image image = draw(s, body, METHODS[m].options, "bend", 0.5, body == 3 ? 60 : 35);
            check_golden(s, &image, name);
        }
}

static void views_and_clips_look_as_they_did(void **state)
{
    stage *s = ready(state);
    static const struct {
        int body;
        const char *clip;
        double phase, yaw;
        const char *name;
    } SHOTS[] = { { 0, NULL, 0, 0, "biped-front" },
                  { 0, NULL, 0, 45, "biped-three-quarter" },
                  { 0, NULL, 0, 90, "biped-side" },
                  { 0, NULL, 0, 180, "biped-back" },
                  { 1, NULL, 0, 0, "quadruped-front" },
                  { 1, NULL, 0, 45, "quadruped-three-quarter" },
                  { 1, NULL, 0, 90, "quadruped-side" },
                  { 1, NULL, 0, 180, "quadruped-back" },
                  { 2, NULL, 0, 0, "arm-front" },
                  { 2, "twist", 0.25, 20, "arm-twist" },
                  { 2, "raise", 0.5, 20, "arm-raise" },
                  { 0, "walk", 0, 70, "biped-walk-0" },
                  { 0, "walk", 0.25, 70, "biped-walk-1" },
                  { 0, "walk", 0.5, 70, "biped-walk-2" },
                  { 0, "walk", 0.75, 70, "biped-walk-3" },
                  { 1, "walk", 0, 70, "quadruped-walk-0" },
                  { 1, "walk", 0.25, 70, "quadruped-walk-1" },
                  { 1, "walk", 0.5, 70, "quadruped-walk-2" },
                  { 1, "walk", 0.75, 70, "quadruped-walk-3" },
                  { 0, "wave", 0.5, 20, "biped-wave" },
                  { 0, "twist", 0.25, 20, "biped-twist" } };
    for (size_t i = 0; i < sizeof SHOTS / sizeof *SHOTS; i++) {
        cutis_image image = draw(s, SHOTS[i].body, (cutis_bind_options){ 0 }, SHOTS[i].clip,
                                 SHOTS[i].phase, SHOTS[i].yaw);
        check_golden(s, &image, SHOTS[i].name);
    }
}

/// The comparison itself must be able to fail: another method is another picture.
static void another_method_is_told_apart_by_the_limits(void **state)
{
    stage *s = ready(state);
    cutis_image a = draw(s, 2, (cutis_bind_options){ .method = CUTIS_METHOD_LBS }, "bend", 0.5, 35);
    cutis_image b =
        draw(s, 2, (cutis_bind_options){ .method = CUTIS_METHOD_RIGID }, "bend", 0.5, 35);
    cutis_image_difference difference;
    assert_int_equal(cutis_image_compare(&a, &b, &difference), CUTIS_OK);
    assert_true(difference.mean > MEAN_LIMIT || difference.far_share > FAR_LIMIT);
    cutis_image_destroy(s->context, &a);
    cutis_image_destroy(s->context, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_body_looks_as_it_did_under_every_method),
        cmocka_unit_test(views_and_clips_look_as_they_did),
        cmocka_unit_test(another_method_is_told_apart_by_the_limits),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
