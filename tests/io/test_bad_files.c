// Hostile and broken files of every format: refused with a result and one line, in time linear in
// their size, without a byte left allocated. The sanitizer build runs the same claims.
#include "files.h"

#include <fcntl.h>

static const double SECONDS_MAX = 1 * SLOWED;

static void repeat(char *out, size_t size, const char *head, const char *body, const char *tail)
{
    size_t at = strlen(head), step = strlen(body), end = strlen(tail);
    memcpy(out, head, at);
    for (; at + step + end < size; at += step) memcpy(out + at, body, step);
    memcpy(out + at, tail, end + 1);
}

static void one_mebibyte_of_anything_takes_less_than_a_second(void **state)
{
    static const struct {
        const char *name, *head, *body, *tail;
    } FILES[] = {
        { "polygon.obj", "v 0 0 0\nv 1 0 0\nv .5 .1 0\nv 0 1 0\nv .2 .2 0\nf", " 1 2 3 4 5", "\n" },
        { "polygons.obj", "v 0 0 0\nv 1 0 0\nv .5 .1 0\nv 0 1 0\n",
          "f 1 2 3 4 1 2 3 4 1 2 3 4 1 2 3 4 3 2 1 4 3 2\n", "" },
        { "materials.obj", "v 0 0 0\n", "usemtl a\nf 1 1 1\nusemtl b\nf 1 1 1\n", "" },
        { "groups.obj", "v 0 0 0\n", "g a b c\nf 1 1 1\n", "" },
        { "libraries.obj", "v 0 0 0\n", "mtllib a.mtl\n", "" },
        { "blank.obj", "", " \\\n", "" },
        { "comment.obj", "#", "\\", "\n" },
        { "digits.obj", "v 0 0 0.", "1234567890", "e999999999\n" },
        { "vertices.obj", "", "v 1e-45 1.17549429e-38 3.4028235677973366e38\n", "" },
        { "deep.bvh", "HIERARCHY\nROOT a { OFFSET 0 0 0\n", "JOINT b { OFFSET 0 0 0\n", "" },
        { "wide.bvh", "HIERARCHY\nROOT a { OFFSET 0 0 0\n", "JOINT b { OFFSET 0 0 0 }\n",
          "}\nMOTION Frames: 0\nFrame Time: 1\n" },
        { "ends.bvh", "HIERARCHY\nROOT a { OFFSET 0 0 0\n", "End Site { OFFSET 0 0 0 }\n",
          "}\nMOTION Frames: 0\nFrame Time: 1\n" },
        { "deep.xsf", "<SKELETON>", "<a>", "" },
        { "bones.xsf", "<SKELETON>", "<BONE NAME=\"&amp;&amp;\"><PARENTID>0</PARENTID></BONE>",
          "</SKELETON>" },
        { "chain.xsf", "<SKELETON><BONE/>", "<BONE><PARENTID>0</PARENTID></BONE>", "</SKELETON>" },
        { "quotes.xsf", "<SKELETON a=\"", "x='y' ", "" },
        { "comment.xsf", "<SKELETON><!--", "- - ->", "" },
        { "vertices.xmf", "<MESH><SUBMESH>", "<VERTEX/><FACE VERTEXID=\"0 0 0\"/>",
          "</SUBMESH></MESH>" },
        { "nest.gltf", "{\"a\":", "[", "" },
        { "keys.gltf", "{\"asset\":{\"version\":\"2.0\"},\"x\":[", "{\"a\":1},", "0]}" },
        { "header.ply", "ply\nformat ascii 1.0\n", "comment x\n", "" },
        { "comments.off", "OFF\n", "# x\n", "" },
        { "comment.off", "OFF\n#", "#", "" },
        { "polygon.off", "OFF 4 1 0\n0 0 0\n1 0 0\n.5 .1 0\n0 1 0\n200000", " 0 1 2 3", "\n" },
        { "faces.off", "OFF 4 30000 0\n0 0 0\n1 0 0\n.5 .1 0\n0 1 0\n",
          "12 0 1 2 3 2 1 0 3 1 2 0 3 # x\n", "" },
        { "solids.stl", "", "solid\nendsolid\n", "" },
        { "facets.stl", "solid\n",
          "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
          "endfacet\n",
          "endsolid\n" },
        { "faces.ply",
          "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty "
          "float z\nelement face 30000\n"
          "property list int int vertex_indices\nend_header\n0 0 0 1 0 0 .5 .1 0 0 1 0\n",
          "12 0 1 2 3 2 1 0 3 1 2 0 3\n", "" },
    };
    fixture *f = *state;
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE + 64);
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        cutis_model *model = NULL;
        repeat(text, SIZE, FILES[i].head, FILES[i].body, FILES[i].tail);
        double start = processor_seconds();
        cutis_result result =
            cutis_model_read_memory(f->context, text, strlen(text), FILES[i].name, NULL, &model);
        double took = processor_seconds() - start;
        cutis_model_destroy(model);
        if (took > SECONDS_MAX) fail_msg("%s took %.2f s", FILES[i].name, took);
        if (result != CUTIS_OK && strchr(cutis_context_error(f->context), '\n'))
            fail_msg("%s: two lines", FILES[i].name);
        assert_int_equal(cutis_context_memory(f->context), 0);
    }
    free(text);
}

