// What Cutis authors, and what it keeps of a file it has read. Expected values are written down
// here or taken apart from the written JSON by jansson, not by our reader. With `--write FOLDER` it
// writes the authored files for the validator's script.
#include "support.h"

#include "gltf_compare.h"

#include <jansson.h>
#include <unistd.h>

enum { VERTICES = 6, JOINTS = 6 };

static const float POSITIONS[] = {
    0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.25f, 0.5f, -1, -0.1f, 2, 3
};
static const float NORMALS[] = { 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0.6f, 0.8f, 0 };
static const float TANGENTS[] = { 1, 0, 0, 1,  1, 0, 0, 1, 1, 0, 0, 1,
                                  1, 0, 0, -1, 1, 0, 0, 1, 0, 0, 1, 1 };
static const float TEXCOORDS[] = { 0, 0, 1, 0, 1, 1, 0, 1, 0.5f, 0.5f, 0.1f, 0.9f };
static const float COLORS[] = { 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1,
                                1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0.5f };
static const float MOVED[] = { 0, 0, 0.5f, 0, 0, 0.5f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0 };
static const float ZEROS[3 * VERTICES];
static const uint32_t TRIANGLES[] = { 0, 1, 2, 0, 2, 3, 3, 2, 4, 4, 5, 3 };
static const uint32_t LINES[] = { 0, 1, 1, 2, 2, 5 };
static const uint32_t PARTS[] = { 0, 0, 1, 1 };
// Powers of two sum to one without rounding; the first vertex has six influences.
static const uint32_t FIRST[] = { 0, 6, 7, 9, 10, 11, 12 };
static const uint32_t JOINT_OF[] = { 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5 };
static const float WEIGHT_OF[] = { 0.5f, 0.25f, 0.125f, 0.0625f, 0.03125f, 0.03125f,
                                   1,    0.75f, 0.25f,  1,       1,        1 };
static const float TARGET_WEIGHTS[] = { 0.25f, 0 };
static const float NODE_WEIGHTS[] = { 0, 1 };
static const char *const TARGET_NAMES[] = { "smile", "fr\xc3\xb6hlich \"laut\"" };
static const char *const PART_NAMES[] = { "upper", "lower" };
static const float TIMES[] = { 0, 0.5f, 1.25f };
static const float ROTATIONS[] = { 0, 0, 0, 1, 0, 0.6f, 0, 0.8f, 0, 0, 0, 1 };
static const float STEPS[] = { 0, 1, 0, 0, 2, 0, 0, 1, 0 };
static const float SPLINE[] = { 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2,
                                2, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0 };
static const float MORPHS[] = { 0, 0, 1, 0.5f, 0, 1 };

typedef struct authored {
    cutis_node nodes[JOINTS + 4];
    cutis_mat34 placed, binds[JOINTS];
    uint32_t joints[JOINTS];
    cutis_skin skin;
    cutis_morph_target targets[2];
    cutis_primitive primitives[4];
    cutis_mesh meshes[2];
    cutis_material materials[2];
    cutis_channel channels[4];
    cutis_clip clip;
    cutis_model_data data;
} authored;

static void author_nodes(authored *a)
{
    for (int j = 0; j < JOINTS; j++) {
        a->nodes[j] = (cutis_node){
            .name = "joint", .parent = j - 1, .mesh = CUTIS_NONE, .skin = CUTIS_NONE
        };
        a->nodes[j].rest = cutis_transform_identity();
        a->nodes[j].rest.translation.y = j ? 0.1f : 0;
        a->binds[j] = (cutis_mat34){ { 1, 0, 0, 0, 0, 1, 0, -0.1f * (float)j, 0, 0, 1, 0 } };
        a->joints[j] = (uint32_t)j;
    }
    a->placed = (cutis_mat34){ { 1, 0, 0, 3, 0, 1, 0, 0, 0, 0, 2, 0 } };
    a->nodes[JOINTS] = (cutis_node){ .name = "body", .parent = CUTIS_NONE, .mesh = 0, .skin = 0 };
    a->nodes[JOINTS].rest = cutis_transform_identity();
    a->nodes[JOINTS + 1] =
        (cutis_node){ .parent = CUTIS_NONE, .mesh = 1, .skin = CUTIS_NONE, .matrix = &a->placed };
    a->nodes[JOINTS + 1].rest = cutis_transform_from_mat34(&a->placed);
    a->nodes[JOINTS + 2] = (cutis_node){
        .parent = JOINTS + 1, .mesh = 1, .skin = CUTIS_NONE, .target_weights = NODE_WEIGHTS
    };
    a->nodes[JOINTS + 2].rest = cutis_transform_identity();
    a->nodes[JOINTS + 2].rest.rotation = (cutis_quat){ 0, 0.6f, 0, 0.8f };
    a->nodes[JOINTS + 3] = (cutis_node){
        .name = "", .parent = CUTIS_NONE, .mesh = 1, .skin = CUTIS_NONE, .outside = true
    };
    a->nodes[JOINTS + 3].rest = cutis_transform_identity();
    a->skin = (cutis_skin){
        .name = "skin", .joint_count = JOINTS, .joints = a->joints, .inverse_binds = a->binds
    };
}

