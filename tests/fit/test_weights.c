// Weights: bone sets, checks and limits on hand-made skins whose answers can be counted by eye.
#include "support.h"

#include <cutis/weights.h>

enum { JOINTS = 6 };

// A skinned strip: every vertex's influences are given as text, "0:0.5 2:0.5".
typedef struct {
    cutis_context *context;
    cutis_model *model;
    uint32_t first[33], joints[256], skin_joints[JOINTS];
    float weights[256], positions[96];
    cutis_node nodes[JOINTS + 2];
    cutis_primitive primitive;
    cutis_mesh mesh;
    cutis_skin skins[2];
    cutis_model_data data;
} strip;

static void add_vertex(strip *s, const char *text)
{
    uint32_t v = s->primitive.vertex_count++, end = s->first[v];
    for (int used; *text; text += used) {
        assert_int_equal(sscanf(text, "%u:%f%n", &s->joints[end], &s->weights[end], &used), 2);
        end++;
    }
    s->first[v + 1] = end;
    s->positions[3 * v] = (float)v;
    s->positions[3 * v + 1] = (float)(v * v);
}

static strip *make_strip(const char *const *vertices)
{
    strip *s = calloc(1, sizeof *s);
    assert_int_equal(cutis_context_create(NULL, &s->context), CUTIS_OK);
    for (; *vertices; vertices++) add_vertex(s, *vertices);
    s->primitive.positions = s->positions;
    s->primitive.material = CUTIS_NONE;
    s->primitive.influences = (cutis_influences){ s->first, s->joints, s->weights };
    s->mesh = (cutis_mesh){ .primitive_count = 1, .primitives = &s->primitive };
    for (uint32_t n = 0; n < JOINTS + 2; n++)
        s->nodes[n] = (cutis_node){ .parent = (int32_t)n - 1,
                                    .rest = cutis_transform_identity(),
                                    .mesh = CUTIS_NONE,
                                    .skin = CUTIS_NONE };
    for (uint32_t j = 0; j < JOINTS; j++) s->skin_joints[j] = j;
    s->nodes[JOINTS].mesh = s->nodes[JOINTS].skin = 0;
    s->skins[0] =
        (cutis_skin){ .joint_count = JOINTS, .joints = s->skin_joints, .root = CUTIS_NONE };
    s->data = (cutis_model_data){ .node_count = JOINTS + 2,
                                  .mesh_count = 1,
                                  .skin_count = 1,
                                  .nodes = s->nodes,
                                  .meshes = &s->mesh,
                                  .skins = s->skins };
    return s;
}

static void create(strip *s)
{
    assert_ok(s->context, cutis_model_create(s->context, &s->data, CUTIS_GATE_REFUSE, &s->model));
}

static void free_strip(strip *s)
{
    cutis_model_destroy(s->model);
    assert_int_equal(cutis_context_memory(s->context), 0);
    cutis_context_destroy(s->context);
    free(s);
}

#define STRIP(...) make_strip((const char *const[]){ __VA_ARGS__, NULL })

static void bone_sets_are_counted_by_their_members_with_weight(void **state)
{
    (void)state;
    strip *s = STRIP("0:1", "0:0.5 1:0.5", "1:0.3 0:0.7",      // {0,1} twice, in either order
                     "0:0.5 1:0.5 2:0",                        // zero weight: {0,1} again
                     "1:0.5 2:0.25 1:0.25",                    // doubled: {1,2}
                     "0:0.2 1:0.3 2:0.5", "2:0.2 0:0.3 1:0.5", // {0,1,2}
                     "", "3:0");                               // no weight at all
    create(s);
    cutis_weight_summary w;
    assert_ok(s->context, cutis_weights_summarize(s->model, &w));
    assert_int_equal(w.bone_set_count, 3);
    assert_int_equal(w.large_set_count, 1);
    assert_int_equal(w.max_influences, 3);
    assert_int_equal(w.joint_count, JOINTS);
    assert_int_equal(w.unused_joint_count, 3);
    assert_int_equal(w.unweighted_count, 2);
    const uint64_t histogram[4] = { 2, 1, 4, 2 };
    for (int i = 0; i < 4; i++) assert_int_equal(w.histogram[i], histogram[i]);
    free_strip(s);
}

