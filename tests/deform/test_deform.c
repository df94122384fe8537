/// cutis_bind and cutis_deform as callers meet them: what they refuse, and what they do with nodes,
/// morph targets, strides, instances, threads and odd bones.
#include "rig.h"

#include "deform/skin.h"

#include <pthread.h>

/// Two joints in a chain under an armature node, a skinned strip with morph targets, and a plain
/// box corner on a node.
enum { ARMATURE, UPPER, LOWER, SKINNED, BOX, NODES };
enum { STRIP_VERTICES = 40, BOX_VERTICES = 3, VERTICES = STRIP_VERTICES + BOX_VERTICES };

typedef struct scene {
    cutis_context *context;
    cutis_device *device;
    cutis_model *model;
    cutis_binding *binding;
    float positions[3 * STRIP_VERTICES], deltas[2][3 * STRIP_VERTICES], weights[2 * STRIP_VERTICES];
    float normals[3 * STRIP_VERTICES], tangents[4 * STRIP_VERTICES],
        normal_deltas[3 * STRIP_VERTICES];
    uint32_t first[STRIP_VERTICES + 1], joints[2 * STRIP_VERTICES],
        indices[3 * (STRIP_VERTICES - 2)];
    cutis_transform pose[NODES];
} scene;

static const float BOX_POSITIONS[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };

static void fill_strip(scene *s)
{
    for (uint32_t v = 0; v < STRIP_VERTICES; v++) {
        float z = (float)(v / 2) * 0.1f, w = z < 0.5f ? 0 : z > 1.5f ? 1 : z - 0.5f;
        float p[3] = { v % 2 ? 0.5f : -0.5f, 0, z };
        memcpy(s->positions + 3 * v, p, sizeof p);
        memcpy(s->normals + 3 * v, (float[]){ 0, 1, 0 }, sizeof p);
        memcpy(s->tangents + 4 * v, (float[]){ 1, 0, 0, -1 }, 4 * sizeof(float));
        s->first[v] = 2 * v;
        s->joints[2 * v + 1] = 1;
        s->weights[2 * v] = 1 - w, s->weights[2 * v + 1] = w;
        if (v < 10)
            s->deltas[0][3 * v + 1] = 1; // the first moves y of some, the second x of the others
        if (v >= 10) s->deltas[1][3 * v] = 2;
        if (v < 10) s->normal_deltas[3 * v] = 1;
        for (uint32_t k = 0; k < 3 && v < STRIP_VERTICES - 2; k++) s->indices[3 * v + k] = v + k;
    }
    s->first[STRIP_VERTICES] = 2 * STRIP_VERTICES;
}

static cutis_model *scene_model(scene *s)
{
    static const cutis_transform IDENTITY = { .rotation = { 0, 0, 0, 1 }, .scale = { 1, 1, 1 } };
    cutis_node nodes[NODES];
    for (int i = 0; i < NODES; i++)
        nodes[i] = (cutis_node){
            .parent = CUTIS_NONE, .rest = IDENTITY, .mesh = CUTIS_NONE, .skin = CUTIS_NONE
        };
    nodes[UPPER].parent = ARMATURE, nodes[LOWER].parent = UPPER;
    nodes[LOWER].rest.translation.z = 1;
    nodes[SKINNED].mesh = nodes[SKINNED].skin = 0;
    nodes[SKINNED].rest.translation.x = 100; // a skinned mesh does not follow its node
    nodes[BOX].mesh = 1;
    nodes[BOX].rest.translation.y = 3;
    const cutis_mat34 binds[2] = { { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } },
                                   { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, -1 } } };
    const uint32_t joints[2] = { UPPER, LOWER }, box[3] = { 0, 1, 2 };
    const cutis_skin skin = {
        .joint_count = 2, .joints = joints, .inverse_binds = binds, .root = CUTIS_NONE
    };
    const cutis_morph_target targets[2] = {
        { .positions = s->deltas[0], .normals = s->normal_deltas }, { .positions = s->deltas[1] }
    };
    const float rest_weights[2] = { 0.25f, 0 };
    const cutis_primitive strip = { .vertex_count = STRIP_VERTICES,
                                    .index_count = 3 * (STRIP_VERTICES - 2),
                                    .indices = s->indices,
                                    .positions = s->positions,
                                    .normals = s->normals,
                                    .tangents = s->tangents,
                                    .influences = { s->first, s->joints, s->weights },
                                    .targets = targets,
                                    .material = CUTIS_NONE };
    const cutis_primitive corner = { .vertex_count = 3,
                                     .index_count = 3,
                                     .indices = box,
                                     .positions = BOX_POSITIONS,
                                     .material = CUTIS_NONE };
    const cutis_mesh meshes[2] = { { .primitive_count = 1,
                                     .primitives = &strip,
                                     .target_count = 2,
                                     .target_weights = rest_weights },
                                   { .primitive_count = 1, .primitives = &corner } };
    cutis_model *model = NULL;
    assert_ok(s->context, cutis_model_create(s->context,
                                             &(cutis_model_data){ .node_count = NODES,
                                                                  .mesh_count = 2,
                                                                  .skin_count = 1,
                                                                  .nodes = nodes,
                                                                  .meshes = meshes,
                                                                  .skins = &skin },
                                             CUTIS_GATE_REFUSE, &model));
    return model;
}

