// Drivers: the gate refuses what could not be evaluated, and what is evaluated is the formula of
// cutis/model.h, computed here in long double by other means (Rodrigues' matrix, library sines).
#include "rig.h"

#include <math.h>

#include "model/drivers.h"

enum { TERMS = 44 };

// Node 2 of the rig follows nodes 0 and 1.
typedef struct driven_rig {
    rig r;
    uint32_t joints[2];
    float ranges[16], coefficients[6 * TERMS];
    cutis_driver drivers[2];
    cutis_weight_driver weights[2];
    cutis_drivers all;
    cutis_context *context;
} driven_rig;

static void open_rig(driven_rig *d)
{
    memset(d, 0, sizeof *d);
    rig_init(&d->r);
    d->joints[1] = 1;
    for (int j = 0; j < 2; j++)
        for (int c = 0; c < 4; c++) {
            d->ranges[8 * j + c] = -0.5f - 0.1f * (float)j;
            d->ranges[8 * j + 4 + c] = c == 3 ? 0 : 0.5f;
        }
    for (int k = 0; k < 6 * TERMS; k++)
        d->coefficients[k] = 0.4f * (float)sin(3.7 * k) * (k % 6 < 3 ? 1 : 0.25f);
    d->drivers[0] = (cutis_driver){
        .node = 2, .input_count = 2, .inputs = { 1, 0 }, .coefficients = d->coefficients
    };
    d->all = (cutis_drivers){ .joint_count = 2,
                              .joints = d->joints,
                              .ranges = d->ranges,
                              .driver_count = 1,
                              .drivers = d->drivers };
    d->r.data.drivers = &d->all;
    d->r.nodes[2].rest.rotation = (cutis_quat){ 0.6f, 0, 0, 0.8f };
    d->r.nodes[1].rest.rotation = (cutis_quat){ 0, 0, 0.28f, 0.96f };
    assert_int_equal(cutis_context_create(NULL, &d->context), CUTIS_OK);
}

static void refused(driven_rig *d, const char *text)
{
    cutis_model *model = NULL;
    assert_int_not_equal(cutis_model_create(d->context, &d->r.data, CUTIS_GATE_REFUSE, &model),
                         CUTIS_OK);
    assert_null(model);
    if (!strstr(cutis_context_error(d->context), text))
        fail_msg("'%s' does not say '%s'", cutis_context_error(d->context), text);
    assert_int_equal(cutis_context_memory(d->context), 0);
    cutis_context_destroy(d->context);
    open_rig(d);
}

static void the_gate_refuses_what_cannot_be_evaluated(void **state)
{
    driven_rig d;
    (void)state;
    open_rig(&d);
    d.drivers[0].node = 99, refused(&d, "node is 99");
    d.drivers[0].node = 1, refused(&d, "what is driven cannot drive");
    d.drivers[0].node = 3, refused(&d, "given by a matrix");
    d.drivers[1] = d.drivers[0], d.all.driver_count = 2, refused(&d, "driven already");
    d.drivers[0].input_count = 5, refused(&d, "5 inputs");
    d.drivers[0].inputs[0] = 2, refused(&d, "joint 2 of 2");
    d.drivers[0].inputs[0] = 0, refused(&d, "twice");
    d.drivers[0].coefficients = NULL, refused(&d, "coefficients are missing");
    d.coefficients[7] = NAN, refused(&d, "coefficient 7 is");
    d.coefficients[8] = 1e31f, refused(&d, "coefficient 8 is");
    d.joints[1] = 77, refused(&d, "is not there");
    d.joints[1] = 0, refused(&d, "is there already");
    d.ranges[9] = 0.9f, refused(&d, "the range of joint 1");
    d.ranges[0] = NAN, refused(&d, "the range of joint 0");
    d.ranges[5] = 3, refused(&d, "the range of joint 0");
    d.all.driver_count = 0, refused(&d, "there are none");
    d.all.driver_count = 1000, refused(&d, "1000 of them");
    d.all.joint_count = 5000, refused(&d, "5000 joints");
    d.all.ranges = NULL, refused(&d, "missing");
    cutis_context_destroy(d.context);
}

