// The gate: every broken model is refused with a result and a text that names the place; repairing
// repairs what can be and says so; running out of memory anywhere leaks nothing.
#include "rig.h"

typedef struct {
    const char *what;
    void (*break_it)(rig *r);
    cutis_result result;
    const char *place; // must stand in the error's text
} refusal;

#define BREAK(name, ...)                                                                           \
    static void break_##name(rig *r)                                                               \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }

BREAK(parent_self, r->nodes[1].parent = 1)
BREAK(parent_later, r->nodes[1].parent = 3)
BREAK(parent_negative, r->nodes[1].parent = -2)
BREAK(node_mesh, r->nodes[4].mesh = 1)
BREAK(node_skin, r->nodes[4].skin = 7)
BREAK(skin_without_mesh, r->nodes[4].mesh = CUTIS_NONE; r->data.clip_count = 0)
BREAK(nodes_null, r->data.nodes = NULL)
BREAK(nan_translation, r->nodes[2].rest.translation.y = NAN)
BREAK(inf_scale, r->nodes[1].rest.scale.z = INFINITY)
BREAK(zero_rotation, r->nodes[1].rest.rotation.w = 0)
BREAK(nan_matrix, r->matrix.m[6] = NAN)
BREAK(node_morph_weight, r->node_target_weights[0] = NAN)
BREAK(topology, r->primitives[1].topology = (cutis_topology)9)
BREAK(no_vertices, r->primitives[1].vertex_count = 0)
BREAK(no_positions, r->primitives[1].positions = NULL)
BREAK(indices_null, r->primitives[0].indices = NULL)
BREAK(index_range, r->indices[4] = 9000)
BREAK(material, r->primitives[0].material = 1)
BREAK(part_range, r->parts[1] = 2)
BREAK(parts_on_points, r->primitives[1].parts = r->parts;
      r->primitives[1].topology = CUTIS_TOPOLOGY_POINTS)
BREAK(nan_position, r->positions[7] = NAN)
BREAK(nan_normal, r->normals[7] = NAN)
BREAK(inf_tangent, r->tangents[5] = INFINITY)
BREAK(nan_texcoord, r->texcoords[3] = NAN)
BREAK(nan_color, r->colors[9] = NAN)
BREAK(nan_target, r->target_positions[1][5] = NAN)
BREAK(nan_target_weight, r->target_weights[1] = NAN)
BREAK(first_start, r->first[0] = 1)
BREAK(first_descends, r->first[2] = 7)
BREAK(influences_half, r->primitives[0].influences.weights = NULL)
BREAK(influences_no_first, r->primitives[0].influences.first = NULL)
BREAK(joint_range, r->joints[5] = 2)
BREAK(weight_nan, r->weights[3] = NAN)
BREAK(weight_negative, r->weights[3] = -0.25f)
BREAK(weight_infinite, r->weights[3] = INFINITY)
BREAK(skin_empty, r->skin.joint_count = 0)
BREAK(skin_joint_range, r->skin_joints[1] = 5)
BREAK(skin_joint_twice, r->skin_joints[1] = 1)
BREAK(skin_root, r->skin.root = 5)
BREAK(bind_nan, r->inverse_binds[1].m[0] = NAN)
BREAK(bind_singular, r->inverse_binds[1].m[0] = 0)
BREAK(channel_node, r->channels[1].node = 5)
BREAK(channel_path, r->channels[1].path = (cutis_path)4)
BREAK(channel_interpolation, r->channels[1].interpolation = (cutis_interpolation)3)
BREAK(channel_empty, r->channels[1].key_count = 0)
BREAK(channel_no_targets, r->channels[3].node = 1)
BREAK(channel_twice, r->channels[2] = r->channels[0])
BREAK(channel_on_matrix, r->channels[0].node = 3)
BREAK(times_equal, r->times[2] = r->times[1])
BREAK(times_descend, r->times[2] = 0.1f)
BREAK(times_negative, r->times[0] = -0.5f)
BREAK(times_nan, r->times[1] = NAN)
BREAK(value_nan, r->translations[4] = NAN)
BREAK(key_rotation_zero, memset(&r->rotations[4], 0, 16))
BREAK(material_nan, r->material.metallic = NAN)

#define ROW(name, result, place)                                                                   \
    {                                                                                              \
#name, break_##name, CUTIS_##result, place                                                 \
    }