static void author_meshes(authored *a)
{
    a->primitives[0] = (cutis_primitive){ .vertex_count = VERTICES,
                                          .index_count = 12,
                                          .indices = TRIANGLES,
                                          .positions = POSITIONS,
                                          .normals = NORMALS,
                                          .tangents = TANGENTS,
                                          .texcoords = TEXCOORDS,
                                          .colors = COLORS,
                                          .influences = { FIRST, JOINT_OF, WEIGHT_OF },
                                          .parts = PARTS,
                                          .material = 1 };
    a->targets[0] = (cutis_morph_target){ .positions = MOVED, .normals = ZEROS };
    a->targets[1] = (cutis_morph_target){ .positions = ZEROS };
    a->primitives[1] = (cutis_primitive){ .vertex_count = VERTICES,
                                          .index_count = 12,
                                          .indices = TRIANGLES,
                                          .positions = POSITIONS,
                                          .normals = NORMALS,
                                          .targets = a->targets,
                                          .material = CUTIS_NONE };
    a->primitives[2] = (cutis_primitive){ .topology = CUTIS_TOPOLOGY_LINES,
                                          .vertex_count = VERTICES,
                                          .index_count = 6,
                                          .indices = LINES,
                                          .positions = POSITIONS,
                                          .normals = NORMALS,
                                          .targets = a->targets,
                                          .material = 0 };
    a->primitives[3] = a->primitives[2];
    a->primitives[3].topology = CUTIS_TOPOLOGY_POINTS;
    a->primitives[3].index_count = 0;
    a->primitives[3].indices = NULL;
    a->meshes[0] = (cutis_mesh){ .name = "skinned",
                                 .primitive_count = 1,
                                 .primitives = a->primitives,
                                 .part_count = 2,
                                 .part_names = PART_NAMES };
    a->meshes[1] = (cutis_mesh){ .primitive_count = 3,
                                 .primitives = a->primitives + 1,
                                 .target_count = 2,
                                 .target_names = TARGET_NAMES,
                                 .target_weights = TARGET_WEIGHTS };
    a->materials[0] =
        (cutis_material){ .base_color = { 1, 1, 1, 1 }, .metallic = 1, .roughness = 1 };
    a->materials[1] = (cutis_material){ .name = "suit",
                                        .base_color = { 0.1f, 0.2f, 0.3f, 1 },
                                        .roughness = 0.7f,
                                        .double_sided = true };
}

static void author(authored *a)
{
    memset(a, 0, sizeof *a);
    author_nodes(a);
    author_meshes(a);
    a->skin.root = CUTIS_NONE;
    a->channels[0] = (cutis_channel){
        .node = 1, .path = CUTIS_PATH_ROTATION, .key_count = 3, .times = TIMES, .values = ROTATIONS
    };
    a->channels[1] = (cutis_channel){ .node = 2,
                                      .path = CUTIS_PATH_TRANSLATION,
                                      .interpolation = CUTIS_INTERPOLATION_STEP,
                                      .key_count = 3,
                                      .times = TIMES,
                                      .values = STEPS };
    a->channels[2] = (cutis_channel){ .node = 3,
                                      .path = CUTIS_PATH_SCALE,
                                      .interpolation = CUTIS_INTERPOLATION_CUBIC,
                                      .key_count = 3,
                                      .times = TIMES,
                                      .values = SPLINE };
    a->channels[3] = (cutis_channel){ .node = JOINTS + 2,
                                      .path = CUTIS_PATH_WEIGHTS,
                                      .key_count = 3,
                                      .times = TIMES,
                                      .values = MORPHS };
    a->clip = (cutis_clip){ .name = "wave", .channel_count = 4, .channels = a->channels };
    a->data = (cutis_model_data){ .node_count = JOINTS + 4,
                                  .nodes = a->nodes,
                                  .mesh_count = 2,
                                  .meshes = a->meshes,
                                  .skin_count = 1,
                                  .skins = &a->skin,
                                  .clip_count = 1,
                                  .clips = &a->clip,
                                  .material_count = 2,
                                  .materials = a->materials };
}

static cutis_context *context;
static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cutis_gltf_XXXXXX");
    return mkdtemp(folder) && cutis_context_create(NULL, &context) == CUTIS_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    uint64_t left = cutis_context_memory(context);
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cutis_context_destroy(context);
    return system(command) == 0 && left == 0 ? 0 : -1;
}

static const char *in_folder(const char *name)
{
    static char paths[4][160];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static cutis_model *create(const cutis_model_data *data)
{
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, data, CUTIS_GATE_REFUSE, &model));
    return model;
}

static cutis_model *read_model(const char *path)
{
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_read(context, path, KEEP_SOURCE, &model));
    return model;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static json_t *load_json(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root) fail_msg("%s: %s", path, error.text);
    return root;
}

static void what_is_authored_reads_back_equal_in_both_containers(void **state)
{
    static const char *const NAMES[] = { "a.glb", "a b%.gltf" };
    authored a;
    char why[256];
    (void)state;
    author(&a);
    cutis_model *model = create(&a.data);
    for (int i = 0; i < 2; i++) {
        assert_ok(context, cutis_model_write(model, in_folder(NAMES[i]), NULL));
        cutis_model *again = read_model(in_folder(NAMES[i]));
        if (!same_models(model, again, why)) fail_msg("%s: %s", NAMES[i], why);
        cutis_model_destroy(again);
    }
    cutis_model_destroy(model);
}

