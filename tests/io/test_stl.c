// STL: text and binary, told apart however they begin; corners welded into vertices; what is
// written comes back; what is refused.
#include "files.h"

#include <cutis/measure.h>
#include <cutis/synth.h>

static const float CORNERS[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
static const int FACES[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 1, 2, 3 }, { 2, 0, 3 } };

// A tetrahedron with normals and attributes that say nothing true.
static size_t make_binary(unsigned char *data, const char *header, uint32_t announced)
{
    memset(data, ' ', 80);
    memcpy(data, header, strlen(header));
    memcpy(data + 80, &announced, 4);
    for (int t = 0; t < 4; t++) {
        float record[12] = { NAN, 5, -1 };
        for (int c = 0; c < 3; c++) memcpy(record + 3 + 3 * c, CORNERS[FACES[t][c]], 12);
        memcpy(data + 84 + 50 * t, record, 48);
        memset(data + 84 + 50 * t + 48, 0xAB, 2);
    }
    return 84 + 4 * 50;
}

static void assert_tetrahedron(const cutis_model *model)
{
    const cutis_primitive *p = only_primitive(model);
    assert_int_equal(p->vertex_count, 4); // numbered as they come: 0 2 1, then 3
    static const uint32_t WANTED[] = { 0, 1, 2, 0, 2, 3, 2, 1, 3, 1, 0, 3 };
    assert_int_equal(p->index_count, 12);
    assert_memory_equal(p->indices, WANTED, sizeof WANTED);
    cutis_surface surface = { p->vertex_count, p->index_count / 3, p->positions, p->indices };
    assert_near(cutis_surface_volume(&surface), 1.0 / 6, 1e-7);
    assert_null(p->normals); // from the faces, not from what the file says
    assert_null(p->parts);
}

static void a_binary_file_is_told_by_its_size_whatever_it_begins_with(void **state)
{
    static const char *const HEADERS[] = { "",           "solid", "solid\nfacet normal 0 0 0\n",
                                           "COLOR=\1\2", "OFF",   "v 0 0 0\n",
                                           "{",          "ply\n" };
    fixture *f = *state;
    unsigned char data[512];
    for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++) {
        cutis_model *model = NULL;
        size_t size = make_binary(data, HEADERS[i], 4);
        cutis_result result =
            cutis_model_read_memory(f->context, data, size, "t.stl",
                                    &(cutis_read_options){ .format = CUTIS_FORMAT_STL }, &model);
        assert_ok(f->context, result);
        assert_tetrahedron(model);
        cutis_model_destroy(model);
        if (i > 3) continue; // without a name or an order, the content alone
        assert_ok(f->context, cutis_model_read_memory(f->context, data, size, "t", NULL, &model));
        assert_tetrahedron(model);
        cutis_model_destroy(model);
    }
    cutis_model *model = NULL;
    size_t size = make_binary(data, "solid", 3); // bytes behind its triangles
    assert_ok(f->context, cutis_model_read_memory(f->context, data, size, "t.stl", NULL, &model));
    assert_int_equal(cutis_model_triangle_count(model), 3);
    cutis_model_destroy(model);
    size = make_binary(data, "solid", 5);
    refuse_bytes(f, "t.stl", data, size, CUTIS_CORRUPT_DATA,
                 "byte 284: the data ends too early: 5 triangles were announced, 4 are there");
    size = make_binary(data, "solid", UINT32_MAX);
    refuse_bytes(f, "t.stl", data, size, CUTIS_CORRUPT_DATA, "ends too early");
    size = make_binary(data, "", 4);
    memset(data + 84 + 50 + 12 + 8, 0xFF, 4);
    refuse_bytes(f, "t.stl", data, size, CUTIS_CORRUPT_DATA, "byte 154: a corner has a number");
    make_binary(data, "", 0);
    refuse_bytes(f, "t.stl", data, 84, CUTIS_CORRUPT_DATA, "byte 80: no triangles");
    refuse_bytes(f, "t.stl", data, 83, CUTIS_CORRUPT_DATA, "byte 83: the data ends too early");
    refuse_bytes(f, "t.stl", data, 0, CUTIS_CORRUPT_DATA, "byte 0");
}

#define FACET(a, b, c)                                                                             \
    "facet normal 0 0 0\n outer loop\n vertex " a "\n vertex " b "\n vertex " c                    \
    "\n endloop\n endfacet\n"

