// cutis_bake on models: what it refuses, what stays, spaces of skins, cancelling.
#include "support.h"

typedef struct fixture {
    cutis_context *context;
    cutis_model *model;
    uint32_t vertices, nodes, frames;
    cutis_transform *poses;
    float *positions, *times;
    int32_t *clips;
    cutis_bake_frames given;
} fixture;

static bool stop_at_once(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage, (void)fraction;
    return false;
}

// The cylinder's clip `bend` by dual quaternions, a few frames.
static void open_fixture(fixture *f, bool stop)
{
    memset(f, 0, sizeof *f);
    const cutis_context_options quiet = { .progress = stop ? stop_at_once : NULL };
    assert_int_equal(cutis_context_create(&quiet, &f->context), CUTIS_OK);
    const cutis_synth_options synth = { .body = CUTIS_BODY_CYLINDER };
    assert_ok(f->context, cutis_synth_create(f->context, &synth, &f->model));
    f->vertices = cutis_model_vertex_count(f->model);
    f->nodes = cutis_model_get(f->model)->node_count, f->frames = 6;
    f->poses = calloc((size_t)f->frames * f->nodes, sizeof *f->poses);
    f->positions = calloc((size_t)f->frames * f->vertices, 3 * sizeof *f->positions);
    f->times = calloc(f->frames, sizeof *f->times);
    f->clips = calloc(f->frames, sizeof *f->clips);
    cutis_sampler *sampler = NULL;
    cutis_device *device = NULL;
    cutis_binding *binding = NULL;
    const cutis_bind_options dqs = { .method = CUTIS_METHOD_DQS };
    assert_ok(f->context, cutis_sampler_create(f->model, 0, &sampler));
    assert_ok(f->context, cutis_device_create(f->context, NULL, &device));
    assert_ok(f->context, cutis_bind(device, f->model, &dqs, &binding));
    for (uint32_t k = 0; k < f->frames; k++) {
        cutis_transform *pose = f->poses + (size_t)k * f->nodes;
        f->times[k] = cutis_sampler_duration(sampler) * (float)k / (float)f->frames;
        cutis_sampler_sample(sampler, f->times[k], pose, NULL);
        const cutis_poses poses = { .local = pose };
        const cutis_outputs outputs = { .positions.data =
                                            f->positions + 3 * (size_t)k * f->vertices };
        assert_ok(f->context, cutis_deform(binding, &poses, 1, &outputs));
    }
    cutis_binding_destroy(binding);
    cutis_device_destroy(device);
    cutis_sampler_destroy(sampler);
    f->given = (cutis_bake_frames){ .count = f->frames,
                                    .poses = f->poses,
                                    .positions = f->positions,
                                    .clips = f->clips,
                                    .times = f->times };
}

static void close_fixture(fixture *f)
{
    free(f->poses), free(f->positions), free(f->times), free(f->clips);
    cutis_model_destroy(f->model);
    cutis_context_destroy(f->context);
}

static void refuses(fixture *f, const cutis_bake_options *options, const char *text)
{
    cutis_model *out = NULL;
    cutis_bake_report *report = NULL;
    const cutis_result result = cutis_bake(f->model, NULL, &f->given, options, &out, &report);
    assert_true(result == CUTIS_INVALID_ARGUMENT || result == CUTIS_UNSUPPORTED ||
                result == CUTIS_LIMIT_EXCEEDED);
    assert_null(out);
    assert_null(report);
    assert_non_null(strstr(cutis_context_error(f->context), text));
}

static void what_is_no_motion_is_refused_by_name(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, false);
    const cutis_bake_options two = { .helpers = 2 };
    f.given.count = 1;
    refuses(&f, &two, "1 frame;");
    f.given.count = f.frames;
    const float kept = f.positions[31];
    f.positions[31] = NAN;
    refuses(&f, &two, "frame 0: vertex 10");
    f.positions[31] = kept;
    f.clips[2] = 9;
    refuses(&f, &two, "frame 2: clip 9");
    f.clips[2] = 0;
    f.times[3] = f.times[2];
    refuses(&f, &two, "frame 3: times");
    f.times[3] = 0.5f * (f.times[2] + f.times[4]);
    refuses(&f, &(cutis_bake_options){ .influences = 17 }, "17 influences");
    refuses(&f, &(cutis_bake_options){ .morphs = 33 }, "33 morph targets");
    refuses(&f, &(cutis_bake_options){ .helpers = 1000000 }, "1000000 joints");
    for (uint32_t k = 1; k < f.frames; k++)
        memcpy(f.positions + 3 * (size_t)k * f.vertices, f.positions, 12 * (size_t)f.vertices);
    refuses(&f, &two, "nothing moves");
    close_fixture(&f);
}

