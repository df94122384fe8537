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
    for (s.calls = 0, s.fails_at = 1; s.fails_at < 3; s.fails_at++, s.calls = 0) {
        cutis_model *out = NULL;
        assert_int_equal(
            cutis_bake(f.model, NULL, &f.given, &(cutis_bake_options){ .helpers = 1 }, &out, NULL),
            CUTIS_FILE_READ);
        assert_null(out);
    }
    for (int k = 0; k < 3; k++) free(keys[k]);
    close_fixture(&f);
}

// Bakers
// -------------------------------------------------------------------------------------------

typedef struct bytes {
    void *data;
    size_t size;
} bytes;

static void assert_same_weights(const cutis_model *a, const cutis_model *b)
{
    const cutis_model_data *x = cutis_model_get(a), *y = cutis_model_get(b);
    assert_int_equal(x->mesh_count, y->mesh_count);
    for (uint32_t m = 0; m < x->mesh_count; m++)
        for (uint32_t k = 0; k < x->meshes[m].primitive_count; k++) {
            const cutis_primitive *p = &x->meshes[m].primitives[k];
            const cutis_influences *i = &p->influences, *j = &y->meshes[m].primitives[k].influences;
            const size_t count = i->first[p->vertex_count];
            assert_memory_equal(i->first, j->first, (p->vertex_count + 1) * sizeof *i->first);
            assert_memory_equal(i->joints, j->joints, count * sizeof *i->joints);
            assert_memory_equal(i->weights, j->weights, count * sizeof *i->weights);
        }
}

static cutis_baker *open_baker(const fixture *f, const cutis_bake_options *options)
{
    cutis_baker *baker = NULL;
    assert_ok(f->context, cutis_baker_create(f->model, NULL, &f->given, options, &baker));
    return baker;
}

static void steps_of_several_bakers_give_the_bits_of_one_call(void **state)
{
    (void)state;
    static const uint32_t CUTS[] = { 0, 1, 4, 6 };
    enum { ROOM = 1 << 16, PARTS = 3 };
    fixture f;
    open_fixture(&f, false);
    source s = { .f = &f };
    const cutis_bake_options two = { .helpers = 2 };
    cutis_model *whole = NULL, *made = NULL;
    cutis_bake_report *report = NULL, *told = NULL;
    f.given.positions = NULL, f.given.read = give_frames, f.given.user = &s;
    f.given.budget = 3 * 12 * (uint64_t)f.vertices; // every other frame is learned from
    assert_ok(f.context, cutis_bake(f.model, NULL, &f.given, &two, &whole, &report));
    bytes looked[PARTS], learned, tracks[PARTS];
    cutis_baker *learner = open_baker(&f, &two);
    for (int k = PARTS - 1; k >= 0; k--) { // each by a baker of its own, in any order
        cutis_baker *other = open_baker(&f, &two);
        assert_ok(f.context,
                  cutis_baker_look(other, CUTS[k], CUTS[k + 1], &looked[k].data, &looked[k].size));
        assert_ok(f.context,
                  cutis_baker_put(learner, CUTS[k], CUTS[k + 1], looked[k].data, looked[k].size));
        cutis_baker_destroy(other);
    }
    s.calls = 0, s.most = 0;
    assert_ok(f.context, cutis_baker_learn(learner, &learned.data, &learned.size));
    const uint32_t reads = s.calls;
    cutis_baker *last = open_baker(&f, &two);
    assert_ok(f.context, cutis_baker_take(last, learned.data, learned.size));
    assert_int_equal(s.calls, reads); // who takes reads nothing
    for (int k = 0; k < PARTS; k++) {
        cutis_baker *other = open_baker(&f, &two);
        assert_ok(f.context, cutis_baker_take(other, learned.data, learned.size));
        assert_ok(f.context, cutis_baker_follow(other, CUTS[k], CUTS[k + 1], &tracks[k].data,
                                                &tracks[k].size));
        assert_int_equal(cutis_baker_finish(last, &made, &told), CUTIS_INVALID_ARGUMENT);
        assert_null(made);
        assert_ok(f.context,
                  cutis_baker_put(last, CUTS[k], CUTS[k + 1], tracks[k].data, tracks[k].size));
        cutis_baker_destroy(other);
    }
    assert_ok(f.context, cutis_baker_finish(last, &made, &told));
    float *keys[2] = { calloc(ROOM, sizeof(float)), calloc(ROOM, sizeof(float)) };
    const size_t count = list_keys(whole, keys[0], ROOM);
    assert_int_equal(list_keys(made, keys[1], ROOM), count);
    assert_memory_equal(keys[0], keys[1], count * sizeof(float));
    assert_same_weights(whole, made);
    assert_true(report->rms == told->rms && report->kept_count == told->kept_count);
    assert_int_equal(told->learned_frames, 3);
    for (int k = 0; k < PARTS; k++) {
        cutis_memory_free(f.context, looked[k].data, looked[k].size);
        cutis_memory_free(f.context, tracks[k].data, tracks[k].size);
    }
    cutis_memory_free(f.context, learned.data, learned.size);
    free(keys[0]), free(keys[1]);
    cutis_baker_destroy(learner), cutis_baker_destroy(last);
    cutis_bake_report_destroy(report), cutis_bake_report_destroy(told);
    cutis_model_destroy(whole), cutis_model_destroy(made);
    close_fixture(&f);
}

