/// What stands around the bodies: random numbers, own trigonometry, shape function, cylinder,
/// crowd, examples, refusals, cancelling. The bodies themselves are judged in test_synth.c.
#include "motion.h"
#include "survey.h"

#include "synth/surface.h"
#include "geometry/sincos.h"
#include "synth/trig.h"

static cutis_context *context;

static double weight_of(const cutis_primitive *p, uint32_t v, uint32_t joint)
{
    for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++)
        if (p->influences.joints[i] == joint) return p->influences.weights[i];
    return 0;
}

static void random_bits_are_balanced_and_uncorrelated_between_neighbours(void **state)
{
    (void)state;
    // 64 bits x 3 inputs: flipping one input bit flips each output bit about half the time.
    for (int input = 0; input < 3; input++) {
        for (int bit = 0; bit < 64; bit += 7) {
            int flips[64] = { 0 };
            for (uint64_t k = 0; k < 2000; k++) {
                uint64_t in[3] = { k * 17, k * 5 + 1, k };
                uint64_t before = cutis_random_bits(in[0], in[1], in[2]);
                in[input] ^= UINT64_C(1) << bit;
                uint64_t change = before ^ cutis_random_bits(in[0], in[1], in[2]);
                for (int b = 0; b < 64; b++) flips[b] += change >> b & 1;
            }
            for (int b = 0; b < 64; b++)
                assert_in_range(flips[b], 1000 - 130, 1000 + 130); // 5.8 sigma
        }
    }
    double mean = 0;
    for (uint64_t k = 0; k < 100000; k++) {
        double u = cutis_random_unit(7, 3, k);
        assert_true(u >= 0 && u < 1);
        mean += u / 100000;
    }
    assert_near(mean, 0.5, 5 * sqrt(1 / 12.0 / 100000));
}

static void sine_cosine_and_arc_tangent_agree_with_libm(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 20000; k++) {
        double degrees = random_in(2, k, -1000, 1000), s, c;
        sincos_degrees(degrees, &s, &c);
        assert_near(s, sin(degrees * M_PI / 180), 5e-15);
        assert_near(c, cos(degrees * M_PI / 180), 5e-15);
        double folded = remainder(degrees, 360);
        assert_near(cutis_synth_atan2(3 * s, 3 * c), folded, fabs(folded) > 179.99 ? 361 : 1e-9);
    }
    double s, c;
    sincos_degrees(270, &s, &c);
    assert_true(s == -1 && c == 0);
}

static void body_names_go_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i <= CUTIS_BODY_CROWD; i++) {
        cutis_body body;
        assert_int_equal(cutis_body_from_name(cutis_body_name((cutis_body)i), &body), CUTIS_OK);
        assert_int_equal(body, i);
    }
    cutis_body body;
    assert_int_equal(cutis_body_from_name("horse", &body), CUTIS_NOT_FOUND);
}

static void the_intersection_test_finds_a_pierced_triangle(void **state)
{
    (void)state;
    double x[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, -1, 0.2, 0.3, 1, 0.3, 0.2, 1 };
    uint32_t t[] = { 0, 1, 2, 3, 4, 5 };
    triangle_mesh m = { 6, 2, x, t };
    assert_int_equal(count_intersections(&m), 1);
    x[11] = 0.5; // the second triangle now stays above the first
    assert_int_equal(count_intersections(&m), 0);
}

static void the_shapes_gradient_is_that_of_central_differences(void **state)
{
    (void)state;
    static const synth_table *const tables[] = { &cutis_synth_biped, &cutis_synth_mitten,
                                                 &cutis_synth_quadruped, &cutis_synth_arm };
    for (int i = 0; i < 4; i++) {
        shape s;
        cutis_synth_shape_init(&s, tables[i]);
        for (uint64_t k = 0; k < 3000; k++) {
            vec3 x, g;
            x.x = random_in(1, 3 * k, tables[i]->box_min[0] + 1, tables[i]->box_max[0]);
            x.y = random_in(1, 3 * k + 1, tables[i]->box_min[1], tables[i]->box_max[1]);
            x.z = random_in(1, 3 * k + 2, tables[i]->box_min[2], tables[i]->box_max[2]);
            double d = cutis_synth_shape_gradient(&s, x, &g), h = 1e-4;
            if (fabs(d) > 40) continue;
            assert_near(d, cutis_synth_shape_distance(&s, x), 0);
            double dx = cutis_synth_shape_distance(&s, v3_add(x, v3(h, 0, 0))) -
                        cutis_synth_shape_distance(&s, v3_sub(x, v3(h, 0, 0)));
            double dy = cutis_synth_shape_distance(&s, v3_add(x, v3(0, h, 0))) -
                        cutis_synth_shape_distance(&s, v3_sub(x, v3(0, h, 0)));
            double dz = cutis_synth_shape_distance(&s, v3_add(x, v3(0, 0, h))) -
                        cutis_synth_shape_distance(&s, v3_sub(x, v3(0, 0, h)));
            assert_near(g.x, dx / (2 * h), 2e-4);
            assert_near(g.y, dy / (2 * h), 2e-4);
            assert_near(g.z, dz / (2 * h), 2e-4);
        }
    }
}