static int scene_setup(void **state)
{
    scene *s = calloc(1, sizeof *s);
    assert_int_equal(cutis_context_create(NULL, &s->context), CUTIS_OK);
    assert_ok(
        s->context,
        cutis_device_create(s->context, &(cutis_device_options){ .thread_count = 2 }, &s->device));
    fill_strip(s);
    s->model = scene_model(s);
    cutis_pose_rest(s->model, s->pose, NULL);
    *state = s;
    return 0;
}

static int scene_teardown(void **state)
{
    scene *s = *state;
    cutis_binding_destroy(s->binding);
    cutis_model_destroy(s->model);
    cutis_device_destroy(s->device);
    uint64_t left = cutis_context_memory(s->context);
    cutis_context_destroy(s->context);
    free(s);
    return left == 0 ? 0 : -1; // a leak fails the test
}

static cutis_binding *bind_with(scene *s, cutis_bind_options options)
{
    cutis_binding_destroy(s->binding);
    s->binding = NULL;
    assert_ok(s->context, cutis_bind(s->device, s->model, &options, &s->binding));
    return s->binding;
}

static void turn_lower(scene *s, float radians)
{
    s->pose[LOWER].rotation = cutis_quat_from_axis_angle((cutis_float3){ 1, 0, 0 }, radians);
}

// ---------------------------------------------------------------------------------------------------

static void methods_have_names_and_names_have_methods(void **state)
{
    (void)state;
    static const char *const NAMES[5] = { "lbs", "rigid", "sbs", "dqs", "cor" };
    for (int i = 0; i < 5; i++) {
        cutis_method method;
        assert_string_equal(cutis_method_name((cutis_method)i), NAMES[i]);
        assert_int_equal(cutis_method_from_name(NAMES[i], &method), CUTIS_OK);
        assert_int_equal(method, i);
    }
    cutis_method method;
    assert_int_equal(cutis_method_from_name("linear", &method), CUTIS_NOT_FOUND);
}

static void unskinned_meshes_move_with_their_node_and_skinned_ones_do_not(void **state)
{
    scene *s = *state;
    float out[3 * VERTICES];
    cutis_binding *binding = bind_with(s, (cutis_bind_options){ 0 });
    assert_int_equal(cutis_binding_describe(binding).vertex_count, VERTICES);
    assert_int_equal(cutis_binding_describe(binding).bone_count, 3);
    s->pose[BOX].rotation = cutis_quat_from_axis_angle((cutis_float3){ 0, 0, 1 }, (float)PI / 2);
    s->pose[BOX].scale = (cutis_float3){ 2, 3, 1 };
    float morphs[2] = { 0, 0 };
    assert_ok(s->context,
              cutis_deform(binding, &(cutis_poses){ .local = s->pose, .morph_weights = morphs }, 1,
                           &(cutis_outputs){ .positions = { .data = out } }));
    const float *box = out + 3 * STRIP_VERTICES; // x -> 2 y, y -> -3 x, then up by 3
    const float expected[9] = { 0, 3, 0, 0, 5, 0, -3, 3, 0 };
    for (int i = 0; i < 9; i++) assert_near(box[i], expected[i], 1e-6);
    for (int i = 0; i < 3 * STRIP_VERTICES; i++) assert_near(out[i], s->positions[i], 1e-6);
}

static void morph_targets_add_their_deltas_before_the_bones(void **state)
{
    scene *s = *state;
    float out[3 * VERTICES], normals[3 * VERTICES];
    cutis_binding *binding = bind_with(s, (cutis_bind_options){ .normals = true });
    assert_int_equal(cutis_model_target_count(s->model), 2);
    const float WEIGHTS[3][2] = { { 0.25f, 0 }, { 1, 0.5f }, { -2, 1 } };
    turn_lower(s, 0.7f);
    for (int k = 0; k < 3; k++) {
        const float *w = k ? WEIGHTS[k] : NULL; // none given: the rest weights of the mesh
        assert_ok(s->context,
                  cutis_deform(binding, &(cutis_poses){ .local = s->pose, .morph_weights = w }, 1,
                               &(cutis_outputs){ .positions = { .data = out },
                                                 .normals = { .data = normals } }));
        for (uint32_t v = 0; v < STRIP_VERTICES; v++) {
            ref_vertex x = { .n = 2,
                             .w = { s->weights[2 * v], s->weights[2 * v + 1] },
                             .even = true };
            double p[3], n[3];
            ref_turn_about((double[]){ 1, 0, 0 }, 0, (double[]){ 0, 0, 1 }, x.m[0]);
            ref_turn_about((double[]){ 1, 0, 0 }, 0.7f, (double[]){ 0, 0, 1 }, x.m[1]);
            for (uint32_t c = 0; c < 3; c++) {
                x.v[c] = s->positions[3 * v + c] + WEIGHTS[k][0] * s->deltas[0][3 * v + c] +
                         WEIGHTS[k][1] * s->deltas[1][3 * v + c];
                x.normal[c] = s->normals[3 * v + c] + WEIGHTS[k][0] * s->normal_deltas[3 * v + c];
            }
            ref_deform(REF_LBS, &x, p, n);
            for (uint32_t c = 0; c < 3; c++) {
                assert_near(out[3 * v + c], p[c], 2e-6);
                assert_near(normals[3 * v + c], n[c], 2e-6);
            }
        }
    }
}