static void cancelling_leaves_nothing(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, true);
    cutis_model *out = NULL;
    const cutis_bake_options two = { .helpers = 2 };
    const uint64_t before = cutis_context_memory(f.context);
    assert_int_equal(cutis_bake(f.model, NULL, &f.given, &two, &out, NULL), CUTIS_CANCELLED);
    assert_null(out);
    assert_int_equal(cutis_context_memory(f.context), before);
    close_fixture(&f);
}

static void what_was_there_stays(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, false);
    cutis_model *out = NULL;
    cutis_bake_report *report = NULL;
    const cutis_bake_options two = { .helpers = 2, .morphs = 2 };
    assert_ok(f.context, cutis_bake(f.model, NULL, &f.given, &two, &out, &report));
    const cutis_model_data *a = cutis_model_get(f.model), *b = cutis_model_get(out);
    assert_int_equal(report->helper_count, 2);
    assert_int_equal(report->morph_count, 2);
    assert_int_equal(b->node_count, a->node_count + 2);
    for (uint32_t n = 0; n < a->node_count; n++) {
        assert_int_equal(a->nodes[n].parent, b->nodes[n].parent);
        assert_memory_equal(&a->nodes[n].rest, &b->nodes[n].rest, sizeof a->nodes[n].rest);
    }
    for (uint32_t h = 0; h < 2; h++)
        assert_true(b->nodes[report->helpers[h]].parent < (int32_t)a->node_count);
    assert_int_equal(b->clip_count, a->clip_count);
    // Two tracks a helper and the morph weights, in the clip that has frames; the others as before.
    assert_int_equal(b->clips[0].channel_count, a->clips[0].channel_count + 5);
    assert_int_equal(b->clips[1].channel_count, a->clips[1].channel_count);
    assert_true(report->rms < 0.5 * report->plain_rms);
    cutis_bake_report_destroy(report);
    cutis_model_destroy(out);
    close_fixture(&f);
}

// A mesh space of another unit and place: inverse binds undo it, and the result is the same.
static void spaces_of_meshes_do_not_matter(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, false);
    cutis_model_data data = *cutis_model_get(f.model);
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive *primitives = calloc(mesh.primitive_count, sizeof *primitives);
    cutis_skin skin = data.skins[0];
    cutis_mat34 *binds = calloc(skin.joint_count, sizeof *binds);
    const cutis_mat34 back = { { 0.01f, 0, 0, -0.02f, 0, 0, -0.01f, 0.5f, 0, 0.01f, 0, 0.1f } };
    cutis_mat34 there;
    assert_true(cutis_mat34_invert(&back, &there));
    for (uint32_t k = 0; k < mesh.primitive_count; k++) {
        primitives[k] = mesh.primitives[k];
        primitives[k].normals = NULL, primitives[k].tangents = NULL;
        float *moved = calloc(primitives[k].vertex_count, 3 * sizeof *moved);
        for (size_t v = 0; v < primitives[k].vertex_count; v++) {
            const float *p = mesh.primitives[k].positions + 3 * v;
            const cutis_float3 q = cutis_mat34_point(&there, (cutis_float3){ p[0], p[1], p[2] });
            memcpy(moved + 3 * v, &q, sizeof q);
        }
        primitives[k].positions = moved;
    }
    for (uint32_t j = 0; j < skin.joint_count; j++)
        binds[j] = cutis_mat34_multiply(&skin.inverse_binds[j], &back);
    mesh.primitives = primitives, mesh.part_tree = NULL, skin.inverse_binds = binds;
    data.meshes = &mesh, data.skins = &skin, data.source = NULL;
    cutis_model *other = NULL, *out = NULL;
    assert_int_equal(data.mesh_count, 1);
    assert_int_equal(data.skin_count, 1);
    assert_ok(f.context, cutis_model_create(f.context, &data, CUTIS_GATE_REFUSE, &other));
    double rms[2];
    for (int k = 0; k < 2; k++) {
        cutis_bake_report *report = NULL;
        const cutis_bake_options two = { .helpers = 2 };
        assert_ok(f.context, cutis_bake(k ? other : f.model, NULL, &f.given, &two, &out, &report));
        rms[k] = report->rms;
        cutis_bake_report_destroy(report);
        cutis_model_destroy(out);
    }
    assert_near(rms[1] / rms[0], 1, 0.05); // rounding of positions moves the search a little
    for (uint32_t k = 0; k < mesh.primitive_count; k++) free((void *)primitives[k].positions);
    free(primitives), free(binds);
    cutis_model_destroy(other);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_motion_is_refused_by_name),
        cmocka_unit_test(cancelling_leaves_nothing),
        cmocka_unit_test(what_was_there_stays),
        cmocka_unit_test(spaces_of_meshes_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