// Joints that were added stand beside it: glTF wants it above all of them.
static void a_skeleton_that_is_not_above_all_joints_is_not_named(void **state)
{
    authored a;
    const cutis_issue *issues;
    (void)state;
    author(&a);
    for (int32_t root = 0; root < 2; root++) {
        a.skin.root = root;
        cutis_model *model = create(&a.data);
        assert_ok(context, cutis_model_write(model, in_folder("skeleton.glb"), NULL));
        cutis_model *again = read_model(in_folder("skeleton.glb"));
        assert_int_equal(cutis_model_get(again)->skins[0].root, root ? CUTIS_NONE : 0);
        assert_int_equal(cutis_model_issues(again, &issues), 0);
        cutis_model_destroy(again);
        cutis_model_destroy(model);
    }
}

static void the_same_model_gives_the_same_bytes(void **state)
{
    authored a;
    void *bytes[2];
    size_t sizes[2];
    (void)state;
    author(&a);
    for (int i = 0; i < 2; i++) {
        cutis_model *model = create(&a.data);
        assert_ok(context, cutis_model_write(model, in_folder("same.glb"), NULL));
        assert_ok(context, cutis_file_read(context, in_folder("same.glb"), &bytes[i], &sizes[i]));
        cutis_model_destroy(model);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    for (int i = 0; i < 2; i++) cutis_memory_free(context, bytes[i], sizes[i]);
}

static void the_first_set_holds_the_largest_four_weights(void **state)
{
    // Ascending in the model; 1/64 + 1/64 + 1/32 + 1/16 + 1/8 + 3/4 = 1.
    static const float ASCENDING[] = { 0.015625f, 0.015625f, 0.03125f, 0.0625f, 0.125f, 0.75f,
                                       1,         0.75f,     0.25f,    1,       1,      1 };
    static const uint32_t EXPECTED[] = { 5, 4, 3, 2, 0, 1 };
    authored a;
    (void)state;
    author(&a);
    a.primitives[0].influences.weights = ASCENDING;
    cutis_model *model = create(&a.data);
    assert_ok(context, cutis_model_write(model, in_folder("sets.glb"), NULL));
    cutis_model *again = read_model(in_folder("sets.glb"));
    const cutis_influences *found = &cutis_model_get(again)->meshes[0].primitives[0].influences;
    assert_int_equal(found->first[1], 6);
    assert_memory_equal(found->joints, EXPECTED, sizeof EXPECTED);
    cutis_model_destroy(again);
    cutis_model_destroy(model);
}

static void duplicate_joints_are_merged_and_sums_become_one(void **state)
{
    static const uint32_t JOINT[] = { 3, 1, 3, 0, 0, 0, 0, 1, 2, 3, 4, 5 };
    static const float WEIGHT[] = { 0.5f, 0.5f, 0.5f, 0.5f, 0, 0, 2, 0.75f, 0.25f, 1, 1, 1 };
    authored a;
    (void)state;
    author(&a);
    a.primitives[0].influences.joints = JOINT;
    a.primitives[0].influences.weights = WEIGHT;
    cutis_model *model = create(&a.data);
    assert_ok(context, cutis_model_write(model, in_folder("merged.glb"), NULL));
    cutis_model *again = read_model(in_folder("merged.glb"));
    const cutis_influences *found = &cutis_model_get(again)->meshes[0].primitives[0].influences;
    assert_int_equal(found->first[1], 3);
    assert_int_equal(found->joints[0], 3);
    assert_true(found->weights[0] == 0.5f && found->weights[1] == 0.25f &&
                found->weights[2] == 0.25f);
    assert_true(found->weights[3] == 1.0f);
    cutis_model_destroy(again);
    cutis_model_destroy(model);
}

static void integer_weights_sum_to_exactly_one_and_differ_by_less_than_a_step(void **state)
{
    static const cutis_weight_format FORMATS[] = { CUTIS_WEIGHTS_U8, CUTIS_WEIGHTS_U16 };
    static const double STEPS_OF[] = { 255, 65535 };
    // Thirds and sevenths: rounding each alone would miss the sum.
    float third = 1.0f / 3, seventh = 1.0f / 7;
    const float weights[] = {
        third, third, 1 - 2 * third, 0, 0, 0, 1, seventh, 1 - seventh, 1, 1, 1
    };
    authored a;
    (void)state;
    author(&a);
    a.primitives[0].influences.weights = weights;
    cutis_model *model = create(&a.data);
    for (int f = 0; f < 2; f++) {
        cutis_write_options options = { .weights = FORMATS[f] };
        assert_ok(context, cutis_model_write(model, in_folder("integers.glb"), &options));
        cutis_model *again = read_model(in_folder("integers.glb"));
        const cutis_influences *found = &cutis_model_get(again)->meshes[0].primitives[0].influences;
        for (uint32_t v = 0; v < VERTICES; v++) {
            double sum = 0;
            for (uint32_t i = found->first[v]; i < found->first[v + 1]; i++) {
                double steps = (double)found->weights[i] * STEPS_OF[f];
                assert_near(steps, round(steps), 1e-2);
                sum += round(steps);
                double wanted = 0;
                for (uint32_t k = FIRST[v]; k < FIRST[v + 1]; k++)
                    if (JOINT_OF[k] == found->joints[i]) wanted += (double)weights[k];
                assert_near(found->weights[i], wanted, 1 / STEPS_OF[f]);
            }
            assert_true(sum == STEPS_OF[f]);
        }
        cutis_model_destroy(again);
    }
    cutis_model_destroy(model);
}

static void normals_tangents_colours_and_rotations_are_written_as_gltf_allows_them(void **state)
{
    float normals[3 * VERTICES], tangents[4 * VERTICES], colors[4 * VERTICES], rotations[12];
    authored a;
    (void)state;
    author(&a);
    memcpy(normals, NORMALS, sizeof normals);
    memcpy(tangents, TANGENTS, sizeof tangents);
    memcpy(colors, COLORS, sizeof colors);
    memcpy(rotations, ROTATIONS, sizeof rotations);
    normals[1] = 4, normals[2] = 3; // length 5
    normals[5] = 0;                 // vertex 1: no direction; its only face, 0 1 2, looks along +z
    tangents[0] = 2, tangents[3] = 0.5f;      // vertex 0
    colors[0] = 1.5f, colors[1] = -1;         // vertex 0
    rotations[5] = 1.2f, rotations[7] = 1.6f; // twice (0, 0.6, 0, 0.8)
    a.primitives[0].normals = normals, a.primitives[0].tangents = tangents,
    a.primitives[0].colors = colors;
    a.channels[0].values = rotations;
    cutis_model *model = create(&a.data);
    assert_ok(context, cutis_model_write(model, in_folder("conform.glb"), NULL));
    cutis_model *again = read_model(in_folder("conform.glb"));
    const cutis_primitive *p = &cutis_model_get(again)->meshes[0].primitives[0];
    assert_near(p->normals[1], 0.8, 1e-7);
    assert_near(p->normals[2], 0.6, 1e-7);
    assert_near(p->normals[5], 1, 1e-7);
    assert_memory_equal(p->normals + 6, NORMALS + 6, 4 * 3 * (VERTICES - 2));
    assert_true(p->tangents[0] == 1 && p->tangents[3] == 1);
    assert_true(p->colors[0] == 1 && p->colors[1] == 0);
    assert_near(cutis_model_get(again)->clips[0].channels[0].values[5], 0.6, 1e-7);
    cutis_model_destroy(again);
    cutis_model_destroy(model);
}

static void channels_of_equal_times_share_one_input(void **state)
{
    authored a;
    (void)state;
    author(&a);
    cutis_model *model = create(&a.data);
    assert_ok(context, cutis_model_write(model, in_folder("shared.gltf"), NULL));
    json_t *root = load_json(in_folder("shared.gltf"));
    json_t *samplers =
        json_object_get(json_array_get(json_object_get(root, "animations"), 0), "samplers");
    assert_int_equal(json_array_size(samplers), 4);
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(json_integer_value(json_object_get(json_array_get(samplers, i), "input")),
                         json_integer_value(json_object_get(json_array_get(samplers, 0), "input")));
    json_decref(root);
    cutis_model_destroy(model);
}

static void a_folder_that_is_not_there_is_an_error_and_leaves_no_file(void **state)
{
    authored a;
    (void)state;
    author(&a);
    cutis_model *model = create(&a.data);
    assert_int_equal(cutis_model_write(model, in_folder("no/such/x.glb"), NULL), CUTIS_FILE_WRITE);
    assert_int_equal(cutis_model_write(model, in_folder("no/such/x.gltf"), NULL), CUTIS_FILE_WRITE);
    assert_int_equal(access(in_folder("no"), F_OK), -1);
    cutis_model_destroy(model);
}

/// What node 0 of the written file has there must be `wanted`.
static void assert_extras(const char *path, const char *wanted)
{
    json_t *root = load_json(path), *want = json_loads(wanted, 0, NULL);
    const json_t *node = json_array_get(json_object_get(root, "nodes"), 0);
    assert_non_null(want);
    assert_true(json_equal(json_object_get(node, "extras"), want));
    json_decref(want);
    json_decref(root);
}

static void extras_of_a_node_are_written_beside_those_of_its_source(void **state)
{
    authored a;
    (void)state;
    author(&a);
    a.nodes[0].extras = "{\"a\": {\"b\": \"\xc3\xbc\"}, \"c\": 1}";
    cutis_model *model = create(&a.data);
    assert_ok(context, cutis_model_write(model, in_folder("extras.gltf"), NULL));
    assert_extras(in_folder("extras.gltf"), a.nodes[0].extras);
    cutis_model_destroy(model);
    model = read_model(in_folder("extras.gltf"));
    cutis_model_data data = *cutis_model_get(model);
    cutis_node *nodes = malloc(data.node_count * sizeof *nodes);
    assert_non_null(nodes);
    memcpy(nodes, data.nodes, data.node_count * sizeof *nodes);
    nodes[0].extras = "{\"c\": [2]}";
    data.nodes = nodes;
    cutis_model *more = create(&data);
    assert_ok(context, cutis_model_write(more, in_folder("more.gltf"), NULL));
    assert_extras(in_folder("more.gltf"), "{\"a\": {\"b\": \"\xc3\xbc\"}, \"c\": [2]}");
    cutis_model_destroy(more);
    cutis_model_destroy(model);
    free(nodes);
}

static void extras_that_are_no_json_object_are_refused_and_leave_no_file(void **state)
{
    static const char *const BAD[] = { "", "{", "[1]", "{\"a\": 1} x", "\"\xff\"" };
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        authored a;
        author(&a);
        a.nodes[1].extras = BAD[i];
        cutis_model *model = create(&a.data);
        assert_int_not_equal(cutis_model_write(model, in_folder("bad.glb"), NULL), CUTIS_OK);
        assert_non_null(strstr(cutis_context_error(context), "extras of node 1"));
        assert_int_equal(access(in_folder("bad.glb"), F_OK), -1);
        cutis_model_destroy(model);
    }
}