static void blocks_list_only_the_targets_that_move_them(void **state)
{
    scene *s = *state;
    const cutis_skin_layout *layout =
        &cutis_skin_of(bind_with(s, (cutis_bind_options){ 0 }))->layout;
    for (uint32_t k = 0; k < layout->block_count; k++) {
        bool wanted[2] = { false, false }, listed[2] = { false, false };
        for (uint32_t l = 0; l < layout->block_size; l++) {
            uint32_t v = layout->vertices[k * layout->block_size + l];
            if (v < STRIP_VERTICES) wanted[v >= 10] = true;
        }
        for (uint32_t i = layout->morph_first[k]; i < layout->morph_first[k + 1]; i++)
            listed[layout->morph_target[i]] = true;
        for (int t = 0; t < 2; t++) assert_int_equal(listed[t], wanted[t]);
    }
}

static void the_three_kinds_of_pose_agree(void **state)
{
    scene *s = *state;
    float local[3 * VERTICES], other[3 * VERTICES];
    cutis_mat34 world[NODES], palette[3];
    s->pose[ARMATURE].scale = (cutis_float3){ 0.01f, 0.01f, 0.01f };
    s->pose[ARMATURE].translation = (cutis_float3){ 1, 2, 3 };
    turn_lower(s, 1.1f);
    for (int method = 0; method <= CUTIS_METHOD_COR; method++) {
        cutis_binding *binding =
            bind_with(s, (cutis_bind_options){ .method = (cutis_method)method });
        cutis_pose_world(s->model, s->pose, world);
        cutis_binding_palette(binding, s->pose, palette);
        cutis_outputs outputs = { .positions = { .data = local } };
        assert_ok(s->context,
                  cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1, &outputs));
        outputs.positions.data = other;
        assert_ok(s->context,
                  cutis_deform(binding,
                               &(cutis_poses){ .kind = CUTIS_POSE_WORLD, .matrices = world }, 1,
                               &outputs));
        for (int i = 0; i < 3 * VERTICES; i++) assert_near(other[i], local[i], 1e-6);
        assert_ok(s->context,
                  cutis_deform(binding,
                               &(cutis_poses){ .kind = CUTIS_POSE_PALETTE, .matrices = palette }, 1,
                               &outputs));
        for (int i = 0; i < 3 * VERTICES; i++) assert_near(other[i], local[i], 1e-6);
    }
}

static void an_armature_scaled_by_a_hundredth_scales_the_result(void **state)
{
    scene *s = *state;
    float full[3 * VERTICES], small[3 * VERTICES], normals[2][3 * VERTICES];
    turn_lower(s, 1.3f);
    for (int method = 0; method <= CUTIS_METHOD_COR; method++) {
        cutis_binding *binding = bind_with(s, (cutis_bind_options){ .method = (cutis_method)method,
                                                                    .normals = true,
                                                                    .raw_normals = true });
        s->pose[ARMATURE].scale = (cutis_float3){ 1, 1, 1 };
        assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1,
                                           &(cutis_outputs){ .positions = { .data = full },
                                                             .normals = { .data = normals[0] } }));
        s->pose[ARMATURE].scale = (cutis_float3){ 0.01f, 0.01f, 0.01f };
        s->pose[BOX].scale = s->pose[ARMATURE].scale; // so that all bones share the factor
        assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1,
                                           &(cutis_outputs){ .positions = { .data = small },
                                                             .normals = { .data = normals[1] } }));
        s->pose[BOX].scale = (cutis_float3){ 1, 1, 1 };
        for (int i = 0; i < 3 * STRIP_VERTICES; i++) {
            assert_near(small[i], 0.01 * full[i], 2e-8);
            assert_near(normals[1][i], normals[0][i], 1e-5);
            assert_true(fabsf(normals[1][i]) <= 1.00001f);
        }
    }
}

