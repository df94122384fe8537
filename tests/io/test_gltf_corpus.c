// Every glTF and GLB of fuzz/seeds and, where they are there, of the shared assets, good and bad:
// what reads is written in both containers and reads back equal; what does not read is refused by
// an error that names the file; nothing leaks. With `--write FOLDER` it writes the rewritten files
// for the validator's script and prints "IN OUT" lines instead.
#include "support.h"

#include "gltf_compare.h"

#include <ftw.h>
#include <strings.h>
#include <unistd.h>

enum { FILE_MAX = 4096 };
static char *files[FILE_MAX];
static int file_count;

static int note_file(const char *path, const struct stat *info, int kind, struct FTW *position)
{
    const char *dot = strrchr(path, '.');
    (void)info;
    (void)position;
    if (kind == FTW_F && dot && (strcasecmp(dot, ".gltf") == 0 || strcasecmp(dot, ".glb") == 0) &&
        file_count < FILE_MAX)
        files[file_count++] = strdup(path);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_files(bool own)
{
    if (file_count) return;
    if (own) nftw(CUTIS_SOURCE_DIR "/fuzz/seeds", note_file, 32, FTW_PHYS);
    if (shared_is_there(".")) nftw(shared_path("."), note_file, 32, FTW_PHYS);
    qsort(files, (size_t)file_count, sizeof *files, by_name);
}

/// Written anew: what Cutis does not model is gone, but it is a file that reads.
static bool survives_without_its_source(cutis_context *context, const char *file, const char *out)
{
    cutis_model *model = NULL, *again = NULL;
    const bool good = cutis_model_read(context, file, NULL, &model) == CUTIS_OK &&
                      cutis_model_write(model, out, NULL) == CUTIS_OK &&
                      cutis_model_read(context, out, NULL, &again) == CUTIS_OK &&
                      cutis_model_vertex_count(model) == cutis_model_vertex_count(again);
    cutis_model_destroy(model);
    cutis_model_destroy(again);
    return good;
}

/// Whether reading noted what can only be written with nodes that are added, or with directions
/// that are made up.
static bool is_written_otherwise(const cutis_model *model)
{
    static const char *const CODES[] = { "SKIN_NO_COMMON_ROOT", "NODE_MATRIX_NON_TRS",
                                         "ACCESSOR_VECTOR3_NON_UNIT" };
    const cutis_issue *issues;
    const uint32_t count = cutis_model_issues(model, &issues);
    for (uint32_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof CODES / sizeof *CODES; k++)
            if (strcmp(issues[i].code, CODES[k]) == 0) return true;
    return false;
}

/// Empty when the file is refused or survives; else what is wrong.
static void round_trip(const char *file, const char *extension, char *why)
{
    char out[4096], beside[4096], inner[256];
    cutis_context *context = NULL;
    cutis_model *model = NULL, *again = NULL;
    *why = 0;
    snprintf(out, sizeof out, "/tmp/cutis_gltf_%d%s", (int)getpid(), extension);
    snprintf(beside, sizeof beside, "/tmp/cutis_gltf_%d.bin", (int)getpid());
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    if (cutis_model_read(context, file, KEEP_SOURCE, &model) != CUTIS_OK) {
        const char *name = strrchr(file, '/') + 1;
        if (!strstr(cutis_context_error(context), name))
            snprintf(why, 256, "the error does not name the file: %.180s",
                     cutis_context_error(context));
    } else if (cutis_model_write(model, out, NULL) != CUTIS_OK) {
        snprintf(why, 256, "not written: %.200s", cutis_context_error(context));
    } else if (cutis_model_read(context, out, NULL, &again) != CUTIS_OK) {
        snprintf(why, 256, "not read again: %.200s", cutis_context_error(context));
    } else if (!is_written_otherwise(model) && !same_models(model, again, inner)) {
        snprintf(why, 256, "differs: %.200s", inner);
    } else if (!survives_without_its_source(context, file, out)) {
        snprintf(why, 256, "without its source: %.200s", cutis_context_error(context));
    }
    cutis_model_destroy(again);
    cutis_model_destroy(model);
    if (cutis_context_memory(context) != 0 && !*why) snprintf(why, 256, "memory was left behind");
    cutis_context_destroy(context);
    unlink(out);
    unlink(beside);
}

static void check_all(const char *extension)
{
    char why[256];
    int failures = 0;
    find_files(true);
    for (int i = 0; i < file_count; i++) {
        round_trip(files[i], extension, why);
        if (!*why) continue;
        print_message("%s: %s\n", files[i], why);
        failures++;
    }
    print_message("%d files, %d failures\n", file_count, failures);
    assert_true(file_count > (shared_is_there(".") ? 300 : 7));
    assert_int_equal(failures, 0);
}

static void every_file_that_reads_survives_gltf_and_every_other_is_refused_by_name(void **state)
{
    (void)state;
    check_all(".gltf");
}

static void every_file_that_reads_survives_glb_and_every_other_is_refused_by_name(void **state)
{
    (void)state;
    check_all(".glb");
}

static int write_all(const char *folder)
{
    find_files(false);
    for (int i = 0; i < file_count; i++) {
        cutis_context *context = NULL;
        cutis_model *model = NULL;
        char out[4096];
        const char *dot = strrchr(files[i], '.');
        if (cutis_context_create(NULL, &context) != CUTIS_OK) return 1;
        if (cutis_model_read(context, files[i], KEEP_SOURCE, &model) == CUTIS_OK) {
            for (int both = 0; both < 2; both++) {
                const char *extension = both == (strcasecmp(dot, ".glb") == 0) ? ".gltf" : ".glb";
                snprintf(out, sizeof out, "%s/%d%s", folder, i, extension);
                if (cutis_model_write(model, out, NULL) == CUTIS_OK)
                    printf("%s\t%s\n", files[i], out);
            }
        } else {
            printf("%s\t-\n", files[i]);
        }
        cutis_model_destroy(model);
        cutis_context_destroy(context);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_that_reads_survives_gltf_and_every_other_is_refused_by_name),
        cmocka_unit_test(every_file_that_reads_survives_glb_and_every_other_is_refused_by_name),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_all(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
