// Learning weights around what must stay: locked vertices and joints, and rigs with more joints
// than one problem takes (issue: --keep-joints, the 32 nearest bones).
#include "support.h"

#include <cutis/poses.h>

typedef struct tube {
    cutis_context *context;
    cutis_model *model; ///< weights are the truth
    uint32_t joint_count, vertex_count, node_count, example_count;
    cutis_transform *poses;
    float *shapes; ///< its own skinning in the poses
} tube;

enum { SIDES = 6 };

// A chain of joints along x, one metre apart, and rings of vertices around it with weight on the
// two joints nearest to them.
static void open_tube(tube *t, uint32_t joints, uint32_t examples)
{
    const uint32_t rings = 4 * joints, vertices = rings * SIDES;
    *t = (tube){ .joint_count = joints,
                 .vertex_count = vertices,
                 .node_count = joints + 1,
                 .example_count = examples };
    cutis_node *nodes = calloc(joints + 1, sizeof *nodes);
    uint32_t *list = calloc(joints, sizeof *list), *first = calloc(vertices + 1, sizeof *first);
    cutis_mat34 *binds = calloc(joints, sizeof *binds);
    float *positions = calloc(3 * (size_t)vertices, sizeof *positions);
    uint32_t *bones = calloc(2 * (size_t)vertices, sizeof *bones);
    float *weights = calloc(2 * (size_t)vertices, sizeof *weights);
    uint32_t *indices = calloc(3 * (size_t)vertices, sizeof *indices);
    for (uint32_t j = 0; j <= joints; j++)
        nodes[j] = (cutis_node){ .parent = j && j < joints ? (int32_t)j - 1 : CUTIS_NONE,
                                 .rest = cutis_transform_identity(),
                                 .mesh = CUTIS_NONE,
                                 .skin = CUTIS_NONE };
    for (uint32_t j = 0; j < joints; j++) {
        if (j) nodes[j].rest.translation.x = 1;
        list[j] = j;
        binds[j] = (cutis_mat34){ { 1, 0, 0, -(float)j, 0, 1, 0, 0, 0, 0, 1, 0 } };
    }
    nodes[joints].mesh = nodes[joints].skin = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        double x = (v / SIDES) / 4.0, angle = 6.2831853 * (v % SIDES) / SIDES;
        uint32_t low = (uint32_t)x;
        double share = x - low;
        positions[3 * v] = (float)x;
        positions[3 * v + 1] = (float)(0.3 * cos(angle));
        positions[3 * v + 2] = (float)(0.3 * sin(angle));
        first[v + 1] = 2 * (v + 1);
        bones[2 * v] = low;
        bones[2 * v + 1] = low + 1 < joints ? low + 1 : low - 1;
        weights[2 * v] = (float)(1 - 0.8 * share - 0.1);
        weights[2 * v + 1] = (float)(0.8 * share + 0.1);
        indices[3 * v] = v, indices[3 * v + 1] = (v + 1) % vertices;
        indices[3 * v + 2] = (v + 2) % vertices;
    }
    cutis_primitive primitive = { .topology = CUTIS_TOPOLOGY_TRIANGLES,
                                  .vertex_count = vertices,
                                  .positions = positions,
                                  .index_count = 3 * vertices,
                                  .indices = indices,
                                  .material = CUTIS_NONE,
                                  .influences = { first, bones, weights } };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_skin skin = {
        .joint_count = joints, .joints = list, .inverse_binds = binds, .root = CUTIS_NONE
    };
    assert_int_equal(cutis_context_create(NULL, &t->context), CUTIS_OK);
    assert_ok(t->context, cutis_model_create(t->context,
                                             &(cutis_model_data){ .node_count = joints + 1,
                                                                  .nodes = nodes,
                                                                  .mesh_count = 1,
                                                                  .meshes = &mesh,
                                                                  .skin_count = 1,
                                                                  .skins = &skin },
                                             CUTIS_GATE_REFUSE, &t->model));
    t->poses = calloc((size_t)examples * (joints + 1), sizeof *t->poses);
    t->shapes = calloc((size_t)examples * vertices, 3 * sizeof *t->shapes);
    for (uint32_t e = 0; e < examples; e++) {
        cutis_transform *pose = t->poses + (size_t)e * (joints + 1);
        cutis_pose_rest(t->model, pose, NULL);
        for (uint32_t j = 0; j < joints; j++) {
            cutis_float3 axis = { (float)random_in(5, 4 * (uint64_t)(e * joints + j), -1, 1),
                                  (float)random_in(5, 4 * (uint64_t)(e * joints + j) + 1, -1, 1),
                                  0.3f };
            pose[j].rotation = cutis_quat_from_axis_angle(
                axis, (float)random_in(5, 4 * (uint64_t)(e * joints + j) + 2, -0.6, 0.6));
        }
    }
    cutis_device *device = NULL;
    cutis_binding *binding = NULL;
    assert_ok(t->context, cutis_device_create(t->context, NULL, &device));
    assert_ok(t->context, cutis_bind(device, t->model, NULL, &binding));
    assert_ok(t->context, cutis_deform(binding, &(cutis_poses){ .local = t->poses }, examples,
                                       &(cutis_outputs){ .positions = { .data = t->shapes } }));
    cutis_binding_destroy(binding);
    cutis_device_destroy(device);
    free(indices), free(weights), free(bones), free(positions), free(binds), free(first);
    free(list), free(nodes);
}