static void a_mirrored_armature_keeps_normals_outward(void **state)
{
    scene *s = *state;
    float plain[3 * VERTICES], mirrored[3 * VERTICES], normals[2][3 * VERTICES];
    turn_lower(s, 0.9f);
    for (int method = 0; method <= CUTIS_METHOD_COR; method++) {
        cutis_binding *binding =
            bind_with(s, (cutis_bind_options){ .method = (cutis_method)method, .normals = true });
        s->pose[ARMATURE].scale.x = 1;
        assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1,
                                           &(cutis_outputs){ .positions = { .data = plain },
                                                             .normals = { .data = normals[0] } }));
        s->pose[ARMATURE].scale.x = -1;
        assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1,
                                           &(cutis_outputs){ .positions = { .data = mirrored },
                                                             .normals = { .data = normals[1] } }));
        for (int i = 0; i < 3 * STRIP_VERTICES; i++) { // the image in the plane x = 0
            double sign = i % 3 == 0 ? -1 : 1;
            assert_near(mirrored[i], sign * plain[i], 2e-6);
            // LBS changes from the blended matrix to its cofactors: directions agree where one bone
            // acts
            uint32_t v = (uint32_t)i / 3;
            if (method == CUTIS_METHOD_LBS && s->weights[2 * v] > 0 && s->weights[2 * v + 1] > 0)
                continue;
            assert_near(normals[1][i], sign * normals[0][i], 1e-5);
        }
    }
}

static void a_hidden_bone_turns_as_its_local_rotations_say(void **state)
{
    scene *s = *state;
    float out[3 * VERTICES], nearly[3 * VERTICES];
    turn_lower(s, 1.2f);
    for (int method = CUTIS_METHOD_SBS; method <= CUTIS_METHOD_COR; method++) {
        cutis_binding *binding =
            bind_with(s, (cutis_bind_options){ .method = (cutis_method)method });
        // The limit from a small scale, whose rotation is still defined by the matrix.
        s->pose[LOWER].scale = (cutis_float3){ 0, 0, 0 };
        assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1,
                                           &(cutis_outputs){ .positions = { .data = out } }));
        s->pose[LOWER].scale = (cutis_float3){ 1e-4f, 1e-4f, 1e-4f };
        assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1,
                                           &(cutis_outputs){ .positions = { .data = nearly } }));
        for (int i = 0; i < 3 * VERTICES; i++) assert_near(out[i], nearly[i], 5e-4);
        for (uint32_t v = 0; v < STRIP_VERTICES;
             v++) // vertices of the hidden bone alone collapse to its joint
            if (s->weights[2 * v] == 0) assert_near(out[3 * v + 2], 1, 1e-6);
    }
}

static void bounds_are_tight_and_can_be_asked_for_alone(void **state)
{
    scene *s = *state;
    enum { COUNT = 3 };
    float out[COUNT * 3 * VERTICES];
    cutis_transform poses[COUNT * NODES];
    cutis_bounds bounds[2][COUNT];
    cutis_binding *binding = bind_with(s, (cutis_bind_options){ .method = CUTIS_METHOD_DQS });
    for (int i = 0; i < COUNT; i++) {
        turn_lower(s, 0.5f * (float)i);
        memcpy(poses + i * NODES, s->pose, sizeof s->pose);
    }
    assert_ok(s->context,
              cutis_deform(binding, &(cutis_poses){ .local = poses }, COUNT,
                           &(cutis_outputs){ .positions = { .data = out }, .bounds = bounds[0] }));
    assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = poses }, COUNT,
                                       &(cutis_outputs){ .bounds = bounds[1] }));
    assert_memory_equal(bounds[0], bounds[1], sizeof bounds[0]);
    for (int i = 0; i < COUNT; i++) {
        float low[3] = { 1e9f, 1e9f, 1e9f }, high[3] = { -1e9f, -1e9f, -1e9f };
        for (int k = 0; k < 3 * VERTICES; k++) {
            float x = out[i * 3 * VERTICES + k];
            low[k % 3] = x < low[k % 3] ? x : low[k % 3];
            high[k % 3] = x > high[k % 3] ? x : high[k % 3];
        }
        assert_memory_equal(&bounds[0][i].min, low, sizeof low);
        assert_memory_equal(&bounds[0][i].max, high, sizeof high);
    }
}

static void previous_positions_are_what_positions_held_before(void **state)
{
    scene *s = *state;
    float out[3 * VERTICES], before[3 * VERTICES], kept[3 * VERTICES];
    cutis_binding *binding = bind_with(s, (cutis_bind_options){ 0 });
    turn_lower(s, 0.3f);
    assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1,
                                       &(cutis_outputs){ .positions = { .data = out } }));
    memcpy(before, out, sizeof out);
    turn_lower(s, 0.9f);
    assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1,
                                       &(cutis_outputs){ .positions = { .data = out },
                                                         .previous_positions = { .data = kept } }));
    assert_memory_equal(kept, before, sizeof before);
    assert_true(memcmp(out, before, sizeof out) != 0);
}

