// Joints moved, added, removed, renamed. What must come out follows from the definition: the other
// joints and the skin stay at rest where they were, weights keep their sums, a limb that turns
// about a joint turns about its new place.
#include "support.h"

#include <math.h>

#include <cutis/skeleton.h>
#include <cutis/synth.h>

static cutis_context *context;
static cutis_model *body;
static cutis_device *device;

static uint32_t node_named(const cutis_model *model, const char *name)
{
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t i = 0; i < data->node_count; i++)
        if (data->nodes[i].name && strcmp(data->nodes[i].name, name) == 0) return i;
    fail_msg("no node %s", name);
    return 0;
}

static cutis_model *edited(const cutis_joint_edit *edits, uint32_t count)
{
    cutis_model *out = NULL;
    assert_ok(context, cutis_joints_edit(body, edits, count, &out));
    return out;
}

// World places of all nodes, and the skin, of a pose: rest, with one joint turned by degrees about
// z.
static void posed(const cutis_model *model, const char *joint, double degrees, cutis_mat34 *world,
                  float *skin)
{
    cutis_transform pose[128];
    cutis_binding *binding = NULL;
    assert_true(cutis_model_get(model)->node_count <= 128);
    cutis_pose_rest(model, pose, NULL);
    if (joint) {
        cutis_quat *q = &pose[node_named(model, joint)].rotation;
        *q = cutis_quat_multiply(*q, cutis_quat_from_axis_angle((cutis_float3){ 0, 0, 1 },
                                                                (float)(degrees * M_PI / 180)));
    }
    if (world) cutis_pose_world(model, pose, world);
    if (!skin) return;
    assert_ok(context, cutis_bind(device, model, NULL, &binding));
    assert_ok(context, cutis_deform(binding, &(cutis_poses){ .local = pose }, 1,
                                    &(cutis_outputs){ .positions.data = skin }));
    cutis_binding_destroy(binding);
}

static double apart(const cutis_mat34 *a, const cutis_mat34 *b)
{
    double most = 0;
    for (int i = 0; i < 12; i++) most = fmax(most, fabs((double)a->m[i] - (double)b->m[i]));
    return most;
}

static void a_joint_moves_and_nothing_else_does(void **state)
{
    static cutis_mat34 before[128], after[128];
    const uint32_t node = node_named(body, "forearm_l"), count = 3 * cutis_model_vertex_count(body);
    const cutis_float3 to = { 0.5f, 1.25f, 0.03f };
    cutis_model *moved =
        edited(&(cutis_joint_edit){ .change = CUTIS_JOINT_MOVE, .node = node, .position = to }, 1);
    float *skin = calloc(count, sizeof *skin), *old = calloc(count, sizeof *old);
    (void)state;
    assert_true(skin && old);
    posed(body, NULL, 0, before, old);
    posed(moved, NULL, 0, after, skin);
    for (uint32_t i = 0; i < cutis_model_get(body)->node_count; i++) {
        if (i == node) before[i].m[3] = to.x, before[i].m[7] = to.y, before[i].m[11] = to.z;
        assert_true(apart(&before[i], &after[i]) < 2e-6);
    }
    for (uint32_t i = 0; i < count; i++) assert_true(fabsf(skin[i] - old[i]) < 2e-6f);
    free(skin), free(old);
    cutis_model_destroy(moved);
}

// A point beyond the joint is at place + R (point - place) after a turn about its new place.
static void what_hangs_on_it_turns_about_its_new_place(void **state)
{
    static cutis_mat34 rest[128], turned[128];
    const uint32_t node = node_named(body, "forearm_l"), hand = node_named(body, "hand_l");
    const cutis_float3 to = { 0.5f, 1.25f, 0.03f };
    cutis_model *moved =
        edited(&(cutis_joint_edit){ .change = CUTIS_JOINT_MOVE, .node = node, .position = to }, 1);
    (void)state;
    posed(moved, NULL, 0, rest, NULL);
    posed(moved, "forearm_l", 90, turned, NULL);
    assert_true(fabsf(turned[node].m[3] - to.x) < 2e-6f);
    const double x = (double)rest[hand].m[3] - (double)to.x,
                 y = (double)rest[hand].m[7] - (double)to.y;
    assert_true(fabs((double)turned[hand].m[3] - ((double)to.x - y)) <
                1e-5); // the biped's joints rest unturned
    assert_true(fabs((double)turned[hand].m[7] - ((double)to.y + x)) < 1e-5);
    cutis_model_destroy(moved);
}

static void a_clips_own_translations_go_with_the_joint(void **state)
{
    const uint32_t hips = node_named(body, "hips");
    cutis_model *moved = edited(&(cutis_joint_edit){ .change = CUTIS_JOINT_MOVE,
                                                     .node = hips,
                                                     .position = { 0.1f, 1.0f, 0.2f } },
                                1);
    const cutis_model_data *old = cutis_model_get(body), *new = cutis_model_get(moved);
    uint32_t seen = 0;
    (void)state;
    for (uint32_t k = 0; k < old->clips[0].channel_count; k++) {
        const cutis_channel *a = &old->clips[0].channels[k], *b = &new->clips[0].channels[k];
        if (a->node != hips || a->path != CUTIS_PATH_TRANSLATION) continue;
        const bool cubic = a->interpolation == CUTIS_INTERPOLATION_CUBIC;
        for (uint32_t key = 0; key < a->key_count; key++, seen++) {
            const size_t at = 3 * (size_t)(cubic ? 3 * key + 1 : key);
            const float by =
                new->nodes[hips].rest.translation.y - old->nodes[hips].rest.translation.y;
            assert_true(fabsf(b->values[at + 1] - a->values[at + 1] - by) < 1e-6f);
            if (cubic) assert_true(b->values[at - 2] == a->values[at - 2]); // slopes stay
        }
    }
    assert_true(seen > 2);
    cutis_model_destroy(moved);
}

