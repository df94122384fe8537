// Bodies on four legs: roles by the shape of the tree, whatever the joints are called. What a joint
// should follow is known from the bodies' makers.
#include "support.h"

#include <cutis/retarget.h>

static cutis_context *context;

static int setup(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context);
}

static int teardown(void **state)
{
    (void)state;
    uint64_t left = cutis_context_memory(context);
    cutis_context_destroy(context);
    return left != 0;
}

static cutis_model *hound(void)
{
    cutis_model *model = NULL;
    cutis_synth_options options = { .body = CUTIS_BODY_QUADRUPED, .vertex_count = 1500 };
    assert_ok(context, cutis_synth_create(context, &options, &model));
    return model;
}

// The same rig under other names, standing on another axis or turned about its own.
static cutis_model *disguised(const cutis_model *model, bool z_up, double heading)
{
    const cutis_model_data *data = cutis_model_get(model);
    cutis_node *nodes = malloc((data->node_count + 1) * sizeof *nodes);
    char(*names)[16] = malloc(data->node_count * sizeof *names);
    cutis_skin skin = data->skins[0];
    cutis_mesh mesh = data->meshes[0];
    cutis_mat34 *binds = malloc(skin.joint_count * sizeof *binds);
    uint32_t *joints = malloc(skin.joint_count * sizeof *joints);
    double c = cos(heading / 2), h = sin(heading / 2), q = z_up ? sqrt(0.5) : 0;
    double p = z_up ? sqrt(0.5) : 1;
    // First about y by the heading, then, with z up, about x by a quarter turn.
    cutis_quat turn = { (float)(q * c), (float)(p * h), (float)(q * h), (float)(p * c) };
    cutis_transform whole = cutis_transform_identity();
    whole.rotation = turn;
    cutis_mat34 matrix = cutis_mat34_from_transform(&whole), back;
    assert_true(cutis_mat34_invert(&matrix, &back));
    nodes[0] = (cutis_node){
        .name = "w", .parent = CUTIS_NONE, .rest = whole, .mesh = CUTIS_NONE, .skin = CUTIS_NONE
    };
    for (uint32_t n = 0; n < data->node_count; n++) {
        nodes[n + 1] = data->nodes[n];
        snprintf(names[n], sizeof names[n], "x%u", (n * 37) % 101);
        nodes[n + 1].name = names[n];
        nodes[n + 1].parent++; // CUTIS_NONE becomes the new root
    }
    for (uint32_t j = 0; j < skin.joint_count; j++) {
        joints[j] = skin.joints[j] + 1;
        binds[j] = cutis_mat34_multiply(&skin.inverse_binds[j], &back);
    }
    // The skin stands where its binds say: the mesh is turned with them.
    cutis_primitive primitive = mesh.primitives[0];
    float *places = malloc(3 * (size_t)primitive.vertex_count * sizeof *places);
    for (size_t v = 0; v < primitive.vertex_count; v++) {
        const float *a = primitive.positions + 3 * v;
        cutis_float3 b = cutis_mat34_point(&matrix, (cutis_float3){ a[0], a[1], a[2] });
        memcpy(places + 3 * v, &b, sizeof b);
    }
    primitive.positions = places;
    primitive.normals = NULL;
    mesh.primitives = &primitive, mesh.primitive_count = 1;
    skin.joints = joints, skin.inverse_binds = binds, skin.root = CUTIS_NONE;
    cutis_model_data other = { .node_count = data->node_count + 1,
                               .nodes = nodes,
                               .mesh_count = 1,
                               .meshes = &mesh,
                               .skin_count = 1,
                               .skins = &skin,
                               .material_count = data->material_count,
                               .materials = data->materials };
    cutis_model *out = NULL;
    assert_ok(context, cutis_model_create(context, &other, CUTIS_GATE_REFUSE, &out));
    free(places), free(joints), free(binds), free(names), free(nodes);
    return out;
}

static void a_hound_without_names_follows_itself_joint_by_joint(void **state)
{
    (void)state;
    cutis_model *model = hound();
    const cutis_model_data *data = cutis_model_get(model);
    for (int way = 0; way < 4; way++) {
        cutis_model *other = disguised(model, way & 1, way & 2 ? 2.0 : 0);
        uint32_t count = cutis_model_get(other)->node_count, mapped = 0;
        int32_t *map = malloc(count * sizeof *map);
        cutis_retarget_found by, motion_by;
        assert_ok(context, cutis_retarget_map(other, model, map, &by, &motion_by));
        assert_int_equal(by, CUTIS_RETARGET_BY_TOPOLOGY);
        for (uint32_t n = 0; n < count; n++) {
            if (map[n] == CUTIS_NONE) continue;
            assert_int_equal(map[n] + 1, n); // each follows itself: fore is fore, left is left
            mapped++;
        }
        assert_true(mapped >= 20); // all but tail and ears
        for (uint32_t n = 0; n < data->node_count; n++)
            if (data->nodes[n].name && strstr(data->nodes[n].name, "paw"))
                assert_int_equal(map[n + 1], n);
        free(map);
        cutis_model_destroy(other);
    }
    cutis_model_destroy(model);
}