static void close_tube(tube *t)
{
    free(t->shapes);
    free(t->poses);
    cutis_model_destroy(t->model);
    cutis_context_destroy(t->context);
}

static cutis_model *learn(const tube *t, cutis_pose_fit_options options,
                          cutis_pose_fit_report **report)
{
    cutis_model *out = NULL;
    options.learn_weights = options.weights_only = true;
    assert_ok(t->context,
              cutis_poses_fit(t->model, NULL,
                              &(cutis_pose_examples){ t->example_count, t->poses, t->shapes, NULL },
                              &options, &out, report));
    return out;
}

static double weight_of(const cutis_model *model, uint32_t v, uint32_t joint)
{
    const cutis_influences *in = &cutis_model_get(model)->meshes[0].primitives->influences;
    for (uint32_t i = in->first[v]; i < in->first[v + 1]; i++)
        if (in->joints[i] == joint) return in->weights[i];
    return 0;
}

static double sum_of(const cutis_model *model, uint32_t v)
{
    const cutis_influences *in = &cutis_model_get(model)->meshes[0].primitives->influences;
    double sum = 0;
    for (uint32_t i = in->first[v]; i < in->first[v + 1]; i++) sum += in->weights[i];
    return sum;
}

static void more_than_64_joints_are_learned_from_the_nearest_bones(void **state)
{
    (void)state;
    tube t;
    cutis_pose_fit_report *report = NULL;
    open_tube(&t, 80, 30);
    cutis_model *learned = learn(&t, (cutis_pose_fit_options){ 0 }, &report);
    double worst = 0;
    for (uint32_t v = 0; v < t.vertex_count; v++)
        for (uint32_t j = 0; j < t.joint_count; j++)
            worst = fmax(worst, fabs(weight_of(learned, v, j) - weight_of(t.model, v, j)));
    print_message("80 joints: weights to %.2g, RMS %.2g of %.1f\n", worst, report->after_rms,
                  report->diagonal);
    assert_true(worst < 1e-3); // shapes are floats, some 30 m from the origin
    assert_true(report->after_rms < 1e-6 * report->diagonal);
    cutis_pose_fit_report_destroy(report);
    cutis_model_destroy(learned);
    close_tube(&t);
}

