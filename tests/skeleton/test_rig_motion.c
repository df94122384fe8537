// A rig's own check of a motion: a person that was bare walks, and passes; the same, broken in ways
// whose size is known, does not. What a figure must be follows from how it was broken.
#include "support.h"

#include <cutis/retarget.h>
#include <cutis/rig.h>

static cutis_context *context;
static cutis_model *walker, *moved; // a motion; a body that was bare, with it
static cutis_rig_report *report;
static cutis_retarget_report how;

static cutis_model *made(cutis_body body, uint32_t vertices)
{
    cutis_model *model = NULL;
    cutis_synth_options options = {
        .body = body, .vertex_count = vertices, .seed = 100, .pose = CUTIS_FAMILY_POSE_A
    };
    assert_ok(context, cutis_synth_create(context, &options, &model));
    return model;
}

static cutis_model *without_skin(const cutis_model *model)
{
    cutis_model_data data = *cutis_model_get(model);
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive primitive = mesh.primitives[0];
    cutis_node node = cutis_node_default();
    cutis_model *out = NULL;
    primitive.influences = (cutis_influences){ 0 };
    primitive.parts = NULL;
    mesh.primitives = &primitive, mesh.part_count = 0, mesh.part_names = NULL;
    mesh.part_tree = NULL;
    node.mesh = 0;
    data.nodes = &node, data.node_count = 1, data.meshes = &mesh, data.mesh_count = 1;
    data.skin_count = data.clip_count = 0;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &out));
    return out;
}

static uint32_t clip_named(const cutis_model *model, const char *name)
{
    const cutis_model_data *data = cutis_model_get(model);
    uint32_t c = 0;
    while (c < data->clip_count && strcmp(data->clips[c].name, name) != 0) c++;
    assert_true(c < data->clip_count);
    return c;
}

static cutis_result look(const cutis_model *model)
{
    return cutis_rig_check_motion(model, walker, clip_named(walker, "walk_forward"), &how, report);
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    walker = made(CUTIS_BODY_BIPED, 1500);
    cutis_model *person = made(CUTIS_BODY_FAMILY, 2000), *bare = without_skin(person), *rigged;
    const cutis_retarget_options options = { .clip = clip_named(walker, "walk_forward"),
                                             .fps = 60 };
    assert_ok(context, cutis_rig(bare, NULL, NULL, &rigged, &report));
    assert_ok(context, cutis_retarget(rigged, walker, &options, &moved, &how));
    cutis_model_destroy(rigged);
    cutis_model_destroy(bare);
    cutis_model_destroy(person);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cutis_rig_report_destroy(report);
    cutis_model_destroy(moved);
    cutis_model_destroy(walker);
    uint64_t left = cutis_context_memory(context);
    cutis_context_destroy(context);
    return left != 0;
}

// A walk with its root's path changed: out = stretch * time along x + rise along y.
static cutis_model *displaced(const cutis_model *walk, double drift, double rise)
{
    cutis_model_data data = *cutis_model_get(walk);
    cutis_clip clip = data.clips[data.clip_count - 1];
    cutis_channel *channels = malloc(clip.channel_count * sizeof *channels);
    float *values = NULL;
    cutis_model *out = NULL;
    memcpy(channels, clip.channels, clip.channel_count * sizeof *channels);
    for (uint32_t c = 0; c < clip.channel_count && !values; c++) {
        if (channels[c].path != CUTIS_PATH_TRANSLATION || channels[c].key_count < 2) continue;
        values = malloc(3 * channels[c].key_count * sizeof *values);
        for (uint32_t k = 0; k < channels[c].key_count; k++) {
            memcpy(values + 3 * (size_t)k, channels[c].values + 3 * (size_t)k, 3 * sizeof *values);
            values[3 * (size_t)k] += (float)(drift * (double)channels[c].times[k]);
            values[3 * (size_t)k + 1] += (float)rise;
        }
        channels[c].values = values;
    }
    assert_non_null(values);
    clip.channels = channels;
    data.clips = &clip, data.clip_count = 1;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &out));
    free(values);
    free(channels);
    return out;
}

static void assert_told(uint32_t before, const char *what)
{
    bool found = false;
    for (uint32_t i = before; i < report->problem_count; i++)
        found = found || strstr(report->problems[i], what);
    if (!found) fail_msg("nothing is said of: %s", what);
}

static void a_person_that_was_bare_walks_and_passes(void **state)
{
    (void)state;
    assert_ok(context, look(moved));
    assert_int_equal(report->problem_count, 0);
    assert_int_equal(report->motion.contact_count, 2);
    assert_true(report->motion.torn < 0.1 && report->motion.lean < 10);
    assert_true(report->motion.off_ground < 1 && report->motion.slide < 0.3);
}

static void feet_that_are_lifted_are_off_the_ground_by_that_much(void **state)
{
    (void)state;
    const uint32_t before = report->problem_count;
    cutis_model *broken = displaced(moved, 0, 0.05 * how.height);
    assert_ok(context, look(broken));
    assert_near(report->motion.off_ground, 5, 0.6);
    assert_true(report->motion.sunk <= 0);
    assert_told(before, "off the ground");
    cutis_model_destroy(broken);
}