/// Nodes in an order that is not the model's; %s is room for extensionsUsed and more.
static const char SOURCE[] =
    "{\"asset\":{\"version\":\"2.0\",\"extras\":{\"by\":[1,0.1,null]}},%s"
    "\"scene\":1,\"scenes\":[{\"name\":\"other\",\"nodes\":[0]},{\"nodes\":[2]}],"
    "\"nodes\":[{\"name\":\"far\",\"camera\":0},{\"name\":\"leaf\",\"mesh\":0,\"extras\":7},{"
    "\"name\":\"top\",\"children\":[1]}],"
    "\"cameras\":[{\"type\":\"perspective\",\"perspective\":{\"yfov\":1,\"znear\":0.1}}],"
    "\"images\":[{\"uri\":\"not there.png\"}],\"textures\":[{\"source\":0}],"
    "\"materials\":[{\"emissiveTexture\":{\"index\":0},\"extras\":{\"keep\":true}}],"
    "\"meshes\":[{\"name\":\"m\",\"primitives\":[{\"attributes\":{\"POSITION\":1,\"TEXCOORD_0\":2,"
    "\"TEXCOORD_1\":2},\"material\":0,"
    "\"extras\":{\"deep\":[{}]}}]}],"
    "\"accessors\":[{\"name\":\"unused\",\"componentType\":5126,\"count\":1,\"type\":\"SCALAR\"},"
    "{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"min\":[0,0,0],"
    "\"max\":[1,1,0]},"
    "{\"bufferView\":1,\"componentType\":5126,\"count\":3,\"type\":\"VEC2\"}],"
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},{\"buffer\":0,\"byteOffset\":36,"
    "\"byteLength\":24}],"
    "\"buffers\":[{\"byteLength\":60,\"name\":\"data\",\"uri\":\"data:application/"
    "octet-stream;base64,"
    "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAAAAIA/\"}]}";

static cutis_model *read_source(const char *more)
{
    char text[4096];
    snprintf(text, sizeof text, SOURCE, more);
    write_text(in_folder("source.gltf"), text);
    return read_model(in_folder("source.gltf"));
}

/// The source with its positions replaced.
static json_t *write_moved(cutis_model *model)
{
    static const float MOVED_TO[] = { 0, 0, 0, 5, 0, 0, 0, 6, 0 };
    cutis_model_data data = *cutis_model_get(model);
    cutis_primitive primitive = data.meshes[0].primitives[0];
    cutis_mesh mesh = data.meshes[0];
    primitive.positions = MOVED_TO;
    mesh.primitives = &primitive;
    data.meshes = &mesh;
    cutis_model *moved = create(&data);
    assert_ok(context, cutis_model_write(moved, in_folder("moved.gltf"), NULL));
    cutis_model *again = read_model(in_folder("moved.gltf"));
    char why[256];
    if (!same_models(moved, again, why)) fail_msg("%s", why);
    cutis_model_destroy(again);
    cutis_model_destroy(moved);
    return load_json(in_folder("moved.gltf"));
}

static const json_t *at(const json_t *value, const char *path)
{
    char step[64];
    while (*path && value) {
        size_t length = strcspn(path, "/");
        memcpy(step, path, length);
        step[length] = 0;
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(step))
                                     : json_object_get(value, step);
        path += length + (path[length] == '/');
    }
    return value;
}