static void strides_leave_what_is_between_alone(void **state)
{
    scene *s = *state;
    enum { COUNT = 5, STRIDE = 9 };
    float packed[COUNT * 3 * VERTICES], spread[COUNT * (VERTICES * STRIDE + 11)];
    cutis_transform poses[COUNT * NODES];
    cutis_binding *binding = bind_with(s, (cutis_bind_options){ .instance_capacity = 2 });
    for (int i = 0; i < COUNT; i++) {
        turn_lower(s, 0.3f * (float)i);
        memcpy(poses + i * NODES, s->pose, sizeof s->pose);
    }
    for (size_t i = 0; i < sizeof spread / sizeof *spread; i++) spread[i] = -77;
    assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = poses }, COUNT,
                                       &(cutis_outputs){ .positions = { .data = packed } }));
    assert_ok(s->context,
              cutis_deform(binding, &(cutis_poses){ .local = poses }, COUNT,
                           &(cutis_outputs){
                               .positions = { .data = spread + 2,
                                              .stride = 4 * STRIDE,
                                              .instance_stride = 4 * (VERTICES * STRIDE + 11) } }));
    for (int i = 0; i < COUNT; i++)
        for (int v = 0; v < VERTICES; v++)
            for (int c = 0; c < STRIDE; c++) {
                float x = spread[i * (VERTICES * STRIDE + 11) + v * STRIDE + c + 2];
                if (v == VERTICES - 1 && c >= 3) continue;
                assert_true(c < 3 ? x == packed[3 * (i * VERTICES + v) + c] : x == -77);
            }
}

static void many_instances_equal_one_at_a_time(void **state)
{
    scene *s = *state;
    enum { COUNT = 700 };
    float *many = calloc(COUNT, 3 * VERTICES * sizeof *many), one[3 * VERTICES];
    cutis_transform *poses = calloc(COUNT * NODES, sizeof *poses);
    for (int i = 0; i < COUNT; i++) {
        turn_lower(s, 0.004f * (float)i);
        if (i % 5 == 0) s->pose[UPPER].scale.y = 1.5f; // some instances take the general path
        memcpy(poses + i * NODES, s->pose, sizeof s->pose);
        s->pose[UPPER].scale.y = 1;
    }
    for (int method = 0; method <= CUTIS_METHOD_COR; method++) {
        cutis_binding *binding =
            bind_with(s, (cutis_bind_options){ .method = (cutis_method)method });
        assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = poses }, COUNT,
                                           &(cutis_outputs){ .positions = { .data = many } }));
        for (int i = 0; i < COUNT; i += 13) {
            assert_ok(s->context,
                      cutis_deform(binding, &(cutis_poses){ .local = poses + i * NODES }, 1,
                                   &(cutis_outputs){ .positions = { .data = one } }));
            assert_memory_equal(one, many + (size_t)i * 3 * VERTICES, sizeof one);
        }
    }
    assert_int_equal(
        cutis_deform(s->binding, &(cutis_poses){ .local = poses }, 0, &(cutis_outputs){ 0 }),
        CUTIS_OK);
    free(many), free(poses);
}

typedef struct caller {
    scene *s;
    float angle;
    bool wrong;
} caller;

static void *call_often(void *data)
{
    caller *c = data;
    float first[3 * VERTICES], out[3 * VERTICES];
    cutis_transform pose[NODES];
    memcpy(pose, c->s->pose, sizeof pose);
    pose[LOWER].rotation = cutis_quat_from_axis_angle((cutis_float3){ 1, 0, 0 }, c->angle);
    for (int i = 0; i < 300; i++) {
        cutis_outputs outputs = { .positions = { .data = i ? out : first } };
        if (cutis_deform(c->s->binding, &(cutis_poses){ .local = pose }, 1, &outputs) != CUTIS_OK)
            c->wrong = true;
        if (i && memcmp(first, out, sizeof out) != 0) c->wrong = true;
    }
    return NULL;
}

static void several_threads_deform_at_once(void **state)
{
    scene *s = *state;
    for (uint32_t slots = 0; slots <= 2;
         slots++) { // fewer slots than threads: they wait for each other
        bind_with(s, (cutis_bind_options){ .method = CUTIS_METHOD_SBS, .concurrent_calls = slots });
        caller callers[4];
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) {
            callers[i] = (caller){ s, 0.2f * (float)i, false };
            assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
            assert_false(callers[i].wrong);
        }
    }
}

static void nothing_is_allocated_while_deforming(void **state)
{
    scene *s = *state;
    float out[3 * VERTICES];
    for (int method = 0; method <= CUTIS_METHOD_COR; method++) {
        cutis_binding *binding =
            bind_with(s, (cutis_bind_options){ .method = (cutis_method)method });
        uint64_t before = cutis_context_memory(s->context);
        assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1,
                                           &(cutis_outputs){ .positions = { .data = out } }));
        assert_int_equal(cutis_context_memory(s->context), before);
        assert_true(cutis_binding_describe(binding).memory_bytes > sizeof out);
    }
}

