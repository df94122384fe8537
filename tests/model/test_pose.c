// Poses: rest, blending, world matrices and joints by name, against double-precision definitions.
#include "rig.h"

#include <cutis/clip.h>

static uint64_t draws;
static double draw(double low, double high)
{
    return random_in(11, draws++, low, high);
}

static cutis_transform random_transform(bool unit)
{
    cutis_transform t;
    float *f = (float *)&t, square = 0;
    for (int i = 0; i < 10; i++) f[i] = (float)draw(-2, 2);
    for (int i = 3; i < 7; i++) square += f[i] * f[i];
    for (int i = 3; i < 7 && unit; i++) f[i] /= sqrtf(square);
    return t;
}

// Rotation matrix of a quaternion of any length by conjugation: columns are q e q* / |q|^2.
static void rotate(const cutis_quat *r, const double v[3], double out[3])
{
    double x = r->x, y = r->y, z = r->z, w = r->w, n = x * x + y * y + z * z + w * w;
    double tx = w * v[0] + y * v[2] - z * v[1], ty = w * v[1] + z * v[0] - x * v[2];
    double tz = w * v[2] + x * v[1] - y * v[0], tw = -x * v[0] - y * v[1] - z * v[2];
    out[0] = (tx * w - tw * x - ty * z + tz * y) / n;
    out[1] = (ty * w - tw * y - tz * x + tx * z) / n;
    out[2] = (tz * w - tw * z - tx * y + ty * x) / n;
}

// Where a node's point goes: scale, rotate, translate, then the parent, all in double.
static void to_world(const cutis_model_data *data, const cutis_transform *pose, int32_t n,
                     const double p[3], double out[3])
{
    double v[3] = { p[0], p[1], p[2] };
    for (; n >= 0; n = data->nodes[n].parent) {
        const cutis_transform *t = &pose[n];
        double s[3] = { v[0] * t->scale.x, v[1] * t->scale.y, v[2] * t->scale.z }, r[3];
        const cutis_mat34 *m = data->nodes[n].matrix;
        if (m) {
            for (int k = 0; k < 3; k++)
                r[k] = m->m[4 * k] * v[0] + m->m[4 * k + 1] * v[1] + m->m[4 * k + 2] * v[2] +
                       m->m[4 * k + 3];
        } else {
            rotate(&t->rotation, s, r);
            r[0] += t->translation.x, r[1] += t->translation.y, r[2] += t->translation.z;
        }
        memcpy(v, r, sizeof v);
    }
    memcpy(out, v, sizeof v);
}

static void world_matrices_move_points_as_scale_rotate_translate_up_the_tree(void **state)
{
    (void)state;
    cutis_context *context;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    for (uint32_t count = 1; count <= 23; count++) { // every remainder of four
        cutis_node nodes[23];
        cutis_transform pose[23];
        cutis_mat34 world[23], shear = { { 1, 0.5f, 0, 1, 0.2f, -1, 0, 2, 0, 0.3f, 2, 3 } };
        for (uint32_t n = 0; n < count; n++) {
            nodes[n] = (cutis_node){ .parent = n % 5 == 4 ? CUTIS_NONE : (int32_t)draw(-1, n),
                                     .rest = random_transform(false),
                                     .mesh = -1,
                                     .skin = -1 };
            if (n % 7 == 3) nodes[n].matrix = &shear;
            if (nodes[n].parent >= (int32_t)n) nodes[n].parent = CUTIS_NONE;
        }
        cutis_model_data data = { .node_count = count, .nodes = nodes };
        cutis_model *model = NULL;
        assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
        cutis_pose_rest(model, pose, NULL);
        for (uint32_t n = 0; n < count; n++)
            if (!nodes[n].matrix) pose[n] = random_transform(false);
        cutis_pose_world(model, pose, world);
        for (uint32_t n = 0; n < count; n++) {
            double p[3] = { draw(-1, 1), draw(-1, 1), draw(-1, 1) }, want[3], size = 1;
            to_world(&data, pose, (int32_t)n, p, want);
            for (int k = 0; k < 12; k++) size += fabs(world[n].m[k]);
            for (int k = 0; k < 3; k++) {
                const float *m = world[n].m + 4 * k;
                assert_near(m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3], want[k], 3e-6 * size);
            }
        }
        cutis_model_destroy(model);
    }
    cutis_context_destroy(context);
}