static void an_edit_keeps_everything_that_cutis_does_not_model(void **state)
{
    static const char *const KEPT[] = { "asset",    "scene",     "scenes",
                                        "nodes",    "cameras",   "images",
                                        "textures", "materials", "meshes/0/primitives/0/extras" };
    (void)state;
    cutis_model *model = read_source("");
    json_t *before = load_json(in_folder("source.gltf")), *after = write_moved(model);
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
        if (!json_equal((json_t *)at(before, KEPT[i]), (json_t *)at(after, KEPT[i])))
            fail_msg("%s changed", KEPT[i]);
    }
    assert_string_equal(json_string_value(at(after, "buffers/0/name")), "data");
    json_decref(before);
    json_decref(after);
    cutis_model_destroy(model);
}

static void replaced_accessors_are_dropped_and_the_rest_renumbered(void **state)
{
    (void)state;
    cutis_model *model = read_source("");
    json_t *after = write_moved(model);
    const json_t *map = at(after, "meshes/0/primitives/0/attributes");
    // "unused" stays at 0, the old positions at 1 go, texture coordinates move down, the new
    // positions come last.
    assert_int_equal(json_array_size(at(after, "accessors")), 3);
    assert_string_equal(json_string_value(at(after, "accessors/0/name")), "unused");
    assert_int_equal(json_integer_value(at(map, "TEXCOORD_0")), 1);
    assert_int_equal(json_integer_value(at(map, "TEXCOORD_1")), 1);
    assert_int_equal(json_integer_value(at(map, "POSITION")), 2);
    assert_int_equal(json_array_size(at(after, "bufferViews")), 2);
    assert_int_equal(json_integer_value(at(after, "buffers/0/byteLength")), 60);
    json_decref(after);
    cutis_model_destroy(model);
}

static void nothing_is_renumbered_while_an_unknown_extension_is_in_use(void **state)
{
    (void)state;
    cutis_model *model = read_source(
        "\"extensionsUsed\":[\"ACME_thing\"],\"extensions\":{\"ACME_thing\":{\"accessor\":1}},");
    json_t *after = write_moved(model);
    assert_int_equal(json_array_size(at(after, "accessors")), 4);
    assert_int_equal(json_integer_value(at(after, "meshes/0/primitives/0/attributes/TEXCOORD_0")),
                     2);
    assert_int_equal(json_integer_value(at(after, "meshes/0/primitives/0/attributes/POSITION")), 3);
    assert_int_equal(json_integer_value(at(after, "extensions/ACME_thing/accessor")), 1);
    assert_string_equal(json_string_value(at(after, "extensionsUsed/0")), "ACME_thing");
    json_decref(after);
    cutis_model_destroy(model);
}