static void bone_sets_are_sets_of_nodes_whatever_skin_names_them(void **state)
{
    (void)state;
    strip *s = STRIP("0:0.5 1:0.5", "1:0.5 2:0.5");
    uint32_t reversed[JOINTS] = { 5, 4, 3, 2, 1, 0 };
    s->skins[1] = s->skins[0];
    s->skins[1].joints = reversed; // {5,4} and {4,3}
    s->data.skin_count = 2;
    s->nodes[JOINTS + 1].mesh = 0, s->nodes[JOINTS + 1].skin = 1;
    create(s);
    cutis_weight_summary w;
    assert_ok(s->context, cutis_weights_summarize(s->model, &w));
    assert_int_equal(w.bone_set_count, 4);
    assert_int_equal(w.histogram[2], 4);
    assert_int_equal(w.unused_joint_count, 0);
    free_strip(s);
}

static void ten_thousand_different_sets_are_told_apart_and_a_large_one_is_limited(void **state)
{
    (void)state;
    enum { N = 150 }; // N (N - 1) / 2 pairs
    const uint32_t count = N * (N - 1) / 2;
    uint32_t *first = malloc((2 * count + 2) * 4), *joints = malloc((4 * count + N) * 4),
             skin_joints[N], v = 0;
    float *weights = malloc((4 * count + N) * 4), *positions = calloc((2 * count + 1) * 3, 4);
    cutis_node nodes[N + 1];
    for (uint32_t copy = 0; copy < 2; copy++)
        for (uint32_t a = 0; a < N; a++)
            for (uint32_t b = a + 1; b < N; b++, v++) {
                first[v] = 2 * v;
                joints[2 * v] = copy ? b : a, joints[2 * v + 1] = copy ? a : b;
                weights[2 * v] = weights[2 * v + 1] = 0.5f;
            }
    first[v] = 2 * v; // and one vertex that all joints move
    for (uint32_t a = 0; a < N; a++)
        joints[2 * v + a] = (a * 7 + 3) % N, weights[2 * v + a] = 1 + (float)joints[2 * v + a];
    first[v + 1] = 2 * v + N;
    v++;
    for (uint32_t n = 0; n <= N; n++) {
        nodes[n] = (cutis_node){ .parent = CUTIS_NONE,
                                 .rest = cutis_transform_identity(),
                                 .mesh = n == N ? 0 : CUTIS_NONE,
                                 .skin = n == N ? 0 : CUTIS_NONE };
        if (n < N) skin_joints[n] = n;
    }
    cutis_primitive primitive = { .topology = CUTIS_TOPOLOGY_POINTS,
                                  .vertex_count = v,
                                  .positions = positions,
                                  .influences = { first, joints, weights },
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_skin skin = { .joint_count = N, .joints = skin_joints, .root = CUTIS_NONE };
    cutis_model_data data = { .node_count = N + 1,
                              .mesh_count = 1,
                              .skin_count = 1,
                              .nodes = nodes,
                              .meshes = &mesh,
                              .skins = &skin };
    cutis_context *context;
    cutis_model *model = NULL;
    cutis_weight_summary w;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    assert_ok(context, cutis_weights_summarize(model, &w));
    assert_int_equal(w.bone_set_count, count + 1);
    assert_int_equal(w.large_set_count, 1);
    assert_int_equal(w.max_influences, N);
    cutis_model *limited = NULL;
    assert_ok(context, cutis_weights_limit(model, 3, &limited));
    const cutis_influences *i = &cutis_model_get(limited)->meshes[0].primitives[0].influences;
    assert_int_equal(i->first[v] - i->first[v - 1], 3);
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(i->joints[i->first[v - 1] + k], N - 3 + k);
        assert_near(i->weights[i->first[v - 1] + k], (N - 2.0 + k) / (3 * N - 3), 6e-8);
    }
    cutis_model_destroy(limited);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
    free(first), free(joints), free(weights), free(positions);
}