// Rotation matrices, to share nothing with quaternions' products.
static void matrix_of(cutis_quat q, long double *m)
{
    const long double x = q.x, y = q.y, z = q.z, w = q.w, n = x * x + y * y + z * z + w * w;
    const long double own[9] = { 1 - 2 * (y * y + z * z) / n, 2 * (x * y - w * z) / n,
                                 2 * (x * z + w * y) / n,     2 * (x * y + w * z) / n,
                                 1 - 2 * (x * x + z * z) / n, 2 * (y * z - w * x) / n,
                                 2 * (x * z - w * y) / n,     2 * (y * z + w * x) / n,
                                 1 - 2 * (x * x + y * y) / n };
    memcpy(m, own, sizeof own);
}

// x y z w - 1 of a^T b, from its matrix; angles below half a turn.
static void input_of(cutis_quat rest, cutis_quat now, const float *range, long double *u)
{
    long double a[9], b[9], m[9];
    matrix_of(rest, a), matrix_of(now, b);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
    const long double w = sqrtl(1 + m[0] + m[4] + m[8]) / 2;
    u[0] = (m[7] - m[5]) / (4 * w), u[1] = (m[2] - m[6]) / (4 * w), u[2] = (m[3] - m[1]) / (4 * w);
    u[3] = w - 1;
    for (int c = 0; c < 4; c++) u[c] = fmaxl(range[c], fminl(range[4 + c], u[c]));
}

// What node 2 is to be: its rotation as a matrix, its translation.
static void expected(const driven_rig *d, const cutis_transform *pose, long double *m,
                     long double *place)
{
    long double u[8], y[6] = { 0 }, rest[9];
    int at = 0;
    for (int k = 0; k < 2; k++) {
        const uint32_t j = d->drivers[0].inputs[k], n = d->joints[j];
        input_of(d->r.nodes[n].rest.rotation, pose[n].rotation, d->ranges + 8 * j, u + 4 * k);
    }
    for (int i = 0; i < 8; i++, at++)
        for (int o = 0; o < 6; o++) y[o] += u[i] * d->coefficients[6 * at + o];
    for (int i = 0; i < 8; i++)
        for (int j = i; j < 8; j++, at++)
            for (int o = 0; o < 6; o++) y[o] += u[i] * u[j] * d->coefficients[6 * at + o];
    assert_int_equal(at, TERMS);
    const long double length = sqrtl(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    const long double angle = fminl(length, acosl(-1)), s = sinl(angle), c = cosl(angle);
    const long double k[3] = { y[0] / length, y[1] / length, y[2] / length };
    const long double turn[9] = {
        c + (1 - c) * k[0] * k[0],        (1 - c) * k[0] * k[1] - s * k[2],
        (1 - c) * k[0] * k[2] + s * k[1], (1 - c) * k[1] * k[0] + s * k[2],
        c + (1 - c) * k[1] * k[1],        (1 - c) * k[1] * k[2] - s * k[0],
        (1 - c) * k[2] * k[0] - s * k[1], (1 - c) * k[2] * k[1] + s * k[0],
        c + (1 - c) * k[2] * k[2]
    };
    matrix_of(d->r.nodes[2].rest.rotation, rest);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[3 * i + j] = turn[3 * i] * rest[j] + turn[3 * i + 1] * rest[3 + j] +
                           turn[3 * i + 2] * rest[6 + j];
    const cutis_float3 t = d->r.nodes[2].rest.translation;
    place[0] = t.x + y[3], place[1] = t.y + y[4], place[2] = t.z + y[5];
}

// Weights 0 and 1 of node 4, the first by node 1, the second by both.
static void drive_weights(driven_rig *d)
{
    d->weights[0] = (cutis_weight_driver){
        .node = 4, .input_count = 1, .inputs = { 1 }, .coefficients = d->coefficients
    };
    d->weights[1] = (cutis_weight_driver){ .node = 4,
                                           .target = 1,
                                           .input_count = 2,
                                           .inputs = { 0, 1 },
                                           .coefficients = d->coefficients + 5 };
    d->all.weight_count = 2, d->all.weights = d->weights;
}

static void the_gate_refuses_weights_that_cannot_be_evaluated(void **state)
{
    driven_rig d;
    (void)state;
    open_rig(&d);
#define SPOILT(change, text) drive_weights(&d), change, refused(&d, text)
    SPOILT(d.weights[0].node = 99, "node 99 shows no mesh");
    SPOILT(d.weights[0].node = 1, "node 1 shows no mesh");
    SPOILT(d.weights[1].target = 2, "target is 2, the mesh has 2");
    SPOILT(d.weights[1].target = 0, "driven already");
    SPOILT(d.weights[0].target = 1, "out of order");
    SPOILT(d.weights[0].input_count = 5, "5 inputs");
    SPOILT(d.weights[0].inputs[0] = 2, "joint 2 of 2");
    SPOILT(d.weights[1].inputs[0] = 1, "twice");
    SPOILT(d.weights[1].coefficients = NULL, "coefficients are missing");
    SPOILT(d.coefficients[11] = INFINITY, "coefficient 11 is");
    SPOILT((d.all.weights = NULL), "there are none");
#undef SPOILT
    cutis_context_destroy(d.context);
}

// Of principal poses a mesh has as many targets as there are fields, whatever the poses: those
// behind them are anybody's.
static void targets_of_a_pose_space_are_not_driven(void **state)
{
    static const int32_t targets[] = { 0, CUTIS_NONE, CUTIS_NONE, CUTIS_NONE };
    static const uint32_t joint = 1;
    static const cutis_quat rotations[4] = {
        { 0, 0, 0, 1 }, { 0, 0, 0.6f, 0.8f }, { 0, 0.6f, 0, 0.8f }, { 0.6f, 0, 0, 0.8f }
    };
    static const float coefficients[3] = { 1, 0.5f, -1 };
    const cutis_pose_space space = { .joint_count = 1,
                                     .pose_count = 4,
                                     .joints = &joint,
                                     .rotations = rotations,
                                     .targets = targets,
                                     .field_count = 1,
                                     .coefficients = coefficients };
    driven_rig d;
    cutis_model *model = NULL;
    (void)state;
    open_rig(&d);
    assert_true(d.r.data.mesh_count <= 4);
    drive_weights(&d);
    d.r.data.pose_space = &space;
    refused(&d, "target 0 is one of the pose space");
    drive_weights(&d);
    d.r.data.pose_space = &space;
    d.all.weights = d.weights + 1, d.all.weight_count = 1;
    assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &model));
    cutis_model_destroy(model);
    cutis_context_destroy(d.context);
}