static void the_cylinder_has_the_blending_specifications_volumes(void **state)
{
    (void)state;
    static const double bend[6] = { 0.99441, 0.97916, 0.95831, 0.93747, 0.92221, 0.91663 };
    static const double twist[6] = { 0.98880, 0.95828, 0.91660, 0.87494, 0.84447, 0.83333 };
    cutis_model *model = NULL;
    cutis_synth_options options = { .body = CUTIS_BODY_CYLINDER };
    assert_ok(context, cutis_synth_create(context, &options, &model));
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_primitive *p = data->meshes[0].primitives;
    assert_int_equal(p->vertex_count, 257 * 64 + 2);
    triangle_mesh m = mesh_of(p, false);
    survey s = survey_mesh(&m);
    assert_int_equal(s.euler, 2);
    assert_int_equal(s.unpaired_edges, 0);
    assert_near(s.volume, 8 * 32 * sin(2 * M_PI / 64), 1e-5);
    mesh_release(&m);
    for (int i = 0; i < 12; i++) {
        uint32_t clip = 0;
        affine world[4];
        double *x = malloc(3 * sizeof *x * p->vertex_count);
        assert_ok(context, cutis_model_find_clip(model, i < 6 ? "bend" : "twist", &clip));
        pose_nodes(data, &data->clips[clip], i % 6 + 1, world);
        blend_skin(data, world, NULL, x);
        double volume = volume_of(x, p->indices, p->index_count / 3);
        assert_near(volume / s.volume, i < 6 ? bend[i] : twist[i - 6], 2e-5);
        free(x);
    }
    cutis_model_destroy(model);
}

static cutis_model *make_crowd(uint64_t seed, uint32_t count)
{
    cutis_model *model = NULL;
    cutis_synth_options options = {
        .body = CUTIS_BODY_CROWD, .seed = seed, .count = count, .vertex_count = 1500
    };
    assert_ok(context, cutis_synth_create(context, &options, &model));
    return model;
}

/// Where a walker stands: the node above the first joint of its skin.
static const cutis_transform *place_of(const cutis_model_data *data, const cutis_instance *instance)
{
    uint32_t joint = data->skins[instance->skin].joints[0];
    return &data->nodes[data->nodes[joint].parent].rest;
}

static void a_crowd_has_its_walkers_apart_sized_within_8_percent_and_seeded(void **state)
{
    (void)state;
    cutis_model *one = make_crowd(1, 12), *again = make_crowd(1, 12), *two = make_crowd(2, 12);
    const cutis_model_data *a = cutis_model_get(one), *b = cutis_model_get(again),
                           *c = cutis_model_get(two);
    const cutis_instance *instances = NULL;
    assert_int_equal(cutis_model_instances(one, &instances), 12);
    assert_int_equal(a->skin_count, 12);
    assert_int_equal(a->mesh_count, 2);
    bool kinds[2] = { false, false }, differs = false;
    for (int i = 0; i < 12; i++) {
        const cutis_transform *p = place_of(a, &instances[i]);
        kinds[instances[i].mesh] = true;
        assert_true(p->scale.x >= 0.92f && p->scale.x <= 1.08f);
        for (int k = 0; k < i; k++) {
            const cutis_transform *q = place_of(a, &instances[k]);
            assert_true(hypot(p->translation.x - q->translation.x,
                              p->translation.z - q->translation.z) > 0.7);
        }
    }
    assert_true(kinds[0] && kinds[1]);
    assert_int_equal(a->node_count, b->node_count);
    for (uint32_t n = 0; n < a->node_count; n++)
        assert_memory_equal(&a->nodes[n].rest, &b->nodes[n].rest, sizeof a->nodes[n].rest);
    differs = a->node_count != c->node_count ||
              memcmp(&a->nodes[1].rest, &c->nodes[1].rest, sizeof a->nodes[1].rest);
    assert_true(differs);
    cutis_model_destroy(one);
    cutis_model_destroy(again);
    cutis_model_destroy(two);
}