static const refusal refusals[] = {
    ROW(parent_self, CORRUPT_DATA, "nodes/1:"),
    ROW(parent_later, CORRUPT_DATA, "nodes/1:"),
    ROW(parent_negative, CORRUPT_DATA, "nodes/1:"),
    ROW(node_mesh, CORRUPT_DATA, "nodes/4: mesh is 1"),
    ROW(node_skin, CORRUPT_DATA, "nodes/4: skin is 7"),
    ROW(skin_without_mesh, CORRUPT_DATA, "nodes/4:"),
    ROW(nodes_null, CORRUPT_DATA, "array"),
    ROW(nan_translation, CORRUPT_DATA, "nodes/2: translation"),
    ROW(inf_scale, CORRUPT_DATA, "nodes/1: scale"),
    ROW(zero_rotation, CORRUPT_DATA, "nodes/1: rotation"),
    ROW(nan_matrix, CORRUPT_DATA, "nodes/3: matrix entry 6"),
    ROW(node_morph_weight, CORRUPT_DATA, "nodes/4: morph weight 0"),
    ROW(topology, CORRUPT_DATA, "meshes/0/primitives/1: topology 9"),
    ROW(no_vertices, CORRUPT_DATA, "meshes/0/primitives/1:"),
    ROW(no_positions, CORRUPT_DATA, "meshes/0/primitives/1:"),
    ROW(indices_null, CORRUPT_DATA, "meshes/0/primitives/0:"),
    ROW(index_range, CORRUPT_DATA,
        "meshes/0/primitives/0: index 4 of 6 is 9000, the primitive has 4 vertices"),
    ROW(material, CORRUPT_DATA, "meshes/0/primitives/0: material is 1"),
    ROW(part_range, CORRUPT_DATA, "meshes/0/primitives/0: part of triangle 1 is 2"),
    ROW(parts_on_points, CORRUPT_DATA, "meshes/0/primitives/1: parts"),
    ROW(nan_position, CORRUPT_DATA, "meshes/0/primitives/0: position of vertex 2"),
    ROW(nan_normal, CORRUPT_DATA, "meshes/0/primitives/0: normal of vertex 2"),
    ROW(inf_tangent, CORRUPT_DATA, "meshes/0/primitives/0: tangent of vertex 1"),
    ROW(nan_texcoord, CORRUPT_DATA, "meshes/0/primitives/0: texcoord of vertex 1"),
    ROW(nan_color, CORRUPT_DATA, "meshes/0/primitives/0: color of vertex 2"),
    ROW(nan_target, CORRUPT_DATA, "meshes/0/primitives/0/targets/1: position of vertex 1"),
    ROW(nan_target_weight, CORRUPT_DATA, "meshes/0: morph weight 1"),
    ROW(first_start, CORRUPT_DATA, "meshes/0/primitives/0: the first influence"),
    ROW(first_descends, CORRUPT_DATA,
        "meshes/0/primitives/0: influences of vertex 2 run from 7 to 6"),
    ROW(influences_half, CORRUPT_DATA, "meshes/0/primitives/0:"),
    ROW(influences_no_first, CORRUPT_DATA, "meshes/0/primitives/0:"),
    ROW(joint_range, CORRUPT_DATA, "meshes/0/primitives/0: joint 1 of vertex 2 is 2"),
    ROW(weight_nan, CORRUPT_DATA, "meshes/0/primitives/0: weight 1 of vertex 1"),
    ROW(weight_negative, CORRUPT_DATA, "meshes/0/primitives/0: weight 1 of vertex 1 is -0.25"),
    ROW(weight_infinite, CORRUPT_DATA, "meshes/0/primitives/0: weight 1 of vertex 1"),
    ROW(skin_empty, CORRUPT_DATA, "skins/0:"),
    ROW(skin_joint_range, CORRUPT_DATA, "skins/0: joint 1 is node 5"),
    ROW(skin_joint_twice, CORRUPT_DATA, "skins/0: joint 1 is node 1"),
    ROW(skin_root, CORRUPT_DATA, "skins/0: root is 5"),
    ROW(bind_nan, CORRUPT_DATA, "skins/0: inverse bind of joint 1 (node 2) is not finite"),
    ROW(bind_singular, CORRUPT_DATA, "skins/0: inverse bind of joint 1 (node 2) is singular"),
    ROW(channel_node, CORRUPT_DATA, "clips/0/channels/1: node is 5"),
    ROW(channel_path, CORRUPT_DATA, "clips/0/channels/1: path 4"),
    ROW(channel_interpolation, CORRUPT_DATA, "clips/0/channels/1: interpolation 3"),
    ROW(channel_empty, CORRUPT_DATA, "clips/0/channels/1:"),
    ROW(channel_no_targets, CORRUPT_DATA, "clips/0/channels/3: node 1"),
    ROW(channel_twice, CORRUPT_DATA, "clips/0/channels/2: a second channel"),
    ROW(channel_on_matrix, CORRUPT_DATA, "clips/0/channels/0: node 3"),
    ROW(times_equal, CORRUPT_DATA, "clips/0/channels/0: time of key 2"),
    ROW(times_descend, CORRUPT_DATA, "clips/0/channels/0: time of key 2"),
    ROW(times_negative, CORRUPT_DATA, "clips/0/channels/0: time of key 0"),
    ROW(times_nan, CORRUPT_DATA, "clips/0/channels/0: time of key 1"),
    ROW(value_nan, CORRUPT_DATA, "clips/0/channels/0: a value of key 1"),
    ROW(key_rotation_zero, CORRUPT_DATA, "clips/0/channels/1: rotation of key 1"),
    ROW(material_nan, CORRUPT_DATA, "materials/0:"),
};