static double weight_of(const cutis_model *model, uint32_t vertex, uint32_t node, double *sum)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_influences *in = &data->meshes[0].primitives[0].influences;
    double own = 0;
    *sum = 0;
    for (uint32_t k = in->first[vertex]; k < in->first[vertex + 1]; k++) {
        *sum += (double)in->weights[k];
        if (data->skins[0].joints[in->joints[k]] == node) own += (double)in->weights[k];
    }
    return own;
}

static void a_removed_joint_leaves_its_weights_to_the_one_above(void **state)
{
    const uint32_t hand = node_named(body, "hand_l"), forearm = node_named(body, "forearm_l");
    cutis_model *less =
        edited(&(cutis_joint_edit){ .change = CUTIS_JOINT_REMOVE, .node = hand }, 1);
    double was, is, unused, given = 0;
    (void)state;
    assert_int_equal(cutis_model_get(less)->skins[0].joint_count + 1,
                     cutis_model_get(body)->skins[0].joint_count);
    for (uint32_t v = 0; v < cutis_model_vertex_count(body); v++) {
        const double gone = weight_of(body, v, hand, &was),
                     old = weight_of(body, v, forearm, &unused);
        assert_true(weight_of(less, v, hand, &is) == 0);
        assert_true(fabs(weight_of(less, v, forearm, &unused) - old - gone) < 1e-6);
        assert_true(fabs(was - is) < 1e-6);
        given += gone;
    }
    assert_true(given > 1);
    cutis_model_destroy(less);
}

static void an_added_joint_is_where_it_was_put_and_can_be_edited_too(void **state)
{
    static cutis_mat34 world[128];
    const uint32_t head = node_named(body, "head"), next = cutis_model_get(body)->node_count;
    const cutis_joint_edit edits[] = {
        { .change = CUTIS_JOINT_ADD, .node = head, .name = "jaw", .position = { 0, 1.6f, 0.1f } },
        { .change = CUTIS_JOINT_MOVE, .node = next, .position = { 0.01f, 1.55f, 0.12f } },
        { .change = CUTIS_JOINT_RENAME, .node = next, .name = "chin" },
    };
    cutis_model *more = edited(edits, 3), *bound = NULL;
    (void)state;
    posed(more, NULL, 0, world, NULL);
    const uint32_t chin = node_named(more, "chin");
    assert_int_equal(cutis_model_get(more)->nodes[chin].parent, head);
    assert_true(fabsf(world[chin].m[3] - 0.01f) < 1e-6f && fabsf(world[chin].m[7] - 1.55f) < 1e-6f);
    assert_ok(context, cutis_handles_skeleton(
                           more, device, &(cutis_handles_options){ .voxels = 48 }, &bound, NULL));
    double unused, weight = 0;
    for (uint32_t v = 0; v < cutis_model_vertex_count(bound); v++)
        weight += weight_of(bound, v, chin, &unused);
    assert_true(weight > 0.5); // it has skin of its own
    cutis_model_destroy(bound);
    cutis_model_destroy(more);
}

static void what_cannot_be_is_refused_and_nothing_is_made(void **state)
{
    const uint32_t head = node_named(body, "head");
    const struct {
        cutis_joint_edit edit;
        cutis_result result;
    } bad[] = {
        { { .change = CUTIS_JOINT_MOVE, .node = 0 }, CUTIS_INVALID_ARGUMENT }, // no joint
        { { .change = CUTIS_JOINT_MOVE, .node = 99999 }, CUTIS_INVALID_ARGUMENT },
        { { .change = CUTIS_JOINT_RENAME, .node = head, .name = "hips" }, CUTIS_INVALID_ARGUMENT },
        { { .change = CUTIS_JOINT_RENAME, .node = head }, CUTIS_INVALID_ARGUMENT },
        { { .change = CUTIS_JOINT_ADD, .node = head, .name = "" }, CUTIS_INVALID_ARGUMENT },
        { { .change = (cutis_joint_change)9, .node = head }, CUTIS_INVALID_ARGUMENT },
        { { .change = CUTIS_JOINT_REMOVE, .node = node_named(body, "hips") }, CUTIS_UNSUPPORTED },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cutis_model *out = body;
        assert_int_equal(cutis_joints_edit(body, &bad[i].edit, 1, &out), bad[i].result);
        assert_null(out);
        assert_true(*cutis_context_error(context));
    }
    assert_int_equal(cutis_joints_edit(NULL, NULL, 0, NULL), CUTIS_INVALID_ARGUMENT);
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    assert_ok(context, cutis_device_create(context, NULL, &device));
    assert_ok(context, cutis_synth_create(
                           context, &(cutis_synth_options){ .size = CUTIS_BODY_SIZE_LOW }, &body));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cutis_model_destroy(body);
    cutis_device_destroy(device);
    cutis_context_destroy(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_joint_moves_and_nothing_else_does),
        cmocka_unit_test(what_hangs_on_it_turns_about_its_new_place),
        cmocka_unit_test(a_clips_own_translations_go_with_the_joint),
        cmocka_unit_test(a_removed_joint_leaves_its_weights_to_the_one_above),
        cmocka_unit_test(an_added_joint_is_where_it_was_put_and_can_be_edited_too),
        cmocka_unit_test(what_cannot_be_is_refused_and_nothing_is_made),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
