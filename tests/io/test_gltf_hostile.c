// Files that lie: each is refused by a named error, within a second and within 64 times its size
// plus 16 MiB, or is read.
#include "support.h"

#include "gltf_make.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

#define TRIANGLE                                                                                   \
    "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"  \
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\"buffers\":[{\"byteLength\":36}],"
#define POSITIONS_OF(count)                                                                        \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":" count                     \
    ",\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[0,0,0]}]}"

static void errors_name_the_place_by_a_json_pointer(void **state)
{
    static const float ZEROS[9];
    static const struct {
        const char *json, *place;
    } CASES[] = {
        { TRIANGLE POSITIONS_OF("4"), "made.glb: /accessors/0: 4 elements" },
        { TRIANGLE POSITIONS_OF("9007199254740991"), "/accessors/0/count" },
        { TRIANGLE POSITIONS_OF("-1"), "/accessors/0/count" },
        { TRIANGLE POSITIONS_OF("1e300"), "/accessors/0/count" },
        { TRIANGLE POSITIONS_OF("\"3\""), "/accessors/0/count: must be an integer" },
        { "\"nodes\":[{\"children\":[1]},{\"children\":[0]}]}", "/nodes/0: is its own ancestor" },
        { "\"nodes\":[{\"children\":[0]}]}", "/nodes/0: is its own ancestor" },
        { "\"nodes\":[{\"children\":[2]},{\"children\":[2]},{}]}",
          "/nodes/1/children/0: node 2 already is a child of node 0" },
        { "\"nodes\":[{\"children\":[7]}]}", "/nodes/0/children/0: index 7" },
        { "\"nodes\":[{\"rotation\":[0,0,0,0]}]}", "/nodes/0/rotation" },
        { "\"nodes\":[{\"translation\":[1e39,0,0]}]}", "/nodes/0/translation/0" },
        { "\"nodes\":[{\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,2]}]}", "/nodes/0/matrix" },
        { "\"nodes\":[{\"name\":\"a\",\"name\":\"b\"}]}", "duplicate object key" },
        { "\"skins\":[{\"joints\":[0]}]}", "/skins/0/joints/0" },
        { "\"scene\":3}", "/scene: index 3" },
        { "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":30,\"byteLength\":80}],\"buffers\":[{"
          "\"byteLength\":36}]}",
          "/bufferViews/0/byteLength" },
        { "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":9007199254740991,\"byteLength\":"
          "9007199254740991}],\"buffers\":[{\"byteLength\":36}]}",
          "/bufferViews/0/byteLength" },
        { "\"bufferViews\":[{\"buffer\":0,\"byteLength\":400}],\"buffers\":[{\"byteLength\":"
          "400}]}",
          "/bufferViews/0/byteLength" },
        { "\"bufferViews\":[{\"buffer\":0,\"byteLength\":8}],\"buffers\":[{\"byteLength\":8,"
          "\"uri\":\"data:;base64,AA==\"}]}",
          "/bufferViews/0/byteLength" },
        { "\"buffers\":[{\"byteLength\":4,\"uri\":\"beside.bin\"}]}", "/buffers/0/uri" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        static glb file;
        cutis_model *model = NULL;
        make_glb(&file, CASES[i].json, ZEROS, sizeof ZEROS);
        assert_int_not_equal(read_glb(context, &file, &model), CUTIS_OK);
        if (!strstr(cutis_context_error(context), CASES[i].place))
            fail_msg("\"%s\" is not in \"%s\"", CASES[i].place, cutis_context_error(context));
    }
}

static void floats_that_are_not_numbers_are_refused(void **state)
{
    float values[9] = { 0 };
    (void)state;
    values[4] = NAN;
    refuse_made(context, TRIANGLE POSITIONS_OF("3"), values, sizeof values, CUTIS_CORRUPT_DATA,
                "/accessors/0: component 1 of element 1");
}

static void uris_that_leave_the_folder_open_nothing(void **state)
{
    static const char *const URIS[] = { "../secret.bin",        "%2e%2e/secret.bin",
                                        "sub/../../secret.bin", "/etc/hostname",
                                        "file:///etc/hostname", "http://localhost/x.bin",
                                        "..%2fsecret.bin",      "link.bin",
                                        "no%zzhex.bin",         "" };
    char folder[] = "/tmp/cutis_uri_XXXXXX", path[256], command[256];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "mkdir %s/in; printf 12345678 > %s/secret.bin; ln -s ../secret.bin %s/in/link.bin",
             folder, folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/in/x.gltf", folder);
    for (size_t i = 0; i < sizeof URIS / sizeof *URIS; i++) {
        cutis_model *model = NULL;
        FILE *file = fopen(path, "w");
        fprintf(file,
                "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":8,\"uri\":\"%s\"}]}",
                URIS[i]);
        fclose(file);
        assert_int_not_equal(cutis_model_read(context, path, NULL, &model), CUTIS_OK);
        assert_non_null(strstr(cutis_context_error(context), "/buffers/0/uri"));
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/// Read in a child process, so that the peak of its memory (jansson's too) can be seen. Returns
/// KiB; fills in the result.
static long child_peak(const char *text, size_t size, int *result, double *elapsed)
{
    int pipe_ends[2];
    struct {
        int result;
        double elapsed;
        long before, after;
    } report = { -1, 0, 0, 0 };
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct rusage usage;
        cutis_model *model = NULL;
        getrusage(RUSAGE_SELF, &usage);
        report.before = usage.ru_maxrss;
        double start = processor_seconds();
        report.result =
            cutis_model_read_memory(context, text, size, "x.gltf",
                                    &(cutis_read_options){ .format = CUTIS_FORMAT_GLTF }, &model);
        report.elapsed = processor_seconds() - start;
        getrusage(RUSAGE_SELF, &usage);
        report.after = usage.ru_maxrss;
        if (write(pipe_ends[1], &report, sizeof report) != sizeof report) _exit(1);
        _exit(0);
    }
    int status = 0;
    close(pipe_ends[1]);
    if (read(pipe_ends[0], &report, sizeof report) != sizeof report) report.result = -1;
    close(pipe_ends[0]);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    *result = report.result;
    *elapsed = report.elapsed;
    return report.after - report.before;
}

/// A text of just under 1 MiB: `before`, then `item` again and again with commas between, then
/// `after`.
static size_t fill_text(char *text, const char *before, const char *item, const char *after)
{
    size_t size = 0, limit = (1 << 20) - strlen(after);
    size += (size_t)sprintf(text, "{\"asset\":{\"version\":\"2.0\"},%s", before);
    for (bool first = true; size + strlen(item) + 1 < limit; first = false)
        size += (size_t)sprintf(text + size, "%s%s", first ? "" : ",", item);
    return size + (size_t)sprintf(text + size, "%s", after);
}

static void a_small_file_takes_bounded_time_and_memory(void **state)
{
    static const struct {
        const char *before, *item, *after;
    } CASES[] = {
        { "\"extras\":[", "{}", "]}" },
        { "\"extras\":[", "[]", "]}" },
        { "\"extras\":[", "0", "]}" },
        { "\"extras\":[", "\"\"", "]}" },
        { "\"extras\":[", "{\"\":{\"\":{}}}", "]}" },
        { "\"nodes\":[", "{}", "]}" },
        { "\"nodes\":[", "{\"mesh\":0}",
          "],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{"
          "\"componentType\":5126,\"count\":1000000,\"type\":"
          "\"VEC3\",\"min\":[0,0,0],\"max\":[0,0,0]}]}" },
        { "\"accessors\":[{\"componentType\":5126,\"count\":100000,\"type\":\"VEC3\",\"min\":[0,0,"
          "0],\"max\":[0,0,0]}],\"meshes\":[{\"primitives\":[",
          "{\"attributes\":{\"POSITION\":0}}", "]}]}" },
        { "\"accessors\":[{\"componentType\":5126,\"count\":4294967295,\"type\":\"VEC3\",\"min\":["
          "0,0,0],\"max\":[0,0,0]}],\"meshes\":[{\"primitives\":[",
          "{\"attributes\":{\"POSITION\":0}}", "]}]}" },
        { "\"accessors\":[", "{\"componentType\":5126,\"count\":4000000000,\"type\":\"MAT4\"}",
          "]}" },
        { "\"nodes\":[{}],\"scenes\":[", "{\"nodes\":[0]}", "]}" },
        { "\"nodes\":[{}],\"skins\":[", "{\"joints\":[0]}", "]}" },
        { "\"nodes\":[{}],\"extensionsUsed\":[\"A\"],\"materials\":[",
          "{\"extensions\":{\"A\":{}}}", "]}" },
        { "\"buffers\":[", "{\"byteLength\":9007199254740991}", "]}" },
        { "\"buffers\":[{\"byteLength\":3,\"uri\":\"data:;base64,AAAA\"}],\"bufferViews\":[",
          "{\"buffer\":0,\"byteLength\":3}", "]}" },
    };
    char *text = malloc(2 << 20);
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        int result;
        double elapsed;
        size_t size = fill_text(text, CASES[i].before, CASES[i].item, CASES[i].after);
        long peak = child_peak(text, size, &result, &elapsed);
        print_message("%-28.28s %s in %.2f s, %ld KiB\n", CASES[i].item,
                      cutis_result_name((cutis_result)result), elapsed, peak);
        assert_true(elapsed < 1 * SLOWED);
        assert_true(SANITIZED || peak <= 64 * 1024 + 16 * 1024);
    }
    free(text);
}

static void deep_nesting_is_refused_by_its_depth(void **state)
{
    enum { DEPTH = 100000 };
    char *text = malloc(2 * DEPTH + 64);
    cutis_model *model = NULL;
    (void)state;
    size_t size = (size_t)sprintf(text, "{\"asset\":{\"version\":\"2.0\"},\"extras\":");
    memset(text + size, '[', DEPTH);
    memset(text + size + DEPTH, ']', DEPTH);
    size += 2 * DEPTH;
    text[size++] = '}';
    assert_int_equal(cutis_model_read_memory(context, text, size, "x.gltf",
                                             &(cutis_read_options){ .format = CUTIS_FORMAT_GLTF },
                                             &model),
                     CUTIS_LIMIT_EXCEEDED);
    assert_non_null(strstr(cutis_context_error(context), "nested deeper"));
    free(text);
}

static void read_bytes(const uint8_t *bytes, size_t size)
{
    cutis_model *model = NULL;
    uint8_t *exact = malloc(size ? size : 1); // so that a sanitizer sees one byte too far
    memcpy(exact, bytes, size);
    cutis_result result = cutis_model_read_memory(context, exact, size, "x.glb", NULL, &model);
    if (result != CUTIS_OK) assert_true(strlen(cutis_context_error(context)) > 0);
    cutis_model_destroy(model);
    free(exact);
}

#define ASSETS CUTIS_SHARED_DATA "/gltf-sample-assets/"
static const char *const SEEDS[] = { CUTIS_SOURCE_DIR "/fuzz/seeds/everything.glb",
                                     CUTIS_SOURCE_DIR "/fuzz/seeds/handled.glb",
                                     ASSETS "RiggedSimple/glTF-Binary/RiggedSimple.glb",
                                     ASSETS "AnimatedMorphCube/glTF-Binary/AnimatedMorphCube.glb" };
enum { SEED_COUNT = sizeof SEEDS / sizeof *SEEDS, OWN_SEEDS = 2 };

/// Our own seeds, and the real files where they are there.
static bool read_seed(size_t s, void **data, size_t *size)
{
    if (s >= OWN_SEEDS && access(SEEDS[s], F_OK) != 0) return false;
    assert_ok(context, cutis_file_read(context, SEEDS[s], data, size));
    return true;
}

static void every_truncation_of_a_glb_is_refused(void **state)
{
    const cutis_read_options options = { .format = CUTIS_FORMAT_GLB };
    (void)state;
    for (size_t s = 0; s < SEED_COUNT; s++) {
        void *data;
        size_t size;
        if (!read_seed(s, &data, &size)) continue;
        for (size_t cut = 0; cut < size; cut += cut < 2000 ? 1 : 97) {
            cutis_model *model = NULL;
            if (cutis_model_read_memory(context, data, cut, "x.glb", &options, &model) == CUTIS_OK)
                fail_msg("%s: %zu of %zu bytes were read", SEEDS[s], cut, size);
        }
        cutis_memory_free(context, data, size);
    }
}

static void changed_bytes_never_crash_the_reader(void **state)
{
    (void)state;
    for (size_t s = 0; s < SEED_COUNT; s++) {
        void *data;
        size_t size;
        if (!read_seed(s, &data, &size)) continue;
        uint8_t *bytes = malloc(size);
        uint32_t json_size;
        memcpy(&json_size, (uint8_t *)data + 12, 4);
        for (uint64_t round = 0; round < (SANITIZED ? 1500 : 4000); round++) {
            memcpy(bytes, data, size);
            uint64_t count = 1 + cutis_random_bits(s, 1, round) % 3;
            for (uint64_t i = 0; i < count; i++) {
                uint64_t bits = cutis_random_bits(s, 2 + i, round);
                // Mostly the JSON: digits for digits keep it well-formed and make it lie.
                size_t at = bits % 8 ? 20 + (bits >> 8) % json_size : (bits >> 8) % size;
                uint8_t old = bytes[at];
                bytes[at] = old >= '0' && old <= '9' ? (uint8_t)('0' + (bits >> 40) % 10)
                                                     : (uint8_t)(bits >> 48);
            }
            read_bytes(bytes, size);
        }
        free(bytes);
        cutis_memory_free(context, data, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(errors_name_the_place_by_a_json_pointer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(floats_that_are_not_numbers_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(uris_that_leave_the_folder_open_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_small_file_takes_bounded_time_and_memory, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(deep_nesting_is_refused_by_its_depth, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_truncation_of_a_glb_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_bytes_never_crash_the_reader, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