// Some vertex with the weights of vertex 0 is put to where that one rests, and goes away from it.
static void tear_fixture(fixture *f)
{
    cutis_model_data data = *cutis_model_get(f->model);
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive part = mesh.primitives[0];
    const cutis_influences *in = &part.influences;
    const uint32_t count = in->first[1];
    uint32_t v = 1;
    for (; v < f->vertices; v++)
        if (in->first[v + 1] - in->first[v] == count &&
            memcmp(in->joints + in->first[v], in->joints, count * sizeof *in->joints) == 0 &&
            memcmp(in->weights + in->first[v], in->weights, count * sizeof *in->weights) == 0)
            break;
    assert_true(data.mesh_count == 1 && mesh.primitive_count == 1 && v < f->vertices);
    float *places = calloc(f->vertices, 3 * sizeof *places);
    memcpy(places, part.positions, 3 * (size_t)f->vertices * sizeof *places);
    memcpy(places + 3 * (size_t)v, places, 3 * sizeof *places);
    part.positions = places, mesh.primitives = &part, data.meshes = &mesh;
    cutis_model *torn = NULL;
    assert_ok(f->context, cutis_model_create(f->context, &data, CUTIS_GATE_REFUSE, &torn));
    cutis_model_destroy(f->model);
    f->model = torn;
    free(places);
    for (size_t k = 0; k < f->frames; k++) {
        float *frame = f->positions + 3 * k * f->vertices, *to = frame + 3 * (size_t)v;
        memcpy(to, frame, 3 * sizeof *to);
        to[0] += 0.01f * (float)k;
    }
}

// A vertex that leaves the one it is welded to makes a point more: that a baker has looked at
// frames must not be in the way of what it takes then, as in a process that does several parts.
static void who_has_looked_takes_what_another_learned(void **state)
{
    (void)state;
    enum { ROOM = 1 << 16 };
    fixture f;
    open_fixture(&f, false);
    tear_fixture(&f);
    f.given.budget = 3 * 12 * (uint64_t)f.vertices;
    const cutis_bake_options two = { .helpers = 2 };
    cutis_model *whole = NULL, *made = NULL;
    bytes looked, learned, tracks;
    assert_ok(f.context, cutis_bake(f.model, NULL, &f.given, &two, &whole, NULL));
    cutis_baker *learner = open_baker(&f, &two), *other = open_baker(&f, &two);
    assert_ok(f.context, cutis_baker_learn(learner, &learned.data, &learned.size));
    assert_ok(f.context, cutis_baker_look(other, 0, 2, &looked.data, &looked.size));
    assert_ok(f.context, cutis_baker_take(other, learned.data, learned.size));
    assert_ok(f.context, cutis_baker_follow(other, 0, f.frames, &tracks.data, &tracks.size));
    assert_ok(f.context, cutis_baker_finish(other, &made, NULL));
    float *keys[2] = { calloc(ROOM, sizeof(float)), calloc(ROOM, sizeof(float)) };
    const size_t count = list_keys(whole, keys[0], ROOM);
    assert_int_equal(list_keys(made, keys[1], ROOM), count);
    assert_memory_equal(keys[0], keys[1], count * sizeof(float));
    assert_same_weights(whole, made);
    cutis_memory_free(f.context, looked.data, looked.size);
    cutis_memory_free(f.context, learned.data, learned.size);
    cutis_memory_free(f.context, tracks.data, tracks.size);
    free(keys[0]), free(keys[1]);
    cutis_baker_destroy(learner), cutis_baker_destroy(other);
    cutis_model_destroy(whole), cutis_model_destroy(made);
    close_fixture(&f);
}