static void check_limit(uint32_t limit, const char *before, const char *after)
{
    strip *s = STRIP(before, before, "0:1"), *want = STRIP(after, after, "0:1");
    cutis_model *limited = NULL;
    create(s);
    assert_ok(s->context, cutis_weights_limit(s->model, limit, &limited));
    const cutis_influences *i = &cutis_model_get(limited)->meshes[0].primitives[0].influences;
    assert_memory_equal(i->first, want->first, 4 * sizeof *i->first);
    assert_memory_equal(i->joints, want->joints, want->first[3] * sizeof *i->joints);
    for (uint32_t k = 0; k < want->first[3]; k++)
        assert_near(i->weights[k], want->weights[k], 6e-8);
    cutis_model_destroy(limited);
    free_strip(want);
    free_strip(s);
}

static void limiting_keeps_the_largest_renormalised_and_sorted_by_joint(void **state)
{
    (void)state;
    check_limit(2, "5:0.5 1:0.25 3:0.15 0:0.1", "1:0.33333333333 5:0.66666666667");
    check_limit(4, "5:0.5 1:0.25 3:0.15 0:0.1", "0:0.1 1:0.25 3:0.15 5:0.5");
    check_limit(1, "5:0.5 1:0.25 3:0.15 0:0.1", "5:1");
}

static void of_equal_weights_the_lower_joint_stays(void **state)
{
    (void)state;
    check_limit(2, "5:0.25 4:0.25 2:0.25 3:0.25", "2:0.5 3:0.5");
    check_limit(1, "5:0.4 0:0.3 1:0.3", "5:1");
}

// Whole numbers over the total, by hand: largest remainders.
static void rounded_weights_are_whole_numbers_that_sum_to_the_total(void **state)
{
    (void)state;
    strip *s = STRIP("5:0.5 1:0.25 3:0.155 0:0.095", "2:0.999 0:0.001", "3:1 4:1 5:1");
    static const uint32_t first[4] = { 0, 4, 5, 8 }, joints[8] = { 0, 1, 3, 5, 2, 3, 4, 5 };
    static const float numbers[8] = { 24, 64, 40, 127, 255, 85, 85, 85 };
    cutis_model *rounded = NULL;
    create(s);
    assert_ok(s->context, cutis_weights_round(s->model, 255, &rounded));
    const cutis_influences *i = &cutis_model_get(rounded)->meshes[0].primitives[0].influences;
    assert_memory_equal(i->first, first, sizeof first);
    assert_memory_equal(i->joints, joints, sizeof joints);
    for (uint32_t k = 0; k < 8; k++) assert_near(i->weights[k] * 255, numbers[k], 1e-4);
    cutis_model_destroy(rounded);
    assert_int_equal(cutis_weights_round(s->model, 0, &rounded), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_weights_round(s->model, 65536, &rounded), CUTIS_INVALID_ARGUMENT);
    free_strip(s);
}

static void limiting_merges_doubled_joints_before_it_chooses(void **state)
{
    (void)state;
    check_limit(1, "0:0.4 3:0.3 3:0.3", "3:1");
    check_limit(0, "4:1 0:0.5 4:1 2:0 1:0.5", "0:0.16666666667 1:0.16666666667 4:0.66666666667");
    check_limit(0, "", "");
}

static void limiting_works_for_vertices_with_hundreds_of_influences(void **state)
{
    (void)state;
    enum { N = 300 };
    strip *s = STRIP("0:1", "0:1", "0:1");
    uint32_t first[4] = { 0, N, N + 1, N + 2 }, joints[N + 2] = { 0 };
    float weights[N + 2];
    for (uint32_t i = 0; i < N + 2; i++)
        joints[i] = i * 7 % JOINTS, weights[i] = 1 + (float)(i * 7 % JOINTS);
    s->primitive.influences = (cutis_influences){ first, joints, weights };
    create(s);
    cutis_model *limited = NULL;
    assert_ok(s->context, cutis_weights_limit(s->model, 2, &limited));
    // Each joint j comes 50 times with weight 1 + j: the largest are 4 and 5, in proportion 5 to 6.
    const cutis_influences *i = &cutis_model_get(limited)->meshes[0].primitives[0].influences;
    assert_int_equal(i->first[1], 2);
    assert_int_equal(i->joints[0], 4);
    assert_int_equal(i->joints[1], 5);
    assert_near(i->weights[0], 5.0 / 11, 6e-8);
    assert_near(i->weights[1], 6.0 / 11, 6e-8);
    cutis_model_destroy(limited);
    free_strip(s);
}

