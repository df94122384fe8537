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

typedef struct source {
    const fixture *f;
    uint32_t calls, most; ///< frames asked for at once
    uint32_t fails_at;    ///< call; 0: never
} source;

static cutis_result give_frames(void *user, uint32_t first, uint32_t count, float *positions)
{
    source *s = user;
    s->calls++;
    if (count > s->most) s->most = count;
    if (s->calls == s->fails_at) return CUTIS_FILE_READ;
    assert_true(first + count <= s->f->frames);
    memcpy(positions, s->f->positions + 3 * (size_t)first * s->f->vertices,
           12 * (size_t)count * s->f->vertices);
    return CUTIS_OK;
}

// All keys of a model, as one list. @return how many numbers
static size_t list_keys(const cutis_model *model, float *out, size_t room)
{
    const cutis_model_data *data = cutis_model_get(model);
    size_t count = 0;
    for (uint32_t c = 0; c < data->clip_count; c++) {
        cutis_sampler *sampler = NULL;
        assert_int_equal(cutis_sampler_create(model, c, &sampler), CUTIS_OK);
        cutis_transform *pose = calloc(data->node_count, sizeof *pose);
        for (int k = 0; k < 20; k++) {
            cutis_sampler_sample(sampler, cutis_sampler_duration(sampler) * (float)k / 19, pose,
                                 NULL);
            for (uint32_t n = 0; n < data->node_count && count + 10 <= room; n++, count += 10)
                memcpy(out + count, &pose[n], 10 * sizeof *out);
        }
        free(pose);
        cutis_sampler_destroy(sampler);
    }
    return count;
}

static void frames_that_are_read_give_the_same_bits(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, false);
    enum { ROOM = 1 << 16 };
    float *keys[3];
    size_t count[3];
    source s = { .f = &f };
    for (int k = 0; k < 3; k++) { // an array, a source, and a source with all frames learned
        cutis_model *out = NULL;
        cutis_bake_report *report = NULL;
        const cutis_bake_options two = { .helpers = 2, .morphs = 1 };
        f.given.positions = k ? NULL : f.positions;
        f.given.read = k ? give_frames : NULL, f.given.user = &s;
        f.given.budget = k < 2 ? 3 * 12 * (uint64_t)f.vertices : 0;
        assert_ok(f.context, cutis_bake(f.model, NULL, &f.given, &two, &out, &report));
        assert_int_equal(report->learned_frames, k < 2 ? 3 : f.frames);
        keys[k] = calloc(ROOM, sizeof(float));
        count[k] = list_keys(out, keys[k], ROOM);
        assert_true(count[k] > 0 && count[k] < ROOM);
        cutis_bake_report_destroy(report);
        cutis_model_destroy(out);
    }
    assert_true(s.calls > 3);
    assert_int_equal(count[0], count[1]);
    assert_memory_equal(keys[0], keys[1], count[0] * sizeof(float));
    assert_true(count[2] != count[0] || memcmp(keys[0], keys[2], count[0] * sizeof(float)) != 0);
    for (s.calls = 0, s.fails_at = 1; s.fails_at < 4; s.fails_at++, s.calls = 0) {
        cutis_model *out = NULL;
        assert_int_equal(
            cutis_bake(f.model, NULL, &f.given, &(cutis_bake_options){ .helpers = 1 }, &out, NULL),
            CUTIS_FILE_READ);
        assert_null(out);
    }
    for (int k = 0; k < 3; k++) free(keys[k]);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_motion_is_refused_by_name),
        cmocka_unit_test(cancelling_leaves_nothing),
        cmocka_unit_test(what_was_there_stays),
        cmocka_unit_test(spaces_of_meshes_do_not_matter),
        cmocka_unit_test(frames_that_are_read_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