static cutis_context *make_context(const cutis_context_options *options)
{
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(options, &context), CUTIS_OK);
    return context;
}

static void the_healthy_model_passes_unchanged(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    cutis_context *context = make_context(NULL);
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &model));
    assert_int_equal(cutis_model_issues(model, NULL), 0);
    const cutis_model_data *data = cutis_model_get(model);
    assert_ptr_not_equal(data->meshes[0].primitives[0].positions, r.positions);
    assert_memory_equal(data->meshes[0].primitives[0].positions, r.positions, sizeof r.positions);
    assert_memory_equal(data->meshes[0].primitives[0].influences.weights, r.weights,
                        sizeof r.weights);
    assert_memory_equal(data->clips[0].channels[2].values, r.scales, sizeof r.scales);
    assert_string_equal(data->meshes[0].part_names[1], "right");
    assert_near(data->clips[0].duration, 1, 0);
    cutis_model_destroy(model);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

static void the_callers_arrays_may_go_after_create(void **state)
{
    (void)state;
    rig *r = malloc(sizeof *r);
    rig_init(r);
    cutis_context *context = make_context(NULL);
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &r->data, CUTIS_GATE_REFUSE, &model));
    memset(r, 0xA5, sizeof *r);
    free(r);
    const cutis_model_data *data = cutis_model_get(model);
    assert_string_equal(data->nodes[2].name, "lower");
    assert_near(data->nodes[3].matrix->m[1], 0.5, 0);
    assert_near(data->meshes[0].primitives[0].targets[0].normals[0], 0, 0);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void every_broken_model_is_refused_with_its_place(void **state)
{
    (void)state;
    cutis_context *context = make_context(NULL);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        rig r;
        rig_init(&r);
        refusals[i].break_it(&r);
        cutis_model *model = (cutis_model *)&r;
        cutis_result result = cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &model);
        if (result != refusals[i].result ||
            !strstr(cutis_context_error(context), refusals[i].place))
            fail_msg("%s: %s: \"%s\" lacks \"%s\"", refusals[i].what, cutis_result_name(result),
                     cutis_context_error(context), refusals[i].place);
        assert_null(model);
        assert_int_equal(cutis_context_memory(context), 0);
    }
    cutis_context_destroy(context);
}

static void limits_of_the_context_are_kept(void **state)
{
    (void)state;
    const struct {
        cutis_limits limits;
        const char *place;
    } cases[] = { { { .vertex_count = 6 }, "meshes/0/primitives/1" },
                  { { .node_count = 4 }, "nodes" },
                  { { .nesting = 3 }, "nodes/3" },
                  { { .memory_bytes = 2000 }, "memory limit" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rig r;
        rig_init(&r);
        cutis_context *context =
            make_context(&(cutis_context_options){ .limits = cases[i].limits });
        cutis_model *model = NULL;
        assert_int_equal(cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &model),
                         CUTIS_LIMIT_EXCEEDED);
        if (!strstr(cutis_context_error(context), cases[i].place))
            fail_msg("\"%s\" lacks \"%s\"", cutis_context_error(context), cases[i].place);
        assert_int_equal(cutis_context_memory(context), 0);
        cutis_context_destroy(context);
    }
}