static void arguments_that_cannot_be_meant_are_refused_and_nothing_is_written(void **state)
{
    scene *s = *state;
    float out[3 * VERTICES + 1], same[3 * VERTICES + 1];
    memset(out, 0x5a, sizeof out);
    memcpy(same, out, sizeof out);
    cutis_buffer *small = NULL, *foreign = NULL;
    cutis_device *other = NULL;
    assert_ok(s->context, cutis_device_create(s->context, NULL, &other));
    assert_ok(s->context, cutis_buffer_create(s->device, 12, &small));
    assert_ok(s->context, cutis_buffer_create(other, 12 * VERTICES, &foreign));
    cutis_binding *binding = bind_with(s, (cutis_bind_options){ 0 });
    const cutis_poses fine = { .local = s->pose };
    const cutis_outputs bad[] = {
        { .positions = { .data = NULL } }, // nothing wanted
        { .normals = { .data = out } },    // not asked for at bind
        { .positions = { .data = out }, .tangents = { .data = out } },
        { .positions = { .data = out, .buffer = small } }, // both
        { .positions = { .data = out, .stride = 8 } },     // too narrow
        { .positions = { .data = out, .stride = 14 } },    // not a multiple of 4
        { .positions = { .data = (char *)out + 1 } },      // not aligned
        { .positions = { .buffer = small } },              // too small
        { .positions = { .buffer = foreign } },            // of another device
        { .previous_positions = { .data = out },
          .bounds = &(cutis_bounds){ { 0, 0, 0 }, { 0, 0, 0 } } }, // previous of what?
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(cutis_deform(binding, &fine, 1, &bad[i]), CUTIS_INVALID_ARGUMENT);
        assert_true(strlen(cutis_context_error(s->context)) > 10);
    }
    const cutis_outputs good = { .positions = { .data = out } };
    const cutis_outputs overlapping = { .positions = { .data = out, .instance_stride = 24 } };
    cutis_transform two[2 * NODES];
    for (int i = 0; i < 2 * NODES; i++) two[i] = s->pose[i % NODES];
    assert_int_equal(cutis_deform(binding, &(cutis_poses){ .local = two }, 2, &overlapping),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_deform(binding, &(cutis_poses){ 0 }, 1, &good), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_deform(binding,
                                  &(cutis_poses){ .kind = CUTIS_POSE_WORLD, .local = s->pose }, 1,
                                  &good),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_deform(binding,
                                  &(cutis_poses){ .kind = (cutis_pose_kind)7, .local = s->pose }, 1,
                                  &good),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_deform(binding, NULL, 1, &good), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_deform(binding, &fine, 1, NULL), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_deform(NULL, &fine, 1, &good), CUTIS_INVALID_ARGUMENT);
    assert_memory_equal(out, same, sizeof out);
    cutis_buffer_destroy(small);
    cutis_buffer_destroy(foreign);
    cutis_device_destroy(other);
}

static void poses_that_are_not_finite_are_refused_and_nothing_is_written(void **state)
{
    scene *s = *state;
    float out[3 * VERTICES], same[3 * VERTICES], morphs[2] = { 0, NAN };
    memset(out, 0x5a, sizeof out);
    memcpy(same, out, sizeof out);
    for (int method = 0; method <= CUTIS_METHOD_COR; method++) {
        cutis_binding *binding =
            bind_with(s, (cutis_bind_options){ .method = (cutis_method)method });
        const cutis_outputs outputs = { .positions = { .data = out } };
        const float BAD[3] = { NAN, INFINITY, -INFINITY };
        for (int k = 0; k < 30; k++) {
            cutis_transform pose[NODES];
            memcpy(pose, s->pose, sizeof pose);
            ((float *)&pose[k % NODES])[k % 10] = BAD[k % 3];
            assert_int_equal(cutis_deform(binding, &(cutis_poses){ .local = pose }, 1, &outputs),
                             CUTIS_INVALID_ARGUMENT);
        }
        assert_int_equal(cutis_deform(binding,
                                      &(cutis_poses){ .local = s->pose, .morph_weights = morphs },
                                      1, &outputs),
                         CUTIS_INVALID_ARGUMENT);
        cutis_transform huge[NODES]; // finite, but its products are not
        memcpy(huge, s->pose, sizeof huge);
        huge[ARMATURE].scale = huge[UPPER].scale = (cutis_float3){ 1e30f, 1e30f, 1e30f };
        assert_int_equal(cutis_deform(binding, &(cutis_poses){ .local = huge }, 1, &outputs),
                         CUTIS_INVALID_ARGUMENT);
        assert_memory_equal(out, same, sizeof out);
    }
}

static void options_of_a_newer_version_are_refused(void **state)
{
    scene *s = *state;
    cutis_context *context = NULL;
    cutis_device *device = NULL;
    cutis_binding *binding = NULL;
    cutis_context_options c = { .struct_size = sizeof c };
    cutis_device_options d = { .struct_size = sizeof d };
    cutis_bind_options b = { .struct_size = sizeof b };
    for (int newer = 0; newer < 2; newer++) {
        const cutis_result expected = newer ? CUTIS_UNSUPPORTED : CUTIS_OK;
        assert_int_equal(cutis_context_create(&c, &context), expected);
        assert_int_equal(cutis_device_create(s->context, &d, &device), expected);
        assert_int_equal(cutis_bind(s->device, s->model, &b, &binding), expected);
        cutis_binding_destroy(binding);
        cutis_device_destroy(device);
        cutis_context_destroy(context);
        context = NULL, device = NULL, binding = NULL;
        c.struct_size++, d.struct_size++, b.struct_size++;
    }
}