static void new_nodes_clips_and_meshes_are_added_to_the_source(void **state)
{
    char why[256];
    (void)state;
    cutis_model *model = read_source("");
    cutis_model_data data = *cutis_model_get(model);
    cutis_node nodes[5];
    memcpy(nodes, data.nodes, 3 * sizeof *nodes);
    cutis_mesh meshes[2] = { data.meshes[0], data.meshes[0] };
    meshes[1].name = "copy";
    nodes[3] = (cutis_node){ .name = "new",
                             .parent = 0,
                             .mesh = 1,
                             .skin = CUTIS_NONE,
                             .rest = cutis_transform_identity() };
    nodes[4] = (cutis_node){ .name = "out",
                             .parent = CUTIS_NONE,
                             .mesh = CUTIS_NONE,
                             .skin = CUTIS_NONE,
                             .rest = cutis_transform_identity(),
                             .outside = true };
    cutis_channel channel = {
        .node = 3, .path = CUTIS_PATH_ROTATION, .key_count = 3, .times = TIMES, .values = ROTATIONS
    };
    cutis_clip clip = { .name = "turn", .channel_count = 1, .channels = &channel };
    data.nodes = nodes, data.node_count = 5, data.meshes = meshes, data.mesh_count = 2;
    data.clips = &clip, data.clip_count = 1;
    cutis_model *grown = create(&data);
    assert_ok(context, cutis_model_write(grown, in_folder("grown.glb"), NULL));
    cutis_model *again = read_model(in_folder("grown.glb"));
    // Depth-first order puts the new child before the nodes outside the scene, so only the clip and
    // mesh can be compared as they are.
    const cutis_model_data *found = cutis_model_get(again);
    assert_int_equal(found->node_count, 5);
    assert_int_equal(found->clip_count, 1);
    assert_string_equal(found->nodes[found->clips[0].channels[0].node].name, "new");
    if (!same_mesh(&meshes[1], &found->meshes[1], why)) fail_msg("%s", why);
    cutis_model_destroy(again);
    cutis_model_destroy(grown);
    cutis_model_destroy(model);
}

static void check_limited(const char *path, uint32_t clip_count)
{
    char why[256];
    cutis_model *limited = NULL;
    cutis_model *model = read_model(path);
    assert_ok(context, cutis_weights_limit(model, 2, &limited));
    assert_ok(context, cutis_model_write(limited, in_folder("limited.glb"), NULL));
    cutis_model *again = read_model(in_folder("limited.glb"));
    const cutis_primitive *p = &cutis_model_get(again)->meshes[0].primitives[0];
    for (uint32_t v = 0; v < p->vertex_count; v++)
        assert_true(p->influences.first[v + 1] - p->influences.first[v] <= 2);
    assert_int_equal(cutis_model_get(again)->clip_count, clip_count);
    if (!same_clip(cutis_model_get(model), &cutis_model_get(model)->clips[1],
                   &cutis_model_get(again)->clips[1], why))
        fail_msg("%s", why);
    cutis_model_destroy(again);
    cutis_model_destroy(limited);
    cutis_model_destroy(model);
}

// What a file of 8 or 16 bits holds is known before it is written: the rounded model.
static void rounded_weights_are_what_files_of_few_bits_hold(void **state)
{
    cutis_synth_options synth = { .body = CUTIS_BODY_ARM, .size = CUTIS_BODY_SIZE_LOW };
    cutis_model *model = NULL;
    (void)state;
    assert_ok(context, cutis_synth_create(context, &synth, &model));
    for (int k = 0; k < 2; k++) {
        const cutis_write_options few = { .weights = k ? CUTIS_WEIGHTS_U8 : CUTIS_WEIGHTS_U16 };
        cutis_model *rounded = NULL;
        assert_ok(context, cutis_weights_round(model, k ? 255 : 65535, &rounded));
        assert_ok(context, cutis_model_write(model, in_folder("few.glb"), &few));
        cutis_model *again = read_model(in_folder("few.glb"));
        const cutis_primitive *p = cutis_model_get(again)->meshes[0].primitives;
        const cutis_influences *x = &p->influences;
        const cutis_influences *y = &cutis_model_get(rounded)->meshes[0].primitives[0].influences;
        const uint32_t total = x->first[p->vertex_count];
        assert_memory_equal(x->first, y->first, (p->vertex_count + 1) * sizeof *x->first);
        double file = 0, said = 0; // files have the largest first, models the lowest joint
        for (uint32_t i = 0; i < total; i++) {
            file += (double)x->weights[i] * x->weights[i] * (1 + x->joints[i]);
            said += (double)y->weights[i] * y->weights[i] * (1 + y->joints[i]);
        }
        assert_near(file, said, 1e-9 * said);
        cutis_model_destroy(again), cutis_model_destroy(rounded);
    }
    cutis_model_destroy(model);
}

