// What comes along from the input into the new model: morph targets through weld and turn, clips of
// a rig that is the same, coordinates and colours of caps; and that the rest is said. Expected
// places are computed here from the input, instance by instance.
#include "extracted.h"

static soup s; // large for a stack

typedef struct {
    float normals[6000][3], texcoords[6000][2];
    float moves[2][6000][3], turns[2][6000][3];
    cutis_morph_target targets[2];
} dress;

static dress d;

// Normals away from the x axis; two targets with displacements of places and normals.
static void dress_up(cutis_primitive *primitive)
{
    for (uint32_t v = 0; v < s.vertices; v++) {
        double y = s.positions[v][1], z = s.positions[v][2], r = sqrt(y * y + z * z);
        d.normals[v][0] = r < 1e-3 ? (s.positions[v][0] > 1 ? 1 : -1) : 0;
        d.normals[v][1] = r < 1e-3 ? 0 : (float)(y / r);
        d.normals[v][2] = r < 1e-3 ? 0 : (float)(z / r);
        d.texcoords[v][0] = s.positions[v][0] / 8;
        d.texcoords[v][1] = (float)(0.5 + y / 4);
        for (int t = 0; t < 2; t++)
            for (int k = 0; k < 3; k++) {
                // By place, so that the copies of a seam move together.
                d.moves[t][v][k] = (float)(0.1 * sin(7 * s.positions[v][0] + 5 * y + k + t));
                d.turns[t][v][k] = (float)(0.2 * cos(3 * s.positions[v][0] + 2 * z + k - t));
            }
    }
    for (int t = 0; t < 2; t++)
        d.targets[t] =
            (cutis_morph_target){ .positions = &d.moves[t][0][0], .normals = &d.turns[t][0][0] };
    primitive->normals = &d.normals[0][0];
    primitive->texcoords = &d.texcoords[0][0];
    primitive->targets = d.targets;
}

static const char *const SMILE[] = { "smile", "frown" };

// A tube shown twice: as it is, and turned, stretched and moved so that the ends meet.
static cutis_model *two_tubes(const float *second_weights, uint32_t clip_count,
                              const cutis_clip *clips)
{
    memset(&s, 0, sizeof s);
    add_tube(&s, 0, 2, 8, 0, 0.5, true, false, 0);
    cutis_primitive primitive = { .vertex_count = s.vertices,
                                  .index_count = s.index_count,
                                  .positions = &s.positions[0][0],
                                  .indices = s.indices,
                                  .material = CUTIS_NONE };
    dress_up(&primitive);
    static const float weights[2] = { 0.25f, 0 };
    cutis_mesh mesh = { .name = "tube",
                        .primitive_count = 1,
                        .primitives = &primitive,
                        .target_count = 2,
                        .target_names = SMILE,
                        .target_weights = weights };
    cutis_node nodes[2] = {
        { .name = "near",
          .parent = CUTIS_NONE,
          .rest = cutis_transform_identity(),
          .skin = CUTIS_NONE },
        { .name = "far",
          .parent = CUTIS_NONE,
          .rest = { { 4.5f, 0, 0 }, { 0, 0, 1, 0 }, { 1.25f, 1, 1 } },
          .skin = CUTIS_NONE,
          .target_weights = second_weights },
    };
    cutis_model_data data = { .node_count = 2,
                              .nodes = nodes,
                              .mesh_count = 1,
                              .meshes = &mesh,
                              .clip_count = clip_count,
                              .clips = clips };
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    return model;
}

// Where the input puts its vertex, and its normal there, with the targets at given weights.
static void input_vertex(uint32_t instance, uint32_t v, const double *weights, double *place,
                         double *normal)
{
    double length = 0;
    for (int k = 0; k < 3; k++) {
        place[k] = s.positions[v][k], normal[k] = d.normals[v][k];
        for (int t = 0; t < 2; t++)
            place[k] += weights[t] * d.moves[t][v][k], normal[k] += weights[t] * d.turns[t][v][k];
    }
    if (instance) { // half a turn about z, x stretched, moved; normals by the inverse transposed
        place[0] = 4.5 - 1.25 * place[0], place[1] = -place[1];
        normal[0] = -normal[0] / 1.25, normal[1] = -normal[1];
    }
    for (int k = 0; k < 3; k++) length += normal[k] * normal[k];
    for (int k = 0; k < 3; k++) normal[k] /= sqrt(length);
}

static void output_vertex(const cutis_primitive *primitive, uint32_t v, const uint32_t *targets,
                          const double *weights, double *place, double *normal)
{
    double length = 0;
    for (int k = 0; k < 3; k++) {
        size_t i = 3 * (size_t)v + (size_t)k;
        place[k] = primitive->positions[i], normal[k] = primitive->normals[i];
        for (int t = 0; t < 2; t++) {
            place[k] += weights[t] * primitive->targets[targets[t]].positions[i];
            normal[k] += weights[t] * primitive->targets[targets[t]].normals[i];
        }
        length += normal[k] * normal[k];
    }
    for (int k = 0; k < 3; k++) normal[k] /= sqrt(length);
}