static const char *const FOX[][2] = {
    { "hips", "b_Hip_01" },
    { "chest", "b_Spine02_03" },
    { "head", "b_Head_05" },
    { "thigh_l", "b_LeftLeg01_015" },
    { "shin_l", "b_LeftLeg02_016" },
    { "hock_l", "b_LeftFoot01_017" },
    { "hindpaw_l", "b_LeftFoot02_018" },
    { "thigh_r", "b_RightLeg01_019" },
    { "hindpaw_r", "b_RightFoot02_022" },
    { "upperarm_l", "b_LeftUpperArm_09" },
    { "forearm_l", "b_LeftForeArm_010" },
    { "forepaw_l", "b_LeftHand_011" },
    { "upperarm_r", "b_RightUpperArm_06" },
    { "forepaw_r", "b_RightHand_08" },
};

static int32_t node_named(const cutis_model *model, const char *name)
{
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t n = 0; n < data->node_count; n++)
        if (data->nodes[n].name && strcmp(data->nodes[n].name, name) == 0) return (int32_t)n;
    fail_msg("no node %s", name);
    return CUTIS_NONE;
}

static void a_fox_walks_in_the_hound_and_the_hound_in_the_fox(void **state)
{
    (void)state;
    const char *path = shared_path("gltf-sample-assets/Fox/glTF-Binary/Fox.glb");
    cutis_model *dog = hound(), *fox = NULL, *out = NULL;
    assert_ok(context, cutis_model_read(context, path, NULL, &fox));
    for (int way = 0; way < 2; way++) {
        const cutis_model *target = way ? fox : dog, *motion = way ? dog : fox;
        int32_t *map = malloc(cutis_model_get(target)->node_count * sizeof *map);
        assert_ok(context, cutis_retarget_map(target, motion, map, NULL, NULL));
        for (size_t i = 0; i < sizeof FOX / sizeof *FOX; i++)
            assert_int_equal(map[node_named(target, FOX[i][way])],
                             node_named(motion, FOX[i][1 - way]));
        cutis_retarget_report report;
        assert_ok(context,
                  cutis_retarget(target, motion, &(cutis_retarget_options){ .clip = way ? 0 : 1 },
                                 &out, &report));
        print_message("hind paws %.2f %% of the height from the scaled path, height %.3g\n",
                      report.ankle_max, report.height);
        assert_true(report.ankle_max <= 2);
        // The height is the shoulder's side of the body, not its length.
        assert_near(report.height, way ? 79.03 : 0.92, way ? 0.1 : 0.03);
        cutis_model_destroy(out);
        free(map);
    }
    cutis_model_destroy(fox);
    cutis_model_destroy(dog);
}

static void a_biped_is_not_taken_for_a_body_on_four_legs(void **state)
{
    (void)state;
    cutis_model *biped = NULL, *dog = hound();
    cutis_synth_options options = { .body = CUTIS_BODY_BIPED, .vertex_count = 1500 };
    assert_ok(context, cutis_synth_create(context, &options, &biped));
    int32_t *map = malloc(cutis_model_get(biped)->node_count * sizeof *map);
    cutis_retarget_found by, motion_by;
    assert_ok(context, cutis_retarget_map(biped, dog, map, &by, &motion_by));
    assert_int_equal(by, CUTIS_RETARGET_BY_NAMES);
    assert_int_equal(motion_by, CUTIS_RETARGET_BY_TOPOLOGY);
    assert_int_equal(map[node_named(biped, "thigh_l")], node_named(dog, "thigh_l"));
    assert_int_equal(map[node_named(biped, "upperarm_r")], node_named(dog, "upperarm_r"));
    free(map);
    cutis_model_destroy(biped);
    cutis_model_destroy(dog);
}

// A motion whose first frame is its rest goes on as many legs as before.
static void four_legs_stay_four_with_the_first_frame_as_rest(void **state)
{
    (void)state;
    cutis_model *motion = hound(), *beast = disguised(motion, false, 0), *person = NULL,
                *out = NULL;
    const cutis_retarget_options options = { .rest = CUTIS_RETARGET_TPOSE };
    cutis_synth_options biped = { .body = CUTIS_BODY_BIPED, .vertex_count = 1500 };
    assert_ok(context, cutis_synth_create(context, &biped, &person));
    assert_ok(context, cutis_retarget(beast, motion, &options, &out, NULL));
    cutis_model_destroy(out);
    assert_int_equal(cutis_retarget(person, motion, &options, &out, NULL), CUTIS_NOT_FOUND);
    cutis_model *const all[] = { motion, beast, person };
    for (int i = 0; i < 3; i++) cutis_model_destroy(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_legs_stay_four_with_the_first_frame_as_rest),
        cmocka_unit_test(a_hound_without_names_follows_itself_joint_by_joint),
        cmocka_unit_test(a_fox_walks_in_the_hound_and_the_hound_in_the_fox),
        cmocka_unit_test(a_biped_is_not_taken_for_a_body_on_four_legs),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