static void solids_of_a_text_are_parts(void **state)
{
    fixture *f = *state;
    cutis_model *model = read_text(
        f, "two.stl",
        "solid left side\n" FACET(
            "0 0 0", "1 0 0", "0 1 0") "endsolid left side\n"
                                       "solid empty\nendsolid\n"
                                       "SOLID\r\n" FACET("1 0 0", "1 1 -0",
                                                         "0 1 0") "EndSolid whatever it says\n");
    const cutis_primitive *p = only_primitive(model);
    const cutis_mesh *mesh = &cutis_model_get(model)->meshes[0];
    assert_int_equal(p->vertex_count, 4); // -0 is 0, and two corners are shared
    assert_int_equal(mesh->part_count, 2);
    assert_string_equal(mesh->part_names[0], "left side");
    assert_string_equal(mesh->part_names[1], "solid");
    assert_int_equal(p->parts[0], 0);
    assert_int_equal(p->parts[1], 1);
    cutis_model_destroy(model);
    model = read_text(f, "one",
                      "solid\nfacet normal nan -nan(ind) 1.#QNAN\nouter loop\nvertex 0 0 0\n"
                      "vertex 1e0 0 0\nvertex 0 +1 0\nendloop\nendfacet\nendsolid\n");
    assert_int_equal(cutis_model_triangle_count(model), 1);
    assert_null(only_primitive(model)->parts);
    cutis_model_destroy(model);
}

static void what_is_wrong_with_a_text_is_said_with_its_line(void **state)
{
    static const struct {
        const char *text, *words;
    } FILES[] = {
        { "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0\nendloop\n",
          "line 6: not a number: 'endloop'" },
        { "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 inf\n",
          "line 5: not a number: 'inf'" },
        { "solid\nfacet normal 0 0 1\nvertex 0 0 0\n", "line 3: expected 'outer', found 'vertex'" },
        { "solid\n" FACET("0 0 0", "1 0 0", "0 1 0") "facets\n",
          "line 9: expected 'facet' or 'endsolid', found 'facets'" },
        { "solid\n" FACET("0 0 0", "1 0 0", "0 1 0"), "line 9: the data ends inside a solid" },
        { "solid\n" FACET("0 0 0", "1 0 0", "0 1 0") "endsolid\nsolo\n",
          "line 10: expected 'solid', found 'solo'" },
        { "solid\nendsolid\n", "no triangles" },
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        refuse_text(f, "x.stl", FILES[i].text, CUTIS_CORRUPT_DATA, FILES[i].words);
}

// The corners of every triangle, in order and to the bit; facet normals by the cross product.
static void a_written_body_comes_back(void **state)
{
    fixture *f = *state;
    cutis_model *body = NULL;
    assert_ok(f->context, cutis_synth_create(
                              f->context, &(cutis_synth_options){ .body = CUTIS_BODY_ARM }, &body));
    uint64_t count = cutis_model_triangle_count(body);
    uint32_t *was = malloc(3 * count * sizeof *was), *is = malloc(3 * count * sizeof *is);
    float *places = malloc(3 * sizeof(float) * cutis_model_vertex_count(body));
    cutis_model_triangles(body, was);
    cutis_model_file_positions(body, places);
    for (int ascii = 0; ascii < 2; ascii++) {
        const char *path = path_in(f, "arm.stl");
        assert_ok(f->context,
                  cutis_model_write(body, path, &(cutis_write_options){ .ascii = ascii }));
        void *data = NULL;
        size_t size = 0;
        assert_ok(f->context, cutis_file_read(f->context, path, &data, &size));
        if (!ascii) {
            assert_int_equal(size, 84 + 50 * count);
            for (uint64_t t = 0; t < count; t++) {
                float r[12];
                memcpy(r, (char *)data + 84 + 50 * t, 48);
                double u[3], v[3], n[3];
                for (int k = 0; k < 3; k++)
                    u[k] = (double)r[6 + k] - r[3 + k], v[k] = (double)r[9 + k] - r[3 + k];
                n[0] = u[1] * v[2] - u[2] * v[1];
                n[1] = u[2] * v[0] - u[0] * v[2];
                n[2] = u[0] * v[1] - u[1] * v[0];
                double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
                for (int k = 0; k < 3; k++) assert_near(r[k], n[k] / length, 1e-6);
            }
        }
        cutis_memory_free(f->context, data, size);
        cutis_model *again = read_ok(f, path);
        const cutis_primitive *p = only_primitive(again);
        assert_int_equal(cutis_model_triangle_count(again), count);
        cutis_model_triangles(again, is);
        for (uint64_t i = 0; i < 3 * count; i++)
            for (int k = 0; k < 3; k++)
                assert_true(p->positions[3 * is[i] + k] == places[3 * was[i] + k]);
        cutis_model_destroy(again);
    }
    free(was), free(is), free(places);
    cutis_model_destroy(body);
}

// A node turns, moves and shrinks its mesh; STL has the result.
static void meshes_stand_where_their_nodes_put_them(void **state)
{
    static const char SCENE[] =
        "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"mesh\":0,\"translation\":[1,2,3],"
        "\"rotation\":[0,0,0.70710678,0.70710678],\"scale\":[2,2,2]}],\"scene\":0,\"scenes\":[{"
        "\"nodes\":[0]}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\","
        "\"min\":[0,0,0],\"max\":[1,1,0]}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
        "\"buffers\":[{\"byteLength\":36,\"uri\":\"data:application/octet-stream;base64,"
        "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}]}";
    // 90 degrees about z, twice as large, moved: (1,0,0) goes to (0,2,0), (0,1,0) to (-2,0,0).
    static const float WANTED[] = { 1, 2, 3, 1, 4, 3, -1, 2, 3 };
    fixture *f = *state;
    cutis_model *model = read_text(f, "scene.gltf", SCENE);
    assert_ok(f->context, cutis_model_write(model, path_in(f, "s.stl"), NULL));
    cutis_model_destroy(model);
    model = read_ok(f, path_in(f, "s.stl"));
    for (int i = 0; i < 9; i++) assert_near(only_primitive(model)->positions[i], WANTED[i], 1e-6);
    cutis_model_destroy(model);
}

// The reader's own hash, so that a file can be made whose corners all fall into one place of its
// table: that must end, and soon.
static uint64_t mix(const uint32_t bits[3])
{
    uint64_t h = (uint64_t)bits[0] * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 29 ^ bits[1]) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 32 ^ bits[2]) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 31;
}