static void compare_morphs(const cutis_model *out, bool merged)
{
    static const double weights[3][2] = { { 0, 0 }, { 1, 0 }, { -0.5, 0.75 } };
    const cutis_mesh *mesh = mesh_of(out);
    for (uint32_t i = 0; i < 2; i++) {
        const cutis_primitive *primitive = &mesh->primitives[i];
        uint32_t targets[2] = { merged ? 0 : 2 * i, merged ? 1 : 2 * i + 1 };
        for (uint32_t v = 0; v < primitive->vertex_count; v++) {
            double rest[2][3], moved[2][3], none[3], best = 1;
            uint32_t from = 0;
            output_vertex(primitive, v, targets, weights[0], rest[0], none);
            for (uint32_t u = 0; u < s.vertices; u++) { // the same vertex of the input, by place
                input_vertex(i, u, weights[0], rest[1], none);
                if (distance(rest[0], rest[1]) < best) best = distance(rest[0], rest[1]), from = u;
            }
            assert_near(best, 0, 1e-6);
            for (int w = 0; w < 3; w++) {
                double normal[2][3];
                output_vertex(primitive, v, targets, weights[w], moved[0], normal[0]);
                input_vertex(i, from, weights[w], moved[1], normal[1]);
                assert_near(distance(moved[0], moved[1]), 0, 1e-6);
                assert_near(distance(normal[0], normal[1]), 0, 1e-5);
            }
        }
    }
}

