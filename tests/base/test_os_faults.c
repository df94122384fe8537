/// Every call to the operating system may fail: saving over a file and reading it again, with each
/// call failing in turn. A failure is a result code with a text; the old file stays whole, no
/// temporary file, open file or memory is left, and trying again works. Interrupted calls and short
/// counts are no failures.
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct {
    bool armed;
    long calls, fail_at, failed;
    int error; ///< errno of the failing call
    bool
        shorts; ///< read and write do only one byte at a time, and are interrupted every other time
    bool turn;
    const char *call; ///< that failed
} fault;

static bool fails(const char *name)
{
    if (!fault.armed || fault.shorts) return false;
    if (++fault.calls != fault.fail_at) return false;
    fault.failed++;
    fault.call = name;
    errno = fault.error;
    return true;
}

static bool interrupts(void)
{
    if (!fault.armed || !fault.shorts) return false;
    fault.turn = !fault.turn;
    errno = EINTR;
    return fault.turn;
}

static size_t amount(size_t size)
{
    return fault.armed && fault.shorts && size > 700 ? 700 : size;
}

#define WRAP(type, name, parameters, arguments, bad)                                               \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails(#name) ? bad : __real_##name arguments;                                       \
    }
WRAP(int, fsync, (int file), (file), -1)
WRAP(int, rename, (const char *a, const char *b), (a, b), -1)
WRAP(int, fstat, (int file, struct stat *out), (file, out), -1)
WRAP(int, stat, (const char *path, struct stat *out), (path, out), -1)
WRAP(int, lstat, (const char *path, struct stat *out), (path, out), -1)
WRAP(int, faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags), -1)
WRAP(char *, realpath, (const char *path, char *out), (path, out), NULL)
WRAP(DIR *, opendir, (const char *path), (path), NULL)
WRAP(struct dirent *, readdir, (DIR * folder), (folder), NULL)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    return fails("open") ? -1 : __real_open(path, flags, 0600);
}
int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file) // the file is closed all the same, as on Linux
{
    bool bad = fails("close");
    int error = errno, result = __real_close(file);
    if (bad) errno = error;
    return bad ? -1 : result;
}
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path)
{
    return __real_unlink(path);
}
ssize_t __real_read(int file, void *data, size_t size);
ssize_t __wrap_read(int file, void *data, size_t size);
ssize_t __wrap_read(int file, void *data, size_t size)
{
    if (fails("read") || interrupts()) return -1;
    return __real_read(file, data, amount(size));
}
ssize_t __real_write(int file, const void *data, size_t size);
ssize_t __wrap_write(int file, const void *data, size_t size);
ssize_t __wrap_write(int file, const void *data, size_t size)
{
    if (fails("write") || interrupts()) return -1;
    return __real_write(file, data, amount(size));
}
ssize_t __real_pwrite(int file, const void *data, size_t size, off_t at);
ssize_t __wrap_pwrite(int file, const void *data, size_t size, off_t at);
ssize_t __wrap_pwrite(int file, const void *data, size_t size, off_t at)
{
    if (fails("pwrite") || interrupts()) return -1;
    return __real_pwrite(file, data, amount(size), at);
}

static char folder[] = "/tmp/cutis-faults-XXXXXX";
static char target[64];

static int open_files(void)
{
    int count = 0;
    for (int file = 0; file < 256; file++) count += fcntl(file, F_GETFD) >= 0;
    return count;
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *all = __real_opendir(folder);
    for (struct dirent *entry; (entry = __real_readdir(all));)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(all);
    return count;
}

static size_t host_live;

static void *count_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory) host_live += size;
    return memory;
}

static void count_release(void *user, void *memory, size_t size)
{
    (void)user;
    host_live -= size;
    free(memory);
}

static uint64_t hash_of_file(const char *path)
{
    uint64_t hash = 14695981039346656037ull;
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    for (int c; (c = getc(file)) != EOF;) hash = (hash ^ (uint64_t)c) * 1099511628211ull;
    fclose(file);
    return hash;
}

static cutis_context *context;
static cutis_model *model;