static void pose_at(const cutis_model *model, int index, cutis_transform *pose)
{
    cutis_pose_rest(model, pose, NULL);
    for (uint32_t n = 0; n < 2; n++) {
        const cutis_float3 axis = { (float)sin(index + n), (float)cos(2.0 * index), 0.3f };
        const cutis_quat q = cutis_quat_from_axis_angle(axis, 0.25f * (float)index);
        const float by = index % 3 == 1 ? -3.0f : 1.0f; // any length, either sign
        const cutis_quat r = cutis_quat_multiply(pose[n].rotation, q);
        pose[n].rotation = (cutis_quat){ by * r.x, by * r.y, by * r.z, by * r.w };
    }
}

static void a_driven_node_is_what_the_formula_says(void **state)
{
    driven_rig d;
    cutis_model *model = NULL;
    (void)state;
    open_rig(&d);
    for (int large = 0; large < 2; large++) {
        // Then so large that the rotation is held at half a turn.
        for (int k = 0; k < 6 * TERMS && large; k++) d.coefficients[k] *= 8;
        assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &model));
        for (int index = 1; index < 12; index++) {
            cutis_transform pose[RIG_NODES];
            cutis_mat34 world[RIG_NODES];
            long double want[9], place[3], got[9];
            pose_at(model, index, pose);
            expected(&d, pose, want, place);
            cutis_pose_drive(model, CUTIS_DRIVE_RESTING, pose);
            matrix_of(pose[2].rotation, got);
            for (int k = 0; k < 9; k++) assert_true(fabsl(got[k] - want[k]) < 2e-6L);
            const float *t = &pose[2].translation.x;
            for (int k = 0; k < 3; k++) assert_true(fabsl(t[k] - place[k]) < 2e-6L);
            // World matrices of the undriven pose have the same node.
            cutis_transform bare[RIG_NODES];
            cutis_mat34 driven[RIG_NODES];
            pose_at(model, index, bare);
            cutis_pose_world(model, bare, world);
            cutis_pose_world(model, pose, driven);
            for (int k = 0; k < 12; k++) assert_true(fabsf(world[2].m[k] - driven[2].m[k]) < 1e-6f);
        }
        cutis_model_destroy(model);
    }
    cutis_context_destroy(d.context);
}