static void impossible_requests_are_refused_at_bind(void **state)
{
    scene *s = *state;
    float blend[VERTICES] = { 0 };
    cutis_binding *binding = NULL;
    const cutis_bind_options unsupported[] = {
        { .method = CUTIS_METHOD_LBS, .weighted_centres = true },
        { .method = CUTIS_METHOD_DQS, .paper.centres = true },
        { .method = CUTIS_METHOD_COR, .paper.normals = true },
        { .method = CUTIS_METHOD_SBS, .paper.centres = true, .weighted_centres = true },
        { .method = CUTIS_METHOD_LBS, .blend = blend },
        { .method = CUTIS_METHOD_RIGID, .blend = blend },
    };
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++) {
        assert_int_equal(cutis_bind(s->device, s->model, &unsupported[i], &binding),
                         CUTIS_UNSUPPORTED);
        assert_null(binding);
    }
    assert_int_equal(cutis_bind(s->device, s->model,
                                &(cutis_bind_options){ .method = (cutis_method)10 }, &binding),
                     CUTIS_INVALID_ARGUMENT);
    blend[7] = 1.5f;
    assert_int_equal(cutis_bind(s->device, s->model,
                                &(cutis_bind_options){ .method = CUTIS_METHOD_SBS, .blend = blend },
                                &binding),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_bind(NULL, s->model, NULL, &binding), CUTIS_INVALID_ARGUMENT);
    assert_ok(s->context, cutis_bind(s->device, s->model, NULL, &s->binding));
}

static void blend_mixes_between_linear_and_the_method(void **state)
{
    scene *s = *state;
    float lbs[3 * VERTICES], dqs[3 * VERTICES], mixed[3 * VERTICES], blend[VERTICES];
    for (int v = 0; v < VERTICES; v++) blend[v] = (float)(v % 5) / 4;
    turn_lower(s, 1.5f);
    cutis_poses poses = { .local = s->pose };
    assert_ok(s->context, cutis_deform(bind_with(s, (cutis_bind_options){ 0 }), &poses, 1,
                                       &(cutis_outputs){ .positions = { .data = lbs } }));
    assert_ok(s->context,
              cutis_deform(bind_with(s, (cutis_bind_options){ .method = CUTIS_METHOD_DQS }), &poses,
                           1, &(cutis_outputs){ .positions = { .data = dqs } }));
    bind_with(s, (cutis_bind_options){ .method = CUTIS_METHOD_DQS, .blend = blend });
    assert_ok(s->context, cutis_deform(s->binding, &poses, 1,
                                       &(cutis_outputs){ .positions = { .data = mixed } }));
    for (int i = 0; i < 3 * VERTICES; i++)
        assert_near(mixed[i], lbs[i] + blend[i / 3] * (dqs[i] - lbs[i]), 1e-6);
}

static void tangents_follow_the_surface(void **state)
{
    scene *s = *state;
    float out[3 * VERTICES], tangents[4 * VERTICES];
    s->pose[ARMATURE].rotation =
        cutis_quat_from_axis_angle((cutis_float3){ 0, 0, 1 }, (float)PI / 2);
    s->pose[ARMATURE].scale = (cutis_float3){ -1, 2, 1 };
    for (int method = 0; method <= CUTIS_METHOD_COR; method++) {
        cutis_binding *binding =
            bind_with(s, (cutis_bind_options){
                             .method = (cutis_method)method, .tangents = true, .normals = true });
        assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1,
                                           &(cutis_outputs){ .positions = { .data = out },
                                                             .tangents = { .data = tangents } }));
        for (int v = 0; v < STRIP_VERTICES;
             v++) { // x is mirrored, then turned to -y; handedness flips
            const float expected[4] = { 0, -1, 0, 1 };
            for (int c = 0; c < 4; c++) assert_near(tangents[4 * v + c], expected[c], 1e-5);
        }
        for (int i = 4 * STRIP_VERTICES; i < 4 * VERTICES; i++) // the box has none
            if (i % 4 < 3) assert_true(tangents[i] == 0);
    }
}

static void meshes_without_normals_get_area_weighted_ones(void **state)
{
    scene *s = *state;
    float out[3 * VERTICES], normals[3 * VERTICES];
    cutis_binding *binding = bind_with(s, (cutis_bind_options){ .normals = true });
    assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->pose }, 1,
                                       &(cutis_outputs){ .positions = { .data = out },
                                                         .normals = { .data = normals } }));
    for (int v = STRIP_VERTICES; v < VERTICES; v++)
        for (int c = 0; c < 3; c++) assert_near(normals[3 * v + c], c == 2, 1e-6);
}

