// Pose files: what they name changes, what they leave out stays, and an error changes nothing.
#include "files.h"

static cutis_model *rig(fixture *f)
{
    cutis_node nodes[4];
    const char *names[] = { "root", "elbow", "twin", "twin" };
    for (int i = 0; i < 4; i++) {
        nodes[i] = (cutis_node){
            .name = names[i], .parent = i - 1, .mesh = CUTIS_NONE, .skin = CUTIS_NONE
        };
        nodes[i].rest = cutis_transform_identity();
        nodes[i].rest.translation.x = (float)i;
    }
    static const uint32_t joints[] = { 3, 1, 2, 0 };
    cutis_skin skin = { .joint_count = 4, .joints = joints, .root = CUTIS_NONE };
    cutis_model_data data = { .node_count = 4, .skin_count = 1, .nodes = nodes, .skins = &skin };
    cutis_model *model;
    assert_ok(f->context, cutis_model_create(f->context, &data, CUTIS_GATE_REFUSE, &model));
    return model;
}

static void named_and_numbered_joints_change_and_the_rest_stays(void **state)
{
    fixture *f = *state;
    cutis_model *model = rig(f);
    cutis_transform pose[4];
    cutis_pose_rest(model, pose, NULL);
    write_text(f, "p.json",
               "{\"joints\": {\"elbow\": {\"rotation\": [0, 0, 3, 4]}, "
               "\"#0\": {\"translation\": [0.5, 1, -2], \"scale\": [1, 2, 3]}}}");
    assert_ok(f->context, cutis_pose_read(model, path_in(f, "p.json"), pose));
    assert_near(pose[1].rotation.z, 0.6, 1e-7); // brought to unit length
    assert_near(pose[1].rotation.w, 0.8, 1e-7);
    assert_near(pose[1].translation.x, 1, 0);
    assert_near(pose[3].translation.z, -2, 0); // "#0" is joint 0 of the skin, node 3
    assert_near(pose[3].scale.y, 2, 0);
    assert_near(pose[2].translation.x, 2, 0);
    cutis_model_destroy(model);
}

static void errors_name_the_place_and_change_nothing(void **state)
{
    static const struct {
        const char *text, *words;
    } BAD[] = {
        { "{\"joints\": {\"elbow\": {\"rotation\": [0, 0, 1]}}}", "/joints/elbow/rotation" },
        { "{\"joints\": {\"elbow\": {\"rotation\": [0, 0, 0, 0]}}}", "length 0" },
        { "{\"joints\": {\"elbow\": {\"scale\": [1, \"x\", 1]}}}", "/joints/elbow/scale/1" },
        { "{\"joints\": {\"elbow\": {\"scale\": [1, 1e300, 1]}}}", "finite" },
        { "{\"joints\": {\"elbow\": {\"rotate\": [0, 0, 0, 1]}}}", "unknown key" },
        { "{\"joints\": {\"elbow\": {\"scale\": [2, 2, 2]}, \"knee\": {}}}", "knee" },
        { "{\"joints\": {\"twin\": {}}}", "twin" },
        { "{\"joints\": {\"#9\": {}}}", "#9" },
        { "{\"joints\": []}", "/joints" },
        { "{\"joints\": {\"elbow\": ", "line 1" },
    };
    fixture *f = *state;
    cutis_model *model = rig(f);
    cutis_transform pose[4], before[4];
    cutis_pose_rest(model, before, NULL);
    memcpy(pose, before, sizeof pose);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        write_text(f, "p.json", BAD[i].text);
        assert_int_not_equal(cutis_pose_read(model, path_in(f, "p.json"), pose), CUTIS_OK);
        const char *error = cutis_context_error(f->context);
        if (!strstr(error, BAD[i].words) || !strstr(error, "p.json"))
            fail_msg("%s: %s", BAD[i].text, error);
        assert_memory_equal(pose, before, sizeof pose);
    }
    assert_int_equal(cutis_pose_read(model, path_in(f, "none.json"), pose), CUTIS_FILE_NOT_FOUND);
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(named_and_numbered_joints_change_and_the_rest_stays),
        claim(errors_name_the_place_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
