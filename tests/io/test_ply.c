// PLY: the same values from ASCII and both byte orders, polygons, strips, point clouds, bits kept
// on the way out and in.
#include "files.h"

static void assert_cube(fixture *f, const char *path, uint32_t vertices)
{
    cutis_model *model = read_ok(f, path);
    assert_int_equal(cutis_model_vertex_count(model), vertices);
    assert_int_equal(cutis_model_triangle_count(model), 12);
    cutis_model_destroy(model);
}

// Binary, with any end of the header's last line; the first byte behind it may be a line feed.
static void write_cube(fixture *f, const char *name, const char *end, bool starts_with_line_feed)
{
    static const uint8_t FACES[6][4] = { { 0, 1, 3, 2 }, { 6, 7, 5, 4 }, { 1, 0, 4, 5 },
                                         { 2, 3, 7, 6 }, { 0, 2, 6, 4 }, { 3, 1, 5, 7 } };
    unsigned char bytes[1024], *at = bytes;
    at += sprintf((char *)at,
                  "ply\nformat binary_little_endian 1.0\nelement vertex 8\nproperty float x\n"
                  "property float y\nproperty float z\nelement face 6\n"
                  "property list uchar uchar vertex_index\nend_header%s",
                  end);
    for (int v = 0; v < 8; v++)
        for (int c = 0; c < 3; c++) {
            float x = (float)(v >> c & 1);
            memcpy(at, &x, 4), at += 4;
            if (v == 0 && c == 0 && starts_with_line_feed) at[-4] = '\n'; // a tiny number
        }
    for (int k = 0; k < 6; k++) *at++ = 4, memcpy(at, FACES[k], 4), at += 4;
    write_bytes(f, name, bytes, (size_t)(at - bytes));
}

static void cubes_have_twelve_triangles(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *path;
        uint32_t vertices;
    } REAL[] = { { "cube.ply", 8 },
                 { "cube_binary.ply", 8 },
                 { "cube_binary_header_with_RN_newline.ply", 8 },
                 { "cube_binary_starts_with_nl.ply", 8 },
                 { "cube_uv.ply", 24 } };
    for (int kind = 0; kind < 3; kind++) {
        write_cube(f, "cube.ply", kind == 1 ? "\r\n" : "\n", kind == 2);
        assert_cube(f, path_in(f, "cube.ply"), 8);
    }
    for (size_t i = 0; i < sizeof REAL / sizeof *REAL; i++) {
        char path[256];
        snprintf(path, sizeof path, "assimp/test/models/PLY/%s", REAL[i].path);
        if (shared_is_there(path)) assert_cube(f, shared_path(path), REAL[i].vertices);
    }
}

static const char HEADER[] =
    "comment made by hand\n"
    "element extra 2\nproperty list uchar short some\nproperty double alone\n"
    "element vertex 4\nproperty double x\nproperty float y\nproperty short z\n"
    "property list uchar uchar tags\nproperty uchar red\nproperty uchar green\n"
    "property uchar blue\nproperty float s\nproperty float t\n"
    "element face 1\nproperty uchar flag\nproperty list uchar int vertex_indices\nend_header\n";

static void put(unsigned char **at, const void *data, size_t size, bool big)
{
    for (size_t i = 0; i < size; i++)
        *(*at)++ = ((const unsigned char *)data)[big ? size - 1 - i : i];
}

#define PUT(type, value)                                                                           \
    do {                                                                                           \
        type value_ = (value);                                                                     \
        put(&at, &value_, sizeof value_, big);                                                     \
    } while (0)