static void arm_examples_are_the_skinned_arm_with_its_muscle(void **state)
{
    (void)state;
    cutis_model *model = NULL;
    cutis_synth_options options = { .body = CUTIS_BODY_ARM,
                                    .vertex_count = 1000,
                                    .examples = true };
    assert_ok(context, cutis_synth_create(context, &options, &model));
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_primitive *p = data->meshes[0].primitives;
    uint32_t clip = 0, count = p->vertex_count;
    assert_ok(context, cutis_model_find_clip(model, "examples", &clip));
    float *shapes = malloc(CUTIS_ARM_EXAMPLE_COUNT * 3 * sizeof(float) * count);
    double *offsets = malloc(3 * sizeof(double) * count),
           *expected = malloc(3 * sizeof(double) * count);
    affine *world = malloc(sizeof *world * data->node_count);
    assert_ok(context, cutis_synth_arm_examples(model, shapes));
    static const struct {
        const char *joint;
        double angle;
    } poses[8] = { { "elbow", 0 },     { "elbow", 45 }, { "elbow", 90 }, { "shoulder", 45 },
                   { "shoulder", 90 }, { "wrist", 45 }, { "wrist", 90 }, { "collar", 20 } };
    for (int k = 0; k < 8; k++) {
        uint32_t joint = 0;
        while (strcmp(data->nodes[data->skins[0].joints[joint]].name, poses[k].joint) != 0) joint++;
        for (uint32_t v = 0; v < count; v++)
            for (int i = 0; i < 3; i++)
                offsets[3 * v + (uint32_t)i] =
                    0.009 * sin(poses[k].angle * M_PI / 180) * weight_of(p, v, joint) *
                    fmax(0, p->normals[3 * v + 2]) * p->normals[3 * v + (uint32_t)i];
        pose_nodes(data, &data->clips[clip], k, world);
        blend_skin(data, world, offsets, expected);
        for (uint32_t i = 0; i < 3 * count; i++)
            assert_near(shapes[3 * (size_t)k * count + i], expected[i], 1e-6);
    }
    free(shapes);
    free(offsets);
    free(expected);
    free(world);
    cutis_model_destroy(model);
}

static void impossible_counts_are_refused_with_their_limits(void **state)
{
    (void)state;
    static const struct {
        cutis_body body;
        uint32_t vertices;
        const char *limit;
    } cases[] = { { CUTIS_BODY_BIPED, 1499, "1500" },    { CUTIS_BODY_QUADRUPED, 1499, "1500" },
                  { CUTIS_BODY_ARM, 999, "1000" },       { CUTIS_BODY_BIPED, 4000001, "4000000" },
                  { CUTIS_BODY_CYLINDER, 100, "16450" }, { CUTIS_BODY_CROWD, 10, "1500" } };
    uint64_t before = cutis_context_memory(context);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cutis_model *model = NULL;
        cutis_synth_options options = { .body = cases[i].body, .vertex_count = cases[i].vertices };
        assert_int_equal(cutis_synth_create(context, &options, &model), CUTIS_INVALID_ARGUMENT);
        assert_null(model);
        assert_non_null(strstr(cutis_context_error(context), cases[i].limit));
    }
    assert_int_equal(cutis_context_memory(context), before);
}

static bool stop_at_third(void *user, const char *stage, double fraction)
{
    (void)stage;
    (void)fraction;
    return ++*(int *)user < 3;
}

static void a_cancelled_body_leaves_no_memory_behind(void **state)
{
    (void)state;
    int calls = 0;
    cutis_context *own = NULL;
    cutis_model *model = NULL;
    cutis_context_options options = { .progress = stop_at_third, .progress_user = &calls };
    assert_int_equal(cutis_context_create(&options, &own), CUTIS_OK);
    cutis_synth_options body = { .body = CUTIS_BODY_ARM, .vertex_count = 1000 };
    assert_int_equal(cutis_synth_create(own, &body, &model), CUTIS_CANCELLED);
    assert_int_equal(calls, 3);
    assert_int_equal(cutis_context_memory(own), 0);
    cutis_context_destroy(own);
}

static void a_memory_limit_stops_a_body_cleanly(void **state)
{
    (void)state;
    for (uint64_t limit = 1 << 20; limit <= 16 << 20; limit *= 4) {
        cutis_context *own = NULL;
        cutis_model *model = NULL;
        cutis_context_options options = { .limits = { .memory_bytes = limit } };
        assert_int_equal(cutis_context_create(&options, &own), CUTIS_OK);
        cutis_synth_options body = { .body = CUTIS_BODY_ARM, .vertex_count = 1000 };
        assert_int_equal(cutis_synth_create(own, &body, &model), CUTIS_LIMIT_EXCEEDED);
        assert_int_equal(cutis_context_memory(own), 0);
        cutis_context_destroy(own);
    }
}

static int open_context(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context) != CUTIS_OK;
}

static int close_context(void **state)
{
    (void)state;
    uint64_t left = cutis_context_memory(context);
    cutis_context_destroy(context);
    return left != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_intersection_test_finds_a_pierced_triangle),
        cmocka_unit_test(the_cylinder_has_the_blending_specifications_volumes),
        cmocka_unit_test(a_crowd_has_its_walkers_apart_sized_within_8_percent_and_seeded),
        cmocka_unit_test(arm_examples_are_the_skinned_arm_with_its_muscle),
        cmocka_unit_test(impossible_counts_are_refused_with_their_limits),
        cmocka_unit_test(a_cancelled_body_leaves_no_memory_behind),
        cmocka_unit_test(a_memory_limit_stops_a_body_cleanly),
        cmocka_unit_test(the_shapes_gradient_is_that_of_central_differences),
        cmocka_unit_test(sine_cosine_and_arc_tangent_agree_with_libm),
        cmocka_unit_test(random_bits_are_balanced_and_uncorrelated_between_neighbours),
        cmocka_unit_test(body_names_go_both_ways),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
