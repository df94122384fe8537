/// Draco's decoder is not ours: whatever it does to a stream, and whatever stands in its place,
/// reading ends with a result, one line, and not a byte allocated. Needs the program cutis-draco.
#include "files.h"

#include "base/os/os.h"
#include "io/bytes.h"
#include "io/gltf/draco.h"

#include <cutis/synth.h>
#include <time.h>

/// A compressed mesh: the bytes of a GLB, and where in it the only stream is.
typedef struct packed_file {
    uint8_t *data;
    size_t size, start, length;
} packed_file;

/// A character, and a sheet so small that a million changed ones are a matter of minutes.
static packed_file packed, sheet;

static void need_program(void)
{
    if (cutis_gltf_has_draco()) return;
    print_message("skip: cutis-draco is not built: libdraco-dev is not there\n");
    skip();
}

static long number_after(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    assert_non_null(at);
    return strtol(at + strlen(word), NULL, 10);
}

/// Write a model compressed, and find its stream. The model goes.
static void pack(fixture *f, cutis_model *model, packed_file *out)
{
    assert_ok(f->context,
              cutis_model_write(model, path_in(f, "packed.glb"),
                                &(cutis_write_options){ .compression = CUTIS_COMPRESSION_DRACO }));
    cutis_model_destroy(model);
    FILE *file = fopen(path_in(f, "packed.glb"), "rb");
    assert_non_null(file);
    out->data = malloc(1 << 22);
    out->size = fread(out->data, 1, 1 << 22, file);
    fclose(file);
    // The stream starts with its name; the view that holds it is the one of the extension.
    const size_t json = cutis_load_u32(out->data + 12);
    char *text = calloc(1, json + 1);
    memcpy(text, out->data + 20, json);
    const char *extension = strstr(text, "\"KHR_draco_mesh_compression\":{\"bufferView\":");
    assert_non_null(extension);
    for (size_t i = 28 + json; i + 5 < out->size && !out->start; i++)
        if (memcmp(out->data + i, "DRACO", 5) == 0) out->start = i;
    assert_true(out->start > 0);
    const char *view = strstr(text, "\"bufferViews\":[");
    for (long v = number_after(extension, "\"bufferView\":"); v >= 0; v--)
        view = strchr(view + 1, '{');
    out->length = (size_t)number_after(view, "\"byteLength\":");
    assert_true(out->start + out->length <= out->size);
    free(text);
}

static void make_packed(fixture *f)
{
    cutis_model *model = NULL;
    need_program();
    if (packed.data) return;
    assert_ok(f->context, cutis_synth_create(f->context,
                                             &(cutis_synth_options){ .body = CUTIS_BODY_ARM,
                                                                     .size = CUTIS_BODY_SIZE_LOW },
                                             &model));
    pack(f, model, &packed);
}

/// A bent sheet of 12 x 12 vertices with texture coordinates.
static void make_sheet(fixture *f)
{
    enum { SIDE = 12 };
    cutis_model *model = NULL;
    if (sheet.data) return;
    FILE *file = fopen(path_in(f, "sheet.obj"), "wb");
    assert_non_null(file);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int x = i % SIDE, y = i / SIDE;
        fprintf(file, "v %d %d %g\nvt %g %g\n", x, y, 0.05 * x * y, x / 11.0, y / 11.0);
    }
    for (int i = 1; i < SIDE * (SIDE - 1); i++)
        if (i % SIDE)
            fprintf(file, "f %d/%d %d/%d %d/%d %d/%d\n", i, i, i + 1, i + 1, i + SIDE + 1,
                    i + SIDE + 1, i + SIDE, i + SIDE);
    fclose(file);
    assert_ok(f->context, cutis_model_read(f->context, path_in(f, "sheet.obj"), NULL, &model));
    pack(f, model, &sheet);
}