// Unique names and combinations, which a table with a search in it would make quadratic.
static void many_different_names_and_corners_stay_linear(void **state)
{
    fixture *f = *state;
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE + 256);
    for (int kind = 0; kind < 3; kind++) {
        int length = sprintf(text, "v 0 0 0\n");
        for (int i = 1; length < SIZE; i++) {
            const char *lines[] = { "usemtl m%d\nf 1 1 1\n", "g p%d\nf 1 1 1\n",
                                    "vt %d 0\nf 1/-1 1/-1 1/-1\n" };
            length += sprintf(text + length, lines[kind], i);
        }
        cutis_model *model = NULL;
        double start = processor_seconds();
        assert_ok(f->context, cutis_model_read_memory(f->context, text, (size_t)length, "many.obj",
                                                      NULL, &model));
        cutis_model_destroy(model);
        double took = processor_seconds() - start;
        if (took > SECONDS_MAX) fail_msg("kind %d took %.2f s", kind, took);
    }
    free(text);
}

static void assimps_bad_files_get_a_named_error(void **state)
{
    static const struct {
        const char *path;
        cutis_result result;
        const char *words;
    } FILES[] = {
        { "invalid/malformed.obj", CUTIS_CORRUPT_DATA, "line 28: not a vertex reference: '0'" },
        { "invalid/malformed2.obj", CUTIS_CORRUPT_DATA, "line 23: a face needs" },
        { "invalid/empty.obj", CUTIS_CORRUPT_DATA, "without a vertex" },
        { "invalid/empty.ply", CUTIS_CORRUPT_DATA, "starts with 'ply'" },
        { "invalid/crash-30d6d0f7c529b3b66b4131700b7a4580cd7082df.ply", CUTIS_CORRUPT_DATA,
          "line 7: unknown type" },
        { "PLY/payload_JVN42386607", CUTIS_CORRUPT_DATA, "line 2" },
        { "PLY/issue623.ply", CUTIS_CORRUPT_DATA, "line 15" },
        { "OBJ/box_UTF16BE.obj", CUTIS_UNSUPPORTED_FORMAT, "UTF-16" },
        { "OBJ/number_formats.obj", CUTIS_CORRUPT_DATA, "line 11: not a number: '3.1+e2'" },
        { "OFF/invalid.off", CUTIS_CORRUPT_DATA, "line 8: a face refers to a vertex" },
        { "invalid/OutOfMemory.off", CUTIS_CORRUPT_DATA, "line 2: the data ends too early" },
        { "invalid/empty.off", CUTIS_CORRUPT_DATA, "line 1: an OFF file starts with 'OFF'" },
        { "fuzzer_data/clusterfuzz-testcase-minimized-assimp_fuzzer-4751812606885888", 0, "" },
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        char path[512];
        cutis_model *model = NULL;
        snprintf(path, sizeof path, "assimp/test/models/%s", FILES[i].path);
        cutis_result result = cutis_model_read(f->context, shared_path(path), NULL, &model);
        assert_int_not_equal(result, CUTIS_OK);
        assert_null(model);
        if ((FILES[i].result && result != FILES[i].result) ||
            !strstr(cutis_context_error(f->context), FILES[i].words))
            fail_msg("%s: %s: %s", path, cutis_result_name(result),
                     cutis_context_error(f->context));
    }
}

