// What inspecting a glTF promises: every finding has the validator's code and a place, several
// findings come in one run, a right file has none, and a strict read refuses what is harmless but
// wrong. The scripts test_gltf_strict.sh runs judge thousands of files through `--inspect`.
#include "support.h"

#include "gltf_make.h"
#include "inspect_files.h"

static cutis_context *context;

static int set_up(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context) == CUTIS_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    uint64_t left = cutis_context_memory(context);
    (void)state;
    cutis_context_destroy(context);
    return left == 0 ? 0 : -1;
}

/// The errors of a GLB as "CODE place; CODE place; ".
static void inspect_glb(const glb *file, char *out, size_t capacity)
{
    cutis_check_report *report = NULL;
    const cutis_issue *issues;
    size_t used = 0;
    assert_ok(context,
              cutis_file_inspect_memory(context, file->bytes, file->size, "made.glb", &report));
    uint32_t count = cutis_check_report_issues(report, &issues);
    out[0] = 0;
    for (uint32_t i = 0; i < count && used < capacity; i++)
        if (issues[i].severity == 0)
            used += (size_t)snprintf(out + used, capacity - used, "%s %s; ", issues[i].code,
                                     issues[i].place);
    cutis_check_report_destroy(report);
}

static void expect(const char *json, const void *data, size_t size, const char *findings)
{
    static glb file;
    char found[1024];
    make_glb(&file, json, data, size);
    inspect_glb(&file, found, sizeof found);
    assert_string_equal(found, findings);
}

static void one_run_lists_all_of_a_phase_with_pointers(void **state)
{
    (void)state;
    expect("\"nodes\":[{\"mesh\":4,\"name\":5},{\"children\":[]},{\"rotation\":[0,0,0,7]}]}", NULL,
           0,
           "UNRESOLVED_REFERENCE /nodes/0/mesh; TYPE_MISMATCH /nodes/0/name; "
           "EMPTY_ENTITY /nodes/1/children; VALUE_NOT_IN_RANGE /nodes/2/rotation/3; ");
    expect("\"nodes\":[{\"children\":[1]},{}]}", NULL, 0, "");
}

static void binary_containers_are_named_by_byte(void **state)
{
    static glb file;
    char found[1024];
    (void)state;
    make_glb(&file, "\"nodes\":[{}]}", NULL, 0);
    file.bytes[12] ^= 1; // the length of the JSON chunk
    inspect_glb(&file, found, sizeof found);
    assert_string_equal(found, "GLB_CHUNK_LENGTH_UNALIGNED byte 12; ");
    file.bytes[12] ^= 1;
    file.bytes[4] = 1;
    inspect_glb(&file, found, sizeof found);
    assert_string_equal(found, "GLB_INVALID_VERSION byte 4; ");
}

static void strict_reading_refuses_what_is_harmless(void **state)
{
    static const float DATA[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 2, 0, 0, 2 };
    static const char JSON[] =
        "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,"
        "\"NORMAL\":1}}]}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},{\"buffer\":0,"
        "\"byteOffset\":36,\"byteLength\":36}],\"buffers\":[{\"byteLength\":72}],\"accessors\":[{"
        "\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"min\":[0,0,0],"
        "\"max\":[1,1,0]},{\"bufferView\":1,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}]"
        "}";
    static glb file;
    cutis_model *model = NULL;
    (void)state;
    make_glb(&file, JSON, DATA, sizeof DATA);
    assert_ok(context,
              cutis_model_read_memory(context, file.bytes, file.size, "x.glb", NULL, &model));
    cutis_model_destroy(model);
    model = NULL;
    assert_int_equal(cutis_model_read_memory(context, file.bytes, file.size, "x.glb",
                                             &(cutis_read_options){ .strict = true }, &model),
                     CUTIS_CORRUPT_DATA);
    assert_null(model);
    assert_non_null(strstr(cutis_context_error(context), "[ACCESSOR_VECTOR3_NON_UNIT]"));
    expect(JSON, DATA, sizeof DATA,
           "ACCESSOR_VECTOR3_NON_UNIT /meshes/0/primitives/0/attributes/NORMAL; ");
}