// Bakes leave out inputs that say little: coefficients of zero. A joint that only such terms read
// is not looked at, as a rotation shows that is no number.
static void what_no_term_reads_is_not_read(void **state)
{
    driven_rig d;
    cutis_model *model = NULL;
    (void)state;
    open_rig(&d);
    for (int i = 0, at = 8; i < 8; i++) {
        for (int o = 0; o < 6 && i >= 4; o++) d.coefficients[6 * i + o] = 0;
        for (int j = i; j < 8; j++, at++)
            for (int o = 0; o < 6 && j >= 4; o++) d.coefficients[6 * at + o] = 0;
    }
    assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &model));
    for (int index = 1; index < 6; index++) {
        cutis_transform pose[RIG_NODES];
        long double want[9], place[3], got[9];
        pose_at(model, index, pose);
        expected(&d, pose, want, place);
        pose[d.joints[d.drivers[0].inputs[1]]].rotation.x = NAN;
        cutis_pose_drive(model, CUTIS_DRIVE_RESTING, pose);
        matrix_of(pose[2].rotation, got);
        for (int k = 0; k < 9; k++) assert_true(fabsl(got[k] - want[k]) < 2e-6L);
        const float *t = &pose[2].translation.x;
        for (int k = 0; k < 3; k++) assert_true(fabsl(t[k] - place[k]) < 2e-6L);
    }
    cutis_model_destroy(model);
    cutis_context_destroy(d.context);
}

static long double weight_of(const driven_rig *d, const cutis_weight_driver *driver,
                             const cutis_transform *pose)
{
    long double u[8], sum = 0;
    int at = 0;
    const int n = 4 * (int)driver->input_count;
    for (uint32_t k = 0; k < driver->input_count; k++) {
        const uint32_t j = driver->inputs[k], node = d->joints[j];
        input_of(d->r.nodes[node].rest.rotation, pose[node].rotation, d->ranges + 8 * j, u + 4 * k);
    }
    for (int i = 0; i < n; i++) sum += u[i] * driver->coefficients[at++];
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) sum += u[i] * u[j] * driver->coefficients[at++];
    return sum;
}

// With nodes that are driven and without; weights that a pose moves are taken at their word, all of
// a node's together; a binding plays what cutis_pose_drive_weights says.
static void weights_of_morph_targets_are_driven(void **state)
{
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        driven_rig d;
        cutis_model *model = NULL;
        cutis_device *device = NULL;
        cutis_binding *binding[2] = { NULL, NULL };
        open_rig(&d);
        drive_weights(&d);
        if (alone) d.all.driver_count = 0;
        for (int v = 0; v < 12; v++)
            d.r.target_positions[0][v] = 0.1f * (float)v, d.r.target_positions[1][v] = 0.3f;
        assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &model));
        assert_ok(d.context, cutis_device_create(d.context, NULL, &device));
        for (int k = 0; k < 2; k++)
            assert_ok(d.context,
                      cutis_bind(device, model,
                                 &(cutis_bind_options){ .drive = k ? CUTIS_DRIVE_NONE
                                                                   : CUTIS_DRIVE_RESTING },
                                 &binding[k]));
        for (int index = 1; index < 8; index++) {
            cutis_transform pose[RIG_NODES];
            float weights[2], moved[2], own[3 * 7], given[3 * 7];
            pose_at(model, index, pose);
            cutis_pose_rest(model, (cutis_transform[RIG_NODES]){ 0 }, weights);
            memcpy(moved, weights, sizeof moved);
            cutis_pose_drive_weights(model, CUTIS_DRIVE_RESTING, pose, weights);
            for (int k = 0; k < 2; k++)
                assert_true(fabsl(weights[k] - moved[k] - weight_of(&d, &d.weights[k], pose)) <
                            1e-6L);
            assert_true(fabsf(weights[1] - moved[1]) > 1e-3f);
            // The binding by itself, and one that drives nothing with these weights.
            cutis_poses poses = { .kind = CUTIS_POSE_LOCAL, .local = pose };
            assert_ok(d.context, cutis_deform(binding[0], &poses, 1,
                                              &(cutis_outputs){ .positions.data = own }));
            cutis_pose_drive(model, CUTIS_DRIVE_RESTING, pose);
            poses.morph_weights = weights;
            assert_ok(d.context, cutis_deform(binding[1], &poses, 1,
                                              &(cutis_outputs){ .positions.data = given }));
            assert_memory_equal(own, given, sizeof own);
            moved[0] += 0.5f; // one that moves holds both
            memcpy(weights, moved, sizeof weights);
            cutis_pose_drive_weights(model, CUTIS_DRIVE_RESTING, pose, weights);
            assert_memory_equal(moved, weights, sizeof weights);
            cutis_pose_drive_weights(model, CUTIS_DRIVE_NONE, pose, weights);
            assert_memory_equal(moved, weights, sizeof weights);
            cutis_pose_drive_weights(model, CUTIS_DRIVE_ALL, pose, weights);
            assert_true(weights[0] != moved[0] && weights[1] != moved[1]);
        }
        cutis_binding_destroy(binding[0]), cutis_binding_destroy(binding[1]);
        cutis_device_destroy(device);
        cutis_model_destroy(model);
        cutis_context_destroy(d.context);
    }
}