static void a_matrix_node_keeps_its_shear_at_rest_and_obeys_a_pose_otherwise(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    cutis_context *context;
    cutis_model *model = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    r.nodes[3].parent = CUTIS_NONE;
    assert_ok(context, cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &model));
    cutis_transform pose[RIG_NODES], blended[RIG_NODES];
    cutis_mat34 world[RIG_NODES];
    cutis_pose_rest(model, pose, NULL);
    cutis_pose_blend(pose, pose, 0.3f, RIG_NODES, blended);
    cutis_pose_world(model, blended, world); // rest blended with rest is rest
    assert_memory_equal(world[3].m, r.matrix.m, sizeof r.matrix.m);
    pose[3] = cutis_transform_identity();
    pose[3].translation.x = 5;
    cutis_pose_world(model, pose, world);
    const float want[12] = { 1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0 };
    assert_memory_equal(world[3].m, want, sizeof want);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void rest_pose_and_morph_weights_come_from_nodes_then_meshes(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    cutis_context *context;
    cutis_model *model = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    r.nodes[0].mesh = 0; // a second instance without weights of its own
    assert_ok(context, cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &model));
    assert_int_equal(cutis_model_target_count(model), 4);
    cutis_transform pose[RIG_NODES];
    float weights[4];
    cutis_pose_rest(model, pose, weights);
    assert_memory_equal(&pose[2], &r.nodes[2].rest, sizeof pose[2]);
    const float want[4] = { 0.5f, 0, 0, 0.125f }; // mesh's own, then the node's override
    assert_memory_equal(weights, want, sizeof want);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void blending_is_linear_and_takes_the_short_way_round(void **state)
{
    (void)state;
    enum { COUNT = 11 };
    cutis_transform a[COUNT], b[COUNT], out[COUNT];
    for (int round = 0; round < 50; round++) {
        float w = (float)draw(0, 1);
        for (int i = 0; i < COUNT; i++)
            a[i] = random_transform(true), b[i] = random_transform(true);
        cutis_pose_blend(a, b, w, COUNT, out);
        for (int i = 0; i < COUNT; i++) {
            const float *p = (float *)&a[i], *q = (float *)&b[i], *got = (float *)&out[i];
            double dot = 0, square = 0, want[10];
            for (int k = 3; k < 7; k++) dot += (double)p[k] * q[k];
            for (int k = 0; k < 10; k++)
                want[k] = (1 - (double)w) * p[k] +
                          (k >= 3 && k < 7 && dot < 0 ? -1 : 1) * (double)w * q[k];
            for (int k = 3; k < 7; k++) square += want[k] * want[k];
            for (int k = 0; k < 10; k++)
                assert_near(got[k], want[k] / (k >= 3 && k < 7 ? sqrt(square) : 1), 5e-7);
        }
    }
}

static void blending_in_place_gives_the_same_bits(void **state)
{
    (void)state;
    enum { COUNT = 7 };
    cutis_transform a[COUNT], b[COUNT], out[COUNT], copy[COUNT];
    for (int i = 0; i < COUNT; i++) a[i] = random_transform(true), b[i] = random_transform(true);
    cutis_pose_blend(a, b, 0.7f, COUNT, out);
    memcpy(copy, a, sizeof a);
    cutis_pose_blend(copy, b, 0.7f, COUNT, copy);
    assert_memory_equal(copy, out, sizeof out);
    memcpy(copy, b, sizeof b);
    cutis_pose_blend(a, copy, 0.7f, COUNT, copy);
    assert_memory_equal(copy, out, sizeof out);
    for (uint32_t i = 0; i < COUNT; i++) { // nor does the place in a group of four matter
        cutis_pose_blend(a + i, b + i, 0.7f, 1, copy);
        assert_memory_equal(copy, &out[i], sizeof *copy);
    }
    cutis_pose_blend(a, b, 0, COUNT, out);
    for (int i = 0; i < COUNT; i++) assert_memory_equal(&out[i].translation, &a[i].translation, 12);
    cutis_pose_blend(a, b, 1, COUNT, out);
    for (int i = 0; i < COUNT; i++) assert_memory_equal(&out[i].scale, &b[i].scale, 12);
}

static void joints_are_found_by_name_or_index_and_ambiguity_is_said(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    cutis_context *context;
    cutis_model *model = NULL;
    uint32_t node = 99;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    r.nodes[4].name = "lower"; // a mesh node of a joint's name is no rival
    assert_ok(context, cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &model));
    assert_ok(context, cutis_model_find_joint(model, "lower", &node));
    assert_int_equal(node, 2);
    assert_ok(context, cutis_model_find_joint(model, "#0", &node));
    assert_int_equal(node, 1);
    assert_ok(context, cutis_model_find_joint(model, "root", &node));
    assert_int_equal(node, 0);
    const char *const wrong[] = { "elbow", "#2", "#", "#x", "#4294967296", "#99999999999999999999",
                                  "" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(cutis_model_find_joint(model, wrong[i], &node), CUTIS_NOT_FOUND);
        assert_non_null(strstr(cutis_context_error(context), "upper, lower"));
    }
    cutis_model_destroy(model);
    r.nodes[1].name = "lower";
    assert_ok(context, cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &model));
    assert_int_equal(cutis_model_find_joint(model, "lower", &node), CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(context), "ambiguous"));
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(world_matrices_move_points_as_scale_rotate_translate_up_the_tree),
        cmocka_unit_test(a_matrix_node_keeps_its_shear_at_rest_and_obeys_a_pose_otherwise),
        cmocka_unit_test(rest_pose_and_morph_weights_come_from_nodes_then_meshes),
        cmocka_unit_test(blending_is_linear_and_takes_the_short_way_round),
        cmocka_unit_test(blending_in_place_gives_the_same_bits),
        cmocka_unit_test(joints_are_found_by_name_or_index_and_ambiguity_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