static void other_formats_have_what_their_reader_refuses(void **state)
{
    static const char OBJ[] = "v 0 0 0\nf 1 2 3\n";
    cutis_check_report *report = NULL;
    const cutis_issue *issues;
    (void)state;
    assert_ok(context, cutis_file_inspect_memory(context, OBJ, sizeof OBJ - 1, "x.obj", &report));
    assert_int_equal(cutis_check_report_issues(report, &issues), 1);
    assert_string_equal(issues[0].code, "CORRUPT_DATA");
    assert_string_equal(issues[0].place, "line 2");
    assert_non_null(strstr(issues[0].text, "vert"));
    cutis_check_report_destroy(report);
    assert_int_equal(cutis_file_inspect(context, "/nowhere/x.gltf", &report), CUTIS_FILE_NOT_FOUND);
}

static void a_file_that_is_wrong_everywhere_has_a_thousand_findings(void **state)
{
    enum { COUNT = 5000 };
    char *text = malloc(16 * COUNT + 64);
    cutis_check_report *report = NULL;
    (void)state;
    size_t size = (size_t)sprintf(text, "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{}");
    for (int i = 0; i < COUNT; i++) size += (size_t)sprintf(text + size, ",{\"mesh\":1}");
    size += (size_t)sprintf(text + size, "]}");
    assert_ok(context, cutis_file_inspect_memory(context, text, size, "x.gltf", &report));
    // The last says that nothing after them was looked at.
    const cutis_issue *issues = NULL;
    assert_int_equal(cutis_check_report_issues(report, &issues), 1001);
    assert_string_equal(issues[1000].code, "NOT_CHECKED");
    cutis_check_report_destroy(report);
    free(text);
}

static void what_is_not_looked_at_is_named(void **state)
{
    static const char JSON[] =
        "{\"asset\":{\"version\":\"2.0\"},\"extensionsUsed\":[\"FOO_bar\",\"KHR_materials_ior\"],"
        "\"nodes\":[{\"extensions\":{\"FOO_bar\":{\"any\":[]}}}],\"images\":[{\"uri\":\"a.png\"}]}";
    static const char *const PLACES[] = { "/extensionsUsed/0", "/images", "/images/0" };
    cutis_check_report *report = NULL;
    const cutis_issue *issues;
    uint32_t found = 0;
    (void)state;
    assert_ok(context,
              cutis_file_inspect_memory(context, JSON, sizeof JSON - 1, "x.gltf", &report));
    uint32_t count = cutis_check_report_issues(report, &issues);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_not_equal(issues[i].severity, 0);
        if (strcmp(issues[i].code, "NOT_CHECKED") != 0) continue;
        assert_true(found < 3);
        assert_string_equal(issues[i].place, PLACES[found++]);
    }
    assert_int_equal(found, 3);
    cutis_check_report_destroy(report);
}

static void parsed_json_counts_towards_the_memory_limit(void **state)
{
    // 40,000 numbers take about 2.2 MiB in the parser: more than this context allows, though the
    // text is 80 KB.
    enum { COUNT = 40000 };
    cutis_context *small = NULL;
    cutis_model *model = NULL;
    char *text = malloc(2 * COUNT + 64);
    (void)state;
    assert_int_equal(cutis_context_create(
                         &(cutis_context_options){ .limits = { .memory_bytes = 1 << 20 } }, &small),
                     CUTIS_OK);
    size_t size = (size_t)sprintf(text, "{\"asset\":{\"version\":\"2.0\"},\"extras\":[0");
    for (int i = 0; i < COUNT; i++) size += (size_t)sprintf(text + size, ",0");
    size += (size_t)sprintf(text + size, "]}");
    assert_int_equal(cutis_model_read_memory(small, text, size, "x.gltf", NULL, &model),
                     CUTIS_LIMIT_EXCEEDED);
    assert_int_equal(cutis_context_memory(small), 0);
    assert_ok(context, cutis_model_read_memory(context, text, size, "x.gltf", KEEP_SOURCE, &model));
    assert_true(cutis_context_memory(context) > 2 << 20); // the model keeps its document
    cutis_model_destroy(model);
    cutis_context_destroy(small);
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_run_lists_all_of_a_phase_with_pointers, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(binary_containers_are_named_by_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strict_reading_refuses_what_is_harmless, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_formats_have_what_their_reader_refuses, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_is_wrong_everywhere_has_a_thousand_findings,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_looked_at_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parsed_json_counts_towards_the_memory_limit, set_up,
                                        tear_down),
    };
    if (argc == 2 && strcmp(argv[1], "--inspect") == 0) return inspect_files();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
