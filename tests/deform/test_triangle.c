/// One triangle on one node: memory of the caller's that lies between and behind the outputs, and
/// a node that is given by a matrix.
#include "../support.h"

static const float CORNERS[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

typedef struct {
    cutis_context *context;
    cutis_model *model;
} triangle;

static int set_up(void **state)
{
    triangle *t = *state = calloc(1, sizeof *t);
    static const uint32_t indices[] = { 0, 1, 2 };
    cutis_primitive primitive = cutis_primitive_default();
    primitive.vertex_count = 3, primitive.positions = CORNERS;
    primitive.index_count = 3, primitive.indices = indices;
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    static const cutis_mat34 twice = { { 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0 } };
    cutis_node node = cutis_node_default();
    node.mesh = 0, node.matrix = &twice;
    const cutis_model_data data = {
        .node_count = 1, .nodes = &node, .mesh_count = 1, .meshes = &mesh
    };
    assert_int_equal(cutis_context_create(NULL, &t->context), CUTIS_OK);
    assert_ok(t->context, cutis_model_create(t->context, &data, CUTIS_GATE_REFUSE, &t->model));
    return 0;
}

static int tear_down(void **state)
{
    triangle *t = *state;
    cutis_model_destroy(t->model);
    cutis_context_destroy(t->context);
    free(t);
    return 0;
}

// A device stages instances in steps of 16 bytes; the caller's steps may be the same.
static void memory_between_and_behind_instances_is_left_alone(void **state)
{
    const triangle *t = *state;
    enum { INSTANCES = 3, STEP = 12, BEHIND = 8 };
    const cutis_device_kind kinds[] = { CUTIS_DEVICE_CPU, gpu_kind() };
    const cutis_transform pose[INSTANCES] = { cutis_transform_identity(),
                                              cutis_transform_identity(),
                                              cutis_transform_identity() };
    int devices = 0;
    for (int k = 0; k < 2; k++) {
        cutis_device *device = NULL;
        cutis_binding *binding = NULL;
        float out[INSTANCES * STEP + BEHIND];
        for (size_t i = 0; i < sizeof out / sizeof *out; i++) out[i] = 777;
        if (cutis_device_create(t->context, &(cutis_device_options){ .kind = kinds[k] }, &device))
            continue;
        devices++;
        assert_ok(t->context, cutis_bind(device, t->model, NULL, &binding));
        assert_ok(t->context,
                  cutis_deform(binding, &(cutis_poses){ .local = pose }, INSTANCES,
                               &(cutis_outputs){
                                   .positions = { .data = out, .instance_stride = 4 * STEP } }));
        for (int i = 0; i < INSTANCES * STEP + BEHIND; i++) {
            const bool ours = i < INSTANCES * STEP && i % STEP < 9;
            assert_near(out[i], ours ? CORNERS[i % STEP] : 777,
                        0); // the pose moves the matrix away
        }
        cutis_binding_destroy(binding);
        cutis_device_destroy(device);
    }
    if (devices < 2) print_message("skip: no GPU device here: the CPU alone was tried\n"), skip();
}

// The node's matrix counts at rest, a pose that moves it otherwise: in world matrices, palettes
// and frames alike.
static void poses_of_a_matrix_node_mean_the_same_everywhere(void **state)
{
    const triangle *t = *state;
    cutis_device *device = NULL;
    cutis_binding *binding = NULL;
    assert_ok(t->context, cutis_device_create(t->context, NULL, &device));
    assert_ok(t->context, cutis_bind(device, t->model, NULL, &binding));
    for (int moved = 0; moved < 2; moved++) {
        cutis_transform pose;
        cutis_mat34 world, palette;
        float by_pose[9], by_world[9];
        cutis_pose_rest(t->model, &pose, NULL);
        if (moved) pose.translation.x = 10;
        cutis_pose_world(t->model, &pose, &world);
        assert_near(world.m[3], moved ? 10 : 0, 0);
        assert_near(world.m[0], 2, 1e-6);
        assert_ok(t->context, cutis_binding_palette(binding, &pose, &palette));
        for (int i = 0; i < 12; i++) assert_near(palette.m[i], world.m[i], 1e-6);
        assert_ok(t->context, cutis_deform(binding, &(cutis_poses){ .local = &pose }, 1,
                                           &(cutis_outputs){ .positions.data = by_pose }));
        assert_ok(t->context,
                  cutis_deform(binding,
                               &(cutis_poses){ .kind = CUTIS_POSE_WORLD, .matrices = &world }, 1,
                               &(cutis_outputs){ .positions.data = by_world }));
        for (int i = 0; i < 9; i++) assert_near(by_pose[i], by_world[i], 1e-6);
        assert_near(by_pose[0], moved ? 12 : 2, 1e-6);
    }
    cutis_binding_destroy(binding);
    cutis_device_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_between_and_behind_instances_is_left_alone),
        cmocka_unit_test(poses_of_a_matrix_node_mean_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