static void instances_that_exceed_the_vertex_limit_together_are_refused(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    r.nodes[0].mesh = 0; // 7 vertices twice
    cutis_context *context =
        make_context(&(cutis_context_options){ .limits = { .vertex_count = 13 } });
    cutis_model *model = NULL;
    assert_int_equal(cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &model),
                     CUTIS_LIMIT_EXCEEDED);
    assert_non_null(strstr(cutis_context_error(context), "nodes/4"));
    cutis_context_destroy(context);
}

// Fails the n-th allocation, counts those alive.
typedef struct {
    long countdown, alive, calls;
} flaky;

static void *flaky_allocate(void *user, size_t size, size_t alignment)
{
    flaky *f = user;
    f->calls++;
    if (f->countdown-- == 0) return NULL;
    f->alive++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void flaky_release(void *user, void *memory, size_t size)
{
    (void)size;
    ((flaky *)user)->alive--;
    free(memory);
}

static void running_out_of_memory_at_any_allocation_leaks_nothing(void **state)
{
    (void)state;
    for (int gate = 0; gate < 2; gate++) {
        rig r;
        rig_init(&r);
        if (gate)
            r.weights[0] = NAN, r.normals[0] = NAN, r.times[2] = 0, r.inverse_binds[0].m[0] = 0;
        flaky f = { .countdown = -1 };
        cutis_context *context = make_context(
            &(cutis_context_options){ .allocator = { flaky_allocate, flaky_release, &f } });
        long base = f.alive, failures = 0;
        cutis_model *model = NULL;
        cutis_sampler *sampler = NULL;
        for (long n = 0;; n++) {
            f.countdown = n;
            cutis_result result = cutis_model_create(context, &r.data, (cutis_gate)gate, &model);
            if (result == CUTIS_OK) result = cutis_sampler_create(model, 0, &sampler);
            if (result == CUTIS_OK) break;
            assert_int_equal(result, CUTIS_OUT_OF_MEMORY);
            cutis_model_destroy(model);
            model = NULL;
            assert_int_equal(f.alive, base);
            failures++;
            assert_true(n < 1000);
        }
        assert_true(failures >= 8); // every allocation had its turn
        cutis_sampler_destroy(sampler);
        cutis_model_destroy(model);
        assert_int_equal(f.alive, base);
        cutis_context_destroy(context);
        assert_int_equal(f.alive, 0);
    }
}

static const cutis_issue *find_issue(const cutis_model *model, const char *code)
{
    const cutis_issue *issues;
    uint32_t count = cutis_model_issues(model, &issues);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(issues[i].code, code) == 0) return &issues[i];
    fail_msg("no issue %s among %u", code, count);
    return NULL;
}

static cutis_model *repair(cutis_context *context, rig *r)
{
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &r->data, CUTIS_GATE_REPAIR, &model));
    // What was repaired passes the strict gate.
    cutis_model *again = NULL;
    assert_ok(context,
              cutis_model_create(context, cutis_model_get(model), CUTIS_GATE_REFUSE, &again));
    cutis_model_destroy(again);
    return model;
}