static void limited_weights_of_a_character_are_written_over_its_source(void **state)
{
    cutis_synth_options options = { .body = CUTIS_BODY_QUADRUPED, .size = CUTIS_BODY_SIZE_LOW };
    cutis_model *model = NULL;
    (void)state;
    assert_ok(context, cutis_synth_create(context, &options, &model));
    const uint32_t clip_count = cutis_model_get(model)->clip_count;
    cutis_weight_summary summary;
    assert_ok(context, cutis_weights_summarize(model, &summary));
    assert_true(summary.max_influences > 2 && clip_count > 1); // there is something to limit
    assert_ok(context, cutis_model_write(model, in_folder("hound.glb"), NULL));
    cutis_model_destroy(model);
    check_limited(in_folder("hound.glb"), clip_count);
    if (shared_is_there("gltf-sample-assets/Fox/glTF-Binary/Fox.glb"))
        check_limited(shared_path("gltf-sample-assets/Fox/glTF-Binary/Fox.glb"), 3);
}

static bool write_one(const cutis_model *model, const char *where, const char *name,
                      cutis_weight_format weights)
{
    char path[4096];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s%d%s", where, name, (int)weights, i ? ".gltf" : ".glb");
        if (cutis_model_write(model, path, &(cutis_write_options){ .weights = weights }) !=
            CUTIS_OK) {
            fprintf(stderr, "%s\n", cutis_context_error(context));
            return false;
        }
        puts(path);
    }
    return true;
}

static int write_all(const char *where)
{
    authored a;
    cutis_model *model = NULL;
    bool good = true;
    author(&a);
    if (cutis_context_create(NULL, &context) != CUTIS_OK ||
        cutis_model_create(context, &a.data, CUTIS_GATE_REFUSE, &model) != CUTIS_OK)
        return 1;
    for (int weights = 0; weights < 3; weights++)
        good &= write_one(model, where, "made", (cutis_weight_format)weights);
    cutis_model_destroy(model);
    for (int body = CUTIS_BODY_BIPED; body <= CUTIS_BODY_CROWD; body++) {
        cutis_synth_options options = { .body = (cutis_body)body,
                                        .size = CUTIS_BODY_SIZE_LOW,
                                        .count = 3 };
        if (cutis_synth_create(context, &options, &model) != CUTIS_OK) {
            fprintf(stderr, "%s\n", cutis_context_error(context));
            return 1;
        }
        good &= write_one(model, where, cutis_body_name((cutis_body)body), CUTIS_WEIGHTS_FLOAT);
        good &= write_one(model, where, cutis_body_name((cutis_body)body), CUTIS_WEIGHTS_U8);
        cutis_model_destroy(model);
    }
    cutis_context_destroy(context);
    return good ? 0 : 1;
}

static char logged[512];

static void remember_line(void *user, const char *line)
{
    (void)user;
    snprintf(logged, sizeof logged, "%s", line);
}

static void a_source_that_no_longer_fits_is_written_anew_and_that_is_said(void **state)
{
    static const char JSON[] = "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"name\":\"a\"},{"
                               "\"name\":\"b\",\"extras\":{\"gone\":1}}],\"extras\":{\"kept\":1}}";
    cutis_context *own = NULL;
    cutis_model *model = NULL, *less = NULL;
    (void)state;
    assert_int_equal(cutis_context_create(&(cutis_context_options){ .log = remember_line }, &own),
                     CUTIS_OK);
    assert_ok(own,
              cutis_model_read_memory(own, JSON, strlen(JSON), "two.gltf", KEEP_SOURCE, &model));
    logged[0] = 0;
    assert_ok(own, cutis_model_write(model, in_folder("anew.glb"), NULL));
    assert_string_equal(logged, "");
    cutis_model_data data = *cutis_model_get(model);
    data.node_count = 1;
    assert_ok(own, cutis_model_create(own, &data, CUTIS_GATE_REFUSE, &less));
    assert_ok(own, cutis_model_write(less, in_folder("anew.glb"), NULL));
    assert_non_null(strstr(logged, "two.gltf"));
    assert_non_null(strstr(logged, "written anew"));
    cutis_model_destroy(less);
    cutis_model_destroy(model);
    assert_int_equal(cutis_context_memory(own), 0);
    cutis_context_destroy(own);
}