static size_t binary_file(unsigned char *out, bool big)
{
    unsigned char *at = out + sprintf((char *)out, "ply\nformat binary_%s_endian 1.0\n%s",
                                      big ? "big" : "little", HEADER);
    for (int i = 0; i < 2; i++) { // an element nobody asked for
        PUT(uint8_t, 2);
        PUT(int16_t, 7);
        PUT(int16_t, -7);
        PUT(double, 0.5);
    }
    for (int i = 0; i < 4; i++) {
        PUT(double, i == 1 || i == 2 ? 1.5 : 0);
        PUT(float, i >= 2 ? 2.25f : 0);
        PUT(int16_t, (int16_t)(-3));
        PUT(uint8_t, (uint8_t)i); // a list of another length at every vertex
        for (int k = 0; k < i; k++) PUT(uint8_t, 9);
        PUT(uint8_t, 255);
        PUT(uint8_t, 51);
        PUT(uint8_t, 0);
        PUT(float, 0.125f);
        PUT(float, 0.25f);
    }
    PUT(uint8_t, 1);
    PUT(uint8_t, 4);
    for (int i = 0; i < 4; i++) PUT(int32_t, i);
    return (size_t)(at - out);
}

static void assert_quad(const cutis_model *model)
{
    const cutis_primitive *p = only_primitive(model);
    const float positions[] = { 0, 0, -3, 1.5f, 0, -3, 1.5f, 2.25f, -3, 0, 2.25f, -3 };
    const uint32_t indices[] = { 0, 1, 2, 0, 2, 3 };
    assert_int_equal(p->vertex_count, 4);
    assert_int_equal(p->index_count, 6);
    assert_memory_equal(p->positions, positions, sizeof positions);
    assert_memory_equal(p->indices, indices, sizeof indices);
    assert_true(p->colors[0] == 1 && p->colors[1] == 0.2f && p->colors[2] == 0 &&
                p->colors[3] == 1);
    assert_true(p->texcoords[0] == 0.125f && p->texcoords[1] == 0.75f);
    assert_null(p->normals);
}

static void ascii_little_and_big_endian_give_the_same_known_values(void **state)
{
    fixture *f = *state;
    unsigned char bytes[2048];
    char text[2048];
    for (int big = 0; big < 2; big++) {
        cutis_model *model;
        size_t size = binary_file(bytes, big);
        assert_ok(f->context,
                  cutis_model_read_memory(f->context, bytes, size, "q.ply", NULL, &model));
        assert_quad(model);
        cutis_model_destroy(model);
        for (size_t cut = 0; cut < size; cut++) { // any truncation is refused
            assert_int_not_equal(
                cutis_model_read_memory(f->context, bytes, cut, "cut.ply", NULL, &model), CUTIS_OK);
            assert_null(model);
        }
    }
    snprintf(
        text, sizeof text, "ply\nformat ascii 1.0\n%s%s", HEADER,
        "2 7 -7 0.5\n2 7 -7 0.5\n0 0 -3 0 255 51 0 .125 .25\n1.5 0 -3 1 9 255 51 0 .125 .25\n"
        "1.5 2.25 -3 2 9 9 255 51 0 .125 .25\n0 2.25 -3 3 9 9 9 255 51 0 .125 .25\n1 4 0 1 2 3");
    cutis_model *model = read_text(f, "q.ply", text);
    assert_quad(model);
    cutis_model_destroy(model);
}

static void strips_turn_over_and_start_again(void **state)
{
    fixture *f = *state;
    cutis_model *model =
        read_text(f, "s.ply",
                  "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
                  "property float z\nelement tristrips 1\nproperty list int int vertex_indices\n"
                  "end_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n8 0 1 2 3 -1 3 2 1\n");
    const uint32_t indices[] = { 0, 1, 2, 2, 1, 3, 3, 2, 1 };
    assert_int_equal(only_primitive(model)->index_count, 9);
    assert_memory_equal(only_primitive(model)->indices, indices, sizeof indices);
    cutis_model_destroy(model);
}