static cutis_result read_changed(fixture *f, const uint8_t *data, size_t size)
{
    cutis_model *model = NULL;
    cutis_result result =
        cutis_model_read_memory(f->context, data, size, "packed.glb", NULL, &model);
    const char *error = cutis_context_error(f->context);
    if (result != CUTIS_OK) {
        assert_null(model);
        assert_non_null(strstr(error, "packed.glb"));
        assert_null(strchr(error, '\n'));
    }
    cutis_model_destroy(model);
    assert_int_equal(cutis_context_memory(f->context), 0);
    return result;
}

static void what_is_written_is_read_again(void **state)
{
    fixture *f = *state;
    make_packed(f);
    assert_int_equal(read_changed(f, packed.data, packed.size), CUTIS_OK);
}

/// CUTIS_GENERATED: how many (./dev soak: 300,000). Every sixteenth is of the character.
static void changed_streams_are_decoded_or_refused_in_one_line(void **state)
{
    fixture *f = *state;
    make_packed(f);
    make_sheet(f);
    const char *wanted = getenv("CUTIS_GENERATED");
    const uint64_t count = wanted ? strtoull(wanted, NULL, 10) : 150;
    uint8_t *changed = malloc(packed.size > sheet.size ? packed.size : sheet.size);
    uint64_t refused = 0;
    for (uint64_t seed = 0; seed < count; seed++) {
        const packed_file *from = seed % 16 ? &sheet : &packed;
        memcpy(changed, from->data, from->size);
        const size_t header = // counts stand at its beginning
            (seed / 16 + seed) % 2 && from->length > 200 ? 200 : from->length;
        for (uint64_t i = 0; i <= seed % 4; i++)
            changed[from->start + (size_t)random_in(seed, 2 * i, 0, (double)header)] =
                (uint8_t)random_in(seed, 2 * i + 1, 0, 256);
        refused += read_changed(f, changed, from->size) != CUTIS_OK;
    }
    print_message("%llu of %llu refused\n", (unsigned long long)refused, (unsigned long long)count);
    assert_true(refused > count / 10);
    free(changed);
}

static void streams_cut_off_are_refused(void **state)
{
    fixture *f = *state;
    make_packed(f);
    uint8_t *changed = malloc(packed.size);
    for (size_t keep = 0; keep < packed.length; keep += packed.length / 12) {
        memcpy(changed, packed.data, packed.size);
        memset(changed + packed.start + keep, 0, packed.length - keep);
        // Zeros may be a value of the last attributes; what holds the triangles must be there.
        const cutis_result result = read_changed(f, changed, packed.size);
        if (keep < packed.length / 12) assert_int_equal(result, CUTIS_CORRUPT_DATA);
    }
    free(changed);
}

/// Reading with a script in place of the program.
static void stand_in(fixture *f, const char *script, cutis_result wanted, const char *words)
{
    const char *path = path_in(f, "helper");
    make_packed(f);
    write_text(f, "helper", script);
    assert_int_equal(chmod(path, 0755), 0);
    setenv("CUTIS_DRACO", path, 1);
    const double start = cutis_os_seconds();
    const cutis_result result = read_changed(f, packed.data, packed.size);
    unsetenv("CUTIS_DRACO");
    if (result != wanted || !strstr(cutis_context_error(f->context), words))
        fail_msg("'%s' gave %s '%s', wanted %s '%s'", script, cutis_result_name(result),
                 cutis_context_error(f->context), cutis_result_name(wanted), words);
    assert_true(cutis_os_seconds() - start < 40);
}