static void limiting_leaves_everything_else_as_it_was(void **state)
{
    (void)state;
    strip *s = STRIP("0:0.5 1:0.5", "1:1", "2:1");
    cutis_model *limited = NULL;
    s->nodes[2].name = "hip";
    create(s);
    assert_ok(s->context, cutis_weights_limit(s->model, 1, &limited));
    const cutis_model_data *a = cutis_model_get(s->model), *b = cutis_model_get(limited);
    assert_int_equal(b->node_count, a->node_count);
    assert_string_equal(b->nodes[2].name, "hip");
    assert_memory_equal(b->meshes[0].primitives[0].positions, s->positions, 36);
    assert_int_equal(a->meshes[0].primitives[0].influences.first[1], 2); // the old one too
    cutis_model_destroy(limited);
    free_strip(s);
}

// The issue of that code, or NULL.
static const cutis_issue *find(const cutis_check_report *report, const char *code)
{
    const cutis_issue *issues;
    uint32_t count = cutis_check_report_issues(report, &issues);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(issues[i].code, code) == 0) return &issues[i];
    return NULL;
}

static void assert_issue(const cutis_check_report *report, const char *code, const char *place,
                         uint64_t count)
{
    const cutis_issue *issue = find(report, code);
    if (!issue) fail_msg("no %s", code);
    assert_string_equal(issue->place, place);
    assert_int_equal(issue->count, count);
    assert_true(strlen(issue->text) > 10);
}