static void locked_vertices_keep_their_weights_and_the_others_are_learned(void **state)
{
    (void)state;
    tube t;
    open_tube(&t, 8, 12);
    // Shapes that ask for other weights: everything shrinks a little.
    for (size_t i = 0; i < (size_t)t.example_count * t.vertex_count * 3; i++) t.shapes[i] *= 0.97f;
    uint8_t *keep = calloc(t.vertex_count, 1);
    for (uint32_t v = 0; v < t.vertex_count; v += 3) keep[v] = 1;
    cutis_model *learned = learn(&t, (cutis_pose_fit_options){ .keep_vertices = keep }, NULL);
    double most = 0;
    for (uint32_t v = 0; v < t.vertex_count; v++)
        for (uint32_t j = 0; j < t.joint_count; j++) {
            double change = fabs(weight_of(learned, v, j) - weight_of(t.model, v, j));
            if (keep[v]) assert_true(change < 1e-7);
            most = fmax(most, change);
        }
    assert_true(most > 0.01);
    free(keep);
    cutis_model_destroy(learned);
    close_tube(&t);
}

// The model starts from wrong weights but for the locked joint's, which are right.
static void locked_joints_keep_their_weights_and_the_rest_is_found(void **state)
{
    (void)state;
    tube t;
    open_tube(&t, 8, 20);
    cutis_model_data data = *cutis_model_get(t.model);
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive primitive = mesh.primitives[0];
    uint32_t *first = calloc(t.vertex_count + 1, sizeof *first);
    uint32_t *bones = calloc(2 * (size_t)t.vertex_count, sizeof *bones);
    float *weights = calloc(2 * (size_t)t.vertex_count, sizeof *weights);
    for (uint32_t v = 0; v < t.vertex_count; v++) {
        double own = weight_of(t.model, v, 3);
        first[v + 1] = 2 * (v + 1);
        bones[2 * v] = 3, bones[2 * v + 1] = 7;
        weights[2 * v] = (float)own, weights[2 * v + 1] = (float)(1 - own);
    }
    primitive.influences = (cutis_influences){ first, bones, weights };
    mesh.primitives = &primitive, data.meshes = &mesh;
    cutis_model *truth = t.model, *wrong = NULL;
    assert_ok(t.context, cutis_model_create(t.context, &data, CUTIS_GATE_REFUSE, &wrong));
    t.model = wrong;
    const uint32_t keep = 3;
    for (int normalise = 0; normalise < 2; normalise++) {
        cutis_model *learned =
            learn(&t,
                  (cutis_pose_fit_options){
                      .keep_joint_count = 1, .keep_joints = &keep, .paper.normalise = normalise },
                  NULL);
        for (uint32_t v = 0; v < t.vertex_count; v++) {
            assert_near(weight_of(learned, v, 3), weight_of(truth, v, 3), 1e-6);
            assert_near(sum_of(learned, v), 1, 1e-6);
            for (uint32_t j = 0; j < t.joint_count; j++)
                assert_near(weight_of(learned, v, j), weight_of(truth, v, j), 1e-3);
        }
        cutis_model_destroy(learned);
    }
    cutis_model_destroy(wrong);
    t.model = truth;
    free(weights), free(bones), free(first);
    close_tube(&t);
}