static void repairing_cleans_weights_and_counts_them(void **state)
{
    (void)state;
    cutis_context *context = make_context(NULL);
    rig r;
    rig_init(&r);
    r.primitives[1].influences = (cutis_influences){ 0 };
    r.weights[0] = NAN, r.weights[2] = -1; // vertices 0 and 1 keep 0.75 on joint 1
    r.joints[4] = 7;                       // vertex 2 loses joint 7
    r.joints[6] = 1;                       // vertex 3 has joint 1 twice: 0.25 + 0.75
    cutis_model *model = repair(context, &r);
    const cutis_influences *i = &cutis_model_get(model)->meshes[0].primitives[0].influences;
    assert_int_equal(find_issue(model, "WEIGHT_INVALID")->count, 2);
    assert_int_equal(find_issue(model, "JOINT_OUT_OF_RANGE")->count, 1);
    assert_int_equal(find_issue(model, "JOINT_DUPLICATED")->count, 1);
    assert_int_equal(find_issue(model, "WEIGHTS_NON_NORMALIZED")->count, 3);
    assert_string_equal(find_issue(model, "WEIGHT_INVALID")->place, "meshes/0/primitives/0");
    for (uint32_t v = 0; v < 4; v++) {
        double sum = 0, on_one = 0;
        for (uint32_t k = i->first[v]; k < i->first[v + 1]; k++) {
            sum += i->weights[k];
            on_one += i->joints[k] == 1 ? i->weights[k] : 0;
        }
        assert_near(sum, 1, 1e-7);
        assert_near(on_one, 1, 1e-7);
    }
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void repairing_sorts_keys_and_drops_doubled_and_broken_ones(void **state)
{
    (void)state;
    cutis_context *context = make_context(NULL);
    rig r;
    rig_init(&r);
    float times[6] = { 1, 0.5f, 0.25f, NAN, 0.5f, -1 };
    float values[18] = { 0 };
    for (int k = 0; k < 6; k++) values[3 * k] = (float)k;
    r.channels[0].key_count = 6, r.channels[0].times = times, r.channels[0].values = values;
    cutis_model *model = repair(context, &r);
    const cutis_channel *channel = &cutis_model_get(model)->clips[0].channels[0];
    assert_int_equal(channel->key_count, 3);
    const float want_times[3] = { 0.25f, 0.5f, 1 }, want_values[3] = { 2, 4, 0 };
    for (int k = 0; k < 3; k++) {
        assert_near(channel->times[k], want_times[k], 0);
        assert_near(channel->values[3 * k], want_values[k], 0);
    }
    assert_int_equal(find_issue(model, "KEYS_REPAIRED")->count, 3);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void repairing_drops_second_channels_and_unusable_ones(void **state)
{
    (void)state;
    cutis_context *context = make_context(NULL);
    rig r;
    rig_init(&r);
    float nan_time[1] = { NAN };
    r.channels[2] = r.channels[0];
    r.channels[1].key_count = 1, r.channels[1].times = nan_time;
    cutis_model *model = repair(context, &r);
    assert_int_equal(cutis_model_get(model)->clips[0].channel_count, 2);
    assert_int_equal(cutis_model_get(model)->clips[0].channels[1].path, CUTIS_PATH_WEIGHTS);
    find_issue(model, "CHANNEL_DROPPED");
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void repairing_makes_singular_inverse_binds_from_the_nodes(void **state)
{
    (void)state;
    cutis_context *context = make_context(NULL);
    rig r;
    rig_init(&r);
    r.nodes[0].rest.translation.x = 3;
    memset(&r.inverse_binds[1], 0, sizeof r.inverse_binds[1]);
    cutis_model *model = repair(context, &r);
    // world(2) = translation (3, 1, 0)
    const float want[12] = { 1, 0, 0, -3, 0, 1, 0, -1, 0, 0, 1, 0 };
    for (int k = 0; k < 12; k++)
        assert_near(cutis_model_get(model)->skins[0].inverse_binds[1].m[k], want[k], 1e-7);
    assert_int_equal(find_issue(model, "INVERSE_BIND_SINGULAR")->count, 1);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void repairing_recomputes_normals_from_the_faces(void **state)
{
    (void)state;
    cutis_context *context = make_context(NULL);
    rig r;
    rig_init(&r);
    r.normals[6] = NAN, r.normals[7] = 5;
    r.colors[0] = NAN, r.texcoords[0] = INFINITY;
    cutis_model *model = repair(context, &r);
    const cutis_primitive *p = &cutis_model_get(model)->meshes[0].primitives[0];
    const float want[3] = { 0, 0, 1 }; // the plate lies in the xy plane, counter-clockwise from +z
    for (int k = 0; k < 3; k++) assert_near(p->normals[6 + k], want[k], 1e-7);
    assert_near(p->colors[0], 1, 0);
    assert_near(p->texcoords[0], 0, 0);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void what_cannot_be_repaired_is_refused_when_repairing_too(void **state)
{
    (void)state;
    void (*const breaks[])(rig *) = { break_nan_position,     break_index_range,
                                      break_parent_self,      break_nan_translation,
                                      break_first_descends,   break_nan_target,
                                      break_skin_joint_range, break_nan_matrix };
    cutis_context *context = make_context(NULL);
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        rig r;
        rig_init(&r);
        breaks[i](&r);
        cutis_model *model = NULL;
        assert_int_equal(cutis_model_create(context, &r.data, CUTIS_GATE_REPAIR, &model),
                         CUTIS_CORRUPT_DATA);
        assert_null(model);
    }
    cutis_context_destroy(context);
}

static void a_joint_must_fit_every_skin_a_mesh_is_used_with_in_the_scene_or_not(void **state)
{
    (void)state;
    cutis_context *context = make_context(NULL);
    rig r;
    rig_init(&r);
    cutis_skin skins[2] = { r.skin, r.skin };
    skins[1].joint_count = 1;
    r.data.skins = skins, r.data.skin_count = 2;
    r.nodes[0].mesh = 0, r.nodes[0].skin = 1, r.nodes[0].outside = true;
    cutis_model *model = NULL;
    assert_int_equal(cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &model),
                     CUTIS_CORRUPT_DATA);
    assert_non_null(strstr(cutis_context_error(context), "joint 1 of vertex 0 is 1"));
    cutis_context_destroy(context);
}

static void names_that_are_no_utf8_lose_only_their_bad_bytes(void **state)
{
    (void)state;
    cutis_context *context = make_context(NULL);
    rig r;
    rig_init(&r);
    // Latin-1 ue; a good e-acute; an overlong slash; a surrogate; a good emoji.
    r.nodes[1].name = "T\xFCr \xC3\xA9 \xC0\xAF \xED\xA0\x80 \xF0\x9F\x98\x80";
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &model));
    assert_string_equal(cutis_model_get(model)->nodes[1].name,
                        "T?r \xC3\xA9 ?? ??? \xF0\x9F\x98\x80");
    assert_int_equal(find_issue(model, "NAME_NOT_UTF8")->count, 6);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void a_vertex_with_thousands_of_doubled_joints_is_repaired_quickly_and_right(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    cutis_context *context = make_context(NULL);
    rig r;
    rig_init(&r);
    uint32_t *joints = malloc(MANY * sizeof *joints), first[2] = { 0, MANY };
    float *weights = malloc(MANY * sizeof *weights);
    for (int i = 0; i < MANY; i++) joints[i] = (uint32_t)(i & 1), weights[i] = i & 1 ? 3.0f : 1.0f;
    r.primitives[1] = (cutis_primitive){ .topology = CUTIS_TOPOLOGY_POINTS,
                                         .vertex_count = 1,
                                         .positions = r.positions,
                                         .material = CUTIS_NONE,
                                         .influences = { first, joints, weights } };
    cutis_model *model = repair(context, &r);
    const cutis_influences *i = &cutis_model_get(model)->meshes[0].primitives[1].influences;
    assert_int_equal(i->first[1], 2);
    assert_near(i->weights[0], 0.25, 1e-6);
    assert_near(i->weights[1], 0.75, 1e-6);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
    free(joints);
    free(weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_healthy_model_passes_unchanged),
        cmocka_unit_test(the_callers_arrays_may_go_after_create),
        cmocka_unit_test(every_broken_model_is_refused_with_its_place),
        cmocka_unit_test(limits_of_the_context_are_kept),
        cmocka_unit_test(instances_that_exceed_the_vertex_limit_together_are_refused),
        cmocka_unit_test(running_out_of_memory_at_any_allocation_leaks_nothing),
        cmocka_unit_test(repairing_cleans_weights_and_counts_them),
        cmocka_unit_test(repairing_sorts_keys_and_drops_doubled_and_broken_ones),
        cmocka_unit_test(repairing_drops_second_channels_and_unusable_ones),
        cmocka_unit_test(repairing_makes_singular_inverse_binds_from_the_nodes),
        cmocka_unit_test(repairing_recomputes_normals_from_the_faces),
        cmocka_unit_test(what_cannot_be_repaired_is_refused_when_repairing_too),
        cmocka_unit_test(a_joint_must_fit_every_skin_a_mesh_is_used_with_in_the_scene_or_not),
        cmocka_unit_test(names_that_are_no_utf8_lose_only_their_bad_bytes),
        cmocka_unit_test(a_vertex_with_thousands_of_doubled_joints_is_repaired_quickly_and_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
