// OFF: every header and layout Geomview names, as text and binary, the ways real files break the
// letter of it, and what is refused. Expected values stand in the files themselves.
#include "files.h"

static void assert_floats(const float *values, const float *wanted, size_t count)
{
    assert_non_null(values);
    for (size_t i = 0; i < count; i++) assert_near(values[i], wanted[i], 1e-7);
}

static const float SQUARE[] = { 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0 };

// The same square, however its header is written.
static void counts_comments_and_line_ends_stand_anywhere(void **state)
{
    static const char *const FILES[] = {
        "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
        "OFF 4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3",
        "OFF4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n", // as ModelNet's files have it
        "OFF\n4 1\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
        "OFF\n4\n1\n0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
        "4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
        ("\xEF\xBB\xBF# first\r\nOFF # head\r\n\r\n4 1 0 # counts\r\n0 0 0 # a\r\n# b\r\n1 0 0\r\n"
         "1 1 0\r\n0 1 0\r\n\r\n4 0 1 2 3 # face\r\n"),
        "OFF\n4 1 0\n0 0\n0 1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
    };
    fixture *f = *state;
    for (size_t i = 0; i + 1 < sizeof FILES / sizeof *FILES; i++) {
        cutis_model *model = read_text(f, "square.off", FILES[i]);
        const cutis_primitive *p = only_primitive(model);
        static const uint32_t FAN[] = { 0, 1, 2, 0, 2, 3 };
        assert_int_equal(p->vertex_count, 4);
        assert_floats(p->positions, SQUARE, 12);
        assert_int_equal(p->index_count, 6);
        assert_memory_equal(p->indices, FAN, sizeof FAN);
        assert_null(p->normals);
        assert_null(p->colors);
        assert_string_equal(cutis_model_get(model)->meshes[0].name, "square");
        cutis_model_destroy(model);
    }
    // A vertex may go on in the next line, but then no other begins there.
    refuse_text(f, "x.off", FILES[7], CUTIS_CORRUPT_DATA, "line 4: more numbers");
}

// Position, normal, colour, texture coordinate, in this order; OFF's t counts upwards.
static void headers_say_what_a_vertex_has(void **state)
{
    fixture *f = *state;
    cutis_model *model = read_text(f, "a.off",
                                   "STCNOFF\n3 1 0\n0 0 0 0 0 1 255 0 51 102 .25 .75\n"
                                   "1 0 0 0 1 0 0 0 0 255 1 0\n0 1 0 1 0 0 0 0 0 0 0 1\n3 0 1 2\n");
    const cutis_primitive *p = only_primitive(model);
    assert_floats(p->normals, (float[]){ 0, 0, 1, 0, 1, 0, 1, 0, 0 }, 9);
    assert_floats(p->colors, (float[]){ 1, 0, 0.2f, 0.4f, 0, 0, 0, 1, 0, 0, 0, 0 }, 12);
    assert_floats(p->texcoords, (float[]){ .25f, .25f, 1, 1, 0, 0 }, 6);
    cutis_model_destroy(model);
    // Geomview's colours run to 1, and an alpha may be missing.
    model =
        read_text(f, "b.off", "COFF\n3 1 0\n0 0 0 1 0 .5\n1 0 0 0 0 0\n0 1 0 .25 1 1\n3 0 1 2\n");
    p = only_primitive(model);
    assert_floats(p->colors, (float[]){ 1, 0, .5f, 1, 0, 0, 0, 1, .25f, 1, 1, 1 }, 12);
    cutis_model_destroy(model);
    model = read_text(f, "c.off", "NOFF\n1 0 0\n1 2 3 0 0 1\n");
    assert_int_equal(only_primitive(model)->topology, CUTIS_TOPOLOGY_POINTS);
    cutis_model_destroy(model);
}

// Colours of faces in every form are stepped over, faces without area too.
static void faces_may_have_colours_and_any_number_of_corners(void **state)
{
    fixture *f = *state;
    cutis_model *model =
        read_text(f, "a.off",
                  "OFF\n5 6 0\n0 0 0\n2 0 0\n2 2 0\n1 1 0\n0 2 0\n3 0 1 2 7\n3 0 1 2 255 0 0\n"
                  "3 0 1 2 .1 .2 .3 .4\n2 0 1\n1 4\n5 0 1 2 3 4 # concave\n");
    const cutis_primitive *p = only_primitive(model);
    assert_int_equal(p->index_count, 9 + 9);
    double area = 0; // of the concave one, by the shoelace formula: 4 - 1 = 3
    for (uint32_t i = 9; i < 18; i += 3) {
        const float *a = p->positions + 3 * p->indices[i],
                    *b = p->positions + 3 * p->indices[i + 1],
                    *c = p->positions + 3 * p->indices[i + 2];
        double twice =
            (double)(b[0] - a[0]) * (c[1] - a[1]) - (double)(b[1] - a[1]) * (c[0] - a[0]);
        assert_true(twice > 0);
        area += twice / 2;
    }
    assert_near(area, 3, 1e-6);
    cutis_model_destroy(model);
}

static size_t put_big(unsigned char *to, uint32_t value)
{
    for (int k = 0; k < 4; k++) to[k] = (unsigned char)(value >> (24 - 8 * k));
    return 4;
}