// Eight are evaluated side by side, filled up with zeros: each must have the bits that it has
// alone, by vectors of any width.
static void what_stands_beside_a_driver_does_not_show(void **state)
{
    enum { MORE = 13, NODES = RIG_NODES + MORE };
    driven_rig d;
    cutis_model *model = NULL, *alone = NULL;
    cutis_node nodes[NODES];
    cutis_driver drivers[MORE];
    (void)state;
    open_rig(&d);
    memcpy(nodes, d.r.nodes, sizeof d.r.nodes);
    d.ranges[8 + 1] = d.ranges[8 + 5] = 0; // an input that never moves: fewer terms
    for (uint32_t k = 0; k < MORE; k++) {
        nodes[RIG_NODES + k] = cutis_node_default();
        nodes[RIG_NODES + k].parent = 0;
        nodes[RIG_NODES + k].rest.translation.x = 0.1f * (float)k;
        drivers[k] = (cutis_driver){ .node = RIG_NODES + k,
                                     .input_count = k % 3,
                                     .inputs = { k / 3 % 2, 1 - k / 3 % 2 },
                                     .coefficients = d.coefficients };
    }
    d.r.data.nodes = nodes, d.r.data.node_count = NODES;
    d.all.drivers = drivers, d.all.driver_count = MORE;
    assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &model));
    for (uint32_t k = 0; k < MORE; k++) {
        d.all.drivers = drivers + k, d.all.driver_count = 1;
        assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &alone));
        for (int index = 0; index < 12; index++) {
            cutis_transform pose[NODES], other[NODES];
            pose_at(model, index, pose);
            memcpy(other, pose, sizeof other);
            cutis_pose_drive(model, CUTIS_DRIVE_ALL, pose);
            cutis_pose_drive(alone, CUTIS_DRIVE_ALL, other);
            assert_memory_equal(&pose[RIG_NODES + k], &other[RIG_NODES + k], sizeof *pose);
        }
        cutis_model_destroy(alone);
    }
#if defined(__x86_64__) && !defined(CUTIS_SCALAR_ONLY)
    for (int index = 0; index < 12 && __builtin_cpu_supports("avx2"); index++) {
        cutis_transform pose[NODES], narrow[CUTIS_DRIVE_GROUP], wide[CUTIS_DRIVE_GROUP];
        cutis_drive_inputs inputs;
        pose_at(model, index, pose);
        cutis_drive_read(model, pose, &inputs);
        for (uint32_t g = 0; g < cutis_drive_groups(model); g++) {
            cutis_drive_evaluate(model, &inputs, g, false, narrow);
            cutis_drive_evaluate(model, &inputs, g, true, wide);
            assert_memory_equal(narrow, wide, sizeof wide);
        }
    }
#endif
    cutis_model_destroy(model);
    cutis_context_destroy(d.context);
}