static void feet_slide_by_drift_times_the_longest_contact(void **state)
{
    (void)state;
    double slides[2];
    const uint32_t before = report->problem_count;
    for (int k = 0; k < 2; k++) {
        cutis_model *broken = displaced(moved, 0.1 * (k + 1) * how.height, 0);
        assert_ok(context, look(broken));
        slides[k] = report->motion.slide;
        cutis_model_destroy(broken);
    }
    const double longest = fmax(how.stance_seconds[0], how.stance_seconds[1]); // one contact each
    for (int k = 0; k < 2; k++) assert_near(slides[k], 10 * (k + 1) * longest, 0.1);
    assert_told(before, "slide");
}

static void a_body_on_its_back_leans_by_a_right_angle(void **state)
{
    (void)state;
    const uint32_t before = report->problem_count;
    cutis_model_data data = *cutis_model_get(moved);
    cutis_node *nodes = malloc(data.node_count * sizeof *nodes);
    cutis_model *broken = NULL;
    memcpy(nodes, data.nodes, data.node_count * sizeof *nodes);
    for (uint32_t n = 0; n < data.node_count; n++)
        if (nodes[n].name && strcmp(nodes[n].name, "rig") == 0)
            nodes[n].rest.rotation = (cutis_quat){ sqrtf(0.5f), 0, 0, -sqrtf(0.5f) };
    data.nodes = nodes;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &broken));
    assert_ok(context, look(broken));
    assert_near(report->motion.lean, 90,
                15); // the motion's own way leans by some degrees in a stride
    assert_told(before, "leans");
    cutis_model_destroy(broken);
    free(nodes);
}

// Every other vertex of a hand goes with the other side's foot: its triangles reach across the
// body.
static void a_hand_that_a_foot_holds_too_is_torn(void **state)
{
    (void)state;
    const uint32_t before = report->problem_count;
    cutis_model_data data = *cutis_model_get(moved);
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive p = mesh.primitives[0];
    const cutis_skin *skin = &data.skins[0];
    const uint32_t count = p.influences.first[p.vertex_count];
    uint32_t *joints = malloc(count * sizeof *joints), hand = 0, foot = 0, changed = 0;
    cutis_model *broken = NULL;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        const char *name = data.nodes[skin->joints[j]].name;
        if (strcmp(name, "hand_l") == 0) hand = j;
        if (strcmp(name, "foot_r") == 0) foot = j;
    }
    for (uint32_t i = 0; i < count; i++) {
        joints[i] = p.influences.joints[i];
        if (joints[i] == hand && p.influences.weights[i] > 0.5f && changed++ % 2) joints[i] = foot;
    }
    assert_true(changed > 20);
    p.influences.joints = joints;
    mesh.primitives = &p, data.meshes = &mesh;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &broken));
    assert_ok(context, look(broken));
    assert_true(report->motion.torn > 1);
    assert_told(before, "tears");
    cutis_model_destroy(broken);
    free(joints);
}

// The hound walks in place: no foot stands, but each touches where it is lowest.
static void four_feet_are_looked_at_in_a_walk_in_place(void **state)
{
    (void)state;
    cutis_synth_options beast = { .body = CUTIS_BODY_FAMILY,
                                  .kind = CUTIS_FAMILY_QUADRUPED,
                                  .vertex_count = 2000,
                                  .seed = 102,
                                  .pose = CUTIS_FAMILY_POSE_A };
    cutis_model *hound = made(CUTIS_BODY_QUADRUPED, 1500), *made_one, *rigged, *walks;
    cutis_rig_report *own;
    cutis_retarget_report done;
    const cutis_retarget_options options = { .clip = clip_named(hound, "walk") };
    assert_ok(context, cutis_synth_create(context, &beast, &made_one));
    cutis_model *bare = without_skin(made_one);
    assert_ok(context, cutis_rig(bare, NULL, NULL, &rigged, &own));
    assert_ok(context, cutis_retarget(rigged, hound, &options, &walks, &done));
    assert_ok(context, cutis_rig_check_motion(walks, hound, options.clip, &done, own));
    assert_int_equal(own->problem_count, 0);
    assert_true(own->motion.contact_count >= 4);
    assert_true(own->motion.off_ground < 1.5 && isnan(own->motion.slide));
    const double before = own->motion.off_ground;
    cutis_model *broken = displaced(walks, 0, 0.05 * done.height);
    assert_ok(context, cutis_rig_check_motion(broken, hound, options.clip, &done, own));
    assert_near(own->motion.off_ground, 5, before + 0.1);
    assert_int_equal(own->problem_count, 1);
    cutis_rig_report_destroy(own);
    cutis_model *const all[] = { broken, walks, rigged, bare, made_one, hound };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) cutis_model_destroy(all[i]);
}

static void what_is_not_of_the_model_is_refused(void **state)
{
    (void)state;
    cutis_retarget_report none = { 0 };
    assert_int_equal(cutis_rig_check_motion(moved, walker, 0, &none, report),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_rig_check_motion(moved, walker, 99, &how, report), CUTIS_NOT_FOUND);
    assert_int_equal(cutis_rig_check_motion(moved, NULL, 0, &how, report), CUTIS_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_person_that_was_bare_walks_and_passes),
        cmocka_unit_test(feet_that_are_lifted_are_off_the_ground_by_that_much),
        cmocka_unit_test(feet_slide_by_drift_times_the_longest_contact),
        cmocka_unit_test(a_body_on_its_back_leans_by_a_right_angle),
        cmocka_unit_test(a_hand_that_a_foot_holds_too_is_torn),
        cmocka_unit_test(four_feet_are_looked_at_in_a_walk_in_place),
        cmocka_unit_test(what_is_not_of_the_model_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