static void vertices_without_weight_follow_the_first_joint(void **state)
{
    scene *s = *state;
    float out[3 * VERTICES];
    s->weights[20] = s->weights[21] = 0;
    cutis_model_destroy(s->model);
    s->model = scene_model(s);
    turn_lower(s, 1);
    cutis_binding *binding = bind_with(s, (cutis_bind_options){ 0 });
    float morphs[2] = { 0 };
    assert_ok(s->context,
              cutis_deform(binding, &(cutis_poses){ .local = s->pose, .morph_weights = morphs }, 1,
                           &(cutis_outputs){ .positions = { .data = out } }));
    for (int c = 0; c < 3; c++) assert_near(out[30 + c], s->positions[30 + c], 1e-6);
}

static void a_limit_of_influences_keeps_the_largest(void **state)
{
    scene *s = *state;
    const cutis_skin_layout *layout =
        &cutis_skin_of(bind_with(s, (cutis_bind_options){ .max_influences = 1 }))->layout;
    assert_int_equal(cutis_binding_describe(s->binding).max_influences, 1);
    for (uint32_t v = 0; v < STRIP_VERTICES; v++) {
        assert_int_equal(layout->first[v + 1] - layout->first[v], 1);
        assert_int_equal(layout->bone[layout->first[v]], s->weights[2 * v + 1] > s->weights[2 * v]);
        assert_true(layout->weight[layout->first[v]] == 1);
    }
}

/// An allocator that fails at a given call.
typedef struct scarce {
    long left;
} scarce;

static void *scarce_allocate(void *user, size_t size, size_t alignment)
{
    scarce *s = user;
    if (s->left-- == 0) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void scarce_release(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    free(memory);
}

static void binding_fails_cleanly_at_any_allocation(void **state)
{
    (void)state;
    scarce memory = { -1 };
    scene *s = calloc(1, sizeof *s);
    cutis_context_options options = { .allocator = { scarce_allocate, scarce_release, &memory } };
    assert_int_equal(cutis_context_create(&options, &s->context), CUTIS_OK);
    assert_ok(
        s->context,
        cutis_device_create(s->context, &(cutis_device_options){ .thread_count = 1 }, &s->device));
    fill_strip(s);
    s->model = scene_model(s);
    uint64_t before = cutis_context_memory(s->context);
    for (int method = CUTIS_METHOD_LBS; method <= CUTIS_METHOD_COR; method++)
        for (long n = 0;; n++) {
            cutis_binding *binding = NULL;
            memory.left = n;
            cutis_result result =
                cutis_bind(s->device, s->model,
                           &(cutis_bind_options){
                               .method = (cutis_method)method, .normals = true, .tangents = true },
                           &binding);
            bool reached = memory.left < 0;
            memory.left = -1;
            if (result == CUTIS_OK) {
                assert_false(reached && n < 10);
                cutis_binding_destroy(binding);
                assert_int_equal(cutis_context_memory(s->context), before);
                if (!reached) break;
            } else {
                assert_int_equal(result, CUTIS_OUT_OF_MEMORY);
                assert_int_equal(cutis_context_memory(s->context), before);
            }
        }
    cutis_model_destroy(s->model);
    cutis_device_destroy(s->device);
    cutis_context_destroy(s->context);
    free(s);
}

#define ON_SCENE(test) cmocka_unit_test_setup_teardown(test, scene_setup, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_have_names_and_names_have_methods),
        ON_SCENE(unskinned_meshes_move_with_their_node_and_skinned_ones_do_not),
        ON_SCENE(morph_targets_add_their_deltas_before_the_bones),
        ON_SCENE(blocks_list_only_the_targets_that_move_them),
        ON_SCENE(the_three_kinds_of_pose_agree),
        ON_SCENE(an_armature_scaled_by_a_hundredth_scales_the_result),
        ON_SCENE(a_mirrored_armature_keeps_normals_outward),
        ON_SCENE(a_hidden_bone_turns_as_its_local_rotations_say),
        ON_SCENE(bounds_are_tight_and_can_be_asked_for_alone),
        ON_SCENE(previous_positions_are_what_positions_held_before),
        ON_SCENE(strides_leave_what_is_between_alone),
        ON_SCENE(many_instances_equal_one_at_a_time),
        ON_SCENE(several_threads_deform_at_once),
        ON_SCENE(nothing_is_allocated_while_deforming),
        ON_SCENE(arguments_that_cannot_be_meant_are_refused_and_nothing_is_written),
        ON_SCENE(poses_that_are_not_finite_are_refused_and_nothing_is_written),
        ON_SCENE(options_of_a_newer_version_are_refused),
        ON_SCENE(impossible_requests_are_refused_at_bind),
        ON_SCENE(blend_mixes_between_linear_and_the_method),
        ON_SCENE(tangents_follow_the_surface),
        ON_SCENE(meshes_without_normals_get_area_weighted_ones),
        ON_SCENE(vertices_without_weight_follow_the_first_joint),
        ON_SCENE(a_limit_of_influences_keeps_the_largest),
        cmocka_unit_test(binding_fails_cleanly_at_any_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