static void what_a_pose_moves_is_taken_at_its_word_unless_all_is_driven(void **state)
{
    driven_rig d;
    cutis_model *model = NULL;
    cutis_transform pose[RIG_NODES], all[RIG_NODES];
    (void)state;
    open_rig(&d);
    assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &model));
    cutis_pose_rest(model, pose, NULL);
    cutis_pose_drive(model, CUTIS_DRIVE_ALL, pose);
    for (int k = 0; k < 10; k++) // rest is rest
        assert_true(fabsf((&pose[2].translation.x)[k] - (&d.r.nodes[2].rest.translation.x)[k]) <
                    1e-7f);
    pose_at(model, 3, pose);
    memcpy(all, pose, sizeof pose);
    cutis_pose_drive(model, CUTIS_DRIVE_NONE, pose);
    assert_memory_equal(all, pose, sizeof pose);
    pose[2].translation.x = 7;
    cutis_pose_drive(model, CUTIS_DRIVE_RESTING, pose);
    assert_true(pose[2].translation.x == 7);
    cutis_pose_drive(model, CUTIS_DRIVE_ALL, pose);
    cutis_pose_drive(model, CUTIS_DRIVE_RESTING, all);
    assert_memory_equal(all, pose, sizeof pose);
    cutis_model_destroy(model);
    cutis_context_destroy(d.context);
}

// Palettes of a binding are world matrices of the driven pose, as each of the options has it.
static void bindings_drive_as_their_options_say(void **state)
{
    driven_rig d;
    cutis_model *model = NULL;
    cutis_device *device = NULL;
    (void)state;
    open_rig(&d);
    assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &model));
    assert_ok(d.context, cutis_device_create(d.context, NULL, &device));
    for (int drive = 0; drive < 4; drive++)
        for (int moved = 0; moved < 2; moved++) {
            cutis_transform pose[RIG_NODES], own[RIG_NODES];
            cutis_mat34 world[RIG_NODES], palette[8];
            cutis_binding *binding = NULL;
            const cutis_bind_options options = { .drive = (cutis_drive)drive };
            const cutis_result result = cutis_bind(device, model, &options, &binding);
            if (drive == 3) {
                assert_int_equal(result, CUTIS_INVALID_ARGUMENT);
                continue;
            }
            pose_at(model, 2, pose);
            if (moved) pose[2].translation.z = 0.5f;
            memcpy(own, pose, sizeof own);
            cutis_pose_drive(model, (cutis_drive)drive, own);
            // A touch keeps cutis_pose_world from driving what is at rest here.
            if (drive == CUTIS_DRIVE_NONE && !moved) own[2].scale.x += 4e-6f;
            cutis_pose_world(model, own, world);
            assert_ok(d.context, cutis_binding_palette(binding, pose, palette));
            assert_true(cutis_binding_describe(binding).bone_count >= 2);
            for (int r = 0; r < 3; r++) // joint 1 of the skin: world * inverse bind
                for (int c = 0; c < 4; c++) {
                    const float *w = world[2].m + 4 * r;
                    const float want = c < 3 ? w[c] : w[3] - w[1];
                    assert_true(fabsf(palette[1].m[4 * r + c] - want) < 2e-5f);
                }
            cutis_binding_destroy(binding);
        }
    cutis_device_destroy(device);
    cutis_model_destroy(model);
    cutis_context_destroy(d.context);
}

