// Questions about a model: instances, counts, triangles, file positions, clips, the shared source.
#include "rig.h"

#include "model/source.h"

static cutis_context *context;
static rig r;
static cutis_model *model;

static int setup(void **state)
{
    (void)state;
    rig_init(&r);
    model = NULL;
    return cutis_context_create(NULL, &context) != CUTIS_OK;
}

static int teardown(void **state)
{
    (void)state;
    cutis_model_destroy(model);
    int leaked = cutis_context_memory(context) != 0;
    cutis_context_destroy(context);
    return leaked;
}

static void create(void)
{
    assert_ok(context, cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &model));
    assert_ptr_equal(cutis_model_context(model), context);
}

static void instances_follow_node_order_and_leave_out_what_is_not_in_the_scene(void **state)
{
    (void)state;
    r.nodes[0].mesh = 0;
    r.nodes[2].mesh = 0, r.nodes[2].outside = true;
    create();
    const cutis_instance *i;
    assert_int_equal(cutis_model_instances(model, &i), 2);
    assert_int_equal(i[0].node, 0);
    assert_int_equal(i[0].skin, CUTIS_NONE);
    assert_int_equal(i[0].vertex_first, 0);
    assert_int_equal(i[0].vertex_count, 7);
    assert_int_equal(i[1].node, 4);
    assert_int_equal(i[1].skin, 0);
    assert_int_equal(i[1].vertex_first, 7);
    assert_int_equal(i[1].target_first, 2);
    assert_int_equal(i[1].target_count, 2);
    assert_int_equal(cutis_model_vertex_count(model), 14);
    assert_int_equal(cutis_model_triangle_count(model), 6);
}

static void triangles_point_into_one_output_frame(void **state)
{
    (void)state;
    r.nodes[0].mesh = 0;
    create();
    uint32_t indices[18];
    cutis_model_triangles(model, indices);
    const uint32_t want[18] = { 0, 1, 2, 2, 1, 3, 4, 5, 6, 7, 8, 9, 9, 8, 10, 11, 12, 13 };
    assert_memory_equal(indices, want, sizeof want);
    float positions[42];
    cutis_model_file_positions(model, positions);
    for (int copy = 0; copy < 2; copy++) {
        assert_memory_equal(positions + 21 * copy, r.positions, 12 * sizeof(float));
        assert_memory_equal(positions + 21 * copy + 12, r.positions, 9 * sizeof(float));
    }
}

static void lines_and_points_have_vertices_but_no_triangles(void **state)
{
    (void)state;
    r.primitives[1].topology = CUTIS_TOPOLOGY_LINES;
    create();
    const cutis_primitive *p = &cutis_model_get(model)->meshes[0].primitives[1];
    assert_int_equal(p->index_count, 2); // three vertices: one whole line
    assert_int_equal(cutis_model_triangle_count(model), 2);
    uint32_t indices[6];
    cutis_model_triangles(model, indices);
    assert_memory_equal(indices, r.indices, sizeof indices);
}

static void an_incomplete_triangle_is_dropped_and_noted(void **state)
{
    (void)state;
    r.primitives[0].index_count = 5;
    create();
    const cutis_issue *issues;
    assert_int_equal(cutis_model_get(model)->meshes[0].primitives[0].index_count, 3);
    assert_int_equal(cutis_model_issues(model, &issues), 1);
    assert_string_equal(issues[0].code, "INDEX_COUNT_INCOMPLETE");
    assert_int_equal(issues[0].count, 2);
}

static void an_empty_index_list_stays_empty_when_the_data_is_used_again(void **state)
{
    (void)state;
    r.primitives[1].indices = r.indices; // not NULL, but none of them
    create();
    cutis_model *again = NULL;
    assert_ok(context,
              cutis_model_create(context, cutis_model_get(model), CUTIS_GATE_REFUSE, &again));
    assert_int_equal(cutis_model_triangle_count(again), 2);
    cutis_model_destroy(again);
}

static void an_empty_model_is_a_model(void **state)
{
    (void)state;
    r.data = (cutis_model_data){ 0 };
    create();
    assert_int_equal(cutis_model_vertex_count(model), 0);
    assert_int_equal(cutis_model_instances(model, NULL), 0);
    cutis_pose_rest(model, NULL, NULL);
    cutis_pose_world(model, NULL, NULL);
}

