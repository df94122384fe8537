// Parts from nothing: `auto`.
#include "extracted.h"

static void automatic_parts_find_the_joints_of_the_biped(void **state)
{
    (void)state;
    static const char *const JOINTS[] = { "forearm_l",  "forearm_r",  "shin_l",
                                          "shin_r",     "thigh_l",    "thigh_r",
                                          "upperarm_l", "upperarm_r", "head" };
    cutis_model *model = body(CUTIS_BODY_BIPED, 0);
    cutis_model *out = extract(model, (cutis_skeleton_options){ .seed = 1 }, NULL);
    cutis_model *again = extract(model, (cutis_skeleton_options){ .seed = 1 }, NULL);
    const cutis_mesh *mesh = mesh_of(out);
    assert_sound(out);
    assert_in_range(mesh->part_count, 12, 24);
    assert_memory_equal(mesh->part_tree->parts, mesh_of(again)->part_tree->parts,
                        mesh->part_count * sizeof *mesh->part_tree->parts);
    double worst = 0;
    for (size_t j = 0; j < sizeof JOINTS / sizeof JOINTS[0]; j++) {
        double truth[3], best = 1e9;
        node_place(model, JOINTS[j], truth);
        for (uint32_t p = 1; p < mesh->part_count; p++)
            best = fmin(best, distance(truth, mesh->part_tree->parts[p].position));
        worst = fmax(worst, best);
    }
    print_message("%u parts; shoulders, elbows, hips, knees, head within %.3f m\n",
                  mesh->part_count, worst);
    assert_true(worst < 0.05 * 2.32); // of the diagonal
    cutis_model *fewer = extract(model, (cutis_skeleton_options){ .part_count = 6 }, NULL);
    assert_in_range(mesh_of(fewer)->part_count, 2, 6);
    assert_sound(fewer);
    cutis_model_destroy(fewer);
    cutis_model_destroy(again);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(automatic_parts_find_the_joints_of_the_biped),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