// Two textures: one on the first set of coordinates, one on the second, which a model does not
// hold. The image lies in the buffer behind an accessor's bytes, which are not to come along.
static void a_model_with_other_nodes_keeps_the_look_of_its_source(void **state)
{
    static const char JSON[] =
        "{\"asset\":{\"version\":\"2.0\"},\"extensionsUsed\":[\"KHR_lights_punctual\","
        "\"KHR_materials_unlit\"],\"scene\":0,\"scenes\":[{\"nodes\":[0,1]}],"
        "\"nodes\":[{\"name\":\"a\"},{\"name\":\"b\",\"extensions\":"
        "{\"KHR_lights_punctual\":{\"light\":0}}}],"
        "\"extensions\":{\"KHR_lights_punctual\":{\"lights\":[{\"type\":\"point\"}]}},"
        "\"materials\":[{\"name\":\"skin\",\"pbrMetallicRoughness\":{\"baseColorTexture\":"
        "{\"index\":0}},\"occlusionTexture\":{\"index\":1,\"texCoord\":1},"
        "\"extensions\":{\"KHR_materials_unlit\":{}}}],"
        "\"textures\":[{\"source\":0,\"sampler\":0},{\"source\":0}],"
        "\"samplers\":[{\"wrapS\":33071}],"
        "\"images\":[{\"bufferView\":1,\"mimeType\":\"image/png\"}],"
        "\"accessors\":[{\"componentType\":5126,\"count\":1,\"type\":\"VEC3\",\"bufferView\":0,"
        "\"min\":[0,0,0],\"max\":[0,0,0]}],"
        "\"meshes\":[{\"primitives\":[{\"mode\":0,\"attributes\":{\"POSITION\":0}}]}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":12},{\"buffer\":0,\"byteOffset\":12,"
        "\"byteLength\":6}],\"buffers\":[{\"byteLength\":18,\"uri\":"
        "\"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAUElDVFVS\"}]}";
    cutis_context *own = NULL;
    cutis_model *model = NULL, *less = NULL;
    (void)state;
    assert_int_equal(cutis_context_create(&(cutis_context_options){ .log = remember_line }, &own),
                     CUTIS_OK);
    assert_ok(own,
              cutis_model_read_memory(own, JSON, strlen(JSON), "two.gltf", KEEP_SOURCE, &model));
    cutis_model_data data = *cutis_model_get(model);
    cutis_node node = { .name = "other",
                        .parent = CUTIS_NONE,
                        .rest = cutis_transform_identity(),
                        .mesh = CUTIS_NONE,
                        .skin = CUTIS_NONE };
    data.nodes = &node, data.node_count = 1, data.mesh_count = 0;
    assert_ok(own, cutis_model_create(own, &data, CUTIS_GATE_REFUSE, &less));
    assert_ok(own, cutis_model_write(less, in_folder("look.gltf"), NULL));
    assert_non_null(strstr(logged, "second set of coordinates"));
    json_t *root = load_json(in_folder("look.gltf"));
    const json_t *skin = json_array_get(json_object_get(root, "materials"), 0);
    assert_string_equal(json_string_value(json_object_get(skin, "name")), "skin");
    assert_non_null(
        json_object_get(json_object_get(skin, "pbrMetallicRoughness"), "baseColorTexture"));
    assert_null(json_object_get(skin, "occlusionTexture"));
    assert_int_equal(json_array_size(json_object_get(root, "textures")), 2);
    assert_int_equal(json_array_size(json_object_get(root, "samplers")), 1);
    const json_t *views = json_object_get(root, "bufferViews");
    assert_int_equal(json_array_size(views), 1);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(views, 0), "byteLength")),
                     6);
    // Nobody shows the lamp any more, but it is not ours to throw away.
    assert_non_null(json_object_get(json_object_get(root, "extensions"), "KHR_lights_punctual"));
    const json_t *used = json_object_get(root, "extensionsUsed");
    assert_int_equal(json_array_size(used), 2);
    assert_null(json_object_get(json_array_get(json_object_get(root, "nodes"), 0), "extensions"));
    FILE *bin = fopen(in_folder("look.bin"), "rb");
    char bytes[64];
    size_t offset =
        (size_t)json_integer_value(json_object_get(json_array_get(views, 0), "byteOffset"));
    assert_non_null(bin);
    assert_true(fread(bytes, 1, sizeof bytes, bin) >= offset + 6);
    assert_memory_equal(bytes + offset, "PICTUR", 6);
    fclose(bin);
    json_decref(root);
    cutis_model_destroy(less);
    cutis_model_destroy(model);
    assert_int_equal(cutis_context_memory(own), 0);
    cutis_context_destroy(own);
}

static void image_files_that_are_not_beside_the_new_document_are_named(void **state)
{
    static const char JSON[] = "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{}],\"images\":["
                               "{\"uri\":\"a%20b.png\"},{\"uri\":\"data:image/png;base64,AAAA\"}]}";
    cutis_context *own = NULL;
    cutis_model *model = NULL;
    (void)state;
    assert_int_equal(cutis_context_create(&(cutis_context_options){ .log = remember_line }, &own),
                     CUTIS_OK);
    for (int there = 0; there < 2; there++) {
        FILE *file = fopen(in_folder(there ? "a b.png" : "from.gltf"), "wb");
        assert_non_null(file);
        fputs(JSON, file);
        fclose(file);
        assert_ok(own, cutis_model_read(own, in_folder("from.gltf"), KEEP_SOURCE, &model));
        logged[0] = 0;
        assert_ok(own, cutis_model_write(model, in_folder(there ? "to.glb" : "to.gltf"), NULL));
        if (there)
            assert_string_equal(logged, "");
        else
            assert_non_null(strstr(logged, "1 image file is not there"));
        if (!there) assert_non_null(strstr(logged, "a%20b.png"));
        cutis_model_destroy(model);
    }
    cutis_context_destroy(own);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_authored_reads_back_equal_in_both_containers,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_skeleton_that_is_not_above_all_joints_is_not_named,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_same_model_gives_the_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_set_holds_the_largest_four_weights, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(duplicate_joints_are_merged_and_sums_become_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            integer_weights_sum_to_exactly_one_and_differ_by_less_than_a_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            normals_tangents_colours_and_rotations_are_written_as_gltf_allows_them, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(channels_of_equal_times_share_one_input, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_is_not_there_is_an_error_and_leaves_no_file,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(extras_of_a_node_are_written_beside_those_of_its_source,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            extras_that_are_no_json_object_are_refused_and_leave_no_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_edit_keeps_everything_that_cutis_does_not_model, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(replaced_accessors_are_dropped_and_the_rest_renumbered,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_renumbered_while_an_unknown_extension_is_in_use,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(new_nodes_clips_and_meshes_are_added_to_the_source, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rounded_weights_are_what_files_of_few_bits_hold, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(limited_weights_of_a_character_are_written_over_its_source,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_source_that_no_longer_fits_is_written_anew_and_that_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_model_with_other_nodes_keeps_the_look_of_its_source,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(image_files_that_are_not_beside_the_new_document_are_named,
                                        set_up, tear_down),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_all(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