static void clips_are_found_by_name_then_by_index_and_listed_when_not(void **state)
{
    (void)state;
    cutis_clip clips[3] = { r.clip, r.clip, r.clip };
    clips[1].name = NULL;
    clips[2].name = "1"; // a name goes before an index
    r.data.clips = clips, r.data.clip_count = 3;
    create();
    const struct {
        const char *name;
        uint32_t index;
    } good[] = { { "wave", 0 }, { "#1", 1 }, { "1", 2 }, { "0", 0 }, { "2", 2 } };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint32_t found = 99;
        assert_ok(context, cutis_model_find_clip(model, good[i].name, &found));
        assert_int_equal(found, good[i].index);
    }
    const char *const bad[] = { "run", "3",          "#3",
                                "",    "#",          "-1",
                                "1x",  "4294967297", "18446744073709551617" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint32_t found = 99;
        assert_int_equal(cutis_model_find_clip(model, bad[i], &found), CUTIS_NOT_FOUND);
        assert_non_null(strstr(cutis_context_error(context), "wave, #1, 1"));
        assert_int_equal(found, 99);
    }
}

static void a_long_list_of_clips_is_cut_not_overrun(void **state)
{
    (void)state;
    enum { MANY = 500 };
    static cutis_clip clips[MANY];
    for (int i = 0; i < MANY; i++)
        clips[i] = r.clip, clips[i].name = i % 2 ? NULL : "a name of some length";
    r.data.clips = clips, r.data.clip_count = MANY;
    create();
    uint32_t found;
    assert_int_equal(cutis_model_find_clip(model, "x", &found), CUTIS_NOT_FOUND);
    assert_non_null(strstr(cutis_context_error(context), "a name of some length, #1"));
}

static int destroyed;
static void count_destroy(cutis_source *source)
{
    (void)source;
    destroyed++;
}

static void a_source_lives_as_long_as_the_last_model_made_from_it(void **state)
{
    (void)state;
    cutis_source source = { 1, count_destroy };
    destroyed = 0;
    r.data.source = &source;
    create();
    cutis_model *derived = NULL, *broken = NULL;
    assert_ok(context,
              cutis_model_create(context, cutis_model_get(model), CUTIS_GATE_REFUSE, &derived));
    r.positions[0] = NAN; // a refused model gives its reference back
    assert_int_equal(cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, &broken),
                     CUTIS_CORRUPT_DATA);
    cutis_source_release(&source); // the reader's own
    cutis_model_destroy(model);
    model = NULL;
    assert_int_equal(destroyed, 0);
    cutis_model_destroy(derived);
    assert_int_equal(destroyed, 1);
}

static void channels_that_share_times_go_on_sharing_them(void **state)
{
    (void)state;
    create();
    const cutis_channel *c = cutis_model_get(model)->clips[0].channels;
    assert_ptr_equal(c[0].times, c[3].times);
    assert_ptr_not_equal(c[0].times, r.times);
}

static void wrong_arguments_are_an_error_not_a_crash(void **state)
{
    (void)state;
    assert_int_equal(cutis_model_create(context, NULL, CUTIS_GATE_REFUSE, &model),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_model_create(context, &r.data, (cutis_gate)5, &model),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_model_create(context, &r.data, CUTIS_GATE_REFUSE, NULL),
                     CUTIS_INVALID_ARGUMENT);
    cutis_model_destroy(NULL);
    cutis_sampler_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(instances_follow_node_order_and_leave_out_what_is_not_in_the_scene),
        TEST(triangles_point_into_one_output_frame),
        TEST(lines_and_points_have_vertices_but_no_triangles),
        TEST(an_incomplete_triangle_is_dropped_and_noted),
        TEST(an_empty_index_list_stays_empty_when_the_data_is_used_again),
        TEST(an_empty_model_is_a_model),
        TEST(clips_are_found_by_name_then_by_index_and_listed_when_not),
        TEST(a_long_list_of_clips_is_cut_not_overrun),
        TEST(a_source_lives_as_long_as_the_last_model_made_from_it),
        TEST(channels_that_share_times_go_on_sharing_them),
        TEST(wrong_arguments_are_an_error_not_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