static void a_cloud_is_points_with_normals_and_colours(void **state)
{
    fixture *f = *state;
    cutis_model *model = read_text(
        f, "points.ply",
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
        "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
        "property float nx\nproperty float ny\nproperty float nz\nend_header\n"
        "0 0 0 255 255 255 0 1 0\n0 0 1 255 0 255 0 0 1\n"
        "0 1 0 255 255 0 1 0 0\n0 1 1 0 255 255 1 1 0\n");
    const cutis_primitive *p = only_primitive(model);
    assert_int_equal(p->topology, CUTIS_TOPOLOGY_POINTS);
    assert_int_equal(p->vertex_count, 4);
    assert_true(p->normals[1] == 1 && p->colors[5] == 0 && p->colors[6] == 1);
    cutis_model_destroy(model);
}

static void writing_and_reading_again_keeps_every_bit(void **state)
{
    fixture *f = *state;
    enum { N = 2000 };
    static float positions[3 * N], normals[3 * N], texcoords[2 * N], colors[4 * N];
    static uint32_t indices[3 * N];
    for (uint32_t i = 0; i < 3 * N; i++) {
        positions[i] = (float)(random_in(1, i, -1, 1) * pow(10, random_in(2, i, -40, 38)));
        normals[i] = (float)random_in(3, i, -1, 1);
        indices[i] = (uint32_t)random_in(4, i, 0, N);
    }
    for (int round = 0; round < 4; round++) { // bytes and floats, both encodings
        for (uint32_t i = 0; i < 4 * N; i++)
            colors[i] = round < 2 ? (float)floor(random_in(5, i, 0, 256)) / 255.0f
                                  : (float)random_in(6, i, 0, 1);
        for (uint32_t i = 0; i < 2 * N; i++)
            texcoords[i] = round < 2 ? (float)floor(random_in(7, i, 0, 65536)) / 65536
                                     : (float)random_in(8, i, 0, 1);
        cutis_primitive p = { .vertex_count = N,
                              .index_count = 3 * N,
                              .indices = indices,
                              .positions = positions,
                              .normals = normals,
                              .texcoords = texcoords,
                              .colors = colors,
                              .material = CUTIS_NONE };
        cutis_mesh mesh = { .primitive_count = 1, .primitives = &p };
        cutis_node node = {
            .parent = CUTIS_NONE, .rest = cutis_transform_identity(), .mesh = 0, .skin = CUTIS_NONE
        };
        cutis_model_data data = {
            .node_count = 1, .mesh_count = 1, .nodes = &node, .meshes = &mesh
        };
        cutis_model *model, *again;
        assert_ok(f->context, cutis_model_create(f->context, &data, CUTIS_GATE_REFUSE, &model));
        assert_ok(f->context, cutis_model_write(model, path_in(f, "b.ply"),
                                                &(cutis_write_options){ .ascii = round & 1 }));
        again = read_ok(f, path_in(f, "b.ply"));
        assert_same_primitive(only_primitive(model), only_primitive(again));
        cutis_model_destroy(model);
        cutis_model_destroy(again);
    }
}

static void an_unskinned_mesh_is_written_where_its_node_puts_it(void **state)
{
    fixture *f = *state;
    const float positions[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 },
                normals[] = { 1, 0, 0, 1, 0, 0, 1, 0, 0 };
    cutis_primitive p = {
        .vertex_count = 3, .positions = positions, .normals = normals, .material = CUTIS_NONE
    };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &p };
    cutis_node nodes[2] = { { .parent = CUTIS_NONE, .mesh = CUTIS_NONE, .skin = CUTIS_NONE },
                            { .parent = 0, .mesh = 0, .skin = CUTIS_NONE } };
    nodes[0].rest = nodes[1].rest = cutis_transform_identity();
    nodes[0].rest.translation = (cutis_float3){ 10, 0, 0 };
    nodes[1].rest.rotation = (cutis_quat){ 0, 0, 0.70710678f, 0.70710678f }; // x to y
    nodes[1].rest.scale = (cutis_float3){ 2, 2, 2 };
    cutis_model_data data = { .node_count = 2, .mesh_count = 1, .nodes = nodes, .meshes = &mesh };
    cutis_model *model, *again;
    assert_ok(f->context, cutis_model_create(f->context, &data, CUTIS_GATE_REFUSE, &model));
    assert_ok(f->context, cutis_model_write(model, path_in(f, "n.ply"), NULL));
    again = read_ok(f, path_in(f, "n.ply"));
    const float wanted[] = { 10, 2, 0, 8, 0, 0, 10, 0, 2 };
    for (int i = 0; i < 9; i++) assert_near(only_primitive(again)->positions[i], wanted[i], 1e-5);
    assert_near(only_primitive(again)->normals[1], 1, 1e-6);
    cutis_model_destroy(model);
    cutis_model_destroy(again);
}