static void corners_made_to_collide_are_given_up_in_time(void **state)
{
    enum { TRIANGLES = 2700, SLOTS = 1 << 14, SIZE = 84 + 50 * TRIANGLES };
    fixture *f = *state;
    unsigned char *data = calloc(1, SIZE);
    const uint32_t count = TRIANGLES;
    uint32_t bits[3] = { 0, 0, 0 };
    memcpy(data + 80, &count, 4);
    for (uint32_t i = 0; i < 3 * TRIANGLES; i++) {
        do bits[2]++; // small numbers, all finite
        while (mix(bits) & (SLOTS - 1));
        memcpy(data + 84 + 50 * (i / 3) + 12 + 12 * (i % 3), bits, 12);
    }
    cutis_model *model = NULL;
    double began = processor_seconds();
    cutis_result result = cutis_model_read_memory(f->context, data, SIZE, "c.stl", NULL, &model);
    double took = processor_seconds() - began;
    assert_int_equal(result, CUTIS_LIMIT_EXCEEDED);
    assert_non_null(strstr(cutis_context_error(f->context), "take too long to tell apart"));
    assert_true(took < 1 * SLOWED);
    free(data);
}

static void assimps_files_are_read(void **state)
{
    static const struct {
        const char *name;
        uint64_t triangles;
        uint32_t parts;
    } FILES[] = { { "triangle.stl", 1, 0 },
                  { "triangle_with_empty_solid.stl", 1, 0 },
                  { "triangle_with_two_solids.stl", 2, 2 },
                  { "formatDetection", 1, 0 },
                  { "Spider_binary.stl", 1368, 0 },
                  { "sphereWithHole.stl", 285, 0 } };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        char path[256];
        snprintf(path, sizeof path, "assimp/test/models/STL/%s", FILES[i].name);
        cutis_model *model = read_ok(f, shared_path(path));
        assert_int_equal(cutis_model_triangle_count(model), FILES[i].triangles);
        assert_int_equal(cutis_model_get(model)->meshes[0].part_count, FILES[i].parts);
        cutis_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(a_binary_file_is_told_by_its_size_whatever_it_begins_with),
        claim(solids_of_a_text_are_parts),
        claim(what_is_wrong_with_a_text_is_said_with_its_line),
        claim(a_written_body_comes_back),
        claim(meshes_stand_where_their_nodes_put_them),
        claim(corners_made_to_collide_are_given_up_in_time),
        claim(assimps_files_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
