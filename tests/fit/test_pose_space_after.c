// Displacements after skinning (docs/spec/pose-space.md 3, MODE_POST): shapes are reached even
// where blending collapses, and every device plays them.
#include "support.h"

#include <cutis/poses.h>

#define PI 3.14159265358979323846

typedef struct stage {
    cutis_context *context;
    cutis_device *device;
    cutis_model *model;
    uint32_t examples;
    size_t vertices, nodes;
    cutis_transform *poses;
    float *shapes;
    double diagonal;
} stage;

static void play(const stage *s, cutis_device *device, const cutis_model *model,
                 cutis_method method, float *positions, float *normals)
{
    cutis_binding *binding = NULL;
    assert_ok(s->context,
              cutis_bind(device, model,
                         &(cutis_bind_options){ .method = method, .normals = normals != NULL },
                         &binding));
    assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->poses }, s->examples,
                                       &(cutis_outputs){ .positions = { .data = positions },
                                                         .normals = { .data = normals } }));
    cutis_binding_destroy(binding);
}

// A cylinder whose second bone is twisted by up to 176 degrees, so that the ring between the bones
// shrinks to 3 %, with shapes that keep their girth and swell.
static void open_stage(stage *s)
{
    memset(s, 0, sizeof *s);
    s->examples = 4;
    assert_int_equal(cutis_context_create(NULL, &s->context), CUTIS_OK);
    assert_ok(s->context, cutis_device_create(s->context, NULL, &s->device));
    assert_ok(s->context,
              cutis_synth_create(s->context, &(cutis_synth_options){ .body = CUTIS_BODY_CYLINDER },
                                 &s->model));
    const cutis_model_data *data = cutis_model_get(s->model);
    const cutis_primitive *p = data->meshes[0].primitives;
    s->nodes = data->node_count;
    s->vertices = cutis_model_vertex_count(s->model);
    s->poses = calloc(s->examples * s->nodes, sizeof *s->poses);
    s->shapes = calloc(s->examples * s->vertices, 3 * sizeof *s->shapes);
    for (uint32_t k = 0; k < s->examples; k++) {
        cutis_transform *pose = s->poses + k * s->nodes;
        cutis_quat *turned = &pose[data->skins[0].joints[1]].rotation;
        cutis_pose_rest(s->model, pose, NULL);
        *turned = cutis_quat_multiply(
            *turned,
            cutis_quat_from_axis_angle((cutis_float3){ 0, 0, 1 }, (float)(k * 176 * PI / 180 / 3)));
    }
    play(s, s->device, s->model, CUTIS_METHOD_DQS, s->shapes, NULL);
    for (size_t i = 0; i < s->examples * s->vertices; i++)
        for (size_t c = 0; c < 3; c++)
            s->shapes[3 * i + c] *= c == 2 ? 1 : 1 + 0.05f * (float)(i / s->vertices);
    s->diagonal = sqrt(4 + 4 + 64);
    assert_true(p->vertex_count > 1000);
}

static void close_stage(stage *s)
{
    free(s->shapes), free(s->poses);
    cutis_model_destroy(s->model);
    cutis_device_destroy(s->device);
    cutis_context_destroy(s->context);
}

static cutis_model *fit(const stage *s, bool after, cutis_pose_fit_report **report)
{
    cutis_model *out = NULL;
    assert_ok(s->context,
              cutis_poses_fit(s->model, s->device,
                              &(cutis_pose_examples){ s->examples, s->poses, s->shapes, NULL },
                              &(cutis_pose_fit_options){ .after = after }, &out, report));
    return out;
}

static double worst(const stage *s, const float *out)
{
    double most = 0;
    for (size_t i = 0; i < s->examples * s->vertices; i++) {
        double square = 0;
        for (size_t c = 0; c < 3; c++)
            square += pow((double)out[3 * i + c] - s->shapes[3 * i + c], 2);
        most = fmax(most, sqrt(square));
    }
    return most / s->diagonal;
}

static void shapes_are_reached_where_blending_collapses(void **state)
{
    (void)state;
    stage s;
    open_stage(&s);
    float *out = calloc(s.examples * s.vertices, 3 * sizeof *out);
    float *normals = calloc(s.examples * s.vertices, 3 * sizeof *normals);
    for (int after = 0; after < 2; after++) {
        cutis_pose_fit_report *report = NULL;
        cutis_model *fitted = fit(&s, after, &report);
        assert_int_equal(cutis_model_get(fitted)->pose_space->after, after);
        for (int m = 0; m < 2; m++) {
            play(&s, s.device, fitted, m ? CUTIS_METHOD_WPSD : CUTIS_METHOD_PSD, out, normals);
            print_message("%s skinning, %s: %llu damped, off by %.2g of the diagonal\n",
                          after ? "after" : "before", m ? "wpsd" : "psd",
                          (unsigned long long)report->damped_count, worst(&s, out));
            if (after) {
                assert_int_equal(report->damped_count, 0);
                assert_true(worst(&s, out) < 1e-5);
            } else {
                assert_true(report->damped_count > 0);
                assert_true(worst(&s, out) > 1e-3);
            }
            for (size_t i = 0; i < s.examples * s.vertices; i++) {
                const float *n = normals + 3 * i;
                assert_near(sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), 1, 1e-6);
            }
        }
        cutis_pose_fit_report_destroy(report);
        cutis_model_destroy(fitted);
    }
    free(normals), free(out);
    close_stage(&s);
}

static void a_gpu_plays_psd_with_the_same_bits_and_refuses_wpsd(void **state)
{
    (void)state;
    stage s;
    cutis_device *gpu = NULL;
    cutis_binding *binding = NULL;
    open_stage(&s);
    if (cutis_device_create(s.context, &(cutis_device_options){ .kind = gpu_kind() }, &gpu) !=
        CUTIS_OK) {
        print_message("skip: %s\n", cutis_context_error(s.context));
        close_stage(&s);
        skip();
    }
    cutis_model *fitted = fit(&s, true, NULL);
    const size_t count = 3 * s.examples * s.vertices;
    float *a = calloc(count, sizeof *a), *b = calloc(count, sizeof *b);
    play(&s, s.device, fitted, CUTIS_METHOD_PSD, a, NULL);
    play(&s, gpu, fitted, CUTIS_METHOD_PSD, b, NULL);
    assert_memory_equal(a, b, count * sizeof *a);
    assert_int_equal(
        cutis_bind(gpu, fitted, &(cutis_bind_options){ .method = CUTIS_METHOD_WPSD }, &binding),
        CUTIS_UNSUPPORTED);
    assert_non_null(strstr(cutis_context_error(s.context), "after skinning"));
    free(a), free(b);
    cutis_model_destroy(fitted);
    cutis_device_destroy(gpu);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_reached_where_blending_collapses),
        cmocka_unit_test(a_gpu_plays_psd_with_the_same_bits_and_refuses_wpsd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