static void a_decoder_that_fails_is_named_in_one_line(void **state)
{
    fixture *f = *state;
    stand_in(f, "#!/bin/sh\nkill -SEGV $$\n", CUTIS_CORRUPT_DATA, "crashed");
    stand_in(f, "#!/bin/sh\ncat >/dev/null; kill -ABRT $$\n", CUTIS_CORRUPT_DATA, "crashed");
    stand_in(f, "#!/bin/sh\nexit 2\n", CUTIS_CORRUPT_DATA, "failed");
    stand_in(f, "#!/bin/sh\nexit 3\n", CUTIS_LIMIT_EXCEEDED, "MiB");
    stand_in(f, "#!/bin/sh\ncat >/dev/null\n", CUTIS_CORRUPT_DATA, "cannot be decompressed");
    stand_in(f, "#!/bin/sh\nexec yes\n", CUTIS_CORRUPT_DATA, "says more");
    stand_in(f, "#!/bin/sh\nhead -c 100 /dev/zero\n", CUTIS_CORRUPT_DATA, "100 bytes");
    stand_in(f, "no program", CUTIS_UNSUPPORTED, "cannot be started");
}

static void a_decoder_that_hangs_or_eats_memory_is_stopped(void **state)
{
    fixture *f = *state;
    stand_in(f, "#!/bin/sh\nwhile :; do :; done\n", CUTIS_LIMIT_EXCEEDED, "more than 1 s");
    // A shell that runs out of address space says so and fails.
    stand_in(f, "#!/bin/sh\nx=xxxxxxxxxxxxxxxx; while :; do x=$x$x$x$x; done\n", CUTIS_CORRUPT_DATA,
             "");
}

static void a_program_that_anybody_may_change_is_not_run(void **state)
{
    fixture *f = *state;
    make_packed(f);
    write_text(f, "loose", "#!/bin/sh\n");
    assert_int_equal(chmod(path_in(f, "loose"), 0777), 0);
    setenv("CUTIS_DRACO", path_in(f, "loose"), 1);
    assert_int_equal(read_changed(f, packed.data, packed.size), CUTIS_UNSUPPORTED_FORMAT);
    assert_non_null(strstr(cutis_context_error(f->context), "libdraco-dev"));
    assert_int_equal(chmod(path_in(f, "loose"), 0775), 0); // a group
    assert_int_equal(read_changed(f, packed.data, packed.size), CUTIS_UNSUPPORTED_FORMAT);
    setenv("CUTIS_DRACO", "relative", 1);
    assert_int_equal(read_changed(f, packed.data, packed.size), CUTIS_UNSUPPORTED_FORMAT);
    unsetenv("CUTIS_DRACO");
}

/// Lies about what a stream holds: of each, what to write over the JSON, length kept.
static void lies_about_a_stream_are_refused(void **state)
{
    fixture *f = *state;
    make_packed(f);
    static const struct {
        const char *from, *to, *words;
    } LIES[] = {
        { "\"count\":2972", "\"count\":2971", "CUTIS_DRACO_INVALID" },
        { "\"POSITION\":0", "\"POSITION\":9", "" },
        { "compression\":{\"bufferView\":", "compression\":{\"bufferVieW\":",
          "CUTIS_DRACO_INVALID" },
    };
    const size_t json = cutis_load_u32(packed.data + 12);
    for (size_t i = 0; i < sizeof LIES / sizeof *LIES; i++) {
        uint8_t *changed = malloc(packed.size);
        memcpy(changed, packed.data, packed.size);
        size_t replaced = 0, length = strlen(LIES[i].from);
        for (size_t at = 20; at + length < 20 + json; at++) {
            if (memcmp(changed + at, LIES[i].from, length) != 0) continue;
            memcpy(changed + at, LIES[i].to, length);
            replaced++;
        }
        assert_true(replaced > 0);
        assert_int_equal(read_changed(f, changed, packed.size), CUTIS_CORRUPT_DATA);
        assert_non_null(strstr(cutis_context_error(f->context), LIES[i].words));
        free(changed);
    }
}

static int drop_packed(void **state)
{
    (void)state;
    free(packed.data), free(sheet.data);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_streams_are_decoded_or_refused_in_one_line, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(streams_cut_off_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_decoder_that_fails_is_named_in_one_line, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_decoder_that_hangs_or_eats_memory_is_stopped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_program_that_anybody_may_change_is_not_run, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lies_about_a_stream_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("draco", tests, NULL, drop_packed);
}
