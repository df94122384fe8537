// Parts from nothing: `auto`.
#include "extracted.h"

static void automatic_parts_find_the_joints_of_the_biped(void **state)
{
    (void)state;
    static const char *const JOINTS[] = { "forearm_l",  "forearm_r",  "shin_l",
                                          "shin_r",     "thigh_l",    "thigh_r",
                                          "upperarm_l", "upperarm_r", "head" };
    cutis_model *model = body(CUTIS_BODY_BIPED, 0);
    cutis_model *out = extract(model, (cutis_skeleton_options){ 0 }, NULL);
    cutis_model *again = extract(model, (cutis_skeleton_options){ 0 }, NULL);
    const cutis_mesh *mesh = mesh_of(out);
    assert_sound(out);
    assert_in_range(mesh->part_count, 24, 40);
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

// Each of the ten fingers has a joint of its own, near where its maker put it.
static void automatic_parts_find_every_finger_of_the_biped(void **state)
{
    (void)state;
    static const char *const FINGERS[] = { "thumb1", "index1", "middle1", "ring1", "pinky1" };
    cutis_model *model = body(CUTIS_BODY_BIPED, 0);
    cutis_model *out = extract(model, (cutis_skeleton_options){ 0 }, NULL);
    const cutis_mesh *mesh = mesh_of(out);
    bool *taken = calloc(mesh->part_count, sizeof *taken);
    double worst = 0;
    for (int f = 0; f < 10; f++) {
        char name[32];
        double truth[3], best = 1e9;
        uint32_t part = 0;
        snprintf(name, sizeof name, "%s_%c", FINGERS[f / 2], f % 2 ? 'r' : 'l');
        node_place(model, name, truth);
        for (uint32_t p = 1; p < mesh->part_count; p++) {
            double d = distance(truth, mesh->part_tree->parts[p].position);
            if (!taken[p] && d < best) best = d, part = p;
        }
        taken[part] = true;
        worst = fmax(worst, best);
    }
    print_message("ten fingers, each within %.3f m\n", worst);
    assert_true(worst < 0.03); // a knuckle's width
    free(taken);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

// Arms that meet round the mouth: each is a part, and healing leaves it one.
static void automatic_parts_keep_every_arm_of_an_octopus(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        cutis_model *model = NULL;
        cutis_synth_options options = { .body = CUTIS_BODY_FAMILY,
                                        .kind = CUTIS_FAMILY_OCTOPUS,
                                        .vertex_count = 4000,
                                        .seed = seed };
        assert_ok(context, cutis_synth_create(context, &options, &model));
        cutis_model *out = extract(model, (cutis_skeleton_options){ .keep_curved = true }, NULL);
        assert_sound(out);
        assert_int_equal(mesh_of(out)->part_count, 9);
        cutis_model_destroy(out);
        cutis_model_destroy(model);
    }
}

static soup s; // large for a stack

// A ring of 16 at x, radius r; faces to the ring before it, outward or (a pocket) inward.
static uint32_t add_ring(double x, double r, uint32_t before, uint32_t label)
{
    uint32_t base = s.vertices;
    for (uint32_t j = 0; j < 16; j++) {
        double a = 2 * 3.14159265358979 * j / 16;
        add_vertex(&s, x, r * cos(a), r * sin(a));
    }
    for (uint32_t j = 0; before != UINT32_MAX && j < 16; j++) {
        uint32_t k = (j + 1) % 16;
        add_face(&s, before + j, before + k, base + k, label);
        add_face(&s, before + j, base + k, base + j, label);
    }
    return base;
}

static void add_fan(double x, uint32_t ring, bool end, uint32_t label)
{
    uint32_t centre = add_vertex(&s, x, 0, 0);
    for (uint32_t j = 0; j < 16; j++) {
        uint32_t a = ring + j, b = ring + (j + 1) % 16;
        if (end)
            add_face(&s, a, b, centre, label);
        else
            add_face(&s, b, a, centre, label);
    }
}

// A tube with a deep hole in its end is one body: the hole is as long as a limb, and none.
static void a_pocket_is_no_limb(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    uint32_t ring = add_ring(0, 1, UINT32_MAX, 0);
    add_fan(0, ring, false, 0);
    for (int i = 1; i <= 20; i++) ring = add_ring(0.3 * i, 1, ring, 0);
    for (int i = 0; i <= 14; i++) ring = add_ring(6 - 0.3 * i, 0.4, ring, 1);
    add_fan(1.8, ring, true, 1);
    cutis_model *model = soup_model(&s);
    cutis_model *out = extract(model, (cutis_skeleton_options){ .keep_curved = true }, NULL);
    const cutis_primitive *primitive = &mesh_of(out)->primitives[0];
    bool outside[64] = { false };
    assert_in_range(mesh_of(out)->part_count, 2, 64);
    for (uint32_t t = 0; t < primitive->index_count / 3; t++) {
        const float *p = primitive->positions + 3 * (size_t)primitive->indices[3 * t];
        outside[primitive->parts[t]] |= p[1] * p[1] + p[2] * p[2] > 0.9f;
    }
    for (uint32_t p = 0; p < mesh_of(out)->part_count; p++) assert_true(outside[p]);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(automatic_parts_find_the_joints_of_the_biped),
        cmocka_unit_test(automatic_parts_find_every_finger_of_the_biped),
        cmocka_unit_test(automatic_parts_keep_every_arm_of_an_octopus),
        cmocka_unit_test(a_pocket_is_no_limb),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