static size_t put_big_float(unsigned char *to, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return put_big(to, bits);
}

static void binary_files_are_big_endian(void **state)
{
    fixture *f = *state;
    unsigned char data[256];
    size_t size = (size_t)sprintf((char *)data, "COFF BINARY\n");
    static const uint32_t FACES[] = { 4, 0, 1, 2, 3, 1, 0x3F800000, 3, 0, 1, 2, 0 };
    for (int k = 0; k < 3; k++) size += put_big(data + size, (uint32_t[]){ 4, 2, 0 }[k]);
    for (int v = 0; v < 4; v++) {
        for (int k = 0; k < 3; k++) size += put_big_float(data + size, SQUARE[3 * v + k]);
        for (int k = 0; k < 4; k++) size += put_big_float(data + size, .25f * (float)k);
    }
    for (int k = 0; k < 12; k++) size += put_big(data + size, FACES[k]);
    cutis_model *model = NULL;
    assert_ok(f->context, cutis_model_read_memory(f->context, data, size, "b.off", NULL, &model));
    const cutis_primitive *p = only_primitive(model);
    assert_floats(p->positions, SQUARE, 12);
    assert_floats(p->colors, (float[]){ 0, .25f, .5f, .75f }, 4);
    assert_int_equal(p->index_count, 9);
    cutis_model_destroy(model);
    for (size_t cut = 13; cut < size; cut++) // every cut is refused, by its byte
        refuse_bytes(f, "b.off", data, cut, CUTIS_CORRUPT_DATA, "byte ");
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
    static const struct {
        const char *text, *words;
        cutis_result result;
    } FILES[] = {
        { "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "line 6: a face refers",
          CUTIS_CORRUPT_DATA },
        { "OFF\n3 1 0\n0 0 0\n1 0 x\n0 1 0\n3 0 1 2\n", "line 4: not a number: 'x'",
          CUTIS_CORRUPT_DATA },
        { "OFF\n3 1 0\n0 0 0\n1 0 nan\n0 1 0\n3 0 1 2\n", "line 4: not a number",
          CUTIS_CORRUPT_DATA },
        { "OFF\n3 1 0\n0 0 0 5\n1 0 0\n0 1 0\n3 0 1 2\n", "line 3: more numbers",
          CUTIS_CORRUPT_DATA },
        { "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "the data ends too early",
          CUTIS_CORRUPT_DATA },
        { "OFF\n-3 2 0\n", "line 2: not a count: '-3'", CUTIS_CORRUPT_DATA },
        { "OFF\n3.5 2 0\n", "line 2: not a count: '3.5'", CUTIS_CORRUPT_DATA },
        { "OFF\n0 0 0\n", "no vertices", CUTIS_CORRUPT_DATA },
        { "OFF\n", "the data ends too early", CUTIS_CORRUPT_DATA },
        { "OFF\n1 1 0\n0 0 0\n3 0 0 0 red\n", "line 4: not a colour: 'red'", CUTIS_CORRUPT_DATA },
        { "4OFF\n1 0 0\n0 0 0 1\n", "four or n", CUTIS_UNSUPPORTED_FORMAT },
        { "nOFF\n5\n1 0 0\n0 0 0 1 0\n", "four or n", CUTIS_UNSUPPORTED_FORMAT },
        { "OFFER\n", "starts with 'OFF'", CUTIS_CORRUPT_DATA },
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        refuse_text(f, "x.off", FILES[i].text, FILES[i].result, FILES[i].words);
    refuse_bytes(f, "x.off", "O\0F\0F\0\n\0", 8, CUTIS_UNSUPPORTED_FORMAT, "UTF-16");
}

// Assimp's Wuson is one body in two formats: the OFF has its polygons, the STL its triangles.
static void a_real_body_is_the_same_in_off_and_stl(void **state)
{
    fixture *f = *state;
    cutis_model *off = read_ok(f, shared_path("assimp/test/models/OFF/Wuson.off"));
    cutis_model *stl = read_ok(f, shared_path("assimp/test/models/STL/Wuson.stl"));
    assert_int_equal(cutis_model_triangle_count(off), 3732);
    assert_int_equal(cutis_model_triangle_count(stl), 3732);
    double low[2][3], high[2][3];
    for (int i = 0; i < 2; i++) {
        const cutis_primitive *p = only_primitive(i ? stl : off);
        for (int k = 0; k < 3; k++) low[i][k] = INFINITY, high[i][k] = -INFINITY;
        for (size_t v = 0; v < 3 * (size_t)p->vertex_count; v++) {
            low[i][v % 3] = fmin(low[i][v % 3], (double)p->positions[v]);
            high[i][v % 3] = fmax(high[i][v % 3], (double)p->positions[v]);
        }
    }
    for (int k = 0; k < 3; k++) {
        assert_near(low[0][k], low[1][k], 1e-5);
        assert_near(high[0][k], high[1][k], 1e-5);
    }
    cutis_model_destroy(off);
    cutis_model_destroy(stl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(counts_comments_and_line_ends_stand_anywhere),
        claim(headers_say_what_a_vertex_has),
        claim(faces_may_have_colours_and_any_number_of_corners),
        claim(binary_files_are_big_endian),
        claim(what_is_wrong_is_said_with_its_line),
        claim(a_real_body_is_the_same_in_off_and_stl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