// The rig's clip moves nodes 1 and 2, so node 2 has tracks of its own; without them it gets some.
static void clips_get_tracks_where_they_have_none(void **state)
{
    driven_rig d;
    cutis_model *model = NULL, *baked = NULL;
    (void)state;
    open_rig(&d);
    for (int own = 0; own < 2; own++) {
        if (!own) d.r.channels[2] = d.r.channels[3], d.r.clip.channel_count = 3;
        if (own) {
            cutis_context_destroy(d.context);
            open_rig(&d);
        }
        assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &model));
        for (int drive = 0; drive < 3; drive++) {
            cutis_sampler *before = NULL, *after = NULL;
            assert_ok(d.context, cutis_clips_drive(model, 0, (cutis_drive)drive, 20, &baked));
            const cutis_clip *clip = &cutis_model_get(baked)->clips[0];
            const bool more = drive == CUTIS_DRIVE_ALL || (drive == 0 && !own);
            // All: the rotation and the scale that the node has (own) go, two come.
            const uint32_t kept = drive == CUTIS_DRIVE_ALL && own ? 3 : own ? 4 : 3;
            assert_int_equal(clip->channel_count, kept + (more ? 2 : 0));
            assert_ok(d.context, cutis_sampler_create(model, 0, &before));
            assert_ok(d.context, cutis_sampler_create(baked, 0, &after));
            for (int f = 0; f <= 20 && more; f++) {
                cutis_transform a[RIG_NODES], b[RIG_NODES];
                cutis_sampler_sample(before, (float)f / 20, a, NULL);
                cutis_sampler_sample(after, (float)f / 20, b, NULL);
                cutis_pose_drive(model, CUTIS_DRIVE_ALL, a);
                const float sign =
                    a[2].rotation.w * b[2].rotation.w + a[2].rotation.x * b[2].rotation.x < 0
                        ? -1.0f
                        : 1.0f;
                for (int k = 0; k < 7; k++)
                    assert_true(fabsf((&a[2].translation.x)[k] -
                                      (k < 3 ? 1 : sign) * (&b[2].translation.x)[k]) < 1e-5f);
            }
            cutis_sampler_destroy(before), cutis_sampler_destroy(after);
            cutis_model_destroy(baked);
        }
        assert_int_equal(cutis_clips_drive(model, 0, CUTIS_DRIVE_ALL, NAN, &baked),
                         CUTIS_INVALID_ARGUMENT);
        cutis_model_destroy(model);
    }
    cutis_context_destroy(d.context);
}

// The rig's clip has weights of its own; without them it gets tracks of both.
static void clips_get_weights_where_they_have_none(void **state)
{
    driven_rig d;
    cutis_model *model = NULL, *baked = NULL;
    (void)state;
    for (int own = 0; own < 2; own++) {
        open_rig(&d);
        drive_weights(&d);
        d.all.driver_count = 0;
        d.r.clip.channel_count = own ? 4 : 3;
        assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &model));
        for (int drive = 0; drive < 3; drive++) {
            cutis_sampler *before = NULL, *after = NULL;
            assert_ok(d.context, cutis_clips_drive(model, 0, (cutis_drive)drive, 20, &baked));
            const bool more = drive == CUTIS_DRIVE_ALL || (drive == CUTIS_DRIVE_RESTING && !own);
            assert_int_equal(cutis_model_get(baked)->clips[0].channel_count, own || more ? 4 : 3);
            assert_ok(d.context, cutis_sampler_create(model, 0, &before));
            assert_ok(d.context, cutis_sampler_create(baked, 0, &after));
            for (int f = 0; f <= 20; f++) {
                cutis_transform pose[RIG_NODES];
                float want[2], got[2];
                cutis_sampler_sample(before, (float)f / 20, pose, want);
                cutis_sampler_sample(after, (float)f / 20, pose, got);
                if (more) cutis_pose_drive_weights(model, CUTIS_DRIVE_ALL, pose, want);
                for (int k = 0; k < 2; k++) assert_true(fabsf(want[k] - got[k]) < 1e-6f);
            }
            cutis_sampler_destroy(before), cutis_sampler_destroy(after);
            cutis_model_destroy(baked);
        }
        cutis_model_destroy(model);
        cutis_context_destroy(d.context);
    }
}