// Content wins over the name, and a name over nothing.
static void the_format_is_found_by_content_then_by_name(void **state)
{
    fixture *f = *state;
    cutis_model *model =
        read_text(f, "wrong.ply.txt", "# x\n\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert_int_equal(cutis_model_triangle_count(model), 1);
    cutis_model_destroy(model);
    model =
        read_text(f, "wrong.obj",
                  "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
                  "property float z\nend_header\n1 2 3\n");
    assert_int_equal(only_primitive(model)->topology, CUTIS_TOPOLOGY_POINTS);
    cutis_model_destroy(model);
    model = read_text(f, "wrong.gltf",
                      "hierarchy root r { offset 0 0 0 }\nmotion frames: 0\nframe time: 1\n");
    assert_int_equal(cutis_model_get(model)->node_count, 1);
    cutis_model_destroy(model);
    refuse_text(f, "what.bin", "\1\2\3\4", CUTIS_UNSUPPORTED_FORMAT, "not a format");
    refuse_bytes(f, "a.caf", "CAF", 4, CUTIS_UNSUPPORTED_FORMAT, "not a model");
}

static void what_cannot_be_opened_is_said(void **state)
{
    fixture *f = *state;
    cutis_model *model = NULL;
    assert_int_equal(cutis_model_read(f->context, path_in(f, "none.obj"), NULL, &model),
                     CUTIS_FILE_NOT_FOUND);
    assert_int_equal(cutis_model_read(f->context, f->folder, NULL, &model), CUTIS_FILE_READ);
#ifndef _WIN32 // whose pipes are in no folder
    assert_int_equal(mkfifo(path_in(f, "pipe.obj"), 0600), 0);
    assert_int_equal(cutis_model_read(f->context, path_in(f, "pipe.obj"), NULL, &model),
                     CUTIS_FILE_READ);
#endif
    assert_int_equal(
        cutis_model_read(f->context, "x.obj", &(cutis_read_options){ .unit_scale = -1 }, &model),
        CUTIS_INVALID_ARGUMENT);
    assert_null(model);
}

static void a_library_outside_the_folder_is_left_out(void **state)
{
    fixture *f = *state;
    write_text(f, "secret.mtl", "newmtl a\nKd 1 0 0\n");
    assert_int_equal(mkdir(path_in(f, "sub"), 0700), 0);
    write_text(f, "sub/m.obj",
               "mtllib ../secret.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n");
    cutis_model *model = read_ok(f, path_in(f, "sub/m.obj"));
    assert_true(cutis_model_get(model)->materials[0].base_color[1] ==
                0.8f); // the default, not the secret's red
    cutis_model_destroy(model);
}

static void formats_that_cannot_hold_a_model_say_so_and_leave_no_file(void **state)
{
    fixture *f = *state;
    cutis_model *mesh = read_text(f, "m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    cutis_model *bones = read_text(
        f, "b.bvh", "HIERARCHY ROOT r { OFFSET 0 0 0 }\nMOTION Frames: 0\nFrame Time: 1\n");
    assert_int_equal(cutis_model_write(mesh, path_in(f, "o.cfg"), NULL), CUTIS_UNSUPPORTED);
    assert_int_equal(cutis_model_write(mesh, path_in(f, "o.npy"), NULL), CUTIS_UNSUPPORTED);
    assert_int_equal(cutis_model_write(mesh, path_in(f, "o.bvh"), NULL), CUTIS_UNSUPPORTED);
    assert_int_equal(cutis_model_write(mesh, path_in(f, "o.xyz"), NULL), CUTIS_UNSUPPORTED_FORMAT);
    assert_int_equal(cutis_model_write(bones, path_in(f, "o.obj"), NULL), CUTIS_UNSUPPORTED);
    assert_int_equal(cutis_model_write(bones, path_in(f, "o.ply"), NULL), CUTIS_UNSUPPORTED);
    assert_int_equal(cutis_model_write(bones, path_in(f, "o.stl"), NULL), CUTIS_UNSUPPORTED);
    assert_int_equal(cutis_model_write(mesh, path_in(f, "o.off"), NULL), CUTIS_UNSUPPORTED);
    assert_int_equal(cutis_model_write(mesh, path_in(f, "no/o.obj"), NULL), CUTIS_FILE_WRITE);
    assert_int_equal(count_files(f), 0);
    cutis_model_destroy(mesh);
    cutis_model_destroy(bones);
}

// An allocator that fails after n allocations, for every n: no crash, no leak, the right result.
static int fail_after;
static void *failing_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    if (fail_after-- <= 0) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
static void failing_release(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

static void running_out_of_memory_anywhere_leaks_nothing(void **state)
{
    static const struct {
        const char *name, *text;
    } FILES[] = {
        { "a.obj", "v 0 0 0 1 0 0\nv 1 0 0\nv .2 .2 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\ng a\nusemtl m\nf "
                   "1/1/1 2/1/1 3/1/1 4/1/1\nl 1 2\n" },
        { "a.ply", "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float "
                   "y\nproperty float z\nelement face 1\n"
                   "property list uchar int vertex_index\nend_header\n0 0 0 1 0 0 .2 .2 0 0 1 0\n4 "
                   "0 1 2 3\n" },
        { "a.off", "STCNOFF\n4 1 0\n0 0 0 0 0 1 1 1 1 1 0 0\n1 0 0 0 0 1 1 1 1 1 0 0\n"
                   ".2 .2 0 0 0 1 1 1 1 1 0 0\n0 1 0 0 0 1 1 1 1 1 0 0\n4 0 1 2 3 255 0 0\n" },
        { "a.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 "
                   "1 0\nendloop\nendfacet\nendsolid\nsolid b\nfacet normal 0 0 1\nouter loop\n"
                   "vertex 0 0 0\nvertex 0 1 0\nvertex 0 1 1\nendloop\nendfacet\nendsolid\n" },
        { "a.bvh", "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 2 Xposition Yrotation JOINT j { "
                   "OFFSET 0 0 0 End Site { OFFSET 1 1 1 } } }\n"
                   "MOTION Frames: 2\nFrame Time: 1\n1 2\n3 4\n" },
        { "a.xsf",
          "<SKELETON><BONE NAME=\"a\"/><BONE NAME=\"b\"><PARENTID>0</PARENTID></BONE></SKELETON>" },
        { "a.xmf", "<MESH><SUBMESH><VERTEX><POS>0 0 0</POS></VERTEX><FACE VERTEXID=\"0 0 "
                   "0\"/></SUBMESH></MESH>" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        cutis_result result = CUTIS_OUT_OF_MEMORY;
        for (int n = 1; n < 500 && result != CUTIS_OK; n++) {
            cutis_context *context;
            cutis_model *model = NULL;
            fail_after = 1 << 20;
            cutis_context_options options = { .allocator = { failing_allocate, failing_release,
                                                             NULL } };
            assert_int_equal(cutis_context_create(&options, &context), CUTIS_OK);
            uint64_t before = cutis_context_memory(context);
            fail_after = n - 1;
            result = cutis_model_read_memory(context, FILES[i].text, strlen(FILES[i].text),
                                             FILES[i].name, NULL, &model);
            if (result != CUTIS_OK && result != CUTIS_OUT_OF_MEMORY)
                fail_msg("%s: allocation %d: %s", FILES[i].name, n, cutis_context_error(context));
            cutis_model_destroy(model);
            assert_int_equal(cutis_context_memory(context), before);
            cutis_context_destroy(context);
        }
        assert_int_equal(result, CUTIS_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(one_mebibyte_of_anything_takes_less_than_a_second),
        claim(many_different_names_and_corners_stay_linear),
        claim(assimps_bad_files_get_a_named_error),
        claim(the_format_is_found_by_content_then_by_name),
        claim(what_cannot_be_opened_is_said),
        claim(a_library_outside_the_folder_is_left_out),
        claim(formats_that_cannot_hold_a_model_say_so_and_leave_no_file),
        claim(running_out_of_memory_anywhere_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