static void morph_targets_move_the_new_mesh_as_they_moved_the_old(void **state)
{
    (void)state;
    cutis_skeleton_options options = { .source = CUTIS_PART_SOURCE_MESHES, .keep_curved = true };
    cutis_model *model = two_tubes(NULL, 0, NULL);
    cutis_model *out = extract(model, options, NULL);
    assert_sound(out);
    // The same mesh at the same weights: one list of targets moves both.
    assert_int_equal(mesh_of(out)->target_count, 2);
    assert_string_equal(mesh_of(out)->target_names[1], "frown");
    assert_near(mesh_of(out)->target_weights[0], 0.25, 0);
    compare_morphs(out, true);
    cutis_model_destroy(out);
    cutis_model_destroy(model);

    static const float others[2] = { 1, 0.5f };
    model = two_tubes(others, 0, NULL);
    out = extract(model, options, NULL);
    assert_int_equal(mesh_of(out)->target_count, 4); // weights differ, so they stay apart
    assert_near(mesh_of(out)->target_weights[2], 1, 0);
    compare_morphs(out, false);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void keys_of_weights_come_along_where_the_targets_are_one_list(void **state)
{
    (void)state;
    static const float times[2] = { 0, 1 }, values[4] = { 0, 1, 0.5f, 0.25f };
    cutis_channel channel = {
        .node = 0, .path = CUTIS_PATH_WEIGHTS, .key_count = 2, .times = times, .values = values
    };
    cutis_clip clip = { .name = "talk", .channel_count = 1, .channels = &channel };
    memset(&s, 0, sizeof s);
    add_tube(&s, 0, 2, 8, 0, 0.5, true, false, 0);
    add_tube(&s, 2, 4, 8, 0, 0.5, false, true, 1);
    cutis_primitive primitive = { .vertex_count = s.vertices,
                                  .index_count = s.index_count,
                                  .positions = &s.positions[0][0],
                                  .indices = s.indices,
                                  .material = CUTIS_NONE };
    dress_up(&primitive);
    cutis_mesh mesh = {
        .primitive_count = 1, .primitives = &primitive, .target_count = 2, .target_names = SMILE
    };
    cutis_node node = {
        .name = "face", .parent = CUTIS_NONE, .rest = cutis_transform_identity(), .skin = CUTIS_NONE
    };
    cutis_model_data data = { .node_count = 1,
                              .nodes = &node,
                              .mesh_count = 1,
                              .meshes = &mesh,
                              .clip_count = 1,
                              .clips = &clip };
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    cutis_model *out = extract(model, by_labels(&s), NULL);
    const cutis_model_data *new = cutis_model_get(out);
    assert_int_equal(new->clip_count, 1);
    assert_string_equal(new->clips[0].name, "talk");
    assert_int_equal(new->clips[0].channel_count, 1);
    assert_int_equal(new->nodes[new->clips[0].channels[0].node].mesh, 0);
    assert_memory_equal(new->clips[0].channels[0].values, values, sizeof values);
    cutis_model_destroy(out);
    cutis_model_destroy(model);

    model = two_tubes(NULL, 1, &clip); // two nodes, one list: whose weights?
    cutis_skeleton_report *report;
    out = extract(model, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_MESHES }, &report);
    assert_int_equal(cutis_model_get(out)->clip_count, 0);
    assert_non_null(strstr(report->notes[0], "1 channel of morph weights left out"));
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void clips_stay_where_the_rig_is_the_same_and_are_named_where_not(void **state)
{
    (void)state;
    cutis_skeleton_options options = { .source = CUTIS_PART_SOURCE_PARTS, .keep_curved = true };
    cutis_model *model = body(CUTIS_BODY_BIPED, 3000);
    cutis_skeleton_report *report;
    cutis_model *first = extract(model, options, &report);
    assert_int_equal(cutis_model_get(first)->clip_count, 0);
    assert_non_null(strstr(report->notes[0], "5 clips (\"walk\""));
    assert_non_null(strstr(report->notes[0], "left out"));
    cutis_skeleton_report_destroy(report);
    // Its own rig again: the same names, parents and rests.
    static const float times[2] = { 0, 2 }, turn[8] = { 0, 0, 0, 1, 0, 0.6f, 0, 0.8f };
    const cutis_model_data *data = cutis_model_get(first);
    cutis_channel channels[2];
    for (uint32_t c = 0; c < 2; c++)
        channels[c] = (cutis_channel){ .node = data->skins[0].joints[5 * c],
                                       .path = CUTIS_PATH_ROTATION,
                                       .key_count = 2,
                                       .times = times,
                                       .values = turn };
    cutis_clip clip = { .name = "nod", .channel_count = 2, .channels = channels };
    cutis_model_data moved = *data;
    moved.clips = &clip, moved.clip_count = 1;
    cutis_model *moving = NULL;
    assert_ok(context, cutis_model_create(context, &moved, CUTIS_GATE_REFUSE, &moving));
    cutis_model *second = extract(moving, options, &report);
    const cutis_model_data *again = cutis_model_get(second);
    assert_int_equal(report->note_count, 0);
    assert_int_equal(again->clip_count, 1);
    for (uint32_t c = 0; c < 2; c++) {
        const cutis_channel *channel = &again->clips[0].channels[c];
        assert_string_equal(again->nodes[channel->node].name, data->nodes[channels[c].node].name);
        assert_memory_equal(channel->values, turn, sizeof turn);
    }
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(second);
    // One joint of another rest, and the motion would mean something else.
    options.world_frames = true;
    second = extract(moving, options, &report);
    assert_int_equal(cutis_model_get(second)->clip_count, 0);
    assert_non_null(strstr(report->notes[0], "\"nod\""));
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(second);
    cutis_model_destroy(moving);
    cutis_model_destroy(first);
    cutis_model_destroy(model);
}

static void caps_take_coordinates_and_displacements_from_their_border(void **state)
{
    (void)state;
    cutis_model *model = two_tubes(NULL, 0, NULL);
    cutis_model_data data = *cutis_model_get(model); // only the first: open at x = 2
    cutis_node nodes[2] = { data.nodes[0], data.nodes[1] };
    nodes[1].mesh = CUTIS_NONE, nodes[1].target_weights = NULL;
    data.nodes = nodes;
    cutis_model *open = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &open));
    uint32_t *labels = calloc(s.index_count / 3, sizeof *labels);
    for (uint32_t t = 0; t < s.index_count / 3; t++)
        labels[t] = s.positions[s.indices[3 * t]][0] > 0.9f;
    cutis_model *out = extract(open,
                               (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_LABELS,
                                                         .labels = labels,
                                                         .label_count = s.index_count / 3,
                                                         .keep_curved = true },
                               NULL);
    const cutis_mesh *mesh = mesh_of(out);
    assert_int_equal(mesh->primitive_count, 2);
    const cutis_primitive *caps = &mesh->primitives[1];
    assert_int_equal(caps->vertex_count, 13);
    assert_non_null(caps->texcoords);
    for (uint32_t v = 0; v < 13; v++) {
        const float *p = caps->positions + 3 * (size_t)v;
        assert_near(caps->normals[3 * v], 1, 1e-6);
        assert_near(caps->texcoords[2 * v], 0.25, 1e-6);
        bool centre = fabsf(p[1]) < 0.1f && fabsf(p[2]) < 0.1f;
        assert_near(caps->texcoords[2 * v + 1], 0.5 + p[1] / 4, centre ? 1e-3 : 1e-6);
        if (centre) continue;
        for (int k = 0; k < 3; k++)
            assert_near(caps->targets[0].positions[3 * v + (uint32_t)k],
                        0.1 * sin(7 * p[0] + 5 * p[1] + k), 1e-5);
    }
    free(labels);
    cutis_model_destroy(out);
    cutis_model_destroy(open);
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(morph_targets_move_the_new_mesh_as_they_moved_the_old),
        cmocka_unit_test(keys_of_weights_come_along_where_the_targets_are_one_list),
        cmocka_unit_test(clips_stay_where_the_rig_is_the_same_and_are_named_where_not),
        cmocka_unit_test(caps_take_coordinates_and_displacements_from_their_border),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