// Node 1 turns in steps, one of them between two keys of the grid: what follows it steps with it.
// A clip that moves a weight beside a driven one, a face's say, leaves that one to its joints, as
// poses do; and what it moves steps as before, also between the times of the grid.
static void weights_beside_driven_ones_go_on(void **state)
{
    driven_rig d;
    cutis_model *model = NULL, *baked = NULL;
    cutis_sampler *before = NULL, *after = NULL;
    (void)state;
    open_rig(&d);
    drive_weights(&d);
    d.all.driver_count = 0;
    d.all.weights = d.weights + 1, d.all.weight_count = 1;
    for (int k = 0; k < RIG_KEYS; k++) d.r.morphs[2 * k + 1] = d.r.node_target_weights[1];
    assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &model));
    assert_ok(d.context, cutis_clips_drive(model, 0, CUTIS_DRIVE_RESTING, 7, &baked));
    assert_ok(d.context, cutis_sampler_create(model, 0, &before));
    assert_ok(d.context, cutis_sampler_create(baked, 0, &after));
    float driven = 0;
    for (int f = 0; f <= 7 + 2 * RIG_KEYS; f++) {
        const float key = f > 7 ? d.r.times[(f - 8) / 2] : 0;
        const float at = f <= 7 ? (float)f / 7 : f % 2 ? key : nextafterf(key, 0);
        cutis_transform pose[RIG_NODES];
        float want[2], got[2];
        cutis_sampler_sample(before, at, pose, want);
        cutis_sampler_sample(after, at, pose, got);
        cutis_pose_drive_weights(model, CUTIS_DRIVE_RESTING, pose, want);
        for (int k = 0; k < 2; k++) assert_true(fabsf(want[k] - got[k]) < 1e-6f);
        driven = fmaxf(driven, fabsf(got[1] - d.r.node_target_weights[1]));
    }
    assert_true(driven > 1e-3f);
    cutis_sampler_destroy(before), cutis_sampler_destroy(after);
    cutis_model_destroy(baked), cutis_model_destroy(model);
    cutis_context_destroy(d.context);
}

static void what_follows_a_step_steps(void **state)
{
    driven_rig d;
    cutis_model *model = NULL, *baked = NULL;
    cutis_sampler *before = NULL, *after = NULL;
    float times[3] = { 0, 0.31f, 0.7f };
    float turns[12] = { 0, 0, 0.28f, 0.96f, 0.3f, 0, 0.28f, 0.9f, 0, 0.3f, 0.2f, 0.9f };
    (void)state;
    open_rig(&d);
    cutis_channel channel = { .node = 1,
                              .path = CUTIS_PATH_ROTATION,
                              .interpolation = CUTIS_INTERPOLATION_STEP,
                              .key_count = 3,
                              .times = times,
                              .values = turns };
    d.r.clip.channels = &channel, d.r.clip.channel_count = 1;
    assert_ok(d.context, cutis_model_create(d.context, &d.r.data, CUTIS_GATE_REFUSE, &model));
    assert_ok(d.context, cutis_clips_drive(model, 0, CUTIS_DRIVE_RESTING, 10, &baked));
    assert_ok(d.context, cutis_sampler_create(model, 0, &before));
    assert_ok(d.context, cutis_sampler_create(baked, 0, &after));
    float largest = 0;
    for (int f = 0; f <= 699; f++) {
        cutis_transform a[RIG_NODES], b[RIG_NODES];
        cutis_sampler_sample(before, (float)f / 1000, a, NULL);
        cutis_sampler_sample(after, (float)f / 1000, b, NULL);
        cutis_pose_drive(model, CUTIS_DRIVE_ALL, a);
        largest = fmaxf(largest, fabsf(a[2].translation.x - a[0].translation.x));
        assert_true(fabsf(a[2].translation.x - b[2].translation.x) < 1e-5f);
        assert_true(fabsf(a[2].translation.y - b[2].translation.y) < 1e-5f);
        assert_true(fabsf(fabsf(a[2].rotation.w) - fabsf(b[2].rotation.w)) < 1e-5f);
    }
    assert_true(largest > 1e-3f);
    cutis_sampler_destroy(before), cutis_sampler_destroy(after);
    cutis_model_destroy(model), cutis_model_destroy(baked);
    cutis_context_destroy(d.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gate_refuses_what_cannot_be_evaluated),
        cmocka_unit_test(the_gate_refuses_weights_that_cannot_be_evaluated),
        cmocka_unit_test(targets_of_a_pose_space_are_not_driven),
        cmocka_unit_test(weights_of_morph_targets_are_driven),
        cmocka_unit_test(what_stands_beside_a_driver_does_not_show),
        cmocka_unit_test(clips_get_weights_where_they_have_none),
        cmocka_unit_test(weights_beside_driven_ones_go_on),
        cmocka_unit_test(a_driven_node_is_what_the_formula_says),
        cmocka_unit_test(what_no_term_reads_is_not_read),
        cmocka_unit_test(what_a_pose_moves_is_taken_at_its_word_unless_all_is_driven),
        cmocka_unit_test(bindings_drive_as_their_options_say),
        cmocka_unit_test(clips_get_tracks_where_they_have_none),
        cmocka_unit_test(what_follows_a_step_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