static void a_clean_skin_has_nothing_to_complain_about(void **state)
{
    (void)state;
    strip *s = STRIP("0:0.5 1:0.5", "2:0.5 3:0.5", "4:0.5 5:0.5");
    cutis_mat34 binds[JOINTS];
    for (int j = 0; j < JOINTS; j++)
        binds[j] = (cutis_mat34){ { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
    s->skins[0].inverse_binds = binds;
    create(s);
    cutis_check_report *report = NULL;
    assert_ok(s->context, cutis_model_check(s->model, 0, &report));
    assert_int_equal(cutis_check_report_issues(report, NULL), 0);
    cutis_check_report_destroy(report);
    free_strip(s);
}

static void a_bad_skin_is_reported_finding_by_finding(void **state)
{
    (void)state;
    strip *s = STRIP("0:0.5 1:0.6", "0:0.2", "2:0.5 2:0.5", "", "0:0.2 1:0.2 2:0.2 3:0.2 4:0.2",
                     "0:0.9995");
    create(s);
    cutis_check_report *report = NULL;
    assert_ok(s->context, cutis_model_check(s->model, 4, &report));
    const char *place = "meshes/0/primitives/0";
    assert_issue(report, "WEIGHTS_NON_NORMALIZED", place, 2);
    assert_non_null(strstr(find(report, "WEIGHTS_NON_NORMALIZED")->text, "0.2"));
    assert_issue(report, "JOINT_DUPLICATED", place, 1);
    assert_issue(report, "VERTEX_UNWEIGHTED", place, 1);
    assert_issue(report, "INFLUENCES_OVER_LIMIT", place, 1);
    assert_issue(report, "JOINT_UNUSED", "skins/0", 1);
    assert_issue(report, "INVERSE_BINDS_MISSING", "skins/0", JOINTS);
    assert_null(find(report, "SEAM_WEIGHTS_DIFFER"));
    assert_null(find(report, "TRIANGLE_DEGENERATE"));
    cutis_check_report_destroy(report);
    free_strip(s);
}

static void seams_and_flat_triangles_are_seen(void **state)
{
    (void)state;
    strip *s = STRIP("0:0.5 1:0.5", "0:2 1:2", "0:0.4 1:0.6", "2:1", "2:1", "3:1");
    for (int v = 1; v <= 2; v++)
        memcpy(s->positions + 3 * v, s->positions, 12); // 1 equals 0, 2 differs
    s->positions[0] = -0.0f;
    for (int v = 3; v <= 5; v++)
        s->positions[3 * v + 1] = 0, s->positions[3 * v + 2] = 0; // in a line
    create(s);
    cutis_check_report *report = NULL;
    assert_ok(s->context, cutis_model_check(s->model, 4, &report));
    assert_issue(report, "SEAM_WEIGHTS_DIFFER", "skins/0", 1);
    assert_issue(report, "TRIANGLE_DEGENERATE", "meshes/0/primitives/0", 2);
    cutis_check_report_destroy(report);
    free_strip(s);
}

static void clips_that_move_nothing_are_reported(void **state)
{
    (void)state;
    strip *s = STRIP("0:1", "1:1", "2:1");
    float times[2] = { 0, 1 }, still[6] = { 0 }, moved[6] = { 0, 0, 0, 1, 0, 0 };
    cutis_channel rest = { 0, CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_LINEAR, 2, times, still };
    cutis_channel idle = { JOINTS + 1, CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_LINEAR, 2, times,
                           moved };
    cutis_channel good = { 1, CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_LINEAR, 2, times, moved };
    cutis_channel first[2] = { rest, idle }, second[2] = { rest, good };
    cutis_clip clips[2] = { { .channel_count = 2, .channels = first },
                            { .channel_count = 2, .channels = second } };
    s->data.clips = clips, s->data.clip_count = 2;
    create(s);
    cutis_check_report *report = NULL;
    assert_ok(s->context, cutis_model_check(s->model, 4, &report));
    assert_issue(report, "CLIP_WITHOUT_EFFECT", "clips/0", 2);
    assert_issue(report, "CHANNEL_WITHOUT_EFFECT", "clips/1", 1);
    cutis_check_report_destroy(report);
    free_strip(s);
}

// Fails the n-th allocation.
typedef struct {
    long countdown;
} flaky;

static void *flaky_allocate(void *user, size_t size, size_t alignment)
{
    if (((flaky *)user)->countdown-- == 0) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void flaky_release(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    free(memory);
}

static void running_out_of_memory_is_said_and_leaks_nothing(void **state)
{
    (void)state;
    flaky f = { -1 };
    strip *s = STRIP("0:0.5 1:0.6", "0:0.2", "", "0:0.2 1:0.2 2:0.2 3:0.2 4:0.2", "3:1", "3:1");
    cutis_context_destroy(s->context);
    cutis_context_options options = { .allocator = { flaky_allocate, flaky_release, &f } };
    assert_int_equal(cutis_context_create(&options, &s->context), CUTIS_OK);
    create(s);
    uint64_t before = cutis_context_memory(s->context);
    for (int question = 0; question < 3; question++) {
        cutis_result result = CUTIS_OUT_OF_MEMORY;
        for (long n = 0; result != CUTIS_OK; n++) {
            cutis_weight_summary w;
            cutis_check_report *report = NULL;
            cutis_model *limited = NULL;
            f.countdown = n;
            if (question == 0) result = cutis_weights_summarize(s->model, &w);
            if (question == 1) result = cutis_model_check(s->model, 4, &report);
            if (question == 2) result = cutis_weights_limit(s->model, 4, &limited);
            if (result != CUTIS_OK) assert_int_equal(result, CUTIS_OUT_OF_MEMORY);
            assert_true(n > 3 || result != CUTIS_OK);
            cutis_check_report_destroy(report);
            cutis_model_destroy(limited);
            assert_int_equal(cutis_context_memory(s->context), before);
            assert_true(n < 200);
        }
    }
    f.countdown = -1;
    free_strip(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bone_sets_are_counted_by_their_members_with_weight),
        cmocka_unit_test(bone_sets_are_sets_of_nodes_whatever_skin_names_them),
        cmocka_unit_test(ten_thousand_different_sets_are_told_apart_and_a_large_one_is_limited),
        cmocka_unit_test(limiting_keeps_the_largest_renormalised_and_sorted_by_joint),
        cmocka_unit_test(of_equal_weights_the_lower_joint_stays),
        cmocka_unit_test(rounded_weights_are_whole_numbers_that_sum_to_the_total),
        cmocka_unit_test(limiting_merges_doubled_joints_before_it_chooses),
        cmocka_unit_test(limiting_works_for_vertices_with_hundreds_of_influences),
        cmocka_unit_test(limiting_leaves_everything_else_as_it_was),
        cmocka_unit_test(a_clean_skin_has_nothing_to_complain_about),
        cmocka_unit_test(a_bad_skin_is_reported_finding_by_finding),
        cmocka_unit_test(seams_and_flat_triangles_are_seen),
        cmocka_unit_test(clips_that_move_nothing_are_reported),
        cmocka_unit_test(running_out_of_memory_is_said_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