#define XYZ "property float x\nproperty float y\nproperty float z\n"

static void bad_files_are_refused_with_place_and_reason(void **state)
{
    fixture *f = *state;
    refuse_text(f, "a.ply", "plx\n", CUTIS_CORRUPT_DATA, "starts with 'ply'");
    refuse_text(f, "a.ply", "ply\nformat ascii 2.0\n", CUTIS_CORRUPT_DATA,
                "line 2: the format's version");
    refuse_text(f, "a.ply", "ply\nformat ascii 1.0\nelement vertex -1\n", CUTIS_CORRUPT_DATA,
                "line 3");
    refuse_text(f, "a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty quad x\n",
                CUTIS_CORRUPT_DATA, "line 4: unknown type");
    refuse_text(f, "a.ply", "ply\nformat ascii 1.0\nelement vertex 1\n" XYZ, CUTIS_CORRUPT_DATA,
                "does not end");
    refuse_text(f, "a.ply",
                "ply\nformat ascii 1.0\nelement vertex 99999999999\n" XYZ "end_header\n0 0 0\n",
                CUTIS_CORRUPT_DATA, "ends too early");
    refuse_text(f, "a.ply",
                "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n",
                CUTIS_CORRUPT_DATA, "lack x, y or z");
    refuse_text(f, "a.ply",
                "ply\nformat ascii 1.0\nelement vertex 1\n" XYZ
                "element face 1\nproperty list uchar int vertex_index\n"
                "end_header\n0 0 0\n3 0 0 1\n",
                CUTIS_CORRUPT_DATA, "vertex that is not there");
    refuse_text(f, "a.ply",
                "ply\nformat ascii 1.0\nelement vertex 1\n" XYZ
                "element face 1\nproperty list uint int vertex_index\n"
                "end_header\n0 0 0\n4000000000 0 0 0\n",
                CUTIS_CORRUPT_DATA, "ends too early");
    refuse_text(f, "a.ply",
                "ply\nformat ascii 1.0\nelement vertex 1\n" XYZ "end_header\n0 zero 0\n",
                CUTIS_CORRUPT_DATA, "line 8: not a number: 'zero'");
}

// Found by the fuzzer: nothing of the file bounds the count of faces that take no bytes.
static void faces_without_properties_are_none_however_many_they_are_said_to_be(void **state)
{
    cutis_model *model = read_text(*state, "a.ply",
                                   "ply\nformat ascii 1.0\nelement vertex 1\n" XYZ
                                   "element face 999999999999999999\nend_header\n1 2 3\n");
    assert_int_equal(cutis_model_vertex_count(model), 1);
    assert_int_equal(cutis_model_triangle_count(model), 0);
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(cubes_have_twelve_triangles),
        claim(ascii_little_and_big_endian_give_the_same_known_values),
        claim(strips_turn_over_and_start_again),
        claim(a_cloud_is_points_with_normals_and_colours),
        claim(writing_and_reading_again_keeps_every_bit),
        claim(an_unskinned_mesh_is_written_where_its_node_puts_it),
        claim(bad_files_are_refused_with_place_and_reason),
        claim(faces_without_properties_are_none_however_many_they_are_said_to_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