// The arm's vertices are enough for a launch. Runs on whatever OpenCL there is.
static void a_gpu_learns_the_same_bits(void **state)
{
    (void)state;
    cutis_context *context = NULL;
    cutis_device *gpu = NULL;
    cutis_model *arm = NULL;
    uint32_t clip, keep = 0;
    cutis_sampler *sampler = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    if (cutis_device_create(context, &(cutis_device_options){ .kind = gpu_kind() }, &gpu) !=
        CUTIS_OK) {
        print_message("skip: %s\n", cutis_context_error(context));
        cutis_context_destroy(context);
        skip();
    }
    assert_ok(context,
              cutis_synth_create(context,
                                 &(cutis_synth_options){ .body = CUTIS_BODY_ARM, .examples = true },
                                 &arm));
    const uint32_t nodes = cutis_model_get(arm)->node_count;
    const size_t vertices = cutis_model_vertex_count(arm);
    cutis_transform *poses = calloc(8 * (size_t)nodes, sizeof *poses);
    float *shapes = calloc(8 * 3 * vertices, sizeof *shapes);
    uint8_t *fixed = calloc(vertices, 1);
    for (size_t v = 0; v < vertices; v += 5) fixed[v] = 1;
    assert_ok(context, cutis_synth_arm_examples(arm, shapes));
    assert_ok(context, cutis_model_find_clip(arm, "examples", &clip));
    assert_ok(context, cutis_sampler_create(arm, clip, &sampler));
    for (uint32_t k = 0; k < 8; k++)
        cutis_sampler_sample(sampler, (float)k, poses + (size_t)k * nodes, NULL);
    cutis_sampler_destroy(sampler);
    assert_ok(context, cutis_model_find_joint(arm, "wrist", &keep));
    for (int kind = 0; kind < 3; kind++) {
        cutis_model *models[2] = { NULL, NULL };
        cutis_pose_fit_report *reports[2] = { NULL, NULL };
        cutis_pose_fit_options options = { .learn_weights = true,
                                           .paper.normalise = kind == 1,
                                           .influences = kind == 2 ? 2 : 0,
                                           .keep_joint_count = kind == 2,
                                           .keep_joints = &keep,
                                           .keep_vertices = kind == 2 ? fixed : NULL };
        for (int d = 0; d < 2; d++)
            assert_ok(context, cutis_poses_fit(arm, d ? gpu : NULL,
                                               &(cutis_pose_examples){ 8, poses, shapes, NULL },
                                               &options, &models[d], &reports[d]));
        const cutis_primitive *a = cutis_model_get(models[0])->meshes[0].primitives;
        const cutis_primitive *b = cutis_model_get(models[1])->meshes[0].primitives;
        assert_memory_equal(a->influences.first, b->influences.first, (vertices + 1) * 4);
        assert_memory_equal(a->influences.joints, b->influences.joints,
                            a->influences.first[vertices] * 4);
        assert_memory_equal(a->influences.weights, b->influences.weights,
                            a->influences.first[vertices] * 4);
        assert_true(reports[0]->discarded_mean == reports[1]->discarded_mean);
        assert_int_equal(reports[0]->deficient_count, reports[1]->deficient_count);
        for (int d = 0; d < 2; d++) {
            cutis_pose_fit_report_destroy(reports[d]);
            cutis_model_destroy(models[d]);
        }
    }
    free(fixed), free(shapes), free(poses);
    cutis_model_destroy(arm);
    cutis_device_destroy(gpu);
    cutis_context_destroy(context);
}

static void locks_without_learning_or_of_no_joint_are_refused(void **state)
{
    (void)state;
    tube t;
    cutis_model *out = NULL;
    const uint32_t keep = 8; // the node of the mesh
    open_tube(&t, 8, 12);
    cutis_pose_examples examples = { t.example_count, t.poses, t.shapes, NULL };
    assert_int_equal(
        cutis_poses_fit(t.model, NULL, &examples,
                        &(cutis_pose_fit_options){ .keep_joint_count = 1, .keep_joints = &keep },
                        &out, NULL),
        CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_poses_fit(t.model, NULL, &examples,
                                     &(cutis_pose_fit_options){ .learn_weights = true,
                                                                .keep_joint_count = 1,
                                                                .keep_joints = &keep },
                                     &out, NULL),
                     CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(t.context), "no joint"));
    close_tube(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_64_joints_are_learned_from_the_nearest_bones),
        cmocka_unit_test(locked_vertices_keep_their_weights_and_the_others_are_learned),
        cmocka_unit_test(locked_joints_keep_their_weights_and_the_rest_is_found),
        cmocka_unit_test(a_gpu_learns_the_same_bits),
        cmocka_unit_test(locks_without_learning_or_of_no_joint_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