static void bytes_of_another_bake_are_refused(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, false);
    f.given.budget = 3 * 12 * (uint64_t)f.vertices;
    const cutis_bake_options one = { .helpers = 1 }, wide = { .helpers = 1, .influences = 6 };
    bytes learned, tracks, looked;
    cutis_baker *learner = open_baker(&f, &one), *other = open_baker(&f, &wide);
    assert_int_equal(cutis_baker_follow(learner, 0, 6, &tracks.data, &tracks.size),
                     CUTIS_INVALID_ARGUMENT); // nothing is learned yet
    assert_ok(f.context, cutis_baker_look(learner, 0, 2, &looked.data, &looked.size));
    assert_int_equal(cutis_baker_put(other, 0, 3, looked.data, looked.size),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_baker_put(other, 0, 2, looked.data, looked.size - 1),
                     CUTIS_INVALID_ARGUMENT);
    assert_ok(f.context, cutis_baker_learn(learner, &learned.data, &learned.size));
    assert_int_equal(cutis_baker_take(other, learned.data, learned.size), CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(f.context), "another bake"));
    assert_ok(f.context, cutis_baker_follow(learner, 0, 4, &tracks.data, &tracks.size));
    assert_int_equal(cutis_baker_put(learner, 0, 5, tracks.data, tracks.size),
                     CUTIS_INVALID_ARGUMENT);
    for (size_t size = 0; size < learned.size; size += 1 + size / 3) { // cut off anywhere
        cutis_baker *cut = open_baker(&f, &one);
        assert_int_equal(cutis_baker_take(cut, learned.data, size), CUTIS_INVALID_ARGUMENT);
        cutis_baker_destroy(cut);
    }
    for (size_t at = 4; at < learned.size; at += 4 + at / 20) { // any word of it: no crash
        cutis_baker *damaged = open_baker(&f, &one);
        unsigned char kept[4];
        memcpy(kept, (char *)learned.data + at, 4), memset((char *)learned.data + at, 0xff, 4);
        const cutis_result result = cutis_baker_take(damaged, learned.data, learned.size);
        assert_true(result == CUTIS_OK || result == CUTIS_INVALID_ARGUMENT);
        memcpy((char *)learned.data + at, kept, 4);
        cutis_baker_destroy(damaged);
    }
    cutis_memory_free(f.context, learned.data, learned.size);
    cutis_memory_free(f.context, tracks.data, tracks.size);
    cutis_memory_free(f.context, looked.data, looked.size);
    cutis_baker_destroy(learner), cutis_baker_destroy(other);
    cutis_baker *none = NULL;
    const cutis_bake_options morphs = { .helpers = 1, .morphs = 1 };
    assert_int_equal(cutis_baker_create(f.model, NULL, &f.given, &morphs, &none),
                     CUTIS_UNSUPPORTED);
    assert_null(none);
    cutis_baker_destroy(NULL);
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
        cmocka_unit_test(steps_of_several_bakers_give_the_bits_of_one_call),
        cmocka_unit_test(who_has_looked_takes_what_another_learned),
        cmocka_unit_test(bytes_of_another_bake_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