/// Save the model over the target and read it back, with call `fail_at` failing. @return reached
static bool save_and_load(const char *extension, int error, long fail_at)
{
    cutis_model *back = NULL;
    const size_t live = host_live;
    snprintf(target, sizeof target, "%s/body.%s", folder, extension);
    const uint64_t old = hash_of_file(target);
    const int descriptors = open_files(), files = files_in_folder();
    fault.armed = true, fault.calls = fault.failed = 0;
    fault.fail_at = fail_at, fault.error = error;
    cutis_result written = cutis_model_write(model, target, NULL);
    bool write_failed = fault.failed > 0;
    if (written != CUTIS_OK) assert_true(cutis_context_error(context)[0] != 0);
    cutis_result read = cutis_model_read(context, target, NULL, &back);
    fault.armed = false;
    bool reached = fault.failed > 0;
    if (written != CUTIS_OK) assert_true(write_failed);
    if (read != CUTIS_OK) assert_true(reached);
    assert_true(hash_of_file(target) == old); // the same model: whole, old or new
    assert_int_equal(files_in_folder(), files);
    assert_int_equal(open_files(), descriptors);
    cutis_model_destroy(back);
    if (host_live != live)
        fail_msg("%s fails (call %ld): %zu bytes leak", fault.call, fail_at, host_live - live);
    return reached;
}

static void check_format(const char *extension)
{
    static const int errors[] = { EIO, ENOSPC, EACCES, EMFILE };
    long calls = 0;
    cutis_model *back = NULL;
    snprintf(target, sizeof target, "%s/body.%s", folder, extension);
    assert_ok(context, cutis_model_write(model, target, NULL)); // the old file
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
        for (long k = 1; save_and_load(extension, errors[e], k); k++) calls = k;
    print_message("%s: %ld calls, each failing 4 ways\n", extension, calls);
    assert_true(calls >= 8);
    assert_ok(context, cutis_model_write(model, target, NULL)); // afterwards all is as before
    assert_ok(context, cutis_model_read(context, target, NULL, &back));
    cutis_model_destroy(back);
}

static void every_call_fails_while_a_glb_is_saved_and_read(void **state)
{
    (void)state;
    check_format("glb");
}

static void every_call_fails_while_a_gltf_with_its_buffer_is_saved_and_read(void **state)
{
    (void)state;
    check_format("gltf");
}

static void every_call_fails_while_an_obj_is_saved_and_read(void **state)
{
    (void)state;
    check_format("obj");
}

// Where no old file was, a failed save leaves nothing: no .mtl without its .obj, no .bin without
// its .gltf.
static void a_save_of_two_files_makes_both_or_none(void **state)
{
    (void)state;
    static const char *const NAMES[][2] = { { "new.obj", "new.mtl" }, { "new.gltf", "new.bin" } };
    for (int n = 0; n < 2; n++) {
        char paths[2][64];
        for (int i = 0; i < 2; i++)
            snprintf(paths[i], sizeof paths[i], "%s/%s", folder, NAMES[n][i]);
        const int files = files_in_folder(), descriptors = open_files();
        long k = 0;
        do {
            fault.armed = true, fault.calls = fault.failed = 0;
            fault.fail_at = ++k, fault.error = ENOSPC;
            cutis_result result = cutis_model_write(model, paths[0], NULL);
            fault.armed = false;
            if (files_in_folder() != files + (result == CUTIS_OK ? 2 : 0))
                fail_msg("%s fails (call %ld): one of two files is left", fault.call, k);
            assert_int_equal(open_files(), descriptors);
            for (int i = 0; i < 2; i++) remove(paths[i]);
        } while (fault.failed > 0);
        assert_true(k > 10);
    }
}

static void interrupted_and_short_calls_are_no_failures(void **state)
{
    (void)state;
    fault.shorts = true;
    assert_false(save_and_load("glb", 0, 0));
    assert_false(save_and_load("obj", 0, 0));
    fault.shorts = false;
    cutis_model *back = NULL; // what was written in pieces is whole
    assert_ok(context, cutis_model_read(context, target, NULL, &back));
    cutis_model_destroy(back);
}

static int make_folder(void **state)
{
    (void)state;
    const cutis_context_options options = { .allocator = { count_allocate, count_release, NULL } };
    const cutis_synth_options small = { .body = CUTIS_BODY_ARM, .size = CUTIS_BODY_SIZE_LOW };
    if (!mkdtemp(folder) || cutis_context_create(&options, &context) != CUTIS_OK) return -1;
    return cutis_synth_create(context, &small, &model) == CUTIS_OK ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    cutis_model_destroy(model);
    cutis_context_destroy(context);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_while_a_glb_is_saved_and_read),
        cmocka_unit_test(every_call_fails_while_a_gltf_with_its_buffer_is_saved_and_read),
        cmocka_unit_test(every_call_fails_while_an_obj_is_saved_and_read),
        cmocka_unit_test(a_save_of_two_files_makes_both_or_none),
        cmocka_unit_test(interrupted_and_short_calls_are_no_failures),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
